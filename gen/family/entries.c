#include "gen/family/entries.h"

#include <string.h>

static const char *const beside[] = {"from",  "as",      "when", "repeat", "layer",
                                     "share", "segment", "say",  "else",   NULL};

static bool is_beside(const char *key) {
    for (size_t i = 0; beside[i]; i++)
        if (strcmp(beside[i], key) == 0)
            return true;
    return false;
}

/* The one key that is an op or a block; NULL: there is none. */
static const struct pdnn_yaml *own_key(const struct pdnn_reader *reader, const struct pdnn_yaml *node) {
    const struct pdnn_yaml *own = NULL;
    for (const struct pdnn_yaml *child = node->first; child; child = child->next) {
        if (is_beside(child->key->text))
            continue;
        if (own) {
            pdnn_yaml_fail(child->key, reader->err, "an entry has one op or block, this one has %s and %s",
                           own->key->text, child->key->text);
            return NULL;
        }
        own = child;
    }
    return own;
}

static void read_repeat(const struct pdnn_reader *reader, const struct pdnn_yaml *node,
                        struct pdnn_definition_entry *entry) {
    if (!node)
        return;
    if (node->kind != PDNN_YAML_MAP) {
        entry->repeat = pdnn_reader_expression(reader, node);
        return;
    }
    if (node->count != 1) {
        pdnn_yaml_fail(node, reader->err, "repeat has one variable, as in {i: 3}%s",
                       node->first ? pdnn_reader_hint(node->first) : "");
        return;
    }
    if (!pdnn_reader_is_name(reader, node->first->key, "variable"))
        return;
    entry->variable = node->first->key->text;
    entry->repeat = pdnn_reader_expression(reader, node->first);
}

static void read_beside(const struct pdnn_reader *reader, const struct pdnn_yaml *node,
                        struct pdnn_definition_entry *entry) {
    const struct pdnn_yaml *other = pdnn_yaml_find(node, "else");
    entry->from = pdnn_reader_several(reader, pdnn_yaml_find(node, "from"), &entry->n_from);
    entry->as = pdnn_reader_several(reader, pdnn_yaml_find(node, "as"), &entry->n_as);
    entry->when = pdnn_reader_optional(reader, node, "when");
    entry->layer = pdnn_reader_optional(reader, node, "layer");
    read_repeat(reader, pdnn_yaml_find(node, "repeat"), entry);
    entry->share = pdnn_reader_text(reader, node, "share");
    entry->say = pdnn_reader_text(reader, node, "say");
    entry->segment = pdnn_reader_switch(reader, node, "segment", false);
    entry->has_other = other != NULL;
    if (other && pdnn_reader_is(reader, other, PDNN_YAML_LIST, "else"))
        entry->other = pdnn_family_entries(reader, other);
    if (!pdnn_reader_failed(reader) && other && !entry->when)
        pdnn_yaml_fail(other->key, reader->err, "else stands beside when");
    if (!pdnn_reader_failed(reader) && entry->say && entry->kind != PDNN_ENTRY_REQUIRE)
        pdnn_yaml_fail(pdnn_yaml_find(node, "say")->key, reader->err, "say stands beside require");
}

static void read_own(const struct pdnn_reader *reader, const struct pdnn_yaml *own,
                     struct pdnn_definition_entry *entry) {
    entry->name = own->key->text;
    entry->place = pdnn_reader_place(own->key);
    if (strcmp(entry->name, "ops") == 0) {
        entry->kind = PDNN_ENTRY_GROUP;
        if (pdnn_reader_is(reader, own, PDNN_YAML_LIST, "ops"))
            entry->ops = pdnn_family_entries(reader, own);
    } else if (strcmp(entry->name, "op") == 0 || strcmp(entry->name, "require") == 0) {
        entry->kind = *entry->name == 'o' ? PDNN_ENTRY_NAMED : PDNN_ENTRY_REQUIRE;
        entry->value = pdnn_reader_expression(reader, own);
    } else if (!pdnn_yaml_is_null(own)) {
        const char *what = pdnn_arena_printf(reader->arena, "what %.60s is given", entry->name);
        if (pdnn_reader_is(reader, own, PDNN_YAML_MAP, what))
            entry->attributes = pdnn_reader_values(reader, own, true, &entry->n_attributes);
    }
}

