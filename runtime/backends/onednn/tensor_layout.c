#include "runtime/backends/onednn/tensor_layout.h"

#include "models/conv2d.h"
#include "models/op.h"
#include "models/sharing.h"

enum pdnn_dtype pdnn_onednn_tensor_dtype(const struct pdnn_tensor *tensor) {
    return tensor->dtype == PDNN_INT8 && tensor->role != PDNN_ROLE_WEIGHT ? PDNN_U8 : tensor->dtype;
}

static const struct pdnn_onednn_layout *plain_layout(const struct pdnn_onednn_compile *compile,
                                                     uint32_t tensor) {
    const struct pdnn_tensor *t = &compile->program->graph->tensors[tensor];
    return pdnn_onednn_layout_create(compile->pool, pdnn_onednn_tensor_dtype(t), t->rank, t->dim,
                                     PDNN_ONEDNN_ROW_MAJOR);
}

const struct pdnn_onednn_layout *pdnn_onednn_tensor_layout(const struct pdnn_onednn_compile *compile,
                                                           uint32_t tensor) {
    return compile->layout[tensor] ? compile->layout[tensor] : plain_layout(compile, tensor);
}

void pdnn_onednn_tensor_layout_set(struct pdnn_onednn_compile *compile, uint32_t tensor,
                                   const struct pdnn_onednn_layout *layout) {
    if (!pdnn_onednn_layout_equal(layout, plain_layout(compile, tensor)))
        compile->layout[tensor] = layout;
    compile->program->slots[tensor].bytes = pdnn_onednn_layout_bytes(layout);
}

static void set_all(struct pdnn_onednn_compile *compile, uint32_t weights,
                    const struct pdnn_onednn_layout *layout) {
    const struct pdnn_graph *graph = compile->program->graph;
    const struct pdnn_user_list users = pdnn_users_tensors(&compile->program->users, weights);
    pdnn_onednn_tensor_layout_set(compile, weights, layout);
    for (const uint32_t *user = users.begin; user < users.end; user++) {
        if (pdnn_tensor_same_shape(&graph->tensors[*user], &graph->tensors[weights]))
            pdnn_onednn_tensor_layout_set(compile, *user, layout);
    }
}

/* Whether anything but this program's forward pass uses the weights. */
static bool has_other_users(const struct pdnn_program *program, uint32_t weights) {
    const struct pdnn_graph *graph = program->graph;
    bool has = program->opens_weights || graph->tensors[weights].role == PDNN_ROLE_WEIGHT_COPY;
    const struct pdnn_user_list users = pdnn_users_tensors(&program->users, weights);
    for (const uint32_t *user = users.begin; user < users.end && !has; user++)
        /* A gradient, or the optimizer's state; int8 scales keep their layout. */
        has = graph->tensors[*user].fill.kind != PDNN_FILL_WEIGHT_SCALE;
    return has;
}

void pdnn_onednn_tensor_layout_set_weights(struct pdnn_onednn_compile *compile, uint32_t weights,
                                           const struct pdnn_onednn_layout *layout) {
    bool is_secret = !pdnn_onednn_layout_is_open(layout) && has_other_users(compile->program, weights);
    if (!compile->program->like && !is_secret)
        set_all(compile, weights, layout);
}

void pdnn_onednn_tensor_layout_adopt(struct pdnn_onednn_compile *compile) {
    const struct pdnn_graph *graph = compile->program->graph;
    const struct pdnn_program *like = compile->program->like;
    if (!like)
        return;
    const struct pdnn_onednn_layouts *layouts = like->layouts;
    for (uint32_t i = pdnn_shared_next(graph, 0), j = pdnn_shared_next(like->graph, 0); i != PDNN_NONE;
         i = pdnn_shared_next(graph, i + 1), j = pdnn_shared_next(like->graph, j + 1)) {
        if (graph->tensors[i].role == PDNN_ROLE_WEIGHT && layouts->layout[j])
            set_all(compile, i, pdnn_onednn_layout_copy(compile->pool, layouts->layout[j]));
    }
}

bool pdnn_onednn_tensor_layout_is_plain(const struct pdnn_program *program, uint32_t tensor) {
    const struct pdnn_onednn_layouts *layouts = program->layouts;
    const struct pdnn_tensor *t = &program->graph->tensors[tensor];
    int64_t block = program->slots[tensor].channel_block;
    if (!layouts->layout[tensor])
        return true;
    return block && (block == 1 || (t->dim[2] * t->dim[3] == 1 && t->dim[1] % block == 0));
}

bool pdnn_onednn_tensor_layout_is_pinned(const struct pdnn_program *program, uint32_t weights) {
    const struct pdnn_user_list users = pdnn_users_nodes(&program->users, weights);
    if (!pdnn_role_is_weight(program->graph->tensors[weights].role))
        return true;
    for (const uint32_t *user = users.begin; user < users.end; user++) {
        const struct pdnn_node *node = &program->graph->nodes[*user];
        /* These read them in any layout, but not as the operand of a post. */
        bool is_free = node->op == &pdnn_op_dense || pdnn_conv2d_is(node->op) ||
                       (node->op == &pdnn_op_add && node->pass == PDNN_BACKWARD_WEIGHTS) ||
                       node->pass == PDNN_UPDATE;
        if (pdnn_node_readings(node, weights) > is_free)
            return true;
    }
    return false;
}
