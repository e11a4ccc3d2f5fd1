/* Our kernels where plans do not reach: accuracy over the whole range, splitting among threads, streaming
 * stores, padding, extreme logits. */
#include "tests/cmocka_all.h"
#include "tests/runtime/arrays.h"
#include "tests/runtime/levels.h"
#include "tests/near.h"

#include "runtime/kernels/images/spread.h"
#include "runtime/kernels/rows/bias.h"
#include "runtime/kernels/rows/element_loss.h"
#include "runtime/kernels/rows/elementwise.h"
#include "runtime/kernels/simd/half.h"
#include "runtime/kernels/rows/loss.h"
#include "runtime/kernels/rows/mean.h"
#include "runtime/kernels/rows/rope.h"
#include "runtime/kernels/update/optimizer.h"
#include "runtime/kernels/simd/team.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 5 * PDNN_TEAM_MIN_ELEMENTS + 7, THREADS = 3 };

static void test_span_of_covers_once(void **state) {
    (void)state;
    static const int64_t sizes[] = {0, 1, 15, 16, 17, 1000, 1 << 20};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (int64_t parts = 1; parts <= 7; parts++) {
            int64_t next = 0;
            for (int64_t i = 0; i < parts; i++) {
                struct pdnn_span span = pdnn_span_of(sizes[s], 16, i, parts);
                assert_int_equal(span.begin, next);
                assert_true(span.begin % 16 == 0 || span.begin == sizes[s]);
                next = span.end;
            }
            assert_int_equal(next, sizes[s]);
        }
    }
}

struct visits {
    int64_t parts[8];
};

static void count_visit(void *job, int64_t index, int64_t parts) {
    struct visits *visits = job;
    visits->parts[index] += parts;
}

static void test_team_run_all_or_one(void **state) {
    (void)state;
    struct visits small = {{0}}, large = {{0}};
    pdnn_team_run(THREADS, PDNN_TEAM_MIN_ELEMENTS - 1, count_visit, &small);
    assert_int_equal(small.parts[0], 1);
    pdnn_team_run(THREADS, PDNN_TEAM_MIN_ELEMENTS, count_visit, &large);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(large.parts[i], THREADS);
}

static double normal(double x) {
    return erfc(-x / sqrt(2)) / 2;
}

