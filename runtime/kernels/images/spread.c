#include "runtime/kernels/images/spread.h"

#include "runtime/kernels/images/channel_loops.h"
#include "runtime/kernels/simd/bypass.h"
#include "runtime/kernels/simd/kernel.h"

#include <string.h>

/* A unit is a block of channels of one image: `pixels` rows of `block` neighbouring values. Threads share the
 * rows of all units. Vectors of up to COLUMNS values stay in L1, and so do tiles of TILE values. */
enum { COLUMNS = 1024, TILE = 2048, ALIGNMENT = 16, PARTS = 2 };

static const float zeros[COLUMNS];

struct work {
    const struct pdnn_spread *job;
    int64_t blocks, units, parts;
};

/* Rows of a unit that one thread works on. */
struct segment {
    int64_t unit, first, count;
};

/* Some of their columns. */
struct piece {
    struct segment rows;
    int64_t column, width;
    const struct pdnn_channel_maps *maps;
    const struct pdnn_channel_sums *sums;
};

/* What a thread needs for a piece. */
struct room {
    float b[COLUMNS], ones[COLUMNS], sums[2 * COLUMNS];
    float first[TILE], second[TILE];
    double total[COLUMNS];
};

static struct work work_of(const struct pdnn_spread *job, int64_t threads) {
    struct work work = {.job = job, .blocks = pdnn_channels_padded(&job->shape) / job->shape.block};
    work.units = job->shape.N * work.blocks;
    work.parts = pdnn_channels_elements(&job->shape) < PDNN_TEAM_MIN_ELEMENTS ? 1 : threads;
    return work;
}

static struct pdnn_span rows_of(const struct work *work, int64_t part) {
    return pdnn_span_of(work->units * work->job->shape.pixels, 1, part, work->parts);
}

static struct segment segment_at(const struct work *work, struct pdnn_span rows) {
    int64_t pixels = work->job->shape.pixels, first = rows.begin % pixels;
    return (struct segment){rows.begin / pixels, first, pdnn_least(pixels - first, rows.end - rows.begin)};
}

static struct piece piece_of(const struct work *work, const struct segment *rows, int64_t column) {
    int64_t block = work->job->shape.block, width = pdnn_least(COLUMNS, block - column);
    /* One column of several is no plane of one channel. */
    int64_t variant = width == 1 && block > 1 ? 0 : width;
    return (struct piece){*rows, column, width, PDNN_HERE(pdnn_channel_maps)(variant),
                          PDNN_HERE(pdnn_channel_sums)(variant)};
}

/* Where the piece's values lie in b, and how many there are. */
static struct pdnn_span values_of(const struct work *work, const struct piece *piece) {
    const struct pdnn_spread *job = work->job;
    int64_t channel = piece->rows.unit % work->blocks * job->shape.block + piece->column;
    int64_t image = job->is_shared ? 0 : piece->rows.unit / work->blocks;
    int64_t limit = job->is_shared ? job->shape.C : job->b_stride, begin = image * job->b_stride + channel;
    return (struct pdnn_span){begin, begin + pdnn_least(piece->width, limit - channel)};
}

static void load_values(const struct work *work, const struct piece *piece, float *to) {
    const struct pdnn_spread *job = work->job;
    struct pdnn_span values = values_of(work, piece);
    int64_t n = values.end - values.begin;
    if (job->b_is_half)
        pdnn_half_widen(job->half, (const uint16_t *)job->b + values.begin, to, n);
    else
        memcpy(to, (const float *)job->b + values.begin, (size_t)n * sizeof *to);
    for (int64_t i = n; i < piece->width; i++)
        to[i] = 0;
}

static void store_values(const struct work *work, const struct piece *piece, const double *total) {
    const struct pdnn_spread *job = work->job;
    struct pdnn_span values = values_of(work, piece);
    float sums[COLUMNS], *to = job->b_is_half ? sums : (float *)job->db + values.begin;
    for (int64_t i = 0; i < values.end - values.begin; i++)
        to[i] = (float)total[i];
    if (job->b_is_half)
        pdnn_half_narrow(job->half, sums, (uint16_t *)job->db + values.begin, values.end - values.begin);
}

/* Some rows of a piece: where they lie, and how. */
struct tile {
    int64_t at;
    struct pdnn_rows memory, rows; /* as they lie; as the loops see them */
};

static struct tile tile_of(const struct work *work, const struct piece *piece, int64_t row) {
    const struct pdnn_channels *shape = &work->job->shape;
    int64_t most = TILE / piece->width, left = piece->rows.count - row;
    struct pdnn_rows memory = {1, 0, pdnn_least(left, most), shape->block, piece->width};
    struct tile tile = {
        .at = (piece->rows.unit * shape->pixels + piece->rows.first + row) * shape->block + piece->column,
        .memory = memory,
        .rows = memory,
    };
    if (work->job->is_half)
        tile.rows.stride = piece->width;
    return tile;
}

