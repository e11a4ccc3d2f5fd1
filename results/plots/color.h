/* Colors for a picture's points by a column of a table: a scale for numbers, a legend for words. */
#ifndef RESULTS_PLOTS_COLOR_H
#define RESULTS_PLOTS_COLOR_H

#include "base/str.h"
#include "results/tables/csv.h"

/* Distinguishable colors for unordered words and kinds: 0 to PDNN_PLOT_COLORS - 1. */
enum { PDNN_PLOT_COLORS = 10 };
unsigned pdnn_plot_distinct_color(size_t index);

/* For everything beyond those colors. */
extern const unsigned pdnn_plot_grey;

/* One point's color. */
struct pdnn_point_color {
    double value; /* numbers: position on the scale; NaN: the row has none */
    unsigned rgb;
};

/* Chooses colors for rows[0..n_rows) of the table by column, into colors[0..n_rows), and appends the
 * script's variables and legend: NUMERIC, COLOR, CBLOG, CBMIN, CBMAX, CBTICS, N_WORDS, WORD, WORD_COLOR.
 * If there are more words than distinguishable colors, the most frequent ones get them and the rest
 * share grey. name is the column's. */
enum pdnn_status pdnn_plot_color(const struct pdnn_csv *csv, int column, const size_t *rows, size_t n_rows,
                                 struct pdnn_point_color *colors, struct pdnn_str *script,
                                 struct pdnn_err *err);

#endif
