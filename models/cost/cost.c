#include "models/cost/cost.h"

#include "models/op.h"

static enum pdnn_status overflow(struct pdnn_err *err) {
    return pdnn_fail(err, PDNN_OVERFLOW, "a FLOP or byte count of this model does not fit in 64 bits");
}

static void add_traffic(struct pdnn_cost *cost, const struct pdnn_tensor *tensor, uint64_t bytes,
                        bool *fits) {
    static const size_t class_of[PDNN_ROLE_COUNT] = {
        [PDNN_ROLE_INPUT] = offsetof(struct pdnn_cost, activation_bytes),
        [PDNN_ROLE_LABEL] = offsetof(struct pdnn_cost, activation_bytes),
        [PDNN_ROLE_ACTIVATION] = offsetof(struct pdnn_cost, activation_bytes),
        [PDNN_ROLE_WEIGHT] = offsetof(struct pdnn_cost, weight_bytes),
        [PDNN_ROLE_WEIGHT_COPY] = offsetof(struct pdnn_cost, weight_bytes),
        [PDNN_ROLE_GRADIENT] = offsetof(struct pdnn_cost, gradient_bytes),
        [PDNN_ROLE_WEIGHT_GRADIENT] = offsetof(struct pdnn_cost, gradient_bytes),
        [PDNN_ROLE_STATE] = offsetof(struct pdnn_cost, state_bytes),
    };
    uint64_t *sum = (uint64_t *)(void *)((char *)cost + class_of[tensor->role]);
    *fits = pdnn_add_u64(sum, bytes) && *fits;
    *fits = pdnn_add_u64(&cost->byte_count, bytes) && *fits;
}

int pdnn_cost_accesses(const struct pdnn_graph *graph, const struct pdnn_node *node,
                       struct pdnn_access access[PDNN_NODE_ACCESSES], uint64_t bytes[PDNN_NODE_ACCESSES]) {
    int count = pdnn_node_accesses(node, access);
    for (int k = 0; k < count; k++)
        bytes[k] = pdnn_tensor_bytes(&graph->tensors[access[k].tensor]);
    if (node->op->pass[node->pass].bytes)
        node->op->pass[node->pass].bytes(graph, node, bytes);
    return count;
}

static void add_node_traffic(const struct pdnn_graph *graph, const struct pdnn_node *node,
                             struct pdnn_cost *cost, bool *fits) {
    struct pdnn_access access[PDNN_NODE_ACCESSES];
    uint64_t bytes[PDNN_NODE_ACCESSES];
    int count = pdnn_cost_accesses(graph, node, access, bytes);
    for (int k = 0; k < count; k++)
        add_traffic(cost, &graph->tensors[access[k].tensor], bytes[k], fits);
}

/* Counts the FLOP of the node and its posts. */
static void count_flop(const struct pdnn_graph *graph, const struct pdnn_node *node, bool in_bounds,
                       struct pdnn_count *count) {
    const struct pdnn_pass_def *pass = &node->op->pass[node->pass];
    if (in_bounds)
        pass->in_bounds_flop(graph, node, count);
    else
        pass->flop(graph, node, count);
    for (int k = 0; k < node->n_posts; k++) {
        uint32_t operands[PDNN_POST_OPERANDS];
        struct pdnn_node post = pdnn_post_node(node, &node->posts[k], operands);
        post.op->pass[post.pass].flop(graph, &post, count);
    }
}

enum pdnn_status pdnn_cost_node(const struct pdnn_graph *graph, const struct pdnn_node *node,
                                struct pdnn_cost *cost, struct pdnn_err *err) {
    struct pdnn_count flop = {0}, in_bounds = {0};
    struct pdnn_cost sum = {0};
    bool fits = true;
    count_flop(graph, node, false, &flop);
    if (node->op->pass[node->pass].in_bounds_flop)
        count_flop(graph, node, true, &in_bounds);
    else
        in_bounds = flop;
    add_node_traffic(graph, node, &sum, &fits);
    if (flop.overflow || in_bounds.overflow || !fits)
        return overflow(err);
    sum.flop_count = flop.value;
    sum.in_bounds_flop_count = in_bounds.value;
    *cost = sum;
    return PDNN_OK;
}

enum pdnn_status pdnn_cost_add(struct pdnn_cost *sum, const struct pdnn_cost *cost, struct pdnn_err *err) {
    if (pdnn_add_u64(&sum->flop_count, cost->flop_count) &&
        pdnn_add_u64(&sum->in_bounds_flop_count, cost->in_bounds_flop_count) &&
        pdnn_add_u64(&sum->byte_count, cost->byte_count) &&
        pdnn_add_u64(&sum->weight_bytes, cost->weight_bytes) &&
        pdnn_add_u64(&sum->activation_bytes, cost->activation_bytes) &&
        pdnn_add_u64(&sum->gradient_bytes, cost->gradient_bytes) &&
        pdnn_add_u64(&sum->state_bytes, cost->state_bytes))
        return PDNN_OK;
    return overflow(err);
}

enum pdnn_status pdnn_cost_graph(const struct pdnn_graph *graph, struct pdnn_totals *totals,
                                 struct pdnn_err *err) {
    struct pdnn_totals sum = {0};
    for (size_t i = 0; i < graph->n_tensors; i++) {
        const struct pdnn_tensor *tensor = &graph->tensors[i];
        if (tensor->role == PDNN_ROLE_WEIGHT &&
            !pdnn_add_u64(&sum.params, (uint64_t)pdnn_tensor_elements(tensor)))
            return overflow(err);
    }
    for (size_t i = 0; i < graph->n_nodes; i++) {
        struct pdnn_cost cost;
        enum pdnn_status status = pdnn_cost_node(graph, &graph->nodes[i], &cost, err);
        if (status == PDNN_OK)
            status = pdnn_cost_add(&sum.cost, &cost, err);
        if (status != PDNN_OK)
            return status;
    }
    *totals = sum;
    return PDNN_OK;
}
