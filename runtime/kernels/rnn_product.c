#include "runtime/kernels/rnn_product.h"

#include "runtime/kernels/isa.h"
#include "runtime/kernels/team.h"

#include <stddef.h>
#include <string.h>

/* A panel's DEPTH of k is in L1 for all tiles of rows; ROWS of a, as deep, are in L2 for all panels. They are
 * copied so that they lie APART: rows a power of two from each other would share a few cache sets. */
enum { TILE_ROWS = 6, DEPTH = 256, ROWS = 192, WIDTH_MAX = 32, LINE = 16, APART = DEPTH + LINE };

/* c (rows, width of a panel) = a (rows, K) times K rows of a panel, or added to c. */
struct tile {
    const float *a, *b;
    float *c;
    int64_t K, a_stride, c_stride;
    bool accumulate;
};

struct tiles {
    int64_t width;                                       /* of a panel */
    void (*run[TILE_ROWS + 1])(const struct tile *tile); /* by rows */
};

#define PDNN_KERNEL "runtime/kernels/rnn_product_kernel.h"
#include "runtime/kernels/isa_variants.h"

#define VARIANT(name) {pdnn_isa_has_##name, &tiles_##name},
static const struct {
    bool (*has)(void);
    const struct tiles *tiles;
} variants[] = {PDNN_ISA_VARIANTS(VARIANT)};

static const struct tiles *tiles_here(void) {
    size_t i = 0;
    while (!variants[i].has())
        i++;
    return variants[i].tiles;
}

static int64_t up(int64_t n, int64_t grain) {
    return (n + grain - 1) / grain * grain;
}

int64_t pdnn_rnn_packed_floats(int64_t K, int64_t C) {
    return K * up(C, tiles_here()->width);
}

struct pack_job {
    const struct tiles *tiles;
    const float *b;
    int64_t K, C;
    bool transposed;
    float *packed;
};

/* Where the panel's rows from k on begin: DEPTH of k of all panels, then the next. */
static int64_t panel_at(const struct tiles *tiles, int64_t K, int64_t C, int64_t column, int64_t k) {
    int64_t depth = K - k < DEPTH ? K - k : DEPTH;
    return k * up(C, tiles->width) + column * depth;
}

static void pack_rows(const struct pack_job *job, int64_t column, int64_t k, int64_t depth, float *to) {
    int64_t width = job->tiles->width, n = job->C - column < width ? job->C - column : width;
    for (int64_t i = 0; i < depth; i++, to += width) {
        memcpy(to, job->b + (k + i) * job->C + column, (size_t)n * sizeof *to);
        memset(to + n, 0, (size_t)(width - n) * sizeof *to);
    }
}

/* Squares of a cache line, so that each line is read once and whole. */
static void pack_transposed(const struct pack_job *job, int64_t column, int64_t k, int64_t depth, float *to) {
    int64_t width = job->tiles->width, n = job->C - column < width ? job->C - column : width;
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
    struct pdnn_span columns = pdnn_span_of(job->C, job->tiles->width, index, parts);
    for (int64_t k = 0; k < job->K; k += DEPTH) {
        int64_t depth = job->K - k < DEPTH ? job->K - k : DEPTH;
        for (int64_t column = columns.begin; column < columns.end; column += job->tiles->width) {
            float *to = job->packed + panel_at(job->tiles, job->K, job->C, column, k);
            (job->transposed ? pack_transposed : pack_rows)(job, column, k, depth, to);
        }
    }
}

void pdnn_rnn_pack(const float *b, int64_t K, int64_t C, bool transposed, float *packed, int64_t threads) {
    struct pack_job job = {tiles_here(), b, K, C, transposed, packed};
    pdnn_team_run(threads, K * C, pack_part, &job);
}

struct product_job {
    const struct pdnn_rnn_product_job *product;
    const struct tiles *tiles;
};

/* A panel that reaches over the end: by way of a whole one. */
static void run_cut(const struct tiles *tiles, const struct tile *tile, int64_t rows, int64_t columns) {
    float whole[TILE_ROWS * WIDTH_MAX];
    struct tile other = *tile;
    other.c = whole;
    other.c_stride = tiles->width;
    other.accumulate = false;
    tiles->run[rows](&other);
    for (int64_t r = 0; r < rows; r++) {
        float *c = tile->c + r * tile->c_stride;
        for (int64_t i = 0; i < columns; i++)
            c[i] = whole[r * tiles->width + i] + (tile->accumulate ? c[i] : 0);
    }
}

/* n rows in tiles that are as even as can be. */
static void run_panel(const struct tiles *tiles, const struct tile *first, int64_t n, int64_t columns) {
    int64_t count = (n + TILE_ROWS - 1) / TILE_ROWS;
    struct tile tile = *first;
    for (int64_t i = 0; i < count; i++) {
        struct pdnn_span part = pdnn_span_of(n, 1, i, count);
        tile.a = first->a + part.begin * tile.a_stride;
        tile.c = first->c + part.begin * tile.c_stride;
        if (columns == tiles->width)
            tiles->run[part.end - part.begin](&tile);
        else
            run_cut(tiles, &tile, part.end - part.begin, columns);
    }
}

static void copy_rows(struct tile *tile, int64_t rows, float *copy) {
    for (int64_t r = 0; r < rows; r++)
        memcpy(copy + r * APART, tile->a + r * tile->a_stride, (size_t)tile->K * sizeof *copy);
    tile->a = copy;
    tile->a_stride = APART;
}

/* Panels [columns) of some rows and a depth of k, of which tile has the a and the K. */
static void run_block(const struct product_job *job, const struct tile *block, struct pdnn_span rows,
                      int64_t k, struct pdnn_span columns) {
    const struct pdnn_rnn_product_job *p = job->product;
    int64_t width = job->tiles->width;
    struct tile tile = *block;
    for (int64_t column = columns.begin; column < columns.end; column += width) {
        tile.b = p->packed + panel_at(job->tiles, p->K, p->C, column, k);
        tile.c = p->c + rows.begin * p->c_stride + column;
        run_panel(job->tiles, &tile, rows.end - rows.begin, p->C - column < width ? p->C - column : width);
    }
}

static void product_part(void *work, int64_t index, int64_t parts) {
    const struct product_job *job = work;
    const struct pdnn_rnn_product_job *p = job->product;
    struct pdnn_span columns = pdnn_span_of(p->C, job->tiles->width, index, parts);
    float copy[ROWS * APART];
    for (int64_t row = 0; row < p->N; row += ROWS) {
        struct pdnn_span rows = {row, row + ROWS < p->N ? row + ROWS : p->N};
        for (int64_t k = 0; k < p->K; k += DEPTH) {
            struct tile tile = {.a = p->a + row * p->a_stride + k,
                                .K = p->K - k < DEPTH ? p->K - k : DEPTH,
                                .a_stride = p->a_stride,
                                .c_stride = p->c_stride,
                                .accumulate = p->accumulate || k > 0};
            if (rows.end - rows.begin > TILE_ROWS)
                copy_rows(&tile, rows.end - rows.begin, copy);
            run_block(job, &tile, rows, k, columns);
        }
    }
}

void pdnn_rnn_product_run(const struct pdnn_rnn_product_job *job, int64_t threads) {
    struct product_job work = {job, tiles_here()};
    pdnn_team_run(threads, job->K * job->C, product_part, &work);
}
