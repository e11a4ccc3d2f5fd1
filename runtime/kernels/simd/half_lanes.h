/* Vectors (lanes.h) of floats from 16-bit ones and back, in the loops that read and write them. */
#ifndef RUNTIME_KERNELS_SIMD_HALF_LANES_H
#define RUNTIME_KERNELS_SIMD_HALF_LANES_H

#include "base/half.h"
#include "runtime/kernels/simd/lanes.h"

PDNN_INLINE float pdnn_half_value(uint16_t bits, const enum pdnn_half type) {
    return type == PDNN_HALF_F16 ? pdnn_f16_value(bits) : pdnn_bf16_value(bits);
}

PDNN_INLINE uint16_t pdnn_half_of_value(float value, const enum pdnn_half type) {
    return type == PDNN_HALF_F16 ? pdnn_f16_of(value) : pdnn_bf16_of(value);
}

#if PDNN_LANES == 16

PDNN_INLINE void pdnn_load_half(pdnn_floats *v, const uint16_t *from, const enum pdnn_half type) {
    __m256i bits = _mm256_loadu_si256((const __m256i *)(const void *)from);
    *v = type == PDNN_HALF_F16 ? _mm512_cvtph_ps(bits)
                               : _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
}

/* Rounds as base/half.h does. */
PDNN_INLINE void pdnn_store_half(uint16_t *to, const pdnn_floats *v, const enum pdnn_half type) {
    const __m512i bits = _mm512_castps_si512(*v);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
    const __m512i all =
        _mm512_mask_or_epi32(rounded, pdnn_is_nan(v), bits, _mm512_set1_epi32(0x400000)); /* quiet */
    _mm256_storeu_si256((__m256i *)(void *)to, type == PDNN_HALF_F16
                                                   ? _mm512_cvtps_ph(*v, _MM_FROUND_TO_NEAREST_INT)
                                                   : _mm512_cvtepi32_epi16(_mm512_srli_epi32(all, 16)));
}

#elif PDNN_LANES == 8

PDNN_INLINE void pdnn_load_half(pdnn_floats *v, const uint16_t *from, const enum pdnn_half type) {
    __m128i bits = _mm_loadu_si128((const __m128i *)(const void *)from);
    *v = type == PDNN_HALF_F16 ? _mm256_cvtph_ps(bits)
                               : _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}

PDNN_INLINE void pdnn_store_half(uint16_t *to, const pdnn_floats *v, const enum pdnn_half type) {
    const __m256i bits = _mm256_castps_si256(*v), quiet = _mm256_set1_epi32(0x400000);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i rounded = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
    const __m256i all = _mm256_blendv_epi8(rounded, _mm256_or_si256(bits, quiet), (__m256i)pdnn_is_nan(v));
    const __m256i high = _mm256_srli_epi32(all, 16);
    const __m128i packed = _mm_packus_epi32(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1));
    _mm_storeu_si128((__m128i *)(void *)to,
                     type == PDNN_HALF_F16 ? _mm256_cvtps_ph(*v, _MM_FROUND_TO_NEAREST_INT) : packed);
}

#else

PDNN_INLINE void pdnn_load_half(pdnn_floats *v, const uint16_t *from, const enum pdnn_half type) {
    pdnn_floats all = {0};
    for (int i = 0; i < PDNN_LANES; i++)
        all[i] = pdnn_half_value(from[i], type);
    *v = all;
}

PDNN_INLINE void pdnn_store_half(uint16_t *to, const pdnn_floats *v, const enum pdnn_half type) {
    for (int i = 0; i < PDNN_LANES; i++)
        to[i] = pdnn_half_of_value((*v)[i], type);
}

#endif

/* The first n lanes, n < PDNN_LANES; 0 in the others. */
PDNN_INLINE void pdnn_load_half_part(pdnn_floats *v, const uint16_t *from, int64_t n,
                                     const enum pdnn_half type) {
    uint16_t part[PDNN_LANES] = {0};
    for (int64_t i = 0; i < n; i++)
        part[i] = from[i];
    pdnn_load_half(v, part, type);
}

/* Elements behind those being read that are prefetched, where they are read next: the hardware prefetcher
 * stops at each row or piece. */
enum { PDNN_HALF_AHEAD = 2048 };

/* y[i] = x[i] for n elements, and those `ahead` behind are prefetched. Vectors of four are left to the
 * compiler. */
PDNN_INLINE void pdnn_widen(const uint16_t *x, float *y, int64_t n, const enum pdnn_half type,
                            int64_t ahead) {
    enum { LINE = 32 };
    int64_t done = 0;
    for (; PDNN_LANES > 4 && done + PDNN_LANES <= n; done += PDNN_LANES) {
        pdnn_floats v;
        if (done % LINE == 0)
            __builtin_prefetch(x + done + ahead);
        pdnn_load_half(&v, x + done, type);
        pdnn_store(y + done, &v);
    }
#pragma omp simd
    for (int64_t i = done; i < n; i++)
        y[i] = pdnn_half_value(x[i], type);
}

PDNN_INLINE void pdnn_narrow(const float *x, uint16_t *y, int64_t n, const enum pdnn_half type) {
    int64_t done = 0;
    for (; PDNN_LANES > 4 && done + PDNN_LANES <= n; done += PDNN_LANES) {
        pdnn_floats v;
        pdnn_load(&v, x + done);
        pdnn_store_half(y + done, &v, type);
    }
#pragma omp simd
    for (int64_t i = done; i < n; i++)
        y[i] = pdnn_half_of_value(x[i], type);
}

/* The elements from number `at` on, and one of them. */
PDNN_INLINE void pdnn_load_stored(pdnn_floats *v, const void *from, int64_t at, const enum pdnn_stored in) {
    if (in == PDNN_STORED_F32)
        pdnn_load(v, (const float *)from + at);
    else
        pdnn_load_half(v, (const uint16_t *)from + at, pdnn_half_of_stored(in));
}

PDNN_INLINE float pdnn_stored_value(const void *from, int64_t at, const enum pdnn_stored in) {
    return in == PDNN_STORED_F32 ? ((const float *)from)[at]
                                 : pdnn_half_value(((const uint16_t *)from)[at], pdnn_half_of_stored(in));
}

#endif
