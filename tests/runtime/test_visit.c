/* The words of a visit, to text and back. */
#include "tests/cmocka_all.h"

#include "runtime/protocol/visit.h"

#include <stdlib.h>
#include <string.h>

static void test_outcome_find_inverts_name(void **state) {
    (void)state;
    for (int i = 0; i < PDNN_OUTCOME_COUNT; i++)
        assert_int_equal(pdnn_outcome_find(pdnn_outcome_name((enum pdnn_outcome)i)), i);
    static const char *const strangers[] = {"", "OK", "o", "oom_", "fine"};
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++)
        assert_int_equal(pdnn_outcome_find(strangers[i]), PDNN_OUTCOME_COUNT);
    assert_string_equal(pdnn_outcome_name(PDNN_OUTCOME_OOM_PREDICTED), "oom_predicted");
}

static void test_flags_parse_inverts_format(void **state) {
    (void)state;
    char text[PDNN_FLAGS_TEXT];
    for (unsigned flags = 0; flags < 1u << PDNN_FLAG_COUNT; flags++) {
        assert_ptr_equal(pdnn_flags_format(flags, text), text);
        assert_true(strlen(text) < PDNN_FLAGS_TEXT - 1);
        assert_int_equal(pdnn_flags_parse(text), flags);
    }
}

static void test_flags_words(void **state) {
    (void)state;
    char text[PDNN_FLAGS_TEXT];
    assert_string_equal(pdnn_flags_format(0, text), "");
    assert_string_equal(pdnn_flags_format(PDNN_FLAG_ABOVE_ROOF | PDNN_FLAG_NOISY, text), "above_roof|noisy");
    assert_string_equal(pdnn_flags_format(PDNN_FLAG_THROTTLED, text), "throttled");
    static const struct {
        const char *text;
        unsigned flags;
    } rows[] = {{"", 0},
                {"ref|", PDNN_FLAG_REF},
                {"|short", PDNN_FLAG_SHORT},
                {"unheard-of|drift", PDNN_FLAG_DRIFT},
                {"noisyx|preempted", PDNN_FLAG_PREEMPTED}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(pdnn_flags_parse(rows[i].text), rows[i].flags);
}

static void check_explained(const struct pdnn_word *words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        assert_true(words[i].meaning && *words[i].meaning);
        assert_non_null(words[i].remedy);
    }
    assert_null(words[count].name);
}

static void test_words_are_explained(void **state) {
    (void)state;
    check_explained(pdnn_outcome_words, PDNN_OUTCOME_COUNT);
    check_explained(pdnn_stop_words, PDNN_STOP_COUNT);
    check_explained(pdnn_flag_words, PDNN_FLAG_COUNT);
    for (int i = PDNN_OUTCOME_OK + 1; i < PDNN_OUTCOME_COUNT; i++)
        assert_true(*pdnn_outcome_words[i].remedy);
    for (int i = 0; i < PDNN_FLAG_COUNT; i++)
        assert_true(*pdnn_flag_words[i].remedy);
}

static void test_visit_finish_twice(void **state) {
    (void)state;
    struct pdnn_visit visit = {.n_ops = 2, .ops = calloc(2, sizeof *visit.ops)};
    pdnn_visit_finish(&visit);
    assert_null(visit.ops);
    assert_int_equal(visit.n_ops, 0);
    pdnn_visit_finish(&visit);
    pdnn_visit_finish(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outcome_find_inverts_name),
        cmocka_unit_test(test_flags_parse_inverts_format),
        cmocka_unit_test(test_flags_words),
        cmocka_unit_test(test_visit_finish_twice),
        cmocka_unit_test(test_words_are_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
