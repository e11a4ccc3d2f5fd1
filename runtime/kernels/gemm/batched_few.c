#include "runtime/kernels/gemm/batched_few.h"

#include "runtime/kernels/simd/half_lanes.h"
#include "runtime/kernels/simd/kernel.h"
#include "runtime/kernels/simd/lanes.h"
#include "runtime/kernels/simd/team.h"

#include <string.h>

/* b (N, K) transposed or b (K, N) is lines, one after the other in memory. Of the first, a line is a column
 * of the result: its product with each row of a. Of the second, it is a term of every column. The rows of a
 * that a matrix of b meets are those of all heads that share it.
 *
 * A core gets more bandwidth when it reads from several places at once: STREAMS lines of b, far apart. With
 * heads side by side, the matrices' parts of a line are contiguous, so memory is read in order. ROWS rows at
 * a time meet STREAMS lines, by registers. */
enum { STREAMS = 4, ROWS = PDNN_LANES == 16 ? 4 : 2 };

/* Threads share matrices of b or, with heads side by side, lines, GRAIN at a time. Lines are taken CHUNK
 * floats of a or of y at a time, but at least GRAIN. WEIGHT multiply-adds count as one element when deciding
 * whether the work is enough for all threads. */
enum { GRAIN = 16, CHUNK = 1 << 15, WEIGHT = 16, LINE_FLOATS = 16, MOST_SUMS = 1 << 16 };

/* Rows in f32, that of row m of head i (of those of a piece) at first + i*head_stride + m*row_stride. */
struct floats {
    float *first;
    int64_t head_stride, row_stride;
};

/* Some matrices of b of one sequence for some lines. */
struct piece {
    const struct pdnn_batched_few_job *job;
    int64_t sequence;
    struct pdnn_span matrices, lines;
    struct floats a, y; /* a: from the first line on, where lines are terms; y: where they are columns */
};

/* Heads that share a matrix of b. */
static int64_t turns_of(const struct pdnn_batched_job *product) {
    return product->b_place.shared ? product->b_place.shared : 1;
}

/* A line of b gives one column of the result (b transposed) or one term of every column. */
static int64_t count_lines(const struct pdnn_batched_job *product) {
    return product->b_place.transposed ? product->N : product->K;
}

/* Some rows that meet the current lines of a matrix: `line`, `line` + apart, ... */
struct tile {
    const void *b;       /* all of it */
    int64_t at, b_apart; /* of the first line in b; between lines, in elements */
    int64_t length;      /* of a line */
    const float *a[ROWS];
    float *y[ROWS];
    int64_t line, apart; /* as a piece counts them */
};

/* y[line] = a . line, for each row and line. */
PDNN_INLINE void dot(const struct tile *tile, const int rows, const int streams, const enum pdnn_stored in) {
    pdnn_floats sum[ROWS * STREAMS] = {{0}}, b[STREAMS], a;
    int64_t i = 0;
    for (; i + PDNN_LANES <= tile->length; i += PDNN_LANES) {
#pragma GCC unroll 4
        for (int s = 0; s < streams; s++)
            pdnn_load_stored(&b[s], tile->b, tile->at + s * tile->b_apart + i, in);
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            pdnn_load(&a, tile->a[r] + i);
#pragma GCC unroll 4
            for (int s = 0; s < streams; s++)
                sum[r * STREAMS + s] += a * b[s];
        }
    }
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++) {
        float y[STREAMS];
        if (streams == STREAMS)
            pdnn_sum4(y, sum + r * STREAMS);
        else
            y[0] = pdnn_sum(sum + r * STREAMS);
#pragma GCC unroll 4
        for (int s = 0; s < streams; s++) {
            for (int64_t k = i; k < tile->length; k++)
                y[s] += tile->a[r][k] * pdnn_stored_value(tile->b, tile->at + s * tile->b_apart + k, in);
            tile->y[r][tile->line + s * tile->apart] = y[s];
        }
    }
}

