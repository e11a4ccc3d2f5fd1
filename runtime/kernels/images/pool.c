#include "runtime/kernels/images/pool.h"

#include "runtime/kernels/simd/kernel.h"
#include "runtime/kernels/simd/lanes.h"
#include "runtime/kernels/simd/team.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* An image is a set of planes of pixels, each `width` adjacent channels. */
struct job {
    const struct pdnn_pool *pool;
    const float *from;   /* x or dy */
    float *to;           /* y or dx */
    const int8_t *index; /* read, or NULL */
    int8_t *new_index;   /* written, or NULL */
    int64_t planes, width;
};

/* Range of inputs that an output reads. */
static struct pdnn_span read_by(const struct pdnn_pool_window *w, int64_t output) {
    int64_t begin = output * w->stride - w->padding, end = begin + w->kernel;
    return (struct pdnn_span){begin > 0 ? begin : 0, end < w->input ? end : w->input};
}

/* Range of outputs that read an input. */
static struct pdnn_span readers_of(const struct pdnn_pool_window *w, int64_t input) {
    int64_t last = (input + w->padding) / w->stride, before = input + w->padding - w->kernel;
    int64_t begin = before < 0 ? 0 : before / w->stride + 1;
    return (struct pdnn_span){begin, last < w->output ? last + 1 : w->output};
}

/* Range of outputs of a row for which tap s of the window lies inside the image. */
static struct pdnn_span with_tap(const struct pdnn_pool_window *w, int64_t s) {
    int64_t before = w->padding - s, last = w->input - 1 + w->padding - s;
    int64_t begin = before <= 0 ? 0 : (before + w->stride - 1) / w->stride;
    int64_t end = last < 0 ? 0 : last / w->stride + 1;
    return (struct pdnn_span){begin, end < w->output ? end : w->output};
}

/* For widths of whole vectors, one vector of channels at a time: an output stays in registers, a row of dx in
 * L1. */

enum { VECTORS = 4 };

/* Vectors of small integers, stored as bytes. */
#if PDNN_LANES == 16

PDNN_INLINE void load_bytes(pdnn_ints *v, const int8_t *from) {
    *v = (pdnn_ints)_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)from));
}

PDNN_INLINE void store_bytes(int8_t *to, const pdnn_ints *v) {
    _mm_storeu_si128((__m128i *)(void *)to, _mm512_cvtepi32_epi8((__m512i)*v));
}

PDNN_INLINE pdnn_mask_lanes equal(const pdnn_ints *v, int32_t number) {
    return _mm512_cmpeq_epi32_mask((__m512i)*v, _mm512_set1_epi32(number));
}

#elif PDNN_LANES == 8

PDNN_INLINE void load_bytes(pdnn_ints *v, const int8_t *from) {
    *v = (pdnn_ints)_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)from));
}

PDNN_INLINE void store_bytes(int8_t *to, const pdnn_ints *v) {
    const __m128i low = _mm256_castsi256_si128((__m256i)*v), high = _mm256_extracti128_si256((__m256i)*v, 1);
    const __m128i words = _mm_packs_epi32(low, high);
    _mm_storel_epi64((__m128i *)(void *)to, _mm_packs_epi16(words, words));
}

#else

typedef int8_t bytes __attribute__((vector_size(4 * PDNN_LANES)));
typedef int16_t shorts __attribute__((vector_size(4 * PDNN_LANES)));

