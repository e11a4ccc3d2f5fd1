/* Every op and pass on images on the backend onednn, against `reference`: each op inside a small network,
 * trained for a step, with images plain and in the layout that convolutions prefer; then whole networks,
 * plain and fused; and the program of a network. */
#include "tests/runtime/backend_check.h"
#include "tests/cmocka_all.h"

#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/transform/fuse.h"
#include "models/instance.h"
#include "models/cost/memory.h"
#include "models/op.h"
#include "models/optimizer.h"
#include "models/forward.h"
#include "runtime/backends/onednn/state.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct pdnn_backend_def pdnn_backend_reference;
enum { CLASSES = 5, COLORS = 3, POSTS = 3 };

static const struct pdnn_fill uniform = {.kind = PDNN_FILL_UNIFORM, .scale = 1};
static const struct pdnn_fill small = {.kind = PDNN_FILL_UNIFORM, .scale = 0.1};

/* One op on images (N, C, H, W): its attributes, and the output channels of a convolution, or the boxes. */
struct op_case {
    const struct pdnn_op_def *op;
    int64_t N, C, H, W, O;
    int64_t kernel_h,
        kernel_w; /* of a convolution; add, multiply: kernel_h is the rank of what they spread */
    int64_t attr[PDNN_NODE_ATTRS];
    const struct pdnn_op_def *posts[POSTS]; /* subsequent ops; add adds the op's input */
};

#define CONV(n, c, h, w, o, r, s, stride_h, stride_w, padding_h, padding_w)                                  \
    {                                                                                                        \
        &pdnn_op_conv2d, n, c, h, w, o, r, s, {stride_h, stride_w, padding_h, padding_w}, {                  \
            NULL                                                                                             \
        }                                                                                                    \
    }
#define GROUPS(n, c, h, w, o, kernel, stride, padding, groups, dilation)                                     \
    {                                                                                                        \
        &pdnn_op_conv2d, n, c, h, w, o, kernel, kernel,                                                      \
            {stride, stride, padding, padding, groups, dilation, dilation}, {                                \
            NULL                                                                                             \
        }                                                                                                    \
    }
#define GROWN(n, c, h, w, o, kernel, stride, padding, groups, dilation)                                      \
    {                                                                                                        \
        &pdnn_op_conv_transpose2d, n, c, h, w, o, kernel, kernel,                                            \
            {stride, stride, padding, padding, groups, dilation, dilation}, {                                \
            &pdnn_op_bias, &pdnn_op_relu                                                                     \
        }                                                                                                    \
    }
#define POOL(n, c, h, w, kind, r, s, stride, padding, train)                                                 \
    {                                                                                                        \
        &pdnn_op_pool2d, n, c, h, w, 0, 0, 0, {kind, r, s, stride, stride, padding, padding, train}, {       \
            NULL                                                                                             \
        }                                                                                                    \
    }
#define NORM(n, c, h, w, train, post1, post2)                                                                \
    {                                                                                                        \
        &pdnn_op_batchnorm, n, c, h, w, 0, 0, 0, {train}, {                                                  \
            post1, post2                                                                                     \
        }                                                                                                    \
    }
#define PLAIN(op, n, c, h, w)                                                                                \
    {                                                                                                        \
        op, n, c, h, w, 0, 0, 0, {0}, {                                                                      \
            NULL                                                                                             \
        }                                                                                                    \
    }

#define SPREAD(op, n, c, h, w, rank)                                                                         \
    {                                                                                                        \
        op, n, c, h, w, 0, rank, 0, {0}, {                                                                   \
            &pdnn_op_relu                                                                                    \
        }                                                                                                    \
    }

