/* The files of a result directory: what is written reads back, errors name the file, and a rerun on another
 * machine is refused. */
#define _POSIX_C_SOURCE 200809L
#include "models/zoo/catalog.h"
#include "tests/cmocka_all.h"

#include "base/file.h"
#include "tests/whole_csv.h"
#include "results/store/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_ROOM = 256, LIMIT_BYTES = 1 << 20 };

static char directory[] = "/tmp/pdnn_test_tables_XXXXXX";
static struct pdnn_folder folder;

static const char *path_of(const char *name, char path[PATH_ROOM]) {
    snprintf(path, PATH_ROOM, "%s/%s", directory, name);
    return path;
}

static int setup(void **state) {
    (void)state;
    strcpy(strrchr(directory, '_') + 1, "XXXXXX");
    return mkdtemp(directory) && pdnn_folder_open(&folder, directory, NULL) == PDNN_OK ? 0 : -1;
}

static int teardown(void **state) {
    static const char *const names[] = {"results.csv", "ops.csv", "ceilings.csv", "environment.yaml"};
    char path[PATH_ROOM];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(path_of(names[i], path));
    pdnn_folder_close(&folder);
    return rmdir(directory);
}

static void write_text(const char *name, const char *text) {
    struct pdnn_err err = {0};
    char path[PATH_ROOM];
    assert_int_equal(pdnn_file_replace(path_of(name, path), text, strlen(text), &err), PDNN_OK);
}

/* Rows that were handed on in between are in front of those at hand. */
static void test_tables_write_reads_back(void **state) {
    (void)state;
    static const char reason[] = "said \"no\",\nthen died";
    struct pdnn_err err = {0};
    struct pdnn_tables tables;
    struct whole_csv csv = {0};
    char path[PATH_ROOM];
    pdnn_tables_init(&tables, pdnn_family_all(NULL), 1);
    struct pdnn_result row = pdnn_result_of(&tables.results, 0);
    pdnn_result_add(&row, "fc/a=1,b=2");
    size_t op = pdnn_table_add_row(&tables.ops);
    pdnn_table_set_text(&tables.ops, op, PDNN_OPS_CATEGORY, "linear gemm");
    pdnn_tables_flush(&tables);
    pdnn_result_add(&row, "fc/a=2");
    pdnn_result_set_text(&row, PDNN_RESULT_REASON, reason);
    assert_int_equal(pdnn_tables_write(&tables, &folder, &err), PDNN_OK);
    assert_int_equal(whole_csv_read(path_of("results.csv", path), LIMIT_BYTES, &csv, &err), PDNN_OK);
    assert_int_equal(csv.n_rows, 2);
    assert_string_equal(whole_csv_get(&csv, 0, whole_csv_find(&csv, "id")), "fc/a=1,b=2");
    assert_string_equal(whole_csv_get(&csv, 1, whole_csv_find(&csv, "reason")), reason);
    assert_string_equal(whole_csv_get(&csv, 1, whole_csv_find(&csv, "status")), "interrupted");
    whole_csv_finish(&csv);
    assert_int_equal(whole_csv_read(path_of("ops.csv", path), LIMIT_BYTES, &csv, &err), PDNN_OK);
    assert_int_equal(csv.n_rows, 1);
    assert_string_equal(whole_csv_get(&csv, 0, whole_csv_find(&csv, "category")), "linear gemm");
    whole_csv_finish(&csv);
    const struct pdnn_folder nowhere = {-1, "/nonexistent"};
    assert_int_equal(pdnn_tables_write(&tables, &nowhere, &err), PDNN_IO);
    assert_non_null(strstr(err.text, "/nonexistent/results.csv"));
    pdnn_tables_finish(&tables);
}

static void test_roof_rows_write_reads_back(void **state) {
    (void)state;
    struct pdnn_err err = {0};
    struct pdnn_roof_rows *roof_rows = calloc(2, sizeof *roof_rows);
    char path[PATH_ROOM];
    assert_non_null(roof_rows);
    roof_rows->count = PDNN_ROOF_ROWS_MAX;
    for (size_t i = 0; i < roof_rows->count; i++)
        roof_rows->row[i] = (struct pdnn_roof_row){
            "compute", "gemm-onednn", "f32", "", 2, i, 1.0 / (double)(i + 3), 1, 2, 9, 1, 0, "", 0, 0, 0,
            3,         "far"};
    struct pdnn_str text = {0};
    pdnn_roof_rows_format(roof_rows, &text);
    assert_int_equal(pdnn_file_replace(path_of("ceilings.csv", path), text.text, text.length, &err), PDNN_OK);
    pdnn_str_finish(&text);
    assert_int_equal(pdnn_roof_rows_read(path, NULL, &roof_rows[1], &err), PDNN_OK);
    assert_int_equal(roof_rows[1].count, PDNN_ROOF_ROWS_MAX);
    for (size_t i = 0; i < roof_rows->count; i++) {
        assert_string_equal(roof_rows[1].row[i].pattern, "gemm-onednn");
        assert_true(roof_rows[1].row[i].value == roof_rows->row[i].value);
        assert_int_equal(roof_rows[1].row[i].capacity_bytes, i);
    }
    free(roof_rows);
}

