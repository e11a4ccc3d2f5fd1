#include "gen/family/reader.h"

#include "base/str.h"
#include "gen/key.h"
#include "models/expression/parse.h"

#include <ctype.h>
#include <string.h>

bool pdnn_reader_failed(const struct pdnn_reader *reader) {
    return reader->err->status != PDNN_OK;
}

int32_t pdnn_reader_place(const struct pdnn_yaml *node) {
    const int inside = node->kind == PDNN_YAML_SCALAR && node->text_offset > 0 ? node->text_offset : 0;
    return node->line ? PDNN_PLACE(node->line, node->column + inside) : 0;
}

bool pdnn_reader_is(const struct pdnn_reader *reader, const struct pdnn_yaml *node, enum pdnn_yaml_kind kind,
                    const char *what) {
    static const char *const kinds[] = {"a value", "a map", "a list"};
    if (node->kind == kind)
        return true;
    pdnn_yaml_fail(node, reader->err, "%s is %s, expected %s", what, kinds[node->kind], kinds[kind]);
    return false;
}

bool pdnn_reader_keys(const struct pdnn_reader *reader, const struct pdnn_yaml *map, const char *what,
                      const char *const *keys) {
    size_t count = 0;
    while (keys[count])
        count++;
    if (!pdnn_reader_is(reader, map, PDNN_YAML_MAP, what))
        return false;
    for (const struct pdnn_yaml *child = map->first; child; child = child->next) {
        size_t at = 0;
        while (at < count && strcmp(keys[at], child->key->text) != 0)
            at++;
        if (at < count)
            continue;
        const struct pdnn_key_unknown unknown = {
            .what = what, .place = "", .words = keys, .n_words = count, .n_listed = count};
        pdnn_key_unknown(child->key, &unknown, reader->err);
        return false;
    }
    return true;
}

const char *pdnn_reader_text(const struct pdnn_reader *reader, const struct pdnn_yaml *map, const char *key) {
    const struct pdnn_yaml *node = pdnn_yaml_find(map, key);
    if (!node || !pdnn_reader_is(reader, node, PDNN_YAML_SCALAR, key))
        return NULL;
    for (const char *at = node->text; *at; at++)
        if (iscntrl((unsigned char)*at)) {
            pdnn_yaml_fail(node, reader->err,
                           "%s has a line break or another control character, expected one line%s", key,
                           *at == '\n' ? ": YAML joins several with >-" : "");
            return NULL;
        }
    return node->text;
}

bool pdnn_reader_switch(const struct pdnn_reader *reader, const struct pdnn_yaml *map, const char *key,
                        bool usual) {
    const struct pdnn_yaml *node = pdnn_yaml_find(map, key);
    if (!node || !pdnn_reader_is(reader, node, PDNN_YAML_SCALAR, key))
        return usual;
    if (strcmp(node->text, "yes") == 0 || strcmp(node->text, "no") == 0)
        return *node->text == 'y';
    pdnn_yaml_fail(node, reader->err, "%s is '%.40s', expected yes or no", key, node->text);
    return usual;
}

bool pdnn_reader_is_name(const struct pdnn_reader *reader, const struct pdnn_yaml *node, const char *what) {
    if (!pdnn_reader_is(reader, node, PDNN_YAML_SCALAR, what))
        return false;
    const size_t length = pdnn_expression_name_length(node->text);
    if (length && !node->text[length])
        return true;
    pdnn_yaml_fail(node, reader->err, "%s '%.60s' is not a name of letters, digits and _", what, node->text);
    return false;
}

const struct pdnn_expression *pdnn_reader_word(const struct pdnn_reader *reader, const char *text,
                                               int32_t place) {
    struct pdnn_expression *word = pdnn_expression_make(reader->arena, PDNN_EXPRESSION_WORD, place, NULL, 0);
    word->text = text;
    return word;
}

/* In braces YAML ends a value at a comma or bracket, which people forget: a value that was cut there has a
 * bracket too few. */
