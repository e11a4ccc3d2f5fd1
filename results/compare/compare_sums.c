#include "results/compare/compare_sums.h"
#include "base/memory.h"
#include "results/stats/means.h"
#include "results/table/rows.h"
#include "base/stats.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define AS(kind, show) PDNN_KIND_##kind, PDNN_SHOW_##show
#define AMONG(text)                                                                                          \
    { "family", "among", NULL, AS(TEXT, PLAIN), PDNN_ALIGN_GROUP, .blank = "all", .help = text }
static const struct pdnn_column_def group_columns[PDNN_GROUP_COLUMNS] = {
    AMONG("only pairs of this family; empty: all"),
    {"key", NULL, NULL, AS(TEXT, PLAIN), PDNN_ALIGN_WRAP,
     .help = "only pairs with one value of this hyper-parameter or run setting, or family; "
             "empty: whatever their keys"},
    {"value", NULL, NULL, AS(TEXT, PLAIN), PDNN_ALIGN_WRAP, .help = "that value"},
    {"instances", NULL, NULL, AS(COUNT, PLAIN), .rank = 1, .help = "number of pairs"},
    {"geo_mean", "mean", NULL, AS(NUMBER, FACTOR),
     .help = "geometric mean of the ratios: above 1, B is faster"},
    {"geo_mean_low", "95 % interval", NULL, AS(NUMBER, INTERVAL),
     .help = "lower end of its 95 % interval: the wider of Student's t over the ratios' logarithms and the "
             "error of measurement alone"},
    {"geo_mean_high", NULL, NULL, AS(NUMBER, NEVER), .help = "upper end of that interval"},
    {"least", NULL, NULL, AS(NUMBER, FACTOR), .rank = 2, .help = "least ratio"},
    {"greatest", NULL, NULL, AS(NUMBER, FACTOR), .rank = 3, .help = "greatest ratio"},
    {"faster", NULL, "instances", AS(COUNT, PLAIN),
     .help = "pairs in which B is clearly faster; empty: no pair has an interval"},
    {"slower", NULL, "instances", AS(COUNT, PLAIN), .help = "pairs in which B is clearly slower, likewise"},
    {"undecided", NULL, "instances", AS(COUNT, PLAIN), .rank = 4,
     .help = "all others: alike, not decided, or without an interval"},
    {"above_1", "above 1", "instances", AS(COUNT, PLAIN), .rank = 5,
     .help = "pairs with a ratio above 1, clear or not"},
};
const struct pdnn_table_def pdnn_groups_def = {"compare-groups", "what ratios amount to", group_columns,
                                               PDNN_GROUP_COLUMNS};

static const struct pdnn_column_def axis_columns[PDNN_COMPARE_AXIS_COLUMNS] = {
    AMONG("among the pairs of this family; empty: among all"),
    {"key", NULL, NULL, AS(TEXT, PLAIN), PDNN_ALIGN_WRAP,
     .help = "hyper-parameter or run setting with several values"},
    {"instances", NULL, NULL, AS(COUNT, PLAIN), .rank = 1, .help = "pairs that have this key"},
    {"complete", NULL, NULL, AS(COUNT, NEVER), .help = "1: every pair has it"},
    {"n_values", "values", NULL, AS(COUNT, PLAIN), .rank = 2, .help = "number of its values"},
    {"explained", "explains", NULL, AS(NUMBER, SHARE), .decimals = 1,
     .help = "share of the variance of the ratios' logarithm that lies between its values"},
    {"adjusted", NULL, NULL, AS(NUMBER, SHARE), .decimals = 1,
     .help = "the same without what as many values explain by chance: 0 on average for a key without "
             "influence, perhaps below 0; rows are sorted by it"},
    {"p_value", "p value", NULL, AS(NUMBER, FACTOR),
     .help = "probability that a key without influence explains as much (F test)"},
    {"confounded_with", "confounded with", NULL, AS(TEXT, PLAIN), PDNN_ALIGN_WRAP, .rank = 3,
     .help = "a key that it goes together with only because instances are open: what it explains, and the "
             "groups by its values, are left out"},
};
const struct pdnn_table_def pdnn_axes_def = {"compare-axes", "what explains ratios", axis_columns,
                                             PDNN_COMPARE_AXIS_COLUMNS};

/* Whether it will be a pair once nothing is open. */
static bool is_open(const struct pdnn_selection *table, const size_t *at) {
    bool is_open = false;
    for (size_t side = 0; side < PDNN_SIDES; side++) {
        const bool waits = at[side] && pdnn_gaps_is_open(table, at[side] - 1);
        if (!waits && !(at[side] && at[side] <= table->count))
            return false;
        is_open = is_open || waits;
    }
    return is_open;
}

