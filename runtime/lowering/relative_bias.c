/* A bias by relative position, in f32 and on 16-bit elements. */
#include "runtime/lowering/relative_bias.h"

#include "models/relative_bias.h"
#include "runtime/lowering/f32_copies.h"

static const struct pdnn_tensor *table_of(const struct pdnn_bound_call *call) {
    return call->node->pass == PDNN_FORWARD
               ? pdnn_node_in(call->graph, call->node, PDNN_RELATIVE_BIAS_TABLE)
               : pdnn_node_out(call->graph, call->node, PDNN_RELATIVE_BIAS_BACK_DTABLE);
}

static enum pdnn_half type_of(const struct pdnn_tensor *tensor) {
    return pdnn_dtype_is_half(tensor->dtype) ? pdnn_half_of(tensor->dtype) : PDNN_HALF_COUNT;
}

struct pdnn_relative_bias pdnn_relative_bias_job(const struct pdnn_bound_call *call, const int64_t *attr,
                                                 const struct pdnn_tensor *table) {
    const struct pdnn_tensor *x = pdnn_node_in(call->graph, call->node, 0);
    const struct pdnn_relative_bias_places places = pdnn_relative_bias_places_of(attr, x, table);
    int64_t heads = attr[PDNN_RELATIVE_BIAS_HEADS];
    return (struct pdnn_relative_bias){
        .B = x->dim[0] / heads,
        .h = heads,
        .n = places.n,
        .m = places.m,
        .rows = places.rows,
        .cells = pdnn_relative_bias_cells(&places),
        .by_distance = !places.window,
        .is_causal = places.is_causal,
        .type = type_of(x),
        .table_type = type_of(table),
        .scale = 1,
    };
}

/* The index, in whole cache lines, and behind it the kernel's scratch. */
static int64_t index_bytes(const struct pdnn_relative_bias *job) {
    enum { LINE = 64 };
    return (job->cells * (int64_t)sizeof(int32_t) + LINE - 1) / LINE * LINE;
}

uint64_t pdnn_relative_bias_scratch(const struct pdnn_relative_bias *job, int64_t kernel_bytes) {
    return (uint64_t)(index_bytes(job) + kernel_bytes);
}

void pdnn_relative_bias_bind(const struct pdnn_bound_call *call, const int64_t *attr,
                             const struct pdnn_tensor *table, struct pdnn_relative_bias *job) {
    const struct pdnn_relative_bias_places places =
        pdnn_relative_bias_places_of(attr, pdnn_node_in(call->graph, call->node, 0), table);
    int32_t *index = call->scratch;
    pdnn_relative_bias_index(&places, index);
    job->index = index;
    job->scratch = (char *)call->scratch + index_bytes(job);
    job->x = call->in[0];
}

static struct pdnn_relative_bias job_of(const struct pdnn_bound_call *call) {
    return pdnn_relative_bias_job(call, call->node->attr, table_of(call));
}

static uint64_t forward_scratch(const struct pdnn_bound_call *call) {
    const struct pdnn_relative_bias job = job_of(call);
    return pdnn_relative_bias_scratch(&job, pdnn_relative_bias_forward_scratch(&job));
}

static void forward(const struct pdnn_bound_call *call) {
    struct pdnn_relative_bias job = job_of(call);
    pdnn_relative_bias_bind(call, call->node->attr, table_of(call), &job);
    job.table = call->in[PDNN_RELATIVE_BIAS_TABLE];
    job.y = call->out[PDNN_RELATIVE_BIAS_Y];
    job.bypass = job.y != job.x && pdnn_call_bypasses_output(call, PDNN_RELATIVE_BIAS_Y);
    pdnn_relative_bias_forward(&job, call->threads);
}

static uint64_t backward_scratch(const struct pdnn_bound_call *call) {
    const struct pdnn_relative_bias job = job_of(call);
    return pdnn_relative_bias_scratch(&job, pdnn_relative_bias_backward_scratch(&job, call->threads));
}

static void backward(const struct pdnn_bound_call *call) {
    struct pdnn_relative_bias job = job_of(call);
    pdnn_relative_bias_bind(call, call->node->attr, table_of(call), &job);
    job.dtable = call->out[PDNN_RELATIVE_BIAS_BACK_DTABLE];
    pdnn_relative_bias_backward(&job, call->threads);
}

const struct pdnn_lowering pdnn_lowering_relative_bias = {
    .op = &pdnn_op_relative_bias,
    .pass = {[PDNN_FORWARD] = {.run = forward,
                               .ranks = PDNN_RANK(3),
                               .scratch_bytes = forward_scratch,
                               .half = PDNN_HALF_NATIVE},
             [PDNN_BACKWARD_WEIGHTS] = {.run = backward,
                                        .ranks = PDNN_RANK(3),
                                        .scratch_bytes = backward_scratch,
                                        .half = PDNN_HALF_NATIVE}},
};
