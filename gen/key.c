#include "gen/key.h"

#include "base/file.h"
#include "base/units.h"
#include "models/param.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { KEYS_MAX = 40 };

enum pdnn_status pdnn_key_check_map(const struct pdnn_yaml *node, const char *what, struct pdnn_err *err) {
    if (node->kind != PDNN_YAML_MAP)
        return pdnn_yaml_fail(node, err, "%s takes a map of key: value, not %s", what,
                              pdnn_yaml_kind_name(node));
    return PDNN_OK;
}

enum pdnn_status pdnn_key_check_scalar(const struct pdnn_yaml *value, const char *name,
                                       struct pdnn_err *err) {
    if (value->kind != PDNN_YAML_SCALAR)
        return pdnn_yaml_fail(value, err, "%.60s takes a single value, not %s", name,
                              pdnn_yaml_kind_name(value));
    if (pdnn_yaml_is_null(value))
        return pdnn_yaml_fail(value, err, "%.60s has no value", name);
    return PDNN_OK;
}

const char *pdnn_key_path(const struct pdnn_yaml *value, struct pdnn_arena *arena) {
    const bool is_in_file = value->line && pdnn_file_descriptor(value->file) < 0;
    const char *slash = is_in_file && *value->text != '/' ? strrchr(value->file, '/') : NULL;
    return pdnn_arena_printf(arena, "%.*s%s", slash ? (int)(slash - value->file) + 1 : 0, value->file,
                             value->text);
}

enum pdnn_status pdnn_key_unknown(const struct pdnn_yaml *key, const struct pdnn_key_unknown *unknown,
                                  struct pdnn_err *err) {
    char buffer[PDNN_SUGGESTION_TEXT], all[384] = "";
    const char *hint = *unknown->place
                           ? unknown->place
                           : pdnn_param_suggest(buffer, key->text, unknown->words, unknown->n_words);
    size_t used = 0;
    for (size_t i = 0; i < unknown->n_listed && used < sizeof all; i++)
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s%s%s", i ? ", " : ", the ",
                                 i               ? ""
                                 : unknown->kind ? unknown->kind
                                                 : "keys",
                                 i ? "" : " are ", unknown->words[i]);
    return pdnn_yaml_fail(key, err, "unknown key '%.60s' in %s%s", key->text, unknown->what,
                          *hint ? hint : all);
}

const struct pdnn_key_def *pdnn_key_find(const struct pdnn_key_table *table, const char *name) {
    for (size_t i = 0; i < table->n_keys; i++) {
        if (strcmp(table->keys[i].name, name) == 0)
            return &table->keys[i];
    }
    return NULL;
}

static enum pdnn_status unknown_row(const struct pdnn_yaml *key, const struct pdnn_key_table *table,
                                    struct pdnn_err *err) {
    const char *words[KEYS_MAX];
    char place[PDNN_PLACE_TEXT] = "";
    struct pdnn_key_unknown unknown = {.what = table->name, .place = place, .words = words};
    for (; unknown.n_words < table->n_keys && unknown.n_words < KEYS_MAX; unknown.n_words++)
        words[unknown.n_words] = table->keys[unknown.n_words].name;
    unknown.n_listed = unknown.n_words;
    if (table->place)
        table->place(place, key->text);
    return pdnn_key_unknown(key, &unknown, err);
}

void pdnn_keys_default(const struct pdnn_key_table *table, void *target) {
    for (size_t i = 0; i < table->n_keys; i++) {
        const struct pdnn_key_def *key = &table->keys[i];
        const struct pdnn_yaml value = {.kind = PDNN_YAML_SCALAR, .file = "default", .text = key->fallback};
        enum pdnn_status status = key->fallback ? key->read(key, &value, target, NULL) : PDNN_OK;
        assert(status == PDNN_OK);
        (void)status;
    }
}

enum pdnn_status pdnn_keys_read(const struct pdnn_yaml *node, const struct pdnn_key_table *table,
                                void *target, struct pdnn_err *err) {
    enum pdnn_status status = pdnn_key_check_map(node, table->name, err);
    for (const struct pdnn_yaml *child = node->first; child && status == PDNN_OK; child = child->next) {
        const struct pdnn_key_def *key = pdnn_key_find(table, child->key->text);
        if (!key)
            return unknown_row(child->key, table, err);
        status = key->read(key, child, target, err);
    }
    return status;
}

