#include "runtime/backends/onednn/rnn/layouts.h"

#include "models/op.h"
#include "models/sharing.h"
#include "runtime/lowering/call.h"
#include "runtime/backends/onednn/rnn/tune.h"
#include "runtime/backends/onednn/tensor_layout.h"

#include <string.h>

/* Whether b is the same layer as a, in another micro-step or recomputed. */
static bool is_same_layer(const struct pdnn_program *program, const struct pdnn_node *a,
                          const struct pdnn_node *b) {
    struct pdnn_onednn_rnn_shape shape, other;
    pdnn_onednn_rnn_shape_of(program, a, &shape);
    pdnn_onednn_rnn_shape_of(program, b, &other);
    return a->input[PDNN_RNN_W] == b->input[PDNN_RNN_W] && a->input[PDNN_RNN_U] == b->input[PDNN_RNN_U] &&
           memcmp(&shape, &other, sizeof shape) == 0;
}

/* Whether the node accepts the layer's layout for the weights or their gradients: it takes any layout, or
 * belongs to the layer itself (backward nodes use the forward node's). */
static bool is_flexible(const struct pdnn_program *program, const struct pdnn_node *node,
                        const struct pdnn_node *forward) {
    if (node->op != &pdnn_op_rnn)
        return node->pass == PDNN_UPDATE || (node->op == &pdnn_op_add && node->pass == PDNN_BACKWARD_WEIGHTS);
    return node->pass != PDNN_FORWARD || is_same_layer(program, node, forward);
}

/* Whether all nodes that read the tensor accept the layer's layout. */
static bool has_flexible_readers(const struct pdnn_program *program, uint32_t tensor,
                                 const struct pdnn_node *forward) {
    const struct pdnn_user_list users = pdnn_users_nodes(&program->users, tensor);
    for (const uint32_t *user = users.begin; user < users.end; user++) {
        const struct pdnn_node *node = &program->graph->nodes[*user];
        for (int k = 0; k < node->n_inputs; k++) {
            if (node->input[k] == tensor && !is_flexible(program, node, forward))
                return false;
        }
    }
    return true;
}

/* Whether only this layer and updates use the weights, so that the library may choose their layout. */
static bool is_exclusive(const struct pdnn_program *program, uint32_t weights,
                         const struct pdnn_node *forward) {
    const struct pdnn_user_list tensors = pdnn_users_tensors(&program->users, weights);
    bool is = program->graph->tensors[weights].role == PDNN_ROLE_WEIGHT &&
              forward->input[PDNN_RNN_W] != forward->input[PDNN_RNN_U] &&
              has_flexible_readers(program, weights, forward);
    for (const uint32_t *tensor = tensors.begin; tensor < tensors.end && is; tensor++)
        is = has_flexible_readers(program, *tensor, forward);
    return is;
}

static enum pdnn_status place_weights(struct pdnn_onednn_compile *compile, const struct pdnn_node *node,
                                      const struct pdnn_onednn_rnn_shape *shape, struct pdnn_err *err) {
    bool is_trained = pdnn_onednn_rnn_find_backward(compile->program, node) != NULL;
    const struct {
        uint32_t weights;
        enum pdnn_onednn_arg arg;
    } rows[] = {
        {node->input[PDNN_RNN_W], is_trained ? PDNN_ONEDNN_DIFF_WEIGHTS : PDNN_ONEDNN_WEIGHTS},
        {node->input[PDNN_RNN_U], is_trained ? PDNN_ONEDNN_DIFF_RECURRENT : PDNN_ONEDNN_RECURRENT},
    };
    struct pdnn_onednn_primitive *primitive = NULL;
    enum pdnn_status status = pdnn_onednn_rnn_describe(
        compile->pool, shape, is_trained ? PDNN_BACKWARD_DATA : PDNN_FORWARD, &primitive, err);
    for (int i = 0; status == PDNN_OK && i < 2; i++) {
        if (!compile->layout[rows[i].weights] && is_exclusive(compile->program, rows[i].weights, node))
            pdnn_onednn_tensor_layout_set_weights(compile, rows[i].weights,
                                                  pdnn_onednn_primitive_layout(primitive, rows[i].arg));
    }
    pdnn_onednn_primitive_destroy(primitive);
    return status;
}

