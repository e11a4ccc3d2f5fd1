/* Lookups as in transformers: in weights that something else also reads, and in activations. Their gradients
 * by finite differences, costs, and sums of lookups in one buffer. */
#include "tests/cmocka_all.h"
#include "tests/models/model_check.h"

#include "models/transform/backward.h"
#include "models/cost/cost.h"
#include "models/cost/memory.h"
#include "models/op.h"
#include "models/optimizer.h"
#include "models/forward.h"

#include <string.h>

static uint32_t look_up(struct chain *chain, uint32_t x, int rank, const int64_t *dim,
                        struct pdnn_fill fill) {
    struct pdnn_tensor ids = {
        .role = PDNN_ROLE_INPUT, .dtype = PDNN_S32, .rank = rank, .fill = fill, .of = PDNN_NONE};
    memcpy(ids.dim, dim, (size_t)rank * sizeof *dim);
    uint32_t id = pdnn_graph_tensor(&chain->graph, &ids);
    return pdnn_graph_forward(&chain->graph, &pdnn_op_embedding, (uint32_t[]){id, x, PDNN_NONE}, NULL);
}

static uint32_t apply(struct chain *chain, const struct pdnn_op_def *op, uint32_t a, uint32_t b) {
    return pdnn_graph_forward(&chain->graph, op, (uint32_t[]){a, b, PDNN_NONE}, NULL);
}

enum { B = 3, N = 4, E = 5, WORDS = 7 };

/* The number of backward nodes of the op with this many inputs. */
static int count_backward(const struct chain *chain, const struct pdnn_op_def *op, int n_inputs) {
    int count = 0;
    for (size_t i = 0; i < chain->graph.n_nodes; i++) {
        const struct pdnn_node *node = &chain->graph.nodes[i];
        bool is_backward = node->pass == PDNN_BACKWARD_DATA || node->pass == PDNN_BACKWARD_WEIGHTS;
        count += node->op == op && is_backward && node->n_inputs == n_inputs;
    }
    return count;
}

/* A table that is also the output's weights: the lookup adds its gradient to that of the product. */
static void test_gradient_tied(void **state) {
    (void)state;
    struct chain chain;
    begin_chain(&chain);
    uint32_t table = chain_weight(&chain, 2, (int64_t[]){WORDS, E});
    uint32_t x = look_up(&chain, table, 1, (int64_t[]){B * N}, (struct pdnn_fill){PDNN_FILL_ZIPF, WORDS});
    check_chain(&chain, apply(&chain, &pdnn_op_dense, x, table), "tied");
}

/* Gathers rows of an activation twice; the activation is also read directly. */
static uint32_t append_gathers(struct chain *chain, uint32_t x) {
    uint32_t some = look_up(chain, x, 2, (int64_t[]){B, 2}, (struct pdnn_fill){PDNN_FILL_MASKED, N});
    uint32_t first = look_up(chain, x, 1, (int64_t[]){2 * B}, (struct pdnn_fill){PDNN_FILL_STRIDE, 2});
    return apply(chain, &pdnn_op_add, some, first);
}

static void test_gradient_gather(void **state) {
    (void)state;
    struct chain chain;
    begin_chain(&chain);
    uint32_t w = chain_weight(&chain, 2, (int64_t[]){B * N, E});
    uint32_t x = apply(&chain, &pdnn_op_tanh, w, PDNN_NONE);
    check_chain(&chain, append_gathers(&chain, x), "gathers of an activation");
}

/* The lookup and its own rows are added: both gradients are one tensor. */
static void test_gradient_gather_and_add(void **state) {
    (void)state;
    struct chain chain;
    begin_chain(&chain);
    uint32_t w = chain_weight(&chain, 2, (int64_t[]){B * N, E});
    uint32_t x = apply(&chain, &pdnn_op_tanh, w, PDNN_NONE);
    uint32_t y = look_up(&chain, x, 1, (int64_t[]){B * N}, (struct pdnn_fill){PDNN_FILL_POSITION, N});
    check_chain(&chain, apply(&chain, &pdnn_op_add, y, x), "gather and add");
}

