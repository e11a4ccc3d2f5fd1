/* A whole number as a polynomial in a few sizes, from its values where each size has one of three. */
#ifndef GEN_ONNX_POLYNOMIAL_H
#define GEN_ONNX_POLYNOMIAL_H

#include "base/str.h"
#include "models/expression/rational.h"

enum {
    PDNN_POLYNOMIAL_AXES = 4,
    PDNN_POLYNOMIAL_POINTS = (1 << PDNN_POLYNOMIAL_AXES) + PDNN_POLYNOMIAL_AXES,
    PDNN_POLYNOMIAL_SIZES = 4 /* three, and one to compare at */
};

/* Sizes of each axis: first, second, third, and for the comparison. */
struct pdnn_polynomial_axes {
    int count;
    int64_t size[PDNN_POLYNOMIAL_AXES][PDNN_POLYNOMIAL_SIZES];
};

/* Products of different axes, by the set of them, then squares. */
struct pdnn_polynomial {
    struct pdnn_rational coefficient[PDNN_POLYNOMIAL_POINTS];
};

/* How many values are needed, and the axes' sizes at point k of them; the last is the comparison. */
int pdnn_polynomial_points(const struct pdnn_polynomial_axes *axes);
void pdnn_polynomial_point(const struct pdnn_polynomial_axes *axes, int k,
                           int64_t size[PDNN_POLYNOMIAL_AXES]);

/* From the values at the points. False if there is none, or it is wrong at the last one. */
bool pdnn_polynomial_fit(const struct pdnn_polynomial_axes *axes, const int64_t *value,
                         struct pdnn_polynomial *polynomial);

/* Appends it as an expression: 4 * batch + 1. */
void pdnn_polynomial_say(const struct pdnn_polynomial_axes *axes, const struct pdnn_polynomial *polynomial,
                         const char *const *names, struct pdnn_str *text);

#endif
