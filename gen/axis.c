#include "gen/axis.h"

#include "gen/language.h"
#include "models/expression/rational.h"

#include <stdlib.h>
#include <string.h>

/* The nodes of a {from, to, plus|times} map. */
struct range {
    const struct pdnn_yaml *from, *to, *plus, *times;
};

static const struct pdnn_key_def range_keys[] = {
    {PDNN_KEY("from", pdnn_key_read_node, struct range, from), .values = "a number",
     .help = "the first value", .example = "fc: {nodes: {from: 128, to: 4096, times: 2}}"},
    {PDNN_KEY("to", pdnn_key_read_node, struct range, to), .values = "a number",
     .help = "the last value, if a step lands on it; none is larger",
     .example = "fc: {nodes: {from: 1, to: 8, plus: 1}}"},
    {PDNN_KEY("plus", pdnn_key_read_node, struct range, plus),
     .values = "1 or more; of decimal numbers, above 0", .help = "what each step adds; or times",
     .example = "fc: {nodes: {from: 200, to: 300, plus: 50}}"},
    {PDNN_KEY("times", pdnn_key_read_node, struct range, times),
     .values = "2 or more; of decimal numbers, above 1", .help = "what each step multiplies by; or plus",
     .example = "fc: {nodes: {from: 16, to: 1024, times: 4}}"},
};

const struct pdnn_key_table pdnn_range_keys = {.name = "a range", PDNN_KEY_ROWS(range_keys)};

/* A plain number, where "all" or a list would make no sense. */
static enum pdnn_status read_number(const struct pdnn_param_def *def, const struct pdnn_yaml *node,
                                    const char *where, int64_t *value, struct pdnn_err *err) {
    enum pdnn_status status = pdnn_key_check_scalar(node, def->name, err);
    if (status != PDNN_OK)
        return status;
    enum pdnn_number_kind kind = pdnn_param_parse_number(def, node->text, value);
    if (kind != PDNN_NUMBER_WHOLE)
        return pdnn_yaml_fail(node, err, "%s has '%.60s' in a %s, %s", def->name, node->text, where,
                              kind == PDNN_NUMBER_TOO_LARGE     ? "which is too large"
                              : def->type == PDNN_PARAM_DECIMAL ? "expected a number with at most 6 digits "
                                                                  "behind the point"
                                                                : "expected a whole number");
    return PDNN_OK;
}

static enum pdnn_status read_checked(const struct pdnn_param_def *def, const struct pdnn_yaml *node,
                                     const char *where, int64_t *value, struct pdnn_err *err) {
    enum pdnn_status status = read_number(def, node, where, value, err);
    if (status == PDNN_OK && pdnn_param_check_number(def, *value, err) != PDNN_OK)
        return pdnn_yaml_wrap(node, err);
    return status;
}

/* [3, 4, 6, 3] as one value. */
static enum pdnn_status read_numbers(const struct pdnn_param_def *def, const struct pdnn_yaml *node,
                                     struct pdnn_value *value, struct pdnn_err *err) {
    int64_t numbers[PDNN_LIST_MAX];
    int n = 0;
    if (!node->count || node->count > PDNN_LIST_MAX)
        return pdnn_yaml_fail(node, err, "%s has a list of %zu numbers as one value, expected 1 to %d",
                              def->name, node->count, PDNN_LIST_MAX);
    for (const struct pdnn_yaml *child = node->first; child; child = child->next) {
        enum pdnn_status status = read_checked(def, child, "list", &numbers[n++], err);
        if (status != PDNN_OK)
            return status;
    }
    *value = pdnn_list_make(numbers, n);
    return PDNN_OK;
}

static enum pdnn_status read_value(const struct pdnn_param_def *def, const struct pdnn_yaml *node,
                                   struct pdnn_value *value, struct pdnn_err *err) {
    if (def->type == PDNN_PARAM_LIST && node->kind == PDNN_YAML_LIST)
        return read_numbers(def, node, value, err);
    enum pdnn_status status = pdnn_key_check_scalar(node, def->name, err);
    if (status != PDNN_OK)
        return status;
    if (pdnn_param_parse(def, node->text, value, err) != PDNN_OK)
        return pdnn_yaml_wrap(node, err);
    return PDNN_OK;
}

