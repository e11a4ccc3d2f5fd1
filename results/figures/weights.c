/* `paradnn plot weights`: what paradnn fit finds, the linear model above the one on logarithms. The looks are
 * in results/figures/weights.gp. */
#include "results/fit/fit.h"
#include "results/figures/caption.h"
#include "results/figures/file.h"
#include "results/figures/gnuplot.h"
#include "results/figures/names.h"
#include "results/table/write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MODELS = 2, FIRST_LABEL = 10 };

/* The picture in pixels: names to the left of the frame; the height follows from the number of terms. */
static const double width = 1200, left = 330, right = 1150, below = 100, above = 120, head_pixels = 34,
                    term_pixels = 40, bar_pixels = 13, caption_bottom = 8;

/* One family with both fits, in rows of the table of terms; one that could not be made has no terms. */
struct group {
    const char *family;
    size_t first[MODELS], n_terms[MODELS];
};

struct picture {
    struct pdnn_selection own;
    struct pdnn_comparison comparison;      /* for a ratio */
    const struct pdnn_selection *selection; /* the table of one of them */
    struct pdnn_arena arena;
    const char *value;     /* NULL: a ratio */
    const double *numbers; /* by position */
    const bool *chosen;    /* rows with a ratio; NULL: all */
    struct pdnn_table terms, residuals;
    struct group *group;
    size_t n_groups;
    double height, low, high;
    int drawn, left_out;
    struct pdnn_label_sheet sheet;
    struct pdnn_str script;
};

/* What cannot be fitted is left out, unless nothing else can be. */
static enum pdnn_status fit_families(struct picture *p, struct pdnn_err *err) {
    const char *const *families;
    size_t n_families;
    struct pdnn_err first = {.status = PDNN_OK};
    pdnn_fit_families(p->selection, &p->arena, &families, &n_families);
    p->group = pdnn_arena_alloc(&p->arena, n_families + 1, sizeof *p->group);
    for (size_t i = 0; i < n_families; i++) {
        struct group group = {.family = families[i]};
        for (int m = 0; m < MODELS; m++) {
            struct pdnn_err one = {.status = PDNN_OK};
            const struct pdnn_fit_request request = {.selection = p->selection,
                                                     .values = p->numbers,
                                                     .chosen = p->chosen,
                                                     .what = p->value ? p->value : "ratio",
                                                     .family = families[i],
                                                     .model = m ? PDNN_FIT_LOG : PDNN_FIT_LINEAR};
            group.first[m] = p->terms.n_rows;
            if (pdnn_fit(&request, &p->terms, &p->residuals, &one) != PDNN_OK && one.status != PDNN_INVALID) {
                *err = one;
                return err->status;
            }
            group.n_terms[m] = p->terms.n_rows - group.first[m];
            first = first.status ? first : one;
        }
        if (group.n_terms[0] || group.n_terms[1])
            p->group[p->n_groups++] = group;
    }
    if (p->n_groups)
        return PDNN_OK;
    return first.status ? pdnn_fail(err, first.status, "%s", first.text)
                        : pdnn_fail(err, PDNN_INVALID, "no instance ended ok, so there is nothing to fit");
}

/* Both models have the same terms in the same order; one that could not be fitted has none. */
static int model_of(const struct group *group) {
    return group->n_terms[0] ? 0 : 1;
}

static bool has_weight(const struct picture *p, const struct group *group, int model, size_t term) {
    return term < group->n_terms[model] &&
           !pdnn_table_is_empty(&p->terms, group->first[model] + term, PDNN_FIT_WEIGHT);
}

static bool is_drawn(const struct picture *p, const struct group *group, size_t term) {
    return has_weight(p, group, 0, term) || has_weight(p, group, 1, term);
}

static void measure(struct picture *p) {
    double pixels = 0;
    for (size_t i = 0; i < p->n_groups; i++) {
        const struct group *group = &p->group[i];
        pixels += head_pixels;
        for (size_t k = 0; k < group->n_terms[model_of(group)]; k++) {
            pixels += is_drawn(p, group, k) ? term_pixels : 0;
            for (int m = 0; m < MODELS; m++) {
                if (!has_weight(p, group, m, k))
                    continue;
                p->low = fmin(p->low, pdnn_table_number(&p->terms, group->first[m] + k, PDNN_FIT_CI_LOW));
                p->high = fmax(p->high, pdnn_table_number(&p->terms, group->first[m] + k, PDNN_FIT_CI_HIGH));
                p->drawn++;
            }
        }
        size_t first = group->first[model_of(group)];
        p->left_out += (int)(pdnn_table_count(&p->terms, first, PDNN_FIT_NO_VALUE) +
                             pdnn_table_count(&p->terms, first, PDNN_FIT_NO_CELL));
    }
    p->height = above + pixels + below;
    double margin = (p->high - p->low) * 0.04;
    p->low -= margin;
    p->high += margin;
}

