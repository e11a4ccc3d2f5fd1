/* Families: a file that is read, compiled and built, in inference and in training, with the least values of
 * its axes. What cannot be built says where, or which family it is; what is written as text reads as the
 * same. */
#include "tests/fuzz/common.h"

#include "gen/family/family.h"
#include "models/build.h"
#include "models/definition/compile.h"
#include "models/definition/compiled.h"
#include "models/definition/text/canonical.h"

#include <stdlib.h>
#include <string.h>

static void check_build(const struct pdnn_family_def *family, enum pdnn_mode mode) {
    struct pdnn_arena arena = {0};
    struct pdnn_instance instance;
    struct pdnn_graph graph;
    struct pdnn_err err = {0};
    pdnn_instance_init(&instance, family);
    for (size_t i = 0; i < family->n_params; i++)
        if (family->params[i].type == PDNN_PARAM_INT)
            instance.hyper[i] = pdnn_value_of(family->params[i].min);
    instance.setting[PDNN_SETTING_MODE] = mode;
    if (fuzz_is_ok(pdnn_instance_graph(&instance, &arena, &graph, &err), &err))
        FUZZ_CHECK(graph.n_nodes > 0 && (mode == PDNN_MODE_INFER || graph.loss < graph.n_tensors));
    pdnn_arena_finish(&arena);
}

/* What a worker gets of it is the same family. */
static void check_text(const struct pdnn_definition *definition) {
    struct pdnn_arena arena = {0};
    struct pdnn_err err = {0};
    struct pdnn_str text = {0}, again = {0};
    const struct pdnn_definition *read;
    char hash[PDNN_DEFINITION_HASH], other[PDNN_DEFINITION_HASH];
    pdnn_definition_write(definition, true, &text);
    fuzz_must(pdnn_definition_read(pdnn_str_text(&text), &arena, &read, &err), &err);
    pdnn_definition_write(read, true, &again);
    FUZZ_CHECK(strcmp(pdnn_str_text(&text), pdnn_str_text(&again)) == 0);
    FUZZ_CHECK(strcmp(pdnn_definition_hash(definition, hash), pdnn_definition_hash(read, other)) == 0);
    pdnn_str_finish(&text);
    pdnn_str_finish(&again);
    pdnn_arena_finish(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct pdnn_arena arena = {0};
    struct pdnn_err err = {0};
    const struct pdnn_definition *definition;
    const struct pdnn_compiled *compiled;
    char *text = fuzz_bytes(bytes, length);
    enum pdnn_status status = pdnn_family_parse("f.yaml", text, length, &arena, &definition, &err);
    FUZZ_CHECK(status == PDNN_OK || strncmp(err.text, "f.yaml:", 7) == 0);
    if (fuzz_is_ok(status, &err) &&
        fuzz_is_ok(pdnn_definition_compile(definition, &arena, &compiled, &err), &err)) {
        check_text(definition);
        check_build(&compiled->family, PDNN_MODE_INFER);
        check_build(&compiled->family, PDNN_MODE_TRAIN);
    }
    free(text);
    pdnn_arena_finish(&arena);
    return 0;
}
