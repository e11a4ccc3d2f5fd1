#include "results/import/source.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/paths/nearby.h"
#include "results/table/read.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT_BYTES = 256 << 20, NAMES_MOST = PDNN_TABLE_COLUMNS_MAX };

static const struct pdnn_table_def no_columns = {"source", "a file to import", NULL, 0};

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
        source->json = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
        if (!source->json)
            status = pdnn_fail(err, PDNN_INVALID, "%.512s:%d:%d: not JSON: %s", path, error.line,
                               error.column, error.text);
    } else {
        status = pdnn_table_read_text(&file, text, length, &no_columns, &source->rows, err);
    }
    free(text);
    return status;
}

void pdnn_import_source_close(struct pdnn_import_source *source) {
    json_decref(source->json);
    pdnn_table_finish(&source->rows);
}

/* Sets the cell; what is neither a text nor null is as JSON writes it. */
static void set(struct pdnn_table *table, size_t row, size_t column, const json_t *value) {
    char *written = NULL;
    if (value && !json_is_string(value) && !json_is_null(value))
        written = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    pdnn_table_set_text(table, row, column,
                        written                 ? written
                        : json_is_string(value) ? json_string_value(value)
                                                : "");
    free(written);
}

/* Names the nearest of the file's columns. */
static enum pdnn_status fail_missing(const struct pdnn_import_source *source, const char *name,
                                     struct pdnn_err *err) {
    json_t *object = json_is_array(source->json) ? json_array_get(source->json, 0) : source->json, *value;
    const char **names = pdnn_alloc(NAMES_MOST, sizeof *names), *key;
    char suggestion[PDNN_SUGGESTION_TEXT];
    size_t n = 0;
    for (; n < source->rows.n_columns; n++)
        names[n] = source->rows.column[n].def.name;
    json_object_foreach(object, key, value) if (n < NAMES_MOST) names[n++] = key;
    pdnn_suggest(suggestion, name, names, n);
    free(names);
    return pdnn_fail(err, PDNN_INVALID, "%.512s: there is no %s '%.64s'%s", source->path,
                     json_is_object(source->json) ? "list" : "column", name, suggestion);
}

static enum pdnn_status check_list(const struct pdnn_import_source *source, const char *const *names,
                                   size_t i, struct pdnn_err *err) {
    const json_t *list = json_object_get(source->json, names[i]),
                 *first = json_object_get(source->json, names[0]);
    if (!list)
        return fail_missing(source, names[i], err);
    if (!json_is_array(list))
        return pdnn_fail(err, PDNN_INVALID, "%.512s: there must be a list of values in '%.64s'", source->path,
                         names[i]);
    if (json_array_size(list) != json_array_size(first))
        return pdnn_fail(err, PDNN_INVALID, "%.512s: '%.64s' has %zu values, '%.64s' %zu", source->path,
                         names[i], json_array_size(list), names[0], json_array_size(first));
    return PDNN_OK;
}

enum pdnn_status pdnn_import_source_columns(const struct pdnn_import_source *source, const char *const *names,
                                            size_t n, struct pdnn_table *table, struct pdnn_err *err) {
    const bool is_lists = json_is_object(source->json);
    const size_t n_rows =
        source->json ? json_array_size(is_lists ? json_object_get(source->json, names[0]) : source->json)
                     : source->rows.n_rows;
    pdnn_table_init(table, &no_columns);
    for (size_t row = 0; row < n_rows; row++)
        pdnn_table_add_row(table);
    for (size_t i = 0; i < n; i++) {
        const size_t column = source->json ? SIZE_MAX : pdnn_table_find(&source->rows, names[i]);
        const json_t *list = is_lists ? json_object_get(source->json, names[i]) : NULL;
        bool found = column != SIZE_MAX;
        char number[24];
        snprintf(number, sizeof number, "%zu", i);
        pdnn_table_add_column(table, &(struct pdnn_column_def){.name = number});
        if (is_lists && check_list(source, names, i, err) != PDNN_OK)
            return err->status;
        for (size_t row = 0; row < n_rows; row++) {
            const json_t *value = is_lists ? json_array_get(list, row)
                                           : json_object_get(json_array_get(source->json, row), names[i]);
            found = found || value;
            if (column != SIZE_MAX)
                pdnn_table_set_text(table, row, i, pdnn_table_text(&source->rows, row, column));
            else
                set(table, row, i, value);
        }
        if (!is_lists && !found)
            return fail_missing(source, names[i], err);
    }
    return PDNN_OK;
}
