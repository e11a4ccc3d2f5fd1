/* Two result directories side by side: the ratio of their step times, by results/compare/compare. */
#include "results/report/page.h"
#include "results/compare/compare_ops.h"
#include "results/compare/compare_sums.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct comparison {
    const struct pdnn_claim_data *data; /* with the pairs, and the names of their sides */
    const struct pdnn_sides *sides;
    struct pdnn_table groups, axes, ops;
    size_t n_with_ops;      /* pairs that have rows in ops.csv */
    struct pdnn_str others; /* of these, those with other implementations, in words */
};

static void put_headline(struct pdnn_str *out, struct comparison *c) {
    const size_t axis = pdnn_compare_best_axis(&c->axes, "");
    struct pdnn_str doubt = {0}, roofs = {0}, text = {0};
    const bool is_doubtful = pdnn_comparison_doubt(c->data->pairs, &doubt);
    if (is_doubtful)
        pdnn_str_printf(&text, "%s ", doubt.text);
    if (c->others.length)
        pdnn_str_printf(&c->others, " A is %s, B is %s.", c->data->name[PDNN_SIDE_A],
                        c->data->name[PDNN_SIDE_B]);
    if (c->others.length && !c->sides->by_intent)
        pdnn_str_printf(&text, "%s ", c->others.text);
    pdnn_compare_say(c->data->pairs, &c->groups, c->data->name, &text);
    pdnn_sides_say(c->sides, c->data->name, &roofs);
    if (roofs.length)
        pdnn_str_printf(&text, " %s", roofs.text);
    if (axis != SIZE_MAX)
        pdnn_str_printf(&text,
                        " The key that explains most of the differences is %s, %.0f %% of their variance.",
                        pdnn_table_text(&c->axes, axis, PDNN_COMPARE_AXIS_KEY),
                        pdnn_table_number(&c->axes, axis, PDNN_COMPARE_AXIS_ADJUSTED) * 100);
    if (c->others.length && c->sides->by_intent)
        pdnn_str_printf(&text, " %s", c->others.text);
    if (doubt.length && !is_doubtful)
        pdnn_str_printf(&text, " %s", doubt.text);
    pdnn_html_put(out, "<p>%s</p>\n", text.text);
    pdnn_str_finish(&doubt);
    pdnn_str_finish(&roofs);
    pdnn_str_finish(&text);
}

enum { OPS_SHOWN = 12, PAIRS_SHOWN = 50, UNPAIRED_SHOWN = 50 };

/* Kinds of op that change the speed-up by less are left out, apart from the first. */
static const double least_effect = 0.002;

/* The kinds of op that the difference comes from, of all families together. */
static void put_ops(struct pdnn_str *out, struct comparison *c) {
    static const size_t columns[] = {PDNN_COMPARE_OPS_KEYS + PDNN_BY_OP, PDNN_COMPARE_OPS_EFFECT,
                                     PDNN_COMPARE_OPS_A_SHARE, PDNN_COMPARE_OPS_B_SHARE};
    struct pdnn_table *ops = &c->ops;
    struct pdnn_row_list rows = {0};
    if (!c->n_with_ops)
        return;
    for (size_t i = 0; i < ops->n_rows && rows.count < OPS_SHOWN; i++)
        if (pdnn_table_is_empty(ops, i, PDNN_COMPARE_OPS_FAMILY) &&
            (!rows.count || !(fabs(pdnn_table_number(ops, i, PDNN_COMPARE_OPS_EFFECT) - 1) < least_effect)))
            pdnn_rows_add(&rows, i);
    ops->column[PDNN_COMPARE_OPS_EFFECT].def.title = "effect on the speed-up";
    for (size_t side = 0; side < PDNN_SIDES; side++) {
        struct pdnn_column_def *def = &ops->column[PDNN_COMPARE_OPS_A_SHARE + side].def;
        def->title = pdnn_arena_printf(&ops->names, "%% of the time, %s", c->data->name[side]);
        def->show = PDNN_SHOW_FACTOR;
    }
    pdnn_html_put_table(
        out, ops, &rows, columns, sizeof columns / sizeof *columns,
        "Where the difference comes from: the effects of all kinds of op multiply to the geometric "
        "mean of %zu models; those below 0.2 %% are left out.",
        c->n_with_ops);
    pdnn_rows_finish(&rows);
}

