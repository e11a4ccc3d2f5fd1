#include "cli/args/man.h"

#include "cli/args/help.h"
#include "cli/args/registry.h"
#include "cli/args/tables.h"
#include "models/family.h"
#include "models/instance.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

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

/* Besides those that are tables. */
static const struct pdnn_help_row file_rows[] = {
    {"environment.yaml", "the machine, the software and the effective settings"},
    {"spec.yaml", "the spec as run"},
    {0},
};

static const struct pdnn_help_row installed_rows[] = {
    {PDNN_DATA_DIRECTORY "/sweeps",
     "ready specs; SPEC finds them by their name, fc.yaml or sweeps/fc.yaml, where no such file is"},
    {PDNN_DATA_DIRECTORY "/examples", "result directories, to try the commands that read one"},
    {0},
};

/* Text as mdoc wants it: one sentence per line, no line that starts like a request, and backslashes and the
 * dashes of options escaped. */
static void man_text(struct pdnn_str *out, const char *text) {
    for (bool at_start = true; *text; text++) {
        if (at_start && (*text == '.' || *text == '\''))
            pdnn_str_printf(out, "\\&");
        at_start = text[0] == '.' && text[1] == ' ' && isupper((unsigned char)text[2]);
        if (*text == '\\')
            pdnn_str_printf(out, "\\e");
        else if (*text == '-' && text[1] == '-')
            pdnn_str_printf(out, "\\-\\-");
        else
            pdnn_str_append(out, text, 1);
        if (at_start)
            pdnn_str_append(out, "\n", 1);
        text += at_start || (*text == '-' && text[1] == '-');
    }
    pdnn_str_append(out, "\n", 1);
}

/* `rows` end with one that has no name. */
static void man_rows(struct pdnn_str *out, const char *macro, const struct pdnn_help_row *rows) {
    pdnn_str_printf(out, ".Bl -tag -width Ds\n");
    for (size_t i = 0; rows[i].name; i++) {
        pdnn_str_printf(out, ".It %s %s\n", macro, rows[i].name);
        man_text(out, rows[i].help);
    }
    pdnn_str_printf(out, ".El\n");
}

static void man_option(struct pdnn_str *out, const struct pdnn_option_def *option) {
    pdnn_str_printf(out, ".It");
    if (option->letter)
        pdnn_str_printf(out, " Fl %c ,", option->letter);
    pdnn_str_printf(out, " Fl -%s", option->name);
    if (option->argument)
        pdnn_str_printf(out, " Ar %s", option->argument);
    pdnn_str_append(out, "\n", 1);
    man_text(out, option->help);
}

static void man_kinds(struct pdnn_str *out, const struct pdnn_command_def *command) {
    const char *name, *help;
    if (!command->kind)
        return;
    pdnn_str_printf(out, ".Bl -tag -width Ds\n");
    for (size_t i = 0; command->kind(i, &name, &help); i++) {
        pdnn_str_printf(out, ".It Cm %s\n", name);
        man_text(out, help);
    }
    pdnn_str_printf(out, ".El\n");
}

/* `defaults` is an instance of the family whose hyper-parameters these are, or NULL. */
static void man_params(struct pdnn_str *out, const struct pdnn_param_def *params, size_t count,
                       const struct pdnn_instance *defaults) {
    pdnn_str_printf(out, ".Bl -tag -width Ds\n");
    for (size_t i = 0; i < count; i++) {
        char buffer[PDNN_PARAM_TEXT];
        struct pdnn_str line = {0};
        if (defaults)
            pdnn_hyper_help_format(&line, defaults, i);
        else
            pdnn_str_printf(&line, "%s", params[i].help);
        pdnn_str_printf(&line, " (");
        pdnn_param_range_format(&line, &params[i]);
        pdnn_str_printf(&line, "; default %s)",
                        pdnn_param_format(&params[i], pdnn_value_of(params[i].fallback), buffer));
        pdnn_str_printf(out, ".It Cm %s\n", params[i].name);
        man_text(out, pdnn_str_text(&line));
        pdnn_str_finish(&line);
    }
    pdnn_str_printf(out, ".El\n");
}

/* "November 22, 2026" of PDNN_DATE, 2026-11-22. */
static void man_date(struct pdnn_str *out) {
    static const char *const months[] = {"January",   "February", "March",    "April",
                                         "May",       "June",     "July",     "August",
                                         "September", "October",  "November", "December"};
    const char date[] = PDNN_DATE;
    long month = strtol(date + 5, NULL, 10), day = strtol(date + 8, NULL, 10);
    pdnn_str_printf(out, "%s %ld, %.4s", months[(month + 11) % 12], day, date);
}

/* Up to the name of the page, which is that of the program or of a command. */
static void man_head(struct pdnn_str *out, const char *command) {
    pdnn_str_printf(out, ".Dd ");
    man_date(out);
    pdnn_str_printf(out, "\n.Dt PARADNN");
    for (const char *letter = command; *letter; letter++)
        pdnn_str_printf(out, "%s%c", letter == command ? "-" : "", toupper((unsigned char)*letter));
    pdnn_str_printf(out, " 1\n.Os paradnn " PDNN_VERSION "\n.Sh NAME\n.Nm paradnn%s%s\n", *command ? "-" : "",
                    command);
}

