#include "gen/family/family.h"

#include "base/str.h"
#include "base/units.h"
#include "gen/family/axes.h"
#include "gen/family/entries.h"
#include "gen/family/reader.h"
#include "models/definition/text/words.h"

#include <string.h>

static const char *const keys[] = {"family",  "help",       "axes",  "let",     "require", "inputs",
                                   "weights", "blocks",     "ops",   "result",  "loss",    "layers",
                                   "presets", "minibatch",  "depth", "lengths", "init",    "together",
                                   "group",   "layers_run", NULL};

enum {
    FILLS_MAX = PDNN_FILL_COUNT + 1,
    VALUES_MAX = 1 << 15 /* of a file: a hundred times what models have */
};

static void read_fill(const struct pdnn_reader *reader, const struct pdnn_yaml *node,
                      struct pdnn_definition_tensor *row) {
    const char *words[FILLS_MAX];
    char hint[PDNN_SUGGESTION_TEXT];
    row->fill = PDNN_FILL_UNIFORM;
    if (!node)
        return;
    const bool is_map = node->kind == PDNN_YAML_MAP && node->count == 1;
    if (!is_map && !pdnn_reader_is(reader, node, PDNN_YAML_SCALAR, "fill"))
        return;
    const char *word = is_map ? node->first->key->text : node->text;
    size_t count = 0;
    for (const struct pdnn_fill_word *fill = pdnn_fill_words; fill->word; fill++) {
        words[count++] = fill->word;
        if (strcmp(fill->word, word) != 0)
            continue;
        row->fill = fill->kind;
        row->is_id = fill->is_id;
        row->fill_by = is_map ? pdnn_reader_expression(reader, node->first) : NULL;
        return;
    }
    pdnn_yaml_fail(node, reader->err, "no fill '%.40s'%s", word, pdnn_suggest(hint, word, words, count));
}

/* A row of `inputs` or `weights`. */
static void read_tensor(const struct pdnn_reader *reader, const struct pdnn_yaml *node, bool is_weight,
                        struct pdnn_definition_tensor *row) {
    static const char *const input_keys[] = {"shape", "fill", "repeat", NULL};
    static const char *const weight_keys[] = {"shape", "fill", "trained", "when", NULL};
    const char *what = node->key->text;
    *row = (struct pdnn_definition_tensor){.name = what, .place = pdnn_reader_place(node->key)};
    if (!pdnn_reader_is_name(reader, node->key, is_weight ? "weight" : "input") ||
        !pdnn_reader_keys(reader, node, what, is_weight ? weight_keys : input_keys))
        return;
    const struct pdnn_yaml *shape = pdnn_yaml_find(node, "shape"), *repeat = pdnn_yaml_find(node, "repeat");
    if (!shape) {
        pdnn_yaml_fail(node->key, reader->err, "%s has no shape", what);
        return;
    }
    row->shape = pdnn_reader_several(reader, shape, &row->rank);
    if (row->rank > PDNN_RANK_MAX)
        pdnn_yaml_fail(shape, reader->err, "%s has %zu dimensions, at most %d", what, row->rank,
                       PDNN_RANK_MAX);
    read_fill(reader, pdnn_yaml_find(node, "fill"), row);
    row->is_state = is_weight && !pdnn_reader_switch(reader, node, "trained", true);
    row->when = pdnn_reader_optional(reader, node, "when");
    if (!repeat || pdnn_reader_failed(reader))
        return;
    if (repeat->kind != PDNN_YAML_MAP || repeat->count != 1) {
        pdnn_yaml_fail(repeat, reader->err, "repeat has one variable, as in {i: 3}");
        return;
    }
    if (!pdnn_reader_is_name(reader, repeat->first->key, "variable"))
        return;
    row->variable = repeat->first->key->text;
    row->count = pdnn_reader_expression(reader, repeat->first);
}

