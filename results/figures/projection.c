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
    size_t source; /* the directory that is projected, and its: */
    struct pdnn_hardware_projection made;
    double moved; /* of all points, the sum of per cent */
    struct pdnn_mean speedup;
};

/* Those of one directory. */
static void collect_points(struct picture *p) {
    const struct pdnn_table *models = &p->made.models;
    for (size_t at = 0, model = 0; at < p->in->selection.count && model < models->n_rows; at++) {
        if (pdnn_selection_source(&p->in->selection, at) != p->source)
            continue;
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
        point.panel = p->source;
        pdnn_picture_point(p->in, point, id, method, x, speedup, moved);
        pdnn_mean_add(&p->speedup, log(speedup), 0);
        p->moved += moved;
    }
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

/* Two vertical lines at the ridge points, where compute and bandwidth balance, if they are known: a thin one
 * for the hardware as measured, a bold one as projected; and what the models of the directory gain. Returns
 * whether there is a line. */
static bool describe_panel(struct picture *p) {
    static const char *const said[] = {"as measured", "as projected"};
    struct pdnn_arena *arena = &p->in->arena;
    const int intensity = p->in->selection.results.at[PDNN_RESULT_INTENSITY_FLOP_PER_BYTE];
    size_t count = 0;
    for (int side = 0; side < PDNN_HARDWARE_SIDES && p->in->column[X] == intensity; side++) {
        const double x = p->made.ridge[side];
        if (!(x > 0))
            continue;
        struct pdnn_chart_line *line =
            pdnn_chart_add_line(&p->in->chart, (struct pdnn_spot){x, 0}, (struct pdnn_spot){x, INFINITY});
        line->dashed = true;
        line->thin = side == PDNN_HARDWARE_MEASURED;
        line->panel = p->source;
        if (!count++)
            pdnn_picture_note(p->in, p->source, "ridge point in f32, FLOP/byte:");
        pdnn_picture_note(p->in, p->source, pdnn_arena_printf(arena, "   %.3g %s", x, said[side]));
    }
    if (p->speedup.n) {
        pdnn_picture_note(p->in, p->source,
                          pdnn_arena_printf(arena, "geometric mean %.2f", pdnn_mean_geometric(&p->speedup)));
        pdnn_picture_note(p->in, p->source, "in ops with another bound:");
        pdnn_picture_note(
            p->in, p->source,
            pdnn_arena_printf(arena, "   %.0f %% of the time", p->moved / (double)p->speedup.n));
    }
    return count > 0;
}

static void describe(struct picture *p, bool has_ridges) {
    struct pdnn_chart *chart = &p->in->chart;
    chart->caption = pdnn_arena_printf(
        &p->in->arena, "Projected, not measured: %s%s", name_target(p),
        has_ridges ? "\nDashed: the ridge points of f32; thin as measured, bold as projected" : "");
    chart->x_title = pdnn_plot_axis(&p->in->arena, &p->in->selection.results, p->in->column[X]);
    chart->y_title = "projected speed-up of a step";
    chart->dot = "half gets another bound";
    chart->no_dot = "less does";
}

/* Projects the rows of one directory. */
static enum pdnn_status project(struct picture *p, bool *has_ridges, struct pdnn_err *err) {
    struct pdnn_picture *in = p->in;
    const struct pdnn_results *results = &in->selection.results;
    struct pdnn_roof_rows *roof_rows = pdnn_arena_alloc(&in->arena, 1, sizeof *roof_rows);
    struct pdnn_selection part;
    if (pdnn_roof_rows_read_in(results->directory[p->source], roof_rows, err) != PDNN_OK)
        return err->status;
    pdnn_picture_part(in, p->source, &part);
    const struct pdnn_projection_request wanted = {&part, in->ops, roof_rows, &p->hardware, NULL};
    p->speedup = (struct pdnn_mean){0};
    p->moved = 0;
    const enum pdnn_status status = pdnn_project(&wanted, &p->made, err);
    if (status == PDNN_OK) {
        collect_points(p);
        *has_ridges = describe_panel(p) || *has_ridges;
    }
    pdnn_hardware_projection_finish(&p->made);
    pdnn_selection_close(&part);
    return status;
}

static enum pdnn_status draw(struct pdnn_picture *picture, struct pdnn_err *err) {
    struct picture p = {.in = picture};
    const size_t n = picture->selection.results.n_directories;
    bool has_ridges = false;
    if (pdnn_hardware_parse(&p.hardware, &picture->request->hardware, &picture->arena, err) != PDNN_OK ||
        pdnn_picture_source_panels(picture, "", err) != PDNN_OK)
        return err->status;
    for (size_t s = 0; s < n; s++)
        picture->chart.titles[s].title =
            pdnn_arena_printf(&picture->arena, "Projected speed-up of %s %s %s",
                              pdnn_plot_directory(&picture->arena, picture->selection.results.directory[s]),
                              p.hardware.onto ? "on" : "with", name_target(&p));
    pdnn_picture_table(picture, "id method #x #speedup #moved_pct color");
    pdnn_chart_line_at_1(&picture->chart);
    for (; p.source < n; p.source++)
        if (project(&p, &has_ridges, err) != PDNN_OK)
            return err->status;
    describe(&p, has_ridges);
    picture->left_out = picture->selection.left_out + picture->selection.count - picture->chart.n_points;
    return PDNN_OK;
}

const struct pdnn_plot_def pdnn_plot_projection = {
    .name = "projection",
    .help = "the speed-up that `paradnn project` projects with the same --compute, --bandwidth, --cache, "
            "--overhead, --onto and --threads, against --x (default: intensity_flop_per_byte, with the ridge "
            "points), a panel for each of RESULTS; --color (default: family), --only",
    .options = (const char *const[]){"compute", "bandwidth", "cache", "overhead", "onto", "threads", "x",
                                     "color", "only", NULL},
    .drawn = "points",
    .left_out_as = "models that cannot be projected",
    .of = PDNN_PLOT_ROWS,
    .reads_ops = true,
    .column = {{"x", "intensity_flop_per_byte"}, {"color", "family"}},
    .none = "no projected model has a positive number in the column of --x",
    .draw = draw,
};
