/* `paradnn plot speedup`: the ratios of a comparison (results/compare/compare.h) against a column, with a
 * line where both platforms are equally fast. */
#include "results/figures/picture.h"
#include "results/compare/compare_sums.h"

#include <math.h>
#include <string.h>

struct picture {
    struct pdnn_picture *in;
    int x, color;   /* columns */
    bool clear;     /* a pair of some comparison is faster or slower */
    size_t without; /* points without an interval */
};

/* What one comparison amounts to. */
struct sums {
    struct pdnn_table groups, axes;
    double faster, slower; /* pairs that clearly are */
};

static void sum_up(struct sums *sums, const struct pdnn_comparison *c) {
    pdnn_compare_sums(c, &sums->groups, &sums->axes);
    sums->faster = pdnn_table_number(&sums->groups, 0, PDNN_GROUP_FASTER);
    sums->slower = pdnn_table_number(&sums->groups, 0, PDNN_GROUP_SLOWER);
}

static void finish(struct sums *sums) {
    pdnn_table_finish(&sums->groups);
    pdnn_table_finish(&sums->axes);
}

/* The color is that of the first comparison's best key. */
static enum pdnn_status find_columns(struct picture *p, struct pdnn_err *err) {
    const struct pdnn_plot_request *request = p->in->request;
    const struct pdnn_results *results = &p->in->selection.results;
    struct sums sums;
    sum_up(&sums, &p->in->comparisons[0]);
    /* A key explains nothing where no ratio is clear. */
    const size_t best = sums.faster + sums.slower > 0 ? pdnn_compare_best_axis(&sums.axes, "") : SIZE_MAX;
    const char *color = request->color     ? request->color
                        : best != SIZE_MAX ? pdnn_table_text(&sums.axes, best, PDNN_COMPARE_AXIS_KEY)
                                           : "family";
    enum pdnn_status status =
        pdnn_results_ask(results, request->x ? request->x : "params", false, &p->x, err);
    if (status == PDNN_OK)
        status = pdnn_results_ask(results, color, false, &p->color, err);
    if (status == PDNN_OK)
        p->in->chart.color_title = pdnn_plot_axis(&p->in->arena, results, p->color);
    finish(&sums);
    return status;
}

/* Of several comparisons a point is side B's row. */
static void add_points(struct picture *p, size_t panel) {
    const struct pdnn_comparison *c = &p->in->comparisons[panel];
    const struct pdnn_table *pairs = &c->pairs;
    const bool several = p->in->n_comparisons > 1;
    const int x_side = pdnn_comparison_side(c, p->x), color_side = pdnn_comparison_side(c, p->color);
    p->in->left_out += c->unpaired.n_rows;
    for (size_t pair = 0; pair < pairs->n_rows; pair++) {
        const size_t at = c->at[pair][x_side], painted = c->at[pair][color_side];
        const double x = pdnn_selection_number(&c->selection, at, p->x);
        p->in->left_out += !(x > 0);
        if (!(x > 0))
            continue;
        const char *decision = pdnn_table_text(pairs, pair, PDNN_PAIR_DECISION),
                   *id = pdnn_table_text(pairs, pair, several ? PDNN_PAIR_B_ID : PDNN_PAIR_ID);
        const bool has_interval = !pdnn_table_is_empty(pairs, pair, PDNN_PAIR_LOW);
        struct pdnn_chart_point point = {.spot = {x, pdnn_pair_ratio(c, pair)},
                                         .doubtful = pdnn_plot_pair_notes(c, pair) & PDNN_NOTES_DOUBT,
                                         .dotted = has_interval && strcmp(decision, pdnn_undecided) == 0,
                                         .color = {pdnn_selection_get(&c->selection, painted, p->color),
                                                   pdnn_selection_number(&c->selection, painted, p->color)},
                                         .panel = panel};
        p->without += !has_interval;
        pdnn_chart_add_point(&p->in->chart, point);
        pdnn_table_set_text(&p->in->data, pdnn_table_add_row(&p->in->data), 0,
                            several ? pdnn_plot_side(c, PDNN_SIDE_B) : "");
        pdnn_picture_fill(p->in, several, id, pdnn_table_text(pairs, pair, PDNN_PAIR_FAMILY),
                          pdnn_selection_get(&c->selection, at, p->x),
                          pdnn_table_number(pairs, pair, PDNN_PAIR_RATIO),
                          pdnn_table_number(pairs, pair, PDNN_PAIR_LOW),
                          pdnn_table_number(pairs, pair, PDNN_PAIR_HIGH), decision, point.color.text);
    }
}

