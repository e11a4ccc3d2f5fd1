/* Products of pairs of vectors, in double: gradients by finite differences, FLOP by counting and by hand,
 * bytes, the order of the pairs, and what is refused. */
#include "tests/cmocka_all.h"
#include "tests/models/model_check.h"
#include "tests/models/reference_run.h"
#include "tests/near.h"

#include "models/attributes.h"
#include "models/forward.h"
#include "models/op.h"
#include "models/optimizer.h"
#include "models/transform/backward.h"

enum { N = 3, D = 4 };

static uint32_t append(struct chain *chain, uint32_t x, int64_t width, int64_t pairs) {
    const int64_t attrs[PDNN_NODE_ATTRS] = {
        [PDNN_INTERACTION_WIDTH] = width, [PDNN_INTERACTION_PAIRS] = pairs};
    return pdnn_graph_forward(&chain->graph, &pdnn_op_interaction, (uint32_t[]){x, PDNN_NONE}, attrs);
}

static void test_gradients(void **state) {
    (void)state;
    for (int64_t k = 2; k < 6; k++) {
        for (int64_t pairs = PDNN_INTERACTION_BELOW; pairs <= PDNN_INTERACTION_ALL; pairs++) {
            struct chain chain;
            begin_chain(&chain);
            uint32_t x = chain_weight(&chain, 2, (int64_t[]){N, k * D});
            check_chain(&chain, append(&chain, x, D, pairs), "interaction");
        }
    }
}

/* Two, three or more vectors, of which each pair is multiplied once, or all with all. */
static void test_costs(void **state) {
    static const struct {
        int64_t k, pairs, products;
    } rows[] = {
        {2, PDNN_INTERACTION_BELOW, 1}, {27, PDNN_INTERACTION_BELOW, 351}, {27, PDNN_INTERACTION_ALL, 729}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct chain chain;
        begin_chain(&chain);
        int64_t inputs = N * rows[i].k * D, P = rows[i].products;
        uint32_t x = chain_weight(&chain, 2, (int64_t[]){N, rows[i].k * D});
        uint32_t y = append(&chain, x, D, rows[i].pairs);
        assert_int_equal(chain.graph.tensors[y].dim[0], N);
        assert_int_equal(chain.graph.tensors[y].dim[1], P);
        chain_loss(&chain, y);
        pdnn_backward_derive(&chain.graph, &pdnn_optimizers[PDNN_OPTIMIZER_SGD]);
        int met = 0;
        for (size_t n = 0; n < chain.graph.n_nodes; n++) {
            const struct pdnn_node *node = &chain.graph.nodes[n];
            struct pdnn_cost cost;
            struct pdnn_err err = {0};
            if (node->op != &pdnn_op_interaction)
                continue;
            assert_int_equal(pdnn_cost_node(&chain.graph, node, &cost, &err), PDNN_OK);
            assert_int_equal(cost.flop_count, N * P * D * (node->pass == PDNN_FORWARD ? 2 : 4));
            assert_int_equal(cost.byte_count, 4 * (N * P + inputs * (node->pass == PDNN_FORWARD ? 1 : 2)));
            met++;
        }
        assert_int_equal(met, 2);
        pdnn_arena_finish(&chain.arena);
    }
}

/* Vectors of one column: products of numbers. */
static void test_order_of_pairs(void **state) {
    static const double x[] = {2, 3, 5, 7}, below[] = {6, 10, 15, 14, 21, 35},
                        all[] = {4, 6, 10, 14, 6, 9, 15, 21, 10, 15, 25, 35, 14, 21, 35, 49};
    (void)state;
    for (int64_t pairs = PDNN_INTERACTION_BELOW; pairs <= PDNN_INTERACTION_ALL; pairs++) {
        const double *expected = pairs == PDNN_INTERACTION_ALL ? all : below;
        struct chain chain;
        begin_chain(&chain);
        uint32_t from = chain_weight(&chain, 2, (int64_t[]){1, 4}), y = append(&chain, from, 1, pairs);
        double **values = reference_values(&chain.graph);
        for (int i = 0; i < 4; i++)
            values[from][i] = x[i];
        reference_run(&chain.graph, values, 0, 1);
        for (int i = 0; i < (pairs == PDNN_INTERACTION_ALL ? 16 : 6); i++)
            assert_near(values[y][i], expected[i], 0);
        reference_values_free(&chain.graph, values);
        pdnn_arena_finish(&chain.arena);
    }
}

static void test_refusals(void **state) {
    static const struct {
        int rank;
        int64_t columns, width;
    } rows[] = {{2, 8, 3}, {2, 8, 0}, {2, 8, -4}, {2, 8, 8}, {1, 8, 4}, {3, 8, 4}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct chain chain;
        struct pdnn_err err = {0};
        begin_chain(&chain);
        append(&chain, chain_weight(&chain, rows[i].rank, (int64_t[]){8, rows[i].columns, 8}), rows[i].width,
               0);
        assert_int_equal(pdnn_graph_status(&chain.graph, &err), PDNN_INVALID);
        pdnn_arena_finish(&chain.arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gradients), cmocka_unit_test(test_costs),
                                       cmocka_unit_test(test_order_of_pairs),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
