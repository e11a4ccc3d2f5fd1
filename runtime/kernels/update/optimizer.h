/* Optimizer updates in f32, each in one pass over its arrays. For moment rules w is the
 * moment. Formulas: models/ops/<name>.c. */
#ifndef RUNTIME_KERNELS_UPDATE_OPTIMIZER_H
#define RUNTIME_KERNELS_UPDATE_OPTIMIZER_H

#include <stdint.h>

enum pdnn_update {
    PDNN_UPDATE_SGD,
    PDNN_UPDATE_MOMENTUM,
    PDNN_UPDATE_RMSPROP,
    PDNN_UPDATE_ADAM,
    PDNN_UPDATE_MOMENT,
    PDNN_UPDATE_SQUARE_MOMENT,
    PDNN_UPDATE_ADAM_APPLY,
    PDNN_UPDATE_LAMB_APPLY,
    PDNN_UPDATE_COUNT
};

enum { PDNN_UPDATE_STATES = 2, PDNN_UPDATE_COEFS = 5 };

struct pdnn_update_job {
    enum pdnn_update rule;
    float *w;
    const float *g;                   /* adam_apply: m; lamb_apply: u */
    float *state[PDNN_UPDATE_STATES]; /* momentum: v; rmsprop: ms, mom; adam: m, v; adam_apply: v */
    float *power;         /* adam, adam_apply: (2), powers of beta1 and beta2; advanced by one step */
    const float *norm[2]; /* lamb_apply: (1) each, of w and g */
    double coef[PDNN_UPDATE_COEFS]; /* ordered as the op's coefficients */
    int64_t elements;
};

void pdnn_update_run(const struct pdnn_update_job *job, int64_t threads);

#endif
