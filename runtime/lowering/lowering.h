/* A row of the call registry: how each pass of an op runs. One per op, in runtime/lowering/<op>.c, or in a
 * backend for the ops its library runs (calls.h). */
#ifndef RUNTIME_LOWERING_LOWERING_H
#define RUNTIME_LOWERING_LOWERING_H

#include "lists.h"
#include "base/err.h"
#include "models/graph.h"
#include "runtime/protocol/visit.h"

struct pdnn_bound_call;
struct pdnn_calls;

/* How a bound call handles 16-bit operands, since kernels are f32. */
enum pdnn_lowering_half {
    PDNN_HALF_COPIES, /* f32 copies of whole tensors */
    PDNN_HALF_ROWS,   /* copies piece by piece, small enough for L1/L2; rows are independent */
    PDNN_HALF_PAIRS,  /* only moves data: two elements as one float if rows are even, else copies */
    PDNN_HALF_NATIVE, /* the kernel reads and writes 16 bit */
};

#define PDNN_RANK(rank) (1U << (rank))
#define PDNN_RANKS_ALL  (~0U) /* in any layout, which may differ among the node's images */

/* How one pass of an op runs: as a bound call (`run`) or through `compile`. A pass with
 * neither is unsupported. */
struct pdnn_lowering_pass {
    /* Appends the node's call and any reorders it needs. */
    enum pdnn_status (*compile)(const struct pdnn_calls *calls, uint32_t node, struct pdnn_err *err);
    /* `compile` multiplies with the library's f32 sgemm; without a library the pass is unsupported. */
    bool needs_sgemm;

    void (*run)(const struct pdnn_bound_call *call);
    /* Accepted ranks of the first input, an OR of PDNN_RANK; 0: any. A pass that lists rank 4 handles images
     * by channel, in any layout shared by all images of the node. All others see flat arrays. */
    unsigned ranks;
    /* NULL: none. Called before addresses are bound. */
    uint64_t (*scratch_bytes)(const struct pdnn_bound_call *call);
    /* What `run` moves besides the compulsory bytes; NULL: nothing. Called before addresses are bound. */
    struct pdnn_extra_traffic (*extra)(const struct pdnn_bound_call *call);
    bool (*takes_posts)(const struct pdnn_node *node); /* NULL: none */
    bool sums_in_place; /* output 0 may overwrite the operand that a post adds to it */
    enum pdnn_lowering_half half;
    /* PDNN_HALF_ROWS: bit 1 << input for f32 inputs read whole, not by rows. `run` may then be called on any
     * of the rows. */
    unsigned whole;
};

struct pdnn_lowering {
    const struct pdnn_op_def *op;
    struct pdnn_lowering_pass pass[PDNN_PASS_COUNT];
};

/* The row in the op's file: const struct pdnn_lowering pdnn_lowering_relu = {...}. */
#define PDNN_DECLARE_LOWERING(op) extern const struct pdnn_lowering pdnn_lowering_##op;
PDNN_OPS(PDNN_DECLARE_LOWERING)

#endif
