#include "cli/help.h"

#include "cli/fill.h"
#include "cli/registry.h"
#include "cli/table.h"
#include "models/family.h"
#include "models/instance.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>
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

static const char specs[] =
    "SPEC is a YAML file that says which models to run and how. An ID works wherever a SPEC does. "
    "It is one model with its settings, fc/layers=4,nodes=1024,batch=64 (anything left out takes its "
    "default), or a preset with changes, cnn:resnet50,batch=1.";

struct row {
    const char *name, *help;
};

static const struct row environment_rows[] = {
    {"NO_COLOR", "if set and not empty, progress is drawn without color"},
    {"OMP_NUM_THREADS",
     "if set, threads: all is at most this; otherwise it is the cores this process may use"},
    {"OMP_THREAD_LIMIT", "if set, no instance may have more threads"},
    {"OMP_WAIT_POLICY", "if set, how threads wait; otherwise actively"},
    {"OMP_*, GOMP_*, KMP_*",
     "the others do not place threads: each thread is bound to a core of its own, within the affinity mask and "
     "cgroup of the process; a message on stderr says which variables are obeyed and which overridden"},
    {"PARADNN_NO_CACHE", "if set and not empty, the same as --no-cache"},
    {"PARADNN_WORKER", "if set, the worker program to start; otherwise the one of the same build"},
};

static const struct row file_rows[] = {
    {"journal.csv", "one row per visit to an instance, appended as it happens; the source of the tables"},
    {"journal-ops.csv", "one row per visit and operator, written before the visit's row commits them"},
    {"results.csv", "one row per instance, from all its visits"},
    {"ops.csv", "one row per instance, op and pass"},
    {"ceilings.csv", "the machine's measured roofs"},
    {"environment.yaml", "the machine, the software and the effective settings"},
    {"spec.yaml", "the spec as run"},
};

static const struct row exit_rows[] = {
    {"0", "success"},
    {"1", "some instances failed, none ended ok, or the machine failed (disk full, out of memory)"},
    {"2", "the command line, a spec or an input file is wrong; nothing ran"},
    {"130", "interrupted by a signal; what was measured is kept"},
};

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

static void append_rows(struct pdnn_str *out, const struct row *rows, size_t count, size_t column,
                        size_t width) {
    for (size_t i = 0; i < count; i++) {
        pdnn_str_printf(out, "  %-*s", (int)column - 2, rows[i].name);
        pdnn_fill_text(out, rows[i].help, column, width);
    }
}

