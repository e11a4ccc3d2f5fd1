/* The columns: names are unique whatever families are present, headers and rows agree, values are exact or
 * empty, and columns that can be read back are. */
#include "models/zoo/catalog.h"
#include "tests/cmocka_all.h"

#include "results/table/read.h"
#include "results/store/results.h"
#include "results/store/journal.h"
#include "results/table/record.h"
#include "results/store/library.h"
#include "results/table/write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct pdnn_table_def all_results(struct pdnn_arena *arena) {
    size_t count;
    const struct pdnn_family_def *const *families = pdnn_family_all(&count);
    return pdnn_results_def(families, count, arena);
}

static void check_columns(const struct pdnn_table_def *def) {
    struct pdnn_table table;
    pdnn_table_init(&table, def);
    for (size_t i = 0; i < def->count; i++) {
        const struct pdnn_column_def *column = &def->column[i];
        assert_int_equal(pdnn_table_find(&table, column->name), i);
        assert_true(strlen(column->name) == strspn(column->name, "abcdefghijklmnopqrstuvwxyz0123456789_"));
        assert_true(column->help && *column->help);
    }
    pdnn_table_finish(&table);
}

static void test_columns_names_are_unique(void **state) {
    (void)state;
    struct pdnn_arena arena = {0};
    const struct pdnn_table_def results = all_results(&arena);
    check_columns(&results);
    check_columns(&pdnn_ops_def);
    check_columns(&pdnn_journal_def);
    check_columns(&pdnn_journal_ops_def);
    check_columns(&pdnn_library_def);
    pdnn_arena_finish(&arena);
}

/* A warm-up is not sampled: it is counted in steps, as the worker counts it. */
static void test_columns_warmups_are_steps(void **state) {
    (void)state;
    struct pdnn_arena arena = {0};
    const struct pdnn_table_def tables[] = {all_results(&arena), pdnn_journal_def};
    for (size_t i = 0; i < 2; i++) {
        size_t at = 0;
        while (strcmp(tables[i].column[at].name, "warmups") != 0)
            assert_true(++at < tables[i].count);
        assert_string_equal(tables[i].column[at].unit, "steps");
    }
    pdnn_arena_finish(&arena);
}

/* Two families that share one name: one column per name, in the order of their rows. */
static void test_results_columns_order(void **state) {
    (void)state;
    static const struct pdnn_param_def first_params[] = {
        {.name = "layers", .type = PDNN_PARAM_INT, .max = 9, .unit = "", .help = "h"},
        {.name = "nodes", .type = PDNN_PARAM_INT, .max = 9, .unit = "", .help = "h"},
    };
    static const struct pdnn_param_def second_params[] = {
        {.name = "cell", .type = PDNN_PARAM_INT, .max = 9, .unit = "", .help = "h"},
        {.name = "layers", .type = PDNN_PARAM_INT, .max = 9, .unit = "", .help = "h"},
    };
    static const struct pdnn_family_def first = {.name = "a", .params = first_params, .n_params = 2};
    static const struct pdnn_family_def second = {.name = "b", .params = second_params, .n_params = 2};
    static const struct pdnn_family_def *const both[] = {&first, &second};
    struct pdnn_arena arena = {0};
    struct pdnn_table table;
    struct pdnn_str header = {0};
    const struct pdnn_table_def def = pdnn_results_def(both, 2, &arena);
    pdnn_table_init(&table, &def);
    pdnn_table_csv(&header, &table);
    pdnn_table_finish(&table);
    assert_string_equal(
        pdnn_str_text(&header),
        "schema,id,model,settings,preset,family,layers,nodes,cell,run_mode,dtype,optimizer,backend,threads,cache,fuse,algorithm,rnn,accumulate,checkpoint,layers_run,isa,library,data,loaders,pages,ranks,allreduce,bucket_mb,status,reason,params,flop_count,in_bounds_flop_count,byte_count,weight_bytes,activation_bytes,gradient_bytes,state_bytes,memory_bytes,plan_bytes,method,time_ns_median,time_ns_min,time_ns_mean,time_ns_p10,time_ns_p90,time_ns_mad,ci_low_ns,ci_high_ns,ci_half_pct,rounds,samples,warmups,stop_reason,speed_index,probe_gflops,probe_gbs,clock_ghz,flop_per_cycle,handoff_ns,far_pct,fork_ns,cpu_share_pct,page_faults,context_switches,steal_pct,effective_ghz,instructions,ipc,varied,prepare_ns,examples_per_s,gflops,bw_gbs,intensity_flop_per_byte,attainable_gflops,pct_of_roof,roof_low,roof_high,pct_of_peak,bound,roof_level,residual_pct,infeed_pct,loader_examples_per_s,loader_bytes_per_s,page_cache,compute_ns,skew_ns,comm_ns,exposed_ns,hidden_pct,allreduce_bytes,bus_gbs,extrapolated,row_flags,host,started_utc\n");
    pdnn_str_finish(&header);
    pdnn_arena_finish(&arena);
}

