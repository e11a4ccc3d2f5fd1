#include "gen/override.h"

#include "base/str.h"
#include "base/units.h"
#include "gen/language.h"
#include "models/family.h"
#include "models/zoo/catalog.h"

#include <stdint.h>
#include <string.h>

/* A parser's buffers take as long to make as reading PARSER_NODES values; reading a value takes as long as
 * passing SEARCHED_NODES on the way to another. */
enum { PATH_DEPTH = 8, PARSER_NODES = 8, SEARCHED_NODES = 64 };

struct override {
    struct pdnn_yaml label; /* where messages say the value came from; copied into the keys it adds */
    const char *words[PATH_DEPTH];
    size_t n_words;
    const char *value;
    size_t searched; /* values passed, at most */
    struct pdnn_yaml_count *count;
    struct pdnn_arena *arena;
};

/* Splits "a.b.c=value" into words and value. */
static enum pdnn_status parse_setting(const char *setting, struct override *override, struct pdnn_err *err) {
    char *path = pdnn_arena_strdup(override->arena, setting);
    override->label = (struct pdnn_yaml){.text = "", .text_offset = -1};
    override->label.file = pdnn_arena_printf(override->arena, PDNN_OVERRIDE_PLACE, setting);
    char *equals = strchr(path, '=');
    if (!equals || equals == path)
        return pdnn_yaml_fail(&override->label, err, "expected key=value, such as measure.rounds=3");
    *equals = 0;
    override->value = equals + 1;
    for (char *word = path; word;) {
        const bool is_library = override->n_words == 1 && strcmp(override->words[0], "libraries") == 0;
        char *dot = is_library ? NULL : strchr(word, '.'); /* their names may have dots */
        if (dot)
            *dot = 0;
        if (!*word || override->n_words == PATH_DEPTH)
            return pdnn_yaml_fail(&override->label, err, "the key is words with dots between, at most %d",
                                  PATH_DEPTH);
        override->words[override->n_words++] = word;
        word = dot ? dot + 1 : NULL;
    }
    return PDNN_OK;
}

static enum pdnn_status list_item(struct override *override, const struct pdnn_yaml *list, const char *word,
                                  struct pdnn_yaml **item, struct pdnn_err *err) {
    int64_t index;
    if (!pdnn_parse_i64(word, &index) || index < 0 || (uint64_t)index >= list->count)
        return pdnn_yaml_fail(&override->label, err,
                              "'%.60s' is not an item of a list of %zu, counted from 0", word, list->count);
    override->searched += (size_t)index;
    struct pdnn_yaml *child = list->first;
    while (index--)
        child = child->next;
    *item = child;
    return PDNN_OK;
}

/* The key's value in the map; if the key is missing, it is added without a value. */
static struct pdnn_yaml *map_item(struct override *override, struct pdnn_yaml *map, const char *word) {
    override->searched += map->count;
    struct pdnn_yaml *item = pdnn_yaml_find(map, word);
    if (item)
        return item;
    struct pdnn_yaml *key = pdnn_arena_alloc(override->arena, 1, sizeof *key);
    struct pdnn_yaml *value = pdnn_arena_alloc(override->arena, 1, sizeof *value);
    *key = *value = override->label;
    key->text = word;
    value->key = key;
    value->plain = true;
    pdnn_yaml_append(map, value);
    return value;
}

static enum pdnn_status set_path(struct override *override, struct pdnn_yaml *node, struct pdnn_err *err) {
    for (size_t i = 0; i < override->n_words; i++) {
        if (pdnn_yaml_is_null(node))
            node->kind = PDNN_YAML_MAP;
        if (node->kind == PDNN_YAML_SCALAR)
            return pdnn_yaml_fail(&override->label, err, "nothing can be set below '%.60s', it is %s",
                                  override->words[i ? i - 1 : 0], pdnn_yaml_kind_name(node));
        if (node->kind != PDNN_YAML_LIST)
            node = map_item(override, node, override->words[i]);
        else if (list_item(override, node, override->words[i], &node, err) != PDNN_OK)
            return err->status;
    }
    struct pdnn_yaml *value;
    const struct pdnn_yaml_input input = {.file = override->label.file,
                                          .whole_name = true,
                                          .text = override->value,
                                          .length = strlen(override->value),
                                          .count = override->count};
    override->count->nodes += PARSER_NODES;
    enum pdnn_status status = pdnn_yaml_parse(&input, override->arena, &value, err);
    if (status != PDNN_OK)
        return status;
    value->key = node->key;
    value->next = node->next;
    *node = *value;
    return PDNN_OK;
}

/* The model's key in the entry that `family` names, or any if it is NULL, if it has the hyper-parameter. */
static const struct pdnn_yaml *find_model(const struct pdnn_yaml *entry, const char *family,
                                          const char *hyper) {
    for (const struct pdnn_yaml *child = entry->first; child && child->key; child = child->next) {
        const char *name = child->key->text;
        struct pdnn_model_name model;
        if ((!family || strcmp(family, name) == 0) && pdnn_model_find(name, true, &model, NULL) == PDNN_OK &&
            pdnn_param_find(model.family->params, model.family->n_params, hyper) >= 0)
            return child->key;
    }
    return NULL;
}

