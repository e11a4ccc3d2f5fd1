#include "results/query/share_matrix.h"

#include "base/memory.h"

#include <stdlib.h>

enum pdnn_status pdnn_selection_ops_open(const struct pdnn_selection *selection,
                                         struct pdnn_ops_reader **readers, struct pdnn_err *err) {
    struct pdnn_ops_reader *opened = pdnn_alloc(selection->results.n_directories, sizeof *opened);
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; status == PDNN_OK && i < selection->results.n_directories; i++)
        status = pdnn_ops_reader_open(&opened[i], selection->results.directory[i], err);
    if (status == PDNN_OK)
        *readers = opened;
    else
        pdnn_selection_ops_close(selection, opened);
    return status;
}

void pdnn_selection_ops_close(const struct pdnn_selection *selection, struct pdnn_ops_reader *readers) {
    for (size_t i = 0; readers && i < selection->results.n_directories; i++)
        pdnn_ops_reader_close(&readers[i]);
    free(readers);
}

struct pdnn_op_rows pdnn_selection_rows(const struct pdnn_selection *selection, size_t at,
                                        struct pdnn_ops_reader *readers) {
    struct pdnn_op_rows rows = {.step_ns = pdnn_selection_step_ns(selection, at),
                                .family = pdnn_selection_get(selection, at, selection->family)};
    rows.count = pdnn_ops_reader_find(&readers[pdnn_selection_source(selection, at)],
                                      pdnn_selection_get(selection, at, selection->id), &rows.op);
    return rows;
}

size_t pdnn_selection_shares(const struct pdnn_share_source *source, size_t at, struct pdnn_share **shares) {
    const struct pdnn_op_rows rows = pdnn_selection_rows(source->selection, at, source->reader);
    return pdnn_shares(&rows, source->by, source->arena, shares);
}

struct list {
    struct pdnn_share *share;
    size_t count;
};

/* Collects every share that some column has. The time of a row is the sum over
 * all columns of its percentage. */
static size_t collect_rows(const struct list *lists, size_t n_lists, struct pdnn_share *rows) {
    size_t count = 0;
    for (size_t c = 0; c < n_lists; c++) {
        for (size_t i = 0; i < lists[c].count; i++) {
            const struct pdnn_share *share = &lists[c].share[i];
            const size_t at = pdnn_share_find(rows, count, share);
            if (at == count) {
                rows[count] = *share;
                rows[count++].work = (struct pdnn_op_sum){.time_ns = 0};
            }
            rows[at].work.time_ns += share->work.share_pct;
        }
    }
    qsort(rows, count, sizeof *rows, pdnn_share_compare);
    return count;
}

struct pdnn_share_matrix pdnn_share_matrix(const struct pdnn_share_source *source,
                                           const struct pdnn_series *series) {
    struct pdnn_arena *arena = source->arena;
    size_t n_columns = series->count, n_shares = 0;
    struct list *lists = pdnn_arena_alloc(arena, n_columns + 1, sizeof *lists);
    for (size_t c = 0; c < n_columns; c++) {
        lists[c].count = pdnn_selection_shares(source, series->at[c], &lists[c].share);
        for (size_t i = 0; i < lists[c].count; i++)
            lists[c].share[i].most = NULL;
        n_shares += lists[c].count;
    }
    struct pdnn_share *rows = pdnn_arena_alloc(arena, n_shares + 1, sizeof *rows);
    size_t n_rows = collect_rows(lists, n_columns, rows);
    const struct pdnn_share **cells = pdnn_arena_alloc(arena, n_rows * n_columns + 1, sizeof *cells);
    for (size_t r = 0; r < n_rows; r++) {
        for (size_t c = 0; c < n_columns; c++) {
            const size_t at = pdnn_share_find(lists[c].share, lists[c].count, &rows[r]);
            cells[r * n_columns + c] = at < lists[c].count ? &lists[c].share[at] : NULL;
        }
    }
    return (struct pdnn_share_matrix){rows, cells, n_rows, n_columns};
}

const struct pdnn_share *pdnn_share_matrix_at(const struct pdnn_share_matrix *matrix, size_t row,
                                              size_t column) {
    return matrix->cell[row * matrix->n_columns + column];
}
