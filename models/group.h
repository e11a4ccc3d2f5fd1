/* Groups: equal nodes of a graph, which the tables show as one row with a count. */
#ifndef MODELS_GROUP_H
#define MODELS_GROUP_H

#include "models/cost.h"

/* Equal nodes (op, pass, recomputed or not, shape, attributes, posts, and the layer's stem where the family
 * keeps stems apart) of a graph are one row of ops.csv. */
struct pdnn_group {
    uint32_t node;                       /* the first of them */
    uint32_t count;                      /* how many */
    char layer[2 * PDNN_LAYER_TEXT + 2]; /* "hidden2" or "hidden2..hidden8" */
    char shape[PDNN_RANK_MAX * 24 + 96]; /* "64x2000:2000x1024:64x1024" inputs and outputs, dims by x; then
                                            ",stride=2" for attributes that are not 0, ",int8" for a dtype
                                            to compute in that is not f32, "+relu" for posts,
                                            "@ffn1" for the stem where it tells nodes apart */
    struct pdnn_cost cost;               /* of all of them */
};

/* Writes the shape text of a node as in a group. */
void pdnn_node_shape(const struct pdnn_graph *graph, const struct pdnn_node *node, char *text, size_t room);

/* Groups in order of first execution, in the graph's arena; group_of (n_nodes of them, in the arena) may be
 * NULL. */
enum pdnn_status pdnn_graph_groups(const struct pdnn_graph *graph, struct pdnn_group **groups,
                                   size_t *n_groups, uint32_t **group_of, struct pdnn_err *err);

#endif
