/* The one table: cells of each kind, columns that are added, selections, and CSV that reads back. */
#include "tests/cmocka_all.h"

#include "results/table/read.h"
#include "results/table/rows.h"
#include "results/table/write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME, FLOP, SHIFT, TIME, NOTE };
static const struct pdnn_column_def columns[] = {
    [NAME] = {.name = "name", .help = "what it is called"},
    [FLOP] = {.name = "flop", .unit = "FLOP", .kind = PDNN_KIND_COUNT, .show = PDNN_SHOW_SI},
    [SHIFT] = {.name = "shift", .kind = PDNN_KIND_WHOLE},
    [TIME] =
        {.name = "time_ns", .title = "time", .unit = "ns", .kind = PDNN_KIND_NUMBER, .show = PDNN_SHOW_TIME},
    [NOTE] = {.name = "note", .is_optional = true, .rank = 1},
};
static const struct pdnn_table_def def = {"made.csv", "a table for tests", columns,
                                          sizeof columns / sizeof *columns};

static enum pdnn_status read_text(const char *text, struct pdnn_table *table, struct pdnn_table_file *file,
                                  struct pdnn_err *err) {
    char copy[1024];
    snprintf(copy, sizeof copy, "%s", text);
    *file = (struct pdnn_table_file){.path = "made.csv"};
    return pdnn_table_read_text(file, copy, strlen(copy), &def, table, err);
}

static struct pdnn_table table_of(const char *text) {
    struct pdnn_table table;
    struct pdnn_table_file file;
    struct pdnn_err err = {0};
    if (read_text(text, &table, &file, &err) != PDNN_OK)
        fail_msg("%s", err.text);
    return table;
}

static void expect(const struct pdnn_table *table, const struct pdnn_row_list *rows,
                   enum pdnn_table_format format, size_t width, const char *expected) {
    struct pdnn_str out = {0};
    struct pdnn_table_writer writer = {.out = &out, .format = format, .width = width};
    pdnn_table_write(&writer, table, rows);
    pdnn_table_write_end(&writer);
    assert_string_equal(pdnn_str_text(&out), expected);
    pdnn_str_finish(&out);
}

static const char some[] = "name,flop,shift,time_ns,note\n"
                           "b,18446744073709551614,-3,1.5,x\n"
                           "a,9007199254740993,9223372036854775807,,\"a \"\"b\"\", c\"\n"
                           "b,,,1500000,\n"
                           ",0,0,0,x\n";

static void test_table_init_is_empty(void **state) {
    (void)state;
    struct pdnn_table table;
    pdnn_table_init(&table, &def);
    size_t row = pdnn_table_add_row(&table);
    for (size_t c = 0; c < table.n_columns; c++)
        assert_true(pdnn_table_is_empty(&table, row, c));
    assert_string_equal(pdnn_table_text(&table, row, NAME), "");
    assert_true(isnan(pdnn_table_number(&table, row, FLOP)));
    pdnn_table_set_count(&table, row, FLOP, 0);
    pdnn_table_set_whole(&table, row, SHIFT, 0);
    pdnn_table_set_number(&table, row, TIME, 0);
    assert_false(pdnn_table_is_empty(&table, row, FLOP));
    assert_false(pdnn_table_is_empty(&table, row, SHIFT));
    assert_false(pdnn_table_is_empty(&table, row, TIME));
    pdnn_table_set_empty(&table, row, FLOP);
    assert_true(pdnn_table_is_empty(&table, row, FLOP));
    pdnn_table_finish(&table);
}

