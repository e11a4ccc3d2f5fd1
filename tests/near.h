/* An assertion that cmocka lacks: nearly equal doubles. Include after cmocka_all.h. */
#ifndef TESTS_NEAR_H
#define TESTS_NEAR_H

/* |value - expected| <= tolerance; NaN fails. */
#define assert_near(value, expected, tolerance) check_near(value, expected, tolerance, __FILE__, __LINE__)

static inline void check_near(double value, double expected, double tolerance, const char *file, int line) {
    if (value >= expected - tolerance && value <= expected + tolerance)
        return;
    print_error("%.17g is not within %g of %.17g\n", value, tolerance, expected);
    _fail(file, line);
}

#endif