/* A number in one family and a word in the other: the shared column holds text, whichever comes first; with a
 * decimal number, decimal ones. A word that stands for a number is a number. */
static void test_results_columns_types(void **state) {
    (void)state;
    static const char *const words[] = {"yes", NULL};
    static const struct pdnn_param_def numbers[] = {
        {.name = "length", .type = PDNN_PARAM_INT, .max = 9, .unit = "", .help = "h"},
        {.name = "output", .type = PDNN_PARAM_INT, .max = 9, .unit = "", .help = "h"},
        {.name = "width", .type = PDNN_PARAM_INT, .max = 9, .unit = "", .help = "h"},
        {.name = "shape", .type = PDNN_PARAM_DECIMAL, .max = 9, .unit = "", .help = "h"},
    };
    static const struct pdnn_param_def texts[] = {
        {.name = "width", .type = PDNN_PARAM_DECIMAL, .max = 9, .unit = "", .help = "h"},
        {.name = "shape", .type = PDNN_PARAM_LIST, .max = 9, .unit = "", .help = "h"},
        {.name = "output", .type = PDNN_PARAM_CHOICE, .choices = words, .unit = "", .help = "h"},
        {.name = "hidden", .type = PDNN_PARAM_INT, .max = 9, .word = "same", .unit = "", .help = "h"},
    };
    static const struct pdnn_family_def first = {.name = "a", .params = numbers, .n_params = 4};
    static const struct pdnn_family_def second = {.name = "b", .params = texts, .n_params = 4};
    static const struct pdnn_family_def *const orders[][2] = {{&first, &second}, {&second, &first}};
    for (size_t i = 0; i < 2; i++) {
        struct pdnn_arena arena = {0};
        struct pdnn_table table;
        const struct pdnn_table_def def = pdnn_results_def(orders[i], 2, &arena);
        pdnn_table_init(&table, &def);
        assert_int_equal(table.column[pdnn_table_find(&table, "length")].def.kind, PDNN_KIND_WHOLE);
        assert_int_equal(table.column[pdnn_table_find(&table, "output")].def.kind, PDNN_KIND_TEXT);
        assert_int_equal(table.column[pdnn_table_find(&table, "hidden")].def.kind, PDNN_KIND_WHOLE);
        const size_t width = pdnn_table_find(&table, "width");
        assert_int_equal(table.column[width].def.kind, PDNN_KIND_NUMBER);
        assert_int_equal(table.column[width].def.digits, PDNN_DIGITS_EXACT);
        assert_int_equal(table.column[pdnn_table_find(&table, "shape")].def.kind, PDNN_KIND_TEXT);
        assert_int_equal(table.column[pdnn_table_find(&table, "layers_run")].def.kind, PDNN_KIND_TEXT);
        pdnn_table_finish(&table);
        pdnn_arena_finish(&arena);
    }
}

static const char *cell_of(const struct pdnn_result *row, const char *name, struct pdnn_str *cell) {
    size_t at = pdnn_table_find(row->table, name);
    assert_true(at != SIZE_MAX);
    pdnn_str_clear(cell);
    pdnn_table_append(row->table, row->row, at, cell);
    return pdnn_str_text(cell);
}

