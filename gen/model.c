#include "gen/model.h"

#include "base/memory.h"
#include "base/str.h"
#include "gen/language.h"
#include "gen/rows.h"
#include "gen/where/where.h"
#include "models/zoo/catalog.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* An entry: what its family's key names, and the nodes. */
struct entry {
    struct pdnn_model_name name;
    const struct pdnn_yaml *op, *family, *zip, *rows, *where, *sample;
};

static const struct pdnn_key_def entry_keys[] = {
    {PDNN_KEY("operator", pdnn_key_read_node, struct entry, op), .values = "conv2d, dense, matmul or rnn",
     .absent = "a family",
     .help =
         "in a family's place: the model is one operator, of which `rows` has the shapes, also as lines of benchdnn or DeepBench",
     .example =
         "{operator: dense, rows: {columns: [batch, input, output], values: [[64, 256, 256], [64, 256, 1024]]}}"},
    {PDNN_KEY("zip", pdnn_key_read_node, struct entry, zip), .values = "a list of lists of keys",
     .absent = "all axes multiply",
     .help = "axes of equal length that advance together instead of multiplying",
     .example = "{fc: {input: [100, 200], output: [10, 20]}, zip: [[input, output]]}"},
    {PDNN_KEY("rows", pdnn_key_read_node, struct entry, rows), .values = "a map", .absent = "no table",
     .help = "a table whose columns are keys: its rows multiply with the other axes",
     .example =
         "{fc: {layers: 2}, rows: {columns: [nodes, batch], values: [[64, 16], [64, 32], [128, 16]]}}"},
    {PDNN_KEY("where", pdnn_key_read_node, struct entry, where), .values = "an expression",
     .absent = "all instances", .help = "keeps the instances for which it is true",
     .example = "{fc: {nodes: [64, 4096]}, where: params < 1e7 and memory <= 2GiB}"},
    {PDNN_KEY("sample", pdnn_key_read_node, struct entry, sample), .values = "a map",
     .absent = "all instances", .help = "draws some of the instances, over all axes, run settings included",
     .example = "{fc: {nodes: {from: 1, to: 4096, plus: 1}}, sample: {count: 50, method: sobol}}"},
};

const struct pdnn_key_table pdnn_entry_keys = {.name = "a model", PDNN_KEY_ROWS(entry_keys)};

struct sample_values {
    int64_t count;
    int method;
};

static const char *const methods[PDNN_SAMPLE_METHOD_COUNT + 1] = {"all", "random", "sobol", NULL};

static const struct pdnn_key_def sample_keys[] = {
    {PDNN_KEY("count", pdnn_key_read_i64, struct sample_values, count), PDNN_KEY_RANGE(1, INT64_C(1) << 53),
     .absent = "an error, but with method: all", .help = "instances to keep of this model",
     .example = "{fc: {nodes: {from: 1, to: 4096, plus: 1}}, sample: {count: 50}}"},
    {PDNN_KEY("method", pdnn_key_read_word, struct sample_values, method), .words = methods,
     .fallback = "random",
     .help =
         "how the points are chosen: all of them, at random, or by a Sobol sequence, which spreads them evenly",
     .example = "{fc: {nodes: {from: 1, to: 4096, plus: 1}}, sample: {count: 50, method: sobol}}"},
};

const struct pdnn_key_table pdnn_sample_keys = {.name = "sample", PDNN_KEY_ROWS(sample_keys)};

static enum pdnn_status unknown_entry_key(const struct pdnn_yaml *key, struct pdnn_err *err) {
    size_t n_families = 0;
    while (pdnn_family_name(n_families))
        n_families++;
    const char **words = pdnn_alloc(n_families + pdnn_entry_keys.n_keys, sizeof *words);
    char place[PDNN_PLACE_TEXT], hint[PDNN_SUGGESTION_TEXT];
    struct pdnn_key_unknown unknown = {
        .what = "a model", .kind = "families", .place = pdnn_key_place(place, key->text), .words = words};
    for (size_t i = 0; i < n_families; i++)
        words[unknown.n_words++] = pdnn_family_name(i);
    unknown.n_listed = unknown.n_words;
    for (size_t i = 0; i < pdnn_entry_keys.n_keys; i++)
        words[unknown.n_words++] = entry_keys[i].name;
    if (!*place && !*pdnn_param_suggest(hint, key->text, words, unknown.n_words))
        unknown.place = pdnn_model_suggest(hint, key->text, true);
    const enum pdnn_status status = pdnn_key_unknown(key, &unknown, err);
    free(words);
    return status;
}

