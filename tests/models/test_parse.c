/* Expressions as people write them: the trees they make, and what each mistake is told. */
#include "models/expression/parse.h"
#include "tests/cmocka_all.h"

#include <string.h>

/* The prefix text, or the message behind "place: ". Borrowed until the next call. */
static const char *parse(const char *text, const struct pdnn_bare_words *bare) {
    static char result[PDNN_ERR_TEXT + 32];
    struct pdnn_arena arena = {0};
    struct pdnn_str out = {0};
    struct pdnn_err err = {0};
    const struct pdnn_expression *tree = NULL;
    size_t place = 0;
    if (pdnn_expression_parse(text, 0, bare, &arena, &tree, &place, &err) == PDNN_OK) {
        pdnn_expression_write(tree, &out);
        snprintf(result, sizeof result, "%s", pdnn_str_text(&out));
    } else {
        assert_int_equal(err.status, PDNN_INVALID);
        assert_null(tree);
        assert_true(place <= strlen(text));
        snprintf(result, sizeof result, "%zu: %s", place, err.text);
    }
    pdnn_str_finish(&out);
    pdnn_arena_finish(&arena);
    return result;
}

static void check_rows(const char *const rows[][2], size_t count, const struct pdnn_bare_words *bare) {
    for (size_t i = 0; i < count; i++) {
        const char *found = parse(rows[i][0], bare);
        if (strcmp(found, rows[i][1]) != 0)
            fail_msg("'%s' is\n%s, expected\n%s", rows[i][0], found, rows[i][1]);
    }
}

static void test_parse_trees(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"width * 8 + 1", "(+ (* width 8) 1)"},
        {"1 + width * 8", "(+ 1 (* width 8))"},
        {"a - b - c", "(- (- a b) c)"},
        {"a - (b - c)", "(- a (- b c))"},
        {"a / b / c * d", "(* (/ (/ a b) c) d)"},
        {"a ^ b ^ c", "(^ a (^ b c))"},
        {"-a ^ -b", "(- (^ a (- b)))"},
        {"- - +a", "(- (- a))"},
        {"a or b and c", "(or a (and b c))"},
        {"a || b && c || d", "(or (or a (and b c)) d)"},
        {"not a == b and c", "(and (not (== a b)) c)"},
        {"not not a", "(not (not a))"},
        {"1 + not a + b or c", "(or (+ 1 (not (+ a b))) c)"},
        {"a == not b", "(== a (not b))"},
        {"a<=b", "(<= a b)"},
        {"a>=b", "(>= a b)"},
        {"a<b", "(< a b)"},
        {"a>b", "(> a b)"},
        {"a!=b", "(!= a b)"},
        {"a ? b : c ? d : e", "(? a b (? c d e))"},
        {"a ? b ? c : d : e", "(? a (? b c d) e)"},
        {"a < b ? c < d : e < f", "(? (< a b) (< c d) (< e f))"},
        {"min(a, max(b), c)", "(min a (max b) c)"},
        {"divisible (32 * width, 8)", "(divisible (* 32 width) 8)"},
        {"min", "min"},
        {"[1, 'x', a + b]", "(list 1 'x' (+ a b))"},
        {"blocks[g + 1]", "([] blocks (+ g 1))"},
        {"[1, 2][0]", "([] (list 1 2) 0)"},
        {"skip[i].channels * 2", "(* (.channels ([] skip i)) 2)"},
        {"x.height[0] . width", "(.width ([] (.height x) 0))"},
        {"(a)", "a"},
        {"'3x3'", "'3x3'"},
        {"\"it's\" == a", "(== \"it's\" a)"},
        {"8GiB", "8589934592"},
        {"1.5KiB + 3KB + 2MB + 1GB + 1MiB", "(+ (+ (+ (+ 1536 3000) 2000000) 1000000000) 1048576)"},
        {".25 + 1. + 1e3 + 1E-2", "(+ (+ (+ 1/4 1) 1000) 1/100)"},
        {"1e30", "1e30"},
        {" \t\r\n a\n", "a"},
        {"nothing or ands", "(or nothing ands)"},
    };
    check_rows(rows, sizeof rows / sizeof *rows, NULL);
}

