#include "results/table/write.h"

#include "base/memory.h"
#include "results/table/csv.h"
#include "results/table/escape.h"
#include "results/table/sheet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t column_count(const struct pdnn_table_writer *writer, const struct pdnn_table *table) {
    return writer->columns ? writer->n_columns : table->n_columns;
}

static size_t column_at(const struct pdnn_table_writer *writer, size_t i) {
    return writer->columns ? writer->columns[i] : i;
}

static void choose(struct pdnn_table_writer *writer, size_t *count, size_t column) {
    size_t i = 0;
    while (i < *count && writer->chosen[i] != column)
        i++;
    writer->chosen[i] = column;
    *count += i == *count;
}

enum pdnn_status pdnn_table_choose(struct pdnn_table_writer *writer, const struct pdnn_table *table,
                                   struct pdnn_err *err) {
    enum { BRIEF, ALL, WORDS };
    const char *text = writer->choice;
    if (!text)
        return PDNN_OK;
    size_t n_all = column_count(writer, table), count = 0;
    const char **names = pdnn_alloc(n_all + WORDS, sizeof *names);
    writer->chosen = pdnn_alloc(n_all + 1, sizeof *writer->chosen);
    names[BRIEF] = "brief";
    names[ALL] = "all";
    for (size_t i = 0; i < n_all; i++)
        names[WORDS + i] = table->column[column_at(writer, i)].def.name;
    enum pdnn_status status = PDNN_OK;
    for (size_t length; status == PDNN_OK && *text; text += length + (text[length] == ',')) {
        char name[PDNN_SUGGESTION_TEXT], suggestion[PDNN_SUGGESTION_TEXT];
        length = strcspn(text, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, text);
        size_t at = 0;
        while (at < n_all + WORDS && strcmp(names[at], name) != 0)
            at++;
        if (at == n_all + WORDS) {
            size_t part = WORDS; /* run_mode is what mode is in a spec */
            while (part < n_all + WORDS && !pdnn_parts_have(names[part], "_", name, length))
                part++;
            if (part < n_all + WORDS)
                snprintf(suggestion, sizeof suggestion, ", did you mean '%s'?", names[part]);
            else
                pdnn_suggest(suggestion, name, names, n_all + WORDS);
            status = pdnn_fail(err, PDNN_INVALID, "--columns: %s has no column '%.64s'%s", table->name, name,
                               suggestion);
        }
        for (size_t i = 0; i < n_all; i++)
            if (at == WORDS + i || at == ALL ||
                (at == BRIEF && table->column[column_at(writer, i)].def.show != PDNN_SHOW_NEVER))
                choose(writer, &count, column_at(writer, i));
    }
    free(names);
    writer->choice = NULL;
    writer->columns = writer->chosen;
    writer->n_columns = count;
    return status;
}

