/* `paradnn plot scaling`: what a thread achieves alone against what it achieves among others, and the
 * fraction of each model that does not run in parallel. Strong scaling: the same minibatch; weak: a minibatch
 * that grows with the threads. Ranks, or any other key that counts workers, scale in the same way; but the
 * minibatch of ranks is that of one of them, so with the same one they scale weakly. */
#include "results/figures/caption.h"
#include "results/figures/picture.h"
#include "base/texts.h"
#include "results/stats/means.h"
#include "base/stats.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* One model on more threads than the fewest it ran on. */
struct scaled {
    size_t alone, among;          /* chosen rows: on the fewest threads, on more */
    double few, many;             /* threads */
    bool is_weak;                 /* the minibatch grew as the threads did */
    double speedup;               /* of examples per second */
    double fraction;              /* Amdahl: 1 / speedup = f + (1 - f) few / many */
    double efficiency, low, high; /* speed-up per thread, with its 95 % interval; NaN: no interval */
};

enum { ONE_TEXT = 160 };

struct picture {
    struct pdnn_picture *in;
    int threads, peak, batch, color; /* columns; batch: the minibatch, -1: none */
    bool per_one;                    /* the minibatch is that of each of them */
    int exchange[2];       /* how ranks average gradients, which one alone does not; -1: no such column */
    int low_ns, high_ns;   /* of the interval; -1: none */
    char one[ONE_TEXT];    /* "thread" */
    struct scaled *scaled; /* by point */
    size_t room, n_weak;
    double few, most; /* threads: the fewest and the most of all points */
};

static double number_in(const struct picture *p, size_t at, int column) {
    return pdnn_picture_number(p->in, at, column);
}

static enum pdnn_status find_columns(struct picture *p, struct pdnn_err *err) {
    const struct pdnn_plot_request *request = p->in->request;
    const char *key = request->across ? request->across : "threads";
    enum pdnn_status status = pdnn_results_ask_key(&p->in->selection.results, key, &p->threads, err);
    if (status != PDNN_OK)
        return status;
    p->batch = pdnn_selection_minibatch(&p->in->selection);
    p->per_one = strcmp(key, "ranks") == 0;
    p->exchange[0] =
        p->per_one ? pdnn_results_setting(&p->in->selection.results, PDNN_SETTING_ALLREDUCE) : -1;
    p->exchange[1] = p->per_one ? pdnn_results_setting(&p->in->selection.results, PDNN_SETTING_BUCKET) : -1;
    p->low_ns = p->in->selection.results.at[PDNN_RESULT_CI_LOW_NS];
    p->high_ns = p->in->selection.results.at[PDNN_RESULT_CI_HIGH_NS];
    snprintf(p->one, sizeof p->one, "%s", pdnn_results_name(&p->in->selection.results, p->threads));
    size_t length = strlen(p->one);
    if (length > 1 && p->one[length - 1] == 's')
        p->one[length - 1] = 0;
    status = pdnn_picture_column(p->in, "pct_of_peak", NULL, &p->peak, err);
    return status == PDNN_OK
               ? pdnn_picture_column(p->in, request->color,
                                     pdnn_results_name(&p->in->selection.results, p->threads), &p->color, err)
               : status;
}

static double half_width(const struct picture *p, size_t at) {
    return pdnn_log_half(number_in(p, at, p->low_ns), number_in(p, at, p->high_ns));
}

/* Ranks that average in other ways are no pair; one that is alone has no way. */
static bool same_exchange(const struct picture *p, size_t alone, size_t among) {
    for (size_t k = 0; k < sizeof p->exchange / sizeof *p->exchange; k++) {
        const char *of = p->exchange[k] < 0 ? "" : pdnn_picture_cell(p->in, alone, p->exchange[k]);
        if (*of && strcmp(of, pdnn_picture_cell(p->in, among, p->exchange[k])) != 0)
            return false;
    }
    return true;
}

