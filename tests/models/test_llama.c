/* The family llama, in double: parameters, FLOP of prefill and decoding by hand and against a counting run,
 * gradients, fused graphs against unfused ones, what grows with heads of keys, a training run whose loss
 * falls, and what is refused. Presets' claims are the test `zoo`'s. */
#include "tests/cmocka_all.h"
#include "tests/models/gradient_check.h"
#include "tests/models/model_check.h"

#include "models/op.h"

#include <stdio.h>

#define SMALL "llama/layers=2,hidden=12,heads=6,kv_heads=2,ffn=10,vocabulary=11,batch=2"

static const char *const ids[] = {
    SMALL ",length=5",
    SMALL ",length=5,window=2,bias=yes,tied=yes",
    SMALL ",length=5,width=4,qk_norm=yes,activation=gelu_tanh",
    "llama/layers=2,hidden=12,heads=6,ffn=10,vocabulary=11,batch=2,length=5,window=5",
    SMALL ",length=5,experts=4,active=2",
    SMALL ",length=5,experts=5,active=2,skew=100,qk_norm=yes",
    "llama/layers=2,hidden=12,heads=6,kv_heads=1,ffn=10,vocabulary=11,batch=2,length=5,mode=infer",
    SMALL ",phase=decode,context=7,mode=infer",
    SMALL ",phase=decode,context=7,experts=8,active=3,bias=yes,mode=infer",
    SMALL ",phase=decode,context=7,window=3,qk_norm=yes,bias=yes,tied=yes,mode=infer",
};
enum { IDS = sizeof ids / sizeof *ids, BIASED = 1, TRAINED = 6 };

static void test_graphs(void **state) {
    (void)state;
    for (size_t i = 0; i < IDS; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        build_graph(ids[i], &arena, &graph);
        check_flop_counts(&graph, ids[i]);
        if (i < TRAINED)
            check_gradients(&graph, 1 + i);
        pdnn_arena_finish(&arena);
        check_depth_costs(ids[i]);
        if (i == BIASED || i >= TRAINED) /* in training nothing but a bias is a post-op */
            check_fusion(ids[i]);
    }
}

/* Llama 3.2 1B: 1,235,746,816 multiply-adds a token, and for each of the 32 heads of 64 of 16 layers two for
 * each token that the token sees: of T tokens all before it and itself, T (T + 1) / 2 in all; in a window of
 * 32 tokens 32 of each but the first; in decoding all that are cached. */
static void test_products(void **state) {
    enum { ATTENTION = 16 * 2 * 32 * 64 };
    static const struct {
        const char *settings;
        uint64_t tokens, seen;
    } rows[] = {{"", 128, 128 * 129 / 2},
                {",window=32", 128, 32 * 33 / 2 + (128 - 32) * 32},
                {",phase=decode,context=512", 1, 512},
                {",phase=decode,context=512,window=100", 1, 100},
                {",phase=decode,context=512,batch=3", 3, 3 * 512}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char id[128];
        snprintf(id, sizeof id, "llama:llama3.2-1b,mode=infer%s", rows[i].settings);
        assert_int_equal(products_flop(id), 2 * (rows[i].tokens * 1235746816 + ATTENTION * rows[i].seen));
    }
}

/* Mixtral 8x7B: 12,748,587,008 multiply-adds a token in products with weights, and one node for all experts.
 */
static void test_mixture_products(void **state) {
    enum { LAYERS = 32, PRODUCTS = 3 };
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    size_t nodes = 0;
    (void)state;
    build_graph("llama:mixtral-8x7b,mode=infer", &arena, &graph);
    assert_int_equal(flop_of_op(&graph, &pdnn_op_dense) + flop_of_op(&graph, &pdnn_op_experts),
                     2 * 128 * 12748587008);
    for (size_t i = 0; i < graph.n_nodes; i++)
        nodes += graph.nodes[i].op == &pdnn_op_experts;
    assert_int_equal(nodes, LAYERS * PRODUCTS);
    pdnn_arena_finish(&arena);
}

/* Qwen 3 30B A3B decodes a token: of 128 experts of each layer it reads the 8 that are active, and the more
 * the more tokens there are, up to all of them, or as many as a skew leaves rows. */
static void test_experts_read(void **state) {
    static const struct {
        int64_t batch, skew, read;
    } rows[] = {{1, 0, 8}, {3, 0, 24}, {16, 0, 128}, {40, 0, 128}, {40, 300, 63}, {4, 300, 32}};
    enum { LAYERS = 48, EXPERT = 3 * 2048 * 768, OTHERS = 2048 * 5120 + 4096 * 2048 + 2048 * 128 };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char id[128];
        snprintf(id, sizeof id, "llama:qwen3-30b-a3b,phase=decode,mode=infer,batch=%d,skew=%d",
                 (int)rows[i].batch, (int)rows[i].skew);
        const int64_t norms = 2 * 2048 + 2 * 128, ends = 2048 + rows[i].batch * 2048 + 151936 * 2048L;
        assert_int_equal(totals_of(id).cost.weight_bytes,
                         4 * (LAYERS * (rows[i].read * EXPERT + OTHERS + norms) + ends));
    }
}

/* Each head of keys and values that is cached is read, and more of them cost more in every way. */
static void test_heads_of_keys(void **state) {
    struct pdnn_totals before = {0};
    (void)state;
    for (int64_t kv_heads = 1; kv_heads <= 32; kv_heads *= 2) {
        char id[128];
        snprintf(id, sizeof id, "llama:llama3.2-1b,kv_heads=%d,phase=decode,context=1000,mode=infer",
                 (int)kv_heads);
        struct pdnn_totals totals = totals_of(id);
        if (kv_heads > 1) {
            const uint64_t more = 16 * (uint64_t)kv_heads / 2 * 64 * 2; /* columns of keys and values */
            assert_int_equal(totals.params - before.params, more * 2048);
            assert_int_equal(totals.cost.flop_count - before.cost.flop_count,
                             2 * more * 2048 + 3 * more / 2); /* keys are turned */
            assert_true(totals.cost.byte_count - before.cost.byte_count > 4 * more * (2048 + 1000));
        }
        before = totals;
    }
}

static void test_loss_falls(void **state) {
    (void)state;
    check_loss_falls(SMALL ",length=5,optimizer=adam", 100, 0.7);
    check_loss_falls(SMALL ",length=5,experts=4,active=2,skew=50,optimizer=adam", 100, 0.7);
}

static void test_refused(void **state) {
    (void)state;
    check_invalid("llama/heads=6,kv_heads=4,hidden=12", "heads=6 are not a multiple of kv_heads=4");
    check_invalid("llama/heads=4,kv_heads=6,hidden=12", "heads=4 are not a multiple of kv_heads=6");
    check_invalid("llama/heads=4,hidden=12", "width=3 is not even");
    check_invalid("llama/window=129", "window=129 is beyond length=128");
    check_invalid("llama/phase=decode,mode=infer,context=100,window=101", "window=101 is beyond context=100");
    check_invalid("llama/experts=4,active=5", "active=5 is more than experts=4");
    check_invalid("llama/active=2", "active=2 is more than experts=1");
    check_invalid("llama/experts=4,active=2,skew=101", "skew=101 is more than 100: the busiest of experts=4");
    check_invalid("llama/phase=decode,mode=train", "phase=decode is for mode=infer");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_graphs),           cmocka_unit_test(test_products),
        cmocka_unit_test(test_mixture_products), cmocka_unit_test(test_experts_read),
        cmocka_unit_test(test_heads_of_keys),    cmocka_unit_test(test_loss_falls),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
