/* The rows of the optimizers' element-wise updates. Their inputs are in the order of struct pdnn_update_job:
 * weights, gradients, states, powers. */
#include "runtime/kernels/update/optimizer.h"
#include "runtime/lowering/bound_call.h"

#include <string.h>

static void run(const struct pdnn_bound_call *call, enum pdnn_update rule, int n_states, bool has_power) {
    struct pdnn_update_job job = {
        .rule = rule,
        .w = call->in[0],
        .g = call->in[1],
        .power = has_power ? call->in[2 + n_states] : NULL,
        .elements = call->elements,
    };
    for (int i = 0; i < n_states; i++)
        job.state[i] = call->in[2 + i];
    if (rule == PDNN_UPDATE_LAMB_APPLY) {
        job.norm[0] = call->in[PDNN_LAMB_APPLY_W_NORM];
        job.norm[1] = call->in[PDNN_LAMB_APPLY_U_NORM];
    }
    memcpy(job.coef, call->node->coef, sizeof job.coef);
    pdnn_update_run(&job, call->threads);
}

#define UPDATE(op_name, rule, n_states, has_power)                                                           \
    static void op_name##_update(const struct pdnn_bound_call *call) {                                       \
        run(call, rule, n_states, has_power);                                                                \
    }                                                                                                        \
    const struct pdnn_lowering pdnn_lowering_##op_name = {                                                   \
        .op = &pdnn_op_##op_name, .pass = {[PDNN_UPDATE] = {.run = op_name##_update}}};
UPDATE(sgd, PDNN_UPDATE_SGD, 0, false)
UPDATE(momentum, PDNN_UPDATE_MOMENTUM, 1, false)
UPDATE(rmsprop, PDNN_UPDATE_RMSPROP, 2, false)
UPDATE(adam, PDNN_UPDATE_ADAM, 2, true)
UPDATE(moment, call->node->attr[PDNN_MOMENT_SQUARE] ? PDNN_UPDATE_SQUARE_MOMENT : PDNN_UPDATE_MOMENT, 0,
       false)
UPDATE(adam_apply, PDNN_UPDATE_ADAM_APPLY, 1, true)
UPDATE(lamb_apply, PDNN_UPDATE_LAMB_APPLY, 0, false)
