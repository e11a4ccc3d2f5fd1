#include "results/store/columns.h"
#include "base/units.h"
#include "results/table/csv.h"
#include "results/store/results.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const void *field_of(const struct pdnn_column *column, const void *row) {
    return (const char *)row + column->offset;
}

void pdnn_column_text(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    const void *field = field_of(column, row);
    if (column->get) {
        column->get(column, row, cell);
        return;
    }
    switch (column->type) {
    case PDNN_COLUMN_TEXT:
        pdnn_str_append(cell, field, strlen(field));
        break;
    case PDNN_COLUMN_WORD: {
        const char *const *word = field;
        if (*word)
            pdnn_str_append(cell, *word, strlen(*word));
        break;
    }
    case PDNN_COLUMN_COUNT: {
        const uint64_t *count = field;
        if (*count != PDNN_ABSENT)
            pdnn_str_append_u64(cell, *count);
        break;
    }
    case PDNN_COLUMN_NUMBER: {
        const double *number = field;
        pdnn_number_format(cell, *number, column->digits);
        break;
    }
    case PDNN_COLUMN_WHOLE:
    case PDNN_COLUMN_TYPE_COUNT:
        break;
    }
}

/* strtoull would accept a sign and blanks, and clamp what does not fit. */
bool pdnn_column_parse(const struct pdnn_column *column, void *row, const char *text) {
    void *field = (char *)row + column->offset;
    if (column->put)
        return column->put(column, row, text);
    switch (column->type) {
    case PDNN_COLUMN_TEXT:
        if (strlen(text) >= column->size)
            return false;
        memcpy(field, text, strlen(text) + 1);
        return true;
    case PDNN_COLUMN_COUNT:
        if (*text)
            return pdnn_count_parse(text, field);
        *(uint64_t *)field = PDNN_ABSENT;
        return true;
    case PDNN_COLUMN_NUMBER:
        if (*text)
            return pdnn_parse_double(text, field);
        *(double *)field = NAN;
        return true;
    case PDNN_COLUMN_WORD:
        if (column->get) /* computed: there is no field to write to */
            return false;
        *(const char **)field = text;
        return true;
    default:
        return false;
    }
}

void pdnn_column_family(const char *id, struct pdnn_str *cell) {
    pdnn_str_append(cell, id, strcspn(id, "/:"));
}

void pdnn_columns_header(const struct pdnn_columns *columns, struct pdnn_str *out) {
    struct pdnn_csv_writer writer = {.out = out};
    for (size_t i = 0; i < columns->count; i++)
        pdnn_csv_put_text(&writer, columns->column[i].name);
    pdnn_csv_end_row(&writer);
}

enum pdnn_header_match pdnn_columns_match(const struct pdnn_columns *columns, const char *text,
                                          size_t length) {
    struct pdnn_str header = {0};
    pdnn_columns_header(columns, &header);
    enum pdnn_header_match match = length < header.length ? PDNN_HEADER_CUT : PDNN_HEADER_WHOLE;
    if (memcmp(text, header.text, length < header.length ? length : header.length) != 0)
        match = PDNN_HEADER_OTHER;
    pdnn_str_finish(&header);
    return match;
}

enum pdnn_status pdnn_columns_refuse(const struct pdnn_columns *columns, const char *path, const char *text,
                                     size_t length, struct pdnn_err *err) {
    static const char first[] = "schema,";
    const char *row = memchr(text, '\n', length);
    bool has_schema = length > sizeof first && memcmp(text, first, sizeof first - 1) == 0;
    if (has_schema && row && text + length - row > 2 && row[1] < '0' + PDNN_SCHEMA && row[2] == ',')
        return pdnn_fail(
            err, PDNN_INVALID,
            "%s: written by an older version of paradnn (schema %c, now %d); use another directory", path,
            row[1], PDNN_SCHEMA);
    return pdnn_fail(err, PDNN_INVALID,
                     "%s:1: not a %s of this version of paradnn (schema %d); use another directory", path,
                     columns->table, PDNN_SCHEMA);
}

void pdnn_columns_row(const struct pdnn_columns *columns, const void *row, struct pdnn_str *out) {
    struct pdnn_csv_writer writer = {.out = out};
    for (size_t i = 0; i < columns->count; i++) {
        size_t start = pdnn_csv_start_field(&writer);
        pdnn_column_text(&columns->column[i], row, out);
        pdnn_csv_end_field(&writer, start);
    }
    pdnn_csv_end_row(&writer);
}

int pdnn_columns_find(const struct pdnn_columns *columns, const char *name) {
    for (size_t i = 0; i < columns->count; i++) {
        if (strcmp(columns->column[i].name, name) == 0)
            return (int)i;
    }
    return -1;
}

struct pdnn_table_def pdnn_columns_def(const struct pdnn_columns *columns, struct pdnn_arena *arena) {
    static const enum pdnn_kind kinds[] = {
        [PDNN_COLUMN_TEXT] = PDNN_KIND_TEXT,     [PDNN_COLUMN_WORD] = PDNN_KIND_TEXT,
        [PDNN_COLUMN_COUNT] = PDNN_KIND_COUNT,   [PDNN_COLUMN_WHOLE] = PDNN_KIND_WHOLE,
        [PDNN_COLUMN_NUMBER] = PDNN_KIND_NUMBER,
    };
    struct pdnn_column_def *defs = pdnn_arena_alloc(arena, columns->count, sizeof *defs);
    for (size_t i = 0; i < columns->count; i++) {
        const struct pdnn_column *column = &columns->column[i];
        defs[i] = (struct pdnn_column_def){.name = column->name,
                                           .unit = *column->unit ? column->unit : NULL,
                                           .kind = kinds[column->type],
                                           .digits = column->digits,
                                           .help = column->help,
                                           .words = column->words};
    }
    return (struct pdnn_table_def){.name = columns->table, .column = defs, .count = columns->count};
}

void pdnn_columns_add(const struct pdnn_columns *columns, const void *row, struct pdnn_table *table) {
    struct pdnn_str cell = {0};
    size_t to = pdnn_table_add_row(table);
    for (size_t i = 0; i < columns->count; i++) {
        pdnn_str_clear(&cell);
        pdnn_column_text(&columns->column[i], row, &cell);
        bool good = !cell.length || pdnn_table_parse(table, to, i, pdnn_str_text(&cell));
        assert(good);
        (void)good;
    }
    pdnn_str_finish(&cell);
}
