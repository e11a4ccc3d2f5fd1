#define _POSIX_C_SOURCE 200809L
/* Axes of a family's file: what rows they become, what is said of those that cannot be, and specs of a family
 * with decimal numbers. */
#include "base/str.h"
#include "gen/expansion/walk.h"
#include "gen/family/family.h"
#include "models/definition/compile.h"
#include "models/definition/compiled.h"
#include "models/op.h"
#include "models/zoo/catalog.h"
#include "tests/gen/spec_file.h"

/* The family with an axis `x`, which is in the arena. */
static const struct pdnn_family_def *family_of(const char *x, struct pdnn_arena *arena,
                                               struct pdnn_err *err) {
    struct pdnn_str text = {0};
    const struct pdnn_definition *definition;
    const struct pdnn_compiled *compiled = NULL;
    pdnn_str_printf(&text,
                    "family: one\n"
                    "axes:\n"
                    "  batch: {default: 6, range: 1..64}\n"
                    "  x: %s\n"
                    "inputs: {matrix: {shape: [batch, 4]}}\n"
                    "ops: [{relu, from: matrix}]\n",
                    x);
    char *copy = pdnn_arena_strdup(arena, text.text);
    enum pdnn_status status = pdnn_family_parse("one.yaml", copy, text.length, arena, &definition, err);
    if (status == PDNN_OK)
        status = pdnn_definition_compile(definition, arena, &compiled, err);
    pdnn_str_finish(&text);
    return status == PDNN_OK ? &compiled->family : NULL;
}

static void test_activations_are_the_builds(void **state) {
    (void)state;
    struct pdnn_arena arena = {0};
    struct pdnn_err err = {0};
    const struct pdnn_family_def *family = family_of("{default: tanh, values: activations}", &arena, &err);
    if (!family)
        fail_msg("%s", err.text);
    size_t count = 0;
    for (; pdnn_activation_words[count]; count++)
        assert_string_equal(family->params[1].choices[count], pdnn_activation_words[count]);
    assert_null(family->params[1].choices[count]);
    assert_string_equal(family->params[1].choices[family->params[1].fallback.number], "tanh");
    pdnn_arena_finish(&arena);
}