void pdnn_comparison_gaps(const struct pdnn_comparison *comparison, const char *family,
                          struct pdnn_gaps *gaps) {
    const struct pdnn_selection *table = &comparison->selection;
    size_t *row = pdnn_alloc(comparison->ids.count + 1, sizeof *row), count = 0, chosen = 0;
    for (int open = 0; open < 2; open++)
        for (size_t i = 0; i < (open ? comparison->ids.count : comparison->pairs.n_rows); i++) {
            if (open && !is_open(table, comparison->of_id[i]))
                continue;
            const size_t at = open ? comparison->of_id[i][PDNN_SIDE_A] - 1 : comparison->at[i][PDNN_SIDE_A];
            if (*family && strcmp(pdnn_selection_get(table, at, table->family), family) != 0)
                continue;
            row[count++] = table->row[at];
            chosen += !open;
        }
    pdnn_gaps_of(table, row, chosen, count, gaps);
    free(row);
}

struct work {
    const struct pdnn_comparison *comparison;
    struct pdnn_table *groups;
    struct pdnn_table found; /* the axes of one scope */
    struct pdnn_gaps gaps;   /* of that scope */
};

/* Adds a row for these pairs, which have the value of the key; returns the mean of their logarithms. */
static struct pdnn_mean add_group(struct work *work, const char *family, const char *key, const char *value,
                                  const struct pdnn_row_list *rows) {
    const struct pdnn_table *pairs = &work->comparison->pairs;
    struct pdnn_table *groups = work->groups;
    struct pdnn_mean logs = {.n = 0};
    bool has_interval = false;
    double least = INFINITY, greatest = 0;
    uint64_t counts[4] = {0}; /* faster, slower, undecided; above 1 */
    const size_t row = pdnn_table_add_texts(groups, 3, (const char *[]){family, key, value});
    for (size_t i = 0; i < rows->count; i++) {
        double ratio = pdnn_pair_ratio(work->comparison, rows->at[i]);
        const bool is_clear = pdnn_table_number(pairs, rows->at[i], PDNN_PAIR_CLEAR) > 0;
        pdnn_mean_add(&logs, log(ratio), pdnn_pair_half(work->comparison, rows->at[i]));
        least = fmin(least, ratio);
        greatest = fmax(greatest, ratio);
        counts[!is_clear ? 2 : ratio < 1]++;
        counts[3] += ratio > 1;
        has_interval = has_interval || !pdnn_table_is_empty(pairs, rows->at[i], PDNN_PAIR_CLEAR);
    }
    double mean = pdnn_mean_geometric(&logs), half = pdnn_mean_half(&logs);
    const double numbers[] = {mean, mean * exp(-half), mean * exp(half), least, greatest};
    pdnn_table_set_count(groups, row, PDNN_GROUP_INSTANCES, rows->count);
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        pdnn_table_set_number(groups, row, PDNN_GROUP_MEAN + k, numbers[k]);
    for (size_t k = has_interval ? 0 : 2; k < sizeof counts / sizeof *counts; k++)
        pdnn_table_set_count(groups, row, PDNN_GROUP_FASTER + k, counts[k]);
    return logs;
}

/* The variance within the values and around their common mean. */
static void explain(const struct pdnn_mean *values, size_t n_values, struct pdnn_table *axes, size_t axis) {
    double n = 0, k = (double)n_values, sum = 0, within = 0, between = 0;
    for (size_t v = 0; v < n_values; v++) {
        n += (double)values[v].n;
        sum += (double)values[v].n * values[v].mean;
        within += values[v].squares;
    }
    for (size_t v = 0; v < n_values; v++)
        between += (double)values[v].n * (values[v].mean - sum / n) * (values[v].mean - sum / n);
    double total = within + between;
    if (!(total > n * 1e-24)) /* equal ratios differ by rounding */
        return;
    pdnn_table_set_number(axes, axis, PDNN_COMPARE_AXIS_EXPLAINED, between / total);
    if (!(n > k))
        return;
    pdnn_table_set_number(axes, axis, PDNN_COMPARE_AXIS_ADJUSTED, 1 - within / (n - k) / (total / (n - 1)));
    pdnn_table_set_number(axes, axis, PDNN_COMPARE_AXIS_P_VALUE,
                          pdnn_f_tail(between / (k - 1) / (within / (n - k)), k - 1, n - k));
}

/* What the key of a column of the pairs is confounded with; NULL: nothing. */
static const char *find_confounder(const struct work *work, size_t column) {
    const struct pdnn_selection *selection = &work->comparison->selection;
    const char *name = pdnn_column_title(&work->comparison->pairs.column[column].def);
    return pdnn_gaps_confounder(&work->gaps, selection,
                                column == PDNN_PAIR_FAMILY ? selection->family
                                                           : pdnn_results_named(&selection->results, name));
}

