/* Biases by relative position, as jobs of their kernel: of the ops relative_bias and attention_softmax. */
#ifndef RUNTIME_LOWERING_RELATIVE_BIAS_H
#define RUNTIME_LOWERING_RELATIVE_BIAS_H

#include "runtime/kernels/rows/relative_bias.h"
#include "runtime/lowering/bound_call.h"

/* The job on scores that are the call's input 0, without addresses. attr: those of a relative_bias; table:
 * the table or its gradient. */
struct pdnn_relative_bias pdnn_relative_bias_job(const struct pdnn_bound_call *call, const int64_t *attr,
                                                 const struct pdnn_tensor *table);

/* Bytes of the call's scratch for the job's index and the kernel's scratch. */
uint64_t pdnn_relative_bias_scratch(const struct pdnn_relative_bias *job, int64_t kernel_bytes);

/* Makes the index, and sets index, scratch and x. */
void pdnn_relative_bias_bind(const struct pdnn_bound_call *call, const int64_t *attr,
                             const struct pdnn_tensor *table, struct pdnn_relative_bias *job);

#endif
