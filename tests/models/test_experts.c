/* Mixtures of experts, in double: how rows are dealt, the gradients of the three ops by finite differences,
 * FLOP against a counting run and by hand, bytes, and what is refused. */
#include "tests/cmocka_all.h"
#include "tests/models/model_check.h"
#include "tests/models/reference_run.h"

#include "models/attributes.h"
#include "models/cost/deal.h"
#include "models/forward.h"
#include "models/op.h"
#include "models/optimizer.h"
#include "models/transform/backward.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 5, OUT = 3 };

/* Rows of each expert. */
static void test_deal_rows(void **state) {
    (void)state;
    static const struct {
        int64_t rows, active, experts, skew, end, count[8];
    } deals[] = {
        {16, 2, 8, 0, 8, {2, 2, 2, 2, 2, 2, 2, 2}},
        {20, 2, 8, 0, 8, {3, 3, 3, 3, 2, 2, 2, 2}},
        {3, 1, 8, 0, 3, {1, 1, 1}}, /* fewer rows than experts */
        {3, 1, 8, 700, 1, {3}},
        {64, 2, 8, 50, 8, {12, 11, 10, 9, 8, 6, 5, 3}},
        {64, 2, 8, 100, 7, {16, 14, 12, 9, 7, 4, 2}},
        {64, 2, 8, 300, 3, {32, 22, 10}},
        {5, 5, 5, 0, 5, {1, 1, 1, 1, 1}},
        {12, 1, 1, 0, 1, {12}},
    };
    for (size_t i = 0; i < sizeof deals / sizeof *deals; i++) {
        struct pdnn_deal deal =
            pdnn_deal_begin(deals[i].rows, deals[i].active, deals[i].experts, deals[i].skew);
        assert_int_equal(deal.end, deals[i].end);
        for (int64_t e = 0; e < deals[i].end; e++) {
            assert_true(pdnn_deal_next(&deal));
            assert_int_equal(deal.expert, e);
            assert_int_equal(deal.count, deals[i].count[e]);
        }
        assert_false(pdnn_deal_next(&deal));
    }
}

/* Whatever is accepted: all rows, as many experts as there may be, and no token twice at an expert. */
static void check_deal(int64_t tokens, int64_t active, int64_t experts, int64_t skew) {
    const int64_t rows = tokens * active, reach = pdnn_deal_reach(experts, skew);
    struct pdnn_deal deal = pdnn_deal_begin(rows, active, experts, skew);
    int64_t first = 0, seen = 0;
    assert_int_equal(deal.end, rows < reach ? rows : reach);
    for (; pdnn_deal_next(&deal); seen++) {
        assert_int_equal(deal.first, first);
        assert_in_range(deal.count, 1, tokens);
        first += deal.count;
    }
    assert_int_equal(seen, deal.end);
    assert_int_equal(first, rows);
}

static void test_deal_is_whole(void **state) {
    (void)state;
    for (int64_t experts = 1; experts <= 9; experts++)
        for (int64_t active = 1; active <= experts; active++)
            for (int64_t tokens = 1; tokens <= 40; tokens++)
                for (int64_t skew = 0; skew <= 100 * experts / active - 100; skew += 1 + skew / 3)
                    check_deal(tokens, active, experts, skew);
    check_deal(1 << 30, 2, 4096, 204700);
    check_deal((1 << 30) - 1, 8, 4096, 51100);
    check_deal(1 << 20, 8, 128, 99);
}

/* The busiest expert has 1 + skew / 100 times the mean. */
static void test_deal_skew(void **state) {
    (void)state;
    for (int64_t skew = 0; skew <= 300; skew += 25) {
        struct pdnn_deal deal = pdnn_deal_begin(80000, 2, 8, skew);
        assert_true(pdnn_deal_next(&deal));
        assert_int_equal(deal.count, 100 * (100 + skew));
    }
}

static uint32_t matrix(struct chain *chain, int64_t rows, int64_t columns) {
    return chain_weight(chain, 2, (int64_t[]){rows, columns});
}

/* Row r is token r mod T. */
static uint32_t new_plan(struct chain *chain, int64_t rows, int64_t tokens) {
    const struct pdnn_tensor plan = {.role = PDNN_ROLE_INPUT,
                                     .dtype = PDNN_S32,
                                     .rank = 1,
                                     .dim = {rows},
                                     .fill = {PDNN_FILL_POSITION, (double)tokens},
                                     .of = PDNN_NONE};
    return pdnn_graph_tensor(&chain->graph, &plan);
}

