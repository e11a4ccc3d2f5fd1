#define _DEFAULT_SOURCE /* timegm */
#include "results/table/number.h"

#include "base/rng.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Digits and decimal exponent of a number: 0.d1d2d3... * 10^exponent. */
struct decimal {
    char digit[PDNN_DIGITS_EXACT + 1];
    int count, exponent;
};

/* exact: with as many more digits as read back as the same number. From 15 on, since they reproduce any
 * decimal that a person wrote. */
static struct decimal decimal_of(double magnitude, int digits, bool exact) {
    struct decimal d = {.count = 0};
    char text[64];
    do
        snprintf(text, sizeof text, "%.*e", digits - 1, magnitude);
    while (exact && digits++ < PDNN_DIGITS_EXACT && strtod(text, NULL) != magnitude);
    const char *at = text;
    for (; *at && *at != 'e'; at++) {
        if (*at >= '0' && *at <= '9' && d.count < PDNN_DIGITS_EXACT)
            d.digit[d.count++] = *at;
    }
    d.exponent = (int)strtol(at + (*at == 'e'), NULL, 10) + 1;
    while (d.count > 1 && d.digit[d.count - 1] == '0')
        d.count--;
    return d;
}

/* Beyond these exponents, the zeros would be longer than the digits. */
enum { FIXED_MIN_EXPONENT = -5, FIXED_MAX_EXPONENT = 17 };
static const char zeros[] = "00000000000000000";

static void append_decimal(struct pdnn_str *out, const struct decimal *d) {
    size_t count = (size_t)d->count;
    if (d->exponent < FIXED_MIN_EXPONENT || d->exponent > FIXED_MAX_EXPONENT) {
        pdnn_str_append(out, d->digit, 1);
        if (count > 1)
            pdnn_str_append(out, ".", 1);
        pdnn_str_append(out, d->digit + 1, count - 1);
        pdnn_str_printf(out, "e%d", d->exponent - 1);
    } else if (d->exponent <= 0) {
        pdnn_str_append(out, "0.", 2);
        pdnn_str_append(out, zeros, (size_t)-d->exponent);
        pdnn_str_append(out, d->digit, count);
    } else if (d->exponent >= d->count) {
        pdnn_str_append(out, d->digit, count);
        pdnn_str_append(out, zeros, (size_t)(d->exponent - d->count));
    } else {
        pdnn_str_append(out, d->digit, (size_t)d->exponent);
        pdnn_str_append(out, ".", 1);
        pdnn_str_append(out, d->digit + d->exponent, count - (size_t)d->exponent);
    }
}

/* 5^27 is the last below 2^63: the product of it and the 53 bits of a number is exact. */
enum { FAST_DIGITS = 15, POWERS = 28 };

static uint64_t power_of_5(int exponent) {
    uint64_t power = 1;
    for (uint64_t square = 5; exponent; exponent >>= 1, square *= square)
        power *= exponent & 1 ? square : 1;
    return power;
}

static uint64_t power_of_10(int exponent) {
    return power_of_5(exponent) << exponent;
}

/* mantissa * 2^exponent * 10^power, rounded to a whole number, halves to the even one; exact. The result is
 * below 2^63 and the exponent so low that the point is within the product. */
static uint64_t scale(uint64_t mantissa, int exponent, int power) {
    pdnn_u128 product = (pdnn_u128)mantissa * power_of_5(power);
    int shift = -(exponent + power);
    pdnn_u128 half = (pdnn_u128)1 << (shift - 1), rest = product & ((half << 1) - 1);
    uint64_t whole = (uint64_t)(product >> shift);
    return whole + (rest > half || (rest == half && (whole & 1)));
}