static const struct op_case op_cases[] = {
    CONV(2, 3, 9, 9, 20, 3, 3, 1, 1, 1, 1),
    CONV(1, 20, 7, 5, 8, 1, 1, 1, 1, 0, 0),
    CONV(3, 3, 23, 23, 13, 7, 7, 2, 2, 3, 3),
    CONV(2, 16, 8, 8, 24, 3, 3, 2, 2, 1, 1),
    CONV(2, 64, 14, 14, 64, 3, 3, 1, 1, 1, 1),
    CONV(1, 1, 5, 5, 1, 3, 3, 1, 1, 0, 0),
    CONV(2, 20, 13, 11, 24, 5, 3, 2, 1, 2, 1),
    CONV(2, 128, 7, 7, 64, 1, 1, 2, 2, 0, 0),
    CONV(2, 8, 4, 4, 16, 4, 4, 1, 1, 0, 0),
    /* In groups of one channel, of many, and of few; taps apart; both. */
    GROUPS(2, 32, 9, 9, 32, 3, 1, 1, 32, 1),
    GROUPS(2, 20, 11, 11, 20, 5, 2, 2, 20, 1),
    GROUPS(1, 16, 8, 8, 32, 7, 1, 3, 16, 1),
    GROUPS(2, 64, 7, 7, 64, 3, 1, 1, 4, 1),
    GROUPS(2, 12, 7, 7, 24, 3, 2, 1, 3, 1),
    GROUPS(2, 24, 5, 5, 12, 1, 1, 0, 4, 1),
    GROUPS(2, 16, 12, 12, 16, 3, 1, 2, 0, 2),
    GROUPS(1, 3, 13, 13, 20, 3, 2, 3, 0, 3),
    GROUPS(2, 32, 12, 12, 32, 3, 1, 2, 32, 2),
    GROUPS(2, 12, 10, 10, 18, 2, 1, 0, 6, 3),
    /* Another padding at the end than at the beginning: causal, same, and both mixed. */
    {&pdnn_op_conv2d, 2, 32, 13, 1, 32, 4, 1, {1, 1, 3, 0, 32, 0, 0, -3, 0}, {&pdnn_op_bias}},
    {&pdnn_op_conv2d, 1, 20, 1, 14, 20, 1, 4, {1, 1, 0, 3, 20, 0, 0, 0, -3}, {NULL}},
    {&pdnn_op_conv2d, 2, 16, 8, 8, 32, 3, 3, {2, 2, 0, 0, 0, 0, 0, 1, 1}, {NULL}},
    {&pdnn_op_conv2d, 2, 3, 9, 8, 20, 3, 4, {1, 2, 2, 0, 0, 0, 0, -1, 2}, {NULL}},
    {&pdnn_op_conv2d, 2, 16, 8, 8, 16, 3, 3, {2, 1, 0, 2, 16, 0, 2, 1, 1}, {NULL}},
    {&pdnn_op_pool2d, 2, 16, 7, 8, 0, 0, 0, {PDNN_POOL2D_MAX, 3, 3, 2, 2, 0, 1, 1, 1, 0}, {NULL}},
    {&pdnn_op_pool2d, 2, 20, 7, 8, 0, 0, 0, {PDNN_POOL2D_AVERAGE, 3, 2, 2, 1, 1, 0, 0, 1, 1}, {NULL}},
    {&pdnn_op_conv2d, 2, 20, 7, 5, 20, 3, 3, {1, 1, 1, 1, 20}, {&pdnn_op_bias, &pdnn_op_add, &pdnn_op_relu}},
    {&pdnn_op_conv2d, 2, 32, 7, 5, 32, 3, 3, {1, 1, 2, 2, 4, 2, 2}, {&pdnn_op_bias, &pdnn_op_hardtanh}},
    {&pdnn_op_conv2d, 2, 16, 6, 5, 24, 3, 3, {1, 1, 1, 1}, {&pdnn_op_bias}},
    {&pdnn_op_conv2d, 2, 3, 9, 9, 13, 3, 3, {2, 2, 1, 1}, {&pdnn_op_bias, &pdnn_op_tanh}},
    {&pdnn_op_conv2d, 2, 20, 7, 5, 20, 3, 3, {1, 1, 1, 1}, {&pdnn_op_bias, &pdnn_op_add, &pdnn_op_relu}},
    /* Windows side by side, overlapping, with pixels that none covers, in groups and with taps apart. */
    GROWN(2, 20, 5, 5, 16, 2, 2, 0, 0, 0),
    GROWN(2, 16, 4, 5, 24, 3, 2, 1, 0, 0),
    GROWN(1, 3, 5, 3, 20, 1, 3, 0, 0, 0),
    GROWN(2, 32, 5, 5, 32, 3, 1, 1, 32, 1),
    GROWN(2, 12, 4, 4, 18, 3, 2, 2, 6, 2),
    POOL(2, 20, 9, 7, PDNN_POOL2D_MAX, 3, 3, 2, 1, 1),
    POOL(1, 3, 8, 8, PDNN_POOL2D_MAX, 2, 2, 2, 0, 1),
    POOL(2, 16, 10, 6, PDNN_POOL2D_AVERAGE, 3, 2, 1, 1, 1),
    POOL(3, 20, 7, 7, PDNN_POOL2D_AVERAGE, 7, 7, 1, 0, 0),
    POOL(3, 16, 5, 5, PDNN_POOL2D_AVERAGE, 5, 5, 1, 0, 0),
    NORM(3, 20, 5, 7, 1, NULL, NULL),
    NORM(3, 20, 5, 7, 1, &pdnn_op_relu, NULL),
    NORM(2, 16, 6, 6, 1, &pdnn_op_add, NULL),
    NORM(2, 13, 6, 6, 1, &pdnn_op_add, &pdnn_op_relu),
    NORM(2, 13, 6, 6, 1, &pdnn_op_sigmoid, NULL),
    NORM(2, 13, 6, 6, 1, &pdnn_op_hardtanh, NULL),
    NORM(2, 13, 6, 6, 1, &pdnn_op_hardtanh, &pdnn_op_add),
    NORM(3, 20, 5, 7, 1, &pdnn_op_add, &pdnn_op_hardtanh),
    NORM(3, 20, 5, 7, 1, &pdnn_op_hardtanh, &pdnn_op_relu),
    {&pdnn_op_groupnorm, 3, 20, 5, 7, 0, 0, 0, {4, 1}, {&pdnn_op_silu}},
    {&pdnn_op_groupnorm, 2, 24, 6, 6, 0, 0, 0, {2, 1}, {&pdnn_op_relu, &pdnn_op_add}},
    {&pdnn_op_roi_align, 2, 20, 9, 7, 6, 0, 0, {3, 2}, {&pdnn_op_relu}},
    PLAIN(&pdnn_op_relu, 2, 20, 5, 5),
    PLAIN(&pdnn_op_sigmoid, 2, 20, 5, 5),
    PLAIN(&pdnn_op_tanh, 2, 13, 4, 4),
    PLAIN(&pdnn_op_add, 2, 20, 5, 5),
    PLAIN(&pdnn_op_bias, 2, 20, 5, 5),
    PLAIN(&pdnn_op_bias, 2, 16, 1, 1),
    PLAIN(&pdnn_op_multiply, 2, 20, 5, 5),
    SPREAD(&pdnn_op_multiply, 2, 20, 5, 7, 1),
    SPREAD(&pdnn_op_multiply, 3, 13, 5, 5, 2),
    SPREAD(&pdnn_op_multiply, 3, 20, 5, 7, 4),
    SPREAD(&pdnn_op_multiply, 2, 32, 30, 30, 4),
    SPREAD(&pdnn_op_add, 2, 20, 5, 5, 1),
    SPREAD(&pdnn_op_add, 2, 16, 6, 5, 2),
    SPREAD(&pdnn_op_add, 3, 20, 5, 5, 4),
};
enum { OP_CASES = sizeof op_cases / sizeof *op_cases };

