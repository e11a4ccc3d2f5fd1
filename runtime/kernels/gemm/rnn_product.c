#include "runtime/kernels/gemm/rnn_product.h"

#include "runtime/kernels/gemm/tiles.h"
#include "runtime/kernels/simd/kernel.h"
#include "runtime/kernels/simd/team.h"

#include <stddef.h>
#include <string.h>

/* DEPTH of k of a panel stays in L1 for all tiles of rows; ROWS rows of a, as deep, stay in L2 for all
 * panels. The rows of a are copied with a stride of APART floats, since rows a power of two apart would share
 * a few cache sets. */
enum { DEPTH = 256, ROWS = 192, LINE = 16, APART = DEPTH + LINE };

static int64_t up(int64_t n, int64_t grain) {
    return (n + grain - 1) / grain * grain;
}

PDNN_KERNEL_VALUE(int64_t, pdnn_rnn_packed_floats, (int64_t K, int64_t C), (K, C)) {
    return K * up(C, PDNN_TILE_WIDTH);
}

struct pack_job {
    const float *b;
    int64_t K, C;
    bool transposed;
    float *packed;
};

/* Start of a panel's rows from k on. Layout: DEPTH of k for all panels, then the next DEPTH. */
static int64_t panel_at(int64_t K, int64_t C, int64_t column, int64_t k) {
    int64_t depth = K - k < DEPTH ? K - k : DEPTH;
    return k * up(C, PDNN_TILE_WIDTH) + column * depth;
}

static void pack_rows(const struct pack_job *job, int64_t column, int64_t k, int64_t depth, float *to) {
    const int64_t width = PDNN_TILE_WIDTH, n = job->C - column;
    for (int64_t i = 0; i < depth; i++, to += width) {
        const float *from = job->b + (k + i) * job->C + column;
        if (n >= width) {
            memcpy(to, from, PDNN_TILE_WIDTH * sizeof *to);
        } else {
            memcpy(to, from, (size_t)n * sizeof *to);
            memset(to + n, 0, (size_t)(width - n) * sizeof *to);
        }
    }
}

/* In squares of a cache line, so that each line is read once and completely. */
static void pack_transposed(const struct pack_job *job, int64_t column, int64_t k, int64_t depth, float *to) {
    const int64_t width = PDNN_TILE_WIDTH, n = job->C - column < width ? job->C - column : width;
    for (int64_t i = 0; i < depth; i += LINE) {
        int64_t end = i + LINE < depth ? i + LINE : depth;
        for (int64_t c = 0; c < n; c++) {
            const float *from = job->b + (column + c) * job->K + k;
            for (int64_t q = i; q < end; q++)
                to[q * width + c] = from[q];
        }
        for (int64_t q = i; q < end; q++)
            memset(to + q * width + n, 0, (size_t)(width - n) * sizeof *to);
    }
}

static void pack_part(void *work, int64_t index, int64_t parts) {
    const struct pack_job *job = work;
    struct pdnn_span columns = pdnn_span_of(job->C, PDNN_TILE_WIDTH, index, parts);
    for (int64_t k = 0; k < job->K; k += DEPTH) {
        int64_t depth = job->K - k < DEPTH ? job->K - k : DEPTH;
        for (int64_t column = columns.begin; column < columns.end; column += PDNN_TILE_WIDTH) {
            float *to = job->packed + panel_at(job->K, job->C, column, k);
            (job->transposed ? pack_transposed : pack_rows)(job, column, k, depth, to);
        }
    }
}

PDNN_KERNEL(pdnn_rnn_pack,
            (const float *b, int64_t K, int64_t C, bool transposed, float *packed, int64_t threads),
            (b, K, C, transposed, packed, threads)) {
    struct pack_job job = {b, K, C, transposed, packed};
    pdnn_team_run(threads, K * C, pack_part, &job);
}

/* n rows, in tiles as equal in height as possible. */
static void run_panel(const struct pdnn_tile *first, int64_t n, int64_t columns) {
    int64_t count = (n + PDNN_TILE_ROWS - 1) / PDNN_TILE_ROWS;
    struct pdnn_tile tile = *first;
    for (int64_t i = 0; i < count; i++) {
        struct pdnn_span part = pdnn_span_of(n, 1, i, count);
        tile.a = first->a + part.begin * tile.a_stride;
        tile.c = first->c + part.begin * tile.c_stride;
        PDNN_HERE(pdnn_tile_run)(&tile, part.end - part.begin, columns);
    }
}

static void copy_rows(struct pdnn_tile *tile, int64_t rows, float *copy) {
    for (int64_t r = 0; r < rows; r++)
        memcpy(copy + r * APART, tile->a + r * tile->a_stride, (size_t)tile->K * sizeof *copy);
    tile->a = copy;
    tile->a_stride = APART;
}

/* Panels [columns) for some rows and one block of k; `block` has a and K. */
static void run_block(const struct pdnn_rnn_product_job *p, const struct pdnn_tile *block,
                      struct pdnn_span rows, int64_t k, struct pdnn_span columns) {
    const int64_t width = PDNN_TILE_WIDTH;
    struct pdnn_tile tile = *block;
    for (int64_t column = columns.begin; column < columns.end; column += width) {
        tile.b = p->packed + panel_at(p->K, p->C, column, k);
        tile.c = p->c + rows.begin * p->c_stride + column;
        run_panel(&tile, rows.end - rows.begin, p->C - column < width ? p->C - column : width);
    }
}

static void product_part(void *work, int64_t index, int64_t parts) {
    const struct pdnn_rnn_product_job *p = work;
    struct pdnn_span columns = pdnn_span_of(p->C, PDNN_TILE_WIDTH, index, parts);
    float copy[ROWS * APART];
    for (int64_t row = 0; row < p->N; row += ROWS) {
        struct pdnn_span rows = {row, row + ROWS < p->N ? row + ROWS : p->N};
        for (int64_t k = 0; k < p->K; k += DEPTH) {
            struct pdnn_tile tile = {.a = p->a + row * p->a_stride + k,
                                     .K = p->K - k < DEPTH ? p->K - k : DEPTH,
                                     .a_stride = p->a_stride,
                                     .a_step = 1,
                                     .c_stride = p->c_stride,
                                     .accumulate = p->accumulate || k > 0};
            if (rows.end - rows.begin > PDNN_TILE_ROWS)
                copy_rows(&tile, rows.end - rows.begin, copy);
            run_block(p, &tile, rows, k, columns);
        }
    }
}

PDNN_KERNEL(pdnn_rnn_product_run, (const struct pdnn_rnn_product_job *job, int64_t threads), (job, threads)) {
    struct pdnn_rnn_product_job copy = *job;
    pdnn_team_run(threads, job->K * job->C, product_part, &copy);
}
