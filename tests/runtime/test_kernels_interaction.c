/* Products of pairs of vectors against plain loops in double: less than a tile, several, columns that are not
 * whole vectors; pairs or all; f32 and 16 bit; with any number of threads the same bits. */
#include "tests/cmocka_all.h"
#include "tests/runtime/arrays.h"
#include "tests/runtime/levels.h"

#include "runtime/kernels/gemm/interaction.h"

#include <math.h>
#include <omp.h>

enum { THREADS = 3, N = 5 };

static const int64_t sizes[][2] = {{2, 1}, {3, 16}, {6, 5}, {7, 64}, {13, 17}, {27, 128}, {40, 33}, {70, 8}};
enum { SIZES = sizeof sizes / sizeof *sizes };

static int64_t products_of(const struct pdnn_interaction *job) {
    return job->all ? job->k * job->k : job->k * (job->k - 1) / 2;
}

/* Either pass in double, and the sum of what it adds up without signs. */
static void run_plainly(const struct pdnn_interaction *job, const float *x, const float *dy, double *result,
                        double *size) {
    int64_t k = job->k, D = job->D, width = dy ? k * D : products_of(job), pair = 0;
    for (int64_t i = 0; i < N * width; i++)
        result[i] = size[i] = 0;
    for (int64_t n = 0; n < N; n++, x += k * D)
        for (int64_t i = 0; i < k; i++)
            for (int64_t j = 0; j < (job->all ? k : i); j++, pair++)
                for (int64_t d = 0; d < D; d++) {
                    double a = (double)x[i * D + d], b = (double)x[j * D + d], g = dy ? (double)dy[pair] : 0;
                    int64_t of_i = dy ? (n * k + i) * D + d : pair, of_j = (n * k + j) * D + d;
                    result[of_i] += dy ? g * b : a * b;
                    size[of_i] += fabs(dy ? g * b : a * b);
                    result[dy ? of_j : of_i] += g * a;
                    size[dy ? of_j : of_i] += fabs(g * a);
                }
}

/* An array in f32 and, unless the type is f32, as rounded to 16 bit, which then has the values of both. */
static const void *as_type(enum pdnn_half type, float *x, int64_t n) {
    uint16_t *half = new_array(n, sizeof *half);
    if (type == PDNN_HALF_COUNT)
        return x;
    pdnn_half_narrow(type, x, half, n);
    pdnn_half_widen(type, half, x, n);
    return half;
}

static void check_result(enum pdnn_half type, const void *got, const double *expected, const double *size,
                         int64_t n) {
    float *wide = new_floats(n);
    double unit = type == PDNN_HALF_BF16 ? 0x1p-8 : type == PDNN_HALF_F16 ? 0x1p-11 : 0;
    if (type == PDNN_HALF_COUNT)
        memcpy(wide, got, (size_t)n * sizeof *wide);
    else
        pdnn_half_widen(type, got, wide, n);
    for (int64_t i = 0; i < n; i++)
        if (!(fabs((double)wide[i] - expected[i]) <= 1e-6 * size[i] + unit * fabs(expected[i]) + 1e-7))
            fail_msg("%lld: %g, expected %g", (long long)i, (double)wide[i], expected[i]);
}

static void check(int64_t k, int64_t D, bool all, enum pdnn_half type, bool is_backward) {
    struct pdnn_interaction job = {.N = N, .k = k, .D = D, .all = all, .type = type};
    int64_t P = products_of(&job), inputs = N * k * D, n = is_backward ? inputs : N * P;
    size_t bytes = (size_t)n * (type == PDNN_HALF_COUNT ? sizeof(float) : sizeof(uint16_t));
    float *x = new_random(inputs, 2), *dy = new_random(N * P, 2);
    double *expected = new_doubles(n), *size = new_doubles(n);
    void *one = new_array((int64_t)bytes, 1), *several = new_array((int64_t)bytes, 1);
    job.x = as_type(type, x, inputs);
    job.dy = as_type(type, dy, N * P);
    job.scratch = new_floats(pdnn_interaction_scratch(k, D, THREADS));
    run_plainly(&job, x, is_backward ? dy : NULL, expected, size);
    job.y = job.dx = one;
    (is_backward ? pdnn_interaction_backward : pdnn_interaction_forward)(&job, 1);
    check_result(type, one, expected, size, n);
    job.y = job.dx = several;
    job.bypass = true;
    (is_backward ? pdnn_interaction_backward : pdnn_interaction_forward)(&job, THREADS);
    assert_memory_equal(one, several, bytes);
    free_from(x);
}

static void test_interaction(void **state) {
    (void)state;
    for (size_t i = 0; i < SIZES; i++)
        for (int way = 0; way < 4; way++)
            for (enum pdnn_half type = 0; type <= PDNN_HALF_COUNT; type++)
                check(sizes[i][0], sizes[i][1], way & 1, type, way & 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_interaction)};
    int failed = 0;
    omp_set_num_threads(THREADS);
    RUN_AT_EVERY_LEVEL(tests, failed);
    return failed;
}
