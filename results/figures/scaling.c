/* `paradnn plot scaling`: what a thread achieves alone against what it achieves among others, and the
 * fraction of each model that does not run in parallel. Strong scaling: the same minibatch; weak: a minibatch
 * that grows with the threads. Ranks, or any other key that counts workers, scale in the same way; but the
 * minibatch of ranks is that of one of them, so with the same one they scale weakly. */
#include "results/figures/picture.h"
#include "base/texts.h"
#include "results/stats/means.h"
#include "base/stats.h"

#include <math.h>
#include <string.h>

struct picture {
    struct pdnn_picture *in;
    int threads, color;    /* columns */
    struct pdnn_axes keys; /* what members of a series differ in: the threads, how ranks average gradients */
    bool per_one;          /* the minibatch is that of each of them */
    const char *one;       /* "thread" */
    size_t *among, room;   /* by point, the chosen row on more threads than the fewest */
    bool *used;            /* by chosen row: a point is about it */
    double few, most;      /* threads: the fewest and the most of all points */
};

/* The columns that notes are of, behind that of the directory where there are several. */
enum { THREADS = 2, FRACTION = 6, EFFICIENCY = 9 };

static double noted(const struct picture *p, size_t point, size_t column) {
    return pdnn_table_number(&p->in->data, point, column + p->in->of_sources);
}

static double threads_of(const struct picture *p, size_t at) {
    return pdnn_selection_number(&p->in->selection, at, p->threads);
}

static double batch_of(const struct picture *p, size_t at) {
    return pdnn_selection_examples(&p->in->selection, at);
}

static enum pdnn_status find_columns(struct picture *p, struct pdnn_err *err) {
    static const enum pdnn_setting exchange[] = {PDNN_SETTING_ALLREDUCE, PDNN_SETTING_BUCKET};
    const struct pdnn_plot_request *request = p->in->request;
    const char *key = request->across ? request->across : "threads";
    const struct pdnn_results *results = &p->in->selection.results;
    if (pdnn_results_ask(results, key, true, &p->threads, err) != PDNN_OK)
        return err->status;
    p->per_one = strcmp(key, "ranks") == 0;
    p->keys = (struct pdnn_axes){.column = {p->threads}, .count = 1};
    for (size_t k = 0; k < sizeof exchange / sizeof *exchange && p->per_one; k++)
        if (pdnn_results_setting(results, exchange[k]) >= 0)
            p->keys.column[p->keys.count++] = pdnn_results_setting(results, exchange[k]);
    const char *name = pdnn_results_name(results, p->threads);
    const int length = (int)strlen(name);
    p->one = pdnn_arena_printf(&p->in->arena, "%.*s", length - (length > 1 && name[length - 1] == 's'), name);
    return pdnn_results_ask(results, request->color ? request->color : name, false, &p->color, err);
}

static double half_width(const struct picture *p, size_t at) {
    return pdnn_log_half(pdnn_selection_value(&p->in->selection, at, PDNN_RESULT_CI_LOW_NS),
                         pdnn_selection_value(&p->in->selection, at, PDNN_RESULT_CI_HIGH_NS));
}

/* Ranks that average in other ways are no pair; one that is alone has no way. */
static bool same_exchange(const struct picture *p, size_t alone, size_t among) {
    for (size_t k = 1; k < p->keys.count; k++) {
        const char *of = pdnn_selection_get(&p->in->selection, alone, p->keys.column[k]);
        if (*of && strcmp(of, pdnn_selection_get(&p->in->selection, among, p->keys.column[k])) != 0)
            return false;
    }
    return true;
}

/* One model on more threads than the fewest it ran on; nothing if they cannot be compared. Weak: the
 * minibatch grew as the threads did. */
