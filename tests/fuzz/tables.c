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
    return true;
}

static void put(struct pdnn_str *out, const char *cell, bool is_last) {
    pdnn_csv_append(out, cell);
    pdnn_str_append(out, is_last ? "\n" : ",", 1);
}

void tables_check_round_trip(const struct whole_csv *csv) {
    const size_t n = csv->n_columns;
    struct pdnn_str out = {0};
    struct whole_csv again = {0};
    for (size_t i = 0; i < n; i++)
        put(&out, whole_csv_name(csv, i), i + 1 == n);
    for (size_t i = 0; i < csv->n_rows * n; i++)
        put(&out, whole_csv_get(csv, i / n, (int)(i % n)), (i + 1) % n == 0);
    FUZZ_CHECK(tables_parse((const uint8_t *)out.text, out.length, &again));
    FUZZ_CHECK(again.n_rows == csv->n_rows && again.n_columns == n);
    for (size_t i = 0; i < n; i++)
        FUZZ_CHECK(strcmp(whole_csv_name(&again, i), whole_csv_name(csv, i)) == 0);
    for (size_t i = 0; i < csv->n_rows * n; i++)
        FUZZ_CHECK(
            strcmp(whole_csv_get(&again, i / n, (int)(i % n)), whole_csv_get(csv, i / n, (int)(i % n))) == 0);
    whole_csv_finish(&again);
    pdnn_str_finish(&out);
}
