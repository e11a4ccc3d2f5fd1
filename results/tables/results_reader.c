/* results.csv of any version, as today's. */
#define _POSIX_C_SOURCE 200809L /* PATH_MAX */
#include "results/tables/results_reader.h"

#include "base/str.h"
#include "models/instance.h"
#include "results/tables/columns.h"
#include "results/tables/ids.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RESULTS_LIMIT_BYTES ((size_t)1 << 32)

/* The n-th of all parameters: the run settings, then those of each family; NULL past the last one. */
static const struct pdnn_param_def *param_at(size_t n, const struct pdnn_family_def **family) {
    *family = NULL;
    if (n < PDNN_SETTING_COUNT)
        return &pdnn_settings[n];
    n -= PDNN_SETTING_COUNT;
    for (size_t f = 0; pdnn_families[f]; f++) {
        *family = pdnn_families[f];
        if (n < pdnn_families[f]->n_params)
            return &pdnn_families[f]->params[n];
        n -= pdnn_families[f]->n_params;
    }
    return NULL;
}

const char *pdnn_key_column(const char *key) {
    const struct pdnn_family_def *family;
    const struct pdnn_param_def *param;
    for (size_t i = 0; (param = param_at(i, &family)); i++)
        if (param->column && strcmp(param->name, key) == 0)
            return param->column;
    return key;
}

static bool is_key(const char *name) {
    const struct pdnn_family_def *family;
    const struct pdnn_param_def *param;
    for (size_t i = 0; (param = param_at(i, &family)); i++)
        if (strcmp(param->name, name) == 0)
            return true;
    return false;
}

static bool is_value(const char *key, const char *value, bool by_old_name) {
    const struct pdnn_family_def *family;
    const struct pdnn_param_def *param;
    struct pdnn_value parsed;
    for (size_t i = 0; (param = param_at(i, &family)); i++) {
        const char *name = by_old_name ? param->was : param->name;
        if (name && strcmp(name, key) == 0 && pdnn_param_parse(param, value, &parsed, NULL) == PDNN_OK)
            return true;
    }
    return false;
}

const char *pdnn_results_renamed(const char *name, const char *value) {
    const struct pdnn_family_def *family;
    const struct pdnn_param_def *param;
    const char *today = pdnn_results_columns_today(name);
    if (today)
        return today;
    if (is_key(name) && (!value || is_value(name, value, false) || !is_value(name, value, true)))
        return NULL;
    for (size_t i = 0; (param = param_at(i, &family)); i++)
        if (param->was && strcmp(param->was, name) == 0)
            return param->name;
    return NULL;
}

int pdnn_results_find(const struct pdnn_csv *results, const char *name) {
    const struct pdnn_family_def *family;
    const struct pdnn_param_def *param;
    int column = pdnn_csv_find(results, name);
    for (size_t i = 0; column < 0 && (param = param_at(i, &family)); i++)
        if (param->column && strcmp(param->column, name) == 0)
            column = pdnn_csv_find(results, param->name);
    for (size_t i = 0; column < 0 && (param = param_at(i, &family)); i++)
        if (param->was && strcmp(param->was, name) == 0)
            column = pdnn_csv_find(results, param->name);
    const char *today = column < 0 ? pdnn_results_columns_today(name) : NULL;
    return today ? pdnn_csv_find(results, today) : column;
}

enum pdnn_status pdnn_results_column(const struct pdnn_csv *results, const char *name, int *column,
                                     struct pdnn_err *err) {
    char suggestion[PDNN_SUGGESTION_TEXT];
    *column = pdnn_results_find(results, name);
    if (*column >= 0)
        return PDNN_OK;
    pdnn_suggest(suggestion, name, results->header, results->n_columns);
    return pdnn_fail(err, PDNN_INVALID, "results.csv has no column '%.64s'%s", name, suggestion);
}

/* Inserts empty columns with these names before the given one. */
static enum pdnn_status insert(struct pdnn_csv *csv, size_t at, const char *const *names, size_t count,
                               struct pdnn_err *err) {
    size_t width = csv->n_columns + count;
    const char **header = calloc(width, sizeof *header);
    const char **cells = calloc((csv->n_rows + 1) * width, sizeof *cells);
    if (!header || !cells) {
        free(header);
        free(cells);
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for %zu rows", csv->n_rows);
    }
    for (size_t row = 0; row <= csv->n_rows; row++) {
        bool is_header = row == csv->n_rows;
        const char **to = is_header ? header : cells + row * width;
        const char *const *from = is_header ? csv->header : csv->cells + row * csv->n_columns;
        memcpy(to, from, at * sizeof *to);
        for (size_t i = 0; i < count; i++)
            to[at + i] = is_header ? names[i] : "";
        memcpy(to + at + count, from + at, (csv->n_columns - at) * sizeof *to);
    }
    free(csv->header);
    free(csv->cells);
    csv->header = header;
    csv->cells = cells;
    csv->n_columns = width;
    return PDNN_OK;
}

static const char **cell(struct pdnn_csv *csv, size_t row, int column) {
    return &csv->cells[row * csv->n_columns + (size_t)column];
}

