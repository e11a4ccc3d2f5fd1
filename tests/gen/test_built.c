/* A family beside the draft that it was written of: each way in which it may be another network, and none. */
#include "gen/onnx/built.h"
#include "tests/cmocka_all.h"

#include <string.h>

static const char head[] = "family: f\naxes: {batch: {default: 1, range: 1..64}}\nminibatch: batch\n"
                           "inputs: {x: {shape: [batch, 6]}}\nops:\n  - {relu, from: x, as: a}\n";

/* What is said of two results: rows of six, and as many of `columns`, `more` of them at the size to compare
 * at. */
static void check(const char *ops, int64_t columns, int64_t more, const char *expected) {
    const struct pdnn_polynomial_axes axes = {.count = 1, .size = {{2, 3, 4, 7}}};
    struct pdnn_arena arena = {0};
    struct pdnn_draft program = {.arena = &arena, .result = (int32_t[]){0, 1}, .n_results = 2};
    struct pdnn_str text = {0};
    struct pdnn_err err = {0};
    int64_t dim[4][4];
    const int64_t *dims[4];
    pdnn_draft_add(&program, "relu", NULL, 2, (int64_t[]){2, 6});
    pdnn_draft_add(&program, "dense", NULL, 2, (int64_t[]){2, columns});
    for (int k = 0; k < 4; k++) {
        int64_t size[PDNN_POLYNOMIAL_AXES];
        pdnn_polynomial_point(&axes, k, size);
        memcpy(dim[k], (int64_t[]){size[0], 6, size[0] + (k == 3 ? more : 0), columns}, sizeof dim[k]);
        dims[k] = dim[k];
    }
    pdnn_str_printf(&text, "%s%s", head, ops);
    assert_int_equal(pdnn_built_check("f.onnx", &text, &axes, &program, dims, &err),
                     *expected ? PDNN_INVALID : PDNN_OK);
    assert_string_equal(err.text, expected);
    pdnn_str_finish(&text);
    pdnn_arena_finish(&arena);
}

static void test_built(void **state) {
    (void)state;
    static const char two[] = "  - {dense: {out: 5}, as: b}\nresult: [a, b]\n";
    check(two, 5, 0, "");
    check(two, 4, 0, "f.onnx: became another network, whose result 2 is 2x5 and not 2x4");
    check(two, 5, 1, "f.onnx: became another network, whose result 2 is 7x5 and not 8x5");
    check("  - {dense: {out: 5}}\n", 5, 0, "f.onnx: became a network of 1 results, it has 2");
    check("  - {rearrange: {pattern: \"'(a b) c -> a b c'\", b: 2}, as: b}\nresult: [a, b]\n", 5, 0,
          "f.onnx: became another network, whose result 2 is 1x2x6 and not 2x5");
}

static void test_not_built(void **state) {
    (void)state;
    check(
        "  - {slice: {columns: 4 + batch}, as: b}\nresult: [a, b]\n", 6, 0,
        "f.onnx: became a family that cannot be built: f.onnx:7:6: slice: no columns=7 from 0 on; it reads 3x6");
    check("  - {nothing, as: b}\nresult: [a, b]\n", 5, 0,
          "f.onnx: became a family that cannot be built: f.onnx:7:6: no op or block 'nothing'");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_built), cmocka_unit_test(test_not_built)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
