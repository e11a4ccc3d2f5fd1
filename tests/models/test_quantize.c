/* Inference in int8: which nodes are rewritten, what that costs, and that fused and unfused graphs agree. */
#include "tests/cmocka_all.h"
#include "tests/models/model_check.h"
#include "tests/models/reference_run.h"

#include "models/attributes.h"
#include "models/op.h"
#include "models/transform/quantize.h"
#include "models/forward.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int64_t count_op(const struct pdnn_graph *graph, const struct pdnn_op_def *op) {
    int64_t count = 0;
    for (size_t i = 0; i < graph->n_nodes; i++)
        count += graph->nodes[i].op == op;
    return count;
}

/* Forward nodes of the op that multiply int8 values. */
static int64_t count_int8(const struct pdnn_graph *graph, const struct pdnn_op_def *op) {
    int64_t count = 0;
    for (size_t i = 0; i < graph->n_nodes; i++)
        count += graph->nodes[i].op == op && pdnn_node_dtype(graph, &graph->nodes[i]) == PDNN_INT8;
    return count;
}

static void test_quantize_chooses_nodes(void **state) {
    (void)state;
    static const struct {
        const char *id;
        int64_t quantize, non_negative, dense, dense_int8, conv2d, conv2d_int8;
    } rows[] = {
        {"fc/layers=3", 4, 3, 4, 4, 0, 0},
        {"fc/layers=3,activation=tanh", 4, 0, 4, 4, 0, 0},
        {"fc/layers=3,activation=sigmoid", 4, 3, 4, 4, 0, 0},
        /* The stem reads colors; blocks and their projections share their input. */
        {"cnn:resnet18", 17, 17, 1, 1, 20, 19},
        {"cnn:resnet18,shortcut=projection", 17, 17, 1, 1, 21, 20},
        {"cnn/block=plain,blocks=1-2,filters=8,image=16,dense=9", 4, 4, 2, 2, 3, 2},
        {"cnn/block=plain,blocks=1-2,filters=8,image=16,activation=tanh", 1, 0, 1, 1, 3, 0},
        /* Query, key and value read one tensor. */
        {"transformer/layers=2,qkv=separate,pooler=no", 8, 0, 12, 12, 0, 0},
        /* The output layer multiplies by the embedding's table, which the lookup reads in f32. */
        {"transformer/architecture=decoder,layers=2,objective=causal-lm", 8, 0, 9, 8, 0, 0},
    };
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        bool is_fused = i % 2;
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        char id[256];
        snprintf(id, sizeof id, "%s,mode=infer,dtype=int8%s", rows[i / 2].id,
                 is_fused ? ",fuse=post-ops" : "");
        build_graph(id, &arena, &graph);
        assert_int_equal(count_op(&graph, &pdnn_op_quantize), rows[i / 2].quantize);
        assert_int_equal(count_nodes(&graph, &pdnn_op_quantize, PDNN_QUANTIZE_NON_NEGATIVE, 1),
                         rows[i / 2].non_negative);
        assert_int_equal(count_op(&graph, &pdnn_op_dense), rows[i / 2].dense);
        assert_int_equal(count_int8(&graph, &pdnn_op_dense), rows[i / 2].dense_int8);
        assert_int_equal(count_op(&graph, &pdnn_op_conv2d), rows[i / 2].conv2d);
        assert_int_equal(count_int8(&graph, &pdnn_op_conv2d), rows[i / 2].conv2d_int8);
        assert_int_equal(count_op(&graph, &pdnn_op_dequantize),
                         is_fused ? 0 : rows[i / 2].dense_int8 + rows[i / 2].conv2d_int8);
        assert_null(graph.unsupported);
        pdnn_arena_finish(&arena);
    }
}

/* N 4, 20 inputs, 8 hidden units, 10 outputs. */
static void test_quantize_costs_by_hand(void **state) {
    (void)state;
    const uint64_t products = 2 * 4 * (20 * 8 + 8 * 10), bias = 4 * (8 + 10), relu = 4 * 8;
    const uint64_t quantize = 4 * 4 * (20 + 8) + 2, dequantize = 4 * (8 + 10) + 8 + 10;
    const uint64_t weights = 20 * 8 + 8 * 10 + 4 * (8 + 10), scales = 4 * (8 + 10);
    /* Read as f32, written as int8 with a scale; read again with the scale. */
    const uint64_t quantized = 4 * 5 * (20 + 8) + 2 * 4, inputs = 4 * (20 + 8), result = 4 * 4 * (8 + 10);
    struct pdnn_totals plain = totals_of("fc/layers=1,nodes=8,input=20,output=10,batch=4,mode=infer");
    static const char *const fuses[] = {"none", "post-ops"};
    for (size_t i = 0; i < 2; i++) {
        char id[160];
        snprintf(id, sizeof id,
                 "fc/layers=1,nodes=8,input=20,output=10,batch=4,mode=infer,dtype=int8,fuse=%s", fuses[i]);
        struct pdnn_totals totals = totals_of(id);
        /* Unfused, the s32 sums are written and read, and so is what bias and relu work on. */
        uint64_t between = i ? 0 : 2 * result + 2 * result + 2 * 4 * 4 * 8;
        assert_int_equal(totals.params, plain.params);
        assert_int_equal(totals.cost.flop_count, products + bias + relu + quantize + dequantize);
        assert_int_equal(totals.cost.weight_bytes, weights);
        assert_int_equal(totals.cost.state_bytes, scales);
        assert_int_equal(totals.cost.activation_bytes, quantized + inputs + 2 * 4 + result + between);
    }
}

