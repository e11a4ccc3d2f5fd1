/* The first result directory beside each other one: the ratio of their step times, by results/compare. */
#include "base/memory.h"
#include "models/varying.h"
#include "results/compare/compared.h"
#include "results/compare/settle.h"
#include "results/report/page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct comparison {
    const struct pdnn_report_page *page;
    struct pdnn_compared found;
};

/* What a side is called on the page; 0 is the base. */
static const char *name_of(const struct comparison *c, size_t side) {
    const struct pdnn_claim_pairs *pairs = c->page->data.pairs;
    return side ? pairs[side - 1].name[PDNN_SIDE_B] : pairs[0].name[PDNN_SIDE_A];
}

static void put_headline(struct pdnn_str *out, struct comparison *c, size_t i) {
    const struct pdnn_compared_side *side = &c->found.side[i];
    const struct pdnn_side *differs = &c->page->sides.of[i];
    const char *const *name = c->page->data.pairs[i].name;
    const size_t axis = pdnn_compare_best_axis(&side->axes, "");
    struct pdnn_str doubt = {0}, roofs = {0}, text = {0}, others = {0};
    const bool is_doubtful = pdnn_comparison_doubt(side->of, &doubt);
    if (is_doubtful)
        pdnn_str_printf(&text, "%s ", doubt.text);
    if (side->others.length)
        pdnn_str_printf(&others, "%s A is %s, %s is %s.", side->others.text, name[PDNN_SIDE_A], side->name,
                        name[PDNN_SIDE_B]);
    if (others.length && !differs->by_intent)
        pdnn_str_printf(&text, "%s ", others.text);
    pdnn_compare_say(side->of, &side->groups, name, &text);
    pdnn_sides_say(differs, name, &roofs);
    if (roofs.length)
        pdnn_str_printf(&text, " %s", roofs.text);
    if (axis != SIZE_MAX)
        pdnn_str_printf(&text,
                        " The key that explains most of the differences is %s, %.0f %% of their variance.",
                        pdnn_table_text(&side->axes, axis, PDNN_COMPARE_AXIS_KEY),
                        pdnn_table_number(&side->axes, axis, PDNN_COMPARE_AXIS_ADJUSTED) * 100);
    if (others.length && differs->by_intent)
        pdnn_str_printf(&text, " %s", others.text);
    if (doubt.length && !is_doubtful)
        pdnn_str_printf(&text, " %s", doubt.text);
    if (c->found.n > 1)
        pdnn_html_put(out, "<p><b>%s</b>: %s</p>\n", name[PDNN_SIDE_B], text.text);
    else
        pdnn_html_put(out, "<p>%s</p>\n", text.text);
    pdnn_str_finish(&doubt);
    pdnn_str_finish(&roofs);
    pdnn_str_finish(&text);
    pdnn_str_finish(&others);
}

enum { OPS_SHOWN = 12, PAIRS_SHOWN = 50, UNPAIRED_SHOWN = 50 };

/* Kinds of op that change every speed-up by less are left out, apart from the first. */
static const double least_effect = 0.002;

/* Gives that column of a side its title, with the side's name for %s. */
static void set_title(const struct comparison *c, struct pdnn_table *table, const struct pdnn_beside *beside,
                      size_t column, size_t side, const char *before) {
    table->column[pdnn_beside_column(beside, c->found.n, column, side ? side : 1)].def.title =
        pdnn_arena_printf(&table->names, "%s%s", before, name_of(c, side));
}

static bool has_effect(const struct comparison *c, size_t row) {
    bool has = false;
    for (size_t side = 1; side <= c->found.n; side++) {
        const size_t effect =
            pdnn_beside_column(&pdnn_compare_ops_beside, c->found.n, PDNN_COMPARE_OPS_EFFECT, side);
        has = has || !(fabs(pdnn_table_number(&c->found.ops, row, effect) - 1) < least_effect);
    }
    return has;
}

