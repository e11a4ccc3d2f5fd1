/* Placement, on examples small enough to do by hand: which level serves each access,
 * and which roof is above a row. */
#include "tests/cmocka_all.h"

#include "models/build.h"
#include "models/cost/cost.h"
#include "models/op.h"
#include "models/forward.h"
#include "results/rows/roofline.h"

#include <math.h>
#include <string.h>

enum { L1_BYTES = 1000, L2_BYTES = 30000 };

/* Rows of another thread count and dtype are larger and must not count. */
static const struct pdnn_roof_rows roof_rows = {
    .count = 15,
    .row =
        {
            {"bandwidth", "read", "", "DRAM", 2, 0, 10, 0, 0, 1},
            {"bandwidth", "triad", "", "DRAM", 2, 0, 8, 0, 0, 1},
            {"bandwidth", "read", "", "L1", 2, L1_BYTES, 80, 0, 0, 1},
            {"bandwidth", "copy", "", "L1", 2, L1_BYTES, 100, 0, 0, 1},
            {"bandwidth", "read", "", "L2", 2, L2_BYTES, 50, 0, 0, 1},
            {"bandwidth", "read", "", "L2", 4, L2_BYTES, 500, 0, 0, 1},
            {"compute", "gemm-onednn", "f32", "", 2, 0, 150, 0, 0, 1},
            {"compute", "fma", "f32", "", 2, 0, 200, 0, 0, 1},
            {"compute", "avx512_vnni", "int8", "", 2, 0, 800, 0, 0, 1},
            {"compute", "gemm-onednn", "bf16", "", 2, 0, 130, 0, 0, 1},
            {"compute", "avx512_fp16", "f16", "", 2, 0, 250, 0, 0, 1},
            {"compute", "fma", "f32", "", 4, 0, 400, 0, 0, 1},
            {"overhead", "op", "", "", 2, 0, 5, 0, 0, 1},
            {"probe", "fma", "", "", 2, 0, 180, 0, 0, 1},
            {"probe", "read", "", "", 2, 0, 9, 0, 0, 1},
        },
};

static void assert_near(double value, double expected) {
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.12g is not %.12g", value, expected);
}

static void test_roofs_init_takes_the_best_of_its_kind(void **state) {
    (void)state;
    struct pdnn_roofs roofs;
    pdnn_roofs_init(&roofs, &roof_rows, 2);
    assert_near(roofs.peak_gflops[PDNN_F32], 200);
    assert_near(roofs.peak_gflops[PDNN_INT8], 800);
    assert_near(roofs.peak_gflops[PDNN_BF16], 200); /* f32's, unless its own is faster */
    assert_near(roofs.peak_gflops[PDNN_F16], 250);
    assert_near(roofs.overhead_ns, 5);
    assert_near(roofs.probe_gflops, 180);
    assert_near(roofs.probe_gbs, 9);
    assert_int_equal(roofs.n_levels, 3);
    static const struct {
        const char *name;
        double gbs, read_ns, mixed_ns;
    } levels[] = {
        {"L1", 100, 1.0 / 80, 1.0 / 100}, {"L2", 50, 1.0 / 50, 1.0 / 50}, {"DRAM", 10, 1.0 / 10, 1.0 / 10}};
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(roofs.level[i].name, levels[i].name);
        assert_near(roofs.level[i].gbs, levels[i].gbs);
        assert_near(roofs.rung[i].ns_per_byte[PDNN_TRAFFIC_READ], levels[i].read_ns);
        assert_near(roofs.rung[i].ns_per_byte[PDNN_TRAFFIC_MIXED], levels[i].mixed_ns);
    }
    assert_true(roofs.level[2].capacity_bytes == UINT64_MAX);
    pdnn_roofs_init(&roofs, &roof_rows, 3);
    assert_true(roofs.peak_gflops[PDNN_F32] == 0 && roofs.n_levels == 0);
}

/* Whatever was measured, each pattern takes at most its own time, no write is free or, in place, dearer than
 * another, and no level is slower than the next one out. */