const char *pdnn_reader_hint(const struct pdnn_yaml *node) {
    int open = 0;
    for (const char *at = node->text; *at; at++)
        open += (*at == '(' || *at == '[') - (*at == ')' || *at == ']');
    return node->plain && open ? PDNN_YAML_BRACES_HINT : "";
}

static const struct pdnn_expression *scalar(const struct pdnn_reader *reader, const struct pdnn_yaml *node) {
    const struct pdnn_expression *tree = NULL;
    struct pdnn_err why = {0};
    size_t at = 0;
    if (pdnn_yaml_is_null(node)) {
        pdnn_yaml_fail(node, reader->err, "expected a value");
        return NULL;
    }
    if (pdnn_expression_parse(node->text, pdnn_reader_place(node), NULL, reader->arena, &tree, &at, &why) ==
        PDNN_OK)
        return tree;
    pdnn_yaml_fail_in(node, at, reader->err, "%s%s", why.text, pdnn_reader_hint(node));
    return NULL;
}

static const struct pdnn_expression *list(const struct pdnn_reader *reader, const struct pdnn_yaml *node) {
    size_t count;
    const struct pdnn_expression *const *items = pdnn_reader_several(reader, node, &count);
    if (!items)
        return NULL;
    struct pdnn_expression *made =
        pdnn_expression_make(reader->arena, PDNN_EXPRESSION_LIST, pdnn_reader_place(node), items, count);
    if (!made)
        pdnn_yaml_fail(node, reader->err, "nests deeper than %d levels", PDNN_EXPRESSION_DEPTH);
    return made;
}

const struct pdnn_expression *pdnn_reader_expression(const struct pdnn_reader *reader,
                                                     const struct pdnn_yaml *node) {
    if (node->kind == PDNN_YAML_SCALAR)
        return scalar(reader, node);
    if (!pdnn_reader_is(reader, node, PDNN_YAML_LIST, "an expression"))
        return NULL;
    if (node->first)
        return list(reader, node);
    pdnn_yaml_fail(node, reader->err, "a list has one value or more");
    return NULL;
}

const struct pdnn_expression *pdnn_reader_optional(const struct pdnn_reader *reader,
                                                   const struct pdnn_yaml *map, const char *key) {
    const struct pdnn_yaml *node = pdnn_yaml_find(map, key);
    return node && !pdnn_reader_failed(reader) ? pdnn_reader_expression(reader, node) : NULL;
}

const struct pdnn_expression *const *pdnn_reader_several(const struct pdnn_reader *reader,
                                                         const struct pdnn_yaml *node, size_t *count) {
    *count = 0;
    if (!node || pdnn_reader_failed(reader))
        return NULL;
    const bool is_list = node->kind == PDNN_YAML_LIST;
    const struct pdnn_expression **items =
        pdnn_arena_alloc(reader->arena, is_list ? node->count : 1, sizeof *items);
    for (const struct pdnn_yaml *item = is_list ? node->first : node; item;
         item = is_list ? item->next : NULL)
        if (!(items[(*count)++] = pdnn_reader_expression(reader, item)))
            return NULL;
    return items;
}

const struct pdnn_definition_value *pdnn_reader_values(const struct pdnn_reader *reader,
                                                       const struct pdnn_yaml *map, bool may_be_absent,
                                                       size_t *count) {
    struct pdnn_definition_value *values = pdnn_arena_alloc(reader->arena, map->count + 1, sizeof *values);
    *count = 0;
    for (const struct pdnn_yaml *child = map->first; child && !pdnn_reader_failed(reader);
         child = child->next) {
        const bool is_absent = pdnn_yaml_is_null(child);
        if (!pdnn_reader_is_name(reader, child->key, "key"))
            break;
        if (is_absent && !may_be_absent)
            pdnn_yaml_fail(child->key, reader->err, "%.60s has no value%s", child->key->text,
                           pdnn_reader_hint(child->key));
        values[(*count)++] = (struct pdnn_definition_value){
            .name = child->key->text,
            .value = is_absent || pdnn_reader_failed(reader) ? NULL : pdnn_reader_expression(reader, child),
            .place = pdnn_reader_place(child->key)};
    }
    return values;
}
