#include "runtime/kernels/images/resize.h"

#include "runtime/kernels/simd/bypass.h"
#include "runtime/kernels/simd/lanes.h"
#include "runtime/kernels/simd/team.h"

#include <string.h>

struct job {
    const struct pdnn_resize *shape;
    const float *from;
    float *to;
};

/* Where one row or column of y comes from. */
struct source {
    int64_t first, second;
    float share;
};

static struct source source_of(const struct pdnn_resize *shape, int64_t at, int64_t from, int64_t to) {
    if (!shape->bilinear)
        return (struct source){at * from / to, at * from / to, 0};
    int64_t twice = (2 * at + 1) * from - to;
    int64_t first = twice > 0 ? twice / (2 * to) : 0;
    float share = twice > 0 ? (float)(twice - first * 2 * to) / (float)(2 * to) : 0;
    return (struct source){first, first + 1 < from ? first + 1 : first, share};
}

/* Up to TILE columns of a row of y: their sources do not depend on the row. They lie within SOURCES of x.
 * Rows in blocks of at most STREAMED channels are made in L1 and streamed from there. */
enum { TILE = 256, SOURCES = TILE + 4, STREAMED = 16, VECTOR = 4 };

struct columns {
    int64_t lowest, range; /* of x */
    int32_t first[TILE], second[TILE];
    float share[TILE];
};

/* How many columns of y have their sources within SOURCES. */
static int64_t tile_of(const struct pdnn_resize *s) {
    return s->W <= s->Q ? TILE : TILE * s->Q / s->W > 1 ? TILE * s->Q / s->W : 1;
}

static void find_columns(const struct pdnn_resize *s, int64_t first, int64_t n, struct columns *columns) {
    columns->lowest = source_of(s, first, s->W, s->Q).first;
    for (int64_t q = 0; q < n; q++) {
        const struct source source = source_of(s, first + q, s->W, s->Q);
        columns->first[q] = (int32_t)(source.first - columns->lowest);
        columns->second[q] = (int32_t)(source.second - columns->lowest);
        columns->share[q] = source.share;
        columns->range = columns->second[q] + 1;
    }
}

/* Where there are no fewer columns than in x, neighbours come from as many of x: one vector and the one that
 * begins a column later are all that a vector needs. `row` is padded by its last column. Returns how many
 * columns it has done. */
PDNN_INLINE int64_t spread_row(const struct columns *columns, const float *row, float *y, int64_t n,
                               bool is_bilinear) {
    int64_t q = 0;
#if PDNN_LANES > 4
    for (; q + PDNN_LANES <= n; q += PDNN_LANES) {
        pdnn_floats a, b, share;
        pdnn_ints at;
        memcpy(&at, columns->first + q, sizeof at);
        at -= columns->first[q];
        pdnn_load(&a, row + columns->first[q]);
        pdnn_permute(&a, &at);
        if (is_bilinear) {
            pdnn_load(&b, row + columns->first[q] + 1);
            pdnn_load(&share, columns->share + q);
            pdnn_permute(&b, &at);
            a = a * (1 - share) + b * share;
        }
        pdnn_store(y + q, &a);
    }
#else
    (void)columns, (void)row, (void)y, (void)n, (void)is_bilinear;
#endif
    return q;
}

static void pad_row(const struct columns *columns, float *row) {
    for (int i = 0; i < PDNN_LANES; i++)
        row[columns->range + i] = row[columns->range - 1];
}

static void nearest_plain(const struct columns *columns, const float *x, float *y, int64_t n, bool widens) {
    float row[SOURCES + PDNN_LANES];
    int64_t q = 0;
    if (widens) {
        memcpy(row, x, (size_t)columns->range * sizeof *row);
        pad_row(columns, row);
        q = spread_row(columns, row, y, n, false);
    }
    for (; q < n; q++)
        y[q] = x[columns->first[q]];
}

PDNN_INLINE void copy_pixels(const struct columns *columns, const float *x, float *y, int64_t n,
                             int64_t block) {
    for (int64_t q = 0; q < n; q++)
        for (int64_t c = 0; c < block; c++)
            y[q * block + c] = x[columns->first[q] * block + c];
}

static void nearest_columns(const struct columns *columns, const float *x, float *y, int64_t n,
                            const struct pdnn_resize *s) {
    const int64_t block = s->block;
    if (block == 1) {
        nearest_plain(columns, x, y, n, s->W <= s->Q);
    } else if (block == PDNN_LANES) {
        copy_pixels(columns, x, y, n, PDNN_LANES);
    } else {
        copy_pixels(columns, x, y, n, block);
    }
}

/* Two rows of x, whose shares are 1 - share and share. */
PDNN_INLINE void blend_pixels(const struct columns *columns, const float *const x[2], float share, float *y,
                              int64_t n, int64_t block) {
    for (int64_t q = 0; q < n; q++, y += block) {
        const float *a = x[0] + columns->first[q] * block, *b = x[0] + columns->second[q] * block;
        const float *c = x[1] + columns->first[q] * block, *d = x[1] + columns->second[q] * block;
        const float right = columns->share[q], left = 1 - right;
        const float top = (1 - share) * left, top_right = (1 - share) * right;
        const float bottom = share * left, bottom_right = share * right;
#pragma omp simd
        for (int64_t i = 0; i < block; i++)
            y[i] = a[i] * top + b[i] * top_right + c[i] * bottom + d[i] * bottom_right;
    }
}

