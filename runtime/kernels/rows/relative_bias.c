#include "runtime/kernels/rows/relative_bias.h"

#include "runtime/kernels/rows/add_rows.h"
#include "runtime/kernels/simd/bypass.h"
#include "runtime/kernels/simd/half_lanes.h"
#include "runtime/kernels/simd/kernel.h"
#include "runtime/kernels/simd/team.h"

#include <string.h>

/* Elements that are widened or wait to be streamed in L1; a cache line; rows that are summed in f32, how many
 * at a time, how many are made at a time, and how many parts of sums there are to share among threads. */
enum { BLOCK = 2048, LINE = 16, SUM_ROWS = 512, ROWS = 4, MADE_ROWS = 16, LEAST_ROWS = 16, PARTS = 64 };

static int64_t in_lines(int64_t n) {
    return (n + LINE - 1) / LINE * LINE;
}

/* How the kernel sees scores: by distance as they are, else each matrix as one row. Row i of a head's matrix
 * meets the head's line of cells from `start - i` on. */
struct shape {
    int64_t rows, columns, start;
};

static struct shape shape_of(const struct pdnn_relative_bias *job) {
    if (job->by_distance)
        return (struct shape){job->n, job->m, job->n - 1};
    return (struct shape){1, job->n * job->m, 0};
}

/* Columns of row i that are seen. */
static int64_t seen_of(const struct pdnn_relative_bias *job, const struct shape *shape, int64_t i) {
    int64_t seen = job->is_causal ? i + 1 + job->m - job->n : shape->columns;
    return seen > 0 ? seen : 0;
}

static const float *load(enum pdnn_half type, const void *values, int64_t at, float *block, int64_t n) {
    if (type == PDNN_HALF_COUNT)
        return (const float *)values + at;
    pdnn_half_widen(type, (const uint16_t *)values + at, block, n);
    return block;
}

/* Forward: the heads' lines of the table, h lines of in_lines(cells). */

PDNN_KERNEL_VALUE(int64_t, pdnn_relative_bias_forward_scratch, (const struct pdnn_relative_bias *job),
                  (job)) {
    return (job->h * in_lines(job->cells) + in_lines(job->rows * job->h)) * (int64_t)sizeof(float);
}

struct forward {
    const struct pdnn_relative_bias *job;
    struct shape shape;
    const float *table;
    float *lines;
};

static void spread_part(void *work, int64_t index, int64_t parts) {
    const struct forward *forward = work;
    const struct pdnn_relative_bias *job = forward->job;
    struct pdnn_span span = pdnn_span_of(job->cells, LINE, index, parts);
    for (int64_t head = 0; head < job->h; head++) {
        float *line = forward->lines + head * in_lines(job->cells);
        for (int64_t k = span.begin; k < span.end; k++)
            line[k] = forward->table[job->index[k] * job->h + head];
    }
}

/* Where a thread is: at column j of row i of a matrix of a head. */
struct cursor {
    int64_t head, i, j;
};

/* y = x + bias for n elements in f32 from the cursor on, which moves on; y may be x. */
static void add_elements(const struct forward *forward, struct cursor *at, const float *x, float *y,
                         int64_t n) {
    const struct pdnn_relative_bias *job = forward->job;
    const int64_t stride = in_lines(job->cells);
    while (n > 0) {
        int64_t count = pdnn_least(forward->shape.columns - at->j, n);
        int64_t seen = pdnn_least(seen_of(job, &forward->shape, at->i) - at->j, count);
        const float *bias = forward->lines + at->head * stride + forward->shape.start - at->i + at->j;
#pragma omp simd
        for (int64_t k = 0; k < seen; k++)
            y[k] = x[k] + bias[k];
        if (y != x && seen < count) {
            seen = seen > 0 ? seen : 0;
            memcpy(y + seen, x + seen, (size_t)(count - seen) * sizeof *y);
        }
        x += count;
        y += count;
        n -= count;
        at->j += count;
        if (at->j == forward->shape.columns) {
            at->j = 0;
            at->i = at->i + 1 == forward->shape.rows ? 0 : at->i + 1;
            at->head = at->i ? at->head : at->head + 1 == job->h ? 0 : at->head + 1;
        }
    }
}

