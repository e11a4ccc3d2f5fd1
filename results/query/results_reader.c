/* results.csv with today's ids and the names of keys. */
#define _POSIX_C_SOURCE 200809L /* PATH_MAX */
#include "results/query/results_reader.h"

#include "base/memory.h"
#include "base/str.h"
#include "models/instance.h"
#include "results/store/results.h"
#include "results/store/ids.h"

#include <limits.h>
#include <stdio.h>
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

int pdnn_results_find(const struct pdnn_csv *results, const char *name) {
    const struct pdnn_family_def *family;
    const struct pdnn_param_def *param;
    int column = pdnn_csv_find(results, name);
    for (size_t i = 0; column < 0 && (param = param_at(i, &family)); i++)
        if (param->column && strcmp(param->column, name) == 0)
            column = pdnn_csv_find(results, param->name);
    return column;
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

static void name_keys(struct pdnn_csv *csv) {
    const struct pdnn_family_def *family;
    const struct pdnn_param_def *param;
    for (size_t i = 0; (param = param_at(i, &family)); i++) {
        int in_file = param->column ? pdnn_csv_find(csv, param->column) : -1;
        if (in_file >= 0 && pdnn_csv_find(csv, param->name) < 0)
            csv->header[in_file] = param->name;
    }
}

/* A table without the column is somebody's own. */
static enum pdnn_status check_schema(const char *path, const struct pdnn_csv *csv, struct pdnn_err *err) {
    int column = pdnn_csv_find(csv, "schema");
    uint64_t schema = PDNN_SCHEMA;
    if (column >= 0 && csv->n_rows && !pdnn_count_parse(pdnn_csv_get(csv, 0, column), &schema))
        schema = UINT64_MAX;
    if (schema < PDNN_SCHEMA)
        return pdnn_fail(err, PDNN_INVALID, "%s: written by an older version of paradnn (schema %d, now %d)",
                         path, (int)schema, PDNN_SCHEMA);
    if (schema > PDNN_SCHEMA)
        return pdnn_fail(err, PDNN_INVALID, "%s:%zu: schema '%.20s', this program reads %d", path,
                         csv->lines[0], pdnn_csv_get(csv, 0, column), PDNN_SCHEMA);
    return PDNN_OK;
}

/* Takes the table over on success, and finishes it otherwise. */
static enum pdnn_status take(const char *path, struct pdnn_csv *csv, struct pdnn_arena *arena,
                             struct pdnn_csv *results, struct pdnn_err *err) {
    static const char *const needed[] = {"id", "family", "status", "time_ns_median"};
    enum pdnn_status status = check_schema(path, csv, err);
    for (size_t i = 0; status == PDNN_OK && i < sizeof needed / sizeof *needed; i++)
        if (pdnn_csv_find(csv, needed[i]) < 0)
            status = pdnn_fail(err, PDNN_INVALID, "%s:1: column '%s' is missing; expected a results.csv",
                               path, needed[i]);
    if (status != PDNN_OK) {
        pdnn_csv_finish(csv);
        return status;
    }
    pdnn_ids_reprint(csv, arena);
    name_keys(csv);
    *results = *csv;
    return PDNN_OK;
}

enum pdnn_status pdnn_results_parse(const char *path, const struct pdnn_str *text, struct pdnn_arena *arena,
                                    struct pdnn_csv *results, struct pdnn_err *err) {
    struct pdnn_csv csv;
    char *copy = pdnn_alloc(text->length + 1, 1);
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
