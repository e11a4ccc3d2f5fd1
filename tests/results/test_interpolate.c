#include "tests/cmocka_all.h"

#include "results/fit/interpolate.h"
#include "tests/near.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct pdnn_kind_caches caches = {.bytes = {32 << 10, 1 << 20, 32 << 20}, .count = 3};

static const char *key_of(int rows, int in, int out, const char *implementation, const char *state) {
    static char key[PDNN_OPERATOR_KEY_TEXT];
    snprintf(
        key, sizeof key,
        "onednn threads=2 isa=default dense/forward/%dx%d:%dx%d:%dx%d [onednn:%s ab] %lld@%s* %lld@128MiB %lld@128MiB",
        rows, in, out, in, rows, out, implementation, 4LL * rows * in, state, 4LL * in * out,
        4LL * rows * out);
    return key;
}

static double floor_of(int rows, int in, int out) {
    return 2.0 * rows * in * out / 100;
}

/* A power law of all three sizes. */
static double use_of(int rows, int in, int out) {
    return 0.3 * pow(rows / 64.0, 0.05) * pow(in / 64.0, 0.02) * pow(out / 64.0, -0.03);
}

static void add(struct pdnn_neighbours *neighbours, int rows, int in, int out, const char *implementation,
                double scale) {
    double floor_ns = floor_of(rows, in, out);
    pdnn_neighbours_add(neighbours, key_of(rows, in, out, implementation, "64MiB"), floor_ns,
                        floor_ns / (scale * use_of(rows, in, out)));
}

/* All of 64 to `most` in steps of `factor`, but for one. */
static struct pdnn_neighbours *grid(int factor, int most, int without) {
    struct pdnn_neighbours *neighbours = pdnn_neighbours_create(&caches);
    assert_non_null(neighbours);
    for (int rows = 64; rows <= most; rows *= factor)
        for (int in = 64; in <= most; in *= factor)
            for (int out = 64; out <= most; out *= factor)
                if (rows != without || in != without || out != without)
                    add(neighbours, rows, in, out, "brgemm", 1);
    return neighbours;
}

static void check(struct pdnn_neighbours *neighbours, int rows, int in, int out, double error) {
    struct pdnn_prediction_of_operator found;
    const char *key = key_of(rows, in, out, "brgemm", "128MiB");
    assert_null(pdnn_neighbours_reach(neighbours, key));
    assert_null(pdnn_neighbours_predict(neighbours, key, floor_of(rows, in, out), &found));
    double time_ns = floor_of(rows, in, out) / use_of(rows, in, out);
    if (fabs(found.time_ns / time_ns - 1) > error)
        fail_msg("%dx%dx%d: %g instead of %g", rows, in, out, found.time_ns, time_ns);
    assert_true(found.low_ns <= found.time_ns && found.time_ns <= found.high_ns);
    assert_true(found.neighbours >= 2);
}

/* 64 MiB away is beyond the caches of one thread and in those that two have together. */
static void test_caches_are_those_of_the_threads(void **state) {
    (void)state;
    const struct pdnn_kind_caches two = {.bytes = {64 << 10, 2 << 20, 64 << 20}, .count = 3, .threads = 2};
    const struct pdnn_kind_caches one = {
        .bytes = {32 << 10, 1 << 20, 32 << 20}, .count = 3, .threads = 1, .next = &two};
    struct pdnn_operator_kind of_one, of_two;
    const char *key = key_of(64, 64, 64, "brgemm", "64MiB");
    char with_one[PDNN_OPERATOR_KEY_TEXT];
    snprintf(with_one, sizeof with_one, "%s", key);
    *strchr(with_one, '2') = '1';
    assert_true(pdnn_operator_kind_parse(key, &one, &of_two));
    assert_true(pdnn_operator_kind_parse(with_one, &one, &of_one));
    assert_non_null(strstr(of_two.text, "@2* "));
    assert_non_null(strstr(of_one.text, "@3* "));
}

