#include "gen/rows.h"

#include "base/file.h"
#include "gen/language.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rows {
    const struct pdnn_yaml *columns, *values, *file;
};

static const char example[] =
    "{fc: {layers: 2}, rows: {columns: [nodes, batch], values: [[64, 16], [64, 32], [128, 16]]}}";

static const struct pdnn_key_def keys[] = {
    {PDNN_KEY("columns", pdnn_key_read_node, struct rows, columns), .values = "a list of keys",
     .absent = "all columns of the file",
     .help = "hyper-parameters and run settings that the rows give values", .example = example},
    {PDNN_KEY("values", pdnn_key_read_node, struct rows, values), .values = "a list of lists",
     .absent = "the file's", .help = "the rows: each has a value for every column", .example = example},
    {PDNN_KEY("file", pdnn_key_read_node, struct rows, file), .values = "a path",
     .absent = "the rows are `values`",
     .help = "a CSV file with the columns' names in its first line; the path starts at the spec's directory",
     .example = "{fc: {layers: 2}, rows: {file: shapes.csv}}"},
};

const struct pdnn_key_table pdnn_rows_keys = {.name = "rows", PDNN_KEY_ROWS(keys)};

/* A CSV file that is being read into nodes. */
struct reader {
    struct pdnn_yaml place; /* of what comes next */
    const char *at;
    struct pdnn_yaml_count *count;
    struct pdnn_arena *arena;
};

static struct pdnn_yaml *new_node(struct reader *reader, enum pdnn_yaml_kind kind) {
    struct pdnn_yaml *node = pdnn_arena_alloc(reader->arena, 1, sizeof *node);
    *node = reader->place;
    node->kind = kind;
    node->plain = kind == PDNN_YAML_SCALAR;
    node->text_offset = -1;
    reader->count->nodes++;
    return node;
}

/* One field, with or without quotes, up to the comma or the end of the line. */
static enum pdnn_status read_field(struct reader *reader, struct pdnn_yaml *line, struct pdnn_err *err) {
    char text[PDNN_YAML_TEXT_BYTES];
    size_t length = 0;
    const char *start = reader->at += strspn(reader->at, " \t");
    bool quoted = *reader->at == '"';
    for (reader->at += quoted; *reader->at && *reader->at != '\n'; reader->at++) {
        if (quoted ? *reader->at == '"' && *++reader->at != '"' : *reader->at == ',')
            break;
        if (length + 1 == sizeof text)
            return pdnn_yaml_fail(&reader->place, err, "a value of more than %zu bytes", length);
        text[length++] = *reader->at;
    }
    while (!quoted && length && strchr(" \t\r", text[length - 1]))
        length--;
    text[length] = 0;
    reader->at += strspn(reader->at, " \t\r");
    if (*reader->at && *reader->at != ',' && *reader->at != '\n')
        return pdnn_yaml_fail(&reader->place, err, "a quoted value that goes on after its end");
    struct pdnn_yaml *node = new_node(reader, PDNN_YAML_SCALAR);
    node->text = pdnn_arena_strdup(reader->arena, text);
    reader->count->text_bytes += length;
    pdnn_yaml_append(line, node);
    reader->place.column += (int)(reader->at - start) + 1;
    return pdnn_yaml_check_text(node, text, length, err);
}

/* All lines but empty ones, as lists. */
static enum pdnn_status read_lines(struct reader *reader, struct pdnn_yaml *table, struct pdnn_err *err) {
    enum pdnn_status status = PDNN_OK;
    for (; *reader->at && status == PDNN_OK; reader->place.line++) {
        reader->place.column = 1;
        struct pdnn_yaml *line = new_node(reader, PDNN_YAML_LIST);
        bool is_empty = reader->at[strspn(reader->at, " \t\r")] == '\n';
        while (status == PDNN_OK && !is_empty) {
            status = read_field(reader, line, err);
            if (status == PDNN_OK && reader->count->nodes > PDNN_YAML_NODES)
                status =
                    pdnn_yaml_fail(line, err, "more than %d values with those of the spec", PDNN_YAML_NODES);
            if (*reader->at != ',')
                break;
            reader->at++;
        }
        reader->at += is_empty ? strspn(reader->at, " \t\r") : 0;
        reader->at += *reader->at == '\n';
        if (!is_empty)
            pdnn_yaml_append(table, line);
    }
    return status;
}

static enum pdnn_status read_table(const struct pdnn_yaml *file, struct pdnn_yaml_count *count,
                                   struct pdnn_arena *arena, struct pdnn_yaml **table, struct pdnn_err *err) {
    char *text = NULL;
    size_t length;
    enum pdnn_status status = pdnn_key_check_scalar(file, "file", err);
    if (status != PDNN_OK)
        return status;
    const char *path = pdnn_key_path(file, arena);
    status = pdnn_file_read(path, PDNN_YAML_FILE_BYTES, &text, &length, err);
    if (status != PDNN_OK)
        return pdnn_yaml_wrap(file, err);
    if (strlen(text) != length) {
        free(text);
        return pdnn_yaml_fail(file, err, "%s: not a text file", path);
    }
    struct reader reader = {.place = {.file = path, .line = 1, .column = 1, .text = ""},
                            .at = text,
                            .count = count,
                            .arena = arena};
    *table = new_node(&reader, PDNN_YAML_LIST);
    status = read_lines(&reader, *table, err);
    free(text);
    if (status == PDNN_OK && (*table)->count < 2)
        return pdnn_yaml_fail(file, err, "%s: has no rows below a line of names", path);
    return status;
}

