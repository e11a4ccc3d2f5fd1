#include "results/figures/roofs.h"
#include "base/units.h"
#include "results/store/tables.h"

#include <math.h>
#include <string.h>

/* Adds the FMA peak and the best of all other compute rows of a dtype, which is named if there are several.
 * Roofs are kept highest first. */
static void add_compute(struct pdnn_roof_panel *p, const char *dtype, bool is_named, int64_t threads,
                        struct pdnn_arena *arena) {
    const struct pdnn_ceiling *best[2] = {NULL, NULL};
    for (size_t i = 0; i < p->ceilings->count; i++) {
        const struct pdnn_ceiling *row = &p->ceilings->row[i];
        const int other = strcmp(row->pattern, "fma") != 0;
        if (row->threads == threads && strcmp(row->kind, "compute") == 0 && strcmp(row->dtype, dtype) == 0 &&
            (!best[other] || best[other]->value < row->value))
            best[other] = row;
    }
    for (int other = 0; other < 2; other++) {
        if (!best[other])
            continue;
        const double gflops = best[other]->value;
        const bool is_gemm = strncmp(best[other]->pattern, "gemm-", 5) == 0;
        const char *what = other ? pdnn_arena_printf(arena, is_gemm ? "best GEMM (%s)" : "compute (%s)",
                                                     best[other]->pattern + (is_gemm ? 5 : 0))
                                 : "FMA peak";
        size_t at = p->n_compute++;
        for (; at > 0 && p->compute[at - 1].gflops < gflops; at--)
            p->compute[at] = p->compute[at - 1];
        p->compute[at].gflops = gflops;
        p->compute[at].text =
            pdnn_arena_printf(arena, "%s%s%s %s GFLOP/s", is_named ? dtype : "", is_named ? " " : "", what,
                              pdnn_plot_number(arena, gflops, 3));
    }
}

static enum pdnn_status find_roofs(struct pdnn_roof_panel *p, struct pdnn_arena *arena,
                                   struct pdnn_err *err) {
    const char *first = "any dtype";
    size_t n_dtypes = 0;
    int64_t threads = 0;
    pdnn_parse_i64(p->threads, &threads);
    pdnn_roofs_init(&p->roofs, p->ceilings, threads);
    for (enum pdnn_dtype d = PDNN_DTYPE_COUNT; d-- > 0;) {
        first = p->has_dtype[d] ? pdnn_dtype_name(d) : first;
        /* A dtype that ran without a fast path has no roof; its points lie below the others. */
        p->has_dtype[d] = p->has_dtype[d] && p->roofs.peak_gflops[d] > 0;
        p->peak_gflops = fmax(p->peak_gflops, p->has_dtype[d] ? p->roofs.peak_gflops[d] : 0);
        n_dtypes += p->has_dtype[d];
    }
    if (!n_dtypes || !p->roofs.n_levels)
        return pdnn_fail(err, PDNN_INVALID,
                         "ceilings.csv has no roofs for %s on %s threads, which most rows ran with", first,
                         p->threads);
    for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT; d++)
        if (p->has_dtype[d])
            add_compute(p, pdnn_dtype_name(d), n_dtypes > 1, threads, arena);
    p->slowest_gbs = INFINITY;
    for (size_t i = 0; i < p->roofs.n_levels; i++) {
        p->slowest_gbs = fmin(p->slowest_gbs, p->roofs.level[i].gbs);
        p->fastest_gbs = fmax(p->fastest_gbs, p->roofs.level[i].gbs);
    }
    return PDNN_OK;
}

