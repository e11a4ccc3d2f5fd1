/* What two graphs of one model share, and the message if they cannot share. */
#include "tests/cmocka_all.h"

#include "models/build.h"
#include "models/sharing.h"

#include <string.h>

static void build(const char *id, struct pdnn_arena *arena, struct pdnn_graph *graph) {
    struct pdnn_instance instance;
    struct pdnn_err err = {0};
    pdnn_arena_init(arena);
    assert_int_equal(pdnn_instance_parse(id, &instance, &err), PDNN_OK);
    assert_int_equal(pdnn_instance_graph(&instance, arena, graph, &err), PDNN_OK);
}

/* text: a part of the message; NULL: they share. */
static void test_graph_shares(void **state) {
    static const struct {
        const char *id, *other, *text;
    } rows[] = {
        {"fc/batch=3", "fc/batch=5", NULL},
        {"fc/batch=3,optimizer=adam", "fc/batch=5,optimizer=adam", NULL},
        {"fc/nodes=8", "fc/nodes=9", "weight 1 of hidden1 is 8x2000 f32, not 9x2000 f32"},
        {"fc/layers=2", "fc/layers=3", "is "},
        {"fc/optimizer=sgd", "fc/optimizer=momentum", "weights and states, not "},
        {"fc/mode=infer", "fc/mode=train,optimizer=sgd", NULL},
        {"rnn/length=3", "rnn/length=7", NULL},
        {"rnn/dropout=20", "rnn/dropout=30", NULL},
        {"rnn/cell=gru", "rnn/cell=lbr_gru", "of layer1 is 1536 f32, not 2048 f32"},
        {"cnn/block=residual,mode=infer,fuse=post-ops", "cnn/block=residual,mode=infer,fuse=post-ops,batch=1",
         NULL},
        {"cnn/block=residual,mode=infer", "cnn/block=residual,mode=infer,fuse=post-ops",
         "begins with other values"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_arena arena, other_arena;
        struct pdnn_graph graph, other;
        struct pdnn_err err = {0};
        build(rows[i].id, &arena, &graph);
        build(rows[i].other, &other_arena, &other);
        enum pdnn_status status = pdnn_graph_shares(&graph, &other, &err);
        if ((status == PDNN_OK) != !rows[i].text || (rows[i].text && !strstr(err.text, rows[i].text)))
            fail_msg("%s and %s: '%s'", rows[i].id, rows[i].other, err.text);
        assert_true(status == PDNN_OK || status == PDNN_INVALID);
        pdnn_arena_finish(&arena);
        pdnn_arena_finish(&other_arena);
    }
}

/* Graphs of different depth before the weights: the k-th shared tensor of one is the k-th of the other. */
static void test_shared_match(void **state) {
    struct pdnn_arena arena, other_arena;
    struct pdnn_graph graph, other;
    uint32_t count = 0;
    (void)state;
    build("rnn/layers=2,mode=infer", &arena, &graph);
    build("rnn/layers=2,mode=train,dropout=20,optimizer=adam", &other_arena, &other);
    uint32_t j = pdnn_shared_next(&other, 0);
    for (uint32_t i = pdnn_shared_next(&graph, 0); i != PDNN_NONE;
         i = pdnn_shared_next(&graph, i + 1), j = pdnn_shared_next(&other, j + 1), count++) {
        assert_int_equal(pdnn_shared_match(&graph, i, &other), j);
        assert_int_equal(pdnn_shared_match(&other, j, &graph), i);
    }
    assert_true(count >= 8);
    uint32_t last = PDNN_NONE;
    for (uint32_t i = j; i != PDNN_NONE; i = pdnn_shared_next(&other, i + 1))
        last = i;
    assert_int_equal(pdnn_shared_match(&other, last, &graph), PDNN_NONE);
    pdnn_arena_finish(&arena);
    pdnn_arena_finish(&other_arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_graph_shares),
        cmocka_unit_test(test_shared_match),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
