/* `where` expressions: their values for one instance; expressions without a meaning are refused. */
#include "gen/where/where.h"
#include "models/zoo/catalog.h"
#include "tests/cmocka_all.h"

#include <string.h>

static const struct pdnn_totals totals = {.params = 1000000,
                                          .cost = {.flop_count = 6000000000,
                                                   .in_bounds_flop_count = 5000000000,
                                                   .byte_count = 5000,
                                                   .weight_bytes = 3000},
                                          .memory_bytes = 1 << 20};

/* Returns 1 or 0, or -1 with err set. */
static int eval(const char *text, const char *id, struct pdnn_err *err) {
    struct pdnn_yaml node = {
        .file = "t", .line = 1, .column = 1, .text = text, .text_offset = -1, .plain = true};
    struct pdnn_instance instance;
    struct pdnn_where *where = NULL;
    bool holds = false;
    if (pdnn_instance_parse(id, &instance, err) != PDNN_OK)
        fail_msg("%s", err->text);
    pdnn_instance_resolve(&instance, 2);
    enum pdnn_status status = pdnn_where_create(&node, instance.family, &where, err);
    if (status == PDNN_OK)
        status = pdnn_where_eval(where, &instance, &totals, &holds, err);
    pdnn_where_destroy(where);
    return status == PDNN_OK ? holds : -1;
}

static const char id[] = "fc/layers=4,nodes=64,input=10,output=7,batch=16,activation=tanh,mode=train";

static void test_eval_values(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int holds;
    } rows[] = {
        {"nodes == 64", 1},
        {"nodes != 64", 0},
        {"nodes*batch <= 1024 and layers > 3", 1},
        {"nodes < 64 or batch > 15", 1},
        {"nodes < 64 || batch > 15 && layers == 3", 0},
        {"not nodes == 64", 0},
        {"not nodes == 64 or batch == 16", 1},
        {"not (nodes == 64 and batch == 16)", 0},
        {"not not nodes", 1},
        {"batch > 1 and not batch > 20", 1},
        {"batch > 1 and not batch > 20 and batch > 17", 0},
        {"(not batch > 20) == 1", 1},
        {"layers + 2 * 3 == 10", 1},
        {"(layers + 2) * 3 == 18", 1},
        {"2 ^ 3 ^ 2 == 512", 1},
        {"-layers < 0", 1},
        {"layers - 3 - 1 == 0 and 64 / 4 / 4 == layers", 1},
        {"-layers ^ 2 == 0 - 16 and layers ^ -1 == .25", 1},
        {"layers == 3 ? 1 : layers == 4 ? 2 == 2 : 0", 1},
        {"(1 + 2 == 3) == 0 ? 1 : 1 - 1", 0},
        {"batch / 32 == 0.5", 1},
        {"batch / 64 == .25 and 1. == 1e0", 1},
        {"mod(nodes, 10) == 4", 1},
        {"mod(nodes, 10) * 2 == 8", 1},
        {"batch == 16 ? layers == 4 : layers == 5", 1},
        {"layers == 4 ? 1 : 1 / (layers - 4)", 1},
        {"min(nodes, batch, 3) == 3", 1},
        {"floor(nodes / 7) == 9 and ceil(nodes / 7) == 10", 1},
        {"mod(0 - 7, 3) == 2 and mod(7, 0 - 3) == 0 - 2 and mod(0 - 6, 3) == 0", 1},
        {"1 + not nodes == 64", 1},
        {"(activation) == tanh and activation == (tanh)", 1},
        {"1e30 > 1e29 and 0.1 + 0.2 < 0.4", 1},
        {"max (nodes, batch) == 64 and log2(nodes) == 6", 1},
        {"abs(layers - 10) == 6 and sqrt(nodes) == 8", 1},
        {"params <= 1e6", 1},
        {"params < 1.0e+6", 0},
        {"flop_count == 6e9 and byte_count == 5000 and weight_bytes == 3KB", 1},
        {"memory == 1MiB and memory_bytes < 2MB and memory_bytes == 1048576", 1},
        {"memory <= 8GiB", 1},
        {"in_bounds_flop_count == 5e9", 1},
        {"activation == tanh", 1},
        {"activation!=tanh", 0},
        {"mode == train and fuse != post-ops", 1},
        {"optimizer == rmsprop", 1},
        {"threads == 2", 1},
        {"layers", 1},
        {"layers - 4", 0},
        {"batch\n> 1", 1},
        {"1", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_err err = {0};
        int holds = eval(rows[i].text, id, &err);
        if (holds != rows[i].holds)
            fail_msg("'%s' is %d: %s", rows[i].text, holds, err.text);
    }
}

