/* A chart on two logarithmic axes: points colored by a column, straight lines, a legend to the right; or
 * several of them below each other, with the same axes and colors. The looks are in results/figures/chart.gp;
 * what a picture shows is its own. */
#ifndef RESULTS_FIGURES_CHART_H
#define RESULTS_FIGURES_CHART_H

#include "base/arena.h"
#include "results/figures/file.h"
#include "results/figures/frame.h"
#include "results/figures/color.h"

struct pdnn_chart_point {
    struct pdnn_spot spot;
    double size;       /* 1 is the usual one */
    bool dotted;       /* has a white dot */
    const char *color; /* the cell of the column that colors the points; borrowed */
    size_t panel;
};

enum {
    PDNN_CHART_TEXT = 160,
    PDNN_CHART_LINES_MAX = 128,
    PDNN_CHART_NOTES_MAX = 24,
    PDNN_CHART_PANELS_MAX = 8
};

struct pdnn_chart_line {
    struct pdnn_spot low, high;
    size_t panel;
    bool dashed, thin;
    char along[PDNN_CHART_TEXT];  /* written on the line, which must be y = c x; "" for none */
    char beside[PDNN_CHART_TEXT]; /* written to the right of the frame; "" for none */
};

/* {0}, then filled: the ranges of the frame are set by pdnn_chart_fit or by hand. */
struct pdnn_chart {
    struct pdnn_frame frame; /* of a panel, from its own lower left corner */
    size_t n_panels;
    const char *title[PDNN_CHART_PANELS_MAX],
        *subtitle[PDNN_CHART_PANELS_MAX]; /* NULL: they are in the script */
    const char *x_title, *y_title, *color_title;
    struct pdnn_chart_point *point;
    size_t n_points;
    const char *dot, *no_dot; /* what the white dot says; NULL: no point or each has one */
    struct pdnn_chart_line line[PDNN_CHART_LINES_MAX];
    size_t n_lines;
    double sizes[4]; /* for the legend, with their names; 0 ends them */
    const char *size_title, *size_name[4];
    char note[PDNN_CHART_NOTES_MAX][PDNN_CHART_TEXT]; /* lines below the legend */
    size_t n_notes;
    const char *caption[2]; /* lines below the axis; NULL: none */
};

/* Pixels of the frame in a picture of 1200 x 800, or panels of that size; one of them. */
void pdnn_chart_init(struct pdnn_chart *chart);

/* Widens the ranges to hold all points, with a margin. */
void pdnn_chart_fit(struct pdnn_chart *chart);

/* Appends a line; it has room for PDNN_CHART_LINES_MAX, and what is beyond is not drawn. */
struct pdnn_chart_line *pdnn_chart_add_line(struct pdnn_chart *chart, struct pdnn_spot low,
                                            struct pdnn_spot high);

/* For ratios: ranges that hold all points and 1, and a line there. */
void pdnn_chart_line_at_1(struct pdnn_chart *chart);

/* Appends a note, cut to the room beside the frame. */
void pdnn_chart_note(struct pdnn_chart *chart, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends the variables and data blocks of chart.gp, titles apart; where there are several panels, also the
 * script for all but the last. */
void pdnn_chart_put(struct pdnn_chart *chart, struct pdnn_arena *arena, struct pdnn_str *script);

/* As pdnn_plot_write, for what pdnn_chart_put has put into the script; the data are what is shown. */
enum pdnn_status pdnn_chart_write(const struct pdnn_plot_request *request, const char *kind,
                                  const struct pdnn_str *script, const struct pdnn_table *data,
                                  struct pdnn_plot_result *result, struct pdnn_err *err);

#endif
