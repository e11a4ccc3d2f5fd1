/* Who uses each tensor of a finished graph, so that nothing has to search the graph for one tensor. */
#ifndef MODELS_USERS_H
#define MODELS_USERS_H

#include "models/graph.h"

/* Part of a table. */
struct pdnn_user_list {
    const uint32_t *begin, *end;
};

struct pdnn_users {
    uint32_t *nodes, *nodes_of;     /* nodes_of[i]: where the nodes of tensor i begin */
    uint32_t *tensors, *tensors_of; /* likewise the tensors whose `of` is i */
};

/* The tables are in the arena. */
void pdnn_users_init(struct pdnn_users *users, const struct pdnn_graph *graph, struct pdnn_arena *arena);

/* Nodes that read or write the tensor, themselves or in a post, in ascending order; one that uses it twice is
 * there twice. */
static inline struct pdnn_user_list pdnn_users_nodes(const struct pdnn_users *users, uint32_t tensor) {
    return (struct pdnn_user_list){users->nodes + users->nodes_of[tensor],
                                   users->nodes + users->nodes_of[tensor + 1]};
}

/* Its gradients, state, copies and recomputed values, in ascending order. */
static inline struct pdnn_user_list pdnn_users_tensors(const struct pdnn_users *users, uint32_t tensor) {
    return (struct pdnn_user_list){users->tensors + users->tensors_of[tensor],
                                   users->tensors + users->tensors_of[tensor + 1]};
}

#endif