static uint32_t apply(struct pdnn_graph *graph, const struct pdnn_op_def *op, uint32_t a, uint32_t b) {
    return pdnn_graph_forward(graph, op, (uint32_t[]){a, b, PDNN_NONE}, NULL);
}

static uint32_t new_vector(struct pdnn_graph *graph, int64_t C) {
    return pdnn_graph_weight(graph, 1, &C, uniform);
}

/* Images that gradients flow into: the output of a 1x1 convolution or, without convolutions, biased data cut
 * at 0, so that a normalization does not cancel the bias. */
static uint32_t new_images(struct pdnn_graph *graph, const struct op_case *row, bool convolved) {
    struct pdnn_tensor data = {.role = PDNN_ROLE_INPUT,
                               .rank = 4,
                               .dim = {row->N, convolved ? COLORS : row->C, row->H, row->W},
                               .fill = uniform,
                               .of = PDNN_NONE};
    uint32_t x = pdnn_graph_tensor(graph, &data);
    if (!convolved)
        return apply(graph, &pdnn_op_relu, apply(graph, &pdnn_op_bias, x, new_vector(graph, row->C)),
                     PDNN_NONE);
    int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_CONV2D_STRIDE_H] = 1, [PDNN_CONV2D_STRIDE_W] = 1};
    uint32_t w = pdnn_graph_weight(graph, 4, (int64_t[]){row->C, COLORS, 1, 1}, uniform);
    return pdnn_graph_forward(graph, &pdnn_op_conv2d, (uint32_t[]){x, w, PDNN_NONE}, attrs);
}

/* A value for each channel, of all images or of each: those of images of one pixel depend on the images. */
static uint32_t new_factors(struct pdnn_graph *graph, const struct op_case *row, uint32_t x) {
    const int64_t attrs[PDNN_NODE_ATTRS] = {PDNN_POOL2D_AVERAGE, row->H, row->W, 1, 1, 0, 0, 1};
    if (row->kernel_h == 1)
        return new_vector(graph, row->C);
    if (row->kernel_h == 2)
        return pdnn_graph_weight(graph, 2, (int64_t[]){row->N, row->C}, uniform);
    x = pdnn_graph_forward(graph, &pdnn_op_pool2d, (uint32_t[]){x, PDNN_NONE}, attrs);
    return apply(graph, &pdnn_op_sigmoid, x, PDNN_NONE);
}

