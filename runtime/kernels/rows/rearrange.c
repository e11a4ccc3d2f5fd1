#include "runtime/kernels/rows/rearrange.h"

#include "runtime/kernels/simd/bypass.h"
#include "runtime/kernels/simd/eights.h"
#include "runtime/kernels/simd/kernel.h"

#include <string.h>

enum { FROM = PDNN_REARRANGE_FROM, TO = PDNN_REARRANGE_TO, SIDES = PDNN_REARRANGE_SIDES };

/* Each side's blocks of channels may split one axis. */
enum { AXES = PDNN_REARRANGE_AXES + SIDES };

/* Bytes. A tile has ROW of a row of the result and SPAN of a row of x; where x has less in one piece, pieces
 * that are neighbours are read one after another, up to SPAN. What streaming stores write in parts of LINE is
 * slower than what they do not write. */
enum { ROW = 256, SPAN = 2048, RUN = 1 << 15, STORE = 16, LINE = 64, FAR = 4096 };

/* The axes of a tile: the innermost one of the result; the innermost one of x, unless it is the same; and the
 * one whose pieces of x are neighbours. */
enum tile_axis { T, F, S, TILE_AXES };

/* A loop over tiles, or over the indices of an axis that tiles do not have. */
struct loop {
    int64_t count, step[SIDES];
    int tile; /* enum tile_axis; TILE_AXES: none */
};

struct rearrange {
    const struct pdnn_rearrange_job *job;
    int64_t bytes; /* of an element */
    int n_loops;
    struct loop loops[AXES]; /* outermost first */
    struct pdnn_rearrange_axis tile[TILE_AXES];
    int64_t chunk[TILE_AXES]; /* of a tile that is not the last of its axis */
    bool bypass;
};

/* ---- axes ---- */

/* Gives the side's channels strides in elements; an axis may be split where a block ends. False if blocks end
 * within it otherwise. */
static bool place_channels(const struct pdnn_channels *image, int side, struct pdnn_rearrange_axis *axes,
                           int *count) {
    for (int i = 0; i < *count; i++) {
        struct pdnn_rearrange_axis *axis = &axes[i];
        const int64_t stride = axis->stride[side], block = image->block;
        if (!axis->is_channel[side] || axis->size == 1)
            continue;
        if (stride % block == 0) {
            axis->stride[side] = stride * image->pixels;
            continue;
        }
        const int64_t inner = block / stride;
        if (block % stride != 0 || (axis->size % inner != 0 && inner % axis->size != 0))
            return false;
        if (axis->size <= inner)
            continue;
        memmove(axis + 1, axis, (size_t)(*count - i) * sizeof *axis);
        ++*count;
        axis[0].size /= inner;
        axis[0].stride[side] = block * image->pixels;
        axis[0].stride[!side] *= inner;
        axis[1].size = inner;
        i++;
    }
    return true;
}

/* Drops axes of one, sorts by the result's order, and merges neighbours that are so in both arrays. */
static void simplify(struct pdnn_rearrange_axis *axes, int *count) {
    int kept = 0;
    for (int i = 0; i < *count; i++) {
        const struct pdnn_rearrange_axis axis = axes[i];
        int at = kept;
        if (axis.size == 1)
            continue;
        for (; at > 0 && axes[at - 1].stride[TO] < axis.stride[TO]; at--)
            axes[at] = axes[at - 1];
        axes[at] = axis;
        kept++;
    }
    *count = 0;
    for (int i = 0; i < kept; i++) {
        const struct pdnn_rearrange_axis axis = axes[i];
        struct pdnn_rearrange_axis *last = &axes[*count - 1];
        bool joins = *count > 0;
        for (int side = 0; side < SIDES && joins; side++)
            joins = last->stride[side] == axis.size * axis.stride[side];
        if (!joins) {
            axes[(*count)++] = axis;
            continue;
        }
        last->size *= axis.size;
        memcpy(last->stride, axis.stride, sizeof last->stride);
    }
}

/* ---- tiles ---- */