/* (1 + tanh(u(x))) / 2 without cancellation, and u'(x). */
static double near_normal(double x) {
    return 1 / (1 + exp(-2 * sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
}

static double near_normal_slope(double x) {
    return sqrt(2 / acos(-1)) * (1 + 3 * 0.044715 * x * x);
}

static double gate(double x) {
    return fmin(fmax(x / 6 + 0.5, 0), 1);
}

static double exact(enum pdnn_elementwise function, double a, double b) {
    switch (function) {
    case PDNN_RELU_FORWARD:
        return a > 0 ? a : 0;
    case PDNN_RELU_BACKWARD:
        return b > 0 ? a : 0;
    case PDNN_SIGMOID_FORWARD:
        return 1 / (1 + exp(-a));
    case PDNN_SIGMOID_BACKWARD:
        return a * b * (1 - b);
    case PDNN_TANH_FORWARD:
        return tanh(a);
    case PDNN_TANH_BACKWARD:
        return a * (1 - b * b);
    case PDNN_GELU_FORWARD:
        return a * normal(a);
    case PDNN_GELU_BACKWARD:
        return a * (normal(b) + b * exp(-b * b / 2) / sqrt(2 * acos(-1)));
    case PDNN_GELU_TANH_FORWARD:
        return a * near_normal(a);
    case PDNN_GELU_TANH_BACKWARD:
        return a * (near_normal(b) + 2 * b * near_normal(b) * near_normal(-b) * near_normal_slope(b));
    case PDNN_SILU_FORWARD:
        return a / (1 + exp(-a));
    case PDNN_SILU_BACKWARD:
        return a / (1 + exp(-b)) * (1 + b / (1 + exp(b)));
    case PDNN_HARDTANH_FORWARD:
        return fmin(fmax(a, -0.5), 0.5);
    case PDNN_HARDTANH_BACKWARD:
        return b > -0.5 && b < 0.5 ? a : 0;
    case PDNN_HARDSIGMOID_FORWARD:
        return gate(a);
    case PDNN_HARDSIGMOID_BACKWARD:
        return b > 0 && b < 1 ? a / 6 : 0;
    case PDNN_HARDSWISH_FORWARD:
        return a * gate(a);
    case PDNN_HARDSWISH_BACKWARD:
        return a * (gate(b) + (fabs(b) < 3 ? b / 6 : 0));
    case PDNN_SOFTPLUS_FORWARD:
        return log1p(exp(a));
    case PDNN_SOFTPLUS_BACKWARD:
        return a / (1 + exp(-b));
    case PDNN_TOP_K_BACKWARD:
        return b < -1 ? 0 : a; /* b in [-1, 1) here; -inf is in test_kernels_top_k */
    case PDNN_SCALE:
        return -0.5 * a;
    case PDNN_MULTIPLY:
        return a * b;
    default:
        return a + b;
    }
}

/* Relative to the value over many magnitudes. 1 - y^2 may cancel, so gradients are compared absolutely. */
static void test_elementwise_accuracy(void **state) {
    (void)state;
    static const float scales[] = {1e-6F, 1e-3F, 0.1F, 1, 10, 100};
    for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
        float *a = new_random(LARGE, scales[s]), *b = new_random(LARGE, 1), *y = new_floats(LARGE);
        for (int function = 0; function < PDNN_ELEMENTWISE_COUNT; function++) {
            struct pdnn_elementwise_job job = {
                (enum pdnn_elementwise)function, a, b, y, LARGE, false, {-0.5F, 0.5F}, {0}};
            pdnn_elementwise_run(&job, THREADS);
            for (int64_t i = 0; i < LARGE; i++) {
                double expected = exact(job.function, (double)a[i], (double)b[i]);
                assert_near((double)y[i], expected,
                            4e-7 * fmax(fabs(expected), (double)fabsf(a[i]) * 0.5) + 1e-37);
            }
        }
        free_from(a);
    }
}

/* Covers the tails: relative to the value until it is below 1e-8; where the slope
 * crosses 0, relative to its terms. */
static void test_gelu_accuracy(void **state) {
    (void)state;
    static const enum pdnn_elementwise functions[] = {PDNN_GELU_FORWARD, PDNN_GELU_BACKWARD,
                                                      PDNN_GELU_TANH_FORWARD, PDNN_GELU_TANH_BACKWARD};
    float *x = new_random(LARGE, 20), *dy = new_random(LARGE, 1), *y = new_floats(LARGE);
    /* Without FMA, each product is rounded separately. */
    const double tolerance = pdnn_level_in_force == PDNN_LEVEL_BASELINE ? 2.5e-6 : 2e-6;
    for (int64_t i = 0; i < LARGE; i++)
        dy[i] = 1;
    for (int k = 0; k < 4; k++) {
        bool backward = k % 2;
        struct pdnn_elementwise_job job = {
            functions[k], backward ? dy : x, backward ? x : NULL, y, LARGE, false, {0}, {0}};
        pdnn_elementwise_run(&job, THREADS);
        for (int64_t i = 0; i < LARGE; i++) {
            double at = (double)x[i], expected = exact(functions[k], backward ? 1 : at, at);
            double scale = backward ? fmax(1, fabs(at)) * (k < 2 ? normal(at) : near_normal(at)) : 0;
            assert_near((double)y[i], expected, tolerance * fmax(fabs(expected), scale) + 1e-14);
        }
    }
    free_from(x);
}

/* Relative to the value also where that is far below 1, and at the ends of the range. */
static void test_softplus_accuracy(void **state) {
    (void)state;
    static const float x[] = {-80, -30, -17, -16, -10, -3, -0.5F, 0, 0.5F, 10, 17, 80, 1e30F, INFINITY};
    enum { COUNT = sizeof x / sizeof *x };
    const float far[] = {-INFINITY, -1e30F}, nan = NAN;
    float y[COUNT];
    struct pdnn_elementwise_job job = {PDNN_SOFTPLUS_FORWARD, x, NULL, y, COUNT, false, {0}, {0}};
    pdnn_elementwise_run(&job, 1);
    for (int i = 0; i < COUNT; i++) {
        double expected = x[i] > 0 ? (double)x[i] + log1p(exp(-(double)x[i])) : log1p(exp((double)x[i]));
        if (!((double)y[i] == expected || fabs((double)y[i] - expected) <= 1e-6 * expected))
            fail_msg("%g becomes %g", (double)x[i], (double)y[i]);
    }
    job.a = far;
    job.elements = 2;
    pdnn_elementwise_run(&job, 1);
    assert_true(y[0] >= 0 && y[0] < 1e-37F && y[1] >= 0 && y[1] < 1e-37F);
    job.a = &nan;
    job.elements = 1;
    pdnn_elementwise_run(&job, 1);
    assert_true(y[0] != y[0]);
}

static void test_gelu_extremes(void **state) {
    (void)state;
    static const float x[] = {0, INFINITY, -INFINITY, 1e30F, -1e30F, 50, -50};
    static const float ones[] = {1, 1, 1, 1, 1, 1, 1}, slopes[] = {0.5F, 1, 0, 1, 0, 1, 0};
    enum { COUNT = sizeof x / sizeof *x };
    float y[COUNT];
    for (int tanh = 0; tanh < 2; tanh++) {
        struct pdnn_elementwise_job job = {
            tanh ? PDNN_GELU_TANH_FORWARD : PDNN_GELU_FORWARD, x, NULL, y, COUNT, false, {0}, {0}};
        pdnn_elementwise_run(&job, 1);
        for (int i = 0; i < COUNT; i++) {
            if (!(x[i] > 0 ? y[i] == x[i] : fabsf(y[i]) < 1e-34F))
                fail_msg("%g becomes %g", (double)x[i], (double)y[i]);
        }
        job = (struct pdnn_elementwise_job){
            tanh ? PDNN_GELU_TANH_BACKWARD : PDNN_GELU_BACKWARD, ones, x, y, COUNT, false, {0}, {0}};
        pdnn_elementwise_run(&job, 1);
        for (int i = 0; i < COUNT; i++)
            assert_near((double)y[i], (double)slopes[i], 1e-7);
        const float nan = NAN;
        job.b = &nan;
        job.elements = 1;
        pdnn_elementwise_run(&job, 1);
        assert_true(y[0] != y[0]);
    }
}

static void test_elementwise_extremes(void **state) {
    (void)state;
    static const float x[] = {0, -0.0F, INFINITY, -INFINITY, 1e30F, -1e30F, 88.8F, -88.8F};
    static const float sigmoids[] = {0.5F, 0.5F, 1, 0, 1, 0, 1, 0}, tanhs[] = {0, 0, 1, -1, 1, -1, 1, -1};
    enum { COUNT = sizeof x / sizeof *x };
    float y[COUNT];
    struct pdnn_elementwise_job job = {PDNN_SIGMOID_FORWARD, x, NULL, y, COUNT, false, {0}, {0}};
    pdnn_elementwise_run(&job, 1);
    for (int i = 0; i < COUNT; i++)
        assert_near((double)y[i], (double)sigmoids[i], 1e-37);
    job.function = PDNN_TANH_FORWARD;
    pdnn_elementwise_run(&job, 1);
    for (int i = 0; i < COUNT; i++)
        assert_near((double)y[i], (double)tanhs[i], 0);
}

/* In place, out of place, with streaming stores, on one thread or all: the same bits. */
static void test_elementwise_ways_agree(void **state) {
    (void)state;
    float *a = new_random(LARGE, 3), *b = new_random(LARGE, 1), *y = new_floats(LARGE),
          *z = new_floats(LARGE);
    size_t bytes = LARGE * sizeof *a;
    for (int function = 0; function < PDNN_ELEMENTWISE_COUNT; function++) {
        struct pdnn_elementwise_job job = {
            (enum pdnn_elementwise)function, a, b, y, LARGE, false, {-0.5F, 0.5F}, {0}};
        pdnn_elementwise_run(&job, 1);
        memset(z, 0xff, bytes);
        job.y = z;
        job.bypass = true;
        pdnn_elementwise_run(&job, THREADS);
        assert_memory_equal(y, z, bytes);
        memcpy(z, a, bytes);
        job = (struct pdnn_elementwise_job){
            (enum pdnn_elementwise)function, z, b, z, LARGE, false, {-0.5F, 0.5F}, {0}};
        pdnn_elementwise_run(&job, THREADS);
        assert_memory_equal(y, z, bytes);
    }
    free_from(a);
}

/* 16-bit operands, each of them or all, in place or streamed: the bits of widening, computing and narrowing.
 */
static void check_halves(struct pdnn_elementwise_job job, const float *a, const float *b,
                         uint16_t *expected) {
    enum { SHAPES = 6 };
    static const bool halves[SHAPES][3] = {{1, 1, 1}, {1, 0, 0}, {0, 1, 1}, {0, 0, 1}, {1, 1, 0}, {1, 1, 1}};
    const enum pdnn_half type = job.halves.type;
    float *wide = new_floats(LARGE);
    uint16_t *half_a = new_array(LARGE, 2), *half_b = new_array(LARGE, 2), *y = new_array(LARGE, 4);
    pdnn_half_narrow(type, a, half_a, LARGE);
    pdnn_half_narrow(type, b, half_b, LARGE);
    job = (struct pdnn_elementwise_job){job.function, a, b, wide, LARGE, false, {-0.5F, 0.5F}, {0}};
    pdnn_elementwise_run(&job, 1);
    pdnn_half_narrow(type, wide, expected, LARGE);
    for (int k = 0; k < SHAPES; k++) {
        const bool *is = halves[k], in_place = k == SHAPES - 1;
        job.a = is[0] ? (const void *)half_a : a;
        job.b = is[1] ? (const void *)half_b : b;
        job.y = in_place ? half_a : y;
        job.bypass = !in_place;
        job.halves = (struct pdnn_elementwise_halves){is[0], is[1], is[2], type};
        pdnn_elementwise_run(&job, k % 2 ? 1 : THREADS);
        if (is[2])
            assert_memory_equal(job.y, expected, LARGE * sizeof *expected);
        else
            assert_memory_equal(job.y, wide, LARGE * sizeof *wide);
    }
    free_from(wide);
}

static void test_elementwise_halves(void **state) {
    (void)state;
    float *a = new_random(LARGE, 3), *b = new_random(LARGE, 1);
    uint16_t *bits = new_array(LARGE, 2);
    for (int type = 0; type < PDNN_HALF_COUNT; type++) {
        struct pdnn_elementwise_job job = {.halves = {.type = (enum pdnn_half)type}};
        pdnn_half_narrow(job.halves.type, a, bits, LARGE);
        pdnn_half_widen(job.halves.type, bits, a, LARGE);
        pdnn_half_narrow(job.halves.type, b, bits, LARGE);
        pdnn_half_widen(job.halves.type, bits, b, LARGE);
        a[5] = INFINITY, a[6] = -INFINITY, a[7] = NAN, a[8] = 0x1p-24F, a[9] = type ? 65504 : 0x1p127F;
        for (int function = 0; function < PDNN_ELEMENTWISE_COUNT; function++) {
            job.function = (enum pdnn_elementwise)function;
            check_halves(job, a, b, bits);
        }
    }
    free_from(a);
}

/* Narrow and wide, few rows and many. 8 threads split narrow matrices by rows, which needs scratch. */
static void test_column_sums(void **state) {
    (void)state;
    static const struct {
        int64_t N, C, threads;
    } rows[] = {{1, 1, 1},     {3, 5, 2},      {129, 1000, 2}, {4000, 7, 8},
                {700, 300, 8}, {2, 100003, 3}, {65, 2049, 8}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        int64_t N = rows[r].N, C = rows[r].C;
        float *dy = new_random(N * C, 1), *sums = new_floats(C), *again = new_floats(C);
        float *scratch = new_floats(pdnn_column_sums_scratch(N, C, rows[r].threads));
        struct pdnn_column_sums job = {.N = N, .C = C, .dy = dy, .sums = sums, .scratch = scratch};
        pdnn_column_sums(&job, rows[r].threads);
        job.sums = again;
        pdnn_column_sums(&job, rows[r].threads);
        assert_memory_equal(sums, again, (size_t)C * sizeof *sums);
        for (int64_t c = 0; c < C; c++) {
            double expected = 0;
            for (int64_t n = 0; n < N; n++)
                expected += (double)dy[n * C + c];
            assert_near((double)sums[c], expected, 1e-6 * (double)N);
        }
        /* Values that bf16 represents have the same sums in both. */
        uint16_t *halves = new_array(N * C, sizeof *halves);
        pdnn_half_narrow(PDNN_HALF_BF16, dy, halves, N * C);
        pdnn_half_widen(PDNN_HALF_BF16, halves, dy, N * C);
        pdnn_column_sums(&job, rows[r].threads);
        job.stored = PDNN_STORED_BF16;
        job.dy = halves;
        job.sums = sums;
        pdnn_column_sums(&job, rows[r].threads);
        for (int64_t c = 0; c < C; c++)
            assert_near((double)sums[c], (double)again[c], 1e-6 * (double)N);
        free_from(dy);
    }
}

static void test_bias_forward(void **state) {
    (void)state;
    static const int64_t shapes[][2] = {{1, 1}, {3, 17}, {2, 40000}, {300, 130}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        int64_t N = shapes[s][0], C = shapes[s][1];
        float *x = new_random(N * C, 1), *b = new_random(C, 2), *y = new_floats(N * C),
              *before = new_copy(x, N * C);
        struct pdnn_bias job = {.N = N, .C = C, .x = x, .b = b, .y = y, .bypass = true};
        pdnn_bias_forward(&job, THREADS);
        job.y = x;
        job.bypass = false;
        pdnn_bias_forward(&job, 1);
        assert_memory_equal(x, y, (size_t)(N * C) * sizeof *x);
        for (int64_t i = 0; i < N * C; i++)
            assert_near((double)x[i], (double)(before[i] + b[i % C]), 0);
        for (enum pdnn_half type = 0; type < PDNN_HALF_COUNT; type++) {
            const size_t bytes = (size_t)(N * C) * sizeof(uint16_t);
            uint16_t *halves = new_array(N * C, sizeof *halves), *got = new_array(N * C, sizeof *got);
            pdnn_half_narrow(type, before, halves, N * C);
            pdnn_half_widen(type, halves, x, N * C);
            job = (struct pdnn_bias){.N = N, .C = C, .x = x, .b = b, .y = x};
            pdnn_bias_forward(&job, 1);
            job.stored = type == PDNN_HALF_F16 ? PDNN_STORED_F16 : PDNN_STORED_BF16;
            job.x = halves;
            job.y = got;
            job.bypass = true;
            pdnn_bias_forward(&job, THREADS);
            pdnn_half_narrow(type, x, halves, N * C);
            assert_memory_equal(got, halves, bytes);
        }
        free_from(x);
    }
}

/* Logits whose exponentials overflow, a certain label and an impossible one: the mean of ln 2, 0 and 2000. */
static void test_loss_extreme_logits(void **state) {
    (void)state;
    const float x[] = {1000, 1000, -1000, -3000, 500, -1500};
    const int32_t label[] = {1, 0, 1};
    float p[6], loss = -1;
    double partial[THREADS * PDNN_LOSS_STRIDE];
    struct pdnn_loss_job job = {x, label, p, &loss, partial, 3, 2, 1};
    pdnn_loss_forward(&job, THREADS);
    assert_near((double)loss, (log(2) + 0 + 2000) / 3, 1e-4);
    const float expected[] = {0.5F, 0.5F, 1, 0, 1, 0};
    for (int i = 0; i < 6; i++)
        assert_near((double)p[i], (double)expected[i], 1e-7);
    job.x = p;
    pdnn_loss_backward(&job, THREADS);
    const float gradient[] = {0.5F, -0.5F, 0, 0, 1, -1};
    for (int i = 0; i < 6; i++)
        assert_near((double)p[i], (double)gradient[i] / 3, 1e-7);
}

static void test_loss_threads_agree(void **state) {
    (void)state;
    enum { N = 301, C = 257 };
    float *x = new_random(N * C, 4), *p = new_floats(N * C), one, all;
    int32_t label[N];
    double partial[THREADS * PDNN_LOSS_STRIDE];
    for (int i = 0; i < N; i++)
        label[i] = i % C;
    struct pdnn_loss_job job = {x, label, p, &one, partial, N, C, 1};
    pdnn_loss_forward(&job, 1);
    job.loss = &all;
    pdnn_loss_forward(&job, THREADS);
    assert_near((double)all, (double)one, 1e-6);
    double sum = 0;
    for (int i = 0; i < C; i++)
        sum += (double)p[(N - 1) * C + i];
    assert_near(sum, 1, 1e-6);
    free_from(x);
}

/* Rows without a label do not affect the others and get no gradient. */
static void test_loss_ignored_rows(void **state) {
    (void)state;
    enum { N = 90, C = 37, KEPT = N / 3 };
    float *x = new_random(N * C, 4), *p = new_floats(N * C), *kept = new_floats(KEPT * C), some, all;
    int32_t label[N], kept_label[KEPT];
    double partial[THREADS * PDNN_LOSS_STRIDE];
    for (int i = 0; i < N; i++) {
        label[i] = i % 3 ? -i : i % C;
        if (i % 3 == 0) {
            kept_label[i / 3] = label[i];
            memcpy(kept + i / 3 * C, x + i * C, C * sizeof *x);
        }
    }
    struct pdnn_loss_job job = {x, label, p, &some, partial, N, C, 1};
    struct pdnn_loss_job fewer = {kept, kept_label, kept, &all, partial, KEPT, C, 1};
    pdnn_loss_forward(&job, THREADS);
    pdnn_loss_forward(&fewer, 1);
    assert_near((double)some, (double)all, 1e-6);
    job.x = p;
    pdnn_loss_backward(&job, THREADS);
    pdnn_loss_backward(&fewer, 1);
    for (int i = 0; i < N * C; i++) {
        int row = i / C;
        assert_near((double)p[i], row % 3 ? 0 : (double)kept[row / 3 * C + i % C], 0);
    }
    free_from(x);
}

/* Zero weights with zero gradients, as in the padding of a packed layout, stay zero; other values change. */
static void test_update_keeps_padding(void **state) {
    (void)state;
    for (int rule = 0; rule < PDNN_UPDATE_COUNT; rule++) {
        float *w = new_random(LARGE, 1), *g = new_random(LARGE, 1), *before = new_copy(w, LARGE);
        float *s0 = new_zeros(LARGE, sizeof *s0), *s1 = new_zeros(LARGE, sizeof *s1), power[2] = {1, 1};
        for (int64_t i = 0; i < LARGE; i++) {
            g[i] *= 0.5F; /* away from the moments' fixed points */
            if (i % 2 == 0)
                w[i] = g[i] = 0;
        }
        const float norm = 1;
        struct pdnn_update_job job = {.rule = (enum pdnn_update)rule,
                                      .w = w,
                                      .g = g,
                                      .state = {s0, s1},
                                      .power = power,
                                      .norm = {&norm, &norm},
                                      .coef = {0.1, 0.9, 0.99, 1e-8},
                                      .elements = LARGE};
        pdnn_update_run(&job, THREADS);
        pdnn_update_run(&job, THREADS);
        for (int64_t i = 0; i < LARGE; i++) {
            if (i % 2 == 0)
                assert_near((double)w[i], 0, 0);
            else if (g[i] != 0)
                assert_true(w[i] != before[i]);
        }
        free_from(w);
    }
}

/* Losses of 16-bit elements are those of their values in f32; gradients are those, rounded. */
static void check_element_loss(enum pdnn_element_loss_kind kind, enum pdnn_stored stored, int64_t n) {
    const enum pdnn_half type = pdnn_half_of_stored(stored);
    const bool has_labels = kind == PDNN_LOGISTIC_LOSS;
    const size_t bytes = (size_t)n * sizeof(uint16_t);
    uint16_t *x = new_array(n, sizeof *x), *target = new_array(n, sizeof *target),
             *dx = new_array(n, sizeof *dx), *expected = new_array(n, sizeof *expected);
    float *wide = new_random(n, 3), *wide_target = new_random(n, 3), *wide_dx = new_floats(n), losses[2];
    int32_t *label = new_array(n, sizeof *label);
    double partial[THREADS * PDNN_LOSS_STRIDE];
    pdnn_half_narrow(type, wide, x, n);
    pdnn_half_widen(type, x, wide, n);
    pdnn_half_narrow(type, wide_target, target, n);
    pdnn_half_widen(type, target, wide_target, n);
    for (int64_t i = 0; i < n; i++)
        label[i] = wide_target[i] > 0;
    struct pdnn_element_loss_job f32 = {.kind = kind,
                                        .x = wide,
                                        .target = has_labels ? (void *)label : wide_target,
                                        .loss = &losses[0],
                                        .partial = partial,
                                        .dx = wide_dx,
                                        .elements = n,
                                        .scale = 100};
    struct pdnn_element_loss_job half = f32;
    half.stored = stored;
    half.x = x;
    half.target = has_labels ? (void *)label : target;
    half.loss = &losses[1];
    half.dx = dx;
    half.bypass = true;
    pdnn_element_loss_forward_run(&f32, THREADS);
    pdnn_element_loss_forward_run(&half, THREADS);
    assert_true(losses[0] > 0 && losses[0] == losses[1]);
    pdnn_element_loss_backward_run(&f32, 1);
    pdnn_element_loss_backward_run(&half, THREADS);
    pdnn_half_narrow(type, wide_dx, expected, n);
    assert_memory_equal(dx, expected, bytes);
    half.dx = x;
    half.bypass = false;
    pdnn_element_loss_backward_run(&half, THREADS);
    assert_memory_equal(x, expected, bytes);
    free_from(x);
}

static void test_element_losses(void **state) {
    static const int64_t sizes[] = {1, 255, 5000, LARGE};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes * PDNN_ELEMENT_LOSS_COUNT; i++) {
        check_element_loss((enum pdnn_element_loss_kind)(i % PDNN_ELEMENT_LOSS_COUNT), PDNN_STORED_BF16,
                           sizes[i / PDNN_ELEMENT_LOSS_COUNT]);
        check_element_loss((enum pdnn_element_loss_kind)(i % PDNN_ELEMENT_LOSS_COUNT), PDNN_STORED_F16,
                           sizes[i / PDNN_ELEMENT_LOSS_COUNT]);
    }
}

