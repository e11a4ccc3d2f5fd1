#include "results/query/selection.h"
#include "base/memory.h"
#include "base/units.h"
#include "models/family.h"
#include "models/instance.h"
#include "results/query/filter.h"
#include "results/query/results_reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *pdnn_selection_get(const struct pdnn_selection *selection, size_t at, int column) {
    return pdnn_csv_get(&selection->results, selection->row[at], column);
}

size_t pdnn_selection_source(const struct pdnn_selection *selection, size_t at) {
    return selection->several.source ? selection->several.source[selection->row[at]] : 0;
}

bool pdnn_selection_follows(const struct pdnn_selection *selection, int column) {
    bool several = false;
    for (size_t at = 1; at < selection->count; at++) {
        const char *value = pdnn_selection_get(selection, at, column);
        if (strcmp(value, pdnn_selection_get(selection, at - 1, column)) == 0)
            continue;
        if (pdnn_selection_source(selection, at) == pdnn_selection_source(selection, at - 1))
            return false;
        several = true;
    }
    return several && strcmp(selection->results.header[column], PDNN_SEVERAL_RESULTS) != 0;
}

double pdnn_selection_step_ns(const struct pdnn_selection *selection, size_t at) {
    double ns;
    return pdnn_parse_double(pdnn_selection_get(selection, at, selection->step), &ns) ? ns : NAN;
}

static bool has_number(const struct pdnn_selection *selection, const char *name) {
    int column = pdnn_csv_find(&selection->results, name);
    double value;
    for (size_t at = 0; at < selection->count && column >= 0; at++) {
        if (pdnn_parse_double(pdnn_selection_get(selection, at, column), &value))
            return true;
    }
    return false;
}

const char *pdnn_selection_utilization(const struct pdnn_selection *selection) {
    bool has_rate = !has_number(selection, "pct_of_peak") && has_number(selection, "gflops");
    return has_rate ? "gflops" : "pct_of_peak";
}

int pdnn_selection_minibatch(const struct pdnn_selection *selection) {
    const struct pdnn_family_def *family =
        selection->count ? pdnn_family_find(pdnn_selection_get(selection, 0, selection->family)) : NULL;
    return family ? pdnn_csv_find(&selection->results, family->params[family->minibatch_param].name) : -1;
}

bool pdnn_selection_extrapolated(const struct pdnn_selection *selection, size_t at) {
    return strcmp(pdnn_selection_get(selection, at, selection->extrapolated), "1") == 0;
}

static void find_columns(struct pdnn_selection *selection) {
    const struct pdnn_csv *results = &selection->results;
    selection->id = pdnn_csv_find(results, "id");
    selection->family = pdnn_csv_find(results, "family");
    selection->status = pdnn_csv_find(results, "status");
    selection->step = pdnn_csv_find(results, "time_ns_median");
    selection->extrapolated = pdnn_csv_find(results, "extrapolated");
    selection->first_key = selection->family + 1;
    selection->end_name = selection->status;
    selection->end_key =
        selection->n_directories > 1 ? pdnn_csv_find(results, PDNN_SEVERAL_VERSION) : selection->status;
}

enum pdnn_status pdnn_selection_key(const struct pdnn_selection *selection, const char *name, int *column,
                                    struct pdnn_err *err) {
    const char *const *keys = selection->results.header + selection->first_key;
    int count = selection->end_name - selection->first_key;
    int found = pdnn_results_find(&selection->results, name);
    if (found >= selection->first_key && found < selection->end_name) {
        *column = found;
        return PDNN_OK;
    }
    char suggestion[PDNN_SUGGESTION_TEXT];
    pdnn_suggest(suggestion, name, keys, count > 0 ? (size_t)count : 0);
    return pdnn_fail(err, PDNN_INVALID, "results.csv has no hyper-parameter or run setting '%.64s'%s", name,
                     suggestion);
}

