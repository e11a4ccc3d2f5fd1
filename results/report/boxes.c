/* Boxes of utilization, one row per family and source: from the 9th to the 91st percentile, whiskers to the
 * 2nd and the 98th, a bar at the median, dots beyond (Wang et al., 2020, figure 11). */
#include "base/memory.h"
#include "results/report/html.h"
#include "results/report/page.h"
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>

static size_t collect(const struct pdnn_report_rows *rows, size_t family, size_t source, double *values) {
    size_t count = 0;
    for (size_t r = 0; r < rows->n_rows; r++) {
        const struct pdnn_report_row *row = &rows->row[r];
        if (row->is_ok && row->source == source && rows->axis[0].of_row[r] == family &&
            isfinite(row->number[PDNN_REPORT_PCT_OF_PEAK]))
            values[count++] = row->number[PDNN_REPORT_PCT_OF_PEAK];
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
    const struct pdnn_report_rows *rows = &page->rows;
    size_t n_boxes = rows->axis[0].n_values * rows->n_sources;
    double *values = pdnn_alloc(rows->n_rows + 1, sizeof *values), highest = 0;
    for (size_t r = 0; r < rows->n_rows; r++) {
        if (rows->row[r].is_ok)
            highest = fmax(highest, rows->row[r].number[PDNN_REPORT_PCT_OF_PEAK]);
    }
    double height = 34 * (double)n_boxes, y = 10 + 17;
    struct pdnn_html_chart chart = {
        "boxes-figure", "Utilization of each family", 860, height + 60, 190, 850, 10, height + 10};
    struct pdnn_html_scale x =
        pdnn_html_scale(0, highest > 0 ? highest * 1.02 : 100, false, chart.left, chart.right);
    pdnn_html_section(out, "boxes", "Utilization of each family");
    pdnn_html_chart(out, &chart, "");
    pdnn_html_x_axis(out, &chart, &x, "FLOP rate, % of the measured peak");
    for (size_t f = 0; f < rows->axis[0].n_values; f++) {
        for (size_t s = 0; s < rows->n_sources; s++, y += 34) {
            size_t n = collect(rows, f, s, values);
            struct pdnn_str name = {0};
            pdnn_str_printf(&name, "%.20s%s%.24s (%zu)", rows->axis[0].value[f],
                            rows->n_sources > 1 ? ", " : "", rows->n_sources > 1 ? rows->source[s].name : "",
                            n);
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
