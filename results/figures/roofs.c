#include "results/figures/roofs.h"
#include "base/units.h"
#include "results/store/tables.h"

#include <math.h>
#include <string.h>

/* The dtype is f32 where the table does not say. */
static void add_row(struct pdnn_roof_panel *p, const char *dtype, unsigned notes) {
    for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT; d++)
        p->has_dtype[d] = p->has_dtype[d] || strcmp(*dtype ? dtype : "f32", pdnn_dtype_name(d)) == 0;
    pdnn_plot_tally_add(&p->rows, notes);
}

/* Roofs are kept highest first. A name includes the dtype if there are several. */
static void add_compute(struct pdnn_roof_panel *p, const struct pdnn_ceiling *row, struct pdnn_arena *arena) {
    static const char gemm_prefix[] = "gemm-";
    bool fma = strcmp(row->pattern, "fma") == 0;
    bool gemm = strncmp(row->pattern, gemm_prefix, sizeof gemm_prefix - 1) == 0;
    const char *detail = fma ? "" : row->pattern + (gemm ? sizeof gemm_prefix - 1 : 0);
    int dtypes = 0;
    for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT; d++)
        dtypes += p->has_dtype[d];
    const char *text = pdnn_arena_printf(
        arena, "%s%s%s%s%s%s %s GFLOP/s", dtypes > 1 ? row->dtype : "", dtypes > 1 ? " " : "",
        fma    ? "FMA peak"
        : gemm ? "best GEMM"
               : "compute",
        *detail ? " (" : "", detail, *detail ? ")" : "", pdnn_plot_number(arena, row->value, 3));
    size_t at = p->n_compute++;
    for (; at > 0 && p->compute[at - 1].gflops < row->value; at--)
        p->compute[at] = p->compute[at - 1];
    p->compute[at] = (struct pdnn_compute_roof){text, row->value};
}

/* The FMA peak and the best of all other compute rows. */
static void add_dtype(struct pdnn_roof_panel *p, enum pdnn_dtype dtype, int64_t threads,
                      struct pdnn_arena *arena) {
    const struct pdnn_ceiling *best[2] = {NULL, NULL};
    for (size_t i = 0; i < p->ceilings->count; i++) {
        const struct pdnn_ceiling *row = &p->ceilings->row[i];
        const int other = strcmp(row->pattern, "fma") != 0;
        if (row->threads == threads && strcmp(row->kind, "compute") == 0 &&
            strcmp(row->dtype, pdnn_dtype_name(dtype)) == 0 &&
            (!best[other] || best[other]->value < row->value))
            best[other] = row;
    }
    for (int other = 0; other < 2; other++)
        if (best[other])
            add_compute(p, best[other], arena);
}

static enum pdnn_status find_roofs(struct pdnn_roof_panel *p, struct pdnn_arena *arena,
                                   struct pdnn_err *err) {
    int64_t threads = 0;
    pdnn_parse_i64(p->threads, &threads);
    pdnn_roofs_init(&p->roofs, p->ceilings, threads);
    const char *missing = NULL;
    for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT; d++) {
        if (!p->has_dtype[d])
            continue;
        bool has_peak = p->roofs.peak_gflops[d] > 0;
        if (!missing && (!has_peak || !p->roofs.n_levels))
            missing = pdnn_dtype_name(d);
        /* A dtype that ran without a fast path has no roof; its points lie below the others. */
        p->has_dtype[d] = has_peak;
        p->peak_gflops = fmax(p->peak_gflops, p->roofs.peak_gflops[d]);
    }
    if (!(p->peak_gflops > 0) || !p->roofs.n_levels)
        return pdnn_fail(err, PDNN_INVALID,
                         "ceilings.csv has no roofs for %s on %s threads, which most rows ran with",
                         missing ? missing : "any dtype", p->threads);
    for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT; d++) {
        if (p->has_dtype[d])
            add_dtype(p, d, threads, arena);
    }
    return PDNN_OK;
}

