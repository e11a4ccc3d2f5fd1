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

/* Copies what is beside the heads of a row, unless it is there already. */
static void copy_rest(const struct pdnn_rmsnorm *rows, int64_t row, const float *from, float *to) {
    int64_t first = row * rows->ld, end = rows->column + rows->heads * rows->H;
    if (from == to || rows->heads * rows->H == rows->ld)
        return;
    memcpy(to + first, from + first, (size_t)rows->column * sizeof *to);
    memcpy(to + first + end, from + first + end, (size_t)(rows->ld - end) * sizeof *to);
}

/* y = x * factor * gamma, with non-temporal stores if the result asks for them. */
PDNN_INLINE void scale_row(const struct pdnn_rmsnorm *rows, int64_t first, float factor) {
    const float *x = rows->x + first, *gamma = rows->gamma;
    bool bypass = rows->y.bypass && rows->H % 4 == 0 && rows->H == rows->ld;
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
    for (int64_t i = span.begin * rows->heads; i < span.end * rows->heads; i++) {
        int64_t row = i / rows->heads, head = i % rows->heads;
        int64_t first = row * rows->ld + rows->column + head * rows->H;
        const float *x = rows->x + first;
        float mean = sum_of(x, x, NULL, rows->H) / (float)rows->H;
        float inverse_rms = 1.0F / sqrtf(mean + rows->epsilon);
        if (head == 0)
            copy_rest(rows, row, rows->x, rows->y.to);
        if (rows->inverse_rms)
            rows->inverse_rms[i] = inverse_rms;
        scale_row(rows, first, inverse_rms);
    }
    if (rows->y.bypass)
        pdnn_bypass_fence();
}

PDNN_KERNEL(pdnn_rmsnorm_forward, (const struct pdnn_rmsnorm *job, int64_t threads), (job, threads)) {
    struct pdnn_rmsnorm rows = *job;
    pdnn_team_run(threads, rows.R * rows.heads * rows.H, forward_part, &rows);
}

/* Writes dx of a head and adds its share to dgamma. */
PDNN_INLINE void backward_head(const struct pdnn_rmsnorm *rows, int64_t row, int64_t head, float *dgamma) {
    int64_t first = row * rows->ld + rows->column + head * rows->H;
    const float *x = rows->x + first, *dy = rows->dy + first, *gamma = rows->gamma;
    float *dx = rows->dx + first, inverse_rms = rows->inverse_rms[row * rows->heads + head];
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
        copy_rest(rows, row, rows->dy, rows->dx);
        for (int64_t head = 0; head < rows->heads; head++)
            backward_head(rows, row, head, dgamma);
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
    pdnn_team_run(threads, rows.R * rows.heads * rows.H, backward_part, &rows);
    pdnn_team_run(threads, blocks_of(rows.R) * rows.H, sum_part, &rows);
}
