#include "models/definition/compile.h"

#include "models/definition/family.h"
#include "models/definition/message.h"
#include "models/definition/globals.h"
#include "models/definition/op_code.h"
#include "models/definition/say.h"
#include "models/definition/text/canonical.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NOT_YET, ACTIVE, DONE };

struct compile {
    struct pdnn_compiler names;
    struct pdnn_compiled *compiled;
    struct pdnn_scope globals; /* axes, lets, the mode */
    const struct pdnn_op_code **ops;
    struct pdnn_block_code *blocks;
    int *state;     /* of blocks */
    int *levels;    /* how deep their calls are nested; 0: they call none */
    size_t *active; /* blocks that are being compiled, outermost first */
    size_t n_active;
    int most_slots;
    uint32_t n_entries;
    bool names_ops;      /* some entry is `op: expression` */
    bool *follows_depth; /* by global */
};

/* What holds for a list of entries: the names it sees. */
struct place {
    struct compile *c;
    struct pdnn_scope *scope;
};

#define FAIL(c, ...) pdnn_compiler_fail(&(c)->names, __VA_ARGS__)

static bool failed(const struct compile *c) {
    return pdnn_compiler_failed(&c->names);
}

static struct pdnn_arena *arena_of(const struct compile *c) {
    return c->names.arena;
}

/* ---- entries ---- */

static const struct pdnn_op_code *compile_op(struct compile *c, const struct pdnn_op_def *op) {
    size_t at = 0;
    while (pdnn_ops[at] != op)
        at++;
    if (!c->ops[at])
        c->ops[at] = pdnn_op_code_make(&c->names, pdnn_compiled_mode(c->compiled), op);
    return c->ops[at];
}

static const struct pdnn_block_code *compile_block(struct compile *c, size_t block, int32_t place);
static struct pdnn_entry_codes compile_entries(struct compile *c, struct pdnn_scope *scope,
                                               struct pdnn_definition_entries entries);

static int find_block(const struct compile *c, const char *name) {
    for (size_t i = 0; i < c->names.definition->n_blocks; i++)
        if (strcmp(c->names.definition->blocks[i].name, name) == 0)
            return (int)i;
    return -1;
}

static int find_weight(const struct compile *c, const char *name) {
    for (size_t i = 0; i < c->names.definition->n_weights; i++)
        if (strcmp(c->names.definition->weights[i].name, name) == 0)
            return (int)i;
    return -1;
}

static int find_operand(const struct pdnn_op_def *op, const char *name) {
    for (int i = 0; op->operands[i].name; i++)
        if (strcmp(op->operands[i].name, name) == 0)
            return i;
    return -1;
}

static int find_attribute(const struct pdnn_op_def *op, const char *name, const char *end) {
    size_t length = strlen(name), ends = strlen(end);
    for (int i = 0; op->attributes[i].name; i++) {
        const char *row = op->attributes[i].name;
        if (strncmp(row, name, length) == 0 && strncmp(row + length, end, ends) == 0 && !row[length + ends])
            return i;
    }
    return -1;
}

static bool is_beside(const char *name) {
    static const char *const words[] = {"from", "as", "when", "repeat", "layer", "share", "segment", "else"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], name) == 0)
            return true;
    return false;
}

enum { KNOWN_MAX = 2 * PDNN_ATTRIBUTES + PDNN_OPERANDS + 64 };

/* Words for what an op may be given: its attributes, x for x_h and x_w, and operands that are weights. */
static size_t attribute_words(struct compile *c, const struct pdnn_op_def *op, const char **words) {
    size_t count = 0;
    for (const struct pdnn_attribute *row = op->attributes; row->name; row++) {
        size_t length = strlen(row->name);
        if (row->derived || row->is_size)
            continue;
        words[count++] = row->name;
        if (length > 2 && strcmp(row->name + length - 2, "_h") == 0)
            words[count++] = pdnn_arena_printf(arena_of(c), "%.*s", (int)length - 2, row->name);
    }
    for (const struct pdnn_operand *row = op->operands; row->name; row++)
        if (row->kind == PDNN_OPERAND_WEIGHT)
            words[count++] = row->name;
    return count;
}

