/* `paradnn plot ceilings`: ceilings.csv as pictures. One row of panels per thread count: bandwidth against
 * working set (results/figures/ladder.h), and arithmetic by dtype and kernel as bars. */
#define _POSIX_C_SOURCE 200809L /* PATH_MAX */
#include "base/memory.h"
#include "base/units.h"
#include "results/figures/caption.h"
#include "results/figures/ladder.h"
#include "results/figures/picture.h"
#include "results/store/tables.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bars and dtypes beyond these are left out of a panel. */
enum { BARS_MAX = 48, DTYPES_MAX = PDNN_PLOT_COLORS };

/* The rows of several directories in one table: each has its threads plus its number times this. */
static const int64_t directory_step = 1000000;

/* To the left of the panels. */
static const double margin = 84;

struct picture {
    struct pdnn_picture *in;
    struct pdnn_ceilings *ceilings;
    int64_t threads[PDNN_CEILINGS_THREADS_MAX]; /* with the directory's number */
    size_t n_threads;
    const char *dtype[DTYPES_MAX]; /* distinct ones, in order of appearance; borrowed */
    size_t n_dtypes;
};

static bool is_compute(const struct pdnn_ceiling *row) {
    return strcmp(row->kind, "compute") == 0;
}

static bool is_drawn(const struct pdnn_ceiling *row) {
    return is_compute(row) || strcmp(row->kind, "bandwidth") == 0 || strcmp(row->kind, "ladder") == 0;
}

static void add_threads(struct picture *p, int64_t threads) {
    for (size_t i = 0; i < p->n_threads; i++)
        if (p->threads[i] == threads)
            return;
    if (p->n_threads < PDNN_CEILINGS_THREADS_MAX)
        p->threads[p->n_threads++] = threads;
}

static void add_dtype(struct picture *p, const char *dtype) {
    for (size_t i = 0; i < p->n_dtypes; i++)
        if (strcmp(p->dtype[i], dtype) == 0)
            return;
    if (p->n_dtypes < DTYPES_MAX)
        p->dtype[p->n_dtypes++] = dtype;
}

static enum pdnn_status add_directory(struct picture *p, size_t directory, struct pdnn_ceilings *read,
                                      struct pdnn_err *err) {
    char path[PATH_MAX];
    size_t drawn = p->in->drawn;
    if (snprintf(path, sizeof path, "%s/ceilings.csv", p->in->request->directory[directory]) >=
        (int)sizeof path)
        return pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", p->in->request->directory[directory]);
    if (pdnn_ceilings_read(path, NULL, read, err) != PDNN_OK)
        return err->status;
    if (read->count > PDNN_CEILINGS_MAX - p->ceilings->count)
        return pdnn_fail(err, PDNN_INVALID, "%s: more than %d roofs together", path, PDNN_CEILINGS_MAX);
    for (size_t i = 0; i < read->count; i++) {
        struct pdnn_ceiling *row = &p->ceilings->row[p->ceilings->count++];
        *row = read->row[i];
        if (row->threads < 0 || row->threads >= directory_step)
            return pdnn_fail(err, PDNN_INVALID, "%s: %" PRId64 " is not a number of threads", path,
                             row->threads);
        row->threads += (int64_t)directory * directory_step;
        if (!is_drawn(row))
            continue;
        add_threads(p, row->threads);
        if (is_compute(row))
            add_dtype(p, row->dtype);
        p->in->drawn++;
    }
    return p->in->drawn > drawn
               ? PDNN_OK
               : pdnn_fail(err, PDNN_INVALID, "%s: no row is compute, bandwidth or ladder", path);
}

static enum pdnn_status read_ceilings(struct picture *p, struct pdnn_err *err) {
    struct pdnn_ceilings *read = pdnn_alloc(1, sizeof *read);
    enum pdnn_status status = PDNN_OK;
    for (size_t d = 0; status == PDNN_OK && d < p->in->request->n_directories; d++)
        status = add_directory(p, d, read, err);
    free(read);
    return status;
}

/* The name of the directory that a row comes from; it has *length letters. */
static const char *directory_of(const struct picture *p, int64_t threads, int *length) {
    return pdnn_directory_name(p->in->request->directory[threads / directory_step], length);
}

/* The bars of a thread count from top to bottom: by dtype, in the order of the file. */
static size_t collect_bars(const struct picture *p, int64_t threads,
                           const struct pdnn_ceiling *bars[BARS_MAX], size_t dtypes[BARS_MAX]) {
    size_t count = 0;
    for (size_t d = 0; d < p->n_dtypes; d++) {
        for (size_t i = 0; i < p->ceilings->count; i++) {
            const struct pdnn_ceiling *row = &p->ceilings->row[i];
            if (!is_compute(row) || row->threads != threads || strcmp(row->dtype, p->dtype[d]) != 0)
                continue;
            if (count == BARS_MAX)
                return count;
            dtypes[count] = d;
            bars[count++] = row;
        }
    }
    return count;
}

