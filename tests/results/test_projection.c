/* Ops and steps on other hardware, by hand: roofs that change, times that follow, limits and moves. */
#include "tests/cmocka_all.h"

#include "results/whatif/projection.h"
#include "tests/near.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { L2_BYTES = 1000, CALL_NS = 10 };

/* 100 GFLOP/s, 50 GB/s from L2, 10 GB/s from memory; half as much on one thread. */
static const struct pdnn_roof_rows roof_rows = {
    .count = 7,
    .row =
        {
            {"compute", "fma", "f32", "", 2, 0, 100, 0, 0, 1},
            {"compute", "avx512_bf16", "bf16", "", 2, 0, 200, 0, 0, 1},
            {"bandwidth", "read", "", "L2", 2, L2_BYTES, 50, 0, 0, 1},
            {"bandwidth", "read", "", "DRAM", 2, 0, 10, 0, 0, 1},
            {"overhead", "op", "", "", 2, 0, CALL_NS, 0, 0, 1},
            {"compute", "fma", "f32", "", 1, 0, 50, 0, 0, 1},
            {"bandwidth", "read", "", "DRAM", 1, 0, 5, 0, 0, 1},
        },
};

static struct pdnn_roofs roofs_of(struct pdnn_hardware_request request, int64_t threads) {
    struct pdnn_hardware hardware;
    struct pdnn_roofs roofs;
    struct pdnn_arena arena = {0};
    struct pdnn_err err = {0};
    if (pdnn_hardware_parse(&hardware, &request, &arena, &err) != PDNN_OK ||
        pdnn_hardware_roofs(&hardware, &roof_rows, threads, &roofs, &err) != PDNN_OK)
        fail_msg("%s", err.text);
    pdnn_arena_finish(&arena);
    return roofs;
}

static void test_hardware_roofs_change_what_is_named(void **state) {
    (void)state;
    struct pdnn_roofs same = roofs_of((struct pdnn_hardware_request){.compute = "1"}, 2);
    struct pdnn_roofs all = roofs_of(
        (struct pdnn_hardware_request){
            .compute = "2,bf16=3", .bandwidth = "4,L2=2", .cache = "8", .overhead = "0.5"},
        2);
    assert_near(same.peak_gflops[PDNN_F32], 100, 1e-9);
    assert_near(all.peak_gflops[PDNN_F32], 200, 1e-9);
    assert_near(all.peak_gflops[PDNN_BF16], 600, 1e-9);
    assert_near(all.rung[0].ns_per_byte[PDNN_TRAFFIC_READ], 1 / 100.0, 1e-12);
    assert_near(all.rung[1].ns_per_byte[PDNN_TRAFFIC_READ], 1 / 40.0, 1e-12);
    assert_near(all.level[0].gbs, 100, 1e-9);
    assert_near(all.level[1].gbs, 40, 1e-9);
    assert_int_equal(same.rung[1].from_bytes, L2_BYTES + 1);
    assert_int_equal(all.rung[1].from_bytes, 8 * (L2_BYTES + 1));
    assert_int_equal(all.level[0].capacity_bytes, 8 * L2_BYTES);
    assert_true(all.level[1].capacity_bytes == UINT64_MAX);
    assert_near(all.overhead_ns, CALL_NS / 2.0, 1e-9);
    /* What names a roof goes before what names none, in whatever order. */
    all = roofs_of((struct pdnn_hardware_request){.compute = "bf16=3,2", .bandwidth = "DRAM=8,L2=2,4"}, 2);
    assert_near(all.peak_gflops[PDNN_F32], 200, 1e-9);
    assert_near(all.peak_gflops[PDNN_BF16], 600, 1e-9);
    assert_near(all.level[1].gbs, 80, 1e-9);
    /* Memory that is faster than a cache makes the cache as fast. */
    all = roofs_of((struct pdnn_hardware_request){.bandwidth = "10"}, 2);
    assert_near(all.rung[0].ns_per_byte[PDNN_TRAFFIC_READ], 1 / 100.0, 1e-12);
    all = roofs_of((struct pdnn_hardware_request){.threads = 1}, 2);
    assert_near(all.peak_gflops[PDNN_F32], 50, 1e-9);
}

