/* `paradnn plot infeed`: how much of the machine a model uses against the share of its step that waits for
 * data. */
#include "results/figures/caption.h"
#include "results/figures/chart.h"
#include "results/figures/file.h"

#include <math.h>
#include <stdio.h>

/* Both axes are logarithmic: what waits less than this stands at the left edge. */
static const double least_pct = 0.1;

struct picture {
    struct pdnn_selection selection;
    struct pdnn_arena arena;
    struct pdnn_chart chart;
    size_t *at;               /* by point: its row of the selection */
    double *infeed_pct;       /* by point */
    size_t left_out, n_least; /* points at the left edge */
    int waits, value, color;
    char y_title[PDNN_AXIS_TEXT];
    struct pdnn_str script;
    struct pdnn_table data; /* what is drawn */
};

static enum pdnn_status collect_points(struct picture *p, const char *directory, struct pdnn_err *err) {
    p->at = pdnn_arena_alloc(&p->arena, p->selection.count + 1, sizeof *p->at);
    p->infeed_pct = pdnn_arena_alloc(&p->arena, p->selection.count + 1, sizeof *p->infeed_pct);
    p->chart.point = pdnn_arena_alloc(&p->arena, p->selection.count + 1, sizeof *p->chart.point);
    for (size_t i = 0; i < p->selection.count; i++) {
        const double waits = pdnn_selection_number(&p->selection, i, p->waits),
                     value = pdnn_selection_number(&p->selection, i, p->value);
        if (isnan(waits) || !(value > 0))
            continue;
        p->n_least += waits < least_pct;
        p->at[p->chart.n_points] = i;
        p->infeed_pct[p->chart.n_points] = waits;
        p->chart.point[p->chart.n_points++] = (struct pdnn_chart_point){
            {fmax(waits, least_pct), value}, 1, false, pdnn_selection_get(&p->selection, i, p->color), 0};
    }
    p->left_out = p->selection.count - p->chart.n_points;
    return p->chart.n_points
               ? PDNN_OK
               : pdnn_fail(err, PDNN_INVALID,
                           "%s: no model waited for data; run some with data=generated or data=file",
                           directory);
}

enum { ID, INFEED_PCT, VALUE, COLOR, N_COLUMNS };

static void fill_data(struct picture *p) {
    const struct pdnn_column_def columns[N_COLUMNS] = {
        [ID] = {.name = "id"},
        [INFEED_PCT] = {.name = "infeed_pct", .kind = PDNN_KIND_NUMBER},
        [VALUE] = {.name = pdnn_results_name(&p->selection.results, p->value), .kind = PDNN_KIND_NUMBER},
        [COLOR] = {.name = "color"},
    };
    struct pdnn_table *data = &p->data;
    pdnn_table_init(data, &(struct pdnn_table_def){"plot infeed", "what is drawn", columns, N_COLUMNS});
    for (size_t i = 0; i < p->chart.n_points; i++) {
        size_t row = pdnn_table_add_row(data);
        pdnn_table_set_text(data, row, ID, pdnn_selection_get(&p->selection, p->at[i], p->selection.id));
        pdnn_table_set_number(data, row, INFEED_PCT, p->infeed_pct[i]);
        pdnn_table_set_number(data, row, VALUE, p->chart.point[i].spot.y);
        pdnn_table_set_text(data, row, COLOR, p->chart.point[i].color);
    }
}

static void write_script(struct picture *p) {
    pdnn_plot_titles(&p->script, "Waiting for data in", &p->selection);
    p->chart.x_title = "share of the step that waits for its minibatch (%)";
    p->chart.y_title = pdnn_plot_axis(pdnn_results_name(&p->selection.results, p->value), p->y_title);
    p->chart.color_title = pdnn_results_name(&p->selection.results, p->color);
    p->chart.caption[0] =
        "Each point is one model; what waits loses that much of the machine, whatever its ops do";
    p->chart.caption[1] = p->n_least ? "Points at 0.1 % wait that long or less" : NULL;
    fill_data(p);
    pdnn_chart_fit(&p->chart);
    pdnn_chart_put(&p->chart, &p->arena, &p->script);
}

static enum pdnn_status draw(const struct pdnn_plot_request *request, struct pdnn_plot_result *result,
                             struct pdnn_err *err) {
    struct picture p = {.left_out = 0};
    struct pdnn_plot_result drawn = {.n_paths = 0};
    pdnn_chart_init(&p.chart);
    enum pdnn_status status = pdnn_plot_select(request, &p.selection, err);
    if (status == PDNN_OK)
        status = pdnn_plot_column(&p.selection, "infeed_pct", &p.waits, err);
    if (status == PDNN_OK)
        status =
            pdnn_plot_column(&p.selection, request->value ? request->value : "pct_of_peak", &p.value, err);
    if (status == PDNN_OK)
        status = pdnn_plot_column(&p.selection, request->color ? request->color : "family", &p.color, err);
    if (status == PDNN_OK)
        status = collect_points(&p, request->directory[0], err);
    if (status == PDNN_OK)
        write_script(&p);
    if (status == PDNN_OK)
        status = pdnn_chart_write(request, "infeed", &p.script, &p.data, &drawn, err);
    drawn.drawn = (int)p.chart.n_points;
    drawn.left_out = (int)p.left_out;
    pdnn_selection_close(&p.selection);
    pdnn_arena_finish(&p.arena);
    pdnn_str_finish(&p.script);
    pdnn_table_finish(&p.data);
    if (status == PDNN_OK)
        *result = drawn;
    return status;
}

static const char *const options[] = {"value", "color", "only", NULL};

const struct pdnn_plot_def pdnn_plot_infeed = {
    .name = "infeed",
    .help =
        "how much of the machine models use (--value, default: pct_of_peak) against the share of their steps "
        "that waits for the next minibatch; --color (default: family), --only",
    .options = options,
    .drawn = "points",
    .left_out_as = "models that did not wait or have no such value",
    .draw = draw,
};
