/* Vectors of PDNN_LANES floats (kernel.h), for loops that the compiler does not vectorize by itself.
 * Arithmetic and comparisons use the compiler's vector extension. */
#ifndef RUNTIME_KERNELS_SIMD_LANES_H
#define RUNTIME_KERNELS_SIMD_LANES_H

#include "runtime/kernels/simd/kernel.h"

#include <stdbool.h>
#include <stdint.h>

#if PDNN_LANES > 4
#include <immintrin.h>
#endif

typedef float pdnn_floats __attribute__((vector_size(4 * PDNN_LANES)));
typedef int32_t pdnn_ints __attribute__((vector_size(4 * PDNN_LANES)));
typedef uint64_t pdnn_words __attribute__((vector_size(4 * PDNN_LANES)));

PDNN_INLINE void pdnn_load(pdnn_floats *v, const float *from) {
    __builtin_memcpy(v, from, sizeof *v);
}

PDNN_INLINE void pdnn_store(float *to, const pdnn_floats *v) {
    __builtin_memcpy(to, v, sizeof *v);
}

/* *v = *v > *other ? *v : *other, lane by lane. */
PDNN_INLINE void pdnn_most(pdnn_floats *v, const pdnn_floats *other) {
#if PDNN_LANES == 16
    *v = _mm512_max_ps(*v, *other);
#elif PDNN_LANES == 8
    *v = _mm256_max_ps(*v, *other);
#else
    pdnn_ints larger = *v > *other;
    *v = (pdnn_floats)((larger & (pdnn_ints)*v) | (~larger & (pdnn_ints)*other));
#endif
}

/* *v = *v < *other ? *v : *other, lane by lane. */
PDNN_INLINE void pdnn_lowest(pdnn_floats *v, const pdnn_floats *other) {
#if PDNN_LANES == 16
    *v = _mm512_min_ps(*v, *other);
#elif PDNN_LANES == 8
    *v = _mm256_min_ps(*v, *other);
#else
    pdnn_ints smaller = *v < *other;
    *v = (pdnn_floats)((smaller & (pdnn_ints)*v) | (~smaller & (pdnn_ints)*other));
#endif
}

/* The result of a vector comparison. With mask registers it is a mask: the compiler turns a comparison in its
 * vector extension back into a vector, which took up to twice as long. */
#if PDNN_LANES == 16

typedef __mmask16 pdnn_mask_lanes;

PDNN_INLINE pdnn_mask_lanes pdnn_above(const pdnn_floats *a, const pdnn_floats *b) {
    return _mm512_cmp_ps_mask(*a, *b, _CMP_GT_OQ);
}

PDNN_INLINE pdnn_mask_lanes pdnn_is_nan(const pdnn_floats *a) {
    return _mm512_cmp_ps_mask(*a, *a, _CMP_UNORD_Q);
}

/* Whether it holds for a lane. */
PDNN_INLINE bool pdnn_any(pdnn_mask_lanes mask) {
    return mask != 0;
}

/* *v = mask ? *v : *other, lane by lane. */
PDNN_INLINE void pdnn_select(pdnn_floats *v, pdnn_mask_lanes mask, const pdnn_floats *other) {
    *v = _mm512_mask_mov_ps(*other, mask, *v);
}

PDNN_INLINE void pdnn_select_ints(pdnn_ints *v, pdnn_mask_lanes mask, const pdnn_ints *other) {
    *v = (pdnn_ints)_mm512_mask_mov_epi32((__m512i)*other, mask, (__m512i)*v);
}

#else

typedef pdnn_ints pdnn_mask_lanes;

PDNN_INLINE pdnn_mask_lanes pdnn_above(const pdnn_floats *a, const pdnn_floats *b) {
    return *a > *b;
}

PDNN_INLINE pdnn_mask_lanes pdnn_is_nan(const pdnn_floats *a) {
    return *a != *a;
}

