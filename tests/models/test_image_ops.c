/* Ops on images that detection and diffusion need, in double: gradients by finite differences, FLOP against a
 * counting run, values and bytes by hand, and what is refused. */
#include "tests/cmocka_all.h"
#include "tests/models/gradient_check.h"
#include "tests/models/model_check.h"
#include "tests/near.h"

#include "models/attributes.h"
#include "models/cost/cost.h"
#include "models/forward.h"
#include "models/op.h"
#include "models/optimizer.h"
#include "models/transform/backward.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Windows apart, side by side and overlapping; padding that cuts them; groups; taps apart. x (2, 6, 3, 4). */
static void test_gradient_conv_transpose2d(void **state) {
    (void)state;
    static const struct {
        int64_t attr[PDNN_NODE_ATTRS], w[4];
    } rows[] = {
        {{1, 1, 0, 0}, {6, 2, 1, 1}},          {{2, 2, 0, 0}, {6, 3, 2, 2}},
        {{2, 1, 1, 0}, {6, 2, 3, 2}},          {{3, 2, 0, 1}, {6, 1, 2, 4}},
        {{1, 2, 2, 1, 6}, {6, 1, 3, 3}},       {{2, 2, 1, 1, 3}, {6, 2, 4, 4}},
        {{2, 1, 0, 2, 0, 2, 2}, {6, 2, 2, 3}}, {{1, 2, 1, 1, 2, 3, 1}, {6, 4, 2, 3}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct chain chain;
        begin_chain(&chain);
        uint32_t x = chain_weight(&chain, 4, (int64_t[]){2, 6, 3, 4}), w = chain_weight(&chain, 4, rows[i].w);
        check_chain(&chain,
                    pdnn_graph_forward(&chain.graph, &pdnn_op_conv_transpose2d, (uint32_t[]){x, w, PDNN_NONE},
                                       rows[i].attr),
                    "conv_transpose2d");
    }
}

/* One pixel and tap at a time. */
static void test_conv_transpose2d_by_hand(void **state) {
    (void)state;
    enum {
        H = 3,
        W = 2,
        C = 4,
        O = 6,
        G = 2,
        R = 3,
        S = 2,
        P = 2 * (H - 1) - 2 + 2 * (R - 1) + 1,
        Q = W + 1
    };
    static const int64_t attr[PDNN_NODE_ATTRS] = {2, 1, 1, 0, G, 2, 1};
    struct pdnn_tensor tensors[] = {{.rank = 4, .dim = {1, C, H, W}},
                                    {.rank = 4, .dim = {C, O / G, R, S}},
                                    {.rank = 4, .dim = {1, O, P, Q}}};
    double x[C * H * W], w[C * O / G * R * S], y[O * P * Q], sum[O * P * Q] = {0}, *values[] = {x, w, y};
    struct pdnn_graph graph = {.tensors = tensors, .n_tensors = 3};
    struct pdnn_node node = {.op = &pdnn_op_conv_transpose2d,
                             .n_inputs = 2,
                             .n_outputs = 1,
                             .input = (uint32_t[]){0, 1},
                             .output = (uint32_t[]){2}};
    uint64_t taps = 0;
    memcpy(node.attr, attr, sizeof attr);
    for (int i = 0; i < C * H * W; i++)
        x[i] = i * i % 23 - 11;
    for (int i = 0; i < C * O / G * R * S; i++)
        w[i] = i * i % 19 - 9;
    for (int i = 0; i < C * H * W * O / G * R * S; i++) {
        const int s = i % S, r = i / S % R, o = i / S / R % (O / G), pixel = i / S / R / (O / G),
                  c = pixel / W / H, p = pixel / W % H * 2 - 1 + r * 2, q = pixel % W + s;
        if (p < 0 || p >= P)
            continue;
        sum[(c / (C / G) * (O / G) + o) * P * Q + p * Q + q] +=
            x[pixel] * w[((c * (O / G) + o) * R + r) * S + s];
        taps++;
    }
    struct pdnn_reference r = {.graph = &graph, .value = values};
    pdnn_reference_run(&r, &node);
    for (int i = 0; i < O * P * Q; i++)
        assert_true(y[i] == sum[i]);
    struct pdnn_cost cost;
    assert_int_equal(pdnn_cost_node(&graph, &node, &cost, NULL), PDNN_OK);
    assert_int_equal(cost.flop_count, 2 * C * H * W * (O / G) * R * S);
    assert_int_equal(cost.in_bounds_flop_count, 2 * taps);
    assert_int_equal(r.flop, 2 * taps);
    assert_int_equal(cost.byte_count, (C * H * W + C * O / G * R * S + O * P * Q) * sizeof(float));
}

static void test_conv_transpose2d_refuses(void **state) {
    (void)state;
    static const struct {
        int64_t attr[PDNN_NODE_ATTRS], w[4];
        const char *reason; /* NULL: fine */
    } rows[] = {
        {{2, 2, 0, 0}, {6, 4, 2, 2}, NULL},
        {{1, 1, 0, 0}, {4, 6, 2, 2}, "disagree: C is 6 and 4"},
        {{1, 1, 0, 0, 4}, {6, 1, 2, 2}, "groups=4 does not divide 6 channels of its input"},
        {{1, 1, 0, 0, -1}, {6, 1, 2, 2}, "groups=-1 does not divide 6"},
        {{1, 1, 2, 0}, {6, 1, 2, 2}, "a 2x2 kernel with padding 2x0 leaves nothing of an image of 3x4"},
        {{1, 1, 2, 2}, {6, 1, 3, 3}, NULL}, /* a pixel in height */
        {{1, 1, 4, 4}, {6, 1, 5, 5}, "leaves nothing"},
        {{0, 1, 0, 0}, {6, 1, 2, 2}, "leaves nothing"},
        {{1, 1, 0, -1}, {6, 1, 2, 2}, "leaves nothing"},
        {{1, INT64_MAX, 0, 0}, {6, 1, 2, 2}, "leaves nothing"},
        {{1, 1, 0, 0, 0, INT64_MAX, 0}, {6, 1, 2, 2}, "leaves nothing"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct chain chain;
        struct pdnn_err err = {0};
        begin_chain(&chain);
        uint32_t x = chain_weight(&chain, 4, (int64_t[]){2, 6, 3, 4}), w = chain_weight(&chain, 4, rows[i].w);
        pdnn_graph_forward(&chain.graph, &pdnn_op_conv_transpose2d, (uint32_t[]){x, w, PDNN_NONE},
                           rows[i].attr);
        enum pdnn_status status = pdnn_graph_status(&chain.graph, &err);
        assert_int_equal(status, rows[i].reason ? PDNN_INVALID : PDNN_OK);
        if (rows[i].reason && !strstr(err.text, rows[i].reason))
            fail_msg("row %zu: %s", i, err.text);
        pdnn_arena_finish(&chain.arena);
    }
}

/* One group, some, and each channel its own; y is used for each pixel alike, so that gammas matter. */
static void test_gradient_groupnorm(void **state) {
    (void)state;
    static const int64_t groups[] = {1, 2, 3, 6};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        const int64_t attr[PDNN_NODE_ATTRS] = {
            [PDNN_GROUPNORM_GROUPS] = groups[i], [PDNN_GROUPNORM_TRAIN] = 1};
        struct chain chain;
        begin_chain(&chain);
        const uint32_t in[] = {chain_weight(&chain, 4, (int64_t[]){3, 6, 2, 5}),
                               chain_weight(&chain, 1, (int64_t[]){6}),
                               chain_weight(&chain, 1, (int64_t[]){6}), PDNN_NONE};
        check_chain(&chain, pdnn_graph_forward(&chain.graph, &pdnn_op_groupnorm, in, attr), "groupnorm");
    }
}

/* Two images of four channels in two groups: 0 1, 2 3 and so on, which deviate by 1 from their means. */
static void test_groupnorm_by_hand(void **state) {
    (void)state;
    enum { N = 2, C = 4, G = 2, E = N * C };
    struct pdnn_tensor tensors[] = {
        {.rank = 4, .dim = {N, C, 1, 1}}, {.rank = 1, .dim = {C}},    {.rank = 1, .dim = {C}},
        {.rank = 4, .dim = {N, C, 1, 1}}, {.rank = 2, .dim = {N, G}}, {.rank = 2, .dim = {N, G}},
        {.rank = 4, .dim = {N, C, 1, 1}}, {.rank = 1, .dim = {C}},    {.rank = 1, .dim = {C}}};
    double x[E] = {0, 2, 4, 6, 8, 10, 12, 14}, gamma[] = {1, 2, 3, 4}, beta[] = {5, 0, 0, 9}, y[E],
           mean[N * G], inverse_std[N * G], dx[E], dgamma[C], dbeta[C];
    double *values[] = {x, gamma, beta, y, mean, inverse_std, dx, dgamma, dbeta};
    struct pdnn_graph graph = {.tensors = tensors, .n_tensors = 9};
    struct pdnn_node node = {
        .op = &pdnn_op_groupnorm,
        .attr = {[PDNN_GROUPNORM_GROUPS] = G, [PDNN_GROUPNORM_TRAIN] = 1}, /* epsilon 0 */
        .n_inputs = 3,
        .n_outputs = 3,
        .input = (uint32_t[]){0, 1, 2},
        .output = (uint32_t[]){3, 4, 5}};
    struct pdnn_reference r = {.graph = &graph, .value = values};
    struct pdnn_cost cost;
    pdnn_reference_run(&r, &node);
    for (int i = 0; i < E; i++) {
        assert_true(y[i] == (i % 2 ? gamma[i % C] : -gamma[i % C]) + beta[i % C]);
        assert_true(mean[i / 2] == i / 2 * 4 + 1 && inverse_std[i / 2] == 1);
    }
    assert_int_equal(pdnn_cost_node(&graph, &node, &cost, NULL), PDNN_OK);
    assert_int_equal(cost.flop_count, 8 * E + 5 * N * G);
    assert_int_equal(cost.byte_count, (2 * E + 2 * C + 2 * N * G) * sizeof(float));
    assert_int_equal(r.flop, cost.flop_count);
    r.flop = 0;
    node.pass = PDNN_BACKWARD_DATA;
    node.n_inputs = 5;
    node.input = (uint32_t[]){3, 0, 1, 4, 5}; /* dy is y */
    node.output = (uint32_t[]){6, 7, 8};
    pdnn_reference_run(&r, &node);
    for (int i = 0; i < E; i++)
        assert_true(dx[i] == 0); /* a group of two values is the same whatever they are */
    assert_true(dgamma[0] == 2 * (1 - 5) && dgamma[3] == 2 * (4 + 9) && dbeta[1] == 4 && dbeta[2] == -6);
    assert_int_equal(pdnn_cost_node(&graph, &node, &cost, NULL), PDNN_OK);
    assert_int_equal(cost.flop_count, 13 * E + 2 * N * G);
    assert_int_equal(cost.byte_count, (3 * E + 3 * C + 2 * N * G) * sizeof(float));
    assert_int_equal(r.flop, cost.flop_count);
}

static void test_groupnorm_refuses(void **state) {
    (void)state;
    static const int64_t groups[] = {4, 0, -2};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        const int64_t attr[PDNN_NODE_ATTRS] = {[PDNN_GROUPNORM_GROUPS] = groups[i]};
        struct chain chain;
        struct pdnn_err err = {0};
        char reason[64];
        begin_chain(&chain);
        const uint32_t in[] = {chain_weight(&chain, 4, (int64_t[]){3, 6, 2, 5}),
                               chain_weight(&chain, 1, (int64_t[]){6}),
                               chain_weight(&chain, 1, (int64_t[]){6}), PDNN_NONE};
        pdnn_graph_forward(&chain.graph, &pdnn_op_groupnorm, in, attr);
        assert_int_equal(pdnn_graph_status(&chain.graph, &err), PDNN_INVALID);
        snprintf(reason, sizeof reason, "groupnorm: groups=%d does not divide 6 channels", (int)groups[i]);
        assert_string_equal(err.text, reason);
        pdnn_arena_finish(&chain.arena);
    }
}