void pdnn_help_format(struct pdnn_str *out, size_t width) {
    pdnn_str_printf(out, "Usage: paradnn COMMAND [ARGUMENT]...\n");
    pdnn_fill_text(out, purpose, 0, width);
    pdnn_str_printf(out, "\nCommands:\n");
    for (const struct pdnn_command_def *const *command = pdnn_commands; *command; command++) {
        struct row row = {(*command)->name, (*command)->summary};
        append_rows(out, &row, 1, 12, width);
    }
    pdnn_str_append(out, "\n", 1);
    pdnn_fill_text(out, specs, 0, width);
    pdnn_str_printf(out, "\nOptions:\n");
    static const struct row options[] = {
        {"-h, --help", "show this help, or that of a command, and exit"},
        {"--version", "show the versions of paradnn and of its backends and exit"},
        {"--man", "print the manual page as mdoc source and exit"},
    };
    append_rows(out, options, COUNT(options), 16, width);
    pdnn_str_printf(out, "\nExit status:\n");
    append_rows(out, exit_rows, COUNT(exit_rows), 8, width);
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

static void man_rows(struct pdnn_str *out, const char *macro, const struct row *rows, size_t count) {
    pdnn_str_printf(out, ".Bl -tag -width Ds\n");
    for (size_t i = 0; i < count; i++) {
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

static void man_command(struct pdnn_str *out, const struct pdnn_command_def *command) {
    pdnn_str_printf(out, ".Ss paradnn %s%s%s\n", command->name, *command->operands ? " " : "",
                    command->operands);
    man_text(out, command->summary);
    for (const char *const *paragraph = command->paragraphs; *paragraph; paragraph++) {
        pdnn_str_printf(out, ".Pp\n");
        man_text(out, *paragraph);
    }
    const char *name, *help;
    if (command->kind)
        pdnn_str_printf(out, ".Bl -tag -width Ds\n");
    for (size_t i = 0; command->kind && command->kind(i, &name, &help); i++) {
        pdnn_str_printf(out, ".It Cm %s\n", name);
        man_text(out, help);
    }
    if (command->kind)
        pdnn_str_printf(out, ".El\n");
    if (!command->n_options)
        return;
    pdnn_str_printf(out, ".Bl -tag -width Ds\n");
    for (size_t i = 0; i < command->n_options; i++)
        man_option(out, &command->options[i]);
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

static void man_examples(struct pdnn_str *out) {
    pdnn_str_printf(out, ".Sh EXAMPLES\n");
    for (const struct pdnn_command_def *const *command = pdnn_commands; *command; command++) {
        for (size_t i = 0; i < (*command)->n_examples; i++) {
            man_text(out, (*command)->examples[i].help);
            pdnn_str_printf(out, ".Bd -literal -offset indent\n");
            man_text(out, (*command)->examples[i].command);
            pdnn_str_printf(out, ".Ed\n");
        }
    }
}

void pdnn_man_format(struct pdnn_str *out) {
    pdnn_str_printf(out, ".Dd November 21, 2026\n.Dt PARADNN 1\n.Os\n.Sh NAME\n.Nm paradnn\n"
                         ".Nd sweep parameterized DNN models over a CPU and its rooflines\n.Sh SYNOPSIS\n");
    for (const struct pdnn_command_def *const *command = pdnn_commands; *command; command++)
        pdnn_str_printf(out, ".Nm\n.Cm %s\n.Op Ar option ...\n%s%s%s%s%s%s", (*command)->name,
                        *(*command)->operands ? ".Ar " : "", (*command)->operands,
                        *(*command)->operands ? "\n" : "", (*command)->rest ? ".Op Fl - Ar " : "",
                        (*command)->rest ? (*command)->rest : "", (*command)->rest ? "\n" : "");
    pdnn_str_printf(out, ".Nm\n.Fl -help | -version | -man\n.Sh DESCRIPTION\n");
    man_text(out, purpose);
    pdnn_str_printf(out, ".Pp\n");
    man_text(out, specs);
    pdnn_str_printf(out, ".Pp\n");
    man_text(out, "Tables are formatted for people by default; --format csv gives raw numbers, "
                  "with the unit in the column's name. Data goes to standard output, "
                  "progress and messages to standard error.");
    pdnn_str_printf(out, ".Sh COMMANDS\n");
    for (const struct pdnn_command_def *const *command = pdnn_commands; *command; command++)
        man_command(out, *command);
    pdnn_str_printf(out, ".Sh RUN SETTINGS\n");
    man_text(out, "How an instance is run: keys of the section run in a spec, and of an ID.");
    man_params(out, pdnn_settings, PDNN_SETTING_COUNT, NULL);
    pdnn_str_printf(out, ".Sh MODEL FAMILIES\n");
    for (const struct pdnn_family_def *const *family = pdnn_families; *family; family++) {
        struct pdnn_instance defaults;
        pdnn_instance_init(&defaults, *family);
        pdnn_str_printf(out, ".Ss %s\n", (*family)->name);
        man_text(out, (*family)->help);
        man_params(out, (*family)->params, (*family)->n_params, &defaults);
    }
    pdnn_str_printf(out, ".Sh ENVIRONMENT\n");
    man_rows(out, "Ev", environment_rows, COUNT(environment_rows));
    pdnn_str_printf(out, ".Sh FILES\nIn the directory that\n.Cm sweep\nwrites:\n");
    man_rows(out, "Pa", file_rows, COUNT(file_rows));
    pdnn_str_printf(out, ".Sh EXIT STATUS\n");
    man_rows(out, "No", exit_rows, COUNT(exit_rows));
    man_examples(out);
}
