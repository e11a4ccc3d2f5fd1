/* Entries of tensors along one dimension, moved between tensors in any layouts: what slice and concat do. */
#ifndef RUNTIME_LOWERING_PARTS_H
#define RUNTIME_LOWERING_PARTS_H

#include "runtime/lowering/bound_call.h"

/* One operand of a call, and the first of its entries. */
struct pdnn_section {
    const struct pdnn_tensor *tensor; /* NULL: zeros */
    void *memory;
    int64_t block; /* of channels, as in the tensor's slot */
    int64_t first;
};

/* `count` entries become those of `to`, which has the same dtype and, but for the entries, the same shape. */
struct pdnn_transfer {
    struct pdnn_section from, to;
    int64_t count;
};

struct pdnn_section pdnn_section_in(const struct pdnn_bound_call *call, int input, int64_t first);
struct pdnn_section pdnn_section_out(const struct pdnn_bound_call *call, int output, int64_t first);

/* The dimension in which input 0 and output 0 differ; 0 if they do not. */
int pdnn_section_dim(const struct pdnn_bound_call *call);

/* Makes at most PDNN_NODE_OUTPUTS transfers along that dimension. */
void pdnn_transfers_run(const struct pdnn_bound_call *call, const struct pdnn_transfer *parts, int n_parts);

#endif
