#define _POSIX_C_SOURCE 200809L
/* The walk over a spec's instances: order, axes, zip, where, samples, what
 * collapses, and the published sweep. */
#include "gen/expansion/walk.h"
#include "models/zoo/catalog.h"
#include "tests/gen/spec_file.h"

enum { TEXT_ROOM = 8192 };

/* The value as written in ids; "" if the family has no such parameter or if it does not apply. */
static const char *value_of(const struct pdnn_instance *instance, const char *name,
                            char buffer[PDNN_PARAM_TEXT]) {
    const struct pdnn_family_def *family = instance->family;
    int row = pdnn_param_find(family->params, family->n_params, name);
    if (row >= 0)
        return pdnn_hyper_applies(instance, (size_t)row)
                   ? pdnn_param_format(&family->params[row], instance->hyper[row], buffer)
                   : "";
    row = pdnn_param_find(pdnn_settings, PDNN_SETTING_COUNT, name);
    return row >= 0 && pdnn_setting_applies(instance, (enum pdnn_setting)row)
               ? pdnn_param_format(&pdnn_settings[row], pdnn_value_of(instance->setting[row]), buffer)
               : "";
}

/* One line per instance: the values of the given names, without the rest of the
 * id; "-" before a filtered one. */
static void list_values(const char *text, int64_t threads, const char *const *names, char *lines,
                        size_t room) {
    struct pdnn_spec spec;
    struct pdnn_walk walk = {0};
    struct pdnn_expanded item;
    struct pdnn_err err = {0};
    enum pdnn_status status;
    spec_file_must_load(text, NULL, &spec);
    pdnn_walk_start(&walk, &spec, threads, false);
    size_t used = 0;
    lines[0] = 0;
    while (pdnn_walk_next(&walk, &item, &status, &err)) {
        used += (size_t)snprintf(lines + used, room - used, "%s", item.filtered ? "-" : "");
        for (size_t i = 0; names[i]; i++) {
            char value[PDNN_PARAM_TEXT];
            used += (size_t)snprintf(lines + used, room - used, "%s%s", i ? " " : "",
                                     value_of(&item.instance, names[i], value));
        }
        used += (size_t)snprintf(lines + used, room - used, "; ");
        assert_true(used < room);
    }
    if (status != PDNN_OK)
        fail_msg("%s", err.text);
    pdnn_walk_finish(&walk);
    pdnn_spec_finish(&spec);
}

struct golden {
    const char *text, *names[4], *lines;
};

