/* Scores of attention, in double: scale, mask and softmax, and all of them with dropout in one pass.
 * Gradients by finite differences, FLOP by counting, bytes by counting the unmasked elements; one pass
 * against single ops; rows that are fully masked. B sequences, h heads, n queries, m keys. */
#include "tests/cmocka_all.h"
#include "tests/models/model_check.h"
#include "tests/near.h"
#include "tests/models/reference_run.h"

#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/op.h"
#include "models/optimizer.h"
#include "models/forward.h"

#include <math.h>
#include <stdio.h>

enum { B = 2, HEADS = 3 };
static const double factor = 0.7;

struct variant {
    int64_t n, m;
    bool is_causal, has_bias, trains;
    int64_t percent, window;
};

static const struct variant variants[] = {
    {4, 4, false, false, false, 0, 0}, {4, 4, true, false, true, 0, 0},
    {3, 5, true, true, true, 40, 0},   {5, 3, true, true, true, 40, 0}, /* two rows are fully masked */
    {4, 3, false, true, true, 30, 0},  {1, 6, true, false, true, 30, 0},
    {4, 4, true, true, false, 30, 0}, /* nothing is dropped in inference */
    {3, 5, true, true, true, 40, 2},   {5, 3, true, false, true, 0, 2},
    {4, 4, true, true, false, 0, 9},
};
enum { VARIANTS = sizeof variants / sizeof *variants };

static bool drops(const struct variant *v) {
    return v->trains && v->percent > 0;
}

static uint32_t new_bias(struct pdnn_graph *graph, int64_t m, struct pdnn_fill fill) {
    struct pdnn_tensor bias = {
        .role = PDNN_ROLE_INPUT, .rank = 2, .dim = {B, m}, .fill = fill, .of = PDNN_NONE};
    return pdnn_graph_tensor(graph, &bias);
}

static uint32_t new_counter(struct pdnn_graph *graph) {
    return pdnn_graph_state(graph, 1, (int64_t[]){1}, (struct pdnn_fill){0});
}

/* Tensors of one variant; PDNN_NONE if it lacks one. */
struct scores {
    uint32_t x, bias, counter;
};

static struct scores new_scores(struct chain *chain, const struct variant *v, struct pdnn_fill fill) {
    struct scores scores = {chain_weight(chain, 3, (int64_t[]){B * HEADS, v->n, v->m}), PDNN_NONE, PDNN_NONE};
    if (v->has_bias)
        scores.bias = new_bias(&chain->graph, v->m, fill);
    if (drops(v))
        scores.counter = new_counter(&chain->graph);
    return scores;
}

static const struct pdnn_fill lengths = {PDNN_FILL_SEQUENCE_MASK, -1.5};

static uint32_t in_one_pass(struct pdnn_graph *graph, const struct variant *v, const struct scores *scores) {
    const int64_t attrs[PDNN_NODE_ATTRS] = {
        [PDNN_ATTENTION_SOFTMAX_SEQUENCES] = B,        [PDNN_ATTENTION_SOFTMAX_CAUSAL] = v->is_causal,
        [PDNN_ATTENTION_SOFTMAX_WINDOW] = v->window,   [PDNN_ATTENTION_SOFTMAX_HAS_BIAS] = v->has_bias,
        [PDNN_ATTENTION_SOFTMAX_PERCENT] = v->percent, [PDNN_ATTENTION_SOFTMAX_TRAIN] = v->trains};
    const double coefs[PDNN_NODE_COEFS] = {[PDNN_ATTENTION_SOFTMAX_FACTOR] = factor};
    uint32_t inputs[4] = {scores->x}, n = 1;
    if (v->has_bias)
        inputs[n++] = scores->bias;
    if (drops(v))
        inputs[n++] = scores->counter;
    inputs[n] = PDNN_NONE;
    return pdnn_graph_forward_with(graph, &pdnn_op_attention_softmax, inputs, attrs, coefs);
}

static uint32_t in_steps(struct pdnn_graph *graph, const struct variant *v, const struct scores *scores) {
    const double coefs[PDNN_NODE_COEFS] = {[PDNN_SCALE_FACTOR] = factor};
    uint32_t y =
        pdnn_graph_forward_with(graph, &pdnn_op_scale, (uint32_t[]){scores->x, PDNN_NONE}, NULL, coefs);
    const int64_t mask[PDNN_NODE_ATTRS] = {
        [PDNN_MASK_SEQUENCES] = B, [PDNN_MASK_CAUSAL] = v->is_causal, [PDNN_MASK_WINDOW] = v->window};
    y = pdnn_graph_forward(graph, &pdnn_op_mask, (uint32_t[]){y, scores->bias, PDNN_NONE}, mask);
    y = pdnn_graph_forward(graph, &pdnn_op_softmax, (uint32_t[]){y, PDNN_NONE}, NULL);
    const int64_t dropout[PDNN_NODE_ATTRS] = {[PDNN_DROPOUT_PERCENT] = v->percent};
    return drops(v) ? pdnn_graph_forward(graph, &pdnn_op_dropout, (uint32_t[]){y, scores->counter, PDNN_NONE},
                                         dropout)
                    : y;
}

