#include "results/store/journal_table.h"

#include "models/instance.h"
#include "results/store/log_file.h"
#include "results/store/results.h"
#include "results/table/number.h"
#include "results/table/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COUNT  .kind = PDNN_KIND_COUNT
#define NUMBER .kind = PDNN_KIND_NUMBER, .digits = PDNN_DIGITS_EXACT

#define AT(member)       .field = PDNN_FIELD(pdnn_visit, member)
#define AS(form, member) .field = PDNN_FIELD_AS(form, pdnn_visit, member)
#define OP_AT(member)    .field = PDNN_FIELD(pdnn_visit_op, member)

#define JOURNAL_COLUMN(word, ...) [PDNN_JOURNAL_##word] = {__VA_ARGS__},
static const struct pdnn_column_def columns[] = {
#include "results/store/columns/journal.inc"
};
#undef JOURNAL_COLUMN
const struct pdnn_table_def pdnn_journal_def = {
    "journal", "one row per visit to an instance, appended as it happens; the source of the tables", columns,
    PDNN_JOURNAL_COLUMNS};

#define JOURNAL_OPS_COLUMN(word, ...) [PDNN_JOURNAL_OPS_##word] = {__VA_ARGS__},
static const struct pdnn_column_def op_columns[] = {
#include "results/store/columns/journal-ops.inc"
};
#undef JOURNAL_OPS_COLUMN
const struct pdnn_table_def pdnn_journal_ops_def = {
    "journal-ops", "one row per visit and operator, written before the visit's row commits them", op_columns,
    PDNN_JOURNAL_OPS_COLUMNS};

/* What is 0 was not measured: the visit did not get that far. With samples, a 0 of theirs is a 0. */
static bool is_measured(const struct pdnn_table *journal, size_t row, size_t column,
                        const struct pdnn_visit *visit) {
    bool is_of_samples = column >= PDNN_JOURNAL_SAMPLES && column <= PDNN_JOURNAL_TIME_NS_MAD;
    return is_of_samples ? visit->samples > 0 : pdnn_table_number(journal, row, column) != 0;
}

void pdnn_journal_add(struct pdnn_table *journal, const char *id, uint64_t number,
                      const struct pdnn_visit *visit) {
    const size_t row = pdnn_table_add_row(journal);
    pdnn_record_put(journal, row, visit);
    for (size_t column = PDNN_JOURNAL_PREPARE_NS; column <= PDNN_JOURNAL_LOADER_BYTES; column++)
        if (!is_measured(journal, row, column, visit))
            pdnn_table_set_empty(journal, row, column);
    pdnn_table_set_count(journal, row, PDNN_JOURNAL_SCHEMA, PDNN_SCHEMA);
    pdnn_table_set_text(journal, row, PDNN_JOURNAL_ID, id);
    pdnn_table_set_count(journal, row, PDNN_JOURNAL_VISIT, number);
    if (!visit->samples)
        pdnn_table_set_empty(journal, row, PDNN_JOURNAL_STOP_REASON);
    pdnn_table_set_count(journal, row, PDNN_JOURNAL_OPS, visit->n_ops);
    pdnn_log_row_flatten(journal, row);
}

/* The key is split at its first two slashes. */
void pdnn_journal_add_op(struct pdnn_table *ops, const char *id, uint64_t number,
                         const struct pdnn_visit_op *op) {
    char key[PDNN_OP_KEY_TEXT];
    const size_t row = pdnn_table_add_row(ops);
    pdnn_record_put(ops, row, op);
    pdnn_table_set_text(ops, row, PDNN_JOURNAL_OPS_ID, id);
    pdnn_table_set_count(ops, row, PDNN_JOURNAL_OPS_VISIT, number);
    snprintf(key, sizeof key, "%s", op->key);
    char *part = key;
    for (size_t column = PDNN_JOURNAL_OPS_OP; column <= PDNN_JOURNAL_OPS_OP_SHAPE; column++) {
        size_t length = column == PDNN_JOURNAL_OPS_OP_SHAPE ? strlen(part) : strcspn(part, "/");
        bool has_more = part[length];
        part[length] = 0;
        pdnn_table_set_text(ops, row, column, part);
        part += length + has_more;
    }
    pdnn_log_row_flatten(ops, row);
}

struct pdnn_visit pdnn_journal_visit(const struct pdnn_table *journal, size_t row) {
    struct pdnn_visit visit = {.n_ops = (size_t)pdnn_table_count(journal, row, PDNN_JOURNAL_OPS)};
    pdnn_record_take(journal, row, &visit);
    return visit;
}

/* The key of the row's op, or false if it is too long for one. */
static bool join_key(const struct pdnn_table *ops, size_t row, char key[PDNN_OP_KEY_TEXT]) {
    int length = snprintf(key, PDNN_OP_KEY_TEXT, "%s/%s/%s", pdnn_table_text(ops, row, PDNN_JOURNAL_OPS_OP),
                          pdnn_table_text(ops, row, PDNN_JOURNAL_OPS_OP_PASS),
                          pdnn_table_text(ops, row, PDNN_JOURNAL_OPS_OP_SHAPE));
    return length >= 0 && length < PDNN_OP_KEY_TEXT;
}

struct pdnn_visit_op pdnn_journal_op(const struct pdnn_table *ops, size_t row) {
    struct pdnn_visit_op op = {.count = 0};
    pdnn_record_take(ops, row, &op);
    join_key(ops, row, op.key);
    return op;
}

enum pdnn_status pdnn_journal_check_visit(const struct pdnn_table *journal, size_t row,
                                          struct pdnn_err *err) {
    const uint64_t schema = pdnn_table_count(journal, row, PDNN_JOURNAL_SCHEMA);
    if (schema != PDNN_SCHEMA)
        return pdnn_fail(err, PDNN_INVALID, "schema %" PRIu64 ", this program reads %d", schema, PDNN_SCHEMA);
    if (strlen(pdnn_table_text(journal, row, PDNN_JOURNAL_ID)) >= PDNN_ID_TEXT)
        return pdnn_table_refuse(journal, row, PDNN_JOURNAL_ID, err);
    return pdnn_record_check(journal, row, err);
}

enum pdnn_status pdnn_journal_check_op(const struct pdnn_table *ops, size_t row, struct pdnn_err *err) {
    char key[PDNN_OP_KEY_TEXT];
    if (!join_key(ops, row, key))
        return pdnn_table_refuse(ops, row, PDNN_JOURNAL_OPS_OP_SHAPE, err);
    return pdnn_record_check(ops, row, err);
}
