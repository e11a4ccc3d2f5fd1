/* The model-assisted estimate of an epoch: exact where it must be, unbiased, and with an interval that holds
 * as often as it says. `test_assisted long` does the last with 300 epochs of the published sizes. */
#include "tests/cmocka_all.h"

#include "results/epochs/sample_estimate.h"
#include "tests/results/epochs.h"
#include "tests/near.h"

#include <math.h>
#include <string.h>

static bool is_long;
static struct pdnn_arena arena;

static int reset(void **state) {
    (void)state;
    pdnn_arena_reset(&arena);
    return 0;
}

static struct pdnn_epoch make_epoch(const char *source, uint64_t examples, enum pdnn_sampler sampler,
                                    int64_t multiple, uint64_t seed) {
    struct pdnn_lengths lengths;
    struct pdnn_epoch epoch;
    struct pdnn_err err = {0};
    const struct pdnn_lengths_request from = {.source = source, .examples = examples, .seed = seed};
    if (pdnn_lengths_make(&from, &arena, &lengths, &err) != PDNN_OK)
        fail_msg("%s", err.text);
    const struct pdnn_epoch_request request = {.lengths = &lengths,
                                               .sampler = sampler,
                                               .batch = examples ? 16 : 64,
                                               .multiple = multiple,
                                               .shard_batches = 80,
                                               .seed = seed};
    if (pdnn_epoch_make(&request, &arena, &epoch, &err) != PDNN_OK)
        fail_msg("%s", err.text);
    return epoch;
}

static struct pdnn_epoch_sample draw(const struct pdnn_epoch *epoch, uint64_t seed) {
    return pdnn_epoch_sample_draw(epoch, seed, &arena);
}

/* Step times of made-up platforms, for lengths of around 1: lines, steps of a kernel's block, a product of
 * lengths as in attention. */
enum { PLATFORMS = 4 };
static double time_of(int platform, double s, double t) {
    switch (platform) {
    case 0:
        return 0.3 + s + 1.5 * t;
    case 1:
        return 0.2 + 0.2 * ceil(5 * s) + 0.25 * ceil(6 * t);
    case 2:
        return 0.5 + 0.6 * s + 0.4 * t + 0.7 * s * (s + t);
    default:
        return 1 + 0.8 * s + 0.1 * ceil(8 * t);
    }
}

/* By iteration, with noise of 1 %; lengths relative to their means. */
static double *make_times(const struct pdnn_epoch *epoch, int platform, double noise, uint64_t seed) {
    double *time = pdnn_arena_alloc(&arena, epoch->n_iterations, sizeof *time), mean[2] = {0, 0};
    struct pdnn_rng rng = {pdnn_rng_seed(seed, "times"), 0};
    for (size_t k = 0; k < epoch->n_kinds; k++) {
        for (int c = 0; c < 2; c++)
            mean[c] +=
                (double)epoch->kind[k].count * (double)epoch->kind[k].length[c] / (double)epoch->n_iterations;
    }
    for (size_t i = 0; i < epoch->n_iterations; i++) {
        const int64_t *length = epoch->kind[epoch->kind_of[i]].length;
        time[i] =
            time_of(platform, (double)length[0] / mean[0], mean[1] > 0 ? (double)length[1] / mean[1] : 0) *
            (1 + noise * pdnn_rng_normal(&rng));
    }
    return time;
}

static double sum_of(const double *value, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += value[i];
    return sum;
}

/* The values in the order of the draws. */
static double *pick(const struct pdnn_epoch_sample *sample, const double *time) {
    size_t n = sample->epoch->n_iterations;
    double *value = pdnn_arena_alloc(&arena, n, sizeof *value);
    for (size_t i = 0; i < n; i++)
        value[i] = time[sample->order[i]];
    return value;
}

static struct pdnn_epoch_estimate estimate_of(const struct pdnn_epoch_sample *sample, size_t draws,
                                              const double *value) {
    struct pdnn_epoch_estimate estimate;
    struct pdnn_err err = {0};
    if (pdnn_sample_estimate(sample, draws, value, &arena, &estimate, &err) != PDNN_OK)
        fail_msg("%s", err.text);
    return estimate;
}

