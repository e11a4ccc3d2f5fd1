#define _POSIX_C_SOURCE 200809L /* PATH_MAX */
#include "results/plots/roofs.h"
#include "base/units.h"
#include "results/plots/gnuplot.h"
#include "results/tables/tables.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum pdnn_status no_memory(struct pdnn_err *err) {
    return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for the roofs");
}

static enum pdnn_status read_ceilings(struct pdnn_roof_panels *panels, size_t source, struct pdnn_err *err) {
    char path[PATH_MAX];
    const char *directory = panels->selection->directory[source];
    if (snprintf(path, sizeof path, "%s/ceilings.csv", directory) >= (int)sizeof path)
        return pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", directory);
    panels->ceilings[source] = calloc(1, sizeof **panels->ceilings);
    return panels->ceilings[source] ? pdnn_ceilings_read(path, NULL, panels->ceilings[source], err)
                                    : no_memory(err);
}

/* The instances of a picture: those of one directory with one thread count become a panel. */
struct drawn {
    const struct pdnn_selection *selection;
    const size_t *at;
    size_t n;
    int threads, dtype; /* columns */
};

static const char *threads_of(const struct drawn *drawn, size_t i) {
    return pdnn_selection_get(drawn->selection, drawn->at[i], drawn->threads);
}

static bool is_in(const struct drawn *drawn, size_t i, size_t source, const char *threads) {
    return pdnn_selection_source(drawn->selection, drawn->at[i]) == source &&
           strcmp(threads_of(drawn, i), threads) == 0;
}

static void find_dtypes(struct pdnn_plot_roofs *p, const struct drawn *drawn) {
    for (size_t i = 0; i < drawn->n; i++) {
        if (!is_in(drawn, i, p->source, p->threads))
            continue;
        const char *name = pdnn_selection_get(drawn->selection, drawn->at[i], drawn->dtype);
        for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT; d++)
            p->has_dtype[d] = p->has_dtype[d] || strcmp(name, pdnn_dtype_name(d)) == 0;
    }
}

static int count_dtypes(const struct pdnn_plot_roofs *p) {
    int count = 0;
    for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT; d++)
        count += p->has_dtype[d];
    return count;
}

/* Roofs are kept highest first. A name includes the dtype if there are several. */
static void add_compute(struct pdnn_plot_roofs *p, const struct pdnn_ceiling *row) {
    static const char gemm_prefix[] = "gemm-";
    bool fma = strcmp(row->pattern, "fma") == 0;
    bool gemm = strncmp(row->pattern, gemm_prefix, sizeof gemm_prefix - 1) == 0;
    const char *detail = fma ? "" : row->pattern + (gemm ? sizeof gemm_prefix - 1 : 0);
    bool says_dtype = count_dtypes(p) > 1;
    struct pdnn_compute_roof roof = {.gflops = row->value};
    struct pdnn_str number = {0};
    pdnn_number_format(&number, row->value, 3);
    snprintf(roof.text, sizeof roof.text, "%s%s%s%s%s%s %s GFLOP/s", says_dtype ? row->dtype : "",
             says_dtype ? " " : "",
             fma    ? "FMA peak"
             : gemm ? "best GEMM"
                    : "compute",
             *detail ? " (" : "", detail, *detail ? ")" : "", pdnn_str_text(&number));
    pdnn_str_finish(&number);
    size_t at = p->n_compute++;
    for (; at > 0 && p->compute[at - 1].gflops < roof.gflops; at--)
        p->compute[at] = p->compute[at - 1];
    p->compute[at] = roof;
}

/* The FMA peak and the best of all other compute rows. */
static void add_dtype(struct pdnn_plot_roofs *p, enum pdnn_dtype dtype, int64_t threads) {
    const struct pdnn_ceiling *fma = NULL, *other = NULL;
    for (size_t i = 0; i < p->ceilings->count; i++) {
        const struct pdnn_ceiling *row = &p->ceilings->row[i];
        if (row->threads != threads || strcmp(row->kind, "compute") != 0 ||
            strcmp(row->dtype, pdnn_dtype_name(dtype)) != 0)
            continue;
        const struct pdnn_ceiling **best = strcmp(row->pattern, "fma") == 0 ? &fma : &other;
        if (!*best || (*best)->value < row->value)
            *best = row;
    }
    if (fma)
        add_compute(p, fma);
    if (other)
        add_compute(p, other);
}

static enum pdnn_status find_roofs(struct pdnn_plot_roofs *p, struct pdnn_err *err) {
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
            add_dtype(p, d, threads);
    }
    return PDNN_OK;
}

/* Distinct thread counts of one directory in ascending order, with how many instances have each. */
struct thread_counts {
    const char *threads[PDNN_CEILINGS_THREADS_MAX];
    size_t instances[PDNN_CEILINGS_THREADS_MAX], count, most;
};

