#define _POSIX_C_SOURCE 200809L
/* Families as text: what a worker reads gives the graphs that the file gives, the canonical text has what
 * graphs depend on and nothing else, and hostile text is refused. The directory given as argument has the
 * families that ship. */
#include "base/file.h"
#include "gen/family/family.h"
#include "models/build.h"
#include "models/definition/text/canonical.h"
#include "models/definition/compile.h"
#include "models/definition/compiled.h"
#include "tests/cmocka_all.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static const char *zoo;

static const struct pdnn_definition *must_parse(struct pdnn_arena *arena, const char *file,
                                                const char *text) {
    const struct pdnn_definition *definition;
    const struct pdnn_compiled *compiled;
    struct pdnn_err err = {0};
    if (pdnn_family_parse(file, text, strlen(text), arena, &definition, &err) != PDNN_OK ||
        pdnn_definition_compile(definition, arena, &compiled, &err) != PDNN_OK)
        fail_msg("%s", err.text);
    return definition;
}

static const struct pdnn_family_def *must_compile(struct pdnn_arena *arena,
                                                  const struct pdnn_definition *definition) {
    const struct pdnn_compiled *compiled = NULL;
    struct pdnn_err err = {0};
    if (pdnn_definition_compile(definition, arena, &compiled, &err) != PDNN_OK)
        fail_msg("%s", err.text);
    return &compiled->family;
}

static const struct pdnn_definition *must_read(struct pdnn_arena *arena, const char *text) {
    const struct pdnn_definition *definition = NULL;
    struct pdnn_err err = {0};
    if (pdnn_definition_read(text, arena, &definition, &err) != PDNN_OK)
        fail_msg("%s in\n%s", err.text, text);
    return definition;
}

static char *text_of(struct pdnn_arena *arena, const struct pdnn_definition *definition, bool full) {
    struct pdnn_str text = {0};
    pdnn_definition_write(definition, full, &text);
    char *copy = pdnn_arena_strdup(arena, pdnn_str_text(&text));
    pdnn_str_finish(&text);
    return copy;
}

static void assert_same_node(const struct pdnn_node *a, const struct pdnn_node *b) {
    assert_ptr_equal(a->op, b->op);
    assert_int_equal(a->pass, b->pass);
    assert_int_equal(a->n_inputs, b->n_inputs);
    assert_int_equal(a->n_outputs, b->n_outputs);
    assert_int_equal(a->n_posts, b->n_posts);
    assert_int_equal(a->segment, b->segment);
    assert_memory_equal(a->input, b->input, (size_t)a->n_inputs * sizeof *a->input);
    assert_memory_equal(a->output, b->output, (size_t)a->n_outputs * sizeof *a->output);
    assert_memory_equal(a->attr, b->attr, sizeof a->attr);
    assert_memory_equal(a->coef, b->coef, sizeof a->coef);
    assert_string_equal(a->layer.stem ? a->layer.stem : "", b->layer.stem ? b->layer.stem : "");
    assert_int_equal(a->layer.index, b->layer.index);
}

static void assert_same_graph(const struct pdnn_graph *a, const struct pdnn_graph *b) {
    assert_int_equal(a->n_nodes, b->n_nodes);
    assert_int_equal(a->n_tensors, b->n_tensors);
    assert_int_equal(a->loss, b->loss);
    assert_int_equal(a->result, b->result);
    assert_int_equal(a->stems_apart, b->stems_apart);
    for (size_t i = 0; i < a->n_nodes; i++)
        assert_same_node(&a->nodes[i], &b->nodes[i]);
    for (size_t i = 0; i < a->n_tensors; i++) {
        assert_int_equal(a->tensors[i].role, b->tensors[i].role);
        assert_int_equal(a->tensors[i].dtype, b->tensors[i].dtype);
        assert_true(pdnn_tensor_same_shape(&a->tensors[i], &b->tensors[i]));
        assert_int_equal(a->tensors[i].fill.kind, b->tensors[i].fill.kind);
        assert_true(a->tensors[i].fill.scale == b->tensors[i].fill.scale);
        assert_int_equal(a->tensors[i].of, b->tensors[i].of);
    }
}

