/* The activations, found by their names: values, gradients by finite differences, what backward reads, memory
 * in place, and use as a post-op of dense layers and convolutions on every backend. */
#include "tests/runtime/backend_check.h"
#include "tests/cmocka_all.h"
#include "tests/models/model_check.h"
#include "tests/near.h"

#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/transform/fuse.h"
#include "models/cost/memory.h"
#include "models/op.h"
#include "models/optimizer.h"
#include "models/ops/pointwise.h"
#include "models/forward.h"

#include <math.h>
#include <omp.h>
#include <string.h>

extern const struct pdnn_backend_def pdnn_backend_onednn, pdnn_backend_openblas;

static const struct activation {
    const char *name;
    bool saves_x, is_post; /* is_post: of a dense layer, and of a convolution */
    double x[3], y[3];
} activations[] = {
    {"relu", false, true, {-2, 0, 3}, {0, 0, 3}},
    {"sigmoid", false, true, {-2, 0, 3}, {0.11920292202211755, 0.5, 0.95257412682243322}},
    {"tanh", false, true, {-2, 0, 3}, {-0.96402758007581688, 0, 0.99505475368673045}},
    {"hardtanh", false, true, {-2, 0.5, 30}, {0, 0.5, 20}},
    {"gelu", true, true, {-2, 0, 3}, {-0.045500263896358417, 0, 2.9959503059051097}},
    {"gelu_tanh", true, true, {-2, 0, 3}, {-0.045402305912224981, 0, 2.996362607918227}},
    {"silu", true, true, {-2, 0, 3}, {-0.2384058440442351, 0, 2.8577223804672998}},
    {"hardsigmoid", false, false, {-4, 0, 1.5}, {0, 0.5, 0.75}},
    {"hardswish", true, true, {-4, 1.5, 3}, {0, 1.125, 3}},
    {"softplus", true, true, {-2, 0, 1000}, {0.12692801104297249, 0.69314718055994531, 1000}},
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
        struct pdnn_node node = {.op = pdnn_op_find(row->name),
                                 .n_inputs = 1,
                                 .n_outputs = 1,
                                 .input = (uint32_t[]){0},
                                 .output = (uint32_t[]){1}};
        struct pdnn_reference r = {.graph = &graph, .value = values};
        memcpy(node.coef, node.op->coef, sizeof node.coef);
        memcpy(x, row->x, sizeof x);
        pdnn_reference_run(&r, &node);
        for (int i = 0; i < 3; i++)
            assert_near(y[i], row->y[i], 1e-15);
    }
}

/* Also what it says of its sign, which decides how int8 stores a result. */
static void test_signs(void **state) {
    (void)state;
    static const double bounds[][PDNN_NODE_COEFS] = {{[PDNN_HARDTANH_LOW] = 0, [PDNN_HARDTANH_HIGH] = 6},
                                                     {[PDNN_HARDTANH_LOW] = -1, [PDNN_HARDTANH_HIGH] = 1}};
    for (size_t k = 0; k < 2 * ACTIVATIONS; k++) {
        const struct pdnn_op_def *op = pdnn_op_find(activations[k / 2].name);
        const double *coef = op->attributes[0].coefficient ? bounds[k % 2] : op->coef;
        double least = 0;
        for (double x = -20; x <= 20; x += 0.125)
            least = fmin(least, op->pointwise->value(x, coef));
        if ((least >= 0) != (op->pointwise->non_negative && coef[0] >= 0))
            fail_msg("%s: the least value is %g", op->name, least);
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

/* N rows; or N images of one channel and I by I pixels, with a kernel of 3 by 3. O outputs or channels, which
 * are no whole blocks of channels. */
struct sizes {
    bool is_image;
    int64_t N, I, O;
};
static const struct sizes dense_sizes = {false, 33, 20, 70}, few_rows = {false, 2, 20, 70},
                          image_sizes = {true, 3, 7, 13};
static const struct pdnn_fill uniform = {.kind = PDNN_FILL_UNIFORM, .scale = 1};

/* Bounds that most values are beyond, and 0 too. */
static const double coefs[PDNN_NODE_COEFS] = {[PDNN_HARDTANH_LOW] = 0.125, [PDNN_HARDTANH_HIGH] = 0.75};

static uint32_t add_product(struct pdnn_graph *graph, const struct sizes *s, uint32_t x, int64_t outputs) {
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_CONV2D_STRIDE_H] = 1, [PDNN_CONV2D_STRIDE_W] = 1};
    const int64_t inputs = pdnn_tensor_elements(&graph->tensors[x]) / s->N;
    const bool is_image = s->is_image && outputs == s->O;
    uint32_t w = is_image ? pdnn_graph_weight(graph, 4, (int64_t[]){outputs, 1, 3, 3}, uniform)
                          : pdnn_graph_weight(graph, 2, (int64_t[]){outputs, inputs}, uniform);
    return pdnn_graph_forward(graph, is_image ? &pdnn_op_conv2d : &pdnn_op_dense,
                              (uint32_t[]){x, w, PDNN_NONE}, attrs);
}

