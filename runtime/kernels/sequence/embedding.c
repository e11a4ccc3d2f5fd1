#include "runtime/kernels/sequence/embedding.h"

#include "runtime/kernels/rows/add_rows.h"
#include "runtime/kernels/simd/bypass.h"
#include "runtime/kernels/simd/kernel.h"
#include "runtime/kernels/simd/lanes.h"
#include "runtime/kernels/simd/team.h"

#include <string.h>

/* LINE floats are a cache line. Threads share columns as long as each gets MIN_COLUMNS of them, so that reads
 * and writes stay long enough for the hardware prefetcher. */
enum { LINE = 16, MIN_COLUMNS = 256, ALIGNED = 4, SCATTER_AHEAD = 8 };

static void store(const struct pdnn_embedding *job, float *to, const float *from, int64_t n) {
    if (job->bypass && job->E % ALIGNED == 0)
        pdnn_bypass_move(to, from, n);
    else
        memcpy(to, from, (size_t)n * sizeof *to);
}

/* Table rows are accessed at random, so the start of the next one is prefetched while this one is copied. */
static void forward_part(void *work, int64_t index, int64_t parts) {
    const struct pdnn_embedding *job = work;
    struct pdnn_span rows = pdnn_span_of(job->R, 1, index, parts);
    for (int64_t r = rows.begin; r < rows.end; r++) {
        const float *next = job->from + job->ids[r + 1 < rows.end ? r + 1 : r] * job->E;
        for (int64_t e = 0; e < job->E && e < MIN_COLUMNS; e += LINE)
            __builtin_prefetch(next + e);
        store(job, job->to + r * job->E, job->from + job->ids[r] * job->E, job->E);
    }
    pdnn_bypass_fence();
}

PDNN_KERNEL(pdnn_embedding_forward, (const struct pdnn_embedding *job, int64_t threads), (job, threads)) {
    struct pdnn_embedding copy = *job;
    pdnn_team_run(threads, job->R * job->E, forward_part, &copy);
}

/* Of a bag, BAG_COLUMNS at a time: the sums stay in L1, and so do BAG_ROWS widened rows of 16 bit. Rows are
 * prefetched BAG_AHEAD ids ahead, across the end of the bag. */
enum { BAG_COLUMNS = 256, BAG_ROWS = 4, BAG_AHEAD = 32 };

static const char *bag_row(const struct pdnn_embedding_bag *job, int64_t at, int64_t column) {
    int64_t size = job->type == PDNN_HALF_COUNT ? sizeof(float) : sizeof(uint16_t);
    return (const char *)job->from + (job->ids[at] * job->E + column) * size;
}

static void prefetch_bag_row(const struct pdnn_embedding_bag *job, int64_t at) {
    const char *row = bag_row(job, at, 0), *end = bag_row(job, at, pdnn_least(job->E, BAG_COLUMNS));
    for (; row < end; row += LINE * sizeof(float))
        __builtin_prefetch(row);
}

static const float *wide_row(const struct pdnn_embedding_bag *job, int64_t at, int64_t column, int64_t n,
                             float *room) {
    const void *row = bag_row(job, at, column);
    if (job->type == PDNN_HALF_COUNT)
        return row;
    pdnn_half_widen(job->type, row, room, n);
    return room;
}

/* Of f32, with the sums in registers: whole groups of BAG_VECTORS. Returns how many columns that are. */
static int64_t sum_bag_columns(const struct pdnn_embedding_bag *job, int64_t first, int64_t end,
                               int64_t column, int64_t n, float *sums) {
    enum { BAG_VECTORS = 8, STEP = BAG_VECTORS * PDNN_LANES };
    int64_t done = 0;
    for (; done + STEP <= n; done += STEP) {
        pdnn_floats sum[BAG_VECTORS] = {{0}}, x;
        for (int64_t at = first; at < first + job->bag; at++) {
            const float *row = (const void *)bag_row(job, at, column + done);
            if (column + done == 0 && at + BAG_AHEAD < end)
                prefetch_bag_row(job, at + BAG_AHEAD);
            for (int k = 0; k < BAG_VECTORS; k++) {
                pdnn_load(&x, row + k * PDNN_LANES);
                sum[k] += x;
            }
        }
        for (int k = 0; k < BAG_VECTORS; k++)
            pdnn_store(sums + done + k * PDNN_LANES, &sum[k]);
    }
    return done;
}

