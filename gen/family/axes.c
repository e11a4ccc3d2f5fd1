#include "gen/family/axes.h"

#include "base/str.h"
#include "base/units.h"
#include "models/definition/text/words.h"
#include "models/op.h"

#include <ctype.h>
#include <string.h>

static const char *const axis_keys[] = {"default", "type", "range", "values", "unit",   "help",  "when",
                                        "example", "word", "least", "equal",  "column", "input", NULL};

/* "1.0": digits with a point among them. */
static bool is_decimal(const char *text) {
    size_t digits = strspn(text, "0123456789");
    return digits && text[digits] == '.' && isdigit((unsigned char)text[digits + 1]);
}

static enum pdnn_axis_type type_of(const struct pdnn_reader *reader, const struct pdnn_yaml *row,
                                   const struct pdnn_yaml *fallback) {
    const char *text = pdnn_reader_text(reader, row, "type");
    for (int i = 0; text && pdnn_axis_type_words[i]; i++)
        if (strcmp(pdnn_axis_type_words[i], text) == 0)
            return (enum pdnn_axis_type)i;
    if (text)
        pdnn_yaml_fail(pdnn_yaml_find(row, "type"), reader->err,
                       "type is int, decimal, list, choice or switch, not '%.40s'", text);
    if (pdnn_yaml_find(row, "values"))
        return PDNN_AXIS_CHOICE;
    if (fallback->kind == PDNN_YAML_LIST)
        return PDNN_AXIS_LIST;
    if (strcmp(fallback->text, "yes") == 0 || strcmp(fallback->text, "no") == 0)
        return PDNN_AXIS_SWITCH;
    return is_decimal(fallback->text) ? PDNN_AXIS_DECIMAL : PDNN_AXIS_INT;
}

enum { WORDS_MAX = 256 }; /* of one axis */

