/* Shared by the calls of softmaxes and masks: rows along the last dimension (runtime/kernels/rows/softmax.h),
 * and how rows of scores (B*h, n, m) map to sequences, heads and queries. */
#ifndef RUNTIME_LOWERING_SCORE_ROWS_H
#define RUNTIME_LOWERING_SCORE_ROWS_H

#include "runtime/kernels/rows/softmax.h"
#include "runtime/lowering/bound_call.h"

/* An output; written with non-temporal stores if it is large and does not overwrite input 0. */
struct pdnn_softmax_result pdnn_score_rows_result(const struct pdnn_bound_call *call, int output);

/* From input 0 to output 0, without factor, bias, mask or dropout. */
struct pdnn_softmax pdnn_score_rows_job(const struct pdnn_bound_call *call);

/* The same with the rows taken as scores of this many sequences. */
struct pdnn_softmax pdnn_score_rows_masked_job(const struct pdnn_bound_call *call, int64_t sequences,
                                               bool is_causal, int64_t window);

/* Sets the job's bias to an input, which the node may lack. */
void pdnn_score_rows_add_bias(const struct pdnn_bound_call *call, int input, struct pdnn_softmax *job);

#endif
