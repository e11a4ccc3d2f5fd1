#include "runtime/kernels/rows/elementwise.h"

#include "runtime/kernels/simd/blocks.h"
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

/* HALVES elements at a time are widened, computed and narrowed in L1. */
static void run_half(const struct pdnn_elementwise_job *job, struct pdnn_span span) {
    const struct pdnn_elementwise_halves *halves = &job->halves;
    const enum pdnn_stored half = halves->type == PDNN_HALF_F16 ? PDNN_STORED_F16 : PDNN_STORED_BF16,
                           of_a = halves->a ? half : PDNN_STORED_F32,
                           of_b = halves->b ? half : PDNN_STORED_F32,
                           of_y = halves->y ? half : PDNN_STORED_F32;
    float wide_a[HALVES], wide_b[HALVES], wide_y[HALVES];
    for (int64_t i = span.begin; i < span.end; i += HALVES) {
        const int64_t n = pdnn_least(HALVES, span.end - i);
        const float *a = pdnn_block_read(job->a, i, n, wide_a, of_a),
                    *b = job->b ? pdnn_block_read(job->b, i, n, wide_b, of_b) : a;
        const bool bypasses = job->bypass && n == HALVES;
        float *y = pdnn_block_place(job->y, i, wide_y, of_y, bypasses);
        functions[job->function](a, b, job->coef, y, n);
        pdnn_block_write(job->y, i, y, n, of_y, bypasses);
    }
    pdnn_bypass_fence();
}

static void run_span(const struct pdnn_elementwise_job *job, struct pdnn_span span) {
    if (!job->halves.a && !job->halves.b && !job->halves.y)
        run_f32(job, span);
    else
        run_half(job, span);
}

static void run_part(void *job, int64_t index, int64_t parts) {
    const struct pdnn_elementwise_job *elementwise = job;
    run_span(elementwise, pdnn_span_of(elementwise->elements, GRAIN, index, parts));
}

PDNN_KERNEL(pdnn_elementwise_run, (const struct pdnn_elementwise_job *job, int64_t threads), (job, threads)) {
    struct pdnn_elementwise_job copy = *job;
    pdnn_team_run(threads, job->elements, run_part, &copy);
}
