/* A document of headings, paragraphs, examples and tables of keys, as Markdown or as text for a terminal. */
#ifndef CLI_ARGS_PAGE_H
#define CLI_ARGS_PAGE_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct pdnn_page {
    struct pdnn_str *out;
    bool markdown;
    size_t width;  /* of the text for a terminal */
    bool in_table; /* rows were written, so that the next thing ends the table */
};

/* level: from 1. */
void pdnn_page_heading(struct pdnn_page *page, size_t level, const char *text);
void pdnn_page_paragraph(struct pdnn_page *page, const char *text);
void pdnn_page_item(struct pdnn_page *page, const char *text); /* of a list */

/* YAML, lines as they are, each ended. */
void pdnn_page_code(struct pdnn_page *page, const char *text);

/* What a table says about a key; "" for what it does not say, NULL if no row of the table says it. absent:
 * what holds without the key, if there is no default. */
struct pdnn_page_key {
    const char *name, *values, *fallback, *absent, *help, *example;
};

/* A row of a table; the first after anything else begins one, with `name_title` above the names. */
void pdnn_page_key(struct pdnn_page *page, const char *name_title, const struct pdnn_page_key *key);

#endif
