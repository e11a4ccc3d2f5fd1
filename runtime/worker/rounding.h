/* How far rounding alone may take a node's result from the reference: the error that `check` allows.
 *
 *   |tried - exact| <= tolerance * scale
 *
 * tolerance is the op's tolerance for one accumulated term, times the square root of the number of terms in
 * the longest sum behind an output element, since the error of a sum grows like a random walk. It is at most
 * PDNN_TOLERANCE_MOST, because such long sums are computed in parts. A 16-bit result may also be off by one
 * unit in its last place: 2^-7 for bf16, 2^-10 for f16. Of int8 results, those that an op rounds may be off
 * by one, all others must be exact.
 *
 * scale is the tensor's largest |exact|. If the terms of a result cancel, their own rounding errors are
 * larger than this scale allows. In that case scale is the largest change of any element when the node's
 * inputs change in their last bit, divided by the size of that bit (2^-23 for f32), taken for each input type
 * separately; the largest counts. For a sum of t_i this is about half the root of the sum of t_i^2, and never
 * more than the sum of |t_i|: a result that does not cancel is still measured against its own size, and an
 * error of one part in a thousand is never allowed. */
#ifndef RUNTIME_WORKER_ROUNDING_H
#define RUNTIME_WORKER_ROUNDING_H

#include "runtime/plan/plan.h"

#define PDNN_TOLERANCE_MOST 5e-4

/* For rounded int8 results: one of the 127 steps up to the largest value. */
#define PDNN_TOLERANCE_TIE (1.0 / 127)

/* The tolerance for a tensor that the node or one of its posts writes. PDNN_OVERFLOW if the node's
 * FLOP count overflows. */
enum pdnn_status pdnn_rounding_tolerance(const struct pdnn_graph *graph, const struct pdnn_node *node,
                                         uint32_t tensor, double *tolerance, struct pdnn_err *err);

/* The calls of one node in the reference's plan, to be run again. */
struct pdnn_rerun {
    const struct pdnn_plan *plan;        /* borrowed */
    const struct pdnn_call *first, *end; /* of the current node */
    uint32_t input[PDNN_NODE_ACCESSES];  /* what it reads */
    int n_inputs;
    unsigned char *inputs; /* copies of them, one after the other, to be freed after the last node */
    /* Borrowed, with room for any tensor: the result whose scale is asked for, and one that changed. */
    void *values, *moved;
};

/* Saves the inputs of the node and runs its calls, from `first` up to but not including `end`. */
enum pdnn_status pdnn_rerun_begin(struct pdnn_rerun *rerun, const struct pdnn_node *node,
                                  const struct pdnn_call *first, const struct pdnn_call *end,
                                  struct pdnn_err *err);

/* The scale, as defined above, for a result of the node whose terms cancel. Leaves all
 * values as they were. */
enum pdnn_status pdnn_rerun_scale(const struct pdnn_rerun *rerun, uint32_t tensor, double *scale,
                                  struct pdnn_err *err);

#endif
