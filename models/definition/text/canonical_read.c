#include "models/definition/text/canonical.h"

#include "base/units.h"
#include "models/definition/text/words.h"

#include <ctype.h>
#include <string.h>

/* After an error, which stays, nothing is taken and everything gives something harmless. */
struct reader {
    const char *start, *at;
    struct pdnn_arena *arena;
    struct pdnn_err err;
    int depth; /* of entries */
};

static bool failed(const struct reader *r) {
    return r->err.status != PDNN_OK;
}

static void deny(struct reader *r, const char *expected) {
    if (!failed(r))
        pdnn_fail(&r->err, PDNN_INVALID, "a family's text: %s at byte %zu", expected,
                  (size_t)(r->at - r->start));
}

static bool take(struct reader *r, const char *text) {
    const size_t length = strlen(text);
    if (failed(r) || strncmp(r->at, text, length) != 0)
        return false;
    r->at += length;
    return true;
}

static void want(struct reader *r, const char *text) {
    if (!take(r, text))
        deny(r, "something else than expected");
}

/* " :key", with a space, an end of line or a bracket behind it. */
static bool take_key(struct reader *r, const char *key) {
    const size_t length = strlen(key);
    if (failed(r) || strncmp(r->at, " :", 2) != 0 || strncmp(r->at + 2, key, length) != 0 ||
        !strchr(" \n)", r->at[2 + length]) || !r->at[2 + length])
        return false;
    r->at += 2 + length;
    return true;
}

static bool begins_value(const struct reader *r) {
    return !failed(r) && r->at[0] == ' ' && r->at[1] != ':';
}

static const char *take_name(struct reader *r) {
    const size_t length = failed(r) ? 0 : pdnn_expression_name_length(r->at);
    if (!length)
        deny(r, "no name");
    r->at += length;
    return pdnn_arena_printf(r->arena, "%.*s", (int)length, r->at - length);
}

static const struct pdnn_expression *take_expression(struct reader *r) {
    const struct pdnn_expression *expression = NULL;
    if (!failed(r) && pdnn_expression_read(&r->at, r->arena, &expression, NULL) != PDNN_OK)
        deny(r, "no expression");
    return expression;
}

static int64_t take_whole(struct reader *r) {
    char digits[24];
    const size_t length = failed(r) ? 0 : strspn(r->at, "-0123456789");
    int64_t number = 0;
    if (length < sizeof digits) {
        memcpy(digits, r->at, length);
        digits[length] = 0;
        r->at += length;
    }
    if (length >= sizeof digits || !pdnn_parse_i64(digits, &number))
        deny(r, "no whole number");
    return number;
}

static const char *take_text(struct reader *r) {
    size_t length = 0, count = 0;
    want(r, "\"");
    while (!failed(r) && r->at[length] && r->at[length] != '"')
        length += r->at[length] == '\\' && r->at[length + 1] ? 2 : 1;
    char *text = pdnn_arena_alloc(r->arena, length + 1, 1);
    while (!failed(r) && !take(r, "\"")) {
        take(r, "\\"); /* the next one means itself */
        if (!*r->at || iscntrl((unsigned char)*r->at))
            deny(r, "a text without its end");
        else
            text[count++] = *r->at++;
    }
    return text;
}

static const char *take_key_text(struct reader *r, const char *key) {
    if (!take_key(r, key))
        return NULL;
    want(r, " ");
    return take_text(r);
}

static const char *take_key_name(struct reader *r, const char *key) {
    if (!take_key(r, key))
        return NULL;
    want(r, " ");
    return take_name(r);
}

static const struct pdnn_expression *take_key_expression(struct reader *r, const char *key) {
    if (!take_key(r, key))
        return NULL;
    want(r, " ");
    return take_expression(r);
}

static const struct pdnn_expression *const *take_several(struct reader *r, const char *key, size_t *count) {
    const struct pdnn_expression **several = NULL;
    size_t room = 0, taken = 0;
    if (take_key(r, key))
        while (begins_value(r)) {
            want(r, " ");
            several = pdnn_arena_grow(r->arena, several, &room, taken, sizeof *several);
            several[taken++] = take_expression(r);
        }
    *count = failed(r) ? 0 : taken;
    return several;
}

