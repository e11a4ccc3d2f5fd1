#include "results/figures/frame.h"

#include <math.h>
#include <stdbool.h>

struct pdnn_spot pdnn_frame_to_pixels(const struct pdnn_frame *f, struct pdnn_spot data) {
    return (struct pdnn_spot){pdnn_scale_at(&f->x, data.x), pdnn_scale_at(&f->y, data.y)};
}

static double pixels_per_log(const struct pdnn_scale *scale) {
    return (scale->to - scale->from) / log(scale->high / scale->low);
}

double pdnn_frame_angle(const struct pdnn_frame *frame) {
    return atan2(pixels_per_log(&frame->y), pixels_per_log(&frame->x));
}

/* Coordinates along and across the lines; in these, all labels are upright rectangles. */
static struct pdnn_spot turn(struct pdnn_spot spot, double angle) {
    return (struct pdnn_spot){spot.x * cos(angle) + spot.y * sin(angle),
                              spot.y * cos(angle) - spot.x * sin(angle)};
}

static double cover_cost(const struct pdnn_label *label, double angle, const struct pdnn_spot *points,
                         size_t n_points, const struct pdnn_label *before, size_t n_before) {
    static const double point_radius = 8, label_distance = 10, label_cost = 1000;
    struct pdnn_spot center = turn(label->center, angle);
    double cost = 0;
    for (size_t i = 0; i < n_points; i++) {
        struct pdnn_spot point = turn(points[i], angle);
        cost += fabs(point.x - center.x) < label->width / 2 + point_radius &&
                fabs(point.y - center.y) < label->height / 2 + point_radius;
    }
    for (size_t i = 0; i < n_before; i++) {
        struct pdnn_spot other = turn(before[i].center, angle);
        bool apart = fabs(other.x - center.x) > (label->width + before[i].width) / 2 + label_distance ||
                     fabs(other.y - center.y) > (label->height + before[i].height) / 2;
        cost += apart ? 0 : label_cost;
    }
    return cost;
}

void pdnn_frame_place(const struct pdnn_frame *frame, struct pdnn_spot low, struct pdnn_spot high,
                      const struct pdnn_spot *points, size_t n_points, struct pdnn_label *labels, size_t at) {
    enum { CANDIDATES = 80 };
    static const double favorite = 0.6, end_distance = 14;
    double angle = pdnn_frame_angle(frame), length = hypot(high.x - low.x, high.y - low.y),
           best_cost = INFINITY;
    double margin = length > 0 ? (labels[at].width / 2 + end_distance) / length : 0.5;
    if (margin > 0.5)
        margin = 0.5;
    struct pdnn_spot best = low;
    for (int i = 0; i <= CANDIDATES; i++) {
        double t = margin + (1 - 2 * margin) * i / CANDIDATES;
        labels[at].center = (struct pdnn_spot){low.x + t * (high.x - low.x), low.y + t * (high.y - low.y)};
        double cost = cover_cost(&labels[at], angle, points, n_points, labels, at) + fabs(t - favorite) / 2;
        if (cost < best_cost) {
            best_cost = cost;
            best = labels[at].center;
        }
    }
    labels[at].center = best;
}

void pdnn_frame_corners(const struct pdnn_frame *frame, const struct pdnn_label *label,
                        struct pdnn_spot corners[4]) {
    static const double side[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    double angle = pdnn_frame_angle(frame);
    for (int i = 0; i < 4; i++) {
        struct pdnn_spot offset = {side[i][0] * label->width / 2, side[i][1] * label->height / 2};
        struct pdnn_spot turned = turn(offset, -angle);
        corners[i] = (struct pdnn_spot){label->center.x + turned.x, label->center.y + turned.y};
    }
}
