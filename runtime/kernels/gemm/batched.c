#include "runtime/kernels/gemm/batched.h"

#include "runtime/kernels/gemm/tiles.h"
#include "runtime/kernels/simd/eights.h"
#include "runtime/kernels/simd/kernel.h"
#include "runtime/kernels/simd/lanes.h"
#include "runtime/kernels/simd/team.h"

#include <string.h>

enum { THREAD_FLOATS = 1 << 16 }; /* of scratch */

static int64_t at(const struct pdnn_batched_place *place, int64_t sequence, int64_t head) {
    return sequence * place->sequence_stride + head * place->head_stride;
}

/* With few rows in an a that is not transposed: some heads of one sequence for some lines of b. With b (N, K)
 * transposed, a line is a column of the result. With b (K, N), a line is one term of every column: pass all
 * lines, or a separate y to be added up later. */
struct few {
    const struct pdnn_batched_job *job;
    int64_t sequence;
    struct pdnn_span heads, lines;
    float *y; /* for this sequence */
    struct pdnn_batched_place y_place;
};

/* A core gets more bandwidth when it reads from several places at once: STREAMS lines of b, far apart. With
 * heads side by side in a row, the heads' parts of a line are contiguous, so memory is read in order. */
enum { STREAMS = 4 };

/* The current lines of b, one per stream: `line`, `line` + apart, ... */
struct lines {
    const struct few *few;
    int64_t line, apart;
};

/* One row of one head. */
struct row {
    const float *a, *b; /* b: of the first current line; a: the whole row */
    float *y;
    int64_t apart; /* between current lines, in floats */
    int64_t length;
};

PDNN_INLINE struct row row_of(const struct lines *lines, int64_t m, int64_t head) {
    const struct few *few = lines->few;
    const struct pdnn_batched_job *job = few->job;
    const struct pdnn_batched_place *place = &job->b_place;
    return (struct row){
        .a = job->a + at(&job->a_place, few->sequence, head) + m * job->a_place.row_stride,
        .b = job->b + at(place, few->sequence, head) + lines->line * place->row_stride,
        .y = few->y + head * few->y_place.head_stride + m * few->y_place.row_stride,
        .apart = lines->apart * place->row_stride,
        .length = place->transposed ? job->K : job->N,
    };
}

/* y[line] = a . line, for each line. */
PDNN_INLINE void dot(const struct lines *lines, int64_t m, int64_t head, const int streams) {
    const struct row row = row_of(lines, m, head);
    pdnn_floats sum[STREAMS] = {{0}}, a, b;
    int64_t i = 0;
    for (; i + PDNN_LANES <= row.length; i += PDNN_LANES) {
        pdnn_load(&a, row.a + i);
#pragma GCC unroll 4
        for (int s = 0; s < streams; s++) {
            pdnn_load(&b, row.b + s * row.apart + i);
            sum[s] += a * b;
        }
    }
#pragma GCC unroll 4
    for (int s = 0; s < streams; s++) {
        float y = pdnn_sum(&sum[s]);
        for (int64_t k = i; k < row.length; k++)
            y += row.a[k] * row.b[s * row.apart + k];
        row.y[lines->line + s * lines->apart] = y;
    }
}

/* y += a[line] * line, summed over the current lines. */
PDNN_INLINE void combine(const struct lines *lines, int64_t m, int64_t head, const int streams) {
    const struct row row = row_of(lines, m, head);
    float a[STREAMS];
    int64_t i = 0;
    for (int s = 0; s < streams; s++)
        a[s] = row.a[lines->line + s * lines->apart];
    for (; i + PDNN_LANES <= row.length; i += PDNN_LANES) {
        pdnn_floats sum, b;
        pdnn_load(&sum, row.y + i);
#pragma GCC unroll 4
        for (int s = 0; s < streams; s++) {
            pdnn_load(&b, row.b + s * row.apart + i);
            sum += a[s] * b;
        }
        pdnn_store(row.y + i, &sum);
    }
    for (; i < row.length; i++) {
        for (int s = 0; s < streams; s++)
            row.y[i] += a[s] * row.b[s * row.apart + i];
    }
}

PDNN_INLINE void run_heads(const struct lines *lines, const bool transposed, const int streams) {
    const struct few *few = lines->few;
    for (int64_t m = 0; m < few->job->M; m++) {
        for (int64_t head = few->heads.begin; head < few->heads.end; head++)
            (transposed ? dot : combine)(lines, m, head, streams);
    }
}

