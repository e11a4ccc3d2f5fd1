/* Bars side by side, perhaps in sets: their slots on the level axis, and below the frame their names and
 * those of sets, in lines if there is room, otherwise upright. What a bar looks like is the picture's. */
#ifndef RESULTS_FIGURES_BARS_H
#define RESULTS_FIGURES_BARS_H

#include "results/figures/axis.h"

struct pdnn_bar {
    const char *text; /* items joined by commas or spaces, between which lines are broken */
    size_t set;
    double center; /* in slots; filled by pdnn_bars_place */
};

struct pdnn_bars {
    struct pdnn_canvas *canvas;
    struct pdnn_bar *bar; /* n_bars of them, those of a set one after the other */
    const char **set;     /* n_sets names; 0: none */
    size_t n_bars, n_sets;
    double part;         /* of its slot that a bar takes */
    struct pdnn_scale x; /* slots, one per bar; filled by pdnn_bars_place */
};

/* Left edge of the frame, and what is above it. */
enum { PDNN_BARS_LEFT = 104, PDNN_BARS_ABOVE = 88 };

/* Spreads the bars from the left edge to `right`; a few stay narrow and centered, and many move it to where
 * each has `least` pixels. */
void pdnn_bars_place(struct pdnn_bars *bars, double right, double least);
double pdnn_bars_slot_pixels(const struct pdnn_bars *bars);

/* From y up: the caption, the title of the axis, or "", and the names. Returns where the frame begins. */
double pdnn_bars_put(const struct pdnn_bars *bars, double y, const char *caption, const char *title);

/* Whether a name stands upright and is longer than this many pixels. */
bool pdnn_bars_are_long(const struct pdnn_bars *bars, double most);

#endif
