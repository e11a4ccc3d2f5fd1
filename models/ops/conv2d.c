/* conv2d, a cross-correlation as in all frameworks, with x = 0 outside the image:
 *   y[n][o][p][q] = sum_crs x[n][g*K + c][p*stride_h - padding_h + r*dilation_h]
 *                                        [q*stride_w - padding_w + s*dilation_w] * w[o][c][r][s],
 * where g is the group of o, one of `groups`, and K = C / groups the input channels that it reads. dx and dw
 * sum the same products with dy. In forward, x and w may be int8 (models/ops/quantized.h); y is
 * then s32, or f32 if the two scales are given.
 * N minibatch, C H W input channels, height and width, O P Q the same of the output, R S
 * kernel height and width. */
#include "models/ops/conv2d.h"
#include "models/conv2d.h"
#include "models/transform/backward.h"
#include "models/ops/quantized.h"
#include "models/onnx/nodes.h"

#include <inttypes.h>
#include <stdio.h>

/* Everything a pass needs; x, w and y also stand for their gradients. */
struct geometry {
    int64_t N, C, H, W, O, P, Q, groups, K;
    struct pdnn_window h, w;
};

void pdnn_conv2d_windows(const struct pdnn_node *node, const struct pdnn_tensor *weights,
                         struct pdnn_window *h, struct pdnn_window *w) {
    const int64_t *attr = node->attr;
    *h = (struct pdnn_window){weights->dim[2], attr[PDNN_CONV2D_STRIDE_H], attr[PDNN_CONV2D_PADDING_H],
                              pdnn_conv2d_dilation_h(node), attr[PDNN_CONV2D_EXTRA_H]};
    *w = (struct pdnn_window){weights->dim[3], attr[PDNN_CONV2D_STRIDE_W], attr[PDNN_CONV2D_PADDING_W],
                              pdnn_conv2d_dilation_w(node), attr[PDNN_CONV2D_EXTRA_W]};
}

static struct geometry geometry_of(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    const struct pdnn_tensor *in[] = {pdnn_node_in(graph, node, 0), pdnn_node_in(graph, node, 1)};
    const struct pdnn_tensor *out = pdnn_node_out(graph, node, 0);
    const enum pdnn_pass pass = pdnn_conv2d_pass(node);
    const struct pdnn_tensor *x = pass == PDNN_BACKWARD_DATA ? out : in[0];    /* (N, C, H, W) */
    const struct pdnn_tensor *w = pass == PDNN_BACKWARD_WEIGHTS ? out : in[1]; /* (O, K, R, S) */
    /* (N, O, P, Q) */
    const struct pdnn_tensor *y = pass == PDNN_FORWARD ? out : pass == PDNN_BACKWARD_DATA ? in[0] : in[1];
    struct geometry g = {.N = x->dim[0],
                         .C = x->dim[1],
                         .H = x->dim[2],
                         .W = x->dim[3],
                         .O = w->dim[0],
                         .P = y->dim[2],
                         .Q = y->dim[3],
                         .groups = pdnn_conv2d_groups(node),
                         .K = w->dim[1]};
    pdnn_conv2d_windows(node, w, &g.h, &g.w);
    return g;
}

