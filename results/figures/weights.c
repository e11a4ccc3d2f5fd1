/* `paradnn plot weights`: what paradnn fit finds, the linear model above the one on logarithms. */
#include "results/fit/fit.h"
#include "results/figures/caption.h"
#include "results/figures/picture.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MODELS = 2 };

static const struct model {
    const char *name;
    int ink;
} models[MODELS] = {{"linear", 0x0072b2}, {"in logarithms", 0xe69f00}};

/* Names to the left of the frame; the height follows from the number of terms. */
static const double left_most = 330, left_part = 0.36, right_gap = 24, below = 78, above = 92,
                    head_pixels = 34, term_pixels = 40, bar_pixels = 13, margin = 16, caption_bottom = 8;

/* One family with both fits, which have the same terms in the same order, in rows of the table of terms. One
 * that could not be made has none. */
struct group {
    size_t first[MODELS], n; /* SIZE_MAX: none */
};

struct picture {
    struct pdnn_picture *in;
    const struct pdnn_selection *selection; /* the picture's own, or, for a ratio, that of side A */
    const char *value;                      /* NULL: a ratio */
    struct pdnn_table residuals;
    struct group *group;
    size_t n_groups;
    struct pdnn_scale x;
};

/* What cannot be fitted is left out, unless nothing else can be. */
static enum pdnn_status fit_families(struct picture *p, struct pdnn_err *err) {
    static const size_t family = PDNN_FIT_FAMILY;
    const struct pdnn_table *terms = &p->in->data;
    static const bool fitted[PDNN_FIT_MODEL_COUNT] = {[PDNN_FIT_LINEAR] = true, [PDNN_FIT_LOG] = true};
    const struct pdnn_fit_request request = {
        .selection = p->selection, .what = p->value, .comparison = p->value ? NULL : &p->in->comparison};
    struct pdnn_str notes = {0};
    enum pdnn_status status = pdnn_fit_all(&request, fitted, &p->in->data, &p->residuals, &notes, err);
    struct pdnn_groups families = pdnn_groups_make(terms, NULL, &family, 1);
    p->group = pdnn_arena_alloc(&p->in->arena, families.count, sizeof *p->group);
    p->n_groups = families.count;
    for (size_t i = 0; i < families.count; i++) {
        const struct pdnn_row_list *rows = &families.group[i];
        struct group *group = &p->group[i];
        *group = (struct group){.first = {SIZE_MAX, SIZE_MAX}};
        for (size_t k = 0; k < rows->count; k++) {
            int m = strcmp(pdnn_table_text(terms, rows->at[k], PDNN_FIT_MODEL),
                           pdnn_fit_models[PDNN_FIT_LOG]) == 0;
            group->first[m] = group->first[m] == SIZE_MAX ? rows->at[k] : group->first[m];
            group->n = rows->at[k] - group->first[m] + 1;
        }
    }
    pdnn_groups_finish(&families);
    pdnn_str_finish(&notes);
    return status;
}

/* The row of a term that has a weight in this model; else SIZE_MAX. */
static size_t row_of(const struct picture *p, const struct group *group, int model, size_t term) {
    const size_t row = group->first[model] + term;
    return group->first[model] != SIZE_MAX && !pdnn_table_is_empty(&p->in->data, row, PDNN_FIT_WEIGHT)
               ? row
               : SIZE_MAX;
}

/* A row of the family, to which both models belong. */
static size_t any_row(const struct group *group) {
    return group->first[group->first[0] == SIZE_MAX];
}

