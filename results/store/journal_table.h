/* journal.csv and journal-ops.csv as tables: their columns, and visits as rows of them. */
#ifndef RESULTS_STORE_JOURNAL_TABLE_H
#define RESULTS_STORE_JOURNAL_TABLE_H

#include "results/table/table.h"
#include "runtime/protocol/visit.h"

/* A row per visit. */
enum pdnn_journal_column {
    PDNN_JOURNAL_SCHEMA,
    PDNN_JOURNAL_ID,
    PDNN_JOURNAL_VISIT,
    PDNN_JOURNAL_STATUS,
    PDNN_JOURNAL_REASON,
    PDNN_JOURNAL_STARTED_UTC,
    PDNN_JOURNAL_PREPARE_NS,
    PDNN_JOURNAL_PLAN_BYTES,
    PDNN_JOURNAL_SAMPLES,
    PDNN_JOURNAL_STEPS_PER_SAMPLE,
    PDNN_JOURNAL_WARMUPS,
    PDNN_JOURNAL_TIME_NS_MEDIAN,
    PDNN_JOURNAL_TIME_NS_MIN,
    PDNN_JOURNAL_TIME_NS_MEAN,
    PDNN_JOURNAL_TIME_NS_P10,
    PDNN_JOURNAL_TIME_NS_P90,
    PDNN_JOURNAL_TIME_NS_MAD,
    PDNN_JOURNAL_STAMPED_NS,
    PDNN_JOURNAL_PROBE_GFLOPS,
    PDNN_JOURNAL_PROBE_GBS,
    PDNN_JOURNAL_STOP_REASON,
    PDNN_JOURNAL_ROW_FLAGS,
    PDNN_JOURNAL_OPS,
    PDNN_JOURNAL_COLUMNS
};
extern const struct pdnn_table_def pdnn_journal_def;

/* A row per visit and op. */
enum pdnn_journal_ops_column {
    PDNN_JOURNAL_OPS_ID,
    PDNN_JOURNAL_OPS_VISIT,
    PDNN_JOURNAL_OPS_OP,
    PDNN_JOURNAL_OPS_OP_PASS,
    PDNN_JOURNAL_OPS_OP_SHAPE,
    PDNN_JOURNAL_OPS_LAYER,
    PDNN_JOURNAL_OPS_IMPLEMENTATION,
    PDNN_JOURNAL_OPS_EXECUTIONS,
    PDNN_JOURNAL_OPS_REORDER_BYTES,
    PDNN_JOURNAL_OPS_TIME_NS,
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
