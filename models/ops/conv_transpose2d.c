/* conv_transpose2d, the transpose of conv2d: each pixel of the image spreads over a window of a larger one,
 *   y[n][g*K + o][p*stride_h - padding_h + r*dilation_h][q*stride_w - padding_w + s*dilation_w]
 *     += x[n][c][p][q] * w[c][o][r][s],
 * where g is the group of c, one of `groups`, and K = O / groups the output channels that it adds to. It is
 * conv2d's backward-data pass with x as dy; its own is conv2d's forward pass (models/ops/conv2d.c).
 * N minibatch, C H W input channels, height and width, O output channels, R S kernel height and width; an
 * axis of H becomes (H - 1) * stride - 2 * padding + (R - 1) * dilation + 1. */
#include "models/ops/conv2d.h"
#include "models/conv2d.h"
#include "models/transform/backward.h"
#include "models/onnx/nodes.h"

#include <inttypes.h>

/* The shortest axis on which the window has this many positions; 0: none. */
static int64_t grown(struct pdnn_window window, int64_t positions) {
    int64_t taps, skipped, most;
    if (window.kernel < 1 || window.stride < 1 || window.dilation < 1 ||
        __builtin_mul_overflow(window.kernel, window.dilation, &taps) ||
        __builtin_mul_overflow(positions - 1, window.stride, &skipped) ||
        __builtin_add_overflow(skipped, taps, &most) || window.padding >= pdnn_window_extent(window))
        return 0;
    const int64_t length = skipped + (pdnn_window_extent(window) - window.padding) - window.padding;
    return length > 0 && pdnn_window_positions(window, length) == positions ? length : 0;
}

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_CONV_TRANSPOSE2D_X); /* (N, C, H, W) */
    const struct pdnn_tensor *w =
        pdnn_node_in(graph, node, PDNN_CONV_TRANSPOSE2D_W); /* (C, O / groups, R, S) */
    struct pdnn_tensor *y = &outputs[PDNN_CONV_TRANSPOSE2D_Y];
    const int64_t groups = pdnn_conv2d_groups(node);
    struct pdnn_window h, v;
    if (x->rank != 4 || w->rank != 4 || x->dim[1] != w->dim[0])
        return pdnn_fail(
            err, PDNN_INVALID,
            "conv_transpose2d: input (N, C, H, W) and weights (C, O / groups, R, S) disagree: C is "
            "%" PRId64 " and %" PRId64,
            x->dim[1], w->dim[0]);
    y->rank = 4;
    y->dim[0] = x->dim[0];
    if (groups < 1 || x->dim[1] % groups || __builtin_mul_overflow(w->dim[1], groups, &y->dim[1]))
        return pdnn_fail(err, PDNN_INVALID,
                         "conv_transpose2d: groups=%" PRId64 " does not divide %" PRId64
                         " channels of its input",
                         groups, x->dim[1]);
    pdnn_conv2d_windows(node, w, &h, &v);
    y->dim[2] = grown(h, x->dim[2]);
    y->dim[3] = grown(v, x->dim[3]);
    if (!y->dim[2] || !y->dim[3])
        return pdnn_fail(err, PDNN_INVALID,
                         "conv_transpose2d: a %" PRId64 "x%" PRId64 " kernel with padding %" PRId64
                         "x%" PRId64 " leaves nothing of an image of %" PRId64 "x%" PRId64,
                         h.kernel, v.kernel, h.padding, v.padding, x->dim[2], x->dim[3]);
    return PDNN_OK;
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t x = node->input[PDNN_CONV_TRANSPOSE2D_X], w = node->input[PDNN_CONV_TRANSPOSE2D_W],
             dy = pdnn_backward_of(backward, node->output[0]);
    if (pdnn_backward_wants(backward, w))
        pdnn_backward_emit(
            backward, node, PDNN_BACKWARD_WEIGHTS, w,
            (uint32_t[]){
                [PDNN_CONV_TRANSPOSE2D_WEIGHTS_DY] = dy, [PDNN_CONV_TRANSPOSE2D_WEIGHTS_X] = x, PDNN_NONE});
    if (pdnn_backward_wants(backward, x))
        pdnn_backward_emit(
            backward, node, PDNN_BACKWARD_DATA, x,
            (uint32_t[]){
                [PDNN_CONV_TRANSPOSE2D_DATA_DY] = dy, [PDNN_CONV_TRANSPOSE2D_DATA_W] = w, PDNN_NONE});
}

#define PASS                                                                                                 \
    {                                                                                                        \
        .flop = pdnn_conv2d_flop, .in_bounds_flop = pdnn_conv2d_in_bounds_flop, .bytes = pdnn_conv2d_bytes,  \
        .reference = pdnn_conv2d_reference,                                                                  \
    }

static uint32_t nodes(struct pdnn_export *onnx) {
    const uint32_t y = pdnn_export_op2(onnx, "ConvTranspose", pdnn_export_in(onnx, PDNN_CONV_TRANSPOSE2D_X),
                                       pdnn_export_in(onnx, PDNN_CONV_TRANSPOSE2D_W));
    pdnn_conv2d_add_attributes(onnx);
    return y;
}

const struct pdnn_op_def pdnn_op_conv_transpose2d = {
    .name = "conv_transpose2d",
    .category = "convolution",
    .formula = "y[o], at each tap, += x[c] * w[c][o], for c of its group",
    .operands = {{"x", PDNN_OPERAND_DATA},
                 {"w", PDNN_OPERAND_WEIGHT, .shape = "x.channels, out / groups, kernel_h, kernel_w",
                  .fill = PDNN_FILL_UNIFORM, .range = PDNN_RANGE_HE,
                  .inputs = "ceil(x.channels * kernel_h * kernel_w / (groups * stride_h * stride_w))"}},
    .attributes = {{"stride_h", PDNN_CONV2D_STRIDE_H, .fallback = "1"},
                   {"stride_w", PDNN_CONV2D_STRIDE_W, .fallback = "1"},
                   {"padding_h", PDNN_CONV2D_PADDING_H},
                   {"padding_w", PDNN_CONV2D_PADDING_W},
                   {"groups", PDNN_CONV2D_GROUPS, .fallback = "1", .hides_one = true},
                   {"dilation_h", PDNN_CONV2D_DILATION_H, .fallback = "1", .hides_one = true},
                   {"dilation_w", PDNN_CONV2D_DILATION_W, .fallback = "1", .hides_one = true},
                   {"out", PDNN_SIZE, .required = true},
                   {"kernel_h", PDNN_SIZE, .fallback = "1"},
                   {"kernel_w", PDNN_SIZE, .fallback = "1"}},
    .outputs = {"y"},
    .infer = infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = PASS, [PDNN_BACKWARD_DATA] = PASS, [PDNN_BACKWARD_WEIGHTS] = PASS},
    .tolerance = 1e-6,
    .onnx.write = nodes,
};
