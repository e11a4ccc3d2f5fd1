/* `paradnn plot roofline`: the measured roofs and one point per instance. */
#include "results/figures/roofs.h"

#include <math.h>
#include <string.h>

enum { INTENSITY, GFLOPS, MODE, COLOR };

struct picture {
    struct pdnn_picture *in;
    struct pdnn_roof_panels roofs;
    size_t *at; /* the chosen instances that are drawn, by point */
};

/* Collects the instances that can be placed in the picture. */
static enum pdnn_status collect_points(struct picture *p, struct pdnn_err *err) {
    struct pdnn_chart *chart = &p->in->chart;
    p->in->left_out = p->in->selection.left_out;
    p->at = pdnn_arena_alloc(&p->in->arena, p->in->selection.count + 1, sizeof *p->at);
    bool *is_drawn = pdnn_arena_alloc(&p->in->arena, p->in->selection.count + 1, sizeof *is_drawn);
    for (size_t at = 0; at < p->in->selection.count; at++) {
        struct pdnn_spot spot = {pdnn_picture_number(p->in, at, p->in->column[INTENSITY]),
                                 pdnn_picture_number(p->in, at, p->in->column[GFLOPS])};
        if (!(spot.x > 0 && spot.y > 0)) {
            p->in->left_out++;
            continue;
        }
        is_drawn[at] = true;
        p->at[chart->n_points] = at;
        struct pdnn_chart_point point = pdnn_picture_place(p->in, at, spot, p->in->column[COLOR]);
        point.dotted = strcmp(pdnn_picture_cell(p->in, at, p->in->column[MODE]), "train") == 0;
        pdnn_chart_add_point(chart, point);
    }
    return pdnn_roof_panels_find(&p->roofs, p->in, is_drawn, "run_mode color", err);
}

/* Each point in its panel, and its row behind those of the roofs. */
static void place_points(struct picture *p) {
    for (size_t i = 0; i < p->in->chart.n_points; i++) {
        struct pdnn_chart_point *point = &p->in->chart.point[i];
        point->panel = p->roofs.panel_of[p->at[i]];
        const struct pdnn_roof_panel *panel = &p->roofs.panel[point->panel];
        pdnn_picture_row(p->in, "model", pdnn_picture_id(p->in, p->at[i]), point->spot.x, point->spot.y, NAN,
                         pdnn_picture_cell(p->in, p->at[i], p->in->column[MODE]), point->color.text,
                         panel->name, panel->threads);
    }
}

static void describe(struct picture *p) {
    struct pdnn_chart *chart = &p->in->chart;
    chart->dot = "train";
    chart->no_dot = "infer";
    chart->caption = "Each point is one model. The lines are the best this machine was measured to do: "
                     "bandwidth of each memory level (slanted), arithmetic (level).\n"
                     "A point on a line uses that resource fully. Left of where a slanted line meets the "
                     "level one, memory sets the limit; right of it, arithmetic.";
    pdnn_roof_panels_put(&p->roofs, "Roofline");
}

static enum pdnn_status draw(struct pdnn_picture *picture, struct pdnn_err *err) {
    struct picture p = {.in = picture};
    const enum pdnn_status status = collect_points(&p, err);
    if (status == PDNN_OK && picture->chart.n_points) {
        place_points(&p);
        describe(&p);
    }
    return status;
}

const struct pdnn_plot_def pdnn_plot_roofline = {
    .name = "roofline",
    .help = "the measured roofs and one point per instance: operational intensity against FLOP rate, a panel "
            "for each of RESULTS and number of threads; --color (default: bound), --only",
    .options = (const char *const[]){"color", "only", NULL},
    .drawn = "points",
    .left_out_as = "rows without a rate",
    .of = PDNN_PLOT_ROWS,
    .column = {{NULL, "intensity_flop_per_byte"},
               {NULL, "gflops"},
               {NULL, "mode"},
               {"color", "bound"},
               {NULL, "threads"}},
    .none = "no row has a rate to draw",
    .draw = draw,
};
