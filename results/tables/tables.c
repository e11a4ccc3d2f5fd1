#include "results/tables/tables.h"
#include "base/memory.h"
#include "results/table/csv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CEILINGS_LIMIT_BYTES = 256 << 20 }; /* all rows there may be of many hosts, with all digits */

void pdnn_tables_init(struct pdnn_tables *tables, const struct pdnn_family_def *const *families,
                      size_t n_families) {
    *tables = (struct pdnn_tables){.columns = {0}};
    pdnn_results_columns(families, n_families, false, &tables->arena, &tables->columns);
    pdnn_columns_header(&tables->columns, &tables->results);
    pdnn_columns_header(&pdnn_ops_columns, &tables->ops);
}

void pdnn_tables_add(struct pdnn_tables *tables, const struct pdnn_record *record,
                     const struct pdnn_op_record *ops, size_t n_ops) {
    pdnn_columns_row(&tables->columns, record, &tables->results);
    for (size_t i = 0; i < n_ops; i++)
        pdnn_columns_row(&pdnn_ops_columns, &ops[i], &tables->ops);
}

static enum pdnn_status replace(const struct pdnn_folder *folder, const char *name,
                                const struct pdnn_str *text, struct pdnn_err *err) {
    return pdnn_folder_replace(folder, name, pdnn_str_text(text), text->length, err);
}

enum pdnn_status pdnn_tables_write(const struct pdnn_tables *tables, const struct pdnn_folder *folder,
                                   struct pdnn_err *err) {
    enum pdnn_status status = replace(folder, "results.csv", &tables->results, err);
    return status == PDNN_OK ? replace(folder, "ops.csv", &tables->ops, err) : status;
}

void pdnn_tables_finish(struct pdnn_tables *tables) {
    pdnn_str_finish(&tables->results);
    pdnn_str_finish(&tables->ops);
    pdnn_arena_finish(&tables->arena);
}

void pdnn_ceilings_format(const struct pdnn_ceilings *ceilings, struct pdnn_str *out) {
    pdnn_columns_header(&pdnn_ceilings_columns, out);
    for (size_t i = 0; i < ceilings->count; i++)
        pdnn_columns_row(&pdnn_ceilings_columns, &ceilings->row[i], out);
}

/* Found by column name, so extra columns and another order do no harm: people edit and join these files. */
static enum pdnn_status parse_ceiling(const char *path, const struct pdnn_csv *csv, size_t row,
                                      struct pdnn_ceiling *ceiling, struct pdnn_err *err) {
    for (size_t i = 0; i < pdnn_ceilings_columns.count; i++) {
        const struct pdnn_column *column = &pdnn_ceilings_columns.column[i];
        int at = pdnn_csv_find(csv, column->name);
        if (at < 0)
            continue;
        const char *cell = pdnn_csv_get(csv, row, at);
        if (!pdnn_column_parse(column, ceiling, cell))
            return pdnn_fail(err, PDNN_INVALID, "%s:%zu: '%.40s' is not a value for column '%s'", path,
                             csv->lines[row], cell, column->name);
    }
    if (!(ceiling->value > 0))
        return pdnn_fail(err, PDNN_INVALID, "%s:%zu: value must be greater than 0", path, csv->lines[row]);
    return PDNN_OK;
}

/* Whether the row is one of this host. *host is set to the first one that a row names. */
static bool is_of_host(const struct pdnn_csv *csv, size_t row, int column, const char **host) {
    const char *named = pdnn_csv_get(csv, row, column);
    if (!*named)
        return true;
    if (!*host)
        *host = named;
    return strcmp(named, *host) == 0;
}

/* rows: room for as many as the table has, or PDNN_CEILINGS_MAX. */
static enum pdnn_status parse_ceilings(const char *path, struct pdnn_csv *csv, const char *host,
                                       struct pdnn_ceiling *rows, size_t *count, struct pdnn_err *err) {
    static const char *const needed[] = {"kind",           "pattern", "dtype", "level", "threads",
                                         "capacity_bytes", "value",   "low",   "high",  "repetitions"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (pdnn_csv_find(csv, needed[i]) < 0)
            return pdnn_fail(err, PDNN_INVALID, "%s:1: column '%s' is missing; expected a ceilings.csv", path,
                             needed[i]);
    int column = pdnn_csv_find(csv, "host");
    for (size_t i = 0; i < csv->n_rows; i++) {
        struct pdnn_ceiling row = {.host = ""};
        enum pdnn_status status = parse_ceiling(path, csv, i, &row, err);
        if (status != PDNN_OK)
            return status;
        if (!is_of_host(csv, i, column, &host))
            continue;
        if (*count == PDNN_CEILINGS_MAX)
            return pdnn_fail(err, PDNN_INVALID, "%s:%zu: more than %d rows", path, csv->lines[i],
                             PDNN_CEILINGS_MAX);
        rows[(*count)++] = row;
    }
    return PDNN_OK;
}

/* Writes *ceilings on success only. */
static enum pdnn_status take_ceilings(const char *path, struct pdnn_csv *csv, const char *host,
                                      struct pdnn_ceilings *ceilings, struct pdnn_err *err) {
    size_t room = csv->n_rows < PDNN_CEILINGS_MAX ? csv->n_rows : PDNN_CEILINGS_MAX, count = 0;
    struct pdnn_ceiling *rows = pdnn_alloc(room + 1, sizeof *rows);
    enum pdnn_status status = parse_ceilings(path, csv, host, rows, &count, err);
    if (status == PDNN_OK) {
        memcpy(ceilings->row, rows, count * sizeof *rows);
        ceilings->count = count;
    }
    free(rows);
    return status;
}

enum pdnn_status pdnn_ceilings_read(const char *path, const char *host, struct pdnn_ceilings *ceilings,
                                    struct pdnn_err *err) {
    struct pdnn_csv csv;
    enum pdnn_status status = pdnn_csv_read(path, CEILINGS_LIMIT_BYTES, PDNN_CSV_STRICT, &csv, err);
    if (status != PDNN_OK)
        return status;
    status = take_ceilings(path, &csv, host, ceilings, err);
    pdnn_csv_finish(&csv);
    return status;
}

enum pdnn_status pdnn_ceilings_parse(const char *path, char *text, size_t length, const char *host,
                                     struct pdnn_ceilings *ceilings, struct pdnn_err *err) {
    struct pdnn_csv csv;
    enum pdnn_status status = pdnn_csv_parse(path, text, length, PDNN_CSV_STRICT, &csv, err);
    if (status != PDNN_OK)
        return status;
    status = take_ceilings(path, &csv, host, ceilings, err);
    pdnn_csv_finish(&csv);
    return status;
}
