#define _GNU_SOURCE /* qsort_r */
#include "results/query/selection.h"
#include "base/memory.h"
#include "base/units.h"
#include "models/zoo/catalog.h"
#include "models/family.h"
#include "models/varying.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *pdnn_selection_get(const struct pdnn_selection *selection, size_t at, int column) {
    return pdnn_results_text(&selection->results, selection->row[at], column);
}

double pdnn_selection_number(const struct pdnn_selection *selection, size_t at, int column) {
    return pdnn_results_number(&selection->results, selection->row[at], column);
}

const char *pdnn_selection_word(const struct pdnn_selection *selection, size_t at,
                                enum pdnn_result_column column) {
    return pdnn_selection_get(selection, at, selection->results.at[column]);
}

double pdnn_selection_value(const struct pdnn_selection *selection, size_t at,
                            enum pdnn_result_column column) {
    return pdnn_selection_number(selection, at, selection->results.at[column]);
}

bool pdnn_selection_is_ok(const struct pdnn_selection *selection, size_t at) {
    const char *status = pdnn_selection_get(selection, at, selection->status);
    return selection->results.is_costs
               ? !*status
               : strcmp(status, "ok") == 0 && pdnn_selection_step_ns(selection, at) > 0;
}

static int compare_texts(const void *a, const void *b) {
    const char *one = *(const char *const *)a, *other = *(const char *const *)b;
    int order = pdnn_compare_numbers_first(one, other);
    return order ? order : strcmp(one, other);
}

size_t pdnn_selection_distinct(const struct pdnn_selection *selection, int column, struct pdnn_arena *arena,
                               const char ***texts, size_t *of) {
    struct pdnn_texts found = {0};
    const char **sorted = pdnn_arena_alloc(arena, selection->count + 1, sizeof *sorted);
    for (size_t at = 0; at < selection->count; at++) {
        const char *text = pdnn_selection_get(selection, at, column);
        sorted[pdnn_texts_add(&found, text)] = text;
    }
    const size_t count = found.count;
    pdnn_texts_finish(&found);
    qsort(sorted, count, sizeof *sorted, compare_texts);
    for (size_t at = 0; of && at < selection->count; at++) {
        const char *text = pdnn_selection_get(selection, at, column);
        const char **place = bsearch(&text, sorted, count, sizeof *sorted, compare_texts);
        of[at] = (size_t)(place - sorted);
    }
    *texts = sorted;
    return count;
}

size_t pdnn_selection_source(const struct pdnn_selection *selection, size_t at) {
    return pdnn_results_source(&selection->results, selection->row[at]);
}

double pdnn_selection_step_ns(const struct pdnn_selection *selection, size_t at) {
    return pdnn_selection_number(selection, at, selection->step);
}

const char *pdnn_selection_utilization(const struct pdnn_selection *selection) {
    bool has_pct = false, has_rate = false;
    if (selection->results.is_costs)
        return "intensity_flop_per_byte";
    for (size_t at = 0; at < selection->count; at++) {
        has_pct = has_pct || !isnan(pdnn_selection_value(selection, at, PDNN_RESULT_PCT_OF_PEAK));
        has_rate = has_rate || !isnan(pdnn_selection_value(selection, at, PDNN_RESULT_GFLOPS));
    }
    return has_rate && !has_pct ? "gflops" : "pct_of_peak";
}

bool pdnn_axes_have(const struct pdnn_axes *axes, int column) {
    size_t k = 0;
    while (k < axes->count && axes->column[k] != column)
        k++;
    return k < axes->count;
}

/* Each family has a key of its own; -1: the family is unknown. */
static int minibatch_of(const struct pdnn_selection *selection, size_t at) {
    const struct pdnn_family_def *family =
        pdnn_family_find(pdnn_selection_get(selection, at, selection->family));
    return family ? pdnn_results_named(&selection->results, family->params[family->minibatch_param].name)
                  : -1;
}