/* One channel: first the rows, then their columns. */
static void blend_plain(const struct columns *columns, const float *const x[2], float share, float *y,
                        int64_t n, bool widens) {
    float row[SOURCES + PDNN_LANES];
    const float *a = x[0], *b = x[1];
    const int64_t range = columns->range;
#pragma omp simd
    for (int64_t i = 0; i < range; i++)
        row[i] = a[i] * (1 - share) + b[i] * share;
    pad_row(columns, row);
    const int64_t done = widens ? spread_row(columns, row, y, n, true) : 0;
#pragma omp simd
    for (int64_t q = done; q < n; q++)
        y[q] = row[columns->first[q]] * (1 - columns->share[q]) + row[columns->second[q]] * columns->share[q];
}

static void blend_columns(const struct columns *columns, const float *const x[2], float share, float *y,
                          int64_t n, const struct pdnn_resize *s) {
    const int64_t block = s->block;
    if (block == 1)
        blend_plain(columns, x, share, y, n, s->W <= s->Q);
    else if (block == PDNN_LANES)
        blend_pixels(columns, x, share, y, n, PDNN_LANES);
    else
        blend_pixels(columns, x, share, y, n, block);
}

/* Rows [begin, end) of one plane of y, columns from `first` on. */
static void forward_tile(const struct job *job, int64_t plane, struct pdnn_span rows, int64_t first,
                         int64_t n) {
    const struct pdnn_resize *s = job->shape;
    const int64_t floats = n * s->block;
    const bool bypass = s->bypass && s->block <= STREAMED && floats % VECTOR == 0 &&
                        s->Q * s->block % VECTOR == 0 && first * s->block % VECTOR == 0;
    struct columns columns;
    float made[TILE * STREAMED];
    find_columns(s, first, n, &columns);
    int64_t last = -1;
    for (int64_t p = rows.begin; p < rows.end; p++) {
        struct source row = source_of(s, p, s->H, s->P);
        float *y = job->to + ((plane * s->P + p) * s->Q + first) * s->block, *to = bypass ? made : y;
        const float *x = job->from + (plane * s->H * s->W + columns.lowest) * s->block;
        const float *pair[] = {x + row.first * s->W * s->block, x + row.second * s->W * s->block};
        if (s->bilinear)
            blend_columns(&columns, pair, row.share, to, n, s);
        else if (row.first != last)
            nearest_columns(&columns, pair[0], to, n, s);
        else if (!bypass)
            memcpy(y, y - s->Q * s->block, (size_t)floats * sizeof *y);
        if (bypass)
            pdnn_bypass_copy(y, made, floats);
        last = row.first;
    }
}

static void forward_part(void *work, int64_t index, int64_t parts) {
    const struct job *job = work;
    const struct pdnn_resize *s = job->shape;
    struct pdnn_span span = pdnn_span_of(s->planes * s->P, 1, index, parts);
    while (span.begin < span.end) {
        int64_t plane = span.begin / s->P, row = span.begin % s->P;
        int64_t count = pdnn_least(s->P - row, span.end - span.begin);
        const int64_t tile = tile_of(s);
        for (int64_t q = 0; q < s->Q; q += tile)
            forward_tile(job, plane, (struct pdnn_span){row, row + count}, q, pdnn_least(tile, s->Q - q));
        span.begin += count;
    }
    if (s->bypass)
        pdnn_bypass_fence();
}

PDNN_KERNEL(pdnn_resize_forward, (const struct pdnn_resize *shape, const float *x, float *y, int64_t threads),
            (shape, x, y, threads)) {
    struct job job = {shape, x, y};
    pdnn_team_run(threads, shape->planes * shape->P * shape->Q * shape->block, forward_part, &job);
}

/* Which columns of dy add to up to TILE columns of dx: neighbours, of which MOST are done at a time. Where
 * there are fewer, the last one is added again, with a weight of 0. */
enum { MOST = 8 };

struct givers {
    int64_t begin, n; /* of dx */
    int64_t all;      /* the most that a column has */
    int count;        /* the most of them here */
    int32_t from[MOST][TILE];
    float weight[MOST][TILE];
};

