#include "runtime/kernels/rows/softmax.h"

#include "runtime/kernels/rows/dropout_mask.h"
#include "runtime/kernels/simd/bypass.h"
#include "runtime/kernels/simd/kernel.h"
#include "runtime/kernels/simd/team.h"

#include <float.h>
#include <math.h>

/* Results of rows up to ROOM wait in L1 to be streamed to memory. Meanwhile the inputs AHEAD floats ahead are
 * prefetched, because the hardware prefetcher stops at each row. */
enum { ROOM = 4096, AHEAD = 1024, LINE = 16, VECTOR = 4 };

/* TILE short rows (TILE_FLOATS at most) are interleaved: while one waits for its maximum or sum, another
 * proceeds. Within a row, GROUP vectors are. */
enum { TILE = 4, TILE_FLOATS = 1024, GROUP = 4 };

/* Longer rows are summed in blocks, since rounding grows with the additions. */
enum { SUM_BLOCK = 2048 };

/* Below this, exp would be a denormal. */
static const float exp_lowest = -87.0F;

enum function { FORWARD, BACKWARD, MASK };

struct work {
    const struct pdnn_softmax *job;
    void (*rows)(const struct work *work, struct pdnn_span span);
    struct pdnn_mask mask; /* dropout */
    float beyond;          /* value of masked elements */
};

/* One row from the first column on that is visible, how many are, how many columns there are from there on,
 * and what to prefetch for later rows (NULL: nothing). */
struct row {
    const float *x, *bias, *relative, *p, *fetch_x, *fetch_p;
    float *y, *saved;
    int64_t first, seen, m; /* first: its index among all elements */
    int64_t before;         /* columns of the row before it */
};

PDNN_INLINE float largest_of(const pdnn_floats *v) {
    float largest = (*v)[0];
    for (int i = 1; i < PDNN_LANES; i++)
        largest = (*v)[i] > largest ? (*v)[i] : largest;
    return largest;
}

/* y = factor * x + biases; returns the maximum, -FLT_MAX if no column is visible. */
PDNN_INLINE float scale_row(const struct row *row, float factor, float *y) {
    const float *x = row->x, *bias = row->bias, *relative = row->relative;
    pdnn_floats most = (pdnn_floats){0} - FLT_MAX, v, b = {0}, c = {0};
    int64_t j = 0, n = row->seen;
    for (; j + PDNN_LANES <= n; j += PDNN_LANES) {
        pdnn_load(&v, x + j);
        if (bias)
            pdnn_load(&b, bias + j);
        v = factor * v + b;
        if (relative) {
            pdnn_load(&c, relative + j);
            v += c;
        }
        pdnn_store(y + j, &v);
        pdnn_most(&v, &most);
        most = v;
    }
    if (j < n) {
        pdnn_load_part(&v, x + j, n - j);
        if (bias)
            pdnn_load_part(&b, bias + j, n - j);
        v = factor * v + b;
        if (relative) {
            pdnn_load_part(&c, relative + j, n - j);
            v += c;
        }
        pdnn_store_part(y + j, &v, n - j);
        pdnn_fill_part(&v, n - j, -FLT_MAX);
        pdnn_most(&v, &most);
        most = v;
    }
    return largest_of(&most);
}

/* e^x for x <= 0: x = n ln 2 + r, a minimax polynomial (relative error) for |r| <= ln 2 / 2, and n added to
 * the exponent. Within 2 ulp with fused multiply-adds; otherwise rounding n ln 2 adds |x| / 2 ulp, negligible
 * in the sum of a row. Anything below exp_lowest, including -infinity, gives 0 whatever the intermediate
 * results; NaN propagates. Several vectors are interleaved and the polynomial is evaluated in pairs of terms,
 * since the operations on one vector depend on each other. */
PDNN_INLINE void exp_group(pdnn_floats *x, int count) {
    const pdnn_ints no = {0};
    const float round = 12582912.0F; /* see vmath.h */
    pdnn_floats n[GROUP], r[GROUP], square[GROUP], p[GROUP], q[GROUP];
    pdnn_ints is_normal[GROUP], power[GROUP];
    for (int k = 0; k < count; k++) {
        is_normal[k] = (x[k] < exp_lowest) == no;
        n[k] = x[k] * 1.44269504F + round;
        power[k] = (pdnn_ints)n[k] << 23;
    }
    for (int k = 0; k < count; k++)
        r[k] = x[k] - (n[k] - round) * 0.693147181F;
    for (int k = 0; k < count; k++) {
        square[k] = r[k] * r[k];
        p[k] = 8.31247761e-3F * r[k] + 4.18905500e-2F;
        q[k] = 1.66671163e-1F * r[k] + 4.99992288e-1F;
        r[k] += 1.0F;
    }
    for (int k = 0; k < count; k++)
        p[k] = p[k] * square[k] + q[k];
    for (int k = 0; k < count; k++)
        p[k] = p[k] * square[k] + r[k];
    for (int k = 0; k < count; k++)
        x[k] = (pdnn_floats)(((pdnn_ints)p[k] + power[k]) & is_normal[k]);
}

