#include "runtime/backends/onednn/conv2d/layouts.h"

#include "models/op.h"
#include "models/conv2d.h"
#include "runtime/backends/onednn/conv2d/own.h"
#include "runtime/backends/onednn/conv2d/implementations.h"
#include "runtime/backends/onednn/tensor_layout.h"

enum { N_ORDERS = 4 };
static const enum pdnn_onednn_order orders[N_ORDERS] = {PDNN_ONEDNN_BLOCKED_8, PDNN_ONEDNN_BLOCKED_16,
                                                        PDNN_ONEDNN_CHANNELS_LAST, PDNN_ONEDNN_ROW_MAJOR};

static int64_t channel_block(enum pdnn_onednn_order order, const struct pdnn_tensor *image) {
    static const int64_t blocks[PDNN_ONEDNN_ORDER_COUNT] = {
        [PDNN_ONEDNN_BLOCKED_8] = 8, [PDNN_ONEDNN_BLOCKED_16] = 16};
    return order == PDNN_ONEDNN_CHANNELS_LAST ? image->dim[1] : blocks[order];
}

static bool is_image(const struct pdnn_tensor *tensor) {
    return tensor->rank == 4 && (tensor->role == PDNN_ROLE_ACTIVATION || tensor->role == PDNN_ROLE_GRADIENT);
}

/* Adds the node's FLOP to the order that the library prefers for its output side, if it is one of ours. */
static enum pdnn_status vote(struct pdnn_onednn_compile *compile, uint32_t index, double flop[N_ORDERS],
                             struct pdnn_err *err) {
    const struct pdnn_graph *graph = compile->program->graph;
    const struct pdnn_node *node = &graph->nodes[index];
    struct pdnn_onednn_conv2d *convolution;
    struct pdnn_count count = {0};
    enum pdnn_status status = pdnn_onednn_conv2d_get(compile, index, &convolution, err);
    if (status == PDNN_OK)
        status = pdnn_onednn_conv2d_describe_wanted(compile->pool, convolution, err);
    if (status != PDNN_OK)
        return status;
    const struct pdnn_tensor *y = &graph->tensors[convolution->tensor[PDNN_ONEDNN_DST]];
    node->op->pass[node->pass].flop(graph, node, &count);
    for (int i = 0; i < N_ORDERS; i++) {
        if (pdnn_onednn_layout_equal(
                pdnn_onednn_conv2d_layout(compile->pool, convolution, convolution->wanted, PDNN_ONEDNN_DST),
                pdnn_onednn_layout_create(compile->pool, y->dtype, y->rank, y->dim, orders[i])))
            flop[i] += (double)count.value;
    }
    return PDNN_OK;
}

/* Forward passes decide; in a graph without any, all convolutions do. */
static enum pdnn_status choose_order(struct pdnn_onednn_compile *compile, enum pdnn_onednn_order *order,
                                     struct pdnn_err *err) {
    const struct pdnn_graph *graph = compile->program->graph;
    double flop[N_ORDERS] = {0};
    bool has_forward = false;
    int best = N_ORDERS - 1;
    for (size_t i = 0; i < graph->n_nodes; i++)
        has_forward =
            has_forward || (pdnn_conv2d_is(graph->nodes[i].op) && graph->nodes[i].pass == PDNN_FORWARD);
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        if (!pdnn_conv2d_is(node->op) || (has_forward && node->pass != PDNN_FORWARD))
            continue;
        enum pdnn_status status = vote(compile, i, flop, err);
        if (status != PDNN_OK)
            return status;
    }
    for (int i = 0; i < N_ORDERS; i++)
        best = flop[i] > flop[best] ? i : best;
    *order = orders[best];
    return PDNN_OK;
}

static void place_image(struct pdnn_onednn_compile *compile, enum pdnn_onednn_order order, uint32_t tensor) {
    const struct pdnn_tensor *image = &compile->program->graph->tensors[tensor];
    pdnn_onednn_tensor_layout_set(compile, tensor,
                                  pdnn_onednn_layout_create(compile->pool, pdnn_onednn_tensor_dtype(image),
                                                            image->rank, image->dim, order));
    compile->program->slots[tensor].channel_block = channel_block(order, image);
}

/* Whether an op other than a convolution reads the tensor; such ops need the layout that all images share. */
static bool is_read_by_others(const struct pdnn_program *program, uint32_t tensor) {
    const struct pdnn_user_list users = pdnn_users_nodes(&program->users, tensor);
    for (const uint32_t *user = users.begin; user < users.end; user++) {
        const struct pdnn_node *node = &program->graph->nodes[*user];
        if (pdnn_node_readings(node, tensor) > (pdnn_conv2d_is(node->op)))
            return true;
    }
    return false;
}

