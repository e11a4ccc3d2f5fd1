/* rmsnorm on loops of its own: a row is reduced, then scaled. The gradient of gamma is summed per block of
 * rows, then over the blocks, so the result does not depend on the number of threads. */
#include "runtime/kernels/rows/layernorm_rows.h"
#include "runtime/kernels/simd/bypass.h"
#include "runtime/kernels/simd/lanes.h"
#include "runtime/kernels/simd/team.h"
#include "runtime/lowering/norm_rows.h"

#include <math.h>
#include <string.h>

enum { ROWS = 64, COLUMNS = 256 };

struct rows {
    const float *x, *gamma;
    struct pdnn_layernorm_result y; /* forward */
    const float *dy;                /* backward */
    struct pdnn_layernorm_result dx;
    float *dgamma, *partial; /* (H), and (H) per block of rows */
    float *inverse_rms;      /* (R); forward may be NULL */
    float epsilon;
    int64_t R, H;
};

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
PDNN_INLINE void scale_row(const struct rows *rows, int64_t first, float factor) {
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
    const struct rows *rows = state;
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

static void forward(const struct pdnn_bound_step *step) {
    struct rows rows = {
        .x = step->in[PDNN_RMSNORM_X],
        .gamma = step->in[PDNN_RMSNORM_GAMMA],
        .y = pdnn_norm_rows_result(step, PDNN_RMSNORM_Y),
        .inverse_rms = step->out[PDNN_RMSNORM_INVERSE_RMS],
        .epsilon = (float)step->node->coef[PDNN_RMSNORM_EPSILON],
        .R = step->rows,
        .H = step->columns,
    };
    pdnn_team_run(step->threads, rows.R * rows.H, forward_part, &rows);
}

/* Writes dx of a row and adds the row's share to dgamma. */
PDNN_INLINE void backward_row(const struct rows *rows, int64_t row, float *dgamma) {
    const float *x = rows->x + row * rows->H, *dy = rows->dy + row * rows->H, *gamma = rows->gamma;
    float *dx = rows->dx.to + row * rows->H, inverse_rms = rows->inverse_rms[row];
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
    const struct rows *rows = state;
    struct pdnn_span span = pdnn_span_of(rows->R, ROWS, index, parts);
    for (int64_t row = span.begin; row < span.end; row++) {
        float *dgamma = rows->partial + row / ROWS * rows->H;
        if (row % ROWS == 0)
            memset(dgamma, 0, (size_t)rows->H * sizeof *dgamma);
        backward_row(rows, row, dgamma);
    }
}

static int64_t blocks_of(int64_t R) {
    return (R + ROWS - 1) / ROWS;
}

static void sum_part(void *state, int64_t index, int64_t parts) {
    const struct rows *rows = state;
    struct pdnn_span span = pdnn_span_of(rows->H, PDNN_ROWS_LINE, index, parts);
    for (int64_t i = span.begin; i < span.end; i++)
        rows->dgamma[i] = 0;
    for (int64_t block = 0; block < blocks_of(rows->R); block++) {
        const float *partial = rows->partial + block * rows->H;
#pragma omp simd
        for (int64_t i = span.begin; i < span.end; i++)
            rows->dgamma[i] += partial[i];
    }
}

static uint64_t backward_scratch(const struct pdnn_bound_step *step) {
    return (uint64_t)(blocks_of(step->rows) * step->columns) * sizeof(float);
}

static void backward(const struct pdnn_bound_step *step) {
    struct rows rows = {
        .x = step->in[PDNN_RMSNORM_BACK_X],
        .gamma = step->in[PDNN_RMSNORM_BACK_GAMMA],
        .dy = step->in[PDNN_RMSNORM_BACK_DY],
        .dx = {step->out[PDNN_RMSNORM_BACK_DX], false},
        .dgamma = step->out[PDNN_RMSNORM_BACK_DGAMMA],
        .partial = step->scratch,
        .inverse_rms = step->in[PDNN_RMSNORM_BACK_INVERSE_RMS],
        .R = step->rows,
        .H = step->columns,
    };
    pdnn_team_run(step->threads, rows.R * rows.H, backward_part, &rows);
    pdnn_team_run(step->threads, blocks_of(rows.R) * rows.H, sum_part, &rows);
}

const struct pdnn_step_def PDNN_STEP(rmsnorm) = {
    .op = &pdnn_op_rmsnorm,
    .pass = {[PDNN_FORWARD] = {.run = forward,
                               .ranks = PDNN_RANK(2),
                               .half = PDNN_HALF_ROWS,
                               .whole = 1U << PDNN_RMSNORM_GAMMA},
             [PDNN_BACKWARD_DATA] = {.run = backward,
                                     .ranks = PDNN_RANK(2),
                                     .scratch_bytes = backward_scratch}},
};
