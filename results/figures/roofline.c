/* `paradnn plot roofline`: the measured roofs and one point per instance. */
#include "results/figures/caption.h"
#include "results/figures/chart.h"
#include "results/figures/file.h"
#include "results/figures/roofs.h"

#include <stdio.h>
#include <string.h>

struct picture {
    struct pdnn_selection selection;
    struct pdnn_arena arena;
    struct pdnn_roof_panels roofs;
    struct pdnn_chart chart;
    int intensity, gflops, mode, color; /* columns */
    size_t *at;                         /* the chosen instances that are drawn, by point */
    size_t left_out;
    struct pdnn_str script;
    struct pdnn_table data; /* what is drawn */
};

static enum pdnn_status find_columns(struct picture *p, const struct pdnn_plot_request *request,
                                     struct pdnn_err *err) {
    int other;
    const struct {
        const char *name;
        int *column;
    } needed[] = {{"intensity_flop_per_byte", &p->intensity},
                  {"gflops", &p->gflops},
                  {"mode", &p->mode},
                  {"dtype", &other},
                  {"threads", &other},
                  {"started_utc", &other}};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        *needed[i].column = pdnn_results_named(&p->selection.results, needed[i].name);
        if (*needed[i].column < 0)
            return pdnn_fail(err, PDNN_INVALID, "%s/results.csv:1: column '%s' is missing",
                             request->directory[0], needed[i].name);
    }
    return pdnn_plot_column(&p->selection, request->color ? request->color : "bound", &p->color, err);
}

/* Collects the instances that can be placed in the picture. */
static enum pdnn_status collect_points(struct picture *p, const char *directory, struct pdnn_err *err) {
    const struct pdnn_selection *selection = &p->selection;
    bool any[2] = {false};
    struct pdnn_chart *chart = &p->chart;
    p->left_out = selection->left_out;
    p->at = pdnn_arena_alloc(&p->arena, selection->count + 1, sizeof *p->at);
    chart->point = pdnn_arena_alloc(&p->arena, selection->count + 1, sizeof *chart->point);
    for (size_t at = 0; at < selection->count; at++) {
        struct pdnn_spot spot = {pdnn_selection_number(selection, at, p->intensity),
                                 pdnn_selection_number(selection, at, p->gflops)};
        if (!(spot.x > 0 && spot.y > 0)) {
            p->left_out++;
            continue;
        }
        bool trains = strcmp(pdnn_selection_get(selection, at, p->mode), "train") == 0;
        any[trains] = true;
        p->at[chart->n_points] = at;
        chart->point[chart->n_points++] =
            (struct pdnn_chart_point){spot, 1, trains, pdnn_selection_get(selection, at, p->color), 0};
    }
    if (!chart->n_points)
        return pdnn_fail(err, PDNN_INVALID, "%s/results.csv: no row has a rate to draw", directory);
    if (any[0] && any[1]) {
        chart->dot = "train";
        chart->no_dot = "infer";
    }
    return PDNN_OK;
}

/* The roofs, then the points. */
static void fill_data(struct picture *p) {
    static const struct pdnn_column_def columns[] = {{.name = "run_mode"}, {.name = "color"}};
    enum { RUN_MODE = PDNN_ROOFS_COLUMNS, COLOR };
    pdnn_roof_panels_data(&p->roofs, columns, sizeof columns / sizeof *columns, &p->data);
    for (size_t i = 0; i < p->chart.n_points; i++) {
        const struct pdnn_chart_point *point = &p->chart.point[i];
        size_t row =
            pdnn_roof_panels_row(&p->roofs, point->panel, "model",
                                 pdnn_selection_get(&p->selection, p->at[i], p->selection.id), &p->data);
        pdnn_roof_panels_place(&p->data, row, point->spot);
        pdnn_table_set_text(&p->data, row, RUN_MODE, pdnn_selection_get(&p->selection, p->at[i], p->mode));
        pdnn_table_set_text(&p->data, row, COLOR, point->color);
    }
}

static void write_script(struct picture *p) {
    struct pdnn_str left_out = {0};
    if (p->left_out)
        pdnn_str_printf(&left_out, "%zu row%s without a rate left out", p->left_out,
                        p->left_out == 1 ? "" : "s");
    pdnn_roof_panels_titles(&p->roofs, "Roofline", "model", pdnn_str_text(&left_out), &p->arena, &p->chart);
    pdnn_str_finish(&left_out);
    p->chart.x_title = "operational intensity (FLOP per byte of compulsory traffic)";
    p->chart.y_title = "performance (GFLOP/s)";
    p->chart.color_title = pdnn_results_name(&p->selection.results, p->color);
    p->chart.caption[0] = "Each point is one model. The lines are the best this machine was measured to do: "
                          "bandwidth of each memory level (slanted), arithmetic (level).";
    p->chart.caption[1] =
        "A point on a line uses that resource fully. Left of where a slanted line meets the "
        "level one, memory sets the limit; right of it, arithmetic.";
    pdnn_roof_panels_put(&p->roofs, &p->chart);
    fill_data(p);
    pdnn_chart_put(&p->chart, &p->arena, &p->script);
}

static enum pdnn_status draw(const struct pdnn_plot_request *request, struct pdnn_plot_result *result,
                             struct pdnn_err *err) {
    struct picture p = {.left_out = 0};
    struct pdnn_plot_result drawn = {.n_paths = 0};
    pdnn_chart_init(&p.chart);
    enum pdnn_status status = pdnn_plot_select(request, &p.selection, err);
    if (status == PDNN_OK)
        status = find_columns(&p, request, err);
    if (status == PDNN_OK)
        status = collect_points(&p, request->directory[0], err);
    if (status == PDNN_OK)
        status = pdnn_roof_panels_find(&p.roofs, &p.selection, p.at, p.chart.n_points, &p.arena, err);
    for (size_t i = 0; status == PDNN_OK && i < p.chart.n_points; i++)
        p.chart.point[i].panel = p.roofs.panel_of[i];
    if (status == PDNN_OK)
        write_script(&p);
    if (status == PDNN_OK)
        status = pdnn_chart_write(request, "roofline", &p.script, &p.data, &drawn, err);
    drawn.drawn = (int)p.chart.n_points;
    drawn.left_out = (int)p.left_out;
    pdnn_roof_panels_finish(&p.roofs);
    pdnn_selection_close(&p.selection);
    pdnn_arena_finish(&p.arena);
    pdnn_str_finish(&p.script);
    pdnn_table_finish(&p.data);
    if (status == PDNN_OK)
        *result = drawn;
    return status;
}

static const char *const options[] = {"color", "only", NULL};

const struct pdnn_plot_def pdnn_plot_roofline = {
    .name = "roofline",
    .help = "the measured roofs and one point per instance: operational intensity against FLOP rate, a panel "
            "for each of RESULTS and number of threads; --color (default: bound), --only",
    .options = options,
    .drawn = "points",
    .left_out_as = "rows without a rate",
    .draw = draw,
};