/* One preset, or the defaults, of both. Returns the nodes of both its graphs. */
static size_t check_preset(const struct pdnn_family_def *families[2], int preset) {
    size_t n_nodes = 0;
    for (int64_t mode = 0; mode < 2; mode++) {
        struct pdnn_arena arena[2] = {{0}};
        struct pdnn_graph graph[2];
        struct pdnn_instance instance[2];
        char id[2][PDNN_ID_TEXT];
        struct pdnn_err err = {0};
        for (int i = 0; i < 2; i++) {
            pdnn_instance_init(&instance[i], families[i]);
            if (preset >= 0)
                pdnn_instance_init_preset(&instance[i], families[i], &families[i]->presets[preset]);
            instance[i].setting[PDNN_SETTING_MODE] = mode;
            pdnn_instance_resolve(&instance[i], 2);
            pdnn_instance_format(&instance[i], id[i]);
            if (pdnn_instance_graph(&instance[i], &arena[i], &graph[i], &err) != PDNN_OK)
                fail_msg("%s: %s", id[i], err.text);
        }
        assert_string_equal(id[0], id[1]);
        assert_same_graph(&graph[0], &graph[1]);
        n_nodes += graph[0].n_nodes;
        pdnn_arena_finish(&arena[0]);
        pdnn_arena_finish(&arena[1]);
    }
    return n_nodes;
}

static void assert_same_params(const struct pdnn_family_def *a, const struct pdnn_family_def *b) {
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->n_params, b->n_params);
    for (size_t i = 0; i < a->n_params; i++) {
        assert_string_equal(a->params[i].name, b->params[i].name);
        assert_string_equal(pdnn_param_column(&a->params[i]), pdnn_param_column(&b->params[i]));
        assert_int_equal(a->params[i].min, b->params[i].min);
        assert_int_equal(a->params[i].max, b->params[i].max);
        assert_true(pdnn_value_equal(a->params[i].fallback, b->params[i].fallback));
        assert_string_equal(pdnn_param_unit(&a->params[i]), pdnn_param_unit(&b->params[i]));
        assert_int_equal(a->params[i].is_input, b->params[i].is_input);
    }
    assert_int_equal(a->n_layers, b->n_layers);
    for (size_t i = 0; i < a->n_layers; i++) {
        assert_string_equal(a->layers[i].stem, b->layers[i].stem);
        assert_int_equal(a->layers[i].part, b->layers[i].part);
    }
    assert_int_equal(!a->lengths, !b->lengths);
    if (a->lengths) {
        assert_int_equal(a->lengths->source, b->lengths->source);
        assert_int_equal(a->lengths->target, b->lengths->target);
        assert_int_equal(a->lengths->positions, b->lengths->positions);
        assert_true(a->lengths->per_second == b->lengths->per_second);
        assert_int_equal(a->lengths->plus, b->lengths->plus);
    }
}

/* Ids of families that ship have no hash: with another one here, old results are of another family. */
static void check_hash(const struct pdnn_definition *definition) {
    static const struct {
        const char *name, *hash;
    } rows[] = {
        {"mamba", "ce3577cf"},        {"cnn", "98f25461"},          {"deepspeech2", "c06167d6"},
        {"fc", "4d5b3801"},           {"gnmt", "24ccf553"},         {"vit", "d57e3fd5"},
        {"mlp_mixer", "c7307929"},    {"rnn", "7dda3cee"},          {"transformer", "f4a34cea"},
        {"mobilenet_v1", "a167542a"}, {"mobilenet_v2", "714892fa"}, {"mobilenet_v3", "e081bf0f"},
        {"efficientnet", "6548e982"}, {"regnet", "924c683e"},       {"resnext", "4a02200d"},
        {"minigo", "aa646d28"},       {"ssd_resnet34", "26b954f6"}, {"graphsage", "73e345ec"},
        {"dlrm", "cdfa0faf"},         {"ncf", "4db951c2"},          {"llama", "c40bc54e"},
        {"whisper", "51c6d65a"},      {"squeezenet", "7226d553"},   {"densenet", "6557ec1d"},
        {"googlenet", "2cbfecb0"},    {"inception_v3", "122c9dc8"}, {"unet", "a176288c"},
        {"dit", "aed56585"},          {"convnext", "1ea149f5"},     {"shufflenet_v2", "63f912a0"},
        {"sd_unet", "3e27f19e"},      {"retinanet", "78722246"},    {"mask_rcnn", "4f80b76b"},
        {"swin", "8e99ac03"},         {"t5", "267f0585"},
    };
    char hash[PDNN_DEFINITION_HASH];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, definition->name) == 0) {
            if (strcmp(pdnn_definition_hash(definition, hash), rows[i].hash) != 0)
                fail_msg("%s is %s@%s now, it was @%s", definition->name, definition->name, hash,
                         rows[i].hash);
            return;
        }
    fail_msg("no hash of %s is known", definition->name);
}

