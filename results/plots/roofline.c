/* `paradnn plot roofline`: the measured roofs and one point per instance. The looks are
 * in results/plots/roofline.gp. */
#define _POSIX_C_SOURCE 200809L /* PATH_MAX */
#include "base/units.h"
#include "results/tables/csv.h"
#include "results/plots/gnuplot.h"
#include "results/plots/color.h"
#include "results/plots/file.h"
#include "results/plots/frame.h"
#include "results/analysis/roofline.h"
#include "results/analysis/selection.h"
#include "results/tables/tables.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMPUTE_MAX = 2 * PDNN_DTYPE_COUNT, ROOF_TEXT = 96 };

/* Estimates for the script's 12 point sans-serif font, good enough for the mask behind a label. */
static const double letter_pixels = 9.2, letter_height_pixels = 15;

struct compute_roof {
    char text[ROOF_TEXT];
    double gflops;
};

struct picture {
    struct pdnn_selection selection;
    struct pdnn_ceilings *ceilings;
    int intensity, gflops, mode, dtype, threads, started, color; /* columns */
    size_t *rows;                                                /* the rows of results that are drawn */
    struct pdnn_spot *spots;                                     /* their data coordinates, later pixels */
    struct pdnn_point_color *colors;
    size_t n_rows, left_out;
    const char *roof_threads;         /* the thread count of most rows, whose roofs are drawn */
    bool has_dtype[PDNN_DTYPE_COUNT]; /* of the rows with roof_threads */
    size_t otherwise;                 /* rows with another thread count */
    struct pdnn_roofs roofs;
    double peak_gflops; /* the highest roof drawn */
    struct compute_roof compute[COMPUTE_MAX];
    size_t n_compute;
    struct pdnn_frame frame;
    struct pdnn_str script, data;
};

static void picture_finish(struct picture *p) {
    pdnn_selection_close(&p->selection);
    pdnn_str_finish(&p->script);
    pdnn_str_finish(&p->data);
    free(p->rows);
    free(p->spots);
    free(p->colors);
    free(p->ceilings);
}

static enum pdnn_status read_tables(struct picture *p, const struct pdnn_plot_request *request,
                                    struct pdnn_err *err) {
    char path[PATH_MAX];
    const struct {
        const char *name;
        int *column;
    } needed[] = {
        {"intensity_flop_per_byte", &p->intensity},
        {"gflops", &p->gflops},
        {"mode", &p->mode},
        {"dtype", &p->dtype},
        {"threads", &p->threads},
        {"started_utc", &p->started},
    };
    if (snprintf(path, sizeof path, "%s/results.csv", request->directory) >= (int)sizeof path)
        return pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", request->directory);
    const struct pdnn_csv *results = &p->selection.results;
    if (pdnn_selection_open(&p->selection, request->directory, request->only, request->n_only, err) !=
        PDNN_OK)
        return err->status;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        *needed[i].column = pdnn_csv_find(results, needed[i].name);
        if (*needed[i].column < 0)
            return pdnn_fail(err, PDNN_INVALID, "%s:1: column '%s' is missing", path, needed[i].name);
    }
    const char *color = request->color ? request->color : "bound";
    p->color = pdnn_csv_find(results, color);
    if (p->color < 0) {
        const char *near = pdnn_nearest_word(color, results->header, results->n_columns);
        return pdnn_fail(err, PDNN_INVALID, "%s has no column '%s'%s%s%s", path, color,
                         near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    snprintf(path, sizeof path, "%s/ceilings.csv", request->directory);
    p->ceilings = calloc(1, sizeof *p->ceilings);
    if (!p->ceilings)
        return pdnn_fail(err, PDNN_NO_MEMORY, "%s: out of memory for its rows", path);
    return pdnn_ceilings_read(path, NULL, p->ceilings, err);
}

/* Collects the rows that can be placed in the picture. */
static enum pdnn_status collect_rows(struct picture *p, const char *directory, struct pdnn_err *err) {
    size_t room = p->selection.count + 1;
    p->left_out = p->selection.left_out;
    p->rows = calloc(room, sizeof *p->rows);
    p->spots = calloc(room, sizeof *p->spots);
    p->colors = calloc(room, sizeof *p->colors);
    if (!p->rows || !p->spots || !p->colors)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for the plot");
    for (size_t at = 0; at < p->selection.count; at++) {
        struct pdnn_spot spot;
        bool drawn = pdnn_parse_double(pdnn_selection_get(&p->selection, at, p->intensity), &spot.x) &&
                     pdnn_parse_double(pdnn_selection_get(&p->selection, at, p->gflops), &spot.y) &&
                     spot.x > 0 && spot.y > 0;
        if (!drawn) {
            p->left_out++;
            continue;
        }
        p->rows[p->n_rows] = p->selection.row[at];
        p->spots[p->n_rows++] = spot;
    }
    if (!p->n_rows)
        return pdnn_fail(err, PDNN_INVALID, "%s/results.csv: no row has a rate to draw", directory);
    return PDNN_OK;
}

static bool has_threads(const struct picture *p, size_t i, const char *threads) {
    return strcmp(pdnn_csv_get(&p->selection.results, p->rows[i], p->threads), threads) == 0;
}

/* One set of roofs is drawn: the one for the thread count of most rows, with the peaks of all their dtypes.
 * Rows with the same count stand together, so a count is tallied where it first appears. */
static void choose_setting(struct picture *p) {
    size_t most = 0;
    for (size_t i = 0; i < p->n_rows; i++) {
        const char *threads = pdnn_csv_get(&p->selection.results, p->rows[i], p->threads);
        size_t count = 0;
        if (i && has_threads(p, i - 1, threads))
            continue;
        for (size_t k = 0; k < p->n_rows; k++)
            count += has_threads(p, k, threads);
        if (count > most) {
            most = count;
            p->roof_threads = threads;
        }
    }
    p->otherwise = p->n_rows - most;
    for (size_t i = 0; i < p->n_rows; i++) {
        const char *dtype = pdnn_csv_get(&p->selection.results, p->rows[i], p->dtype);
        for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT && has_threads(p, i, p->roof_threads); d++)
            p->has_dtype[d] = p->has_dtype[d] || strcmp(dtype, pdnn_dtype_name(d)) == 0;
    }
}

