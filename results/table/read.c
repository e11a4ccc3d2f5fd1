#include "results/table/read.h"

#include "base/file.h"
#include "base/visible.h"

#include <stdlib.h>
#include <string.h>

/* The rows of a text, in place: fields are unquoted where they lie, and a NUL overwrites their separator. */
struct scan {
    const char *path;
    size_t n_columns, column[PDNN_TABLE_COLUMNS_MAX]; /* the table's, for each of the file's */
    char *at, *end;
    size_t line, row_line; /* of `at`; where the last row starts, from 1 */
    bool end_of_row;       /* the last field read ended its row */
};

/* Steps over the separator at `at`, which ends a field; false if there is none. */
static bool end_field(struct scan *p) {
    if (p->at == p->end) {
        p->end_of_row = true;
        return true;
    }
    if (*p->at == '\r' && p->at + 1 < p->end && p->at[1] == '\n')
        *p->at++ = 0;
    p->end_of_row = *p->at == '\n';
    if (*p->at != ',' && !p->end_of_row)
        return false;
    p->line += p->end_of_row;
    *p->at++ = 0;
    return true;
}

/* Parse a field. Return what is wrong, or NULL. */
static const char *parse_quoted(struct scan *p, const char **field) {
    char *out = ++p->at;
    *field = out;
    for (; p->at < p->end; p->at++) {
        if (*p->at == '"' && p->at + 1 < p->end && p->at[1] == '"') {
            p->at++;
        } else if (*p->at == '"') {
            p->at++;
            if (!end_field(p))
                return "text after a closing quote";
            *out = 0;
            return NULL;
        }
        p->line += *p->at == '\n';
        *out++ = *p->at;
    }
    return "a quote that is never closed";
}

/* Not strchr: this is asked for every byte. */
static bool ends_plain(char byte) {
    static const bool ends[256] = {[0] = true, ['\n'] = true, ['\r'] = true, ['"'] = true, [','] = true};
    return ends[(unsigned char)byte];
}

static const char *parse_plain(struct scan *p, const char **field) {
    char *at = p->at;
    *field = at;
    /* The text ends with a NUL, which ends the field too. */
    while (!ends_plain(*at) || (*at == '\r' && at[1] != '\n'))
        at++;
    p->at = at;
    /* R's word for an empty cell, unless it is quoted. */
    if (at - *field == 2 && memcmp(*field, "NA", 2) == 0 && p->row_line > 1)
        *field = "";
    return end_field(p) ? NULL : "a quote inside an unquoted field";
}

static enum pdnn_status parse_row(struct scan *p, const char **fields, size_t *count, struct pdnn_err *err) {
    const char *problem = NULL;
    p->row_line = p->line;
    p->end_of_row = false;
    for (*count = 0; !problem && !p->end_of_row; ++*count)
        problem = *count == PDNN_TABLE_COLUMNS_MAX ? "too many columns"
                  : *p->at == '"'                  ? parse_quoted(p, &fields[*count])
                                                   : parse_plain(p, &fields[*count]);
    return problem ? pdnn_fail(err, PDNN_INVALID, "%s:%zu: %s", p->path, p->row_line, problem) : PDNN_OK;
}

size_t pdnn_csv_split(const char *line, size_t length, struct pdnn_piece *fields, size_t room) {
    const char *start = line, *end = line + length;
    size_t count = 0;
    bool quoted = false;
    for (const char *at = line; at <= end; at++) {
        if (at < end && !*at)
            return 0;
        quoted ^= at < end && *at == '"';
        if (at < end && (*at != ',' || quoted))
            continue;
        if (count < room)
            fields[count] = (struct pdnn_piece){start, (size_t)(at - start)};
        count++;
        start = at + 1;
    }
    return quoted ? 0 : count;
}

