/* Products of many matrices against naive ones in double: heads side by side in wider rows and matrices one
 * after the other, all transposes, sizes that cut tiles, panels and blocks, few rows, one matrix on several
 * threads. What lies between the heads of a result is left alone. */
#include "tests/cmocka_all.h"
#include "tests/runtime/arrays.h"
#include "tests/runtime/levels.h"

#include "base/half.h"
#include "runtime/kernels/gemm/batched.h"
#include "runtime/kernels/gemm/batched_few.h"
#include "runtime/kernels/gemm/batched_half.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Heads side by side start BEFORE columns into a row, with as many columns after them. */
enum { THREADS = 3, BEFORE = 3, SIDES = 2 * BEFORE };

/* Matrices (rows, columns) as they are stored. */
struct matrices {
    int64_t rows, columns;
    bool is_plain;
    struct pdnn_batched_place place;
    int64_t elements;
    float *array, *first;
};

static struct matrices new_matrices(const int64_t *dims, int64_t rows, int64_t columns, bool is_plain,
                                    bool transposed) {
    int64_t B = dims[0], h = dims[1];
    struct matrices m = {
        .rows = transposed ? columns : rows, .columns = transposed ? rows : columns, .is_plain = is_plain};
    int64_t ld = is_plain ? m.columns : h * m.columns + SIDES;
    m.place = (struct pdnn_batched_place){.sequence_stride = is_plain ? h * m.rows * m.columns : m.rows * ld,
                                          .head_stride = is_plain ? m.rows * m.columns : m.columns,
                                          .row_stride = ld,
                                          .transposed = transposed};
    m.elements = B * m.place.sequence_stride;
    m.array = new_random(m.elements, 1);
    m.first = m.array + (is_plain ? 0 : BEFORE);
    return m;
}

static int64_t offset_of(const struct pdnn_batched_place *p, int64_t b, int64_t i) {
    return b * p->sequence_stride + i * p->head_stride;
}

static double element(const float *x, const struct pdnn_batched_place *p, int64_t r, int64_t c) {
    return (double)(p->transposed ? x[c * p->row_stride + r] : x[r * p->row_stride + c]);
}

static void check_head(const struct pdnn_batched_job *job, int64_t b, int64_t i) {
    const float *x = job->a + offset_of(&job->a_place, b, i), *z = job->b + offset_of(&job->b_place, b, i);
    float *y = job->y + offset_of(&job->y_place, b, i);
    for (int64_t at = 0; at < job->M * job->N; at++) {
        int64_t m = at / job->N, n = at % job->N;
        double sum = 0, magnitude = 1;
        for (int64_t k = 0; k < job->K; k++) {
            double term = element(x, &job->a_place, m, k) * element(z, &job->b_place, k, n);
            sum += term;
            magnitude += fabs(term);
        }
        float *got = y + m * job->y_place.row_stride + n;
        if (!(fabs((double)*got - sum) <= 1e-6 * magnitude))
            fail_msg("B=%d h=%d M=%d N=%d K=%d a%s b%s: (%d, %d) of head %d, %d is %g instead of %g",
                     (int)job->B, (int)job->h, (int)job->M, (int)job->N, (int)job->K,
                     job->a_place.transposed ? "^T" : "", job->b_place.transposed ? "^T" : "", (int)m, (int)n,
                     (int)b, (int)i, (double)*got, sum);
        *got = 7;
    }
}

static void run_few(const struct pdnn_batched_job *job) {
    struct pdnn_batched_few_job few = {.product = *job, .a = job->a, .b = job->b, .y = job->y};
    few.scratch = new_floats(pdnn_batched_few_scratch(&few, THREADS));
    pdnn_batched_few_run(&few, THREADS);
}

