/* A step on our own kernels: a node with the addresses of its operands, for the functions of an op's row
 * (steps.h). The kernels are f32 (labels and ids s32); operands of 16 bit are widened for them and results
 * narrowed, as the row says, so that a row's function sees f32 alone. */
#ifndef RUNTIME_STEPS_BOUND_STEP_H
#define RUNTIME_STEPS_BOUND_STEP_H

#include "models/attributes.h"
#include "models/op.h"
#include "runtime/core/backend.h"
#include "runtime/kernels/images/channels.h"
#include "runtime/steps/options.h"
#include "runtime/steps/step_def.h"

struct pdnn_bound_step {
    const struct pdnn_step_pass *pass;
    const struct pdnn_graph *graph;
    const struct pdnn_node *node; /* borrowed from the graph */
    int64_t threads;
    int64_t elements;           /* of the first input's slot, padding included */
    int64_t rows, columns;      /* of the first input, where it is a matrix */
    struct pdnn_channels shape; /* of the larger of first input and output, where they are images */
    int64_t per_float;          /* elements to the float: 2 where 16 bit is moved in pairs, else 1 */
    int32_t zero_point;         /* of output 0, where it is int8 */
    uint64_t cache_bytes;       /* of the last-level cache */
    uint32_t scratch_slot;      /* or PDNN_NONE */
    /* By operand (models/attributes.h), NULL for one that the node does not have; and by post. Known once
     * bound. */
    void *in[PDNN_NODE_INPUTS], *out[PDNN_NODE_OUTPUTS], *post_in[PDNN_NODE_POSTS], *scratch;
};

/* Whether the pass takes the node's ranks, posts and dtypes. */
bool pdnn_bound_step_fits(const struct pdnn_graph *graph, const struct pdnn_node *node,
                          const struct pdnn_step_pass *pass);

/* Appends the step of a node that fits; its slots have their final sizes and layouts already, the same layout
 * for all of its images (PDNN_INTERNAL where those of one shape differ). */
enum pdnn_status pdnn_bound_step_compile(const struct pdnn_step_options *options,
                                         struct pdnn_program *program, uint32_t node,
                                         const struct pdnn_step_pass *pass, struct pdnn_err *err);

/* widen.c: whether the node moves elements of 16 bit that may go in pairs. */
bool pdnn_moves_pairs(const struct pdnn_graph *graph, const struct pdnn_node *node,
                      const struct pdnn_step_pass *pass);
/* Gives a step that is done but for its operands of 16 bit, if it has some, f32 copies of them to work on. */
enum pdnn_status pdnn_bound_step_widen(struct pdnn_program *program, struct pdnn_bound_step *bound,
                                       struct pdnn_step *step, struct pdnn_err *err);

/* Whether results of so many bytes are written past the caches. */
bool pdnn_step_bypasses(const struct pdnn_bound_step *step, uint64_t bytes);
/* The same of an output, as large as it is in a graph, without padding. */
bool pdnn_step_bypasses_output(const struct pdnn_bound_step *step, int output);
/* Of the images' slots. */
uint64_t pdnn_step_image_bytes(const struct pdnn_bound_step *step);

/* Dimensions of an operand. */
static inline const int64_t *pdnn_step_in_dim(const struct pdnn_bound_step *step, int input) {
    return pdnn_node_in(step->graph, step->node, input)->dim;
}

static inline const int64_t *pdnn_step_out_dim(const struct pdnn_bound_step *step, int output) {
    return pdnn_node_out(step->graph, step->node, output)->dim;
}

#endif
