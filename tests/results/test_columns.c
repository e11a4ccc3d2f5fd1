/* The columns: names are unique whatever families are present, headers and rows agree, values are exact or
 * empty, and columns that can be read back are. */
#include "tests/cmocka_all.h"

#include "results/store/columns.h"
#include "results/table/csv.h"
#include "results/store/record.h"
#include "results/store/journal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t count_families(void) {
    size_t count = 0;
    while (pdnn_families[count])
        count++;
    return count;
}

static void check_columns(const struct pdnn_columns *columns) {
    for (size_t i = 0; i < columns->count; i++) {
        const struct pdnn_column *column = &columns->column[i];
        assert_int_equal(pdnn_columns_find(columns, column->name), i);
        assert_true(strlen(column->name) == strspn(column->name, "abcdefghijklmnopqrstuvwxyz0123456789_"));
        assert_non_null(column->unit);
        assert_true(column->help && *column->help);
        assert_true(column->type < PDNN_COLUMN_TYPE_COUNT);
    }
}

static void test_columns_names_are_unique(void **state) {
    (void)state;
    struct pdnn_arena arena = {0};
    struct pdnn_columns results;
    pdnn_results_columns(pdnn_families, count_families(), false, &arena, &results);
    check_columns(&results);
    check_columns(&pdnn_ops_columns);
    check_columns(&pdnn_journal_columns);
    pdnn_arena_finish(&arena);
}

