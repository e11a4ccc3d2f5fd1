/* Composes the times of models from the times of their operators, into a result directory like a sweep's.
 *
 * Every model is compiled, and the distinct operators of all of them are measured, each behind what precedes
 * it in a model (runtime/plan/call_window.h), in as many rounds as the spec asks for. Round r of the
 * operators gives visit r of each model: the sum of its operators' times, each as often as the model runs it.
 * So the headline and the interval of a row come from its visits by the rule that holds for direct runs
 * (results/rows/aggregate.h). When all rounds are there, the visits are settled (visits.c).
 *
 * Models that fit into the last-level cache run directly, since that is cheap. So do the models that validate
 * and those that calibrate the intervals: random samples of the composed ones, which share no model, visited
 * between the rounds of the operators. Their rows are direct; the journal has both. */
#ifndef SESSION_COMPOSE_COMPOSE_H
#define SESSION_COMPOSE_COMPOSE_H

#include "results/fit/interpolate.h"
#include "results/store/library.h"
#include "session/directory.h"

/* Models that it takes to have intervals of 90 %. */
enum { PDNN_CALIBRATED_LEAST = 9 };

struct pdnn_compose_request {
    struct pdnn_library *library; /* borrowed */
    size_t validate;              /* composed models that also run */
    size_t calibrate;             /* others that run, to find the intervals of the rest */
    bool retry;                   /* measure operators again that failed */
    uint64_t seed;                /* of that sample, and of the order of measurements */
};

struct pdnn_compose_result {
    struct pdnn_sweep_result direct; /* visits of models that ran */
    size_t models, composed, small;  /* listed; of these, composed, run because they fit the cache */
    size_t operators;                /* distinct */
    size_t measured;                 /* measurements made now */
    size_t predicted;                /* operators not measured but interpolated */
    size_t calibrated;               /* models whose errors are the intervals of the others */
    bool *calibrates;                /* by task: it ran for that; heap, the caller's */
    uint64_t list_ns, measure_ns;
    struct pdnn_neighbours *neighbours; /* what was predicted from; the caller's to destroy; may be NULL */
    bool out_of_time;                   /* for some measurement */
};

/* Runs in an open directory whose request has the session; writes its tables, also after an interrupt. */
enum pdnn_status pdnn_compose_run(struct pdnn_sweep_directory *sweep,
                                  const struct pdnn_compose_request *request,
                                  struct pdnn_compose_result *result, struct pdnn_err *err);

#endif
