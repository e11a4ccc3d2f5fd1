#include "results/table/sheet.h"
#include "tests/cmocka_all.h"

#include <stdio.h>
#include <string.h>

static const struct pdnn_sheet_column plain_columns[] = {
    {"name", PDNN_ALIGN_LEFT}, {"time", PDNN_ALIGN_RIGHT}, {"what", PDNN_ALIGN_LEFT}};
static const struct pdnn_sheet_column cut_columns[] = {
    {"implementation", PDNN_ALIGN_CUT}, {"time", PDNN_ALIGN_RIGHT}, {"layer", PDNN_ALIGN_CUT}};
static const struct pdnn_sheet_column wrapping_columns[] = {{"name", PDNN_ALIGN_LEFT},
                                                            {"help", PDNN_ALIGN_WRAP}};

static void expect(const struct pdnn_sheet *table, size_t width, const char *expected) {
    struct pdnn_str out = {0};
    const struct pdnn_sheet_layout layout = pdnn_sheet_arrange(table, width);
    pdnn_sheet_titles(table, &layout, &out);
    pdnn_sheet_rows(table, &layout, &out);
    pdnn_sheet_note(table, &layout, width, &out);
    assert_string_equal(pdnn_str_text(&out), expected);
    pdnn_str_finish(&out);
}

static void add_cells(struct pdnn_sheet *table, const char *const *cells, size_t count) {
    for (size_t i = 0; i < count; i++)
        pdnn_sheet_cell(table, cells[i]);
}

/* A cell may be as long as it is: texts of several thousand bytes were cut once. */
static void test_sheet_long_cell(void **state) {
    (void)state;
    char text[4096], line[sizeof text + 32];
    struct pdnn_sheet table;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    pdnn_sheet_init(&table, plain_columns + 2, 1);
    pdnn_sheet_cell(&table, text);
    snprintf(line, sizeof line, "what\n%s\n", text);
    expect(&table, 0, line);
    pdnn_sheet_finish(&table);
}

static void test_sheet_format_aligns(void **state) {
    (void)state;
    static const char *const cells[] = {"a", "1.5 ms", "x", "longer", "10 us", ""};
    struct pdnn_sheet table;
    pdnn_sheet_init(&table, plain_columns, 3);
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
    pdnn_sheet_finish(&table);
}

static void test_sheet_format_cuts(void **state) {
    (void)state;
    static const char *const cells[] = {"jit:avx2_gemm_inner_product", "1.5 ms", "hidden2..hidden128"};
    struct pdnn_sheet table;
    pdnn_sheet_init(&table, cut_columns, 3);
    add_cells(&table, cells, 3);
    expect(&table, 55,
           "implementation                 time  layer\n"
           "jit:avx2_gemm_inner_product  1.5 ms  hidden2..hidden128\n");
    /* The widest column shrinks first, then both equally. */
    expect(&table, 48,
           "implementation          time  layer\n"
           "jit:avx2_gemm..       1.5 ms  hidden2..hidden128\n");
    pdnn_sheet_finish(&table);
}

static void test_sheet_format_squeezes_what_can_give(void **state) {
    (void)state;
    static const char *const cells[] = {"jit:avx2_gemm_inner_product", "1.5 ms", "hidden2..hidden128"};
    struct pdnn_sheet table;
    pdnn_sheet_init(&table, cut_columns, 3);
    add_cells(&table, cells, 3);
    expect(&table, 28,
           "implement\n"
           "ation        time  layer\n"
           "jit:avx..  1.5 ms  hidden2..\n");
    pdnn_sheet_finish(&table);
}

static void test_sheet_format_wraps_the_last_column(void **state) {
    (void)state;
    static const char *const cells[] = {
        "seed", "what the data and the order of visits come from, the same for all", "x", "short"};
    struct pdnn_sheet table;
    pdnn_sheet_init(&table, wrapping_columns, 2);
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
    pdnn_sheet_finish(&table);
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
