/* The tables that `paradnn compare` prints as CSV. */
#ifndef RESULTS_ANALYSIS_COMPARE_COLUMNS_H
#define RESULTS_ANALYSIS_COMPARE_COLUMNS_H

#include "results/analysis/compare.h"

/* Rows: struct pdnn_pair, pdnn_compare_group, pdnn_compare_axis, pdnn_compare_op, pdnn_unpaired. */
extern const struct pdnn_columns pdnn_pairs_columns, pdnn_compare_groups_columns, pdnn_compare_axes_columns,
    pdnn_compare_ops_columns, pdnn_unpaired_columns;

/* The columns of pairs with those of this comparison's common keys behind them, in the arena. */
void pdnn_pairs_columns_with_keys(const struct pdnn_comparison *comparison, struct pdnn_arena *arena,
                                  struct pdnn_columns *columns);

#endif
