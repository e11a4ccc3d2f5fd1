/* Models in 16 bit: which tensors are 16-bit, what the casts cost, and that
 * training differs only in types. */
#include "tests/cmocka_all.h"
#include "tests/models/gradient_check.h"
#include "tests/models/model_check.h"
#include "tests/models/reference_run.h"

#include "models/cost/cost.h"
#include "models/op.h"

#include <math.h>
#include <stdio.h>

/* One small instance of every family. No dropout, because the dropped values depend on tensor numbers. */
static const char *const nets[] = {
    "fc/layers=2,nodes=8,input=6,output=4,batch=4",
    "cnn/block=residual,image=32,filters=2,blocks=1,output=3,batch=2",
    "rnn/cell=lstm,embedding=6,length=3,vocabulary=5,batch=2",
    "rnn/cell=lbr_gru,layers=2,embedding=4,length=3,vocabulary=5,batch=2,bidirectional=yes",
    "transformer/layers=2,hidden=8,heads=2,ffn=12,length=6,batch=2,vocabulary=9,positions=8,dropout=0",
    "transformer/architecture=decoder,layers=1,hidden=8,heads=2,ffn=12,length=4,batch=2,vocabulary=9,objective=causal-lm,dropout=0",
};
enum { NETS = sizeof nets / sizeof *nets };

static const char *const halves[] = {"bf16", "f16"};

static bool is_label(const struct pdnn_tensor *tensor) {
    return tensor->dtype == PDNN_S32 || tensor->dtype == PDNN_INT8; /* or the position of a maximum */
}

/* The expected type of a tensor in a 16-bit model: matrices are 16-bit if they are data, or weights as ops
 * read them; trained weights, optimizer state and sums are f32. */
static enum pdnn_dtype type_of(const struct pdnn_graph *graph, const struct pdnn_tensor *tensor) {
    bool trains = graph->loss != PDNN_NONE, is_matrix = tensor->rank > 1;
    switch (tensor->role) {
    case PDNN_ROLE_WEIGHT:
        return is_matrix && !trains ? graph->dtype : PDNN_F32;
    case PDNN_ROLE_WEIGHT_GRADIENT:
        return PDNN_F32;
    case PDNN_ROLE_STATE:
        return is_matrix && tensor->of == PDNN_NONE ? graph->dtype : PDNN_F32;
    default:
        return is_matrix ? graph->dtype : PDNN_F32;
    }
}

/* Logits and their gradients also exist in f32, on either side of the loss. */
static bool is_at_loss(const struct pdnn_graph *graph, uint32_t tensor) {
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        for (int k = 0; node->op->is_loss && k < node->n_inputs + node->n_outputs; k++) {
            if ((k < node->n_inputs ? node->input[k] : node->output[k - node->n_inputs]) == tensor)
                return true;
        }
    }
    return false;
}

static void check_types(const char *id) {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    build_graph(id, &arena, &graph);
    for (uint32_t i = 0; i < graph.n_tensors; i++) {
        const struct pdnn_tensor *tensor = &graph.tensors[i];
        bool is_bias = tensor->role == PDNN_ROLE_INPUT && tensor->fill.kind == PDNN_FILL_SEQUENCE_MASK;
        enum pdnn_dtype expected = is_bias || is_at_loss(&graph, i) ? PDNN_F32 : type_of(&graph, tensor);
        if (!is_label(tensor) && tensor->dtype != expected)
            fail_msg("%s: tensor %u (%s) is %s", id, i, pdnn_role_name(tensor->role),
                     pdnn_dtype_name(tensor->dtype));
    }
    pdnn_arena_finish(&arena);
}

static void test_types(void **state) {
    (void)state;
    for (size_t i = 0; i < NETS; i++) {
        for (size_t h = 0; h < 2; h++) {
            for (int train = 0; train < 2; train++) {
                char id[PDNN_ID_TEXT];
                snprintf(id, sizeof id, "%s,dtype=%s,mode=%s", nets[i], halves[h], train ? "train" : "infer");
                check_types(id);
            }
        }
    }
}

