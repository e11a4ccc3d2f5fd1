#include "runtime/kernels/gemm/batched.h"

#include "runtime/kernels/gemm/tiles.h"
#include "runtime/kernels/simd/eights.h"
#include "runtime/kernels/simd/kernel.h"
#include "runtime/kernels/simd/lanes.h"
#include "runtime/kernels/simd/team.h"

#include <string.h>

enum { THREAD_FLOATS = 1 << 16 }; /* of scratch */

/* Blocks of DEPTH in k: as many packed columns of b as fit L2 meet one tile of rows of a after another; a
 * is read into L1 unpacked. (Packing the rows of a transposed a cost more than it saved, although they
 * are often a power of two apart and share cache sets.) While ROWS rows are computed, the next are
 * prefetched into L2. */
enum { DEPTH = 256, ROWS = 48, LINE_BYTES = 64, INTO_L2 = 2 };

/* A range of k and columns of one head. */
struct block {
    const struct pdnn_batched_job *job;
    const float *a, *b; /* of this head */
    float *y;
    struct pdnn_span rows, columns, k;
    float *panels;
};

/* Prefetches upcoming rows, a few at a time between tiles. The rows are too far apart for
 * the hardware prefetcher. */
struct ahead {
    const char *row; /* next one to prefetch */
    int64_t stride_bytes, bytes;
    int64_t rows, steps; /* rows to prefetch, spread evenly over the steps */
    int64_t due;         /* progress to the next row, out of `steps` */
};

/* Packed b: panels of WIDTH columns; within a panel, WIDTH floats for each k in turn. */
enum { WIDTH = PDNN_TILE_WIDTH };
struct panels {
    const float *from;
    int64_t stride, depth, columns;
    float *to;
};

/* Packs from (k, columns): row by row, a vector of columns at a time. */
static void pack_plain(const struct panels *p) {
    const int64_t apart = WIDTH * p->depth, columns = p->columns;
    for (int64_t k = 0; k < p->depth; k++) {
        const float *from = p->from + k * p->stride;
        float *to = p->to + k * WIDTH;
        int64_t c = 0, in_panel = 0;
        for (; c + PDNN_LANES <= columns; c += PDNN_LANES) {
            pdnn_floats v;
            pdnn_load(&v, from + c);
            pdnn_store(to + in_panel, &v);
            in_panel += PDNN_LANES;
            to += in_panel == WIDTH ? apart : 0;
            in_panel = in_panel == WIDTH ? 0 : in_panel;
        }
        for (; c < columns; c++)
            to[in_panel++] = from[c];
    }
}

/* Packs up to eight columns from (columns, k), in 8x8 blocks where all eight are there. */
PDNN_INLINE void transpose_columns(const struct panels *p, const float *from, int64_t columns, float *to) {
    int64_t whole = columns == PDNN_LANES8 ? p->depth / PDNN_LANES8 * PDNN_LANES8 : 0;
    for (int64_t k = 0; k < whole; k += PDNN_LANES8)
        pdnn_transpose8(from + k, p->stride, to + k * WIDTH, WIDTH);
    for (int64_t c = 0; c < columns; c++) {
        for (int64_t k = whole; k < p->depth; k++)
            to[k * WIDTH + c] = from[c * p->stride + k];
    }
}

static void pack_transposed(const struct panels *p) {
    float *to = p->to;
    for (int64_t c = 0; c < p->columns; c += WIDTH, to += WIDTH * p->depth) {
        int64_t n = pdnn_least(WIDTH, p->columns - c);
        for (int64_t i = 0; i < n; i += PDNN_LANES8)
            transpose_columns(p, p->from + (c + i) * p->stride, pdnn_least(PDNN_LANES8, n - i), to + i);
    }
}

/* Zeroes the padding columns of the last panel. */
static void clear_end(const struct panels *p) {
    int64_t used = p->columns % WIDTH;
    float *to = p->to + (p->columns - used) * p->depth + used;
    for (int64_t k = 0; used && k < p->depth; k++, to += WIDTH)
        memset(to, 0, (size_t)(WIDTH - used) * sizeof *to);
}

