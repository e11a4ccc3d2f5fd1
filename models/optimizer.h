/* Optimizers: which update op they append per weight, with how many state tensors and which constants. */
#ifndef MODELS_OPTIMIZER_H
#define MODELS_OPTIMIZER_H

#include "models/graph.h"

/* One row each: enumerator, name (of the update op too), state tensors, scalars, coefficients in the order of
 * the op's coef_names. Decay, momentum and epsilon of rmsprop are ParaDnn's; its learning rate, like the
 * others', is the usual 0.001. */
#define PDNN_OPTIMIZERS(X)                                                                                   \
    X(SGD, sgd, 0, 0, 0.001)                                                                                 \
    X(MOMENTUM, momentum, 1, 0, 0.001, 0.9)                                                                  \
    X(RMSPROP, rmsprop, 2, 0, 0.001, 0.9, 0.9, 1.0)                                                          \
    X(ADAM, adam, 2, 2, 0.001, 0.9, 0.999, 1e-8)

/* The values of the setting `optimizer`. */
#define PDNN_OPTIMIZER_ENUMERATOR(upper, ...) PDNN_OPTIMIZER_##upper,
enum pdnn_optimizer { PDNN_OPTIMIZERS(PDNN_OPTIMIZER_ENUMERATOR) PDNN_OPTIMIZER_COUNT };
#undef PDNN_OPTIMIZER_ENUMERATOR

struct pdnn_optimizer_def {
    const char *name;
    const struct pdnn_op_def *op;
    int n_states;  /* tensors like the weight, zero at first */
    int n_scalars; /* one more state tensor of so many scalars that start at 1 (powers of beta), or 0 */
    double coef[PDNN_NODE_COEFS]; /* the op's coef_names */
};

extern const struct pdnn_optimizer_def pdnn_optimizers[PDNN_OPTIMIZER_COUNT];

/* The names alone, NULL-terminated, in the same order. */
extern const char *const pdnn_optimizer_names[];

#endif
