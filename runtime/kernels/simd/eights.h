/* Eight floats at once whatever the level, for what comes in eights: blocks of channels, squares of a matrix.
 * They go by address, because the baseline has no way to pass them. */
#ifndef RUNTIME_KERNELS_SIMD_EIGHTS_H
#define RUNTIME_KERNELS_SIMD_EIGHTS_H

#include "runtime/kernels/simd/bypass.h"
#include "runtime/kernels/simd/kernel.h"

#include <stdbool.h>
#include <stdint.h>

enum { PDNN_LANES8 = 8 };
typedef float pdnn_floats8 __attribute__((vector_size(32)));
typedef float pdnn_unaligned8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t pdnn_ints8 __attribute__((vector_size(32)));
typedef int64_t pdnn_longs2 __attribute__((vector_size(16)));
typedef int8_t pdnn_bytes16 __attribute__((vector_size(16)));
typedef int8_t pdnn_bytes32 __attribute__((vector_size(32)));

PDNN_INLINE void pdnn_load8(pdnn_floats8 *v, const float *from) {
    *v = *(const pdnn_unaligned8 *)(const void *)from;
}

/* bypass: past the caches; `to` is then 16-byte aligned. */
PDNN_INLINE void pdnn_store8(float *to, const pdnn_floats8 *v, bool bypass) {
    if (bypass)
        pdnn_bypass_copy(to, (const float *)v, PDNN_LANES8);
    else
        *(pdnn_unaligned8 *)(void *)to = *v;
}

/* All bits of a lane are those of the answer. With mask registers, which the compiler would take for it,
 * these loops took half as long again. */
#if PDNN_LANES >= 8

PDNN_INLINE void pdnn_above8(pdnn_ints8 *mask, const pdnn_floats8 *a, const pdnn_floats8 *b) {
    *mask = (pdnn_ints8)_mm256_cmp_ps(*a, *b, _CMP_GT_OQ);
}

PDNN_INLINE void pdnn_nan8(pdnn_ints8 *mask, const pdnn_floats8 *a) {
    *mask = (pdnn_ints8)_mm256_cmp_ps(*a, *a, _CMP_UNORD_Q);
}

/* *v = mask ? *v : *other, lane by lane. */
PDNN_INLINE void pdnn_select8(pdnn_floats8 *v, const pdnn_ints8 *mask, const pdnn_floats8 *other) {
    *v = _mm256_blendv_ps(*other, *v, (pdnn_floats8)*mask);
}

/* At least floor; NaN stays. */
PDNN_INLINE void pdnn_floor8(pdnn_floats8 *v, const pdnn_floats8 *floor) {
    *v = _mm256_max_ps(*floor, *v);
}

#else

PDNN_INLINE void pdnn_above8(pdnn_ints8 *mask, const pdnn_floats8 *a, const pdnn_floats8 *b) {
    *mask = *a > *b;
}

PDNN_INLINE void pdnn_nan8(pdnn_ints8 *mask, const pdnn_floats8 *a) {
    *mask = *a != *a;
}

PDNN_INLINE void pdnn_select8(pdnn_floats8 *v, const pdnn_ints8 *mask, const pdnn_floats8 *other) {
    *v = (pdnn_floats8)((*mask & (pdnn_ints8)*v) | (~*mask & (pdnn_ints8)*other));
}

PDNN_INLINE void pdnn_floor8(pdnn_floats8 *v, const pdnn_floats8 *floor) {
    pdnn_ints8 below = *v < *floor;
    pdnn_floats8 raised = *floor;
    pdnn_select8(&raised, &below, v);
    *v = raised;
}

#endif

/* out[c][r] = x[r][c], 8 by 8, in registers: pairs of rows interleaved, then pairs of pairs, then halves
 * exchanged. */
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
        pdnn_store8(out + i * out_stride, &b[i], false);
}

/* Eight small integers, in memory a byte each. By shuffles, since the compiler converts vectors of bytes one
 * by one: each byte goes to the top of its lane, and is shifted down with its sign. */
PDNN_INLINE void pdnn_load_bytes8(pdnn_ints8 *v, const int8_t *from) {
    int64_t bytes;
    __builtin_memcpy(&bytes, from, sizeof bytes);
    pdnn_bytes16 low = (pdnn_bytes16)(pdnn_longs2){bytes, 0};
    pdnn_bytes32 top =
        __builtin_shufflevector(low, low, -1, -1, -1, 0, -1, -1, -1, 1, -1, -1, -1, 2, -1, -1, -1, 3, -1, -1,
                                -1, 4, -1, -1, -1, 5, -1, -1, -1, 6, -1, -1, -1, 7);
    *v = (pdnn_ints8)top >> 24;
}

PDNN_INLINE void pdnn_store_bytes8(int8_t *to, const pdnn_ints8 *v) {
    pdnn_bytes32 all = (pdnn_bytes32)*v;
    pdnn_bytes16 low =
        __builtin_shufflevector(all, all, 0, 4, 8, 12, 16, 20, 24, 28, -1, -1, -1, -1, -1, -1, -1, -1);
    __builtin_memcpy(to, &low, PDNN_LANES8);
}

#endif
