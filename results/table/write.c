#include "results/table/write.h"

#include "base/fill.h"
#include "base/memory.h"
#include "base/visible.h"
#include "results/table/escape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum pdnn_status pdnn_table_choose(struct pdnn_table_writer *writer, const struct pdnn_table *table,
                                   struct pdnn_err *err) {
    enum { BRIEF, ALL, WORDS };
    const char *text = writer->choice, *names[PDNN_TABLE_COLUMNS_MAX + WORDS] = {"brief", "all"};
    if (!text)
        return PDNN_OK;
    const size_t n_all = writer->columns ? writer->n_columns : table->n_columns, n_names = n_all + WORDS;
    bool is_chosen[PDNN_TABLE_COLUMNS_MAX] = {false};
    size_t count = 0;
    writer->chosen = pdnn_alloc(n_all, sizeof *writer->chosen);
    for (size_t i = 0; i < n_all; i++)
        names[WORDS + i] = table->column[writer->columns ? writer->columns[i] : i].def.name;
    enum pdnn_status status = PDNN_OK;
    for (size_t length; status == PDNN_OK && *text; text += length + (text[length] == ',')) {
        char name[PDNN_SUGGESTION_TEXT], suggestion[PDNN_SUGGESTION_TEXT];
        length = strcspn(text, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, text);
        size_t at = 0, part = WORDS;
        while (at < n_names && strcmp(names[at], name) != 0)
            at++;
        while (part < n_names && !pdnn_parts_have(names[part], "_", name, length))
            part++; /* run_mode is what mode is in a spec */
        if (part < n_names)
            snprintf(suggestion, sizeof suggestion, ", did you mean '%s'?", names[part]);
        if (at == n_names)
            status = pdnn_fail(err, PDNN_INVALID, "--columns: %s has no column '%.64s'%s", table->name, name,
                               part < n_names ? suggestion : pdnn_suggest(suggestion, name, names, n_names));
        for (size_t i = 0; i < n_all; i++) {
            const size_t column = writer->columns ? writer->columns[i] : i;
            const bool is_named = at == WORDS + i || at == ALL ||
                                  (at == BRIEF && table->column[column].def.show != PDNN_SHOW_NEVER);
            if (is_named && !is_chosen[i])
                writer->chosen[count++] = column;
            is_chosen[i] |= is_named;
        }
    }
    writer->choice = NULL;
    writer->columns = writer->chosen;
    writer->n_columns = count;
    return status;
}

/* What appends a table's beginning, a row and its end, by format. */
struct format {
    void (*start)(struct pdnn_table_writer *writer, const struct pdnn_table *table);
    void (*row)(struct pdnn_table_writer *writer, const struct pdnn_table *table, size_t row);
    void (*end)(struct pdnn_table_writer *writer);
};

static void put(struct pdnn_table_writer *writer, const char *text) {
    pdnn_str_append(writer->out, text, strlen(text));
}

void pdnn_csv_append(struct pdnn_str *out, const char *text) {
    if (!text[strcspn(text, ",\"\r\n")] && strcmp(text, "NA") != 0) {
        pdnn_str_append(out, text, strlen(text));
        return;
    }
    pdnn_str_append(out, "\"", 1);
    for (size_t run = strcspn(text, "\""); text[run]; run = strcspn(text, "\"")) {
        pdnn_str_append(out, text, run);
        pdnn_str_append(out, "\"\"", 2);
        text += run + 1;
    }
    pdnn_str_append(out, text, strlen(text));
    pdnn_str_append(out, "\"", 1);
}

static void csv_start(struct pdnn_table_writer *writer, const struct pdnn_table *table) {
    for (size_t i = 0; i < writer->n_columns; i++) {
        pdnn_str_append(writer->out, ",", i > 0);
        pdnn_csv_append(writer->out, table->column[writer->columns[i]].def.name);
    }
    put(writer, "\n");
}

static void csv_row(struct pdnn_table_writer *writer, const struct pdnn_table *table, size_t row) {
    for (size_t i = 0; i < writer->n_columns; i++) {
        size_t column = writer->columns[i];
        pdnn_str_append(writer->out, ",", i > 0);
        if (table->column[column].def.kind == PDNN_KIND_TEXT)
            pdnn_csv_append(writer->out, pdnn_table_text(table, row, column));
        else
            pdnn_table_append(table, row, column, writer->out);
    }
    put(writer, "\n");
}

