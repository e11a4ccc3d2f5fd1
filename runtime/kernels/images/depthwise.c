#include "runtime/kernels/images/depthwise.h"

#include "runtime/kernels/images/windows.h"

#include <stdbool.h>
#include <string.h>

/* A unit of work is a vector of channels in one of PARTS shares of the images. Its rows of x are copied into
 * a ring of rows padded with zeros, one vector a pixel whatever the layout, so that no tap needs a test and x
 * is read once. TAPS of a row of weights, for two rows at a time, are summed in registers; in groups of four
 * channels, GROUP_TAPS of one row. */
enum { PARTS = 16, TAPS = 7, LINE = 16, GROUP_TAPS = 3 };

struct work {
    const struct pdnn_depthwise *job;
    const float *x, *dy;
    float *dw, *db;
    double *sums; /* (PARTS, vectors, R*S + 1, lanes); the last is of dy */
    float *room;  /* of all threads */
};

/* Where a thread's rows and sums lie. */
struct room {
    float *ring;  /* (ring_rows, width, lanes) */
    float *dy;    /* (Q, lanes) */
    float *image; /* (R*S + 1, lanes): the sums of one image */
};

static int64_t parts_of(const struct pdnn_depthwise *job) {
    return pdnn_least(job->N, PARTS);
}

/* Sums of a channel of dw: taps, of each of which one for every channel of the group. */
static int64_t taps_of(const struct pdnn_depthwise *job) {
    return job->rows.kernel * job->columns.kernel * job->group;
}

static int64_t ring_floats(const struct pdnn_depthwise *job) {
    return pdnn_window_lines(pdnn_window_rows(job) * pdnn_window_width(job) * PDNN_LANES);
}

static int64_t dy_floats(const struct pdnn_depthwise *job) {
    return pdnn_window_lines(job->columns.output * PDNN_LANES);
}

static int64_t room_floats(const struct pdnn_depthwise *job) {
    return ring_floats(job) + dy_floats(job) + pdnn_window_lines((taps_of(job) + 1) * PDNN_LANES);
}

static struct room room_at(const struct pdnn_depthwise *job, float *at) {
    return (struct room){at, at + ring_floats(job), at + ring_floats(job) + dy_floats(job)};
}

/* Adds to `taps` sums of each of `rows` rows of weights: x[i * step + s * gap] * dy[i] over n outputs; x of
 * the second row is `next` behind that of the first, its sums `sums_pitch`. */
struct strip {
    const float *x, *dy;
    float *sums;
    int64_t n, step, dy_step, gap, next, sums_pitch;
};

PDNN_INLINE void add_strip(const struct strip *strip, int rows, int taps, bool is_near) {
    enum { TOGETHER = 4 }; /* outputs, whose taps share pixels */
    pdnn_floats sum[2 * TAPS], x, dy, few[TOGETHER];
    const int64_t gap = is_near ? PDNN_LANES : strip->gap, next = strip->next;
    const float *from = strip->x, *at = strip->dy;
    int64_t i = 0;
#pragma GCC unroll 14
    for (int k = 0; k < rows * taps; k++)
        pdnn_load(&sum[k], strip->sums + k / taps * strip->sums_pitch + k % taps * PDNN_LANES);
    for (; is_near && i + TOGETHER <= strip->n; i += TOGETHER) {
#pragma GCC unroll 4
        for (int k = 0; k < TOGETHER; k++)
            pdnn_load(&few[k], at + k * strip->dy_step);
#pragma GCC unroll 2
        for (int row = 0; row < rows; row++) {
#pragma GCC unroll 10
            for (int pixel = 0; pixel < TOGETHER + taps - 1; pixel++) {
                pdnn_load(&x, from + row * next + pixel * PDNN_LANES);
#pragma GCC unroll 4
                for (int k = 0; k < TOGETHER; k++) {
                    if (pixel - k >= 0 && pixel - k < taps)
                        sum[row * taps + pixel - k] += x * few[k];
                }
            }
        }
        at += TOGETHER * strip->dy_step;
        from += TOGETHER * PDNN_LANES;
    }
    for (; i < strip->n; i++, at += strip->dy_step, from += strip->step) {
        pdnn_load(&dy, at);
#pragma GCC unroll 14
        for (int k = 0; k < rows * taps; k++) {
            pdnn_load(&x, from + k / taps * next + k % taps * gap);
            sum[k] += x * dy;
        }
    }
#pragma GCC unroll 14
    for (int k = 0; k < rows * taps; k++)
        pdnn_store(strip->sums + k / taps * strip->sums_pitch + k % taps * PDNN_LANES, &sum[k]);
}

