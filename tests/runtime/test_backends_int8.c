/* int8 in every backend against `reference`: products of quantized values in all their ways, and whole
 * inferences. Values halfway between two integers may round either way, and what follows from them differs
 * accordingly. N minibatch, I inputs, O outputs. */
#include "tests/runtime/backend_check.h"
#include "tests/cmocka_all.h"

#include "models/op.h"
#include "models/transform/quantize.h"
#include "models/forward.h"
#include "runtime/backends/onednn/state.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>

/* Relative to an op's tolerance of 1e-6: some inputs of a sum may be off by one step of 127. */
static const double tie_slack = 3000;

/* x, with or without negative values, times w: as a family builds it, then quantized. */
static void build_dense(struct pdnn_graph *graph, const int64_t dims[3], bool is_signed, bool is_fused) {
    const int64_t N = dims[0], I = dims[1], O = dims[2];
    const struct pdnn_fill fill = {PDNN_FILL_UNIFORM, 2};
    const struct pdnn_tensor input = {
        .role = PDNN_ROLE_INPUT, .rank = 2, .dim = {N, I}, .fill = fill, .of = PDNN_NONE};
    uint32_t x = pdnn_graph_tensor(graph, &input);
    if (!is_signed)
        x = pdnn_graph_forward(graph, &pdnn_op_relu, (uint32_t[]){x, PDNN_NONE}, NULL);
    uint32_t w = pdnn_graph_weight(graph, 2, (int64_t[]){O, I}, fill);
    uint32_t b = pdnn_graph_weight(graph, 1, &O, fill);
    x = pdnn_graph_forward(graph, &pdnn_op_dense, (uint32_t[]){x, w, PDNN_NONE}, NULL);
    graph->result = pdnn_graph_forward(graph, &pdnn_op_bias, (uint32_t[]){x, b, PDNN_NONE}, NULL);
    if (is_fused) {
        graph->nodes[graph->n_nodes - 2].output[0] = graph->result;
        graph->nodes[graph->n_nodes - 2].posts = pdnn_arena_alloc(graph->arena, 1, sizeof(struct pdnn_post));
        assert_non_null(graph->nodes[graph->n_nodes - 2].posts);
        *graph->nodes[graph->n_nodes - 2].posts =
            (struct pdnn_post){.op = &pdnn_op_bias, .pass = PDNN_FORWARD, .input = b, .output = PDNN_NONE};
        graph->nodes[graph->n_nodes - 2].n_posts = 1;
        graph->n_nodes--;
    }
    pdnn_quantize(graph, is_fused);
}

/* With the library's choice, and with each layout and primitive that it has. */
static void check_dense(struct opened *backend, const int64_t dims[3], bool is_signed, bool is_fused) {
    struct pdnn_onednn *onednn = backend->state;
    int ran = 0;
    for (int i = -1; i < PDNN_ONEDNN_DENSE_WAY_COUNT * PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        struct oracle oracle;
        struct pdnn_err err = {0};
        char what[160];
        const enum pdnn_onednn_weights_format format =
            i < 0 ? PDNN_ONEDNN_WEIGHTS_ROW_MAJOR
                  : (enum pdnn_onednn_weights_format)(i / PDNN_ONEDNN_DENSE_WAY_COUNT);
        const enum pdnn_onednn_dense_way way =
            (enum pdnn_onednn_dense_way)(i < 0 ? 0 : i % PDNN_ONEDNN_DENSE_WAY_COUNT);
        const struct pdnn_onednn_dense_choice choice = {format, {[PDNN_FORWARD] = {way, format}}};
        onednn->forced_dense = i < 0 ? NULL : &choice;
        pdnn_arena_init(&arena);
        pdnn_graph_init(&graph, &arena);
        build_dense(&graph, dims, is_signed, is_fused);
        must(pdnn_graph_status(&graph, &err), &err);
        snprintf(what, sizeof what, "%dx%dx%d%s%s way %d", (int)dims[0], (int)dims[1], (int)dims[2],
                 is_signed ? " signed" : "", is_fused ? " fused" : "", i);
        open_oracle(&graph, &oracle);
        ran += check_everything(backend, &oracle, 1, tie_slack, what);
        close_oracle(&oracle);
        pdnn_arena_finish(&arena);
    }
    onednn->forced_dense = NULL;
    assert_true(ran >= 3);
}

static void test_run_products(void **state) {
    (void)state;
    static const int64_t dims[][3] = {{1, 1, 1}, {3, 17, 5}, {1, 129, 64}, {64, 64, 129}, {65, 301, 190}};
    struct opened backend = open_backend(&pdnn_backend_onednn);
    for (size_t i = 0; i < 4 * sizeof dims / sizeof *dims; i++)
        check_dense(&backend, dims[i / 4], i & 1, i & 2);
    close_backend(&backend);
}

/* Images (2, 32, 9, 8) without negative values in a convolution in groups or with taps apart. On Arm the
 * library cannot bring 8-bit weights in groups back into plain order, so that nobody can look at them there.
 */