/* The kinds of op that the difference comes from, of all families together. */
static void put_ops(struct pdnn_str *out, struct comparison *c) {
    const size_t n = c->found.n;
    struct pdnn_table *ops = &c->found.ops;
    struct pdnn_row_list rows = {0};
    size_t n_with_ops = 0, count = 0, *columns = pdnn_alloc(2 * n + 2, sizeof *columns);
    struct pdnn_str models = {0};
    for (size_t i = 0; i < n; i++) {
        n_with_ops += c->found.side[i].n_op_pairs;
        pdnn_str_printf(&models, "%s%zu", !i ? "" : i + 1 < n ? ", " : " and ", c->found.side[i].n_op_pairs);
    }
    for (size_t i = 0; i < ops->n_rows && rows.count < OPS_SHOWN; i++)
        if (pdnn_table_is_empty(ops, i, PDNN_COMPARE_OPS_FAMILY) && (!rows.count || has_effect(c, i)))
            pdnn_rows_add(&rows, i);
    columns[count++] = PDNN_COMPARE_OPS_KEYS + PDNN_BY_OP;
    for (size_t side = 1; side <= n; side++) {
        columns[count++] = pdnn_beside_column(&pdnn_compare_ops_beside, n, PDNN_COMPARE_OPS_EFFECT, side);
        if (n > 1)
            set_title(c, ops, &pdnn_compare_ops_beside, PDNN_COMPARE_OPS_EFFECT, side,
                      "effect on the speed-up, ");
        else
            ops->column[columns[1]].def.title = "effect on the speed-up";
    }
    for (size_t side = 0; side <= n; side++) {
        const size_t of = side ? PDNN_COMPARE_OPS_B_SHARE : PDNN_COMPARE_OPS_A_SHARE;
        columns[count] = pdnn_beside_column(&pdnn_compare_ops_beside, n, of, side ? side : 1);
        set_title(c, ops, &pdnn_compare_ops_beside, of, side, "% of the time, ");
        ops->column[columns[count++]].def.show = PDNN_SHOW_FACTOR;
    }
    if (n_with_ops)
        pdnn_html_put_table(
            out, ops, &rows, columns, count,
            "Where the difference comes from: the effects of all kinds of op multiply to the geometric "
            "mean of %s models; those below 0.2 %% are left out.",
            pdnn_str_text(&models));
    pdnn_str_finish(&models);
    pdnn_rows_finish(&rows);
    free(columns);
}

/* Rows that only some sides have stay visible. */
static void put_unpaired(struct pdnn_str *out, struct comparison *c) {
    static const size_t shown[] = {PDNN_UNPAIRED_ID, PDNN_UNPAIRED_A_STATUS, PDNN_UNPAIRED_B_STATUS};
    const size_t n = c->found.n;
    struct pdnn_table *unpaired = &c->found.unpaired;
    struct pdnn_row_list rows = pdnn_rows_all(unpaired);
    size_t *columns = pdnn_alloc(3 * n, sizeof *columns);
    const size_t count = pdnn_beside_columns(&pdnn_unpaired_beside, n, shown, 3, columns);
    if (rows.count > UNPAIRED_SHOWN)
        rows.count = UNPAIRED_SHOWN;
    for (size_t side = 0; side <= n; side++) {
        const size_t of = side ? PDNN_UNPAIRED_B_STATUS : PDNN_UNPAIRED_A_STATUS;
        set_title(c, unpaired, &pdnn_unpaired_beside, of, side, "");
        unpaired->column[columns[1 + side]].def.blank = "no such row";
    }
    if (rows.count) {
        pdnn_str_printf(out, "<details><summary>Models without a ratio: %zu</summary>", unpaired->n_rows);
        pdnn_html_put_table(out, unpaired, &rows, columns, count,
                            rows.count < unpaired->n_rows ? "The first %zu" : "All %zu", rows.count);
        pdnn_str_printf(out, "</details>\n");
    }
    pdnn_rows_finish(&rows);
    free(columns);
}

/* Before anything is said of times. */
static void put_sides(struct pdnn_str *out, const struct comparison *c) {
    const size_t n = c->found.n;
    struct pdnn_table shown = c->page->sides.differing;
    size_t *columns = pdnn_alloc(2 * n + 2, sizeof *columns);
    for (size_t k = 0; k < 2 * n + 2; k++)
        columns[k] = PDNN_SIDES_NAME + k;
    for (size_t side = 0; side <= n && shown.n_rows; side++) {
        shown.column[PDNN_SIDES_A + side].def.title = name_of(c, side);
        if (side)
            shown.column[PDNN_SIDES_A + n + side].def.title =
                n > 1 ? pdnn_arena_printf(&shown.names, "%s over %s", name_of(c, side), name_of(c, 0))
                      : "second over first";
    }
    if (shown.n_rows)
        pdnn_html_put_table(out, &shown, NULL, columns, 2 * n + 2,
                            "What differs besides times: environments, and the roofs of the most threads.");
    free(columns);
}

/* Gives the rows their names, without the keys that differ between the sides of a single source. */
static void name_rows(const struct comparison *c, struct pdnn_table *table, size_t ids, size_t names) {
    const struct pdnn_comparison *of = c->page->data.pairs[0].of;
    struct pdnn_varying varying = {0};
    for (int is_named = 0; is_named < 2; is_named++) {
        for (size_t row = 0; row < table->n_rows; row++) {
            struct pdnn_instance instance;
            char label[PDNN_ID_TEXT];
            if (pdnn_instance_parse(pdnn_table_text(table, row, ids), &instance, NULL) != PDNN_OK)
                continue;
            if (is_named)
                pdnn_table_set_text(table, row, names, pdnn_varying_label(&varying, &instance, label));
            else
                pdnn_varying_add(&varying, &instance);
        }
        for (size_t k = 0; k < of->across.count; k++)
            pdnn_varying_leave_out(&varying, pdnn_results_name(&of->selection.results, of->across.column[k]));
    }
    pdnn_varying_finish(&varying);
}

