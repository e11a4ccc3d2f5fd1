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
    bool out_of_time; /* for some measurement */
};

/* Runs in an open directory whose request has the session; writes its tables, also after an interrupt. */
enum pdnn_status pdnn_compose_run(struct pdnn_sweep_directory *sweep,
                                  const struct pdnn_compose_request *request,
                                  struct pdnn_compose_result *result, struct pdnn_err *err);

/* How far composed times are from direct ones, by the journal: a row for each model that has composed visits
 * and direct ones, which those that calibrate lack. */
enum {
    PDNN_VALIDATED_ID,
    PDNN_VALIDATED_STRATUM, /* family and mode */
    PDNN_VALIDATED_PLAN_BYTES,
    PDNN_VALIDATED_COMPOSED,
    PDNN_VALIDATED_LOW, /* of the interval; empty: none */
    PDNN_VALIDATED_HIGH,
    PDNN_VALIDATED_DIRECT,
    PDNN_VALIDATED_ERROR,  /* composed over direct, less 1 */
    PDNN_VALIDATED_REPEAT, /* for the machine's own share; empty from one visit */
    PDNN_VALIDATED_OUTSIDE,
    PDNN_VALIDATED_WORST_OP, /* the row of ops.csv that is off by most, as a key */
    PDNN_VALIDATED_WORST_NS, /* composed less direct */
    PDNN_VALIDATED_COLUMNS
};
extern const struct pdnn_table_def pdnn_validation_def;

/* Of the session's models, from the journal of an open directory. calibrates: by task, the models to leave
 * out. To be finished by the caller. */
void pdnn_compose_validate(const struct pdnn_sweep_directory *sweep, const bool *calibrates,
                           struct pdnn_table *made);

#endif
