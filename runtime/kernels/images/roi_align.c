#include "runtime/kernels/images/roi_align.h"

#include "runtime/kernels/simd/lanes.h"
#include "runtime/kernels/simd/team.h"

#include <math.h>
#include <string.h>

/* Channels are done in units of neighbours: a block, so many of channels-last, or one plane. A unit of an
 * image stays in the caches while all boxes of the image read it. */
enum { UNIT = 16, VECTORS_MOST = UNIT / PDNN_LANES, AXES = 2, CACHE_LINE = 64 };

/* The pixels before and behind a point along an axis: their offsets, in pixels, and how much of each. */
struct between {
    int32_t before, behind;
    float share, rest; /* of before, of behind */
};

struct work {
    const struct pdnn_roi_align *job;
    const float *in;
    float *out;
    int64_t unit, units;    /* channels of a unit; units of an image */
    int64_t values, points; /* of a box and channel; along an axis */
    struct between *table;  /* (boxes, AXES, points) */
    float *lines;           /* of planes: (threads, size, line) */
    int64_t line;           /* columns, in whole vectors */
};

static int64_t table_bytes(const struct pdnn_roi_align *job) {
    const int64_t bytes = job->boxes * AXES * job->size * job->samples * (int64_t)sizeof(struct between);
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
                         .points = job->size * job->samples,
                         .table = job->scratch,
                         .lines = (float *)(void *)((char *)job->scratch + table_bytes(job)),
                         .line = line_of(job)};
}

/* `stride`: pixels from one to the next along the axis; `scale` goes into the shares. */
static struct between point_at(double a, double b, int64_t length, double step, int64_t stride,
                               double scale) {
    const double low = (fmin(a, b) + 1) / 2 * (double)length, extent = fabs(b - a) / 2 * (double)length;
    const double inside = fmax(fmin(low + step * extent - 0.5, (double)(length - 1)), 0);
    const int64_t before = (int64_t)inside, behind = pdnn_least(before + 1, length - 1);
    const double rest = inside - (double)before;
    return (struct between){(int32_t)(before * stride), (int32_t)(behind * stride),
                            (float)((1 - rest) * scale), (float)(rest * scale)};
}

