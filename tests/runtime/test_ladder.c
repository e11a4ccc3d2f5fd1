/* Levels found from the bandwidths that various machines would show. */
#include "tests/cmocka_all.h"

#include "base/rng.h"
#include "runtime/core/ladder.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define KIB UINT64_C(1024)
#define MIB (KIB * KIB)

/* The true bandwidth of these threads: it falls from gbs[i] to gbs[i + 1] around end[i], over a factor
 * `slope` of working set. */
struct machine {
    const char *name;
    struct pdnn_host host;
    int64_t threads;
    uint64_t end[PDNN_CACHE_LEVELS];
    double gbs[PDNN_CACHE_LEVELS + 1];
    double slope;
    /* Expected: names in order, and the allowed relative error of an end. */
    const char *names[PDNN_LADDER_LEVELS + 1];
    double tolerance;
};

static const struct machine machines[] = {
    {"two cores, one L3",
     {.cache_bytes = {32 * KIB, 512 * KIB, 32 * MIB}, .cache_cores = {1, 1, 2}},
     2,
     {64 * KIB, MIB, 32 * MIB},
     {400, 200, 100, 40},
     1.2,
     {"L1", "L2", "L3", "DRAM"},
     1.5},
    {"260 MiB of L3 that tenants share: a few MiB are left",
     {.cache_bytes = {48 * KIB, 2 * MIB, 260 * MIB}, .cache_cores = {1, 1, 2}},
     2,
     {96 * KIB, 4 * MIB, 12 * MIB},
     {600, 200, 60, 30},
     1.5,
     {"L1", "L2", "L3", "DRAM"},
     1.6},
    {"240 MiB of L3 no faster than DRAM",
     {.cache_bytes = {48 * KIB, 2 * MIB, 240 * MIB}, .cache_cores = {1, 1, 2}},
     2,
     {96 * KIB, 4 * MIB, 240 * MIB},
     {600, 200, 31, 30},
     1.2,
     {"L1", "L2", "DRAM"},
     1.5},
    {"no L3",
     {.cache_bytes = {64 * KIB, MIB, 0}, .cache_cores = {1, 1, 0}},
     4,
     {256 * KIB, 4 * MIB},
     {800, 300, 50},
     1.2,
     {"L1", "L2", "DRAM"},
     1.5},
    {"L3 in slices of four cores",
     {.cache_bytes = {32 * KIB, 512 * KIB, 16 * MIB}, .cache_cores = {1, 1, 4}},
     8,
     {256 * KIB, 4 * MIB, 32 * MIB},
     {1600, 800, 400, 90},
     1.3,
     {"L1", "L2", "L3", "DRAM"},
     1.5},
    {"96 cores, more L2 than L3",
     {.cache_bytes = {48 * KIB, 2 * MIB, 105 * MIB}, .cache_cores = {1, 1, 96}},
     96,
     {4608 * KIB, 192 * MIB, 297 * MIB},
     {30000, 9000, 2000, 300},
     1.1,
     {"L1", "L2", "DRAM"}, /* L3 adds less than a factor of two */
     1.6},
    {"a host that reports no cache",
     {.cores_online = 1},
     1,
     {32 * KIB, MIB},
     {300, 100, 20},
     1.2,
     {"L1", "L2", "DRAM"},
     1.5},
};
enum { MACHINES = sizeof machines / sizeof *machines };

static double bandwidth(const struct machine *machine, double bytes) {
    double gbs = machine->gbs[0];
    for (size_t i = 0; i < PDNN_CACHE_LEVELS && machine->end[i]; i++) {
        double part = (log(bytes) - log((double)machine->end[i])) / log(machine->slope) + 0.5;
        part = part < 0 ? 0 : part > 1 ? 1 : part;
        gbs *= pow(machine->gbs[i + 1] / machine->gbs[i], part);
    }
    return gbs;
}

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
            all += pdnn_ladder_reported(&machine->host, machine->threads, level);
        assert_true(count > 4 && count <= PDNN_LADDER_POINTS);
        assert_true(sizes[count - 1] >= 2.8 * (double)all && sizes[count - 1] >= 180 * MIB);
        uint64_t l1 = pdnn_ladder_reported(&machine->host, machine->threads, 0);
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