static uint32_t apply_case(struct pdnn_graph *graph, const struct op_case *row, uint32_t x) {
    uint32_t in[PDNN_NODE_INPUTS] = {x, PDNN_NONE};
    if (row->op == &pdnn_op_conv2d || row->op == &pdnn_op_conv_transpose2d) {
        const bool grows = row->op == &pdnn_op_conv_transpose2d;
        const int64_t groups = row->attr[PDNN_CONV2D_GROUPS] ? row->attr[PDNN_CONV2D_GROUPS] : 1,
                      dim[] = {grows ? row->C : row->O, (grows ? row->O : row->C) / groups, row->kernel_h,
                               row->kernel_w};
        in[1] = pdnn_graph_weight(graph, 4, dim, uniform);
        in[2] = PDNN_NONE;
    } else if (row->op == &pdnn_op_batchnorm) {
        const struct pdnn_fill near_one = {.kind = PDNN_FILL_NEAR_ONE, .scale = 0.25};
        in[1] = new_vector(graph, row->C);
        in[2] = new_vector(graph, row->C);
        in[3] = pdnn_graph_state(graph, 1, &row->C, uniform);
        in[4] = pdnn_graph_state(graph, 1, &row->C, near_one);
        in[5] = PDNN_NONE;
    } else if (row->op == &pdnn_op_groupnorm) {
        in[1] = new_vector(graph, row->C);
        in[2] = new_vector(graph, row->C);
        in[3] = PDNN_NONE;
    } else if (row->op == &pdnn_op_roi_align) {
        const struct pdnn_tensor boxes = {
            .role = PDNN_ROLE_INPUT, .rank = 2, .dim = {row->O, 4}, .fill = uniform, .of = PDNN_NONE};
        in[1] = pdnn_graph_tensor(graph, &boxes);
        in[2] = PDNN_NONE;
    } else if (row->op == &pdnn_op_bias) {
        in[1] = new_vector(graph, row->C);
        in[2] = PDNN_NONE;
    } else if (row->op == &pdnn_op_add || row->op == &pdnn_op_multiply) {
        in[1] = row->kernel_h ? new_factors(graph, row, x) : x;
        in[2] = PDNN_NONE;
    }
    return pdnn_graph_forward(graph, row->op, in, row->attr);
}

static uint32_t apply_posts(struct pdnn_graph *graph, const struct op_case *row, uint32_t x, uint32_t y) {
    for (int i = 0; i < POSTS && row->posts[i]; i++) {
        uint32_t other = PDNN_NONE;
        if (row->posts[i] == &pdnn_op_add)
            other = x;
        else if (row->posts[i] == &pdnn_op_bias)
            other = new_vector(graph, row->O);
        y = apply(graph, row->posts[i], y, other);
        if (row->posts[i] != &pdnn_op_hardtanh)
            continue;
        /* Bounds that most values are beyond, and 0 too. */
        graph->nodes[graph->n_nodes - 1].coef[PDNN_HARDTANH_LOW] = 0.125;
        graph->nodes[graph->n_nodes - 1].coef[PDNN_HARDTANH_HIGH] = 0.75;
    }
    return y;
}

/* Appends a dense layer on the images and a loss, and derives training. */
static void finish_graph(struct pdnn_graph *graph, uint32_t y, bool fused) {
    const struct pdnn_tensor *t = &graph->tensors[y];
    struct pdnn_tensor labels = {.role = PDNN_ROLE_LABEL,
                                 .dtype = PDNN_S32,
                                 .rank = 1,
                                 .dim = {t->dim[0]},
                                 .fill = {.kind = PDNN_FILL_CLASS, .scale = CLASSES},
                                 .of = PDNN_NONE};
    int64_t inputs = pdnn_tensor_elements(t) / t->dim[0];
    uint32_t label = pdnn_graph_tensor(graph, &labels);
    uint32_t w = pdnn_graph_weight(graph, 2, (int64_t[]){CLASSES, inputs}, small);
    y = apply(graph, &pdnn_op_dense, y, w);
    graph->loss = apply(graph, &pdnn_op_softmax_cross_entropy, y, label);
    pdnn_backward_derive(graph, &pdnn_optimizers[PDNN_OPTIMIZER_MOMENTUM]);
    if (fused)
        pdnn_fuse_post_ops(graph);
}

/* Images, the op, and subsequent ops. */
static void build_case(const struct op_case *row, bool convolved, bool fused, struct pdnn_graph *graph) {
    uint32_t x = new_images(graph, row, convolved), y = apply_case(graph, row, x);
    y = apply_posts(graph, row, x, y);
    finish_graph(graph, y, fused);
}

