/* CTC, hardtanh, sequences of image columns, and the deepspeech2 family, in double: CTC against a sum
 * over all alignments, published counts, FLOP against a counting run, gradients by finite
 * differences, a loss that falls. */
#include "tests/cmocka_all.h"
#include "tests/models/gradient_check.h"
#include "tests/models/model_check.h"
#include "tests/near.h"
#include "tests/models/reference_run.h"

#include "models/attributes.h"
#include "models/cell.h"
#include "models/op.h"
#include "models/forward.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { T_MAX = 6, C_MAX = 4, L_MAX = 4, SCRATCH = 128 };

/* True if the path, one class per step, spells the labels: repetitions are
 * merged first, then blanks removed. */
static bool says(const int *path, int T, const double *label, int length) {
    int l = 0;
    for (int t = 0; t < T; t++) {
        if (!path[t] || (t > 0 && path[t] == path[t - 1]))
            continue;
        if (l == length || path[t] != (int)label[l] + 1)
            return false;
        l++;
    }
    return l == length;
}

/* CTC's loss as a sum over all C^T paths. */
static double brute_force(const double *x, int T, int C, const double *label, int length) {
    int path[T_MAX] = {0}, n_paths = 1;
    double sum = 0;
    for (int t = 0; t < T; t++)
        n_paths *= C;
    for (int i = 0; i < n_paths; i++) {
        double probability = 1;
        for (int t = 0, rest = i; t < T; t++, rest /= C) {
            double all = 0;
            for (int c = 0; c < C; c++)
                all += exp(x[t * C + c]);
            path[t] = rest % C;
            probability *= exp(x[t * C + path[t]]) / all;
        }
        sum += says(path, T, label, length) ? probability : 0;
    }
    return -log(sum);
}

static double ctc_of(double *x, int T, int C, double *label, int L, double *dx) {
    struct pdnn_tensor tensors[] = {{.rank = 2, .dim = {T, C}},
                                    {.rank = 2, .dim = {L, 1}},
                                    {.rank = 1, .dim = {1}},
                                    {.rank = 2, .dim = {T, C}}};
    double loss, scratch[SCRATCH], *values[] = {x, label, &loss, dx};
    struct pdnn_graph graph = {.tensors = tensors, .n_tensors = 4};
    struct pdnn_node node = {.op = &pdnn_op_ctc_loss,
                             .n_inputs = 2,
                             .n_outputs = 2,
                             .input = (uint32_t[]){0, 1},
                             .output = (uint32_t[]){2, 3},
                             .coef = {1}};
    struct pdnn_reference r = {.graph = &graph, .value = values, .scratch = scratch};
    assert_true(pdnn_op_ctc_loss.pass[PDNN_FORWARD].scratch(&graph, &node) <= SCRATCH);
    memset(scratch, 0xff, sizeof scratch);
    pdnn_reference_run(&r, &node);
    return loss;
}

/* Repeated labels, labels that fill all steps, no labels, and steps to spare. If labels need more steps than
 * there are, no path spells them. */
