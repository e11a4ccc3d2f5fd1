/* The prefix text of expressions: it reads back to the tree that it was written from, and nothing else reads.
 */
#include "models/expression/expression.h"
#include "tests/cmocka_all.h"

#include <string.h>

/* The tree, or NULL; *rest is what stands behind it. */
static const struct pdnn_expression *read(struct pdnn_arena *arena, const char *text, const char **rest) {
    const struct pdnn_expression *tree = NULL;
    struct pdnn_err err = {0};
    *rest = text;
    if (pdnn_expression_read(rest, arena, &tree, &err) == PDNN_OK)
        return tree;
    assert_int_equal(err.status, PDNN_INVALID);
    assert_int_equal(strncmp(err.text, "not an expression in prefix text, after ", 40), 0);
    assert_ptr_equal(*rest, text);
    return NULL;
}

static void test_read_and_write(void **state) {
    (void)state;
    static const char *const rows[] = {
        "3",
        "-3",
        "3/4",
        "-3/4",
        "0",
        "9223372036854775807",
        "-9223372036854775808",
        "1e30",
        "123e-30",
        "name_2",
        "'3x3'",
        "''",
        "\"it's\"",
        "'caf\xc3\xa9'",
        "(+ (* width 8) 1)",
        "(- 3)",
        "(- 3 x)",
        "(? (and a (not b)) 'same' (list 1 2 'x'))",
        "([] (list 1) 0)",
        "(.channels x)",
        "(.size ([] skip (- depth 1)))",
        "(min 1)",
        "(max 1 2 3 4 5 6 7 8 9)",
        "(divisible (* 1/4 channels) 8)",
        "(or (== a 1) (!= a 2))",
        "(^ 2 (- 1))",
        "(list (<= a b) (>= a b) (< a b) (> a b) (/ a b))",
        "(list (abs a) (mod a b) (floor a) (ceil a) (len a) (sum a) (sqrt a) (exp a) (ln a) (log2 a))",
        "(list (log10 a) (rint a) (.matrices a) (.rows a) (.columns a) (.images a) (.height a) (.width a))",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_arena arena = {0};
        struct pdnn_str out = {0};
        const char *rest;
        const struct pdnn_expression *tree = read(&arena, rows[i], &rest), *again;
        if (!tree || *rest)
            fail_msg("'%s' does not read", rows[i]);
        pdnn_expression_write(tree, &out);
        assert_string_equal(pdnn_str_text(&out), rows[i]);
        again = read(&arena, pdnn_str_text(&out), &rest);
        assert_true(pdnn_expression_is_equal(tree, again));
        assert_int_equal(again->offset, -1);
        pdnn_str_finish(&out);
        pdnn_arena_finish(&arena);
    }
}

static void test_read_stops_behind_it(void **state) {
    (void)state;
    struct pdnn_arena arena = {0};
    const char *rest = "(+ a 1) b 'c'\n";
    const struct pdnn_expression *tree;
    static const char *const rests[] = {" b 'c'\n", " 'c'\n", "\n"};
    for (int i = 0; i < 3; i++) {
        rest += i > 0;
        assert_int_equal(pdnn_expression_read(&rest, &arena, &tree, NULL), PDNN_OK);
        assert_string_equal(rest, rests[i]);
    }
    pdnn_arena_finish(&arena);
}

static void test_read_refuses(void **state) {
    (void)state;
    static const char *const rows[] = {
        "",
        " a",
        "(",
        ")",
        "()",
        "(+",
        "(+ a",
        "(+ a b",
        "(+ a)",
        "(+ a b c)",
        "(- a b c)",
        "(+  a b)",
        "(+ a  b)",
        "(+ a b )",
        "(foo a)",
        "(min)",
        "(list)",
        "(abs a b)",
        "(? a b)",
        "([] a)",
        "(.depth a)",
        "(.rows)",
        "(. a)",
        "(.rows a b)",
        "'a",
        "'a\nb'",
        "'a\tb'",
        "'a\x80'",
        "\"a\"",
        "-",
        "--3",
        "+3",
        "03",
        "-0",
        "3/1",
        "6/4",
        "3/-4",
        "3/0",
        "1/2/3",
        "/3",
        "3/",
        "1e3",
        "10e30",
        "1e+30",
        "1e030",
        "0e30",
        "1e400",
        "1e-400",
        "not",
        "and",
        "(not not)",
        "(+\ta b)",
        "9223372036854775808",
        "-9223372036854775809",
        "1e",
        "(a b)",
        "('min' 1)",
        "\x01",
        "\xff",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_arena arena = {0};
        const char *rest;
        if (read(&arena, rows[i], &rest))
            fail_msg("'%s' was read", rows[i]);
        pdnn_arena_finish(&arena);
    }
}