static uint32_t append_top_k(struct chain *chain, uint32_t x, int64_t k) {
    return pdnn_graph_forward(&chain->graph, &pdnn_op_top_k, (uint32_t[]){x, PDNN_NONE},
                              (int64_t[PDNN_NODE_ATTRS]){[PDNN_TOP_K_K] = k});
}

static uint32_t append_experts(struct chain *chain, uint32_t x, uint32_t w, int64_t active, int64_t skew) {
    return pdnn_graph_forward(
        &chain->graph, &pdnn_op_experts, (uint32_t[]){x, w, PDNN_NONE},
        (int64_t[PDNN_NODE_ATTRS]){[PDNN_EXPERTS_ACTIVE] = active, [PDNN_EXPERTS_SKEW] = skew});
}

static uint32_t append_scatter_add(struct chain *chain, uint32_t x, uint32_t plan, uint32_t gates,
                                   int64_t rows, int64_t skew) {
    return pdnn_graph_forward(
        &chain->graph, &pdnn_op_scatter_add, (uint32_t[]){x, plan, gates, PDNN_NONE},
        (int64_t[PDNN_NODE_ATTRS]){[PDNN_SCATTER_ADD_ROWS] = rows, [PDNN_SCATTER_ADD_SKEW] = skew});
}

static const struct mixture {
    int64_t tokens, active, experts, skew;
} mixtures[] = {{6, 2, 4, 0}, {7, 2, 4, 60}, {2, 2, 9, 0}, {8, 1, 4, 300}, {5, 3, 3, 0}};
enum { MIXTURES = sizeof mixtures / sizeof *mixtures };

static void test_gradient_experts(void **state) {
    (void)state;
    for (int i = 0; i < MIXTURES; i++) {
        const struct mixture *m = &mixtures[i];
        struct chain chain;
        begin_chain(&chain);
        uint32_t x = matrix(&chain, m->tokens * m->active, COLUMNS);
        uint32_t w = chain_weight(&chain, 3, (int64_t[]){m->experts, OUT, COLUMNS});
        check_chain(&chain, append_experts(&chain, x, w, m->active, m->skew), "experts");
    }
}

static void test_gradient_scatter_add(void **state) {
    (void)state;
    for (int i = 0; i < 2 * MIXTURES; i++) {
        const struct mixture *m = &mixtures[i / 2];
        int64_t rows = m->tokens * m->active;
        struct chain chain;
        begin_chain(&chain);
        uint32_t x = matrix(&chain, rows, COLUMNS), plan = new_plan(&chain, rows, m->tokens);
        uint32_t gates = i % 2 ? matrix(&chain, m->tokens, m->experts) : PDNN_NONE;
        check_chain(&chain, append_scatter_add(&chain, x, plan, gates, m->tokens, m->skew), "scatter_add");
    }
}

/* Through softmax, since -infinity has no loss. */
static void test_gradient_top_k(void **state) {
    (void)state;
    for (int64_t k = 1; k <= COLUMNS; k += 2) {
        struct chain chain;
        begin_chain(&chain);
        uint32_t y = append_top_k(&chain, matrix(&chain, 6, COLUMNS), k);
        y = pdnn_graph_forward(&chain.graph, &pdnn_op_softmax, (uint32_t[]){y, PDNN_NONE}, NULL);
        check_chain(&chain, y, "top_k");
    }
}

/* The whole mixture: router, gates, and a residual. */
static void test_gradient_mixture(void **state) {
    (void)state;
    for (int i = 0; i < MIXTURES; i++) {
        const struct mixture *m = &mixtures[i];
        struct chain chain;
        begin_chain(&chain);
        uint32_t x = pdnn_graph_forward(&chain.graph, &pdnn_op_tanh,
                                        (uint32_t[]){matrix(&chain, m->tokens, COLUMNS), PDNN_NONE}, NULL);
        uint32_t gates =
            pdnn_graph_forward(&chain.graph, &pdnn_op_dense,
                               (uint32_t[]){x, matrix(&chain, m->experts, COLUMNS), PDNN_NONE}, NULL);
        gates = append_top_k(&chain, gates, m->active);
        gates = pdnn_graph_forward(&chain.graph, &pdnn_op_softmax, (uint32_t[]){gates, PDNN_NONE}, NULL);
        uint32_t plan = new_plan(&chain, m->tokens * m->active, m->tokens);
        uint32_t rows =
            pdnn_graph_forward(&chain.graph, &pdnn_op_embedding, (uint32_t[]){plan, x, PDNN_NONE}, NULL);
        uint32_t w = chain_weight(&chain, 3, (int64_t[]){m->experts, COLUMNS, COLUMNS});
        uint32_t y = append_experts(&chain, rows, w, m->active, m->skew);
        y = append_scatter_add(&chain, y, plan, gates, m->tokens, m->skew);
        y = pdnn_graph_forward(&chain.graph, &pdnn_op_add, (uint32_t[]){y, x, PDNN_NONE}, NULL);
        check_chain(&chain, y, "mixture");
    }
}

