#include "results/analysis/compare_columns.h"
#include "results/analysis/compare_ops.h"
#include "results/analysis/compare_sums.h"
#include "results/tables/results_reader.h"
#include "results/table/csv.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void get_clear(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    const struct pdnn_pair *pair = row;
    if (!isnan(pair->half))
        pdnn_str_printf(cell, "%d", pair->decision != PDNN_UNDECIDED);
}

static void get_decision(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    const struct pdnn_pair *pair = row;
    pdnn_str_printf(cell, "%s", pdnn_decision_name(pair->decision));
}

static void get_key(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    const struct pdnn_pair *pair = row;
    const char *value = pair->value[column->index];
    pdnn_str_append(cell, value, strlen(value));
}

#define NUMBER    PDNN_COLUMN_NUMBER, .digits = PDNN_DIGITS_TABLE
#define AT(field) .offset = offsetof(struct pdnn_pair, field)

static const struct pdnn_column pairs[] = {
    {"id", "", PDNN_COLUMN_WORD, AT(id), .help = "the instance, without the keys that differ"},
    {"a_id", "", PDNN_COLUMN_WORD, AT(row_id[PDNN_SIDE_A]), .help = "its id in A's results.csv"},
    {"b_id", "", PDNN_COLUMN_WORD, AT(row_id[PDNN_SIDE_B]), .help = "its id in B's results.csv"},
    {"family", "", PDNN_COLUMN_WORD, AT(family), .help = "model family"},
    {"a_ns", "ns", NUMBER, AT(ns[PDNN_SIDE_A]), .help = "A's time_ns_median"},
    {"b_ns", "ns", NUMBER, AT(ns[PDNN_SIDE_B]), .help = "B's time_ns_median"},
    {"ratio", "", NUMBER, AT(ratio), .help = "a_ns over b_ns: above 1, B is faster"},
    {"ratio_low", "", NUMBER, AT(low),
     .help =
         "lower end of the ratio's 95 % interval: with h = ln(ci_high_ns / ci_low_ns) / 2 of either side, "
         "ratio * exp(-sqrt((h_a^2 + h_b^2) / 2)); empty if a side has no interval"},
    {"ratio_high", "", NUMBER, AT(high), .help = "upper end of that interval"},
    {"clear", "", PDNN_COLUMN_COUNT, .get = get_clear,
     .help = "1: the interval excludes 1; 0: it does not; empty without an interval"},
    {"decision", "", PDNN_COLUMN_WORD, .get = get_decision,
     .help = "faster or slower: what B clearly is; otherwise undecided"},
    {"probe_ratio", "", NUMBER, AT(probe_ratio),
     .help = "A's probe_gbs over B's: on one machine with the same threads, a sign of another state beyond "
             "15 %, for which intervals are not made. "
             "Columns for the hyper-parameters and run settings that both sides share follow"},
};

enum { N_PAIRS = sizeof pairs / sizeof *pairs };

const struct pdnn_columns pdnn_pairs_columns = {"compare-pairs", pairs, N_PAIRS};

void pdnn_pairs_columns_with_keys(const struct pdnn_comparison *comparison, struct pdnn_arena *arena,
                                  struct pdnn_columns *columns) {
    struct pdnn_column *column = pdnn_arena_alloc(arena, N_PAIRS + comparison->n_keys, sizeof *column);
    memcpy(column, pairs, sizeof pairs);
    for (size_t k = 0; k < comparison->n_keys; k++)
        column[N_PAIRS + k] = (struct pdnn_column){.name = pdnn_key_column(comparison->key[k]),
                                                   .unit = "",
                                                   .type = PDNN_COLUMN_WORD,
                                                   .get = get_key,
                                                   .index = k};
    *columns = (struct pdnn_columns){pdnn_pairs_columns.table, column, N_PAIRS + comparison->n_keys};
}

/* Counts are size_t, which a column's field cannot be; `offset` is in struct pdnn_compare_group or axis. */
static void get_size(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    const size_t *count = (const void *)((const char *)row + column->offset);
    pdnn_str_printf(cell, "%zu", *count);
}

#define SIZE PDNN_COLUMN_COUNT, .get = get_size
#undef AT
#define AT(field) .offset = offsetof(struct pdnn_compare_group, field)

static const struct pdnn_column groups[] = {
    {"family", "", PDNN_COLUMN_WORD, AT(family), .help = "only pairs of this family; empty: all"},
    {"key", "", PDNN_COLUMN_WORD, AT(key),
     .help = "only pairs with one value of this hyper-parameter or run setting, or family; empty: whatever "
             "their keys"},
    {"value", "", PDNN_COLUMN_WORD, AT(value), .help = "that value"},
    {"instances", "", SIZE, AT(sum.count), .help = "number of pairs"},
    {"geo_mean", "", NUMBER, AT(sum.mean), .help = "geometric mean of the ratios: above 1, B is faster"},
    {"geo_mean_low", "", NUMBER, AT(sum.low),
     .help = "lower end of its 95 % interval: the wider of Student's t over the ratios' logarithms and the "
             "error of measurement alone"},
    {"geo_mean_high", "", NUMBER, AT(sum.high), .help = "upper end of that interval"},
    {"least", "", NUMBER, AT(sum.least), .help = "least ratio"},
    {"greatest", "", NUMBER, AT(sum.greatest), .help = "greatest ratio"},
    {"faster", "instances", SIZE, AT(sum.n_decided[PDNN_FASTER]),
     .help = "pairs in which B is clearly faster"},
    {"slower", "instances", SIZE, AT(sum.n_decided[PDNN_SLOWER]),
     .help = "pairs in which B is clearly slower"},
    {"undecided", "instances", SIZE, AT(sum.n_decided[PDNN_UNDECIDED]),
     .help = "pairs whose interval has 1 in it, or that have none"},
    {"above_1", "instances", SIZE, AT(sum.n_above), .help = "pairs with a ratio above 1, clear or not"},
};