/* Finds the layer in the program `like` that uses the same weights. */
static const struct pdnn_onednn_rnn_layer *
find_like(const struct pdnn_program *like, const struct pdnn_graph *graph, const struct pdnn_node *node) {
    const struct pdnn_onednn_layouts *layouts = like->layouts;
    uint32_t weights = pdnn_shared_match(graph, node->input[PDNN_RNN_U], like->graph);
    for (size_t i = 0; i < like->graph->n_nodes; i++) {
        const struct pdnn_node *other = &like->graph->nodes[i];
        if (other->op == &pdnn_op_rnn && other->pass == PDNN_FORWARD && other->input[PDNN_RNN_U] == weights)
            return &layouts->layer[other->output[PDNN_RNN_Y]];
    }
    return NULL;
}

/* 16-bit layers run as the library's primitive if it has one, for inference only, since its gradients are not
 * 16 bit. All others are slow, on f32 copies. */
static enum pdnn_status place_half(struct pdnn_onednn_compile *compile, const struct pdnn_node *node,
                                   struct pdnn_err *err) {
    const struct pdnn_graph *graph = compile->program->graph;
    struct pdnn_onednn_rnn_layer *layer = &compile->layer[node->output[PDNN_RNN_Y]];
    struct pdnn_onednn_primitive *primitive = NULL;
    struct pdnn_onednn_rnn_shape shape;
    struct pdnn_err refusal = {0};
    enum pdnn_status status = PDNN_UNSUPPORTED;
    pdnn_onednn_rnn_shape_of(compile->program, node, &shape);
    if (graph->rnn != PDNN_RECURRENCE_UNROLLED && !shape.is_training)
        status = pdnn_onednn_rnn_describe(compile->pool, &shape, PDNN_FORWARD, &primitive, &refusal);
    pdnn_onednn_primitive_destroy(primitive);
    layer->is_fused = status == PDNN_OK;
    if (status == PDNN_OK)
        return place_weights(compile, node, &shape, err);
    if (status != PDNN_UNSUPPORTED)
        return pdnn_fail(err, status, "%s", refusal.text);
    compile->has_upcast = true;
    return pdnn_onednn_upcast_check(compile, node, err);
}

static enum pdnn_status place(struct pdnn_onednn_compile *compile, const struct pdnn_node *node,
                              struct pdnn_err *err) {
    const struct pdnn_graph *graph = compile->program->graph;
    struct pdnn_onednn_rnn_layer *layer = &compile->layer[node->output[PDNN_RNN_Y]];
    struct pdnn_onednn_rnn_shape shape;
    enum pdnn_status status = PDNN_OK;
    enum pdnn_dtype dtype = pdnn_node_in(graph, node, PDNN_RNN_X)->dtype;
    if (pdnn_dtype_is_half(dtype))
        return place_half(compile, node, err);
    if (dtype != PDNN_F32)
        return pdnn_call_unsupported("onednn", graph, node, err);
    pdnn_onednn_rnn_shape_of(compile->program, node, &shape);
    layer->is_fused = graph->rnn == PDNN_RECURRENCE_FUSED;
    layer->is_measured = graph->rnn == PDNN_RECURRENCE_AUTO && !compile->program->spares_memory;
    const struct pdnn_program *like = compile->program->like;
    const struct pdnn_onednn_rnn_layer *same = like ? find_like(like, graph, node) : NULL;
    if (same)
        layer->is_fused = same->is_fused;
    else if (layer->is_measured)
        status = pdnn_onednn_rnn_choose(compile, node, &shape, &layer->is_fused, err);
    if (status != PDNN_OK || !layer->is_fused)
        return status;
    compile->program->could_spare = compile->program->could_spare || (layer->is_measured && !same);
    if (node->n_outputs > PDNN_RNN_SAVED)
        compile->program->slots[node->output[PDNN_RNN_SAVED]].bytes = 0;
    return place_weights(compile, node, &shape, err);
}

enum pdnn_status pdnn_onednn_rnn_place(struct pdnn_onednn_compile *compile, struct pdnn_err *err) {
    const struct pdnn_graph *graph = compile->program->graph;
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; status == PDNN_OK && i < graph->n_nodes; i++) {
        if (graph->nodes[i].op == &pdnn_op_rnn && graph->nodes[i].pass == PDNN_FORWARD)
            status = place(compile, &graph->nodes[i], err);
    }
    return status;
}