static void test_roofs_init_passes_no_pattern(void **state) {
    (void)state;
    static const double rates[][4] = {/* read, copy, triad, update */
                                      {30, 50, 54, 60},  {30, 70, 54, 70},  {30, 20, 40, 90},
                                      {30, 40, 80, 100}, {41, 52, 54, 120}, {5, 100, 10, 400},
                                      {60, 50, 40, 30},  {50, 50, 50, 75}};
    static const double cache_rates[] = {1.1,
                                         0.9}; /* of memory's: a cache that others use, too, may be slower */
    for (size_t i = 0; i < 2 * sizeof rates / sizeof *rates; i++) {
        static const char *const patterns[] = {"read", "copy", "triad", "update"};
        static struct pdnn_roof_rows measured;
        struct pdnn_roofs roofs;
        const double *gbs = rates[i / 2];
        measured.count = 0;
        for (size_t k = 0; k < 4; k++) {
            struct pdnn_roof_row row = {.kind = "bandwidth", .level = "DRAM", .threads = 1, .value = gbs[k]};
            strcpy(row.pattern, patterns[k]);
            measured.row[measured.count++] = row;
            strcpy(row.level, "L3");
            row.capacity_bytes = 1000;
            row.value *= cache_rates[i % 2];
            measured.row[measured.count++] = row;
        }
        pdnn_roofs_init(&roofs, &measured, 1);
        assert_true(roofs.level[0].gbs >= roofs.level[1].gbs);
        const double *l3 = roofs.rung[0].ns_per_byte, *dram = roofs.rung[1].ns_per_byte;
        double read = dram[PDNN_TRAFFIC_READ], mixed = dram[PDNN_TRAFFIC_MIXED],
               update = dram[PDNN_TRAFFIC_UPDATE];
        for (size_t rate = 0; rate < PDNN_TRAFFIC_COUNT; rate++)
            assert_true(l3[rate] > 0 && l3[rate] <= dram[rate] * (1 + 1e-12));
        const double steps[] = {read, fmax(read, 2 * mixed), fmax(2 * read, 3 * mixed),
                                fmax(2 * read, 2 * mixed + update)};
        static const double bytes[] = {1, 2, 3, 3};
        for (size_t k = 0; k < 4; k++)
            assert_true(steps[k] <= bytes[k] / gbs[k] * (1 + 1e-12));
        assert_true(update >= mixed / 16 * (1 - 1e-12) && update <= mixed * (1 + 1e-12));
    }
}

