#include "gen/source.h"

#include "base/file.h"
#include "base/paths/nearby.h"
#include "base/paths/program.h"
#include "base/str.h"
#include "gen/family/load.h"
#include "gen/key.h"
#include "gen/onnx/family.h"
#include "models/instance.h"
#include "models/zoo/catalog.h"

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

static const char *const spec_endings[] = {".yaml", ".yml", ".onnx", NULL};
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
    else if (pdnn_onnx_is_name(source->name) && access(source->name, F_OK) == 0)
        status =
            pdnn_onnx_text(source->name, &(struct pdnn_onnx_request){0}, &text, &source->length, NULL, err);
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
static enum pdnn_status write_id(struct pdnn_source *source, const char *id, struct pdnn_arena *arena,
                                 struct pdnn_err *err) {
    struct pdnn_instance instance;
    enum pdnn_status status = pdnn_instance_parse(id, &instance, err);
    if (status != PDNN_OK)
        return status;
    const struct pdnn_family_def *family = instance.family;
    struct pdnn_str str = {0};
    const char *comma = "";
    pdnn_str_printf(&str, "run: {");
    for (size_t i = 0; i < PDNN_SETTING_COUNT; i++) {
        if (i == PDNN_SETTING_CACHE || !pdnn_setting_applies(&instance, (enum pdnn_setting)i) ||
            (i == PDNN_SETTING_LIBRARY && !instance.setting[i])) /* those of the spec */
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
    return pdnn_instance_is_named(argument) || strpbrk(argument, "=:") != NULL;
}

/* How long the path is at the beginning of an argument; 0: it is an id. Behind the path of a family's file,
 * ',' and ':' begin what an id has there, and '/' as well if the file is there. */
static size_t path_length(const char *argument, struct pdnn_arena *arena) {
    if (strcmp(argument, "-") == 0 || pdnn_has_ending(argument, spec_endings))
        return strlen(argument);
    for (const char *at = argument; (at = strpbrk(at, ",:/")); at++) {
        const char *path = pdnn_arena_printf(arena, "%.*s", (int)(at - argument), argument);
        const bool is_sure = *at != '/' && pdnn_has_ending(path, spec_endings);
        if (is_sure || (strpbrk(path, "./") && is_file(path)))
            return (size_t)(at - argument);
        if (*at != '/')
            break;
    }
    return is_id(argument) ? 0 : strlen(argument);
}

bool pdnn_source_is(const char *argument) {
    struct pdnn_arena arena = {0};
    const size_t length = path_length(argument, &arena);
    pdnn_arena_finish(&arena);
    return (length && argument[length]) || pdnn_has_ending(argument, spec_endings) ||
           pdnn_instance_is_named(argument);
}

static enum pdnn_status parse(struct pdnn_source *source, struct pdnn_yaml_count *count,
                              struct pdnn_arena *arena, struct pdnn_err *err) {
    const struct pdnn_yaml_input input = {.file = source->name,
                                          .whole_name = !count || pdnn_onnx_is_name(source->name),
                                          .text = source->text,
                                          .length = source->length,
                                          .count = count};
    return pdnn_yaml_parse(&input, arena, &source->root, err);
}

/* The family is in the spec, unless it ships. */
static enum pdnn_status read_id(struct pdnn_source *source, const char *id, struct pdnn_arena *arena,
                                struct pdnn_err *err) {
    enum pdnn_status status = write_id(source, id, arena, err);
    if (status == PDNN_OK)
        status = parse(source, NULL, arena, err);
    return status == PDNN_OK ? pdnn_families_put(source->root, source->family, arena, err) : status;
}

/* Puts a spec of one model in the place of a family's document. rest: what stands behind the file's name. */
static enum pdnn_status read_family(struct pdnn_source *source, const char *rest, struct pdnn_arena *arena,
                                    struct pdnn_err *err) {
    const struct pdnn_family_def *family;
    enum pdnn_status status = pdnn_family_define_file(source->root, &family, err);
    return status == PDNN_OK
               ? read_id(source, pdnn_arena_printf(arena, "%s%s", family->name, rest), arena, err)
               : status;
}

static enum pdnn_status read_path(struct pdnn_source *source, const char *rest, struct pdnn_yaml_count *count,
                                  struct pdnn_arena *arena, struct pdnn_err *err) {
    enum pdnn_status status = read_file(source, arena, err);
    if (status == PDNN_OK)
        status = parse(source, count, arena, err);
    if (status == PDNN_OK && pdnn_family_is(source->root))
        return read_family(source, rest, arena, err);
    if (status == PDNN_OK && *rest)
        return pdnn_fail(err, PDNN_INVALID,
                         "%s: is a spec, '%.60s' may only stand behind a family's file; --set changes a spec",
                         source->name, rest);
    return status;
}

enum pdnn_status pdnn_source_read(const char *argument, struct pdnn_yaml_count *count,
                                  struct pdnn_source *source, struct pdnn_arena *arena,
                                  struct pdnn_err *err) {
    enum pdnn_status status;
    if (!*argument)
        return pdnn_fail(err, PDNN_INVALID, "the name of a spec is empty");
    const bool is_stdin = strcmp(argument, "-") == 0;
    const size_t length = path_length(argument, arena);
    *source = (struct pdnn_source){.name = is_stdin ? "stdin"
                                           : length ? pdnn_arena_printf(arena, "%.*s", (int)length, argument)
                                                    : pdnn_arena_strdup(arena, argument),
                                   .is_file = !is_stdin && length};
    status = length ? read_path(source, argument + length, count, arena, err)
                    : read_id(source, argument, arena, err);
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
    if (dot && dot != name && pdnn_has_ending(dot - 1, spec_endings))
        *dot = 0;
    return name;
}
