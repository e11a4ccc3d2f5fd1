#include "runtime/distributed/gradient_allreduce.h"
#include "runtime/lowering/bound_step.h"

/* The slot's layout and padding do not matter: they are the same on all ranks (runtime/backend/tune.h). The
 * exchange keeps what fails for the poll after this step. */
static void update(const struct pdnn_bound_step *step) {
    const double *coef = step->node->coef;
    const struct pdnn_gradient_allreduce_part part = {.values = step->in[PDNN_ALLREDUCE_G],
                                                      .count = (size_t)step->elements,
                                                      .mode = (int)coef[PDNN_ALLREDUCE_MODE],
                                                      .bucket = (size_t)coef[PDNN_ALLREDUCE_AT],
                                                      .is_last = coef[PDNN_ALLREDUCE_LAST] != 0};
    bool waits = step->node->attr[PDNN_ALLREDUCE_PHASE] == PDNN_ALLREDUCE_WAIT;
    if (waits)
        pdnn_gradient_allreduce_wait(part.bucket);
    else
        pdnn_gradient_allreduce_start(&part);
}

const struct pdnn_step_def pdnn_step_allreduce = {.op = &pdnn_op_allreduce,
                                                  .pass = {[PDNN_UPDATE] = {.run = update}}};