static void check_case(const struct opened *backend, const struct op_case *row, bool convolved, bool fused) {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct pdnn_err err = {0};
    char what[160];
    pdnn_arena_init(&arena);
    pdnn_graph_init(&graph, &arena);
    build_case(row, convolved, fused, &graph);
    must(pdnn_graph_status(&graph, &err), &err);
    snprintf(what, sizeof what, "case %d, %s C=%d H=%d W=%d%s%s", (int)(row - op_cases), row->op->name,
             (int)row->C, (int)row->H, (int)row->W, convolved ? " convolved" : "", fused ? " fused" : "");
    double terms = (double)(row->C * row->H * row->W * row->N);
    if (!check_graph(backend, &graph, 1, 10 * sqrt(terms), what))
        fail_msg("%s: unsupported", what);
    pdnn_arena_finish(&arena);
}

static void test_compile_image_ops(void **state) {
    (void)state;
    struct opened backend = open_backend(&pdnn_backend_onednn);
    for (size_t i = 0; i < OP_CASES; i++) {
        for (int way = 0; way < 4; way++)
            check_case(&backend, &op_cases[i], way & 1, way & 2);
    }
    close_backend(&backend);
}

/* One weight in two convolutions, and data that both a convolution and another op read. */
static void test_run_shared_tensors(void **state) {
    (void)state;
    struct opened backend = open_backend(&pdnn_backend_onednn);
    for (int fused = 0; fused < 2; fused++) {
        struct pdnn_tensor data = {
            .role = PDNN_ROLE_INPUT, .rank = 4, .dim = {2, 20, 6, 5}, .fill = uniform, .of = PDNN_NONE};
        int64_t attrs[PDNN_NODE_ATTRS] = {1, 1, 1, 1};
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        struct pdnn_err err = {0};
        pdnn_arena_init(&arena);
        pdnn_graph_init(&graph, &arena);
        uint32_t x = pdnn_graph_tensor(&graph, &data);
        uint32_t w = pdnn_graph_weight(&graph, 4, (int64_t[]){20, 20, 3, 3}, small);
        uint32_t y = pdnn_graph_forward(&graph, &pdnn_op_conv2d, (uint32_t[]){x, w, PDNN_NONE}, attrs);
        y = apply(&graph, &pdnn_op_tanh, y, PDNN_NONE);
        y = pdnn_graph_forward(&graph, &pdnn_op_conv2d, (uint32_t[]){y, w, PDNN_NONE}, attrs);
        y = apply(&graph, &pdnn_op_add, y, apply(&graph, &pdnn_op_bias, x, new_vector(&graph, 20)));
        finish_graph(&graph, y, fused);
        must(pdnn_graph_status(&graph, &err), &err);
        assert_true(check_graph(&backend, &graph, CHECK_STEPS, check_whole_step_slack, "shared"));
        pdnn_arena_finish(&arena);
    }
    close_backend(&backend);
}

/* One weight in two convolutions, which have it in other dimensions: in groups and not. */
static void test_run_weights_in_groups_and_not(void **state) {
    (void)state;
    struct opened backend = open_backend(&pdnn_backend_onednn);
    for (int first = 0; first < 2; first++) {
        struct pdnn_tensor data = {.role = PDNN_ROLE_INPUT,
                                   .rank = 4,
                                   .dim = {2, first ? 32 : 16, 6, 6},
                                   .fill = uniform,
                                   .of = PDNN_NONE};
        int64_t attrs[2][PDNN_NODE_ATTRS] = {{1, 1, 1, 1}, {1, 1, 1, 1, 2}};
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        struct pdnn_err err = {0};
        pdnn_arena_init(&arena);
        pdnn_graph_init(&graph, &arena);
        uint32_t x = pdnn_graph_tensor(&graph, &data);
        uint32_t w = pdnn_graph_weight(&graph, 4, (int64_t[]){32, 16, 3, 3}, small);
        uint32_t v = pdnn_graph_weight(&graph, 4, (int64_t[]){16, 32, 3, 3}, small);
        uint32_t y = pdnn_graph_forward(&graph, &pdnn_op_conv2d, (uint32_t[]){x, w, PDNN_NONE}, attrs[first]);
        if (first)
            y = pdnn_graph_forward(&graph, &pdnn_op_conv2d, (uint32_t[]){y, v, PDNN_NONE}, attrs[0]);
        y = pdnn_graph_forward(&graph, &pdnn_op_conv2d, (uint32_t[]){y, w, PDNN_NONE}, attrs[!first]);
        finish_graph(&graph, y, false);
        must(pdnn_graph_status(&graph, &err), &err);
        assert_true(check_graph(&backend, &graph, CHECK_STEPS, check_whole_step_slack, "groups and not"));
        pdnn_arena_finish(&arena);
    }
    close_backend(&backend);
}

