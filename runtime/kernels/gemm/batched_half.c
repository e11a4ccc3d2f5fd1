#include "runtime/kernels/gemm/batched_half.h"

#include "runtime/kernels/simd/kernel.h"
#include "runtime/kernels/simd/team.h"

/* Rows of the result are computed as many at a time as fit PIECE floats with their terms, but at least ROWS:
 * copying b then costs little beside the product. */
enum { PIECE = 1 << 16, ROWS = 48, LINE = 16, WEIGHT = 16 };

static int64_t round_up(int64_t floats) {
    return (floats + LINE - 1) / LINE * LINE;
}

static int64_t piece_rows(const struct pdnn_batched_job *p) {
    int64_t rows = PIECE / (p->K + p->N);
    return pdnn_least(p->M, rows > ROWS ? rows : ROWS);
}

/* A thread's room: what the product itself needs, then the copies. */
static int64_t room_floats(const struct pdnn_batched_job *p) {
    int64_t rows = piece_rows(p);
    return pdnn_batched_scratch_floats(1) + round_up(rows * p->K) + round_up(p->K * p->N) +
           round_up(rows * p->N);
}

PDNN_KERNEL_VALUE(int64_t, pdnn_batched_half_scratch,
                  (const struct pdnn_batched_job *product, int64_t threads), (product, threads)) {
    return threads * round_up(room_floats(product));
}

/* A matrix of 16-bit elements, as it is stored. */
struct stored {
    const uint16_t *from;
    int64_t rows, columns, stride;
};

static void widen(enum pdnn_half type, const struct stored *m, float *to) {
    for (int64_t r = 0; r < m->rows; r++)
        pdnn_half_widen(type, m->from + r * m->stride, to + r * m->columns, m->columns);
}

/* Rows [first, first + rows) of the result of one head of one sequence. */
struct piece {
    int64_t sequence, head, first, rows;
};

struct room {
    float *product, *a, *b, *y;
    const uint16_t *widened; /* what b has */
};

/* Adds the head's product to y in the room, or sets y. */
static void multiply(const struct pdnn_batched_half_job *job, const struct piece *piece, bool adds,
                     struct room *room) {
    const struct pdnn_batched_job *p = &job->product;
    const struct pdnn_batched_place *of_a = &p->a_place, *of_b = &p->b_place;
    const uint16_t *a = job->a + pdnn_batched_at(of_a, piece->sequence, piece->head);
    const struct stored rows = {a + piece->first * of_a->row_stride, piece->rows, p->K, of_a->row_stride};
    const struct stored columns = {a + piece->first, p->K, piece->rows, of_a->row_stride};
    const struct stored b = {job->b + pdnn_batched_at(of_b, piece->sequence, piece->head),
                             of_b->transposed ? p->N : p->K, of_b->transposed ? p->K : p->N,
                             of_b->row_stride};
    widen(job->type, of_a->transposed ? &columns : &rows, room->a);
    if (room->widened != b.from)
        widen(job->type, &b, room->b);
    room->widened = b.from;
    struct pdnn_batched_job one = {
        .B = 1,
        .h = 1,
        .M = piece->rows,
        .N = p->N,
        .K = p->K,
        .a_place = {.row_stride = of_a->transposed ? piece->rows : p->K, .transposed = of_a->transposed},
        .b_place = {.row_stride = b.columns, .transposed = of_b->transposed},
        .y_place = {.row_stride = p->N},
        .window = p->window,
        .adds = adds,
        .a = room->a,
        .b = room->b,
        .y = room->y,
        .scratch = room->product,
    };
    one.window.shift += of_a->transposed ? -piece->first : piece->first;
    pdnn_batched_run(&one, 1);
}

static void run_piece(const struct pdnn_batched_half_job *job, struct piece piece, struct room *room) {
    const struct pdnn_batched_place *place = &job->product.y_place;
    int64_t N = job->product.N, turns = place->shared ? place->shared : 1;
    uint16_t *y = job->y + pdnn_batched_at(place, piece.sequence, piece.head);
    for (int64_t turn = 0; turn < turns; turn++, piece.head++)
        multiply(job, &piece, turn > 0, room);
    for (int64_t r = 0; r < piece.rows; r++)
        pdnn_half_narrow(job->type, room->y + r * N, y + (piece.first + r) * place->row_stride, N);
}

static void run_part(void *state, int64_t index, int64_t parts) {
    const struct pdnn_batched_half_job *job = state;
    const struct pdnn_batched_job *p = &job->product;
    int64_t shared = p->y_place.shared ? p->y_place.shared : 1, heads = p->h / shared;
    int64_t rows = piece_rows(p), pieces = (p->M + rows - 1) / rows;
    struct pdnn_span span = pdnn_span_of(p->B * heads * pieces, 1, index, parts);
    float *at = job->scratch + index * round_up(room_floats(p));
    struct room room = {.product = at, .a = at + pdnn_batched_scratch_floats(1)};
    room.b = room.a + round_up(rows * p->K);
    room.y = room.b + round_up(p->K * p->N);
    for (int64_t i = span.begin; i < span.end; i++) {
        int64_t matrix = i / pieces, first = i % pieces * rows;
        run_piece(
            job,
            (struct piece){matrix / heads, matrix % heads * shared, first, pdnn_least(rows, p->M - first)},
            &room);
    }
}

PDNN_KERNEL(pdnn_batched_half_run, (const struct pdnn_batched_half_job *job, int64_t threads),
            (job, threads)) {
    struct pdnn_batched_half_job copy = *job;
    const struct pdnn_batched_job *p = &job->product;
    pdnn_team_run(threads, p->B * p->h * p->M * p->N * p->K / WEIGHT, run_part, &copy);
}
