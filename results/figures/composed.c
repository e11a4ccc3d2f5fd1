/* `paradnn plot composed`: composed over measured times of the models that a directory has both of. */
#include "results/figures/picture.h"
#include "results/store/journal.h"
#include "runtime/protocol/standing.h"
#include "base/stats.h"

#include <math.h>
#include <string.h>

static const double band = 0.1;

/* Those of one directory. */
static enum pdnn_status collect_points(struct pdnn_picture *p, size_t source, struct pdnn_err *err) {
    struct pdnn_visits visits = {0};
    const enum pdnn_status status =
        pdnn_journal_read(p->selection.results.directory[source], NULL, NULL, &visits, err);
    double *scratch = pdnn_arena_alloc(&p->arena, pdnn_visits_most(&visits), sizeof *scratch);
    for (size_t i = 0; i < p->selection.count && status == PDNN_OK; i++) {
        const char *id = pdnn_picture_id(p, i);
        const size_t number = pdnn_texts_find(&visits.ids, id);
        if (number == SIZE_MAX || pdnn_selection_source(&p->selection, i) != source)
            continue;
        const struct pdnn_visit *visit = visits.of[number].visit;
        const size_t n = visits.of[number].count;
        const struct pdnn_standing standing = pdnn_standing_of(visit, n);
        const double composed_ns = pdnn_visits_median_ns(visit, n, PDNN_VISITS_COMPOSED, scratch),
                     direct_ns = pdnn_visits_median_ns(visit, n, PDNN_VISITS_DIRECT, scratch),
                     ratio = composed_ns / direct_ns;
        struct pdnn_chart_point point =
            pdnn_picture_place(p, i, (struct pdnn_spot){direct_ns * 1e-6, ratio}, p->column[0]);
        point.panel = source;
        point.dotted = pdnn_standing_composed(&standing) == PDNN_METHOD_PREDICTED;
        if (!isnan(ratio))
            pdnn_picture_point(p, point, id, direct_ns, composed_ns, ratio,
                               point.dotted ? "predicted" : "composed");
    }
    p->left_out = p->selection.left_out + p->selection.count - p->chart.n_points;
    pdnn_visits_finish(&visits);
    return status;
}

/* Of a directory's points of each color, if there are several but not many, then of all. */
static void put_notes(struct pdnn_picture *p, size_t panel) {
    enum { COLORS_MAX = 12 };
    double *error = pdnn_arena_alloc(&p->arena, p->chart.n_points, sizeof *error);
    double *absolute = pdnn_arena_alloc(&p->arena, p->chart.n_points, sizeof *absolute);
    struct pdnn_texts colors = {0};
    size_t n = 0;
    for (size_t i = 0; i < p->chart.n_points; i++) {
        n += p->chart.point[i].panel == panel;
        pdnn_texts_add(&colors, p->chart.point[i].color.text);
    }
    const size_t shown = colors.count > 1 && colors.count <= COLORS_MAX ? colors.count : 0;
    if (n >= PDNN_SAMPLE_LEAST) {
        pdnn_picture_note(p, panel, "median error, median |error|,");
        pdnn_picture_note(p, panel, "share within 10 %:");
    }
    for (size_t k = 0; k <= shown; k++) {
        size_t count = 0, within = 0;
        for (size_t i = 0; i < p->chart.n_points; i++) {
            if (p->chart.point[i].panel != panel ||
                (k < shown && strcmp(p->chart.point[i].color.text, colors.text[k]) != 0))
                continue;
            error[count] = p->chart.point[i].spot.y - 1;
            absolute[count] = fabs(error[count]);
            within += absolute[count++] <= band;
        }
        if (count < PDNN_SAMPLE_LEAST)
            continue;
        pdnn_picture_note(
            p, panel,
            pdnn_arena_printf(&p->arena, "%s: %+.1f %%, %.1f %%, %.0f %%", k < shown ? colors.text[k] : "all",
                              100 * pdnn_median(error, count), 100 * pdnn_median(absolute, count),
                              100 * (double)within / (double)count));
    }
    pdnn_texts_finish(&colors);
}

static enum pdnn_status draw(struct pdnn_picture *p, struct pdnn_err *err) {
    struct pdnn_chart *chart = &p->chart;
    const size_t n = p->selection.results.n_directories;
    enum pdnn_status status = pdnn_picture_source_panels(p, "Composed over measured times in", err);
    if (status == PDNN_OK)
        pdnn_picture_table(p, "id #direct_ns #composed_ns #ratio method color");
    for (size_t s = 0; s < n && status == PDNN_OK; s++)
        status = collect_points(p, s, err);
    if (status != PDNN_OK || !chart->n_points)
        return status;
    chart->x_title = "measured time of a step (ms)";
    chart->y_title = "composed over measured";
    chart->caption = "Each point is one model that was both composed of its operators' times and run\n"
                     "Below 1 the sum is too short; dashed: 10 % off";
    chart->dot = "with interpolated operators";
    chart->no_dot = "all operators measured";
    chart->frame.y.low = 1 - 2 * band;
    chart->frame.y.high = 1 + 2 * band;
    for (size_t s = 0; s < n; s++) {
        for (int side = 1; side >= -1; side--) {
            const double ratio = 1 + side * band;
            struct pdnn_chart_line *line =
                pdnn_chart_add_line(chart, (struct pdnn_spot){0, ratio}, (struct pdnn_spot){INFINITY, ratio});
            line->dashed = line->thin = side != 0;
            line->panel = s;
        }
        put_notes(p, s);
    }
    return PDNN_OK;
}

const struct pdnn_plot_def pdnn_plot_composed = {
    .name = "composed",
    .help =
        "what 'paradnn compose' composed over what it measured, of the models that also ran (--validate), a "
        "panel for each of RESULTS; "
        "--color (default: family), --only",
    .options = (const char *const[]){"color", "only", NULL},
    .drawn = "points",
    .left_out_as = "models that were not both composed and run",
    .of = PDNN_PLOT_ROWS,
    .column = {{"color", "family"}},
    .none = "no model has been both composed and run; 'paradnn compose --validate N' runs some",
    .draw = draw,
};