static void tally(const struct drawn *drawn, size_t source, struct thread_counts *counts) {
    *counts = (struct thread_counts){.count = 0};
    for (size_t i = 0; i < drawn->n; i++) {
        size_t k = 0;
        int64_t threads = 0, before = 0;
        if (pdnn_selection_source(drawn->selection, drawn->at[i]) != source)
            continue;
        while (k < counts->count && strcmp(counts->threads[k], threads_of(drawn, i)) != 0)
            k++;
        if (k == PDNN_CEILINGS_THREADS_MAX)
            continue;
        counts->instances[k]++;
        if (k < counts->count)
            continue;
        counts->count++;
        pdnn_parse_i64(threads_of(drawn, i), &threads);
        for (; k > 0 && pdnn_parse_i64(counts->threads[k - 1], &before) && before > threads; k--) {
            counts->threads[k] = counts->threads[k - 1];
            counts->instances[k] = counts->instances[k - 1];
        }
        counts->threads[k] = threads_of(drawn, i);
        counts->instances[k] = 1;
    }
    for (size_t k = 1; k < counts->count; k++)
        counts->most = counts->instances[k] > counts->instances[counts->most] ? k : counts->most;
}

/* The panels of one directory. */
static enum pdnn_status find_panels(struct pdnn_roof_panels *panels, const struct drawn *drawn, size_t source,
                                    struct pdnn_err *err) {
    struct thread_counts counts;
    tally(drawn, source, &counts);
    size_t main_panel = 0, first = panels->count;
    if (counts.count && read_ceilings(panels, source, err) != PDNN_OK)
        return err->status;
    for (size_t k = 0; k < counts.count; k++) {
        struct pdnn_err missing = {.status = PDNN_OK};
        struct pdnn_plot_roofs p = {.ceilings = panels->ceilings[source],
                                    .source = source,
                                    .threads = counts.threads[k],
                                    .count = counts.instances[k]};
        find_dtypes(&p, drawn);
        bool found = find_roofs(&p, &missing) == PDNN_OK;
        if (!found && k == counts.most)
            return pdnn_fail(err, missing.status, "%s", missing.text);
        if (found && panels->count == PDNN_CHART_PANELS_MAX)
            return pdnn_fail(err, PDNN_INVALID,
                             "more than %d directories and numbers of threads have roofs: choose some with "
                             "--only",
                             PDNN_CHART_PANELS_MAX);
        main_panel = found && k == counts.most ? panels->count : main_panel;
        if (found)
            panels->panel[panels->count++] = p;
    }
    for (size_t i = 0; i < drawn->n; i++) {
        if (pdnn_selection_source(drawn->selection, drawn->at[i]) != source)
            continue;
        size_t panel = first;
        while (panel < panels->count && strcmp(panels->panel[panel].threads, threads_of(drawn, i)) != 0)
            panel++;
        panels->panel_of[i] = panel < panels->count ? panel : main_panel;
        panels->panel[main_panel].otherwise += panel == panels->count;
        panels->panel[main_panel].count += panel == panels->count;
    }
    return PDNN_OK;
}

enum pdnn_status pdnn_roof_panels_find(struct pdnn_roof_panels *panels,
                                       const struct pdnn_selection *selection, const size_t *at, size_t n,
                                       struct pdnn_arena *arena, struct pdnn_err *err) {
    const struct drawn drawn = {selection, at, n, pdnn_csv_find(&selection->results, "threads"),
                                pdnn_csv_find(&selection->results, "dtype")};
    *panels = (struct pdnn_roof_panels){.selection = selection};
    panels->panel_of = pdnn_arena_alloc(arena, n + 1, sizeof *panels->panel_of);
    panels->ceilings = calloc(selection->n_directories, sizeof *panels->ceilings);
    enum pdnn_status status = panels->panel_of && panels->ceilings ? PDNN_OK : no_memory(err);
    for (size_t source = 0; status == PDNN_OK && source < selection->n_directories; source++)
        status = find_panels(panels, &drawn, source, err);
    return status;
}

void pdnn_roof_panels_finish(struct pdnn_roof_panels *panels) {
    for (size_t i = 0; panels->ceilings && i < panels->selection->n_directories; i++)
        free(panels->ceilings[i]);
    free(panels->ceilings);
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
    double x = fmax(f->xmin, f->ymin / gbs), angle = pdnn_frame_angle(f);
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
    static const double text_pixels = 215, step = 1.15;
    struct pdnn_frame *f = &chart->frame;
    bool fits = false;
    for (int try = 0; try < TRIES && !fits; try++) {
        bool left = false, down = false;
        for (size_t panel = 0; panel < panels->count; panel++) {
            const struct pdnn_plot_roofs *p = &panels->panel[panel];
            for (size_t i = 0; i < p->roofs.n_levels; i++) {
                double gbs = p->roofs.level[i].gbs;
                if (free_pixels(chart, panel, gbs, p->peak_gflops) >= text_pixels)
                    continue;
                left = left || f->xmin >= f->ymin / gbs;
                down = down || f->xmin < f->ymin / gbs;
            }
        }
        f->xmin /= left ? step : 1;
        f->ymin /= down ? step : 1;
        fits = !left && !down;
    }
}