/* "bf16  gemm-onednn" */
static const char *name_bar(struct picture *p, const struct pdnn_ceiling *bar) {
    return pdnn_arena_printf(&p->in->arena, "%s  %s", bar->dtype, bar->pattern);
}

/* A bar goes to the value; the line on it from the least to the greatest repetition. */
static void draw_bars(struct picture *p, int64_t threads, double left, double bottom, double right,
                      double top) {
    static const double part = 0.72, cap = 3;
    const struct pdnn_ceiling *bars[BARS_MAX];
    struct pdnn_canvas *canvas = &p->in->canvas;
    size_t dtypes[BARS_MAX], count = collect_bars(p, threads, bars, dtypes);
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fmax(bars[i]->value, bars[i]->high));
    const struct pdnn_frame_axis x = {.scale = {.high = most > 0 ? most * 1.22 : 1,
                                                .from = left,
                                                .to = right},
                                      .title = "arithmetic (GFLOP/s)",
                                      .grid = true},
                                 y = {.scale = {.high = fmax((double)count, 1), .from = top, .to = bottom},
                                      .bare = true};
    pdnn_draw_level(canvas, &x, bottom, top);
    pdnn_draw_line(canvas, left, bottom, left, top, pdnn_pen_line(PDNN_INK_SOFT, 1));
    for (size_t i = 0; i < count; i++) {
        const struct pdnn_pen line = pdnn_pen_line(PDNN_INK_TEXT, 1);
        const double end[] = {pdnn_scale_at(&x.scale, bars[i]->low), pdnn_scale_at(&x.scale, bars[i]->high)};
        double middle = pdnn_scale_at(&y.scale, (double)i + 0.5),
               half = part * (top - bottom) / y.scale.high / 2;
        pdnn_draw_box(canvas, left, middle - half, pdnn_scale_at(&x.scale, bars[i]->value), middle + half,
                      pdnn_pen_fill(pdnn_plot_distinct_color(dtypes[i])));
        pdnn_draw_line(canvas, end[0], middle, end[1], middle, line);
        for (size_t k = 0; k < 2; k++)
            pdnn_draw_line(canvas, end[k], middle - cap, end[k], middle + cap, line);
        pdnn_draw_text(canvas, fmax(end[1], pdnn_scale_at(&x.scale, bars[i]->value)) + 7, middle, pdnn_small,
                       pdnn_plot_number(&p->in->arena, bars[i]->value, 3));
        pdnn_draw_cut(canvas, left - 8, middle, left, pdnn_small_end, name_bar(p, bars[i]));
    }
}

static double overhead_of(const struct picture *p, int64_t threads) {
    for (size_t i = 0; i < p->ceilings->count; i++) {
        const struct pdnn_ceiling *row = &p->ceilings->row[i];
        if (row->threads == threads && strcmp(row->kind, "overhead") == 0)
            return row->value;
    }
    return 0;
}

/* What stands above a row of panels. */
static const char *name_row(struct picture *p, int64_t with_directory) {
    char time[PDNN_UNIT_TEXT];
    double overhead_ns = overhead_of(p, with_directory);
    int64_t threads = with_directory % directory_step;
    struct pdnn_str text = {0};
    int length;
    const char *directory = directory_of(p, with_directory, &length);
    if (p->in->request->n_directories > 1)
        pdnn_str_printf(&text, "%.*s, ", length, directory);
    pdnn_str_printf(&text, "%" PRId64 " thread%s", threads, threads == 1 ? "" : "s");
    if (overhead_ns > 0)
        pdnn_str_printf(&text, ": calling an operator takes %s", pdnn_format_ns(time, overhead_ns));
    return pdnn_plot_keep(&p->in->arena, &text);
}

/* The rows that are drawn, as ceilings.csv has them; the column `results` comes first where there are several
 * directories. */
static void fill_data(struct picture *p) {
    pdnn_table_init(&p->in->data, &pdnn_ceilings_def);
    pdnn_table_add_column(&p->in->data, &(struct pdnn_column_def){.name = PDNN_RESULTS_KEY});
    for (size_t i = 0; i < p->ceilings->count; i++) {
        struct pdnn_ceiling roof = p->ceilings->row[i];
        char name[PATH_MAX];
        int length;
        if (!is_drawn(&roof))
            continue;
        const char *directory = directory_of(p, roof.threads, &length);
        snprintf(name, sizeof name, "%.*s", length, directory);
        roof.threads %= directory_step;
        pdnn_ceilings_add(&roof, &p->in->data);
        pdnn_table_set_text(&p->in->data, p->in->data.n_rows - 1, PDNN_CEILINGS_COLUMNS, name);
    }
}