enum pdnn_status pdnn_axis_check_once(const struct pdnn_axis *axis, struct pdnn_err *err) {
    char text[PDNN_PARAM_TEXT];
    const struct pdnn_yaml *child = axis->node->first;
    if (!axis->repeat)
        return PDNN_OK;
    for (uint64_t i = 0; i < axis->repeat; i++)
        child = child->next;
    bool is_one = axis->def->type == PDNN_PARAM_LIST && axis->count <= PDNN_LIST_MAX &&
                  !axis->values[axis->repeat].n_more;
    return pdnn_yaml_fail(child, err, "%s has %s twice%s", axis->def->name,
                          pdnn_param_format(axis->def, axis->values[axis->repeat], text),
                          is_one ? ", a list as one value is in brackets of its own: [[3, 4, 6, 3]]" : "");
}

/* Puts equal values beside each other, in the order of the list. */
static int compare_values(const void *a, const void *b) {
    const struct pdnn_value *left = *(const struct pdnn_value *const *)a;
    const struct pdnn_value *right = *(const struct pdnn_value *const *)b;
    int order = memcmp(left, right, sizeof *left);
    return order ? order : (left > right) - (left < right);
}

/* The first value of the list that equals an earlier one; `count` if there is none. Sorts: a spec may have
 * many lists of as many values as are allowed. */
static size_t find_twice(const struct pdnn_value *values, size_t count, struct pdnn_arena *arena) {
    const struct pdnn_value **sorted = pdnn_arena_alloc(arena, count, sizeof *sorted);
    size_t twice = count;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &values[i];
    qsort(sorted, count, sizeof *sorted, compare_values);
    for (size_t i = 1; i < count; i++) {
        size_t at = (size_t)(sorted[i] - values);
        if (at < twice && pdnn_value_equal(*sorted[i - 1], *sorted[i]))
            twice = at;
    }
    return twice;
}

static enum pdnn_status read_list(const struct pdnn_yaml *node, struct pdnn_arena *arena,
                                  struct pdnn_axis *axis, struct pdnn_err *err) {
    if (!node->count)
        return pdnn_yaml_fail(node, err, "%s is an empty list", axis->def->name);
    struct pdnn_value *values = pdnn_arena_alloc(arena, node->count, sizeof *values);
    size_t count = 0;
    for (const struct pdnn_yaml *child = node->first; child; child = child->next) {
        enum pdnn_status status = read_value(axis->def, child, &values[count], err);
        if (status != PDNN_OK)
            return status;
        count++;
    }
    size_t twice = find_twice(values, count, arena);
    axis->repeat = twice < count ? twice : 0;
    axis->count = count;
    axis->values = values;
    return PDNN_OK;
}

static enum pdnn_status read_plus(const struct range *range, int64_t to, struct pdnn_axis *axis,
                                  struct pdnn_err *err) {
    char text[3][PDNN_PARAM_TEXT];
    enum pdnn_status status = read_number(axis->def, range->plus, "range", &axis->plus, err);
    if (status != PDNN_OK)
        return status;
    if (axis->plus <= 0)
        return pdnn_yaml_fail(range->plus, err,
                              "%s steps by plus %s and never gets from %s to %s, expected %s",
                              axis->def->name, pdnn_param_format_number(axis->def, axis->plus, text[0]),
                              pdnn_param_format_number(axis->def, axis->from, text[1]),
                              pdnn_param_format_number(axis->def, to, text[2]),
                              axis->def->type == PDNN_PARAM_DECIMAL ? "more than 0" : "1 or more");
    uint64_t steps = ((uint64_t)to - (uint64_t)axis->from) / (uint64_t)axis->plus;
    if (__builtin_add_overflow(steps, 1, &axis->count))
        return pdnn_yaml_fail(range->plus, err, "%s has more values than can be counted", axis->def->name);
    return PDNN_OK;
}

/* The factor must be above 1, and the first value above 0. */
static enum pdnn_status check_times(const struct range *range, int64_t times, int64_t to,
                                    const struct pdnn_axis *axis, struct pdnn_err *err) {
    const bool is_decimal = axis->def->type == PDNN_PARAM_DECIMAL;
    char text[3][PDNN_PARAM_TEXT];
    if (times > (is_decimal ? PDNN_MILLION : 1) && axis->from > 0)
        return PDNN_OK;
    return pdnn_yaml_fail(
        range->times, err, "%s steps from %s by times %s and never gets to %s, expected times %s from %s",
        axis->def->name, pdnn_param_format_number(axis->def, axis->from, text[0]),
        pdnn_param_format_number(axis->def, times, text[1]), pdnn_param_format_number(axis->def, to, text[2]),
        is_decimal ? "more than 1" : "2 or more", is_decimal ? "more than 0" : "1 or more");
}

