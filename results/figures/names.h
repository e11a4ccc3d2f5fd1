/* Names of bars below a picture's frame, and names of sets of bars below those: in lines if there is room,
 * otherwise upright. */
#ifndef RESULTS_FIGURES_NAMES_H
#define RESULTS_FIGURES_NAMES_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct pdnn_bar_name {
    const char *text;      /* items joined by commas; lines are broken between items */
    double center, pixels; /* position on the x axis, in its units; greatest width */
};

struct pdnn_bar_names {
    const struct pdnn_bar_name *bar, *set; /* sets in order; n_sets is 0 if there are none */
    const size_t *set_of;                  /* by bar */
    size_t n_bars, n_sets;
    size_t upright_most; /* letters of an upright name; 0: as many as usual */
    /* Filled by pdnn_bar_names_arrange. */
    bool upright; /* names of bars stand upright */
    bool cut;     /* and some are cut */
    bool joined;  /* and each includes its set's, for which there is no room in lines */
    int bar_lines, set_lines;
    double bar_height, height; /* of the names of bars, and of all below the frame, in pixels */
};

void pdnn_bar_names_arrange(struct pdnn_bar_names *names);

/* The picture that gets the labels. */
struct pdnn_label_sheet {
    struct pdnn_str *script;
    double width, height; /* pixels */
    size_t next;          /* the number of gnuplot's next label */
};

/* Appends the names as labels. The frame ends `bottom` pixels above the lower edge of the picture. */
void pdnn_bar_names_put(const struct pdnn_bar_names *names, double bottom, struct pdnn_label_sheet *sheet);

/* Appends lines of small grey text from x to the right edge of the picture, broken between items joined by
 * commas, with the lowest line at y. Returns their height in pixels. */
double pdnn_plot_caption(const char *text, double x, double y, struct pdnn_label_sheet *sheet);

/* Appends Y_TITLE and Y_TITLE_AT, the center of that upright title in pixels: beside the middle of a frame
 * from bottom to top, or moved where it is longer than the frame, and cut where it is longer than the
 * picture. */
void pdnn_plot_y_title(const char *title, double bottom, double top, double height, struct pdnn_str *script);

/* The width that a name may take of a slot, so that it does not touch its neighbors. */
double pdnn_bar_name_room(double slot_pixels);

/* Cuts a text that is longer than this many bytes between two characters, and says so with "..": true if it
 * did. */
bool pdnn_plot_cut(char *text, size_t most);

/* Estimates the width of a text in the pictures' small font. */
double pdnn_plot_text_pixels(const char *text);

#endif
