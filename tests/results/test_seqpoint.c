/* SeqPoint's selection against its invariants and a search by brute force, its baselines, and projections. */
#include "tests/cmocka_all.h"

#include "base/rng.h"
#include "results/epochs/seqpoint.h"
#include "tests/results/epochs.h"

#include <math.h>
#include <string.h>

static struct pdnn_arena arena;

static int finish(void **state) {
    (void)state;
    pdnn_arena_finish(&arena);
    return 0;
}

enum { KINDS_MAX = 512 };

/* Kinds at random; lengths up to `longest`, counts up to 9. */
static struct pdnn_epoch make_epoch(struct pdnn_rng *rng, int64_t longest, bool two) {
    struct pdnn_epoch_kind *kind = pdnn_arena_alloc(&arena, KINDS_MAX, sizeof *kind);
    size_t n = 0;
    for (int64_t s = 1; s <= longest; s++) {
        for (int64_t t = two ? 1 : 0; t <= (two ? longest : 0); t++) {
            if (n < KINDS_MAX && pdnn_rng_below(rng, two ? 4 : 2) == 0)
                kind[n++] = (struct pdnn_epoch_kind){{s, t}, 1 + pdnn_rng_below(rng, 9)};
        }
    }
    if (!n)
        kind[n++] = (struct pdnn_epoch_kind){{1, two}, 3};
    struct pdnn_epoch epoch = epoch_of_kinds(kind, n, &arena);
    return epoch;
}

/* A time that grows with both lengths, by steps, with 2 % of noise. */
static double *make_times(struct pdnn_rng *rng, const struct pdnn_epoch *epoch) {
    double *time = pdnn_arena_alloc(&arena, epoch->n_kinds, sizeof *time);
    for (size_t k = 0; k < epoch->n_kinds; k++) {
        const int64_t *length = epoch->kind[k].length;
        time[k] = (3 + 0.5 * (double)length[0] + 0.8 * ceil((double)length[1] / 4)) *
                  (1 + 0.02 * (pdnn_rng_double(rng) - 0.5));
    }
    return time;
}

/* With the published constants in place of zeros. */
static struct pdnn_seqpoints choose(const struct pdnn_seqpoint_request *request) {
    struct pdnn_seqpoint_request wanted = *request;
    struct pdnn_seqpoints seqpoints;
    struct pdnn_err err = {0};
    wanted.unique_max = wanted.unique_max ? wanted.unique_max : 10;
    wanted.bins = wanted.bins ? wanted.bins : 5;
    wanted.error = wanted.error > 0 ? wanted.error : 0.01;
    if (pdnn_seqpoint_select(&wanted, &arena, &seqpoints, &err) != PDNN_OK)
        fail_msg("%s", err.text);
    return seqpoints;
}

static double sum_of_weights(const struct pdnn_representatives *points) {
    double sum = 0;
    for (size_t i = 0; i < points->count; i++)
        sum += points->point[i].weight;
    return sum;
}

static void assert_same_points(const struct pdnn_representatives *a, const struct pdnn_representatives *b) {
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_int_equal(a->point[i].kind, b->point[i].kind);
        assert_true(a->point[i].weight == b->point[i].weight);
    }
}

/* Of one length: bins by their borders, each distance compared. Returns the number of points. */
static size_t search(const struct pdnn_epoch *epoch, const double *time, size_t bins,
                     struct pdnn_representative *point) {
    int64_t low = epoch->kind[0].length[0], high = epoch->kind[epoch->n_kinds - 1].length[0];
    size_t count = 0;
    for (size_t b = 0; b < bins; b++) {
        double sum = 0, iterations = 0, least = INFINITY;
        size_t best = 0;
        for (int pass = 0; pass < 2; pass++) {
            for (size_t k = 0; k < epoch->n_kinds; k++) {
                double at = (double)(epoch->kind[k].length[0] - low) * (double)bins / (double)(high - low);
                bool in = at >= (double)b && (at < (double)b + 1 || b + 1 == bins);
                double n = (double)epoch->kind[k].count;
                if (in && !pass) {
                    sum += n * time[k];
                    iterations += n;
                }
                if (in && pass && fabs(time[k] - sum / iterations) < least - 1e-11) {
                    least = fabs(time[k] - sum / iterations);
                    best = k;
                }
            }
        }
        if (iterations > 0)
            point[count++] = (struct pdnn_representative){best, iterations, 1};
    }
    return count;
}

