#include "runtime/kernels/rows/bias.h"

#include "runtime/kernels/rows/add_rows.h"

/* LINE floats are a cache line. */
enum { LINE = 16, MIN_COLUMNS = 256 };

static void add_row(const float *x, const float *b, float *y, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] + b[i];
}

/* Threads share rows, or columns if there are few rows. */
static void forward_part(void *job, int64_t index, int64_t parts) {
    const struct pdnn_bias *bias = job;
    struct pdnn_span rows = {0, bias->N}, columns = {0, bias->C};
    float wide[PDNN_BLOCK_MOST], made[PDNN_BLOCK_MOST];
    if (bias->N >= 4 * parts)
        rows = pdnn_span_of(bias->N, 1, index, parts);
    else
        columns = pdnn_span_of(bias->C, LINE, index, parts);
    for (int64_t row = rows.begin; row < rows.end; row++) {
        for (int64_t c = columns.begin; c < columns.end; c += PDNN_BLOCK_MOST) {
            const int64_t n = pdnn_least(PDNN_BLOCK_MOST, columns.end - c), at = row * bias->C + c;
            const float *x = pdnn_block_read(bias->x, at, n, wide, bias->stored);
            float *y = pdnn_block_place(bias->y, at, made, bias->stored, bias->bypass);
            add_row(x, bias->b + c, y, n);
            pdnn_block_write(bias->y, at, y, n, bias->stored, bias->bypass);
        }
    }
    pdnn_bypass_fence();
}

PDNN_KERNEL(pdnn_bias_forward, (const struct pdnn_bias *job, int64_t threads), (job, threads)) {
    struct pdnn_bias copy = *job;
    copy.bypass = job->bypass && pdnn_block_streams(job->C, job->stored);
    pdnn_team_run(threads, job->N * job->C, forward_part, &copy);
}

/* The matrix is split into one tile per thread: by columns while those stay wide enough, then by rows. */
struct tiles {
    const struct pdnn_column_sums *job;
    int64_t row_parts, column_parts;
};

static struct tiles tiles_of(int64_t N, int64_t C, int64_t threads) {
    int64_t parts = N * C < PDNN_TEAM_MIN_ELEMENTS ? 1 : threads, wide = C / MIN_COLUMNS;
    struct tiles tiles = {.column_parts = wide < 1 ? 1 : wide < parts ? wide : parts};
    tiles.row_parts = parts / tiles.column_parts;
    return tiles;
}

static void sums_part(void *work, int64_t index, int64_t parts) {
    const struct tiles *tiles = work;
    const struct pdnn_column_sums *job = tiles->job;
    (void)parts;
    if (index >= tiles->row_parts * tiles->column_parts)
        return;
    int64_t row_part = index / tiles->column_parts;
    struct pdnn_span columns = pdnn_span_of(job->C, LINE, index % tiles->column_parts, tiles->column_parts);
    struct pdnn_span rows = pdnn_span_of(job->N, 1, row_part, tiles->row_parts);
    float *sums = row_part ? job->scratch + (row_part - 1) * job->C : job->sums;
    for (int64_t c = columns.begin; c < columns.end; c += PDNN_SUM_COLUMNS) {
        const int64_t n = pdnn_least(PDNN_SUM_COLUMNS, columns.end - c), first = rows.begin * job->C + c;
        memset(sums + c, 0, (size_t)n * sizeof *sums);
        pdnn_add_stored_rows((const char *)job->dy + first * pdnn_stored_bytes(job->stored), job->C,
                             rows.end - rows.begin, sums + c, n, job->stored);
    }
}

PDNN_KERNEL_VALUE(int64_t, pdnn_column_sums_scratch, (int64_t N, int64_t C, int64_t threads),
                  (N, C, threads)) {
    return (tiles_of(N, C, threads).row_parts - 1) * C;
}

PDNN_KERNEL(pdnn_column_sums, (const struct pdnn_column_sums *job, int64_t threads), (job, threads)) {
    struct tiles tiles = tiles_of(job->N, job->C, threads);
    tiles.job = job;
    pdnn_team_run(threads, job->N * job->C, sums_part, &tiles);
    pdnn_add_few_rows(job->scratch, job->C, NULL, tiles.row_parts - 1, job->sums, job->C);
}