static void add_pair(struct picture *p, size_t alone, size_t among, bool is_weak) {
    const struct pdnn_selection *selection = &p->in->selection;
    double few = threads_of(p, alone), many = threads_of(p, among), ratio = many / few;
    double x = pdnn_selection_number(&p->in->selection, alone, p->in->column[0]);
    double gain = pdnn_selection_step_ns(selection, alone) / pdnn_selection_step_ns(selection, among);
    double speedup = is_weak ? gain * ratio : gain; /* of examples per second */
    if (!(x > 0) || !(ratio > 1) || !(speedup > 0) || !same_exchange(p, alone, among))
        return;
    double efficiency = speedup / ratio, half = hypot(half_width(p, alone), half_width(p, among));
    struct pdnn_chart_point point =
        pdnn_picture_place(p->in, among, (struct pdnn_spot){x, x * efficiency}, p->color);
    point.panel = pdnn_selection_source(selection, among);
    point.dotted = is_weak;
    point.doubtful = point.doubtful || pdnn_plot_notes(selection, alone) & PDNN_NOTES_DOUBT;
    if (p->color == p->threads)
        point.color = (struct pdnn_color_cell){
            pdnn_arena_printf(&p->in->arena, "%s %ss", point.color.text, p->one), NAN};
    p->few = p->in->chart.n_points ? fmin(p->few, few) : few;
    p->most = fmax(p->most, many);
    p->used[alone] = p->used[among] = true;
    p->among = pdnn_arena_grow(&p->in->arena, p->among, &p->room, p->in->chart.n_points, sizeof *p->among);
    p->among[p->in->chart.n_points] = among;
    pdnn_chart_add_point(&p->in->chart, point);
    pdnn_picture_row(p->in, point.panel);
    pdnn_picture_fill(p->in, p->in->of_sources, pdnn_picture_id(p->in, among), few, many, x, x * efficiency,
                      speedup, pdnn_amdahl_fraction(efficiency, ratio), point.color.text,
                      is_weak ? "weak" : "strong", efficiency, efficiency * exp(-half),
                      efficiency * exp(half));
}

/* A point for each member of the series but those with the fewest threads: with the same minibatch, or, in a
 * series over threads and minibatches, scaling in the other way: with the same minibatch per thread, or of
 * all ranks together. */
static void add_series(struct picture *p, const struct pdnn_series *series, bool same) {
    double few = INFINITY;
    for (size_t i = 0; i < series->count; i++)
        few = fmin(few, threads_of(p, series->at[i]));
    for (size_t i = 0; i < series->count; i++)
        for (size_t k = 0; k < series->count; k++) {
            const size_t alone = series->at[i], among = series->at[k];
            const double ratio = threads_of(p, among) / few;
            if (threads_of(p, alone) == few && ratio > 1 &&
                (same || batch_of(p, among) / batch_of(p, alone) == (p->per_one ? 1 / ratio : ratio)))
                add_pair(p, alone, among, same == p->per_one);
        }
}

static enum pdnn_status collect_points(struct picture *p, struct pdnn_err *err) {
    struct pdnn_series *series;
    size_t n_series;
    p->used = pdnn_arena_alloc(&p->in->arena, p->in->selection.count + 1, sizeof *p->used);
    pdnn_picture_table(
        p->in, "id #threads_few #threads #pct_of_peak_few #pct_of_peak_per_thread #speedup #fraction color "
               "scaling #efficiency #efficiency_low #efficiency_high");
    struct pdnn_axes axes = p->keys;
    for (int same = 1; same >= 0; same--) {
        pdnn_selection_series(&p->in->selection, &axes, &p->in->arena, &series, &n_series);
        for (size_t i = 0; i < n_series; i++)
            add_series(p, &series[i], same);
        pdnn_axes_add_minibatch(&p->in->selection, &axes);
    }
    p->in->left_out = p->in->selection.left_out;
    for (size_t at = 0; at < p->in->selection.count; at++)
        p->in->left_out += !p->used[at];
    return p->in->chart.n_points
               ? PDNN_OK
               : pdnn_fail(err, PDNN_INVALID, "no model ran on several numbers of %ss", p->one);
}

/* The frame has room for the lines. */
static void put_frame(struct picture *p) {
    struct pdnn_frame *f = &p->in->chart.frame;
    pdnn_chart_fit(&p->in->chart);
    f->x.low = fmin(f->x.low, f->x.high / 30);
    f->y.low = fmin(f->y.low, f->y.high / 30);
    f->y.high = fmax(f->y.high, f->x.high * 1.05);
}