static void choose_ranges(const struct pdnn_roof_panels *panels, struct pdnn_chart *chart) {
    struct pdnn_frame *f = &chart->frame;
    double left = INFINITY, right = 0, least_peak = INFINITY, least_roof = INFINITY, peak = 0;
    for (size_t i = 0; i < chart->n_points; i++) {
        f->xmin = fmin(f->xmin, chart->point[i].spot.x);
        f->xmax = fmax(f->xmax, chart->point[i].spot.x);
        f->ymin = fmin(f->ymin, chart->point[i].spot.y);
        f->ymax = fmax(f->ymax, chart->point[i].spot.y);
    }
    for (size_t k = 0; k < panels->count; k++) {
        const struct pdnn_plot_roofs *p = &panels->panel[k];
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
    f->xmin = fmin(f->xmin / 1.6, left / 12);
    f->xmax = fmax(f->xmax * 1.6, right * 5);
    f->ymin = fmin(fmin(f->ymin, least_roof) / 1.8, least_peak / 60);
    f->ymax = fmax(f->ymax, peak) * 1.8;
    make_room_for_texts(panels, chart);
}

/* The pattern that gave the level its bandwidth, from the level itself or from one further out. */
static const char *pattern_of(const struct pdnn_plot_roofs *p, const struct pdnn_roof_level *level) {
    for (size_t i = 0; i < p->ceilings->count; i++) {
        const struct pdnn_ceiling *row = &p->ceilings->row[i];
        if (strcmp(row->kind, "bandwidth") == 0 && row->value == level->gbs)
            return row->pattern;
    }
    return "";
}

static void put_lines(const struct pdnn_plot_roofs *roofs, size_t panel, struct pdnn_chart *chart) {
    const struct pdnn_frame *f = &chart->frame;
    for (size_t i = 0; i < roofs->roofs.n_levels; i++) {
        const struct pdnn_roof_level *level = &roofs->roofs.level[i];
        double x = fmax(f->xmin, f->ymin / level->gbs);
        struct pdnn_str number = {0};
        pdnn_number_format(&number, level->gbs, 3);
        struct pdnn_chart_line *line =
            pdnn_chart_add_line(chart, (struct pdnn_spot){x, x * level->gbs},
                                (struct pdnn_spot){roofs->peak_gflops / level->gbs, roofs->peak_gflops});
        line->panel = panel;
        snprintf(line->along, sizeof line->along, "%s %s GB/s (%s)", level->name, pdnn_str_text(&number),
                 pattern_of(roofs, level));
        pdnn_str_finish(&number);
    }
    for (size_t i = 0; i < roofs->n_compute; i++) {
        double gflops = roofs->compute[i].gflops;
        struct pdnn_chart_line *line =
            pdnn_chart_add_line(chart, (struct pdnn_spot){gflops / fastest_gbs(&roofs->roofs), gflops},
                                (struct pdnn_spot){f->xmax, gflops});
        line->panel = panel;
        line->dashed = i > 0;
        snprintf(line->beside, sizeof line->beside, "%s", roofs->compute[i].text);
    }
}

void pdnn_roof_panels_put(const struct pdnn_roof_panels *panels, struct pdnn_chart *chart) {
    choose_ranges(panels, chart);
    chart->n_panels = panels->count;
    for (size_t panel = 0; panel < panels->count; panel++)
        put_lines(&panels->panel[panel], panel, chart);
}

/* The first visit to any chosen instance of the directory. */
static const char *first_start(const struct pdnn_selection *selection, size_t source) {
    const char *first = "";
    int column = pdnn_csv_find(&selection->results, "started_utc");
    for (size_t at = 0; at < selection->count; at++) {
        const char *started = pdnn_selection_get(selection, at, column);
        if (pdnn_selection_source(selection, at) == source && *started &&
            (!*first || strcmp(started, first) < 0))
            first = started;
    }
    return first;
}

static void subtitle(const struct pdnn_plot_roofs *roofs, const struct pdnn_selection *selection,
                     const char *left_out, struct pdnn_str *text) {
    struct pdnn_str cpu = {0};
    const char *first = first_start(selection, roofs->source);
    pdnn_environment_get(selection->directory[roofs->source], "cpu", &cpu);
    pdnn_str_printf(text, "%s, %s thread%s", cpu.length ? cpu.text : "unknown machine", roofs->threads,
                    strcmp(roofs->threads, "1") == 0 ? "" : "s");
    for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT; d++) {
        if (roofs->has_dtype[d])
            pdnn_str_printf(text, ", %s", pdnn_dtype_name(d));
    }
    if (*first)
        pdnn_str_printf(text, ", %.10s", first);
    if (roofs->otherwise)
        pdnn_str_printf(text, "; %zu of the models ran with other threads", roofs->otherwise);
    pdnn_str_printf(text, "%s%s", *left_out ? "; " : "", left_out);
    text->failed = text->failed || cpu.failed;
    pdnn_str_finish(&cpu);
}

