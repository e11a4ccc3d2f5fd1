/* Which implementations of a dense op are chosen from given costs, and what a choice is kept under. */
#include "tests/cmocka_all.h"

#include "models/op.h"
#include "runtime/backends/onednn/dense/tune.h"
#include "runtime/backends/onednn/library/post_ops.h"

#include <math.h>
#include <string.h>

/* A step of inner products takes 300 ns with any home layout, as long as weights stay in it. */
static void usual_costs(struct pdnn_onednn_dense_costs *costs) {
    pdnn_onednn_dense_costs_init(costs);
    for (int pass = 0; pass < PDNN_ONEDNN_DENSE_PASSES; pass++) {
        for (int format = 0; format < PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT; format++) {
            for (int way = 0; way < PDNN_ONEDNN_DENSE_WAY_COUNT; way++) {
                struct pdnn_onednn_dense_cost *cost = &costs->cost[pass][way][format];
                for (int stored = 0; stored < PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT; stored++)
                    cost->reorder_ns[stored] = stored == format ? 0 : 50;
                cost->run_ns = way == PDNN_ONEDNN_DENSE_INNER_PRODUCT ? 100 : INFINITY;
            }
        }
    }
}

/* Each row changes the run time of some variants of every pass, and says which variant must be chosen. */
static void test_dense_decide_margins(void **state) {
    (void)state;
    static const struct {
        const char *what;
        double row_major, column_major, packed, matmul; /* matmul: with row-major weights */
        enum pdnn_onednn_weights_format stored;
        bool is_matmul;
    } cases[] = {
        {"all equal", 100, 100, 100, 100, PDNN_ONEDNN_WEIGHTS_ROW_MAJOR, false},
        {"less than 10 % is noise", 100, 91, 92, 91, PDNN_ONEDNN_WEIGHTS_ROW_MAJOR, false},
        {"another layout", 100, 85, 100, 100, PDNN_ONEDNN_WEIGHTS_COLUMN_MAJOR, false},
        {"a margin against another layout too", 100, 85, 80, 100, PDNN_ONEDNN_WEIGHTS_COLUMN_MAJOR, false},
        {"a margin against another variant too", 100, 80, 100, 85, PDNN_ONEDNN_WEIGHTS_ROW_MAJOR, true},
        {"far better than the second", 100, 85, 70, 100, PDNN_ONEDNN_WEIGHTS_PACKED, false},
        {"the usual one fails", INFINITY, 120, 119, INFINITY, PDNN_ONEDNN_WEIGHTS_COLUMN_MAJOR, false},
        {"others fail", 100, INFINITY, INFINITY, INFINITY, PDNN_ONEDNN_WEIGHTS_ROW_MAJOR, false},
    };
    const struct pdnn_onednn_dense_shape shape = {.has_pass = {true, true, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pdnn_onednn_dense_costs costs;
        struct pdnn_onednn_dense_choice choice;
        usual_costs(&costs);
        for (int pass = 0; pass < PDNN_ONEDNN_DENSE_PASSES; pass++) {
            struct pdnn_onednn_dense_cost(*cost)[PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT] = costs.cost[pass];
            cost[0][PDNN_ONEDNN_WEIGHTS_ROW_MAJOR].run_ns = cases[i].row_major;
            cost[0][PDNN_ONEDNN_WEIGHTS_COLUMN_MAJOR].run_ns = cases[i].column_major;
            cost[0][PDNN_ONEDNN_WEIGHTS_PACKED].run_ns = cases[i].packed;
            cost[1][PDNN_ONEDNN_WEIGHTS_ROW_MAJOR].run_ns = cases[i].matmul;
        }
        assert_true(pdnn_onednn_dense_decide(&costs, &shape, &choice));
        bool right = choice.stored == cases[i].stored;
        for (int pass = 0; pass < PDNN_ONEDNN_DENSE_PASSES; pass++)
            right = right && (choice.variant[pass].way == PDNN_ONEDNN_DENSE_MATMUL) == cases[i].is_matmul &&
                    choice.variant[pass].format == cases[i].stored;
        if (!right)
            fail_msg("%s: home %d", cases[i].what, (int)choice.stored);
    }
}

/* Our own kernel for the forward pass, if there is one, stays unless something else
 * takes at least 10 % less time. */
static void test_dense_decide_own(void **state) {
    (void)state;
    static const struct {
        double own, inner_product;
        enum pdnn_onednn_dense_way way;
    } cases[] = {
        {100, 95, PDNN_ONEDNN_DENSE_SMALL_BATCH},
        {100, 85, PDNN_ONEDNN_DENSE_INNER_PRODUCT},
        {60, 100, PDNN_ONEDNN_DENSE_SMALL_BATCH},
        {INFINITY, 100, PDNN_ONEDNN_DENSE_INNER_PRODUCT},
    };
    const struct pdnn_onednn_dense_shape shape = {.has_pass = {true, false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pdnn_onednn_dense_costs costs;
        struct pdnn_onednn_dense_choice choice;
        pdnn_onednn_dense_costs_init(&costs);
        for (int way = 0; way < PDNN_ONEDNN_DENSE_WAY_COUNT; way++)
            costs.cost[PDNN_FORWARD][way][PDNN_ONEDNN_WEIGHTS_ROW_MAJOR]
                .reorder_ns[PDNN_ONEDNN_WEIGHTS_ROW_MAJOR] = 0;
        costs.cost[PDNN_FORWARD][PDNN_ONEDNN_DENSE_SMALL_BATCH][PDNN_ONEDNN_WEIGHTS_ROW_MAJOR].run_ns =
            cases[i].own;
        costs.cost[PDNN_FORWARD][PDNN_ONEDNN_DENSE_INNER_PRODUCT][PDNN_ONEDNN_WEIGHTS_ROW_MAJOR].run_ns =
            cases[i].inner_product;
        assert_true(pdnn_onednn_dense_decide(&costs, &shape, &choice));
        assert_int_equal(choice.variant[PDNN_FORWARD].way, cases[i].way);
    }
}

/* A single pass: a variant that needs a reorder must win by a larger margin. */
static void test_dense_decide_reorder(void **state) {
    (void)state;
    static const struct {
        double ns;
        bool reorders, is_taken;
    } cases[] = {{91, false, false}, {85, false, true}, {85, true, false}, {75, true, true}};
    const struct pdnn_onednn_dense_shape shape = {.has_pass = {true, false, false}, .pinned = true};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pdnn_onednn_dense_costs costs;
        struct pdnn_onednn_dense_choice choice;
        pdnn_onednn_dense_costs_init(&costs);
        struct pdnn_onednn_dense_cost(*cost)[PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT] = costs.cost[PDNN_FORWARD];
        enum pdnn_onednn_weights_format format =
            cases[i].reorders ? PDNN_ONEDNN_WEIGHTS_COLUMN_MAJOR : PDNN_ONEDNN_WEIGHTS_ROW_MAJOR;
        double reorder_ns = cases[i].reorders ? 10 : 0;
        cost[PDNN_ONEDNN_DENSE_INNER_PRODUCT][PDNN_ONEDNN_WEIGHTS_ROW_MAJOR] =
            (struct pdnn_onednn_dense_cost){.run_ns = 100};
        cost[PDNN_ONEDNN_DENSE_MATMUL][format] =
            (struct pdnn_onednn_dense_cost){cases[i].ns - reorder_ns, {reorder_ns}};
        assert_true(pdnn_onednn_dense_decide(&costs, &shape, &choice));
        assert_int_equal(choice.variant[PDNN_FORWARD].way == PDNN_ONEDNN_DENSE_MATMUL, cases[i].is_taken);
    }
}

/* Weights that are already placed stay in their layout, whatever else would be better, unless some pass
 * cannot run from it. */
static void test_dense_decide_home(void **state) {
    (void)state;
    struct pdnn_onednn_dense_shape shape = {.has_pass = {true, true, true}, .is_placed = true};
    struct pdnn_onednn_dense_costs costs;
    struct pdnn_onednn_dense_choice choice;
    usual_costs(&costs);
    costs.cost[PDNN_FORWARD][0][PDNN_ONEDNN_WEIGHTS_PACKED].run_ns = 10;
    for (int stored = 0; stored < PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT; stored++) {
        shape.stored = (enum pdnn_onednn_weights_format)stored;
        assert_true(pdnn_onednn_dense_decide(&costs, &shape, &choice));
        assert_int_equal(choice.stored, stored);
    }
    for (int pass = 0; pass < PDNN_ONEDNN_DENSE_PASSES; pass++) {
        for (int i = 0; i < PDNN_ONEDNN_DENSE_VARIANTS; i++) {
            struct pdnn_onednn_dense_cost *cost =
                &costs.cost[pass][i / PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT][i % PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT];
            cost->reorder_ns[PDNN_ONEDNN_WEIGHTS_COLUMN_MAJOR] = INFINITY;
        }
    }
    shape.stored = PDNN_ONEDNN_WEIGHTS_COLUMN_MAJOR;
    assert_true(pdnn_onednn_dense_decide(&costs, &shape, &choice));
    assert_int_not_equal(choice.stored, PDNN_ONEDNN_WEIGHTS_COLUMN_MAJOR);
}

/* A gain in one pass is weighed against the whole step; if nothing can run a pass, the decision fails. */
static void test_dense_decide_total(void **state) {
    (void)state;
    const struct pdnn_onednn_dense_shape shape = {.has_pass = {true, true, true}};
    struct pdnn_onednn_dense_costs costs;
    struct pdnn_onednn_dense_choice choice;
    usual_costs(&costs);
    costs.cost[PDNN_FORWARD][1][PDNN_ONEDNN_WEIGHTS_ROW_MAJOR].run_ns = 75; /* 275 of 300 */
    assert_true(pdnn_onednn_dense_decide(&costs, &shape, &choice));
    assert_int_equal(choice.variant[PDNN_FORWARD].way, PDNN_ONEDNN_DENSE_INNER_PRODUCT);
    costs.cost[PDNN_FORWARD][1][PDNN_ONEDNN_WEIGHTS_ROW_MAJOR].run_ns = 65; /* 265 of 300 */
    assert_true(pdnn_onednn_dense_decide(&costs, &shape, &choice));
    assert_int_equal(choice.variant[PDNN_FORWARD].way, PDNN_ONEDNN_DENSE_MATMUL);
    assert_int_equal(choice.variant[PDNN_BACKWARD_DATA].way, PDNN_ONEDNN_DENSE_INNER_PRODUCT);
    pdnn_onednn_dense_costs_init(&costs);
    assert_false(pdnn_onednn_dense_decide(&costs, &shape, &choice));
}

static struct pdnn_onednn_post_op post_of(const struct pdnn_op_def *op, double low, double high) {
    const double coef[PDNN_NODE_COEFS] = {low, high};
    struct pdnn_onednn_post_op post_op;
    assert_true(pdnn_onednn_post_op_find(op, coef, &post_op));
    return post_op;
}

/* The key holds everything that a choice may depend on: any field that differs makes another key. */
static void test_dense_key(void **state) {
    (void)state;
    const struct pdnn_onednn_post_op relu = post_of(&pdnn_op_relu, 0, 0), tanh = post_of(&pdnn_op_tanh, 0, 0);
    const struct pdnn_onednn_dense_shape shapes[] = {
        {.N = 1},
        {.I = 1},
        {.O = 1},
        {.footprint_bytes = 1},
        {.dtype = PDNN_BF16},
        {.weights_dtype = PDNN_BF16},
        {.n_post_ops = 1, .post_op = {relu}},
        {.n_post_ops = 1, .post_op = {tanh}},
        {.n_post_ops = 2, .post_op = {relu, tanh}},
        {.n_post_ops = 2, .post_op = {tanh, relu}},
        {.n_post_ops = 1, .post_op = {post_of(&pdnn_op_hardtanh, 0, 6)}},
        {.n_post_ops = 1, .post_op = {post_of(&pdnn_op_hardtanh, 0, 20)}},
        {.n_post_ops = 1, .post_op = {post_of(&pdnn_op_hardtanh, -1, 6)}},
        {.has_pass = {true}},
        {.has_pass = {false, true}},
        {.has_pass = {false, false, true}},
        {.bias = true},
        {.bias_gradient = true},
        {.is_shifted = true},
        {.is_scaled = true},
        {.pinned = true},
        {.is_placed = true},
        {.is_placed = true, .stored = PDNN_ONEDNN_WEIGHTS_COLUMN_MAJOR},
        {.is_placed = true, .stored = PDNN_ONEDNN_WEIGHTS_PACKED},
        {0},
    };
    enum { SHAPES = sizeof shapes / sizeof *shapes };
    static struct pdnn_tune_key keys[SHAPES + 1];
    for (int i = 0; i <= SHAPES; i++) {
        keys[i] = pdnn_onednn_dense_key(&shapes[i < SHAPES ? i : SHAPES - 1], i < SHAPES ? 1 : 2);
        assert_true(keys[i].length < PDNN_TUNE_KEY_TEXT);
        for (int j = 0; j < i; j++) {
            if (strcmp(keys[i].text, keys[j].text) == 0)
                fail_msg("shapes %d and %d have one key: %s", i, j, keys[i].text);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dense_decide_margins), cmocka_unit_test(test_dense_decide_own),
        cmocka_unit_test(test_dense_decide_reorder), cmocka_unit_test(test_dense_decide_home),
        cmocka_unit_test(test_dense_decide_total),   cmocka_unit_test(test_dense_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
