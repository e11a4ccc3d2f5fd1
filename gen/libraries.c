#include "gen/libraries.h"

#include "gen/key.h"
#include "gen/model.h"

#include <string.h>

static enum pdnn_status read_library(const struct pdnn_yaml *node, struct pdnn_spec_libraries *libraries,
                                     struct pdnn_err *err) {
    const struct pdnn_param_def *def = &pdnn_settings[PDNN_SETTING_LIBRARY];
    const char *name = node->key->text;
    struct pdnn_spec_library *library = &libraries->row[libraries->count];
    struct pdnn_value value;
    if (pdnn_param_parse(def, name, &value, err) != PDNN_OK)
        return pdnn_yaml_wrap(node->key, err);
    if (!value.number)
        return pdnn_yaml_fail(
            node->key, err, "libraries names '%s', which is what workers load without it: take another name",
            name);
    if (node->kind != PDNN_YAML_SCALAR || !*node->text)
        return pdnn_yaml_fail(node, err, "libraries has no directory for %s, expected %s: DIR", name, name);
    if (libraries->count == PDNN_SPEC_LIBRARIES)
        return pdnn_yaml_fail(node->key, err, "libraries has more than %d names", PDNN_SPEC_LIBRARIES);
    *library = (struct pdnn_spec_library){value.number, node->text, node};
    libraries->count++;
    return PDNN_OK;
}

enum pdnn_status pdnn_libraries_read(const struct pdnn_yaml *node, struct pdnn_spec_libraries *libraries,
                                     struct pdnn_err *err) {
    enum pdnn_status status = node ? pdnn_key_check_map(node, "libraries", err) : PDNN_OK;
    for (const struct pdnn_yaml *child = node ? node->first : NULL; child && status == PDNN_OK;
         child = child->next)
        status = read_library(child, libraries, err);
    return status;
}

/* "library is 'nwe', did you mean 'new'?" */
static enum pdnn_status unknown_library(const struct pdnn_spec_libraries *libraries,
                                        const struct pdnn_yaml *node, int64_t number, struct pdnn_err *err) {
    char name[PDNN_NAME_LENGTH + 1], names[PDNN_SPEC_LIBRARIES][PDNN_NAME_LENGTH + 1],
        hint[PDNN_SUGGESTION_TEXT];
    const char *words[PDNN_SPEC_LIBRARIES];
    struct pdnn_str all = {0};
    pdnn_name_unpack(number, name);
    if (!libraries->count)
        return pdnn_yaml_fail(
            node, err,
            "library is '%s', and the spec has no libraries: add 'libraries: {%s: DIR}', or "
            "give --library %s=DIR",
            name, name, name);
    for (size_t i = 0; i < libraries->count; i++) {
        words[i] = pdnn_name_unpack(libraries->row[i].name, names[i]);
        pdnn_str_printf(&all, "%s%s", i ? ", " : "", words[i]);
    }
    if (*pdnn_suggest(hint, name, words, libraries->count))
        pdnn_yaml_fail(node, err, "library is '%s'%s", name, hint);
    else
        pdnn_yaml_fail(node, err, "library is '%s', and libraries has %s", name, pdnn_str_text(&all));
    pdnn_str_finish(&all);
    return err ? err->status : PDNN_INVALID;
}

enum pdnn_status pdnn_libraries_check(const struct pdnn_spec_libraries *libraries,
                                      const struct pdnn_spec_model *models, size_t n_models, size_t most,
                                      struct pdnn_err *err) {
    bool is_used[PDNN_SPEC_LIBRARIES + 1] = {false}; /* the last: by default */
    size_t n_used = 0;
    for (size_t i = 0; i < n_models; i++)
        for (const struct pdnn_axis *axis = models[i].axes, *end = models[i].axes + models[i].n_axes;
             axis < end; axis++) {
            const struct pdnn_yaml *child = axis->node->kind == PDNN_YAML_LIST ? axis->node->first : NULL;
            if (!axis->is_setting || axis->index != PDNN_SETTING_LIBRARY)
                continue;
            for (uint64_t at = 0; at < axis->count; at++, child = child ? child->next : NULL) {
                const int64_t name = axis->values[at].number;
                size_t known = 0;
                while (known < libraries->count && libraries->row[known].name != name)
                    known++;
                if (name && known == libraries->count)
                    return unknown_library(libraries, child ? child : axis->node, name, err);
                n_used += !is_used[known];
                is_used[known] = true;
                if (n_used > most)
                    return pdnn_yaml_fail(child ? child : axis->node, err,
                                          "library has more than %zu values in all models together: no more "
                                          "are compared",
                                          most);
            }
        }
    return PDNN_OK;
}

void pdnn_libraries_add_axis(const struct pdnn_spec_libraries *libraries, struct pdnn_arena *arena,
                             struct pdnn_axis *settings, size_t *n_settings) {
    struct pdnn_value *values = pdnn_arena_alloc(arena, PDNN_SPEC_LIBRARIES, sizeof *values);
    for (size_t i = 0; i < *n_settings; i++)
        if (settings[i].index == PDNN_SETTING_LIBRARY)
            return;
    for (size_t i = 0; i < libraries->count; i++)
        values[i] = pdnn_value_of(libraries->row[i].name);
    if (libraries->count)
        settings[(*n_settings)++] = (struct pdnn_axis){.def = &pdnn_settings[PDNN_SETTING_LIBRARY],
                                                       .node = libraries->row[0].node,
                                                       .is_setting = true,
                                                       .index = PDNN_SETTING_LIBRARY,
                                                       .count = libraries->count,
                                                       .values = values};
}