double pdnn_selection_examples(const struct pdnn_selection *selection, size_t at) {
    return pdnn_selection_number(selection, at, minibatch_of(selection, at));
}

void pdnn_axes_add_minibatch(const struct pdnn_selection *selection, struct pdnn_axes *axes) {
    for (size_t at = 0; at < selection->count && axes->count < PDNN_SELECTION_AXES_MAX; at++) {
        const int column = minibatch_of(selection, at);
        if (column >= 0 && !pdnn_axes_have(axes, column))
            axes->column[axes->count++] = column;
    }
}

bool pdnn_selection_extrapolated(const struct pdnn_selection *selection, size_t at) {
    return strcmp(pdnn_selection_word(selection, at, PDNN_RESULT_EXTRAPOLATED), "1") == 0;
}

/* Rows without a value do not count in `values`: a key that applies to some only follows from the others. The
 * usual value is found by majority vote (Boyer and Moore, 1981): what remains after unequal values cancel. */
static void describe_key(const struct pdnn_selection *selection, int column, struct pdnn_selection_key *key) {
    const char *before = "", *some = "", *candidate = "";
    size_t votes = 0, count = 0;
    bool is_constant = true; /* within each directory */
    for (size_t at = 0; at < selection->count; at++) {
        const char *value = pdnn_selection_get(selection, at, column);
        if (at && strcmp(value, before) != 0) {
            key->varies = true;
            is_constant = is_constant &&
                          pdnn_selection_source(selection, at) != pdnn_selection_source(selection, at - 1);
        }
        key->values = key->values || (*some && *value && strcmp(some, value) != 0);
        some = *some ? some : value;
        candidate = votes ? candidate : value;
        votes += !votes || strcmp(candidate, value) == 0 ? 1 : (size_t)-1;
        before = value;
    }
    for (size_t at = 0; at < selection->count; at++)
        count += strcmp(candidate, pdnn_selection_get(selection, at, column)) == 0;
    key->is_known = true;
    key->follows = key->varies && is_constant && column != selection->results.results;
    key->usual = 2 * count > selection->count ? candidate : NULL;
}

const struct pdnn_selection_key *pdnn_selection_key(const struct pdnn_selection *selection, int column) {
    struct pdnn_selection_key *key = &selection->keys[column];
    if (!key->is_known)
        describe_key(selection, column, key);
    return key;
}

/* Nothing is known of them before somebody asks. */
static void forget_keys(struct pdnn_selection *selection) {
    free(selection->keys);
    selection->keys = pdnn_alloc((size_t)selection->results.end_name + 1, sizeof *selection->keys);
}

/* The rows of results, which the selection takes or closes, that all texts of `only` ask for. */
static enum pdnn_status select_rows(struct pdnn_selection *selection, const struct pdnn_results *results,
                                    const char *const *only, size_t n_only, struct pdnn_err *err) {
    struct pdnn_row_list rows = {0};
    const int *at = results->at;
    struct pdnn_selection opened = {.results = *results,
                                    .id = at[PDNN_RESULT_ID],
                                    .family = at[PDNN_RESULT_FAMILY],
                                    .status = at[PDNN_RESULT_STATUS],
                                    .step = at[PDNN_RESULT_TIME_NS_MEDIAN]};
    const enum pdnn_status status = pdnn_results_select(&opened.results, only, n_only, &rows, err);
    opened.row = rows.at;
    opened.count = rows.count;
    if (status != PDNN_OK) {
        pdnn_selection_close(&opened);
        return status;
    }
    forget_keys(&opened);
    *selection = opened;
    return PDNN_OK;
}

enum pdnn_status pdnn_selection_read(struct pdnn_selection *selection, const char *const *directories,
                                     size_t n_directories, const char *const *only, size_t n_only,
                                     struct pdnn_err *err) {
    struct pdnn_results results;
    const enum pdnn_status status = pdnn_results_open(&results, directories, n_directories, NULL, err);
    return status == PDNN_OK ? select_rows(selection, &results, only, n_only, err) : status;
}

