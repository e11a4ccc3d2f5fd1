#include "runtime/kernels/images/winograd.h"

#include "runtime/kernels/gemm/tiles.h"
#include "runtime/kernels/simd/lanes.h"
#include "runtime/kernels/simd/team.h"

#include <string.h>

/* u (points, panels, C, panel width) are the weights' values at the points, v (points, tiles, C) those of
 * some tiles of x, and m (points, tiles, O in whole panels) their products. A thread takes tiles by the
 * chunk, so that v and m stay in its caches. Where the weights are larger than all of v and m, the threads
 * share the points instead, and each reads its part of u once. */
enum { OUT = 4, TAPS = 3, IN = OUT + TAPS - 1, POINTS = IN * IN, LINE = 16 };
enum { CHUNK_BYTES = 768 << 10, LEAST_CHUNK = 4 * PDNN_TILE_ROWS, MOST_CHUNK = 16 * PDNN_TILE_ROWS };
enum { SHARED_BYTES = 16 << 20 };

struct layout {
    int64_t down, across, tiles; /* of an image, and of all */
    int64_t C, panels, O;        /* O: padded */
    int64_t chunk;               /* tiles at a time */
    bool by_points;
};

struct work {
    const struct pdnn_winograd *job;
    struct layout layout;
    const struct pdnn_winograd_end *end;
    const float *x, *w, *u;
    float *y, *to_u, *rest;
};

/* A point of v or of m. Planes a power of two apart would share their lines of the cache. */
static int64_t plane_of(int64_t tiles, int64_t channels) {
    return tiles * channels + LINE;
}

static int64_t chunk_floats(const struct layout *layout, int64_t tiles) {
    return POINTS * (plane_of(tiles, layout->C) + plane_of(tiles, layout->O));
}

static int64_t weights_floats(const struct layout *layout) {
    return POINTS * layout->C * layout->O;
}

static struct layout layout_of(const struct pdnn_winograd *job) {
    struct layout layout = {.down = (job->to.rows + OUT - 1) / OUT,
                            .across = (job->to.columns + OUT - 1) / OUT,
                            .C = job->from.channels,
                            .panels = (job->to.channels + PDNN_TILE_WIDTH - 1) / PDNN_TILE_WIDTH};
    layout.tiles = job->N * layout.down * layout.across;
    layout.O = layout.panels * PDNN_TILE_WIDTH;
    const int64_t tile = POINTS * (layout.C + layout.O) * (int64_t)sizeof(float),
                  fitting = CHUNK_BYTES / tile / PDNN_TILE_ROWS * PDNN_TILE_ROWS,
                  chunk = fitting < LEAST_CHUNK ? LEAST_CHUNK : pdnn_least(fitting, MOST_CHUNK);
    layout.by_points = layout.tiles * tile <= SHARED_BYTES &&
                       layout.tiles * tile < weights_floats(&layout) * (int64_t)sizeof(float);
    layout.chunk = layout.by_points ? layout.tiles : pdnn_least(chunk, layout.tiles);
    return layout;
}

/* Values at the points 0, 1, -1, 2, -2 and at infinity. */
PDNN_INLINE void inputs_to_points(const pdnn_floats d[IN], pdnn_floats v[IN]) {
    const pdnn_floats a = d[4] - 4 * d[2], b = d[3] - 4 * d[1], c = d[4] - d[2], e = 2 * (d[3] - d[1]);
    v[0] = 4 * d[0] - 5 * d[2] + d[4];
    v[1] = a + b;
    v[2] = a - b;
    v[3] = c + e;
    v[4] = c - e;
    v[5] = 4 * d[1] - 5 * d[3] + d[5];
}

PDNN_INLINE void taps_to_points(const pdnn_floats g[TAPS], pdnn_floats u[IN]) {
    const float quarter = 1.0F / 4, sixth = 1.0F / 6, twelfth = 1.0F / 12, last = 1.0F / 24;
    const pdnn_floats sum = -sixth * (g[0] + g[2]), far = last * g[0] + sixth * g[2];
    u[0] = quarter * g[0];
    u[1] = sum - sixth * g[1];
    u[2] = sum + sixth * g[1];
    u[3] = far + twelfth * g[1];
    u[4] = far - twelfth * g[1];
    u[5] = g[2];
}

PDNN_INLINE void points_to_outputs(const pdnn_floats m[IN], pdnn_floats y[OUT]) {
    const pdnn_floats s = m[1] + m[2], d = m[1] - m[2], far_s = m[3] + m[4], far_d = m[3] - m[4];
    y[0] = m[0] + s + far_s;
    y[1] = d + 2 * far_d;
    y[2] = s + 4 * far_s;
    y[3] = d + 8 * far_d + m[5];
}

