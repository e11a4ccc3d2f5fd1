/* Instances with hyper-parameters that apply only sometimes: ids, what is refused, presets. */
#include "models/zoo/catalog.h"
#include "models/graph.h"
#include "models/instance.h"
#include "models/optimizer.h"
#include "tests/cmocka_all.h"

#include <string.h>

static void test_parse_ids(void **state) {
    (void)state;
    static const struct {
        const char *text, *id;
    } rows[] = {
        {"cnn:resnet50,batch=2,mode=infer,threads=1",
         "cnn/block=bottleneck,blocks=3-4-6-3,filters=64,image=224,output=1000,batch=2,pool=global,stride_on=3x3,activation=relu,mode=infer,threads=1"},
        {"cnn:resnet50,block=residual,algorithm=winograd,mode=infer,threads=1",
         "cnn/block=residual,blocks=3-4-6-3,filters=64,image=224,output=1000,batch=64,pool=global,shortcut=projection,activation=relu,mode=infer,threads=1,algorithm=winograd"},
        {"cnn/padding=same,kernel=5-3,block=plain,dense=16,mode=infer,threads=1",
         "cnn/block=plain,blocks=2,filters=64,image=224,output=1000,batch=64,activation=relu,kernel=5-3,stride=1,padding=same,window=2,dense=16,mode=infer,threads=1"},
        {"rnn:paper-min,rnn=unrolled,isa=avx2,mode=infer,threads=1",
         "rnn/cell=rnn,layers=1,embedding=100,hidden=embedding,length=10,vocabulary=2,batch=16,bidirectional=no,output_at=every-step,dropout=0,ids=uniform,mode=infer,threads=1,rnn=unrolled,isa=avx2"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_instance instance, again;
        struct pdnn_err err = {0};
        char id[PDNN_ID_TEXT];
        if (pdnn_instance_parse(rows[i].text, &instance, &err) != PDNN_OK)
            fail_msg("%s", err.text);
        assert_string_equal(pdnn_instance_format(&instance, id), rows[i].id);
        assert_int_equal(pdnn_instance_parse(id, &again, NULL), PDNN_OK);
        assert_memory_equal(&again, &instance, sizeof again);
    }
}

/* Ids of an earlier version, which wrote every setting or lacked a parameter, become today's id; an id that
 * does not parse stays as it is. */
static void test_reprint_gives_todays_id(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"fc/layers=4,nodes=1024,input=2000,output=1000,batch=64,activation=relu,mode=train,dtype=f32,"
         "optimizer=rmsprop,backend=onednn,threads=2,cache=warm,fuse=none,accumulate=1,isa=default",
         "fc/layers=4,nodes=1024,input=2000,output=1000,batch=64,activation=relu,threads=2"},
        {"fc/layers=4,nodes=1024,input=2000,output=1000,batch=64,activation=relu,mode=infer,dtype=bf16,"
         "backend=openblas,threads=2,cache=cold,fuse=post-ops,isa=avx2",
         "fc/layers=4,nodes=1024,input=2000,output=1000,batch=64,activation=relu,mode=infer,dtype=bf16,"
         "backend=openblas,threads=2,cache=cold,fuse=post-ops,isa=avx2"},
        {"fc/layers=4,mode=infer,threads=2",
         "fc/layers=4,nodes=1024,input=2000,output=1000,batch=64,activation=relu,mode=infer,threads=2"},
        {"cnn/block=residual,blocks=2,filters=64,image=224,output=1000,batch=64,pool=global,activation=relu,"
         "mode=infer,dtype=f32,backend=onednn,threads=1,cache=warm,fuse=none,algorithm=auto,isa=default",
         "cnn/block=residual,blocks=2,filters=64,image=224,output=1000,batch=64,pool=global,"
         "shortcut=projection,activation=relu,mode=infer,threads=1"},
        {"gone/x=1,isa=default", "gone/x=1,isa=default"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char id[PDNN_ID_TEXT], again[PDNN_ID_TEXT];
        assert_string_equal(pdnn_instance_reprint(rows[i][0], id), rows[i][1]);
        assert_string_equal(pdnn_instance_reprint(rows[i][1], again), rows[i][1]);
    }
}

