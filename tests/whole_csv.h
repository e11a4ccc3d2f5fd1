/* A whole CSV file in memory, as tests look at one: every cell as it was written, whatever it means. */
#ifndef TESTS_WHOLE_CSV_H
#define TESTS_WHOLE_CSV_H

#include "base/file.h"
#include "base/memory.h"
#include "results/table/read.h"
#include "results/table/write.h"

#include <stdlib.h>
#include <string.h>

/* A whole table in memory. */
struct whole_csv {
    char *text;          /* heap: all cells point into it */
    const char **cells;  /* n_rows * n_columns, without the header */
    const char **header; /* n_columns */
    size_t *lines;       /* n_rows: where each row starts in the file, from 1 */
    size_t n_rows, n_columns;
};

static inline void whole_csv_finish(struct whole_csv *csv) {
    free(csv->text);
    free(csv->cells);
    free(csv->header);
    free(csv->lines);
    *csv = (struct whole_csv){0};
}

static inline void csv_add_row(struct whole_csv *csv, size_t *row_room, const char *const *fields,
                               size_t line) {
    if (csv->n_rows == *row_room) {
        *row_room = *row_room ? 2 * *row_room : 64;
        csv->cells = pdnn_resize(csv->cells, *row_room * csv->n_columns, sizeof *csv->cells);
        csv->lines = pdnn_resize(csv->lines, *row_room, sizeof *csv->lines);
    }
    memcpy(csv->cells + csv->n_rows * csv->n_columns, fields, csv->n_columns * sizeof *fields);
    csv->lines[csv->n_rows++] = line;
}

static inline enum pdnn_status whole_csv_parse(const char *path, char *text, size_t length,
                                               struct whole_csv *csv, struct pdnn_err *err) {
    struct whole_csv table = {.text = text};
    struct pdnn_csv_scan scan;
    const char *fields[PDNN_TABLE_COLUMNS_MAX];
    size_t row_room = 0;
    bool found = true;
    enum pdnn_status status = pdnn_csv_scan_start(&scan, path, text, length, err);
    if (status == PDNN_OK) {
        table.n_columns = scan.n_columns;
        table.header = pdnn_alloc(scan.n_columns, sizeof *table.header);
        memcpy(table.header, scan.header, scan.n_columns * sizeof *table.header);
    }
    while (status == PDNN_OK && found) {
        status = pdnn_csv_scan_row(&scan, fields, &found, err);
        if (status == PDNN_OK && found)
            csv_add_row(&table, &row_room, fields, scan.row_line);
    }
    if (status != PDNN_OK) {
        whole_csv_finish(&table);
        return status;
    }
    *csv = table;
    return PDNN_OK;
}

static inline enum pdnn_status whole_csv_read(const char *path, size_t limit_bytes, struct whole_csv *csv,
                                              struct pdnn_err *err) {
    char *text;
    size_t length;
    enum pdnn_status status = pdnn_file_read(path, limit_bytes, &text, &length, err);
    return status == PDNN_OK ? whole_csv_parse(path, text, length, csv, err) : status;
}

static inline int whole_csv_find(const struct whole_csv *csv, const char *name) {
    for (size_t i = 0; i < csv->n_columns; i++) {
        if (strcmp(csv->header[i], name) == 0)
            return (int)i;
    }
    return -1;
}

static inline const char *whole_csv_get(const struct whole_csv *csv, size_t row, int column) {
    return column < 0 ? "" : csv->cells[row * csv->n_columns + (size_t)column];
}

#endif
