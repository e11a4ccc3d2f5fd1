/* From the ladder that a machine would show to the roof above a row: levels, their roofs, and the level that
 * serves an access, on machines that the test makes up. */
#include "tests/cmocka_all.h"

#include "base/stats.h"
#include "models/build.h"
#include "models/cost/cost.h"
#include "models/op.h"
#include "results/rows/roofline.h"
#include "runtime/roofs/ladder.h"
#include "tests/runtime/machines.h"
#include "tests/runtime/recorded_ladders.h"

#include <stdio.h>
#include <string.h>

enum { RUNGS = 6 };

/* What patterns reach relative to the machine's bandwidth; streaming stores run at DRAM's wherever they are.
 */
static const struct {
    const char *name;
    double share;
    bool is_streaming;
} rungs[RUNGS] = {{"read", 1, false},    {"copy", 0.8, false},           {"copy-streaming", 1.1, true},
                  {"triad", 0.9, false}, {"triad-streaming", 1.2, true}, {"update", 1.3, false}};

static double dram_gbs(const struct machine *machine) {
    size_t last = 0;
    while (last < PDNN_CACHE_LEVELS && machine->end[last])
        last++;
    return machine->gbs[last];
}

/* The rows of a measurement of the machine: GB/s by working set and pattern as recorded, or else as the
 * machine would give them. */
static void rows_of(const struct machine *machine, const double recorded_gbs[][RUNGS],
                    struct pdnn_roof_rows *roof_rows) {
    struct pdnn_roof_row ladder[PDNN_LADDER_POINTS * RUNGS];
    uint64_t sizes[PDNN_LADDER_POINTS];
    size_t n_sizes = pdnn_ladder_sizes(&machine->host, machine->threads, sizes), count = 0;
    memset(ladder, 0, sizeof ladder);
    for (size_t i = 0; i < n_sizes * RUNGS; i++) {
        struct pdnn_roof_row *row = &ladder[count];
        double gbs =
            rungs[i % RUNGS].is_streaming ? dram_gbs(machine) : bandwidth(machine, (double)sizes[i / RUNGS]);
        snprintf(row->kind, sizeof row->kind, "ladder");
        snprintf(row->pattern, sizeof row->pattern, "%s", rungs[i % RUNGS].name);
        row->threads = machine->threads;
        row->capacity_bytes = sizes[i / RUNGS];
        row->value = recorded_gbs ? recorded_gbs[i / RUNGS][i % RUNGS] : gbs * rungs[i % RUNGS].share;
        count += row->value > 0;
    }
    memset(roof_rows, 0, sizeof *roof_rows);
    roof_rows->row[roof_rows->count++] = (struct pdnn_roof_row){.kind = "compute",
                                                                .pattern = "fma",
                                                                .dtype = "f32",
                                                                .threads = machine->threads,
                                                                .value = recorded_gbs ? 280 : 1e6};
    roof_rows->count +=
        pdnn_ladder_roofs(&machine->host, machine->threads, ladder, count, &roof_rows->row[roof_rows->count]);
    memcpy(&roof_rows->row[roof_rows->count], ladder, count * sizeof *ladder);
    roof_rows->count += count;
}

static void measure(const struct machine *machine, struct pdnn_roof_rows *roof_rows) {
    rows_of(machine, NULL, roof_rows);
}

static const struct pdnn_roof_row *find_roof(const struct pdnn_roof_rows *roof_rows, const char *level,
                                             const char *pattern) {
    for (size_t i = 0; i < roof_rows->count; i++) {
        const struct pdnn_roof_row *row = &roof_rows->row[i];
        if (strcmp(row->kind, "bandwidth") == 0 && strcmp(row->level, level) == 0 &&
            strcmp(row->pattern, pattern) == 0)
            return row;
    }
    fail_msg("no %s roof of %s", pattern, level);
    return NULL;
}

static const struct machine *find_machine(const char *name) {
    for (size_t i = 0; i < MACHINES; i++) {
        if (strcmp(machines[i].name, name) == 0)
            return &machines[i];
    }
    fail_msg("no machine '%s'", name);
    return NULL;
}

/* No roof is below that of the level outside it, caches have what ordinary stores reach, DRAM has the better
 * kind of store, and every rung is in a level. */
