/* journal-ops.csv: one row per visit and op. These columns are written and read back. */
#include "results/store/columns.h"
#include "results/table/csv.h"
#include "results/store/journal.h"

#define AT(field)     .offset = offsetof(struct pdnn_journal_op_row, field)
#define TEXT(field)   PDNN_COLUMN_TEXT, AT(field), sizeof((struct pdnn_journal_op_row *)0)->field
#define NUMBER(field) PDNN_COLUMN_NUMBER, AT(field), .digits = PDNN_DIGITS_EXACT
#define COUNT(field)  PDNN_COLUMN_COUNT, AT(field)

static const struct pdnn_column columns[] = {
    {"id", "", TEXT(id), .help = "the instance, as in journal.csv"},
    {"visit", "", COUNT(visit), .help = "number of the instance's visit, as in journal.csv"},
    {"op", "", TEXT(op), .help = "operator, or reorder"},
    {"op_pass", "", TEXT(pass), .help = "forward, backward-data, backward-weights, update"},
    {"op_shape", "", TEXT(shape), .help = "as in ops.csv"},
    {"layer", "", TEXT(layer), .help = "stem of its layers' names, in models that keep stems apart"},
    {"implementation", "", TEXT(implementation), .help = "what ran"},
    {"executions", "", COUNT(count), .help = "executions in one step"},
    {"reorder_bytes", "bytes", COUNT(bytes), .help = "for reorders: bytes moved by all of them"},
    {"time_ns", "ns", NUMBER(time_ns), .help = "time of all of them, median of the stamped steps"},
};

const struct pdnn_columns pdnn_journal_ops_columns = {"journal-ops.csv", columns,
                                                      sizeof columns / sizeof columns[0]};
