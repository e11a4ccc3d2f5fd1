/* Distinct texts: numbered in order, each stored once, the last one removable, whatever the table's size. */
#include "tests/cmocka_all.h"

#include "base/texts.h"

#include <stdint.h>
#include <stdio.h>

enum { MANY = 1000 };

static const char *name(char buffer[16], int number) {
    snprintf(buffer, 16, "text%d", number);
    return buffer;
}

static void test_texts_add_numbers_in_order(void **state) {
    (void)state;
    struct pdnn_texts texts = {.count = 0};
    char buffer[16];
    assert_true(pdnn_texts_find(&texts, "") == SIZE_MAX);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MANY; i++)
            assert_int_equal(pdnn_texts_add(&texts, name(buffer, i)), i);
    }
    assert_int_equal(texts.count, MANY);
    for (int i = 0; i < MANY; i++)
        assert_string_equal(texts.text[pdnn_texts_find(&texts, name(buffer, i))], buffer);
    assert_true(pdnn_texts_find(&texts, "text") == SIZE_MAX);
    pdnn_texts_finish(&texts);
    assert_int_equal(texts.count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_add_numbers_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
