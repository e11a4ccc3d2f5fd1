/* `paradnn plot allreduce`: what a link between ranks carries by the size of the message, measured alone
 * (ceilings.csv), and what the gradients of models reach on it. */
#include "results/figures/caption.h"
#include "results/figures/picture.h"
#include "results/store/tables.h"

#include <inttypes.h>
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

enum { ID, BYTES, BUS_GBS };

/* id: "" for a message alone. */
static void add_point(struct picture *p, struct pdnn_spot spot, const char *id, const char *color) {
    size_t row = pdnn_picture_add_point(
        p->in, (struct pdnn_chart_point){.spot = spot, .size = 1, .dotted = !*id, .color = color});
    pdnn_table_set_text(&p->in->data, row, ID, id);
    pdnn_table_set_number(&p->in->data, row, BYTES, spot.x);
    pdnn_table_set_number(&p->in->data, row, BUS_GBS, spot.y);
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
        add_point(p, spot, "", pdnn_arena_printf(&p->in->arena, "%" PRId64 " ranks, alone", row->ranks));
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
                  pdnn_picture_cell(p->in, i, p->color));
    }
    return p->in->chart.n_points
               ? PDNN_OK
               : pdnn_fail(err, PDNN_INVALID, "%s has no model with several ranks and no measured link",
                           p->in->selection.results.directory[0]);
}

static void describe(struct picture *p) {
    bool any[2] = {false};
    for (size_t i = 0; i < p->in->chart.n_points; i++)
        any[p->in->chart.point[i].dotted] = true;
    p->in->chart.titles[0] = pdnn_plot_titles(&p->in->arena, "All-reduce in", &p->in->selection);
    p->in->chart.x_title = "bytes: of a message, or of a model's gradients";
    p->in->chart.y_title = "bandwidth of the bus (GB/s)";
    p->in->chart.color_title = pdnn_results_name(&p->in->selection.results, p->color);
    p->in->chart.dot = any[true] && any[false] ? "one message, with nothing beside it" : NULL;
    p->in->chart.no_dot = any[true] && any[false] ? "the gradients of a model" : NULL;
    p->in->chart.caption[0] =
        "What each of p ranks sends if they form a ring, 2(p-1)/p of the bytes, over the "
        "time of the slowest.";
    p->in->chart.caption[1] =
        "The gradients of a model are averaged bucket by bucket, with nothing beside it";
    pdnn_chart_fit(&p->in->chart);
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
