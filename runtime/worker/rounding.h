/* How far rounding alone may take a result of one node from the reference: what `check` forgives. With
 *
 *   |tried - exact| <= tolerance * scale
 *
 * tolerance is the op's for one accumulated term, times the square root of the terms behind one element of
 * that output, since the errors of a sum grow like a random walk; but at most PDNN_TOLERANCE_MOST, because
 * sums that long are taken in parts. scale is the largest |exact| of the tensor. Where a result is what is
 * left of terms that cancel, the terms' own rounding is larger than that; there scale is the most that any
 * element moves when the node's inputs move in their last bit, over the size of that bit (2^-23 of f32); for
 * each type of inputs apart, and the larger counts. For a sum of
 * t_i that is about half the root of the sum of t_i^2, and never more than the sum of |t_i|: a result that
 * does not cancel keeps being measured by itself, and one part in a thousand of it is never forgiven. A
 * result of 16 bit may be off by one unit in its last place beside that: 2^-7 of bf16, 2^-10 of f16. Of int8
 * results, those that an op rounds may be one off, others not at all. */
#ifndef RUNTIME_WORKER_ROUNDING_H
#define RUNTIME_WORKER_ROUNDING_H

#include "runtime/core/plan.h"

#define PDNN_TOLERANCE_MOST 5e-4

/* Of int8 results that are rounded: one of the 127 steps up to the largest of them. */
#define PDNN_TOLERANCE_TIE (1.0 / 127)

/* Of a tensor that the node or a post of it writes. PDNN_OVERFLOW when the node's FLOP do not fit. */
enum pdnn_status pdnn_rounding_tolerance(const struct pdnn_graph *graph, const struct pdnn_node *node,
                                         uint32_t tensor, double *tolerance, struct pdnn_err *err);

/* The steps of one node of the reference's plan, to be run again. */
struct pdnn_rerun {
    const struct pdnn_plan *plan;
    const struct pdnn_node *node; /* in hand */
    const struct pdnn_step *first, *end;
    unsigned char *inputs; /* what the node's inputs were, one after the other */
    void *values, *moved;  /* room for the largest tensor each */
};

/* The plan must outlive it. PDNN_NO_MEMORY. */
enum pdnn_status pdnn_rerun_init(struct pdnn_rerun *rerun, const struct pdnn_plan *plan,
                                 struct pdnn_err *err);
void pdnn_rerun_finish(struct pdnn_rerun *rerun);

/* Runs the steps from `first` to `end`, all of one node, whose inputs are remembered. */
enum pdnn_status pdnn_rerun_begin(struct pdnn_rerun *rerun, const struct pdnn_node *node,
                                  const struct pdnn_step *first, const struct pdnn_step *end,
                                  struct pdnn_err *err);

/* The scale of a result of the node that cancels: see above. Leaves all values as they were. */
enum pdnn_status pdnn_rerun_scale(struct pdnn_rerun *rerun, uint32_t tensor, double *scale,
                                  struct pdnn_err *err);

#endif