/* Later lookups add to an existing gradient in place; no node sums whole tables. */
static void test_backward_goes_on(void **state) {
    (void)state;
    struct chain chain;
    begin_chain(&chain);
    uint32_t table = chain_weight(&chain, 2, (int64_t[]){B * N, E});
    uint32_t words =
        look_up(&chain, table, 1, (int64_t[]){B * N}, (struct pdnn_fill){PDNN_FILL_CLASS, B * N});
    uint32_t y = append_gathers(&chain, apply(&chain, &pdnn_op_tanh, words, PDNN_NONE));
    chain_loss(&chain, apply(&chain, &pdnn_op_dense, y, table));
    pdnn_backward_derive(&chain.graph, &pdnn_optimizers[PDNN_OPTIMIZER_SGD]);
    assert_int_equal(count_backward(&chain, &pdnn_op_embedding, 2), 1);
    assert_int_equal(count_backward(&chain, &pdnn_op_embedding, 3), 2);
    assert_int_equal(count_backward(&chain, &pdnn_op_add, 2), 0);
    pdnn_arena_finish(&chain.arena);
}

static uint32_t add_up(struct chain *chain, uint32_t x, int64_t bags, int64_t each, struct pdnn_fill fill) {
    struct pdnn_tensor ids = {.role = PDNN_ROLE_INPUT,
                              .dtype = PDNN_S32,
                              .rank = 2,
                              .dim = {bags, each},
                              .fill = fill,
                              .of = PDNN_NONE};
    uint32_t id = pdnn_graph_tensor(&chain->graph, &ids);
    return pdnn_graph_forward(&chain->graph, &pdnn_op_embedding_bag, (uint32_t[]){id, x, PDNN_NONE}, NULL);
}

/* Bags of a table that is also looked up and multiplied with, and of rows of an activation that is also
 * added. */
static void test_gradient_bag(void **state) {
    (void)state;
    struct chain chain;
    begin_chain(&chain);
    uint32_t table = chain_weight(&chain, 2, (int64_t[]){WORDS, E});
    uint32_t x = add_up(&chain, table, B * N, 3, (struct pdnn_fill){PDNN_FILL_ZIPF, WORDS});
    uint32_t one = look_up(&chain, table, 1, (int64_t[]){B * N}, (struct pdnn_fill){PDNN_FILL_CLASS, 2});
    x = apply(&chain, &pdnn_op_tanh, apply(&chain, &pdnn_op_add, x, one), PDNN_NONE);
    uint32_t near = add_up(&chain, x, B * N, 4, (struct pdnn_fill){PDNN_FILL_CLASS, B * N});
    x = apply(&chain, &pdnn_op_add, near, x);
    check_chain(&chain, apply(&chain, &pdnn_op_dense, x, table), "bags");
}

/* By hand, below and beyond the number of rows; one id a bag costs what a lookup does. */
static void test_bag_costs(void **state) {
    (void)state;
    enum { ROW = E * (int)sizeof(float) };
    static const struct {
        int64_t V, bags, each, read;
    } rows[] = {{100, 6, 4, 24}, {10, 6, 4, 10}, {100, 6, 1, 6}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t bags = rows[i].bags, ids = bags * rows[i].each, V = rows[i].V;
        struct chain chain;
        struct pdnn_err err = {0};
        begin_chain(&chain);
        uint32_t table = chain_weight(&chain, 2, (int64_t[]){V, E});
        chain_loss(&chain,
                   add_up(&chain, table, bags, rows[i].each, (struct pdnn_fill){PDNN_FILL_CLASS, (double)V}));
        pdnn_backward_derive(&chain.graph, &pdnn_optimizers[PDNN_OPTIMIZER_SGD]);
        int met = 0;
        for (size_t k = 0; k < chain.graph.n_nodes; k++) {
            const struct pdnn_node *node = &chain.graph.nodes[k];
            struct pdnn_cost cost;
            if (node->op != &pdnn_op_embedding_bag)
                continue;
            met++;
            bool is_forward = node->pass == PDNN_FORWARD;
            assert_int_equal(pdnn_cost_node(&chain.graph, node, &cost, &err), PDNN_OK);
            assert_int_equal(cost.flop_count, is_forward ? (ids - bags) * E : ids * E);
            assert_int_equal(cost.byte_count,
                             ids * (int64_t)sizeof(int32_t) + ROW * (bags + (is_forward ? rows[i].read : V)));
        }
        assert_int_equal(met, 2);
        pdnn_arena_finish(&chain.arena);
    }
}

