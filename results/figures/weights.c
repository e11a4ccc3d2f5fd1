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
    /* Its name, where that begins or ends, in lines up to this width, which take that much more than one; and
     * how high all is. */
    const char *name;
    double from, room, more, high;
};

struct picture {
    struct pdnn_picture *in;
    const char *value; /* NULL: ratios */
    size_t results;    /* a column of the terms: of several comparisons, whose ratio; else empty */
    struct line *line; /* from the top down */
    size_t n_lines;
    struct pdnn_scale x;
};

static void add_line(struct picture *p, struct line line) {
    line.any = line.row[line.row[0] == SIZE_MAX];
    p->line[p->n_lines++] = line;
}

/* Whether the end of the weight's bar is not seen. */
static bool is_outside(const struct picture *p, double weight) {
    const struct pdnn_spot range = p->in->chart.x_range;
    return weight < range.x || weight > range.y;
}

/* Fits the value, or the ratios of each comparison. */
static enum pdnn_status fit_all(struct picture *p, struct pdnn_err *err) {
    static const bool fitted[PDNN_FIT_MODEL_COUNT] = {[PDNN_FIT_LINEAR] = true, [PDNN_FIT_LOG] = true};
    struct pdnn_table *terms = &p->in->data;
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < (p->value ? 1 : p->in->n_comparisons) && status == PDNN_OK; i++) {
        const struct pdnn_comparison *c = p->value ? NULL : &p->in->comparisons[i];
        const struct pdnn_fit_request request = {
            .selection = c ? &c->selection : &p->in->selection, .what = p->value, .comparison = c};
        const size_t first = terms->n_rows;
        struct pdnn_table residuals;
        struct pdnn_str notes = {0};
        pdnn_table_init(&residuals, &pdnn_residuals_def);
        status = pdnn_fit_all(&request, fitted, terms, &residuals, &notes, err);
        for (size_t row = first; row < terms->n_rows && p->in->n_comparisons > 1; row++)
            pdnn_table_set_text(terms, row, p->results, pdnn_plot_side(c, PDNN_SIDE_B));
        pdnn_table_finish(&residuals);
        pdnn_str_finish(&notes);
    }
    return status;
}

/* Whether two rows are of one family, of the same comparison. */
static bool is_alike(const struct picture *p, size_t a, size_t b) {
    const struct pdnn_table *terms = &p->in->data;
    return pdnn_table_compare(terms, PDNN_FIT_FAMILY, a, b) == 0 &&
           pdnn_table_compare(terms, p->results, a, b) == 0;
}

/* Each family, and below it its terms. What cannot be fitted is left out, unless nothing else can be. */
static enum pdnn_status fit_families(struct picture *p, struct pdnn_err *err) {
    const size_t keys[] = {p->results, PDNN_FIT_FAMILY, PDNN_FIT_TERM};
    struct pdnn_table *terms = &p->in->data;
    const enum pdnn_status status = fit_all(p, err);
    struct pdnn_groups groups = pdnn_groups_make(terms, NULL, keys, 3);
    p->line = pdnn_arena_alloc(&p->in->arena, 2 * groups.count + 1, sizeof *p->line);
    for (size_t i = 0; i < groups.count; i++) {
        const struct pdnn_row_list *rows = &groups.group[i];
        struct line line = {.row = {SIZE_MAX, SIZE_MAX}};
        for (size_t k = 0; k < rows->count; k++)
            line.row[strcmp(pdnn_table_text(terms, rows->at[k], PDNN_FIT_MODEL),
                            pdnn_fit_models[PDNN_FIT_LOG]) == 0] = rows->at[k];
        if (!i || !is_alike(p, rows->at[0], groups.group[i - 1].at[0])) {
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
            p->in->chart.n_outside += is_outside(p, pdnn_table_number(terms, line.row[m], PDNN_FIT_WEIGHT));
        }
        if (line.row[0] != SIZE_MAX || line.row[1] != SIZE_MAX)
            add_line(p, line);
    }
    pdnn_groups_finish(&groups);
    return status;
}

/* "zen5, fc: 30 instances, R2 0.28 linear, 0.78 in logarithms" */
static const char *name_family(struct picture *p, const struct line *line) {
    const struct pdnn_table *data = &p->in->data;
    const char *results = pdnn_table_text(data, line->any, p->results);
    struct pdnn_str text = {0};
    pdnn_str_printf(&text, "%s%s%s: %.0f instances, R2", results, *results ? ", " : "",
                    pdnn_table_text(data, line->any, PDNN_FIT_FAMILY),
                    pdnn_table_number(data, line->any, PDNN_FIT_ROWS));
    for (int m = 0; m < MODELS; m++)
        if (line->row[m] != SIZE_MAX)
            pdnn_str_printf(&text, "%s %.2f %s", line->row[m] != line->any ? "," : "",
                            pdnn_table_number(data, line->row[m], PDNN_FIT_R2), models[m].name);
    return pdnn_plot_keep(&p->in->arena, &text);
}

/* From 0, with the interval of the weight. */
static void draw_bar(struct picture *p, size_t row, int model, double y) {
    const struct pdnn_table *data = &p->in->data;
    const double zero = pdnn_scale_within(&p->x, 0),
                 end = pdnn_scale_within(&p->x, pdnn_table_number(data, row, PDNN_FIT_WEIGHT));
    if (zero != end)
        pdnn_draw_box(&p->in->canvas, zero, y - bar_pixels / 2, end, y + bar_pixels / 2,
                      pdnn_pen_fill(models[model].ink));
    pdnn_draw_interval(&p->in->canvas, &p->x, pdnn_table_number(data, row, PDNN_FIT_CI_LOW),
                       pdnn_table_number(data, row, PDNN_FIT_CI_HIGH), y, 1.2);
}