enum pdnn_status pdnn_selection_read_costs(struct pdnn_selection *selection, const char *name,
                                           struct pdnn_str *text, const char *const *only, size_t n_only,
                                           struct pdnn_err *err) {
    struct pdnn_results results;
    const enum pdnn_status status = pdnn_results_open_costs(&results, name, text, err);
    return status == PDNN_OK ? select_rows(selection, &results, only, n_only, err) : status;
}

enum pdnn_status pdnn_selection_open_all(struct pdnn_selection *selection, const char *const *directories,
                                         size_t n_directories, const char *const *only, size_t n_only,
                                         struct pdnn_err *err) {
    struct pdnn_selection all, opened;
    enum pdnn_status status = pdnn_selection_read(&all, directories, n_directories, only, n_only, err);
    if (status != PDNN_OK)
        return status;
    pdnn_selection_part(&all, -1, "", false, &opened);
    opened.is_part = false;
    free(all.row);
    free(all.keys);
    if (n_only && !opened.count) {
        pdnn_selection_close(&opened);
        return pdnn_fail(err, PDNN_INVALID, "no instance that ended ok has all the values asked for");
    }
    *selection = opened;
    return PDNN_OK;
}

void pdnn_selection_part(const struct pdnn_selection *all, int column, const char *text, bool with_failed,
                         struct pdnn_selection *part) {
    const size_t n = all->count + all->left_out;
    *part = *all;
    part->is_part = true;
    part->keys = NULL;
    part->row = pdnn_alloc(n, sizeof *part->row);
    part->count = part->left_out = 0;
    for (int left_out = 0; left_out < 2; left_out++)
        for (size_t at = 0; at < n; at++) {
            const bool is_chosen = at < all->count && (with_failed || pdnn_selection_is_ok(all, at));
            if (is_chosen == left_out ||
                (column >= 0 && strcmp(pdnn_selection_get(all, at, column), text) != 0))
                continue;
            part->row[part->count + part->left_out] = all->row[at];
            *(left_out ? &part->left_out : &part->count) += 1;
        }
    forget_keys(part);
}

void pdnn_selection_close(struct pdnn_selection *selection) {
    if (!selection->is_part)
        pdnn_results_close(&selection->results);
    free(selection->row);
    free(selection->keys);
    *selection = (struct pdnn_selection){.count = 0};
}

enum pdnn_status pdnn_axes_parse(const struct pdnn_selection *selection, const char *text,
                                 struct pdnn_axes *axes, struct pdnn_err *err) {
    struct pdnn_axes parsed = {.count = 0};
    const char *rest = text, *part;
    for (size_t length; (part = pdnn_part_next(&rest, ",", &length));) {
        char key[PDNN_SUGGESTION_TEXT];
        snprintf(key, sizeof key, "%.*s", (int)length, part);
        if (parsed.count == PDNN_SELECTION_AXES_MAX)
            return pdnn_fail(err, PDNN_INVALID, "'%.64s' has more than %d keys", text,
                             PDNN_SELECTION_AXES_MAX);
        if (pdnn_results_ask(&selection->results, key, true, &parsed.column[parsed.count++], err) != PDNN_OK)
            return err->status;
    }
    for (size_t k = 0; k < parsed.count; k++)
        for (size_t before = 0; before < k; before++)
            if (parsed.column[before] == parsed.column[k])
                return pdnn_fail(err, PDNN_INVALID, "'%.64s' names %.64s twice", text,
                                 pdnn_results_name(&selection->results, parsed.column[k]));
    *axes = parsed;
    return PDNN_OK;
}

/* What two members of a series have in common: family and all keys but the axes, and those that `results`
 * decides where it is an axis. */
static size_t common_columns(const struct pdnn_selection *selection, const struct pdnn_axes *axes,
                             int *columns) {
    const bool across = pdnn_axes_have(axes, selection->results.results);
    size_t count = 0;
    for (int column = selection->family; column < selection->results.end_key; column++) {
        const struct pdnn_selection_key *key = pdnn_selection_key(selection, column);
        bool follows = across && column > selection->family && key->follows;
        if (!pdnn_axes_have(axes, column) && !follows && key->varies)
            columns[count++] = column;
    }
    return count;
}