/* As deep as the limit reads, one deeper and a hundred thousand deeper do not. */
static void test_read_depth(void **state) {
    (void)state;
    static char text[400002];
    static const int depths[] = {PDNN_EXPRESSION_DEPTH - 1, PDNN_EXPRESSION_DEPTH, 100000};
    for (int i = 0; i < 3; i++) {
        struct pdnn_arena arena = {0};
        const char *rest;
        char *at = text;
        for (int k = 0; k < depths[i]; k++, at += 3)
            memcpy(at, "(- ", 3);
        *at++ = 'a';
        memset(at, ')', (size_t)depths[i]);
        at[depths[i]] = 0;
        const struct pdnn_expression *tree = read(&arena, text, &rest);
        assert_int_equal(tree != NULL, i == 0);
        assert_true(i || tree->depth == PDNN_EXPRESSION_DEPTH);
        pdnn_arena_finish(&arena);
    }
}

static void test_is_equal(void **state) {
    (void)state;
    static const char *const rows[] = {
        "a",       "b",       "'a'",     "1",         "1/2",       "1e30",    "2e30",      "(- a)",
        "(- a b)", "(- b a)", "(+ a b)", "(.rows a)", "(.size a)", "(min a)", "(min a b)", "(list a b)"};
    const size_t count = sizeof rows / sizeof *rows;
    struct pdnn_arena arena = {0};
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < count; k++) {
            const char *rest;
            const struct pdnn_expression *a = read(&arena, rows[i], &rest), *b = read(&arena, rows[k], &rest);
            assert_int_equal(pdnn_expression_is_equal(a, b), i == k);
        }
    }
    pdnn_arena_finish(&arena);
}

static void test_make_number(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"0.5", "1/2"},
        {"1.50e2", "150"},
        {"1e30", "1e30"},
        {"100.0e30", "1e32"},
        {"0.0120e-30", "12e-33"},
        {"12345678901234567890", "1234567890123456789e1"},
        {"1.00000000000000000000000001", "100000000000000000000000001e-26"},
        {"1e308", "1e308"},
        {"1e309", NULL},
        {"1e-400", NULL},
        {"-1", NULL},
        {"inf", NULL},
        {"0x1p3", NULL},
        {"1.2.3", NULL},
        {"", NULL},
        {"0.3333333333333333333333333333333333333333333333333333333333",
         "3333333333333333333333333333333333333333333333333333333333e-58"},
        {"0.333333333333333333333333333333333333333333333333333333333333", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_arena arena = {0};
        struct pdnn_str out = {0};
        const struct pdnn_expression *made = pdnn_expression_make_number(&arena, rows[i][0], 7);
        if ((made != NULL) != (rows[i][1] != NULL))
            fail_msg("'%s' was %s", rows[i][0], made ? "taken" : "refused");
        if (made) {
            const char *rest;
            pdnn_expression_write(made, &out);
            assert_string_equal(pdnn_str_text(&out), rows[i][1]);
            assert_int_equal(made->offset, 7);
            const struct pdnn_expression *again = read(&arena, pdnn_str_text(&out), &rest);
            assert_non_null(again);
            assert_true(pdnn_expression_is_equal(made, again) && made->real == again->real);
        }
        pdnn_str_finish(&out);
        pdnn_arena_finish(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_and_write), cmocka_unit_test(test_read_stops_behind_it),
        cmocka_unit_test(test_read_refuses),   cmocka_unit_test(test_read_depth),
        cmocka_unit_test(test_is_equal),       cmocka_unit_test(test_make_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
