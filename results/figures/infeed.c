/* `paradnn plot infeed`: how much of the machine a model uses against the share of its step that waits for
 * data. */
#include "results/figures/picture.h"

#include <math.h>

/* Both axes are logarithmic: what waits less than this stands at the left edge. */
static const double least_pct = 0.1;

enum { WAITS, VALUE, COLOR };

static enum pdnn_status draw(struct pdnn_picture *p, struct pdnn_err *err) {
    const struct pdnn_results *results = &p->selection.results;
    struct pdnn_chart *chart = &p->chart;
    size_t n_least = 0; /* points at the left edge */
    if (pdnn_picture_source_panels(p, "Waiting for data in", err) != PDNN_OK)
        return err->status;
    pdnn_picture_table(
        p, pdnn_arena_printf(&p->arena, "id #infeed_pct #%s color", pdnn_picture_name(p, p->column[VALUE])));
    for (size_t i = 0; i < p->selection.count; i++) {
        const double waits = pdnn_selection_number(&p->selection, i, p->column[WAITS]),
                     value = pdnn_selection_number(&p->selection, i, p->column[VALUE]);
        if (isnan(waits) || !(value > 0))
            continue;
        const struct pdnn_spot spot = {fmax(waits, least_pct), value};
        struct pdnn_chart_point point = pdnn_picture_place(p, i, spot, p->column[COLOR]);
        point.panel = pdnn_selection_source(&p->selection, i);
        n_least += waits < least_pct;
        pdnn_picture_point(p, point, pdnn_picture_id(p, i), waits, value);
    }
    p->left_out = p->selection.left_out + p->selection.count - chart->n_points;
    chart->x_title = "share of the step that waits for its minibatch (%)";
    chart->y_title = pdnn_plot_axis(&p->arena, results, p->column[VALUE]);
    chart->caption = pdnn_arena_printf(
        &p->arena,
        "Each point is one model; what waits loses that much of the machine, whatever its ops do%s",
        n_least ? "\nPoints at 0.1 % wait that long or less" : "");
    return PDNN_OK;
}

const struct pdnn_plot_def pdnn_plot_infeed = {
    .name = "infeed",
    .help =
        "how much of the machine models use (--value, default: pct_of_peak) against the share of their steps "
        "that waits for the next minibatch, a panel for each of RESULTS; --color (default: family), --only",
    .options = (const char *const[]){"value", "color", "only", NULL},
    .drawn = "points",
    .left_out_as = "models that did not wait or have no such value",
    .of = PDNN_PLOT_ROWS,
    .column = {{NULL, "infeed_pct"}, {"value", "pct_of_peak"}, {"color", "family"}},
    .none = "no model waited for data; run some with data=generated or data=file",
    .draw = draw,
};
