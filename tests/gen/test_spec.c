#define _POSIX_C_SOURCE 200809L
/* Specs: what keys set, what overrides and ids do, and what several files share. */
#include "gen/expansion/expand.h"
#include "tests/gen/spec_file.h"

static const char model[] = "models:\n  - fc: {batch: 1}\n";

static void test_load_defaults(void **state) {
    (void)state;
    struct pdnn_spec spec;
    spec_file_must_load(model, NULL, &spec);
    assert_int_equal(strncmp(spec.name, "paradnn-test-", 13), 0);
    assert_null(strchr(spec.name, '.'));
    assert_int_equal(spec.seed, 1);
    assert_int_equal(spec.measure.rounds, 5);
    assert_true(spec.measure.precision > 0.0199 && spec.measure.precision < 0.0201);
    assert_int_equal(spec.measure.min_samples, 5);
    assert_int_equal(spec.measure.max_time_ns, 5000000000);
    assert_true(spec.measure.probe);
    assert_int_equal(spec.measure.order, PDNN_ORDER_SHUFFLED);
    assert_int_equal(spec.limits.memory_bytes, 0);
    assert_true(spec.limits.memory_fraction > 0.7499 && spec.limits.memory_fraction < 0.7501);
    assert_int_equal(spec.limits.time_ns, 60000000000);
    assert_int_equal(spec.limits.budget_ns, 0);
    assert_int_equal(spec.n_models, 1);
    pdnn_spec_finish(&spec);
}

static void test_load_all_keys(void **state) {
    (void)state;
    static const char text[] =
        "sweep: all-keys_1.2\n"
        "seed: 42\n"
        "run: {mode: infer, dtype: f32, backend: reference, threads: 1, optimizer: adam, fuse: post-ops}\n"
        "measure: {rounds: 7, precision: 0.5%, min_samples: 9, max_time: 250ms, cache: cold, probe: off,\n"
        "          order: cost}\n"
        "limits: {memory: 12GiB, time: 2m, budget: 3h, reach: smallest}\n"
        "models: [{fc: {batch: 1}}]\n";
    struct pdnn_spec spec;
    spec_file_must_load(text, NULL, &spec);
    assert_string_equal(spec.name, "all-keys_1.2");
    assert_int_equal(spec.seed, 42);
    assert_int_equal(spec.measure.rounds, 7);
    assert_true(spec.measure.precision > 0.00499 && spec.measure.precision < 0.00501);
    assert_int_equal(spec.measure.min_samples, 9);
    assert_int_equal(spec.measure.max_time_ns, 250000000);
    assert_false(spec.measure.probe);
    assert_int_equal(spec.measure.order, PDNN_ORDER_COST);
    assert_int_equal(spec.limits.memory_bytes, UINT64_C(12) << 30);
    assert_int_equal(spec.limits.time_ns, UINT64_C(120000000000));
    assert_int_equal(spec.limits.budget_ns, UINT64_C(3) * 3600 * 1000000000);
    assert_int_equal(spec.limits.reach, PDNN_SPEC_REACH_SMALLEST);
    pdnn_spec_finish(&spec);
}