static void test_gradients(void **state) {
    (void)state;
    for (size_t i = 0; i < 2 * VARIANTS; i++) {
        const struct variant *v = &variants[i / 2];
        struct chain chain;
        char what[64];
        snprintf(what, sizeof what, "variant %zu %s", i / 2, i % 2 ? "in steps" : "in one pass");
        begin_chain(&chain);
        struct scores scores = new_scores(&chain, v, lengths);
        check_chain(&chain, (i % 2 ? in_steps : in_one_pass)(&chain.graph, v, &scores), what);
    }
}

/* The last dimension of matrices and of images. */
static void test_gradient_any_rank(void **state) {
    (void)state;
    for (int rank = 2; rank <= 4; rank++) {
        struct chain chain;
        begin_chain(&chain);
        uint32_t x = chain_weight(&chain, rank, (int64_t[]){3, 4, 2, 5});
        check_chain(&chain,
                    pdnn_graph_forward(&chain.graph, &pdnn_op_softmax, (uint32_t[]){x, PDNN_NONE}, NULL),
                    "softmax");
    }
}

/* Both use the same counter, so it is reset in between. */
static void test_one_pass_is_all_steps(void **state) {
    (void)state;
    for (size_t i = 0; i < VARIANTS; i++) {
        const struct variant *v = &variants[i];
        struct chain chain;
        begin_chain(&chain);
        struct scores scores = new_scores(&chain, v, (struct pdnn_fill){PDNN_FILL_SEQUENCE_MASK, -10000});
        uint32_t a = in_one_pass(&chain.graph, v, &scores), b = in_steps(&chain.graph, v, &scores);
        double **values = reference_values(&chain.graph);
        reference_fill(&chain.graph, values, 1 + i);
        reference_run(&chain.graph, values, 0, 1);
        if (drops(v))
            values[scores.counter][0] -= 1;
        reference_run(&chain.graph, values, 1, chain.graph.n_nodes);
        for (int64_t k = 0; k < B * HEADS * v->n * v->m; k++)
            assert_near(values[a][k], values[b][k], 1e-15);
        reference_values_free(&chain.graph, values);
        pdnn_arena_finish(&chain.arena);
    }
}

/* The number of unmasked elements over all rows. */
static int64_t count_seen(const struct variant *v) {
    int64_t seen = 0;
    for (int64_t i = 0; i < v->n; i++) {
        for (int64_t j = 0; j < v->m; j++)
            seen +=
                !v->is_causal || (j <= i + v->m - v->n && (!v->window || j > i + v->m - v->n - v->window));
    }
    return B * HEADS * seen;
}

/* A loss of two classes for each matrix, and its gradients. */
static void append_loss(struct chain *chain, uint32_t y) {
    struct pdnn_graph *graph = &chain->graph;
    const struct pdnn_tensor *t = &graph->tensors[y];
    int64_t rows = t->dim[0], columns = t->dim[1] * t->dim[2];
    struct pdnn_tensor label = {.role = PDNN_ROLE_LABEL,
                                .dtype = PDNN_S32,
                                .rank = 1,
                                .dim = {rows},
                                .fill = {PDNN_FILL_CLASS, 2},
                                .of = PDNN_NONE};
    uint32_t labels = pdnn_graph_tensor(graph, &label), w = chain_weight(chain, 2, (int64_t[]){2, columns});
    y = pdnn_graph_forward(graph, &pdnn_op_dense, (uint32_t[]){y, w, PDNN_NONE}, NULL);
    graph->loss =
        pdnn_graph_forward(graph, &pdnn_op_softmax_cross_entropy, (uint32_t[]){y, labels, PDNN_NONE}, NULL);
    pdnn_backward_derive(graph, &pdnn_optimizers[PDNN_OPTIMIZER_SGD]);
}

