/* The transformer family, in double: published counts, FLOP against a counting run, gradients by finite
 * differences, fused passes against single ops, losses that fall. */
#include "tests/cmocka_all.h"
#include "tests/models/gradient_check.h"
#include "tests/models/model_check.h"
#include "tests/near.h"
#include "tests/models/reference_run.h"

#include "models/op.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void test_transformer_published_params(void **state) {
    (void)state;
    static const struct {
        const char *id;
        uint64_t params;
    } cases[] = {
        {"transformer:bert-base,mode=infer", 109482240},
        {"transformer:bert-base,objective=masked-lm,mode=infer", 110106428},
        {"transformer:bert-base,objective=masked-lm,qkv=separate", 110106428},
        {"transformer:bert-large,mode=infer", 335141888},
        {"transformer:bert-large,objective=masked-lm", 336226108},
        {"transformer:roberta-base,mode=infer", 124645632},
        {"transformer:roberta-large,mode=infer", 355359744},
        {"transformer:distilbert,mode=infer", 66362880},
        {"transformer:distilgpt2,mode=infer", 81912576},
        {"transformer:gpt2,mode=infer", 124439808},
        {"transformer:gpt2-medium,mode=infer", 354823168},
        {"transformer:gpt2-large,mode=infer", 774030080},
        {"transformer:gpt2-xl,mode=infer", 1557611200},
        {"transformer:gpt2,mode=infer,phase=decode,context=512", 124439808},
        {"transformer:transformer-base,mode=infer", 63082496},
        {"transformer:transformer-big,qkv=separate,mode=infer", 214245376},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (totals_of(cases[i].id).params != cases[i].params)
            fail_msg("%s: %ju parameters, not %ju", cases[i].id, (uintmax_t)totals_of(cases[i].id).params,
                     (uintmax_t)cases[i].params);
    }
}

/* The published multiply-adds of the encoders are those of the layers alone; without a pooler nothing else is
 * a matrix product. They are published in GMAC with three decimals. */
static void test_transformer_published_flop(void **state) {
    (void)state;
    static const struct {
        const char *id;
        double gmac;
    } encoders[] = {
        {"transformer:bert-base,batch=1,pooler=no,mode=infer,length=128", 11.174},
        {"transformer:bert-base,batch=1,pooler=no,mode=infer,length=512", 48.318},
        {"transformer:bert-large,batch=1,pooler=no,mode=infer,length=128", 39.460},
        {"transformer:bert-large,batch=1,pooler=no,mode=infer,length=512,qkv=separate", 167.504},
    };
    for (size_t i = 0; i < sizeof encoders / sizeof *encoders; i++)
        assert_near((double)products_flop(encoders[i].id) / 2e9, encoders[i].gmac, 0.0005);
    assert_int_equal(products_flop("transformer:gpt2,mode=infer"), UINT64_C(291648307200));
    assert_int_equal(products_flop("transformer:bert-large,layers=1,batch=32,pooler=no,mode=infer"),
                     UINT64_C(105226698752));
}

/* Backward is twice forward: every layer needs backward-data, because embeddings are trained. */
static void test_transformer_published_training_flop(void **state) {
    (void)state;
    assert_int_equal(products_flop("transformer:gpt2"), UINT64_C(874944921600));
    assert_int_equal(products_flop("transformer:bert-large,batch=32,pooler=no"), UINT64_C(7576322310144));
}

/* The products of one token read every weight once, and the caches. */
static void test_transformer_decode(void **state) {
    (void)state;
    const uint64_t L = 12, H = 768, V = 50257, m = 512;
    const char *id = "transformer:gpt2,mode=infer,phase=decode,context=512";
    assert_int_equal(products_flop(id), 2 * (L * 12 * H * H + V * H) + L * 4 * m * H);
    assert_int_equal(totals_of(id).cost.state_bytes, L * 2 * (m + 1) * H * sizeof(float));
}

static const char *const small[] = {
    "hidden=4,heads=2,layers=2,vocabulary=7,length=3,batch=2,positions=4,dropout=0",
    "hidden=6,heads=3,layers=1,vocabulary=5,length=4,batch=2,positions=4,qkv=separate,objective=masked-lm,predictions=2,dropout=20",
    "hidden=4,heads=1,layers=2,vocabulary=5,length=3,batch=1,positions=3,norm=pre,activation=gelu_tanh,objective=masked-lm,pooler=no,types=0,ffn=5",
    "architecture=decoder,hidden=4,heads=2,layers=2,vocabulary=6,length=4,batch=2,positions=5,norm=pre,objective=causal-lm,activation=gelu_tanh,dropout=10",
    "architecture=encoder-decoder,hidden=4,heads=2,layers=2,vocabulary=6,length=3,target=2,batch=2,positions=0,objective=causal-lm,activation=relu",
    "architecture=encoder-decoder,hidden=4,heads=2,layers=1,vocabulary=6,length=2,target=3,batch=2,positions=3,norm=pre,qkv=separate",
};