static void add_part(void *work, int64_t index, int64_t parts) {
    const struct forward *forward = work;
    const struct pdnn_relative_bias *job = forward->job;
    const struct shape *shape = &forward->shape;
    struct pdnn_span span = pdnn_span_of(job->B * job->h * job->n * job->m, LINE, index, parts);
    int64_t row = span.begin / shape->columns;
    struct cursor at = {row / shape->rows % job->h, row % shape->rows, span.begin % shape->columns};
    bool is_half = job->type != PDNN_HALF_COUNT;
    float block[BLOCK];
    for (int64_t first = span.begin; first < span.end; first += BLOCK) {
        int64_t n = pdnn_least(BLOCK, span.end - first);
        const float *x = load(job->type, job->x, first, block, n);
        bool bypasses = job->bypass && !is_half && n % 4 == 0 && (uintptr_t)job->y % 16 == 0;
        float *y = is_half || bypasses ? block : (float *)job->y + first;
        add_elements(forward, &at, x, y, n);
        for (int64_t k = 0; bypasses && k < n; k += LINE) {
            __builtin_prefetch(x + n + k); /* the hardware's prefetcher stops at each block */
            pdnn_bypass_copy((float *)job->y + first + k, block + k, pdnn_least(LINE, n - k));
        }
        if (is_half)
            pdnn_half_narrow(job->type, block, (uint16_t *)job->y + first, n);
    }
    pdnn_bypass_fence();
}

static struct forward spread(const struct pdnn_relative_bias *job, int64_t threads) {
    float *lines = job->scratch, *table = lines + job->h * in_lines(job->cells);
    struct forward forward = {job, shape_of(job), NULL, lines};
    forward.table = load(job->table_type, job->table, 0, table, job->rows * job->h);
    pdnn_team_run(threads, job->h * job->cells, spread_part, &forward);
    return forward;
}

PDNN_KERNEL_VALUE(struct pdnn_relative_bias_lines, pdnn_relative_bias_spread,
                  (const struct pdnn_relative_bias *job, int64_t threads), (job, threads)) {
    const struct forward forward = spread(job, threads);
    return (struct pdnn_relative_bias_lines){forward.lines + forward.shape.start, in_lines(job->cells),
                                             job->by_distance ? -1 : job->m};
}

PDNN_KERNEL(pdnn_relative_bias_forward, (const struct pdnn_relative_bias *job, int64_t threads),
            (job, threads)) {
    struct forward forward = spread(job, threads);
    pdnn_team_run(threads, job->B * job->h * job->n * job->m, add_part, &forward);
}

/* Backward: parts of a head's rows are summed to a line of cells in f32, each thread its own, and that to a
 * column of a table in double, each part its own. */

struct backward {
    const struct pdnn_relative_bias *job;
    struct shape shape;
    int64_t chunk, chunks; /* rows of a part; parts of a head */
    float *lines;
    double *columns;
};

static struct backward backward_of(const struct pdnn_relative_bias *job) {
    struct backward backward = {.job = job, .shape = shape_of(job)};
    int64_t rows = job->B * backward.shape.rows, share = (rows * job->h + PARTS - 1) / PARTS;
    backward.chunk = pdnn_least(SUM_ROWS, share > LEAST_ROWS ? share : LEAST_ROWS);
    backward.chunks = (rows + backward.chunk - 1) / backward.chunk;
    return backward;
}

static int64_t lines_bytes(const struct pdnn_relative_bias *job, int64_t threads) {
    return threads * in_lines(job->cells) * (int64_t)sizeof(float);
}

PDNN_KERNEL_VALUE(int64_t, pdnn_relative_bias_backward_scratch,
                  (const struct pdnn_relative_bias *job, int64_t threads), (job, threads)) {
    const struct backward backward = backward_of(job);
    return lines_bytes(job, threads) + job->h * backward.chunks * job->rows * (int64_t)sizeof(double);
}

