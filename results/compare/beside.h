/* Tables of several comparisons with one base as one: the base's cells once, and beside them those of each
 * other side. Sides are called as the columns of a sheet are: A, B, ..., Z, AA. */
#ifndef RESULTS_COMPARE_BESIDE_H
#define RESULTS_COMPARE_BESIDE_H

#include "results/table/table.h"

/* The name of a side, in `name`; 0 is A, the base. */
enum { PDNN_SIDE_TEXT = 16 };
const char *pdnn_side_name(size_t side, char name[PDNN_SIDE_TEXT]);

/* Adds the column that a table of A and B has, for this one of n other sides: as it is for the only one; of
 * several, "b_ns" becomes "c_ns", and "ratio" "c_ratio". Returns its number. */
size_t pdnn_side_column(struct pdnn_table *table, const struct pdnn_column_def *of_b, size_t side, size_t n);

/* Which of a table's first n_columns columns are the rows' keys, and which others are the base's; the rest is
 * of one comparison. Columns behind these are the base's, too. */
struct pdnn_beside {
    size_t n_columns;
    const size_t *keys, *common;
    size_t n_keys, n_common;
};

/* Makes one table of n: a row for each combination of keys, in the order in which they come first, with the
 * base's cells of the first table that has it. What is of one comparison is there for each. */
void pdnn_tables_beside(const struct pdnn_table *const *tables, size_t n, const struct pdnn_beside *beside,
                        struct pdnn_table *made);

/* Where that table has a column of theirs for this side. */
size_t pdnn_beside_column(const struct pdnn_beside *beside, size_t n, size_t column, size_t side);

/* The columns of that table for these of theirs, in this order: those between two of the base's for each
 * side. `made` has room for n of each; returns how many these are. */
size_t pdnn_beside_columns(const struct pdnn_beside *beside, size_t n, const size_t *columns,
                           size_t n_columns, size_t *made);

#endif