static enum pdnn_status choose_rows(struct pdnn_selection *selection, const struct pdnn_filter *filter,
                                    struct pdnn_err *err) {
    const struct pdnn_csv *results = &selection->results;
    selection->row = pdnn_alloc(results->n_rows + 1, sizeof *selection->row);
    selection->left = pdnn_alloc(results->n_rows + 1, sizeof *selection->left);
    for (size_t row = 0; row < results->n_rows; row++) {
        double step_ns;
        if (!pdnn_filter_matches(filter, results, row))
            continue;
        if (strcmp(pdnn_csv_get(results, row, selection->status), "ok") == 0 &&
            pdnn_parse_double(pdnn_csv_get(results, row, selection->step), &step_ns))
            selection->row[selection->count++] = row;
        else
            selection->left[selection->left_out++] = row;
    }
    if (filter->count && !selection->count)
        return pdnn_fail(err, PDNN_INVALID, "no instance that ended ok has all the values asked for");
    return PDNN_OK;
}

static enum pdnn_status read_all(struct pdnn_selection *selection, const char *const *directories, size_t n,
                                 struct pdnn_err *err) {
    const char **kept = pdnn_arena_alloc(&selection->arena, n, sizeof *kept);
    for (size_t i = 0; i < n; i++)
        kept[i] = pdnn_arena_strdup(&selection->arena, directories[i]);
    selection->directory = kept;
    selection->n_directories = n;
    if (n == 1)
        return pdnn_results_read(kept[0], &selection->results, &selection->arena, err);
    enum pdnn_status status = pdnn_several_read(kept, n, &selection->arena, &selection->several, err);
    selection->results = selection->several.table;
    return status;
}

enum pdnn_status pdnn_selection_open_all(struct pdnn_selection *selection, const char *const *directories,
                                         size_t n_directories, const char *const *only, size_t n_only,
                                         struct pdnn_err *err) {
    struct pdnn_selection opened = {.count = 0};
    struct pdnn_filter filter = {.count = 0};
    enum pdnn_status status = read_all(&opened, directories, n_directories, err);
    if (status == PDNN_OK) {
        find_columns(&opened);
        status = pdnn_filter_parse(&opened.results, only, n_only, &opened.arena, &filter, err);
    }
    if (status == PDNN_OK)
        status = choose_rows(&opened, &filter, err);
    if (status == PDNN_OK)
        *selection = opened;
    else
        pdnn_selection_close(&opened);
    return status;
}

enum pdnn_status pdnn_selection_open(struct pdnn_selection *selection, const char *directory,
                                     const char *const *only, size_t n_only, struct pdnn_err *err) {
    return pdnn_selection_open_all(selection, &directory, 1, only, n_only, err);
}

void pdnn_selection_close(struct pdnn_selection *selection) {
    pdnn_csv_finish(&selection->results);
    pdnn_several_finish(&selection->several);
    pdnn_arena_finish(&selection->arena);
    free(selection->row);
    free(selection->left);
    *selection = (struct pdnn_selection){.count = 0};
}

enum pdnn_status pdnn_axes_parse(const struct pdnn_selection *selection, const char *text,
                                 struct pdnn_axes *axes, struct pdnn_err *err) {
    struct pdnn_axes parsed = {.count = 0};
    for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        char key[PDNN_SUGGESTION_TEXT];
        snprintf(key, sizeof key, "%.*s", (int)strcspn(at, ","), at);
        if (parsed.count == PDNN_SELECTION_AXES_MAX)
            return pdnn_fail(err, PDNN_INVALID, "'%.64s' has more than %d keys", text,
                             PDNN_SELECTION_AXES_MAX);
        if (pdnn_selection_key(selection, key, &parsed.column[parsed.count], err) != PDNN_OK)
            return err->status;
        parsed.count++;
    }
    *axes = parsed;
    return PDNN_OK;
}

static bool is_axis(const struct pdnn_axes *axes, int column) {
    size_t k = 0;
    while (k < axes->count && axes->column[k] != column)
        k++;
    return k < axes->count;
}

static bool same_field(const struct pdnn_selection *selection, size_t a, size_t b, int column) {
    return strcmp(pdnn_selection_get(selection, a, column), pdnn_selection_get(selection, b, column)) == 0;
}