static void put_label(struct picture *p, const char *text, double x, double y, const char *looks) {
    pdnn_str_printf(&p->script, "set label %zu ", p->sheet.next++);
    pdnn_gnuplot_quote(&p->script, text);
    pdnn_str_printf(&p->script, " at screen %.1f / WIDTH, screen %.1f / HEIGHT %s\n", x, y, looks);
}

/* "fc: 30 instances, R2 0.28 linear, 0.78 in logarithms" */
static void put_head(struct picture *p, const struct group *group, double y) {
    struct pdnn_str text = {0};
    pdnn_str_printf(&text, "%.60s: %.0f instances, R2", group->family,
                    pdnn_table_number(&p->terms, group->first[model_of(group)], PDNN_FIT_ROWS));
    for (int m = 0; m < MODELS; m++)
        if (group->n_terms[m])
            pdnn_str_printf(&text, "%s %.2f %s", m && group->n_terms[0] ? "," : "",
                            pdnn_table_number(&p->terms, group->first[m], PDNN_FIT_R2),
                            m ? "in logarithms" : "linear");
    put_label(p, pdnn_str_text(&text), left, y, "left font \"DejaVu Sans,12\"");
    pdnn_str_finish(&text);
}

static void put_name(struct picture *p, size_t row, double y) {
    char text[64];
    const char *baseline = strchr(pdnn_table_text(&p->terms, row, PDNN_FIT_BASELINE), '=');
    snprintf(text, sizeof text, "%.36s%s%.16s", pdnn_table_text(&p->terms, row, PDNN_FIT_TERM),
             baseline ? " against " : "", baseline ? baseline + 1 : "");
    put_label(p, text, left - 10, y, "right font \"DejaVu Sans,11\"");
}

/* Names and heads, or the bars of one model: weight, low, high, y. */
static void put_groups(struct picture *p, int model) {
    double y = p->height - above;
    for (size_t i = 0; i < p->n_groups; i++) {
        const struct group *group = &p->group[i];
        if (model < 0)
            put_head(p, group, y - head_pixels / 2);
        y -= head_pixels;
        for (size_t k = 0; k < group->n_terms[model_of(group)]; k++) {
            if (!is_drawn(p, group, k))
                continue;
            size_t row = group->first[model < 0 ? model_of(group) : model] + k;
            double middle = y - term_pixels / 2;
            y -= term_pixels;
            if (model < 0) {
                put_name(p, row, middle);
            } else if (has_weight(p, group, model, k)) {
                for (size_t column = PDNN_FIT_WEIGHT; column <= PDNN_FIT_CI_HIGH; column++)
                    pdnn_plot_number(&p->script, pdnn_table_number(&p->terms, row, column), " ");
                pdnn_plot_number(&p->script, middle + (model ? -1 : 1) * bar_pixels * 0.6 - below, "\n");
            }
        }
    }
}

/* A line at 0 beside the bars of each family: x y dx dy. */
static void put_zeros(struct picture *p) {
    double y = p->height - above - below;
    pdnn_str_printf(&p->script, "$zero << END\n");
    for (size_t i = 0; i < p->n_groups; i++) {
        double bars = 0;
        for (size_t k = 0; k < p->group[i].n_terms[model_of(&p->group[i])]; k++)
            bars += is_drawn(p, &p->group[i], k) ? term_pixels : 0;
        y -= head_pixels + bars;
        pdnn_plot_number(&p->script, 0, " ");
        pdnn_plot_number(&p->script, y, " 0 ");
        pdnn_plot_number(&p->script, bars, "\n");
    }
    pdnn_str_printf(&p->script, "END\n");
}

