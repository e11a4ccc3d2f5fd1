/* `paradnn plot ops`: the measured roofs and one point per op of each model, larger where it takes more of
 * the model's time. */
#include "base/memory.h"
#include "results/table/number.h"
#include "results/query/share_matrix.h"
#include "results/figures/chart.h"
#include "results/figures/file.h"
#include "results/figures/op_kinds.h"
#include "results/figures/roofs.h"

#include <stdio.h>
#include <stdlib.h>

struct picture {
    struct pdnn_selection selection;
    struct pdnn_ops_reader *reader; /* by directory */
    struct pdnn_arena arena;
    struct pdnn_roof_panels roofs;
    struct pdnn_chart chart;
    struct pdnn_op_kinds kinds;
    struct pdnn_op_points points;
    size_t below;   /* ops with too small a share */
    double time_ns; /* of all ops */
    struct pdnn_str script;
    struct pdnn_table data; /* what is drawn */
};

static enum pdnn_status add_op(struct picture *p, size_t at, const struct pdnn_family_def *family,
                               const struct pdnn_op_record *op, struct pdnn_err *err) {
    struct pdnn_spot spot = {op->place.intensity_flop_per_byte, op->place.gflops};
    size_t kind = 0;
    if (!(op->time_ns_median > 0))
        return PDNN_OK;
    double share = op->time_ns_median / pdnn_selection_step_ns(&p->selection, at) * 100;
    if (pdnn_op_kinds_find(&p->kinds, family, op, &p->arena, &kind, err) != PDNN_OK)
        return err->status;
    p->kinds.kind[kind].time_ns += op->time_ns_median;
    p->time_ns += op->time_ns_median;
    if (!(share >= PDNN_OP_LEAST_SHARE_PCT) || !(spot.x > 0) || !(spot.y > 0)) {
        p->below++;
        return PDNN_OK;
    }
    pdnn_op_points_add(&p->points, &p->chart, &p->arena, op,
                       (struct pdnn_op_point){.of = at, .share_pct = {share}, .kind = kind}, spot);
    return PDNN_OK;
}

static enum pdnn_status collect_points(struct picture *p, struct pdnn_err *err) {
    for (size_t at = 0; at < p->selection.count; at++) {
        struct pdnn_op_rows rows;
        if (pdnn_selection_rows(&p->selection, at, p->reader, &rows, err) != PDNN_OK)
            return err->status;
        const struct pdnn_family_def *family = pdnn_family_find(rows.family);
        for (size_t i = 0; i < rows.count; i++) {
            if (add_op(p, at, family, &rows.op[i], err) != PDNN_OK)
                return err->status;
        }
    }
    return p->chart.n_points ? PDNN_OK : pdnn_fail(err, PDNN_INVALID, "ops.csv: no op has a rate to draw");
}

/* What the legend says: the kind and its share of all ops' time. */
static void name_kinds(struct picture *p) {
    for (size_t k = 0; k < p->kinds.count; k++) {
        struct pdnn_str pct = {0};
        pdnn_number_format(&pct, p->kinds.kind[k].time_ns / p->time_ns * 100, 2);
        p->kinds.kind[k].text =
            pdnn_arena_printf(&p->arena, "%s: %s %%", p->kinds.kind[k].name, pdnn_str_text(&pct));
        pdnn_str_finish(&pct);
    }
}