static const char *const *take_names(struct reader *r, size_t *count) {
    const char **names = NULL;
    size_t room = 0;
    for (*count = 0; begins_value(r); ++*count) {
        want(r, " ");
        names = pdnn_arena_grow(r->arena, names, &room, *count, sizeof *names);
        names[*count] = take_name(r);
    }
    return names;
}

/* Values whose names ascend, if they must. */
static const struct pdnn_definition_value *take_values(struct reader *r, bool ascend, size_t *count) {
    struct pdnn_definition_value *values = NULL;
    size_t room = 0, taken = 0;
    while (begins_value(r)) {
        want(r, " ");
        values = pdnn_arena_grow(r->arena, values, &room, taken, sizeof *values);
        values[taken].name = take_name(r);
        values[taken].value = take(r, "=") ? take_expression(r) : NULL;
        if (ascend && taken && strcmp(values[taken - 1].name, values[taken].name) >= 0)
            deny(r, "attributes that do not ascend");
        taken++;
    }
    *count = taken;
    return values;
}

static struct pdnn_definition_entry take_entry(struct reader *r);

static struct pdnn_definition_entries take_entries(struct reader *r) {
    struct pdnn_definition_entry *entries = NULL;
    struct pdnn_definition_entries taken = {0};
    size_t room = 0;
    while (begins_value(r)) {
        want(r, " ");
        entries = pdnn_arena_grow(r->arena, entries, &room, taken.count, sizeof *entries);
        entries[taken.count++] = take_entry(r);
    }
    taken.entry = entries;
    return taken;
}

static void take_own(struct reader *r, struct pdnn_definition_entry *entry) {
    entry->name = take_name(r);
    if (strcmp(entry->name, "ops") == 0) {
        entry->kind = PDNN_ENTRY_GROUP;
        entry->ops = take_entries(r);
    } else if (strcmp(entry->name, "op") == 0 || strcmp(entry->name, "require") == 0) {
        entry->kind = entry->name[0] == 'o' ? PDNN_ENTRY_NAMED : PDNN_ENTRY_REQUIRE;
        want(r, " ");
        entry->value = take_expression(r);
    } else {
        entry->attributes = take_values(r, true, &entry->n_attributes);
    }
}

static struct pdnn_definition_entry take_entry(struct reader *r) {
    struct pdnn_definition_entry entry = {.name = ""};
    want(r, "(");
    if (r->depth >= PDNN_DEFINITION_DEPTH)
        deny(r, "entries that nest too deep");
    if (failed(r))
        return entry;
    r->depth++;
    take_own(r, &entry);
    entry.from = take_several(r, "from", &entry.n_from);
    entry.as = take_several(r, "as", &entry.n_as);
    entry.when = take_key_expression(r, "when");
    entry.has_other = entry.when && take_key(r, "else");
    if (entry.has_other)
        entry.other = take_entries(r);
    entry.repeat = take_key_expression(r, "repeat");
    entry.variable = entry.repeat ? take_key_name(r, "each") : NULL;
    entry.layer = take_key_expression(r, "layer");
    entry.share = take_key_text(r, "share");
    entry.segment = take_key(r, "segment");
    entry.say = entry.kind == PDNN_ENTRY_REQUIRE ? take_key_text(r, "say") : NULL;
    want(r, ")");
    r->depth--;
    return entry;
}

/* Lines that begin with the word. */
static struct pdnn_definition_entries take_line_entries(struct reader *r, const char *word) {
    struct pdnn_definition_entry *entries = NULL;
    struct pdnn_definition_entries taken = {0};
    size_t room = 0;
    while (take(r, word)) {
        entries = pdnn_arena_grow(r->arena, entries, &room, taken.count, sizeof *entries);
        entries[taken.count++] = take_entry(r);
        want(r, "\n");
    }
    taken.entry = entries;
    return taken;
}

static void take_fill(struct reader *r, struct pdnn_definition_tensor *row) {
    const char *word = take_key_name(r, "fill");
    const struct pdnn_fill_word *fill = pdnn_fill_words;
    while (word && fill->word && strcmp(fill->word, word) != 0)
        fill++;
    if (!word || !fill->word) {
        deny(r, "no fill");
        return;
    }
    row->fill = fill->kind;
    row->is_id = fill->is_id;
    row->fill_by = take_key_expression(r, "by");
}