static const float *load_tile(const struct pdnn_spread *job, const struct tile *tile, const void *from,
                              float *room) {
    const struct pdnn_rows *rows = &tile->memory;
    if (!job->is_half)
        return (const float *)from + tile->at;
    const uint16_t *at = (const uint16_t *)from + tile->at;
    if (rows->stride == rows->width)
        pdnn_half_widen(job->half, at, room, rows->count * rows->width);
    for (int64_t row = 0; row < rows->count && rows->stride != rows->width; row++)
        pdnn_half_widen(job->half, at + row * rows->stride, room + row * rows->width, rows->width);
    return room;
}

static void store_tile(const struct pdnn_spread *job, const struct tile *tile, const float *room, void *to) {
    const struct pdnn_rows *rows = &tile->memory;
    const int64_t n = rows->count * rows->width;
    uint16_t *at = (uint16_t *)to + tile->at;
    const bool streams = job->bypass && (uintptr_t)at % ALIGNMENT == 0 && n % (ALIGNMENT / 2) == 0;
    if (rows->stride == rows->width)
        (streams ? pdnn_half_narrow_bypass : pdnn_half_narrow)(job->half, room, at, n);
    for (int64_t row = 0; row < rows->count && rows->stride != rows->width; row++)
        pdnn_half_narrow(job->half, room + row * rows->width, at + row * rows->stride, rows->width);
}

/* to = from * scale + shift. */
static void map_tile(const struct pdnn_spread *job, const struct piece *piece, const struct tile *tile,
                     const float *from, void *to, const float *scale, const float *shift, float *room) {
    float *f32 = (float *)to + (job->is_half ? 0 : tile->at);
    struct pdnn_affine affine = {zeros, scale, shift, pdnn_unbounded, pdnn_unbounded, false};
    bool is_plane = tile->rows.width == 1 && tile->rows.count % 4 == 0 && (uintptr_t)f32 % ALIGNMENT == 0;
    if (job->is_half) {
        piece->maps->affine(from, NULL, room, &tile->rows, &affine);
        store_tile(job, tile, room, to);
    } else if (job->bypass && is_plane) {
        piece->maps->affine(from, NULL, room, &tile->rows, &affine);
        pdnn_bypass_copy(f32, room, tile->rows.count);
    } else {
        affine.bypass = job->bypass && pdnn_channels_can_bypass(&job->shape);
        piece->maps->affine(from, NULL, f32, &tile->rows, &affine);
    }
}

static void forward_piece(const struct work *work, const struct piece *piece, struct room *room) {
    const struct pdnn_spread *job = work->job;
    const float *scale = job->adds ? room->ones : room->b, *shift = job->adds ? room->b : zeros;
    load_values(work, piece, room->b);
    for (int64_t row = 0; row < piece->rows.count;) {
        struct tile tile = tile_of(work, piece, row);
        const float *a = load_tile(job, &tile, job->a, room->first);
        map_tile(job, piece, &tile, a, job->y, scale, shift, room->first);
        row += tile.rows.count;
    }
}

/* Sums into room->total, and da. */
static void backward_piece(const struct work *work, const struct piece *piece, struct room *room) {
    static const struct pdnn_gate open = {NULL, {0, 0}};
    const struct pdnn_spread *job = work->job;
    memset(room->total, 0, (size_t)piece->width * sizeof *room->total);
    if (job->da)
        load_values(work, piece, room->b);
    for (int64_t row = 0; row < piece->rows.count;) {
        struct tile tile = tile_of(work, piece, row);
        const float *dy = load_tile(job, &tile, job->dy, room->first), *sums = room->sums;
        if (job->adds) {
            piece->sums->moments(dy, &tile.rows, zeros, room->sums);
        } else {
            const float *a = load_tile(job, &tile, job->a, room->second);
            piece->sums->products(dy, &open, a, &tile.rows, zeros, room->sums);
            sums += piece->width;
        }
        for (int64_t i = 0; i < piece->width; i++)
            room->total[i] += (double)sums[i];
        if (job->da)
            map_tile(job, piece, &tile, dy, job->da, room->b, zeros, room->first);
        row += tile.rows.count;
    }
}

static void forward_part(void *state, int64_t index, int64_t parts) {
    const struct work *work = state;
    struct pdnn_span rows = rows_of(work, index);
    struct room room;
    (void)parts;
    for (int64_t i = 0; i < COLUMNS; i++)
        room.ones[i] = 1;
    while (rows.begin < rows.end) {
        struct segment segment = segment_at(work, rows);
        for (int64_t column = 0; column < work->job->shape.block; column += COLUMNS) {
            struct piece piece = piece_of(work, &segment, column);
            forward_piece(work, &piece, &room);
        }
        rows.begin += segment.count;
    }
    if (work->job->bypass)
        pdnn_bypass_fence();
}

