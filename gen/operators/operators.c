#include "gen/operators/operators.h"

#include "base/file.h"
#include "gen/axis.h"
#include "gen/family/load.h"
#include "gen/language.h"
#include "gen/operators/shapes.h"
#include "models/instance.h"
#include "models/zoo/catalog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An operator's name, its family, and how others write its shapes. */
struct kind {
    const char *name, *family, *text;
    const struct pdnn_shape_form *form;
};

#define OPERATOR(name)                                                                                       \
    { #name, #name "_op", pdnn_operator_##name, &pdnn_shape_##name }
static const struct kind operators[] = {OPERATOR(conv2d), OPERATOR(dense), OPERATOR(matmul), OPERATOR(rnn)};

enum { COUNT = sizeof operators / sizeof *operators };

static enum pdnn_status find_operator(const struct pdnn_yaml *value, const struct kind **found,
                                      struct pdnn_err *err) {
    if (pdnn_key_check_scalar(value, "operator", err) != PDNN_OK)
        return err->status;
    for (size_t i = 0; i < COUNT; i++) {
        if (strcmp(operators[i].name, value->text) == 0) {
            *found = &operators[i];
            return PDNN_OK;
        }
    }
    return pdnn_yaml_fail(value, err, "unknown operator '%.60s', expected conv2d, dense, matmul or rnn",
                          value->text);
}

/* Unless the document has the family already. */
static enum pdnn_status put_family(struct pdnn_yaml *root, const struct kind *kind, struct pdnn_arena *arena,
                                   const struct pdnn_family_def **family, struct pdnn_err *err) {
    const struct pdnn_yaml_input input = {
        .file = kind->family, .text = kind->text, .length = strlen(kind->text)};
    const struct pdnn_yaml *list = pdnn_yaml_find(root, "families"), *name;
    struct pdnn_yaml *map = NULL;
    for (const struct pdnn_yaml *item = list ? list->first : NULL; item; item = item->next) {
        name = item->kind == PDNN_YAML_MAP ? pdnn_yaml_find(item, "family") : NULL;
        if (name && strcmp(name->text, kind->family) == 0)
            return pdnn_family_define(item, family, err);
    }
    enum pdnn_status status = pdnn_yaml_parse(&input, arena, &map, err);
    if (status == PDNN_OK)
        status = pdnn_family_define(map, family, err);
    return status == PDNN_OK ? pdnn_families_put(root, *family, arena, err) : status;
}

static struct pdnn_yaml *scalar(const struct pdnn_yaml *place, const char *text, struct pdnn_arena *arena) {
    struct pdnn_yaml *node = pdnn_arena_alloc(arena, 1, sizeof *node);
    *node = (struct pdnn_yaml){.file = place->file,
                               .line = place->line,
                               .column = place->column,
                               .text = text,
                               .text_offset = -1,
                               .plain = true};
    return node;
}

/* A file of our own columns: its first line names them. */
static bool has_columns(const struct pdnn_family_def *family, const char *text) {
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ", \t\r\n"), text);
    return pdnn_param_find(family->params, family->n_params, name) >= 0 ||
           pdnn_param_find(pdnn_settings, PDNN_SETTING_COUNT, name) >= 0;
}

/* Types that no line says are left to the spec's settings. */
static void drop_dtypes(struct pdnn_yaml *values) {
    for (struct pdnn_yaml *row = values->first; row; row = row->next) {
        struct pdnn_yaml *node = row->first;
        while (node->next != row->last)
            node = node->next;
        node->next = NULL;
        row->last = node;
        row->count--;
    }
}

