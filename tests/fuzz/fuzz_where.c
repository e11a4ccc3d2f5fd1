/* `where`: evaluation is a function of the instance, parentheses change nothing, and `not` negates. The first
 * byte chooses the family, the rest is the expression. */
#include "models/zoo/catalog.h"
#include "tests/fuzz/common.h"

#include "gen/where/where.h"

#include <stdlib.h>
#include <string.h>

static const struct pdnn_totals totals = {.memory_bytes = 1 << 20};

struct outcome {
    enum pdnn_status created, evaluated;
    bool holds;
};

static struct outcome evaluate(const struct pdnn_yaml *node, const struct pdnn_instance *instance) {
    struct outcome outcome = {.created = PDNN_OK};
    struct pdnn_where *where = NULL;
    struct pdnn_err err = {0};
    outcome.created = pdnn_where_create(node, instance->family, &where, &err);
    if (!fuzz_is_ok(outcome.created, &err)) {
        FUZZ_CHECK(outcome.created != PDNN_INVALID || strncmp(err.text, "spec.yaml:7:", 12) == 0);
        return outcome;
    }
    bool again = false;
    pdnn_where_uses_costs(where);
    pdnn_where_uses_memory(where);
    outcome.evaluated = pdnn_where_eval(where, instance, &totals, &outcome.holds, &err);
    if (fuzz_is_ok(outcome.evaluated, &err)) {
        fuzz_must(pdnn_where_eval(where, instance, &totals, &again, &err), &err);
        FUZZ_CHECK(again == outcome.holds);
    }
    pdnn_where_destroy(where);
    return outcome;
}

/* The same expression as an operand. Limits on size may refuse it. */
static void check_wrapped(const struct pdnn_yaml *node, const char *before, const char *after, bool negated,
                          const struct pdnn_instance *instance, struct outcome plain) {
    struct pdnn_str text = {0};
    struct pdnn_yaml wrapped = *node;
    pdnn_str_printf(&text, "%s%s%s", before, node->text, after);
    wrapped.text = pdnn_str_text(&text);
    struct outcome outcome = evaluate(&wrapped, instance);
    if (plain.created != PDNN_OK)
        FUZZ_CHECK(outcome.created != PDNN_OK || strpbrk(node->text, "()"));
    else if (outcome.created != PDNN_OK)
        FUZZ_CHECK(strlen(node->text) > 256);
    else if (plain.evaluated == PDNN_OK)
        FUZZ_CHECK(outcome.evaluated == PDNN_OK && outcome.holds == (plain.holds != negated));
    else /* a parameter that does not apply is not a number, but its negation is one */
        FUZZ_CHECK(negated || outcome.evaluated == plain.evaluated);
    pdnn_str_finish(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    size_t n_families;
    struct pdnn_instance instance;
    if (!length)
        return 0;
    const struct pdnn_family_def *const *families = pdnn_family_all(&n_families);
    pdnn_instance_init(&instance, families[bytes[0] % n_families]);
    pdnn_instance_resolve(&instance, 2);
    char *text = fuzz_text(bytes + 1, length - 1);
    const struct pdnn_yaml node = {
        .file = "spec.yaml", .line = 7, .column = 12, .text = text, .text_offset = 0, .plain = true};
    struct outcome plain = evaluate(&node, &instance);
    check_wrapped(&node, "(", ")", false, &instance, plain);
    check_wrapped(&node, "not (", ")", true, &instance, plain);
    free(text);
    return 0;
}
