/* Rows (R, C) added up by a plan; backward gathers. The gate of row r is that of its token and expert. */
#include "models/cost/deal.h"
#include "runtime/kernels/sequence/embedding.h"
#include "runtime/kernels/sequence/scatter_add.h"
#include "runtime/lowering/bound_call.h"

#include <string.h>

/* The place in gates (T, X) of each row's gate. */
static void find_gates(const struct pdnn_bound_call *call, const int32_t *plan, int64_t *at) {
    struct pdnn_deal deal = pdnn_deal_of_scatter_add(call->graph, call->node);
    while (pdnn_deal_next(&deal))
        for (int64_t r = deal.first; r < deal.first + deal.count; r++)
            at[r] = plan[r] * deal.experts + deal.expert;
}

/* For R rows and T sums: places in the gates and places of rows, then gates and their gradients. */
struct room {
    int64_t *at, *order;
    float *gate, *dgate;
};

static int64_t sorted(const struct pdnn_bound_call *call, int64_t R) {
    return pdnn_embedding_scratch(R, call->node->attr[PDNN_SCATTER_ADD_ROWS]);
}

static uint64_t forward_scratch(const struct pdnn_bound_call *call) {
    return (uint64_t)(2 * call->rows + sorted(call, call->rows)) * sizeof(int64_t);
}

static struct room room_of(const struct pdnn_bound_call *call, int64_t R) {
    int64_t *at = call->scratch;
    float *gate = (float *)(void *)(at + R);
    return (struct room){at, at + 2 * R, gate, gate + R};
}

static void take_gates(const struct pdnn_bound_call *call, const struct room *room, const int32_t *plan,
                       const float *gates, int64_t R) {
    find_gates(call, plan, room->at);
    for (int64_t r = 0; r < R; r++)
        room->gate[r] = gates[room->at[r]];
}

static void forward(const struct pdnn_bound_call *call) {
    const struct room room = room_of(call, call->rows);
    const float *gates = call->in[PDNN_SCATTER_ADD_GATES];
    struct pdnn_embedding job = {
        .ids = call->in[PDNN_SCATTER_ADD_PLAN],
        .from = call->in[PDNN_SCATTER_ADD_X],
        .gate = gates ? room.gate : NULL,
        .to = call->out[PDNN_SCATTER_ADD_Y],
        .R = call->rows,
        .V = call->node->attr[PDNN_SCATTER_ADD_ROWS],
        .E = call->columns,
        .bypass = pdnn_call_bypasses_output(call, PDNN_SCATTER_ADD_Y),
        .scratch = room.order,
    };
    if (gates)
        take_gates(call, &room, job.ids, gates, job.R);
    pdnn_embedding_backward(&job, call->threads);
}

static uint64_t backward_scratch(const struct pdnn_bound_call *call) {
    return (uint64_t)(2 * pdnn_call_out_dim(call, PDNN_SCATTER_ADD_BACK_DX)[0]) * sizeof(int64_t);
}

static void backward_gates(const struct pdnn_bound_call *call, int64_t R, bool bypass) {
    const struct room room = room_of(call, R);
    float *dgates = call->out[PDNN_SCATTER_ADD_BACK_DGATES];
    const struct pdnn_scatter_add job = {
        .plan = call->in[PDNN_SCATTER_ADD_BACK_PLAN],
        .dy = call->in[PDNN_SCATTER_ADD_BACK_DY],
        .x = call->in[PDNN_SCATTER_ADD_BACK_X],
        .gate = room.gate,
        .dx = call->out[PDNN_SCATTER_ADD_BACK_DX],
        .dgate = room.dgate,
        .R = R,
        .C = call->columns,
        .bypass = bypass,
    };
    const int64_t *dim = pdnn_call_out_dim(call, PDNN_SCATTER_ADD_BACK_DGATES);
    take_gates(call, &room, job.plan, call->in[PDNN_SCATTER_ADD_BACK_GATES], R);
    pdnn_scatter_add_backward(&job, call->threads);
    memset(dgates, 0, (size_t)(dim[0] * dim[1]) * sizeof *dgates);
    for (int64_t r = 0; r < R; r++) /* any plan may name a token twice for one expert */
        dgates[room.at[r]] += room.dgate[r];
}

static void backward(const struct pdnn_bound_call *call) {
    const int64_t R = pdnn_call_out_dim(call, PDNN_SCATTER_ADD_BACK_DX)[0];
    const bool bypass = pdnn_call_bypasses_output(call, PDNN_SCATTER_ADD_BACK_DX);
    const struct pdnn_embedding job = {
        .ids = call->in[PDNN_SCATTER_ADD_BACK_PLAN],
        .from = call->in[PDNN_SCATTER_ADD_BACK_DY],
        .to = call->out[PDNN_SCATTER_ADD_BACK_DX],
        .R = R,
        .V = call->rows,
        .E = call->columns,
        .bypass = bypass,
    };
    if (call->in[PDNN_SCATTER_ADD_BACK_GATES])
        backward_gates(call, R, bypass);
    else
        pdnn_embedding_forward(&job, call->threads);
}

const struct pdnn_lowering pdnn_lowering_scatter_add = {
    .op = &pdnn_op_scatter_add,
    .pass = {[PDNN_FORWARD] = {.run = forward, .ranks = PDNN_RANK(2), .scratch_bytes = forward_scratch},
             [PDNN_BACKWARD_DATA] = {.run = backward,
                                     .ranks = PDNN_RANK(2),
                                     .scratch_bytes = backward_scratch}},
};