/* Puts the columns and values of a list of operators in place of its name. */
static enum pdnn_status read_rows(struct pdnn_yaml *rows, const struct kind *kind,
                                  const struct pdnn_family_def *family, struct pdnn_yaml_count *count,
                                  struct pdnn_arena *arena, struct pdnn_err *err) {
    const struct pdnn_yaml *file = pdnn_yaml_find(rows, "file");
    struct pdnn_yaml *columns = scalar(file, "", arena), *values = scalar(file, "", arena);
    char *text = NULL;
    size_t length;
    bool has_dtype = false;
    enum pdnn_status status = pdnn_key_check_scalar(file, "file", err);
    if (status != PDNN_OK)
        return status;
    const char *path = pdnn_key_path(file, arena);
    if (pdnn_file_read(path, PDNN_YAML_FILE_BYTES, &text, &length, err) != PDNN_OK)
        return pdnn_yaml_wrap(file, err);
    columns->kind = values->kind = PDNN_YAML_LIST;
    if (strlen(text) != length)
        status = pdnn_yaml_fail(file, err, "%s: not a text file", path);
    else if (!has_columns(family, text))
        status = pdnn_shapes_read(kind->form, family, path, text, count, arena, values, &has_dtype, err);
    else
        file = NULL;
    free(text);
    if (status != PDNN_OK || !file)
        return status;
    if (!values->count)
        return pdnn_yaml_fail(file, err, "%s: has no line of %s, which benchdnn calls --%s", path, kind->name,
                              kind->form->driver);
    for (size_t i = 0; i < family->n_params; i++)
        pdnn_yaml_append(columns, scalar(file, family->params[i].name, arena));
    if (!has_dtype)
        drop_dtypes(values);
    else
        pdnn_yaml_append(columns, scalar(file, pdnn_settings[PDNN_SETTING_DTYPE].name, arena));
    columns->key = scalar(file, "columns", arena);
    values->key = scalar(file, "values", arena);
    rows->first = rows->last = NULL;
    rows->count = 0;
    pdnn_yaml_append(rows, columns);
    pdnn_yaml_append(rows, values);
    return PDNN_OK;
}

/* No family beside it. */
static enum pdnn_status check_alone(const struct pdnn_yaml *entry, const struct kind *kind,
                                    struct pdnn_err *err) {
    for (const struct pdnn_yaml *child = entry->first; child; child = child->next) {
        if (pdnn_model_is_known(child->key->text, strlen(child->key->text)))
            return pdnn_yaml_fail(child->key, err, "a model has one family, this one has operator %s and %s",
                                  kind->name, child->key->text);
    }
    return PDNN_OK;
}

/* No axes, which go into rows. */
static enum pdnn_status check_axes(const struct pdnn_yaml *entry, const struct pdnn_family_def *family,
                                   struct pdnn_err *err) {
    for (const struct pdnn_yaml *child = entry->first; child; child = child->next) {
        if (pdnn_param_find(family->params, family->n_params, child->key->text) >= 0)
            return pdnn_yaml_fail(child->key, err,
                                  "shapes of an operator go into rows: {columns: [%s], values: [[...]]}",
                                  child->key->text);
    }
    return PDNN_OK;
}

enum pdnn_status pdnn_operators_load(struct pdnn_yaml *root, struct pdnn_yaml_count *count,
                                     struct pdnn_arena *arena, struct pdnn_err *err) {
    const struct pdnn_yaml *models = pdnn_yaml_find(root, "models");
    enum pdnn_status status = PDNN_OK;
    for (const struct pdnn_yaml *entry = models ? models->first : NULL; entry && status == PDNN_OK;
         entry = entry->next) {
        const bool is_map = entry->kind == PDNN_YAML_MAP;
        struct pdnn_yaml *value = is_map ? pdnn_yaml_find(entry, "operator") : NULL,
                         *rows = is_map ? pdnn_yaml_find(entry, "rows") : NULL;
        const struct kind *kind = NULL;
        const struct pdnn_family_def *family = NULL;
        if (!value)
            continue;
        status = find_operator(value, &kind, err);
        if (status == PDNN_OK)
            status = check_alone(entry, kind, err);
        if (status == PDNN_OK)
            status = put_family(root, kind, arena, &family, err);
        if (status == PDNN_OK)
            status = check_axes(entry, family, err);
        if (status == PDNN_OK && rows && rows->kind == PDNN_YAML_MAP && pdnn_yaml_find(rows, "file"))
            status = read_rows(rows, kind, family, count, arena, err);
        if (status != PDNN_OK)
            break;
        value->key->text = kind->family;
        value->text = "";
        value->plain = true;
    }
    return status;
}