static void test_parse_refuses_what_does_not_apply(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"cnn:resnet50,kernel=5", "'cnn:resnet50,kernel=5': kernel does not apply to cnn with "
                                  "block=bottleneck, only with block=plain"},
        {"cnn/kernel=5,block=residual", "'cnn/kernel=5,block=residual': kernel does not apply to cnn with "
                                        "block=residual, only with block=plain"},
        {"cnn:vgg16,pool=7x7", "'cnn:vgg16,pool=7x7': pool does not apply to cnn with block=plain, only with "
                               "block=residual or bottleneck"},
        {"cnn/block=residual,stride_on=3x3", "'cnn/block=residual,stride_on=3x3': stride_on does not apply "
                                             "to cnn with block=residual, only with block=bottleneck"},
        {"fc/algorithm=gemm", "'fc/algorithm=gemm': algorithm does not apply to fc"},
        {"cnn:vgg16,rnn=auto", "'cnn:vgg16,rnn=auto': rnn does not apply to cnn"},
        {"fc/optimizer=sgd,mode=infer", "'fc/optimizer=sgd,mode=infer': optimizer does not apply with "
                                        "mode=infer, only with mode=train"},
        {"cnn/blocks=3-0", "'cnn/blocks=3-0': '3-0': blocks is 0, expected 1 to 512"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_instance instance;
        struct pdnn_err err = {0};
        assert_int_equal(pdnn_instance_parse(rows[i][0], &instance, &err), PDNN_INVALID);
        assert_string_equal(err.text, rows[i][1]);
    }
}

static const char *name_of_preset(const char *id, struct pdnn_parsed_presets *parsed) {
    struct pdnn_instance instance;
    struct pdnn_err err = {0};
    if (pdnn_instance_parse(id, &instance, &err) != PDNN_OK)
        fail_msg("%s", err.text);
    pdnn_instance_resolve(&instance, 1);
    const struct pdnn_preset *preset = pdnn_instance_preset(&instance, parsed);
    return preset ? preset->name : "";
}

static void test_every_preset_is_itself(void **state) {
    (void)state;
    struct pdnn_parsed_presets parsed = {0};
    for (size_t f = 0; pdnn_family_at(f); f++) {
        const struct pdnn_family_def *family = pdnn_family_at(f);
        for (size_t i = 0; i < family->n_presets; i++) {
            for (int trains = 0; trains < 2; trains++) {
                char id[PDNN_ID_TEXT];
                snprintf(id, sizeof id, "%s:%s,batch=3,mode=%s", family->name, family->presets[i].name,
                         trains ? "train" : "infer");
                assert_string_equal(name_of_preset(id, &parsed), family->presets[i].name);
            }
        }
    }
}

static void test_instance_preset_at_any_minibatch_and_length(void **state) {
    (void)state;
    struct pdnn_parsed_presets parsed = {0};
    static const struct {
        const char *id, *preset;
    } rows[] = {
        {"resnet50,batch=1", "resnet50"},
        {"cnn/block=bottleneck,blocks=3-4-6-3,filters=64,image=224,output=1000,stride_on=3x3", "resnet50"},
        {"resnet50,activation=tanh", ""},
        {"resnet50,image=64", ""},
        {"alexnet", "alexnet"},
        {"rnn:paper-min,length=50,batch=3", "paper-min"},
        {"bert-base,length=384,mode=train", "bert-base"},
        {"bert-base,layers=6", ""},
        {"fc/nodes=33", ""},
        {"gnmt/batch=7,source=30,target=10", "gnmt"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_string_equal(name_of_preset(rows[i].id, &parsed), rows[i].preset);
    }
}

/* A parameter that does not apply has its default, whatever a preset or an id set before. */
static void test_settle_gives_one_instance_per_id(void **state) {
    (void)state;
    struct pdnn_instance a, b;
    assert_int_equal(pdnn_instance_parse("cnn:vgg16,block=residual,blocks=2,mode=infer", &a, NULL), PDNN_OK);
    assert_int_equal(pdnn_instance_parse("cnn/block=residual,mode=infer", &b, NULL), PDNN_OK);
    assert_memory_equal(&a, &b, sizeof a);
    assert_int_equal(pdnn_instance_parse("fc/mode=infer", &a, NULL), PDNN_OK);
    b = a;
    b.setting[PDNN_SETTING_OPTIMIZER] = PDNN_OPTIMIZER_SGD;
    b.setting[PDNN_SETTING_ALGORITHM] = PDNN_ALGORITHM_GEMM;
    b.setting[PDNN_SETTING_RNN] = PDNN_RECURRENCE_FUSED;
    pdnn_instance_settle(&b);
    assert_memory_equal(&a, &b, sizeof a);
}

/* Equal networks have one id: words are replaced by what they stand for, and lists take one length. Texts
 * that no longer mean the same network stay. */
static void test_resolve_gives_one_id_per_net(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"rnn/embedding=96", "embedding=96,hidden=96,"},
        {"rnn/embedding=96,hidden=96", "embedding=96,hidden=96,"},
        {"rnn:paper-min,embedding=96", "embedding=96,hidden=96,"},
        {"rnn/hidden=7,embedding=96", "embedding=96,hidden=7,"},
        {"cnn/block=residual,blocks=2-2-2-2", ",blocks=2,"},
        {"cnn:resnet18,blocks=3-3-3-3", ",blocks=3,"},
        {"cnn/blocks=3-4-6-6", ",blocks=3-4-6-6,"},
        {"cnn/blocks=2-2-2", ",blocks=2-2-2,"}, /* too few stages: not a valid network */
        {"cnn:vgg16", ",blocks=2-2-3-3-3,filters=64,"},
        {"cnn:vgg16", ",kernel=3,stride=1,padding=1,window=2,dense=4096-4096,"},
        {"cnn:alexnet", ",blocks=1,filters=64-192-384-256,"},
        {"cnn:alexnet", ",kernel=11-5-3,stride=4-1,padding=2-2-1,window=3-3-0-0-3,"},
        {"cnn:alexnet,padding=same", ",padding=5-2-1,"},
        {"cnn/block=plain,blocks=2,filters=16-16", ",blocks=2,filters=16-16,"},
        {"cnn/block=plain,blocks=2,filters=16-16-16-16", ",blocks=2-2-2-2,filters=16-16,"},
        {"cnn/block=plain,kernel=4,padding=same", ",kernel=4,stride=1,padding=1,"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_instance instance, again;
        struct pdnn_err err = {0};
        char id[PDNN_ID_TEXT];
        if (pdnn_instance_parse(rows[i].text, &instance, &err) != PDNN_OK)
            fail_msg("%s", err.text);
        pdnn_instance_resolve(&instance, 2);
        if (!strstr(pdnn_instance_format(&instance, id), rows[i].says))
            fail_msg("%s is %s", rows[i].text, id);
        assert_int_equal(pdnn_instance_parse(id, &again, NULL), PDNN_OK);
        pdnn_instance_resolve(&again, 1);
        assert_memory_equal(&again, &instance, sizeof again);
    }
}

