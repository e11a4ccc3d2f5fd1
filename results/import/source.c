#include "results/import/source.h"

#include "base/file.h"
#include "base/paths/nearby.h"
#include "results/table/read.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT_BYTES = 256 << 20 };

static const struct pdnn_table_def no_columns = {"source", "a file to import", NULL, 0};
static const char blank[] = " \t\r\n";

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

/* The next row; false: too many columns. */
static bool take_object(struct pdnn_import_source *source, json_t *object) {
    const size_t row = pdnn_table_add_row(&source->rows);
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        const size_t column = column_of(&source->rows, key);
        if (column == SIZE_MAX)
            return false;
        put(source, row, column, value);
    }
    return true;
}

static bool take_lists(struct pdnn_import_source *source, json_t *lists) {
    const char *key;
    json_t *list, *value;
    size_t row;
    json_object_foreach(lists, key, list) {
        const size_t column = json_is_array(list) ? column_of(&source->rows, key) : 0;
        if (column == SIZE_MAX)
            return false;
        json_array_foreach(list, row, value) put(source, row, column, value);
    }
    return true;
}

/* An empty one is of lists, too. */
static bool is_of_lists(json_t *object) {
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        if (json_is_array(value))
            return true;
    }
    return !json_object_size(object);
}

/* One value, or a line of JSON: then is_line. */
static bool take_json(struct pdnn_import_source *source, json_t *json, bool is_line) {
    size_t row;
    json_t *member;
    source->is_lists = !is_line && json_is_object(json) && is_of_lists(json);
    if (json_is_object(json))
        return source->is_lists ? take_lists(source, json) : take_object(source, json);
    json_array_foreach(json, row, member) {
        if (!take_object(source, member))
            return false;
    }
    return true;
}

static enum pdnn_status read_json(const char *path, const char *text, size_t length,
                                  struct pdnn_import_source *source, struct pdnn_err *err) {
    enum pdnn_status status = PDNN_OK;
    size_t at = 0, line = 0;
    pdnn_table_init(&source->rows, &no_columns);
    do {
        json_error_t error;
        json_t *json =
            json_loadb(text + at, length - at, JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, &error);
        const size_t end = json ? at + (size_t)error.position : length;
        const size_t next = end + strspn(text + end, blank);
        const bool is_line = at || next < length;
        if (!json)
            status = pdnn_fail(err, PDNN_INVALID, "%.512s:%zu:%d: not JSON: %s", path,
                               line + (size_t)error.line, error.column, error.text);
        else if (is_line && !json_is_object(json))
            status =
                pdnn_fail(err, PDNN_INVALID, "%.512s:%zu: more than one JSON value, and not lines of objects",
                          path, line + 1);
        else if (!take_json(source, json, is_line))
            status = pdnn_fail(err, PDNN_INVALID, "%.512s: too many columns", path);
        json_decref(json);
        for (; at < next; at++)
            line += text[at] == '\n';
    } while (status == PDNN_OK && at < length);
    return status;
}

enum pdnn_status pdnn_import_source_read(const char *path, struct pdnn_import_source *source,
                                         struct pdnn_err *err) {
    static const char *const endings[] = {".json", ".jsonl", ".ndjson", NULL};
    struct pdnn_table_file file = {.path = path};
    char *text = NULL;
    size_t length;
    enum pdnn_status status = pdnn_file_read(path, LIMIT_BYTES, &text, &length, err);
    if (status != PDNN_OK)
        return status;
    if (pdnn_has_ending(path, endings) || strspn(text + strspn(text, blank), "{[") > 0)
        status = read_json(path, text, length, source, err);
    else
        status = pdnn_table_read_text(&file, text, length, &no_columns, &source->rows, err);
    free(text);
    for (size_t i = 0; i < source->rows.n_columns && !source->is_lists; i++)
        source->length[i] = source->rows.n_rows;
    return status;
}
