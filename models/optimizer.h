/* Optimizers: the nodes they append for the weights, their number of state tensors, and their constants. */
#ifndef MODELS_OPTIMIZER_H
#define MODELS_OPTIMIZER_H

#include "models/graph.h"

/* One row each: enumerator, name, the op that owns the states, the op that updates the weights, the function
 * that appends them, number of state tensors, of scalars, coefficients in the order of the first op's
 * attributes. Decay, momentum and epsilon of rmsprop are ParaDnn's; those of lamb are the ones used to train
 * BERT; learning rates are the usual 0.001. All tensors are treated alike: biases and normalizations decay
 * too, and lamb scales their step like any other. */
#define PDNN_OPTIMIZERS(X)                                                                                   \
    X(SGD, sgd, sgd, sgd, one_node, 0, 0, 0.001)                                                             \
    X(MOMENTUM, momentum, momentum, momentum, one_node, 1, 0, 0.001, 0.9)                                    \
    X(RMSPROP, rmsprop, rmsprop, rmsprop, one_node, 2, 0, 0.001, 0.9, 0.9, 1.0)                              \
    X(ADAM, adam, adam, adam, adam, 2, 2, 0.001, 0.9, 0.999, 1e-8)                                           \
    X(ADAMW, adamw, adam, adam, adam, 2, 2, 0.001, 0.9, 0.999, 1e-8, 0.01)                                   \
    X(LAMB, lamb, lamb_direction, lamb_apply, lamb, 2, 2, 0.9, 0.999, 1e-6, 0.01, 1.0)

/* The values of the setting `optimizer`. */
#define PDNN_OPTIMIZER_ENUMERATOR(upper, ...) PDNN_OPTIMIZER_##upper,
enum pdnn_optimizer { PDNN_OPTIMIZERS(PDNN_OPTIMIZER_ENUMERATOR) PDNN_OPTIMIZER_COUNT };
#undef PDNN_OPTIMIZER_ENUMERATOR

/* A weight to update, and its gradient. */
struct pdnn_weight_update {
    uint32_t weight, gradient;
    struct pdnn_layer layer; /* the first layer that reads it */
};

struct pdnn_optimizer_def {
    const char *name;
    const struct pdnn_op_def *op; /* owns the states */
    const struct pdnn_op_def
        *last; /* updates the weights: the same op, or another one with its default coefficients */
    /* Appends the nodes of all updates. */
    void (*append)(struct pdnn_graph *graph, const struct pdnn_optimizer_def *optimizer,
                   const struct pdnn_weight_update *updates, size_t n_updates);
    int n_states; /* tensors shaped like the weight, initially zero */
    /* One more state tensor with this many scalars that start at 1 (powers of beta), or 0. */
    int n_scalars;
    double coef[PDNN_NODE_COEFS]; /* the op's coefficients */
};

extern const struct pdnn_optimizer_def pdnn_optimizers[PDNN_OPTIMIZER_COUNT];

/* The names alone, NULL-terminated, in the same order. */
extern const char *const pdnn_optimizer_names[];

#endif
