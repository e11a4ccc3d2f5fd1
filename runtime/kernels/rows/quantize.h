/* Between f32 and int8: the largest absolute value of a tensor and its values in steps of that, and sums of
 * int8 products back to f32. models/ops/quantize.c and dequantize.c have the formulas. N minibatch, C
 * channels. */
#ifndef RUNTIME_KERNELS_ROWS_QUANTIZE_H
#define RUNTIME_KERNELS_ROWS_QUANTIZE_H

#include "runtime/kernels/images/channels.h"

struct pdnn_quantize_job {
    const float *x;
    int8_t *q;          /* in the layout of x */
    float *scale;       /* one */
    int32_t *scratch;   /* pdnn_quantize_scratch words */
    int64_t elements;   /* padding included */
    int32_t zero_point; /* added to every value: 128 makes it an unsigned byte */
};

int64_t pdnn_quantize_scratch(int64_t threads);
void pdnn_quantize_run(const struct pdnn_quantize_job *job, int64_t threads);

struct pdnn_dequantize_job {
    struct pdnn_channels shape;
    const int32_t *x;
    const float *x_scale, *w_scale; /* one, (C) */
    float *y;                       /* may be where x is */
    float *factor; /* scratch: as many floats as there are channels with those of the padding */
};

void pdnn_dequantize_run(const struct pdnn_dequantize_job *job, int64_t threads);

/* factor[c] = x_scale w_scale[c], of C channels. */
void pdnn_dequantize_factors(const float *x_scale, const float *w_scale, float *factor, int64_t C);

#endif