/* dims: B, h, M, N, K. */
static void check_product(const int64_t *dims, int bits) {
    int64_t M = dims[2], N = dims[3], K = dims[4];
    struct matrices a = new_matrices(dims, M, K, bits & 1, bits & 2);
    struct matrices b = new_matrices(dims, K, N, bits & 4, bits & 8);
    struct matrices y = new_matrices(dims, M, N, bits & 16, false);
    struct pdnn_batched_job job = {.B = dims[0], .h = dims[1], .M = M, .N = N, .K = K};
    job.a_place = a.place;
    job.b_place = b.place;
    job.y_place = y.place;
    job.a = a.first;
    job.b = b.first;
    job.y = y.first;
    job.scratch = new_floats(pdnn_batched_scratch_floats(THREADS));
    for (int64_t i = 0; i < y.elements; i++)
        y.array[i] = 7;
    pdnn_batched_run(&job, THREADS);
    for (int64_t i = 0; i < dims[0] * dims[1]; i++)
        check_head(&job, i / dims[1], i % dims[1]);
    if (pdnn_batched_is_few(&job)) {
        run_few(&job);
        for (int64_t i = 0; i < dims[0] * dims[1]; i++)
            check_head(&job, i / dims[1], i % dims[1]);
    }
    for (int64_t i = 0; i < y.elements; i++)
        assert_true(y.array[i] == 7);
    free_from(a.array);
}

static void test_batched_run_any_shape(void **state) {
    (void)state;
    static const int64_t shapes[][5] = {
        {1, 1, 1, 1, 1},     {2, 3, 1, 17, 64},   {1, 12, 1, 40, 64},  {2, 2, 3, 9, 13},
        {3, 1, 1, 64, 100},  {2, 2, 7, 33, 5},    {1, 4, 50, 31, 64},  {1, 1, 150, 65, 8},
        {2, 2, 100, 20, 40}, {1, 1, 49, 16, 300}, {1, 1, 1, 70, 300},  {1, 2, 13, 300, 257},
        {1, 1, 5, 1100, 60}, {1, 12, 1, 521, 64}, {2, 5, 3, 100, 100}, {7, 3, 1, 120, 110},
    };
    omp_set_num_threads(THREADS);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (int bits = 0; bits < 32; bits++)
            check_product(shapes[i], bits);
    }
}

static double half_value(enum pdnn_half type, uint16_t bits) {
    return (double)(type == PDNN_HALF_F16 ? pdnn_f16_value(bits) : pdnn_bf16_value(bits));
}

/* A new token's product with matrices that `shared` heads have in common: keys (N, K) or values (K, N), side
 * by side in rows or one after the other. */
struct token {
    int64_t B, h, M, N, K, shared;
    bool transposed, is_plain;
};

static struct pdnn_batched_job token_job(const struct token *t) {
    int64_t g = t->h / t->shared, rows = t->transposed ? t->N : t->K, columns = t->transposed ? t->K : t->N;
    struct pdnn_batched_job job = {.B = t->B, .h = t->h, .M = t->M, .N = t->N, .K = t->K};
    job.a_place = (struct pdnn_batched_place){t->M * t->h * t->K, t->K, t->h * t->K, false, 0};
    job.b_place = (struct pdnn_batched_place){g * rows * columns, t->is_plain ? rows * columns : columns,
                                              t->is_plain ? columns : g * columns, t->transposed,
                                              t->shared > 1 ? t->shared : 0};
    job.y_place = (struct pdnn_batched_place){t->M * t->h * t->N, t->N, t->h * t->N, false, 0};
    return job;
}

