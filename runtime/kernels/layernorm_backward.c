#include "runtime/kernels/layernorm.h"
#include "runtime/kernels/layernorm_rows.h"
#include "runtime/kernels/team.h"

#include <string.h>

/* Rows are summed in parts that depend on nothing but R, so that every number of threads gives the same sums:
 * PARTS_MOST of them, and PART_ROWS in each at least. */
enum { PARTS_MOST = 64, PART_ROWS = 32 };

static int64_t part_rows(int64_t R) {
    int64_t rows = (R + PARTS_MOST - 1) / PARTS_MOST;
    return rows > PART_ROWS ? rows : PART_ROWS;
}

static int64_t count_parts(int64_t R) {
    return (R + part_rows(R) - 1) / part_rows(R);
}

/* Some rows, what they add to, and how far this thread's rows go, which may be fetched. */
struct part {
    const struct pdnn_layernorm_gradients *job;
    struct pdnn_mask mask;
    struct pdnn_span rows;
    int64_t fetch_end;
    float *dgamma, *dbeta; /* (H) */
};

/* A row in work, and what its gradient is made of: dx = dy * inverse_std * gamma + of_x * (x - mean) + shift.
 */
struct row {
    int64_t first, ahead; /* elements: its own, and that of the row to fetch */
    float mean, inverse_std, of_x, shift;
};

struct products {
    const float *dy, *x, *gamma;
    float mean;
};

/* Sums of dy * gamma, and of dy * gamma * (x - mean). */
PDNN_INLINE void add_products(const struct products *p, int64_t i, int64_t n, pdnn_floats8 *sum,
                              pdnn_floats8 *product) {
    pdnn_floats8 dxhat, x, gamma;
    pdnn_load_some(&dxhat, p->dy + i, n, 0);
    pdnn_load_some(&x, p->x + i, n, 0);
    pdnn_load_some(&gamma, p->gamma + i, n, 0);
    dxhat *= gamma;
    *sum += dxhat;
    *product += dxhat * (x - p->mean);
}

PDNN_INLINE void measure_row(const struct pdnn_layernorm_gradients *job, struct row *row) {
    pdnn_floats8 sum[PDNN_ROWS_CHAINS] = {{0}}, product[PDNN_ROWS_CHAINS] = {{0}};
    const struct products p = {job->dy + row->first, job->x + row->first, job->gamma, row->mean};
    int64_t H = job->H, i = 0;
    for (; i + PDNN_ROWS_STEP <= H; i += PDNN_ROWS_STEP) {
        pdnn_fetch(job->dy, row->ahead, 0, i, H);
        pdnn_fetch(job->x, row->ahead, 0, i, H);
#pragma GCC unroll 4
        for (int k = 0; k < PDNN_ROWS_CHAINS; k++)
            add_products(&p, i + k * PDNN_LANES8, PDNN_LANES8, &sum[k], &product[k]);
    }
    for (; i < H; i += PDNN_LANES8)
        add_products(&p, i, pdnn_least(PDNN_LANES8, H - i), &sum[0], &product[0]);
    float scale = -row->inverse_std / (float)H;
    row->of_x = scale * row->inverse_std * row->inverse_std * pdnn_chains_total(product);
    row->shift = scale * pdnn_chains_total(sum);
}

/* Where the columns of a row begin; dz, masked and factor may be NULL. */
struct columns {
    const float *dy, *x, *dz, *gamma, *factor;
    float *dx, *masked, *dgamma, *dbeta;
    bool bypass, bypass_masked;
};

/* dx + dz, the same times the mask, and what the row adds to dgamma and dbeta. */
PDNN_INLINE void apply(const struct columns *c, const struct row *row, int64_t i, int64_t n) {
    pdnn_floats8 dy, x, gamma, dgamma, dbeta, other;
    pdnn_load_some(&dy, c->dy + i, n, 0);
    pdnn_load_some(&x, c->x + i, n, 0);
    pdnn_load_some(&gamma, c->gamma + i, n, 0);
    pdnn_load_some(&dgamma, c->dgamma + i, n, 0);
    pdnn_load_some(&dbeta, c->dbeta + i, n, 0);
    dbeta += dy;
    dy *= row->inverse_std;
    x -= row->mean;
    dgamma += dy * x;
    dy = dy * gamma + (row->of_x * x + row->shift);
    if (c->dz) {
        pdnn_load_some(&other, c->dz + i, n, 0);
        dy += other;
    }
    pdnn_store_some(c->dgamma + i, &dgamma, n, false);
    pdnn_store_some(c->dbeta + i, &dbeta, n, false);
    pdnn_store_some(c->dx + i, &dy, n, c->bypass);
    if (c->masked) {
        pdnn_load_some(&other, c->factor + i, n, 0);
        dy *= other;
        pdnn_store_some(c->masked + i, &dy, n, c->bypass_masked);
    }
}

