/* --only: conditions on the rows of results.csv, in every command that reads it. */
#include "results/query/results.h"

#include "base/units.h"
#include "models/instance.h"

#include <math.h>
#include <stdio.h>
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

struct value {
    const char *text;
    double number;
    bool is_number;
};

struct condition {
    int column;
    enum comparison comparison;
    struct value *value; /* one of them; of `!=`: none of them */
    size_t n_values, room;
};

/* A text that is being split, and what came of it so far. */
struct parsing {
    const struct pdnn_results *results;
    struct pdnn_arena *arena;
    struct condition *condition;
    size_t count, room;
};

/* Where the operator begins, and which one it is; NULL if the text, up to the next comma, has none. */
static const char *find_operator(const char *text, size_t *which) {
    size_t length = strcspn(text, ",");
    const char *at = text + strcspn(text, "=<>!");
    for (*which = 0; at < text + length && *which < sizeof operators / sizeof *operators; (*which)++) {
        if (strncmp(at, operators[*which].text, strlen(operators[*which].text)) == 0)
            return at;
    }
    return NULL;
}

/* Takes a copy of the first `length` letters. */
static enum pdnn_status add_value(const struct parsing *parsing, struct condition *condition,
                                  const char *text, size_t length, struct pdnn_err *err) {
    const char *column = pdnn_results_name(parsing->results, condition->column);
    char *copy = pdnn_arena_printf(parsing->arena, "%.*s", (int)length, text), id[PDNN_ID_TEXT];
    if (strcmp(column, "id") == 0)
        copy = pdnn_arena_strdup(parsing->arena, pdnn_instance_reprint(copy, id));
    struct value value = {.text = copy};
    value.is_number = pdnn_parse_double(copy, &value.number);
    if (!is_equality(condition->comparison) && !value.is_number)
        return pdnn_fail(err, PDNN_INVALID, "--only: '%.64s' is not a number to compare %s with", copy,
                         column);
    condition->value = pdnn_arena_grow(parsing->arena, condition->value, &condition->room,
                                       condition->n_values, sizeof value);
    condition->value[condition->n_values++] = value;
    return PDNN_OK;
}

static struct condition *add_condition(struct parsing *parsing, enum comparison comparison) {
    parsing->condition = pdnn_arena_grow(parsing->arena, parsing->condition, &parsing->room, parsing->count,
                                         sizeof *parsing->condition);
    parsing->condition[parsing->count] = (struct condition){.comparison = comparison};
    return &parsing->condition[parsing->count++];
}

/* Reads one condition with all its values, and moves *text past them. */
static enum pdnn_status parse_condition(struct parsing *parsing, const char **text, struct pdnn_err *err) {
    char key[PDNN_SUGGESTION_TEXT];
    size_t which, length;
    const char *start = *text, *at = find_operator(*text, &which);
    length = at ? (size_t)(at - *text) : 0;
    if (!length || length >= sizeof key)
        return pdnn_fail(err, PDNN_INVALID,
                         "--only: '%.64s' is not KEY=VALUE; a family or a preset comes first", *text);
    struct condition *condition = add_condition(parsing, operators[which].comparison);
    snprintf(key, sizeof key, "%.*s", (int)length, *text);
    if (pdnn_results_ask(parsing->results, key, &condition->column, err) != PDNN_OK)
        return err->status;
    at += strlen(operators[which].text);
    const bool takes_rest =
        strcmp(key, "id") == 0 || strcmp(key, "model") == 0 || strcmp(key, "settings") == 0;
    for (;;) {
        length = takes_rest ? strlen(at) : strcspn(at, ",");
        if (add_value(parsing, condition, at, length, err) != PDNN_OK)
            return err->status;
        at += length;
        if (*at == ',' && (!at[1] || at[1] == ','))
            return pdnn_fail(err, PDNN_INVALID, "--only: a value is missing after the comma of '%.64s'",
                             *text);
        *text = at + (*at == ',');
        if (!*at || find_operator(at + 1, &which))
            return PDNN_OK;
        if (!is_equality(condition->comparison))
            return pdnn_fail(
                err, PDNN_INVALID,
                "--only: '%.64s' compares with more than one number; a list goes with = and !=, and "
                "decimals have a point",
                start);
        at++;
    }
}