static const struct pdnn_definition_tensor *
read_tensors(const struct pdnn_reader *reader, const struct pdnn_yaml *map, bool is_weight, size_t *count) {
    *count = 0;
    if (!map || !pdnn_reader_is(reader, map, PDNN_YAML_MAP, is_weight ? "weights" : "inputs"))
        return NULL;
    struct pdnn_definition_tensor *rows = pdnn_arena_alloc(reader->arena, map->count + 1, sizeof *rows);
    for (const struct pdnn_yaml *node = map->first; node && !pdnn_reader_failed(reader); node = node->next)
        read_tensor(reader, node, is_weight, &rows[(*count)++]);
    return rows;
}

static const struct pdnn_definition_require *read_requires(const struct pdnn_reader *reader,
                                                           const struct pdnn_yaml *list, size_t *count) {
    static const char *const require_keys[] = {"that", "say", NULL};
    *count = 0;
    if (!list || !pdnn_reader_is(reader, list, PDNN_YAML_LIST, "require"))
        return NULL;
    struct pdnn_definition_require *rows = pdnn_arena_alloc(reader->arena, list->count + 1, sizeof *rows);
    for (const struct pdnn_yaml *item = list->first; item && !pdnn_reader_failed(reader); item = item->next) {
        struct pdnn_definition_require *row = &rows[(*count)++];
        const struct pdnn_yaml *that = item->kind == PDNN_YAML_MAP ? pdnn_yaml_find(item, "that") : item;
        row->place = pdnn_reader_place(that ? that : item);
        if (item->kind == PDNN_YAML_MAP && !pdnn_reader_keys(reader, item, "require", require_keys))
            break;
        if (!that) {
            pdnn_yaml_fail(item, reader->err, "require has no 'that'");
            break;
        }
        row->say = item->kind == PDNN_YAML_MAP ? pdnn_reader_text(reader, item, "say") : NULL;
        row->that = pdnn_reader_expression(reader, that);
    }
    return rows;
}

static const struct pdnn_layer_def *read_layers(const struct pdnn_reader *reader, const struct pdnn_yaml *map,
                                                size_t *count) {
    char hint[PDNN_SUGGESTION_TEXT];
    *count = 0;
    if (!map || !pdnn_reader_is(reader, map, PDNN_YAML_MAP, "layers"))
        return NULL;
    struct pdnn_layer_def *layers = pdnn_arena_alloc(reader->arena, map->count + 1, sizeof *layers);
    for (const struct pdnn_yaml *row = map->first; row && !pdnn_reader_failed(reader); row = row->next) {
        int part = 0;
        while (pdnn_layer_part_words[part] && strcmp(pdnn_layer_part_words[part], row->text) != 0)
            part++;
        if (!pdnn_layer_part_words[part])
            pdnn_yaml_fail(row, reader->err, "layer %s is '%.40s', which is no part%s", row->key->text,
                           row->text, pdnn_suggest(hint, row->text, pdnn_layer_part_words, PDNN_LAYER_COUNT));
        layers[(*count)++] = (struct pdnn_layer_def){row->key->text, (enum pdnn_layer_part)part};
    }
    return layers;
}

/* The name of an axis. */
static const char *axis_name(const struct pdnn_reader *reader, const struct pdnn_definition *definition,
                             const struct pdnn_yaml *map, const char *key) {
    const char *text = pdnn_reader_text(reader, map, key);
    for (size_t i = 0; text && i < definition->n_axes; i++)
        if (strcmp(definition->axes[i].name, text) == 0)
            return text;
    if (text)
        pdnn_yaml_fail(pdnn_yaml_find(map, key), reader->err, "%s: there is no axis '%.40s'", key, text);
    return NULL;
}

static void read_lengths(const struct pdnn_reader *reader, const struct pdnn_yaml *map,
                         struct pdnn_definition *definition) {
    static const char *const length_keys[] = {"source", "target",    "positions", "per_second",
                                              "plus",   "target_of", NULL};
    struct pdnn_definition_lengths *lengths = &definition->lengths;
    if (!map || !pdnn_reader_keys(reader, map, "lengths", length_keys))
        return;
    lengths->source = axis_name(reader, definition, map, "source");
    lengths->target = axis_name(reader, definition, map, "target");
    lengths->positions = axis_name(reader, definition, map, "positions");
    const char *per_second = pdnn_reader_text(reader, map, "per_second");
    const char *plus = pdnn_reader_text(reader, map, "plus");
    if (per_second && !pdnn_parse_double(per_second, &lengths->per_second))
        pdnn_yaml_fail(pdnn_yaml_find(map, "per_second"), reader->err,
                       "per_second is '%.40s', expected a number", per_second);
    if (plus && !pdnn_parse_i64(plus, &lengths->plus))
        pdnn_yaml_fail(pdnn_yaml_find(map, "plus"), reader->err, "plus is '%.40s', expected a whole number",
                       plus);
    if (!lengths->source && !pdnn_reader_failed(reader))
        pdnn_yaml_fail(map->key, reader->err, "lengths has no source");
    lengths->target_of = pdnn_reader_optional(reader, map, "target_of");
}

