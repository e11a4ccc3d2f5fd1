/* Loops of pool.c over one row or one plane of a result. An image is a set of planes of pixels, each
 * `width` adjacent channels. */
#ifndef RUNTIME_KERNELS_IMAGES_POOL_LOOPS_H
#define RUNTIME_KERNELS_IMAGES_POOL_LOOPS_H

#include "runtime/kernels/images/pool.h"
#include "runtime/kernels/simd/kernel.h"
#include "runtime/kernels/simd/team.h"

struct pdnn_pool_job {
    const struct pdnn_pool *pool;
    const float *from;   /* x or dy */
    float *to;           /* y or dx */
    const int8_t *index; /* read, or NULL */
    int8_t *new_index;   /* written, or NULL */
    int64_t planes, width;
};

/* Range of inputs that an output reads. */
static inline struct pdnn_span pdnn_pool_inputs(const struct pdnn_pool_window *w, int64_t output) {
    int64_t begin = output * w->stride - w->padding, end = begin + w->kernel;
    return (struct pdnn_span){begin > 0 ? begin : 0, end < w->input ? end : w->input};
}

/* Range of outputs that read an input. */
static inline struct pdnn_span pdnn_pool_outputs(const struct pdnn_pool_window *w, int64_t input) {
    int64_t last = (input + w->padding) / w->stride, before = input + w->padding - w->kernel;
    int64_t begin = before < 0 ? 0 : before / w->stride + 1;
    return (struct pdnn_span){begin, last < w->output ? last + 1 : w->output};
}

/* Range of outputs of a row for which tap s of the window lies inside the image. */
static inline struct pdnn_span pdnn_pool_outputs_with(const struct pdnn_pool_window *w, int64_t s) {
    int64_t before = w->padding - s, last = w->input - 1 + w->padding - s;
    int64_t begin = before <= 0 ? 0 : (before + w->stride - 1) / w->stride;
    int64_t end = last < 0 ? 0 : last / w->stride + 1;
    return (struct pdnn_span){begin, end < w->output ? end : w->output};
}

/* For widths of whole vectors, one vector of channels at a time: an output stays in registers, a row of
 * dx in L1. */
void PDNN_HERE(pdnn_pool_lanes_max_forward)(const struct pdnn_pool_job *job, int64_t plane, int64_t row);
void PDNN_HERE(pdnn_pool_lanes_max_backward)(const struct pdnn_pool_job *job, int64_t plane, int64_t row);
void PDNN_HERE(pdnn_pool_lanes_average_forward)(const struct pdnn_pool_job *job, int64_t plane, int64_t row);
void PDNN_HERE(pdnn_pool_lanes_average_backward)(const struct pdnn_pool_job *job, int64_t plane, int64_t row);

/* For any width, mainly the plain layout's 1. Forward goes over a row of y tap by tap, which makes
 * neighbouring pixels contiguous; backward scatters each output's gradient into a plane of dx. */
void PDNN_HERE(pdnn_pool_any_max_forward)(const struct pdnn_pool_job *job, int64_t plane, int64_t row);
void PDNN_HERE(pdnn_pool_any_max_backward)(const struct pdnn_pool_job *job, int64_t plane, int64_t unused);
void PDNN_HERE(pdnn_pool_any_average_forward)(const struct pdnn_pool_job *job, int64_t plane, int64_t row);
void PDNN_HERE(pdnn_pool_any_average_backward)(const struct pdnn_pool_job *job, int64_t plane,
                                               int64_t unused);

#endif