/* Columns that the table lacks are added to it, as defined if they are. */
static enum pdnn_status read_header(struct scan *scan, const struct pdnn_table_def *def,
                                    struct pdnn_table *table, struct pdnn_err *err) {
    const char *names[PDNN_TABLE_COLUMNS_MAX];
    bool is_there[PDNN_TABLE_COLUMNS_MAX] = {false}; /* by the table's column */
    if (scan->at == scan->end)
        return pdnn_fail(err, PDNN_INVALID, "%s:1: empty, expected a header row", scan->path);
    const enum pdnn_status status = parse_row(scan, names, &scan->n_columns, err);
    if (status != PDNN_OK)
        return status;
    for (size_t i = 0; i < scan->n_columns; i++) {
        const struct pdnn_column_def unknown = {.name = names[i], .align = PDNN_ALIGN_WRAP};
        size_t c = 0, at = pdnn_table_find(table, names[i]);
        while (c < def->count && strcmp(def->column[c].name, names[i]) != 0)
            c++;
        if (at != SIZE_MAX && is_there[at])
            return pdnn_fail(err, PDNN_INVALID, "%s:1: column '%.100s' is there twice", scan->path, names[i]);
        if (at == SIZE_MAX && table->n_columns == PDNN_TABLE_COLUMNS_MAX)
            return pdnn_fail(err, PDNN_INVALID, "%s:1: too many columns", scan->path);
        if (at == SIZE_MAX)
            at = pdnn_table_add_column(table, c < def->count ? &def->column[c] : &unknown);
        scan->column[i] = at;
        is_there[at] = true;
    }
    for (size_t c = 0; c < def->count; c++) {
        const size_t at = pdnn_table_find(table, def->column[c].name);
        if (!def->column[c].is_optional && (at == SIZE_MAX || !is_there[at]))
            return pdnn_fail(err, PDNN_INVALID, "%s:1: there is no column '%s'", scan->path,
                             def->column[c].name);
    }
    return PDNN_OK;
}

static enum pdnn_status read_rows(const struct pdnn_table_file *file, struct scan *scan,
                                  struct pdnn_table *table, struct pdnn_err *err) {
    const char *fields[PDNN_TABLE_COLUMNS_MAX];
    while (scan->at < scan->end) {
        size_t count;
        const enum pdnn_status status = parse_row(scan, fields, &count, err);
        if (status != PDNN_OK)
            return status;
        if (count != scan->n_columns)
            return pdnn_fail(err, PDNN_INVALID, "%s:%zu: %zu fields, the header has %zu", scan->path,
                             scan->row_line, count, scan->n_columns);
        const size_t row = pdnn_table_add_row(table);
        for (size_t i = 0; i < count; i++) {
            if (pdnn_table_parse(table, row, scan->column[i], fields[i]))
                continue;
            const struct pdnn_column_def *def = &table->column[scan->column[i]].def;
            char shown[PDNN_VISIBLE_TEXT];
            return pdnn_fail(err, PDNN_INVALID, "%s:%zu: %s: '%.100s' is not %s %s", scan->path,
                             scan->row_line, def->name, pdnn_visible(shown, fields[i]),
                             def->kind == PDNN_KIND_WHOLE ? "an" : "a", pdnn_kind_name(def->kind));
        }
        if (file->check && file->check(table, row, err) != PDNN_OK)
            return pdnn_wrap(err, "%s:%zu", scan->path, scan->row_line);
    }
    return PDNN_OK;
}

enum pdnn_status pdnn_table_read_text(struct pdnn_table_file *file, char *text, size_t length,
                                      const struct pdnn_table_def *def, struct pdnn_table *table,
                                      struct pdnn_err *err) {
    const struct pdnn_table_def empty = {.name = def->name, .help = def->help};
    struct scan scan = {.path = file->path, .at = text, .end = text + length, .line = 1};
    struct pdnn_table made;
    const char *nul = memchr(text, 0, length);
    for (; nul && text < nul; text++)
        scan.line += *text == '\n';
    if (nul)
        return pdnn_fail(err, PDNN_INVALID, "%s:%zu: a NUL byte", scan.path, scan.line);
    pdnn_table_init(&made, file->is_as_in_file ? &empty : def);
    enum pdnn_status status = read_header(&scan, def, &made, err);
    if (status == PDNN_OK)
        status = read_rows(file, &scan, &made, err);
    if (status == PDNN_OK) {
        pdnn_table_fit(&made, 0);
        *table = made;
    } else {
        pdnn_table_finish(&made);
    }
    return status;
}

enum pdnn_status pdnn_table_read(struct pdnn_table_file *file, const struct pdnn_table_def *def,
                                 struct pdnn_table *table, struct pdnn_err *err) {
    char *text;
    size_t length;
    enum pdnn_status status = pdnn_file_read(file->path, file->limit_bytes, &text, &length, err);
    if (status != PDNN_OK)
        return status;
    status = pdnn_table_read_text(file, text, length, def, table, err);
    free(text);
    return status;
}
