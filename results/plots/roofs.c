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

static enum pdnn_status read_ceilings(struct pdnn_plot_roofs *p, const char *directory,
                                      struct pdnn_err *err) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/ceilings.csv", directory) >= (int)sizeof path)
        return pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", directory);
    p->ceilings = calloc(1, sizeof *p->ceilings);
    if (!p->ceilings)
        return pdnn_fail(err, PDNN_NO_MEMORY, "%s: out of memory for its rows", path);
    return pdnn_ceilings_read(path, NULL, p->ceilings, err);
}

/* One set of roofs is drawn: the one for the thread count of most instances, with the peaks of all their
 * dtypes. Each count is tallied where it first appears. */
static void choose_setting(struct pdnn_plot_roofs *p, const struct pdnn_selection *selection,
                           const size_t *at, size_t n) {
    int threads = pdnn_csv_find(&selection->results, "threads");
    int dtype = pdnn_csv_find(&selection->results, "dtype");
    size_t most = 0;
    for (size_t i = 0; i < n; i++) {
        const char *count_of = pdnn_selection_get(selection, at[i], threads);
        size_t count = 0;
        if (i && strcmp(pdnn_selection_get(selection, at[i - 1], threads), count_of) == 0)
            continue;
        for (size_t k = 0; k < n; k++)
            count += strcmp(pdnn_selection_get(selection, at[k], threads), count_of) == 0;
        if (count > most) {
            most = count;
            p->threads = count_of;
        }
    }
    p->otherwise = n - most;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(pdnn_selection_get(selection, at[i], threads), p->threads) != 0)
            continue;
        const char *name = pdnn_selection_get(selection, at[i], dtype);
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

enum pdnn_status pdnn_plot_roofs_find(struct pdnn_plot_roofs *roofs, const char *directory,
                                      const struct pdnn_selection *selection, const size_t *at, size_t n,
                                      struct pdnn_err *err) {
    *roofs = (struct pdnn_plot_roofs){.threads = ""};
    if (read_ceilings(roofs, directory, err) != PDNN_OK)
        return err->status;
    choose_setting(roofs, selection, at, n);
    return find_roofs(roofs, err);
}

void pdnn_plot_roofs_finish(struct pdnn_plot_roofs *roofs) {
    free(roofs->ceilings);
}

static double fastest_gbs(const struct pdnn_roofs *roofs) {
    double fastest = 0;
    for (size_t i = 0; i < roofs->n_levels; i++)
        fastest = fmax(fastest, roofs->level[i].gbs);
    return fastest;
}

