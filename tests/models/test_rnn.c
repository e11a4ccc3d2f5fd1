/* The rnn family, in double: published parameter counts, FLOP proportional to length, costs by depth,
 * gradients through time by finite differences, a loss that falls. */
#include "tests/cmocka_all.h"
#include "tests/models/gradient_check.h"
#include "tests/models/model_check.h"

#include "models/attributes.h"
#include "models/op.h"

#include <stdio.h>
#include <string.h>

/* ParaDnn's: layers*g*(2*e*e + e) + v*e + e*v + v. The large ones were published
 * as 22.92, 86.13 and 65.06 M. */
static void test_rnn_published_params(void **state) {
    (void)state;
    static const struct {
        const char *id;
        uint64_t params;
    } rows[] = {
        {"rnn/cell=rnn,layers=1,embedding=100,vocabulary=2", 20502},
        {"rnn/cell=lstm,layers=1,embedding=100,vocabulary=2", 80802},
        {"rnn/cell=gru,layers=1,embedding=100,vocabulary=2", 60702},
        {"rnn/cell=lbr_gru,layers=1,embedding=100,vocabulary=2", 60702 + 100},
        {"rnn/cell=rnn,layers=13,embedding=900,vocabulary=1024", 22915924},
        {"rnn/cell=lstm,layers=13,embedding=900,vocabulary=1024", 86131024},
        {"rnn/cell=gru,layers=13,embedding=900,vocabulary=1024", 65059324},
        {"rnn:paper-min", 20502},
        {"rnn:paper-max", 85208912},
        {"rnn/cell=lstm,layers=2,embedding=3,hidden=5,vocabulary=7,bidirectional=yes,output_at=none",
         7 * 3 + 2 * 4 * 5 * (3 + 5 + 1) + 2 * 4 * 5 * (10 + 5 + 1)},
        {"rnn/cell=gru,layers=2,embedding=3,hidden=5,vocabulary=7,bidirectional=yes,output_at=last",
         7 * 3 + 2 * 3 * 5 * (3 + 5 + 1) + 2 * 3 * 5 * (10 + 5 + 1) + 7 * 10 + 7},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (totals_of(rows[i].id).params != rows[i].params)
            fail_msg("%s: %lu parameters", rows[i].id, (unsigned long)totals_of(rows[i].id).params);
    }
}

/* A layer takes one multiply-add per step, sequence and weight, one addition per bias, and the operations of
 * the cell per unit; training takes three times the products. */
static void test_rnn_flop_by_length(void **state) {
    (void)state;
    static const struct {
        const char *cell;
        uint64_t gates, unit, backward_unit;
    } cells[] = {{"rnn", 1, 1, 3}, {"lstm", 4, 18, 23}, {"gru", 3, 14, 18}};
    enum { N = 6, E = 5, H = 7 };
    for (size_t i = 0; i < 3 * 2 * 3; i++) {
        static const uint64_t lengths[] = {1, 2, 50};
        uint64_t T = lengths[i % 3], G = cells[i / 6].gates, products = 2 * G * H * (E + H);
        bool train = i / 3 % 2;
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        char id[160];
        snprintf(id, sizeof id, "rnn/cell=%s,embedding=%d,hidden=%d,length=%d,batch=%d,mode=%s",
                 cells[i / 6].cell, E, H, (int)T, N, train ? "train" : "infer");
        build_graph(id, &arena, &graph);
        uint64_t per_row = products + G * H + H * cells[i / 6].unit;
        if (train)
            per_row += 2 * products + H * (1 + G + cells[i / 6].backward_unit);
        assert_int_equal(flop_of_op(&graph, &pdnn_op_rnn), T * N * per_row);
        pdnn_arena_finish(&arena);
    }
}

/* The last step of a layer that runs backwards is the first word. */
static void test_rnn_last_output(void **state) {
    (void)state;
    enum { LENGTH = 7, BATCH = 3 };
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    int64_t n_slices = 0;
    build_graph("rnn/length=7,batch=3,bidirectional=yes,output_at=last,mode=infer", &arena, &graph);
    for (size_t i = 0; i < graph.n_nodes; i++) {
        const struct pdnn_node *node = &graph.nodes[i];
        for (size_t k = 0; node->op == &pdnn_op_slice && k < i; k++) {
            if (graph.nodes[k].op != &pdnn_op_rnn || graph.nodes[k].output[0] != node->input[0])
                continue;
            bool reverse = graph.nodes[k].attr[PDNN_RNN_REVERSE];
            assert_int_equal(node->attr[PDNN_SLICE_FIRST], reverse ? 0 : (LENGTH - 1) * BATCH);
            assert_int_equal(node->attr[PDNN_SLICE_ROWS], BATCH);
            n_slices += reverse ? 1 : 10;
        }
    }
    assert_int_equal(n_slices, 11); /* one for each direction */
    pdnn_arena_finish(&arena);
}

