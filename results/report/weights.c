/* Which hyper-parameters decide utilization: the weights of results/fit/fit, one chart per family and
 * source. Bars are those of the fit on logarithms, which explains more; the caption has the R2 of both forms.
 */
#include "results/report/html.h"
#include "results/report/page.h"
#include "results/fit/fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROW_PIXELS = 26 };

struct weights {
    const struct pdnn_report_source *source;
    const struct pdnn_table *terms; /* of one fit */
    double r2_linear;               /* NaN: that form could not be fitted */
    struct pdnn_html_chart chart;
    struct pdnn_html_scale x;
};

static size_t count_fitted(const struct pdnn_table *terms) {
    size_t count = 0;
    for (size_t i = 0; i < terms->n_rows; i++)
        count += !pdnn_table_is_empty(terms, i, PDNN_FIT_WEIGHT);
    return count;
}

static void put_bar(struct pdnn_str *out, const struct weights *w, size_t term, double y) {
    double weight = pdnn_table_number(w->terms, term, PDNN_FIT_WEIGHT);
    double zero = pdnn_html_scale_at(&w->x, 0), end = pdnn_html_scale_at(&w->x, weight);
    struct pdnn_str text = {0};
    pdnn_html_label(out, w->chart.left - 8, y + 13, PDNN_HTML_END, "tick",
                    pdnn_table_text(w->terms, term, PDNN_FIT_TERM));
    pdnn_str_printf(out, "<rect class=\"%s\" x=\"", weight < 0 ? "f1" : "f0");
    pdnn_html_pixel(out, fmin(zero, end));
    pdnn_str_printf(out, "\" y=\"");
    pdnn_html_pixel(out, y);
    pdnn_str_printf(out, "\" width=\"");
    pdnn_html_pixel(out, fmax(1, fabs(end - zero)));
    pdnn_str_printf(out, "\" height=\"18\"/><path class=\"roof\" d=\"M");
    pdnn_html_pixel(out, pdnn_html_scale_at(&w->x, pdnn_table_number(w->terms, term, PDNN_FIT_CI_LOW)));
    pdnn_str_printf(out, " ");
    pdnn_html_pixel(out, y + 9);
    pdnn_str_printf(out, "H");
    pdnn_html_pixel(out, pdnn_html_scale_at(&w->x, pdnn_table_number(w->terms, term, PDNN_FIT_CI_HIGH)));
    pdnn_str_printf(out, "\"/>");
    pdnn_html_number(&text, weight, 2, "");
    pdnn_html_label(out, w->chart.right + 6, y + 13, PDNN_HTML_START, "tick", pdnn_str_text(&text));
    pdnn_str_finish(&text);
}

static void put_left_out(struct pdnn_str *text, const struct pdnn_table *terms) {
    bool any = false;
    for (size_t i = 0; i < terms->n_rows; i++) {
        const char *state = pdnn_table_text(terms, i, PDNN_FIT_STATE);
        if (strcmp(state, pdnn_term_state_name(PDNN_TERM_FITTED)) == 0 ||
            strcmp(state, pdnn_term_state_name(PDNN_TERM_CONSTANT)) == 0)
            continue;
        pdnn_str_printf(text, "%s%s (%s)",
                        any ? ", " : " Left out: ", pdnn_table_text(terms, i, PDNN_FIT_TERM), state);
        any = true;
    }
    pdnn_str_printf(text, any ? "." : "");
}

