/* The cnn family and its ops, in double: published parameter and multiply-add counts, FLOP
 * against a counting run, gradients by finite differences, fused graphs against unfused ones, a
 * training run whose loss falls. */
#include "tests/cmocka_all.h"
#include "tests/models/gradient_check.h"
#include "tests/models/model_check.h"
#include "tests/models/reference_run.h"

#include "models/attributes.h"
#include "models/transform/fuse.h"
#include "models/op.h"
#include "models/forward.h"
#include "models/ops/window.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Multiply-adds of convolutions and dense layers, all taps, per image. */
static uint64_t macs_of(const char *preset) {
    char id[128];
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    snprintf(id, sizeof id, "cnn:%s,batch=1,mode=infer", preset);
    build_graph(id, &arena, &graph);
    uint64_t flop = flop_of_op(&graph, &pdnn_op_conv2d) + flop_of_op(&graph, &pdnn_op_dense);
    pdnn_arena_finish(&arena);
    return flop / 2;
}

/* torchvision's counts. With ParaDnn's shortcuts, ResNet-18 has one more 1x1 convolution of 64 channels. */
static void test_cnn_published_counts(void **state) {
    (void)state;
    static const struct {
        const char *preset;
        uint64_t params, macs; /* macs: 0 if none is published for exactly this shape */
    } rows[] = {
        {"resnet50", 25557032, 4089184256},
        {"resnet50,stride_on=1x1", 25557032, 3857973248},
        {"resnet18", 11689512, 1814073344},
        {"resnet18,shortcut=projection", 11689512 + 64 * 64 + 2 * 64, 1814073344 + 64 * 64 * 56 * 56},
        {"resnet34", 21797672, 3663761408},
        {"resnet101", 44549160, 0},
        {"resnet152", 60192808, 0},
        {"vgg11", 132863336, 0},
        {"vgg13", 133047848, 0},
        {"vgg16", 138357544, 15470264320},
        {"vgg19", 143667240, 0},
        {"alexnet", 61100840, 714188480},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char id[128];
        snprintf(id, sizeof id, "cnn:%s", rows[i].preset);
        assert_int_equal(totals_of(id).params, rows[i].params);
        if (rows[i].macs)
            assert_int_equal(macs_of(rows[i].preset), rows[i].macs);
    }
}

/* Keras's parameters, and the paper's 4.2 M and 569 M; FLOP against a counting run, and fusion. */
static void test_mobilenet(void **state) {
    (void)state;
    static const char small[] = "mobilenet_v1/width=0.25,image=32,output=3,batch=2";
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    build_graph("mobilenet_v1:mobilenet_v1,batch=1,mode=infer", &arena, &graph);
    assert_int_equal(totals_of("mobilenet_v1:mobilenet_v1").params, 4231976);
    assert_int_equal(flop_of_op(&graph, &pdnn_op_conv2d) + flop_of_op(&graph, &pdnn_op_dense),
                     2 * 568740352ul);
    pdnn_arena_finish(&arena);
    build_graph(small, &arena, &graph);
    check_flop_counts(&graph, small);
    pdnn_arena_finish(&arena);
    check_fusion(small);
    check_depth_costs(small);
}

/* Networks whose channels are put side by side: FLOP against a counting run, fusion, gradients (their totals
 * are claims of presets). An image of 40 pixels leaves a rest at some poolings. */
static void test_side_by_side(void **state) {
    (void)state;
    static const char *const ids[] = {
        "squeezenet/stem=4,kernel=3,width=0.125,image=40,output=3,batch=2",
        "densenet/blocks=1-2-1,growth=4,filters=4,image=40,output=3,batch=2",
        "googlenet/width=0.125,image=40,output=3,batch=2",
        "unet/depth=2,filters=4,image=16,output=3,batch=2",
        "unet/depth=1,filters=4,upsampling=bilinear,image=12,output=3,batch=2",
        "unet/depth=1,filters=4,upsampling=nearest,image=12,output=3,batch=2",
    };
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        build_graph(ids[i], &arena, &graph);
        check_flop_counts(&graph, ids[i]);
        pdnn_arena_finish(&arena);
        check_fusion(ids[i]);
    }
}

/* The extremes of ParaDnn's published sweep: 374,244 to 61.09 M parameters, and 762,884 to 98.68 M. */
static void test_cnn_paper_range(void **state) {
    (void)state;
    static const struct {
        const char *id;
        double least, most;
    } rows[] = {
        {"cnn/block=residual,blocks=1,filters=16,image=200,output=500,pool=7x7", 374244, 374244},
        {"cnn/block=bottleneck,blocks=1,filters=16,image=200,output=500,pool=7x7", 762884, 762884},
        {"cnn/block=residual,blocks=8,filters=64,image=300,output=1500,pool=7x7", 61.085e6, 61.095e6},
        {"cnn/block=bottleneck,blocks=8,filters=64,image=300,output=1500,pool=7x7", 98.675e6, 98.685e6},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double params = (double)totals_of(rows[i].id).params;
        if (params < rows[i].least || params > rows[i].most)
            fail_msg("%s: %.0f parameters", rows[i].id, params);
    }
}

