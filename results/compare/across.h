/* Two platforms side by side, and which keys are to differ between them: parsed as the user names them, or
 * found where only one can be meant. */
#ifndef RESULTS_COMPARE_ACROSS_H
#define RESULTS_COMPARE_ACROSS_H

#include "results/query/selection.h"

enum { PDNN_SIDE_A, PDNN_SIDE_B, PDNN_SIDES };

/* One key that differs. */
struct pdnn_across_key {
    const char *name;
    const char *value[PDNN_SIDES]; /* NULL: any, between two directories */
};

struct pdnn_comparison {
    struct pdnn_selection table[PDNN_SIDES]; /* the second one only if there are two directories */
    const char *directory[PDNN_SIDES];       /* equal if there is only one */
    size_t n_directories;
    struct pdnn_across_key *across;
    size_t n_across;                       /* 0: only the directories differ */
    const char *label[PDNN_SIDES];         /* "backend=onednn", or the directory where no key differs */
    struct pdnn_texts keys;                /* hyper-parameters and run settings of either side */
    struct pdnn_texts *values[PDNN_SIDES]; /* by table and key, as far as they were asked for */
    struct pdnn_table pairs, unpaired;
    size_t (*at)[PDNN_SIDES]; /* of each pair: its place among the chosen rows of either selection */
    struct pdnn_arena arena;
};

/* The table that has the rows of this side. */
static inline const struct pdnn_selection *pdnn_comparison_side(const struct pdnn_comparison *comparison,
                                                                int side) {
    return &comparison->table[comparison->n_directories > 1 ? side : 0];
}

/* Fills across, n_across and label of a comparison whose tables are read; text is the request's, or NULL. */
enum pdnn_status pdnn_compare_across(struct pdnn_comparison *comparison, const char *text,
                                     struct pdnn_err *err);

/* Whether the key, a name of that length, is one that differs. */
bool pdnn_compare_is_across(const struct pdnn_comparison *comparison, const char *name, size_t length);

/* The id of a row of the table without the keys that differ; replaces the text of `id`. */
void pdnn_compare_strip(const struct pdnn_comparison *comparison, const struct pdnn_selection *table,
                        size_t row, struct pdnn_str *id);

/* Whether the row of the side's table has that side's values of the keys that differ. */
bool pdnn_compare_belongs(const struct pdnn_comparison *comparison, int side, size_t row);

#endif
