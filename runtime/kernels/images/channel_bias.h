/* A bias per channel and its gradient in f32, in every layout of channels.h. */
#ifndef RUNTIME_KERNELS_IMAGES_CHANNEL_BIAS_H
#define RUNTIME_KERNELS_IMAGES_CHANNEL_BIAS_H

#include "runtime/kernels/images/channels.h"

struct pdnn_channel_bias {
    struct pdnn_channels shape;
    const float *x; /* forward: x; gradient: dy */
    const float *b; /* forward: (C) */
    float *y;       /* forward; may be x */
    float *db;      /* gradient: (C) */
    bool bypass;    /* forward: streaming stores, for results larger than the caches */
    double *scratch;
};

/* Doubles of scratch for either function. */
int64_t pdnn_channel_bias_scratch(const struct pdnn_channels *shape, int64_t threads);

void pdnn_channel_bias_forward(const struct pdnn_channel_bias *job, int64_t threads);
void pdnn_channel_bias_gradient(const struct pdnn_channel_bias *job, int64_t threads);

#endif
