/* The activations, found by their names: values, gradients by finite differences, what backward reads, memory
 * in place, and use as a post-op of a dense layer on every backend. */
#include "tests/runtime/backend_check.h"
#include "tests/cmocka_all.h"
#include "tests/models/model_check.h"
#include "tests/near.h"

#include "models/transform/backward.h"
#include "models/transform/fuse.h"
#include "models/cost/memory.h"
#include "models/op.h"
#include "models/optimizer.h"
#include "models/forward.h"

#include <math.h>
#include <omp.h>
#include <string.h>

extern const struct pdnn_backend_def pdnn_backend_onednn, pdnn_backend_openblas;

static const struct activation {
    const char *name;
    bool saves_x, is_post; /* is_post: of a dense layer */
    double x[3], y[3];
} activations[] = {
    {"relu", false, true, {-2, 0, 3}, {0, 0, 3}},
    {"sigmoid", false, true, {-2, 0, 3}, {0.11920292202211755, 0.5, 0.95257412682243322}},
    {"tanh", false, true, {-2, 0, 3}, {-0.96402758007581688, 0, 0.99505475368673045}},
    {"hardtanh", false, false, {-2, 0.5, 30}, {0, 0.5, 20}},
    {"gelu", true, true, {-2, 0, 3}, {-0.045500263896358417, 0, 2.9959503059051097}},
    {"gelu_tanh", true, true, {-2, 0, 3}, {-0.045402305912224981, 0, 2.996362607918227}},
    {"silu", true, false, {-2, 0, 3}, {-0.2384058440442351, 0, 2.8577223804672998}},
};
enum { ACTIVATIONS = sizeof activations / sizeof *activations };

static void test_all_are_here(void **state) {
    (void)state;
    for (size_t i = 0; pdnn_ops[i]; i++) {
        bool listed = !pdnn_ops[i]->pointwise;
        for (size_t k = 0; k < ACTIVATIONS; k++)
            listed = listed || pdnn_op_find(activations[k].name) == pdnn_ops[i];
        if (!listed)
            fail_msg("no case for %s", pdnn_ops[i]->name);
    }
}

static void test_values(void **state) {
    (void)state;
    for (size_t k = 0; k < ACTIVATIONS; k++) {
        const struct activation *row = &activations[k];
        struct pdnn_tensor tensors[2] = {{.rank = 2, .dim = {1, 3}}, {.rank = 2, .dim = {1, 3}}};
        double x[3], y[3], *values[] = {x, y};
        struct pdnn_graph graph = {.tensors = tensors, .n_tensors = 2};
        struct pdnn_node node = {.op = pdnn_op_find(row->name), .n_inputs = 1, .n_outputs = 1, .output = {1}};
        struct pdnn_reference r = {.graph = &graph, .value = values};
        memcpy(node.coef, node.op->coef, sizeof node.coef);
        memcpy(x, row->x, sizeof x);
        pdnn_reference_run(&r, &node);
        for (int i = 0; i < 3; i++)
            assert_near(y[i], row->y[i], 1e-15);
    }
}

static void test_gradients(void **state) {
    (void)state;
    for (size_t k = 0; k < ACTIVATIONS; k++) {
        struct chain chain;
        begin_chain(&chain);
        uint32_t x = chain_weight(&chain, 2, (int64_t[]){4, 5});
        check_chain(&chain,
                    pdnn_graph_forward(&chain.graph, pdnn_op_find(activations[k].name),
                                       (uint32_t[]){x, PDNN_NONE}, NULL),
                    activations[k].name);
    }
}

