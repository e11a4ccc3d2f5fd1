#include "runtime/kernels/images/channel_loops.h"

#include "runtime/kernels/simd/bypass.h"
#include "runtime/kernels/simd/lanes.h"

/* An absent optional array is a constant NULL; rows of 8 or 16 channels keep coefficients in registers. */
enum { VECTORS_MAX = PDNN_LANES < 16 ? 16 / PDNN_LANES : 1 };

PDNN_INLINE void store(float *to, const pdnn_floats *v, bool bypass) {
    if (bypass)
        pdnn_bypass_vector(to, (const float *)v);
    else
        pdnn_store(to, v);
}

/* Arrays and coefficients of one of the two maps; absent ones are constant NULLs. */
struct map {
    const float *x;
    const struct pdnn_affine *affine; /* or the gradient */
    const float *other;
    const struct pdnn_gradient *gradient;
    const float *dy;
    struct pdnn_gate gate;
    bool weighs; /* the gradient has gamma */
    float *to;
    bool bypass;
};

/* Coefficients for one vector of channels. */
struct vectors {
    pdnn_floats center, scale, shift, last_low, last_high; /* affine */
    pdnn_floats of_x, mean_dy, gamma;                      /* gradient */
    pdnn_floats low, high;                                 /* both */
};

PDNN_INLINE void load(struct vectors *to, const struct map *map, int64_t channel) {
    const pdnn_floats zero = {0};
    if (map->affine) {
        pdnn_load(&to->center, map->affine->center + channel);
        pdnn_load(&to->scale, map->affine->scale + channel);
        pdnn_load(&to->shift, map->affine->shift + channel);
        to->low = zero + map->affine->bounds.low;
        to->high = zero + map->affine->bounds.high;
        to->last_low = zero + map->affine->last_bounds.low;
        to->last_high = zero + map->affine->last_bounds.high;
    } else {
        pdnn_load(&to->center, map->gradient->center + channel);
        pdnn_load(&to->scale, map->gradient->scale + channel);
        pdnn_load(&to->of_x, map->gradient->of_x + channel);
        pdnn_load(&to->mean_dy, map->gradient->mean_dy + channel);
        if (map->weighs)
            pdnn_load(&to->gamma, map->gradient->gamma + channel);
        to->low = zero + map->gate.bounds.low;
        to->high = zero + map->gate.bounds.high;
    }
}

/* With v second, NaN propagates. */
PDNN_INLINE void clip_vector(pdnn_floats *v, pdnn_floats low, pdnn_floats high) {
    pdnn_most(&low, v);
    pdnn_lowest(&high, &low);
    *v = high;
}

PDNN_INLINE float clip_value(float v, struct pdnn_bounds to) {
    float raised = v < to.low ? to.low : v;
    return raised > to.high ? to.high : raised;
}

PDNN_INLINE void affine_vector(const struct map *map, int64_t at, const struct vectors *by) {
    pdnn_floats v, other;
    pdnn_load(&v, map->x + at);
    v = (v - by->center) * by->scale + by->shift;
    clip_vector(&v, by->low, by->high);
    if (map->other) {
        pdnn_load(&other, map->other + at);
        v += other;
        clip_vector(&v, by->last_low, by->last_high);
    }
    store(map->to + at, &v, map->bypass);
}

PDNN_INLINE float affine_value(const struct map *map, int64_t at, int64_t channel) {
    const struct pdnn_affine *by = map->affine;
    float v = (map->x[at] - by->center[channel]) * by->scale[channel] + by->shift[channel];
    v = clip_value(v, by->bounds);
    return map->other ? clip_value(v + map->other[at], by->last_bounds) : v;
}

PDNN_INLINE void gradient_vector(const struct map *map, int64_t at, const struct vectors *by) {
    const pdnn_floats zero = {0};
    pdnn_floats dy, y, x;
    pdnn_load(&dy, map->dy + at);
    pdnn_load(&x, map->x + at);
    if (map->gate.y) {
        pdnn_load(&y, map->gate.y + at);
        pdnn_select(&dy, (pdnn_mask_lanes)(pdnn_above(&y, &by->low) & pdnn_above(&by->high, &y)), &zero);
    }
    if (map->weighs)
        dy *= by->gamma;
    dy = by->scale * (dy - by->mean_dy + by->of_x * (x - by->center));
    store(map->to + at, &dy, map->bypass);
}

