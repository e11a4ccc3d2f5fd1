/* What becomes of a composition's operators and models within a budget, once they are compiled: which are
 * measured, which predicted from measured neighbours, which left. */
#ifndef SESSION_COMPOSE_OUTCOME_H
#define SESSION_COMPOSE_OUTCOME_H

#include "results/fit/interpolate.h"
#include "session/compose/plan.h"
#include "session/compose/operators.h"

struct pdnn_compose_fates {
    const struct pdnn_operators *operators; /* borrowed */
    struct pdnn_choose choose; /* its operators are `operators` by number; its models those of task_of */
    size_t *task_of;
    enum pdnn_fate *of_task; /* by task */
    double *floor_ns;        /* by operator */
    struct pdnn_kind_caches caches;
    struct pdnn_neighbours *neighbours; /* of the present round */
    struct pdnn_arena arena;
};

/* Empty, with the floors of all operators. Release *fates with pdnn_compose_fates_finish, also after a
 * failure. */
void pdnn_compose_fates_init(struct pdnn_compose_fates *fates, const struct pdnn_compose_plan *plan,
                             const struct pdnn_operators *operators, double extrapolate);
void pdnn_compose_fates_finish(struct pdnn_compose_fates *fates);

/* Adds a task that runs for so many seconds, of its own, or has operators. */
void pdnn_compose_fates_add(struct pdnn_compose_fates *fates, size_t task, double seconds,
                            bool has_operators);

/* Forgets the neighbours of the last round. */
void pdnn_compose_fates_begin(struct pdnn_compose_fates *fates);

/* NULL and the operator's prediction, or why there is none. */
const char *pdnn_compose_fates_predict(struct pdnn_compose_fates *fates, size_t number,
                                       struct pdnn_prediction_of_operator *prediction);

#endif
