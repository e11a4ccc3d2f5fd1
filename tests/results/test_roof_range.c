/* What a row's roof is where roofs were measured several times, or in both states of the threads' distance.
 */
#include "tests/cmocka_all.h"

#include "tests/results/made_row.h"

#include <math.h>
#include <string.h>

#define ID "fc/layers=1,nodes=8,input=16,output=4,batch=2,mode=infer,threads=2"

/* The whole model fits the first level. */
static const struct pdnn_roof_rows roof_rows = {
    .count = 3,
    .row =
        {
            {"compute", "fma", "f32", "", 2, 0, 200, 0, 0, 1},
            {"bandwidth", "read", "", "L1", 2, 1 << 20, 100, 0, 0, 1},
            {"bandwidth", "read", "", "DRAM", 2, 0, 10, 0, 0, 1},
        },
};

static struct pdnn_visit ok_visit(double median_ns) {
    return (struct pdnn_visit){.samples = 10,
                               .median_ns = median_ns,
                               .min_ns = median_ns,
                               .mean_ns = median_ns,
                               .p10_ns = median_ns,
                               .p90_ns = median_ns};
}

static void assert_near(double value, double expected) {
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.12g is not %.12g", value, expected);
}

static struct made_row made; /* the last one */

static int finish(void **state) {
    (void)state;
    made_row_finish(&made);
    return 0;
}

/* Roofs of both states of the threads' distance, 100 and 400 ns; L1 gives what is given. */
static struct pdnn_roof_rows *two_states(double near_gbs, double far_gbs) {
    static struct pdnn_roof_rows both;
    static const struct pdnn_roof_row handoff = {
        .kind = "probe", .pattern = "handoff", .threads = 2, .value = 100};
    both = roof_rows;
    both.row[both.count++] = handoff;
    both.row[1].value = near_gbs;
    for (size_t i = 0, n = both.count; i < n; i++) {
        struct pdnn_roof_row *far = &both.row[both.count++];
        strcpy(both.row[i].state, PDNN_ROOF_ROW_NEAR);
        *far = both.row[i];
        strcpy(far->state, PDNN_ROOF_ROW_FAR);
    }
    both.row[5].value = far_gbs;
    both.row[7].value = 400;
    return &both;
}

/* Visits stand under the roofs of their own state, and a row of both has a range that holds both. */
static void test_roof_of_its_state(void **state) {
    (void)state;
    static const struct {
        double handoff_ns[3];
        double gbs, low, high; /* of the roof */
    } rows[] = {{{105, 95, 120}, 100, 0, 0},     {{380, 420, 500}, 60, 0, 0},
                {{199, 0, 0}, 100, 0, 0},        {{201, 0, 0}, 60, 0, 0},
                {{100, 410, 100}, 100, 60, 100}, {{100, 410, 390}, 60, 60, 100},
                {{100, 0, 400}, 100, 60, 100},   {{0, 0, 0}, 100, 60, 100}};
    struct pdnn_visit visits[] = {ok_visit(100), ok_visit(100), ok_visit(100)};
    struct pdnn_aggregate_input input = {
        .id = ID, .of = {.visit = visits, .count = 3}, .roof_rows = two_states(100, 60)};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t k = 0; k < 3; k++)
            visits[k].hardware.handoff_ns = rows[i].handoff_ns[k];
        made_row_make(&input, &made);
        const double bytes = NUMBER(BYTE_COUNT), flop = NUMBER(FLOP_COUNT);
        assert_near(NUMBER(ATTAINABLE_GFLOPS), flop / (bytes / rows[i].gbs));
        assert_near(NUMBER(PCT_OF_ROOF), bytes / rows[i].gbs);
        if (rows[i].low == 0) {
            assert_true(isnan(NUMBER(ROOF_LOW)) && isnan(NUMBER(ROOF_HIGH)) &&
                        isnan(made.op[0].place.roof_low));
            continue;
        }
        assert_near(NUMBER(ROOF_LOW), flop / (bytes / rows[i].low));
        assert_near(NUMBER(ROOF_HIGH), flop / (bytes / rows[i].high));
        assert_true(made.op[0].place.roof_low < made.op[0].place.roof_high);
    }
    /* Of one state alone, it is for all. */
    input.roof_rows = &roof_rows;
    made_row_make(&input, &made);
    assert_true(isnan(NUMBER(ROOF_LOW)));
}