/* y += a[line] * line, summed over the current lines, for each row. */
PDNN_INLINE void combine(const struct tile *tile, const int rows, const int streams,
                         const enum pdnn_stored in) {
    pdnn_floats b[STREAMS], sum;
    float a[ROWS * STREAMS];
    int64_t i = 0;
#pragma GCC unroll 16
    for (int k = 0; k < rows * streams; k++)
        a[k] = tile->a[k / streams][tile->line + k % streams * tile->apart];
    for (; i + PDNN_LANES <= tile->length; i += PDNN_LANES) {
#pragma GCC unroll 4
        for (int s = 0; s < streams; s++)
            pdnn_load_stored(&b[s], tile->b, tile->at + s * tile->b_apart + i, in);
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            pdnn_load(&sum, tile->y[r] + i);
#pragma GCC unroll 4
            for (int s = 0; s < streams; s++)
                sum += a[r * streams + s] * b[s];
            pdnn_store(tile->y[r] + i, &sum);
        }
    }
    for (; i < tile->length; i++) {
        for (int k = 0; k < rows * streams; k++)
            tile->y[k / streams][i] +=
                a[k] * pdnn_stored_value(tile->b, tile->at + k % streams * tile->b_apart + i, in);
    }
}

/* All rows that meet a matrix, of piece->lines from `line` on. */
PDNN_INLINE void run_matrix(const struct piece *piece, struct tile *tile, int64_t matrix, const bool dots,
                            const int streams, const enum pdnn_stored in) {
    const struct pdnn_batched_job *product = &piece->job->product;
    const struct pdnn_batched_place *place = &product->b_place;
    const int64_t turns = turns_of(product), M = product->M;
    const int64_t first = (matrix - piece->matrices.begin) * turns;
    tile->at = piece->sequence * place->sequence_stride + matrix * place->head_stride +
               (piece->lines.begin + tile->line) * place->row_stride;
    for (int64_t i = 0, head = first, m = 0; i < turns * M;) {
        const int rows = turns * M - i < ROWS ? 1 : ROWS;
        for (int r = 0; r < rows; r++, i++) {
            tile->a[r] = piece->a.first + head * piece->a.head_stride + m * piece->a.row_stride;
            tile->y[r] = piece->y.first + head * piece->y.head_stride + m * piece->y.row_stride;
            m = m + 1 == M ? 0 : m + 1;
            head += m == 0;
        }
        if (rows == ROWS)
            (dots ? dot : combine)(tile, ROWS, streams, in);
        else
            (dots ? dot : combine)(tile, 1, streams, in);
    }
}

PDNN_INLINE void run_lines(const struct piece *piece, const bool dots, const enum pdnn_stored in) {
    const struct pdnn_batched_job *product = &piece->job->product;
    const int64_t count = piece->lines.end - piece->lines.begin, apart = count / STREAMS;
    struct tile tile = {.b = piece->job->b,
                        .b_apart = apart * product->b_place.row_stride,
                        .length = dots ? product->K : product->N,
                        .apart = apart};
    for (; tile.line < apart; tile.line++) {
        for (int64_t i = piece->matrices.begin; i < piece->matrices.end; i++)
            run_matrix(piece, &tile, i, dots, STREAMS, in);
    }
    for (tile.line = STREAMS * apart; tile.line < count; tile.line++) {
        for (int64_t i = piece->matrices.begin; i < piece->matrices.end; i++)
            run_matrix(piece, &tile, i, dots, 1, in);
    }
}

#define RUN(name, dots, in)                                                                                  \
    static void name(const struct piece *piece) {                                                            \
        run_lines(piece, dots, in);                                                                          \
    }
RUN(dot_f32, true, PDNN_STORED_F32)
RUN(dot_bf16, true, PDNN_STORED_BF16)
RUN(dot_f16, true, PDNN_STORED_F16)
RUN(combine_f32, false, PDNN_STORED_F32)
RUN(combine_bf16, false, PDNN_STORED_BF16)
RUN(combine_f16, false, PDNN_STORED_F16)

static void run_chunk(const struct piece *piece) {
    static void (*const runs[2][3])(const struct piece *piece) = {{combine_f32, combine_bf16, combine_f16},
                                                                  {dot_f32, dot_bf16, dot_f16}};
    const struct pdnn_batched_few_job *job = piece->job;
    const enum pdnn_stored in = !job->is_half                 ? PDNN_STORED_F32
                                : job->half == PDNN_HALF_BF16 ? PDNN_STORED_BF16
                                                              : PDNN_STORED_F16;
    runs[job->product.b_place.transposed][in](piece);
}

