/* For kernels that are plain loops, vectorized by the compiler: PDNN_CLONES compiles a function once per
 * instruction-set level and the widest one that the processor has runs: the loader picks it, before any
 * setting is read. Such a function opens no parallel region, since the region's body would miss the target.
 */
#ifndef RUNTIME_KERNELS_SIMD_CLONES_H
#define RUNTIME_KERNELS_SIMD_CLONES_H

#include <stdint.h>

#if defined(__x86_64__)
#include <immintrin.h>

#define PDNN_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))

/* "avx512", "avx2" or "baseline": which of the clones runs. */
static inline const char *pdnn_clone_name(void) {
    if (__builtin_cpu_supports("x86-64-v4"))
        return "avx512";
    return __builtin_cpu_supports("x86-64-v3") ? "avx2" : "baseline";
}

/* y[i] = x[i] past the caches; y is 16-byte aligned and n a multiple of 4. */
static inline void pdnn_bypass_copy(float *y, const float *x, int64_t n) {
    for (int64_t i = 0; i < n; i += 4)
        _mm_stream_ps(y + i, _mm_loadu_ps(x + i));
}

/* Such stores are not ordered with the stores that follow: call before telling another thread. */
static inline void pdnn_bypass_fence(void) {
    _mm_sfence();
}

#else

#define PDNN_CLONES

static inline const char *pdnn_clone_name(void) {
    return "baseline";
}

static inline void pdnn_bypass_copy(float *y, const float *x, int64_t n) {
    __builtin_memcpy(y, x, (uint64_t)n * sizeof *y);
}

static inline void pdnn_bypass_fence(void) {}

#endif

#endif
