#include "runtime/kernels/rows/element_loss.h"

#include "runtime/kernels/rows/elementwise_functions.h"
#include "runtime/kernels/rows/loss.h"
#include "runtime/kernels/simd/blocks.h"
#include "runtime/kernels/simd/team.h"

/* Sums are in float within a BLOCK. As in elementwise.c, gradients wait in L1 to be streamed to memory, and
 * inputs are prefetched meanwhile. */
enum { GRAIN = 1024, BLOCK = 256, AHEAD = 1024, LINE = 16 };

PDNN_INLINE float logistic(float x, int32_t label) {
    return pdnn_softplus(x) - (label > 0 ? x : 0);
}

PDNN_INLINE float squared(float x, float target) {
    return (x - target) * (x - target);
}

PDNN_INLINE float smooth(float x, float target) {
    float far = fabsf(x - target);
    return far < 1 ? 0.5F * far * far : far - 0.5F;
}

/* factor: of the mean. */
PDNN_INLINE float logistic_slope(float x, int32_t label, float factor) {
    return (label > 0 ? -factor : factor) / (1.0F + pdnn_exp(label > 0 ? x : -x));
}

PDNN_INLINE float squared_slope(float x, float target, float factor) {
    return (x - target) * (2 * factor);
}

PDNN_INLINE float smooth_slope(float x, float target, float factor) {
    return pdnn_at_least(pdnn_at_most(x - target, 1), -1) * factor;
}

/* The loops of one kind: a sum of losses, and gradients. */
#define LOOPS(name, type)                                                                                    \
    static float name##_sum(const float *x, const void *targets, int64_t n) {                                \
        const type *target = targets;                                                                        \
        float sum = 0;                                                                                       \
        _Pragma("omp simd reduction(+ : sum)") for (int64_t i = 0; i < n; i++) sum += name(x[i], target[i]); \
        return sum;                                                                                          \
    }                                                                                                        \
    static void name##_gradients(const float *x, const void *targets, float factor, float *dx, int64_t n) {  \
        const type *target = targets;                                                                        \
        _Pragma("omp simd") for (int64_t i = 0; i < n; i++) dx[i] = name##_slope(x[i], target[i], factor);   \
    }

LOOPS(logistic, int32_t)
LOOPS(squared, float)
LOOPS(smooth, float)

static const struct {
    float (*sum)(const float *x, const void *target, int64_t n);
    void (*gradients)(const float *x, const void *target, float factor, float *dx, int64_t n);
} loops[PDNN_ELEMENT_LOSS_COUNT] = {
    [PDNN_LOGISTIC_LOSS] = {logistic_sum, logistic_gradients},
    [PDNN_SQUARED_ERROR] = {squared_sum, squared_gradients},
    [PDNN_SMOOTH_L1] = {smooth_sum, smooth_gradients},
};

/* A block of x and of its targets, from number `at` on. */
struct block {
    float wide_x[BLOCK], wide_target[BLOCK];
    const float *x;
    const void *target;
};

PDNN_INLINE void read_block(const struct pdnn_element_loss_job *job, int64_t at, int64_t n,
                            struct block *block) {
    const bool has_labels = job->kind == PDNN_LOGISTIC_LOSS; /* of the size of a float */
    block->x = pdnn_block_read(job->x, at, n, block->wide_x, job->stored);
    block->target =
        pdnn_block_read(job->target, at, n, block->wide_target, has_labels ? PDNN_STORED_F32 : job->stored);
}

static void forward_part(void *state, int64_t index, int64_t parts) {
    const struct pdnn_element_loss_job *job = state;
    struct pdnn_span span = pdnn_span_of(job->elements, GRAIN, index, parts);
    struct block block;
    double sum = 0;
    for (int64_t i = span.begin; i < span.end; i += BLOCK) {
        const int64_t n = pdnn_least(BLOCK, span.end - i);
        read_block(job, i, n, &block);
        sum += (double)loops[job->kind].sum(block.x, block.target, n);
    }
    job->partial[index * PDNN_LOSS_STRIDE] = sum;
}

PDNN_KERNEL(pdnn_element_loss_forward_run, (const struct pdnn_element_loss_job *job, int64_t threads),
            (job, threads)) {
    struct pdnn_element_loss_job copy = *job;
    for (int64_t i = 0; i < threads; i++)
        job->partial[i * PDNN_LOSS_STRIDE] = 0;
    pdnn_team_run(threads, job->elements, forward_part, &copy);
    double sum = 0;
    for (int64_t i = 0; i < threads; i++)
        sum += job->partial[i * PDNN_LOSS_STRIDE];
    *job->loss = (float)(job->scale * sum / (double)job->elements);
}

/* Inputs in f32 that the hardware prefetcher would not have ready. */
PDNN_INLINE void fetch_block(const struct pdnn_element_loss_job *job, int64_t at) {
    for (int64_t k = 0; job->stored == PDNN_STORED_F32 && k < BLOCK; k += LINE) {
        __builtin_prefetch((const float *)job->x + at + AHEAD + k);
        __builtin_prefetch((const float *)job->target + at + AHEAD + k);
    }
}

static void backward_part(void *state, int64_t index, int64_t parts) {
    const struct pdnn_element_loss_job *job = state;
    struct pdnn_span span = pdnn_span_of(job->elements, GRAIN, index, parts);
    float factor = (float)(job->scale / (double)job->elements), room[BLOCK];
    struct block block;
    for (int64_t i = span.begin; i < span.end; i += BLOCK) {
        const int64_t n = pdnn_least(BLOCK, span.end - i);
        const bool bypass = job->bypass && n == BLOCK;
        float *dx = pdnn_block_place(job->dx, i, room, job->stored, bypass);
        read_block(job, i, n, &block);
        if (bypass)
            fetch_block(job, i);
        loops[job->kind].gradients(block.x, block.target, factor, dx, n);
        pdnn_block_write(job->dx, i, dx, n, job->stored, bypass);
    }
    pdnn_bypass_fence();
}

PDNN_KERNEL(pdnn_element_loss_backward_run, (const struct pdnn_element_loss_job *job, int64_t threads),
            (job, threads)) {
    struct pdnn_element_loss_job copy = *job;
    pdnn_team_run(threads, job->elements, backward_part, &copy);
}