static int count_dtypes(const struct picture *p) {
    int count = 0;
    for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT; d++)
        count += p->has_dtype[d];
    return count;
}

/* Roofs are kept highest first. A name includes the dtype if there are several. */
static void add_compute(struct picture *p, const struct pdnn_ceiling *row) {
    static const char gemm_prefix[] = "gemm-";
    bool fma = strcmp(row->pattern, "fma") == 0;
    bool gemm = strncmp(row->pattern, gemm_prefix, sizeof gemm_prefix - 1) == 0;
    const char *detail = fma ? "" : row->pattern + (gemm ? sizeof gemm_prefix - 1 : 0);
    bool says_dtype = count_dtypes(p) > 1;
    struct compute_roof roof = {.gflops = row->value};
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
static void add_dtype(struct picture *p, enum pdnn_dtype dtype, int64_t threads) {
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

static enum pdnn_status find_roofs(struct picture *p, struct pdnn_err *err) {
    int64_t threads = 0;
    pdnn_parse_i64(p->roof_threads, &threads);
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
                         missing ? missing : "any dtype", p->roof_threads);
    for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT; d++) {
        if (p->has_dtype[d])
            add_dtype(p, d, threads);
    }
    return PDNN_OK;
}

static double fastest_gbs(const struct pdnn_roofs *roofs) {
    double fastest = 0;
    for (size_t i = 0; i < roofs->n_levels; i++)
        fastest = fmax(fastest, roofs->level[i].gbs);
    return fastest;
}

/* Leaves room for all points, all ridges, and the labels on the slanted roofs. */
static void choose_frame(struct picture *p) {
    struct pdnn_frame *f = &p->frame;
    *f = (struct pdnn_frame){1200, 800, 92, 876, 124, 710, INFINITY, 0, INFINITY, 0};
    for (size_t i = 0; i < p->n_rows; i++) {
        f->xmin = fmin(f->xmin, p->spots[i].x);
        f->xmax = fmax(f->xmax, p->spots[i].x);
        f->ymin = fmin(f->ymin, p->spots[i].y);
        f->ymax = fmax(f->ymax, p->spots[i].y);
    }
    double slowest = INFINITY, fastest = fastest_gbs(&p->roofs);
    for (size_t i = 0; i < p->roofs.n_levels; i++)
        slowest = fmin(slowest, p->roofs.level[i].gbs);
    f->xmin = fmin(f->xmin / 1.6, p->peak_gflops / fastest / 12);
    f->xmax = fmax(f->xmax * 1.6, p->peak_gflops / slowest * 5);
    f->ymin = fmin(f->ymin / 1.8, p->peak_gflops / 60);
    f->ymax = fmax(f->ymax, p->peak_gflops) * 1.8;
}

