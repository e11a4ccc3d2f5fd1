/* `paradnn plot scaling`: what a thread achieves alone against what it achieves among others, and the
 * fraction of each model that does not run in parallel. */
#include "base/units.h"
#include "results/plots/caption.h"
#include "results/plots/chart.h"
#include "results/plots/file.h"
#include "results/plots/gnuplot.h"
#include "runtime/facts/stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* One model on more threads than the fewest it ran on. */
struct scaled {
    size_t alone, among;      /* chosen rows: on the fewest threads, on more */
    double few, many;         /* threads */
    double speedup, fraction; /* Amdahl: 1 / speedup = f + (1 - f) few / many */
};

struct picture {
    struct pdnn_selection selection;
    struct pdnn_arena arena;
    struct pdnn_chart chart;
    int threads, peak, batch, color; /* columns; batch: the minibatch, -1: none */
    struct scaled *scaled;           /* by point */
    size_t left_out;
    double few, most; /* threads: the fewest and the most of all points */
    struct pdnn_str script, data;
};

static double number_in(const struct picture *p, size_t at, int column) {
    double value;
    return pdnn_parse_double(pdnn_selection_get(&p->selection, at, column), &value) ? value : NAN;
}

static enum pdnn_status find_columns(struct picture *p, const struct pdnn_plot_request *request,
                                     struct pdnn_err *err) {
    enum pdnn_status status = pdnn_selection_key(&p->selection, "threads", &p->threads, err);
    p->batch = pdnn_selection_minibatch(&p->selection);
    if (status == PDNN_OK)
        status = pdnn_plot_column(&p->selection, "pct_of_peak", &p->peak, err);
    if (status == PDNN_OK)
        status = pdnn_plot_column(&p->selection, request->color ? request->color : "threads", &p->color, err);
    return status;
}

/* A point for each member of the series but the first, which has the fewest threads. */
static void add_series(struct picture *p, const struct pdnn_series *series) {
    size_t alone = series->at[0];
    double few = number_in(p, alone, p->threads), x = number_in(p, alone, p->peak);
    p->left_out += series->count == 1 || !(x > 0);
    for (size_t i = 1; i < series->count; i++) {
        size_t among = series->at[i];
        double many = number_in(p, among, p->threads), ratio = many / few;
        double speedup =
            pdnn_selection_step_ns(&p->selection, alone) / pdnn_selection_step_ns(&p->selection, among);
        if (!(x > 0) || !(ratio > 1) || !(speedup > 0)) {
            p->left_out++;
            continue;
        }
        const char *cell = pdnn_selection_get(&p->selection, among, p->color);
        if (p->color == p->threads)
            cell = pdnn_arena_printf(&p->arena, "%s threads", cell);
        p->few = p->chart.n_points ? fmin(p->few, few) : few;
        p->most = fmax(p->most, many);
        p->scaled[p->chart.n_points] =
            (struct scaled){alone, among, few, many, speedup, (ratio / speedup - 1) / (ratio - 1)};
        p->chart.point[p->chart.n_points++] =
            (struct pdnn_chart_point){{x, x * speedup / ratio}, 1, false, cell ? cell : "", 0};
    }
}

static enum pdnn_status collect_points(struct picture *p, struct pdnn_err *err) {
    struct pdnn_series *series;
    size_t n_series;
    const struct pdnn_axes axes = {.column = {p->threads}, .count = 1};
    p->left_out = p->selection.left_out;
    p->scaled = pdnn_arena_alloc(&p->arena, p->selection.count + 1, sizeof *p->scaled);
    p->chart.point = pdnn_arena_alloc(&p->arena, p->selection.count + 1, sizeof *p->chart.point);
    if (!p->scaled || !p->chart.point)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for the plot");
    if (pdnn_selection_series(&p->selection, &axes, &p->arena, &series, &n_series, err) != PDNN_OK)
        return err->status;
    for (size_t i = 0; i < n_series; i++)
        add_series(p, &series[i]);
    return p->chart.n_points ? PDNN_OK
                             : pdnn_fail(err, PDNN_INVALID, "no model ran on several numbers of threads");
}

