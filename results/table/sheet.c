#include "results/table/sheet.h"

#include "base/memory.h"
#include "base/visible.h"
#include "base/fill.h"

#include <stdlib.h>
#include <string.h>

/* LEAST_CUT: what is left of a cell in a column that is cut. READABLE: what text over several lines should
 * have before other columns are kept. SQUEEZED: a column's width where nothing fits. */
enum { GAP = 2, LEAST_CUT = 16, READABLE = 28, SQUEEZED = 4 };

struct column {
    size_t at; /* in the table */
    const char *title;
    enum pdnn_align align;
    int spare; /* may be left out on a narrow terminal, the highest first; 0: may not */
};

/* How the rows are set at some width. */
struct layout {
    size_t width[PDNN_TABLE_COLUMNS_MAX];
    bool shown[PDNN_TABLE_COLUMNS_MAX];
    size_t indent; /* of rows below the line of their group */
};

struct pdnn_sheet {
    struct column *columns;
    size_t n_columns;
    struct pdnn_arena arena; /* text of the cells */
    char **cells;            /* row by row */
    size_t n_cells, room;
    bool has_layout;
    struct layout layout; /* of the rows before */
    struct pdnn_str note;
};

struct pdnn_sheet *pdnn_sheet_create(const struct pdnn_table *table, const size_t *columns,
                                     size_t n_columns) {
    struct pdnn_sheet *sheet = pdnn_alloc(1, sizeof *sheet);
    sheet->columns = pdnn_alloc(n_columns, sizeof *sheet->columns);
    for (; sheet->n_columns < n_columns; sheet->n_columns++) {
        const size_t at = columns[sheet->n_columns];
        const struct pdnn_column_def *def = &table->column[at].def;
        sheet->columns[sheet->n_columns] =
            (struct column){at, pdnn_column_title(def),
                            def->kind == PDNN_KIND_TEXT ? def->align : PDNN_ALIGN_RIGHT, def->rank};
    }
    return sheet;
}

void pdnn_sheet_add(struct pdnn_sheet *sheet, const struct pdnn_table *table, size_t row) {
    struct pdnn_str cell = {0};
    for (size_t c = 0; c < sheet->n_columns; c++) {
        pdnn_str_clear(&cell);
        pdnn_table_append_shown(table, row, sheet->columns[c].at, &cell);
        sheet->cells = pdnn_grow(sheet->cells, &sheet->room, sheet->n_cells, sizeof *sheet->cells);
        sheet->cells[sheet->n_cells++] = pdnn_arena_strdup(&sheet->arena, pdnn_str_text(&cell));
    }
    pdnn_str_finish(&cell);
}

/* What a column asks for. */
struct need {
    size_t least, most; /* widths between which it can be set */
    double area;        /* of the text that gets more lines as the column gets narrower */
    bool empty;
};

static bool is_flexible(enum pdnn_align align) {
    return align == PDNN_ALIGN_WRAP || align == PDNN_ALIGN_CUT;
}

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

static void add_cell(struct need *need, const char *text, enum pdnn_align align) {
    size_t length = strlen(text);
    size_t least = length;
    if (align == PDNN_ALIGN_WRAP)
        least = pdnn_fill_least(text);
    else if (align == PDNN_ALIGN_CUT && least > LEAST_CUT)
        least = LEAST_CUT;
    need->most = larger(need->most, length);
    need->least = larger(need->least, least);
    /* Cells that are cut need no more lines, so such columns grow alike. */
    need->area += align == PDNN_ALIGN_WRAP ? (double)length : align == PDNN_ALIGN_CUT ? LEAST_CUT : 0;
    need->empty = need->empty && !length;
}

