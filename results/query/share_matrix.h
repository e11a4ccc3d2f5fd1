/* The shares of several instances side by side, for `paradnn breakdown --across` and for the picture. */
#ifndef RESULTS_QUERY_SHARE_MATRIX_H
#define RESULTS_QUERY_SHARE_MATRIX_H

#include "results/query/ops_reader.h"
#include "results/query/selection.h"
#include "results/query/shares.h"

/* The readers of ops.csv, one for each directory of the selection, on the heap. Close them with
 * pdnn_selection_ops_close. */
enum pdnn_status pdnn_selection_ops_open(const struct pdnn_selection *selection,
                                         struct pdnn_ops_reader **readers, struct pdnn_err *err);
void pdnn_selection_ops_close(const struct pdnn_selection *selection, struct pdnn_ops_reader *readers);

/* The rows of one chosen instance, borrowed until the next call of its directory's reader. */
struct pdnn_op_rows pdnn_selection_rows(const struct pdnn_selection *selection, size_t at,
                                        struct pdnn_ops_reader *readers);

/* Where shares come from, what they are summed by, and the arena that gets them. */
struct pdnn_share_source {
    const struct pdnn_selection *selection;
    struct pdnn_ops_reader *reader; /* one for each directory of the selection */
    const struct pdnn_by_list *by;
    struct pdnn_arena *arena;
};

/* The number of shares of one chosen instance, and these. The ops that lose most are borrowed from the reader
 * until its next call, and keys as long as it is open. */
size_t pdnn_selection_shares(const struct pdnn_share_source *source, size_t at, struct pdnn_share **shares);

struct pdnn_share_matrix {
    /* n_rows rows: their keys and colors; their work belongs to no single instance. */
    const struct pdnn_share *row;
    /* n_rows times n_columns, row by row; NULL: the instance has no such share. */
    const struct pdnn_share *const *cell;
    size_t n_rows, n_columns;
};

/* One column per instance of the series; rows in the order of pdnn_shares, by their sum over all columns,
 * without the ops that lose most. In the arena. */
struct pdnn_share_matrix pdnn_share_matrix(const struct pdnn_share_source *source,
                                           const struct pdnn_series *series);

/* The share in this row and column, or NULL. */
const struct pdnn_share *pdnn_share_matrix_at(const struct pdnn_share_matrix *matrix, size_t row,
                                              size_t column);

#endif
