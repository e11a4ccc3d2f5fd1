/* Decides how a dense op's step runs, from the measured cost of each of its parts. Pure arithmetic: the same
 * costs give the same choice. */
#ifndef RUNTIME_BACKENDS_ONEDNN_DENSE_COSTS_H
#define RUNTIME_BACKENDS_ONEDNN_DENSE_COSTS_H

#include "runtime/backends/onednn/dense/implementations.h"

struct pdnn_onednn_dense_choice {
    /* format of the weights, their gradient and the optimizer's state */
    enum pdnn_onednn_weights_format stored;
    /* One for each pass that the shape has. A pass in another format than the stored one needs a reorder. */
    struct pdnn_onednn_dense_variant variant[PDNN_ONEDNN_DENSE_PASSES];
};

/* ns for one variant of one pass; INFINITY: it does not exist, failed, or was not worth measuring. */
struct pdnn_onednn_dense_cost {
    double run_ns;
    /* by stored format: added by a reorder from or to it */
    double reorder_ns[PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT];
};

/* All costs of a shape, by pass, way and format. */
struct pdnn_onednn_dense_costs {
    struct pdnn_onednn_dense_cost cost[PDNN_ONEDNN_DENSE_PASSES][PDNN_ONEDNN_DENSE_WAY_COUNT]
                                      [PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT];
};

/* Sets all costs to INFINITY. */
void pdnn_onednn_dense_costs_init(struct pdnn_onednn_dense_costs *costs);

/* The default in the stored format, used unless something is better: our own kernel if it applies, since it
 * reads the weights of a small batch at full memory bandwidth, else the inner product. */
struct pdnn_onednn_dense_variant pdnn_onednn_dense_usual(const struct pdnn_onednn_dense_costs *costs,
                                                         enum pdnn_pass pass,
                                                         enum pdnn_onednn_weights_format stored);

/* Whether a variant that takes run_ns, with or without a reorder, could still be chosen over the usual one
 * in the stored format. */
bool pdnn_onednn_dense_cost_competes(const struct pdnn_onednn_dense_costs *costs, enum pdnn_pass pass,
                                     double run_ns, enum pdnn_onednn_weights_format stored);

/* Starts from the usual variants on row-major weights. In a fixed order, a candidate replaces the best so far
 * only if it takes 10 % less time, or 20 % less with a reorder, so that noise does not make two runs of one
 * instance differ. Weights that are already placed keep their format unless nothing can run from it. False if
 * a pass of the shape cannot run at all. */
bool pdnn_onednn_dense_decide(const struct pdnn_onednn_dense_costs *costs,
                              const struct pdnn_onednn_dense_shape *shape,
                              struct pdnn_onednn_dense_choice *choice);

#endif