static void man_synopsis(struct pdnn_str *out, const struct pdnn_command_def *command) {
    pdnn_str_printf(out, ".Nm paradnn\n.Cm %s\n.Op Ar option ...\n", command->name);
    if (*command->operands)
        pdnn_str_printf(out, ".Ar %s\n", command->operands);
    if (command->rest)
        pdnn_str_printf(out, ".Op Fl - Ar %s\n", command->rest);
}

static void man_examples(struct pdnn_str *out, const struct pdnn_command_def *command) {
    for (size_t i = 0; i < command->n_examples; i++) {
        man_text(out, command->examples[i].help);
        pdnn_str_printf(out, ".Bd -literal -offset indent\n");
        man_text(out, command->examples[i].command);
        pdnn_str_printf(out, ".Ed\n");
    }
}

/* "Lists the operators." as a page's one line: "lists the operators". */
static void man_summary(struct pdnn_str *out, const char *summary) {
    size_t length = strlen(summary);
    pdnn_str_printf(out, "%c%.*s\n", tolower((unsigned char)*summary), (int)(length ? length - 2 : 0),
                    summary + 1);
}

static void man_command(struct pdnn_str *out, const struct pdnn_command_def *command) {
    man_head(out, command->name);
    pdnn_str_printf(out, ".Nd ");
    man_summary(out, command->summary);
    pdnn_str_printf(out, ".Sh SYNOPSIS\n");
    man_synopsis(out, command);
    pdnn_str_printf(out, ".Sh DESCRIPTION\n");
    man_text(out, command->summary);
    for (const char *const *paragraph = command->paragraphs; *paragraph; paragraph++) {
        pdnn_str_printf(out, ".Pp\n");
        man_text(out, *paragraph);
    }
    man_kinds(out, command);
    if (command->n_options)
        pdnn_str_printf(out, ".Pp\nThe options are:\n.Bl -tag -width Ds\n");
    for (size_t i = 0; i < command->n_options; i++)
        man_option(out, &command->options[i]);
    if (command->n_options)
        pdnn_str_printf(out, ".El\n");
    if (command->n_examples)
        pdnn_str_printf(out, ".Sh EXAMPLES\n");
    man_examples(out, command);
    pdnn_str_printf(out, ".Sh SEE ALSO\n.Xr paradnn 1\n");
}

/* Every command, with where to read on. */
static void man_commands(struct pdnn_str *out) {
    pdnn_str_printf(out, ".Sh COMMANDS\nEach has a page of its own, with its options.\n.Bl -tag -width Ds\n");
    for (const struct pdnn_command_def *const *command = pdnn_commands; *command; command++) {
        pdnn_str_printf(out, ".It Xr paradnn-%s 1\n", (*command)->name);
        man_text(out, (*command)->summary);
    }
    pdnn_str_printf(out, ".El\n");
}

static void man_families(struct pdnn_str *out) {
    pdnn_str_printf(out, ".Sh MODEL FAMILIES\n");
    for (const struct pdnn_family_def *const *family = pdnn_families; *family; family++) {
        struct pdnn_instance defaults;
        pdnn_instance_init(&defaults, *family);
        pdnn_str_printf(out, ".Ss %s\n", (*family)->name);
        man_text(out, (*family)->help);
        man_params(out, (*family)->params, (*family)->n_params, &defaults);
    }
}

static void man_files(struct pdnn_str *out) {
    pdnn_str_printf(out, ".Sh FILES\nIn a result directory:\n.Bl -tag -width Ds\n");
    for (size_t i = 0; i < PDNN_TABLE_FILES; i++) {
        pdnn_str_printf(out, ".It Pa %s.csv\n", pdnn_table_defs[i]->name);
        man_text(out, pdnn_table_defs[i]->help);
    }
    pdnn_str_printf(out, ".El\n");
    man_rows(out, "Pa", file_rows);
}

static void man_program(struct pdnn_str *out) {
    man_head(out, "");
    pdnn_str_printf(out, ".Nd sweep parameterized DNN models over a CPU and its rooflines\n.Sh SYNOPSIS\n");
    for (const struct pdnn_command_def *const *command = pdnn_commands; *command; command++)
        man_synopsis(out, *command);
    pdnn_str_printf(out, ".Nm paradnn\n.Fl -help | -version | -man Op Ar command\n.Sh DESCRIPTION\n");
    man_text(out, pdnn_purpose);
    pdnn_str_printf(out, ".Pp\n");
    man_text(out, pdnn_spec_purpose);
    pdnn_str_printf(out, ".Pp\n");
    man_text(out, "Tables are formatted for people by default; --format csv gives raw numbers, "
                  "with the unit in the column's name. Data goes to standard output, "
                  "progress and messages to standard error.");
    man_commands(out);
    pdnn_str_printf(out, ".Sh RUN SETTINGS\n");
    man_text(out, "How an instance is run: keys of the section run in a spec, and of an ID.");
    man_params(out, pdnn_settings, PDNN_SETTING_COUNT, NULL);
    man_families(out);
    pdnn_str_printf(out, ".Sh ENVIRONMENT\n");
    man_rows(out, "Ev", environment_rows);
    man_files(out);
    pdnn_str_printf(out, ".Pp\nInstalled:\n");
    man_rows(out, "Pa", installed_rows);
    pdnn_str_printf(out, ".Sh EXIT STATUS\n");
    man_rows(out, "No", pdnn_exit_rows);
}

void pdnn_man_format(struct pdnn_str *out, const struct pdnn_command_def *command) {
    if (command)
        man_command(out, command);
    else
        man_program(out);
}
