/* Where the time of instances goes: the rows of ops.csv summed by category, group, pass, layer, op or several
 * of them, and what each sum loses to its roof. Rates are total work over total time. */
#ifndef RESULTS_QUERY_SHARES_H
#define RESULTS_QUERY_SHARES_H

#include "base/texts.h"
#include "results/query/selection.h"

/* ops.csv, read one instance at a time. */
struct pdnn_ops_reader {
    struct pdnn_table table;    /* of pdnn_ops_def */
    struct pdnn_texts ids;      /* of the instances */
    size_t *first;              /* by number of the id, its first row */
    struct pdnn_op_record *ops; /* of the instance that was found last */
};

/* Columns may stand in any order. Ids are reprinted in today's form. */
enum pdnn_status pdnn_ops_reader_open(struct pdnn_ops_reader *reader, const char *directory,
                                      struct pdnn_err *err);
void pdnn_ops_reader_close(struct pdnn_ops_reader *reader);

/* The number of rows of the instance, which are contiguous in the file, and these, borrowed until the next
 * call; their texts live as long as the reader. */
size_t pdnn_ops_reader_find(struct pdnn_ops_reader *reader, const char *id,
                            const struct pdnn_op_record **ops);

/* The readers by directory of the selection, on the heap. */
enum pdnn_status pdnn_selection_ops_open(const struct pdnn_selection *selection,
                                         struct pdnn_ops_reader **readers, struct pdnn_err *err);
void pdnn_selection_ops_close(const struct pdnn_selection *selection, struct pdnn_ops_reader *readers);

struct pdnn_op_rows {
    const struct pdnn_op_record *op; /* rows without a time are left out of every sum */
    size_t count;
    double step_ns; /* time of a step */
    const char *family;
};

/* The rows of one chosen instance, borrowed until the next call of its directory's reader. */
struct pdnn_op_rows pdnn_selection_rows(const struct pdnn_selection *selection, size_t at,
                                        struct pdnn_ops_reader *readers);

/* {0} is an empty sum. If one row lacks a count, the sum lacks it too. */
struct pdnn_op_sum {
    uint64_t count; /* executions in one step */
    uint64_t flop_count, in_bounds_flop_count, byte_count;
    double time_ns, share_pct;                      /* share of the step */
    double gflops, bw_gbs, intensity_flop_per_byte; /* of FLOP in bounds; NaN where there are none */
    double roof_ns, roofed_ns; /* over ops that have a roof: what it allows, what they take */
    double pct_of_roof;        /* roof_ns over roofed_ns */
};

/* Adds a row that has a time; computes shares, rates and ratios of those added so far. */
void pdnn_op_sum_add(struct pdnn_op_sum *work, const struct pdnn_op_record *op);
void pdnn_op_sum_finish(struct pdnn_op_sum *work, double step_ns);

enum pdnn_by {
    PDNN_BY_CATEGORY,
    PDNN_BY_GROUP, /* results/query/op_groups.h; the category if the family is unknown */
    PDNN_BY_PASS,
    PDNN_BY_LAYER,
    PDNN_BY_OP,
    PDNN_BY_COUNT
};

/* "category", "group", "pass", "layer", "op", NULL. */
extern const char *const pdnn_by_names[PDNN_BY_COUNT + 1];

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
 * that an op takes beyond what its roof allows: 0 above the roof, unknown without a roof or with one that is
 * not known within PDNN_ROOF_KNOWN. */
struct pdnn_share {
    const char *id;                 /* borrowed from the rows, as are the keys */
    const char *key[PDNN_BY_COUNT]; /* "" if rows are not summed by that key */
    bool is_residual;               /* time in no op; the first key says so */
    unsigned rgb;                   /* the color of its group; 0: not a group */
    struct pdnn_op_sum work;        /* counts are absent for the residual */
    bool has_lost;                  /* it is known of some op */
    double lost_ns, lost_pct;
    struct pdnn_op_record most; /* the op that loses most; its name is NULL if none loses time */
    double most_lost_ns, most_lost_pct;
};

/* The columns of the keys that a record has as its array `key`, in the order of enum pdnn_by. */
#define PDNN_BY_KEY(record, by) .field = PDNN_FIELD_AS(BORROWED, record, key[by]), .align = PDNN_ALIGN_WRAP
#define PDNN_BY_COLUMNS(record)                                                                              \
    {.name = "category",                                                                                     \
     PDNN_BY_KEY(record, PDNN_BY_CATEGORY),                                                                  \
     .help = "kind of work, as in `paradnn ops`; reorder; residual: time that belongs to no op. "            \
             "This column and the next four are empty if rows are not summed by them"},                      \
        {.name = "op_group",                                                                                 \
         .title = "group",                                                                                   \
         PDNN_BY_KEY(record, PDNN_BY_GROUP),                                                                 \
         .help = "part of the model: a product, what lies between two, a stage of the update"},              \
        {.name = "op_pass", .title = "pass", PDNN_BY_KEY(record, PDNN_BY_PASS), .help = "as in ops.csv"},    \
        {.name = "layer", PDNN_BY_KEY(record, PDNN_BY_LAYER), .help = "as in ops.csv"}, {                    \
        .name = "op", PDNN_BY_KEY(record, PDNN_BY_OP), .help = "as in ops.csv"                               \
    }

/* The columns of `breakdown`, whose rows are shares (results/table/record.h). */
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

/* The number of shares of a step, and these, in the arena: groups (with "other" always) and passes in their
 * fixed order, anything else by descending time, the residual last. by may be NULL: by category. */
size_t pdnn_shares(const struct pdnn_op_rows *rows, const struct pdnn_by_list *by, struct pdnn_arena *arena,
                   struct pdnn_share **shares);

/* The share whose op loses most, or NULL. */
const struct pdnn_share *pdnn_shares_most(const struct pdnn_share *shares, size_t n_shares);

struct pdnn_share_matrix {
    /* n_rows rows: their keys and colors; all else belongs to no single instance. */
    const struct pdnn_share *row;
    /* n_rows times n_columns, row by row; NULL: the instance has no such share. */
    const struct pdnn_share *const *cell;
    size_t n_rows, n_columns;
};

/* A column for each instance of the series; rows in the order of pdnn_shares, by their sum over all columns.
 * In the arena, but keys are the readers'. */
struct pdnn_share_matrix pdnn_share_matrix(const struct pdnn_selection *selection,
                                           struct pdnn_ops_reader *readers, const struct pdnn_by_list *by,
                                           const struct pdnn_series *series, struct pdnn_arena *arena);

#endif
