#define _POSIX_C_SOURCE 200809L
#include "base/units.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit {
    const char *name;
    double factor;
};

static const struct unit byte_units[] = {
    {"B", 1},    {"KB", 1e3},     {"MB", 1e6},        {"GB", 1e9},           {"TB", 1e12},
    {"", 1},     {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0},
    {NULL, 0.0},
};

static const struct unit time_units[] = {
    {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}, {NULL, 0.0},
};

static const struct unit percent_units[] = {{"%", 0.01}, {NULL, 0.0}};

bool pdnn_parse_i64(const char *text, int64_t *value) {
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || *end || errno || *text == ' ')
        return false;
    *value = number;
    return true;
}

/* The digits and point of a number times 10^power, without passing through floating point. */
static enum pdnn_number_kind parse_decimal(const char *text, size_t length, long power, int64_t *value) {
    const char *point = memchr(text, '.', length), *at = text + (*text == '-' || *text == '+');
    int64_t made = 0;
    while (point && text[length - 1] == '0')
        length--;
    for (; at < text + length; at++)
        if (*at != '.' && (__builtin_mul_overflow(made, 10, &made) ||
                           __builtin_add_overflow(made, *text == '-' ? '0' - *at : *at - '0', &made)))
            return PDNN_NUMBER_TOO_LARGE;
    power -= point ? (long)(text + length - 1 - point) : 0;
    for (; made && power < 0 && made % 10 == 0; power++)
        made /= 10;
    if (made && power < 0)
        return PDNN_NUMBER_OTHER;
    for (; made && power > 0; power--)
        if (__builtin_mul_overflow(made, 10, &made))
            return PDNN_NUMBER_TOO_LARGE;
    *value = made;
    return PDNN_NUMBER_WHOLE;
}