static void test_select_brute_force(void **state) {
    (void)state;
    struct pdnn_rng rng = {1, 0};
    for (int i = 0; i < 300; i++) {
        struct pdnn_epoch epoch = make_epoch(&rng, 4 + (int64_t)pdnn_rng_below(&rng, 90), false);
        double *time = make_times(&rng, &epoch), total = epoch_total(&epoch, time);
        struct pdnn_seqpoints found =
            choose(&(struct pdnn_seqpoint_request){&epoch, PDNN_KEY_SOURCE, time, 2, 2, 0.001});
        struct pdnn_representative expected[KINDS_MAX];
        for (size_t bins = 2;; bins++) {
            size_t n = epoch.n_kinds;
            bool each = n <= 2 || bins >= n;
            if (each) {
                for (size_t k = 0; k < n; k++)
                    expected[k] = (struct pdnn_representative){k, (double)epoch.kind[k].count, 1};
            } else {
                n = search(&epoch, time, bins, expected);
            }
            struct pdnn_representatives points = {expected, n};
            double error = pdnn_representatives_total(&points, time) / total - 1;
            if (!each && fabs(error) > 0.001)
                continue;
            assert_same_points(&found.points, &points);
            assert_int_equal(found.bins, each ? 0 : bins);
            assert_true(fabs(found.error - error) < 1e-12);
            break;
        }
    }
}

/* Weights sum to the iterations; the error is within what was asked, or every length was taken. */
static void test_select_keys(void **state) {
    (void)state;
    struct pdnn_rng rng = {2, 0};
    for (int i = 0; i < 100; i++) {
        struct pdnn_epoch epoch = make_epoch(&rng, 4 + (int64_t)pdnn_rng_below(&rng, 25), true);
        double *time = make_times(&rng, &epoch);
        for (int key = 0; key < PDNN_KEY_COUNT; key++) {
            for (int timed = 0; timed < 2; timed++) {
                struct pdnn_seqpoints found = choose(&(struct pdnn_seqpoint_request){
                    .epoch = &epoch, .key = (enum pdnn_seqpoint_key)key, .statistic = timed ? time : NULL});
                assert_true(sum_of_weights(&found.points) == (double)epoch.n_iterations);
                assert_true(fabs(found.error) <= 0.01 || found.bins == 0);
                if (key == PDNN_KEY_BOTH && found.bins == 0)
                    assert_true(fabs(found.error) < 1e-12);
                for (size_t k = 1; k < found.points.count; k++)
                    assert_true(found.points.point[k - 1].kind < found.points.point[k].kind);
            }
        }
    }
}

static void test_select_few_lengths(void **state) {
    (void)state;
    struct pdnn_epoch_kind kind[] = {{{40, 0}, 1}, {{10, 0}, 5}, {{20, 0}, 7}};
    struct pdnn_epoch epoch = epoch_of_kinds(kind, 3, &arena);
    struct pdnn_seqpoints found = choose(&(struct pdnn_seqpoint_request){.epoch = &epoch});
    static const double weights[] = {5, 7, 1};
    assert_int_equal(found.points.count, 3);
    assert_int_equal(found.distinct, 3);
    for (size_t i = 0; i < 3; i++)
        assert_true(found.points.point[i].weight == weights[i] && found.points.point[i].kind == i);
    assert_true(found.error == 0);
    /* As many bins as lengths, although equal widths would put 10 and 20 into one. */
    found = choose(&(struct pdnn_seqpoint_request){.epoch = &epoch, .unique_max = 1, .bins = 3});
    assert_int_equal(found.points.count, 3);
    assert_true(found.error == 0);
    /* A single length. */
    epoch = epoch_of_kinds(kind, 1, &arena);
    found = choose(&(struct pdnn_seqpoint_request){.epoch = &epoch, .unique_max = 1, .bins = 1});
    assert_int_equal(found.points.count, 1);
    assert_true(found.points.point[0].weight == 5 && found.error == 0);
}

