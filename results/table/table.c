#include "results/table/table.h"

#include "base/memory.h"
#include "base/units.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *pdnn_kind_name(enum pdnn_kind kind) {
    static const char *const names[] = {"text", "count", "integer", "number"};
    return names[kind];
}

const char *pdnn_column_title(const struct pdnn_column_def *column) {
    return column->title ? column->title : column->name;
}

struct pdnn_column_def pdnn_column_of_param(const struct pdnn_param_def *param) {
    const bool is_decimal = param->type == PDNN_PARAM_DECIMAL;
    return (struct pdnn_column_def){
        .name = pdnn_param_column(param),
        .unit = param->unit,
        .kind = is_decimal                      ? PDNN_KIND_NUMBER
                : param->type == PDNN_PARAM_INT ? PDNN_KIND_WHOLE
                                                : PDNN_KIND_TEXT,
        .digits = is_decimal ? PDNN_DIGITS_EXACT : 0,
        .is_parameter = true,
        .is_optional = true,
        .help = param->help,
    };
}

static size_t size_of(enum pdnn_kind kind) {
    return kind == PDNN_KIND_TEXT ? sizeof(uint32_t) : sizeof(uint64_t);
}

/* What stands for an empty cell, of integers as its bits. */
static uint64_t empty_of(enum pdnn_kind kind) {
    return kind == PDNN_KIND_COUNT ? UINT64_MAX : (uint64_t)INT64_MIN;
}

void pdnn_table_set_empty(struct pdnn_table *table, size_t row, size_t column) {
    struct pdnn_cells *cells = &table->column[column];
    if (cells->def.kind == PDNN_KIND_TEXT)
        cells->text[row] = 0;
    else if (cells->def.kind == PDNN_KIND_NUMBER)
        cells->number[row] = NAN;
    else
        cells->count[row] = empty_of(cells->def.kind);
}

static void add_cells(struct pdnn_table *table, const struct pdnn_column_def *def) {
    assert(table->n_columns < PDNN_TABLE_COLUMNS_MAX);
    assert(pdnn_table_find(table, def->name) == SIZE_MAX);
    table->column = pdnn_grow(table->column, &table->column_room, table->n_columns, sizeof *table->column);
    struct pdnn_cells *cells = &table->column[table->n_columns++];
    *cells = (struct pdnn_cells){.def = *def};
    cells->memory = pdnn_resize(NULL, table->row_room, size_of(def->kind));
    for (size_t row = 0; row < table->n_rows; row++)
        pdnn_table_set_empty(table, row, table->n_columns - 1);
}

void pdnn_table_init(struct pdnn_table *table, const struct pdnn_table_def *def) {
    *table = (struct pdnn_table){.name = def->name, .help = def->help};
    pdnn_texts_add(&table->texts, ""); /* number 0: empty */
    for (size_t i = 0; i < def->count; i++)
        add_cells(table, &def->column[i]);
}

void pdnn_table_finish(struct pdnn_table *table) {
    for (size_t i = 0; i < table->n_columns; i++)
        free(table->column[i].memory);
    free(table->column);
    pdnn_texts_finish(&table->texts);
    pdnn_arena_finish(&table->names);
    *table = (struct pdnn_table){0};
}

void pdnn_table_clear(struct pdnn_table *table) {
    table->n_rows = 0;
    pdnn_texts_finish(&table->texts);
    pdnn_texts_add(&table->texts, "");
}

size_t pdnn_table_add_column(struct pdnn_table *table, const struct pdnn_column_def *column) {
    struct pdnn_column_def def = *column;
    const char **texts[] = {&def.name, &def.title, &def.unit, &def.help};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (*texts[i])
            *texts[i] = pdnn_arena_strdup(&table->names, *texts[i]);
    add_cells(table, &def);
    return table->n_columns - 1;
}

size_t pdnn_table_find(const struct pdnn_table *table, const char *name) {
    for (size_t i = 0; i < table->n_columns; i++)
        if (strcmp(table->column[i].def.name, name) == 0)
            return i;
    return SIZE_MAX;
}