static void read_together(const struct pdnn_reader *reader, const struct pdnn_yaml *node,
                          struct pdnn_definition *definition) {
    static const char *const together_keys[] = {"lists", "when", NULL};
    if (!node)
        return;
    const struct pdnn_yaml *list = node->kind == PDNN_YAML_MAP ? pdnn_yaml_find(node, "lists") : node;
    if (node->kind == PDNN_YAML_MAP && !pdnn_reader_keys(reader, node, "together", together_keys))
        return;
    if (!list || !pdnn_reader_is(reader, list, PDNN_YAML_LIST, "together"))
        return;
    const char **names = pdnn_arena_alloc(reader->arena, list->count + 1, sizeof *names);
    definition->together = names;
    for (const struct pdnn_yaml *item = list->first; item; item = item->next) {
        size_t at = 0;
        while (at < definition->n_axes && strcmp(definition->axes[at].name, item->text) != 0)
            at++;
        if (at == definition->n_axes || definition->axes[at].type != PDNN_AXIS_LIST) {
            pdnn_yaml_fail(item, reader->err, "together: there is no axis '%.40s' that is a list",
                           item->text);
            return;
        }
        names[definition->n_together++] = item->text;
    }
    if (node->kind == PDNN_YAML_MAP)
        definition->together_when = pdnn_reader_optional(reader, node, "when");
}

/* One of two words. */
static bool is_word(const struct pdnn_reader *reader, const struct pdnn_yaml *root, const char *key,
                    const char *yes, const char *no) {
    const char *text = pdnn_reader_text(reader, root, key);
    if (text && strcmp(text, yes) != 0 && strcmp(text, no) != 0)
        pdnn_yaml_fail(pdnn_yaml_find(root, key), reader->err, "%s is '%.40s', expected %s or %s", key, text,
                       no, yes);
    return text && strcmp(text, yes) == 0;
}

static void read_head(const struct pdnn_reader *reader, const struct pdnn_yaml *root,
                      struct pdnn_definition *definition) {
    static const char *const needed[] = {"family", "axes", "inputs", "ops"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed && !pdnn_reader_failed(reader); i++)
        if (!pdnn_yaml_find(root, needed[i]))
            pdnn_yaml_fail(root, reader->err, "a family needs '%s'", needed[i]);
    if (pdnn_reader_failed(reader) || !pdnn_reader_is_name(reader, pdnn_yaml_find(root, "family"), "family"))
        return;
    definition->file = root->file;
    definition->name = pdnn_yaml_find(root, "family")->text;
    definition->help = pdnn_reader_text(reader, root, "help");
    definition->help = definition->help ? definition->help : "";
    definition->axes = pdnn_family_axes(reader, pdnn_yaml_find(root, "axes"), &definition->n_axes);
    if (pdnn_reader_failed(reader))
        return;
    definition->minibatch = axis_name(reader, definition, root, "minibatch");
    for (size_t i = 0; !definition->minibatch && i < definition->n_axes; i++)
        if (strcmp(definition->axes[i].name, "batch") == 0)
            definition->minibatch = definition->axes[i].name;
    if (!definition->minibatch && !pdnn_reader_failed(reader))
        pdnn_yaml_fail(
            pdnn_yaml_find(root, "axes")->key, reader->err,
            "no axis 'batch': a family says which axis is the minibatch, as in 'minibatch: images'");
    definition->depth = axis_name(reader, definition, root, "depth");
    definition->layers_run = pdnn_reader_switch(reader, root, "layers_run", false);
    if (definition->layers_run && !definition->depth && !pdnn_reader_failed(reader))
        pdnn_yaml_fail(pdnn_yaml_find(root, "layers_run"), reader->err,
                       "layers_run without depth: it says how many of the layers that depth counts are run");
    definition->is_linear = is_word(reader, root, "init", "linear", "he");
    definition->group_layer = is_word(reader, root, "group", "layer", "shape");
}

