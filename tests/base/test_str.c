/* Text that grows, and what a misspelt, abbreviated or capitalized word probably means. */
#include "tests/cmocka_all.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

/* Both what fits the room that there is and what does not, of lengths around it. */
static void test_printf_appends(void **state) {
    (void)state;
    for (int width = 0; width < 200; width++) {
        struct pdnn_str str = {0};
        for (int i = 0; i < 3; i++)
            pdnn_str_printf(&str, "%*s%d", width, "", i);
        assert_int_equal(str.length, 3 * (width + 1));
        assert_int_equal(strlen(str.text), str.length);
        for (int i = 0; i < 3; i++)
            assert_int_equal(str.text[i * (width + 1) + width], '0' + i);
        pdnn_str_finish(&str);
    }
}

static void test_suggest_rows(void **state) {
    (void)state;
    static const char *const words[] = {"layers",     "layers_run", "nodes",    "bert-base",
                                        "bert-large", "resnet101",  "resnet18", "resnet50",
                                        "bert-base",  "hidden",     "length",   "f16"};
    static const char *const rows[][2] = {
        {"layer", ", did you mean 'layers'?"},
        {"Layers", ", did you mean 'layers'?"},
        {"noeds", ", did you mean 'nodes'?"},
        {"resnet-50", ", did you mean 'resnet50'?"},
        {"ResNet_50", ", did you mean 'resnet50'?"},
        {"res.net 101", ", did you mean 'resnet101'?"},
        {"BERT_large", ", did you mean 'bert-large'?"},
        {"layersrun", ", did you mean 'layers_run'?"},
        {"resmet-50", ", did you mean 'resnet50'?"},
        {"resnet-81", ""},
        {"resnet-05", ""},
        {"resnet", ", did you mean 'resnet101', 'resnet18' or 'resnet50'?"},
        {"res-net", ", did you mean 'resnet101', 'resnet18' or 'resnet50'?"},
        {"f61", ""},
        {"ResNet50", ", did you mean 'resnet50'?"},
        {"bert", ", did you mean 'bert-base' or 'bert-large'?"},
        {"BERT", ", did you mean 'bert-base' or 'bert-large'?"},
        {"hidden_size", ", did you mean 'hidden'?"},
        {"HiddenSize", ", did you mean 'hidden'?"},
        {"nodes_per_layer", ", did you mean 'nodes'?"},
        {"be", ""},
        {"units", ""},
        {"completely else", ""},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char buffer[PDNN_SUGGESTION_TEXT];
        assert_string_equal(pdnn_suggest(buffer, rows[i][0], words, sizeof words / sizeof *words),
                            rows[i][1]);
    }
}

/* No word is the same as one of punctuation alone, and of long ones nothing is known beyond the first
 * letters. */
static void test_word_is_same(void **state) {
    (void)state;
    static const char sixty[] = "0123456789-0123456789-0123456789-0123456789-0123456789-0123456789";
    char a[sizeof sixty + 8], b[sizeof sixty + 8];
    assert_true(pdnn_word_is_same("GPT-2 XL", "gpt2_xl"));
    assert_true(pdnn_word_is_same(sixty, sixty));
    assert_false(pdnn_word_is_same("gpt2", "gpt2-xl"));
    assert_false(pdnn_word_is_same("gpt2-xl", "gpt2"));
    assert_false(pdnn_word_is_same("--", "__"));
    assert_false(pdnn_word_is_same("", ""));
    snprintf(a, sizeof a, "%sabcde", sixty);
    snprintf(b, sizeof b, "%sabcdx", sixty);
    assert_false(pdnn_word_is_same(a, b));
    assert_null(pdnn_nearest_word(a, (const char *const[]){b}, 1));
}

/* Words of any length, as many as there are, never overrun the text. */
static void test_suggest_long_words(void **state) {
    (void)state;
    static const char *const words[] = {
        "abc-0123456789-0123456789-01", "abc-9876543210-9876543210-98", "abc-5555555555-5555555555-55",
        "abc-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789"};
    char buffer[PDNN_SUGGESTION_TEXT];
    assert_string_equal(pdnn_suggest(buffer, "abc", words, sizeof words / sizeof *words),
                        ", did you mean 'abc-0123456789-0123456789-01' or 'abc-9876543210-9876543210-98'?");
    assert_string_equal(pdnn_suggest(buffer, "abc", words + 3, 1), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_printf_appends),
        cmocka_unit_test(test_suggest_rows),
        cmocka_unit_test(test_word_is_same),
        cmocka_unit_test(test_suggest_long_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
