/* Inner loops over rows of channels (channels.h), in variants for different row widths. In arrays of
 * coefficients and sums, [i] belongs to channel i of the row. */
#ifndef RUNTIME_KERNELS_IMAGES_CHANNEL_LOOPS_H
#define RUNTIME_KERNELS_IMAGES_CHANNEL_LOOPS_H

#include "runtime/kernels/images/channels.h"
#include "runtime/kernels/simd/half.h"
#include "runtime/kernels/simd/kernel.h"

#include <math.h>

static const struct pdnn_bounds pdnn_unbounded = {-INFINITY, INFINITY};

/* The gradient of an activation that clips: dy counts as 0 where its result is not between the bounds. */
struct pdnn_gate {
    const float *y; /* NULL: no activation */
    struct pdnn_bounds bounds;
};

PDNN_INLINE bool pdnn_gate_opens(const struct pdnn_gate *gate, int64_t at) {
    return !gate->y || (gate->y[at] > gate->bounds.low) & (gate->y[at] < gate->bounds.high);
}

/* Loops run on floats: a tile of a 16-bit image is widened into room for pdnn_chunk_tile_elements, its planes
 * one behind another, and narrowed from there. One in f32 stays where it is. */

/* How the tile's floats lie. */
PDNN_INLINE struct pdnn_rows pdnn_tile_rows(const struct pdnn_chunk_tile *tile, enum pdnn_stored stored) {
    struct pdnn_rows rows = tile->rows;
    if (stored != PDNN_STORED_F32)
        rows.plane_stride = rows.count * rows.width;
    return rows;
}

/* Where the tile's floats are; of an image that is NULL, nowhere. */
PDNN_INLINE float *pdnn_tile_floats(const void *image, const struct pdnn_chunk_tile *tile,
                                    enum pdnn_stored stored, float *room) {
    union {
        const void *image;
        float *floats;
    } at = {image};
    return !image ? NULL : stored == PDNN_STORED_F32 ? at.floats + tile->offset : room;
}

/* The same, and reads them. */
PDNN_INLINE const float *pdnn_tile_read(const void *image, const struct pdnn_chunk_tile *tile,
                                        enum pdnn_stored stored, float *room) {
    const int64_t plane = tile->rows.count * tile->rows.width;
    for (int64_t i = 0; image && stored != PDNN_STORED_F32 && i < tile->rows.planes; i++)
        pdnn_half_widen(pdnn_half_of_stored(stored),
                        (const uint16_t *)image + tile->offset + i * tile->rows.plane_stride,
                        room + i * plane, plane);
    return pdnn_tile_floats(image, tile, stored, room);
}

/* Writes what the loops left in the room. */
PDNN_INLINE void pdnn_tile_write(void *image, const struct pdnn_chunk_tile *tile, enum pdnn_stored stored,
                                 const float *room, bool bypass) {
    enum { STORE_BYTES = 16, STORE_HALVES = 8 };
    const int64_t plane = tile->rows.count * tile->rows.width;
    for (int64_t i = 0; stored != PDNN_STORED_F32 && i < tile->rows.planes; i++) {
        uint16_t *to = (uint16_t *)image + tile->offset + i * tile->rows.plane_stride;
        if (bypass && (uintptr_t)to % STORE_BYTES == 0 && plane % STORE_HALVES == 0)
            pdnn_half_narrow_bypass(pdnn_half_of_stored(stored), room + i * plane, to, plane);
        else
            pdnn_half_narrow(pdnn_half_of_stored(stored), room + i * plane, to, plane);
    }
}

struct pdnn_channel_sums {
    int64_t width; /* 0: any */
    /* sums[0 .. width) = sum of x - center; sums[width .. 2 width) = sum of its squares. */
    void (*moments)(const float *x, const struct pdnn_rows *rows, const float *center, float *sums);
    /* sums[0 .. width) = sum of dy; sums[width .. 2 width) = sum of dy * (x - center). */
    void (*products)(const float *dy, const struct pdnn_gate *gate, const float *x,
                     const struct pdnn_rows *rows, const float *center, float *sums);
};

/* y = scale * (x - center) + shift within bounds, + other within last_bounds. Infinite bounds do nothing. NaN
 * propagates. */
struct pdnn_affine {
    const float *center, *scale, *shift;
    struct pdnn_bounds bounds, last_bounds;
    bool bypass; /* streaming stores if the loop has them; rows must then be 16-byte aligned */
};

/* dx = scale * (dy - mean_dy + of_x * (x - center)): exactly 0 where dy is its own mean. With gamma, which
 * goes with no gate, dy counts gamma times. */
struct pdnn_gradient {
    const float *center, *scale, *of_x, *mean_dy;
    bool bypass;
    const float *gamma; /* or NULL */
};

struct pdnn_channel_maps {
    int64_t width; /* 0: any */
    /* other may be NULL; y may be x or other. */
    void (*affine)(const float *x, const float *other, float *y, const struct pdnn_rows *rows,
                   const struct pdnn_affine *affine);
    /* dx may be dy. */
    void (*gradient)(const float *dy, const struct pdnn_gate *gate, const float *x, float *dx,
                     const struct pdnn_rows *rows, const struct pdnn_gradient *gradient);
};

/* Defines the function, which gives the variant for a row width, and all variants with the functions that the
 * file's VARIANT(name, form, vectors) defines: first_name and second_name. A loop has three forms: `lanes`
 * for rows of 8 or 16 channels, `single` for the plain layout, where the pixels of one channel are
 * contiguous, and `wide` for all other rows. All are inlined with constant arguments. */
#define PDNN_CHANNEL_VARIANTS(function, first, second)                                                       \
    VARIANT(1, single, 0)                                                                                    \
    PDNN_UP_TO_EIGHTS(VARIANT(8, lanes, 8 / PDNN_LANES))                                                     \
    VARIANT(16, lanes, 16 / PDNN_LANES)                                                                      \
    VARIANT(any, wide, 0)                                                                                    \
    const struct function *PDNN_HERE(function)(int64_t width) {                                              \
        static const struct function variants[] = {                                                          \
            {1, first##_1, second##_1},                                                                      \
            PDNN_UP_TO_EIGHTS({8, first##_8, second##_8}, ){16, first##_16, second##_16},                    \
            {0, first##_any, second##_any}};                                                                 \
        const struct function *variant = variants;                                                           \
        if (PDNN_LANES == 16 && width > 1 && width % 16 != 0)                                                \
            return PDNN_EIGHTS(function)(width);                                                             \
        while (variant->width && variant->width != width)                                                    \
            variant++;                                                                                       \
        return variant;                                                                                      \
    }
#if PDNN_LANES <= 8
#define PDNN_UP_TO_EIGHTS(...) __VA_ARGS__
#else
#define PDNN_UP_TO_EIGHTS(...)
#endif

/* The variant for this row width. Rows that are not whole vectors of 16 get the one for vectors of 8. */
const struct pdnn_channel_sums *PDNN_HERE(pdnn_channel_sums)(int64_t width);
const struct pdnn_channel_maps *PDNN_HERE(pdnn_channel_maps)(int64_t width);
const struct pdnn_channel_sums *PDNN_EIGHTS(pdnn_channel_sums)(int64_t width);
const struct pdnn_channel_maps *PDNN_EIGHTS(pdnn_channel_maps)(int64_t width);

#endif
