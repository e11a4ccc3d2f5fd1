/* The functions of elementwise.h, one line each: a name and f(a, b), with coefficients c0 and c1. The
 * activations are those of models/ops. Forward: a is x. Backward: a is dy, and b is y, or x where the
 * op says so. */
#ifndef RUNTIME_KERNELS_ROWS_ELEMENTWISE_FUNCTIONS_H
#define RUNTIME_KERNELS_ROWS_ELEMENTWISE_FUNCTIONS_H

#include "runtime/kernels/simd/vmath.h"

#include <math.h>

#define PDNN_ELEMENTWISE_FUNCTIONS(X)                                                                        \
    X(RELU_FORWARD, a < 0 ? 0 : a) /* NaN stays NaN */                                                       \
    X(RELU_BACKWARD, b > 0 ? a : 0)                                                                          \
    X(SIGMOID_FORWARD, 1.0F / (1.0F + pdnn_exp(-a)))                                                         \
    X(SIGMOID_BACKWARD, (a * b * (1.0F - b)))                                                                \
    X(TANH_FORWARD, pdnn_tanh(a))                                                                            \
    X(TANH_BACKWARD, (a * (1.0F - b * b)))                                                                   \
    X(GELU_FORWARD, pdnn_gelu(a))                                                                            \
    X(GELU_BACKWARD, (a * pdnn_gelu_slope(b)))                                                               \
    X(GELU_TANH_FORWARD, pdnn_gelu_tanh(a))                                                                  \
    X(GELU_TANH_BACKWARD, (a * pdnn_gelu_tanh_slope(b)))                                                     \
    X(SILU_FORWARD, a / (1.0F + pdnn_exp(-a)))                                                               \
    X(SILU_BACKWARD, (a * pdnn_silu_slope(b)))                                                               \
    X(HARDTANH_FORWARD, pdnn_hardtanh(a, c0, c1))                                                            \
    X(HARDTANH_BACKWARD, (b > c0) & (b < c1) ? a : 0)                                                        \
    X(HARDSIGMOID_FORWARD, pdnn_hardsigmoid(a))                                                              \
    X(HARDSIGMOID_BACKWARD, (b > 0) & (b < 1) ? a / 6.0F : 0)                                                \
    X(HARDSWISH_FORWARD, (a * pdnn_hardsigmoid(a)))                                                          \
    X(HARDSWISH_BACKWARD, (a * pdnn_hardswish_slope(b)))                                                     \
    X(SOFTPLUS_FORWARD, pdnn_softplus(a))                                                                    \
    X(SOFTPLUS_BACKWARD, a / (1.0F + pdnn_exp(-b)))                                                          \
    X(TOP_K_BACKWARD, b == -INFINITY ? 0 : a)                                                                \
    X(ADD, a + b)                                                                                            \
    X(MULTIPLY, (a * b))                                                                                     \
    X(SCALE, (c0 * a))

/* Propagates NaN. */
static inline float pdnn_at_most(float x, float far) {
    return x > far ? far : x;
}

static inline float pdnn_at_least(float x, float far) {
    return x < far ? far : x;
}

static inline float pdnn_hardtanh(float x, float low, float high) {
    float raised = x > low ? x : low;
    return raised < high ? raised : high;
}

static inline float pdnn_hardsigmoid(float x) {
    return pdnn_at_most(pdnn_at_least(x / 6.0F + 0.5F, 0), 1);
}

static inline float pdnn_hardswish_slope(float x) {
    float gate = x / 6.0F + 0.5F, slope = gate <= 0 ? 0 : gate + x / 6.0F;
    return gate >= 1 ? 1 : slope;
}

/* max(x, 0) + log(1 + t) with t = exp(-|x|). With s = 2 t / (2 + t), log(1 + t) is 2 artanh(s / 2), which is
 * s times a polynomial in s^2, here the best one of its degree (Remez, relative error): within 4e-9 for t
 * <= 1. */
static inline float pdnn_softplus(float x) {
    float t = pdnn_exp(-fabsf(x)), s = t / (1.0F + 0.5F * t), z = s * s, p = 5.50358108e-4F;
    p = p * z + 2.18442209e-3F;
    p = p * z + 1.25077845e-2F;
    p = p * z + 8.33328934e-2F;
    return pdnn_at_least(x, 0) + (s + s * (z * p));
}

/* Beyond these, gelu is x or practically 0. Clamping x or |x| here keeps exp in range and
 * products from overflowing. */
static const float pdnn_gelu_far = 12.5F, pdnn_gelu_tanh_far = 9.9F;

/* max(x, 0) - u P(-u) with u = |x| and P as in vmath.h. */
static inline float pdnn_gelu(float x) {
    float u = pdnn_at_most(fabsf(x), pdnn_gelu_far);
    return pdnn_at_least(x, 0) - u * (pdnn_exp_within(-0.5F * u * u) * pdnn_normal_ratio(u));
}

/* The slope at -u is P(-u) - u p(u); at u it is 1 minus that. */
static inline float pdnn_gelu_slope(float x) {
    const float density_at_0 = 0.39894228F;
    float u = pdnn_at_most(fabsf(x), pdnn_gelu_far);
    float below = pdnn_exp_within(-0.5F * u * u) * (pdnn_normal_ratio(u) - density_at_0 * u);
    return x < 0 ? below : 1.0F - below;
}

/* (1 + tanh(u)) / 2 is sigmoid(2 u), and 2 u = x (linear + cubic x^2). */
static const float pdnn_gelu_linear = 1.5957691216F, pdnn_gelu_cubic = 0.0713548163F;

static inline float pdnn_gelu_tanh(float x) {
    float above = pdnn_at_least(x, -pdnn_gelu_tanh_far), at = pdnn_at_most(above, pdnn_gelu_tanh_far);
    return above / (1.0F + pdnn_exp_within(-at * (pdnn_gelu_linear + pdnn_gelu_cubic * (at * at))));
}

/* The slope is s + x s (1 - s) (linear + 3 cubic x^2) with s = 1 / (1 + e); 1 - s = e s. */
static inline float pdnn_gelu_tanh_slope(float x) {
    float at = pdnn_at_most(pdnn_at_least(x, -pdnn_gelu_tanh_far), pdnn_gelu_tanh_far), square = at * at;
    float e = pdnn_exp_within(-at * (pdnn_gelu_linear + pdnn_gelu_cubic * square)), s = 1.0F / (1.0F + e);
    return s + at * s * (e * s) * (pdnn_gelu_linear + 3.0F * pdnn_gelu_cubic * square);
}

/* s (1 + x (1 - s)) with s = 1 / (1 + e); 1 - s = e s. */
static inline float pdnn_silu_slope(float x) {
    float e = pdnn_exp(-x), s = 1.0F / (1.0F + e);
    return s * (1.0F + x * (e * s));
}

#endif
