/* Levels found from the bandwidths that various machines would show. */
#include "tests/cmocka_all.h"

#include "base/rng.h"
#include "tests/runtime/machines.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static size_t make_points(const struct machine *machine, double noise, uint64_t seed,
                          struct pdnn_ladder_point points[PDNN_LADDER_POINTS]) {
    static const double pattern[PDNN_LADDER_PATTERNS] = {1, 0.8, 0.9};
    uint64_t sizes[PDNN_LADDER_POINTS];
    struct pdnn_rng rng = {seed, 0};
    size_t count = pdnn_ladder_sizes(&machine->host, machine->threads, sizes);
    for (size_t i = 0; i < count; i++) {
        points[i].bytes = sizes[i];
        for (size_t k = 0; k < PDNN_LADDER_PATTERNS; k++)
            points[i].gbs[k] = pattern[k] * bandwidth(machine, (double)sizes[i]) *
                               (1 + noise * (2 * pdnn_rng_double(&rng) - 1));
    }
    return count;
}

static void expect_levels(const struct machine *machine, double noise, uint64_t seed) {
    struct pdnn_ladder_point points[PDNN_LADDER_POINTS];
    struct pdnn_ladder_level levels[PDNN_LADDER_LEVELS];
    size_t count = make_points(machine, noise, seed, points);
    size_t n_levels = pdnn_ladder_split(&machine->host, machine->threads, points, count, levels);
    for (size_t i = 0; i < n_levels; i++) {
        if (!machine->names[i] || strcmp(levels[i].name, machine->names[i]) != 0)
            fail_msg("%s, noise %g, seed %d: level %zu of %zu is %s", machine->name, noise, (int)seed, i,
                     n_levels, levels[i].name);
        bool is_last = i + 1 == n_levels;
        assert_int_equal(levels[i].end, is_last ? count : levels[i + 1].first);
        assert_int_equal(levels[i].capacity_bytes == 0, is_last);
        double apart = is_last ? 0 : fabs(log((double)levels[i].capacity_bytes / (double)machine->end[i]));
        if (apart > log(machine->tolerance))
            fail_msg("%s, noise %g, seed %d: %s ends at %.0f KiB, not %.0f", machine->name, noise, (int)seed,
                     levels[i].name, (double)levels[i].capacity_bytes / 1024, (double)machine->end[i] / 1024);
    }
    if (machine->names[n_levels])
        fail_msg("%s, noise %g, seed %d: no %s", machine->name, noise, (int)seed, machine->names[n_levels]);
}

static void test_split_finds_the_levels_of_machines(void **state) {
    (void)state;
    for (size_t i = 0; i < MACHINES; i++)
        expect_levels(&machines[i], 0, 1);
}

static void test_split_finds_them_under_noise(void **state) {
    (void)state;
    for (size_t i = 0; i < MACHINES; i++)
        for (uint64_t seed = 1; seed <= 200; seed++)
            expect_levels(&machines[i], 0.08, seed);
}

static void test_split_of_a_flat_ladder_is_dram(void **state) {
    (void)state;
    struct machine flat = machines[0];
    struct pdnn_ladder_point points[PDNN_LADDER_POINTS];
    struct pdnn_ladder_level levels[PDNN_LADDER_LEVELS];
    for (size_t i = 0; i <= PDNN_CACHE_LEVELS; i++)
        flat.gbs[i] = 20 + (double)(PDNN_CACHE_LEVELS - i);
    size_t count = make_points(&flat, 0, 1, points);
    assert_int_equal(pdnn_ladder_split(&flat.host, 2, points, count, levels), 1);
    assert_string_equal(levels[0].name, "DRAM");
    assert_int_equal(pdnn_ladder_split(&flat.host, 2, points, 1, levels), 1);
}

static void test_sizes_cover_the_machine(void **state) {
    (void)state;
    for (size_t i = 0; i < MACHINES; i++) {
        uint64_t sizes[PDNN_LADDER_POINTS], all = 0;
        const struct machine *machine = &machines[i];
        size_t count = pdnn_ladder_sizes(&machine->host, machine->threads, sizes);
        for (size_t level = 0; level < PDNN_CACHE_LEVELS; level++)
            all += pdnn_host_cache_bytes(&machine->host, machine->threads, level);
        assert_true(count > 4 && count <= PDNN_LADDER_POINTS);
        assert_true(sizes[count - 1] >= 2.8 * (double)all && sizes[count - 1] >= 180 * MIB);
        uint64_t l1 = pdnn_host_cache_bytes(&machine->host, machine->threads, 0);
        assert_true(!l1 || sizes[0] == l1 / 4);
        for (size_t k = 1; k < count; k++)
            assert_true(sizes[k] > sizes[k - 1]);
    }
}

static void test_sizes_stay_within_memory(void **state) {
    (void)state;
    struct pdnn_host host = machines[1].host;
    uint64_t sizes[PDNN_LADDER_POINTS];
    host.memory_limit_bytes = 128 * MIB;
    size_t count = pdnn_ladder_sizes(&host, 2, sizes);
    assert_true(sizes[count - 1] <= 65 * MIB);
    host.memory_limit_bytes = 4 * KIB;
    assert_int_equal(pdnn_ladder_sizes(&host, 2, sizes), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split_finds_the_levels_of_machines),
        cmocka_unit_test(test_split_finds_them_under_noise),
        cmocka_unit_test(test_split_of_a_flat_ladder_is_dram),
        cmocka_unit_test(test_sizes_cover_the_machine),
        cmocka_unit_test(test_sizes_stay_within_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
