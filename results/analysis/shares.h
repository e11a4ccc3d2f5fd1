/* Where the time of one instance goes: the rows of ops.csv summed by category, by group, pass, layer or op,
 * or by several of them at once; what each sum loses to its roof, and which op loses most. Knows nothing of
 * visits or graphs, only of those rows. */
#ifndef RESULTS_ANALYSIS_SHARES_H
#define RESULTS_ANALYSIS_SHARES_H

#include "base/arena.h"
#include "base/err.h"
#include "results/tables/columns.h"
#include "results/tables/record.h"
#include "results/analysis/work.h"

/* What rows are summed by. */
enum pdnn_by {
    PDNN_BY_CATEGORY,
    PDNN_BY_GROUP, /* results/analysis/op_groups.h; the category where the family is gone */
    PDNN_BY_PASS,
    PDNN_BY_LAYER,
    PDNN_BY_OP,
    PDNN_BY_COUNT
};

/* "category", "group", "pass", "layer", "op". */
const char *pdnn_by_name(enum pdnn_by by);

struct pdnn_by_list {
    enum pdnn_by by[PDNN_BY_COUNT];
    size_t count;
};

/* "group" or "group,pass". PDNN_INVALID names the nearest word. */
enum pdnn_status pdnn_by_parse(const char *text, struct pdnn_by_list *list, struct pdnn_err *err);

/* All ops of one category (or whatever they are summed by), or what is in no op's time. Lost is the time that
 * an op takes beyond what its roof allows: nothing above it, and unknown without one. */
struct pdnn_share {
    const char *id;                 /* borrowed from the rows, as are the keys */
    const char *key[PDNN_BY_COUNT]; /* "" where rows are not summed by that */
    bool is_residual;               /* what is in no op's time; its first key says so */
    unsigned rgb;                   /* its group's color; 0: it is none */
    struct pdnn_op_sum work;        /* counts are absent for the residual */
    double lost_ns, lost_pct;
    const struct pdnn_op_record *most; /* the op that loses most; NULL: none loses */
    double most_lost_ns, most_lost_pct;
};

extern const struct pdnn_columns pdnn_shares_columns; /* rows: struct pdnn_share */

/* The shares of a step, in the arena: groups and passes in their order, anything else with the largest first,
 * and the residual last. by may be NULL: by category. Summed by group, "other" is there even when it is
 * nothing. */
enum pdnn_status pdnn_shares(const struct pdnn_op_rows *rows, const struct pdnn_by_list *by,
                             struct pdnn_arena *arena, struct pdnn_share **shares, size_t *n_shares,
                             struct pdnn_err *err);

/* The share whose op loses most of all, or NULL. */
const struct pdnn_share *pdnn_shares_most(const struct pdnn_share *shares, size_t n_shares);

/* Whether both are of the same category (or whatever they are summed by). */
bool pdnn_share_same(const struct pdnn_share *a, const struct pdnn_share *b);

/* For qsort: the order of pdnn_shares. */
int pdnn_share_compare(const void *a, const void *b);

#endif
