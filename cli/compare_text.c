#include "cli/compare_text.h"
#include "base/memory.h"
#include "base/units.h"
#include "base/visible.h"
#include "base/fill.h"
#include "cli/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where there is no terminal, sentences are filled to this width. */
enum { PLAIN_WIDTH = 100 };

/* How many of the greatest and of the least ratios, of ops and of a key's values the overview shows. */
enum { EXTREMES_SHOWN = 4, OPS_SHOWN = 8, VALUES_SHOWN = 16 };

/* One sentence or heading, filled; frees it. */
static void append_sentence(struct pdnn_str *out, struct pdnn_str *sentence) {
    size_t width = pdnn_terminal_width(STDOUT_FILENO);
    struct pdnn_str shown = {0};
    pdnn_visible_append(&shown, pdnn_str_text(sentence), sentence->length, "");
    pdnn_fill_text(out, pdnn_str_text(&shown), 0, width ? width : PLAIN_WIDTH);
    pdnn_str_finish(&shown);
    pdnn_str_finish(sentence);
}

static void append_head(struct pdnn_str *out, const struct pdnn_comparison *comparison) {
    static const struct pdnn_sheet_column columns[] = {
        {"side", PDNN_ALIGN_LEFT}, {"what", PDNN_ALIGN_WRAP}, {"results", PDNN_ALIGN_WRAP}};
    struct pdnn_sheet table;
    bool names_directories = comparison->label[0] == comparison->directory[0];
    pdnn_sheet_init(&table, columns, names_directories ? 2 : 3);
    for (int side = 0; side < PDNN_SIDES; side++) {
        pdnn_sheet_cell(&table, "%c", 'A' + side);
        pdnn_sheet_cell(&table, "%s", comparison->label[side]);
        if (!names_directories)
            pdnn_sheet_cell(&table, "%s", comparison->directory[side]);
    }
    pdnn_compare_append(out, &table);
    pdnn_str_append(out, "\n", 1);
}

/* "B is 1.32 times as fast as A (1.25 to 1.39)", or how many times as long it takes. */
static void append_mean(struct pdnn_str *out, const struct pdnn_ratio_sum *sum) {
    char text[PDNN_UNIT_TEXT];
    bool faster = sum->mean >= 1;
    pdnn_str_printf(out, "B %s %s times as %s as A", faster ? "is" : "takes",
                    pdnn_ratio_format(text, faster ? sum->mean : 1 / sum->mean), faster ? "fast" : "long");
    if (isnan(sum->low))
        return;
    pdnn_str_printf(out, " (");
    pdnn_interval_append(out, faster ? sum->low : 1 / sum->high, faster ? sum->high : 1 / sum->low);
    pdnn_str_printf(out, ")");
}

static double percent(size_t part, size_t whole) {
    return 100 * (double)part / (double)whole;
}

static void append_summary(struct pdnn_str *out, const struct pdnn_ratio_sum *sum) {
    struct pdnn_str line = {0};
    size_t faster = sum->n_decided[PDNN_FASTER], slower = sum->n_decided[PDNN_SLOWER];
    append_mean(&line, sum);
    pdnn_str_printf(
        &line, ", the geometric mean over %zu instance%s%s. B is clearly faster in %zu (%.0f %%), ",
        sum->count, sum->count == 1 ? "" : "s",
        sum->low < 1 && sum->high > 1 ? ", which may as well be 1" : "", faster, percent(faster, sum->count));
    pdnn_str_printf(&line, "clearly slower in %zu (%.0f %%); %zu undecided.", slower,
                    percent(slower, sum->count), sum->n_decided[PDNN_UNDECIDED]);
    append_sentence(out, &line);
    pdnn_str_append(out, "\n", 1);
}