/* Each with its numbers of rows and taps known. Near: neither stride nor dilation along a row. */
#define STRIP(taps)                                                                                          \
    static void add_one_##taps(const struct strip *strip) {                                                  \
        if (strip->gap == PDNN_LANES && strip->step == PDNN_LANES)                                           \
            add_strip(strip, 1, taps, true);                                                                 \
        else                                                                                                 \
            add_strip(strip, 1, taps, false);                                                                \
    }                                                                                                        \
    static void add_two_##taps(const struct strip *strip) {                                                  \
        if (strip->gap == PDNN_LANES && strip->step == PDNN_LANES)                                           \
            add_strip(strip, 2, taps, true);                                                                 \
        else                                                                                                 \
            add_strip(strip, 2, taps, false);                                                                \
    }
STRIP(1)
STRIP(2)
STRIP(3)
STRIP(4)
STRIP(5)
STRIP(6)
STRIP(7)

static void (*const add_strips[2][TAPS])(const struct strip *strip) = {
    {add_one_1, add_one_2, add_one_3, add_one_4, add_one_5, add_one_6, add_one_7},
    {add_two_1, add_two_2, add_two_3, add_two_4, add_two_5, add_two_6, add_two_7},
};

/* All taps of one or two rows of weights with one row of outputs. */
static void add_rows(struct strip strip, int rows, int64_t taps) {
    for (int64_t pieces = (taps + TAPS - 1) / TAPS; pieces > 0; pieces--) {
        const int64_t n = (taps + pieces - 1) / pieces;
        add_strips[rows - 1][n - 1](&strip);
        strip.x += n * strip.gap;
        strip.sums += n * PDNN_LANES;
        taps -= n;
    }
}

/* The same for one row of weights in groups of four: a sum for each channel of the group, with which x is
 * repeated over the group. */
PDNN_INLINE void add_group_strip(const struct strip *strip, int taps) {
    enum { GROUP = PDNN_WINDOW_GROUP };
    pdnn_floats sum[GROUP_TAPS * GROUP], x, dy, one[GROUP];
    const float *from = strip->x, *at = strip->dy;
#pragma GCC unroll 12
    for (int k = 0; k < taps * GROUP; k++)
        pdnn_load(&sum[k], strip->sums + k * PDNN_LANES);
    for (int64_t i = 0; i < strip->n; i++, at += strip->dy_step, from += strip->step) {
        pdnn_load(&dy, at);
#pragma GCC unroll 3
        for (int tap = 0; tap < taps; tap++) {
            pdnn_load(&x, from + tap * strip->gap);
            pdnn_window_repeat(&x, one);
#pragma GCC unroll 4
            for (int k = 0; k < GROUP; k++)
                sum[tap * GROUP + k] += one[k] * dy;
        }
    }
#pragma GCC unroll 12
    for (int k = 0; k < taps * GROUP; k++)
        pdnn_store(strip->sums + k * PDNN_LANES, &sum[k]);
}

static void add_group_row(struct strip strip, int64_t taps) {
    for (; taps >= GROUP_TAPS; taps -= GROUP_TAPS) {
        add_group_strip(&strip, GROUP_TAPS);
        strip.x += GROUP_TAPS * strip.gap;
        strip.sums += GROUP_TAPS * PDNN_WINDOW_GROUP * PDNN_LANES;
    }
    for (; taps > 0; taps--) {
        add_group_strip(&strip, 1);
        strip.x += strip.gap;
        strip.sums += PDNN_WINDOW_GROUP * PDNN_LANES;
    }
}

