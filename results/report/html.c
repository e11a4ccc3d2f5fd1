/* The frame that every chart has. */
#include "results/report/html.h"
#include "results/table/csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pdnn_html_number(struct pdnn_str *out, double value, int digits, const char *absent) {
    if (isfinite(value))
        pdnn_number_format(out, value, digits);
    else
        pdnn_str_append(out, absent, strlen(absent));
}

void pdnn_html_section(struct pdnn_str *out, const char *anchor, const char *title) {
    pdnn_str_printf(out, "<section id=\"%s\" aria-labelledby=\"%s-title\"><h2 id=\"%s-title\">", anchor,
                    anchor, anchor);
    pdnn_html_text(out, title);
    pdnn_str_printf(out, "</h2>\n");
}

void pdnn_html_section_end(struct pdnn_str *out) {
    pdnn_str_printf(out, "</section>\n");
}

void pdnn_html_put_table(struct pdnn_str *out, const struct pdnn_table *table,
                         const struct pdnn_row_list *rows, struct pdnn_table_writer writer) {
    writer.out = out;
    writer.format = PDNN_FORMAT_HTML;
    pdnn_str_printf(out, "<div class=\"scroll\" tabindex=\"0\">");
    pdnn_table_write(&writer, table, rows);
    pdnn_table_write_end(&writer);
    pdnn_str_printf(out, "</div>\n");
}

void pdnn_html_cell(struct pdnn_str *out, const char *text) {
    pdnn_str_printf(out, "<td>");
    pdnn_html_text(out, text);
    pdnn_str_printf(out, "</td>");
}

void pdnn_html_table(struct pdnn_str *out, const char *css, const char *caption, const char *const *titles) {
    pdnn_str_printf(out, "<div class=\"scroll\" tabindex=\"0\"><table class=\"%s\"><caption>", css);
    pdnn_html_text(out, caption);
    pdnn_str_printf(out, "</caption><thead><tr>");
    for (; *titles; titles++) {
        pdnn_str_printf(out, "<th scope=\"col\">");
        pdnn_html_text(out, *titles);
        pdnn_str_printf(out, "</th>");
    }
    pdnn_str_printf(out, "</tr></thead><tbody>\n");
}

void pdnn_html_table_end(struct pdnn_str *out) {
    pdnn_str_printf(out, "</tbody></table></div>\n");
}

struct pdnn_html_scale pdnn_html_scale(double low, double high, bool is_log, double from, double to) {
    struct pdnn_html_scale scale = {low, high, is_log, from, to};
    if (!(low <= high) || !isfinite(high - low) || (is_log && !(high > 0))) { /* no data */
        scale.low = is_log ? 1 : 0;
        scale.high = is_log ? 10 : 1;
    }
    if (is_log && !(scale.low > 0))
        scale.low = scale.high / 1e3;
    if (scale.low == scale.high) {
        scale.low = is_log ? scale.low / 2 : scale.low - 0.5;
        scale.high = is_log ? scale.high * 2 : scale.high + 0.5;
    }
    return scale;
}

double pdnn_html_scale_at(const struct pdnn_html_scale *scale, double value) {
    double share = scale->is_log ? log(value / scale->low) / log(scale->high / scale->low)
                                 : (value - scale->low) / (scale->high - scale->low);
    return scale->from + share * (scale->to - scale->from);
}

void pdnn_html_pixel(struct pdnn_str *out, double pixels) {
    long tenths = lround(pixels * 10);
    unsigned long size = (unsigned long)labs(tenths);
    pdnn_str_printf(out, "%s%lu", tenths < 0 ? "-" : "", size / 10);
    if (size % 10)
        pdnn_str_printf(out, ".%lu", size % 10);
}

void pdnn_html_chart(struct pdnn_str *out, const struct pdnn_html_chart *chart, const char *attributes) {
    pdnn_str_printf(out, "<figure id=\"%s\"><svg viewBox=\"0 0 ", chart->id);
    pdnn_html_pixel(out, chart->width);
    pdnn_str_printf(out, " ");
    pdnn_html_pixel(out, chart->height);
    pdnn_str_printf(out, "\" role=\"img\" aria-labelledby=\"%s-name\"%s>\n<title id=\"%s-name\">", chart->id,
                    attributes, chart->id);
    pdnn_html_text(out, chart->title);
    pdnn_str_printf(out, "</title>\n");
}

void pdnn_html_chart_end(struct pdnn_str *out, const char *caption) {
    pdnn_str_printf(out, "</svg>\n<figcaption>");
    pdnn_html_text(out, caption);
    pdnn_str_printf(out, "</figcaption></figure>\n");
}

