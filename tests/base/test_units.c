#include "base/units.h"

#include "cmocka_all.h"

static void test_compare_numbers_first(void **state) {
    (void)state;
    static const struct {
        const char *one, *other;
        int order;
    } cases[] = {{"9", "10", -1},    {"1e3", "1000.0", 0}, {"-1", "0", -1}, {"10", "lstm", -1},
                 {"gru", "lstm", 0}, {"", "7", 1},         {"nan", "7", 1}, {"64x", "63", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(pdnn_compare_numbers_first(cases[i].one, cases[i].other), cases[i].order);
        assert_int_equal(pdnn_compare_numbers_first(cases[i].other, cases[i].one), -cases[i].order);
    }
}

static void test_parse_whole(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum pdnn_number_kind kind;
        int64_t value;
    } rows[] = {
        {"64", PDNN_NUMBER_WHOLE, 64},
        {"-3", PDNN_NUMBER_WHOLE, -3},
        {"1e3", PDNN_NUMBER_WHOLE, 1000},
        {"2E0", PDNN_NUMBER_WHOLE, 2},
        {"64.0", PDNN_NUMBER_WHOLE, 64},
        {"-64.", PDNN_NUMBER_WHOLE, -64},
        {"1E+07", PDNN_NUMBER_WHOLE, 10000000},
        {"1.5e3", PDNN_NUMBER_WHOLE, 1500},
        {"1500e-2", PDNN_NUMBER_WHOLE, 15},
        {"0.0e-99", PDNN_NUMBER_WHOLE, 0},
        {"2.00000000000000000000000000", PDNN_NUMBER_WHOLE, 2},
        {"9007199254740993.0", PDNN_NUMBER_WHOLE, 9007199254740993},
        {"-9223372036854775808", PDNN_NUMBER_WHOLE, INT64_MIN},
        {"4k", PDNN_NUMBER_WHOLE, 4000},
        {"4Ki", PDNN_NUMBER_WHOLE, 4096},
        {"2M", PDNN_NUMBER_WHOLE, 2000000},
        {"1Gi", PDNN_NUMBER_WHOLE, 1 << 30},
        {"9223372036854775807", PDNN_NUMBER_WHOLE, INT64_MAX},
        {"9223372036854775808", PDNN_NUMBER_TOO_LARGE, 0},
        {"99999999999999999999999999", PDNN_NUMBER_TOO_LARGE, 0},
        {"1e19", PDNN_NUMBER_TOO_LARGE, 0},
        {"1e99999999999999999999", PDNN_NUMBER_TOO_LARGE, 0},
        {"9999999999999G", PDNN_NUMBER_TOO_LARGE, 0},
        {"", PDNN_NUMBER_OTHER, 0},
        {"k", PDNN_NUMBER_OTHER, 0},
        {"1.5", PDNN_NUMBER_OTHER, 0},
        {"1.0005e3", PDNN_NUMBER_OTHER, 0},
        {"1.5e-99999999999999999999", PDNN_NUMBER_OTHER, 0},
        {"1.5k", PDNN_NUMBER_OTHER, 0},
        {".0", PDNN_NUMBER_OTHER, 0},
        {"1.0.0", PDNN_NUMBER_OTHER, 0},
        {"1e+", PDNN_NUMBER_OTHER, 0},
        {"1e-3", PDNN_NUMBER_OTHER, 0},
        {"1e", PDNN_NUMBER_OTHER, 0},
        {"4 k", PDNN_NUMBER_OTHER, 0},
        {"4kb", PDNN_NUMBER_OTHER, 0},
        {"1e3k", PDNN_NUMBER_OTHER, 0},
        {" 4", PDNN_NUMBER_OTHER, 0},
        {"3-4", PDNN_NUMBER_OTHER, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t value = 0;
        assert_int_equal(pdnn_parse_whole(rows[i].text, &value), rows[i].kind);
        assert_int_equal(value, rows[i].value);
    }
}

static void test_parse_millionths(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum pdnn_number_kind kind;
        int64_t value;
    } rows[] = {
        {"0", PDNN_NUMBER_WHOLE, 0},
        {"0.5", PDNN_NUMBER_WHOLE, 500000},
        {"-0.000001", PDNN_NUMBER_WHOLE, -1},
        {"0.10", PDNN_NUMBER_WHOLE, 100000},
        {"1e-6", PDNN_NUMBER_WHOLE, 1},
        {"25e-1", PDNN_NUMBER_WHOLE, 2500000},
        {"1.5k", PDNN_NUMBER_WHOLE, 1500000000},
        {"9223372036854.775807", PDNN_NUMBER_WHOLE, INT64_MAX},
        {"9223372036854.775808", PDNN_NUMBER_TOO_LARGE, 0},
        {"1e13", PDNN_NUMBER_TOO_LARGE, 0},
        {"1e999999999999", PDNN_NUMBER_TOO_LARGE, 0},
        {"0.0000001", PDNN_NUMBER_OTHER, 0},
        {"1e-7", PDNN_NUMBER_OTHER, 0},
        {".5", PDNN_NUMBER_OTHER, 0},
        {"0.5.5", PDNN_NUMBER_OTHER, 0},
        {"", PDNN_NUMBER_OTHER, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t value = 0;
        assert_int_equal(pdnn_parse_millionths(rows[i].text, &value), rows[i].kind);
        assert_true(value == rows[i].value);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parse_whole),
                                       cmocka_unit_test(test_parse_millionths),
                                       cmocka_unit_test(test_compare_numbers_first)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
