/* results.csv and ops.csv as tables: their columns, and how a row is filled and read. Hyper-parameters are
 * columns, so those of results.csv depend on the families in it. */
#ifndef RESULTS_STORE_RESULTS_H
#define RESULTS_STORE_RESULTS_H

#include "base/word.h"
#include "models/cost/cost.h"
#include "models/instance.h"
#include "results/table/table.h"
#include "runtime/protocol/visit.h"

/* Version of the tables, raised when the name or meaning of a column or the journal's layout changes. This
 * one is read, and the one before. */
enum { PDNN_SCHEMA = 4 };

/* A count that is not available. */
#define PDNN_ABSENT UINT64_MAX

/* Above this, pct_of_roof sets the flag above_roof: roofs and rows repeat only within a few per cent. */
#define PDNN_ABOVE_ROOF_PCT 105.0

/* A roof whose ends are farther apart than this factor does not say how far from it a row is. */
#define PDNN_ROOF_KNOWN 1.3

/* What limits a row: see results/rows/roofline.h. A set: more than one where the roofs' range cannot tell. */
enum pdnn_bound {
    PDNN_BOUND_UNKNOWN = 0,
    PDNN_BOUND_COMPUTE = 1,
    PDNN_BOUND_MEMORY = 2,
    PDNN_BOUND_OVERHEAD = 4,
    PDNN_BOUND_COUNT = 8
};

/* The rows from PDNN_BOUND_COMPUTE on, the last one empty. */
extern const struct pdnn_word pdnn_bound_words[];

/* "" for none, "compute", "memory", "compute|memory", "overhead", ... */
const char *pdnn_bound_name(enum pdnn_bound bound);

enum { PDNN_LEVEL_TEXT = 24 };

/* Where a row of results.csv or ops.csv stands against the machine's roofs, which results/rows/roofline.h
 * defines and computes. Not available: NaN, or "". */
struct pdnn_placement {
    double gflops, bw_gbs, intensity_flop_per_byte;
    double attainable_gflops, pct_of_roof, pct_of_peak;
    double roof_low, roof_high; /* GFLOP/s, or without FLOP GB/s: what the roof is known to be between */
    double roof_ns; /* the least time that the roofs, scaled to the machine's speed, allow; not in tables */
    bool is_dram;   /* bound by the last level, whose speed is that of the read probe; not in tables */
    enum pdnn_bound bound;
    char roof_level[PDNN_LEVEL_TEXT]; /* L1, L2, L3, DRAM: where most of the memory time goes */
};

/* Sets everything to not available. */
void pdnn_placement_init(struct pdnn_placement *place);

/* Whether its roof is known within PDNN_ROOF_KNOWN, as one without a range is taken to be. */
bool pdnn_roof_is_known(const struct pdnn_placement *place);

/* The columns of results.csv that do not depend on families. */
enum pdnn_result_column {
#define RESULT_COLUMN(word, ...) PDNN_RESULT_##word,
#include "results/store/columns/results.inc"
#undef RESULT_COLUMN
    PDNN_RESULT_COLUMNS
};

/* The columns of a results.csv with these families (NULL: all), in the arena: one for each name of a
 * hyper-parameter, in the order of the families' rows. */
struct pdnn_table_def pdnn_results_def(const struct pdnn_family_def *const *families, size_t n_families,
                                       struct pdnn_arena *arena);

/* The same without parameters. */
extern const struct pdnn_table_def pdnn_results_fixed_def;

/* A row of a table with those columns. */
struct pdnn_result {
    struct pdnn_table *table; /* borrowed */
    size_t row;
    size_t n_params; /* columns of hyper-parameters and run settings */
    const struct pdnn_family_def *family;
    size_t param[PDNN_HYPER_MAX];        /* the columns of this family's hyper-parameters */
    struct pdnn_parsed_presets *presets; /* borrowed by a writer of many rows; NULL: parsed for each */
};

/* The table's row of that number, which need not be there yet. */
struct pdnn_result pdnn_result_of(struct pdnn_table *table, size_t row);

/* The number of the column in the table. */
size_t pdnn_result_at(const struct pdnn_result *result, enum pdnn_result_column column);
size_t pdnn_result_setting_at(const struct pdnn_result *result, enum pdnn_setting setting);

/* Adds the next row to the table, of an instance that was interrupted before its first visit. */
void pdnn_result_add(struct pdnn_result *result, const char *id);

/* Fill the columns of hyper-parameters and run settings; those of what the instance costs. */
void pdnn_result_set_instance(struct pdnn_result *result, const struct pdnn_instance *instance);
void pdnn_result_set_totals(struct pdnn_result *result, const struct pdnn_totals *totals);

/* Cells by column, as those of tables. */
void pdnn_result_set_text(struct pdnn_result *result, enum pdnn_result_column column, const char *text);
void pdnn_result_set_count(struct pdnn_result *result, enum pdnn_result_column column, uint64_t count);
void pdnn_result_set_number(struct pdnn_result *result, enum pdnn_result_column column, double number);
const char *pdnn_result_text(const struct pdnn_result *result, enum pdnn_result_column column);
uint64_t pdnn_result_count(const struct pdnn_result *result, enum pdnn_result_column column);
double pdnn_result_number(const struct pdnn_result *result, enum pdnn_result_column column);

/* The same of cells that hold words. */
enum pdnn_outcome pdnn_result_outcome(const struct pdnn_result *result);
unsigned pdnn_result_flags(const struct pdnn_result *result);

/* What its cells say; pdnn_record_put sets them. */
struct pdnn_placement pdnn_result_placement(const struct pdnn_result *result);

/* The columns of ops.csv. */
enum pdnn_ops_column {
#define OPS_COLUMN(word, ...) PDNN_OPS_##word,
#include "results/store/columns/ops.inc"
#undef OPS_COLUMN
    PDNN_OPS_COLUMNS
};
extern const struct pdnn_table_def pdnn_ops_def;

/* A row of ops.csv, for results/table/record.h; texts that were read are the table's. */
struct pdnn_op_record {
    const char *id, *model, *family, *mode, *status; /* of its instance */
    uint64_t op_index;
    const char *layer, *op, *category, *pass, *dtype, *shape;
    uint64_t count, flop_count, in_bounds_flop_count, byte_count;
    struct pdnn_extra_traffic extra;
    uint64_t extrapolated; /* 1: some of its ops did not run */
    double time_ns_median, share_pct;
    struct pdnn_counted counted;
    struct pdnn_placement place;
    const char *implementation; /* several: joined by " | " */
};
struct pdnn_op_record pdnn_ops_row(const struct pdnn_table *ops, size_t row);

/* Prints the ids in the column in today's form. One that does not parse stays. */
void pdnn_ids_reprint(struct pdnn_table *table, size_t column);

#endif