static void check_file(const char *name) {
    char path[512], hash[2][PDNN_DEFINITION_HASH], *text = NULL;
    struct pdnn_arena arena = {0};
    struct pdnn_err err = {0};
    snprintf(path, sizeof path, "%s/%s", zoo, name);
    assert_int_equal(pdnn_file_read(path, 1 << 20, &text, NULL, &err), PDNN_OK);
    const struct pdnn_definition *definition = must_parse(&arena, name, text);
    const char *full = text_of(&arena, definition, true);
    const struct pdnn_definition *again = must_read(&arena, full);
    assert_string_equal(text_of(&arena, again, true), full);
    assert_string_equal(text_of(&arena, again, false), text_of(&arena, definition, false));
    assert_string_equal(pdnn_definition_hash(again, hash[0]), pdnn_definition_hash(definition, hash[1]));
    const struct pdnn_family_def *families[2] = {must_compile(&arena, definition),
                                                 must_compile(&arena, again)};
    assert_same_params(families[0], families[1]);
    size_t n_nodes = check_preset(families, -1);
    for (int i = 0; i < (int)families[0]->n_presets; i++)
        n_nodes += check_preset(families, i);
    assert_true(n_nodes > 0);
    check_hash(definition);
    pdnn_arena_finish(&arena);
    free(text);
}

static void test_read_gives_same_graphs(void **state) {
    (void)state;
    DIR *folder = opendir(zoo);
    int count = 0;
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        if (strstr(entry->d_name, ".yaml")) {
            check_file(entry->d_name);
            count++;
        }
    closedir(folder);
    assert_true(count >= 6);
}

/* What the language has, in one file. */
static const char *const made =
    "family: made\n"
    "help: \"a \\\"quoted\\\" help\"\n"
    "axes:\n"
    "  depth: {default: 2, range: 1..8, help: layers}\n"
    "  width: {default: 1.5, range: 0.5..4, unit: \"half \\\\ times\"}\n"
    "  sizes: {default: none, type: list, range: 1..64, least: 2}\n"
    "  hidden: {default: 4 * depth, range: 1..4096, column: units, input: yes}\n"
    "  kind: {default: post, values: [pre, post]}\n"
    "  tied: {default: no, when: kind == post}\n"
    "  batch: {default: 8, range: 1..4096}\n"
    "depth: depth\n"
    "lengths: {source: hidden, target: batch, target_of: hidden * 2, per_second: 12.5, plus: 1}\n"
    "init: linear\n"
    "group: layer\n"
    "together: {lists: [sizes], when: kind == pre}\n"
    "let: {twice: 2 * depth}\n"
    "require: [{that: hidden >= 2, say: 'hidden={hidden} is \"few\"'}, depth < 9]\n"
    "inputs:\n"
    "  features: {shape: [batch, hidden]}\n"
    "  labels: {shape: [batch], fill: {class: hidden}}\n"
    "weights:\n"
    "  table: {shape: [hidden, hidden], fill: {uniform: 1 / 8}, when: tied}\n"
    "blocks:\n"
    "  unit:\n"
    "    parameters: {out, extra: 1}\n"
    "    inputs: [x]\n"
    "    layer: unit\n"
    "    segment: yes\n"
    "    ops:\n"
    "      - {dense: {out: out * extra}, as: one}\n"
    "      - [bias, relu]\n"
    "      - {add, from: [in, one], when: depth > 1, else: [tanh]}\n"
    "    result: in\n"
    "  same: {ops: [{scale: {factor: 0.5}}]}\n"
    "ops:\n"
    "  - {from: features, as: start}\n"
    "  - {unit: {out: hidden}, repeat: {i: depth}, as: \"step[i]\"}\n"
    "  - {ops: [dense: {w: table}], when: tied, share: \"all of them\"}\n"
    "  - {require: in.columns >= 1, say: \"{layer} has none\"}\n"
    "  - {same, layer: \"kind == pre ? 'first' : last\"}\n"
    "  - {op: relu, as: logits}\n"
    "result: [logits]\n"
    "loss: [{softmax_cross_entropy, from: [logits, labels]}]\n"
    "layers: {unit: feed_forward}\n"
    "presets: {small: {depth: 1, params: 5, help: \"few\"}}\n";