/* y = exp(y - max) for `count` vectors; adds to *sum. */
PDNN_INLINE void exp_vectors(float *y, float max, int count, pdnn_floats *sum) {
    pdnn_floats x[GROUP], v;
    for (int k = 0; k < count; k++) {
        pdnn_load(&v, y + k * PDNN_LANES);
        x[k] = v - max;
    }
    exp_group(x, count);
    for (int k = 0; k < count; k++) {
        v = x[k];
        pdnn_store(y + k * PDNN_LANES, &v);
        *sum += v;
    }
}

/* y = exp(y - max); returns the sum. */
PDNN_INLINE float exp_row(float *y, float max, int64_t n) {
    pdnn_floats sums = {0}, rest;
    int64_t j = 0;
    for (; j + GROUP * PDNN_LANES <= n; j += GROUP * PDNN_LANES)
        exp_vectors(y + j, max, GROUP, &sums);
    for (; j + 2 * PDNN_LANES <= n; j += 2 * PDNN_LANES)
        exp_vectors(y + j, max, 2, &sums);
    for (; j + PDNN_LANES <= n; j += PDNN_LANES)
        exp_vectors(y + j, max, 1, &sums);
    if (j < n) {
        pdnn_load_part(&rest, y + j, n - j);
        pdnn_fill_part(&rest, n - j, -INFINITY);
        rest -= max;
        exp_group(&rest, 1);
        pdnn_store_part(y + j, &rest, n - j);
        sums += rest;
    }
    return pdnn_sum(&sums);
}

/* y = x * mask; y may be x. */
PDNN_INLINE void drop_row(const struct pdnn_mask *mask, int64_t first, const float *x, float *y, int64_t n) {
    for (int64_t begin = 0; begin < n; begin += PDNN_MASK_BLOCK) {
        float factor[PDNN_MASK_BLOCK];
        int64_t part = n - begin < PDNN_MASK_BLOCK ? n - begin : PDNN_MASK_BLOCK;
        pdnn_mask_factors(mask, first + begin, factor, part);
#pragma omp simd
        for (int64_t j = 0; j < part; j++)
            y[begin + j] = x[begin + j] * factor[j];
    }
}

/* Several accumulators, to hide the latency of the additions. */
PDNN_INLINE float dot(const float *a, const float *b, int64_t n) {
    pdnn_floats chain[GROUP] = {{0}}, u, v;
    int64_t j = 0;
    for (; j + GROUP * PDNN_LANES <= n; j += GROUP * PDNN_LANES) {
        for (int k = 0; k < GROUP; k++) {
            pdnn_load(&u, a + j + k * PDNN_LANES);
            pdnn_load(&v, b + j + k * PDNN_LANES);
            chain[k] += u * v;
        }
    }
    for (; j + PDNN_LANES <= n; j += PDNN_LANES) {
        pdnn_load(&u, a + j);
        pdnn_load(&v, b + j);
        chain[0] += u * v;
    }
    pdnn_load_part(&u, a + j, n - j);
    pdnn_load_part(&v, b + j, n - j);
    u = (chain[0] + chain[1]) + (chain[2] + chain[3] + u * v);
    return pdnn_sum(&u);
}

PDNN_INLINE void fetch(const float *from, int64_t k) {
    if (from)
        __builtin_prefetch(from + k);
}

/* Where a row of a result is computed: in L1 if it is to be streamed. */
PDNN_INLINE float *workplace(const struct pdnn_softmax_result *result, float *to, float *block) {
    return result->bypass ? block : to;
}

/* Fills the masked part and, if the row was made elsewhere, streams it to its place. */
PDNN_INLINE void put_row(const struct row *row, float *made, float *to, float beyond) {
    for (int64_t j = -row->before; j < 0; j++)
        made[j] = beyond;
    for (int64_t j = row->seen; j < row->m; j++)
        made[j] = beyond;
    for (int64_t k = 0; made != to && k < row->m; k += LINE) {
        if (k < row->seen) {
            fetch(row->fetch_x, k);
            fetch(row->fetch_p, k);
        }
        pdnn_bypass_copy(to + k, made + k, row->m - k < LINE ? row->m - k : LINE);
    }
}

