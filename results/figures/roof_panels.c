#define _POSIX_C_SOURCE 200809L /* PATH_MAX */
#include "results/figures/caption.h"
#include "results/figures/picture.h"
#include "results/figures/roofs.h"
#include "results/store/tables.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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
    static const double text_pixels = 215, text_part = 0.3, step = 1.15;
    struct pdnn_frame *f = &chart->frame;
    double room = fmin(text_pixels, text_part * f->width);
    bool fits = false;
    for (int try = 0; try < TRIES && !fits; try++) {
        bool left = false, down = false;
        for (size_t panel = 0; panel < panels->count; panel++) {
            const struct pdnn_plot_roofs *p = &panels->panel[panel];
            for (size_t i = 0; i < p->roofs.n_levels; i++) {
                double gbs = p->roofs.level[i].gbs;
                if (free_pixels(chart, panel, gbs, p->peak_gflops) >= room)
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
    pdnn_chart_fit(chart);
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
    f->xmin = fmin(f->xmin / 1.2, left / 12);
    f->xmax = fmax(f->xmax * 1.2, right * 5);
    f->ymin = fmin(fmin(f->ymin, least_roof) / 1.6, least_peak / 60);
    f->ymax = fmax(f->ymax, peak) * 1.6;
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
                                (struct pdnn_spot){f->xmax, gflops});
        line->panel = panel;
        line->dashed = i > 0;
        line->beside = pdnn_arena_strdup(chart->arena, roofs->compute[i].text);
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
    int column = selection->results.at[PDNN_RESULT_STARTED_UTC];
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
    pdnn_environment_get(selection->results.directory[roofs->source], "cpu", &cpu);
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
    pdnn_str_finish(&cpu);
}

void pdnn_roof_panels_titles(const struct pdnn_roof_panels *panels, const char *what, const char *noun,
                             const char *left_out, struct pdnn_arena *arena, struct pdnn_chart *chart) {
    for (size_t panel = 0; panel < panels->count; panel++) {
        const struct pdnn_plot_roofs *roofs = &panels->panel[panel];
        struct pdnn_str title = {0}, below = {0};
        int length;
        const char *name = pdnn_directory_name(panels->selection->results.directory[roofs->source], &length);
        pdnn_str_printf(&title, "%s of %.*s: %zu %s%s", what, length, name, roofs->count, noun,
                        roofs->count == 1 ? "" : "s");
        subtitle(roofs, panels->selection, panel ? "" : left_out, &below);
        const char *kept = pdnn_plot_keep(arena, &title);
        chart->titles[panel] = (struct pdnn_titles){kept, pdnn_plot_keep(arena, &below)};
    }
}

enum { KIND, NAME, INTENSITY, GFLOPS, BW_GBS };

size_t pdnn_roof_panels_row(const struct pdnn_roof_panels *panels, size_t panel, const char *kind,
                            const char *name, struct pdnn_table *data) {
    const struct pdnn_plot_roofs *roofs = &panels->panel[panel];
    size_t row = pdnn_table_add_row(data);
    pdnn_table_set_text(data, row, KIND, kind);
    pdnn_table_set_text(data, row, NAME, name);
    if (panels->count > 1) {
        int length;
        const char *directory =
            pdnn_directory_name(panels->selection->results.directory[roofs->source], &length);
        char text[PATH_MAX];
        snprintf(text, sizeof text, "%.*s", length, directory);
        pdnn_table_set_text(data, row, data->n_columns - 2, text);
        pdnn_table_set_text(data, row, data->n_columns - 1, roofs->threads);
    }
    return row;
}

void pdnn_roof_panels_place(struct pdnn_table *data, size_t row, struct pdnn_spot spot) {
    pdnn_table_set_number(data, row, INTENSITY, spot.x);
    pdnn_table_set_number(data, row, GFLOPS, spot.y);
}

void pdnn_roof_panels_data(const struct pdnn_roof_panels *panels, const char *names,
                           struct pdnn_picture *picture) {
    struct pdnn_table *data = &picture->data;
    pdnn_picture_table(
        picture, pdnn_arena_printf(&picture->arena, "kind name #intensity_flop_per_byte #gflops #bw_gbs %s%s",
                                   names, panels->count > 1 ? " " PDNN_RESULTS_KEY " threads" : ""));
    for (size_t panel = 0; panel < panels->count; panel++) {
        const struct pdnn_plot_roofs *roofs = &panels->panel[panel];
        for (size_t i = 0; i < roofs->roofs.n_levels; i++)
            pdnn_table_set_number(
                data, pdnn_roof_panels_row(panels, panel, "bandwidth", roofs->roofs.level[i].name, data),
                BW_GBS, roofs->roofs.level[i].gbs);
        for (size_t i = 0; i < roofs->n_compute; i++)
            pdnn_table_set_number(
                data, pdnn_roof_panels_row(panels, panel, "compute", roofs->compute[i].text, data), GFLOPS,
                roofs->compute[i].gflops);
    }
}