static void put_spot(struct picture *p, struct pdnn_spot spot) {
    pdnn_plot_number(&p->script, spot.x, " ");
    pdnn_plot_number(&p->script, spot.y, "\n");
}

static void put_variables(struct picture *p) {
    const struct pdnn_frame *f = &p->frame;
    const struct {
        const char *name;
        double value;
    } variables[] = {
        {"WIDTH", f->width},
        {"HEIGHT", f->height},
        {"LEFT", f->left},
        {"RIGHT", f->right},
        {"BOTTOM", f->bottom},
        {"TOP", f->top},
        {"XMIN", f->xmin},
        {"XMAX", f->xmax},
        {"YMIN", f->ymin},
        {"YMAX", f->ymax},
        {"ANGLE", pdnn_frame_angle(f) * 45 / atan(1)},
        {"N_BANDWIDTH", (double)p->roofs.n_levels},
        {"N_COMPUTE", (double)p->n_compute},
    };
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        pdnn_plot_variable(&p->script, variables[i].name, variables[i].value);
}

/* The pattern that gave the level its bandwidth, from the level itself or from one further out. */
static const char *pattern_of(const struct picture *p, const struct pdnn_roof_level *level) {
    for (size_t i = 0; i < p->ceilings->count; i++) {
        const struct pdnn_ceiling *row = &p->ceilings->row[i];
        if (strcmp(row->kind, "bandwidth") == 0 && row->value == level->gbs)
            return row->pattern;
    }
    return "";
}

/* The slanted roofs and their labels; the spots are in pixels by now. */
static void put_bandwidth(struct picture *p) {
    const struct pdnn_frame *f = &p->frame;
    struct pdnn_label labels[PDNN_ROOF_LEVELS];
    char text[PDNN_ROOF_LEVELS][ROOF_TEXT];
    pdnn_str_printf(&p->script, "$bandwidth << END\n");
    for (size_t i = 0; i < p->roofs.n_levels; i++) {
        const struct pdnn_roof_level *level = &p->roofs.level[i];
        double x = fmax(f->xmin, f->ymin / level->gbs);
        struct pdnn_spot low = {x, x * level->gbs}, high = {p->peak_gflops / level->gbs, p->peak_gflops};
        struct pdnn_str number = {0};
        put_spot(p, low);
        put_spot(p, high);
        pdnn_str_printf(&p->script, "\n\n");
        pdnn_number_format(&number, level->gbs, 3);
        snprintf(text[i], sizeof text[i], "%s %s GB/s (%s)", level->name, pdnn_str_text(&number),
                 pattern_of(p, level));
        pdnn_str_finish(&number);
        labels[i].width = letter_pixels * (double)strlen(text[i]);
        labels[i].height = letter_height_pixels;
        pdnn_frame_place(f, pdnn_frame_to_pixels(f, low), pdnn_frame_to_pixels(f, high), p->spots, p->n_rows,
                         labels, i);
    }
    pdnn_str_printf(&p->script, "END\n$masks << END\n");
    for (size_t i = 0; i < p->roofs.n_levels; i++) {
        struct pdnn_spot corners[4];
        pdnn_frame_corners(f, &labels[i], corners);
        for (int k = 0; k < 4; k++)
            put_spot(p, corners[k]);
        pdnn_str_printf(&p->script, "\n");
    }
    pdnn_str_printf(&p->script, "END\n$slanted << END\n");
    for (size_t i = 0; i < p->roofs.n_levels; i++) {
        struct pdnn_spot center = pdnn_frame_to_data(f, labels[i].center);
        pdnn_plot_number(&p->script, center.x, " ");
        pdnn_plot_number(&p->script, center.y, "\n");
    }
    pdnn_str_printf(&p->script, "END\narray SLANTED[%zu]\n", p->roofs.n_levels);
    for (size_t i = 0; i < p->roofs.n_levels; i++) {
        char name[32];
        snprintf(name, sizeof name, "SLANTED[%zu]", i + 1);
        pdnn_gnuplot_text(&p->script, name, text[i]);
    }
}