/* The key of a family, or of a preset that needs no family. */
static enum pdnn_status read_family(const struct pdnn_yaml *child, struct entry *entry,
                                    struct pdnn_err *err) {
    if (entry->family)
        return pdnn_yaml_fail(child->key, err, "a model has one family, this one has %s and %s",
                              entry->family->key->text, child->key->text);
    entry->family = child;
    if (pdnn_model_find(child->key->text, true, &entry->name, err) != PDNN_OK)
        return pdnn_yaml_wrap(child->key, err);
    return PDNN_OK;
}

/* "- resnet50" for "- resnet50: {}". */
void pdnn_spec_models_spell_out(struct pdnn_yaml *root, struct pdnn_arena *arena) {
    struct pdnn_yaml *models = pdnn_yaml_find(root, "models");
    for (struct pdnn_yaml *entry = models ? models->first : NULL; entry; entry = entry->next) {
        if (entry->kind != PDNN_YAML_SCALAR || entry->key ||
            !pdnn_model_is_known(entry->text, strlen(entry->text)))
            continue;
        struct pdnn_yaml *key = pdnn_arena_alloc(arena, 1, sizeof *key);
        struct pdnn_yaml *value = pdnn_arena_alloc(arena, 1, sizeof *value);
        *key = *value = *entry;
        key->next = value->next = NULL;
        value->key = key;
        value->text = "";
        value->plain = true;
        entry->kind = PDNN_YAML_MAP;
        entry->text = "";
        entry->first = entry->last = value;
        entry->count = 1;
    }
}

static enum pdnn_status read_entry(const struct pdnn_yaml *node, struct entry *entry, struct pdnn_err *err) {
    enum pdnn_status status = pdnn_key_check_map(node, "a model", err);
    for (const struct pdnn_yaml *child = node->first; child && status == PDNN_OK; child = child->next) {
        const char *name = child->key->text;
        const struct pdnn_key_def *key = pdnn_key_find(&pdnn_entry_keys, name);
        if (!key && !pdnn_model_is_known(name, strlen(name)))
            return unknown_entry_key(child->key, err);
        status = key ? key->read(key, child, entry, err) : read_family(child, entry, err);
    }
    if (status == PDNN_OK && !entry->family)
        return pdnn_yaml_fail(node, err, "a model needs a family, such as %s: {...}", pdnn_family_name(0));
    return status;
}

static enum pdnn_status read_preset(const struct pdnn_yaml *value, struct pdnn_instance *base,
                                    struct pdnn_err *err) {
    const struct pdnn_family_def *family = base->family;
    enum pdnn_status status = pdnn_key_check_scalar(value, "preset", err);
    if (status != PDNN_OK)
        return status;
    const struct pdnn_preset *preset = pdnn_preset_find(family, value->text);
    if (!preset) {
        pdnn_preset_unknown(family, value->text, err);
        return pdnn_yaml_wrap(value, err);
    }
    pdnn_instance_init_preset(base, family, preset);
    return PDNN_OK;
}

static enum pdnn_status unknown_hyper(const struct pdnn_family_def *family, const struct pdnn_yaml *key,
                                      struct pdnn_err *err) {
    const char *words[PDNN_HYPER_MAX + 1];
    char place[PDNN_PLACE_TEXT];
    struct pdnn_key_unknown unknown = {
        .what = family->name, .place = pdnn_key_place(place, key->text), .words = words};
    for (size_t i = 0; i < family->n_params; i++)
        words[unknown.n_words++] = family->params[i].name;
    words[unknown.n_words++] = pdnn_preset_key;
    unknown.n_listed = unknown.n_words;
    return pdnn_key_unknown(key, &unknown, err);
}

