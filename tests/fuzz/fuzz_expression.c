/* Expressions, as people write them and as prefix text: what parses is written as prefix text that reads as
 * the same tree, and what reads is written as it was. */
#include "tests/fuzz/common.h"

#include "models/expression/parse.h"

#include <stdlib.h>
#include <string.h>

/* Letters and hyphens behind a name that begins with w. */
static size_t word_length(const void *context, const char *name, const char *text) {
    FUZZ_CHECK(!context);
    return *name == 'w' ? strspn(text, "abcdefghijklmnopqrstuvwxyz-") : 0;
}

static void check_tree(const struct pdnn_expression *tree, struct pdnn_arena *arena) {
    struct pdnn_str out = {0};
    struct pdnn_err err = {0};
    const struct pdnn_expression *again;
    FUZZ_CHECK(tree->depth <= PDNN_EXPRESSION_DEPTH);
    pdnn_expression_write(tree, &out);
    const char *rest = pdnn_str_text(&out);
    FUZZ_CHECK(!strpbrk(rest, "\r\n"));
    fuzz_must(pdnn_expression_read(&rest, arena, &again, &err), &err);
    FUZZ_CHECK(!*rest && pdnn_expression_is_equal(tree, again));
    pdnn_str_finish(&out);
}

static void check_infix(const char *text, const struct pdnn_bare_words *bare, struct pdnn_arena *arena) {
    const struct pdnn_expression *tree;
    struct pdnn_err err = {0};
    size_t place = 0;
    if (fuzz_is_ok(pdnn_expression_parse(text, 1000, bare, arena, &tree, &place, &err), &err))
        check_tree(tree, arena);
    else
        FUZZ_CHECK(place <= strlen(text));
}

static void check_prefix(const char *text, struct pdnn_arena *arena) {
    const struct pdnn_expression *tree;
    struct pdnn_err err = {0};
    struct pdnn_str out = {0};
    const char *rest = text;
    if (fuzz_is_ok(pdnn_expression_read(&rest, arena, &tree, &err), &err)) {
        pdnn_expression_write(tree, &out);
        FUZZ_CHECK(out.length == (size_t)(rest - text) && memcmp(out.text, text, out.length) == 0);
        check_tree(tree, arena);
    }
    pdnn_str_finish(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static const struct pdnn_bare_words bare = {word_length, NULL};
    struct pdnn_arena arena = {0};
    char *text = fuzz_text(bytes, length);
    check_infix(text, NULL, &arena);
    check_infix(text, &bare, &arena);
    check_prefix(text, &arena);
    pdnn_arena_finish(&arena);
    free(text);
    return 0;
}