PDNN_KERNEL(pdnn_spread_forward, (const struct pdnn_spread *job, int64_t threads), (job, threads)) {
    struct work work = work_of(job, threads);
    pdnn_team_run(threads, pdnn_channels_elements(&job->shape), forward_part, &work);
}

/* Sums that other threads have parts of wait in the scratch: of shared values (padded C) for each thread,
 * else (block) for its first segment and for its last. */

PDNN_KERNEL_VALUE(int64_t, pdnn_spread_scratch,
                  (const struct pdnn_channels *shape, bool is_shared, int64_t threads),
                  (shape, is_shared, threads)) {
    return threads * (is_shared ? pdnn_channels_padded(shape) : PARTS * shape->block);
}

static bool is_whole(const struct work *work, const struct segment *segment) {
    return !work->job->is_shared && segment->count == work->job->shape.pixels;
}

static double *waiting(const struct work *work, int64_t part, const struct segment *segment, bool is_first) {
    const struct pdnn_spread *job = work->job;
    int64_t block = job->shape.block;
    if (job->is_shared)
        return job->scratch + part * work->blocks * block + segment->unit % work->blocks * block;
    return job->scratch + (PARTS * part + !is_first) * block;
}

static void backward_part(void *state, int64_t index, int64_t parts) {
    const struct work *work = state;
    const struct pdnn_spread *job = work->job;
    struct pdnn_span rows = rows_of(work, index);
    int64_t begin = rows.begin, wait = pdnn_spread_scratch(&job->shape, job->is_shared, 1);
    struct room room;
    (void)parts;
    memset(job->scratch + index * wait, 0, (size_t)wait * sizeof *job->scratch);
    while (rows.begin < rows.end) {
        struct segment segment = segment_at(work, rows);
        double *sums = waiting(work, index, &segment, rows.begin == begin);
        for (int64_t column = 0; column < job->shape.block; column += COLUMNS) {
            struct piece piece = piece_of(work, &segment, column);
            backward_piece(work, &piece, &room);
            if (is_whole(work, &segment))
                store_values(work, &piece, room.total);
            for (int64_t i = 0; i < piece.width && !is_whole(work, &segment); i++)
                sums[column + i] += room.total[i];
        }
        rows.begin += segment.count;
    }
    if (job->bypass)
        pdnn_bypass_fence();
}

static void store_unit(const struct work *work, const struct segment *segment, const double *sums) {
    for (int64_t column = 0; column < work->job->shape.block; column += COLUMNS) {
        struct piece piece = piece_of(work, segment, column);
        store_values(work, &piece, sums + column);
    }
}

static void add_to(double *sums, const double *others, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        sums[i] += others[i];
}

static void merge_shared(const struct work *work) {
    double *sums = work->job->scratch;
    int64_t block = work->job->shape.block, padded = work->blocks * block;
    for (int64_t part = 1; part < work->parts; part++)
        add_to(sums, sums + part * padded, padded);
    for (int64_t unit = 0; unit < work->blocks; unit++)
        store_unit(work, &(struct segment){.unit = unit}, sums + unit * block);
}

/* Parts of one unit come one after another. */
static void merge_units(const struct work *work) {
    struct segment unit = {.unit = -1};
    double *sums = NULL;
    for (int64_t k = 0; k < PARTS * work->parts; k++) {
        struct pdnn_span rows = rows_of(work, k / PARTS);
        bool is_first = k % PARTS == 0;
        if (rows.begin == rows.end)
            continue;
        struct segment first = segment_at(work, rows), segment = first;
        if (!is_first)
            segment.unit = (rows.end - 1) / work->job->shape.pixels;
        if (!is_first && segment.unit == first.unit)
            continue;
        if (!is_first)
            segment.count = (rows.end - 1) % work->job->shape.pixels + 1;
        if (is_whole(work, &segment))
            continue;
        double *others = waiting(work, k / PARTS, &segment, is_first);
        if (segment.unit == unit.unit) {
            add_to(sums, others, work->job->shape.block);
            continue;
        }
        if (sums)
            store_unit(work, &unit, sums);
        unit = segment;
        sums = others;
    }
    if (sums)
        store_unit(work, &unit, sums);
}

PDNN_KERNEL(pdnn_spread_backward, (const struct pdnn_spread *job, int64_t threads), (job, threads)) {
    struct work work = work_of(job, threads);
    pdnn_team_run(threads, pdnn_channels_elements(&job->shape), backward_part, &work);
    if (job->is_shared)
        merge_shared(&work);
    else
        merge_units(&work);
}
