/* The backend's own rows: how the ops run that oneDNN runs well. Each appends the primitive, or a kernel of
 * ours where that is faster, and an explicit reorder for each tensor that is stored in another layout. A
 * recurrent layer is one call when unrolled; before a primitive, its two bias vectors are added up. */
#ifndef RUNTIME_BACKENDS_ONEDNN_ROWS_H
#define RUNTIME_BACKENDS_ONEDNN_ROWS_H

#include "runtime/lowering/calls.h"

extern const struct pdnn_lowering pdnn_onednn_dense_row, pdnn_onednn_conv2d_row, pdnn_onednn_matmul_row,
    pdnn_onednn_conv_transpose2d_row, pdnn_onednn_rnn_row, pdnn_onednn_cast_row, pdnn_onednn_experts_row;

#endif
