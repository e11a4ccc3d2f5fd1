#define _POSIX_C_SOURCE 200809L
/* environment.yaml: one `key: value` per line. Text is always in double quotes, so that any YAML reader and
 * the few lines below read the same value. */
#include "base/file.h"
#include "results/tables/csv.h"
#include "results/tables/tables.h"

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
        text.failed ? pdnn_fail(err, PDNN_NO_MEMORY, "%s/environment.yaml: out of memory", folder->path)
                    : pdnn_folder_replace(folder, "environment.yaml", pdnn_str_text(&text), text.length, err);
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

/* *text is NULL if the file does not exist. */
static enum pdnn_status read_environment(const char *directory, char path[PATH_MAX], char **text,
                                         struct pdnn_err *err) {
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
    char path[PATH_MAX], *text;
    struct pdnn_str before = {0}, now = {0};
    enum pdnn_status status = read_environment(directory, path, &text, err);
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
                "%s: %s was %s and is %s now; one directory holds one machine and setup, use another with -o",
                path, facts[i].variable ? facts[i].variable : facts[i].key,
                there ? pdnn_str_text(&before) : "not said", pdnn_str_text(&now));
    }
    pdnn_str_finish(&before);
    pdnn_str_finish(&now);
    free(text);
    return status;
}

void pdnn_environment_get(const char *directory, const char *key, struct pdnn_str *value) {
    char path[PATH_MAX], *text;
    struct pdnn_str found = {0};
    if (read_environment(directory, path, &text, NULL) != PDNN_OK || !text)
        return;
    if (find_value(text, key, &found))
        append_plain(value, pdnn_str_text(&found));
    pdnn_str_finish(&found);
    free(text);
}