/* Distances between two working sets are served as the smaller one is, with the better kind of store. */
static void test_roofs_init_takes_the_ladder(void **state) {
    (void)state;
    static const struct pdnn_roof_rows measured = {
        .count = 11,
        .row = {{.kind = "bandwidth",
                 .pattern = "read",
                 .level = "L1",
                 .threads = 1,
                 .capacity_bytes = 1500,
                 .value = 100},
                {.kind = "bandwidth",
                 .pattern = "read",
                 .level = "L2",
                 .threads = 1,
                 .capacity_bytes = 3000,
                 .value = 40},
                {.kind = "bandwidth", .pattern = "read", .level = "DRAM", .threads = 1, .value = 10},
                {.kind = "ladder",
                 .pattern = "read",
                 .level = "L1",
                 .threads = 1,
                 .capacity_bytes = 1000,
                 .value = 100},
                {.kind = "ladder",
                 .pattern = "copy",
                 .level = "L1",
                 .threads = 1,
                 .capacity_bytes = 1000,
                 .value = 50},
                {.kind = "ladder",
                 .pattern = "copy-streaming",
                 .level = "L1",
                 .threads = 1,
                 .capacity_bytes = 1000,
                 .value = 80},
                {.kind = "ladder",
                 .pattern = "read",
                 .level = "L2",
                 .threads = 1,
                 .capacity_bytes = 2000,
                 .value = 40},
                {.kind = "ladder",
                 .pattern = "read",
                 .level = "DRAM",
                 .threads = 1,
                 .capacity_bytes = 4000,
                 .value = 10},
                {.kind = "ladder",
                 .pattern = "read",
                 .level = "DRAM",
                 .threads = 2,
                 .capacity_bytes = 3000,
                 .value = 70},
                {.kind = "compute", .pattern = "fma", .dtype = "f32", .threads = 1, .value = 1000},
                {.kind = "overhead", .pattern = "op", .threads = 1, .value = 1}},
    };
    static const struct {
        uint64_t distance;
        double ns; /* of 1000 bytes read */
        const char *level;
    } rows[] = {{1, 10, "L1"},    {1999, 10, "L1"},    {2000, 25, "L2"},
                {3999, 25, "L2"}, {4000, 100, "DRAM"}, {UINT64_MAX, 100, "DRAM"}};
    struct pdnn_roofs roofs;
    pdnn_roofs_init(&roofs, &measured, 1);
    assert_int_equal(roofs.n_rungs, 3);
    assert_near(roofs.rung[0].ns_per_byte[PDNN_TRAFFIC_MIXED], 1.0 / 100);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_place_input input = {.calls = 1, .time_ns = 1000, .speed = {1, 1}};
        struct pdnn_placement place;
        pdnn_traffic_from(&input.traffic, &roofs, 2000, rows[i].distance);
        memset(input.traffic.written_bytes, 0, sizeof input.traffic.written_bytes);
        pdnn_place(&roofs, &input, &place);
        assert_near(place.pct_of_roof, rows[i].ns / 10);
        assert_string_equal(place.roof_level, rows[i].level);
    }
}

/* A rung that was disturbed counts for nothing, one that was faster for all smaller ones, and none is faster
 * than what was seen there or farther out. */
static void test_roofs_init_takes_the_best_of_larger_sets(void **state) {
    (void)state;
    static const double odd_share[] = {0.2, 1, 3};
    static struct pdnn_roof_rows measured = {.row = {{"bandwidth", "read", "", "L1", 1, 600, 100, 0, 0, 1},
                                                     {"bandwidth", "read", "", "DRAM", 1, 0, 20, 0, 0, 1}}};
    for (size_t odd = 0; odd < 12 * 3; odd++) {
        measured.count = 2;
        struct pdnn_roofs roofs;
        for (size_t i = 0; i < 12; i++) {
            struct pdnn_roof_row *rung = &measured.row[measured.count++];
            *rung = measured.row[i / 6];
            strcpy(rung->kind, "ladder");
            rung->capacity_bytes = 100 * (i + 1);
            rung->value *= odd / 3 == i ? odd_share[odd % 3] : 1;
        }
        pdnn_roofs_init(&roofs, &measured, 1);
        double seen = measured.row[1].value;
        for (size_t i = 12; i-- > 0;) {
            seen = fmax(seen, measured.row[2 + i].value);
            assert_near(roofs.rung[i].ns_per_byte[PDNN_TRAFFIC_READ], 1 / seen);
        }
    }
}

/* 10 ns of arithmetic, and a call of 40: overhead is the bound only if there was time for the call. */
static void test_place_bound_by_no_more_than_it_takes(void **state) {
    (void)state;
    static const struct {
        double time_ns;
        enum pdnn_bound bound;
        double pct;
    } rows[] = {{100, PDNN_BOUND_OVERHEAD, 10},
                {40, PDNN_BOUND_OVERHEAD, 25},
                {39, PDNN_BOUND_COMPUTE, 1000 / 39.0},
                {15, PDNN_BOUND_COMPUTE, 1000 / 15.0},
                {NAN, PDNN_BOUND_OVERHEAD, NAN}};
    static const struct pdnn_roof_rows measured = {
        .count = 2,
        .row = {{.kind = "compute", .pattern = "fma", .dtype = "f32", .threads = 1, .value = 100},
                {.kind = "overhead", .pattern = "op", .threads = 1, .value = 40}},
    };
    struct pdnn_roofs roofs;
    pdnn_roofs_init(&roofs, &measured, 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_place_input input = {
            .flop_count[PDNN_F32] = 1000, .calls = 1, .time_ns = rows[i].time_ns, .speed = {1, 1}};
        struct pdnn_placement place;
        pdnn_place(&roofs, &input, &place);
        assert_int_equal(place.bound, rows[i].bound);
        if (!isnan(rows[i].pct))
            assert_near(place.pct_of_roof, rows[i].pct);
    }
}

