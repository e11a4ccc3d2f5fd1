#include "results/tables/seqpoint_table.h"
#include "base/memory.h"
#include "results/tables/record.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_LIMIT_BYTES = 256 << 20, LENGTH_MAX = 1 << 24 };
static const uint64_t ITERATIONS_MAX = UINT64_C(1) << 32;

#define AT(field)     .offset = offsetof(struct pdnn_seqpoint_row, field)
#define NUMBER(field) PDNN_COLUMN_NUMBER, AT(field), .digits = PDNN_DIGITS_EXACT

static const struct pdnn_word methods[] = {
    {"seqpoint", "a SeqPoint: it stands for the iterations of its bin of lengths", ""},
    {"frequent", "the commonest length", ""},
    {"median", "the median of the iterations' lengths", ""},
    {"worst", "the single iteration that misjudges the epoch most", ""},
    {"prior", "among the first consecutive iterations", ""},
    {"random", "among iterations drawn at random", ""},
    {"sample", "in the stratified random sample of the model-assisted estimate", ""},
    {NULL, NULL, NULL}};

static void get_methods(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    unsigned chosen;
    memcpy(&chosen, (const char *)row + column->offset, sizeof chosen);
    const char *between = "";
    for (size_t i = 0; methods[i].name; i++) {
        if (chosen >> i & 1) {
            pdnn_str_printf(cell, "%s%s", between, methods[i].name);
            between = "|";
        }
    }
}

static bool put_methods(const struct pdnn_column *column, void *row, const char *text) {
    unsigned chosen = 0;
    while (*text) {
        size_t length = strcspn(text, "|"), i = 0;
        while (methods[i].name &&
               (strlen(methods[i].name) != length || strncmp(methods[i].name, text, length) != 0))
            i++;
        if (!methods[i].name || (text[length] && !text[length + 1]))
            return false;
        chosen |= 1U << i;
        text += length + (text[length] == '|');
    }
    memcpy((char *)row + column->offset, &chosen, sizeof chosen);
    return true;
}

static const struct pdnn_column columns[] = {
    {"id", "", PDNN_COLUMN_WORD, AT(id), .help = "the model at these lengths, as in results.csv"},
    {"source_length", "steps", PDNN_COLUMN_WHOLE, AT(source_length),
     .help = "padded length of the source, or the only one"},
    {"target_length", "steps", PDNN_COLUMN_WHOLE, AT(target_length),
     .help = "padded length of the target; 0 for a model with one length"},
    {"iterations", "", PDNN_COLUMN_COUNT, AT(iterations),
     .help = "iterations of the epoch with these lengths"},
    {"flop_count", "FLOP", PDNN_COLUMN_COUNT, AT(flop_count), .help = "FLOP of one iteration"},
    {"chosen_by", "", PDNN_COLUMN_TEXT, AT(chosen_by), .get = get_methods, .put = put_methods,
     .words = methods, .help = "the methods that run it in place of the epoch, joined by |"},
    {"seqpoint_weight", "iterations", NUMBER(seqpoint_weight),
     .help = "iterations that it stands for as a SeqPoint; empty: it is none"},
    {"draws", "", PDNN_COLUMN_COUNT, AT(draws),
     .help = "times that it is in the random sample of the model-assisted estimate"},
    {"draws_weight", "iterations", NUMBER(draws_weight),
     .help = "iterations that these draws stand for together: a sum of design weights and the fit's share, "
             "which can be negative"},
    {"time_ns", "ns", NUMBER(time_ns),
     .help =
         "time of one iteration: with --every the mean of all, otherwise the median of the visits' medians; "
         "empty: none ran"},
    {"measured", "", PDNN_COLUMN_COUNT, AT(measured), .help = "iterations of these lengths that ran"},
};

const struct pdnn_columns pdnn_seqpoint_columns = {"seqpoint.csv", columns,
                                                   sizeof columns / sizeof columns[0]};

void pdnn_seqpoint_row_init(struct pdnn_seqpoint_row *row) {
    *row = (struct pdnn_seqpoint_row){
        .id = "", .flop_count = PDNN_ABSENT, .seqpoint_weight = NAN, .draws_weight = NAN, .time_ns = NAN};
}

void pdnn_seqpoint_table_format(const struct pdnn_seqpoint_row *row, size_t n_rows, struct pdnn_str *out) {
    pdnn_columns_header(&pdnn_seqpoint_columns, out);
    for (size_t i = 0; i < n_rows; i++)
        pdnn_columns_row(&pdnn_seqpoint_columns, &row[i], out);
}

