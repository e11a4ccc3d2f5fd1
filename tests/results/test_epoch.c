/* Lengths from files and distributions, and the batches that samplers make of them. */
#include "tests/cmocka_all.h"

#include "results/epochs/epoch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct pdnn_arena arena;

static int finish(void **state) {
    (void)state;
    pdnn_arena_finish(&arena);
    return 0;
}

static struct pdnn_lengths make(const char *source, uint64_t examples, uint64_t seed) {
    struct pdnn_lengths lengths;
    struct pdnn_err err = {0};
    const struct pdnn_lengths_request request = {.source = source, .examples = examples, .seed = seed};
    if (pdnn_lengths_make(&request, &arena, &lengths, &err) != PDNN_OK)
        fail_msg("%s", err.text);
    return lengths;
}

static struct pdnn_lengths parse(const char *text) {
    struct pdnn_lengths lengths;
    struct pdnn_err err = {0};
    const struct pdnn_lengths_request request = {.source = "a.txt"};
    if (pdnn_lengths_parse("a.txt", text, &request, &arena, &lengths, &err) != PDNN_OK)
        fail_msg("%s", err.text);
    return lengths;
}

static struct pdnn_epoch batches(const struct pdnn_lengths *lengths, enum pdnn_sampler sampler,
                                 uint64_t batch, uint64_t seed) {
    struct pdnn_epoch epoch;
    struct pdnn_err err = {0};
    const struct pdnn_epoch_request request = {.lengths = lengths,
                                               .sampler = sampler,
                                               .batch = batch,
                                               .multiple = 1,
                                               .shard_batches = 80,
                                               .window = 4,
                                               .seed = seed};
    if (pdnn_epoch_make(&request, &arena, &epoch, &err) != PDNN_OK)
        fail_msg("%s", err.text);
    return epoch;
}

static void test_same_functions(void **state) {
    (void)state;
    for (double x = -40; x < 40; x += 0.37)
        assert_true(fabs(pdnn_same_exp(x) / exp(x) - 1) < 1e-15 * 8);
    for (double x = 1e-9; x < 1e9; x *= 1.37)
        assert_true(fabs(pdnn_same_log(x) - log(x)) <= 4e-16 * fmax(1, fabs(log(x))) * 4);
    assert_true(pdnn_same_log(1) == 0 && pdnn_same_exp(0) == 1);
}