/* A list of words, or `activations`: all that the build has. */
/* A word must stand in ids, which are lists of key=value. */
static bool is_word(const struct pdnn_reader *reader, const struct pdnn_yaml *node) {
    const size_t length =
        strspn(node->text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.");
    if (length && !node->text[length])
        return true;
    pdnn_yaml_fail(node, reader->err, "'%.60s' is not a word of letters, digits, _, - and .", node->text);
    return false;
}

static const char *const *read_values(const struct pdnn_reader *reader, const struct pdnn_yaml *values) {
    const char **texts = pdnn_arena_alloc(reader->arena, values->count + 1, sizeof *texts);
    size_t count = 0;
    if (values->kind == PDNN_YAML_SCALAR && strcmp(values->text, "activations") == 0)
        return pdnn_activation_words;
    if (values->kind == PDNN_YAML_SCALAR)
        pdnn_yaml_fail(values, reader->err,
                       "values is '%.40s', expected a list such as [pre, post], or activations",
                       values->text);
    else if (values->count > WORDS_MAX)
        pdnn_yaml_fail(values, reader->err, "values has %zu words, at most %d", values->count, WORDS_MAX);
    else if (pdnn_reader_is(reader, values, PDNN_YAML_LIST, "values"))
        for (const struct pdnn_yaml *item = values->first; item; item = item->next)
            if (pdnn_reader_is(reader, item, PDNN_YAML_SCALAR, "a word of values") && is_word(reader, item))
                texts[count++] = item->text;
    return texts;
}

/* One end of "1..4096", in millionths for a decimal. */
static bool parse_end(const char *text, size_t length, bool is_decimal_axis, int64_t *end) {
    char copy[40];
    struct pdnn_rational number;
    if (length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = 0;
    if (!pdnn_rational_parse(copy, &number) ||
        (is_decimal_axis && !pdnn_rational_multiply(number, pdnn_rational_whole(PDNN_MILLION), &number)) ||
        !pdnn_rational_is_whole(number))
        return false;
    *end = number.numerator;
    return true;
}

static void read_range(const struct pdnn_reader *reader, const struct pdnn_yaml *row,
                       struct pdnn_definition_axis *axis) {
    const struct pdnn_yaml *range = pdnn_yaml_find(row, "range");
    if (axis->choices || pdnn_reader_failed(reader))
        return;
    if (!range) {
        pdnn_yaml_fail(row->key, reader->err, "axis %s has no range, such as 'range: 1..4096'", axis->name);
        return;
    }
    const char *dots = strstr(range->text, "..");
    const bool is_fine =
        dots &&
        parse_end(range->text, (size_t)(dots - range->text), axis->type == PDNN_AXIS_DECIMAL, &axis->min) &&
        parse_end(dots + 2, strlen(dots + 2), axis->type == PDNN_AXIS_DECIMAL, &axis->max);
    if (!is_fine || axis->min > axis->max)
        pdnn_yaml_fail(range, reader->err, "range of %s is '%.40s', expected LOW..HIGH", axis->name,
                       range->text);
    else if (axis->type == PDNN_AXIS_LIST && axis->max > PDNN_LIST_NUMBER_MAX)
        pdnn_yaml_fail(range, reader->err, "range of %s ends at %s, numbers of lists at most at %d",
                       axis->name, dots + 2, PDNN_LIST_NUMBER_MAX);
    else if (axis->type == PDNN_AXIS_DECIMAL && axis->max > PDNN_DECIMAL_MAX)
        pdnn_yaml_fail(range, reader->err, "range of %s ends at %s, decimal numbers at most at 999999999",
                       axis->name, dots + 2);
}

static bool names_axes(const struct pdnn_expression *expression) {
    bool names = expression->kind == PDNN_EXPRESSION_NAME;
    for (size_t i = 0; i < expression->n_operands && !names; i++)
        names = names_axes(expression->operands[i]);
    return names;
}

/* As a spec has it: "3-4-6-3" of a list. */
static const char *example_of(const struct pdnn_reader *reader, const struct pdnn_yaml *fallback) {
    const char *text = fallback->text;
    for (const struct pdnn_yaml *one = fallback->first; one; one = one->next)
        text = pdnn_arena_printf(reader->arena, "%s%s%s", text, *text ? "-" : "", one->text);
    return text;
}

static void read_default(const struct pdnn_reader *reader, const struct pdnn_yaml *fallback,
                         struct pdnn_definition_axis *axis) {
    if (axis->choices) {
        size_t at = 0;
        while (axis->choices[at] && strcmp(axis->choices[at], fallback->text) != 0)
            at++;
        if (!axis->choices[at]) {
            struct pdnn_str all = {0};
            for (size_t i = 0; i < at; i++)
                pdnn_str_printf(&all, "%s%s", i ? ", " : "", axis->choices[i]);
            pdnn_yaml_fail(fallback, reader->err, "default '%.40s' of %s is none of %s", fallback->text,
                           axis->name, pdnn_str_text(&all));
            pdnn_str_finish(&all);
        }
        axis->fallback = pdnn_reader_word(reader, fallback->text, pdnn_reader_place(fallback));
        return;
    }
    if (axis->type == PDNN_AXIS_LIST && fallback->kind == PDNN_YAML_SCALAR &&
        strcmp(fallback->text, "none") == 0)
        return;
    axis->fallback = pdnn_reader_expression(reader, fallback);
    if (axis->fallback && !axis->word && names_axes(axis->fallback))
        axis->word = example_of(reader, fallback);
}

/* How many numbers of a list. */
static int read_count(const struct pdnn_reader *reader, const struct pdnn_yaml *row, const char *key,
                      int usual) {
    const char *text = pdnn_reader_text(reader, row, key);
    int64_t number = usual;
    if (text && (!pdnn_parse_i64(text, &number) || number < 1 || number > PDNN_LIST_MAX))
        pdnn_yaml_fail(pdnn_yaml_find(row, key), reader->err, "%s is '%.40s', expected 1 to %d", key, text,
                       PDNN_LIST_MAX);
    return (int)number;
}

static void read_axis(const struct pdnn_reader *reader, const struct pdnn_yaml *row,
                      struct pdnn_definition_axis *axis) {
    const char *what = pdnn_arena_printf(reader->arena, "axis %s", row->key->text);
    const struct pdnn_yaml *fallback, *values = NULL;
    if (!pdnn_reader_is_name(reader, row->key, "axis") || !pdnn_reader_keys(reader, row, what, axis_keys))
        return;
    fallback = pdnn_yaml_find(row, "default");
    values = pdnn_yaml_find(row, "values");
    *axis = (struct pdnn_definition_axis){.name = row->key->text, .place = pdnn_reader_place(row->key)};
    if (!fallback) {
        pdnn_yaml_fail(row->key, reader->err, "axis %s has no default", axis->name);
        return;
    }
    axis->type = type_of(reader, row, fallback);
    axis->help = pdnn_reader_text(reader, row, "help");
    axis->help = axis->help ? axis->help : "";
    axis->unit = pdnn_reader_text(reader, row, "unit");
    axis->column = pdnn_reader_text(reader, row, "column");
    axis->word = pdnn_reader_text(reader, row, "word");
    axis->example = pdnn_reader_text(reader, row, "example");
    axis->is_input = pdnn_reader_switch(reader, row, "input", false);
    axis->least = read_count(reader, row, "least", 1);
    axis->equal = read_count(reader, row, "equal", 0);
    if (axis->type == PDNN_AXIS_SWITCH)
        axis->choices = pdnn_switch_words;
    else if (axis->type == PDNN_AXIS_CHOICE && values)
        axis->choices = read_values(reader, values);
    else if (axis->type == PDNN_AXIS_CHOICE)
        pdnn_yaml_fail(row->key, reader->err, "axis %s has no values, such as 'values: [pre, post]'",
                       axis->name);
    read_range(reader, row, axis);
    if (!pdnn_reader_failed(reader))
        read_default(reader, fallback, axis);
    axis->when = pdnn_reader_optional(reader, row, "when");
    if (!axis->example)
        axis->example = example_of(reader, fallback);
}

const struct pdnn_definition_axis *pdnn_family_axes(const struct pdnn_reader *reader,
                                                    const struct pdnn_yaml *map, size_t *count) {
    struct pdnn_definition_axis *axes = pdnn_arena_alloc(reader->arena, map->count + 1, sizeof *axes);
    *count = 0;
    if (!pdnn_reader_is(reader, map, PDNN_YAML_MAP, "axes"))
        return axes;
    for (const struct pdnn_yaml *row = map->first; row && !pdnn_reader_failed(reader); row = row->next)
        read_axis(reader, row, &axes[(*count)++]);
    return axes;
}

static int64_t read_claim(const struct pdnn_reader *reader, const struct pdnn_yaml *preset, const char *key) {
    const struct pdnn_yaml *node = pdnn_yaml_find(preset, key);
    int64_t number = -1;
    if (node && (!pdnn_parse_i64(node->text, &number) || number < 0))
        pdnn_yaml_fail(node, reader->err, "%s is '%.40s', expected a whole number", key, node->text);
    return number;
}

/* [3, 4, 6, 3] as an id has it: 3-4-6-3. */
static void put_value(const struct pdnn_yaml *value, struct pdnn_str *out) {
    if (value->kind == PDNN_YAML_SCALAR)
        pdnn_str_printf(out, "%s", value->text);
    for (const struct pdnn_yaml *item = value->first; item; item = item->next)
        pdnn_str_printf(out, "%s%s", item == value->first ? "" : "-", item->text);
}

static void read_preset(const struct pdnn_reader *reader, const struct pdnn_yaml *row,
                        struct pdnn_definition_preset *preset) {
    struct pdnn_str values = {0};
    if (!pdnn_reader_is(reader, row, PDNN_YAML_MAP, "a preset"))
        return;
    preset->name = row->key->text;
    preset->place = pdnn_reader_place(row->key);
    preset->params = read_claim(reader, row, "params");
    preset->macs = read_claim(reader, row, "macs");
    preset->help = pdnn_reader_text(reader, row, "help");
    preset->help = preset->help ? preset->help : "";
    for (const struct pdnn_yaml *value = row->first; value; value = value->next) {
        const char *key = value->key->text;
        if (strcmp(key, "params") == 0 || strcmp(key, "macs") == 0 || strcmp(key, "help") == 0)
            continue;
        pdnn_str_printf(&values, "%s%s=", values.length ? "," : "", key);
        put_value(value, &values);
    }
    preset->values = pdnn_arena_strdup(reader->arena, pdnn_str_text(&values));
    pdnn_str_finish(&values);
}

const struct pdnn_definition_preset *pdnn_family_presets(const struct pdnn_reader *reader,
                                                         const struct pdnn_yaml *map, size_t *count) {
    struct pdnn_definition_preset *presets;
    *count = 0;
    if (!map || !pdnn_reader_is(reader, map, PDNN_YAML_MAP, "presets"))
        return NULL;
    presets = pdnn_arena_alloc(reader->arena, map->count + 1, sizeof *presets);
    for (const struct pdnn_yaml *row = map->first; row && !pdnn_reader_failed(reader); row = row->next)
        read_preset(reader, row, &presets[(*count)++]);
    return presets;
}
