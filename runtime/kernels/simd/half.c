#include "runtime/kernels/simd/half.h"

#include "runtime/kernels/simd/bypass.h"
#include "runtime/kernels/simd/half_lanes.h"
#include "runtime/kernels/simd/team.h"

/* Vectors of four are left to the compiler. Reads go on AHEAD elements behind: the hardware prefetcher stops
 * at each row or piece. */
enum { GRAIN = 1024, AHEAD = 2048, LINE = 32, BLOCK = 256 };

PDNN_INLINE void widen(const uint16_t *x, float *y, int64_t n, const enum pdnn_half type) {
    int64_t done = 0;
    for (; PDNN_LANES > 4 && done + PDNN_LANES <= n; done += PDNN_LANES) {
        pdnn_floats v;
        if (done % LINE == 0)
            __builtin_prefetch(x + done + AHEAD);
        pdnn_load_half(&v, x + done, type);
        pdnn_store(y + done, &v);
    }
#pragma omp simd
    for (int64_t i = done; i < n; i++)
        y[i] = pdnn_half_value(x[i], type);
}

PDNN_INLINE void narrow(const float *x, uint16_t *y, int64_t n, const enum pdnn_half type) {
    int64_t done = 0;
    for (; PDNN_LANES > 4 && done + PDNN_LANES <= n; done += PDNN_LANES) {
        pdnn_floats v;
        pdnn_load(&v, x + done);
        pdnn_store_half(y + done, &v, type);
    }
#pragma omp simd
    for (int64_t i = done; i < n; i++)
        y[i] = pdnn_half_of_value(x[i], type);
}

PDNN_KERNEL(pdnn_half_widen, (enum pdnn_half type, const uint16_t *x, float *y, int64_t n), (type, x, y, n)) {
    if (type == PDNN_HALF_F16)
        widen(x, y, n, PDNN_HALF_F16);
    else
        widen(x, y, n, PDNN_HALF_BF16);
}

PDNN_KERNEL(pdnn_half_narrow, (enum pdnn_half type, const float *x, uint16_t *y, int64_t n),
            (type, x, y, n)) {
    if (type == PDNN_HALF_F16)
        narrow(x, y, n, PDNN_HALF_F16);
    else
        narrow(x, y, n, PDNN_HALF_BF16);
}

PDNN_KERNEL(pdnn_half_narrow_bypass, (enum pdnn_half type, const float *x, uint16_t *y, int64_t n),
            (type, x, y, n)) {
    const int64_t pair = 2;
    uint16_t block[BLOCK];
    for (int64_t i = 0; i < n; i += BLOCK) {
        const int64_t now = pdnn_least(BLOCK, n - i);
        PDNN_HERE(pdnn_half_narrow)(type, x + i, block, now);
        pdnn_bypass_copy((float *)(void *)(y + i), (const float *)(const void *)block, now / pair);
    }
}

struct job {
    enum pdnn_half type;
    uint16_t *half;
    float *wide;
    const uint16_t *half_source;
    const float *wide_source; /* NULL: widen */
    int64_t n;
};

static void run_part(void *work, int64_t index, int64_t parts) {
    const struct job *job = work;
    struct pdnn_span span = pdnn_span_of(job->n, GRAIN, index, parts);
    int64_t n = span.end - span.begin;
    if (job->wide_source)
        PDNN_HERE(pdnn_half_narrow)(job->type, job->wide_source + span.begin, job->half + span.begin, n);
    else
        PDNN_HERE(pdnn_half_widen)(job->type, job->half_source + span.begin, job->wide + span.begin, n);
}

PDNN_KERNEL(pdnn_half_widen_all,
            (enum pdnn_half type, const uint16_t *x, float *y, int64_t n, int64_t threads),
            (type, x, y, n, threads)) {
    struct job job = {.type = type, .half_source = x, .wide = y, .n = n};
    pdnn_team_run(threads, n, run_part, &job);
}

PDNN_KERNEL(pdnn_half_narrow_all,
            (enum pdnn_half type, const float *x, uint16_t *y, int64_t n, int64_t threads),
            (type, x, y, n, threads)) {
    struct job job = {.type = type, .wide_source = x, .half = y, .n = n};
    pdnn_team_run(threads, n, run_part, &job);
}
