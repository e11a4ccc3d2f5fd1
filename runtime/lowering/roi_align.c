#include "runtime/kernels/images/roi_align.h"
#include "runtime/lowering/bound_call.h"

/* x: the dimensions of the features. */
static struct pdnn_roi_align job_of(const struct pdnn_bound_call *call, const int64_t *x) {
    return (struct pdnn_roi_align){
        .N = x[0],
        .C = x[1],
        .H = x[2],
        .W = x[3],
        .block = call->shape.block,
        .boxes = pdnn_call_in_dim(call, PDNN_ROI_ALIGN_BOXES)[0],
        .size = call->node->attr[PDNN_ROI_ALIGN_SIZE],
        .samples = call->node->attr[PDNN_ROI_ALIGN_SAMPLES],
        .corners = call->in[PDNN_ROI_ALIGN_BOXES],
        .scratch = call->scratch,
    };
}

static int64_t scratch_of(const struct pdnn_bound_call *call, const int64_t *x) {
    const struct pdnn_roi_align job = job_of(call, x);
    return pdnn_roi_align_scratch(&job, call->threads);
}

static uint64_t forward_scratch(const struct pdnn_bound_call *call) {
    return (uint64_t)scratch_of(call, pdnn_call_in_dim(call, PDNN_ROI_ALIGN_X));
}

static uint64_t backward_scratch(const struct pdnn_bound_call *call) {
    return (uint64_t)scratch_of(call, pdnn_call_out_dim(call, PDNN_ROI_ALIGN_BACK_DX));
}

static void forward(const struct pdnn_bound_call *call) {
    const struct pdnn_roi_align job = job_of(call, pdnn_call_in_dim(call, PDNN_ROI_ALIGN_X));
    pdnn_roi_align_forward(&job, call->in[PDNN_ROI_ALIGN_X], call->out[PDNN_ROI_ALIGN_Y], call->threads);
}

static void backward(const struct pdnn_bound_call *call) {
    const struct pdnn_roi_align job = job_of(call, pdnn_call_out_dim(call, PDNN_ROI_ALIGN_BACK_DX));
    pdnn_roi_align_backward(&job, call->in[PDNN_ROI_ALIGN_BACK_DY], call->out[PDNN_ROI_ALIGN_BACK_DX],
                            call->threads);
}

const struct pdnn_lowering pdnn_lowering_roi_align = {
    .op = &pdnn_op_roi_align,
    .pass = {[PDNN_FORWARD] = {.run = forward, .ranks = PDNN_RANK(4), .scratch_bytes = forward_scratch},
             [PDNN_BACKWARD_DATA] = {.run = backward,
                                     .ranks = PDNN_RANK(4),
                                     .scratch_bytes = backward_scratch}},
};
