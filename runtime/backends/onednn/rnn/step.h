/* The steps of one pass of an rnn node. Unrolled, it is a single step. As the library's primitive, it
 * has explicit reorders around it: for weights that are stored in another layout, and to add up the two
 * bias vectors per gate. */
#ifndef RUNTIME_BACKENDS_ONEDNN_RNN_STEP_H
#define RUNTIME_BACKENDS_ONEDNN_RNN_STEP_H

#include "runtime/lowering/steps.h"

extern const struct pdnn_step_def pdnn_onednn_rnn_row;

#endif
