/* `paradnn plot op_speedup`: the ratio of two platforms' times for each op of each model, against its
 * operational intensity. */
#include "models/zoo/catalog.h"
#include "results/figures/op_kinds.h"
#include "results/figures/picture.h"
#include "results/compare/compare_ops.h"

#include <math.h>

#define COLUMNS "id family op layer op_pass #intensity_flop_per_byte #speedup #share_pct_a #share_pct_b kind"

struct picture {
    struct pdnn_picture *in;
    struct pdnn_op_kinds kinds; /* with the logarithms of their ratios */
};

static void add_op(struct picture *p, size_t panel, size_t number, const struct pdnn_op_record *a,
                   const struct pdnn_op_record *b) {
    const struct pdnn_comparison *c = &p->in->comparisons[panel];
    const bool several = p->in->n_comparisons > 1;
    const double share_a = a->time_ns_median / pdnn_pair_ns(c, number, PDNN_SIDE_A) * 100,
                 share_b = b ? b->time_ns_median / pdnn_pair_ns(c, number, PDNN_SIDE_B) * 100 : 0,
                 x = a->place.intensity_flop_per_byte;
    if (!b || !(a->time_ns_median > 0) || !(b->time_ns_median > 0) || !(x > 0) ||
        fmax(share_a, share_b) < PDNN_OP_LEAST_SHARE_PCT) {
        p->in->left_out++;
        return;
    }
    const char *family = pdnn_table_text(&c->pairs, number, PDNN_PAIR_FAMILY);
    const double ratio = a->time_ns_median / b->time_ns_median;
    const size_t kind = pdnn_op_kinds_add(&p->kinds, pdnn_family_find(family), a, panel, log(ratio));
    struct pdnn_chart_point point =
        pdnn_op_point(&p->kinds, kind, (struct pdnn_spot){x, ratio}, fmax(share_a, share_b));
    point.doubtful = pdnn_plot_pair_notes(c, number) & PDNN_NOTES_DOUBT;
    point.panel = panel;
    pdnn_chart_add_point(&p->in->chart, point);
    pdnn_table_set_text(&p->in->data, pdnn_table_add_row(&p->in->data), 0,
                        several ? pdnn_plot_side(c, PDNN_SIDE_B) : "");
    pdnn_picture_fill(p->in, several,
                      pdnn_table_text(&c->pairs, number, several ? PDNN_PAIR_B_ID : PDNN_PAIR_ID), family,
                      a->op, a->layer, a->pass, x, ratio, share_a, share_b, point.color.text);
}

static void describe(struct picture *p) {
    struct pdnn_chart *chart = &p->in->chart;
    chart->x_title = "operational intensity (FLOP per byte of compulsory traffic)";
    chart->y_title = pdnn_plot_ratio_axis(&p->in->arena, "time", p->in->comparisons, p->in->n_comparisons);
    chart->color_title = "kind: geometric mean";
    chart->caption =
        "Each point is one op of one model that both ran. Above the line the second platform is faster.\n"
        "Shares below 1 % on both sides, ops without arithmetic, and those of one side are left out.";
    pdnn_op_kinds_legend(&p->kinds, false, chart);
    pdnn_chart_line_at_1(chart);
}

static void add_comparison(struct picture *p, size_t panel) {
    const struct pdnn_comparison *c = &p->in->comparisons[panel];
    struct pdnn_arena arena = {0};
    for (size_t pair = 0; pair < c->pairs.n_rows; pair++) {
        pdnn_arena_reset(&arena);
        const struct pdnn_pair_ops ops = pdnn_pair_ops(c, pair, p->in->ops, &arena);
        for (size_t i = 0; i < ops.side[PDNN_SIDE_A].count; i++)
            add_op(p, panel, pair, &ops.side[PDNN_SIDE_A].op[i], ops.other[i]);
    }
    pdnn_arena_finish(&arena);
}

static enum pdnn_status draw(struct pdnn_picture *picture, struct pdnn_err *err) {
    struct picture p = {.in = picture};
    const char *by = picture->request->by;
    enum pdnn_status status = pdnn_picture_compare_panels(picture, "Ops: speed-up", err);
    if (status == PDNN_OK)
        status = pdnn_by_parse(by ? by : "op", &p.kinds.by, err);
    if (status != PDNN_OK)
        return status;
    p.kinds.n_sources = picture->n_comparisons;
    pdnn_picture_table(picture, picture->n_comparisons > 1 ? PDNN_RESULTS_KEY " " COLUMNS : COLUMNS);
    for (size_t k = 0; k < picture->n_comparisons; k++)
        add_comparison(&p, k);
    describe(&p);
    pdnn_op_kinds_finish(&p.kinds);
    return PDNN_OK;
}

const struct pdnn_plot_def pdnn_plot_op_speedup = {
    .name = "op_speedup",
    .help =
        "the ratio of two platforms' times for each op that takes at least 1 % of its model's time, against "
        "its operational intensity, a panel for each of RESULTS beside the first; --across what is to differ, "
        "--by op (the default), category, group, pass, layer or a combination colors them, --only",
    .options = (const char *const[]){"across", "by", "only", NULL},
    .drawn = "ops",
    .left_out_as = "ops of one side, with a small share or without arithmetic",
    .of = PDNN_PLOT_PAIRS,
    .reads_ops = true,
    .none = "ops.csv: no op with arithmetic has a time on both sides",
    .draw = draw,
};
