/* Instance ids: what parses prints to a text that parses to the same instance, and a spec takes the same ids.
 */
#include "tests/fuzz/common.h"

#include "gen/spec.h"
#include "models/instance.h"

#include <stdlib.h>
#include <string.h>

static bool same(const struct pdnn_instance *a, const struct pdnn_instance *b) {
    if (a->family != b->family || memcmp(a->setting, b->setting, sizeof a->setting) != 0)
        return false;
    for (size_t i = 0; i < a->family->n_params; i++) {
        if (!pdnn_value_equal(a->hyper[i], b->hyper[i]))
            return false;
    }
    return true;
}

/* Parses the instance's own id, which must give the instance again. */
static void check_print(const struct pdnn_instance *instance) {
    char id[PDNN_ID_TEXT], again[PDNN_ID_TEXT];
    struct pdnn_err err = {0};
    struct pdnn_instance parsed;
    pdnn_instance_format(instance, id);
    FUZZ_CHECK(strlen(id) + 1 < sizeof id);
    fuzz_must(pdnn_instance_parse(id, &parsed, &err), &err);
    FUZZ_CHECK(strcmp(id, pdnn_instance_format(&parsed, again)) == 0);
    FUZZ_CHECK(same(instance, &parsed));
}

static bool ends_like_a_file(const char *text) {
    const char *dot = strrchr(text, '.');
    return dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

/* As an argument, the id is a spec of one model. */
static void check_spec(const char *text) {
    struct pdnn_err err = {0};
    struct pdnn_spec spec;
    if (ends_like_a_file(text))
        return;
    fuzz_must(pdnn_spec_load(&text, 1, NULL, 0, &spec, &err), &err);
    FUZZ_CHECK(spec.n_models == 1);
    pdnn_spec_finish(&spec);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct pdnn_instance instance, resolved;
    struct pdnn_err err = {0};
    char buffer[PDNN_ID_TEXT], again[PDNN_ID_TEXT];
    char *text = fuzz_text(bytes, length);
    bool ok = fuzz_is_ok(pdnn_instance_parse(text, &instance, &err), &err);
    const char *reprinted = pdnn_instance_reprint(text, buffer);
    FUZZ_CHECK(ok || reprinted == text);
    if (ok) {
        resolved = instance;
        pdnn_instance_settle(&resolved);
        FUZZ_CHECK(same(&instance, &resolved));
        check_print(&instance);
        pdnn_instance_resolve(&resolved, 2);
        check_print(&resolved);
        FUZZ_CHECK(pdnn_instance_reprint(pdnn_instance_format(&resolved, buffer), again) == again);
        FUZZ_CHECK(strcmp(buffer, again) == 0);
        struct pdnn_instance run = pdnn_instance_as_run(&resolved);
        check_print(&run);
        FUZZ_CHECK(pdnn_instance_repetitions(&resolved) >= 1);
        check_spec(text);
    }
    free(text);
    return 0;
}
