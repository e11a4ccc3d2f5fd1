/* Connectionist temporal classification over f32 logits: loss and gradient. Formulas: models/ops/ctc_loss.c.
 * T steps, N sequences, C classes, L labels at most, S = 2L + 1 states. */
#ifndef RUNTIME_KERNELS_SEQUENCE_CTC_H
#define RUNTIME_KERNELS_SEQUENCE_CTC_H

#include <stdint.h>

struct pdnn_ctc {
    int64_t T, N, C, L;
    const float *logits;   /* (T*N, C): row t*N + n */
    const int32_t *labels; /* (L, N), each below C - 1; the first negative label ends a sequence */
    float *loss;           /* (1); infinite, with NaN gradients, if labels need more than T steps */
    float *dlogits;        /* (T*N, C) */
    double *scratch;       /* pdnn_ctc_scratch doubles */
    double scale;          /* of the loss and its gradient */
};

int64_t pdnn_ctc_scratch(const struct pdnn_ctc *job, int64_t threads);

/* Results are bitwise the same for any number of threads. */
void pdnn_ctc_run(const struct pdnn_ctc *job, int64_t threads);

#endif
