#include "results/table/read.h"

#include "base/file.h"
#include "base/visible.h"

#include <stdlib.h>
#include <string.h>

/* Steps over the separator at `at`, which ends a field; false if there is none. */
static bool end_field(struct pdnn_csv_scan *p) {
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

/* Parse a field, or a row into fields[0..*count). Return what is wrong, or NULL. */
static const char *parse_quoted(struct pdnn_csv_scan *p, const char **field) {
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

static const char *parse_plain(struct pdnn_csv_scan *p, const char **field) {
    char *at = p->at;
    *field = at;
    /* The text ends with a NUL, which ends the field too. */
    while (!ends_plain(*at) || (*at == '\r' && at[1] != '\n'))
        at++;
    p->at = at;
    return end_field(p) ? NULL : "a quote inside an unquoted field";
}

static const char *parse_row(struct pdnn_csv_scan *p, const char **fields, size_t *count) {
    *count = 0;
    do {
        if (*count == PDNN_TABLE_COLUMNS_MAX)
            return "too many columns";
        const char **field = &fields[(*count)++];
        const char *problem = *p->at == '"' ? parse_quoted(p, field) : parse_plain(p, field);
        if (problem)
            return problem;
    } while (!p->end_of_row);
    return NULL;
}

enum pdnn_status pdnn_csv_scan_start(struct pdnn_csv_scan *scan, const char *path, char *text, size_t length,
                                     struct pdnn_err *err) {
    struct pdnn_csv_scan p = {.path = path, .line = 1, .at = text, .end = text + length};
    const char *nul = memchr(text, 0, length);
    for (; nul && text < nul; text++)
        p.line += *text == '\n';
    if (nul)
        return pdnn_fail(err, PDNN_INVALID, "%s:%zu: a NUL byte", path, p.line);
    if (p.at == p.end)
        return pdnn_fail(err, PDNN_INVALID, "%s:1: empty, expected a header row", path);
    const char *problem = parse_row(&p, p.header, &p.n_columns);
    if (problem)
        return pdnn_fail(err, PDNN_INVALID, "%s:1: %s", path, problem);
    for (size_t i = 0; i < p.n_columns; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(p.header[i], p.header[j]) == 0)
                return pdnn_fail(err, PDNN_INVALID, "%s:1: column '%.100s' is there twice", path,
                                 p.header[i]);
    *scan = p;
    return PDNN_OK;
}

enum pdnn_status pdnn_csv_scan_row(struct pdnn_csv_scan *p, const char **fields, bool *found,
                                   struct pdnn_err *err) {
    size_t count;
    *found = p->at < p->end;
    if (!*found)
        return PDNN_OK;
    p->row_line = p->line;
    const char *problem = parse_row(p, fields, &count);
    if (problem)
        return pdnn_fail(err, PDNN_INVALID, "%s:%zu: %s", p->path, p->row_line, problem);
    return count == p->n_columns ? PDNN_OK
                                 : pdnn_csv_fail_count(p->path, p->row_line, count, p->n_columns, err);
}

enum pdnn_status pdnn_csv_fail_count(const char *path, size_t line, size_t fields, size_t columns,
                                     struct pdnn_err *err) {
    return pdnn_fail(err, PDNN_INVALID, "%s:%zu: %zu fields, the header has %zu", path, line, fields,
                     columns);
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

/* The table's column for each of the file's; those that are not there are added, as defined if they are. */
static enum pdnn_status map_columns(const struct pdnn_table_file *file, const struct pdnn_csv_scan *scan,
                                    const struct pdnn_table_def *def, struct pdnn_table *table,
                                    size_t *columns, struct pdnn_err *err) {
    bool is_there[PDNN_TABLE_COLUMNS_MAX + 1] = {false};
    for (size_t i = 0; i < scan->n_columns; i++) {
        const struct pdnn_column_def column = {.name = scan->header[i], .align = PDNN_ALIGN_WRAP};
        size_t c = 0;
        while (c < def->count && strcmp(def->column[c].name, column.name) != 0)
            c++;
        const bool is_new = file->is_as_in_file || c == def->count;
        if (is_new && table->n_columns == PDNN_TABLE_COLUMNS_MAX)
            return pdnn_fail(err, PDNN_INVALID, "%s:1: too many columns", scan->path);
        columns[i] = is_new ? pdnn_table_add_column(table, c < def->count ? &def->column[c] : &column) : c;
        is_there[c] = true;
    }
    for (size_t c = 0; c < def->count; c++)
        if (!is_there[c] && !def->column[c].is_optional)
            return pdnn_fail(err, PDNN_INVALID, "%s:1: there is no column '%s'", scan->path,
                             def->column[c].name);
    return PDNN_OK;
}

static enum pdnn_status read_rows(const struct pdnn_table_file *file, struct pdnn_csv_scan *scan,
                                  const size_t *columns, struct pdnn_table *table, struct pdnn_err *err) {
    const char *fields[PDNN_TABLE_COLUMNS_MAX];
    for (;;) {
        bool found;
        enum pdnn_status status = pdnn_csv_scan_row(scan, fields, &found, err);
        if (status != PDNN_OK || !found)
            return status;
        size_t row = pdnn_table_add_row(table);
        for (size_t i = 0; i < scan->n_columns; i++) {
            if (pdnn_table_parse(table, row, columns[i], fields[i]))
                continue;
            const struct pdnn_column_def *def = &table->column[columns[i]].def;
            char shown[PDNN_VISIBLE_TEXT];
            return pdnn_fail(err, PDNN_INVALID, "%s:%zu: %s: '%.100s' is not %s %s", scan->path,
                             scan->row_line, def->name, pdnn_visible(shown, fields[i]),
                             def->kind == PDNN_KIND_WHOLE ? "an" : "a", pdnn_kind_name(def->kind));
        }
        if (file->check && file->check(table, row, err) != PDNN_OK)
            return pdnn_wrap(err, "%s:%zu", scan->path, scan->row_line);
    }
}

enum pdnn_status pdnn_table_read_text(struct pdnn_table_file *file, char *text, size_t length,
                                      const struct pdnn_table_def *def, struct pdnn_table *table,
                                      struct pdnn_err *err) {
    const struct pdnn_table_def empty = {.name = def->name, .help = def->help};
    struct pdnn_csv_scan scan;
    struct pdnn_table made;
    size_t columns[PDNN_TABLE_COLUMNS_MAX];
    enum pdnn_status status = pdnn_csv_scan_start(&scan, file->path, text, length, err);
    if (status != PDNN_OK)
        return status;
    pdnn_table_init(&made, file->is_as_in_file ? &empty : def);
    status = map_columns(file, &scan, def, &made, columns, err);
    if (status == PDNN_OK)
        status = read_rows(file, &scan, columns, &made, err);
    if (status != PDNN_OK) {
        pdnn_table_finish(&made);
        return status;
    }
    pdnn_table_fit(&made, 0);
    *table = made;
    return PDNN_OK;
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
