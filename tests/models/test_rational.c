/* Exact rationals: values, what does not fit, and the identities that hold for random ones. */
#include "models/expression/rational.h"
#include "tests/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

typedef bool (*operation)(struct pdnn_rational a, struct pdnn_rational b, struct pdnn_rational *result);

static void assert_is(bool fits, struct pdnn_rational result, const char *expected, const char *what) {
    char text[PDNN_RATIONAL_TEXT];
    if (!fits && expected)
        fail_msg("%s does not fit, expected %s", what, expected);
    if (fits && (!expected || strcmp(pdnn_rational_format(text, result), expected) != 0))
        fail_msg("%s is %s, expected %s", what, pdnn_rational_format(text, result),
                 expected ? expected : "an overflow");
}

/* "-3/4", or INT64_MIN by its digits. */
static struct pdnn_rational of(const char *text) {
    struct pdnn_rational made = {0, 1};
    char *end;
    made.numerator = strtoll(text, &end, 10);
    assert_true(pdnn_rational_make(made.numerator, *end == '/' ? strtoll(end + 1, NULL, 10) : 1, &made));
    return made;
}

#define MIN64 "-9223372036854775808"
#define MAX64 "9223372036854775807"

static void test_make(void **state) {
    (void)state;
    static const struct {
        int64_t numerator, denominator;
        const char *expected; /* NULL: false */
    } rows[] = {
        {6, 4, "3/2"},
        {6, -4, "-3/2"},
        {-6, -3, "2"},
        {0, -7, "0"},
        {1, 0, NULL},
        {INT64_MIN, 1, MIN64},
        {INT64_MIN, -1, NULL},
        {1, INT64_MIN, NULL},
        {2, INT64_MIN, "-1/4611686018427387904"},
        {INT64_MIN, INT64_MIN, "1"},
        {0, INT64_MIN, "0"},
        {INT64_MIN, INT64_MAX, MIN64 "/" MAX64},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_rational made = {0, 1};
        bool fits = pdnn_rational_make(rows[i].numerator, rows[i].denominator, &made);
        assert_is(fits, made, rows[i].expected, "make");
    }
}

static void test_parse(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"3", "3"},
        {"0.25", "1/4"},
        {".1", "1/10"},
        {"1.", "1"},
        {"1.5e3", "1500"},
        {"1500e-2", "15"},
        {"1e18", "1000000000000000000"},
        {"1e19", NULL},
        {"10e-1", "1"},
        {"0e9999", "0"},
        {"0.000", "0"},
        {"1.00000000000000000000000", "1"},
        {"1000000000000000000000e-21", "1"},
        {"00012", "12"},
        {MAX64, MAX64},
        {"9223372036854775808", NULL},
        {"1e-18", "1/1000000000000000000"},
        {"1e-19", NULL},
        {"1024e-19", "1/9765625000000000"},
        {"0.3333333333333333333333333", NULL},
        {"", NULL},
        {".", NULL},
        {"-1", NULL},
        {"1.2.3", NULL},
        {"1e", NULL},
        {"1e12345", NULL},
        {"e3", NULL},
        {"1 ", NULL},
        {"0x10", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_rational made = {0, 1};
        bool fits = pdnn_rational_parse(rows[i][0], &made);
        assert_is(fits, made, rows[i][1], rows[i][0]);
    }
}