/* The diagonal, and where models lie that lose a given fraction on the most threads. All end at the right
 * edge of the frame, where their names are. */
static void put_lines(struct picture *p) {
    static const double fractions[] = {0, 0.1, 0.5};
    struct pdnn_frame *f = &p->chart.frame;
    pdnn_chart_fit(&p->chart);
    f->xmin = fmin(f->xmin, f->xmax / 30);
    f->ymin = fmin(f->ymin, f->ymax / 30);
    f->ymax = fmax(f->ymax, f->xmax * 1.05);
    for (size_t i = 0; i < sizeof fractions / sizeof *fractions; i++) {
        double slope = 1 / (1 + fractions[i] * (p->most / p->few - 1));
        double low = fmax(f->xmin, f->ymin / slope);
        if (low >= f->xmax)
            continue;
        struct pdnn_chart_line *line = pdnn_chart_add_line(&p->chart, (struct pdnn_spot){low, low * slope},
                                                           (struct pdnn_spot){f->xmax, f->xmax * slope});
        line->dashed = line->thin = i > 0;
        if (i)
            snprintf(line->beside, sizeof line->beside, "f = %.1f on %.0f threads", fractions[i], p->most);
        else
            snprintf(line->beside, sizeof line->beside, "f = 0: no loss");
    }
}

/* "2 threads: f 0.05, 90 % below 0.12" for those that keep() accepts. */
static void note_fraction(struct picture *p, double many, double batch, double *scratch) {
    size_t count = 0;
    struct pdnn_str median = {0}, high = {0};
    for (size_t i = 0; i < p->chart.n_points; i++) {
        const struct scaled *one = &p->scaled[i];
        if (one->many == many && (isnan(batch) || number_in(p, one->among, p->batch) == batch))
            scratch[count++] = one->fraction;
    }
    if (!count)
        return;
    pdnn_sort(scratch, count);
    pdnn_number_format(&median, pdnn_quantile_sorted(scratch, count, 0.5), 2);
    pdnn_number_format(&high, pdnn_quantile_sorted(scratch, count, 0.9), 2);
    if (isnan(batch))
        pdnn_chart_note(&p->chart, "%.0f threads: %s, 90 %%: %s", many, pdnn_str_text(&median),
                        pdnn_str_text(&high));
    else
        pdnn_chart_note(&p->chart, "   batch %.0f: %s, 90 %%: %s", batch, pdnn_str_text(&median),
                        pdnn_str_text(&high));
    p->script.failed = p->script.failed || median.failed || high.failed;
    pdnn_str_finish(&median);
    pdnn_str_finish(&high);
}

/* The median and the 90th percentile of f, for each number of threads, and at its largest minibatch. */
static enum pdnn_status put_notes(struct picture *p, struct pdnn_err *err) {
    double *scratch = pdnn_arena_alloc(&p->arena, p->chart.n_points, sizeof *scratch), done = 0;
    if (!scratch)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for the plot");
    pdnn_chart_note(&p->chart, "fraction f: median, percentile:");
    for (;;) {
        double next = INFINITY, batch = NAN;
        for (size_t i = 0; i < p->chart.n_points; i++) {
            if (p->scaled[i].many > done)
                next = fmin(next, p->scaled[i].many);
        }
        if (isinf(next))
            return PDNN_OK;
        for (size_t i = 0; i < p->chart.n_points && p->batch >= 0; i++) {
            if (p->scaled[i].many == next)
                batch = fmax(batch, number_in(p, p->scaled[i].among, p->batch));
        }
        note_fraction(p, next, NAN, scratch);
        if (!isnan(batch))
            note_fraction(p, next, batch, scratch);
        done = next;
    }
}

