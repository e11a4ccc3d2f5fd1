/* A chart on two logarithmic axes: points colored by a column, straight lines, a legend to the right, or
 * below where the picture is narrow; or several of them below each other, with the same axes and colors. */
#ifndef RESULTS_FIGURES_CHART_H
#define RESULTS_FIGURES_CHART_H

#include "base/arena.h"
#include "results/figures/axis.h"
#include "results/figures/color.h"
#include "results/figures/frame.h"

struct pdnn_chart_point {
    struct pdnn_spot spot;
    double size;       /* 1 is the usual one */
    bool dotted;       /* has a white dot, in a chart that says what it is */
    const char *color; /* the cell of the column that colors the points; borrowed */
    size_t panel;
};

enum { PDNN_CHART_PANELS_MAX = 8 };

/* Texts are borrowed; NULL for none. */
struct pdnn_chart_line {
    struct pdnn_spot low, high;
    size_t panel;
    bool dashed, thin;
    const char *along;  /* written on the line, which must be y = c x */
    const char *beside; /* written to the right of the frame */
};

/* Made by pdnn_chart_init, then filled: the ranges of the frame are set by pdnn_chart_fit or by hand. The
 * points are the last rows of the picture's table, in their order. */
struct pdnn_chart {
    struct pdnn_arena *arena; /* borrowed */
    struct pdnn_frame frame;  /* of a panel, from its own lower left corner */
    size_t n_panels;
    struct pdnn_titles titles[PDNN_CHART_PANELS_MAX];
    const char *x_title, *y_title, *color_title;
    struct pdnn_chart_point *point; /* heap */
    size_t n_points, points_room;
    const char *dot, *no_dot;     /* what the white dot says; NULL: no point or each has one */
    struct pdnn_chart_line *line; /* heap */
    size_t n_lines, lines_room;
    double sizes[4]; /* for the legend, with their names; 0 ends them */
    const char *size_title, *size_name[4];
    const char **note; /* heap: lines below the legend */
    size_t n_notes, notes_room;
    const char *caption[2]; /* below the axis; NULL: none */
};

/* With one panel of the picture's size. */
void pdnn_chart_init(struct pdnn_chart *chart, double width, double height, struct pdnn_arena *arena);
void pdnn_chart_finish(struct pdnn_chart *chart);

void pdnn_chart_add_point(struct pdnn_chart *chart, struct pdnn_chart_point point);

/* Widens the ranges to hold all points, with a margin. */
void pdnn_chart_fit(struct pdnn_chart *chart);

struct pdnn_chart_line *pdnn_chart_add_line(struct pdnn_chart *chart, struct pdnn_spot low,
                                            struct pdnn_spot high);

/* For ratios: ranges that hold all points and 1, and a line there. */
void pdnn_chart_line_at_1(struct pdnn_chart *chart);

/* Appends a line below the legend. */
void pdnn_chart_note(struct pdnn_chart *chart, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Draws the chart; its points have the rows of the picture's table from first_row on. */
void pdnn_chart_draw(struct pdnn_chart *chart, size_t first_row, struct pdnn_canvas *canvas);

#endif