PDNN_INLINE void load_lanes(pdnn_floats *v, const void *x, int64_t at, int64_t n, const enum pdnn_half type) {
    if (type == PDNN_HALF_COUNT)
        pdnn_load_lanes(v, (const float *)x + at, n);
    else if (n == PDNN_LANES)
        pdnn_load_half(v, (const uint16_t *)x + at, type);
    else
        pdnn_load_half_part(v, (const uint16_t *)x + at, n, type);
}

PDNN_INLINE float value_of(const void *x, int64_t at, const enum pdnn_half type) {
    return type == PDNN_HALF_COUNT ? ((const float *)x)[at]
                                   : pdnn_half_value(((const uint16_t *)x)[at], type);
}

/* Rows of a head: row r is at `at + r stride` and meets the line from `-r shift` on. Its last column is at
 * the place `end - r shrink` of the line. */
struct rows {
    const void *x;
    int64_t at, stride, shift, end, shrink;
};

/* line += n <= PDNN_LANES columns of `count` rows from place p on. */
PDNN_INLINE void add_vector(const struct rows *rows, int64_t p, int64_t n, float *line, const int count,
                            const enum pdnn_half type) {
    const int64_t at = rows->at + p, step = rows->stride + rows->shift;
    pdnn_floats sum, x[ROWS];
    for (int r = 0; r < count; r++)
        load_lanes(&x[r], rows->x, at + r * step, n, type);
    pdnn_load_lanes(&sum, line + p, n);
    sum += count == ROWS ? (x[0] + x[1]) + (x[2] + x[3]) : x[0];
    if (n == PDNN_LANES)
        pdnn_store(line + p, &sum);
    else
        pdnn_store_part(line + p, &sum, n);
}

/* line += `count` rows, which is constant, as one sum: rows one by one would wait for each other's stores,
 * since what one has stored the next one loads from one element further. Rows that begin `ahead` elements
 * from these are fetched meanwhile; 0: none. */
PDNN_INLINE void add_few(const struct rows *rows, float *line, int64_t ahead, const int count,
                         const enum pdnn_half type) {
    const int64_t bytes = type == PDNN_HALF_COUNT ? 4 : 2, step = rows->stride + rows->shift;
    const int64_t all = rows->end - (count - 1) * rows->shrink;
    const char *next = (const char *)rows->x + (rows->at + ahead) * bytes;
    int64_t p = 0;
    for (; p + PDNN_LANES <= all; p += PDNN_LANES) {
        for (int r = 0; ahead && r < count; r++)
            __builtin_prefetch(next + (r * step + p) * bytes);
        add_vector(rows, p, PDNN_LANES, line, count, type);
    }
    if (p < all)
        add_vector(rows, p, all - p, line, count, type);
    for (int r = 0; r < count; r++) { /* what not all rows have */
        const int64_t end = rows->end - r * rows->shrink, at = rows->at + r * step;
        for (int64_t i = -r * rows->shift; i < pdnn_least(0, end); i++)
            line[i] += value_of(rows->x, at + i, type);
        for (int64_t i = all > 0 ? all : 0; i < end; i++)
            line[i] += value_of(rows->x, at + i, type);
    }
}

PDNN_INLINE void add_rows(struct rows rows, int64_t count, float *line, const enum pdnn_half type) {
    for (; count >= ROWS; count -= ROWS) {
        add_few(&rows, line, count >= 2 * ROWS ? ROWS * rows.stride : 0, ROWS, type);
        rows.at += ROWS * rows.stride;
        rows.end += ROWS * (rows.shift - rows.shrink);
        line -= ROWS * rows.shift;
    }
    for (; count > 0; count--) {
        add_few(&rows, line, 0, 1, type);
        rows.at += rows.stride;
        rows.end += rows.shift - rows.shrink;
        line -= rows.shift;
    }
}

