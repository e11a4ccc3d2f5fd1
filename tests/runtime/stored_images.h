/* Images of tests of kernels: plain arrays (N, C, pixels) in any layout. Include after cmocka_all.h. */
#ifndef TESTS_RUNTIME_STORED_IMAGES_H
#define TESTS_RUNTIME_STORED_IMAGES_H

#include "tests/near.h"
#include "tests/runtime/arrays.h"

#include "runtime/kernels/images/channels.h"
#include "runtime/kernels/simd/half.h"

#include <math.h>

enum { THREADS = 3, LAST = 0 /* instead of a block: channels last */ };

static const int64_t blocks[] = {1, 8, 16, LAST, 4};
enum { BLOCKS = sizeof blocks / sizeof *blocks };

static inline struct pdnn_channels shape_of(int64_t N, int64_t C, int64_t pixels, int64_t block) {
    return (struct pdnn_channels){N, C, pixels, block == LAST ? C : block, PDNN_STORED_F32};
}

/* The offset of the first pixel of a channel of (N, C); the others follow a block apart. */
static inline int64_t line(const struct pdnn_channels *s, int64_t i) {
    int64_t c = i % s->C, n = i / s->C;
    return (n * pdnn_channels_padded(s) + c / s->block * s->block) * s->pixels + c % s->block;
}

/* The offset of an element of (N, C, pixels). */
static inline int64_t place(const struct pdnn_channels *s, int64_t i) {
    return line(s, i / s->pixels) + i % s->pixels * s->block;
}

static inline int64_t plain_elements(const struct pdnn_channels *s) {
    return s->N * s->C * s->pixels;
}

/* The plain array in the shape's layout, with zeros as padding. */
static inline float *new_stored(const struct pdnn_channels *s, const float *plain) {
    float *values = new_zeros(pdnn_channels_elements(s), sizeof *values);
    for (int64_t i = 0; i < s->N * s->C; i++) {
        float *to = values + line(s, i);
        for (int64_t pixel = 0; pixel < s->pixels; pixel++)
            to[pixel * s->block] = *plain++;
    }
    return values;
}

/* Floats as 16-bit ones; `values` become what these are. */
static inline uint16_t *new_halves(float *values, int64_t n, enum pdnn_stored stored) {
    uint16_t *halves = new_array(n, sizeof *halves);
    pdnn_half_narrow(pdnn_half_of_stored(stored), values, halves, n);
    pdnn_half_widen(pdnn_half_of_stored(stored), halves, values, n);
    return halves;
}

/* All of an image's elements, with padding, as near to floats as rounding gets. */
static inline void check_halves(const struct pdnn_channels *s, const void *got, const float *expected) {
    const int64_t n = pdnn_channels_elements(s);
    float *wide = new_floats(n);
    pdnn_half_widen(pdnn_half_of_stored(s->stored), got, wide, n);
    for (int64_t i = 0; i < n; i++)
        assert_near((double)wide[i], (double)expected[i], (1 + fabs((double)expected[i])) / 256);
}

/* All values near the expected ones, all padding 0. */
static inline void check_stored(const struct pdnn_channels *s, const float *got, const double *expected,
                                double tolerance) {
    double sum = 0, all = 0;
    for (int64_t i = 0; i < s->N * s->C; i++) {
        const float *at = got + line(s, i);
        for (int64_t pixel = 0; pixel < s->pixels; pixel++, expected++) {
            assert_near((double)at[pixel * s->block], *expected, tolerance * (1 + fabs(*expected)));
            sum += fabs((double)at[pixel * s->block]);
        }
    }
    for (int64_t i = 0; i < pdnn_channels_elements(s); i++)
        all += fabs((double)got[i]);
    assert_near(all, sum, 1e-9 * sum);
}

static inline void check_channels(const float *got, const double *expected, int64_t C, double tolerance) {
    for (int64_t c = 0; c < C; c++)
        assert_near((double)got[c], expected[c], tolerance * (1 + fabs(expected[c])));
}

#endif