/* Columns of one bag, whose first id is at `first`; ids end at `end`. */
static void sum_bag(const struct pdnn_embedding_bag *job, int64_t first, int64_t end, int64_t column,
                    int64_t n, float *restrict sums) {
    float room[BAG_ROWS][BAG_COLUMNS];
    int64_t at = first, last = first + job->bag;
    memset(sums, 0, (size_t)n * sizeof *sums);
    for (; at + BAG_ROWS <= last; at += BAG_ROWS) {
        const float *x[BAG_ROWS];
        for (int64_t k = 0; k < BAG_ROWS; k++) {
            if (column == 0 && at + BAG_AHEAD + k < end)
                prefetch_bag_row(job, at + BAG_AHEAD + k);
            x[k] = wide_row(job, at + k, column, n, room[k]);
        }
        const float *x0 = x[0], *x1 = x[1], *x2 = x[2], *x3 = x[3];
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            sums[i] += (x0[i] + x1[i]) + (x2[i] + x3[i]);
    }
    for (; at < last; at++) {
        if (column == 0 && at + BAG_AHEAD < end)
            prefetch_bag_row(job, at + BAG_AHEAD);
        const float *x0 = wide_row(job, at, column, n, room[0]);
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            sums[i] += x0[i];
    }
}

static void bag_part(void *work, int64_t index, int64_t parts) {
    const struct pdnn_embedding_bag *job = work;
    struct pdnn_span span = pdnn_span_of(job->N, 1, index, parts);
    float sums[BAG_COLUMNS];
    for (int64_t n = span.begin; n < span.end; n++) {
        for (int64_t column = 0; column < job->E; column += BAG_COLUMNS) {
            int64_t count = pdnn_least(BAG_COLUMNS, job->E - column), at = n * job->E + column;
            bool is_wide = job->type == PDNN_HALF_COUNT;
            float *to = is_wide ? (float *)job->to + at : sums;
            int64_t first = n * job->bag, end = span.end * job->bag;
            int64_t done = is_wide ? sum_bag_columns(job, first, end, column, count, to) : 0;
            if (done < count)
                sum_bag(job, first, end, column + done, count - done, to + done);
            if (!is_wide)
                pdnn_half_narrow(job->type, sums, (uint16_t *)job->to + at, count);
        }
    }
}

PDNN_KERNEL(pdnn_embedding_bag_forward, (const struct pdnn_embedding_bag *job, int64_t threads),
            (job, threads)) {
    struct pdnn_embedding_bag copy = *job;
    pdnn_team_run(threads, job->N * job->bag * job->E, bag_part, &copy);
}

PDNN_KERNEL_VALUE(int64_t, pdnn_embedding_scratch, (int64_t R, int64_t V), (R, V)) {
    return V + 1 + R;
}

/* The rows r of dy grouped by v: those of v start at order[first[v]]. first (V + 1), order (R). */
struct scatter {
    const struct pdnn_embedding *job;
    int64_t *first, *order;
    int64_t column_parts; /* 1 with gates: tokens have as many rows, and these lie in their order */
};

/* Counting sort. While rows are placed, first[v] is the next place for v; afterwards it is the end of v, and
 * all entries move up by one. */
static void sort_rows(struct scatter *scatter) {
    const struct pdnn_embedding *job = scatter->job;
    int64_t *first = scatter->first, before = 0;
    memset(first, 0, (size_t)(job->V + 1) * sizeof *first);
    for (int64_t r = 0; r < job->R; r++)
        first[job->ids[r]]++;
    for (int64_t v = 0; v <= job->V; v++) {
        int64_t count = first[v];
        first[v] = before;
        before += count;
    }
    for (int64_t r = 0, row = 0; r < job->R; row++)
        for (int64_t end = r + (job->bag ? job->bag : 1); r < end; r++)
            scatter->order[first[job->ids[r]]++] = row;
    memmove(first + 1, first, (size_t)job->V * sizeof *first);
    first[0] = 0;
}

static bool is_in_place(const struct pdnn_embedding *job) {
    return job->rest == job->to;
}

/* The v that ends the first `share` of `parts` equal parts of the rows written and read. */
static int64_t cut_rows(const struct scatter *scatter, int64_t share, int64_t parts) {
    const struct pdnn_embedding *job = scatter->job;
    int64_t written = is_in_place(job) ? 0 : 1, goal = (job->V * written + job->R) * share / parts;
    int64_t low = 0, high = job->V;
    while (low < high) {
        int64_t v = low + (high - low) / 2;
        if (v * written + scatter->first[v] < goal)
            low = v + 1;
        else
            high = v;
    }
    return share == parts ? job->V : low;
}

