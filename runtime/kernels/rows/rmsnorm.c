#include "runtime/kernels/rows/rmsnorm.h"

#include "runtime/kernels/rows/layernorm_rows.h"
#include "runtime/kernels/simd/bypass.h"
#include "runtime/kernels/simd/lanes.h"
#include "runtime/kernels/simd/team.h"

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

/* y = x * factor * gamma, with non-temporal stores if the result asks for them. */
PDNN_INLINE void scale_row(const struct pdnn_rmsnorm *rows, int64_t first, float factor) {
    const float *x = rows->x + first, *gamma = rows->gamma;
    bool bypass = rows->y.bypass && rows->H % 4 == 0;
    for (int64_t begin = 0; begin < rows->H; begin += COLUMNS) {
        int64_t n = pdnn_least(COLUMNS, rows->H - begin);
        float block[COLUMNS], *to = bypass ? block : rows->y.to + first + begin;
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            to[i] = x[begin + i] * factor * gamma[begin + i];
        if (bypass)
            pdnn_bypass_copy(rows->y.to + first + begin, block, n);
    }
}

static void forward_part(void *state, int64_t index, int64_t parts) {
    const struct pdnn_rmsnorm *rows = state;
    struct pdnn_span span = pdnn_span_of(rows->R, 1, index, parts);
    for (int64_t row = span.begin; row < span.end; row++) {
        const float *x = rows->x + row * rows->H;
        float mean = sum_of(x, x, NULL, rows->H) / (float)rows->H;
        float inverse_rms = 1.0F / sqrtf(mean + rows->epsilon);
        if (rows->inverse_rms)
            rows->inverse_rms[row] = inverse_rms;
        scale_row(rows, row * rows->H, inverse_rms);
    }
    if (rows->y.bypass)
        pdnn_bypass_fence();
}

PDNN_KERNEL(pdnn_rmsnorm_forward, (const struct pdnn_rmsnorm *job, int64_t threads), (job, threads)) {
    struct pdnn_rmsnorm rows = *job;
    pdnn_team_run(threads, rows.R * rows.H, forward_part, &rows);
}

/* Writes dx of a row and adds the row's share to dgamma. */
PDNN_INLINE void backward_row(const struct pdnn_rmsnorm *rows, int64_t row, float *dgamma) {
    const float *x = rows->x + row * rows->H, *dy = rows->dy + row * rows->H, *gamma = rows->gamma;
    float *dx = rows->dx + row * rows->H, inverse_rms = rows->inverse_rms[row];
    float product = inverse_rms * sum_of(dy, x, gamma, rows->H) / (float)rows->H;
    float along = inverse_rms * product;
#pragma omp simd
    for (int64_t i = 0; i < rows->H; i++) {
        float gradient = dy[i];
        dgamma[i] += gradient * (x[i] * inverse_rms);
        dx[i] = inverse_rms * (gradient * gamma[i] - x[i] * along);
    }
}

static void backward_part(void *state, int64_t index, int64_t parts) {
    const struct pdnn_rmsnorm *rows = state;
    struct pdnn_span span = pdnn_span_of(rows->R, ROWS, index, parts);
    for (int64_t row = span.begin; row < span.end; row++) {
        float *dgamma = rows->scratch + row / ROWS * rows->H;
        if (row % ROWS == 0)
            memset(dgamma, 0, (size_t)rows->H * sizeof *dgamma);
        backward_row(rows, row, dgamma);
    }
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
    pdnn_team_run(threads, rows.R * rows.H, backward_part, &rows);
    pdnn_team_run(threads, blocks_of(rows.R) * rows.H, sum_part, &rows);
}
