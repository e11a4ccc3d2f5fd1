/* The op rearrange: patterns as text and as numbers, values, gradients, and views in memory. */
#include "tests/cmocka_all.h"
#include "tests/models/model_check.h"

#include "models/attributes.h"
#include "models/cost/cost.h"
#include "models/cost/lifetimes.h"
#include "models/forward.h"
#include "models/op.h"
#include "models/rearrange.h"

#include <string.h>

static void test_patterns(void **state) {
    (void)state;
    static const struct {
        const char *text, *shown;
    } rows[] = {
        {"n c h w -> (n h w) c", "abcd->(acd)b"},
        {"b (g c) h w->b (c g) h w", "a(bc)de->a(cb)de"},
        {"(b x i y j) c -> (b x y i j) c", "(abcde)f->(abdce)f"},
        {" b c 1 1 -> (b) c ", "ab11->ab"},
        {"1 rows -> rows 1 1", "1a->a11"},
        {"_a1 _a2 -> _a2 _a1", "ab->ba"},
        {"a b c d e f -> f e d c b a", "abcdef->fedcba"},
    };
    char text[PDNN_PATTERN_TEXT];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int64_t packed = pattern_of(rows[i].text);
        const struct pdnn_pattern pattern = pdnn_pattern_unpack(packed);
        assert_true(packed > 0);
        assert_true(pdnn_pattern_pack(&pattern) == packed);
        assert_string_equal(pdnn_pattern_format(packed, text), rows[i].shown);
    }
}

static void test_patterns_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *problem;
    } rows[] = {
        {"a b", "expected -> between two sides"},
        {"a b -> b", "both sides must have the same names"},
        {"a b -> b c", "both sides must have the same names"},
        {"a a -> a", "a name stands twice on one side"},
        {"a -> a a", "a name stands twice on one side"},
        {"(a b -> a b", "a parenthesis is not closed"},
        {"a) b -> a b", "a parenthesis is closed that was not opened"},
        {"((a) b) -> a b", "parentheses stand in parentheses"},
        {"a b - a b", "expected -> between two sides"},
        {"a b -> a b -> a b", "there is more than one ->"},
        {"a 2 -> a", "expected names, 1, parentheses and one ->"},
        {"(a 1) -> a", "expected names, 1, parentheses and one ->"},
        {"a b c d e f g -> a b c d e f g", "a side has more than 6 dimensions"},
        {"(a b c d e f g) -> (a b c d e f g)", "there are more than 6 names"},
        {"-> a", "a side has no dimensions"},
        {"a ->", "a side has no dimensions"},
        {"", "a side has no dimensions"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_pattern pattern;
        struct pdnn_pattern_name names[PDNN_AXES];
        const char *problem = NULL;
        assert_false(pdnn_pattern_parse(rows[i].text, &pattern, names, &problem));
        if (strcmp(problem, rows[i].problem) != 0)
            fail_msg("'%s': %s", rows[i].text, problem);
    }
}

static uint32_t rearrange(struct pdnn_graph *graph, uint32_t x, const char *pattern, const int64_t *sizes) {
    int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_REARRANGE_PATTERN] = pattern_of(pattern)};
    if (sizes)
        memcpy(attrs + PDNN_REARRANGE_SIZES, sizes, PDNN_AXES * sizeof *sizes);
    return pdnn_graph_forward(graph, &pdnn_op_rearrange, (uint32_t[]){x, PDNN_NONE}, attrs);
}

/* Windows of an image's rows, by hand. */
static void test_values(void **state) {
    (void)state;
    enum { B = 2, X = 2, I = 3, Y = 4, J = 2, C = 5, ALL = B * X * I * Y * J * C };
    struct pdnn_tensor tensors[] = {{.rank = 2, .dim = {ALL / C, C}}, {.rank = 2, .dim = {ALL / C, C}}};
    static double x[B][X][I][Y][J][C], y[B][X][Y][I][J][C], back[ALL];
    double *values[] = {&x[0][0][0][0][0][0], &y[0][0][0][0][0][0]};
    struct pdnn_graph graph = {.tensors = tensors, .n_tensors = 2};
    struct pdnn_node node = {.op = &pdnn_op_rearrange,
                             .n_inputs = 1,
                             .n_outputs = 1,
                             .input = (uint32_t[]){0},
                             .output = (uint32_t[]){1},
                             .attr = {pattern_of("(b x i y j) c -> (b x y i j) c"), 0, X, I, Y, J, C}};
    struct pdnn_reference r = {.graph = &graph, .value = values};
    for (int i = 0; i < ALL; i++)
        values[0][i] = i;
    pdnn_reference_run(&r, &node);
    for (int i = 0; i < ALL; i++) {
        int c = i % C, j = i / C % J, k = i / C / J % Y, h = i / C / J / Y % I, w = i / C / J / Y / I % X;
        int b = i / C / J / Y / I / X;
        assert_true(y[b][w][k][h][j][c] == x[b][w][h][k][j][c]);
    }
    node.pass = PDNN_BACKWARD_DATA;
    values[0] = values[1];
    values[1] = back;
    pdnn_reference_run(&r, &node);
    for (int i = 0; i < ALL; i++)
        assert_true(back[i] == i);
}

