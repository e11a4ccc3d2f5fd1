#include "models/definition/text/canonical.h"

#include "base/sha256.h"
#include "models/definition/text/words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct writer {
    struct pdnn_str *out;
    bool full;
};

static void put_text(const struct writer *w, const char *text) {
    pdnn_str_append(w->out, "\"", 1);
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            pdnn_str_printf(w->out, "\\%c", *text);
        else
            pdnn_str_append(w->out, text, 1);
    pdnn_str_append(w->out, "\"", 1);
}

/* " :unit "pixels"", nothing for NULL. */
static void put_key_text(const struct writer *w, const char *key, const char *text) {
    if (!text)
        return;
    pdnn_str_printf(w->out, " :%s ", key);
    put_text(w, text);
}

static void put_key_expression(const struct writer *w, const char *key,
                               const struct pdnn_expression *expression) {
    if (!expression)
        return;
    pdnn_str_printf(w->out, " :%s ", key);
    pdnn_expression_write(expression, w->out);
}

static void put_key_name(const struct writer *w, const char *key, const char *name) {
    if (name)
        pdnn_str_printf(w->out, " :%s %s", key, name);
}

static void put_flag(const struct writer *w, const char *key, bool is_set) {
    if (is_set)
        pdnn_str_printf(w->out, " :%s", key);
}

static void put_several(const struct writer *w, const char *key,
                        const struct pdnn_expression *const *expressions, size_t count) {
    if (count)
        pdnn_str_printf(w->out, " :%s", key);
    for (size_t i = 0; i < count; i++) {
        pdnn_str_append(w->out, " ", 1);
        pdnn_expression_write(expressions[i], w->out);
    }
}

static void put_value(const struct writer *w, const struct pdnn_definition_value *value) {
    pdnn_str_printf(w->out, " %s%s", value->name, value->value ? "=" : "");
    if (value->value)
        pdnn_expression_write(value->value, w->out);
}

static int by_value_name(const void *a, const void *b) {
    const struct pdnn_definition_value *one = a, *other = b;
    return strcmp(one->name, other->name);
}

static void put_attributes(const struct writer *w, const struct pdnn_definition_entry *entry) {
    struct pdnn_arena arena = {0};
    struct pdnn_definition_value *sorted = pdnn_arena_alloc(&arena, entry->n_attributes + 1, sizeof *sorted);
    for (size_t i = 0; i < entry->n_attributes; i++)
        sorted[i] = entry->attributes[i];
    qsort(sorted, entry->n_attributes, sizeof *sorted, by_value_name);
    for (size_t i = 0; i < entry->n_attributes; i++)
        put_value(w, &sorted[i]);
    pdnn_arena_finish(&arena);
}

static void put_entry(const struct writer *w, const struct pdnn_definition_entry *entry);

static void put_entries(const struct writer *w, struct pdnn_definition_entries entries) {
    for (size_t i = 0; i < entries.count; i++) {
        pdnn_str_append(w->out, " ", 1);
        put_entry(w, &entries.entry[i]);
    }
}

static void put_entry(const struct writer *w, const struct pdnn_definition_entry *entry) {
    static const char *const heads[] = {
        [PDNN_ENTRY_NAMED] = "op", [PDNN_ENTRY_GROUP] = "ops", [PDNN_ENTRY_REQUIRE] = "require"};
    const bool is_call = entry->kind == PDNN_ENTRY_OP || entry->kind == PDNN_ENTRY_BLOCK;
    pdnn_str_printf(w->out, "(%s", is_call ? entry->name : heads[entry->kind]);
    if (is_call)
        put_attributes(w, entry);
    put_entries(w, entry->ops);
    if (entry->value) {
        pdnn_str_append(w->out, " ", 1);
        pdnn_expression_write(entry->value, w->out);
    }
    put_several(w, "from", entry->from, entry->n_from);
    put_several(w, "as", entry->as, entry->n_as);
    put_key_expression(w, "when", entry->when);
    put_flag(w, "else", entry->has_other);
    put_entries(w, entry->other);
    put_key_expression(w, "repeat", entry->repeat);
    put_key_name(w, "each", entry->variable);
    put_key_expression(w, "layer", entry->layer);
    put_key_text(w, "share", entry->share);
    put_flag(w, "segment", entry->segment);
    if (w->full)
        put_key_text(w, "say", entry->say);
    pdnn_str_append(w->out, ")", 1);
}

