#define _POSIX_C_SOURCE 200809L
/* environment.yaml: one `key: value` per line. Text is always in double quotes, so that any YAML reader and
 * the few lines below read the same value. */
#include "base/file.h"
#include "results/table/csv.h"
#include "results/store/tables.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { ENVIRONMENT_LIMIT_BYTES = 1 << 20 };

/* JSON's escapes, which are valid in YAML's double quotes too. Bytes above 0x7f
 * are UTF-8 and stay as they are. */
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
    switch (fact->type) {
    case PDNN_FACT_TEXT:
        append_quoted(out, fact->text ? fact->text : "");
        break;
    case PDNN_FACT_WHOLE:
        pdnn_str_printf(out, "%" PRId64, fact->whole);
        break;
    case PDNN_FACT_NUMBER:
        pdnn_number_format(out, fact->number, PDNN_DIGITS_EXACT);
        break;
    case PDNN_FACT_BOOL:
        pdnn_str_printf(out, "%s", fact->whole ? "true" : "false");
        break;
    }
}

static enum pdnn_status environment_path(const char *directory, char path[PATH_MAX], struct pdnn_err *err) {
    int written = snprintf(path, PATH_MAX, "%s/environment.yaml", directory);
    if (written < 0 || written >= PATH_MAX)
        return pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", directory);
    return PDNN_OK;
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

/* The key's value as it stands in the file's text, including quotes and escapes;
 * false if the key is missing. */
static bool find_value(const char *text, const char *key, struct pdnn_str *value) {
    size_t key_length = strlen(key);
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        if (strncmp(line, key, key_length) != 0 || strncmp(line + key_length, ": ", 2) != 0)
            continue;
        const char *at = line + key_length + 2;
        size_t length = 0;
        if (*at != '"')
            length = strcspn(at, " \n");
        else
            for (length = 1; at[length] && at[length] != '\n' && at[length] != '"'; length++)
                length += at[length] == '\\' && at[length + 1];
        pdnn_str_append(value, at, length + (*at == '"' && at[length] == '"'));
        return true;
    }
    return false;
}