static void test_select_constant(void **state) {
    (void)state;
    struct pdnn_rng rng = {3, 0};
    struct pdnn_epoch epoch = make_epoch(&rng, 100, false);
    double *time = pdnn_arena_alloc(&arena, epoch.n_kinds, sizeof *time);
    for (size_t k = 0; k < epoch.n_kinds; k++)
        time[k] = 0.1;
    struct pdnn_seqpoints found =
        choose(&(struct pdnn_seqpoint_request){&epoch, PDNN_KEY_SOURCE, time, 1, 1, 0.01});
    assert_int_equal(found.points.count, 1);
    assert_int_equal(found.points.point[0].kind, 0); /* a tie: the shorter */
    assert_true(fabs(found.error) < 1e-12);
}

/* The same SeqPoints for an epoch in another order, and for another unit of the statistic; the projected
 * speed-up is exact where all times have one ratio. */
static void test_select_invariances(void **state) {
    (void)state;
    struct pdnn_rng rng = {4, 0};
    for (int i = 0; i < 50; i++) {
        struct pdnn_epoch epoch = make_epoch(&rng, 60, i % 2);
        double *time = make_times(&rng, &epoch), *scaled = make_times(&rng, &epoch);
        struct pdnn_epoch_kind *kind = pdnn_arena_alloc(&arena, epoch.n_kinds, sizeof *kind);
        struct pdnn_epoch again;
        for (size_t k = 0; k < epoch.n_kinds; k++) {
            scaled[k] = 3.7 * time[k];
            kind[k] = epoch.kind[epoch.n_kinds - 1 - k];
        }
        again = epoch_of_kinds(kind, epoch.n_kinds, &arena);
        enum pdnn_seqpoint_key key = i % 2 ? PDNN_KEY_SUM : PDNN_KEY_SOURCE;
        struct pdnn_seqpoints one =
            choose(&(struct pdnn_seqpoint_request){.epoch = &epoch, .key = key, .statistic = time});
        struct pdnn_seqpoints other =
            choose(&(struct pdnn_seqpoint_request){.epoch = &again, .key = key, .statistic = scaled});
        assert_same_points(&one.points, &other.points);
        double speed_up =
            pdnn_representatives_total(&one.points, scaled) / pdnn_representatives_total(&one.points, time);
        assert_true(fabs(speed_up / 3.7 - 1) < 1e-12);
    }
}

/* What the methods make of times of kinds, with every kind a SeqPoint. */
static struct pdnn_method_estimates estimate(const struct pdnn_epoch *epoch, const double *time) {
    struct pdnn_seqpoints points =
        choose(&(struct pdnn_seqpoint_request){.epoch = epoch, .unique_max = KINDS_MAX});
    const struct pdnn_epoch_sample sample = pdnn_epoch_sample_draw(epoch, 1, &arena);
    const struct pdnn_method_estimates_request request = {
        .epoch = epoch, .points = &points.points, .sample = &sample, .draws = sample.least, .time_ns = time};
    struct pdnn_method_estimates made;
    struct pdnn_err err = {0};
    if (pdnn_method_estimates_make(&request, &arena, &made, &err) != PDNN_OK)
        fail_msg("%s", err.text);
    return made;
}

