#include "base/units.h"
#include "cli/print/progress.h"
#include "tests/cmocka_all.h"

static void test_progress_line_cases(void **state) {
    (void)state;
    static const struct {
        double fraction;
        const char *detail;
        size_t width;
        const char *expected;
    } rows[] = {
        {0.5, "6 of 12", 80, "[############            ]  50 %  6 of 12"},
        {0, "", 80, "[                        ]   0 %  "},
        {1.5, "done", 80, "[########################] 100 %  done"},
        {-1, "odd", 80, "[                        ]   0 %  odd"},
        {0.5, "6 of 12 visits", 20, " 50 %  6 of 12 vis.."},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct pdnn_str out = {0};
        pdnn_progress_line(&out, rows[i].fraction, rows[i].detail, rows[i].width);
        assert_string_equal(pdnn_str_text(&out), rows[i].expected);
        pdnn_str_finish(&out);
    }
}

static void test_duration_format_cases(void **state) {
    (void)state;
    static const struct {
        double seconds;
        const char *expected;
    } rows[] = {{0.2, "0 s"},   {41.4, "41 s"},    {119, "119 s"},
                {120, "2 min"}, {7100, "118 min"}, {7500, "2 h 05 min"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char buffer[PDNN_DURATION_TEXT];
        assert_string_equal(pdnn_duration_format(buffer, rows[i].seconds), rows[i].expected);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_progress_line_cases),
        cmocka_unit_test(test_duration_format_cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
