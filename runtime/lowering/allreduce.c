#include "runtime/distributed/gradient_allreduce.h"
#include "runtime/lowering/bound_call.h"

/* The slot's layout and padding do not matter: they are the same on all ranks (runtime/backend/tune.h). The
 * exchange keeps what fails for the poll after this step. */
static void update(const struct pdnn_bound_call *call) {
    const double *coef = call->node->coef;
    const struct pdnn_gradient_allreduce_part part = {.values = call->in[PDNN_ALLREDUCE_G],
                                                      .count = (size_t)call->elements,
                                                      .mode = (int)coef[PDNN_ALLREDUCE_MODE],
                                                      .bucket = (size_t)coef[PDNN_ALLREDUCE_AT],
                                                      .is_last = coef[PDNN_ALLREDUCE_LAST] != 0};
    bool waits = call->node->attr[PDNN_ALLREDUCE_PHASE] == PDNN_ALLREDUCE_WAIT;
    if (waits)
        pdnn_gradient_allreduce_wait(part.bucket);
    else
        pdnn_gradient_allreduce_start(&part);
}

const struct pdnn_lowering pdnn_lowering_allreduce = {.op = &pdnn_op_allreduce,
                                                      .pass = {[PDNN_UPDATE] = {.run = update}}};
