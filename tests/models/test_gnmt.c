/* The attention op and the gnmt family, in double: published counts, FLOP against a counting run, attention
 * against its formula, gradients by finite differences, a loss that falls. */
#include "tests/cmocka_all.h"
#include "tests/models/gradient_check.h"
#include "tests/models/model_check.h"
#include "tests/near.h"
#include "tests/models/reference_run.h"

#include "models/attributes.h"
#include "models/op.h"
#include "models/forward.h"

#include <math.h>
#include <stdio.h>

/* GNMT v2. */
static void test_gnmt_published_params(void **state) {
    (void)state;
    assert_int_equal(totals_of("gnmt:gnmt").params, 160671297);
    assert_int_equal(totals_of("gnmt/batch=1,mode=infer").params, 160671297);
}

/* Multiply-adds: 46,137,344 per source word and per target word in the LSTM layers, 1,048,576 each in a
 * projection for the attention, 33,095,680 per target word in the classifier, 2*S*T*1024 in the attention. */
static void test_gnmt_published_macs(void **state) {
    (void)state;
    static const int64_t lengths[][2] = {{25, 25}, {10, 40}, {3, 1}};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        uint64_t S = (uint64_t)lengths[i][0], T = (uint64_t)lengths[i][1], H = 1024;
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        char id[80];
        snprintf(id, sizeof id, "gnmt/batch=1,source=%d,target=%d,mode=infer", (int)S, (int)T);
        build_graph(id, &arena, &graph);
        /* Besides the multiply-adds, 8 biases and 18 operations per unit: 5 LSTM layers encode, 4 decode. */
        assert_int_equal(flop_of_op(&graph, &pdnn_op_rnn),
                         2 * 46137344 * (S + T) + (8 + 18) * H * (5 * S + 4 * T));
        assert_int_equal(flop_of_op(&graph, &pdnn_op_dense), 2 * (1048576 * S + (1048576 + 33095680) * T));
        assert_int_equal(count_nodes(&graph, &pdnn_op_rnn, PDNN_RNN_REVERSE, 1), 1);
        /* Shortcuts around layers 3 and 4 of both stacks. */
        assert_int_equal(flop_of_op(&graph, &pdnn_op_add), 2 * (S + T) * H);
        /* Besides the multiply-adds: addition and tanh per unit, softmax; |v| and u once. */
        assert_int_equal(flop_of_op(&graph, &pdnn_op_attention),
                         2 * (2 * S * T * H) + S * T * (2 * H) + T * (5 * S - 1) + 3 * H + 2);
        pdnn_arena_finish(&arena);
    }
}

static uint32_t append_attention(struct chain *chain, const uint32_t *inputs) {
    return pdnn_graph_forward(
        &chain->graph, &pdnn_op_attention, inputs,
        (int64_t[PDNN_NODE_ATTRS]){[PDNN_ATTENTION_SEQUENCES] = 2, [PDNN_ATTENTION_TRAIN] = 1});
}

/* Separate values, and keys as values; and one source step, where every weight
 * is 1 and scores do not matter. */
static void test_gradient_attention(void **state) {
    (void)state;
    enum { N = 2, H = 3, D = 4 };
    static const int64_t steps[][2] = {{3, 4}, {1, 5}, {4, 1}};
    for (size_t i = 0; i < 2 * sizeof steps / sizeof *steps; i++) {
        int64_t T = steps[i / 2][0], S = steps[i / 2][1];
        struct chain chain;
        begin_chain(&chain);
        uint32_t inputs[] = {chain_weight(&chain, 2, (int64_t[]){T * N, H}),
                             chain_weight(&chain, 2, (int64_t[]){S * N, H}),
                             0,
                             chain_weight(&chain, 1, (int64_t[]){H}),
                             chain_weight(&chain, 1, (int64_t[]){1}),
                             PDNN_NONE};
        inputs[2] = i % 2 ? inputs[1] : chain_weight(&chain, 2, (int64_t[]){S * N, D});
        check_chain(&chain, append_attention(&chain, inputs), "attention");
    }
}

