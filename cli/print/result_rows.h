/* Rows of results.csv as people see them: the time with half of its interval, rates, place, flags and status;
 * on a terminal each model by what varies among them. */
#ifndef CLI_PRINT_RESULT_ROWS_H
#define CLI_PRINT_RESULT_ROWS_H

#include "results/query/selection.h"

enum { PDNN_RESULT_ROWS_COLUMNS = 16 };

/* The columns of the selection's table that people see, as far as these rows have them. Returns how many. */
size_t pdnn_result_rows_columns(struct pdnn_selection *selection, const struct pdnn_row_list *rows,
                                size_t columns[PDNN_RESULT_ROWS_COLUMNS]);

/* Appends these rows; on a terminal, their ids in the selection's table become labels. */
void pdnn_result_rows_append(struct pdnn_str *out, struct pdnn_selection *selection,
                             const struct pdnn_row_list *rows);

#endif
