/* Packs buffers with known lifetimes into one block. Pure: the prediction that `list` prints and the plan
 * that runs both come from this function. */
#ifndef MODELS_MEMORY_H
#define MODELS_MEMORY_H

#include "base/arena.h"
#include "base/err.h"

#include "models/graph.h"

enum { PDNN_MEMORY_ALIGN = 64 };

struct pdnn_lifetime {
    uint64_t bytes;
    uint32_t first, last; /* steps, inclusive; last UINT32_MAX: kept from step to step */
    uint32_t takes_over;  /* the buffer whose memory this one continues (in place), or PDNN_NONE */
    uint64_t offset;      /* out: multiple of PDNN_MEMORY_ALIGN */
    bool leads;           /* weights and state: placed first among the resident buffers */
};

/* Assigns offsets: first the resident buffers, those that lead before the others and each in their own order,
 * so that graphs with the same weights and state have them at the same offsets; then the rest, from large to
 * small, each at the lowest place that is free throughout its life. *total is the size of the block. Buffers
 * without bytes get offset 0. */
enum pdnn_status pdnn_memory_pack(struct pdnn_lifetime *lifetimes, size_t count, struct pdnn_arena *scratch,
                                  uint64_t *total, struct pdnn_err *err);

/* Inputs, labels, weights and state keep their content between steps. */
bool pdnn_role_is_resident(enum pdnn_role role);

/* Marks the buffer as used at the step. A lifetime without bytes begins there. */
void pdnn_lifetime_touch(struct pdnn_lifetime *lifetime, uint64_t bytes, uint32_t step);

/* Lets the output take over the input's memory if the input has the same size and dies at the step. */
void pdnn_lifetime_take_over(struct pdnn_lifetime *lifetimes, uint32_t input, uint32_t output, uint32_t step);

/* Tensors whose memory output 0 of a node may take over, or PDNN_NONE: the input that its op works on in
 * place, and what one of its posts adds to the result. */
struct pdnn_heritage {
    uint32_t input, summand;
};
struct pdnn_heritage pdnn_memory_heritage(const struct pdnn_graph *graph, const struct pdnn_node *node);

/* Lets the output take over the input, or failing that the summand. */
void pdnn_lifetime_inherit(struct pdnn_lifetime *lifetimes, const struct pdnn_heritage *heritage,
                           uint32_t output, uint32_t step);

/* Lifetimes of a graph's tensors, in its arena, one per tensor: inputs, labels, weights and state live
 * throughout, the rest from writer to last reader; in place if there is a heritage that dies there. */
enum pdnn_status pdnn_memory_lifetimes(const struct pdnn_graph *graph, struct pdnn_lifetime **lifetimes,
                                       struct pdnn_err *err);

#endif
