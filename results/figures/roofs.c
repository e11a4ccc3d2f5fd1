#include "results/figures/roofs.h"
#include "base/units.h"
#include "results/store/tables.h"

#include <math.h>
#include <string.h>

/* " (25 to 45)"; "" where it has no range. */
static const char *range_text(struct pdnn_arena *arena, const struct pdnn_drawn_roof *roof) {
    if (!(roof->low < roof->high))
        return "";
    return pdnn_arena_printf(arena, " (%s to %s)", pdnn_plot_number(arena, roof->low, 3),
                             pdnn_plot_number(arena, roof->high, 3));
}

/* What a pattern of a dtype ranges over: joined measurements, in both states. */
static void find_range(const struct pdnn_roof_rows *roof_rows, const struct pdnn_roof_row *of,
                       struct pdnn_drawn_roof *roof) {
    roof->value = roof->low = roof->high = of->value;
    for (size_t i = 0; i < roof_rows->count; i++) {
        const struct pdnn_roof_row *row = &roof_rows->row[i];
        const bool several = row->measurements > 1;
        if (row->threads != of->threads || strcmp(row->kind, of->kind) != 0 ||
            strcmp(row->pattern, of->pattern) != 0 || strcmp(row->dtype, of->dtype) != 0)
            continue;
        roof->low = fmin(roof->low, several ? row->low : row->value);
        roof->high = fmax(roof->high, several ? row->high : row->value);
    }
}

/* Adds the FMA peak and the best of all other compute rows of a dtype, which is named if there are several.
 * Roofs are kept highest first. */
static void add_compute(struct pdnn_roof_panel *p, const char *dtype, bool is_named, int64_t threads,
                        struct pdnn_arena *arena) {
    const struct pdnn_roof_row *best[2] = {NULL, NULL};
    for (size_t i = 0; i < p->roof_rows->count; i++) {
        const struct pdnn_roof_row *row = &p->roof_rows->row[i];
        const int other = strcmp(row->pattern, "fma") != 0;
        if (row->threads == threads && strcmp(row->kind, "compute") == 0 && strcmp(row->dtype, dtype) == 0 &&
            strcmp(row->state, PDNN_ROOF_ROW_FAR) != 0 && (!best[other] || best[other]->value < row->value))
            best[other] = row;
    }
    for (int other = 0; other < 2; other++) {
        if (!best[other])
            continue;
        struct pdnn_drawn_roof roof;
        find_range(p->roof_rows, best[other], &roof);
        const bool is_gemm = strncmp(best[other]->pattern, "gemm-", 5) == 0;
        const char *what = other ? pdnn_arena_printf(arena, is_gemm ? "best GEMM (%s)" : "compute (%s)",
                                                     best[other]->pattern + (is_gemm ? 5 : 0))
                                 : "FMA peak";
        roof.name = roof.text =
            pdnn_arena_printf(arena, "%s%s%s %s GFLOP/s%s", is_named ? dtype : "", is_named ? " " : "", what,
                              pdnn_plot_number(arena, roof.value, 3), range_text(arena, &roof));
        size_t at = p->n_compute++;
        for (; at > 0 && p->compute[at - 1].value < roof.value; at--)
            p->compute[at] = p->compute[at - 1];
        p->compute[at] = roof;
    }
    for (size_t at = 0; at < p->n_compute; at++)
        p->compute[at].dashed = at > 0;
}

/* The pattern that gave the best rate, at the level itself or at one further out. */
static const char *best_pattern(const struct pdnn_roof_panel *p, double gbs) {
    const char *pattern = "";
    for (size_t k = p->roof_rows->count; k-- > 0;)
        if (strcmp(p->roof_rows->row[k].kind, "bandwidth") == 0 && p->roof_rows->row[k].value == gbs)
            pattern = p->roof_rows->row[k].pattern;
    return pattern;
}