static const struct golden goldens[] = {
    {"models: [{fc: {batch: 3}}]", {"batch", "layers"}, "3 4; "},
    {"models: [{fc: }]", {"batch"}, "64; "},
    {"models: [{fc: {batch: [4, 1, 2]}}]", {"batch"}, "4; 1; 2; "},
    {"models: [{fc: {batch: {from: 2, to: 9, plus: 3}}}]", {"batch"}, "2; 5; 8; "},
    {"models: [{fc: {batch: {from: 2, to: 8, plus: 3}}}]", {"batch"}, "2; 5; 8; "},
    {"models: [{fc: {batch: {from: 7, to: 7, plus: 3}}}]", {"batch"}, "7; "},
    {"models: [{fc: {batch: {from: 2, to: 1024, times: 4}}}]", {"batch"}, "2; 8; 32; 128; 512; "},
    {"models: [{fc: {batch: {from: 1, to: 16777216, times: 4096}}}]", {"batch"}, "1; 4096; 16777216; "},
    {"models: [{fc: {batch: [1, 2], nodes: [3, 4]}}]", {"batch", "nodes"}, "1 3; 1 4; 2 3; 2 4; "},
    {"models: [{fc: {nodes: [3, 4], batch: [1, 2]}}]", {"batch", "nodes"}, "1 3; 2 3; 1 4; 2 4; "},
    {"models: [{fc: {nodes: 3}}, {fc: {nodes: [1, 3]}}]", {"nodes"}, "3; 1; "},
    {"models: [{fc: {batch: [1, 2]}}]\nrun: {mode: [train, infer]}",
     {"batch", "mode"},
     "1 train; 2 train; 1 infer; 2 infer; "},
    {"models: [{fc: {activation: [tanh, relu]}}]", {"activation"}, "tanh; relu; "},
    {"models: [{fc: {preset: paper-min, batch: [1, 2]}}]", {"batch", "output"}, "1 200; 2 200; "},
    {"models: [{fc: {batch: 5, preset: paper-min}}]", {"batch", "nodes"}, "5 32; "},
    {"models: [{fc: {input: [1, 2], batch: [7, 8], output: [3, 4]}, zip: [[input, output]]}]",
     {"input", "batch", "output"},
     "1 7 3; 1 8 3; 2 7 4; 2 8 4; "},
    {"models: [{fc: {input: [1, 2], output: [3, 4], batch: [7, 8], nodes: {from: 1, to: 2, plus: 1}},\n"
     "          zip: [[output, input], [nodes, batch]]}]",
     {"input", "output", "batch", "nodes"},
     "1 3 7 1; 1 3 8 2; 2 4 7 1; 2 4 8 2; "},
    {"models: [{fc: {batch: [7, 8]}, zip: [[batch, threads]]}]\nrun: {threads: [1, 2]}",
     {"batch", "threads"},
     "7 1; 8 2; "},
    {"models: [{fc: {batch: [1, 2, 3]}, where: batch != 2}]", {"batch"}, "1; -2; 3; "},
    {"models: [{fc: {nodes: [1, 100], batch: 1}, where: params > 100000}]", {"nodes"}, "-1; 100; "},
    {"models: [{fc: {batch: [1, 2]}, sample: {method: all}}]", {"batch"}, "1; 2; "},
    {"models: [{cnn: {blocks: [3, 2-1, [3, 4, 6, 3], [5]]}}]", {"blocks"}, "3; 2-1; 3-4-6-3; 5; "},
    {"models: [{cnn: {blocks: [[3, 4, 6, 3]], batch: 1}}]", {"blocks"}, "3-4-6-3; "},
    {"models: [{cnn: {blocks: 3-4-6-3, batch: [1, 2]}}]", {"blocks", "batch"}, "3-4-6-3 1; 3-4-6-3 2; "},
    {"models: [{cnn: {blocks: {from: 1, to: 8, plus: 3}}}]", {"blocks"}, "1; 4; 7; "},
    {"models: [{cnn: {block: plain, padding: [same, 0, [2, 1]], image: 64}}]", {"padding"}, "1; 0; 2-1; "},
    {"models: [{rnn: {embedding: [64, 128], hidden: [embedding, 96]}, where: hidden > 100}]",
     {"embedding", "hidden"},
     "-64 64; -64 96; 128 128; -128 96; "},
    {"models: [{cnn: {block: [residual, plain], kernel: [5, 3], image: 64}}]",
     {"block", "kernel"},
     "residual ; plain 5; plain 3; "},
    {"models: [{cnn: {kernel: [3, 5], block: [plain, bottleneck], stride_on: [3x3, 1x1], image: 64}}]",
     {"block", "kernel", "stride_on"},
     "plain 3 ; bottleneck  3x3; bottleneck  1x1; plain 5 ; "},
    {"models: [{cnn: {preset: vgg16, block: [residual, plain], blocks: 1, image: 64}}]",
     {"block", "dense"},
     "residual ; plain 4096-4096; "},
    {"models: [{cnn: {block: [residual, plain], kernel: [3, 5], image: 64}, zip: [[block, kernel]]}]",
     {"block", "kernel"},
     "residual ; plain 5; "},
    {"models: [{cnn: {block: [residual, plain], kernel: [3, 5], window: [0, 3], image: 64},\n"
     "          zip: [[kernel, window]]}]",
     {"block", "kernel", "window"},
     "residual  ; plain 3 0; plain 5 3; "},
    {"run: {algorithm: [auto, direct]}\nmodels: [{fc: {batch: [1, 2]}}, {cnn: {image: 64}}]",
     {"batch", "algorithm"},
     "1 ; 2 ; 64 auto; 64 direct; "},
    {"models: [{cnn: {blocks: [[3, 4, 6, 3], 2], image: 64}, where: blocks != 3-4-6-3}]",
     {"blocks"},
     "-3-4-6-3; 2; "},
    {"run: {mode: [infer, train], optimizer: [sgd, adam]}\nmodels: [{fc: }]",
     {"mode", "optimizer"},
     "infer ; train sgd; train adam; "},
    {"run: {optimizer: [sgd, adam], mode: infer}\nmodels: [{fc: }]", {"mode", "optimizer"}, "infer ; "},
    {"run: {mode: [infer, train], optimizer: [sgd, adam]}\nmodels: [{fc: , zip: [[mode, optimizer]]}]",
     {"mode", "optimizer"},
     "infer ; train adam; "},
    {"run: {threads: [2, all, 1]}\nmodels: [{fc: }]", {"threads"}, "2; 1; "},
    {"run: {threads: [all, 1, 2]}\nmodels: [{fc: }]", {"threads"}, "2; 1; "},
    {"run: {threads: [1, all]}\nmodels: [{fc: }]", {"threads"}, "1; 2; "},
    {"measure: {cache: [cold, warm]}\nmodels: [{fc: {batch: [1, 2]}}]",
     {"cache", "batch"},
     "cold 1; cold 2; warm 1; warm 2; "},
    {"models: [{fc: &m {batch: [1, 2], nodes: &n [5]}}, {fc: *m}]", {"batch", "nodes"}, "1 5; 2 5; "},
    {"models: [{fc: , rows: {columns: [nodes, batch], values: [[64, 16], [128, 8], [64, 16], [64, 16]]}}]",
     {"nodes", "batch"},
     "64 16; 128 8; "},
    {"models: [{fc: {nodes: [64, 128]}, where: nodes < 100}, {fc: {nodes: [128, 64, 8]}, where: nodes > 10}]",
     {"nodes"},
     "64; 128; -8; "},
    {"run: {threads: [1, all]}\nmodels: [{fc: {batch: [1, 8]}, where: threads > 1 or batch > 4}]",
     {"batch", "threads"},
     "-1 1; 8 1; 1 2; 8 2; "},
};

