#include "cli/args/page.h"

#include "base/fill.h"

#include <string.h>

enum { MARKDOWN_WIDTH = 110, TEXT_INDENT = 2, HELP_INDENT = 6 };

static size_t width_of(const struct pdnn_page *page) {
    return page->markdown ? MARKDOWN_WIDTH : page->width;
}

/* Every part but the first is preceded by an empty line. */
static void begin(struct pdnn_page *page) {
    pdnn_str_printf(page->out, "%s", page->out->length ? "\n" : "");
    page->in_table = false;
}

void pdnn_page_heading(struct pdnn_page *page, size_t level, const char *text) {
    begin(page);
    if (page->markdown)
        pdnn_str_printf(page->out, "%.*s ", (int)level, "####");
    pdnn_str_printf(page->out, "%s\n", text);
    for (size_t i = 0; !page->markdown && i <= strlen(text); i++)
        pdnn_str_printf(page->out, !text[i] ? "\n" : level < 3 ? "=" : "-");
}

void pdnn_page_paragraph(struct pdnn_page *page, const char *text) {
    begin(page);
    pdnn_fill_text(page->out, text, 0, width_of(page));
}

void pdnn_page_item(struct pdnn_page *page, const char *text) {
    pdnn_str_printf(page->out, "- ");
    pdnn_fill_text(page->out, text, TEXT_INDENT, width_of(page));
}

void pdnn_page_code(struct pdnn_page *page, const char *text) {
    begin(page);
    if (page->markdown)
        pdnn_str_printf(page->out, "```yaml\n%s```\n", text);
    for (const char *line = text; !page->markdown && *line;) {
        size_t length = strcspn(line, "\n");
        pdnn_str_printf(page->out, "    %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

/* A cell; a bar in it must not end it. */
static void append_cell(struct pdnn_str *out, const char *text, bool is_code) {
    const char *mark = is_code && *text ? "`" : "";
    pdnn_str_printf(out, " %s", mark);
    for (; *text; text++)
        pdnn_str_printf(out, *text == '|' ? "\\|" : "%c", *text);
    pdnn_str_printf(out, "%s |", mark);
}

static void append_markdown(struct pdnn_page *page, const char *name_title, const struct pdnn_page_key *key,
                            bool is_first) {
    struct pdnn_str absent = {0};
    pdnn_str_printf(&absent, "(%s)", key->absent ? key->absent : "");
    const struct {
        const char *title, *text;
        bool is_code;
    } cells[] = {{name_title, key->name, true},
                 {"values", key->values, false},
                 {"default", key->absent ? pdnn_str_text(&absent) : key->fallback, false},
                 {"meaning", key->help, false},
                 {"example", key->example, true}};
    enum { N_CELLS = sizeof cells / sizeof *cells };
    for (size_t line = is_first ? 0 : 2; line < 3; line++) {
        pdnn_str_printf(page->out, "|");
        for (size_t i = 0; i < N_CELLS; i++) {
            if (cells[i].text && line < 2)
                pdnn_str_printf(page->out, line ? "---|" : " %s |", cells[i].title);
            else if (cells[i].text)
                append_cell(page->out, cells[i].text, cells[i].is_code);
        }
        pdnn_str_printf(page->out, "\n");
    }
    pdnn_str_finish(&absent);
}

static void append_text(struct pdnn_page *page, const struct pdnn_page_key *key) {
    struct pdnn_str head = {0};
    pdnn_str_printf(&head, "%s", key->name);
    if (key->values && *key->values)
        pdnn_str_printf(&head, ": %s", key->values);
    if (key->fallback && *key->fallback)
        pdnn_str_printf(&head, "; default %s", key->fallback);
    else if (key->absent)
        pdnn_str_printf(&head, "; without it %s", key->absent);
    pdnn_str_printf(page->out, "%*s", TEXT_INDENT, "");
    pdnn_fill_text(page->out, pdnn_str_text(&head), TEXT_INDENT, page->width);
    pdnn_str_printf(page->out, "%*s", HELP_INDENT, "");
    pdnn_fill_text(page->out, key->help, HELP_INDENT, page->width);
    if (key->example && *key->example)
        pdnn_str_printf(page->out, "%*s%s\n", HELP_INDENT, "", key->example);
    pdnn_str_finish(&head);
}

void pdnn_page_key(struct pdnn_page *page, const char *name_title, const struct pdnn_page_key *key) {
    bool is_first = !page->in_table;
    if (is_first)
        begin(page);
    page->in_table = true;
    if (page->markdown)
        append_markdown(page, name_title, key, is_first);
    else
        append_text(page, key);
}
