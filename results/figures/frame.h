/* The frame of a log-log picture in pixels, and the best place for a label along a
 * slanted line. Pure geometry. */
#ifndef RESULTS_FIGURES_FRAME_H
#define RESULTS_FIGURES_FRAME_H

#include "results/figures/axis.h"

struct pdnn_frame {
    double width, height;   /* of the picture, pixels */
    struct pdnn_scale x, y; /* both logarithmic */
};

struct pdnn_spot pdnn_frame_to_pixels(const struct pdnn_frame *frame, struct pdnn_spot data);

/* The angle in the picture of lines y = c * x, in radians. */
double pdnn_frame_angle(const struct pdnn_frame *frame);

/* A label on such a line: its center in pixels, rotated by that angle. */
struct pdnn_label {
    struct pdnn_spot center;
    double width, height; /* pixels */
};

/* Places labels[at], whose size is set, on the line between two ends (in pixels) where it covers the fewest
 * points and no earlier label; it prefers the upper half. */
void pdnn_frame_place(const struct pdnn_frame *frame, struct pdnn_spot low, struct pdnn_spot high,
                      const struct pdnn_spot *points, size_t n_points, struct pdnn_label *labels, size_t at);

/* The label's four corners in pixels. */
void pdnn_frame_corners(const struct pdnn_frame *frame, const struct pdnn_label *label,
                        struct pdnn_spot corners[4]);

#endif
