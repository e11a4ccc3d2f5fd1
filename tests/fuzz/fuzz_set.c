/* `--set`: one override a line, on a spec of two models and two documents. What is accepted is recorded in a
 * text that reads back as the same spec. */
#include "tests/fuzz/common.h"

#include "gen/spec.h"

#include <stdlib.h>
#include <string.h>

enum { SETS_MAX = 8 };

static const char spec_text[] = "sweep: base\n"
                                "seed: 3\n"
                                "run: {mode: [infer, train], threads: 1}\n"
                                "measure: {rounds: 3, cache: warm}\n"
                                "models:\n"
                                "  - fc: {layers: 2, nodes: [8, 16], batch: 4}\n"
                                "    where: nodes > 4\n"
                                "  - cnn: {block: residual, blocks: 1, filters: 2, image: 32}\n"
                                "---\n"
                                "models: [rnn: {cell: [rnn, lstm], length: {from: 2, to: 8, times: 2}}]\n";

/* Splits at newlines, in place. */
static size_t split_lines(char *text, const char *lines[SETS_MAX]) {
    size_t count = 0;
    for (char *line = text; line && count < SETS_MAX; count++) {
        lines[count] = line;
        char *end = strchr(line, '\n');
        if (end)
            *end = 0;
        line = end ? end + 1 : NULL;
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct pdnn_spec spec, again;
    struct pdnn_err err = {0};
    const char *sets[SETS_MAX];
    char *text = fuzz_text(bytes, length);
    size_t n_sets = split_lines(text, sets);
    fuzz_write("base.yaml", spec_text, sizeof spec_text - 1);
    const char *path = fuzz_path("base.yaml");
    if (fuzz_is_ok(pdnn_spec_load(&path, 1, sets, n_sets, &spec, &err), &err)) {
        fuzz_write("base.yaml", spec.text, strlen(spec.text));
        fuzz_must(pdnn_spec_load(&path, 1, NULL, 0, &again, &err), &err);
        FUZZ_CHECK(spec.n_models == again.n_models && spec.seed == again.seed);
        FUZZ_CHECK(strcmp(spec.name, again.name) == 0);
        pdnn_spec_finish(&again);
        pdnn_spec_finish(&spec);
    }
    free(text);
    return 0;
}