/* Whether all convolutions that use the weights have the same groups, and so the same dimensions of them. */
static bool has_one_shape(const struct pdnn_program *program, uint32_t weights, int64_t groups) {
    const struct pdnn_user_list users = pdnn_users_nodes(&program->users, weights);
    for (const uint32_t *user = users.begin; user < users.end; user++) {
        const struct pdnn_node *node = &program->graph->nodes[*user];
        if (pdnn_conv2d_is(node->op) && pdnn_conv2d_groups(node) != groups)
            return false;
    }
    return true;
}

/* The first node that uses the weights decides; that is the forward pass if there is one. They lie as in the
 * implementation that will run. */
static enum pdnn_status place_weights(struct pdnn_onednn_compile *compile, uint32_t node, bool *is_placed,
                                      struct pdnn_err *err) {
    const struct pdnn_graph *graph = compile->program->graph;
    struct pdnn_onednn_conv2d *convolution;
    enum pdnn_status status = pdnn_onednn_conv2d_get(compile, node, &convolution, err);
    if (status != PDNN_OK)
        return status;
    uint32_t used = convolution->tensor[PDNN_ONEDNN_WEIGHTS];
    bool is_gradient = graph->tensors[used].role == PDNN_ROLE_WEIGHT_GRADIENT;
    uint32_t weights = is_gradient ? graph->tensors[used].of : used;
    if (is_placed[weights] || pdnn_onednn_tensor_layout_is_pinned(compile->program, weights) ||
        !has_one_shape(compile->program, weights, convolution->groups))
        return PDNN_OK;
    is_placed[weights] = true;
    struct pdnn_err refusal = {0};
    struct pdnn_grouped job;
    status = pdnn_onednn_conv2d_describe_stored(compile, convolution, &refusal);
    if (status == PDNN_UNSUPPORTED && pdnn_onednn_own_describe(compile, convolution->node, &job))
        return PDNN_OK; /* our kernel writes row-major gradients too */
    if (status != PDNN_OK)
        return pdnn_fail(err, status, "%s", refusal.text);
    pdnn_onednn_tensor_layout_set_weights(
        compile, weights,
        pdnn_onednn_conv2d_layout(compile->pool, convolution, convolution->stored, PDNN_ONEDNN_WEIGHTS));
    return PDNN_OK;
}

/* 16-bit convolutions must be fast, in the library or on our kernel, unless the program allows slow ones. */
static enum pdnn_status check_halves(struct pdnn_onednn_compile *compile, struct pdnn_err *err) {
    const struct pdnn_graph *graph = compile->program->graph;
    enum pdnn_status status = PDNN_OK;
    for (uint32_t i = 0; status == PDNN_OK && i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        struct pdnn_onednn_conv2d *convolution;
        struct pdnn_err refusal = {0};
        if (!pdnn_conv2d_is(node->op) || !pdnn_dtype_is_half(pdnn_node_in(graph, node, 0)->dtype))
            continue;
        status = pdnn_onednn_conv2d_get(compile, i, &convolution, err);
        if (status != PDNN_OK)
            return status;
        status = pdnn_onednn_conv2d_describe_wanted(compile->pool, convolution, &refusal);
        struct pdnn_grouped job;
        bool is_fast = (convolution->wanted && !pdnn_onednn_primitive_is_reference(convolution->wanted)) ||
                       pdnn_onednn_own_describe(compile, node, &job);
        if (status != PDNN_OK && status != PDNN_UNSUPPORTED)
            return pdnn_fail(err, status, "%s", refusal.text);
        status = is_fast ? PDNN_OK : pdnn_onednn_upcast_check(compile, node, err);
        compile->has_upcast = compile->has_upcast || !is_fast;
    }
    return status;
}

enum pdnn_status pdnn_onednn_conv2d_place(struct pdnn_onednn_compile *compile, struct pdnn_err *err) {
    const struct pdnn_graph *graph = compile->program->graph;
    bool *is_placed = pdnn_arena_alloc(&compile->program->arena, graph->n_tensors + 1, sizeof *is_placed);
    enum pdnn_status status = check_halves(compile, err);
    if (status != PDNN_OK || compile->has_upcast || compile->program->keeps_plain)
        return status;
    const struct pdnn_onednn_conv2d_choice *forced = compile->onednn->forced_conv2d;
    if (forced)
        compile->order = forced->order;
    else
        status = choose_order(compile, &compile->order, err);
    for (uint32_t i = 0; status == PDNN_OK && i < graph->n_tensors; i++) {
        bool is_data = graph->tensors[i].rank == 4 && graph->tensors[i].role == PDNN_ROLE_INPUT;
        bool is_placed_data =
            is_data && (forced ? !forced->is_data_plain : is_read_by_others(compile->program, i));
        if (is_image(&graph->tensors[i]) || is_placed_data)
            place_image(compile, compile->order, i);
    }
    for (uint32_t i = 0; status == PDNN_OK && i < graph->n_nodes; i++) {
        if (pdnn_conv2d_is(graph->nodes[i].op))
            status = place_weights(compile, i, is_placed, err);
    }
    return status;
}
