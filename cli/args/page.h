/* A page about a command or the whole program: text for a terminal, or mdoc(7) source of a manual page, put
 * down part by part. */
#ifndef CLI_ARGS_PAGE_H
#define CLI_ARGS_PAGE_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct pdnn_command_def;

struct pdnn_page {
    struct pdnn_str *out;
    size_t width; /* to which text is filled */
    bool is_manual;
    bool in_list; /* of a manual page: rows were put down, so that the next thing ends their list */
};

/* Names a list, or in a manual page a section if it has one of its own. */
void pdnn_page_heading(struct pdnn_page *page, const char *title, bool is_section);

void pdnn_page_paragraph(struct pdnn_page *page, const char *text);

/* Text goes to the column, below a name that is too long. macro: what mdoc calls such a name. */
void pdnn_page_row(struct pdnn_page *page, const char *macro, const char *name, const char *help,
                   size_t column);

/* What a page begins with, up to its first text. command: NULL for the program's. */
void pdnn_page_begin(struct pdnn_page *page, const struct pdnn_command_def *command, const char *summary);

/* What a manual page has of the command in a synopsis. */
void pdnn_page_synopsis(struct pdnn_page *page, const struct pdnn_command_def *command);

/* The page of a command, from its rows. */
void pdnn_page_command(struct pdnn_page *page, const struct pdnn_command_def *command);

#endif