/* The range of what was measured several times is the row's; what it does not carry is not said. */
static void test_range_of_the_roof(void **state) {
    (void)state;
    static struct pdnn_roof_rows joined;
    static const struct {
        double low, value, high; /* of L1, GB/s */
        double reached;          /* by the row, GB/s */
        double pct;
        unsigned flags;
    } rows[] = {
        {90, 100, 110, 50, 50, 0},
        {100, 115, 129, 129 * 1.06, 106, PDNN_FLAG_ABOVE_ROOF},
        {100, 115, 129, 129 * 1.04, 104, 0},
        {100, 115, 131, 131 * 1.06, NAN, PDNN_FLAG_UNPLACED}, /* too wide a range to say so */
        {100, 115, 131, 100, 100 / 1.15, 0},
        {100, 115, 131, 125, 125 / 1.31, 0}, /* the row itself shows a higher roof */
    };
    struct pdnn_visit visit = ok_visit(100);
    const struct pdnn_aggregate_input input = {
        .id = ID, .of = {.visit = &visit, .count = 1}, .roof_rows = &joined};
    made_row_make(&input, &made);
    const double bytes = NUMBER(BYTE_COUNT), flop = NUMBER(FLOP_COUNT);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        joined = roof_rows;
        joined.row[1] = (struct pdnn_roof_row){.kind = "bandwidth",
                                               .pattern = "read",
                                               .level = "L1",
                                               .threads = 2,
                                               .capacity_bytes = 1 << 20,
                                               .value = rows[i].value,
                                               .low = rows[i].low,
                                               .high = rows[i].high,
                                               .measurements = 2};
        visit.median_ns = bytes / rows[i].reached;
        made_row_make(&input, &made);
        assert_int_equal(pdnn_result_flags(&made.row), rows[i].flags);
        assert_near(NUMBER(ROOF_HIGH), flop / (bytes / rows[i].high));
        if (isnan(rows[i].pct))
            assert_true(isnan(NUMBER(PCT_OF_ROOF)));
        else
            assert_near(NUMBER(PCT_OF_ROOF), rows[i].pct);
        assert_near(NUMBER(ROOF_LOW), flop / (bytes / rows[i].low));
        assert_string_equal(TEXT(BOUND), "memory");
    }
    /* Without several measurements, low and high are of repetitions. */
    joined.row[1].measurements = 1;
    made_row_make(&input, &made);
    assert_true(isnan(NUMBER(ROOF_LOW)));
}

/* Arithmetic that takes as long as 95 % to 115 % of the memory time, by what is measured. */
static void test_names_both_bounds(void **state) {
    (void)state;
    static struct pdnn_roof_rows joined;
    static const struct {
        double compute; /* as a share of the memory time */
        const char *bound;
    } rows[] = {{0.80, "memory"}, {0.95, "compute|memory"}, {1.05, "compute|memory"}, {1.25, "compute"}};
    struct pdnn_visit visit = ok_visit(100);
    const struct pdnn_aggregate_input input = {
        .id = ID, .of = {.visit = &visit, .count = 1}, .roof_rows = &joined};
    made_row_make(&input, &made);
    const double bytes = NUMBER(BYTE_COUNT), flop = NUMBER(FLOP_COUNT);
    for (size_t several = 0; several < 2; several++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            joined = roof_rows;
            joined.row[0].value = flop / (bytes / 100 * rows[i].compute);
            joined.row[1].low = 90;
            joined.row[1].high = 110;
            joined.row[1].measurements = several ? 2 : 1;
            made_row_make(&input, &made);
            assert_string_equal(TEXT(BOUND), several               ? rows[i].bound
                                             : rows[i].compute < 1 ? "memory"
                                                                   : "compute");
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roof_of_its_state),
        cmocka_unit_test(test_range_of_the_roof),
        cmocka_unit_test(test_names_both_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, finish);
}
