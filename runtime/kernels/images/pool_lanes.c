#include "runtime/kernels/images/pool_loops.h"

#include "runtime/kernels/simd/lanes.h"

#include <math.h>
#include <string.h>

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

void PDNN_HERE(pdnn_pool_lanes_max_forward)(const struct pdnn_pool_job *job, int64_t plane, int64_t row) {
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

void PDNN_HERE(pdnn_pool_lanes_average_forward)(const struct pdnn_pool_job *job, int64_t plane, int64_t row) {
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
static float *clear_row(const struct pdnn_pool_job *job, int64_t plane, int64_t row) {
    int64_t n = job->pool->columns.input * job->width;
    float *dx = job->to + (plane * job->pool->rows.input + row) * n;
    memset(dx, 0, (size_t)n * sizeof *dx);
    return dx;
}

/* One tap of n outputs. `step` is the distance between outputs' inputs. */
struct tap {
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

PDNN_INLINE void send_back(const struct tap *tap, int64_t width) {
    float *dx = tap->dx;
    const float *dy = tap->dy;
    const int8_t *index = tap->index;
    for (int64_t i = 0; i < tap->n; i++, dx += tap->step, dy += width, index += width) {
        for (int64_t channel = 0; channel < width; channel += PDNN_LANES)
            add_chosen(dx + channel, dy + channel, index + channel, tap->number);
    }
}

/* Makes the usual width a constant. */
static void send_tap(struct tap tap) {
    if (tap.width == PDNN_LANES)
        send_back(&tap, PDNN_LANES);
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

/* Adds dy * share to n adjacent inputs. */
static void add_shares(float *dx, const float *dy, float share, int64_t n, int64_t width) {
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