#define ROOF_ROWS_HEADER "kind,pattern,dtype,level,threads,capacity_bytes,value,low,high,repetitions\n"

static void test_roof_rows_read_names_file_and_line(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"a,b\n1,2\n", "ceilings.csv:1: there is no column 'kind'"},
        {ROOF_ROWS_HEADER "compute,fma,f32,,x,0,1,1,1,1\n", "ceilings.csv:2: threads: 'x' is not an integer"},
        {ROOF_ROWS_HEADER "compute,fma,f32,,,0,1,1,1,1\n",
         "ceilings.csv:2: '' is not a value for column 'threads'"},
        {ROOF_ROWS_HEADER "computed,fma,f32,,1,0,1,1,1,1\n",
         "ceilings.csv:2: 'computed' is not a value for column 'kind'"},
        {ROOF_ROWS_HEADER "compute,\"fma`id`\",f32,,1,0,1,1,1,1\n",
         "ceilings.csv:2: 'fma`id`' is not a value for column 'pattern'"},
        {ROOF_ROWS_HEADER "compute,,f32,,1,0,1,1,1,1\n",
         "ceilings.csv:2: '' is not a value for column 'pattern'"},
        {ROOF_ROWS_HEADER "compute,fma,f33,,1,0,1,1,1,1\n",
         "ceilings.csv:2: 'f33' is not a value for column 'dtype'"},
        {ROOF_ROWS_HEADER "bandwidth,read,,\"\nEND\n!id>x #\",1,0,1,1,1,1\n",
         "ceilings.csv:2: '\nEND\n!id>x #' is not a value for column 'level'"},
        {ROOF_ROWS_HEADER "compute,a-name-of-24-characters.,f32,,1,0,1,1,1,1\n",
         "ceilings.csv:2: 'a-name-of-24-characters.' is not a value for column 'pattern'"},
        {"measured_utc," ROOF_ROWS_HEADER "yesterday,compute,fma,f32,,1,0,1,1,1,1\n",
         "ceilings.csv:2: 'yesterday' is not a value for column 'measured_utc'"},
        {ROOF_ROWS_HEADER "compute,fma,f32,,1,0,0,1,1,1\n", "ceilings.csv:2: value must be greater than 0"},
        {ROOF_ROWS_HEADER "compute,fma,f32,,1,0,,1,1,1\n", "ceilings.csv:2: value must be greater than 0"},
        {ROOF_ROWS_HEADER "compute,fma,f32,,1,0,1,1,1,1\ncompute",
         "ceilings.csv:3: 1 fields, the header has 10"},
    };
    struct pdnn_roof_rows *roof_rows = calloc(1, sizeof *roof_rows);
    assert_non_null(roof_rows);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_err err = {0};
        char path[PATH_ROOM];
        write_text("ceilings.csv", rows[i].text);
        assert_int_equal(pdnn_roof_rows_read(path_of("ceilings.csv", path), NULL, roof_rows, &err),
                         PDNN_INVALID);
        if (!strstr(err.text, rows[i].message))
            fail_msg("'%s' lacks '%s'", err.text, rows[i].message);
    }
    free(roof_rows);
}

/* Columns in another order, some that are not known, and rows of two hosts: those of the first, and of both.
 */
