/* pool2d: y[n][c][p][q] = max or mean of x[n][c][p*stride_h - padding_h + r][q*stride_w - padding_w + s] over
 * the taps of the window that lie on the image. In training, max-pooling also returns index = r*kernel_w + s
 * of the first largest tap in row-major order, and its dx is dy there. The mean shares dy equally among its
 * taps. NaN is larger than any number; of several NaN in a window the last one counts.
 * N minibatch, C channels, H W image, P Q output height and width, R S window. */
#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/op.h"
#include "models/ops/window.h"
#include "models/onnx/nodes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

struct geometry {
    int64_t planes, H, W, P, Q; /* planes: N*C */
    struct pdnn_window h, w;
    bool average;
};

static struct pdnn_window window_h(const struct pdnn_node *node) {
    const int64_t *attr = node->attr;
    return (struct pdnn_window){attr[PDNN_POOL2D_KERNEL_H], attr[PDNN_POOL2D_STRIDE_H],
                                attr[PDNN_POOL2D_PADDING_H], 1, attr[PDNN_POOL2D_EXTRA_H]};
}

static struct pdnn_window window_w(const struct pdnn_node *node) {
    const int64_t *attr = node->attr;
    return (struct pdnn_window){attr[PDNN_POOL2D_KERNEL_W], attr[PDNN_POOL2D_STRIDE_W],
                                attr[PDNN_POOL2D_PADDING_W], 1, attr[PDNN_POOL2D_EXTRA_W]};
}

static struct geometry geometry_of(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    const struct pdnn_tensor *in = pdnn_node_in(graph, node, 0), *out = pdnn_node_out(graph, node, 0);
    const struct pdnn_tensor *x = node->pass == PDNN_FORWARD ? in : out; /* (N, C, H, W), or dx */
    const struct pdnn_tensor *y = node->pass == PDNN_FORWARD ? out : in; /* (N, C, P, Q), or dy */
    return (struct geometry){
        x->dim[0] * x->dim[1],
        x->dim[2],
        x->dim[3],
        y->dim[2],
        y->dim[3],
        window_h(node),
        window_w(node),
        node->attr[PDNN_POOL2D_KIND] == PDNN_POOL2D_AVERAGE,
    };
}

static enum pdnn_status fail_window(struct pdnn_window h, struct pdnn_window w, const struct pdnn_tensor *x,
                                    struct pdnn_err *err) {
    char end[64] = "";
    if (h.extra || w.extra)
        snprintf(end, sizeof end, " and %" PRId64 "x%" PRId64 " at the end", pdnn_window_end(h),
                 pdnn_window_end(w));
    return pdnn_fail(err, PDNN_INVALID,
                     "pool2d: a %" PRId64 "x%" PRId64 " window with padding %" PRId64 "x%" PRId64
                     "%s does not fit an image of %" PRId64 "x%" PRId64,
                     h.kernel, w.kernel, h.padding, w.padding, end, x->dim[2], x->dim[3]);
}

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_POOL2D_X); /* (N, C, H, W) */
    const int64_t *attr = node->attr;
    const struct pdnn_window h = window_h(node), w = window_w(node);
    if (node->n_inputs != 1 || x->rank != 4)
        return pdnn_fail(err, PDNN_INVALID, "pool2d: expected one input (N, C, H, W)");
    outputs[PDNN_POOL2D_Y].rank = 4; /* (N, C, P, Q) */
    outputs[PDNN_POOL2D_Y].dim[0] = x->dim[0];
    outputs[PDNN_POOL2D_Y].dim[1] = x->dim[1];
    outputs[PDNN_POOL2D_Y].dim[2] = pdnn_window_positions(h, x->dim[2]);
    outputs[PDNN_POOL2D_Y].dim[3] = pdnn_window_positions(w, x->dim[3]);
    if (!outputs[PDNN_POOL2D_Y].dim[2] || !outputs[PDNN_POOL2D_Y].dim[3])
        return fail_window(h, w, x, err);
    if (attr[PDNN_POOL2D_KIND] != PDNN_POOL2D_MAX || !attr[PDNN_POOL2D_TRAIN])
        return PDNN_OK;
    if (h.kernel > PDNN_POOL2D_TAPS_MAX / w.kernel)
        return pdnn_fail(err, PDNN_INVALID,
                         "pool2d: a maximum over %" PRId64 "x%" PRId64
                         " taps, expected at most %d in training",
                         h.kernel, w.kernel, PDNN_POOL2D_TAPS_MAX);
    outputs[PDNN_POOL2D_INDEX] = outputs[PDNN_POOL2D_Y]; /* index (N, C, P, Q) */
    outputs[PDNN_POOL2D_INDEX].dtype = PDNN_INT8;
    return PDNN_OK;
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t dy = pdnn_backward_of(backward, node->output[PDNN_POOL2D_Y]);
    uint32_t index = node->n_outputs > PDNN_POOL2D_INDEX ? node->output[PDNN_POOL2D_INDEX] : PDNN_NONE;
    if (pdnn_backward_wants(backward, node->input[PDNN_POOL2D_X]))
        pdnn_backward_emit(
            backward, node, PDNN_BACKWARD_DATA, node->input[PDNN_POOL2D_X],
            (uint32_t[]){[PDNN_POOL2D_BACK_DY] = dy, [PDNN_POOL2D_BACK_INDEX] = index, PDNN_NONE});
}

