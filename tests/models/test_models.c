/* The fc family and its costs: published parameter counts, FLOP against a counting run of the reference
 * kernels, depth extrapolation against full builds, ids, fusion. */
#include "models/zoo/catalog.h"
#include "tests/cmocka_all.h"
#include "tests/models/model_check.h"

#include "models/build.h"
#include "models/cost/cost.h"
#include "models/cost/group.h"
#include "models/instance.h"
#include "models/op.h"

#include <string.h>

static void test_fc_published_params(void **state) {
    (void)state;
    static const struct {
        const char *id;
        uint64_t params;
    } rows[] = {
        {"fc:paper-min", 73800},
        {"fc/layers=64,nodes=512,input=2000,output=1000",
         2000 * 512 + 63 * 512 * 512 + 512 * 1000 + 64 * 512 + 1000},
        {"fc/layers=4,nodes=512,input=2000,output=1000", 2325480},
        {"fc/layers=1,nodes=1,input=1,output=1,batch=1", 1 + 1 + 1 + 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(totals_of(rows[i].id).params, rows[i].params);
}

/* Inference: one multiply-add per weight and example, one addition per biased unit, one
 * comparison per hidden unit. */
static void test_fc_infer_flop(void **state) {
    (void)state;
    struct pdnn_totals totals = totals_of("fc/layers=3,nodes=5,input=7,output=11,batch=13,mode=infer");
    uint64_t weights = 7 * 5 + 2 * 5 * 5 + 5 * 11, units = 3 * 5 + 11;
    assert_int_equal(totals.cost.flop_count, 13 * (2 * weights + units + 3 * 5));
    assert_int_equal(totals.params, weights + units);
}

/* Training: the first layer has no backward-data, so its weights count twice and all others three times. */
static void test_fc_train_matrix_flop(void **state) {
    (void)state;
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct pdnn_err err = {0};
    build_graph("fc/layers=3,nodes=5,input=7,output=11,batch=13,mode=train,optimizer=sgd", &arena, &graph);
    uint64_t matrix = 0, first_data = 0;
    for (size_t i = 0; i < graph.n_nodes; i++) {
        struct pdnn_cost cost;
        assert_int_equal(pdnn_cost_node(&graph, &graph.nodes[i], &cost, &err), PDNN_OK);
        if (graph.nodes[i].op != &pdnn_op_dense)
            continue;
        matrix += cost.flop_count;
        if (graph.nodes[i].pass == PDNN_BACKWARD_DATA && graph.nodes[i].layer.index == 1)
            first_data++;
    }
    assert_int_equal(first_data, 0);
    assert_int_equal(matrix, 13 * (6 * (7 * 5 + 2 * 25 + 55) - 2 * 7 * 5));
    pdnn_arena_finish(&arena);
}

static const char *const variants[] = {
    "mode=infer",
    "mode=infer,fuse=post-ops",
    "mode=train,optimizer=sgd",
    "mode=train,optimizer=momentum",
    "mode=train,optimizer=rmsprop",
    "mode=train,optimizer=adam",
    "mode=train,optimizer=adamw",
    "mode=train,optimizer=lamb",
    "mode=train,optimizer=lamb,accumulate=3",
    "mode=train,accumulate=2,fuse=post-ops",
    "mode=train,optimizer=rmsprop,fuse=post-ops",
    "mode=train,activation=sigmoid",
    "mode=train,activation=tanh,fuse=post-ops",
};
enum { N_VARIANTS = sizeof variants / sizeof *variants };

static void test_fc_flop_counts(void **state) {
    (void)state;
    for (size_t v = 0; v < N_VARIANTS; v++) {
        char id[256];
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        snprintf(id, sizeof id, "fc/layers=3,nodes=4,input=5,output=6,batch=7,%s", variants[v]);
        build_graph(id, &arena, &graph);
        check_flop_counts(&graph, id);
        pdnn_arena_finish(&arena);
    }
}

static void test_cost_instance_depth(void **state) {
    (void)state;
    static const int64_t depths[] = {1, 2, 3, 4, 5, 6, 8, 13, 32, 128};
    static const char *const shapes[] = {
        "nodes=32,input=2000,output=200,batch=64", "nodes=8192,input=2000,output=1000,batch=64",
        "nodes=100,input=7,output=1000,batch=1",   "nodes=1000,input=8000,output=10,batch=16384",
        "nodes=1,input=1,output=1,batch=1",
    };
    for (size_t v = 0; v < N_VARIANTS; v++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (size_t d = 0; d < sizeof depths / sizeof *depths; d++) {
                char id[256];
                snprintf(id, sizeof id, "fc/layers=%ld,%s,%s", (long)depths[d], shapes[s], variants[v]);
                check_depth_costs(id);
            }
}

/* Blocks that differ, because of a list or because each of them shrinks the image. */
static void test_cost_instance_depth_of_networks(void **state) {
    (void)state;
    static const char *const ids[] = {
        "cnn/block=residual,blocks=7,filters=4,image=32,batch=2",
        "cnn/block=bottleneck,blocks=3-4-6-3,filters=4,image=32,batch=2",
        "cnn/block=plain,blocks=8,filters=4,image=64,batch=2,padding=0,window=0",
        "cnn/block=plain,blocks=8,filters=4,image=64,batch=2,kernel=2,window=3-0",
    };
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        check_depth_costs(ids[i]);
}

static void test_cost_instance_overflow(void **state) {
    (void)state;
    struct pdnn_instance instance =
        instance_of("fc/layers=4096,nodes=16777216,input=16777216,output=16777216,batch=16777216,mode=train");
    struct pdnn_arena arena = {0};
    struct pdnn_err err = {0};
    struct pdnn_totals totals;
    assert_int_equal(pdnn_cost_instance(&instance, &arena, false, &totals, &err), PDNN_OVERFLOW);
    assert_non_null(strstr(err.text, "64 bits"));
    pdnn_arena_finish(&arena);
}

/* The bytes of the classes add up. Fusion does not change FLOP, and saves exactly the
 * values between the fused ops. */
static void test_cost_classes_and_fusion(void **state) {
    (void)state;
    for (size_t v = 0; v < N_VARIANTS; v++) {
        char id[256];
        snprintf(id, sizeof id, "fc/layers=3,nodes=4,input=5,output=6,batch=7,%s", variants[v]);
        struct pdnn_cost cost = totals_of(id).cost;
        assert_int_equal(cost.byte_count,
                         cost.weight_bytes + cost.activation_bytes + cost.gradient_bytes + cost.state_bytes);
    }
    struct pdnn_cost apart = totals_of("fc/layers=3,nodes=4,input=5,output=6,batch=7,mode=infer").cost;
    struct pdnn_cost fused =
        totals_of("fc/layers=3,nodes=4,input=5,output=6,batch=7,mode=infer,fuse=post-ops").cost;
    assert_int_equal(apart.flop_count, fused.flop_count);
    assert_int_equal(apart.weight_bytes, fused.weight_bytes);
    assert_int_equal(apart.activation_bytes - fused.activation_bytes, 4 * 7 * (3 * 4 * 4 + 2 * 6));
}

static void test_fc_fusion(void **state) {
    (void)state;
    check_fusion("fc/layers=2,nodes=4,input=5,output=6,batch=7,mode=train,optimizer=adam");
}

static void test_graph_groups_count(void **state) {
    (void)state;
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct pdnn_err err = {0};
    struct pdnn_group *groups;
    struct pdnn_totals totals;
    size_t n_groups;
    uint64_t nodes = 0;
    struct pdnn_cost sum = {0};
    build_graph("fc/layers=8,nodes=16,input=20,output=10,batch=4,mode=train", &arena, &graph);
    assert_int_equal(pdnn_cost_graph(&graph, &totals, &err), PDNN_OK);
    assert_int_equal(pdnn_graph_groups(&graph, &groups, &n_groups, NULL, &err), PDNN_OK);
    for (size_t g = 0; g < n_groups; g++) {
        nodes += groups[g].count;
        assert_int_equal(pdnn_cost_add(&sum, &groups[g].cost, &err), PDNN_OK);
    }
    assert_int_equal(nodes, graph.n_nodes);
    assert_memory_equal(&sum, &totals.cost, sizeof sum);
    assert_string_equal(groups[0].layer, "hidden1");
    assert_string_equal(groups[0].shape, "4x20:16x20:4x16");
    assert_string_equal(groups[3].layer, "hidden2..hidden8");
    assert_int_equal(groups[3].count, 7);
    pdnn_arena_finish(&arena);
}

/* A group that joins hidden layers and the output layer is named in the order of the pass,
 * even when it runs backwards. */
static void test_graph_groups_layers(void **state) {
    (void)state;
    static const struct {
        enum pdnn_pass pass;
        const char *layers;
    } rows[] = {
        {PDNN_FORWARD, "hidden2..output"},
        {PDNN_BACKWARD_DATA, "output..hidden2"},
        {PDNN_UPDATE, "hidden2..output"},
    };
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct pdnn_err err = {0};
    struct pdnn_group *groups;
    size_t n_groups, n_found = 0;
    build_graph("fc/layers=3,nodes=16,input=20,output=16,batch=4,mode=train", &arena, &graph);
    assert_int_equal(pdnn_graph_groups(&graph, &groups, &n_groups, NULL, &err), PDNN_OK);
    for (size_t g = 0; g < n_groups; g++) {
        const struct pdnn_node *node = &graph.nodes[groups[g].node];
        bool hidden_square = pdnn_node_in(&graph, node, 0)->dim[0] == 16 || node->op == &pdnn_op_dense;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            if (!hidden_square || groups[g].count != 3 || node->pass != rows[i].pass)
                continue;
            assert_string_equal(groups[g].layer, rows[i].layers);
            n_found++;
        }
    }
    assert_int_equal(n_found, sizeof rows / sizeof *rows);
    pdnn_arena_finish(&arena);
}

/* Matrices have the model's type; loss, labels and state keep theirs. For 16 bit
 * see tests/models/test_cast.c. */
static void test_instance_graph_dtype(void **state) {
    (void)state;
    static const char *const names[] = {"f32"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char id[128];
        snprintf(id, sizeof id, "fc/layers=2,nodes=8,input=6,output=4,batch=4,optimizer=adam,dtype=%s",
                 names[i]);
        struct pdnn_instance instance = instance_of(id);
        enum pdnn_dtype dtype = (enum pdnn_dtype)instance.setting[PDNN_SETTING_DTYPE];
        struct pdnn_arena arena = {0};
        struct pdnn_graph graph;
        struct pdnn_err err = {0};
        assert_int_equal(pdnn_instance_graph(&instance, &arena, &graph, &err), PDNN_OK);
        for (uint32_t t = 0; t < graph.n_tensors; t++) {
            const struct pdnn_tensor *tensor = &graph.tensors[t];
            enum pdnn_dtype expected = tensor->role == PDNN_ROLE_LABEL                       ? PDNN_S32
                                       : tensor->role == PDNN_ROLE_STATE || tensor->rank < 2 ? PDNN_F32
                                                                                             : dtype;
            if (tensor->dtype != expected)
                fail_msg("%s: tensor %u (%s) is %s", names[i], t, pdnn_role_name(tensor->role),
                         pdnn_dtype_name(tensor->dtype));
        }
        pdnn_arena_finish(&arena);
    }
}

/* The value with the longest text. */
static struct pdnn_value longest_value(const struct pdnn_param_def *def) {
    char buffer[PDNN_PARAM_TEXT];
    if (def->type == PDNN_PARAM_INT || def->type == PDNN_PARAM_NAME)
        return pdnn_value_of(def->max);
    if (def->type == PDNN_PARAM_LIST)
        return pdnn_list_make((int64_t[]){def->max, def->max, def->max, def->max, def->max}, PDNN_LIST_MAX);
    if (def->type == PDNN_PARAM_DECIMAL)
        return pdnn_value_of(def->max > def->min ? def->max - 1 : def->max);
    int64_t longest = 0;
    for (int64_t i = 0; def->choices[i]; i++) {
        size_t length = strlen(pdnn_param_format(def, pdnn_value_of(longest), buffer));
        longest = strlen(def->choices[i]) > length ? i : longest;
    }
    return pdnn_value_of(longest);
}

/* With one word fixed, since words determine what applies. */
static void check_longest(const struct pdnn_family_def *family, size_t param, int64_t value) {
    struct pdnn_instance instance, parsed;
    char id[PDNN_ID_TEXT];
    pdnn_instance_init(&instance, family);
    for (size_t i = 0; i < family->n_params; i++)
        instance.hyper[i] = i == param ? pdnn_value_of(value) : longest_value(&family->params[i]);
    for (size_t i = 0; i < PDNN_SETTING_COUNT; i++)
        instance.setting[i] = longest_value(&pdnn_settings[i]).number;
    instance.setting[PDNN_SETTING_MODE] = PDNN_MODE_TRAIN; /* otherwise the id omits the optimizer */
    pdnn_instance_settle(&instance);
    pdnn_instance_format(&instance, id);
    assert_int_equal(pdnn_instance_parse(id, &parsed, NULL), PDNN_OK);
    assert_memory_equal(parsed.hyper, instance.hyper, sizeof parsed.hyper);
    assert_memory_equal(parsed.setting, instance.setting, sizeof parsed.setting);
}

static void test_instance_format_longest(void **state) {
    (void)state;
    for (size_t f = 0; pdnn_family_at(f); f++) {
        const struct pdnn_family_def *family = pdnn_family_at(f);
        for (size_t i = 0; i < family->n_params; i++) {
            const char *const *choices = family->params[i].choices;
            for (int64_t value = 0; choices && choices[value]; value++)
                check_longest(family, i, value);
        }
    }
}

static void test_instance_round_trip(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"fc", "fc/layers=4,nodes=1024,input=2000,output=1000,batch=64,activation=relu,threads=2"},
        {"fc:paper-min,mode=infer,threads=1",
         "fc/layers=4,nodes=32,input=2000,output=200,batch=64,activation=relu,mode=infer,threads=1"},
    };
    for (size_t i = 0; i < 2; i++) {
        char id[PDNN_ID_TEXT], again[PDNN_ID_TEXT];
        struct pdnn_instance instance = instance_of(rows[i][0]);
        assert_string_equal(pdnn_instance_format(&instance, id), rows[i][1]);
        instance = instance_of(id);
        assert_string_equal(pdnn_instance_format(&instance, again), id);
    }
}

