/* Products of heads of which several share keys and values, and of which queries see a window of keys, in
 * double: gradients by finite differences, FLOP against a counting run, costs by hand, values against copied
 * keys and masked scores, and what is refused. */
#include "tests/cmocka_all.h"
#include "tests/models/model_check.h"
#include "tests/models/reference_run.h"
#include "tests/near.h"

#include "models/attributes.h"
#include "models/forward.h"
#include "models/op.h"

#include <stdio.h>
#include <string.h>

enum { B = 2, HEADS = 6, GROUPS = 2, D = 3, WIDTH = HEADS * D, NARROW = GROUPS * D };

/* Where queries, keys and values are, and what scores see. */
struct attention {
    uint32_t q, k, v;
    int64_t k_column, v_column, groups, window;
};

static uint32_t scores_of(struct chain *chain, const struct attention *at) {
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_MATMUL_SEQUENCES] = B,
                                            [PDNN_MATMUL_HEADS] = HEADS,
                                            [PDNN_MATMUL_WIDTH] = D,
                                            [PDNN_MATMUL_B_HEADS] = at->groups,
                                            [PDNN_MATMUL_B_COLUMN] = at->k_column,
                                            [PDNN_MATMUL_TRANSPOSE_B] = 1,
                                            [PDNN_MATMUL_WINDOW] = at->window};
    return pdnn_graph_forward(&chain->graph, &pdnn_op_matmul, (uint32_t[]){at->q, at->k, PDNN_NONE}, attrs);
}

static uint32_t context_of(struct chain *chain, const struct attention *at, uint32_t scores) {
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_MATMUL_SEQUENCES] = B,
                                            [PDNN_MATMUL_HEADS] = HEADS,
                                            [PDNN_MATMUL_WIDTH] = D,
                                            [PDNN_MATMUL_B_HEADS] = at->groups,
                                            [PDNN_MATMUL_B_COLUMN] = at->v_column,
                                            [PDNN_MATMUL_Y_WIDTH] = WIDTH,
                                            [PDNN_MATMUL_WINDOW] = at->window};
    return pdnn_graph_forward(&chain->graph, &pdnn_op_matmul, (uint32_t[]){scores, at->v, PDNN_NONE}, attrs);
}

/* Queries, keys and values as columns of one tensor. */
static struct attention fused(struct chain *chain, int64_t tokens, int64_t window) {
    uint32_t x = chain_weight(chain, 2, (int64_t[]){B * tokens, 3});
    uint32_t w = chain_weight(chain, 2, (int64_t[]){WIDTH + 2 * NARROW, 3});
    uint32_t qkv = pdnn_graph_forward(&chain->graph, &pdnn_op_dense, (uint32_t[]){x, w, PDNN_NONE}, NULL);
    return (struct attention){qkv, qkv, qkv, WIDTH, WIDTH + NARROW, GROUPS, window};
}

static struct attention apart(struct chain *chain, int64_t n, int64_t m, int64_t window) {
    return (struct attention){.q = chain_weight(chain, 2, (int64_t[]){B * n, WIDTH}),
                              .k = chain_weight(chain, 2, (int64_t[]){B * m, NARROW}),
                              .v = chain_weight(chain, 2, (int64_t[]){B * m, NARROW}),
                              .groups = GROUPS,
                              .window = window};
}

/* No window, causal, some; as many queries as keys, fewer, and more, of which the first see nothing. */
static void test_gradient(void **state) {
    static const int64_t sizes[][2] = {{4, 4}, {2, 5}, {5, 2}}, windows[] = {0, 5, 2, 1};
    (void)state;
    for (size_t i = 0; i < 3 * sizeof windows / sizeof *windows; i++) {
        const int64_t *size = sizes[i % 3], window = windows[i / 3];
        struct chain chain;
        char what[64];
        begin_chain(&chain);
        const struct attention at =
            i % 3 ? apart(&chain, size[0], size[1], window) : fused(&chain, size[0], window);
        snprintf(what, sizeof what, "n=%d m=%d window=%d", (int)size[0], (int)size[1], (int)window);
        check_chain(&chain, context_of(&chain, &at, scores_of(&chain, &at)), what);
    }
}