/* A dense layer on data, its bias, and the activation; in training also a loss. */
static void build_layer(struct pdnn_arena *arena, struct pdnn_graph *graph, const struct activation *row,
                        bool train) {
    enum { N = 33, I = 20, O = 70 };
    const struct pdnn_fill uniform = {.kind = PDNN_FILL_UNIFORM, .scale = 1};
    struct pdnn_tensor input = {
        .role = PDNN_ROLE_INPUT, .rank = 2, .dim = {N, I}, .fill = uniform, .of = PDNN_NONE};
    pdnn_arena_init(arena);
    pdnn_graph_init(graph, arena);
    uint32_t x = pdnn_graph_tensor(graph, &input);
    uint32_t w = pdnn_graph_weight(graph, 2, (int64_t[]){O, I}, uniform);
    uint32_t b = pdnn_graph_weight(graph, 1, (int64_t[]){O}, uniform);
    x = pdnn_graph_forward(graph, &pdnn_op_dense, (uint32_t[]){x, w, PDNN_NONE}, NULL);
    x = pdnn_graph_forward(graph, &pdnn_op_bias, (uint32_t[]){x, b, PDNN_NONE}, NULL);
    x = pdnn_graph_forward(graph, pdnn_op_find(row->name), (uint32_t[]){x, PDNN_NONE}, NULL);
    graph->result = train ? PDNN_NONE : x;
    if (!train)
        return;
    struct pdnn_tensor labels = {.role = PDNN_ROLE_LABEL,
                                 .dtype = PDNN_S32,
                                 .rank = 1,
                                 .dim = {N},
                                 .fill = {PDNN_FILL_CLASS, O},
                                 .of = PDNN_NONE};
    uint32_t label = pdnn_graph_tensor(graph, &labels);
    graph->loss =
        pdnn_graph_forward(graph, &pdnn_op_softmax_cross_entropy, (uint32_t[]){x, label, PDNN_NONE}, NULL);
    pdnn_backward_derive(graph, &pdnn_optimizers[PDNN_OPTIMIZER_SGD]);
}

static size_t forward_nodes(const struct pdnn_graph *graph) {
    size_t count = 0;
    while (count < graph->n_nodes && graph->nodes[count].pass == PDNN_FORWARD)
        count++;
    return count;
}

/* In inference the dense layer absorbs bias and activation; in training, only activations whose backward does
 * not need the input. */
static void test_fuse(void **state) {
    (void)state;
    for (size_t k = 0; k < 2 * ACTIVATIONS; k++) {
        const struct activation *row = &activations[k / 2];
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        bool train = k % 2;
        build_layer(&arena, &graph, row, train);
        pdnn_fuse_post_ops(&graph);
        bool absorbed = row->is_post && !(train && row->saves_x);
        assert_int_equal(forward_nodes(&graph), 2 - absorbed + train);
        pdnn_arena_finish(&arena);
    }
}

/* One buffer in inference; in training the input stays if backward reads it. */
static void test_in_place(void **state) {
    (void)state;
    for (size_t k = 0; k < 2 * ACTIVATIONS; k++) {
        const struct activation *row = &activations[k / 2];
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        struct pdnn_lifetime *lifetimes;
        bool train = k % 2;
        build_layer(&arena, &graph, row, train);
        lifetimes = pdnn_memory_lifetimes(&graph);
        const struct pdnn_node *node = &graph.nodes[2];
        assert_ptr_equal(node->op, pdnn_op_find(row->name));
        assert_int_equal(lifetimes[node->output[0]].takes_over,
                         train && row->saves_x ? PDNN_NONE : node->input[0]);
        pdnn_arena_finish(&arena);
    }
}

static void test_backends(void **state) {
    (void)state;
    struct opened onednn = open_backend(&pdnn_backend_onednn),
                  openblas = open_backend(&pdnn_backend_openblas);
    for (size_t k = 0; k < 4 * ACTIVATIONS; k++) {
        const struct activation *row = &activations[k / 4];
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        struct oracle oracle;
        bool train = k % 2, fused = k / 2 % 2;
        build_layer(&arena, &graph, row, train);
        if (fused)
            pdnn_fuse_post_ops(&graph);
        open_oracle(&graph, &oracle);
        assert_true(check_everything(&onednn, &oracle, CHECK_STEPS, 10, row->name));
        assert_true(fused || check_everything(&openblas, &oracle, CHECK_STEPS, 10, row->name));
        close_oracle(&oracle);
        pdnn_arena_finish(&arena);
    }
    close_backend(&onednn);
    close_backend(&openblas);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_are_here), cmocka_unit_test(test_values),
        cmocka_unit_test(test_gradients),    cmocka_unit_test(test_fuse),
        cmocka_unit_test(test_in_place),     cmocka_unit_test(test_backends),
    };
    omp_set_num_threads(CHECK_THREADS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
