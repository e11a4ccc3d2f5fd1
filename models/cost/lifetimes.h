/* When each buffer of a step is in use, and which of them continue another one's memory. One function does it
 * for the tensors of a graph and for the slots of a compiled program: predictions and plans cannot differ in
 * their rules. */
#ifndef MODELS_COST_LIFETIMES_H
#define MODELS_COST_LIFETIMES_H

#include "models/graph.h"

struct pdnn_lifetime {
    uint64_t bytes;
    uint32_t first, last; /* calls, inclusive; last UINT32_MAX: kept from step to step */
    uint32_t takes_over;  /* the buffer whose memory this one continues (in place), or PDNN_NONE */
    uint64_t offset;      /* set by packing (models/cost/memory.h) */
    bool leads;           /* weights and state: placed first among the resident buffers */
};

/* Inputs, labels, weights and state keep their content between steps. */
bool pdnn_role_is_resident(enum pdnn_role role);

/* Whether the node does nothing: its result is its input by another shape, in the same memory. Not of what
 * stays from step to step. */
bool pdnn_memory_is_view(const struct pdnn_graph *graph, const struct pdnn_node *node);

/* Tensors whose memory output 0 of a node may take over, or PDNN_NONE: the input that its op works on in
 * place, and what one of its posts adds to the result. is_view: input and output are the same, and live as
 * long as either does. */
struct pdnn_heritage {
    uint32_t input, summand;
    bool is_view;
};
struct pdnn_heritage pdnn_memory_heritage(const struct pdnn_graph *graph, const struct pdnn_node *node);

enum { PDNN_USE_BUFFERS = PDNN_NODE_ACCESSES };

/* A step as a list of uses. */
struct pdnn_use_list {
    size_t n_buffers, n_calls;
    uint32_t kept[2]; /* buffers read after the step, or PDNN_NONE */
    bool has_views;   /* some call may be one */
    /* Lists what a node or kernel call reads or writes; returns how many there are. */
    int (*use)(const void *user, uint32_t call, uint32_t buffer[PDNN_USE_BUFFERS]);
    /* What may take over memory in the call, or PDNN_NONE, and whose. */
    uint32_t (*inherit)(const void *user, uint32_t call, struct pdnn_heritage *heritage);
    const void *user;
};

/* Fills in first, last and takes_over. On entry each buffer has its bytes, and last UINT32_MAX if it is
 * resident; what no call touches ends without bytes. A buffer is taken over if it dies in the call that first
 * writes one of the same size, or is seen through a view; a buffer and its views end together. */
void pdnn_lifetimes_find(const struct pdnn_use_list *list, struct pdnn_lifetime *lifetimes);

/* Of a graph's tensors, in its arena, one per tensor, and then one per node: what it needs beside its tensors
 * while it runs (pdnn_pass_def.workspace). */
static inline size_t pdnn_memory_count(const struct pdnn_graph *graph) {
    return graph->n_tensors + graph->n_nodes;
}
struct pdnn_lifetime *pdnn_memory_lifetimes(const struct pdnn_graph *graph);

#endif
