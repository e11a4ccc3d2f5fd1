/* Values of boxes from images, and their gradient, in f32, in every layout of channels.h. Formula, and what a
 * box is: models/ops/roi_align.c. */
#ifndef RUNTIME_KERNELS_IMAGES_ROI_ALIGN_H
#define RUNTIME_KERNELS_IMAGES_ROI_ALIGN_H

#include <stdint.h>

struct pdnn_roi_align {
    int64_t N, C, H, W, block; /* of the features; results have the same channels and block */
    int64_t boxes, size, samples;
    const float *corners; /* (boxes, 4) */
    void *scratch;        /* pdnn_roi_align_scratch bytes, 64-byte aligned */
};

/* Reads neither corners nor scratch of the job. */
int64_t pdnn_roi_align_scratch(const struct pdnn_roi_align *job, int64_t threads);

/* x features; y (boxes, C, size, size). */
void pdnn_roi_align_forward(const struct pdnn_roi_align *job, const float *x, float *y, int64_t threads);
/* dx is written whole. */
void pdnn_roi_align_backward(const struct pdnn_roi_align *job, const float *dy, float *dx, int64_t threads);

#endif
