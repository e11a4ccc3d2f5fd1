/* `paradnn plot roofline`: the measured roofs and one point per instance. */
#include "results/figures/picture.h"
#include "results/figures/roofs.h"

#include <string.h>

struct picture {
    struct pdnn_picture *in;
    struct pdnn_roof_panels roofs;
    int intensity, gflops, mode, color; /* columns */
    size_t *at;                         /* the chosen instances that are drawn, by point */
};

static enum pdnn_status find_columns(struct picture *p, struct pdnn_err *err) {
    int other;
    const struct {
        const char *name;
        int *column;
    } needed[] = {{"intensity_flop_per_byte", &p->intensity},
                  {"gflops", &p->gflops},
                  {"mode", &p->mode},
                  {"threads", &other}};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        *needed[i].column = pdnn_results_named(&p->in->selection.results, needed[i].name);
        if (*needed[i].column < 0)
            return pdnn_fail(err, PDNN_INVALID, "%s/results.csv:1: column '%s' is missing",
                             p->in->request->directory[0], needed[i].name);
    }
    return pdnn_picture_column(p->in, p->in->request->color, "bound", &p->color, err);
}

/* Collects the instances that can be placed in the picture. */
static enum pdnn_status collect_points(struct picture *p, struct pdnn_err *err) {
    const struct pdnn_selection *selection = &p->in->selection;
    bool any[2] = {false};
    struct pdnn_chart *chart = &p->in->chart;
    p->in->left_out = selection->left_out;
    p->at = pdnn_arena_alloc(&p->in->arena, selection->count + 1, sizeof *p->at);
    for (size_t at = 0; at < selection->count; at++) {
        struct pdnn_spot spot = {pdnn_selection_number(selection, at, p->intensity),
                                 pdnn_selection_number(selection, at, p->gflops)};
        if (!(spot.x > 0 && spot.y > 0)) {
            p->in->left_out++;
            continue;
        }
        bool trains = strcmp(pdnn_selection_get(selection, at, p->mode), "train") == 0;
        any[trains] = true;
        p->at[chart->n_points] = at;
        pdnn_chart_add_point(chart, (struct pdnn_chart_point){
                                        spot, 1, trains, pdnn_selection_get(selection, at, p->color), 0});
    }
    if (!chart->n_points)
        return pdnn_fail(err, PDNN_INVALID, "%s/results.csv: no row has a rate to draw",
                         p->in->request->directory[0]);
    if (any[0] && any[1]) {
        chart->dot = "train";
        chart->no_dot = "infer";
    }
    return PDNN_OK;
}

/* The roofs, then the points. */
static void fill_data(struct picture *p) {
    enum { RUN_MODE = PDNN_ROOFS_COLUMNS, COLOR };
    pdnn_roof_panels_data(&p->roofs, "run_mode color", p->in);
    for (size_t i = 0; i < p->in->chart.n_points; i++) {
        const struct pdnn_chart_point *point = &p->in->chart.point[i];
        size_t row =
            pdnn_roof_panels_row(&p->roofs, point->panel, "model",
                                 pdnn_picture_cell(p->in, p->at[i], p->in->selection.id), &p->in->data);
        pdnn_roof_panels_place(&p->in->data, row, point->spot);
        pdnn_table_set_text(&p->in->data, row, RUN_MODE, pdnn_picture_cell(p->in, p->at[i], p->mode));
        pdnn_table_set_text(&p->in->data, row, COLOR, point->color);
    }
}

static void describe(struct picture *p) {
    struct pdnn_str left_out = {0};
    if (p->in->left_out)
        pdnn_str_printf(&left_out, "%zu row%s without a rate left out", p->in->left_out,
                        p->in->left_out == 1 ? "" : "s");
    pdnn_roof_panels_titles(&p->roofs, "Roofline", "model", pdnn_str_text(&left_out), &p->in->arena,
                            &p->in->chart);
    pdnn_str_finish(&left_out);
    p->in->chart.x_title = "operational intensity (FLOP per byte of compulsory traffic)";
    p->in->chart.y_title = "performance (GFLOP/s)";
    p->in->chart.color_title = pdnn_results_name(&p->in->selection.results, p->color);
    p->in->chart.caption[0] =
        "Each point is one model. The lines are the best this machine was measured to do: "
        "bandwidth of each memory level (slanted), arithmetic (level).";
    p->in->chart.caption[1] =
        "A point on a line uses that resource fully. Left of where a slanted line meets the "
        "level one, memory sets the limit; right of it, arithmetic.";
    pdnn_roof_panels_put(&p->roofs, &p->in->chart);
    fill_data(p);
}

static enum pdnn_status draw(struct pdnn_picture *picture, struct pdnn_err *err) {
    struct picture p = {.in = picture};
    const bool done = pdnn_picture_select(picture, err) == PDNN_OK && find_columns(&p, err) == PDNN_OK &&
                      collect_points(&p, err) == PDNN_OK &&
                      pdnn_roof_panels_find(&p.roofs, &picture->selection, p.at, picture->chart.n_points,
                                            &picture->arena, err) == PDNN_OK;
    for (size_t i = 0; done && i < picture->chart.n_points; i++)
        picture->chart.point[i].panel = p.roofs.panel_of[i];
    if (done)
        describe(&p);
    pdnn_roof_panels_finish(&p.roofs);
    return done ? PDNN_OK : err->status;
}

const struct pdnn_plot_def pdnn_plot_roofline = {
    .name = "roofline",
    .help = "the measured roofs and one point per instance: operational intensity against FLOP rate, a panel "
            "for each of RESULTS and number of threads; --color (default: bound), --only",
    .options = (const char *const[]){"color", "only", NULL},
    .drawn = "points",
    .left_out_as = "rows without a rate",
    .draw = draw,
};
