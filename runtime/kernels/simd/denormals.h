/* The floating-point mode that every measured thread runs in. */
#ifndef RUNTIME_KERNELS_SIMD_DENORMALS_H
#define RUNTIME_KERNELS_SIMD_DENORMALS_H

#include <stdint.h>

/* Flushes denormals to zero in the calling thread and in the `threads` threads of the OpenMP pool. */
void pdnn_flush_denormals(int64_t threads);

#endif
