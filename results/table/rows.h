/* Selections of a table's rows: lists of their numbers, filtered, ordered and grouped. */
#ifndef RESULTS_TABLE_ROWS_H
#define RESULTS_TABLE_ROWS_H

#include "results/table/table.h"

/* Rows in an order. {0} is empty. */
struct pdnn_row_list {
    size_t *at; /* heap */
    size_t count, room;
};

void pdnn_rows_finish(struct pdnn_row_list *rows);

/* All rows of the table, in its order; to be finished by the caller. */
struct pdnn_row_list pdnn_rows_all(const struct pdnn_table *table);

void pdnn_rows_add(struct pdnn_row_list *rows, size_t row);

struct pdnn_sort_key {
    size_t column;
    bool is_descending;
};

/* Sorts by the first key, rows alike in it by the second, and so on; those alike in all stay in their order.
 * Empty cells come last either way. */
void pdnn_rows_sort(struct pdnn_row_list *rows, const struct pdnn_table *table,
                    const struct pdnn_sort_key *keys, size_t n_keys);

/* Rows that are alike in some columns; groups in the order of their first rows. Empty cells are alike. */
struct pdnn_groups {
    struct pdnn_row_list *group; /* heap */
    size_t count, room;
};

/* rows: NULL for all. */
struct pdnn_groups pdnn_groups_make(const struct pdnn_table *table, const struct pdnn_row_list *rows,
                                    const size_t *keys, size_t n_keys);
void pdnn_groups_finish(struct pdnn_groups *groups);

/* From long to wide: the key columns, one row for each of their combinations, and a column for each text in
 * column `across`, in the order of its first rows, with the first cell of column `value`. What is empty in
 * `across`, is called as a key is, or is one too many gives no column. */
struct pdnn_pivot {
    const size_t *keys;
    size_t n_keys, across, value;
};
void pdnn_table_pivot(const struct pdnn_table *table, const struct pdnn_pivot *pivot,
                      struct pdnn_table *made);

/* Copies a cell to that of a column of the same kind. */
void pdnn_table_copy_cell(struct pdnn_table *to, size_t to_row, size_t to_column,
                          const struct pdnn_table *from, size_t row, size_t column);

/* Adds a row to `to` with the cells of the other table's columns of the same names and kinds. */
size_t pdnn_table_copy_row(struct pdnn_table *to, const struct pdnn_table *from, size_t row);

#endif