/* Each token of a mixture has a few rows. The hardware prefetcher stops at each page, and rows are about as
 * long: what is AHEAD is fetched, which is mostly the next token's row. */
static void add_gated_rows(const struct pdnn_embedding *job, const float *dy, const int64_t *order,
                           int64_t count, float *restrict sums, int64_t n) {
    enum { AHEAD = 1024 };
    for (int64_t k = 0; k < count; k++) {
        const float *row = dy + order[k] * job->E;
        float gate = job->gate[order[k]];
        for (int64_t i = 0; i < n; i += LINE) {
            __builtin_prefetch(row + i + AHEAD);
            int64_t end = i + LINE < n ? i + LINE : n;
#pragma omp simd
            for (int64_t j = i; j < end; j++)
                sums[j] += gate * row[j];
        }
    }
}

/* Columns of the rows of dy that are added `at` places on: rows lie anywhere. */
static void prefetch_rows(const struct scatter *scatter, int64_t at, int64_t count, int64_t column,
                          int64_t n) {
    const struct pdnn_embedding *job = scatter->job;
    for (int64_t end = pdnn_least(at + count, job->R); at < end; at++) {
        const float *row = job->from + scatter->order[at] * job->E + column;
        for (int64_t i = 0; i < pdnn_least(n, MIN_COLUMNS); i += LINE)
            __builtin_prefetch(row + i);
    }
}

/* Columns of one row, at most a block. */
static void write_sums(const struct scatter *scatter, int64_t v, int64_t column, int64_t n) {
    static const float zeros[PDNN_SUM_COLUMNS];
    const struct pdnn_embedding *job = scatter->job;
    const int64_t *order = scatter->order + scatter->first[v];
    int64_t count = scatter->first[v + 1] - scatter->first[v], at = v * job->E + column;
    const float *dy = job->from + column, *start = job->rest ? job->rest + at : zeros;
    float sums[PDNN_SUM_COLUMNS];
    prefetch_rows(scatter, scatter->first[v] + SCATTER_AHEAD, count, column, n);
    if (!count && is_in_place(job))
        return;
    if (count && !job->rest && !job->gate) {
        start = dy + *order++ * job->E;
        count--;
    }
    if (!count) {
        store(job, job->to + at, start, n);
        return;
    }
    memcpy(sums, start, (size_t)n * sizeof *sums);
    if (job->gate)
        add_gated_rows(job, dy, order, count, sums, n);
    else
        pdnn_add_rows(dy, job->E, order, count, sums, n);
    store(job, job->to + at, sums, n);
}

/* Each row of the table is written once, with its sum. Nearly all rows have no id; zeroing the table first
 * would write the others twice. */
static void backward_part(void *work, int64_t index, int64_t parts) {
    const struct scatter *scatter = work;
    const struct pdnn_embedding *job = scatter->job;
    int64_t column_parts = parts < scatter->column_parts ? parts : scatter->column_parts;
    int64_t row_parts = parts / column_parts, row_part = index / column_parts;
    if (row_part >= row_parts)
        return;
    struct pdnn_span columns = pdnn_span_of(job->E, LINE, index % column_parts, column_parts);
    int64_t end = cut_rows(scatter, row_part + 1, row_parts);
    for (int64_t v = cut_rows(scatter, row_part, row_parts); v < end; v++) {
        for (int64_t column = columns.begin; column < columns.end; column += PDNN_SUM_COLUMNS) {
            int64_t left = columns.end - column;
            write_sums(scatter, v, column, left < PDNN_SUM_COLUMNS ? left : PDNN_SUM_COLUMNS);
        }
    }
    pdnn_bypass_fence();
}

PDNN_KERNEL(pdnn_embedding_backward, (const struct pdnn_embedding *job, int64_t threads), (job, threads)) {
    int64_t least = job->V < 4 * threads ? LINE : MIN_COLUMNS, wide = job->E / least;
    struct scatter scatter = {job, job->scratch, job->scratch + job->V + 1, wide < 1 || job->gate ? 1 : wide};
    sort_rows(&scatter);
    pdnn_team_run(threads, (job->R + job->V) * job->E, backward_part, &scatter);
}
