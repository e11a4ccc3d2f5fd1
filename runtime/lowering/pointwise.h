/* Steps of pointwise ops y[i] = f(a[i], b[i]): activations, their gradients, sums. The tensors may have any
 * layout, as long as it is the same for all of them. */
#ifndef RUNTIME_LOWERING_POINTWISE_H
#define RUNTIME_LOWERING_POINTWISE_H

#include "runtime/kernels/rows/elementwise.h"
#include "runtime/lowering/bound_step.h"

/* y is output 0, a input 0 and b input 1, if the node has one. */
void pdnn_pointwise_run(const struct pdnn_bound_step *step, enum pdnn_elementwise function);

/* Zeroes the padding of channel blocks again, after a function that does not map 0 to 0. */
void pdnn_pointwise_clear_padding(const struct pdnn_bound_step *step);

#endif
