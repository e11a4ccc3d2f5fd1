/* Boxes of utilization, one row per family and source: from the 9th to the 91st percentile, whiskers to the
 * 2nd and the 98th, a bar at the median, dots beyond (Wang et al., 2020, figure 11). */
#include "base/memory.h"
#include "results/report/html.h"
#include "results/report/page.h"
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t collect(const struct pdnn_selection *rows, const char *family, double *values) {
    size_t count = 0;
    for (size_t at = 0; at < rows->count; at++) {
        double peak = pdnn_selection_value(rows, at, PDNN_RESULT_PCT_OF_PEAK);
        if (strcmp(pdnn_selection_get(rows, at, rows->family), family) == 0 && isfinite(peak))
            values[count++] = peak;
    }
    pdnn_sort(values, count);
    return count;
}

static void put_bar(struct pdnn_str *out, const char *css, const struct pdnn_html_scale *x, double from,
                    double to, double y, double height) {
    pdnn_str_printf(out, "<rect class=\"%s\" x=\"", css);
    pdnn_html_pixel(out, pdnn_html_scale_at(x, from));
    pdnn_str_printf(out, "\" y=\"");
    pdnn_html_pixel(out, y);
    pdnn_str_printf(out, "\" width=\"");
    pdnn_html_pixel(out, fmax(1.5, pdnn_html_scale_at(x, to) - pdnn_html_scale_at(x, from)));
    pdnn_str_printf(out, "\" height=\"");
    pdnn_html_pixel(out, height);
    pdnn_str_printf(out, "\"/>");
}

static void put_box(struct pdnn_str *out, const struct pdnn_html_scale *x, const double *values, size_t n,
                    double y) {
    static const double at[] = {0.02, 0.09, 0.5, 0.91, 0.98};
    double q[5];
    for (size_t i = 0; i < 5; i++)
        q[i] = pdnn_quantile_sorted(values, n, at[i]);
    put_bar(out, "whisker", x, q[0], q[4], y - 0.75, 1.5);
    put_bar(out, "box", x, q[1], q[3], y - 9, 18);
    put_bar(out, "median", x, q[2], q[2], y - 9, 18);
    pdnn_str_printf(out, "<path class=\"points round c3\" d=\"");
    for (size_t i = 0; i < n; i++) {
        if (values[i] >= q[0] && values[i] <= q[4])
            continue;
        pdnn_str_printf(out, "M");
        pdnn_html_pixel(out, pdnn_html_scale_at(x, values[i]));
        pdnn_str_printf(out, " ");
        pdnn_html_pixel(out, y);
        pdnn_str_printf(out, "h0");
    }
    pdnn_str_printf(out, "\"/>\n");
}

void pdnn_report_put_boxes(const struct pdnn_report_page *page, struct pdnn_str *out) {
    size_t n_boxes = page->n_families * page->n_sources;
    double *values = pdnn_alloc(page->all.count + 1, sizeof *values), highest = 0;
    for (size_t r = 0; r < page->all.count; r++) {
        if (pdnn_selection_is_ok(&page->all, r))
            highest = fmax(highest, pdnn_selection_value(&page->all, r, PDNN_RESULT_PCT_OF_PEAK));
    }
    double height = 34 * (double)n_boxes, y = 10 + 17;
    struct pdnn_html_chart chart = {
        "boxes-figure", "Utilization of each family", 860, height + 60, 190, 850, 10, height + 10};
    struct pdnn_html_scale x =
        pdnn_html_scale(0, highest > 0 ? highest * 1.02 : 100, false, chart.left, chart.right);
    pdnn_html_section(out, "boxes", "Utilization of each family");
    pdnn_html_chart(out, &chart, "");
    pdnn_html_x_axis(out, &chart, &x, "FLOP rate, % of the measured peak");
    for (size_t f = 0; f < page->n_families; f++) {
        for (size_t s = 0; s < page->n_sources; s++, y += 34) {
            size_t n = collect(&page->source[s].selection, page->family[f], values);
            struct pdnn_str name = {0};
            pdnn_str_printf(&name, "%.20s%s%.24s (%zu)", page->family[f], page->n_sources > 1 ? ", " : "",
                            page->n_sources > 1 ? page->source[s].name : "", n);
            pdnn_html_label(out, chart.left - 8, y + 4, PDNN_HTML_END, "tick", pdnn_str_text(&name));
            pdnn_str_finish(&name);
            if (n)
                put_box(out, &x, values, n, y);
        }
    }
    pdnn_html_chart_end(
        out, "A box holds the models between the 9th and the 91st percentile, whiskers reach the 2nd and "
             "the 98th, the bar is the median, and dots are the models beyond. In parentheses: models.");
    pdnn_html_section_end(out);
    free(values);
}
