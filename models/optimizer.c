#include "models/optimizer.h"

#include "models/attributes.h"
#include "models/op.h"

#include <string.h>

/* What the node that is being made reads and writes. */
struct operands {
    uint32_t input[6], output[4];
};

static struct pdnn_node new_node(const struct pdnn_op_def *op, const struct pdnn_weight_update *update,
                                 struct operands *operands) {
    struct pdnn_node node = {.op = op,
                             .pass = PDNN_UPDATE,
                             .input = operands->input,
                             .output = operands->output,
                             .layer = update->layer};
    memcpy(node.coef, op->coef, sizeof node.coef);
    return node;
}

static void read(struct pdnn_node *node, uint32_t tensor) {
    node->input[node->n_inputs++] = tensor;
}

static void change(struct pdnn_node *node, uint32_t tensor) {
    read(node, tensor);
    node->output[node->n_outputs++] = tensor;
}

/* Makes the node update the weight's powers of beta. */
static void change_powers(struct pdnn_graph *graph, struct pdnn_node *node,
                          const struct pdnn_optimizer_def *optimizer, uint32_t weight) {
    struct pdnn_tensor scalars = {.role = PDNN_ROLE_STATE,
                                  .rank = 1,
                                  .dim = {optimizer->n_scalars},
                                  .fill = {PDNN_FILL_CONSTANT, 1},
                                  .of = weight};
    if (optimizer->n_scalars)
        change(node, pdnn_graph_tensor(graph, &scalars));
}

/* Makes the node update the weight's state. */
static void change_states(struct pdnn_graph *graph, struct pdnn_node *node,
                          const struct pdnn_optimizer_def *optimizer, uint32_t weight) {
    for (int i = 0; i < optimizer->n_states; i++)
        change(node, pdnn_graph_like(graph, weight, PDNN_ROLE_STATE));
    change_powers(graph, node, optimizer, weight);
}

static void one_node(struct pdnn_graph *graph, const struct pdnn_optimizer_def *optimizer,
                     const struct pdnn_weight_update *updates, size_t n_updates) {
    for (size_t i = 0; i < n_updates; i++) {
        struct operands operands;
        struct pdnn_node node = new_node(optimizer->op, &updates[i], &operands);
        memcpy(node.coef, optimizer->coef, sizeof node.coef);
        change(&node, updates[i].weight);
        read(&node, updates[i].gradient);
        change_states(graph, &node, optimizer, updates[i].weight);
        pdnn_graph_node(graph, &node);
    }
}

/* Appends one moment of the gradient as a node of its own; returns its tensor. */
static uint32_t moment(struct pdnn_graph *graph, const struct pdnn_weight_update *update, bool square,
                       double beta) {
    uint32_t state = pdnn_graph_like(graph, update->weight, PDNN_ROLE_STATE);
    struct operands operands;
    struct pdnn_node node = new_node(&pdnn_op_moment, update, &operands);
    node.attr[PDNN_MOMENT_SQUARE] = square;
    node.coef[0] = beta;
    change(&node, state);
    read(&node, update->gradient);
    pdnn_graph_node(graph, &node);
    return state;
}

static void adam(struct pdnn_graph *graph, const struct pdnn_optimizer_def *optimizer,
                 const struct pdnn_weight_update *updates, size_t n_updates) {
    enum { BETA1 = 1, BETA2 }; /* among the coefficients */
    if (!graph->updates_apart) {
        one_node(graph, optimizer, updates, n_updates);
        return;
    }
    for (size_t i = 0; i < n_updates; i++) {
        uint32_t weight = updates[i].weight;
        uint32_t mean = moment(graph, &updates[i], false, optimizer->coef[BETA1]);
        uint32_t square = moment(graph, &updates[i], true, optimizer->coef[BETA2]);
        struct operands operands;
        struct pdnn_node node = new_node(&pdnn_op_adam_apply, &updates[i], &operands);
        memcpy(node.coef, optimizer->coef, sizeof node.coef);
        change(&node, weight);
        read(&node, mean);
        read(&node, square);
        change_powers(graph, &node, optimizer, weight);
        pdnn_graph_node(graph, &node);
    }
}

/* The norm of the tensor, combined with the one that `before` holds. */
static uint32_t norm(struct pdnn_graph *graph, const struct pdnn_weight_update *update, uint32_t tensor,
                     uint32_t before) {
    struct pdnn_tensor scalar = {
        .role = PDNN_ROLE_WEIGHT_GRADIENT, .dtype = PDNN_F32, .rank = 1, .dim = {1}, .of = PDNN_NONE};
    struct operands operands;
    struct pdnn_node node = new_node(&pdnn_op_norm, update, &operands);
    read(&node, tensor);
    if (before != PDNN_NONE)
        read(&node, before);
    node.output[node.n_outputs++] = pdnn_graph_tensor(graph, &scalar);
    pdnn_graph_node(graph, &node);
    return node.output[0];
}

/* Needs every gradient first, then goes weight by weight, so that small ones are still cached. */
static void lamb(struct pdnn_graph *graph, const struct pdnn_optimizer_def *optimizer,
                 const struct pdnn_weight_update *updates, size_t n_updates) {
    uint32_t all = PDNN_NONE;
    for (size_t i = 0; i < n_updates; i++)
        all = norm(graph, &updates[i], updates[i].gradient, all);
    for (size_t i = 0; i < n_updates; i++) {
        uint32_t weight = updates[i].weight;
        uint32_t weight_norm = norm(graph, &updates[i], weight, PDNN_NONE);
        struct operands of_first, of_second;
        struct pdnn_node first = new_node(optimizer->op, &updates[i], &of_first);
        memcpy(first.coef, optimizer->coef, sizeof first.coef);
        read(&first, weight);
        read(&first, updates[i].gradient);
        first.output[first.n_outputs++] = pdnn_graph_like(graph, weight, PDNN_ROLE_WEIGHT_GRADIENT);
        change_states(graph, &first, optimizer, weight);
        read(&first, all);
        pdnn_graph_node(graph, &first);
        struct pdnn_node second = new_node(optimizer->last, &updates[i], &of_second);
        uint32_t direction_norm = norm(graph, &updates[i], first.output[0], PDNN_NONE);
        change(&second, weight);
        read(&second, first.output[0]);
        read(&second, weight_norm);
        read(&second, direction_norm);
        pdnn_graph_node(graph, &second);
    }
}

#define ROW(upper, name, op, last, append, states, scalars, ...)                                             \
    {#name, &pdnn_op_##op, &pdnn_op_##last, append, states, scalars, {__VA_ARGS__}},
const struct pdnn_optimizer_def pdnn_optimizers[PDNN_OPTIMIZER_COUNT] = {PDNN_OPTIMIZERS(ROW)};

#define NAME(upper, name, ...) #name,
const char *const pdnn_optimizer_names[] = {PDNN_OPTIMIZERS(NAME) NULL};