/* The range of the weights; returns the height of the frame. */
static double measure(struct picture *p) {
    const struct pdnn_table *data = &p->in->data;
    double pixels = 0;
    for (size_t i = 0; i < p->n_groups; i++) {
        const struct group *group = &p->group[i];
        pixels += head_pixels;
        for (size_t k = 0; k < group->n; k++) {
            size_t weights = 0;
            for (int m = 0; m < MODELS; m++) {
                const size_t row = row_of(p, group, m, k);
                if (row == SIZE_MAX)
                    continue;
                p->x.low = fmin(p->x.low, pdnn_table_number(data, row, PDNN_FIT_CI_LOW));
                p->x.high = fmax(p->x.high, pdnn_table_number(data, row, PDNN_FIT_CI_HIGH));
                weights++;
            }
            p->in->drawn += weights;
            pixels += weights ? term_pixels : 0;
        }
        p->in->left_out += pdnn_table_count(data, any_row(group), PDNN_FIT_NO_VALUE) +
                           pdnn_table_count(data, any_row(group), PDNN_FIT_NO_CELL);
    }
    const double beside = (p->x.high - p->x.low) * 0.04;
    p->x.low -= beside;
    p->x.high += beside;
    return pixels;
}

/* "fc: 30 instances, R2 0.28 linear, 0.78 in logarithms" */
static void draw_head(struct picture *p, const struct group *group, double y) {
    const struct pdnn_table *data = &p->in->data;
    struct pdnn_str text = {0};
    pdnn_str_printf(&text, "%s: %.0f instances, R2", pdnn_table_text(data, any_row(group), PDNN_FIT_FAMILY),
                    pdnn_table_number(data, any_row(group), PDNN_FIT_ROWS));
    for (int m = 0; m < MODELS; m++)
        if (group->first[m] != SIZE_MAX)
            pdnn_str_printf(&text, "%s %.2f %s", group->first[m] != any_row(group) ? "," : "",
                            pdnn_table_number(data, group->first[m], PDNN_FIT_R2), models[m].name);
    pdnn_draw_cut(&p->in->canvas, p->x.from, y, p->x.to - p->x.from, pdnn_small, pdnn_str_text(&text));
    pdnn_str_finish(&text);
}

static void draw_name(struct picture *p, size_t row, double y) {
    const char *baseline = strchr(pdnn_table_text(&p->in->data, row, PDNN_FIT_BASELINE), '=');
    const char *text =
        pdnn_arena_printf(&p->in->arena, "%s%s%s", pdnn_table_text(&p->in->data, row, PDNN_FIT_TERM),
                          baseline ? " against " : "", baseline ? baseline + 1 : "");
    pdnn_draw_cut(&p->in->canvas, p->x.from - 10, y, p->x.from - 20, pdnn_small_end, text);
}

/* From 0, with the interval of the weight. */
static void draw_bar(struct picture *p, size_t row, int model, double y) {
    const struct pdnn_table *data = &p->in->data;
    pdnn_draw_box(&p->in->canvas, pdnn_scale_at(&p->x, 0), y - bar_pixels / 2,
                  pdnn_scale_at(&p->x, pdnn_table_number(data, row, PDNN_FIT_WEIGHT)), y + bar_pixels / 2,
                  pdnn_pen_fill(models[model].ink));
    pdnn_draw_interval(&p->in->canvas, &p->x, pdnn_table_number(data, row, PDNN_FIT_CI_LOW),
                       pdnn_table_number(data, row, PDNN_FIT_CI_HIGH), y, 1.2);
}

/* Each family with its terms, and a line at 0 beside their bars. */
static void draw_groups(struct picture *p, double y) {
    const double zero = pdnn_scale_at(&p->x, 0);
    for (size_t i = 0; i < p->n_groups; i++) {
        const struct group *group = &p->group[i];
        draw_head(p, group, y - head_pixels / 2);
        y -= head_pixels;
        const double top = y;
        for (size_t k = 0; k < group->n; k++) {
            const double middle = y;
            for (int m = 0; m < MODELS; m++) {
                const size_t row = row_of(p, group, m, k);
                if (row == SIZE_MAX)
                    continue;
                y = middle - term_pixels;
                draw_bar(p, row, m, middle - term_pixels / 2 + (m ? -1 : 1) * bar_pixels * 0.6);
            }
            if (y < middle)
                draw_name(p, any_row(group) + k, middle - term_pixels / 2);
        }
        pdnn_draw_line(&p->in->canvas, zero, y, zero, top, pdnn_pen_line(PDNN_INK_SOFT, 1));
    }
}

