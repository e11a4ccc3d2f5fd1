/* Names of bars below a picture's frame, and of sets of bars below those: in lines where there is room,
 * upright where there is not. */
#ifndef RESULTS_PLOT_NAMES_H
#define RESULTS_PLOT_NAMES_H

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

/* Appends gnuplot labels from 10 on. The frame ends `bottom` pixels above the end of a picture of that
 * height. */
void pdnn_bar_names_put(const struct pdnn_bar_names *names, double bottom, double picture_height,
                        struct pdnn_str *script);

/* Estimate for a text in the pictures' small font. */
double pdnn_plot_text_pixels(const char *text);

#endif
