#include "runtime/kernels/simd/half.h"

#include "base/half.h"
#include "runtime/kernels/simd/kernel.h"
#include "runtime/kernels/simd/team.h"

enum { GRAIN = 1024 };

static void widen_bf16(const uint16_t *x, float *y, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = pdnn_bf16_value(x[i]);
}

static void widen_f16(const uint16_t *x, float *y, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = pdnn_f16_value(x[i]);
}

static void narrow_bf16(const float *x, uint16_t *y, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = pdnn_bf16_of(x[i]);
}

static void narrow_f16(const float *x, uint16_t *y, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = pdnn_f16_of(x[i]);
}

static const struct {
    void (*widen)(const uint16_t *x, float *y, int64_t n);
    void (*narrow)(const float *x, uint16_t *y, int64_t n);
} types[PDNN_HALF_COUNT] = {
    [PDNN_HALF_BF16] = {widen_bf16, narrow_bf16},
    [PDNN_HALF_F16] = {widen_f16, narrow_f16},
};

PDNN_KERNEL(pdnn_half_widen, (enum pdnn_half type, const uint16_t *x, float *y, int64_t n), (type, x, y, n)) {
    types[type].widen(x, y, n);
}

PDNN_KERNEL(pdnn_half_narrow, (enum pdnn_half type, const float *x, uint16_t *y, int64_t n),
            (type, x, y, n)) {
    types[type].narrow(x, y, n);
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
        pdnn_half_narrow(job->type, job->wide_source + span.begin, job->half + span.begin, n);
    else
        pdnn_half_widen(job->type, job->half_source + span.begin, job->wide + span.begin, n);
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