static void make_tables(void *job, int64_t index, int64_t parts) {
    const struct work *work = job;
    const struct pdnn_roi_align *of = work->job;
    const struct pdnn_span boxes = pdnn_span_of(of->boxes, 1, index, parts);
    const double part = 1 / (double)(of->samples * of->samples);
    for (int64_t box = boxes.begin; box < boxes.end; box++) {
        const float *corner = of->corners + box * 4;
        struct between *h = work->table + box * AXES * work->points, *w = h + work->points;
        for (int64_t i = 0; i < work->points; i++) {
            const double step = ((double)i + 0.5) / (double)work->points;
            h[i] = point_at((double)corner[0], (double)corner[2], of->H, step, of->W, part);
            w[i] = point_at((double)corner[1], (double)corner[3], of->W, step, 1, 1);
        }
    }
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

/* `vectors` floats, as whole vectors or, if that is 0, `width` of them. */
struct lanes {
    pdnn_floats v[VECTORS_MOST];
    float c[UNIT];
};

/* sum += the value of a point; `width` and `vectors` are constants where that matters. */
PDNN_INLINE void add_point(struct lanes *sum, const float *x, const struct between *h,
                           const struct between *w, int64_t block, int64_t width, int vectors) {
    const float *above = x + h->before * block, *below = x + h->behind * block;
    const int64_t left = w->before * block, right = w->behind * block;
    for (int k = 0; k < vectors; k++) {
        pdnn_floats a, b, c, d;
        pdnn_load(&a, above + left + k * PDNN_LANES);
        pdnn_load(&b, above + right + k * PDNN_LANES);
        pdnn_load(&c, below + left + k * PDNN_LANES);
        pdnn_load(&d, below + right + k * PDNN_LANES);
        sum->v[k] += (a * w->share + b * w->rest) * h->share + (c * w->share + d * w->rest) * h->rest;
    }
    for (int64_t i = 0; !vectors && i < width; i++)
        sum->c[i] += (above[left + i] * w->share + above[right + i] * w->rest) * h->share +
                     (below[left + i] * w->share + below[right + i] * w->rest) * h->rest;
}

/* pixel += dy * share. */
PDNN_INLINE void spread(float *pixel, const struct lanes *dy, float share, int64_t width, int vectors) {
    for (int k = 0; k < vectors; k++) {
        pdnn_floats v;
        pdnn_load(&v, pixel + k * PDNN_LANES);
        v += dy->v[k] * share;
        pdnn_store(pixel + k * PDNN_LANES, &v);
    }
    for (int64_t i = 0; !vectors && i < width; i++)
        pixel[i] += dy->c[i] * share;
}

PDNN_INLINE void spread_point(const struct lanes *dy, float *dx, const struct between *h,
                              const struct between *w, int64_t block, int64_t width, int vectors) {
    spread(dx + (h->before + w->before) * block, dy, h->share * w->share, width, vectors);
    spread(dx + (h->before + w->behind) * block, dy, h->share * w->rest, width, vectors);
    spread(dx + (h->behind + w->before) * block, dy, h->rest * w->share, width, vectors);
    spread(dx + (h->behind + w->behind) * block, dy, h->rest * w->rest, width, vectors);
}

PDNN_INLINE void gather_values(const struct work *work, int64_t box, const float *x, float *y, int64_t width,
                               int vectors) {
    const struct between *h = work->table + box * AXES * work->points, *w = h + work->points;
    const int64_t size = work->job->size, S = work->job->samples, block = work->job->block;
    for (int64_t i = 0; i < work->values; i++, y += block) {
        struct lanes sum = {.v = {{0}}};
        memset(sum.c, 0, sizeof sum.c);
        for (int64_t k = 0; k < S * S; k++)
            add_point(&sum, x, h + i / size * S + k / S, w + i % size * S + k % S, block, width, vectors);
        for (int k = 0; k < vectors; k++)
            pdnn_store(y + k * PDNN_LANES, &sum.v[k]);
        for (int64_t c = 0; !vectors && c < width; c++)
            y[c] = sum.c[c];
    }
}

PDNN_INLINE void scatter_values(const struct work *work, int64_t box, float *dx, const float *dy,
                                int64_t width, int vectors) {
    const struct between *h = work->table + box * AXES * work->points, *w = h + work->points;
    const int64_t size = work->job->size, S = work->job->samples, block = work->job->block;
    for (int64_t i = 0; i < work->values; i++, dy += block) {
        struct lanes value;
        for (int k = 0; k < vectors; k++)
            pdnn_load(&value.v[k], dy + k * PDNN_LANES);
        for (int64_t c = 0; !vectors && c < width; c++)
            value.c[c] = dy[c];
        for (int64_t k = 0; k < S * S; k++)
            spread_point(&value, dx, h + i / size * S + k / S, w + i % size * S + k % S, block, width,
                         vectors);
    }
}

#define OF_WIDTH(function, width, ...)                                                                       \
    do {                                                                                                     \
        if ((width) == UNIT)                                                                                 \
            function(__VA_ARGS__, width, UNIT / PDNN_LANES);                                                 \
        else if ((width) == UNIT / 2 && PDNN_LANES <= UNIT / 2)                                              \
            function(__VA_ARGS__, width, UNIT / 2 / PDNN_LANES);                                             \
        else                                                                                                 \
            function(__VA_ARGS__, width, 0);                                                                 \
    } while (0)

/* Planes. A row of a box's values is first a weighted sum of rows of pixels, a line, over the box's columns
 * from the first on, in vectors; the line's columns are then summed to the values. Backward is the reverse.
 */

/* line = the sum of the rows at `samples` points; x is at the box's first column. */
PDNN_INLINE void sum_rows(const float *x, const struct between *h, int64_t samples, float *line,
                          int64_t columns) {
    for (int64_t c = 0; c < columns; c += PDNN_LANES) {
        const int64_t count = pdnn_least(PDNN_LANES, columns - c);
        pdnn_floats sum = {0}, before, behind;
        for (int64_t k = 0; k < samples; k++) {
            pdnn_load_lanes(&before, x + h[k].before + c, count);
            pdnn_load_lanes(&behind, x + h[k].behind + c, count);
            sum += before * h[k].share + behind * h[k].rest;
        }
        pdnn_store(line + c, &sum);
    }
}

/* row += line * share. */
PDNN_INLINE void spread_vector(float *row, const pdnn_floats *line, float share, int64_t count) {
    pdnn_floats v;
    pdnn_load_lanes(&v, row, count);
    v += *line * share;
    if (count == PDNN_LANES)
        pdnn_store(row, &v);
    else
        pdnn_store_part(row, &v, count);
}

PDNN_INLINE void spread_rows(float *dx, const struct between *h, int64_t samples, const float *line,
                             int64_t columns) {
    for (int64_t c = 0; c < columns; c += PDNN_LANES) {
        const int64_t count = pdnn_least(PDNN_LANES, columns - c);
        pdnn_floats v;
        pdnn_load(&v, line + c);
        for (int64_t k = 0; k < samples; k++) {
            spread_vector(dx + h[k].before + c, &v, h[k].share, count);
            spread_vector(dx + h[k].behind + c, &v, h[k].rest, count);
        }
    }
}

/* y = the sum of a line's columns at `samples` points; the line is at column `first`. */
PDNN_INLINE float sum_columns(const float *line, const struct between *w, int64_t samples, int64_t first) {
    float sum = 0;
    for (int64_t k = 0; k < samples; k++)
        sum += line[w[k].before - first] * w[k].share + line[w[k].behind - first] * w[k].rest;
    return sum;
}

PDNN_INLINE void spread_columns(float *line, const struct between *w, int64_t samples, int64_t first,
                                float dy) {
    for (int64_t k = 0; k < samples; k++) {
        line[w[k].before - first] += dy * w[k].share;
        line[w[k].behind - first] += dy * w[k].rest;
    }
}

PDNN_INLINE void gather_plane(const struct work *work, int64_t box, const float *x, float *restrict y,
                              float *restrict lines, int64_t samples) {
    const struct between *h = work->table + box * AXES * work->points, *w = h + work->points;
    const int64_t size = work->job->size, first = w[0].before,
                  columns = w[work->points - 1].behind + 1 - first;
    for (int64_t i = 0; i < size; i++)
        sum_rows(x + first, h + i * samples, samples, lines + i * work->line, columns);
    for (int64_t j = 0; j < size; j++) {
        for (int64_t i = 0; i < size; i++)
            y[i * size + j] = sum_columns(lines + i * work->line, w + j * samples, samples, first);
    }
}

PDNN_INLINE void scatter_plane(const struct work *work, int64_t box, float *dx, const float *restrict dy,
                               float *restrict lines, int64_t samples) {
    const struct between *h = work->table + box * AXES * work->points, *w = h + work->points;
    const int64_t size = work->job->size, first = w[0].before,
                  columns = w[work->points - 1].behind + 1 - first;
    for (int64_t i = 0; i < size; i++)
        memset(lines + i * work->line, 0,
               (size_t)pdnn_least(columns + PDNN_LANES, work->line) * sizeof *lines);
    for (int64_t j = 0; j < size; j++) {
        for (int64_t i = 0; i < size; i++)
            spread_columns(lines + i * work->line, w + j * samples, samples, first, dy[i * size + j]);
    }
    for (int64_t i = 0; i < size; i++)
        spread_rows(dx + first, h + i * samples, samples, lines + i * work->line, columns);
}

#define OF_SAMPLES(function, samples, ...)                                                                   \
    do {                                                                                                     \
        if ((samples) == 2)                                                                                  \
            function(__VA_ARGS__, 2);                                                                        \
        else                                                                                                 \
            function(__VA_ARGS__, samples);                                                                  \
    } while (0)

static float *lines_of(const struct work *work, int64_t index) {
    return work->lines + index * work->job->size * work->line;
}

/* The hardware's prefetcher does not see the values of the boxes to come, nor the pixels of a plane, which
 * boxes read here and there: a plane of which they read as much as it has is first fetched as a whole. */
enum { BOXES_AHEAD = 4, LINE_FLOATS = CACHE_LINE / sizeof(float) };

static void fetch_values(const struct work *work, int64_t i, int64_t end, const float *values) {
    const int64_t stride = work->job->C * work->values;
    if (i + BOXES_AHEAD >= end)
        return;
    for (int64_t k = 0; k < work->values + LINE_FLOATS; k += LINE_FLOATS)
        __builtin_prefetch(values + BOXES_AHEAD * stride + pdnn_least(k, work->values - 1));
}

static void fetch_plane(const struct work *work, int64_t boxes, const float *x) {
    const int64_t pixels = work->job->H * work->job->W;
    for (int64_t k = 0; k < pixels && pixels <= boxes * 4 * work->points * work->points; k += LINE_FLOATS)
        __builtin_prefetch(x + k);
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
            if (i % per_image == 0)
                fetch_plane(work, per_image, x);
            OF_SAMPLES(gather_plane, of->samples, work, box, x, y, lines_of(work, index));
        } else
            OF_WIDTH(gather_values, width, work, box, x, y);
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
                OF_SAMPLES(scatter_plane, of->samples, work, box, dx, dy, lines_of(work, index));
            } else
                OF_WIDTH(scatter_values, width, work, box, dx, dy);
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
