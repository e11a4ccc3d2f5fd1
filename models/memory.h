/* Packs buffers with known lifetimes into one block. Pure: the prediction that `list` prints and the plan that runs come
 * from this one function. */
#ifndef MODELS_MEMORY_H
#define MODELS_MEMORY_H

#include "base/arena.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct pdnn_graph;

enum { PDNN_MEMORY_ALIGN = 64 };

struct pdnn_lifetime {
    uint64_t bytes;
    uint32_t first, last; /* steps, inclusive: written first at `first`, read last at `last` */
    uint32_t takes_over;  /* the buffer whose memory this one continues (in place), or PDNN_NONE */
    uint64_t offset;      /* out: multiple of PDNN_MEMORY_ALIGN */
};

/* Assigns offsets, best fit in order of time; *total is the size of the block. Buffers without bytes get offset 0. */
enum pdnn_status pdnn_memory_pack(struct pdnn_lifetime *lifetimes, size_t count, struct pdnn_arena *scratch,
                                  uint64_t *total, struct pdnn_err *err);

/* Lifetimes of a graph's tensors, in its arena, one per tensor: inputs, labels, weights and state live throughout, the rest
 * from its writer to its last reader; in-place where the op's row allows it and the input dies there. */
enum pdnn_status pdnn_memory_lifetimes(const struct pdnn_graph *graph, struct pdnn_lifetime **lifetimes,
                                       struct pdnn_err *err);

#endif
