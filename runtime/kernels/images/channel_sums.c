#include "runtime/kernels/images/channel_loops.h"

#include "runtime/kernels/simd/lanes.h"

#include <string.h>

/* A loop has three forms: `lanes` for rows of 8 or 16 channels, `single` for the plain layout,
 * where the pixels of one channel are contiguous, and `wide` for all other rows. All are inlined
 * with constant arguments. */

/* Independent accumulators per row, since an addition has a latency of 3 or 4 cycles. `vectors` is
 * at most CHAINS. */
enum { CHAINS = 4 };

PDNN_INLINE void load_centers(pdnn_floats *to, const float *from, int vectors) {
    for (int k = 0; k < vectors; k++)
        pdnn_load(&to[k], from + k * PDNN_LANES);
}

/* Combines the accumulators of the same channels. */
PDNN_INLINE void store_sums(pdnn_floats (*chain)[CHAINS], float *sums, int vectors) {
    for (int which = 0; which < 2; which++) {
        for (int k = vectors; k < CHAINS; k++)
            chain[which][k % vectors] += chain[which][k];
        for (int k = 0; k < vectors; k++)
            pdnn_store(sums + (which * vectors + k) * PDNN_LANES, &chain[which][k]);
    }
}

PDNN_INLINE void add_moments(const float *x, int64_t stride, const pdnn_floats *center,
                             pdnn_floats (*chain)[CHAINS], int chains, int vectors) {
#pragma GCC unroll 4
    for (int k = 0; k < chains; k++) {
        pdnn_floats v;
        pdnn_load(&v, x + k / vectors * stride + k % vectors * PDNN_LANES);
        v -= center[k % vectors];
        chain[0][k] += v;
        chain[1][k] += v * v;
    }
}

PDNN_INLINE void moments_lanes(const float *x, struct pdnn_rows rows, const float *center, float *sums,
                               int vectors) {
    pdnn_floats chain[2][CHAINS] = {{{0}}}, centers[CHAINS];
    int step = CHAINS / vectors;
    load_centers(centers, center, vectors);
    for (int64_t plane = 0; plane < rows.planes; plane++) {
        const float *from = x + plane * rows.plane_stride;
        int64_t row = 0;
        for (; row + step <= rows.count; row += step)
            add_moments(from + row * rows.stride, rows.stride, centers, chain, CHAINS, vectors);
        for (; row < rows.count; row++)
            add_moments(from + row * rows.stride, rows.stride, centers, chain, vectors, vectors);
    }
    store_sums(chain, sums, vectors);
}

PDNN_INLINE void moments_single(const float *x, struct pdnn_rows rows, const float *center, float *sums,
                                int unused) {
    float sum = 0, square = 0;
    (void)unused;
    for (int64_t plane = 0; plane < rows.planes; plane++) {
        const float *from = x + plane * rows.plane_stride;
#pragma omp simd reduction(+ : sum, square)
        for (int64_t i = 0; i < rows.count; i++) {
            float v = from[i] - *center;
            sum += v;
            square += v * v;
        }
    }
    sums[0] = sum;
    sums[1] = square;
}

PDNN_INLINE void moments_row(const float *x, const float *center, float *sums, int64_t width) {
#pragma omp simd
    for (int64_t i = 0; i < width; i++) {
        float v = x[i] - center[i];
        sums[i] += v;
        sums[width + i] += v * v;
    }
}

PDNN_INLINE void moments_wide(const float *x, struct pdnn_rows rows, const float *center, float *sums,
                              int unused) {
    (void)unused;
    memset(sums, 0, (size_t)rows.width * 2 * sizeof *sums);
    for (int64_t plane = 0; plane < rows.planes; plane++) {
        for (int64_t row = 0; row < rows.count; row++)
            moments_row(x + plane * rows.plane_stride + row * rows.stride, center, sums, rows.width);
    }
}

/* Inputs of products; an absent mask is a constant NULL. */
struct inputs {
    const float *dy, *mask, *x;
};

PDNN_INLINE void add_products(const struct inputs *in, int64_t at, int64_t stride, const pdnn_floats *center,
                              pdnn_floats (*chain)[CHAINS], int chains, int vectors) {
    const pdnn_floats zero = {0};
#pragma GCC unroll 4
    for (int k = 0; k < chains; k++) {
        int64_t from = at + k / vectors * stride + k % vectors * PDNN_LANES;
        pdnn_floats dy, x, mask;
        pdnn_load(&dy, in->dy + from);
        pdnn_load(&x, in->x + from);
        if (in->mask) {
            pdnn_load(&mask, in->mask + from);
            pdnn_select(&dy, pdnn_above(&mask, &zero), &zero);
        }
        chain[0][k] += dy;
        chain[1][k] += dy * (x - center[k % vectors]);
    }
}

