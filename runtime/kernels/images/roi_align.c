#include "runtime/kernels/images/roi_align.h"

#include "runtime/kernels/simd/lanes.h"
#include "runtime/kernels/simd/team.h"

#include <math.h>
#include <string.h>

/* Channels are done in units of neighbours: a block, so many of channels-last, or one plane. A unit of an
 * image stays in the caches while all boxes of the image read it. */
enum { UNIT = 16, VECTORS_MOST = UNIT / PDNN_LANES, AXES = 2, CACHE_LINE = 64 };

/* Two points along an axis: the pixels before and behind each, and how much of each pixel. Of an odd number
 * of points, the last is beside one that counts nothing. */
enum { AROUND = 4 };

struct points {
    int64_t at[AROUND]; /* floats from the first pixel of the axis */
    float share[AROUND];
};

struct work {
    const struct pdnn_roi_align *job;
    const float *in;
    float *out;
    int64_t unit, units;   /* channels of a unit; units of an image */
    int64_t values, pairs; /* values of a box and channel; pairs of points of a value along an axis */
    struct points *table;  /* (boxes, AXES, size, pairs) */
    float *lines;          /* of planes: (threads, size, line) */
    int64_t line;          /* columns, in whole vectors */
};

static int64_t pairs_of(const struct pdnn_roi_align *job) {
    return (job->samples + 1) / 2;
}