static void test_run_grouped_convolutions(void **state) {
    (void)state;
#if !defined(__x86_64__)
    skip();
#endif
    static const struct {
        int64_t groups, dilation, outputs;
    } rows[] = {{32, 1, 32}, {4, 1, 64}, {2, 1, 24}, {1, 2, 32}, {32, 2, 32}};
    const struct pdnn_fill fill = {PDNN_FILL_UNIFORM, 2};
    struct opened backend = open_backend(&pdnn_backend_onednn);
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        const int64_t groups = rows[i / 2].groups, dilation = rows[i / 2].dilation, O = rows[i / 2].outputs,
                      attrs[PDNN_NODE_ATTRS] = {1, 1, dilation, dilation, groups, dilation, dilation};
        const struct pdnn_tensor images = {
            .role = PDNN_ROLE_INPUT, .rank = 4, .dim = {2, 32, 9, 8}, .fill = fill, .of = PDNN_NONE};
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        struct pdnn_err err = {0};
        char what[160];
        pdnn_arena_init(&arena);
        pdnn_graph_init(&graph, &arena);
        uint32_t x = pdnn_graph_tensor(&graph, &images),
                 w = pdnn_graph_weight(&graph, 4, (int64_t[]){O, 32 / groups, 3, 3}, fill);
        x = pdnn_graph_forward(&graph, &pdnn_op_relu, (uint32_t[]){x, PDNN_NONE}, NULL);
        graph.result = pdnn_graph_forward(&graph, &pdnn_op_conv2d, (uint32_t[]){x, w, PDNN_NONE}, attrs);
        pdnn_quantize(&graph, i % 2);
        must(pdnn_graph_status(&graph, &err), &err);
        snprintf(what, sizeof what, "groups=%d dilation=%d%s", (int)groups, (int)dilation,
                 i % 2 ? " scaled" : "");
        bool is_int8 = false;
        for (size_t k = 0; k < graph.n_nodes; k++)
            is_int8 = is_int8 || (graph.nodes[k].op == &pdnn_op_conv2d &&
                                  pdnn_node_dtype(&graph, &graph.nodes[k]) == PDNN_INT8);
        assert_true(is_int8);
        assert_true(check_graph(&backend, &graph, 1, tie_slack, what));
        pdnn_arena_finish(&arena);
    }
    close_backend(&backend);
}

static void test_run_networks(void **state) {
    (void)state;
    static const char *const ids[] = {
        "fc/layers=2,nodes=65,input=33,output=7,batch=9",
        "fc/layers=2,nodes=65,input=33,output=7,batch=1,activation=tanh",
        "cnn/block=residual,blocks=1,filters=8,image=40,output=7,batch=2",
        "cnn/block=bottleneck,blocks=1,filters=5,image=40,output=7,batch=2",
        "cnn/block=plain,blocks=1-2,filters=13-10,image=17,output=7,batch=3,dense=20",
        "cnn/block=plain,blocks=2,filters=8,image=12,output=7,batch=1,activation=sigmoid,window=0",
        "transformer/layers=1,hidden=32,heads=2,ffn=48,length=6,batch=2,vocabulary=50",
        "transformer/layers=1,hidden=32,heads=2,ffn=48,length=6,batch=2,vocabulary=50,fuse=blocks",
    };
    struct opened backend = open_backend(&pdnn_backend_onednn);
    for (size_t i = 0; i < 2 * sizeof ids / sizeof *ids; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        char id[256];
        bool is_fused = i % 2 && !strstr(ids[i / 2], "fuse=");
        snprintf(id, sizeof id, "%s,mode=infer,dtype=int8%s", ids[i / 2], is_fused ? ",fuse=post-ops" : "");
        pdnn_arena_init(&arena);
        build_instance(id, &arena, &graph);
        assert_true(check_graph(&backend, &graph, 2, 2 * tie_slack, id));
        pdnn_arena_finish(&arena);
    }
    close_backend(&backend);
}

/* On processors without VNNI, this library's reference code takes seconds, so it must never run unless slow
 * steps are allowed. x86-64 has other code for all of these; on Arm there is none for convolutions with
 * post-ops. */
static void test_compile_nothing_slow(void **state) {
#if defined(__x86_64__)
    const enum pdnn_status expected = PDNN_OK;
#else
    const enum pdnn_status expected = PDNN_UNSUPPORTED;
#endif
    (void)state;
    struct opened backend = open_backend(&pdnn_backend_onednn);
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    pdnn_arena_init(&arena);
    build_instance("cnn:resnet18,image=64,batch=1,mode=infer,dtype=int8,fuse=post-ops", &arena, &graph);
    for (int allows = 0; allows < 2; allows++) {
        const struct pdnn_plan_options options = {.allow_slow = allows};
        struct pdnn_plan plan;
        struct pdnn_err err = {0};
        int slow = 0;
        enum pdnn_status status = pdnn_plan_create(&plan, backend.def, backend.state, &graph, &options, &err);
        assert_int_equal(status, allows ? PDNN_OK : expected);
        if (status == PDNN_UNSUPPORTED) {
            assert_non_null(strstr(err.text, "onednn: no fast int8 code for conv2d forward with "));
            continue;
        }
        for (size_t i = 0; i < plan.program.n_calls; i++) {
            const struct pdnn_call *call = &plan.program.calls[i];
            bool is_reference = strstr(call->implementation, "ref") != NULL;
            if (strstr(call->implementation, "convolution") || expected == PDNN_OK)
                assert_int_equal(call->is_slow, is_reference);
            slow += call->is_slow;
        }
        assert_int_equal(slow > 0, expected != PDNN_OK);
        pdnn_plan_destroy(&plan);
    }
    pdnn_arena_finish(&arena);
    close_backend(&backend);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_products),
        cmocka_unit_test(test_run_grouped_convolutions),
        cmocka_unit_test(test_run_networks),
        cmocka_unit_test(test_compile_nothing_slow),
    };
    omp_set_num_threads(CHECK_THREADS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
