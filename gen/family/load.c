#include "gen/family/load.h"

#include "base/file.h"
#include "base/memory.h"
#include "gen/family/family.h"
#include "gen/language.h"
#include "gen/onnx/family.h"
#include "gen/yaml/emit.h"
#include "models/definition/check.h"
#include "models/definition/compile.h"
#include "models/zoo/catalog.h"

#include <stdlib.h>
#include <string.h>

static const char families_key[] = "families", family_key[] = "family";

bool pdnn_family_is(const struct pdnn_yaml *root) {
    return root->kind == PDNN_YAML_MAP && pdnn_yaml_find(root, family_key);
}

static struct pdnn_yaml *copy_of(const struct pdnn_yaml *node, const char *file, struct pdnn_arena *arena) {
    struct pdnn_yaml *copy = pdnn_arena_alloc(arena, 1, sizeof *copy);
    *copy = *node;
    copy->file = file;
    copy->text = pdnn_arena_strdup(arena, node->text);
    copy->key = node->key ? copy_of(node->key, file, arena) : NULL;
    copy->first = copy->last = copy->next = NULL;
    copy->count = 0;
    for (const struct pdnn_yaml *child = node->first; child; child = child->next)
        pdnn_yaml_append(copy, copy_of(child, file, arena));
    return copy;
}

/* The family that the text defined before, or NULL. */
static const struct pdnn_family_def *find_source(const char *source) {
    for (size_t i = 0; pdnn_family_name(i); i++) {
        const struct pdnn_family_def *family = pdnn_family_added(i);
        const struct pdnn_definition *other = family ? pdnn_family_definition(family) : NULL;
        if (other && other->source && strcmp(other->source, source) == 0)
            return family;
    }
    return NULL;
}

/* Reads a map whose text is `source`. */
static enum pdnn_status read(const struct pdnn_yaml *root, const char *source,
                             const struct pdnn_family_def **family, struct pdnn_err *err) {
    struct pdnn_arena *arena = pdnn_alloc(1, sizeof *arena);
    const struct pdnn_definition *definition;
    const struct pdnn_yaml *copy = copy_of(root, pdnn_arena_strdup(arena, root->file), arena);
    enum pdnn_status status =
        pdnn_family_read(copy, pdnn_arena_strdup(arena, source), arena, &definition, err);
    if (status == PDNN_OK && pdnn_key_find(&pdnn_entry_keys, definition->name))
        status = pdnn_yaml_fail(pdnn_yaml_find(copy, family_key), err,
                                "a family cannot be called %s, which is a key of a model", definition->name);
    if (status == PDNN_OK)
        status = pdnn_definition_family(definition, false, arena, family, err);
    if (status == PDNN_OK)
        status = pdnn_definition_check(*family, err);
    if (status == PDNN_OK) {
        pdnn_catalog_keep(arena);
        return PDNN_OK;
    }
    pdnn_arena_finish(arena);
    free(arena);
    return status;
}

enum pdnn_status pdnn_family_define(const struct pdnn_yaml *root, const struct pdnn_family_def **family,
                                    struct pdnn_err *err) {
    struct pdnn_str source = {0};
    enum pdnn_status status = pdnn_yaml_emit(&root, 1, &source, err);
    const struct pdnn_family_def *made = status == PDNN_OK ? find_source(pdnn_str_text(&source)) : NULL;
    if (status == PDNN_OK && !made)
        status = read(root, pdnn_str_text(&source), &made, err);
    pdnn_str_finish(&source);
    if (status != PDNN_OK)
        return status;
    pdnn_catalog_add(made);
    *family = made;
    return PDNN_OK;
}

enum pdnn_status pdnn_family_define_file(const struct pdnn_yaml *root, const struct pdnn_family_def **family,
                                         struct pdnn_err *err) {
    if (!pdnn_family_is(root))
        return pdnn_yaml_fail(root, err, "not a family, which is a map with the key 'family'");
    if (root->next)
        return pdnn_yaml_fail(root->next, err, "a family's file has one document");
    return pdnn_family_define(root, family, err);
}

