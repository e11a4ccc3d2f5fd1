/* Products of many matrices against naive ones in double: heads side by side in wider rows and matrices one
 * after the other, all transposes, sizes that cut tiles, panels and blocks, few rows, one matrix on several
 * threads. What lies between the heads of a result is left alone. */
#include "tests/cmocka_all.h"
#include "tests/runtime/arrays.h"
#include "tests/runtime/levels.h"

#include "runtime/kernels/gemm/batched.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batched_run_any_shape),
    };
    int failed = 0;
    RUN_AT_EVERY_LEVEL(tests, failed);
    return failed;
}