/* The panels of one directory, one for each of its thread counts that has roofs. The dtype of a row is f32
 * where the table does not say. */
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
    size_t *panel = pdnn_arena_alloc(arena, n + 1, sizeof *panel); /* by number of threads; 0: none */
    for (size_t at = 0; at < selection->count; at++) {
        if ((is_drawn && !is_drawn[at]) || pdnn_selection_source(selection, at) != source)
            continue;
        const char *dtype =
            pdnn_selection_get(selection, at, pdnn_results_setting(results, PDNN_SETTING_DTYPE));
        for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT; d++)
            all[of[at]].has_dtype[d] |= strcmp(*dtype ? dtype : "f32", pdnn_dtype_name(d)) == 0;
        pdnn_plot_tally_add(&all[of[at]].rows, pdnn_plot_notes(selection, at));
    }
    for (size_t k = 1; k < n; k++)
        most = all[k].rows.rows > all[most].rows.rows ? k : most;
    if (!all[most].rows.rows)
        return PDNN_OK;
    if (pdnn_ceilings_read_in(results->directory[source], ceilings, err) != PDNN_OK)
        return err->status;
    for (size_t k = 0; k < n; k++) {
        all[k].ceilings = ceilings;
        all[k].source = source;
        all[k].name = results->name[source];
        all[k].threads = threads[k];
        const bool found = all[k].rows.rows && find_roofs(&all[k], arena, k == most ? err : NULL) == PDNN_OK;
        if (k == most && !found)
            return err->status;
        if (found && panels->count == PDNN_CHART_PANELS_MAX)
            return pdnn_fail(err, PDNN_INVALID,
                             "more than %d directories and numbers of threads have roofs: choose some with "
                             "--only",
                             PDNN_CHART_PANELS_MAX);
        if (!found)
            continue;
        panels->panel[panels->count++] = all[k];
        panel[k] = panels->count;
    }
    for (size_t at = 0; at < selection->count; at++) {
        if ((is_drawn && !is_drawn[at]) || pdnn_selection_source(selection, at) != source)
            continue;
        const size_t own = panel[of[at]];
        struct pdnn_roof_panel *its = &panels->panel[panels->panel_of[at] = (own ? own : panel[most]) - 1];
        its->otherwise += !own;
        if (!own)
            pdnn_plot_tally_add(&its->rows, pdnn_plot_notes(selection, at));
    }
    return PDNN_OK;
}

/* The table with a row for each roof. */
static void start_table(const struct pdnn_roof_panels *panels, const char *names) {
    enum { GFLOPS = 3, BW_GBS };
    struct pdnn_table *data = &panels->in->data;
    pdnn_picture_table(panels->in,
                       pdnn_arena_printf(&panels->in->arena,
                                         "kind name #intensity_flop_per_byte #gflops #bw_gbs %s%s", names,
                                         panels->count > 1 ? " " PDNN_RESULTS_KEY " threads" : ""));
    for (const struct pdnn_roof_panel *p = panels->panel; p < panels->panel + panels->count; p++)
        for (size_t i = 0, n = p->roofs.n_levels; i < n + p->n_compute; i++) {
            const char *const texts[] = {i < n ? "bandwidth" : "compute",
                                         i < n ? p->roofs.level[i].name : p->compute[i - n].text};
            const size_t row = pdnn_table_add_texts(data, 2, texts);
            pdnn_table_set_number(data, row, i < n ? BW_GBS : GFLOPS,
                                  i < n ? p->roofs.level[i].gbs : p->compute[i - n].gflops);
            if (panels->count > 1)
                pdnn_picture_fill(panels->in, data->n_columns - 2, p->name, p->threads);
        }
}

enum pdnn_status pdnn_roof_panels_find(struct pdnn_roof_panels *panels, struct pdnn_picture *picture,
                                       const bool *is_drawn, const char *names, struct pdnn_err *err) {
    const size_t count = picture->selection.count;
    *panels = (struct pdnn_roof_panels){.in = picture};
    panels->panel_of = pdnn_arena_alloc(&picture->arena, count + 1, sizeof *panels->panel_of);
    for (size_t source = 0; source < picture->selection.results.n_directories; source++)
        if (find_panels(panels, is_drawn, source, err) != PDNN_OK)
            return err->status;
    start_table(panels, names);
    return PDNN_OK;
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
    const double room = fmin(text_pixels, text_part * f->width);
    bool left = true, down = true;
    for (int try = 0; try < TRIES && (left || down); try++) {
        left = down = false;
        for (size_t panel = 0; panel < panels->count; panel++) {
            const struct pdnn_roof_panel *p = &panels->panel[panel];
            for (size_t i = 0; i < p->roofs.n_levels; i++) {
                const double gbs = p->roofs.level[i].gbs;
                const bool fits = free_pixels(chart, panel, gbs, p->peak_gflops) >= room;
                left |= !fits && f->x.low >= f->y.low / gbs;
                down |= !fits && f->x.low < f->y.low / gbs;
            }
        }
        f->x.low /= left ? step : 1;
        f->y.low /= down ? step : 1;
    }
}

