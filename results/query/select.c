/* --only: conditions on the rows of results.csv, in every command that reads it. */
#include "models/zoo/catalog.h"
#include "results/query/results.h"

#include "base/memory.h"
#include "base/units.h"
#include "models/instance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the cell may be beside the value; of `!=` what it may not be. */
enum comparison { LESS = 1, SAME = 2, MORE = 4, UNEQUAL = 8 | SAME };

/* Longer ones first, so that >= is not taken for >. */
static const struct {
    const char *text;
    enum comparison comparison;
} operators[] = {{">=", SAME | MORE}, {"<=", SAME | LESS}, {"!=", UNEQUAL},
                 {"=", SAME},         {">", MORE},         {"<", LESS}};

static bool is_equality(enum comparison comparison) {
    return comparison == SAME || comparison == UNEQUAL;
}

/* A text that is being read, and the rows that meet its conditions so far. */
struct selecting {
    const struct pdnn_results *results;
    struct pdnn_arena arena;
    struct pdnn_row_list rows;
    bool *found; /* by place among the rows: they have one of the last condition's values */
    int column;
    enum comparison comparison;
};

/* Where the operator begins, and which one it is; NULL if the text, up to the next comma, has none. */
static const char *find_operator(const char *text, size_t *which) {
    size_t length = strcspn(text, ",");
    const char *at = text + strcspn(text, "=<>!");
    for (*which = 0; at < text + length && *which < sizeof operators / sizeof *operators; (*which)++)
        if (strncmp(at, operators[*which].text, strlen(operators[*which].text)) == 0)
            return at;
    return NULL;
}

/* Below 0, 0 or above; 2 if the cell or the value is no number. Whole numbers are compared as such: doubles
 * of counts above 2^53 may be equal where they are not. */
static int order(const struct selecting *s, size_t row, const char *value) {
    const struct pdnn_table *table = &s->results->table;
    const struct pdnn_cells *cells = &table->column[s->column];
    const bool is_count = cells->def.kind == PDNN_KIND_COUNT;
    int64_t whole;
    double asked;
    if (pdnn_table_is_empty(table, row, (size_t)s->column) || !pdnn_parse_double(value, &asked))
        return 2;
    if ((is_count || cells->def.kind == PDNN_KIND_WHOLE) && pdnn_parse_i64(value, &whole)) {
        if (is_count && cells->count[row] > INT64_MAX)
            return 1;
        int64_t cell = is_count ? (int64_t)cells->count[row] : cells->whole[row];
        return (cell > whole) - (cell < whole);
    }
    double number = pdnn_results_number(s->results, row, s->column);
    return isnan(number) ? 2 : (number > asked) - (number < asked);
}

/* "mynet@372764cd" is a mynet, of whatever definition. */
static bool is_of_name(const struct selecting *s, const char *text, const char *value) {
    const size_t length = strlen(value);
    return s->column == s->results->at[PDNN_RESULT_FAMILY] && strncmp(text, value, length) == 0 &&
           text[length] == '@';
}

/* A cell of flags, joined by |, equals each of them. */
static bool holds(const struct selecting *s, size_t row, const char *value) {
    int is = order(s, row, value);
    if (is < 2 && (s->comparison & (is < 0 ? LESS : is > 0 ? MORE : SAME)))
        return true;
    const char *text = pdnn_results_text(s->results, row, s->column);
    return is_equality(s->comparison) && (strcmp(text, value) == 0 || is_of_name(s, text, value) ||
                                          pdnn_parts_have(text, "|", value, strlen(value)));
}

/* Finds the rows that have the value of that length. */
static enum pdnn_status find_value(struct selecting *s, const char *text, size_t length,
                                   struct pdnn_err *err) {
    const char *column = pdnn_results_name(s->results, s->column);
    char id[PDNN_ID_TEXT];
    const char *value = pdnn_arena_printf(&s->arena, "%.*s", (int)length, text);
    if (!is_equality(s->comparison) && !pdnn_parse_double(value, &(double){0}))
        return pdnn_fail(err, PDNN_INVALID, "--only: '%.64s' is not a number to compare %s with", value,
                         column);
    if (strcmp(column, "id") == 0)
        value = pdnn_instance_reprint(value, id);
    for (size_t i = 0; i < s->rows.count; i++)
        s->found[i] = s->found[i] || holds(s, s->rows.at[i], value);
    return PDNN_OK;
}