static enum pdnn_status fail_window(struct pdnn_window h, struct pdnn_window w, const struct pdnn_tensor *x,
                                    struct pdnn_err *err) {
    char dilation[64] = "", end[64] = "";
    if (h.extra || w.extra)
        snprintf(end, sizeof end, " and %" PRId64 "x%" PRId64 " at the end", pdnn_window_end(h),
                 pdnn_window_end(w));
    if (h.dilation > 1 || w.dilation > 1)
        snprintf(dilation, sizeof dilation, " and dilation %" PRId64 "x%" PRId64, h.dilation, w.dilation);
    return pdnn_fail(err, PDNN_INVALID,
                     "conv2d: a %" PRId64 "x%" PRId64 " kernel with padding %" PRId64 "x%" PRId64
                     "%s%s does not fit an image of %" PRId64 "x%" PRId64,
                     h.kernel, w.kernel, h.padding, w.padding, end, dilation, x->dim[2], x->dim[3]);
}

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_CONV2D_X); /* (N, C, H, W) */
    const struct pdnn_tensor *w = pdnn_node_in(graph, node, PDNN_CONV2D_W); /* (O, K, R, S) */
    const int64_t groups = pdnn_conv2d_groups(node);
    const bool are_images = pdnn_quantized_has_inputs(node) && x->rank == 4 && w->rank == 4;
    struct pdnn_window h, v;
    if (are_images && (groups < 1 || x->dim[1] % groups || w->dim[0] % groups))
        return pdnn_fail(err, PDNN_INVALID,
                         "conv2d: groups=%" PRId64 " does not divide %" PRId64 " and %" PRId64
                         " channels of its input and result",
                         groups, x->dim[1], w->dim[0]);
    if (!are_images || x->dim[1] / groups != w->dim[1])
        return pdnn_fail(
            err, PDNN_INVALID,
            "conv2d: input (N, C, H, W) and weights (O, C / groups, R, S) disagree: C is %" PRId64
            " and %" PRId64,
            x->dim[1], w->dim[1] * groups);
    pdnn_conv2d_windows(node, w, &h, &v);
    outputs[PDNN_CONV2D_Y].rank = 4;
    outputs[PDNN_CONV2D_Y].dim[0] = x->dim[0];
    outputs[PDNN_CONV2D_Y].dim[1] = w->dim[0];
    outputs[PDNN_CONV2D_Y].dim[2] = pdnn_window_positions(h, x->dim[2]);
    outputs[PDNN_CONV2D_Y].dim[3] = pdnn_window_positions(v, x->dim[3]);
    if (!outputs[PDNN_CONV2D_Y].dim[2] || !outputs[PDNN_CONV2D_Y].dim[3])
        return fail_window(h, v, x, err);
    return pdnn_quantized_infer(graph, node, &outputs[PDNN_CONV2D_Y], err);
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t x = node->input[PDNN_CONV2D_X], w = node->input[PDNN_CONV2D_W],
             dy = pdnn_backward_of(backward, node->output[0]);
    if (pdnn_backward_wants(backward, w))
        pdnn_backward_emit(
            backward, node, PDNN_BACKWARD_WEIGHTS, w,
            (uint32_t[]){[PDNN_CONV2D_WEIGHTS_X] = x, [PDNN_CONV2D_WEIGHTS_DY] = dy, PDNN_NONE});
    if (pdnn_backward_wants(backward, x))
        pdnn_backward_emit(backward, node, PDNN_BACKWARD_DATA, x,
                           (uint32_t[]){[PDNN_CONV2D_DATA_DY] = dy, [PDNN_CONV2D_DATA_W] = w, PDNN_NONE});
}

/* Every pass does one multiply-add per output element, input channel of its group, and tap. */
static void count_taps(const struct geometry *g, int64_t taps_h, int64_t taps_w, struct pdnn_count *count) {
    int64_t pairs, taps;
    if (__builtin_mul_overflow(g->N, 2 * g->O, &pairs) || __builtin_mul_overflow(taps_h, taps_w, &taps))
        count->overflow = true;
    else
        pdnn_count_add(count, pairs, g->K, taps);
}

void pdnn_conv2d_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                      struct pdnn_count *count) {
    struct geometry g = geometry_of(graph, node);
    count_taps(&g, g.P * g.h.kernel, g.Q * g.w.kernel, count);
    if (pdnn_quantized_is_scaled(node))
        pdnn_quantized_flop(graph, node, count);
}

void pdnn_conv2d_in_bounds_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                                struct pdnn_count *count) {
    struct geometry g = geometry_of(graph, node);
    count_taps(&g, pdnn_window_taps_sum(g.h, g.H), pdnn_window_taps_sum(g.w, g.W), count);
    if (pdnn_quantized_is_scaled(node))
        pdnn_quantized_flop(graph, node, count);
}

/* Of the image, only pixels under some window are read; of the weights, only taps that meet the image. What
 * is written is written whole, zeros included. */