static void test_operations(void **state) {
    (void)state;
    static const struct {
        operation run;
        const char *a, *b, *expected; /* NULL: false */
    } rows[] = {
        {pdnn_rational_add, "1/2", "1/3", "5/6"},
        {pdnn_rational_add, "1/2", "1/2", "1"},
        {pdnn_rational_add, MAX64, "1", NULL},
        {pdnn_rational_add, MIN64, "-1", NULL},
        {pdnn_rational_add, MAX64, "1/2", NULL},
        {pdnn_rational_add, "1/" MAX64, "1/" MAX64, "2/" MAX64},
        {pdnn_rational_add, MIN64, MAX64, "-1"},
        {pdnn_rational_add, MIN64 "/3", MAX64 "/3", "-1/3"},
        {pdnn_rational_subtract, "1/2", "1/3", "1/6"},
        {pdnn_rational_subtract, "0", MIN64, NULL},
        {pdnn_rational_subtract, "-1", MIN64, MAX64},
        {pdnn_rational_subtract, MIN64 "/5", MIN64 "/5", "0"},
        {pdnn_rational_multiply, "2/3", "3/2", "1"},
        {pdnn_rational_multiply, "-2/3", "3/4", "-1/2"},
        {pdnn_rational_multiply, "4294967296", "4294967296", NULL},
        {pdnn_rational_multiply, MIN64, "-1", NULL},
        {pdnn_rational_multiply, MIN64 "/3", "-3/4611686018427387904", "2"},
        {pdnn_rational_multiply, "1/4294967296", "1/4294967296", NULL},
        {pdnn_rational_multiply, MIN64, MIN64, NULL},
        {pdnn_rational_multiply, MIN64, "0", "0"},
        {pdnn_rational_divide, "1", "3", "1/3"},
        {pdnn_rational_divide, "-6/4", "-3", "1/2"},
        {pdnn_rational_divide, "1", "0", NULL},
        {pdnn_rational_divide, MIN64, "-1", NULL},
        {pdnn_rational_divide, MIN64, MIN64, "1"},
        {pdnn_rational_divide, "1", MIN64, NULL},
        {pdnn_rational_mod, "7", "3", "1"},
        {pdnn_rational_mod, "-7", "3", "2"},
        {pdnn_rational_mod, "7", "-3", "-2"},
        {pdnn_rational_mod, "-7", "-3", "-1"},
        {pdnn_rational_mod, "6", "-3", "0"},
        {pdnn_rational_mod, "7/2", "2/3", "1/6"},
        {pdnn_rational_mod, "1/4611686018427387904", "4611686018427387904", "1/4611686018427387904"},
        {pdnn_rational_mod, MIN64, "-1", "0"},
        {pdnn_rational_mod, "1", "0", NULL},
        {pdnn_rational_divisible, "16", "8", "16"},
        {pdnn_rational_divisible, "12", "8", "16"},   /* halves up */
        {pdnn_rational_divisible, "59/5", "8", "16"}, /* 11.8 would become 8, below 90 % of it */
        {pdnn_rational_divisible, "44/5", "8", "8"},  /* 8 is above 90 % of 8.8 */
        {pdnn_rational_divisible, "9", "8", "16"},    /* 8 is below 8.1 */
        {pdnn_rational_divisible, "80/9", "8", "8"},  /* 8 is 90 % */
        {pdnn_rational_divisible, "1/10", "8", "8"},  /* one at least */
        {pdnn_rational_divisible, "-50", "8", "8"},
        {pdnn_rational_divisible, "100", "0", NULL},
        {pdnn_rational_divisible, "100", "-8", NULL},
        {pdnn_rational_divisible, MAX64, "2", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char what[128];
        struct pdnn_rational result = {0, 1};
        bool fits = rows[i].run(of(rows[i].a), of(rows[i].b), &result);
        snprintf(what, sizeof what, "row %zu, of %s and %s,", i, rows[i].a, rows[i].b);
        assert_is(fits, result, rows[i].expected, what);
    }
}

static void test_power(void **state) {
    (void)state;
    static const struct {
        const char *base;
        unsigned exponent;
        const char *expected;
    } rows[] = {
        {"2", 62, "4611686018427387904"},
        {"2", 63, NULL},
        {"-2", 63, MIN64},
        {"-1/2", 3, "-1/8"},
        {"1/2", 62, "1/4611686018427387904"},
        {"1/2", 63, NULL},
        {"0", 0, "1"},
        {"0", 5, "0"},
        {"1", 63, "1"},
        {"-1", 63, "-1"},
        {"3037000499", 2, "9223372030926249001"},
        {"3037000500", 2, NULL},
        {"2097151", 3, "9223358842721533951"}, /* its fourth power would not fit */
        {MIN64, 1, MIN64},
        {MIN64, 2, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_rational result = {0, 1};
        bool fits = pdnn_rational_power(of(rows[i].base), rows[i].exponent, &result);
        assert_is(fits, result, rows[i].expected, rows[i].base);
    }
}

static void test_one_operand(void **state) {
    (void)state;
    static const struct {
        const char *a, *floor, *ceil, *negated, *abs, *root; /* NULL: false */
    } rows[] = {
        {"7/2", "3", "4", "-7/2", "7/2", NULL},
        {"-7/2", "-4", "-3", "7/2", "7/2", NULL},
        {"4", "4", "4", "-4", "4", "2"},
        {"9/16", "0", "1", "-9/16", "9/16", "3/4"},
        {"-4", "-4", "-4", "4", "4", NULL},
        {"0", "0", "0", "0", "0", "0"},
        {"8", "8", "8", "-8", "8", NULL},
        {"4/3", "1", "2", "-4/3", "4/3", NULL},
        {MAX64, MAX64, MAX64, "-" MAX64, MAX64, NULL},
        {MIN64, MIN64, MIN64, NULL, NULL, NULL},
        {"9223372030926249001", "9223372030926249001", "9223372030926249001", "-9223372030926249001",
         "9223372030926249001", "3037000499"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct pdnn_rational a = of(rows[i].a);
        struct pdnn_rational result = a;
        assert_is(true, pdnn_rational_floor(a), rows[i].floor, "floor");
        assert_is(true, pdnn_rational_ceil(a), rows[i].ceil, "ceil");
        bool fits = pdnn_rational_negate(a, &result);
        assert_is(fits, result, rows[i].negated, "negate");
        fits = pdnn_rational_abs(a, &result);
        assert_is(fits, result, rows[i].abs, "abs");
        fits = pdnn_rational_sqrt(a, &result);
        assert_is(fits, result, rows[i].root, "sqrt");
    }
}

static void test_compare(void **state) {
    (void)state;
    static const char *const ascending[] = {
        MIN64, "-3/2", "-1",       "-1/" MAX64,           "0",  "1/" MAX64, "1/3", "1/2", "2/3",
        "1",   "2",    MAX64 "/2", "9223372036854775806", MAX64};
    const size_t count = sizeof ascending / sizeof *ascending;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < count; k++) {
            const struct pdnn_rational a = of(ascending[i]), b = of(ascending[k]);
            assert_int_equal(pdnn_rational_compare(a, b), (i > k) - (i < k));
            assert_is(true, pdnn_rational_max(a, b), ascending[i > k ? i : k], "max");
        }
    }
}

static void test_random_identities(void **state) {
    (void)state;
    uint64_t seed = 1;
    for (int round = 0; round < 20000; round++) {
        int64_t parts[4];
        for (int i = 0; i < 4; i++) {
            seed = seed * 6364136223846793005 + 1442695040888963407;
            parts[i] = (int64_t)(seed >> (33 + seed % 31)) - (1 << 10);
        }
        struct pdnn_rational a, b, sum, back, product;
        if (!pdnn_rational_make(parts[0], parts[1], &a) || !pdnn_rational_make(parts[2], parts[3], &b))
            continue;
        if (pdnn_rational_add(a, b, &sum) && pdnn_rational_subtract(sum, b, &back))
            assert_int_equal(pdnn_rational_compare(a, back), 0);
        if (pdnn_rational_multiply(a, b, &product) && b.numerator && pdnn_rational_divide(product, b, &back))
            assert_int_equal(pdnn_rational_compare(a, back), 0);
        assert_true(pdnn_rational_compare(pdnn_rational_floor(a), a) <= 0);
        assert_true(pdnn_rational_compare(pdnn_rational_ceil(a), a) >= 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_make),
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_power),
        cmocka_unit_test(test_one_operand),
        cmocka_unit_test(test_compare),
        cmocka_unit_test(test_random_identities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