/* Terms are exact in f32; a unit in the last place of the result comes on top in 16 bit. */
static void check_token(const struct token *t, const struct pdnn_batched_job *job, double *y, double ulp) {
    for (int64_t i = 0; i < t->B * t->h * t->M * t->N; i++) {
        int64_t n = i % t->N, m = i / t->N % t->M, head = i / (t->N * t->M) % t->h,
                b = i / (t->N * t->M * t->h);
        const float *x = job->a + pdnn_batched_at(&job->a_place, b, head);
        const float *z = job->b + pdnn_batched_at(&job->b_place, b, head);
        double sum = 0, magnitude = 1;
        double got = y[pdnn_batched_at(&job->y_place, b, head) + m * job->y_place.row_stride + n];
        for (int64_t k = 0; k < t->K; k++) {
            double term = element(x, &job->a_place, m, k) * element(z, &job->b_place, k, n);
            sum += term;
            magnitude += fabs(term);
        }
        if (!(fabs(got - sum) <= 1e-6 * magnitude + ulp * fabs(sum)))
            fail_msg("B=%d h=%d M=%d N=%d K=%d shared=%d b%s: (%d, %d) of head %d, %d is %g instead of %g",
                     (int)t->B, (int)t->h, (int)t->M, (int)t->N, (int)t->K, (int)t->shared,
                     t->transposed ? "^T" : "", (int)m, (int)n, (int)b, (int)head, got, sum);
    }
}

static void run_token(const struct token *t) {
    struct pdnn_batched_job job = token_job(t);
    int64_t as = t->B * t->h * t->M * t->K, bs = t->B * t->h / t->shared * t->N * t->K,
            ys = t->B * t->h * t->M * t->N;
    float *a = new_random(as, 1), *b = new_random(bs, 1), *y = new_floats(ys);
    double *got = new_array(ys, sizeof *got);
    uint16_t *half[3] = {new_array(as, 2), new_array(bs, 2), new_array(ys, 2)};
    for (int type = 0; type < 2 * PDNN_HALF_COUNT; type++) {
        const enum pdnn_half in = (enum pdnn_half)(type / 2);
        struct pdnn_batched_few_job few = {
            .product = job, .is_half = true, .half = in, .a = half[0], .b = half[1], .y = half[2]};
        struct pdnn_batched_half_job whole = {
            .product = job, .type = in, .a = half[0], .b = half[1], .y = half[2]};
        few.scratch = new_floats(pdnn_batched_few_scratch(&few, THREADS));
        whole.scratch = new_floats(pdnn_batched_half_scratch(&job, THREADS));
        pdnn_half_narrow(in, a, half[0], as);
        pdnn_half_narrow(in, b, half[1], bs);
        pdnn_half_widen(in, half[0], a, as);
        pdnn_half_widen(in, half[1], b, bs);
        job.a = a;
        job.b = b;
        memset(half[2], 0x55, (size_t)ys * sizeof *half[2]);
        if (type % 2)
            pdnn_batched_half_run(&whole, THREADS);
        else
            pdnn_batched_few_run(&few, THREADS);
        for (int64_t i = 0; i < ys; i++)
            got[i] = half_value(in, half[2][i]);
        check_token(t, &job, got, in == PDNN_HALF_BF16 ? 0x1p-8 : 0x1p-10);
    }
    job.y = y;
    run_few(&job);
    for (int64_t i = 0; i < ys; i++)
        got[i] = (double)y[i];
    check_token(t, &job, got, 0);
    free_from(a);
}

static void test_batched_run_shared_heads_of_a_token(void **state) {
    (void)state;
    static const int64_t shapes[][6] = {
        /* B, h, M, N, K, shared */
        {1, 1, 1, 1, 1, 1},     {1, 8, 1, 17, 64, 4},  {2, 6, 1, 33, 20, 3}, {1, 32, 1, 130, 64, 32},
        {3, 4, 2, 70, 16, 2},   {2, 6, 3, 40, 37, 6},  {1, 4, 1, 600, 8, 1}, {5, 10, 1, 16, 48, 5},
        {1, 64, 3, 300, 24, 8}, {1, 5, 1, 520, 40, 5},
    };
    omp_set_num_threads(THREADS);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (int bits = 0; bits < 4; bits++) {
            const int64_t *s = shapes[i];
            bool values = bits & 1;
            run_token(&(struct token){s[0], s[1], s[2], values ? s[4] : s[3], values ? s[3] : s[4], s[5],
                                      !values, bits & 2});
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batched_run_any_shape),
        cmocka_unit_test(test_batched_run_shared_heads_of_a_token),
    };
    int failed = 0;
    RUN_AT_EVERY_LEVEL(tests, failed);
    return failed;
}