/* Nothing if they cannot be compared. */
static void add_pair(struct picture *p, size_t alone, size_t among, bool is_weak) {
    double few = number_in(p, alone, p->threads), many = number_in(p, among, p->threads), ratio = many / few;
    double x = number_in(p, alone, p->peak);
    double gain =
        pdnn_selection_step_ns(&p->in->selection, alone) / pdnn_selection_step_ns(&p->in->selection, among);
    double speedup = is_weak ? gain * ratio : gain;
    if (!(x > 0) || !(ratio > 1) || !(speedup > 0) || p->in->chart.n_points == p->room ||
        !same_exchange(p, alone, among))
        return;
    const char *cell = pdnn_picture_cell(p->in, among, p->color);
    if (p->color == p->threads)
        cell = pdnn_arena_printf(&p->in->arena, "%s %ss", cell, p->one);
    double efficiency = speedup / ratio, half = hypot(half_width(p, alone), half_width(p, among));
    p->few = p->in->chart.n_points ? fmin(p->few, few) : few;
    p->most = fmax(p->most, many);
    p->n_weak += is_weak;
    p->scaled[p->in->chart.n_points] = (struct scaled){.alone = alone,
                                                       .among = among,
                                                       .few = few,
                                                       .many = many,
                                                       .is_weak = is_weak,
                                                       .speedup = speedup,
                                                       .fraction = pdnn_amdahl_fraction(efficiency, ratio),
                                                       .efficiency = efficiency,
                                                       .low = efficiency * exp(-half),
                                                       .high = efficiency * exp(half)};
    pdnn_chart_add_point(&p->in->chart,
                         (struct pdnn_chart_point){{x, x * efficiency}, 1, is_weak, cell ? cell : "", 0});
}

/* Chosen rows that no point is about. */
static size_t count_unused(const struct picture *p) {
    size_t unused = 0;
    for (size_t at = 0; at < p->in->selection.count; at++) {
        size_t i = 0;
        while (i < p->in->chart.n_points && p->scaled[i].alone != at && p->scaled[i].among != at)
            i++;
        unused += i == p->in->chart.n_points;
    }
    return unused;
}

/* A point for each member of the series but those with the fewest threads, which come first; the minibatch is
 * the same. */
static void add_series(struct picture *p, const struct pdnn_series *series) {
    double few = number_in(p, series->at[0], p->threads);
    for (size_t i = 0; i < series->count && number_in(p, series->at[i], p->threads) == few; i++) {
        for (size_t k = i + 1; k < series->count; k++)
            add_pair(p, series->at[i], series->at[k], p->per_one);
    }
}

/* In a series over threads and minibatches, the pairs that scale in the other way: with the same minibatch
 * per thread, or of all ranks together. */
static void add_others(struct picture *p, const struct pdnn_series *series) {
    double few = INFINITY;
    for (size_t i = 0; i < series->count; i++)
        few = fmin(few, number_in(p, series->at[i], p->threads));
    for (size_t i = 0; i < series->count; i++) {
        for (size_t k = 0; k < series->count; k++) {
            size_t alone = series->at[i], among = series->at[k];
            double many = number_in(p, among, p->threads), ratio = many / few;
            double growth = number_in(p, among, p->batch) / number_in(p, alone, p->batch);
            if (number_in(p, alone, p->threads) == few && many > few &&
                growth == (p->per_one ? 1 / ratio : ratio))
                add_pair(p, alone, among, !p->per_one);
        }
    }
}

static enum pdnn_status collect_points(struct picture *p, struct pdnn_err *err) {
    struct pdnn_series *series;
    size_t n_series;
    struct pdnn_axes strong = {.column = {p->threads}, .count = 1};
    struct pdnn_axes weak = {.column = {p->threads, p->batch}, .count = 2};
    for (size_t k = 0; k < sizeof p->exchange / sizeof *p->exchange; k++) {
        if (p->exchange[k] >= 0)
            strong.column[strong.count++] = weak.column[weak.count++] = p->exchange[k];
    }
    p->room = 2 * p->in->selection.count + 1; /* a row is among others once in either way */
    p->scaled = pdnn_arena_alloc(&p->in->arena, p->room, sizeof *p->scaled);
    pdnn_selection_series(&p->in->selection, &strong, &p->in->arena, &series, &n_series);
    for (size_t i = 0; i < n_series; i++)
        add_series(p, &series[i]);
    if (p->batch >= 0)
        pdnn_selection_series(&p->in->selection, &weak, &p->in->arena, &series, &n_series);
    for (size_t i = 0; i < n_series && p->batch >= 0; i++)
        add_others(p, &series[i]);
    p->in->left_out = p->in->selection.left_out + count_unused(p);
    return p->in->chart.n_points
               ? PDNN_OK
               : pdnn_fail(err, PDNN_INVALID, "no model ran on several numbers of %ss", p->one);
}

/* The diagonal, and where models lie that lose a given fraction on the most threads. All end at the right
 * edge of the frame, where their names are. */
