#include "results/table/read.h"

#include "base/file.h"
#include "base/visible.h"

#include <stdlib.h>
#include <string.h>

/* The table's column for each of the file's; those that are not there are added, as defined if they are. */
static enum pdnn_status map_columns(const struct pdnn_table_file *file, const struct pdnn_csv_scan *scan,
                                    const struct pdnn_table_def *def, struct pdnn_table *table,
                                    size_t *columns, struct pdnn_err *err) {
    bool is_there[PDNN_TABLE_COLUMNS_MAX + 1] = {false};
    for (size_t i = 0; i < scan->n_columns; i++) {
        const struct pdnn_column_def column = {.name = scan->header[i], .align = PDNN_ALIGN_WRAP};
        size_t c = 0;
        while (c < def->count && strcmp(def->column[c].name, column.name) != 0)
            c++;
        const bool is_new = file->is_as_in_file || c == def->count;
        if (is_new && table->n_columns == PDNN_TABLE_COLUMNS_MAX)
            return pdnn_fail(err, PDNN_INVALID, "%s:1: too many columns", scan->path);
        columns[i] = is_new ? pdnn_table_add_column(table, c < def->count ? &def->column[c] : &column) : c;
        is_there[c] = true;
    }
    for (size_t c = 0; c < def->count; c++)
        if (!is_there[c] && !def->column[c].is_optional)
            return pdnn_fail(err, PDNN_INVALID, "%s:1: there is no column '%s'", scan->path,
                             def->column[c].name);
    return PDNN_OK;
}

static enum pdnn_status read_rows(const struct pdnn_table_file *file, struct pdnn_csv_scan *scan,
                                  const size_t *columns, struct pdnn_table *table, struct pdnn_err *err) {
    const char *fields[PDNN_CSV_COLUMNS_MAX];
    for (;;) {
        bool found;
        enum pdnn_status status = pdnn_csv_scan_row(scan, fields, &found, err);
        if (status != PDNN_OK || !found)
            return status;
        size_t row = pdnn_table_add_row(table);
        for (size_t i = 0; i < scan->n_columns; i++) {
            if (pdnn_table_parse(table, row, columns[i], fields[i]))
                continue;
            const struct pdnn_column_def *def = &table->column[columns[i]].def;
            char shown[PDNN_VISIBLE_TEXT];
            return pdnn_fail(err, PDNN_INVALID, "%s:%zu: %s: '%.100s' is not %s %s", scan->path,
                             scan->row_line, def->name, pdnn_visible(shown, fields[i]),
                             def->kind == PDNN_KIND_WHOLE ? "an" : "a", pdnn_kind_name(def->kind));
        }
        if (file->check && file->check(table, row, err) != PDNN_OK)
            return pdnn_wrap(err, "%s:%zu", scan->path, scan->row_line);
    }
}

enum pdnn_status pdnn_table_read_text(struct pdnn_table_file *file, char *text, size_t length,
                                      const struct pdnn_table_def *def, struct pdnn_table *table,
                                      struct pdnn_err *err) {
    const struct pdnn_table_def empty = {.name = def->name, .help = def->help};
    struct pdnn_csv_scan scan;
    struct pdnn_table made;
    size_t columns[PDNN_CSV_COLUMNS_MAX];
    enum pdnn_status status = pdnn_csv_scan_start(&scan, file->path, text, length, err);
    if (status != PDNN_OK)
        return status;
    pdnn_table_init(&made, file->is_as_in_file ? &empty : def);
    status = map_columns(file, &scan, def, &made, columns, err);
    if (status == PDNN_OK)
        status = read_rows(file, &scan, columns, &made, err);
    if (status != PDNN_OK) {
        pdnn_table_finish(&made);
        return status;
    }
    pdnn_table_fit(&made, 0);
    *table = made;
    return PDNN_OK;
}

enum pdnn_status pdnn_table_read(struct pdnn_table_file *file, const struct pdnn_table_def *def,
                                 struct pdnn_table *table, struct pdnn_err *err) {
    char *text;
    size_t length;
    enum pdnn_status status = pdnn_file_read(file->path, file->limit_bytes, &text, &length, err);
    if (status != PDNN_OK)
        return status;
    status = pdnn_table_read_text(file, text, length, def, table, err);
    free(text);
    return status;
}
