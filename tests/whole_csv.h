/* A whole CSV file in memory, as tests look at one: every cell as it was written, whatever it means. */
#ifndef TESTS_WHOLE_CSV_H
#define TESTS_WHOLE_CSV_H

#include "base/file.h"
#include "results/table/read.h"
#include "results/table/write.h"

#include <stdlib.h>

struct whole_csv {
    struct pdnn_table table; /* of texts */
    size_t n_rows, n_columns;
};

static inline void whole_csv_finish(struct whole_csv *csv) {
    pdnn_table_finish(&csv->table);
    *csv = (struct whole_csv){0};
}

static inline const char *whole_csv_name(const struct whole_csv *csv, size_t column) {
    return csv->table.column[column].def.name;
}

/* Frees the text. */
static inline enum pdnn_status whole_csv_parse(const char *path, char *text, size_t length,
                                               struct whole_csv *csv, struct pdnn_err *err) {
    static const struct pdnn_table_def no_columns = {"csv", "", NULL, 0};
    struct pdnn_table_file file = {.path = path};
    enum pdnn_status status = pdnn_table_read_text(&file, text, length, &no_columns, &csv->table, err);
    free(text);
    if (status == PDNN_OK) {
        csv->n_rows = csv->table.n_rows;
        csv->n_columns = csv->table.n_columns;
    }
    return status;
}

static inline enum pdnn_status whole_csv_read(const char *path, size_t limit_bytes, struct whole_csv *csv,
                                              struct pdnn_err *err) {
    char *text;
    size_t length;
    enum pdnn_status status = pdnn_file_read(path, limit_bytes, &text, &length, err);
    return status == PDNN_OK ? whole_csv_parse(path, text, length, csv, err) : status;
}

static inline int whole_csv_find(const struct whole_csv *csv, const char *name) {
    const size_t column = pdnn_table_find(&csv->table, name);
    return column == SIZE_MAX ? -1 : (int)column;
}

static inline const char *whole_csv_get(const struct whole_csv *csv, size_t row, int column) {
    return column < 0 ? "" : pdnn_table_text(&csv->table, row, (size_t)column);
}

#endif
