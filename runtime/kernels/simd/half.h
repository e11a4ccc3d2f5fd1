/* Conversion of arrays between 16-bit floats (base/half.h) and f32. */
#ifndef RUNTIME_KERNELS_SIMD_HALF_H
#define RUNTIME_KERNELS_SIMD_HALF_H

#include "base/half.h"

/* y[i] = x[i], on the calling thread; the arrays must not overlap. */
void pdnn_half_widen(enum pdnn_half type, const uint16_t *x, float *y, int64_t n);
void pdnn_half_narrow(enum pdnn_half type, const float *x, uint16_t *y, int64_t n);

/* The same with streaming stores (bypass.h), for results that no cache should hold; y is 16-byte aligned and
 * n a multiple of 8. */
void pdnn_half_narrow_bypass(enum pdnn_half type, const float *x, uint16_t *y, int64_t n);

/* The same on all threads. */
void pdnn_half_widen_all(enum pdnn_half type, const uint16_t *x, float *y, int64_t n, int64_t threads);
void pdnn_half_narrow_all(enum pdnn_half type, const float *x, uint16_t *y, int64_t n, int64_t threads);

#endif