static void test_next_golden(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof goldens / sizeof *goldens; i++) {
        char lines[TEXT_ROOM];
        const char *names[5] = {goldens[i].names[0], goldens[i].names[1], goldens[i].names[2],
                                goldens[i].names[3], NULL};
        list_values(goldens[i].text, 2, names, lines, sizeof lines);
        if (strcmp(lines, goldens[i].lines) != 0)
            fail_msg("%s\nexpected %s\nbut was  %s", goldens[i].text, goldens[i].lines, lines);
    }
}

struct walk {
    uint64_t instances, filtered, flop;
};

/* Walks all instances; every id must parse back to the same instance. */
static struct walk walk_all(const struct pdnn_spec *spec) {
    struct pdnn_expand *expand = NULL;
    struct pdnn_err err = {0};
    struct walk walk = {0};
    expand = pdnn_expand_create(spec, 2, false);
    for (;;) {
        struct pdnn_expanded item;
        struct pdnn_instance parsed;
        bool done;
        char id[PDNN_ID_TEXT], again[PDNN_ID_TEXT];
        if (pdnn_expand_next(expand, &item, &done, &err) != PDNN_OK)
            fail_msg("%s", err.text);
        if (done)
            break;
        pdnn_instance_format(&item.instance, id);
        assert_int_equal(pdnn_instance_parse(id, &parsed, NULL), PDNN_OK);
        assert_string_equal(pdnn_instance_format(&parsed, again), id);
        assert_memory_equal(parsed.hyper, item.instance.hyper, sizeof parsed.hyper);
        assert_true(item.totals.params > 0 && item.totals.cost.flop_count > 0);
        assert_string_equal(item.reason, item.filtered ? "mod(nodes, 3) == 0" : "");
        walk.instances++;
        walk.flop += item.totals.cost.flop_count;
        walk.filtered += item.filtered;
    }
    pdnn_expand_destroy(expand);
    return walk;
}

static const char paper[] = "run: {mode: train, optimizer: rmsprop}\n"
                            "models:\n"
                            "  - fc:\n"
                            "      layers: {from: 4, to: 128, times: 2}\n"
                            "      nodes: {from: 32, to: 8192, times: 2}\n"
                            "      input: {from: 2000, to: 8000, plus: 2000}\n"
                            "      output: {from: 200, to: 1000, plus: 200}\n"
                            "      batch: {from: 64, to: 16384, times: 2}\n";

static void test_next_published_sweep(void **state) {
    (void)state;
    struct pdnn_spec spec;
    spec_file_must_load(paper, NULL, &spec);
    assert_int_equal(walk_all(&spec).instances, 9720);
    pdnn_spec_finish(&spec);
}