enum { N_SMALL = sizeof small / sizeof *small };

static void test_transformer_flop_counts_and_gradients(void **state) {
    (void)state;
    static const char *const settings[] = {"mode=infer",
                                           "mode=infer,fuse=blocks",
                                           "optimizer=sgd",
                                           "optimizer=rmsprop,fuse=post-ops",
                                           "optimizer=adam,fuse=blocks",
                                           "optimizer=sgd,fuse=blocks,accumulate=2,checkpoint=layer"};
    enum { N_SETTINGS = sizeof settings / sizeof *settings };
    for (size_t i = 0; i < N_SMALL * N_SETTINGS; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        char id[PDNN_ID_TEXT];
        snprintf(id, sizeof id, "transformer/%s,%s", small[i / N_SETTINGS], settings[i % N_SETTINGS]);
        build_graph(id, &arena, &graph);
        check_flop_counts(&graph, id);
        if (graph.loss != PDNN_NONE)
            check_gradients(&graph, 4);
        pdnn_arena_finish(&arena);
    }
}

static void test_transformer_fusion(void **state) {
    (void)state;
    for (size_t i = 0; i < 2 * N_SMALL; i++) {
        char id[PDNN_ID_TEXT];
        char *dropout;
        snprintf(id, sizeof id, "transformer/%s,%s", small[i / 2], i % 2 ? "optimizer=adam" : "mode=infer");
        if ((dropout = strstr(id, "dropout=")))
            dropout[strlen("dropout=")] = '0'; /* the dropped values depend on the graph */
        else
            strcat(id, ",dropout=0");
        check_same_model(id, "fuse=none", "fuse=blocks");
        check_same_model(id, "fuse=post-ops", "fuse=blocks");
        if (i % 2)
            check_same_model(id, "checkpoint=none", "checkpoint=layer");
    }
}

static void test_transformer_loss_falls(void **state) {
    (void)state;
    check_loss_falls(
        "transformer/hidden=8,heads=2,layers=2,vocabulary=11,length=6,batch=2,positions=6,objective=masked-lm,predictions=3,dropout=0,optimizer=adam",
        120, 0.9);
    check_loss_falls(
        "transformer/architecture=decoder,hidden=8,heads=2,layers=2,vocabulary=11,length=6,batch=2,positions=6,norm=pre,objective=causal-lm,optimizer=lamb",
        150, 0.95);
}

static void test_transformer_depth(void **state) {
    (void)state;
    static const char *const settings[] = {"mode=infer", "optimizer=adam,fuse=blocks"};
    for (size_t i = 0; i < 2 * N_SMALL; i++) {
        char id[PDNN_ID_TEXT];
        snprintf(id, sizeof id, "transformer/%s,%s", small[i / 2], settings[i % 2]);
        char *layers = strstr(id, "layers=");
        layers[strlen("layers=")] = '7';
        check_depth_costs(id);
    }
}

static void test_transformer_invalid(void **state) {
    (void)state;
    check_invalid("transformer/hidden=10,heads=3", "hidden=10 is not a multiple of heads=3");
    check_invalid("transformer/length=600", "positions=512 are fewer than length=600");
    check_invalid("transformer/architecture=decoder,objective=masked-lm", "masked-lm is not for");
    check_invalid("transformer/objective=masked-lm,length=8,predictions=9",
                  "predictions=9 are more than length=8");
    check_invalid("transformer:gpt2,phase=decode,mode=train", "phase=decode is for mode=infer");
    check_invalid("transformer:gpt2,phase=decode,context=2000,mode=infer",
                  "positions=1024 are fewer than context=2000");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transformer_published_params),
        cmocka_unit_test(test_transformer_published_flop),
        cmocka_unit_test(test_transformer_published_training_flop),
        cmocka_unit_test(test_transformer_decode),
        cmocka_unit_test(test_transformer_flop_counts_and_gradients),
        cmocka_unit_test(test_transformer_fusion),
        cmocka_unit_test(test_transformer_loss_falls),
        cmocka_unit_test(test_transformer_depth),
        cmocka_unit_test(test_transformer_invalid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