/* By the ratio of the first other side, those at both ends. */
static void put_pairs(struct pdnn_str *out, struct comparison *c) {
    static const size_t shown[] = {PDNN_PAIR_ID,  PDNN_PAIR_A_NS,     PDNN_PAIR_B_NS,  PDNN_PAIR_RATIO,
                                   PDNN_PAIR_LOW, PDNN_PAIR_DECISION, PDNN_PAIR_BEYOND};
    const size_t n = c->found.n;
    struct pdnn_table *pairs = &c->found.pairs;
    struct pdnn_row_list rows = pdnn_rows_all(pairs);
    const size_t n_rows = rows.count, ratio = pdnn_beside_column(&pdnn_pairs_beside, n, PDNN_PAIR_RATIO, 1);
    size_t *columns = pdnn_alloc(7 * n, sizeof *columns);
    const size_t count = pdnn_beside_columns(&pdnn_pairs_beside, n, shown, 7, columns);
    name_rows(c, pairs, pdnn_beside_column(&pdnn_pairs_beside, n, PDNN_PAIR_A_ID, 1),
              pdnn_beside_column(&pdnn_pairs_beside, n, PDNN_PAIR_ID, 1));
    set_title(c, pairs, &pdnn_pairs_beside, PDNN_PAIR_A_NS, 0, "");
    for (size_t side = 1; side <= n; side++) {
        const struct {
            size_t column;
            const char *title;
        } titles[] = {{PDNN_PAIR_RATIO, "ratio"},
                      {PDNN_PAIR_LOW, pdnn_comparison_interval(c->page->data.pairs[side - 1].of)},
                      {PDNN_PAIR_DECISION, "decision"},
                      {PDNN_PAIR_BEYOND, "beyond the roofs"}};
        set_title(c, pairs, &pdnn_pairs_beside, PDNN_PAIR_B_NS, side, "");
        for (size_t k = 0; k < sizeof titles / sizeof *titles; k++)
            pairs->column[pdnn_beside_column(&pdnn_pairs_beside, n, titles[k].column, side)].def.title =
                titles[k].title;
        if (!c->page->sides.of[side - 1].n_projected)
            pairs->column[pdnn_beside_column(&pdnn_pairs_beside, n, PDNN_PAIR_BEYOND, side)].def.show =
                PDNN_SHOW_NEVER;
    }
    pdnn_rows_sort(&rows, pairs, &(struct pdnn_sort_key){ratio, true}, 1);
    rows.count = 0;
    for (size_t i = 0; i < n_rows; i++)
        if (i < PAIRS_SHOWN || n_rows - i <= PAIRS_SHOWN)
            rows.at[rows.count++] = rows.at[i];
    pdnn_html_put_table(out, pairs, &rows, columns, count,
                        rows.count < n_rows ? "%zu of %zu pairs: the highest and the lowest speed-ups."
                                            : "%zu of %zu pairs, by their speed-ups.",
                        rows.count, n_rows);
    pdnn_rows_finish(&rows);
    free(columns);
}