/* The groups of one key of a scope, under its name as the title; only their number if there are many. */
static void append_key(struct pdnn_str *out, const struct pdnn_compare_sums *sums, const char *family,
                       const char *key, size_t n_values) {
    struct pdnn_sheet_column columns[1 + PDNN_RATIO_SUM_COLUMNS] = {{key, PDNN_ALIGN_WRAP}};
    struct pdnn_sheet table;
    if (n_values > VALUES_SHOWN) {
        pdnn_str_printf(out, "It has %zu values: --table groups\n\n", n_values);
        return;
    }
    memcpy(columns + 1, pdnn_ratio_sum_columns, sizeof pdnn_ratio_sum_columns);
    pdnn_sheet_init(&table, columns, 1 + PDNN_RATIO_SUM_COLUMNS);
    for (size_t i = 0; i < sums->n_groups; i++) {
        const struct pdnn_compare_group *group = &sums->group[i];
        if (strcmp(group->family, family) != 0 || strcmp(group->key, key) != 0)
            continue;
        pdnn_sheet_cell(&table, "%s", group->value);
        pdnn_compare_add_sum(&table, &group->sum);
    }
    pdnn_compare_append(out, &table);
    pdnn_str_append(out, "\n", 1);
}

/* "fc: batch explains the ratios best: 71 % of the variance of their logarithm, then nodes 12 %", and what
 * the ratios are by that key. Nothing if the pairs differ in no key. */
static void append_axes(struct pdnn_str *out, const struct pdnn_compare_sums *sums, const char *family) {
    const struct pdnn_compare_axis *best = pdnn_compare_best_axis(sums, family);
    struct pdnn_str line = {0};
    bool has_axes = false;
    pdnn_str_printf(&line, "%s%s", family, *family ? ": " : "");
    if (best)
        pdnn_str_printf(&line, "%s explains the ratios best: %.0f %% of the variance of their logarithm",
                        best->key, best->adjusted * 100);
    else
        pdnn_str_printf(&line, "no key explains the ratios better than chance would");
    for (size_t i = 0; i < sums->n_axes; i++) {
        const struct pdnn_compare_axis *axis = &sums->axis[i];
        if (strcmp(axis->family, family) != 0)
            continue;
        has_axes = true;
        if (axis != best && pdnn_compare_axis_explains(sums, axis))
            pdnn_str_printf(&line, ", %s %.0f %%", axis->key, axis->adjusted * 100);
    }
    pdnn_str_printf(&line, ".");
    if (!has_axes) {
        pdnn_str_finish(&line);
        return;
    }
    append_sentence(out, &line);
    pdnn_str_append(out, "\n", 1);
    if (best && strcmp(best->key, "family") != 0)
        append_key(out, sums, family, best->key, best->n_values);
}

/* Intervals hold for equal states of the machine. */
static void append_state(struct pdnn_str *out, const struct pdnn_comparison *comparison) {
    size_t count = pdnn_comparison_has_state(comparison) ? pdnn_comparison_other_state(comparison) : 0;
    struct pdnn_str line = {0};
    if (!count)
        return;
    pdnn_str_printf(&line,
                    "%zu of %zu found the machine in another state on either side (their read probes differ "
                    "by more than 15 %%), so that their intervals are too narrow.",
                    count, comparison->n_pairs);
    append_sentence(out, &line);
    pdnn_str_append(out, "\n", 1);
}

static void append_scopes(struct pdnn_str *out, const struct pdnn_compare_sums *sums) {
    size_t n_scopes = 0;
    for (size_t i = 0; i < sums->n_groups; i++)
        n_scopes += !*sums->group[i].key;
    if (n_scopes > 1)
        append_key(out, sums, "", "family", n_scopes - 1);
    for (size_t i = 0; i < sums->n_groups; i++) {
        if (!*sums->group[i].key)
            append_axes(out, sums, sums->group[i].family);
    }
}

static void append_ops(struct pdnn_str *out, const struct pdnn_compared *compared) {
    const struct pdnn_compare_ops *ops = &compared->ops;
    struct pdnn_sheet_column columns[PDNN_SHEET_COLUMNS_MAX];
    struct pdnn_sheet table;
    struct pdnn_str line = {0};
    size_t shown = 0, hidden = 0;
    if (!ops->n_pairs) {
        pdnn_str_printf(out, "ops.csv does not say which ops the difference comes from.\n\n");
        return;
    }
    pdnn_str_printf(&line,
                    "Where the time goes, summed over %zu instance%s. The product of all effects is the "
                    "geometric mean; above 1, B gains time there.",
                    ops->n_pairs, ops->n_pairs == 1 ? "" : "s");
    append_sentence(out, &line);
    pdnn_str_append(out, "\n", 1);
    pdnn_sheet_init(&table, columns, pdnn_compare_op_columns(columns, &compared->by, false));
    for (size_t i = 0; i < ops->count && !*ops->op[i].family; i++) {
        if (shown == OPS_SHOWN && !ops->op[i].is_residual) {
            hidden++;
            continue;
        }
        pdnn_compare_add_op(&table, &compared->by, &ops->op[i]);
        shown++;
    }
    pdnn_compare_append(out, &table);
    if (hidden)
        pdnn_str_printf(out, "and %zu more with less effect: --table ops\n", hidden);
    pdnn_str_append(out, "\n", 1);
}