/* The text with its first `old` replaced, in the arena. */
static char *replaced(struct pdnn_arena *arena, const char *text, const char *old, const char *new) {
    const char *at = strstr(text, old);
    if (!at)
        fail_msg("'%s' is not in\n%s", old, text);
    return pdnn_arena_printf(arena, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
}

static const char *const made_text =
    "family made depth:int width:decimal sizes:list hidden:int kind:choice tied:switch batch:int\n"
    "minibatch batch\n"
    "depth depth\n"
    "init linear\n"
    "group layer\n"
    "together sizes :when (== kind pre)\n"
    "let twice=(* 2 depth)\n"
    "require (>= hidden 2) :say \"hidden={hidden} is \\\"few\\\"\"\n"
    "require (< depth 9)\n"
    "input features :shape batch hidden :fill uniform\n"
    "input labels :shape batch :fill class :by hidden\n"
    "weight table :shape hidden hidden :fill uniform :by (/ 1 8) :when tied\n"
    "block same :inputs x :ops (scale factor=1/2)\n"
    "block unit out extra=1 :inputs x :layer \"unit\" :segment :result in :ops (dense out=(* out extra) :as one) (bias) (relu) (add :from in one :when (> depth 1) :else (tanh))\n"
    "op (ops :from features :as start)\n"
    "op (unit out=hidden :as ([] step i) :repeat depth :each i)\n"
    "op (ops (dense w=table) :when tied :share \"all of them\")\n"
    "op (require (>= (.columns in) 1) :say \"{layer} has none\")\n"
    "op (same :layer (? (== kind pre) 'first' last))\n"
    "op (op relu :as logits)\n"
    "result :of logits\n"
    "loss (softmax_cross_entropy :from logits labels)\n"
    "axis depth 1 8 :default 2\n"
    "axis width 500000 4000000 :default 3/2 :unit \"half \\\\ times\"\n"
    "axis sizes 1 64 :least 2\n"
    "axis hidden 1 4096 :default (* 4 depth) :word \"4 * depth\" :column \"units\" :input\n"
    "axis kind 0 0 :choices \"pre\" \"post\" :chosen \"post\"\n"
    "axis tied 0 0 :chosen \"no\" :when (== kind post)\n"
    "axis batch 1 4096 :default 8\n"
    "layer feed_forward \"unit\"\n"
    "preset \"small\" \"depth=1\"\n"
    "lengths hidden :target batch :target_of (* hidden 2) 12.5 1\n";

static void test_write_made(void **state) {
    (void)state;
    struct pdnn_arena arena = {0};
    const struct pdnn_definition *definition = must_parse(&arena, "made.yaml", made);
    assert_string_equal(text_of(&arena, definition, true), made_text);
    assert_string_equal(text_of(&arena, must_read(&arena, made_text), true), made_text);
    pdnn_arena_finish(&arena);
}

static void test_write_leaves_out(void **state) {
    (void)state;
    static const struct {
        const char *old, *new;
    } rows[] = {
        {"family: made\n", "family: made # a comment\n"},
        {"a \\\"quoted\\\" help", "another"},
        {"default: 2, range: 1..8, help: layers", "default: 3, range: 1..9, help: steps, example: 7"},
        {"unit: \"half \\\\ times\"", "unit: times"},
        {", column: units, input: yes", ""},
        {"values: [pre, post]", "values: [post, pre, other]"},
        {", when: kind == post", ""},
        {"say: 'hidden={hidden} is \"few\"'", "say: no"},
        {"2 * depth", "(2*depth)"},
        {"layers: {unit: feed_forward}\n", ""},
        {"lengths: {source: hidden, target: batch, target_of: hidden * 2, per_second: 12.5, plus: 1}\n", ""},
        {"{small: {depth: 1, params: 5, help: \"few\"}}", "{large: {depth: 7, macs: 3}}"},
        {"[bias, relu]\n      - ", "bias\n      - relu\n      - "},
        {"minibatch: batch\n", "\n"},
    };
    struct pdnn_arena arena = {0};
    char *base = pdnn_arena_printf(&arena, "%sminibatch: batch\n", made);
    const struct pdnn_definition *plain = must_parse(&arena, "made.yaml", base);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct pdnn_definition *other =
            must_parse(&arena, "other.yaml", replaced(&arena, base, rows[i].old, rows[i].new));
        assert_string_equal(text_of(&arena, plain, false), text_of(&arena, other, false));
    }
    pdnn_arena_finish(&arena);
}

