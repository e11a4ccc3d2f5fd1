/* Sums and products of images with one value per channel, either (N, C), a vector for each image, or (C) for
 * all of them, and their gradients. In every layout of channels.h, in f32 and on 16 bit. A matrix (R, C) is
 * an image, too: R pixels with channels last for (C), or B images of n pixels for (B, C); R images of one
 * channel for (R, 1). */
#ifndef RUNTIME_KERNELS_IMAGES_SPREAD_H
#define RUNTIME_KERNELS_IMAGES_SPREAD_H

#include "runtime/kernels/images/channels.h"
#include "runtime/kernels/simd/half.h"

/* Forward reads a and b and writes y. Backward reads dy and writes db; a product also reads a, and writes da,
 * for which it reads b, if da is not NULL. */
struct pdnn_spread {
    struct pdnn_channels shape;
    bool adds;        /* else multiplies */
    bool is_shared;   /* b (C) */
    int64_t b_stride; /* from one image's vector to the next: C, or with padding channels, which are 0 */
    enum pdnn_half half;
    bool is_half;   /* images are of type `half`, else f32 */
    bool b_is_half; /* the same of b and db */
    const void *a, *b, *dy;
    void *y, *da; /* y may be a, da may be dy */
    void *db;
    bool bypass; /* streaming stores, for results larger than the caches */
    double *scratch;
};

/* Doubles of scratch for the backward pass. */
int64_t pdnn_spread_scratch(const struct pdnn_channels *shape, bool is_shared, int64_t threads);

void pdnn_spread_forward(const struct pdnn_spread *job, int64_t threads);
/* The summation order depends on the shape and the number of threads. */
void pdnn_spread_backward(const struct pdnn_spread *job, int64_t threads);

#endif
