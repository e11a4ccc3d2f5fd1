/* Steps of pointwise ops, and the rows of all activations: y[i] = f(a[i], b[i]): activations, their
 * gradients, sums. The tensors may have any layout, as long as it is the same for all of them. */
#ifndef RUNTIME_LOWERING_POINTWISE_H
#define RUNTIME_LOWERING_POINTWISE_H

#include "runtime/kernels/rows/elementwise.h"
#include "runtime/lowering/bound_step.h"

/* y is output 0, a input 0 and b input 1, if the node has one. */
void pdnn_pointwise_run(const struct pdnn_bound_step *step, enum pdnn_elementwise function);

#endif
