/* Windows that slide over an image, as in convolution and pooling, one axis at a time, with zero padding:
 * `padding` before the image, `padding + extra` after it. Taps are `dilation` apart. */
#ifndef MODELS_OPS_WINDOW_H
#define MODELS_OPS_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

struct pdnn_window {
    int64_t kernel, stride, padding, dilation, extra;
};

/* A half-open range of taps, or of positions. */
struct pdnn_taps {
    int64_t begin, end;
};

/* Elements from the first tap to the last. */
static inline int64_t pdnn_window_extent(struct pdnn_window window) {
    return (window.kernel - 1) * window.dilation + 1;
}

/* Padding after the image. */
static inline int64_t pdnn_window_end(struct pdnn_window window) {
    return window.padding + window.extra;
}

/* Number of positions of a window along an axis; 0 if the window is invalid or does not fit. */
static inline int64_t pdnn_window_positions(struct pdnn_window window, int64_t length) {
    int64_t widest;
    if (window.kernel < 1 || window.stride < 1 || window.padding < 0 || window.dilation < 1 ||
        __builtin_mul_overflow(window.kernel, window.dilation, &widest))
        return 0;
    int64_t extent = pdnn_window_extent(window), end = pdnn_window_end(window);
    if (end < 0 || window.padding >= extent || end >= extent || extent > length + window.padding + end)
        return 0;
    return (length + window.padding + end - extent) / window.stride + 1;
}

/* The first tap that is this far or farther from the first one. */
static inline int64_t pdnn_window_tap_at(struct pdnn_window window, int64_t distance) {
    return window.dilation == 1 ? distance : (distance + window.dilation - 1) / window.dilation;
}

/* The taps that lie on the image at a position. Tap t reads element position * stride - padding + t *
 * dilation. */
static inline struct pdnn_taps pdnn_window_taps(struct pdnn_window window, int64_t length, int64_t position) {
    int64_t start = position * window.stride - window.padding;
    int64_t end = pdnn_window_tap_at(window, length - start);
    return (struct pdnn_taps){start < 0 ? pdnn_window_tap_at(window, -start) : 0,
                              end < window.kernel ? end : window.kernel};
}

/* The positions at which this tap lies on the image; an empty range may begin after its end. */
static inline struct pdnn_taps pdnn_window_reach(struct pdnn_window window, int64_t length, int64_t tap) {
    int64_t before = window.padding - tap * window.dilation, last = length - 1 + before;
    int64_t positions = pdnn_window_positions(window, length);
    int64_t end = last < 0 ? 0 : last / window.stride + 1;
    return (struct pdnn_taps){before > 0 ? (before + window.stride - 1) / window.stride : 0,
                              end < positions ? end : positions};
}

/* Taps at a position, summed over all positions: all of them where the window is over no edge. */
static inline int64_t pdnn_window_taps_sum(struct pdnn_window window, int64_t length) {
    int64_t sum = 0, positions = pdnn_window_positions(window, length);
    for (int64_t i = 0; i < positions; i++) {
        struct pdnn_taps taps = pdnn_window_taps(window, length, i);
        sum += taps.end - taps.begin;
        int64_t room = length + window.padding - pdnn_window_extent(window) - i * window.stride;
        if (taps.end - taps.begin == window.kernel && room >= window.stride) {
            sum += room / window.stride * window.kernel;
            i += room / window.stride;
        }
    }
    return sum;
}

/* Whether some tap at some position reads the element. */
static inline bool pdnn_window_reads(struct pdnn_window window, int64_t length, int64_t element) {
    int64_t positions = pdnn_window_positions(window, length);
    for (int64_t tap = 0; tap < window.kernel; tap++) {
        int64_t start = element + window.padding - tap * window.dilation;
        if (start >= 0 && start % window.stride == 0 && start / window.stride < positions)
            return true;
    }
    return false;
}

/* Elements of the axis under some tap at some position. */
static inline int64_t pdnn_window_covered(struct pdnn_window window, int64_t length) {
    int64_t end = (pdnn_window_positions(window, length) - 1) * window.stride - window.padding +
                  pdnn_window_extent(window);
    int64_t covered = 0;
    if (window.dilation == 1 && window.kernel >= window.stride) /* without gaps */
        return end < length ? end : length;
    for (int64_t element = 0; element < length; element++)
        covered += pdnn_window_reads(window, length, element);
    return covered;
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
