/* Groups: identical nodes of a graph, which the tables show as one row with a count. */
#ifndef MODELS_COST_GROUP_H
#define MODELS_COST_GROUP_H

#include "models/cost/cost.h"

/* Identical nodes of a graph (same op, pass, recomputed or not, shape, attributes, posts, and the layer's
 * stem if the family keeps stems apart) are one row of ops.csv. */
struct pdnn_group {
    uint32_t node;                       /* the first of them */
    uint32_t count;                      /* how many */
    char layer[2 * PDNN_LAYER_TEXT + 2]; /* "hidden2" or "hidden2..hidden8" */
    /* "64x2000:2000x1024:64x1024": inputs and outputs, dims joined by x; then ",stride=2" for attributes that
     * are not 0, ",int8" for a compute dtype other than f32, "+relu" for posts, "@ffn1" for the stem if it
     * tells nodes apart. */
    char shape[640];       /* room for PDNN_NODE_INPUTS matrices */
    struct pdnn_cost cost; /* of all of them */
};

/* Writes the shape text of a node, as in a group. */
void pdnn_node_shape(const struct pdnn_graph *graph, const struct pdnn_node *node, char *text, size_t room);

/* Groups in order of first execution, in the graph's arena; group_of (n_nodes entries, in the
 * arena) may be NULL. */
enum pdnn_status pdnn_graph_groups(const struct pdnn_graph *graph, struct pdnn_group **groups,
                                   size_t *n_groups, uint32_t **group_of, struct pdnn_err *err);

#endif
