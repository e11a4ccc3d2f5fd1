#include "models/sharing.h"

#include <inttypes.h>
#include <stdio.h>

bool pdnn_role_is_shared(enum pdnn_role role) {
    return role == PDNN_ROLE_WEIGHT || role == PDNN_ROLE_STATE;
}

uint32_t pdnn_shared_next(const struct pdnn_graph *graph, uint32_t from) {
    for (uint32_t i = from; i < graph->n_tensors; i++) {
        if (pdnn_role_is_shared(graph->tensors[i].role))
            return i;
    }
    return PDNN_NONE;
}

/* Number of shared tensors before it. */
static uint32_t number_of(const struct pdnn_graph *graph, uint32_t tensor) {
    uint32_t number = 0;
    for (uint32_t i = 0; i < tensor; i++)
        number += pdnn_role_is_shared(graph->tensors[i].role);
    return number;
}

uint32_t pdnn_shared_match(const struct pdnn_graph *graph, uint32_t tensor, const struct pdnn_graph *other) {
    uint32_t match = pdnn_shared_next(other, 0);
    for (uint32_t i = number_of(graph, tensor); i > 0 && match != PDNN_NONE; i--)
        match = pdnn_shared_next(other, match + 1);
    return match;
}

static bool is_alike(const struct pdnn_tensor *a, const struct pdnn_tensor *b) {
    return a->role == b->role && a->dtype == b->dtype && pdnn_tensor_same_shape(a, b);
}

static bool same_number(const struct pdnn_graph *a, uint32_t of_a, const struct pdnn_graph *b,
                        uint32_t of_b) {
    if (of_a == PDNN_NONE || of_b == PDNN_NONE)
        return of_a == of_b;
    return number_of(a, of_a) == number_of(b, of_b);
}

static bool same_fold(const struct pdnn_graph *a, const struct pdnn_fold *of_a, const struct pdnn_graph *b,
                      const struct pdnn_fold *of_b) {
    if (!of_a || !of_b)
        return !of_a && !of_b;
    return of_a->is_shift == of_b->is_shift && !(of_a->epsilon < of_b->epsilon) &&
           !(of_a->epsilon > of_b->epsilon) && same_number(a, of_a->gamma, b, of_b->gamma) &&
           same_number(a, of_a->mean, b, of_b->mean) && same_number(a, of_a->variance, b, of_b->variance) &&
           same_number(a, of_a->bias, b, of_b->bias);
}

static bool same_values(const struct pdnn_graph *a, uint32_t of_a, const struct pdnn_graph *b,
                        uint32_t of_b) {
    const struct pdnn_fill *fill = &a->tensors[of_a].fill, *other = &b->tensors[of_b].fill;
    return fill->kind == other->kind && !(fill->scale < other->scale) && !(fill->scale > other->scale) &&
           same_fold(a, a->tensors[of_a].fold, b, b->tensors[of_b].fold);
}

/* "weight 3 of lstm1", named after the first layer that uses it. */
static const char *format_name(const struct pdnn_graph *graph, uint32_t tensor, char text[PDNN_SHAPE_TEXT]) {
    char layer[PDNN_LAYER_TEXT] = "";
    for (size_t i = 0; i < graph->n_nodes && !*layer; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        for (int k = 0; k < node->n_inputs && !*layer; k++) {
            if (node->input[k] == tensor)
                pdnn_layer_format(node->layer, layer);
        }
    }
    snprintf(text, PDNN_SHAPE_TEXT, "%s %" PRIu32 "%s%s", pdnn_role_name(graph->tensors[tensor].role), tensor,
             *layer ? " of " : "", layer);
    return text;
}

static uint32_t count_shared(const struct pdnn_graph *graph) {
    return number_of(graph, (uint32_t)graph->n_tensors);
}

enum pdnn_status pdnn_graph_shares(const struct pdnn_graph *graph, const struct pdnn_graph *other,
                                   struct pdnn_err *err) {
    char name[PDNN_SHAPE_TEXT], shape[PDNN_SHAPE_TEXT], wanted[PDNN_SHAPE_TEXT];
    uint32_t i = pdnn_shared_next(graph, 0), j = pdnn_shared_next(other, 0);
    for (; i != PDNN_NONE && j != PDNN_NONE;
         i = pdnn_shared_next(graph, i + 1), j = pdnn_shared_next(other, j + 1)) {
        if (!is_alike(&graph->tensors[i], &other->tensors[j]))
            return pdnn_fail(
                err, PDNN_INVALID, "%s is %s %s, not %s %s", format_name(graph, i, name),
                pdnn_tensor_shape(&graph->tensors[i], shape), pdnn_dtype_name(graph->tensors[i].dtype),
                pdnn_tensor_shape(&other->tensors[j], wanted), pdnn_dtype_name(other->tensors[j].dtype));
        if (!same_values(graph, i, other, j))
            return pdnn_fail(err, PDNN_INVALID, "%s begins with other values", format_name(graph, i, name));
    }
    if (i != j)
        return pdnn_fail(err, PDNN_INVALID, "%" PRIu32 " weights and states, not %" PRIu32,
                         count_shared(graph), count_shared(other));
    return PDNN_OK;
}
