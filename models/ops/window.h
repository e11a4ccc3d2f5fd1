/* Windows that slide over an image, as in convolution and pooling, one axis at a time, with
 * symmetric zero padding. */
#ifndef MODELS_OPS_WINDOW_H
#define MODELS_OPS_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

struct pdnn_window {
    int64_t kernel, stride, padding;
};

/* A half-open range of taps, or of positions. */
struct pdnn_taps {
    int64_t begin, end;
};

/* Number of positions of a window along an axis; 0 if the window is invalid or does not fit. */
static inline int64_t pdnn_window_positions(struct pdnn_window window, int64_t length) {
    if (window.kernel < 1 || window.stride < 1 || window.padding < 0 || window.padding >= window.kernel ||
        window.kernel > length + 2 * window.padding)
        return 0;
    return (length + 2 * window.padding - window.kernel) / window.stride + 1;
}

/* The taps that lie on the image at a position. Tap t reads element position * stride - padding + t. */
static inline struct pdnn_taps pdnn_window_taps(struct pdnn_window window, int64_t length, int64_t position) {
    int64_t start = position * window.stride - window.padding, end = length - start;
    return (struct pdnn_taps){start < 0 ? -start : 0, end < window.kernel ? end : window.kernel};
}

/* The positions at which this tap lies on the image; an empty range may begin after its end. */
static inline struct pdnn_taps pdnn_window_reach(struct pdnn_window window, int64_t length, int64_t tap) {
    int64_t before = window.padding - tap, last = length - 1 + before;
    int64_t positions = pdnn_window_positions(window, length);
    int64_t end = last < 0 ? 0 : last / window.stride + 1;
    return (struct pdnn_taps){before > 0 ? (before + window.stride - 1) / window.stride : 0,
                              end < positions ? end : positions};
}

/* Taps at a position, summed over all positions. */
static inline int64_t pdnn_window_taps_sum(struct pdnn_window window, int64_t length) {
    int64_t sum = 0, positions = pdnn_window_positions(window, length);
    for (int64_t i = 0; i < positions; i++) {
        struct pdnn_taps taps = pdnn_window_taps(window, length, i);
        sum += taps.end - taps.begin;
    }
    return sum;
}

/* Elements of the axis under some tap at some position. */
static inline int64_t pdnn_window_covered(struct pdnn_window window, int64_t length) {
    if (window.kernel < window.stride) /* positions are apart */
        return pdnn_window_taps_sum(window, length);
    int64_t end =
        (pdnn_window_positions(window, length) - 1) * window.stride - window.padding + window.kernel;
    return end < length ? end : length;
}

/* Taps that lie on the image at some position. */
static inline int64_t pdnn_window_taps_used(struct pdnn_window window, int64_t length) {
    int64_t used = 0;
    for (int64_t tap = 0; tap < window.kernel; tap++) {
        struct pdnn_taps at = pdnn_window_reach(window, length, tap);
        used += at.begin < at.end;
    }
    return used;
}

#endif