void pdnn_table_fit(struct pdnn_table *table, size_t rows) {
    table->row_room = rows > table->n_rows ? rows : table->n_rows;
    for (size_t i = 0; i < table->n_columns; i++) {
        struct pdnn_cells *cells = &table->column[i];
        cells->memory = pdnn_resize(cells->memory, table->row_room, size_of(cells->def.kind));
    }
}

size_t pdnn_table_add_row(struct pdnn_table *table) {
    if (table->n_rows == table->row_room)
        pdnn_table_fit(table, table->row_room ? 2 * table->row_room : 16);
    for (size_t i = 0; i < table->n_columns; i++)
        pdnn_table_set_empty(table, table->n_rows, i);
    return table->n_rows++;
}

size_t pdnn_table_add_texts(struct pdnn_table *table, size_t n, const char *const *texts) {
    const size_t row = pdnn_table_add_row(table);
    for (size_t i = 0; i < n; i++)
        pdnn_table_set_text(table, row, i, texts[i] ? texts[i] : "");
    return row;
}

static struct pdnn_cells *cells_of(const struct pdnn_table *table, size_t row, size_t column,
                                   enum pdnn_kind kind) {
    assert(row < table->n_rows && column < table->n_columns && table->column[column].def.kind == kind);
    return &table->column[column];
}

/* Often a cell holds what the one above it does. */
void pdnn_table_set_text(struct pdnn_table *table, size_t row, size_t column, const char *text) {
    uint32_t *cell = cells_of(table, row, column, PDNN_KIND_TEXT)->text + row;
    if (!*text) {
        *cell = 0;
    } else if (row && strcmp(table->texts.text[cell[-1]], text) == 0) {
        *cell = cell[-1];
    } else {
        size_t number = pdnn_texts_add(&table->texts, text);
        assert(number < UINT32_MAX);
        *cell = (uint32_t)number;
    }
}

void pdnn_table_set_count(struct pdnn_table *table, size_t row, size_t column, uint64_t value) {
    cells_of(table, row, column, PDNN_KIND_COUNT)->count[row] = value;
}

void pdnn_table_set_whole(struct pdnn_table *table, size_t row, size_t column, int64_t value) {
    cells_of(table, row, column, PDNN_KIND_WHOLE)->whole[row] = value;
}

void pdnn_table_set_number(struct pdnn_table *table, size_t row, size_t column, double value) {
    cells_of(table, row, column, PDNN_KIND_NUMBER)->number[row] = value;
}

/* Also "1E+07" or "25557032.0", what other programs make of a whole number. Beyond 2^53 they may have rounded
 * it on the way. */
static bool parse_whole(const char *text, int64_t *whole) {
    const bool is_decimal = text[strspn(text, "+-0123456789")],
               has_unit = text[strspn(text, "+-.0123456789eE")];
    return !has_unit && pdnn_parse_whole(text, whole) == PDNN_NUMBER_WHOLE && *whole != INT64_MIN &&
           (!is_decimal || (*whole <= INT64_C(1) << 53 && *whole >= -(INT64_C(1) << 53)));
}

static bool parse_count(const char *text, uint64_t *count) {
    int64_t whole;
    if (pdnn_count_parse(text, count))
        return *count != UINT64_MAX;
    if (!parse_whole(text, &whole) || whole < 0)
        return false;
    *count = (uint64_t)whole;
    return true;
}

/* What R and pandas write for a number that is not available. */
static bool is_absent(const char *text) {
    return !*text || strcmp(text, "NA") == 0 || strcmp(text, "NaN") == 0 || strcmp(text, "nan") == 0;
}