static void unknown_value(struct compile *c, const struct pdnn_definition_entry *entry,
                          const struct pdnn_definition_value *value, const char *kind, const char **words,
                          size_t count) {
    char hint[PDNN_SUGGESTION_TEXT];
    struct pdnn_str all = {0};
    pdnn_suggest(hint, value->name, words, count);
    for (size_t i = 0; i < count; i++)
        pdnn_str_printf(&all, "%s%s", i ? ", " : "", words[i]);
    if (is_beside(value->name))
        FAIL(c, value->place, "'%s' belongs beside %s, not in its braces", value->name, entry->name);
    else
        FAIL(c, value->place, "%s has no %s '%.60s'%s%s", entry->name, kind, value->name, *hint ? hint : ": ",
             *hint   ? ""
             : count ? pdnn_str_text(&all)
                     : "it has none");
    pdnn_str_finish(&all);
}

/* An operand by the name of a row of `weights`. */
static void compile_weight(struct compile *c, const struct pdnn_definition_entry *entry,
                           const struct pdnn_definition_value *value, struct pdnn_value_code *to) {
    const struct pdnn_definition *definition = c->names.definition;
    const char *text = value->value && value->value->kind == PDNN_EXPRESSION_NAME ? value->value->text : "";
    to->weight = find_weight(c, text);
    if (to->weight >= 0)
        return;
    const char **words = pdnn_arena_alloc(arena_of(c), definition->n_weights + 1, sizeof *words);
    char hint[PDNN_SUGGESTION_TEXT];
    for (size_t i = 0; i < definition->n_weights; i++)
        words[i] = definition->weights[i].name;
    FAIL(c, value->value ? value->value->offset : value->place,
         "%s: %s is a row of 'weights', there is no '%s'%s", entry->name, value->name, text,
         pdnn_suggest(hint, text, words, definition->n_weights));
}

/* What an entry may give beside the pattern. */
static void unknown_size(struct compile *c, const struct pdnn_definition_entry *entry,
                         const struct pdnn_definition_value *value, const struct pdnn_pattern_code *pattern) {
    const char *words[PDNN_AXES];
    for (int i = 0; i < pattern->n_names; i++)
        words[i] = pattern->names[i];
    unknown_value(c, entry, value, "name", words, (size_t)pattern->n_names);
}

static void compile_op_value(struct compile *c, const struct pdnn_scope *scope,
                             const struct pdnn_definition_entry *entry,
                             const struct pdnn_pattern_code *pattern,
                             const struct pdnn_definition_value *value, struct pdnn_value_code *to) {
    const struct pdnn_op_def *op = pattern->op;
    int operand = find_operand(op, value->name);
    *to =
        (struct pdnn_value_code){.name = value->name,
                                 .slot = find_attribute(op, value->name, ""),
                                 .second = -1,
                                 .weight = -1,
                                 .what = pdnn_arena_printf(arena_of(c), "%s: %s", entry->name, value->name)};
    if (pattern->term && to->slot != pattern->slot &&
        (to->slot = pdnn_pattern_code_find(pattern, value->name)) < 0) {
        unknown_size(c, entry, value, pattern);
        return;
    }
    if (to->slot < 0) {
        to->slot = find_attribute(op, value->name, "_h");
        to->second = to->slot < 0 ? -1 : find_attribute(op, value->name, "_w");
    }
    if (to->slot < 0 && operand >= 0 && op->operands[operand].kind == PDNN_OPERAND_WEIGHT) {
        to->slot = operand;
        compile_weight(c, entry, value, to);
        return;
    }
    if (to->slot >= 0 && op->attributes[to->slot].derived) {
        FAIL(c, value->place, "%s takes '%s' from the run setting mode", entry->name, value->name);
        return;
    }
    if (to->slot < 0) {
        const char *words[KNOWN_MAX];
        unknown_value(c, entry, value, "attribute", words, attribute_words(c, op, words));
        return;
    }
    to->attribute = &op->attributes[to->slot];
    if (!value->value)
        FAIL(c, value->place, "%s of %s has no value", value->name, entry->name);
    else if (to->attribute->is_pattern)
        to->term = pattern->term;
    else
        to->term = pdnn_scope_term(&c->names, scope, value->value);
}