static void put_line_entries(const struct writer *w, const char *word,
                             struct pdnn_definition_entries entries) {
    for (size_t i = 0; i < entries.count; i++) {
        pdnn_str_printf(w->out, "%s ", word);
        put_entry(w, &entries.entry[i]);
        pdnn_str_append(w->out, "\n", 1);
    }
}

static void put_tensor(const struct writer *w, const char *word, const struct pdnn_definition_tensor *row) {
    const struct pdnn_fill_word *fill = pdnn_fill_words;
    while (fill->kind != row->fill || fill->is_id != row->is_id)
        fill++;
    pdnn_str_printf(w->out, "%s %s", word, row->name);
    put_several(w, "shape", row->shape, row->rank);
    put_key_name(w, "fill", fill->word);
    put_key_expression(w, "by", row->fill_by);
    put_flag(w, "state", row->is_state);
    put_key_expression(w, "when", row->when);
    put_key_expression(w, "repeat", row->count);
    put_key_name(w, "each", row->variable);
    pdnn_str_append(w->out, "\n", 1);
}

static int by_block_name(const void *a, const void *b) {
    const struct pdnn_definition_block *one = a, *other = b;
    return strcmp(one->name, other->name);
}

static void put_block(const struct writer *w, const struct pdnn_definition_block *block) {
    pdnn_str_printf(w->out, "block %s", block->name);
    for (size_t i = 0; i < block->n_parameters; i++)
        put_value(w, &block->parameters[i]);
    pdnn_str_printf(w->out, " :inputs");
    for (size_t i = 0; i < block->n_inputs; i++)
        pdnn_str_printf(w->out, " %s", block->inputs[i]);
    put_key_text(w, "layer", block->layer);
    put_flag(w, "segment", block->segment);
    put_several(w, "result", block->result, block->n_result);
    pdnn_str_printf(w->out, " :ops");
    put_entries(w, block->ops);
    pdnn_str_append(w->out, "\n", 1);
}

static void put_blocks(const struct writer *w, const struct pdnn_definition *definition) {
    struct pdnn_arena arena = {0};
    struct pdnn_definition_block *sorted = pdnn_arena_alloc(&arena, definition->n_blocks + 1, sizeof *sorted);
    for (size_t i = 0; i < definition->n_blocks; i++)
        sorted[i] = definition->blocks[i];
    qsort(sorted, definition->n_blocks, sizeof *sorted, by_block_name);
    for (size_t i = 0; i < definition->n_blocks; i++)
        put_block(w, &sorted[i]);
    pdnn_arena_finish(&arena);
}

static void put_head(const struct writer *w, const struct pdnn_definition *definition) {
    pdnn_str_printf(w->out, "family %s", definition->name);
    for (size_t i = 0; i < definition->n_axes; i++)
        pdnn_str_printf(w->out, " %s:%s", definition->axes[i].name,
                        pdnn_axis_type_words[definition->axes[i].type]);
    pdnn_str_printf(w->out, "\nminibatch %s\n", definition->minibatch);
    if (definition->depth)
        pdnn_str_printf(w->out, "depth %s\n", definition->depth);
    pdnn_str_printf(w->out, "%s%s%s", definition->layers_run ? "layers_run\n" : "",
                    definition->is_linear ? "init linear\n" : "",
                    definition->group_layer ? "group layer\n" : "");
    if (definition->n_together)
        pdnn_str_printf(w->out, "together");
    for (size_t i = 0; i < definition->n_together; i++)
        pdnn_str_printf(w->out, " %s", definition->together[i]);
    put_key_expression(w, "when", definition->n_together ? definition->together_when : NULL);
    if (definition->n_together)
        pdnn_str_append(w->out, "\n", 1);
}

