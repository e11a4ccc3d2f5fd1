/* Rotary positions, in double: gradients by finite differences, FLOP against a counting run, costs by hand,
 * what makes them positions, and what is refused. */
#include "tests/cmocka_all.h"
#include "tests/models/model_check.h"
#include "tests/models/reference_run.h"
#include "tests/near.h"

#include "models/attributes.h"
#include "models/forward.h"
#include "models/op.h"

#include <string.h>

/* Two sequences of three rows: two heads of four columns behind one column, and two columns behind them. */
enum { B = 2, N = 3, HEADS = 2, WIDTH = 4, COLUMN = 1, LD = COLUMN + HEADS * WIDTH + 2 };

static uint32_t append(struct chain *chain, uint32_t x, int64_t position) {
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_ROPE_SEQUENCES] = B,
                                            [PDNN_ROPE_HEADS] = HEADS,
                                            [PDNN_ROPE_WIDTH] = WIDTH,
                                            [PDNN_ROPE_COLUMN] = COLUMN,
                                            [PDNN_ROPE_POSITION] = position};
    return pdnn_graph_forward(&chain->graph, &pdnn_op_rope, (uint32_t[]){x, PDNN_NONE}, attrs);
}

static void test_gradient(void **state) {
    (void)state;
    struct chain chain;
    begin_chain(&chain);
    check_chain(&chain, append(&chain, chain_weight(&chain, 2, (int64_t[]){B * N, LD}), 5), "rope");
}

static double product(const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; i < WIDTH; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Rows at position 0 and columns beside the heads stay. The product of the same two heads depends on how far
 * apart they are, not on where, and an offset is a position. */
static void test_values(void **state) {
    (void)state;
    struct chain chain;
    begin_chain(&chain);
    uint32_t x = chain_weight(&chain, 2, (int64_t[]){B * N, LD});
    uint32_t y = append(&chain, x, 0), later = append(&chain, x, 1);
    double **values = reference_values(&chain.graph);
    for (int64_t i = 0; i < B * N * LD; i++)
        values[x][i] = (double)(i % LD * 7 % 5) - 2;
    reference_run(&chain.graph, values, 0, 2);
    for (int64_t row = 0; row < B * N; row++) {
        const double *from = values[x] + row * LD, *to = values[y] + row * LD;
        bool stays = row % N == 0;
        assert_true(stays == (memcmp(from, to, LD * sizeof *to) == 0));
        assert_true(from[0] == to[0] && memcmp(from + LD - 2, to + LD - 2, 2 * sizeof *to) == 0);
        for (int head = 0; head < HEADS; head++) {
            const double *at = to + COLUMN + head * WIDTH;
            assert_near(product(at, at), product(from + COLUMN + head * WIDTH, from + COLUMN + head * WIDTH),
                        1e-12);
            if (row % N + 1 < N) {
                const double *next = values[later] + row * LD + COLUMN + head * WIDTH;
                assert_near(product(next, at + LD), product(at + LD, at + LD), 1e-12);
            }
        }
    }
    const double *q = values[y] + COLUMN, *k = values[y] + COLUMN + WIDTH;
    assert_near(product(q, k + LD), product(q + LD, k + 2 * LD), 1e-12);
    assert_true(product(q, k + LD) != product(q, k + 2 * LD));
    reference_values_free(&chain.graph, values);
    pdnn_arena_finish(&chain.arena);
}

static void test_costs(void **state) {
    (void)state;
    struct chain chain;
    struct pdnn_cost cost;
    struct pdnn_err err = {0};
    begin_chain(&chain);
    append(&chain, chain_weight(&chain, 2, (int64_t[]){B * N, LD}), 0);
    assert_int_equal(pdnn_cost_node(&chain.graph, chain.graph.nodes, &cost, &err), PDNN_OK);
    assert_int_equal(cost.flop_count, 3 * 6 * 2 * 4);
    assert_int_equal(cost.byte_count, 2 * 6 * 2 * 4 * 4);
    pdnn_arena_finish(&chain.arena);
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        int64_t attrs[PDNN_NODE_ATTRS];
        const char *reason;
    } rows[] = {{{4, HEADS, WIDTH, COLUMN, 0}, "rope: expected rows (B*n, ld) of B sequences"},
                {{B, HEADS, WIDTH, COLUMN, -1}, "rope: expected rows (B*n, ld) of B sequences"},
                {{B, HEADS, 3, COLUMN, 0}, "rope: width=3 is not even"},
                {{B, 3, WIDTH, COLUMN, 0}, "rope: no 3 heads of width=4 from column=1 on in 11 columns"},
                {{B, 2, WIDTH, 4, 0}, "rope: no 2 heads of width=4 from column=4 on in 11 columns"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct chain chain;
        struct pdnn_err err = {0};
        begin_chain(&chain);
        uint32_t x = chain_weight(&chain, 2, (int64_t[]){B * N, LD});
        pdnn_graph_forward(&chain.graph, &pdnn_op_rope, (uint32_t[]){x, PDNN_NONE}, rows[i].attrs);
        assert_int_equal(pdnn_graph_status(&chain.graph, &err), PDNN_INVALID);
        assert_string_equal(err.text, rows[i].reason);
        pdnn_arena_finish(&chain.arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_costs),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