static void test_axes_that_cannot_be(void **state) {
    (void)state;
    static const struct {
        const char *x, *message;
    } rows[] = {
        {"{default: relu, values: [activations]}",
         "one.yaml:4:16: default 'relu' of x is none of activations"},
        {"{default: relus, values: activations}",
         "one.yaml:4:16: default 'relus' of x is none of relu, sigmoid, tanh, gelu, gelu_tanh, silu, "
         "hardtanh, hardsigmoid, hardswish, softplus"},
        {"{default: relu, values: activation}",
         "one.yaml:4:30: values is 'activation', expected a list such as [pre, post], or activations"},
        {"{default: relu, values: {relu: 1}}", "one.yaml:4:30: values is a map, expected a list"},
        {"{default: relu, values: [relu, [tanh]]}",
         "one.yaml:4:37: a word of values is a list, expected a value"},
        {"{default: 1.0, range: 0.1..x}", "one.yaml:4:28: range of x is '0.1..x', expected LOW..HIGH"},
        {"{default: 1.0, range: 0.0000001..1}",
         "one.yaml:4:28: range of x is '0.0000001..1', expected LOW..HIGH"},
        {"{default: 1.0, range: 0..1e9}",
         "one.yaml:4:28: range of x ends at 1e9, decimal numbers at most at 999999999"},
        {"{default: 5.0, range: 0.1..4}", "one.yaml:4:16: the default of x is no number in its range"},
        {"{default: [3, 10], range: 1..9}", "one.yaml:4:20: the default of x is no number in its range"},
        {"{default: [3, n], range: 1..9}",
         "one.yaml:4:20: no 'n' here: it is no axis, let, parameter, variable or result seen from here"},
        {"{default: [3, [4]], range: 1..9}", "one.yaml:4:20: the default of x is no number in its range"},
        {"{default: [1, 2, 3, 4, 5, 6], range: 1..9}",
         "one.yaml:4:16: the default of x is no list of 1 to 5 numbers"},
        {"{default: [1, 2], range: 1..9, type: int}",
         "one.yaml:4:16: the default of x is no list of 1 to 5 numbers"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_arena arena = {0};
        struct pdnn_err err = {0};
        assert_null(family_of(rows[i].x, &arena, &err));
        assert_string_equal(err.text, rows[i].message);
        pdnn_arena_finish(&arena);
    }
}

static void test_decimals_are_millionths(void **state) {
    (void)state;
    static const char *const rows[][2] = {{"{default: 1.0, range: 0.1..4}", "1"},
                                          {"{default: 0.25, range: 0.1..4}", "0.25"},
                                          {"{default: 2, type: decimal, range: 0.1..4}", "2"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_arena arena = {0};
        struct pdnn_err err = {0};
        char buffer[PDNN_PARAM_TEXT];
        const struct pdnn_family_def *family = family_of(rows[i][0], &arena, &err);
        if (!family)
            fail_msg("%s", err.text);
        const struct pdnn_param_def *x = &family->params[1];
        assert_int_equal(x->type, PDNN_PARAM_DECIMAL);
        assert_int_equal(x->min, 100000);
        assert_int_equal(x->max, 4000000);
        assert_string_equal(pdnn_param_format(x, x->fallback, buffer), rows[i][1]);
        pdnn_arena_finish(&arena);
    }
}

/* Of one number: that number. */
static void test_lists_as_defaults(void **state) {
    (void)state;
    static const char *const rows[][3] = {
        {"{default: [3, 4, 6, 3], range: 1..9}", "3-4-6-3", "3-4-6-3"},
        {"{default: [5], range: 1..9}", "5", "5"},
        {"{default: 5, range: 1..9, type: list, example: \"[2, 3-4]\"}", "5", "[2, 3-4]"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_arena arena = {0};
        struct pdnn_err err = {0};
        char buffer[PDNN_PARAM_TEXT];
        const struct pdnn_family_def *family = family_of(rows[i][0], &arena, &err);
        if (!family)
            fail_msg("%s", err.text);
        const struct pdnn_param_def *x = &family->params[1];
        assert_int_equal(x->type, PDNN_PARAM_LIST);
        assert_string_equal(pdnn_param_format(x, x->fallback, buffer), rows[i][1]);
        assert_string_equal(x->example, rows[i][2]);
        pdnn_arena_finish(&arena);
    }
}

/* ---- specs of a family with decimal numbers ---- */

static const char wide[] =
    "family: wide\n"
    "axes:\n"
    "  batch: {default: 6, range: 1..64}\n"
    "  width: {default: 1.0, range: 0.1..4}\n"
    "  half: {default: width / 2, type: decimal, range: 0..4}\n"
    "inputs: {matrix: {shape: [batch, 4]}, labels: {shape: [batch], fill: {class: 7}}}\n"
    "ops: [{dense: {out: ceil(64 * width)}, from: matrix, as: logits}]\n"
    "loss: [{softmax_cross_entropy, from: [logits, labels]}]\n"
    "presets: {small: {width: 0.5}}\n";

static int add_wide(void **state) {
    static struct pdnn_arena arena;
    const struct pdnn_definition *definition;
    const struct pdnn_compiled *compiled;
    (void)state;
    if (pdnn_family_parse("wide.yaml", wide, strlen(wide), &arena, &definition, NULL) != PDNN_OK ||
        pdnn_definition_compile(definition, &arena, &compiled, NULL) != PDNN_OK)
        return 1;
    pdnn_catalog_add(&compiled->family);
    return 0;
}

/* Appends each instance's model and its number of weights, "-" before those that are left out. */
static void list_models(const char *text, const char *set, struct pdnn_str *lines) {
    struct pdnn_spec spec;
    struct pdnn_walk walk = {0};
    struct pdnn_expanded item;
    struct pdnn_err err = {0};
    enum pdnn_status status;
    char id[PDNN_ID_TEXT];
    spec_file_must_load(text, set, &spec);
    pdnn_walk_start(&walk, &spec, 1, false);
    while (pdnn_walk_next(&walk, &item, &status, &err)) {
        pdnn_instance_format(&item.instance, id);
        pdnn_str_printf(lines, "%s%.*s %d; ", item.filtered ? "-" : "",
                        (int)pdnn_id_model_length(id) - (int)strlen("wide/batch=6,"),
                        id + strlen("wide/batch=6,"), (int)item.totals.params);
    }
    if (status != PDNN_OK)
        fail_msg("%s", err.text);
    pdnn_walk_finish(&walk);
    pdnn_spec_finish(&spec);
}

static void test_specs_step_exactly(void **state) {
    (void)state;
    static const char *const rows[][3] = {
        {"models: [{wide: }]", NULL, "width=1,half=0.5 256; "},
        {"models: [{wide: {preset: small}}]", NULL, "width=0.5,half=0.25 128; "},
        {"models: [{wide: {width: [0.5, 1, 2.25]}}]", NULL,
         "width=0.5,half=0.25 128; width=1,half=0.5 256; width=2.25,half=1.125 576; "},
        {"models: [{wide: {width: {from: 0.1, to: 0.4, plus: 0.1}, half: 0}}]", NULL,
         "width=0.1,half=0 28; width=0.2,half=0 52; width=0.3,half=0 80; width=0.4,half=0 104; "},
        {"models: [{wide: {width: {from: 0.25, to: 2, times: 2}, half: 1}}]", NULL,
         "width=0.25,half=1 64; width=0.5,half=1 128; width=1,half=1 256; width=2,half=1 512; "},
        {"models: [{wide: {width: {from: 1, to: 3, times: 1.5}, half: 1}}]", NULL,
         "width=1,half=1 256; width=1.5,half=1 384; width=2.25,half=1 576; "},
        {"models: [{wide: {width: {from: 0.1, to: 0.15, times: 1.5}, half: 1}}]", NULL,
         "width=0.1,half=1 28; width=0.15,half=1 40; "},
        {"models: [{wide: {width: 1, half: 1}}]", "models.0.wide.width=[0.5, 0.75]",
         "width=0.5,half=1 128; width=0.75,half=1 192; "},
        {"models: [{wide: {width: [0.5, 1], half: [0.1, 0.2]}, zip: [[width, half]]}]", NULL,
         "width=0.5,half=0.1 128; width=1,half=0.2 256; "},
        {"models: [{wide: {}, rows: {columns: [width, half], values: [[0.5, 0.1], [2, 0.3]]}}]", NULL,
         "width=0.5,half=0.1 128; width=2,half=0.3 512; "},
        {"models: [{wide: {width: {from: 0.1, to: 0.5, plus: 0.1}, half: 1}, where: width == 0.3}]", NULL,
         "-width=0.1,half=1 28; -width=0.2,half=1 52; width=0.3,half=1 80; -width=0.4,half=1 104; "
         "-width=0.5,half=1 128; "},
        {"models: [{wide: {width: [0.5, 1]}, where: width * 64 < 40 and half == 0.25}]", NULL,
         "width=0.5,half=0.25 128; -width=1,half=0.5 256; "},
        {"models: [{wide: {width: [0.5, 0.75], half: 1}, sample: {method: all}}]", NULL,
         "width=0.5,half=1 128; width=0.75,half=1 192; "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_str lines = {0};
        list_models(rows[i][0], rows[i][1], &lines);
        assert_string_equal(pdnn_str_text(&lines), rows[i][2]);
        pdnn_str_finish(&lines);
    }
}

static void test_specs_that_do_not(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"9", "width is 9, expected 0.1 to 4"},
        {"[0.5, 0.1234567]", "width is '0.1234567', expected at most 6 digits behind the point"},
        {"[0.5, 0.50]", "width has 0.5 twice"},
        {"half", "width is 'half', expected a number"},
        {"{from: 0.1, to: 5, plus: 1}", "width is 5, expected 0.1 to 4"},
        {"{from: 2, to: 0.5, plus: 0.5}", "width has a reversed range, from 2 to 0.5"},
        {"{from: 0.5, to: 2, plus: 0}",
         "width steps by plus 0 and never gets from 0.5 to 2, expected more than 0"},
        {"{from: 0.5, to: 2, plus: 0.0000001}",
         "width has '0.0000001' in a range, expected a number with at most 6 digits behind the point"},
        {"{from: 0.5, to: 2, times: 1}",
         "width steps from 0.5 by times 1 and never gets to 2, expected times more than 1 from more than 0"},
        {"{from: 0.1, to: 4, times: 1.5}",
         "width steps from 0.759375 by times 1.5 to a number with more than 6 digits behind the point"},
        {"{from: 0.999999, to: 1, times: 1.000001}",
         "width steps from 0.999999 by times 1.000001 to a number with more than 6 digits behind the point"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[256];
        struct pdnn_spec spec;
        struct pdnn_err err = {0};
        snprintf(text, sizeof text, "models: [{wide: {width: %s}}]", rows[i][0]);
        assert_int_equal(spec_file_load(text, NULL, &spec, &err), PDNN_INVALID);
        const char *message = strstr(err.text, "width");
        assert_string_equal(message ? message : err.text, rows[i][1]);
    }
}

static void test_ids_parse_back(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"wide/width=0.50", "wide/batch=6,width=0.5,half=0.25,threads=1"},
        {"wide/width=1.0,half=1e-1", "wide/batch=6,width=1,half=0.1,threads=1"},
        {"wide:small,batch=2", "wide/batch=2,width=0.5,half=0.25,threads=1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_instance instance, again;
        char id[PDNN_ID_TEXT];
        assert_int_equal(pdnn_instance_parse(rows[i][0], &instance, NULL), PDNN_OK);
        pdnn_instance_resolve(&instance, 1);
        assert_string_equal(pdnn_instance_format(&instance, id), rows[i][1]);
        assert_int_equal(pdnn_instance_parse(id, &again, NULL), PDNN_OK);
        pdnn_instance_resolve(&again, 1);
        assert_memory_equal(again.hyper, instance.hyper, sizeof again.hyper);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decimals_are_millionths),    cmocka_unit_test(test_specs_step_exactly),
        cmocka_unit_test(test_specs_that_do_not),          cmocka_unit_test(test_ids_parse_back),
        cmocka_unit_test(test_activations_are_the_builds), cmocka_unit_test(test_axes_that_cannot_be),
        cmocka_unit_test(test_lists_as_defaults),
    };
    return cmocka_run_group_tests(tests, add_wide, NULL);
}