PDNN_INLINE void run_lines(const struct few *few, const bool transposed) {
    int64_t apart = (few->lines.end - few->lines.begin) / STREAMS;
    for (int64_t t = 0; t < apart; t++)
        run_heads(&(struct lines){few, few->lines.begin + t, apart}, transposed, STREAMS);
    for (int64_t t = few->lines.begin + STREAMS * apart; t < few->lines.end; t++)
        run_heads(&(struct lines){few, t, 0}, transposed, 1);
}

static void dot_lines(const struct few *few) {
    run_lines(few, true);
}

static void combine_lines(const struct few *few) {
    run_lines(few, false);
}

static void run_few(const struct few *few) {
    const struct pdnn_batched_job *job = few->job;
    if (job->b_place.transposed) {
        dot_lines(few);
        return;
    }
    for (int64_t m = 0; m < job->M; m++) {
        for (int64_t head = few->heads.begin; head < few->heads.end; head++)
            memset(few->y + head * few->y_place.head_stride + m * few->y_place.row_stride, 0,
                   (size_t)job->N * sizeof *few->y);
    }
    combine_lines(few);
}

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

/* Multiplies all panels of the block with the tile of rows that starts at row r of the result. */
static void run_tile(const struct block *block, struct pdnn_tile *tile, int64_t r, struct ahead ahead[2]) {
    int64_t row_stride = block->job->y_place.row_stride;
    int64_t end = block->columns.end, rows = pdnn_least(PDNN_TILE_ROWS, block->rows.end - r);
    tile->c_stride = row_stride;
    tile->K = block->k.end - block->k.begin;
    tile->accumulate = block->k.begin > 0;
    tile->b = block->panels;
    for (int64_t c = block->columns.begin; c < end; c += WIDTH, tile->b += WIDTH * tile->K) {
        bool is_last = c + WIDTH >= end;
        fetch_result(block, is_last ? r + rows : r, is_last ? block->columns.begin : c + WIDTH);
        fetch(&ahead[0]);
        fetch(&ahead[1]);
        tile->c = block->y + r * row_stride + c;
        PDNN_HERE(pdnn_tile_run)(tile, rows, end - c);
    }
}

