/* Batch normalization of images in f32 or 16 bit (`stored` of their shape), computed in f32, in every layout
 * of channels.h. Formulas: models/ops/batchnorm.c. C channels. */
#ifndef RUNTIME_KERNELS_IMAGES_BATCHNORM_H
#define RUNTIME_KERNELS_IMAGES_BATCHNORM_H

#include "runtime/kernels/images/channels.h"

/* How to run the job. */
struct pdnn_batchnorm_options {
    int64_t threads;
    uint64_t cache_bytes; /* of the last-level cache */
    bool bypass;          /* streaming stores: for results larger than the caches */
    double *scratch;      /* pdnn_batchnorm_scratch doubles */
};

int64_t pdnn_batchnorm_scratch(const struct pdnn_channels *shape, int64_t threads);

struct pdnn_batchnorm_forward {
    struct pdnn_channels shape;
    const void *x;
    const float *gamma, *beta; /* NULL: 1 and 0 */
    float *mean, *inverse_std; /* training: out, the batch's; else NULL */
    /* Training: moved towards the batch's, or NULL. Inference: used to normalize. */
    float *running_mean, *running_variance;
    double epsilon, momentum;
    /* y = normalized within the bounds `first`, + other, within the bounds `last`; NULL: left out. */
    const void *other;
    const struct pdnn_bounds *first, *last;
    void *y; /* may be x (in training too) or other */
};

void pdnn_batchnorm_forward(const struct pdnn_batchnorm_forward *job,
                            const struct pdnn_batchnorm_options *options);

struct pdnn_batchnorm_backward {
    struct pdnn_channels shape;
    const void *dy;
    const float *gamma;              /* NULL: 1 */
    const void *x;                   /* NULL: dx alone, with the running variance */
    const float *mean, *inverse_std; /* with x */
    const float *running_variance;
    double epsilon;      /* with that */
    const void *clipped; /* the result of an activation that clips, which dy is the gradient of; or NULL */
    struct pdnn_bounds bounds; /* its bounds */
    void *dx;                  /* may be dy */
    float *dgamma, *dbeta;     /* NULL: left out */
};

void pdnn_batchnorm_backward(const struct pdnn_batchnorm_backward *job,
                             const struct pdnn_batchnorm_options *options);

#endif