/* The horizontal roofs, named to the right of the frame; names that would overlap are pushed apart. */
static void put_compute(struct picture *p) {
    static const double line_pixels = 19;
    const struct pdnn_frame *f = &p->frame;
    double above = INFINITY;
    pdnn_str_printf(&p->script, "$compute << END\n");
    for (size_t i = 0; i < p->n_compute; i++) {
        put_spot(p, (struct pdnn_spot){p->compute[i].gflops / fastest_gbs(&p->roofs), p->compute[i].gflops});
        put_spot(p, (struct pdnn_spot){f->xmax, p->compute[i].gflops});
        pdnn_str_printf(&p->script, "\n\n");
    }
    pdnn_str_printf(&p->script, "END\n");
    for (size_t i = 0; i < p->n_compute; i++) {
        double y = pdnn_frame_to_pixels(f, (struct pdnn_spot){f->xmax, p->compute[i].gflops}).y;
        y = fmin(y, above - line_pixels);
        above = y;
        pdnn_str_printf(&p->script, "set label %zu ", 10 + i);
        pdnn_gnuplot_quote(&p->script, p->compute[i].text);
        pdnn_str_printf(&p->script, " at screen ");
        pdnn_plot_number(&p->script, (f->right + 8) / f->width, ", screen ");
        pdnn_plot_number(&p->script, y / f->height, " left font 'DejaVu Sans,12' textcolor rgb '#222222'\n");
    }
}

static void put_points(struct picture *p) {
    bool has_infer = false, has_train = false;
    pdnn_str_printf(&p->script, "$points << END\n");
    for (size_t i = 0; i < p->n_rows; i++) {
        bool train = strcmp(pdnn_csv_get(&p->selection.results, p->rows[i], p->mode), "train") == 0;
        struct pdnn_spot data = pdnn_frame_to_data(&p->frame, p->spots[i]);
        has_train = has_train || train;
        has_infer = has_infer || !train;
        pdnn_plot_number(&p->script, data.x, " ");
        pdnn_plot_number(&p->script, data.y, train ? " 2 " : " 1 ");
        pdnn_plot_number(&p->script, p->colors[i].value, " ");
        pdnn_str_printf(&p->script, "%u\n", p->colors[i].rgb);
    }
    pdnn_str_printf(&p->script, "END\nHAS_INFER = %d\nHAS_TRAIN = %d\n", has_infer, has_train);
}

static void put_roof_data(struct pdnn_csv_writer *writer, const char *kind, const char *name, double gbs,
                          double gflops) {
    pdnn_csv_put_text(writer, kind);
    pdnn_csv_put_text(writer, name);
    pdnn_csv_put_empty(writer);
    pdnn_csv_put_number(writer, gflops, PDNN_DIGITS_TABLE);
    pdnn_csv_put_number(writer, gbs, PDNN_DIGITS_TABLE);
    pdnn_csv_put_empty(writer);
    pdnn_csv_put_empty(writer);
    pdnn_csv_end_row(writer);
}

/* The roofs, then the points. */
static void put_data(struct picture *p) {
    struct pdnn_csv_writer writer = {&p->data, false};
    const struct pdnn_csv *results = &p->selection.results;
    static const char *const columns[] = {
        "kind", "name", "intensity_flop_per_byte", "gflops", "bw_gbs", "mode", "color", NULL};
    pdnn_csv_put_header(&writer, columns);
    for (size_t i = 0; i < p->roofs.n_levels; i++)
        put_roof_data(&writer, "bandwidth", p->roofs.level[i].name, p->roofs.level[i].gbs, NAN);
    for (size_t i = 0; i < p->n_compute; i++)
        put_roof_data(&writer, "compute", p->compute[i].text, NAN, p->compute[i].gflops);
    for (size_t i = 0; i < p->n_rows; i++) {
        pdnn_csv_put_text(&writer, "model");
        pdnn_csv_put_text(&writer, pdnn_csv_get(results, p->rows[i], p->selection.id));
        pdnn_csv_put_text(&writer, pdnn_csv_get(results, p->rows[i], p->intensity));
        pdnn_csv_put_text(&writer, pdnn_csv_get(results, p->rows[i], p->gflops));
        pdnn_csv_put_empty(&writer);
        pdnn_csv_put_text(&writer, pdnn_csv_get(results, p->rows[i], p->mode));
        pdnn_csv_put_text(&writer, pdnn_csv_get(results, p->rows[i], p->color));
        pdnn_csv_end_row(&writer);
    }
}

