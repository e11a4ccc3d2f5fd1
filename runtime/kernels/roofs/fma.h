/* The compute roof: independent chains of f32 multiply-adds in registers, as wide as the processor has them.
 */
#ifndef RUNTIME_KERNELS_ROOFS_FMA_H
#define RUNTIME_KERNELS_ROOFS_FMA_H

#include <stdint.h>

/* Runs so many iterations (of about 6 cycles) on each thread. Returns the FLOP done by all of them, 2 per
 * multiply-add. *result is the sum of all chains: it depends on every one of the operations. */
uint64_t pdnn_fma_run(int64_t threads, uint64_t iterations, float *result);

#endif
