#include "runtime/kernels/rows/mean.h"

#include "runtime/kernels/rows/add_rows.h"

/* Sums of COLUMNS columns stay in L1. Equal values are stored SHARES at a time. */
enum { COLUMNS = PDNN_SUM_COLUMNS, GRAIN = 16, SHARES = 128 };

static const float *load(const struct pdnn_mean_job *job, const void *values, int64_t at, float *buffer,
                         int64_t n) {
    return pdnn_block_read(values, at, n, buffer, job->stored);
}

static void store(const struct pdnn_mean_job *job, const float *values, void *to, int64_t at, int64_t n) {
    if (job->stored == PDNN_STORED_F32)
        memcpy((float *)to + at, values, (size_t)n * sizeof *values);
    else
        pdnn_block_write(to, at, values, n, job->stored, false);
}

/* At most COLUMNS results of one outer index, from column `first` on. */
static void mean_of_rows(const struct pdnn_mean_job *job, int64_t outer, int64_t first, int64_t n) {
    float sums[COLUMNS];
    const char *at =
        (const char *)job->x + (outer * job->n * job->inner + first) * pdnn_stored_bytes(job->stored);
    memset(sums, 0, (size_t)n * sizeof *sums);
    pdnn_add_stored_rows(at, job->inner, job->n, sums, n, job->stored);
    for (int64_t i = 0; i < n; i++)
        sums[i] /= (float)job->n;
    store(job, sums, job->y, outer * job->inner + first, n);
}

static void mean_of_columns(const struct pdnn_mean_job *job, int64_t outer) {
    double total = 0;
    float block[COLUMNS];
    for (int64_t first = 0; first < job->n; first += COLUMNS) {
        int64_t n = pdnn_least(COLUMNS, job->n - first);
        const float *x = load(job, job->x, outer * job->n + first, block, n);
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = 0; i < n; i++)
            sum += x[i];
        total += (double)sum;
    }
    float mean = (float)(total / (double)job->n);
    store(job, &mean, job->y, outer, 1);
}

static void forward_part(void *work, int64_t index, int64_t parts) {
    const struct pdnn_mean_job *job = work;
    struct pdnn_span span = pdnn_span_of(job->outer * job->inner, job->inner == 1 ? 1 : GRAIN, index, parts);
    while (span.begin < span.end) {
        int64_t outer = span.begin / job->inner, first = span.begin % job->inner;
        int64_t n = pdnn_least(pdnn_least(COLUMNS, job->inner - first), span.end - span.begin);
        if (job->inner == 1)
            mean_of_columns(job, outer);
        else
            mean_of_rows(job, outer, first, n);
        span.begin += n;
    }
}

PDNN_KERNEL(pdnn_mean_forward, (const struct pdnn_mean_job *job, int64_t threads), (job, threads)) {
    struct pdnn_mean_job copy = *job;
    pdnn_team_run(threads, job->outer * job->n * job->inner, forward_part, &copy);
}

static void copy_out(const struct pdnn_mean_job *job, const void *values, int64_t at, int64_t n) {
    const int64_t bytes = pdnn_stored_bytes(job->stored);
    char *to = (char *)job->x + at * bytes;
    if (job->bypass && (uintptr_t)to % 16 == 0 && n * bytes % 16 == 0)
        pdnn_bypass_copy((float *)(void *)to, values, n * bytes / (int64_t)sizeof(float));
    else
        memcpy(to, values, (size_t)(n * bytes));
}

/* Rows [begin, end) of one outer index get the same columns. */
static void share_rows(const struct pdnn_mean_job *job, int64_t outer, int64_t begin, int64_t end) {
    float block[COLUMNS], shares[COLUMNS], share = 1 / (float)job->n;
    for (int64_t first = 0; first < job->inner; first += COLUMNS) {
        int64_t n = pdnn_least(COLUMNS, job->inner - first);
        const float *dy = load(job, job->y, outer * job->inner + first, block, n);
        for (int64_t i = 0; i < n; i++)
            shares[i] = dy[i] * share;
        store(job, shares, block, 0, n);
        for (int64_t row = begin; row < end; row++)
            copy_out(job, block, (outer * job->n + row) * job->inner + first, n);
    }
}

static void share_columns(const struct pdnn_mean_job *job, int64_t outer) {
    float block[SHARES], shares[SHARES];
    float value = *load(job, job->y, outer, shares, 1) / (float)job->n;
    for (int64_t i = 0; i < SHARES; i++)
        shares[i] = value;
    store(job, shares, block, 0, SHARES);
    for (int64_t first = 0; first < job->n; first += SHARES)
        copy_out(job, block, outer * job->n + first, pdnn_least(SHARES, job->n - first));
}

static void backward_part(void *work, int64_t index, int64_t parts) {
    const struct pdnn_mean_job *job = work;
    bool by_row = job->inner > 1;
    struct pdnn_span span = pdnn_span_of(by_row ? job->outer * job->n : job->outer, 1, index, parts);
    while (span.begin < span.end) {
        int64_t outer = by_row ? span.begin / job->n : span.begin, first = span.begin - outer * job->n;
        int64_t n = by_row ? pdnn_least(job->n - first, span.end - span.begin) : 1;
        if (by_row)
            share_rows(job, outer, first, first + n);
        else
            share_columns(job, outer);
        span.begin += n;
    }
    pdnn_bypass_fence();
}

PDNN_KERNEL(pdnn_mean_backward, (const struct pdnn_mean_job *job, int64_t threads), (job, threads)) {
    struct pdnn_mean_job copy = *job;
    pdnn_team_run(threads, job->outer * job->n * job->inner, backward_part, &copy);
}