static void test_ctc_brute_force(void **state) {
    (void)state;
    static const struct {
        int T, C, L, length;
        double label[L_MAX];
    } rows[] = {
        {1, 2, 1, 1, {0}},
        {2, 2, 1, 1, {0}},
        {5, 3, 2, 2, {0, 1}},
        {5, 3, 2, 2, {1, 1}},
        {3, 2, 2, 2, {0, 0}},
        {6, 4, 3, 3, {2, 2, 0}},
        {6, 4, 4, 2, {1, 2, -1, -1}},
        {4, 4, 4, 4, {0, 1, 2, 0}},
        {5, 4, 3, 0, {-1, -1, -1}},
        {6, 3, 4, 3, {0, 0, 0, -1}},
        {2, 3, 2, 2, {1, 1}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double x[T_MAX * C_MAX], dx[T_MAX * C_MAX], label[L_MAX];
        for (int k = 0; k < T_MAX * C_MAX; k++)
            x[k] = 3 * sin(k * k + 1.0 + (double)i);
        memcpy(label, rows[i].label, sizeof label);
        double loss = ctc_of(x, rows[i].T, rows[i].C, label, rows[i].L, dx);
        double expected = brute_force(x, rows[i].T, rows[i].C, label, rows[i].length);
        if (isinf(expected) ? loss < 1e300 : fabs(loss - expected) > 1e-12 * (1 + expected))
            fail_msg("row %zu: loss %.15g instead of %.15g", i, loss, expected);
    }
}

/* Logits a thousand apart: only the best path counts, and the gradient sums to 0 at every step. */
static void test_ctc_extreme_logits(void **state) {
    (void)state;
    double x[] = {1000, 0, -1000, 0, 1000, -1000, 0, -1000, 1000, 500, 1000, 0}, dx[12], label[] = {0, 1};
    assert_near(ctc_of(x, 4, 3, label, 2, dx), 500, 1e-9); /* a blank, 0, 1, and a blank, at a cost of 500 */
    for (int t = 0; t < 4; t++) {
        assert_near(dx[3 * t] + dx[3 * t + 1] + dx[3 * t + 2], 0, 1e-12);
        assert_true(isfinite(dx[3 * t]));
    }
}

/* Sequences of different lengths. */
static void test_gradient_ctc(void **state) {
    (void)state;
    enum { T = 7, N = 4, C = 3, L = 4 };
    struct chain chain;
    begin_chain(&chain);
    struct pdnn_tensor labels = {.role = PDNN_ROLE_LABEL,
                                 .dtype = PDNN_S32,
                                 .rank = 2,
                                 .dim = {L, N},
                                 .fill = {PDNN_FILL_SEQUENCE_CLASS, C - 1},
                                 .of = PDNN_NONE};
    uint32_t label = pdnn_graph_tensor(&chain.graph, &labels);
    uint32_t x = chain_weight(&chain, 2, (int64_t[]){T * N, C});
    chain.graph.loss =
        pdnn_graph_forward(&chain.graph, &pdnn_op_ctc_loss, (uint32_t[]){x, label, PDNN_NONE}, NULL);
    check_loss_chain(&chain, "ctc_loss");
}

static void test_gradient_hardtanh(void **state) {
    (void)state;
    struct chain chain;
    begin_chain(&chain);
    uint32_t x = chain_weight(&chain, 4, (int64_t[]){2, 3, 4, 5});
    uint32_t y = pdnn_graph_forward(&chain.graph, &pdnn_op_hardtanh, (uint32_t[]){x, PDNN_NONE}, NULL);
    struct pdnn_node *node = &chain.graph.nodes[chain.graph.n_nodes - 1];
    node->coef[PDNN_HARDTANH_LOW] = -0.25;
    node->coef[PDNN_HARDTANH_HIGH] = 0.5;
    check_chain(&chain, y, "hardtanh");
}

/* Batch normalization of a matrix is that of images of one pixel. */
static void test_gradient_batchnorm_matrix(void **state) {
    (void)state;
    struct chain chain;
    begin_chain(&chain);
    const int64_t C = 3;
    const uint32_t inputs[] = {
        chain_weight(&chain, 2, (int64_t[]){5, C}),
        chain_weight(&chain, 1, &C),
        chain_weight(&chain, 1, &C),
        pdnn_graph_state(&chain.graph, 1, &C, (struct pdnn_fill){PDNN_FILL_UNIFORM, 1}),
        pdnn_graph_state(&chain.graph, 1, &C, (struct pdnn_fill){PDNN_FILL_NEAR_ONE, 0.5}),
        PDNN_NONE};
    check_chain(&chain,
                pdnn_graph_forward(&chain.graph, &pdnn_op_batchnorm, inputs,
                                   (int64_t[PDNN_NODE_ATTRS]){[PDNN_BATCHNORM_TRAIN] = 1}),
                "batchnorm of a matrix");
}

static void test_deepspeech2_published_counts(void **state) {
    (void)state;
    static const struct {
        int frames, steps;
        double gmacs; /* 0: not published */
    } rows[] = {{101, 36, 0}, {1001, 486, 21.226}, {1601, 786, 0}};
    assert_int_equal(totals_of("deepspeech2:deepspeech2").params, 38115968);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        char id[80];
        snprintf(id, sizeof id, "deepspeech2/batch=1,mode=infer,frames=%d", rows[i].frames);
        build_graph(id, &arena, &graph);
        assert_int_equal(graph.tensors[graph.result].dim[0], rows[i].steps);
        assert_int_equal(count_nodes(&graph, &pdnn_op_rnn, PDNN_RNN_REVERSE, 1), 5);
        /* Besides the multiply-adds of the recurrent layers, 6 biases and 15 operations per unit. */
        uint64_t recurrent =
            flop_of_op(&graph, &pdnn_op_rnn) - (uint64_t)rows[i].steps * 5 * 2 * 800 * (6 + 15);
        uint64_t flop = flop_of_op(&graph, &pdnn_op_conv2d) + recurrent + flop_of_op(&graph, &pdnn_op_dense);
        if (rows[i].gmacs > 0)
            assert_near((double)flop / 2e9, rows[i].gmacs, 0.0005);
        pdnn_arena_finish(&arena);
    }
}

