/* Shared by the calls of ops that normalize rows (layernorm, dropout_add_norm,
 * rmsnorm): results and scratch. */
#ifndef RUNTIME_LOWERING_NORM_ROWS_H
#define RUNTIME_LOWERING_NORM_ROWS_H

#include "runtime/kernels/rows/layernorm.h"
#include "runtime/lowering/bound_call.h"

/* An output; written with non-temporal stores if the node's results are large and it does
 * not overwrite an input. */
struct pdnn_layernorm_result pdnn_norm_rows_result(const struct pdnn_bound_call *call, int output);

uint64_t pdnn_norm_rows_scratch(const struct pdnn_bound_call *call);
uint64_t pdnn_norm_rows_backward_scratch(const struct pdnn_bound_call *call);

#endif