/* Descending; equal ratios in the order of the table. */
static int compare_pairs(const void *a, const void *b) {
    const struct pdnn_pair *const *x = a, *const *y = b;
    if ((*x)->ratio != (*y)->ratio)
        return (*x)->ratio < (*y)->ratio ? 1 : -1;
    return (*x > *y) - (*x < *y);
}

static void append_extremes(struct pdnn_str *out, const struct pdnn_compared *compared) {
    const struct pdnn_comparison *comparison = &compared->comparison;
    size_t count = comparison->n_pairs;
    const struct pdnn_pair **sorted = pdnn_alloc(count + 1, sizeof *sorted);
    struct pdnn_sheet table;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &comparison->pair[i];
    qsort(sorted, count, sizeof *sorted, compare_pairs);
    pdnn_sheet_init(&table, pdnn_pair_columns, PDNN_PAIR_COLUMNS);
    for (size_t i = 0; i < count; i++) {
        if (i < EXTREMES_SHOWN || i + EXTREMES_SHOWN >= count)
            pdnn_compare_add_pair(&table, compared, sorted[i]);
    }
    if (count > 2 * EXTREMES_SHOWN)
        pdnn_str_printf(out, "The greatest and the least of %zu ratios, time of A over time of B:\n\n",
                        count);
    pdnn_compare_append_common(out, compared);
    pdnn_compare_append(out, &table);
    free(sorted);
}

/* How many there are with each pair of statuses, and the first of them. */
static void append_unpaired(struct pdnn_str *out, const struct pdnn_comparison *comparison) {
    static const struct pdnn_sheet_column columns[] = {{"A", PDNN_ALIGN_LEFT},
                                                       {"B", PDNN_ALIGN_LEFT},
                                                       {"instances", PDNN_ALIGN_RIGHT},
                                                       {"for example", PDNN_ALIGN_WRAP}};
    const struct pdnn_unpaired *unpaired = comparison->unpaired;
    struct pdnn_sheet table;
    if (!comparison->n_unpaired)
        return;
    pdnn_str_printf(out, "\nNot compared, because they did not end ok on both sides: %zu\n\n",
                    comparison->n_unpaired);
    pdnn_sheet_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < comparison->n_unpaired; i++) {
        size_t count = 0, first = comparison->n_unpaired;
        for (size_t k = 0; k < comparison->n_unpaired; k++) {
            if (strcmp(unpaired[i].status[0], unpaired[k].status[0]) != 0 ||
                strcmp(unpaired[i].status[1], unpaired[k].status[1]) != 0)
                continue;
            first = first < k ? first : k;
            count++;
            if (first < i)
                break;
        }
        if (first < i)
            continue;
        for (int side = 0; side < PDNN_SIDES; side++)
            pdnn_sheet_cell(&table, "%s", pdnn_compare_status_name(unpaired[i].status[side]));
        pdnn_sheet_cell(&table, "%zu", count);
        pdnn_sheet_cell(&table, "%s", unpaired[i].id);
    }
    pdnn_compare_append(out, &table);
}

void pdnn_compare_overview_text(struct pdnn_str *out, const struct pdnn_compared *compared) {
    append_head(out, &compared->comparison);
    append_summary(out, &compared->sums.group[0].sum);
    append_state(out, &compared->comparison);
    append_scopes(out, &compared->sums);
    append_ops(out, compared);
    append_extremes(out, compared);
    append_unpaired(out, &compared->comparison);
}
