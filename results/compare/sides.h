/* What the directories of comparisons differ by besides their times: facts of their environment.yaml, the
 * clock that their visits saw, and the roofs that were measured there. A ratio is what the roofs alone would
 * give, A's time over its projection onto B's roofs (results/whatif), times what is beyond them. */
#ifndef RESULTS_COMPARE_SIDES_H
#define RESULTS_COMPARE_SIDES_H

#include "results/compare/compare.h"
#include "results/query/shares.h"

/* A row for each fact in which a side differs from A, then one for each roof of the most threads that a pair
 * has. Of several comparisons there is a column for each side behind A, and then a ratio for each. */
enum {
    PDNN_SIDES_KIND,
    PDNN_SIDES_NAME,
    PDNN_SIDES_A,
    PDNN_SIDES_B,
    PDNN_SIDES_RATIO, /* B's number over A's; empty where there are none */
    PDNN_SIDES_COLUMNS
};
extern const struct pdnn_table_def pdnn_sides_def;

/* What is said of one comparison. */
struct pdnn_side {
    bool by_intent;       /* keys, processors or instruction sets differ */
    bool roofs_differ;    /* by more than measuring one again would */
    size_t n_projected;   /* pairs that have PDNN_PAIR_BEYOND */
    double ratio, beyond; /* their geometric means */
};

struct pdnn_sides {
    struct pdnn_table differing; /* no rows: one directory, or nothing is known */
    struct pdnn_side *of;        /* by comparison */
};

/* Makes the table, and fills the column PDNN_PAIR_BEYOND of the comparisons' pairs. readers: by directory. To
 * be finished by the caller in any case. */
enum pdnn_status pdnn_sides_make(struct pdnn_sides *sides, struct pdnn_comparison *comparisons, size_t n,
                                 struct pdnn_ops_reader *readers, struct pdnn_err *err);
void pdnn_sides_finish(struct pdnn_sides *sides);

/* Appends how much of the ratios the roofs explain; nothing where roofs do not differ or no pair has them. */
void pdnn_sides_say(const struct pdnn_side *side, const char *const name[PDNN_SIDES], struct pdnn_str *out);

#endif
