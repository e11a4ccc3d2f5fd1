#define _POSIX_C_SOURCE 200809L
#include "runtime/core/clock.h"

#include "runtime/core/stats.h"

#include <stddef.h>
#include <time.h>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

uint64_t pdnn_clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

int64_t pdnn_clock_unix_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

uint64_t pdnn_clock_read_cost_ns(void) {
    enum { BLOCKS = 31, READS = 64 };
    double cost_ns[BLOCKS];
    for (size_t block = 0; block < BLOCKS; block++) {
        uint64_t start = pdnn_clock_ns(), end = start;
        for (size_t i = 0; i < READS; i++)
            end = pdnn_clock_ns();
        cost_ns[block] = (double)(end - start) / READS;
    }
    return (uint64_t)(pdnn_median(cost_ns, BLOCKS) + 0.5);
}

/* The mode is per thread, and new threads inherit it only on some systems: each sets its own. */
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
