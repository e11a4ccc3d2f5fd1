/* Losses that are a mean over elements, and their gradients, computed in f32. Formulas:
 * models/ops/logistic_loss.c, squared_error.c and smooth_l1.c. */
#ifndef RUNTIME_KERNELS_ROWS_ELEMENT_LOSS_H
#define RUNTIME_KERNELS_ROWS_ELEMENT_LOSS_H

#include "base/half.h"

#include <stdbool.h>
#include <stdint.h>

enum pdnn_element_loss_kind {
    PDNN_LOGISTIC_LOSS, /* targets are s32 labels; 1: any above 0 */
    PDNN_SQUARED_ERROR,
    PDNN_SMOOTH_L1,
    PDNN_ELEMENT_LOSS_COUNT
};

struct pdnn_element_loss_job {
    enum pdnn_element_loss_kind kind;
    enum pdnn_stored stored; /* of x, of targets that are no labels, and of dx */
    const void *x, *target;
    float *loss;     /* forward: (1) */
    double *partial; /* forward: scratch, PDNN_LOSS_STRIDE (loss.h) per thread */
    void *dx;        /* backward; may be x; 64-byte aligned for bypass */
    int64_t elements;
    double scale; /* of the loss and its gradient */
    bool bypass;  /* backward: streaming stores; dx must not be x */
};

void pdnn_element_loss_forward_run(const struct pdnn_element_loss_job *job, int64_t threads);
void pdnn_element_loss_backward_run(const struct pdnn_element_loss_job *job, int64_t threads);

#endif
