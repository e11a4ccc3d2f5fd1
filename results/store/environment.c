#define _POSIX_C_SOURCE 200809L
/* environment.yaml: one `key: value` per line. Text is always in double quotes, so that any YAML reader and
 * the few lines below read the same value. */
#include "base/file.h"
#include "results/store/tables.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { ENVIRONMENT_LIMIT_BYTES = 1 << 20 };

/* The escapes of YAML's double quotes. Bytes above 0x7f are UTF-8 and stay as they are. */
static void append_quoted(struct pdnn_str *out, const char *text) {
    pdnn_str_append(out, "\"", 1);
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte == '"' || byte == '\\')
            pdnn_str_printf(out, "\\%c", byte);
        else if (byte < 0x20 || byte == 0x7f)
            pdnn_str_printf(out, "\\x%02x", byte);
        else
            pdnn_str_append(out, text, 1);
    }
    pdnn_str_append(out, "\"", 1);
}

/* Appends the value as it is written in the file. */
static void append_value(struct pdnn_str *out, const struct pdnn_fact *fact) {
    if (fact->type == PDNN_FACT_TEXT)
        append_quoted(out, fact->text ? fact->text : "");
    else if (fact->type == PDNN_FACT_WHOLE)
        pdnn_str_append_i64(out, fact->whole);
    else
        pdnn_number_format(out, fact->number, PDNN_DIGITS_EXACT);
}

enum pdnn_status pdnn_environment_write(const struct pdnn_folder *folder, const struct pdnn_fact *facts,
                                        size_t n_facts, struct pdnn_err *err) {
    struct pdnn_str text = {0};
    pdnn_str_printf(
        &text,
        "# What the machine and the software were. Lines marked # identity must be the same for a sweep to "
        "go on here.\n");
    for (size_t i = 0; i < n_facts; i++) {
        pdnn_str_printf(&text, "%s: ", facts[i].key);
        append_value(&text, &facts[i]);
        pdnn_str_printf(&text, "%s\n", facts[i].identity ? " # identity" : "");
    }
    enum pdnn_status status =
        pdnn_folder_replace(folder, "environment.yaml", pdnn_str_text(&text), text.length, err);
    pdnn_str_finish(&text);
    return status;
}

/* A line that is a fact, in the file's text. */
struct line {
    const char *key, *value; /* the value as written, with its quotes and escapes */
    size_t key_length, value_length;
    bool is_identity;
};

/* Takes the next such line; false after the last one. */
static bool next_line(const char **at, struct line *line) {
    static const char mark[] = " # identity";
    while (**at) {
        const char *text = *at;
        size_t length = strcspn(text, "\n"), key = strcspn(text, ":\n"), mark_length = strlen(mark);
        *at += length + (text[length] == '\n');
        if (*text == '#' || strncmp(text + key, ": ", 2) != 0)
            continue;
        size_t rest = length - key - 2;
        bool is_identity = rest >= mark_length && memcmp(text + length - mark_length, mark, mark_length) == 0;
        *line = (struct line){text, text + key + 2, key, rest - (is_identity ? mark_length : 0), is_identity};
        return true;
    }
    return false;
}

static bool has_value(const struct line *line, const char *value, size_t length) {
    return line->value_length == length && memcmp(line->value, value, length) == 0;
}

static bool find(const char *text, const char *key, size_t length, struct line *line) {
    while (next_line(&text, line))
        if (line->key_length == length && memcmp(line->key, key, length) == 0)
            return true;
    return false;
}

/* Undoes append_quoted; text without quotes is copied. */
static void append_plain(struct pdnn_str *out, const struct line *line) {
    const char *value = line->value;
    if (*value != '"') {
        pdnn_str_append(out, value, line->value_length);
        return;
    }
    for (value++; value < line->value + line->value_length && *value != '"'; value++) {
        char byte = *value;
        if (byte == '\\' && value[1] == 'x' && value[2] && value[3]) {
            byte = (char)strtol((char[]){value[2], value[3], 0}, NULL, 16);
            value += 3;
        } else if (byte == '\\' && value[1]) {
            byte = *++value;
        }
        pdnn_str_append(out, &byte, 1);
    }
}

enum pdnn_status pdnn_environment_read(const char *directory, char **text, struct pdnn_err *err) {
    char path[PDNN_FOLDER_TEXT];
    *text = NULL;
    if (!pdnn_path_join(path, directory, "environment.yaml"))
        return pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", directory);
    return pdnn_path_has(directory, "environment.yaml") || errno != ENOENT
               ? pdnn_file_read(path, ENVIRONMENT_LIMIT_BYTES, text, NULL, err)
               : PDNN_OK;
}