void pdnn_conv2d_bytes(const struct pdnn_graph *graph, const struct pdnn_node *node, uint64_t *bytes) {
    struct geometry g = geometry_of(graph, node);
    uint64_t pixels = (uint64_t)(pdnn_window_covered(g.h, g.H) * pdnn_window_covered(g.w, g.W));
    uint64_t taps = (uint64_t)(pdnn_window_taps_used(g.h, g.H) * pdnn_window_taps_used(g.w, g.W));
    if (pdnn_conv2d_pass(node) != PDNN_BACKWARD_DATA)
        bytes[0] = bytes[0] / (uint64_t)(g.H * g.W) * pixels;
    if (pdnn_conv2d_pass(node) != PDNN_BACKWARD_WEIGHTS)
        bytes[1] = bytes[1] / (uint64_t)(g.h.kernel * g.w.kernel) * taps;
}

/* One tap's multiply-adds along a row of the output, per pass: y[q] and x[q * stride], for q < count. */
static void add_forward(double *restrict x, double *restrict w, double *restrict y, int64_t stride,
                        int64_t count) {
    for (int64_t q = 0; q < count; q++)
        y[q] += x[q * stride] * *w;
}

static void add_backward_data(double *restrict x, double *restrict w, double *restrict y, int64_t stride,
                              int64_t count) {
    for (int64_t q = 0; q < count; q++)
        x[q * stride] += y[q] * *w;
}

static void add_backward_weights(double *restrict x, double *restrict w, double *restrict y, int64_t stride,
                                 int64_t count) {
    double sum = *w;
    for (int64_t q = 0; q < count; q++)
        sum += y[q] * x[q * stride];
    *w = sum;
}

static void (*const add_tap[])(double *restrict x, double *restrict w, double *restrict y, int64_t stride,
                               int64_t count) = {
    [PDNN_FORWARD] = add_forward,
    [PDNN_BACKWARD_DATA] = add_backward_data,
    [PDNN_BACKWARD_WEIGHTS] = add_backward_weights,
};

/* Rows of the image, of the weights and of the output. */
static void add_rows(struct pdnn_reference *r, const struct geometry *g, double *x, double *w, double *y) {
    for (int64_t s = 0; s < g->w.kernel; s++) {
        struct pdnn_taps at = pdnn_window_reach(g->w, g->W, s);
        if (at.end <= at.begin)
            continue;
        add_tap[pdnn_conv2d_pass(r->node)](&x[at.begin * g->w.stride - g->w.padding + s * g->w.dilation],
                                           &w[s], y + at.begin, g->w.stride, at.end - at.begin);
        r->flop += 2 * (uint64_t)(at.end - at.begin);
    }
}

void pdnn_conv2d_reference(struct pdnn_reference *r) {
    struct geometry g = geometry_of(r->graph, r->node);
    const enum pdnn_pass pass = pdnn_conv2d_pass(r->node);
    double *in[] = {pdnn_ref_in(r, 0), pdnn_ref_in(r, 1)}, *out = pdnn_ref_out(r, 0);
    double *x = pass == PDNN_BACKWARD_DATA ? out : in[0];
    double *w = pass == PDNN_BACKWARD_WEIGHTS ? out : in[1];
    double *y = pass == PDNN_FORWARD ? out : pass == PDNN_BACKWARD_DATA ? in[0] : in[1];
    int64_t elements = pdnn_tensor_elements(pdnn_node_out(r->graph, r->node, 0));
    for (int64_t i = 0; i < elements; i++)
        out[i] = 0;
    for (int64_t i = 0; i < g.N * g.O * g.P; i++) {
        int64_t n = i / (g.O * g.P), o = i / g.P % g.O, p = i % g.P;
        struct pdnn_taps taps = pdnn_window_taps(g.h, g.H, p);
        int64_t first = o / (g.O / g.groups) * g.K; /* channel of the group */
        for (int64_t c = 0; c < g.K; c++) {
            int64_t top = (n * g.C + first + c) * g.H + p * g.h.stride - g.h.padding; /* may be outside */
            double *kernel = w + (o * g.K + c) * g.h.kernel * g.w.kernel;
            for (int64_t j = taps.begin; j < taps.end; j++)
                add_rows(r, &g, &x[(top + j * g.h.dilation) * g.W], &kernel[j * g.w.kernel], &y[i * g.Q]);
        }
    }
    if (pdnn_quantized_is_scaled(r->node))
        pdnn_quantized_scale(r, PDNN_QUANTIZED_X_SCALE);
}

static const struct pdnn_op_def *const forward_posts[] = {&pdnn_op_bias, &pdnn_op_add, NULL};
static const struct pdnn_op_def *const weights_posts[] = {&pdnn_op_bias, NULL};