/* Written down once: a seed must give these everywhere. */
static void test_lengths_make_same_numbers(void **state) {
    (void)state;
    static const struct {
        const char *source;
        int64_t expected[6];
    } rows[] = {
        {"librispeech-clean-100", {260, 1150, 1727, 1476, 1460, 1291}},
        {"iwslt15-en-vi", {21, 34, 11, 16, 22, 33}},
        {"azure-code", {75, 9, 7170, 20, 2148, 12}},
        {"uniform:10-50", {20, 36, 26, 11, 18, 47}},
        {"lognormal:3,0.5", {25, 48, 15, 23, 26, 37}},
        {"histogram:1-5=10,6-10=30,50=1", {2, 9, 8, 1, 7, 10}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_lengths lengths = make(rows[i].source, 6, 1);
        if (memcmp(lengths.length, rows[i].expected, sizeof rows[i].expected) != 0) {
            for (int k = 0; k < 6; k++)
                print_error("%d, ", (int)lengths.length[k]);
            fail_msg("%s", rows[i].source);
        }
    }
}

static void test_lengths_make_published_means(void **state) {
    (void)state;
    struct pdnn_lengths speech = make("librispeech-clean-100", 0, 7);
    double sum = 0, logs = 0, squares = 0;
    int64_t longest = 0;
    assert_int_equal(speech.count, 28539);
    assert_int_equal(speech.columns, 1);
    for (size_t i = 0; i < speech.count; i++) {
        sum += (double)speech.length[i] - 1;
        longest = speech.length[i] > longest ? speech.length[i] : longest;
    }
    /* 12.69 s of the utterances; copies at 0.9 and 1.1 times the speed have 1.0067 times that. */
    assert_true(fabs(sum / (double)speech.count / 100 / (12.69 * 1.0067) - 1) < 0.01);
    assert_true(longest > 1900 && longest <= 2721);
    struct pdnn_lengths pairs = make("iwslt15-en-vi", 0, 7);
    assert_int_equal(pairs.count, 133317);
    assert_int_equal(pairs.columns, 2);
    for (size_t i = 0; i < pairs.count; i++) {
        logs += log((double)pairs.length[2 * i]);
        squares += pow(log((double)pairs.length[2 * i]) - 2.772, 2);
    }
    assert_true(fabs(logs / (double)pairs.count - 2.772) < 0.01);
    assert_true(fabs(sqrt(squares / (double)pairs.count) - 0.635) < 0.01);
}

static void test_lengths_make_left_out(void **state) {
    (void)state;
    struct pdnn_lengths lengths;
    struct pdnn_err err = {0};
    struct pdnn_lengths_request request = {.source = "iwslt15-en-vi", .examples = 5000, .longest = 50};
    assert_int_equal(pdnn_lengths_make(&request, &arena, &lengths, &err), PDNN_OK);
    assert_int_equal(lengths.count, 5000);
    for (size_t i = 0; i < 5000; i++)
        assert_true(lengths.length[2 * i] <= 50 && lengths.length[2 * i + 1] <= 50);
    request = (struct pdnn_lengths_request){.source = "a.txt", .longest = 9};
    assert_int_equal(
        pdnn_lengths_parse("a.txt", "3 8\n10 2 # long\n\n9,9\n", &request, &arena, &lengths, &err), PDNN_OK);
    assert_int_equal(lengths.count, 2);
    assert_int_equal(lengths.left_out, 1);
    assert_int_equal(lengths.line[1], 4);
    request.longest = 1;
    assert_int_equal(pdnn_lengths_parse("a.txt", "3\n", &request, &arena, &lengths, &err), PDNN_INVALID);
}

/* With replacement, pairs stay pairs. */
static void test_lengths_parse_redraws(void **state) {
    (void)state;
    struct pdnn_lengths lengths;
    struct pdnn_err err = {0};
    const struct pdnn_lengths_request request = {.source = "a.txt", .examples = 50, .seed = 3};
    assert_int_equal(pdnn_lengths_parse("a.txt", "1 10\n2 20\n3 30", &request, &arena, &lengths, &err),
                     PDNN_OK);
    assert_int_equal(lengths.count, 50);
    for (size_t i = 0; i < 50; i++) {
        assert_int_equal(lengths.length[2 * i + 1], 10 * lengths.length[2 * i]);
        assert_int_equal((int64_t)lengths.line[i], lengths.length[2 * i]);
    }
}

static void test_lengths_make_errors(void **state) {
    (void)state;
    static const struct {
        const char *text; /* NULL: source is no file */
        const char *source, *message;
    } rows[] = {
        {"", "a.txt", "a.txt: there are no lengths in it"},
        {"# none\n\n", "a.txt", "a.txt: there are no lengths in it"},
        {"5\nfive\n", "a.txt", "a.txt:2: 'five' is not a length: a whole number from 1 to 16777216"},
        {"5\n\n0\n", "a.txt", "a.txt:3: '0' is not a length: a whole number from 1 to 16777216"},
        {"5\n2.5\n", "a.txt", "a.txt:2: '2.5' is not a length: a whole number from 1 to 16777216"},
        {"5\n-2\n", "a.txt", "a.txt:2: '-2' is not a length: a whole number from 1 to 16777216"},
        {"16777217\n", "a.txt", "a.txt:1: '16777217' is not a length: a whole number from 1 to 16777216"},
        {"1 2 3\n", "a.txt", "a.txt:1: more than two lengths"},
        {"\n1 2\n3\n", "a.txt", "a.txt:3: 1 length, but line 2 has 2"},
        {NULL, "librispech-clean-100",
         "'librispech-clean-100' is neither a length distribution nor a file, did you mean "
         "'librispeech-clean-100'?"},
        {NULL, "unifrom:1-5", "'unifrom' is not a kind of length distribution, did you mean 'uniform'?"},
        {NULL, "uniform:5-1", "'uniform:5-1': expected uniform:LOW-HIGH, whole numbers from 1 to 16777216"},
        {NULL, "uniform:", "'uniform:': expected uniform:LOW-HIGH, whole numbers from 1 to 16777216"},
        {NULL, "lognormal:3,-1",
         "'lognormal:3,-1': expected lognormal:MU,SIGMA of the natural logarithm, with MU from 0 to 16 and "
         "SIGMA above 0 and up to 4"},
        {NULL, "histogram:1-5=0",
         "'histogram:1-5=0': expected histogram:LOW-HIGH=COUNT,LENGTH=COUNT,... of whole numbers above 0"},
        {NULL, "no/such/file.txt", "'no/such/file.txt' is neither a length distribution nor a file"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_lengths lengths;
        struct pdnn_err err = {0};
        const struct pdnn_lengths_request request = {.source = rows[i].source};
        if (rows[i].text)
            pdnn_lengths_parse(rows[i].source, rows[i].text, &request, &arena, &lengths, &err);
        else
            pdnn_lengths_make(&request, &arena, &lengths, &err);
        assert_int_equal(err.status, PDNN_INVALID);
        assert_string_equal(err.text, rows[i].message);
    }
}

static void test_lengths_check_says_where(void **state) {
    (void)state;
    struct pdnn_err err = {0};
    struct pdnn_lengths lengths = parse("5 6\n7 600\n");
    assert_int_equal(pdnn_lengths_check(&lengths, 8, 600, &err), PDNN_OK);
    assert_int_equal(pdnn_lengths_check(&lengths, 1, 512, &err), PDNN_INVALID);
    assert_string_equal(err.text, "a.txt:2: target 600 is beyond the 512 positions of the model");
    assert_int_equal(pdnn_lengths_check(&lengths, 64, 600, &err), PDNN_INVALID);
    assert_string_equal(err.text, "a.txt:2: target 600, rounded up to a multiple of 64, is beyond the 600 "
                                  "positions of the model");
}

/* Whatever the sampler: each example at most once, padded lengths are the longest, full batches, kinds
 * ascending. */
static void test_epoch_make_partition(void **state) {
    (void)state;
    struct pdnn_lengths lengths = make("iwslt15-en-vi", 1003, 5);
    for (int sampler = PDNN_SAMPLER_SORTED; sampler <= PDNN_SAMPLER_SHUFFLED; sampler++) {
        struct pdnn_epoch epoch = batches(&lengths, (enum pdnn_sampler)sampler, 10, 9);
        uint64_t count = 0, pairs[128] = {0};
        assert_int_equal(epoch.n_iterations, 100);
        assert_int_equal(epoch.left_over, 3);
        for (size_t i = 0; i < lengths.count; i++)
            pairs[(lengths.length[2 * i] * 31 + lengths.length[2 * i + 1]) % 128]++;
        for (size_t i = 0; i < epoch.n_iterations; i++) {
            const struct pdnn_epoch_kind *kind = &epoch.kind[epoch.kind_of[i]];
            int64_t longest[2] = {0, 0};
            for (size_t k = 0; k < 10; k++) {
                const int64_t *example = pdnn_epoch_example(&epoch, i, k);
                longest[0] = example[0] > longest[0] ? example[0] : longest[0];
                longest[1] = example[1] > longest[1] ? example[1] : longest[1];
                pairs[(example[0] * 31 + example[1]) % 128]--;
            }
            assert_int_equal(kind->length[0], longest[0]);
            assert_int_equal(kind->length[1], longest[1]);
        }
        for (size_t i = 0; i < 128; i++) {
            assert_true(pairs[i] <= 3);
            count += pairs[i];
        }
        assert_int_equal(count, 3);
        count = 0;
        for (size_t k = 0; k < epoch.n_kinds; k++) {
            count += epoch.kind[k].count;
            assert_true(!k || epoch.kind[k - 1].length[0] <= epoch.kind[k].length[0]);
        }
        assert_int_equal(count, 100);
    }
}

static void test_epoch_make_orders(void **state) {
    (void)state;
    struct pdnn_lengths speech = make("librispeech-clean-100", 0, 5), pairs = make("iwslt15-en-vi", 0, 5);
    struct pdnn_epoch sorted = batches(&speech, PDNN_SAMPLER_SORTED, 64, 1),
                      shuffled = batches(&speech, PDNN_SAMPLER_SHUFFLED, 64, 1),
                      bucket = batches(&pairs, PDNN_SAMPLER_BUCKET, 64, 1);
    /* The published numbers of iterations. */
    assert_int_equal(sorted.n_iterations, 445);
    assert_int_equal(bucket.n_iterations, 2083);
    for (size_t i = 1; i < sorted.n_iterations; i++)
        assert_true(sorted.kind_of[i - 1] <= sorted.kind_of[i]);
    assert_true(sorted.waste < 0.02);
    assert_true(shuffled.waste > 0.25);
    assert_true(bucket.waste > sorted.waste && bucket.waste < 0.3);
    /* By hand: 3 + 5 padded to 8, 9 to 12. */
    struct pdnn_lengths few = parse("3\n5\n9\n9\n");
    struct pdnn_epoch epoch;
    struct pdnn_err err = {0};
    const struct pdnn_epoch_request request = {
        .lengths = &few, .sampler = PDNN_SAMPLER_SORTED, .batch = 2, .multiple = 4};
    assert_int_equal(pdnn_epoch_make(&request, &arena, &epoch, &err), PDNN_OK);
    assert_int_equal(epoch.n_kinds, 2);
    assert_int_equal(epoch.kind[0].length[0], 8);
    assert_int_equal(epoch.kind[1].length[0], 12);
    assert_true(fabs(epoch.waste - (1 - 26.0 / 40)) < 1e-12);
}

static void test_epoch_make_stream(void **state) {
    (void)state;
    struct pdnn_lengths lengths = parse("10\n7\n9\n");
    struct pdnn_epoch epoch = batches(&lengths, PDNN_SAMPLER_STREAM, 3, 0);
    assert_int_equal(epoch.n_iterations, 2); /* 26 steps: 3 streams of 8, windows of 4 */
    assert_int_equal(epoch.left_over, 2);
    assert_int_equal(epoch.n_kinds, 1);
    assert_int_equal(epoch.kind[0].length[0], 4);
    assert_int_equal(epoch.kind[0].count, 2);
    assert_int_equal(pdnn_epoch_example(&epoch, 1, 2)[0], 4);
    assert_true(epoch.waste == 0);
}

static void test_epoch_make_errors(void **state) {
    (void)state;
    struct pdnn_lengths one = parse("10\n7\n"), two = parse("10 1\n7 1\n");
    struct pdnn_epoch epoch;
    struct pdnn_err err = {0};
    const struct {
        struct pdnn_epoch_request request;
        const char *message;
    } rows[] = {
        {{.lengths = &one, .batch = 3}, "a.txt: 2 examples, fewer than the 3 of one batch"},
        {{.lengths = &one, .batch = 0}, "a batch has from 1 to 16777216 examples"},
        {{.lengths = &two, .batch = 1, .sampler = PDNN_SAMPLER_STREAM, .window = 1},
         "a.txt: a stream has one length per example, not two"},
        {{.lengths = &one, .batch = 1, .sampler = PDNN_SAMPLER_STREAM},
         "a stream's window is from 1 to 16777216 steps"},
        {{.lengths = &one, .batch = 4, .sampler = PDNN_SAMPLER_STREAM, .window = 5},
         "a.txt: 17 steps are fewer than 4 streams of 5 need"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(pdnn_epoch_make(&rows[i].request, &arena, &epoch, &err), PDNN_INVALID);
        assert_string_equal(err.text, rows[i].message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_functions),
        cmocka_unit_test(test_lengths_make_same_numbers),
        cmocka_unit_test(test_lengths_make_published_means),
        cmocka_unit_test(test_lengths_make_left_out),
        cmocka_unit_test(test_lengths_parse_redraws),
        cmocka_unit_test(test_lengths_make_errors),
        cmocka_unit_test(test_lengths_check_says_where),
        cmocka_unit_test(test_epoch_make_partition),
        cmocka_unit_test(test_epoch_make_orders),
        cmocka_unit_test(test_epoch_make_stream),
        cmocka_unit_test(test_epoch_make_errors),
    };
    return cmocka_run_group_tests(tests, NULL, finish);
}
