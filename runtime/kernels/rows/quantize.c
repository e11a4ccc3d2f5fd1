#include "runtime/kernels/rows/quantize.h"

#include "runtime/kernels/simd/kernel.h"

#include <string.h>

/* GRAIN values are whole cache lines, as bytes and as floats. Each thread's maximum has its
 * own cache line. */
enum { GRAIN = 1024, LINE_WORDS = 16, MOST = 127 };

union word {
    float value;
    int32_t bits;
};

/* Without the sign bit, floats are ordered like their bit patterns. NaN is the largest, so it propagates. */
static int32_t largest(const float *x, int64_t n) {
    int32_t most = 0;
#pragma omp simd reduction(max : most)
    for (int64_t i = 0; i < n; i++) {
        union word word = {x[i]};
        int32_t bits = word.bits & INT32_MAX;
        most = bits > most ? bits : most;
    }
    return most;
}

/* Adding 1.5 * 2^23 rounds to an integer in the low bits of the sum; its lowest byte is the int8. */
static void round_values(const float *x, float factor, int32_t zero_point, int8_t *q, int64_t n) {
    const float rounder = 12582912.0F;
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        union word sum = {x[i] * factor + rounder};
        q[i] = (int8_t)(sum.bits + zero_point);
    }
}

PDNN_KERNEL_VALUE(int64_t, pdnn_quantize_scratch, (int64_t threads), (threads)) {
    return threads * LINE_WORDS;
}

static void find_largest(void *work, int64_t index, int64_t parts) {
    const struct pdnn_quantize_job *job = work;
    struct pdnn_span span = pdnn_span_of(job->elements, GRAIN, index, parts);
    job->scratch[index * LINE_WORDS] = largest(job->x + span.begin, span.end - span.begin);
}

static void round_part(void *work, int64_t index, int64_t parts) {
    const struct pdnn_quantize_job *job = work;
    struct pdnn_span span = pdnn_span_of(job->elements, GRAIN, index, parts);
    round_values(job->x + span.begin, 1 / job->scale[0], job->zero_point, job->q + span.begin,
                 span.end - span.begin);
}

PDNN_KERNEL(pdnn_quantize_run, (const struct pdnn_quantize_job *job, int64_t threads), (job, threads)) {
    struct pdnn_quantize_job copy = *job;
    union word most = {0};
    for (int64_t i = 0; i < threads; i++)
        job->scratch[i * LINE_WORDS] = 0; /* small tensors use only one thread */
    pdnn_team_run(threads, job->elements, find_largest, &copy);
    for (int64_t i = 0; i < threads; i++)
        most.bits = job->scratch[i * LINE_WORDS] > most.bits ? job->scratch[i * LINE_WORDS] : most.bits;
    float scale = most.value / MOST;
    *job->scale = scale == 0 ? 1 : scale;
    pdnn_team_run(threads, job->elements, round_part, &copy);
}

static void scale_by_one(const int32_t *x, float factor, float *y, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = (float)x[i] * factor;
}

static void scale_each(const int32_t *x, const float *factor, float *y, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = (float)x[i] * factor[i];
}

/* A row is all pixels of one channel (plain layout), or one pixel's block of channels. */
static void scale_rows(void *work, int64_t index, int64_t parts) {
    const struct pdnn_dequantize_job *job = work;
    const struct pdnn_channels *shape = &job->shape;
    int64_t blocks = pdnn_channels_padded(shape) / shape->block;
    bool is_plain = shape->block == 1;
    int64_t per_block = is_plain ? 1 : shape->pixels, width = is_plain ? shape->pixels : shape->block;
    struct pdnn_span rows = pdnn_span_of(shape->N * blocks * per_block, 1, index, parts);
    for (int64_t i = rows.begin; i < rows.end; i++) {
        const float *factor = job->factor + i / per_block % blocks * shape->block;
        if (is_plain)
            scale_by_one(job->x + i * width, *factor, job->y + i * width, width);
        else
            scale_each(job->x + i * width, factor, job->y + i * width, width);
    }
}

PDNN_KERNEL(pdnn_dequantize_factors, (const float *x_scale, const float *w_scale, float *factor, int64_t C),
            (x_scale, w_scale, factor, C)) {
    for (int64_t c = 0; c < C; c++)
        factor[c] = *x_scale * w_scale[c];
}

PDNN_KERNEL(pdnn_dequantize_run, (const struct pdnn_dequantize_job *job, int64_t threads), (job, threads)) {
    struct pdnn_dequantize_job copy = *job;
    int64_t padded = pdnn_channels_padded(&job->shape);
    memset(job->factor, 0, (size_t)padded * sizeof *job->factor);
    pdnn_dequantize_factors(job->x_scale, job->w_scale, job->factor, job->shape.C);
    pdnn_team_run(threads, pdnn_channels_elements(&job->shape), scale_rows, &copy);
}