static void test_load_overrides(void **state) {
    (void)state;
    static const struct {
        const char *set, *message; /* "" if it must work */
    } rows[] = {
        {"measure.rounds=3", ""},
        {"run.mode=[infer, train]", ""},
        {"run={mode: infer}", ""},
        {"seed=7", ""},
        {"models.0.fc.batch=64", ""},
        {"models.0.fc.batch={from: 1, to: 8, times: 2}", ""},
        {"models.0.where=batch > 1 and nodes == 4", ""},
        {"models.0.sample={count: 3, method: sobol}", ""},
        {"models.0.fc={preset: paper-min, batch: 2}", ""},
        {"measure.cache=cold", ""},
        {"", "--set : expected key=value, such as measure.rounds=3"},
        {"seed", "--set seed: expected key=value, such as measure.rounds=3"},
        {"=3", "--set =3: expected key=value, such as measure.rounds=3"},
        {"measure..rounds=3", "--set measure..rounds=3: the key is words with dots between, at most 8"},
        {"measure.rounds=", "--set measure.rounds=: no value"},
        {"measure.rouns=3", "--set measure.rouns=3: unknown key 'rouns' in measure, did you mean 'rounds'?"},
        {"mesure.rounds=3", "--set mesure.rounds=3: unknown key 'mesure' in a spec, did you mean 'measure'?"},
        {"seed.x=3", "--set seed.x=3: nothing can be set below 'seed', it is a single value"},
        {"models.1.fc.batch=3",
         "--set models.1.fc.batch=3: there is no model number 1, there are 1 and the first is 0"},
        {"models=3", "--set models=3: models are set one by one: models.0.<family>.<key>=value"},
        {"models.fc.batch=3",
         "--set models.fc.batch=3: models are set one by one: --set models.0.fc.batch=3"},
        {"fc.batch=3", "--set fc.batch=3: models are set one by one: --set models.0.fc.batch=3"},
        {"models.rnn.batch=3",
         "--set models.rnn.batch=3: models are set one by one: models.0.<family>.<key>=value"},
        {"nodes=3", "--set nodes=3: unknown key 'nodes' in a spec, it is a hyper-parameter of fc: --set "
                    "models.0.fc.nodes=3"},
        {"cell=gru", "--set cell=gru: unknown key 'cell' in a spec, it is a hyper-parameter of rnn"},
        {"threads=2",
         "--set threads=2: unknown key 'threads' in a spec, it belongs under run: --set run.threads=2"},
        {"run.rounds=2", "--set run.rounds=2: unknown key 'rounds' in run, it belongs under measure"},
        {"fc=2", "--set fc=2: unknown key 'fc' in a spec, it is a model: write '- fc: {...}' under models"},
        {"models.0.zipp=2", "--set models.0.zipp=2: unknown key 'zipp' in a model, did you mean 'zip'?"},
        {"models.0.fc.batch.9=3",
         "--set models.0.fc.batch.9=3: nothing can be set below 'batch', it is a single value"},
        {"models.0.ResNet-50.batch=3",
         "--set models.0.ResNet-50.batch=3: unknown key 'ResNet-50' in a model, did you mean 'resnet50'?"},
        {"models.0.lstm.batch=3",
         "--set models.0.lstm.batch=3: unknown key 'lstm' in a model, did you mean 'rnn: {cell: lstm}'?"},
        {"models.0.fc.bath=3", "--set models.0.fc.bath=3: unknown key 'bath' in fc, did you mean 'batch'?"},
        {"run.mode=[infer",
         "--set run.mode=[infer: not YAML: while parsing a flow sequence, did not find expected ',' or ']'"},
        {"models.0.where=batch > 1 ? nodes == 4 : nodes == 8",
         "--set models.0.where=batch > 1 ? nodes == 4 : nodes == 8: where is c ? a : b, which is a map in YAML: "
         "put it in quotes"},
        {"models.0.where='batch > 1 ? nodes == 4 : nodes == 8'", ""},
        {"models.0.where={batch: 1}",
         "--set models.0.where={batch: 1}: where takes a single value, not a map"},
        {"models.0.where=bath > 1",
         "--set models.0.where=bath > 1: where names 'bath', did you mean 'batch'?"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_spec spec;
        struct pdnn_err err = {0};
        static const char text[] = "seed: 1\nmodels:\n  - fc: {batch: 1}\n";
        if (spec_file_load(text, rows[i].set, &spec, &err) == PDNN_OK)
            pdnn_spec_finish(&spec);
        assert_string_equal(err.text, rows[i].message);
    }
}

static void test_load_override_values(void **state) {
    (void)state;
    struct pdnn_spec spec;
    spec_file_must_load(model, "measure.rounds=3", &spec);
    assert_int_equal(spec.measure.rounds, 3);
    pdnn_spec_finish(&spec);
    spec_file_must_load("limits: {budget: 2h, time: 1s}\nmodels:\n  - fc: {batch: 1}\n", "limits.budget=none",
                        &spec);
    assert_int_equal(spec.limits.budget_ns, 0);
    assert_int_equal(spec.limits.time_ns, 1000000000);
    pdnn_spec_finish(&spec);
}

/* The ids of all instances, one per line. */
static void list_ids(const struct pdnn_spec *spec, char *text, size_t room) {
    struct pdnn_expand *expand = NULL;
    expand = pdnn_expand_create(spec, 2, false);
    size_t used = 0;
    for (;;) {
        struct pdnn_expanded item;
        bool done;
        char id[PDNN_ID_TEXT];
        assert_int_equal(pdnn_expand_next(expand, &item, &done, NULL), PDNN_OK);
        if (done)
            break;
        used += (size_t)snprintf(text + used, room - used, "%s\n", pdnn_instance_format(&item.instance, id));
        assert_true(used < room);
    }
    pdnn_expand_destroy(expand);
}

static void test_load_several(void **state) {
    (void)state;
    char a[SPEC_FILE_PATH], b[SPEC_FILE_PATH], ids[2048] = "";
    static const char text_a[] =
        "sweep: first\nseed: 3\nrun: {mode: infer, threads: 1}\nmodels:\n  - fc: {batch: 1}\n";
    static const char text_b[] = "sweep: second\nseed: 4\nrun: {optimizer: sgd}\nmeasure: {cache: cold, "
                                 "rounds: 9}\nmodels:\n  - fc: {batch: 2}";
    spec_file_write(text_a, strlen(text_a), a);
    spec_file_write(text_b, strlen(text_b), b);
    const char *arguments[] = {a, b, "fc:paper-min,mode=infer"};
    const char *sets[] = {"models.1.fc.nodes=5", "models.2.fc.nodes=6", "run.dtype=f32"};
    struct pdnn_spec spec;
    struct pdnn_err err = {0};
    if (pdnn_spec_load(arguments, 3, sets, 3, &spec, &err) != PDNN_OK)
        fail_msg("%s", err.text);
    assert_string_equal(spec.name, "first");
    assert_int_equal(spec.seed, 3);
    assert_int_equal(spec.measure.rounds, 5);
    list_ids(&spec, ids, sizeof ids);
    assert_string_equal(
        ids,
        "fc/layers=4,nodes=1024,input=2000,output=1000,batch=1,activation=relu,mode=infer,threads=1\n"
        "fc/layers=4,nodes=5,input=2000,output=1000,batch=2,activation=relu,optimizer=sgd,threads=2,cache=cold\n"
        "fc/layers=4,nodes=6,input=2000,output=200,batch=64,activation=relu,mode=infer,threads=2\n");
    pdnn_spec_finish(&spec);
    unlink(a);
    unlink(b);
}

static void test_load_ids(void **state) {
    (void)state;
    static const struct {
        const char *argument, *message; /* "" if it must work */
    } rows[] = {
        {"fc", ""},
        {"fc/batch=3", ""},
        {"fc:paper-max", ""},
        {"fc/batch=3,cache=cold,threads=all,fuse=post-ops", ""},
        {"fcc/batch=3", "'fcc/batch=3': unknown model 'fcc', did you mean 'fc'?"},
        {"resnet50", ""},
        {"bert-base,length=512", ""},
        {"fc,batch=2", ""},
        {"paper-min",
         "'paper-min': paper-min is a preset of fc and rnn, write fc:paper-min or rnn:paper-min"},
        {"resnet", "unknown model 'resnet', did you mean 'resnet18', 'resnet34', 'resnet50', 'resnet101' or "
                   "'resnet152'?"},
        {"resnet200", "unknown model 'resnet200', did you mean 'resnet18', 'resnet34', 'resnet50', "
                      "'resnet101' or 'resnet152'?"},
        {"vgg61", "unknown model 'vgg61', did you mean 'vgg11', 'vgg13', 'vgg16' or 'vgg19'?"},
        {"ResNet-50", "unknown model 'ResNet-50', did you mean 'resnet50'?"},
        {"perceiver", "unknown model 'perceiver', see 'paradnn families'"},
        {"table.csv", "table.csv: is a table, expected a spec or an ID"},
        {"fc/bath=3", "'fc/bath=3': unknown key 'bath' for fc, did you mean 'batch'?"},
        {"fc/batch=0", "'fc/batch=0': batch is 0, expected 1 to 16777216"},
        {"cnn:resnet50,batch=1", ""},
        {"cnn/block=plain,padding=1-0,dense=8-8", ""},
        {"cnn/image=32,blocks=1-2-3-4-5-6",
         "'cnn/image=32,blocks=1-2-3-4-5-6': blocks is '1-2-3-4-5-6', expected up to 5 numbers"},
        {"cnn:vgg16,stride_on=1x1", "'cnn:vgg16,stride_on=1x1': stride_on does not apply to cnn with "
                                    "block=plain, only with block=bottleneck"},
        {"fc.yaml", "fc.yaml: No such file or directory"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_spec spec;
        struct pdnn_err err = {0};
        if (pdnn_spec_load(&rows[i].argument, 1, NULL, 0, &spec, &err) == PDNN_OK) {
            assert_null(spec.name);
            pdnn_spec_finish(&spec);
        }
        assert_string_equal(err.text, rows[i].message);
    }
}

static void check_id(const char *text, const char *argument) {
    char got[PDNN_ID_TEXT], expected[PDNN_ID_TEXT];
    struct pdnn_instance instance;
    struct pdnn_expanded item;
    struct pdnn_expand *expand = NULL;
    struct pdnn_spec spec;
    struct pdnn_err err = {0};
    bool done = false;
    assert_int_equal(pdnn_instance_parse(argument, &instance, &err), PDNN_OK);
    pdnn_instance_resolve(&instance, 2);
    if (spec_file_load(text, "seed=1", &spec, &err) != PDNN_OK)
        fail_msg("%s", err.text);
    expand = pdnn_expand_create(&spec, 2, true);
    assert_int_equal(pdnn_expand_next(expand, &item, &done, &err), PDNN_OK);
    assert_string_equal(pdnn_instance_format(&item.instance, got), pdnn_instance_format(&instance, expected));
    pdnn_expand_destroy(expand);
    pdnn_spec_finish(&spec);
}

/* A preset as the key of a model is the same as `preset` under its family. */
static void test_load_presets(void **state) {
    (void)state;
    check_id("models: [{resnet50: {batch: 2}}]\n", "cnn:resnet50,batch=2");
    check_id("models: [{cnn: {preset: resnet50, batch: 2}}]\n", "cnn:resnet50,batch=2");
    check_id("models:\n  - bert-base:\n", "transformer:bert-base");
    check_id("models:\n  - gnmt:\n", "gnmt:gnmt");
}

static void test_load_nothing(void **state) {
    (void)state;
    struct pdnn_spec spec;
    assert_int_equal(pdnn_spec_load(NULL, 0, NULL, 0, &spec, NULL), PDNN_INVALID);
}

static void load_mutated(const char *text, int n_rounds) {
    static const char marks[] = "[]{}:-,&*!|>'\"#% \n\t0aZ\xc3";
    size_t size = strlen(text) + 1;
    unsigned seed = 7;
    for (int round = 0; round < n_rounds; round++) {
        char copy[512];
        assert_true(size < sizeof copy);
        seed = seed * 1103515245u + 12345u;
        size_t at = (seed >> 8) % (size - 1);
        seed = seed * 1103515245u + 12345u;
        char mark = marks[(seed >> 8) % (sizeof marks - 1)];
        memcpy(copy, text, size);
        if (round % 3 == 0)
            copy[at] = mark;
        else if (round % 3 == 1)
            memmove(copy + at, copy + at + 1, size - at - 1);
        else
            memmove(copy + at + 1, copy + at, size - at);
        struct pdnn_spec spec;
        struct pdnn_err err = {0};
        if (spec_file_load(copy, NULL, &spec, &err) == PDNN_OK)
            pdnn_spec_finish(&spec);
        else
            assert_int_equal(strncmp(err.text, "/tmp/paradnn-test-", 18), 0);
    }
}

/* A valid spec with one byte changed, removed or doubled either loads or is refused with a position. */
static void test_load_mutated(void **state) {
    (void)state;
    load_mutated("sweep: m\nrun: {mode: [infer, train], threads: all}\nmeasure: {rounds: 3, precision: 2%}\n"
                 "models:\n  - fc:\n      batch: {from: 1, to: 64, times: 2}\n      nodes: [8, 16]\n"
                 "      input: [4, 5]\n"
                 "    zip: [[nodes, input]]\n    where: batch * nodes <= 1e3 and memory < 1GiB\n"
                 "    sample: {count: 4, method: sobol}\n",
                 3000);
    load_mutated("run: {algorithm: [auto, direct]}\n"
                 "models:\n  - cnn:\n      preset: vgg16\n      block: [plain, residual]\n"
                 "      blocks: [[3, 4, 6, 3], 2, 1-2-512]\n      padding: [same, [0, 1], 2-3]\n"
                 "      dense: none\n    where: blocks != 3-4-6-3 and padding == same or dense == 16-8\n",
                 3000);
}

/* One setting that says how models run, with 2 to 4 values, is compared in pairs unless the spec says else.
 */
static void test_load_order(void **state) {
    static const struct {
        const char *text;
        enum pdnn_order order;
        int64_t rounds;
        uint64_t max_time_s, sides;
    } rows[] = {
        {"run: {mode: [infer, train]}", PDNN_ORDER_SHUFFLED, 5, 5, 1},
        {"run: {fuse: [none, post-ops], mode: [infer, train]}", PDNN_ORDER_PAIRED, 8, 60, 2},
        {"run: {threads: [1, 2, 3, 4]}", PDNN_ORDER_PAIRED, 8, 60, 4},
        {"run: {threads: [1, 2, 3, 4, 5]}", PDNN_ORDER_SHUFFLED, 5, 5, 1},
        {"run: {threads: [1, 2], fuse: [none, post-ops]}", PDNN_ORDER_SHUFFLED, 5, 5, 1},
        {"run: {fuse: [none, post-ops]}\nmeasure: {rounds: 3, max_time: 2s}", PDNN_ORDER_PAIRED, 3, 2, 2},
        {"run: {fuse: [none, post-ops]}\nmeasure: {order: shuffled}", PDNN_ORDER_SHUFFLED, 5, 5, 1},
        {"run: {fuse: [none, post-ops]}\nmeasure: {order: cost}", PDNN_ORDER_COST, 5, 5, 1},
        {"run: {fuse: [none, post-ops]}\nmeasure: {order: paired}", PDNN_ORDER_PAIRED, 8, 60, 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_spec spec;
        char text[256];
        snprintf(text, sizeof text, "%s\nmodels: [{fc: {batch: [1, 2]}}]\n", rows[i].text);
        spec_file_must_load(text, NULL, &spec);
        assert_int_equal(spec.measure.order, rows[i].order);
        assert_int_equal(spec.measure.rounds, rows[i].rounds);
        assert_int_equal(spec.measure.max_time_ns, rows[i].max_time_s * 1000000000);
        assert_int_equal(spec.measure.sides, rows[i].sides);
        pdnn_spec_finish(&spec);
    }
    /* A zipped setting does not vary alone. */
    struct pdnn_spec spec;
    spec_file_must_load("run: {threads: [1, 2]}\nmodels: [{fc: {batch: [1, 2]}, zip: [[batch, threads]]}]",
                        NULL, &spec);
    assert_int_equal(spec.measure.order, PDNN_ORDER_SHUFFLED);
    pdnn_spec_finish(&spec);
    /* Where some model has one value only, pairs are for those who ask for them. */
    spec_file_must_load("run: {threads: [1, 2]}\nmodels: [{fc: {}}]\n---\nmodels: [{fc: {nodes: 64}}]", NULL,
                        &spec);
    assert_int_equal(spec.measure.order, PDNN_ORDER_SHUFFLED);
    pdnn_spec_finish(&spec);
    spec_file_must_load(
        "measure: {order: paired}\nrun: {threads: [1, 2]}\nmodels: [{fc: {}}]\n---\nrun: {threads: 3}\nmodels: [{fc: {}}]",
        NULL, &spec);
    assert_int_equal(spec.measure.order, PDNN_ORDER_PAIRED);
    assert_int_equal(spec.measure.sides, 3);
    pdnn_spec_unpair(&spec);
    assert_int_equal(spec.measure.order, PDNN_ORDER_SHUFFLED);
    assert_int_equal(spec.measure.rounds, 5);
    assert_int_equal(spec.measure.max_time_ns, UINT64_C(5000000000));
    assert_int_equal(spec.measure.sides, 1);
    pdnn_spec_finish(&spec);
    /* Models that are alike are one group, whichever entry has them. */
    spec_file_must_load(
        "run: {threads: [1, 2]}\nmodels: [{fc: {}}]\n---\nrun: {threads: [3, 4, 5]}\nmodels: [{fc: {}}]",
        NULL, &spec);
    assert_int_equal(spec.measure.order, PDNN_ORDER_SHUFFLED);
    pdnn_spec_finish(&spec);
}

/* Libraries are compared, all of them unless something says which. */
static void test_load_libraries(void **state) {
    static const char head[] = "libraries: {old: o, new: /n}\n";
    static const struct {
        const char *rest;
        enum pdnn_order order;
        uint64_t sides;
    } rows[] = {
        {"models: [{fc: {}}]", PDNN_ORDER_PAIRED, 2},
        {"run: {library: [default, new]}\nmodels: [{fc: {}}]", PDNN_ORDER_PAIRED, 2},
        {"run: {library: new}\nmodels: [{fc: {}}]", PDNN_ORDER_SHUFFLED, 1},
        {"run: {fuse: [none, post-ops]}\nmodels: [{fc: {}}]", PDNN_ORDER_SHUFFLED, 1},
        {"models: [{fc: {}, rows: {columns: [library, batch], values: [[old, 1], [new, 2]]}}]",
         PDNN_ORDER_SHUFFLED, 1},
    };
    char text[256];
    struct pdnn_spec spec;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(text, sizeof text, "%s%s", head, rows[i].rest);
        spec_file_must_load(text, NULL, &spec);
        assert_int_equal(spec.measure.order, rows[i].order);
        assert_int_equal(spec.measure.sides, rows[i].sides);
        assert_int_equal(spec.libraries.count, 2);
        assert_string_equal(spec.libraries.row[0].directory, "/tmp/o");
        assert_string_equal(spec.libraries.row[1].directory, "/n");
        pdnn_spec_finish(&spec);
    }
    /* A name may have dots; what is given last holds; an id has no say unless it names one. */
    const char *id = "fc/nodes=64", *with = "fc/nodes=64,library=3.7",
               *sets[] = {"libraries.3.7=a", "libraries.new=/b", "libraries.3.7='/c'"};
    assert_int_equal(pdnn_spec_load(&id, 1, sets, 3, &spec, NULL), PDNN_OK);
    assert_int_equal(spec.libraries.count, 2);
    assert_string_equal(spec.libraries.row[0].directory, "/c");
    assert_int_equal(spec.measure.sides, 2);
    pdnn_spec_finish(&spec);
    assert_int_equal(pdnn_spec_load(&with, 1, sets, 3, &spec, NULL), PDNN_OK);
    assert_int_equal(spec.measure.sides, 1);
    pdnn_spec_finish(&spec);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load_defaults),  cmocka_unit_test(test_load_all_keys),
        cmocka_unit_test(test_load_overrides), cmocka_unit_test(test_load_override_values),
        cmocka_unit_test(test_load_several),   cmocka_unit_test(test_load_ids),
        cmocka_unit_test(test_load_presets),   cmocka_unit_test(test_load_nothing),
        cmocka_unit_test(test_load_mutated),   cmocka_unit_test(test_load_order),
        cmocka_unit_test(test_load_libraries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
