/* The kernels of lamb: norms that do not depend on the number of threads, and the effect
 * of padding and of zero norms. */
#include "tests/cmocka_all.h"
#include "tests/runtime/arrays.h"
#include "tests/runtime/levels.h"
#include "tests/near.h"

#include "runtime/kernels/update/lamb.h"
#include "runtime/kernels/update/optimizer.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 300007, THREADS = 3 };

static float norm_of(const float *x, const float *before, int64_t elements, int64_t threads) {
    float norm = NAN;
    double *scratch = new_doubles(pdnn_norm_scratch(elements));
    const struct pdnn_norm_job job = {x, before, &norm, scratch, elements};
    pdnn_norm_run(&job, threads);
    free_from(scratch);
    return norm;
}

static void test_norm_threads_agree(void **state) {
    (void)state;
    static const int64_t sizes[] = {1, 31, 32, 33, 1023, 1024, 1025, 16384, 70001, LARGE};
    const float before = 3.5F;
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        int64_t elements = sizes[i / 2];
        const float *z = i % 2 ? &before : NULL;
        float *x = new_random(elements, i % 3 ? 1.0F : 1e-12F), first = norm_of(x, z, elements, 1);
        double sum = z ? 3.5 * 3.5 : 0;
        for (int64_t k = 0; k < elements; k++)
            sum += (double)x[k] * (double)x[k];
        assert_near((double)first, sqrt(sum), 4e-7 * sqrt(sum));
        for (int64_t threads = 2; threads <= 5; threads++) {
            float norm = norm_of(x, z, elements, threads);
            assert_memory_equal(&norm, &first, sizeof norm);
        }
        free_from(x);
    }
}

/* Zero weights with zero gradients, as in the padding of a layout, stay zero; other values change. The
 * direction is the same whether or not it overwrites the gradient. */
static void test_lamb_keeps_padding(void **state) {
    (void)state;
    float *w = new_random(LARGE, 1), *g = new_random(LARGE, 2), *u = new_floats(LARGE);
    float *before = new_copy(w, LARGE), *m = new_zeros(LARGE, sizeof *m), *v = new_zeros(LARGE, sizeof *v);
    float power[2] = {1, 1}, norm = 4, w_norm = 2, u_norm = 8;
    for (int64_t i = 0; i < LARGE; i += 2)
        w[i] = g[i] = 0;
    struct pdnn_lamb_direction_job job = {.w = w,
                                          .g = g,
                                          .u = u,
                                          .m = m,
                                          .v = v,
                                          .power = power,
                                          .norm = &norm,
                                          .beta1 = 0.9,
                                          .beta2 = 0.999,
                                          .epsilon = 1e-6,
                                          .decay = 0.01,
                                          .limit = 1,
                                          .elements = LARGE};
    pdnn_lamb_direction_run(&job, THREADS);
    assert_near((double)power[0], 0.9, 1e-7);
    assert_near((double)m[1], 0.1 * (double)g[1] / 4, 1e-7); /* clipped to a norm of 1 */
    memset(m, 0, LARGE * sizeof *m);
    memset(v, 0, LARGE * sizeof *v);
    power[0] = power[1] = 1;
    job.u = g;
    pdnn_lamb_direction_run(&job, 1);
    assert_memory_equal(g, u, LARGE * sizeof *u);
    const struct pdnn_update_job apply = {.rule = PDNN_UPDATE_LAMB_APPLY,
                                          .w = w,
                                          .g = u,
                                          .norm = {&w_norm, &u_norm},
                                          .coef = {0.1},
                                          .elements = LARGE};
    pdnn_update_run(&apply, THREADS);
    for (int64_t i = 0; i < LARGE; i++)
        assert_near((double)w[i], i % 2 ? (double)before[i] - 0.025 * (double)u[i] : 0, 1e-7);
    free_from(w);
}

/* If a norm is 0, the ratio is 1. */
static void test_lamb_apply_without_norm(void **state) {
    (void)state;
    static const float norms[][2] = {{0, 3}, {3, 0}, {0, 0}};
    for (size_t i = 0; i < sizeof norms / sizeof *norms; i++) {
        float w = 1, u = 2;
        const struct pdnn_update_job job = {.rule = PDNN_UPDATE_LAMB_APPLY,
                                            .w = &w,
                                            .g = &u,
                                            .norm = {&norms[i][0], &norms[i][1]},
                                            .coef = {0.25},
                                            .elements = 1};
        pdnn_update_run(&job, 1);
        assert_near((double)w, 0.5, 1e-7);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_norm_threads_agree),
        cmocka_unit_test(test_lamb_keeps_padding),
        cmocka_unit_test(test_lamb_apply_without_norm),
    };
    omp_set_num_threads(THREADS);
    int failed = 0;
    RUN_AT_EVERY_LEVEL(tests, failed);
    return failed;
}
