/* The steps of one pass of an rnn node: unrolled it is one step; as the library's primitive there are
 * explicit reorders around it, of weights that are stored in another layout and of two bias vectors per gate,
 * which become their sum. */
#ifndef RUNTIME_BACKENDS_ONEDNN_RNN_STEP_H
#define RUNTIME_BACKENDS_ONEDNN_RNN_STEP_H

#include "runtime/steps/steps.h"

extern const struct pdnn_step_def pdnn_onednn_rnn_row;

#endif
