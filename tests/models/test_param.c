/* Parameter rows: lists, text to values and back, and what is refused. */
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

static const struct pdnn_param_def decimal = {
    .name = "d", .type = PDNN_PARAM_DECIMAL, .min = 100000, .max = 4000000, .unit = "px"};
static const struct pdnn_param_def any_decimal = {
    .name = "a", .type = PDNN_PARAM_DECIMAL, .max = PDNN_DECIMAL_MAX, .word = "same", .word_value = -1};

static struct pdnn_value list_of(int n, int64_t a, int64_t b, int64_t c, int64_t d, int64_t e) {
    return pdnn_list_make((int64_t[]){a, b, c, d, e}, n);
}

#define ONE(a)              pdnn_value_of(a)
#define TWO(a, b)           list_of(2, a, b, 0, 0, 0)
#define THREE(a, b, c)      list_of(3, a, b, c, 0, 0)
#define FOUR(a, b, c, d)    list_of(4, a, b, c, d, 0)
#define FIVE(a, b, c, d, e) list_of(5, a, b, c, d, e)

static void assert_same(struct pdnn_value a, struct pdnn_value b) {
    assert_true(pdnn_value_equal(a, b));
}

static void test_list_make_keeps_every_number(void **state) {
    (void)state;
    static const int64_t ends[] = {0, 1, PDNN_LIST_NUMBER_MAX};
    for (int n = 1; n <= PDNN_LIST_MAX; n++) {
        for (int code = 0; code < 243; code++) {
            int64_t numbers[PDNN_LIST_MAX];
            for (int i = 0, rest = code; i < PDNN_LIST_MAX; i++, rest /= 3)
                numbers[i] = ends[rest % 3];
            struct pdnn_value made = pdnn_list_make(numbers, n);
            assert_int_equal(pdnn_list_length(made), n);
            for (int i = 0; i < PDNN_LIST_MAX + 2; i++)
                assert_int_equal(pdnn_list_at(made, i), numbers[i < n ? i : n - 1]);
        }
    }
}

static void test_list_of_one_number_is_that_number(void **state) {
    (void)state;
    static const int64_t numbers[] = {0, 1, 7, PDNN_LIST_NUMBER_MAX};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        assert_same(pdnn_list_make(&numbers[i], 1), pdnn_value_of(numbers[i]));
    assert_false(pdnn_value_equal(TWO(7, 0), ONE(7)));
}

static void test_list_words_are_no_lists(void **state) {
    (void)state;
    assert_int_equal(pdnn_list_length(ONE(-1)), 0);
    assert_int_equal(pdnn_list_at(ONE(-1), 0), -1);
    assert_int_equal(pdnn_list_at(ONE(-1), 3), -1);
}