static void read_entry(const struct pdnn_reader *reader, const struct pdnn_yaml *node,
                       struct pdnn_definition_entry *entry) {
    *entry = (struct pdnn_definition_entry){.place = pdnn_reader_place(node)};
    if (node->kind == PDNN_YAML_SCALAR) {
        entry->name = node->text;
        if (pdnn_yaml_is_null(node))
            pdnn_yaml_fail(node, reader->err, "an entry needs an op or a block");
        return;
    }
    const struct pdnn_yaml *own = own_key(reader, node);
    if (pdnn_reader_failed(reader))
        return;
    if (own) {
        read_own(reader, own, entry);
    } else {
        entry->kind = PDNN_ENTRY_GROUP;
        if (!pdnn_yaml_find(node, "from"))
            pdnn_yaml_fail(node, reader->err, "an entry needs an op or a block");
    }
    if (!pdnn_reader_failed(reader))
        read_beside(reader, node, entry);
}

static size_t count_entries(const struct pdnn_yaml *list) {
    size_t count = 0;
    for (const struct pdnn_yaml *item = list->first; item; item = item->next)
        count += item->kind == PDNN_YAML_LIST ? count_entries(item) : 1;
    return count;
}

static void read_entries(const struct pdnn_reader *reader, const struct pdnn_yaml *list,
                         struct pdnn_definition_entry *entries, size_t *count) {
    for (const struct pdnn_yaml *item = list->first; item && !pdnn_reader_failed(reader); item = item->next) {
        if (item->kind == PDNN_YAML_LIST)
            read_entries(reader, item, entries, count);
        else
            read_entry(reader, item, &entries[(*count)++]);
    }
}

struct pdnn_definition_entries pdnn_family_entries(const struct pdnn_reader *reader,
                                                   const struct pdnn_yaml *list) {
    struct pdnn_definition_entry *entries =
        pdnn_arena_alloc(reader->arena, count_entries(list) + 1, sizeof *entries);
    struct pdnn_definition_entries made = {entries, 0};
    read_entries(reader, list, entries, &made.count);
    return made;
}

static void read_block(const struct pdnn_reader *reader, const struct pdnn_yaml *node,
                       struct pdnn_definition_block *block) {
    static const char *const keys[] = {"parameters", "inputs", "layer",  "segment",
                                       "ops",        "help",   "result", NULL};
    static const char *const usual[] = {"x"};
    const struct pdnn_yaml *parameters, *inputs, *ops;
    *block = (struct pdnn_definition_block){
        .name = node->key->text, .place = pdnn_reader_place(node->key), .inputs = usual, .n_inputs = 1};
    if (!pdnn_reader_is_name(reader, node->key, "block") ||
        !pdnn_reader_keys(reader, node, pdnn_arena_printf(reader->arena, "block %s", block->name), keys))
        return;
    parameters = pdnn_yaml_find(node, "parameters");
    inputs = pdnn_yaml_find(node, "inputs");
    ops = pdnn_yaml_find(node, "ops");
    if (parameters && pdnn_reader_is(reader, parameters, PDNN_YAML_MAP, "parameters"))
        block->parameters = pdnn_reader_values(reader, parameters, true, &block->n_parameters);
    if (inputs && pdnn_reader_is(reader, inputs, PDNN_YAML_LIST, "inputs")) {
        const char **names = pdnn_arena_alloc(reader->arena, inputs->count + 1, sizeof *names);
        block->inputs = names;
        block->n_inputs = 0;
        for (const struct pdnn_yaml *item = inputs->first; item; item = item->next)
            if (pdnn_reader_is_name(reader, item, "input"))
                names[block->n_inputs++] = item->text;
    }
    block->layer = pdnn_reader_text(reader, node, "layer");
    block->segment = pdnn_reader_switch(reader, node, "segment", false);
    block->result = pdnn_reader_several(reader, pdnn_yaml_find(node, "result"), &block->n_result);
    if (!ops && !pdnn_reader_failed(reader))
        pdnn_yaml_fail(node->key, reader->err, "block %s has no ops", block->name);
    else if (ops && pdnn_reader_is(reader, ops, PDNN_YAML_LIST, "ops"))
        block->ops = pdnn_family_entries(reader, ops);
}

const struct pdnn_definition_block *pdnn_family_blocks(const struct pdnn_reader *reader,
                                                       const struct pdnn_yaml *map, size_t *count) {
    *count = 0;
    if (!map || !pdnn_reader_is(reader, map, PDNN_YAML_MAP, "blocks"))
        return NULL;
    struct pdnn_definition_block *blocks = pdnn_arena_alloc(reader->arena, map->count + 1, sizeof *blocks);
    for (const struct pdnn_yaml *node = map->first; node && !pdnn_reader_failed(reader); node = node->next)
        read_block(reader, node, &blocks[(*count)++]);
    return blocks;
}
