#include "runtime/kernels/rows/layernorm.h"

#include "runtime/kernels/rows/layernorm_rows.h"
#include "runtime/kernels/simd/kernel.h"

#include <string.h>

/* Rows are summed in parts that depend only on R, so that the sums are the same for any number of threads:
 * at most PARTS_MOST parts of at least PART_ROWS rows. Processing rows in pairs halves the L1 traffic of
 * dgamma and dbeta. */
enum { PARTS_MOST = 64, PART_ROWS = 32, PAIR = 2 };

static int64_t part_rows(int64_t R) {
    int64_t rows = (R + PARTS_MOST - 1) / PARTS_MOST;
    return rows > PART_ROWS ? rows : PART_ROWS;
}

static int64_t count_parts(int64_t R) {
    return (R + part_rows(R) - 1) / part_rows(R);
}

/* A range of rows, the sums it adds to, and how far this thread may prefetch. */
struct part {
    const struct pdnn_layernorm_gradients *job;
    struct pdnn_mask mask;
    struct pdnn_span rows;
    int64_t fetch_end;
    float *dgamma, *dbeta; /* (H) */
};

/* Coefficients of a row: dx = dy * inverse_std * gamma + of_x * (x - mean) + shift. */
struct slope {
    float mean, inverse_std, of_x, shift;
};

/* A row in progress. */
struct row {
    int64_t first; /* index of its first element */
    struct slope slope;
    float sum, product; /* sums of dy * gamma and of dy * gamma * (x - mean) */
};

struct pair {
    int rows;
    struct row row[PAIR];
};

static inline void begin_pair(const struct pdnn_layernorm_gradients *job, struct pair *pair, int64_t row,
                              int64_t end) {
    pair->rows = (int)pdnn_least(PAIR, end - row);
    for (int k = 0; k < pair->rows; k++)
        pair->row[k] = (struct row){.first = (row + k) * job->H,
                                    .slope = {job->mean[row + k], job->inverse_std[row + k], 0, 0}};
}

PDNN_INLINE void sum_columns(const struct pdnn_layernorm_gradients *job, struct row *row, int64_t begin,
                             int64_t n) {
    float wide[2][PDNN_ROWS_BLOCK];
    const float *dy = pdnn_block_read(job->dy, row->first + begin, n, wide[0], job->stored),
                *x = pdnn_block_read(job->x, row->first + begin, n, wide[1], job->stored),
                *gamma = job->gamma ? job->gamma + begin : NULL;
    float mean = row->slope.mean;
    pdnn_floats sum[PDNN_CHAINS] = {{0}}, product[PDNN_CHAINS] = {{0}}, u, v, factor;
    int64_t i = 0;
    for (; i + PDNN_CHAINS_STEP <= n; i += PDNN_CHAINS_STEP) {
        for (int k = 0; k < PDNN_CHAINS; k++) {
            pdnn_load(&u, dy + i + k * PDNN_LANES);
            pdnn_load(&v, x + i + k * PDNN_LANES);
            if (gamma) {
                pdnn_load(&factor, gamma + i + k * PDNN_LANES);
                u *= factor;
            }
            sum[k] += u;
            product[k] += u * (v - mean);
        }
    }
    for (; i < n; i += PDNN_LANES) {
        int64_t left = pdnn_least(PDNN_LANES, n - i);
        pdnn_load_lanes(&u, dy + i, left);
        pdnn_load_lanes(&v, x + i, left);
        if (gamma) {
            pdnn_load_lanes(&factor, gamma + i, left);
            u *= factor;
        }
        sum[0] += u;
        product[0] += u * (v - mean);
    }
    row->sum += pdnn_chains_total(sum);
    row->product += pdnn_chains_total(product);
}

/* Columns of a pair's rows in f32. */
struct columns {
    const float *dy[PAIR], *x[PAIR];
    float *dx[PAIR];
};

/* n columns of dx without gamma and dz, written to `to`. */
PDNN_INLINE void apply_plain(const struct row *row, const float *dy, const float *x, float *to, int64_t n) {
    const struct slope slope = row->slope;
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        to[i] = dy[i] * slope.inverse_std + (slope.of_x * (x[i] - slope.mean) + slope.shift);
}