/* taps is the sum over a plane's windows. Maximum: one comparison per tap but the first. Mean: one addition
 * per tap but the first, and a division. */
static void count_forward(const struct geometry *g, int64_t taps, struct pdnn_count *count) {
    int64_t windows = g->P * g->Q;
    pdnn_count_add(count, g->planes, taps - windows + (g->average ? windows : 0), 1);
}

static void forward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         struct pdnn_count *count) {
    struct geometry g = geometry_of(graph, node);
    count_forward(&g, g.P * g.Q * g.h.kernel * g.w.kernel, count);
}

static void forward_in_bounds_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                                   struct pdnn_count *count) {
    struct geometry g = geometry_of(graph, node);
    count_forward(&g, pdnn_window_taps_sum(g.h, g.H) * pdnn_window_taps_sum(g.w, g.W), count);
}

/* Only pixels under some window are read. */
static void forward_bytes(const struct pdnn_graph *graph, const struct pdnn_node *node, uint64_t *bytes) {
    struct geometry g = geometry_of(graph, node);
    int64_t pixels = pdnn_window_covered(g.h, g.H) * pdnn_window_covered(g.w, g.W);
    bytes[0] = bytes[0] / (uint64_t)(g.H * g.W) * (uint64_t)pixels;
}

/* Maximum: one addition per window. Mean: one division per window and one addition per tap. */
static void count_backward(const struct geometry *g, int64_t taps, struct pdnn_count *count) {
    pdnn_count_add(count, g->planes, g->P * g->Q + (g->average ? taps : 0), 1);
}

static void backward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                          struct pdnn_count *count) {
    struct geometry g = geometry_of(graph, node);
    count_backward(&g, g.P * g.Q * g.h.kernel * g.w.kernel, count);
}

static void backward_in_bounds_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                                    struct pdnn_count *count) {
    struct geometry g = geometry_of(graph, node);
    count_backward(&g, pdnn_window_taps_sum(g.h, g.H) * pdnn_window_taps_sum(g.w, g.W), count);
}

/* One window: its taps that lie on the image, and the offset of tap (0, 0) in the plane, which may
 * be outside the image. */
struct place {
    struct pdnn_taps r, s;
    int64_t x;
};

static struct place place_of(const struct geometry *g, int64_t p, int64_t q) {
    struct place at = {.r = pdnn_window_taps(g->h, g->H, p), .s = pdnn_window_taps(g->w, g->W, q)};
    at.x = (p * g->h.stride - g->h.padding) * g->W + q * g->w.stride - g->w.padding;
    return at;
}

