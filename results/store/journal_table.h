/* journal.csv and journal-ops.csv as tables: their columns, and visits as rows of them. */
#ifndef RESULTS_STORE_JOURNAL_TABLE_H
#define RESULTS_STORE_JOURNAL_TABLE_H

#include "results/table/table.h"
#include "runtime/protocol/visit.h"

/* A row per visit. */
enum pdnn_journal_column {
#define JOURNAL_COLUMN(word, ...) PDNN_JOURNAL_##word,
#include "results/store/columns/journal.inc"
#undef JOURNAL_COLUMN
    PDNN_JOURNAL_COLUMNS
};
extern const struct pdnn_table_def pdnn_journal_def;

/* A row per visit and op. */
enum pdnn_journal_ops_column {
#define JOURNAL_OPS_COLUMN(word, ...) PDNN_JOURNAL_OPS_##word,
#include "results/store/columns/journal-ops.inc"
#undef JOURNAL_OPS_COLUMN
    PDNN_JOURNAL_OPS_COLUMNS
};
extern const struct pdnn_table_def pdnn_journal_ops_def;

/* Add the visit (borrowed), which is the instance's of that number, and one of its ops. A row is one line,
 * whatever the texts hold. */
void pdnn_journal_add(struct pdnn_table *journal, const char *id, uint64_t number,
                      const struct pdnn_visit *visit);
void pdnn_journal_add_op(struct pdnn_table *ops, const char *id, uint64_t number,
                         const struct pdnn_visit_op *op);

/* The reverse; the visit has n_ops and no ops. */
struct pdnn_visit pdnn_journal_visit(const struct pdnn_table *journal, size_t row);
struct pdnn_visit_op pdnn_journal_op(const struct pdnn_table *ops, size_t row);

/* PDNN_INVALID for what is not a visit or an op of one; for struct pdnn_table_file. */
enum pdnn_status pdnn_journal_check_visit(const struct pdnn_table *journal, size_t row, struct pdnn_err *err);
enum pdnn_status pdnn_journal_check_op(const struct pdnn_table *ops, size_t row, struct pdnn_err *err);

#endif
