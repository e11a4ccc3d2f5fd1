/* `paradnn plot ops`: the measured roofs and one point per op of each model, larger where it takes more of
 * the model's time. */
#include "results/figures/picture.h"
#include "base/memory.h"
#include "results/table/number.h"
#include "results/query/share_matrix.h"
#include "results/figures/op_kinds.h"
#include "results/figures/roofs.h"

#include <stdio.h>
#include <stdlib.h>

struct picture {
    struct pdnn_picture *in;
    struct pdnn_ops_reader *reader; /* by directory */
    struct pdnn_roof_panels roofs;
    struct pdnn_op_kinds *kinds;
    struct pdnn_op_points points;
    double time_ns; /* of all ops */
};

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
    pdnn_op_points_add(&p->points, &p->in->chart, &p->in->arena, op,
                       (struct pdnn_op_point){.of = at, .share_pct = {share}, .kind = kind}, spot);
    return PDNN_OK;
}

static enum pdnn_status collect_points(struct picture *p, struct pdnn_err *err) {
    for (size_t at = 0; at < p->in->selection.count; at++) {
        const struct pdnn_op_rows rows = pdnn_selection_rows(&p->in->selection, at, p->reader);
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
        struct pdnn_str pct = {0};
        pdnn_number_format(&pct, p->kinds->kind[k].time_ns / p->time_ns * 100, 2);
        p->kinds->kind[k].text =
            pdnn_arena_printf(&p->in->arena, "%s: %s %%", p->kinds->kind[k].name, pdnn_str_text(&pct));
        pdnn_str_finish(&pct);
    }
}

static void fill_data(struct picture *p) {
    enum { ID = PDNN_ROOFS_COLUMNS, LAYER, OP_PASS, SHARE_PCT, BOUND, COLOR };
    struct pdnn_table *data = &p->in->data;
    pdnn_roof_panels_data(&p->roofs, "id layer op_pass #share_pct bound color", p->in);
    for (size_t i = 0; i < p->in->chart.n_points; i++) {
        const struct pdnn_op_point *shown = &p->points.point[i];
        size_t row = pdnn_roof_panels_row(&p->roofs, p->in->chart.point[i].panel, "op", shown->op, data);
        pdnn_roof_panels_place(data, row, p->in->chart.point[i].spot);
        pdnn_table_set_text(data, row, ID, pdnn_picture_cell(p->in, shown->of, p->in->selection.id));
        pdnn_table_set_text(data, row, LAYER, shown->layer);
        pdnn_table_set_text(data, row, OP_PASS, shown->pass);
        pdnn_table_set_number(data, row, SHARE_PCT, shown->share_pct[0]);
        pdnn_table_set_text(data, row, BOUND, shown->bound);
        pdnn_table_set_text(data, row, COLOR, p->kinds->kind[shown->kind].name);
    }
}

static void describe(struct picture *p) {
    struct pdnn_chart *chart = &p->in->chart;
    pdnn_roof_panels_titles(&p->roofs, "Ops", "model", "", &p->in->arena, chart);
    chart->x_title = "operational intensity (FLOP per byte of compulsory traffic)";
    chart->y_title = "performance (GFLOP/s)";
    chart->color_title = "kind: share of all time";
    pdnn_op_points_legend(&p->points, p->kinds, chart);
    chart->caption[0] =
        "Each point is one kind of op in one model, with all its executions. Shares below 1 % and ops "
        "without arithmetic are left out.";
    pdnn_roof_panels_put(&p->roofs, chart);
    fill_data(p);
}

static enum pdnn_status find_roofs(struct picture *p, struct pdnn_err *err) {
    size_t *all = pdnn_arena_alloc(&p->in->arena, p->in->selection.count + 1, sizeof *all);
    for (size_t at = 0; at < p->in->selection.count; at++)
        all[at] = at;
    enum pdnn_status status =
        pdnn_roof_panels_find(&p->roofs, &p->in->selection, all, p->in->selection.count, &p->in->arena, err);
    for (size_t i = 0; status == PDNN_OK && i < p->in->chart.n_points; i++)
        p->in->chart.point[i].panel = p->roofs.panel_of[p->points.point[i].of];
    return status;
}

static enum pdnn_status draw(struct pdnn_picture *picture, struct pdnn_err *err) {
    struct picture p = {.in = picture, .kinds = pdnn_alloc(1, sizeof *p.kinds)};
    enum pdnn_status status =
        pdnn_by_parse(picture->request->by ? picture->request->by : "op", &p.kinds->by, err);
    if (status == PDNN_OK)
        status = pdnn_picture_select(picture, err);
    if (status == PDNN_OK)
        status = pdnn_selection_ops_open(&picture->selection, &p.reader, err);
    if (status == PDNN_OK)
        status = collect_points(&p, err);
    if (status == PDNN_OK)
        name_kinds(&p);
    if (status == PDNN_OK)
        status = find_roofs(&p, err);
    if (status == PDNN_OK)
        describe(&p);
    pdnn_roof_panels_finish(&p.roofs);
    pdnn_selection_ops_close(&picture->selection, p.reader);
    pdnn_op_points_finish(&p.points);
    free(p.kinds);
    return status;
}

static const char *const options[] = {"by", "only", NULL};

const struct pdnn_plot_def pdnn_plot_ops = {
    .name = "ops",
    .help =
        "the measured roofs and one point per op that takes at least 1 % of its model's time, sized by that "
        "share, in panels as of roofline; --by op (the default), category, group, pass, layer or a combination colors them, --only",
    .options = options,
    .drawn = "ops",
    .left_out_as = "ops with a small share or without arithmetic",
    .draw = draw,
};
