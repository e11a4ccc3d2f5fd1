/* How each recurrent layer runs, and in which layout its weights are stored when that is as the library's
 * primitive: in training as the gradients come, since updates need one layout for both; else as forward asks
 * for. Programs that share weights run their layers as the first of them does, whose layouts they are. */
#ifndef RUNTIME_BACKENDS_ONEDNN_RNN_PLACE_H
#define RUNTIME_BACKENDS_ONEDNN_RNN_PLACE_H

#include "runtime/backends/onednn/compile.h"

/* How a recurrent layer runs, and what its passes share. */
struct pdnn_onednn_rnn_layer {
    bool is_fused;      /* as the library's primitive, in all passes */
    bool is_measured;   /* rather than asked for */
    uint32_t bias;      /* fused: the slot of one bias vector per gate */
    uint32_t workspace; /* fused: the slot of what training forward leaves, or PDNN_NONE */
    uint32_t state;     /* fused: the slot of zeros that training begins with, or PDNN_NONE */
};

/* Decides how each recurrent layer runs; fills layer. Where it is as the library's primitive, its weights get
 * layouts, and what forward saves for backward is the library's own: the tensor of the graph has no memory
 * then. */
enum pdnn_status pdnn_onednn_rnn_place(struct pdnn_onednn_compile *compile, struct pdnn_err *err);

#endif
