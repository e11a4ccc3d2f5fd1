/* How each recurrent layer runs, and the layout of its weights if it runs as the library's primitive:
 * in training the layout of the gradients, since updates need the same one for both; otherwise the one
 * that forward asks for. Programs that share weights run their layers like the first of these programs,
 * which chose the layouts. */
#ifndef RUNTIME_BACKENDS_ONEDNN_RNN_LAYOUTS_H
#define RUNTIME_BACKENDS_ONEDNN_RNN_LAYOUTS_H

#include "runtime/backends/onednn/compile.h"

/* How a recurrent layer runs, and what its passes share. */
struct pdnn_onednn_rnn_layer {
    bool is_fused;      /* as the library's primitive, in all passes */
    bool is_measured;   /* by measuring, not as requested */
    uint32_t bias;      /* fused: slot with one bias vector per gate */
    uint32_t workspace; /* fused: slot with what forward saves in training, or PDNN_NONE */
    uint32_t state;     /* fused: slot with the zero initial state for training, or PDNN_NONE */
};

/* Decides how each recurrent layer runs and fills layer. If it runs as the library's primitive, its
 * weights get layouts, and the library saves its own data for backward, so the graph's tensor for
 * that gets no memory. */
enum pdnn_status pdnn_onednn_rnn_place(struct pdnn_onednn_compile *compile, struct pdnn_err *err);

#endif