static void put_chart(struct pdnn_str *out, struct weights *w, size_t number) {
    struct pdnn_str title = {0}, caption = {0};
    char id[32];
    double low = 0, high = 0, height = ROW_PIXELS * (double)count_fitted(w->terms), y = 14;
    for (size_t i = 0; i < w->terms->n_rows; i++) {
        low = fmin(low, pdnn_table_number(w->terms, i, PDNN_FIT_CI_LOW));
        high = fmax(high, pdnn_table_number(w->terms, i, PDNN_FIT_CI_HIGH));
    }
    const char *family = pdnn_table_text(w->terms, 0, PDNN_FIT_FAMILY);
    snprintf(id, sizeof id, "weights%zu", number);
    pdnn_str_printf(&title, "Weights of the hyper-parameters of %s, %s", family, w->source->name);
    w->chart =
        (struct pdnn_html_chart){id, pdnn_str_text(&title), 860, height + 60, 190, 800, 10, height + 10};
    w->x = pdnn_html_scale(low * 1.05, high * 1.05, false, w->chart.left, w->chart.right);
    pdnn_html_chart(out, &w->chart, "");
    pdnn_html_x_axis(out, &w->chart, &w->x,
                     "standard deviations of log utilization per standard deviation of the logarithm");
    for (size_t i = 0; i < w->terms->n_rows; i++) {
        if (pdnn_table_is_empty(w->terms, i, PDNN_FIT_WEIGHT))
            continue;
        put_bar(out, w, i, y);
        y += ROW_PIXELS;
    }
    pdnn_str_printf(&caption, "%s, %s: weights on %s with 95 %% intervals, from %.0f models. R2 ",
                    w->source->name, family, pdnn_table_text(w->terms, 0, PDNN_FIT_VALUE),
                    pdnn_table_number(w->terms, 0, PDNN_FIT_ROWS));
    pdnn_html_number(&caption, pdnn_table_number(w->terms, 0, PDNN_FIT_R2), 2, "unknown");
    pdnn_str_printf(&caption, ", leaving one out ");
    pdnn_html_number(&caption, pdnn_table_number(w->terms, 0, PDNN_FIT_R2_LEAVE_ONE_OUT), 2, "unknown");
    pdnn_str_printf(&caption, "; of the published form, without logarithms, R2 ");
    pdnn_html_number(&caption, w->r2_linear, 2, "unknown");
    pdnn_str_printf(&caption, ".");
    put_left_out(&caption, w->terms);
    pdnn_html_chart_end(out, pdnn_str_text(&caption));
    pdnn_str_finish(&title);
    pdnn_str_finish(&caption);
}

/* What cannot be fitted is said in a sentence. */
static void put_reason(struct pdnn_str *out, const struct pdnn_report_source *source,
                       const struct pdnn_err *err) {
    pdnn_str_printf(out, "<p>");
    pdnn_html_text(out, source->name);
    pdnn_str_printf(out, ": ");
    pdnn_html_text(out, err->text);
    pdnn_str_printf(out, "</p>\n");
}

static enum pdnn_status put_family(struct pdnn_str *out, struct pdnn_fit_request *request,
                                   const struct pdnn_report_source *source, size_t number,
                                   struct pdnn_err *err) {
    struct pdnn_table terms, residuals;
    struct weights weights = {.source = source, .terms = &terms, .r2_linear = NAN};
    pdnn_table_init(&terms, &pdnn_fit_def);
    pdnn_table_init(&residuals, &pdnn_residuals_def);
    request->model = PDNN_FIT_LINEAR;
    enum pdnn_status status = pdnn_fit(request, &terms, &residuals, err);
    if (status == PDNN_OK)
        weights.r2_linear = pdnn_table_number(&terms, 0, PDNN_FIT_R2);
    if (status == PDNN_OK || status == PDNN_INVALID) {
        pdnn_table_clear(&terms);
        request->model = PDNN_FIT_LOG;
        status = pdnn_fit(request, &terms, &residuals, err);
    }
    if (status == PDNN_INVALID)
        put_reason(out, source, err);
    else if (status == PDNN_OK)
        put_chart(out, &weights, number);
    pdnn_table_finish(&terms);
    pdnn_table_finish(&residuals);
    return status == PDNN_INVALID ? PDNN_OK : status;
}

static enum pdnn_status put_source(struct pdnn_str *out, const struct pdnn_report_source *source,
                                   size_t *number, struct pdnn_err *err) {
    const struct pdnn_selection *selection = &source->selection;
    struct pdnn_arena arena = {0};
    struct pdnn_fit_request request = {.selection = selection, .what = pdnn_selection_utilization(selection)};
    const char *const *families = NULL;
    size_t n_families = 0;
    enum pdnn_status status = pdnn_fit_values(selection, request.what, &arena, &request.values, err);
    if (status == PDNN_INVALID) {
        put_reason(out, source, err);
        pdnn_arena_finish(&arena);
        return PDNN_OK;
    }
    if (status == PDNN_OK)
        pdnn_fit_families(selection, &arena, &families, &n_families);
    for (size_t f = 0; f < n_families && status == PDNN_OK; f++) {
        request.family = families[f];
        status = put_family(out, &request, source, (*number)++, err);
    }
    pdnn_arena_finish(&arena);
    return status;
}

enum pdnn_status pdnn_report_put_weights(const struct pdnn_report_page *page, struct pdnn_str *out,
                                         struct pdnn_err *err) {
    enum pdnn_status status = PDNN_OK;
    size_t number = 0;
    pdnn_html_section(out, "weights", "What decides utilization");
    for (size_t s = 0; s < page->n_sources && status == PDNN_OK; s++)
        status = put_source(out, &page->source[s], &number, err);
    pdnn_html_section_end(out);
    return status;
}
