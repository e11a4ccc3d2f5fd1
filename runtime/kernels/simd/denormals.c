#include "runtime/kernels/simd/denormals.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

/* The mode is per thread, and only some systems let new threads inherit it, so every thread sets it. */
static void flush_denormals_here(void) {
#if defined(__SSE__)
    enum { FLUSH_TO_ZERO = 1 << 15, DENORMALS_ARE_ZERO = 1 << 6 };
    _mm_setcsr(_mm_getcsr() | FLUSH_TO_ZERO | DENORMALS_ARE_ZERO);
#elif defined(__aarch64__)
    uint64_t fpcr;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    fpcr |= UINT64_C(1) << 24; /* FZ: inputs and results */
    __asm__ volatile("msr fpcr, %0" : : "r"(fpcr));
#endif
}

void pdnn_flush_denormals(int64_t threads) {
    flush_denormals_here();
#pragma omp parallel num_threads((int)threads)
    flush_denormals_here();
}