static const char *const instances[] = {
    "cnn/block=residual,blocks=1,filters=4,image=33,output=5,batch=3,mode=train,optimizer=sgd",
    "cnn/block=residual,blocks=2,filters=8,image=32,output=5,batch=2,mode=infer",
    "cnn/block=bottleneck,blocks=1-2-1-1,filters=8,image=40,output=7,batch=2,mode=train,optimizer=momentum",
    "cnn/block=bottleneck,blocks=2,filters=4,image=50,output=7,batch=2,stride_on=1x1,mode=infer",
    "cnn/block=plain,blocks=1-2,filters=5,image=18,output=5,batch=3,dense=17,mode=train,optimizer=adam",
    "cnn/block=plain,blocks=1,filters=12-20,kernel=5-3,stride=2-1,window=3-0,image=29,output=5,batch=2,dense=9-11,activation=tanh,mode=train,optimizer=rmsprop",
    "cnn/block=plain,blocks=2-1,filters=8,image=20,output=3,batch=1,activation=sigmoid,mode=infer",
    "cnn/block=bottleneck,blocks=1-2-1-1,filters=8,image=40,output=7,batch=2,mode=train,optimizer=sgd,accumulate=2,checkpoint=layer",
    "cnn/block=plain,blocks=2-1,filters=5,image=18,output=5,batch=3,dense=17,mode=train,optimizer=lamb,checkpoint=layer",
    "mobilenet_v1/width=0.25,image=40,output=5,batch=2,mode=infer",
    "mobilenet_v3/size=small,width=0.25,image=40,output=5,batch=2,mode=infer",
    "regnet/depths=1-1,widths=16-20,group=4,image=36,output=5,batch=2,mode=infer",
    "squeezenet/stem=8,kernel=3,width=0.25,image=40,output=5,batch=2,mode=infer",
    "densenet/blocks=1-2,growth=8,filters=12,image=40,output=5,batch=2,mode=infer",
    "googlenet/width=0.125,image=40,output=5,batch=2,mode=infer",
    "deepspeech2/hidden=6,layers=2,frames=35,characters=5,labels=1,batch=2,mode=infer",
};
enum { INSTANCES = sizeof instances / sizeof *instances };

static void test_run_whole_networks(void **state) {
    (void)state;
    struct opened backend = open_backend(&pdnn_backend_onednn);
    for (size_t i = 0; i < INSTANCES; i++) {
        char id[PDNN_ID_TEXT];
        snprintf(id, sizeof id, "%s,fuse=post-ops", instances[i]);
        check_instance(&backend, 1, instances[i]);
        check_instance(&backend, 1, id);
    }
    close_backend(&backend);
}

/* Images split among threads, with a cache setting so small that all results use streaming stores. */
static void test_run_past_the_caches(void **state) {
    (void)state;
    static const char *const ids[] = {
        "cnn/block=residual,blocks=1,filters=16,image=64,output=5,batch=6,mode=train,optimizer=sgd",
        "cnn/block=plain,blocks=1-1,filters=13-20,image=64,output=5,batch=2,dense=none,activation=sigmoid,mode=train,optimizer=sgd",
    };
    struct opened backend = open_backend(&pdnn_backend_onednn);
    struct pdnn_onednn *onednn = backend.state;
    onednn->options.cache_bytes = 4096;
    for (int i = 0; i < 4; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        char id[320];
        snprintf(id, sizeof id, "%s,fuse=%s", ids[i / 2], i % 2 ? "post-ops" : "none");
        pdnn_arena_init(&arena);
        build_instance(id, &arena, &graph);
        assert_true(check_graph(&backend, &graph, 1, check_whole_step_slack, id));
        pdnn_arena_finish(&arena);
    }
    close_backend(&backend);
}

/* Tensors have the same numbers in both graphs, and so the same data, except what is folded into weights. */
static void check_agreement(const struct opened *backend, const char *id) {
    const struct pdnn_plan_options options = {.seed = CHECK_SEED};
    struct pdnn_arena arena[2];
    struct pdnn_graph graph[2];
    struct pdnn_plan plan[2];
    char full[320];
    for (int i = 0; i < 2; i++) {
        struct pdnn_err err = {0};
        pdnn_arena_init(&arena[i]);
        snprintf(full, sizeof full, "%s%s", id, i ? ",fuse=post-ops" : "");
        build_instance(full, &arena[i], &graph[i]);
        must(pdnn_plan_create(&plan[i], backend->def, backend->state, &graph[i], &options, &err), &err);
        for (int step = 0; step < CHECK_STEPS; step++)
            assert_int_equal(pdnn_plan_run(&plan[i]), 0);
    }
    compare_values(&plan[1], &plan[0], graph[0].result, 1e-6 * check_whole_step_slack, id);
    for (int i = 0; i < 2; i++) {
        pdnn_plan_destroy(&plan[i]);
        pdnn_arena_finish(&arena[i]);
    }
}

