/* A picture while it is drawn. What it holds is released when its files are written. */
#ifndef RESULTS_FIGURES_PICTURE_H
#define RESULTS_FIGURES_PICTURE_H

#include "results/figures/caption.h"
#include "results/figures/chart.h"
#include "results/figures/plot.h"
#include "results/query/selection.h"
#include "results/table/table.h"

struct pdnn_picture {
    const struct pdnn_plot_request *request;
    double width, height; /* of the picture, if its contents need no other */
    double scale;         /* CSS pixels per unit: the fonts have their usual sizes in units */
    struct pdnn_arena arena;
    struct pdnn_selection selection;
    struct pdnn_comparison comparison;
    struct pdnn_ops_reader *ops;       /* of the selection, or of the comparison's */
    int column[PDNN_PLOT_COLUMNS_MAX]; /* those that the kind of picture names, in its order */
    struct pdnn_canvas canvas;
    struct pdnn_entries legend; /* of a picture that is no chart, which draws it */
    struct pdnn_chart chart;    /* drawn on the canvas afterwards, where it has points */
    struct pdnn_table data;     /* what is shown */
    const size_t *columns;      /* n_columns of its columns, in their order; NULL: all */
    size_t n_columns;
    size_t drawn, left_out;
};

/* The chosen instances of all the request's directories. */
enum pdnn_status pdnn_picture_select(struct pdnn_picture *picture, struct pdnn_err *err);

/* The comparison that the request asks for: of the first directory with that one, or for 0 of the sides in
 * it. It replaces the one before. */
enum pdnn_status pdnn_picture_compare(struct pdnn_picture *picture, size_t other, struct pdnn_err *err);

/* Where side B of a pair stands among the rows of the selection's results. */
size_t pdnn_picture_pair_row(const struct pdnn_picture *picture, size_t other, size_t pair);

/* Starts the table of what is shown. `names` are those of its columns, with a '#' before one of numbers
 * and a '+' before one of counts: "id #bytes #bus_gbs color". */
void pdnn_picture_table(struct pdnn_picture *picture, const char *names);

/* The chart's point of a chosen row, colored by that column. */
struct pdnn_chart_point pdnn_picture_place(const struct pdnn_picture *picture, size_t at,
                                           struct pdnn_spot spot, int color);

/* Fills the last row's cells from column `first` on, each by its column's kind: a const char *, a double or a
 * size_t. */
void pdnn_picture_fill(struct pdnn_picture *picture, size_t first, ...);

/* Adds a point to the chart, and a row with these cells; its color is the last cell and not named. */
void pdnn_picture_point(struct pdnn_picture *picture, struct pdnn_chart_point point, ...);

/* The chosen instance's id. */
const char *pdnn_picture_id(const struct pdnn_picture *picture, size_t at);

/* Draws a picture, which is {0} before; it is to be finished, also after a failure. */
enum pdnn_status pdnn_picture_draw(struct pdnn_picture *picture, const struct pdnn_plot_def *def,
                                   const struct pdnn_plot_request *request, struct pdnn_err *err);
void pdnn_picture_finish(struct pdnn_picture *picture);

/* Draws a picture and writes its files, or the data if they are requested; files are tried before one is
 * replaced. */
enum pdnn_status pdnn_picture_make(const struct pdnn_plot_def *def, const struct pdnn_plot_request *request,
                                   struct pdnn_plot_result *result, struct pdnn_err *err);

#endif
