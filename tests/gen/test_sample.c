/* Samples: no point appears twice, all appear in the end, the spread is even, and the
 * same seed gives the same points. */
#include "gen/expansion/sample.h"
#include "tests/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

static struct pdnn_sample *create(enum pdnn_sample_method method, const uint64_t *counts, size_t n,
                                  uint64_t seed) {
    struct pdnn_sample *sample = NULL;
    uint64_t points = 1;
    for (size_t i = 0; i < n; i++)
        points *= counts[i];
    sample = pdnn_sample_create(method, counts, n, points, seed);
    return sample;
}

static const uint64_t counts[] = {6, 1, 9, 4, 5, 9};
enum { N_COUNTS = sizeof counts / sizeof *counts, POINTS = 6 * 9 * 4 * 5 * 9 };

static void test_sample_covers_the_space_once(void **state) {
    (void)state;
    for (int method = PDNN_SAMPLE_RANDOM; method <= PDNN_SAMPLE_SOBOL; method++) {
        struct pdnn_sample *sample = create((enum pdnn_sample_method)method, counts, N_COUNTS, 7);
        char seen[POINTS] = {0};
        uint64_t point;
        int n = 0;
        for (; pdnn_sample_next(sample, &point); n++) {
            assert_true(point < POINTS);
            assert_false(seen[point]);
            seen[point] = 1;
            pdnn_sample_keep(sample, point);
        }
        assert_int_equal(n, POINTS);
        pdnn_sample_destroy(sample);
    }
}

static void test_sample_depends_on_the_seed_alone(void **state) {
    (void)state;
    for (int method = PDNN_SAMPLE_RANDOM; method <= PDNN_SAMPLE_SOBOL; method++) {
        struct pdnn_sample *a = create((enum pdnn_sample_method)method, counts, N_COUNTS, 7);
        struct pdnn_sample *b = create((enum pdnn_sample_method)method, counts, N_COUNTS, 7);
        struct pdnn_sample *c = create((enum pdnn_sample_method)method, counts, N_COUNTS, 8);
        int n_same = 0;
        for (int i = 0; i < 100; i++) {
            uint64_t of_a, of_b, of_c;
            assert_true(pdnn_sample_next(a, &of_a) && pdnn_sample_next(b, &of_b) &&
                        pdnn_sample_next(c, &of_c));
            assert_int_equal(of_a, of_b);
            n_same += of_a == of_c;
        }
        assert_true(n_same < 20);
        pdnn_sample_destroy(a);
        pdnn_sample_destroy(b);
        pdnn_sample_destroy(c);
    }
}

/* The first ten points in three dimensions, in sixteenths, as Joe and Kuo print them with their table.
 * Differences to the first point cancel the seed's shift. */
static void test_sobol_published_points(void **state) {
    (void)state;
    static const uint64_t sixteenths[] = {16, 16, 16};
    static const unsigned published[][3] = {{0, 0, 0},   {8, 8, 8},   {12, 4, 4}, {4, 12, 12}, {6, 6, 10},
                                            {14, 14, 2}, {10, 2, 14}, {2, 10, 6}, {3, 5, 15},  {11, 13, 7}};
    struct pdnn_sample *sample = create(PDNN_SAMPLE_SOBOL, sixteenths, 3, 11);
    uint64_t first = 0;
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        uint64_t point;
        assert_true(pdnn_sample_next(sample, &point));
        first = i ? first : point;
        assert_int_equal(point ^ first, published[i][0] << 8 | published[i][1] << 4 | published[i][2]);
    }
    pdnn_sample_destroy(sample);
}

/* Sobol's property A, for which the table was chosen: of the first 2^d points, one falls into
 * each of the 2^d subcubes made by halving the d-dimensional cube along every axis. Most wrong
 * numbers in the table break it. */
static void test_sobol_has_property_a(void **state) {
    (void)state;
    enum { CELLS = 1 << PDNN_SOBOL_DIMS };
    uint64_t halves[PDNN_SOBOL_DIMS];
    for (size_t i = 0; i < PDNN_SOBOL_DIMS; i++)
        halves[i] = 2;
    struct pdnn_sample *sample = create(PDNN_SAMPLE_SOBOL, halves, PDNN_SOBOL_DIMS, 3);
    char *seen = calloc(CELLS, 1);
    assert_non_null(seen);
    for (size_t n = 0; n < CELLS; n++) {
        uint64_t point;
        assert_true(pdnn_sample_next(sample, &point));
        if (seen[point])
            fail_msg("point %zu is in the cell of an earlier one", n);
        seen[point] = 1;
    }
    free(seen);
    pdnn_sample_destroy(sample);
}

