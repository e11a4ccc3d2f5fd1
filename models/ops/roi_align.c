/* roi_align (He and others, 2017): P x P values of each box from the images' features, each the mean of S x S
 * points inside of its part of the box; a point is read between the four pixels around it.
 *   y[b][c][p][q] = sum_ij x[n][c](top + (p + (i + 1/2)/S) * (bottom - top)/P, the same along the width)/S^2.
 * A box is two opposite corners (row, column, row, column) in any order, from -1 to 1 across the image;
 * pixels have their values at their centers, and points outside of these the value of the nearest. Boxes are
 * data: no gradient flows into them. The first B/N boxes are of image 0, and so on. N minibatch, C H W
 * channels, height and width of the features, B boxes. 8 FLOP a point and channel, backward too. Bytes: the
 * pixels around points, at most all. */
#include "models/attributes.h"
#include "models/op.h"
#include "models/transform/backward.h"
#include "models/onnx/nodes.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct geometry {
    int64_t N, C, H, W, B, P, S;
};

static struct geometry geometry_of(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    const bool is_forward = node->pass == PDNN_FORWARD;
    const int64_t *x = (is_forward ? pdnn_node_in(graph, node, PDNN_ROI_ALIGN_X)
                                   : pdnn_node_out(graph, node, PDNN_ROI_ALIGN_BACK_DX))
                           ->dim;
    return (struct geometry){x[0],
                             x[1],
                             x[2],
                             x[3],
                             pdnn_node_in(graph, node, PDNN_ROI_ALIGN_BOXES)->dim[0],
                             node->attr[PDNN_ROI_ALIGN_SIZE],
                             node->attr[PDNN_ROI_ALIGN_SAMPLES]};
}

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_ROI_ALIGN_X); /* (N, C, H, W) */
    const int64_t size = node->attr[PDNN_ROI_ALIGN_SIZE], samples = node->attr[PDNN_ROI_ALIGN_SAMPLES];
    if (node->n_inputs != PDNN_ROI_ALIGN_INPUTS || x->rank != 4)
        return pdnn_fail(err, PDNN_INVALID, "roi_align: expected features (N, C, H, W) and boxes (B, 4)");
    const struct pdnn_tensor *boxes = pdnn_node_in(graph, node, PDNN_ROI_ALIGN_BOXES); /* (B, 4) */
    if (boxes->rank != 2 || boxes->dim[1] != 4)
        return pdnn_fail(err, PDNN_INVALID, "roi_align: expected features (N, C, H, W) and boxes (B, 4)");
    if (boxes->dim[0] % x->dim[0])
        return pdnn_fail(err, PDNN_INVALID,
                         "roi_align: %" PRId64 " boxes are not as many of each of %" PRId64 " images",
                         boxes->dim[0], x->dim[0]);
    if (size < 1 || size > PDNN_ROI_ALIGN_MOST || samples < 1 || samples > PDNN_ROI_ALIGN_MOST)
        return pdnn_fail(err, PDNN_INVALID,
                         "roi_align: size=%" PRId64 " and samples=%" PRId64 " are not from 1 to %d", size,
                         samples, PDNN_ROI_ALIGN_MOST);
    outputs[PDNN_ROI_ALIGN_Y].rank = 4;
    outputs[PDNN_ROI_ALIGN_Y].dim[0] = boxes->dim[0];
    outputs[PDNN_ROI_ALIGN_Y].dim[1] = x->dim[1];
    outputs[PDNN_ROI_ALIGN_Y].dim[2] = outputs[PDNN_ROI_ALIGN_Y].dim[3] = size;
    return PDNN_OK;
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    const uint32_t x = node->input[PDNN_ROI_ALIGN_X], boxes = node->input[PDNN_ROI_ALIGN_BOXES],
                   dy = pdnn_backward_of(backward, node->output[PDNN_ROI_ALIGN_Y]);
    if (pdnn_backward_wants(backward, x))
        pdnn_backward_emit(
            backward, node, PDNN_BACKWARD_DATA, x,
            (uint32_t[]){[PDNN_ROI_ALIGN_BACK_DY] = dy, [PDNN_ROI_ALIGN_BOXES] = boxes, PDNN_NONE});
}

enum { AROUND = 4 };

/* Four products and sums a point and channel. */
static void flop(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *count) {
    const struct geometry g = geometry_of(graph, node);
    pdnn_count_add(count, g.B * g.C, g.P * g.P * g.S * g.S, 2 * AROUND);
}

/* Elements of pixels around points, and of all pixels. */
static struct pdnn_saturation saturation(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    const struct geometry g = geometry_of(graph, node);
    return (struct pdnn_saturation){g.B * g.P * g.P * g.S * g.S * AROUND * g.C, g.N * g.H * g.W * g.C};
}

static void bytes(const struct pdnn_graph *graph, const struct pdnn_node *node, uint64_t *bytes) {
    const struct pdnn_saturation is = saturation(graph, node);
    if (is.size < is.limit)
        bytes[PDNN_ROI_ALIGN_X] = bytes[PDNN_ROI_ALIGN_X] / (uint64_t)is.limit * (uint64_t)is.size;
}

/* The pixels before and behind a point along an axis, and how much of each. */
struct between {
    int64_t at[2];
    double share[2];
};