/* Whether the row is alike to all before it that are in its series. */
static bool is_alike(const struct pdnn_selection *selection, const struct pdnn_axes *axes, const size_t *of,
                     size_t at) {
    size_t i = axes->alike ? 0 : at;
    while (i < at && (of[i] != of[at] || axes->alike(selection, i, at)))
        i++;
    return i == at;
}

struct order {
    const struct pdnn_selection *selection;
    const struct pdnn_axes *axes;
};

/* Words keep the order of the file. */
static int compare_members(const void *a, const void *b, void *user) {
    const struct order *by = user;
    const size_t one = *(const size_t *)a, other = *(const size_t *)b;
    int order = 0;
    for (size_t k = 0; k < by->axes->count && !order; k++)
        order = pdnn_compare_numbers_first(pdnn_selection_get(by->selection, one, by->axes->column[k]),
                                           pdnn_selection_get(by->selection, other, by->axes->column[k]));
    return order ? order : (one > other) - (one < other);
}

/* The number of the row's values of these columns. */
static size_t number_values(const struct pdnn_selection *selection, size_t at, const int *columns,
                            size_t n_columns, struct pdnn_texts *known) {
    struct pdnn_str values = {0};
    for (size_t c = 0; c < n_columns; c++) {
        const char *text = pdnn_selection_get(selection, at, columns[c]);
        pdnn_str_append(&values, "\n", 1);
        pdnn_str_append(&values, text, strlen(text));
    }
    const size_t number = pdnn_texts_add(known, pdnn_str_text(&values));
    pdnn_str_finish(&values);
    return number;
}

/* Whether the axes decide which rows of a family have the key, as the mode decides on the optimizer. */
static bool comes_with_axes(const struct pdnn_selection *selection, const struct pdnn_axes *axes,
                            int column) {
    enum { WITHOUT = 1, WITH = 2 };
    int keys[PDNN_SELECTION_AXES_MAX + 1] = {selection->family};
    struct pdnn_texts values = {0}, families = {0};
    unsigned *of_values = pdnn_alloc(selection->count, sizeof *of_values),
             *of_family = pdnn_alloc(selection->count, sizeof *of_family);
    bool is_decided = true, differs = false;
    memcpy(keys + 1, axes->column, axes->count * sizeof *keys);
    for (size_t at = 0; at < selection->count && is_decided; at++) {
        const unsigned is = *pdnn_selection_get(selection, at, column) ? WITH : WITHOUT;
        unsigned *here = &of_values[number_values(selection, at, keys, axes->count + 1, &values)],
                 *family = &of_family[number_values(selection, at, keys, 1, &families)];
        *here |= is;
        *family |= is;
        is_decided = *here == is;
        differs = differs || *family != is;
    }
    pdnn_texts_finish(&values);
    pdnn_texts_finish(&families);
    free(of_values);
    free(of_family);
    return is_decided && differs;
}

/* Moves the columns that come with the axes to the end; returns how many these are. */
static size_t sort_columns(const struct pdnn_selection *selection, const struct pdnn_axes *axes, int *columns,
                           size_t n_columns) {
    size_t n_others = 0;
    for (size_t c = 0; c < n_columns; c++) {
        const int column = columns[c];
        if (comes_with_axes(selection, axes, column))
            continue;
        columns[c] = columns[n_others];
        columns[n_others++] = column;
    }
    return n_columns - n_others;
}

static bool has_any(const struct pdnn_selection *selection, size_t at, const int *columns, size_t n_columns) {
    for (size_t c = 0; c < n_columns; c++)
        if (*pdnn_selection_get(selection, at, columns[c]))
            return true;
    return false;
}

/* By row, which series it belongs to: that of its values in the common columns, or, where it is not alike to
 * the rows in that, the next one with these values. Returns how many there are. */