static void test_write_tells_apart(void **state) {
    (void)state;
    static const struct {
        const char *old, *new;
    } rows[] = {
        {"family: made", "family: made2"},
        {"default: 1.5, range: 0.5..4", "default: 2, range: 1..4"},
        {"depth: depth\n", "\n"},
        {"init: linear\n", "\n"},
        {"group: layer\n", "layers_run: yes\n"},
        {", when: kind == pre}", "}"},
        {"twice: 2", "twice: 3"},
        {"hidden >= 2", "hidden >= 3"},
        {"{shape: [batch, hidden]}", "{shape: [batch, twice]}"},
        {"{class: hidden}", "{zipf: hidden}"},
        {"1 / 8}, when: tied", "1 / 9}, when: tied"},
        {"trained: no, ", ""},
        {"extra: 1", "extra: 2"},
        {"    layer: unit\n", "\n"},
        {"    segment: yes\n", "\n"},
        {"as: one", "as: one, segment: no, repeat: 1"},
        {"[bias, relu]", "[relu, bias]"},
        {", else: [tanh]", ", else: []"},
        {"depth > 1, else: [tanh]", "depth > 1"},
        {"factor: 0.5", "factor: 0.25"},
        {"repeat: {i: depth}", "repeat: {i: depth + 1}"},
        {"share: \"all of them\"", "share: all"},
        {"in.columns >= 1", "in.rows >= 1"},
        {"? 'first' : last", "? 'first' : first"},
        {"op: relu", "op: tanh"},
        {"[{softmax_cross_entropy, from: [logits, labels]}]",
         "[{softmax_cross_entropy, from: [logits, labels], layer: loss}]"},
    };
    struct pdnn_arena arena = {0};
    char hash[2][PDNN_DEFINITION_HASH];
    const char *base = replaced(&arena, made, "fill: {uniform", "trained: no, fill: {uniform");
    const struct pdnn_definition *plain = must_parse(&arena, "made.yaml", base);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct pdnn_definition *other =
            must_parse(&arena, "other.yaml", replaced(&arena, base, rows[i].old, rows[i].new));
        if (strcmp(pdnn_definition_hash(plain, hash[0]), pdnn_definition_hash(other, hash[1])) == 0)
            fail_msg("'%s' and '%s' have one hash", rows[i].old, rows[i].new);
    }
    pdnn_arena_finish(&arena);
}

