/* A bound call: a node with the addresses of its operands, ready for our own kernels. The functions in an
 * op's row (lowering.h) run on it. Kernels are f32 (labels and ids s32): 16-bit operands are widened before
 * and results narrowed after, as the row says, so a row's function sees only f32. Finding the row is not
 * done here, see calls.h. */
#ifndef RUNTIME_LOWERING_BOUND_CALL_H
#define RUNTIME_LOWERING_BOUND_CALL_H

#include "models/attributes.h"
#include "models/op.h"
#include "runtime/backend/backend.h"
#include "runtime/kernels/images/channels.h"
#include "runtime/lowering/lowering.h"

/* Results of at least 1/part of the last-level cache bypass it, which leaves the cache to the data that the
 * step reads. */
enum { PDNN_CALL_BYPASS_ELEMENTWISE = 1, PDNN_CALL_BYPASS_IMAGES = 2 };

struct pdnn_bound_call {
    const struct pdnn_lowering_pass *pass;
    const struct pdnn_graph *graph;
    const struct pdnn_node *node; /* borrowed from the graph */
    int64_t threads;
    int64_t elements;           /* of the first input's slot, including padding */
    int64_t rows, columns;      /* of the first input, if it is a matrix */
    struct pdnn_channels shape; /* of the larger of first input and output, if images */
    int64_t per_float;          /* elements per float: 2 if 16-bit data moves in pairs, else 1 */
    int32_t zero_point;         /* of output 0, if int8 */
    uint64_t cache_bytes;       /* of the last-level cache */
    /* As in the operands' slots (runtime/backend/backend.h). */
    int64_t in_block[PDNN_NODE_INPUTS], out_block[PDNN_NODE_OUTPUTS];
    uint32_t scratch_slot; /* or PDNN_NONE */
    /* Indexed by operand (models/attributes.h), post_in by post; NULL for operands that the node
     * lacks. Valid once bound. */
    void *in[PDNN_NODE_INPUTS], *out[PDNN_NODE_OUTPUTS], *post_in[PDNN_NODE_POSTS], *scratch;
};

/* Whether the pass accepts the node's ranks, posts and dtypes. */
bool pdnn_bound_call_fits(const struct pdnn_graph *graph, const struct pdnn_node *node,
                          const struct pdnn_lowering_pass *pass);

/* Appends the call of a node that fits. The node's slots must already have their final sizes and layouts.
 * PDNN_INTERNAL if images of the same shape differ in layout. */
enum pdnn_status pdnn_bound_call_compile(const struct pdnn_call_options *options,
                                         struct pdnn_program *program, uint32_t node,
                                         const struct pdnn_lowering_pass *pass, struct pdnn_err *err);

/* Whether results of this size are written with non-temporal stores. */
bool pdnn_call_bypasses(const struct pdnn_bound_call *call, uint64_t bytes);
/* The same for an output, by its size in the graph, without padding. */
bool pdnn_call_bypasses_output(const struct pdnn_bound_call *call, int output);
/* Bytes of the images' slots. */
uint64_t pdnn_call_image_bytes(const struct pdnn_bound_call *call);

/* Dimensions of an operand. */
static inline const int64_t *pdnn_call_in_dim(const struct pdnn_bound_call *call, int input) {
    return pdnn_node_in(call->graph, call->node, input)->dim;
}

static inline const int64_t *pdnn_call_out_dim(const struct pdnn_bound_call *call, int output) {
    return pdnn_node_out(call->graph, call->node, output)->dim;
}

#endif