static const char small[] = "hidden=3,layers=2,frames=33,characters=4,labels=1,batch=2";

static void test_deepspeech2_flop_counts_and_gradients(void **state) {
    (void)state;
    static const char *const settings[] = {"mode=infer,fuse=post-ops", "mode=train,optimizer=sgd"};
    for (size_t i = 0; i < 2; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        char id[160];
        snprintf(id, sizeof id, "deepspeech2/%s,%s", small, settings[i]);
        build_graph(id, &arena, &graph);
        check_flop_counts(&graph, id);
        if (graph.loss != PDNN_NONE)
            check_gradients_at_once(&graph, 4);
        pdnn_arena_finish(&arena);
    }
}

static void test_deepspeech2_depth_costs(void **state) {
    (void)state;
    for (int layers = 1; layers <= 5; layers++) {
        char id[160];
        snprintf(id, sizeof id, "deepspeech2/layers=%d,mode=infer", layers);
        check_depth_costs(id);
        snprintf(id, sizeof id, "deepspeech2/layers=%d,hidden=40,optimizer=adam,fuse=post-ops", layers);
        check_depth_costs(id);
    }
}

static void test_deepspeech2_fusion(void **state) {
    (void)state;
    static const char *const modes[] = {"infer", "train"};
    for (size_t i = 0; i < 2; i++) {
        char id[160];
        snprintf(id, sizeof id, "deepspeech2/%s,mode=%s", small, modes[i]);
        check_fusion(id);
    }
}

/* Normalizations after convolutions and their biases are folded; the others follow sums and stay. */
static void test_deepspeech2_folds(void **state) {
    (void)state;
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    build_graph("deepspeech2:deepspeech2,mode=infer,fuse=post-ops", &arena, &graph);
    assert_int_equal(count_nodes(&graph, &pdnn_op_batchnorm, PDNN_BATCHNORM_TRAIN, 0), 5);
    assert_int_equal(count_nodes(&graph, &pdnn_op_bias, 0, 0), 0);
    pdnn_arena_finish(&arena);
}

static void test_deepspeech2_loss_falls(void **state) {
    (void)state;
    char id[160];
    snprintf(id, sizeof id, "deepspeech2/%s,optimizer=adam", small);
    check_loss_falls(id, 3, 0.99);
}

static void test_deepspeech2_invalid(void **state) {
    (void)state;
    check_invalid("deepspeech2/frames=101,labels=19", "frames=101 leave 36 steps, and labels=19 may need 37");
    totals_of("deepspeech2/frames=101,labels=18");
    totals_of("deepspeech2/frames=101,labels=19,mode=infer");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ctc_brute_force),
        cmocka_unit_test(test_ctc_extreme_logits),
        cmocka_unit_test(test_gradient_ctc),
        cmocka_unit_test(test_gradient_hardtanh),
        cmocka_unit_test(test_gradient_batchnorm_matrix),
        cmocka_unit_test(test_deepspeech2_published_counts),
        cmocka_unit_test(test_deepspeech2_flop_counts_and_gradients),
        cmocka_unit_test(test_deepspeech2_depth_costs),
        cmocka_unit_test(test_deepspeech2_fusion),
        cmocka_unit_test(test_deepspeech2_folds),
        cmocka_unit_test(test_deepspeech2_loss_falls),
        cmocka_unit_test(test_deepspeech2_invalid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
