/* The innermost loops over rows of channels (channels.h), each in variants for some widths of the rows. Where
 * coefficients and sums are arrays, [i] belongs to channel i of the row. */
#ifndef RUNTIME_KERNELS_IMAGES_CHANNEL_LOOPS_H
#define RUNTIME_KERNELS_IMAGES_CHANNEL_LOOPS_H

#include "runtime/kernels/images/channels.h"
#include "runtime/kernels/simd/kernel.h"

struct pdnn_channel_sums {
    int64_t width; /* 0: any */
    /* sums[0 .. width) = sum of x - center, sums[width .. 2 width) of its squares. */
    void (*moments)(const float *x, const struct pdnn_rows *rows, const float *center, float *sums);
    /* sums[0 .. width) = sum of dy, sums[width .. 2 width) of dy * (x - center). dy counts as 0 where mask is
     * not above 0; mask may be NULL. */
    void (*products)(const float *dy, const float *mask, const float *x, const struct pdnn_rows *rows,
                     const float *center, float *sums);
};

/* y = max(max(scale * (x - center) + shift, floor) + other, last_floor); floors of minus infinity do nothing,
 * and NaN stays NaN. */
struct pdnn_affine {
    const float *center, *scale, *shift;
    float floor, last_floor;
    bool bypass; /* streaming stores where the loop can; the rows are then 16-byte aligned */
};

/* dx = of_dy * dy + of_x * (x - center) + shift. */
struct pdnn_gradient {
    const float *center, *of_dy, *of_x, *shift;
    bool bypass;
};

struct pdnn_channel_maps {
    int64_t width; /* 0: any */
    /* other may be NULL, and y x or other. */
    void (*affine)(const float *x, const float *other, float *y, const struct pdnn_rows *rows,
                   const struct pdnn_affine *affine);
    /* dy counts as 0 where mask is not above 0; mask may be NULL, and dx dy. */
    void (*gradient)(const float *dy, const float *mask, const float *x, float *dx,
                     const struct pdnn_rows *rows, const struct pdnn_gradient *gradient);
};

/* The variant for rows so wide; of eights where rows are not whole vectors of sixteen. */
const struct pdnn_channel_sums *PDNN_HERE(pdnn_channel_sums)(int64_t width);
const struct pdnn_channel_maps *PDNN_HERE(pdnn_channel_maps)(int64_t width);
const struct pdnn_channel_sums *PDNN_EIGHTS(pdnn_channel_sums)(int64_t width);
const struct pdnn_channel_maps *PDNN_EIGHTS(pdnn_channel_maps)(int64_t width);

#endif
