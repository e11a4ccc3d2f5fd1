/* Packed products against naive ones in double: rows, columns and depths that
 * cut tiles, panels and blocks. */
#include "tests/cmocka_all.h"
#include "tests/runtime/arrays.h"
#include "tests/runtime/levels.h"

#include "runtime/kernels/gemm/rnn_product.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

/* N rows, K length of the sums, C columns. The rows of a and c are followed by APART unused elements. */
enum { THREADS = 3, APART = 5 };

static void check_element(const struct pdnn_rnn_product_job *job, const float *b, bool transposed, int64_t n,
                          int64_t i) {
    double sum = job->accumulate ? -1 : 0, magnitude = 1;
    for (int64_t k = 0; k < job->K; k++) {
        double term = (double)job->a[n * job->a_stride + k] *
                      (double)(transposed ? b[i * job->K + k] : b[k * job->C + i]);
        sum += term;
        magnitude += fabs(term);
    }
    double error = fabs((double)job->c[n * job->c_stride + i] - sum);
    if (!(error <= 1e-6 * magnitude))
        fail_msg("N=%d K=%d C=%d: (%d, %d) differs by %g", (int)job->N, (int)job->K, (int)job->C, (int)n,
                 (int)i, error);
}

static void check_product(const int64_t *dims, bool transposed, bool accumulate) {
    int64_t N = dims[0], K = dims[1], C = dims[2];
    float *a = new_random(N * (K + APART), 1), *b = new_random(K * C, 1), *c = new_floats(N * (C + APART));
    float *packed = new_floats(pdnn_rnn_packed_floats(K, C));
    const struct pdnn_rnn_product_job job = {.N = N,
                                             .K = K,
                                             .C = C,
                                             .a = a,
                                             .packed = packed,
                                             .c = c,
                                             .a_stride = K + APART,
                                             .c_stride = C + APART,
                                             .accumulate = accumulate};
    for (int64_t i = 0; i < N * (C + APART); i++)
        c[i] = -1;
    pdnn_rnn_pack(b, K, C, transposed, packed, THREADS);
    pdnn_rnn_product_run(&job, THREADS);
    for (int64_t n = 0; n < N; n++) {
        for (int64_t i = 0; i < C; i++)
            check_element(&job, b, transposed, n, i);
        for (int64_t i = C; i < C + APART; i++)
            assert_true(c[n * (C + APART) + i] == -1);
    }
    free_from(a);
}

static void test_product_run_any_shape(void **state) {
    (void)state;
    static const int64_t shapes[][3] = {{1, 1, 1},     {1, 257, 33},  {2, 7, 16},     {3, 64, 31},
                                        {4, 256, 200}, {5, 300, 129}, {6, 511, 65},   {7, 5, 1000},
                                        {13, 33, 48},  {193, 40, 37}, {400, 260, 100}};
    omp_set_num_threads(THREADS);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (int way = 0; way < 4; way++)
            check_product(shapes[i], way & 1, way & 2);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_product_run_any_shape),
    };
    int failed = 0;
    RUN_AT_EVERY_LEVEL(tests, failed);
    return failed;
}