/* Each head's keys and values are those of its group, and what is not seen is 0 and not read. */
static void test_values(void **state) {
    enum { N = 4, M = 6, WINDOW = 3 };
    struct chain chain;
    (void)state;
    begin_chain(&chain);
    const struct attention at = apart(&chain, N, M, WINDOW),
                           all = {.q = at.q, .k = at.k, .v = at.v, .groups = GROUPS};
    uint32_t full = scores_of(&chain, &all), scores = scores_of(&chain, &at);
    uint32_t context = context_of(&chain, &at, full);
    double **values = reference_values(&chain.graph);
    reference_fill(&chain.graph, values, 1);
    reference_run(&chain.graph, values, 0, chain.graph.n_nodes);
    for (int64_t i = 0; i < B * HEADS * N; i++) {
        int64_t sequence = i / (HEADS * N), head = i / N % HEADS, row = i % N, of = head / (HEADS / GROUPS);
        double sum[D] = {0};
        for (int64_t j = 0; j < M; j++) {
            bool is_seen = j <= row + M - N && j > row + M - N - WINDOW;
            const double *key = values[at.k] + (sequence * M + j) * NARROW + of * D,
                         whole = values[full][i * M + j];
            const double *query = values[at.q] + (sequence * N + row) * WIDTH + head * D;
            assert_near(whole, query[0] * key[0] + query[1] * key[1] + query[2] * key[2], 1e-12);
            assert_true(values[scores][i * M + j] == (is_seen ? whole : 0));
            for (int k = 0; k < D && is_seen; k++)
                sum[k] += whole * values[at.v][(sequence * M + j) * NARROW + of * D + k];
        }
        for (int k = 0; k < D; k++)
            assert_near(values[context][(sequence * N + row) * WIDTH + head * D + k], sum[k], 1e-12);
    }
    reference_values_free(&chain.graph, values);
    pdnn_arena_finish(&chain.arena);
}

/* Keys are read once however many heads share them. 4 queries see 3 + 3 + 3 + 3 of 6 keys in a window of 3,
 * and 3 + 4 + 5 + 6 if they are causal. */
static void test_costs(void **state) {
    enum { N = 4, M = 6 };
    static const struct { int64_t window, seen; } rows[] = {{0, N * M}, {3, 12}, {M, 18}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct chain chain;
        struct pdnn_cost cost[2];
        struct pdnn_err err = {0};
        begin_chain(&chain);
        const struct attention at = apart(&chain, N, M, rows[i].window);
        context_of(&chain, &at, scores_of(&chain, &at));
        for (int k = 0; k < 2; k++)
            assert_int_equal(pdnn_cost_node(&chain.graph, &chain.graph.nodes[k], &cost[k], &err), PDNN_OK);
        assert_int_equal(cost[0].flop_count, 2 * B * HEADS * D * rows[i].seen);
        assert_int_equal(cost[1].flop_count, cost[0].flop_count);
        assert_int_equal(cost[0].byte_count, 4 * B * (N * WIDTH + M * NARROW + HEADS * N * M));
        assert_int_equal(cost[1].byte_count, 4 * B * (HEADS * rows[i].seen + M * NARROW + N * WIDTH));
        pdnn_arena_finish(&chain.arena);
    }
}

static void expect_invalid(const struct attention *like, const char *reason) {
    struct chain chain;
    struct pdnn_err err = {0};
    begin_chain(&chain);
    struct attention at = apart(&chain, 4, 4, like->window);
    at.groups = like->groups;
    scores_of(&chain, &at);
    assert_int_equal(pdnn_graph_status(&chain.graph, &err), PDNN_INVALID);
    assert_string_equal(err.text, reason);
    pdnn_arena_finish(&chain.arena);
}

static void test_refused(void **state) {
    struct chain chain;
    struct pdnn_err err = {0};
    (void)state;
    expect_invalid(&(struct attention){.groups = 4},
                   "matmul: heads=6 are not a multiple of b_heads=4, or a is transposed");
    expect_invalid(&(struct attention){.groups = 3},
                   "matmul: expected matrices (M, K) and (K, N) of each sequence and head");
    expect_invalid(&(struct attention){.groups = 2, .window = -1},
                   "matmul: window=-1 is for scores of, or times, heads side by side");
    begin_chain(&chain);
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_MATMUL_SEQUENCES] = B,
                                            [PDNN_MATMUL_HEADS] = HEADS,
                                            [PDNN_MATMUL_WIDTH] = D,
                                            [PDNN_MATMUL_WINDOW] = 4};
    uint32_t plain = chain_weight(&chain, 3, (int64_t[]){B * HEADS, 4, 4});
    pdnn_graph_forward(&chain.graph, &pdnn_op_matmul, (uint32_t[]){plain, plain, PDNN_NONE}, attrs);
    assert_int_equal(pdnn_graph_status(&chain.graph, &err), PDNN_INVALID);
    assert_string_equal(err.text, "matmul: window=4 is for scores of, or times, heads side by side");
    pdnn_arena_finish(&chain.arena);
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