bool pdnn_table_parse(struct pdnn_table *table, size_t row, size_t column, const char *text) {
    struct pdnn_cells *cells = &table->column[column];
    uint64_t count;
    int64_t whole;
    if (cells->def.kind == PDNN_KIND_TEXT) {
        pdnn_table_set_text(table, row, column, text);
    } else if (is_absent(text)) {
        pdnn_table_set_empty(table, row, column);
    } else if (cells->def.kind == PDNN_KIND_NUMBER) {
        return pdnn_number_parse(text, &cells->number[row]);
    } else if (cells->def.kind == PDNN_KIND_COUNT && parse_count(text, &count)) {
        cells->count[row] = count;
    } else if (cells->def.kind == PDNN_KIND_WHOLE && parse_whole(text, &whole)) {
        cells->whole[row] = whole;
    } else {
        return false;
    }
    return true;
}

bool pdnn_table_is_empty(const struct pdnn_table *table, size_t row, size_t column) {
    const struct pdnn_cells *cells = cells_of(table, row, column, table->column[column].def.kind);
    return cells->def.kind == PDNN_KIND_TEXT     ? !cells->text[row]
           : cells->def.kind == PDNN_KIND_NUMBER ? isnan(cells->number[row])
                                                 : cells->count[row] == empty_of(cells->def.kind);
}

const char *pdnn_table_text(const struct pdnn_table *table, size_t row, size_t column) {
    return table->texts.text[cells_of(table, row, column, PDNN_KIND_TEXT)->text[row]];
}

uint64_t pdnn_table_count(const struct pdnn_table *table, size_t row, size_t column) {
    return cells_of(table, row, column, PDNN_KIND_COUNT)->count[row];
}

int64_t pdnn_table_whole(const struct pdnn_table *table, size_t row, size_t column) {
    return cells_of(table, row, column, PDNN_KIND_WHOLE)->whole[row];
}

double pdnn_table_number(const struct pdnn_table *table, size_t row, size_t column) {
    const struct pdnn_cells *cells = &table->column[column];
    assert(cells->def.kind != PDNN_KIND_TEXT);
    if (pdnn_table_is_empty(table, row, column))
        return NAN;
    if (cells->def.kind == PDNN_KIND_NUMBER)
        return cells->number[row];
    return cells->def.kind == PDNN_KIND_COUNT ? (double)cells->count[row] : (double)cells->whole[row];
}

void pdnn_table_append(const struct pdnn_table *table, size_t row, size_t column, struct pdnn_str *out) {
    const struct pdnn_cells *cells = &table->column[column];
    if (pdnn_table_is_empty(table, row, column))
        return;
    if (cells->def.kind == PDNN_KIND_TEXT)
        pdnn_str_append(out, table->texts.text[cells->text[row]],
                        strlen(table->texts.text[cells->text[row]]));
    else if (cells->def.kind == PDNN_KIND_COUNT)
        pdnn_str_append_u64(out, cells->count[row]);
    else if (cells->def.kind == PDNN_KIND_WHOLE)
        pdnn_str_append_i64(out, cells->whole[row]);
    else
        pdnn_number_format(out, cells->number[row],
                           cells->def.digits ? cells->def.digits : PDNN_DIGITS_TABLE);
}

enum { SHOWN_DIGITS = 4 };

void pdnn_digits_append(struct pdnn_str *out, double value, int digits) {
    const double size = fabs(value), half = 0.5 * pow(10, -digits);
    int decimals = digits - 1;
    for (double limit = 10 * (1 - half); size >= limit && decimals > 0; limit *= 10)
        decimals--;
    for (double limit = 1 - half; size > 0 && size < limit; limit /= 10)
        decimals++;
    if (size > 0 && size < 1e-4)
        pdnn_str_printf(out, "%#.*g", digits, value);
    else
        pdnn_str_printf(out, "%.*f", decimals, value);
}

void pdnn_factor_append(struct pdnn_str *out, double value) {
    pdnn_digits_append(out, value, 3);
}

static const char *si_unit(const char *unit) {
    return !unit || strcmp(unit, "elements") == 0 ? "" : strcmp(unit, "bytes") == 0 ? "B" : unit;
}

