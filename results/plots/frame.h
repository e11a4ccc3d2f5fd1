/* The frame of a log-log picture in pixels, and where along a slanted line its label fits best. Pure
 * geometry. */
#ifndef RESULTS_PLOTS_FRAME_H
#define RESULTS_PLOTS_FRAME_H

#include <stddef.h>

struct pdnn_frame {
    double width, height;            /* of the picture, pixels */
    double left, right, bottom, top; /* of the frame, pixels from the lower left corner */
    double xmin, xmax, ymin, ymax;   /* its ends in data */
};

struct pdnn_spot {
    double x, y;
};

struct pdnn_spot pdnn_frame_to_pixels(const struct pdnn_frame *frame, struct pdnn_spot data);
struct pdnn_spot pdnn_frame_to_data(const struct pdnn_frame *frame, struct pdnn_spot pixels);

/* The angle on the picture of lines y = c * x, radians. */
double pdnn_frame_angle(const struct pdnn_frame *frame);

/* A label on such a line: center in pixels, turned by that angle. */
struct pdnn_label {
    struct pdnn_spot center;
    double width, height; /* pixels */
};

/* Puts labels[at] (its size is set) on the line between two ends (pixels) where it covers the fewest points
 * and no label before it, the upper half preferred. */
void pdnn_frame_place(const struct pdnn_frame *frame, struct pdnn_spot low, struct pdnn_spot high,
                      const struct pdnn_spot *points, size_t n_points, struct pdnn_label *labels, size_t at);

/* Its four corners in data. */
void pdnn_frame_corners(const struct pdnn_frame *frame, const struct pdnn_label *label,
                        struct pdnn_spot corners[4]);

#endif
