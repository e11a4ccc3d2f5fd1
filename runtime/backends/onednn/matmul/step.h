/* The step of one pass of a matmul node. */
#ifndef RUNTIME_BACKENDS_ONEDNN_MATMUL_STEP_H
#define RUNTIME_BACKENDS_ONEDNN_MATMUL_STEP_H

#include "runtime/lowering/steps.h"

extern const struct pdnn_step_def pdnn_onednn_matmul_row;

#endif
