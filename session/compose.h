/* Composes the times of models from the times of their operators, into a result directory like a sweep's.
 *
 * Every model is compiled, and the distinct operators of all of them are measured, each alone and in the
 * cache state that it has inside its model, in as many rounds as the spec asks for. Round r of the operators
 * gives visit r of each model: the sum of its operators' times, each as often as the model runs it. So the
 * headline and the interval of a row come from its visits by the rule that holds for direct runs
 * (results/analysis/aggregate.h); the interval says how well the sum repeats, and nothing of the method's own
 * error.
 *
 * Models that fit into the last-level cache run directly, since that is cheap and composition is worst there.
 * So do the models that validate: a random sample of the composed ones, visited between the rounds of the
 * operators. Their rows are direct; the journal has both. */
#ifndef SESSION_COMPOSE_H
#define SESSION_COMPOSE_H

#include "results/analysis/interpolate.h"
#include "results/tables/library.h"
#include "session/directory.h"
#include "session/operators.h"

struct pdnn_compose_request {
    struct pdnn_library *library; /* borrowed */
    size_t validate;              /* composed models that also run */
    bool retry;                   /* measure operators again that failed */
    double extrapolate;           /* factor beyond measured neighbours: results/analysis/interpolate.h */
    uint64_t seed;                /* of that sample, and of the order of measurements */
};

struct pdnn_compose_result {
    struct pdnn_sweep_result direct; /* visits of models that ran */
    size_t models, composed, small;  /* listed; of these, composed, run because they fit the cache */
    size_t operators, stateless;     /* distinct; without their cache states */
    size_t measured;                 /* measurements made now */
    size_t predicted;                /* operators not measured but interpolated */
    uint64_t list_ns, measure_ns;
    struct pdnn_neighbours *neighbours; /* what was predicted from; the caller's to destroy; may be NULL */
    bool out_of_time;                   /* for some measurement */
};

/* How far composed times are from direct ones. errors: composed over direct, less 1, of each model that has
 * both; repeats: of its direct visits, the last over the first, less 1, for the machine's own share. */
struct pdnn_validation {
    struct pdnn_validated {
        const char *id; /* borrowed from the journal */
        uint64_t plan_bytes;
        double composed_ns, direct_ns, error, repeat; /* repeat: NaN from one visit */
        const char *worst_op; /* the row of ops.csv that is off by most, as a key; borrowed */
        double worst_ns;      /* composed less direct */
    } * model;
    size_t count;
};

/* From the journal of an open directory. Heap: pdnn_validation_finish. */
enum pdnn_status pdnn_compose_validate(const struct pdnn_sweep_directory *sweep,
                                       struct pdnn_validation *validation, struct pdnn_err *err);
void pdnn_validation_finish(struct pdnn_validation *validation);

/* Runs in an open directory whose request has the session; writes its tables, also after an interrupt. */
enum pdnn_status pdnn_compose_run(struct pdnn_sweep_directory *sweep,
                                  const struct pdnn_compose_request *request,
                                  struct pdnn_compose_result *result, struct pdnn_err *err);

#endif
