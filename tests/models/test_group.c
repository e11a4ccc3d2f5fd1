/* Groups of equal nodes: their shape texts, and that these distinguish any two groups. */
#include "tests/cmocka_all.h"

#include "models/build.h"
#include "models/cost/group.h"
#include "models/op.h"
#include "models/forward.h"

#include <stdio.h>
#include <string.h>

static void make_groups(const char *id, struct pdnn_arena *arena, struct pdnn_graph *graph,
                        struct pdnn_group **groups, size_t *n_groups) {
    struct pdnn_instance instance;
    struct pdnn_err err = {0};
    if (pdnn_instance_parse(id, &instance, &err) != PDNN_OK ||
        pdnn_instance_graph(&instance, arena, graph, &err) != PDNN_OK ||
        pdnn_graph_groups(graph, groups, n_groups, NULL, &err) != PDNN_OK)
        fail_msg("%s: %s", id, err.text);
}

/* The first group of the op and pass. */
static void test_node_shape(void **state) {
    (void)state;
    static const char train[] = "cnn:resnet18,batch=2,mode=train,fuse=post-ops",
                      infer[] = "cnn:resnet18,batch=2,mode=infer,fuse=post-ops";
    static const struct {
        const char *id, *op;
        enum pdnn_pass pass;
        const char *shape;
    } rows[] = {
        {train, "conv2d", PDNN_FORWARD, "2x3x224x224:64x3x7x7:2x64x112x112,stride=2,padding=3"},
        {infer, "conv2d", PDNN_FORWARD, "2x3x224x224:64x3x7x7:2x64x112x112,stride=2,padding=3+bias+relu"},
        {train, "pool2d", PDNN_FORWARD,
         "2x64x112x112:2x64x56x56:2x64x56x56,kernel=3,stride=2,padding=1,train=1"},
        {infer, "pool2d", PDNN_FORWARD, "2x64x112x112:2x64x56x56,kernel=3,stride=2,padding=1"},
        {train, "batchnorm", PDNN_FORWARD, "2x64x112x112:64:64:64:64:2x64x112x112:64:64:64:64,train=1+relu"},
        {train, "dense", PDNN_BACKWARD_DATA, "2x1000:1000x512:2x512x1x1"},
        {"cnn/block=plain,blocks=1,filters=4,image=8,kernel=3,window=0,mode=infer", "conv2d", PDNN_FORWARD,
         "64x3x8x8:4x3x3x3:64x4x8x8,stride=1,padding=1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_arena arena = {0};
        struct pdnn_graph graph;
        struct pdnn_group *groups;
        size_t n_groups, at = 0;
        make_groups(rows[i].id, &arena, &graph, &groups, &n_groups);
        while (at < n_groups && (strcmp(graph.nodes[groups[at].node].op->name, rows[i].op) != 0 ||
                                 graph.nodes[groups[at].node].pass != rows[i].pass))
            at++;
        assert_true(at < n_groups);
        assert_string_equal(groups[at].shape, rows[i].shape);
        pdnn_arena_finish(&arena);
    }
}

/* A kernel or stride that differs between the directions is written for each direction. */
static void test_node_shape_of_an_oblong_window(void **state) {
    (void)state;
    struct pdnn_arena arena = {0};
    struct pdnn_graph graph;
    char text[128];
    struct pdnn_tensor image = {
        .role = PDNN_ROLE_INPUT, .dtype = PDNN_F32, .rank = 4, .dim = {1, 2, 9, 8}, .of = PDNN_NONE};
    pdnn_graph_init(&graph, &arena);
    uint32_t x = pdnn_graph_tensor(&graph, &image);
    uint32_t w = pdnn_graph_weight(&graph, 4, (int64_t[]){3, 2, 3, 2}, (struct pdnn_fill){.scale = 0});
    int64_t attrs[PDNN_NODE_ATTRS] = {2, 1, 0, 1};
    pdnn_graph_forward(&graph, &pdnn_op_conv2d, (uint32_t[]){x, w, PDNN_NONE}, attrs);
    assert_int_equal(graph.err.status, PDNN_OK);
    pdnn_node_shape(&graph, &graph.nodes[0], text, sizeof text);
    assert_string_equal(text, "1x2x9x8:3x2x3x2:1x3x4x9,stride_h=2,stride_w=1,padding_w=1");
    /* Cut where space ends, never written beyond it. */
    pdnn_node_shape(&graph, &graph.nodes[0], text, 35);
    assert_string_equal(text, "1x2x9x8:3x2x3x2:1x3x4x9,stride_h=2");
    pdnn_arena_finish(&arena);
}

/* Groups and dilation are written where they are not 1. */
static void test_node_shape_of_groups(void **state) {
    (void)state;
    static const struct {
        int64_t attr[PDNN_NODE_ATTRS];
        const char *shape;
    } rows[] = {
        {{1, 1, 0, 0, 0, 0, 0}, "1x4x9x9:4x4x2x2:1x4x8x8,stride=1"},
        {{1, 1, 0, 0, 2, 0, 0}, "1x4x9x9:4x2x2x2:1x4x8x8,stride=1,groups=2"},
        {{1, 1, 1, 1, 4, 3, 3}, "1x4x9x9:4x1x2x2:1x4x8x8,stride=1,padding=1,groups=4,dilation=3"},
        {{1, 1, 0, 0, 0, 2, 0}, "1x4x9x9:4x4x2x2:1x4x7x8,stride=1,dilation_h=2"},
        {{1, 1, 0, 1, 0, 0, 0, 1, -1}, "1x4x9x9:4x4x2x2:1x4x9x9,stride=1,padding_w=1,extra_h=1,extra_w=-1"},
        {{1, 1, 0, 0, 0, 0, 0, 1, 1}, "1x4x9x9:4x4x2x2:1x4x9x9,stride=1,extra=1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_arena arena = {0};
        struct pdnn_graph graph;
        char text[128];
        int64_t groups = rows[i].attr[4] ? rows[i].attr[4] : 1;
        struct pdnn_tensor image = {
            .role = PDNN_ROLE_INPUT, .dtype = PDNN_F32, .rank = 4, .dim = {1, 4, 9, 9}, .of = PDNN_NONE};
        pdnn_graph_init(&graph, &arena);
        uint32_t x = pdnn_graph_tensor(&graph, &image);
        uint32_t w =
            pdnn_graph_weight(&graph, 4, (int64_t[]){4, 4 / groups, 2, 2}, (struct pdnn_fill){.scale = 0});
        pdnn_graph_forward(&graph, &pdnn_op_conv2d, (uint32_t[]){x, w, PDNN_NONE}, rows[i].attr);
        assert_int_equal(graph.err.status, PDNN_OK);
        pdnn_node_shape(&graph, &graph.nodes[0], text, sizeof text);
        assert_string_equal(text, rows[i].shape);
        pdnn_arena_finish(&arena);
    }
}

/* Journals and tables identify a group by op, pass and shape alone. */
static void test_graph_groups_are_told_apart(void **state) {
    (void)state;
    static const char *const ids[] = {
        "cnn:resnet50,batch=1,mode=infer",
        "cnn:resnet50,batch=1,mode=infer,fuse=post-ops",
        "cnn:resnet50,batch=16,mode=train",
        "cnn:resnet50,batch=16,mode=train,fuse=post-ops",
        "cnn:resnet18,mode=train",
        "cnn:resnet18,mode=train,pool=7x7,image=300",
        "cnn:vgg16,mode=train,fuse=post-ops",
        "cnn:alexnet,mode=train",
        "cnn:resnet101,mode=train,optimizer=adam",
        "cnn:resnet50,mode=train,checkpoint=layer,accumulate=2",
        "cnn:vgg16,mode=train,optimizer=lamb,checkpoint=layer,fuse=post-ops",
        "rnn/cell=lstm,layers=3,dropout=10,checkpoint=layer",
    };
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct pdnn_arena arena = {0};
        struct pdnn_graph graph;
        struct pdnn_group *groups;
        size_t n_groups;
        make_groups(ids[i], &arena, &graph, &groups, &n_groups);
        for (size_t a = 0; a < n_groups; a++) {
            const struct pdnn_node *x = &graph.nodes[groups[a].node];
            /* The text must not have been cut. */
            assert_true(strlen(groups[a].shape) + 1 < sizeof groups[a].shape);
            for (size_t b = a + 1; b < n_groups; b++) {
                const struct pdnn_node *y = &graph.nodes[groups[b].node];
                if (x->op == y->op && strcmp(pdnn_node_pass_name(x), pdnn_node_pass_name(y)) == 0 &&
                    strcmp(groups[a].shape, groups[b].shape) == 0)
                    fail_msg("%s: two groups %s/%s/%s", ids[i], x->op->name, pdnn_node_pass_name(x),
                             groups[a].shape);
            }
        }
        pdnn_arena_finish(&arena);
    }
}

/* The last layer is like the others here: it shares their row, or has its own if stems are kept apart. */
static void test_graph_groups_stems_apart(void **state) {
    (void)state;
    struct pdnn_arena arena = {0};
    struct pdnn_graph graph;
    struct pdnn_group *groups;
    struct pdnn_err err = {0};
    size_t n_together, n_apart, found = 0;
    make_groups("fc/layers=3,nodes=16,input=16,output=16,batch=4,mode=infer", &arena, &graph, &groups,
                &n_together);
    assert_string_equal(groups[0].shape, "4x16:16x16:4x16");
    assert_string_equal(groups[0].layer, "hidden1..output");
    graph.stems_apart = true;
    assert_int_equal(pdnn_graph_groups(&graph, &groups, &n_apart, NULL, &err), PDNN_OK);
    for (size_t g = 0; g < n_apart; g++) {
        if (strcmp(groups[g].shape, "4x16:16x16:4x16@hidden") == 0) {
            assert_int_equal(groups[g].count, 3);
            assert_string_equal(groups[g].layer, "hidden1..hidden3");
            found++;
        } else if (strcmp(groups[g].shape, "4x16:16x16:4x16@output") == 0) {
            assert_int_equal(groups[g].count, 1);
            assert_string_equal(groups[g].layer, "output");
            found++;
        }
    }
    assert_int_equal(found, 2);
    pdnn_arena_finish(&arena);
}

static void test_layer_format(void **state) {
    (void)state;
    static const struct {
        struct pdnn_layer layer;
        const char *text;
    } rows[] = {{{.stem = "hidden", .index = 3}, "hidden3"},
                {{.stem = "loss"}, "loss"},
                {{.stem = "norm1", .index = 12, .stack = 1, .round = 6}, "norm1.12"},
                {{.stem = "norm1"}, "norm1"},
                {{.stem = NULL}, ""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[PDNN_LAYER_TEXT];
        assert_string_equal(pdnn_layer_format(rows[i].layer, text), rows[i].text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_node_shape),
        cmocka_unit_test(test_node_shape_of_an_oblong_window),
        cmocka_unit_test(test_node_shape_of_groups),
        cmocka_unit_test(test_graph_groups_are_told_apart),
        cmocka_unit_test(test_graph_groups_stems_apart),
        cmocka_unit_test(test_layer_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