/* Attributes and blocks may stand in any order. */
static void test_write_sorts(void **state) {
    (void)state;
    static const char *const files[2] = {
        "family: sorted\naxes: {batch: {default: 1, range: 1..8}}\ninputs: {x: {shape: [batch, 3, 8, 8]}}\n"
        "blocks:\n  a: {ops: [conv2d: {out: 4, kernel: 3, padding: 1}]}\n  b: {ops: [relu]}\n"
        "ops: [{a, from: x}, b]\n",
        "family: sorted\naxes: {batch: {default: 1, range: 1..8}}\ninputs: {x: {shape: [batch, 3, 8, 8]}}\n"
        "blocks:\n  b: {ops: [relu]}\n  a: {ops: [conv2d: {padding: 1, out: 4, kernel: 3}]}\n"
        "ops: [{a, from: x}, b]\n"};
    struct pdnn_arena arena = {0};
    char hash[2][PDNN_DEFINITION_HASH];
    for (int i = 0; i < 2; i++)
        pdnn_definition_hash(must_parse(&arena, "sorted.yaml", files[i]), hash[i]);
    assert_string_equal(hash[0], hash[1]);
    pdnn_arena_finish(&arena);
}

static void must_refuse(const char *text, const char *why) {
    struct pdnn_arena arena = {0};
    const struct pdnn_definition *definition = NULL;
    struct pdnn_err err = {0};
    if (pdnn_definition_read(text, &arena, &definition, &err) != PDNN_INVALID)
        fail_msg("this was read:\n%s", text);
    if (strncmp(err.text, "a family's text", 15) != 0 || !strstr(err.text, why))
        fail_msg("'%s' does not say '%s'", err.text, why);
    assert_null(definition);
    pdnn_arena_finish(&arena);
}

static void test_read_refuses(void **state) {
    (void)state;
    static const struct {
        const char *old, *new, *why;
    } rows[] = {
        {"family made", "family 2", "no name at byte 7"},
        {"depth:int", "depth:integer", "no axis"},
        {"width:decimal", "depth:decimal", "no axis"},
        {"batch:int", "batch:int  other:int", "no name"},
        {"minibatch batch", "minibatch batches", "no axis"},
        {"minibatch batch\ndepth", "minibatch batch\ndepth width\ndepth", "something else than expected"},
        {"together sizes", "together width", "no list"},
        {"(* 2 depth)", "(* 2)", "no expression"},
        {"let twice=", "let twice ", "something else than expected"},
        {":shape batch hidden", ":shape 1 2 3 4 5 6 7 8 9", "too many dimensions"},
        {":fill class", ":fill random", "no fill"},
        {" :fill uniform\n", "\n", "no fill"},
        {" :fill uniform\n", " :fill uniform :repeat depth\n", "no variable"},
        {"block same", "block zone", "blocks that do not ascend"},
        {"(dense out=(* out extra)", "(dense out=1 out=2", "attributes that do not ascend"},
        {"(relu)", "(relu :else)", "something else than expected"},
        {"(relu)", "(relu :say \"no\")", "something else than expected"},
        {"is \\\"few", "is \\few", "not the one way to write it"},
        {"axis depth 1 8", "axis depth 01 8", "not the one way to write it"},
        {"axis depth 1 8", "axis depth 9 8", "no range"},
        {"axis depth 1 8", "axis depth one 8", "no whole number"},
        {"axis depth 1 8", "axis width 1 8", "something else than expected"},
        {"axis sizes 1 64", "axis sizes 1 100000", "no range"},
        {":least 2", ":least 9", "no length"},
        {" :default 2\n", "\n", "no default"},
        {":chosen \"post\"", ":chosen \"past\"", "no choice"},
        {":chosen \"no\"", ":chosen \"never\"", "no choice"},
        {"layer feed_forward", "layer feed", "no part"},
        {"lengths hidden", "lengths height", "no axis"},
        {"12.5 1", "12,5 1", "no number"},
        {"12.5 1", "1e999 1", "no number"},
        {"12.5 1\n", "12.5 1\nmore\n", "something behind its end"},
        {"\"small\"", "\"small\n", "a text without its end"},
    };
    struct pdnn_arena arena = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        must_refuse(replaced(&arena, made_text, rows[i].old, rows[i].new), rows[i].why);
    /* Up to the last line that every text has. */
    for (size_t length = 0; made_text + length < strstr(made_text, "layer feed"); length++)
        must_refuse(pdnn_arena_printf(&arena, "%.*s", (int)length, made_text), "at byte");
    pdnn_arena_finish(&arena);
}

