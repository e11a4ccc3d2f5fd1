/* Products of heads, in double: gradients by finite differences for all layouts and transposes of the
 * operands, and with query, key and value as columns of one tensor; costs; what is refused; and a cache to
 * which rows are appended. B sequences, h heads, d width of a head, n queries, m keys. */
#include "tests/cmocka_all.h"
#include "tests/models/model_check.h"
#include "tests/models/reference_run.h"

#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/cost/memory.h"
#include "models/op.h"
#include "models/optimizer.h"
#include "models/forward.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { B = 2, HEADS = 3, D = 4, WIDTH = HEADS * D };

struct product {
    uint32_t a, b;
    int64_t a_column, b_column, y_width;
    bool a_transposed, b_transposed;
};

static uint32_t multiply(struct pdnn_graph *graph, const struct product *p) {
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_MATMUL_SEQUENCES] = B,
                                            [PDNN_MATMUL_HEADS] = HEADS,
                                            [PDNN_MATMUL_WIDTH] = D,
                                            [PDNN_MATMUL_A_COLUMN] = p->a_column,
                                            [PDNN_MATMUL_B_COLUMN] = p->b_column,
                                            [PDNN_MATMUL_TRANSPOSE_A] = p->a_transposed,
                                            [PDNN_MATMUL_TRANSPOSE_B] = p->b_transposed,
                                            [PDNN_MATMUL_Y_WIDTH] = p->y_width};
    return pdnn_graph_forward(graph, &pdnn_op_matmul, (uint32_t[]){p->a, p->b, PDNN_NONE}, attrs);
}

/* Weights as matrices (rows, columns), or as heads side by side if their columns have the width of a head. */
static uint32_t new_operand(struct chain *chain, bool is_plain, int64_t rows, int64_t columns) {
    if (is_plain)
        return chain_weight(chain, 3, (int64_t[]){B * HEADS, rows, columns});
    assert_int_equal(columns, D);
    return chain_weight(chain, 2, (int64_t[]){B * rows, WIDTH});
}

/* Every operand transposed or not, and in either layout if its columns allow it. */
static void test_gradient_any_operand(void **state) {
    enum { M = 3, N = D, K = D, CASES = 1 << 5 };
    (void)state;
    for (int bits = 0; bits < CASES; bits++) {
        bool a_transposed = bits & 1, b_transposed = bits & 2, a_plain = bits & 4, b_plain = bits & 8;
        bool y_plain = bits & 16;
        /* Heads side by side have D columns, so M is D too if a is transposed and not plain. */
        int64_t rows = a_transposed && !a_plain ? D : M;
        char what[64];
        struct chain chain;
        begin_chain(&chain);
        struct product p = {.y_width = y_plain ? 0 : WIDTH, .a_transposed = a_transposed};
        p.b_transposed = b_transposed;
        p.a = a_transposed ? new_operand(&chain, a_plain, K, rows) : new_operand(&chain, a_plain, rows, K);
        p.b = b_transposed ? new_operand(&chain, b_plain, N, K) : new_operand(&chain, b_plain, K, N);
        snprintf(what, sizeof what, "operands %d", bits);
        check_chain(&chain, multiply(&chain.graph, &p), what);
    }
}

struct attention {
    uint32_t q, k, v;
    int64_t q_column, k_column, v_column;
};

static uint32_t attend(struct pdnn_graph *graph, const struct attention *at) {
    const struct product scores = {
        .a = at->q, .b = at->k, .a_column = at->q_column, .b_column = at->k_column, .b_transposed = true};
    const struct product context = {
        .a = multiply(graph, &scores), .b = at->v, .b_column = at->v_column, .y_width = WIDTH};
    return multiply(graph, &context);
}

/* More keys than queries. */
static void test_gradient_separate(void **state) {
    enum { QUERIES = 3, KEYS = 5 };
    struct chain chain;
    (void)state;
    begin_chain(&chain);
    const struct attention at = {.q = new_operand(&chain, false, QUERIES, D),
                                 .k = new_operand(&chain, false, KEYS, D),
                                 .v = new_operand(&chain, false, KEYS, D)};
    check_chain(&chain, attend(&chain.graph, &at), "separate");
}

/* Keys, queries and values, in this order, from one dense layer: its gradient
 * is one tensor in three parts. */