static void test_roof_rows_read_by_name(void **state) {
    (void)state;
    static const struct pdnn_roof_row expected = {
        "bandwidth",   "triad", "", "L2", -3, 1234567890123456789u, 1.0 / 3, NAN, 7, 9, NAN, 0, "a",
        1777636800123, 0,       2,  0,    ""};
    struct pdnn_roof_rows *roof_rows = calloc(1, sizeof *roof_rows);
    struct pdnn_err err = {0};
    char path[PATH_ROOM];
    assert_non_null(roof_rows);
    write_text(
        "ceilings.csv",
        "note,ranks,host,measured_utc,repetitions,high,low,value,capacity_bytes,threads,level,dtype,pattern,kind\n"
        "\"x\ny\",2,a,2026-05-01T12:00:00.123Z,9,7,,0.33333333333333331,1234567890123456789,-3,L2,,triad,bandwidth\n"
        ",,b,,1,1,1,1,0,1,,f32,fma,compute\n"
        ",,,,1,1,1,1,,1,,f32,fma,compute\n");
    assert_int_equal(pdnn_roof_rows_read(path_of("ceilings.csv", path), NULL, roof_rows, &err), PDNN_OK);
    assert_int_equal(roof_rows->count, 2);
    const struct pdnn_roof_row *row = &roof_rows->row[0];
    assert_string_equal(row->kind, expected.kind);
    assert_string_equal(row->pattern, expected.pattern);
    assert_string_equal(row->level, expected.level);
    assert_string_equal(row->host, expected.host);
    assert_true(row->threads == expected.threads && row->capacity_bytes == expected.capacity_bytes);
    assert_true(row->value == expected.value && isnan(row->low) && row->high == expected.high);
    assert_true(row->repetitions == expected.repetitions && isnan(row->median) &&
                row->ranks == expected.ranks);
    assert_true(row->measured_unix_ms == expected.measured_unix_ms && row->checked_unix_ms == 0);
    assert_true(roof_rows->row[1].capacity_bytes == PDNN_ABSENT &&
                roof_rows->row[1].reported_bytes == PDNN_ABSENT);
    assert_int_equal(pdnn_roof_rows_read(path, "b", roof_rows, &err), PDNN_OK);
    assert_int_equal(roof_rows->count, 2);
    assert_string_equal(roof_rows->row[0].pattern, "fma");
    free(roof_rows);
}

/* One row more than there is room for. */
static void test_roof_rows_read_limit(void **state) {
    (void)state;
    struct pdnn_str text = {0};
    struct pdnn_err err = {0};
    struct pdnn_roof_rows *roof_rows = calloc(1, sizeof *roof_rows);
    char path[PATH_ROOM];
    assert_non_null(roof_rows);
    pdnn_str_printf(&text, ROOF_ROWS_HEADER);
    for (int i = 0; i <= PDNN_ROOF_ROWS_MAX; i++)
        pdnn_str_printf(&text, "compute,fma,f32,,1,0,1,1,1,1\n");
    write_text("ceilings.csv", text.text);
    assert_int_equal(pdnn_roof_rows_read(path_of("ceilings.csv", path), NULL, roof_rows, &err), PDNN_INVALID);
    char message[64];
    snprintf(message, sizeof message, "ceilings.csv: more than %d rows of one host", PDNN_ROOF_ROWS_MAX);
    assert_non_null(strstr(err.text, message));
    pdnn_str_finish(&text);
    free(roof_rows);
}

static struct pdnn_fact facts[] = {
    {"cpu", PDNN_FACT_TEXT, "A \"B\" \\ C # d: \x01\xc3\xa9", 0, 0, true, NULL, false},
    {"cpu_count", PDNN_FACT_WHOLE, NULL, 2, 0, true, NULL, false},
    {"quota", PDNN_FACT_NUMBER, NULL, 0, 1.5, false, NULL, false},
    {"empty", PDNN_FACT_TEXT, "", 0, 0, true, NULL, false},
    {"library", PDNN_FACT_TEXT, "lib 1 (avx)", 0, 0, true, NULL, false},
    {"built", PDNN_FACT_TEXT, "lib 1, build 34", 0, 0, true, NULL, false},
};
enum { N_FACTS = sizeof facts / sizeof *facts };

static void assert_fact(const char *key, const char *expected) {
    struct pdnn_str value = {0};
    pdnn_environment_get(directory, key, &value);
    assert_string_equal(pdnn_str_text(&value), expected);
    pdnn_str_finish(&value);
}

static void test_environment_write_reads_back(void **state) {
    (void)state;
    struct pdnn_err err = {0};
    assert_fact("cpu", "");
    assert_int_equal(pdnn_environment_check(directory, facts, N_FACTS, &err), PDNN_OK);
    assert_int_equal(pdnn_environment_write(&folder, facts, N_FACTS, &err), PDNN_OK);
    assert_int_equal(pdnn_environment_check(directory, facts, N_FACTS, &err), PDNN_OK);
    assert_fact("cpu", facts[0].text);
    assert_fact("cpu_count", "2");
    assert_fact("quota", "1.5");
    assert_fact("empty", "");
    assert_fact("pin", "");
}