PDNN_INLINE void products_lanes(const struct inputs *in, struct pdnn_rows rows, const float *center,
                                float *sums, int vectors) {
    pdnn_floats chain[2][CHAINS] = {{{0}}}, centers[CHAINS];
    int step = CHAINS / vectors;
    load_centers(centers, center, vectors);
    for (int64_t plane = 0; plane < rows.planes; plane++) {
        int64_t at = plane * rows.plane_stride, row = 0;
        for (; row + step <= rows.count; row += step)
            add_products(in, at + row * rows.stride, rows.stride, centers, chain, CHAINS, vectors);
        for (; row < rows.count; row++)
            add_products(in, at + row * rows.stride, rows.stride, centers, chain, vectors, vectors);
    }
    store_sums(chain, sums, vectors);
}

PDNN_INLINE void products_single(const struct inputs *in, struct pdnn_rows rows, const float *center,
                                 float *sums, int unused) {
    float sum = 0, product = 0;
    (void)unused;
    for (int64_t plane = 0; plane < rows.planes; plane++) {
        int64_t at = plane * rows.plane_stride;
#pragma omp simd reduction(+ : sum, product)
        for (int64_t i = at; i < at + rows.count; i++) {
            float dy = !in->mask || in->mask[i] > 0 ? in->dy[i] : 0;
            sum += dy;
            product += dy * (in->x[i] - *center);
        }
    }
    sums[0] = sum;
    sums[1] = product;
}

PDNN_INLINE void products_row(const struct inputs *in, int64_t at, const float *center, float *sums,
                              int64_t width) {
#pragma omp simd
    for (int64_t i = 0; i < width; i++) {
        float dy = !in->mask || in->mask[at + i] > 0 ? in->dy[at + i] : 0;
        sums[i] += dy;
        sums[width + i] += dy * (in->x[at + i] - center[i]);
    }
}

PDNN_INLINE void products_wide(const struct inputs *in, struct pdnn_rows rows, const float *center,
                               float *sums, int unused) {
    (void)unused;
    memset(sums, 0, (size_t)rows.width * 2 * sizeof *sums);
    for (int64_t plane = 0; plane < rows.planes; plane++) {
        for (int64_t row = 0; row < rows.count; row++)
            products_row(in, plane * rows.plane_stride + row * rows.stride, center, sums, rows.width);
    }
}

/* The functions of one variant. */
#define VARIANT(name, form, vectors)                                                                         \
    static void moments_##name(const float *x, const struct pdnn_rows *rows, const float *center,            \
                               float *sums) {                                                                \
        moments_##form(x, *rows, center, sums, vectors);                                                     \
    }                                                                                                        \
    static void products_##name(const float *dy, const float *mask, const float *x,                          \
                                const struct pdnn_rows *rows, const float *center, float *sums) {            \
        const struct inputs masked = {dy, mask, x}, whole = {dy, NULL, x};                                   \
        if (mask)                                                                                            \
            products_##form(&masked, *rows, center, sums, vectors);                                          \
        else                                                                                                 \
            products_##form(&whole, *rows, center, sums, vectors);                                           \
    }

VARIANT(1, single, 0)
#if PDNN_LANES <= 8
VARIANT(8, lanes, 8 / PDNN_LANES)
#endif
VARIANT(16, lanes, 16 / PDNN_LANES)
VARIANT(any, wide, 0)

static const struct pdnn_channel_sums variants[] = {
    {1, moments_1, products_1},
#if PDNN_LANES <= 8
    {8, moments_8, products_8},
#endif
    {16, moments_16, products_16},
    {0, moments_any, products_any},
};

const struct pdnn_channel_sums *PDNN_HERE(pdnn_channel_sums)(int64_t width) {
    const struct pdnn_channel_sums *variant = variants;
    if (PDNN_LANES == 16 && width > 1 && width % 16 != 0)
        return PDNN_EIGHTS(pdnn_channel_sums)(width);
    while (variant->width && variant->width != width)
        variant++;
    return variant;
}