/* Point i of S in part p of P between two corners, from -1 to 1. */
static struct between point_at(double a, double b, int64_t length, const struct geometry *g, int64_t p,
                               int64_t i) {
    const double low = (fmin(a, b) + 1) / 2 * (double)length, extent = fabs(b - a) / 2 * (double)length;
    const double step = (double)p + ((double)i + 0.5) / (double)g->S;
    const double inside = fmax(fmin(low + step * extent / (double)g->P - 0.5, (double)(length - 1)), 0);
    const int64_t before = (int64_t)inside, behind = before + 1 < length ? before + 1 : before;
    const double share = inside - (double)before;
    return (struct between){{before, behind}, {1 - share, share}};
}

/* Adds x * share to y of each pixel around a point or, backward, y * share to x. */
static void add_point(struct pdnn_reference *r, double *x, double *y, int64_t W, const struct between *h,
                      const struct between *w, double part) {
    for (int k = 0; k < AROUND; k++) {
        double *pixel = &x[h->at[k / 2] * W + w->at[k % 2]];
        const double share = h->share[k / 2] * w->share[k % 2] * part; /* the same for all channels */
        if (r->node->pass == PDNN_FORWARD)
            *y += share * *pixel;
        else
            *pixel += share * *y;
        r->flop += 2;
    }
}

static void reference(struct pdnn_reference *r) {
    const struct geometry g = geometry_of(r->graph, r->node);
    const bool is_forward = r->node->pass == PDNN_FORWARD;
    const double *boxes = pdnn_ref_in(r, PDNN_ROI_ALIGN_BOXES);
    double *out = pdnn_ref_out(r, 0), *x = is_forward ? pdnn_ref_in(r, PDNN_ROI_ALIGN_X) : out,
           *y = is_forward ? out : pdnn_ref_in(r, PDNN_ROI_ALIGN_BACK_DY);
    memset(out, 0, (size_t)pdnn_tensor_elements(pdnn_node_out(r->graph, r->node, 0)) * sizeof *out);
    for (int64_t k = 0; k < g.B * g.C * g.P * g.P; k++) {
        const int64_t q = k % g.P, p = k / g.P % g.P, c = k / g.P / g.P % g.C, b = k / g.P / g.P / g.C,
                      n = b / (g.B / g.N);
        const double *box = boxes + b * AROUND;
        for (int64_t i = 0; i < g.S * g.S; i++) {
            const struct between h = point_at(box[0], box[2], g.H, &g, p, i / g.S),
                                 w = point_at(box[1], box[3], g.W, &g, q, i % g.S);
            add_point(r, &x[(n * g.C + c) * g.H * g.W], &y[k], g.W, &h, &w, 1 / (double)(g.S * g.S));
        }
    }
}

/* Boxes as ONNX has them: low column and row, then high ones, in pixels. */
static uint32_t nodes(struct pdnn_export *onnx) {
    const struct geometry g = geometry_of(onnx->graph, onnx->at);
    const float half[] = {(float)g.W / 2, (float)g.H / 2, (float)g.W / 2, (float)g.H / 2};
    int64_t *image = pdnn_arena_room(onnx->arena, (size_t)g.B, sizeof *image);
    uint32_t corner[2], boxes = pdnn_export_in(onnx, PDNN_ROI_ALIGN_BOXES);
    for (int64_t b = 0; b < g.B; b++)
        image[b] = b / (g.B / g.N);
    for (int i = 0; i < 2; i++) {
        corner[i] = pdnn_export_op2(onnx, "Gather", boxes,
                                    pdnn_export_wholes(onnx, 2, (int64_t[]){2 * i + 1, 2 * i}));
        pdnn_export_add_whole(onnx, "axis", 1);
    }
    boxes = pdnn_export_concat(
        onnx, 2, (uint32_t[]){pdnn_export_op(onnx, "Min", 2, corner), pdnn_export_op(onnx, "Max", 2, corner)},
        1);
    boxes = pdnn_export_op2(onnx, "Add", boxes, pdnn_export_number(onnx, 1));
    boxes = pdnn_export_op2(onnx, "Mul", boxes,
                            pdnn_export_constant(onnx, PDNN_EXPORT_F32, 1, (int64_t[]){AROUND}, half));
    const uint32_t y = pdnn_export_op(
        onnx, "RoiAlign", 3,
        (uint32_t[]){pdnn_export_in(onnx, PDNN_ROI_ALIGN_X), boxes, pdnn_export_wholes(onnx, g.B, image)});
    pdnn_export_add_text(onnx, "coordinate_transformation_mode", "half_pixel");
    pdnn_export_add_whole(onnx, "output_height", g.P);
    pdnn_export_add_whole(onnx, "output_width", g.P);
    pdnn_export_add_whole(onnx, "sampling_ratio", g.S);
    return y;
}

const struct pdnn_op_def pdnn_op_roi_align = {
    .name = "roi_align",
    .category = "pooling",
    .formula = "y[b] = means of points inside of the parts of box b, from the pixels around them",
    .operands = {{"x", PDNN_OPERAND_DATA}, {"boxes", PDNN_OPERAND_DATA}},
    .attributes = {{"size", PDNN_ROI_ALIGN_SIZE, .required = true},
                   {"samples", PDNN_ROI_ALIGN_SAMPLES, .fallback = "2"}},
    .outputs = {"y"},
    .infer = infer,
    .gradient = gradient,
    .pass =
        {[PDNN_FORWARD] = {.flop = flop, .bytes = bytes, .saturation = saturation, .reference = reference},
         [PDNN_BACKWARD_DATA] = {.flop = flop, .reference = reference}},
    .tolerance = 2e-6,
    .onnx.write = nodes,
};