/* Rows [begin, end) of a head, which may be of several matrices. */
PDNN_INLINE void sum_rows(const struct backward *backward, int64_t head, int64_t begin, int64_t end,
                          float *line, const enum pdnn_half type) {
    const struct pdnn_relative_bias *job = backward->job;
    const struct shape *shape = &backward->shape;
    if (!job->by_distance) {
        const int64_t columns = shape->columns, stride = job->h * columns;
        for (int64_t row = begin; job->make && row < end; row++)
            job->make(job->maker, (row * job->h + head) * job->n, (row * job->h + head + 1) * job->n);
        const struct rows whole = {job->x, begin * stride + head * columns, stride, 0, columns, 0};
        if (type == PDNN_HALF_COUNT)
            pdnn_add_few_rows((const float *)job->x + whole.at, stride, NULL, end - begin, line, columns);
        else
            add_rows(whole, end - begin, line, type);
        return;
    }
    for (int64_t row = begin, count; row < end; row += count) {
        const int64_t i = row % job->n, at = ((row / job->n * job->h + head) * job->n + i) * job->m;
        const bool is_causal = job->is_causal;
        const struct rows some = {job->x,    at, job->m, 1, is_causal ? i + 1 + job->m - job->n : job->m,
                                  !is_causal};
        count = pdnn_least(job->n - i, end - row);
        if (job->make) {
            count = pdnn_least(count, MADE_ROWS);
            job->make(job->maker, at / job->m, at / job->m + count);
        }
        add_rows(some, count, line + shape->start - i, type);
    }
}

/* Adds cells that share a row; neighbours often do. */
static void sum_cells(const struct pdnn_relative_bias *job, const float *line, double *column) {
    memset(column, 0, (size_t)job->rows * sizeof *column);
    for (int64_t k = 0; k < job->cells;) {
        int32_t row = job->index[k];
        double sum = 0;
        for (; k < job->cells && job->index[k] == row; k++)
            sum += (double)line[k];
        column[row] += sum;
    }
}

static void sum_part(void *work, int64_t index, int64_t parts) {
    const struct backward *backward = work;
    const struct pdnn_relative_bias *job = backward->job;
    float *line = backward->lines + index * in_lines(job->cells);
    struct pdnn_span span = pdnn_span_of(job->h * backward->chunks, 1, index, parts);
    for (int64_t part = span.begin; part < span.end; part++) {
        int64_t head = part / backward->chunks, begin = part % backward->chunks * backward->chunk;
        int64_t end = pdnn_least(begin + backward->chunk, job->B * backward->shape.rows);
        memset(line, 0, (size_t)job->cells * sizeof *line);
        const int64_t piece = job->make && !job->by_distance ? ROWS : end - begin;
        for (int64_t row = begin; job->type == PDNN_HALF_COUNT && row < end; row += piece)
            sum_rows(backward, head, row, pdnn_least(row + piece, end), line, PDNN_HALF_COUNT);
        if (job->type == PDNN_HALF_F16)
            sum_rows(backward, head, begin, end, line, PDNN_HALF_F16);
        else if (job->type == PDNN_HALF_BF16)
            sum_rows(backward, head, begin, end, line, PDNN_HALF_BF16);
        sum_cells(job, line, backward->columns + part * job->rows);
    }
}

static void finish_part(void *work, int64_t index, int64_t parts) {
    const struct backward *backward = work;
    const struct pdnn_relative_bias *job = backward->job;
    struct pdnn_span span = pdnn_span_of(job->rows, LINE, index, parts);
    for (int64_t k = span.begin * job->h; k < span.end * job->h; k++) {
        const double *column = backward->columns + k % job->h * backward->chunks * job->rows + k / job->h;
        double sum = 0;
        for (int64_t part = 0; part < backward->chunks; part++)
            sum += column[part * job->rows];
        float value = (float)(sum * (double)job->scale);
        if (job->table_type == PDNN_HALF_COUNT)
            ((float *)job->dtable)[k] = value;
        else
            pdnn_half_narrow(job->table_type, &value, (uint16_t *)job->dtable + k, 1);
    }
}

PDNN_KERNEL(pdnn_relative_bias_backward, (const struct pdnn_relative_bias *job, int64_t threads),
            (job, threads)) {
    struct backward backward = backward_of(job);
    backward.lines = job->scratch;
    backward.columns = (double *)(void *)((char *)job->scratch + lines_bytes(job, threads));
    pdnn_team_run(threads, job->B * job->h * job->n * job->m, sum_part, &backward);
    pdnn_team_run(threads, job->rows * job->h * backward.chunks, finish_part, &backward);
}
