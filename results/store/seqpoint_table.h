/* seqpoint.csv: a row per kind of iteration of an epoch (iterations of equal padded lengths): how many there
 * are, which methods of results/epochs chose it to stand for others, and how long it took. */
#ifndef RESULTS_STORE_SEQPOINT_TABLE_H
#define RESULTS_STORE_SEQPOINT_TABLE_H

#include "results/table/table.h"

enum {
#define SEQPOINT_COLUMN(word, ...) PDNN_SEQPOINT_##word,
#include "results/store/columns/seqpoint.inc"
#undef SEQPOINT_COLUMN
    PDNN_SEQPOINT_COLUMNS
};
extern const struct pdnn_table_def pdnn_seqpoint_def;

/* The words of chosen_by, joined by | there. */
extern const struct pdnn_word pdnn_seqpoint_methods[];
bool pdnn_seqpoint_is_chosen(const struct pdnn_table *table, size_t row, const char *method);

/* Rows ascend by source, then target. PDNN_INVALID with path:line for a cell that is not a value of its
 * column, a length or a number of iterations below 1, rows that are not ascending, a missing column, or no
 * rows; extra columns follow. To be finished by the caller. */
enum pdnn_status pdnn_seqpoint_table_read(const char *path, struct pdnn_table *table, struct pdnn_err *err);

#endif