static const char paper_cnn[] = "run: {mode: train, optimizer: rmsprop}\n"
                                "models:\n"
                                "  - cnn:\n"
                                "      block: [residual, bottleneck]\n"
                                "      blocks: {from: 1, to: 8, plus: 1}\n"
                                "      filters: {from: 16, to: 64, times: 2}\n"
                                "      image: {from: 200, to: 300, plus: 50}\n"
                                "      output: {from: 500, to: 1500, plus: 500}\n"
                                "      batch: {from: 64, to: 1024, times: 2}\n"
                                "      pool: 7x7\n";

static void test_next_published_cnn_sweep(void **state) {
    (void)state;
    struct pdnn_spec spec;
    spec_file_must_load(paper_cnn, NULL, &spec);
    struct walk walk = walk_all(&spec);
    assert_int_equal(walk.instances, 2 * 1080);
    assert_int_equal(walk.flop, UINT64_C(13183266962575344));
    pdnn_spec_finish(&spec);
}

static const char wide[] =
    "run: {mode: [infer, train], optimizer: [sgd, momentum, rmsprop, adam], threads: [1, all]}\n"
    "models:\n"
    "  - fc:\n"
    "      layers: {from: 1, to: 50, plus: 1}\n"
    "      nodes: {from: 1, to: 1000000, plus: 7}\n"
    "      input: {from: 1, to: 1000000, plus: 1}\n"
    "      output: [1, 10, 100]\n"
    "      activation: [relu, sigmoid, tanh]\n"
    "      batch: {from: 1, to: 8192, times: 2}\n"
    "    where: mod(nodes, 3) == 0\n"
    "    sample: {count: 500, method: random}\n";

static void test_next_samples(void **state) {
    (void)state;
    static const char *const sets[] = {NULL, "models.0.sample.method=sobol", "seed=99"};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        struct pdnn_spec spec;
        spec_file_must_load(wide, sets[i], &spec);
        struct walk walk = walk_all(&spec);
        assert_int_equal(walk.instances, 500);
        assert_int_equal(walk.filtered, 0);
        pdnn_spec_finish(&spec);
    }
}

static uint64_t count_instances(const char *text, const char *set) {
    struct pdnn_spec spec;
    spec_file_must_load(text, set, &spec);
    uint64_t count = walk_all(&spec).instances;
    pdnn_spec_finish(&spec);
    return count;
}

/* The space has fewer points than requested: all that `where` keeps appear, each once. */
static void test_next_sample_larger_than_the_space(void **state) {
    (void)state;
    static const char *const methods[] = {"models.0.sample.method=random", "models.0.sample.method=sobol"};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(
            count_instances("models:\n  - fc: {batch: [1, 2, 3], nodes: {from: 1, to: 30, plus: 1}}\n"
                            "    where: mod(nodes, 3) == 0\n    sample: {count: 1000}\n",
                            methods[i]),
            30);
        assert_int_equal(count_instances("run: {mode: [infer, train], optimizer: [sgd, adam, rmsprop]}\n"
                                         "models:\n  - fc: {batch: [1, 2]}\n    sample: {count: 1000}\n",
                                         methods[i]),
                         2 * (1 + 3));
        assert_int_equal(
            count_instances("models:\n  - cnn: {block: [residual, plain], kernel: [2, 3, 5], image: 64}\n"
                            "    sample: {count: 1000}\n",
                            methods[i]),
            1 + 3);
    }
}

static void test_next_sample_is_a_prefix_of_a_longer_one(void **state) {
    (void)state;
    static const char *const counts[] = {"models.0.sample.count=5", "models.0.sample.count=50"};
    struct pdnn_expanded items[2][5];
    for (size_t i = 0; i < 2; i++) {
        struct pdnn_spec spec;
        struct pdnn_expand *expand = NULL;
        spec_file_must_load(wide, counts[i], &spec);
        expand = pdnn_expand_create(&spec, 2, false);
        for (size_t j = 0; j < 5; j++) {
            bool done;
            assert_int_equal(pdnn_expand_next(expand, &items[i][j], &done, NULL), PDNN_OK);
            assert_false(done);
        }
        pdnn_expand_destroy(expand);
        pdnn_spec_finish(&spec);
    }
    for (size_t j = 0; j < 5; j++)
        assert_memory_equal(&items[0][j].instance, &items[1][j].instance, sizeof items[0][j].instance);
}