static void run_rows(const struct block *block, struct ahead ahead[2]) {
    const struct pdnn_batched_place *place = &block->job->a_place;
    int64_t stride = place->transposed ? 1 : place->row_stride;
    int64_t step = place->transposed ? place->row_stride : 1;
    for (int64_t r = block->rows.begin; r < block->rows.end; r += PDNN_TILE_ROWS) {
        struct pdnn_tile tile = {
            .a = block->a + r * stride + block->k.begin * step, .a_stride = stride, .a_step = step};
        run_tile(block, &tile, r, ahead);
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
    block->a = job->a + at(&job->a_place, head / job->h, head % job->h);
    block->b = job->b + at(&job->b_place, head / job->h, head % job->h);
    block->y = job->y + at(&job->y_place, head / job->h, head % job->h);
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

/* Up to FEW rows, packing b costs more than it saves. Threads then share heads or, with heads side by side,
 * lines of b, which are whole rows of memory, GRAIN at a time. In the tiled kernel threads share whole
 * matrices if those divide evenly or there are at least SHARES per thread, else rows, LEAST_ROWS at a time.
 * WEIGHT multiply-adds count as one element when deciding whether the work is enough for all threads. */
enum { FEW = 3, GRAIN = 16, SHARES = 8, LEAST_ROWS = 24, WEIGHT = 16 };

PDNN_KERNEL_VALUE(int64_t, pdnn_batched_scratch_floats, (int64_t threads), (threads)) {
    return threads * THREAD_FLOATS;
}

static bool is_few(int64_t M, bool a_transposed) {
    return M <= FEW && !a_transposed;
}

/* A line of b gives one column of the result (b transposed) or one term of every column. */
static int64_t count_lines(const struct pdnn_batched_job *job) {
    return job->b_place.transposed ? job->N : job->K;
}

static void tiles_part(void *state, int64_t index, int64_t parts) {
    const struct pdnn_batched_job *job = state;
    int64_t matrices = job->B * job->h;
    bool is_even = matrices % parts == 0 || matrices >= SHARES * parts;
    struct pdnn_span rows = pdnn_span_of(matrices * job->M, is_even ? job->M : LEAST_ROWS, index, parts);
    if (rows.begin < rows.end)
        run_tiles(job, rows, job->scratch + index * THREAD_FLOATS);
}

/* Splits by heads: some heads of some sequences, all lines of each. */
static void few_heads_part(void *state, int64_t index, int64_t parts) {
    const struct pdnn_batched_job *job = state;
    struct pdnn_span units = pdnn_span_of(job->B * job->h, 1, index, parts);
    for (int64_t unit = units.begin; unit < units.end;) {
        int64_t sequence = unit / job->h, first = unit % job->h;
        const struct few few = {
            .job = job,
            .sequence = sequence,
            .heads = {first, pdnn_least(job->h, first + units.end - unit)},
            .lines = {0, count_lines(job)},
            .y = job->y + at(&job->y_place, sequence, 0),
            .y_place = job->y_place,
        };
        run_few(&few);
        unit += few.heads.end - few.heads.begin;
    }
}

/* Splits by lines of all sequences. If a part starts inside a sequence and lines are terms of a sum, its
 * share of that sequence goes to the thread's scratch as (M, h, N) and is added afterwards. */
struct few_lines {
    const struct pdnn_batched_job *job;
    int64_t parts; /* parts actually run */
};

static struct pdnn_span lines_of(const struct pdnn_batched_job *job, int64_t index, int64_t parts) {
    return pdnn_span_of(job->B * count_lines(job), GRAIN, index, parts);
}

static bool has_rest(const struct pdnn_batched_job *job, struct pdnn_span lines) {
    return !job->b_place.transposed && lines.begin < lines.end && lines.begin % count_lines(job) != 0;
}

static void few_lines_part(void *state, int64_t index, int64_t parts) {
    struct few_lines *work = state;
    const struct pdnn_batched_job *job = work->job;
    struct pdnn_span mine = lines_of(job, index, parts);
    int64_t all = count_lines(job);
    bool rest = has_rest(job, mine);
    if (index == 0)
        work->parts = parts;
    for (int64_t line = mine.begin; line < mine.end; rest = false) {
        int64_t sequence = line / all, first = line % all;
        struct few few = {
            .job = job,
            .sequence = sequence,
            .heads = {0, job->h},
            .lines = {first, pdnn_least(all, first + mine.end - line)},
            .y = job->y + at(&job->y_place, sequence, 0),
            .y_place = job->y_place,
        };
        if (rest) {
            few.y = job->scratch + index * THREAD_FLOATS;
            few.y_place = (struct pdnn_batched_place){.head_stride = job->N, .row_stride = job->h * job->N};
        }
        run_few(&few);
        line += few.lines.end - few.lines.begin;
    }
}

static void add_rest(const struct pdnn_batched_job *job, int64_t sequence, const float *rest) {
    for (int64_t i = 0; i < job->M * job->h; i++, rest += job->N) {
        int64_t m = i / job->h, head = i % job->h;
        float *y = job->y + at(&job->y_place, sequence, head) + m * job->y_place.row_stride;
        for (int64_t n = 0; n < job->N; n++)
            y[n] += rest[n];
    }
}

static void run_few_lines(const struct pdnn_batched_job *job, int64_t elements, int64_t threads) {
    struct few_lines work = {job, 0};
    pdnn_team_run(threads, elements, few_lines_part, &work);
    for (int64_t index = 1; index < work.parts; index++) {
        struct pdnn_span lines = lines_of(job, index, work.parts);
        if (has_rest(job, lines))
            add_rest(job, lines.begin / count_lines(job), job->scratch + index * THREAD_FLOATS);
    }
}

PDNN_KERNEL(pdnn_batched_run, (const struct pdnn_batched_job *job, int64_t threads), (job, threads)) {
    struct pdnn_batched_job work = *job;
    int64_t elements = job->B * job->h * job->M * job->N * job->K / WEIGHT;
    bool few = is_few(job->M, job->a_place.transposed);
    bool by_lines =
        job->b_place.head_stride < job->b_place.row_stride && job->M * job->h * job->N <= THREAD_FLOATS;
    if (few && by_lines)
        run_few_lines(job, elements, threads);
    else
        pdnn_team_run(threads, elements, few ? few_heads_part : tiles_part, &work);
}
