#include "models/param.h"

#include "base/str.h"
#include "base/units.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

bool pdnn_value_equal(struct pdnn_value a, struct pdnn_value b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

int pdnn_list_length(struct pdnn_value list) {
    return list.number < 0 ? 0 : 1 + (int)list.n_more;
}

int64_t pdnn_list_at(struct pdnn_value list, int i) {
    int last = i < list.n_more ? i : (int)list.n_more;
    return last ? list.more[last - 1] : list.number;
}

struct pdnn_value pdnn_list_make(const int64_t *numbers, int n) {
    assert(n >= 1 && n <= PDNN_LIST_MAX);
    struct pdnn_value list = {.number = numbers[0], .n_more = n - 1};
    for (int i = 1; i < n; i++)
        list.more[i - 1] = numbers[i];
    return list;
}

struct pdnn_value pdnn_list_take(struct pdnn_value list, int n) {
    int64_t numbers[PDNN_LIST_MAX];
    for (int i = 0; i < n; i++)
        numbers[i] = pdnn_list_at(list, i);
    return list.number < 0 ? list : pdnn_list_make(numbers, n);
}

struct pdnn_value pdnn_list_trim(struct pdnn_value list, int least) {
    int n = pdnn_list_length(list);
    while (n > least && n > 1 && pdnn_list_at(list, n - 1) == pdnn_list_at(list, n - 2))
        n--;
    return pdnn_list_take(list, n);
}

int pdnn_param_find(const struct pdnn_param_def *defs, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(defs[i].name, name) == 0)
            return (int)i;
    }
    return -1;
}

static size_t count_choices(const struct pdnn_param_def *def) {
    size_t count = 0;
    while (def->choices[count])
        count++;
    return count;
}

