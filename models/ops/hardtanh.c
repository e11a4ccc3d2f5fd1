/* hardtanh: y = min(max(x, low), high), by default from 0 to 20 (the clipped ReLU of Deep Speech, Hannun et
 * al., 2014); dx = dy where low < y < high, else 0. FLOP per element: two comparisons in either pass. */
#include "models/attributes.h"
#include "models/ops/pointwise.h"

enum { FLOP = 2 };

static void flop(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *count) {
    pdnn_pointwise_flop(graph, node, FLOP, count);
}

static void forward(struct pdnn_reference *r) {
    const double *x = pdnn_ref_in(r, 0), *coef = r->node->coef;
    double low = coef[PDNN_HARDTANH_LOW], high = coef[PDNN_HARDTANH_HIGH], *y = pdnn_ref_out(r, 0);
    int64_t elements = pdnn_tensor_elements(pdnn_node_in(r->graph, r->node, 0));
    for (int64_t i = 0; i < elements; i++) {
        double raised = x[i] > low ? x[i] : low;
        y[i] = raised < high ? raised : high;
        r->flop += FLOP;
    }
}

static void backward_data(struct pdnn_reference *r) {
    const double *dy = pdnn_ref_in(r, 0), *y = pdnn_ref_in(r, 1), *coef = r->node->coef;
    double *dx = pdnn_ref_out(r, 0);
    int64_t elements = pdnn_tensor_elements(pdnn_node_in(r->graph, r->node, 0));
    for (int64_t i = 0; i < elements; i++) {
        dx[i] = y[i] > coef[PDNN_HARDTANH_LOW] && y[i] < coef[PDNN_HARDTANH_HIGH] ? dy[i] : 0;
        r->flop += FLOP;
    }
}

const struct pdnn_op_def pdnn_op_hardtanh = {
    .name = "hardtanh",
    .category = "activation",
    .formula = "y = min(max(x, low), high)",
    .coef_names = (const char *const[]){"low", "high", NULL},
    .coef = {0, 20},
    .n_outputs = 1,
    .infer = pdnn_pointwise_infer,
    .gradient = pdnn_pointwise_gradient,
    .pass = {[PDNN_FORWARD] = {.flop = flop, .reference = forward, .in_place = 1},
             [PDNN_BACKWARD_DATA] = {.flop = flop, .reference = backward_data, .in_place = 1}},
    .tolerance = 1e-6,
};