/* 64 points: equally many in each eighth of every axis. */
static void test_sobol_is_balanced_on_every_axis(void **state) {
    (void)state;
    enum { LEVEL = 8, DRAWN = 64 };
    uint64_t axes[PDNN_SOBOL_DIMS];
    for (size_t i = 0; i < PDNN_SOBOL_DIMS; i++)
        axes[i] = LEVEL;
    struct pdnn_sample *sample = create(PDNN_SAMPLE_SOBOL, axes, PDNN_SOBOL_DIMS, 3);
    int hits[PDNN_SOBOL_DIMS][LEVEL] = {{0}};
    for (int n = 0; n < DRAWN; n++) {
        uint64_t point;
        assert_true(pdnn_sample_next(sample, &point));
        for (size_t i = PDNN_SOBOL_DIMS; i-- > 0; point /= LEVEL)
            hits[i][point % LEVEL]++;
    }
    for (size_t i = 0; i < PDNN_SOBOL_DIMS; i++) {
        for (size_t j = 0; j < LEVEL; j++)
            assert_int_equal(hits[i][j], DRAWN / LEVEL);
    }
    pdnn_sample_destroy(sample);
}

/* The first two dimensions are a (0, m, 2)-net: of 16 points, one falls into each cell of the 4 x 4 grid, and
 * likewise for 2 x 8 and 8 x 2. */
static void test_sobol_first_plane_is_a_net(void **state) {
    (void)state;
    static const uint64_t shapes[][2] = {{16, 1}, {8, 2}, {4, 4}, {2, 8}, {1, 16}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        struct pdnn_sample *sample = create(PDNN_SAMPLE_SOBOL, (const uint64_t[]){16, 16}, 2, 5);
        int hits[16] = {0};
        for (int n = 0; n < 16; n++) {
            uint64_t point;
            assert_true(pdnn_sample_next(sample, &point));
            uint64_t x = point / 16 / (16 / shapes[s][0]), y = point % 16 / (16 / shapes[s][1]);
            hits[x * shapes[s][1] + y]++;
        }
        for (size_t i = 0; i < 16; i++)
            assert_int_equal(hits[i], 1);
        pdnn_sample_destroy(sample);
    }
}

static void test_random_is_even(void **state) {
    (void)state;
    enum { DRAWN = 4000, VALUES = 10 };
    static const uint64_t huge[] = {UINT64_C(1000000000000), VALUES, 100};
    struct pdnn_sample *sample = create(PDNN_SAMPLE_RANDOM, huge, 3, 1);
    int hits[VALUES] = {0}, upper = 0;
    for (int n = 0; n < DRAWN; n++) {
        uint64_t point;
        assert_true(pdnn_sample_next(sample, &point));
        hits[point / 100 % VALUES]++;
        upper += point / 100 / VALUES >= huge[0] / 2;
    }
    for (size_t i = 0; i < VALUES; i++)
        assert_true(hits[i] >= 300 && hits[i] <= 500); /* 400 expected, standard deviation 19 */
    assert_true(upper >= 1800 && upper <= 2200);       /* 2000 expected, standard deviation 32 */
    pdnn_sample_destroy(sample);
}

static void test_sample_of_the_largest_space(void **state) {
    (void)state;
    static const uint64_t most[] = {UINT64_MAX};
    for (int method = PDNN_SAMPLE_RANDOM; method <= PDNN_SAMPLE_SOBOL; method++) {
        struct pdnn_sample *sample = create((enum pdnn_sample_method)method, most, 1, 1);
        uint64_t point, previous = UINT64_MAX;
        for (int i = 0; i < 1000; i++, previous = point) {
            assert_true(pdnn_sample_next(sample, &point));
            assert_true(point != previous && point < UINT64_MAX);
            pdnn_sample_keep(sample, point);
        }
        pdnn_sample_destroy(sample);
    }
}

static void test_sample_of_one_point(void **state) {
    (void)state;
    for (int method = PDNN_SAMPLE_RANDOM; method <= PDNN_SAMPLE_SOBOL; method++) {
        struct pdnn_sample *sample = create((enum pdnn_sample_method)method, NULL, 0, 1);
        uint64_t point;
        assert_true(pdnn_sample_next(sample, &point));
        assert_int_equal(point, 0);
        pdnn_sample_keep(sample, point);
        assert_false(pdnn_sample_next(sample, &point));
        pdnn_sample_destroy(sample);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sample_covers_the_space_once),
        cmocka_unit_test(test_sample_depends_on_the_seed_alone),
        cmocka_unit_test(test_sobol_published_points),
        cmocka_unit_test(test_sobol_has_property_a),
        cmocka_unit_test(test_sobol_is_balanced_on_every_axis),
        cmocka_unit_test(test_sobol_first_plane_is_a_net),
        cmocka_unit_test(test_random_is_even),
        cmocka_unit_test(test_sample_of_the_largest_space),
        cmocka_unit_test(test_sample_of_one_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