/* YAML's other words for yes and no, in Python's and R's case too. */
static bool is_switch(const struct pdnn_param_def *def, const char *text, struct pdnn_value *value) {
    static const char *const words[][2] = {{"true", "yes"}, {"on", "yes"}, {"false", "no"}, {"off", "no"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (size_t k = 0; strcasecmp(text, words[i][0]) == 0 && def->choices[k]; k++)
            if (strcmp(def->choices[k], words[i][1]) == 0) {
                *value = pdnn_value_of((int64_t)k);
                return true;
            }
    return false;
}

static enum pdnn_status unknown_choice(const struct pdnn_param_def *def, const char *text,
                                       struct pdnn_err *err) {
    char all[256] = "";
    size_t used = 0;
    for (size_t i = 0; def->choices[i] && used < sizeof all; i++)
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", def->choices[i]);
    char buffer[PDNN_SUGGESTION_TEXT];
    const char *hint = pdnn_suggest(buffer, text, def->choices, count_choices(def));
    return pdnn_fail(err, PDNN_INVALID, "%s is '%.40s'%s%s%s%s", def->name, text, hint,
                     *hint ? " (one of: " : ", expected one of: ", all, *hint ? ")" : "");
}

static enum pdnn_status not_a_number(const struct pdnn_param_def *def, const char *text,
                                     struct pdnn_err *err) {
    const char *dots = strstr(text, "..");
    int64_t low, high;
    char from[24];
    snprintf(from, sizeof from, "%.*s", dots ? (int)(dots - text) : 0, text);
    if (dots && pdnn_parse_i64(from, &low) && pdnn_parse_i64(dots + 2, &high))
        return pdnn_fail(err, PDNN_INVALID,
                         "%s is '%.40s', expected a whole number; a range is {from: %" PRId64 ", to: %" PRId64
                         ", times: 2}, or plus",
                         def->name, text, low, high);
    const char *list = def->type != PDNN_PARAM_LIST ? ""
                       : def->word                  ? ", a list such as 3-4-6-3"
                                                    : " or a list such as 3-4-6-3";
    return pdnn_fail(err, PDNN_INVALID, "%s is '%.40s', expected a whole number%s%s%s%s", def->name, text,
                     list, def->word ? " or '" : "", def->word ? def->word : "", def->word ? "'" : "");
}

/* Two or more numbers separated by '-'. */
static enum pdnn_status parse_list(const struct pdnn_param_def *def, const char *text,
                                   struct pdnn_value *value, struct pdnn_err *err) {
    int64_t numbers[PDNN_LIST_MAX];
    int n = 0;
    enum pdnn_status status = PDNN_OK;
    for (const char *at = text, *end; at && status == PDNN_OK; at = *end ? end + 1 : NULL, n++) {
        char number[24];
        end = at + strcspn(at, "-");
        if (n == PDNN_LIST_MAX)
            return pdnn_fail(err, PDNN_INVALID, "%s is '%.60s', expected up to %d numbers", def->name, text,
                             PDNN_LIST_MAX);
        snprintf(number, sizeof number, "%.*s", (int)(end - at), at);
        if (pdnn_parse_i64(number, &numbers[n]))
            status = pdnn_param_check_number(def, numbers[n], err);
        else
            status = pdnn_fail(err, PDNN_INVALID, "%s is '%s', expected a whole number", def->name, number);
    }
    if (status == PDNN_OK)
        *value = pdnn_list_make(numbers, n);
    else
        pdnn_wrap(err, "'%.60s'", text);
    return status;
}

enum pdnn_status pdnn_param_parse(const struct pdnn_param_def *def, const char *text,
                                  struct pdnn_value *value, struct pdnn_err *err) {
    if (def->type == PDNN_PARAM_CHOICE) {
        for (size_t i = 0; def->choices[i]; i++) {
            if (strcmp(def->choices[i], text) == 0) {
                *value = pdnn_value_of((int64_t)i);
                return PDNN_OK;
            }
        }
        return is_switch(def, text, value) ? PDNN_OK : unknown_choice(def, text, err);
    }
    if (def->word && strcmp(def->word, text) == 0) {
        *value = pdnn_value_of(def->word_value);
        return PDNN_OK;
    }
    char bare[24]; /* without the unit, which may follow */
    size_t length = strlen(text), unit = strlen(pdnn_param_unit(def));
    if (unit && length > unit && length - unit < sizeof bare &&
        strcmp(text + length - unit, def->unit) == 0) {
        snprintf(bare, sizeof bare, "%.*s", (int)(length - unit), text);
        text = bare;
    }
    int64_t number;
    enum pdnn_number_kind kind = pdnn_parse_whole(text, &number);
    if (kind == PDNN_NUMBER_TOO_LARGE)
        return pdnn_fail(err, PDNN_INVALID,
                         "%s is '%.40s', which is too large, expected %" PRId64 " to %" PRId64, def->name,
                         text, def->min, def->max);
    if (kind == PDNN_NUMBER_OTHER) {
        bool has_more = def->type == PDNN_PARAM_LIST && strchr(text, '-');
        return has_more ? parse_list(def, text, value, err) : not_a_number(def, text, err);
    }
    enum pdnn_status status = pdnn_param_check_number(def, number, err);
    if (status == PDNN_OK)
        *value = pdnn_value_of(number);
    return status;
}

enum pdnn_status pdnn_param_check_number(const struct pdnn_param_def *def, int64_t number,
                                         struct pdnn_err *err) {
    if (number >= def->min && number <= def->max)
        return PDNN_OK;
    return pdnn_fail(err, PDNN_INVALID, "%s is %" PRId64 ", expected %" PRId64 " to %" PRId64, def->name,
                     number, def->min, def->max);
}

/* Returns the end. */
static char *put_number(char *at, int64_t number) {
    if (number < 0)
        *at++ = '-';
    return at + pdnn_u64_digits(at, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

const char *pdnn_param_format(const struct pdnn_param_def *def, struct pdnn_value value,
                              char buffer[PDNN_PARAM_TEXT]) {
    if (def->type == PDNN_PARAM_CHOICE)
        return def->choices[value.number];
    if (def->word && value.number == def->word_value)
        return def->word;
    char *end = put_number(buffer, value.number);
    for (int i = 0; i < value.n_more; i++) {
        *end++ = '-';
        end = put_number(end, value.more[i]);
    }
    *end = 0;
    return buffer;
}
