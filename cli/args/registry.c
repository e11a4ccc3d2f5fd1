#include "cli/args/registry.h"

#include "base/paths/folder.h"
#include "base/paths/nearby.h"
#include "base/str.h"
#include "gen/source.h"
#include "models/instance.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define COMMAND(name) &pdnn_command_##name,
#define TABLE(word)   &pdnn_##word##_def,

const struct pdnn_command_def *const pdnn_commands[] = {PDNN_COMMANDS(COMMAND) NULL};

const struct pdnn_table_def *const pdnn_table_defs[] = {PDNN_FILES(TABLE) PDNN_TABLES(TABLE)};

const struct pdnn_command_def *pdnn_command_find(const char *name) {
    for (const struct pdnn_command_def *const *command = pdnn_commands; *command; command++)
        if (strcmp((*command)->name, name) == 0)
            return *command;
    return NULL;
}

enum { NAMES_MAX = 64 };

static const char *const result_endings[] = {".results", NULL};
static const char *const spec_endings[] = {".yaml", ".yml", NULL};
static const char *const table_endings[] = {".csv", ".html", NULL};

/* "plot fc.results roofline", or a word that is no kind. */
static enum pdnn_status check_kind(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    const struct pdnn_command_def *command = arguments->command;
    const char *const *operands = arguments->operands;
    const char *names[NAMES_MAX], *help;
    char buffer[PDNN_SUGGESTION_TEXT];
    size_t count = 0;
    while (count < NAMES_MAX && command->kind(count, &names[count], &help))
        count++;
    for (size_t i = 0; i < arguments->n_operands; i++)
        for (size_t k = 0; k < count; k++)
            if (strcmp(names[k], operands[i]) == 0)
                return i ? pdnn_fail(err, PDNN_INVALID, "%s: %s comes first: paradnn %s %s %s", command->name,
                                     operands[i], command->name, operands[i], operands[0])
                         : PDNN_OK;
    if (!*pdnn_suggest(buffer, operands[0], names, count))
        snprintf(buffer, sizeof buffer, ", see 'paradnn %s --help'", command->name);
    return pdnn_fail(err, PDNN_INVALID, "%s: unknown %.*s '%s'%s", command->name,
                     (int)strcspn(command->operands, " "), command->operands, operands[0], buffer);
}

bool pdnn_operand_is_spec(const char *operand) {
    struct stat info;
    const bool is_directory = stat(operand, &info) == 0 && S_ISDIR(info.st_mode);
    return !is_directory && pdnn_source_is(operand);
}

/* "; costs alone are enough for boxes, heatmap, span and weights": the kinds that take specs, if any do. */
static void say_costs(const struct pdnn_command_def *command, struct pdnn_str *out) {
    const char *name, *help, *last = NULL;
    for (size_t i = 0; command->takes_specs && command->kind(i, &name, &help); i++) {
        if (!command->takes_specs(name))
            continue;
        if (last)
            pdnn_str_printf(out, "%s %s", out->length ? "," : "; costs alone are enough for", last);
        last = name;
    }
    if (last)
        pdnn_str_printf(out, " and %s", last);
}