static uint32_t new_boxes(struct pdnn_graph *graph, int64_t count) {
    const struct pdnn_tensor boxes = {.role = PDNN_ROLE_INPUT,
                                      .rank = 2,
                                      .dim = {count, 4},
                                      .fill = {PDNN_FILL_UNIFORM, 1},
                                      .of = PDNN_NONE};
    return pdnn_graph_tensor(graph, &boxes);
}

static void test_gradient_roi_align(void **state) {
    (void)state;
    static const int64_t rows[][3] = {{2, 1, 1}, {2, 2, 2}, {6, 3, 2}, {4, 1, 3}}; /* boxes, size, samples */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int64_t attr[PDNN_NODE_ATTRS] = {
            [PDNN_ROI_ALIGN_SIZE] = rows[i][1], [PDNN_ROI_ALIGN_SAMPLES] = rows[i][2]};
        struct chain chain;
        begin_chain(&chain);
        const uint32_t x = chain_weight(&chain, 4, (int64_t[]){2, 3, 5, 4}),
                       boxes = new_boxes(&chain.graph, rows[i][0]);
        check_chain(
            &chain,
            pdnn_graph_forward(&chain.graph, &pdnn_op_roi_align, (uint32_t[]){x, boxes, PDNN_NONE}, attr),
            "roi_align");
    }
}