static void test_environment_check_names_what_differs(void **state) {
    (void)state;
    static const struct {
        struct pdnn_fact now;
        const char *message; /* NULL: no objection */
    } rows[] = {
        {{"cpu", PDNN_FACT_TEXT, "other", 0, 0, true, NULL, false}, "environment.yaml: cpu was \"A "},
        {{"cpu_count", PDNN_FACT_WHOLE, NULL, 3, 0, true, NULL, false}, "cpu_count was 2 and is 3 now"},
        {{"new", PDNN_FACT_WHOLE, NULL, 1, 0, true, NULL, false}, "new was not said and is 1 now"},
        {{"empty", PDNN_FACT_TEXT, "x", 0, 0, true, NULL, false}, "empty was \"\" and is \"x\" now"},
        {{"quota", PDNN_FACT_NUMBER, NULL, 0, 9, false, NULL, false}, NULL},
        {{"empty", PDNN_FACT_TEXT, "BF16", 0, 0, true, "A_MODE", false},
         "A_MODE was \"\" and is \"BF16\" now"},
        {{"later", PDNN_FACT_TEXT, "x", 0, 0, true, "A_VARIABLE", false}, NULL},
        {{"library", PDNN_FACT_TEXT, "lib 1 (avx), build 12", 0, 0, true, NULL, false}, NULL},
        {{"library", PDNN_FACT_TEXT, "lib 2 (avx), build 12", 0, 0, true, NULL, false},
         "library was \"lib 1 (avx)\" and"},
        {{"built", PDNN_FACT_TEXT, "lib 1, build 12", 0, 0, true, NULL, false},
         "was \"lib 1, build 34\" and"},
        {{"built", PDNN_FACT_TEXT, "lib 1, build 34 of commit 5", 0, 0, true, NULL, false},
         "and is \"lib 1, build 34 of"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_err err = {0};
        assert_int_equal(pdnn_environment_write(&folder, facts, N_FACTS, &err), PDNN_OK);
        enum pdnn_status status = pdnn_environment_check(directory, &rows[i].now, 1, &err);
        assert_int_equal(status, rows[i].message ? PDNN_INVALID : PDNN_OK);
        if (rows[i].message && !strstr(err.text, rows[i].message))
            fail_msg("'%s' lacks '%s'", err.text, rows[i].message);
    }
}

static void test_environment_follow_has_both(void **state) {
    (void)state;
    struct pdnn_arena arena = {0};
    struct pdnn_err err = {0};
    static const struct {
        const char *now, *said, *all;
    } rows[] = {{"performance", "", "performance"},
                {"powersave", "governor was performance and is powersave now", "performance | powersave"},
                {"performance", "governor was performance | powersave and is performance now",
                 "performance | powersave"},
                {"", "", ""}}; /* a host that does not show it */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_str said = {0};
        struct pdnn_fact now[] = {{"governor", .text = rows[i].now, .varies = true},
                                  {"cpu", .text = rows[i].now}};
        pdnn_environment_follow(directory, now, 2, &arena, &said);
        assert_string_equal(pdnn_str_text(&said), rows[i].said);
        assert_string_equal(now[0].text, rows[i].all);
        assert_string_equal(now[1].text, rows[i].now);
        assert_int_equal(pdnn_environment_write(&folder, now, 2, &err), PDNN_OK);
        pdnn_str_finish(&said);
    }
    pdnn_arena_finish(&arena);
}

static void test_environment_join(void **state) {
    (void)state;
    static const struct {
        const char *first, *second, *joined;
    } rows[] = {
        {"x", "x", "x"},
        {"x", "y", "\"x | y\""},
        {"\"x | y\"", "y", "\"x | y\""}, /* one of them is a merged directory */
        {"y", "\"x | y\"", "\"y | x\""},
        {"\"x | x\"", "\"x | x\"", "\"x | x\""}, /* the same on both, whatever it holds */
        {"\" | \"", "\" | \"", "\" | \""},
        {"\"\"", "x", "\" | x\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_str one = {0}, other = {0}, joined = {0}, expected = {0};
        pdnn_str_printf(&one, "cpu: %s # identity\n", rows[i].first);
        pdnn_str_printf(&other, "cpu: %s # identity\n", rows[i].second);
        pdnn_str_printf(&expected, "\ncpu: %s # identity\n", rows[i].joined);
        const char *const texts[] = {one.text, other.text};
        pdnn_environment_join(texts, 2, &joined);
        assert_string_equal(strchr(joined.text, '\n'), expected.text);
        pdnn_str_finish(&one);
        pdnn_str_finish(&other);
        pdnn_str_finish(&joined);
        pdnn_str_finish(&expected);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_tables_write_reads_back, setup, teardown),
        cmocka_unit_test_setup_teardown(test_roof_rows_write_reads_back, setup, teardown),
        cmocka_unit_test_setup_teardown(test_roof_rows_read_names_file_and_line, setup, teardown),
        cmocka_unit_test_setup_teardown(test_roof_rows_read_by_name, setup, teardown),
        cmocka_unit_test_setup_teardown(test_roof_rows_read_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(test_environment_write_reads_back, setup, teardown),
        cmocka_unit_test_setup_teardown(test_environment_check_names_what_differs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_environment_follow_has_both, setup, teardown),
        cmocka_unit_test(test_environment_join),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