/* In a panel: the diagonal, and where models lie that lose a given fraction on the most threads. All end at
 * the right edge of the frame, where their names are. */
static void put_lines(struct picture *p, size_t panel) {
    static const double fractions[] = {0, 0.1, 0.5};
    const struct pdnn_frame *f = &p->in->chart.frame;
    for (size_t i = 0; i < sizeof fractions / sizeof *fractions; i++) {
        double slope = pdnn_amdahl_efficiency(fractions[i], p->most / p->few);
        double low = fmax(f->x.low, f->y.low / slope);
        if (low >= f->x.high)
            continue;
        struct pdnn_chart_line *line =
            pdnn_chart_add_line(&p->in->chart, (struct pdnn_spot){low, low * slope},
                                (struct pdnn_spot){f->x.high, f->x.high * slope});
        line->dashed = line->thin = i > 0;
        line->panel = panel;
        line->beside =
            i ? pdnn_arena_printf(&p->in->arena, "f = %.1f on %.0f %ss", fractions[i], p->most, p->one)
              : "f = 0: no loss";
    }
}

/* What points have in common; NULL and NaN: anything. */
struct part {
    size_t panel;
    bool is_weak;
    const char *family;
    double threads, batch;
};

/* The quantile of a column of these points; NaN for few. */
static double quantile_of(const struct picture *p, struct part part, size_t column, double quantile) {
    double *number = pdnn_arena_alloc(&p->in->arena, p->in->chart.n_points, sizeof *number);
    size_t count = 0;
    for (size_t i = 0; i < p->in->chart.n_points; i++)
        if (p->in->chart.point[i].panel == part.panel && p->in->chart.point[i].dotted == part.is_weak &&
            (!part.family ||
             strcmp(pdnn_selection_get(&p->in->selection, p->among[i], p->in->selection.family),
                    part.family) == 0) &&
            (isnan(part.threads) || noted(p, i, THREADS) == part.threads) &&
            (isnan(part.batch) || batch_of(p, p->among[i]) == part.batch))
            number[count++] = noted(p, i, column);
    pdnn_sort(number, count);
    return count >= PDNN_SAMPLE_LEAST ? pdnn_quantile_sorted(number, count, quantile) : NAN;
}

/* Of a panel: families, if there are several, each once, then all. */
static void note_families(struct picture *p, size_t panel) {
    enum { FAMILIES_MAX = 8 };
    struct pdnn_texts families = {0};
    for (size_t i = 0; i < p->in->chart.n_points; i++)
        if (p->in->chart.point[i].panel == panel)
            pdnn_texts_add(&families,
                           pdnn_selection_get(&p->in->selection, p->among[i], p->in->selection.family));
    const size_t shown = families.count > FAMILIES_MAX ? FAMILIES_MAX
                         : families.count > 1          ? families.count
                                                       : 0;
    bool is_said = false;
    for (size_t i = 0; i <= shown; i++) {
        const char *family = i < shown ? families.text[i] : NULL;
        const struct part of = {panel, false, family, NAN, NAN}, of_weak = {panel, true, family, NAN, NAN};
        const double strong = quantile_of(p, of, EFFICIENCY, 0.5),
                     weak = quantile_of(p, of_weak, EFFICIENCY, 0.5);
        struct pdnn_str text = {0};
        if (isnan(strong) && isnan(weak))
            continue;
        if (!is_said)
            pdnn_picture_note(p->in, panel, "parallel efficiency, median:");
        is_said = true;
        if (!isnan(strong))
            pdnn_str_printf(&text, "%.0f %%", strong * 100);
        if (!isnan(weak))
            pdnn_str_printf(&text, "%sweak %.0f %%", text.length ? ", " : "", weak * 100);
        if (!isnan(strong))
            pdnn_str_printf(&text, ", f %.2f", quantile_of(p, of, FRACTION, 0.5));
        pdnn_picture_note(
            p->in, panel,
            pdnn_arena_printf(&p->in->arena, "%s: %s", family ? family : "all", pdnn_str_text(&text)));
        pdnn_str_finish(&text);
    }
    pdnn_texts_finish(&families);
}

