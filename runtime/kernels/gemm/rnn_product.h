/* Products of a small f32 matrix with a large one that stays the same from step to step: the recurrent
 * products of RNN layers. The large matrix is packed once, in panels of columns, so that every step reads it
 * in order; a library's GEMM would pack it at every step. N rows, K length of the sums, C columns. */
#ifndef RUNTIME_KERNELS_GEMM_RNN_PRODUCT_H
#define RUNTIME_KERNELS_GEMM_RNN_PRODUCT_H

#include <stdbool.h>
#include <stdint.h>

/* Size of a packed (K, C) matrix in floats. */
int64_t pdnn_rnn_packed_floats(int64_t K, int64_t C);

/* packed = b (K, C), or b (C, K) transposed; packed is 64-byte aligned. */
void pdnn_rnn_pack(const float *b, int64_t K, int64_t C, bool transposed, float *packed, int64_t threads);

struct pdnn_rnn_product_job {
    int64_t N, K, C;
    const float *a, *packed; /* (N, K); packed (K, C) */
    float *c;                /* (N, C) */
    int64_t a_stride, c_stride;
    bool accumulate; /* c += a b, else c = a b */
};

void pdnn_rnn_product_run(const struct pdnn_rnn_product_job *job, int64_t threads);

#endif
