/* `paradnn plot ops`: the measured roofs and one point per op of each model, larger where it takes more of
 * the model's time. */
#include "results/figures/caption.h"
#include "results/figures/picture.h"
#include "results/query/share_matrix.h"
#include "results/figures/op_kinds.h"
#include "results/figures/roofs.h"

struct picture {
    struct pdnn_picture *in;
    struct pdnn_roof_panels roofs;
    struct pdnn_op_kinds *kinds;
    double time_ns; /* of all ops */
};

enum { ID = PDNN_ROOFS_COLUMNS, LAYER, OP_PASS, SHARE_PCT, BOUND, COLOR };

static enum pdnn_status add_op(struct picture *p, size_t at, const struct pdnn_family_def *family,
                               const struct pdnn_op_record *op, struct pdnn_err *err) {
    struct pdnn_spot spot = {op->place.intensity_flop_per_byte, op->place.gflops};
    size_t kind = 0;
    if (!(op->time_ns_median > 0))
        return PDNN_OK;
    double share = op->time_ns_median / pdnn_selection_step_ns(&p->in->selection, at) * 100;
    if (pdnn_op_kinds_find(p->kinds, family, op, &p->in->arena, &kind, err) != PDNN_OK)
        return err->status;
    p->kinds->kind[kind].time_ns += op->time_ns_median;
    p->time_ns += op->time_ns_median;
    if (!(share >= PDNN_OP_LEAST_SHARE_PCT) || !(spot.x > 0) || !(spot.y > 0)) {
        p->in->left_out++;
        return PDNN_OK;
    }
    struct pdnn_table *data = &p->in->data;
    struct pdnn_chart_point point = pdnn_op_point(p->kinds, kind, spot, share);
    point.panel = p->roofs.panel_of[at];
    pdnn_chart_add_point(&p->in->chart, point);
    size_t row = pdnn_roof_panels_row(&p->roofs, point.panel, "op", op->op, data);
    pdnn_roof_panels_place(data, row, spot);
    pdnn_table_set_text(data, row, ID, pdnn_picture_cell(p->in, at, p->in->selection.id));
    pdnn_table_set_text(data, row, LAYER, op->layer);
    pdnn_table_set_text(data, row, OP_PASS, op->pass);
    pdnn_table_set_number(data, row, SHARE_PCT, share);
    pdnn_table_set_text(data, row, BOUND, pdnn_bound_name(op->place.bound));
    pdnn_table_set_text(data, row, COLOR, point.color);
    return PDNN_OK;
}

static enum pdnn_status collect_points(struct picture *p, struct pdnn_err *err) {
    for (size_t at = 0; at < p->in->selection.count; at++) {
        const struct pdnn_op_rows rows = pdnn_selection_rows(&p->in->selection, at, p->in->ops[0]);
        const struct pdnn_family_def *family = pdnn_family_find(rows.family);
        for (size_t i = 0; i < rows.count; i++) {
            if (add_op(p, at, family, &rows.op[i], err) != PDNN_OK)
                return err->status;
        }
    }
    return p->in->chart.n_points ? PDNN_OK
                                 : pdnn_fail(err, PDNN_INVALID, "ops.csv: no op has a rate to draw");
}

/* What the legend says: the kind and its share of all ops' time. */
static void name_kinds(struct picture *p) {
    for (size_t k = 0; k < p->kinds->count; k++) {
        struct pdnn_op_kind *kind = &p->kinds->kind[k];
        const char *pct = pdnn_plot_number(&p->in->arena, kind->time_ns / p->time_ns * 100, 2);
        kind->text = pdnn_arena_printf(&p->in->arena, "%s: %s %%", kind->name, pct);
    }
}

static void describe(struct picture *p) {
    struct pdnn_chart *chart = &p->in->chart;
    pdnn_roof_panels_titles(&p->roofs, "Ops", "model", "", &p->in->arena, chart);
    chart->x_title = "operational intensity (FLOP per byte of compulsory traffic)";
    chart->y_title = "performance (GFLOP/s)";
    chart->color_title = "kind: share of all time";
    pdnn_op_kinds_legend(p->kinds, chart);
    chart->caption[0] =
        "Each point is one kind of op in one model, with all its executions. Shares below 1 % and ops "
        "without arithmetic are left out.";
    pdnn_roof_panels_put(&p->roofs, chart);
}

static enum pdnn_status find_roofs(struct picture *p, struct pdnn_err *err) {
    size_t *all = pdnn_arena_alloc(&p->in->arena, p->in->selection.count + 1, sizeof *all);
    for (size_t at = 0; at < p->in->selection.count; at++)
        all[at] = at;
    if (pdnn_roof_panels_find(&p->roofs, &p->in->selection, all, p->in->selection.count, &p->in->arena,
                              err) != PDNN_OK)
        return err->status;
    pdnn_roof_panels_data(&p->roofs, "id layer op_pass #share_pct bound color", p->in);
    return PDNN_OK;
}

static enum pdnn_status draw(struct pdnn_picture *picture, struct pdnn_err *err) {
    const char *by = picture->request->by ? picture->request->by : "op";
    struct picture p = {.in = picture, .kinds = pdnn_arena_alloc(&picture->arena, 1, sizeof *p.kinds)};
    const bool done = pdnn_by_parse(by, &p.kinds->by, err) == PDNN_OK &&
                      pdnn_picture_select(picture, err) == PDNN_OK &&
                      pdnn_picture_open_ops(picture, err) == PDNN_OK && find_roofs(&p, err) == PDNN_OK &&
                      collect_points(&p, err) == PDNN_OK;
    if (done) {
        name_kinds(&p);
        describe(&p);
    }
    pdnn_roof_panels_finish(&p.roofs);
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
    .draw = draw,
};