/* A title may take several lines unless the table may be as wide as it is. */
static struct need measure(const struct pdnn_sheet *table, size_t c) {
    const struct column *column = &table->columns[c];
    struct need need = {.empty = true};
    for (size_t i = c; i < table->n_cells; i += table->n_columns) {
        char buffer[PDNN_VISIBLE_TEXT];
        add_cell(&need, pdnn_visible(buffer, table->cells[i]), table->columns[c].align);
    }
    need.least = larger(need.least, pdnn_fill_least(column->title));
    need.most = larger(need.most, strlen(column->title));
    need.area += is_flexible(table->columns[c].align) ? 0 : (double)strlen(column->title);
    return need;
}

static size_t sum_of(const size_t *widths, const bool *shown, size_t n) {
    size_t sum = 0;
    for (size_t c = 0; c < n; c++)
        sum += shown[c] ? widths[c] + GAP : 0;
    return sum ? sum - GAP : 0;
}

/* Leaves out columns until the rest fits and text is readable, those first that are missed least. */
static void spare_columns(const struct pdnn_sheet *table, struct layout *layout, size_t width) {
    bool spared[PDNN_TABLE_COLUMNS_MAX] = {false};
    while (sum_of(layout->width, layout->shown, table->n_columns) > width) {
        size_t out = table->n_columns;
        for (size_t c = 0; c < table->n_columns; c++)
            if (layout->shown[c] && table->columns[c].spare &&
                (out == table->n_columns || table->columns[c].spare > table->columns[out].spare))
                out = c;
        if (out == table->n_columns)
            return;
        layout->shown[out] = false;
        spared[out] = true;
    }
    /* Where a wide column had to go, a narrow one that went before it may have room. */
    int highest = 0;
    for (size_t c = 0; c < table->n_columns; c++)
        highest = table->columns[c].spare > highest ? table->columns[c].spare : highest;
    for (int rank = 1; rank <= highest; rank++)
        for (size_t c = 0; c < table->n_columns; c++) {
            if (!spared[c] || table->columns[c].spare != rank)
                continue;
            layout->shown[c] = true;
            layout->shown[c] = sum_of(layout->width, layout->shown, table->n_columns) <= width;
        }
}

/* Where even the least widths are too much, the widest columns that can give get narrower. */
static void squeeze(const struct pdnn_sheet *table, struct layout *layout, size_t width) {
    while (sum_of(layout->width, layout->shown, table->n_columns) > width) {
        size_t widest = table->n_columns;
        for (size_t c = 0; c < table->n_columns; c++)
            if (layout->shown[c] && is_flexible(table->columns[c].align) && layout->width[c] > SQUEEZED &&
                (widest == table->n_columns || layout->width[c] > layout->width[widest]))
                widest = c;
        if (widest == table->n_columns)
            return;
        layout->width[widest]--;
    }
}

/* Gives the rest of the width where it saves most lines: those of a column are its area over its width. */
static void widen(const struct need *needs, struct layout *layout, size_t n, size_t width) {
    for (size_t sum = sum_of(layout->width, layout->shown, n); sum < width; sum++) {
        size_t best = n;
        double most = 0;
        for (size_t c = 0; c < n; c++) {
            double saves = needs[c].area / (double)(layout->width[c] * (layout->width[c] + 1));
            if (layout->shown[c] && layout->width[c] < needs[c].most && saves > most) {
                best = c;
                most = saves;
            }
        }
        if (best == n)
            return;
        layout->width[best]++;
    }
}

/* For a width of 0 (as wide as needed) or more. On a terminal a column that may be spared and has nothing but
 * empty cells is not shown. */
