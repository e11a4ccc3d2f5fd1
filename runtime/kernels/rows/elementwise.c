#include "runtime/kernels/rows/elementwise.h"

#include "runtime/kernels/simd/bypass.h"
#include "runtime/kernels/simd/kernel.h"
#include "runtime/kernels/simd/team.h"

/* GRAIN floats are whole cache lines. Results wait in L1, a BLOCK at a time, to be streamed to memory.
 * Meanwhile inputs are prefetched AHEAD floats ahead, because the hardware prefetcher stops at each block. */
enum { GRAIN = 1024, BLOCK = 128, AHEAD = 1024, LINE = 16 };

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