/* True if family and all keys except the axes are equal. */
static bool same_others(const struct pdnn_selection *selection, const struct pdnn_axes *axes, size_t a,
                        size_t b) {
    bool across = is_axis(axes, pdnn_csv_find(&selection->results, PDNN_SEVERAL_RESULTS));
    for (int column = selection->family; column < selection->end_key; column++) {
        if (!is_axis(axes, column) && !same_field(selection, a, b, column) &&
            !(across && column > selection->family && pdnn_selection_follows(selection, column)))
            return false;
    }
    return true;
}

static bool belongs(const struct pdnn_selection *selection, const struct pdnn_axes *axes,
                    const struct pdnn_series *series, size_t at) {
    if (!same_others(selection, axes, series->at[0], at))
        return false;
    for (size_t i = 0; axes->alike && i < series->count; i++) {
        if (!axes->alike(selection, series->at[i], at))
            return false;
    }
    return true;
}

/* Words keep the order of the file. */
static int compare_members(const struct pdnn_selection *selection, const struct pdnn_axes *axes, size_t a,
                           size_t b) {
    int order = 0;
    for (size_t k = 0; k < axes->count && !order; k++)
        order = pdnn_compare_numbers_first(pdnn_selection_get(selection, a, axes->column[k]),
                                           pdnn_selection_get(selection, b, axes->column[k]));
    return order;
}

/* Moves the last member to its place; it comes later in the file than all others. */
static void sort_last(const struct pdnn_selection *selection, const struct pdnn_axes *axes,
                      struct pdnn_series *series) {
    size_t last = series->at[series->count - 1], i = series->count - 1;
    for (; i > 0 && compare_members(selection, axes, series->at[i - 1], last) > 0; i--)
        series->at[i] = series->at[i - 1];
    series->at[i] = last;
}

/* Series by series, so that the members of each are contiguous in one array. */
void pdnn_selection_series(const struct pdnn_selection *selection, const struct pdnn_axes *axes,
                           struct pdnn_arena *arena, struct pdnn_series **series, size_t *n_series) {
    size_t count = selection->count, n_made = 0, n_members = 0;
    struct pdnn_series *made = pdnn_arena_alloc(arena, count + 1, sizeof *made);
    size_t *members = pdnn_arena_alloc(arena, count + 1, sizeof *members);
    bool *taken = pdnn_arena_alloc(arena, count + 1, sizeof *taken);
    for (size_t first = 0; first < count; first++) {
        if (taken[first])
            continue;
        struct pdnn_series *one = &made[n_made++];
        *one = (struct pdnn_series){members + n_members, 1};
        one->at[0] = first;
        for (size_t at = first + 1; at < count; at++) {
            if (taken[at] || !belongs(selection, axes, one, at))
                continue;
            taken[at] = true;
            one->at[one->count++] = at;
            sort_last(selection, axes, one);
        }
        n_members += one->count;
    }
    *series = made;
    *n_series = n_made;
}

static bool names_key(const char *pair, size_t length, const char *key) {
    return strlen(key) == length && memcmp(key, pair, length) == 0;
}

/* After the family, an id is KEY=VALUE joined by commas; settings at their defaults are not written. */
void pdnn_selection_pattern(const struct pdnn_selection *selection, size_t at, const struct pdnn_axes *axes,
                            struct pdnn_str *out) {
    const char *id = pdnn_selection_get(selection, at, selection->id);
    size_t length = strcspn(id, "/:");
    bool found[PDNN_SELECTION_AXES_MAX] = {false};
    length += id[length] ? 1 : 0;
    pdnn_str_append(out, id, length);
    for (id += length; *id; id += length) {
        size_t name = strcspn(id, "=,");
        bool starred = false;
        length = strcspn(id, ",");
        for (size_t k = 0; k < axes->count && name < length; k++) {
            if (names_key(id, name, selection->results.header[axes->column[k]]))
                starred = found[k] = true;
        }
        pdnn_str_append(out, id, starred ? name + 1 : length);
        pdnn_str_append(out, "*", starred ? 1 : 0);
        pdnn_str_append(out, id + length, id[length] ? 1 : 0);
        length += id[length] ? 1 : 0;
    }
    for (size_t k = 0; k < axes->count; k++) {
        if (!found[k] && *pdnn_selection_get(selection, at, axes->column[k]))
            pdnn_str_printf(out, ",%s=*", selection->results.header[axes->column[k]]);
    }
}

