/* `paradnn plot speedup`: the ratios of a comparison (results/compare/compare.h) against a column, with a
 * line where both platforms are equally fast. */
#include "results/figures/picture.h"
#include "results/compare/compare_sums.h"

#include <string.h>

struct picture {
    struct pdnn_picture *in;
    struct pdnn_table groups, axes;
    int x, color;          /* columns */
    double faster, slower; /* pairs that clearly are */
    size_t without;        /* points without an interval */
};

static enum pdnn_status find_columns(struct picture *p, struct pdnn_err *err) {
    const struct pdnn_plot_request *request = p->in->request;
    const struct pdnn_results *results = &p->in->comparison.selection.results;
    /* A key explains nothing where no ratio is clear. */
    const size_t best = p->faster + p->slower > 0 ? pdnn_compare_best_axis(&p->axes, "") : SIZE_MAX;
    const char *color = request->color     ? request->color
                        : best != SIZE_MAX ? pdnn_table_text(&p->axes, best, PDNN_COMPARE_AXIS_KEY)
                                           : "family";
    if (pdnn_results_ask(results, request->x ? request->x : "params", false, &p->x, err) != PDNN_OK ||
        pdnn_results_ask(results, color, false, &p->color, err) != PDNN_OK)
        return err->status;
    p->in->chart.color_title = pdnn_plot_axis(&p->in->arena, results, p->color);
    return PDNN_OK;
}

static void collect_points(struct picture *p) {
    const struct pdnn_comparison *c = &p->in->comparison;
    const struct pdnn_table *pairs = &c->pairs;
    const int x_side = pdnn_comparison_side(c, p->x), color_side = pdnn_comparison_side(c, p->color);
    p->in->left_out = c->unpaired.n_rows;
    pdnn_picture_table(p->in, "id family x #speedup #low #high decision color");
    for (size_t pair = 0; pair < pairs->n_rows; pair++) {
        const size_t at = c->at[pair][x_side], painted = c->at[pair][color_side];
        const double x = pdnn_selection_number(&c->selection, at, p->x);
        p->in->left_out += !(x > 0);
        if (!(x > 0))
            continue;
        const char *decision = pdnn_table_text(pairs, pair, PDNN_PAIR_DECISION);
        const bool has_interval = !pdnn_table_is_empty(pairs, pair, PDNN_PAIR_LOW);
        p->without += !has_interval;
        pdnn_picture_point(
            p->in,
            (struct pdnn_chart_point){.spot = {x, pdnn_pair_ratio(c, pair)},
                                      .doubtful = pdnn_plot_pair_notes(c, pair) & PDNN_NOTES_DOUBT,
                                      .dotted = has_interval && strcmp(decision, pdnn_undecided) == 0,
                                      .color = {pdnn_selection_get(&c->selection, painted, p->color),
                                                pdnn_selection_number(&c->selection, painted, p->color)}},
            pdnn_table_text(pairs, pair, PDNN_PAIR_ID), pdnn_table_text(pairs, pair, PDNN_PAIR_FAMILY),
            pdnn_selection_get(&c->selection, at, p->x), pdnn_table_number(pairs, pair, PDNN_PAIR_RATIO),
            pdnn_table_number(pairs, pair, PDNN_PAIR_LOW), pdnn_table_number(pairs, pair, PDNN_PAIR_HIGH),
            decision);
    }
}

static void describe(struct picture *p) {
    const struct pdnn_comparison *c = &p->in->comparison;
    struct pdnn_chart *chart = &p->in->chart;
    const struct pdnn_table *groups = &p->groups; /* all pairs in its first row */
    static const char *const no_dot[2][2] = {
        {NULL, "there is no interval"},
        {"the interval excludes 1", "the interval excludes 1, or there is none"}};
    const bool clear = p->faster + p->slower > 0;
    const double count = pdnn_table_number(groups, 0, PDNN_GROUP_INSTANCES);
    const char *number[3];
    for (size_t k = 0; k < 3; k++)
        number[k] = pdnn_plot_ratio(&p->in->arena, pdnn_table_number(groups, 0, PDNN_GROUP_MEAN + k));
    chart->titles[0] = pdnn_plot_compare_titles(&p->in->arena, "Speed-up", c);
    chart->x_title = pdnn_plot_axis(&p->in->arena, &c->selection.results, p->x);
    chart->y_title = pdnn_plot_ratio_axis(&p->in->arena, "step time", c);
    chart->caption =
        pdnn_arena_printf(&p->in->arena,
                          "Each point is one model that both ran. Above the line the second "
                          "platform is faster. Intervals: 95 %%%s.",
                          pdnn_comparison_are_apart(c) ? ", without what shifts a whole run" : "");
    chart->no_dot = no_dot[clear][p->without > 0];
    chart->dot = chart->no_dot ? "the interval contains 1" : "every interval contains 1";
    if (p->without == chart->n_points)
        pdnn_chart_note(chart, "no ratio has an interval");
    pdnn_chart_line_at_1(chart);
    pdnn_chart_note(chart, "geometric mean %s", number[0]);
    if (*number[1] && *number[2])
        pdnn_chart_note(chart, "   95 %%: %s to %s", number[1], number[2]);
    pdnn_chart_note(chart, "%.0f %% of %.0f above 1",
                    100 * pdnn_table_number(groups, 0, PDNN_GROUP_ABOVE_1) / count, count);
    if (p->without < chart->n_points)
        pdnn_chart_note(chart, "clearly: %.0f faster, %.0f slower", p->faster, p->slower);
}

static enum pdnn_status draw(struct pdnn_picture *picture, struct pdnn_err *err) {
    struct picture p = {.in = picture};
    pdnn_compare_sums(&picture->comparison, &p.groups, &p.axes);
    p.faster = pdnn_table_number(&p.groups, 0, PDNN_GROUP_FASTER);
    p.slower = pdnn_table_number(&p.groups, 0, PDNN_GROUP_SLOWER);
    const enum pdnn_status status = find_columns(&p, err);
    if (status == PDNN_OK) {
        collect_points(&p);
        describe(&p);
    }
    pdnn_table_finish(&p.groups);
    pdnn_table_finish(&p.axes);
    return status;
}

const struct pdnn_plot_def pdnn_plot_speedup = {
    .name = "speedup",
    .help =
        "the ratio of two platforms' step times against --x (default: params), as `paradnn compare` pairs "
        "models of one or two RESULTS; --across what is to differ, --color (default: the key that explains "
        "the ratios best), --only",
    .options = (const char *const[]){"across", "x", "color", "only", NULL},
    .directories_max = 2,
    .drawn = "pairs",
    .left_out_as = "models without a pair or a number",
    .of = PDNN_PLOT_PAIRS,
    .none = "no pair has a positive number in the column of --x",
    .draw = draw,
};
