/* A table: what reads as a table of a definition is written as CSV that reads as the same cells, in any
 * chunks, and as JSON with a line a row; rows stay what they are when they are sorted and grouped. */
#include "tests/fuzz/common.h"

#include "results/table/read.h"
#include "results/table/rows.h"
#include "results/table/write.h"

#include <stdlib.h>
#include <string.h>

static const struct pdnn_column_def columns[] = {
    {.name = "name"},
    {.name = "flop", .unit = "FLOP", .kind = PDNN_KIND_COUNT, .show = PDNN_SHOW_SI, .is_optional = true},
    {.name = "shift", .kind = PDNN_KIND_WHOLE, .is_optional = true, .rank = 1},
    {.name = "time_ns",
     .unit = "ns",
     .kind = PDNN_KIND_NUMBER,
     .show = PDNN_SHOW_TIME,
     .is_optional = true,
     .digits = 17},
};
static const struct pdnn_table_def def = {"table.csv", "", columns, sizeof columns / sizeof *columns};

static bool read_bytes(const void *bytes, size_t length, struct pdnn_table *table) {
    struct pdnn_err err = {0};
    struct pdnn_table_file file = {.path = "table.csv"};
    char *text = fuzz_text(bytes, length);
    bool good = fuzz_is_ok(pdnn_table_read_text(&file, text, length, &def, table, &err), &err);
    FUZZ_CHECK(good || strncmp(err.text, "table.csv:", 10) == 0);
    free(text);
    return good;
}

static struct pdnn_str written(const struct pdnn_table *table, enum pdnn_table_format format, size_t width) {
    struct pdnn_str out = {0};
    struct pdnn_table_writer writer = {.out = &out, .format = format, .width = width};
    pdnn_table_write(&writer, table, NULL);
    pdnn_table_write_end(&writer);
    return out;
}

static void check_round_trip(const struct pdnn_table *table) {
    struct pdnn_table again;
    struct pdnn_str text = written(table, PDNN_FORMAT_CSV, 0);
    FUZZ_CHECK(read_bytes(text.text, text.length, &again));
    FUZZ_CHECK(again.n_rows == table->n_rows && again.n_columns == table->n_columns);
    struct pdnn_str second = written(&again, PDNN_FORMAT_CSV, 0);
    FUZZ_CHECK(second.length == text.length && memcmp(second.text, text.text, text.length) == 0);
    for (size_t row = 0; row < table->n_rows; row++)
        for (size_t c = 0; c < table->n_columns; c++)
            FUZZ_CHECK(pdnn_table_is_empty(table, row, c) == pdnn_table_is_empty(&again, row, c));
    pdnn_str_finish(&second);
    pdnn_str_finish(&text);
    pdnn_table_finish(&again);
}

/* No byte of a cell ends a line of JSON, and none but its own marks is in HTML. */
static void check_formats(const struct pdnn_table *table) {
    struct pdnn_str text = written(table, PDNN_FORMAT_JSON_LINES, 0);
    size_t n_lines = 0;
    for (size_t i = 0; i < text.length; i++) {
        n_lines += text.text[i] == '\n';
        FUZZ_CHECK(text.text[i] == '\n' || (unsigned char)text.text[i] >= 0x20);
    }
    FUZZ_CHECK(n_lines == table->n_rows);
    pdnn_str_finish(&text);
    text = written(table, PDNN_FORMAT_HTML, 0);
    size_t n_marks = 0;
    for (size_t i = 0; i < text.length; i++)
        n_marks += text.text[i] == '<';
    FUZZ_CHECK(n_marks == 8 + 2 * table->n_columns + (2 + 2 * table->n_columns) * table->n_rows);
    pdnn_str_finish(&text);
    text = written(table, PDNN_FORMAT_TEXT, 30);
    pdnn_str_finish(&text);
}

static void check_rows(const struct pdnn_table *table) {
    for (size_t c = 0; c < table->n_columns && c < 4; c++) {
        struct pdnn_row_list rows = pdnn_rows_all(table);
        pdnn_rows_sort(&rows, table, &(struct pdnn_sort_key){c, false}, 1);
        for (size_t i = 1; i < rows.count; i++) {
            int order = pdnn_table_compare(table, c, rows.at[i - 1], rows.at[i]);
            FUZZ_CHECK(order < 0 || (order == 0 && rows.at[i - 1] < rows.at[i]));
        }
        struct pdnn_groups groups = pdnn_groups_make(table, &rows, &c, 1);
        size_t n_rows = 0;
        for (size_t g = 0; g < groups.count; g++)
            n_rows += groups.group[g].count;
        FUZZ_CHECK(n_rows == table->n_rows);
        pdnn_groups_finish(&groups);
        pdnn_rows_finish(&rows);
    }
    struct pdnn_table wide;
    static const size_t name = 0;
    pdnn_table_pivot(table, &(struct pdnn_pivot){&name, 1, table->n_columns - 1, 1}, &wide);
    FUZZ_CHECK(wide.n_rows <= table->n_rows);
    pdnn_table_finish(&wide);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct pdnn_table table;
    if (!read_bytes(bytes, length, &table))
        return 0;
    check_round_trip(&table);
    check_formats(&table);
    check_rows(&table);
    pdnn_table_finish(&table);
    return 0;
}