static const struct pdnn_definition_tensor *take_tensors(struct reader *r, const char *word, size_t *count) {
    struct pdnn_definition_tensor *rows = NULL;
    size_t room = 0;
    for (*count = 0; take(r, word); ++*count) {
        rows = pdnn_arena_grow(r->arena, rows, &room, *count, sizeof *rows);
        struct pdnn_definition_tensor *row = &rows[*count];
        *row = (struct pdnn_definition_tensor){.name = take_name(r)};
        row->shape = take_several(r, "shape", &row->rank);
        if (row->rank > PDNN_RANK_MAX)
            deny(r, "too many dimensions");
        take_fill(r, row);
        row->is_state = take_key(r, "state");
        row->when = take_key_expression(r, "when");
        row->count = take_key_expression(r, "repeat");
        row->variable = row->count ? take_key_name(r, "each") : NULL;
        if (row->count && !row->variable)
            deny(r, "no variable");
        want(r, "\n");
    }
    return rows;
}

static const struct pdnn_definition_block *take_blocks(struct reader *r, size_t *count) {
    struct pdnn_definition_block *blocks = NULL;
    size_t room = 0;
    for (*count = 0; take(r, "block "); ++*count) {
        blocks = pdnn_arena_grow(r->arena, blocks, &room, *count, sizeof *blocks);
        struct pdnn_definition_block *block = &blocks[*count];
        *block = (struct pdnn_definition_block){.name = take_name(r)};
        if (*count && strcmp(block[-1].name, block->name) >= 0)
            deny(r, "blocks that do not ascend");
        block->parameters = take_values(r, false, &block->n_parameters);
        want(r, " :inputs");
        block->inputs = take_names(r, &block->n_inputs);
        block->layer = take_key_text(r, "layer");
        block->segment = take_key(r, "segment");
        block->result = take_several(r, "result", &block->n_result);
        want(r, " :ops");
        block->ops = take_entries(r);
        want(r, "\n");
    }
    return blocks;
}

static const struct pdnn_definition_require *take_requires(struct reader *r, size_t *count) {
    struct pdnn_definition_require *rows = NULL;
    size_t room = 0;
    for (*count = 0; take(r, "require "); ++*count) {
        rows = pdnn_arena_grow(r->arena, rows, &room, *count, sizeof *rows);
        rows[*count] = (struct pdnn_definition_require){.that = take_expression(r)};
        rows[*count].say = take_key_text(r, "say");
        want(r, "\n");
    }
    return rows;
}

static const struct pdnn_definition_value *take_lets(struct reader *r, size_t *count) {
    struct pdnn_definition_value *lets = NULL;
    size_t room = 0;
    for (*count = 0; take(r, "let "); ++*count) {
        lets = pdnn_arena_grow(r->arena, lets, &room, *count, sizeof *lets);
        lets[*count] = (struct pdnn_definition_value){.name = take_name(r)};
        want(r, "=");
        lets[*count].value = take_expression(r);
        want(r, "\n");
    }
    return lets;
}

static int find_axis(const struct pdnn_definition_axis *axes, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(axes[i].name, name) == 0)
            return (int)i;
    return -1;
}

static struct pdnn_definition_axis *take_axes(struct reader *r, size_t *count) {
    struct pdnn_definition_axis *axes = pdnn_arena_alloc(r->arena, PDNN_HYPER_MAX, sizeof *axes);
    for (*count = 0; *count < PDNN_HYPER_MAX && take(r, " "); ++*count) {
        struct pdnn_definition_axis *axis = &axes[*count];
        int type = 0;
        *axis = (struct pdnn_definition_axis){.name = take_name(r), .help = "", .example = "", .least = 1};
        want(r, ":");
        const char *word = take_name(r);
        while (pdnn_axis_type_words[type] && strcmp(pdnn_axis_type_words[type], word) != 0)
            type++;
        if (!pdnn_axis_type_words[type] || find_axis(axes, *count, axis->name) >= 0)
            deny(r, "no axis");
        axis->type = (enum pdnn_axis_type)type;
    }
    want(r, "\n");
    return axes;
}

/* The name of an axis. */
static const char *take_axis_name(struct reader *r, const struct pdnn_definition *definition) {
    const char *name = take_name(r);
    const int axis = find_axis(definition->axes, definition->n_axes, name);
    if (axis < 0)
        deny(r, "no axis");
    return axis < 0 ? NULL : definition->axes[axis].name;
}

