#include "runtime/kernels/rows/moves.h"

#include "runtime/kernels/simd/bypass.h"
#include "runtime/kernels/simd/kernel.h"
#include "runtime/kernels/simd/team.h"

#include <string.h>

struct moves_job {
    const struct pdnn_move *moves;
    int n_moves;
    bool bypass;
};

static bool is_aligned(const float *p) {
    return (uintptr_t)p % (4 * sizeof *p) == 0;
}

static void copy_row(float *to, const float *from, int64_t n, bool bypass) {
    if (bypass)
        pdnn_bypass_copy(to, from, n);
    else
        memcpy(to, from, (size_t)n * sizeof *to);
}

static void clear_row(float *to, int64_t n, bool bypass) {
    enum { ZEROS = 1024 };
    static const float zeros[ZEROS];
    for (int64_t i = 0; i < n; i += ZEROS)
        copy_row(to + i, zeros, n - i < ZEROS ? n - i : ZEROS, bypass);
}

/* Moves some of the rows, as one long row if they are contiguous. */
static void move_rows(const struct pdnn_move *move, struct pdnn_span rows, bool bypass) {
    int64_t n = move->columns, count = rows.end - rows.begin;
    bool is_dense = move->to_stride == n && (!move->from || move->from_stride == n);
    bypass = bypass && is_aligned(move->to) && move->to_stride % 4 == 0 && n % 4 == 0;
    if (is_dense) {
        n *= count;
        count = count > 0;
    }
    for (int64_t i = 0; i < count; i++) {
        float *to = move->to + (rows.begin + i) * move->to_stride;
        if (move->from)
            copy_row(to, move->from + (rows.begin + i) * move->from_stride, n, bypass);
        else
            clear_row(to, n, bypass);
    }
}

static void move_part(void *work, int64_t index, int64_t parts) {
    const struct moves_job *job = work;
    for (int i = 0; i < job->n_moves; i++)
        move_rows(&job->moves[i], pdnn_span_of(job->moves[i].rows, 1, index, parts), job->bypass);
    pdnn_bypass_fence();
}

PDNN_KERNEL(pdnn_moves_run, (const struct pdnn_move *moves, int n_moves, bool bypass, int64_t threads),
            (moves, n_moves, bypass, threads)) {
    struct moves_job job = {moves, n_moves, bypass};
    int64_t elements = 0;
    for (int i = 0; i < n_moves; i++)
        elements += moves[i].rows * moves[i].columns;
    pdnn_team_run(threads, elements, move_part, &job);
}

/* A tile is all channels and rows of some columns of an image. Their rows of the sequences stay in
 * the thread's cache until they are complete, and the pieces read from the image are long enough for
 * the hardware prefetcher. */
enum { TILE_COLUMNS = 32 };

struct sequence_job {
    const struct pdnn_sequence *shape;
    const float *from;
    float *to;
    bool forward;
};

/* Neighbouring columns of one block of channels and one row. In the image columns are `block` floats
 * apart; in the sequences channels are F floats apart and columns `step` floats. */
struct strip {
    int64_t columns, width, block, F, step;
};

static void to_sequences(const struct strip *s, const float *image, float *sequences) {
    for (int64_t t = 0; t < s->columns; t++) {
        for (int64_t c = 0; c < s->width; c++)
            sequences[t * s->step + c * s->F] = image[t * s->block + c];
    }
}

static void to_image(const struct strip *s, const float *sequences, float *image) {
    for (int64_t t = 0; t < s->columns; t++) {
        for (int64_t c = 0; c < s->width; c++)
            image[t * s->block + c] = sequences[t * s->step + c * s->F];
        for (int64_t c = s->width; c < s->block; c++)
            image[t * s->block + c] = 0;
    }
}

static void move_tile(const struct sequence_job *job, int64_t n, struct pdnn_span t) {
    const struct pdnn_sequence *s = job->shape;
    int64_t features = s->C * s->F, blocks = (s->C + s->block - 1) / s->block;
    struct strip strip = {t.end - t.begin, 0, s->block, s->F, s->N * features};
    for (int64_t i = 0; i < blocks * s->F; i++) {
        int64_t c = i / s->F * s->block, f = i % s->F;
        int64_t image = ((n * blocks * s->F + i) * s->T + t.begin) * s->block;
        int64_t sequence = (t.begin * s->N + n) * features + c * s->F + f;
        strip.width = s->C - c < s->block ? s->C - c : s->block;
        if (job->forward)
            to_sequences(&strip, job->from + image, job->to + sequence);
        else
            to_image(&strip, job->from + sequence, job->to + image);
    }
}

static void sequence_part(void *work, int64_t index, int64_t parts) {
    const struct sequence_job *job = work;
    int64_t T = job->shape->T, tiles = (T + TILE_COLUMNS - 1) / TILE_COLUMNS;
    struct pdnn_span mine = pdnn_span_of(job->shape->N * tiles, 1, index, parts);
    for (int64_t i = mine.begin; i < mine.end; i++) {
        int64_t first = i % tiles * TILE_COLUMNS, end = first + TILE_COLUMNS;
        move_tile(job, i / tiles, (struct pdnn_span){first, end < T ? end : T});
    }
}

static void run_sequence(struct sequence_job *job, int64_t threads) {
    const struct pdnn_sequence *s = job->shape;
    pdnn_team_run(threads, s->N * s->C * s->F * s->T, sequence_part, job);
}

PDNN_KERNEL(pdnn_sequence_forward,
            (const struct pdnn_sequence *shape, const float *images, float *sequences, int64_t threads),
            (shape, images, sequences, threads)) {
    run_sequence(&(struct sequence_job){shape, images, sequences, true}, threads);
}

PDNN_KERNEL(pdnn_sequence_backward,
            (const struct pdnn_sequence *shape, const float *sequences, float *images, int64_t threads),
            (shape, sequences, images, threads)) {
    run_sequence(&(struct sequence_job){shape, sequences, images, false}, threads);
}