static void test_result_cells(void **state) {
    (void)state;
    struct pdnn_arena arena = {0};
    struct pdnn_table table;
    struct pdnn_str cell = {0};
    struct pdnn_err err = {0};
    struct pdnn_instance instance;
    static const char id[] = "fc/layers=7,mode=infer,threads=3";
    struct pdnn_totals totals = {.memory_bytes = 5};
    const struct pdnn_table_def def = all_results(&arena);
    pdnn_table_init(&table, &def);
    struct pdnn_result row = pdnn_result_of(&table, 0);
    assert_int_equal(pdnn_instance_parse(id, &instance, &err), PDNN_OK);
    totals.cost.flop_count = 9007199254740993u; /* not representable as a double */
    pdnn_result_add(&row, id);
    pdnn_result_set_instance(&row, &instance);
    pdnn_result_set_totals(&row, &totals);
    pdnn_result_set_number(&row, PDNN_RESULT_TIME_NS_MEDIAN, 1234567.891);
    static const struct {
        const char *name, *text;
    } cells[] = {
        {"schema", "4"},
        {"id", id},
        {"family", "fc"},
        {"model", "fc/layers=7"},
        {"settings", "mode=infer,threads=3"},
        {"layers", "7"},
        {"filters", ""}, /* of another family */
        {"run_mode", "infer"},
        {"optimizer", ""},
        {"threads", "3"},
        {"layers_run", ""}, /* applies to models with like layers only */
        {"status", "interrupted"},
        {"cache", "warm"},
        {"fuse", "none"},
        {"params", "0"},
        {"flop_count", "9007199254740993"},
        {"memory_bytes", "5"},
        {"plan_bytes", ""},
        {"time_ns_median", "1234568"},
        {"ci_half_pct", ""},
        {"bound", ""},
        {"rounds", "0"},
        {"samples", ""},
        {"extrapolated", "0"},
    };
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        assert_string_equal(cell_of(&row, cells[i].name, &cell), cells[i].text);
    /* An id that this program does not know, and counts that do not fit. */
    pdnn_result_add(&row, "gone:preset,x=1");
    assert_int_equal(row.row, 1);
    static const char *const empty[] = {"layers", "run_mode", "flop_count", "params"};
    assert_string_equal(cell_of(&row, "family", &cell), "gone");
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++)
        assert_string_equal(cell_of(&row, empty[i], &cell), "");
    pdnn_table_finish(&table);
    pdnn_str_finish(&cell);
    pdnn_arena_finish(&arena);
}

static void test_journal_refuses(void **state) {
    (void)state;
    static const struct {
        const char *column, *text;
    } rows[] = {
        {"status", "done"},      {"visit", "-1"},
        {"visit", " 1"},         {"visit", "18446744073709551616"},
        {"time_ns_mean", "inf"}, {"time_ns_mean", "0x10"},
        {"time_ns_mean", "1,5"}, {"started_utc", "yesterday"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct pdnn_visit visit = {.outcome = PDNN_OUTCOME_OK};
        struct pdnn_table table;
        struct pdnn_err err = {0};
        pdnn_table_init(&table, &pdnn_journal_def);
        pdnn_record_put(&table, pdnn_table_add_row(&table), &visit);
        assert_int_equal(pdnn_record_check(&table, 0, &err), PDNN_OK);
        if (pdnn_table_parse(&table, 0, pdnn_table_find(&table, rows[i].column), rows[i].text) &&
            pdnn_record_check(&table, 0, &err) == PDNN_OK)
            fail_msg("%s took '%s'", rows[i].column, rows[i].text);
        pdnn_table_finish(&table);
    }
}

static void test_utc_format_and_parse(void **state) {
    (void)state;
    static const struct {
        int64_t ms;
        const char *text;
    } rows[] = {
        {0, "1970-01-01T00:00:00.000Z"},
        {951782400000, "2000-02-29T00:00:00.000Z"},
        {1777636800123, "2026-05-01T12:00:00.123Z"},
        {-1, "1969-12-31T23:59:59.999Z"},
        {4107542399999, "2100-02-28T23:59:59.999Z"},
        {4107542400000, "2100-03-01T00:00:00.000Z"},
    };
    char text[PDNN_UTC_TEXT];
    int64_t ms;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_string_equal(pdnn_utc_format(rows[i].ms, text), rows[i].text);
        assert_true(pdnn_utc_parse(rows[i].text, &ms));
        assert_true(ms == rows[i].ms);
    }
    static const char *const bad[] = {"",
                                      "2026-05-01",
                                      "2026-02-30T00:00:00.000Z",
                                      "2026-05-01T24:00:00.000Z",
                                      "2026-05-01T12:00:00.123",
                                      "2026-05-01T12:00:00.123Zx",
                                      "2026-5-1T12:00:00.123Z"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(pdnn_utc_parse(bad[i], &ms));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_names_are_unique),
        cmocka_unit_test(test_results_columns_order),
        cmocka_unit_test(test_columns_warmups_are_steps),
        cmocka_unit_test(test_results_columns_types),
        cmocka_unit_test(test_result_cells),
        cmocka_unit_test(test_journal_refuses),
        cmocka_unit_test(test_utc_format_and_parse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