static inline const float *advanced(const float *array, int64_t offset) {
    return array ? array + offset : NULL;
}

/* n columns of a row from `begin` on. drops: there is a mask, a constant. */
PDNN_INLINE void apply_columns(const struct part *part, const struct row *row, int64_t begin, int64_t n,
                               bool drops) {
    const struct pdnn_layernorm_gradients *job = part->job;
    int64_t first = row->first + begin, ahead = row->ahead, i = 0;
    float factor[PDNN_MASK_BLOCK];
    const struct columns c = {
        .dy = job->dy + first,
        .x = job->x + first,
        .dz = advanced(job->dz, first),
        .gamma = job->gamma + begin,
        .factor = factor,
        .dx = job->dx.to + first,
        .masked = drops ? job->masked.to + first : NULL,
        .dgamma = part->dgamma + begin,
        .dbeta = part->dbeta + begin,
        .bypass = job->dx.bypass,
        .bypass_masked = job->masked.bypass,
    };
    if (drops)
        pdnn_mask_factors(&part->mask, first, factor, n);
    for (; i + PDNN_ROWS_STEP <= n; i += PDNN_ROWS_STEP) {
        pdnn_fetch(job->dy, ahead, 1, begin + i, job->H);
        pdnn_fetch(job->x, ahead, 1, begin + i, job->H);
#pragma GCC unroll 4
        for (int k = 0; k < PDNN_ROWS_CHAINS; k++)
            apply(&c, row, i + k * PDNN_LANES8, PDNN_LANES8);
    }
    for (; i < n; i += PDNN_LANES8)
        apply(&c, row, i, pdnn_least(PDNN_LANES8, n - i));
}

PDNN_CLONES static void backward_rows(const struct part *part) {
    const struct pdnn_layernorm_gradients *job = part->job;
    for (int64_t r = part->rows.begin; r < part->rows.end; r++) {
        struct row row = {.first = r * job->H,
                          .ahead = pdnn_row_ahead(r, part->fetch_end, job->H),
                          .mean = job->mean[r],
                          .inverse_std = job->inverse_std[r]};
        measure_row(job, &row);
        for (int64_t begin = 0; begin < job->H; begin += PDNN_MASK_BLOCK) {
            int64_t n = pdnn_least(job->H - begin, PDNN_MASK_BLOCK);
            if (job->masked.to)
                apply_columns(part, &row, begin, n, true);
            else
                apply_columns(part, &row, begin, n, false);
        }
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

PDNN_CLONES static void add_parts(const float *parts, int64_t stride, int64_t count, float *sums, int64_t n) {
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
    int64_t n = columns.end - columns.begin, width = pdnn_whole_lines(job->H), parts = count_parts(job->R);
    const float *from = job->scratch + columns.begin;
    add_parts(from, 2 * width, parts, job->dgamma + columns.begin, n);
    add_parts(from + width, 2 * width, parts, job->dbeta + columns.begin, n);
}

int64_t pdnn_layernorm_backward_scratch(int64_t R, int64_t H) {
    return count_parts(R) * 2 * pdnn_whole_lines(H);
}

void pdnn_layernorm_backward(const struct pdnn_layernorm_gradients *job, int64_t threads) {
    struct pdnn_layernorm_gradients copy = *job;
    copy.dx.bypass = job->dx.bypass && job->H % PDNN_ROWS_VECTOR == 0;
    copy.masked.bypass = job->masked.bypass && job->H % PDNN_ROWS_VECTOR == 0;
    pdnn_team_run(threads, job->R * job->H, backward_parts, &copy);
    pdnn_team_run(threads, count_parts(job->R) * job->H, join_parts, &copy);
}
