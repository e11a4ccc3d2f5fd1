/* ops.csv read back: the rows of each instance in any order of requests, older
 * tables, errors with their position. */
#define _POSIX_C_SOURCE 200809L
#include "models/zoo/catalog.h"
#include "tests/cmocka_all.h"

#include "base/file.h"
#include "results/query/shares.h"
#include "results/store/tables.h"
#include "results/table/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_ROOM = 256 };

static char directory[] = "/tmp/pdnn_test_ops_reader_XXXXXX", path[PATH_ROOM];
static struct pdnn_folder folder;

static int setup(void **state) {
    (void)state;
    strcpy(strrchr(directory, '_') + 1, "XXXXXX");
    if (!mkdtemp(directory) || pdnn_folder_open(&folder, directory, NULL) != PDNN_OK)
        return -1;
    snprintf(path, sizeof path, "%s/ops.csv", directory);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    char results[PATH_ROOM];
    snprintf(results, sizeof results, "%s/results.csv", directory);
    unlink(path);
    unlink(results);
    pdnn_folder_close(&folder);
    return rmdir(directory);
}

static void write_text(const char *text) {
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_file_replace(path, text, strlen(text), &err), PDNN_OK);
}

/* Ids are in today's form, and what is not available stays so. */
static void test_ops_reader_reads_what_tables_write(void **state) {
    (void)state;
    struct pdnn_tables tables;
    struct pdnn_ops_reader reader;
    const struct pdnn_op_record *read;
    struct pdnn_err err = {0};
    char id[PDNN_ID_TEXT];
    pdnn_instance_reprint("cnn/image=8", id);
    pdnn_tables_init(&tables, pdnn_family_all(NULL), 1);
    size_t row = pdnn_table_add_row(&tables.ops);
    struct pdnn_op_record written = pdnn_ops_row(&tables.ops, row);
    written.id = "cnn/image=8";
    written.shape = "1x2x8x8:2x2x3x3:1x2x8x8,padding=1";
    written.count = 3;
    written.flop_count = 9007199254740993u;
    written.time_ns_median = 12.5;
    written.place.bound = PDNN_BOUND_MEMORY;
    strcpy(written.place.roof_level, "L2");
    written.place.pct_of_roof = 50;
    pdnn_record_put(&tables.ops, row, &written);
    assert_int_equal(pdnn_tables_write(&tables, &folder, &err), PDNN_OK);
    assert_int_equal(pdnn_ops_reader_open(&reader, directory, &err), PDNN_OK);
    assert_int_equal(pdnn_ops_reader_find(&reader, id, &read), 1);
    assert_string_equal(read->id, id);
    assert_string_equal(read->shape, "1x2x8x8:2x2x3x3:1x2x8x8,padding=1");
    assert_true(read->count == 3 && read->flop_count == 9007199254740993u && read->byte_count == PDNN_ABSENT);
    assert_true(read->time_ns_median == 12.5 && isnan(read->share_pct));
    assert_int_equal(read->place.bound, PDNN_BOUND_MEMORY);
    assert_string_equal(read->place.roof_level, "L2");
    assert_true(isnan(read->place.gflops) && read->place.pct_of_roof == 50);
    pdnn_ops_reader_close(&reader);
    pdnn_tables_finish(&tables);
}

#define HEADER "id,op,category,executions,time_ns_median,pct_of_roof\n"

/* Requested in the file's order, again, backwards, and for missing ids. An older table lacks columns. */
static void test_ops_reader_finds_in_any_order(void **state) {
    (void)state;
    static const struct {
        const char *id;
        size_t count;
        double time_ns;
    } rows[] = {{"a", 2, 1}, {"b", 1, 3}, {"c", 3, 4}, {"c", 3, 4}, {"a", 2, 1}, {"x", 0, 0}, {"b", 1, 3}};
    struct pdnn_ops_reader reader;
    struct pdnn_err err = {0};
    write_text(HEADER "a,relu,activation,1,1,\na,add,add,1,2,5\nb,add,add,1,3,\nc,add,add,1,4,\n"
                      "c,add,add,1,5,\nc,add,add,1,,\n");
    assert_int_equal(pdnn_ops_reader_open(&reader, directory, &err), PDNN_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct pdnn_op_record *ops;
        size_t count = pdnn_ops_reader_find(&reader, rows[i].id, &ops);
        assert_int_equal(count, rows[i].count);
        for (size_t k = 0; k < count; k++)
            assert_string_equal(ops[k].id, rows[i].id);
        if (!count)
            continue;
        assert_true(ops[0].time_ns_median == rows[i].time_ns && isnan(ops[0].place.pct_of_roof));
        assert_true(ops[0].in_bounds_flop_count == PDNN_ABSENT && ops[0].place.bound == PDNN_BOUND_UNKNOWN);
    }
    pdnn_ops_reader_close(&reader);
}

static void test_ops_reader_names_file_and_line(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"id,op,executions\n", "ops.csv:1: there is no column 'category'"},
        {HEADER "a,add,add,1,1,\na,add,add,x,1,\n", "ops.csv:3: executions: 'x' is not a count"},
        {"bound," HEADER "slow,a,add,add,1,1,\n", "ops.csv:2: 'slow' is not a value for column 'bound'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_ops_reader reader;
        struct pdnn_err err = {0};
        write_text(rows[i].text);
        assert_int_equal(pdnn_ops_reader_open(&reader, directory, &err), PDNN_INVALID);
        if (!strstr(err.text, rows[i].message))
            fail_msg("'%s' lacks '%s'", err.text, rows[i].message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_ops_reader_reads_what_tables_write, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ops_reader_finds_in_any_order, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ops_reader_names_file_and_line, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
