/* Pieces of the page: escaped text, numbers, tables, and charts as SVG. Text from tables reaches the page
 * through pdnn_html_text and pdnn_html_json_text only. */
#ifndef RESULTS_REPORT_HTML_H
#define RESULTS_REPORT_HTML_H

#include "base/str.h"
#include "results/table/escape.h"
#include "results/table/write.h"

#include <stdbool.h>
#include <stddef.h>

/* Appends the number with so many significant digits, or `absent` for NaN. */
void pdnn_html_number(struct pdnn_str *out, double value, int digits, const char *absent);

/* A section with its heading and an anchor; end it with pdnn_html_section_end. */
void pdnn_html_section(struct pdnn_str *out, const char *anchor, const char *title);
void pdnn_html_section_end(struct pdnn_str *out);

/* A table with its caption and the titles of its columns, NULL-terminated; css is its class. It scrolls by
 * itself where it is wider than the page. Rows follow; end it with pdnn_html_table_end. */
void pdnn_html_table(struct pdnn_str *out, const char *css, const char *caption, const char *const *titles);
void pdnn_html_table_end(struct pdnn_str *out);
void pdnn_html_cell(struct pdnn_str *out, const char *text);

/* The same from a table, with the writer's caption and columns. */
void pdnn_html_put_table(struct pdnn_str *out, const struct pdnn_table *table,
                         const struct pdnn_row_list *rows, struct pdnn_table_writer writer);

/* From data to pixels. */
struct pdnn_html_scale {
    double low, high; /* of the data; low < high; above 0 if logarithmic */
    bool is_log;
    double from, to; /* pixels of low and high */
};

/* Widens [low, high] so that it is not empty and, for a logarithm, positive. */
struct pdnn_html_scale pdnn_html_scale(double low, double high, bool is_log, double from, double to);
double pdnn_html_scale_at(const struct pdnn_html_scale *scale, double value);

struct pdnn_html_chart {
    const char *id;    /* the figure's anchor */
    const char *title; /* what a screen reader says */
    double width, height;
    double left, right, top, bottom; /* pixels of the frame */
};

/* Opens a figure with the chart's svg element in it; closes it with the caption (escaped here). */
void pdnn_html_chart(struct pdnn_str *out, const struct pdnn_html_chart *chart, const char *attributes);
void pdnn_html_chart_end(struct pdnn_str *out, const char *caption);

/* Ticks with numbers, faint grid lines across the frame, and the axis' name with its unit. */
void pdnn_html_x_axis(struct pdnn_str *out, const struct pdnn_html_chart *chart,
                      const struct pdnn_html_scale *scale, const char *name);
void pdnn_html_y_axis(struct pdnn_str *out, const struct pdnn_html_chart *chart,
                      const struct pdnn_html_scale *scale, const char *name);

enum pdnn_html_anchor { PDNN_HTML_START, PDNN_HTML_MIDDLE, PDNN_HTML_END };

/* Text at a place in a chart; css is the class, or "". */
void pdnn_html_label(struct pdnn_str *out, double x, double y, enum pdnn_html_anchor anchor, const char *css,
                     const char *text);

/* Appends a coordinate, to a tenth of a pixel. */
void pdnn_html_pixel(struct pdnn_str *out, double pixels);

#endif
