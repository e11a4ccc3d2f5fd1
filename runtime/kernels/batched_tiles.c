#include "runtime/kernels/batched_loops.h"
#include "runtime/kernels/lanes.h"
#include "runtime/kernels/tiles.h"

#include <string.h>

/* A DEPTH of k at once: packed columns of b, as many as there is room for in L2, meet one tile of rows after
 * the other, which stays in L1 meanwhile. Rows of a transposed a are packed too, ROWS at once, so that each
 * cache line is read once: its rows are a power of two from each other and would share a few cache sets. */
enum { DEPTH = 256, ROWS = PDNN_BATCHED_ROWS_FLOATS / DEPTH };

struct block {
    const struct pdnn_tiles *tiles;
    const float *a, *b; /* of the head */
    float *y;
    const struct pdnn_batched_job *job;
    struct pdnn_span columns, k;
    float *panels, *rows;
};

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Packed: columns `width` at a time, and of these all k one after the other. */
struct panels {
    const float *from;
    int64_t stride, depth, columns, width;
    float *to;
};

/* From (k, columns): row by row, eight columns at once. */
PDNN_CLONES static void pack_plain(const struct panels *p) {
    int64_t whole = p->columns / p->width * p->width;
    for (int64_t k = 0; k < p->depth; k++) {
        const float *from = p->from + k * p->stride;
        float *to = p->to + k * p->width;
        for (int64_t c = 0; c < whole; c += p->width, to += p->width * p->depth) {
            for (int64_t i = 0; i < p->width; i += PDNN_LANES8)
                memcpy(to + i, from + c + i, PDNN_LANES8 * sizeof *from);
        }
        for (int64_t c = whole; c < p->columns; c++)
            to[c - whole] = from[c];
    }
}

/* From (columns, k), up to eight columns: in squares of eight where there are so many. */
PDNN_INLINE void transpose_columns(const struct panels *p, const float *from, int64_t columns, float *to) {
    int64_t whole = columns == PDNN_LANES8 ? p->depth / PDNN_LANES8 * PDNN_LANES8 : 0;
    for (int64_t k = 0; k < whole; k += PDNN_LANES8)
        pdnn_transpose8(from + k, p->stride, to + k * p->width, p->width);
    for (int64_t c = 0; c < columns; c++) {
        for (int64_t k = whole; k < p->depth; k++)
            to[k * p->width + c] = from[c * p->stride + k];
    }
}

PDNN_CLONES static void pack_transposed(const struct panels *p) {
    float *to = p->to;
    for (int64_t c = 0; c < p->columns; c += p->width, to += p->width * p->depth) {
        int64_t n = least(p->width, p->columns - c);
        for (int64_t i = 0; i < n; i += PDNN_LANES8)
            transpose_columns(p, p->from + (c + i) * p->stride, least(PDNN_LANES8, n - i), to + i);
    }
}

/* The columns that only fill the last panel up. */
static void clear_end(const struct panels *p) {
    int64_t used = p->columns % p->width;
    float *to = p->to + (p->columns - used) * p->depth + used;
    for (int64_t k = 0; used && k < p->depth; k++, to += p->width)
        memset(to, 0, (size_t)(p->width - used) * sizeof *to);
}

static void pack_panels(const struct block *block) {
    const struct pdnn_batched_place *place = &block->job->b_place;
    struct panels panels = {.stride = place->row_stride,
                            .depth = block->k.end - block->k.begin,
                            .columns = block->columns.end - block->columns.begin,
                            .width = block->tiles->width,
                            .to = block->panels};
    if (place->transposed) {
        panels.from = block->b + block->columns.begin * place->row_stride + block->k.begin;
        pack_transposed(&panels);
    } else {
        panels.from = block->b + block->k.begin * place->row_stride + block->columns.begin;
        pack_plain(&panels);
    }
    clear_end(&panels);
}

/* Rows of a, stored as columns: a tile's, as many as it has at most, one after the other for each k. */
PDNN_CLONES static void pack_rows(const float *from, int64_t stride, int64_t depth, int64_t rows, float *to) {
    enum { TILE = PDNN_TILE_ROWS };
    int64_t whole = rows / TILE * TILE;
    for (int64_t k = 0; k < depth; k++, from += stride) {
        for (int64_t r = 0; r < whole; r += TILE)
            memcpy(to + r * depth + k * TILE, from + r, TILE * sizeof *from);
        for (int64_t r = whole; r < rows; r++)
            to[whole * depth + k * TILE + r - whole] = from[r];
    }
}

/* All panels of the block, for a tile of rows that begins at row r of the result. */
static void run_tile(const struct block *block, struct pdnn_tile *tile, int64_t r, int64_t rows) {
    int64_t width = block->tiles->width, row_stride = block->job->y_place.row_stride;
    tile->c_stride = row_stride;
    tile->K = block->k.end - block->k.begin;
    tile->accumulate = block->k.begin > 0;
    tile->b = block->panels;
    for (int64_t c = block->columns.begin; c < block->columns.end; c += width, tile->b += width * tile->K) {
        tile->c = block->y + r * row_stride + c;
        pdnn_tile_run(block->tiles, tile, rows, block->columns.end - c);
    }
}

static void run_rows(const struct block *block, struct pdnn_span rows) {
    const struct pdnn_batched_place *place = &block->job->a_place;
    int64_t depth = block->k.end - block->k.begin;
    if (place->transposed)
        pack_rows(block->a + block->k.begin * place->row_stride + rows.begin, place->row_stride, depth,
                  rows.end - rows.begin, block->rows);
    for (int64_t r = rows.begin; r < rows.end; r += PDNN_TILE_ROWS) {
        struct pdnn_tile tile = {.a = block->a + r * place->row_stride + block->k.begin,
                                 .a_stride = place->row_stride,
                                 .a_step = 1};
        if (place->transposed) {
            tile.a = block->rows + (r - rows.begin) * depth;
            tile.a_stride = 1;
            tile.a_step = PDNN_TILE_ROWS;
        }
        run_tile(block, &tile, r, least(PDNN_TILE_ROWS, rows.end - r));
    }
}

void pdnn_batched_tiles(const struct pdnn_batched_job *job, int64_t sequence, int64_t head,
                        struct pdnn_span rows, float *scratch) {
    struct block block = {.tiles = pdnn_tiles_here(),
                          .a = job->a + pdnn_batched_at(&job->a_place, sequence, head),
                          .b = job->b + pdnn_batched_at(&job->b_place, sequence, head),
                          .y = job->y + pdnn_batched_at(&job->y_place, sequence, head),
                          .job = job,
                          .panels = scratch,
                          .rows = scratch + PDNN_BATCHED_PANEL_FLOATS};
    int64_t width = block.tiles->width;
    int64_t most = PDNN_BATCHED_PANEL_FLOATS / least(DEPTH, job->K) / width * width;
    for (int64_t c = 0; c < job->N; c += most) {
        block.columns = (struct pdnn_span){c, least(c + most, job->N)};
        for (int64_t k = 0; k < job->K; k += DEPTH) {
            block.k = (struct pdnn_span){k, least(k + DEPTH, job->K)};
            pack_panels(&block);
            for (int64_t r = rows.begin; r < rows.end; r += ROWS)
                run_rows(&block, (struct pdnn_span){r, least(r + ROWS, rows.end)});
        }
    }
}