PDNN_INLINE bool pdnn_any(pdnn_mask_lanes mask) {
#if PDNN_LANES == 8
    return _mm256_movemask_ps((__m256)mask) != 0;
#else
    return (mask[0] | mask[1] | mask[2] | mask[3]) != 0;
#endif
}

PDNN_INLINE void pdnn_select(pdnn_floats *v, pdnn_mask_lanes mask, const pdnn_floats *other) {
#if PDNN_LANES == 8
    *v = _mm256_blendv_ps(*other, *v, (__m256)mask);
#else
    *v = (pdnn_floats)((mask & (pdnn_ints)*v) | (~mask & (pdnn_ints)*other));
#endif
}

PDNN_INLINE void pdnn_select_ints(pdnn_ints *v, pdnn_mask_lanes mask, const pdnn_ints *other) {
#if PDNN_LANES == 8
    *v = (pdnn_ints)_mm256_blendv_epi8((__m256i)*other, (__m256i)*v, (__m256i)mask);
#else
    *v = (mask & *v) | (~mask & *other);
#endif
}

#endif

#if PDNN_LANES > 4
/* *v = the lanes of *v that `at` says. */
PDNN_INLINE void pdnn_permute(pdnn_floats *v, const pdnn_ints *at) {
#if PDNN_LANES == 16
    *v = _mm512_permutexvar_ps((__m512i)*at, *v);
#else
    *v = _mm256_permutevar8x32_ps(*v, (__m256i)*at);
#endif
}
#endif

/* The end of a row: only the first n lanes, n < PDNN_LANES. Loads give 0 in the other lanes,
 * pdnn_fill_part sets them. */
#if PDNN_LANES == 16

PDNN_INLINE __mmask16 pdnn_first_lanes(int64_t n) {
    return (__mmask16)((1U << n) - 1U);
}

PDNN_INLINE void pdnn_load_part(pdnn_floats *v, const float *from, int64_t n) {
    *v = _mm512_maskz_loadu_ps(pdnn_first_lanes(n), from);
}

PDNN_INLINE void pdnn_fill_part(pdnn_floats *v, int64_t n, float fill) {
    *v = _mm512_mask_mov_ps(_mm512_set1_ps(fill), pdnn_first_lanes(n), *v);
}

PDNN_INLINE void pdnn_store_part(float *to, const pdnn_floats *v, int64_t n) {
    _mm512_mask_storeu_ps(to, pdnn_first_lanes(n), *v);
}

#elif PDNN_LANES == 8

PDNN_INLINE __m256i pdnn_first_lanes(int64_t n) {
    const pdnn_ints lane = {0, 1, 2, 3, 4, 5, 6, 7};
    return (__m256i)(lane < (int32_t)n);
}

PDNN_INLINE void pdnn_load_part(pdnn_floats *v, const float *from, int64_t n) {
    *v = _mm256_maskload_ps(from, pdnn_first_lanes(n));
}

PDNN_INLINE void pdnn_fill_part(pdnn_floats *v, int64_t n, float fill) {
    *v = _mm256_blendv_ps(_mm256_set1_ps(fill), *v, (__m256)pdnn_first_lanes(n));
}

PDNN_INLINE void pdnn_store_part(float *to, const pdnn_floats *v, int64_t n) {
    _mm256_maskstore_ps(to, pdnn_first_lanes(n), *v);
}

#else

PDNN_INLINE void pdnn_load_part(pdnn_floats *v, const float *from, int64_t n) {
    pdnn_floats part = {0};
    for (int64_t i = 0; i < n; i++)
        part[i] = from[i];
    *v = part;
}

PDNN_INLINE void pdnn_fill_part(pdnn_floats *v, int64_t n, float fill) {
    for (int64_t i = n; i < PDNN_LANES; i++)
        (*v)[i] = fill;
}

