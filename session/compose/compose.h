/* Composes the times of models from the times of their operators, into a result directory like a sweep's.
 *
 * Every model is compiled, and the distinct operators of all of them are measured, each behind what precedes
 * it in a model (runtime/plan/step_window.h), in as many rounds as the spec asks for. Round r of the
 * operators gives visit r of each model: the sum of its operators' times, each as often as the model runs it.
 * So the headline and the interval of a row come from its visits by the rule that holds for direct runs
 * (results/rows/aggregate.h). When all rounds are there, the visits are settled (intervals.c).
 *
 * Models that fit into the last-level cache run directly, since that is cheap. So do the models that validate
 * and those that calibrate the intervals: random samples of the composed ones, which share no model, visited
 * between the rounds of the operators. Their rows are direct; the journal has both.
 *
 * The stages, each a file: plan (what there is, by the graphs alone), list (what is compiled), decide (what
 * is measured, predicted or left; choose is the rule), sample (which models also run), measure, add_up,
 * intervals. */
#ifndef SESSION_COMPOSE_COMPOSE_H
#define SESSION_COMPOSE_COMPOSE_H

#include "session/compose/request.h"

/* Runs in an open directory whose request has the session; writes its tables, also after an interrupt. */
enum pdnn_status pdnn_compose_run(struct pdnn_sweep_directory *sweep,
                                  const struct pdnn_compose_request *request,
                                  struct pdnn_compose_result *result, struct pdnn_err *err);

#endif
