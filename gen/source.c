#include "gen/source.h"

#include "base/file.h"
#include "base/paths/nearby.h"
#include "base/paths/program.h"
#include "base/str.h"
#include "gen/key.h"
#include "models/instance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_file(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* The installed spec that the name stands for, or NULL. */
static const char *find_installed(const char *name, struct pdnn_arena *arena) {
    static const char *const around[][2] = {{"", ""}, {"sweeps/", ""}, {"sweeps/", ".yaml"}};
    char path[PDNN_PROGRAM_TEXT];
    if (*name == '/' || *name == '.' || access(name, F_OK) == 0)
        return NULL;
    for (size_t i = 0; i < sizeof around / sizeof *around; i++) {
        struct pdnn_str inside = {0};
        pdnn_str_printf(&inside, "%s%s%s", around[i][0], name, around[i][1]);
        bool found = pdnn_program_data(pdnn_str_text(&inside), path) && is_file(path);
        pdnn_str_finish(&inside);
        if (found)
            return pdnn_arena_strdup(arena, path);
    }
    return NULL;
}

static const char *const spec_endings[] = {".yaml", ".yml", NULL};
static const char *const table_endings[] = {".csv", NULL};

/* A plain name that no file has was meant to be a model. True if the message says which. */
static bool suggest_model(const char *name, struct pdnn_err *err) {
    struct pdnn_err unknown = {0};
    struct pdnn_model_name model;
    if (strpbrk(name, "/.") || pdnn_model_find(name, false, &model, &unknown) == PDNN_OK)
        return false;
    pdnn_fail(err, PDNN_INVALID, "%s", unknown.text);
    return strstr(unknown.text, "did you mean");
}

/* Appends what was probably meant to the message about a path that cannot be read. */
static void suggest(const char *path, struct pdnn_arena *arena, struct pdnn_err *err) {
    char nearby[PDNN_NEARBY_TEXT], text[sizeof err->text];
    const char *spec =
        pdnn_arena_printf(arena, "%s%sspec.yaml", path, path[strlen(path) - 1] == '/' ? "" : "/");
    const char *ended = pdnn_arena_printf(arena, "%s.yaml", path);
    snprintf(text, sizeof text, "%s", err->text);
    if (access(spec, F_OK) == 0)
        pdnn_fail(err, PDNN_INVALID, "%s: is a result directory, its spec is %s", path, spec);
    else if (access(path, F_OK) != 0 && (access(ended, F_OK) == 0 || !suggest_model(path, err)) &&
             *pdnn_nearby(nearby, path, spec_endings))
        pdnn_fail(err, PDNN_INVALID, "%s%s", text, nearby);
}

static enum pdnn_status read_file(struct pdnn_source *source, struct pdnn_arena *arena,
                                  struct pdnn_err *err) {
    char *text = NULL;
    enum pdnn_status status;
    const char *installed = source->is_file ? find_installed(source->name, arena) : NULL;
    source->installed = installed != NULL;
    if (installed)
        source->name = installed;
    if (!source->is_file)
        status = pdnn_fd_read(STDIN_FILENO, source->name, PDNN_YAML_FILE_BYTES, &text, &source->length, err);
    else if (pdnn_has_ending(source->name, table_endings))
        return pdnn_fail(err, PDNN_INVALID, "%s: is a table, expected a spec or an ID", source->name);
    else
        status = pdnn_file_read(source->name, PDNN_YAML_FILE_BYTES, &text, &source->length, err);
    if (status != PDNN_OK && err && source->is_file)
        suggest(source->name, arena, err);
    if (status != PDNN_OK)
        return status;
    char *copy = pdnn_arena_alloc(arena, source->length + 1, 1);
    memcpy(copy, text, source->length);
    free(text);
    source->text = copy;
    return PDNN_OK;
}