static void test_eval_optimizer_of_an_inference_is_no_word(void **state) {
    (void)state;
    struct pdnn_err err = {0};
    assert_int_equal(eval("optimizer == rmsprop", "fc/mode=infer", &err), 0);
    assert_int_equal(eval("optimizer == sgd", "fc/mode=infer", &err), 0);
    assert_int_equal(eval("optimizer != sgd", "fc/mode=infer", &err), 1);
}

static const char plain[] = "cnn/block=plain,blocks=2-3,kernel=5,image=64";

static void test_eval_lists(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int holds;
    } rows[] = {
        {"blocks == 2-3", 1},
        {"blocks != 2-3", 0},
        {"blocks == 2-3-3", 0},
        {"not blocks == 2-3 or image == 64", 1},
        {"blocks == 2-3 and padding == same and dense == none and dense != 4-4-4-4-4", 1},
        {"padding != same", 0},
        {"kernel == 5 and kernel < 6 and kernel - 4 == 1", 1},
        {"kernel == 5-5", 1}, /* both stages alike: the same network */
        {"kernel == 5-3", 0},
        {"padding == 2 and padding == 2-2 and padding > 1", 1},
        {"padding == 1", 0},
        {"kernel == 6 - 1", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_err err = {0};
        int holds = eval(rows[i].text, plain, &err);
        if (holds != rows[i].holds)
            fail_msg("'%s' is %d: %s", rows[i].text, holds, err.text);
    }
}