/* Where row m of head i of a sequence is stored. */
static int64_t stored_at(const struct pdnn_batched_place *place, int64_t sequence, int64_t head, int64_t m) {
    return pdnn_batched_at(place, sequence, head) + m * place->row_stride;
}

static int64_t round_up(int64_t floats) {
    return (floats + LINE_FLOATS - 1) / LINE_FLOATS * LINE_FLOATS;
}

static int64_t rows_of(const struct pdnn_batched_job *product) {
    return product->h * product->M;
}

static int64_t chunk_of(const struct pdnn_batched_job *product) {
    int64_t lines = CHUNK / rows_of(product) / GRAIN * GRAIN;
    return pdnn_least(lines > GRAIN ? lines : GRAIN, count_lines(product));
}

/* Heads side by side, whose lines are whole rows of memory. */
static bool is_by_lines(const struct pdnn_batched_job *product) {
    return product->b_place.head_stride < product->b_place.row_stride &&
           rows_of(product) * product->N <= MOST_SUMS;
}

/* A thread's room: in 16 bit, copies of the rows of a and, of a chunk, those of y or of a; then sums that are
 * a part of those of the first sequence it works on. */
struct room {
    float *rows, *chunk, *sums;
};

static int64_t sums_floats(const struct pdnn_batched_job *product) {
    return product->b_place.transposed ? 0 : round_up(rows_of(product) * product->N);
}

static int64_t rows_floats(const struct pdnn_batched_few_job *job) {
    const struct pdnn_batched_job *product = &job->product;
    return job->is_half && product->b_place.transposed ? round_up(rows_of(product) * product->K) : 0;
}

static int64_t chunk_floats(const struct pdnn_batched_few_job *job) {
    return job->is_half ? round_up(rows_of(&job->product) * chunk_of(&job->product)) : 0;
}

static int64_t thread_floats(const struct pdnn_batched_few_job *job) {
    int64_t sums = is_by_lines(&job->product) ? sums_floats(&job->product) : 0;
    return rows_floats(job) + chunk_floats(job) + sums;
}

/* The sums of all sequences in 16 bit, before the threads' rooms. */
static int64_t all_floats(const struct pdnn_batched_few_job *job) {
    return job->is_half ? job->product.B * sums_floats(&job->product) : 0;
}

PDNN_KERNEL_VALUE(int64_t, pdnn_batched_few_scratch,
                  (const struct pdnn_batched_few_job *job, int64_t threads), (job, threads)) {
    return all_floats(job) + threads * thread_floats(job);
}

static struct room room_of(const struct pdnn_batched_few_job *job, int64_t index) {
    struct room room = {.rows = job->scratch + all_floats(job) + index * thread_floats(job)};
    room.chunk = room.rows + rows_floats(job);
    room.sums = room.chunk + chunk_floats(job);
    return room;
}

/* Widens elements [first, first + count) of the piece's rows of a, to consecutive rows. */
static struct floats widen_rows(const struct piece *piece, int64_t first, int64_t count, float *to) {
    const struct pdnn_batched_few_job *job = piece->job;
    const int64_t turns = turns_of(&job->product), M = job->product.M, begin = piece->matrices.begin * turns;
    for (int64_t i = begin * M; i < piece->matrices.end * turns * M; i++) {
        const int64_t at = stored_at(&job->product.a_place, piece->sequence, i / M, i % M) + first;
        pdnn_half_widen(job->half, (const uint16_t *)job->a + at, to + (i - begin * M) * count, count);
    }
    return (struct floats){to, M * count, count};
}

/* Narrows the piece's rows of floats to elements [first, first + count) of y. */
static void narrow_rows(const struct piece *piece, int64_t first, int64_t count, const struct floats *rows) {
    const struct pdnn_batched_few_job *job = piece->job;
    const int64_t turns = turns_of(&job->product), M = job->product.M, begin = piece->matrices.begin * turns;
    for (int64_t head = begin; head < piece->matrices.end * turns; head++) {
        for (int64_t m = 0; m < M; m++)
            pdnn_half_narrow(
                job->half, rows->first + (head - begin) * rows->head_stride + m * rows->row_stride,
                (uint16_t *)job->y + stored_at(&job->product.y_place, piece->sequence, head, m) + first,
                count);
    }
}