static void *new_values(int64_t n, enum pdnn_stored stored) {
    float *values = new_random(n, 3);
    uint16_t *halves = new_array(n, sizeof *halves);
    pdnn_half_narrow(pdnn_half_of_stored(stored), values, halves, n);
    return stored == PDNN_STORED_F32 ? (void *)values : halves;
}

/* Rows whose heads begin at multiples of a streaming store, and others. */
static void check_rope_streams(const int64_t *row, enum pdnn_stored stored) {
    const int64_t R = row[0], ld = row[1], n = R * ld;
    struct pdnn_rope job = {.R = R,
                            .ld = ld,
                            .heads = row[2],
                            .width = row[3],
                            .column = row[4],
                            .rows = R,
                            .theta = 100,
                            .stored = stored,
                            .scratch = new_floats(pdnn_rope_scratch(row[3], THREADS))};
    void *y = new_floats(n), *streamed = new_floats(n);
    job.x = new_values(n, stored);
    job.y = y;
    pdnn_rope_run(&job, THREADS);
    job.y = streamed;
    job.bypass = true;
    pdnn_rope_run(&job, THREADS);
    assert_memory_equal(streamed, y, (size_t)(n * pdnn_stored_bytes(stored)));
    free_from(job.scratch);
}

/* Images, whose channels may be last, and matrices. */
static void check_spread_streams(const struct pdnn_channels *shape, bool adds, enum pdnn_stored stored) {
    const int64_t n = pdnn_channels_elements(shape), channels = pdnn_channels_padded(shape);
    void *y = new_floats(n), *streamed = new_floats(n);
    struct pdnn_spread job = {.shape = *shape,
                              .adds = adds,
                              .b_stride = channels,
                              .half = pdnn_half_of_stored(stored),
                              .is_half = stored != PDNN_STORED_F32,
                              .b_is_half = stored != PDNN_STORED_F32,
                              .a = new_values(n, stored),
                              .b = new_values(shape->N * channels, stored),
                              .y = y};
    pdnn_spread_forward(&job, THREADS);
    job.y = streamed;
    job.bypass = true;
    pdnn_spread_forward(&job, THREADS);
    assert_memory_equal(streamed, y, (size_t)(n * pdnn_stored_bytes(stored)));
    free_from(y);
}

