#include "runtime/kernels/layernorm.h"

#include "runtime/kernels/layernorm_rows.h"
#include "runtime/kernels/team.h"

#include <math.h>

/* A row in work: z is what is normalized, made here in `sum` where there is a residual. */
struct row {
    int64_t first, ahead; /* elements: its own, and that of the row to fetch */
    const float *z;
    float *sum;
    float mean, inverse_std;
};

/* Where a row of z is made: where it belongs, else where y will be, unless that is streamed. */
static inline float *workplace(const struct pdnn_layernorm *job, int64_t first, float *buffer) {
    if (job->z.to && !job->z.bypass)
        return job->z.to + first;
    return job->y.bypass ? buffer : job->y.to + first;
}

/* z = x * mask + residual; z may be x or residual. */
PDNN_INLINE void add_row(const struct pdnn_layernorm *job, const struct pdnn_mask *mask,
                         const struct row *row) {
    const float *x = job->x + row->first, *residual = job->residual + row->first;
    float factor[PDNN_MASK_BLOCK], *z = row->sum;
    for (int64_t begin = 0; begin < job->H; begin += PDNN_MASK_BLOCK) {
        int64_t n = pdnn_least(job->H - begin, PDNN_MASK_BLOCK);
        if (job->percent) {
            pdnn_mask_factors(mask, row->first + begin, factor, n);
#pragma omp simd
            for (int64_t i = 0; i < n; i++)
                z[begin + i] = x[begin + i] * factor[i] + residual[begin + i];
        } else {
#pragma omp simd
            for (int64_t i = begin; i < begin + n; i++)
                z[i] = x[i] + residual[i];
        }
        if (job->z.bypass)
            pdnn_bypass_copy(job->z.to + row->first + begin, z + begin, n);
    }
}

/* Some value that is not far from the others: the mean of the first ones. */
PDNN_INLINE float pivot_of(const float *z, int64_t H) {
    pdnn_floats8 chain[PDNN_ROWS_CHAINS];
    float sum = 0;
    if (H >= PDNN_ROWS_STEP) {
        for (int k = 0; k < PDNN_ROWS_CHAINS; k++)
            pdnn_load8(&chain[k], z + k * PDNN_LANES8);
        return pdnn_chains_total(chain) / PDNN_ROWS_STEP;
    }
    for (int64_t i = 0; i < H; i++)
        sum += z[i];
    return sum / (float)H;
}

struct moments {
    const float *z;
    float pivot;
};

PDNN_INLINE void add_moments(const struct moments *m, int64_t i, int64_t n, pdnn_floats8 *sum,
                             pdnn_floats8 *square) {
    pdnn_floats8 off;
    pdnn_load_some(&off, m->z + i, n, m->pivot);
    off -= m->pivot;
    *sum += off;
    *square += off * off;
}

/* Mean and variance from one reading, by sums of distances from a pivot: the variance is E d^2 - (E d)^2. As
 * the pivot is the mean of m values, its distance from that of all H is at most sqrt(H / m) standard
 * deviations, so that rounding errors grow by no more than 1 + H / m, wherever the mean is. */
PDNN_INLINE void measure_row(const struct pdnn_layernorm *job, struct row *row) {
    pdnn_floats8 sum[PDNN_ROWS_CHAINS] = {{0}}, square[PDNN_ROWS_CHAINS] = {{0}};
    const struct moments m = {row->z, pivot_of(row->z, job->H)};
    const float *x = job->x, *residual = job->residual ? job->residual : x;
    int64_t H = job->H, i = 0;
    for (; i + PDNN_ROWS_STEP <= H; i += PDNN_ROWS_STEP) {
        pdnn_fetch(x, row->ahead, 0, i, H);
        pdnn_fetch(residual, row->ahead, 0, i, H);
#pragma GCC unroll 4
        for (int k = 0; k < PDNN_ROWS_CHAINS; k++)
            add_moments(&m, i + k * PDNN_LANES8, PDNN_LANES8, &sum[k], &square[k]);
    }
    for (; i < H; i += PDNN_LANES8)
        add_moments(&m, i, pdnn_least(PDNN_LANES8, H - i), &sum[0], &square[0]);
    float off = pdnn_chains_total(sum) / (float)H;
    float variance = pdnn_chains_total(square) / (float)H - off * off;
    row->mean = m.pivot + off;
    row->inverse_std = 1.0F / sqrtf((variance > 0 ? variance : 0) + job->epsilon);
}

