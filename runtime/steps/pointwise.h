/* Steps of ops y[i] = f(a[i], b[i]): activations and their gradients, sums. Their tensors lie in any layout
 * that they share. */
#ifndef RUNTIME_STEPS_POINTWISE_H
#define RUNTIME_STEPS_POINTWISE_H

#include "runtime/kernels/rows/elementwise.h"
#include "runtime/steps/bound_step.h"

/* y is output 0, a and b are inputs 0 and 1, if there is one. */
void pdnn_pointwise_run(const struct pdnn_bound_step *step, enum pdnn_elementwise function);

/* Sets what only fills channel blocks up to 0 again, after a function that makes something else of 0. */
void pdnn_pointwise_clear_padding(const struct pdnn_bound_step *step);

#endif
