/* The dropout mask of models/ops/dropout.c, for the reference kernels of all ops that drop values: the mask
 * of one node in the step that its counter is at, element by element. */
#ifndef MODELS_OPS_DROPOUT_MASK_H
#define MODELS_OPS_DROPOUT_MASK_H

#include "base/rng.h"
#include "models/op.h"

enum { PDNN_DROPOUT_PERCENT_MAX = 99 };

struct pdnn_dropout_mask {
    uint64_t seed;
    int64_t least; /* smallest 16-bit random number that is kept */
    double kept;   /* factor of kept elements */
};

/* Whether the tensor can be a step counter. */
static inline bool pdnn_is_dropout_counter(const struct pdnn_tensor *tensor) {
    return tensor->role == PDNN_ROLE_STATE && pdnn_tensor_elements(tensor) == 1;
}

/* Whether the node counts the step (one addition). Only the forward pass does, and only if the counter is
 * also an output; otherwise it repeats its last mask. `input` and `output` are the counter's indices. */
static inline bool pdnn_dropout_counts(const struct pdnn_node *node, int output) {
    return node->pass == PDNN_FORWARD && node->n_outputs > output;
}

static inline void pdnn_dropout_count(struct pdnn_reference *r, int input, int output) {
    *pdnn_ref_in(r, input) += pdnn_dropout_counts(r->node, output);
    r->flop += pdnn_dropout_counts(r->node, output);
}

static inline struct pdnn_dropout_mask pdnn_dropout_mask_of(const struct pdnn_reference *r, int input,
                                                            int64_t percent) {
    uint64_t step = (uint64_t)*pdnn_ref_in(r, input);
    return (struct pdnn_dropout_mask){pdnn_rng_at(r->node->input[input], step), percent * 65536 / 100,
                                      100.0 / (double)(100 - percent)};
}

/* The factor of element i. */
static inline double pdnn_dropout_mask_at(const struct pdnn_dropout_mask *mask, int64_t i) {
    return pdnn_rng_16_at(mask->seed, (uint64_t)i) >= mask->least ? mask->kept : 0;
}

#endif