static void read_body(const struct pdnn_reader *reader, const struct pdnn_yaml *root,
                      struct pdnn_definition *definition) {
    const struct pdnn_yaml *let = pdnn_yaml_find(root, "let"), *ops = pdnn_yaml_find(root, "ops"),
                           *loss = pdnn_yaml_find(root, "loss");
    if (let && pdnn_reader_is(reader, let, PDNN_YAML_MAP, "let"))
        definition->lets = pdnn_reader_values(reader, let, false, &definition->n_lets);
    definition->requires = read_requires(reader, pdnn_yaml_find(root, "require"), &definition->n_requires);
    definition->inputs = read_tensors(reader, pdnn_yaml_find(root, "inputs"), false, &definition->n_inputs);
    definition->weights = read_tensors(reader, pdnn_yaml_find(root, "weights"), true, &definition->n_weights);
    definition->blocks = pdnn_family_blocks(reader, pdnn_yaml_find(root, "blocks"), &definition->n_blocks);
    if (pdnn_reader_is(reader, ops, PDNN_YAML_LIST, "ops"))
        definition->ops = pdnn_family_entries(reader, ops);
    definition->result = pdnn_reader_several(reader, pdnn_yaml_find(root, "result"), &definition->n_result);
    if (loss && pdnn_reader_is(reader, loss, PDNN_YAML_LIST, "loss"))
        definition->loss = pdnn_family_entries(reader, loss);
    definition->layers = read_layers(reader, pdnn_yaml_find(root, "layers"), &definition->n_layers);
    definition->presets =
        pdnn_family_presets(reader, pdnn_yaml_find(root, "presets"), &definition->n_presets);
    read_lengths(reader, pdnn_yaml_find(root, "lengths"), definition);
    read_together(reader, pdnn_yaml_find(root, "together"), definition);
}

/* Keys count as well. */
static size_t count_values(const struct pdnn_yaml *node) {
    size_t count = node->count + (node->key != NULL);
    for (const struct pdnn_yaml *child = node->first; child; child = child->next)
        count += count_values(child);
    return count;
}

static bool is_small(const struct pdnn_reader *reader, const struct pdnn_yaml *root) {
    if (count_values(root) <= VALUES_MAX)
        return true;
    pdnn_yaml_fail(root, reader->err, "a family of more than %d values: say with repeat what is the same",
                   VALUES_MAX);
    return false;
}

enum pdnn_status pdnn_family_read(const struct pdnn_yaml *root, const char *source, struct pdnn_arena *arena,
                                  const struct pdnn_definition **definition, struct pdnn_err *err) {
    struct pdnn_err own = {0};
    const struct pdnn_reader reader = {arena, &own};
    struct pdnn_definition *made = pdnn_arena_alloc(arena, 1, sizeof *made);
    made->source = source;
    if (is_small(&reader, root) && pdnn_reader_keys(&reader, root, "a family", keys))
        read_head(&reader, root, made);
    if (!pdnn_reader_failed(&reader))
        read_body(&reader, root, made);
    *definition = made;
    if (own.status != PDNN_OK && err)
        *err = own;
    return own.status;
}

enum pdnn_status pdnn_family_parse(const char *file, const char *text, size_t length,
                                   struct pdnn_arena *arena, const struct pdnn_definition **definition,
                                   struct pdnn_err *err) {
    const struct pdnn_yaml_input input = {.file = file, .text = text, .length = length};
    struct pdnn_yaml *root;
    enum pdnn_status status = pdnn_yaml_parse(&input, arena, &root, err);
    return status == PDNN_OK ? pdnn_family_read(root, NULL, arena, definition, err) : status;
}