/* x (4, 100) 1600 B, w (50, 100) 20000 B, y (4, 50) 800 B; z = relu(y) takes over y's memory. One step
 * accesses 1600 + 20000 + 800 + 800 + 800 = 24000 B. */
static void build_dense_relu(struct pdnn_graph *graph, struct pdnn_arena *arena) {
    struct pdnn_err err = {0};
    struct pdnn_tensor x = {
        .role = PDNN_ROLE_INPUT, .dtype = PDNN_F32, .rank = 2, .dim = {4, 100}, .of = PDNN_NONE};
    pdnn_graph_init(graph, arena);
    uint32_t input = pdnn_graph_tensor(graph, &x);
    uint32_t w = pdnn_graph_weight(graph, 2, (int64_t[]){50, 100}, (struct pdnn_fill){PDNN_FILL_ZERO, 0});
    uint32_t y = pdnn_graph_forward(graph, &pdnn_op_dense, (uint32_t[]){input, w, PDNN_NONE}, NULL);
    graph->result = pdnn_graph_forward(graph, &pdnn_op_relu, (uint32_t[]){y, PDNN_NONE}, NULL);
    assert_int_equal(pdnn_graph_status(graph, &err), PDNN_OK);
}

static void test_graph_traffic_by_reuse_distance(void **state) {
    (void)state;
    /* Distances: x and w 24000 (a whole step); writing y 800 + 1600 + 20000 = 22400 (z of the previous step,
     * x, w); reading y and writing z 800 each. */
    static const struct {
        uint64_t l1, l2;
        bool cold;
        uint64_t dense[3], relu[3]; /* bytes by level */
    } rows[] = {
        {1000, 30000, false, {0, 22400, 0}, {1600, 0, 0}},
        {800, 24000, false, {0, 22400, 0}, {1600, 0, 0}},
        {799, 24000, false, {0, 22400, 0}, {0, 1600, 0}},
        {1000, 23999, false, {0, 800, 21600}, {1600, 0, 0}},
        {1000, 22399, false, {0, 0, 22400}, {1600, 0, 0}},
        {1000, 30000, true, {0, 0, 22400}, {1600, 0, 0}},
        {100, 200, true, {0, 0, 22400}, {0, 0, 1600}},
        {100000, 200000, false, {22400, 0, 0}, {1600, 0, 0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_arena arena = {0};
        struct pdnn_graph graph;
        struct pdnn_roofs roofs;
        struct pdnn_place_input *inputs;
        struct pdnn_err err = {0};
        build_dense_relu(&graph, &arena);
        pdnn_roofs_init(&roofs, &roof_rows, 2);
        roofs.rung[1].from_bytes = rows[i].l1 + 1;
        roofs.rung[2].from_bytes = rows[i].l2 + 1;
        assert_int_equal(pdnn_graph_inputs(&graph, &roofs, rows[i].cold, &inputs, &err), PDNN_OK);
        for (size_t level = 0; level < 3; level++) {
            assert_int_equal(inputs[0].traffic.read_bytes[level] + inputs[0].traffic.written_bytes[level] +
                                 inputs[0].traffic.updated_bytes[level],
                             rows[i].dense[level]);
            assert_int_equal(inputs[1].traffic.read_bytes[level] + inputs[1].traffic.written_bytes[level] +
                                 inputs[1].traffic.updated_bytes[level],
                             rows[i].relu[level]);
        }
        pdnn_arena_finish(&arena);
    }
}

/* z = relu(y) lies where y does: its writes cost what an update in place was measured to. */
static void test_graph_traffic_in_place(void **state) {
    (void)state;
    struct pdnn_arena arena = {0};
    struct pdnn_graph graph;
    struct pdnn_roofs roofs;
    struct pdnn_place_input *inputs;
    struct pdnn_err err = {0};
    uint64_t written = 0, updated = 0, of_dense = 0;
    build_dense_relu(&graph, &arena);
    pdnn_roofs_init(&roofs, &roof_rows, 2);
    assert_int_equal(pdnn_graph_inputs(&graph, &roofs, false, &inputs, &err), PDNN_OK);
    for (size_t i = 0; i < PDNN_ROOF_RUNGS; i++) {
        written += inputs[1].traffic.written_bytes[i];
        updated += inputs[1].traffic.updated_bytes[i];
        of_dense += inputs[0].traffic.updated_bytes[i];
    }
    assert_true(written == 0 && updated == 800 && of_dense == 0);
    pdnn_arena_finish(&arena);
}

/* Whatever the levels, the bytes add up to those of the cost. */
static void test_graph_traffic_sums_to_byte_count(void **state) {
    (void)state;
    static const char *const ids[] = {
        "fc/layers=3,nodes=32,input=100,output=10,batch=7,mode=infer",
        "fc/layers=3,nodes=33,input=101,output=10,batch=7,mode=train,optimizer=adam",
        "fc/layers=5,nodes=32,input=100,output=10,batch=7,mode=train,optimizer=rmsprop,fuse=post-ops",
        "fc/layers=2,nodes=32,input=100,output=10,batch=7,mode=infer,dtype=int8,fuse=post-ops",
    };
    for (size_t i = 0; i < 2 * sizeof ids / sizeof *ids; i++) {
        struct pdnn_arena arena = {0};
        struct pdnn_instance instance;
        struct pdnn_graph graph;
        struct pdnn_roofs roofs;
        struct pdnn_totals totals;
        struct pdnn_place_input *inputs;
        struct pdnn_err err = {0};
        uint64_t sum = 0;
        pdnn_roofs_init(&roofs, &roof_rows, 2);
        assert_int_equal(pdnn_instance_parse(ids[i / 2], &instance, &err), PDNN_OK);
        assert_int_equal(pdnn_instance_graph(&instance, &arena, &graph, &err), PDNN_OK);
        assert_int_equal(pdnn_cost_graph(&graph, &totals, &err), PDNN_OK);
        assert_int_equal(pdnn_graph_inputs(&graph, &roofs, i % 2, &inputs, &err), PDNN_OK);
        for (size_t n = 0; n < graph.n_nodes; n++) {
            for (size_t level = 0; level < PDNN_ROOF_RUNGS; level++)
                sum += inputs[n].traffic.read_bytes[level] + inputs[n].traffic.written_bytes[level] +
                       inputs[n].traffic.updated_bytes[level];
        }
        assert_true(sum == totals.cost.byte_count);
        pdnn_arena_finish(&arena);
    }
}

static void test_place_by_hand(void **state) {
    (void)state;
    static const struct {
        struct pdnn_place_input input;
        double gflops, bw_gbs, intensity, attainable, pct_of_roof, pct_of_peak;
        enum pdnn_bound bound;
        const char *level;
    } rows[] = {
        /* 40000 FLOP / 200 = 200 ns, 22400 B / 50 = 448 ns. */
        {{{40000}, {{0, 22400, 0}, {0}, {0}, 0}, 1, 1000, {1, 1}, 0},
         40,
         22.4,
         40000 / 22400.0,
         40000 / 448.0,
         44.8,
         20,
         PDNN_BOUND_MEMORY,
         "L2"},
        /* The same, and 100000 B more that its implementation reads again from there: 2448 ns. */
        {{{40000}, {{0, 122400, 0}, {0}, {0}, 100000}, 1, 4896, {1, 1}, 0},
         40000 / 4896.0,
         22400 / 4896.0,
         40000 / 22400.0,
         40000 / 2448.0,
         50,
         20000 / 4896.0,
         PDNN_BOUND_MEMORY,
         "L2"},
        /* At half the core's clock: caches follow it, DRAM is not involved. */
        {{{40000}, {{0, 22400, 0}, {0}, {0}, 0}, 1, 1000, {0.5, 0.1}, 0},
         40,
         22.4,
         40000 / 22400.0,
         40000 / 896.0,
         89.6,
         40,
         PDNN_BOUND_MEMORY,
         "L2"},
        /* 1000 B / 80 = 12.5 ns, 1000 / 50 = 20 ns, 1000 / 10 = 100 ns: together 132.5 ns,
         * most of it DRAM's. */
        {{{2650}, {{1000, 1000, 1000}, {0}, {0}, 0}, 1, 265, {1, 0.5}, 0},
         10,
         3000 / 265.0,
         2650 / 3000.0,
         10,
         100,
         5,
         PDNN_BOUND_MEMORY,
         "DRAM"},
        /* A byte written takes as long as a byte read: 3000 B / 10 = 300 ns. */
        {{{0}, {{0, 0, 2000}, {0, 0, 1000}, {0}, 0}, 1, 750, {1, 1}, 0},
         NAN,
         4,
         0,
         NAN,
         40,
         NAN,
         PDNN_BOUND_MEMORY,
         "DRAM"},
        /* 2e6 / 200 = 10000 ns against 2240 ns. */
        {{{2000000}, {{0, 0, 22400}, {0}, {0}, 0}, 1, 20000, {1, 0.5}, 0},
         100,
         1.12,
         2e6 / 22400,
         200,
         50,
         50,
         PDNN_BOUND_COMPUTE,
         "DRAM"},
        /* 1600 B / 100 = 16 ns of memory, 4 calls of 5 ns. */
        {{{200}, {{800, 0, 0}, {800, 0, 0}, {0}, 0}, 4, 100, {1, 1}, 0},
         2,
         16,
         0.125,
         12.5,
         16,
         1,
         PDNN_BOUND_OVERHEAD,
         "L1"},
        {{{200}, {{800, 0, 0}, {800, 0, 0}, {0}, 0}, 3, 100, {1, 1}, 0},
         2,
         16,
         0.125,
         12.5,
         16,
         1,
         PDNN_BOUND_MEMORY,
         "L1"},
        /* In two dtypes, each under its own peak: 1e6 / 200 and 2e6 / 800 = 7500 ns. */
        {{{[PDNN_F32] = 1000000, [PDNN_INT8] = 2000000}, {{0, 0, 22400}, {0}, {0}, 0}, 1, 15000, {1, 0.5}, 0},
         200,
         22400 / 15000.0,
         3e6 / 22400,
         400,
         50,
         50,
         PDNN_BOUND_COMPUTE,
         "DRAM"},
        /* In a dtype with an unknown peak. */
        {{{[PDNN_S32] = 2000000}, {{0, 0, 22400}, {0}, {0}, 0}, 1, 20000, {1, 1}, 0},
         100,
         1.12,
         2e6 / 22400,
         NAN,
         NAN,
         NAN,
         PDNN_BOUND_UNKNOWN,
         ""},
        /* No FLOP, so bytes only: 2000 / 50 = 40 ns. */
        {{{0}, {{0, 2000, 0}, {0}, {0}, 0}, 1, 80, {1, 1}, 0},
         NAN,
         25,
         0,
         NAN,
         50,
         NAN,
         PDNN_BOUND_MEMORY,
         "L2"},
        /* Not measured: where it would lie. */
        {{{40000}, {{0, 22400, 0}, {0}, {0}, 0}, 1, NAN, {1, 1}, 0},
         NAN,
         NAN,
         40000 / 22400.0,
         40000 / 448.0,
         NAN,
         NAN,
         PDNN_BOUND_MEMORY,
         "L2"},
    };
    struct pdnn_roofs roofs;
    pdnn_roofs_init(&roofs, &roof_rows, 2);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_placement place;
        pdnn_place(&roofs, &rows[i].input, &place);
        const double got[] = {
            place.gflops,      place.bw_gbs,     place.intensity_flop_per_byte, place.attainable_gflops,
            place.pct_of_roof, place.pct_of_peak};
        const double expected[] = {rows[i].gflops,     rows[i].bw_gbs,      rows[i].intensity,
                                   rows[i].attainable, rows[i].pct_of_roof, rows[i].pct_of_peak};
        for (size_t k = 0; k < sizeof got / sizeof *got; k++) {
            if (isnan(expected[k]))
                assert_true(isnan(got[k]));
            else
                assert_near(got[k], expected[k]);
        }
        assert_int_equal(place.bound, rows[i].bound);
        assert_string_equal(place.roof_level, rows[i].level);
    }
}

/* Without roofs, only what needs no roof is filled. */
static void test_place_without_roofs(void **state) {
    (void)state;
    const struct pdnn_roofs roofs = {.n_levels = 0};
    const struct pdnn_place_input input = {{1000}, {{500}, {0}, {0}, 0}, 1, 100, {1, 1}, 0};
    struct pdnn_placement place;
    pdnn_place(&roofs, &input, &place);
    assert_near(place.gflops, 10);
    assert_near(place.bw_gbs, 5);
    assert_near(place.intensity_flop_per_byte, 2);
    assert_true(isnan(place.attainable_gflops) && isnan(place.pct_of_roof) && isnan(place.pct_of_peak));
    assert_int_equal(place.bound, PDNN_BOUND_UNKNOWN);
    assert_string_equal(place.roof_level, "");
}

/* Two ranks send as many bytes as the message has. */
static void test_link(void **state) {
    (void)state;
    static struct pdnn_roof_rows links;
    static const struct {
        int64_t ranks;
        uint64_t bytes;
        double ns;
    } expected[] = {{2, 10, 100}, {2, 64, 100}, {2, 532, 550}, {2, 1000, 1000}, {2, 5000, 5000}, {3, 64, 0}};
    const struct pdnn_roof_row small = {
        .kind = "link", .pattern = "allreduce", .capacity_bytes = 64, .value = 0.64, .ranks = 2};
    struct pdnn_roof_row large = small;
    large.capacity_bytes = 1000;
    large.value = 1;
    links.row[0] = large;
    links.row[1] = small;
    links.count = 2;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_near(pdnn_roof_rows_link_ns(&links, expected[i].ranks, expected[i].bytes), expected[i].ns);
    assert_near(pdnn_ring_bytes(4, 1000), 1500);
    assert_true(pdnn_roof_rows_have_link(&links, 2));
    assert_false(pdnn_roof_rows_have_link(&links, 4));
    const struct pdnn_roofs roofs = {
        .n_levels = 1, .level = {{.name = "DRAM"}}, .n_rungs = 1, .rung = {{.ns_per_byte = {0.1, 0.1, 0.1}}}};
    const struct pdnn_place_input input = {
        .traffic = {.read_bytes = {1000}}, .time_ns = 2000, .speed = {0.5, 0.5}, .link_ns = 1000};
    struct pdnn_placement place;
    pdnn_place(&roofs, &input, &place);
    assert_string_equal(place.roof_level, "link");
    assert_near(place.pct_of_roof, 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roofs_init_takes_the_best_of_its_kind),
        cmocka_unit_test(test_roofs_init_passes_no_pattern),
        cmocka_unit_test(test_roofs_init_takes_the_ladder),
        cmocka_unit_test(test_roofs_init_takes_the_best_of_larger_sets),
        cmocka_unit_test(test_place_bound_by_no_more_than_it_takes),
        cmocka_unit_test(test_graph_traffic_by_reuse_distance),
        cmocka_unit_test(test_graph_traffic_in_place),
        cmocka_unit_test(test_graph_traffic_sums_to_byte_count),
        cmocka_unit_test(test_place_by_hand),
        cmocka_unit_test(test_place_without_roofs),
        cmocka_unit_test(test_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