/* A warm-up is not sampled: it is counted in steps, as the worker counts it. */
static void test_columns_warmups_are_steps(void **state) {
    (void)state;
    struct pdnn_arena arena = {0};
    struct pdnn_columns results;
    pdnn_results_columns(pdnn_families, count_families(), false, &arena, &results);
    const struct pdnn_columns *const tables[] = {&results, &pdnn_journal_columns};
    for (size_t i = 0; i < 2; i++) {
        const int warmups = pdnn_columns_find(tables[i], "warmups");
        assert_true(warmups >= 0);
        assert_string_equal(tables[i]->column[warmups].unit, "steps");
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
    struct pdnn_columns columns;
    struct pdnn_str header = {0};
    pdnn_results_columns(both, 2, false, &arena, &columns);
    pdnn_columns_header(&columns, &header);
    assert_string_equal(
        pdnn_str_text(&header),
        "schema,id,model,settings,family,layers,nodes,cell,run_mode,dtype,optimizer,backend,threads,cache,fuse,algorithm,rnn,accumulate,checkpoint,layers_run,isa,data,loaders,pages,ranks,allreduce,bucket_mb,status,reason,params,flop_count,in_bounds_flop_count,byte_count,weight_bytes,activation_bytes,gradient_bytes,state_bytes,memory_bytes,plan_bytes,method,time_ns_median,time_ns_min,time_ns_mean,time_ns_p10,time_ns_p90,time_ns_mad,ci_low_ns,ci_high_ns,ci_half_pct,rounds,samples,warmups,stop_reason,speed_index,probe_gflops,probe_gbs,prepare_ns,examples_per_s,gflops,bw_gbs,intensity_flop_per_byte,attainable_gflops,pct_of_roof,pct_of_peak,bound,roof_level,residual_pct,infeed_pct,loader_examples_per_s,loader_bytes_per_s,page_cache,compute_ns,skew_ns,comm_ns,exposed_ns,hidden_pct,allreduce_bytes,bus_gbs,extrapolated,row_flags,host,started_utc\n");
    pdnn_str_clear(&header);
    pdnn_results_columns(both, 2, true, &arena, &columns);
    pdnn_columns_header(&columns, &header);
    assert_string_equal(
        pdnn_str_text(&header),
        "id,model,settings,family,layers,nodes,cell,run_mode,dtype,optimizer,backend,threads,cache,fuse,algorithm,rnn,accumulate,checkpoint,layers_run,isa,data,loaders,pages,ranks,allreduce,bucket_mb,params,flop_count,in_bounds_flop_count,byte_count,weight_bytes,activation_bytes,gradient_bytes,state_bytes,memory_bytes\n");
    pdnn_str_finish(&header);
    pdnn_arena_finish(&arena);
}

/* A number in one family and a word in the other: the shared column holds text, whichever comes first. A word
 * that stands for a number is a number. */
static void test_results_columns_types(void **state) {
    (void)state;
    static const char *const words[] = {"yes", NULL};
    static const struct pdnn_param_def numbers[] = {
        {.name = "length", .type = PDNN_PARAM_INT, .max = 9, .unit = "", .help = "h"},
        {.name = "output", .type = PDNN_PARAM_INT, .max = 9, .unit = "", .help = "h"},
    };
    static const struct pdnn_param_def texts[] = {
        {.name = "output", .type = PDNN_PARAM_CHOICE, .choices = words, .unit = "", .help = "h"},
        {.name = "hidden", .type = PDNN_PARAM_INT, .max = 9, .word = "same", .unit = "", .help = "h"},
    };
    static const struct pdnn_family_def first = {.name = "a", .params = numbers, .n_params = 2};
    static const struct pdnn_family_def second = {.name = "b", .params = texts, .n_params = 2};
    static const struct pdnn_family_def *const orders[][2] = {{&first, &second}, {&second, &first}};
    for (size_t i = 0; i < 2; i++) {
        struct pdnn_arena arena = {0};
        struct pdnn_columns columns;
        pdnn_results_columns(orders[i], 2, false, &arena, &columns);
        assert_int_equal(columns.column[pdnn_columns_find(&columns, "length")].type, PDNN_COLUMN_WHOLE);
        assert_int_equal(columns.column[pdnn_columns_find(&columns, "output")].type, PDNN_COLUMN_WORD);
        assert_int_equal(columns.column[pdnn_columns_find(&columns, "hidden")].type, PDNN_COLUMN_WHOLE);
        pdnn_arena_finish(&arena);
    }
}

static const char *cell_of(const struct pdnn_columns *columns, const char *name, const void *row,
                           struct pdnn_str *cell) {
    int at = pdnn_columns_find(columns, name);
    assert_true(at >= 0);
    pdnn_str_clear(cell);
    pdnn_column_text(&columns->column[at], row, cell);
    return pdnn_str_text(cell);
}

static void test_columns_row_of_a_record(void **state) {
    (void)state;
    struct pdnn_arena arena = {0};
    struct pdnn_columns columns;
    struct pdnn_str cell = {0};
    struct pdnn_err err = {0};
    struct pdnn_record *record = malloc(sizeof *record);
    assert_non_null(record);
    pdnn_results_columns(pdnn_families, count_families(), false, &arena, &columns);
    pdnn_record_init(record, "fc/layers=7,mode=infer,threads=3");
    assert_int_equal(pdnn_instance_parse(record->id, &record->instance, &err), PDNN_OK);
    record->parsed = record->has_totals = true;
    record->totals.cost.flop_count = 9007199254740993u; /* not representable as a double */
    record->outcome = PDNN_OUTCOME_OK;
    record->time_ns_median = 1234567.891;
    assert_string_equal(cell_of(&columns, "ci_half_pct", record, &cell), "");
    record->ci_low_ns = 1200000;
    record->ci_high_ns = 1323456.7891;
    record->flags = PDNN_FLAG_NOISY | PDNN_FLAG_REF;
    record->started_unix_ms = 1777636800123;
    static const struct {
        const char *name, *text;
    } rows[] = {
        {"family", "fc"},
        {"model", "fc/layers=7"},
        {"settings", "mode=infer,threads=3"},
        {"layers", "7"},
        {"run_mode", "infer"},
        {"optimizer", ""},
        {"threads", "3"},
        {"status", "ok"},
        {"cache", "warm"},
        {"fuse", "none"},
        {"flop_count", "9007199254740993"},
        {"plan_bytes", ""},
        {"ci_low_ns", "1200000"},
        {"time_ns_median", "1234568"},
        {"bound", ""},
        {"samples", ""},
        {"row_flags", "noisy|ref"},
        {"params", "0"},
        {"schema", "3"},
        {"started_utc", "2026-05-01T12:00:00.123Z"},
        {"ci_half_pct", "5"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(cell_of(&columns, rows[i].name, record, &cell), rows[i].text);
    record->has_totals = false;
    assert_string_equal(cell_of(&columns, "flop_count", record, &cell), "");
    record->parsed = false;
    strcpy(record->id, "gone:preset,x=1");
    assert_string_equal(cell_of(&columns, "family", record, &cell), "gone");
    assert_string_equal(cell_of(&columns, "layers", record, &cell), "");
    assert_string_equal(cell_of(&columns, "run_mode", record, &cell), "");
    free(record);
    pdnn_str_finish(&cell);
    pdnn_arena_finish(&arena);
}

static void test_column_parse_refuses(void **state) {
    (void)state;
    static const struct {
        const char *column, *text;
    } rows[] = {
        {"status", "done"},      {"visit", "-1"},
        {"visit", " 1"},         {"visit", "18446744073709551616"},
        {"time_ns_mean", "inf"}, {"time_ns_mean", "0x10"},
        {"time_ns_mean", "1,5"}, {"started_utc", "yesterday"},
    };
    struct pdnn_journal_row *row = calloc(1, sizeof *row);
    assert_non_null(row);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int at = pdnn_columns_find(&pdnn_journal_columns, rows[i].column);
        if (pdnn_column_parse(&pdnn_journal_columns.column[at], row, rows[i].text))
            fail_msg("%s took '%s'", rows[i].column, rows[i].text);
    }
    free(row);
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
        cmocka_unit_test(test_columns_names_are_unique),  cmocka_unit_test(test_results_columns_order),
        cmocka_unit_test(test_columns_warmups_are_steps), cmocka_unit_test(test_results_columns_types),
        cmocka_unit_test(test_columns_row_of_a_record),   cmocka_unit_test(test_column_parse_refuses),
        cmocka_unit_test(test_utc_format_and_parse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