static void take_maximum(struct pdnn_reference *r, const struct geometry *g, struct place at, const double *x,
                         double *y, double *index) {
    int64_t first = at.r.begin * g->w.kernel + at.s.begin, best = first;
    for (int64_t tap = first; tap < at.r.end * g->w.kernel; tap++) {
        int64_t i = tap / g->w.kernel, j = tap % g->w.kernel;
        if (j < at.s.begin || j >= at.s.end || tap == first)
            continue;
        int64_t so_far = best / g->w.kernel * g->W + best % g->w.kernel;
        double value = x[at.x + i * g->W + j];
        best = value > x[at.x + so_far] || isnan(value) ? tap : best;
        r->flop += 1;
    }
    *y = x[at.x + best / g->w.kernel * g->W + best % g->w.kernel];
    if (index)
        *index = (double)best;
}

static void take_mean(struct pdnn_reference *r, const struct geometry *g, struct place at, const double *x,
                      double *y) {
    int64_t taps = (at.r.end - at.r.begin) * (at.s.end - at.s.begin);
    double sum = 0;
    for (int64_t i = at.r.begin; i < at.r.end; i++) {
        for (int64_t j = at.s.begin; j < at.s.end; j++) {
            sum += x[at.x + i * g->W + j];
            r->flop += 1;
        }
    }
    *y = sum / (double)taps; /* counted: taps - 1 additions and a division */
}

static void forward(struct pdnn_reference *r) {
    struct geometry g = geometry_of(r->graph, r->node);
    const double *x = pdnn_ref_in(r, PDNN_POOL2D_X);
    double *y = pdnn_ref_out(r, PDNN_POOL2D_Y),
           *index = r->node->n_outputs > PDNN_POOL2D_INDEX ? pdnn_ref_out(r, PDNN_POOL2D_INDEX) : NULL;
    for (int64_t i = 0; i < g.planes * g.P * g.Q; i++) {
        struct place at = place_of(&g, i / g.Q % g.P, i % g.Q);
        const double *plane = x + i / (g.P * g.Q) * g.H * g.W;
        if (g.average)
            take_mean(r, &g, at, plane, &y[i]);
        else
            take_maximum(r, &g, at, plane, &y[i], index ? &index[i] : NULL);
    }
}

static void share(struct pdnn_reference *r, const struct geometry *g, struct place at, double dy,
                  double *dx) {
    dy /= (double)((at.r.end - at.r.begin) * (at.s.end - at.s.begin));
    r->flop += 1;
    for (int64_t i = at.r.begin; i < at.r.end; i++) {
        for (int64_t j = at.s.begin; j < at.s.end; j++) {
            dx[at.x + i * g->W + j] += dy;
            r->flop += 1;
        }
    }
}

static void backward_data(struct pdnn_reference *r) {
    struct geometry g = geometry_of(r->graph, r->node);
    const double *dy = pdnn_ref_in(r, PDNN_POOL2D_BACK_DY),
                 *index = g.average ? NULL : pdnn_ref_in(r, PDNN_POOL2D_BACK_INDEX);
    double *dx = pdnn_ref_out(r, PDNN_POOL2D_BACK_DX);
    for (int64_t i = 0; i < g.planes * g.H * g.W; i++)
        dx[i] = 0;
    for (int64_t i = 0; i < g.planes * g.P * g.Q; i++) {
        struct place at = place_of(&g, i / g.Q % g.P, i % g.Q);
        double *plane = dx + i / (g.P * g.Q) * g.H * g.W;
        if (g.average) {
            share(r, &g, at, dy[i], plane);
            continue;
        }
        int64_t tap = (int64_t)index[i];
        plane[at.x + tap / g.w.kernel * g.W + tap % g.w.kernel] += dy[i];
        r->flop += 1;
    }
}

static const char *const kinds[] = {[PDNN_POOL2D_MAX] = "max", [PDNN_POOL2D_AVERAGE] = "average", NULL};

/* Padding at the end: as before the image, or with `ceil` what one more window needs if the last one would
 * leave a rest, and if it begins on the image or the padding before it. */