/* As the definition says, which may be that of another column of the same kind. */
static void append_shown(const struct pdnn_table *table, size_t row, size_t column,
                         const struct pdnn_column_def *def, struct pdnn_str *out) {
    char buffer[PDNN_UNIT_TEXT];
    double value = def->kind == PDNN_KIND_TEXT ? NAN : pdnn_table_number(table, row, column);
    if (!isfinite(value)) {
        if (def->blank && pdnn_table_is_empty(table, row, column))
            pdnn_str_printf(out, "%s", def->blank);
        else if (def->kind == PDNN_KIND_TEXT)
            pdnn_table_append(table, row, column, out);
        return;
    }
    switch (def->show) {
    case PDNN_SHOW_FIXED:
    case PDNN_SHOW_PERCENT:
    case PDNN_SHOW_RATIO:
        if (def->above > 0 && value > def->above)
            pdnn_str_printf(out, "above");
        else
            pdnn_str_printf(out, "%.*f%s", def->decimals, value,
                            def->show == PDNN_SHOW_FIXED   ? ""
                            : def->show == PDNN_SHOW_RATIO ? " x"
                                                           : " %");
        break;
    case PDNN_SHOW_TIME:
        pdnn_str_printf(out, "%s", pdnn_format_ns(buffer, value));
        break;
    case PDNN_SHOW_SI:
        pdnn_str_printf(out, "%s", pdnn_format_si(buffer, value, si_unit(def->unit)));
        break;
    case PDNN_SHOW_BYTES:
        pdnn_str_printf(out, "%s", pdnn_format_bytes(buffer, value));
        break;
    case PDNN_SHOW_SHARE:
    case PDNN_SHOW_CHANGE:
        pdnn_str_printf(out, def->show == PDNN_SHOW_CHANGE ? "%+.*f %%" : "%.*f %%", def->decimals,
                        value * 100);
        break;
    case PDNN_SHOW_FACTOR:
        pdnn_factor_append(out, value);
        break;
    case PDNN_SHOW_INTERVAL:
        if (!isfinite(pdnn_table_number(table, row, column + 1)))
            break;
        pdnn_factor_append(out, value);
        pdnn_str_printf(out, " to ");
        pdnn_factor_append(out, pdnn_table_number(table, row, column + 1));
        break;
    default:
        if (def->kind == PDNN_KIND_NUMBER && !def->is_parameter)
            pdnn_number_format(out, value, SHOWN_DIGITS);
        else
            pdnn_table_append(table, row, column, out);
    }
}

void pdnn_table_append_shown(const struct pdnn_table *table, size_t row, size_t column,
                             struct pdnn_str *out) {
    const struct pdnn_column_def *def = &table->column[column].def;
    size_t start = out->length;
    append_shown(table, row, column, def, out);
    if (!def->then)
        return;
    struct pdnn_str then = {0};
    append_shown(table, row, column + (size_t)def->then, def, &then);
    if (strcmp(pdnn_str_text(out) + start, pdnn_str_text(&then)) != 0)
        pdnn_str_printf(out, " -> %s", pdnn_str_text(&then));
    pdnn_str_finish(&then);
}

int pdnn_table_compare(const struct pdnn_table *table, size_t column, size_t a, size_t b) {
    const struct pdnn_cells *cells = &table->column[column];
    bool a_empty = pdnn_table_is_empty(table, a, column), b_empty = pdnn_table_is_empty(table, b, column);
    if (a_empty || b_empty)
        return a_empty - b_empty;
    if (cells->def.kind == PDNN_KIND_TEXT)
        return cells->text[a] == cells->text[b]
                   ? 0
                   : strcmp(pdnn_table_text(table, a, column), pdnn_table_text(table, b, column));
    if (cells->def.kind == PDNN_KIND_COUNT)
        return (cells->count[a] > cells->count[b]) - (cells->count[a] < cells->count[b]);
    if (cells->def.kind == PDNN_KIND_WHOLE)
        return (cells->whole[a] > cells->whole[b]) - (cells->whole[a] < cells->whole[b]);
    return (cells->number[a] > cells->number[b]) - (cells->number[a] < cells->number[b]);
}
