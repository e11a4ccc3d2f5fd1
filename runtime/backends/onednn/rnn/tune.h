/* Decides by measuring at compile time whether a recurrent layer runs as the library's primitive or unrolled.
 * Both ways run all passes of the step, with their reorders, in turns. A shape is measured once per thread
 * count; large ones with fewer steps or sequences, since the difference between the two is within a step. */
#ifndef RUNTIME_BACKENDS_ONEDNN_RNN_TUNE_H
#define RUNTIME_BACKENDS_ONEDNN_RNN_TUNE_H

#include "runtime/backends/onednn/compile.h"
#include "runtime/backends/onednn/rnn/implementations.h"

/* *is_fused: the primitive is at least about as fast, for the layer of a forward node. PDNN_UNSUPPORTED if
 * neither way can run. */
enum pdnn_status pdnn_onednn_rnn_choose(const struct pdnn_onednn_compile *compile,
                                        const struct pdnn_node *forward,
                                        const struct pdnn_onednn_rnn_shape *shape, bool *is_fused,
                                        struct pdnn_err *err);

#endif