static uint64_t bytes_of(const struct pdnn_graph *graph, const struct pdnn_op_def *op, enum pdnn_pass pass) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        struct pdnn_cost cost;
        struct pdnn_err err = {0};
        assert_int_equal(pdnn_cost_node(graph, &graph->nodes[i], &cost, &err), PDNN_OK);
        if (graph->nodes[i].op == op && graph->nodes[i].pass == pass)
            bytes += cost.byte_count;
    }
    return bytes;
}

/* Masked elements are written as 0 but not read. */
static void test_bytes(void **state) {
    (void)state;
    for (size_t i = 0; i < 2 * VARIANTS; i++) {
        const struct variant *v = &variants[i / 2];
        struct chain chain;
        begin_chain(&chain);
        struct scores scores = new_scores(&chain, v, lengths);
        struct pdnn_graph *graph = &chain.graph;
        append_loss(&chain, (i % 2 ? in_steps : in_one_pass)(graph, v, &scores));
        int64_t seen = count_seen(v), all = B * HEADS * v->n * v->m, bias = v->has_bias ? B * v->m : 0;
        int64_t counted = drops(v) ? all + 2 : 0, read = drops(v); /* p, and the counter */
        const struct {
            const struct pdnn_op_def *op;
            enum pdnn_pass pass;
            int64_t words;
        } rows[2][4] = {
            {{&pdnn_op_attention_softmax, PDNN_FORWARD, seen + bias + all + counted},
             {&pdnn_op_attention_softmax, PDNN_BACKWARD_DATA, 2 * seen + read + all}},
            {{&pdnn_op_scale, PDNN_FORWARD, 2 * all},
             {&pdnn_op_mask, PDNN_FORWARD, seen + bias + all},
             {&pdnn_op_mask, PDNN_BACKWARD_DATA, v->is_causal ? seen + all : 0}, /* otherwise dy itself */
             {&pdnn_op_softmax, PDNN_BACKWARD_DATA, 3 * all}},
        };
        for (int k = 0; k < 4 && rows[i % 2][k].op; k++)
            assert_int_equal(bytes_of(graph, rows[i % 2][k].op, rows[i % 2][k].pass),
                             4 * rows[i % 2][k].words);
        pdnn_arena_finish(&chain.arena);
    }
}

/* A mask for each of W sequences in turn is added to the scores of all their heads, and counted once. */
static void test_masks_in_turn(void **state) {
    enum { W = 2, TURNS = 3, N = 3, M = 4 };
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_MASK_SEQUENCES] = W * TURNS};
    (void)state;
    for (int W_of = W; W_of < W + 3; W_of += 2) { /* 4 does not divide the sequences */
        struct chain chain;
        struct pdnn_err err = {0};
        struct pdnn_cost cost;
        begin_chain(&chain);
        struct pdnn_tensor masks = {
            .role = PDNN_ROLE_INPUT, .rank = 3, .dim = {W_of, N, M}, .fill = lengths, .of = PDNN_NONE};
        uint32_t x = chain_weight(&chain, 3, (int64_t[]){W * TURNS * HEADS, N, M}),
                 bias = pdnn_graph_tensor(&chain.graph, &masks);
        uint32_t y = pdnn_graph_forward(&chain.graph, &pdnn_op_mask, (uint32_t[]){x, bias, PDNN_NONE}, attrs);
        if (W_of != W) {
            assert_int_equal(pdnn_graph_status(&chain.graph, &err), PDNN_INVALID);
            assert_string_equal(err.text,
                                "mask: expected scores (B*h, n, m) and at most a bias in f32, (B, m), "
                                "or (W, n, m) for W sequences in turn");
            pdnn_arena_finish(&chain.arena);
            continue;
        }
        double **values = reference_values(&chain.graph);
        reference_fill(&chain.graph, values, 1);
        for (int k = 0; k < W * N * M; k++)
            values[bias][k] = k;
        reference_run(&chain.graph, values, 0, 1);
        for (int k = 0; k < W * TURNS * HEADS * N * M; k++)
            assert_true(values[y][k] == values[x][k] + (k / (HEADS * N * M) % W * N * M + k % (N * M)));
        reference_values_free(&chain.graph, values);
        assert_int_equal(pdnn_cost_node(&chain.graph, chain.graph.nodes, &cost, &err), PDNN_OK);
        assert_int_equal(cost.flop_count, W * TURNS * HEADS * N * M);
        assert_int_equal(cost.byte_count, 4 * (2 * W * TURNS * HEADS * N * M + W * N * M));
        check_chain(&chain,
                    pdnn_graph_forward(&chain.graph, &pdnn_op_softmax, (uint32_t[]){y, PDNN_NONE}, NULL),
                    "masks in turn");
    }
}

