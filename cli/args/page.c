#include "cli/args/page.h"

#include "base/fill.h"
#include "cli/args/options.h"

#include <ctype.h>
#include <string.h>

enum { ROW_INDENT = 2, EXAMPLE_COLUMN = 6, HELP_COLUMN = 24 };

/* As mdoc wants it: one sentence per line, no line that starts like a request, and backslashes and the dashes
 * of options escaped. */
static void append_mdoc(struct pdnn_str *out, const char *text) {
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

static void put_text(struct pdnn_page *page, const char *text, size_t indent) {
    if (page->is_manual)
        append_mdoc(page->out, text);
    else
        pdnn_fill_text(page->out, text, indent, page->width);
}

static void end_list(struct pdnn_page *page) {
    pdnn_str_printf(page->out, "%s", page->in_list ? ".El\n" : "");
    page->in_list = false;
}

void pdnn_page_heading(struct pdnn_page *page, const char *title, bool is_section) {
    end_list(page);
    if (!page->is_manual || !is_section) {
        pdnn_str_printf(page->out, "%s\n%s:\n", page->is_manual ? ".Pp" : "", title);
        return;
    }
    pdnn_str_printf(page->out, ".Sh ");
    for (; *title; title++)
        pdnn_str_printf(page->out, "%c", toupper((unsigned char)*title));
    pdnn_str_append(page->out, "\n", 1);
}

void pdnn_page_paragraph(struct pdnn_page *page, const char *text) {
    end_list(page);
    pdnn_str_printf(page->out, "%s\n", page->is_manual ? ".Pp" : "");
    put_text(page, text, 0);
}

void pdnn_page_row(struct pdnn_page *page, const char *macro, const char *name, const char *help,
                   size_t column) {
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

void pdnn_page_synopsis(struct pdnn_page *page, const struct pdnn_command_def *command) {
    pdnn_str_printf(page->out, ".Nm paradnn\n.Cm %s\n.Op Ar option ...\n", command->name);
    if (*command->operands)
        pdnn_str_printf(page->out, ".Ar %s\n", command->operands);
    if (command->rest)
        pdnn_str_printf(page->out, ".Op Fl - Ar %s\n", command->rest);
}

void pdnn_page_begin(struct pdnn_page *page, const struct pdnn_command_def *command, const char *summary) {
    const char *name = command ? command->name : "";
    pdnn_str_printf(page->out, ".Dd " PDNN_DATE "\n.Dt PARADNN%s", *name ? "-" : "");
    for (const char *letter = name; *letter; letter++)
        pdnn_str_printf(page->out, "%c", toupper((unsigned char)*letter));
    pdnn_str_printf(page->out, " 1\n.Os paradnn " PDNN_VERSION "\n.Sh NAME\n.Nm paradnn%s%s\n",
                    *name ? "-" : "", name);
    /* "Lists the operators." as a page's one line: "lists the operators". */
    pdnn_str_printf(page->out, ".Nd %c%.*s\n.Sh SYNOPSIS\n", tolower((unsigned char)*summary),
                    (int)strlen(summary) - 2, summary + 1);
}

static void put_option(struct pdnn_page *page, const struct pdnn_option_def *option) {
    struct pdnn_str name = {0};
    if (option->letter)
        pdnn_str_printf(&name, page->is_manual ? "%c , Fl " : "-%c, ", option->letter);
    pdnn_str_printf(&name, page->is_manual ? "-%s" : "--%s", option->name);
    if (option->argument)
        pdnn_str_printf(&name, page->is_manual ? " Ar %s" : " %s", option->argument);
    pdnn_page_row(page, "Fl", pdnn_str_text(&name), option->help, HELP_COLUMN);
    pdnn_str_finish(&name);
}

/* One row per kind, under the operand's own name. */
static void put_kinds(struct pdnn_page *page, const struct pdnn_command_def *command) {
    const char *name, *help;
    struct pdnn_str title = {0};
    pdnn_str_append(&title, command->operands, strcspn(command->operands, " "));
    pdnn_page_heading(page, pdnn_str_text(&title), false);
    for (size_t i = 0; command->kind(i, &name, &help); i++)
        pdnn_page_row(page, "Cm", name, help, HELP_COLUMN);
    pdnn_str_finish(&title);
}

void pdnn_page_command(struct pdnn_page *page, const struct pdnn_command_def *command) {
    static const struct pdnn_option_def help = {"help", 'h', .help = "show this help and exit"};
    if (page->is_manual) {
        pdnn_page_begin(page, command, command->summary);
        pdnn_page_synopsis(page, command);
        pdnn_str_printf(page->out, ".Sh DESCRIPTION\n");
    } else {
        pdnn_str_printf(page->out, "Usage: paradnn %s%s%s [OPTION]...%s%s%s\n", command->name,
                        *command->operands ? " " : "", command->operands, command->rest ? " [-- " : "",
                        command->rest ? command->rest : "", command->rest ? "]" : "");
    }
    put_text(page, command->summary, 0);
    for (const char *text = command->description; *text; text += strspn(text, "\n")) {
        struct pdnn_str paragraph = {0};
        const char *end = strstr(text, "\n\n");
        pdnn_str_append(&paragraph, text, end ? (size_t)(end - text) : strlen(text));
        pdnn_page_paragraph(page, pdnn_str_text(&paragraph));
        text += paragraph.length;
        pdnn_str_finish(&paragraph);
    }
    if (command->kind)
        put_kinds(page, command);
    pdnn_page_heading(page, "Options", false);
    for (size_t i = 0; i < command->n_options; i++)
        put_option(page, &command->options[i]);
    put_option(page, &help);
    if (command->n_examples)
        pdnn_page_heading(page, "Examples", true);
    for (size_t i = 0; i < command->n_examples; i++)
        pdnn_page_row(page, "Ic", command->examples[i].name, command->examples[i].help, EXAMPLE_COLUMN);
    if (page->is_manual)
        pdnn_page_heading(page, "See also", true);
    pdnn_str_printf(page->out, "%s", page->is_manual ? ".Xr paradnn 1\n" : "");
}
