#include "runtime/kernels/sequence/embedding.h"

#include "runtime/kernels/rows/add_rows.h"
#include "runtime/kernels/simd/bypass.h"
#include "runtime/kernels/simd/kernel.h"
#include "runtime/kernels/simd/team.h"

#include <string.h>

/* LINE floats are a cache line. Threads share columns as long as each gets MIN_COLUMNS of them, so that reads
 * and writes stay long enough for the hardware prefetcher. */
enum { LINE = 16, MIN_COLUMNS = 256, ALIGNED = 4 };

static void store(const struct pdnn_embedding *job, float *to, const float *from, int64_t n) {
    if (job->bypass && job->E % ALIGNED == 0)
        pdnn_bypass_copy(to, from, n);
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

PDNN_KERNEL_VALUE(int64_t, pdnn_embedding_scratch, (int64_t R, int64_t V), (R, V)) {
    return V + 1 + R;
}

/* The rows r of dy grouped by v: those of v start at order[first[v]]. first (V + 1), order (R). */
struct scatter {
    const struct pdnn_embedding *job;
    int64_t *first, *order;
    int64_t column_parts;
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
    for (int64_t r = 0; r < job->R; r++)
        scatter->order[first[job->ids[r]]++] = r;
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

/* Columns of one row, at most a block. */
static void write_sums(const struct scatter *scatter, int64_t v, int64_t column, int64_t n) {
    static const float zeros[PDNN_SUM_COLUMNS];
    const struct pdnn_embedding *job = scatter->job;
    const int64_t *order = scatter->order + scatter->first[v];
    int64_t count = scatter->first[v + 1] - scatter->first[v], at = v * job->E + column;
    const float *dy = job->from + column, *start = job->rest ? job->rest + at : zeros;
    float sums[PDNN_SUM_COLUMNS];
    if (!count && is_in_place(job))
        return;
    if (count && !job->rest) {
        start = dy + *order++ * job->E;
        count--;
    }
    if (!count) {
        store(job, job->to + at, start, n);
        return;
    }
    memcpy(sums, start, (size_t)n * sizeof *sums);
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
    struct scatter scatter = {job, job->scratch, job->scratch + job->V + 1, wide < 1 ? 1 : wide};
    sort_rows(&scatter);
    pdnn_team_run(threads, (job->R + job->V) * job->E, backward_part, &scatter);
}