#define END(length, axis)                                                                                    \
    "ceil == 0 ? padding" axis " : max(padding" axis ", stride" axis " * min(ceil((x." length                \
    " + 2 * padding" axis " - kernel" axis ") / stride" axis "), ceil((x." length " + padding" axis          \
    ") / stride" axis ") - 1) + kernel" axis " - x." length " - padding" axis ")"

/* A mean is over the taps on the image: ONNX's default, which PyTorch turns off. */
static uint32_t nodes(struct pdnn_export *onnx) {
    const struct pdnn_tensor *x = pdnn_export_shape_in(onnx, PDNN_POOL2D_X), *y = pdnn_export_shape_out(onnx);
    const struct pdnn_window h = window_h(onnx->at), w = window_w(onnx->at);
    const bool average = onnx->at->attr[PDNN_POOL2D_KIND] == PDNN_POOL2D_AVERAGE;
    const uint32_t image = pdnn_export_in(onnx, PDNN_POOL2D_X);
    if (y->dim[2] * y->dim[3] == 1 && !h.padding && !w.padding && h.kernel == x->dim[2] &&
        w.kernel == x->dim[3])
        return pdnn_export_op1(onnx, average ? "GlobalAveragePool" : "GlobalMaxPool", image);
    const uint32_t result = pdnn_export_op1(onnx, average ? "AveragePool" : "MaxPool", image);
    pdnn_export_add_wholes(onnx, "kernel_shape", 2, (int64_t[]){h.kernel, w.kernel});
    pdnn_export_add_wholes(onnx, "strides", 2, (int64_t[]){h.stride, w.stride});
    pdnn_export_add_wholes(onnx, "pads", 4,
                           (int64_t[]){h.padding, w.padding, pdnn_window_end(h), pdnn_window_end(w)});
    return result;
}

const struct pdnn_op_def pdnn_op_pool2d = {
    .name = "pool2d",
    .category = "pooling",
    .formula = "y = max or mean of x over a window",
    .operands = {{"x", PDNN_OPERAND_DATA}},
    .attributes = {{"kind", PDNN_POOL2D_KIND, .words = kinds, .shown = "average"},
                   {"kernel_h", PDNN_POOL2D_KERNEL_H, .fallback = "to == 0 ? 0 : x.height / to"},
                   {"kernel_w", PDNN_POOL2D_KERNEL_W, .fallback = "to == 0 ? 0 : x.width / to"},
                   {"stride_h", PDNN_POOL2D_STRIDE_H, .fallback = "to == 1 ? 1 : kernel_h"},
                   {"stride_w", PDNN_POOL2D_STRIDE_W, .fallback = "to == 1 ? 1 : kernel_w"},
                   {"padding_h", PDNN_POOL2D_PADDING_H},
                   {"padding_w", PDNN_POOL2D_PADDING_W},
                   {"train", PDNN_POOL2D_TRAIN, .derived = true,
                    .fallback = "mode == train and kind != average"},
                   {"ceil", PDNN_SIZE},
                   {"end_h", PDNN_SIZE, .fallback = END("height", "_h")},
                   {"end_w", PDNN_SIZE, .fallback = END("width", "_w")},
                   {"extra_h", PDNN_POOL2D_EXTRA_H, .derived = true, .fallback = "end_h - padding_h"},
                   {"extra_w", PDNN_POOL2D_EXTRA_W, .derived = true, .fallback = "end_w - padding_w"},
                   {"to", PDNN_SIZE}},
    .outputs = {"y", "index"},
    .infer = infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = {.flop = forward_flop,
                               .in_bounds_flop = forward_in_bounds_flop,
                               .bytes = forward_bytes,
                               .reference = forward},
             [PDNN_BACKWARD_DATA] = {.flop = backward_flop,
                                     .in_bounds_flop = backward_in_bounds_flop,
                                     .reference = backward_data}},
    .tolerance = 1e-6,
    .onnx.write = nodes,
};
