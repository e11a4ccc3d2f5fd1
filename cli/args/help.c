#define _POSIX_C_SOURCE 200809L
#include "cli/args/help.h"

#include "base/fill.h"
#include "base/paths/nearby.h"
#include "base/paths/program.h"
#include "cli/args/registry.h"
#include "cli/print/progress.h"
#include "models/instance.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROW_INDENT = 2, EXAMPLE_COLUMN = 6, HELP_COLUMN = 24 };

/* Text for a terminal, or mdoc(7) source of a manual page, put down part by part. */
struct page {
    struct pdnn_str *out;
    size_t width; /* to which text is filled */
    bool is_manual;
    bool in_list; /* of a manual page: rows were put down, so that the next thing ends their list */
};

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
    {"3", "it could not be told (paradnn compare --gate)"},
    {"130", "interrupted by a signal; what was measured is kept"},
    {0},
};

static const struct pdnn_help_row environment_rows[] = {
    {"NO_COLOR", "if set and not empty, progress is drawn without color"},
    {"OMP_NUM_THREADS",
     "if set, threads: all is at most this; otherwise it is the cores this process may use"},
    {"SLURM_CPUS_PER_TASK, NSLOTS, PBS_NCPUS, ...",
     "the same, for what a scheduler granted and may not bind to"},
    {"OMP_THREAD_LIMIT", "if set, no instance may have more threads"},
    {"OMP_WAIT_POLICY", "if set, how threads wait; otherwise actively"},
    {"OMP_*, GOMP_*, KMP_*",
     "the others do not place threads: each thread is bound to a core of its own, within the affinity mask and "
     "cgroup of the process; a message on stderr says which variables are obeyed and which are not, and why, before "
     "something is measured"},
    {"ONEDNN_*, DNNL_*, OPENBLAS_*",
     "passed on and part of the directory's identity where they change what is computed or how fast; overridden "
     "where they would slow down what is measured, or say what a run setting says (ONEDNN_MAX_CPU_ISA: isa)"},
    {"LD_PRELOAD, LD_LIBRARY_PATH, GLIBC_TUNABLES, MALLOC_*",
     "part of the directory's identity, since they decide which code runs and how memory is allocated"},
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

size_t pdnn_help_width(void) {
    size_t width = pdnn_terminal_width(STDOUT_FILENO);
    if (!width)
        return 80;
    return width < 40 ? 40 : width > 100 ? 100 : width;
}

/* As mdoc wants it: one sentence per line, no line that starts like a request, and backslashes and the dashes
 * of options escaped. */
static void append_mdoc(struct pdnn_str *out, const char *text) {
    for (bool at_start = true; *text; text++) {
        const bool is_option = strncmp(text, "--", 2) == 0;
        if (at_start && (*text == '.' || *text == '\''))
            pdnn_str_printf(out, "\\&");
        at_start = text[0] == '.' && text[1] == ' ' && isupper((unsigned char)text[2]);
        if (*text == '\\' || is_option)
            pdnn_str_printf(out, "%s", is_option ? "\\-\\-" : "\\e");
        else
            pdnn_str_append(out, at_start ? ".\n" : text, at_start ? 2 : 1);
        text += at_start || is_option;
    }
    pdnn_str_append(out, "\n", 1);
}

static void append_upper(struct pdnn_str *out, const char *text) {
    for (; *text; text++)
        pdnn_str_printf(out, "%c", toupper((unsigned char)*text));
}

static void put_text(struct page *page, const char *text, size_t indent) {
    if (page->is_manual)
        append_mdoc(page->out, text);
    else
        pdnn_fill_text(page->out, text, indent, page->width);
}

static void end_list(struct page *page) {
    pdnn_str_printf(page->out, "%s", page->in_list ? ".El\n" : "");
    page->in_list = false;
}

/* Names a list, or in a manual page a section if it has one of its own. */
static void put_heading(struct page *page, const char *title, bool is_section) {
    end_list(page);
    if (!page->is_manual || !is_section) {
        pdnn_str_printf(page->out, "%s\n%s:\n", page->is_manual ? ".Pp" : "", title);
        return;
    }
    pdnn_str_printf(page->out, ".Sh ");
    append_upper(page->out, title);
    pdnn_str_append(page->out, "\n", 1);
}

static void put_paragraph(struct page *page, const char *text) {
    end_list(page);
    pdnn_str_printf(page->out, "%s\n", page->is_manual ? ".Pp" : "");
    put_text(page, text, 0);
}

/* Text goes to the column, below a name that is too long. macro: what mdoc calls such a name. */
static void put_row(struct page *page, const char *macro, const char *name, const char *help, size_t column) {
    const size_t used = ROW_INDENT + strlen(name);
    if (page->is_manual) {
        pdnn_str_printf(page->out, "%s.It %s ", page->in_list ? "" : ".Bl -tag -width Ds\n", macro);
        append_mdoc(page->out, name);
        page->in_list = true;
    } else {
        bool fits = used < column;
        pdnn_str_printf(page->out, "%*s%s%s%*s", ROW_INDENT, "", name, fits ? "" : "\n",
                        (int)(fits ? column - used : column), "");
    }
    put_text(page, help, column);
}

/* `rows` end with one that has no name. */
static void put_rows(struct page *page, const char *macro, const struct pdnn_help_row *rows, size_t column) {
    for (; rows->name; rows++)
        put_row(page, macro, rows->name, rows->help, column);
}

/* What a manual page begins with, up to its synopsis. name: the command's, "" for the program. */
static void put_title(struct page *page, const char *name, const char *summary) {
    const char *dash = *name ? "-" : "";
    pdnn_str_printf(page->out, ".Dd " PDNN_DATE "\n.Dt PARADNN%s", dash);
    append_upper(page->out, name);
    pdnn_str_printf(page->out, " 1\n.Os paradnn " PDNN_VERSION "\n.Sh NAME\n.Nm paradnn%s%s\n", dash, name);
    /* "Lists the operators." as a page's one line: "lists the operators". */
    pdnn_str_printf(page->out, ".Nd %c%.*s\n.Sh SYNOPSIS\n", tolower((unsigned char)*summary),
                    (int)strlen(summary) - 2, summary + 1);
}

static void put_synopsis(struct page *page, const struct pdnn_command_def *command) {
    pdnn_str_printf(page->out, ".Nm paradnn\n.Cm %s\n.Op Ar option ...\n", command->name);
    if (*command->operands)
        pdnn_str_printf(page->out, ".Ar %s\n", command->operands);
    if (command->rest)
        pdnn_str_printf(page->out, ".Op Fl - Ar %s\n", command->rest);
}

static void put_option(struct page *page, const struct pdnn_option_def *option) {
    struct pdnn_str name = {0};
    if (option->letter)
        pdnn_str_printf(&name, page->is_manual ? "%c , Fl " : "-%c, ", option->letter);
    pdnn_str_printf(&name, page->is_manual ? "-%s" : "--%s", option->name);
    if (option->argument)
        pdnn_str_printf(&name, page->is_manual ? " Ar %s" : " %s", option->argument);
    put_row(page, "Fl", pdnn_str_text(&name), option->help, HELP_COLUMN);
    pdnn_str_finish(&name);
}

static void put_command(struct page *page, const struct pdnn_command_def *command) {
    static const struct pdnn_option_def help_option = {"help", 'h', .help = "show this help and exit"};
    const char *paragraph, *name, *help, *rest = command->description;
    size_t length;
    if (page->is_manual) {
        put_title(page, command->name, command->summary);
        put_synopsis(page, command);
        pdnn_str_printf(page->out, ".Sh DESCRIPTION\n");
    } else {
        pdnn_str_printf(page->out, "Usage: paradnn %s%s%s [OPTION]...%s%s%s\n", command->name,
                        *command->operands ? " " : "", command->operands, command->rest ? " [-- " : "",
                        command->rest ? command->rest : "", command->rest ? "]" : "");
    }
    put_text(page, command->summary, 0);
    while ((paragraph = pdnn_part_next(&rest, "\n\n", &length))) {
        struct pdnn_str text = {0};
        pdnn_str_append(&text, paragraph, length);
        put_paragraph(page, pdnn_str_text(&text));
        pdnn_str_finish(&text);
    }
    if (command->kind) {
        char title[32]; /* the operand's own name */
        snprintf(title, sizeof title, "%.*s", (int)strcspn(command->operands, " "), command->operands);
        put_heading(page, title, false);
        for (size_t i = 0; command->kind(i, &name, &help); i++)
            put_row(page, "Cm", name, help, HELP_COLUMN);
    }
    put_heading(page, "Options", false);
    for (size_t i = 0; i < command->n_options; i++)
        put_option(page, &command->options[i]);
    put_option(page, &help_option);
    if (command->n_examples)
        put_heading(page, "Examples", true);
    for (size_t i = 0; i < command->n_examples; i++)
        put_row(page, "Ic", command->examples[i].name, command->examples[i].help, EXAMPLE_COLUMN);
    if (page->is_manual)
        put_heading(page, "See also", true);
    pdnn_str_printf(page->out, "%s", page->is_manual ? ".Xr paradnn 1\n" : "");
}

static int is_spec(const struct dirent *entry) {
    static const char *const endings[] = {".yaml", NULL};
    return pdnn_has_ending(entry->d_name, endings);
}

/* The specs that came with the program, if it is installed. */
static void put_installed(struct page *page) {
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
    put_paragraph(page, pdnn_str_text(&text));
    pdnn_str_finish(&text);
}

/* In a manual page each has one of its own. */
static void put_commands(struct page *page, int group) {
    put_heading(page, group_titles[group], false);
    for (const struct pdnn_command_def *const *command = pdnn_commands; *command; command++) {
        char name[32];
        snprintf(name, sizeof name, page->is_manual ? "paradnn-%s 1" : "%s", (*command)->name);
        if ((int)(*command)->group == group)
            put_row(page, "Xr", name, (*command)->summary, 12);
    }
}

static void put_program(struct page *page) {
    if (page->is_manual) {
        put_title(page, "", "Sweep parameterized DNN models over a CPU and its rooflines.");
        for (const struct pdnn_command_def *const *command = pdnn_commands; *command; command++)
            put_synopsis(page, *command);
        pdnn_str_printf(page->out, ".Sh DESCRIPTION\n");
    } else {
        pdnn_str_printf(page->out, "Usage: paradnn COMMAND [ARGUMENT]...\n");
    }
    put_text(page, purpose, 0);
    for (int group = 0; group < PDNN_COMMAND_GROUPS; group++)
        put_commands(page, group);
    put_paragraph(page, spec_purpose);
    if (!page->is_manual)
        put_installed(page);
    put_heading(page, "Options", false);
    put_rows(page, "No", option_rows, 20);
    if (page->is_manual) {
        put_heading(page, "Environment", true);
        put_rows(page, "Ev", environment_rows, 0);
        put_heading(page, "Files", true);
    }
    for (size_t i = 0; page->is_manual && i < PDNN_TABLE_FILES; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s.csv", pdnn_table_defs[i]->name);
        put_row(page, "Pa", name, pdnn_table_defs[i]->help, 0);
    }
    if (page->is_manual)
        put_rows(page, "Pa", file_rows, 0);
    put_heading(page, "Exit status", true);
    put_rows(page, "No", exit_rows, 8);
}

void pdnn_help_format(struct pdnn_str *out, const struct pdnn_command_def *command, bool is_manual) {
    struct page page = {.out = out, .width = pdnn_help_width(), .is_manual = is_manual};
    if (command)
        put_command(&page, command);
    else
        put_program(&page);
    end_list(&page);
}

void pdnn_param_range_format(struct pdnn_str *out, const struct pdnn_param_def *param) {
    if (param->type == PDNN_PARAM_CHOICE) {
        for (const char *const *choice = param->choices; *choice; choice++)
            pdnn_str_printf(out, "%s%s", choice == param->choices ? "" : ", ", *choice);
        return;
    }
    if (param->word)
        pdnn_str_printf(out, "%s, ", param->word);
    if (param->type == PDNN_PARAM_NAME) {
        pdnn_str_printf(out, "a name of 1 to %d of a-z, 0-9, '.', '-' and '_'", PDNN_NAME_LENGTH);
        return;
    }
    char low[PDNN_PARAM_TEXT], high[PDNN_PARAM_TEXT];
    pdnn_str_printf(out, "%s%s..%s", param->type == PDNN_PARAM_LIST ? "list of " : "",
                    pdnn_param_format_number(param, param->min, low),
                    pdnn_param_format_number(param, param->max, high));
}

void pdnn_hyper_help_format(struct pdnn_str *out, const struct pdnn_instance *defaults, size_t param) {
    char condition[PDNN_CONDITION_TEXT];
    pdnn_hyper_condition(defaults, param, condition);
    pdnn_str_printf(out, "%s%s%s", defaults->family->params[param].help, *condition ? "; with " : "",
                    condition);
}
