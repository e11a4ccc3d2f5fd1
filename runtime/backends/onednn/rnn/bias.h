/* The biases of a recurrent layer: frameworks have two vectors per gate, the library takes one. A call that
 * shows as a reorder adds them up. */
#ifndef RUNTIME_BACKENDS_ONEDNN_RNN_BIAS_H
#define RUNTIME_BACKENDS_ONEDNN_RNN_BIAS_H

#include "runtime/backends/onednn/rnn/implementations.h"
#include "runtime/backend/backend.h"

/* Bytes of the library's bias. */
uint64_t pdnn_onednn_rnn_bias_bytes(const struct pdnn_onednn_rnn_shape *shape);

/* Appends the call between a tensor of two bias vectors per gate, or its gradient, and the slot with their
 * sum that the library uses. */
void pdnn_onednn_rnn_append_biases(struct pdnn_program *program, const struct pdnn_onednn_rnn_shape *shape,
                                   enum pdnn_pass pass, uint32_t tensor, uint32_t sum_slot, bool is_gradient);

#endif