static void put_groups(struct pdnn_str *out, struct comparison *c) {
    static const size_t shown[] = {
        PDNN_GROUP_FAMILY, PDNN_GROUP_KEY,    PDNN_GROUP_VALUE,  PDNN_GROUP_INSTANCES, PDNN_GROUP_MEAN,
        PDNN_GROUP_LOW,    PDNN_GROUP_FASTER, PDNN_GROUP_SLOWER, PDNN_GROUP_UNDECIDED, PDNN_GROUP_ABOVE_1};
    const size_t n = c->found.n;
    size_t *columns = pdnn_alloc(10 * n, sizeof *columns);
    const size_t count = pdnn_beside_columns(&pdnn_groups_beside, n, shown, n > 1 ? 8 : 10, columns);
    for (size_t side = 1; side <= n && n > 1; side++)
        set_title(c, &c->found.groups, &pdnn_groups_beside, PDNN_GROUP_MEAN, side, "mean of ");
    for (size_t side = 1; side <= n && n > 1; side++)
        for (size_t k = 3; k < 8; k++)
            if (shown[k] != PDNN_GROUP_MEAN) {
                struct pdnn_column_def *def =
                    &c->found.groups.column[pdnn_beside_column(&pdnn_groups_beside, n, shown[k], side)].def;
                def->title = pdnn_column_title(&c->found.side[0].groups.column[shown[k]].def);
            }
    pdnn_str_printf(out, "<details><summary>By family and by value of each key</summary>");
    pdnn_html_put_table(out, &c->found.groups, NULL, columns, count,
                        "Geometric means of the speed-up with 95 %% intervals.");
    pdnn_str_printf(out, "</details>\n");
    free(columns);
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

/* In a single source, by the first key that pairs its rows. */
static enum pdnn_status compare_within(struct pdnn_report_page *page, struct pdnn_err *err) {
    static const enum pdnn_setting platforms[] = {PDNN_SETTING_LIBRARY, PDNN_SETTING_BACKEND,
                                                  PDNN_SETTING_ISA, PDNN_SETTING_THREADS};
    enum pdnn_status status = PDNN_INVALID;
    for (size_t k = 0; k < sizeof platforms / sizeof *platforms && pdnn_comparison_is_refused(status); k++) {
        page->across = across_key(page, platforms[k]);
        if (page->across)
            status = pdnn_comparison_make(page->comparison, &page->all, 0, page->across, err);
    }
    page->data.n_pairs = status == PDNN_OK;
    return status == PDNN_OK ? pdnn_comparison_settle(page->comparison, err) : status;
}

/* Each other source with the first; those that cannot be compared are told. */
static enum pdnn_status compare_sources(struct pdnn_report_page *page, struct pdnn_err *err) {
    for (size_t other = 1; other < page->data.n_sources; other++) {
        struct pdnn_err why = {0};
        struct pdnn_comparison *made = &page->comparison[page->data.n_pairs];
        enum pdnn_status status = pdnn_comparison_make(made, &page->all, other, NULL, &why);
        const bool is_made = status == PDNN_OK;
        page->data.n_pairs += is_made;
        status = is_made ? pdnn_comparison_settle(made, &why) : status;
        if (status != PDNN_OK && (is_made || !pdnn_comparison_is_refused(status))) {
            *err = why;
            return status;
        }
        if (is_made)
            page->paired[page->data.n_pairs] = page->source[other].directory;
        else
            pdnn_html_put(&page->why_no_pairs, "<p>%s and %s cannot be compared: %s</p>\n",
                          page->source[0].name, page->source[other].name, why.text);
    }
    return PDNN_OK;
}

enum pdnn_status pdnn_report_comparison_open(struct pdnn_report_page *page, struct pdnn_err *err) {
    const size_t n = page->data.n_sources;
    page->comparison = pdnn_arena_alloc(&page->arena, n, sizeof *page->comparison);
    page->paired = pdnn_arena_alloc(&page->arena, n, sizeof *page->paired);
    page->paired[0] = page->source[0].directory;
    const enum pdnn_status status = n > 1 ? compare_sources(page, err) : compare_within(page, err);
    struct pdnn_claim_pairs *pairs = pdnn_arena_alloc(&page->arena, n, sizeof *pairs);
    for (size_t i = 0; i < page->data.n_pairs; i++) {
        pairs[i].of = &page->comparison[i];
        for (size_t side = 0; side < PDNN_SIDES; side++)
            pairs[i].name[side] =
                n > 1 ? page->source[pairs[i].of->source[side]].name : pairs[i].of->label[side];
    }
    page->data.pairs = pairs;
    if (page->data.n_pairs)
        return pdnn_sides_make(&page->sides, page->comparison, page->data.n_pairs, page->data.readers, err);
    return pdnn_comparison_is_refused(status) ? PDNN_OK : status;
}

/* Directories that cannot be compared can still share a page, which says why. */
static void put(const struct pdnn_report_page *page, struct pdnn_str *out) {
    const bool is_all = page->data.n_pairs + 1 >= page->data.n_sources;
    struct pdnn_plot_request request = pdnn_report_plot(page, PDNN_REPORT_ALL);
    struct comparison c = {.page = page};
    pdnn_str_append(out, pdnn_str_text(&page->why_no_pairs), page->why_no_pairs.length);
    if (!page->data.n_pairs)
        return;
    pdnn_compared_make(&c.found, page->comparison, page->data.n_pairs, page->data.readers,
                       &(struct pdnn_by_list){{PDNN_BY_OP}, 1});
    put_sides(out, &c);
    for (size_t i = 0; i < c.found.n; i++)
        put_headline(out, &c, i);
    request.across = page->across;
    if (!is_all) {
        request.directory = page->paired;
        request.n_directories = 1 + page->data.n_pairs;
        request.selection = NULL;
    }
    pdnn_report_put_figure(page, "speedup", request, out);
    put_pairs(out, &c);
    put_ops(out, &c);
    put_groups(out, &c);
    put_unpaired(out, &c);
    pdnn_compared_finish(&c.found);
}

const struct pdnn_report_section pdnn_section_comparison = {.title = "Comparison", .put = put};