static void put_body(const struct writer *w, const struct pdnn_definition *definition) {
    for (size_t i = 0; i < definition->n_lets; i++) {
        pdnn_str_printf(w->out, "let");
        put_value(w, &definition->lets[i]);
        pdnn_str_append(w->out, "\n", 1);
    }
    for (size_t i = 0; i < definition->n_requires; i++) {
        pdnn_str_printf(w->out, "require ");
        pdnn_expression_write(definition->requires[i].that, w->out);
        put_key_text(w, "say", w->full ? definition->requires[i].say : NULL);
        pdnn_str_append(w->out, "\n", 1);
    }
    for (size_t i = 0; i < definition->n_inputs; i++)
        put_tensor(w, "input", &definition->inputs[i]);
    for (size_t i = 0; i < definition->n_weights; i++)
        put_tensor(w, "weight", &definition->weights[i]);
    put_blocks(w, definition);
    put_line_entries(w, "op", definition->ops);
    if (definition->n_result) {
        pdnn_str_printf(w->out, "result");
        put_several(w, "of", definition->result, definition->n_result);
        pdnn_str_append(w->out, "\n", 1);
    }
    put_line_entries(w, "loss", definition->loss);
}

static void put_axis(const struct writer *w, const struct pdnn_definition_axis *axis) {
    pdnn_str_printf(w->out, "axis %s %" PRId64 " %" PRId64, axis->name, axis->min, axis->max);
    if (axis->type == PDNN_AXIS_CHOICE) {
        pdnn_str_printf(w->out, " :choices");
        for (size_t i = 0; axis->choices[i]; i++) {
            pdnn_str_append(w->out, " ", 1);
            put_text(w, axis->choices[i]);
        }
    }
    if (axis->choices)
        put_key_text(w, "chosen", axis->fallback->text);
    else
        put_key_expression(w, "default", axis->fallback);
    put_key_text(w, "word", axis->word);
    put_key_text(w, "unit", axis->unit);
    put_key_text(w, "column", axis->column);
    if (axis->least != 1)
        pdnn_str_printf(w->out, " :least %d", axis->least);
    if (axis->equal)
        pdnn_str_printf(w->out, " :equal %d", axis->equal);
    put_flag(w, "input", axis->is_input);
    put_key_expression(w, "when", axis->when);
    pdnn_str_append(w->out, "\n", 1);
}

static void put_lengths(const struct writer *w, const struct pdnn_definition_lengths *lengths) {
    if (!lengths->source)
        return;
    pdnn_str_printf(w->out, "lengths %s", lengths->source);
    put_key_name(w, "target", lengths->target);
    put_key_name(w, "positions", lengths->positions);
    put_key_expression(w, "target_of", lengths->target_of);
    pdnn_str_printf(w->out, " %.17g %" PRId64 "\n", lengths->per_second, lengths->plus);
}

static void put_rest(const struct writer *w, const struct pdnn_definition *definition) {
    for (size_t i = 0; i < definition->n_axes; i++)
        put_axis(w, &definition->axes[i]);
    for (size_t i = 0; i < definition->n_layers; i++) {
        pdnn_str_printf(w->out, "layer %s ", pdnn_layer_part_words[definition->layers[i].part]);
        put_text(w, definition->layers[i].stem);
        pdnn_str_append(w->out, "\n", 1);
    }
    for (size_t i = 0; i < definition->n_presets; i++) {
        pdnn_str_printf(w->out, "preset ");
        put_text(w, definition->presets[i].name);
        pdnn_str_append(w->out, " ", 1);
        put_text(w, definition->presets[i].values);
        pdnn_str_append(w->out, "\n", 1);
    }
    put_lengths(w, &definition->lengths);
}

void pdnn_definition_write(const struct pdnn_definition *definition, bool full, struct pdnn_str *out) {
    const struct writer w = {out, full};
    put_head(&w, definition);
    put_body(&w, definition);
    if (full)
        put_rest(&w, definition);
}

const char *pdnn_definition_hash(const struct pdnn_definition *definition, char hash[PDNN_DEFINITION_HASH]) {
    char digest[PDNN_SHA256_TEXT];
    struct pdnn_str text = {0};
    pdnn_definition_write(definition, false, &text);
    memcpy(hash, pdnn_sha256(text.text, text.length, digest), PDNN_DEFINITION_HASH - 1);
    hash[PDNN_DEFINITION_HASH - 1] = 0;
    pdnn_str_finish(&text);
    return hash;
}