/* The first lookup writes its gradient whole; a later one reads and writes only the rows with ids. */
static void test_backward_bytes(void **state) {
    (void)state;
    enum { ROW = E * (int)sizeof(float), R = B * N };
    static const struct {
        int64_t V, first, further; /* rows read or written */
    } rows[] = {{100, R + 100, 3 * R}, {2, R + 2, R + 2 * 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct chain chain;
        struct pdnn_cost cost;
        struct pdnn_err err = {0};
        begin_chain(&chain);
        const struct pdnn_fill ids = {PDNN_FILL_CLASS, (double)rows[i].V};
        uint32_t table = chain_weight(&chain, 2, (int64_t[]){rows[i].V, E});
        uint32_t y = look_up(&chain, table, 1, (int64_t[]){R}, ids);
        chain_loss(&chain, apply(&chain, &pdnn_op_add, y, look_up(&chain, table, 1, (int64_t[]){R}, ids)));
        pdnn_backward_derive(&chain.graph, &pdnn_optimizers[PDNN_OPTIMIZER_SGD]);
        for (size_t k = 0; k < chain.graph.n_nodes; k++) {
            const struct pdnn_node *node = &chain.graph.nodes[k];
            if (node->op != &pdnn_op_embedding || node->pass != PDNN_BACKWARD_WEIGHTS)
                continue;
            assert_int_equal(pdnn_cost_node(&chain.graph, node, &cost, &err), PDNN_OK);
            assert_int_equal(cost.flop_count, R * E);
            assert_int_equal(cost.byte_count,
                             R * (int)sizeof(int32_t) +
                                 ROW * (node->n_inputs == 2 ? rows[i].first : rows[i].further));
        }
        pdnn_arena_finish(&chain.arena);
    }
}

/* Rows of the table that are read: all ids may differ if they are drawn, but not those that are known. */
static void test_forward_bytes(void **state) {
    (void)state;
    enum { V = 100, R = B * N };
    static const struct {
        struct pdnn_fill ids;
        int64_t rows;
    } rows[] = {{{PDNN_FILL_CLASS, V}, R},    {{PDNN_FILL_ZIPF, V}, R},   {{PDNN_FILL_CLASS, 2}, 2},
                {{PDNN_FILL_POSITION, N}, N}, {{PDNN_FILL_STRIDE, N}, R}, {{PDNN_FILL_CONSTANT, N - 1}, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct chain chain;
        struct pdnn_cost cost;
        begin_chain(&chain);
        uint32_t table = chain_weight(&chain, 2, (int64_t[]){V, E});
        look_up(&chain, table, 1, (int64_t[]){R}, rows[i].ids);
        assert_int_equal(pdnn_cost_node(&chain.graph, &chain.graph.nodes[0], &cost, NULL), PDNN_OK);
        assert_int_equal(cost.weight_bytes, rows[i].rows * E * (int64_t)sizeof(float));
        pdnn_arena_finish(&chain.arena);
    }
}

/* Words, positions and segments: sums in the words' buffer. */
static void test_sum_in_place(void **state) {
    (void)state;
    static const struct pdnn_fill fills[] = {
        {PDNN_FILL_ZIPF, WORDS}, {PDNN_FILL_POSITION, N}, {PDNN_FILL_CLASS, 2}};
    struct chain chain;
    struct pdnn_lifetime *lifetimes;
    begin_chain(&chain);
    uint32_t sum = PDNN_NONE;
    for (int i = 0; i < 3; i++) {
        uint32_t table = chain_weight(&chain, 2, (int64_t[]){(int64_t)fills[i].scale, E});
        uint32_t rows = look_up(&chain, table, 1, (int64_t[]){B * N}, fills[i]), before = sum;
        sum = i ? apply(&chain, &pdnn_op_add, sum, rows) : rows;
        chain.graph.result = sum;
        lifetimes = pdnn_memory_lifetimes(&chain.graph);
        assert_int_equal(lifetimes[sum].takes_over, before);
    }
    pdnn_arena_finish(&chain.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient_bag),
        cmocka_unit_test(test_bag_costs),
        cmocka_unit_test(test_gradient_tied),
        cmocka_unit_test(test_gradient_gather),
        cmocka_unit_test(test_gradient_gather_and_add),
        cmocka_unit_test(test_backward_goes_on),
        cmocka_unit_test(test_forward_bytes),
        cmocka_unit_test(test_backward_bytes),
        cmocka_unit_test(test_sum_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