/* Leaves out the rows that do not meet the condition. */
static void leave_out(struct selecting *s) {
    size_t kept = 0;
    for (size_t i = 0; i < s->rows.count; i++)
        if (s->found[i] != (s->comparison == UNEQUAL))
            s->rows.at[kept++] = s->rows.at[i];
    memset(s->found, 0, s->rows.count * sizeof *s->found);
    s->rows.count = kept;
}

/* Meets one condition with all its values, and moves *text past them. */
static enum pdnn_status meet_condition(struct selecting *s, const char **text, struct pdnn_err *err) {
    char key[PDNN_SUGGESTION_TEXT];
    size_t which, length;
    const char *start = *text, *at = find_operator(*text, &which);
    length = at ? (size_t)(at - *text) : 0;
    if (!length || length >= sizeof key)
        return pdnn_fail(err, PDNN_INVALID,
                         "--only: '%.64s' is not KEY=VALUE; a family or a preset comes first", *text);
    s->comparison = operators[which].comparison;
    snprintf(key, sizeof key, "%.*s", (int)length, *text);
    if (pdnn_results_ask(s->results, key, false, &s->column, err) != PDNN_OK)
        return err->status;
    at += strlen(operators[which].text);
    const bool takes_rest =
        strcmp(key, "id") == 0 || strcmp(key, "model") == 0 || strcmp(key, "settings") == 0;
    for (;; at++) {
        length = takes_rest ? strlen(at) : strcspn(at, ",");
        if (find_value(s, at, length, err) != PDNN_OK)
            return err->status;
        at += length;
        if (*at == ',' && (!at[1] || at[1] == ','))
            return pdnn_fail(err, PDNN_INVALID, "--only: a value is missing after the comma of '%.64s'",
                             *text);
        *text = at + (*at == ',');
        if (!*at || find_operator(at + 1, &which))
            break;
        if (!is_equality(s->comparison))
            return pdnn_fail(
                err, PDNN_INVALID,
                "--only: '%.64s' compares with more than one number; a list goes with = and !=, and "
                "decimals have a point",
                start);
    }
    leave_out(s);
    return PDNN_OK;
}

/* Of a known model. */
static bool is_preset_name(struct selecting *s, const char *text, size_t length) {
    return !pdnn_family_find(pdnn_arena_printf(&s->arena, "%.*s", (int)length, text));
}

/* "fc/nodes=8" begins with a family, "resnet50,batch=1" with a preset, if no family has that name; "fc,cnn"
 * with several of one kind. Moves *text past the models. */
static enum pdnn_status meet_models(struct selecting *s, const char **text, struct pdnn_err *err) {
    size_t length = strcspn(*text, "/=<>!,");
    if ((*text)[length] != '/' && (find_operator(*text, &(size_t){0}) || !pdnn_model_is_known(*text, length)))
        return PDNN_OK;
    const bool is_preset = is_preset_name(s, *text, length);
    s->comparison = SAME;
    enum pdnn_status status =
        pdnn_results_ask(s->results, is_preset ? "preset" : "family", false, &s->column, err);
    for (bool has_more = true; status == PDNN_OK && has_more;) {
        status = find_value(s, *text, length, err);
        *text += length;
        const char *next = *text + 1;
        length = **text == ',' ? strcspn(next, "/=<>!,") : 0;
        has_more = length && (!next[length] || next[length] == ',') && pdnn_model_is_known(next, length) &&
                   is_preset_name(s, next, length) == is_preset;
        *text = has_more ? next : *text;
    }
    leave_out(s);
    return status;
}

enum pdnn_status pdnn_results_select(const struct pdnn_results *results, const char *const *only,
                                     size_t n_only, struct pdnn_row_list *rows, struct pdnn_err *err) {
    struct selecting s = {.results = results, .rows = pdnn_rows_all(&results->table)};
    enum pdnn_status status = PDNN_OK;
    s.found = pdnn_alloc(s.rows.count, sizeof *s.found);
    for (size_t i = 0; i < n_only && status == PDNN_OK; i++) {
        const char *text = only[i];
        status = meet_models(&s, &text, err);
        const bool has_model = text != only[i];
        bool is_done = has_model && !*text;
        for (text += has_model && *text; status == PDNN_OK && !is_done; is_done = !*text)
            status = meet_condition(&s, &text, err);
    }
    free(s.found);
    pdnn_arena_finish(&s.arena);
    if (status == PDNN_OK)
        *rows = s.rows;
    else
        pdnn_rows_finish(&s.rows);
    return status;
}
