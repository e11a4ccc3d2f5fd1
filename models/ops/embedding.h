/* Shared by embedding and embedding_bag: a row of the result is the sum of the rows of x that its ids name,
 * one or a bag of them. */
#ifndef MODELS_OPS_EMBEDDING_H
#define MODELS_OPS_EMBEDDING_H

#include "models/op.h"

/* The fields that both definitions share; name, formula, infer and .pass come on top. */
#define PDNN_EMBEDDING                                                                                       \
    .category = "embedding",                                                                                 \
    .operands = {{"ids", PDNN_OPERAND_IDS},                                                                  \
                 {"x", PDNN_OPERAND_WEIGHT, .shape = "rows, out", .fill = PDNN_FILL_UNIFORM, .scale = 1,     \
                  .or_data = true}},                                                                         \
    .attributes = {{"rows", PDNN_SIZE, .required = true}, {"out", PDNN_SIZE, .required = true}},             \
    .outputs = {"y"}, .gradient = pdnn_lookup_gradient, .tolerance = 1e-6, .summed = PDNN_SUMMED_ALL

#define PDNN_EMBEDDING_FORWARD                                                                               \
    .reference = pdnn_lookup_forward, .bytes = pdnn_lookup_bytes, .saturation = pdnn_lookup_saturation

/* The same for a table (backward-weights) and an activation (backward-data). */
#define PDNN_EMBEDDING_BACK                                                                                  \
    {                                                                                                        \
        .flop = pdnn_lookup_backward_flop, .reference = pdnn_lookup_backward, .bytes = pdnn_lookup_bytes,    \
        .saturation = pdnn_lookup_saturation, .in_place = 1 + PDNN_EMBEDDING_BACK_REST                       \
    }
#define PDNN_EMBEDDING_BACKWARD                                                                              \
    [PDNN_BACKWARD_DATA] = PDNN_EMBEDDING_BACK, [PDNN_BACKWARD_WEIGHTS] = PDNN_EMBEDDING_BACK

void pdnn_lookup_gradient(struct pdnn_backward *backward, const struct pdnn_node *node);
void pdnn_lookup_flop(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *count);
void pdnn_lookup_backward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                               struct pdnn_count *count);
void pdnn_lookup_bytes(const struct pdnn_graph *graph, const struct pdnn_node *node, uint64_t *bytes);
struct pdnn_saturation pdnn_lookup_saturation(const struct pdnn_graph *graph, const struct pdnn_node *node);
void pdnn_lookup_forward(struct pdnn_reference *r);
void pdnn_lookup_backward(struct pdnn_reference *r);

#endif
