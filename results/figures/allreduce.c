/* `paradnn plot allreduce`: what a link between ranks carries by the size of the message, measured alone
 * (roof_rows.csv), and what the gradients of models reach on it. */
#include "results/figures/picture.h"
#include "results/store/tables.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { BYTES, BUS, COLOR };

/* Messages alone, with lines from one size to the next. */
static void add_links(struct pdnn_picture *p, size_t panel, const struct pdnn_roof_rows *roof_rows) {
    const struct pdnn_roof_row *last = NULL;
    for (size_t i = 0; i < roof_rows->count; i++) {
        const struct pdnn_roof_row *row = &roof_rows->row[i];
        if (strcmp(row->kind, "link") != 0 || !(row->value > 0))
            continue;
        struct pdnn_spot spot = {(double)row->capacity_bytes, row->value};
        if (last && last->ranks == row->ranks && last->capacity_bytes < row->capacity_bytes) {
            struct pdnn_chart_line *line = pdnn_chart_add_line(
                &p->chart, (struct pdnn_spot){(double)last->capacity_bytes, last->value}, spot);
            line->thin = true;
            line->panel = panel;
        }
        const char *ranks = pdnn_arena_printf(&p->arena, "%" PRId64 " ranks, alone", row->ranks);
        pdnn_picture_point(
            p, (struct pdnn_chart_point){.spot = spot, .dotted = true, .color = {ranks, NAN}, .panel = panel},
            "", spot.x, spot.y);
        last = row;
    }
}

static enum pdnn_status draw(struct pdnn_picture *p, struct pdnn_err *err) {
    struct pdnn_chart *chart = &p->chart;
    struct pdnn_roof_rows *roof_rows = pdnn_arena_alloc(&p->arena, 1, sizeof *roof_rows);
    if (pdnn_picture_source_panels(p, "All-reduce in", err) != PDNN_OK)
        return err->status;
    pdnn_picture_table(p, "id #bytes #bus_gbs color");
    for (size_t s = 0; s < p->selection.results.n_directories; s++) {
        if (pdnn_roof_rows_read_in(p->selection.results.directory[s], roof_rows, err) != PDNN_OK)
            return err->status;
        add_links(p, s, roof_rows);
    }
    p->left_out = p->selection.left_out;
    for (size_t i = 0; i < p->selection.count; i++) {
        const struct pdnn_spot spot = {pdnn_selection_number(&p->selection, i, p->column[BYTES]),
                                       pdnn_selection_number(&p->selection, i, p->column[BUS])};
        struct pdnn_chart_point point = pdnn_picture_place(p, i, spot, p->column[COLOR]);
        point.panel = pdnn_selection_source(&p->selection, i);
        if (spot.x > 0 && spot.y > 0)
            pdnn_picture_point(p, point, pdnn_picture_id(p, i), spot.x, spot.y);
        else
            p->left_out++;
    }
    chart->x_title = "bytes: of a message, or of a model's gradients";
    chart->y_title = "bandwidth of the bus (GB/s)";
    chart->dot = "one message, with nothing beside it";
    chart->no_dot = "the gradients of a model";
    chart->caption = "What each of p ranks sends if they form a ring, 2(p-1)/p of the bytes, over the "
                     "time of the slowest.\n"
                     "The gradients of a model are averaged bucket by bucket, with nothing beside it";
    return PDNN_OK;
}

const struct pdnn_plot_def pdnn_plot_allreduce = {
    .name = "allreduce",
    .help = "what a link between ranks carries by the size of the message, and what the gradients of models "
            "reach on it, a panel for each of RESULTS; --color (default: allreduce), --only",
    .options = (const char *const[]){"color", "only", NULL},
    .drawn = "points",
    .left_out_as = "rows without all-reduce",
    .of = PDNN_PLOT_ROWS,
    .column = {{NULL, "allreduce_bytes"}, {NULL, "bus_gbs"}, {"color", "allreduce"}},
    .none = "no model with several ranks and no measured link",
    .draw = draw,
};