/* Of a known model. */
static bool is_preset_name(const struct parsing *parsing, const char *text, size_t length) {
    return !pdnn_family_find(pdnn_arena_printf(parsing->arena, "%.*s", (int)length, text));
}

/* "fc/nodes=8" begins with a family, "resnet50,batch=1" with a preset, if no family has that name; "fc,cnn"
 * with several of one kind. Moves *text past the models. */
static enum pdnn_status take_models(struct parsing *parsing, const char **text, struct pdnn_err *err) {
    size_t length = strcspn(*text, "/=<>!,");
    if ((*text)[length] != '/' && (find_operator(*text, &(size_t){0}) || !pdnn_model_is_known(*text, length)))
        return PDNN_OK;
    struct condition *condition = add_condition(parsing, SAME);
    const bool is_preset = is_preset_name(parsing, *text, length);
    enum pdnn_status status =
        pdnn_results_ask(parsing->results, is_preset ? "preset" : "family", &condition->column, err);
    for (bool has_more = true; status == PDNN_OK && has_more;) {
        status = add_value(parsing, condition, *text, length, err);
        *text += length;
        const char *next = *text + 1;
        length = **text == ',' ? strcspn(next, "/=<>!,") : 0;
        has_more = length && (!next[length] || next[length] == ',') && pdnn_model_is_known(next, length) &&
                   is_preset_name(parsing, next, length) == is_preset;
        *text = has_more ? next : *text;
    }
    return status;
}

/* Below 0, 0 or above; 2 if the cell or the value is no number. Whole numbers are compared as such: doubles
 * of counts above 2^53 may be equal where they are not. */
static int order(const struct pdnn_results *results, size_t row, int column, const struct value *value) {
    const struct pdnn_cells *cells = &results->table.column[column];
    int64_t whole;
    if (pdnn_table_is_empty(&results->table, row, (size_t)column) || !value->is_number)
        return 2;
    if ((cells->def.kind == PDNN_KIND_COUNT || cells->def.kind == PDNN_KIND_WHOLE) &&
        pdnn_parse_i64(value->text, &whole)) {
        bool is_count = cells->def.kind == PDNN_KIND_COUNT;
        if (is_count && cells->count[row] > INT64_MAX)
            return 1;
        int64_t cell = is_count ? (int64_t)cells->count[row] : cells->whole[row];
        return (cell > whole) - (cell < whole);
    }
    double number = pdnn_results_number(results, row, column);
    return isnan(number) ? 2 : (number > value->number) - (number < value->number);
}

/* A cell of flags, joined by |, equals each of them. */
static bool holds(enum comparison comparison, const struct value *value, const struct pdnn_results *results,
                  size_t row, int column) {
    int is = order(results, row, column, value);
    if (is < 2 && (comparison & (is < 0 ? LESS : is > 0 ? MORE : SAME)))
        return true;
    const char *text = pdnn_results_text(results, row, column);
    return is_equality(comparison) &&
           (strcmp(text, value->text) == 0 || pdnn_parts_have(text, "|", value->text, strlen(value->text)));
}

static bool matches(const struct parsing *parsing, size_t row) {
    for (size_t i = 0; i < parsing->count; i++) {
        const struct condition *condition = &parsing->condition[i];
        bool any = false;
        for (size_t k = 0; k < condition->n_values && !any; k++)
            any =
                holds(condition->comparison, &condition->value[k], parsing->results, row, condition->column);
        if (any == (condition->comparison == UNEQUAL))
            return false;
    }
    return true;
}

enum pdnn_status pdnn_results_select(const struct pdnn_results *results, const char *const *only,
                                     size_t n_only, struct pdnn_row_list *rows, struct pdnn_err *err) {
    struct pdnn_arena arena = {0};
    struct pdnn_row_list chosen = {0};
    struct parsing parsing = {.results = results, .arena = &arena};
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < n_only && status == PDNN_OK; i++) {
        const char *text = only[i];
        status = take_models(&parsing, &text, err);
        bool has_model = text != only[i], is_done = has_model && !*text;
        for (text += has_model && *text; status == PDNN_OK && !is_done; is_done = !*text)
            status = parse_condition(&parsing, &text, err);
    }
    for (size_t row = 0; status == PDNN_OK && row < results->table.n_rows; row++)
        if (matches(&parsing, row))
            pdnn_rows_add(&chosen, row);
    pdnn_arena_finish(&arena);
    if (status == PDNN_OK)
        *rows = chosen;
    return status;
}