static void test_roofs_of_levels(void **state) {
    (void)state;
    static const char *const patterns[] = {"read", "copy", "triad", "update"};
    static const bool has_streaming[] = {false, true, true, false};
    static struct pdnn_roof_rows roof_rows;
    for (size_t i = 0; i < MACHINES; i++) {
        const struct machine *machine = &machines[i];
        struct pdnn_roofs roofs;
        measure(machine, &roof_rows);
        size_t n_levels = 0, last = 0;
        while (machine->names[n_levels])
            n_levels++;
        for (size_t at = 0; at < n_levels; at++) {
            for (size_t k = 0; k < 4 && at + 1 < n_levels; k++) {
                double outer = find_roof(&roof_rows, machine->names[at + 1], patterns[k])->value;
                double least = has_streaming[k] ? outer : PDNN_LADDER_STEP * outer;
                assert_true(find_roof(&roof_rows, machine->names[at], patterns[k])->value >= least);
            }
            last = at ? at - 1 : 0;
        }
        double copy = find_roof(&roof_rows, "DRAM", "copy")->value;
        assert_true(fabs(copy - 1.1 * dram_gbs(machine)) < 1e-9 * copy);
        double end = (double)find_roof(&roof_rows, machine->names[last], "read")->capacity_bytes;
        assert_true(pdnn_roof_rows_cache_bytes(&roof_rows, machine->threads) == (uint64_t)end);
        for (size_t row = 0; row < roof_rows.count; row++)
            assert_true(strcmp(roof_rows.row[row].kind, "ladder") != 0 || roof_rows.row[row].level[0]);
        pdnn_roofs_init(&roofs, &roof_rows, machine->threads);
        assert_int_equal(roofs.n_levels, n_levels);
        for (size_t at = 0; at < n_levels; at++) {
            assert_string_equal(roofs.level[at].name, machine->names[at]);
            assert_true(!at || roofs.level[at].gbs <= roofs.level[at - 1].gbs);
        }
    }
}

/* Wherever bytes come from, a row that moves them at the machine's bandwidth is at its roof, and the level
 * that serves them is the one that was found to hold them, whatever the host reports. */
static void test_accesses_are_served_by_found_levels(void **state) {
    (void)state;
    static const struct {
        const char *machine;
        uint64_t distance;
        const char *level;
    } rows[] = {
        {"two cores, one L3", 32 * KIB, "L1"},
        {"two cores, one L3", 10 * MIB, "L3"},
        {"two cores, one L3", 100 * MIB, "DRAM"},
        {"260 MiB of L3 that tenants share: a few MiB are left", 7 * MIB, "L3"},
        {"260 MiB of L3 that tenants share: a few MiB are left", 50 * MIB, "DRAM"},
        {"260 MiB of L3 that tenants share: a few MiB are left", 200 * MIB, "DRAM"},
        {"240 MiB of L3 no faster than DRAM", 2 * MIB, "L2"},
        {"240 MiB of L3 no faster than DRAM", 20 * MIB, "DRAM"},
        {"240 MiB of L3 no faster than DRAM", 200 * MIB, "DRAM"},
        {"no L3", MIB, "L2"},
        {"no L3", 16 * MIB, "DRAM"},
        {"L3 in slices of four cores", 2 * MIB, "L2"},
        {"L3 in slices of four cores", 20 * MIB, "L3"}, /* more than one slice holds */
        {"L3 in slices of four cores", 80 * MIB, "DRAM"},
        {"96 cores, more L2 than L3", 2 * MIB, "L1"},
        {"96 cores, more L2 than L3", 150 * MIB, "L2"}, /* more than the reported L3 */
        {"96 cores, more L2 than L3", 900 * MIB, "DRAM"},
        {"a host that reports no cache", 500 * KIB, "L2"},
        {"a host that reports no cache", 30 * MIB, "DRAM"},
    };
    static struct pdnn_roof_rows roof_rows;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct machine *machine = find_machine(rows[i].machine);
        struct pdnn_place_input input = {.calls = 1, .speed = {1, 1}};
        struct pdnn_placement place;
        struct pdnn_roofs roofs;
        measure(machine, &roof_rows);
        pdnn_roofs_init(&roofs, &roof_rows, machine->threads);
        pdnn_traffic_from(&input.traffic, &roofs, 2000000, rows[i].distance);
        memset(input.traffic.written_bytes, 0, sizeof input.traffic.written_bytes);
        input.time_ns = 1e6 / bandwidth(machine, (double)rows[i].distance);
        pdnn_place(&roofs, &input, &place);
        if (strcmp(place.roof_level, rows[i].level) != 0 || place.pct_of_roof < 60 || place.pct_of_roof > 105)
            fail_msg("%s: %.0f KiB at %.1f %% of the roof of %s", rows[i].machine,
                     (double)rows[i].distance / 1024, place.pct_of_roof, place.roof_level);
    }
}

