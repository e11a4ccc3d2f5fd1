/* Boxes of a value: one per family and per value of some keys, side by side. What the value is, and which
 * percentiles make a box, is the picture's. */
#ifndef RESULTS_FIGURES_BOX_H
#define RESULTS_FIGURES_BOX_H

#include "results/query/selection.h"
#include "results/figures/picture.h"

enum { PDNN_BOX_QUANTILES = 5 };

struct pdnn_box_style {
    double quantile[PDNN_BOX_QUANTILES]; /* lower whisker, box, bar, box, upper whisker; 0 to 1 */
    bool shows_middle, shows_beyond;     /* a bar at the middle; dots for values beyond the whiskers */
};

struct pdnn_box_request {
    const char *title; /* "pct_of_peak in" */
    const char *y_title;
    const char *caption;
    double *value;   /* by row of the results, whose family and keys make the boxes; NaN: none */
    unsigned *notes; /* the same; the rows' own, unless the picture changes them */
    size_t left_out;
    struct pdnn_axes keys;
    struct pdnn_box_style style;
    double line;       /* a value to draw a line at; NaN: none */
    bool adds_presets; /* also those that are not in the tables, by their number of parameters */
};

/* None of the chosen rows has a value yet. */
void pdnn_boxes_init(struct pdnn_box_request *request, struct pdnn_picture *picture);

/* The values of a column; titles are "<its words> <in>" and its words with their unit. */
enum pdnn_status pdnn_boxes_take(struct pdnn_box_request *request, struct pdnn_picture *picture,
                                 const char *name, const char *in, struct pdnn_err *err);

/* Draws the boxes. PDNN_INVALID without values, or with too many boxes. */
enum pdnn_status pdnn_boxes_draw(const struct pdnn_box_request *request, struct pdnn_picture *picture,
                                 struct pdnn_err *err);

#endif
