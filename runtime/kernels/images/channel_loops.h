/* Inner loops over rows of channels (channels.h), in variants for different row widths. In arrays of
 * coefficients and sums, [i] belongs to channel i of the row. */
#ifndef RUNTIME_KERNELS_IMAGES_CHANNEL_LOOPS_H
#define RUNTIME_KERNELS_IMAGES_CHANNEL_LOOPS_H

#include "runtime/kernels/images/channels.h"
#include "runtime/kernels/simd/kernel.h"

struct pdnn_channel_sums {
    int64_t width; /* 0: any */
    /* sums[0 .. width) = sum of x - center; sums[width .. 2 width) = sum of its squares. */
    void (*moments)(const float *x, const struct pdnn_rows *rows, const float *center, float *sums);
    /* sums[0 .. width) = sum of dy; sums[width .. 2 width) = sum of dy * (x - center). dy counts as 0 where
     * mask <= 0; mask may be NULL. */
    void (*products)(const float *dy, const float *mask, const float *x, const struct pdnn_rows *rows,
                     const float *center, float *sums);
};

/* y = max(max(scale * (x - center) + shift, floor) + other, last_floor). A floor of -infinity does
 * nothing. NaN propagates. */
struct pdnn_affine {
    const float *center, *scale, *shift;
    float floor, last_floor;
    bool bypass; /* streaming stores if the loop has them; rows must then be 16-byte aligned */
};

/* dx = scale * (dy - mean_dy + of_x * (x - center)): exactly 0 where dy is its own mean. */
struct pdnn_gradient {
    const float *center, *scale, *of_x, *mean_dy;
    bool bypass;
};

struct pdnn_channel_maps {
    int64_t width; /* 0: any */
    /* other may be NULL; y may be x or other. */
    void (*affine)(const float *x, const float *other, float *y, const struct pdnn_rows *rows,
                   const struct pdnn_affine *affine);
    /* dy counts as 0 where mask <= 0; mask may be NULL; dx may be dy. */
    void (*gradient)(const float *dy, const float *mask, const float *x, float *dx,
                     const struct pdnn_rows *rows, const struct pdnn_gradient *gradient);
};

/* The variant for this row width. Rows that are not whole vectors of 16 get the one for vectors of 8. */
const struct pdnn_channel_sums *PDNN_HERE(pdnn_channel_sums)(int64_t width);
const struct pdnn_channel_maps *PDNN_HERE(pdnn_channel_maps)(int64_t width);
const struct pdnn_channel_sums *PDNN_EIGHTS(pdnn_channel_sums)(int64_t width);
const struct pdnn_channel_maps *PDNN_EIGHTS(pdnn_channel_maps)(int64_t width);

#endif