/* Columns `first` and so on of those that add to each. */
static void find_givers(const struct pdnn_resize *s, int64_t begin, int64_t first, struct givers *givers) {
    int64_t lowest[TILE], column;
    givers->begin = begin;
    givers->n = pdnn_least(TILE, s->W - begin);
    givers->all = 0;
    for (int64_t i = 0; i < TILE; i++)
        lowest[i] = -1;
    memset(givers->from, 0, sizeof givers->from);
    memset(givers->weight, 0, sizeof givers->weight);
    for (int64_t q = 0; q < s->Q; q++) {
        const struct source source = source_of(s, q, s->W, s->Q);
        for (int end = 0; end < 2; end++) {
            column = (end ? source.second : source.first) - begin;
            if (column < 0 || column >= givers->n)
                continue;
            lowest[column] = lowest[column] < 0 ? q : lowest[column];
            const int64_t at = q - lowest[column] - first;
            givers->all = givers->all > at + first + 1 ? givers->all : at + first + 1;
            for (int64_t k = at < 0 ? 0 : at; k < MOST; k++)
                givers->from[k][column] = (int32_t)q;
            if (at >= 0 && at < MOST)
                givers->weight[at][column] += end ? source.share : 1 - source.share;
        }
    }
    givers->count = (int)pdnn_least(MOST, givers->all - first);
}

/* sums = what a row of dy gives to each column. */
static void gather_plain(const struct givers *givers, const float *dy, float *sums) {
    const int64_t n = givers->n;
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        sums[i] = dy[givers->from[0][i]] * givers->weight[0][i];
    for (int k = 1; k < givers->count; k++)
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            sums[i] += dy[givers->from[k][i]] * givers->weight[k][i];
}

static void add_shares(float *dx, const float *sums, float share, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        dx[i] += sums[i] * share;
}

static void backward_plain(const struct job *job, struct pdnn_span planes) {
    const struct pdnn_resize *s = job->shape;
    struct givers givers;
    float sums[TILE];
    for (int64_t begin = 0; begin < s->W; begin += TILE) {
        int64_t first = 0;
        do {
            find_givers(s, begin, first, &givers);
            for (int64_t row = planes.begin * s->P; row < planes.end * s->P && givers.count > 0; row++) {
                const struct source to = source_of(s, row % s->P, s->H, s->P);
                float *dx = job->to + row / s->P * s->H * s->W + begin;
                gather_plain(&givers, job->from + row * s->Q, sums);
                add_shares(dx + to.first * s->W, sums, 1 - to.share, givers.n);
                if (s->bilinear)
                    add_shares(dx + to.second * s->W, sums, to.share, givers.n);
            }
            first += MOST;
        } while (first < givers.all);
    }
}

PDNN_INLINE void add_pixel(float *dx, const float *dy, float weight, int64_t block) {
#pragma omp simd
    for (int64_t i = 0; i < block; i++)
        dx[i] += dy[i] * weight;
}

/* Adds a row of dy to the two rows of dx between which it lies. */
PDNN_INLINE void add_row(const struct pdnn_resize *s, const struct columns *columns, const float *dy,
                         const struct source *row, float *dx, int64_t n, int64_t block) {
    float *top = dx + row->first * s->W * block, *bottom = dx + row->second * s->W * block;
    for (int64_t q = 0; q < n; q++, dy += block) {
        const int64_t left = columns->first[q] * block, right = columns->second[q] * block;
        const float share = columns->share[q], rest = 1 - share;
        add_pixel(top + left, dy, (1 - row->share) * rest, block);
        if (!s->bilinear)
            continue;
        add_pixel(top + right, dy, (1 - row->share) * share, block);
        add_pixel(bottom + left, dy, row->share * rest, block);
        add_pixel(bottom + right, dy, row->share * share, block);
    }
}

static void backward_blocks(const struct job *job, int64_t plane) {
    const struct pdnn_resize *s = job->shape;
    const int64_t tile = tile_of(s);
    struct columns columns;
    for (int64_t first = 0; first < s->Q; first += tile) {
        const int64_t n = pdnn_least(tile, s->Q - first);
        find_columns(s, first, n, &columns);
        for (int64_t p = 0; p < s->P; p++) {
            const struct source row = source_of(s, p, s->H, s->P);
            const float *dy = job->from + ((plane * s->P + p) * s->Q + first) * s->block;
            float *dx = job->to + (plane * s->H * s->W + columns.lowest) * s->block;
            if (s->block == PDNN_LANES)
                add_row(s, &columns, dy, &row, dx, n, PDNN_LANES);
            else
                add_row(s, &columns, dy, &row, dx, n, s->block);
        }
    }
}

static void backward_part(void *work, int64_t index, int64_t parts) {
    const struct job *job = work;
    const struct pdnn_resize *s = job->shape;
    const struct pdnn_span span = pdnn_span_of(s->planes, 1, index, parts);
    const int64_t floats = s->H * s->W * s->block;
    if (span.begin == span.end)
        return;
    memset(job->to + span.begin * floats, 0, (size_t)((span.end - span.begin) * floats) * sizeof *job->to);
    if (s->block == 1)
        backward_plain(job, span);
    for (int64_t plane = span.begin; plane < span.end && s->block != 1; plane++)
        backward_blocks(job, plane);
}

PDNN_KERNEL(pdnn_resize_backward,
            (const struct pdnn_resize *shape, const float *dy, float *dx, int64_t threads),
            (shape, dy, dx, threads)) {
    struct job job = {shape, dy, dx};
    pdnn_team_run(threads, shape->planes * shape->P * shape->Q * shape->block, backward_part, &job);
}