static enum pdnn_status not_a_list(const struct pdnn_yaml *node, struct pdnn_err *err) {
    return pdnn_yaml_fail(node, err, "families takes a list of files and maps: [mynet.yaml]");
}

/* Puts the map of the file in the path's place. */
static enum pdnn_status open_item(struct pdnn_yaml *item, struct pdnn_yaml_count *count,
                                  struct pdnn_arena *arena, const struct pdnn_family_def **family,
                                  struct pdnn_err *err) {
    struct pdnn_yaml *root = NULL, *next = item->next;
    struct pdnn_yaml_input input = {.count = count};
    char *text = NULL;
    enum pdnn_status status =
        item->kind == PDNN_YAML_LIST ? not_a_list(item, err) : pdnn_key_check_scalar(item, families_key, err);
    if (status != PDNN_OK)
        return status;
    input.file = pdnn_key_path(item, arena);
    input.whole_name = pdnn_onnx_is_name(input.file);
    status = input.whole_name
                 ? pdnn_onnx_text(input.file, &(struct pdnn_onnx_request){0}, &text, &input.length, NULL, err)
                 : pdnn_file_read(input.file, PDNN_YAML_FILE_BYTES, &text, &input.length, err);
    if (status != PDNN_OK)
        return pdnn_yaml_wrap(item, err);
    input.text = text;
    status = pdnn_yaml_parse(&input, arena, &root, err);
    if (status == PDNN_OK)
        status = pdnn_family_define_file(root, family, err);
    free(text);
    if (status != PDNN_OK)
        return status;
    *item = *root;
    item->next = next;
    return PDNN_OK;
}

enum pdnn_status pdnn_families_load(struct pdnn_yaml *root, struct pdnn_yaml_count *count,
                                    struct pdnn_arena *arena, struct pdnn_err *err) {
    const struct pdnn_yaml *list = pdnn_yaml_find(root, families_key);
    enum pdnn_status status = PDNN_OK;
    if (list && (list->kind != PDNN_YAML_LIST || !list->count))
        return not_a_list(list, err);
    for (struct pdnn_yaml *item = list ? list->first : NULL; item && status == PDNN_OK; item = item->next) {
        const struct pdnn_family_def *family = NULL;
        status = item->kind == PDNN_YAML_MAP ? pdnn_family_define(item, &family, err)
                                             : open_item(item, count, arena, &family, err);
        for (struct pdnn_yaml *other = list->first; other != item && status == PDNN_OK; other = other->next)
            if (strcmp(pdnn_yaml_find(other, family_key)->text, family->name) == 0)
                status = pdnn_yaml_fail(pdnn_yaml_find(item, family_key), err,
                                        "family %s is in the list twice", family->name);
    }
    return status;
}

enum pdnn_status pdnn_families_put(struct pdnn_yaml *root, const struct pdnn_family_def *family,
                                   struct pdnn_arena *arena, struct pdnn_err *err) {
    const struct pdnn_definition *definition = pdnn_family_definition(family);
    struct pdnn_yaml *key = pdnn_arena_alloc(arena, 1, sizeof *key), *map = NULL;
    struct pdnn_yaml *there = pdnn_yaml_find(root, families_key), *list = there;
    if (!definition || !definition->source)
        return PDNN_OK;
    const struct pdnn_yaml_input input = {
        .file = definition->file, .text = definition->source, .length = strlen(definition->source)};
    enum pdnn_status status = pdnn_yaml_parse(&input, arena, &map, err);
    if (status != PDNN_OK)
        return status;
    if (!there) {
        list = pdnn_arena_alloc(arena, 1, sizeof *list);
        *key = *list = *root;
        key->kind = PDNN_YAML_SCALAR;
        key->text = families_key;
        key->plain = true;
        list->kind = PDNN_YAML_LIST;
        key->first = key->last = list->first = list->last = list->next = NULL;
        key->count = list->count = 0;
        list->key = key;
        pdnn_yaml_append(root, list);
    }
    pdnn_yaml_append(list, map);
    return PDNN_OK;
}
