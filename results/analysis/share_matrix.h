/* The shares of several instances side by side: what `paradnn breakdown --across` and the picture show. */
#ifndef RESULTS_ANALYSIS_SHARE_MATRIX_H
#define RESULTS_ANALYSIS_SHARE_MATRIX_H

#include "results/tables/ops_reader.h"
#include "results/analysis/selection.h"
#include "results/analysis/shares.h"

/* The rows of one chosen instance, borrowed until the reader's next call. */
enum pdnn_status pdnn_selection_rows(const struct pdnn_selection *selection, size_t at,
                                     struct pdnn_ops_reader *reader, struct pdnn_op_rows *rows,
                                     struct pdnn_err *err);

/* Where shares come from, what they are summed by, and where they go. */
struct pdnn_share_source {
    const struct pdnn_selection *selection;
    struct pdnn_ops_reader *reader;
    const struct pdnn_by_list *by;
    struct pdnn_arena *arena;
};

/* The shares of one chosen instance. Their keys are borrowed from the reader until its next call. */
enum pdnn_status pdnn_selection_shares(const struct pdnn_share_source *source, size_t at,
                                       struct pdnn_share **shares, size_t *n_shares, struct pdnn_err *err);

struct pdnn_share_matrix {
    const struct pdnn_share *row; /* n_rows: what each row is of; its work is that of no instance */
    const struct pdnn_share *const
        *cell; /* n_rows times n_columns, row after row; NULL: the instance has none */
    size_t n_rows, n_columns;
};

/* One column per instance of the series, rows in the order of pdnn_shares by their sum over all columns. All
 * of it is in the arena, but names of passes and categories, which the reader has. */
enum pdnn_status pdnn_share_matrix(const struct pdnn_share_source *source, const struct pdnn_series *series,
                                   struct pdnn_share_matrix *matrix, struct pdnn_err *err);

/* Of row and column, or NULL. */
const struct pdnn_share *pdnn_share_matrix_at(const struct pdnn_share_matrix *matrix, size_t row,
                                              size_t column);

#endif