/* Of equal values the first are kept. */
static void test_top_k_values(void **state) {
    (void)state;
    static const double in[3][COLUMNS] = {{3, 1, 4, 1, 5}, {2, 2, 2, 2, 2}, {-INFINITY, 0, -1, 0, -INFINITY}};
    static const int kept[3] = {1 << 0 | 1 << 2 | 1 << 4, 1 << 0 | 1 << 1 | 1 << 2, 1 << 1 | 1 << 2 | 1 << 3};
    struct chain chain;
    begin_chain(&chain);
    uint32_t x = matrix(&chain, 3, COLUMNS), y = append_top_k(&chain, x, 3);
    double **values = reference_values(&chain.graph);
    memcpy(values[x], in, sizeof in);
    reference_run(&chain.graph, values, 0, 1);
    for (int64_t i = 0; i < 3 * COLUMNS; i++)
        assert_true(values[y][i] ==
                    (kept[i / COLUMNS] >> i % COLUMNS & 1 ? in[i / COLUMNS][i % COLUMNS] : -INFINITY));
    reference_values_free(&chain.graph, values);
    pdnn_arena_finish(&chain.arena);
}

static struct pdnn_cost cost_of(const struct chain *chain, const struct pdnn_op_def *op,
                                enum pdnn_pass pass) {
    struct pdnn_cost cost = {0};
    for (size_t i = 0; i < chain->graph.n_nodes; i++) {
        const struct pdnn_node *node = &chain->graph.nodes[i];
        if (node->op == op && node->pass == pass)
            assert_int_equal(pdnn_cost_node(&chain->graph, node, &cost, NULL), PDNN_OK);
    }
    return cost;
}