/* On a plane, a point between pixels has its height, and the mean of a part's points is that of its center.
 */
static void test_roi_align_by_hand(void **state) {
    (void)state;
    enum { H = 8, W = 16, P = 2, S = 2, B = 2 };
    struct pdnn_tensor tensors[] = {
        {.rank = 4, .dim = {1, 1, H, W}}, {.rank = 2, .dim = {B, 4}}, {.rank = 4, .dim = {B, 1, P, P}}};
    double x[H * W], y[B * P * P], boxes[B * 4] = {-0.5, -0.5, 0.5, 0.75, 0.5, 0.75, -0.5, -0.5},
                                             *values[] = {x, boxes, y};
    struct pdnn_graph graph = {.tensors = tensors, .n_tensors = 3};
    struct pdnn_node node = {.op = &pdnn_op_roi_align,
                             .attr = {[PDNN_ROI_ALIGN_SIZE] = P, [PDNN_ROI_ALIGN_SAMPLES] = S},
                             .n_inputs = 2,
                             .n_outputs = 1,
                             .input = (uint32_t[]){0, 1},
                             .output = (uint32_t[]){2}};
    for (int i = 0; i < H * W; i++)
        x[i] = 0.5 + i / W + 100 * (0.5 + i % W); /* height and 100 widths of a pixel's center */
    struct pdnn_reference r = {.graph = &graph, .value = values};
    pdnn_reference_run(&r, &node);
    for (int i = 0; i < B * P * P; i++) /* from row 2 to 6 and column 4 to 14 */
        assert_near(y[i], 2 + 2 * (i / P % P) + 1 + 100 * (4 + 5 * (i % P) + 2.5), 1e-12 * 1400);
    struct pdnn_cost cost;
    assert_int_equal(pdnn_cost_node(&graph, &node, &cost, NULL), PDNN_OK);
    assert_int_equal(cost.flop_count, 8 * B * P * P * S * S);
    assert_int_equal(r.flop, cost.flop_count);
    /* 16 points of each box, four pixels around each: as many as there are. A box alone has half of them. */
    assert_int_equal(cost.byte_count, (H * W + B * 4 + B * P * P) * sizeof(float));
    tensors[1].dim[0] = tensors[2].dim[0] = 1;
    assert_int_equal(pdnn_cost_node(&graph, &node, &cost, NULL), PDNN_OK);
    assert_int_equal(cost.byte_count, (H * W / 2 + 4 + P * P) * sizeof(float));
}