static void json_object(struct pdnn_table_writer *writer, const struct pdnn_table *table, size_t row) {
    for (size_t i = 0; i < writer->n_columns; i++) {
        size_t column = writer->columns[i];
        enum pdnn_kind kind = table->column[column].def.kind;
        put(writer, i ? ", " : "{");
        pdnn_json_text(writer->out, table->column[column].def.name);
        put(writer, ": ");
        if (pdnn_table_is_empty(table, row, column) ||
            (kind == PDNN_KIND_NUMBER && !isfinite(pdnn_table_number(table, row, column))))
            put(writer, "null");
        else if (kind == PDNN_KIND_TEXT)
            pdnn_json_text(writer->out, pdnn_table_text(table, row, column));
        else
            pdnn_table_append(table, row, column, writer->out);
    }
    put(writer, writer->n_columns ? "}" : "{}");
}

static void json_row(struct pdnn_table_writer *writer, const struct pdnn_table *table, size_t row) {
    put(writer, writer->n_written ? ",\n" : "[\n");
    json_object(writer, table, row);
}

static void json_end(struct pdnn_table_writer *writer) {
    put(writer, writer->n_written ? "\n]\n" : "[]\n");
}

static void json_line(struct pdnn_table_writer *writer, const struct pdnn_table *table, size_t row) {
    json_object(writer, table, row);
    put(writer, "\n");
}

/* A cell or a title, in which a bar would end it and a line break the row. */
static void markdown_cell(struct pdnn_table_writer *writer, const char *text) {
    char buffer[PDNN_VISIBLE_TEXT];
    put(writer, " ");
    for (const char *at = pdnn_visible(buffer, text); *at; at++) {
        pdnn_str_append(writer->out, "\\", *at == '|' || *at == '\\');
        pdnn_str_append(writer->out, at, 1);
    }
    put(writer, " |");
}

static void markdown_start(struct pdnn_table_writer *writer, const struct pdnn_table *table) {
    put(writer, "|");
    for (size_t i = 0; i < writer->n_columns; i++)
        markdown_cell(writer, pdnn_column_title(&table->column[writer->columns[i]].def));
    put(writer, "\n|");
    for (size_t i = 0; i < writer->n_columns; i++)
        put(writer, table->column[writer->columns[i]].def.kind == PDNN_KIND_TEXT ? " --- |" : " ---: |");
    put(writer, "\n");
}

static void markdown_row(struct pdnn_table_writer *writer, const struct pdnn_table *table, size_t row) {
    struct pdnn_str cell = {0};
    put(writer, "|");
    for (size_t i = 0; i < writer->n_columns; i++) {
        pdnn_str_clear(&cell);
        pdnn_table_append_shown(table, row, writer->columns[i], &cell);
        markdown_cell(writer, pdnn_str_text(&cell));
    }
    put(writer, "\n");
    pdnn_str_finish(&cell);
}

static void html_start(struct pdnn_table_writer *writer, const struct pdnn_table *table) {
    put(writer, "<table>");
    if (writer->caption)
        pdnn_html_put(writer->out, "<caption>%s</caption>", writer->caption);
    put(writer, "<thead><tr>");
    for (size_t i = 0; i < writer->n_columns; i++) {
        const struct pdnn_column_def *def = &table->column[writer->columns[i]].def;
        put(writer, def->kind == PDNN_KIND_TEXT ? "<th scope=\"col\"" : "<th scope=\"col\" class=\"number\"");
        if (def->help)
            pdnn_html_put(writer->out, " title=\"%s\"", def->help);
        pdnn_html_put(writer->out, ">%s</th>", pdnn_column_title(def));
    }
    put(writer, "</tr></thead><tbody>\n");
}