static void add_slanted(struct pdnn_roof_panel *p, int64_t threads, struct pdnn_arena *arena) {
    static const double apart = 1.05;
    struct pdnn_roofs low, high;
    pdnn_roofs_range(p->roof_rows, threads, &low, &high);
    for (size_t i = 0; i < p->roofs.n_levels; i++) {
        const struct pdnn_roof_level *level = &p->roofs.level[i];
        const bool differ = level->gbs > apart * level->read_gbs,
                   is_drawn[] = {p->has_infer && differ, p->has_train || !differ};
        for (int best = 0; best < 2; best++) {
            if (!is_drawn[best])
                continue;
            struct pdnn_drawn_roof *roof = &p->slanted[p->n_slanted++];
            roof->value = best ? level->gbs : level->read_gbs;
            roof->low = best ? low.level[i].gbs : low.level[i].read_gbs;
            roof->high = best ? high.level[i].gbs : high.level[i].read_gbs;
            roof->dashed = best && is_drawn[0];
            roof->name = best ? level->name : pdnn_arena_printf(arena, "%s reads", level->name);
            if (!roof->dashed)
                roof->text = pdnn_arena_printf(
                    arena, "%s %s GB/s (%s)%s", level->name, pdnn_plot_number(arena, roof->value, 3),
                    best ? best_pattern(p, level->gbs) : "read", range_text(arena, roof));
        }
    }
}

static enum pdnn_status find_roofs(struct pdnn_roof_panel *p, struct pdnn_arena *arena,
                                   struct pdnn_err *err) {
    const char *first = "any dtype";
    size_t n_dtypes = 0;
    int64_t threads = 0;
    pdnn_parse_i64(p->threads, &threads);
    pdnn_roofs_init(&p->roofs, p->roof_rows, threads);
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
    add_slanted(p, threads, arena);
    return PDNN_OK;
}

/* The panels of one directory, one for each of its thread counts that has roofs. The dtype of a row is f32
 * where the table does not say. */
