#include "runtime/kernels/roofs/fma.h"

#include "runtime/kernels/simd/lanes.h"

#if defined(__aarch64__)
#include <arm_neon.h>
#endif

/* Two FMA units with a latency of 4 or 5 cycles need 8 to 10 chains; 12 plus two constants still
 * fit 16 registers. Arm's processors have up to four units, and 32 registers. */
#if defined(__aarch64__)
enum { CHAINS = 24 };
#else
enum { CHAINS = 12 };
#endif

/* x = x * 0.5 + 1 converges to 2: no overflow, no denormals. Arm's instruction overwrites what it adds to,
 * and a copy of the 1 for every step would take half the units, so there x = x + 2^-20 * 2^-20, which is x.
 * Volatile, so that the compiler cannot see the fixed point and drop the loop. */
#if defined(__aarch64__)
static const volatile float the_factor = 0x1p-20F, the_addend = 0x1p-20F;
#else
static const volatile float the_factor = 0.5f, the_addend = 1.0f;
#endif

PDNN_INLINE void step(pdnn_floats *x, const pdnn_floats *m, const pdnn_floats *a) {
#if defined(__aarch64__)
    *x = vfmaq_f32(*x, *m, *a);
#else
    *x = *x * *m + *a;
#endif
}

static float run_chains(uint64_t iterations, float factor, float addend) {
    pdnn_floats chain[CHAINS], m, a;
    for (int lane = 0; lane < PDNN_LANES; lane++) {
        m[lane] = factor;
        a[lane] = addend;
    }
    /* Every chain ends near 2, and no two are the same. Loops are unrolled, to keep them in registers. */
#pragma GCC unroll 24
    for (int i = 0; i < CHAINS; i++)
        chain[i] = (pdnn_floats){0} + (2 + (float)i * 0x1p-20F);
    for (uint64_t n = 0; n < iterations; n++) {
#pragma GCC unroll 24
        for (int i = 0; i < CHAINS; i++)
            step(&chain[i], &m, &a);
    }
    float sum = 0;
#pragma GCC unroll 24
    for (int i = 0; i < CHAINS; i++) {
        for (int lane = 0; lane < PDNN_LANES; lane++)
            sum += chain[i][lane];
    }
    return sum;
}

PDNN_ROOF(uint64_t, pdnn_fma_run, (int64_t threads, uint64_t iterations, float *result),
          (threads, iterations, result)) {
    uint64_t flop = 0;
    float sum = 0;
#pragma omp parallel num_threads((int)threads) reduction(+ : flop, sum)
    {
        sum += run_chains(iterations, the_factor, the_addend);
        flop += UINT64_C(2) * CHAINS * PDNN_LANES * iterations;
    }
    *result = sum;
    return flop;
}