/* Entries in entries, as many as may be and one more. */
static void test_read_depth(void **state) {
    (void)state;
    for (int depth = PDNN_DEFINITION_DEPTH; depth <= PDNN_DEFINITION_DEPTH + 1; depth++) {
        struct pdnn_arena arena = {0};
        struct pdnn_str nested = {0};
        for (int i = 1; i < depth; i++)
            pdnn_str_printf(&nested, "(ops ");
        pdnn_str_printf(&nested, "(relu)");
        for (int i = 1; i < depth; i++)
            pdnn_str_printf(&nested, ")");
        const char *text = replaced(&arena, made_text, "(op relu", "(op tanh");
        text = replaced(&arena, text, "(ops :from features :as start)", pdnn_str_text(&nested));
        if (depth <= PDNN_DEFINITION_DEPTH)
            must_read(&arena, text);
        else
            must_refuse(text, "entries that nest too deep");
        pdnn_str_finish(&nested);
        pdnn_arena_finish(&arena);
    }
}

static void test_read_length(void **state) {
    (void)state;
    char *text = malloc(PDNN_DEFINITION_TEXT + 2);
    assert_non_null(text);
    memset(text, 'x', PDNN_DEFINITION_TEXT + 1);
    text[PDNN_DEFINITION_TEXT + 1] = 0;
    must_refuse(text, "is longer than 4194304 bytes");
    text[PDNN_DEFINITION_TEXT] = 0;
    must_refuse(text, "at byte 0");
    free(text);
}

/* What would be another definition as text than as a file, or end a program. */
static void test_family_parse_refuses(void **state) {
    (void)state;
    static const struct {
        const char *old, *new, *message;
    } rows[] = {
        {"twice: 2", "tw ice: 2", "made.yaml:16:7: key 'tw ice' is not a name of letters, digits and _"},
        {"extra: 1", "ex-tra: 1", "made.yaml:25:23: key 'ex-tra' is not a name of letters, digits and _"},
        {"{shape: [batch, hidden]}", "{shape: [batch, hidden], repeat: {a b: 2}}",
         "made.yaml:19:47: variable 'a b' is not a name of letters, digits and _"},
        {"{op: relu, as: logits}", "{conv2d: {kernel_h: 1, out: 1, kernel: 3}, as: logits}",
         "made.yaml:41:36: conv2d: kernel is given already"},
        {"{small: {depth: 1,", "{small: {depth: 9,",
         "made.yaml:45:11: preset small: depth is 9, expected 1 to 8"},
        {"{small: {depth: 1,", "{small: {deep: 9,",
         "made.yaml:45:11: preset small: unknown key 'deep' for made, see 'paradnn families made'"},
    };
    struct pdnn_arena arena = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *text = replaced(&arena, made, rows[i].old, rows[i].new);
        const struct pdnn_definition *definition;
        const struct pdnn_compiled *compiled;
        struct pdnn_err err = {0};
        if (pdnn_family_parse("made.yaml", text, strlen(text), &arena, &definition, &err) == PDNN_OK)
            pdnn_definition_compile(definition, &arena, &compiled, &err);
        assert_string_equal(err.text, rows[i].message);
    }
    pdnn_arena_finish(&arena);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_gives_same_graphs),
        cmocka_unit_test(test_write_made),
        cmocka_unit_test(test_write_leaves_out),
        cmocka_unit_test(test_write_tells_apart),
        cmocka_unit_test(test_family_parse_refuses),
        cmocka_unit_test(test_read_length),
        cmocka_unit_test(test_read_depth),
        cmocka_unit_test(test_read_refuses),
        cmocka_unit_test(test_write_sorts),
    };
    if (argc != 2)
        return 2;
    zoo = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
