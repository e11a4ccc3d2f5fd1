#include "runtime/kernels/images/pool_loops.h"

#include "runtime/kernels/simd/kernel.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { TAPS_MAX = 128 };

/* One tap of n neighbouring outputs; their inputs are `stride` apart. */
struct tap {
    const float *x;
    float *y;
    int8_t *index; /* negative: nothing chosen yet */
    int64_t n;
    int8_t number;
};

PDNN_INLINE bool exceeds(float x, float y) {
    return (x > y) | isnan(x);
}

PDNN_INLINE void max_of(const struct tap *tap, int64_t stride) {
    const float *x = tap->x;
    float *y = tap->y;
#pragma omp simd
    for (int64_t i = 0; i < tap->n; i++)
        y[i] = exceeds(x[i * stride], y[i]) ? x[i * stride] : y[i];
}

PDNN_INLINE void first_max_of(const struct tap *tap, int64_t stride) {
    const float *x = tap->x;
    float *y = tap->y;
    int8_t *index = tap->index, number = tap->number;
#pragma omp simd
    for (int64_t i = 0; i < tap->n; i++) {
        bool larger = exceeds(x[i * stride], y[i]) | (index[i] < 0);
        y[i] = larger ? x[i * stride] : y[i];
        index[i] = larger ? number : index[i];
    }
}

PDNN_INLINE void sum_of(const struct tap *tap, int64_t stride) {
    const float *x = tap->x;
    float *y = tap->y;
#pragma omp simd
    for (int64_t i = 0; i < tap->n; i++)
        y[i] += x[i * stride];
}

/* Vectorizes the common strides. tap is passed by value, so the compiler knows that nothing writes it. */
#define FOR_STRIDES(name, loop)                                                                              \
    static void name(struct tap tap, int64_t stride) {                                                       \
        if (stride == 1)                                                                                     \
            loop(&tap, 1);                                                                                   \
        else if (stride == 2)                                                                                \
            loop(&tap, 2);                                                                                   \
        else                                                                                                 \
            loop(&tap, stride);                                                                              \
    }
FOR_STRIDES(take_max, max_of)
FOR_STRIDES(take_first_max, first_max_of)
FOR_STRIDES(add_tap, sum_of)

/* One tap, for all outputs of a row whose window has it: in one loop when rows are single channels, else
 * output by output. */
static void walk_tap(const struct pdnn_pool_job *job, struct tap tap, int64_t s,
                     void (*take)(struct tap tap, int64_t stride)) {
    const struct pdnn_pool_window *columns = &job->pool->columns;
    struct pdnn_span q = pdnn_pool_outputs_with(columns, s);
    int64_t width = job->width, count = q.end - q.begin;
    tap.x += (q.begin * columns->stride + s - columns->padding) * width;
    tap.y += q.begin * width;
    tap.index = tap.index ? tap.index + q.begin * width : NULL;
    tap.n = width == 1 ? count : width;
    if (width == 1 && count > 0)
        take(tap, columns->stride);
    for (int64_t i = 0; width > 1 && i < count; i++) {
        take(tap, 1);
        tap.x += columns->stride * width;
        tap.y += width;
        tap.index = tap.index ? tap.index + width : NULL;
    }
}

/* All taps of a row of outputs. */
static void walk_row(const struct pdnn_pool_job *job, int64_t plane, int64_t row,
                     void (*take)(struct tap tap, int64_t stride)) {
    const struct pdnn_pool_window *rows = &job->pool->rows, *columns = &job->pool->columns;
    struct pdnn_span h = pdnn_pool_inputs(rows, row);
    int64_t to = (plane * rows->output + row) * columns->output * job->width;
    struct tap tap = {.y = job->to + to, .index = job->new_index ? job->new_index + to : NULL};
    for (int64_t i = h.begin; i < h.end; i++) {
        tap.x = job->from + (plane * rows->input + i) * columns->input * job->width;
        for (int64_t s = 0; s < columns->kernel; s++) {
            tap.number = (int8_t)((i - row * rows->stride + rows->padding) * columns->kernel + s);
            walk_tap(job, tap, s, take);
        }
    }
}

void PDNN_HERE(pdnn_pool_any_max_forward)(const struct pdnn_pool_job *job, int64_t plane, int64_t row) {
    int64_t n = job->pool->columns.output * job->width, to = (plane * job->pool->rows.output + row) * n;
    for (int64_t i = 0; i < n; i++)
        job->to[to + i] = -INFINITY;
    if (job->new_index)
        memset(job->new_index + to, -1, (size_t)n);
    walk_row(job, plane, row, job->new_index ? take_first_max : take_max);
}