/* Every step is exact: a decimal one that has more than six digits behind the point is refused. */
static enum pdnn_status read_times(const struct range *range, int64_t to, struct pdnn_arena *arena,
                                   struct pdnn_axis *axis, struct pdnn_err *err) {
    /* Doublings that fit int64_t. A step by p/q in lowest terms takes a factor q of the first value away. */
    enum { STEPS_MAX = 63 };
    const int64_t scale = axis->def->type == PDNN_PARAM_DECIMAL ? PDNN_MILLION : 1;
    int64_t times;
    char text[PDNN_PARAM_TEXT];
    enum pdnn_status status = read_number(axis->def, range->times, "range", &times, err);
    if (status == PDNN_OK)
        status = check_times(range, times, to, axis, err);
    if (status != PDNN_OK)
        return status;
    struct pdnn_rational factor, value = pdnn_rational_whole(axis->from);
    struct pdnn_value *values = pdnn_arena_alloc(arena, STEPS_MAX, sizeof *values);
    pdnn_rational_make(times, scale, &factor);
    for (bool fits = true; fits && pdnn_rational_is_whole(value) && value.numerator <= to;) {
        values[axis->count++] = pdnn_value_of(value.numerator);
        fits = pdnn_rational_multiply(value, factor, &value);
    }
    axis->values = values;
    const int64_t last = values[axis->count - 1].number;
    if (scale > 1 && !pdnn_rational_is_whole(value) &&
        (double)last * pdnn_param_double(axis->def, times) <= (double)to)
        return pdnn_yaml_fail(
            range->times, err,
            "%s steps from %s by times %s to a number with more than 6 digits behind the point",
            axis->def->name, pdnn_param_format_number(axis->def, last, text), range->times->text);
    return PDNN_OK;
}

static enum pdnn_status read_range(const struct pdnn_yaml *node, struct pdnn_arena *arena,
                                   struct pdnn_axis *axis, struct pdnn_err *err) {
    const char *name = axis->def->name;
    struct range range = {0};
    if (pdnn_param_is_word(axis->def))
        return pdnn_yaml_fail(node, err, "%s takes a word or a list of words, not a range", name);
    enum pdnn_status status = pdnn_keys_read(node, &pdnn_range_keys, &range, err);
    if (status != PDNN_OK)
        return status;
    if (!range.from || !range.to || !range.plus == !range.times)
        return pdnn_yaml_fail(node, err, "%s needs a range with from, to and one of plus and times", name);
    char text[2][PDNN_PARAM_TEXT];
    int64_t to;
    status = read_checked(axis->def, range.from, "range", &axis->from, err);
    if (status == PDNN_OK)
        status = read_checked(axis->def, range.to, "range", &to, err);
    if (status != PDNN_OK)
        return status;
    if (axis->from > to)
        return pdnn_yaml_fail(node, err, "%s has a reversed range, from %s to %s", name,
                              pdnn_param_format_number(axis->def, axis->from, text[0]),
                              pdnn_param_format_number(axis->def, to, text[1]));
    return range.plus ? read_plus(&range, to, axis, err) : read_times(&range, to, arena, axis, err);
}

enum pdnn_status pdnn_axis_read(const struct pdnn_param_def *def, const struct pdnn_yaml *node,
                                struct pdnn_arena *arena, struct pdnn_axis *axis, struct pdnn_err *err) {
    struct pdnn_axis read = {.def = def, .node = node, .index = axis->index, .is_setting = axis->is_setting};
    enum pdnn_status status;
    if (node->kind == PDNN_YAML_LIST) {
        status = read_list(node, arena, &read, err);
    } else if (node->kind == PDNN_YAML_MAP) {
        status = read_range(node, arena, &read, err);
    } else {
        struct pdnn_value *value = pdnn_arena_alloc(arena, 1, sizeof *value);
        read.count = 1;
        read.values = value;
        status = read_value(def, node, value, err);
    }
    if (status == PDNN_OK)
        *axis = read;
    return status;
}