/* Where the piece's rows begin in an f32 tensor. */
static float *floats_at(const struct piece *piece, const struct pdnn_batched_place *place, const void *from) {
    const float *first = from;
    int64_t head = piece->matrices.begin * turns_of(&piece->job->product);
    return (float *)(uintptr_t)(first + stored_at(place, piece->sequence, head, 0));
}

/* Columns of the result, a chunk of lines at a time. */
static void run_dots(struct piece *piece, const struct room *room) {
    const struct pdnn_batched_few_job *job = piece->job;
    const struct pdnn_batched_job *product = &job->product;
    const struct pdnn_span lines = piece->lines;
    const int64_t chunk = chunk_of(product);
    piece->a = job->is_half ? widen_rows(piece, 0, product->K, room->rows)
                            : (struct floats){floats_at(piece, &product->a_place, job->a),
                                              product->a_place.head_stride, product->a_place.row_stride};
    for (int64_t line = lines.begin; line < lines.end; line += chunk) {
        piece->lines = (struct pdnn_span){line, pdnn_least(line + chunk, lines.end)};
        const int64_t count = piece->lines.end - line;
        piece->y = job->is_half ? (struct floats){room->chunk, product->M * count, count}
                                : (struct floats){floats_at(piece, &product->y_place, job->y) + line,
                                                  product->y_place.head_stride, product->y_place.row_stride};
        run_chunk(piece);
        if (job->is_half)
            narrow_rows(piece, line, count, &piece->y);
    }
}

/* Sums over lines, to piece->y. */
static void run_sums(struct piece *piece, const struct room *room) {
    const struct pdnn_batched_few_job *job = piece->job;
    const struct pdnn_batched_job *product = &job->product;
    const struct pdnn_span lines = piece->lines;
    const int64_t chunk = chunk_of(product);
    const int64_t heads = (piece->matrices.end - piece->matrices.begin) * turns_of(product);
    for (int64_t i = 0; i < heads * product->M; i++)
        memset(piece->y.first + i / product->M * piece->y.head_stride + i % product->M * piece->y.row_stride,
               0, (size_t)product->N * sizeof *piece->y.first);
    for (int64_t line = lines.begin; line < lines.end; line += chunk) {
        piece->lines = (struct pdnn_span){line, pdnn_least(line + chunk, lines.end)};
        piece->a = job->is_half ? widen_rows(piece, line, piece->lines.end - line, room->chunk)
                                : (struct floats){floats_at(piece, &product->a_place, job->a) + line,
                                                  product->a_place.head_stride, product->a_place.row_stride};
        run_chunk(piece);
    }
}

/* Where sums of a sequence go: to y or, in 16 bit, first to scratch, as (h, M, N). */
static struct floats sums_of(const struct piece *piece) {
    const struct pdnn_batched_few_job *job = piece->job;
    const struct pdnn_batched_job *product = &job->product;
    const int64_t N = product->N, head = piece->matrices.begin * turns_of(product);
    if (!job->is_half)
        return (struct floats){floats_at(piece, &product->y_place, job->y), product->y_place.head_stride,
                               product->y_place.row_stride};
    return (struct floats){job->scratch + piece->sequence * sums_floats(product) + head * product->M * N,
                           product->M * N, N};
}

struct work {
    const struct pdnn_batched_few_job *job;
    int64_t parts; /* actually run */
};

/* Splits by matrices: some of some sequences, all lines of each. */
static void matrices_part(void *state, int64_t index, int64_t parts) {
    const struct pdnn_batched_few_job *job = ((struct work *)state)->job;
    const struct pdnn_batched_job *product = &job->product;
    const int64_t matrices = product->h / turns_of(product);
    const struct pdnn_span units = pdnn_span_of(product->B * matrices, 1, index, parts);
    const struct room room = room_of(job, index);
    for (int64_t unit = units.begin; unit < units.end;) {
        const int64_t first = unit % matrices, end = pdnn_least(matrices, first + units.end - unit);
        struct piece piece = {.job = job,
                              .sequence = unit / matrices,
                              .matrices = {first, end},
                              .lines = {0, count_lines(product)}};
        if (product->b_place.transposed) {
            run_dots(&piece, &room);
        } else {
            piece.y = sums_of(&piece);
            run_sums(&piece, &room);
            piece.y = sums_of(&piece);
            if (job->is_half)
                narrow_rows(&piece, 0, product->N, &piece.y);
        }
        unit += end - first;
    }
}