static void write_script(struct picture *p) {
    static const char *const blocks[MODELS] = {"linear", "log"};
    char what[PDNN_AXIS_TEXT];
    measure(p);
    snprintf(what, sizeof what, "What decides %.100s in", p->value ? p->value : "");
    if (p->value)
        pdnn_plot_titles(&p->script, what, p->selection);
    else
        pdnn_plot_compare_titles(&p->script, "What decides the speed-up", &p->comparison);
    pdnn_plot_variable(&p->script, "WIDTH", width);
    pdnn_plot_variable(&p->script, "HEIGHT", p->height);
    pdnn_plot_variable(&p->script, "LEFT", left);
    pdnn_plot_variable(&p->script, "RIGHT", right);
    pdnn_plot_variable(&p->script, "BELOW", below);
    pdnn_plot_variable(&p->script, "ABOVE", above);
    pdnn_plot_variable(&p->script, "BAR", bar_pixels);
    pdnn_plot_variable(&p->script, "XMIN", p->low);
    pdnn_plot_variable(&p->script, "XMAX", p->high);
    p->sheet = (struct pdnn_label_sheet){&p->script, width, p->height, FIRST_LABEL};
    pdnn_plot_caption("Bars: weights with their 95 % intervals, for independent errors of equal size; "
                      "R2: part of the variance that is explained",
                      24, caption_bottom, &p->sheet);
    put_groups(p, -1);
    for (int m = 0; m < MODELS; m++) {
        pdnn_str_printf(&p->script, "$%s << END\nNaN NaN NaN NaN\n", blocks[m]);
        put_groups(p, m);
        pdnn_str_printf(&p->script, "END\n");
    }
    put_zeros(p);
}

/* The ratio of two directories, or of both sides in one. */
static enum pdnn_status take_ratios(struct picture *p, const struct pdnn_plot_request *request,
                                    struct pdnn_err *err) {
    const struct pdnn_compare_request compared = {
        {request->directory[0], request->n_directories > 1 ? request->directory[1] : NULL},
        request->across,
        request->only,
        request->n_only};
    if (request->n_directories > 2)
        return pdnn_fail(err, PDNN_INVALID,
                         "a ratio is that of two RESULTS; of more, give --value, and results is a term");
    if (p->value)
        return pdnn_fail(err, PDNN_INVALID, "a ratio is fitted, so --value cannot be given");
    if (pdnn_comparison_open(&p->comparison, &compared, err) != PDNN_OK)
        return err->status;
    p->selection = pdnn_comparison_side(&p->comparison, PDNN_SIDE_A);
    pdnn_fit_ratios(&p->comparison, &p->arena, &p->numbers, &p->chosen);
    return PDNN_OK;
}

static enum pdnn_status take_column(struct picture *p, const struct pdnn_plot_request *request,
                                    struct pdnn_err *err) {
    if (pdnn_plot_select(request, &p->own, err) != PDNN_OK)
        return err->status;
    p->selection = &p->own;
    p->value = p->value ? p->value : pdnn_selection_utilization(p->selection);
    return pdnn_fit_values(p->selection, p->value, &p->arena, &p->numbers, err);
}

static enum pdnn_status draw(const struct pdnn_plot_request *request, struct pdnn_plot_result *result,
                             struct pdnn_err *err) {
    struct picture p = {.value = request->value};
    pdnn_table_init(&p.terms, &pdnn_fit_def);
    pdnn_table_init(&p.residuals, &pdnn_residuals_def);
    struct pdnn_plot_result drawn = {.n_paths = 0};
    bool is_ratio = request->across || (request->n_directories > 1 && !request->value);
    enum pdnn_status status = is_ratio ? take_ratios(&p, request, err) : take_column(&p, request, err);
    if (status == PDNN_OK)
        status = fit_families(&p, err);
    if (status == PDNN_OK) {
        write_script(&p);
        status = pdnn_plot_write(request,
                                 &(struct pdnn_plot_parts){.kind = "weights",
                                                           .variables = &p.script,
                                                           .embedded = pdnn_plot_script_weights,
                                                           .data = &p.terms},
                                 &drawn, err);
    }
    drawn.drawn = p.drawn;
    drawn.left_out = p.left_out + (int)(is_ratio ? p.comparison.unpaired.n_rows : p.own.left_out);
    pdnn_table_finish(&p.terms);
    pdnn_table_finish(&p.residuals);
    pdnn_str_finish(&p.script);
    pdnn_selection_close(&p.own);
    pdnn_comparison_close(&p.comparison);
    pdnn_arena_finish(&p.arena);
    if (status == PDNN_OK)
        *result = drawn;
    return status;
}

static const char *const options[] = {"value", "across", "only", NULL};

const struct pdnn_plot_def pdnn_plot_weights = {
    .name = "weights",
    .help =
        "which hyper-parameters decide --value (default: pct_of_peak, or gflops where no model has "
        "it), or, with --across or for two RESULTS without --value, the speed-up, as fit finds it, linear "
        "and in logarithms; --only",
    .options = options,
    .drawn = "weights",
    .left_out_as = "rows that are not ok or lack a number",
    .draw = draw,
};