static void take_together(struct reader *r, struct pdnn_definition *definition) {
    if (!take(r, "together"))
        return;
    definition->together = take_names(r, &definition->n_together);
    for (size_t i = 0; i < definition->n_together; i++) {
        const int axis = find_axis(definition->axes, definition->n_axes, definition->together[i]);
        if (axis < 0 || definition->axes[axis].type != PDNN_AXIS_LIST)
            deny(r, "no list");
    }
    definition->together_when = take_key_expression(r, "when");
    want(r, "\n");
}

static struct pdnn_definition_axis *take_head(struct reader *r, struct pdnn_definition *definition) {
    want(r, "family ");
    definition->name = take_name(r);
    definition->help = "";
    struct pdnn_definition_axis *axes = take_axes(r, &definition->n_axes);
    definition->axes = axes;
    want(r, "minibatch ");
    definition->minibatch = take_axis_name(r, definition);
    want(r, "\n");
    if (take(r, "depth ")) {
        definition->depth = take_axis_name(r, definition);
        want(r, "\n");
    }
    definition->layers_run = take(r, "layers_run\n");
    definition->is_linear = take(r, "init linear\n");
    definition->group_layer = take(r, "group layer\n");
    take_together(r, definition);
    return axes;
}

static void take_body(struct reader *r, struct pdnn_definition *definition) {
    definition->lets = take_lets(r, &definition->n_lets);
    definition->requires = take_requires(r, &definition->n_requires);
    definition->inputs = take_tensors(r, "input ", &definition->n_inputs);
    definition->weights = take_tensors(r, "weight ", &definition->n_weights);
    definition->blocks = take_blocks(r, &definition->n_blocks);
    definition->ops = take_line_entries(r, "op ");
    if (take(r, "result")) {
        definition->result = take_several(r, "of", &definition->n_result);
        want(r, "\n");
    }
    definition->loss = take_line_entries(r, "loss ");
}

static void take_choices(struct reader *r, struct pdnn_definition_axis *axis) {
    const char **choices = NULL;
    size_t room = 0, count = 0;
    axis->choices = pdnn_switch_words;
    if (axis->type == PDNN_AXIS_CHOICE) {
        want(r, " :choices");
        do {
            want(r, " ");
            choices = pdnn_arena_grow(r->arena, choices, &room, count, sizeof *choices);
            choices[count++] = take_text(r);
        } while (begins_value(r));
        choices = pdnn_arena_grow(r->arena, choices, &room, count, sizeof *choices);
        choices[count] = NULL;
        axis->choices = choices;
    }
    const char *word = take_key_text(r, "chosen");
    struct pdnn_expression *chosen = pdnn_expression_make(r->arena, PDNN_EXPRESSION_WORD, -1, NULL, 0);
    chosen->text = word;
    axis->fallback = chosen;
    for (size_t i = 0; word && axis->choices[i]; i++)
        if (strcmp(axis->choices[i], word) == 0)
            return;
    deny(r, "no choice");
}

/* How many numbers of a list, at least `first`; `usual` without the key. */
static int take_length(struct reader *r, const char *key, int64_t first, int usual) {
    if (!take_key(r, key))
        return usual;
    want(r, " ");
    const int64_t length = take_whole(r);
    if (length < first || length > PDNN_LIST_MAX)
        deny(r, "no length");
    return (int)length;
}

static void take_axis(struct reader *r, struct pdnn_definition_axis *axis) {
    want(r, "axis ");
    want(r, axis->name);
    want(r, " ");
    axis->min = take_whole(r);
    want(r, " ");
    axis->max = take_whole(r);
    if (axis->min > axis->max || (axis->type == PDNN_AXIS_LIST && axis->max > PDNN_LIST_NUMBER_MAX))
        deny(r, "no range");
    if (axis->type == PDNN_AXIS_CHOICE || axis->type == PDNN_AXIS_SWITCH)
        take_choices(r, axis);
    else
        axis->fallback = take_key_expression(r, "default");
    if (!axis->fallback && axis->type != PDNN_AXIS_LIST)
        deny(r, "no default");
    axis->word = take_key_text(r, "word");
    axis->unit = take_key_text(r, "unit");
    axis->column = take_key_text(r, "column");
    axis->least = take_length(r, "least", 2, 1);
    axis->equal = take_length(r, "equal", 1, 0);
    axis->is_input = take_key(r, "input");
    axis->when = take_key_expression(r, "when");
    want(r, "\n");
}