void pdnn_html_label(struct pdnn_str *out, double x, double y, enum pdnn_html_anchor anchor, const char *css,
                     const char *text) {
    static const char *const anchors[] = {"start", "middle", "end"};
    pdnn_str_printf(out, "<text x=\"");
    pdnn_html_pixel(out, x);
    pdnn_str_printf(out, "\" y=\"");
    pdnn_html_pixel(out, y);
    pdnn_str_printf(out, "\" text-anchor=\"%s\"", anchors[anchor]);
    if (*css)
        pdnn_str_printf(out, " class=\"%s\"", css);
    pdnn_str_printf(out, ">");
    pdnn_html_text(out, text);
    pdnn_str_printf(out, "</text>\n");
}

enum { TICKS_MAX = 24 };

/* 1, 2 and 5 times powers of ten; only the powers themselves, or every few of them, where those would be too
 * many. */
static size_t log_ticks(const struct pdnn_html_scale *scale, double ticks[TICKS_MAX]) {
    static const double steps[] = {1, 2, 5};
    double low = floor(log10(scale->low)), decades = log10(scale->high / scale->low);
    int stride = (int)ceil(decades / 9), n_steps = decades <= 2.5 ? 3 : 1;
    size_t count = 0;
    for (double power = low; power <= log10(scale->high) + 1e-9; power += stride > 1 ? stride : 1) {
        for (int k = 0; k < n_steps; k++) {
            double tick = steps[k] * pow(10, power);
            if (tick >= scale->low * (1 - 1e-9) && tick <= scale->high * (1 + 1e-9) && count < TICKS_MAX)
                ticks[count++] = tick;
        }
    }
    return count;
}

static size_t linear_ticks(const struct pdnn_html_scale *scale, double ticks[TICKS_MAX]) {
    double span = scale->high - scale->low, step = pow(10, floor(log10(span / 5)));
    size_t count = 0;
    step *= span / step > 25 ? 5 : span / step > 10 ? 2 : 1;
    for (double at = ceil(scale->low / step); at * step <= scale->high + step * 1e-9 && count < TICKS_MAX;
         at++)
        ticks[count++] = at * step;
    return count;
}

static size_t find_ticks(const struct pdnn_html_scale *scale, double ticks[TICKS_MAX]) {
    return scale->is_log ? log_ticks(scale, ticks) : linear_ticks(scale, ticks);
}

/* 2000 is 2 k: axes have little room. */
static void tick_text(double tick, char text[32]) {
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
    struct pdnn_str number = {0};
    size_t k = 0;
    for (; fabs(tick) >= 1000 && k < sizeof prefixes / sizeof *prefixes - 1; k++)
        tick /= 1000;
    pdnn_number_format(&number, fabs(tick) < 1e-12 ? 0 : tick, 4);
    snprintf(text, 32, "%s%s", pdnn_str_text(&number), prefixes[k]);
    pdnn_str_finish(&number);
}

static void grid_line(struct pdnn_str *out, double x1, double y1, double x2, double y2) {
    pdnn_str_printf(out, "<path class=\"grid\" d=\"M");
    pdnn_html_pixel(out, x1);
    pdnn_str_printf(out, " ");
    pdnn_html_pixel(out, y1);
    pdnn_str_printf(out, "L");
    pdnn_html_pixel(out, x2);
    pdnn_str_printf(out, " ");
    pdnn_html_pixel(out, y2);
    pdnn_str_printf(out, "\"/>");
}

void pdnn_html_x_axis(struct pdnn_str *out, const struct pdnn_html_chart *chart,
                      const struct pdnn_html_scale *scale, const char *name) {
    double ticks[TICKS_MAX];
    size_t count = find_ticks(scale, ticks);
    for (size_t i = 0; i < count; i++) {
        char text[32];
        double x = pdnn_html_scale_at(scale, ticks[i]);
        tick_text(ticks[i], text);
        grid_line(out, x, chart->top, x, chart->bottom);
        pdnn_html_label(out, x, chart->bottom + 16, PDNN_HTML_MIDDLE, "tick", text);
    }
    pdnn_html_label(out, (chart->left + chart->right) / 2, chart->bottom + 36, PDNN_HTML_MIDDLE, "", name);
}

void pdnn_html_y_axis(struct pdnn_str *out, const struct pdnn_html_chart *chart,
                      const struct pdnn_html_scale *scale, const char *name) {
    double ticks[TICKS_MAX];
    size_t count = find_ticks(scale, ticks);
    for (size_t i = 0; i < count; i++) {
        char text[32];
        double y = pdnn_html_scale_at(scale, ticks[i]);
        tick_text(ticks[i], text);
        grid_line(out, chart->left, y, chart->right, y);
        pdnn_html_label(out, chart->left - 6, y + 4, PDNN_HTML_END, "tick", text);
    }
    pdnn_html_label(out, chart->left, chart->top - 10, PDNN_HTML_START, "", name);
}