/* A word that stands for a number equals it. */
static void test_eval_words_for_numbers(void **state) {
    (void)state;
    static const struct {
        const char *text, *id;
        int holds;
    } rows[] = {
        {"hidden > 100", "rnn/embedding=128", 1},
        {"hidden > 100", "rnn/embedding=64", 0},
        {"hidden > 100", "rnn/embedding=64,hidden=101", 1},
        {"hidden == embedding", "rnn", 1},
        {"hidden == embedding", "rnn/hidden=3", 0},
        {"threads == 2", "rnn", 1},
        {"blocks == 2", "cnn/block=residual,blocks=2-2-2-2", 1},
        {"blocks == 2-2-2-2", "cnn/block=residual,blocks=2", 1},
        {"blocks == 2-2", "cnn/block=residual,blocks=2", 0},
        {"padding == same", "cnn/block=plain,kernel=7-5,padding=3-2", 1},
        {"padding == same", "cnn/block=plain,kernel=7-5,padding=3-1", 0},
        {"preset == resnet50", "resnet50,batch=3", 1},
        {"preset != resnet50", "resnet50,batch=3", 0},
        {"preset == resnet50", "cnn/block=bottleneck,blocks=3-4-6-3,filters=64,image=224", 1},
        {"preset == resnet50 or preset == resnet18", "cnn:resnet18", 1},
        {"preset == resnet50", "resnet50,filters=32", 0},
        {"preset == bert-base and batch < 8", "bert-base,batch=4", 1},
        {"preset == bert-base", "bert-large", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_err err = {0};
        int holds = eval(rows[i].text, rows[i].id, &err);
        if (holds != rows[i].holds)
            fail_msg("'%s' is %d for %s: %s", rows[i].text, holds, rows[i].id, err.text);
    }
}

/* A double cannot hold five numbers: lists that differ in the first one must not compare equal. */
static void test_eval_longest_lists(void **state) {
    (void)state;
    static const char long_id[] = "cnn/block=plain,blocks=1-2-2-3-3,image=64";
    struct pdnn_err err = {0};
    assert_int_equal(eval("blocks == 1-2-2-3-3", long_id, &err), 1);
    assert_int_equal(eval("blocks == 2-2-2-3-3", long_id, &err), 0);
    assert_int_equal(eval("filters == 4096-4096-4096-4096-4095",
                          "cnn/block=plain,filters=4095-4096-4096-4096-4095,image=64", &err),
                     0);
}

static void test_eval_lists_refused(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"blocks > 1", "t:1:1: where takes blocks as a number, which is 2-3, for cnn/block=plain,"},
        {"dense == 0", "t:1:1: where takes dense as a number, which is none, for cnn/block=plain,"},
        {"blocks < 2-3", "t:1:1: where compares blocks with 2-3, which takes == or !="},
        {"blocks == 2-x", "t:1:1: where names 'x'"},
        {"blocks == 2-3-0", "t:1:1: where: '2-3-0': blocks is 0, expected 1 to 512"},
        {"blocks == 2-3 == 1", "t:1:1: where: compares twice, write a < b and b < c"},
        {"padding == smae", "t:1:1: where names 'smae'"},
        {"preset == resnet5", "t:1:1: where: cnn has no preset 'resnet5', did you mean 'resnet50'"},
        {"preset == bert-base",
         "t:1:1: where: cnn has no preset 'bert-base', did you mean 'transformer:bert-base'?"},
        {"preset == resnet50 == 1", "t:1:1: where: compares twice, write a < b and b < c"},
        {"preset", "t:1:1: where uses preset, which is a word"},
        {"preset == \"resnet50\"", "t:1:1: where has \", write words without quotes, as in mode == infer"},
        {"padding == 'same'", "t:1:1: where has ', write words without quotes, as in mode == infer"},
        {"threads == all",
         "t:1:1: where compares threads with 'all', which is a number by then: write it, as "
         "in threads == 2"},
        {"batch == all", "t:1:1: where names 'all', did you mean 'allreduce'?"},
        {"mode == infer or train",
         "t:1:1: where names 'train', which is a word of mode: compare it as in mode == train"},
        {"plain != block",
         "t:1:1: where names 'plain', which is a word of block: compare it as in block == plain"},
        {"preset > vgg11", "t:1:1: where uses preset, which is a word"},
        {"activation + 1 == relu", "t:1:1: where uses activation, which is a word"},
        {"block == plain + 1", "t:1:1: where: does not parse at '+ 1'"},
        {"[1, 2] == kernel", "t:1:1: where takes numbers and words, not a list"},
        {"blocks[0] == 2", "t:1:1: where takes numbers and words, not an index such as [0]"},
        {"image.height > 1", "t:1:1: where takes numbers and words, not height"},
        {"sum(blocks) == 5", "t:1:1: where takes numbers and words, not sum"},
        {"image > 1 and divisible(image, 2)", "t:1:1: where takes numbers and words, not divisible"},
        {"flor(image) > 1", "t:1:1: where: no function 'flor', did you mean 'floor'?"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_err err = {0};
        assert_int_equal(eval(rows[i][0], plain, &err), -1);
        if (strncmp(err.text, rows[i][1], strlen(rows[i][1])) != 0)
            fail_msg("'%s': %s", rows[i][0], err.text);
    }
}