static inline void end_sum(const struct pdnn_layernorm_gradients *job, struct row *row) {
    float inverse_std = row->slope.inverse_std, scale = -inverse_std / (float)job->H;
    row->slope.of_x = scale * inverse_std * inverse_std * row->product;
    row->slope.shift = scale * row->sum;
}

/* n columns of dx without dz, and of dgamma and dbeta. */
PDNN_INLINE void apply_columns(const struct part *part, const struct pair *pair, int rows,
                               const struct columns *columns, int64_t begin, int64_t n) {
    const float *gamma = part->job->gamma + begin, *const *dy = columns->dy, *const *x = columns->x;
    float *dgamma = part->dgamma + begin, *dbeta = part->dbeta + begin, *const *to = columns->dx;
    struct slope slope[PAIR];
    for (int k = 0; k < rows; k++)
        slope[k] = pair->row[k].slope;
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        float dgamma_sum = dgamma[i], dbeta_sum = dbeta[i];
#pragma GCC unroll 2
        for (int k = 0; k < rows; k++) {
            float off = x[k][i] - slope[k].mean, scaled = dy[k][i] * slope[k].inverse_std;
            dgamma_sum += scaled * off;
            dbeta_sum += dy[k][i];
            to[k][i] = scaled * gamma[i] + (slope[k].of_x * off + slope[k].shift);
        }
        dgamma[i] = dgamma_sum;
        dbeta[i] = dbeta_sum;
    }
}

/* Finishes n columns of one row, from element `first`: dx += dz, and dx times the mask. */
PDNN_INLINE void finish_columns(const struct part *part, float *dx, int64_t first, int64_t n) {
    const struct pdnn_layernorm_gradients *job = part->job;
    float block[PDNN_ROWS_BLOCK], factor[PDNN_ROWS_BLOCK];
    if (job->dz) {
        const float *dz = pdnn_block_read(job->dz, first, n, block, job->stored);
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            dx[i] += dz[i];
    }
    if (job->masked.to) {
        float *masked = pdnn_block_place(job->masked.to, first, block, job->stored, job->masked.bypass);
        pdnn_mask_factors(&part->mask, first, factor, n);
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            masked[i] = dx[i] * factor[i];
        pdnn_block_write(job->masked.to, first, masked, n, job->stored, job->masked.bypass);
    }
    pdnn_block_write(job->dx.to, first, dx, n, job->stored, job->dx.bypass);
}

/* Inlined twice: `rows` is a constant. */
PDNN_INLINE void apply_pair(const struct part *part, const struct pair *pair, int rows, int64_t begin,
                            int64_t n) {
    const struct pdnn_layernorm_gradients *job = part->job;
    float wide[3][PAIR][PDNN_ROWS_BLOCK];
    struct columns columns;
    for (int k = 0; k < rows; k++) {
        const int64_t first = pair->row[k].first + begin;
        columns.dy[k] = pdnn_block_read(job->dy, first, n, wide[0][k], job->stored);
        columns.x[k] = pdnn_block_read(job->x, first, n, wide[1][k], job->stored);
        columns.dx[k] = pdnn_block_place(job->dx.to, first, wide[2][k], job->stored, job->dx.bypass);
    }
    if (job->gamma)
        apply_columns(part, pair, rows, &columns, begin, n);
    for (int k = 0; !job->gamma && k < rows; k++)
        apply_plain(&pair->row[k], columns.dy[k], columns.x[k], columns.dx[k], n);
    for (int k = 0; k < rows; k++)
        finish_columns(part, columns.dx[k], pair->row[k].first + begin, n);
}

