/* Batch normalization in f32, in every layout of channels.h. Formulas: models/ops/batchnorm.c. C channels. */
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
    const float *x, *gamma, *beta;
    float *mean, *inverse_std; /* training: out, the batch's; else NULL */
    /* Training: moved towards the batch's, or NULL. Inference: used to normalize. */
    float *running_mean, *running_variance;
    double epsilon, momentum;
    /* y = max(max(normalized, 0) + other, 0). The maxima apply if relu_first and relu say so, other
     * if not NULL. */
    const float *other;
    bool relu_first, relu;
    float *y; /* may be x (in training too) or other */
};

void pdnn_batchnorm_forward(const struct pdnn_batchnorm_forward *job,
                            const struct pdnn_batchnorm_options *options);

struct pdnn_batchnorm_backward {
    struct pdnn_channels shape;
    const float *dy, *x, *gamma, *mean, *inverse_std;
    const float *mask;          /* dy counts as 0 where mask <= 0; or NULL */
    float *dx, *dgamma, *dbeta; /* dx may be dy */
};

void pdnn_batchnorm_backward(const struct pdnn_batchnorm_backward *job,
                             const struct pdnn_batchnorm_options *options);

#endif