/* Where the name stands in the header, or its length. */
static size_t find_column(const struct pdnn_yaml *header, const char *name) {
    size_t at = 0;
    for (const struct pdnn_yaml *cell = header->first; cell && strcmp(cell->text, name) != 0;
         cell = cell->next)
        at++;
    return at;
}

/* The table's columns of these names as a list of rows. */
static enum pdnn_status choose_columns(const struct pdnn_yaml *columns, const struct pdnn_yaml *table,
                                       struct pdnn_arena *arena, struct pdnn_yaml *values,
                                       struct pdnn_err *err) {
    const struct pdnn_yaml *header = table->first;
    for (const struct pdnn_yaml *row = header->next; row; row = row->next) {
        if (row->count != header->count)
            return pdnn_yaml_fail(row, err, "a row of %zu values below %zu names", row->count, header->count);
        struct pdnn_yaml *chosen = pdnn_arena_alloc(arena, 1, sizeof *chosen);
        *chosen = *row;
        chosen->first = chosen->last = chosen->next = NULL;
        chosen->count = 0;
        for (const struct pdnn_yaml *name = columns->first; name; name = name->next) {
            size_t at = find_column(header, name->text);
            const struct pdnn_yaml *cell = row->first;
            if (at == header->count)
                return pdnn_yaml_fail(name, err, "%s has no column '%.60s'", header->file, name->text);
            while (at--)
                cell = cell->next;
            struct pdnn_yaml *copy = pdnn_arena_alloc(arena, 1, sizeof *copy);
            *copy = *cell;
            copy->next = NULL;
            pdnn_yaml_append(chosen, copy);
        }
        pdnn_yaml_append(values, chosen);
    }
    return PDNN_OK;
}

static struct pdnn_yaml *named(struct pdnn_arena *arena, const struct pdnn_yaml *place, const char *name,
                               const struct pdnn_yaml *value) {
    struct pdnn_yaml *key = pdnn_arena_alloc(arena, 1, sizeof *key),
                     *copy = pdnn_arena_alloc(arena, 1, sizeof *copy);
    *key = *place;
    key->kind = PDNN_YAML_SCALAR;
    key->text = name;
    key->plain = true;
    *copy = *value;
    copy->key = key;
    copy->next = NULL;
    return copy;
}

/* There are no more columns than keys. */
static enum pdnn_status check_columns(const struct pdnn_yaml *columns, struct pdnn_err *err) {
    enum { MOST = PDNN_HYPER_MAX + PDNN_SETTING_COUNT };
    return columns->count <= MOST
               ? PDNN_OK
               : pdnn_yaml_fail(columns, err, "rows has %zu columns, and no model has %d keys",
                                columns->count, MOST);
}

static enum pdnn_status load_one(struct pdnn_yaml *node, struct pdnn_yaml_count *count,
                                 struct pdnn_arena *arena, struct pdnn_err *err) {
    const struct pdnn_yaml *file = pdnn_yaml_find(node, "file"), *columns = pdnn_yaml_find(node, "columns");
    struct pdnn_yaml *table = NULL, values = *file;
    if (pdnn_yaml_find(node, "values"))
        return pdnn_yaml_fail(file, err, "rows has values, and a file with others");
    if (columns && columns->kind != PDNN_YAML_LIST)
        return pdnn_yaml_fail(columns, err, "columns takes a list of keys, not %s",
                              pdnn_yaml_kind_name(columns));
    enum pdnn_status status = read_table(file, count, arena, &table, err);
    if (status == PDNN_OK)
        status = check_columns(columns ? columns : table->first, err);
    if (status != PDNN_OK)
        return status;
    values.kind = PDNN_YAML_LIST;
    values.text = "";
    columns = columns ? columns : table->first;
    status = choose_columns(columns, table, arena, &values, err);
    node->first = node->last = NULL;
    node->count = 0;
    pdnn_yaml_append(node, named(arena, file, "columns", columns));
    pdnn_yaml_append(node, named(arena, file, "values", &values));
    return status;
}

enum pdnn_status pdnn_rows_load(struct pdnn_yaml *root, struct pdnn_yaml_count *count,
                                struct pdnn_arena *arena, struct pdnn_err *err) {
    const struct pdnn_yaml *models = pdnn_yaml_find(root, "models");
    enum pdnn_status status = PDNN_OK;
    for (const struct pdnn_yaml *entry = models ? models->first : NULL; entry && status == PDNN_OK;
         entry = entry->next) {
        struct pdnn_yaml *rows = entry->kind == PDNN_YAML_MAP ? pdnn_yaml_find(entry, "rows") : NULL;
        if (rows && rows->kind == PDNN_YAML_MAP && pdnn_yaml_find(rows, "file"))
            status = load_one(rows, count, arena, err);
    }
    return status;
}