/* Shapes that are written twice are one instance of any family, and a sample has as many as it says. */
static void test_next_repeated_rows(void **state) {
    (void)state;
    for (size_t i = 0; pdnn_family_at(i); i++) {
        const struct pdnn_family_def *family = pdnn_family_at(i);
        const size_t batch = (size_t)family->minibatch_param, other = batch ? 0 : 1;
        const char *const names[] = {family->params[batch].name, NULL}, *const samples[] = {
                                                                            "", ", sample: {count: 2}"};
        struct pdnn_instance plain;
        pdnn_instance_init(&plain, family);
        for (size_t k = 0; k < 2; k++) {
            char text[512], lines[TEXT_ROOM], buffer[PDNN_PARAM_TEXT];
            const char *value = pdnn_param_format(&family->params[other], plain.hyper[other], buffer);
            snprintf(
                text, sizeof text,
                "models: [{%s: , rows: {columns: [%s, %s], values: [[2, %s], [1, %s], [2, %s], [2, %s]]}%s}]",
                family->name, family->params[batch].name, family->params[other].name, value, value, value,
                value, samples[k]);
            list_values(text, 2, names, lines, sizeof lines);
            if (strcmp(lines, "2; 1; ") != 0 && (k == 0 || strcmp(lines, "1; 2; ") != 0))
                fail_msg("%s: %s", text, lines);
        }
    }
}

/* Whatever `threads: all` stands for: also where it is another value of the axis, or `where` is about it. */
static void test_next_samples_the_same_everywhere(void **state) {
    (void)state;
    static const int64_t hosts[] = {1, 2, 3, 4, 96};
    static const char *const wheres[] = {"threads <= 4", "threads > 1 or batch > 4", "memory / threads < 1e6",
                                         "mod(nodes, 3) == 0"};
    for (size_t i = 0; i < 2 * sizeof wheres / sizeof *wheres; i++)
        for (size_t k = 0; k < sizeof hosts / sizeof *hosts; k++) {
            char text[512];
            struct pdnn_spec spec;
            bool done = false, done_here = false;
            size_t count = 0;
            snprintf(
                text, sizeof text,
                "run: {threads: [2, all, 4], mode: train, ranks: [1, 2]}\nmodels: [{fc: {nodes: {from: 1, to: "
                "300, plus: 1}, batch: [1, 8]}, where: '%s', sample: {count: 50, method: %s}}]",
                wheres[i / 2], i % 2 ? "sobol" : "random");
            spec_file_must_load(text, NULL, &spec);
            struct pdnn_expand *word = pdnn_expand_create(&spec, 0, false),
                               *here = pdnn_expand_create(&spec, hosts[k], false);
            for (;; count++) {
                struct pdnn_expanded drawn, item;
                assert_int_equal(pdnn_expand_next(word, &drawn, &done, NULL), PDNN_OK);
                assert_int_equal(pdnn_expand_next(here, &item, &done_here, NULL), PDNN_OK);
                if (done || done_here)
                    break;
                assert_false(drawn.filtered);
                const int64_t all = drawn.instance.setting[PDNN_SETTING_THREADS];
                pdnn_instance_resolve(&drawn.instance, hosts[k]);
                assert_memory_equal(&drawn.instance, &item.instance, sizeof item.instance);
                const int64_t threads = item.instance.setting[PDNN_SETTING_THREADS];
                const bool fails = (i / 2 == 0 && threads > 4) ||
                                   (i / 2 == 1 && threads == 1 && item.instance.hyper[4].number <= 4);
                if (i / 2 < 2)
                    assert_int_equal(item.filtered, fails);
                assert_true(!item.filtered || !all);
                assert_string_equal(item.reason, item.filtered ? wheres[i / 2] : "");
            }
            assert_true(done && done_here);
            assert_int_equal(count, 50);
            pdnn_expand_destroy(word);
            pdnn_expand_destroy(here);
            pdnn_spec_finish(&spec);
        }
}