static void choose_ranges(const struct pdnn_roof_panels *panels, struct pdnn_chart *chart) {
    struct pdnn_frame *f = &chart->frame;
    double left = INFINITY, right = 0, least_peak = INFINITY, least_roof = INFINITY, peak = 0;
    pdnn_chart_fit(chart);
    for (size_t k = 0; k < panels->count; k++) {
        const struct pdnn_roof_panel *p = &panels->panel[k];
        left = fmin(left, p->peak_gflops / p->fastest_gbs);
        right = fmax(right, p->peak_gflops / p->slowest_gbs);
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

/* A bandwidth is named with the pattern that gave it, at the level itself or at one further out. */
static void put_lines(const struct pdnn_roof_panel *p, size_t panel, struct pdnn_chart *chart) {
    const struct pdnn_frame *f = &chart->frame;
    for (size_t i = 0; i < p->roofs.n_levels; i++) {
        const struct pdnn_roof_level *level = &p->roofs.level[i];
        const double x = fmax(f->x.low, f->y.low / level->gbs);
        const char *pattern = "";
        for (size_t k = p->ceilings->count; k-- > 0;)
            if (strcmp(p->ceilings->row[k].kind, "bandwidth") == 0 && p->ceilings->row[k].value == level->gbs)
                pattern = p->ceilings->row[k].pattern;
        struct pdnn_chart_line *line =
            pdnn_chart_add_line(chart, (struct pdnn_spot){x, x * level->gbs},
                                (struct pdnn_spot){p->peak_gflops / level->gbs, p->peak_gflops});
        line->panel = panel;
        line->along = pdnn_arena_printf(chart->arena, "%s %s GB/s (%s)", level->name,
                                        pdnn_plot_number(chart->arena, level->gbs, 3), pattern);
    }
    for (size_t i = 0; i < p->n_compute; i++) {
        const double gflops = p->compute[i].gflops;
        struct pdnn_chart_line *line =
            pdnn_chart_add_line(chart, (struct pdnn_spot){gflops / p->fastest_gbs, gflops},
                                (struct pdnn_spot){f->x.high, gflops});
        line->panel = panel;
        line->dashed = i > 0;
        line->beside = p->compute[i].text;
    }
}

/* "Roofline of new.results: 30 models"; below, the day of the first visit to any chosen instance of the
 * directory, and in its first panel how many of its rows stand in none. */
static struct pdnn_titles titles_of(const struct pdnn_roof_panels *panels, const struct pdnn_roof_panel *p,
                                    const char *what) {
    const struct pdnn_selection *selection = &panels->in->selection;
    struct pdnn_arena *arena = &panels->in->arena;
    struct pdnn_str below = {0};
    const char *first = "", *title = pdnn_arena_printf(arena, "%s of %s: %zu model%s", what, p->name,
                                                       p->rows.rows, p->rows.rows == 1 ? "" : "s");
    size_t left_out = 0;
    for (size_t at = 0; at < selection->count + selection->left_out; at++) {
        if (pdnn_selection_source(selection, at) != p->source)
            continue;
        const char *started = pdnn_selection_word(selection, at, PDNN_RESULT_STARTED_UTC);
        if (at < selection->count && *started && (!*first || strcmp(started, first) < 0))
            first = started;
        left_out++;
    }
    for (size_t k = 0; k < panels->count; k++)
        left_out -= panels->panel[k].source == p->source ? panels->panel[k].rows.rows : 0;
    pdnn_str_printf(&below, "%s", pdnn_plot_cpu(arena, &selection->results.directory[p->source], 1));
    if (*p->threads)
        pdnn_str_printf(&below, ", %s thread%s", p->threads, strcmp(p->threads, "1") == 0 ? "" : "s");
    for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT; d++)
        if (p->has_dtype[d])
            pdnn_str_printf(&below, ", %s", pdnn_dtype_name(d));
    if (*first)
        pdnn_str_printf(&below, ", %.10s", first);
    pdnn_plot_tally_put(&p->rows, &below);
    if (p->otherwise)
        pdnn_str_printf(&below, "; %zu of the models ran with other threads", p->otherwise);
    if (left_out && (p == panels->panel || p[-1].source != p->source))
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