/* Each iteration once; strata in turn; lengths of a lower stratum are not greater. */
static void test_sample_order(void **state) {
    (void)state;
    struct pdnn_epoch epoch = make_epoch("iwslt15-en-vi", 3200, PDNN_SAMPLER_BUCKET, 1, 3);
    struct pdnn_epoch_sample sample = draw(&epoch, 1);
    bool *seen = pdnn_arena_alloc(&arena, epoch.n_iterations, sizeof *seen);
    int64_t low[PDNN_STRATA], high[PDNN_STRATA];
    size_t count[PDNN_STRATA] = {0};
    assert_int_equal(sample.n_strata, PDNN_STRATA);
    assert_int_equal(sample.least, 2 * PDNN_STRATA);
    for (size_t i = 0; i < epoch.n_iterations; i++) {
        const int64_t *length = epoch.kind[epoch.kind_of[sample.order[i]]].length;
        size_t h = sample.stratum[i];
        assert_false(seen[sample.order[i]]);
        seen[sample.order[i]] = true;
        if (i < 2 * PDNN_STRATA)
            assert_int_equal(h, i % PDNN_STRATA);
        low[h] = !count[h] || length[0] + length[1] < low[h] ? length[0] + length[1] : low[h];
        high[h] = !count[h] || length[0] + length[1] > high[h] ? length[0] + length[1] : high[h];
        count[h]++;
    }
    for (size_t h = 0; h < PDNN_STRATA; h++) {
        assert_int_equal(count[h], sample.stratum_size[h]);
        assert_true(h == 0 || (high[h - 1] <= low[h] && count[h - 1] >= count[h]));
    }
}

/* Times that the fit can express have no error and no width; weights reproduce the sums of its terms. */
static void test_estimate_exact(void **state) {
    (void)state;
    struct pdnn_epoch epoch = make_epoch("iwslt15-en-vi", 3200, PDNN_SAMPLER_BUCKET, 1, 3);
    for (uint64_t seed = 0; seed < 5; seed++) {
        struct pdnn_epoch_sample sample = draw(&epoch, seed);
        const double *time = make_times(&epoch, 0, 0, seed), *value = pick(&sample, time);
        struct pdnn_epoch_estimate estimate = estimate_of(&sample, 20, value);
        double truth = sum_of(time, epoch.n_iterations), sums[3] = {0}, again = 0;
        assert_near(estimate.total / truth, 1, 1e-10);
        assert_true(pdnn_sample_half_width(&estimate) < 1e-9);
        for (size_t i = 0; i < 20; i++) {
            const int64_t *length = epoch.kind[epoch.kind_of[sample.order[i]]].length;
            sums[0] += estimate.weight[i];
            sums[1] += estimate.weight[i] * (double)length[0];
            sums[2] += estimate.weight[i] * (double)length[1];
            again += estimate.weight[i] * value[i];
        }
        for (size_t k = 0; k < epoch.n_kinds; k++) {
            double iterations = (double)epoch.kind[k].count;
            sums[0] -= iterations;
            sums[1] -= iterations * (double)epoch.kind[k].length[0];
            sums[2] -= iterations * (double)epoch.kind[k].length[1];
        }
        for (int i = 0; i < 3; i++)
            assert_near(sums[i], 0, 1e-6);
        assert_near(again / estimate.total, 1, 1e-12);
    }
}

/* One length, and its square. */
static void test_estimate_square(void **state) {
    (void)state;
    struct pdnn_epoch epoch = make_epoch("uniform:5-90", 3200, PDNN_SAMPLER_BUCKET, 1, 3);
    struct pdnn_epoch_sample sample = draw(&epoch, 1);
    double *time = pdnn_arena_alloc(&arena, epoch.n_iterations, sizeof *time);
    for (size_t i = 0; i < epoch.n_iterations; i++) {
        double s = (double)epoch.kind[epoch.kind_of[i]].length[0];
        time[i] = 7 + 2 * s + 0.05 * s * s;
    }
    struct pdnn_epoch_estimate estimate = estimate_of(&sample, 20, pick(&sample, time));
    assert_near(estimate.total / sum_of(time, epoch.n_iterations), 1, 1e-9);
    assert_true(pdnn_sample_half_width(&estimate) < 1e-8);
}