static uint32_t fused(struct chain *chain, int64_t tokens) {
    enum { INPUTS = 3 };
    uint32_t x = chain_weight(chain, 2, (int64_t[]){B * tokens, INPUTS});
    uint32_t w = chain_weight(chain, 2, (int64_t[]){3 * WIDTH, INPUTS});
    uint32_t qkv = pdnn_graph_forward(&chain->graph, &pdnn_op_dense, (uint32_t[]){x, w, PDNN_NONE}, NULL);
    const struct attention at = {qkv, qkv, qkv, WIDTH, 0, 2 * WIDTH};
    return attend(&chain->graph, &at);
}

static void test_gradient_fused(void **state) {
    struct chain chain;
    (void)state;
    begin_chain(&chain);
    check_chain(&chain, fused(&chain, 4), "fused");
}

/* Keys and values for queries of other tokens: one tensor in two parts. */
static void test_gradient_fused_keys(void **state) {
    enum { QUERIES = 2, KEYS = 4 };
    struct chain chain;
    (void)state;
    begin_chain(&chain);
    uint32_t kv = chain_weight(&chain, 2, (int64_t[]){B * KEYS, 2 * WIDTH});
    const struct attention at = {
        .q = new_operand(&chain, false, QUERIES, D), .k = kv, .v = kv, .v_column = WIDTH};
    check_chain(&chain, attend(&chain.graph, &at), "fused keys");
}

/* One tensor as both operands: its two gradients are added. */
static void test_gradient_shared(void **state) {
    struct chain chain;
    (void)state;
    begin_chain(&chain);
    uint32_t x = new_operand(&chain, false, 3, D);
    const struct product p = {.a = x, .b = x, .b_transposed = true};
    check_chain(&chain, multiply(&chain.graph, &p), "shared");
}

/* Three nodes write the gradient of the fused tensor, each in the memory of the previous one. */
static void test_fused_in_place(void **state) {
    struct chain chain;
    struct pdnn_lifetime *lifetimes;
    struct pdnn_err err = {0};
    uint32_t parts[3] = {0};
    int n_parts = 0;
    (void)state;
    begin_chain(&chain);
    struct pdnn_graph *graph = &chain.graph;
    uint32_t y = fused(&chain, 4), labels = chain_weight(&chain, 1, (int64_t[]){B * 4});
    graph->tensors[labels].dtype = PDNN_S32;
    graph->tensors[labels].role = PDNN_ROLE_LABEL;
    graph->loss =
        pdnn_graph_forward(graph, &pdnn_op_softmax_cross_entropy, (uint32_t[]){y, labels, PDNN_NONE}, NULL);
    pdnn_backward_derive(graph, &pdnn_optimizers[PDNN_OPTIMIZER_SGD]);
    assert_int_equal(pdnn_graph_status(graph, &err), PDNN_OK);
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        assert_ptr_not_equal(node->op, &pdnn_op_add);
        if (node->op == &pdnn_op_matmul && node->attr[PDNN_MATMUL_Y_WIDTH] == 3 * WIDTH) {
            assert_true(n_parts < 3);
            parts[n_parts++] = node->output[0];
        }
    }
    assert_int_equal(n_parts, 3);
    lifetimes = pdnn_memory_lifetimes(graph);
    assert_int_equal(lifetimes[parts[0]].takes_over, PDNN_NONE);
    assert_int_equal(lifetimes[parts[1]].takes_over, parts[0]);
    assert_int_equal(lifetimes[parts[2]].takes_over, parts[1]);
    pdnn_arena_finish(&chain.arena);
}