/* The family's map: preset, and a value or axis per hyper-parameter. preset: named by the map's own key, or
 * NULL. */
static enum pdnn_status read_hyper(const struct pdnn_yaml *map, const struct pdnn_preset *preset,
                                   struct pdnn_arena *arena, struct pdnn_spec_model *model,
                                   struct pdnn_err *err) {
    const struct pdnn_family_def *family = model->base.family;
    if (pdnn_yaml_is_null(map))
        return PDNN_OK;
    enum pdnn_status status = pdnn_key_check_map(map, family->name, err);
    for (const struct pdnn_yaml *child = map->first; child && status == PDNN_OK; child = child->next) {
        int row = pdnn_param_find(family->params, family->n_params, child->key->text);
        bool is_preset = strcmp(child->key->text, pdnn_preset_key) == 0;
        if (row < 0 && !is_preset)
            return unknown_hyper(family, child->key, err);
        if (is_preset && preset)
            return pdnn_yaml_fail(child->key, err, "%s is a preset, and a model has one", preset->name);
        if (is_preset) {
            status = read_preset(child, &model->base, err);
        } else {
            struct pdnn_axis *axis = &model->axes[model->n_axes++];
            *axis = (struct pdnn_axis){.index = row};
            status = pdnn_axis_read(&family->params[row], child, arena, axis, err);
        }
    }
    return status;
}

/* Whether a parameter applies to some point depends only on the axes over words. The instance is left
 * at the last combination tried. */
static bool applies_somewhere(const struct pdnn_spec_model *model, size_t param,
                              struct pdnn_instance *instance) {
    struct {
        size_t axis;
        uint64_t words; /* a bit each: a zipped axis may have one many times */
    } choices[PDNN_HYPER_MAX];
    size_t n_choices = 0;
    uint64_t points = 1;
    *instance = model->base;
    for (size_t i = 0; i < model->n_axes; i++) {
        const struct pdnn_axis *axis = &model->axes[i];
        if (axis->is_setting || axis->def->type != PDNN_PARAM_CHOICE)
            continue;
        choices[n_choices].axis = i;
        choices[n_choices].words = 0;
        for (uint64_t at = 0; at < axis->count; at++)
            choices[n_choices].words |= UINT64_C(1) << axis->values[at].number;
        points *= (uint64_t)__builtin_popcountll(choices[n_choices++].words);
    }
    for (uint64_t point = 0; point < points; point++) {
        uint64_t rest = point;
        for (size_t i = 0; i < n_choices; i++) {
            uint64_t words = choices[i].words, count = (uint64_t)__builtin_popcountll(words);
            for (uint64_t skip = rest % count; skip; skip--)
                words &= words - 1;
            instance->hyper[model->axes[choices[i].axis].index] = pdnn_value_of(__builtin_ctzll(words));
            rest /= count;
        }
        if (pdnn_hyper_applies(instance, param))
            return true;
    }
    return false;
}

static enum pdnn_status check_applies(const struct pdnn_spec_model *model, struct pdnn_err *err) {
    struct pdnn_instance instance;
    for (size_t i = 0; i < model->n_axes; i++) {
        const struct pdnn_axis *axis = &model->axes[i];
        if (axis->is_setting || applies_somewhere(model, (size_t)axis->index, &instance))
            continue;
        pdnn_hyper_check(&instance, (size_t)axis->index, err);
        return pdnn_yaml_wrap(axis->node->key, err);
    }
    return PDNN_OK;
}

static int find_axis(const struct pdnn_spec_model *model, const char *name) {
    for (size_t i = 0; i < model->n_axes; i++) {
        if (pdnn_param_find(model->axes[i].def, 1, name) == 0)
            return (int)i;
    }
    return -1;
}

