#include "runtime/kernels/images/channel_loops.h"

#include "runtime/kernels/simd/lanes.h"

#include <string.h>

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

/* What is summed: y and y * (x - center), where y is dy or, in moments, x - center. An absent gate is a
 * constant NULL. */
struct inputs {
    bool are_moments;
    const float *dy, *x;
    struct pdnn_gate gate;
};

PDNN_INLINE void add_vectors(const struct inputs *in, int64_t at, int64_t stride, const pdnn_floats *center,
                             pdnn_floats (*chain)[CHAINS], int chains, int vectors) {
    const pdnn_floats zero = {0}, low = zero + in->gate.bounds.low, high = zero + in->gate.bounds.high;
#pragma GCC unroll 4
    for (int k = 0; k < chains; k++) {
        int64_t from = at + k / vectors * stride + k % vectors * PDNN_LANES;
        pdnn_floats x, y, result;
        pdnn_load(&x, in->x + from);
        x -= center[k % vectors];
        y = x;
        if (!in->are_moments)
            pdnn_load(&y, in->dy + from);
        if (in->gate.y) {
            pdnn_load(&result, in->gate.y + from);
            pdnn_select(&y, (pdnn_mask_lanes)(pdnn_above(&result, &low) & pdnn_above(&high, &result)), &zero);
        }
        chain[0][k] += y;
        chain[1][k] += y * x;
    }
}

/* y, and *x = x - center. */
PDNN_INLINE float value(const struct inputs *in, int64_t at, float center, float *x) {
    *x = in->x[at] - center;
    if (in->are_moments)
        return *x;
    return pdnn_gate_opens(&in->gate, at) ? in->dy[at] : 0;
}

PDNN_INLINE void sum_lanes(const struct inputs *in, struct pdnn_rows rows, const float *center, float *sums,
                           int vectors) {
    pdnn_floats chain[2][CHAINS] = {{{0}}}, centers[CHAINS];
    int step = CHAINS / vectors;
    load_centers(centers, center, vectors);
    for (int64_t plane = 0; plane < rows.planes; plane++) {
        int64_t at = plane * rows.plane_stride, row = 0;
        for (; row + step <= rows.count; row += step)
            add_vectors(in, at + row * rows.stride, rows.stride, centers, chain, CHAINS, vectors);
        for (; row < rows.count; row++)
            add_vectors(in, at + row * rows.stride, rows.stride, centers, chain, vectors, vectors);
    }
    store_sums(chain, sums, vectors);
}

PDNN_INLINE void sum_single(const struct inputs *in, struct pdnn_rows rows, const float *center, float *sums,
                            int unused) {
    float sum = 0, product = 0;
    (void)unused;
    for (int64_t plane = 0; plane < rows.planes; plane++) {
        int64_t at = plane * rows.plane_stride;
#pragma omp simd reduction(+ : sum, product)
        for (int64_t i = at; i < at + rows.count; i++) {
            float x, y = value(in, i, *center, &x);
            sum += y;
            product += y * x;
        }
    }
    sums[0] = sum;
    sums[1] = product;
}

PDNN_INLINE void sum_row(const struct inputs *in, int64_t at, const float *center, float *sums,
                         int64_t width) {
#pragma omp simd
    for (int64_t i = 0; i < width; i++) {
        float x, y = value(in, at + i, center[i], &x);
        sums[i] += y;
        sums[width + i] += y * x;
    }
}

PDNN_INLINE void sum_wide(const struct inputs *in, struct pdnn_rows rows, const float *center, float *sums,
                          int unused) {
    (void)unused;
    memset(sums, 0, (size_t)rows.width * 2 * sizeof *sums);
    for (int64_t plane = 0; plane < rows.planes; plane++) {
        for (int64_t row = 0; row < rows.count; row++)
            sum_row(in, plane * rows.plane_stride + row * rows.stride, center, sums, rows.width);
    }
}

/* The functions of one variant. */
#define VARIANT(name, form, vectors)                                                                         \
    static void moments_##name(const float *x, const struct pdnn_rows *rows, const float *center,            \
                               float *sums) {                                                                \
        sum_##form(&(const struct inputs){.are_moments = true, .x = x}, *rows, center, sums, vectors);       \
    }                                                                                                        \
    static void products_##name(const float *dy, const struct pdnn_gate *gate, const float *x,               \
                                const struct pdnn_rows *rows, const float *center, float *sums) {            \
        if (gate->y)                                                                                         \
            sum_##form(&(const struct inputs){.dy = dy, .x = x, .gate = *gate}, *rows, center, sums,         \
                       vectors);                                                                             \
        else                                                                                                 \
            sum_##form(&(const struct inputs){.dy = dy, .x = x}, *rows, center, sums, vectors);              \
    }

PDNN_CHANNEL_VARIANTS(pdnn_channel_sums, moments, products)
