/* Sums of many equal terms, whose rounding must not grow with their number. One running sum in f32 is off by
 * up to some thousandths at these lengths. */
#include "runtime/kernels/rows/bias.h"
#include "runtime/kernels/rows/element_loss.h"
#include "runtime/kernels/rows/loss.h"
#include "runtime/kernels/rows/softmax.h"
#include "runtime/kernels/sequence/embedding.h"
#include "tests/cmocka_all.h"
#include "tests/runtime/arrays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 1 << 19, CLASSES = 3 << 20, THREADS = 2 };

static const float term = 0.1F;
static const double tolerance = 1e-5;

static float *new_terms(int64_t count) {
    float *x = new_floats(count);
    for (int64_t i = 0; i < count; i++)
        x[i] = term;
    return x;
}

static void check(double got, double expected) {
    if (!(fabs(got / expected - 1) <= tolerance))
        fail_msg("%.9g, expected %.9g", got, expected);
}

static void test_gradient_of_a_table(void **state) {
    enum { WORDS = 2, E = 3 };
    struct pdnn_embedding job = {.R = ROWS, .V = WORDS, .E = E};
    int32_t *ids = new_array(ROWS, sizeof *ids);
    float *dy = new_terms((int64_t)ROWS * E);
    (void)state;
    for (int64_t i = 0; i < ROWS; i++)
        ids[i] = (int32_t)(i % WORDS);
    job.ids = ids;
    job.from = dy;
    job.to = new_floats(WORDS * E);
    job.scratch = new_array(pdnn_embedding_scratch(job.R, job.V), sizeof *job.scratch);
    pdnn_embedding_backward(&job, THREADS);
    for (int i = 0; i < WORDS * E; i++)
        check((double)job.to[i], (double)ROWS / WORDS * (double)term);
    free_from(ids);
}

static void test_gradient_of_a_bias(void **state) {
    enum { C = 5 };
    float *dy = new_terms((int64_t)ROWS * C), sums[C];
    float *scratch = new_floats(pdnn_column_sums_scratch(ROWS, C, THREADS));
    (void)state;
    pdnn_column_sums(
        &(struct pdnn_column_sums){.N = ROWS, .C = C, .dy = dy, .sums = sums, .scratch = scratch}, THREADS);
    for (int i = 0; i < C; i++)
        check((double)sums[i], (double)ROWS * (double)term);
    free_from(dy);
}

/* Equal logits: each class has the same probability. */
static void test_loss_over_many_classes(void **state) {
    int32_t label = 7;
    float loss;
    double partial[PDNN_LOSS_STRIDE * THREADS];
    float *x = new_terms(CLASSES);
    struct pdnn_loss_job job = {
        .x = x, .label = &label, .y = x, .loss = &loss, .partial = partial, .N = 1, .C = CLASSES, .scale = 1};
    (void)state;
    /* Beside one logit that is largest, every other one adds a fraction. */
    x[0] = 1;
    double each = exp((double)term - 1), sum = 1 + (CLASSES - 1) * each;
    pdnn_loss_forward(&job, THREADS);
    check((double)loss, log(sum) + 1 - (double)term);
    check((double)x[0], 1 / sum);
    check((double)x[CLASSES - 1], each / sum);
    free_from(x);
}

/* The mean of equal losses is one of them. */
static void test_loss_over_many_elements(void **state) {
    float loss, *x = new_terms((int64_t)ROWS), *zeros = new_zeros(ROWS, sizeof *zeros);
    double partial[PDNN_LOSS_STRIDE * THREADS], t = (double)term;
    const double expected[] = {
        [PDNN_LOGISTIC_LOSS] = log1p(exp(t)), [PDNN_SQUARED_ERROR] = t * t, [PDNN_SMOOTH_L1] = t * t / 2};
    (void)state;
    for (enum pdnn_element_loss_kind kind = 0; kind < PDNN_ELEMENT_LOSS_COUNT; kind++) {
        const struct pdnn_element_loss_job job = {.kind = kind,
                                                  .x = x,
                                                  .target = zeros,
                                                  .loss = &loss,
                                                  .partial = partial,
                                                  .elements = ROWS,
                                                  .scale = 1};
        pdnn_element_loss_forward_run(&job, THREADS);
        check((double)loss, expected[kind]);
    }
    free_from(x);
}

static void test_long_rows_of_softmax(void **state) {
    float *x = new_terms(CLASSES);
    struct pdnn_softmax job = {
        .matrices = 1, .n = 1, .m = CLASSES, .x = x, .heads = 1, .factor = 1, .y.to = x};
    (void)state;
    x[0] = 1;
    double each = exp((double)term - 1), sum = 1 + (CLASSES - 1) * each;
    pdnn_softmax_forward(&job, THREADS);
    check((double)x[0], 1 / sum);
    check((double)x[CLASSES - 1], each / sum);
    free_from(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient_of_a_table),    cmocka_unit_test(test_gradient_of_a_bias),
        cmocka_unit_test(test_loss_over_many_classes), cmocka_unit_test(test_loss_over_many_elements),
        cmocka_unit_test(test_long_rows_of_softmax),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
