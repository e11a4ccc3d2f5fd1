/* Tables from CSV: the same bytes that results/table/write.h writes, typed by the table's definition. */
#ifndef RESULTS_TABLE_READ_H
#define RESULTS_TABLE_READ_H

#include "results/table/csv.h"
#include "results/table/table.h"

/* What is being read. */
struct pdnn_table_file {
    const char *path; /* also in messages */
    size_t limit_bytes;
    bool is_as_in_file; /* the table has the columns of the file alone, in its order */
    /* What else must hold of a row than its cells' kinds, or NULL: PDNN_INVALID with what is wrong, and
     * "path:line: " is put in front of it. */
    enum pdnn_status (*check)(const struct pdnn_table *table, size_t row, struct pdnn_err *err);
};

/* Reads the file as a table of this definition, its columns first and in its order. Columns that it does not
 * know follow as TEXT. PDNN_INVALID with "path:line: " for what is not CSV, a column that is missing and not
 * optional, or a cell that is not of its column's kind, with the column's name. *table is written on success
 * only. */
enum pdnn_status pdnn_table_read(struct pdnn_table_file *file, const struct pdnn_table_def *def,
                                 struct pdnn_table *table, struct pdnn_err *err);

/* The same from text of the given length plus a NUL, which is the caller's, and changed. */
enum pdnn_status pdnn_table_read_text(struct pdnn_table_file *file, char *text, size_t length,
                                      const struct pdnn_table_def *def, struct pdnn_table *table,
                                      struct pdnn_err *err);

#endif
