#define _DEFAULT_SOURCE /* struct winsize */
#include "cli/table.h"

#include "base/visible.h"
#include "cli/fill.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { GAP = 2 };

void pdnn_table_init(struct pdnn_table *table, const struct pdnn_table_column *columns, size_t n_columns) {
    *table = (struct pdnn_table){.columns = columns, .n_columns = n_columns};
}

void pdnn_table_finish(struct pdnn_table *table) {
    pdnn_arena_finish(&table->arena);
    free(table->cells);
    *table = (struct pdnn_table){0};
}

void pdnn_table_cell(struct pdnn_table *table, const char *format, ...) {
    if (table->n_cells == table->room) {
        size_t room = table->room ? table->room * 2 : 64;
        char **cells = realloc(table->cells, room * sizeof *cells);
        if (!cells) {
            table->failed = true;
            return;
        }
        table->cells = cells;
        table->room = room;
    }
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    char *cell = pdnn_arena_strdup(&table->arena, text);
    table->failed = table->failed || !cell;
    if (cell)
        table->cells[table->n_cells++] = cell;
}

void pdnn_table_number(struct pdnn_table *table, double value, int decimals, const char *unit) {
    if (isnan(value))
        pdnn_table_cell(table, "%s", "");
    else
        pdnn_table_cell(table, "%.*f%s", decimals, value, unit);
}

/* Takes from the widest of the columns that may shrink, one character at a time, until the sum fits. */
static void shrink(const struct pdnn_table *table, size_t *widths, size_t width) {
    size_t sum = GAP * (table->n_columns - 1);
    for (size_t c = 0; c < table->n_columns; c++)
        sum += widths[c];
    for (; sum > width; sum--) {
        size_t widest = table->n_columns;
        for (size_t c = 0; c < table->n_columns; c++)
            if (table->columns[c].align == PDNN_ALIGN_SHRINK && widths[c] > PDNN_TABLE_SHRUNK &&
                (widest == table->n_columns || widths[c] > widths[widest]))
                widest = c;
        if (widest == table->n_columns)
            return;
        widths[widest]--;
    }
}

/* Titles, then cells. */
static const char *text_of(const struct pdnn_table *table, size_t i, char buffer[PDNN_VISIBLE_TEXT]) {
    size_t n = table->n_columns;
    return pdnn_visible(buffer, i < n ? table->columns[i].title : table->cells[i - n]);
}

static void append_cell(struct pdnn_str *out, const char *text, size_t width, enum pdnn_align align,
                        bool is_last) {
    size_t length = strlen(text);
    if (length > width) {
        size_t head = (width - 2 + 1) / 2, tail = width - 2 - head;
        pdnn_str_printf(out, "%.*s..%s", (int)head, text, text + length - tail);
        return;
    }
    if (align == PDNN_ALIGN_RIGHT)
        pdnn_str_printf(out, "%*s", (int)width, text);
    else
        pdnn_str_printf(out, "%-*s", is_last ? 0 : (int)width, text);
}

/* The width of each column is that of its widest cell; a wrapping column gets
 * what is left of the terminal. */
static void measure(const struct pdnn_table *table, size_t width, size_t *widths) {
    size_t n = table->n_columns, others = GAP * (n - 1);
    for (size_t i = 0; i < n + table->n_cells; i++) {
        char buffer[PDNN_VISIBLE_TEXT];
        size_t length = strlen(text_of(table, i, buffer));
        if (i < n || length > widths[i % n])
            widths[i % n] = length;
    }
    if (!width)
        return;
    for (size_t c = 0; c + 1 < n; c++)
        others += widths[c];
    if (table->columns[n - 1].align == PDNN_ALIGN_WRAP)
        widths[n - 1] = others + PDNN_TABLE_WRAPPED > width ? PDNN_TABLE_WRAPPED : width - others;
    shrink(table, widths, width);
}

bool pdnn_table_format(const struct pdnn_table *table, size_t width, struct pdnn_str *out) {
    size_t widths[PDNN_TABLE_COLUMNS_MAX];
    size_t n = table->n_columns, indent = 0;
    measure(table, width, widths);
    for (size_t c = 0; c + 1 < n; c++)
        indent += widths[c] + GAP;
    for (size_t i = 0; i < n + table->n_cells; i++) {
        size_t c = i % n;
        char buffer[PDNN_VISIBLE_TEXT];
        const char *text = text_of(table, i, buffer);
        bool is_last = c == n - 1;
        if (is_last && table->columns[c].align == PDNN_ALIGN_WRAP) {
            pdnn_fill_text(out, text, indent, indent + widths[c]);
            continue;
        }
        append_cell(out, text, widths[c], table->columns[c].align, is_last);
        pdnn_str_printf(out, "%s", is_last ? "\n" : "  ");
    }
    return !table->failed && !out->failed;
}

size_t pdnn_terminal_width(int fd) {
    struct winsize size;
    if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) != 0)
        return 0;
    return size.ws_col;
}
