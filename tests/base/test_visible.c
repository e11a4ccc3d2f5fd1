#define _POSIX_C_SOURCE 200809L
#include "base/visible.h"
#include "tests/cmocka_all.h"

#include <string.h>

static const struct {
    const char *text, *shown;
} rows[] = {
    {"", ""},
    {"plain ' \" \\ ` text", "plain ' \" \\ ` text"},
    {"\x1b]0;title\x07", "\\x1b]0;title\\x07"},
    {"a\nb\tc\rd\x7f", "a\\nb\\tc\\rd\\x7f"},
    {"10 \xc2\xb5s, \xe2\x82\xac, \xf0\x9f\x98\x80", "10 \xc2\xb5s, \xe2\x82\xac, \xf0\x9f\x98\x80"},
    {"\xc2\x9b[2J", "\\xc2\\x9b[2J"},                        /* a control of Latin-1 */
    {"\xc0\x9b \xe0\x82\x9b", "\\xc0\\x9b \\xe0\\x82\\x9b"}, /* overlong forms of it */
    {"\xed\xa0\x80 \xf4\x90\x80\x80", "\\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80"},
    {"\xe2\x80\x8b"
     "2\xc2\xa0"
     "3\xe2\x80\xae.",
     "\\u200b2\\u00a03\\u202e."},
    {"cut \xe2\x82", "cut \\xe2\\x82"},
};

static void test_visible(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char buffer[PDNN_VISIBLE_TEXT];
        assert_string_equal(pdnn_visible(buffer, rows[i].text), rows[i].shown);
    }
}

static void test_visible_is_the_text_itself(void **state) {
    (void)state;
    char buffer[PDNN_VISIBLE_TEXT];
    assert_ptr_equal(pdnn_visible(buffer, rows[1].text), rows[1].text);
}

static void test_visible_append_keeps_lines(void **state) {
    (void)state;
    struct pdnn_str out = {0};
    pdnn_visible_append(&out, "a\nb\x1b\0c", 6, "\n");
    assert_string_equal(pdnn_str_text(&out), "a\nb\\x1b\\x00c");
    pdnn_str_finish(&out);
}

static void test_visible_cuts(void **state) {
    (void)state;
    char buffer[PDNN_VISIBLE_TEXT], text[2 * PDNN_VISIBLE_TEXT];
    memset(text, '\n', sizeof text);
    text[sizeof text - 1] = 0;
    assert_int_equal(strlen(pdnn_visible(buffer, text)), PDNN_VISIBLE_TEXT - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_visible),
        cmocka_unit_test(test_visible_is_the_text_itself),
        cmocka_unit_test(test_visible_append_keeps_lines),
        cmocka_unit_test(test_visible_cuts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