/* Two sequences with two source steps each, whose scores differ by ln 3: weights 1/4 and 3/4, and the reverse
 * in the second sequence. */
static void test_attention_values(void **state) {
    (void)state;
    struct pdnn_tensor tensors[] = {{.rank = 2, .dim = {2, 2}}, {.rank = 2, .dim = {4, 2}},
                                    {.rank = 2, .dim = {4, 1}}, {.rank = 1, .dim = {2}},
                                    {.rank = 1, .dim = {1}},    {.rank = 2, .dim = {2, 1}},
                                    {.rank = 2, .dim = {2, 2}}};
    double q[] = {1, -1, 2, 0}, k[] = {-1, 1, -0.5, 0, 0.5, 1, -2, 0}, value[] = {8, 1, 16, 2}, v[] = {3, 4};
    double g = log(3) / 0.6 / tanh(1.5), context[2], p[4], scratch[4];
    double *values[] = {q, k, value, v, &g, context, p};
    struct pdnn_graph graph = {.tensors = tensors, .n_tensors = 7};
    struct pdnn_node node = {.op = &pdnn_op_attention,
                             .n_inputs = 5,
                             .n_outputs = 2,
                             .input = (uint32_t[]){0, 1, 2, 3, 4},
                             .output = (uint32_t[]){5, 6},
                             .attr = {[PDNN_ATTENTION_SEQUENCES] = 2, [PDNN_ATTENTION_TRAIN] = 1}};
    struct pdnn_reference r = {.graph = &graph, .value = values, .scratch = scratch};
    assert_int_equal(pdnn_op_attention.pass[PDNN_FORWARD].scratch(&graph, &node), 4);
    pdnn_reference_run(&r, &node);
    const double expected[] = {0.25, 0.75, 0.75, 0.25};
    for (int i = 0; i < 4; i++)
        assert_near(p[i], expected[i], 1e-14);
    assert_near(context[0], 0.25 * 8 + 0.75 * 16, 1e-13);
    assert_near(context[1], 0.75 * 1 + 0.25 * 2, 1e-13);
}

static const char *const small[] = {
    "hidden=3,layers=2,vocabulary=5,source=3,target=2,batch=2,dropout=0",
    "hidden=2,layers=4,vocabulary=4,source=2,target=3,batch=2,dropout=20",
};

static void test_gnmt_flop_counts_and_gradients(void **state) {
    (void)state;
    static const char *const settings[] = {"mode=infer", "mode=infer,fuse=post-ops", "optimizer=sgd",
                                           "optimizer=adam,fuse=post-ops"};
    for (size_t i = 0; i < 2 * 4; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        char id[160];
        snprintf(id, sizeof id, "gnmt/%s,%s", small[i / 4], settings[i % 4]);
        build_graph(id, &arena, &graph);
        check_flop_counts(&graph, id);
        if (graph.loss != PDNN_NONE)
            check_gradients(&graph, 4);
        pdnn_arena_finish(&arena);
    }
}

static void test_gnmt_fusion(void **state) {
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        char id[160];
        snprintf(id, sizeof id, "gnmt/%s,mode=%s", small[i / 2], i % 2 ? "train" : "infer");
        check_fusion(id);
    }
}

static void test_gnmt_loss_falls(void **state) {
    (void)state;
    check_loss_falls("gnmt/hidden=6,layers=3,vocabulary=8,source=4,target=3,batch=3,dropout=0,optimizer=adam",
                     120, 0.9);
    check_loss_falls("gnmt/hidden=6,layers=2,vocabulary=8,source=4,target=3,batch=3,optimizer=adam", 150,
                     0.95);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gnmt_published_params),
        cmocka_unit_test(test_gnmt_published_macs),
        cmocka_unit_test(test_gradient_attention),
        cmocka_unit_test(test_attention_values),
        cmocka_unit_test(test_gnmt_flop_counts_and_gradients),
        cmocka_unit_test(test_gnmt_fusion),
        cmocka_unit_test(test_gnmt_loss_falls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