/* Where channel o of y meets channel c of x, at the first tap in memory. */
static int64_t weight_at(const struct pdnn_winograd *job, int64_t to, int64_t from) {
    const struct pdnn_winograd_weights *w = &job->weights;
    const int64_t o = job->is_gradient ? from : to, c = job->is_gradient ? to : from;
    return o / w->o_block * w->o_step + o % w->o_block + c / w->c_block * w->c_step +
           c % w->c_block * w->c_inner;
}

/* A vector of channels of y at every tap. */
static void load_taps(const struct work *work, int64_t o, int64_t c, pdnn_floats g[TAPS][TAPS]) {
    const struct pdnn_winograd *job = work->job;
    const int64_t step = job->weights.tap_step, lanes = pdnn_least(PDNN_LANES, job->to.channels - o);
    const bool is_whole = !job->is_gradient && job->weights.o_block % PDNN_LANES == 0 && lanes == PDNN_LANES;
    const float *from = work->w + weight_at(job, o, c);
    memset(g, 0, TAPS * TAPS * sizeof **g);
    for (int64_t tap = 0; is_whole && tap < TAPS * TAPS; tap++)
        pdnn_load(&g[tap / TAPS][tap % TAPS], from + tap * step);
    for (int64_t lane = 0; !is_whole && lane < lanes; lane++) {
        from = work->w + weight_at(job, o + lane, c);
        for (int64_t tap = 0; tap < TAPS * TAPS; tap++) {
            const int64_t read = job->is_gradient ? TAPS * TAPS - 1 - tap : tap;
            g[tap / TAPS][tap % TAPS][lane] = from[read * step];
        }
    }
}

/* Rows of panels, from (panel, c) on. */
static void weights_part(void *state, int64_t index, int64_t parts) {
    const struct work *work = state;
    const struct layout *layout = &work->layout;
    const struct pdnn_span rows = pdnn_span_of(layout->panels * layout->C, 1, index, parts);
    const int64_t plane = layout->C * layout->O;
    for (int64_t row = rows.begin; row < rows.end; row++)
        for (int64_t half = 0; half < PDNN_TILE_WIDTH; half += PDNN_LANES) {
            pdnn_floats g[TAPS][TAPS], down[TAPS][IN], column[TAPS], u[IN];
            const int64_t o = row / layout->C * PDNN_TILE_WIDTH + half;
            float *to = work->to_u + row * PDNN_TILE_WIDTH + half;
            if (o < work->job->to.channels)
                load_taps(work, o, row % layout->C, g);
            else
                memset(g, 0, sizeof g);
            for (int s = 0; s < TAPS; s++) {
                for (int r = 0; r < TAPS; r++)
                    column[r] = g[r][s];
                taps_to_points(column, down[s]);
            }
            for (int i = 0; i < IN; i++) {
                for (int s = 0; s < TAPS; s++)
                    column[s] = down[s][i];
                taps_to_points(column, u);
                for (int j = 0; j < IN; j++)
                    pdnn_store(to + (i * IN + j) * plane, &u[j]);
            }
        }
}

/* Channel `channel` of an image's first pixel. */
static int64_t image_at(const struct pdnn_winograd_images *images, int64_t image, int64_t channel) {
    const int64_t pixels = images->rows * images->columns, block = images->block;
    return (image * images->channels + channel / block * block) * pixels + channel % block;
}

/* A tile's first row and column among the outputs. */
struct place {
    int64_t image, row, column;
};

static struct place place_of(const struct layout *layout, int64_t tile) {
    const int64_t of_image = layout->down * layout->across;
    return (struct place){tile / of_image, tile % of_image / layout->across * OUT,
                          tile % layout->across * OUT};
}

/* A vector of channels of a tile, `x` its first pixel: to v, points `plane` floats apart. */
PDNN_INLINE void transform_input(const struct pdnn_winograd_images *images, const float *x, int64_t row,
                                 int64_t column, float *v, int64_t plane, bool is_inside) {
    pdnn_floats d[IN], down[IN][IN], points[IN];
    const int64_t block = images->block;
#pragma GCC unroll 6
    for (int j = 0; j < IN; j++) {
        const bool is_column = is_inside || (column + j >= 0 && column + j < images->columns);
#pragma GCC unroll 6
        for (int i = 0; i < IN; i++) {
            if (is_inside || (is_column && row + i >= 0 && row + i < images->rows))
                pdnn_load(&d[i], x + ((row + i) * images->columns + column + j) * block);
            else
                d[i] = (pdnn_floats){0};
        }
        inputs_to_points(d, down[j]);
    }
#pragma GCC unroll 6
    for (int i = 0; i < IN; i++) {
#pragma GCC unroll 6
        for (int j = 0; j < IN; j++)
            d[j] = down[j][i];
        inputs_to_points(d, points);
#pragma GCC unroll 6
        for (int j = 0; j < IN; j++)
            pdnn_store(v + (i * IN + j) * plane, &points[j]);
    }
}