static enum pdnn_status zip_unknown(const struct pdnn_spec_model *model, const struct pdnn_yaml *name,
                                    struct pdnn_err *err) {
    const char *words[PDNN_MODEL_AXES_MAX];
    for (size_t i = 0; i < model->n_axes; i++)
        words[i] = model->axes[i].def->name;
    char buffer[PDNN_SUGGESTION_TEXT];
    const char *hint = pdnn_param_suggest(buffer, name->text, words, model->n_axes);
    return pdnn_yaml_fail(name, err, "zip names '%.60s'%s", name->text,
                          *hint ? hint : ", to which this model gives no values");
}

/* One list of names: all join the group of the first. */
static enum pdnn_status zip_names(const struct pdnn_spec_model *model, const struct pdnn_yaml *names,
                                  size_t first_row, size_t *group_of, bool *taken, struct pdnn_err *err) {
    if (names->kind != PDNN_YAML_LIST || names->count < 2)
        return pdnn_yaml_fail(names, err, "zip takes lists of two names or more: [[input, output]]");
    int first = -1;
    size_t group = PDNN_MODEL_AXES_MAX;
    bool member[PDNN_MODEL_AXES_MAX] = {false};
    for (const struct pdnn_yaml *name = names->first; name; name = name->next) {
        enum pdnn_status status = pdnn_key_check_scalar(name, "zip", err);
        if (status != PDNN_OK)
            return status;
        int axis = find_axis(model, name->text);
        if (axis < 0)
            return zip_unknown(model, name, err);
        if (taken[axis])
            return pdnn_yaml_fail(
                name, err, (size_t)axis < first_row ? "zip names %s twice" : "zip names %s, a column of rows",
                name->text);
        member[axis] = taken[axis] = true;
        first = first < 0 ? axis : first;
        group = (size_t)axis < group ? (size_t)axis : group;
        if (model->axes[axis].count != model->axes[first].count)
            return pdnn_yaml_fail(
                name, err, "zip of axes of different length: %s has %" PRIu64 " values, %s has %" PRIu64,
                model->axes[first].def->name, model->axes[first].count, name->text, model->axes[axis].count);
    }
    for (size_t i = 0; i < model->n_axes; i++)
        group_of[i] = member[i] ? group : group_of[i];
    return PDNN_OK;
}

/* Sorts the axes by group and multiplies the groups' lengths. */
static enum pdnn_status make_groups(struct pdnn_spec_model *model, const size_t *group_of,
                                    struct pdnn_err *err) {
    struct pdnn_axis sorted[PDNN_MODEL_AXES_MAX];
    size_t n_sorted = 0;
    model->points = 1;
    for (size_t group = 0; group < model->n_axes; group++) {
        size_t first = n_sorted;
        for (size_t i = 0; i < model->n_axes; i++) {
            if (group_of[i] == group)
                sorted[n_sorted++] = model->axes[i];
        }
        if (n_sorted == first)
            continue;
        model->groups[model->n_groups] = (struct pdnn_axis_group){first, n_sorted - first};
        model->counts[model->n_groups++] = sorted[first].count;
        if (__builtin_mul_overflow(model->points, sorted[first].count, &model->points))
            return pdnn_yaml_fail(model->node, err, "the product of the axes of %s does not fit in 64 bits",
                                  model->base.family->name);
    }
    memcpy(model->axes, sorted, n_sorted * sizeof *sorted);
    return PDNN_OK;
}

/* first_row: the first of the axes of `rows`, which are the last ones. */
static enum pdnn_status combine(struct pdnn_spec_model *model, const struct pdnn_yaml *zip, size_t first_row,
                                struct pdnn_err *err) {
    size_t group_of[PDNN_MODEL_AXES_MAX];
    bool taken[PDNN_MODEL_AXES_MAX] = {false};
    for (size_t i = 0; i < model->n_axes; i++) {
        group_of[i] = i < first_row ? i : first_row;
        taken[i] = i >= first_row && model->n_axes > first_row + 1;
    }
    if (zip && zip->kind != PDNN_YAML_LIST)
        return pdnn_yaml_fail(zip, err, "zip takes lists of two names or more: [[input, output]]");
    for (const struct pdnn_yaml *names = zip ? zip->first : NULL; names; names = names->next) {
        enum pdnn_status status = zip_names(model, names, first_row, group_of, taken, err);
        if (status != PDNN_OK)
            return status;
    }
    for (size_t i = 0; i < model->n_axes; i++) {
        enum pdnn_status status = taken[i] ? PDNN_OK : pdnn_axis_check_once(&model->axes[i], err);
        if (status != PDNN_OK)
            return status;
    }
    return make_groups(model, group_of, err);
}