static void describe(struct picture *p) {
    struct pdnn_arena *arena = &p->in->arena;
    struct pdnn_canvas *canvas = &p->in->canvas;
    struct pdnn_entries entries = {0};
    const struct pdnn_titles titles =
        p->value ? pdnn_plot_titles(arena,
                                    pdnn_arena_printf(arena, "What decides %s in", pdnn_plot_words(p->value)),
                                    p->selection)
                 : pdnn_plot_compare_titles(arena, "What decides the speed-up", &p->in->comparison);
    p->x.from = fmin(left_most, left_part * p->in->width);
    p->x.to = p->in->width - right_gap;
    canvas->width = p->in->width;
    for (int m = 0; m < MODELS; m++) {
        const struct pdnn_mark mark = pdnn_swatch(models[m].ink);
        pdnn_entries_add(&entries, models[m].name, &mark);
    }
    double y = caption_bottom;
    y += pdnn_draw_caption(
        canvas, margin, y,
        "Bars: weights with their 95 % intervals, for independent errors of equal size; R2: part of the "
        "variance that is explained");
    y += pdnn_entries_draw_below(&entries, y, canvas) + below;
    const double top = y + measure(p);
    const struct pdnn_frame_axis x = {
        .scale = p->x,
        .title = "weight: standard deviations of the value per standard deviation of the term"};
    canvas->height = top + above;
    pdnn_draw_titles(canvas, margin, canvas->height, &titles);
    pdnn_draw_level(canvas, &x, y, top);
    draw_groups(p, top);
    free(entries.entry);
}

/* The ratio of two directories, or of both sides in one. */
static enum pdnn_status take_ratios(struct picture *p, struct pdnn_err *err) {
    if (p->in->request->n_directories > 2)
        return pdnn_fail(err, PDNN_INVALID,
                         "a ratio is that of two RESULTS; of more, give --value, and results is a term");
    if (p->value)
        return pdnn_fail(err, PDNN_INVALID, "a ratio is fitted, so --value cannot be given");
    if (pdnn_picture_compare(p->in, err) != PDNN_OK)
        return err->status;
    p->selection = pdnn_comparison_side(&p->in->comparison, PDNN_SIDE_A);
    p->in->left_out = p->in->comparison.unpaired.n_rows;
    return PDNN_OK;
}

static enum pdnn_status take_column(struct picture *p, struct pdnn_err *err) {
    if (pdnn_picture_select(p->in, err) != PDNN_OK)
        return err->status;
    p->selection = &p->in->selection;
    p->in->left_out = p->selection->left_out;
    p->value = p->value ? p->value : pdnn_selection_utilization(p->selection);
    return PDNN_OK;
}

static enum pdnn_status draw(struct pdnn_picture *picture, struct pdnn_err *err) {
    const struct pdnn_plot_request *request = picture->request;
    struct picture p = {.in = picture, .value = request->value};
    bool is_ratio = request->across || (request->n_directories > 1 && !request->value);
    pdnn_table_init(&picture->data, &pdnn_fit_def);
    pdnn_table_init(&p.residuals, &pdnn_residuals_def);
    enum pdnn_status status = is_ratio ? take_ratios(&p, err) : take_column(&p, err);
    if (status == PDNN_OK)
        status = fit_families(&p, err);
    if (status == PDNN_OK)
        describe(&p);
    pdnn_table_finish(&p.residuals);
    return status;
}

const struct pdnn_plot_def pdnn_plot_weights = {
    .name = "weights",
    .help =
        "which hyper-parameters decide --value (default: pct_of_peak, or gflops where no model has "
        "it), or, with --across or for two RESULTS without --value, the speed-up, as fit finds it, linear "
        "and in logarithms; --only",
    .options = (const char *const[]){"value", "across", "only", NULL},
    .drawn = "weights",
    .left_out_as = "rows that are not ok or lack a number",
    .draw = draw,
};