static struct layout arrange(const struct pdnn_sheet *table, size_t width) {
    struct layout layout = {.indent = 0};
    struct need needs[PDNN_TABLE_COLUMNS_MAX];
    for (size_t c = 0; c < table->n_columns; c++) {
        needs[c] = measure(table, c);
        layout.width[c] = needs[c].most;
        layout.shown[c] = !width || !needs[c].empty || !table->columns[c].spare || !table->n_cells;
    }
    if (!width || sum_of(layout.width, layout.shown, table->n_columns) <= width)
        return layout;
    if (table->columns[0].align == PDNN_ALIGN_GROUP) {
        layout.shown[0] = false;
        layout.indent = GAP;
    }
    width = width > layout.indent ? width - layout.indent : 1;
    for (size_t c = 0; c < table->n_columns; c++) {
        size_t readable = needs[c].most < READABLE ? needs[c].most : READABLE;
        bool wraps = table->columns[c].align == PDNN_ALIGN_WRAP;
        layout.width[c] = wraps ? larger(readable, needs[c].least) : needs[c].least;
    }
    spare_columns(table, &layout, width);
    for (size_t c = 0; c < table->n_columns; c++)
        layout.width[c] = needs[c].least;
    squeeze(table, &layout, width);
    widen(needs, &layout, table->n_columns, width);
    return layout;
}

bool pdnn_sheet_fits(const struct pdnn_sheet *table, size_t width) {
    const struct layout layout = arrange(table, 0);
    return !width || sum_of(layout.width, layout.shown, table->n_columns) <= width;
}

