#include "runtime/kernels/images/grouped.h"

#include <string.h>

/* A unit of work is some rows of a vector of channels of an image. Of a row, MOST outputs at a time are
 * summed in registers: each channel of x is repeated over its group and meets the weights that it has for the
 * group's four results. */
enum { GROUP = PDNN_WINDOW_GROUP, MOST = 8, NEAR_TAPS = 3 };

struct work {
    const struct pdnn_grouped *job;
    const float *x, *w;
    float *y, *room;
};

/* Where a thread's rows and weights lie. */
struct room {
    float *ring;    /* (rows of a window, width, lanes) */
    float *weights; /* (R, S, GROUP, lanes): by channel of x */
    float *row;     /* (Q, lanes) */
    int64_t floats; /* of all */
};

static struct room room_at(const struct pdnn_grouped *job, float *at) {
    const struct pdnn_depthwise *images = &job->images;
    const int64_t taps = images->rows.kernel * images->columns.kernel,
                  ring = pdnn_window_lines(pdnn_window_rows(images) * pdnn_window_width(images) * PDNN_LANES),
                  weights = pdnn_window_lines(taps * GROUP * PDNN_LANES),
                  row = pdnn_window_lines(images->columns.output * PDNN_LANES);
    return (struct room){at, at + ring, at + ring + weights, ring + weights + row};
}

static int64_t room_floats(const struct pdnn_grouped *job) {
    float none;
    return room_at(job, &none).floats;
}

/* What the rows of a window are for one row of outputs: those on the image. */
struct strip {
    int64_t count, taps;
    const float *x[PDNN_GROUPED_ROWS], *w[PDNN_GROUPED_ROWS];
    int64_t step, gap; /* from output to output, and from tap to tap */
    float *y;
    int64_t y_step;
};

PDNN_INLINE void add_taps(const struct strip *strip, int64_t k, int64_t q, pdnn_floats *sum, int outputs) {
    pdnn_floats w[GROUP], x, one[GROUP];
    for (int64_t tap = 0; tap < strip->taps; tap++) {
        const float *from = strip->x[k] + q * strip->step + tap * strip->gap;
#pragma GCC unroll 4
        for (int i = 0; i < GROUP; i++)
            pdnn_load(&w[i], strip->w[k] + (tap * GROUP + i) * PDNN_LANES);
#pragma GCC unroll 8
        for (int j = 0; j < outputs; j++) {
            pdnn_load(&x, from + j * strip->step);
            pdnn_window_repeat(&x, one);
#pragma GCC unroll 4
            for (int i = 0; i < GROUP; i++)
                sum[j] += one[i] * w[i];
        }
    }
}

/* Three taps, without stride or dilation: neighbours share pixels. */
PDNN_INLINE void add_near(const struct strip *strip, int64_t k, int64_t q, pdnn_floats *sum, int outputs) {
    pdnn_floats w[NEAR_TAPS], x, one[GROUP];
    const float *from = strip->x[k] + q * PDNN_LANES;
#pragma GCC unroll 4
    for (int i = 0; i < GROUP; i++) {
#pragma GCC unroll 3
        for (int tap = 0; tap < NEAR_TAPS; tap++)
            pdnn_load(&w[tap], strip->w[k] + (tap * GROUP + i) * PDNN_LANES);
#pragma GCC unroll 10
        for (int pixel = 0; pixel < outputs + NEAR_TAPS - 1; pixel++) {
            pdnn_load(&x, from + pixel * PDNN_LANES);
            pdnn_window_repeat(&x, one);
#pragma GCC unroll 3
            for (int tap = 0; tap < NEAR_TAPS; tap++)
                if (pixel >= tap && pixel - tap < outputs)
                    sum[pixel - tap] += one[i] * w[tap];
        }
    }
}

/* `outputs` of a row, from q on. */
PDNN_INLINE void make_outputs(const struct strip *strip, int64_t q, int outputs, bool is_near) {
    pdnn_floats sum[MOST] = {{0}};
    for (int64_t k = 0; k < strip->count; k++) {
        if (is_near)
            add_near(strip, k, q, sum, outputs);
        else
            add_taps(strip, k, q, sum, outputs);
    }
#pragma GCC unroll 8
    for (int j = 0; j < outputs; j++)
        pdnn_store(strip->y + (q + j) * strip->y_step, &sum[j]);
}

PDNN_INLINE void make_row(const struct strip *strip, int64_t n, bool is_near) {
    int64_t q = 0;
    for (; q + MOST <= n; q += MOST)
        make_outputs(strip, q, MOST, is_near);
    for (; q + MOST / 2 <= n; q += MOST / 2)
        make_outputs(strip, q, MOST / 2, is_near);
    for (; q < n; q++)
        make_outputs(strip, q, 1, is_near);
}

static void make_row_near(const struct strip *strip, int64_t n) {
    make_row(strip, n, true);
}

static void make_row_far(const struct strip *strip, int64_t n) {
    make_row(strip, n, false);
}

/* The weights of a vector of channels of y, as room.weights has them. */
static void load_weights(const struct work *work, int64_t channel, float *to) {
    const struct pdnn_depthwise *images = &work->job->images;
    const int64_t taps = images->rows.kernel * images->columns.kernel;
    for (int64_t tap = 0; tap < taps; tap++)
        for (int64_t i = 0; i < GROUP; i++)
            for (int64_t lane = 0; lane < PDNN_LANES; lane++) {
                const int64_t c = channel + lane, other = c / GROUP * GROUP + i,
                              at = work->job->is_gradient
                                       ? (other * GROUP + c % GROUP) * taps + taps - 1 - tap
                                       : (c * GROUP + i) * taps + tap;
                *to++ = work->w[at];
            }
}