static void test_gradients(void **state) {
    (void)state;
    static const struct {
        const char *pattern;
        int rank;
        int64_t dim[4], sizes[PDNN_AXES];
    } rows[] = {
        {"n c f t -> (t n) (c f)", 4, {2, 3, 4, 5}, {0}},
        {"b (g c) h w -> b (c g) h w", 4, {2, 6, 2, 3}, {0, 2}},
        {"(b n) c -> (b c) n", 2, {6, 4}, {2}},
        {"b c -> c 1 b", 2, {3, 4}, {0}},
        {"b (n m) -> (b n) m", 2, {3, 4}, {0, 2}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct chain chain;
        begin_chain(&chain);
        uint32_t x = chain_weight(&chain, rows[i].rank, rows[i].dim);
        x = pdnn_graph_forward(&chain.graph, &pdnn_op_tanh, (uint32_t[]){x, PDNN_NONE}, NULL);
        check_chain(&chain, rearrange(&chain.graph, x, rows[i].pattern, rows[i].sizes), rows[i].pattern);
    }
}

static void test_sizes_refused(void **state) {
    (void)state;
    static const struct {
        const char *pattern;
        int64_t sizes[PDNN_AXES];
        const char *message;
    } rows[] = {
        {"a b c -> a b c", {0}, "rearrange: the pattern reads 3 dimensions, the input has 2"},
        {"(a b) c -> a b c", {4}, "rearrange: dimension 1 is 6, the sizes of its names do not divide it: 4"},
        {"(a b) c -> a b c", {2, 2}, "rearrange: dimension 1 is 6, the sizes of its names make 4"},
        {"a b -> b a", {0, 5}, "rearrange: dimension 2 is 8, the sizes of its names make 5"},
        {"(a b) c -> a b c",
         {0},
         "rearrange: dimension 1, which is 6, has 2 names without a size; one may be left out"},
        {"1 (a b) -> a b", {2}, "rearrange: dimension 1 is 6, the sizes of its names make 1"},
        {"(a b) c -> a b c", {-2}, "rearrange: a size is -2"},
        {"(a b) c -> a b c", {INT64_MAX, 2}, "rearrange: sizes of dimension 1 are too large"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        struct pdnn_err err = {0};
        pdnn_arena_init(&arena);
        pdnn_graph_init(&graph, &arena);
        uint32_t x = pdnn_graph_weight(&graph, 2, (int64_t[]){6, 8}, (struct pdnn_fill){0});
        rearrange(&graph, x, rows[i].pattern, rows[i].sizes);
        assert_int_equal(pdnn_graph_status(&graph, &err), PDNN_INVALID);
        assert_string_equal(err.text, rows[i].message);
        pdnn_arena_finish(&arena);
    }
}

static uint32_t apply(struct pdnn_graph *graph, const struct pdnn_op_def *op, uint32_t a, uint32_t b) {
    return pdnn_graph_forward(graph, op, (uint32_t[]){a, b, PDNN_NONE}, NULL);
}

/* A view moves nothing and has no memory of its own; what is seen through it ends with it. */
static void test_views(void **state) {
    (void)state;
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct pdnn_err err = {0};
    struct pdnn_cost cost;
    pdnn_arena_init(&arena);
    pdnn_graph_init(&graph, &arena);
    uint32_t w = pdnn_graph_weight(&graph, 2, (int64_t[]){6, 8}, (struct pdnn_fill){0});
    uint32_t stays = rearrange(&graph, w, "a b -> (a b)", NULL); /* a copy: the weight is kept */
    uint32_t x = apply(&graph, &pdnn_op_relu, w, PDNN_NONE);
    uint32_t view = rearrange(&graph, x, "a b -> (a b)", NULL);
    uint32_t moved = rearrange(&graph, x, "a b -> (b a)", NULL);
    uint32_t y = apply(&graph, &pdnn_op_relu, view, PDNN_NONE); /* x is read again: not in its place */
    uint32_t z = apply(&graph, &pdnn_op_add, x, x);
    uint32_t last = rearrange(&graph, z, "a b -> (a b)", NULL);
    uint32_t in_place = apply(&graph, &pdnn_op_relu, last, PDNN_NONE);
    assert_int_equal(pdnn_graph_status(&graph, &err), PDNN_OK);
    const struct pdnn_lifetime *lifetimes = pdnn_memory_lifetimes(&graph);
    assert_int_equal(lifetimes[view].takes_over, x);
    assert_int_equal(lifetimes[stays].takes_over, PDNN_NONE);
    assert_int_equal(lifetimes[moved].takes_over, PDNN_NONE);
    assert_int_equal(lifetimes[y].takes_over, PDNN_NONE);
    assert_int_equal(lifetimes[view].last, 5);
    assert_int_equal(lifetimes[last].takes_over, z);
    assert_int_equal(lifetimes[in_place].takes_over, last);
    for (size_t i = 0; i < graph.n_nodes; i++) {
        const uint32_t output = graph.nodes[i].output[0];
        const bool is_rearranged = graph.nodes[i].op == &pdnn_op_rearrange;
        assert_int_equal(pdnn_cost_node(&graph, &graph.nodes[i], &cost, &err), PDNN_OK);
        if (is_rearranged)
            assert_int_equal(cost.byte_count, output == view || output == last ? 0 : 2 * 6 * 8 * 4);
        assert_true(!is_rearranged || cost.flop_count == 0);
    }
    pdnn_arena_finish(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns),      cmocka_unit_test(test_patterns_refused),
        cmocka_unit_test(test_values),        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_sizes_refused), cmocka_unit_test(test_views),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
