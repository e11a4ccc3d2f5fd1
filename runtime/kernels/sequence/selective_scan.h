/* The scan of a selective state space in f32. Formulas: models/ops/selective_scan.c. N sequences of T tokens,
 * R = N*T rows, sequence by sequence; C channels, S states of a channel. Arrays are (R, C) unless stated. */
#ifndef RUNTIME_KERNELS_SEQUENCE_SELECTIVE_SCAN_H
#define RUNTIME_KERNELS_SEQUENCE_SELECTIVE_SCAN_H

#include <stdint.h>

struct pdnn_selective_scan {
    int64_t N, T, C, S;
    const float *x, *delta;
    const float *b, *c; /* (R, S) */
    const float *a, *d; /* (C, S), (C) */
    float *state;       /* forward: (N*C, S), from which it goes on and which it updates; NULL: from 0 */
    float *scratch;     /* pdnn_selective_scan_scratch floats, pdnn_selective_scan_back_scratch backward */
};

int64_t pdnn_selective_scan_scratch(const struct pdnn_selective_scan *shape, int64_t threads);
void pdnn_selective_scan_forward(const struct pdnn_selective_scan *job, float *y, int64_t threads);

struct pdnn_selective_scan_gradients {
    const float *dy;
    float *dx, *ddelta, *db, *dc, *da, *dd; /* shaped like x, delta, b, c, a, d */
};

int64_t pdnn_selective_scan_back_scratch(const struct pdnn_selective_scan *shape, int64_t threads);

/* Computes the states again, from every eighth token on, and goes back. Every sum has the same order for
 * any number of threads. */
void pdnn_selective_scan_backward(const struct pdnn_selective_scan *job,
                                  const struct pdnn_selective_scan_gradients *gradients, int64_t threads);

#endif