static void test_estimate_of_all(void **state) {
    (void)state;
    struct pdnn_epoch epoch = make_epoch("uniform:5-90", 800, PDNN_SAMPLER_SHUFFLED, 1, 3);
    struct pdnn_epoch_sample sample = draw(&epoch, 2);
    const double *time = make_times(&epoch, 1, 0.05, 1);
    struct pdnn_epoch_estimate estimate = estimate_of(&sample, 50, pick(&sample, time));
    assert_near(estimate.total / sum_of(time, 50), 1, 1e-12);
    assert_true(estimate.low == estimate.high);
    assert_int_equal(pdnn_sample_draws_needed(&sample, &estimate, 1e-9), 50);
}

/* With one length there is nothing to fit: the mean of the sample, whose strata are equal. */
static void test_estimate_one_length(void **state) {
    (void)state;
    struct pdnn_epoch_kind kind = {{35, 0}, 200};
    struct pdnn_epoch epoch = epoch_of_kinds(&kind, 1, &arena);
    struct pdnn_epoch_sample sample = draw(&epoch, 2);
    const double *value = pick(&sample, make_times(&epoch, 0, 0.01, 1));
    struct pdnn_epoch_estimate estimate = estimate_of(&sample, 20, value);
    assert_near(estimate.total / (sum_of(value, 20) / 20 * 200), 1, 1e-12);
    assert_true(estimate.low < estimate.total && estimate.total < estimate.high);
}

/* Times of a curve that the fit cannot follow: the mean over samples is within four of its standard errors.
 */
static void test_estimate_unbiased(void **state) {
    (void)state;
    enum { SEEDS = 400 };
    struct pdnn_epoch epoch = make_epoch("lognormal:3,0.6", 3200, PDNN_SAMPLER_BUCKET, 1, 3);
    double *time = make_times(&epoch, 1, 0, 1), sum = 0, squares = 0;
    for (size_t i = 0; i < epoch.n_iterations; i++)
        time[i] = time[i] * time[i] * time[i];
    double truth = sum_of(time, epoch.n_iterations);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct pdnn_epoch_sample sample = draw(&epoch, seed);
        double error = estimate_of(&sample, 40, pick(&sample, time)).total / truth - 1;
        sum += error;
        squares += error * error;
    }
    double deviation = sqrt(squares / SEEDS);
    assert_near(sum / SEEDS, 0, 4 * deviation / sqrt(SEEDS) + 0.002);
}

/* What is resampled: the epoch, the noise and the draws. Returns the per cent of intervals that hold. */
static double coverage(const char *source, uint64_t examples, enum pdnn_sampler sampler, int64_t multiple,
                       int platform, size_t draws, uint64_t epochs) {
    size_t held = 0;
    double errors = 0, widths = 0;
    for (uint64_t seed = 0; seed < epochs; seed++) {
        pdnn_arena_reset(&arena);
        struct pdnn_epoch epoch = make_epoch(source, examples, sampler, multiple, seed);
        struct pdnn_epoch_sample sample = draw(&epoch, seed);
        const double *time = make_times(&epoch, platform, 0.01, seed);
        double truth = sum_of(time, epoch.n_iterations);
        struct pdnn_epoch_estimate estimate = estimate_of(&sample, draws, pick(&sample, time));
        held += estimate.low <= truth && truth <= estimate.high;
        errors += log(fmax(1e-4, fabs(estimate.total / truth - 1)));
        widths += pdnn_sample_half_width(&estimate);
    }
    double per_cent = 100 * (double)held / (double)epochs;
    if (is_long)
        print_message("%s, platform %d, %zu draws: %.1f %% of %d intervals hold; error %.2f %% (geometric "
                      "mean), half width %.2f %%\n",
                      source, platform, draws, per_cent, (int)epochs, 100 * exp(errors / (double)epochs),
                      100 * widths / (double)epochs);
    return per_cent;
}

static void test_estimate_coverage(void **state) {
    (void)state;
    uint64_t epochs = is_long ? 300 : 100;
    double low = is_long ? 92 : 88, high = is_long ? 98.5 : 100;
    bool failed = false;
    for (int platform = 0; platform < PLATFORMS; platform++) {
        for (size_t draws = is_long ? 20 : 40; draws <= 40; draws += 20) {
            double speech = coverage("librispeech-clean-100", is_long ? 0 : 3200, PDNN_SAMPLER_SORTED, 50,
                                     platform, draws, epochs);
            double pairs = coverage("iwslt15-en-vi", is_long ? 0 : 3200, PDNN_SAMPLER_BUCKET, 4, platform,
                                    draws, epochs);
            if (speech < low || speech > high || pairs < low || pairs > high) {
                print_error("platform %d, %zu draws: %.1f and %.1f %% of the intervals hold\n", platform,
                            draws, speech, pairs);
                failed = true;
            }
        }
    }
    assert_false(failed);
}

