/* Axes, legends and titles: where a value stands, which ticks have room, what surrounds a frame. */
#ifndef RESULTS_FIGURES_AXIS_H
#define RESULTS_FIGURES_AXIS_H

#include "results/figures/canvas.h"

struct pdnn_scale {
    double low, high; /* values at the ends */
    double from, to;  /* where those stand */
    int base;         /* 10: logarithmic; 2: the same of sizes, "64 KiB"; 0: linear */
};

/* One that holds these values, without its place: logarithmic where they are positive and far apart. */
struct pdnn_scale pdnn_scale_of(double least, double greatest);

double pdnn_scale_at(const struct pdnn_scale *scale, double value);

/* Whether the value is between the ends; the place of the nearest one that is. */
bool pdnn_scale_holds(const struct pdnn_scale *scale, double value);
double pdnn_scale_within(const struct pdnn_scale *scale, double value);

/* Gives it the ends x and y, as far as they are numbers. Where the other end is beyond one of these, it is a
 * decade away, or on a linear scale as far as before. Without logarithms if an end has none. */
void pdnn_scale_narrow(struct pdnn_scale *scale, struct pdnn_spot range);

struct pdnn_frame_axis {
    struct pdnn_scale scale;
    const char *title;            /* NULL: none */
    bool grid, bare;              /* lines across at the ticks; neither ticks nor numbers */
    double title_low, title_high; /* what an upright title may take; 0: the whole picture */
};

/* A frame that is open above and to the right, with ticks that do not touch each other; or its level axis
 * alone, at `bottom` of a frame up to `top`. */
void pdnn_draw_frame(struct pdnn_canvas *canvas, const struct pdnn_frame_axis *x,
                     const struct pdnn_frame_axis *y);
void pdnn_draw_level(struct pdnn_canvas *canvas, const struct pdnn_frame_axis *x, double bottom, double top);

/* The title of an axis at the middle of what it names, moved where it is longer; in small letters, and then
 * in two lines, where it is longer than what it may take. Smaller letters yet make the picture short. */
struct pdnn_axis_title {
    const char *text;
    double beside; /* the middle of its line, or of both: of an upright one by width */
    double middle, low, high;
    bool upright, is_small;
};
void pdnn_draw_axis_title(struct pdnn_canvas *canvas, const struct pdnn_axis_title *title);

/* From one value of a level scale to another as far as it holds them, with caps at those that it holds. */
void pdnn_draw_interval(struct pdnn_canvas *canvas, const struct pdnn_scale *scale, double low, double high,
                        double y, double width);

/* From purple to yellow, told apart also without color; and from orange over pale to purple (ColorBrewer's
 * PuOr), for what may be on either side of 1. */
enum { PDNN_PALETTE = 8 };
extern const int pdnn_sequential[PDNN_PALETTE], pdnn_diverging[PDNN_PALETTE];
int pdnn_palette(const int inks[PDNN_PALETTE], double part); /* part: 0 to 1 */

/* A palette, upright, between from and to of the scale; ticks at these values, or of its own for none. */
void pdnn_draw_palette(struct pdnn_canvas *canvas, double left, const struct pdnn_scale *scale,
                       const int inks[PDNN_PALETTE], const double *values, size_t n_values);

struct pdnn_titles {
    const char *title, *subtitle; /* NULL: none */
};

/* Above a frame, below `top` of a panel, in as many lines as they need. The space above a frame is for a line
 * of each: the other one returns how much more they take, or with a negative number less. */
void pdnn_draw_titles(struct pdnn_canvas *canvas, double left, double top, struct pdnn_titles titles);
double pdnn_titles_more(const struct pdnn_canvas *canvas, double left, struct pdnn_titles titles);

/* Makes the picture that much higher, and draws them at its top. */
void pdnn_put_titles(struct pdnn_canvas *canvas, double left, struct pdnn_titles titles);

/* What stands in a legend: texts, or marks with their texts; without a text, a gap. */
struct pdnn_entries {
    struct pdnn_arena *arena; /* borrowed */
    struct pdnn_entry {
        const char *text; /* borrowed */
        struct pdnn_mark mark;
    } * entry;
    size_t count, room;
};

enum { PDNN_LEGEND_LINE = 22, PDNN_LEGEND_EDGE = 4, PDNN_WIDE_ENOUGH = 760 };

extern const struct pdnn_mark pdnn_no_mark;
struct pdnn_mark pdnn_swatch(int ink); /* for what is an area */
void pdnn_entries_add(struct pdnn_entries *entries, const char *text, struct pdnn_mark mark);
void pdnn_entries_gap(struct pdnn_entries *entries); /* none at the start, or beside another one */
double pdnn_entries_height(const struct pdnn_entries *entries, double width);
double pdnn_entries_width(const struct pdnn_entries *entries); /* of the longest text */

/* From the top down to the right of x, in lines up to PDNN_LEGEND_EDGE before the picture's edge; y is the
 * middle of the first line. Returns that of the line below. */
double pdnn_entries_draw(const struct pdnn_entries *entries, struct pdnn_canvas *canvas, double x, double y);

/* Where a picture is less than PDNN_WIDE_ENOUGH its legend is below it, in columns as wide as the widest
 * entry, from y up. Returns its height. */
double pdnn_entries_draw_below(const struct pdnn_entries *entries, double y, struct pdnn_canvas *canvas);

/* Lines of a text from y down; returns how many. Without a canvas they are only counted. */
size_t pdnn_draw_lines(struct pdnn_canvas *canvas, double x, double y, double width, struct pdnn_font font,
                       const char *text);
double pdnn_lines_more(double width, struct pdnn_font font,
                       const char *text); /* than one line takes, in height */

/* Lines of small text from x to the right edge of the picture, broken between words and where the text has a
 * line's end, with the lowest at y; nothing where the picture has no caption. Returns their height. */
double pdnn_draw_caption(struct pdnn_canvas *canvas, double x, double y, const char *text);

extern const struct pdnn_font pdnn_small, pdnn_small_middle, pdnn_small_end, pdnn_plain_middle;

#endif
