/* Families that are too large end with a message, however large they are. */
#include "gen/family/family.h"
#include "models/definition/compile.h"
#include "tests/cmocka_all.h"

#include "base/str.h"

#include <string.h>

enum { LINES = 4200, FEW = 100 };

/* The error of a family with so many entries, each written with its number. */
static void check(const char *format, int entries, const char *expected) {
    struct pdnn_arena arena = {0};
    struct pdnn_err err = {0};
    struct pdnn_str text = {0};
    const struct pdnn_definition *definition;
    const struct pdnn_compiled *compiled;
    pdnn_str_printf(&text, "family: large\naxes: {batch: {default: 1, range: 1..4}}\n"
                           "inputs: {x: {shape: [batch, 3]}}\nops:\n  - from: x\n");
    for (int i = 0; i < entries; i++) {
        const char *number = strchr(format, '#');
        pdnn_str_printf(&text, "%.*s%d%s\n", (int)(number - format), format, i, number + 1);
    }
    if (pdnn_family_parse("large.yaml", text.text, text.length, &arena, &definition, &err) == PDNN_OK)
        pdnn_definition_compile(definition, &arena, &compiled, &err);
    assert_string_equal(err.text, expected);
    pdnn_str_finish(&text);
    pdnn_arena_finish(&arena);
}

static void test_limits(void **state) {
    (void)state;
    static const struct {
        const char *entry, *expected;
    } rows[] = {
        {"  - {relu, as: r#}", "large: more than 4096 names are seen from one place"},
        {"  - {relu, when: 'in.rows == \"w#\"'}", "large: more than 4096 words"},
        {"  - {relu, layer: l#}", "large: more than 4096 layers"},
        {"  - {dense: {out: 3}, share: s#}", "large: more than 4096 shares"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check(rows[i].entry, LINES, rows[i].expected);
        check(rows[i].entry, FEW, "");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