static size_t number_series(const struct pdnn_selection *selection, const struct pdnn_axes *axes,
                            const int *columns, size_t n_columns, size_t *of) {
    struct pdnn_texts values = {0}, keys = {0};
    for (size_t at = 0; at < selection->count; at++) {
        const size_t number = number_values(selection, at, columns, n_columns, &values);
        size_t known, with_these_values = 0;
        do {
            char key[48];
            snprintf(key, sizeof key, "%zu %zu", number, with_these_values++);
            known = keys.count;
            of[at] = pdnn_texts_add(&keys, key);
        } while (of[at] < known && !is_alike(selection, axes, of, at));
    }
    const size_t count = keys.count;
    pdnn_texts_finish(&values);
    pdnn_texts_finish(&keys);
    return count;
}

/* Rows without the keys that come with the axes, the last n_own columns, go to the first series that has
 * their other values. Returns how many series there are now, by their first rows again. */
static size_t join_series(const struct pdnn_selection *selection, const int *columns, size_t n_columns,
                          size_t n_own, size_t *of) {
    const size_t count = selection->count, n_others = n_columns - n_own;
    struct pdnn_texts values = {0};
    size_t *others = pdnn_alloc(count, sizeof *others), *first = pdnn_alloc(count, sizeof *first),
           *number = pdnn_alloc(count, sizeof *number), n = 0;
    for (size_t at = 0; at < count; at++) {
        others[at] = number_values(selection, at, columns, n_others, &values);
        if (!first[others[at]] && has_any(selection, at, columns + n_others, n_own))
            first[others[at]] = of[at] + 1;
    }
    for (size_t at = 0; at < count; at++) {
        if (first[others[at]] && !has_any(selection, at, columns + n_others, n_own))
            of[at] = first[others[at]] - 1;
        if (!number[of[at]])
            number[of[at]] = ++n;
        of[at] = number[of[at]] - 1;
    }
    pdnn_texts_finish(&values);
    free(others);
    free(first);
    free(number);
    return n;
}

/* Series by series, so that the members of each are contiguous in one array. */
void pdnn_selection_series(const struct pdnn_selection *selection, const struct pdnn_axes *axes,
                           struct pdnn_arena *arena, struct pdnn_series **series, size_t *n_series) {
    size_t count = selection->count, *of = pdnn_alloc(count, sizeof *of),
           *members = pdnn_arena_alloc(arena, count + 1, sizeof *members);
    struct order by = {selection, axes};
    int *columns = pdnn_alloc(selection->results.table.n_columns, sizeof *columns);
    const size_t n_columns = common_columns(selection, axes, columns),
                 n_own = axes->alike ? 0 : sort_columns(selection, axes, columns, n_columns);
    *n_series = number_series(selection, axes, columns, n_columns, of);
    if (n_own)
        *n_series = join_series(selection, columns, n_columns, n_own, of);
    free(columns);
    *series = pdnn_arena_alloc(arena, *n_series + 1, sizeof **series);
    for (size_t at = 0; at < count; at++)
        (*series)[of[at]].count++;
    for (size_t i = 0; i < *n_series; i++) {
        (*series)[i].at = members;
        members += (*series)[i].count;
        (*series)[i].count = 0;
    }
    for (size_t at = 0; at < count; at++)
        (*series)[of[at]].at[(*series)[of[at]].count++] = at;
    for (size_t i = 0; i < *n_series; i++)
        qsort_r((*series)[i].at, (*series)[i].count, sizeof(size_t), compare_members, &by);
    free(of);
}