static void test_table_set_text_never_moves(void **state) {
    (void)state;
    struct pdnn_table table;
    pdnn_table_init(&table, &def);
    pdnn_table_set_text(&table, pdnn_table_add_row(&table), NAME, "first");
    const char *first = pdnn_table_text(&table, 0, NAME);
    for (int i = 0; i < 100000; i++) {
        char text[16];
        snprintf(text, sizeof text, "%d", i);
        pdnn_table_set_text(&table, pdnn_table_add_row(&table), NAME, text);
    }
    pdnn_table_set_text(&table, pdnn_table_add_row(&table), NOTE, first);
    assert_ptr_equal(first, pdnn_table_text(&table, 0, NAME));
    assert_ptr_equal(first, pdnn_table_text(&table, table.n_rows - 1, NOTE));
    assert_string_equal(pdnn_table_text(&table, 4711, NAME), "4710");
    pdnn_table_finish(&table);
}

static void test_table_add_column_at_run_time(void **state) {
    (void)state;
    struct pdnn_table table = table_of(some);
    char name[] = "layers";
    size_t layers =
        pdnn_table_add_column(&table, &(struct pdnn_column_def){.name = name, .kind = PDNN_KIND_WHOLE});
    name[0] = 'x';
    assert_int_equal(layers, 5);
    assert_int_equal(pdnn_table_find(&table, "layers"), layers);
    assert_true(pdnn_table_find(&table, "xayers") == SIZE_MAX);
    assert_true(pdnn_table_is_empty(&table, 3, layers));
    pdnn_table_set_whole(&table, 3, layers, 8);
    pdnn_table_clear(&table);
    assert_true(pdnn_table_is_empty(&table, pdnn_table_add_row(&table), layers));
    assert_string_equal(table.column[layers].def.name, "layers");
    pdnn_table_finish(&table);
}

static void test_column_of_param_kinds(void **state) {
    (void)state;
    static const struct {
        struct pdnn_param_def param;
        enum pdnn_kind kind;
    } rows[] = {
        {{.name = "layers", .type = PDNN_PARAM_INT}, PDNN_KIND_WHOLE},
        {{.name = "threads", .type = PDNN_PARAM_INT, .word = "all"}, PDNN_KIND_WHOLE},
        {{.name = "mode", .type = PDNN_PARAM_CHOICE}, PDNN_KIND_TEXT},
        {{.name = "blocks", .type = PDNN_PARAM_LIST}, PDNN_KIND_TEXT},
        {{.name = "width", .type = PDNN_PARAM_DECIMAL}, PDNN_KIND_NUMBER},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_column_def column = pdnn_column_of_param(&rows[i].param);
        assert_int_equal(column.kind, rows[i].kind);
        assert_string_equal(column.name, rows[i].param.name);
    }
}

static void test_table_read_is_typed(void **state) {
    (void)state;
    struct pdnn_table table = table_of(some);
    assert_int_equal(table.n_rows, 4);
    assert_true(pdnn_table_count(&table, 0, FLOP) == UINT64_MAX - 1);
    assert_true(pdnn_table_count(&table, 1, FLOP) == UINT64_C(9007199254740993));
    assert_int_equal(pdnn_table_whole(&table, 0, SHIFT), -3);
    assert_true(isnan(pdnn_table_number(&table, 1, TIME)));
    assert_string_equal(pdnn_table_text(&table, 1, NOTE), "a \"b\", c");
    expect(&table, NULL, PDNN_FORMAT_CSV, 0, some);
    pdnn_table_finish(&table);
}

/* As pandas and R write it back, with an index in front. */
static void test_table_read_of_other_programs(void **state) {
    (void)state;
    struct pdnn_table table = table_of("\"\",name,flop,shift,time_ns,note\n"
                                       "1,a,1E+07,-64.0,1E+07,NA\n"
                                       "2,b,9007199254740992.0,1e3,NaN,\"NA\"\n"
                                       "3,NA,NA,nan,2.50,\n");
    expect(&table, NULL, PDNN_FORMAT_CSV, 0,
           "name,flop,shift,time_ns,note,\na,10000000,-64,10000000,,1\nb,9007199254740992,1000,,\"NA\",2\n"
           ",,,2.5,,3\n");
    pdnn_table_finish(&table);
}