static void html_row(struct pdnn_table_writer *writer, const struct pdnn_table *table, size_t row) {
    struct pdnn_str cell = {0};
    put(writer, "<tr>");
    for (size_t i = 0; i < writer->n_columns; i++) {
        size_t column = writer->columns[i];
        pdnn_str_clear(&cell);
        pdnn_table_append_shown(table, row, column, &cell);
        const bool is_text = table->column[column].def.kind == PDNN_KIND_TEXT;
        pdnn_html_put(writer->out, is_text ? "<td>%s</td>" : "<td class=\"number\">%s</td>",
                      pdnn_str_text(&cell));
    }
    put(writer, "</tr>\n");
    pdnn_str_finish(&cell);
}

static void html_end(struct pdnn_table_writer *writer) {
    put(writer, "</tbody></table>\n");
}

/* Rows as aligned columns of text, numbers to the right. LEAST_CUT: what is left of a cell in a column that
 * is cut. READABLE: what text over several lines should have before other columns are kept. SQUEEZED: a
 * column's width where nothing fits. */
enum { GAP = 2, LEAST_CUT = 16, READABLE = 28, SQUEEZED = 4 };

/* How the rows are set at some width. */
struct layout {
    size_t width[PDNN_TABLE_COLUMNS_MAX];
    bool shown[PDNN_TABLE_COLUMNS_MAX];
    size_t indent; /* of rows below the line of their group */
};

struct pdnn_sheet {
    struct pdnn_column_def *column; /* those shown; the title and the alignment are set */
    size_t n_columns;
    struct pdnn_arena arena; /* text of the cells */
    char **cells;            /* row by row */
    size_t n_cells, room;
    bool has_layout;
    struct layout layout;                  /* of the rows before */
    bool is_empty[PDNN_TABLE_COLUMNS_MAX]; /* in the rows at hand */
    struct pdnn_str note;
};

/* What a column asks for. */
struct need {
    size_t least, most; /* widths between which it can be set */
    double area;        /* of the text that gets more lines as the column gets narrower */
};

static bool is_flexible(enum pdnn_align align) {
    return align == PDNN_ALIGN_WRAP || align == PDNN_ALIGN_CUT;
}

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

/* A title may take several lines unless the table may be as wide as it is. Cells that are cut need no more
 * lines, so such columns grow alike. */
static struct need measure(struct pdnn_sheet *sheet, size_t c) {
    const char *title = sheet->column[c].title;
    const enum pdnn_align align = sheet->column[c].align;
    struct need need = {.least = pdnn_fill_least(title), .most = strlen(title)};
    sheet->is_empty[c] = true;
    for (size_t i = c; i < sheet->n_cells; i += sheet->n_columns) {
        char buffer[PDNN_VISIBLE_TEXT];
        const char *text = pdnn_visible(buffer, sheet->cells[i]);
        const size_t length = strlen(text);
        const size_t least = align == PDNN_ALIGN_WRAP                        ? pdnn_fill_least(text)
                             : align == PDNN_ALIGN_CUT && length > LEAST_CUT ? LEAST_CUT
                                                                             : length;
        need.most = larger(need.most, length);
        need.least = larger(need.least, least);
        need.area += align == PDNN_ALIGN_WRAP ? (double)length : align == PDNN_ALIGN_CUT ? LEAST_CUT : 0;
        sheet->is_empty[c] = sheet->is_empty[c] && !length;
    }
    need.area += is_flexible(align) ? 0 : (double)strlen(title);
    return need;
}

static size_t sum_of(const size_t *widths, const bool *shown, size_t n) {
    size_t sum = 0;
    for (size_t c = 0; c < n; c++)
        sum += shown[c] ? widths[c] + GAP : 0;
    return sum ? sum - GAP : 0;
}

/* Of the columns that were left out, shows those again that fit beside the others: columns of the lowest rank
 * first, since they are missed most, and of equal rank the rightmost first. */
static void spare_columns(const struct pdnn_sheet *sheet, struct layout *layout, size_t width) {
    bool spared[PDNN_TABLE_COLUMNS_MAX] = {false};
    int highest = 0;
    for (size_t c = 0; c < sheet->n_columns; c++) {
        spared[c] = layout->shown[c] && sheet->column[c].rank;
        layout->shown[c] = layout->shown[c] && !spared[c];
        highest = spared[c] && sheet->column[c].rank > highest ? sheet->column[c].rank : highest;
    }
    for (int rank = 1; rank <= highest; rank++)
        for (size_t c = sheet->n_columns; c-- > 0;)
            if (spared[c] && sheet->column[c].rank == rank) {
                layout->shown[c] = true;
                layout->shown[c] = sum_of(layout->width, layout->shown, sheet->n_columns) <= width;
            }
}

