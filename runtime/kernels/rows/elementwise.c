#include "runtime/kernels/rows/elementwise.h"

#include "runtime/kernels/simd/bypass.h"
#include "runtime/kernels/simd/half_lanes.h"
#include "runtime/kernels/simd/kernel.h"
#include "runtime/kernels/simd/team.h"

/* GRAIN floats are whole cache lines. Results wait in L1, a BLOCK at a time, to be streamed to memory.
 * Meanwhile inputs are prefetched AHEAD floats ahead, because the hardware prefetcher stops at each block.
 * HALVES 16-bit elements are widened at a time. */
enum { GRAIN = 1024, BLOCK = 128, AHEAD = 1024, LINE = 16, HALVES = 512 };

/* y[i] = f(a[i], b[i]). Functions of one argument get a for b. */
#define DEFINE(name, ...)                                                                                    \
    static void name(const float *as, const float *bs, const float *coef, float *y, int64_t n) {             \
        const float c0 = coef[0], c1 = coef[1];                                                              \
        (void)c0, (void)c1;                                                                                  \
        _Pragma("omp simd") for (int64_t i = 0; i < n; i++) {                                                \
            const float a = as[i], b = bs[i];                                                                \
            (void)a, (void)b;                                                                                \
            y[i] = __VA_ARGS__;                                                                              \
        }                                                                                                    \
    }
PDNN_ELEMENTWISE_FUNCTIONS(DEFINE)

#define ROW(name, ...) [PDNN_##name] = name,
static void (*const functions[])(const float *a, const float *b, const float *c, float *y,
                                 int64_t n) = {PDNN_ELEMENTWISE_FUNCTIONS(ROW)};

static void run_f32(const struct pdnn_elementwise_job *job, struct pdnn_span span) {
    const float *a = job->a, *b = job->b ? job->b : a;
    float *y = job->y;
    int64_t i = span.begin;
    if (job->bypass) {
        float block[BLOCK];
        for (; i + AHEAD + BLOCK <= span.end; i += BLOCK) {
            functions[job->function](a + i, b + i, job->coef, block, BLOCK);
            for (int64_t k = 0; k < BLOCK; k += LINE) {
                __builtin_prefetch(a + i + AHEAD + k);
                __builtin_prefetch(b + i + AHEAD + k);
                pdnn_bypass_copy(y + i + k, block + k, LINE);
            }
        }
        pdnn_bypass_fence();
    }
    functions[job->function](a + i, b + i, job->coef, y + i, span.end - i);
}

/* n elements of an operand from i on, in f32, and some of those that follow fetched meanwhile. */
PDNN_INLINE const float *widen(const void *x, int64_t i, int64_t n, float *block, bool is_half,
                               const enum pdnn_half type) {
    const uint16_t *from = (const uint16_t *)x + i;
    int64_t k = 0;
    if (!is_half)
        return (const float *)x + i;
    for (; k + PDNN_LANES <= n; k += PDNN_LANES) {
        pdnn_floats v;
        if (k % (2 * LINE) == 0)
            __builtin_prefetch(from + k + 2 * AHEAD);
        pdnn_load_half(&v, from + k, type);
        pdnn_store(block + k, &v);
    }
    for (; k < n; k++)
        block[k] = pdnn_half_value(from[k], type);
    return block;
}

PDNN_INLINE void narrow(const float *x, uint16_t *y, int64_t n, const enum pdnn_half type) {
    int64_t k = 0;
    for (; k + PDNN_LANES <= n; k += PDNN_LANES) {
        pdnn_floats v;
        pdnn_load(&v, x + k);
        pdnn_store_half(y + k, &v, type);
    }
    for (; k < n; k++)
        y[k] = pdnn_half_of_value(x[k], type);
}

/* HALVES elements at a time are widened, computed and narrowed in L1. */
PDNN_INLINE void run_half(const struct pdnn_elementwise_job *job, struct pdnn_span span,
                          const enum pdnn_half type) {
    const bool narrows = job->halves.y;
    float wide_a[HALVES], wide_b[HALVES], wide_y[HALVES];
    uint16_t narrowed[HALVES];
    for (int64_t i = span.begin; i < span.end; i += HALVES) {
        const int64_t n = pdnn_least(HALVES, span.end - i);
        const float *a = widen(job->a, i, n, wide_a, job->halves.a, type),
                    *b = job->b ? widen(job->b, i, n, wide_b, job->halves.b, type) : a;
        const bool bypasses = job->bypass && narrows && n == HALVES;
        uint16_t *y = (uint16_t *)job->y + i;
        functions[job->function](a, b, job->coef, narrows ? wide_y : (float *)job->y + i, n);
        if (narrows)
            narrow(wide_y, bypasses ? narrowed : y, n, type);
        if (bypasses)
            pdnn_bypass_copy((float *)(void *)y, (const float *)(const void *)narrowed, HALVES / 2);
    }
    pdnn_bypass_fence();
}

static void run_span(const struct pdnn_elementwise_job *job, struct pdnn_span span) {
    if (!job->halves.a && !job->halves.b && !job->halves.y)
        run_f32(job, span);
    else if (job->halves.type == PDNN_HALF_F16)
        run_half(job, span, PDNN_HALF_F16);
    else
        run_half(job, span, PDNN_HALF_BF16);
}

static void run_part(void *job, int64_t index, int64_t parts) {
    const struct pdnn_elementwise_job *elementwise = job;
    run_span(elementwise, pdnn_span_of(elementwise->elements, GRAIN, index, parts));
}

PDNN_KERNEL(pdnn_elementwise_run, (const struct pdnn_elementwise_job *job, int64_t threads), (job, threads)) {
    struct pdnn_elementwise_job copy = *job;
    pdnn_team_run(threads, job->elements, run_part, &copy);
}