/* The panels of one directory, one for each of its thread counts that has roofs. */
static enum pdnn_status find_panels(struct pdnn_roof_panels *panels, const bool *is_drawn, size_t source,
                                    struct pdnn_err *err) {
    const struct pdnn_selection *selection = &panels->in->selection;
    const struct pdnn_results *results = &selection->results;
    struct pdnn_arena *arena = &panels->in->arena;
    struct pdnn_ceilings *ceilings = pdnn_arena_alloc(arena, 1, sizeof *ceilings);
    const char **threads;
    size_t *of = pdnn_arena_alloc(arena, selection->count + 1, sizeof *of), most = 0;
    const size_t n = pdnn_selection_distinct(selection, pdnn_results_setting(results, PDNN_SETTING_THREADS),
                                             arena, &threads, of);
    struct pdnn_roof_panel *all = pdnn_arena_alloc(arena, n + 1, sizeof *all);
    struct pdnn_roof_panel **panel = pdnn_arena_alloc(arena, n + 1, sizeof *panel);
    for (size_t at = 0; at < selection->count; at++)
        if (is_drawn[at] && pdnn_selection_source(selection, at) == source)
            add_row(&all[of[at]],
                    pdnn_selection_get(selection, at, pdnn_results_setting(results, PDNN_SETTING_DTYPE)),
                    pdnn_plot_notes(selection, at));
    for (size_t k = 1; k < n; k++)
        most = all[k].rows.rows > all[most].rows.rows ? k : most;
    if (!all[most].rows.rows)
        return PDNN_OK;
    if (pdnn_ceilings_read_in(results->directory[source], ceilings, err) != PDNN_OK)
        return err->status;
    for (size_t k = 0; k < n; k++) {
        struct pdnn_err missing = {.status = PDNN_OK};
        all[k].ceilings = ceilings;
        all[k].source = source;
        all[k].name = results->name[source];
        all[k].threads = threads[k];
        if (!all[k].rows.rows)
            continue;
        if (find_roofs(&all[k], arena, k == most ? err : &missing) != PDNN_OK) {
            if (k == most)
                return err->status;
            continue;
        }
        if (panels->count == PDNN_CHART_PANELS_MAX)
            return pdnn_fail(err, PDNN_INVALID,
                             "more than %d directories and numbers of threads have roofs: choose some with "
                             "--only",
                             PDNN_CHART_PANELS_MAX);
        panels->panel[panels->count] = all[k];
        panel[k] = &panels->panel[panels->count++];
    }
    for (size_t at = 0; at < selection->count; at++) {
        if (!is_drawn[at] || pdnn_selection_source(selection, at) != source)
            continue;
        const bool has_own = panel[of[at]] != NULL;
        struct pdnn_roof_panel *its = panel[has_own ? of[at] : most];
        panels->panel_of[at] = (size_t)(its - panels->panel);
        its->otherwise += !has_own;
        if (!has_own)
            pdnn_plot_tally_add(&its->rows, pdnn_plot_notes(selection, at));
    }
    return PDNN_OK;
}

/* The table with a row for each roof. */
static void start_table(const struct pdnn_roof_panels *panels, const char *names) {
    enum { KIND, NAME, INTENSITY, GFLOPS, BW_GBS };
    struct pdnn_table *data = &panels->in->data;
    pdnn_picture_table(panels->in,
                       pdnn_arena_printf(&panels->in->arena,
                                         "kind name #intensity_flop_per_byte #gflops #bw_gbs %s%s", names,
                                         panels->count > 1 ? " " PDNN_RESULTS_KEY " threads" : ""));
    for (size_t panel = 0; panel < panels->count; panel++) {
        const struct pdnn_roof_panel *p = &panels->panel[panel];
        for (size_t i = 0; i < p->roofs.n_levels + p->n_compute; i++) {
            const bool is_level = i < p->roofs.n_levels;
            const struct pdnn_roof_level *level = &p->roofs.level[is_level ? i : 0];
            const struct pdnn_compute_roof *compute = &p->compute[is_level ? 0 : i - p->roofs.n_levels];
            size_t row = pdnn_table_add_row(data);
            pdnn_table_set_text(data, row, KIND, is_level ? "bandwidth" : "compute");
            pdnn_table_set_text(data, row, NAME, is_level ? level->name : compute->text);
            pdnn_table_set_number(data, row, is_level ? BW_GBS : GFLOPS,
                                  is_level ? level->gbs : compute->gflops);
            if (panels->count > 1) {
                pdnn_table_set_text(data, row, data->n_columns - 2, p->name);
                pdnn_table_set_text(data, row, data->n_columns - 1, p->threads);
            }
        }
    }
}

enum pdnn_status pdnn_roof_panels_find(struct pdnn_roof_panels *panels, struct pdnn_picture *picture,
                                       const bool *is_drawn, const char *names, struct pdnn_err *err) {
    *panels =
        (struct pdnn_roof_panels){.in = picture,
                                  .panel_of = pdnn_arena_alloc(&picture->arena, picture->selection.count + 1,
                                                               sizeof *panels->panel_of)};
    for (size_t source = 0; source < picture->selection.results.n_directories; source++)
        if (find_panels(panels, is_drawn, source, err) != PDNN_OK)
            return err->status;
    start_table(panels, names);
    return PDNN_OK;
}