/* Rows that only one side has stay visible. */
static void put_unpaired(struct pdnn_str *out, const struct comparison *c) {
    static const size_t columns[] = {PDNN_UNPAIRED_ID, PDNN_UNPAIRED_A_STATUS, PDNN_UNPAIRED_B_STATUS};
    struct pdnn_table shown = c->data->pairs->unpaired;
    struct pdnn_row_list rows = pdnn_rows_all(&shown);
    if (rows.count > UNPAIRED_SHOWN)
        rows.count = UNPAIRED_SHOWN;
    for (size_t side = 0; side < PDNN_SIDES; side++) {
        shown.column[PDNN_UNPAIRED_A_STATUS + side].def.title = c->data->name[side];
        shown.column[PDNN_UNPAIRED_A_STATUS + side].def.blank = "no such row";
    }
    if (rows.count) {
        pdnn_str_printf(out, "<details><summary>Models without a ratio: %zu</summary>", shown.n_rows);
        pdnn_html_put_table(out, &shown, &rows, columns, sizeof columns / sizeof *columns,
                            rows.count < shown.n_rows ? "The first %zu" : "All %zu", rows.count);
        pdnn_str_printf(out, "</details>\n");
    }
    pdnn_rows_finish(&rows);
}

/* Before anything is said of times. */
static void put_sides(struct pdnn_str *out, const struct comparison *c) {
    static const size_t columns[] = {PDNN_SIDES_NAME, PDNN_SIDES_A, PDNN_SIDES_B, PDNN_SIDES_RATIO};
    struct pdnn_table shown = c->sides->differing;
    if (!shown.n_rows)
        return;
    for (size_t side = 0; side < PDNN_SIDES; side++)
        shown.column[PDNN_SIDES_A + side].def.title = c->data->name[side];
    shown.column[PDNN_SIDES_RATIO].def.title = "second over first";
    pdnn_html_put_table(out, &shown, NULL, columns, sizeof columns / sizeof *columns,
                        "What differs besides times: environments, and the roofs of the most threads.");
}

/* By ratio, those at both ends. */
static void put_pairs(struct pdnn_str *out, const struct comparison *c) {
    static const size_t columns[] = {PDNN_PAIR_ID,  PDNN_PAIR_A_NS,     PDNN_PAIR_B_NS,  PDNN_PAIR_RATIO,
                                     PDNN_PAIR_LOW, PDNN_PAIR_DECISION, PDNN_PAIR_BEYOND};
    struct pdnn_table shown = c->data->pairs->pairs;
    struct pdnn_row_list rows = pdnn_rows_all(&shown);
    const size_t n = rows.count;
    for (size_t side = 0; side < PDNN_SIDES; side++)
        shown.column[PDNN_PAIR_A_NS + side].def.title = c->data->name[side];
    shown.column[PDNN_PAIR_BEYOND].def.title = "beyond the roofs";
    if (!c->sides->n_projected)
        shown.column[PDNN_PAIR_BEYOND].def.show = PDNN_SHOW_NEVER;
    pdnn_rows_sort(&rows, &shown, &(struct pdnn_sort_key){PDNN_PAIR_RATIO, true}, 1);
    rows.count = 0;
    for (size_t i = 0; i < n; i++)
        if (i < PAIRS_SHOWN || n - i <= PAIRS_SHOWN)
            rows.at[rows.count++] = rows.at[i];
    pdnn_html_put_table(out, &shown, &rows, columns, sizeof columns / sizeof *columns,
                        rows.count < n ? "%zu of %zu pairs: the highest and the lowest speed-ups."
                                       : "%zu of %zu pairs, by their speed-ups.",
                        rows.count, n);
    pdnn_rows_finish(&rows);
}

/* "threads=1:4" for the least and the greatest number, "backend=onednn:openblas" for the first two words;
 * NULL if the key does not vary. */