enum pdnn_status pdnn_environment_check(const char *directory, const struct pdnn_fact *facts, size_t n_facts,
                                        struct pdnn_err *err) {
    char *text;
    struct pdnn_str now = {0};
    enum pdnn_status status = pdnn_environment_read(directory, &text, err);
    if (status != PDNN_OK || !text)
        return status;
    for (size_t i = 0; status == PDNN_OK && i < n_facts; i++) {
        const struct pdnn_fact *fact = &facts[i];
        struct line before;
        pdnn_str_clear(&now);
        append_value(&now, fact);
        bool is_there = find(text, fact->key, strlen(fact->key), &before),
             is_same = is_there && has_value(&before, pdnn_str_text(&now), now.length);
        /* Directories of earlier versions lack some variables. */
        bool is_unknown = !is_there && fact->variable;
        const char *build = strstr(pdnn_str_text(&now), ", build "); /* which they do not say either */
        const size_t version = build ? (size_t)(build - pdnn_str_text(&now)) : 0;
        is_same = is_same || (is_there && build && before.value_length == version + 1 &&
                              memcmp(before.value, pdnn_str_text(&now), version) == 0);
        if (fact->identity && !is_same && !is_unknown)
            status = pdnn_fail(
                err, PDNN_INVALID,
                "%s/environment.yaml: %s was %.*s and is %s now; one directory holds one machine and setup, use another with -o",
                directory, fact->variable ? fact->variable : fact->key,
                is_there ? (int)before.value_length : INT_MAX, is_there ? before.value : "not said",
                pdnn_str_text(&now));
    }
    pdnn_str_finish(&now);
    free(text);
    return status;
}

void pdnn_environment_get(const char *directory, const char *key, struct pdnn_str *value) {
    char *text;
    if (pdnn_environment_read(directory, &text, NULL) != PDNN_OK || !text)
        return;
    pdnn_environment_value(text, key, value);
    free(text);
}

void pdnn_environment_value(const char *text, const char *key, struct pdnn_str *value) {
    struct line line;
    if (find(text, key, strlen(key), &line))
        append_plain(value, &line);
}

uint64_t pdnn_environment_count(const char *text, const char *key) {
    struct pdnn_str value = {0};
    pdnn_environment_value(text, key, &value);
    const uint64_t count = strtoull(pdnn_str_text(&value), NULL, 10);
    pdnn_str_finish(&value);
    return count;
}

/* Takes the next line whose fact has another value there, and that one. */
static bool next_difference(const char **one, const char *other, struct line *line, struct line *there) {
    while (next_line(one, line))
        if (find(other, line->key, line->key_length, there) &&
            !has_value(line, there->value, there->value_length))
            return true;
    return false;
}

bool pdnn_environment_differs(const char *one, const char *other, struct pdnn_str *key,
                              struct pdnn_str *values) {
    struct line line, there;
    while (next_difference(&one, other, &line, &there)) {
        if (!line.is_identity)
            continue;
        pdnn_str_append(key, line.key, line.key_length);
        pdnn_str_printf(values, "%.*s and %.*s", (int)line.value_length, line.value, (int)there.value_length,
                        there.value);
        return true;
    }
    return false;
}

bool pdnn_environment_next(const char **one, const char *other, struct pdnn_fact_difference *differing) {
    struct line line, there;
    if (!next_difference(one, other, &line, &there))
        return false;
    pdnn_str_clear(&differing->key);
    pdnn_str_append(&differing->key, line.key, line.key_length);
    pdnn_str_clear(&differing->one);
    append_plain(&differing->one, &line);
    pdnn_str_clear(&differing->other);
    append_plain(&differing->other, &there);
    return true;
}

/* Appends what the list lacks of the value, which in a merged directory is a list too. */
static void add_distinct(struct pdnn_str *list, const char *value) {
    const char *part;
    for (size_t length; (part = pdnn_part_next(&value, PDNN_FACTS_SEPARATOR, &length));)
        if (!pdnn_parts_have(pdnn_str_text(list), PDNN_FACTS_SEPARATOR, part, length))
            pdnn_str_printf(list, "%s%.*s", PDNN_FACTS_SEPARATOR, (int)length, part);
}

void pdnn_environment_join(const char *const *texts, size_t n_texts, struct pdnn_str *out) {
    struct pdnn_str value = {0}, list = {0};
    struct line line, there;
    pdnn_str_printf(out, "# What the machines of a merged directory and their software were.\n");
    for (const char *at = texts[0]; next_line(&at, &line);) {
        bool is_same = true;
        pdnn_str_clear(&list);
        append_plain(&list, &line);
        for (size_t i = 1; i < n_texts; i++) {
            pdnn_str_clear(&value);
            if (find(texts[i], line.key, line.key_length, &there))
                append_plain(&value, &there);
            is_same = is_same && strcmp(pdnn_str_text(&value), pdnn_str_text(&list)) == 0;
            if (!is_same)
                add_distinct(&list, pdnn_str_text(&value));
        }
        pdnn_str_append(out, line.key, line.key_length);
        pdnn_str_append(out, ": ", 2);
        if (is_same)
            pdnn_str_append(out, line.value, line.value_length);
        else
            append_quoted(out, pdnn_str_text(&list));
        pdnn_str_printf(out, "%s\n", line.is_identity ? " # identity" : "");
    }
    pdnn_str_finish(&value);
    pdnn_str_finish(&list);
}

void pdnn_environment_follow(const char *directory, struct pdnn_fact *facts, size_t n_facts,
                             struct pdnn_arena *arena, struct pdnn_str *said) {
    for (size_t i = 0; i < n_facts; i++) {
        struct pdnn_str values = {0};
        if (facts[i].varies)
            pdnn_environment_get(directory, facts[i].key, &values);
        if (values.length && *facts[i].text && strcmp(values.text, facts[i].text) != 0) {
            pdnn_str_printf(said, "%s%s was %s and is %s now", said->length ? "; " : "", facts[i].key,
                            values.text, facts[i].text);
            add_distinct(&values, facts[i].text);
            facts[i].text = pdnn_arena_strdup(arena, values.text);
        }
        pdnn_str_finish(&values);
    }
}
