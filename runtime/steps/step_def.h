/* A row of the registry: how each pass of an op runs. One per op, in runtime/steps/<op>.c, or in a backend
 * for what its library does (steps.h). */
#ifndef RUNTIME_STEPS_STEP_DEF_H
#define RUNTIME_STEPS_STEP_DEF_H

#include "lists.h"
#include "base/err.h"
#include "models/graph.h"
#include "runtime/kernels/simd/kernel.h"

struct pdnn_bound_step;
struct pdnn_steps;

/* What a bound step does with operands of 16 bit, since kernels are f32. */
enum pdnn_step_half {
    PDNN_HALF_COPIES,   /* f32 copies of whole tensors */
    PDNN_HALF_ELEMENTS, /* copies of a piece at a time, which the first caches hold: elements are independent
                         */
    PDNN_HALF_ROWS,     /* the same, of rows */
    PDNN_HALF_PAIRS,    /* elements are only moved, two of them as one float, if rows are even; else copies */
    PDNN_HALF_NATIVE,   /* the kernel reads and writes 16 bit */
};

#define PDNN_RANK(rank) (1U << (rank))

/* How one pass of an op runs: as a bound step, or as `compile` says. With neither, nothing does it. */
struct pdnn_step_pass {
    /* Appends the node's step, and reorders it needs. */
    enum pdnn_status (*compile)(const struct pdnn_steps *steps, uint32_t node, struct pdnn_err *err);
    bool needs_sgemm; /* `compile` multiplies by the library's sgemm, in f32; without one nothing does this
                         pass */

    void (*run)(const struct pdnn_bound_step *step);
    /* Of the first input, PDNN_RANK of each; 0: any. Whoever names rank 4 works on images by channel, in any
     * layout that all images of the node share; the others on arrays. */
    unsigned ranks;
    uint64_t (*scratch_bytes)(
        const struct pdnn_bound_step *step);           /* NULL: none; the step has no addresses yet */
    bool (*takes_posts)(const struct pdnn_node *node); /* NULL: none */
    bool sums_in_place; /* output 0 may be written over what a post adds to it */
    enum pdnn_step_half half;
    unsigned whole; /* PDNN_HALF_ROWS: inputs that are no rows, and f32: 1 << input */
    bool (*is_even)(const struct pdnn_node *node); /* PDNN_HALF_PAIRS: beside the rows; NULL: yes */
};

struct pdnn_step_def {
    const struct pdnn_op_def *op;
    struct pdnn_step_pass pass[PDNN_PASS_COUNT];
};

/* The row of an op, in its file: const struct pdnn_step_def PDNN_STEP(relu) = {...}; The file is compiled
 * once per instruction-set level, so that loops in it are those of the level, and there is one row for each.
 */
#define PDNN_STEP(op)         PDNN_HERE(pdnn_step_##op)
#define PDNN_DECLARE_STEP(op) PDNN_DECLARE(extern const struct pdnn_step_def, pdnn_step_##op, )
PDNN_OPS(PDNN_DECLARE_STEP)

#endif
