/* ONNX files: what is refused says in which file, in one line; what is read becomes a family's file, which is
 * one, with memory in proportion to the file. */
#include "tests/fuzz/common.h"

#include "gen/family/family.h"
#include "gen/onnx/family.h"
#include "gen/onnx/model.h"
#include "models/definition/compile.h"
#include "models/definition/compiled.h"

#include <stdlib.h>
#include <string.h>

static void check_family(const struct pdnn_str *text) {
    struct pdnn_arena arena = {0};
    struct pdnn_err err = {0};
    const struct pdnn_definition *definition;
    const struct pdnn_compiled *compiled;
    fuzz_must(pdnn_family_parse("f.onnx", pdnn_str_text(text), text->length, &arena, &definition, &err),
              &err);
    fuzz_is_ok(pdnn_definition_compile(definition, &arena, &compiled, &err), &err);
    pdnn_arena_finish(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct pdnn_err err = {0};
    struct pdnn_onnx onnx;
    struct pdnn_onnx_summary summary;
    struct pdnn_str text = {0};
    void *copy = fuzz_bytes(bytes, length);
    enum pdnn_status status = pdnn_onnx_parse("f.onnx", copy, length, &onnx, &err);
    if (fuzz_is_ok(status, &err))
        status = pdnn_onnx_family(&onnx, &(struct pdnn_onnx_request){0}, &text, &summary, &err);
    FUZZ_CHECK(status == PDNN_OK || (strncmp(err.text, "f.onnx: ", 8) == 0 && !strchr(err.text, '\n')));
    if (fuzz_is_ok(status, &err))
        check_family(&text);
    pdnn_onnx_finish(&onnx);
    pdnn_str_finish(&text);
    free(copy);
    return 0;
}