static bool is_given(const struct pdnn_entry_code *call, int slot) {
    for (size_t i = 0; i < call->n_values; i++)
        if (call->values[i].weight < 0 && (call->values[i].slot == slot || call->values[i].second == slot))
            return true;
    return false;
}

/* `kernel` is kernel_h and kernel_w: what is said twice would depend on the order. */
static bool is_said_twice(const struct pdnn_entry_code *call, const struct pdnn_value_code *value) {
    return value->weight < 0 &&
           (is_given(call, value->slot) || (value->second >= 0 && is_given(call, value->second)));
}

static bool names_weight(const struct pdnn_entry_code *call) {
    for (size_t i = 0; i < call->n_values; i++)
        if (call->values[i].weight >= 0)
            return true;
    return false;
}

static void check_readings(struct compile *c, const struct pdnn_definition_entry *entry, size_t least,
                           size_t most) {
    size_t count = entry->n_from ? entry->n_from : 1;
    char range[48];
    snprintf(range, sizeof range,
             most == SIZE_MAX ? "%zu or more"
             : least == most  ? "%zu"
                              : "%zu to %zu",
             least, most);
    bool may_be_more = false; /* a name with indices stands for all of them */
    for (size_t i = 0; i < entry->n_from; i++)
        may_be_more |= entry->from[i]->kind == PDNN_EXPRESSION_NAME;
    if (count > most || (count < least && !may_be_more))
        FAIL(c, entry->place, "%s reads %s result%s, %s %zu%s", entry->name, range,
             least == 1 && most == 1 ? "" : "s", entry->n_from ? "from has" : "without from it gets", count,
             least > 1 ? ": write from: [in, ...]" : "");
}

static void check_names(struct compile *c, const struct pdnn_definition_entry *entry, size_t results) {
    if (entry->n_as > results)
        FAIL(c, entry->as[0]->offset, "%s gives %zu result%s, as names %zu", entry->name ? entry->name : "it",
             results, results == 1 ? "" : "s", entry->n_as);
}

/* What may be read: data, and weights that may be data. */
static void check_op_readings(struct compile *c, const struct pdnn_definition_entry *entry,
                              const struct pdnn_op_def *op) {
    size_t least = 0, most = 0;
    for (const struct pdnn_operand *row = op->operands; row->name; row++) {
        bool is_read = row->kind == PDNN_OPERAND_DATA || row->kind == PDNN_OPERAND_IDS ||
                       row->kind == PDNN_OPERAND_LABEL;
        least += is_read && !row->optional;
        most = row->many ? SIZE_MAX : most == SIZE_MAX ? most : most + (is_read || row->or_data);
    }
    check_readings(c, entry, least, most);
}

static void compile_op_call(struct compile *c, const struct pdnn_scope *scope,
                            const struct pdnn_definition_entry *entry, struct pdnn_entry_code *call) {
    const struct pdnn_op_def *op = pdnn_op_find(entry->name);
    struct pdnn_value_code *values = pdnn_arena_alloc(arena_of(c), entry->n_attributes + 1, sizeof *values);
    const struct pdnn_pattern_code pattern = pdnn_pattern_code_make(&c->names, entry, op);
    call->op = compile_op(c, op);
    call->values = values;
    for (size_t i = 0; i < entry->n_attributes && !failed(c); i++, call->n_values++) {
        compile_op_value(c, scope, entry, &pattern, &entry->attributes[i], &values[i]);
        if (!failed(c) && is_said_twice(call, &values[i]))
            FAIL(c, entry->attributes[i].place, "%s: %s is given already", entry->name, values[i].name);
    }
    if (failed(c))
        return;
    for (int i = 0; op->attributes[i].name; i++)
        if (op->attributes[i].required && !is_given(call, i) && !names_weight(call) &&
            !(entry->n_from > 1 && op->operands[1].name && op->operands[1].or_data)) {
            FAIL(c, entry->place, "%s needs '%s'", entry->name, op->attributes[i].name);
            return;
        }
    check_op_readings(c, entry, op);
    size_t n_outputs = 0;
    while (op->outputs[n_outputs])
        n_outputs++;
    check_names(c, entry, n_outputs);
    call->names_weights = names_weight(call);
    if (!failed(c))
        pdnn_op_code_fold(&c->names, call, values);
}

