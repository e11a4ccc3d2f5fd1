#include "runtime/kernels/rows/elementwise.h"

#include "runtime/kernels/simd/bypass.h"
#include "runtime/kernels/simd/kernel.h"
#include "runtime/kernels/simd/team.h"
#include "runtime/kernels/simd/vmath.h"

#include <math.h>

/* GRAIN floats are whole cache lines. A BLOCK of results waits in L1 before it is streamed to memory; AHEAD
 * of it, the inputs are fetched meanwhile, since the processor's own prefetching stops at each block. */
enum { GRAIN = 1024, BLOCK = 128, AHEAD = 1024, LINE = 16 };

static void relu_forward(const float *a, const float *b, const float *c, float *y, int64_t n) {
    (void)b, (void)c;
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = a[i] < 0 ? 0 : a[i]; /* NaN stays */
}

static void relu_backward(const float *a, const float *b, const float *c, float *y, int64_t n) {
    (void)c;
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = b[i] > 0 ? a[i] : 0;
}

static void sigmoid_forward(const float *a, const float *b, const float *c, float *y, int64_t n) {
    (void)b, (void)c;
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = 1.0F / (1.0F + pdnn_exp(-a[i]));
}

static void sigmoid_backward(const float *a, const float *b, const float *c, float *y, int64_t n) {
    (void)c;
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = a[i] * b[i] * (1.0F - b[i]);
}

static void tanh_forward(const float *a, const float *b, const float *c, float *y, int64_t n) {
    (void)b, (void)c;
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = pdnn_tanh(a[i]);
}

static void tanh_backward(const float *a, const float *b, const float *c, float *y, int64_t n) {
    (void)c;
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = a[i] * (1.0F - b[i] * b[i]);
}

/* From `far` on, gelu is x or next to 0; x or |x| no further than that keeps exp in its range and products
 * from overflowing. NaN stays. */
static inline float at_most(float x, float far) {
    return x > far ? far : x;
}

static inline float at_least(float x, float far) {
    return x < far ? far : x;
}

static const float gelu_far = 12.5F, gelu_tanh_far = 9.9F;

/* y = max(x, 0) - u P(-u) with u = |x| and P as in vmath.h. */
static void gelu_forward(const float *a, const float *b, const float *c, float *y, int64_t n) {
    (void)b, (void)c;
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        float u = at_most(fabsf(a[i]), gelu_far);
        y[i] = at_least(a[i], 0) - u * (pdnn_exp_within(-0.5F * u * u) * pdnn_normal_ratio(u));
    }
}

/* The slope at -u is P(-u) - u p(u), that at u 1 less it. */
static void gelu_backward(const float *a, const float *b, const float *c, float *y, int64_t n) {
    (void)c;
    const float density_at_0 = 0.39894228F;
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        float u = at_most(fabsf(b[i]), gelu_far);
        float below = pdnn_exp_within(-0.5F * u * u) * (pdnn_normal_ratio(u) - density_at_0 * u);
        y[i] = a[i] * (b[i] < 0 ? below : 1.0F - below);
    }
}

/* (1 + tanh(u)) / 2 is sigmoid(2 u), and 2 u = x (linear + cubic x^2). */
static const float linear = 1.5957691216F, cubic = 0.0713548163F;

static void gelu_tanh_forward(const float *a, const float *b, const float *c, float *y, int64_t n) {
    (void)b, (void)c;
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        float above = at_least(a[i], -gelu_tanh_far), x = at_most(above, gelu_tanh_far);
        y[i] = above / (1.0F + pdnn_exp_within(-x * (linear + cubic * (x * x))));
    }
}

/* The slope is s + x s (1 - s) (linear + 3 cubic x^2) with s = 1 / (1 + e); 1 - s = e s. */
static void gelu_tanh_backward(const float *a, const float *b, const float *c, float *y, int64_t n) {
    (void)c;
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        float x = at_most(at_least(b[i], -gelu_tanh_far), gelu_tanh_far), square = x * x;
        float e = pdnn_exp_within(-x * (linear + cubic * square)), s = 1.0F / (1.0F + e);
        y[i] = a[i] * (s + x * s * (e * s) * (linear + 3.0F * cubic * square));
    }
}

static void add(const float *a, const float *b, const float *c, float *y, int64_t n) {
    (void)c;
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = a[i] + b[i];
}

static void scale(const float *a, const float *b, const float *c, float *y, int64_t n) {
    (void)b;
    float factor = c[0];
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = factor * a[i];
}

static void hardtanh_forward(const float *a, const float *b, const float *c, float *y, int64_t n) {
    (void)b;
    float low = c[0], high = c[1];
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        float raised = a[i] > low ? a[i] : low;
        y[i] = raised < high ? raised : high;
    }
}

static void hardtanh_backward(const float *a, const float *b, const float *c, float *y, int64_t n) {
    float low = c[0], high = c[1];
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = (b[i] > low) & (b[i] < high) ? a[i] : 0;
}

static void (*const functions[])(const float *a, const float *b, const float *c, float *y, int64_t n) = {
    [PDNN_RELU_FORWARD] = relu_forward,
    [PDNN_RELU_BACKWARD] = relu_backward,
    [PDNN_SIGMOID_FORWARD] = sigmoid_forward,
    [PDNN_SIGMOID_BACKWARD] = sigmoid_backward,
    [PDNN_TANH_FORWARD] = tanh_forward,
    [PDNN_TANH_BACKWARD] = tanh_backward,
    [PDNN_GELU_FORWARD] = gelu_forward,
    [PDNN_GELU_BACKWARD] = gelu_backward,
    [PDNN_GELU_TANH_FORWARD] = gelu_tanh_forward,
    [PDNN_GELU_TANH_BACKWARD] = gelu_tanh_backward,
    [PDNN_HARDTANH_FORWARD] = hardtanh_forward,
    [PDNN_HARDTANH_BACKWARD] = hardtanh_backward,
    [PDNN_ADD] = add,
    [PDNN_SCALE] = scale,
};
_Static_assert(sizeof functions / sizeof *functions == PDNN_ELEMENTWISE_COUNT, "one function per row");

static void run_span(const struct pdnn_elementwise_job *job, struct pdnn_span span) {
    const float *b = job->b ? job->b : job->a;
    int64_t i = span.begin;
    if (job->bypass) {
        float block[BLOCK];
        for (; i + AHEAD + BLOCK <= span.end; i += BLOCK) {
            functions[job->function](job->a + i, b + i, job->coef, block, BLOCK);
            for (int64_t k = 0; k < BLOCK; k += LINE) {
                __builtin_prefetch(job->a + i + AHEAD + k);
                __builtin_prefetch(b + i + AHEAD + k);
                pdnn_bypass_copy(job->y + i + k, block + k, LINE);
            }
        }
        pdnn_bypass_fence();
    }
    functions[job->function](job->a + i, b + i, job->coef, job->y + i, span.end - i);
}

static void run_part(void *job, int64_t index, int64_t parts) {
    const struct pdnn_elementwise_job *elementwise = job;
    run_span(elementwise, pdnn_span_of(elementwise->elements, GRAIN, index, parts));
}

PDNN_KERNEL(pdnn_elementwise_run, (const struct pdnn_elementwise_job *job, int64_t threads), (job, threads)) {
    struct pdnn_elementwise_job copy = *job;
    pdnn_team_run(threads, job->elements, run_part, &copy);
}
