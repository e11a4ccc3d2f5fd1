/* Colors for a picture's points by the values of a column: a scale for numbers, colors and shapes for words,
 * so that they can also be told apart without color. */
#ifndef RESULTS_FIGURES_COLOR_H
#define RESULTS_FIGURES_COLOR_H

#include "results/figures/axis.h"

/* Distinguishable colors for unordered words and kinds: 0 to PDNN_PLOT_COLORS - 1. */
enum { PDNN_PLOT_COLORS = 10 };
int pdnn_plot_distinct_color(size_t index);

/* For everything beyond those colors. */
enum { PDNN_INK_OTHERS = 0xbdbdbd };

/* How one point looks. */
struct pdnn_point_color {
    double value; /* NaN: none */
    int ink;
    enum pdnn_symbol symbol;
};

enum { PDNN_WORD_TEXT = 96, PDNN_KEY_VALUES = 9 };

/* What the legend says; without words there is a scale. */
struct pdnn_color_key {
    size_t n_words, n_others; /* n_others: values that share the last word's grey; 0: it is a value itself */
    struct pdnn_color_word {
        char text[PDNN_WORD_TEXT];
        struct pdnn_point_color look;
    } word[PDNN_PLOT_COLORS];
    struct pdnn_scale scale;       /* without its place */
    double value[PDNN_KEY_VALUES]; /* all the numbers there are, ascending, unless they are more */
    size_t n_values;
};

/* Chooses how n points look by their cells of a column. If there are more words than distinguishable colors,
 * the most frequent ones get them and the rest share grey. */
void pdnn_plot_color(const char *const *cells, size_t n, struct pdnn_point_color *colors,
                     struct pdnn_color_key *key);

#endif