static void test_parse_values(void **state) {
    (void)state;
    const struct {
        const struct pdnn_param_def *def;
        const char *text;
        struct pdnn_value value;
    } rows[] = {
        {&number, "1", ONE(1)},
        {&number, "64", ONE(64)},
        {&number, "all", ONE(0)},
        {&choice, "tanh", ONE(1)},
        {&list, "0", ONE(0)},
        {&list, "99999", ONE(99999)},
        {&list, "0-0", TWO(0, 0)},
        {&list, "3-4-6-3", FOUR(3, 4, 6, 3)},
        {&list, "99999-99999-99999-99999-99999", FIVE(99999, 99999, 99999, 99999, 99999)},
        {&named, "same", ONE(-1)},
        {&named, "64-1", TWO(64, 1)},
        {&decimal, "0.1", ONE(100000)},
        {&decimal, "1", ONE(1000000)},
        {&decimal, "3.999999", ONE(3999999)},
        {&decimal, "1.05", ONE(1050000)},
        {&decimal, "1.005", ONE(1005000)},
        {&any_decimal, "0", ONE(0)},
        {&any_decimal, "0.000001", ONE(1)},
        {&any_decimal, "999999999", ONE(PDNN_DECIMAL_MAX)},
        {&any_decimal, "123456789.012345", ONE(123456789012345)},
        {&any_decimal, "same", ONE(-1)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char buffer[PDNN_PARAM_TEXT];
        struct pdnn_value value = ONE(12345);
        assert_int_equal(pdnn_param_parse(rows[i].def, rows[i].text, &value, NULL), PDNN_OK);
        assert_same(value, rows[i].value);
        assert_string_equal(pdnn_param_format(rows[i].def, value, buffer), rows[i].text);
    }
}

/* An id has the shortest text. */
static void test_parse_decimals_otherwise_written(void **state) {
    (void)state;
    static const char *const rows[][2] = {{"0.50", "0.5"},        {"1.0", "1"},    {"0.5px", "0.5"},
                                          {"0.500000000", "0.5"}, {"5e-1", "0.5"}, {"0.0005k", "0.5"},
                                          {"00.5", "0.5"},        {"1.", "1"},     {"+2", "2"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char buffer[PDNN_PARAM_TEXT];
        struct pdnn_value value;
        assert_int_equal(pdnn_param_parse(&decimal, rows[i][0], &value, NULL), PDNN_OK);
        assert_string_equal(pdnn_param_format(&decimal, value, buffer), rows[i][1]);
    }
}

/* Tables and `where` calculate with doubles: those of texts. */
static void test_decimals_are_the_doubles_of_their_texts(void **state) {
    (void)state;
    static const int64_t numbers[] = {0, 1, 100000, 300000, 700001, 123456789012345, PDNN_DECIMAL_MAX - 1};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char buffer[PDNN_PARAM_TEXT];
        double value;
        assert_true(pdnn_parse_double(pdnn_param_format_number(&decimal, numbers[i], buffer), &value));
        assert_true(value == pdnn_param_double(&decimal, numbers[i]));
    }
    assert_true(pdnn_param_double(&number, 7) == 7);
}

static void test_suggest_rows(void **state) {
    (void)state;
    static const char *const names[] = {"layers", "nodes", "hidden", "length", "f16"};
    static const char *const rows[][2] = {
        {"num_layers", ", did you mean 'layers'?"},
        {"Seq-Len", ", did you mean 'length'?"},
        {"HiddenSize", ", did you mean 'hidden'?"},
        {"units", ", did you mean 'nodes'?"}, /* or hidden: the first that is there */
        {"float16", ", did you mean 'f16'?"},
        {"noeds", ", did you mean 'nodes'?"},
        {"bfloat16", ""},
        {"completely else", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char buffer[PDNN_SUGGESTION_TEXT];
        assert_string_equal(pdnn_param_suggest(buffer, rows[i][0], names, sizeof names / sizeof *names),
                            rows[i][1]);
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
        {&list, "-3", "l is -3, expected 0 to 99999"},
        {&list, "100000", "l is 100000, expected 0 to 99999"},
        {&list, "1-x-2", "'1-x-2': l is 'x', expected a whole number"},
        {&list, "1--2", "'1--2': l is '', expected a whole number"},
        {&list, "1-2-", "'1-2-': l is '', expected a whole number"},
        {&list, "-1-2", "'-1-2': l is '', expected a whole number"},
        {&list, "1-2-3-4-5-6", "l is '1-2-3-4-5-6', expected up to 5 numbers"},
        {&list, "1-100000", "'1-100000': l is 100000, expected 0 to 99999"},
        {&list, "1-99999999999999999999999999",
         "'1-99999999999999999999999999': l is '99999999999999999999999', expected a whole number"},
        {&named, "0-3", "'0-3': p is 0, expected 1 to 64"},
        {&decimal, "9", "d is 9, expected 0.1 to 4"},
        {&decimal, "0.099999", "d is 0.099999, expected 0.1 to 4"},
        {&decimal, "-0.5", "d is -0.5, expected 0.1 to 4"},
        {&decimal, "-1.5", "d is -1.5, expected 0.1 to 4"},
        {&decimal, ".5", "d is '.5', expected a number"},
        {&decimal, "half", "d is 'half', expected a number"},
        {&decimal, "", "d is '', expected a number"},
        {&decimal, "1.2-1.3", "d is '1.2-1.3', expected a number"},
        {&decimal, "0.1234567", "d is '0.1234567', expected at most 6 digits behind the point"},
        {&decimal, "1e-7", "d is '1e-7', expected at most 6 digits behind the point"},
        {&decimal, "1e40", "d is '1e40', which is too large, expected 0.1 to 4"},
        {&decimal, "0.5..2",
         "d is '0.5..2', expected a number; a range is {from: 0.5, to: 2, times: 2}, or plus"},
        {&any_decimal, "smae", "a is 'smae', expected a number or 'same'"},
        {&any_decimal, "1000000000", "a is 1000000000, expected 0 to 999999999"},
        {&named, "smae", "p is 'smae', expected a whole number, a list such as 3-4-6-3 or 'same'"},
        {&named, "same-3", "'same-3': p is 'same', expected a whole number"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_err err = {0};
        struct pdnn_value value = ONE(12345);
        assert_int_equal(pdnn_param_parse(rows[i].def, rows[i].text, &value, &err), PDNN_INVALID);
        assert_string_equal(err.text, rows[i].message);
        assert_same(value, ONE(12345));
        assert_int_equal(pdnn_param_parse(rows[i].def, rows[i].text, &value, NULL), PDNN_INVALID);
    }
}

/* Every number is a name, and a name is one number: also the names of 11 letters that differ least. */
static void test_names_pack(void **state) {
    static const char *const names[] = {"a",           "_",           "aa",          "z.",
                                        "3.7-rc1",     "onednn-v3.7", "aaaaaaaaaaa", "aaaaaaaaaab",
                                        "___________", "__________-", "-",           "0"};
    static const char *const others[] = {"",    "aaaaaaaaaaaa", "A",   "a b",     "a,b",
                                         "a=b", "a/b",          "a:b", "\xc3\xa4"};
    const struct pdnn_param_def def = {PDNN_ROW_NAME("library", "default")};
    int64_t packed[sizeof names / sizeof *names], packed_now;
    char text[PDNN_NAME_LENGTH + 1], buffer[PDNN_PARAM_TEXT];
    struct pdnn_value value;
    struct pdnn_err err;
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_true(pdnn_name_pack(names[i], &packed[i]));
        assert_true(packed[i] > 0 && packed[i] <= PDNN_NAME_MAX);
        assert_string_equal(pdnn_name_unpack(packed[i], text), names[i]);
        for (size_t k = 0; k < i; k++)
            assert_true(packed[k] != packed[i]);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_false(pdnn_name_pack(others[i], &packed_now));
        assert_int_equal(pdnn_param_parse(&def, others[i], &value, &err), PDNN_INVALID);
        assert_non_null(
            strstr(err.text, "expected 'default' or a name of 1 to 11 of a-z, 0-9, '.', '-' and '_'"));
    }
    for (packed_now = 1; packed_now < 100000; packed_now += 7) {
        int64_t again;
        assert_true(pdnn_name_pack(pdnn_name_unpack(packed_now, text), &again));
        assert_true(again == packed_now);
    }
    assert_string_equal(pdnn_name_unpack(0, text), "");
    assert_string_equal(pdnn_name_unpack(PDNN_NAME_MAX, text), "___________");
    assert_int_equal(pdnn_param_parse(&def, "default", &value, &err), PDNN_OK);
    assert_int_equal(value.number, 0);
    assert_string_equal(pdnn_param_format(&def, value, buffer), "default");
    assert_int_equal(pdnn_param_parse(&def, "new.1", &value, &err), PDNN_OK);
    assert_string_equal(pdnn_param_format(&def, value, buffer), "new.1");
}

static void test_check_number(void **state) {
    (void)state;
    /* The word's value is not a number to calculate with. */
    assert_int_equal(pdnn_param_check_number(&number, 0, NULL), PDNN_INVALID);
    assert_int_equal(pdnn_param_check_number(&named, -1, NULL), PDNN_INVALID);
    assert_int_equal(pdnn_param_check_number(&number, 1, NULL), PDNN_OK);
    assert_int_equal(pdnn_param_check_number(&number, 64, NULL), PDNN_OK);
    assert_int_equal(pdnn_param_check_number(&number, 65, NULL), PDNN_INVALID);
}

static void test_list_take_and_trim(void **state) {
    (void)state;
    assert_same(pdnn_list_take(ONE(7), 1), ONE(7));
    assert_same(pdnn_list_take(ONE(7), 3), THREE(7, 7, 7));
    assert_same(pdnn_list_take(THREE(1, 0, 2), 2), TWO(1, 0));
    assert_same(pdnn_list_take(TWO(1, 0), 5), FIVE(1, 0, 0, 0, 0));
    assert_same(pdnn_list_take(ONE(-1), 2), ONE(-1));
    assert_same(pdnn_list_trim(ONE(7), 1), ONE(7));
    assert_same(pdnn_list_trim(ONE(7), 2), ONE(7));
    assert_same(pdnn_list_trim(THREE(7, 7, 7), 1), ONE(7));
    assert_same(pdnn_list_trim(THREE(7, 7, 7), 2), TWO(7, 7));
    assert_same(pdnn_list_trim(FIVE(7, 7, 5, 5, 5), 1), THREE(7, 7, 5));
    assert_same(pdnn_list_trim(TWO(0, 0), 1), ONE(0));
    assert_same(pdnn_list_trim(ONE(-1), 1), ONE(-1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list_make_keeps_every_number),
        cmocka_unit_test(test_list_of_one_number_is_that_number),
        cmocka_unit_test(test_list_words_are_no_lists),
        cmocka_unit_test(test_list_take_and_trim),
        cmocka_unit_test(test_parse_values),
        cmocka_unit_test(test_parse_decimals_otherwise_written),
        cmocka_unit_test(test_decimals_are_the_doubles_of_their_texts),
        cmocka_unit_test(test_suggest_rows),
        cmocka_unit_test(test_parse_errors),
        cmocka_unit_test(test_names_pack),
        cmocka_unit_test(test_check_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