static double fastest_gbs(const struct pdnn_roofs *roofs) {
    double fastest = 0;
    for (size_t i = 0; i < roofs->n_levels; i++)
        fastest = fmax(fastest, roofs->level[i].gbs);
    return fastest;
}

/* The length of a bandwidth's line in pixels, from its lower end to the first point on it. */
static double free_pixels(const struct pdnn_chart *chart, size_t panel, double gbs, double peak_gflops) {
    static const double near_pixels = 18;
    const struct pdnn_frame *f = &chart->frame;
    double x = fmax(f->x.low, f->y.low / gbs), angle = pdnn_frame_angle(f);
    struct pdnn_spot low = pdnn_frame_to_pixels(f, (struct pdnn_spot){x, x * gbs});
    struct pdnn_spot high = pdnn_frame_to_pixels(f, (struct pdnn_spot){peak_gflops / gbs, peak_gflops});
    double length = hypot(high.x - low.x, high.y - low.y);
    for (size_t i = 0; i < chart->n_points; i++) {
        struct pdnn_spot at = pdnn_frame_to_pixels(f, chart->point[i].spot);
        double along = (at.x - low.x) * cos(angle) + (at.y - low.y) * sin(angle);
        double across = (at.y - low.y) * cos(angle) - (at.x - low.x) * sin(angle);
        if (chart->point[i].panel == panel && fabs(across) < near_pixels && along > -near_pixels)
            length = fmin(length, along - near_pixels);
    }
    return length;
}

/* Widens the ranges to the left and down until each slanted roof has room for its text before the first point
 * on it, within reason. */
static void make_room_for_texts(const struct pdnn_roof_panels *panels, struct pdnn_chart *chart) {
    enum { TRIES = 24 };
    static const double text_pixels = 215, text_part = 0.3, step = 1.15;
    struct pdnn_frame *f = &chart->frame;
    double room = fmin(text_pixels, text_part * f->width);
    bool fits = false;
    for (int try = 0; try < TRIES && !fits; try++) {
        bool left = false, down = false;
        for (size_t panel = 0; panel < panels->count; panel++) {
            const struct pdnn_roof_panel *p = &panels->panel[panel];
            for (size_t i = 0; i < p->roofs.n_levels; i++) {
                double gbs = p->roofs.level[i].gbs;
                if (free_pixels(chart, panel, gbs, p->peak_gflops) >= room)
                    continue;
                left = left || f->x.low >= f->y.low / gbs;
                down = down || f->x.low < f->y.low / gbs;
            }
        }
        f->x.low /= left ? step : 1;
        f->y.low /= down ? step : 1;
        fits = !left && !down;
    }
}

static void choose_ranges(const struct pdnn_roof_panels *panels, struct pdnn_chart *chart) {
    struct pdnn_frame *f = &chart->frame;
    double left = INFINITY, right = 0, least_peak = INFINITY, least_roof = INFINITY, peak = 0;
    pdnn_chart_fit(chart);
    for (size_t k = 0; k < panels->count; k++) {
        const struct pdnn_roof_panel *p = &panels->panel[k];
        double slowest = INFINITY;
        for (size_t i = 0; i < p->roofs.n_levels; i++)
            slowest = fmin(slowest, p->roofs.level[i].gbs);
        left = fmin(left, p->peak_gflops / fastest_gbs(&p->roofs));
        right = fmax(right, p->peak_gflops / slowest);
        least_peak = fmin(least_peak, p->peak_gflops);
        if (p->n_compute)
            least_roof = fmin(least_roof, p->compute[p->n_compute - 1].gflops);
        peak = fmax(peak, p->peak_gflops);
    }
    f->x.low = fmin(f->x.low / 1.2, left / 12);
    f->x.high = fmax(f->x.high * 1.2, right * 5);
    f->y.low = fmin(fmin(f->y.low, least_roof) / 1.6, least_peak / 60);
    f->y.high = fmax(f->y.high, peak) * 1.6;
    make_room_for_texts(panels, chart);
}

/* The pattern that gave the level its bandwidth, from the level itself or from one further out. */
static const char *pattern_of(const struct pdnn_roof_panel *p, const struct pdnn_roof_level *level) {
    for (size_t i = 0; i < p->ceilings->count; i++) {
        const struct pdnn_ceiling *row = &p->ceilings->row[i];
        if (strcmp(row->kind, "bandwidth") == 0 && row->value == level->gbs)
            return row->pattern;
    }
    return "";
}