/* w1 (8, 6), b1 (8), w2 (4, 8), b2 (4): bytes read and written, node by node. */
static void test_cost_of_fc(void **state) {
    (void)state;
    enum { W1 = 48, B1 = 8, W2 = 32, B2 = 4, X = 24, H = 32, Y = 16, N = 4 };
    static const char id[] = "fc/layers=1,nodes=8,input=6,output=4,batch=4,mode=";
    char text[PDNN_ID_TEXT];
    const uint64_t casts = 6 * W1 + 6 * W2;
    const uint64_t hidden = 2 * (X + W1 + H) + (2 * H + 4 * B1 + 2 * H) + 2 * (H + H);
    const uint64_t output = 2 * (H + W2 + Y) + (2 * Y + 4 * B2 + 2 * Y);
    const uint64_t loss = 6 * Y + (4 * Y + 4 * N + 4 + 4 * Y) + (4 * Y + 4 * N + 4 * Y) + 6 * Y;
    const uint64_t output_back = (2 * Y + 4 * B2) + (2 * H + 2 * Y + 4 * W2) + 2 * (Y + W2 + H);
    const uint64_t hidden_back = 2 * (H + H + H) + (2 * H + 4 * B1) + (2 * X + 2 * H + 4 * W1);
    const uint64_t update = 12 * (W1 + B1 + W2 + B2);
    for (size_t h = 0; h < 2; h++) {
        snprintf(text, sizeof text, "%sinfer,dtype=%s", id, halves[h]);
        assert_int_equal(totals_of(text).cost.byte_count, hidden + output);
        snprintf(text, sizeof text, "%strain,optimizer=sgd,dtype=%s", id, halves[h]);
        struct pdnn_totals totals = totals_of(text);
        assert_int_equal(totals.cost.byte_count,
                         casts + hidden + output + loss + output_back + hidden_back + update);
        assert_int_equal(totals.cost.weight_bytes,
                         casts + 2 * W1 + 4 * B1 + 2 * W2 + 4 * B2 + 2 * W2 + 8 * (W1 + B1 + W2 + B2));
        assert_int_equal(totals.params, W1 + B1 + W2 + B2);
        snprintf(text, sizeof text, "%strain,optimizer=sgd", id);
        assert_int_equal(totals.cost.flop_count, totals_of(text).cost.flop_count);
    }
}

/* A layer has four (H, H) and two (H, F) matrices; besides these there are the tables of words, positions and
 * types, and the pooler. */
static void test_cost_of_transformer(void **state) {
    (void)state;
    enum { L = 3, H = 16, F = 24, V = 50, P = 32, T = 2, B = 2, LENGTH = 8 };
    const uint64_t matrices = L * (4 * H * H + 2 * H * F) + (V + P + T) * H + H * H;
    char id[PDNN_ID_TEXT];
    snprintf(
        id, sizeof id,
        "transformer/layers=%d,hidden=%d,heads=2,ffn=%d,length=%d,batch=%d,vocabulary=%d,positions=%d,types=%d,dtype=bf16",
        L, H, F, LENGTH, B, V, P, T);
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    uint64_t weights = 0, logits = 0;
    build_graph(id, &arena, &graph);
    for (size_t i = 0; i < graph.n_nodes; i++) {
        const struct pdnn_node *node = &graph.nodes[i];
        struct pdnn_cost cost;
        struct pdnn_err err = {0};
        assert_int_equal(pdnn_cost_node(&graph, node, &cost, &err), PDNN_OK);
        if (node->op != &pdnn_op_cast)
            continue;
        assert_int_equal(cost.flop_count, 0);
        weights += cost.weight_bytes;
        logits += cost.byte_count - cost.weight_bytes;
    }
    assert_int_equal(weights, 6 * matrices);
    assert_int_equal(logits, 2 * 6 * B * H); /* the pooled rows, to the loss and back */
    pdnn_arena_finish(&arena);
}

static uint32_t next_weight(const struct pdnn_graph *graph, uint32_t from) {
    while (from < graph->n_tensors && graph->tensors[from].role != PDNN_ROLE_WEIGHT)
        from++;
    return from;
}

