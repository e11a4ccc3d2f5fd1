/* Rows as structs and back, by the fields of a table's columns (struct pdnn_field). */
#ifndef RESULTS_TABLE_RECORD_H
#define RESULTS_TABLE_RECORD_H

#include "base/err.h"
#include "results/table/table.h"

/* Fills the cells that have a field. A pointer may be NULL. COUNT: of a uint64_t or a uint32_t. */
void pdnn_record_put(struct pdnn_table *table, size_t row, const void *record);

/* The reverse; a field stays as it is where its cell is empty or not a value of it, but a pointer gets "",
 * and with has_absent a double NaN and a uint64_t UINT64_MAX. Text is cut to its array. */
void pdnn_record_take(const struct pdnn_table *table, size_t row, bool has_absent, void *record);

/* PDNN_INVALID for a cell that its field cannot have: a text too long, no time, an unknown word, or a count
 * that is too large, or missing, for 32 bits. */
enum pdnn_status pdnn_record_check(const struct pdnn_table *table, size_t row, struct pdnn_err *err);

/* PDNN_INVALID: what the cell holds is not a value for its column. */
enum pdnn_status pdnn_table_refuse(const struct pdnn_table *table, size_t row, size_t column,
                                   struct pdnn_err *err);

#endif
