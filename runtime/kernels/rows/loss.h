/* Softmax cross-entropy over rows in f32. N rows (minibatch), C classes. Labels are in [0, C), or negative
 * for rows to ignore: the loss is the mean over the other rows, and ignored rows have gradient 0. */
#ifndef RUNTIME_KERNELS_ROWS_LOSS_H
#define RUNTIME_KERNELS_ROWS_LOSS_H

#include <stdint.h>

/* Doubles per partial sum: a cache line per thread. */
enum { PDNN_LOSS_STRIDE = 8 };

struct pdnn_loss_job {
    const float *x;       /* forward: logits (N, C); backward: probabilities (N, C) */
    const int32_t *label; /* (N) */
    float *y;             /* forward: probabilities (N, C); backward: gradient of the logits; may be x */
    float *loss;          /* forward: (1) */
    double *partial;      /* forward: scratch, PDNN_LOSS_STRIDE per thread */
    int64_t N, C;
    double scale; /* of the loss and its gradient */
};

void pdnn_loss_forward(const struct pdnn_loss_job *job, int64_t threads);
void pdnn_loss_backward(const struct pdnn_loss_job *job, int64_t threads);

#endif
