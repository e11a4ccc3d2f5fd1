#include "gen/yaml/emit.h"

#include <string.h>
#include <yaml.h>

static int append(void *out, unsigned char *bytes, size_t length) {
    struct pdnn_str *str = out;
    pdnn_str_append(str, (const char *)bytes, length);
    return 1;
}

/* Passes the event to the emitter, which frees it; `made` is what its initializer returned. */
static bool emit(yaml_emitter_t *emitter, int made, yaml_event_t *event) {
    return made && yaml_emitter_emit(emitter, event);
}

/* An absent value is written as ~: in a flow map libyaml would quote an empty one, which then reads back as a
 * value. The emitter adds quotes itself where plain text would read back as something else. */
static bool emit_scalar(yaml_emitter_t *emitter, const struct pdnn_yaml *node, bool plain) {
    yaml_event_t event;
    const char *text = pdnn_yaml_is_null(node) ? "~" : node->text;
    int made =
        yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text, (int)strlen(text), 1, 1,
                                     plain ? YAML_PLAIN_SCALAR_STYLE : YAML_SINGLE_QUOTED_SCALAR_STYLE);
    return emit(emitter, made, &event);
}

static bool holds_only_scalars(const struct pdnn_yaml *node) {
    for (const struct pdnn_yaml *child = node->first; child; child = child->next) {
        if (child->kind != PDNN_YAML_SCALAR)
            return false;
    }
    return true;
}

/* A list or map of scalars takes one line, anything else a line per child. */
static bool emit_node(yaml_emitter_t *emitter, const struct pdnn_yaml *node, bool is_root) {
    if (node->kind == PDNN_YAML_SCALAR)
        return emit_scalar(emitter, node, node->plain);
    bool is_map = node->kind == PDNN_YAML_MAP, flow = !is_root && holds_only_scalars(node);
    yaml_event_t event;
    int made = is_map
                   ? yaml_mapping_start_event_initialize(
                         &event, NULL, NULL, 1, flow ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE)
                   : yaml_sequence_start_event_initialize(
                         &event, NULL, NULL, 1, flow ? YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE);
    bool ok = emit(emitter, made, &event);
    for (const struct pdnn_yaml *child = node->first; ok && child; child = child->next) {
        ok = !is_map || emit_scalar(emitter, child->key, true);
        ok = ok && emit_node(emitter, child, false);
    }
    if (!ok)
        return false;
    made = is_map ? yaml_mapping_end_event_initialize(&event) : yaml_sequence_end_event_initialize(&event);
    return emit(emitter, made, &event);
}

static bool emit_document(yaml_emitter_t *emitter, const struct pdnn_yaml *root) {
    yaml_event_t event;
    return emit(emitter, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 0), &event) &&
           emit_node(emitter, root, true) &&
           emit(emitter, yaml_document_end_event_initialize(&event, 1), &event);
}

enum pdnn_status pdnn_yaml_emit(const struct pdnn_yaml *const *roots, size_t n_roots, struct pdnn_str *out,
                                struct pdnn_err *err) {
    yaml_emitter_t emitter;
    yaml_event_t event;
    if (!yaml_emitter_initialize(&emitter))
        return pdnn_fail(err, PDNN_NO_MEMORY, "no memory to write YAML");
    yaml_emitter_set_output(&emitter, append, out);
    yaml_emitter_set_unicode(&emitter, 1);
    yaml_emitter_set_width(&emitter, -1); /* never folds */
    bool ok = emit(&emitter, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING), &event);
    for (size_t i = 0; ok && i < n_roots; i++)
        ok = emit_document(&emitter, roots[i]);
    ok = ok && emit(&emitter, yaml_stream_end_event_initialize(&event), &event);
    yaml_emitter_delete(&emitter);
    return ok ? PDNN_OK : pdnn_fail(err, PDNN_NO_MEMORY, "no memory to write YAML");
}
