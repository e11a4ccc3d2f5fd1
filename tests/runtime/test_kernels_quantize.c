/* Kernels between f32 and int8 against naive loops in double: every layout, odd sizes, several threads. */
#include "tests/cmocka_all.h"
#include "tests/runtime/arrays.h"
#include "tests/runtime/levels.h"
#include "tests/near.h"

#include "runtime/kernels/rows/quantize.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

enum { THREADS = 3 };

/* Rounding may differ only if the value is halfway between two integers. */
static void check_values(const float *x, const int8_t *q, double scale, const struct pdnn_quantize_job *job) {
    for (int64_t i = 0; i < job->elements; i++) {
        double exact = (double)x[i] / scale, got = (int8_t)(q[i] - job->zero_point);
        if (fabs(got - exact) > 0.5 + 1e-4)
            fail_msg("element %d: %g became %g", (int)i, exact, got);
    }
}

static void test_quantize_by_hand(void **state) {
    (void)state;
    static const int64_t sizes[] = {1, 31, 1024, 70001};
    static const struct {
        float factor, shift;
        int32_t zero_point;
    } rows[] = {{3, 0, 0}, {3, 0, 128}, {1e-6F, 0, 128}, {0.5F, 0.5F, 0}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes * (sizeof rows / sizeof *rows); k++) {
        int64_t n = sizes[k % 4];
        float *x = new_floats(n), scale = -1;
        int32_t *scratch = new_array(pdnn_quantize_scratch(THREADS), sizeof *scratch);
        int8_t *q = new_array(n, 1);
        double most = 0;
        for (int64_t i = 0; i < n; i++) {
            x[i] = random_float() * rows[k / 4].factor + rows[k / 4].shift;
            most = fmax(most, fabs((double)x[i]));
        }
        const struct pdnn_quantize_job job = {x, q, &scale, scratch, n, rows[k / 4].zero_point};
        pdnn_quantize_run(&job, THREADS);
        assert_near(scale, most / 127, 1e-6 * most);
        check_values(x, q, scale, &job);
        free_from(x);
    }
}

/* If all values are zero, the scale is 1, so that dividing by it still gives a number. */
static void test_quantize_zeros(void **state) {
    (void)state;
    const float x[3] = {0, -0.0F, 0};
    float scale;
    int32_t *scratch = new_array(pdnn_quantize_scratch(1), sizeof *scratch);
    int8_t q[3] = {1, 1, 1};
    pdnn_quantize_run(&(struct pdnn_quantize_job){x, q, &scale, scratch, 3, 0}, 1);
    assert_true(scale == 1 && !q[0] && !q[1] && !q[2]);
    free_from(scratch);
}

/* The offset of element i of (N, C, pixels). */
static int64_t place(const struct pdnn_channels *s, int64_t i) {
    int64_t pixel = i % s->pixels, c = i / s->pixels % s->C, n = i / s->pixels / s->C;
    return ((n * pdnn_channels_padded(s) + c / s->block * s->block) * s->pixels + pixel * s->block) +
           c % s->block;
}

static void test_dequantize_layouts(void **state) {
    (void)state;
    static const struct pdnn_channels shapes[] = {
        {1, 1, 1, 1, PDNN_STORED_F32},      {2, 5, 7, 1, PDNN_STORED_F32},
        {2, 5, 7, 5, PDNN_STORED_F32},      {3, 13, 4, 8, PDNN_STORED_F32},
        {1, 300, 1, 1, PDNN_STORED_F32},    {65, 300, 1, 300, PDNN_STORED_F32},
        {3, 24, 1000, 24, PDNN_STORED_F32}, {3, 24, 1000, 1, PDNN_STORED_F32},
    };
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        const struct pdnn_channels *s = &shapes[k];
        int64_t elements = pdnn_channels_elements(s), padded = pdnn_channels_padded(s);
        int32_t *x = new_zeros(elements, sizeof *x);
        float *y = new_floats(elements), *w = new_random(s->C, 1), *factor = new_floats(padded),
              x_scale = 0.375F;
        for (int64_t i = 0; i < s->N * s->C * s->pixels; i++)
            x[place(s, i)] = (int32_t)(random_float() * 1e6F);
        pdnn_dequantize_run(&(struct pdnn_dequantize_job){*s, x, &x_scale, w, y, factor}, THREADS);
        for (int64_t i = 0; i < s->N * s->C * s->pixels; i++) {
            double exact = (double)x[place(s, i)] * (double)x_scale * (double)w[i / s->pixels % s->C];
            assert_near(y[place(s, i)], exact, 1e-6 * fabs(exact));
        }
        for (int64_t i = 0; s->block == 8 && i < s->N * s->pixels; i++)
            assert_true(y[(i / s->pixels * padded + 8) * s->pixels + i % s->pixels * 8 + 7] == 0);
        free_from(x);
    }
}

/* A NaN must not vanish on the way: the scale becomes NaN, and with it every product. */
static void test_quantize_not_a_number(void **state) {
    (void)state;
    const float x[3] = {1, NAN, -INFINITY};
    float scale;
    int32_t *scratch = new_array(pdnn_quantize_scratch(1), sizeof *scratch);
    int8_t q[3];
    pdnn_quantize_run(&(struct pdnn_quantize_job){x, q, &scale, scratch, 3, 0}, 1);
    assert_true(isnan(scale));
    free_from(scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantize_by_hand),
        cmocka_unit_test(test_quantize_zeros),
        cmocka_unit_test(test_quantize_not_a_number),
        cmocka_unit_test(test_dequantize_layouts),
    };
    omp_set_num_threads(THREADS);
    int failed = 0;
    RUN_AT_EVERY_LEVEL(tests, failed);
    return failed;
}