/* A comparison with something that does not apply is true only for !=. */
static void test_eval_what_does_not_apply(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int holds;
    } rows[] = {
        {"kernel > 3", 0},       {"kernel <= 3", 0},
        {"kernel == 3", 0},      {"kernel != 3", 1},
        {"kernel == 3-3", 0},    {"kernel != 3-3", 1},
        {"padding == same", 0},  {"block != plain or kernel > 3", 1},
        {"stride_on == 3x3", 0}, {"stride_on != 3x3", 1},
        {"pool == global", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_err err = {0};
        int holds = eval(rows[i].text, "cnn/block=residual", &err);
        if (holds != rows[i].holds)
            fail_msg("'%s' is %d: %s", rows[i].text, holds, err.text);
    }
    struct pdnn_err err = {0};
    assert_int_equal(eval("kernel", "cnn/block=residual", &err), -1);
    assert_non_null(strstr(err.text, "not a finite number for cnn/block=residual,"));
}

/* Names that a double would not tell apart. */
static void test_eval_names(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int holds;
    } rows[] = {
        {"library == ___________", 1}, {"library == __________-", 0}, {"library != __________-", 1},
        {"library == default", 0},     {"library == 3.7-rc1", 0},     {"batch == 1 and library != 26", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_err err = {0};
        int holds = eval(rows[i].text, "fc/batch=1,library=___________", &err);
        if (holds != rows[i].holds)
            fail_msg("'%s' is %d: %s", rows[i].text, holds, err.text);
    }
    assert_int_equal(eval("library == default", "fc", &(struct pdnn_err){0}), 1);
}

static void test_create_refuses(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "  ",
        "nodes >",
        "> nodes",
        "nodes batch",
        "nodes = 3",
        "nodes & 1",
        "nodes | 1",
        "!nodes",
        "nodes % 3 == 0",
        "1 < nodes < 5",
        "nodes == 1 == batch",
        "(nodes",
        "nodes)",
        "nodes, 3",
        "(nodes, 3)",
        "sqrt nodes",
        "sqrt()",
        "sin(nodes)",
        "_pi < 4",
        "v1 > 3",
        "'x'",
        "\"x\"",
        "nodes $ 3",
        "3GIB < 4",
        "1.2.3 < 4",
        "nodes ? 1",
        "nodes : 1",
        "and nodes",
        "nodes and",
        "not",
        "activation",
        "activation > relu",
        "relu == activation",
        "activation == ",
        "activation == x",
        "dtype == 3",
        "1 / 0",
        "ln(0) < 1",
        "0 / 0",
        "batch != 0 / 0",
        "not (batch == 0 / 0)",
        "batch == 1 ? 1 : batch != 0 / 0",
        "batch != 1e308 * 10",
        "mod(1, 0) != batch",
        "min(,)",
        "min(1,)",
        "5 5",
        "nodes > 3;",
        "\xc3\xa9 > 3",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct pdnn_err err = {0};
        if (eval(texts[i], id, &err) != -1)
            fail_msg("'%s' was taken", texts[i]);
        assert_int_equal(err.status, PDNN_INVALID);
        assert_int_equal(strncmp(err.text, "t:1:1: where", 12), 0);
    }
}

/* However deep the nesting, it is refused without a crash. */
static void test_create_refuses_depth(void **state) {
    static const char *const units[] = {"-", "2^", "1?", "not ", "(1?"};
    static char text[200000];
    (void)state;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        struct pdnn_err err = {0};
        size_t length = strlen(units[i]);
        for (size_t k = 0; k < 40000; k++)
            memcpy(text + k * length, units[i], length);
        text[40000 * length] = 0;
        assert_int_equal(eval(text, id, &err), -1);
    }
}

/* A word stands for a number, as in lists; that of threads has become one. */
static void test_eval_word_for_a_number(void **state) {
    (void)state;
    static const char whole[] = "transformer/layers=4,length=16",
                      part[] = "transformer/layers=4,layers_run=1";
    struct pdnn_err err = {0};
    assert_int_equal(eval("layers_run == all", whole, &err), 1);
    assert_int_equal(eval("layers_run == all", part, &err), 0);
    assert_int_equal(eval("layers == 4 and layers_run != all", part, &err), 1);
}