/* Of a panel: the median and the 90th percentile of f, for each number of threads, and at its largest
 * minibatch. */
static void note_fractions(struct picture *p, size_t panel) {
    const struct pdnn_chart *chart = &p->in->chart;
    struct pdnn_arena *arena = &p->in->arena;
    bool is_said = false;
    for (double threads = 0, next;; threads = next) {
        double largest = NAN;
        next = INFINITY;
        for (size_t i = 0; i < chart->n_points; i++) {
            const double many = noted(p, i, THREADS);
            if (chart->point[i].panel != panel || chart->point[i].dotted || many <= threads || many > next)
                continue;
            largest = many < next ? batch_of(p, p->among[i]) : fmax(largest, batch_of(p, p->among[i]));
            next = many;
        }
        if (isinf(next))
            return;
        for (int at_largest = 0; at_largest <= !isnan(largest); at_largest++) {
            const struct part part = {panel, false, NULL, next, at_largest ? largest : NAN};
            const double median = quantile_of(p, part, FRACTION, 0.5);
            if (isnan(median))
                continue;
            if (!is_said)
                pdnn_picture_note(p->in, panel, "fraction f: median, percentile:");
            is_said = true;
            pdnn_picture_note(
                p->in, panel,
                pdnn_arena_printf(arena, "%s: %s, 90 %%: %s",
                                  at_largest ? pdnn_arena_printf(arena, "   batch %.0f", largest)
                                             : pdnn_arena_printf(arena, "%.0f %ss", next, p->one),
                                  pdnn_plot_number(arena, median, 2),
                                  pdnn_plot_number(arena, quantile_of(p, part, FRACTION, 0.9), 2)));
        }
    }
}

static enum pdnn_status draw(struct pdnn_picture *picture, struct pdnn_err *err) {
    struct picture p = {.in = picture};
    struct pdnn_arena *arena = &picture->arena;
    struct pdnn_chart *chart = &picture->chart;
    if (find_columns(&p, err) != PDNN_OK ||
        pdnn_picture_source_panels(picture, pdnn_arena_printf(arena, "More %ss in", p.one), err) != PDNN_OK ||
        collect_points(&p, err) != PDNN_OK)
        return err->status;
    chart->x_title =
        pdnn_arena_printf(arena, "share of the peak on %.0f %s%s (%%)", p.few, p.one, p.few > 1 ? "s" : "");
    chart->y_title = pdnn_arena_printf(arena, "the same for each of N %ss (%%)", p.one);
    chart->color_title = pdnn_plot_axis(arena, &picture->selection.results, p.color);
    chart->caption = pdnn_arena_printf(
        arena,
        "Each point is one model on more %ss, against itself on the fewest. With a speed-up S "
        "on N times the %ss, f = (N / S - 1) / (N - 1).\n"
        "Percentages are of the peak of the fewest, times N",
        p.one, p.one);
    chart->dot = "weak: the minibatch grows";
    chart->no_dot = "strong: the same minibatch";
    put_frame(&p);
    for (size_t panel = 0; panel < chart->n_panels; panel++) {
        put_lines(&p, panel);
        note_fractions(&p, panel);
        note_families(&p, panel);
    }
    return PDNN_OK;
}

const struct pdnn_plot_def pdnn_plot_scaling = {
    .name = "scaling",
    .help =
        "part of the peak on the fewest threads against that of each thread on more, with the fraction that "
        "does not run in parallel and the parallel efficiency, strong and weak, a panel for each of RESULTS; "
        "--across the key that counts them (default: threads), --color (default: the same), --only",
    .options = (const char *const[]){"across", "color", "only", NULL},
    .drawn = "points",
    .left_out_as = "rows without a counterpart",
    .of = PDNN_PLOT_ROWS,
    .column = {{NULL, "pct_of_peak"}},
    .draw = draw,
};
