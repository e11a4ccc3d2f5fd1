/* ceilings.csv: one row per measured roof. These files are handed around and edited, so columns with known
 * words take no others, while extra columns and another order do no harm. */
#include "base/file.h"
#include "models/dtype.h"
#include "results/table/read.h"
#include "results/table/record.h"
#include "results/table/write.h"
#include "results/store/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CEILINGS_LIMIT_BYTES = 256 << 20 }; /* all rows there may be of many hosts, with all digits */

#define AT(member)       .field = PDNN_FIELD(pdnn_ceiling, member)
#define AS(form, member) .field = PDNN_FIELD_AS(form, pdnn_ceiling, member)
#define MEASURED         "by kind", PDNN_KIND_NUMBER, PDNN_SHOW_FIXED, .decimals = 1, .digits = PDNN_DIGITS_EXACT

#define CEILING_COLUMN(word, ...) {__VA_ARGS__},
static const struct pdnn_column_def columns[] = {
#include "results/store/columns/ceilings.inc"
};
const struct pdnn_table_def pdnn_ceilings_def = {"ceilings", "the machine's measured roofs", columns,
                                                 PDNN_CEILINGS_COLUMNS};

void pdnn_ceilings_add(const struct pdnn_ceiling *roof, struct pdnn_table *table) {
    pdnn_record_put(table, pdnn_table_add_row(table), roof);
}

void pdnn_ceilings_format(const struct pdnn_ceilings *ceilings, struct pdnn_str *out) {
    struct pdnn_table table;
    pdnn_table_init(&table, &pdnn_ceilings_def);
    for (size_t i = 0; i < ceilings->count; i++)
        pdnn_ceilings_add(&ceilings->row[i], &table);
    pdnn_table_csv(out, &table);
    pdnn_table_finish(&table);
}

static bool is_dtype(const char *text) {
    enum pdnn_dtype dtype = 0;
    while (dtype < PDNN_DTYPE_COUNT && strcmp(text, pdnn_dtype_name(dtype)) != 0)
        dtype++;
    return !*text || dtype < PDNN_DTYPE_COUNT;
}

/* Instructions and backends give their names to patterns, so these are known by their letters only. */
static bool is_pattern(const char *text) {
    return *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-_.")];
}

/* Whether the column may hold the cell. */
static bool takes(const struct pdnn_table *table, size_t row, enum pdnn_ceiling_column column) {
    static const char *const words[PDNN_CEILINGS_COLUMNS] = {
        [PDNN_CEILING_KIND] = "compute|bandwidth|ladder|overhead|probe|link",
        [PDNN_CEILING_LEVEL] = "|L1|L2|L3|DRAM"};
    const char *text = columns[column].kind == PDNN_KIND_TEXT ? pdnn_table_text(table, row, column) : NULL;
    const bool must_be = column == PDNN_CEILING_THREADS || column == PDNN_CEILING_REPETITIONS;
    return words[column]                    ? pdnn_parts_have(words[column], "|", text, strlen(text))
           : column == PDNN_CEILING_PATTERN ? is_pattern(text)
           : column == PDNN_CEILING_DTYPE   ? is_dtype(text)
                                            : !must_be || !pdnn_table_is_empty(table, row, column);
}

static enum pdnn_status check(const struct pdnn_table *table, size_t row, struct pdnn_err *err) {
    for (enum pdnn_ceiling_column column = 0; column < PDNN_CEILINGS_COLUMNS; column++)
        if (!takes(table, row, column))
            return pdnn_table_refuse(table, row, column, err);
    if (!(pdnn_table_number(table, row, PDNN_CEILING_VALUE) > 0))
        return pdnn_fail(err, PDNN_INVALID, "value must be greater than 0");
    return pdnn_record_check(table, row, err);
}

enum pdnn_status pdnn_ceilings_parse(const char *path, char *text, size_t length, const char *host,
                                     struct pdnn_ceilings *ceilings, struct pdnn_err *err) {
    struct pdnn_table_file file = {.path = path, .check = check};
    struct pdnn_table table;
    struct pdnn_row_list rows = {0};
    enum pdnn_status status = pdnn_table_read_text(&file, text, length, &pdnn_ceilings_def, &table, err);
    if (status != PDNN_OK)
        return status;
    for (size_t row = 0; row < table.n_rows; row++) {
        const char *named = pdnn_table_text(&table, row, PDNN_CEILING_HOST);
        if (*named && !host)
            host = named;
        if (!*named || strcmp(named, host) == 0)
            pdnn_rows_add(&rows, row);
    }
    if (rows.count > PDNN_CEILINGS_MAX)
        status = pdnn_fail(err, PDNN_INVALID, "%s: more than %d rows of one host", path, PDNN_CEILINGS_MAX);
    else
        for (ceilings->count = 0; ceilings->count < rows.count; ceilings->count++) {
            struct pdnn_ceiling *roof = &ceilings->row[ceilings->count];
            *roof = (struct pdnn_ceiling){.capacity_bytes = PDNN_ABSENT,
                                          .reported_bytes = PDNN_ABSENT,
                                          .low = NAN,
                                          .high = NAN,
                                          .median = NAN};
            pdnn_record_take(&table, rows.at[ceilings->count], roof);
        }
    pdnn_rows_finish(&rows);
    pdnn_table_finish(&table);
    return status;
}

enum pdnn_status pdnn_ceilings_read(const char *path, const char *host, struct pdnn_ceilings *ceilings,
                                    struct pdnn_err *err) {
    char *text;
    size_t length;
    enum pdnn_status status = pdnn_file_read(path, CEILINGS_LIMIT_BYTES, &text, &length, err);
    if (status != PDNN_OK)
        return status;
    status = pdnn_ceilings_parse(path, text, length, host, ceilings, err);
    free(text);
    return status;
}

enum pdnn_status pdnn_ceilings_read_in(const char *directory, struct pdnn_ceilings *ceilings,
                                       struct pdnn_err *err) {
    struct pdnn_str path = {0};
    pdnn_str_printf(&path, "%s/ceilings.csv", directory);
    enum pdnn_status status = pdnn_ceilings_read(pdnn_str_text(&path), NULL, ceilings, err);
    pdnn_str_finish(&path);
    return status;
}