static void put_lines(const struct pdnn_roof_panel *roofs, size_t panel, struct pdnn_chart *chart) {
    const struct pdnn_frame *f = &chart->frame;
    for (size_t i = 0; i < roofs->roofs.n_levels; i++) {
        const struct pdnn_roof_level *level = &roofs->roofs.level[i];
        double x = fmax(f->x.low, f->y.low / level->gbs);
        struct pdnn_chart_line *line =
            pdnn_chart_add_line(chart, (struct pdnn_spot){x, x * level->gbs},
                                (struct pdnn_spot){roofs->peak_gflops / level->gbs, roofs->peak_gflops});
        line->panel = panel;
        line->along =
            pdnn_arena_printf(chart->arena, "%s %s GB/s (%s)", level->name,
                              pdnn_plot_number(chart->arena, level->gbs, 3), pattern_of(roofs, level));
    }
    for (size_t i = 0; i < roofs->n_compute; i++) {
        double gflops = roofs->compute[i].gflops;
        struct pdnn_chart_line *line =
            pdnn_chart_add_line(chart, (struct pdnn_spot){gflops / fastest_gbs(&roofs->roofs), gflops},
                                (struct pdnn_spot){f->x.high, gflops});
        line->panel = panel;
        line->dashed = i > 0;
        line->beside = roofs->compute[i].text;
    }
}

/* The first visit to any chosen instance of the directory. */
static const char *first_start(const struct pdnn_selection *selection, size_t source) {
    const char *first = "";
    int column = selection->results.at[PDNN_RESULT_STARTED_UTC];
    for (size_t at = 0; at < selection->count; at++) {
        const char *started = pdnn_selection_get(selection, at, column);
        if (pdnn_selection_source(selection, at) == source && *started &&
            (!*first || strcmp(started, first) < 0))
            first = started;
    }
    return first;
}

/* The rows of a panel's directory that stand in none, which its first panel says. */
static size_t count_left_out(const struct pdnn_roof_panels *panels, const struct pdnn_roof_panel *p) {
    const struct pdnn_selection *selection = &panels->in->selection;
    size_t count = 0;
    if (p > panels->panel && p[-1].source == p->source)
        return 0;
    for (size_t at = 0; at < selection->count + selection->left_out; at++)
        count += pdnn_selection_source(selection, at) == p->source;
    for (size_t k = 0; k < panels->count; k++)
        count -= panels->panel[k].source == p->source ? panels->panel[k].rows.rows : 0;
    return count;
}

/* "Roofline of new.results: 30 models", and what is below. */
static struct pdnn_titles titles_of(const struct pdnn_roof_panels *panels, const struct pdnn_roof_panel *p,
                                    const char *what) {
    const size_t left_out = count_left_out(panels, p);
    const struct pdnn_selection *selection = &panels->in->selection;
    struct pdnn_arena *arena = &panels->in->arena;
    struct pdnn_str below = {0};
    const char *first = first_start(selection, p->source),
               *title = pdnn_arena_printf(arena, "%s of %s: %zu model%s", what, p->name, p->rows.rows,
                                          p->rows.rows == 1 ? "" : "s");
    pdnn_str_printf(&below, "%s", pdnn_plot_cpu(arena, &selection->results.directory[p->source], 1));
    if (*p->threads)
        pdnn_str_printf(&below, ", %s thread%s", p->threads, strcmp(p->threads, "1") == 0 ? "" : "s");
    for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT; d++) {
        if (p->has_dtype[d])
            pdnn_str_printf(&below, ", %s", pdnn_dtype_name(d));
    }
    if (*first)
        pdnn_str_printf(&below, ", %.10s", first);
    pdnn_plot_tally_put(&p->rows, &below);
    if (p->otherwise)
        pdnn_str_printf(&below, "; %zu of the models ran with other threads", p->otherwise);
    if (left_out)
        pdnn_str_printf(&below, "; %zu row%s without a rate left out", left_out, left_out == 1 ? "" : "s");
    return (struct pdnn_titles){title, pdnn_plot_keep(arena, &below)};
}

void pdnn_roof_panels_put(const struct pdnn_roof_panels *panels, const char *what) {
    struct pdnn_chart *chart = &panels->in->chart;
    chart->x_title = "operational intensity (FLOP per byte of compulsory traffic)";
    chart->y_title = "performance (GFLOP/s)";
    chart->n_panels = panels->count;
    choose_ranges(panels, chart);
    for (size_t panel = 0; panel < panels->count; panel++) {
        const struct pdnn_roof_panel *p = &panels->panel[panel];
        chart->titles[panel] = titles_of(panels, p, what);
        put_lines(p, panel, chart);
    }
}