static void test_parse_mistakes(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"", "0: ends too early"},
        {"  ", "2: ends too early"},
        {"a +", "3: ends too early"},
        {"a + ", "4: ends too early"},
        {"a ? b", "5: expected ':' at the end"},
        {"divisible(32 * width", "20: expected ')' at the end"},
        {"blocks[1", "8: expected ']' at the end"},
        {"(a b)", "3: expected ')' before 'b)'"},
        {"[a b]", "3: expected ']' before 'b]'"},
        {"a b", "2: does not parse at 'b'"},
        {"a) + 1", "1: does not parse at ') + 1'"},
        {"min(1,)", "6: does not parse at ')'"},
        {"[]", "1: does not parse at ']'"},
        {"> a", "0: does not parse at '> a'"},
        {"and a", "0: does not parse at 'and a'"},
        {"a == == b", "5: does not parse at '== b'"},
        {"(a // 2)", "3: does not parse at '// 2)', write floor(a / b)"},
        {"kernel // 2", "7: does not parse at '// 2', write floor(a / b)"},
        {"a ** 2", "2: does not parse at '** 2', write a ^ b"},
        {"a % 2", "2: does not parse at '% 2', write mod(a, b)"},
        {"a = 2", "2: does not parse at '= 2', compare with '=='"},
        {"!a", "0: does not parse at '!a', write not"},
        {"a & b", "2: does not parse at '& b', write and"},
        {"a | b", "2: does not parse at '| b', write or"},
        {"a, b", "1: does not parse at ', b', a comma separates what a function or a list takes"},
        {"a < b < c", "6: compares twice, write a < b and b < c"},
        {"a == b == c", "7: compares twice, write a < b and b < c"},
        {"flor(a)", "0: no function 'flor', did you mean 'floor'?"},
        {"1 + sin(a)", "4: no function 'sin', did you mean 'min'?"},
        {"quicksort(a)", "0: no function 'quicksort'"},
        {"min()", "0: min takes 1 argument or more, not 0"},
        {"abs(a, b)", "0: abs takes 1 argument, not 2"},
        {"mod(a)", "0: mod takes 2 arguments, not 1"},
        {"x.channel", "2: no dimension 'channel', did you mean 'channels'?"},
        {"x.depth", "2: no dimension 'depth': an image has images, channels, height and width, others have "
                    "rows and columns"},
        {"x.", "2: ends too early"},
        {"x.3", "2: does not parse at '3'"},
        {"a $ b", "2: does not parse at '$ b'"},
        {"$", "0: has '$', which means nothing here"},
        {"\xc3\xa9", "0: has '?', which means nothing here"},
        {"3x3", "0: expected a number such as 64, 1e9, 100MB or 8GiB, but got '3x3'"},
        {"8GIB", "0: expected a number such as 64, 1e9, 100MB or 8GiB, but got '8GIB'"},
        {"1.2.3", "0: expected a number such as 64, 1e9, 100MB or 8GiB, but got '1.2.3'"},
        {"1e400", "0: expected a number such as 64, 1e9, 100MB or 8GiB, but got '1e400'"},
        {"1e18KB", "0: expected a number such as 64, 1e9, 100MB or 8GiB, but got '1e18KB'"},
        {".", "0: expected a number such as 64, 1e9, 100MB or 8GiB, but got '.'"},
        {"'a", "0: the word that begins with ' has no end"},
        {"'a\nb'", "0: a word stands on one line and has letters that one can see"},
        {"a aaaaaaaaaaaaaaaaaaaaaaaaaaaaa\xc3\xa9", "2: does not parse at 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaa'"},
    };
    check_rows(rows, sizeof rows / sizeof *rows, NULL);
}

/* For a name that begins with w, letters, digits and hyphens. */
static size_t word_length(const void *context, const char *name, const char *text) {
    assert_string_equal(context, "context");
    return *name == 'w' ? strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") : 0;
}

static void test_parse_bare_words(void **state) {
    (void)state;
    static const struct pdnn_bare_words bare = {word_length, "context"};
    static const char *const rows[][2] = {
        {"w == bert-base and a == 2-3", "(and (== w 'bert-base') (== a (- 2 3)))"},
        {"not w != 3x3", "(not (!= w '3x3'))"},
        {"w < 3-4", "(< w '3-4')"},
        {"w == (a)", "(== w a)"},
        {"w + w == a", "(== (+ w w) a)"},
        {"a == w", "(== a w)"},
        {"w - a", "(- w a)"},
        {"a == 3x3", "5: expected a number such as 64, 1e9, 100MB or 8GiB, but got '3x3'"},
    };
    check_rows(rows, sizeof rows / sizeof *rows, &bare);
}

/* However deep, it is refused without a crash. */
static void test_parse_depth(void **state) {
    (void)state;
    static const char *const units[] = {"-", "2^", "1?", "not ", "(", "[", "a[", "abs(", "(1?", "a+"};
    static char text[300000];
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t length = strlen(units[i]);
        for (size_t k = 0; k < 40000; k++)
            memcpy(text + k * length, units[i], length);
        memcpy(text + 40000 * length, "a", 2);
        assert_non_null(strstr(parse(text, NULL), ": nests deeper than 256 levels"));
        memcpy(text + 120 * length, "a", 2);
        assert_null(strstr(parse(text, NULL), ": nests deeper than 256 levels"));
    }
}

static void test_parse_offsets(void **state) {
    (void)state;
    struct pdnn_arena arena = {0};
    const struct pdnn_expression *tree = NULL;
    size_t place;
    assert_int_equal(pdnn_expression_parse("(a * 'b') + min(c)", 100, NULL, &arena, &tree, &place, NULL),
                     PDNN_OK);
    assert_int_equal(tree->offset, 110);
    assert_int_equal(tree->operands[0]->offset, 103);
    assert_int_equal(tree->operands[0]->operands[0]->offset, 101);
    assert_int_equal(tree->operands[0]->operands[1]->offset, 105);
    assert_int_equal(tree->operands[1]->offset, 112);
    assert_int_equal(tree->operands[1]->operands[0]->offset, 116);
    pdnn_arena_finish(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_trees),      cmocka_unit_test(test_parse_mistakes),
        cmocka_unit_test(test_parse_bare_words), cmocka_unit_test(test_parse_depth),
        cmocka_unit_test(test_parse_offsets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
