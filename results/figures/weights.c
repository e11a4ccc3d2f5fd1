/* `paradnn plot weights`: what paradnn fit finds, the linear model above the one on logarithms. */
#include "results/fit/fit.h"
#include "results/figures/picture.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { MODELS = 2 };

static const struct model {
    const char *name;
    int ink;
} models[MODELS] = {{"linear", 0x0072b2}, {"in logarithms", 0xe69f00}};

/* Names to the left of the frame; the height follows from the number of terms. */
static const double left_most = 330, left_part = 0.36, right_gap = 24, below = 78, above = 92,
                    family_pixels = 34, term_pixels = 40, bar_pixels = 13, margin = 16, caption_bottom = 8;

/* A line of the picture, with rows of the table of terms: of a family, or of a term that has a weight there;
 * SIZE_MAX where a model has none. */
struct line {
    bool is_family;
    size_t row[MODELS], any;
};

struct picture {
    struct pdnn_picture *in;
    const struct pdnn_selection *selection; /* the picture's own, or, for a ratio, the comparison's */
    const char *value;                      /* NULL: a ratio */
    struct line *line;                      /* from the top down */
    size_t n_lines;
    struct pdnn_scale x;
};

static void add_line(struct picture *p, struct line line) {
    line.any = line.row[line.row[0] == SIZE_MAX];
    p->line[p->n_lines++] = line;
}

/* Each family, and below it its terms. What cannot be fitted is left out, unless nothing else can be. */
static enum pdnn_status fit_families(struct picture *p, struct pdnn_err *err) {
    static const size_t keys[] = {PDNN_FIT_FAMILY, PDNN_FIT_TERM};
    static const bool fitted[PDNN_FIT_MODEL_COUNT] = {[PDNN_FIT_LINEAR] = true, [PDNN_FIT_LOG] = true};
    const struct pdnn_fit_request request = {
        .selection = p->selection, .what = p->value, .comparison = p->value ? NULL : &p->in->comparison};
    struct pdnn_table *terms = &p->in->data, residuals;
    struct pdnn_str notes = {0};
    pdnn_table_init(&residuals, &pdnn_residuals_def);
    const enum pdnn_status status = pdnn_fit_all(&request, fitted, terms, &residuals, &notes, err);
    struct pdnn_groups groups = pdnn_groups_make(terms, NULL, keys, 2);
    p->line = pdnn_arena_alloc(&p->in->arena, 2 * groups.count + 1, sizeof *p->line);
    for (size_t i = 0; i < groups.count; i++) {
        const struct pdnn_row_list *rows = &groups.group[i];
        struct line line = {.row = {SIZE_MAX, SIZE_MAX}};
        for (size_t k = 0; k < rows->count; k++)
            line.row[strcmp(pdnn_table_text(terms, rows->at[k], PDNN_FIT_MODEL),
                            pdnn_fit_models[PDNN_FIT_LOG]) == 0] = rows->at[k];
        if (!i || pdnn_table_compare(terms, PDNN_FIT_FAMILY, rows->at[0], groups.group[i - 1].at[0]) != 0) {
            add_line(p, (struct line){.is_family = true, .row = {line.row[0], line.row[1]}});
            p->in->left_out += pdnn_table_count(terms, rows->at[0], PDNN_FIT_NO_VALUE) +
                               pdnn_table_count(terms, rows->at[0], PDNN_FIT_NO_CELL);
        }
        for (int m = 0; m < MODELS; m++) {
            if (line.row[m] == SIZE_MAX || pdnn_table_is_empty(terms, line.row[m], PDNN_FIT_WEIGHT)) {
                line.row[m] = SIZE_MAX;
                continue;
            }
            p->x.low = fmin(p->x.low, pdnn_table_number(terms, line.row[m], PDNN_FIT_CI_LOW));
            p->x.high = fmax(p->x.high, pdnn_table_number(terms, line.row[m], PDNN_FIT_CI_HIGH));
            p->in->drawn++;
        }
        if (line.row[0] != SIZE_MAX || line.row[1] != SIZE_MAX)
            add_line(p, line);
    }
    pdnn_groups_finish(&groups);
    pdnn_table_finish(&residuals);
    pdnn_str_finish(&notes);
    return status;
}

/* "fc: 30 instances, R2 0.28 linear, 0.78 in logarithms" */
static void draw_family(struct picture *p, const struct line *line, double y) {
    const struct pdnn_table *data = &p->in->data;
    struct pdnn_str text = {0};
    pdnn_str_printf(&text, "%s: %.0f instances, R2", pdnn_table_text(data, line->any, PDNN_FIT_FAMILY),
                    pdnn_table_number(data, line->any, PDNN_FIT_ROWS));
    for (int m = 0; m < MODELS; m++)
        if (line->row[m] != SIZE_MAX)
            pdnn_str_printf(&text, "%s %.2f %s", line->row[m] != line->any ? "," : "",
                            pdnn_table_number(data, line->row[m], PDNN_FIT_R2), models[m].name);
    const double width = pdnn_text_width(pdnn_str_text(&text), PDNN_FONT_SMALL),
                 from = fmax(margin, fmin(p->x.from, p->x.to - width));
    pdnn_draw_cut(&p->in->canvas, from, y, p->x.to - from, pdnn_small, pdnn_str_text(&text));
    pdnn_str_finish(&text);
}