/* After the family, an id is KEY=VALUE joined by commas; settings at their defaults are not written. */
/* Of this id of the row. */
static void append_pattern(const struct pdnn_selection *selection, size_t at, const char *id,
                           const struct pdnn_axes *axes, bool starred, struct pdnn_str *out) {
    const char *part, *separator = "";
    size_t length = strcspn(id, "/:,");
    bool found[PDNN_SELECTION_AXES_MAX] = {false};
    length += id[length] ? 1 : 0;
    pdnn_str_append(out, id, length);
    for (const char *rest = id + length; (part = pdnn_part_next(&rest, ",", &length));) {
        const size_t name = strcspn(part, "=,");
        bool is_axis = false;
        for (size_t k = 0; k < axes->count && name < length; k++) {
            const char *key = pdnn_results_name(&selection->results, axes->column[k]);
            if (strlen(key) == name && memcmp(key, part, name) == 0)
                is_axis = found[k] = true;
        }
        if (is_axis && !starred)
            continue;
        pdnn_str_printf(out, "%s%.*s%s", separator, (int)(is_axis ? name + 1 : length), part,
                        is_axis ? "*" : "");
        separator = ",";
    }
    for (size_t k = 0; starred && k < axes->count; k++)
        if (!found[k] && *pdnn_selection_get(selection, at, axes->column[k]))
            pdnn_str_printf(out, ",%s=*", pdnn_results_name(&selection->results, axes->column[k]));
}

void pdnn_selection_pattern(const struct pdnn_selection *selection, size_t at, const struct pdnn_axes *axes,
                            bool starred, struct pdnn_str *out) {
    append_pattern(selection, at, pdnn_selection_get(selection, at, selection->id), axes, starred, out);
}

void pdnn_selection_name(const struct pdnn_selection *selection, size_t at, const struct pdnn_axes *axes,
                         struct pdnn_str *out) {
    static const struct pdnn_axes none = {.count = 0};
    const char *id = pdnn_selection_get(selection, at, selection->id);
    struct pdnn_instance instance;
    char name[PDNN_ID_TEXT];
    if (pdnn_instance_parse(id, &instance, NULL) == PDNN_OK)
        id = pdnn_instance_name(&instance, name);
    append_pattern(selection, at, id, axes ? axes : &none, true, out);
}

/* Of SIZE_MAX, the column's name. */
static void append_cell(const struct pdnn_selection *selection, size_t at, int column, const char *separator,
                        struct pdnn_str *out) {
    const char *shown = at == SIZE_MAX ? pdnn_results_name(&selection->results, column)
                                       : pdnn_selection_get(selection, at, column);
    pdnn_str_printf(out, "%s%s", separator, *shown ? shown : "-");
}

void pdnn_selection_values(const struct pdnn_selection *selection, size_t at, const struct pdnn_axes *axes,
                           struct pdnn_str *out) {
    for (size_t k = 0; k < axes->count; k++)
        append_cell(selection, at, axes->column[k], k ? ", " : "", out);
}

/* What most chosen rows have in the column of presets, or what this row has; "" where it is none. */
static const char *preset_of(const struct pdnn_selection *selection, size_t at) {
    const int column = selection->results.at[PDNN_RESULT_PRESET];
    struct pdnn_selection_key key = {.usual = NULL};
    if (column >= 0 && at == SIZE_MAX)
        describe_key(selection, column, &key);
    return column < 0      ? ""
           : at < SIZE_MAX ? pdnn_selection_get(selection, at, column)
           : key.usual     ? key.usual
                           : "";
}

/* Whether the preset, which may be none, says that the key has this value. It does not say the minibatch. */
static bool is_said_by(const struct pdnn_instance *preset, const char *key, const char *value) {
    char text[PDNN_PARAM_TEXT];
    const struct pdnn_family_def *family = preset->family;
    const int hyper = family ? pdnn_param_find(family->params, family->n_params, key) : -1;
    return hyper >= 0 && (size_t)hyper != (size_t)family->minibatch_param &&
           strcmp(pdnn_param_format(&family->params[hyper], preset->hyper[hyper], text), value) == 0;
}

