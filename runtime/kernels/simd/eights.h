/* Blocks of eight by eight floats at every level, transposed in registers: in vectors of eight where the
 * level has them, else in four blocks of four by four. (The compiler takes a shuffle of wider vectors than
 * the level's apart float by float.) */
#ifndef RUNTIME_KERNELS_SIMD_EIGHTS_H
#define RUNTIME_KERNELS_SIMD_EIGHTS_H

#include "runtime/kernels/simd/kernel.h"

#include <stdint.h>

enum { PDNN_LANES8 = 8 };

#if PDNN_LANES >= 8

typedef float pdnn_floats8 __attribute__((vector_size(32)));
typedef float pdnn_unaligned8 __attribute__((vector_size(32), aligned(4), may_alias));

PDNN_INLINE void pdnn_load8(pdnn_floats8 *v, const float *from) {
    *v = *(const pdnn_unaligned8 *)(const void *)from;
}

PDNN_INLINE void pdnn_store8(float *to, const pdnn_floats8 *v) {
    *(pdnn_unaligned8 *)(void *)to = *v;
}

/* Transposes 8 x 8 in registers, out[c][r] = x[r][c]: interleaves rows, then pairs, then swaps halves. */
PDNN_INLINE void pdnn_transpose8(const float *x, int64_t stride, float *out, int64_t out_stride) {
    pdnn_floats8 a[PDNN_LANES8], b[PDNN_LANES8];
#pragma GCC unroll 8
    for (int i = 0; i < PDNN_LANES8; i++)
        pdnn_load8(&a[i], x + i * stride);
#pragma GCC unroll 4
    for (int i = 0; i < PDNN_LANES8; i += 2) {
        b[i] = __builtin_shufflevector(a[i], a[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        b[i + 1] = __builtin_shufflevector(a[i], a[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
#pragma GCC unroll 2
    for (int i = 0; i < PDNN_LANES8; i += 4) {
        a[i] = __builtin_shufflevector(b[i], b[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        a[i + 1] = __builtin_shufflevector(b[i], b[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        a[i + 2] = __builtin_shufflevector(b[i + 1], b[i + 3], 0, 1, 8, 9, 4, 5, 12, 13);
        a[i + 3] = __builtin_shufflevector(b[i + 1], b[i + 3], 2, 3, 10, 11, 6, 7, 14, 15);
    }
#pragma GCC unroll 4
    for (int i = 0; i < PDNN_LANES8 / 2; i++) {
        b[i] = __builtin_shufflevector(a[i], a[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        b[i + 4] = __builtin_shufflevector(a[i], a[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
#pragma GCC unroll 8
    for (int i = 0; i < PDNN_LANES8; i++)
        pdnn_store8(out + i * out_stride, &b[i]);
}

#else

typedef float pdnn_floats4 __attribute__((vector_size(16)));
typedef float pdnn_unaligned4 __attribute__((vector_size(16), aligned(4), may_alias));

/* Interleaves the rows, then their pairs. */
PDNN_INLINE void pdnn_transpose4(const float *x, int64_t stride, float *out, int64_t out_stride) {
    pdnn_floats4 a[4], b[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        a[i] = *(const pdnn_unaligned4 *)(const void *)(x + i * stride);
#pragma GCC unroll 2
    for (int i = 0; i < 4; i += 2) {
        b[i] = __builtin_shufflevector(a[i], a[i + 1], 0, 4, 1, 5);
        b[i + 1] = __builtin_shufflevector(a[i], a[i + 1], 2, 6, 3, 7);
    }
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
        a[2 * i] = __builtin_shufflevector(b[i], b[i + 2], 0, 1, 4, 5);
        a[2 * i + 1] = __builtin_shufflevector(b[i], b[i + 2], 2, 3, 6, 7);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        *(pdnn_unaligned4 *)(void *)(out + i * out_stride) = a[i];
}

/* Transposes 8 x 8, out[c][r] = x[r][c]. */
PDNN_INLINE void pdnn_transpose8(const float *x, int64_t stride, float *out, int64_t out_stride) {
    for (int r = 0; r < PDNN_LANES8; r += 4) {
        for (int c = 0; c < PDNN_LANES8; c += 4)
            pdnn_transpose4(x + r * stride + c, stride, out + c * out_stride + r, out_stride);
    }
}

#endif

#endif