static void compile_block_call(struct compile *c, const struct pdnn_scope *scope,
                               const struct pdnn_definition_entry *entry, size_t index,
                               struct pdnn_entry_code *call) {
    const struct pdnn_definition_block *block = &c->names.definition->blocks[index];
    struct pdnn_value_code *values = pdnn_arena_alloc(arena_of(c), entry->n_attributes + 1, sizeof *values);
    call->values = values;
    call->block = compile_block(c, index, entry->place);
    for (size_t i = 0; i < entry->n_attributes && !failed(c); i++, call->n_values++) {
        const struct pdnn_definition_value *value = &entry->attributes[i];
        size_t at = 0;
        while (at < block->n_parameters && strcmp(block->parameters[at].name, value->name) != 0)
            at++;
        if (at == block->n_parameters) {
            const char **words = pdnn_arena_alloc(arena_of(c), at + 1, sizeof *words);
            for (size_t k = 0; k < at; k++)
                words[k] = block->parameters[k].name;
            unknown_value(c, entry, value, "parameter", words, at);
            return;
        }
        if (!value->value) {
            FAIL(c, value->place, "%s of %s has no value", value->name, entry->name);
            return;
        }
        values[i] = (struct pdnn_value_code){.name = value->name,
                                             .second = -1,
                                             .weight = -1,
                                             .slot = (int)(block->n_inputs + at),
                                             .term = pdnn_scope_term(&c->names, scope, value->value)};
    }
    for (size_t i = 0; i < block->n_parameters && !failed(c); i++)
        if (!block->parameters[i].value && !is_given(call, (int)(block->n_inputs + i)))
            FAIL(c, entry->place, "%s needs '%s'", entry->name, block->parameters[i].name);
    if (!failed(c))
        check_readings(c, entry, block->n_inputs, block->n_inputs);
    if (!failed(c))
        check_names(c, entry, block->n_result ? block->n_result : 1);
}

static void unknown_op(struct compile *c, const struct pdnn_definition_entry *entry) {
    size_t count = 0, n_ops = 0;
    while (pdnn_ops[n_ops])
        n_ops++;
    const char **words = pdnn_arena_alloc(arena_of(c), n_ops + c->names.definition->n_blocks, sizeof *words);
    char hint[PDNN_SUGGESTION_TEXT];
    for (size_t i = 0; i < n_ops; i++)
        if (pdnn_op_is_named(pdnn_ops[i]))
            words[count++] = pdnn_ops[i]->name;
    for (size_t i = 0; i < c->names.definition->n_blocks; i++)
        words[count++] = c->names.definition->blocks[i].name;
    FAIL(c, entry->place, "no op or block '%.60s'%s", entry->name,
         pdnn_suggest(hint, entry->name, words, count));
}

static bool is_indexed_name(const struct pdnn_expression *as) {
    return as->kind == PDNN_EXPRESSION_INDEX && as->operands[0]->kind == PDNN_EXPRESSION_NAME;
}

/* Their indices, which may use the variable of the entry's repeat. */
static struct pdnn_name_code *compile_indices(struct compile *c, const struct pdnn_scope *scope,
                                              const struct pdnn_definition_entry *entry) {
    struct pdnn_name_code *names = pdnn_arena_alloc(arena_of(c), entry->n_as + 1, sizeof *names);
    for (size_t i = 0; i < entry->n_as && !failed(c); i++)
        if (is_indexed_name(entry->as[i]))
            names[i].index = pdnn_scope_term(&c->names, scope, entry->as[i]->operands[1]);
    return names;
}

