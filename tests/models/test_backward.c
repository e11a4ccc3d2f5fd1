/* Every gradient by finite differences, in double; the derivation itself; a training run whose loss falls. */
#include "tests/cmocka_all.h"
#include "tests/models/gradient_check.h"
#include "tests/models/reference_run.h"

#include "models/transform/backward.h"
#include "models/build.h"
#include "models/instance.h"
#include "models/optimizer.h"
#include "models/forward.h"

#include <math.h>
#include <string.h>

static const struct pdnn_optimizer_def *optimizer(const char *name) {
    for (size_t i = 0; i < PDNN_OPTIMIZER_COUNT; i++) {
        if (strcmp(pdnn_optimizers[i].name, name) == 0)
            return &pdnn_optimizers[i];
    }
    fail_msg("no optimizer %s", name);
    return NULL;
}

static void test_gradient_fc(void **state) {
    (void)state;
    static const char *const ids[] = {
        "fc/layers=3,nodes=4,input=3,output=5,batch=6,activation=relu",
        "fc/layers=2,nodes=4,input=3,output=5,batch=6,activation=sigmoid",
        "fc/layers=2,nodes=4,input=3,output=5,batch=6,activation=tanh",
        "fc/layers=2,nodes=4,input=3,output=5,batch=6,activation=tanh,fuse=post-ops",
        "fc/layers=1,nodes=1,input=1,output=2,batch=1,activation=tanh",
    };
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct pdnn_arena arena = {0};
        struct pdnn_graph graph;
        struct pdnn_instance instance;
        struct pdnn_err err = {0};
        assert_int_equal(pdnn_instance_parse(ids[i], &instance, &err), PDNN_OK);
        assert_int_equal(pdnn_instance_graph(&instance, &arena, &graph, &err), PDNN_OK);
        for (uint64_t seed = 1; seed <= 3; seed++)
            check_gradients(&graph, seed);
        pdnn_arena_finish(&arena);
    }
}

/* A value read twice (a shortcut, and a weight used by two layers) gets the sum of its gradients. */
static void test_gradient_shared(void **state) {
    (void)state;
    struct pdnn_arena arena = {0};
    struct pdnn_graph graph;
    struct pdnn_err err = {0};
    struct pdnn_fill uniform = {PDNN_FILL_UNIFORM, 1};
    pdnn_graph_init(&graph, &arena);
    struct pdnn_tensor input = {
        .role = PDNN_ROLE_INPUT, .rank = 2, .dim = {3, 4}, .fill = uniform, .of = PDNN_NONE};
    struct pdnn_tensor labels = {.role = PDNN_ROLE_LABEL,
                                 .dtype = PDNN_S32,
                                 .rank = 1,
                                 .dim = {3},
                                 .fill = {PDNN_FILL_CLASS, 4},
                                 .of = PDNN_NONE};
    uint32_t x = pdnn_graph_tensor(&graph, &input), label = pdnn_graph_tensor(&graph, &labels);
    uint32_t w = pdnn_graph_weight(&graph, 2, (int64_t[]){4, 4}, uniform);
    uint32_t h = pdnn_graph_forward(&graph, &pdnn_op_dense, (uint32_t[]){x, w, PDNN_NONE}, NULL);
    uint32_t a = pdnn_graph_forward(&graph, &pdnn_op_tanh, (uint32_t[]){h, PDNN_NONE}, NULL);
    uint32_t y = pdnn_graph_forward(&graph, &pdnn_op_dense, (uint32_t[]){a, w, PDNN_NONE}, NULL);
    uint32_t z = pdnn_graph_forward(&graph, &pdnn_op_add, (uint32_t[]){y, a, PDNN_NONE}, NULL);
    graph.loss =
        pdnn_graph_forward(&graph, &pdnn_op_softmax_cross_entropy, (uint32_t[]){z, label, PDNN_NONE}, NULL);
    pdnn_backward_derive(&graph, optimizer("sgd"));
    assert_int_equal(pdnn_graph_status(&graph, &err), PDNN_OK);
    check_gradients(&graph, 9);
    pdnn_arena_finish(&arena);
}

static void test_derive_nothing_unused(void **state) {
    (void)state;
    struct pdnn_arena arena = {0};
    struct pdnn_graph graph;
    struct pdnn_instance instance;
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_instance_parse("fc/layers=5,nodes=4,input=3,output=5,batch=6", &instance, &err),
                     PDNN_OK);
    assert_int_equal(pdnn_instance_graph(&instance, &arena, &graph, &err), PDNN_OK);
    for (size_t t = 0; t < graph.n_tensors; t++) {
        bool read = t == graph.loss;
        for (size_t i = 0; i < graph.n_nodes; i++)
            for (int k = 0; k < graph.nodes[i].n_inputs; k++)
                read = read || graph.nodes[i].input[k] == t;
        if (!read)
            fail_msg("nothing reads tensor %zu (%s)", t, pdnn_role_name(graph.tensors[t].role));
    }
    pdnn_arena_finish(&arena);
}

static void test_training_loss_falls(void **state) {
    (void)state;
    for (size_t n = 0; n < PDNN_OPTIMIZER_COUNT; n++) {
        char id[128];
        snprintf(id, sizeof id, "fc/layers=2,nodes=16,input=8,output=4,batch=12,optimizer=%s",
                 pdnn_optimizer_names[n]);
        struct pdnn_arena arena = {0};
        struct pdnn_graph graph;
        struct pdnn_instance instance;
        struct pdnn_err err = {0};
        assert_int_equal(pdnn_instance_parse(id, &instance, &err), PDNN_OK);
        assert_int_equal(pdnn_instance_graph(&instance, &arena, &graph, &err), PDNN_OK);
        double **values = reference_values(&graph), first = 0, before = INFINITY;
        reference_fill(&graph, values, 3);
        for (int step = 0; step < 50; step++) {
            reference_run(&graph, values, 0, graph.n_nodes);
            double loss = values[graph.loss][0];
            first = step ? first : loss;
            assert_true(isfinite(loss));
            if (step && step % 10 == 0) {
                assert_true(loss < before);
                before = loss;
            }
        }
        assert_true(values[graph.loss][0] < first);
        reference_values_free(&graph, values);
        pdnn_arena_finish(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient_fc),
        cmocka_unit_test(test_gradient_shared),
        cmocka_unit_test(test_derive_nothing_unused),
        cmocka_unit_test(test_training_loss_falls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