static struct pdnn_span lines_of(const struct pdnn_batched_job *product, int64_t index, int64_t parts) {
    return pdnn_span_of(product->B * count_lines(product), GRAIN, index, parts);
}

/* Whether a thread's first sums are a part of a sequence that another one begins. */
static bool has_rest(const struct pdnn_batched_job *product, struct pdnn_span lines) {
    return !product->b_place.transposed && lines.begin < lines.end && lines.begin % count_lines(product) != 0;
}

/* Splits by lines of all sequences. If a part starts inside a sequence and lines are terms of a sum, its
 * share of that sequence goes to the thread's room as (h, M, N) and is added afterwards. */
static void lines_part(void *state, int64_t index, int64_t parts) {
    struct work *work = state;
    const struct pdnn_batched_few_job *job = work->job;
    const struct pdnn_batched_job *product = &job->product;
    const struct pdnn_span mine = lines_of(product, index, parts);
    const int64_t all = count_lines(product), N = product->N;
    const struct room room = room_of(job, index);
    bool rest = has_rest(product, mine);
    if (index == 0)
        work->parts = parts;
    for (int64_t line = mine.begin; line < mine.end; rest = false) {
        const int64_t first = line % all, end = pdnn_least(all, first + mine.end - line);
        struct piece piece = {.job = job,
                              .sequence = line / all,
                              .matrices = {0, product->h / turns_of(product)},
                              .lines = {first, end}};
        if (product->b_place.transposed) {
            run_dots(&piece, &room);
        } else {
            piece.y = rest ? (struct floats){room.sums, product->M * N, N} : sums_of(&piece);
            run_sums(&piece, &room);
        }
        line += end - first;
    }
}

/* Adds to the sums of sequences what several threads have of them. */
static void add_rests(const struct work *work) {
    const struct pdnn_batched_few_job *job = work->job;
    const struct pdnn_batched_job *product = &job->product;
    for (int64_t index = 1; index < work->parts; index++) {
        const struct pdnn_span lines = lines_of(product, index, work->parts);
        const struct piece piece = {.job = job, .sequence = lines.begin / count_lines(product)};
        const struct floats y = sums_of(&piece);
        const float *rest = room_of(job, index).sums;
        for (int64_t i = 0; has_rest(product, lines) && i < rows_of(product); i++, rest += product->N) {
            float *to = y.first + i / product->M * y.head_stride + i % product->M * y.row_stride;
            for (int64_t n = 0; n < product->N; n++)
                to[n] += rest[n];
        }
    }
}

static void narrow_part(void *state, int64_t index, int64_t parts) {
    const struct pdnn_batched_few_job *job = ((struct work *)state)->job;
    const struct pdnn_batched_job *product = &job->product;
    const struct pdnn_span sequences = pdnn_span_of(product->B, 1, index, parts);
    for (int64_t sequence = sequences.begin; sequence < sequences.end; sequence++) {
        struct piece piece = {
            .job = job, .sequence = sequence, .matrices = {0, product->h / turns_of(product)}};
        piece.y = sums_of(&piece);
        narrow_rows(&piece, 0, product->N, &piece.y);
    }
}

PDNN_KERNEL(pdnn_batched_few_run, (const struct pdnn_batched_few_job *job, int64_t threads), (job, threads)) {
    const struct pdnn_batched_job *product = &job->product;
    struct work work = {job, 0};
    int64_t elements = product->B * rows_of(product) * product->N * product->K / WEIGHT;
    if (!is_by_lines(product)) {
        pdnn_team_run(threads, elements, matrices_part, &work);
        return;
    }
    pdnn_team_run(threads, elements, lines_part, &work);
    if (product->b_place.transposed)
        return;
    add_rests(&work);
    if (job->is_half)
        pdnn_team_run(threads, product->B * rows_of(product) * product->N, narrow_part, &work);
}