/* Columns read by two products, or by none, would not get their correct gradient. */
static void test_gradient_refused(void **state) {
    static const struct {
        int64_t width, q_column, k_column;
    } rows[] = {{2 * WIDTH, 0, 0}, {2 * WIDTH, 0, D}, {2 * WIDTH + 1, 0, WIDTH}, {3 * WIDTH, WIDTH, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct chain chain;
        struct pdnn_err err = {0};
        begin_chain(&chain);
        struct pdnn_graph *graph = &chain.graph;
        uint32_t x = chain_weight(&chain, 2, (int64_t[]){B * 3, rows[i].width});
        const struct product p = {
            .a = x, .b = x, .a_column = rows[i].q_column, .b_column = rows[i].k_column, .b_transposed = true};
        uint32_t w = chain_weight(&chain, 2, (int64_t[]){2, 3 * 3});
        uint32_t y =
            pdnn_graph_forward(graph, &pdnn_op_dense, (uint32_t[]){multiply(graph, &p), w, PDNN_NONE}, NULL);
        uint32_t labels = chain_weight(&chain, 1, (int64_t[]){B * HEADS});
        graph->tensors[labels].dtype = PDNN_S32;
        graph->loss = pdnn_graph_forward(graph, &pdnn_op_softmax_cross_entropy,
                                         (uint32_t[]){y, labels, PDNN_NONE}, NULL);
        pdnn_backward_derive(graph, &pdnn_optimizers[PDNN_OPTIMIZER_SGD]);
        assert_int_equal(pdnn_graph_status(graph, &err), PDNN_UNSUPPORTED);
        pdnn_arena_finish(&chain.arena);
    }
}

static void expect_invalid(int rank, const int64_t *a, const int64_t *b, struct product p) {
    struct chain chain;
    struct pdnn_err err = {0};
    begin_chain(&chain);
    p.a = chain_weight(&chain, rank, a);
    p.b = chain_weight(&chain, rank, b);
    multiply(&chain.graph, &p);
    assert_int_equal(pdnn_graph_status(&chain.graph, &err), PDNN_INVALID);
    pdnn_arena_finish(&chain.arena);
}

static void test_infer_invalid(void **state) {
    (void)state;
    const int64_t heads[] = {B * 3, WIDTH}, odd[] = {B * 3 + 1, WIDTH}, narrow[] = {B * 3, WIDTH - 1};
    const int64_t plain[] = {B * HEADS, 3, D}, few[] = {B * HEADS - 1, D, 3};
    const struct product transposed = {.b_transposed = true};
    expect_invalid(2, heads, heads, (struct product){0}); /* K is d, and 3 */
    expect_invalid(2, odd, heads, transposed);
    expect_invalid(2, heads, narrow, transposed);
    expect_invalid(2, heads, heads, (struct product){.b_transposed = true, .a_column = 1});
    expect_invalid(2, heads, heads, (struct product){.b_transposed = true, .b_column = -1});
    expect_invalid(2, heads, heads, (struct product){.b_transposed = true, .y_width = WIDTH}); /* N is 3 */
    expect_invalid(3, plain, few, (struct product){0});
    expect_invalid(3, plain, plain, (struct product){.a_transposed = true, .y_width = 2 * WIDTH});
}

struct bert {
    int64_t sequences, heads, d, n;
};

/* FLOP and bytes of scores and context, forward only or with gradients, for fused or separate tensors. */
static struct pdnn_cost cost_of(const struct bert *bert, bool is_fused, bool with_gradients) {
    struct chain chain;
    struct pdnn_cost sum = {0}, cost;
    struct pdnn_err err = {0};
    int64_t H = bert->heads * bert->d;
    begin_chain(&chain);
    struct pdnn_graph *graph = &chain.graph;
    uint32_t x[3];
    for (int i = 0; i < 3; i++)
        x[i] = is_fused && i
                   ? x[0]
                   : chain_weight(&chain, 2, (int64_t[]){bert->sequences * bert->n, is_fused ? 3 * H : H});
    int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_MATMUL_SEQUENCES] = bert->sequences,
                                      [PDNN_MATMUL_HEADS] = bert->heads,
                                      [PDNN_MATMUL_WIDTH] = bert->d,
                                      [PDNN_MATMUL_B_COLUMN] = is_fused ? H : 0,
                                      [PDNN_MATMUL_TRANSPOSE_B] = 1};
    uint32_t y = pdnn_graph_forward(graph, &pdnn_op_matmul, (uint32_t[]){x[0], x[1], PDNN_NONE}, attrs);
    attrs[PDNN_MATMUL_B_COLUMN] = is_fused ? 2 * H : 0;
    attrs[PDNN_MATMUL_TRANSPOSE_B] = 0;
    attrs[PDNN_MATMUL_Y_WIDTH] = H;
    y = pdnn_graph_forward(graph, &pdnn_op_matmul, (uint32_t[]){y, x[2], PDNN_NONE}, attrs);
    uint32_t labels = chain_weight(&chain, 1, (int64_t[]){bert->sequences * bert->n});
    graph->tensors[labels].dtype = PDNN_S32;
    graph->loss =
        pdnn_graph_forward(graph, &pdnn_op_softmax_cross_entropy, (uint32_t[]){y, labels, PDNN_NONE}, NULL);
    if (with_gradients)
        pdnn_backward_derive(graph, &pdnn_optimizers[PDNN_OPTIMIZER_SGD]);
    assert_int_equal(pdnn_graph_status(graph, &err), PDNN_OK);
    for (size_t i = 0; i < graph->n_nodes; i++) {
        if (graph->nodes[i].op != &pdnn_op_matmul)
            continue;
        assert_int_equal(pdnn_cost_node(graph, &graph->nodes[i], &cost, &err), PDNN_OK);
        assert_int_equal(pdnn_cost_add(&sum, &cost, &err), PDNN_OK);
    }
    pdnn_arena_finish(&chain.arena);
    return sum;
}