/* A vector a pixel. */
struct pixels {
    const float *at;
    int64_t step;
};

static void add_dy(struct pixels dy, int64_t n, float *to) {
    pdnn_floats sum, v;
    pdnn_load(&sum, to);
    for (int64_t i = 0; i < n; i++) {
        pdnn_load(&v, dy.at + i * dy.step);
        sum += v;
    }
    pdnn_store(to, &sum);
}

/* A vector of channels of an image. */
struct image {
    const float *x, *dy;
    int64_t channel;
};

/* The rows of weights that meet the image at output row p, which are adjacent; their rows of x are in the
 * ring. */
static void add_output_row(const struct work *work, const struct room *room, struct pixels dy, int64_t p) {
    const struct pdnn_depthwise_axis *rows = &work->job->rows, *columns = &work->job->columns;
    const int64_t width = pdnn_window_width(work->job) * PDNN_LANES, ring = pdnn_window_rows(work->job);
    for (int64_t r = 0; r < rows->kernel;) {
        const int64_t row = p * rows->stride - rows->padding + r * rows->dilation,
                      below = row + rows->dilation;
        const bool is_pair = work->job->group == 1 && r + 1 < rows->kernel && row >= 0 && below < rows->input;
        if (row < 0 || row >= rows->input) {
            r++;
            continue;
        }
        const struct strip strip = {.x = room->ring + row % ring * width,
                                    .dy = dy.at,
                                    .dy_step = dy.step,
                                    .sums = room->image + r * columns->kernel * work->job->group * PDNN_LANES,
                                    .n = columns->output,
                                    .step = columns->stride * PDNN_LANES,
                                    .gap = columns->dilation * PDNN_LANES,
                                    .next = (below % ring - row % ring) * width,
                                    .sums_pitch = columns->kernel * PDNN_LANES};
        if (work->job->group == 1)
            add_rows(strip, is_pair ? 2 : 1, columns->kernel);
        else
            add_group_row(strip, columns->kernel);
        r += is_pair ? 2 : 1;
    }
}

/* As it lies in memory where channels are adjacent, else a copy. */
static struct pixels row_of_dy(const struct pdnn_depthwise *job, const struct room *room,
                               const struct image *image, int64_t p) {
    const int64_t Q = job->columns.output, pixels = job->rows.output * Q, block = job->block,
                  held = block - image->channel % block;
    if (block >= PDNN_LANES && held >= PDNN_LANES && (block % PDNN_LANES == 0 || block == job->C))
        return (struct pixels){
            image->dy + (image->channel / block * pixels + p * Q) * block + image->channel % block, block};
    pdnn_window_copy(job, image->dy, pixels, p * Q, image->channel, Q, room->dy, 1);
    return (struct pixels){room->dy, PDNN_LANES};
}

static void add_image(const struct work *work, const struct room *room, struct image image) {
    const struct pdnn_depthwise *job = work->job;
    const struct pdnn_depthwise_axis *rows = &job->rows, *columns = &job->columns;
    const int64_t ring = pdnn_window_rows(job), width = pdnn_window_width(job) * PDNN_LANES;
    int64_t copied = 0; /* rows of x that were in the ring */
    for (int64_t p = 0; p < rows->output; p++) {
        const int64_t first = p * rows->stride - rows->padding, end = pdnn_least(first + ring, rows->input);
        copied = copied < first ? first : copied;
        for (; copied < end; copied++)
            pdnn_window_copy(job, image.x, rows->input * columns->input, copied * columns->input,
                             image.channel, columns->input,
                             room->ring + copied % ring * width + columns->padding * PDNN_LANES, 1);
        const struct pixels dy = row_of_dy(job, room, &image, p);
        add_output_row(work, room, dy, p);
        if (work->db)
            add_dy(dy, columns->output, room->image + taps_of(job) * PDNN_LANES);
    }
}