static void test_hardware_refuses(void **state) {
    (void)state;
    static const struct {
        struct pdnn_hardware_request request;
        const char *expected;
    } rows[] = {
        {{.compute = NULL}, "nothing would change"},
        {{.compute = "fast"}, "--compute is 'fast', expected a factor"},
        {{.compute = "0"}, "--compute is '0'"},
        {{.compute = "-1"}, "--compute is '-1'"},
        {{.compute = "2,"}, "--compute is '2,'"},
        {{.compute = "f31=2"}, "no dtype with 'f31'"},
        {{.bandwidth = "nan"}, "--bandwidth is 'nan'"},
        {{.bandwidth = "L9=2"}, "--bandwidth names the level 'L9'; the last one is DRAM"},
        {{.cache = "x"}, "--cache is 'x'"},
        {{.overhead = "1e9"}, "--overhead is '1e9'"},
        {{.threads = 8}, "no roofs for 8 threads, but for 2, 1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_hardware hardware;
        struct pdnn_roofs roofs;
        struct pdnn_arena arena = {0};
        struct pdnn_err err = {0};
        enum pdnn_status status = pdnn_hardware_parse(&hardware, &rows[i].request, &arena, &err);
        if (status == PDNN_OK)
            status = pdnn_hardware_roofs(&hardware, &roof_rows, 2, &roofs, &err);
        assert_int_equal(status, PDNN_INVALID);
        if (!strstr(err.text, rows[i].expected))
            fail_msg("'%s' does not say '%s'", err.text, rows[i].expected);
        pdnn_arena_finish(&arena);
    }
}

/* Reads from memory; under the other roofs the traffic may be elsewhere. */
static struct pdnn_place_input work(uint64_t flop, size_t rung, uint64_t bytes, uint64_t calls, double ns) {
    struct pdnn_place_input input = {.calls = calls, .time_ns = ns, .speed = {1, 1}};
    input.flop_count[PDNN_F32] = flop;
    input.traffic.read_bytes[rung] = bytes;
    return input;
}

static void test_retime(void **state) {
    (void)state;
    static const struct {
        uint64_t flop, bytes, calls;
        size_t rung_after;
        const char *compute, *bandwidth, *overhead;
        double ns, expected;
        enum pdnn_bound before, after;
    } rows[] = {
        /* 1000 ns of arithmetic, no calls: half the time, at whatever efficiency */
        {100000, 10, 0, 1, "2", NULL, NULL, 1000, 500, PDNN_BOUND_COMPUTE, PDNN_BOUND_COMPUTE},
        {100000, 10, 0, 1, "2", NULL, NULL, 4000, 2000, PDNN_BOUND_COMPUTE, PDNN_BOUND_COMPUTE},
        /* 1000 ns of arithmetic and 700 of memory: between the two ridge points */
        {100000, 7000, 0, 1, "2", NULL, NULL, 1000, 700, PDNN_BOUND_COMPUTE, PDNN_BOUND_MEMORY},
        {100000, 7000, 0, 1, "2", "1.5", NULL, 1000, 500, PDNN_BOUND_COMPUTE, PDNN_BOUND_COMPUTE},
        /* 100 ns of memory that then come from L2, in 20 */
        {0, 1000, 0, 0, NULL, NULL, "1", 100, 20, PDNN_BOUND_MEMORY, PDNN_BOUND_MEMORY},
        /* 5 calls of 10 ns are not faster with the arithmetic; the other 1000 ns are */
        {100000, 10, 5, 1, "2", NULL, NULL, 1050, 550, PDNN_BOUND_COMPUTE, PDNN_BOUND_COMPUTE},
        {100000, 10, 5, 1, NULL, NULL, "0.5", 1050, 1025, PDNN_BOUND_COMPUTE, PDNN_BOUND_COMPUTE},
        /* nothing but calls */
        {100, 10, 5, 1, "2", NULL, NULL, 50, 50, PDNN_BOUND_OVERHEAD, PDNN_BOUND_OVERHEAD},
        {100, 10, 5, 1, NULL, NULL, "0.1", 50, 5, PDNN_BOUND_OVERHEAD, PDNN_BOUND_OVERHEAD},
        /* over before those calls would be: no calls */
        {300, 10, 5, 1, "2", NULL, NULL, 40, 20, PDNN_BOUND_COMPUTE, PDNN_BOUND_COMPUTE},
        {300, 10, 5, 1, NULL, NULL, "0.1", 40, 40, PDNN_BOUND_COMPUTE, PDNN_BOUND_COMPUTE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_roofs before = roofs_of((struct pdnn_hardware_request){.compute = "1"}, 2);
        struct pdnn_roofs after = roofs_of((struct pdnn_hardware_request){.compute = rows[i].compute,
                                                                          .bandwidth = rows[i].bandwidth,
                                                                          .overhead = rows[i].overhead},
                                           2);
        const struct pdnn_place_input input[] = {
            work(rows[i].flop, 1, rows[i].bytes, rows[i].calls, rows[i].ns),
            work(rows[i].flop, rows[i].rung_after, rows[i].bytes, rows[i].calls, rows[i].ns)};
        const struct pdnn_roofs *const roofs[] = {&before, &after};
        struct pdnn_retimed made = pdnn_retime(roofs, input, (struct pdnn_retimed_kind){0});
        assert_true(made.known);
        assert_near(made.ns, rows[i].expected, 1e-6);
        assert_int_equal(made.times[0].bound, rows[i].before);
        assert_int_equal(made.times[1].bound, rows[i].after);
    }
}

static void test_retime_keeps_what_has_no_roof(void **state) {
    (void)state;
    struct pdnn_roofs same = roofs_of((struct pdnn_hardware_request){.compute = "2"}, 2);
    const struct pdnn_roofs *const roofs[] = {&same, &same};
    struct pdnn_place_input input[] = {work(0, 0, 0, 1, 70), work(0, 0, 0, 1, 70)};
    struct pdnn_retimed made = pdnn_retime(roofs, input, (struct pdnn_retimed_kind){0});
    assert_false(made.known);
    assert_near(made.ns, 70, 0);
    input[0].flop_count[PDNN_INT8] = input[1].flop_count[PDNN_INT8] = 5; /* no such peak */
    made = pdnn_retime(roofs, input, (struct pdnn_retimed_kind){0});
    assert_false(made.known);
    assert_near(made.ns, 70, 0);
}

/* Peaks grow from 100 to 400 GFLOP/s, those of the library from 50 to 100, calls from 10 to 20 ns. */
static void test_retime_by_kind(void **state) {
    (void)state;
    struct pdnn_roofs before = roofs_of((struct pdnn_hardware_request){.compute = "1"}, 2), after = before;
    before.product_gflops[PDNN_F32] = 50;
    after.peak_gflops[PDNN_F32] = 400;
    after.product_gflops[PDNN_F32] = 100;
    after.overhead_ns = 2 * CALL_NS;
    const struct pdnn_roofs *const roofs[] = {&before, &after};
    const struct pdnn_place_input input[] = {work(100000, 1, 10, 5, 4050), work(100000, 1, 10, 5, 4050)};
    static const struct {
        struct pdnn_retimed_kind kind;
        double expected;
    } rows[] = {
        {{.is_product = false, .is_own = false}, 100 + 1000},
        {{.is_product = true, .is_own = false}, 100 + 2000},
        {{.is_product = false, .is_own = true}, 4050 / 4.0},
        {{.is_product = true, .is_own = true}, 4050 / 2.0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_near(pdnn_retime(roofs, input, rows[i].kind).ns, rows[i].expected, 1e-6);
    before.product_gflops[PDNN_F32] = 0; /* measured on one side only: the peaks */
    assert_near(pdnn_retime(roofs, input, rows[1].kind).ns, 100 + 1000, 1e-6);
}

/* A pattern counts where both sides have it, with whatever stores and steps. */
static void test_roof_rows_alike(void **state) {
    (void)state;
    static const struct pdnn_roof_rows more = {
        .count = 5,
        .row =
            {
                {"compute", "avx2", "int8", "", 1, 0, 9, 0, 0, 1},
                {"bandwidth", "read", "", "DRAM", 1, 0, 5, 0, 0, 1},
                {"bandwidth", "update", "", "DRAM", 1, 0, 5, 0, 0, 1},
                {"ladder", "read", "", "DRAM", 1, 1, 5, 0, 0, 1},
                {"ladder", "copy-streaming", "", "DRAM", 1, 1, 5, 0, 0, 1},
            },
    };
    static const struct pdnn_roof_rows less = {
        .count = 2,
        .row = {{"bandwidth", "read", "", "L2", 2, 1, 5, 0, 0, 1},
                {"bandwidth", "copy", "", "L2", 2, 1, 5, 0, 0, 1}},
    };
    struct pdnn_roof_rows *made = pdnn_roof_rows_alike(&more, &less);
    assert_int_equal(made->count, 4);
    for (size_t i = 0; i < made->count; i++)
        assert_string_not_equal(made->row[i].pattern, "update");
    free(made);
    made = pdnn_roof_rows_alike(&less, &more);
    assert_int_equal(made->count, 2);
    free(made);
    made = pdnn_roof_rows_alike(&more, &roof_rows); /* which only reads */
    assert_int_equal(made->count, 3);
    free(made);
}

static void test_retime_step(void **state) {
    (void)state;
    const double ops[] = {80, 40};
    assert_near(pdnn_retime_step(100, ops, 1), 60, 1e-9);
    assert_near(pdnn_retime_step(100, ops, 0.5), 50, 1e-9);
    assert_near(pdnn_retime_step(60, ops, 0.5), 30, 1e-9); /* the stamps took 20 */
}

static void add_op(struct pdnn_table *ops, const char *id, const char *name, const char *kind, double ns,
                   double projected_ns, const char *after) {
    const char *before = strcmp(kind, "ffn") == 0 ? "compute" : "memory";
    size_t row = pdnn_table_add_row(ops);
    pdnn_table_set_text(ops, row, PDNN_PROJECTED_OP_ID, id);
    pdnn_table_set_text(ops, row, PDNN_PROJECTED_OP_OP, name);
    pdnn_table_set_text(ops, row, PDNN_PROJECTED_OP_PASS, "forward");
    pdnn_table_set_text(ops, row, PDNN_PROJECTED_OP_KIND, kind);
    pdnn_table_set_number(ops, row, PDNN_PROJECTED_OP_TIME, ns);
    pdnn_table_set_number(ops, row, PDNN_PROJECTED_OP_TIME + 1, projected_ns);
    pdnn_table_set_number(ops, row, PDNN_PROJECTED_OP_SPEEDUP, ns / projected_ns);
    pdnn_table_set_text(ops, row, PDNN_PROJECTED_OP_BOUND, before);
    pdnn_table_set_text(ops, row, PDNN_PROJECTED_OP_BOUND + 1, after);
    pdnn_table_set_whole(ops, row, PDNN_PROJECTED_OP_MOVES, strcmp(before, after) != 0);
}

static void add_model(struct pdnn_table *models, const char *id, double ns, double projected_ns) {
    size_t row = pdnn_table_add_row(models);
    pdnn_table_set_text(models, row, PDNN_PROJECTED_ID, id);
    pdnn_table_set_text(models, row, PDNN_PROJECTED_FAMILY, "fc");
    pdnn_table_set_number(models, row, PDNN_PROJECTED_TIME, ns);
    pdnn_table_set_number(models, row, PDNN_PROJECTED_TIME + 1, projected_ns);
    pdnn_table_set_number(models, row, PDNN_PROJECTED_SPEEDUP, ns / projected_ns);
}

/* The update takes 50 of 100 ns, then 50 of 80; and 20 of 80, then 20 of 50. */
static void test_projection_sums(void **state) {
    (void)state;
    struct pdnn_hardware_projection made;
    pdnn_hardware_projection_init(&made);
    add_model(&made.models, "a", 100, 80);
    add_op(&made.ops, "a", "dense", "ffn", 40, 20, "memory");
    add_op(&made.ops, "a", "rmsprop", "update", 30, 30, "memory");
    add_op(&made.ops, "a", "rmsprop", "update", 20, 20, "memory");
    add_model(&made.models, "b", 70, 45);
    add_op(&made.ops, "b", "dense", "ffn", 60, 30, "memory");
    add_op(&made.ops, "b", "rmsprop", "update", 20, 20, "memory");
    pdnn_projection_sums(&made);
    const struct pdnn_table *limits = &made.limits, *moves = &made.moves, *families = &made.families;
    assert_int_equal(limits->n_rows, 2);
    assert_string_equal(pdnn_table_text(limits, 0, PDNN_PROJECTED_LIMIT_KIND), "ffn");
    assert_int_equal(pdnn_table_count(limits, 0, PDNN_PROJECTED_LIMIT_INSTANCES), 2);
    assert_near(pdnn_table_number(limits, 0, PDNN_PROJECTED_LIMIT_LIMIT), sqrt(100 / 60.0 * 80 / 20.0), 1e-9);
    assert_string_equal(pdnn_table_text(limits, 1, PDNN_PROJECTED_LIMIT_KIND), "update");
    assert_near(pdnn_table_number(limits, 1, PDNN_PROJECTED_LIMIT_LIMIT), sqrt(100 / 50.0 * 80 / 60.0), 1e-9);
    assert_near(pdnn_table_number(limits, 1, PDNN_PROJECTED_LIMIT_LIMIT + 2), sqrt(80 / 30.0 * 50 / 30.0),
                1e-9);
    assert_near(pdnn_table_number(limits, 1, PDNN_PROJECTED_LIMIT_SHARE), (50 + 25) / 2.0, 1e-9);
    assert_near(pdnn_table_number(limits, 1, PDNN_PROJECTED_LIMIT_SHARE + 2), (62.5 + 40) / 2.0, 1e-9);
    assert_int_equal(moves->n_rows, 1);
    assert_string_equal(pdnn_table_text(moves, 0, PDNN_PROJECTED_MOVE_OP), "dense");
    assert_int_equal(pdnn_table_count(moves, 0, PDNN_PROJECTED_MOVE_INSTANCES), 2);
    assert_near(pdnn_table_number(moves, 0, PDNN_PROJECTED_MOVE_SHARE), (40 + 75) / 2.0, 1e-9);
    assert_near(pdnn_table_number(moves, 0, PDNN_PROJECTED_MOVE_SPEEDUP), 2, 1e-9);
    assert_int_equal(families->n_rows, 1);
    assert_int_equal(pdnn_table_count(families, 0, PDNN_PROJECTED_FAMILY_INSTANCES), 2);
    assert_near(pdnn_table_number(families, 0, PDNN_PROJECTED_FAMILY_SPEEDUP), sqrt(100 / 80.0 * 70 / 45.0),
                1e-9);
    assert_near(pdnn_table_number(families, 0, PDNN_PROJECTED_FAMILY_SPEEDUP + 1), 100 / 80.0, 1e-9);
    assert_near(pdnn_table_number(families, 0, PDNN_PROJECTED_FAMILY_SPEEDUP + 2), 70 / 45.0, 1e-9);
    pdnn_hardware_projection_finish(&made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hardware_roofs_change_what_is_named),
        cmocka_unit_test(test_hardware_refuses),
        cmocka_unit_test(test_retime),
        cmocka_unit_test(test_retime_keeps_what_has_no_roof),
        cmocka_unit_test(test_retime_by_kind),
        cmocka_unit_test(test_roof_rows_alike),
        cmocka_unit_test(test_retime_step),
        cmocka_unit_test(test_projection_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
