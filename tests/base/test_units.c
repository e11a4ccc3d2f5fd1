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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_compare_numbers_first)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