/* A whole model: 128 MiB of weights, read once per step. */
static void test_weights_are_served_by_found_levels(void **state) {
    (void)state;
    static const char id[] = "fc/layers=1,nodes=4096,input=4096,output=4096,batch=1,mode=infer";
    static struct pdnn_roof_rows roof_rows;
    for (size_t i = 0; i < MACHINES; i++) {
        const struct machine *machine = &machines[i];
        const char *expected = machine->threads == 96 ? "L2" : "DRAM";
        struct pdnn_place_input input = {.speed = {1, 1}};
        struct pdnn_placement place;
        struct pdnn_arena arena = {0};
        struct pdnn_instance instance;
        struct pdnn_graph graph;
        struct pdnn_roofs roofs;
        struct pdnn_place_input *inputs;
        struct pdnn_err err = {0};
        measure(machine, &roof_rows);
        pdnn_roofs_init(&roofs, &roof_rows, machine->threads);
        assert_int_equal(pdnn_instance_parse(id, &instance, &err), PDNN_OK);
        assert_int_equal(pdnn_instance_graph(&instance, &arena, &graph, &err), PDNN_OK);
        assert_int_equal(pdnn_graph_inputs(&graph, &roofs, false, &inputs, &err), PDNN_OK);
        for (size_t n = 0; n < graph.n_nodes; n++)
            pdnn_place_input_add(&input, &inputs[n]);
        input.time_ns = 128.0 * (double)MIB / bandwidth(machine, 128.0 * (double)MIB);
        pdnn_place(&roofs, &input, &place);
        if (strcmp(place.roof_level, expected) != 0 || fabs(place.pct_of_roof - 100) > 5)
            fail_msg("%s: %.1f %% of the roof of %s", machine->name, place.pct_of_roof, place.roof_level);
        pdnn_arena_finish(&arena);
    }
}

/* Three measurements in a row, while sixteen other programs ran on two cores: half of the ops, of those in
 * caches and of those in memory, have the same roof within 3 %, nine in ten within 15 %, and hardly one is at
 * another level or has another bound. What is farther apart lies where a level ends. */
static void test_recorded_ladders_agree(void **state) {
    (void)state;
    enum { CACHES, MEMORY, KINDS, OPS_MAX = 2048 };
    static const char *const ids[] = {
        "fc/layers=2,nodes=512,input=33,output=10,batch=1,mode=train,optimizer=sgd",
        "fc/layers=3,nodes=128,input=100,output=10,batch=64,mode=train,optimizer=adam",
        "cnn:resnet18,batch=1,image=64,mode=train",
        "transformer:bert-base,batch=1,length=64,mode=infer",
    };
    static const struct machine zen4 = {
        .host = {.cache_bytes = {32 * KIB, MIB, 32 * MIB}, .cache_cores = {1, 1, 2}}, .threads = 1};
    static struct pdnn_roof_rows roof_rows;
    static double apart[KINDS][OPS_MAX];
    size_t n[KINDS] = {0}, differ = 0;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct pdnn_arena arena = {0};
        struct pdnn_instance instance;
        struct pdnn_graph graph;
        struct pdnn_place_input *inputs[RECORDED];
        struct pdnn_roofs roofs[RECORDED];
        struct pdnn_err err = {0};
        assert_int_equal(pdnn_instance_parse(ids[i], &instance, &err), PDNN_OK);
        assert_int_equal(pdnn_instance_graph(&instance, &arena, &graph, &err), PDNN_OK);
        for (size_t k = 0; k < RECORDED; k++) {
            rows_of(&zen4, recorded[k], &roof_rows);
            for (size_t row = 0; row < roof_rows.count; row++)
                assert_true(roof_rows.row[row].capacity_bytes <= roof_rows.row[row].reported_bytes ||
                            strcmp(roof_rows.row[row].kind, "bandwidth") != 0);
            pdnn_roofs_init(&roofs[k], &roof_rows, zen4.threads);
            assert_int_equal(pdnn_graph_inputs(&graph, &roofs[k], false, &inputs[k], &err), PDNN_OK);
        }
        for (size_t node = 0; node < graph.n_nodes; node++) {
            struct pdnn_placement first, other;
            pdnn_place(&roofs[0], &inputs[0][node], &first);
            size_t kind = strcmp(first.roof_level, "DRAM") == 0 ? MEMORY : CACHES;
            for (size_t k = 1; k < RECORDED; k++) {
                pdnn_place(&roofs[k], &inputs[k][node], &other);
                assert_true(n[kind] < OPS_MAX);
                apart[kind][n[kind]++] = exp(fabs(log(other.roof_ns / first.roof_ns))) - 1;
                differ += strcmp(other.roof_level, first.roof_level) != 0 || other.bound != first.bound;
            }
        }
        pdnn_arena_finish(&arena);
    }
    assert_true(differ < (n[CACHES] + n[MEMORY]) / 20);
    for (size_t kind = 0; kind < KINDS; kind++) {
        assert_true(n[kind] > 400);
        assert_true(pdnn_median(apart[kind], n[kind]) < 0.03);
        assert_true(pdnn_quantile_sorted(apart[kind], n[kind], 0.9) < 0.15);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roofs_of_levels),
        cmocka_unit_test(test_accesses_are_served_by_found_levels),
        cmocka_unit_test(test_weights_are_served_by_found_levels),
        cmocka_unit_test(test_recorded_ladders_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
