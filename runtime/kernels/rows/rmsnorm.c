#include "runtime/kernels/rows/rmsnorm.h"

#include "runtime/kernels/rows/layernorm_rows.h"

#include <math.h>
#include <string.h>

enum { ROWS = 64, COLUMNS = 256 };

/* Sum of a*b*c; c NULL means 1. */
PDNN_INLINE float sum_of(const float *a, const float *b, const float *c, int64_t n) {
    pdnn_floats chain[PDNN_CHAINS] = {{0}}, u, v, w;
    int64_t i = 0;
    for (; i + PDNN_CHAINS_STEP <= n; i += PDNN_CHAINS_STEP) {
        for (int k = 0; k < PDNN_CHAINS; k++) {
            pdnn_load(&u, a + i + k * PDNN_LANES);
            pdnn_load(&v, b + i + k * PDNN_LANES);
            if (c) {
                pdnn_load(&w, c + i + k * PDNN_LANES);
                v *= w;
            }
            chain[k] += u * v;
        }
    }
    float total = pdnn_chains_total(chain);
    for (; i < n; i++)
        total += a[i] * b[i] * (c ? c[i] : 1.0F);
    return total;
}

/* Copies what is beside the heads of a row, unless it is there already. */
static void copy_rest(const struct pdnn_rmsnorm *rows, int64_t row, const void *from, void *to) {
    const int64_t bytes = pdnn_stored_bytes(rows->stored), first = row * rows->ld * bytes,
                  end = rows->column + rows->heads * rows->H;
    const char *source = (const char *)from + first;
    char *target = (char *)to + first;
    if (from == to || rows->heads * rows->H == rows->ld)
        return;
    memcpy(target, source, (size_t)(rows->column * bytes));
    memcpy(target + end * bytes, source + end * bytes, (size_t)((rows->ld - end) * bytes));
}

/* Where a head of a row begins. */
static inline int64_t first_of(const struct pdnn_rmsnorm *rows, int64_t row, int64_t head) {
    return row * rows->ld + rows->column + head * rows->H;
}

static float sum_of_squares(const struct pdnn_rmsnorm *rows, int64_t first) {
    float sum = 0, block[COLUMNS];
    for (int64_t begin = 0; begin < rows->H; begin += COLUMNS) {
        const int64_t n = pdnn_least(COLUMNS, rows->H - begin);
        const float *x = pdnn_block_read(rows->x, first + begin, n, block, rows->stored);
        sum += sum_of(x, x, NULL, n);
    }
    return sum;
}

/* y = x * factor * gamma. */
static void scale_head(const struct pdnn_rmsnorm *rows, int64_t first, float factor) {
    const bool bypass = rows->y.bypass;
    for (int64_t begin = 0; begin < rows->H; begin += COLUMNS) {
        const int64_t n = pdnn_least(COLUMNS, rows->H - begin), at = first + begin;
        float wide[COLUMNS], block[COLUMNS],
            *y = pdnn_block_place(rows->y.to, at, block, rows->stored, bypass);
        const float *x = pdnn_block_read(rows->x, at, n, wide, rows->stored), *gamma = rows->gamma + begin;
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            y[i] = x[i] * factor * gamma[i];
        pdnn_block_write(rows->y.to, at, y, n, rows->stored, bypass);
    }
}

static void forward_part(void *state, int64_t index, int64_t parts) {
    const struct pdnn_rmsnorm *rows = state;
    struct pdnn_span span = pdnn_span_of(rows->R, 1, index, parts);
    for (int64_t i = span.begin * rows->heads; i < span.end * rows->heads; i++) {
        const int64_t row = i / rows->heads, head = i % rows->heads, first = first_of(rows, row, head);
        float mean = sum_of_squares(rows, first) / (float)rows->H;
        float inverse_rms = 1.0F / sqrtf(mean + rows->epsilon);
        if (head == 0)
            copy_rest(rows, row, rows->x, rows->y.to);
        if (rows->inverse_rms)
            rows->inverse_rms[i] = inverse_rms;
        scale_head(rows, first, inverse_rms);
    }
    pdnn_bypass_fence();
}

/* Heads are streamed if all of them may be. */
static struct pdnn_layernorm_result result_of(const struct pdnn_rmsnorm *rows,
                                              struct pdnn_layernorm_result result) {
    result.bypass = result.bypass && pdnn_block_streams(rows->H, rows->stored) &&
                    pdnn_block_streams(rows->column, rows->stored) &&
                    pdnn_block_streams(rows->ld, rows->stored);
    return result;
}