/* Names: plain ones hold from here to the end of the list, indexed ones in the whole block. */
static void compile_as(struct compile *c, struct pdnn_scope *scope, struct pdnn_name_code *names,
                       const struct pdnn_definition_entry *entry, struct pdnn_entry_code *call) {
    for (size_t i = 0; i < entry->n_as && !failed(c); i++) {
        const struct pdnn_expression *as = entry->as[i];
        bool is_indexed = is_indexed_name(as);
        if (!is_indexed && as->kind != PDNN_EXPRESSION_NAME) {
            FAIL(c, as->offset, "'as' gives a name, or a name with an index");
            return;
        }
        const char *text = is_indexed ? as->operands[0]->text : as->text;
        const struct pdnn_scope_name *old = pdnn_scope_find(scope, text);
        if (strcmp(text, "in") == 0 || strcmp(text, "mode") == 0)
            FAIL(c, as->offset, "'%s' has a meaning of its own and cannot name a result", text);
        else if (old && !(is_indexed && old->is_indexed))
            FAIL(c, as->offset, "'%s' is named already", text);
        if (failed(c))
            return;
        names[i].slot = old ? old->slot : pdnn_scope_slot(&c->names, scope, text);
        names[i].from = as;
        if (!old)
            scope->names[scope->count - 1].is_indexed = is_indexed;
    }
    call->as = names;
    call->n_as = entry->n_as;
}

static void compile_kind(struct compile *c, struct pdnn_scope *inner,
                         const struct pdnn_definition_entry *entry, struct pdnn_entry_code *call) {
    int block;
    switch (entry->kind) {
    case PDNN_ENTRY_GROUP:
        call->ops = compile_entries(c, inner, entry->ops);
        if (!failed(c))
            check_names(c, entry, 1);
        break;
    case PDNN_ENTRY_NAMED:
        call->value = pdnn_scope_term(&c->names, inner, entry->value);
        c->names_ops = true;
        break;
    case PDNN_ENTRY_REQUIRE:
        call->value = pdnn_scope_term(&c->names, inner, entry->value);
        if (!failed(c))
            call->say = pdnn_say_compile(&c->names, inner, entry->say, entry->place);
        break;
    case PDNN_ENTRY_OP:
    case PDNN_ENTRY_BLOCK:
        block = find_block(c, entry->name);
        if (block >= 0)
            compile_block_call(c, inner, entry, (size_t)block, call);
        else if (pdnn_op_is_named(pdnn_op_find(entry->name)))
            compile_op_call(c, inner, entry, call);
        else
            unknown_op(c, entry);
        break;
    }
}

/* Ends a list's plain names; those with indices stay. */
static void leave(struct pdnn_scope *scope, size_t first) {
    size_t kept = first;
    for (size_t i = first; i < scope->count; i++)
        if (scope->names[i].is_indexed)
            scope->names[kept++] = scope->names[i];
    scope->count = kept;
}

static bool follows_depth(const struct compile *c, const struct pdnn_term *term) {
    bool follows = term->kind == PDNN_TERM_GLOBAL && c->follows_depth[term->slot];
    for (size_t i = 0; term->operands && i < term->from->n_operands && !follows; i++)
        follows = follows_depth(c, term->operands[i]);
    return follows;
}

/* The depth itself, and values of `let` that are computed from it. */
static void mark_depth(struct compile *c) {
    const struct pdnn_definition *definition = c->names.definition;
    c->follows_depth =
        pdnn_arena_alloc(arena_of(c), definition->n_axes + definition->n_lets + 1, sizeof(bool));
    for (size_t i = 0; definition->depth && i < definition->n_axes; i++)
        c->follows_depth[i] = strcmp(definition->axes[i].name, definition->depth) == 0;
    for (size_t i = 0; i < definition->n_lets && !failed(c); i++)
        c->follows_depth[pdnn_compiled_let(c->compiled, i)] = follows_depth(c, c->compiled->lets[i]);
}