static void transform_inputs(const struct work *work, struct pdnn_span tiles, float *v, int64_t plane) {
    const struct pdnn_winograd *job = work->job;
    const struct pdnn_winograd_images *images = &job->from;
    for (int64_t tile = tiles.begin; tile < tiles.end; tile++) {
        const struct place place = place_of(&work->layout, tile);
        const int64_t row = place.row - job->top, column = place.column - job->left;
        const bool is_inside =
            row >= 0 && column >= 0 && row + IN <= images->rows && column + IN <= images->columns;
        for (int64_t c = 0; c < images->channels; c += PDNN_LANES) {
            const float *x = work->x + image_at(images, place.image, c);
            float *to = v + (tile - tiles.begin) * images->channels + c;
            if (is_inside)
                transform_input(images, x, row, column, to, plane, true);
            else
                transform_input(images, x, row, column, to, plane, false);
        }
    }
}

static void multiply(const struct work *work, int64_t point, int64_t tiles, const float *v, float *m) {
    const struct layout *layout = &work->layout;
    struct pdnn_tile tile = {.K = layout->C, .a_stride = layout->C, .a_step = 1, .c_stride = layout->O};
    for (int64_t panel = 0; panel < layout->panels; panel++) {
        tile.b = work->u + (point * layout->panels + panel) * layout->C * PDNN_TILE_WIDTH;
        for (int64_t t = 0; t < tiles; t += PDNN_TILE_ROWS) {
            tile.a = v + t * layout->C;
            tile.c = m + t * layout->O + panel * PDNN_TILE_WIDTH;
            PDNN_HERE(pdnn_tile_run)(&tile, pdnn_least(PDNN_TILE_ROWS, tiles - t), PDNN_TILE_WIDTH);
        }
    }
}

PDNN_INLINE void finish(const struct pdnn_winograd_end *end, const pdnn_floats *bias, const float *summand,
                        pdnn_floats *y) {
    pdnn_floats other, positive = {0};
    *y += *bias;
    if (summand) {
        pdnn_load(&other, summand);
        *y += other;
    }
    if (!end->is_relu)
        return;
    pdnn_most(&positive, y); /* y if that is NaN */
    *y = positive;
}

/* A vector of channels of a tile from m, points `plane` floats apart; `at`: its first output, in y and
 * summand. */
static void transform_output(const struct work *work, const float *m, int64_t plane, const pdnn_floats *bias,
                             int64_t at, int64_t rows, int64_t columns) {
    pdnn_floats points[IN], across[IN][OUT], y[OUT], column[IN];
    const struct pdnn_winograd_images *images = &work->job->to;
    for (int i = 0; i < IN; i++) {
        for (int j = 0; j < IN; j++)
            pdnn_load(&points[j], m + (i * IN + j) * plane);
        points_to_outputs(points, across[i]);
    }
    for (int64_t q = 0; q < columns; q++) {
        for (int i = 0; i < IN; i++)
            column[i] = across[i][q];
        points_to_outputs(column, y);
        for (int64_t p = 0; p < rows; p++) {
            const int64_t pixel = at + (p * images->columns + q) * images->block;
            finish(work->end, bias, work->end->summand ? work->end->summand + pixel : NULL, &y[p]);
            pdnn_store(work->y + pixel, &y[p]);
        }
    }
}

static void transform_outputs(const struct work *work, struct pdnn_span tiles, const float *m,
                              int64_t plane) {
    const struct pdnn_winograd_images *images = &work->job->to;
    for (int64_t tile = tiles.begin; tile < tiles.end; tile++) {
        const struct place place = place_of(&work->layout, tile);
        const int64_t first = (place.row * images->columns + place.column) * images->block,
                      rows = pdnn_least(OUT, images->rows - place.row),
                      columns = pdnn_least(OUT, images->columns - place.column);
        for (int64_t o = 0; o < images->channels; o += PDNN_LANES) {
            pdnn_floats bias = {0};
            if (work->end->bias)
                pdnn_load(&bias, work->end->bias + o);
            transform_output(work, m + (tile - tiles.begin) * work->layout.O + o, plane, &bias,
                             image_at(images, place.image, o) + first, rows, columns);
        }
    }
}