static void test_baselines(void **state) {
    (void)state;
    /* In order 10 x30, 20 x40, 30 x20, 90 x10: 100 iterations, 2600 in all. */
    struct pdnn_epoch_kind kind[] = {{{10, 0}, 30}, {{20, 0}, 40}, {{30, 0}, 20}, {{90, 0}, 10}};
    struct pdnn_epoch epoch = epoch_of_kinds(kind, 4, &arena);
    static const struct {
        enum pdnn_baseline baseline;
        size_t count, kind;
        double weight, total, fewer;
    } rows[] = {
        {PDNN_BASELINE_FREQUENT, 1, 1, 100, 2000, 100}, {PDNN_BASELINE_MEDIAN, 1, 1, 100, 2000, 100},
        {PDNN_BASELINE_WORST, 1, 3, 100, 9000, 100},    {PDNN_BASELINE_PRIOR, 2, 0, 60, 1400, 2},
        {PDNN_BASELINE_ALL, 4, 0, 30, 2600, 25},
    };
    static const double time[] = {10, 20, 30, 90};
    const struct pdnn_method_estimates made = estimate(&epoch, time);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct pdnn_method_estimate *found = &made.of[2 + rows[i].baseline];
        assert_int_equal(found->points.count, rows[i].count);
        assert_int_equal(found->points.point[0].kind, rows[i].kind);
        assert_true(found->points.point[0].weight == rows[i].weight);
        assert_true(sum_of_weights(&found->points) == 100);
        assert_true(found->total_ns == rows[i].total && found->fewer == rows[i].fewer);
        assert_true(found->error == (rows[i].total == 2600 ? 0 : rows[i].total / 2600 - 1));
    }
    assert_true(made.of[2 + PDNN_BASELINE_RANDOM].fewer == 2);
}

/* Drawing all iterations is exact; drawing some of them is not, unless all take as long. */
static void test_random_error(void **state) {
    (void)state;
    struct pdnn_epoch_kind kind[] = {{{1, 0}, 300}, {{2, 0}, 700}, {{3, 0}, 20}, {{4, 0}, 30}};
    struct pdnn_epoch many = epoch_of_kinds(kind, 2, &arena), few = epoch_of_kinds(kind + 2, 2, &arena);
    const double equal[] = {3, 3}, apart[] = {1, 2};
    /* 50 draws of 1 or 2 with 1.7 as their mean: 1.96 standard errors are 0.075 of it. */
    double error = estimate(&many, apart).of[2 + PDNN_BASELINE_RANDOM].error;
    assert_true(error > 0.05 && error < 0.1);
    assert_true(estimate(&many, equal).of[2 + PDNN_BASELINE_RANDOM].error < 1e-12);
    assert_true(estimate(&few, apart).of[2 + PDNN_BASELINE_RANDOM].error < 1e-12);
}

/* What the methods say of an epoch of which everything is known, some, or nothing. */
static void test_method_estimates(void **state) {
    (void)state;
    struct pdnn_epoch_kind kind[] = {{{1, 0}, 30}, {{2, 0}, 70}};
    struct pdnn_epoch epoch = epoch_of_kinds(kind, 2, &arena);
    for (int known = 0; known <= 2; known++) {
        const double time[] = {known > 0 ? 10 : NAN, known > 1 ? 20 : NAN};
        const struct pdnn_method_estimates made = estimate(&epoch, time);
        const struct pdnn_method_estimate *seqpoint = &made.of[0], *assisted = &made.of[1];
        assert_true(seqpoint->fewer == 50 && made.has_estimate == (known == 2));
        if (known < 2) {
            assert_true(isnan(made.truth_ns) && isnan(seqpoint->total_ns) && isnan(seqpoint->error));
            assert_true(isnan(seqpoint->serial) && isnan(seqpoint->parallel) && isnan(assisted->total_ns));
            continue;
        }
        assert_true(made.truth_ns == 1700 && seqpoint->total_ns == 1700 && seqpoint->error == 0);
        assert_true(fabs(seqpoint->serial - 1700.0 / 30) < 1e-12);
        assert_true(fabs(seqpoint->parallel - 1700.0 / 20) < 1e-12);
        assert_true(fabs(assisted->error) < 1e-9 && assisted->low_ns <= assisted->high_ns);
    }
}