/* The second of the two batches has more FLOP than 64 bits hold, though its tensors fit. */
static void test_next_costs_overflow(void **state) {
    (void)state;
    static const char text[] = "models:\n"
                               "  - fc: {layers: 400, nodes: 16777216, input: 1, output: 1,\n"
                               "         batch: [1, 16777216]}\n";
    static const char no_totals[] = "a FLOP, byte or memory count does not fit in 64 bits";
    static const struct {
        const char *set, *reason; /* "" if not filtered */
        uint64_t count;           /* number of instances */
        bool filtered;
    } rows[] = {
        {NULL, no_totals, 2, false},
        {"models.0.where=params < 1e20", no_totals, 2, true},
        {"models.0.where=batch < 2", "batch < 2", 2, true},
        {"models.0.where=batch > 0 and layers == 400", no_totals, 2, false},
        {"models.0={fc: {layers: 400, nodes: 16777216, input: 1, output: 1, batch: [1, 16777216]}, where: "
         "params > 0, sample: {count: 5}}",
         "", 1, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_spec spec;
        struct pdnn_expand *expand = NULL;
        struct pdnn_err err = {0};
        uint64_t count = 0;
        spec_file_must_load(text, rows[i].set, &spec);
        expand = pdnn_expand_create(&spec, 2, false);
        for (;;) {
            struct pdnn_expanded item;
            bool done;
            if (pdnn_expand_next(expand, &item, &done, &err) != PDNN_OK)
                fail_msg("%s", err.text);
            if (done)
                break;
            count++;
            bool is_large = item.instance.hyper[4].number > 1;
            assert_int_equal(item.has_totals, !is_large);
            assert_int_equal(item.totals.params > 0, !is_large);
            assert_int_equal(item.filtered, is_large && rows[i].filtered);
            assert_string_equal(item.reason, is_large ? rows[i].reason : "");
        }
        assert_int_equal(count, rows[i].count);
        pdnn_expand_destroy(expand);
        pdnn_spec_finish(&spec);
    }
}

/* An image of 16 pixels shrinks to nothing before VGG's last window. */
static void test_next_invalid(void **state) {
    (void)state;
    static const struct {
        const char *set; /* for the only model */
        bool filtered, fails;
    } rows[] = {
        {NULL, false, false},
        {"models.0.where=image > 16", true, false},
        {"models.0.where=params > 1", false, false},
        {"models.0.sample={count: 2}", false, false},
        {"models.0.cnn.image=16", false, true},
        {"models.0={cnn: {preset: vgg16, image: 16}, where: image > 16}", true, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_spec spec;
        struct pdnn_expand *expand = NULL;
        struct pdnn_err err = {0};
        bool done = false, seen = false;
        spec_file_must_load("models: [{cnn: {preset: vgg16, image: [16, 32]}}]", rows[i].set, &spec);
        expand = pdnn_expand_create(&spec, 2, false);
        while (!done && !*err.text) {
            struct pdnn_expanded item = {0};
            if (pdnn_expand_next(expand, &item, &done, &err) != PDNN_OK || done || item.has_totals)
                continue;
            seen = true;
            assert_true(item.invalid);
            assert_int_equal(item.filtered, rows[i].filtered);
            assert_non_null(strstr(item.reason, rows[i].filtered ? "image > 16" : "too few for window=2"));
        }
        assert_int_equal(*err.text != 0, rows[i].fails);
        assert_int_equal(seen, !rows[i].fails);
        if (rows[i].fails)
            assert_non_null(strstr(err.text, ": image=16 leaves 1x1 pixels"));
        pdnn_expand_destroy(expand);
        pdnn_spec_finish(&spec);
    }
}

static void test_next_memory_on_demand(void **state) {
    (void)state;
    static const struct {
        const char *set;
        bool with_memory, is_there;
    } rows[] = {{NULL, false, false}, {NULL, true, true}, {"models.0.where=memory > 1", false, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_spec spec;
        struct pdnn_expand *expand = NULL;
        struct pdnn_expanded item;
        bool done;
        spec_file_must_load("models: [{fc: {batch: 1}}]", rows[i].set, &spec);
        expand = pdnn_expand_create(&spec, 2, rows[i].with_memory);
        assert_int_equal(pdnn_expand_next(expand, &item, &done, NULL), PDNN_OK);
        assert_int_equal(item.totals.memory_bytes > 0, rows[i].is_there);
        assert_int_equal(pdnn_expand_next(expand, &item, &done, NULL), PDNN_OK);
        assert_true(done);
        pdnn_expand_destroy(expand);
        pdnn_spec_finish(&spec);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_next_golden),
        cmocka_unit_test(test_next_published_sweep),
        cmocka_unit_test(test_next_published_cnn_sweep),
        cmocka_unit_test(test_next_samples),
        cmocka_unit_test(test_next_sample_larger_than_the_space),
        cmocka_unit_test(test_next_sample_is_a_prefix_of_a_longer_one),
        cmocka_unit_test(test_next_repeated_rows),
        cmocka_unit_test(test_next_samples_the_same_everywhere),
        cmocka_unit_test(test_next_costs_overflow),
        cmocka_unit_test(test_next_invalid),
        cmocka_unit_test(test_next_memory_on_demand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
