#include "results/table/write.h"
#include "tests/cmocka_all.h"

#include <stdio.h>
#include <string.h>

static const struct pdnn_column_def plain_columns[] = {
    {.name = "name"}, {"time", .align = PDNN_ALIGN_RIGHT}, {.name = "what"}};
static const struct pdnn_column_def cut_columns[] = {{"implementation", .align = PDNN_ALIGN_CUT},
                                                     {"time", .align = PDNN_ALIGN_RIGHT},
                                                     {"layer", .align = PDNN_ALIGN_CUT}};
static const struct pdnn_column_def wrapping_columns[] = {{.name = "name"},
                                                          {"help", .align = PDNN_ALIGN_WRAP}};

static void start(struct pdnn_table *table, const struct pdnn_column_def *columns, size_t n_columns) {
    const struct pdnn_table_def def = {"table", .column = columns, .count = n_columns};
    pdnn_table_init(table, &def);
}

static void expect(const struct pdnn_table *table, size_t width, const char *expected) {
    struct pdnn_str out = {0};
    struct pdnn_table_writer writer = {.out = &out, .format = PDNN_FORMAT_TEXT, .width = width};
    pdnn_table_write(&writer, table, NULL);
    pdnn_table_write_end(&writer);
    assert_string_equal(pdnn_str_text(&out), expected);
    pdnn_str_finish(&out);
}

static void add_cells(struct pdnn_table *table, const char *const *cells, size_t count) {
    for (size_t i = 0; i < count; i++) {
        size_t column = i % table->n_columns;
        size_t row = column ? table->n_rows - 1 : pdnn_table_add_row(table);
        pdnn_table_set_text(table, row, column, cells[i]);
    }
}

/* A cell may be as long as it is: texts of several thousand bytes were cut once. */
static void test_sheet_long_cell(void **state) {
    (void)state;
    char text[4096], line[sizeof text + 32];
    struct pdnn_table table;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    start(&table, plain_columns + 2, 1);
    add_cells(&table, &(const char *){text}, 1);
    snprintf(line, sizeof line, "what\n%s\n", text);
    expect(&table, 0, line);
    pdnn_table_finish(&table);
}

static void test_sheet_format_aligns(void **state) {
    (void)state;
    static const char *const cells[] = {"a", "1.5 ms", "x", "longer", "10 us", ""};
    struct pdnn_table table;
    start(&table, plain_columns, 3);
    expect(&table, 0, "name  time  what\n");
    add_cells(&table, cells, 6);
    expect(&table, 0,
           "name      time  what\n"
           "a       1.5 ms  x\n"
           "longer   10 us\n");
    /* Columns that may not shrink keep their width, however narrow the terminal. */
    expect(&table, 5,
           "name      time  what\n"
           "a       1.5 ms  x\n"
           "longer   10 us\n");
    pdnn_table_finish(&table);
}

static void test_sheet_format_cuts(void **state) {
    (void)state;
    static const char *const cells[] = {"jit:avx2_gemm_inner_product", "1.5 ms", "hidden2..hidden128"};
    struct pdnn_table table;
    start(&table, cut_columns, 3);
    add_cells(&table, cells, 3);
    expect(&table, 55,
           "implementation                 time  layer\n"
           "jit:avx2_gemm_inner_product  1.5 ms  hidden2..hidden128\n");
    /* The widest column shrinks first, then both equally. */
    expect(&table, 48,
           "implementation          time  layer\n"
           "jit:avx2_gemm..       1.5 ms  hidden2..hidden128\n");
    pdnn_table_finish(&table);
}

static void test_sheet_format_squeezes_what_can_give(void **state) {
    (void)state;
    static const char *const cells[] = {"jit:avx2_gemm_inner_product", "1.5 ms", "hidden2..hidden128"};
    struct pdnn_table table;
    start(&table, cut_columns, 3);
    add_cells(&table, cells, 3);
    expect(&table, 28,
           "implement\n"
           "ation        time  layer\n"
           "jit:avx..  1.5 ms  hidden2..\n");
    pdnn_table_finish(&table);
}

static void test_sheet_format_wraps_the_last_column(void **state) {
    (void)state;
    static const char *const cells[] = {
        "seed", "what the data and the order of visits come from, the same for all", "x", "short"};
    struct pdnn_table table;
    start(&table, wrapping_columns, 2);
    add_cells(&table, cells, 4);
    expect(&table, 40,
           "name  help\n"
           "seed  what the data and the order of\n"
           "      visits come from, the same for all\n"
           "x     short\n");
    expect(&table, 0,
           "name  help\n"
           "seed  what the data and the order of visits come from, the same for all\n"
           "x     short\n");
    pdnn_table_finish(&table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sheet_format_aligns),
        cmocka_unit_test(test_sheet_long_cell),
        cmocka_unit_test(test_sheet_format_cuts),
        cmocka_unit_test(test_sheet_format_squeezes_what_can_give),
        cmocka_unit_test(test_sheet_format_wraps_the_last_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