static void test_run_fused_as_unfused(void **state) {
    (void)state;
    struct opened reference = open_backend(&pdnn_backend_reference);
    for (size_t i = 0; i < INSTANCES; i++) {
        if (strstr(instances[i], "mode=infer")) /* here constants are folded */
            check_agreement(&reference, instances[i]);
    }
    close_backend(&reference);
}

/* A program without memory. */
struct compiled {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct pdnn_program program;
};

static enum pdnn_status compile_instance(const struct opened *backend, const char *id, bool keep_all,
                                         struct compiled *compiled, struct pdnn_err *err) {
    pdnn_arena_init(&compiled->arena);
    build_instance(id, &compiled->arena, &compiled->graph);
    pdnn_program_init(&compiled->program, &compiled->graph);
    compiled->program.keep_all = keep_all;
    return backend->def->compile(backend->state, &compiled->graph, &compiled->program, err);
}

static void finish_compiled(struct compiled *compiled) {
    pdnn_program_finish(&compiled->program);
    pdnn_arena_finish(&compiled->arena);
}

static bool is_image(const struct pdnn_graph *graph, uint32_t tensor) {
    enum pdnn_role role = graph->tensors[tensor].role;
    return role == PDNN_ROLE_ACTIVATION || role == PDNN_ROLE_GRADIENT;
}

/* Data is row-major; the first convolution may want another layout. */
static bool is_input(const struct pdnn_graph *graph, uint32_t tensor) {
    return graph->tensors[tensor].role == PDNN_ROLE_INPUT;
}

/* True if a step moves input data although images are blocked by 8, since there are convolutions from
 * row-major colors to such blocks. */
static bool reads_data(const struct compiled *compiled, const struct pdnn_call *call) {
    bool is_data = compiled->graph.tensors[call->tensor].role == PDNN_ROLE_INPUT;
    for (size_t i = 0; i < compiled->graph.n_tensors && is_data; i++) {
        if (is_image(&compiled->graph, (uint32_t)i) && compiled->program.slots[i].channel_block == 8)
            return true;
    }
    return false;
}

/* Full-size networks: nothing runs in the library's reference code, images never change layout, and no
 * summand is copied if its memory can be taken over. */
static void test_compile_resnets(void **state) {
    (void)state;
    static const struct {
        const char *id;
        int sums;
    } rows[] = {
        {"cnn:resnet50,batch=1,mode=infer,fuse=post-ops", 16},
        {"cnn:resnet50,batch=1,mode=infer", 0},
        {"cnn:resnet18,batch=2,mode=train,fuse=post-ops", 0},
        {"cnn:resnet50,batch=2,mode=train", 0},
    };
    struct opened backend = open_backend(&pdnn_backend_onednn);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct compiled compiled;
        struct pdnn_err err = {0};
        int sums = 0;
        must(compile_instance(&backend, rows[i].id, false, &compiled, &err), &err);
        for (size_t k = 0; k < compiled.program.n_calls; k++) {
            const struct pdnn_call *call = &compiled.program.calls[k];
            if (strstr(call->implementation, "ref"))
                fail_msg("%s: step %zu is %s", rows[i].id, k, call->implementation);
            if (call->node == PDNN_NONE)
                assert_false(is_image(&compiled.graph, call->tensor) || reads_data(&compiled, call));
            else if (compiled.graph.nodes[call->node].op == &pdnn_op_conv2d)
                sums += call->sums_in_place;
        }
        assert_int_equal(sums, rows[i].sums);
        finish_compiled(&compiled);
    }
    close_backend(&backend);
}

/* A sum takes over the memory that the prediction assigns to it, in training too. There, backward reads a
 * normalization's input again, but not the summand of a shortcut. */
static void test_plan_inherits_as_predicted(void **state) {
    (void)state;
    const struct pdnn_plan_options options = {.seed = CHECK_SEED};
    struct opened backend = open_backend(&pdnn_backend_onednn);
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct pdnn_plan plan;
    struct pdnn_lifetime *predicted;
    struct pdnn_err err = {0};
    int sums = 0;
    pdnn_arena_init(&arena);
    build_instance(
        "cnn/block=residual,blocks=1,filters=16,image=32,output=5,batch=2,mode=train,fuse=post-ops", &arena,
        &graph);
    predicted = pdnn_memory_lifetimes(&graph);
    must(pdnn_plan_create(&plan, backend.def, backend.state, &graph, &options, &err), &err);
    for (size_t i = 0; i < graph.n_nodes; i++) {
        const struct pdnn_node *node = &graph.nodes[i];
        uint32_t from = predicted[node->output[0]].takes_over;
        if (from == PDNN_NONE)
            continue;
        assert_ptr_equal(plan.memory[node->output[0]], plan.memory[from]);
        sums += node->n_posts > 0 && node->posts[0].input == from;
    }
    assert_int_equal(sums, 4);
    pdnn_plan_destroy(&plan);
    pdnn_arena_finish(&arena);
    close_backend(&backend);
}