PDNN_KERNEL(pdnn_rmsnorm_forward, (const struct pdnn_rmsnorm *job, int64_t threads), (job, threads)) {
    struct pdnn_rmsnorm rows = *job;
    rows.y = result_of(job, job->y);
    pdnn_team_run(threads, rows.R * rows.heads * rows.H, forward_part, &rows);
}

static float sum_of_products(const struct pdnn_rmsnorm *rows, int64_t first) {
    float sum = 0, wide[2][COLUMNS];
    for (int64_t begin = 0; begin < rows->H; begin += COLUMNS) {
        const int64_t n = pdnn_least(COLUMNS, rows->H - begin);
        sum +=
            sum_of(pdnn_block_read(rows->dy, first + begin, n, wide[0], rows->stored),
                   pdnn_block_read(rows->x, first + begin, n, wide[1], rows->stored), rows->gamma + begin, n);
    }
    return sum;
}

/* Writes dx of a head and adds its share to dgamma. */
static void backward_head(const struct pdnn_rmsnorm *rows, int64_t row, int64_t head, float *sums) {
    const int64_t first = first_of(rows, row, head);
    const float inverse_rms = rows->inverse_rms[row * rows->heads + head],
                product = inverse_rms * sum_of_products(rows, first) / (float)rows->H,
                along = inverse_rms * product;
    for (int64_t begin = 0; begin < rows->H; begin += COLUMNS) {
        const int64_t n = pdnn_least(COLUMNS, rows->H - begin), at = first + begin;
        float wide[3][COLUMNS],
            *dx = pdnn_block_place(rows->dx.to, at, wide[0], rows->stored, rows->dx.bypass),
            *dgamma = sums + begin;
        const float *dy = pdnn_block_read(rows->dy, at, n, wide[1], rows->stored),
                    *x = pdnn_block_read(rows->x, at, n, wide[2], rows->stored), *gamma = rows->gamma + begin;
#pragma omp simd
        for (int64_t i = 0; i < n; i++) {
            float gradient = dy[i];
            dgamma[i] += gradient * (x[i] * inverse_rms);
            dx[i] = inverse_rms * (gradient * gamma[i] - x[i] * along);
        }
        pdnn_block_write(rows->dx.to, at, dx, n, rows->stored, rows->dx.bypass);
    }
}

static void backward_part(void *state, int64_t index, int64_t parts) {
    const struct pdnn_rmsnorm *rows = state;
    struct pdnn_span span = pdnn_span_of(rows->R, ROWS, index, parts);
    for (int64_t row = span.begin; row < span.end; row++) {
        float *dgamma = rows->scratch + row / ROWS * rows->H;
        if (row % ROWS == 0)
            memset(dgamma, 0, (size_t)rows->H * sizeof *dgamma);
        copy_rest(rows, row, rows->dy, rows->dx.to);
        for (int64_t head = 0; head < rows->heads; head++)
            backward_head(rows, row, head, dgamma);
    }
    pdnn_bypass_fence();
}

static int64_t blocks_of(int64_t R) {
    return (R + ROWS - 1) / ROWS;
}

static void sum_part(void *state, int64_t index, int64_t parts) {
    const struct pdnn_rmsnorm *rows = state;
    struct pdnn_span span = pdnn_span_of(rows->H, PDNN_ROWS_LINE, index, parts);
    for (int64_t i = span.begin; i < span.end; i++)
        rows->dgamma[i] = 0;
    for (int64_t block = 0; block < blocks_of(rows->R); block++) {
        const float *partial = rows->scratch + block * rows->H;
#pragma omp simd
        for (int64_t i = span.begin; i < span.end; i++)
            rows->dgamma[i] += partial[i];
    }
}

PDNN_KERNEL_VALUE(int64_t, pdnn_rmsnorm_backward_scratch, (int64_t R, int64_t H), (R, H)) {
    return blocks_of(R) * H;
}

PDNN_KERNEL(pdnn_rmsnorm_backward, (const struct pdnn_rmsnorm *job, int64_t threads), (job, threads)) {
    struct pdnn_rmsnorm rows = *job;
    rows.dx = result_of(job, job->dx);
    pdnn_team_run(threads, rows.R * rows.heads * rows.H, backward_part, &rows);
    pdnn_team_run(threads, blocks_of(rows.R) * rows.H, sum_part, &rows);
}
