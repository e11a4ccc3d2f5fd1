#include "runtime/kernels/rows/bias.h"

#include "runtime/kernels/rows/add_rows.h"
#include "runtime/kernels/simd/kernel.h"
#include "runtime/kernels/simd/team.h"

/* LINE floats are a cache line. */
enum { LINE = 16, MIN_COLUMNS = 256 };

struct bias_job {
    const float *x, *b;
    float *y;
    int64_t N, C;
};

static void add_row(const float *x, const float *b, float *y, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] + b[i];
}

/* Threads share rows, or columns if there are few rows. */
static void forward_part(void *job, int64_t index, int64_t parts) {
    const struct bias_job *bias = job;
    struct pdnn_span rows = {0, bias->N}, columns = {0, bias->C};
    if (bias->N >= 4 * parts)
        rows = pdnn_span_of(bias->N, 1, index, parts);
    else
        columns = pdnn_span_of(bias->C, LINE, index, parts);
    for (int64_t n = rows.begin; n < rows.end; n++) {
        int64_t at = n * bias->C + columns.begin;
        add_row(bias->x + at, bias->b + columns.begin, bias->y + at, columns.end - columns.begin);
    }
}

PDNN_KERNEL(pdnn_bias_forward,
            (const float *x, const float *b, float *y, int64_t N, int64_t C, int64_t threads),
            (x, b, y, N, C, threads)) {
    struct bias_job job = {x, b, y, N, C};
    pdnn_team_run(threads, N * C, forward_part, &job);
}

/* The matrix is split into one tile per thread: by columns while those stay wide enough, then by rows. */
struct sums_job {
    const float *dy;
    float *sums, *scratch;
    int64_t N, C, row_parts, column_parts;
};

static void cut(struct sums_job *job, int64_t threads) {
    int64_t parts = job->N * job->C < PDNN_TEAM_MIN_ELEMENTS ? 1 : threads, wide = job->C / MIN_COLUMNS;
    job->column_parts = wide < 1 ? 1 : wide < parts ? wide : parts;
    job->row_parts = parts / job->column_parts;
}

static void sums_part(void *job, int64_t index, int64_t parts) {
    const struct sums_job *s = job;
    (void)parts;
    if (index >= s->row_parts * s->column_parts)
        return;
    int64_t row_part = index / s->column_parts;
    struct pdnn_span columns = pdnn_span_of(s->C, LINE, index % s->column_parts, s->column_parts);
    struct pdnn_span rows = pdnn_span_of(s->N, 1, row_part, s->row_parts);
    float *sums = row_part ? s->scratch + (row_part - 1) * s->C : s->sums;
    for (int64_t c = columns.begin; c < columns.end; c += PDNN_SUM_COLUMNS) {
        int64_t n = columns.end - c < PDNN_SUM_COLUMNS ? columns.end - c : PDNN_SUM_COLUMNS;
        memset(sums + c, 0, (size_t)n * sizeof *sums);
        pdnn_add_rows(s->dy + rows.begin * s->C + c, s->C, NULL, rows.end - rows.begin, sums + c, n);
    }
}

PDNN_KERNEL_VALUE(int64_t, pdnn_column_sums_scratch, (int64_t N, int64_t C, int64_t threads),
                  (N, C, threads)) {
    struct sums_job job = {.N = N, .C = C};
    cut(&job, threads);
    return (job.row_parts - 1) * C;
}

PDNN_KERNEL(pdnn_column_sums,
            (const float *dy, float *sums, float *scratch, int64_t N, int64_t C, int64_t threads),
            (dy, sums, scratch, N, C, threads)) {
    struct sums_job job = {.dy = dy, .sums = sums, .scratch = scratch, .N = N, .C = C};
    cut(&job, threads);
    pdnn_team_run(threads, N * C, sums_part, &job);
    pdnn_add_few_rows(scratch, C, NULL, job.row_parts - 1, sums, C);
}
