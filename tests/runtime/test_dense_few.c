/* A dense layer for a small batch against a naive one in double: sizes that cut vectors, lines
 * and streams, every supported number of rows, with and without bias and functions; the same
 * bits with any number of threads. */
#include "tests/cmocka_all.h"
#include "tests/runtime/arrays.h"
#include "tests/runtime/levels.h"

#include "base/half.h"
#include "runtime/kernels/gemm/dense_few.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 3, GUARD = 8 };

static const float guard = -77;

struct expected {
    double value, magnitude; /* of the summed terms */
};

/* What the kernel reads: 16-bit values are exact in f32. */
static float stored(const float *f32, const uint16_t *half, const struct pdnn_dense_few_job *job, int64_t i) {
    return !job->is_half                 ? f32[i]
           : job->half == PDNN_HALF_BF16 ? pdnn_bf16_value(half[i])
                                         : pdnn_f16_value(half[i]);
}

static struct expected expected_at(const struct pdnn_dense_few_job *job, int64_t n, int64_t o) {
    struct expected e = {job->b ? (double)job->b[o] : 0, 1};
    for (int64_t i = 0; i < job->I; i++) {
        double term = (double)stored(job->x, job->half_x, job, n * job->I + i) *
                      (double)stored(job->w, job->half_w, job, o * job->I + i);
        e.value += term;
        e.magnitude += fabs(term);
    }
    for (int i = 0; i < job->n_functions; i++)
        e.value =
            job->function[i].function == PDNN_TANH_FORWARD ? tanh(e.value) : fmin(fmax(e.value, -0.25), 0.5);
    return e;
}

static void check(struct pdnn_dense_few_job *job) {
    int64_t count = job->N * job->O;
    float *y = new_floats(count + GUARD), *again = new_floats(count);
    for (int64_t i = 0; i < GUARD; i++)
        y[count + i] = guard;
    job->y = again;
    pdnn_dense_few_run(job, 1);
    job->y = y;
    pdnn_dense_few_run(job, THREADS);
    for (int64_t i = 0; i < count; i++) {
        struct expected e = expected_at(job, i / job->O, i % job->O);
        if (!(fabs((double)y[i] - e.value) <= 1e-6 * e.magnitude))
            fail_msg("N=%d I=%d O=%d, %d functions: (%d, %d) is %g instead of %g", (int)job->N, (int)job->I,
                     (int)job->O, job->n_functions, (int)(i / job->O), (int)(i % job->O), (double)y[i],
                     e.value);
    }
    for (int64_t i = 0; i < GUARD; i++)
        assert_true(y[count + i] == guard);
    assert_memory_equal(y, again, (size_t)count * sizeof *y);
    free_from(y);
}

static void test_dense_few_run_any_shape(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {{1, 1},   {7, 3},    {8, 16},   {16, 17},  {15, 64},   {33, 50},
                                       {64, 65}, {100, 31}, {768, 48}, {257, 99}, {129, 300}, {40, 1000}};
    omp_set_num_threads(THREADS);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int64_t I = sizes[s][0], O = sizes[s][1];
        float *x = new_random(PDNN_DENSE_FEW_ROWS * I, 1), *w = new_random(O * I, 1), *b = new_random(O, 1);
        for (int64_t N = 1; N <= PDNN_DENSE_FEW_ROWS; N++) {
            for (int n_functions = 0; n_functions <= 2; n_functions++) {
                struct pdnn_dense_few_job job = {
                    .N = N,
                    .I = I,
                    .O = O,
                    .x = x,
                    .w = w,
                    .b = n_functions ? b : NULL,
                    .function = {{PDNN_TANH_FORWARD, {0}}, {PDNN_HARDTANH_FORWARD, {-0.25F, 0.5F}}},
                    .n_functions = n_functions};
                check(&job);
            }
        }
        free_from(x);
    }
}

/* One unit in the last place of the result comes on top. */
static void check_half(struct pdnn_dense_few_job *job, double ulp) {
    int64_t count = job->N * job->O;
    uint16_t *y = new_array(count + GUARD, sizeof *y), *again = new_array(count, sizeof *again);
    job->room = new_floats(job->N * (job->I + job->O));
    memset(y + count, 0x55, GUARD * sizeof *y);
    job->half_y = again;
    pdnn_dense_few_run(job, 1);
    job->half_y = y;
    pdnn_dense_few_run(job, THREADS);
    for (int64_t i = 0; i < count; i++) {
        struct expected e = expected_at(job, i / job->O, i % job->O);
        double value = (double)stored(NULL, y, job, i);
        if (!(fabs(value - e.value) <= 1e-6 * e.magnitude + ulp * fabs(e.value) + 1e-7))
            fail_msg("N=%d I=%d O=%d in 16 bit: %d is %g instead of %g", (int)job->N, (int)job->I,
                     (int)job->O, (int)i, value, e.value);
    }
    for (int64_t i = 0; i < GUARD; i++)
        assert_int_equal(y[count + i], 0x5555);
    assert_memory_equal(y, again, (size_t)count * sizeof *y);
    free_from(y);
}

static void test_dense_few_run_half(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {{1, 1}, {7, 3}, {16, 17}, {33, 50}, {100, 31}, {257, 99}, {40, 1000}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (enum pdnn_half half = 0; half < PDNN_HALF_COUNT; half++) {
            int64_t I = sizes[s][0], O = sizes[s][1];
            float *x = new_random(PDNN_DENSE_FEW_ROWS * I, 1), *w = new_random(O * I, 1);
            uint16_t *half_x = new_array(PDNN_DENSE_FEW_ROWS * I, sizeof *half_x);
            uint16_t *half_w = new_array(O * I, sizeof *half_w);
            pdnn_half_narrow(half, x, half_x, PDNN_DENSE_FEW_ROWS * I);
            pdnn_half_narrow(half, w, half_w, O * I);
            for (int64_t N = 1; N <= PDNN_DENSE_FEW_ROWS; N++) {
                struct pdnn_dense_few_job job = {
                    .N = N,
                    .I = I,
                    .O = O,
                    .is_half = true,
                    .half = half,
                    .half_x = half_x,
                    .half_w = half_w,
                    .function = {{PDNN_HARDTANH_FORWARD, {-0.25F, 0.5F}}},
                    .n_functions = N == 2,
                };
                check_half(&job, half == PDNN_HALF_BF16 ? 0x1p-8 : 0x1p-11);
            }
            free_from(x);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dense_few_run_any_shape),
        cmocka_unit_test(test_dense_few_run_half),
    };
    int failed = 0;
    RUN_AT_EVERY_LEVEL(tests, failed);
    return failed;
}