/* A column's values as a list. */
static enum pdnn_status make_list(const struct rows *rows, const struct pdnn_yaml *name, size_t column,
                                  struct pdnn_arena *arena, struct pdnn_yaml **list, struct pdnn_err *err) {
    struct pdnn_yaml empty = *rows->values;
    empty.first = empty.last = NULL;
    empty.count = 0;
    *list = named(arena, name, name->text, &empty);
    for (const struct pdnn_yaml *row = rows->values->first; row; row = row->next) {
        if (row->kind != PDNN_YAML_LIST || row->count != rows->columns->count)
            return pdnn_yaml_fail(row, err, "a row of %zu value%s, and rows has %zu columns", row->count,
                                  row->count == 1 ? "" : "s", rows->columns->count);
        const struct pdnn_yaml *cell = row->first;
        for (size_t i = 0; i < column; i++)
            cell = cell->next;
        struct pdnn_yaml *copy = pdnn_arena_alloc(arena, 1, sizeof *copy);
        *copy = *cell;
        copy->next = NULL;
        pdnn_yaml_append(*list, copy);
    }
    return PDNN_OK;
}

static enum pdnn_status unknown_column(const struct pdnn_family_def *family, const struct pdnn_yaml *name,
                                       struct pdnn_err *err) {
    const char *words[PDNN_HYPER_MAX + PDNN_SETTING_COUNT];
    struct pdnn_key_unknown unknown = {.what = "rows", .place = "", .words = words};
    for (size_t i = 0; i < family->n_params; i++)
        words[unknown.n_words++] = family->params[i].name;
    unknown.n_listed = unknown.n_words;
    for (size_t i = 0; i < PDNN_SETTING_COUNT; i++)
        words[unknown.n_words++] = pdnn_settings[i].name;
    return pdnn_key_unknown(name, &unknown, err);
}

static enum pdnn_status read_column(const struct rows *rows, const struct pdnn_yaml *name,
                                    const struct pdnn_family_def *family, struct pdnn_arena *arena,
                                    struct pdnn_axis *axis, struct pdnn_err *err) {
    enum pdnn_status status = pdnn_key_check_scalar(name, "columns", err);
    struct pdnn_yaml *list = NULL;
    size_t column = 0;
    if (status != PDNN_OK)
        return status;
    int row = pdnn_param_find(family->params, family->n_params, name->text);
    *axis = (struct pdnn_axis){.index = row};
    if (row < 0) {
        axis->is_setting = true;
        axis->index = pdnn_param_find(pdnn_settings, PDNN_SETTING_COUNT, name->text);
    }
    if (axis->index < 0)
        return unknown_column(family, name, err);
    for (const struct pdnn_yaml *before = rows->columns->first; before != name; before = before->next)
        column++;
    status = make_list(rows, name, column, arena, &list, err);
    const struct pdnn_param_def *def = axis->is_setting ? &pdnn_settings[axis->index] : &family->params[row];
    return status == PDNN_OK ? pdnn_axis_read(def, list, arena, axis, err) : status;
}

enum pdnn_status pdnn_rows_read(const struct pdnn_yaml *node, const struct pdnn_family_def *family,
                                struct pdnn_arena *arena, struct pdnn_axis *axes, size_t *n_axes,
                                struct pdnn_err *err) {
    struct rows rows = {0};
    enum pdnn_status status = pdnn_keys_read(node, &pdnn_rows_keys, &rows, err);
    if (status != PDNN_OK)
        return status;
    if (!rows.columns || rows.columns->kind != PDNN_YAML_LIST || !rows.columns->count || !rows.values ||
        rows.values->kind != PDNN_YAML_LIST)
        return pdnn_yaml_fail(
            node, err,
            "rows takes a list of columns and a list of values: {columns: [nodes, batch], values: "
            "[[64, 16], [128, 8]]}, or {file: shapes.csv}");
    status = check_columns(rows.columns, err);
    for (const struct pdnn_yaml *name = rows.columns->first; name && status == PDNN_OK; name = name->next) {
        struct pdnn_axis axis;
        status = read_column(&rows, name, family, arena, &axis, err);
        for (size_t i = 0; i < *n_axes && status == PDNN_OK; i++)
            if (axes[i].def == axis.def)
                status = pdnn_yaml_fail(
                    name, err, "rows has a column %s, which is given values elsewhere, too", axis.def->name);
        if (status == PDNN_OK)
            axes[(*n_axes)++] = axis;
    }
    return status;
}

bool pdnn_rows_have_column(const struct pdnn_yaml *entry, const char *name) {
    const struct pdnn_yaml *rows = entry->kind == PDNN_YAML_MAP ? pdnn_yaml_find(entry, "rows") : NULL,
                           *columns =
                               rows && rows->kind == PDNN_YAML_MAP ? pdnn_yaml_find(rows, "columns") : NULL;
    const struct pdnn_yaml *column = columns && columns->kind == PDNN_YAML_LIST ? columns->first : NULL;
    while (column && strcmp(column->text, name) != 0)
        column = column->next;
    return column != NULL;
}