/* decimal_of for 10^(digits - 27) <= magnitude < 10^digits, without printf. False outside of that. */
static bool decimal_fast(double magnitude, int digits, struct decimal *d) {
    uint64_t bits;
    memcpy(&bits, &magnitude, sizeof bits);
    int biased = (int)(bits >> 52);
    if (digits > FAST_DIGITS || !biased || !(magnitude < (double)power_of_10(digits)))
        return false;
    uint64_t mantissa = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    /* log10(2) = 0.30103 as a fraction; the estimate is right or one too small. */
    int exponent = biased - 1075, log2 = biased - 1023, log10 = (log2 * 78913) >> 18;
    int power = digits - 1 - log10;
    if (power >= POWERS)
        return false;
    uint64_t whole = scale(mantissa, exponent, power);
    if (whole >= power_of_10(digits)) {
        /* Either the estimate was too small, or rounding gave another digit, which is a 0 then. */
        if (!power)
            return false;
        log10++;
        whole = scale(mantissa, exponent, power - 1);
    }
    while (whole % 10 == 0)
        whole /= 10;
    char text[PDNN_U64_DIGITS];
    d->count = (int)pdnn_u64_digits(text, whole);
    memcpy(d->digit, text, (size_t)d->count);
    d->exponent = log10 + 1;
    return true;
}

/* Whole numbers up to here are printed as they are. */
static const double whole_below = 9007199254740992.0;

void pdnn_number_format(struct pdnn_str *out, double value, int digits) {
    if (!isfinite(value))
        return;
    if (value == 0) {
        pdnn_str_append(out, "0", 1);
        return;
    }
    double magnitude = fabs(value);
    if (value < 0)
        pdnn_str_append(out, "-", 1);
    bool exact = digits >= PDNN_DIGITS_EXACT;
    if (magnitude < whole_below &&
        (exact ? magnitude == floor(magnitude)
               : digits <= FAST_DIGITS && magnitude >= (double)power_of_10(digits))) {
        pdnn_str_append_u64(out, (uint64_t)round(magnitude));
        return;
    }
    struct decimal d;
    if (exact || !decimal_fast(magnitude, digits, &d))
        d = decimal_of(magnitude, exact ? FAST_DIGITS : digits, exact);
    if (d.exponent > digits && d.exponent <= FIXED_MAX_EXPONENT)
        d = decimal_of(round(magnitude), PDNN_DIGITS_EXACT, false);
    append_decimal(out, &d);
}

bool pdnn_count_parse(const char *text, uint64_t *count) {
    uint64_t value = 0;
    if (!*text || text[strspn(text, "0123456789")])
        return false;
    for (; *text; text++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
            return false;
    }
    *count = value;
    return true;
}

/* A whole number below 2^53 times or by a power of ten up to 10^22 is rounded once, hence correctly. */
bool pdnn_number_parse(const char *text, double *value) {
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char *at = text + (*text == '-');
    uint64_t whole = 0;
    int count = 0, behind = 0;
    for (; (unsigned)*at - '0' <= 9; at++, count++)
        whole = whole * 10 + (uint64_t)(*at - '0');
    if (*at == '.')
        for (at++; (unsigned)*at - '0' <= 9; at++, count++, behind++)
            whole = whole * 10 + (uint64_t)(*at - '0');
    if (*at || !count || count > FAST_DIGITS)
        return pdnn_parse_double(text, value);
    double number = (double)whole / powers[behind];
    *value = *text == '-' ? -number : number;
    return true;
}

const char *pdnn_utc_format(int64_t unix_ms, char buffer[PDNN_UTC_TEXT]) {
    const int64_t ms = (unix_ms % 1000 + 1000) % 1000;
    const time_t seconds = (time_t)((unix_ms - ms) / 1000);
    struct tm utc = {0};
    gmtime_r(&seconds, &utc);
    snprintf(buffer, PDNN_UTC_TEXT, "%04lld-%02d-%02dT%02d:%02d:%02d.%03dZ", utc.tm_year + 1900LL,
             utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, (int)ms);
    return buffer;
}

bool pdnn_utc_parse(const char *text, int64_t *unix_ms) {
    struct tm utc = {0};
    int ms, used = 0;
    if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ%n", &utc.tm_year, &utc.tm_mon, &utc.tm_mday, &utc.tm_hour,
               &utc.tm_min, &utc.tm_sec, &ms, &used) != 7 ||
        !used || text[used])
        return false;
    utc.tm_year -= 1900;
    utc.tm_mon--;
    const int64_t parsed = (int64_t)timegm(&utc) * 1000 + ms;
    char again[PDNN_UTC_TEXT];
    /* There is only one spelling; this also refuses the 30th of February. */
    if (strcmp(pdnn_utc_format(parsed, again), text) != 0)
        return false;
    *unix_ms = parsed;
    return true;
}
