/* Where the time of one instance goes: the rows of ops.csv summed by category, group, pass, layer or op, or
 * by several of them; what each sum loses to its roof, and which op loses most. Reads only those rows, not
 * visits or graphs. */
#ifndef RESULTS_QUERY_SHARES_H
#define RESULTS_QUERY_SHARES_H

#include "base/arena.h"
#include "base/err.h"
#include "results/table/table.h"
#include "results/store/results.h"
#include "results/query/op_sums.h"

/* What rows are summed by. */
enum pdnn_by {
    PDNN_BY_CATEGORY,
    PDNN_BY_GROUP, /* results/query/op_groups.h; the category if the family is unknown */
    PDNN_BY_PASS,
    PDNN_BY_LAYER,
    PDNN_BY_OP,
    PDNN_BY_COUNT
};

/* "category", "group", "pass", "layer", "op". */
const char *pdnn_by_name(enum pdnn_by by);

/* What an op's row is summed by; the family may be NULL. */
const char *pdnn_by_key(enum pdnn_by by, const struct pdnn_family_def *family,
                        const struct pdnn_op_record *op);

struct pdnn_by_list {
    enum pdnn_by by[PDNN_BY_COUNT];
    size_t count;
};

/* "group" or "group,pass". PDNN_INVALID names the nearest word. */
enum pdnn_status pdnn_by_parse(const char *text, struct pdnn_by_list *list, struct pdnn_err *err);

/* The sum of all ops with the same keys, or the residual, which is in no op's time. Lost time is the time
 * that an op takes beyond what its roof allows: 0 above the roof, unknown without a roof. */
struct pdnn_share {
    const char *id;                 /* borrowed from the rows, as are the keys */
    const char *key[PDNN_BY_COUNT]; /* "" if rows are not summed by that key */
    bool is_residual;               /* time in no op; the first key says so */
    unsigned rgb;                   /* the color of its group; 0: not a group */
    struct pdnn_op_sum work;        /* counts are absent for the residual */
    double lost_ns, lost_pct;
    const struct pdnn_op_record *most; /* the op that loses most; NULL: no op loses time */
    double most_lost_ns, most_lost_pct;
};

/* The columns of the keys, in the order of enum pdnn_by. */
#define PDNN_BY_COLUMNS                                                                                      \
    {.name = "category",                                                                                     \
     .align = PDNN_ALIGN_WRAP,                                                                               \
     .help = "kind of work, as in `paradnn ops`; reorder; residual: time that belongs to no op. "            \
             "This column and the next four are empty if rows are not summed by them"},                      \
        {.name = "op_group",                                                                                 \
         .title = "group",                                                                                   \
         .align = PDNN_ALIGN_WRAP,                                                                           \
         .help = "part of the model: a product, what lies between two, a stage of the update"},              \
        {.name = "op_pass", .title = "pass", .align = PDNN_ALIGN_WRAP, .help = "as in ops.csv"},             \
        {.name = "layer", .align = PDNN_ALIGN_WRAP, .help = "as in ops.csv"}, {                              \
        .name = "op", .align = PDNN_ALIGN_WRAP, .help = "as in ops.csv"                                      \
    }

/* The columns of `breakdown`: the keys in the order of enum pdnn_by, one after the other. */
enum pdnn_share_column {
    PDNN_SHARE_ID,
    PDNN_SHARE_KEY,
    PDNN_SHARE_LAST_KEY = PDNN_SHARE_KEY + PDNN_BY_COUNT - 1,
#define SHARE_COLUMN(word, ...) PDNN_SHARE_##word,
#include "results/query/columns/breakdown.inc"
#undef SHARE_COLUMN
    PDNN_SHARE_COLUMNS
};
extern const struct pdnn_table_def pdnn_shares_def;

/* Adds a row to a table of these columns. */
void pdnn_shares_add(const struct pdnn_share *share, struct pdnn_table *table);

/* The number of shares of a step, and these, in the arena: groups and passes in their fixed order, anything
 * else by descending time, the residual last. by may be NULL: by category. When summed by group, "other"
 * appears even if it is empty. */
size_t pdnn_shares(const struct pdnn_op_rows *rows, const struct pdnn_by_list *by, struct pdnn_arena *arena,
                   struct pdnn_share **shares);

/* The share whose op loses most, or NULL. */
const struct pdnn_share *pdnn_shares_most(const struct pdnn_share *shares, size_t n_shares);

/* Which of them has the same keys; n: none. */
size_t pdnn_share_find(const struct pdnn_share *shares, size_t n, const struct pdnn_share *like);

/* The order of pdnn_shares, for qsort. */
int pdnn_share_compare(const void *a, const void *b);

#endif