static void test_table_read_keeps_unknown_columns(void **state) {
    (void)state;
    struct pdnn_table table = table_of("more,shift,flop,time_ns,name\nm,1,2,3e2,n\n");
    assert_int_equal(table.n_columns, 6);
    expect(&table, NULL, PDNN_FORMAT_CSV, 0, "name,flop,shift,time_ns,note,more\nn,2,1,300,,m\n");
    pdnn_table_finish(&table);
}

static void test_table_read_names_file_line_and_column(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"", "made.csv:1: empty, expected a header row"},
        {"name,flop,shift\n", "made.csv:1: there is no column 'time_ns'"},
        {"name,flop,shift,time_ns\na,-1,,\n", "made.csv:2: flop: '-1' is not a count"},
        {"name,flop,shift,time_ns\na,18446744073709551615,,\n",
         "made.csv:2: flop: '18446744073709551615' is not a count"},
        {"name,flop,shift,time_ns\na,1.5,,\n", "made.csv:2: flop: '1.5' is not a count"},
        {"name,flop,shift,time_ns\na,9007199254740994.0,,\n",
         "made.csv:2: flop: '9007199254740994.0' is not a count"},
        {"name,flop,shift,time_ns\na,4k,,\n", "made.csv:2: flop: '4k' is not a count"},
        {"name,flop,shift,time_ns\na,-64.0,,\n", "made.csv:2: flop: '-64.0' is not a count"},
        {"name,flop,shift,time_ns\na,,64.5,\n", "made.csv:2: shift: '64.5' is not an integer"},
        {"name,flop,shift,time_ns\n,,,\na,,-9223372036854775808,\n",
         "made.csv:3: shift: '-9223372036854775808' is not an integer"},
        {"name,flop,shift,time_ns\na,,,inf\n", "made.csv:2: time_ns: 'inf' is not a number"},
        {"name,flop,shift,time_ns\na,,,1e999\n", "made.csv:2: time_ns: '1e999' is not a number"},
        {"name,flop,shift,time_ns\na,,,\"1\n\"\n", "made.csv:2: time_ns: '1\\n' is not a number"},
        {"name,flop,shift,time_ns\na,,\n", "made.csv:2: 3 fields, the header has 4"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_table table;
        struct pdnn_table_file file;
        struct pdnn_err err = {0};
        assert_int_equal(read_text(rows[i].text, &table, &file, &err), PDNN_INVALID);
        assert_string_equal(err.text, rows[i].message);
    }
}

