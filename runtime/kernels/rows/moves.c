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

/* What a streaming store needs of addresses and sizes. */
enum { STORE_BYTES = 16, GRAIN_BYTES = 64 };

static void copy_bytes(char *to, const char *from, int64_t n, bool bypass) {
    if (bypass)
        pdnn_bypass_move((float *)(void *)to, (const float *)(const void *)from, n / (int64_t)sizeof(float));
    else
        memcpy(to, from, (size_t)n);
}

static void clear_bytes(char *to, int64_t n, bool bypass) {
    enum { ZEROS = 4096 };
    static const char zeros[ZEROS];
    for (int64_t i = 0; i < n; i += ZEROS)
        copy_bytes(to + i, zeros, n - i < ZEROS ? n - i : ZEROS, bypass);
}

/* Moves the bytes of the span, counted along the rows; contiguous rows are one. */
static void move_span(const struct pdnn_move *move, struct pdnn_span bytes, bool bypass) {
    bool is_dense = move->to_stride == move->columns && (!move->from || move->from_stride == move->columns);
    int64_t columns = is_dense ? move->rows * move->columns : move->columns;
    int64_t row = columns ? bytes.begin / columns : 0, column = bytes.begin - row * columns;
    bypass = bypass && (uintptr_t)move->to % STORE_BYTES == 0 && move->to_stride % STORE_BYTES == 0 &&
             move->columns % STORE_BYTES == 0;
    for (int64_t at = bytes.begin; at < bytes.end; row++, column = 0) {
        int64_t n = pdnn_least(columns - column, bytes.end - at);
        char *to = (char *)move->to + row * move->to_stride + column;
        if (move->from)
            copy_bytes(to, (const char *)move->from + row * move->from_stride + column, n, bypass);
        else
            clear_bytes(to, n, bypass);
        at += n;
    }
}

static void move_part(void *work, int64_t index, int64_t parts) {
    const struct moves_job *job = work;
    for (int i = 0; i < job->n_moves; i++) {
        int64_t bytes = job->moves[i].rows * job->moves[i].columns;
        move_span(&job->moves[i], pdnn_span_of(bytes, GRAIN_BYTES, index, parts), job->bypass);
    }
    pdnn_bypass_fence();
}

PDNN_KERNEL(pdnn_moves_run, (const struct pdnn_move *moves, int n_moves, bool bypass, int64_t threads),
            (moves, n_moves, bypass, threads)) {
    struct moves_job job = {moves, n_moves, bypass};
    int64_t bytes = 0;
    for (int i = 0; i < n_moves; i++)
        bytes += moves[i].rows * moves[i].columns;
    pdnn_team_run(threads, bytes / (int64_t)sizeof(float), move_part, &job);
}

/* Images in units of 16 bits: the place of a pixel of the box, at channel c of the box, in row h of image n,
 * and how many channels follow in its block. */
struct place {
    int64_t unit, channels;
};

static struct place place_of(const struct pdnn_image *image, const int64_t at[4], int64_t n, int64_t c,
                             int64_t h, int64_t units) {
    int64_t blocks = (image->dim[1] + image->block - 1) / image->block, channel = at[1] + c;
    int64_t plane = (at[0] + n) * blocks + channel / image->block;
    int64_t pixel = (plane * image->dim[2] + at[2] + h) * image->dim[3] + at[3];
    return (struct place){(pixel * image->block + channel % image->block) * units,
                          image->block - channel % image->block};
}

static void copy_pixels(uint16_t *to, int64_t to_step, const uint16_t *from, int64_t from_step,
                        int64_t pixels, int64_t units) {
    if (to_step == units && from_step == units) {
        memcpy(to, from, (size_t)(pixels * units) * sizeof *to);
        return;
    }
    for (int64_t p = 0; p < pixels; p++)
        for (int64_t i = 0; i < units; i++)
            to[p * to_step + i] = from[p * from_step + i];
}

static void clear_pixels(uint16_t *to, int64_t step, int64_t pixels, int64_t units) {
    for (int64_t p = 0; p < pixels; p++)
        for (int64_t i = 0; i < units; i++)
            to[p * step + i] = 0;
}

/* A row of pixels of the box, by runs of channels that lie side by side on both sides. */
static void move_pixels(const struct pdnn_box *box, int64_t n, int64_t h) {
    const int64_t units = box->element_bytes / (int64_t)sizeof(uint16_t), W = box->size[3];
    const int64_t to_step = box->to_image.block * units, from_step = box->from_image.block * units;
    uint16_t *to = box->to;
    struct place place = {0};
    for (int64_t c = 0; c < box->size[1];) {
        place = place_of(&box->to_image, box->to_at, n, c, h, units);
        int64_t channels = pdnn_least(place.channels, box->size[1] - c);
        if (box->from) {
            struct place source = place_of(&box->from_image, box->from_at, n, c, h, units);
            channels = pdnn_least(channels, source.channels);
            copy_pixels(to + place.unit, to_step, (const uint16_t *)box->from + source.unit, from_step, W,
                        channels * units);
        } else {
            clear_pixels(to + place.unit, to_step, W, channels * units);
        }
        place.unit += channels * units;
        place.channels -= channels;
        c += channels;
    }
    if (box->to_at[1] + box->size[1] == box->to_image.dim[1])
        clear_pixels(to + place.unit, to_step, W, place.channels * units);
}

struct boxes_job {
    const struct pdnn_box *boxes;
    int n_boxes;
};

static void boxes_part(void *work, int64_t index, int64_t parts) {
    const struct boxes_job *job = work;
    for (int i = 0; i < job->n_boxes; i++) {
        const struct pdnn_box *box = &job->boxes[i];
        struct pdnn_span rows = pdnn_span_of(box->size[0] * box->size[2], 1, index, parts);
        for (int64_t row = rows.begin; row < rows.end; row++)
            move_pixels(box, row / box->size[2], row % box->size[2]);
    }
}

PDNN_KERNEL(pdnn_boxes_run, (const struct pdnn_box *boxes, int n_boxes, int64_t threads),
            (boxes, n_boxes, threads)) {
    struct boxes_job job = {boxes, n_boxes};
    int64_t elements = 0;
    for (int i = 0; i < n_boxes; i++)
        elements += boxes[i].size[0] * boxes[i].size[1] * boxes[i].size[2] * boxes[i].size[3];
    pdnn_team_run(threads, elements, boxes_part, &job);
}