static void test_create_says_how_to_write_a_remainder(void **state) {
    (void)state;
    struct pdnn_err err = {0};
    assert_int_equal(eval("nodes % 3 == 0", id, &err), -1);
    assert_string_equal(err.text, "t:1:1: where: does not parse at '% 3 == 0', write mod(a, b)");
}

static void test_create_names_the_column(void **state) {
    (void)state;
    struct pdnn_yaml node = {
        .file = "t", .line = 3, .column = 12, .text = "nodes > 1 and bath < 3", .plain = true};
    struct pdnn_where *where = NULL;
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_where_create(&node, pdnn_family_find("fc"), &where, &err), PDNN_INVALID);
    assert_string_equal(err.text, "t:3:26: where names 'bath', did you mean 'batch'?");
    assert_null(where);
}

static void test_eval_fails_where_it_is_no_number(void **state) {
    (void)state;
    static const char *const texts[] = {"1 / (layers - 4) > 0",        "mod(nodes, layers - 4) > 0",
                                        "sqrt(3 - layers) > 0",        "ln(layers - 4) > 0",
                                        "(layers - 4) / (layers - 4)", "nodes ^ 1000 > 0"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct pdnn_err err = {0};
        if (eval(texts[i], id, &err) != -1)
            fail_msg("'%s' was taken", texts[i]);
        assert_non_null(strstr(err.text, "fc/layers=4,nodes=64,"));
    }
}

static void test_uses_costs(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool costs, memory;
    } rows[] = {{"nodes > 1", false, false}, {"params > 1", true, false}, {"memory > 1", true, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_yaml node = {.file = "t", .line = 1, .column = 1, .text = rows[i].text, .plain = true};
        struct pdnn_where *where = NULL;
        assert_int_equal(pdnn_where_create(&node, pdnn_family_find("fc"), &where, NULL), PDNN_OK);
        assert_int_equal(pdnn_where_uses_costs(where), rows[i].costs);
        assert_int_equal(pdnn_where_uses_memory(where), rows[i].memory);
        pdnn_where_destroy(where);
    }
}

/* Random strings of tokens: each is compiled or refused; none crashes, prints or hangs. */
static void test_create_random_tokens(void **state) {
    (void)state;
    static const char *const tokens[] = {"nodes", "batch",  "activation", "==",  "tanh", "(",    ")",
                                         "+",     "-",      "/",          "mod", "?",    ":",    ",",
                                         "and",   "or",     "not",        "<",   "1",    "2GiB", "sqrt",
                                         "min",   "memory", "^",          "!=",  "0"};
    unsigned seed = 1;
    for (int round = 0; round < 5000; round++) {
        char text[160] = "";
        for (int i = 0; i < 12; i++) {
            seed = seed * 1103515245u + 12345u;
            strcat(text, tokens[(seed >> 16) % (sizeof tokens / sizeof *tokens)]);
            strcat(text, " ");
        }
        struct pdnn_err err = {0};
        assert_true(eval(text, id, &err) >= 0 || *err.text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eval_values),
        cmocka_unit_test(test_eval_optimizer_of_an_inference_is_no_word),
        cmocka_unit_test(test_eval_lists),
        cmocka_unit_test(test_eval_words_for_numbers),
        cmocka_unit_test(test_eval_longest_lists),
        cmocka_unit_test(test_eval_lists_refused),
        cmocka_unit_test(test_eval_what_does_not_apply),
        cmocka_unit_test(test_eval_names),
        cmocka_unit_test(test_create_refuses),
        cmocka_unit_test(test_create_refuses_depth),
        cmocka_unit_test(test_eval_word_for_a_number),
        cmocka_unit_test(test_create_says_how_to_write_a_remainder),
        cmocka_unit_test(test_create_names_the_column),
        cmocka_unit_test(test_eval_fails_where_it_is_no_number),
        cmocka_unit_test(test_uses_costs),
        cmocka_unit_test(test_create_random_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