/* A bias of -infinity everywhere: probabilities and gradients are 0, not NaN. */
static void test_rows_that_see_nothing(void **state) {
    (void)state;
    for (int fused = 0; fused < 2; fused++) {
        const struct variant v = {3, 4, false, true, true, 20, 0};
        struct chain chain;
        begin_chain(&chain);
        struct pdnn_graph *graph = &chain.graph;
        struct scores scores = new_scores(&chain, &v, (struct pdnn_fill){PDNN_FILL_CONSTANT, -INFINITY});
        uint32_t y = (fused ? in_one_pass : in_steps)(graph, &v, &scores);
        append_loss(&chain, y);
        double **values = reference_values(graph);
        reference_fill(graph, values, 1);
        reference_run(graph, values, 0, graph->n_nodes);
        assert_near(values[graph->loss][0], log(2), 1e-15);
        for (uint32_t id = 0; id < graph->n_tensors; id++) {
            bool is_dx = graph->tensors[id].of == scores.x;
            for (int64_t k = 0; (id == y || is_dx) && k < B * HEADS * v.n * v.m; k++)
                assert_near(values[id][k], 0, 0);
        }
        reference_values_free(graph, values);
        pdnn_arena_finish(&chain.arena);
    }
}

/* Without its counter among the outputs, a node repeats its last mask. */
static void test_repeats_a_step(void **state) {
    (void)state;
    const struct variant v = {4, 4, true, true, true, 50, 0};
    struct chain chain;
    begin_chain(&chain);
    struct scores scores = new_scores(&chain, &v, lengths);
    uint32_t y = in_one_pass(&chain.graph, &v, &scores),
             z = pdnn_graph_like(&chain.graph, y, PDNN_ROLE_ACTIVATION);
    struct pdnn_node again = chain.graph.nodes[0];
    assert_int_equal(again.n_outputs, 3);
    assert_int_equal(again.output[2], scores.counter);
    again.output = (uint32_t[]){z, again.output[1]};
    again.n_outputs = 2;
    pdnn_graph_node(&chain.graph, &again);
    check_flop_counts(&chain.graph, "repeated");
    double **values = reference_values(&chain.graph);
    reference_fill(&chain.graph, values, 1);
    for (int step = 1; step <= 3; step++) {
        reference_run(&chain.graph, values, 0, 2);
        assert_near(values[scores.counter][0], step, 0);
        assert_memory_equal(values[y], values[z], sizeof(double) * B * HEADS * (size_t)(v.n * v.m));
    }
    reference_values_free(&chain.graph, values);
    pdnn_arena_finish(&chain.arena);
}

static void test_invalid(void **state) {
    (void)state;
    static const struct {
        int64_t sequences, percent;
        int rank;
        bool with_bias, says_bias;
        int64_t bias_columns;
    } rows[] = {
        {4, 0, 3, false, false, 5}, /* six matrices do not make four sequences */
        {0, 0, 3, false, false, 5},  {B, 100, 3, false, false, 5},
        {B, -1, 3, false, false, 5}, {B, 0, 2, false, false, 5}, /* not scores */
        {B, 0, 3, true, false, 5},   {B, 0, 3, false, true, 5},
        {B, 0, 3, true, true, 4},    {B, 10, 3, false, false, 5}, /* the counter is missing */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct chain chain;
        struct pdnn_err err = {0};
        begin_chain(&chain);
        uint32_t x = chain_weight(&chain, rows[i].rank, (int64_t[]){B * HEADS, 4, 5});
        uint32_t bias = rows[i].with_bias ? new_bias(&chain.graph, rows[i].bias_columns, lengths) : PDNN_NONE;
        const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_ATTENTION_SOFTMAX_SEQUENCES] = rows[i].sequences,
                                                [PDNN_ATTENTION_SOFTMAX_HAS_BIAS] = rows[i].says_bias,
                                                [PDNN_ATTENTION_SOFTMAX_PERCENT] = rows[i].percent,
                                                [PDNN_ATTENTION_SOFTMAX_TRAIN] = 1};
        pdnn_graph_forward(&chain.graph, &pdnn_op_attention_softmax, (uint32_t[]){x, bias, PDNN_NONE}, attrs);
        assert_int_equal(pdnn_graph_status(&chain.graph, &err), PDNN_INVALID);
        pdnn_arena_finish(&chain.arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_gradient_any_rank),
        cmocka_unit_test(test_one_pass_is_all_steps),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_masks_in_turn),
        cmocka_unit_test(test_rows_that_see_nothing),
        cmocka_unit_test(test_repeats_a_step),
        cmocka_unit_test(test_invalid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
