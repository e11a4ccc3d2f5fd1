/* Colors of a picture's points by a column of a table: a scale for numbers, a legend for words. */
#ifndef RESULTS_PLOTS_COLOR_H
#define RESULTS_PLOTS_COLOR_H

#include "base/str.h"
#include "results/tables/csv.h"

/* Colors that can be told apart, for words and kinds of which there is no order: 0 to PDNN_PLOT_COLORS - 1.
 */
enum { PDNN_PLOT_COLORS = 10 };
unsigned pdnn_plot_distinct_color(size_t index);

/* For what is left when they run out. */
extern const unsigned pdnn_plot_grey;

/* One point's color. */
struct pdnn_point_color {
    double value; /* numbers: where on the scale; NaN: the row has none */
    unsigned rgb;
};

/* Colors for the rows[0..n_rows) of the table by column, into colors[0..n_rows), and the variables and legend
 * of the script: NUMERIC, COLOR, CBLOG, CBMIN, CBMAX, CBTICS, N_WORDS, WORD, WORD_COLOR. More words than can
 * be told apart share grey, except the most frequent ones. name is the column's. */
enum pdnn_status pdnn_plot_color(const struct pdnn_csv *csv, int column, const size_t *rows, size_t n_rows,
                                 struct pdnn_point_color *colors, struct pdnn_str *script,
                                 struct pdnn_err *err);

#endif
