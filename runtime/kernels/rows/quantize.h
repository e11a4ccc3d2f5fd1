/* Conversion between f32 and int8: quantizes a tensor by its largest absolute value, and converts sums of
 * int8 products back to f32. Formulas: models/ops/quantize.c and dequantize.c. N minibatch, C channels. */
#ifndef RUNTIME_KERNELS_ROWS_QUANTIZE_H
#define RUNTIME_KERNELS_ROWS_QUANTIZE_H

#include "runtime/kernels/images/channels.h"

struct pdnn_quantize_job {
    const float *x;
    int8_t *q;          /* in the layout of x */
    float *scale;       /* (1) */
    int32_t *scratch;   /* pdnn_quantize_scratch words */
    int64_t elements;   /* with padding */
    int32_t zero_point; /* added to every value: 128 gives unsigned bytes */
};

int64_t pdnn_quantize_scratch(int64_t threads);
void pdnn_quantize_run(const struct pdnn_quantize_job *job, int64_t threads);

struct pdnn_dequantize_job {
    struct pdnn_channels shape;
    const int32_t *x;
    const float *x_scale, *w_scale; /* (1), (C) */
    float *y;                       /* may be the memory of x */
    float *factor;                  /* scratch: one float per channel, with padding */
};

void pdnn_dequantize_run(const struct pdnn_dequantize_job *job, int64_t threads);

/* factor[c] = x_scale * w_scale[c] for C channels. */
void pdnn_dequantize_factors(const float *x_scale, const float *w_scale, float *factor, int64_t C);

#endif