static struct pdnn_entry_code compile_entry(struct compile *c, struct pdnn_scope *scope,
                                            const struct pdnn_definition_entry *entry) {
    struct pdnn_entry_code call = {.entry = entry, .variable = -1, .share = -1, .id = c->n_entries++};
    size_t first = scope->count;
    if (entry->repeat)
        call.repeat = pdnn_scope_term(&c->names, scope, entry->repeat);
    if (entry->variable && pdnn_scope_find(scope, entry->variable))
        FAIL(c, entry->repeat->offset, "variable '%s' of repeat is named already", entry->variable);
    if (failed(c))
        return call;
    call.repeats_depth = call.repeat && follows_depth(c, call.repeat);
    if (entry->variable)
        call.variable = pdnn_scope_slot(&c->names, scope, entry->variable);
    if (entry->when)
        call.when = pdnn_scope_term(&c->names, scope, entry->when);
    if (entry->layer && !failed(c))
        call.layer = pdnn_scope_layer(&c->names, scope, entry->layer);
    if (entry->n_from && !failed(c))
        call.from = pdnn_scope_terms(&c->names, scope, entry->from, entry->n_from);
    call.n_from = entry->n_from;
    if (entry->share)
        call.share = pdnn_compiler_share(&c->names, entry->share);
    if (!failed(c) && entry->has_other)
        call.other = compile_entries(c, scope, entry->other);
    if (!failed(c))
        compile_kind(c, scope, entry, &call);
    if (failed(c))
        return call;
    struct pdnn_name_code *names = compile_indices(c, scope, entry);
    leave(scope, first);
    compile_as(c, scope, names, entry, &call);
    call.begins_layer = call.layer || (call.block && call.block->stem >= 0);
    call.segment = entry->segment || (call.block && call.block->block->segment);
    call.is_bare = (call.op || entry->kind == PDNN_ENTRY_NAMED) && !call.repeat && !call.when &&
                   !call.begins_layer && !call.segment && call.share < 0;
    return call;
}

static struct pdnn_entry_codes compile_entries(struct compile *c, struct pdnn_scope *scope,
                                               struct pdnn_definition_entries entries) {
    struct pdnn_entry_code *calls = pdnn_arena_alloc(arena_of(c), entries.count + 1, sizeof *calls);
    struct pdnn_entry_codes made = {calls, 0};
    size_t first = scope->count;
    for (; made.count < entries.count && !failed(c); made.count++)
        calls[made.count] = compile_entry(c, scope, &entries.entry[made.count]);
    leave(scope, first);
    return made;
}

/* ---- blocks ---- */

static void calls_itself(struct compile *c, size_t block, int32_t place) {
    struct pdnn_str path = {0};
    size_t first = 0;
    while (c->active[first] != block)
        first++;
    for (size_t i = first; i < c->n_active; i++)
        pdnn_str_printf(&path, "%s > ", c->names.definition->blocks[c->active[i]].name);
    FAIL(c, place, "block %s calls itself: %s%s", c->names.definition->blocks[block].name,
         pdnn_str_text(&path), c->names.definition->blocks[block].name);
    pdnn_str_finish(&path);
}

static void add_inputs(struct compile *c, struct pdnn_scope *scope) {
    const struct pdnn_definition *definition = c->names.definition;
    for (size_t i = 0; i < definition->n_inputs; i++) {
        pdnn_scope_add(&c->names, scope, definition->inputs[i].name, PDNN_TERM_INPUT, (int)i);
        scope->names[scope->count - 1].is_indexed = false;
    }
}

/* Axes, lets, the mode, the inputs, and `in`. */
static struct pdnn_scope begin_scope(struct compile *c) {
    struct pdnn_scope scope = {0};
    for (size_t i = 0; i < c->globals.count; i++)
        pdnn_scope_add(&c->names, &scope, c->globals.names[i].text, PDNN_TERM_GLOBAL,
                       c->globals.names[i].slot);
    add_inputs(c, &scope);
    pdnn_scope_add(&c->names, &scope, "in", PDNN_TERM_IN, 0);
    return scope;
}