/* In double, where nothing is rounded, one step leaves the same weights whatever the type. */
static void check_same_weights(const char *id, const char *half) {
    struct pdnn_arena arena[2];
    struct pdnn_graph graph[2];
    double **values[2];
    for (int i = 0; i < 2; i++) {
        char text[PDNN_ID_TEXT];
        snprintf(text, sizeof text, "%s,dtype=%s", id, i ? half : "f32");
        build_graph(text, &arena[i], &graph[i]);
        values[i] = run_step(&graph[i], 11);
    }
    uint32_t a = next_weight(&graph[0], 0), b = next_weight(&graph[1], 0);
    for (; a < graph[0].n_tensors; a = next_weight(&graph[0], a + 1), b = next_weight(&graph[1], b + 1)) {
        assert_true(b < graph[1].n_tensors);
        for (int64_t k = 0; k < pdnn_tensor_elements(&graph[0].tensors[a]); k++) {
            if (fabs(values[0][a][k] - values[1][b][k]) > 1e-12)
                fail_msg("%s %s: weight %u element %d is %g, not %g", id, half, b, (int)k, values[1][b][k],
                         values[0][a][k]);
        }
    }
    assert_int_equal(b, graph[1].n_tensors);
    for (int i = 0; i < 2; i++) {
        reference_values_free(&graph[i], values[i]);
        pdnn_arena_finish(&arena[i]);
    }
}

static void test_training_is_that_of_f32(void **state) {
    (void)state;
    static const char *const settings[] = {"optimizer=adam", "optimizer=lamb,accumulate=3",
                                           "optimizer=sgd,fuse=post-ops"};
    for (size_t i = 0; i < NETS; i++) {
        for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
            char id[PDNN_ID_TEXT];
            snprintf(id, sizeof id, "%s,%s", nets[i], settings[k]);
            check_same_weights(id, halves[k % 2]);
        }
    }
}

static void test_segments_are_cast_anew(void **state) {
    (void)state;
    for (size_t i = 1; i < NETS; i++) {
        char id[PDNN_ID_TEXT];
        snprintf(id, sizeof id, "%s,optimizer=sgd,checkpoint=layer,accumulate=2", nets[i]);
        check_same_weights(id, "bf16");
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        size_t anew = 0;
        snprintf(id, sizeof id, "%s,optimizer=sgd,checkpoint=layer,dtype=bf16", nets[i]);
        build_graph(id, &arena, &graph);
        for (size_t n = 0; n < graph.n_nodes; n++)
            anew += graph.nodes[n].op == &pdnn_op_cast && graph.nodes[n].recompute;
        assert_true(anew > 0);
        pdnn_arena_finish(&arena);
    }
}

static void test_gradients(void **state) {
    (void)state;
    for (size_t i = 0; i < NETS; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        char id[PDNN_ID_TEXT];
        snprintf(id, sizeof id, "%s,optimizer=sgd,dtype=%s", nets[i], halves[i % 2]);
        build_graph(id, &arena, &graph);
        check_gradients(&graph, 5);
        check_flop_counts(&graph, id);
        pdnn_arena_finish(&arena);
    }
}

static void test_costs_by_depth(void **state) {
    (void)state;
    check_depth_costs("fc/layers=5,nodes=8,input=6,output=4,batch=4,dtype=bf16");
    check_depth_costs("rnn/layers=4,embedding=6,length=3,vocabulary=5,batch=2,dtype=f16");
    check_depth_costs(
        "transformer/layers=4,hidden=8,heads=2,ffn=12,length=6,batch=2,vocabulary=9,dtype=bf16,checkpoint=layer,accumulate=2");
}

static void test_fuses(void **state) {
    (void)state;
    check_fusion("fc/layers=2,nodes=8,input=6,output=4,batch=4,dtype=bf16");
    check_fusion("cnn/block=residual,image=32,filters=2,blocks=1,output=3,batch=2,mode=infer,dtype=f16");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_cost_of_fc),
        cmocka_unit_test(test_cost_of_transformer),
        cmocka_unit_test(test_training_is_that_of_f32),
        cmocka_unit_test(test_segments_are_cast_anew),
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_costs_by_depth),
        cmocka_unit_test(test_fuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
