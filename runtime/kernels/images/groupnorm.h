/* Group normalization of images in f32 or 16 bit (`stored` of their shape), computed in f32, in every layout
 * of channels.h: mean and variance of each group of channels of each image. Formulas: models/ops/groupnorm.c.
 * N minibatch, C channels, G groups. */
#ifndef RUNTIME_KERNELS_IMAGES_GROUPNORM_H
#define RUNTIME_KERNELS_IMAGES_GROUPNORM_H

#include "runtime/kernels/images/channels.h"

/* How to run a job. */
struct pdnn_groupnorm_options {
    int64_t threads;
    uint64_t cache_bytes; /* of the last-level cache */
    bool bypass;          /* streaming stores: for results larger than the caches */
    double *scratch;      /* pdnn_groupnorm_scratch doubles */
};

int64_t pdnn_groupnorm_scratch(const struct pdnn_channels *shape, int64_t groups, bool is_backward,
                               int64_t threads, uint64_t cache_bytes);

/* How many bytes of an image are read at a time and, once their sums are known, again. */
uint64_t pdnn_groupnorm_held_bytes(const struct pdnn_channels *shape, int64_t groups, bool is_backward,
                                   int64_t threads, uint64_t cache_bytes);

struct pdnn_groupnorm_forward {
    struct pdnn_channels shape;
    int64_t groups;
    const void *x;
    const float *gamma, *beta;
    float *mean, *inverse_std; /* (N, G); or both NULL */
    double epsilon;
    void *y; /* may be x */
};

void pdnn_groupnorm_forward(const struct pdnn_groupnorm_forward *job,
                            const struct pdnn_groupnorm_options *options);

struct pdnn_groupnorm_backward {
    struct pdnn_channels shape;
    int64_t groups;
    const void *dy, *x;
    const float *gamma, *mean, *inverse_std;
    void *dx; /* may be dy */
    float *dgamma, *dbeta;
};

void pdnn_groupnorm_backward(const struct pdnn_groupnorm_backward *job,
                             const struct pdnn_groupnorm_options *options);

#endif