static void put_lines(struct picture *p) {
    static const double fractions[] = {0, 0.1, 0.5};
    struct pdnn_frame *f = &p->in->chart.frame;
    pdnn_chart_fit(&p->in->chart);
    f->xmin = fmin(f->xmin, f->xmax / 30);
    f->ymin = fmin(f->ymin, f->ymax / 30);
    f->ymax = fmax(f->ymax, f->xmax * 1.05);
    for (size_t i = 0; i < sizeof fractions / sizeof *fractions; i++) {
        double slope = pdnn_amdahl_efficiency(fractions[i], p->most / p->few);
        double low = fmax(f->xmin, f->ymin / slope);
        if (low >= f->xmax)
            continue;
        struct pdnn_chart_line *line =
            pdnn_chart_add_line(&p->in->chart, (struct pdnn_spot){low, low * slope},
                                (struct pdnn_spot){f->xmax, f->xmax * slope});
        line->dashed = line->thin = i > 0;
        line->beside =
            i ? pdnn_arena_printf(&p->in->arena, "f = %.1f on %.0f %ss", fractions[i], p->most, p->one)
              : "f = 0: no loss";
    }
}

/* "2 threads: f 0.05, 90 % below 0.12" for those that keep() accepts. */
static void note_fraction(struct picture *p, double many, double batch, double *scratch) {
    size_t count = 0;
    for (size_t i = 0; i < p->in->chart.n_points; i++) {
        const struct scaled *one = &p->scaled[i];
        if (!one->is_weak && one->many == many &&
            (isnan(batch) || number_in(p, one->among, p->batch) == batch))
            scratch[count++] = one->fraction;
    }
    if (!count)
        return;
    pdnn_sort(scratch, count);
    const char *median = pdnn_plot_number(&p->in->arena, pdnn_quantile_sorted(scratch, count, 0.5), 2),
               *high = pdnn_plot_number(&p->in->arena, pdnn_quantile_sorted(scratch, count, 0.9), 2);
    if (isnan(batch))
        pdnn_chart_note(&p->in->chart, "%.0f %ss: %s, 90 %%: %s", many, p->one, median, high);
    else
        pdnn_chart_note(&p->in->chart, "   batch %.0f: %s, 90 %%: %s", batch, median, high);
}

/* Of the points of one kind of scaling and family, or with NULL of all: the median of the number at `offset`
 * of each. NaN for none. */
static double median_of(const struct picture *p, const char *family, bool is_weak, size_t offset,
                        double *scratch) {
    size_t count = 0;
    for (size_t i = 0; i < p->in->chart.n_points; i++) {
        const struct scaled *one = &p->scaled[i];
        const char *its = pdnn_picture_cell(p->in, one->among, p->in->selection.family);
        if (one->is_weak == is_weak && (!family || strcmp(its, family) == 0))
            memcpy(&scratch[count++], (const char *)one + offset, sizeof *scratch);
    }
    return count ? pdnn_median(scratch, count) : NAN;
}

/* Of one family or with NULL of all. */
static void note_family(struct picture *p, const char *family, double *scratch) {
    const double strong = median_of(p, family, false, offsetof(struct scaled, efficiency), scratch),
                 weak = median_of(p, family, true, offsetof(struct scaled, efficiency), scratch),
                 fraction = median_of(p, family, false, offsetof(struct scaled, fraction), scratch);
    const char *also = isnan(weak) ? "" : pdnn_arena_printf(&p->in->arena, ", weak %.0f %%", weak * 100);
    if (!isnan(strong))
        pdnn_chart_note(&p->in->chart, "%s: %.0f %%%s, f %.2f", family ? family : "all", strong * 100, also,
                        fraction);
    else
        pdnn_chart_note(&p->in->chart, "%s: %s", family ? family : "all", also + 2);
}

/* Families, each once, then all. */
static void note_families(struct picture *p, double *scratch) {
    enum { FAMILIES_MAX = 8 };
    struct pdnn_texts families = {0};
    for (size_t i = 0; i < p->in->chart.n_points; i++)
        pdnn_texts_add(&families, pdnn_picture_cell(p->in, p->scaled[i].among, p->in->selection.family));
    pdnn_chart_note(&p->in->chart, "parallel efficiency, median:");
    for (size_t i = 0; i < families.count && families.count > 1 && i < FAMILIES_MAX; i++)
        note_family(p, families.text[i], scratch);
    note_family(p, NULL, scratch);
    pdnn_texts_finish(&families);
}

/* The median and the 90th percentile of f, for each number of threads, and at its largest minibatch. */
static void note_fractions(struct picture *p, double *scratch) {
    double done = 0;
    pdnn_chart_note(&p->in->chart, "fraction f: median, percentile:");
    for (;;) {
        double next = INFINITY, batch = NAN;
        for (size_t i = 0; i < p->in->chart.n_points; i++) {
            if (p->scaled[i].many > done && !p->scaled[i].is_weak)
                next = fmin(next, p->scaled[i].many);
        }
        if (isinf(next))
            return;
        for (size_t i = 0; i < p->in->chart.n_points && p->batch >= 0; i++) {
            if (p->scaled[i].many == next && !p->scaled[i].is_weak)
                batch = fmax(batch, number_in(p, p->scaled[i].among, p->batch));
        }
        note_fraction(p, next, NAN, scratch);
        if (!isnan(batch))
            note_fraction(p, next, batch, scratch);
        done = next;
    }
}

