/* The compute roof: independent chains of f32 multiply-adds in registers, at the processor's
 * full vector width. */
#ifndef RUNTIME_KERNELS_ROOFS_FMA_H
#define RUNTIME_KERNELS_ROOFS_FMA_H

#include <stdint.h>

/* Runs `iterations` iterations (about 6 cycles each) on each thread. Returns the total FLOP, 2 per
 * multiply-add. *result, the sum of all chains, depends on every operation. */
uint64_t pdnn_fma_run(int64_t threads, uint64_t iterations, float *result);

#endif