/* If every value keeps its own memory, each sum starts with a copy, which appears as a step. */
static void test_compile_copies_summands(void **state) {
    (void)state;
    struct opened backend = open_backend(&pdnn_backend_onednn);
    struct compiled compiled;
    struct pdnn_err err = {0};
    int copies = 0;
    must(compile_instance(
             &backend,
             "cnn/block=residual,blocks=2,filters=8,image=32,mode=infer,fuse=post-ops,algorithm=direct", true,
             &compiled, &err),
         &err);
    for (size_t k = 0; k < compiled.program.n_calls; k++) {
        const struct pdnn_call *call = &compiled.program.calls[k];
        if (call->node != PDNN_NONE) {
            assert_false(compiled.graph.nodes[call->node].op == &pdnn_op_conv2d && call->sums_in_place);
            continue;
        }
        if (is_input(&compiled.graph, call->tensor))
            continue;
        assert_true(is_image(&compiled.graph, call->tensor));
        assert_true(call->reorder_bytes == 2 * compiled.program.slots[call->tensor].bytes);
        copies++;
    }
    assert_int_equal(copies, 8);
    finish_compiled(&compiled);
    close_backend(&backend);
}

/* A dense layer reads rows: blocked images are reordered, except images of one pixel, which are rows. */
static void test_compile_dense_after_images(void **state) {
    (void)state;
    struct opened backend = open_backend(&pdnn_backend_onednn);
    static const struct {
        const char *id;
        bool is_moved; /* where images are not row-major */
    } rows[] = {
        {"cnn/block=plain,blocks=1,filters=32,image=4,window=2,dense=none,mode=infer", true},
        {"cnn/block=plain,blocks=1,filters=32,image=2,window=2,dense=none,mode=infer", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct compiled compiled;
        struct pdnn_err err = {0};
        bool is_blocked = false, is_moved = false;
        must(compile_instance(&backend, rows[i].id, false, &compiled, &err), &err);
        for (size_t k = 0; k < compiled.program.n_calls; k++) {
            const struct pdnn_call *call = &compiled.program.calls[k];
            is_moved = is_moved || (call->node == PDNN_NONE && !is_input(&compiled.graph, call->tensor));
            is_blocked = is_blocked || compiled.program.slots[call->slot[0]].channel_block > 0;
        }
        assert_true(is_moved == (is_blocked && rows[i].is_moved));
        finish_compiled(&compiled);
    }
    close_backend(&backend);
}

/* A sum after an activation is not a post-op that oneDNN supports. */
static void test_compile_refuses_late_sums(void **state) {
    (void)state;
    static const struct op_case row = {
        &pdnn_op_conv2d, 1, 8, 5, 5, 8, 3, 3, {1, 1, 1, 1}, {&pdnn_op_bias, &pdnn_op_relu, &pdnn_op_add}};
    struct opened backend = open_backend(&pdnn_backend_onednn);
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct pdnn_err err = {0};
    pdnn_arena_init(&arena);
    pdnn_graph_init(&graph, &arena);
    uint32_t x = new_images(&graph, &row, true);
    graph.result = apply_posts(&graph, &row, x, apply_case(&graph, &row, x));
    pdnn_fuse_post_ops(&graph);
    must(pdnn_graph_status(&graph, &err), &err);
    expect_graph_unsupported(&backend, &graph, "cannot take add as post-op 3");
    pdnn_arena_finish(&arena);
    close_backend(&backend);
}

static void test_compile_unsupported_networks(void **state) {
    (void)state;
    struct opened backend = open_backend(&pdnn_backend_onednn);
    expect_unsupported(&backend, "cnn/block=residual,image=32,dtype=int8,mode=train",
                       "int8 is for inference");
    close_backend(&backend);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compile_image_ops),
        cmocka_unit_test(test_run_shared_tensors),
        cmocka_unit_test(test_run_weights_in_groups_and_not),
        cmocka_unit_test(test_run_whole_networks),
        cmocka_unit_test(test_run_past_the_caches),
        cmocka_unit_test(test_run_fused_as_unfused),
        cmocka_unit_test(test_compile_resnets),
        cmocka_unit_test(test_plan_inherits_as_predicted),
        cmocka_unit_test(test_compile_copies_summands),
        cmocka_unit_test(test_compile_dense_after_images),
        cmocka_unit_test(test_compile_refuses_late_sums),
        cmocka_unit_test(test_compile_unsupported_networks),
    };
    omp_set_num_threads(CHECK_THREADS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