static int64_t most(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* The axis with the smallest stride in x among the first `count`, but for one of them. */
static int nearest(const struct pdnn_rearrange_axis *axes, int count, int but) {
    int best = -1;
    for (int i = 0; i < count; i++)
        if (i != but && (best < 0 || axes[i].stride[FROM] < axes[best].stride[FROM]))
            best = i;
    return best;
}

static void add_loop(struct rearrange *r, const struct pdnn_rearrange_axis *axis, int tile) {
    const int64_t chunk = tile == TILE_AXES ? 1 : r->chunk[tile];
    r->loops[r->n_loops++] = (struct loop){
        (axis->size + chunk - 1) / chunk, {axis->stride[FROM] * chunk, axis->stride[TO] * chunk}, tile};
}

/* Loops go in the result's order. False if no axis of either array is dense. */
static bool make_tiles(struct rearrange *r, const struct pdnn_rearrange_axis *axes, int count) {
    const int t = count - 1, first = nearest(axes, count, -1), f = first == t ? -1 : first;
    const bool is_run = f < 0;
    for (int k = 0; k < TILE_AXES; k++) {
        r->tile[k] = (struct pdnn_rearrange_axis){.size = 1};
        r->chunk[k] = 1;
    }
    if (!count)
        return true;
    if (axes[t].stride[TO] != 1 || axes[first].stride[FROM] != 1)
        return false;
    r->tile[T] = axes[t];
    r->chunk[T] = (is_run ? RUN : ROW) / r->bytes;
    if (!is_run) {
        r->tile[F] = axes[f];
        r->chunk[F] = SPAN / 2 / r->bytes;
    }
    const int64_t piece = pdnn_least(axes[first].size, r->chunk[is_run ? T : F]) * r->bytes;
    const int s = piece < SPAN ? nearest(axes, t, f) : -1;
    if (s >= 0) {
        r->tile[S] = axes[s];
        r->chunk[S] = most(1, SPAN / piece);
    }
    for (int i = 0; i < count; i++)
        add_loop(r, &axes[i], i == t ? T : i == f ? F : i == s ? S : TILE_AXES);
    return true;
}

PDNN_INLINE void copy_stores(char *to, const char *from, int64_t bytes) {
    typedef float four __attribute__((vector_size(STORE), aligned(1), may_alias));
    for (int64_t i = 0; i < bytes; i += STORE)
        *(four *)(void *)(to + i) = *(const four *)(const void *)(from + i);
}

static void copy_piece(char *to, const char *from, int64_t bytes, bool bypass) {
    if (bypass)
        pdnn_bypass_move((float *)(void *)to, (const float *)(const void *)from,
                         bytes / (int64_t)sizeof(float));
    else if (bytes % STORE == 0 && bytes <= SPAN)
        copy_stores(to, from, bytes);
    else
        memcpy(to, from, (size_t)bytes);
}

/* 8 x 8 halves: interleaves rows, then pairs, then fours. */
static void transpose8_halves(const uint16_t *x, int64_t stride, uint16_t *out, int64_t out_stride) {
    typedef uint16_t halves __attribute__((vector_size(16)));
    typedef uint16_t unaligned __attribute__((vector_size(16), aligned(2), may_alias));
    halves a[8], b[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        a[i] = *(const unaligned *)(const void *)(x + i * stride);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        b[2 * i] = __builtin_shufflevector(a[i], a[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
        b[2 * i + 1] = __builtin_shufflevector(a[i], a[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        a[2 * i] = __builtin_shufflevector(b[i], b[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
        a[2 * i + 1] = __builtin_shufflevector(b[i], b[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        b[2 * i] = __builtin_shufflevector(a[i], a[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
        b[2 * i + 1] = __builtin_shufflevector(a[i], a[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        *(unaligned *)(void *)(out + i * out_stride) = b[i];
}

/* to[f][t] = from[t][f], n of each; rows are from_row and to_row elements apart. Where rows of x
 * are FAR apart, what is read of a line is read together: rows that are a power of two apart displace each
 * other from the caches. */
#define TRANSPOSE(name, type, eight)                                                                         \
    static void name(const type *from, int64_t from_row, type *to, int64_t to_row, int64_t n_t,              \
                     int64_t n_f) {                                                                          \
        const int64_t whole_t = n_t / 8 * 8, whole_f = n_f / 8 * 8, size = (int64_t)sizeof(type);            \
        const int64_t line = from_row * size < FAR ? 8 : LINE / size;                                        \
        for (int64_t first = 0; first < whole_f; first += line)                                              \
            for (int64_t t = 0; t < whole_t; t += 8)                                                         \
                for (int64_t f = first; f < pdnn_least(first + line, whole_f); f += 8)                       \
                    eight(from + t * from_row + f, from_row, to + f * to_row + t, to_row);                   \
        for (int64_t f = 0; f < n_f; f++)                                                                    \
            for (int64_t t = f < whole_f ? whole_t : 0; t < n_t; t++)                                        \
                to[f * to_row + t] = from[t * from_row + f];                                                 \
    }
TRANSPOSE(transpose_words, float, pdnn_transpose8)
TRANSPOSE(transpose_halves, uint16_t, transpose8_halves)

static void transpose(const struct rearrange *r, const char *from, int64_t from_row, char *to, int64_t to_row,
                      const int64_t n[TILE_AXES]) {
    if (r->bytes == sizeof(float))
        transpose_words((const void *)from, from_row, (void *)to, to_row, n[T], n[F]);
    else
        transpose_halves((const void *)from, from_row, (void *)to, to_row, n[T], n[F]);
}

/* Transposes a tile of whole rows in the cache and writes it past that. */
static void transpose_past(const struct rearrange *r, const char *from, char *to,
                           const int64_t n[TILE_AXES]) {
    _Alignas(64) char tile[ROW * SPAN / 2 / sizeof(uint16_t)];
    transpose(r, from, r->tile[T].stride[FROM], tile, r->chunk[T], n);
    for (int64_t f = 0; f < n[F]; f++)
        copy_piece(to + f * r->tile[F].stride[TO] * r->bytes, tile + f * ROW, ROW, true);
}

static void move_tile(const struct rearrange *r, const char *from, char *to, const int64_t n[TILE_AXES]) {
    const int64_t from_step = r->tile[S].stride[FROM] * r->bytes, to_step = r->tile[S].stride[TO] * r->bytes;
    const bool is_run = r->tile[F].size == 1, fills = n[T] == r->chunk[T];
    for (int64_t s = 0; s < n[S]; s++, from += from_step, to += to_step) {
        if (is_run)
            copy_piece(to, from, n[T] * r->bytes, r->bypass);
        else if (r->bypass && fills)
            transpose_past(r, from, to, n);
        else
            transpose(r, from, r->tile[T].stride[FROM], to, r->tile[F].stride[TO], n);
    }
}

static int64_t count_tiles(const struct rearrange *r) {
    int64_t count = 1;
    for (int i = 0; i < r->n_loops; i++)
        count *= r->loops[i].count;
    return count;
}

static void move_tiles(void *work, int64_t index, int64_t parts) {
    const struct rearrange *r = work;
    const struct pdnn_span mine = pdnn_span_of(count_tiles(r), 1, index, parts);
    for (int64_t i = mine.begin; i < mine.end; i++) {
        int64_t at[SIDES] = {0, 0}, n[TILE_AXES] = {1, 1, 1}, left = i;
        for (int k = r->n_loops; k-- > 0;) {
            const struct loop *loop = &r->loops[k];
            const int64_t step = left % loop->count;
            left /= loop->count;
            for (int side = 0; side < SIDES; side++)
                at[side] += step * loop->step[side];
            if (loop->tile != TILE_AXES)
                n[loop->tile] =
                    pdnn_least(r->chunk[loop->tile], r->tile[loop->tile].size - step * r->chunk[loop->tile]);
        }
        move_tile(r, (const char *)r->job->from + at[FROM] * r->bytes, (char *)r->job->to + at[TO] * r->bytes,
                  n);
    }
    pdnn_bypass_fence();
}

/* Whether streaming stores write whole rows, or runs, in whole lines. */
static bool can_bypass(const struct rearrange *r) {
    const bool is_run = r->tile[F].size == 1;
    bool can = r->job->bypass && (uintptr_t)r->job->to % LINE == 0;
    for (int i = 0; i < r->n_loops && can; i++)
        can = r->loops[i].step[TO] * r->bytes % LINE == 0;
    for (int k = F; k < TILE_AXES && can; k++)
        can = r->tile[k].size == 1 || r->tile[k].stride[TO] * r->bytes % LINE == 0;
    return can && (!is_run || r->tile[T].size * r->bytes % LINE == 0);
}

/* ---- channels without strides ---- */

/* Offset of a channel. */
static int64_t place_of(const struct pdnn_channels *image, int64_t channel) {
    return channel / image->block * image->pixels * image->block + channel % image->block;
}

static void move_elements(const struct rearrange *r, const char *from, char *to, int64_t count,
                          const int64_t step[SIDES]) {
    if (r->bytes == sizeof(float))
        for (int64_t i = 0; i < count; i++)
            ((uint32_t *)(void *)to)[i * step[TO]] = ((const uint32_t *)(const void *)from)[i * step[FROM]];
    else
        for (int64_t i = 0; i < count; i++)
            ((uint16_t *)(void *)to)[i * step[TO]] = ((const uint16_t *)(const void *)from)[i * step[FROM]];
}

/* Copies n elements of each combination of channels; `from` and `to` are where channel 0 begins. */
static void move_channels(const struct rearrange *r, const int64_t at[SIDES], int64_t count,
                          const int64_t step[SIDES]) {
    const struct pdnn_rearrange_job *job = r->job;
    int64_t combinations = 1;
    for (int i = 0; i < job->n_axes; i++)
        if (job->axes[i].is_channel[FROM] || job->axes[i].is_channel[TO])
            combinations *= job->axes[i].size;
    for (int64_t c = 0; c < combinations; c++) {
        int64_t left = c, channel[SIDES] = {0, 0}, place[SIDES] = {at[FROM], at[TO]};
        for (int i = job->n_axes; i-- > 0;) {
            const struct pdnn_rearrange_axis *axis = &job->axes[i];
            if (!axis->is_channel[FROM] && !axis->is_channel[TO])
                continue;
            for (int side = 0; side < SIDES; side++)
                *(axis->is_channel[side] ? &channel[side] : &place[side]) +=
                    left % axis->size * axis->stride[side];
            left /= axis->size;
        }
        for (int side = 0; side < SIDES; side++)
            place[side] += channel[side] ? place_of(&job->image[side], channel[side]) : 0;
        move_elements(r, (const char *)job->from + place[FROM] * r->bytes,
                      (char *)job->to + place[TO] * r->bytes, count, step);
    }
}

/* Loops are over the other axes, in pieces of the innermost one. */
static void move_pieces(void *work, int64_t index, int64_t parts) {
    const struct rearrange *r = work;
    const struct pdnn_span mine = pdnn_span_of(count_tiles(r), 1, index, parts);
    const struct pdnn_rearrange_axis *inner = &r->tile[T];
    for (int64_t i = mine.begin; i < mine.end; i++) {
        int64_t at[SIDES] = {0, 0}, count = 1, left = i;
        for (int k = r->n_loops; k-- > 0;) {
            const struct loop *loop = &r->loops[k];
            for (int side = 0; side < SIDES; side++)
                at[side] += left % loop->count * loop->step[side];
            if (loop->tile == T)
                count = pdnn_least(r->chunk[T], inner->size - left % loop->count * r->chunk[T]);
            left /= loop->count;
        }
        move_channels(r, at, count, inner->stride);
    }
}

static void make_pieces(struct rearrange *r) {
    struct pdnn_rearrange_axis axes[PDNN_REARRANGE_AXES];
    int count = 0;
    for (int i = 0; i < r->job->n_axes; i++)
        if (!r->job->axes[i].is_channel[FROM] && !r->job->axes[i].is_channel[TO])
            axes[count++] = r->job->axes[i];
    simplify(axes, &count);
    r->n_loops = 0;
    r->tile[T] = count ? axes[count - 1] : (struct pdnn_rearrange_axis){.size = 1};
    r->chunk[T] = ROW / r->bytes;
    for (int i = 0; i < count; i++)
        add_loop(r, &axes[i], i == count - 1 ? T : TILE_AXES);
}

/* ---- padding ---- */

static void clear_images(void *work, int64_t index, int64_t parts) {
    const struct rearrange *r = work;
    const struct pdnn_channels *image = &r->job->image[TO];
    const int64_t padded = pdnn_channels_padded(image), unused = padded - image->C;
    const struct pdnn_span mine = pdnn_span_of(image->N * image->pixels, 1, index, parts);
    for (int64_t i = mine.begin; i < mine.end; i++) {
        const int64_t n = i / image->pixels, pixel = i % image->pixels;
        const int64_t last = ((n + 1) * padded - image->block) * image->pixels + (pixel + 1) * image->block;
        memset((char *)r->job->to + (last - unused) * r->bytes, 0, (size_t)(unused * r->bytes));
    }
}

PDNN_KERNEL(pdnn_rearrange_run, (const struct pdnn_rearrange_job *job, int64_t threads), (job, threads)) {
    struct rearrange r = {.job = job, .bytes = job->element_bytes};
    struct pdnn_rearrange_axis axes[AXES];
    int count = job->n_axes;
    int64_t elements = 1;
    bool is_regular = true;
    memcpy(axes, job->axes, sizeof job->axes);
    for (int side = 0; side < SIDES; side++)
        is_regular = is_regular && place_channels(&job->image[side], side, axes, &count);
    simplify(axes, &count);
    for (int i = 0; i < job->n_axes; i++)
        elements *= job->axes[i].size;
    if (is_regular && make_tiles(&r, axes, count)) {
        r.bypass = can_bypass(&r);
        pdnn_team_run(threads, elements, move_tiles, &r);
    } else {
        make_pieces(&r);
        pdnn_team_run(threads, elements, move_pieces, &r);
    }
    const struct pdnn_channels *image = &job->image[TO];
    if (image->C && pdnn_channels_padded(image) != image->C)
        pdnn_team_run(threads, image->N * image->pixels * image->block, clear_images, &r);
}