const struct pdnn_columns pdnn_compare_groups_columns = {"compare-groups", groups,
                                                         sizeof groups / sizeof *groups};

static void get_complete(const struct pdnn_column *column, const void *row, struct pdnn_str *cell) {
    (void)column;
    const struct pdnn_compare_axis *axis = row;
    pdnn_str_printf(cell, "%d", axis->is_complete);
}

#undef AT
#define AT(field) .offset = offsetof(struct pdnn_compare_axis, field)

static const struct pdnn_column axes[] = {
    {"family", "", PDNN_COLUMN_WORD, AT(family), .help = "among the pairs of this family; empty: among all"},
    {"key", "", PDNN_COLUMN_WORD, AT(key), .help = "hyper-parameter or run setting with several values"},
    {"instances", "", SIZE, AT(count), .help = "pairs that have this key"},
    {"complete", "", PDNN_COLUMN_COUNT, .get = get_complete, .help = "1: every pair has it"},
    {"n_values", "", SIZE, AT(n_values), .help = "number of its values"},
    {"explained", "", NUMBER, AT(explained),
     .help = "share of the variance of the ratios' logarithm that lies between its values"},
    {"adjusted", "", NUMBER, AT(adjusted),
     .help = "the same without what as many values explain by chance: 0 on average for a key without "
             "influence, perhaps below 0; rows are sorted by it"},
    {"p_value", "", NUMBER, AT(p_value),
     .help = "probability that a key without influence explains as much (F test)"},
};

const struct pdnn_columns pdnn_compare_axes_columns = {"compare-axes", axes, sizeof axes / sizeof *axes};

#undef AT
#define AT(field) .offset = offsetof(struct pdnn_compare_op, field)

static const struct pdnn_column ops[] = {
    {"family", "", PDNN_COLUMN_WORD, AT(family), .help = "in the pairs of this family; empty: in all"},
    {"category", "", PDNN_COLUMN_WORD, AT(key[PDNN_BY_CATEGORY]),
     .help = "kind of work, as in `paradnn ops`; reorder; residual: time that belongs to no op. "
             "This column and the next four are empty if ops are not summed by them"},
    {"op_group", "", PDNN_COLUMN_WORD, AT(key[PDNN_BY_GROUP]), .help = "part of the model, as in breakdown"},
    {"op_pass", "", PDNN_COLUMN_WORD, AT(key[PDNN_BY_PASS]), .help = "as in ops.csv"},
    {"layer", "", PDNN_COLUMN_WORD, AT(key[PDNN_BY_LAYER]), .help = "as in ops.csv"},
    {"op", "", PDNN_COLUMN_WORD, AT(key[PDNN_BY_OP]), .help = "as in ops.csv"},
    {"instances", "", SIZE, AT(count), .help = "pairs that have it on either side"},
    {"a_ns", "ns", NUMBER, AT(time_ns[PDNN_SIDE_A]), .help = "A's time in it, summed over the pairs"},
    {"b_ns", "ns", NUMBER, AT(time_ns[PDNN_SIDE_B]), .help = "B's time in it"},
    {"a_share_pct", "%", NUMBER, AT(share_pct[PDNN_SIDE_A]), .help = "share of A's step times"},
    {"b_share_pct", "%", NUMBER, AT(share_pct[PDNN_SIDE_B]), .help = "share of B's step times"},
    {"gain_ns", "ns", NUMBER, AT(gain_ns), .help = "a_ns less b_ns: what B saves there"},
    {"gain_pct", "%", NUMBER, AT(gain_pct), .help = "share of what B saves in all; sums to 100"},
    {"effect", "", NUMBER, AT(effect),
     .help = "its factor in the geometric mean of the ratios, in which every pair counts the same: mean of "
             "(a - b) / L with the logarithmic mean L of the two step times, exponentiated; the product over "
             "all rows of a family is the geometric mean"},
};

const struct pdnn_columns pdnn_compare_ops_columns = {"compare-ops", ops, sizeof ops / sizeof *ops};

#undef AT
#define AT(field) .offset = offsetof(struct pdnn_unpaired, field)

static const struct pdnn_column unpaired[] = {
    {"id", "", PDNN_COLUMN_WORD, AT(id), .help = "the instance, without the keys that differ"},
    {"a_id", "", PDNN_COLUMN_WORD, AT(row_id[PDNN_SIDE_A]),
     .help = "its id in A's results.csv; empty: A does not have it"},
    {"b_id", "", PDNN_COLUMN_WORD, AT(row_id[PDNN_SIDE_B]),
     .help = "its id in B's results.csv; empty: B does not have it"},
    {"a_status", "", PDNN_COLUMN_WORD, AT(status[PDNN_SIDE_A]), .words = pdnn_outcome_words,
     .help = "its status in A"},
    {"b_status", "", PDNN_COLUMN_WORD, AT(status[PDNN_SIDE_B]), .words = pdnn_outcome_words,
     .help = "its status in B"},
    {"a_reason", "", PDNN_COLUMN_WORD, AT(reason[PDNN_SIDE_A]), .help = "why A has no time for it"},
    {"b_reason", "", PDNN_COLUMN_WORD, AT(reason[PDNN_SIDE_B]), .help = "why B has no time for it"},
};

const struct pdnn_columns pdnn_unpaired_columns = {"compare-unpaired", unpaired,
                                                   sizeof unpaired / sizeof *unpaired};
