/* Comparisons with one base: of the first directory with each other one, or of all sides in a single one.
 * What they amount to, each by itself and beside each other: of every table one that has columns for each
 * side. */
#ifndef RESULTS_COMPARE_COMPARED_H
#define RESULTS_COMPARE_COMPARED_H

#include "results/compare/compare_ops.h"
#include "results/compare/compare_sums.h"

/* The base with each other directory, or the sides of one. */
struct pdnn_comparisons {
    struct pdnn_selection selection; /* of all directories */
    struct pdnn_comparison *of;
    size_t n;
};

struct pdnn_compare_request {
    const char *const *directories; /* the base, then the others; of a single one, all sides are in it */
    size_t n_directories;
    const char *across; /* as of pdnn_comparison_make; in one directory with any number of values, the base's
                         * and one of each other side: "threads=1:2:4" */
    const char *const *only; /* as in pdnn_selection_open_all, on both sides */
    size_t n_only;
};

/* Reads the tables and makes all comparisons; the first that cannot be made fails. To be closed after a
 * success. */
enum pdnn_status pdnn_comparisons_open(struct pdnn_comparisons *comparisons,
                                       const struct pdnn_compare_request *request, struct pdnn_err *err);
void pdnn_comparisons_close(struct pdnn_comparisons *comparisons);

/* What is the base's in each kind of table. */
extern const struct pdnn_beside pdnn_pairs_beside;
extern const struct pdnn_beside pdnn_unpaired_beside;
extern const struct pdnn_beside pdnn_groups_beside;
extern const struct pdnn_beside pdnn_axes_beside;
extern const struct pdnn_beside pdnn_compare_ops_beside;

/* Of one comparison. */
struct pdnn_compared_side {
    const struct pdnn_comparison *of;
    char name[PDNN_SIDE_TEXT]; /* "B" */
    struct pdnn_table groups, axes, ops;
    size_t n_op_pairs;      /* pairs that have rows in ops.csv */
    struct pdnn_str others; /* of these, those with other implementations, in words */
};

struct pdnn_compared {
    struct pdnn_compared_side *side;
    size_t n;
    struct pdnn_table pairs, groups, axes, ops, unpaired; /* of all sides (beside.h) */
};

/* readers: by directory. The pairs have the columns that were filled before. */
void pdnn_compared_make(struct pdnn_compared *compared, const struct pdnn_comparison *of, size_t n,
                        struct pdnn_ops_reader *readers, const struct pdnn_by_list *by);
void pdnn_compared_finish(struct pdnn_compared *compared);

#endif
