#include "results/import/source.h"

#include "base/file.h"
#include "base/paths/nearby.h"
#include "results/table/read.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT_BYTES = 256 << 20 };

static const struct pdnn_table_def no_columns = {"source", "a file to import", NULL, 0};

/* The column of that name, which may be a new one; SIZE_MAX: one too many. */
static size_t column_of(struct pdnn_table *rows, const char *name) {
    const size_t column = pdnn_table_find(rows, name);
    return column != SIZE_MAX || rows->n_columns == PDNN_TABLE_COLUMNS_MAX
               ? column
               : pdnn_table_add_column(rows, &(struct pdnn_column_def){.name = name});
}

/* Sets the cell; what is neither a text nor null is as JSON writes it. */
static void put(struct pdnn_import_source *source, size_t row, size_t column, const json_t *value) {
    while (source->rows.n_rows <= row)
        pdnn_table_add_row(&source->rows);
    source->length[column] = row + 1;
    if (json_is_null(value))
        return;
    char *written = json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    pdnn_table_set_text(&source->rows, row, column, written ? written : json_string_value(value));
    free(written);
}

static enum pdnn_status take_json(struct pdnn_import_source *source, json_t *json, struct pdnn_err *err) {
    const char *key;
    json_t *member, *value;
    size_t row, column = 0;
    pdnn_table_init(&source->rows, &no_columns);
    source->is_lists = json_is_object(json);
    json_object_foreach(json, key, member) {
        if (column != SIZE_MAX && json_is_array(member))
            column = column_of(&source->rows, key);
        if (column != SIZE_MAX)
            json_array_foreach(member, row, value) put(source, row, column, value);
    }
    json_array_foreach(json, row, member) {
        json_object_foreach(member, key, value) {
            if (column != SIZE_MAX)
                column = column_of(&source->rows, key);
            if (column != SIZE_MAX)
                put(source, row, column, value);
        }
    }
    while (source->rows.n_rows < json_array_size(json))
        pdnn_table_add_row(&source->rows);
    return column != SIZE_MAX ? PDNN_OK
                              : pdnn_fail(err, PDNN_INVALID, "%.512s: too many columns", source->path);
}

enum pdnn_status pdnn_import_source_open(struct pdnn_import_source *source, const char *path,
                                         struct pdnn_err *err) {
    static const char *const endings[] = {".json", NULL};
    struct pdnn_table_file file = {.path = path};
    char *text = NULL;
    size_t length;
    json_error_t error;
    *source = (struct pdnn_import_source){.path = path};
    enum pdnn_status status = pdnn_file_read(path, LIMIT_BYTES, &text, &length, err);
    if (status != PDNN_OK)
        return status;
    if (pdnn_has_ending(path, endings) || strspn(text + strspn(text, " \t\r\n"), "{[") > 0) {
        json_t *json = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
        status = json ? take_json(source, json, err)
                      : pdnn_fail(err, PDNN_INVALID, "%.512s:%d:%d: not JSON: %s", path, error.line,
                                  error.column, error.text);
        json_decref(json);
    } else {
        status = pdnn_table_read_text(&file, text, length, &no_columns, &source->rows, err);
    }
    free(text);
    for (size_t i = 0; i < source->rows.n_columns && !source->is_lists; i++)
        source->length[i] = source->rows.n_rows;
    return status;
}

enum pdnn_status pdnn_import_source_find(const struct pdnn_import_source *source, const char *name,
                                         size_t *column, struct pdnn_err *err) {
    const char *names[PDNN_TABLE_COLUMNS_MAX];
    char suggestion[PDNN_SUGGESTION_TEXT];
    *column = pdnn_table_find(&source->rows, name);
    for (size_t i = 0; i < source->rows.n_columns; i++)
        names[i] = source->rows.column[i].def.name;
    pdnn_suggest(suggestion, name, names, source->rows.n_columns);
    return *column < SIZE_MAX ? PDNN_OK
                              : pdnn_fail(err, PDNN_INVALID, "%.512s: there is no %s '%.64s'%s", source->path,
                                          source->is_lists ? "list" : "column", name, suggestion);
}
