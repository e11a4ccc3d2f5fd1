/* rearrange: the elements of x in the order, and in the dimensions, that a pattern says (models/rearrange.h):
 * 'n c h w -> (n h w) c' makes rows of an image's pixels. dx is the inverse. Where the order stays, y is x by
 * another shape: both are in the same memory, and nothing is moved. */
#include "models/attributes.h"
#include "models/cost/lifetimes.h"
#include "models/rearrange.h"
#include "models/transform/backward.h"
#include "models/op.h"
#include "models/onnx/nodes.h"

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    struct pdnn_rearrange r;
    if (node->n_inputs != 1)
        return pdnn_fail(err, PDNN_INVALID, "rearrange: expected one input");
    enum pdnn_status status = pdnn_rearrange_resolve(node->attr, pdnn_node_in(graph, node, 0), &r, err);
    if (status != PDNN_OK)
        return status;
    outputs[0].rank = r.pattern.rank[PDNN_PATTERN_Y];
    for (int d = 0, k = 0; d < outputs[0].rank; d++) {
        outputs[0].dim[d] = 1;
        for (int i = 0; i < r.pattern.axes[PDNN_PATTERN_Y][d]; i++)
            outputs[0].dim[d] *= r.size[r.pattern.order[k++]];
    }
    return PDNN_OK;
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t dy = pdnn_backward_of(backward, node->output[0]);
    if (pdnn_backward_wants(backward, node->input[0]))
        pdnn_backward_emit(backward, node, PDNN_BACKWARD_DATA, node->input[0], (uint32_t[]){dy, PDNN_NONE});
}

static bool is_view(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    const struct pdnn_rearrange r = pdnn_rearrange_of(graph, node);
    return pdnn_rearrange_keeps_order(&r);
}

static void bytes(const struct pdnn_graph *graph, const struct pdnn_node *node, uint64_t *bytes) {
    if (pdnn_memory_is_view(graph, node))
        bytes[0] = bytes[1] = 0;
}

/* Where element i of y is in x. */
static int64_t place_of(const struct pdnn_rearrange *r, int64_t i) {
    int64_t at[PDNN_AXES], place = 0;
    for (int k = r->pattern.n_axes; k-- > 0;) {
        const int axis = r->pattern.order[k];
        at[axis] = i % r->size[axis];
        i /= r->size[axis];
    }
    for (int axis = 0; axis < r->pattern.n_axes; axis++)
        place = place * r->size[axis] + at[axis];
    return place;
}

static void forward(struct pdnn_reference *r) {
    const struct pdnn_rearrange of = pdnn_rearrange_of(r->graph, r->node);
    int64_t elements = pdnn_tensor_elements(pdnn_node_out(r->graph, r->node, 0));
    for (int64_t i = 0; i < elements; i++)
        pdnn_ref_out(r, 0)[i] = pdnn_ref_in(r, 0)[place_of(&of, i)];
}

static void backward_data(struct pdnn_reference *r) {
    const struct pdnn_rearrange of = pdnn_rearrange_of(r->graph, r->node);
    int64_t elements = pdnn_tensor_elements(pdnn_node_out(r->graph, r->node, 0));
    for (int64_t i = 0; i < elements; i++)
        pdnn_ref_out(r, 0)[place_of(&of, i)] = pdnn_ref_in(r, 0)[i];
}

/* Whether each dimension is one axis. */
static bool is_flat(const struct pdnn_pattern *pattern, enum pdnn_pattern_side side) {
    bool flat = true;
    for (int i = 0; i < pattern->rank[side]; i++)
        flat = flat && pattern->axes[side][i] == 1;
    return flat;
}

static uint32_t nodes(struct pdnn_export *onnx) {
    const struct pdnn_rearrange of = pdnn_rearrange_of(onnx->graph, onnx->at);
    const int n_axes = of.pattern.n_axes;
    int64_t order[PDNN_AXES];
    uint32_t x = pdnn_export_in(onnx, PDNN_REARRANGE_X);
    if (pdnn_rearrange_keeps_order(&of))
        return pdnn_export_as_output(onnx, x);
    for (int i = 0; i < n_axes; i++)
        order[i] = of.pattern.order[i];
    if (!is_flat(&of.pattern, PDNN_PATTERN_X))
        x = pdnn_export_reshape(onnx, x, n_axes, of.size);
    x = pdnn_export_transpose(onnx, x, n_axes, order);
    return is_flat(&of.pattern, PDNN_PATTERN_Y) ? x : pdnn_export_as_output(onnx, x);
}

const struct pdnn_op_def pdnn_op_rearrange = {
    .name = "rearrange",
    .formula = "y = x, as in 'n c h w -> (n h w) c'; sizes by name",
    .category = "data movement",
    .operands = {{"x", PDNN_OPERAND_DATA}},
    .attributes = {{"pattern", PDNN_REARRANGE_PATTERN, .required = true, .is_pattern = true},
                   {"a", PDNN_REARRANGE_SIZES, .is_size = true},
                   {"b", PDNN_REARRANGE_SIZES + 1, .is_size = true},
                   {"c", PDNN_REARRANGE_SIZES + 2, .is_size = true},
                   {"d", PDNN_REARRANGE_SIZES + 3, .is_size = true},
                   {"e", PDNN_REARRANGE_SIZES + 4, .is_size = true},
                   {"f", PDNN_REARRANGE_SIZES + 5, .is_size = true}},
    .outputs = {"y"},
    .tolerance = 1e-7,
    .infer = infer,
    .gradient = gradient,
    .pass =
        {[PDNN_FORWARD] = {.flop = pdnn_no_flop, .reference = forward, .bytes = bytes, .is_view = is_view},
         [PDNN_BACKWARD_DATA] =
             {.flop = pdnn_no_flop, .reference = backward_data, .bytes = bytes, .is_view = is_view}},
    .onnx.write = nodes,
};