static void put_notes(struct picture *p) {
    double *scratch = pdnn_arena_alloc(&p->in->arena, p->in->chart.n_points, sizeof *scratch);
    if (p->n_weak < p->in->chart.n_points)
        note_fractions(p, scratch);
    note_families(p, scratch);
}

enum { ID, THREADS_FEW, THREADS, PEAK_FEW, PEAK_PER_THREAD, SPEEDUP, FRACTION, COLOR };
enum { SCALING = COLOR + 1, EFFICIENCY, EFFICIENCY_LOW, EFFICIENCY_HIGH };

static void fill_data(struct picture *p) {
    struct pdnn_table *data = &p->in->data;
    pdnn_picture_table(
        p->in, "id #threads_few #threads #pct_of_peak_few #pct_of_peak_per_thread #speedup #fraction color "
               "scaling #efficiency #efficiency_low #efficiency_high");
    for (size_t i = 0; i < p->in->chart.n_points; i++) {
        const struct scaled *one = &p->scaled[i];
        size_t row = pdnn_table_add_row(data);
        pdnn_table_set_text(data, row, ID, pdnn_picture_cell(p->in, one->among, p->in->selection.id));
        pdnn_table_set_number(data, row, THREADS_FEW, one->few);
        pdnn_table_set_number(data, row, THREADS, one->many);
        pdnn_table_set_number(data, row, PEAK_FEW, p->in->chart.point[i].spot.x);
        pdnn_table_set_number(data, row, PEAK_PER_THREAD, p->in->chart.point[i].spot.y);
        pdnn_table_set_number(data, row, SPEEDUP, one->speedup);
        pdnn_table_set_number(data, row, FRACTION, one->fraction);
        pdnn_table_set_text(data, row, COLOR, p->in->chart.point[i].color);
        pdnn_table_set_text(data, row, SCALING, one->is_weak ? "weak" : "strong");
        pdnn_table_set_number(data, row, EFFICIENCY, one->efficiency);
        pdnn_table_set_number(data, row, EFFICIENCY_LOW, one->low);
        pdnn_table_set_number(data, row, EFFICIENCY_HIGH, one->high);
    }
}

static void describe(struct picture *p) {
    struct pdnn_arena *arena = &p->in->arena;
    const char *plural = p->few > 1 ? "s" : "";
    p->in->chart.titles[0] =
        pdnn_plot_titles(arena, pdnn_arena_printf(arena, "More %ss in", p->one), &p->in->selection);
    p->in->chart.x_title =
        pdnn_arena_printf(arena, "share of the peak on %.0f %s%s (%%)", p->few, p->one, plural);
    p->in->chart.y_title = pdnn_arena_printf(arena, "the same for each of N %ss (%%)", p->one);
    p->in->chart.color_title = pdnn_results_name(&p->in->selection.results, p->color);
    p->in->chart.caption[0] = pdnn_arena_printf(
        arena,
        "Each point is one model on more %ss, against itself on the fewest. With a speed-up S "
        "on N times the %ss, f = (N / S - 1) / (N - 1).",
        p->one, p->one);
    p->in->chart.caption[1] = "Percentages are of the peak of the fewest, times N";
    if (p->n_weak && p->n_weak < p->in->chart.n_points) {
        p->in->chart.dot = "weak: the minibatch grows";
        p->in->chart.no_dot = "strong: the same minibatch";
    }
    put_lines(p);
    fill_data(p);
    put_notes(p);
}

static enum pdnn_status draw(struct pdnn_picture *picture, struct pdnn_err *err) {
    struct picture p = {.in = picture};
    if (pdnn_picture_select(picture, err) != PDNN_OK || find_columns(&p, err) != PDNN_OK ||
        collect_points(&p, err) != PDNN_OK)
        return err->status;
    describe(&p);
    return PDNN_OK;
}

const struct pdnn_plot_def pdnn_plot_scaling = {
    .name = "scaling",
    .help =
        "part of the peak on the fewest threads against that of each thread on more, with the fraction that "
        "does not run in parallel and the parallel efficiency, strong and weak; --across the key that counts "
        "them (default: threads), --color (default: the same), --only",
    .options = (const char *const[]){"across", "color", "only", NULL},
    .drawn = "points",
    .left_out_as = "rows without a counterpart",
    .draw = draw,
};
