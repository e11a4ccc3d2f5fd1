/* `paradnn plot infeed`: how much of the machine a model uses against the share of its step that waits for
 * data. */
#include "results/figures/caption.h"
#include "results/figures/picture.h"

#include <math.h>

/* Both axes are logarithmic: what waits less than this stands at the left edge. */
static const double least_pct = 0.1;

struct picture {
    struct pdnn_picture *in;
    size_t n_least; /* points at the left edge */
    int waits, value, color;
};

static enum pdnn_status collect_points(struct picture *p, struct pdnn_err *err) {
    pdnn_picture_table(p->in, pdnn_arena_printf(&p->in->arena, "id #infeed_pct #%s color",
                                                pdnn_results_name(&p->in->selection.results, p->value)));
    for (size_t i = 0; i < p->in->selection.count; i++) {
        const double waits = pdnn_picture_number(p->in, i, p->waits),
                     value = pdnn_picture_number(p->in, i, p->value);
        if (isnan(waits) || !(value > 0))
            continue;
        p->n_least += waits < least_pct;
        pdnn_picture_point(p->in,
                           (struct pdnn_chart_point){.spot = {fmax(waits, least_pct), value},
                                                     .color = pdnn_picture_color(p->in, i, p->color)},
                           pdnn_picture_cell(p->in, i, p->in->selection.id), waits, value);
    }
    p->in->left_out = p->in->selection.count - p->in->chart.n_points;
    return p->in->chart.n_points
               ? PDNN_OK
               : pdnn_fail(err, PDNN_INVALID,
                           "%s: no model waited for data; run some with data=generated or data=file",
                           p->in->request->directory[0]);
}

static void describe(struct picture *p) {
    const struct pdnn_results *results = &p->in->selection.results;
    struct pdnn_chart *chart = &p->in->chart;
    chart->titles[0] = pdnn_plot_titles(&p->in->arena, "Waiting for data in", &p->in->selection);
    chart->x_title = "share of the step that waits for its minibatch (%)";
    chart->y_title = pdnn_plot_axis(&p->in->arena, results, p->value);
    chart->color_title = pdnn_results_name(results, p->color);
    chart->caption = pdnn_arena_printf(
        &p->in->arena,
        "Each point is one model; what waits loses that much of the machine, whatever its ops do%s",
        p->n_least ? "\nPoints at 0.1 % wait that long or less" : "");
}

static enum pdnn_status draw(struct pdnn_picture *picture, struct pdnn_err *err) {
    struct picture p = {.in = picture};
    if (pdnn_picture_select(picture, err) != PDNN_OK ||
        pdnn_picture_column(picture, "infeed_pct", NULL, &p.waits, err) != PDNN_OK ||
        pdnn_picture_column(picture, picture->request->value, "pct_of_peak", &p.value, err) != PDNN_OK ||
        pdnn_picture_column(picture, picture->request->color, "family", &p.color, err) != PDNN_OK ||
        collect_points(&p, err) != PDNN_OK)
        return err->status;
    describe(&p);
    return PDNN_OK;
}

const struct pdnn_plot_def pdnn_plot_infeed = {
    .name = "infeed",
    .help =
        "how much of the machine models use (--value, default: pct_of_peak) against the share of their steps "
        "that waits for the next minibatch; --color (default: family), --only",
    .options = (const char *const[]){"value", "color", "only", NULL},
    .drawn = "points",
    .left_out_as = "models that did not wait or have no such value",
    .draw = draw,
};
