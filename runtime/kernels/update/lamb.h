/* The first steps of the LAMB optimizer in f32, each in one pass over its arrays; optimizer.h has the last
 * one. Formulas: models/ops/norm.c, lamb_direction.c. */
#ifndef RUNTIME_KERNELS_UPDATE_LAMB_H
#define RUNTIME_KERNELS_UPDATE_LAMB_H

#include <stdint.h>

struct pdnn_norm_job {
    const float *x;
    const float *before; /* (1), norm of the preceding tensors; or NULL */
    float *norm;         /* (1) */
    double *scratch;     /* pdnn_norm_scratch doubles */
    int64_t elements;
};

int64_t pdnn_norm_scratch(int64_t elements);

/* The result is bitwise the same for any number of threads. */
void pdnn_norm_run(const struct pdnn_norm_job *job, int64_t threads);

struct pdnn_lamb_direction_job {
    const float *w, *g;
    float *u; /* may be g */
    float *m, *v;
    float *power;      /* (2), powers of beta1 and beta2; advanced by one step */
    const float *norm; /* (1), over all gradients */
    double beta1, beta2, epsilon, decay, limit;
    int64_t elements;
};

void pdnn_lamb_direction_run(const struct pdnn_lamb_direction_job *job, int64_t threads);

#endif
