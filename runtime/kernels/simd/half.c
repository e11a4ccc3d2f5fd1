#include "runtime/kernels/simd/half.h"

#include "runtime/kernels/simd/bypass.h"
#include "runtime/kernels/simd/half_lanes.h"
#include "runtime/kernels/simd/team.h"

enum { GRAIN = 1024, BLOCK = 256 };

PDNN_KERNEL(pdnn_half_widen, (enum pdnn_half type, const uint16_t *x, float *y, int64_t n), (type, x, y, n)) {
    if (type == PDNN_HALF_F16)
        pdnn_widen(x, y, n, PDNN_HALF_F16, PDNN_HALF_AHEAD);
    else
        pdnn_widen(x, y, n, PDNN_HALF_BF16, PDNN_HALF_AHEAD);
}

PDNN_KERNEL(pdnn_half_narrow, (enum pdnn_half type, const float *x, uint16_t *y, int64_t n),
            (type, x, y, n)) {
    if (type == PDNN_HALF_F16)
        pdnn_narrow(x, y, n, PDNN_HALF_F16);
    else
        pdnn_narrow(x, y, n, PDNN_HALF_BF16);
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
