#include "runtime/kernels/pool_loops.h"

#include "runtime/kernels/lanes.h"

#include <string.h>

typedef int8_t bytes8 __attribute__((vector_size(8)));

/* The inputs of one output: how many, where the first is, which tap of the window that is, and how far it is
 * to the next row. */
struct inputs {
    int64_t rows, columns, pitch, width;
    const float *first;
    int32_t tap, tap_pitch;
};

static inline struct inputs inputs_of(const struct pdnn_pool_job *job, int64_t plane, int64_t p, int64_t q) {
    const struct pdnn_window *rows = &job->pool->rows, *columns = &job->pool->columns;
    struct pdnn_span h = pdnn_pool_inputs(rows, p), w = pdnn_pool_inputs(columns, q);
    int64_t r = h.begin - (p * rows->stride - rows->padding);
    int64_t s = w.begin - (q * columns->stride - columns->padding);
    int64_t pixel = (plane * rows->input + h.begin) * columns->input + w.begin;
    return (struct inputs){h.end - h.begin,
                           w.end - w.begin,
                           columns->input * job->width,
                           job->width,
                           job->from + pixel * job->width,
                           (int32_t)(r * columns->kernel + s),
                           (int32_t)columns->kernel};
}

PDNN_INLINE void max_eight(const struct inputs *in, int64_t channel, float *y, int8_t *index) {
    pdnn_floats8 best, x;
    pdnn_ints8 where = {0}, tap;
    pdnn_load8(&best, in->first + channel);
    where += in->tap;
    for (int64_t r = 0; r < in->rows; r++) {
        tap = (pdnn_ints8){0} + (in->tap + (int32_t)r * in->tap_pitch);
        for (int64_t s = 0; s < in->columns; s++, tap += 1) {
            pdnn_load8(&x, in->first + channel + r * in->pitch + s * in->width);
            pdnn_ints8 larger = x > best;
            where = (larger & tap) | (~larger & where);
            pdnn_select8(&x, &larger, &best);
            best = x;
        }
    }
    pdnn_store8(y, &best, false);
    if (index) {
        bytes8 bytes = __builtin_convertvector(where, bytes8);
        memcpy(index, &bytes, sizeof bytes);
    }
}

PDNN_CLONES void pdnn_pool_lanes_max_forward(const struct pdnn_pool_job *job, int64_t plane, int64_t row) {
    int64_t Q = job->pool->columns.output, to = (plane * job->pool->rows.output + row) * Q * job->width;
    for (int64_t q = 0; q < Q; q++, to += job->width) {
        const struct inputs in = inputs_of(job, plane, row, q);
        for (int64_t i = 0; i < job->width; i += PDNN_LANES8) {
            if (job->new_index)
                max_eight(&in, i, job->to + to + i, job->new_index + to + i);
            else
                max_eight(&in, i, job->to + to + i, NULL);
        }
    }
}

PDNN_INLINE void average_eight(const struct inputs *in, int64_t channel, float *y) {
    pdnn_floats8 sum = {0}, x;
    for (int64_t r = 0; r < in->rows; r++) {
        for (int64_t s = 0; s < in->columns; s++) {
            pdnn_load8(&x, in->first + channel + r * in->pitch + s * in->width);
            sum += x;
        }
    }
    sum *= 1.0F / (float)(in->rows * in->columns);
    pdnn_store8(y, &sum, false);
}

PDNN_CLONES void pdnn_pool_lanes_average_forward(const struct pdnn_pool_job *job, int64_t plane,
                                                 int64_t row) {
    int64_t Q = job->pool->columns.output, to = (plane * job->pool->rows.output + row) * Q * job->width;
    for (int64_t q = 0; q < Q; q++, to += job->width) {
        const struct inputs in = inputs_of(job, plane, row, q);
        for (int64_t i = 0; i < job->width; i += PDNN_LANES8)
            average_eight(&in, i, job->to + to + i);
    }
}

/* The outputs that look at one input, at a time a row of them: [q.begin, q.end) of the row that begins at
 * `at`. The first of them looks with tap `tap`, the next ones with one `stride` less each. */