/* A preset's name stands for the hyper-parameters that it says. */
void pdnn_selection_where(const struct pdnn_selection *selection, size_t at, const struct pdnn_axes *axes,
                          struct pdnn_str *out) {
    const char *preset = preset_of(selection, at), *usual = preset_of(selection, SIZE_MAX);
    struct pdnn_model_name model = {.family = NULL};
    struct pdnn_instance instance = {.family = NULL};
    if (*preset && pdnn_model_find(preset, true, &model, NULL) == PDNN_OK && model.preset) {
        pdnn_instance_init_preset(&instance, model.family, model.preset);
        pdnn_instance_resolve(&instance, 1);
    }
    if (instance.family && (at == SIZE_MAX || strcmp(preset, usual) != 0))
        pdnn_str_printf(out, "%s", preset);
    for (int column = selection->family; column < selection->results.end_key; column++) {
        const struct pdnn_selection_key *key = pdnn_selection_key(selection, column);
        const char *name = pdnn_results_name(&selection->results, column);
        const char *value = at == SIZE_MAX ? key->usual : pdnn_selection_get(selection, at, column);
        if (pdnn_axes_have(axes, column) || !key->varies || key->follows || !value || !*value ||
            is_said_by(&instance, name, value))
            continue;
        if (at == SIZE_MAX || !key->usual || strcmp(key->usual, value) != 0)
            pdnn_str_printf(out, "%s%s=%s", out->length ? ", " : "", name, value);
    }
}

/* Numbers the combinations of values that rows have, those so far and this column's; returns how many. */
static size_t refine(const struct pdnn_selection *selection, int column, size_t *of) {
    struct pdnn_texts keys = {0};
    struct pdnn_str key = {0};
    for (size_t at = 0; at < selection->count; at++) {
        pdnn_str_clear(&key);
        pdnn_str_append_u64(&key, of[at]);
        pdnn_str_printf(&key, " %s", pdnn_selection_get(selection, at, column));
        of[at] = pdnn_texts_add(&keys, pdnn_str_text(&key));
    }
    const size_t count = keys.count;
    pdnn_texts_finish(&keys);
    pdnn_str_finish(&key);
    return count;
}

/* The row's values of the keys that tell the chosen rows apart, not of those that follow from the keys before
 * them; its id if there are none. */
static const char *name_by_keys(const struct pdnn_selection *selection, size_t row,
                                struct pdnn_arena *arena) {
    size_t *of = pdnn_alloc(selection->count + 1, sizeof *of), count = 1;
    const struct pdnn_results *results = &selection->results;
    const char *name = "";
    for (int column = selection->family; column < results->end_key; column++) {
        const struct pdnn_selection_key *key = pdnn_selection_key(selection, column);
        const size_t before = count;
        if (key->values && !key->follows && column != results->results)
            count = refine(selection, column, of);
        const char *value = pdnn_results_text(results, row, column);
        if (count > before && *value)
            name = pdnn_arena_printf(arena, "%s%s%s=%s", name, *name ? "," : "",
                                     pdnn_results_name(results, column), value);
    }
    free(of);
    return *name ? name : pdnn_results_text(results, row, selection->id);
}

const char **pdnn_selection_names(const struct pdnn_selection *selection, struct pdnn_arena *arena) {
    const size_t n = selection->count + selection->left_out;
    const char **names = pdnn_arena_alloc(arena, selection->results.table.n_rows + 1, sizeof *names);
    struct pdnn_varying varying = {0};
    for (int is_named = 0; is_named < 2; is_named++)
        for (size_t at = 0; at < n; at++) {
            const char *id = pdnn_selection_get(selection, at, selection->id);
            struct pdnn_instance instance;
            char label[PDNN_ID_TEXT];
            const bool is_known = pdnn_instance_parse(id, &instance, NULL) == PDNN_OK;
            if (is_known && !is_named)
                pdnn_varying_add(&varying, &instance);
            else if (is_named)
                names[selection->row[at]] =
                    is_known ? pdnn_arena_strdup(arena, pdnn_varying_label(&varying, &instance, label))
                             : name_by_keys(selection, selection->row[at], arena);
        }
    pdnn_varying_finish(&varying);
    return names;
}