static void fill_data(struct picture *p) {
    static const struct pdnn_column_def columns[] = {
        {.name = "id"},      {.name = "layer"},
        {.name = "op_pass"}, {.name = "share_pct", .kind = PDNN_KIND_NUMBER},
        {.name = "bound"},   {.name = "color"}};
    enum { ID = PDNN_ROOFS_COLUMNS, LAYER, OP_PASS, SHARE_PCT, BOUND, COLOR };
    struct pdnn_table *data = &p->data;
    pdnn_roof_panels_data(&p->roofs, columns, sizeof columns / sizeof *columns, data);
    for (size_t i = 0; i < p->chart.n_points; i++) {
        const struct pdnn_op_point *shown = &p->points.point[i];
        size_t row = pdnn_roof_panels_row(&p->roofs, p->chart.point[i].panel, "op", shown->op, data);
        pdnn_roof_panels_place(data, row, p->chart.point[i].spot);
        pdnn_table_set_text(data, row, ID, pdnn_selection_get(&p->selection, shown->of, p->selection.id));
        pdnn_table_set_text(data, row, LAYER, shown->layer);
        pdnn_table_set_text(data, row, OP_PASS, shown->pass);
        pdnn_table_set_number(data, row, SHARE_PCT, shown->share_pct[0]);
        pdnn_table_set_text(data, row, BOUND, shown->bound);
        pdnn_table_set_text(data, row, COLOR, p->kinds.kind[shown->kind].name);
    }
}

static void write_script(struct picture *p) {
    struct pdnn_chart *chart = &p->chart;
    pdnn_roof_panels_titles(&p->roofs, "Ops", "model", "", &p->arena, chart);
    chart->x_title = "operational intensity (FLOP per byte of compulsory traffic)";
    chart->y_title = "performance (GFLOP/s)";
    chart->color_title = "kind: share of all time";
    pdnn_op_points_legend(&p->points, &p->kinds, chart);
    chart->caption[0] =
        "Each point is one kind of op in one model, with all its executions. Shares below 1 % and ops "
        "without arithmetic are left out.";
    pdnn_roof_panels_put(&p->roofs, chart);
    fill_data(p);
    pdnn_chart_put(chart, &p->arena, &p->script);
}

static enum pdnn_status find_roofs(struct picture *p, struct pdnn_err *err) {
    size_t *all = pdnn_arena_alloc(&p->arena, p->selection.count + 1, sizeof *all);
    for (size_t at = 0; at < p->selection.count; at++)
        all[at] = at;
    enum pdnn_status status =
        pdnn_roof_panels_find(&p->roofs, &p->selection, all, p->selection.count, &p->arena, err);
    for (size_t i = 0; status == PDNN_OK && i < p->chart.n_points; i++)
        p->chart.point[i].panel = p->roofs.panel_of[p->points.point[i].of];
    return status;
}

static enum pdnn_status draw(const struct pdnn_plot_request *request, struct pdnn_plot_result *result,
                             struct pdnn_err *err) {
    struct picture *p = pdnn_alloc(1, sizeof *p);
    struct pdnn_plot_result drawn = {.n_paths = 0};
    pdnn_chart_init(&p->chart);
    enum pdnn_status status = pdnn_by_parse(request->by ? request->by : "op", &p->kinds.by, err);
    if (status == PDNN_OK)
        status = pdnn_plot_select(request, &p->selection, err);
    if (status == PDNN_OK)
        status = pdnn_selection_ops_open(&p->selection, &p->reader, err);
    if (status == PDNN_OK)
        status = collect_points(p, err);
    if (status == PDNN_OK)
        name_kinds(p);
    if (status == PDNN_OK)
        status = find_roofs(p, err);
    if (status == PDNN_OK)
        write_script(p);
    if (status == PDNN_OK)
        status = pdnn_chart_write(request, "ops", &p->script, &p->data, &drawn, err);
    drawn.drawn = (int)p->chart.n_points;
    drawn.left_out = (int)p->below;
    pdnn_roof_panels_finish(&p->roofs);
    pdnn_selection_ops_close(&p->selection, p->reader);
    pdnn_selection_close(&p->selection);
    pdnn_arena_finish(&p->arena);
    pdnn_str_finish(&p->script);
    pdnn_table_finish(&p->data);
    pdnn_op_points_finish(&p->points, &p->chart);
    free(p);
    if (status == PDNN_OK)
        *result = drawn;
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