static enum pdnn_status read_where(const struct pdnn_yaml *node, struct pdnn_spec_model *model,
                                   struct pdnn_err *err) {
    const struct pdnn_family_def *family = model->base.family;
    if (node->kind == PDNN_YAML_MAP && node->first && strchr(node->first->key->text, '?'))
        return pdnn_yaml_fail(node, err, "where is c ? a : b, which is a map in YAML: put it in quotes");
    enum pdnn_status status = pdnn_key_check_scalar(node, "where", err);
    struct pdnn_where *where = NULL;
    if (status == PDNN_OK)
        status = pdnn_where_create(node, family, &where, err);
    if (status == PDNN_OK)
        model->where = node;
    pdnn_where_destroy(where);
    return status;
}

static enum pdnn_status read_sample(const struct pdnn_yaml *node, struct pdnn_spec_model *model,
                                    struct pdnn_err *err) {
    struct sample_values values = {0};
    pdnn_keys_default(&pdnn_sample_keys, &values);
    enum pdnn_status status = pdnn_keys_read(node, &pdnn_sample_keys, &values, err);
    if (status != PDNN_OK)
        return status;
    if (values.method == PDNN_SAMPLE_ALL && values.count)
        return pdnn_yaml_fail(node, err, "sample has a count, which method: all does not take");
    if (values.method != PDNN_SAMPLE_ALL && !values.count)
        return pdnn_yaml_fail(node, err, "sample needs a count");
    model->method = (enum pdnn_sample_method)values.method;
    model->sample_count = (uint64_t)values.count;
    size_t dims = 0;
    for (size_t i = 0; i < model->n_groups; i++)
        dims += model->counts[i] > 1;
    if (model->method == PDNN_SAMPLE_SOBOL && dims > PDNN_SOBOL_DIMS)
        return pdnn_yaml_fail(node, err, "sobol takes up to %d axes, this model has %zu; use method: random",
                              PDNN_SOBOL_DIMS, dims);
    return PDNN_OK;
}

enum pdnn_status pdnn_spec_model_read(const struct pdnn_yaml *node, const struct pdnn_axis *settings,
                                      size_t n_settings, struct pdnn_arena *arena,
                                      struct pdnn_spec_model *model, struct pdnn_err *err) {
    struct entry entry = {0};
    enum pdnn_status status = read_entry(node, &entry, err);
    if (status != PDNN_OK)
        return status;
    *model = (struct pdnn_spec_model){.node = entry.family->key};
    if (entry.name.preset)
        pdnn_instance_init_preset(&model->base, entry.name.family, entry.name.preset);
    else
        pdnn_instance_init(&model->base, entry.name.family);
    model->axes = pdnn_arena_alloc(arena, PDNN_MODEL_AXES_MAX, sizeof *model->axes);
    if (n_settings)
        memcpy(model->axes, settings, n_settings * sizeof *settings);
    model->n_axes = n_settings;
    status = read_hyper(entry.family, entry.name.preset, arena, model, err);
    const size_t first_row = model->n_axes;
    if (status == PDNN_OK && entry.rows)
        status = pdnn_rows_read(entry.rows, model->base.family, arena, model->axes, &model->n_axes, err);
    if (status == PDNN_OK)
        status = check_applies(model, err);
    if (status == PDNN_OK)
        status = combine(model, entry.zip, first_row, err);
    if (status == PDNN_OK && entry.where)
        status = read_where(entry.where, model, err);
    if (status == PDNN_OK && entry.sample)
        status = read_sample(entry.sample, model, err);
    return status;
}