/* The pairs of a scope by the values of one key; a pair without the key is in none. Numbers ascend, words are
 * in the order of their first rows. */
static void add_key(struct work *work, const char *family, size_t column, const struct pdnn_row_list *scope) {
    const struct pdnn_table *pairs = &work->comparison->pairs;
    const struct pdnn_column_def *def = &pairs->column[column].def;
    const char *name = pdnn_column_title(def), *confounder = find_confounder(work, column);
    struct pdnn_row_list rows = {0};
    struct pdnn_str value = {0};
    for (size_t i = 0; i < scope->count; i++)
        if (!pdnn_table_is_empty(pairs, scope->at[i], column))
            pdnn_rows_add(&rows, scope->at[i]);
    if (def->kind != PDNN_KIND_TEXT)
        pdnn_rows_sort(&rows, pairs, &(struct pdnn_sort_key){column, false}, 1);
    struct pdnn_groups values = pdnn_groups_make(pairs, &rows, &column, 1);
    struct pdnn_mean *logs = pdnn_alloc(values.count, sizeof *logs);
    for (size_t v = 0; v < values.count && values.count > 1 && !confounder; v++) {
        pdnn_str_clear(&value);
        pdnn_table_append(pairs, values.group[v].at[0], column, &value);
        logs[v] = add_group(work, family, name, pdnn_str_text(&value), &values.group[v]);
    }
    if (values.count > 1) {
        const uint64_t counts[] = {rows.count, rows.count == scope->count, values.count};
        const size_t axis = pdnn_table_add_texts(&work->found, 2, (const char *[]){family, name});
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
            pdnn_table_set_count(&work->found, axis, PDNN_COMPARE_AXIS_INSTANCES + k, counts[k]);
        if (confounder)
            pdnn_table_set_text(&work->found, axis, PDNN_COMPARE_AXIS_WITH, confounder);
        else
            explain(logs, values.count, &work->found, axis);
    }
    pdnn_str_finish(&value);
    free(logs);
    pdnn_groups_finish(&values);
    pdnn_rows_finish(&rows);
}

static void add_scope(struct work *work, const char *family, const struct pdnn_row_list *scope,
                      struct pdnn_table *axes) {
    static const struct pdnn_sort_key order[] = {{PDNN_COMPARE_AXIS_COMPLETE, true},
                                                 {PDNN_COMPARE_AXIS_ADJUSTED, true}};
    pdnn_table_clear(&work->found);
    pdnn_comparison_gaps(work->comparison, family, &work->gaps);
    add_group(work, family, "", "", scope);
    if (!*family)
        add_key(work, family, PDNN_PAIR_FAMILY, scope);
    for (size_t key = PDNN_PAIR_KEYS; key < work->comparison->pairs.n_columns; key++)
        add_key(work, family, key, scope);
    struct pdnn_row_list sorted = pdnn_rows_all(&work->found);
    pdnn_rows_sort(&sorted, &work->found, order, sizeof order / sizeof *order);
    for (size_t i = 0; i < sorted.count; i++)
        pdnn_table_copy_row(axes, &work->found, sorted.at[i]);
    pdnn_rows_finish(&sorted);
}

void pdnn_compare_sums(const struct pdnn_comparison *comparison, struct pdnn_table *groups,
                       struct pdnn_table *axes) {
    static const size_t family = PDNN_PAIR_FAMILY;
    struct work work = {.comparison = comparison, .groups = groups};
    struct pdnn_row_list all = pdnn_rows_all(&comparison->pairs);
    struct pdnn_groups families = pdnn_groups_make(&comparison->pairs, NULL, &family, 1);
    pdnn_table_init(groups, &pdnn_groups_def);
    pdnn_table_init(axes, &pdnn_axes_def);
    pdnn_table_init(&work.found, &pdnn_axes_def);
    add_scope(&work, "", &all, axes);
    for (size_t f = 0; f < families.count && families.count > 1; f++)
        add_scope(&work, pdnn_table_text(&comparison->pairs, families.group[f].at[0], family),
                  &families.group[f], axes);
    pdnn_table_finish(&work.found);
    pdnn_groups_finish(&families);
    pdnn_rows_finish(&all);
}

