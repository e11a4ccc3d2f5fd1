/* Shared by the rows of ops that compute y[i] = f(a[i], b[i]). */
#ifndef RUNTIME_LOWERING_POINTWISE_H
#define RUNTIME_LOWERING_POINTWISE_H

#include "runtime/kernels/rows/elementwise.h"
#include "runtime/lowering/bound_call.h"

/* y is output 0, a input 0 and b input 1, if the node has one. The tensors may have any layout, as long as it
 * is the same for all of them. */
void pdnn_pointwise_run(const struct pdnn_bound_call *call, enum pdnn_elementwise function);

#endif
