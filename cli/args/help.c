#define _POSIX_C_SOURCE 200809L
#include "cli/args/help.h"

#include "base/paths/nearby.h"
#include "base/paths/program.h"
#include "base/fill.h"
#include "cli/args/registry.h"
#include "cli/print/terminal.h"
#include "results/table/sheet.h"
#include "models/family.h"
#include "models/instance.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

size_t pdnn_help_width(void) {
    size_t width = pdnn_terminal_width(STDOUT_FILENO);
    if (!width)
        return 80;
    return width < 40 ? 40 : width > 100 ? 100 : width;
}

const char pdnn_purpose[] =
    "Generates parameterized DNN models, runs them on the CPU, and shows where each model and each "
    "operator in it stands against the machine's own measured roofs.";

const char pdnn_spec_purpose[] =
    "SPEC is a YAML file that says which models to run and how. An ID works wherever a SPEC does. "
    "It is one model with its settings, fc/layers=4,nodes=1024,batch=64 (anything left out takes its "
    "default), or a preset with changes, resnet50,batch=1. A SPEC of - is read from standard input. "
    "'paradnn help spec' has every key of a spec.";

const struct pdnn_help_row pdnn_exit_rows[] = {
    {"0", "success"},
    {"1", "some instances failed, none ended ok, or the machine failed (disk full, out of memory)"},
    {"2", "the command line, a spec or an input file is wrong; nothing ran"},
    {"130", "interrupted by a signal; what was measured is kept"},
    {0},
};

/* `rows` end with one that has no name. */
static void append_rows(struct pdnn_str *out, const struct pdnn_help_row *rows, size_t column, size_t width) {
    for (size_t i = 0; rows[i].name; i++) {
        pdnn_str_printf(out, "  %-*s", (int)column - 2, rows[i].name);
        pdnn_fill_text(out, rows[i].help, column, width);
    }
}

static int is_spec(const struct dirent *entry) {
    static const char *const endings[] = {".yaml", NULL};
    return pdnn_has_ending(entry->d_name, endings);
}

/* The specs that came with the program, if it is installed. */
static void append_installed(struct pdnn_str *out, size_t width) {
    char directory[PDNN_PROGRAM_TEXT];
    struct dirent **entries;
    int count =
        pdnn_program_data("sweeps", directory) ? scandir(directory, &entries, is_spec, alphasort) : -1;
    if (count < 0)
        return;
    struct pdnn_str text = {0};
    pdnn_str_printf(&text,
                    "Ready specs, which need no directory before their names (they are in %s):", directory);
    for (int i = 0; i < count; i++) {
        pdnn_str_printf(&text, "%s %s", i ? "," : "", entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    pdnn_str_append(out, "\n", 1);
    pdnn_fill_text(out, pdnn_str_text(&text), 0, width);
    pdnn_str_finish(&text);
}

static void append_commands(struct pdnn_str *out, enum pdnn_command_group group, size_t width) {
    static const char *const titles[PDNN_COMMAND_GROUPS] = {
        [PDNN_COMMANDS_FIRST] = "To start with",     [PDNN_COMMANDS_MEASURE] = "To measure more",
        [PDNN_COMMANDS_LOOK] = "To look at results", [PDNN_COMMANDS_FILES] = "Clusters and files",
        [PDNN_COMMANDS_EXPLAIN] = "To look up",
    };
    pdnn_str_printf(out, "\n%s:\n", titles[group]);
    for (const struct pdnn_command_def *const *command = pdnn_commands; *command; command++) {
        const struct pdnn_help_row row[] = {{(*command)->name, (*command)->summary}, {0}};
        if ((*command)->group == group)
            append_rows(out, row, 12, width);
    }
}

void pdnn_help_format(struct pdnn_str *out, size_t width) {
    pdnn_str_printf(out, "Usage: paradnn COMMAND [ARGUMENT]...\n");
    pdnn_fill_text(out, pdnn_purpose, 0, width);
    for (int group = 0; group < PDNN_COMMAND_GROUPS; group++)
        append_commands(out, (enum pdnn_command_group)group, width);
    pdnn_str_append(out, "\n", 1);
    pdnn_fill_text(out, pdnn_spec_purpose, 0, width);
    append_installed(out, width);
    pdnn_str_printf(out, "\nOptions:\n");
    static const struct pdnn_help_row options[] = {
        {"-h, --help", "show this help, or that of a command, and exit"},
        {"-V, --version", "show the versions of paradnn and of its backends and exit"},
        {"--man [COMMAND]", "print the manual page, or that of a command, as mdoc source and exit"},
        {0},
    };
    append_rows(out, options, 20, width);
    pdnn_str_printf(out, "\nExit status:\n");
    append_rows(out, pdnn_exit_rows, 8, width);
}

void pdnn_param_range_format(struct pdnn_str *out, const struct pdnn_param_def *param) {
    if (param->type == PDNN_PARAM_CHOICE) {
        for (const char *const *choice = param->choices; *choice; choice++)
            pdnn_str_printf(out, "%s%s", choice == param->choices ? "" : ", ", *choice);
        return;
    }
    if (param->word)
        pdnn_str_printf(out, "%s, ", param->word);
    pdnn_str_printf(out, "%s%" PRId64 "..%" PRId64, param->type == PDNN_PARAM_LIST ? "list of " : "",
                    param->min, param->max);
}

void pdnn_hyper_help_format(struct pdnn_str *out, const struct pdnn_instance *defaults, size_t param) {
    char condition[PDNN_CONDITION_TEXT];
    pdnn_hyper_condition(defaults, param, condition);
    pdnn_str_printf(out, "%s%s%s", defaults->family->params[param].help, *condition ? "; with " : "",
                    condition);
}
