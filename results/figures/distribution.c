/* `paradnn plot distribution`: what training gains on several devices, as `paradnn scale` models it:
 * efficiency, or another column of its table, against the number of devices. */
#include "results/figures/picture.h"
#include "results/store/tables.h"

#include <math.h>
#include <string.h>

enum { COLOR };

struct picture {
    struct pdnn_picture *in;
    struct pdnn_scale_request request;
    size_t source; /* the directory that is scaled, and what it gives */
    struct pdnn_scaling made;
    size_t value; /* the column of made.devices */
};

static enum pdnn_status find_value(struct picture *p, struct pdnn_err *err) {
    const char *name = p->in->request->value ? p->in->request->value : "efficiency_pct";
    const char *names[PDNN_SCALED_COLUMNS];
    size_t count = 0;
    char suggestion[PDNN_SUGGESTION_TEXT];
    for (p->value = PDNN_SCALED_TIMES; p->value < PDNN_SCALED_LARGEST_BATCH; p->value++) {
        names[count++] = pdnn_scaled_def.column[p->value].name;
        if (strcmp(names[count - 1], name) == 0)
            return PDNN_OK;
    }
    return pdnn_fail(err, PDNN_INVALID, "paradnn scale models no '%.64s'%s", name,
                     pdnn_suggest(suggestion, name, names, count));
}

/* Those of one directory. A line joins the points of one model in as many slices, whose rows follow each
 * other. Axes are logarithmic:
 * what is not above 0 has no point. */
static void collect_points(struct picture *p) {
    const struct pdnn_table *devices = &p->made.devices;
    struct pdnn_spot before = {0, 0};
    size_t line = SIZE_MAX; /* the row before, if it has a point */
    for (size_t at = 0, row = 0; at < p->in->selection.count; at++) {
        if (pdnn_selection_source(&p->in->selection, at) != p->source)
            continue;
        for (; row < devices->n_rows &&
               strcmp(pdnn_table_text(devices, row, PDNN_SCALED_ID), pdnn_picture_id(p->in, at)) == 0;
             row++) {
            const double nodes = (double)pdnn_table_whole(devices, row, PDNN_SCALED_NODES),
                         slices = (double)pdnn_table_whole(devices, row, PDNN_SCALED_SLICE);
            const struct pdnn_spot spot = {nodes * slices, pdnn_table_number(devices, row, p->value)};
            const bool is_next = line != SIZE_MAX && line + 1 == row &&
                                 pdnn_table_compare(devices, PDNN_SCALED_ID, line, row) == 0 &&
                                 pdnn_table_compare(devices, PDNN_SCALED_SLICE, line, row) == 0;
            if (!(spot.y > 0)) {
                p->in->left_out++;
                continue;
            }
            if (is_next) {
                struct pdnn_chart_line *joins = pdnn_chart_add_line(&p->in->chart, before, spot);
                joins->thin = true;
                joins->panel = p->source;
            }
            struct pdnn_chart_point point = pdnn_picture_place(p->in, at, spot, p->in->column[COLOR]);
            point.dotted = slices > 1;
            point.panel = p->source;
            pdnn_picture_point(p->in, point, pdnn_picture_id(p->in, at), nodes, slices, spot.x, spot.y);
            before = spot;
            line = row;
        }
    }
}

static void describe(struct picture *p) {
    const struct pdnn_distribution_request *request = &p->in->request->distribution;
    struct pdnn_arena *arena = &p->in->arena;
    struct pdnn_chart *chart = &p->in->chart;
    chart->x_title = "devices";
    chart->y_title = pdnn_plot_column_axis(arena, &pdnn_scaled_def.column[p->value]);
    chart->dot = "sliced over some of them";
    chart->no_dot = "data parallel";
    chart->caption = pdnn_arena_printf(arena,
                                       "Modelled, not measured: %s; rings over links of %s, gradients %s.\n"
                                       "A line joins the points of one model with as many slices",
                                       pdnn_scaled_def.column[p->value].help, request->link,
                                       request->overlap ? "reduced during the backward pass"
                                                        : "reduced after the backward pass");
}

/* Models the rows of one directory. */
static enum pdnn_status scale(struct picture *p, struct pdnn_err *err) {
    struct pdnn_picture *in = p->in;
    const char *directory = in->selection.results.directory[p->source];
    struct pdnn_roof_rows *roof_rows = pdnn_arena_alloc(&in->arena, 1, sizeof *roof_rows);
    struct pdnn_selection part;
    if (pdnn_roof_rows_read_in(directory, roof_rows, err) != PDNN_OK)
        return err->status;
    pdnn_picture_part(in, p->source, &part);
    p->request.selection = &part;
    p->request.roof_rows = roof_rows;
    enum pdnn_status status = pdnn_scale(&p->request, &p->made, err);
    if (status == PDNN_OK) {
        in->left_out += p->made.without_ops + p->made.not_sliced;
        collect_points(p);
    } else if (in->of_sources) {
        status = pdnn_wrap(err, "%.512s", directory);
    }
    pdnn_scaling_finish(&p->made);
    pdnn_selection_close(&part);
    return status;
}

static enum pdnn_status draw(struct pdnn_picture *picture, struct pdnn_err *err) {
    struct picture p = {.in = picture, .request = {.readers = picture->ops}};
    const struct pdnn_results *results = &picture->selection.results;
    struct pdnn_arena *arena = &picture->arena;
    if (pdnn_distribution_parse(&p.request, &picture->request->distribution, err) != PDNN_OK ||
        find_value(&p, err) != PDNN_OK || pdnn_picture_source_panels(picture, "", err) != PDNN_OK)
        return err->status;
    pdnn_picture_table(picture, pdnn_arena_printf(arena, "id #nodes #slice_ways #devices #%s color",
                                                  pdnn_scaled_def.column[p.value].name));
    picture->left_out = picture->selection.left_out;
    for (; p.source < results->n_directories; p.source++) {
        picture->chart.titles[p.source].title =
            pdnn_arena_printf(arena, "Training on several devices, modelled from %s",
                              pdnn_plot_directory(arena, results->directory[p.source]));
        if (scale(&p, err) != PDNN_OK)
            return err->status;
    }
    describe(&p);
    return PDNN_OK;
}

const struct pdnn_plot_def pdnn_plot_distribution = {
    .name = "distribution",
    .help =
        "training on several devices, as `paradnn scale` models it with the same --nodes, --slice, --link, "
        "--overlap and --bucket: --value, a column of its table (default: efficiency_pct), against the number of "
        "devices, a panel for each of RESULTS; --color (default: family), --only",
    .options =
        (const char *const[]){"nodes", "slice", "link", "overlap", "bucket", "value", "color", "only", NULL},
    .drawn = "points",
    .left_out_as = "rows that do not train, cannot be sliced so or have no such value",
    .of = PDNN_PLOT_ROWS,
    .reads_ops = true,
    .column = {{"color", "family"}},
    .none = "no row of paradnn scale has a number above 0 in the column of --value",
    .draw = draw,
};