/* From 0, with the interval of the weight. */
static void draw_bar(struct picture *p, size_t row, int model, double y) {
    const struct pdnn_table *data = &p->in->data;
    const double end = pdnn_scale_at(&p->x, pdnn_table_number(data, row, PDNN_FIT_WEIGHT));
    pdnn_draw_box(&p->in->canvas, pdnn_scale_at(&p->x, 0), y - bar_pixels / 2, end, y + bar_pixels / 2,
                  pdnn_pen_fill(models[model].ink));
    pdnn_draw_interval(&p->in->canvas, &p->x, pdnn_table_number(data, row, PDNN_FIT_CI_LOW),
                       pdnn_table_number(data, row, PDNN_FIT_CI_HIGH), y, 1.2);
}

static void draw_term(struct picture *p, const struct line *line, double y) {
    const char *baseline = strchr(pdnn_table_text(&p->in->data, line->any, PDNN_FIT_BASELINE), '=');
    const char *text =
        pdnn_arena_printf(&p->in->arena, "%s%s%s", pdnn_table_text(&p->in->data, line->any, PDNN_FIT_TERM),
                          baseline ? " against " : "", baseline ? baseline + 1 : "");
    pdnn_draw_cut(&p->in->canvas, p->x.from - 10, y, p->x.from - 20, pdnn_small_end, text);
    for (int m = 0; m < MODELS; m++)
        if (line->row[m] != SIZE_MAX)
            draw_bar(p, line->row[m], m, y + (m ? -1 : 1) * bar_pixels * 0.6);
}

/* Each family with its terms, and a line at 0 beside their bars. */
static void draw_lines(struct picture *p, double y) {
    const double zero = pdnn_scale_at(&p->x, 0);
    for (const struct line *line = p->line; line < p->line + p->n_lines; line++) {
        const double high = line->is_family ? family_pixels : term_pixels, middle = y - high / 2;
        if (line->is_family) {
            draw_family(p, line, middle);
        } else {
            draw_term(p, line, middle);
            pdnn_draw_line(&p->in->canvas, zero, y - high, zero, y, pdnn_pen_line(PDNN_INK_SOFT, 1));
        }
        y -= high;
    }
}

/* The ratio of two directories, or of both sides in one; or a column. */
static enum pdnn_status choose_value(struct picture *p, struct pdnn_err *err) {
    const struct pdnn_plot_request *request = p->in->request;
    if (!request->across && (request->n_directories == 1 || request->value)) {
        if (pdnn_picture_select(p->in, err) != PDNN_OK)
            return err->status;
        p->selection = &p->in->selection;
        p->in->left_out = p->selection->left_out;
        p->value = request->value ? request->value : pdnn_selection_utilization(p->selection);
        return PDNN_OK;
    }
    if (request->n_directories > 2)
        return pdnn_fail(err, PDNN_INVALID,
                         "a ratio is that of two RESULTS; of more, give --value, and results is a term");
    if (request->value)
        return pdnn_fail(err, PDNN_INVALID, "a ratio is fitted, so --value cannot be given");
    if (pdnn_picture_compare(p->in, request->n_directories > 1, err) != PDNN_OK)
        return err->status;
    p->selection = &p->in->comparison.selection;
    p->in->left_out = p->in->comparison.unpaired.n_rows;
    return PDNN_OK;
}

static enum pdnn_status draw(struct pdnn_picture *picture, struct pdnn_err *err) {
    struct picture p = {.in = picture};
    struct pdnn_arena *arena = &picture->arena;
    struct pdnn_canvas *canvas = &picture->canvas;
    pdnn_table_init(&picture->data, &pdnn_fit_def);
    if (choose_value(&p, err) != PDNN_OK || fit_families(&p, err) != PDNN_OK)
        return err->status;
    const struct pdnn_titles titles =
        p.value ? pdnn_plot_titles(
                      arena,
                      pdnn_arena_printf(arena, "What decides %s in",
                                        pdnn_plot_words(arena, &p.selection->results,
                                                        pdnn_results_named(&p.selection->results, p.value))),
                      p.selection, NULL)
                : pdnn_plot_compare_titles(arena, "What decides the speed-up", &picture->comparison);
    const double beside = (p.x.high - p.x.low) * 0.04;
    p.x.low -= beside;
    p.x.high += beside;
    p.x.from = fmin(left_most, left_part * canvas->width);
    p.x.to = canvas->width - right_gap;
    for (int m = 0; m < MODELS; m++)
        pdnn_entries_add(&picture->legend, models[m].name, pdnn_swatch(models[m].ink));
    double y =
        caption_bottom +
        pdnn_draw_caption(
            canvas, margin, caption_bottom,
            "Bars: weights, of the value for one of the term, with their 95 % intervals, for independent errors of equal size; R2: part of the "
            "variance that is explained");
    y += pdnn_entries_draw_below(&picture->legend, y, canvas) + below;
    double top = y;
    for (size_t i = 0; i < p.n_lines; i++)
        top += p.line[i].is_family ? family_pixels : term_pixels;
    const char *title = "weight (standard deviations per standard deviation)";
    canvas->height = top + above;
    pdnn_put_titles(canvas, margin, titles);
    pdnn_draw_level(canvas, &(struct pdnn_frame_axis){.scale = p.x, .title = title}, y, top);
    draw_lines(&p, top);
    return PDNN_OK;
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