/* "activation=relu against tanh" */
static const char *name_term(struct picture *p, const struct line *line) {
    const char *baseline = strchr(pdnn_table_text(&p->in->data, line->any, PDNN_FIT_BASELINE), '=');
    return pdnn_arena_printf(&p->in->arena, "%s%s%s", pdnn_table_text(&p->in->data, line->any, PDNN_FIT_TERM),
                             baseline ? " against " : "", baseline ? baseline + 1 : "");
}

/* Names the lines. A family's name may begin to the left of the frame; a term's is there. */
static void place_lines(struct picture *p) {
    static const double apart = 6;
    for (struct line *line = p->line; line < p->line + p->n_lines; line++) {
        line->name = line->is_family ? name_family(p, line) : name_term(p, line);
        const double width = pdnn_text_width(line->name, PDNN_FONT_SMALL);
        line->from = line->is_family ? fmax(margin, fmin(p->x.from, p->x.to - width)) : p->x.from - 10;
        line->room = line->is_family ? p->x.to - line->from : p->x.from - 20;
        line->more = pdnn_lines_more(line->room, pdnn_small, line->name);
        line->high = fmax(line->is_family ? family_pixels : term_pixels,
                          line->more + PDNN_FONT_SMALL + (line->is_family ? 3 : 1) * apart);
    }
}

/* Each family with its terms, and a line at 0 beside their bars. */
static void draw_lines(struct picture *p, double y) {
    const double zero = pdnn_scale_at(&p->x, 0);
    for (const struct line *line = p->line; line < p->line + p->n_lines; line++) {
        const double middle = y - line->high / 2;
        pdnn_draw_lines(&p->in->canvas, line->from, middle + line->more / 2, line->room,
                        line->is_family ? pdnn_small : pdnn_small_end, line->name);
        for (int m = 0; m < MODELS && !line->is_family; m++)
            if (line->row[m] != SIZE_MAX)
                draw_bar(p, line->row[m], m, middle + (m ? -1 : 1) * bar_pixels * 0.6);
        if (!line->is_family && pdnn_scale_holds(&p->x, 0))
            pdnn_draw_line(&p->in->canvas, zero, y - line->high, zero, y, pdnn_pen_line(PDNN_INK_SOFT, 1));
        y -= line->high;
    }
}

/* The ratios of the first directory to each other one, or of both sides in one; or a column. */
static enum pdnn_status choose_value(struct picture *p, struct pdnn_err *err) {
    const struct pdnn_plot_request *request = p->in->request;
    if (!request->across && (request->n_directories == 1 || request->value)) {
        p->in->left_out = p->in->selection.left_out;
        p->value = request->value ? request->value : pdnn_selection_utilization(&p->in->selection);
        return PDNN_OK;
    }
    if (request->value)
        return pdnn_fail(err, PDNN_INVALID, "a ratio is fitted, so --value cannot be given");
    if (pdnn_picture_compare(p->in, true, err) != PDNN_OK)
        return err->status;
    for (size_t i = 0; i < p->in->n_comparisons; i++)
        p->in->left_out += p->in->comparisons[i].unpaired.n_rows;
    return PDNN_OK;
}

static struct pdnn_titles titles_of(struct picture *p) {
    struct pdnn_arena *arena = &p->in->arena;
    const struct pdnn_selection *selection = &p->in->selection;
    const char *what = "What decides the speed-up";
    if (p->in->n_comparisons == 1)
        return pdnn_plot_compare_titles(arena, what, p->in->comparisons);
    if (p->value)
        what = pdnn_arena_printf(
            arena, "What decides %s in",
            pdnn_plot_words(arena, &selection->results, pdnn_results_named(&selection->results, p->value)));
    else
        what = pdnn_arena_printf(arena, "%s over %s", what,
                                 pdnn_plot_base(p->in->comparisons, p->in->n_comparisons));
    return pdnn_plot_titles(arena, what, selection, NULL);
}

static enum pdnn_status draw(struct pdnn_picture *picture, struct pdnn_err *err) {
    struct picture p = {.in = picture};
    struct pdnn_canvas *canvas = &picture->canvas;
    pdnn_table_init(&picture->data, &pdnn_fit_def);
    p.results = pdnn_table_add_column(&picture->data, &(struct pdnn_column_def){.name = PDNN_RESULTS_KEY});
    if (choose_value(&p, err) != PDNN_OK || fit_families(&p, err) != PDNN_OK)
        return err->status;
    if (picture->n_comparisons < 2) { /* empty */
        size_t *columns = pdnn_arena_alloc(&picture->arena, p.results, sizeof *columns);
        for (size_t c = 0; c < p.results; c++)
            columns[c] = c;
        picture->columns = columns;
        picture->n_columns = p.results;
    }
    const struct pdnn_titles titles = titles_of(&p);
    const double beside = (p.x.high - p.x.low) * 0.04;
    p.x.low -= beside;
    p.x.high += beside;
    pdnn_scale_narrow(&p.x, picture->chart.x_range);
    picture->drawn -= picture->chart.n_outside;
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
    place_lines(&p);
    for (size_t i = 0; i < p.n_lines; i++)
        top += p.line[i].high;
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
        "it), or, with --across or for several RESULTS without --value, the speed-up of each over the first, as "
        "fit finds it, linear and in logarithms; --only",
    .options = (const char *const[]){"value", "across", "only", NULL},
    .drawn = "weights",
    .left_out_as = "rows that are not ok or lack a number",
    .of = PDNN_PLOT_ROWS,
    .no_range = {NULL, "has names"},
    .takes_costs = true,
    .draw = draw,
};
