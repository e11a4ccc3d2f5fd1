/* Parameter rows: packed lists, texts to values and back, and what is refused. */
#include "models/param.h"
#include "tests/cmocka_all.h"

#include <stdio.h>
#include <string.h>

static const char *const words[] = {"relu", "tanh", NULL};
static const struct pdnn_param_def number = {.name = "n", .min = 1, .max = 64, .word = "all"};
static const struct pdnn_param_def choice = {.name = "c", .type = PDNN_PARAM_CHOICE, .choices = words};
static const struct pdnn_param_def list = {.name = "l", .type = PDNN_PARAM_LIST, .max = PDNN_LIST_NUMBER_MAX};
static const struct pdnn_param_def named = {
    .name = "p", .type = PDNN_PARAM_LIST, .min = 1, .max = 64, .word = "same", .word_value = -1};

static void test_list_pack_extremes(void **state) {
    (void)state;
    static const int64_t ends[] = {0, 1, PDNN_LIST_NUMBER_MAX};
    for (int n = 1; n <= PDNN_LIST_MAX; n++) {
        for (int code = 0; code < 243; code++) {
            int64_t numbers[PDNN_LIST_MAX];
            for (int i = 0, rest = code; i < PDNN_LIST_MAX; i++, rest /= 3)
                numbers[i] = ends[rest % 3];
            int64_t packed = pdnn_list_pack(numbers, n);
            assert_true(packed >= 0);
            assert_int_equal(pdnn_list_length(packed), n);
            for (int i = 0; i < PDNN_LIST_MAX + 2; i++)
                assert_int_equal(pdnn_list_at(packed, i), numbers[i < n ? i : n - 1]);
        }
    }
}

static void test_list_one_number_is_itself(void **state) {
    (void)state;
    for (int64_t i = 0; i <= PDNN_LIST_NUMBER_MAX; i++)
        assert_int_equal(pdnn_list_pack(&i, 1), i);
}

static void test_list_macros_pack(void **state) {
    (void)state;
    static const int64_t made[] = {PDNN_LIST2(3, 4), PDNN_LIST3(3, 4, 6), PDNN_LIST4(3, 4, 6, 0),
                                   PDNN_LIST5(3, 4, 6, 0, PDNN_LIST_NUMBER_MAX)};
    static const int64_t numbers[] = {3, 4, 6, 0, PDNN_LIST_NUMBER_MAX};
    for (int n = 2; n <= PDNN_LIST_MAX; n++)
        assert_int_equal(made[n - 2], pdnn_list_pack(numbers, n));
}

static void test_list_words_are_no_lists(void **state) {
    (void)state;
    assert_int_equal(pdnn_list_length(-1), 0);
    assert_int_equal(pdnn_list_at(-1, 0), -1);
    assert_int_equal(pdnn_list_at(-1, 3), -1);
}