/* A thread's tiles, chunk by chunk. */
static void tiles_part(void *state, int64_t index, int64_t parts) {
    const struct work *work = state;
    const struct layout *layout = &work->layout;
    const struct pdnn_span mine = pdnn_span_of(layout->tiles, 1, index, parts);
    const int64_t v_plane = plane_of(layout->chunk, layout->C), m_plane = plane_of(layout->chunk, layout->O);
    float *v = work->rest + index * chunk_floats(layout, layout->chunk), *m = v + POINTS * v_plane;
    for (int64_t begin = mine.begin; begin < mine.end; begin += layout->chunk) {
        const struct pdnn_span tiles = {begin, pdnn_least(begin + layout->chunk, mine.end)};
        transform_inputs(work, tiles, v, v_plane);
        for (int64_t point = 0; point < POINTS; point++)
            multiply(work, point, tiles.end - tiles.begin, v + point * v_plane, m + point * m_plane);
        transform_outputs(work, tiles, m, m_plane);
    }
}

static void inputs_part(void *state, int64_t index, int64_t parts) {
    const struct work *work = state;
    const struct pdnn_span mine = pdnn_span_of(work->layout.tiles, 1, index, parts);
    transform_inputs(work, mine, work->rest + mine.begin * work->layout.C,
                     plane_of(work->layout.tiles, work->layout.C));
}

static void points_part(void *state, int64_t index, int64_t parts) {
    const struct work *work = state;
    const struct layout *layout = &work->layout;
    const struct pdnn_span mine = pdnn_span_of(POINTS, 1, index, parts);
    const int64_t v_plane = plane_of(layout->tiles, layout->C), m_plane = plane_of(layout->tiles, layout->O);
    for (int64_t point = mine.begin; point < mine.end; point++)
        multiply(work, point, layout->tiles, work->rest + point * v_plane,
                 work->rest + POINTS * v_plane + point * m_plane);
}

static void outputs_part(void *state, int64_t index, int64_t parts) {
    const struct work *work = state;
    const struct layout *layout = &work->layout;
    const struct pdnn_span mine = pdnn_span_of(layout->tiles, 1, index, parts);
    const float *m = work->rest + POINTS * plane_of(layout->tiles, layout->C);
    transform_outputs(work, mine, m + mine.begin * layout->O, plane_of(layout->tiles, layout->O));
}

static bool is_whole(const struct pdnn_winograd_images *images) {
    return images->channels % PDNN_LANES == 0 && images->block % PDNN_LANES == 0 &&
           images->channels % images->block == 0;
}

PDNN_KERNEL_VALUE(bool, pdnn_winograd_fits, (const struct pdnn_winograd *job), (job)) {
    const int64_t O = job->is_gradient ? job->from.channels : job->to.channels,
                  C = job->is_gradient ? job->to.channels : job->from.channels;
    return is_whole(&job->from) && is_whole(&job->to) && O % job->weights.o_block == 0 &&
           C % job->weights.c_block == 0;
}

PDNN_KERNEL_VALUE(int64_t, pdnn_winograd_weights_floats, (const struct pdnn_winograd *job), (job)) {
    const struct layout layout = layout_of(job);
    return weights_floats(&layout);
}

PDNN_KERNEL_VALUE(int64_t, pdnn_winograd_scratch, (const struct pdnn_winograd *job, int64_t threads),
                  (job, threads)) {
    const struct layout layout = layout_of(job);
    return (layout.by_points ? 1 : threads) * chunk_floats(&layout, layout.chunk);
}

PDNN_KERNEL(pdnn_winograd_transform,
            (const struct pdnn_winograd *job, const float *w, float *u, int64_t threads),
            (job, w, u, threads)) {
    struct work work = {.job = job, .layout = layout_of(job), .w = w, .to_u = u};
    pdnn_team_run(threads, weights_floats(&work.layout), weights_part, &work);
}

PDNN_KERNEL(pdnn_winograd_run,
            (const struct pdnn_winograd *job, const float *x, const float *u, float *y,
             const struct pdnn_winograd_end *end, float *scratch, int64_t threads),
            (job, x, u, y, end, scratch, threads)) {
    struct work work = {
        .job = job, .layout = layout_of(job), .end = end, .x = x, .u = u, .y = y, .rest = scratch};
    const struct layout *layout = &work.layout;
    const int64_t elements = weights_floats(layout) + layout->tiles * (layout->C + layout->O);
    if (!layout->by_points) {
        pdnn_team_run(threads, elements, tiles_part, &work);
        return;
    }
    pdnn_team_run(threads, elements, inputs_part, &work);
    pdnn_team_run(threads, elements, points_part, &work);
    pdnn_team_run(threads, elements, outputs_part, &work);
}
