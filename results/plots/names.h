/* Names of bars below a picture's frame, and of sets of bars below those: in lines where there is room,
 * upright where there is not. */
#ifndef RESULTS_PLOTS_NAMES_H
#define RESULTS_PLOTS_NAMES_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct pdnn_bar_name {
    const char *text;      /* items joined by commas, which lines are cut between */
    double center, pixels; /* where on the x axis, in its units; how wide it may be */
};

struct pdnn_bar_names {
    const struct pdnn_bar_name *bar, *set; /* sets in order; none of them: n_sets 0 */
    const size_t *set_of;                  /* by bar */
    size_t n_bars, n_sets;
    const char
        *axis; /* what the bars' names are values of: said with each where names stand upright; may be "" */
    /* Filled by pdnn_bar_names_arrange. */
    bool upright; /* each bar then has its set's name behind its own */
    int bar_lines, set_lines;
    double height; /* pixels below the frame */
};

void pdnn_bar_names_arrange(struct pdnn_bar_names *names);

/* The picture that labels are put into. */
struct pdnn_label_sheet {
    struct pdnn_str *script;
    double width, height; /* pixels */
    size_t next;          /* gnuplot's number of the next label */
};

/* Appends the names as labels. The frame ends `bottom` pixels above the end of the picture. */
void pdnn_bar_names_put(const struct pdnn_bar_names *names, double bottom, struct pdnn_label_sheet *sheet);

/* Appends lines of small grey text from x to the right end of the picture, cut between items joined by
 * commas, the lowest one at y. Returns how many pixels they take. */
double pdnn_plot_caption(const char *text, double x, double y, struct pdnn_label_sheet *sheet);

/* Estimate for a text in the pictures' small font. */
double pdnn_plot_text_pixels(const char *text);

#endif