/* The length of the text's beginning that stands for it: whole words, unless that would lose half of it. */
static size_t cut_length(const char *text, size_t width) {
    static const char ends[] = " :|,;/_.-";
    size_t most = width > 2 ? width - 2 : 0, length = most;
    while (length > most / 2 && !strchr(ends, text[length]))
        length--;
    length = length > most / 2 ? length : most;
    while (length > 1 && strchr(ends, text[length - 1]))
        length--;
    while (length && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    return length;
}

/* What a line of a row has in one column; returns what remains for the next line. */
static const char *put_piece(struct pdnn_str *line, const char *text, size_t width, enum pdnn_align align) {
    size_t length = strlen(text), next = length;
    if (align == PDNN_ALIGN_RIGHT && length <= width)
        pdnn_str_printf(line, "%*s", (int)(width - length), "");
    if (length > width && align == PDNN_ALIGN_CUT) {
        pdnn_str_append(line, text, cut_length(text, width));
        pdnn_str_append(line, "..", 2);
    } else {
        if (length > width && align == PDNN_ALIGN_WRAP)
            length = pdnn_fill_line(text, width, &next);
        pdnn_str_append(line, text, length);
    }
    return text + next;
}

static void end_line(struct pdnn_str *line, struct pdnn_str *out) {
    while (line->length && line->text[line->length - 1] == ' ')
        line->length--;
    pdnn_str_append(out, pdnn_str_text(line), line->length);
    pdnn_str_append(out, "\n", 1);
    pdnn_str_clear(line);
}

static size_t count_lines(const char *text, size_t width) {
    size_t count = 1, next;
    for (pdnn_fill_line(text, width, &next); text[next]; count++) {
        text += next;
        pdnn_fill_line(text, width, &next);
    }
    return count;
}

/* A title of fewer lines than others is on the lowest ones, next to its cells. */
static void put_titles(const struct pdnn_sheet *table, const struct layout *layout, struct pdnn_str *out) {
    const char *rest[PDNN_TABLE_COLUMNS_MAX];
    size_t lines[PDNN_TABLE_COLUMNS_MAX], most = 1;
    struct pdnn_str line = {0};
    for (size_t c = 0; c < table->n_columns; c++) {
        rest[c] = table->columns[c].title;
        lines[c] = layout->shown[c] ? count_lines(rest[c], layout->width[c]) : 1;
        most = larger(most, lines[c]);
    }
    for (size_t left = most; left > 0; left--) {
        size_t start = layout->indent;
        for (size_t c = 0; c < table->n_columns; c++) {
            if (!layout->shown[c])
                continue;
            pdnn_str_printf(&line, "%*s", (int)(start - line.length), "");
            start += layout->width[c] + GAP;
            if (lines[c] < left)
                continue;
            size_t next, length = pdnn_fill_line(rest[c], layout->width[c], &next);
            bool right = table->columns[c].align == PDNN_ALIGN_RIGHT;
            pdnn_str_printf(&line, "%*s%.*s", right ? (int)(layout->width[c] - length) : 0, "", (int)length,
                            rest[c]);
            rest[c] += next;
        }
        end_line(&line, out);
    }
    pdnn_str_finish(&line);
}

static void put_row(const struct pdnn_sheet *table, const struct layout *layout, char *const *cells,
                    struct pdnn_str *line, struct pdnn_str *out) {
    size_t done[PDNN_TABLE_COLUMNS_MAX] = {0};
    for (bool more = true; more;) {
        size_t start = layout->indent;
        more = false;
        for (size_t c = 0; c < table->n_columns; c++) {
            char buffer[PDNN_VISIBLE_TEXT];
            if (!layout->shown[c])
                continue;
            const char *text = pdnn_visible(buffer, cells[c]), *rest = text + done[c];
            /* What is too wide for its column moves the others. */
            pdnn_str_printf(line, "%*s", line->length < start ? (int)(start - line->length) : 0, "");
            start += layout->width[c] + GAP;
            if (!*rest)
                continue;
            rest = put_piece(line, rest, layout->width[c], table->columns[c].align);
            done[c] = (size_t)(rest - text);
            more = more || *rest;
        }
        end_line(line, out);
    }
}

static void put_rows(const struct pdnn_sheet *table, const struct layout *layout, struct pdnn_str *out) {
    struct pdnn_str line = {0};
    for (size_t i = 0; i + table->n_columns <= table->n_cells; i += table->n_columns) {
        char *const *cells = table->cells + i;
        char group[PDNN_VISIBLE_TEXT];
        if (layout->indent && (!i || strcmp(cells[0], cells[-(ptrdiff_t)table->n_columns]) != 0))
            pdnn_str_printf(out, "%s\n", pdnn_visible(group, cells[0]));
        put_row(table, layout, cells, &line, out);
    }
    pdnn_str_finish(&line);
}

static bool has_content(const struct pdnn_sheet *table, size_t c) {
    bool any = false;
    for (size_t i = c; i < table->n_cells; i += table->n_columns)
        any = any || *table->cells[i];
    return any;
}

/* Names the columns with content that the layout leaves out. The longest of several notes stays. */
static void note(struct pdnn_sheet *table, const struct layout *layout, size_t width) {
    struct pdnn_str names = {0}, text = {0}, filled = {0};
    for (size_t c = 0; c < table->n_columns; c++)
        if (!layout->shown[c] && table->columns[c].align != PDNN_ALIGN_GROUP && has_content(table, c))
            pdnn_str_printf(&names, "%s%s", names.length ? ", " : "", table->columns[c].title);
    pdnn_str_printf(&text, "(no room for: %s)", pdnn_str_text(&names));
    if (names.length)
        pdnn_fill_text(&filled, pdnn_str_text(&text), 0, width);
    if (filled.length > table->note.length) {
        pdnn_str_clear(&table->note);
        pdnn_str_append(&table->note, pdnn_str_text(&filled), filled.length);
    }
    pdnn_str_finish(&names);
    pdnn_str_finish(&text);
    pdnn_str_finish(&filled);
}

void pdnn_sheet_flush(struct pdnn_sheet *table, size_t width, struct pdnn_str *out) {
    bool is_first = !table->has_layout;
    struct layout next = is_first || width ? arrange(table, width) : table->layout;
    if (is_first || memcmp(&next, &table->layout, sizeof next) != 0)
        put_titles(table, &next, out);
    table->layout = next;
    table->has_layout = true;
    put_rows(table, &next, out);
    note(table, &next, width);
    pdnn_arena_reset(&table->arena);
    table->n_cells = 0;
}

void pdnn_sheet_destroy(struct pdnn_sheet *table, struct pdnn_str *out) {
    if (!table)
        return;
    if (out)
        pdnn_str_append(out, pdnn_str_text(&table->note), table->note.length);
    pdnn_str_finish(&table->note);
    pdnn_arena_finish(&table->arena);
    free(table->columns);
    free(table->cells);
    free(table);
}
