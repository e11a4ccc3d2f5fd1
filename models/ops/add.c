/* add: y = a + b, elementwise; the gradient of both inputs is dy itself. The backward passes are the same
 * sum, of two gradients of one tensor: backward-data for an activation, backward-weights for a weight.
 * FLOP: one addition per element. */
#include "models/transform/backward.h"
#include "models/ops/pointwise.h"

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t dy = pdnn_backward_of(backward, node->output[0]);
    for (int k = 0; k < 2; k++) {
        if (pdnn_backward_wants(backward, node->input[k]))
            pdnn_backward_pass_on(backward, node->input[k], dy);
    }
}

static void flop(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *count) {
    pdnn_pointwise_flop(graph, node, 1, count);
}

static double sum(double a, double b) {
    return a + b;
}

static void sum_up(struct pdnn_reference *r) {
    pdnn_pointwise_reference(r, sum, 1);
}

const struct pdnn_op_def pdnn_op_add = {
    .name = "add",
    .category = "add",
    .formula = "y = a + b",
    .n_outputs = 1,
    .infer = pdnn_pointwise_infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = {.flop = flop, .reference = sum_up, .in_place = 1},
             [PDNN_BACKWARD_DATA] = {.flop = flop, .reference = sum_up, .in_place = 1},
             [PDNN_BACKWARD_WEIGHTS] = {.flop = flop, .reference = sum_up, .in_place = 1}},
    .tolerance = 1e-6,
};
