/* Optimizers: which update op they append per weight, with how many state tensors and which constants. */
#ifndef MODELS_OPTIMIZER_H
#define MODELS_OPTIMIZER_H

#include "models/graph.h"

struct pdnn_optimizer_def {
    const char *name;
    const struct pdnn_op_def *op;
    int n_states;  /* tensors like the weight, zero at first */
    int n_scalars; /* one more state tensor of so many scalars that start at 1 (powers of beta), or 0 */
    double coef[PDNN_NODE_COEFS]; /* the op's coef_names */
    const char *help;
};

/* Ended by a row without a name; the setting `optimizer` is an index into it. */
extern const struct pdnn_optimizer_def pdnn_optimizers[];

/* The names alone, NULL-terminated, in the same order. */
extern const char *const pdnn_optimizer_names[];

#endif
