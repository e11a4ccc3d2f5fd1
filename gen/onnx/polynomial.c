#include "gen/onnx/polynomial.h"

#include <inttypes.h>

int pdnn_polynomial_points(const struct pdnn_polynomial_axes *axes) {
    return (1 << axes->count) + axes->count + 1;
}

/* First each set of axes at their second size, the others at their first; then one axis at its third. */
void pdnn_polynomial_point(const struct pdnn_polynomial_axes *axes, int k,
                           int64_t size[PDNN_POLYNOMIAL_AXES]) {
    const int sets = 1 << axes->count;
    for (int i = 0; i < axes->count; i++)
        size[i] = axes->size[i][k < sets ? k >> i & 1 : k == sets + axes->count ? 3 : k == sets + i ? 2 : 0];
}

static bool add_product(struct pdnn_rational *to, struct pdnn_rational a, int64_t b) {
    return pdnn_rational_multiply(a, pdnn_rational_whole(b), &a) && pdnn_rational_add(*to, a, to);
}

static bool evaluate(const struct pdnn_polynomial_axes *axes, const struct pdnn_polynomial *polynomial,
                     const int64_t *size, struct pdnn_rational *value) {
    const int sets = 1 << axes->count;
    bool fits = true;
    *value = pdnn_rational_whole(0);
    for (int k = 0; k < sets + axes->count && fits; k++) {
        int64_t product = 1;
        for (int i = 0; i < axes->count; i++)
            if (k < sets ? k >> i & 1 : k == sets + i)
                fits = fits && !__builtin_mul_overflow(product, size[i], &product) &&
                       (k < sets || !__builtin_mul_overflow(product, size[i], &product));
        fits = fits && add_product(value, polynomial->coefficient[k], product);
    }
    return fits;
}

/* Newton's form: products of (size - first) for each set of axes, by differences. */
static bool fit_sets(const struct pdnn_polynomial_axes *axes, const int64_t *value,
                     struct pdnn_polynomial *polynomial) {
    const int sets = 1 << axes->count;
    bool fits = true;
    for (int set = 0; set < sets && fits; set++) {
        struct pdnn_rational difference = pdnn_rational_whole(0);
        int64_t steps = 1;
        for (int i = 0; i < axes->count; i++)
            steps *= set >> i & 1 ? axes->size[i][1] - axes->size[i][0] : 1;
        for (int part = 0; part < sets && fits; part++)
            if ((part & set) == part)
                fits = add_product(&difference, pdnn_rational_whole(value[part]),
                                   __builtin_popcount((unsigned)(part ^ set)) & 1 ? -1 : 1);
        fits = fits && pdnn_rational_divide(difference, pdnn_rational_whole(steps), &difference);
        for (int part = 0; part < sets && fits; part++) {
            int64_t factor = 1;
            if ((part & set) != part)
                continue;
            for (int i = 0; i < axes->count; i++)
                factor *= (part ^ set) >> i & 1 ? -axes->size[i][0] : 1;
            fits = add_product(&polynomial->coefficient[part], difference, factor);
        }
    }
    return fits;
}

bool pdnn_polynomial_fit(const struct pdnn_polynomial_axes *axes, const int64_t *value,
                         struct pdnn_polynomial *polynomial) {
    const int sets = 1 << axes->count;
    int64_t size[PDNN_POLYNOMIAL_AXES];
    struct pdnn_rational square, is;
    for (int k = 0; k < PDNN_POLYNOMIAL_POINTS; k++)
        polynomial->coefficient[k] = pdnn_rational_whole(0);
    if (!fit_sets(axes, value, polynomial))
        return false;
    for (int i = 0; i < axes->count; i++) {
        const int64_t a = axes->size[i][0], b = axes->size[i][1], c = axes->size[i][2];
        pdnn_polynomial_point(axes, sets + i, size);
        if (!evaluate(axes, polynomial, size, &is) ||
            !pdnn_rational_subtract(pdnn_rational_whole(value[sets + i]), is, &square) ||
            !pdnn_rational_divide(square, pdnn_rational_whole((c - a) * (c - b)), &square) ||
            !add_product(&polynomial->coefficient[sets + i], square, 1) ||
            !add_product(&polynomial->coefficient[1 << i], square, -(a + b)) ||
            !add_product(&polynomial->coefficient[0], square, a * b))
            return false;
    }
    pdnn_polynomial_point(axes, sets + axes->count, size);
    return evaluate(axes, polynomial, size, &is) && is.denominator == 1 &&
           is.numerator == value[sets + axes->count];
}

void pdnn_polynomial_say(const struct pdnn_polynomial_axes *axes, const struct pdnn_polynomial *polynomial,
                         const char *const *names, struct pdnn_str *text) {
    const int sets = 1 << axes->count;
    bool is_first = true;
    for (int k = sets + axes->count; k-- > 0;) {
        const struct pdnn_rational coefficient = polynomial->coefficient[k];
        const int64_t size = coefficient.numerator < 0 ? -coefficient.numerator : coefficient.numerator;
        const char *times = "";
        if (!size)
            continue;
        pdnn_str_printf(text, "%s",
                        coefficient.numerator < 0 ? (is_first ? "-" : " - ")
                        : is_first                ? ""
                                                  : " + ");
        if (size != 1 || k == 0) {
            pdnn_str_append_i64(text, size);
            times = " * ";
        }
        for (int i = 0; i < axes->count; i++)
            if (k < sets ? k >> i & 1 : k == sets + i) {
                pdnn_str_printf(text, "%s%s%s", times, names[i], k < sets ? "" : "^2");
                times = " * ";
            }
        if (coefficient.denominator != 1)
            pdnn_str_printf(text, " / %" PRId64, coefficient.denominator);
        is_first = false;
    }
    if (is_first)
        pdnn_str_append(text, "0", 1);
}
