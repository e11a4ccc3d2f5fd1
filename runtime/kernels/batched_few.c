#include "runtime/kernels/batched_loops.h"
#include "runtime/kernels/lanes.h"

/* Rows of b that are read together: with heads side by side in a row, those of all heads before the next
 * ones, so that memory is read in order. */
enum { LINES = PDNN_LANES8 };

/* One row of one head's result, as far as some lines of b go. */
struct few {
    const float *a, *b;
    float *y;
    int64_t stride; /* of lines */
    int64_t lines;
    int64_t length; /* of a line */
};

/* sum[j] += the products of a with line j, eight by eight. */
PDNN_INLINE void add_products(const struct few *few, const float *b, const int lines, pdnn_floats8 *sum) {
    for (int64_t i = 0; i + PDNN_LANES8 <= few->length; i += PDNN_LANES8) {
        pdnn_floats8 a, line;
        pdnn_load8(&a, few->a + i);
#pragma GCC unroll 8
        for (int j = 0; j < lines; j++) {
            pdnn_load8(&line, b + j * few->stride + i);
            sum[j] += a * line;
        }
    }
}

/* The products that eight at once leave. */
PDNN_INLINE float rest_of(const struct few *few, const float *b) {
    float sum = 0;
    for (int64_t i = few->length / PDNN_LANES8 * PDNN_LANES8; i < few->length; i++)
        sum += few->a[i] * b[i];
    return sum;
}

/* y[t] = a . line t. */
PDNN_CLONES static void dot(const struct few *few) {
    const float *b = few->b;
    int64_t t = 0;
    for (; t + LINES <= few->lines; t += LINES, b += LINES * few->stride) {
        pdnn_floats8 sum[LINES] = {{0}}, part[LINES];
        add_products(few, b, LINES, sum);
        pdnn_transpose8((const float *)sum, LINES, (float *)part, LINES);
        sum[0] = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
        pdnn_store8(few->y + t, &sum[0], false);
    }
    for (; t < few->lines; t++, b += few->stride) {
        pdnn_floats8 sum = {0};
        add_products(few, b, 1, &sum);
        few->y[t] = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
    }
    for (t = 0; few->length % PDNN_LANES8 && t < few->lines; t++)
        few->y[t] += rest_of(few, few->b + t * few->stride);
}

/* y += the sum of a[t] times line t. */
PDNN_INLINE void add_lines(const struct few *few, int64_t t, const int lines) {
    const float *a = few->a + t, *b = few->b + t * few->stride;
    int64_t i = 0;
    for (; i + PDNN_LANES8 <= few->length; i += PDNN_LANES8) {
        pdnn_floats8 sum, line;
        pdnn_load8(&sum, few->y + i);
#pragma GCC unroll 8
        for (int j = 0; j < lines; j++) {
            pdnn_load8(&line, b + j * few->stride + i);
            sum += a[j] * line;
        }
        pdnn_store8(few->y + i, &sum, false);
    }
    for (; i < few->length; i++) {
        for (int j = 0; j < lines; j++)
            few->y[i] += a[j] * b[j * few->stride + i];
    }
}

PDNN_CLONES static void combine(const struct few *few) {
    int64_t t = 0;
    for (; t + LINES <= few->lines; t += LINES)
        add_lines(few, t, LINES);
    for (; t < few->lines; t++)
        add_lines(few, t, 1);
}

/* Lines [lines) of b for all rows of one head. b (N, K) transposed gives as many columns of the result, b (K,
 * N) adds as many terms to all of them. */
static void run_lines(const struct pdnn_batched_job *job, int64_t sequence, int64_t head,
                      struct pdnn_span lines) {
    const struct pdnn_batched_place *place = &job->b_place;
    struct few few = {.a = job->a + pdnn_batched_at(&job->a_place, sequence, head),
                      .b = job->b + pdnn_batched_at(place, sequence, head) + lines.begin * place->row_stride,
                      .y = job->y + pdnn_batched_at(&job->y_place, sequence, head),
                      .stride = place->row_stride,
                      .lines = lines.end - lines.begin,
                      .length = place->transposed ? job->K : job->N};
    if (place->transposed)
        few.y += lines.begin;
    else
        few.a += lines.begin;
    for (int64_t m = 0; m < job->M; m++, few.a += job->a_place.row_stride, few.y += job->y_place.row_stride) {
        for (int64_t n = 0; !place->transposed && lines.begin == 0 && n < job->N; n++)
            few.y[n] = 0;
        if (place->transposed)
            dot(&few);
        else
            combine(&few);
    }
}

void pdnn_batched_few(const struct pdnn_batched_job *job, int64_t sequence, struct pdnn_span heads) {
    const struct pdnn_batched_place *place = &job->b_place;
    int64_t all = place->transposed ? job->N : job->K;
    int64_t at_once = place->head_stride < place->row_stride ? LINES : all;
    for (int64_t t = 0; t < all; t += at_once) {
        struct pdnn_span lines = {t, t + at_once < all ? t + at_once : all};
        for (int64_t head = heads.begin; head < heads.end; head++)
            run_lines(job, sequence, head, lines);
    }
}
