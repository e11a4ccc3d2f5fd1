#include "tests/fuzz/tables.h"
#include "tests/fuzz/common.h"

#include <string.h>

bool tables_parse(const uint8_t *bytes, size_t length, struct whole_csv *csv) {
    struct pdnn_err err = {0};
    char *text = fuzz_text(bytes, length);
    if (!fuzz_is_ok(whole_csv_parse("table.csv", text, length, csv, &err), &err)) {
        FUZZ_CHECK(strncmp(err.text, "table.csv:", 10) == 0);
        return false;
    }
    for (size_t row = 0; row < csv->n_rows; row++)
        FUZZ_CHECK(csv->lines[row] > 1);
    return true;
}

static void put_row(const char *const *cells, size_t count, struct pdnn_str *out) {
    for (size_t i = 0; i < count; i++) {
        pdnn_csv_append(out, cells[i]);
        pdnn_str_append(out, i + 1 < count ? "," : "\n", 1);
    }
}

void tables_check_round_trip(const struct whole_csv *csv) {
    struct pdnn_str out = {0};
    struct whole_csv again = {0};
    put_row(csv->header, csv->n_columns, &out);
    for (size_t row = 0; row < csv->n_rows; row++)
        put_row(csv->cells + row * csv->n_columns, csv->n_columns, &out);
    FUZZ_CHECK(tables_parse((const uint8_t *)out.text, out.length, &again));
    FUZZ_CHECK(again.n_rows == csv->n_rows && again.n_columns == csv->n_columns);
    for (size_t i = 0; i < csv->n_columns; i++)
        FUZZ_CHECK(strcmp(again.header[i], csv->header[i]) == 0);
    for (size_t i = 0; i < csv->n_rows * csv->n_columns; i++)
        FUZZ_CHECK(strcmp(again.cells[i], csv->cells[i]) == 0);
    whole_csv_finish(&again);
    pdnn_str_finish(&out);
}
