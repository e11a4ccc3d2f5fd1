#define _POSIX_C_SOURCE 200809L
#include "results/query/ops_reader.h"
#include "base/memory.h"
#include "results/store/columns.h"
#include "results/store/ids.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPS_LIMIT_BYTES ((size_t)1 << 34)

/* Required columns; any other one is empty if the table lacks it. */
static const char *const needed[] = {"id", "op", "category", "executions", "time_ns_median", "pct_of_roof"};

static enum pdnn_status find_columns(struct pdnn_ops_reader *reader, struct pdnn_err *err) {
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        if (pdnn_csv_find(&reader->csv, needed[i]) < 0)
            return pdnn_fail(err, PDNN_INVALID, "%s:1: column '%s' is missing", reader->path, needed[i]);
    }
    reader->id = pdnn_csv_find(&reader->csv, "id");
    reader->column = pdnn_alloc(pdnn_ops_columns.count, sizeof *reader->column);
    for (size_t i = 0; i < pdnn_ops_columns.count; i++)
        reader->column[i] = pdnn_csv_find(&reader->csv, pdnn_ops_columns.column[i].name);
    return PDNN_OK;
}

/* If the rows of an instance are not contiguous, the first of them count. */
static void index_rows(struct pdnn_ops_reader *reader) {
    const struct pdnn_csv *csv = &reader->csv;
    reader->first = pdnn_alloc(csv->n_rows + 1, sizeof *reader->first);
    for (size_t row = 0; row < csv->n_rows; row++) {
        const char *id = pdnn_csv_get(csv, row, reader->id);
        if (row && strcmp(id, pdnn_csv_get(csv, row - 1, reader->id)) == 0)
            continue;
        size_t known = reader->ids.count, number = pdnn_texts_add(&reader->ids, id);
        if (number == known)
            reader->first[number] = row;
    }
}

enum pdnn_status pdnn_ops_reader_open(struct pdnn_ops_reader *reader, const char *directory,
                                      struct pdnn_err *err) {
    char path[PATH_MAX];
    struct pdnn_ops_reader opened = {.room = 0};
    if (snprintf(path, sizeof path, "%s/ops.csv", directory) >= (int)sizeof path)
        return pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", directory);
    enum pdnn_status status = pdnn_csv_read(path, OPS_LIMIT_BYTES, PDNN_CSV_STRICT, &opened.csv, err);
    if (status != PDNN_OK)
        return status;
    opened.path = pdnn_strdup(path);
    status = find_columns(&opened, err);
    if (status != PDNN_OK) {
        pdnn_ops_reader_close(&opened);
        return status;
    }
    pdnn_ids_reprint(&opened.csv, &opened.arena);
    index_rows(&opened);
    *reader = opened;
    return PDNN_OK;
}

void pdnn_ops_reader_close(struct pdnn_ops_reader *reader) {
    pdnn_csv_finish(&reader->csv);
    pdnn_arena_finish(&reader->arena);
    free(reader->path);
    pdnn_texts_finish(&reader->ids);
    free(reader->first);
    free(reader->column);
    free(reader->ops);
    *reader = (struct pdnn_ops_reader){.room = 0};
}

static bool is_row_of(const struct pdnn_ops_reader *reader, size_t row, const char *id) {
    return row < reader->csv.n_rows && strcmp(pdnn_csv_get(&reader->csv, row, reader->id), id) == 0;
}

static enum pdnn_status parse(const struct pdnn_ops_reader *reader, size_t row, struct pdnn_op_record *op,
                              struct pdnn_err *err) {
    *op = (struct pdnn_op_record){.id = ""};
    pdnn_placement_init(&op->place);
    for (size_t i = 0; i < pdnn_ops_columns.count; i++) {
        const struct pdnn_column *column = &pdnn_ops_columns.column[i];
        const char *cell = pdnn_csv_get(&reader->csv, row, reader->column[i]);
        if (!pdnn_column_parse(column, op, cell))
            return pdnn_fail(err, PDNN_INVALID, "%s:%zu: '%.40s' is not a value for column '%s'",
                             reader->path, reader->csv.lines[row], cell, column->name);
    }
    return PDNN_OK;
}

enum pdnn_status pdnn_ops_reader_find(struct pdnn_ops_reader *reader, const char *id,
                                      const struct pdnn_op_record **ops, size_t *n_ops,
                                      struct pdnn_err *err) {
    size_t number = pdnn_texts_find(&reader->ids, id), count = 0;
    size_t first = number == SIZE_MAX ? reader->csv.n_rows : reader->first[number];
    while (is_row_of(reader, first + count, id))
        count++;
    if (count > reader->room) {
        reader->ops = pdnn_resize(reader->ops, count, sizeof *reader->ops);
        reader->room = count;
    }
    for (size_t i = 0; i < count; i++) {
        enum pdnn_status status = parse(reader, first + i, &reader->ops[i], err);
        if (status != PDNN_OK)
            return status;
    }
    *ops = reader->ops;
    *n_ops = count;
    return PDNN_OK;
}

bool pdnn_op_is_same(const struct pdnn_op_record *a, const struct pdnn_op_record *b) {
    return strcmp(a->layer, b->layer) == 0 && strcmp(a->op, b->op) == 0 && strcmp(a->pass, b->pass) == 0 &&
           strcmp(a->shape, b->shape) == 0;
}
