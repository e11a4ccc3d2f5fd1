/* Colors for a picture's points by the values of a column: a scale for numbers, colors and shapes for words,
 * so that they can also be told apart without color. */
#ifndef RESULTS_FIGURES_COLOR_H
#define RESULTS_FIGURES_COLOR_H

#include "results/figures/axis.h"

/* Distinguishable colors for unordered words and kinds, and one for everything beyond them. */
enum { PDNN_PLOT_COLORS = 10, PDNN_INK_OTHERS = 0xbdbdbd };
extern const int pdnn_plot_distinct_color[PDNN_PLOT_COLORS];

/* What a point is colored by: the text that its cell has in files, and its number; NaN where the column has
 * texts, or where it is empty. Borrowed. */
struct pdnn_color_cell {
    const char *text;
    double number;
};

/* How one point looks; and how it does where its cell is empty. */
struct pdnn_look {
    int ink;
    enum pdnn_symbol symbol;
};
extern const struct pdnn_look pdnn_plot_unknown;

/* What the legend says. */
struct pdnn_color_key {
    bool is_scale, has_unknown; /* there is a scale, not words; a cell is empty */
    size_t n_words, n_others; /* n_others: values that share the last word's grey; 0: it is a value itself */
    struct pdnn_color_word {
        const char *text;
        struct pdnn_look look;
    } word[PDNN_PLOT_COLORS];
    struct pdnn_scale scale; /* without its place */
    const double *value;     /* all the numbers there are, ascending, if they are few */
    size_t n_values;
};

/* Chooses how n points look by their cells of a column. If there are more words than distinguishable colors,
 * the most frequent ones get them and the rest share grey. */
void pdnn_plot_color(const struct pdnn_color_cell *cells, size_t n, struct pdnn_arena *arena,
                     struct pdnn_look *looks, struct pdnn_color_key *key);

#endif