static void test_hyper_condition_texts(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"block", ""},
        {"image", ""},
        {"pool", "block=residual or bottleneck"},
        {"stride_on", "block=bottleneck"},
        {"dense", "block=plain"},
        {"phase", "architecture=decoder"},
        {"context", "architecture=decoder and phase=decode"},
    };
    static const char *const families[] = {"cnn", "cnn", "cnn", "cnn", "cnn", "transformer", "transformer"};
    struct pdnn_instance instance;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char buffer[PDNN_CONDITION_TEXT];
        const struct pdnn_family_def *family = pdnn_family_find(families[i]);
        pdnn_instance_init(&instance, family);
        int param = pdnn_param_find(family->params, family->n_params, rows[i][0]);
        assert_string_equal(pdnn_hyper_condition(&instance, (size_t)param, buffer), rows[i][1]);
    }
}

/* Rows of one table: defaults pass their own checks, ids have room for the numbers in
 * their lists, and presets parse. */
static void test_families_rows(void **state) {
    (void)state;
    for (size_t f = 0; pdnn_family_at(f); f++) {
        const struct pdnn_family_def *family = pdnn_family_at(f);
        assert_true(family->n_params <= PDNN_HYPER_MAX);
        for (size_t i = 0; i < family->n_params; i++) {
            const struct pdnn_param_def *def = &family->params[i];
            char text[PDNN_PARAM_TEXT];
            struct pdnn_value value;
            pdnn_param_format(def, def->fallback, text);
            if (def->type != PDNN_PARAM_CHOICE)
                assert_int_equal(pdnn_param_parse(def, text, &value, NULL), PDNN_OK);
            if (def->type == PDNN_PARAM_LIST && (def->min < 0 || def->max > PDNN_LIST_NUMBER_MAX))
                fail_msg("%s: %s does not fit a list", family->name, def->name);
        }
        for (size_t p = 0; p < family->n_presets; p++) {
            struct pdnn_instance instance, preset;
            struct pdnn_err err = {0};
            char id[PDNN_ID_TEXT];
            snprintf(id, sizeof id, "%s%s%s", family->name, *family->presets[p].values ? "/" : "",
                     family->presets[p].values);
            if (pdnn_instance_parse(id, &instance, &err) != PDNN_OK)
                fail_msg("%s:%s: %s", family->name, family->presets[p].name, err.text);
            pdnn_instance_init_preset(&preset, family, &family->presets[p]);
            assert_memory_equal(&preset, &instance, sizeof instance);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_preset_is_itself),
        cmocka_unit_test(test_instance_preset_at_any_minibatch_and_length),
        cmocka_unit_test(test_parse_ids),
        cmocka_unit_test(test_reprint_gives_todays_id),
        cmocka_unit_test(test_parse_refuses_what_does_not_apply),
        cmocka_unit_test(test_settle_gives_one_instance_per_id),
        cmocka_unit_test(test_resolve_gives_one_id_per_net),
        cmocka_unit_test(test_hyper_condition_texts),
        cmocka_unit_test(test_families_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