static bool is_in_range(const struct pdnn_seqpoint_row *row) {
    return row->source_length >= 1 && row->source_length <= LENGTH_MAX && row->target_length >= 0 &&
           row->target_length <= LENGTH_MAX && row->iterations >= 1 && row->iterations <= ITERATIONS_MAX &&
           !(row->time_ns <= 0) && !(row->seqpoint_weight <= 0);
}

static enum pdnn_status parse_row(const char *path, const struct pdnn_csv *csv, size_t at,
                                  struct pdnn_seqpoint_row *row, struct pdnn_err *err) {
    pdnn_seqpoint_row_init(row);
    for (size_t i = 0; i < pdnn_seqpoint_columns.count; i++) {
        const struct pdnn_column *column = &columns[i];
        const char *cell = pdnn_csv_get(csv, at, pdnn_csv_find(csv, column->name));
        if (!pdnn_column_parse(column, row, cell))
            return pdnn_fail(err, PDNN_INVALID, "%s:%zu: '%.40s' is not a value for column '%s'", path,
                             csv->lines[at], cell, column->name);
    }
    if (!is_in_range(row))
        return pdnn_fail(err, PDNN_INVALID,
                         "%s:%zu: lengths, iterations, weights and times must be greater than 0", path,
                         csv->lines[at]);
    row->measured = row->measured == PDNN_ABSENT ? 0 : row->measured;
    row->draws = row->draws == PDNN_ABSENT ? 0 : row->draws;
    return PDNN_OK;
}

static bool is_before(const struct pdnn_seqpoint_row *a, const struct pdnn_seqpoint_row *b) {
    if (a->source_length != b->source_length)
        return a->source_length < b->source_length;
    return a->target_length < b->target_length;
}

static enum pdnn_status parse_rows(const char *path, const struct pdnn_csv *csv,
                                   struct pdnn_seqpoint_row *row, struct pdnn_err *err) {
    for (size_t i = 0; i < pdnn_seqpoint_columns.count; i++) {
        if (pdnn_csv_find(csv, columns[i].name) < 0)
            return pdnn_fail(err, PDNN_INVALID, "%s:1: column '%s' is missing; expected a seqpoint.csv", path,
                             columns[i].name);
    }
    if (!csv->n_rows)
        return pdnn_fail(err, PDNN_INVALID, "%s: there are no rows", path);
    for (size_t i = 0; i < csv->n_rows; i++) {
        if (parse_row(path, csv, i, &row[i], err) != PDNN_OK)
            return err->status;
        if (i && !is_before(&row[i - 1], &row[i]))
            return pdnn_fail(err, PDNN_INVALID, "%s:%zu: lengths must be ascending, each pair once", path,
                             csv->lines[i]);
        if (i && !row[i - 1].target_length != !row[i].target_length)
            return pdnn_fail(err, PDNN_INVALID, "%s:%zu: target_length is 0 in some rows only", path,
                             csv->lines[i]);
    }
    return PDNN_OK;
}

static enum pdnn_status take(const char *path, struct pdnn_csv *csv, struct pdnn_seqpoint_table *table,
                             struct pdnn_err *err) {
    struct pdnn_seqpoint_row *row = pdnn_alloc(csv->n_rows + 1, sizeof *row);
    enum pdnn_status status = parse_rows(path, csv, row, err);
    if (status != PDNN_OK) {
        free(row);
        pdnn_csv_finish(csv);
        return status;
    }
    *table = (struct pdnn_seqpoint_table){row, csv->n_rows, *csv};
    return PDNN_OK;
}

enum pdnn_status pdnn_seqpoint_table_read(const char *path, struct pdnn_seqpoint_table *table,
                                          struct pdnn_err *err) {
    struct pdnn_csv csv;
    enum pdnn_status status = pdnn_csv_read(path, TABLE_LIMIT_BYTES, PDNN_CSV_STRICT, &csv, err);
    return status == PDNN_OK ? take(path, &csv, table, err) : status;
}

void pdnn_seqpoint_table_finish(struct pdnn_seqpoint_table *table) {
    free(table->row);
    pdnn_csv_finish(&table->csv);
    *table = (struct pdnn_seqpoint_table){NULL, 0, {0}};
}