/* "Roofs of new.results: the processor"; of several directories without it. */
static void draw_title(struct picture *p) {
    const struct pdnn_plot_request *request = p->in->request;
    struct pdnn_str title = {0}, cpu = {0};
    pdnn_str_printf(&title, "Roofs of ");
    pdnn_plot_directories(request->directory, request->n_directories, &title);
    if (request->n_directories == 1)
        pdnn_environment_get(request->directory[0], "cpu", &cpu);
    pdnn_str_printf(&title, "%s%s", cpu.length ? ": " : "", pdnn_str_text(&cpu));
    pdnn_draw_titles(&p->in->canvas, margin, p->in->canvas.height,
                     &(struct pdnn_titles){pdnn_plot_keep(&p->in->arena, &title), NULL});
    pdnn_str_finish(&cpu);
}

/* Two panels for each number of threads, side by side or below each other; the names of bars stand to the
 * left of the second. */
static void describe(struct picture *p) {
    static const double side_by_side = 1000, panel_least = 280, bar_height = 24, head = 88, foot = 72,
                        title = 112, names_most = 260, bars_part = 0.28, edge = 30;
    const struct pdnn_ceiling *bars[BARS_MAX];
    struct pdnn_canvas *canvas = &p->in->canvas;
    struct pdnn_ladder ladder;
    size_t dtypes[BARS_MAX], most = 1;
    double longest = 0;
    for (size_t t = 0; t < p->n_threads; t++) {
        size_t count = collect_bars(p, p->threads[t], bars, dtypes);
        most = count > most ? count : most;
        for (size_t i = 0; i < count; i++)
            longest = fmax(longest, pdnn_text_width(name_bar(p, bars[i]), PDNN_FONT_SMALL));
    }
    canvas->width = p->in->width;
    const bool wide = canvas->width >= side_by_side;
    const double panel = fmax(bar_height * (double)most, panel_least), pair = head + panel + foot,
                 right = canvas->width - edge, row = wide ? pair : pair + panel + foot,
                 bars_left =
                     wide ? right - bars_part * canvas->width : fmin(longest, 0.4 * canvas->width) + 20,
                 ladder_right = wide ? bars_left - fmin(longest, names_most) - 40 : right;
    pdnn_ladder_init(&ladder, p->ceilings);
    double legend = pdnn_ladder_draw_legend(&ladder, margin, 0, NULL, canvas->width);
    canvas->height = title + legend + (double)p->n_threads * row + (wide ? 30 : 60);
    draw_title(p);
    pdnn_ladder_draw_legend(&ladder, margin, canvas->height - 66, canvas, canvas->width);
    for (size_t t = 0; t < p->n_threads; t++) {
        double top = canvas->height - title - legend - (double)t * row, frame = top - head,
               bars_top = wide ? frame : top - pair;
        pdnn_draw_text(canvas, margin, top - 8, (struct pdnn_font){PDNN_FONT, PDNN_INK_SOFT, PDNN_START, 0},
                       name_row(p, p->threads[t]));
        pdnn_ladder_draw(&ladder, p->threads[t], margin, frame - panel, ladder_right, frame, canvas);
        draw_bars(p, p->threads[t], bars_left, bars_top - panel, right, bars_top);
    }
    pdnn_draw_caption(
        canvas, wide ? margin : 16, 8,
        "Rings are the roofs. Solid lines: where a level was found to end; dashed: its reported size. "
        "Lines on bars go from the least to the greatest repetition.");
}

static enum pdnn_status draw(struct pdnn_picture *picture, struct pdnn_err *err) {
    struct picture p = {.in = picture, .ceilings = pdnn_arena_alloc(&picture->arena, 1, sizeof *p.ceilings)};
    const bool several = picture->request->n_directories > 1;
    if (read_ceilings(&p, err) != PDNN_OK)
        return err->status;
    describe(&p);
    fill_data(&p);
    size_t *columns = pdnn_arena_alloc(&picture->arena, PDNN_CEILINGS_COLUMNS + 1, sizeof *columns);
    columns[0] = PDNN_CEILINGS_COLUMNS;
    for (size_t i = 0; i < PDNN_CEILINGS_COLUMNS; i++)
        columns[i + several] = i;
    picture->columns = columns;
    picture->n_columns = PDNN_CEILINGS_COLUMNS + several;
    picture->left_out = p.ceilings->count - picture->drawn;
    return PDNN_OK;
}

const struct pdnn_plot_def pdnn_plot_ceilings = {
    .name = "ceilings",
    .help =
        "the measured roofs of each of RESULTS for each thread count: bandwidth by working set with the levels found, "
        "arithmetic by dtype",
    .options = (const char *const[]){NULL},
    .drawn = "roofs",
    .left_out_as = "rows of other kinds",
    .draw = draw,
};
