#include "models/definition/family.h"

#include "models/attributes.h"
#include "models/definition/build.h"
#include "models/definition/message.h"
#include "models/definition/resolve.h"
#include "models/instance.h"

#include <stdio.h>
#include <string.h>

enum { COMBINATIONS_MAX = 1 << 12 };

struct face {
    struct pdnn_compiled *compiled;
    /* By block: what was asked of it already, since blocks are called often. */
    const struct pdnn_op_def **first;
    bool *has_first, *has_parts; /* has_parts: two each, outside of any layer and inside */
    const struct pdnn_definition *definition;
    struct pdnn_arena *arena;
    struct pdnn_err *err;
};

static int axis_of(const struct face *f, const char *name) {
    for (size_t i = 0; name && i < f->definition->n_axes; i++)
        if (strcmp(f->definition->axes[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* ---- parameter rows ---- */

static int64_t number_of(const struct face *f, const struct pdnn_definition_axis *axis,
                         const struct pdnn_expression *fallback) {
    struct pdnn_rational number = fallback->number;
    if (axis->type == PDNN_AXIS_DECIMAL &&
        !pdnn_rational_multiply(number, pdnn_rational_whole(PDNN_MILLION), &number))
        pdnn_definition_fail(f->definition, fallback->offset, f->err, "the default of %s has too many digits",
                             axis->name);
    if (fallback->kind != PDNN_EXPRESSION_NUMBER || !pdnn_rational_is_whole(number) ||
        number.numerator < axis->min || number.numerator > axis->max)
        pdnn_definition_fail(f->definition, fallback->offset, f->err,
                             "the default of %s is no number in its range", axis->name);
    return number.numerator;
}

static struct pdnn_value fallback_of(const struct face *f, const struct pdnn_definition_axis *axis) {
    const struct pdnn_expression *fallback = axis->fallback;
    int64_t numbers[PDNN_LIST_MAX];
    if (!fallback || axis->word)
        return pdnn_value_of(-1);
    if (axis->choices) {
        int word = 0;
        while (axis->choices[word] && strcmp(axis->choices[word], fallback->text) != 0)
            word++;
        return pdnn_value_of(axis->choices[word] ? word : 0);
    }
    if (fallback->kind != PDNN_EXPRESSION_LIST)
        return pdnn_value_of(number_of(f, axis, fallback));
    if (axis->type != PDNN_AXIS_LIST || fallback->n_operands < 1 || fallback->n_operands > PDNN_LIST_MAX) {
        pdnn_definition_fail(f->definition, fallback->offset, f->err,
                             "the default of %s is no list of 1 to %d numbers", axis->name, PDNN_LIST_MAX);
        return pdnn_value_of(-1);
    }
    for (size_t i = 0; i < fallback->n_operands; i++)
        numbers[i] = number_of(f, axis, fallback->operands[i]);
    return pdnn_list_make(numbers, (int)fallback->n_operands);
}

static void make_params(const struct face *f) {
    static const enum pdnn_param_type types[] = {
        [PDNN_AXIS_INT] = PDNN_PARAM_INT,       [PDNN_AXIS_DECIMAL] = PDNN_PARAM_DECIMAL,
        [PDNN_AXIS_LIST] = PDNN_PARAM_LIST,     [PDNN_AXIS_CHOICE] = PDNN_PARAM_CHOICE,
        [PDNN_AXIS_SWITCH] = PDNN_PARAM_CHOICE,
    };
    struct pdnn_param_def *params = pdnn_arena_alloc(f->arena, f->definition->n_axes + 1, sizeof *params);
    for (size_t i = 0; i < f->definition->n_axes; i++) {
        const struct pdnn_definition_axis *axis = &f->definition->axes[i];
        params[i] = (struct pdnn_param_def){.name = axis->name,
                                            .column = axis->column,
                                            .type = types[axis->type],
                                            .min = axis->min,
                                            .max = axis->max,
                                            .fallback = fallback_of(f, axis),
                                            .choices = axis->choices,
                                            .word = axis->fallback ? axis->word : "none",
                                            .word_value = -1,
                                            .unit = axis->unit,
                                            .is_input = axis->is_input,
                                            .help = axis->help,
                                            .example = axis->example};
    }
    f->compiled->family.params = params;
    f->compiled->family.n_params = f->definition->n_axes;
}

/* ---- when parameters apply ---- */

/* Marks the axes that an expression names; they must be words or switches. */
static bool mark_deciding(const struct face *f, const struct pdnn_expression *expression, bool *decides) {
    for (size_t i = 0; i < expression->n_operands; i++)
        if (!mark_deciding(f, expression->operands[i], decides))
            return false;
    int axis = expression->kind == PDNN_EXPRESSION_NAME ? axis_of(f, expression->text) : -1;
    if (axis >= 0 && !f->definition->axes[axis].choices) {
        pdnn_definition_fail(f->definition, expression->offset, f->err,
                             "'%s' has numbers: what applies is decided by words and switches",
                             expression->text);
        return false;
    }
    if (axis >= 0)
        decides[axis] = true;
    return true;
}

static int choices_of(const struct pdnn_definition_axis *axis) {
    int count = 0;
    while (axis->choices[count])
        count++;
    return count;
}

static struct pdnn_datum choice(const struct pdnn_compiled *compiled, int axis, int word) {
    if (compiled->definition->axes[axis].type == PDNN_AXIS_SWITCH)
        return (struct pdnn_datum){.kind = PDNN_DATUM_NUMBER, .number = pdnn_rational_whole(word)};
    return (struct pdnn_datum){.kind = PDNN_DATUM_WORD,
                               .word = compiled->choices[compiled->first_choice[axis] + word]};
}

static void evaluate_masks(const struct face *f, const int *counts, size_t combinations, uint32_t *bits) {
    struct pdnn_compiled *compiled = f->compiled;
    const struct pdnn_masks *masks = &compiled->family.applies;
    const size_t n_globals = f->definition->n_axes + f->definition->n_lets + 1;
    struct pdnn_build build = {.compiled = compiled,
                               .arena = f->arena,
                               .err = f->err,
                               .in = PDNN_NONE,
                               .layer = {-1, 0, false},
                               .share = -1};
    build.globals = pdnn_arena_alloc(f->arena, n_globals + compiled->n_caches, sizeof *build.globals);
    build.caches = build.globals + n_globals;
    for (size_t at = 0; at < combinations; at++) {
        memset(build.caches, 0, compiled->n_caches * sizeof *build.caches);
        for (size_t k = 0; k < masks->n_deciding; k++)
            build.globals[masks->deciding[k]] =
                choice(compiled, masks->deciding[k], (int)(at / (size_t)masks->stride[k]) % counts[k]);
        for (size_t i = 0; i < f->definition->n_axes; i++) {
            bool holds = true;
            if (compiled->when[i] && !pdnn_term_holds(&build, compiled->when[i], &holds))
                return;
            bits[at] |= (uint32_t)holds << i;
        }
    }
}

static void make_masks(const struct face *f) {
    struct pdnn_masks *masks = &f->compiled->family.applies;
    const size_t n_axes = f->definition->n_axes;
    bool *decides = pdnn_arena_alloc(f->arena, n_axes + 1, sizeof *decides), any = false;
    int *deciding = pdnn_arena_alloc(f->arena, 3 * n_axes + 1, sizeof *deciding);
    int *stride = deciding + n_axes, *counts = stride + n_axes;
    size_t combinations = 1;
    for (size_t i = 0; i < n_axes; i++) {
        any |= f->definition->axes[i].when != NULL;
        if (f->definition->axes[i].when && !mark_deciding(f, f->definition->axes[i].when, decides))
            return;
    }
    for (size_t i = 0; any && i < n_axes; i++) {
        if (!decides[i])
            continue;
        counts[masks->n_deciding] = choices_of(&f->definition->axes[i]);
        deciding[masks->n_deciding] = (int)i;
        stride[masks->n_deciding] = (int)combinations;
        combinations *= (size_t)counts[masks->n_deciding++];
        if (combinations > COMBINATIONS_MAX) {
            pdnn_definition_fail(f->definition, f->definition->axes[i].place, f->err,
                                 "conditions of axes depend on more than %d combinations of words",
                                 COMBINATIONS_MAX);
            return;
        }
    }
    masks->deciding = deciding;
    masks->stride = stride;
    masks->count = combinations;
    uint32_t *bits = any ? pdnn_arena_alloc(f->arena, combinations, sizeof *bits) : NULL;
    masks->bits = bits;
    if (any)
        evaluate_masks(f, counts, combinations, bits);
}

/* ---- layers ---- */

static enum pdnn_layer_part part_of(const struct pdnn_op_def *op) {
    static const struct {
        const char *category;
        enum pdnn_layer_part part;
    } rows[] = {
        {"embedding", PDNN_LAYER_EMBEDDING},
        {"linear gemm", PDNN_LAYER_DENSE},
        {"convolution", PDNN_LAYER_CONVOLUTION},
        {"recurrent", PDNN_LAYER_RECURRENT},
        {"attention gemm", PDNN_LAYER_ATTENTION},
        {"cache", PDNN_LAYER_ATTENTION},
        {"softmax", PDNN_LAYER_SOFTMAX},
        {"attention", PDNN_LAYER_ADDITIVE_ATTENTION},
        {"activation", PDNN_LAYER_ACTIVATION},
        {"normalization", PDNN_LAYER_NORM},
        {"batchnorm", PDNN_LAYER_NORM},
        {"dropout", PDNN_LAYER_NORM},
        {"loss", PDNN_LAYER_OUTPUT},
    };
    for (size_t i = 0; op && i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].category, op->category) == 0)
            return rows[i].part;
    return PDNN_LAYER_OTHER;
}

/* The first op that the entries build. */
static const struct pdnn_op_def *first_op(const struct face *f, struct pdnn_entry_codes calls) {
    const struct pdnn_op_def *op = NULL;
    for (size_t i = 0; i < calls.count && !op; i++) {
        const struct pdnn_entry_code *call = &calls.at[i];
        const size_t block = call->block ? (size_t)(call->block - f->compiled->blocks) : 0;
        if (call->block && !f->has_first[block]) {
            f->has_first[block] = true;
            f->first[block] = first_op(f, call->block->ops);
        }
        op = call->op ? call->op->op : call->block ? f->first[block] : first_op(f, call->ops);
    }
    return op;
}

struct parts {
    struct pdnn_layer_def *rows;
    size_t count;
};

static void add_part(struct parts *parts, const char *stem, enum pdnn_layer_part part) {
    for (size_t i = 0; i < parts->count; i++)
        if (strcmp(parts->rows[i].stem, stem) == 0)
            return;
    parts->rows[parts->count++] = (struct pdnn_layer_def){stem, part};
}

/* The stems that a layer's name may have. */
static void add_stems(const struct face *f, struct parts *parts, const struct pdnn_term *layer,
                      enum pdnn_layer_part part) {
    if (layer->kind == PDNN_TERM_CONSTANT || layer->kind == PDNN_TERM_STEM) {
        add_part(parts, f->compiled->stems[layer->slot], part);
        return;
    }
    add_stems(f, parts, layer->operands[1], part);
    add_stems(f, parts, layer->operands[2], part);
}

static void add_parts(const struct face *f, struct parts *parts, struct pdnn_entry_codes calls, bool inside) {
    for (size_t i = 0; i < calls.count; i++) {
        const struct pdnn_entry_code *call = &calls.at[i];
        struct pdnn_entry_codes inner = call->block ? call->block->ops : call->ops;
        const struct pdnn_op_def *op =
            call->op ? call->op->op : first_op(f, (struct pdnn_entry_codes){call, 1});
        bool has_layer = inside || call->layer || (call->block && call->block->stem >= 0);
        if (call->layer)
            add_stems(f, parts, call->layer, part_of(op));
        if (call->block && call->block->stem >= 0)
            add_part(parts, f->compiled->stems[call->block->stem], part_of(op));
        if (call->op && !has_layer)
            add_part(parts, op->name, part_of(op));
        for (size_t k = 0; call->entry->kind == PDNN_ENTRY_NAMED && !has_layer && pdnn_ops[k]; k++)
            if (f->compiled->ops[k])
                add_part(parts, pdnn_ops[k]->name, part_of(pdnn_ops[k]));
        bool *done = call->block ? &f->has_parts[2 * (call->block - f->compiled->blocks) + has_layer] : NULL;
        if (!done || !*done)
            add_parts(f, parts, inner, has_layer);
        if (done)
            *done = true;
        add_parts(f, parts, call->other, has_layer);
    }
}

static void make_layers(const struct face *f) {
    size_t n_ops = 0;
    while (pdnn_ops[n_ops])
        n_ops++;
    struct parts parts = {.rows = pdnn_arena_alloc(f->arena,
                                                   f->definition->n_layers + f->compiled->n_stems + n_ops + 1,
                                                   sizeof *parts.rows)};
    for (size_t i = 0; i < f->definition->n_layers; i++)
        add_part(&parts, f->definition->layers[i].stem, f->definition->layers[i].part);
    add_parts(f, &parts, f->compiled->own, false);
    add_parts(f, &parts, f->compiled->loss, false);
    f->compiled->family.layers = parts.rows;
    f->compiled->family.n_layers = parts.count;
}

/* ---- what it is made of ---- */

static bool uses(const struct face *f, const struct pdnn_op_def *op) {
    for (size_t i = 0; pdnn_ops[i]; i++)
        if (pdnn_ops[i] == op)
            return f->compiled->ops[i] != NULL;
    return false;
}

/* Of one list; those of blocks are asked apart. */
static bool has_segments(struct pdnn_entry_codes calls) {
    for (size_t i = 0; i < calls.count; i++) {
        const struct pdnn_entry_code *call = &calls.at[i];
        if (call->segment || has_segments(call->ops) || has_segments(call->other))
            return true;
    }
    return false;
}

static void make_flags(const struct face *f) {
    struct pdnn_family_def *family = &f->compiled->family;
    const bool has_conv2d = uses(f, &pdnn_op_conv2d);
    family->convolves = has_conv2d || uses(f, &pdnn_op_conv_transpose2d);
    family->recurs = uses(f, &pdnn_op_rnn);
    family->quantizes = !family->recurs && (uses(f, &pdnn_op_dense) || has_conv2d);
    family->has_blocks = uses(f, &pdnn_op_layernorm) || uses(f, &pdnn_op_softmax);
    family->has_segments = has_segments(f->compiled->own);
    for (size_t i = 0; i < f->definition->n_blocks; i++)
        family->has_segments |= has_segments(f->compiled->blocks[i].ops);
    family->repeats_layers = f->definition->layers_run;
    family->stems_apart = f->definition->group_layer;
}

static void make_lengths(const struct face *f) {
    const struct pdnn_definition_lengths *row = &f->definition->lengths;
    if (!row->source)
        return;
    struct pdnn_lengths_def *lengths = pdnn_arena_alloc(f->arena, 1, sizeof *lengths);
    *lengths = (struct pdnn_lengths_def){.source = axis_of(f, row->source),
                                         .target = axis_of(f, row->target),
                                         .positions = axis_of(f, row->positions),
                                         .per_second = row->per_second,
                                         .plus = row->plus};
    f->compiled->family.lengths = lengths;
}

static void make_presets(const struct face *f) {
    struct pdnn_preset *presets = pdnn_arena_alloc(f->arena, f->definition->n_presets + 1, sizeof *presets);
    for (size_t i = 0; i < f->definition->n_presets; i++)
        presets[i] = (struct pdnn_preset){f->definition->presets[i].name, f->definition->presets[i].values,
                                          f->definition->presets[i].help};
    f->compiled->family.presets = presets;
    f->compiled->family.n_presets = f->definition->n_presets;
}

/* Whoever asks for a preset has it. */
static void check_presets(const struct face *f) {
    const struct pdnn_family_def *family = &f->compiled->family;
    struct pdnn_instance instance;
    struct pdnn_err why = {0};
    if (family->n_presets > PDNN_PRESETS_MAX)
        pdnn_definition_fail(f->definition, f->definition->presets[PDNN_PRESETS_MAX].place, f->err,
                             "a family has at most %d presets", PDNN_PRESETS_MAX);
    for (size_t i = 0; i < family->n_presets && f->err->status == PDNN_OK; i++)
        if (pdnn_instance_parse_preset(&instance, family, &family->presets[i], &why) != PDNN_OK)
            pdnn_definition_fail(f->definition, f->definition->presets[i].place, f->err, "preset %.60s: %s",
                                 family->presets[i].name, why.text);
}

static void build(const struct pdnn_instance *instance, struct pdnn_graph *graph) {
    pdnn_definition_build(instance->family->compiled, instance, graph);
}

static void resolve(struct pdnn_instance *instance) {
    pdnn_definition_resolve(instance->family->compiled, instance);
}

static int64_t target_of(const struct pdnn_family_def *family, int64_t source) {
    return pdnn_definition_target(family->compiled, source);
}

enum pdnn_status pdnn_definition_make_family(struct pdnn_compiled *compiled, struct pdnn_arena *arena,
                                             struct pdnn_err *err) {
    const size_t n_blocks = compiled->definition->n_blocks;
    const struct face f = {.compiled = compiled,
                           .definition = compiled->definition,
                           .arena = arena,
                           .err = err,
                           .first = pdnn_arena_alloc(arena, n_blocks + 1, sizeof *f.first),
                           .has_first = pdnn_arena_alloc(arena, n_blocks + 1, sizeof *f.has_first),
                           .has_parts = pdnn_arena_alloc(arena, 2 * n_blocks + 1, sizeof *f.has_parts)};
    struct pdnn_family_def *family = &compiled->family;
    if (f.definition->n_axes > PDNN_HYPER_MAX)
        return pdnn_definition_fail(f.definition, f.definition->axes[PDNN_HYPER_MAX].place, err,
                                    "a family has at most %d axes", PDNN_HYPER_MAX);
    family->name = f.definition->name;
    family->help = f.definition->help;
    family->file = f.definition->source ? f.definition->file : NULL;
    family->compiled = compiled;
    family->minibatch_param = axis_of(&f, f.definition->minibatch);
    family->depth_param = axis_of(&f, f.definition->depth);
    make_params(&f);
    make_masks(&f);
    make_layers(&f);
    make_presets(&f);
    make_lengths(&f);
    make_flags(&f);
    family->resolve = resolve;
    family->build = build;
    family->target_of = target_of;
    if (err->status == PDNN_OK)
        check_presets(&f);
    return err->status;
}
