/* `paradnn plot allreduce`: what a link between ranks carries by the size of the message, measured alone
 * (ceilings.csv), and what the gradients of models reach on it. */
#include "base/memory.h"
#include "results/figures/caption.h"
#include "results/figures/chart.h"
#include "results/figures/file.h"
#include "results/store/tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct picture {
    struct pdnn_selection selection;
    struct pdnn_arena arena;
    struct pdnn_chart chart;
    struct pdnn_ceilings *ceilings; /* heap */
    const char **id;                /* by point; "": a message alone */
    int bytes, bus, color;          /* columns */
    size_t left_out;
    struct pdnn_str script;
    struct pdnn_table data; /* what is drawn */
};

static enum pdnn_status find_columns(struct picture *p, const struct pdnn_plot_request *request,
                                     struct pdnn_err *err) {
    enum pdnn_status status = pdnn_plot_column(&p->selection, "allreduce_bytes", &p->bytes, err);
    if (status == PDNN_OK)
        status = pdnn_plot_column(&p->selection, "bus_gbs", &p->bus, err);
    if (status == PDNN_OK)
        status =
            pdnn_plot_column(&p->selection, request->color ? request->color : "allreduce", &p->color, err);
    return status;
}

static void add_point(struct picture *p, struct pdnn_spot spot, const char *id, const char *color) {
    p->id[p->chart.n_points] = id;
    p->chart.point[p->chart.n_points++] = (struct pdnn_chart_point){spot, 1, !*id, color ? color : "", 0};
}

/* Messages alone, with lines from one size to the next. */
static void add_links(struct picture *p) {
    const struct pdnn_ceiling *last = NULL;
    for (size_t i = 0; i < p->ceilings->count; i++) {
        const struct pdnn_ceiling *row = &p->ceilings->row[i];
        if (strcmp(row->kind, "link") != 0 || !(row->value > 0))
            continue;
        struct pdnn_spot spot = {(double)row->capacity_bytes, row->value};
        if (last && last->ranks == row->ranks && last->capacity_bytes < row->capacity_bytes)
            pdnn_chart_add_line(&p->chart, (struct pdnn_spot){(double)last->capacity_bytes, last->value},
                                spot)
                ->thin = true;
        add_point(p, spot, "", pdnn_arena_printf(&p->arena, "%" PRId64 " ranks, alone", row->ranks));
        last = row;
    }
}

static enum pdnn_status collect_points(struct picture *p, struct pdnn_err *err) {
    size_t room = p->selection.count + p->ceilings->count + 1;
    p->left_out = p->selection.left_out;
    p->id = pdnn_arena_alloc(&p->arena, room, sizeof *p->id);
    p->chart.point = pdnn_arena_alloc(&p->arena, room, sizeof *p->chart.point);
    add_links(p);
    for (size_t i = 0; i < p->selection.count; i++) {
        struct pdnn_spot spot = {pdnn_selection_number(&p->selection, i, p->bytes),
                                 pdnn_selection_number(&p->selection, i, p->bus)};
        if (!(spot.x > 0 && spot.y > 0)) {
            p->left_out++;
            continue;
        }
        add_point(p, spot, pdnn_selection_get(&p->selection, i, p->selection.id),
                  pdnn_selection_get(&p->selection, i, p->color));
    }
    return p->chart.n_points
               ? PDNN_OK
               : pdnn_fail(err, PDNN_INVALID, "%s has no model with several ranks and no measured link",
                           p->selection.results.directory[0]);
}

enum { ID, BYTES, BUS_GBS, COLOR, N_COLUMNS };
static const struct pdnn_column_def columns[N_COLUMNS] = {
    [ID] = {.name = "id"},
    [BYTES] = {.name = "bytes", .kind = PDNN_KIND_NUMBER},
    [BUS_GBS] = {.name = "bus_gbs", .kind = PDNN_KIND_NUMBER},
    [COLOR] = {.name = "color"},
};
static const struct pdnn_table_def data_def = {"plot allreduce", "what is drawn", columns, N_COLUMNS};

static void fill_data(struct picture *p) {
    struct pdnn_table *data = &p->data;
    pdnn_table_init(data, &data_def);
    for (size_t i = 0; i < p->chart.n_points; i++) {
        size_t row = pdnn_table_add_row(data);
        pdnn_table_set_text(data, row, ID, p->id[i]);
        pdnn_table_set_number(data, row, BYTES, p->chart.point[i].spot.x);
        pdnn_table_set_number(data, row, BUS_GBS, p->chart.point[i].spot.y);
        pdnn_table_set_text(data, row, COLOR, p->chart.point[i].color);
    }
}

static void write_script(struct picture *p) {
    bool any[2] = {false};
    for (size_t i = 0; i < p->chart.n_points; i++)
        any[p->chart.point[i].dotted] = true;
    pdnn_plot_titles(&p->script, "All-reduce in", &p->selection);
    p->chart.x_title = "bytes: of a message, or of a model's gradients";
    p->chart.y_title = "bus_gbs (1e9 B/s)";
    p->chart.color_title = pdnn_results_name(&p->selection.results, p->color);
    p->chart.dot = any[true] && any[false] ? "one message, with nothing beside it" : NULL;
    p->chart.no_dot = any[true] && any[false] ? "the gradients of a model" : NULL;
    p->chart.caption[0] = "What each of p ranks sends if they form a ring, 2(p-1)/p of the bytes, over the "
                          "time of the slowest.";
    p->chart.caption[1] = "The gradients of a model are averaged bucket by bucket, with nothing beside it";
    pdnn_chart_fit(&p->chart);
    fill_data(p);
    pdnn_chart_put(&p->chart, &p->arena, &p->script);
}

static enum pdnn_status draw(const struct pdnn_plot_request *request, struct pdnn_plot_result *result,
                             struct pdnn_err *err) {
    struct picture p = {.left_out = 0};
    struct pdnn_plot_result drawn = {.n_paths = 0};
    pdnn_chart_init(&p.chart);
    enum pdnn_status status = pdnn_plot_select(request, &p.selection, err);
    p.ceilings = pdnn_alloc(1, sizeof *p.ceilings);
    if (status == PDNN_OK)
        status = find_columns(&p, request, err);
    if (status == PDNN_OK)
        status = pdnn_ceilings_read_in(p.selection.results.directory[0], p.ceilings, err);
    if (status == PDNN_OK)
        status = collect_points(&p, err);
    if (status == PDNN_OK)
        write_script(&p);
    if (status == PDNN_OK)
        status = pdnn_chart_write(request, "allreduce", &p.script, &p.data, &drawn, err);
    drawn.drawn = (int)p.chart.n_points;
    drawn.left_out = (int)p.left_out;
    pdnn_selection_close(&p.selection);
    pdnn_arena_finish(&p.arena);
    pdnn_str_finish(&p.script);
    pdnn_table_finish(&p.data);
    free(p.ceilings);
    if (status == PDNN_OK)
        *result = drawn;
    return status;
}

static const char *const options[] = {"color", "only", NULL};

const struct pdnn_plot_def pdnn_plot_allreduce = {
    .name = "allreduce",
    .help = "what a link between ranks carries by the size of the message, and what the gradients of models "
            "reach on it; --color (default: allreduce), --only",
    .options = options,
    .directories_max = 1,
    .drawn = "points",
    .left_out_as = "rows without all-reduce",
    .draw = draw,
};
