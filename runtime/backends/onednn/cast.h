/* The step of a cast: our own kernel between plain tensors, otherwise a oneDNN reorder. */
#ifndef RUNTIME_BACKENDS_ONEDNN_CAST_H
#define RUNTIME_BACKENDS_ONEDNN_CAST_H

#include "runtime/lowering/steps.h"

extern const struct pdnn_step_def pdnn_onednn_cast_row;

#endif
