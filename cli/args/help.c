#define _POSIX_C_SOURCE 200809L
#include "cli/args/help.h"

#include "base/paths/nearby.h"
#include "base/paths/program.h"
#include "base/fill.h"
#include "cli/args/page.h"
#include "cli/args/registry.h"
#include "cli/print/progress.h"
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

static const char purpose[] =
    "Generates parameterized DNN models, runs them on the CPU, and shows where each model and each "
    "operator in it stands against the machine's own measured roofs.";

static const char spec_purpose[] =
    "SPEC is a YAML file that says which models to run and how. An ID works wherever a SPEC does. "
    "It is one model with its settings, fc/layers=4,nodes=1024,batch=64 (anything left out takes its "
    "default), or a preset with changes, resnet50,batch=1. A SPEC of - is read from standard input. "
    "RESULTS is a directory that a sweep wrote. "
    "'paradnn help spec' has every key of a spec.";

static const struct pdnn_help_row option_rows[] = {
    {"-h, --help", "show this help, or that of a command, and exit"},
    {"-V, --version", "show the versions of paradnn and of its backends and exit"},
    {"--man [COMMAND]", "print the manual page, or that of a command, as mdoc source and exit"},
    {0},
};

static const struct pdnn_help_row exit_rows[] = {
    {"0", "success"},
    {"1", "some instances failed, none ended ok, or the machine failed (disk full, out of memory)"},
    {"2", "the command line, a spec or an input file is wrong; nothing ran"},
    {"130", "interrupted by a signal; what was measured is kept"},
    {0},
};

static const struct pdnn_help_row environment_rows[] = {
    {"NO_COLOR", "if set and not empty, progress is drawn without color"},
    {"OMP_NUM_THREADS",
     "if set, threads: all is at most this; otherwise it is the cores this process may use"},
    {"OMP_THREAD_LIMIT", "if set, no instance may have more threads"},
    {"OMP_WAIT_POLICY", "if set, how threads wait; otherwise actively"},
    {"OMP_*, GOMP_*, KMP_*",
     "the others do not place threads: each thread is bound to a core of its own, within the affinity mask and "
     "cgroup of the process; a message on stderr says which variables are obeyed and which overridden, and why"},
    {"ONEDNN_*, DNNL_*, OPENBLAS_*",
     "passed on and part of the directory's identity where they change what is computed or how fast; overridden "
     "where they would slow down what is measured, or say what a run setting says (ONEDNN_MAX_CPU_ISA: isa)"},
    {"PARADNN_NO_CACHE", "if set and not empty, the same as --no-cache"},
    {"PARADNN_WORKER", "if set, the worker program to start; otherwise the one of the same build"},
    {0},
};

/* Besides the tables of a result directory. */
static const struct pdnn_help_row file_rows[] = {
    {"environment.yaml", "the machine, the software and the effective settings"},
    {"spec.yaml", "the spec as run"},
    {PDNN_DATA_DIRECTORY "/sweeps",
     "ready specs; SPEC finds them by their name, fc.yaml or sweeps/fc.yaml, where no such file is"},
    {PDNN_DATA_DIRECTORY "/examples", "result directories, to try the commands that read one"},
    {0},
};

static const char *const group_titles[PDNN_COMMAND_GROUPS] = {
    [PDNN_COMMANDS_FIRST] = "To start with",     [PDNN_COMMANDS_MEASURE] = "To measure more",
    [PDNN_COMMANDS_LOOK] = "To look at results", [PDNN_COMMANDS_FILES] = "Clusters and files",
    [PDNN_COMMANDS_EXPLAIN] = "To look up",
};

/* `rows` end with one that has no name. */
static void put_rows(struct pdnn_page *page, const char *macro, const struct pdnn_help_row *rows,
                     size_t column) {
    for (; rows->name; rows++)
        pdnn_page_row(page, macro, rows->name, rows->help, column);
}

static int is_spec(const struct dirent *entry) {
    static const char *const endings[] = {".yaml", NULL};
    return pdnn_has_ending(entry->d_name, endings);
}

/* The specs that came with the program, if it is installed. */
static void put_installed(struct pdnn_page *page) {
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
    pdnn_page_paragraph(page, pdnn_str_text(&text));
    pdnn_str_finish(&text);
}

/* In a manual page each has one of its own. */
static void put_commands(struct pdnn_page *page, int group) {
    pdnn_page_heading(page, group_titles[group], false);
    for (const struct pdnn_command_def *const *command = pdnn_commands; *command; command++) {
        struct pdnn_str name = {0};
        pdnn_str_printf(&name, page->is_manual ? "paradnn-%s 1" : "%s", (*command)->name);
        if ((int)(*command)->group == group)
            pdnn_page_row(page, "Xr", pdnn_str_text(&name), (*command)->summary, 12);
        pdnn_str_finish(&name);
    }
}

/* What only the manual page has room for. */
static void put_surroundings(struct pdnn_page *page) {
    pdnn_page_heading(page, "Environment", true);
    put_rows(page, "Ev", environment_rows, 0);
    pdnn_page_heading(page, "Files", true);
    for (size_t i = 0; i < PDNN_TABLE_FILES; i++) {
        struct pdnn_str name = {0};
        pdnn_str_printf(&name, "%s.csv", pdnn_table_defs[i]->name);
        pdnn_page_row(page, "Pa", pdnn_str_text(&name), pdnn_table_defs[i]->help, 0);
        pdnn_str_finish(&name);
    }
    put_rows(page, "Pa", file_rows, 0);
}

static void put_program(struct pdnn_page *page) {
    if (page->is_manual) {
        pdnn_page_begin(page, NULL, "Sweep parameterized DNN models over a CPU and its rooflines.");
        for (const struct pdnn_command_def *const *command = pdnn_commands; *command; command++)
            pdnn_page_synopsis(page, *command);
        pdnn_str_printf(page->out, ".Sh DESCRIPTION\n%s\n", purpose);
    } else {
        pdnn_str_printf(page->out, "Usage: paradnn COMMAND [ARGUMENT]...\n");
        pdnn_fill_text(page->out, purpose, 0, page->width);
    }
    for (int group = 0; group < PDNN_COMMAND_GROUPS; group++)
        put_commands(page, group);
    pdnn_page_paragraph(page, spec_purpose);
    if (!page->is_manual)
        put_installed(page);
    pdnn_page_heading(page, "Options", false);
    put_rows(page, "No", option_rows, 20);
    if (page->is_manual)
        put_surroundings(page);
    pdnn_page_heading(page, "Exit status", true);
    put_rows(page, "No", exit_rows, 8);
}

static void put_page(struct pdnn_page *page, const struct pdnn_command_def *command) {
    if (command)
        pdnn_page_command(page, command);
    else
        put_program(page);
}

void pdnn_help_format(struct pdnn_str *out, const struct pdnn_command_def *command) {
    put_page(&(struct pdnn_page){.out = out, .width = pdnn_help_width()}, command);
}

void pdnn_manual_format(struct pdnn_str *out, const struct pdnn_command_def *command) {
    struct pdnn_page page = {.out = out, .is_manual = true};
    put_page(&page, command);
    pdnn_str_printf(out, "%s", page.in_list ? ".El\n" : "");
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