/* Where the sides ran apart, no interval has all of what they differ by, and which is faster is not said. */
static void say_mean(const struct pdnn_table *groups, const char *const name[PDNN_SIDES], bool are_apart,
                     struct pdnn_str *out) {
    const double mean = pdnn_table_number(groups, 0, PDNN_GROUP_MEAN),
                 low = pdnn_table_number(groups, 0, PDNN_GROUP_LOW),
                 high = pdnn_table_number(groups, 0, PDNN_GROUP_HIGH),
                 count = pdnn_table_number(groups, 0, PDNN_GROUP_INSTANCES);
    const bool is_inverse = !are_apart && mean < 1;
    const char *a = name[PDNN_SIDE_A], *b = name[PDNN_SIDE_B];
    if (are_apart)
        pdnn_str_printf(out, "The time of %s over that of %s is ", a, b);
    else
        pdnn_str_printf(out, "%s %s ", b, is_inverse ? "takes" : "is");
    pdnn_factor_append(out, is_inverse ? 1 / mean : mean);
    if (!are_apart)
        pdnn_str_printf(out, " times as %s as %s", is_inverse ? "long" : "fast", a);
    if (!isnan(low)) {
        pdnn_str_printf(out, " (");
        pdnn_factor_append(out, is_inverse ? 1 / high : low);
        pdnn_str_printf(out, " to ");
        pdnn_factor_append(out, is_inverse ? 1 / low : high);
        pdnn_str_printf(out, are_apart ? ", without what shifts a whole run)" : ")");
    }
    pdnn_str_printf(out, ", the geometric mean over %.0f instance%s%s.", count, count == 1 ? "" : "s",
                    !are_apart && low < 1 && high > 1 ? ", which may as well be 1" : "");
}

void pdnn_compare_say(const struct pdnn_comparison *comparison, const struct pdnn_table *groups,
                      const char *const name[PDNN_SIDES], struct pdnn_str *out) {
    const struct pdnn_table *pairs = &comparison->pairs;
    const bool are_apart = pdnn_comparison_are_apart(comparison);
    const double count = (double)pairs->n_rows, above = pdnn_table_number(groups, 0, PDNN_GROUP_ABOVE_1),
                 faster = pdnn_table_number(groups, 0, PDNN_GROUP_FASTER),
                 slower = pdnn_table_number(groups, 0, PDNN_GROUP_SLOWER);
    double without = 0, below = 0, alike = 0;
    for (size_t pair = 0; pair < pairs->n_rows; pair++) {
        without += pdnn_table_is_empty(pairs, pair, PDNN_PAIR_LOW);
        below += pdnn_pair_ratio(comparison, pair) < 1;
        alike += strcmp(pdnn_table_text(pairs, pair, PDNN_PAIR_DECISION), pdnn_alike) == 0;
    }
    say_mean(groups, name, are_apart, out);
    if (without == count) {
        pdnn_str_printf(out,
                        " %s took less time in %.0f (%.0f %%), more in %.0f (%.0f %%); no ratio has an "
                        "interval, so that no difference is clear.",
                        name[PDNN_SIDE_B], above, 100 * above / count, below, 100 * below / count);
        return;
    }
    if (are_apart)
        pdnn_str_printf(out, " The interval is above 1 in %.0f (%.0f %%), below 1 in %.0f (%.0f %%)", faster,
                        100 * faster / count, slower, 100 * slower / count);
    else
        pdnn_str_printf(out, " %s is clearly faster in %.0f (%.0f %%), clearly slower in %.0f (%.0f %%)",
                        name[PDNN_SIDE_B], faster, 100 * faster / count, slower, 100 * slower / count);
    if (alike > 0)
        pdnn_str_printf(out, "; alike in %.0f (%.0f %%)", alike, 100 * alike / count);
    pdnn_str_printf(out, "; %.0f undecided", pdnn_table_number(groups, 0, PDNN_GROUP_UNDECIDED) - alike);
    if (without > 0)
        pdnn_str_printf(out, ", %.0f of them without an interval", without);
    pdnn_str_append(out, ".", 1);
}

bool pdnn_compare_axis_explains(const struct pdnn_table *axes, size_t axis) {
    size_t count = 0;
    for (size_t i = 0; i < axes->n_rows; i++)
        count += strcmp(pdnn_table_text(axes, i, PDNN_COMPARE_AXIS_FAMILY),
                        pdnn_table_text(axes, axis, PDNN_COMPARE_AXIS_FAMILY)) == 0;
    return pdnn_table_count(axes, axis, PDNN_COMPARE_AXIS_COMPLETE) &&
           pdnn_table_number(axes, axis, PDNN_COMPARE_AXIS_P_VALUE) * (double)count < 0.05;
}

size_t pdnn_compare_best_axis(const struct pdnn_table *axes, const char *family) {
    for (size_t i = 0; i < axes->n_rows; i++)
        if (strcmp(pdnn_table_text(axes, i, PDNN_COMPARE_AXIS_FAMILY), family) == 0 &&
            pdnn_compare_axis_explains(axes, i))
            return i;
    return SIZE_MAX;
}
