#include "runtime/kernels/images/channel_loops.h"

#include "runtime/kernels/simd/bypass.h"
#include "runtime/kernels/simd/lanes.h"

#include <stddef.h>

/* A loop has three forms: `lanes` for rows of 8 or 16 channels, with coefficients in registers; `single` for
 * the plain layout, where the pixels of one channel are contiguous; `wide` for all other rows. All are
 * inlined with constant arguments; an absent optional array is a constant NULL. */
enum { VECTORS_MAX = PDNN_LANES < 16 ? 16 / PDNN_LANES : 1 };

PDNN_INLINE void store(float *to, const pdnn_floats *v, bool bypass) {
    if (bypass)
        pdnn_bypass_copy(to, (const float *)v, PDNN_LANES);
    else
        pdnn_store(to, v);
}

struct affine_in {
    const float *x, *other;
    const struct pdnn_affine *by;
    bool bypass;
};

/* Coefficients for one vector of channels. */
struct affine_vector {
    pdnn_floats center, scale, shift, floor, last_floor;
};

PDNN_INLINE void load_affine(struct affine_vector *to, const struct pdnn_affine *from, int64_t channel) {
    const pdnn_floats zero = {0};
    pdnn_load(&to->center, from->center + channel);
    pdnn_load(&to->scale, from->scale + channel);
    pdnn_load(&to->shift, from->shift + channel);
    to->floor = zero + from->floor;
    to->last_floor = zero + from->last_floor;
}

PDNN_INLINE void affine_store(const struct affine_in *in, float *y, int64_t at,
                              const struct affine_vector *by) {
    pdnn_floats v, other, floor = by->floor, last_floor = by->last_floor;
    pdnn_load(&v, in->x + at);
    v = (v - by->center) * by->scale + by->shift;
    pdnn_most(&floor, &v); /* propagates NaN */
    v = floor;
    if (in->other) {
        pdnn_load(&other, in->other + at);
        v += other;
        pdnn_most(&last_floor, &v);
        v = last_floor;
    }
    store(y + at, &v, in->bypass);
}

PDNN_INLINE float affine_value(const struct affine_in *in, int64_t at, int64_t channel) {
    const struct pdnn_affine *by = in->by;
    float v = (in->x[at] - by->center[channel]) * by->scale[channel] + by->shift[channel];
    v = v < by->floor ? by->floor : v;
    if (!in->other)
        return v;
    v += in->other[at];
    return v < by->last_floor ? by->last_floor : v;
}

PDNN_INLINE void affine_lanes(const struct affine_in *in, float *y, struct pdnn_rows rows, int vectors) {
    struct affine_vector by[VECTORS_MAX];
    for (int k = 0; k < vectors; k++)
        load_affine(&by[k], in->by, k * PDNN_LANES);
    for (int64_t plane = 0; plane < rows.planes; plane++) {
        int64_t at = plane * rows.plane_stride;
        for (int64_t row = 0; row < rows.count; row++, at += rows.stride) {
            for (int k = 0; k < vectors; k++)
                affine_store(in, y, at + k * PDNN_LANES, &by[k]);
        }
    }
}

PDNN_INLINE void affine_single(const struct affine_in *in, float *y, struct pdnn_rows rows, int unused) {
    (void)unused;
    for (int64_t plane = 0; plane < rows.planes; plane++) {
        int64_t at = plane * rows.plane_stride;
#pragma omp simd
        for (int64_t i = at; i < at + rows.count; i++)
            y[i] = affine_value(in, i, 0);
    }
}

PDNN_INLINE void affine_row(const struct affine_in *in, float *y, int64_t at, int64_t width) {
    int64_t i = 0;
    for (; i + PDNN_LANES <= width; i += PDNN_LANES) {
        struct affine_vector by;
        load_affine(&by, in->by, i);
        affine_store(in, y, at + i, &by);
    }
    for (; i < width; i++)
        y[at + i] = affine_value(in, at + i, i);
}

PDNN_INLINE void affine_wide(const struct affine_in *in, float *y, struct pdnn_rows rows, int unused) {
    (void)unused;
    for (int64_t plane = 0; plane < rows.planes; plane++) {
        for (int64_t row = 0; row < rows.count; row++)
            affine_row(in, y, plane * rows.plane_stride + row * rows.stride, rows.width);
    }
}

struct gradient_in {
    const float *dy, *mask, *x;
    const struct pdnn_gradient *by;
    bool bypass;
};

struct gradient_vector {
    pdnn_floats center, scale, of_x, mean_dy;
};

PDNN_INLINE void load_gradient(struct gradient_vector *to, const struct pdnn_gradient *from,
                               int64_t channel) {
    pdnn_load(&to->center, from->center + channel);
    pdnn_load(&to->scale, from->scale + channel);
    pdnn_load(&to->of_x, from->of_x + channel);
    pdnn_load(&to->mean_dy, from->mean_dy + channel);
}