/* By hand: pixels under a window and taps on the image, 3 input channels, 4 filters, f32. */
static void test_cnn_convolution_bytes(void **state) {
    (void)state;
    static const struct {
        const char *id;
        uint64_t floats; /* x, w, y */
    } rows[] = {
        {"kernel=1,stride=9,image=9,padding=0", 3 * 1 + 3 * 4 * 1 + 4 * 1},
        {"kernel=1,stride=8,image=9,padding=0", 3 * 4 + 3 * 4 * 1 + 4 * 4},
        {"kernel=3,stride=1,image=1,padding=1", 3 * 1 + 3 * 4 * 1 + 4 * 1},
        {"kernel=3,stride=4,image=8,padding=0", 3 * 36 + 3 * 4 * 9 + 4 * 4},
        {"kernel=3,stride=2,image=8,padding=0", 3 * 49 + 3 * 4 * 9 + 4 * 9},
        {"kernel=3,stride=1,image=2,padding=1", 3 * 4 + 3 * 4 * 9 + 4 * 4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        struct pdnn_cost cost;
        char id[160];
        snprintf(id, sizeof id, "cnn/block=plain,blocks=1,filters=4,window=0,output=10,batch=1,mode=infer,%s",
                 rows[i].id);
        build_graph(id, &arena, &graph);
        assert_ptr_equal(graph.nodes[0].op, &pdnn_op_conv2d);
        assert_int_equal(pdnn_cost_node(&graph, &graph.nodes[0], &cost, NULL), PDNN_OK);
        assert_int_equal(cost.byte_count, rows[i].floats * sizeof(float));
        pdnn_arena_finish(&arena);
    }
}

static const char *const variants[] = {
    "mode=infer",
    "mode=infer,fuse=post-ops",
    "mode=train,optimizer=sgd",
    "mode=train,optimizer=adam,fuse=post-ops",
};
enum { N_VARIANTS = sizeof variants / sizeof *variants };

static const char *const shapes[] = {
    "block=residual,blocks=2,filters=2,image=29,output=3,batch=2",
    "block=residual,blocks=1,filters=1,image=224,output=3,batch=1,pool=7x7,activation=tanh",
    "block=residual,blocks=2-1-1-1,filters=2,image=33,output=3,batch=2,shortcut=identity",
    "block=bottleneck,blocks=1-2-1-1,filters=2,image=33,output=3,batch=2",
    "block=bottleneck,blocks=1,filters=1,image=40,output=3,batch=2,stride_on=1x1,activation=sigmoid",
    "block=plain,blocks=1-2,filters=2,image=13,output=3,batch=2,dense=4-5",
    "block=plain,blocks=1,filters=3-2,image=19,output=3,batch=1,kernel=5-3,stride=2-1,padding=2-0,window=3-0",
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

static void test_cnn_flop_counts(void **state) {
    (void)state;
    for (size_t v = 0; v < N_VARIANTS * N_SHAPES; v++) {
        char id[256];
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        snprintf(id, sizeof id, "cnn/%s,%s", shapes[v / N_VARIANTS], variants[v % N_VARIANTS]);
        build_graph(id, &arena, &graph);
        check_flop_counts(&graph, id);
        pdnn_arena_finish(&arena);
    }
}

/* A network too deep for its image, and lists that a residual network cannot have. */
static void test_cnn_invalid(void **state) {
    (void)state;
    static const struct {
        const char *id, *reason;
    } rows[] = {
        {"cnn/block=plain,blocks=1,filters=2-2-2-2-2,image=16",
         "image=16 leaves 1x1 pixels for stage5, too few for window=2"},
        {"cnn/block=residual,image=100,pool=7x7",
         "image=100 leaves 4x4 pixels for head, too few for pool=7x7"},
        {"cnn/block=plain,blocks=1,filters=2,image=3,kernel=5,padding=0",
         "image=3 leaves 3x3 pixels for stage1, too few for padding=0 with kernel=5"},
        {"cnn/block=plain,blocks=1,filters=2,kernel=3,padding=3", "kernel=3 is not larger than padding=3"},
        {"cnn/block=residual,blocks=1-2", "blocks=1-2 has 2 numbers, expected one or 4"},
        {"cnn/block=bottleneck,filters=8-16", "filters=8-16 is for block=plain"},
        {"regnet/depths=1-1,widths=16-20,group=8", "group=8 does not divide widths=16-20"},
        {"resnext/blocks=1-2", "blocks=1-2 has 2 numbers, expected one or 4, for each group"},
        {"resnext/filters=8,base=3", "base=3 of 64 are no whole number of filters=8"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_invalid(rows[i].id, rows[i].reason);
}

static const struct pdnn_fill uniform = {PDNN_FILL_UNIFORM, 1};

static void test_gradient_conv2d(void **state) {
    (void)state;
    static const int64_t attrs[][PDNN_NODE_ATTRS] = {{1, 1, 0, 0}, {1, 1, 1, 1}, {2, 1, 0, 2}, {3, 2, 1, 0}};
    static const int64_t kernels[][4] = {{4, 3, 1, 1}, {2, 3, 3, 3}, {3, 3, 2, 5}, {1, 3, 5, 4}};
    for (size_t i = 0; i < sizeof attrs / sizeof *attrs; i++) {
        struct chain chain;
        begin_chain(&chain);
        uint32_t x = chain_weight(&chain, 4, (int64_t[]){2, 3, 7, 6}),
                 w = chain_weight(&chain, 4, kernels[i]);
        check_chain(
            &chain,
            pdnn_graph_forward(&chain.graph, &pdnn_op_conv2d, (uint32_t[]){x, w, PDNN_NONE}, attrs[i]),
            "conv2d");
    }
}

/* Groups of one channel and of several, taps apart, and both; x (2, 6, 7, 8). */
static void test_gradient_conv2d_groups(void **state) {
    (void)state;
    static const struct {
        int64_t attr[PDNN_NODE_ATTRS], w[4];
    } rows[] = {
        {{1, 1, 1, 1, 6}, {6, 1, 3, 3}},
        {{2, 1, 0, 1, 6}, {12, 1, 2, 3}},
        {{1, 2, 1, 0, 3}, {9, 2, 3, 1}},
        {{1, 1, 0, 2, 2}, {2, 3, 5, 5}},
        {{1, 1, 2, 2, 0, 2, 2}, {3, 6, 3, 3}},
        {{2, 3, 1, 3, 0, 3, 2}, {2, 6, 2, 4}},
        {{3, 1, 0, 0, 2, 2, 0}, {4, 3, 3, 2}},
        {{2, 2, 4, 6, 6, 2, 3}, {6, 1, 3, 3}},
        {{1, 1, 0, 0, 1, 1, 1}, {2, 6, 3, 3}},
        {{2, 2, 3, 0, 3, 4, 1}, {3, 2, 2, 1}},
        {{1, 1, 3, 0, 6, 0, 0, -3, 0}, {6, 1, 4, 1}}, /* causal over rows */
        {{2, 2, 0, 0, 0, 0, 0, 1, 1}, {3, 6, 3, 3}},  /* what frameworks call same */
        {{1, 2, 0, 3, 2, 1, 3, 2, -1}, {4, 3, 4, 2}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct chain chain;
        begin_chain(&chain);
        uint32_t x = chain_weight(&chain, 4, (int64_t[]){2, 6, 7, 8}), w = chain_weight(&chain, 4, rows[i].w);
        check_chain(
            &chain,
            pdnn_graph_forward(&chain.graph, &pdnn_op_conv2d, (uint32_t[]){x, w, PDNN_NONE}, rows[i].attr),
            "conv2d in groups or dilated");
    }
}

/* In groups, a convolution is one for each group on the group's channels: the same values, and FLOP and
 * weights in the proportion of the channels. */
/* A causal convolution over rows: a row sees itself and the rows before. */
static void test_conv2d_causal_by_hand(void **state) {
    (void)state;
    enum { T = 5, TAPS = 3 };
    struct pdnn_tensor tensors[] = {{.rank = 4, .dim = {1, 1, T, 1}},
                                    {.rank = 4, .dim = {1, 1, TAPS, 1}},
                                    {.rank = 4, .dim = {1, 1, T, 1}}};
    double x[T] = {1, 2, 3, 4, 5}, w[TAPS] = {100, 10, 1}, y[T], *values[] = {x, w, y};
    static const double want[T] = {1, 12, 123, 234, 345};
    struct pdnn_graph graph = {.tensors = tensors, .n_tensors = 3};
    struct pdnn_node node = {.op = &pdnn_op_conv2d,
                             .n_inputs = 2,
                             .n_outputs = 1,
                             .input = (uint32_t[]){0, 1},
                             .output = (uint32_t[]){2},
                             .attr = {1, 1, TAPS - 1, 0, 0, 0, 0, 1 - TAPS, 0}};
    struct pdnn_reference r = {.graph = &graph, .value = values};
    struct pdnn_cost cost;
    pdnn_reference_run(&r, &node);
    for (int i = 0; i < T; i++)
        assert_true(y[i] == want[i]);
    assert_int_equal(pdnn_cost_node(&graph, &node, &cost, NULL), PDNN_OK);
    assert_int_equal(cost.flop_count, 2 * T * TAPS);
    assert_int_equal(cost.in_bounds_flop_count, 2 * (T * TAPS - 1 - 2));
    assert_int_equal(r.flop, 2 * (T * TAPS - 1 - 2));
}

/* The last window hangs over the end of the image, the first not over its beginning. */
static void test_pool2d_end_by_hand(void **state) {
    (void)state;
    struct pdnn_tensor tensors[] = {{.rank = 4, .dim = {1, 1, 1, 6}}, {.rank = 4, .dim = {1, 1, 1, 3}}};
    double x[6] = {1, 2, 6, 4, 5, 9}, y[3], *values[] = {x, y};
    static const double want[3] = {3, 5, 7};
    struct pdnn_graph graph = {.tensors = tensors, .n_tensors = 2};
    struct pdnn_node node = {.op = &pdnn_op_pool2d,
                             .n_inputs = 1,
                             .n_outputs = 1,
                             .input = (uint32_t[]){0},
                             .output = (uint32_t[]){1},
                             .attr = {PDNN_POOL2D_AVERAGE, 1, 3, 1, 2, 0, 0, 0, 0, 1}};
    struct pdnn_reference r = {.graph = &graph, .value = values};
    pdnn_reference_run(&r, &node);
    for (int i = 0; i < 3; i++)
        assert_true(y[i] == want[i]);
}

static void test_conv2d_groups_by_hand(void **state) {
    (void)state;
    enum { H = 4, W = 5, O = 6, C = 4, G = 2, TAPS = 6 };
    static const int64_t attr[PDNN_NODE_ATTRS] = {1, 1, 1, 0, G, 2, 1};
    struct pdnn_tensor tensors[] = {{.rank = 4, .dim = {1, C, H, W}},
                                    {.rank = 4, .dim = {O, C / G, 3, 2}},
                                    {.rank = 4, .dim = {1, O, 2, 4}}};
    double x[C * H * W], w[O * C / G * TAPS], y[O * 2 * 4], *values[] = {x, w, y};
    struct pdnn_graph graph = {.tensors = tensors, .n_tensors = 3};
    struct pdnn_node node = {.op = &pdnn_op_conv2d,
                             .n_inputs = 2,
                             .n_outputs = 1,
                             .input = (uint32_t[]){0, 1},
                             .output = (uint32_t[]){2}};
    memcpy(node.attr, attr, sizeof attr);
    for (int i = 0; i < C * H * W; i++)
        x[i] = i * i % 23 - 11;
    for (int i = 0; i < O * C / G * TAPS; i++)
        w[i] = i * i % 19 - 9;
    struct pdnn_reference r = {.graph = &graph, .value = values};
    pdnn_reference_run(&r, &node);
    for (int i = 0; i < O * 2 * 4; i++) {
        const int o = i / 8, p = i / 4 % 2, q = i % 4;
        double sum = 0;
        for (int k = 0; k < C / G * TAPS; k++) {
            const int c = o / (O / G) * (C / G) + k / TAPS, row = p - 1 + k / 2 % 3 * 2, column = q + k % 2;
            if (row >= 0 && row < H)
                sum += x[(c * H + row) * W + column] * w[o * (C / G) * TAPS + k];
        }
        assert_true(y[i] == sum);
    }
    struct pdnn_cost cost;
    assert_int_equal(pdnn_cost_node(&graph, &node, &cost, NULL), PDNN_OK);
    assert_int_equal(cost.flop_count, 2 * O * 2 * 4 * (C / G) * TAPS);
    assert_int_equal(cost.in_bounds_flop_count, r.flop);
    /* The windows begin at rows -1 and 0: each meets two rows of the four, and two of its three taps. */
    assert_int_equal(r.flop, 2 * O * 2 * 4 * (C / G) * 2 * 2);
}

/* Every small window against one position and tap at a time. */
static void test_windows(void **state) {
    (void)state;
    enum { MOST = 9, ROWS = 5 * 4 * 4 * 7 * 7 * MOST };
    size_t valid = 0;
    for (int i = 0; i < ROWS; i++) {
        const int64_t padding = i / 80 % 7, end = i / 560 % 7 - 1;
        const struct pdnn_window window = {1 + i % 5, 1 + i / 5 % 4, padding, 1 + i / 20 % 4, end - padding};
        const int64_t length = 1 + i / 3920, positions = pdnn_window_positions(window, length),
                      extent = pdnn_window_extent(window);
        bool is_read[MOST] = {false}, is_used[5] = {false};
        int64_t sum = 0, covered = 0, used = 0, fit = 0;
        while (fit * window.stride + extent <= length + padding + end)
            fit++;
        assert_int_equal(positions, padding < extent && end < extent && end >= 0 ? fit : 0);
        for (int64_t p = 0; p < positions; p++) {
            const struct pdnn_taps taps = pdnn_window_taps(window, length, p);
            for (int64_t t = 0; t < window.kernel; t++) {
                const int64_t at = p * window.stride - window.padding + t * window.dilation;
                const bool is_on = at >= 0 && at < length;
                const struct pdnn_taps reach = pdnn_window_reach(window, length, t);
                assert_int_equal(is_on, t >= taps.begin && t < taps.end);
                assert_int_equal(is_on, p >= reach.begin && p < reach.end);
                sum += is_on;
                covered += is_on && !is_read[at];
                used += is_on && !is_used[t];
                is_used[t] = is_used[t] || is_on;
                if (is_on)
                    is_read[at] = true;
            }
        }
        valid += positions > 0;
        if (!positions)
            continue;
        assert_int_equal(pdnn_window_taps_sum(window, length), sum);
        assert_int_equal(pdnn_window_covered(window, length), covered);
        assert_int_equal(pdnn_window_taps_used(window, length), used);
    }
    assert_true(valid > ROWS / 4);
}

static void test_conv2d_refuses(void **state) {
    (void)state;
    static const struct {
        int64_t attr[PDNN_NODE_ATTRS], w[4];
        const char *reason; /* NULL: fine */
    } rows[] = {
        {{1, 1, 0, 0, 2}, {4, 3, 3, 3}, NULL},
        {{1, 1, 0, 0, 4}, {4, 1, 3, 3}, "groups=4 does not divide 6 and 4 channels of its input and result"},
        {{1, 1, 0, 0, 3}, {4, 2, 3, 3}, "groups=3 does not divide 6 and 4 channels of its input and result"},
        {{1, 1, 0, 0, -1}, {4, 6, 3, 3}, "groups=-1 does not divide 6 and 4 channels"},
        {{1, 1, 0, 0, 2}, {4, 6, 3, 3}, "disagree: C is 6 and 12"},
        {{1, 1, 0, 0, 0, 3, 3}, {4, 6, 3, 3}, NULL},
        {{1, 1, 0, 0, 0, 4, 0},
         {4, 6, 3, 3},
         "a 3x3 kernel with padding 0x0 and dilation 4x1 does not fit an image of 7x8"},
        {{1, 1, 0, 0}, {4, 6, 8, 3}, "a 8x3 kernel with padding 0x0 does not fit an image of 7x8"},
        {{1, 1, 0, 0, 0, -1, 0}, {4, 6, 3, 3}, "does not fit"},
        {{1, 1, 0, 0, 0, 0, 0, 1, 2}, {4, 6, 8, 3}, NULL},
        {{1, 1, 1, 0, 0, 0, 0, -1, 0},
         {4, 6, 9, 3},
         "a 9x3 kernel with padding 1x0 and 0x0 at the end does not fit an image of 7x8"},
        {{1, 1, 1, 1, 0, 0, 0, 0, 2},
         {4, 6, 3, 3},
         "a 3x3 kernel with padding 1x1 and 1x3 at the end does not fit an image of 7x8"},
        {{1, 1, 1, 1, 0, 0, 0, -2, 0}, {4, 6, 3, 3}, "with padding 1x1 and -1x1 at the end does not fit"},
        {{1, 1, 0, 0, 0, INT64_MAX, 0}, {4, 6, 3, 3}, "does not fit"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct chain chain;
        struct pdnn_err err = {0};
        begin_chain(&chain);
        uint32_t x = chain_weight(&chain, 4, (int64_t[]){2, 6, 7, 8}), w = chain_weight(&chain, 4, rows[i].w);
        pdnn_graph_forward(&chain.graph, &pdnn_op_conv2d, (uint32_t[]){x, w, PDNN_NONE}, rows[i].attr);
        enum pdnn_status status = pdnn_graph_status(&chain.graph, &err);
        assert_int_equal(status, rows[i].reason ? PDNN_INVALID : PDNN_OK);
        if (rows[i].reason && !strstr(err.text, rows[i].reason))
            fail_msg("row %zu: %s", i, err.text);
        pdnn_arena_finish(&chain.arena);
    }
}

static void test_gradient_pool2d(void **state) {
    (void)state;
    static const int64_t attrs[][PDNN_NODE_ATTRS] = {
        {PDNN_POOL2D_MAX, 2, 2, 2, 2, 0, 0, 1},     {PDNN_POOL2D_MAX, 3, 3, 2, 2, 1, 1, 1},
        {PDNN_POOL2D_MAX, 3, 2, 1, 3, 2, 0, 1},     {PDNN_POOL2D_AVERAGE, 7, 6, 1, 1, 0, 0, 0},
        {PDNN_POOL2D_AVERAGE, 3, 3, 2, 2, 1, 1, 0}, {PDNN_POOL2D_AVERAGE, 2, 3, 1, 2, 1, 0, 0},
    };
    for (size_t i = 0; i < sizeof attrs / sizeof *attrs; i++) {
        struct chain chain;
        begin_chain(&chain);
        uint32_t x = chain_weight(&chain, 4, (int64_t[]){2, 3, 7, 6});
        check_chain(&chain,
                    pdnn_graph_forward(&chain.graph, &pdnn_op_pool2d, (uint32_t[]){x, PDNN_NONE}, attrs[i]),
                    "pool2d");
    }
}

static void test_gradient_batchnorm_and_bias(void **state) {
    (void)state;
    static const int64_t train[PDNN_NODE_ATTRS] = {[PDNN_BATCHNORM_TRAIN] = 1};
    static const int64_t dims[][4] = {{3, 4, 2, 3}, {1, 2, 5, 1}, {4, 3, 1, 1}};
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        struct chain chain;
        begin_chain(&chain);
        struct pdnn_graph *graph = &chain.graph;
        const int64_t *C = &dims[i][1];
        const uint32_t inputs[] = {chain_weight(&chain, 4, dims[i]),
                                   chain_weight(&chain, 1, C),
                                   chain_weight(&chain, 1, C),
                                   pdnn_graph_state(graph, 1, C, uniform),
                                   pdnn_graph_state(graph, 1, C, uniform),
                                   PDNN_NONE};
        uint32_t y = pdnn_graph_forward(graph, &pdnn_op_batchnorm, inputs, train),
                 b = chain_weight(&chain, 1, C);
        check_chain(&chain, pdnn_graph_forward(graph, &pdnn_op_bias, (uint32_t[]){y, b, PDNN_NONE}, NULL),
                    "batchnorm and bias");
    }
}

/* Whole networks: tanh where finite differences across the kinks of ReLU could look like errors, ReLU where
 * only ReLU fuses. */
static void test_gradient_nets(void **state) {
    (void)state;
    static const char *const ids[] = {
        "cnn/block=residual,blocks=2,filters=2,image=32,output=3,batch=4,activation=tanh",
        "cnn/block=residual,blocks=1,filters=2,image=32,output=3,batch=4,fuse=post-ops",
        "cnn/block=bottleneck,blocks=2-1-1-1,filters=1,image=32,output=3,batch=4,activation=tanh",
        "cnn/block=bottleneck,blocks=1,filters=2,image=32,output=3,batch=4,stride_on=1x1,fuse=post-ops",
        "cnn/block=plain,blocks=2-1,filters=2,image=12,output=3,batch=3,dense=5,activation=tanh,fuse=post-ops",
    };
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        build_graph(ids[i], &arena, &graph);
        check_gradients(&graph, 2);
        pdnn_arena_finish(&arena);
    }
}

static void test_cnn_fusion(void **state) {
    (void)state;
    static const char *const modes[] = {"mode=infer", "mode=train,optimizer=momentum"};
    for (size_t v = 0; v < 2 * N_SHAPES; v++) {
        char id[256];
        snprintf(id, sizeof id, "cnn/%s,%s", shapes[v / 2], modes[v % 2]);
        check_fusion(id);
    }
}

static size_t count_passes(const struct pdnn_graph *graph, const struct pdnn_op_def *op,
                           enum pdnn_pass pass) {
    size_t count = 0;
    for (size_t i = 0; i < graph->n_nodes; i++)
        count += graph->nodes[i].op == op && graph->nodes[i].pass == pass;
    return count;
}

/* What is left unfused: in inference, only convolutions, the pools and the last layer; in training, also the
 * backward activations after an addition, since both branches read that gradient. */
static void test_fuse_absorbs(void **state) {
    (void)state;
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    build_graph("cnn:resnet50,batch=1,mode=infer,fuse=post-ops", &arena, &graph);
    assert_int_equal(count_passes(&graph, &pdnn_op_conv2d, PDNN_FORWARD), 53);
    assert_int_equal(graph.n_nodes, 53 + 2 + 1);
    assert_int_equal(totals_of("cnn:resnet50,batch=1,mode=infer,fuse=post-ops").params, 25557032);
    pdnn_arena_finish(&arena);
    build_graph("cnn:resnet50,batch=1,mode=train,fuse=post-ops", &arena, &graph);
    assert_int_equal(count_passes(&graph, &pdnn_op_batchnorm, PDNN_FORWARD), 53);
    assert_int_equal(count_passes(&graph, &pdnn_op_relu, PDNN_FORWARD), 0);
    assert_int_equal(count_passes(&graph, &pdnn_op_relu, PDNN_BACKWARD_DATA), 16);
    assert_int_equal(count_passes(&graph, &pdnn_op_add, PDNN_FORWARD), 0);
    assert_int_equal(count_passes(&graph, &pdnn_op_add, PDNN_BACKWARD_DATA), 16);
    pdnn_arena_finish(&arena);
}

/* Images (2, 3, 5, 5), a 1x1 convolution, perhaps with a bias, and a batch normalization in inference. Each
 * case either folds or has something that prevents folding. */
enum fold_case {
    FOLDS,
    BIASED,
    SHARED_BIAS,
    BIAS_IS_BETA,
    BIASED_RELU,
    FOLDED_BIAS,
    SHARED_WEIGHT,
    SHARED_BETA,
    BETA_IS_BIAS,
    READ_ELSEWHERE,
    IS_RESULT,
    TRAINS,
    N_FOLD_CASES
};

/* The number of normalizations that remain. */
static const int kept[N_FOLD_CASES] = {
    [BIAS_IS_BETA] = 1, [BIASED_RELU] = 1,    [FOLDED_BIAS] = 1, [SHARED_WEIGHT] = 1, [SHARED_BETA] = 1,
    [BETA_IS_BIAS] = 1, [READ_ELSEWHERE] = 1, [IS_RESULT] = 1,   [TRAINS] = 1,
};

/* Appends what stands between the convolution and the normalization. */
static uint32_t append_bias(struct pdnn_graph *graph, uint32_t y, uint32_t bias, enum fold_case which) {
    if (which != BIASED && which != SHARED_BIAS && which != BIAS_IS_BETA && which != BIASED_RELU)
        return y;
    y = pdnn_graph_forward(graph, &pdnn_op_bias, (uint32_t[]){y, bias, PDNN_NONE}, NULL);
    if (which == BIASED_RELU)
        y = pdnn_graph_forward(graph, &pdnn_op_relu, (uint32_t[]){y, PDNN_NONE}, NULL);
    return y;
}

static void build_fold(struct pdnn_graph *graph, enum fold_case which) {
    const int64_t conv[PDNN_NODE_ATTRS] = {1, 1}, norm[PDNN_NODE_ATTRS] = {which == TRAINS}, C = 3;
    const struct pdnn_fill near_one = {PDNN_FILL_NEAR_ONE, 0.5};
    struct pdnn_tensor image = {
        .role = PDNN_ROLE_INPUT, .rank = 4, .dim = {2, 3, 5, 5}, .fill = uniform, .of = PDNN_NONE};
    uint32_t x = pdnn_graph_tensor(graph, &image);
    uint32_t w = pdnn_graph_weight(graph, 4, (int64_t[]){C, C, 1, 1}, uniform);
    uint32_t gamma = pdnn_graph_weight(graph, 1, &C, near_one),
             beta = pdnn_graph_weight(graph, 1, &C, uniform),
             bias = which == BIAS_IS_BETA ? beta : pdnn_graph_weight(graph, 1, &C, uniform);
    uint32_t mean = pdnn_graph_state(graph, 1, &C, uniform);
    uint32_t variance = pdnn_graph_state(graph, 1, &C, near_one);
    if (which == SHARED_WEIGHT)
        x = pdnn_graph_forward(graph, &pdnn_op_conv2d, (uint32_t[]){x, w, PDNN_NONE}, conv);
    if (which == BETA_IS_BIAS) {
        uint32_t v = pdnn_graph_weight(graph, 4, (int64_t[]){C, C, 1, 1}, uniform);
        x = pdnn_graph_forward(graph, &pdnn_op_conv2d, (uint32_t[]){x, v, PDNN_NONE}, conv);
        x = pdnn_graph_forward(graph, &pdnn_op_bias, (uint32_t[]){x, beta, PDNN_NONE}, NULL);
    }
    uint32_t y = pdnn_graph_forward(graph, &pdnn_op_conv2d, (uint32_t[]){x, w, PDNN_NONE}, conv);
    y = append_bias(graph, y, bias, which);
    const uint32_t inputs[] = {y, gamma, beta, mean, variance, PDNN_NONE};
    uint32_t z = pdnn_graph_forward(graph, &pdnn_op_batchnorm, inputs, norm);
    if (which == FOLDED_BIAS) {
        uint32_t delta = pdnn_graph_weight(graph, 1, &C, uniform);
        const uint32_t again[] = {z, gamma, delta, mean, variance, PDNN_NONE};
        z = pdnn_graph_forward(graph, &pdnn_op_batchnorm, again, norm);
    }
    if (which == SHARED_BIAS)
        z = pdnn_graph_forward(graph, &pdnn_op_bias, (uint32_t[]){z, bias, PDNN_NONE}, NULL);
    if (which == SHARED_BETA)
        z = pdnn_graph_forward(graph, &pdnn_op_bias, (uint32_t[]){z, beta, PDNN_NONE}, NULL);
    if (which == READ_ELSEWHERE)
        z = pdnn_graph_forward(graph, &pdnn_op_add, (uint32_t[]){z, y, PDNN_NONE}, NULL);
    graph->result = which == IS_RESULT ? y : z;
}

/* The result is the same, folded or not. */
static void test_fold(void **state) {
    (void)state;
    for (int which = FOLDS; which < N_FOLD_CASES; which++) {
        struct pdnn_arena arena[2];
        struct pdnn_graph graph[2];
        double **values[2];
        char what[32];
        snprintf(what, sizeof what, "case %d", which);
        for (int g = 0; g < 2; g++) {
            pdnn_arena_init(&arena[g]);
            pdnn_graph_init(&graph[g], &arena[g]);
            build_fold(&graph[g], (enum fold_case)which);
            if (g)
                pdnn_fuse_post_ops(&graph[g]);
            assert_int_equal(pdnn_graph_status(&graph[g], NULL), PDNN_OK);
            values[g] = run_step(&graph[g], 7);
        }
        assert_int_equal(count_passes(&graph[1], &pdnn_op_batchnorm, PDNN_FORWARD), kept[which]);
        check_same_step(&graph[1], values[0], values[1], what);
        for (int g = 0; g < 2; g++) {
            reference_values_free(&graph[g], values[g]);
            pdnn_arena_finish(&arena[g]);
        }
    }
}

static void test_cnn_loss_falls(void **state) {
    (void)state;
    static const char *const ids[] = {
        "cnn/block=residual,blocks=1,filters=2,image=32,output=4,batch=8,optimizer=momentum,fuse=post-ops",
        "cnn/block=bottleneck,blocks=1,filters=1,image=32,output=4,batch=8,optimizer=adam",
        "cnn/block=plain,blocks=1,filters=4-8,image=12,output=4,batch=8,dense=16,optimizer=adam",
    };
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        check_loss_falls(ids[i], 12, 0.9);
}

/* Running statistics by hand: one channel, values 1 to 4, variance 1.25, unbiased 5/3. */
static void test_batchnorm_running_statistics(void **state) {
    (void)state;
    struct pdnn_tensor tensors[8] = {{.rank = 4, .dim = {2, 1, 1, 2}}};
    double x[] = {1, 2, 3, 4}, gamma = 2, beta = 0.5, mean = 10, variance = 20, y[4], batch_mean, inverse_std;
    double *values[] = {x, &gamma, &beta, &mean, &variance, y, &batch_mean, &inverse_std};
    struct pdnn_graph graph = {.tensors = tensors, .n_tensors = 8};
    struct pdnn_node node = {.op = &pdnn_op_batchnorm,
                             .n_inputs = 5,
                             .n_outputs = 5,
                             .input = (uint32_t[]){0, 1, 2, 3, 4},
                             .output = (uint32_t[]){5, 6, 7, 3, 4},
                             .attr = {[PDNN_BATCHNORM_TRAIN] = 1}};
    memcpy(node.coef, pdnn_op_batchnorm.coef, sizeof node.coef);
    struct pdnn_reference r = {.graph = &graph, .value = values};
    pdnn_reference_run(&r, &node);
    assert_true(batch_mean == 2.5 && fabs(inverse_std - 1 / sqrt(1.25 + 1e-5)) < 1e-15);
    assert_true(fabs(mean - (0.9 * 10 + 0.1 * 2.5)) < 1e-12);
    assert_true(fabs(variance - (0.9 * 20 + 0.1 * 5 / 3)) < 1e-12);
    assert_true(fabs(y[3] - (2 * 1.5 * inverse_std + 0.5)) < 1e-12);
}

/* A window that contains NaN gives NaN, from the last such tap. */
static void test_pool2d_not_a_number(void **state) {
    (void)state;
    struct pdnn_tensor tensors[] = {
        {.rank = 4, .dim = {1, 1, 2, 6}}, {.rank = 4, .dim = {1, 1, 1, 3}}, {.rank = 4, .dim = {1, 1, 1, 3}}};
    double x[] = {NAN, 1, 2, NAN, 5, 3, 2, 3, NAN, 4, 4, 6}, y[3], index[3], *values[] = {x, y, index};
    struct pdnn_graph graph = {.tensors = tensors, .n_tensors = 3};
    struct pdnn_node node = {.op = &pdnn_op_pool2d,
                             .n_inputs = 1,
                             .n_outputs = 2,
                             .input = (uint32_t[]){0},
                             .output = (uint32_t[]){1, 2},
                             .attr = {PDNN_POOL2D_MAX, 2, 2, 2, 2, 0, 0, 1}};
    struct pdnn_reference r = {.graph = &graph, .value = values};
    pdnn_reference_run(&r, &node);
    assert_true(isnan(y[0]) && isnan(y[1]) && y[2] == 6);
    assert_true(index[0] == 0 && index[1] == 2 && index[2] == 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cnn_published_counts),
        cmocka_unit_test(test_cnn_paper_range),
        cmocka_unit_test(test_cnn_convolution_bytes),
        cmocka_unit_test(test_cnn_flop_counts),
        cmocka_unit_test(test_cnn_invalid),
        cmocka_unit_test(test_gradient_conv2d),
        cmocka_unit_test(test_gradient_pool2d),
        cmocka_unit_test(test_gradient_batchnorm_and_bias),
        cmocka_unit_test(test_gradient_nets),
        cmocka_unit_test(test_cnn_fusion),
        cmocka_unit_test(test_fuse_absorbs),
        cmocka_unit_test(test_fold),
        cmocka_unit_test(test_cnn_loss_falls),
        cmocka_unit_test(test_batchnorm_running_statistics),
        cmocka_unit_test(test_pool2d_not_a_number),
        cmocka_unit_test(test_gradient_conv2d_groups),
        cmocka_unit_test(test_mobilenet),
        cmocka_unit_test(test_side_by_side),
        cmocka_unit_test(test_conv2d_groups_by_hand),
        cmocka_unit_test(test_conv2d_causal_by_hand),
        cmocka_unit_test(test_pool2d_end_by_hand),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_conv2d_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