static void append_param(struct pdnn_str *str, const char *comma, const struct pdnn_param_def *def,
                         struct pdnn_value value) {
    char text[PDNN_PARAM_TEXT];
    pdnn_str_printf(str, "%s%s: %s", comma, def->name, pdnn_param_format(def, value, text));
}

/* Writes an id as a spec of one model, so that overrides and records treat it like any other. */
static enum pdnn_status write_id(struct pdnn_source *source, struct pdnn_arena *arena, struct pdnn_err *err) {
    struct pdnn_instance instance;
    enum pdnn_status status = pdnn_instance_parse(source->name, &instance, err);
    if (status != PDNN_OK)
        return status;
    const struct pdnn_family_def *family = instance.family;
    struct pdnn_str str = {0};
    const char *comma = "";
    pdnn_str_printf(&str, "run: {");
    for (size_t i = 0; i < PDNN_SETTING_COUNT; i++) {
        if (i == PDNN_SETTING_CACHE || !pdnn_setting_applies(&instance, (enum pdnn_setting)i))
            continue;
        append_param(&str, comma, &pdnn_settings[i], pdnn_value_of(instance.setting[i]));
        comma = ", ";
    }
    pdnn_str_printf(&str, "}\nmeasure: {");
    append_param(&str, "", &pdnn_settings[PDNN_SETTING_CACHE],
                 pdnn_value_of(instance.setting[PDNN_SETTING_CACHE]));
    pdnn_str_printf(&str, "}\nmodels:\n  - %s: {", family->name);
    comma = "";
    for (size_t i = 0; i < family->n_params; i++) {
        if (!pdnn_hyper_applies(&instance, i))
            continue;
        append_param(&str, comma, &family->params[i], instance.hyper[i]);
        comma = ", ";
    }
    pdnn_str_printf(&str, "}\n");
    source->family = family;
    source->length = str.length;
    source->text = pdnn_arena_strdup(arena, str.text);
    pdnn_str_finish(&str);
    return PDNN_OK;
}

/* "fc", "fc/layers=4", "resnet50", "cnn:resnet50", and anything that can only be a misspelled one. */
static bool is_id(const char *argument) {
    if (pdnn_has_ending(argument, spec_endings))
        return false;
    return pdnn_instance_is_named(argument) || strpbrk(argument, "=:") != NULL;
}

enum pdnn_status pdnn_source_read(const char *argument, struct pdnn_yaml_count *count,
                                  struct pdnn_source *source, struct pdnn_arena *arena,
                                  struct pdnn_err *err) {
    if (!*argument)
        return pdnn_fail(err, PDNN_INVALID, "the name of a spec is empty");
    bool is_stdin = strcmp(argument, "-") == 0, from_id = !is_stdin && is_id(argument);
    *source = (struct pdnn_source){.name = pdnn_arena_strdup(arena, is_stdin ? "stdin" : argument),
                                   .is_file = !is_stdin && !from_id};
    enum pdnn_status status = from_id ? write_id(source, arena, err) : read_file(source, arena, err);
    const struct pdnn_yaml_input input = {.file = source->name,
                                          .whole_name = from_id,
                                          .text = source->text,
                                          .length = source->length,
                                          .count = from_id ? NULL : count};
    if (status == PDNN_OK)
        status = pdnn_yaml_parse(&input, arena, &source->root, err);
    for (const struct pdnn_yaml *root = source->root; root && status == PDNN_OK; root = root->next)
        status = pdnn_key_check_map(root, "a spec", err);
    return status;
}

const char *pdnn_source_name(const struct pdnn_source *source, struct pdnn_arena *arena) {
    if (!source->is_file || pdnn_file_descriptor(source->name) >= 0)
        return NULL;
    const char *slash = strrchr(source->name, '/');
    char *name = pdnn_arena_strdup(arena, slash ? slash + 1 : source->name);
    char *dot = name ? strrchr(name, '.') : NULL;
    if (dot && dot != name && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0))
        *dot = 0;
    return name;
}