static void test_rows_sort_is_stable_with_empty_last(void **state) {
    (void)state;
    struct pdnn_table table = table_of(some);
    static const struct {
        struct pdnn_sort_key keys[2];
        size_t n_keys, order[4];
    } cases[] = {
        {{{NAME, false}}, 1, {1, 0, 2, 3}},
        {{{NAME, true}}, 1, {0, 2, 1, 3}},
        {{{FLOP, true}}, 1, {0, 1, 3, 2}},
        {{{TIME, false}}, 1, {3, 0, 2, 1}},
        {{{NOTE, true}, {SHIFT, true}}, 2, {3, 0, 1, 2}},
        {{{NAME, false}, {TIME, true}}, 2, {1, 2, 0, 3}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pdnn_row_list rows = pdnn_rows_all(&table);
        pdnn_rows_sort(&rows, &table, cases[i].keys, cases[i].n_keys);
        assert_memory_equal(rows.at, cases[i].order, sizeof cases[i].order);
        pdnn_rows_finish(&rows);
    }
    pdnn_table_finish(&table);
}

static void test_rows_sort_many(void **state) {
    (void)state;
    struct pdnn_table table;
    pdnn_table_init(&table, &def);
    for (uint64_t i = 0; i < 1000; i++)
        pdnn_table_set_count(&table, pdnn_table_add_row(&table), FLOP, i * 7919 % 101);
    struct pdnn_row_list rows = pdnn_rows_all(&table);
    pdnn_rows_sort(&rows, &table, &(struct pdnn_sort_key){FLOP, false}, 1);
    for (size_t i = 1; i < rows.count; i++) {
        int order = pdnn_table_compare(&table, FLOP, rows.at[i - 1], rows.at[i]);
        assert_true(order < 0 || (order == 0 && rows.at[i - 1] < rows.at[i]));
    }
    pdnn_rows_finish(&rows);
    pdnn_table_finish(&table);
}

static void test_groups_make_by_keys(void **state) {
    (void)state;
    struct pdnn_table table = table_of(some);
    static const size_t name = NAME, both[] = {NAME, NOTE};
    struct pdnn_groups groups = pdnn_groups_make(&table, NULL, &name, 1);
    assert_int_equal(groups.count, 3);
    assert_int_equal(groups.group[0].count, 2);
    assert_int_equal(groups.group[0].at[1], 2);
    assert_int_equal(groups.group[2].at[0], 3);
    pdnn_groups_finish(&groups);
    groups = pdnn_groups_make(&table, NULL, both, 2);
    assert_int_equal(groups.count, 4);
    pdnn_groups_finish(&groups);
    pdnn_table_finish(&table);
}

static void test_table_pivot_is_wide(void **state) {
    (void)state;
    struct pdnn_table made, table = table_of("name,flop,shift,time_ns,note\n"
                                             "fc,1,,1,time\nfc,2,,1,space\ncnn,3,,1,space\nfc,4,,1,time\n"
                                             "cnn,5,,1,\ncnn,6,,1,name\nrnn,,,,time\n");
    static const size_t name = NAME;
    pdnn_table_pivot(&table, &(struct pdnn_pivot){&name, 1, NOTE, FLOP}, &made);
    expect(&made, NULL, PDNN_FORMAT_CSV, 0, "name,time,space\nfc,1,2\ncnn,,3\nrnn,,\n");
    assert_int_equal(made.column[1].def.kind, PDNN_KIND_COUNT);
    pdnn_table_finish(&made);
    pdnn_table_finish(&table);
}

static void test_table_copy_row_by_names(void **state) {
    (void)state;
    struct pdnn_table other, table = table_of(some);
    pdnn_table_init(&other, &(struct pdnn_table_def){"other", "", columns + FLOP, 4});
    pdnn_table_copy_row(&other, &table, 1);
    expect(&other, NULL, PDNN_FORMAT_CSV, 0,
           "flop,shift,time_ns,note\n9007199254740993,9223372036854775807,,\"a \"\"b\"\", c\"\n");
    pdnn_table_finish(&other);
    pdnn_table_finish(&table);
}

static void test_table_write_formats(void **state) {
    (void)state;
    struct pdnn_table table = table_of(some);
    pdnn_table_set_number(&table, 1, TIME, INFINITY);
    pdnn_table_set_text(&table, 2, NAME, "<\x01\xff\n\xc2\x85\">");
    expect(
        &table, NULL, PDNN_FORMAT_JSON_LINES, 0,
        "{\"name\": \"b\", \"flop\": 18446744073709551614, \"shift\": -3, \"time_ns\": 1.5, \"note\": \"x\"}\n"
        "{\"name\": \"a\", \"flop\": 9007199254740993, \"shift\": 9223372036854775807, \"time_ns\": null, "
        "\"note\": \"a \\\"b\\\", c\"}\n"
        "{\"name\": \"<\\u0001\\ufffd\\n\\u0085\\\">\", \"flop\": null, \"shift\": null, \"time_ns\": 1500000, "
        "\"note\": null}\n"
        "{\"name\": null, \"flop\": 0, \"shift\": 0, \"time_ns\": 0, \"note\": \"x\"}\n");
    struct pdnn_row_list rows = {0};
    expect(&table, &rows, PDNN_FORMAT_JSON, 0, "[]\n");
    pdnn_rows_add(&rows, 3);
    expect(&table, &rows, PDNN_FORMAT_JSON, 0,
           "[\n{\"name\": null, \"flop\": 0, \"shift\": 0, \"time_ns\": 0, \"note\": \"x\"}\n]\n");
    pdnn_rows_add(&rows, 2);
    expect(
        &table, &rows, PDNN_FORMAT_HTML, 0,
        "<table><thead><tr><th scope=\"col\" title=\"what it is called\">name</th>"
        "<th scope=\"col\" class=\"number\">flop</th><th scope=\"col\" class=\"number\">shift</th>"
        "<th scope=\"col\" class=\"number\">time</th><th scope=\"col\">note</th></tr></thead><tbody>\n"
        "<tr><td></td><td class=\"number\">0 FLOP</td><td class=\"number\">0</td><td class=\"number\">0 ns</td>"
        "<td>x</td></tr>\n"
        "<tr><td>&lt;\\x01\\xff\\n\\xc2\\x85&quot;&gt;</td><td class=\"number\"></td><td class=\"number\"></td>"
        "<td class=\"number\">1.50 ms</td><td></td></tr>\n"
        "</tbody></table>\n");
    pdnn_table_set_text(&table, 2, NAME, "a|b\\c\n");
    expect(&table, &rows, PDNN_FORMAT_MARKDOWN, 0,
           "| name | flop | shift | time | note |\n| --- | ---: | ---: | ---: | --- |\n"
           "|  | 0 FLOP | 0 | 0 ns | x |\n| a\\|b\\\\c\\\\n |  |  | 1.50 ms |  |\n");
    pdnn_rows_finish(&rows);
    pdnn_table_finish(&table);
}

static void test_table_write_text_by_width(void **state) {
    (void)state;
    struct pdnn_table table = table_of("name,flop,shift,time_ns,note\na,2000,1,1500,rather long\n");
    expect(&table, NULL, PDNN_FORMAT_TEXT, 0,
           "name        flop  shift     time  note\n"
           "a     2.00 kFLOP      1  1.50 us  rather long\n");
    expect(&table, NULL, PDNN_FORMAT_TEXT, 40,
           "name        flop  shift     time\n"
           "a     2.00 kFLOP      1  1.50 us\n"
           "(no room for: note)\n");
    table.column[SHIFT].def.show = PDNN_SHOW_NEVER;
    expect(&table, NULL, PDNN_FORMAT_TEXT, 0,
           "name        flop     time  note\n"
           "a     2.00 kFLOP  1.50 us  rather long\n");
    pdnn_table_finish(&table);
}

static void test_table_choose_columns(void **state) {
    (void)state;
    static const struct {
        const char *choice, *csv;
    } rows[] = {
        {"time_ns,name", "time_ns,name\n1500,a\n"},
        {"name,name", "name\na\n"},
        {"brief", "name,flop,time_ns,note\na,2000,1500,x\n"},
        {"shift,brief", "shift,name,flop,time_ns,note\n1,a,2000,1500,x\n"},
        {"all", "name,flop,shift,time_ns,note\na,2000,1,1500,x\n"},
    };
    struct pdnn_table table = table_of("name,flop,shift,time_ns,note\na,2000,1,1500,x\n");
    table.column[SHIFT].def.show = PDNN_SHOW_NEVER;
    struct pdnn_err err = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_str out = {0};
        struct pdnn_table_writer writer = {.out = &out, .format = PDNN_FORMAT_CSV, .choice = rows[i].choice};
        assert_int_equal(pdnn_table_choose(&writer, &table, &err), PDNN_OK);
        pdnn_table_write(&writer, &table, NULL);
        pdnn_table_write_end(&writer);
        assert_string_equal(pdnn_str_text(&out), rows[i].csv);
        pdnn_str_finish(&out);
    }
    /* Named, a column of files is text, too; what the writer leaves out cannot be chosen. */
    struct pdnn_str out = {0};
    struct pdnn_table_writer writer = {.out = &out, .choice = "shift"};
    assert_int_equal(pdnn_table_choose(&writer, &table, &err), PDNN_OK);
    pdnn_table_write(&writer, &table, NULL);
    pdnn_table_write_end(&writer);
    assert_string_equal(pdnn_str_text(&out), "shift\n    1\n");
    static const size_t only[] = {NAME, FLOP};
    writer = (struct pdnn_table_writer){.out = &out, .choice = "name,shft", .columns = only, .n_columns = 2};
    assert_int_equal(pdnn_table_choose(&writer, &table, &err), PDNN_INVALID);
    assert_string_equal(err.text, "--columns: made.csv has no column 'shft'");
    pdnn_table_write_end(&writer);
    writer = (struct pdnn_table_writer){.out = &out, .choice = "shft"};
    assert_int_equal(pdnn_table_choose(&writer, &table, &err), PDNN_INVALID);
    assert_string_equal(err.text, "--columns: made.csv has no column 'shft', did you mean 'shift'?");
    pdnn_table_write_end(&writer);
    pdnn_str_finish(&out);
    pdnn_table_finish(&table);
}