static const char *const small[] = {
    "cell=rnn,layers=2,embedding=4,length=3,vocabulary=5,batch=2",
    "cell=lstm,layers=2,embedding=3,hidden=4,length=3,vocabulary=5,batch=2,ids=zipf",
    "cell=gru,layers=1,embedding=3,hidden=4,length=4,vocabulary=5,batch=2,bidirectional=yes",
    "cell=lbr_gru,layers=2,embedding=3,length=3,vocabulary=5,batch=3,output_at=last",
    "cell=lstm,layers=2,embedding=3,length=3,vocabulary=4,batch=2,bidirectional=yes,output_at=last,dropout=30",
    "cell=gru,layers=2,embedding=4,hidden=3,length=2,vocabulary=5,batch=2,output_at=none,dropout=20",
};
enum { N_SMALL = sizeof small / sizeof *small };

static const char *const settings[] = {"mode=infer", "mode=infer,fuse=post-ops", "mode=train,optimizer=sgd",
                                       "mode=train,optimizer=adam,fuse=post-ops"};
enum { N_SETTINGS = sizeof settings / sizeof *settings };

static void test_rnn_flop_counts(void **state) {
    (void)state;
    for (size_t i = 0; i < N_SMALL * N_SETTINGS; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        char id[256];
        snprintf(id, sizeof id, "rnn/%s,%s", small[i / N_SETTINGS], settings[i % N_SETTINGS]);
        build_graph(id, &arena, &graph);
        check_flop_counts(&graph, id);
        pdnn_arena_finish(&arena);
    }
}

static void test_rnn_depth_costs(void **state) {
    (void)state;
    for (size_t i = 0; i < N_SMALL * N_SETTINGS * 6; i++) {
        char id[256];
        const char *rest = small[i / 6 % N_SMALL], *layers = strstr(rest, ",layers=");
        snprintf(id, sizeof id, "rnn/%.*s,layers=%d%s,%s", (int)(layers - rest), rest, (int)(i % 6) + 1,
                 strchr(layers + 1, ','), settings[i / 6 / N_SMALL]);
        check_depth_costs(id);
    }
}

static void test_rnn_gradients(void **state) {
    (void)state;
    for (size_t i = 0; i < N_SMALL; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        char id[256];
        snprintf(id, sizeof id, "rnn/%s%s", small[i], i % 2 ? ",fuse=post-ops" : "");
        build_graph(id, &arena, &graph);
        check_gradients(&graph, 2);
        pdnn_arena_finish(&arena);
    }
}

static void test_rnn_fusion(void **state) {
    (void)state;
    for (size_t i = 0; i < 2 * N_SMALL; i++) {
        char id[256];
        snprintf(id, sizeof id, "rnn/%s,mode=%s", small[i / 2], i % 2 ? "train" : "infer");
        if (!strstr(id, "output_at=none")) /* those have nothing to fuse */
            check_fusion(id);
    }
}

static void test_rnn_loss_falls(void **state) {
    (void)state;
    static const char *const ids[] = {
        "rnn/cell=rnn,layers=1,embedding=8,length=4,vocabulary=6,batch=4,optimizer=adam",
        "rnn/cell=lstm,layers=2,embedding=8,length=4,vocabulary=6,batch=4,optimizer=adam",
        "rnn/cell=gru,layers=2,embedding=8,length=4,vocabulary=6,batch=4,optimizer=momentum,bidirectional=yes",
        "rnn/cell=lbr_gru,layers=1,embedding=8,length=4,vocabulary=6,batch=4,optimizer=rmsprop,output_at=last",
        "rnn/cell=lstm,layers=1,embedding=8,length=4,batch=4,optimizer=adam,output_at=none,dropout=10",
    };
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        check_loss_falls(ids[i], 200, 0.95);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rnn_published_params), cmocka_unit_test(test_rnn_flop_by_length),
        cmocka_unit_test(test_rnn_flop_counts),      cmocka_unit_test(test_rnn_depth_costs),
        cmocka_unit_test(test_rnn_gradients),        cmocka_unit_test(test_rnn_fusion),
        cmocka_unit_test(test_rnn_last_output),      cmocka_unit_test(test_rnn_loss_falls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
