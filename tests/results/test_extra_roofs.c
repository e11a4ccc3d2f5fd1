/* Rows whose implementations move more than the compulsory bytes: a recurrent layer whose weights are read
 * again from the level that holds them, against the same layer without. */
#include "tests/results/made_row.h"
#include "tests/near.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RNN = 1 }; /* the embedding comes first */

#define LSTM                                                                                                 \
    "rnn/cell=lstm,layers=1,embedding=512,length=50,vocabulary=9,ids=uniform,mode=infer,rnn=unrolled,"       \
    "threads=2,"

/* The row of a step of 1 s, of which an op, of this number in the graph, takes half: `executions` of those
 * that the graph has. */
struct measured {
    const char *id;
    size_t op;
    uint32_t executions;
    double peak; /* GFLOP/s; L1 has 100 GB/s, memory 10 */
    struct pdnn_extra_traffic extra;
};

static void make(const struct measured *from, struct made_row *made) {
    static struct pdnn_roof_rows roof_rows = {
        .count = 3,
        .row = {{"compute", "fma", "f32", "", 2, 0, 0, 0, 0, 1},
                {"bandwidth", "read", "", "L1", 2, 1 << 20, 100, 0, 0, 1},
                {"bandwidth", "read", "", "DRAM", 2, 0, 10, 0, 0, 1}},
    };
    struct pdnn_visit visit = {
        .samples = 9, .steps_per_sample = 1, .median_ns = 1e9, .stop = PDNN_STOP_PRECISION};
    struct pdnn_visit_op op = {
        .implementation = "own", .count = from->executions, .extra = from->extra, .time_ns = 5e8};
    struct pdnn_visits known = {.room = 0};
    struct pdnn_aggregate_input input = {.id = from->id, .of = {&visit, NULL, 1, 0}, .roof_rows = &roof_rows};
    roof_rows.row[0].value = from->peak;
    made_row_make(&input, made);
    const struct pdnn_op_record *of = &made->op[from->op];
    snprintf(op.key, sizeof op.key, "%s/%s/%s", of->op, of->pass, of->shape);
    visit.ops = &op;
    visit.n_ops = 1;
    pdnn_visits_add(&known, from->id, &visit);
    input.of.ops = pdnn_visits_of(&known, from->id).ops;
    made_row_make(&input, made);
    pdnn_visits_finish(&known);
}

/* What the roofs of the layer and of the model allow, in ns. */
static void put_roofs(const struct made_row *made, double roof_ns[2]) {
    roof_ns[0] = made->op[RNN].place.pct_of_roof / 100 * 5e8;
    roof_ns[1] = pdnn_result_number(&made->row, PDNN_RESULT_PCT_OF_ROOF) / 100 * 1e9;
}

static void test_aggregate_extra_traffic(void **state) {
    (void)state;
    static const struct pdnn_extra_traffic small = {50 << 16, 0, 70000}, large = {50 << 22, 1 << 22, 4300000};
    static const struct {
        const char *id;
        const struct pdnn_extra_traffic *extra;
        double peak, extra_ns;
        enum pdnn_bound before, after;
        const char *level;
    } cases[] = {
        {LSTM "hidden=64,batch=1", &small, 1e9, 32768, PDNN_BOUND_MEMORY, PDNN_BOUND_MEMORY, NULL},
        {LSTM "hidden=512,batch=1", &large, 1e9, 21390950.4, PDNN_BOUND_MEMORY, PDNN_BOUND_MEMORY, "DRAM"},
        {LSTM "hidden=512,batch=1", &large, 200, NAN, PDNN_BOUND_COMPUTE, PDNN_BOUND_MEMORY, "DRAM"},
        {LSTM "hidden=512,batch=64", &large, 200, 0, PDNN_BOUND_COMPUTE, PDNN_BOUND_COMPUTE, "DRAM"},
    };
    double last_ns[2] = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made_row rows[2] = {{.n_ops = 0}, {.n_ops = 0}};
        for (size_t k = 0; k < 2; k++) {
            struct measured from = {cases[i].id, RNN, 1, cases[i].peak, {0}};
            if (k)
                from.extra = *cases[i].extra;
            make(&from, &rows[k]);
        }
        const struct pdnn_op_record *without = &rows[0].op[RNN], *with = &rows[1].op[RNN];
        double roof_ns[2][2];
        assert_string_equal(with->op, "rnn");
        assert_int_equal(without->place.bound, cases[i].before);
        assert_int_equal(with->place.bound, cases[i].after);
        assert_memory_equal(&with->extra, cases[i].extra, sizeof with->extra);
        assert_int_equal(with->byte_count, without->byte_count);
        assert_near(with->place.intensity_flop_per_byte, (double)with->flop_count / (double)with->byte_count,
                    1e-9);
        assert_near(with->place.bw_gbs, (double)with->byte_count / 5e8, 1e-9);
        for (enum pdnn_result_column k = PDNN_RESULT_GFLOPS; k <= PDNN_RESULT_INTENSITY_FLOP_PER_BYTE; k++)
            assert_near(pdnn_result_number(&rows[1].row, k), pdnn_result_number(&rows[0].row, k), 1e-9);
        for (size_t k = 0; k < 2; k++) {
            put_roofs(&rows[k], roof_ns[k]);
            if (cases[i].level && k)
                assert_string_equal(rows[k].op[RNN].place.roof_level, cases[i].level);
        }
        /* Where memory becomes the bound, its time is that of the case before. */
        for (size_t k = 0; k < 2; k++)
            assert_near(roof_ns[1][k],
                        isnan(cases[i].extra_ns) ? last_ns[k] : roof_ns[0][k] + cases[i].extra_ns, 1);
        memcpy(last_ns, roof_ns[1], sizeof last_ns);
        made_row_finish(&rows[0]);
        made_row_finish(&rows[1]);
    }
}

/* What two layers of five move is scaled up; the set is that of each. */
static void test_aggregate_extrapolates_extra_traffic(void **state) {
    (void)state;
    const struct pdnn_extra_traffic expected = {50, 25, 96};
    struct measured from = {
        "transformer/layers=5,hidden=8,heads=2,length=4,vocabulary=9,batch=2,mode=infer,threads=2,layers_run=2",
        0,
        2,
        200,
        {20, 10, 96}};
    struct made_row made = {.n_ops = 0};
    make(&from, &made);
    while (made.op[from.op].count != 5)
        from.op++;
    make(&from, &made);
    assert_memory_equal(&made.op[from.op].extra, &expected, sizeof expected);
    made_row_finish(&made);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_aggregate_extra_traffic),
                                       cmocka_unit_test(test_aggregate_extrapolates_extra_traffic)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
