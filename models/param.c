#include "models/param.h"

#include "base/str.h"
#include "base/units.h"

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

int pdnn_list_length(int64_t list) {
    if (list < 0)
        return 0;
    int length = 1;
    for (; list >= PDNN_LIST_BASE; list /= PDNN_LIST_BASE)
        length++;
    return length;
}

int64_t pdnn_list_at(int64_t list, int i) {
    if (list < PDNN_LIST_BASE)
        return list;
    for (; i > 0 && list >= PDNN_LIST_BASE; i--)
        list = list / PDNN_LIST_BASE - 1;
    return list % PDNN_LIST_BASE;
}

int64_t pdnn_list_pack(const int64_t *numbers, int n) {
    assert(n >= 1 && n <= PDNN_LIST_MAX);
    int64_t list = numbers[n - 1];
    for (int i = n - 1; i-- > 0;)
        list = PDNN_LIST_PUT(numbers[i], list);
    return list;
}

int64_t pdnn_list_take(int64_t list, int n) {
    int64_t numbers[PDNN_LIST_MAX];
    for (int i = 0; i < n; i++)
        numbers[i] = pdnn_list_at(list, i);
    return list < 0 ? list : pdnn_list_pack(numbers, n);
}

int64_t pdnn_list_trim(int64_t list, int least) {
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
    const char *list = def->type != PDNN_PARAM_LIST ? ""
                       : def->word                  ? ", a list such as 3-4-6-3"
                                                    : " or a list such as 3-4-6-3";
    return pdnn_fail(err, PDNN_INVALID, "%s is '%.40s', expected a whole number%s%s%s%s", def->name, text,
                     list, def->word ? " or '" : "", def->word ? def->word : "", def->word ? "'" : "");
}

/* Two numbers or more with '-' between. */
static enum pdnn_status parse_list(const struct pdnn_param_def *def, const char *text, int64_t *value,
                                   struct pdnn_err *err) {
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
        *value = pdnn_list_pack(numbers, n);
    else
        pdnn_wrap(err, "'%.60s'", text);
    return status;
}

enum pdnn_status pdnn_param_parse(const struct pdnn_param_def *def, const char *text, int64_t *value,
                                  struct pdnn_err *err) {
    if (def->type == PDNN_PARAM_CHOICE) {
        for (size_t i = 0; def->choices[i]; i++) {
            if (strcmp(def->choices[i], text) == 0) {
                *value = (int64_t)i;
                return PDNN_OK;
            }
        }
        return unknown_choice(def, text, err);
    }
    if (def->word && strcmp(def->word, text) == 0) {
        *value = def->word_value;
        return PDNN_OK;
    }
    int64_t number;
    if (!pdnn_parse_i64(text, &number)) {
        bool has_more = def->type == PDNN_PARAM_LIST && strchr(text, '-');
        return has_more ? parse_list(def, text, value, err) : not_a_number(def, text, err);
    }
    enum pdnn_status status = pdnn_param_check_number(def, number, err);
    if (status == PDNN_OK)
        *value = number;
    return status;
}

enum pdnn_status pdnn_param_check_number(const struct pdnn_param_def *def, int64_t number,
                                         struct pdnn_err *err) {
    if (number >= def->min && number <= def->max)
        return PDNN_OK;
    return pdnn_fail(err, PDNN_INVALID, "%s is %" PRId64 ", expected %" PRId64 " to %" PRId64, def->name,
                     number, def->min, def->max);
}

enum pdnn_status pdnn_param_check(const struct pdnn_param_def *def, int64_t value, struct pdnn_err *err) {
    if (def->type == PDNN_PARAM_CHOICE) {
        if (value >= 0 && (uint64_t)value < count_choices(def))
            return PDNN_OK;
        return pdnn_fail(err, PDNN_INVALID, "%s has no choice number %" PRId64, def->name, value);
    }
    if (def->word && value == def->word_value)
        return PDNN_OK;
    if (def->type == PDNN_PARAM_INT || value < 0)
        return pdnn_param_check_number(def, value, err);
    enum pdnn_status status = PDNN_OK;
    for (int i = 0; i < pdnn_list_length(value) && status == PDNN_OK; i++)
        status = pdnn_param_check_number(def, pdnn_list_at(value, i), err);
    return status;
}

const char *pdnn_param_format(const struct pdnn_param_def *def, int64_t value, char buffer[PDNN_PARAM_TEXT]) {
    if (def->type == PDNN_PARAM_CHOICE)
        return def->choices[value];
    if (def->word && value == def->word_value)
        return def->word;
    int used = snprintf(buffer, PDNN_PARAM_TEXT, "%" PRId64,
                        def->type == PDNN_PARAM_LIST ? pdnn_list_at(value, 0) : value);
    for (int i = 1; def->type == PDNN_PARAM_LIST && i < pdnn_list_length(value); i++)
        used += snprintf(buffer + used, PDNN_PARAM_TEXT - (size_t)used, "-%" PRId64, pdnn_list_at(value, i));
    return buffer;
}