void pdnn_conv2d_add_attributes(struct pdnn_export *onnx) {
    const struct pdnn_node *node = onnx->at;
    const struct pdnn_tensor *w = pdnn_export_shape_in(onnx, PDNN_CONV2D_W);
    struct pdnn_window h, v;
    pdnn_conv2d_windows(node, w, &h, &v);
    pdnn_export_add_wholes(onnx, "kernel_shape", 2, (int64_t[]){h.kernel, v.kernel});
    pdnn_export_add_wholes(onnx, "strides", 2, (int64_t[]){h.stride, v.stride});
    pdnn_export_add_wholes(onnx, "pads", 4,
                           (int64_t[]){h.padding, v.padding, pdnn_window_end(h), pdnn_window_end(v)});
    pdnn_export_add_wholes(onnx, "dilations", 2, (int64_t[]){h.dilation, v.dilation});
    pdnn_export_add_whole(onnx, "group", pdnn_conv2d_groups(node));
}

static uint32_t nodes(struct pdnn_export *onnx) {
    const uint32_t y = pdnn_export_op2(onnx, "Conv", pdnn_export_in(onnx, PDNN_CONV2D_X),
                                       pdnn_export_in(onnx, PDNN_CONV2D_W));
    pdnn_conv2d_add_attributes(onnx);
    return y;
}

const struct pdnn_op_def pdnn_op_conv2d = {
    .name = "conv2d",
    .category = "convolution",
    .formula = "y[o] = sum over its group's c and taps of x[c] * w[o][c]",
    .operands = {{"x", PDNN_OPERAND_DATA},
                 {"w", PDNN_OPERAND_WEIGHT, .shape = "out, ceil(x.channels / groups), kernel_h, kernel_w",
                  .fill = PDNN_FILL_UNIFORM, .range = PDNN_RANGE_HE}},
    .attributes = {{"stride_h", PDNN_CONV2D_STRIDE_H, .fallback = "1"},
                   {"stride_w", PDNN_CONV2D_STRIDE_W, .fallback = "1"},
                   {"padding_h", PDNN_CONV2D_PADDING_H},
                   {"padding_w", PDNN_CONV2D_PADDING_W},
                   {"groups", PDNN_CONV2D_GROUPS, .fallback = "1", .hides_one = true},
                   {"dilation_h", PDNN_CONV2D_DILATION_H, .fallback = "1", .hides_one = true},
                   {"dilation_w", PDNN_CONV2D_DILATION_W, .fallback = "1", .hides_one = true},
                   {"end_h", PDNN_SIZE, .fallback = "padding_h"},
                   {"end_w", PDNN_SIZE, .fallback = "padding_w"},
                   {"extra_h", PDNN_CONV2D_EXTRA_H, .derived = true, .fallback = "end_h - padding_h"},
                   {"extra_w", PDNN_CONV2D_EXTRA_W, .derived = true, .fallback = "end_w - padding_w"},
                   {"out", PDNN_SIZE, .required = true},
                   {"kernel_h", PDNN_SIZE, .fallback = "1"},
                   {"kernel_w", PDNN_SIZE, .fallback = "1"}},
    .outputs = {"y"},
    .infer = infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = {.flop = pdnn_conv2d_flop,
                               .in_bounds_flop = pdnn_conv2d_in_bounds_flop,
                               .bytes = pdnn_conv2d_bytes,
                               .reference = pdnn_conv2d_reference,
                               .posts = forward_posts,
                               .takes_activations = true},
             [PDNN_BACKWARD_DATA] = {.flop = pdnn_conv2d_flop,
                                     .in_bounds_flop = pdnn_conv2d_in_bounds_flop,
                                     .bytes = pdnn_conv2d_bytes,
                                     .reference = pdnn_conv2d_reference},
             [PDNN_BACKWARD_WEIGHTS] = {.flop = pdnn_conv2d_flop,
                                        .in_bounds_flop = pdnn_conv2d_in_bounds_flop,
                                        .bytes = pdnn_conv2d_bytes,
                                        .reference = pdnn_conv2d_reference,
                                        .posts = weights_posts}},
    .tolerance = 1e-6,
    .onnx.write = nodes,
};
