/* The loops of pool.c over one row of a result or one of its planes. An image is planes of pixels, each
 * `width` channels side by side. */
#ifndef RUNTIME_KERNELS_IMAGES_POOL_LOOPS_H
#define RUNTIME_KERNELS_IMAGES_POOL_LOOPS_H

#include "runtime/kernels/images/pool.h"
#include "runtime/kernels/simd/kernel.h"
#include "runtime/kernels/simd/team.h"

struct pdnn_pool_job {
    const struct pdnn_pool *pool;
    const float *from;   /* x or dy */
    float *to;           /* y or dx */
    const int8_t *index; /* that is read, or NULL */
    int8_t *new_index;   /* that is written, or NULL */
    int64_t planes, width;
};

/* The inputs that an output looks at. */
static inline struct pdnn_span pdnn_pool_inputs(const struct pdnn_pool_window *w, int64_t output) {
    int64_t begin = output * w->stride - w->padding, end = begin + w->kernel;
    return (struct pdnn_span){begin > 0 ? begin : 0, end < w->input ? end : w->input};
}

/* The outputs that look at an input. */
static inline struct pdnn_span pdnn_pool_outputs(const struct pdnn_pool_window *w, int64_t input) {
    int64_t last = (input + w->padding) / w->stride, before = input + w->padding - w->kernel;
    int64_t begin = before < 0 ? 0 : before / w->stride + 1;
    return (struct pdnn_span){begin, last < w->output ? last + 1 : w->output};
}

/* The outputs of a row that have tap s of their window within the image. */
static inline struct pdnn_span pdnn_pool_outputs_with(const struct pdnn_pool_window *w, int64_t s) {
    int64_t before = w->padding - s, last = w->input - 1 + w->padding - s;
    int64_t begin = before <= 0 ? 0 : (before + w->stride - 1) / w->stride;
    int64_t end = last < 0 ? 0 : last / w->stride + 1;
    return (struct pdnn_span){begin, end < w->output ? end : w->output};
}

/* Widths of whole vectors, a vector of channels at once: an output in registers, a row of dx in the first
 * cache. */
void PDNN_HERE(pdnn_pool_lanes_max_forward)(const struct pdnn_pool_job *job, int64_t plane, int64_t row);
void PDNN_HERE(pdnn_pool_lanes_max_backward)(const struct pdnn_pool_job *job, int64_t plane, int64_t row);
void PDNN_HERE(pdnn_pool_lanes_average_forward)(const struct pdnn_pool_job *job, int64_t plane, int64_t row);
void PDNN_HERE(pdnn_pool_lanes_average_backward)(const struct pdnn_pool_job *job, int64_t plane, int64_t row);

/* Any width, above all the plain layout's 1: a row of y tap by tap, so that its pixels are neighbours; a
 * plane of dx as the sum of what each output sends back. */
void PDNN_HERE(pdnn_pool_any_max_forward)(const struct pdnn_pool_job *job, int64_t plane, int64_t row);
void PDNN_HERE(pdnn_pool_any_max_backward)(const struct pdnn_pool_job *job, int64_t plane, int64_t unused);
void PDNN_HERE(pdnn_pool_any_average_forward)(const struct pdnn_pool_job *job, int64_t plane, int64_t row);
void PDNN_HERE(pdnn_pool_any_average_backward)(const struct pdnn_pool_job *job, int64_t plane,
                                               int64_t unused);

#endif