void pdnn_selection_names(const struct pdnn_selection *selection, const struct pdnn_axes *axes,
                          struct pdnn_str *out) {
    for (size_t k = 0; k < axes->count; k++)
        pdnn_str_printf(out, "%s%s", k ? ", " : "", selection->results.header[axes->column[k]]);
}

void pdnn_selection_values(const struct pdnn_selection *selection, size_t at, const struct pdnn_axes *axes,
                           struct pdnn_str *out) {
    for (size_t k = 0; k < axes->count; k++) {
        const char *value = pdnn_selection_get(selection, at, axes->column[k]);
        pdnn_str_printf(out, "%s%s", k ? ", " : "", *value ? value : "-");
    }
}

bool pdnn_selection_varies(const struct pdnn_selection *selection, int column) {
    for (size_t at = 1; at < selection->count; at++) {
        if (!same_field(selection, 0, at, column))
            return true;
    }
    return false;
}

/* The value that more than half of the chosen rows have, or NULL. Boyer-Moore majority vote: the candidate is
 * what remains after unequal values cancel, and a second pass counts it. */
static const char *majority(const struct pdnn_selection *selection, int column) {
    size_t candidate = 0, votes = 0, count = 0;
    for (size_t at = 0; at < selection->count; at++) {
        if (!votes)
            candidate = at;
        votes += !votes || same_field(selection, candidate, at, column) ? 1 : (size_t)-1;
    }
    for (size_t at = 0; at < selection->count; at++)
        count += same_field(selection, candidate, at, column);
    return 2 * count > selection->count ? pdnn_selection_get(selection, candidate, column) : NULL;
}

static void append_key(const struct pdnn_selection *selection, int column, const char *value,
                       struct pdnn_str *out) {
    if (*value)
        pdnn_str_printf(out, "%s%s=%s", out->length ? ", " : "", selection->results.header[column], value);
}

void pdnn_selection_where(const struct pdnn_selection *selection, size_t at, const struct pdnn_axes *axes,
                          struct pdnn_str *out) {
    for (int column = selection->family; column < selection->end_key; column++) {
        const char *value = pdnn_selection_get(selection, at, column);
        if (is_axis(axes, column) || !pdnn_selection_varies(selection, column) ||
            pdnn_selection_follows(selection, column))
            continue;
        const char *usual = majority(selection, column);
        if (!usual || strcmp(usual, value) != 0)
            append_key(selection, column, value, out);
    }
}

/* Whether rows have different values of this key. Rows without one do not count: a key that applies to some
 * only follows from the others. */
static bool has_values(const struct pdnn_selection *selection, int column) {
    const char *first = "";
    for (size_t at = 0; at < selection->count; at++) {
        const char *value = pdnn_selection_get(selection, at, column);
        if (*first && *value && strcmp(first, value) != 0)
            return !pdnn_selection_follows(selection, column);
        first = *first ? first : value;
    }
    return false;
}

void pdnn_selection_varying_names(const struct pdnn_selection *selection, struct pdnn_str *out) {
    const char *separator = "";
    for (int column = selection->family; column < selection->end_key; column++) {
        if (!has_values(selection, column))
            continue;
        pdnn_str_printf(out, "%s%s", separator, selection->results.header[column]);
        separator = " ";
    }
}

void pdnn_selection_varying_values(const struct pdnn_selection *selection, size_t at, struct pdnn_str *out) {
    const char *separator = "";
    for (int column = selection->family; column < selection->end_key; column++) {
        if (!has_values(selection, column))
            continue;
        const char *value = pdnn_selection_get(selection, at, column);
        pdnn_str_printf(out, "%s%s", separator, *value ? value : "-");
        separator = " ";
    }
}

void pdnn_selection_usual(const struct pdnn_selection *selection, const struct pdnn_axes *axes,
                          struct pdnn_str *out) {
    for (int column = selection->family; column < selection->end_key; column++) {
        if (is_axis(axes, column) || !pdnn_selection_varies(selection, column) ||
            pdnn_selection_follows(selection, column))
            continue;
        const char *usual = majority(selection, column);
        if (usual)
            append_key(selection, column, usual, out);
    }
}