PDNN_INLINE void multiply_row(float *y, float factor, int64_t n) {
    pdnn_floats v;
    int64_t j = 0;
    for (; j + PDNN_LANES <= n; j += PDNN_LANES) {
        pdnn_load(&v, y + j);
        v *= factor;
        pdnn_store(y + j, &v);
    }
    if (j < n) {
        pdnn_load_part(&v, y + j, n - j);
        v *= factor;
        pdnn_store_part(y + j, &v, n - j);
    }
}

/* dx = factor * p * (dp - sum). */
PDNN_INLINE void subtract_row(const struct row *row, const float *dp, float sum, float factor, float *dx) {
    pdnn_floats v, p;
    int64_t j = 0, n = row->seen;
    for (; j + PDNN_LANES <= n; j += PDNN_LANES) {
        pdnn_load(&v, dp + j);
        pdnn_load(&p, row->p + j);
        v = factor * p * (v - sum);
        pdnn_store(dx + j, &v);
    }
    if (j < n) {
        pdnn_load_part(&v, dp + j, n - j);
        pdnn_load_part(&p, row->p + j, n - j);
        v = factor * p * (v - sum);
        pdnn_store_part(dx + j, &v, n - j);
    }
}

/* How many of the row's columns are in the block that starts at column j. */
PDNN_INLINE int64_t block_at(const struct row *row, int64_t j) {
    return row->seen - j < SUM_BLOCK ? row->seen - j : SUM_BLOCK;
}

PDNN_INLINE void forward_tile(const struct work *work, struct row *rows, int count) {
    const struct pdnn_softmax *job = work->job;
    bool drops = job->percent > 0;
    double sum[TILE] = {0};
    float block[ROOM], largest[TILE], *p[TILE];
    for (int k = 0; k < count; k++) {
        p[k] = drops ? workplace(&job->saved, rows[k].saved, block + k * job->m)
                     : workplace(&job->y, rows[k].y, block + k * job->m);
        largest[k] = scale_row(&rows[k], job->factor, p[k]);
    }
    for (int k = 0; k < count; k++) {
        for (int64_t j = 0; j < rows[k].seen; j += SUM_BLOCK)
            sum[k] += (double)exp_row(p[k] + j, largest[k], block_at(&rows[k], j));
    }
    for (int k = 0; k < count; k++) {
        multiply_row(p[k], sum[k] == 0 ? 0 : (float)(1 / sum[k]), rows[k].seen);
        put_row(&rows[k], p[k], drops ? rows[k].saved : rows[k].y, 0);
    }
    for (int k = 0; k < count && drops; k++) {
        float *y = workplace(&job->y, rows[k].y, block + k * job->m);
        rows[k].fetch_x = NULL;
        drop_row(&work->mask, rows[k].first, p[k], y, rows[k].seen);
        put_row(&rows[k], y, rows[k].y, 0);
    }
}

PDNN_INLINE void backward_tile(const struct work *work, const struct row *rows, int count) {
    const struct pdnn_softmax *job = work->job;
    double sum[TILE] = {0};
    float block[ROOM], *dx[TILE];
    const float *dp[TILE];
    for (int k = 0; k < count; k++) {
        dx[k] = workplace(&job->y, rows[k].y, block + k * job->m);
        dp[k] = job->percent ? dx[k] : rows[k].x;
        if (job->percent)
            drop_row(&work->mask, rows[k].first, rows[k].x, dx[k], rows[k].seen);
    }
    for (int k = 0; k < count; k++) {
        for (int64_t j = 0; j < rows[k].seen; j += SUM_BLOCK)
            sum[k] += (double)dot(dp[k] + j, rows[k].p + j, block_at(&rows[k], j));
    }
    for (int k = 0; k < count; k++) {
        subtract_row(&rows[k], dp[k], (float)sum[k], job->factor, dx[k]);
        put_row(&rows[k], dx[k], rows[k].y, 0);
    }
}

PDNN_INLINE void mask_row(const struct work *work, const struct row *row) {
    float block[ROOM], *y = workplace(&work->job->y, row->y, block);
    const float *x = row->x, *bias = row->bias;
    if (bias) {
#pragma omp simd
        for (int64_t j = 0; j < row->seen; j++)
            y[j] = x[j] + bias[j];
    } else if (x != y) {
        memcpy(y, x, (size_t)row->seen * sizeof *y);
    }
    put_row(row, y, row->y, work->beyond);
}

