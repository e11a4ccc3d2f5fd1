/* Exact rational numbers of two int64, in lowest terms. Nothing is rounded: a result that does not fit is an
 * overflow, which every operation reports by returning false; *result is then meaningless. Whole numbers take
 * the short way. */
#ifndef MODELS_EXPRESSION_RATIONAL_H
#define MODELS_EXPRESSION_RATIONAL_H

#include <stdbool.h>
#include <stdint.h>

struct pdnn_rational {
    int64_t numerator, denominator; /* coprime; the denominator is at least 1 */
};

static inline struct pdnn_rational pdnn_rational_whole(int64_t value) {
    return (struct pdnn_rational){value, 1};
}

static inline bool pdnn_rational_is_whole(struct pdnn_rational a) {
    return a.denominator == 1;
}

/* numerator / denominator in lowest terms; false if the denominator is 0 too. */
bool pdnn_rational_make(int64_t numerator, int64_t denominator, struct pdnn_rational *result);

/* A decimal number without a sign: "3", "0.25", "1.5e3". False for other texts and for what does not fit. */
bool pdnn_rational_parse(const char *text, struct pdnn_rational *result);

enum { PDNN_RATIONAL_TEXT = 48 };

/* "3" or "-3/4". Returns buffer. */
const char *pdnn_rational_format(char buffer[PDNN_RATIONAL_TEXT], struct pdnn_rational a);

/* The nearest double, if numerator and denominator are below 2^53. */
static inline double pdnn_rational_to_double(struct pdnn_rational a) {
    return (double)a.numerator / (double)a.denominator;
}

/* The general forms of what is inline below. */
bool pdnn_rational_add_fractions(struct pdnn_rational a, struct pdnn_rational b,
                                 struct pdnn_rational *result);
bool pdnn_rational_subtract_fractions(struct pdnn_rational a, struct pdnn_rational b,
                                      struct pdnn_rational *result);
bool pdnn_rational_multiply_fractions(struct pdnn_rational a, struct pdnn_rational b,
                                      struct pdnn_rational *result);
int pdnn_rational_compare_fractions(struct pdnn_rational a, struct pdnn_rational b);

static inline bool pdnn_rational_add(struct pdnn_rational a, struct pdnn_rational b,
                                     struct pdnn_rational *result) {
    if (a.denominator != 1 || b.denominator != 1)
        return pdnn_rational_add_fractions(a, b, result);
    result->denominator = 1;
    return !__builtin_add_overflow(a.numerator, b.numerator, &result->numerator);
}

static inline bool pdnn_rational_subtract(struct pdnn_rational a, struct pdnn_rational b,
                                          struct pdnn_rational *result) {
    if (a.denominator != 1 || b.denominator != 1)
        return pdnn_rational_subtract_fractions(a, b, result);
    result->denominator = 1;
    return !__builtin_sub_overflow(a.numerator, b.numerator, &result->numerator);
}

static inline bool pdnn_rational_multiply(struct pdnn_rational a, struct pdnn_rational b,
                                          struct pdnn_rational *result) {
    if (a.denominator != 1 || b.denominator != 1)
        return pdnn_rational_multiply_fractions(a, b, result);
    result->denominator = 1;
    return !__builtin_mul_overflow(a.numerator, b.numerator, &result->numerator);
}

/* Below, at or above 0 as a is less than, equal to or greater than b. */
static inline int pdnn_rational_compare(struct pdnn_rational a, struct pdnn_rational b) {
    if (a.denominator != b.denominator)
        return pdnn_rational_compare_fractions(a, b);
    return (a.numerator > b.numerator) - (a.numerator < b.numerator);
}

static inline struct pdnn_rational pdnn_rational_max(struct pdnn_rational a, struct pdnn_rational b) {
    return pdnn_rational_compare(a, b) < 0 ? b : a;
}

/* a / b, and the a - b floor(a / b) that has the sign of b; false if b is 0 too. */
bool pdnn_rational_divide(struct pdnn_rational a, struct pdnn_rational b, struct pdnn_rational *result);
bool pdnn_rational_mod(struct pdnn_rational a, struct pdnn_rational b, struct pdnn_rational *result);

bool pdnn_rational_negate(struct pdnn_rational a, struct pdnn_rational *result);
bool pdnn_rational_abs(struct pdnn_rational a, struct pdnn_rational *result);

/* a to the exponent; 1 for the exponent 0, whatever a is. */
bool pdnn_rational_power(struct pdnn_rational a, unsigned exponent, struct pdnn_rational *result);

/* The greatest whole number that is not above a, and the least that is not below. */
struct pdnn_rational pdnn_rational_floor(struct pdnn_rational a);
struct pdnn_rational pdnn_rational_ceil(struct pdnn_rational a);

/* Channels as MobileNet rounds them (Sandler and others, 2018): the multiple of `multiple` that is nearest to
 * a, the greater one of two, at least one multiple, and one more where that is below 0.9 a. False if multiple
 * is not above 0 too. */
bool pdnn_rational_divisible(struct pdnn_rational a, struct pdnn_rational multiple,
                             struct pdnn_rational *result);

/* The root of a, false if it is not rational. */
bool pdnn_rational_sqrt(struct pdnn_rational a, struct pdnn_rational *result);

#endif
