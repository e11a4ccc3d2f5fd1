/* Families, as a worker gets them and as YAML files: what reads is written as it was, reads again, and
 * compiles to the same end. */
#include "tests/fuzz/common.h"

#include "gen/family/family.h"
#include "models/definition/text/canonical.h"
#include "models/definition/compile.h"

#include <stdlib.h>
#include <string.h>

/* A definition that compiles can be written, and what is read of that is written alike and compiles. */
static void check_definition(const struct pdnn_definition *definition, struct pdnn_arena *arena) {
    const struct pdnn_definition *again;
    const struct pdnn_compiled *compiled;
    struct pdnn_err err = {0};
    struct pdnn_str one = {0}, other = {0};
    if (fuzz_is_ok(pdnn_definition_compile(definition, arena, &compiled, &err), &err)) {
        pdnn_definition_write(definition, true, &one);
        fuzz_must(pdnn_definition_read(pdnn_str_text(&one), arena, &again, &err), &err);
        fuzz_must(pdnn_definition_compile(again, arena, &compiled, &err), &err);
        pdnn_definition_write(again, true, &other);
        FUZZ_CHECK(strcmp(pdnn_str_text(&one), pdnn_str_text(&other)) == 0);
    }
    pdnn_str_finish(&one);
    pdnn_str_finish(&other);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct pdnn_arena arena = {0};
    const struct pdnn_definition *definition;
    struct pdnn_err err = {0};
    struct pdnn_str again = {0};
    char *text = fuzz_text(bytes, length);
    if (fuzz_is_ok(pdnn_definition_read(text, &arena, &definition, &err), &err)) {
        pdnn_definition_write(definition, true, &again);
        FUZZ_CHECK(strcmp(pdnn_str_text(&again), text) == 0);
        check_definition(definition, &arena);
    }
    err = (struct pdnn_err){0};
    if (fuzz_is_ok(pdnn_family_parse("fuzz.yaml", text, strlen(text), &arena, &definition, &err), &err))
        check_definition(definition, &arena);
    pdnn_str_finish(&again);
    pdnn_arena_finish(&arena);
    free(text);
    return 0;
}