/* The first two columns need 16 characters, all of them 45. */
static void test_table_fits_width(void **state) {
    (void)state;
    static const size_t first[] = {NAME, FLOP};
    static const struct {
        size_t width;
        bool all, two;
    } rows[] = {{0, true, true}, {45, true, true}, {44, false, true}, {16, false, true}, {15, false, false}};
    struct pdnn_table table = table_of("name,flop,shift,time_ns,note\na,2000,1,1500,rather long\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_table_writer writer = {.width = rows[i].width};
        bool all = pdnn_table_fits(&writer, &table);
        writer.columns = first;
        writer.n_columns = 2;
        bool two = pdnn_table_fits(&writer, &table);
        if (all != rows[i].all || two != rows[i].two)
            fail_msg("width %zu: %d %d", rows[i].width, all, two);
    }
    pdnn_table_finish(&table);
}

/* What is checked of a row is said with its line, and the table is not written. */
static enum pdnn_status refuse_long(const struct pdnn_table *table, size_t row, struct pdnn_err *err) {
    return pdnn_table_count(table, row, FLOP) > 2 ? pdnn_fail(err, PDNN_INVALID, "too many") : PDNN_OK;
}

static void test_table_read_checks_rows(void **state) {
    (void)state;
    struct pdnn_table_file file = {.path = "t.csv", .check = refuse_long};
    struct pdnn_table table = {.n_rows = 7};
    struct pdnn_err err = {0};
    char text[] = "name,flop,shift,time_ns,note\n\"a\nb\",2,1,1,\nc,3,1,1,\n";
    assert_int_equal(pdnn_table_read_text(&file, text, sizeof text - 1, &def, &table, &err), PDNN_INVALID);
    assert_string_equal(err.text, "t.csv:4: too many");
    assert_int_equal(table.n_rows, 7);
}