static const char *const instances[] = {
    "fc/layers=2,nodes=9,input=7,output=5,batch=3,mode=infer,dtype=int8",
    "cnn/block=residual,blocks=1,filters=2,image=32,output=5,batch=2,mode=infer,dtype=int8",
    "cnn/block=bottleneck,blocks=1,filters=2,image=32,output=5,batch=1,mode=infer,dtype=int8",
    "cnn/block=plain,blocks=1-2,filters=3,image=9,output=5,batch=2,dense=6,mode=infer,dtype=int8",
    "transformer/layers=1,hidden=8,heads=2,ffn=12,length=4,batch=2,vocabulary=11,mode=infer,dtype=int8",
};
enum { INSTANCES = sizeof instances / sizeof *instances };

static void test_quantize_flop_counts(void **state) {
    (void)state;
    for (size_t i = 0; i < 2 * INSTANCES; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        char id[256];
        snprintf(id, sizeof id, "%s%s", instances[i / 2], i % 2 ? ",fuse=post-ops" : "");
        build_graph(id, &arena, &graph);
        check_flop_counts(&graph, id);
        pdnn_arena_finish(&arena);
    }
}

static double largest_difference(const double *a, const double *b, int64_t elements, double *largest) {
    double difference = 0;
    *largest = 0;
    for (int64_t i = 0; i < elements; i++) {
        difference = fmax(difference, fabs(a[i] - b[i]));
        *largest = fmax(*largest, fabs(b[i]));
    }
    return difference;
}

/* The result of int8 is near that of f32 but not equal; these small models lose
 * up to 5 % with 7 and 8 bits. */
static void test_quantize_result_is_near(void **state) {
    (void)state;
    for (size_t i = 0; i < INSTANCES; i++) {
        struct pdnn_arena arena[2];
        struct pdnn_graph graph[2];
        double **values[2], largest;
        for (int k = 0; k < 2; k++) {
            char id[256];
            snprintf(id, sizeof id, "%s", instances[i]);
            if (k)
                *strstr(id, ",dtype=int8") = 0;
            build_graph(id, &arena[k], &graph[k]);
            values[k] = run_step(&graph[k], 5);
        }
        uint32_t result = graph[0].result;
        assert_int_equal(result, graph[1].result);
        double difference = largest_difference(values[0][result], values[1][result],
                                               pdnn_tensor_elements(&graph[0].tensors[result]), &largest);
        if (!(difference > 0 && difference < 0.05 * largest))
            fail_msg("%s: differs by %g of %g", instances[i], difference, largest);
        for (int k = 0; k < 2; k++) {
            reference_values_free(&graph[k], values[k]);
            pdnn_arena_finish(&arena[k]);
        }
    }
}

static void test_quantize_unsupported(void **state) {
    (void)state;
    static const char training[] = "int8 is for inference",
                      family[] = "int8 is for inference, and not for models of this family";
    static const struct {
        const char *id, *reason;
    } rows[] = {
        {"fc/layers=1,nodes=8,dtype=int8,mode=train", training},
        {"cnn/block=residual,image=32,dtype=int8,mode=train", training},
        {"rnn/dtype=int8,mode=infer", family},
        {"gnmt/dtype=int8,mode=infer", family},
        {"deepspeech2/dtype=int8,mode=infer", family},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        build_graph(rows[i].id, &arena, &graph);
        assert_string_equal(graph.unsupported, rows[i].reason);
        pdnn_arena_finish(&arena);
    }
}

/* dense and dequantize refuse anything but an int8 product with the right scales. */
static void test_quantized_infer_refuses(void **state) {
    (void)state;
    static const struct {
        enum pdnn_dtype x, w;
        int64_t scales; /* 0: none */
        const char *reason;
    } rows[] = {
        {PDNN_INT8, PDNN_F32, 0, "an input of int8 and weights of f32"},
        {PDNN_F32, PDNN_INT8, 0, "an input of f32 and weights of int8"},
        {PDNN_F32, PDNN_F32, 5, "the scales are not those"},
        {PDNN_INT8, PDNN_INT8, 4, "the scales are not those"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        struct pdnn_err err = {0};
        pdnn_arena_init(&arena);
        pdnn_graph_init(&graph, &arena);
        const struct pdnn_tensor tensors[] = {
            {.role = PDNN_ROLE_INPUT, .dtype = rows[i].x, .rank = 2, .dim = {2, 3}},
            {.role = PDNN_ROLE_WEIGHT, .dtype = rows[i].w, .rank = 2, .dim = {5, 3}},
            {.role = PDNN_ROLE_STATE, .rank = 1, .dim = {1}},
            {.role = PDNN_ROLE_STATE, .rank = 1, .dim = {rows[i].scales ? rows[i].scales : 1}},
        };
        for (size_t k = 0; k < 4; k++)
            pdnn_graph_tensor(&graph, &tensors[k]);
        pdnn_graph_forward(&graph, &pdnn_op_dense,
                           (uint32_t[]){0, 1, rows[i].scales ? 2 : PDNN_NONE, 3, PDNN_NONE}, NULL);
        assert_int_equal(pdnn_graph_status(&graph, &err), PDNN_INVALID);
        if (!strstr(err.text, rows[i].reason))
            fail_msg("'%s' does not say '%s'", err.text, rows[i].reason);
        pdnn_arena_finish(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantize_chooses_nodes), cmocka_unit_test(test_quantize_costs_by_hand),
        cmocka_unit_test(test_quantize_flop_counts),   cmocka_unit_test(test_quantize_result_is_near),
        cmocka_unit_test(test_quantize_unsupported),   cmocka_unit_test(test_quantized_infer_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