/* Rows of x that windows need up to that of output row p. */
static void copy_rows(const struct work *work, const float *x, int64_t channel, int64_t p, int64_t *copied,
                      float *ring) {
    const struct pdnn_grouped *job = work->job;
    const struct pdnn_depthwise_axis *rows = &job->images.rows, *columns = &job->images.columns;
    const int64_t held = pdnn_window_rows(&job->images), width = pdnn_window_width(&job->images) * PDNN_LANES,
                  first = p * rows->stride - rows->padding, end = pdnn_least(first + held, rows->input),
                  n = (columns->input - 1) / job->column_spread + 1,
                  pixels = ((rows->input - 1) / job->row_spread + 1) * n;
    *copied = *copied < first ? first : *copied;
    for (; *copied < end; ++*copied)
        if (*copied >= 0 && *copied % job->row_spread == 0)
            pdnn_window_copy(&job->images, x, pixels, *copied / job->row_spread * n, channel, n,
                             ring + *copied % held * width + columns->padding * PDNN_LANES,
                             job->column_spread);
}

/* A row of outputs from the lanes of room.row to where its channels lie apart. */
static void place_row(const struct work *work, const float *row, float *y, int64_t pixels, int64_t first,
                      int64_t channel) {
    const int64_t block = work->job->images.block, n = work->job->images.columns.output;
    int64_t q = 0;
    for (; block == 1 && PDNN_LANES >= PDNN_LANES8 && q + PDNN_LANES8 <= n; q += PDNN_LANES8)
        for (int64_t k = 0; k < PDNN_LANES; k += PDNN_LANES8)
            pdnn_transpose8(row + q * PDNN_LANES + k, PDNN_LANES, y + (channel + k) * pixels + first + q,
                            pixels);
    for (int64_t k = 0; k < PDNN_LANES; k++) {
        float *to = y + pdnn_window_at(&work->job->images, pixels, channel + k) + first * block;
        for (int64_t i = q; i < n; i++)
            to[i * block] = row[i * PDNN_LANES + k];
    }
}

static void make_rows(const struct work *work, int64_t unit, struct pdnn_span span, const struct room *room) {
    const struct pdnn_depthwise *images = &work->job->images;
    const struct pdnn_depthwise_axis *rows = &images->rows, *columns = &images->columns;
    const int64_t vectors = pdnn_window_vectors(images), image = unit / vectors,
                  channel = unit % vectors * PDNN_LANES, held = pdnn_window_rows(images),
                  width = pdnn_window_width(images) * PDNN_LANES, outputs = rows->output * columns->output,
                  inputs = ((rows->input - 1) / work->job->row_spread + 1) *
                           ((columns->input - 1) / work->job->column_spread + 1);
    const float *x = work->x + image * pdnn_window_plane(images, inputs);
    float *y = work->y + image * pdnn_window_plane(images, outputs);
    const bool is_whole = pdnn_window_is_whole(images),
               is_near = columns->kernel == NEAR_TAPS && columns->stride == 1 && columns->dilation == 1;
    int64_t copied = 0;
    load_weights(work, channel, room->weights);
    for (int64_t p = span.begin; p < span.end; p++) {
        struct strip strip = {.taps = columns->kernel,
                              .step = columns->stride * PDNN_LANES,
                              .gap = columns->dilation * PDNN_LANES,
                              .y = room->row,
                              .y_step = PDNN_LANES};
        copy_rows(work, x, channel, p, &copied, room->ring);
        for (int64_t r = 0; r < rows->kernel; r++) {
            const int64_t row = p * rows->stride - rows->padding + r * rows->dilation;
            if (row < 0 || row >= rows->input || row % work->job->row_spread)
                continue;
            strip.x[strip.count] = room->ring + row % held * width;
            strip.w[strip.count++] = room->weights + r * columns->kernel * GROUP * PDNN_LANES;
        }
        if (is_whole) {
            strip.y = y + pdnn_window_at(images, outputs, channel) + p * columns->output * images->block;
            strip.y_step = images->block;
        }
        (is_near ? make_row_near : make_row_far)(&strip, columns->output);
        if (!is_whole)
            place_row(work, room->row, y, outputs, p * columns->output, channel);
    }
}

static void rows_part(void *state, int64_t index, int64_t parts) {
    const struct work *work = state;
    const struct pdnn_depthwise *images = &work->job->images;
    const int64_t P = images->rows.output;
    struct pdnn_span mine = pdnn_span_of(images->N * pdnn_window_vectors(images) * P, 1, index, parts);
    const struct room room = room_at(work->job, work->room + index * room_floats(work->job));
    if (mine.begin < mine.end) /* the padding, and what is between pixels, which no copy touches */
        memset(room.ring, 0, (size_t)(room.weights - room.ring) * sizeof *room.ring);
    while (mine.begin < mine.end) {
        const int64_t first = mine.begin % P, end = pdnn_least(P, first + mine.end - mine.begin);
        make_rows(work, mine.begin / P, (struct pdnn_span){first, end}, &room);
        mine.begin += end - first;
    }
}

PDNN_KERNEL_VALUE(int64_t, pdnn_grouped_scratch, (const struct pdnn_grouped *job, int64_t threads),
                  (job, threads)) {
    return threads * room_floats(job);
}

PDNN_KERNEL(pdnn_grouped_run,
            (const struct pdnn_grouped *job, const float *x, const float *w, float *y, float *scratch,
             int64_t threads),
            (job, x, w, y, scratch, threads)) {
    struct work work = {job, x, w, y, scratch};
    const struct pdnn_depthwise *images = &job->images;
    const int64_t outputs = images->N * images->C * images->rows.output * images->columns.output;
    pdnn_team_run(threads, outputs * images->rows.kernel * images->columns.kernel, rows_part, &work);
}