PDNN_INLINE void gradient_store(const struct gradient_in *in, float *dx, int64_t at,
                                const struct gradient_vector *by) {
    const pdnn_floats zero = {0};
    pdnn_floats dy, mask, x;
    pdnn_load(&dy, in->dy + at);
    pdnn_load(&x, in->x + at);
    if (in->mask) {
        pdnn_load(&mask, in->mask + at);
        pdnn_select(&dy, pdnn_above(&mask, &zero), &zero);
    }
    dy = by->scale * (dy - by->mean_dy + by->of_x * (x - by->center));
    store(dx + at, &dy, in->bypass);
}

PDNN_INLINE float gradient_value(const struct gradient_in *in, int64_t at, int64_t channel) {
    float dy = !in->mask || in->mask[at] > 0 ? in->dy[at] : 0;
    float from_x = in->by->of_x[channel] * (in->x[at] - in->by->center[channel]);
    return in->by->scale[channel] * (dy - in->by->mean_dy[channel] + from_x);
}

PDNN_INLINE void gradient_lanes(const struct gradient_in *in, float *dx, struct pdnn_rows rows, int vectors) {
    struct gradient_vector by[VECTORS_MAX];
    for (int k = 0; k < vectors; k++)
        load_gradient(&by[k], in->by, k * PDNN_LANES);
    for (int64_t plane = 0; plane < rows.planes; plane++) {
        int64_t at = plane * rows.plane_stride;
        for (int64_t row = 0; row < rows.count; row++, at += rows.stride) {
            for (int k = 0; k < vectors; k++)
                gradient_store(in, dx, at + k * PDNN_LANES, &by[k]);
        }
    }
}

PDNN_INLINE void gradient_single(const struct gradient_in *in, float *dx, struct pdnn_rows rows, int unused) {
    (void)unused;
    for (int64_t plane = 0; plane < rows.planes; plane++) {
        int64_t at = plane * rows.plane_stride;
#pragma omp simd
        for (int64_t i = at; i < at + rows.count; i++)
            dx[i] = gradient_value(in, i, 0);
    }
}

PDNN_INLINE void gradient_row(const struct gradient_in *in, float *dx, int64_t at, int64_t width) {
    int64_t i = 0;
    for (; i + PDNN_LANES <= width; i += PDNN_LANES) {
        struct gradient_vector by;
        load_gradient(&by, in->by, i);
        gradient_store(in, dx, at + i, &by);
    }
    for (; i < width; i++)
        dx[at + i] = gradient_value(in, at + i, i);
}

PDNN_INLINE void gradient_wide(const struct gradient_in *in, float *dx, struct pdnn_rows rows, int unused) {
    (void)unused;
    for (int64_t plane = 0; plane < rows.planes; plane++) {
        for (int64_t row = 0; row < rows.count; row++)
            gradient_row(in, dx, plane * rows.plane_stride + row * rows.stride, rows.width);
    }
}

/* The functions of one variant. */
#define VARIANT(name, form, vectors)                                                                         \
    static void affine_##name(const float *x, const float *other, float *y, const struct pdnn_rows *rows,    \
                              const struct pdnn_affine *affine) {                                            \
        if (other && affine->bypass)                                                                         \
            affine_##form(&(const struct affine_in){x, other, affine, true}, y, *rows, vectors);             \
        else if (other)                                                                                      \
            affine_##form(&(const struct affine_in){x, other, affine, false}, y, *rows, vectors);            \
        else if (affine->bypass)                                                                             \
            affine_##form(&(const struct affine_in){x, NULL, affine, true}, y, *rows, vectors);              \
        else                                                                                                 \
            affine_##form(&(const struct affine_in){x, NULL, affine, false}, y, *rows, vectors);             \
    }                                                                                                        \
    static void gradient_##name(const float *dy, const float *mask, const float *x, float *dx,               \
                                const struct pdnn_rows *rows, const struct pdnn_gradient *gradient) {        \
        if (mask && gradient->bypass)                                                                        \
            gradient_##form(&(const struct gradient_in){dy, mask, x, gradient, true}, dx, *rows, vectors);   \
        else if (mask)                                                                                       \
            gradient_##form(&(const struct gradient_in){dy, mask, x, gradient, false}, dx, *rows, vectors);  \
        else if (gradient->bypass)                                                                           \
            gradient_##form(&(const struct gradient_in){dy, NULL, x, gradient, true}, dx, *rows, vectors);   \
        else                                                                                                 \
            gradient_##form(&(const struct gradient_in){dy, NULL, x, gradient, false}, dx, *rows, vectors);  \
    }

VARIANT(1, single, 0)
#if PDNN_LANES <= 8
VARIANT(8, lanes, 8 / PDNN_LANES)
#endif
VARIANT(16, lanes, 16 / PDNN_LANES)
VARIANT(any, wide, 0)

static const struct pdnn_channel_maps variants[] = {
    {1, affine_1, gradient_1},
#if PDNN_LANES <= 8
    {8, affine_8, gradient_8},
#endif
    {16, affine_16, gradient_16},
    {0, affine_any, gradient_any},
};

const struct pdnn_channel_maps *PDNN_HERE(pdnn_channel_maps)(int64_t width) {
    const struct pdnn_channel_maps *variant = variants;
    if (PDNN_LANES == 16 && width > 1 && width % 16 != 0)
        return PDNN_EIGHTS(pdnn_channel_maps)(width);
    while (variant->width && variant->width != width)
        variant++;
    return variant;
}