/* Sums one pair while the gradients of the previous pair are computed; NULL: none. */
PDNN_INLINE void run_stages(const struct part *part, struct pair *summed, const struct pair *applied) {
    const struct pdnn_layernorm_gradients *job = part->job;
    for (int64_t begin = 0; begin < job->H; begin += PDNN_ROWS_BLOCK) {
        int64_t n = pdnn_least(job->H - begin, PDNN_ROWS_BLOCK);
        for (int k = 0; summed && k < summed->rows; k++) {
            int64_t row = summed->row[k].first / job->H + PAIR - 1;
            int64_t ahead = pdnn_row_ahead(row, part->fetch_end, job->H) + begin;
            pdnn_fetch(job->dy, ahead, n, job->stored);
            pdnn_fetch(job->x, ahead, n, job->stored);
            pdnn_fetch(job->dz, ahead, n, job->stored);
            sum_columns(job, &summed->row[k], begin, n);
        }
        if (applied && applied->rows == PAIR)
            apply_pair(part, applied, PAIR, begin, n);
        else if (applied)
            apply_pair(part, applied, 1, begin, n);
    }
}

static void backward_rows(const struct part *part) {
    const struct pdnn_layernorm_gradients *job = part->job;
    int64_t end = part->rows.end;
    struct pair pairs[2];
    for (int64_t row = part->rows.begin, turn = 0; row < end + PAIR; row += PAIR, turn++) {
        struct pair *summed = row < end ? &pairs[turn % 2] : NULL;
        if (summed)
            begin_pair(job, summed, row, end);
        run_stages(part, summed, turn > 0 ? &pairs[(turn - 1) % 2] : NULL);
        for (int k = 0; summed && k < summed->rows; k++)
            end_sum(job, &summed->row[k]);
    }
    pdnn_bypass_fence();
}

static void backward_parts(void *work, int64_t index, int64_t threads) {
    const struct pdnn_layernorm_gradients *job = work;
    int64_t rows = part_rows(job->R), width = pdnn_whole_lines(job->H);
    struct pdnn_span parts = pdnn_span_of(count_parts(job->R), 1, index, threads);
    for (int64_t k = parts.begin; k < parts.end; k++) {
        float *sums = job->scratch + k * 2 * width;
        const struct part part = {.job = job,
                                  .mask = pdnn_mask_of(job->seed, job->percent),
                                  .rows = {k * rows, pdnn_least((k + 1) * rows, job->R)},
                                  .fetch_end = pdnn_least(parts.end * rows, job->R),
                                  .dgamma = sums,
                                  .dbeta = sums + width};
        memset(sums, 0, (size_t)(2 * width) * sizeof *sums);
        backward_rows(&part);
    }
}

static void add_parts(const float *parts, int64_t stride, int64_t count, float *sums, int64_t n) {
    memcpy(sums, parts, (size_t)n * sizeof *sums);
    for (int64_t part = 1; part < count; part++) {
        const float *more = parts + part * stride;
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            sums[i] += more[i];
    }
}

static void join_parts(void *work, int64_t index, int64_t threads) {
    const struct pdnn_layernorm_gradients *job = work;
    struct pdnn_span columns = pdnn_span_of(job->H, PDNN_ROWS_LINE, index, threads);
    int64_t n = columns.end - columns.begin, half = pdnn_whole_lines(job->H), parts = count_parts(job->R);
    const float *from = job->scratch + columns.begin;
    add_parts(from, 2 * half, parts, job->dgamma + columns.begin, n);
    add_parts(from + half, 2 * half, parts, job->dbeta + columns.begin, n);
}

PDNN_KERNEL_VALUE(int64_t, pdnn_layernorm_backward_scratch, (int64_t R, int64_t H), (R, H)) {
    return count_parts(R) * 2 * pdnn_whole_lines(H);
}

PDNN_KERNEL(pdnn_layernorm_backward, (const struct pdnn_layernorm_gradients *job, int64_t threads),
            (job, threads)) {
    struct pdnn_layernorm_gradients copy = *job;
    const bool streams = pdnn_block_streams(job->H, job->stored);
    copy.dx.bypass = job->dx.bypass && streams;
    copy.masked.bypass = job->masked.bypass && streams;
    pdnn_team_run(threads, job->R * job->H, backward_parts, &copy);
    if (job->gamma)
        pdnn_team_run(threads, count_parts(job->R) * job->H, join_parts, &copy);
}
