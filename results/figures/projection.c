/* `paradnn plot projection`: how much faster measured models would run on other hardware, against their
 * operational intensity or any other column, with the ridge points of both. */
#include "results/figures/picture.h"
#include "results/stats/means.h"
#include "results/whatif/projection.h"
#include "results/store/tables.h"

#include <math.h>
#include <string.h>

/* A dot marks models with this share of their ops' time in ops that get another bound. */
static const double many_moved_pct = 50;

enum { X, COLOR };

struct picture {
    struct pdnn_picture *in;
    struct pdnn_hardware hardware;
    struct pdnn_hardware_projection made;
    double moved; /* of all points, the sum of per cent */
    struct pdnn_mean speedup;
};

static void collect_points(struct picture *p) {
    const struct pdnn_table *models = &p->made.models;
    pdnn_picture_table(p->in, "id method #x #speedup #moved_pct color");
    for (size_t at = 0, model = 0; at < p->in->selection.count && model < models->n_rows; at++) {
        const double x = pdnn_selection_number(&p->in->selection, at, p->in->column[X]),
                     speedup = pdnn_table_number(models, model, PDNN_PROJECTED_SPEEDUP),
                     moved = pdnn_table_number(models, model, PDNN_PROJECTED_MOVED_PCT);
        const char *id = pdnn_table_text(models, model, PDNN_PROJECTED_ID),
                   *method = pdnn_table_text(models, model, PDNN_PROJECTED_METHOD);
        if (strcmp(id, pdnn_picture_id(p->in, at)) != 0)
            continue; /* could not be projected: models are in the selection's order */
        model++;
        if (!(x > 0))
            continue;
        struct pdnn_chart_point point =
            pdnn_picture_place(p->in, at, (struct pdnn_spot){x, speedup}, p->in->column[COLOR]);
        point.dotted = moved >= many_moved_pct;
        pdnn_picture_point(p->in, point, id, method, x, speedup, moved);
        pdnn_mean_add(&p->speedup, log(speedup), 0);
        p->moved += moved;
    }
    p->in->left_out = p->in->selection.left_out + p->in->selection.count - p->in->chart.n_points;
}

/* What the steps are projected to: "zen5 with 2 threads", "compute x 2, DRAM bandwidth x 1.5". */
static const char *name_target(const struct picture *p) {
    struct pdnn_arena *arena = &p->in->arena;
    struct pdnn_hardware changes = p->hardware;
    struct pdnn_str text = {0};
    if (!changes.onto) {
        pdnn_hardware_text(&changes, &text);
        return pdnn_plot_keep(arena, &text);
    }
    changes.onto = NULL;
    if (changes.n_changes || changes.threads) {
        pdnn_str_printf(&text, " with ");
        pdnn_hardware_text(&changes, &text);
    }
    return pdnn_arena_printf(arena, "%s%s", pdnn_plot_directory(arena, p->in->request->hardware.onto),
                             pdnn_plot_keep(arena, &text));
}

/* Titles and caption, and two vertical lines at the ridge points, where compute and bandwidth balance, if
 * they are known: a thin one for the hardware as measured, a bold one as projected. */
static void describe(struct picture *p) {
    static const char *const said[] = {"as measured", "as projected"};
    struct pdnn_chart *chart = &p->in->chart;
    struct pdnn_str caption = {0};
    const int intensity = p->in->selection.results.at[PDNN_RESULT_INTENSITY_FLOP_PER_BYTE];
    const char *target = name_target(p),
               *of = pdnn_plot_directory(&p->in->arena, p->in->request->directory[0]);
    pdnn_str_printf(&caption, "Projected, not measured: %s", target);
    chart->titles[0] = pdnn_plot_titles(&p->in->arena,
                                        pdnn_arena_printf(&p->in->arena, "Projected speed-up of %s %s %s", of,
                                                          p->hardware.onto ? "on" : "with", target),
                                        &p->in->selection, NULL);
    chart->x_title = pdnn_plot_axis(&p->in->arena, &p->in->selection.results, p->in->column[X]);
    chart->y_title = "projected speed-up of a step";
    chart->dot = "half gets another bound";
    chart->no_dot = "less does";
    pdnn_chart_line_at_1(chart);
    for (int side = 0, count = 0; side < PDNN_HARDWARE_SIDES && p->in->column[X] == intensity; side++) {
        const double x = p->made.ridge[side];
        if (!(x > 0))
            continue;
        struct pdnn_chart_line *line =
            pdnn_chart_add_line(chart, (struct pdnn_spot){x, 0}, (struct pdnn_spot){x, INFINITY});
        line->dashed = true;
        line->thin = side == PDNN_HARDWARE_MEASURED;
        if (!count++) {
            pdnn_chart_note(chart, "ridge point in f32, FLOP/byte:");
            pdnn_str_printf(&caption,
                            "\nDashed: the ridge points of f32; thin as measured, bold as projected");
        }
        pdnn_chart_note(chart, "   %.3g %s", x, said[side]);
    }
    chart->caption = pdnn_plot_keep(&p->in->arena, &caption);
    pdnn_chart_note(chart, "geometric mean %.2f", pdnn_mean_geometric(&p->speedup));
    pdnn_chart_note(chart, "in ops with another bound:");
    pdnn_chart_note(chart, "   %.0f %% of the time", p->moved / (double)chart->n_points);
}

static enum pdnn_status draw(struct pdnn_picture *picture, struct pdnn_err *err) {
    const struct pdnn_plot_request *request = picture->request;
    struct picture p = {.in = picture};
    struct pdnn_ceilings *ceilings = pdnn_arena_alloc(&picture->arena, 1, sizeof *ceilings);
    if (pdnn_hardware_parse(&p.hardware, &request->hardware, &picture->arena, err) != PDNN_OK ||
        pdnn_ceilings_read_in(request->directory[0], ceilings, err) != PDNN_OK)
        return err->status;
    const struct pdnn_projection_request wanted = {&picture->selection, picture->ops, ceilings, &p.hardware,
                                                   NULL};
    const enum pdnn_status status = pdnn_project(&wanted, &p.made, err);
    if (status == PDNN_OK) {
        collect_points(&p);
        describe(&p);
    }
    pdnn_hardware_projection_finish(&p.made);
    return status;
}

const struct pdnn_plot_def pdnn_plot_projection = {
    .name = "projection",
    .help = "the speed-up that `paradnn project` projects with the same --compute, --bandwidth, --cache, "
            "--overhead, --onto and --threads, against --x (default: intensity_flop_per_byte, with the ridge "
            "points); --color (default: family), --only",
    .options = (const char *const[]){"compute", "bandwidth", "cache", "overhead", "onto", "threads", "x",
                                     "color", "only", NULL},
    .directories_max = 1,
    .drawn = "points",
    .left_out_as = "models that cannot be projected",
    .of = PDNN_PLOT_ROWS,
    .reads_ops = true,
    .column = {{"x", "intensity_flop_per_byte"}, {"color", "family"}},
    .none = "no projected model has a positive number in the column of --x",
    .draw = draw,
};
