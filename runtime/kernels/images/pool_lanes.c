#include "runtime/kernels/images/pool_loops.h"

#include "runtime/kernels/simd/eights.h"

#include <math.h>
#include <string.h>

enum { EIGHTS = 4 };

/* The inputs of one output: how many, where the first is, which tap of the window that is, and how far it is
 * to the next row. */
struct inputs {
    int64_t rows, columns, pitch, width;
    const float *first;
    int32_t tap, tap_pitch;
};

static inline struct inputs inputs_of(const struct pdnn_pool_job *job, int64_t plane, int64_t p, int64_t q) {
    const struct pdnn_pool_window *rows = &job->pool->rows, *columns = &job->pool->columns;
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

/* NaN is kept apart from the largest number, so that each tap waits for no more than one maximum. */
PDNN_INLINE void max_eight(const struct inputs *in, int64_t channel, float *y, int8_t *index) {
    pdnn_floats8 best, x;
    pdnn_ints8 where = {0}, any_nan = {0}, tap, nan, above;
    pdnn_load8(&best, in->first + channel);
    where += in->tap;
    for (int64_t r = 0; r < in->rows; r++) {
        tap = (pdnn_ints8){0} + (in->tap + (int32_t)r * in->tap_pitch);
        for (int64_t s = 0; s < in->columns; s++, tap += 1) {
            pdnn_load8(&x, in->first + channel + r * in->pitch + s * in->width);
            pdnn_above8(&above, &x, &best);
            pdnn_nan8(&nan, &x);
            pdnn_floor8(&best, &x);
            above = (above & ~any_nan) | nan;
            any_nan |= nan;
            where = (above & tap) | (~above & where);
        }
    }
    x = (pdnn_floats8){0} + NAN;
    pdnn_select8(&x, &any_nan, &best);
    pdnn_store8(y, &x, false);
    if (index)
        pdnn_store_bytes8(index, &where);
}

void PDNN_HERE(pdnn_pool_lanes_max_forward)(const struct pdnn_pool_job *job, int64_t plane, int64_t row) {
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

/* `eights` times eight channels: more of them make the pieces longer that are read of each pixel. */
PDNN_INLINE void average_eights(const struct inputs *in, int64_t channel, float *y, int eights) {
    pdnn_floats8 sum[EIGHTS] = {{0}}, x;
    for (int64_t r = 0; r < in->rows; r++) {
        for (int64_t s = 0; s < in->columns; s++) {
            const float *from = in->first + channel + r * in->pitch + s * in->width;
            for (int k = 0; k < eights; k++) {
                pdnn_load8(&x, from + k * PDNN_LANES8);
                sum[k] += x;
            }
        }
    }
    for (int k = 0; k < eights; k++) {
        sum[k] *= 1.0F / (float)(in->rows * in->columns);
        pdnn_store8(y + k * PDNN_LANES8, &sum[k], false);
    }
}

void PDNN_HERE(pdnn_pool_lanes_average_forward)(const struct pdnn_pool_job *job, int64_t plane, int64_t row) {
    int64_t Q = job->pool->columns.output, to = (plane * job->pool->rows.output + row) * Q * job->width;
    for (int64_t q = 0; q < Q; q++, to += job->width) {
        const struct inputs in = inputs_of(job, plane, row, q);
        int64_t i = 0;
        for (; i + EIGHTS * PDNN_LANES8 <= job->width; i += EIGHTS * PDNN_LANES8)
            average_eights(&in, i, job->to + to + i, EIGHTS);
        for (; i < job->width; i += PDNN_LANES8)
            average_eights(&in, i, job->to + to + i, 1);
    }
}

/* A row of dx, zeroed. */
static float *clear_row(const struct pdnn_pool_job *job, int64_t plane, int64_t row) {
    int64_t n = job->pool->columns.input * job->width;
    float *dx = job->to + (plane * job->pool->rows.input + row) * n;
    memset(dx, 0, (size_t)n * sizeof *dx);
    return dx;
}

/* One tap of n outputs: they and their inputs are each one step from the last. */
struct tap {
    float *dx;
    const float *dy;
    const int8_t *index;
    int64_t n, width, step;
    int32_t number;
};

/* Adds dy to those inputs that were chosen. */
PDNN_INLINE void add_chosen(float *dx, const float *dy, const int8_t *index, int32_t number) {
    const pdnn_floats8 zero = {0};
    pdnn_floats8 sum, v;
    pdnn_ints8 chosen;
    pdnn_load8(&sum, dx);
    pdnn_load8(&v, dy);
    pdnn_load_bytes8(&chosen, index);
    chosen = chosen == number;
    pdnn_select8(&v, &chosen, &zero);
    sum += v;
    pdnn_store8(dx, &sum, false);
}

PDNN_INLINE void send_back(const struct tap *tap, int64_t width) {
    float *dx = tap->dx;
    const float *dy = tap->dy;
    const int8_t *index = tap->index;
    for (int64_t i = 0; i < tap->n; i++, dx += tap->step, dy += width, index += width) {
        for (int64_t channel = 0; channel < width; channel += PDNN_LANES8)
            add_chosen(dx + channel, dy + channel, index + channel, tap->number);
    }
}

/* The usual width as a constant. */
static void send_tap(struct tap tap) {
    if (tap.width == PDNN_LANES8)
        send_back(&tap, PDNN_LANES8);
    else
        send_back(&tap, tap.width);
}

void PDNN_HERE(pdnn_pool_lanes_max_backward)(const struct pdnn_pool_job *job, int64_t plane, int64_t row) {
    const struct pdnn_pool_window *rows = &job->pool->rows, *columns = &job->pool->columns;
    struct pdnn_span p = pdnn_pool_outputs(rows, row);
    float *dx = clear_row(job, plane, row);
    struct tap tap = {.width = job->width, .step = columns->stride * job->width};
    for (; p.begin < p.end; p.begin++) {
        int64_t from = (plane * rows->output + p.begin) * columns->output;
        int64_t first = (row + rows->padding - p.begin * rows->stride) * columns->kernel;
        for (int64_t s = 0; s < columns->kernel; s++) {
            struct pdnn_span q = pdnn_pool_outputs_with(columns, s);
            tap.dx = dx + (q.begin * columns->stride + s - columns->padding) * job->width;
            tap.dy = job->from + (from + q.begin) * job->width;
            tap.index = job->index + (from + q.begin) * job->width;
            tap.n = q.end - q.begin;
            tap.number = (int32_t)(first + s);
            send_tap(tap);
        }
    }
}

/* Adds dy times `share` to n inputs side by side. */
static void add_shares(float *dx, const float *dy, float share, int64_t n, int64_t width) {
    pdnn_floats8 sum, v;
    for (int64_t channel = 0; channel < width; channel += PDNN_LANES8) {
        pdnn_load8(&v, dy + channel);
        v *= share;
        for (int64_t i = 0; i < n; i++) {
            pdnn_load8(&sum, dx + i * width + channel);
            sum += v;
            pdnn_store8(dx + i * width + channel, &sum, false);
        }
    }
}

void PDNN_HERE(pdnn_pool_lanes_average_backward)(const struct pdnn_pool_job *job, int64_t plane,
                                                 int64_t row) {
    const struct pdnn_pool_window *rows = &job->pool->rows, *columns = &job->pool->columns;
    struct pdnn_span p = pdnn_pool_outputs(rows, row);
    float *dx = clear_row(job, plane, row);
    for (; p.begin < p.end; p.begin++) {
        struct pdnn_span h = pdnn_pool_inputs(rows, p.begin);
        const float *dy = job->from + (plane * rows->output + p.begin) * columns->output * job->width;
        for (int64_t q = 0; q < columns->output; q++, dy += job->width) {
            struct pdnn_span w = pdnn_pool_inputs(columns, q);
            float share = 1.0F / (float)((h.end - h.begin) * (w.end - w.begin));
            add_shares(dx + w.begin * job->width, dy, share, w.end - w.begin, job->width);
        }
    }
}