/* The mean of columns gives its gradient to each of them. */
static void check_mean_gives(int64_t rows, int64_t columns, enum pdnn_stored stored) {
    const int64_t bytes = pdnn_stored_bytes(stored);
    char *dx = new_array(rows * columns, sizeof(float)), *dy = new_values(rows, stored);
    const struct pdnn_mean_job job = {.outer = rows,
                                      .n = columns,
                                      .inner = 1,
                                      .stored = stored,
                                      .x = dx,
                                      .y = dy,
                                      .bypass = columns % 2 == 0};
    pdnn_mean_backward(&job, THREADS);
    for (int64_t i = 0; i < rows * columns; i++) {
        float share, value, *wide = (float *)(void *)dy;
        if (stored == PDNN_STORED_F32) {
            memcpy(&value, dx + i * bytes, sizeof value);
            share = wide[i / columns] / (float)columns;
        } else {
            pdnn_half_widen(pdnn_half_of_stored(stored), (uint16_t *)(void *)(dx + i * bytes), &value, 1);
            pdnn_half_widen(pdnn_half_of_stored(stored), (uint16_t *)(void *)(dy + i / columns * bytes),
                            &share, 1);
            share /= (float)columns;
        }
        assert_near((double)value, (double)share, fabs((double)share) / 256 + 1e-7);
    }
    free_from(dx);
}