void pdnn_key_values_format(struct pdnn_str *out, const struct pdnn_key_def *key) {
    if (key->values)
        pdnn_str_printf(out, "%s", key->values);
    else if (key->read == pdnn_key_read_i64)
        pdnn_str_printf(out, "%" PRId64 "..%" PRId64, key->min, key->max);
    else if (key->read == pdnn_key_read_switch)
        pdnn_str_printf(out, "on, off");
    else if (key->read == pdnn_key_read_percent)
        pdnn_str_printf(out, "above 0%% and up to 100%%");
    else if (key->read == pdnn_key_read_time)
        pdnn_str_printf(out, "a time such as 500ms, 5s, 10m or 2h");
    for (const char *const *word = key->words; word && *word; word++)
        pdnn_str_printf(out, "%s%s", word == key->words ? "" : ", ", *word);
}

enum pdnn_status pdnn_key_expected(const struct pdnn_key_def *key, const struct pdnn_yaml *value,
                                   const char *what, struct pdnn_err *err) {
    return pdnn_yaml_fail(value, err, "%s is '%.60s', expected %s (%s)", key->name, value->text, what,
                          key->help);
}

static void *place_of(const struct pdnn_key_def *key, void *target) {
    return (char *)target + key->offset;
}

enum pdnn_status pdnn_key_read_node(const struct pdnn_key_def *key, const struct pdnn_yaml *value,
                                    void *target, struct pdnn_err *err) {
    (void)err;
    *(const struct pdnn_yaml **)place_of(key, target) = value;
    return PDNN_OK;
}

enum pdnn_status pdnn_key_read_i64(const struct pdnn_key_def *key, const struct pdnn_yaml *value,
                                   void *target, struct pdnn_err *err) {
    enum pdnn_status status = pdnn_key_check_scalar(value, key->name, err);
    if (status != PDNN_OK)
        return status;
    int64_t number;
    if (pdnn_parse_whole(value->text, &number) != PDNN_NUMBER_WHOLE || number < key->min ||
        number > key->max) {
        char what[96];
        snprintf(what, sizeof what, "a whole number from %" PRId64 " to %" PRId64, key->min, key->max);
        return pdnn_key_expected(key, value, what, err);
    }
    *(int64_t *)place_of(key, target) = number;
    return PDNN_OK;
}

/* Index of the value among words, or -1 with the error set. */
static int find_word(const struct pdnn_key_def *key, const struct pdnn_yaml *value, const char *const *words,
                     struct pdnn_err *err) {
    if (pdnn_key_check_scalar(value, key->name, err) != PDNN_OK)
        return -1;
    char buffer[PDNN_SUGGESTION_TEXT], all[128] = "";
    int count = 0;
    for (; words[count]; count++) {
        if (strcmp(words[count], value->text) == 0)
            return count;
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", count ? ", " : "", words[count]);
    }
    const char *hint = pdnn_param_suggest(buffer, value->text, words, (size_t)count);
    pdnn_yaml_fail(value, err, "%s is '%.60s'%s expected one of %s (%s)", key->name, value->text,
                   *hint ? hint : ",", all, key->help);
    return -1;
}

enum pdnn_status pdnn_key_read_word(const struct pdnn_key_def *key, const struct pdnn_yaml *value,
                                    void *target, struct pdnn_err *err) {
    int index = find_word(key, value, key->words, err);
    if (index < 0)
        return PDNN_INVALID;
    *(int *)place_of(key, target) = index;
    return PDNN_OK;
}

enum pdnn_status pdnn_key_read_switch(const struct pdnn_key_def *key, const struct pdnn_yaml *value,
                                      void *target, struct pdnn_err *err) {
    static const char *const words[] = {"off", "on", "no", "yes", "false", "true", NULL};
    int index = find_word(key, value, words, err);
    if (index < 0)
        return PDNN_INVALID;
    *(bool *)place_of(key, target) = index % 2 == 1;
    return PDNN_OK;
}

enum pdnn_status pdnn_key_read_percent(const struct pdnn_key_def *key, const struct pdnn_yaml *value,
                                       void *target, struct pdnn_err *err) {
    enum pdnn_status status = pdnn_key_check_scalar(value, key->name, err);
    if (status != PDNN_OK)
        return status;
    double fraction;
    if (!pdnn_parse_percent(value->text, &fraction) || !(fraction > 0 && fraction <= 1))
        return pdnn_key_expected(key, value, "a percentage above 0% and up to 100%", err);
    *(double *)place_of(key, target) = fraction;
    return PDNN_OK;
}

enum pdnn_status pdnn_key_read_time(const struct pdnn_key_def *key, const struct pdnn_yaml *value,
                                    void *target, struct pdnn_err *err) {
    enum pdnn_status status = pdnn_key_check_scalar(value, key->name, err);
    if (status != PDNN_OK)
        return status;
    uint64_t ns;
    if (!pdnn_parse_time_ns(value->text, &ns) || !ns)
        return pdnn_key_expected(key, value, "a time with its unit, such as 500ms, 5s or 2h", err);
    *(uint64_t *)place_of(key, target) = ns;
    return PDNN_OK;
}