static void assert_same_id(const char *a, const char *b) {
    char first[PDNN_ID_TEXT], second[PDNN_ID_TEXT];
    struct pdnn_instance one = instance_of(a), other = instance_of(b);
    assert_string_equal(pdnn_instance_format(&one, first), pdnn_instance_format(&other, second));
}

/* The family goes without saying if only one has the preset, and a family may be followed by a comma. */
static void test_instance_bare_presets(void **state) {
    (void)state;
    assert_same_id("resnet50", "cnn:resnet50");
    assert_same_id("resnet50,batch=1,mode=infer", "cnn:resnet50,batch=1,mode=infer");
    assert_same_id("bert-base/length=512", "transformer:bert-base,length=512");
    assert_same_id("fc,layers=3", "fc/layers=3");
    assert_true(pdnn_instance_is_named("fc") && pdnn_instance_is_named("paper-min,x"));
    assert_true(!pdnn_instance_is_named("fcc") && !pdnn_instance_is_named("") &&
                !pdnn_instance_is_named("sweeps/fc"));
}

/* A preset with the name of a family is out of reach without its family, so it must say the same. */
static void test_presets_named_like_a_family(void **state) {
    (void)state;
    for (size_t i = 0; pdnn_family_at(i); i++) {
        const struct pdnn_family_def *family = pdnn_family_at(i);
        for (size_t k = 0; k < family->n_presets; k++) {
            char id[64];
            snprintf(id, sizeof id, "%s:%s", family->name, family->presets[k].name);
            if (pdnn_family_find(family->presets[k].name))
                assert_same_id(family->presets[k].name, id);
        }
    }
}