struct outputs {
    struct pdnn_span p, q;
    int64_t at, pitch, width; /* at: of output (p.begin, q.begin) */
    int32_t tap, tap_pitch, tap_step;
};

static inline struct outputs outputs_of(const struct pdnn_pool_job *job, int64_t plane, int64_t h,
                                        int64_t w) {
    const struct pdnn_window *rows = &job->pool->rows, *columns = &job->pool->columns;
    struct pdnn_span p = pdnn_pool_outputs(rows, h), q = pdnn_pool_outputs(columns, w);
    int64_t r = h + rows->padding - p.begin * rows->stride;
    int64_t s = w + columns->padding - q.begin * columns->stride;
    int64_t pixel = (plane * rows->output + p.begin) * columns->output + q.begin;
    return (struct outputs){p,
                            q,
                            pixel * job->width,
                            columns->output * job->width,
                            job->width,
                            (int32_t)(r * columns->kernel + s),
                            (int32_t)(rows->stride * columns->kernel),
                            (int32_t)columns->stride};
}

PDNN_INLINE void add_chosen(pdnn_floats8 *sum, const float *dy, const int8_t *index, int32_t tap) {
    const pdnn_floats8 zero = {0};
    pdnn_floats8 v;
    bytes8 bytes;
    pdnn_load8(&v, dy);
    memcpy(&bytes, index, sizeof bytes);
    pdnn_ints8 chosen = __builtin_convertvector(bytes, pdnn_ints8) == tap;
    pdnn_select8(&v, &chosen, &zero);
    *sum += v;
}

PDNN_INLINE void unpool_eight(const struct pdnn_pool_job *job, const struct outputs *out, int64_t channel,
                              float *dx) {
    pdnn_floats8 sum = {0};
    int64_t at = out->at + channel;
    int32_t tap = out->tap;
    for (int64_t p = out->p.begin; p < out->p.end; p++, at += out->pitch, tap -= out->tap_pitch) {
        for (int64_t q = 0; q < out->q.end - out->q.begin; q++)
            add_chosen(&sum, job->from + at + q * out->width, job->index + at + q * out->width,
                       tap - (int32_t)q * out->tap_step);
    }
    pdnn_store8(dx, &sum, job->pool->bypass);
}

PDNN_CLONES void pdnn_pool_lanes_max_backward(const struct pdnn_pool_job *job, int64_t plane, int64_t row) {
    int64_t W = job->pool->columns.input, to = (plane * job->pool->rows.input + row) * W * job->width;
    for (int64_t w = 0; w < W; w++, to += job->width) {
        const struct outputs out = outputs_of(job, plane, row, w);
        for (int64_t i = 0; i < job->width; i += PDNN_LANES8)
            unpool_eight(job, &out, i, job->to + to + i);
    }
}

static inline float share_of(const struct pdnn_pool *pool, int64_t p, int64_t q) {
    struct pdnn_span h = pdnn_pool_inputs(&pool->rows, p), w = pdnn_pool_inputs(&pool->columns, q);
    return 1.0F / (float)((h.end - h.begin) * (w.end - w.begin));
}

PDNN_INLINE void spread_eight(const struct pdnn_pool_job *job, const struct outputs *out, int64_t channel,
                              float *dx) {
    pdnn_floats8 sum = {0}, dy;
    int64_t at = out->at + channel;
    for (int64_t p = out->p.begin; p < out->p.end; p++, at += out->pitch) {
        for (int64_t q = out->q.begin; q < out->q.end; q++) {
            pdnn_load8(&dy, job->from + at + (q - out->q.begin) * out->width);
            sum += dy * share_of(job->pool, p, q);
        }
    }
    pdnn_store8(dx, &sum, job->pool->bypass);
}

PDNN_CLONES void pdnn_pool_lanes_average_backward(const struct pdnn_pool_job *job, int64_t plane,
                                                  int64_t row) {
    int64_t W = job->pool->columns.input, to = (plane * job->pool->rows.input + row) * W * job->width;
    for (int64_t w = 0; w < W; w++, to += job->width) {
        const struct outputs out = outputs_of(job, plane, row, w);
        for (int64_t i = 0; i < job->width; i += PDNN_LANES8)
            spread_eight(job, &out, i, job->to + to + i);
    }
}
