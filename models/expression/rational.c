#include "models/expression/rational.h"

#include "base/checked.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Holds the product of two int64, and the sum of two such products. */
__extension__ typedef __int128 wide;

enum { TEN_POWER = 37 }; /* the highest power of ten that a wide is asked to hold */

/* numerator / denominator, which is above 0, in lowest terms. */
static bool reduce(wide numerator, wide denominator, struct pdnn_rational *result) {
    wide a = numerator < 0 ? -numerator : numerator, b = denominator;
    while (b > INT64_MAX || a > INT64_MAX) {
        if (b == 0)
            break;
        const wide rest = a % b;
        a = b;
        b = rest;
    }
    const wide common = b == 0 ? a : (wide)pdnn_gcd((uint64_t)a, (uint64_t)b);
    numerator /= common;
    denominator /= common;
    *result = (struct pdnn_rational){(int64_t)numerator, (int64_t)denominator};
    return numerator >= INT64_MIN && numerator <= INT64_MAX && denominator <= INT64_MAX;
}

bool pdnn_rational_make(int64_t numerator, int64_t denominator, struct pdnn_rational *result) {
    const wide sign = denominator < 0 ? -1 : 1;
    return denominator != 0 && reduce(sign * numerator, sign * denominator, result);
}

/* Reads "e-3" behind the digits, at most four digits of it; false if something else stands there. */
static bool read_exponent(const char *text, int *exponent) {
    *exponent = 0;
    if (!*text)
        return true;
    if (*text != 'e' && *text != 'E')
        return false;
    text++;
    const bool is_negative = *text == '-';
    text += *text == '-' || *text == '+';
    const size_t digits = strspn(text, "0123456789");
    if (!digits || digits > 4 || text[digits])
        return false;
    *exponent = (is_negative ? -1 : 1) * atoi(text);
    return true;
}

/* Zeros at the end of the digits are powers of ten, so that 1.000 does not need a thousand. */
bool pdnn_rational_parse(const char *text, struct pdnn_rational *result) {
    int64_t value = 0;
    int zeros = 0, behind_point = 0, digits = 0, exponent;
    bool fits = true, has_point = false;
    for (; (*text >= '0' && *text <= '9') || (*text == '.' && !has_point); text++) {
        has_point = has_point || *text == '.';
        if (*text == '.')
            continue;
        digits++;
        behind_point += has_point;
        zeros += *text == '0' && value != 0;
        if (*text == '0')
            continue;
        for (; zeros; zeros--)
            fits = fits && !__builtin_mul_overflow(value, 10, &value);
        fits = fits && !__builtin_mul_overflow(value, 10, &value);
        fits = fits && !__builtin_add_overflow(value, *text - '0', &value);
    }
    if (!digits || !fits || !read_exponent(text, &exponent))
        return false;
    exponent += zeros - behind_point;
    if (value == 0)
        exponent = 0;
    if (exponent < -TEN_POWER || exponent > TEN_POWER)
        return false;
    wide power = 1;
    for (int i = 0; i < abs(exponent); i++)
        power *= 10;
    if (exponent > 0)
        return power <= INT64_MAX && reduce(value * power, 1, result);
    return reduce(value, power, result);
}

const char *pdnn_rational_format(char buffer[PDNN_RATIONAL_TEXT], struct pdnn_rational a) {
    if (a.denominator == 1)
        snprintf(buffer, PDNN_RATIONAL_TEXT, "%" PRId64, a.numerator);
    else
        snprintf(buffer, PDNN_RATIONAL_TEXT, "%" PRId64 "/%" PRId64, a.numerator, a.denominator);
    return buffer;
}

bool pdnn_rational_add_fractions(struct pdnn_rational a, struct pdnn_rational b,
                                 struct pdnn_rational *result) {
    return reduce((wide)a.numerator * b.denominator + (wide)b.numerator * a.denominator,
                  (wide)a.denominator * b.denominator, result);
}

bool pdnn_rational_subtract_fractions(struct pdnn_rational a, struct pdnn_rational b,
                                      struct pdnn_rational *result) {
    return reduce((wide)a.numerator * b.denominator - (wide)b.numerator * a.denominator,
                  (wide)a.denominator * b.denominator, result);
}

