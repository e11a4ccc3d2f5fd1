/* ceilings.csv: one row per measured roof. These files are handed around and edited, so columns with known
 * words take no others, while extra columns and another order do no harm. */
#include "models/dtype.h"
#include "results/table/read.h"
#include "results/table/record.h"
#include "results/table/write.h"
#include "results/store/tables.h"

#include <string.h>

enum { LIMIT_BYTES = 256 << 20 }; /* all rows there may be of many hosts, with all digits */

#define AT(member)       .field = PDNN_FIELD(pdnn_roof_row, member)
#define AS(form, member) .field = PDNN_FIELD_AS(form, pdnn_roof_row, member)
#define MEASURED         "by kind", PDNN_KIND_NUMBER, PDNN_SHOW_FIXED, .decimals = 1, .digits = PDNN_DIGITS_EXACT

#define ROOF_ROW_COLUMN(word, ...) {__VA_ARGS__},
static const struct pdnn_column_def columns[] = {
#include "results/store/columns/ceilings.inc"
};
const struct pdnn_table_def pdnn_ceilings_def = {"ceilings", "the machine's measured roofs", columns,
                                                 PDNN_ROOF_ROWS_COLUMNS};

void pdnn_roof_rows_add(const struct pdnn_roof_row *roof, struct pdnn_table *table) {
    pdnn_record_put(table, pdnn_table_add_row(table), roof);
}

void pdnn_roof_rows_format(const struct pdnn_roof_rows *roof_rows, struct pdnn_str *out) {
    struct pdnn_table table;
    pdnn_table_init(&table, &pdnn_ceilings_def);
    for (size_t i = 0; i < roof_rows->count; i++)
        pdnn_roof_rows_add(&roof_rows->row[i], &table);
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

static enum pdnn_status check(const struct pdnn_table *table, size_t row, struct pdnn_err *err) {
    static const char kinds[] = "compute|bandwidth|ladder|overhead|probe|link", levels[] = "|L1|L2|L3|DRAM",
                      states[] = "|" PDNN_ROOF_ROW_NEAR "|" PDNN_ROOF_ROW_FAR;
    const char *kind = pdnn_table_text(table, row, PDNN_ROOF_ROW_KIND),
               *level = pdnn_table_text(table, row, PDNN_ROOF_ROW_LEVEL),
               *state = pdnn_table_text(table, row, PDNN_ROOF_ROW_STATE);
    const enum pdnn_roof_row_column wrong =
        !pdnn_parts_have(kinds, "|", kind, strlen(kind))                  ? PDNN_ROOF_ROW_KIND
        : !is_pattern(pdnn_table_text(table, row, PDNN_ROOF_ROW_PATTERN)) ? PDNN_ROOF_ROW_PATTERN
        : !is_dtype(pdnn_table_text(table, row, PDNN_ROOF_ROW_DTYPE))     ? PDNN_ROOF_ROW_DTYPE
        : !pdnn_parts_have(levels, "|", level, strlen(level))             ? PDNN_ROOF_ROW_LEVEL
        : !pdnn_parts_have(states, "|", state, strlen(state))             ? PDNN_ROOF_ROW_STATE
        : pdnn_table_is_empty(table, row, PDNN_ROOF_ROW_THREADS)          ? PDNN_ROOF_ROW_THREADS
        : pdnn_table_is_empty(table, row, PDNN_ROOF_ROW_REPETITIONS)      ? PDNN_ROOF_ROW_REPETITIONS
                                                                          : PDNN_ROOF_ROWS_COLUMNS;
    if (wrong < PDNN_ROOF_ROWS_COLUMNS)
        return pdnn_table_refuse(table, row, wrong, err);
    if (!(pdnn_table_number(table, row, PDNN_ROOF_ROW_VALUE) > 0))
        return pdnn_fail(err, PDNN_INVALID, "value must be greater than 0");
    return pdnn_record_check(table, row, err);
}

enum pdnn_status pdnn_roof_rows_parse(const char *path, char *text, size_t length, const char *host,
                                      struct pdnn_roof_rows *roof_rows, struct pdnn_err *err) {
    struct pdnn_table_file file = {.path = path, .limit_bytes = LIMIT_BYTES, .check = check};
    struct pdnn_table table;
    struct pdnn_row_list rows = {0};
    enum pdnn_status status = text
                                  ? pdnn_table_read_text(&file, text, length, &pdnn_ceilings_def, &table, err)
                                  : pdnn_table_read(&file, &pdnn_ceilings_def, &table, err);
    if (status != PDNN_OK)
        return status;
    for (size_t row = 0; row < table.n_rows; row++) {
        const char *named = pdnn_table_text(&table, row, PDNN_ROOF_ROW_HOST);
        if (*named && !host)
            host = named;
        if (!*named || strcmp(named, host) == 0)
            pdnn_rows_add(&rows, row);
    }
    if (rows.count > PDNN_ROOF_ROWS_MAX)
        status = pdnn_fail(err, PDNN_INVALID, "%s: more than %d rows of one host", path, PDNN_ROOF_ROWS_MAX);
    else
        for (roof_rows->count = 0; roof_rows->count < rows.count; roof_rows->count++) {
            struct pdnn_roof_row *roof = &roof_rows->row[roof_rows->count];
            *roof = (struct pdnn_roof_row){.threads = 0};
            pdnn_record_take(&table, rows.at[roof_rows->count], true, roof);
        }
    pdnn_rows_finish(&rows);
    pdnn_table_finish(&table);
    return status;
}

enum pdnn_status pdnn_roof_rows_read(const char *path, const char *host, struct pdnn_roof_rows *roof_rows,
                                     struct pdnn_err *err) {
    return pdnn_roof_rows_parse(path, NULL, 0, host, roof_rows, err);
}

enum pdnn_status pdnn_roof_rows_read_in(const char *directory, struct pdnn_roof_rows *roof_rows,
                                        struct pdnn_err *err) {
    struct pdnn_str path = {0};
    pdnn_str_printf(&path, "%s/ceilings.csv", directory);
    enum pdnn_status status = pdnn_roof_rows_read(pdnn_str_text(&path), NULL, roof_rows, err);
    pdnn_str_finish(&path);
    return status;
}