static void choose_ranges(const struct pdnn_plot_roofs *p, struct pdnn_chart *chart) {
    struct pdnn_frame *f = &chart->frame;
    double slowest = INFINITY, fastest = fastest_gbs(&p->roofs);
    for (size_t i = 0; i < chart->n_points; i++) {
        f->xmin = fmin(f->xmin, chart->point[i].spot.x);
        f->xmax = fmax(f->xmax, chart->point[i].spot.x);
        f->ymin = fmin(f->ymin, chart->point[i].spot.y);
        f->ymax = fmax(f->ymax, chart->point[i].spot.y);
    }
    for (size_t i = 0; i < p->roofs.n_levels; i++)
        slowest = fmin(slowest, p->roofs.level[i].gbs);
    /* Texts along the slanted roofs go to the left of crowds of points. */
    f->xmin /= chart->n_points > 100 ? pow(f->xmax / f->xmin, 0.35) : 1.6;
    f->xmin = fmin(f->xmin, p->peak_gflops / fastest / 12);
    f->xmax = fmax(f->xmax * 1.6, p->peak_gflops / slowest * 5);
    f->ymin = fmin(f->ymin / 1.8, p->peak_gflops / 60);
    f->ymax = fmax(f->ymax, p->peak_gflops) * 1.8;
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

void pdnn_plot_roofs_put(const struct pdnn_plot_roofs *roofs, struct pdnn_chart *chart) {
    const struct pdnn_frame *f = &chart->frame;
    choose_ranges(roofs, chart);
    for (size_t i = 0; i < roofs->roofs.n_levels; i++) {
        const struct pdnn_roof_level *level = &roofs->roofs.level[i];
        double x = fmax(f->xmin, f->ymin / level->gbs);
        struct pdnn_str number = {0};
        pdnn_number_format(&number, level->gbs, 3);
        struct pdnn_chart_line *line =
            pdnn_chart_add_line(chart, (struct pdnn_spot){x, x * level->gbs},
                                (struct pdnn_spot){roofs->peak_gflops / level->gbs, roofs->peak_gflops});
        snprintf(line->along, sizeof line->along, "%s %s GB/s (%s)", level->name, pdnn_str_text(&number),
                 pattern_of(roofs, level));
        pdnn_str_finish(&number);
    }
    for (size_t i = 0; i < roofs->n_compute; i++) {
        double gflops = roofs->compute[i].gflops;
        struct pdnn_chart_line *line =
            pdnn_chart_add_line(chart, (struct pdnn_spot){gflops / fastest_gbs(&roofs->roofs), gflops},
                                (struct pdnn_spot){f->xmax, gflops});
        line->dashed = i > 0;
        snprintf(line->beside, sizeof line->beside, "%s", roofs->compute[i].text);
    }
}

void pdnn_plot_roofs_subtitle(const struct pdnn_plot_roofs *roofs, const char *directory,
                              const struct pdnn_selection *selection, const char *left_out,
                              struct pdnn_str *script) {
    struct pdnn_str cpu = {0}, text = {0};
    const char *first = "";
    int column = pdnn_csv_find(&selection->results, "started_utc");
    for (size_t at = 0; at < selection->count; at++) {
        const char *started = pdnn_selection_get(selection, at, column);
        if (*started && (!*first || strcmp(started, first) < 0))
            first = started;
    }
    pdnn_environment_get(directory, "cpu", &cpu);
    pdnn_str_printf(&text, "%s, %s thread%s", cpu.length ? cpu.text : "unknown machine", roofs->threads,
                    strcmp(roofs->threads, "1") == 0 ? "" : "s");
    for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT; d++) {
        if (roofs->has_dtype[d])
            pdnn_str_printf(&text, ", %s", pdnn_dtype_name(d));
    }
    if (*first)
        pdnn_str_printf(&text, ", %.10s", first);
    if (roofs->otherwise)
        pdnn_str_printf(&text, "; %zu of the models ran with other threads", roofs->otherwise);
    pdnn_str_printf(&text, "%s%s", *left_out ? "; " : "", left_out);
    script->failed = script->failed || text.failed || cpu.failed;
    pdnn_gnuplot_text(script, "SUBTITLE", pdnn_str_text(&text));
    pdnn_str_finish(&cpu);
    pdnn_str_finish(&text);
}

static void put_row(struct pdnn_csv_writer *writer, const char *kind, const char *name, double gflops,
                    double gbs, size_t empty) {
    pdnn_csv_put_text(writer, kind);
    pdnn_csv_put_text(writer, name);
    pdnn_csv_put_empty(writer);
    pdnn_csv_put_number(writer, gflops, PDNN_DIGITS_TABLE);
    pdnn_csv_put_number(writer, gbs, PDNN_DIGITS_TABLE);
    while (empty--)
        pdnn_csv_put_empty(writer);
    pdnn_csv_end_row(writer);
}

void pdnn_plot_roofs_data(const struct pdnn_plot_roofs *roofs, size_t empty, struct pdnn_str *data) {
    struct pdnn_csv_writer writer = {data, false};
    for (size_t i = 0; i < roofs->roofs.n_levels; i++)
        put_row(&writer, "bandwidth", roofs->roofs.level[i].name, NAN, roofs->roofs.level[i].gbs, empty);
    for (size_t i = 0; i < roofs->n_compute; i++)
        put_row(&writer, "compute", roofs->compute[i].text, roofs->compute[i].gflops, NAN, empty);
}