static void test_a_power_law_is_found(void **state) {
    (void)state;
    struct pdnn_neighbours *neighbours = grid(4, 4096, 0);
    check(neighbours, 256, 256, 256, 0.003); /* its own */
    check(neighbours, 512, 512, 512, 0.01);
    check(neighbours, 200, 1000, 3000, 0.01);
    check(neighbours, 64, 2048, 128, 0.02); /* at an edge, where neighbours are on one side */
    pdnn_neighbours_destroy(neighbours);
}

static void test_not_beyond_the_neighbours(void **state) {
    (void)state;
    struct pdnn_prediction_of_operator found;
    struct pdnn_neighbours *neighbours = grid(2, 1024, 0);
    const char *beyond = key_of(512, 512, 2048, "brgemm", "64MiB");
    assert_string_equal(pdnn_neighbours_reach(neighbours, beyond), "beyond its measured neighbours");
    assert_string_equal(pdnn_neighbours_predict(neighbours, beyond, 1, &found),
                        "beyond its measured neighbours");
    assert_non_null(pdnn_neighbours_reach(neighbours, key_of(32, 512, 512, "brgemm", "64MiB")));
    pdnn_neighbours_destroy(neighbours);
    /* Very far neighbours are none, whatever they have between them. */
    neighbours = grid(1024, 65536, 0);
    assert_non_null(pdnn_neighbours_reach(neighbours, key_of(2048, 2048, 2048, "brgemm", "64MiB")));
    pdnn_neighbours_destroy(neighbours);
}

static void test_kinds_are_not_mixed(void **state) {
    (void)state;
    struct pdnn_neighbours *neighbours = grid(4, 4096, 0);
    static const char none[] =
        "fewer than 2 measured neighbours of its implementation and state of the caches";
    assert_string_equal(pdnn_neighbours_reach(neighbours, key_of(512, 512, 512, "jit", "64MiB")), none);
    assert_string_equal(pdnn_neighbours_reach(neighbours, key_of(512, 512, 512, "brgemm", "16MiB")), none);
    /* Beyond the last cache, any distance is like another. */
    assert_null(pdnn_neighbours_reach(neighbours, key_of(512, 512, 512, "brgemm", "256MiB")));
    for (int i = 64; i <= 4096; i *= 2)
        for (int k = 64; k <= 4096; k *= 2)
            for (int m = 64; m <= 4096; m *= 2)
                add(neighbours, i, k, m, "jit", 0.1);
    check(neighbours, 512, 512, 512, 0.01);
    pdnn_neighbours_destroy(neighbours);
}

/* The interval has the error of leaving out measured ones: little where all obey the law but one, which takes
 * twice as long. */
static void test_leaving_one_out(void **state) {
    (void)state;
    struct pdnn_prediction_of_operator found;
    struct pdnn_neighbours *neighbours = grid(2, 512, 256);
    assert_null(pdnn_neighbours_predict(neighbours, key_of(256, 256, 256, "brgemm", "64MiB"), 1, &found));
    assert_true(found.high_ns / found.low_ns < 1.05);
    pdnn_neighbours_destroy(neighbours);

    /* Every second operator twice as slow: the interval says so. */
    neighbours = pdnn_neighbours_create(&caches);
    for (int i = 0; i < 9; i++)
        add(neighbours, 64 << i, 64, 64, "brgemm", i % 2 ? 0.5 : 1);
    assert_null(pdnn_neighbours_predict(neighbours, key_of(700, 64, 64, "brgemm", "64MiB"), 1, &found));
    assert_true(found.high_ns / found.low_ns > 1.5);
    pdnn_neighbours_destroy(neighbours);
}