/* In units of 10^-digits. */
static enum pdnn_number_kind parse_scaled(const char *text, long digits_behind, int64_t *value) {
    static const struct {
        const char *unit;
        int64_t factor;
    } units[] = {{"", 1},           {"k", 1000},     {"K", 1000},     {"M", 1000000},
                 {"G", 1000000000}, {"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}};
    const char *digits = text + (*text == '-' || *text == '+'), *rest = digits + strspn(digits, "0123456789");
    int64_t factor = 0, made;
    long power = digits_behind;
    static const long most = 100000; /* a power beyond is too large, or of a zero */
    if (rest == digits)
        return PDNN_NUMBER_OTHER;
    rest += *rest == '.' ? 1 + strspn(rest + 1, "0123456789") : 0;
    const size_t length = (size_t)(rest - text);
    if (*rest == 'e' || *rest == 'E') {
        const char *sign = rest + 1, *exponent = sign + (*sign == '-' || *sign == '+');
        rest = exponent + strspn(exponent, "0123456789");
        power = strtol(sign, NULL, 10);
        power = (power > most ? most : power < -most ? -most : power) + digits_behind;
        factor = rest > exponent && !*rest;
    } else {
        for (size_t i = 0; i < sizeof units / sizeof *units; i++)
            factor = strcmp(rest, units[i].unit) == 0 ? units[i].factor : factor;
    }
    const enum pdnn_number_kind kind = factor ? parse_decimal(text, length, power, &made) : PDNN_NUMBER_OTHER;
    if (kind == PDNN_NUMBER_WHOLE && __builtin_mul_overflow(made, factor, &made))
        return PDNN_NUMBER_TOO_LARGE;
    if (kind == PDNN_NUMBER_WHOLE)
        *value = made;
    return kind;
}

enum pdnn_number_kind pdnn_parse_whole(const char *text, int64_t *value) {
    return parse_scaled(text, 0, value);
}

enum pdnn_number_kind pdnn_parse_millionths(const char *text, int64_t *value) {
    return parse_scaled(text, 6, value);
}

/* strtod with '.' as the decimal point, whatever the process's locale says. */
static double strtod_c(const char *text, char **end) {
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = uselocale(c);
    double number = strtod(text, end);
    uselocale(before);
    freelocale(c);
    return number;
}

/* Accepts only the characters of a decimal number: strtod also takes hexadecimal, inf and nan. */
static bool parse_prefix(const char *text, double *value, const char **rest) {
    size_t length = strspn(text, "+-.0123456789eE");
    char buffer[64];
    if (!length || length >= sizeof buffer)
        return false;
    memcpy(buffer, text, length);
    buffer[length] = 0;
    char *end;
    double number = strtod_c(buffer, &end);
    if (end == buffer || !isfinite(number))
        return false;
    *value = number;
    *rest = text + (end - buffer);
    return true;
}

bool pdnn_parse_double(const char *text, double *value) {
    const char *rest;
    double number;
    if (!parse_prefix(text, &number, &rest) || *rest)
        return false;
    *value = number;
    return true;
}

int pdnn_compare_numbers_first(const char *one, const char *other) {
    double x, y;
    bool x_number = pdnn_parse_double(one, &x), y_number = pdnn_parse_double(other, &y);
    if (x_number && y_number)
        return (x > y) - (x < y);
    return (int)y_number - (int)x_number;
}

static bool parse_with_unit(const char *text, const struct unit *units, double *value) {
    const char *rest;
    double number;
    if (!parse_prefix(text, &number, &rest))
        return false;
    rest += strspn(rest, " ");
    for (const struct unit *unit = units; unit->name; unit++) {
        if (strcmp(rest, unit->name) == 0) {
            *value = number * unit->factor;
            return true;
        }
    }
    return false;
}

static bool parse_u64_with_unit(const char *text, const struct unit *units, uint64_t *value) {
    double number;
    if (!parse_with_unit(text, units, &number) || number < 0 || number >= 18446744073709551616.0)
        return false;
    *value = (uint64_t)(number + 0.5);
    return true;
}

bool pdnn_parse_bytes(const char *text, uint64_t *bytes) {
    return parse_u64_with_unit(text, byte_units, bytes);
}

bool pdnn_parse_time_ns(const char *text, uint64_t *ns) {
    return parse_u64_with_unit(text, time_units, ns);
}

bool pdnn_parse_percent(const char *text, double *fraction) {
    return parse_with_unit(text, percent_units, fraction);
}

static const char *format_scaled(char *buffer, double value, double step, const char *const *prefixes,
                                 const char *unit) {
    size_t at = 0;
    while (fabs(value) >= step && prefixes[at + 1]) {
        value /= step;
        at++;
    }
    int decimals = fabs(value) >= 100 || value == 0 ? 0 : fabs(value) >= 10 ? 1 : 2;
    snprintf(buffer, PDNN_UNIT_TEXT, "%.*f %s%s", decimals, value, prefixes[at], unit);
    return buffer;
}

const char *pdnn_format_si(char buffer[PDNN_UNIT_TEXT], double value, const char *unit) {
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E", NULL};
    return format_scaled(buffer, value, 1000, prefixes, unit);
}

const char *pdnn_format_bytes(char buffer[PDNN_UNIT_TEXT], double bytes) {
    static const char *const prefixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", NULL};
    return format_scaled(buffer, bytes, 1024, prefixes, "B");
}

const char *pdnn_format_ns(char buffer[PDNN_UNIT_TEXT], double ns) {
    static const char *const prefixes[] = {"n", "u", "m", "", NULL};
    return format_scaled(buffer, ns, 1000, prefixes, "s");
}

const char *pdnn_duration_format(char buffer[PDNN_DURATION_TEXT], double seconds) {
    double whole = seconds < 0 ? 0 : seconds > 3.6e9 ? 3.6e9 : seconds;
    long total = (long)(whole + 0.5);
    if (total < 120)
        snprintf(buffer, PDNN_DURATION_TEXT, "%ld s", total);
    else if (total < 7200)
        snprintf(buffer, PDNN_DURATION_TEXT, "%ld min", (total + 30) / 60);
    else
        snprintf(buffer, PDNN_DURATION_TEXT, "%ld h %02ld min", total / 3600, total % 3600 / 60);
    return buffer;
}
