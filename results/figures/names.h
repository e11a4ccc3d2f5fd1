/* Names of bars below a picture's frame, and names of sets of bars below those: in lines if there is room,
 * otherwise upright. */
#ifndef RESULTS_FIGURES_NAMES_H
#define RESULTS_FIGURES_NAMES_H

#include "results/figures/axis.h"

struct pdnn_bar_name {
    const char *text;      /* items joined by commas; lines are broken between items */
    double center, pixels; /* position on the x axis, in its units; greatest width */
};

struct pdnn_bar_names {
    const struct pdnn_bar_name *bar, *set; /* sets in order; n_sets is 0 if there are none */
    const size_t *set_of;                  /* by bar */
    size_t n_bars, n_sets;
    double upright_most; /* the length of an upright name; 0: the usual one */
    /* Filled by pdnn_bar_names_arrange. */
    bool upright; /* names of bars stand upright */
    bool cut;     /* and some are cut */
    bool joined;  /* and each includes its set's, for which there is no room in lines */
    int bar_lines, set_lines;
    double bar_height, height; /* of the names of bars, and of all below the frame, in pixels */
};

void pdnn_bar_names_arrange(struct pdnn_bar_names *names);

/* Draws the names; the frame ends at `bottom`, and x says where slots are. */
void pdnn_bar_names_put(const struct pdnn_bar_names *names, double bottom, const struct pdnn_scale *x,
                        struct pdnn_canvas *canvas);

/* The width that a name may take of a slot, so that it does not touch its neighbors. */
double pdnn_bar_name_room(double slot_pixels);

#endif