static void test_parse_values(void **state) {
    (void)state;
    static const struct {
        const struct pdnn_param_def *def;
        const char *text;
        int64_t value;
    } rows[] = {
        {&number, "1", 1},
        {&number, "64", 64},
        {&number, "all", 0},
        {&choice, "tanh", 1},
        {&list, "0", 0},
        {&list, "5998", 5998},
        {&list, "0-0", PDNN_LIST2(0, 0)},
        {&list, "3-4-6-3", PDNN_LIST4(3, 4, 6, 3)},
        {&list, "5998-5998-5998-5998-5998", PDNN_LIST5(5998, 5998, 5998, 5998, 5998)},
        {&named, "same", -1},
        {&named, "64-1", PDNN_LIST2(64, 1)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char buffer[PDNN_PARAM_TEXT];
        int64_t value = 12345;
        assert_int_equal(pdnn_param_parse(rows[i].def, rows[i].text, &value, NULL), PDNN_OK);
        assert_int_equal(value, rows[i].value);
        assert_string_equal(pdnn_param_format(rows[i].def, value, buffer), rows[i].text);
        assert_int_equal(pdnn_param_check(rows[i].def, value, NULL), PDNN_OK);
    }
}

static void test_parse_errors(void **state) {
    (void)state;
    static const struct {
        const struct pdnn_param_def *def;
        const char *text, *message;
    } rows[] = {
        {&number, "", "n is '', expected a whole number or 'all'"},
        {&number, "3-4", "n is '3-4', expected a whole number or 'all'"},
        {&number, "65", "n is 65, expected 1 to 64"},
        {&choice, "rellu", "c is 'rellu', did you mean 'relu'? (one of: relu, tanh)"},
        {&list, "x", "l is 'x', expected a whole number or a list such as 3-4-6-3"},
        {&list, "-3", "l is -3, expected 0 to 5998"},
        {&list, "5999", "l is 5999, expected 0 to 5998"},
        {&list, "1-x-2", "'1-x-2': l is 'x', expected a whole number"},
        {&list, "1--2", "'1--2': l is '', expected a whole number"},
        {&list, "1-2-", "'1-2-': l is '', expected a whole number"},
        {&list, "-1-2", "'-1-2': l is '', expected a whole number"},
        {&list, "1-2-3-4-5-6", "l is '1-2-3-4-5-6', expected up to 5 numbers"},
        {&list, "1-7000", "'1-7000': l is 7000, expected 0 to 5998"},
        {&list, "1-99999999999999999999999999",
         "'1-99999999999999999999999999': l is '99999999999999999999999', expected a whole number"},
        {&named, "0-3", "'0-3': p is 0, expected 1 to 64"},
        {&named, "smae", "p is 'smae', expected a whole number, a list such as 3-4-6-3 or 'same'"},
        {&named, "same-3", "'same-3': p is 'same', expected a whole number"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_err err = {0};
        int64_t value = 12345;
        assert_int_equal(pdnn_param_parse(rows[i].def, rows[i].text, &value, &err), PDNN_INVALID);
        assert_string_equal(err.text, rows[i].message);
        assert_int_equal(value, 12345);
        assert_int_equal(pdnn_param_parse(rows[i].def, rows[i].text, &value, NULL), PDNN_INVALID);
    }
}

static void test_check_values_that_are_there(void **state) {
    (void)state;
    static const struct {
        const struct pdnn_param_def *def;
        int64_t value;
        enum pdnn_status status;
    } rows[] = {
        {&number, 0, PDNN_OK},
        {&number, 65, PDNN_INVALID},
        {&choice, 1, PDNN_OK},
        {&choice, 2, PDNN_INVALID},
        {&choice, -1, PDNN_INVALID},
        {&list, -1, PDNN_INVALID},
        {&named, -1, PDNN_OK},
        {&named, 0, PDNN_INVALID},
        {&named, PDNN_LIST3(1, 64, 65), PDNN_INVALID},
        {&named, PDNN_LIST3(1, 64, 64), PDNN_OK},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(pdnn_param_check(rows[i].def, rows[i].value, NULL), rows[i].status);
    /* The word's value is no number to count with, and neither is a packed list. */
    assert_int_equal(pdnn_param_check_number(&number, 0, NULL), PDNN_INVALID);
    assert_int_equal(pdnn_param_check_number(&list, PDNN_LIST2(1, 1), NULL), PDNN_INVALID);
}

static void test_list_take_and_trim(void **state) {
    (void)state;
    assert_int_equal(pdnn_list_take(7, 1), 7);
    assert_int_equal(pdnn_list_take(7, 3), PDNN_LIST3(7, 7, 7));
    assert_int_equal(pdnn_list_take(PDNN_LIST3(1, 0, 2), 2), PDNN_LIST2(1, 0));
    assert_int_equal(pdnn_list_take(PDNN_LIST2(1, 0), 5), PDNN_LIST5(1, 0, 0, 0, 0));
    assert_int_equal(pdnn_list_take(-1, 2), -1);
    assert_int_equal(pdnn_list_trim(7, 1), 7);
    assert_int_equal(pdnn_list_trim(7, 2), 7);
    assert_int_equal(pdnn_list_trim(PDNN_LIST3(7, 7, 7), 1), 7);
    assert_int_equal(pdnn_list_trim(PDNN_LIST3(7, 7, 7), 2), PDNN_LIST2(7, 7));
    assert_int_equal(pdnn_list_trim(PDNN_LIST5(7, 7, 5, 5, 5), 1), PDNN_LIST3(7, 7, 5));
    assert_int_equal(pdnn_list_trim(PDNN_LIST2(0, 0), 1), 0);
    assert_int_equal(pdnn_list_trim(-1, 1), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list_pack_extremes), cmocka_unit_test(test_list_one_number_is_itself),
        cmocka_unit_test(test_list_macros_pack),   cmocka_unit_test(test_list_words_are_no_lists),
        cmocka_unit_test(test_list_take_and_trim), cmocka_unit_test(test_parse_values),
        cmocka_unit_test(test_parse_errors),       cmocka_unit_test(test_check_values_that_are_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