static void pack_panels(const struct block *block) {
    const struct pdnn_batched_place *place = &block->job->b_place;
    struct panels panels = {.stride = place->row_stride,
                            .depth = block->k.end - block->k.begin,
                            .columns = block->columns.end - block->columns.begin,
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

/* Sets up prefetching, in `steps` steps, of the stored rows that hold rows [along) and columns [across)
 * of an operand. */
static struct ahead ahead_of(const float *matrix, const struct pdnn_batched_place *place,
                             struct pdnn_span along, struct pdnn_span across, int64_t steps) {
    struct pdnn_span rows = place->transposed ? across : along, columns = place->transposed ? along : across;
    return (struct ahead){
        .row = (const char *)(matrix + rows.begin * place->row_stride + columns.begin),
        .stride_bytes = place->row_stride * (int64_t)sizeof *matrix,
        .bytes = (columns.end - columns.begin) * (int64_t)sizeof *matrix,
        .rows = rows.end - rows.begin,
        .steps = steps,
    };
}

static inline void fetch(struct ahead *ahead) {
    for (ahead->due += ahead->rows; ahead->due >= ahead->steps; ahead->due -= ahead->steps) {
        for (int64_t i = 0; i < ahead->bytes; i += LINE_BYTES)
            __builtin_prefetch(ahead->row + i, 0, INTO_L2);
        ahead->row += ahead->stride_bytes;
    }
}

/* Prefetches where a tile's result will be written. */
static inline void fetch_result(const struct block *block, int64_t r, int64_t c) {
    const struct pdnn_batched_place *place = &block->job->y_place;
    const float *y = block->y + r * place->row_stride + c;
    for (int64_t i = 0; i < PDNN_TILE_ROWS && r + i < block->rows.end; i++)
        __builtin_prefetch(y + i * place->row_stride, 1);
}

/* What row r of the result sees: columns of y, or terms of its sums. */
static struct pdnn_span seen_by(const struct pdnn_batched_job *job, int64_t r) {
    const struct pdnn_batched_window *window = &job->window;
    int64_t most = window->is_y ? job->N : job->K;
    int64_t begin = job->a_place.transposed ? r - window->shift : r + 1 + window->shift - window->size;
    int64_t end = begin + window->size;
    if (!window->size)
        return (struct pdnn_span){0, most};
    begin = begin > 0 ? pdnn_least(begin, most) : 0;
    end = end > begin ? pdnn_least(end, most) : begin;
    return (struct pdnn_span){begin, end};
}

/* The part that any of some rows sees; what each sees moves on from row to row. */
static struct pdnn_span seen_by_any(const struct pdnn_batched_job *job, int64_t r, int64_t rows) {
    return (struct pdnn_span){seen_by(job, r).begin, seen_by(job, r + rows - 1).end};
}

/* Some rows of the result with the terms of the block that they see. */
struct strip {
    int64_t r, rows;
    struct pdnn_span columns; /* seen */
    struct pdnn_tile tile;    /* of the terms seen */
    int64_t first;            /* of these terms within the block */
};

/* Zeroes what the rows do not see of columns [c, end). */
static void clear_unseen(const struct block *block, const struct strip *strip, int64_t c, int64_t end) {
    for (int64_t r = strip->r; r < strip->r + strip->rows; r++) {
        struct pdnn_span seen = seen_by(block->job, r);
        float *y = block->y + r * block->job->y_place.row_stride;
        for (int64_t i = c; i < end; i++)
            y[i] = i >= seen.begin && i < seen.end ? y[i] : 0;
    }
}

/* Multiplies all panels of the block with a strip. */
static void run_strip(const struct block *block, struct strip *strip, struct ahead ahead[2]) {
    const struct pdnn_batched_job *job = block->job;
    struct pdnn_tile *tile = &strip->tile;
    int64_t r = strip->r, rows = strip->rows, end = block->columns.end, depth = block->k.end - block->k.begin;
    tile->c_stride = job->y_place.row_stride;
    tile->accumulate = block->k.begin > 0 || job->adds;
    tile->b = block->panels + strip->first * WIDTH;
    for (int64_t c = block->columns.begin; c < end; c += WIDTH, tile->b += WIDTH * depth) {
        bool is_last = c + WIDTH >= end;
        fetch_result(block, is_last ? r + rows : r, is_last ? block->columns.begin : c + WIDTH);
        fetch(&ahead[0]);
        fetch(&ahead[1]);
        tile->c = block->y + r * tile->c_stride + c;
        if (c < strip->columns.end && c + WIDTH > strip->columns.begin)
            PDNN_HERE(pdnn_tile_run)(tile, rows, end - c);
        if (job->window.is_y && block->k.end == job->K)
            clear_unseen(block, strip, c, pdnn_least(c + WIDTH, end));
    }
}

/* The rows of a, with 0 for what each of them does not see. */
static void mask_rows(const struct block *block, struct strip *strip, float *masked) {
    struct pdnn_tile *tile = &strip->tile;
    int64_t begin = block->k.begin + strip->first;
    for (int64_t i = 0; i < strip->rows; i++) {
        struct pdnn_span seen = seen_by(block->job, strip->r + i);
        for (int64_t k = 0; k < tile->K; k++)
            masked[i * DEPTH + k] = begin + k >= seen.begin && begin + k < seen.end
                                        ? tile->a[i * tile->a_stride + k * tile->a_step]
                                        : 0;
    }
    tile->a = masked;
    tile->a_stride = DEPTH;
    tile->a_step = 1;
}

static void run_rows(const struct block *block, struct ahead ahead[2]) {
    const struct pdnn_batched_job *job = block->job;
    const struct pdnn_batched_place *place = &job->a_place;
    int64_t stride = place->transposed ? 1 : place->row_stride;
    int64_t step = place->transposed ? place->row_stride : 1;
    bool is_masked = job->window.size && !job->window.is_y;
    float masked[PDNN_TILE_ROWS * DEPTH];
    for (int64_t r = block->rows.begin; r < block->rows.end; r += PDNN_TILE_ROWS) {
        int64_t rows = pdnn_least(PDNN_TILE_ROWS, block->rows.end - r);
        struct pdnn_span terms = block->k;
        struct strip strip = {.r = r, .rows = rows, .columns = {0, job->N}};
        if (job->window.is_y)
            strip.columns = seen_by_any(job, r, rows);
        if (is_masked) {
            terms = seen_by_any(job, r, rows);
            terms.begin =
                terms.begin > block->k.begin ? pdnn_least(terms.begin, block->k.end) : block->k.begin;
            terms.end = terms.end > terms.begin ? pdnn_least(terms.end, block->k.end) : terms.begin;
        }
        strip.first = terms.begin - block->k.begin;
        strip.tile = (struct pdnn_tile){.a = block->a + r * stride + terms.begin * step,
                                        .K = terms.end - terms.begin,
                                        .a_stride = stride,
                                        .a_step = step};
        if (is_masked)
            mask_rows(block, &strip, masked);
        run_strip(block, &strip, ahead);
    }
}

/* Columns that fit the scratch. */
static int64_t most_columns(const struct block *block) {
    return THREAD_FLOATS / pdnn_least(DEPTH, block->job->K) / WIDTH * WIDTH;
}

/* Starts the head that contains rows.begin, with its first block of k and columns and the rows left of it. */
static void begin_head(struct block *block, struct pdnn_span rows) {
    const struct pdnn_batched_job *job = block->job;
    int64_t head = rows.begin / job->M, first = rows.begin % job->M;
    block->a = job->a + pdnn_batched_at(&job->a_place, head / job->h, head % job->h);
    block->b = job->b + pdnn_batched_at(&job->b_place, head / job->h, head % job->h);
    block->y = job->y + pdnn_batched_at(&job->y_place, head / job->h, head % job->h);
    block->rows = (struct pdnn_span){first, pdnn_least(job->M, first + rows.end - rows.begin)};
    block->k = (struct pdnn_span){0, pdnn_least(DEPTH, job->K)};
    block->columns = (struct pdnn_span){0, pdnn_least(most_columns(block), job->N)};
}

/* Moves to the next k, else the next columns, else the next head; false at the end. rows: the rows
 * not yet started. */
static bool advance(struct block *block, struct pdnn_span *rows) {
    const struct pdnn_batched_job *job = block->job;
    if (block->k.end < job->K) {
        block->k = (struct pdnn_span){block->k.end, pdnn_least(block->k.end + DEPTH, job->K)};
        return true;
    }
    block->k = (struct pdnn_span){0, pdnn_least(DEPTH, job->K)};
    if (block->columns.end < job->N) {
        int64_t end = block->columns.end + most_columns(block);
        block->columns = (struct pdnn_span){block->columns.end, pdnn_least(end, job->N)};
        return true;
    }
    if (rows->begin >= rows->end)
        return false;
    begin_head(block, *rows);
    rows->begin += block->rows.end - block->rows.begin;
    return true;
}

/* Number of tiles for `rows` rows in all columns of a block. */
static int64_t tiles_of(const struct block *block, int64_t rows) {
    return (rows + PDNN_TILE_ROWS - 1) / PDNN_TILE_ROWS *
           ((block->columns.end - block->columns.begin + WIDTH - 1) / WIDTH);
}

/* While a group of rows is computed, the next rows of a are prefetched; over the whole block, b of the
 * next block is. */
static void run_block(const struct block *block, const struct block *next) {
    const struct pdnn_batched_job *job = block->job;
    int64_t count = block->rows.end - block->rows.begin;
    struct ahead ahead[2] = {
        {0}, ahead_of(next->b, &job->b_place, next->k, next->columns, tiles_of(block, count))};
    struct block part = *block;
    pack_panels(block);
    for (int64_t r = block->rows.begin; r < block->rows.end; r += ROWS) {
        part.rows = (struct pdnn_span){r, pdnn_least(r + ROWS, block->rows.end)};
        const struct block *of = part.rows.end < block->rows.end ? block : next;
        int64_t first = of == block ? part.rows.end : next->rows.begin;
        struct pdnn_span rows = {first, pdnn_least(first + ROWS, of->rows.end)};
        ahead[0] = ahead_of(of->a, &job->a_place, rows, of->k, tiles_of(block, part.rows.end - r));
        run_rows(&part, ahead);
    }
}

/* Computes rows [rows) of the results of all heads, numbered head after head, in tiles with b packed. */
static void run_tiles(const struct pdnn_batched_job *job, struct pdnn_span rows, float *scratch) {
    struct block block = {.job = job, .panels = scratch};
    begin_head(&block, rows);
    rows.begin += block.rows.end - block.rows.begin;
    for (bool is_more = true; is_more;) {
        struct block next = block;
        is_more = advance(&next, &rows);
        run_block(&block, &next);
        block = next;
    }
}

/* Threads share whole matrices if those divide evenly or there are at least SHARES per thread, else rows,
 * LEAST_ROWS at a time. WEIGHT multiply-adds count as one element when deciding whether the work is enough
 * for all threads. */
enum { SHARES = 8, LEAST_ROWS = 24, WEIGHT = 16 };

PDNN_KERNEL_VALUE(int64_t, pdnn_batched_scratch_floats, (int64_t threads), (threads)) {
    return threads * THREAD_FLOATS;
}

static void tiles_part(void *state, int64_t index, int64_t parts) {
    const struct pdnn_batched_job *job = state;
    int64_t matrices = job->B * job->h;
    bool is_even = matrices % parts == 0 || matrices >= SHARES * parts;
    struct pdnn_span rows = pdnn_span_of(matrices * job->M, is_even ? job->M : LEAST_ROWS, index, parts);
    if (rows.begin < rows.end)
        run_tiles(job, rows, job->scratch + index * THREAD_FLOATS);
}

/* The matrices of heads `first`, `first` + apart, ... */
static void take_turn(struct pdnn_batched_place *place, const float **matrices, int64_t first,
                      int64_t apart) {
    *matrices += first * place->head_stride;
    place->head_stride *= apart;
}

/* Heads that share a matrix of y take turns. */
static void run_all_tiles(const struct pdnn_batched_job *job, int64_t elements, int64_t threads) {
    int64_t turns = job->y_place.shared ? job->y_place.shared : 1;
    for (int64_t turn = 0; turn < turns; turn++) {
        struct pdnn_batched_job one = *job;
        one.h /= turns;
        one.y_place.shared = 0;
        one.adds = job->adds || turn > 0;
        if (turns > 1) {
            take_turn(&one.a_place, &one.a, turn, turns);
            take_turn(&one.b_place, &one.b, turn, turns);
        }
        pdnn_team_run(threads, elements / turns, tiles_part, &one);
    }
}

PDNN_KERNEL(pdnn_batched_run, (const struct pdnn_batched_job *job, int64_t threads), (job, threads)) {
    run_all_tiles(job, job->B * job->h * job->M * job->N * job->K / WEIGHT, threads);
}