/* People see `brief`, unless they chose. */
static void choose_brief(struct pdnn_table_writer *writer, const struct pdnn_table *table) {
    writer->choice = writer->chosen ? NULL : "brief";
    pdnn_table_choose(writer, table, NULL);
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

static void csv_start(struct pdnn_table_writer *writer, const struct pdnn_table *table) {
    for (size_t i = 0; i < column_count(writer, table); i++) {
        pdnn_str_append(writer->out, ",", i > 0);
        pdnn_csv_append(writer->out, table->column[column_at(writer, i)].def.name);
    }
    put(writer, "\n");
}

static void csv_row(struct pdnn_table_writer *writer, const struct pdnn_table *table, size_t row) {
    for (size_t i = 0; i < column_count(writer, table); i++) {
        size_t column = column_at(writer, i);
        pdnn_str_append(writer->out, ",", i > 0);
        if (table->column[column].def.kind == PDNN_KIND_TEXT)
            pdnn_csv_append(writer->out, pdnn_table_text(table, row, column));
        else
            pdnn_table_append(table, row, column, writer->out);
    }
    put(writer, "\n");
}

static void json_object(struct pdnn_table_writer *writer, const struct pdnn_table *table, size_t row) {
    for (size_t i = 0; i < column_count(writer, table); i++) {
        size_t column = column_at(writer, i);
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
    put(writer, column_count(writer, table) ? "}" : "{}");
}

static void json_start(struct pdnn_table_writer *writer, const struct pdnn_table *table) {
    (void)table;
    put(writer, "[");
}

static void json_row(struct pdnn_table_writer *writer, const struct pdnn_table *table, size_t row) {
    put(writer, writer->n_written ? ",\n" : "\n");
    json_object(writer, table, row);
}

static void json_end(struct pdnn_table_writer *writer) {
    put(writer, writer->n_written ? "\n]\n" : "]\n");
}

static void json_line(struct pdnn_table_writer *writer, const struct pdnn_table *table, size_t row) {
    json_object(writer, table, row);
    put(writer, "\n");
}

static void html_start(struct pdnn_table_writer *writer, const struct pdnn_table *table) {
    choose_brief(writer, table);
    put(writer, "<table>");
    if (writer->caption) {
        put(writer, "<caption>");
        pdnn_html_text(writer->out, writer->caption);
        put(writer, "</caption>");
    }
    put(writer, "<thead><tr>");
    for (size_t i = 0; i < column_count(writer, table); i++) {
        const struct pdnn_column_def *def = &table->column[column_at(writer, i)].def;
        put(writer, def->kind == PDNN_KIND_TEXT ? "<th scope=\"col\"" : "<th scope=\"col\" class=\"number\"");
        if (def->help) {
            put(writer, " title=\"");
            pdnn_html_text(writer->out, def->help);
            put(writer, "\"");
        }
        put(writer, ">");
        pdnn_html_text(writer->out, pdnn_column_title(def));
        put(writer, "</th>");
    }
    put(writer, "</tr></thead><tbody>\n");
}

static void html_row(struct pdnn_table_writer *writer, const struct pdnn_table *table, size_t row) {
    struct pdnn_str cell = {0};
    put(writer, "<tr>");
    for (size_t i = 0; i < column_count(writer, table); i++) {
        size_t column = column_at(writer, i);
        pdnn_str_clear(&cell);
        pdnn_table_append_shown(table, row, column, &cell);
        put(writer, table->column[column].def.kind == PDNN_KIND_TEXT ? "<td>" : "<td class=\"number\">");
        pdnn_html_text(writer->out, pdnn_str_text(&cell));
        put(writer, "</td>");
    }
    put(writer, "</tr>\n");
    pdnn_str_finish(&cell);
}

static void html_end(struct pdnn_table_writer *writer) {
    put(writer, "</tbody></table>\n");
}

static void text_start(struct pdnn_table_writer *writer, const struct pdnn_table *table) {
    choose_brief(writer, table);
    writer->sheet = pdnn_sheet_create(table, writer->columns, writer->n_columns);
}

static void text_row(struct pdnn_table_writer *writer, const struct pdnn_table *table, size_t row) {
    pdnn_sheet_add(writer->sheet, table, row);
}

static void text_end(struct pdnn_table_writer *writer) {
    pdnn_sheet_destroy(writer->sheet, writer->is_noteless ? NULL : writer->out);
    writer->sheet = NULL;
}

static const struct format formats[PDNN_FORMAT_COUNT] = {
    [PDNN_FORMAT_TEXT] = {text_start, text_row, text_end}, [PDNN_FORMAT_CSV] = {csv_start, csv_row, NULL},
    [PDNN_FORMAT_JSON] = {json_start, json_row, json_end}, [PDNN_FORMAT_JSON_LINES] = {NULL, json_line, NULL},
    [PDNN_FORMAT_HTML] = {html_start, html_row, html_end},
};

void pdnn_table_write(struct pdnn_table_writer *writer, const struct pdnn_table *table,
                      const struct pdnn_row_list *rows) {
    const struct format *format = &formats[writer->format];
    size_t count = rows ? rows->count : table->n_rows;
    if (!writer->is_started && format->start)
        format->start(writer, table);
    writer->is_started = true;
    for (size_t i = 0; i < count; i++, writer->n_written++)
        format->row(writer, table, rows ? rows->at[i] : i);
    if (writer->sheet)
        pdnn_sheet_flush(writer->sheet, writer->width, writer->out);
}

void pdnn_table_write_end(struct pdnn_table_writer *writer) {
    if (writer->is_started && formats[writer->format].end)
        formats[writer->format].end(writer);
    free(writer->chosen);
    writer->chosen = NULL;
}

bool pdnn_table_fits(const struct pdnn_table_writer *writer, const struct pdnn_table *table) {
    struct pdnn_table_writer probe = {.columns = writer->columns, .n_columns = writer->n_columns};
    text_start(&probe, table);
    for (size_t row = 0; row < table->n_rows; row++)
        text_row(&probe, table, row);
    bool fits = pdnn_sheet_fits(probe.sheet, writer->width);
    pdnn_sheet_destroy(probe.sheet, NULL);
    free(probe.chosen);
    return fits;
}

void pdnn_table_csv(struct pdnn_str *out, const struct pdnn_table *table) {
    struct pdnn_table_writer writer = {.out = out, .format = PDNN_FORMAT_CSV};
    pdnn_table_write(&writer, table, NULL);
    pdnn_table_write_end(&writer);
}

void pdnn_table_csv_rows(struct pdnn_str *out, const struct pdnn_table *table) {
    struct pdnn_table_writer writer = {.out = out, .format = PDNN_FORMAT_CSV};
    for (size_t row = 0; row < table->n_rows; row++)
        csv_row(&writer, table, row);
}

void pdnn_table_csv_header(struct pdnn_str *out, const struct pdnn_table_def *def) {
    struct pdnn_table table;
    pdnn_table_init(&table, def);
    pdnn_table_csv(out, &table);
    pdnn_table_finish(&table);
}