static int64_t table_bytes(const struct pdnn_roi_align *job) {
    const int64_t bytes = job->boxes * AXES * job->size * pairs_of(job) * (int64_t)sizeof(struct points);
    return (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

static int64_t line_of(const struct pdnn_roi_align *job) {
    return (job->W + PDNN_LANES - 1) / PDNN_LANES * PDNN_LANES;
}

PDNN_KERNEL_VALUE(int64_t, pdnn_roi_align_scratch, (const struct pdnn_roi_align *job, int64_t threads),
                  (job, threads)) {
    const int64_t floats = job->block == 1 ? threads * job->size * line_of(job) : 0;
    return table_bytes(job) + floats * (int64_t)sizeof(float);
}

static struct work work_of(const struct pdnn_roi_align *job, const float *in, float *out) {
    const int64_t padded = (job->C + job->block - 1) / job->block * job->block,
                  unit = pdnn_least(job->block, UNIT);
    return (struct work){.job = job,
                         .in = in,
                         .out = out,
                         .unit = unit,
                         .units = padded / job->block * ((job->block + unit - 1) / unit),
                         .values = job->size * job->size,
                         .pairs = pairs_of(job),
                         .table = job->scratch,
                         .lines = (float *)(void *)((char *)job->scratch + table_bytes(job)),
                         .line = line_of(job)};
}

/* Where the points of an axis lie. */
struct axis {
    double low, extent;     /* of the box, in pixels */
    int64_t length, stride; /* pixels; floats from one to the next */
    double scale;           /* goes into the shares */
};

static struct axis axis_of(double a, double b, int64_t length, int64_t stride, double scale) {
    return (struct axis){(fmin(a, b) + 1) / 2 * (double)length, fabs(b - a) / 2 * (double)length, length,
                         stride, scale};
}

/* Point `step` of the way through the box becomes the first or second of two. */
static void set_point(struct points *two, int which, const struct axis *axis, double step) {
    const double most = (double)(axis->length - 1),
                 inside = fmax(fmin(axis->low + step * axis->extent - 0.5, most), 0);
    const int64_t before = (int64_t)inside, behind = pdnn_least(before + 1, axis->length - 1);
    const double rest = inside - (double)before;
    two->at[2 * which] = before * axis->stride;
    two->at[2 * which + 1] = behind * axis->stride;
    two->share[2 * which] = (float)((1 - rest) * axis->scale);
    two->share[2 * which + 1] = (float)(rest * axis->scale);
}

static void set_axis(const struct work *work, struct points *table, const struct axis *axis) {
    const int64_t samples = work->job->samples;
    const double parts = (double)(work->job->size * samples);
    for (int64_t i = 0; i < work->job->size * work->pairs; i++) {
        const int64_t value = i / work->pairs, k = i % work->pairs * 2;
        set_point(&table[i], 0, axis, ((double)(value * samples + k) + 0.5) / parts);
        table[i].at[2] = table[i].at[3] = table[i].at[0];
        table[i].share[2] = table[i].share[3] = 0;
        if (k + 1 < samples)
            set_point(&table[i], 1, axis, ((double)(value * samples + k + 1) + 0.5) / parts);
    }
}

static void make_tables(void *job, int64_t index, int64_t parts) {
    const struct work *work = job;
    const struct pdnn_roi_align *of = work->job;
    const struct pdnn_span boxes = pdnn_span_of(of->boxes, 1, index, parts);
    const int64_t stride = of->block, length = of->size * work->pairs;
    for (int64_t box = boxes.begin; box < boxes.end; box++) {
        const float *corner = of->corners + box * 4;
        const struct axis h = axis_of((double)corner[0], (double)corner[2], of->H, of->W * stride,
                                      1 / (double)(of->samples * of->samples)),
                          w = axis_of((double)corner[1], (double)corner[3], of->W, stride, 1);
        set_axis(work, work->table + box * AXES * length, &h);
        set_axis(work, work->table + (box * AXES + 1) * length, &w);
    }
}

/* The points of a box. */
struct grid {
    const struct points *h, *w;
};

static struct grid grid_of(const struct work *work, int64_t box) {
    const int64_t length = work->job->size * work->pairs;
    const struct points *h = work->table + box * AXES * length;
    return (struct grid){h, h + length};
}

/* Where a unit begins in image n of `pixels` pixels. */
static int64_t unit_at(const struct work *work, int64_t n, int64_t unit, int64_t pixels) {
    const int64_t block = work->job->block, per_block = (block + work->unit - 1) / work->unit,
                  blocks = work->units / per_block;
    return (n * blocks + unit / per_block) * block * pixels + unit % per_block * work->unit;
}

static int64_t width_of(const struct work *work, int64_t unit) {
    const int64_t block = work->job->block, per_block = (block + work->unit - 1) / work->unit;
    return pdnn_least(work->unit, block - unit % per_block * work->unit);
}

/* Blocks: `vectors` from each pixel, the only one of `count` lanes, which are constants where that matters. A
 * column of pixels is summed over the rows around two points, and the columns then to values. */

/* y (+)= the part of a row of values that comes from two points. */
PDNN_INLINE void gather_row(const struct work *work, const float *x, const struct points *h,
                            const struct points *w, float *y, bool adds, int vectors, int64_t count) {
    const struct points rows = *h;
    for (const struct points *end = w + work->job->size * work->pairs; w < end; y += work->job->block) {
        pdnn_floats sum[VECTORS_MOST] = {{0}}, pixel;
        for (int v = 0; adds && v < vectors; v++)
            pdnn_load_lanes(&sum[v], y + v * PDNN_LANES, count);
        for (const struct points *value = w + work->pairs; w < value; w++) {
#pragma GCC unroll 4
            for (int c = 0; c < AROUND; c++) {
                for (int v = 0; v < vectors; v++) {
                    pdnn_floats column = {0};
#pragma GCC unroll 4
                    for (int r = 0; r < AROUND; r++) {
                        pdnn_load_lanes(&pixel, x + rows.at[r] + w->at[c] + v * PDNN_LANES, count);
                        column += pixel * rows.share[r];
                    }
                    sum[v] += column * w->share[c];
                }
            }
        }
        for (int v = 0; v < vectors; v++)
            pdnn_store_lanes(y + v * PDNN_LANES, &sum[v], count);
    }
}

PDNN_INLINE void scatter_row(const struct work *work, float *dx, const struct points *h,
                             const struct points *w, const float *dy, int vectors, int64_t count) {
    const struct points rows = *h;
    for (const struct points *end = w + work->job->size * work->pairs; w < end; dy += work->job->block) {
        pdnn_floats value[VECTORS_MOST], pixel;
        for (int v = 0; v < vectors; v++)
            pdnn_load_lanes(&value[v], dy + v * PDNN_LANES, count);
        for (const struct points *next = w + work->pairs; w < next; w++) {
#pragma GCC unroll 4
            for (int c = 0; c < AROUND; c++) {
                for (int v = 0; v < vectors; v++) {
                    const pdnn_floats column = value[v] * w->share[c];
#pragma GCC unroll 4
                    for (int r = 0; r < AROUND; r++) {
                        float *to = dx + rows.at[r] + w->at[c] + v * PDNN_LANES;
                        pdnn_load_lanes(&pixel, to, count);
                        pixel += column * rows.share[r];
                        pdnn_store_lanes(to, &pixel, count);
                    }
                }
            }
        }
    }
}

PDNN_INLINE void gather_box(const struct work *work, int64_t box, const float *x, float *y, int vectors,
                            int64_t count) {
    const struct grid grid = grid_of(work, box);
    const int64_t row = work->job->size * work->job->block;
    for (int64_t i = 0; i < work->job->size * work->pairs; i++)
        gather_row(work, x, grid.h + i, grid.w, y + i / work->pairs * row, i % work->pairs, vectors, count);
}

PDNN_INLINE void scatter_box(const struct work *work, int64_t box, float *dx, const float *dy, int vectors,
                             int64_t count) {
    const struct grid grid = grid_of(work, box);
    const int64_t row = work->job->size * work->job->block;
    for (int64_t i = 0; i < work->job->size * work->pairs; i++)
        scatter_row(work, dx, grid.h + i, grid.w, dy + i / work->pairs * row, vectors, count);
}

/* function(work, box, a, b, ...) on all channels of a unit. */
#define OF_WIDTH(function, width, work, box, a, b)                                                           \
    do {                                                                                                     \
        if ((width) == UNIT)                                                                                 \
            function(work, box, a, b, UNIT / PDNN_LANES, PDNN_LANES);                                        \
        for (int64_t c = 0; (width) != UNIT && c < (width); c += PDNN_LANES) {                               \
            if ((width)-c >= PDNN_LANES)                                                                     \
                function(work, box, (a) + c, (b) + c, 1, PDNN_LANES);                                        \
            else                                                                                             \
                function(work, box, (a) + c, (b) + c, 1, (width)-c);                                         \
        }                                                                                                    \
    } while (0)

/* Planes. A row of a box's values is first a weighted sum of rows of pixels, a line, over the box's columns;
 * the line's columns are then summed to the values. Backward is the reverse. */

/* The columns that a box reads, in whole vectors if the plane is as wide. */
static struct pdnn_span columns_of(const struct work *work, const struct grid *grid) {
    const int64_t W = work->job->W, last = work->job->size * work->pairs - 1;
    int64_t begin = grid->w[0].at[0], end = 0;
    for (int i = 0; i < AROUND; i++)
        end = grid->w[last].at[i] >= end ? grid->w[last].at[i] + 1 : end;
    const int64_t whole = (end - begin + PDNN_LANES - 1) / PDNN_LANES * PDNN_LANES;
    begin = whole <= W ? pdnn_least(begin, W - whole) : begin;
    return (struct pdnn_span){begin, whole <= W ? begin + whole : end};
}

/* line (+)= the sum of the rows around two points; x is at the line's first column. */
PDNN_INLINE void sum_rows(const float *x, const struct points *h, float *line, int64_t columns, bool adds) {
    const struct points rows = *h;
    for (int64_t c = 0; c < columns; c += PDNN_LANES) {
        const int64_t count = pdnn_least(PDNN_LANES, columns - c);
        pdnn_floats sum = {0}, row;
        if (adds)
            pdnn_load(&sum, line + c);
#pragma GCC unroll 4
        for (int r = 0; r < AROUND; r++) {
            pdnn_load_lanes(&row, x + rows.at[r] + c, count);
            sum += row * rows.share[r];
        }
        pdnn_store(line + c, &sum);
    }
}

PDNN_INLINE void spread_rows(float *dx, const struct points *h, const float *line, int64_t columns) {
    const struct points rows = *h;
    for (int64_t c = 0; c < columns; c += PDNN_LANES) {
        const int64_t count = pdnn_least(PDNN_LANES, columns - c);
        pdnn_floats v, row;
        pdnn_load(&v, line + c);
#pragma GCC unroll 4
        for (int r = 0; r < AROUND; r++) {
            pdnn_load_lanes(&row, dx + rows.at[r] + c, count);
            row += v * rows.share[r];
            pdnn_store_lanes(dx + rows.at[r] + c, &row, count);
        }
    }
}

/* From a line that begins at column `first`. */
static struct points points_from(const struct points *w, int64_t first) {
    struct points columns = *w;
    for (int c = 0; c < AROUND; c++)
        columns.at[c] -= first;
    return columns;
}

/* A column of values is, or gets, the lines' columns around two points. */
static void sum_columns(const struct work *work, const float *restrict lines, const struct points *w,
                        int64_t first, float *restrict y, bool adds) {
    const struct points columns = points_from(w, first);
    for (int64_t i = 0; i < work->job->size; i++, lines += work->line, y += work->job->size) {
        float sum = adds ? *y : 0;
#pragma GCC unroll 4
        for (int c = 0; c < AROUND; c++)
            sum += lines[columns.at[c]] * columns.share[c];
        *y = sum;
    }
}

static void spread_columns(const struct work *work, float *restrict lines, const struct points *w,
                           int64_t first, const float *restrict dy) {
    const struct points columns = points_from(w, first);
    for (int64_t i = 0; i < work->job->size; i++, lines += work->line, dy += work->job->size) {
        const float value = *dy;
#pragma GCC unroll 4
        for (int c = 0; c < AROUND; c++)
            lines[columns.at[c]] += value * columns.share[c];
    }
}

static void gather_plane(const struct work *work, int64_t box, const float *x, float *y, float *lines) {
    const struct grid grid = grid_of(work, box);
    const struct pdnn_span columns = columns_of(work, &grid);
    const int64_t points = work->job->size * work->pairs, pairs = work->pairs;
    for (int64_t i = 0; i < points; i++)
        sum_rows(x + columns.begin, grid.h + i, lines + i / pairs * work->line, columns.end - columns.begin,
                 i % pairs);
    for (int64_t i = 0; i < points; i++)
        sum_columns(work, lines, grid.w + i, columns.begin, y + i / pairs, i % pairs);
}

static void scatter_plane(const struct work *work, int64_t box, float *dx, const float *dy, float *lines) {
    const struct grid grid = grid_of(work, box);
    const struct pdnn_span columns = columns_of(work, &grid);
    const int64_t points = work->job->size * work->pairs, pairs = work->pairs,
                  width = columns.end - columns.begin;
    const int64_t whole = (width + PDNN_LANES - 1) / PDNN_LANES * PDNN_LANES;
    for (int64_t i = 0; i < work->job->size; i++)
        memset(lines + i * work->line, 0, (size_t)whole * sizeof *lines);
    for (int64_t i = 0; i < points; i++)
        spread_columns(work, lines, grid.w + i, columns.begin, dy + i / pairs);
    for (int64_t i = 0; i < points; i++)
        spread_rows(dx + columns.begin, grid.h + i, lines + i / pairs * work->line, width);
}

static float *lines_of(const struct work *work, int64_t index) {
    return work->lines + index * work->job->size * work->line;
}

/* The hardware's prefetcher sees neither the values of the boxes to come nor the pixels of a plane, which
 * boxes read here and there: while they read one, the next is fetched, if they read as much as it has. */
enum { BOXES_AHEAD = 4, LINE_FLOATS = CACHE_LINE / sizeof(float), NEAR = 2 };

static void fetch_values(const struct work *work, int64_t i, int64_t end, const float *values) {
    const int64_t stride = work->job->C * work->values;
    if (i + BOXES_AHEAD >= end)
        return;
    for (int64_t k = 0; k < work->values + LINE_FLOATS; k += LINE_FLOATS)
        __builtin_prefetch(values + BOXES_AHEAD * stride + pdnn_least(k, work->values - 1));
}

/* Part `index` of `parts` of a plane. */
static void fetch_plane(const struct work *work, const float *x, int64_t index, int64_t parts) {
    const int64_t pixels = work->job->H * work->job->W, points = work->job->size * work->job->samples;
    const struct pdnn_span span = pdnn_span_of(pixels, LINE_FLOATS, index, parts);
    for (int64_t k = span.begin; k < span.end && pixels <= parts * AROUND * points * points; k += LINE_FLOATS)
        __builtin_prefetch(x + k, 0, NEAR);
}

/* Threads share the boxes of all units. */
static void forward_part(void *job, int64_t index, int64_t parts) {
    const struct work *work = job;
    const struct pdnn_roi_align *of = work->job;
    const int64_t per_image = of->boxes / of->N;
    const struct pdnn_span span = pdnn_span_of(work->units * of->boxes, 1, index, parts);
    for (int64_t i = span.begin; i < span.end; i++) {
        const int64_t n = i / per_image / work->units, unit = i / per_image % work->units,
                      box = n * per_image + i % per_image, width = width_of(work, unit);
        const float *x = work->in + unit_at(work, n, unit, of->H * of->W);
        float *y = work->out + unit_at(work, box, unit, work->values);
        if (of->block == 1) {
            fetch_values(work, box, (n + 1) * per_image, y);
            if (i + per_image < span.end)
                fetch_plane(work, x + of->H * of->W, i % per_image, per_image);
            gather_plane(work, box, x, y, lines_of(work, index));
        } else
            OF_WIDTH(gather_box, width, work, box, x, y);
    }
}

PDNN_KERNEL(pdnn_roi_align_forward,
            (const struct pdnn_roi_align *job, const float *x, float *y, int64_t threads),
            (job, x, y, threads)) {
    struct work work = work_of(job, x, y);
    const int64_t elements = job->boxes * job->C * work.values;
    pdnn_team_run(threads, elements, make_tables, &work);
    pdnn_team_run(threads, elements, forward_part, &work);
}

static void clear(const struct work *work, float *dx, int64_t width) {
    const struct pdnn_roi_align *of = work->job;
    const int64_t pixels = of->H * of->W;
    const size_t bytes = (size_t)width * sizeof *dx;
    if (work->unit == of->block)
        memset(dx, 0, (size_t)pixels * bytes);
    for (int64_t i = 0; work->unit != of->block && i < pixels; i++)
        memset(dx + i * of->block, 0, bytes);
}

/* Threads share the units of all images: nobody else adds to theirs. */
static void backward_part(void *job, int64_t index, int64_t parts) {
    const struct work *work = job;
    const struct pdnn_roi_align *of = work->job;
    const struct pdnn_span span = pdnn_span_of(of->N * work->units, 1, index, parts);
    for (int64_t i = span.begin; i < span.end; i++) {
        const int64_t n = i / work->units, unit = i % work->units, width = width_of(work, unit),
                      per_image = of->boxes / of->N;
        float *dx = work->out + unit_at(work, n, unit, of->H * of->W);
        clear(work, dx, width);
        for (int64_t box = n * per_image; box < (n + 1) * per_image; box++) {
            const float *dy = work->in + unit_at(work, box, unit, work->values);
            if (of->block == 1) {
                fetch_values(work, box, (n + 1) * per_image, dy);
                scatter_plane(work, box, dx, dy, lines_of(work, index));
            } else
                OF_WIDTH(scatter_box, width, work, box, dx, dy);
        }
    }
}

PDNN_KERNEL(pdnn_roi_align_backward,
            (const struct pdnn_roi_align *job, const float *dy, float *dx, int64_t threads),
            (job, dy, dx, threads)) {
    struct work work = work_of(job, dy, dx);
    pdnn_team_run(threads, job->boxes * job->C * work.values, make_tables, &work);
    pdnn_team_run(threads, job->N * job->C * job->H * job->W, backward_part, &work);
}
