/* Which way of running a dense op's step is taken, given what every part of it was measured to cost. Pure
 * arithmetic: the same costs give the same choice. */
#ifndef RUNTIME_BACKENDS_ONEDNN_DENSE_COSTS_H
#define RUNTIME_BACKENDS_ONEDNN_DENSE_COSTS_H

#include "runtime/backends/onednn/dense/ways.h"

struct pdnn_onednn_dense_choice {
    enum pdnn_onednn_weights_format stored; /* of the weights, their gradient and the optimizer's state */
    /* By pass, where the shape has it. A pass in another format than the stored one needs a reorder. */
    struct pdnn_onednn_dense_variant variant[PDNN_ONEDNN_DENSE_PASSES];
};

/* ns of one variant of one pass; INFINITY: there is none, it failed, or it was not worth measuring. */
struct pdnn_onednn_dense_cost {
    double run_ns;
    double reorder_ns[PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT]; /* by stored format: what a reorder from or to it
                                                            adds */
};

/* All costs of a shape, by pass, way and format. */
struct pdnn_onednn_dense_costs {
    struct pdnn_onednn_dense_cost cost[PDNN_ONEDNN_DENSE_PASSES][PDNN_ONEDNN_DENSE_WAY_COUNT]
                                      [PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT];
};

/* All INFINITY. */
void pdnn_onednn_dense_costs_init(struct pdnn_onednn_dense_costs *costs);

/* What runs in the stored format unless something is better: our own kernel where it can, since it reads the
 * weights of a small batch as fast as the memory gives, else the inner product. */
struct pdnn_onednn_dense_variant pdnn_onednn_dense_usual(const struct pdnn_onednn_dense_costs *costs,
                                                         enum pdnn_pass pass,
                                                         enum pdnn_onednn_weights_format stored);

/* Whether a variant that takes run_ns could still be chosen, reorder or not, instead of the usual one in the
 * stored format. */
bool pdnn_onednn_dense_cost_competes(const struct pdnn_onednn_dense_costs *costs, enum pdnn_pass pass,
                                     double run_ns, enum pdnn_onednn_weights_format stored);

/* The usual variants on row-major weights, unless something takes 10 % less than that; then it, unless
 * something further takes 10 % less again, with a reorder 20 %, in a fixed order: noise must not make two
 * runs of one instance differ. Weights that are placed already stay as they are, unless nothing can run from
 * there. False when a pass that the shape has cannot run at all. */
bool pdnn_onednn_dense_decide(const struct pdnn_onednn_dense_costs *costs,
                              const struct pdnn_onednn_dense_shape *shape,
                              struct pdnn_onednn_dense_choice *choice);

#endif