/* A path that is a file, or nothing, where a result directory should be. */
static enum pdnn_status no_directory(const struct pdnn_command_def *def, const char *path, bool exists,
                                     struct pdnn_err *err) {
    char nearby[PDNN_NEARBY_TEXT];
    const char *slash = strrchr(path, '/'), *command = def->name;
    struct pdnn_str costs = {0};
    enum pdnn_status status = PDNN_OK;
    pdnn_nearby(nearby, path, result_endings);
    if (pdnn_operand_is_spec(path))
        say_costs(def, &costs);
    if (exists && pdnn_has_ending(path, spec_endings))
        status = pdnn_fail(err, PDNN_INVALID,
                           "%s: %s is a spec, expected a directory such as 'paradnn sweep %s' writes%s%s",
                           command, path, path, nearby, pdnn_str_text(&costs));
    else if (!exists && !*nearby && pdnn_instance_is_named(path))
        status =
            pdnn_fail(err, PDNN_INVALID,
                      "%s: %s is a model, expected a directory such as 'paradnn sweep %s -o DIR' writes%s",
                      command, path, path, pdnn_str_text(&costs));
    pdnn_str_finish(&costs);
    if (status != PDNN_OK)
        return status;
    if (exists && slash && pdnn_has_ending(path, table_endings))
        return pdnn_fail(err, PDNN_INVALID, "%s: %s is a file, expected its directory: %.*s", command, path,
                         (int)(slash - path), path);
    if (exists)
        return pdnn_fail(err, PDNN_INVALID, "%s: %s is a file, expected a result directory%s", command, path,
                         nearby);
    return pdnn_fail(err, PDNN_INVALID, "%s: %s%s", path, strerror(ENOENT), nearby);
}

enum pdnn_status pdnn_operands_check(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    const struct pdnn_command_def *command = arguments->command;
    if (command->kind && check_kind(arguments, err) != PDNN_OK)
        return err->status;
    for (size_t i = command->kind ? 1 : 0; i < arguments->n_operands && command->reads_directories; i++) {
        struct stat info;
        if (command->takes_specs && command->takes_specs(arguments->operands[0]) &&
            pdnn_operand_is_spec(arguments->operands[i]))
            continue;
        bool exists = stat(arguments->operands[i], &info) == 0;
        const int cause = errno;
        if (!exists && pdnn_link_check(arguments->operands[i], err) != PDNN_OK)
            return err->status;
        if (exists ? !S_ISDIR(info.st_mode) : cause == ENOENT || cause == ENOTDIR)
            return no_directory(command, arguments->operands[i], exists, err);
        if (!exists || !pdnn_path_has(arguments->operands[i], "."))
            return pdnn_fail(err, PDNN_INVALID, "%s: %s", arguments->operands[i],
                             strerror(exists ? errno : cause));
    }
    return PDNN_OK;
}

enum pdnn_status pdnn_command_unknown(const char *name, struct pdnn_err *err) {
    const char *names[NAMES_MAX] = {"--help", "--version", "--man"};
    size_t count = *name == '-' ? 3 : 0;
    char nearby[PDNN_NEARBY_TEXT], buffer[PDNN_SUGGESTION_TEXT];
    struct stat info;
    for (size_t i = 0; *name != '-' && pdnn_commands[i] && count < NAMES_MAX; i++)
        names[count++] = pdnn_commands[i]->name;
    const char *hint = pdnn_suggest(buffer, name, names, count);
    const bool exists = stat(name, &info) == 0;
    if (exists && S_ISDIR(info.st_mode) && (!*hint || pdnn_path_has(name, "results.csv")))
        return pdnn_fail(err, PDNN_INVALID, "%s is a directory, not a command: try 'paradnn report %s'", name,
                         name);
    if (*hint || *name == '-' || !*name)
        return pdnn_fail(err, PDNN_INVALID, "unknown %s '%s'%s", *name == '-' ? "option" : "command", name,
                         *hint ? hint : ", see 'paradnn --help'");
    if (exists && pdnn_has_ending(name, spec_endings))
        return pdnn_fail(
            err, PDNN_INVALID,
            "%s is a spec, not a command: 'paradnn sweep %s' runs it, 'paradnn list %s' lists it", name, name,
            name);
    if (pdnn_has_ending(name, spec_endings))
        return pdnn_fail(err, PDNN_INVALID, "unknown command '%s'%s", name,
                         pdnn_nearby(nearby, name, spec_endings));
    if (pdnn_instance_is_named(name))
        return pdnn_fail(
            err, PDNN_INVALID,
            "%s is a model, not a command: 'paradnn run %s' measures it, 'paradnn families %.*s' explains it",
            name, name, (int)strcspn(name, "/:,"), name);
    return pdnn_fail(err, PDNN_INVALID, "unknown command '%s', see 'paradnn help'", name);
}