/* Where even the least widths are too much, the widest columns that can give get narrower. */
static void squeeze(const struct pdnn_sheet *sheet, struct layout *layout, size_t width) {
    while (sum_of(layout->width, layout->shown, sheet->n_columns) > width) {
        size_t widest = sheet->n_columns;
        for (size_t c = 0; c < sheet->n_columns; c++)
            if (layout->shown[c] && is_flexible(sheet->column[c].align) && layout->width[c] > SQUEEZED &&
                (widest == sheet->n_columns || layout->width[c] > layout->width[widest]))
                widest = c;
        if (widest == sheet->n_columns)
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

/* width 0: as wide as needed. Otherwise columns that may be spared and are empty are not shown. */
static struct layout arrange(struct pdnn_sheet *sheet, size_t width) {
    struct layout layout = {.indent = 0};
    struct need needs[PDNN_TABLE_COLUMNS_MAX];
    for (size_t c = 0; c < sheet->n_columns; c++) {
        needs[c] = measure(sheet, c);
        layout.width[c] = needs[c].most;
        layout.shown[c] = !width || !sheet->is_empty[c] || !sheet->column[c].rank || !sheet->n_cells;
    }
    if (!width || sum_of(layout.width, layout.shown, sheet->n_columns) <= width)
        return layout;
    if (sheet->column[0].align == PDNN_ALIGN_GROUP) {
        layout.shown[0] = false;
        layout.indent = GAP;
    }
    width = width > layout.indent ? width - layout.indent : 1;
    for (size_t c = 0; c < sheet->n_columns; c++) {
        size_t readable = needs[c].most < READABLE ? needs[c].most : READABLE;
        bool wraps = sheet->column[c].align == PDNN_ALIGN_WRAP;
        layout.width[c] = wraps ? larger(readable, needs[c].least) : needs[c].least;
    }
    spare_columns(sheet, &layout, width);
    for (size_t c = 0; c < sheet->n_columns; c++)
        layout.width[c] = needs[c].least;
    squeeze(sheet, &layout, width);
    widen(needs, &layout, sheet->n_columns, width);
    return layout;
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
static void put_titles(const struct pdnn_sheet *sheet, const struct layout *layout, struct pdnn_str *out) {
    const char *rest[PDNN_TABLE_COLUMNS_MAX];
    size_t lines[PDNN_TABLE_COLUMNS_MAX], most = 1;
    struct pdnn_str line = {0};
    for (size_t c = 0; c < sheet->n_columns; c++) {
        rest[c] = sheet->column[c].title;
        lines[c] = layout->shown[c] ? count_lines(rest[c], layout->width[c]) : 1;
        most = larger(most, lines[c]);
    }
    for (size_t left = most; left > 0; left--) {
        size_t start = layout->indent;
        for (size_t c = 0; c < sheet->n_columns; c++) {
            if (!layout->shown[c])
                continue;
            pdnn_str_printf(&line, "%*s", (int)(start - line.length), "");
            start += layout->width[c] + GAP;
            if (lines[c] < left)
                continue;
            size_t next, length = pdnn_fill_line(rest[c], layout->width[c], &next);
            bool right = sheet->column[c].align == PDNN_ALIGN_RIGHT;
            pdnn_str_printf(&line, "%*s%.*s", right ? (int)(layout->width[c] - length) : 0, "", (int)length,
                            rest[c]);
            rest[c] += next;
        }
        end_line(&line, out);
    }
    pdnn_str_finish(&line);
}

static void put_row(const struct pdnn_sheet *sheet, const struct layout *layout, char *const *cells,
                    struct pdnn_str *line, struct pdnn_str *out) {
    size_t done[PDNN_TABLE_COLUMNS_MAX];
    memset(done, 0, sheet->n_columns * sizeof *done);
    for (bool more = true; more;) {
        size_t start = layout->indent;
        more = false;
        for (size_t c = 0; c < sheet->n_columns; c++) {
            char buffer[PDNN_VISIBLE_TEXT];
            if (!layout->shown[c])
                continue;
            const char *text = pdnn_visible(buffer, cells[c]), *rest = text + done[c];
            /* What is too wide for its column moves the others. */
            pdnn_str_printf(line, "%*s", line->length < start ? (int)(start - line->length) : 0, "");
            start += layout->width[c] + GAP;
            if (!*rest)
                continue;
            rest = put_piece(line, rest, layout->width[c], sheet->column[c].align);
            done[c] = (size_t)(rest - text);
            more = more || *rest;
        }
        end_line(line, out);
    }
}

static void put_rows(const struct pdnn_sheet *sheet, const struct layout *layout, struct pdnn_str *out) {
    struct pdnn_str line = {0};
    for (size_t i = 0; i + sheet->n_columns <= sheet->n_cells; i += sheet->n_columns) {
        char *const *cells = sheet->cells + i;
        char group[PDNN_VISIBLE_TEXT];
        if (layout->indent && (!i || strcmp(cells[0], cells[-(ptrdiff_t)sheet->n_columns]) != 0))
            pdnn_str_printf(out, "%s\n", pdnn_visible(group, cells[0]));
        put_row(sheet, layout, cells, &line, out);
    }
    pdnn_str_finish(&line);
}

/* Names the columns with content that the layout leaves out. The longest of several notes stays. */
static void note(struct pdnn_sheet *sheet, const struct layout *layout, size_t width) {
    struct pdnn_str text = {0}, filled = {0};
    for (size_t c = 0; c < sheet->n_columns; c++)
        if (!layout->shown[c] && sheet->column[c].align != PDNN_ALIGN_GROUP && !sheet->is_empty[c])
            pdnn_str_printf(&text, "%s%s", text.length ? ", " : "(no room for: ", sheet->column[c].title);
    if (text.length) {
        pdnn_str_append(&text, ")", 1);
        pdnn_fill_text(&filled, pdnn_str_text(&text), 0, width);
    }
    if (filled.length > sheet->note.length) {
        pdnn_str_clear(&sheet->note);
        pdnn_str_append(&sheet->note, pdnn_str_text(&filled), filled.length);
    }
    pdnn_str_finish(&text);
    pdnn_str_finish(&filled);
}

static void text_start(struct pdnn_table_writer *writer, const struct pdnn_table *table) {
    struct pdnn_sheet *sheet = writer->sheet = pdnn_alloc(1, sizeof *sheet);
    sheet->n_columns = writer->n_columns;
    sheet->column = pdnn_alloc(sheet->n_columns, sizeof *sheet->column);
    for (size_t c = 0; c < sheet->n_columns; c++) {
        struct pdnn_column_def *column = &sheet->column[c];
        *column = table->column[writer->columns[c]].def;
        column->title = pdnn_column_title(column);
        column->align = column->kind == PDNN_KIND_TEXT ? column->align : PDNN_ALIGN_RIGHT;
    }
}

static void text_row(struct pdnn_table_writer *writer, const struct pdnn_table *table, size_t row) {
    struct pdnn_sheet *sheet = writer->sheet;
    struct pdnn_str cell = {0};
    for (size_t c = 0; c < sheet->n_columns; c++) {
        pdnn_str_clear(&cell);
        pdnn_table_append_shown(table, row, writer->columns[c], &cell);
        sheet->cells = pdnn_grow(sheet->cells, &sheet->room, sheet->n_cells, sizeof *sheet->cells);
        sheet->cells[sheet->n_cells++] = pdnn_arena_strdup(&sheet->arena, pdnn_str_text(&cell));
    }
    pdnn_str_finish(&cell);
}

/* Appends the rows so far and forgets them. On a terminal they are set as they need, with the titles where
 * the widths change; elsewhere as the first ones. */
static void text_flush(struct pdnn_table_writer *writer) {
    struct pdnn_sheet *sheet = writer->sheet;
    const bool is_first = !sheet->has_layout;
    struct layout next = is_first || writer->width ? arrange(sheet, writer->width) : sheet->layout;
    if (is_first || memcmp(&next, &sheet->layout, sizeof next) != 0)
        put_titles(sheet, &next, writer->out);
    sheet->layout = next;
    sheet->has_layout = true;
    put_rows(sheet, &next, writer->out);
    note(sheet, &next, writer->width);
    pdnn_arena_reset(&sheet->arena);
    sheet->n_cells = 0;
}

static void text_end(struct pdnn_table_writer *writer) {
    struct pdnn_sheet *sheet = writer->sheet;
    if (!writer->is_noteless)
        pdnn_str_append(writer->out, pdnn_str_text(&sheet->note), sheet->note.length);
    pdnn_str_finish(&sheet->note);
    pdnn_arena_finish(&sheet->arena);
    free(sheet->column);
    free(sheet->cells);
    free(sheet);
    writer->sheet = NULL;
}

static const struct format formats[PDNN_FORMAT_COUNT] = {
    [PDNN_FORMAT_TEXT] = {text_start, text_row, text_end},
    [PDNN_FORMAT_CSV] = {csv_start, csv_row, NULL},
    [PDNN_FORMAT_JSON] = {NULL, json_row, json_end},
    [PDNN_FORMAT_JSON_LINES] = {NULL, json_line, NULL},
    [PDNN_FORMAT_MARKDOWN] = {markdown_start, markdown_row, NULL},
    [PDNN_FORMAT_HTML] = {html_start, html_row, html_end},
};

/* All columns, unless somebody chose; people see `brief`. */
static void choose_all(struct pdnn_table_writer *writer, const struct pdnn_table *table) {
    const bool for_people = writer->format == PDNN_FORMAT_TEXT || writer->format == PDNN_FORMAT_MARKDOWN ||
                            writer->format == PDNN_FORMAT_HTML;
    writer->choice = writer->chosen ? NULL : for_people ? "brief" : "all";
    pdnn_table_choose(writer, table, NULL);
}

void pdnn_table_write(struct pdnn_table_writer *writer, const struct pdnn_table *table,
                      const struct pdnn_row_list *rows) {
    const struct format *format = &formats[writer->format];
    size_t count = rows ? rows->count : table->n_rows;
    if (!writer->is_started) {
        choose_all(writer, table);
        if (format->start)
            format->start(writer, table);
    }
    writer->is_started = true;
    for (size_t i = 0; i < count; i++, writer->n_written++)
        format->row(writer, table, rows ? rows->at[i] : i);
    if (writer->sheet)
        text_flush(writer);
}

void pdnn_table_write_end(struct pdnn_table_writer *writer) {
    if (writer->is_started && formats[writer->format].end)
        formats[writer->format].end(writer);
    free(writer->chosen);
    writer->chosen = NULL;
}

bool pdnn_table_fits(const struct pdnn_table_writer *writer, const struct pdnn_table *table) {
    struct pdnn_str unused = {0};
    struct pdnn_table_writer probe = {
        .out = &unused, .columns = writer->columns, .n_columns = writer->n_columns};
    pdnn_table_write(&probe, table, NULL);
    const struct layout *layout = &probe.sheet->layout;
    const bool fits =
        !writer->width || sum_of(layout->width, layout->shown, probe.n_columns) <= writer->width;
    pdnn_table_write_end(&probe);
    pdnn_str_finish(&unused);
    return fits;
}

void pdnn_table_csv(struct pdnn_str *out, const struct pdnn_table *table) {
    struct pdnn_table_writer writer = {.out = out, .format = PDNN_FORMAT_CSV};
    pdnn_table_write(&writer, table, NULL);
    pdnn_table_write_end(&writer);
}

void pdnn_table_csv_rows(struct pdnn_str *out, const struct pdnn_table *table) {
    struct pdnn_table_writer writer = {.out = out, .format = PDNN_FORMAT_CSV, .is_started = true};
    choose_all(&writer, table);
    pdnn_table_write(&writer, table, NULL);
    pdnn_table_write_end(&writer);
}

void pdnn_table_csv_header(struct pdnn_str *out, const struct pdnn_table_def *def) {
    struct pdnn_table table;
    pdnn_table_init(&table, def);
    pdnn_table_csv(out, &table);
    pdnn_table_finish(&table);
}