/* A dense layer or a convolution on data, its bias, and the activation, which an op with coefficients gets
 * with others than its defaults; in training also a loss, after images with a dense layer before it. */
static void build_layer(struct pdnn_arena *arena, struct pdnn_graph *graph, const struct activation *row,
                        const struct sizes *s, bool train) {
    enum { CLASSES = 9 };
    struct pdnn_tensor input = {.role = PDNN_ROLE_INPUT,
                                .rank = s->is_image ? 4 : 2,
                                .dim = {s->N, s->is_image ? 1 : s->I, s->I, s->I},
                                .fill = uniform,
                                .of = PDNN_NONE};
    pdnn_arena_init(arena);
    pdnn_graph_init(graph, arena);
    uint32_t x = add_product(graph, s, pdnn_graph_tensor(graph, &input), s->O);
    uint32_t b = pdnn_graph_weight(graph, 1, (int64_t[]){s->O}, uniform);
    x = pdnn_graph_forward(graph, &pdnn_op_bias, (uint32_t[]){x, b, PDNN_NONE}, NULL);
    x = pdnn_graph_forward_with(graph, pdnn_op_find(row->name), (uint32_t[]){x, PDNN_NONE}, NULL, coefs);
    graph->result = train ? PDNN_NONE : x;
    if (!train)
        return;
    x = s->is_image ? add_product(graph, s, x, CLASSES) : x;
    struct pdnn_tensor labels = {.role = PDNN_ROLE_LABEL,
                                 .dtype = PDNN_S32,
                                 .rank = 1,
                                 .dim = {s->N},
                                 .fill = {PDNN_FILL_CLASS, CLASSES},
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

/* In inference the product absorbs bias and activation; in training, only activations whose backward does
 * not need the input. */
static void test_fuse(void **state) {
    (void)state;
    for (size_t k = 0; k < 4 * ACTIVATIONS; k++) {
        const struct activation *row = &activations[k / 4];
        const struct sizes *s = k / 2 % 2 ? &image_sizes : &dense_sizes;
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        bool train = k % 2;
        build_layer(&arena, &graph, row, s, train);
        pdnn_fuse_post_ops(&graph);
        bool absorbed = row->is_post && !(train && row->saves_x);
        assert_int_equal(forward_nodes(&graph), 2 - absorbed + train + (train && s->is_image));
        if (absorbed)
            assert_memory_equal(graph.nodes[0].posts[1].coef, coefs, sizeof coefs);
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
        build_layer(&arena, &graph, row, &dense_sizes, train);
        lifetimes = pdnn_memory_lifetimes(&graph);
        const struct pdnn_node *node = &graph.nodes[2];
        assert_ptr_equal(node->op, pdnn_op_find(row->name));
        assert_int_equal(lifetimes[node->output[0]].takes_over,
                         train && row->saves_x ? PDNN_NONE : node->input[0]);
        pdnn_arena_finish(&arena);
    }
}

static void check_backends(const struct sizes *s) {
    struct opened onednn = open_backend(&pdnn_backend_onednn),
                  openblas = open_backend(&pdnn_backend_openblas);
    for (size_t k = 0; k < 4 * ACTIVATIONS; k++) {
        const struct activation *row = &activations[k / 4];
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        struct oracle oracle;
        bool train = k % 2, fused = k / 2 % 2;
        build_layer(&arena, &graph, row, s, train);
        if (fused)
            pdnn_fuse_post_ops(&graph);
        open_oracle(&graph, &oracle);
        assert_true(check_everything(&onednn, &oracle, CHECK_STEPS, 10, row->name));
        if (!fused && !s->is_image) /* openblas has neither */
            assert_true(check_everything(&openblas, &oracle, CHECK_STEPS, 10, row->name));
        close_oracle(&oracle);
        pdnn_arena_finish(&arena);
    }
    close_backend(&onednn);
    close_backend(&openblas);
}

static void test_backends_dense(void **state) {
    (void)state;
    check_backends(&dense_sizes);
}

/* Which has a kernel of our own to choose from. */
static void test_backends_few_rows(void **state) {
    (void)state;
    check_backends(&few_rows);
}

static void test_backends_images(void **state) {
    (void)state;
    check_backends(&image_sizes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_are_here),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_signs),
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_fuse),
        cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_backends_dense),
        cmocka_unit_test(test_backends_few_rows),
        cmocka_unit_test(test_backends_images),
    };
    omp_set_num_threads(CHECK_THREADS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
