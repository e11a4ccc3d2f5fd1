/* What the two directories of a comparison differ by besides their times: facts of their environment.yaml,
 * the clock that their visits saw, and the roofs that were measured there. A ratio is what the roofs alone
 * would give, A's time over its projection onto B's roofs (results/whatif), times what is beyond them. */
#ifndef RESULTS_COMPARE_SIDES_H
#define RESULTS_COMPARE_SIDES_H

#include "results/compare/compare.h"
#include "results/query/shares.h"

/* A row for each fact that differs, then one for each roof of the most threads that a pair has. */
enum {
    PDNN_SIDES_KIND,
    PDNN_SIDES_NAME,
    PDNN_SIDES_A,
    PDNN_SIDES_B,
    PDNN_SIDES_RATIO, /* B's number over A's; empty where there are none */
    PDNN_SIDES_COLUMNS
};
extern const struct pdnn_table_def pdnn_sides_def;

struct pdnn_sides {
    struct pdnn_table differing; /* no rows: one directory, or nothing is known */
    bool by_intent;              /* keys, processors or instruction sets differ */
    bool roofs_differ;           /* by more than measuring one again would */
    size_t n_projected;          /* pairs that have PDNN_PAIR_BEYOND */
    double ratio, beyond;        /* their geometric means */
};

/* Makes the table, and fills the column PDNN_PAIR_BEYOND of pairs. readers: by directory of the selection.
 * To be finished by the caller in any case. */
enum pdnn_status pdnn_sides_make(struct pdnn_sides *sides, struct pdnn_comparison *comparison,
                                 struct pdnn_ops_reader *readers, struct pdnn_err *err);
void pdnn_sides_finish(struct pdnn_sides *sides);

/* Appends how much of the ratios the roofs explain; nothing where roofs do not differ or no pair has them. */
void pdnn_sides_say(const struct pdnn_sides *sides, const char *const name[PDNN_SIDES], struct pdnn_str *out);

#endif