/* What a comparison amounts to: in the legend, or of several below each one's title. */
static void describe_panel(struct picture *p, size_t panel, const struct sums *sums) {
    const struct pdnn_table *groups = &sums->groups; /* all pairs in its first row */
    struct pdnn_arena *arena = &p->in->arena;
    const double count = pdnn_table_number(groups, 0, PDNN_GROUP_INSTANCES);
    const char *number[3], *note[4] = {NULL};
    for (size_t k = 0; k < 3; k++)
        number[k] = pdnn_plot_ratio(arena, pdnn_table_number(groups, 0, PDNN_GROUP_MEAN + k));
    note[0] = pdnn_arena_printf(arena, "geometric mean %s", number[0]);
    if (*number[1] && *number[2])
        note[1] = pdnn_arena_printf(arena, "   95 %%: %s to %s", number[1], number[2]);
    note[2] = pdnn_arena_printf(arena, "%.0f %% of %.0f above 1",
                                100 * pdnn_table_number(groups, 0, PDNN_GROUP_ABOVE_1) / count, count);
    if (!isnan(sums->faster))
        note[3] = pdnn_arena_printf(arena, "clearly: %.0f faster, %.0f slower", sums->faster, sums->slower);
    for (size_t k = 0; k < 4; k++) {
        if (!note[k])
            continue;
        pdnn_picture_note(p->in, panel, note[k]);
    }
}

static void describe(struct picture *p) {
    const struct pdnn_comparison *c = p->in->comparisons;
    struct pdnn_chart *chart = &p->in->chart;
    static const char *const no_dot[2][2] = {
        {NULL, "there is no interval"},
        {"the interval excludes 1", "the interval excludes 1, or there is none"}};
    chart->x_title = pdnn_plot_axis(&p->in->arena, &c->selection.results, p->x);
    chart->y_title = pdnn_plot_ratio_axis(&p->in->arena, "step time", c, p->in->n_comparisons);
    chart->caption =
        pdnn_arena_printf(&p->in->arena,
                          "Each point is one model that both ran. Above the line the second "
                          "platform is faster. Intervals: 95 %%%s.",
                          pdnn_comparison_are_apart(c) ? ", without what shifts a whole run" : "");
    chart->no_dot = no_dot[p->clear][p->without > 0];
    chart->dot = chart->no_dot ? "the interval contains 1" : "every interval contains 1";
    if (p->without == chart->n_points)
        pdnn_chart_note(chart, "no ratio has an interval");
    pdnn_chart_line_at_1(chart);
}

static enum pdnn_status draw(struct pdnn_picture *picture, struct pdnn_err *err) {
    struct picture p = {.in = picture};
    if (pdnn_picture_compare_panels(picture, "Speed-up", err) != PDNN_OK || find_columns(&p, err) != PDNN_OK)
        return err->status;
    pdnn_picture_table(picture, picture->n_comparisons > 1
                                    ? PDNN_RESULTS_KEY " id family x #speedup #low #high decision color"
                                    : "id family x #speedup #low #high decision color");
    struct sums *sums = pdnn_arena_alloc(&picture->arena, picture->n_comparisons, sizeof *sums);
    for (size_t k = 0; k < picture->n_comparisons; k++) {
        add_points(&p, k);
        sum_up(&sums[k], &picture->comparisons[k]);
        p.clear = p.clear || sums[k].faster + sums[k].slower > 0;
    }
    describe(&p);
    for (size_t k = 0; k < picture->n_comparisons; k++) {
        describe_panel(&p, k, &sums[k]);
        finish(&sums[k]);
    }
    return PDNN_OK;
}

const struct pdnn_plot_def pdnn_plot_speedup = {
    .name = "speedup",
    .help =
        "the ratio of two platforms' step times against --x (default: params), as `paradnn compare` pairs "
        "models of RESULTS, a panel for each beside the first; --across what is to differ, --color (default: "
        "the key that explains the ratios best), --only",
    .options = (const char *const[]){"across", "x", "color", "only", NULL},
    .drawn = "pairs",
    .left_out_as = "models without a pair or a number",
    .of = PDNN_PLOT_PAIRS,
    .none = "no pair has a positive number in the column of --x",
    .draw = draw,
};