static void test_streams(void **state) {
    static const int64_t heads[][5] = {
        {5, 129, 3, 42, 3}, {70, 300, 2, 128, 8}, {300, 64, 4, 16, 0}, {9, 1600, 2, 700, 8}};
    static const struct pdnn_channels shapes[] = {{1, 33, 700, 33, 0},
                                                  {2, 64, 300, 64, 0},
                                                  {3, 5, 1031, 1, 0},
                                                  {2, 3, 4096, 1, 0},
                                                  {2, 20, 130, 16, 0}};
    (void)state;
    for (enum pdnn_stored stored = PDNN_STORED_F32; stored <= PDNN_STORED_F16; stored++) {
        for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
            check_rope_streams(heads[i], stored);
        for (size_t i = 0; i < 2 * (sizeof shapes / sizeof *shapes); i++)
            check_spread_streams(&shapes[i / 2], i % 2, stored);
        check_mean_gives(7, 1030, stored);
        check_mean_gives(300, 127, stored);
        check_mean_gives(9, 5000, stored);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_span_of_covers_once),
        cmocka_unit_test(test_team_run_all_or_one),
        cmocka_unit_test(test_elementwise_accuracy),
        cmocka_unit_test(test_elementwise_extremes),
        cmocka_unit_test(test_gelu_accuracy),
        cmocka_unit_test(test_softplus_accuracy),
        cmocka_unit_test(test_gelu_extremes),
        cmocka_unit_test(test_elementwise_ways_agree),
        cmocka_unit_test(test_elementwise_halves),
        cmocka_unit_test(test_column_sums),
        cmocka_unit_test(test_bias_forward),
        cmocka_unit_test(test_loss_extreme_logits),
        cmocka_unit_test(test_loss_threads_agree),
        cmocka_unit_test(test_loss_ignored_rows),
        cmocka_unit_test(test_update_keeps_padding),
        cmocka_unit_test(test_element_losses),
        cmocka_unit_test(test_streams),
    };
    omp_set_num_threads(THREADS);
    int failed = 0;
    RUN_AT_EVERY_LEVEL(tests, failed);
    return failed;
}
