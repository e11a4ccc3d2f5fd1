#include "models/rearrange.h"
#include "runtime/kernels/rows/rearrange.h"
#include "runtime/lowering/bound_call.h"

/* Strides of the axes of one side; block: of an image's channels, 0 where it is row-major. */
static void place_axes(const struct pdnn_rearrange *of, enum pdnn_pattern_side of_side,
                       const struct pdnn_tensor *tensor, int64_t block, int side,
                       struct pdnn_rearrange_job *job) {
    const struct pdnn_pattern *pattern = &of->pattern;
    const bool is_image = tensor->rank == 4;
    int64_t stride = is_image && block ? block : 1;
    if (is_image)
        job->image[side] = (struct pdnn_channels){tensor->dim[0], tensor->dim[1],
                                                  tensor->dim[2] * tensor->dim[3], stride, PDNN_STORED_F32};
    for (int d = tensor->rank, k = pattern->n_axes; d-- > 0;) {
        const bool is_channel = is_image && d == 1;
        int64_t inner = is_channel ? 1 : stride;
        for (int i = 0; i < pattern->axes[of_side][d]; i++) {
            k--;
            struct pdnn_rearrange_axis *axis = &job->axes[of_side == PDNN_PATTERN_X ? k : pattern->order[k]];
            axis->stride[side] = inner;
            axis->is_channel[side] = is_channel;
            inner *= axis->size;
        }
        stride = is_channel ? pdnn_channels_padded(&job->image[side]) * job->image[side].pixels : inner;
    }
}

static void run(const struct pdnn_bound_call *call) {
    const struct pdnn_rearrange of = pdnn_rearrange_of(call->graph, call->node);
    const struct pdnn_tensor *in = pdnn_node_in(call->graph, call->node, PDNN_REARRANGE_X);
    const struct pdnn_tensor *out = pdnn_node_out(call->graph, call->node, PDNN_REARRANGE_Y);
    const bool is_forward = call->node->pass == PDNN_FORWARD;
    struct pdnn_rearrange_job job = {.from = call->in[PDNN_REARRANGE_X],
                                     .to = call->out[PDNN_REARRANGE_Y],
                                     .element_bytes = (int)pdnn_dtype_bytes(in->dtype),
                                     .n_axes = of.pattern.n_axes,
                                     .bypass = pdnn_call_bypasses_output(call, PDNN_REARRANGE_Y)};
    for (int i = 0; i < job.n_axes; i++)
        job.axes[i].size = of.size[i];
    place_axes(&of, is_forward ? PDNN_PATTERN_X : PDNN_PATTERN_Y, in, call->in_block[PDNN_REARRANGE_X],
               PDNN_REARRANGE_FROM, &job);
    place_axes(&of, is_forward ? PDNN_PATTERN_Y : PDNN_PATTERN_X, out, call->out_block[PDNN_REARRANGE_Y],
               PDNN_REARRANGE_TO, &job);
    pdnn_rearrange_run(&job, call->threads);
}

#define ANY_RANK (PDNN_RANK(1) | PDNN_RANK(2) | PDNN_RANK(3) | PDNN_RANK(4) | PDNN_RANK(5) | PDNN_RANK(6))

const struct pdnn_lowering pdnn_lowering_rearrange = {
    .op = &pdnn_op_rearrange,
    .pass = {[PDNN_FORWARD] = {.run = run, .ranks = ANY_RANK, .half = PDNN_HALF_NATIVE},
             [PDNN_BACKWARD_DATA] = {.run = run, .ranks = ANY_RANK, .half = PDNN_HALF_NATIVE}},
};