static const char *across_key(struct pdnn_report_page *page, enum pdnn_setting setting) {
    const struct pdnn_selection *rows = &page->all;
    const char *name = pdnn_settings[setting].name, **value;
    const int column = pdnn_results_setting(&rows->results, setting);
    size_t count = pdnn_selection_distinct(rows, column, &page->arena, &value, NULL), words = 0;
    for (size_t i = 0; i < count; i++)
        if (*value[i])
            value[words++] = value[i];
    return words < 2 ? NULL
                     : pdnn_arena_printf(&page->arena, "%s=%s:%s", name, value[0],
                                         value[setting == PDNN_SETTING_THREADS ? words - 1 : 1]);
}

enum pdnn_status pdnn_report_comparison_open(struct pdnn_report_page *page, struct pdnn_err *err) {
    static const enum pdnn_setting platforms[] = {PDNN_SETTING_BACKEND, PDNN_SETTING_ISA,
                                                  PDNN_SETTING_THREADS};
    const bool two = page->data.n_sources > 1;
    struct pdnn_compare_request request = {
        {page->source[0].directory, page->source[1].directory}, .only = page->only, .n_only = page->n_only};
    enum pdnn_status status = two ? pdnn_comparison_open(&page->comparison, &request, err) : PDNN_INVALID;
    for (size_t k = 0; k < sizeof platforms / sizeof *platforms && !two && status == PDNN_INVALID; k++) {
        request.across = page->across = across_key(page, platforms[k]);
        if (request.across)
            status = pdnn_comparison_open(&page->comparison, &request, err);
    }
    if (status == PDNN_INVALID && two)
        snprintf(page->why_no_pairs, sizeof page->why_no_pairs, "%s", err->text);
    if (status == PDNN_OK) {
        page->data.pairs = &page->comparison;
        for (size_t side = 0; side < PDNN_SIDES; side++)
            page->data.name[side] = two ? page->source[side].name : page->comparison.label[side];
        return pdnn_sides_make(&page->sides, &page->comparison, page->data.readers, err);
    }
    return status == PDNN_INVALID ? PDNN_OK : status;
}

/* Directories that cannot be compared can still share a page, which says why. */
static void put(const struct pdnn_report_page *page, struct pdnn_str *out) {
    static const size_t columns[] = {
        PDNN_GROUP_FAMILY, PDNN_GROUP_KEY,    PDNN_GROUP_VALUE,  PDNN_GROUP_INSTANCES, PDNN_GROUP_MEAN,
        PDNN_GROUP_LOW,    PDNN_GROUP_FASTER, PDNN_GROUP_SLOWER, PDNN_GROUP_UNDECIDED, PDNN_GROUP_ABOVE_1};
    struct pdnn_plot_request request = pdnn_report_plot(page, PDNN_REPORT_ALL);
    struct comparison c = {.data = &page->data, .sides = &page->sides};
    const struct pdnn_comparison *pairs = page->data.pairs;
    if (!pairs && page->data.n_sources > 1)
        pdnn_html_put(out, "<p>The two cannot be compared: %s</p>\n", page->why_no_pairs);
    if (!pairs)
        return;
    pdnn_compare_sums(pairs, &c.groups, &c.axes);
    c.n_with_ops = pdnn_compare_ops(pairs, page->data.readers, &(struct pdnn_by_list){{PDNN_BY_OP}, 1},
                                    &c.ops, &c.others);
    put_sides(out, &c);
    put_headline(out, &c);
    request.across = page->across;
    request.comparison = pairs;
    pdnn_report_put_figure(page, "speedup", request, out);
    put_pairs(out, &c);
    put_ops(out, &c);
    pdnn_str_printf(out, "<details><summary>By family and by value of each key</summary>");
    pdnn_html_put_table(out, &c.groups, NULL, columns, sizeof columns / sizeof *columns,
                        "Geometric means of the speed-up with 95 %% intervals.");
    pdnn_str_printf(out, "</details>\n");
    put_unpaired(out, &c);
    pdnn_str_finish(&c.others);
    pdnn_table_finish(&c.ops);
    pdnn_table_finish(&c.groups);
    pdnn_table_finish(&c.axes);
}

const struct pdnn_report_section pdnn_section_comparison = {.title = "Comparison", .put = put};