static void compile_parameters(struct compile *c, struct pdnn_scope *scope, struct pdnn_block_code *code) {
    const struct pdnn_definition_block *block = code->block;
    for (size_t i = 0; i < block->n_inputs && !failed(c); i++) {
        if (pdnn_scope_find(&c->globals, block->inputs[i]))
            FAIL(c, block->place, "input '%s' of block %s is named already", block->inputs[i], block->name);
        pdnn_scope_slot(&c->names, scope, block->inputs[i]);
    }
    code->defaults = pdnn_arena_alloc(arena_of(c), block->n_parameters + 1, sizeof *code->defaults);
    for (size_t i = 0; i < block->n_parameters && !failed(c); i++) {
        const struct pdnn_definition_value *row = &block->parameters[i];
        if (row->value)
            code->defaults[i] = pdnn_scope_term(&c->names, scope, row->value);
        for (size_t k = 0; k < block->n_inputs; k++)
            if (strcmp(block->inputs[k], row->name) == 0)
                FAIL(c, row->place, "parameter '%s' of block %s has the name of an input", row->name,
                     block->name);
        pdnn_scope_slot(&c->names, scope, row->name);
    }
}

static const struct pdnn_block_code *compile_block(struct compile *c, size_t index, int32_t place) {
    struct pdnn_block_code *code = &c->blocks[index];
    const size_t caller = c->n_active ? c->active[c->n_active - 1] : index;
    if (c->state[index] == ACTIVE)
        calls_itself(c, index, place);
    else if (c->n_active == PDNN_CALLS_DEEP || (c->n_active && c->levels[index] >= PDNN_CALLS_DEEP - 1))
        FAIL(c, place, "blocks call each other more than %d deep", PDNN_CALLS_DEEP);
    if (c->state[index] != NOT_YET || failed(c)) {
        if (caller != index && c->levels[caller] <= c->levels[index])
            c->levels[caller] = c->levels[index] + 1;
        return code;
    }
    c->state[index] = ACTIVE;
    c->active[c->n_active++] = index;
    const struct pdnn_definition_block *block = &c->names.definition->blocks[index];
    struct pdnn_scope scope = begin_scope(c);
    *code = (struct pdnn_block_code){.block = block, .stem = -1};
    if (block->layer)
        code->stem = pdnn_compiler_stem(&c->names, block->layer);
    compile_parameters(c, &scope, code);
    if (!failed(c)) {
        /* The names of the outermost list hold for the results too. */
        struct pdnn_entry_code *calls = pdnn_arena_alloc(arena_of(c), block->ops.count + 1, sizeof *calls);
        code->ops.at = calls;
        for (; code->ops.count < block->ops.count && !failed(c); code->ops.count++)
            calls[code->ops.count] = compile_entry(c, &scope, &block->ops.entry[code->ops.count]);
    }
    if (!failed(c))
        code->result = pdnn_scope_terms(&c->names, &scope, block->result, block->n_result);
    code->n_slots = scope.n_slots;
    c->most_slots = scope.n_slots > c->most_slots ? scope.n_slots : c->most_slots;
    c->state[index] = DONE;
    c->n_active--;
    if (caller != index && c->levels[caller] <= c->levels[index])
        c->levels[caller] = c->levels[index] + 1;
    return code;
}

/* ---- the definition ---- */

/* Every op that `op: activation` may choose: those whose words the definition uses. */
static void compile_named_ops(struct compile *c) {
    for (size_t i = 0; c->names_ops && i < c->names.n_words && !failed(c); i++)
        if (c->names.words[i]->op && c->names.words[i]->is_used)
            c->names.words[i]->code = compile_op(c, c->names.words[i]->op);
}

static void check_blocks(struct compile *c) {
    const struct pdnn_definition *definition = c->names.definition;
    for (size_t i = 0; i < definition->n_blocks && !failed(c); i++) {
        if (pdnn_op_is_named(pdnn_op_find(definition->blocks[i].name)))
            FAIL(c, definition->blocks[i].place, "block '%s' has the name of an op",
                 definition->blocks[i].name);
        else if (c->state[i] == NOT_YET)
            FAIL(c, definition->blocks[i].place, "nothing uses block '%s'", definition->blocks[i].name);
    }
}