static void put_title(struct picture *p, const char *directory) {
    int length;
    const char *name = pdnn_plot_directory_name(directory, &length);
    struct pdnn_str title = {0};
    pdnn_str_printf(&title, "Roofline of %.*s: %zu models", length, name, p->n_rows);
    p->script.failed = p->script.failed || title.failed;
    pdnn_gnuplot_text(&p->script, "TITLE", pdnn_str_text(&title));
    pdnn_str_finish(&title);
}

static void put_subtitle(struct picture *p, const char *directory) {
    struct pdnn_str cpu = {0}, text = {0};
    const char *first = "";
    for (size_t i = 0; i < p->n_rows; i++) {
        const char *started = pdnn_csv_get(&p->selection.results, p->rows[i], p->started);
        if (*started && (!*first || strcmp(started, first) < 0))
            first = started;
    }
    pdnn_environment_get(directory, "cpu", &cpu);
    pdnn_str_printf(&text, "%s, %s thread%s", cpu.length ? cpu.text : "unknown machine", p->roof_threads,
                    strcmp(p->roof_threads, "1") == 0 ? "" : "s");
    for (enum pdnn_dtype d = 0; d < PDNN_DTYPE_COUNT; d++) {
        if (p->has_dtype[d])
            pdnn_str_printf(&text, ", %s", pdnn_dtype_name(d));
    }
    if (*first)
        pdnn_str_printf(&text, ", %.10s", first);
    if (p->otherwise)
        pdnn_str_printf(&text, "; %zu of the points ran with other threads", p->otherwise);
    if (p->left_out)
        pdnn_str_printf(&text, "; %zu row%s without a rate left out", p->left_out,
                        p->left_out == 1 ? "" : "s");
    p->script.failed = p->script.failed || text.failed || cpu.failed;
    pdnn_gnuplot_text(&p->script, "SUBTITLE", pdnn_str_text(&text));
    pdnn_str_finish(&cpu);
    pdnn_str_finish(&text);
}

static enum pdnn_status write_script(struct picture *p, const char *directory, struct pdnn_err *err) {
    enum pdnn_status status =
        pdnn_plot_color(&p->selection.results, p->color, p->rows, p->n_rows, p->colors, &p->script, err);
    if (status != PDNN_OK)
        return status;
    put_title(p, directory);
    put_subtitle(p, directory);
    pdnn_gnuplot_text(
        &p->script, "CAPTION1",
        "Each point is one model. The lines are the best this machine was measured to do: bandwidth of each "
        "memory level (slanted), arithmetic (level).");
    pdnn_gnuplot_text(&p->script, "CAPTION2",
                      "A point on a line uses that resource fully. Left of where a slanted line meets the "
                      "level one, memory sets the limit; right of it, arithmetic.");
    put_variables(p);
    for (size_t i = 0; i < p->n_rows; i++)
        p->spots[i] = pdnn_frame_to_pixels(&p->frame, p->spots[i]);
    put_bandwidth(p);
    put_compute(p);
    put_points(p);
    put_data(p);
    return PDNN_OK;
}

static enum pdnn_status draw(const struct pdnn_plot_request *request, struct pdnn_plot_result *result,
                             struct pdnn_err *err) {
    struct picture picture = {.n_rows = 0};
    struct pdnn_plot_result drawn = {.n_paths = 0};
    enum pdnn_status status = read_tables(&picture, request, err);
    if (status == PDNN_OK)
        status = collect_rows(&picture, request->directory, err);
    if (status == PDNN_OK) {
        choose_setting(&picture);
        status = find_roofs(&picture, err);
    }
    if (status == PDNN_OK) {
        choose_frame(&picture);
        status = write_script(&picture, request->directory, err);
    }
    if (status == PDNN_OK)
        status = pdnn_plot_write(
            request,
            &(struct pdnn_plot_parts){"roofline", &picture.script, pdnn_plot_script_roofline, &picture.data},
            &drawn, err);
    drawn.drawn = (int)picture.n_rows;
    drawn.left_out = (int)picture.left_out;
    picture_finish(&picture);
    if (status == PDNN_OK)
        *result = drawn;
    return status;
}

static const char *const options[] = {"color", "only", NULL};

const struct pdnn_plot_def pdnn_plot_roofline = {
    .name = "roofline",
    .help = "the measured roofs and one point per instance: operational intensity against FLOP rate; --color "
            "(default: bound), --only",
    .options = options,
    .drawn = "points",
    .left_out_as = "rows without a rate",
    .draw = draw,
};