/* By hand: of w, experts with rows are read; all of dw is written. */
static void test_experts_costs(void **state) {
    (void)state;
    static const struct {
        struct mixture m;
        int64_t read; /* experts */
    } rows[] = {{{64, 2, 8, 0}, 8}, {{64, 2, 8, 100}, 7}, {{64, 2, 8, 300}, 3}, {{1, 2, 8, 0}, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct mixture *m = &rows[i].m;
        const int64_t R = m->tokens * m->active, one = OUT * COLUMNS;
        struct chain chain;
        begin_chain(&chain);
        uint32_t x = matrix(&chain, R, COLUMNS);
        uint32_t w = chain_weight(&chain, 3, (int64_t[]){m->experts, OUT, COLUMNS});
        chain_loss(&chain, append_experts(&chain, x, w, m->active, m->skew));
        pdnn_backward_derive(&chain.graph, &pdnn_optimizers[PDNN_OPTIMIZER_SGD]);
        struct pdnn_cost forward = cost_of(&chain, &pdnn_op_experts, PDNN_FORWARD),
                         data = cost_of(&chain, &pdnn_op_experts, PDNN_BACKWARD_DATA),
                         weights = cost_of(&chain, &pdnn_op_experts, PDNN_BACKWARD_WEIGHTS);
        int64_t rows_bytes = R * (OUT + COLUMNS) * 4;
        assert_int_equal(forward.flop_count, 2 * R * one);
        assert_int_equal(data.flop_count, 2 * R * one);
        assert_int_equal(weights.flop_count, 2 * R * one);
        assert_int_equal(forward.byte_count, rows_bytes + rows[i].read * one * 4);
        assert_int_equal(data.byte_count, rows_bytes + rows[i].read * one * 4);
        assert_int_equal(weights.byte_count, rows_bytes + m->experts * one * 4);
        pdnn_arena_finish(&chain.arena);
    }
}

static void test_scatter_add_costs(void **state) {
    (void)state;
    enum { T = 6, K = 2, R = T * K, X = 4, C = COLUMNS };
    for (int gated = 0; gated < 2; gated++) {
        struct chain chain;
        begin_chain(&chain);
        uint32_t x = matrix(&chain, R, C), plan = new_plan(&chain, R, T);
        uint32_t gates = gated ? matrix(&chain, T, X) : PDNN_NONE;
        chain_loss(&chain, append_scatter_add(&chain, x, plan, gates, T, 0));
        pdnn_backward_derive(&chain.graph, &pdnn_optimizers[PDNN_OPTIMIZER_SGD]);
        struct pdnn_cost forward = cost_of(&chain, &pdnn_op_scatter_add, PDNN_FORWARD),
                         back = cost_of(&chain, &pdnn_op_scatter_add, PDNN_BACKWARD_DATA);
        assert_int_equal(forward.flop_count, R * C * (gated ? 2 : 1));
        assert_int_equal(back.flop_count, gated ? 3 * R * C : 0);
        assert_int_equal(forward.byte_count, 4 * (R * C + R + T * C + (gated ? R : 0)));
        assert_int_equal(back.byte_count, 4 * (T * C + R + R * C) + (gated ? 4 * (R * C + R + T * X) : 0));
        pdnn_arena_finish(&chain.arena);
    }
}

static void test_top_k_costs(void **state) {
    (void)state;
    struct chain chain;
    begin_chain(&chain);
    append_top_k(&chain, matrix(&chain, 6, COLUMNS), 2);
    struct pdnn_cost cost = cost_of(&chain, &pdnn_op_top_k, PDNN_FORWARD);
    assert_int_equal(cost.flop_count, 6 * COLUMNS * 2);
    assert_int_equal(cost.byte_count, 2 * 6 * COLUMNS * 4);
    pdnn_arena_finish(&chain.arena);
}

static void expect(struct chain *chain, const char *text) {
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_graph_status(&chain->graph, &err), PDNN_INVALID);
    if (!strstr(err.text, text))
        fail_msg("'%s' instead of '%s'", err.text, text);
    pdnn_arena_finish(&chain->arena);
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        int64_t rows, active, experts, skew, columns;
        const char *text;
    } rows[] = {
        {12, 5, 4, 0, COLUMNS, "active is 5, expected 1 to 4 experts"},
        {12, 0, 4, 0, COLUMNS, "active is 0, expected 1 to 4 experts"},
        {13, 2, 4, 0, COLUMNS, "13 rows are not tokens of 2 active experts each"},
        {12, 2, 4, 101, COLUMNS, "skew is 101, expected 0 to 100: the busiest of 4 experts"},
        {12, 2, 4, -1, COLUMNS, "skew is -1, expected 0 to 100"},
        {12, 2, 4, 0, COLUMNS + 1, "I is 5 and 6"},
    };
    struct chain chain;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin_chain(&chain);
        uint32_t x = matrix(&chain, rows[i].rows, COLUMNS);
        uint32_t w = chain_weight(&chain, 3, (int64_t[]){rows[i].experts, OUT, rows[i].columns});
        append_experts(&chain, x, w, rows[i].active, rows[i].skew);
        expect(&chain, rows[i].text);
    }
    begin_chain(&chain);
    append_top_k(&chain, matrix(&chain, 6, COLUMNS), COLUMNS + 1);
    expect(&chain, "k is 6 and there are 5");
    begin_chain(&chain);
    append_scatter_add(&chain, matrix(&chain, 12, COLUMNS), new_plan(&chain, 11, 6), PDNN_NONE, 6, 0);
    expect(&chain, "expected rows (R, C), a plan (R)");
    begin_chain(&chain);
    append_scatter_add(&chain, matrix(&chain, 12, COLUMNS), new_plan(&chain, 12, 6), matrix(&chain, 6, 4), 6,
                       101);
    expect(&chain, "skew is 101, expected 0 to 100");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deal_rows),
        cmocka_unit_test(test_deal_is_whole),
        cmocka_unit_test(test_deal_skew),
        cmocka_unit_test(test_gradient_experts),
        cmocka_unit_test(test_gradient_scatter_add),
        cmocka_unit_test(test_gradient_top_k),
        cmocka_unit_test(test_gradient_mixture),
        cmocka_unit_test(test_top_k_values),
        cmocka_unit_test(test_experts_costs),
        cmocka_unit_test(test_scatter_add_costs),
        cmocka_unit_test(test_top_k_costs),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