/* The mean absolute error of 50 consecutive iterations, begun at 20 places. */
static double error_of_prior(const struct pdnn_epoch *epoch, const double *time) {
    enum { STARTS = 20 };
    double sum = 0;
    for (size_t i = 0; i < STARTS; i++) {
        const size_t most = epoch->n_iterations - PDNN_PRIOR_ITERATIONS,
                     first = i * epoch->n_iterations / STARTS;
        struct pdnn_epoch rotated = *epoch;
        rotated.kind_of = pdnn_arena_alloc(&arena, epoch->n_iterations, sizeof *rotated.kind_of);
        for (size_t k = 0; k < epoch->n_iterations; k++)
            rotated.kind_of[k] = epoch->kind_of[(k + (first < most ? first : most)) % epoch->n_iterations];
        sum += fabs(estimate(&rotated, time).of[2 + PDNN_BASELINE_PRIOR].error);
    }
    return sum / STARTS;
}

/* What is published: 50 consecutive iterations say little of a sorted epoch, more of a bucketed one, and most
 * of a shuffled one; SeqPoint does not care. Times are made up. */
static void test_prior_depends_on_order(void **state) {
    (void)state;
    static const struct {
        const char *source;
        enum pdnn_sampler sampler;
        double least, most; /* error of prior */
    } rows[] = {
        {"librispeech-clean-100", PDNN_SAMPLER_SORTED, 0.15, 1},
        {"librispeech-clean-100", PDNN_SAMPLER_SHUFFLED, 0, 0.02},
        {"iwslt15-en-vi", PDNN_SAMPLER_BUCKET, 0.05, 0.15},
        {"iwslt15-en-vi", PDNN_SAMPLER_SHUFFLED, 0, 0.04},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_lengths lengths;
        struct pdnn_epoch epoch;
        struct pdnn_err err = {0};
        struct pdnn_rng rng = {7, 0};
        const struct pdnn_lengths_request from = {.source = rows[i].source, .seed = 1};
        assert_int_equal(pdnn_lengths_make(&from, &arena, &lengths, &err), PDNN_OK);
        const struct pdnn_epoch_request request = {.lengths = &lengths,
                                                   .sampler = rows[i].sampler,
                                                   .batch = 64,
                                                   .multiple = 4,
                                                   .shard_batches = 80,
                                                   .seed = 1};
        assert_int_equal(pdnn_epoch_make(&request, &arena, &epoch, &err), PDNN_OK);
        double *time = make_times(&rng, &epoch), error = error_of_prior(&epoch, time);
        if (error < rows[i].least || error > rows[i].most)
            fail_msg("%s, sampler %d: error of prior %.4f", rows[i].source, (int)rows[i].sampler, error);
        struct pdnn_seqpoints found = choose(&(struct pdnn_seqpoint_request){
            .epoch = &epoch, .key = lengths.columns > 1 ? PDNN_KEY_SUM : PDNN_KEY_SOURCE, .statistic = time});
        assert_true(fabs(found.error) <= 0.01);
        assert_true(found.points.count <= 20);
    }
}

static void test_select_errors(void **state) {
    (void)state;
    struct pdnn_epoch_kind kind[] = {{{1, 0}, 30}, {{2, 0}, 70}};
    struct pdnn_epoch epoch;
    struct pdnn_seqpoints found;
    struct pdnn_err err = {0};
    epoch = epoch_of_kinds(kind, 2, &arena);
    static const double bad[][2] = {{1, -1}, {NAN, 1}, {INFINITY, 1}, {0, 0}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(
            pdnn_seqpoint_select(&(struct pdnn_seqpoint_request){.epoch = &epoch, .statistic = bad[i]},
                                 &arena, &found, &err),
            PDNN_INVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_select_brute_force),     cmocka_unit_test(test_select_keys),
        cmocka_unit_test(test_select_few_lengths),     cmocka_unit_test(test_select_constant),
        cmocka_unit_test(test_select_invariances),     cmocka_unit_test(test_baselines),
        cmocka_unit_test(test_random_error),           cmocka_unit_test(test_method_estimates),
        cmocka_unit_test(test_prior_depends_on_order), cmocka_unit_test(test_select_errors),
    };
    return cmocka_run_group_tests(tests, NULL, finish);
}