/* Schema 2 had no columns for the two parts of an id. */
static enum pdnn_status split_ids(struct pdnn_csv *csv, struct pdnn_arena *arena, struct pdnn_err *err) {
    static const char *const names[] = {"model", "settings"};
    if (pdnn_csv_find(csv, "model") >= 0 || pdnn_csv_find(csv, "settings") >= 0)
        return PDNN_OK;
    int id = pdnn_csv_find(csv, "id");
    if (insert(csv, (size_t)id + 1, names, 2, err) != PDNN_OK)
        return err->status;
    for (size_t row = 0; row < csv->n_rows; row++) {
        const char *text = *cell(csv, row, id);
        size_t length = pdnn_id_model_length(text);
        *cell(csv, row, id + 1) = pdnn_arena_printf(arena, "%.*s", (int)length, text);
        *cell(csv, row, id + 2) = text + length + (text[length] == ',');
        if (!*cell(csv, row, id + 1))
            return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for %zu rows", csv->n_rows);
    }
    return PDNN_OK;
}

/* In schema 2, a key of this family shared its column with another meaning: its values get their own. */
static enum pdnn_status split_key(struct pdnn_csv *csv, const struct pdnn_family_def *family,
                                  const struct pdnn_param_def *param, struct pdnn_err *err) {
    int column = pdnn_csv_find(csv, param->was), of_family = pdnn_csv_find(csv, "family");
    struct pdnn_value value;
    bool has_own = false, has_other = false;
    if (column < 0 || pdnn_csv_find(csv, param->name) >= 0)
        return PDNN_OK;
    for (size_t row = 0; row < csv->n_rows; row++) {
        const char *text = *cell(csv, row, column);
        bool is_own = strcmp(*cell(csv, row, of_family), family->name) == 0 &&
                      pdnn_param_parse(param, text, &value, NULL) == PDNN_OK;
        has_own = has_own || is_own;
        has_other = has_other || (!is_own && *text);
    }
    if (has_own && !has_other)
        csv->header[column] = param->name;
    if (!has_own || !has_other)
        return PDNN_OK;
    if (insert(csv, (size_t)column + 1, &param->name, 1, err) != PDNN_OK)
        return err->status;
    for (size_t row = 0; row < csv->n_rows; row++) {
        if (strcmp(*cell(csv, row, of_family), family->name) != 0)
            continue;
        *cell(csv, row, column + 1) = *cell(csv, row, column);
        *cell(csv, row, column) = "";
    }
    return PDNN_OK;
}

static enum pdnn_status bring_up_to_date(struct pdnn_csv *csv, struct pdnn_arena *arena,
                                         struct pdnn_err *err) {
    const struct pdnn_family_def *family;
    const struct pdnn_param_def *param;
    enum pdnn_status status = pdnn_ids_reprint(csv, arena, err);
    if (status == PDNN_OK)
        status = split_ids(csv, arena, err);
    for (size_t i = 0; i < csv->n_columns; i++) {
        const char *today = pdnn_results_columns_today(csv->header[i]);
        if (today && pdnn_csv_find(csv, today) < 0)
            csv->header[i] = today;
    }
    for (size_t i = 0; status == PDNN_OK && (param = param_at(i, &family)); i++) {
        int in_file = param->column ? pdnn_csv_find(csv, param->column) : -1;
        if (in_file >= 0 && pdnn_csv_find(csv, param->name) < 0)
            csv->header[in_file] = param->name;
        if (param->was && family)
            status = split_key(csv, family, param, err);
    }
    return status;
}

/* Takes the table over on success, and finishes it otherwise. */
static enum pdnn_status take(const char *path, struct pdnn_csv *csv, struct pdnn_arena *arena,
                             struct pdnn_csv *results, struct pdnn_err *err) {
    static const char *const needed[] = {"id", "family", "status", "time_ns_median"};
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; status == PDNN_OK && i < sizeof needed / sizeof *needed; i++)
        if (pdnn_csv_find(csv, needed[i]) < 0)
            status = pdnn_fail(err, PDNN_INVALID, "%s:1: column '%s' is missing; expected a results.csv",
                               path, needed[i]);
    if (status == PDNN_OK)
        status = bring_up_to_date(csv, arena, err);
    if (status == PDNN_OK)
        *results = *csv;
    else
        pdnn_csv_finish(csv);
    return status;
}

enum pdnn_status pdnn_results_parse(const char *path, const struct pdnn_str *text, struct pdnn_arena *arena,
                                    struct pdnn_csv *results, struct pdnn_err *err) {
    struct pdnn_csv csv;
    char *copy = text->failed ? NULL : malloc(text->length + 1);
    if (!copy)
        return pdnn_fail(err, PDNN_NO_MEMORY, "%s: out of memory for its rows", path);
    memcpy(copy, pdnn_str_text(text), text->length + 1);
    enum pdnn_status status = pdnn_csv_parse(path, copy, text->length, PDNN_CSV_STRICT, &csv, err);
    return status == PDNN_OK ? take(path, &csv, arena, results, err) : status;
}

enum pdnn_status pdnn_results_read(const char *directory, struct pdnn_csv *results, struct pdnn_arena *arena,
                                   struct pdnn_err *err) {
    char path[PATH_MAX];
    struct pdnn_csv csv;
    if (snprintf(path, sizeof path, "%s/results.csv", directory) >= (int)sizeof path)
        return pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", directory);
    enum pdnn_status status = pdnn_csv_read(path, RESULTS_LIMIT_BYTES, PDNN_CSV_STRICT, &csv, err);
    return status == PDNN_OK ? take(path, &csv, arena, results, err) : status;
}
