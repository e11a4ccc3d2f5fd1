/* Streaming stores, where the processor has them. A line is written as a whole, in the widest stores of the
 * level: parts of it that wait for the rest are written one by one when others come between, which took up to
 * four times as long. */
#ifndef RUNTIME_KERNELS_SIMD_BYPASS_H
#define RUNTIME_KERNELS_SIMD_BYPASS_H

#include <stdint.h>

/* What is streamed begins and ends at whole groups of so many. */
enum { PDNN_BYPASS_FLOATS = 4 };

#if defined(__x86_64__)
#include <immintrin.h>

enum { PDNN_LINE_FLOATS = 16, PDNN_LINE_BYTES = 64 };

/* One line; y is aligned to it. */
static inline void pdnn_bypass_line(float *y, const float *x) {
#if defined(PDNN_LANES) && PDNN_LANES == 16
    _mm512_stream_ps(y, _mm512_loadu_ps(x));
#elif defined(PDNN_LANES) && PDNN_LANES == 8
    const __m256 a = _mm256_loadu_ps(x), b = _mm256_loadu_ps(x + 8);
    _mm256_stream_ps(y, a);
    _mm256_stream_ps(y + 8, b);
#else
    const __m128 a = _mm_loadu_ps(x), b = _mm_loadu_ps(x + 4), c = _mm_loadu_ps(x + 8),
                 d = _mm_loadu_ps(x + 12);
    _mm_stream_ps(y, a);
    _mm_stream_ps(y + 4, b);
    _mm_stream_ps(y + 8, c);
    _mm_stream_ps(y + 12, d);
#endif
}

/* The first of n floats of y that begins a line, at most n. */
static inline int64_t pdnn_bypass_head(float *y, const float *x, int64_t n) {
    int64_t i = 0;
    for (; i < n && (uintptr_t)(y + i) % PDNN_LINE_BYTES; i += PDNN_BYPASS_FLOATS)
        _mm_stream_ps(y + i, _mm_loadu_ps(x + i));
    return i;
}

/* y[i] = x[i]; y is 16-byte aligned and n a multiple of 4. */
static inline void pdnn_bypass_copy(float *y, const float *x, int64_t n) {
    int64_t i = pdnn_bypass_head(y, x, n);
    for (; i + PDNN_LINE_FLOATS <= n; i += PDNN_LINE_FLOATS)
        pdnn_bypass_line(y + i, x + i);
    for (; i < n; i += PDNN_BYPASS_FLOATS)
        _mm_stream_ps(y + i, _mm_loadu_ps(x + i));
}

#if defined(PDNN_LANES)
/* One vector; y is 16-byte aligned. */
static inline void pdnn_bypass_vector(float *y, const float *x) {
#if PDNN_LANES == 16
    pdnn_bypass_copy(y, x, PDNN_LANES);
#else
    for (int i = 0; i < PDNN_LANES; i += PDNN_BYPASS_FLOATS)
        _mm_stream_ps(y + i, _mm_loadu_ps(x + i));
#endif
}
#endif

/* pdnn_bypass_copy from memory: the hardware prefetcher starts anew with each page and row. */
static inline void pdnn_bypass_move(float *y, const float *x, int64_t n) {
    enum { AHEAD = 512 };
    int64_t i = 0;
    for (; n > AHEAD && i < AHEAD; i += PDNN_LINE_FLOATS)
        __builtin_prefetch(x + i);
    i = pdnn_bypass_head(y, x, n);
    for (; i + AHEAD + PDNN_LINE_FLOATS <= n; i += PDNN_LINE_FLOATS) {
        __builtin_prefetch(x + i + AHEAD);
        pdnn_bypass_line(y + i, x + i);
    }
    pdnn_bypass_copy(y + i, x + i, n - i);
}

/* Streaming stores are weakly ordered: call this before signalling another thread. */
static inline void pdnn_bypass_fence(void) {
    _mm_sfence();
}

#else

static inline void pdnn_bypass_copy(float *y, const float *x, int64_t n) {
    __builtin_memcpy(y, x, (uint64_t)n * sizeof *y);
}

#if defined(PDNN_LANES)
static inline void pdnn_bypass_vector(float *y, const float *x) {
    pdnn_bypass_copy(y, x, PDNN_LANES);
}
#endif

static inline void pdnn_bypass_move(float *y, const float *x, int64_t n) {
    pdnn_bypass_copy(y, x, n);
}

static inline void pdnn_bypass_fence(void) {}

#endif

#endif