static const char *keep(struct pdnn_str *text, struct pdnn_arena *arena) {
    const char *kept = text->failed ? NULL : pdnn_arena_strdup(arena, pdnn_str_text(text));
    pdnn_str_finish(text);
    return kept;
}

enum pdnn_status pdnn_roof_panels_titles(const struct pdnn_roof_panels *panels, const char *what,
                                         const char *noun, const char *left_out, struct pdnn_arena *arena,
                                         struct pdnn_chart *chart, struct pdnn_err *err) {
    for (size_t panel = 0; panel < panels->count; panel++) {
        const struct pdnn_plot_roofs *roofs = &panels->panel[panel];
        struct pdnn_str title = {0}, below = {0};
        int length;
        const char *name = pdnn_directory_name(panels->selection->directory[roofs->source], &length);
        pdnn_str_printf(&title, "%s of %.*s: %zu %s%s", what, length, name, roofs->count, noun,
                        roofs->count == 1 ? "" : "s");
        subtitle(roofs, panels->selection, panel ? "" : left_out, &below);
        chart->title[panel] = keep(&title, arena);
        chart->subtitle[panel] = keep(&below, arena);
        if (!chart->title[panel] || !chart->subtitle[panel])
            return no_memory(err);
    }
    return PDNN_OK;
}

void pdnn_roof_panels_end_row(const struct pdnn_roof_panels *panels, size_t panel,
                              struct pdnn_csv_writer *writer) {
    const struct pdnn_plot_roofs *roofs = &panels->panel[panel];
    if (panels->count > 1) {
        int length;
        const char *name = pdnn_directory_name(panels->selection->directory[roofs->source], &length);
        char text[PATH_MAX];
        snprintf(text, sizeof text, "%.*s", length, name);
        pdnn_csv_put_text(writer, text);
        pdnn_csv_put_text(writer, roofs->threads);
    }
    pdnn_csv_end_row(writer);
}

/* A roof and empty cells for the columns it lacks. */
static void put_row(const struct pdnn_roof_panels *panels, size_t panel, const char *const *columns,
                    const char *name, double gflops, double gbs, struct pdnn_str *data) {
    struct pdnn_csv_writer writer = {data, false};
    pdnn_csv_put_text(&writer, isnan(gflops) ? "bandwidth" : "compute");
    pdnn_csv_put_text(&writer, name);
    pdnn_csv_put_empty(&writer);
    pdnn_csv_put_number(&writer, gflops, PDNN_DIGITS_TABLE);
    pdnn_csv_put_number(&writer, gbs, PDNN_DIGITS_TABLE);
    for (; *columns; columns++)
        pdnn_csv_put_empty(&writer);
    pdnn_roof_panels_end_row(panels, panel, &writer);
}

void pdnn_roof_panels_data(const struct pdnn_roof_panels *panels, const char *const *columns,
                           struct pdnn_str *data) {
    static const char *const first[] = {"kind", "name", "intensity_flop_per_byte", "gflops", "bw_gbs"};
    struct pdnn_csv_writer writer = {data, false};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        pdnn_csv_put_text(&writer, first[i]);
    for (const char *const *column = columns; *column; column++)
        pdnn_csv_put_text(&writer, *column);
    if (panels->count > 1) {
        pdnn_csv_put_text(&writer, PDNN_SEVERAL_RESULTS);
        pdnn_csv_put_text(&writer, "threads");
    }
    pdnn_csv_end_row(&writer);
    for (size_t panel = 0; panel < panels->count; panel++) {
        const struct pdnn_plot_roofs *roofs = &panels->panel[panel];
        for (size_t i = 0; i < roofs->roofs.n_levels; i++)
            put_row(panels, panel, columns, roofs->roofs.level[i].name, NAN, roofs->roofs.level[i].gbs, data);
        for (size_t i = 0; i < roofs->n_compute; i++)
            put_row(panels, panel, columns, roofs->compute[i].text, roofs->compute[i].gflops, NAN, data);
    }
}
