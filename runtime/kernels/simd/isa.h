/* What differs between processors, for the kernels: which instruction sets a kernel is instantiated for and
 * whether this processor has them. With isa_variants.h the one place in this directory with platform #ifdefs.
 */
#ifndef RUNTIME_KERNELS_SIMD_ISA_H
#define RUNTIME_KERNELS_SIMD_ISA_H

#include <stdbool.h>

#if defined(__x86_64__)

#include <immintrin.h>

/* X(name), widest first; the last runs everywhere. */
#define PDNN_ISA_VARIANTS(X) X(avx512) X(avx2) X(baseline)

static inline bool pdnn_isa_has_avx512(void) {
    return __builtin_cpu_supports("avx512f");
}

static inline bool pdnn_isa_has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

/* Orders streaming stores before whatever tells another thread of them. */
static inline void pdnn_stream_fence(void) {
    _mm_sfence();
}

#else

#define PDNN_ISA_VARIANTS(X) X(baseline)

static inline void pdnn_stream_fence(void) {}

#endif

static inline bool pdnn_isa_has_baseline(void) {
    return true;
}

#endif