static enum pdnn_status find_panels(struct pdnn_roof_panels *panels, const bool *is_drawn, size_t source,
                                    struct pdnn_err *err) {
    const struct pdnn_selection *selection = &panels->in->selection;
    const struct pdnn_results *results = &selection->results;
    struct pdnn_arena *arena = &panels->in->arena;
    struct pdnn_roof_rows *roof_rows = pdnn_arena_alloc(arena, 1, sizeof *roof_rows);
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
        const char *mode =
            pdnn_selection_get(selection, at, pdnn_results_setting(results, PDNN_SETTING_MODE));
        *(strcmp(mode, "train") == 0 ? &all[of[at]].has_train : &all[of[at]].has_infer) = true;
        for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT; d++)
            all[of[at]].has_dtype[d] |= strcmp(*dtype ? dtype : "f32", pdnn_dtype_name(d)) == 0;
        pdnn_plot_tally_add(&all[of[at]].rows, pdnn_plot_notes(selection, at));
    }
    for (size_t k = 1; k < n; k++)
        most = all[k].rows.rows > all[most].rows.rows ? k : most;
    if (!all[most].rows.rows)
        return PDNN_OK;
    if (pdnn_roof_rows_read_in(results->directory[source], roof_rows, err) != PDNN_OK)
        return err->status;
    for (size_t k = 0; k < n; k++) {
        all[k].roof_rows = roof_rows;
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
        for (size_t i = 0, n = p->n_slanted; i < n + p->n_compute; i++) {
            const struct pdnn_drawn_roof *roof = i < n ? &p->slanted[i] : &p->compute[i - n];
            const char *const texts[] = {i < n ? "bandwidth" : "compute", roof->name};
            const size_t row = pdnn_table_add_texts(data, 2, texts);
            pdnn_table_set_number(data, row, i < n ? BW_GBS : GFLOPS, roof->value);
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
            for (size_t i = 0; i < p->n_slanted; i++) {
                const double gbs = p->slanted[i].value;
                const bool fits =
                    !p->slanted[i].text || free_pixels(chart, panel, gbs, p->peak_gflops) >= room;
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
        for (size_t i = 0; i < p->n_slanted; i++) {
            left = fmin(left, p->peak_gflops / p->slanted[i].value);
            right = fmax(right, p->peak_gflops / p->slanted[i].value);
        }
        least_peak = fmin(least_peak, p->peak_gflops);
        if (p->n_compute)
            least_roof = fmin(least_roof, p->compute[p->n_compute - 1].value);
        peak = fmax(peak, p->peak_gflops);
    }
    f->x.low = fmin(f->x.low / 1.2, left / 12);
    f->x.high = fmax(f->x.high * 1.2, right * 5);
    f->y.low = fmin(fmin(f->y.low, least_roof) / 1.6, least_peak / 60);
    f->y.high = fmax(f->y.high, peak) * 1.6;
    make_room_for_texts(panels, chart);
}

static struct pdnn_spot low_end(const struct pdnn_frame *f, double gbs) {
    const double x = fmax(f->x.low, f->y.low / gbs);
    return (struct pdnn_spot){x, x * gbs};
}

static void put_lines(const struct pdnn_roof_panel *p, size_t panel, struct pdnn_chart *chart) {
    const struct pdnn_frame *f = &chart->frame;
    const double peak = p->peak_gflops;
    double fastest = 0;
    for (size_t i = 0; i < p->n_slanted; i++) {
        const struct pdnn_drawn_roof *roof = &p->slanted[i];
        fastest = fmax(fastest, roof->value);
        struct pdnn_chart_line *line =
            pdnn_chart_add_line(chart, low_end(f, roof->value), (struct pdnn_spot){peak / roof->value, peak});
        line->panel = panel;
        line->dashed = roof->dashed;
        line->along = roof->text;
        if (roof->low < roof->high)
            memcpy(line->band,
                   (struct pdnn_spot[]){low_end(f, roof->low),
                                        {peak / roof->low, peak},
                                        {peak / roof->high, peak},
                                        low_end(f, roof->high)},
                   sizeof line->band);
    }
    for (size_t i = 0; i < p->n_compute; i++) {
        const struct pdnn_drawn_roof *roof = &p->compute[i];
        const double from = roof->value / fastest, to = f->x.high;
        struct pdnn_chart_line *line = pdnn_chart_add_line(chart, (struct pdnn_spot){from, roof->value},
                                                           (struct pdnn_spot){to, roof->value});
        line->panel = panel;
        line->dashed = roof->dashed;
        line->beside = roof->text;
        if (roof->low < roof->high)
            memcpy(line->band,
                   (struct pdnn_spot[]){
                       {from, roof->low}, {to, roof->low}, {to, roof->high}, {from, roof->high}},
                   sizeof line->band);
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
    bool has_band = false, has_reads = false, has_both = false;
    for (size_t k = 0; k < panels->count; k++)
        for (size_t i = 0; i < panels->panel[k].n_slanted; i++) {
            const struct pdnn_drawn_roof *roof = &panels->panel[k].slanted[i];
            has_band |= roof->low < roof->high;
            has_reads |= strstr(roof->name, "reads") != NULL;
            has_both |= roof->dashed;
        }
    chart->caption = pdnn_arena_printf(
        chart->arena, "%s%s%s%s", chart->caption,
        has_reads ? "\nSlanted lines are of reads, for inference" : "",
        !has_reads ? ""
        : has_both ? ", and dashed of the fastest pattern, for training; pct_of_roof weighs a row's own mix."
                   : "; pct_of_roof weighs a row's own mix of reads and writes.",
        has_band ? "\nBands are what several measurements of a roof range over, with threads near and far."
                 : "");
    choose_ranges(panels, chart);
    for (size_t panel = 0; panel < panels->count; panel++) {
        const struct pdnn_roof_panel *p = &panels->panel[panel];
        chart->titles[panel] = titles_of(panels, p, what);
        put_lines(p, panel, chart);
    }
}