/* The definition's own lists: the loss goes on where the ops end, with their names. */
static void compile_own(struct compile *c) {
    const struct pdnn_definition *definition = c->names.definition;
    struct pdnn_scope scope = begin_scope(c);
    struct pdnn_definition_entries lists[2] = {definition->ops, definition->loss};
    struct pdnn_entry_codes made[2] = {0};
    for (int i = 0; i < 2; i++) {
        struct pdnn_entry_code *calls = pdnn_arena_alloc(arena_of(c), lists[i].count + 1, sizeof *calls);
        made[i].at = calls;
        for (; made[i].count < lists[i].count && !failed(c); made[i].count++)
            calls[made[i].count] = compile_entry(c, &scope, &lists[i].entry[made[i].count]);
        if (i == 0 && !failed(c))
            c->compiled->result =
                pdnn_scope_terms(&c->names, &scope, definition->result, definition->n_result);
    }
    c->compiled->own = made[0];
    c->compiled->loss = made[1];
    c->compiled->n_slots = scope.n_slots;
    c->most_slots = scope.n_slots > c->most_slots ? scope.n_slots : c->most_slots;
}

enum pdnn_status pdnn_definition_compile(const struct pdnn_definition *definition, struct pdnn_arena *arena,
                                         const struct pdnn_compiled **compiled, struct pdnn_err *err) {
    size_t n_ops = 0;
    while (pdnn_ops[n_ops])
        n_ops++;
    struct pdnn_err first = {0};
    struct compile c = {.names = {.definition = definition, .arena = arena, .err = &first}};
    c.compiled = pdnn_arena_alloc(arena, 1, sizeof *c.compiled);
    c.compiled->definition = definition;
    c.ops = pdnn_arena_alloc(arena, n_ops + 1, sizeof *c.ops);
    c.blocks = pdnn_arena_alloc(arena, definition->n_blocks + 1, sizeof *c.blocks);
    c.state = pdnn_arena_alloc(arena, definition->n_blocks + 1, sizeof *c.state);
    c.levels = pdnn_arena_alloc(arena, definition->n_blocks + 1, sizeof *c.levels);
    c.active = pdnn_arena_alloc(arena, definition->n_blocks + 1, sizeof *c.active);
    pdnn_globals_compile(&c.names, c.compiled, &c.globals);
    if (!failed(&c)) {
        mark_depth(&c);
        compile_own(&c);
    }
    check_blocks(&c);
    compile_named_ops(&c);
    c.compiled->ops = c.ops;
    c.compiled->blocks = c.blocks;
    c.compiled->stems = c.names.stems;
    c.compiled->n_stems = c.names.n_stems;
    c.compiled->shares = c.names.shares;
    c.compiled->n_shares = c.names.n_shares;
    c.compiled->n_caches = c.names.n_caches;
    c.compiled->most_slots = c.most_slots;
    if (!failed(&c))
        pdnn_definition_make_family(c.compiled, arena, &first);
    *compiled = c.compiled;
    if (failed(&c) && err)
        *err = first;
    return first.status;
}

enum pdnn_status pdnn_definition_family(const struct pdnn_definition *definition, bool ships,
                                        struct pdnn_arena *arena, const struct pdnn_family_def **family,
                                        struct pdnn_err *err) {
    const struct pdnn_compiled *compiled;
    char hash[PDNN_DEFINITION_HASH];
    enum pdnn_status status = pdnn_definition_compile(definition, arena, &compiled, err);
    if (status != PDNN_OK)
        return status;
    struct pdnn_family_def *made = pdnn_arena_alloc(arena, 1, sizeof *made);
    *made = compiled->family;
    made->ships = ships;
    made->hash = pdnn_arena_strdup(arena, pdnn_definition_hash(definition, hash));
    *family = made;
    return PDNN_OK;
}

const struct pdnn_definition *pdnn_family_definition(const struct pdnn_family_def *family) {
    return family->compiled->definition;
}
