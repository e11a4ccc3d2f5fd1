/* 16-bit floating point: every value both ways, every rounding, and arrays against single values. */
#include "tests/cmocka_all.h"
#include "tests/runtime/levels.h"

#include "base/half.h"
#include "runtime/kernels/simd/denormals.h"
#include "runtime/kernels/simd/half.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { VALUES = 1 << 16, THREADS = 2 };

/* By the definition of the format, in double. */
static double decode(uint16_t bits, int exponent_bits, int fraction_bits) {
    int fraction = bits & ((1 << fraction_bits) - 1);
    int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
    int bias = (1 << (exponent_bits - 1)) - 1;
    double magnitude = exponent ? ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits)
                                : ldexp(fraction, 1 - bias - fraction_bits);
    if (exponent == (1 << exponent_bits) - 1)
        magnitude = fraction ? NAN : INFINITY;
    return bits & 0x8000 ? -magnitude : magnitude;
}

static const struct {
    const char *name;
    int exponent_bits, fraction_bits;
    uint16_t infinity;
    float (*value)(uint16_t bits);
    uint16_t (*of)(float value);
} types[] = {
    [PDNN_HALF_BF16] = {"bf16", 8, 7, 0x7f80, pdnn_bf16_value, pdnn_bf16_of},
    [PDNN_HALF_F16] = {"f16", 5, 10, 0x7c00, pdnn_f16_value, pdnn_f16_of},
};

static void test_value_of_all_bits(void **state) {
    (void)state;
    for (size_t t = 0; t < PDNN_HALF_COUNT; t++) {
        for (int bits = 0; bits < VALUES; bits++) {
            float value = types[t].value((uint16_t)bits);
            double expected = decode((uint16_t)bits, types[t].exponent_bits, types[t].fraction_bits);
            if (isnan(expected) ? !isnan(value) : (double)value != expected)
                fail_msg("%s %04x is %g, not %g", types[t].name, (unsigned)bits, (double)value, expected);
            uint16_t back = types[t].of(value);
            if (isnan(value) ? !isnan(types[t].value(back)) : back != bits)
                fail_msg("%s %04x comes back as %04x", types[t].name, (unsigned)bits, (unsigned)back);
            assert_int_equal(signbit(value) != 0, bits >> 15);
        }
    }
}

/* Between each number and the next: below the midpoint, above it, and at the
 * midpoint, which rounds to even. */
static void test_of_rounds_to_the_nearest(void **state) {
    (void)state;
    for (size_t t = 0; t < PDNN_HALF_COUNT; t++) {
        for (int bits = 0; bits + 1 < types[t].infinity; bits++) {
            double low = (double)types[t].value((uint16_t)bits),
                   high = (double)types[t].value((uint16_t)(bits + 1));
            float middle = (float)((low + high) / 2);
            const uint16_t expected[] = {(uint16_t)bits, (uint16_t)(bits % 2 ? bits + 1 : bits),
                                         (uint16_t)(bits + 1)};
            const float values[] = {nextafterf(middle, 0), middle, nextafterf(middle, INFINITY)};
            for (int i = 0; i < 3; i++) {
                if (types[t].of(values[i]) != expected[i] ||
                    types[t].of(-values[i]) != (expected[i] | 0x8000))
                    fail_msg("%s %a is %04x, not %04x", types[t].name, (double)values[i],
                             (unsigned)types[t].of(values[i]), (unsigned)expected[i]);
            }
        }
    }
}

static void test_of_too_large(void **state) {
    (void)state;
    assert_int_equal(pdnn_f16_of(65519.996F), 0x7bff);
    assert_int_equal(pdnn_f16_of(65520), 0x7c00);
    assert_int_equal(pdnn_f16_of(65536), 0x7c00);
    assert_int_equal(pdnn_f16_of(-FLT_MAX), 0xfc00);
    assert_int_equal(pdnn_bf16_of(FLT_MAX), 0x7f80);
    assert_int_equal(pdnn_bf16_of(-FLT_MAX), 0xff80);
}

/* All values, any length and number of threads, with denormals flushed to zero as in a worker. */
static void test_arrays(void **state) {
    (void)state;
    static const int64_t lengths[] = {1, 7, 1023, VALUES};
    uint16_t *half = malloc(VALUES * sizeof *half), *back = malloc(VALUES * sizeof *back);
    float *wide = malloc(VALUES * sizeof *wide);
    assert_true(half && back && wide);
    for (int i = 0; i < VALUES; i++)
        half[i] = (uint16_t)(i * 40503); /* an odd factor gives each value once */
    pdnn_flush_denormals(THREADS);
    for (size_t t = 0; t < PDNN_HALF_COUNT; t++) {
        for (size_t k = 0; k < 2 * sizeof lengths / sizeof *lengths; k++) {
            int64_t n = lengths[k / 2], threads = 1 + (int64_t)(k % 2);
            pdnn_half_widen_all((enum pdnn_half)t, half, wide, n, threads);
            if (n % 8 == 0 && threads > 1)
                pdnn_half_narrow_bypass((enum pdnn_half)t, wide, back, n);
            else
                pdnn_half_narrow_all((enum pdnn_half)t, wide, back, n, threads);
            for (int64_t i = 0; i < n; i++) {
                uint32_t found = pdnn_f32_bits(wide[i]), expected = pdnn_f32_bits(types[t].value(half[i]));
                bool is_nan = (half[i] & 0x7fff) > types[t].infinity;
                const uint32_t quiet = is_nan ? 0x400000 : 0; /* as the processor makes it */
                if ((found | quiet) != (expected | quiet) || (!is_nan && back[i] != half[i]))
                    fail_msg("%s %04x: %08x instead of %08x, back %04x", types[t].name, (unsigned)half[i],
                             found, expected, (unsigned)back[i]);
            }
        }
    }
    free(half);
    free(back);
    free(wide);
}

int main(void) {
    const struct CMUnitTest values[] = {
        cmocka_unit_test(test_value_of_all_bits),
        cmocka_unit_test(test_of_rounds_to_the_nearest),
        cmocka_unit_test(test_of_too_large),
    };
    const struct CMUnitTest arrays[] = {
        cmocka_unit_test(test_arrays), /* flushes denormals, which the others test */
    };
    int failed = cmocka_run_group_tests(values, NULL, NULL);
    RUN_AT_EVERY_LEVEL(arrays, failed);
    return failed;
}