/* Undoes append_quoted; text without quotes is copied. */
static void append_plain(struct pdnn_str *out, const char *value) {
    if (*value != '"') {
        pdnn_str_append(out, value, strlen(value));
        return;
    }
    for (value++; *value && *value != '"'; value++) {
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
    char path[PATH_MAX];
    struct stat info;
    *text = NULL;
    enum pdnn_status status = environment_path(directory, path, err);
    if (status != PDNN_OK)
        return status;
    if (stat(path, &info) != 0 && errno == ENOENT)
        return PDNN_OK;
    return pdnn_file_read(path, ENVIRONMENT_LIMIT_BYTES, text, NULL, err);
}

enum pdnn_status pdnn_environment_check(const char *directory, const struct pdnn_fact *facts, size_t n_facts,
                                        struct pdnn_err *err) {
    char *text;
    struct pdnn_str before = {0}, now = {0};
    enum pdnn_status status = pdnn_environment_read(directory, &text, err);
    if (status != PDNN_OK || !text)
        return status;
    for (size_t i = 0; status == PDNN_OK && i < n_facts; i++) {
        if (!facts[i].identity)
            continue;
        pdnn_str_clear(&before);
        pdnn_str_clear(&now);
        append_value(&now, &facts[i]);
        bool there = find_value(text, facts[i].key, &before);
        /* Directories of earlier versions lack some variables. */
        bool is_unknown = !there && facts[i].variable;
        if (!is_unknown && (!there || strcmp(pdnn_str_text(&before), pdnn_str_text(&now)) != 0))
            status = pdnn_fail(
                err, PDNN_INVALID,
                "%s/environment.yaml: %s was %s and is %s now; one directory holds one machine and setup, use another with -o",
                directory, facts[i].variable ? facts[i].variable : facts[i].key,
                there ? pdnn_str_text(&before) : "not said", pdnn_str_text(&now));
    }
    pdnn_str_finish(&before);
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
    struct pdnn_str found = {0};
    if (find_value(text, key, &found))
        append_plain(value, pdnn_str_text(&found));
    pdnn_str_finish(&found);
}

uint64_t pdnn_environment_count(const char *text, const char *key) {
    struct pdnn_str value = {0};
    pdnn_environment_value(text, key, &value);
    const uint64_t count = strtoull(pdnn_str_text(&value), NULL, 10);
    pdnn_str_finish(&value);
    return count;
}

/* Steps to the next line that is a fact: sets its key and whether it is identity. NULL after the last one. */
static const char *next_fact(const char *line, struct pdnn_str *key, bool *identity) {
    static const char mark[] = " # identity";
    for (; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t length = strcspn(line, "\n"), name = strcspn(line, ":\n");
        if (*line == '#' || line[name] != ':')
            continue;
        pdnn_str_clear(key);
        pdnn_str_append(key, line, name);
        *identity = length >= sizeof mark - 1 &&
                    memcmp(line + length - (sizeof mark - 1), mark, sizeof mark - 1) == 0;
        return line;
    }
    return NULL;
}

static const char *after_line(const char *line) {
    line += strcspn(line, "\n");
    return line + (*line == '\n');
}

bool pdnn_environment_differs(const char *one, const char *other, struct pdnn_str *key,
                              struct pdnn_str *values) {
    struct pdnn_str name = {0}, first = {0}, second = {0};
    bool differs = false, identity;
    for (const char *line = one; !differs && (line = next_fact(line, &name, &identity)) != NULL;
         line = after_line(line)) {
        pdnn_str_clear(&first);
        pdnn_str_clear(&second);
        differs = identity && find_value(one, pdnn_str_text(&name), &first) &&
                  find_value(other, pdnn_str_text(&name), &second) &&
                  strcmp(pdnn_str_text(&first), pdnn_str_text(&second)) != 0;
    }
    if (differs) {
        pdnn_str_printf(key, "%s", pdnn_str_text(&name));
        pdnn_str_printf(values, "%s and %s", pdnn_str_text(&first), pdnn_str_text(&second));
    }
    pdnn_str_finish(&name);
    pdnn_str_finish(&first);
    pdnn_str_finish(&second);
    return differs;
}

static const char separator[] = " | ";

/* The part of a list that ends at the next separator. */
static size_t part_length(const char *at) {
    const char *end = strstr(at, separator);
    return end ? (size_t)(end - at) : strlen(at);
}

static const char *next_part(const char *at) {
    at += part_length(at);
    return *at ? at + strlen(separator) : NULL;
}

static bool has_part(const struct pdnn_str *list, const char *part, size_t length) {
    for (const char *at = pdnn_str_text(list); at; at = next_part(at)) {
        if (part_length(at) == length && strncmp(at, part, length) == 0)
            return true;
    }
    return false;
}

/* Appends what the list lacks of the value, which in a merged directory is a list too. */
static void add_distinct(struct pdnn_str *list, const char *value) {
    for (const char *part = value; part; part = next_part(part)) {
        size_t length = part_length(part);
        if (!has_part(list, part, length))
            pdnn_str_printf(list, "%s%.*s", separator, (int)length, part);
    }
}

void pdnn_environment_join(const char *const *texts, size_t n_texts, struct pdnn_str *out) {
    struct pdnn_str key = {0}, written = {0}, value = {0}, list = {0};
    bool identity;
    pdnn_str_printf(out, "# What the machines of a merged directory and their software were.\n");
    for (const char *line = texts[0]; (line = next_fact(line, &key, &identity)) != NULL;
         line = after_line(line)) {
        bool is_same = true;
        pdnn_str_clear(&list);
        pdnn_str_clear(&written);
        pdnn_environment_value(texts[0], pdnn_str_text(&key), &list);
        for (size_t i = 1; i < n_texts; i++) {
            pdnn_str_clear(&value);
            pdnn_environment_value(texts[i], pdnn_str_text(&key), &value);
            is_same = is_same && strcmp(pdnn_str_text(&value), pdnn_str_text(&list)) == 0;
            if (!is_same)
                add_distinct(&list, pdnn_str_text(&value));
        }
        find_value(texts[0], pdnn_str_text(&key), &written);
        pdnn_str_printf(out, "%s: ", pdnn_str_text(&key));
        if (!is_same)
            append_quoted(out, pdnn_str_text(&list));
        else
            pdnn_str_printf(out, "%s", pdnn_str_text(&written));
        pdnn_str_printf(out, "%s\n", identity ? " # identity" : "");
    }
    pdnn_str_finish(&key);
    pdnn_str_finish(&written);
    pdnn_str_finish(&value);
    pdnn_str_finish(&list);
}