/* BERT-Large: 4 T n H FLOP forward and twice that backward, at 16 and 25.6 FLOP per byte. */
static void test_cost_bert(void **state) {
    static const struct {
        struct bert bert;
        double intensity;
    } rows[] = {{{32, 16, 64, 128}, 16.0}, {{4, 16, 64, 128}, 16.0}, {{4, 16, 64, 512}, 25.6}};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        const struct bert *bert = &rows[i / 2].bert;
        struct pdnn_cost forward = cost_of(bert, i % 2, false), step = cost_of(bert, i % 2, true);
        int64_t T = bert->sequences * bert->n, H = bert->heads * bert->d;
        assert_int_equal(forward.flop_count, 4 * T * bert->n * H);
        assert_int_equal(step.flop_count, 3 * forward.flop_count);
        assert_int_equal(step.byte_count, 3 * forward.byte_count);
        double intensity = (double)forward.flop_count / (double)forward.byte_count;
        assert_true(fabs(intensity - rows[i / 2].intensity) < 0.01);
    }
}

/* Appends x (SEQUENCES*rows, LD), from column 1 on, to caches (SEQUENCES*M, H). */
static void check_append(int64_t rows, int64_t position) {
    enum { SEQUENCES = 2, M = 5, H = 3, LD = 7, COLUMN = 1 };
    struct chain chain;
    struct pdnn_err err = {0};
    struct pdnn_cost cost;
    begin_chain(&chain);
    struct pdnn_graph *graph = &chain.graph;
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_CACHE_APPEND_SEQUENCES] = SEQUENCES,
                                            [PDNN_CACHE_APPEND_COLUMN] = COLUMN,
                                            [PDNN_CACHE_APPEND_POSITION] = position};
    uint32_t x = chain_weight(&chain, 2, (int64_t[]){SEQUENCES * rows, LD});
    uint32_t cache =
        pdnn_graph_state(graph, 2, (int64_t[]){SEQUENCES * M, H}, (struct pdnn_fill){PDNN_FILL_UNIFORM, 1});
    uint32_t y = pdnn_graph_forward(graph, &pdnn_op_cache_append, (uint32_t[]){x, cache, PDNN_NONE}, attrs);
    bool fits = position >= 0 && position + rows <= M;
    assert_int_equal(pdnn_graph_status(graph, &err), fits ? PDNN_OK : PDNN_INVALID);
    if (fits) {
        double **values = reference_values(graph), **before = reference_values(graph);
        reference_fill(graph, values, 1);
        reference_fill(graph, before, 1);
        assert_int_equal(y, cache);
        assert_int_equal(reference_run(graph, values, 0, 1), 0);
        for (int64_t i = 0; i < SEQUENCES * M * H; i++) {
            int64_t sequence = i / H / M, row = i / H % M - position, c = i % H;
            bool is_new = row >= 0 && row < rows;
            double expected =
                is_new ? values[x][(sequence * rows + row) * LD + COLUMN + c] : before[cache][i];
            assert_true(values[cache][i] == expected);
        }
        assert_int_equal(pdnn_cost_node(graph, graph->nodes, &cost, &err), PDNN_OK);
        assert_int_equal(cost.flop_count, 0);
        assert_int_equal(cost.byte_count, 2 * SEQUENCES * rows * H * 4);
        assert_int_equal(cost.state_bytes, cost.byte_count / 2);
        reference_values_free(graph, values);
        reference_values_free(graph, before);
    }
    pdnn_arena_finish(&chain.arena);
}

static void test_cache_append(void **state) {
    (void)state;
    check_append(1, 0);
    check_append(1, 4);
    check_append(3, 1);
    check_append(5, 0);
    check_append(1, 5);
    check_append(3, 3);
    check_append(1, -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient_any_operand),
        cmocka_unit_test(test_gradient_separate),
        cmocka_unit_test(test_gradient_fused),
        cmocka_unit_test(test_gradient_fused_keys),
        cmocka_unit_test(test_gradient_shared),
        cmocka_unit_test(test_fused_in_place),
        cmocka_unit_test(test_gradient_refused),
        cmocka_unit_test(test_infer_invalid),
        cmocka_unit_test(test_cost_bert),
        cmocka_unit_test(test_cache_append),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