static void test_an_error_must_be_known(void **state) {
    (void)state;
    struct pdnn_prediction_of_operator found;
    struct pdnn_neighbours *neighbours = pdnn_neighbours_create(&caches);
    for (int i = 0; i < 4; i++)
        add(neighbours, 64 << i, 64, 64, "brgemm", 1);
    const char *key = key_of(100, 64, 64, "brgemm", "64MiB");
    assert_null(pdnn_neighbours_reach(neighbours, key));
    assert_string_equal(pdnn_neighbours_predict(neighbours, key, 1, &found),
                        "too few measured neighbours to know the error from");
    for (int i = 4; i < 9; i++)
        add(neighbours, 64 << i, 64, 64, "brgemm", 1);
    assert_null(pdnn_neighbours_predict(neighbours, key, 1, &found));
    pdnn_neighbours_destroy(neighbours);
}

/* Operators that will be measured say where there will be a prediction, and have none yet. */
static void test_planning(void **state) {
    (void)state;
    struct pdnn_prediction_of_operator found;
    struct pdnn_neighbours *neighbours = pdnn_neighbours_create(&caches);
    for (int i = 0; i < 9; i += 2)
        pdnn_neighbours_add(neighbours, key_of(64 << i, 64, 64, "brgemm", "64MiB"), 1, NAN);
    const char *key = key_of(128, 64, 64, "brgemm", "64MiB");
    assert_null(pdnn_neighbours_reach(neighbours, key));
    assert_non_null(pdnn_neighbours_predict(neighbours, key, 1, &found));
    pdnn_neighbours_destroy(neighbours);
}

static void check_kind(const char *key, const char *text, const char *op, size_t n_sizes) {
    struct pdnn_operator_kind kind;
    assert_true(pdnn_operator_kind_parse(key, &caches, &kind));
    assert_string_equal(kind.text, text);
    assert_string_equal(kind.op, op);
    assert_int_equal(kind.n_sizes, n_sizes);
}

static void test_kinds(void **state) {
    (void)state;
    struct pdnn_operator_kind kind;
    check_kind("onednn threads=2 isa=default dense/forward/256x8000:4096x8000:256x4096 [onednn:brg ba] "
               "8192000@128MiB 131072000@512KiB* 4194304=0",
               "onednn threads=2 isa=default dense/forward/#x#:#x#:#x# [onednn:brg ba] @3 @1* =0",
               "dense/forward", 6);
    check_kind(
        "onednn threads=2 isa=default conv2d/backward-weights/64x512x13x13:64x1024x7x7:1024x512x1x1,stride=2 "
        "[onednn:jit:avx512_core convolution ABcd16b16a] 22151168b16@64MiB 2097152@16MiB 12845056b16@16MiB*",
        "onednn threads=2 isa=default conv2d/backward-weights/#x#x#x#:#x#x#x#:#x#x1x1,stride=2 "
        "[onednn:jit:avx512_core convolution ABcd16b16a] b16@3 @2 b16@2*",
        "conv2d/backward-weights", 10);
    check_kind(
        "onednn threads=1 isa=avx2 rnn/forward/10240x900:2700x900:2700,cell=2,steps=10,train=1,bf16+relu "
        "[paradnn:rnn unrolled] 1@64KiB",
        "onednn threads=1 isa=avx2 rnn/forward/#x#:#x#:#,cell=2,steps=#,train=1,bf16+relu "
        "[paradnn:rnn unrolled] @1",
        "rnn/forward", 6);
    assert_false(pdnn_operator_kind_parse("", &caches, &kind));
    assert_false(pdnn_operator_kind_parse("onednn dense/forward/4x4 [x] @@@@", &caches, &kind));
    assert_false(pdnn_operator_kind_parse("onednn dense/forward/4x4,steps= [x]", &caches, &kind));
    assert_false(pdnn_operator_kind_parse("onednn dense/forward", &caches, &kind));
    assert_false(pdnn_operator_kind_parse("onednn dense/forward/4x4", &caches, &kind));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_caches_are_those_of_the_threads),
        cmocka_unit_test(test_a_power_law_is_found),
        cmocka_unit_test(test_not_beyond_the_neighbours),
        cmocka_unit_test(test_kinds_are_not_mixed),
        cmocka_unit_test(test_leaving_one_out),
        cmocka_unit_test(test_an_error_must_be_known),
        cmocka_unit_test(test_planning),
        cmocka_unit_test(test_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