static float sum_of_rows(const float *x, int64_t rows, int64_t pitch, int64_t columns) {
    float sum = 0;
    for (int64_t r = 0; r < rows; r++) {
#pragma omp simd reduction(+ : sum)
        for (int64_t i = 0; i < columns; i++)
            sum += x[r * pitch + i];
    }
    return sum;
}

/* Sums each window separately. Used where windows are larger than rows of outputs, as in global pooling. */
static void sum_windows(const struct pdnn_pool_job *job, int64_t plane, int64_t row, float *y) {
    const struct pdnn_pool_window *rows = &job->pool->rows, *columns = &job->pool->columns;
    struct pdnn_span h = pdnn_pool_inputs(rows, row);
    const float *x = job->from + (plane * rows->input + h.begin) * columns->input;
    for (int64_t q = 0; q < columns->output; q++) {
        struct pdnn_span w = pdnn_pool_inputs(columns, q);
        y[q] = sum_of_rows(x + w.begin, h.end - h.begin, columns->input, w.end - w.begin);
    }
}

void PDNN_HERE(pdnn_pool_any_average_forward)(const struct pdnn_pool_job *job, int64_t plane, int64_t row) {
    const struct pdnn_pool_window *rows = &job->pool->rows, *columns = &job->pool->columns;
    struct pdnn_span h = pdnn_pool_inputs(rows, row);
    int64_t n = columns->output * job->width;
    float *y = job->to + (plane * rows->output + row) * n;
    memset(y, 0, (size_t)n * sizeof *y);
    if (job->width == 1 && columns->output < columns->kernel)
        sum_windows(job, plane, row, y);
    else
        walk_row(job, plane, row, add_tap);
    for (int64_t q = 0; q < columns->output; q++) {
        struct pdnn_span w = pdnn_pool_inputs(columns, q);
        for (int64_t i = 0; i < job->width; i++)
            y[q * job->width + i] /= (float)((h.end - h.begin) * (w.end - w.begin));
    }
}

static float *clear_plane(const struct pdnn_pool_job *job, int64_t plane) {
    int64_t elements = job->pool->rows.input * job->pool->columns.input * job->width;
    float *dx = job->to + plane * elements;
    memset(dx, 0, (size_t)elements * sizeof *dx);
    return dx;
}

void PDNN_HERE(pdnn_pool_any_max_backward)(const struct pdnn_pool_job *job, int64_t plane, int64_t unused) {
    const struct pdnn_pool_window *rows = &job->pool->rows, *columns = &job->pool->columns;
    int64_t offset[TAPS_MAX], from = plane * rows->output * columns->output * job->width;
    float *dx = clear_plane(job, plane);
    (void)unused;
    for (int64_t t = 0; t < rows->kernel * columns->kernel; t++)
        offset[t] = (t / columns->kernel * columns->input + t % columns->kernel) * job->width;
    for (int64_t p = 0; p < rows->output; p++) {
        int64_t line = (p * rows->stride - rows->padding) * columns->input - columns->padding;
        for (int64_t j = 0; j < columns->output * job->width; j++, from++) {
            int64_t q = j / job->width, i = j % job->width;
            dx[(line + q * columns->stride) * job->width + i + offset[job->index[from]]] += job->from[from];
        }
    }
}

/* Adds dy (width) * share to n adjacent pixels. */
static void add_shares(float *dx, const float *dy, float share, int64_t n, int64_t width) {
    if (width == 1) {
        float one = *dy * share;
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            dx[i] += one;
        return;
    }
    for (int64_t i = 0; i < n; i++) {
#pragma omp simd
        for (int64_t k = 0; k < width; k++)
            dx[i * width + k] += dy[k] * share;
    }
}

void PDNN_HERE(pdnn_pool_any_average_backward)(const struct pdnn_pool_job *job, int64_t plane,
                                               int64_t unused) {
    const struct pdnn_pool_window *rows = &job->pool->rows, *columns = &job->pool->columns;
    const float *dy = job->from + plane * rows->output * columns->output * job->width;
    float *dx = clear_plane(job, plane);
    (void)unused;
    for (int64_t out = 0; out < rows->output * columns->output; out++, dy += job->width) {
        struct pdnn_span h = pdnn_pool_inputs(rows, out / columns->output);
        struct pdnn_span w = pdnn_pool_inputs(columns, out % columns->output);
        float share = 1.0F / (float)((h.end - h.begin) * (w.end - w.begin));
        for (int64_t r = h.begin; r < h.end; r++)
            add_shares(dx + (r * columns->input + w.begin) * job->width, dy, share, w.end - w.begin,
                       job->width);
    }
}