/* Appends how the hyper-parameter is set: ": --set models.0.fc.nodes=128, likewise models.1 and models.2";
 * nothing if no model has it. */
static void append_paths(const struct override *override, struct pdnn_yaml *const *roots, size_t n_roots,
                         const char *family, const char *hyper, struct pdnn_str *out) {
    enum { LISTED_MAX = 3 };
    size_t index = 0, count = 0;
    for (size_t i = 0; i < n_roots; i++) {
        const struct pdnn_yaml *models = pdnn_yaml_find(roots[i], "models");
        for (const struct pdnn_yaml *entry = models ? models->first : NULL; entry; entry = entry->next) {
            const struct pdnn_yaml *key = find_model(entry, family, hyper);
            if (key && !count)
                pdnn_str_printf(out, ": --set models.%zu.%.40s.%.40s=%.80s", index, key->text, hyper,
                                override->value);
            else if (key && count < LISTED_MAX)
                pdnn_str_printf(out, "%s models.%zu", count > 1 ? " and" : ", likewise", index);
            count += key != NULL;
            index++;
        }
    }
    if (count > LISTED_MAX)
        pdnn_str_printf(out, " and so on");
}

/* "nodes", "fc.nodes" or "models.fc.nodes": the message says where the key belongs and how it is set there.
 */
static enum pdnn_status misplaced(const struct override *override, struct pdnn_yaml *const *roots,
                                  size_t n_roots, struct pdnn_err *err) {
    const char *key = override->words[override->n_words - 1], *section = pdnn_key_section(key);
    bool is_bare = override->n_words == 1;
    const char *family = is_bare ? NULL : override->words[override->n_words - 2];
    struct pdnn_str how = {0};
    char place[PDNN_PLACE_TEXT];
    if (!is_bare && !pdnn_key_is_hyper(key) && pdnn_key_is_hyper(family)) {
        key = family; /* "nodes.1", as if it were a list */
        family = NULL;
    }
    pdnn_key_place(place, key);
    if (family && !pdnn_key_is_hyper(key) && pdnn_key_section(family)) {
        pdnn_str_finish(&how);
        return pdnn_yaml_fail(&override->label, err, "unknown key '%.60s' in a spec%s: --set %s.%.60s=VALUE",
                              family, pdnn_key_place(place, family), pdnn_key_section(family), family);
    }
    if (is_bare && section)
        pdnn_str_printf(&how, ": --set %s.%.60s=%.80s", section, key, override->value);
    else
        append_paths(override, roots, n_roots, family && strcmp(family, "models") ? family : NULL, key, &how);
    if (is_bare)
        pdnn_yaml_fail(&override->label, err, "unknown key '%.60s' in a spec%s%s", key, place,
                       pdnn_str_text(&how));
    else
        pdnn_yaml_fail(&override->label, err, "models are set one by one%s",
                       how.length ? pdnn_str_text(&how) : ": models.0.<family>.<key>=value");
    pdnn_str_finish(&how);
    return PDNN_INVALID;
}

/* "models.3.x", with 3 counted through all documents: finds the document and replaces the number by the one
 * that counts within it. */
static enum pdnn_status set_model(struct override *override, struct pdnn_yaml *const *roots, size_t n_roots,
                                  struct pdnn_err *err) {
    int64_t index;
    if (override->n_words < 2)
        return pdnn_yaml_fail(&override->label, err,
                              "models are set one by one: models.0.<family>.<key>=value");
    if (!pdnn_parse_i64(override->words[1], &index) || index < 0)
        return misplaced(override, roots, n_roots, err);
    size_t n_models = 0;
    for (size_t i = 0; i < n_roots; i++) {
        override->searched += roots[i]->count;
        const struct pdnn_yaml *models = pdnn_yaml_find(roots[i], "models");
        size_t count = models && models->kind == PDNN_YAML_LIST ? models->count : 0;
        if ((uint64_t)index < n_models + count) {
            override->words[1] = pdnn_arena_printf(override->arena, "%zu", (size_t)index - n_models);
            return set_path(override, roots[i], err);
        }
        n_models += count;
    }
    return pdnn_yaml_fail(&override->label, err,
                          "there is no model number %.20s, there are %zu and the first is 0",
                          override->words[1], n_models);
}

enum pdnn_status pdnn_override_apply(const char *setting, struct pdnn_yaml *const *roots, size_t n_roots,
                                     struct pdnn_yaml_count *count, struct pdnn_arena *arena,
                                     struct pdnn_err *err) {
    struct override override = {.count = count, .arena = arena};
    enum pdnn_status status = parse_setting(setting, &override, err);
    if (status != PDNN_OK)
        return status;
    char place[PDNN_PLACE_TEXT];
    if (!pdnn_key_is_top(override.words[0]) && override.n_words <= 2 &&
        *pdnn_key_place(place, override.words[0]))
        return misplaced(&override, roots, n_roots, err);
    if (strcmp(override.words[0], "models") == 0) {
        status = set_model(&override, roots, n_roots, err);
    } else {
        for (size_t i = 0; i < n_roots && status == PDNN_OK; i++)
            status = set_path(&override, roots[i], err);
    }
    count->nodes += override.searched / SEARCHED_NODES;
    return status;
}
