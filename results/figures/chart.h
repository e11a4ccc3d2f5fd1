/* A chart on two logarithmic axes: points colored by a column, straight lines, a legend to the right, or
 * below where the picture is narrow; or several of them below each other, with the same axes and colors. */
#ifndef RESULTS_FIGURES_CHART_H
#define RESULTS_FIGURES_CHART_H

#include "results/figures/axis.h"
#include "results/figures/color.h"

/* The frame of a log-log picture. */
struct pdnn_frame {
    double width, height;   /* of the picture, pixels */
    struct pdnn_scale x, y; /* both logarithmic */
};

struct pdnn_spot pdnn_frame_to_pixels(const struct pdnn_frame *frame, struct pdnn_spot data);

/* The angle in the picture of lines y = c * x, in radians; a label on one is turned by it, in pixels. */
double pdnn_frame_angle(const struct pdnn_frame *frame);
struct pdnn_label {
    struct pdnn_spot center;
    double width, height;
};

/* Places labels[at], whose size is set, on the line between two ends (in pixels) where it covers the fewest
 * points and no earlier label; it prefers the upper half. False if there is no such place, or it is longer
 * than the line. */
bool pdnn_frame_place(const struct pdnn_frame *frame, struct pdnn_spot low, struct pdnn_spot high,
                      const struct pdnn_spot *points, size_t n_points, struct pdnn_label *labels, size_t at);

struct pdnn_chart_point {
    struct pdnn_spot spot;
    struct pdnn_color_cell color;
    double size;   /* 0: the usual one, which is 1 */
    bool dotted;   /* has a white dot, in a chart that says what it is */
    bool doubtful; /* is crossed: its row is not to be trusted (PDNN_NOTES_DOUBT) */
    size_t panel;
};

enum { PDNN_CHART_PANELS_MAX = 8 };

/* Texts are borrowed; NULL for none. A level or upright line may begin at 0 and end at INFINITY, which are
 * the edges of the frame. */
struct pdnn_chart_line {
    struct pdnn_spot low, high;
    size_t panel;
    bool dashed, thin;
    struct pdnn_spot band[4]; /* what it ranges over, behind all lines: corners; all 0: nothing */
    const char
        *along; /* written on the line, which must be y = c x, or where there is no room in the legend */
    const char *beside; /* written to the right of the frame, or in the legend of a narrow picture */
    bool is_listed;     /* `along` is in the legend; filled by pdnn_chart_draw */
};

/* Made by pdnn_chart_init, then filled. The ranges of the frame hold all points, and are widened by hand. The
 * points are the last rows of the picture's table, in their order. */
struct pdnn_chart {
    struct pdnn_arena *arena; /* borrowed */
    struct pdnn_frame frame;  /* of a panel, from its own lower left corner */
    size_t n_panels;
    struct pdnn_titles titles[PDNN_CHART_PANELS_MAX];
    const char *x_title, *y_title, *color_title;
    const char *dot, *no_dot; /* what the white dot says, where some points have it and others not; without
                               * no_dot also where all have it */
    const char *caption;      /* below the axis; NULL: none */
    struct pdnn_chart_point *point;
    size_t n_points, points_room;
    struct pdnn_chart_line *line;
    size_t n_lines, lines_room;
    struct pdnn_entries more;          /* below the colors in the legend */
    struct pdnn_spot x_range, y_range; /* ends of the frame, low and high, that were asked for; NaN: not */
    size_t n_outside;                  /* points that these leave out; filled by pdnn_chart_draw */
};

/* With one panel of the picture's size. */
void pdnn_chart_init(struct pdnn_chart *chart, double width, double height, struct pdnn_arena *arena);
void pdnn_chart_add_point(struct pdnn_chart *chart, struct pdnn_chart_point point);

/* Widens the ranges to hold all points, with a margin. */
void pdnn_chart_fit(struct pdnn_chart *chart);

struct pdnn_chart_line *pdnn_chart_add_line(struct pdnn_chart *chart, struct pdnn_spot low,
                                            struct pdnn_spot high);

/* For ratios: ranges that hold 1, and a line there in each panel. */
void pdnn_chart_line_at_1(struct pdnn_chart *chart);

/* Appends to the legend: a line of text; a point of this size. */
void pdnn_chart_note(struct pdnn_chart *chart, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pdnn_chart_size(struct pdnn_chart *chart, const char *text, double size);

/* Draws the chart; its points have the rows of the picture's table from first_row on. */
void pdnn_chart_draw(struct pdnn_chart *chart, size_t first_row, struct pdnn_canvas *canvas);

#endif
