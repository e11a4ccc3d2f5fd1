/* The steps of one pass of a conv2d node: the primitive, a reorder before it for each tensor that it reads in
 * another layout than the stored one, and one after it if the result needs it. */
#ifndef RUNTIME_BACKENDS_ONEDNN_CONV2D_STEP_H
#define RUNTIME_BACKENDS_ONEDNN_CONV2D_STEP_H

#include "runtime/lowering/steps.h"

extern const struct pdnn_step_def pdnn_onednn_conv2d_row;

#endif