static void test_roi_align_refuses(void **state) {
    (void)state;
    static const struct {
        int64_t boxes, size, samples;
        const char *reason;
    } rows[] = {
        {3, 7, 2, "roi_align: 3 boxes are not as many of each of 2 images"},
        {4, 0, 2, "roi_align: size=0 and samples=2 are not from 1 to 64"},
        {4, 65, 2, "roi_align: size=65 and samples=2 are not from 1 to 64"},
        {4, 7, -1, "roi_align: size=7 and samples=-1 are not from 1 to 64"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int64_t attr[PDNN_NODE_ATTRS] = {
            [PDNN_ROI_ALIGN_SIZE] = rows[i].size, [PDNN_ROI_ALIGN_SAMPLES] = rows[i].samples};
        struct chain chain;
        struct pdnn_err err = {0};
        begin_chain(&chain);
        const uint32_t x = chain_weight(&chain, 4, (int64_t[]){2, 3, 5, 4}),
                       boxes = new_boxes(&chain.graph, rows[i].boxes);
        pdnn_graph_forward(&chain.graph, &pdnn_op_roi_align, (uint32_t[]){x, boxes, PDNN_NONE}, attr);
        assert_int_equal(pdnn_graph_status(&chain.graph, &err), PDNN_INVALID);
        assert_string_equal(err.text, rows[i].reason);
        pdnn_arena_finish(&chain.arena);
    }
}

/* Larger and smaller, and what frameworks give for a row of two and of three pixels. */
static void test_resize(void **state) {
    (void)state;
    static const int64_t attrs[][PDNN_NODE_ATTRS] = {{PDNN_RESIZE_NEAREST, 8, 6},
                                                     {PDNN_RESIZE_NEAREST, 3, 7},
                                                     {PDNN_RESIZE_BILINEAR, 8, 6},
                                                     {PDNN_RESIZE_BILINEAR, 2, 2}};
    for (size_t i = 0; i < sizeof attrs / sizeof *attrs; i++) {
        struct chain chain;
        begin_chain(&chain);
        uint32_t x = chain_weight(&chain, 4, (int64_t[]){2, 3, 4, 3});
        check_chain(&chain,
                    pdnn_graph_forward(&chain.graph, &pdnn_op_resize, (uint32_t[]){x, PDNN_NONE}, attrs[i]),
                    "resize");
    }
    static const struct {
        int64_t kind, from, to, read;
        double x[3], want[6], flop;
    } rows[] = {{PDNN_RESIZE_BILINEAR, 2, 4, 2, {0, 4}, {0, 1, 3, 4}, 28},
                {PDNN_RESIZE_NEAREST, 3, 6, 3, {1, 2, 3}, {1, 1, 2, 2, 3, 3}, 0},
                {PDNN_RESIZE_NEAREST, 3, 2, 2, {1, 2, 3}, {1, 2}, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_tensor tensors[] = {{.rank = 4, .dim = {1, 1, 1, rows[i].from}},
                                        {.rank = 4, .dim = {1, 1, 1, rows[i].to}}};
        double x[3], y[6], *values[] = {x, y};
        struct pdnn_graph graph = {.tensors = tensors, .n_tensors = 2};
        struct pdnn_node node = {.op = &pdnn_op_resize,
                                 .n_inputs = 1,
                                 .n_outputs = 1,
                                 .input = (uint32_t[]){0},
                                 .output = (uint32_t[]){1},
                                 .attr = {rows[i].kind, 1, rows[i].to}};
        struct pdnn_cost cost;
        struct pdnn_err err = {0};
        memcpy(x, rows[i].x, sizeof x);
        pdnn_reference_run(&(struct pdnn_reference){.graph = &graph, .value = values}, &node);
        for (int64_t k = 0; k < rows[i].to; k++)
            assert_true(fabs(y[k] - rows[i].want[k]) < 1e-12);
        assert_int_equal(pdnn_cost_node(&graph, &node, &cost, &err), PDNN_OK);
        assert_int_equal(cost.flop_count, (uint64_t)rows[i].flop);
        assert_int_equal(cost.activation_bytes, 4 * (rows[i].read + rows[i].to));
    }
}

enum { FROZEN = 1, AFFINE = 2 };

/* batchnorm of a weight x: its inputs, of which constants are state. */
static uint32_t append_batchnorm(struct chain *chain, int rank, const int64_t *dim, int how) {
    static const struct pdnn_fill uniform = {PDNN_FILL_UNIFORM, 1}, near_one = {PDNN_FILL_NEAR_ONE, 0.25};
    const int64_t attr[PDNN_NODE_ATTRS] = {[PDNN_BATCHNORM_TRAIN] = !(how & FROZEN)};
    uint32_t in[PDNN_BATCHNORM_INPUTS + 1];
    int n = 0;
    in[n++] = chain_weight(chain, rank, dim);
    for (int k = 0; k < 2 && how & AFFINE; k++)
        in[n++] = how & FROZEN ? pdnn_graph_state(&chain->graph, 1, &dim[1], uniform)
                               : chain_weight(chain, 1, &dim[1]);
    in[n++] = pdnn_graph_state(&chain->graph, 1, &dim[1], uniform);
    in[n++] = pdnn_graph_state(&chain->graph, 1, &dim[1], near_one);
    in[n] = PDNN_NONE;
    return pdnn_graph_forward(&chain->graph, &pdnn_op_batchnorm, in, attr);
}

/* With the minibatch's statistics and frozen, with gamma and beta and without. */
static void test_gradient_batchnorm(void **state) {
    (void)state;
    static const int64_t dims[][4] = {{3, 4, 2, 3}, {1, 2, 5, 1}, {4, 3, 1, 1}};
    for (int k = 0; k < 4 * 4; k++) {
        struct chain chain;
        begin_chain(&chain);
        uint32_t y = append_batchnorm(&chain, k / 4 == 3 ? 2 : 4, dims[k / 4 % 3], k % 4);
        check_chain(&chain, y, "batchnorm");
    }
}

/* By hand: what a frozen one moves and computes, forward and backward, for 3 images of 4 channels of 6
 * pixels. Nothing of it is trained. */
static void test_frozen_batchnorm_costs(void **state) {
    (void)state;
    enum { E = 3 * 4 * 6, C = 4 };
    for (int affine = 0; affine < 2; affine++) {
        struct chain chain;
        struct pdnn_totals totals;
        int seen = 0;
        begin_chain(&chain);
        uint32_t y = append_batchnorm(&chain, 4, (int64_t[]){3, C, 2, 3}, FROZEN | (affine ? AFFINE : 0));
        chain_loss(&chain, y);
        pdnn_backward_derive(&chain.graph, &pdnn_optimizers[PDNN_OPTIMIZER_SGD]);
        assert_int_equal(pdnn_graph_status(&chain.graph, NULL), PDNN_OK);
        for (size_t i = 0; i < chain.graph.n_nodes; i++) {
            const struct pdnn_node *node = &chain.graph.nodes[i];
            struct pdnn_cost cost;
            if (node->op != &pdnn_op_batchnorm)
                continue;
            assert_int_equal(pdnn_cost_node(&chain.graph, node, &cost, NULL), PDNN_OK);
            const bool forward = node->pass == PDNN_FORWARD;
            const int constants = affine ? (forward ? 4 : 2) : forward ? 2 : 1;
            assert_int_equal(cost.byte_count, 4 * (2 * E + constants * C));
            assert_int_equal(cost.flop_count,
                             forward ? 2 * E + (affine ? 6 : 4) * C : E + (affine ? 4 : 3) * C);
            assert_int_equal(cost.state_bytes, 4 * constants * C);
            assert_int_equal(node->n_outputs, 1);
            seen++;
        }
        assert_int_equal(seen, 2);
        assert_int_equal(pdnn_cost_graph(&chain.graph, &totals, NULL), PDNN_OK);
        assert_int_equal(totals.params, E + 24 * 3); /* x and the dense layer */
        pdnn_arena_finish(&chain.arena);
    }
}

/* Detectors and a board game whose heads have plain batch normalization, small: FLOP against a counting run,
 * fusion, what folds in inference, and gradients; and the published totals. */
static const char mask_rcnn[] = "mask_rcnn/height=32,width=48,classes=3,regions=8,masks=4,blocks=1,filters=2,"
                                "channels=4,units=5,batch=2",
                  retinanet[] = "retinanet/height=32,width=48,classes=3,anchors=2,blocks=1,filters=2,"
                                "channels=4,batch=2",
                  minigo[] = "minigo/board=3,blocks=1,filters=4,units=3,planes=2,batch=2";

static void test_detectors(void **state) {
    (void)state;
    const char *const ids[] = {mask_rcnn, retinanet, minigo};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        char infer[PDNN_ID_TEXT];
        build_graph(ids[i], &arena, &graph);
        check_flop_counts(&graph, ids[i]);
        check_gradients_at_once(&graph, 7);
        pdnn_arena_finish(&arena);
        check_fusion(ids[i]);
        snprintf(infer, sizeof infer, "%s,mode=infer", ids[i]);
        check_fusion(infer);
        snprintf(infer, sizeof infer, "%s,mode=infer,fuse=post-ops", ids[i]);
        build_graph(infer, &arena, &graph);
        for (size_t k = 0; k < graph.n_nodes; k++)
            assert_ptr_not_equal(graph.nodes[k].op, &pdnn_op_batchnorm);
        pdnn_arena_finish(&arena);
    }
    assert_int_equal(totals_of("mask_rcnn:mask-rcnn").params, 44401393);
    assert_int_equal(totals_of("retinanet:retinanet").params, 34014999);
    assert_int_equal(totals_of("minigo:minigo").params, 191386);
}

/* As deep as ResNet-50, whose sums of blocks would double with frozen statistics that no training made. */
static void test_detectors_loss_falls(void **state) {
    (void)state;
    check_loss_falls(
        "mask_rcnn/height=32,width=32,classes=3,regions=8,masks=4,blocks=3-4-6-3,filters=4,channels=8,"
        "units=8,batch=2,optimizer=sgd",
        10, 0.99);
    check_loss_falls(
        "retinanet/height=32,width=32,classes=3,anchors=2,blocks=3-4-6-3,filters=4,channels=8,batch=2,"
        "optimizer=sgd",
        10, 0.99);
}

/* Multiply-adds of one image's products. */
static double macs_of(const char *id) {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    build_graph(id, &arena, &graph);
    const uint64_t flop = flop_of_op(&graph, &pdnn_op_conv2d) + flop_of_op(&graph, &pdnn_op_dense) +
                          flop_of_op(&graph, &pdnn_op_conv_transpose2d);
    pdnn_arena_finish(&arena);
    return (double)flop / 2;
}

/* torchvision's metadata of its weights: 151.54 G; 134.38 G, of 1,000 regions none of which gets a mask, so
 * less those of four. */
static void test_detectors_macs(void **state) {
    (void)state;
#define MASK_RCNN "mask_rcnn:mask-rcnn,height=800,width=800,regions=1000,batch=1,mode=infer,"
    const double four = macs_of(MASK_RCNN "masks=4"), eight = macs_of(MASK_RCNN "masks=8");
    assert_near(macs_of("retinanet:retinanet,height=800,width=800,batch=1,mode=infer"), 151.54e9, 5e6);
    assert_near(four - (eight - four), 134.38e9, 5e6);
}

/* FLOP are affine in the minibatch, and parameters do not depend on it; sides need not be multiples of 32. */
static void test_detectors_by_minibatch(void **state) {
    (void)state;
    static const char *const texts[] = {
        "mask_rcnn/height=33,width=47,classes=3,regions=8,masks=4,blocks=1,filters=2,channels=4,units=5",
        "retinanet/height=33,width=47,classes=3,anchors=2,blocks=1,filters=2,channels=4"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct pdnn_totals by[6];
        for (int n = 1; n <= 5; n++) {
            char id[PDNN_ID_TEXT];
            snprintf(id, sizeof id, "%s,batch=%d", texts[i], n);
            by[n] = totals_of(id);
            assert_int_equal(by[n].params, by[1].params);
        }
        for (int n = 3; n <= 5; n++)
            assert_int_equal(by[n].cost.flop_count - by[n - 1].cost.flop_count,
                             by[2].cost.flop_count - by[1].cost.flop_count);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resize),
        cmocka_unit_test(test_gradient_conv_transpose2d),
        cmocka_unit_test(test_conv_transpose2d_by_hand),
        cmocka_unit_test(test_conv_transpose2d_refuses),
        cmocka_unit_test(test_gradient_groupnorm),
        cmocka_unit_test(test_groupnorm_by_hand),
        cmocka_unit_test(test_groupnorm_refuses),
        cmocka_unit_test(test_gradient_roi_align),
        cmocka_unit_test(test_roi_align_by_hand),
        cmocka_unit_test(test_roi_align_refuses),
        cmocka_unit_test(test_gradient_batchnorm),
        cmocka_unit_test(test_frozen_batchnorm_costs),
        cmocka_unit_test(test_detectors),
        cmocka_unit_test(test_detectors_macs),
        cmocka_unit_test(test_detectors_loss_falls),
        cmocka_unit_test(test_detectors_by_minibatch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