PDNN_INLINE float gradient_value(const struct map *map, int64_t at, int64_t channel) {
    const struct pdnn_gradient *by = map->gradient;
    float dy = pdnn_gate_opens(&map->gate, at) ? map->dy[at] : 0;
    dy = map->weighs ? dy * by->gamma[channel] : dy;
    float from_x = by->of_x[channel] * (map->x[at] - by->center[channel]);
    return by->scale[channel] * (dy - by->mean_dy[channel] + from_x);
}

PDNN_INLINE void map_vector(const struct map *map, int64_t at, const struct vectors *by) {
    if (map->affine)
        affine_vector(map, at, by);
    else
        gradient_vector(map, at, by);
}

PDNN_INLINE void map_value(const struct map *map, int64_t at, int64_t channel) {
    map->to[at] = map->affine ? affine_value(map, at, channel) : gradient_value(map, at, channel);
}

PDNN_INLINE void map_lanes(const struct map *map, struct pdnn_rows rows, int vectors) {
    struct vectors by[VECTORS_MAX];
    for (int k = 0; k < vectors; k++)
        load(&by[k], map, k * PDNN_LANES);
    for (int64_t plane = 0; plane < rows.planes; plane++) {
        int64_t at = plane * rows.plane_stride;
        for (int64_t row = 0; row < rows.count; row++, at += rows.stride) {
            for (int k = 0; k < vectors; k++)
                map_vector(map, at + k * PDNN_LANES, &by[k]);
        }
    }
}

PDNN_INLINE void map_single(const struct map *map, struct pdnn_rows rows, int unused) {
    (void)unused;
    for (int64_t plane = 0; plane < rows.planes; plane++) {
        int64_t at = plane * rows.plane_stride;
#pragma omp simd
        for (int64_t i = at; i < at + rows.count; i++)
            map_value(map, i, 0);
    }
}

PDNN_INLINE void map_row(const struct map *map, int64_t at, int64_t width) {
    int64_t i = 0;
    for (; i + PDNN_LANES <= width; i += PDNN_LANES) {
        struct vectors by;
        load(&by, map, i);
        map_vector(map, at + i, &by);
    }
    for (; i < width; i++)
        map_value(map, at + i, i);
}

PDNN_INLINE void map_wide(const struct map *map, struct pdnn_rows rows, int unused) {
    (void)unused;
    for (int64_t plane = 0; plane < rows.planes; plane++) {
        for (int64_t row = 0; row < rows.count; row++)
            map_row(map, plane * rows.plane_stride + row * rows.stride, rows.width);
    }
}

/* The functions of one variant. */
#define MAP(form, vectors, ...) map_##form(&(const struct map){.x = x, __VA_ARGS__}, *rows, vectors)
#define VARIANT(name, form, vectors)                                                                         \
    static void affine_##name(const float *x, const float *other, float *y, const struct pdnn_rows *rows,    \
                              const struct pdnn_affine *affine) {                                            \
        if (other && affine->bypass)                                                                         \
            MAP(form, vectors, .affine = affine, .other = other, .to = y, .bypass = true);                   \
        else if (other)                                                                                      \
            MAP(form, vectors, .affine = affine, .other = other, .to = y);                                   \
        else if (affine->bypass)                                                                             \
            MAP(form, vectors, .affine = affine, .to = y, .bypass = true);                                   \
        else                                                                                                 \
            MAP(form, vectors, .affine = affine, .to = y);                                                   \
    }                                                                                                        \
    static void gradient_##name(const float *dy, const struct pdnn_gate *gate, const float *x, float *dx,    \
                                const struct pdnn_rows *rows, const struct pdnn_gradient *gradient) {        \
        if (gradient->gamma && gradient->bypass)                                                             \
            MAP(form, vectors, .gradient = gradient, .dy = dy, .weighs = true, .to = dx, .bypass = true);    \
        else if (gradient->gamma)                                                                            \
            MAP(form, vectors, .gradient = gradient, .dy = dy, .weighs = true, .to = dx);                    \
        else if (gate->y && gradient->bypass)                                                                \
            MAP(form, vectors, .gradient = gradient, .dy = dy, .gate = *gate, .to = dx, .bypass = true);     \
        else if (gate->y)                                                                                    \
            MAP(form, vectors, .gradient = gradient, .dy = dy, .gate = *gate, .to = dx);                     \
        else if (gradient->bypass)                                                                           \
            MAP(form, vectors, .gradient = gradient, .dy = dy, .to = dx, .bypass = true);                    \
        else                                                                                                 \
            MAP(form, vectors, .gradient = gradient, .dy = dy, .to = dx);                                    \
    }

PDNN_CHANNEL_VARIANTS(pdnn_channel_maps, affine, gradient)