PDNN_INLINE void pdnn_store_part(float *to, const pdnn_floats *v, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        to[i] = (*v)[i];
}

#endif

/* All lanes (n = PDNN_LANES) or the first n of them. */
PDNN_INLINE void pdnn_load_lanes(pdnn_floats *v, const float *from, int64_t n) {
    if (n == PDNN_LANES)
        pdnn_load(v, from);
    else
        pdnn_load_part(v, from, n);
}

PDNN_INLINE void pdnn_store_lanes(float *to, const pdnn_floats *v, int64_t n) {
    if (n == PDNN_LANES)
        pdnn_store(to, v);
    else
        pdnn_store_part(to, v, n);
}

/* Sum of all lanes, by halving. */
PDNN_INLINE float pdnn_sum(const pdnn_floats *v) {
    typedef float fours __attribute__((vector_size(16)));
#if PDNN_LANES == 16
    typedef float eights __attribute__((vector_size(32)));
    eights half = __builtin_shufflevector(*v, *v, 0, 1, 2, 3, 4, 5, 6, 7) +
                  __builtin_shufflevector(*v, *v, 8, 9, 10, 11, 12, 13, 14, 15);
    fours sum =
        __builtin_shufflevector(half, half, 0, 1, 2, 3) + __builtin_shufflevector(half, half, 4, 5, 6, 7);
#elif PDNN_LANES == 8
    fours sum = __builtin_shufflevector(*v, *v, 0, 1, 2, 3) + __builtin_shufflevector(*v, *v, 4, 5, 6, 7);
#else
    fours sum = *v;
#endif
    sum += __builtin_shufflevector(sum, sum, 2, 3, 0, 1);
    return sum[0] + sum[1];
}

/* The sums of all lanes of four vectors: one transposes while it adds. */
PDNN_INLINE void pdnn_sum4(float sums[4], const pdnn_floats v[4]) {
    typedef float fours __attribute__((vector_size(16)));
#if PDNN_LANES == 16
    typedef float eights __attribute__((vector_size(32)));
    __m512 a = _mm512_add_ps(_mm512_unpacklo_ps(v[0], v[1]), _mm512_unpackhi_ps(v[0], v[1]));
    __m512 b = _mm512_add_ps(_mm512_unpacklo_ps(v[2], v[3]), _mm512_unpackhi_ps(v[2], v[3]));
    pdnn_floats all = _mm512_add_ps(_mm512_shuffle_ps(a, b, 0x44), _mm512_shuffle_ps(a, b, 0xee));
    eights half = __builtin_shufflevector(all, all, 0, 1, 2, 3, 4, 5, 6, 7) +
                  __builtin_shufflevector(all, all, 8, 9, 10, 11, 12, 13, 14, 15);
    fours sum =
        __builtin_shufflevector(half, half, 0, 1, 2, 3) + __builtin_shufflevector(half, half, 4, 5, 6, 7);
#elif PDNN_LANES == 8
    __m256 a = _mm256_add_ps(_mm256_unpacklo_ps(v[0], v[1]), _mm256_unpackhi_ps(v[0], v[1]));
    __m256 b = _mm256_add_ps(_mm256_unpacklo_ps(v[2], v[3]), _mm256_unpackhi_ps(v[2], v[3]));
    pdnn_floats all = _mm256_add_ps(_mm256_shuffle_ps(a, b, 0x44), _mm256_shuffle_ps(a, b, 0xee));
    fours sum = __builtin_shufflevector(all, all, 0, 1, 2, 3) + __builtin_shufflevector(all, all, 4, 5, 6, 7);
#else
    fours a =
        __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5) + __builtin_shufflevector(v[0], v[1], 2, 6, 3, 7);
    fours b =
        __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5) + __builtin_shufflevector(v[2], v[3], 2, 6, 3, 7);
    fours sum = __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);
#endif
    __builtin_memcpy(sums, &sum, sizeof sum);
}

#endif