static void unit(const struct work *work, int64_t part, int64_t vector, const struct room *room) {
    const struct pdnn_depthwise *job = work->job;
    const int64_t floats = (taps_of(job) + 1) * PDNN_LANES,
                  of_x = pdnn_window_plane(job, job->rows.input * job->columns.input),
                  of_dy = pdnn_window_plane(job, job->rows.output * job->columns.output);
    const struct pdnn_span images = pdnn_span_of(job->N, 1, part, parts_of(job));
    double *sums = work->sums + (part * pdnn_window_vectors(job) + vector) * floats;
    memset(sums, 0, (size_t)floats * sizeof *sums);
    for (int64_t n = images.begin; n < images.end; n++) {
        memset(room->image, 0, (size_t)floats * sizeof *room->image);
        add_image(work, room, (struct image){work->x + n * of_x, work->dy + n * of_dy, vector * PDNN_LANES});
        for (int64_t i = 0; i < floats; i++)
            sums[i] += (double)room->image[i];
    }
}

static void units_part(void *state, int64_t index, int64_t parts) {
    const struct work *work = state;
    const int64_t vectors = pdnn_window_vectors(work->job);
    const struct pdnn_span mine = pdnn_span_of(parts_of(work->job) * vectors, 1, index, parts);
    const struct room room = room_at(work->job, work->room + index * room_floats(work->job));
    if (mine.begin < mine.end) /* the padding, which no copy touches */
        memset(room.ring, 0, (size_t)ring_floats(work->job) * sizeof *room.ring);
    for (int64_t i = mine.begin; i < mine.end; i++)
        unit(work, i / vectors, i % vectors, &room);
}

static double total(const struct work *work, int64_t channel, int64_t tap) {
    const int64_t floats = (taps_of(work->job) + 1) * PDNN_LANES, vectors = pdnn_window_vectors(work->job);
    double sum = 0;
    for (int64_t part = 0; part < parts_of(work->job); part++)
        sum += work->sums[(part * vectors + channel / PDNN_LANES) * floats + tap * PDNN_LANES +
                          channel % PDNN_LANES];
    return sum;
}

/* Adds up the shares; the padding of dw is zero. */
static void finish_part(void *state, int64_t index, int64_t parts) {
    const struct work *work = state;
    const struct pdnn_depthwise *job = work->job;
    const int64_t block = job->weights_block, taps = taps_of(job), group = job->group,
                  blocks = (job->C + block - 1) / block, of_block = job->taps_first ? block : taps * block,
                  of_tap = job->taps_first ? blocks * block : block;
    const struct pdnn_span mine = pdnn_span_of(blocks * block, LINE, index, parts);
    for (int64_t c = mine.begin; c < mine.end; c++) {
        for (int64_t k = 0; k < taps; k++) {
            const int64_t tap = k % group * (taps / group) + k / group; /* of a channel of the group */
            work->dw[c / block * of_block + tap * of_tap + c % block] =
                c < job->C ? (float)total(work, c, k) : 0;
        }
        if (work->db && c < job->C)
            work->db[c] = (float)total(work, c, taps);
    }
}

static int64_t sums_floats(const struct pdnn_depthwise *job) {
    const int64_t floats_of_a_double = 2;
    return pdnn_window_lines(parts_of(job) * pdnn_window_vectors(job) * (taps_of(job) + 1) * PDNN_LANES *
                             floats_of_a_double);
}

PDNN_KERNEL_VALUE(int64_t, pdnn_depthwise_scratch, (const struct pdnn_depthwise *job, int64_t threads),
                  (job, threads)) {
    return sums_floats(job) + threads * room_floats(job);
}

PDNN_KERNEL(pdnn_depthwise_weights,
            (const struct pdnn_depthwise *job, const float *x, const float *dy, float *dw, float *db,
             float *scratch, int64_t threads),
            (job, x, dy, dw, db, scratch, threads)) {
    struct work work = {.job = job,
                        .x = x,
                        .dy = dy,
                        .dw = dw,
                        .db = db,
                        .sums = (double *)(void *)scratch,
                        .room = scratch + sums_floats(job)};
    const int64_t outputs = job->N * job->C * job->rows.output * job->columns.output;
    pdnn_team_run(threads, outputs * taps_of(job), units_part, &work);
    pdnn_team_run(threads, sums_floats(job), finish_part, &work);
}