/* Draws until the interval is narrow enough, as --target-error does: it stops, and still holds. */
static void test_draws_needed(void **state) {
    (void)state;
    enum { EPOCHS = 100 };
    const double target = 0.005;
    size_t held = 0, all_draws = 0;
    for (uint64_t seed = 0; seed < EPOCHS; seed++) {
        pdnn_arena_reset(&arena);
        struct pdnn_epoch epoch = make_epoch("iwslt15-en-vi", 3200, PDNN_SAMPLER_BUCKET, 4, seed);
        struct pdnn_epoch_sample sample = draw(&epoch, seed);
        const double *time = make_times(&epoch, 1, 0.01, seed), *value = pick(&sample, time);
        double truth = sum_of(time, epoch.n_iterations);
        struct pdnn_epoch_estimate estimate = {.draws = 0};
        for (size_t next = 20; next != estimate.draws;) {
            assert_true(next > estimate.draws && next <= epoch.n_iterations);
            estimate = estimate_of(&sample, next, value);
            next = pdnn_sample_draws_needed(&sample, &estimate, target);
        }
        assert_true(pdnn_sample_half_width(&estimate) <= target);
        held += estimate.low <= truth && truth <= estimate.high;
        all_draws += estimate.draws;
    }
    if (is_long)
        print_message("to 0.5 %%: %.0f draws of 200, %zu of %d intervals hold\n", (double)all_draws / EPOCHS,
                      held, EPOCHS);
    assert_true(held >= 88);
    assert_true(all_draws > 20 * EPOCHS && all_draws < 150 * EPOCHS);
}

static void test_estimate_errors(void **state) {
    (void)state;
    struct pdnn_epoch epoch = make_epoch("uniform:5-90", 1600, PDNN_SAMPLER_SHUFFLED, 1, 3);
    struct pdnn_epoch_sample sample = draw(&epoch, 2);
    struct pdnn_epoch_estimate estimate;
    struct pdnn_err err = {0};
    const double *value = pick(&sample, make_times(&epoch, 0, 0.01, 1));
    assert_int_equal(pdnn_sample_estimate(&sample, 19, value, &arena, &estimate, &err), PDNN_INVALID);
    assert_string_equal(err.text, "an interval needs from 20 to 100 iterations, not 19");
    assert_int_equal(pdnn_sample_estimate(&sample, 101, value, &arena, &estimate, &err), PDNN_INVALID);
}

/* Epochs of a few iterations have fewer strata and can be drawn whole. */
static void test_sample_small(void **state) {
    (void)state;
    for (uint64_t iterations = 1; iterations <= 12; iterations++) {
        struct pdnn_epoch epoch = make_epoch("uniform:5-90", 16 * iterations, PDNN_SAMPLER_SHUFFLED, 1, 3);
        struct pdnn_epoch_sample sample = draw(&epoch, 2);
        const double *time = make_times(&epoch, 1, 0.01, 1);
        assert_true(sample.least >= 1 && sample.least <= iterations);
        for (size_t draws = sample.least; draws <= iterations; draws++) {
            struct pdnn_epoch_estimate estimate = estimate_of(&sample, draws, pick(&sample, time));
            assert_true(estimate.total > 0 && isfinite(estimate.low) && isfinite(estimate.high));
        }
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_sample_order, reset),
        cmocka_unit_test_setup(test_sample_small, reset),
        cmocka_unit_test_setup(test_estimate_exact, reset),
        cmocka_unit_test_setup(test_estimate_square, reset),
        cmocka_unit_test_setup(test_estimate_of_all, reset),
        cmocka_unit_test_setup(test_estimate_one_length, reset),
        cmocka_unit_test_setup(test_estimate_unbiased, reset),
        cmocka_unit_test_setup(test_estimate_coverage, reset),
        cmocka_unit_test_setup(test_draws_needed, reset),
        cmocka_unit_test_setup(test_estimate_errors, reset),
    };
    is_long = argc > 1 && strcmp(argv[1], "long") == 0;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pdnn_arena_finish(&arena);
    return failed;
}