bool pdnn_rational_multiply_fractions(struct pdnn_rational a, struct pdnn_rational b,
                                      struct pdnn_rational *result) {
    return reduce((wide)a.numerator * b.numerator, (wide)a.denominator * b.denominator, result);
}

int pdnn_rational_compare_fractions(struct pdnn_rational a, struct pdnn_rational b) {
    const wide left = (wide)a.numerator * b.denominator, right = (wide)b.numerator * a.denominator;
    return (left > right) - (left < right);
}

bool pdnn_rational_divide(struct pdnn_rational a, struct pdnn_rational b, struct pdnn_rational *result) {
    const wide sign = b.numerator < 0 ? -1 : 1;
    if (a.denominator == 1 && b.denominator == 1 && b.numerator > 0 && a.numerator % b.numerator == 0) {
        *result = pdnn_rational_whole(a.numerator / b.numerator);
        return true;
    }
    return b.numerator != 0 &&
           reduce(sign * a.numerator * b.denominator, sign * a.denominator * b.numerator, result);
}

bool pdnn_rational_mod(struct pdnn_rational a, struct pdnn_rational b, struct pdnn_rational *result) {
    if (b.numerator == 0)
        return false;
    const wide by = (wide)b.numerator * a.denominator;
    wide rest = (wide)a.numerator * b.denominator % by;
    if (rest && (rest < 0) != (by < 0))
        rest += by;
    return reduce(rest, (wide)a.denominator * b.denominator, result);
}

bool pdnn_rational_negate(struct pdnn_rational a, struct pdnn_rational *result) {
    return pdnn_rational_subtract(pdnn_rational_whole(0), a, result);
}

bool pdnn_rational_abs(struct pdnn_rational a, struct pdnn_rational *result) {
    *result = a;
    return a.numerator >= 0 || pdnn_rational_negate(a, result);
}

/* Powers of coprime numbers are coprime. A square that only a further factor would need is not made. */
bool pdnn_rational_power(struct pdnn_rational a, unsigned exponent, struct pdnn_rational *result) {
    struct pdnn_rational power = {1, 1};
    bool fits = true;
    for (; exponent && fits; exponent >>= 1) {
        if (exponent & 1)
            fits = !__builtin_mul_overflow(power.numerator, a.numerator, &power.numerator) &&
                   !__builtin_mul_overflow(power.denominator, a.denominator, &power.denominator);
        if (exponent > 1)
            fits = fits && !__builtin_mul_overflow(a.numerator, a.numerator, &a.numerator) &&
                   !__builtin_mul_overflow(a.denominator, a.denominator, &a.denominator);
    }
    *result = power;
    return fits;
}

struct pdnn_rational pdnn_rational_floor(struct pdnn_rational a) {
    return pdnn_rational_whole(a.numerator / a.denominator - (a.numerator % a.denominator < 0));
}

struct pdnn_rational pdnn_rational_ceil(struct pdnn_rational a) {
    return pdnn_rational_whole(a.numerator / a.denominator + (a.numerator % a.denominator > 0));
}

bool pdnn_rational_divisible(struct pdnn_rational a, struct pdnn_rational multiple,
                             struct pdnn_rational *result) {
    const struct pdnn_rational half = {1, 2}, most = {9, 10};
    struct pdnn_rational count, least;
    if (multiple.numerator <= 0 || !pdnn_rational_divide(a, multiple, &count) ||
        !pdnn_rational_add(count, half, &count))
        return false;
    count = pdnn_rational_max(pdnn_rational_floor(count), pdnn_rational_whole(1));
    if (!pdnn_rational_multiply(count, multiple, result) || !pdnn_rational_multiply(a, most, &least))
        return false;
    return pdnn_rational_compare(*result, least) >= 0 || pdnn_rational_add(*result, multiple, result);
}

static bool take_root(int64_t square, int64_t *root) {
    int64_t guess = (int64_t)sqrt((double)square);
    while (guess > INT64_C(3037000499) || guess * guess > square)
        guess--;
    *root = guess;
    return guess * guess == square;
}

bool pdnn_rational_sqrt(struct pdnn_rational a, struct pdnn_rational *result) {
    return a.numerator >= 0 && take_root(a.numerator, &result->numerator) &&
           take_root(a.denominator, &result->denominator);
}
