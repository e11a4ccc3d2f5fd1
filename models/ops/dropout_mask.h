/* The mask of models/ops/dropout.c, for every op that drops values: of one node in the step that its counter
 * is at, element by element. */
#ifndef MODELS_OPS_DROPOUT_MASK_H
#define MODELS_OPS_DROPOUT_MASK_H

#include "base/rng.h"
#include "models/op.h"

enum { PDNN_DROPOUT_PERCENT_MAX = 99 };

struct pdnn_dropout_mask {
    uint64_t seed;
    int64_t least; /* bits of elements that are kept */
    double kept;   /* their factor */
};

/* Whether the tensor may count steps. */
static inline bool pdnn_is_dropout_counter(const struct pdnn_tensor *tensor) {
    return tensor->role == PDNN_ROLE_STATE && pdnn_tensor_elements(tensor) == 1;
}

/* The forward pass counts the step, one addition; where the counter is not the node's output too, it only
 * repeats what it did last. `input` and `output` are the counter's numbers. */
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

/* What element i is multiplied with. */
static inline double pdnn_dropout_mask_at(const struct pdnn_dropout_mask *mask, int64_t i) {
    return pdnn_rng_16_at(mask->seed, (uint64_t)i) >= mask->least ? mask->kept : 0;
}

#endif
