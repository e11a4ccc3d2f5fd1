/* `paradnn plot ops`: the measured roofs and one point per op of each model, larger where it takes more of
 * the model's time. */
#include "models/zoo/catalog.h"
#include "results/figures/op_kinds.h"
#include "results/figures/roofs.h"
#include "results/query/shares.h"

#include <math.h>

struct picture {
    struct pdnn_picture *in;
    struct pdnn_roof_panels roofs;
    struct pdnn_op_kinds kinds; /* with their times */
};

static void add_op(struct picture *p, size_t at, const struct pdnn_family_def *family,
                   const struct pdnn_op_record *op) {
    struct pdnn_spot spot = {op->place.intensity_flop_per_byte, op->place.gflops};
    if (!(op->time_ns_median > 0))
        return;
    const double share = op->time_ns_median / pdnn_selection_step_ns(&p->in->selection, at) * 100;
    const size_t kind = pdnn_op_kinds_add(&p->kinds, family, op, pdnn_selection_source(&p->in->selection, at),
                                          op->time_ns_median);
    if (!(share >= PDNN_OP_LEAST_SHARE_PCT) || !(spot.x > 0) || !(spot.y > 0)) {
        p->in->left_out++;
        return;
    }
    struct pdnn_chart_point point = pdnn_op_point(&p->kinds, kind, spot, share);
    point.doubtful = op->place.pct_of_roof > PDNN_ABOVE_ROOF_PCT ||
                     pdnn_plot_notes(&p->in->selection, at) & PDNN_NOTE_UNUSABLE;
    point.panel = p->roofs.panel_of[at];
    pdnn_chart_add_point(&p->in->chart, point);
    const struct pdnn_roof_panel *panel = &p->roofs.panel[point.panel];
    pdnn_table_add_row(&p->in->data);
    pdnn_picture_fill(p->in, 0, "op", op->op, spot.x, spot.y, NAN, pdnn_picture_id(p->in, at), op->layer,
                      op->pass, share, pdnn_bound_name(op->place.bound), point.color.text, panel->name,
                      panel->threads);
}

static enum pdnn_status draw(struct pdnn_picture *picture, struct pdnn_err *err) {
    struct picture p = {.in = picture};
    const char *by = picture->request->by;
    const bool done = pdnn_by_parse(by ? by : "op", &p.kinds.by, err) == PDNN_OK &&
                      pdnn_roof_panels_find(&p.roofs, picture, NULL,
                                            "id layer op_pass #share_pct bound color", err) == PDNN_OK;
    p.kinds.n_sources = picture->selection.results.n_directories;
    for (size_t at = 0; done && at < picture->selection.count; at++) {
        const struct pdnn_op_rows rows = pdnn_selection_rows(&picture->selection, at, picture->ops);
        const struct pdnn_family_def *family = pdnn_family_find(rows.family);
        for (size_t i = 0; i < rows.count; i++)
            add_op(&p, at, family, &rows.op[i]);
    }
    if (done && picture->chart.n_points) {
        picture->chart.color_title =
            p.kinds.n_sources > 1 ? "kind: share of time, by directory" : "kind: share of all time";
        picture->chart.caption =
            "Each point is one kind of op in one model, with all its executions. Shares below 1 % and ops "
            "without arithmetic are left out.";
        pdnn_op_kinds_legend(&p.kinds, true, &picture->chart);
        pdnn_roof_panels_put(&p.roofs, "Ops");
    }
    pdnn_op_kinds_finish(&p.kinds);
    return done ? PDNN_OK : err->status;
}

const struct pdnn_plot_def pdnn_plot_ops = {
    .name = "ops",
    .help =
        "the measured roofs and one point per op that takes at least 1 % of its model's time, sized by that "
        "share, in panels as of roofline; --by op (the default), category, group, pass, layer or a combination colors them, --only",
    .options = (const char *const[]){"by", "only", NULL},
    .drawn = "ops",
    .left_out_as = "ops with a small share or without arithmetic",
    .of = PDNN_PLOT_ROWS,
    .reads_ops = true,
    .none = "ops.csv: no op has a rate to draw",
    .draw = draw,
};
