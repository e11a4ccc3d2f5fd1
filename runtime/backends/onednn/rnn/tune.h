/* Whether a recurrent layer runs as the library's primitive or unrolled, by measuring at compile time: both
 * ways do all passes of the step, with their reorders, in turns. A shape is measured once per thread count;
 * large ones with fewer steps or sequences, since what tells the two apart is within a step. */
#ifndef RUNTIME_BACKENDS_ONEDNN_RNN_TUNE_H
#define RUNTIME_BACKENDS_ONEDNN_RNN_TUNE_H

#include "runtime/backends/onednn/compile.h"
#include "runtime/backends/onednn/rnn/ways.h"

/* *is_fused: the primitive is at least about as fast. PDNN_UNSUPPORTED when neither way can be run. */
enum pdnn_status pdnn_onednn_rnn_choose(const struct pdnn_onednn_compile *compile,
                                        const struct pdnn_onednn_rnn_shape *shape, bool *is_fused,
                                        struct pdnn_err *err);

#endif