static void test_instance_parse_errors(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"", "unknown model"},
        {"bert", "unknown model 'bert', did you mean 'bert-base' or 'bert-large'?"},
        {"paper-max,batch=2", "paper-max is a preset of fc and rnn, write fc:paper-max or rnn:paper-max"},
        {"resnet50:vgg16", "resnet50 is a preset, key=value follows it after a comma"},
        {"VGG_16", "unknown model 'VGG_16', did you mean 'vgg16'?"},
        {"gpt2_xl", "unknown model 'gpt2_xl', did you mean 'gpt2-xl'?"},
        {"t5-smal", "unknown model 't5-smal', did you mean 't5-small'?"}, /* of the last family */
        {"ResNet-200", "unknown model 'ResNet-200', did you mean 'resnet18', 'resnet34', 'resnet50', "
                       "'resnet101' or 'resnet152'?"},
        {"lstm", "unknown model 'lstm', did you mean 'rnn/cell=lstm'?"},
        {"GRU/layers=2", "unknown model 'GRU', did you mean 'rnn/cell=gru'?"},
        {"relu", "unknown model 'relu', see 'paradnn families'"}, /* of several families */
        {"fc:ResNet-50", "fc has no preset 'ResNet-50', did you mean 'cnn:resnet50'?"},
        {"cnn:ResNet-50", "cnn has no preset 'ResNet-50', did you mean 'resnet50'?"},
        {"fc:vgg16", "fc has no preset 'vgg16', did you mean 'cnn:vgg16'?"},
        {"resnet50,", "expected key=value"},
        {"fcc", "did you mean 'fc'"},
        {"fc/", "expected key=value"},
        {"fc/layers", "not key=value"},
        {"fc/layer=3", "did you mean 'layers'"},
        {"fc/layers=0", "expected 1 to"},
        {"fc/layers=x", "whole number"},
        {"fc/layers=3,layers=4", "given twice"},
        {"fc/threads=0", "expected 1 to"},
        {"fc/mode=trian", "did you mean 'train'"},
        {"fc:nope", "no preset 'nope', see 'paradnn families fc'"},
        {"fc:paper-mn,batch=2", "no preset 'paper-mn', did you mean 'paper-min'?"},
        {"fc/zzyzx=1", "unknown key 'zzyzx' for fc, see 'paradnn families fc'"},
        {"fc/layers=99999999999999999999", "which is too large, expected 1 to 4096"},
        {"fc/layers=3,", "expected key=value"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_instance instance;
        struct pdnn_err err = {0};
        assert_int_equal(pdnn_instance_parse(rows[i][0], &instance, &err), PDNN_INVALID);
        if (!strstr(err.text, rows[i][1]))
            fail_msg("'%s': \"%s\" does not say \"%s\"", rows[i][0], err.text, rows[i][1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fc_published_params),
        cmocka_unit_test(test_fc_infer_flop),
        cmocka_unit_test(test_fc_train_matrix_flop),
        cmocka_unit_test(test_fc_flop_counts),
        cmocka_unit_test(test_cost_instance_depth),
        cmocka_unit_test(test_cost_instance_depth_of_networks),
        cmocka_unit_test(test_cost_instance_overflow),
        cmocka_unit_test(test_cost_classes_and_fusion),
        cmocka_unit_test(test_fc_fusion),
        cmocka_unit_test(test_graph_groups_count),
        cmocka_unit_test(test_graph_groups_layers),
        cmocka_unit_test(test_instance_graph_dtype),
        cmocka_unit_test(test_instance_format_longest),
        cmocka_unit_test(test_instance_round_trip),
        cmocka_unit_test(test_instance_bare_presets),
        cmocka_unit_test(test_presets_named_like_a_family),
        cmocka_unit_test(test_instance_parse_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