static void test_table_append_shown_cases(void **state) {
    (void)state;
    static const struct {
        struct pdnn_column_def column;
        double value;
        const char *shown;
    } rows[] = {
        {{.show = PDNN_SHOW_PLAIN}, 1.0 / 3, "0.3333"},
        {{.show = PDNN_SHOW_PLAIN, .digits = 17}, 0.123456, "0.1235"},
        {{.show = PDNN_SHOW_PLAIN, .digits = 17, .is_parameter = true}, 0.123456, "0.123456"},
        {{.show = PDNN_SHOW_PLAIN, .digits = 17, .is_parameter = true}, 0.000001, "0.000001"},
        {{.show = PDNN_SHOW_PLAIN, .digits = 17, .is_parameter = true}, 999999998.999999, "999999998.999999"},
        {{.show = PDNN_SHOW_FIXED, .decimals = 2}, 2.0 / 3, "0.67"},
        {{.show = PDNN_SHOW_FIXED}, 2.0 / 3, "1"},
        {{.show = PDNN_SHOW_TIME}, 1234, "1.23 us"},
        {{.show = PDNN_SHOW_SI, .unit = "FLOP/s"}, 1.5e9, "1.50 GFLOP/s"},
        {{.show = PDNN_SHOW_SI, .unit = "bytes"}, 1.5e9, "1.50 GB"},
        {{.show = PDNN_SHOW_FIXED, .above = 105}, 105, "105"},
        {{.show = PDNN_SHOW_FIXED, .above = 105}, 106, "above"},
        {{.show = PDNN_SHOW_BYTES}, 3 << 20, "3.00 MiB"},
        {{.show = PDNN_SHOW_PERCENT, .decimals = 1}, 12.34, "12.3 %"},
        {{.show = PDNN_SHOW_SHARE, .decimals = 1}, 0.1234, "12.3 %"},
        {{.show = PDNN_SHOW_CHANGE, .decimals = 1}, 0.1234, "+12.3 %"},
        {{.show = PDNN_SHOW_RATIO, .decimals = 2}, 1.234, "1.23 x"},
        {{.show = PDNN_SHOW_RATIO}, NAN, ""},
        {{.show = PDNN_SHOW_RATIO, .blank = "all"}, NAN, "all"},
        {{.show = PDNN_SHOW_FACTOR}, 0.95, "0.950"},
        {{.show = PDNN_SHOW_FACTOR}, -99.96, "-100"},
        {{.show = PDNN_SHOW_FACTOR}, 4213.4, "4213"},
        {{.show = PDNN_SHOW_FACTOR}, 1e5, "100000"},
        {{.show = PDNN_SHOW_FACTOR}, 0.00012, "0.000120"},
        {{.show = PDNN_SHOW_FACTOR}, 1.5e-6, "1.50e-06"},
        {{.show = PDNN_SHOW_FACTOR}, 0, "0.00"},
        {{.show = PDNN_SHOW_FACTOR}, 9.996, "10.0"},
        {{.show = PDNN_SHOW_PLAIN}, INFINITY, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_column_def column = rows[i].column;
        struct pdnn_table table;
        struct pdnn_str out = {0};
        column.name = "x";
        column.kind = PDNN_KIND_NUMBER;
        pdnn_table_init(&table, &(struct pdnn_table_def){"t", "", &column, 1});
        pdnn_table_set_number(&table, pdnn_table_add_row(&table), 0, rows[i].value);
        pdnn_table_append_shown(&table, 0, 0, &out);
        assert_string_equal(pdnn_str_text(&out), rows[i].shown);
        pdnn_str_finish(&out);
        pdnn_table_finish(&table);
    }
}

static void test_table_append_shown_interval(void **state) {
    (void)state;
    static const struct pdnn_column_def ends[] = {
        {.name = "low",
         .title = "95 %",
         .kind = PDNN_KIND_NUMBER,
         .show = PDNN_SHOW_INTERVAL,
         .blank = "none"},
        {.name = "high", .kind = PDNN_KIND_NUMBER, .show = PDNN_SHOW_NEVER}};
    struct pdnn_table table;
    pdnn_table_init(&table, &(struct pdnn_table_def){"t", "", ends, 2});
    for (size_t row = 0; row < 3; row++)
        pdnn_table_add_row(&table);
    pdnn_table_set_number(&table, 0, 0, 1.25);
    pdnn_table_set_number(&table, 0, 1, 13.9);
    pdnn_table_set_number(&table, 1, 0, 1.25);
    expect(&table, NULL, PDNN_FORMAT_TEXT, 0,
           "        95 %\n"
           "1.25 to 13.9\n"
           "\n"
           "        none\n");
    expect(&table, NULL, PDNN_FORMAT_CSV, 0, "low,high\n1.25,13.9\n1.25,\n,\n");
    pdnn_table_finish(&table);
}

static void test_table_append_shown_then(void **state) {
    (void)state;
    static const struct pdnn_column_def both[] = {
        {"before", .kind = PDNN_KIND_NUMBER, .show = PDNN_SHOW_FIXED, .then = 2},
        {"bound", .then = 2},
        {"after", .kind = PDNN_KIND_NUMBER, .show = PDNN_SHOW_NEVER},
        {"bound_after", .show = PDNN_SHOW_NEVER}};
    struct pdnn_table table;
    struct pdnn_str out = {0};
    pdnn_table_init(&table, &(struct pdnn_table_def){"changes", "", both, 4});
    size_t row = pdnn_table_add_row(&table);
    pdnn_table_set_number(&table, row, 0, 79.9);
    pdnn_table_set_number(&table, row, 2, 61.2);
    pdnn_table_set_text(&table, row, 1, "memory");
    pdnn_table_set_text(&table, row, 3, "memory");
    for (size_t column = 0; column < 2; column++)
        pdnn_table_append_shown(&table, row, column, &out);
    assert_string_equal(pdnn_str_text(&out), "80 -> 61memory");
    pdnn_str_finish(&out);
    pdnn_table_finish(&table);
}

static void test_table_write_in_chunks(void **state) {
    (void)state;
    static const size_t chosen[] = {TIME, NAME};
    for (enum pdnn_table_format format = 0; format < PDNN_FORMAT_COUNT; format++) {
        struct pdnn_str whole = {0}, parts = {0};
        struct pdnn_table table = table_of(some);
        struct pdnn_table_writer writer = {
            .out = &whole, .format = format, .columns = chosen, .n_columns = 2};
        pdnn_table_write(&writer, &table, NULL);
        pdnn_table_write_end(&writer);
        writer =
            (struct pdnn_table_writer){.out = &parts, .format = format, .columns = chosen, .n_columns = 2};
        struct pdnn_table chunk;
        pdnn_table_init(&chunk, &def);
        for (size_t row = 0; row < table.n_rows; row++) {
            pdnn_table_copy_row(&chunk, &table, row);
            if (row == 1 || row == 3) {
                pdnn_table_write(&writer, &chunk, NULL);
                pdnn_table_clear(&chunk);
            }
        }
        pdnn_table_write_end(&writer);
        if (format != PDNN_FORMAT_TEXT) /* whose widths are those of the first chunk */
            assert_string_equal(pdnn_str_text(&parts), pdnn_str_text(&whole));
        assert_non_null(strstr(pdnn_str_text(&parts), "1.5"));
        pdnn_table_finish(&chunk);
        pdnn_table_finish(&table);
        pdnn_str_finish(&whole);
        pdnn_str_finish(&parts);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_init_is_empty),
        cmocka_unit_test(test_table_set_text_never_moves),
        cmocka_unit_test(test_table_add_column_at_run_time),
        cmocka_unit_test(test_column_of_param_kinds),
        cmocka_unit_test(test_table_read_is_typed),
        cmocka_unit_test(test_table_read_of_other_programs),
        cmocka_unit_test(test_table_read_keeps_unknown_columns),
        cmocka_unit_test(test_table_read_names_file_line_and_column),
        cmocka_unit_test(test_rows_sort_is_stable_with_empty_last),
        cmocka_unit_test(test_rows_sort_many),
        cmocka_unit_test(test_groups_make_by_keys),
        cmocka_unit_test(test_table_pivot_is_wide),
        cmocka_unit_test(test_table_copy_row_by_names),
        cmocka_unit_test(test_table_write_formats),
        cmocka_unit_test(test_table_write_text_by_width),
        cmocka_unit_test(test_table_choose_columns),
        cmocka_unit_test(test_table_fits_width),
        cmocka_unit_test(test_table_read_checks_rows),
        cmocka_unit_test(test_table_append_shown_cases),
        cmocka_unit_test(test_table_append_shown_interval),
        cmocka_unit_test(test_table_append_shown_then),
        cmocka_unit_test(test_table_write_in_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