struct normalization {
    const float *z, *gamma, *beta;
    float *y, mean, inverse_std;
    bool bypass;
};

/* y = (z - mean) * inverse_std * gamma + beta. */
PDNN_INLINE void normalize(const struct normalization *s, int64_t i, int64_t n) {
    pdnn_floats8 z, gamma, beta;
    pdnn_load_some(&z, s->z + i, n, 0);
    pdnn_load_some(&gamma, s->gamma + i, n, 0);
    pdnn_load_some(&beta, s->beta + i, n, 0);
    z = (z - s->mean) * s->inverse_std * gamma + beta;
    pdnn_store_some(s->y + i, &z, n, s->bypass);
}

/* bypass is a constant. */
PDNN_INLINE void normalize_row(const struct pdnn_layernorm *job, const struct row *row, bool bypass) {
    const struct normalization s = {row->z,    job->gamma,       job->beta, job->y.to + row->first,
                                    row->mean, row->inverse_std, bypass};
    const float *x = job->x, *residual = job->residual ? job->residual : x;
    int64_t H = job->H, i = 0, ahead = row->ahead;
    for (; i + PDNN_ROWS_STEP <= H; i += PDNN_ROWS_STEP) {
        pdnn_fetch(x, ahead, 1, i, H);
        pdnn_fetch(residual, ahead, 1, i, H);
#pragma GCC unroll 4
        for (int k = 0; k < PDNN_ROWS_CHAINS; k++)
            normalize(&s, i + k * PDNN_LANES8, PDNN_LANES8);
    }
    for (; i < H; i += PDNN_LANES8)
        normalize(&s, i, pdnn_least(PDNN_LANES8, H - i));
}

/* buffer: one row. */
PDNN_CLONES static void forward_rows(const struct pdnn_layernorm *job, struct pdnn_span rows, float *buffer) {
    const struct pdnn_mask mask = pdnn_mask_of(job->seed, job->percent);
    for (int64_t r = rows.begin; r < rows.end; r++) {
        struct row row = {.first = r * job->H, .ahead = pdnn_row_ahead(r, rows.end, job->H)};
        row.z = job->x + row.first;
        if (job->residual) {
            row.z = row.sum = workplace(job, row.first, buffer);
            add_row(job, &mask, &row);
        }
        measure_row(job, &row);
        if (job->mean) {
            job->mean[r] = row.mean;
            job->inverse_std[r] = row.inverse_std;
        }
        if (job->y.bypass)
            normalize_row(job, &row, true);
        else
            normalize_row(job, &row, false);
    }
    pdnn_bypass_fence();
}

static void forward_part(void *work, int64_t index, int64_t parts) {
    const struct pdnn_layernorm *job = work;
    float *buffer = job->residual ? job->scratch + index * pdnn_whole_lines(job->H) : NULL;
    forward_rows(job, pdnn_span_of(job->R, 1, index, parts), buffer);
}

int64_t pdnn_layernorm_scratch(int64_t H, int64_t threads) {
    return threads * pdnn_whole_lines(H);
}

void pdnn_layernorm_forward(const struct pdnn_layernorm *job, int64_t threads) {
    struct pdnn_layernorm copy = *job;
    copy.y.bypass = job->y.bypass && job->H % PDNN_ROWS_VECTOR == 0;
    copy.z.bypass = job->z.to && job->z.bypass && job->H % PDNN_ROWS_VECTOR == 0;
    pdnn_team_run(threads, job->R * job->H, forward_part, &copy);
}