/* Each byte moves to the top of its lane; the shift extends its sign. */
PDNN_INLINE void load_bytes(pdnn_ints *v, const int8_t *from) {
    pdnn_ints four = {0};
    __builtin_memcpy(&four, from, PDNN_LANES);
    const bytes twice =
        __builtin_shufflevector((bytes)four, (bytes)four, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
    const shorts each = __builtin_shufflevector((shorts)twice, (shorts)twice, 0, 0, 1, 1, 2, 2, 3, 3);
    *v = (pdnn_ints)each >> 24;
}

PDNN_INLINE void store_bytes(int8_t *to, const pdnn_ints *v) {
    const shorts low = __builtin_shufflevector((shorts)*v, (shorts)*v, 0, 2, 4, 6, 0, 2, 4, 6);
    const bytes lowest =
        __builtin_shufflevector((bytes)low, (bytes)low, 0, 2, 4, 6, 8, 10, 12, 14, 0, 2, 4, 6, 8, 10, 12, 14);
    __builtin_memcpy(to, &lowest, PDNN_LANES);
}

#endif

#if PDNN_LANES < 16

PDNN_INLINE pdnn_mask_lanes equal(const pdnn_ints *v, int32_t number) {
    return *v == number;
}

#endif

/* The inputs of one output: their number, the first one, its tap in the window, and the
 * pitch between rows. */
struct inputs {
    int64_t rows, columns, pitch, width;
    const float *first;
    int32_t tap, tap_pitch;
};

static struct inputs inputs_of(const struct job *job, int64_t plane, int64_t p, int64_t q) {
    const struct pdnn_pool_window *rows = &job->pool->rows, *columns = &job->pool->columns;
    struct pdnn_span h = read_by(rows, p), w = read_by(columns, q);
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

/* Tracks NaN apart from the maximum, so that successive taps depend on each other through one max only. */
PDNN_INLINE void max_lanes(const struct inputs *in, int64_t channel, float *y, int8_t *index) {
    pdnn_floats best, x;
    pdnn_ints where = {0}, tap, chosen;
    pdnn_load(&best, in->first + channel);
    pdnn_mask_lanes any_nan = pdnn_is_nan(&best);
    where += in->tap;
    for (int64_t r = 0; r < in->rows; r++) {
        tap = (pdnn_ints){0} + (in->tap + (int32_t)r * in->tap_pitch);
        for (int64_t s = 0; s < in->columns; s++, tap += 1) {
            pdnn_load(&x, in->first + channel + r * in->pitch + s * in->width);
            const pdnn_mask_lanes nan = pdnn_is_nan(&x), above = pdnn_above(&x, &best);
            chosen = tap;
            pdnn_select_ints(&chosen, (pdnn_mask_lanes)((above & ~any_nan) | nan), &where);
            where = chosen;
            any_nan = (pdnn_mask_lanes)(any_nan | nan);
            pdnn_most(&x, &best);
            best = x;
        }
    }
    x = (pdnn_floats){0} + NAN;
    pdnn_select(&x, any_nan, &best);
    pdnn_store(y, &x);
    if (index)
        store_bytes(index, &where);
}

static void lanes_max_forward(const struct job *job, int64_t plane, int64_t row) {
    int64_t Q = job->pool->columns.output, to = (plane * job->pool->rows.output + row) * Q * job->width;
    for (int64_t q = 0; q < Q; q++, to += job->width) {
        const struct inputs in = inputs_of(job, plane, row, q);
        for (int64_t i = 0; i < job->width; i += PDNN_LANES) {
            if (job->new_index)
                max_lanes(&in, i, job->to + to + i, job->new_index + to + i);
            else
                max_lanes(&in, i, job->to + to + i, NULL);
        }
    }
}

/* `vectors` vectors of channels at once: more of them read longer pieces of each pixel. */
PDNN_INLINE void average_lanes(const struct inputs *in, int64_t channel, float *y, int vectors) {
    pdnn_floats sum[VECTORS] = {{0}}, x;
    for (int64_t r = 0; r < in->rows; r++) {
        for (int64_t s = 0; s < in->columns; s++) {
            const float *from = in->first + channel + r * in->pitch + s * in->width;
#pragma GCC unroll 4
            for (int k = 0; k < vectors; k++) {
                pdnn_load(&x, from + k * PDNN_LANES);
                sum[k] += x;
            }
        }
    }
#pragma GCC unroll 4
    for (int k = 0; k < vectors; k++) {
        sum[k] *= 1.0F / (float)(in->rows * in->columns);
        pdnn_store(y + k * PDNN_LANES, &sum[k]);
    }
}

static void lanes_average_forward(const struct job *job, int64_t plane, int64_t row) {
    int64_t Q = job->pool->columns.output, to = (plane * job->pool->rows.output + row) * Q * job->width;
    for (int64_t q = 0; q < Q; q++, to += job->width) {
        const struct inputs in = inputs_of(job, plane, row, q);
        int64_t i = 0;
        for (; i + VECTORS * PDNN_LANES <= job->width; i += VECTORS * PDNN_LANES)
            average_lanes(&in, i, job->to + to + i, VECTORS);
        for (; i < job->width; i += PDNN_LANES)
            average_lanes(&in, i, job->to + to + i, 1);
    }
}

/* A row of dx, zeroed. */
static float *clear_row(const struct job *job, int64_t plane, int64_t row) {
    int64_t n = job->pool->columns.input * job->width;
    float *dx = job->to + (plane * job->pool->rows.input + row) * n;
    memset(dx, 0, (size_t)n * sizeof *dx);
    return dx;
}

/* One tap of n outputs. `step` is the distance between outputs' inputs. */
struct lanes_tap {
    float *dx;
    const float *dy;
    const int8_t *index;
    int64_t n, width, step;
    int32_t number;
};

/* Adds dy to the inputs that were the maximum. */
PDNN_INLINE void add_chosen(float *dx, const float *dy, const int8_t *index, int32_t number) {
    const pdnn_floats zero = {0};
    pdnn_floats sum, v;
    pdnn_ints chosen;
    pdnn_load(&sum, dx);
    pdnn_load(&v, dy);
    load_bytes(&chosen, index);
    pdnn_select(&v, equal(&chosen, number), &zero);
    sum += v;
    pdnn_store(dx, &sum);
}

PDNN_INLINE void send_back(const struct lanes_tap *tap, int64_t width) {
    float *dx = tap->dx;
    const float *dy = tap->dy;
    const int8_t *index = tap->index;
    for (int64_t i = 0; i < tap->n; i++, dx += tap->step, dy += width, index += width) {
        for (int64_t channel = 0; channel < width; channel += PDNN_LANES)
            add_chosen(dx + channel, dy + channel, index + channel, tap->number);
    }
}

/* Makes the usual width a constant. */
static void send_tap(struct lanes_tap tap) {
    if (tap.width == PDNN_LANES)
        send_back(&tap, PDNN_LANES);
    else
        send_back(&tap, tap.width);
}

static void lanes_max_backward(const struct job *job, int64_t plane, int64_t row) {
    const struct pdnn_pool_window *rows = &job->pool->rows, *columns = &job->pool->columns;
    struct pdnn_span p = readers_of(rows, row);
    float *dx = clear_row(job, plane, row);
    struct lanes_tap tap = {.width = job->width, .step = columns->stride * job->width};
    for (; p.begin < p.end; p.begin++) {
        int64_t from = (plane * rows->output + p.begin) * columns->output;
        int64_t first = (row + rows->padding - p.begin * rows->stride) * columns->kernel;
        for (int64_t s = 0; s < columns->kernel; s++) {
            struct pdnn_span q = with_tap(columns, s);
            tap.dx = dx + (q.begin * columns->stride + s - columns->padding) * job->width;
            tap.dy = job->from + (from + q.begin) * job->width;
            tap.index = job->index + (from + q.begin) * job->width;
            tap.n = q.end - q.begin;
            tap.number = (int32_t)(first + s);
            send_tap(tap);
        }
    }
}

/* Adds dy * share to n adjacent inputs. */
static void add_shares_of_lanes(float *dx, const float *dy, float share, int64_t n, int64_t width) {
    pdnn_floats sum, v;
    for (int64_t channel = 0; channel < width; channel += PDNN_LANES) {
        pdnn_load(&v, dy + channel);
        v *= share;
        for (int64_t i = 0; i < n; i++) {
            pdnn_load(&sum, dx + i * width + channel);
            sum += v;
            pdnn_store(dx + i * width + channel, &sum);
        }
    }
}

static void lanes_average_backward(const struct job *job, int64_t plane, int64_t row) {
    const struct pdnn_pool_window *rows = &job->pool->rows, *columns = &job->pool->columns;
    struct pdnn_span p = readers_of(rows, row);
    float *dx = clear_row(job, plane, row);
    for (; p.begin < p.end; p.begin++) {
        struct pdnn_span h = read_by(rows, p.begin);
        const float *dy = job->from + (plane * rows->output + p.begin) * columns->output * job->width;
        for (int64_t q = 0; q < columns->output; q++, dy += job->width) {
            struct pdnn_span w = read_by(columns, q);
            float share = 1.0F / (float)((h.end - h.begin) * (w.end - w.begin));
            add_shares_of_lanes(dx + w.begin * job->width, dy, share, w.end - w.begin, job->width);
        }
    }
}

/* For any width, mainly the plain layout's 1. Forward goes over a row of y tap by tap, which makes
 * neighbouring pixels contiguous; backward scatters each output's gradient into a plane of dx. */

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
static void walk_tap(const struct job *job, struct tap tap, int64_t s,
                     void (*take)(struct tap tap, int64_t stride)) {
    const struct pdnn_pool_window *columns = &job->pool->columns;
    struct pdnn_span q = with_tap(columns, s);
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
static void walk_row(const struct job *job, int64_t plane, int64_t row,
                     void (*take)(struct tap tap, int64_t stride)) {
    const struct pdnn_pool_window *rows = &job->pool->rows, *columns = &job->pool->columns;
    struct pdnn_span h = read_by(rows, row);
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

static void any_max_forward(const struct job *job, int64_t plane, int64_t row) {
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
static void sum_windows(const struct job *job, int64_t plane, int64_t row, float *y) {
    const struct pdnn_pool_window *rows = &job->pool->rows, *columns = &job->pool->columns;
    struct pdnn_span h = read_by(rows, row);
    const float *x = job->from + (plane * rows->input + h.begin) * columns->input;
    for (int64_t q = 0; q < columns->output; q++) {
        struct pdnn_span w = read_by(columns, q);
        y[q] = sum_of_rows(x + w.begin, h.end - h.begin, columns->input, w.end - w.begin);
    }
}

static void any_average_forward(const struct job *job, int64_t plane, int64_t row) {
    const struct pdnn_pool_window *rows = &job->pool->rows, *columns = &job->pool->columns;
    struct pdnn_span h = read_by(rows, row);
    int64_t n = columns->output * job->width;
    float *y = job->to + (plane * rows->output + row) * n;
    memset(y, 0, (size_t)n * sizeof *y);
    if (job->width == 1 && columns->output < columns->kernel)
        sum_windows(job, plane, row, y);
    else
        walk_row(job, plane, row, add_tap);
    for (int64_t q = 0; q < columns->output; q++) {
        struct pdnn_span w = read_by(columns, q);
        for (int64_t i = 0; i < job->width; i++)
            y[q * job->width + i] /= (float)((h.end - h.begin) * (w.end - w.begin));
    }
}

static float *clear_plane(const struct job *job, int64_t plane) {
    int64_t elements = job->pool->rows.input * job->pool->columns.input * job->width;
    float *dx = job->to + plane * elements;
    memset(dx, 0, (size_t)elements * sizeof *dx);
    return dx;
}

static void any_max_backward(const struct job *job, int64_t plane, int64_t unused) {
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

static void any_average_backward(const struct job *job, int64_t plane, int64_t unused) {
    const struct pdnn_pool_window *rows = &job->pool->rows, *columns = &job->pool->columns;
    const float *dy = job->from + plane * rows->output * columns->output * job->width;
    float *dx = clear_plane(job, plane);
    (void)unused;
    for (int64_t out = 0; out < rows->output * columns->output; out++, dy += job->width) {
        struct pdnn_span h = read_by(rows, out / columns->output);
        struct pdnn_span w = read_by(columns, out % columns->output);
        float share = 1.0F / (float)((h.end - h.begin) * (w.end - w.begin));
        for (int64_t r = h.begin; r < h.end; r++)
            add_shares(dx + (r * columns->input + w.begin) * job->width, dy, share, w.end - w.begin,
                       job->width);
    }
}

/* One pass over all planes, by vectors or for any width. */
struct pass {
    void (*lanes)(const struct job *job, int64_t plane, int64_t row);
    void (*any)(const struct job *job, int64_t plane, int64_t row);
    bool is_backward;
};

/* Threads share the pieces of all planes: single rows, or whole planes. */
struct team {
    struct job job;
    void (*piece)(const struct job *job, int64_t plane, int64_t row);
    int64_t pieces; /* per plane */
};

static void team_part(void *work, int64_t index, int64_t parts) {
    const struct team *team = work;
    struct pdnn_span span = pdnn_span_of(team->job.planes * team->pieces, 1, index, parts);
    for (int64_t i = span.begin; i < span.end; i++)
        team->piece(&team->job, i / team->pieces, i % team->pieces);
}

/* Blocks of eight channels at a level with vectors of sixteen. */
static bool is_of_eights(const struct pdnn_pool *pool) {
    return PDNN_LANES == 16 && pool->block % 16 == 8;
}

static void run(const struct pdnn_pool *pool, const struct pass *pass, struct job job, int64_t threads) {
    bool has_lanes = pool->block % PDNN_LANES == 0;
    job.pool = pool;
    job.width = pool->block;
    job.planes = pool->N * ((pool->C + pool->block - 1) / pool->block);
    struct team team = {job, has_lanes ? pass->lanes : pass->any, pool->rows.output};
    if (pass->is_backward)
        team.pieces = has_lanes ? pool->rows.input : 1;
    pdnn_team_run(threads, job.planes * job.width * pool->rows.input * pool->columns.input, team_part, &team);
}

PDNN_KERNEL(pdnn_pool_max_forward,
            (const struct pdnn_pool *pool, const float *x, float *y, int8_t *index, int64_t threads),
            (pool, x, y, index, threads)) {
    static const struct pass pass = {lanes_max_forward, any_max_forward, false};
    if (is_of_eights(pool))
        PDNN_EIGHTS(pdnn_pool_max_forward)(pool, x, y, index, threads);
    else
        run(pool, &pass, (struct job){.from = x, .to = y, .new_index = index}, threads);
}

PDNN_KERNEL(pdnn_pool_max_backward,
            (const struct pdnn_pool *pool, const float *dy, const int8_t *index, float *dx, int64_t threads),
            (pool, dy, index, dx, threads)) {
    static const struct pass pass = {lanes_max_backward, any_max_backward, true};
    if (is_of_eights(pool))
        PDNN_EIGHTS(pdnn_pool_max_backward)(pool, dy, index, dx, threads);
    else
        run(pool, &pass, (struct job){.from = dy, .to = dx, .index = index}, threads);
}

PDNN_KERNEL(pdnn_pool_average_forward,
            (const struct pdnn_pool *pool, const float *x, float *y, int64_t threads),
            (pool, x, y, threads)) {
    static const struct pass pass = {lanes_average_forward, any_average_forward, false};
    if (is_of_eights(pool))
        PDNN_EIGHTS(pdnn_pool_average_forward)(pool, x, y, threads);
    else
        run(pool, &pass, (struct job){.from = x, .to = y}, threads);
}

PDNN_KERNEL(pdnn_pool_average_backward,
            (const struct pdnn_pool *pool, const float *dy, float *dx, int64_t threads),
            (pool, dy, dx, threads)) {
    static const struct pass pass = {lanes_average_backward, any_average_backward, true};
    /* Here a vector of sixteen is slower than two of eight. */
    if (is_of_eights(pool) || (PDNN_LANES == 16 && pool->block == 16))
        PDNN_EIGHTS(pdnn_pool_average_backward)(pool, dy, dx, threads);
    else
        run(pool, &pass, (struct job){.from = dy, .to = dx}, threads);
}
