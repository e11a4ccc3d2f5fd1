/* `paradnn plot roofline`: the measured roofs and one point per instance. */
#include "results/figures/roofs.h"

#include <math.h>
#include <string.h>

enum { INTENSITY, GFLOPS, MODE, COLOR };

static enum pdnn_status draw(struct pdnn_picture *p, struct pdnn_err *err) {
    struct pdnn_chart *chart = &p->chart;
    struct pdnn_roof_panels roofs;
    bool *is_drawn = pdnn_arena_alloc(&p->arena, p->selection.count + 1, sizeof *is_drawn);
    for (size_t at = 0; at < p->selection.count; at++)
        is_drawn[at] = pdnn_selection_number(&p->selection, at, p->column[INTENSITY]) > 0 &&
                       pdnn_selection_number(&p->selection, at, p->column[GFLOPS]) > 0;
    if (pdnn_roof_panels_find(&roofs, p, is_drawn, "run_mode color", err) != PDNN_OK)
        return err->status;
    /* Each point in its panel, and its row behind those of the roofs. */
    for (size_t at = 0; at < p->selection.count; at++) {
        if (!is_drawn[at])
            continue;
        const char *mode = pdnn_selection_get(&p->selection, at, p->column[MODE]);
        const struct pdnn_spot spot = {pdnn_selection_number(&p->selection, at, p->column[INTENSITY]),
                                       pdnn_selection_number(&p->selection, at, p->column[GFLOPS])};
        struct pdnn_chart_point point = pdnn_picture_place(p, at, spot, p->column[COLOR]);
        point.dotted = strcmp(mode, "train") == 0;
        point.panel = roofs.panel_of[at];
        const struct pdnn_roof_panel *panel = &roofs.panel[point.panel];
        pdnn_chart_add_point(chart, point);
        pdnn_table_add_row(&p->data);
        pdnn_picture_fill(p, 0, "model", pdnn_picture_id(p, at), spot.x, spot.y, NAN, mode, point.color.text,
                          panel->name, panel->threads);
    }
    p->left_out = p->selection.left_out + p->selection.count - chart->n_points;
    chart->dot = "train";
    chart->no_dot = "infer";
    chart->caption = "Each point is one model. The lines are what this machine was measured to reach: "
                     "bandwidth of each memory level (slanted), arithmetic (level).\n"
                     "A point on a line uses that resource fully. Left of where a slanted line meets the "
                     "level one, memory sets the limit; right of it, arithmetic.";
    if (chart->n_points)
        pdnn_roof_panels_put(&roofs, "Roofline");
    return PDNN_OK;
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
