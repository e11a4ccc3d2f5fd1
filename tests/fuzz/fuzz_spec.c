/* Specs: a document is written as YAML that reads back as the same tree; a spec that is accepted is recorded
 * as a text that gives the same models again. */
#include "tests/fuzz/common.h"

#include "gen/yaml/emit.h"
#include "gen/model.h"
#include "gen/spec.h"

#include <stdlib.h>
#include <string.h>

enum { POINTS = 16 };

static void check_tree(const struct pdnn_yaml *a, const struct pdnn_yaml *b) {
    FUZZ_CHECK(a->kind == b->kind && a->count == b->count);
    FUZZ_CHECK(pdnn_yaml_is_null(a) == pdnn_yaml_is_null(b));
    FUZZ_CHECK(pdnn_yaml_is_null(a) || strcmp(a->text, b->text) == 0);
    FUZZ_CHECK(!a->key == !b->key);
    const struct pdnn_yaml *y = b->first;
    for (const struct pdnn_yaml *x = a->first; x; x = x->next, y = y->next) {
        FUZZ_CHECK(!x->key || pdnn_yaml_is_null(x->key) || strcmp(x->key->text, y->key->text) == 0);
        check_tree(x, y);
    }
}

static void check_emitted(struct pdnn_yaml *root) {
    struct pdnn_arena arena = {0};
    struct pdnn_str out = {0};
    struct pdnn_err err = {0};
    struct pdnn_yaml *again = NULL;
    for (; root; root = root->next) {
        const struct pdnn_yaml *one = root;
        pdnn_str_clear(&out);
        fuzz_must(pdnn_yaml_emit(&one, 1, &out, &err), &err);
        char *text = fuzz_bytes((const uint8_t *)pdnn_str_text(&out), out.length);
        const struct pdnn_yaml_input input = {.file = "again", .text = text, .length = out.length};
        fuzz_must(pdnn_yaml_parse(&input, &arena, &again, &err), &err);
        free(text);
        FUZZ_CHECK(!again->next);
        check_tree(root, again);
    }
    pdnn_str_finish(&out);
    pdnn_arena_finish(&arena);
}

static void check_document(const char *text, size_t length) {
    struct pdnn_arena arena = {0};
    struct pdnn_yaml *root = NULL;
    struct pdnn_err err = {0};
    const struct pdnn_yaml_input input = {.file = "spec.yaml", .text = text, .length = length};
    if (fuzz_is_ok(pdnn_yaml_parse(&input, &arena, &root, &err), &err))
        check_emitted(root);
    else
        FUZZ_CHECK(strncmp(err.text, "spec.yaml:", 10) == 0);
    pdnn_arena_finish(&arena);
}

/* The instance at a point of the model's space, the last group of axes fastest. */
static void instance_at(const struct pdnn_spec_model *model, uint64_t point, char id[PDNN_ID_TEXT]) {
    struct pdnn_instance instance = model->base;
    for (size_t i = model->n_groups; i-- > 0;) {
        const struct pdnn_axis_group *group = &model->groups[i];
        for (size_t k = 0; k < group->n_axes; k++)
            pdnn_axis_apply(&model->axes[group->first + k], point % model->counts[i], &instance);
        point /= model->counts[i];
    }
    pdnn_instance_settle(&instance);
    pdnn_instance_format(&instance, id);
}

static void check_models(const struct pdnn_spec *a, const struct pdnn_spec *b) {
    FUZZ_CHECK(a->n_models == b->n_models && a->seed == b->seed);
    FUZZ_CHECK(a->measure.rounds == b->measure.rounds && a->measure.order == b->measure.order);
    FUZZ_CHECK(a->measure.max_time_ns == b->measure.max_time_ns);
    FUZZ_CHECK(a->measure.precision == b->measure.precision && a->measure.probe == b->measure.probe);
    FUZZ_CHECK(a->limits.memory_fraction == b->limits.memory_fraction);
    FUZZ_CHECK(a->limits.memory_bytes == b->limits.memory_bytes && a->limits.time_ns == b->limits.time_ns);
    FUZZ_CHECK(a->limits.budget_ns == b->limits.budget_ns);
    for (size_t i = 0; i < a->n_models; i++) {
        const struct pdnn_spec_model *x = &a->models[i], *y = &b->models[i];
        FUZZ_CHECK(x->points == y->points && x->method == y->method && x->sample_count == y->sample_count);
        FUZZ_CHECK(!x->where == !y->where);
        FUZZ_CHECK(!x->where || strcmp(x->where->text, y->where->text) == 0);
        uint64_t step = x->points / POINTS + 1;
        for (uint64_t point = 0, k = 0; k < POINTS && point < x->points; point += step, k++) {
            char id[PDNN_ID_TEXT], other[PDNN_ID_TEXT];
            instance_at(x, point, id);
            instance_at(y, point, other);
            FUZZ_CHECK(strcmp(id, other) == 0);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct pdnn_spec spec, again;
    struct pdnn_err err = {0};
    char *text = fuzz_bytes(bytes, length);
    check_document(text, length);
    free(text);
    fuzz_write("spec.yaml", bytes, length);
    const char *path = fuzz_path("spec.yaml");
    if (fuzz_is_ok(pdnn_spec_load(&path, 1, NULL, 0, &spec, &err), &err)) {
        fuzz_write("spec.yaml", spec.text, strlen(spec.text));
        fuzz_must(pdnn_spec_load(&path, 1, NULL, 0, &again, &err), &err);
        check_models(&spec, &again);
        FUZZ_CHECK(strcmp(spec.name, again.name) == 0);
        pdnn_spec_finish(&again);
        pdnn_spec_finish(&spec);
    }
    return 0;
}
