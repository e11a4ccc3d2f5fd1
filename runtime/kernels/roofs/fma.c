#include "runtime/kernels/roofs/fma.h"

#include <stddef.h>

/* Two units with a latency of 4 or 5 cycles want 8 to 10 chains; 12 and the two constants still fit 16
 * registers. */
enum { CHAINS = 12 };

/* x = x * 0.5 + 1 tends to 2: no overflow, no denormals. Volatile, or the compiler would see where a chain
 * ends and leave it out. */
static const volatile float the_factor = 0.5f, the_addend = 1.0f;

#define PDNN_KERNEL "runtime/kernels/roofs/fma_kernel.h"
#include "runtime/kernels/simd/isa_variants.h"

struct variant {
    const char *name;
    bool (*usable)(void);
    float (*run)(uint64_t iterations, float factor, float addend);
    const uint64_t *lanes;
};

#define VARIANT_ROW(name) {#name, pdnn_isa_has_##name, fma_##name, &lanes_##name},
static const struct variant variants[] = {PDNN_ISA_VARIANTS(VARIANT_ROW)};

static const struct variant *widest(void) {
    const struct variant *variant = variants;
    while (!variant->usable())
        variant++;
    return variant;
}

const char *pdnn_fma_variant(void) {
    return widest()->name;
}

uint64_t pdnn_fma_run(int64_t threads, uint64_t iterations, float *result) {
    const struct variant *variant = widest();
    uint64_t flop = 0;
    float sum = 0;
#pragma omp parallel num_threads((int)threads) reduction(+ : flop, sum)
    {
        sum += variant->run(iterations, the_factor, the_addend);
        flop += 2 * CHAINS * *variant->lanes * iterations;
    }
    *result = sum;
    return flop;
}