/* What is added to row i of a matrix. */
PDNN_INLINE const float *bias_of(const struct pdnn_softmax *job, int64_t matrix, int64_t i) {
    int64_t group = matrix / job->heads;
    return job->bias + (job->turn ? group % job->turn * job->n + i : group) * job->m;
}

/* Row i of a matrix. `end`: end of the thread's elements. */
PDNN_INLINE struct row row_of(const struct pdnn_softmax *job, int64_t matrix, int64_t i, int64_t end) {
    int64_t m = job->m, seen = job->is_causal ? i + 1 + m - job->n : m;
    int64_t before = job->window && seen > job->window ? seen - job->window : 0;
    int64_t first = (matrix * job->n + i) * m + before;
    int64_t next = first + (AHEAD + m - 1) / m * m;
    bool fetches = next + m <= end;
    return (struct row){
        .x = job->x + first,
        .bias = job->bias ? bias_of(job, matrix, i) + before : NULL,
        .relative = job->relative ? job->relative + matrix % job->heads * job->relative_head +
                                        i * job->relative_row + before
                                  : NULL,
        .p = job->p ? job->p + first : NULL,
        .fetch_x = fetches ? job->x + next : NULL,
        .fetch_p = fetches && job->p ? job->p + next : NULL,
        .y = job->y.to + first,
        .saved = job->saved.to ? job->saved.to + first : NULL,
        .first = first,
        .seen = seen > 0 ? seen - before : 0,
        .m = m - before,
        .before = before,
    };
}

PDNN_INLINE void run_rows(const struct work *work, struct pdnn_span span, enum function function) {
    const struct pdnn_softmax *job = work->job;
    int64_t matrix = span.begin / job->n, i = span.begin % job->n;
    int64_t room = TILE_FLOATS / job->m < TILE ? TILE_FLOATS / job->m : TILE;
    for (int64_t at = span.begin; at < span.end;) {
        struct row rows[TILE];
        int count = 0;
        for (; count == 0 || (count < room && at < span.end); count++, at++) {
            rows[count] = row_of(job, matrix, i, span.end * job->m);
            i = i + 1 < job->n ? i + 1 : 0;
            matrix += i == 0;
        }
        if (function == FORWARD)
            forward_tile(work, rows, count);
        else if (function == BACKWARD)
            backward_tile(work, rows, count);
        for (int k = 0; k < count && function == MASK; k++)
            mask_row(work, &rows[k]);
    }
}

static void forward_rows(const struct work *work, struct pdnn_span span) {
    run_rows(work, span, FORWARD);
}

static void backward_rows(const struct work *work, struct pdnn_span span) {
    run_rows(work, span, BACKWARD);
}

static void mask_rows(const struct work *work, struct pdnn_span span) {
    run_rows(work, span, MASK);
}

static void run_part(void *state, int64_t index, int64_t parts) {
    const struct work *work = state;
    work->rows(work, pdnn_span_of(work->job->matrices * work->job->n, 1, index, parts));
    pdnn_bypass_fence();
}

static void run(const struct pdnn_softmax *job, struct work work, int64_t threads) {
    struct pdnn_softmax copy = *job;
    bool streams = job->m % VECTOR == 0 && job->m <= ROOM && !job->window;
    copy.y.bypass = copy.y.bypass && streams;
    copy.saved.bypass = copy.saved.bypass && streams;
    work.job = &copy;
    work.mask = pdnn_mask_of(job->seed, job->percent);
    pdnn_team_run(threads, job->matrices * job->n * job->m, run_part, &work);
}

PDNN_KERNEL(pdnn_softmax_forward, (const struct pdnn_softmax *job, int64_t threads), (job, threads)) {
    run(job, (struct work){.rows = forward_rows}, threads);
}

PDNN_KERNEL(pdnn_softmax_backward, (const struct pdnn_softmax *job, int64_t threads), (job, threads)) {
    run(job, (struct work){.rows = backward_rows}, threads);
}

PDNN_KERNEL(pdnn_softmax_backward_rows, (const struct pdnn_softmax *job, int64_t first, int64_t end),
            (job, first, end)) {
    const struct work work = {.job = job, .mask = pdnn_mask_of(job->seed, job->percent)};
    backward_rows(&work, (struct pdnn_span){first, end});
}

PDNN_KERNEL(pdnn_softmax_mask, (const struct pdnn_softmax *job, float beyond, int64_t threads),
            (job, beyond, threads)) {
    run(job, (struct work){.rows = mask_rows, .beyond = beyond}, threads);
}