static const struct pdnn_layer_def *take_layers(struct reader *r, size_t *count) {
    struct pdnn_layer_def *layers = NULL;
    size_t room = 0;
    for (*count = 0; take(r, "layer "); ++*count) {
        const char *word = take_name(r);
        int part = 0;
        while (pdnn_layer_part_words[part] && strcmp(pdnn_layer_part_words[part], word) != 0)
            part++;
        if (!pdnn_layer_part_words[part])
            deny(r, "no part");
        want(r, " ");
        layers = pdnn_arena_grow(r->arena, layers, &room, *count, sizeof *layers);
        layers[*count] = (struct pdnn_layer_def){take_text(r), (enum pdnn_layer_part)part};
        want(r, "\n");
    }
    return layers;
}

static const struct pdnn_definition_preset *take_presets(struct reader *r, size_t *count) {
    struct pdnn_definition_preset *presets = NULL;
    size_t room = 0;
    for (*count = 0; take(r, "preset "); ++*count) {
        presets = pdnn_arena_grow(r->arena, presets, &room, *count, sizeof *presets);
        struct pdnn_definition_preset *preset = &presets[*count];
        *preset = (struct pdnn_definition_preset){.help = "", .params = -1, .macs = -1};
        preset->name = take_text(r);
        want(r, " ");
        preset->values = take_text(r);
        want(r, "\n");
    }
    return presets;
}

static void take_lengths(struct reader *r, struct pdnn_definition *definition) {
    struct pdnn_definition_lengths *lengths = &definition->lengths;
    char number[40];
    if (!take(r, "lengths "))
        return;
    lengths->source = take_axis_name(r, definition);
    if (take_key(r, "target")) {
        want(r, " ");
        lengths->target = take_axis_name(r, definition);
    }
    if (take_key(r, "positions")) {
        want(r, " ");
        lengths->positions = take_axis_name(r, definition);
    }
    lengths->target_of = take_key_expression(r, "target_of");
    want(r, " ");
    const size_t length = failed(r) ? 0 : strcspn(r->at, " \n");
    if (length < sizeof number) {
        memcpy(number, r->at, length);
        number[length] = 0;
        r->at += length;
    }
    if (length >= sizeof number || !pdnn_parse_double(number, &lengths->per_second))
        deny(r, "no number");
    want(r, " ");
    lengths->plus = take_whole(r);
    want(r, "\n");
}

/* What is read must be written as it was: numbers have one form, texts one way to be quoted. */
static void check_form(struct reader *r, const struct pdnn_definition *definition) {
    struct pdnn_str again = {0};
    if (failed(r))
        return;
    pdnn_definition_write(definition, true, &again);
    if (strcmp(pdnn_str_text(&again), r->start) != 0)
        deny(r, "not the one way to write it");
    pdnn_str_finish(&again);
}

enum pdnn_status pdnn_definition_read(const char *text, struct pdnn_arena *arena,
                                      const struct pdnn_definition **definition, struct pdnn_err *err) {
    struct reader r = {.start = text, .at = text, .arena = arena};
    struct pdnn_definition *read = pdnn_arena_alloc(arena, 1, sizeof *read);
    if (strlen(text) > PDNN_DEFINITION_TEXT)
        return pdnn_fail(err, PDNN_INVALID, "a family's text is longer than %d bytes", PDNN_DEFINITION_TEXT);
    struct pdnn_definition_axis *axes = take_head(&r, read);
    take_body(&r, read);
    for (size_t i = 0; i < read->n_axes && !failed(&r); i++)
        take_axis(&r, &axes[i]);
    read->layers = take_layers(&r, &read->n_layers);
    read->presets = take_presets(&r, &read->n_presets);
    take_lengths(&r, read);
    if (!failed(&r) && *r.at)
        deny(&r, "something behind its end");
    check_form(&r, read);
    if (failed(&r)) {
        if (err)
            *err = r.err;
        return r.err.status;
    }
    *definition = read;
    return PDNN_OK;
}
