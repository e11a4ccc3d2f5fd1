/* `paradnn plot allreduce`: what a link between ranks carries by the size of the message, measured alone
 * (ceilings.csv), and what the gradients of models reach on it. */
#include "results/figures/caption.h"
#include "results/figures/picture.h"
#include "results/store/tables.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct picture {
    struct pdnn_picture *in;
    struct pdnn_ceilings *ceilings;
    int bytes, bus, color; /* columns */
};

static enum pdnn_status find_columns(struct picture *p, struct pdnn_err *err) {
    enum pdnn_status status = pdnn_picture_column(p->in, "allreduce_bytes", NULL, &p->bytes, err);
    if (status == PDNN_OK)
        status = pdnn_picture_column(p->in, "bus_gbs", NULL, &p->bus, err);
    if (status == PDNN_OK)
        status = pdnn_picture_column(p->in, p->in->request->color, "allreduce", &p->color, err);
    return status;
}

/* id: "" for a message alone. */
static void add_point(struct picture *p, struct pdnn_spot spot, const char *id,
                      struct pdnn_color_cell color) {
    pdnn_picture_point(p->in, (struct pdnn_chart_point){.spot = spot, .dotted = !*id, .color = color}, id,
                       spot.x, spot.y);
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
            pdnn_chart_add_line(&p->in->chart, (struct pdnn_spot){(double)last->capacity_bytes, last->value},
                                spot)
                ->thin = true;
        const char *ranks = pdnn_arena_printf(&p->in->arena, "%" PRId64 " ranks, alone", row->ranks);
        add_point(p, spot, "", (struct pdnn_color_cell){ranks, NAN});
        last = row;
    }
}

static enum pdnn_status collect_points(struct picture *p, struct pdnn_err *err) {
    p->in->left_out = p->in->selection.left_out;
    pdnn_picture_table(p->in, "id #bytes #bus_gbs color");
    add_links(p);
    for (size_t i = 0; i < p->in->selection.count; i++) {
        struct pdnn_spot spot = {pdnn_picture_number(p->in, i, p->bytes),
                                 pdnn_picture_number(p->in, i, p->bus)};
        if (!(spot.x > 0 && spot.y > 0)) {
            p->in->left_out++;
            continue;
        }
        add_point(p, spot, pdnn_picture_cell(p->in, i, p->in->selection.id),
                  pdnn_picture_color(p->in, i, p->color));
    }
    return p->in->chart.n_points
               ? PDNN_OK
               : pdnn_fail(err, PDNN_INVALID, "%s has no model with several ranks and no measured link",
                           p->in->selection.results.directory[0]);
}

static void describe(struct picture *p) {
    struct pdnn_chart *chart = &p->in->chart;
    chart->titles[0] = pdnn_plot_titles(&p->in->arena, "All-reduce in", &p->in->selection);
    chart->x_title = "bytes: of a message, or of a model's gradients";
    chart->y_title = "bandwidth of the bus (GB/s)";
    chart->color_title = pdnn_results_name(&p->in->selection.results, p->color);
    chart->dot = "one message, with nothing beside it";
    chart->no_dot = "the gradients of a model";
    chart->caption = "What each of p ranks sends if they form a ring, 2(p-1)/p of the bytes, over the "
                     "time of the slowest.\n"
                     "The gradients of a model are averaged bucket by bucket, with nothing beside it";
}

static enum pdnn_status draw(struct pdnn_picture *picture, struct pdnn_err *err) {
    struct picture p = {.in = picture, .ceilings = pdnn_arena_alloc(&picture->arena, 1, sizeof *p.ceilings)};
    if (pdnn_picture_select(picture, err) != PDNN_OK || find_columns(&p, err) != PDNN_OK ||
        pdnn_ceilings_read_in(picture->selection.results.directory[0], p.ceilings, err) != PDNN_OK ||
        collect_points(&p, err) != PDNN_OK)
        return err->status;
    describe(&p);
    return PDNN_OK;
}

const struct pdnn_plot_def pdnn_plot_allreduce = {
    .name = "allreduce",
    .help = "what a link between ranks carries by the size of the message, and what the gradients of models "
            "reach on it; --color (default: allreduce), --only",
    .options = (const char *const[]){"color", "only", NULL},
    .directories_max = 1,
    .drawn = "points",
    .left_out_as = "rows without all-reduce",
    .draw = draw,
};