static void put_data(struct picture *p) {
    struct pdnn_csv_writer writer = {&p->data, false};
    static const char *const columns[] = {
        "id",       "threads_few", "threads", "pct_of_peak_few", "pct_of_peak_per_thread", "speedup",
        "fraction", "color",       NULL};
    pdnn_csv_put_header(&writer, columns);
    for (size_t i = 0; i < p->chart.n_points; i++) {
        const struct scaled *one = &p->scaled[i];
        pdnn_csv_put_text(&writer, pdnn_selection_get(&p->selection, one->among, p->selection.id));
        pdnn_csv_put_number(&writer, one->few, PDNN_DIGITS_TABLE);
        pdnn_csv_put_number(&writer, one->many, PDNN_DIGITS_TABLE);
        pdnn_csv_put_number(&writer, p->chart.point[i].spot.x, PDNN_DIGITS_TABLE);
        pdnn_csv_put_number(&writer, p->chart.point[i].spot.y, PDNN_DIGITS_TABLE);
        pdnn_csv_put_number(&writer, one->speedup, PDNN_DIGITS_TABLE);
        pdnn_csv_put_number(&writer, one->fraction, PDNN_DIGITS_TABLE);
        pdnn_csv_put_text(&writer, p->chart.point[i].color);
        pdnn_csv_end_row(&writer);
    }
}

static enum pdnn_status write_script(struct picture *p, struct pdnn_err *err) {
    char x_title[PDNN_AXIS_TEXT], y_title[PDNN_AXIS_TEXT];
    const char *plural = p->few > 1 ? "s" : "";
    snprintf(x_title, sizeof x_title, "pct_of_peak on %.0f thread%s (%%)", p->few, plural);
    snprintf(y_title, sizeof y_title, "the same for each of N threads (%%)");
    pdnn_plot_titles(&p->script, "More threads in", &p->selection);
    p->chart.x_title = x_title;
    p->chart.y_title = y_title;
    p->chart.color_title = p->selection.results.header[p->color];
    p->chart.caption[0] =
        "Each point is one model on more threads, against itself on the fewest. With a speed-up S on N "
        "times the threads, f = (N / S - 1) / (N - 1).";
    p->chart.caption[1] = "Percentages are of the peak of the fewest threads, times N";
    put_lines(p);
    put_data(p);
    if (put_notes(p, err) != PDNN_OK)
        return err->status;
    return pdnn_chart_put(&p->chart, &p->arena, &p->script, err);
}

static enum pdnn_status draw(const struct pdnn_plot_request *request, struct pdnn_plot_result *result,
                             struct pdnn_err *err) {
    struct picture p = {.left_out = 0};
    struct pdnn_plot_result drawn = {.n_paths = 0};
    pdnn_chart_init(&p.chart);
    enum pdnn_status status = pdnn_plot_select(request, &p.selection, err);
    if (status == PDNN_OK)
        status = find_columns(&p, request, err);
    if (status == PDNN_OK)
        status = collect_points(&p, err);
    if (status == PDNN_OK)
        status = write_script(&p, err);
    if (status == PDNN_OK)
        status = pdnn_plot_write(
            request, &(struct pdnn_plot_parts){"scaling", &p.script, pdnn_plot_script_chart, &p.data}, &drawn,
            err);
    drawn.drawn = (int)p.chart.n_points;
    drawn.left_out = (int)p.left_out;
    pdnn_selection_close(&p.selection);
    pdnn_arena_finish(&p.arena);
    pdnn_str_finish(&p.script);
    pdnn_str_finish(&p.data);
    if (status == PDNN_OK)
        *result = drawn;
    return status;
}

static const char *const options[] = {"color", "only", NULL};

const struct pdnn_plot_def pdnn_plot_scaling = {
    .name = "scaling",
    .help =
        "part of the peak on the fewest threads against that of each thread on more, with the fraction that "
        "does not run in parallel; --color (default: threads), --only",
    .options = options,
    .drawn = "points",
    .left_out_as = "rows without a counterpart",
    .draw = draw,
};
