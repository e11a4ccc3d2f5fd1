/* Colors for a picture's points by the values of a column: a scale for numbers, colors and shapes for words,
 * so that they can also be told apart without color. */
#ifndef RESULTS_FIGURES_COLOR_H
#define RESULTS_FIGURES_COLOR_H

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

/* Distinguishable colors for unordered words and kinds: 0 to PDNN_PLOT_COLORS - 1. */
enum { PDNN_PLOT_COLORS = 10, PDNN_PLOT_SHAPES = 6 };
unsigned pdnn_plot_distinct_color(size_t index);

/* For everything beyond those colors. */
extern const unsigned pdnn_plot_grey;

/* How one point looks. */
struct pdnn_point_color {
    double value; /* numbers: position on the scale; NaN: the row has none */
    unsigned rgb;
    int shape; /* gnuplot's type of filled point; its outline is the type before */
};

enum { PDNN_WORD_TEXT = 96 };

/* What the legend says; without words there is a scale. */
struct pdnn_color_key {
    size_t n_words, n_others; /* n_others: values that share the last word's grey; 0: it is a value itself */
    struct pdnn_color_word {
        char text[PDNN_WORD_TEXT];
        unsigned rgb;
        int shape;
    } word[PDNN_PLOT_COLORS];
};

/* Chooses how n points look by their cells of the column `name`, and appends the script's variables: COLOR,
 * NUMERIC, CBLOG, CBMIN, CBMAX, CBTICS. If there are more words than distinguishable colors, the most
 * frequent ones get them and the rest share grey. */
void pdnn_plot_color(const char *name, const char *const *cells, size_t n, struct pdnn_point_color *colors,
                     struct pdnn_color_key *key, struct pdnn_str *script);

#endif
