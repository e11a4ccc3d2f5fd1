/* The steps of one pass of a dense node: the primitive or our own kernel, and reorders for tensors that are
 * stored in another layout. */
#ifndef RUNTIME_BACKENDS_ONEDNN_DENSE_STEP_H
#define RUNTIME_BACKENDS_ONEDNN_DENSE_STEP_H

#include "runtime/lowering/steps.h"

extern const struct pdnn_step_def pdnn_onednn_dense_row;

#endif
