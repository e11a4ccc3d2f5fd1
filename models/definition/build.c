#include "models/definition/build.h"

#include "models/definition/apply.h"
#include "models/definition/message.h"
#include "models/definition/needed.h"
#include "models/definition/tensors.h"
#include "models/definition/values.h"

#include <inttypes.h>
#include <string.h>

enum { ENTRIES_MAX = 1 << 21 };

/* What a definition says where a requirement does not hold: as it is written, without a place. */
static bool say(struct pdnn_build *build, const struct pdnn_say *pieces) {
    struct pdnn_str out = {0};
    bool fine = true;
    for (size_t i = 0; i < pieces->count && fine; i++) {
        const struct pdnn_say_piece *piece = &pieces->pieces[i];
        char layer[PDNN_LAYER_TEXT], text[PDNN_DATUM_TEXT];
        struct pdnn_datum datum;
        pdnn_str_printf(&out, "%s", piece->text);
        if (piece->is_layer)
            pdnn_str_printf(&out, "%s", pdnn_layer_format(build->graph->layer, layer));
        if (piece->term && (fine = pdnn_term_evaluate(build, piece->term, &datum)))
            pdnn_str_printf(&out, "%s",
                            piece->axis >= 0 ? pdnn_axis_say(build, piece->axis, text)
                                             : pdnn_datum_say(build, &datum, text));
    }
    if (fine)
        pdnn_fail(build->err, PDNN_INVALID, "%s", pdnn_str_text(&out));
    pdnn_str_finish(&out);
    return false;
}

/* The layer of what follows; `shown` is the number that its nodes have, 0 for none. */
static void set_layer(struct pdnn_build *build, struct pdnn_layer_state state, int64_t shown) {
    build->layer = state;
    build->graph->layer.stem = state.stem < 0 ? NULL : build->compiled->stems[state.stem];
    build->graph->layer.index = shown;
}

/* Layers of this stem print their numbers from now on, and the one before that did not. */
static void number_stem(struct pdnn_build *build, int stem) {
    struct pdnn_graph *graph = build->graph;
    if (build->stems[stem].is_numbered)
        return;
    build->stems[stem].is_numbered = true;
    for (size_t i = build->first_node; build->stems[stem].count && i < graph->n_nodes; i++)
        if (graph->nodes[i].layer.stem == build->compiled->stems[stem] && !graph->nodes[i].layer.index)
            graph->nodes[i].layer.index = 1;
}

/* A layer of the stem: with the number of the layer around it, if that is a round's, else with its own. */
static void begin_stem(struct pdnn_build *build, int stem, bool repeated) {
    struct pdnn_layer_state state = {stem, build->layer.index, true};
    if (build->layer.stem >= 0 && build->layer.is_numbered) {
        number_stem(build, stem);
        set_layer(build, state, state.index);
        return;
    }
    if (repeated || build->repeats || build->stems[stem].count)
        number_stem(build, stem);
    state.index = ++build->stems[stem].count;
    state.is_numbered = repeated || build->repeats;
    set_layer(build, state, build->stems[stem].is_numbered ? state.index : 0);
}

/* The layer that the entry or its block names; false after an error. */
static bool begin_layer(struct pdnn_build *build, const struct pdnn_entry_code *call, bool repeated) {
    struct pdnn_datum name;
    if (!call->begins_layer)
        return true;
    if (!call->layer) {
        begin_stem(build, call->block->stem, repeated);
        return true;
    }
    if (!pdnn_term_evaluate(build, call->layer, &name))
        return false;
    if (name.layer.index < 0)
        begin_stem(build, name.layer.stem, repeated);
    else
        set_layer(build, (struct pdnn_layer_state){name.layer.stem, name.layer.index, false},
                  name.layer.index);
    return true;
}

static bool run_calls(struct pdnn_build *build, struct pdnn_entry_codes calls);

static bool read_one(struct pdnn_build *build, const struct pdnn_entry_code *call,
                     const struct pdnn_term *term, struct pdnn_readings *x) {
    struct pdnn_datum datum;
    char kind[PDNN_DATUM_TEXT];
    const struct pdnn_datum *known = pdnn_term_known(build, term);
    if (known && known->kind == PDNN_DATUM_TENSOR && x->count < PDNN_NODE_INPUTS) {
        x->at[x->count++] = known->tensor;
        return true;
    }
    if (!pdnn_term_evaluate(build, term, &datum))
        return false;
    if (datum.kind == PDNN_DATUM_NONE)
        return pdnn_build_fail(build, term->from->offset,
                               "nothing was computed before this, say what it reads with from");
    size_t count = datum.kind == PDNN_DATUM_RESULTS ? datum.results->count : 1;
    if (datum.kind != PDNN_DATUM_RESULTS && datum.kind != PDNN_DATUM_TENSOR)
        return pdnn_build_fail(build, term->from->offset, "reads %s, expected a result or an input",
                               pdnn_datum_kind(build, &datum, kind));
    for (size_t i = 0; i < count; i++) {
        uint32_t tensor = datum.kind == PDNN_DATUM_TENSOR ? datum.tensor : datum.results->at[i];
        if (tensor == PDNN_NONE)
            continue;
        if (x->count == PDNN_NODE_INPUTS)
            return pdnn_build_fail(build, call->entry->place, "reads more than %d results", PDNN_NODE_INPUTS);
        x->at[x->count++] = tensor;
    }
    return true;
}

/* At most the first `most` of what it reads. */
static bool read_from(struct pdnn_build *build, const struct pdnn_entry_code *call, size_t most,
                      struct pdnn_readings *x) {
    x->count = 0;
    for (size_t i = 0; i < call->n_from && i < most; i++)
        if (!read_one(build, call, call->from[i], x))
            return false;
    if (!call->n_from && build->in != PDNN_NONE)
        x->at[x->count++] = build->in;
    return true;
}

static bool name_indexed(struct pdnn_build *build, const struct pdnn_name_code *name, uint32_t result) {
    struct pdnn_datum *slot = &build->frame[name->slot];
    int64_t index;
    if (!pdnn_term_whole(build, name->index, "the index", 0, &index))
        return false;
    if (index >= PDNN_ROUNDS_MAX)
        return pdnn_build_fail(build, name->from->offset, "the index is %" PRId64 ", expected less than %d",
                               index, PDNN_ROUNDS_MAX);
    if (slot->kind == PDNN_DATUM_NONE)
        *slot =
            (struct pdnn_datum){.kind = PDNN_DATUM_RESULTS,
                                .results = pdnn_arena_alloc(build->arena, 1, sizeof(struct pdnn_indexed))};
    struct pdnn_indexed *results = slot->results;
    if ((size_t)index >= results->count &&
        !pdnn_term_room(build, name->from->offset, (size_t)index + 1 - results->count))
        return false;
    while (results->count <= (size_t)index) {
        results->at =
            pdnn_arena_grow(build->arena, results->at, &results->room, results->count, sizeof *results->at);
        results->at[results->count++] = PDNN_NONE;
    }
    if (results->at[index] != PDNN_NONE)
        return pdnn_build_fail(build, name->from->offset, "'%s[%" PRId64 "]' is named already",
                               name->from->operands[0]->text, index);
    results->at[index] = result;
    return true;
}

/* The first result is what follows reads. */
static bool give(struct pdnn_build *build, const struct pdnn_entry_code *call, const uint32_t *results,
                 size_t count) {
    for (size_t i = 0; i < call->n_as && i < count; i++) {
        if (call->as[i].index) {
            if (!name_indexed(build, &call->as[i], results[i]))
                return false;
        } else {
            build->frame[call->as[i].slot] =
                (struct pdnn_datum){.kind = PDNN_DATUM_TENSOR, .tensor = results[i]};
        }
    }
    if (count)
        build->in = results[0];
    return true;
}

static bool named_op(struct pdnn_build *build, const struct pdnn_entry_code *call,
                     const struct pdnn_op_code **code) {
    struct pdnn_datum name;
    char kind[PDNN_DATUM_TEXT];
    if (!pdnn_term_evaluate(build, call->value, &name))
        return false;
    if (name.kind != PDNN_DATUM_WORD || !name.word->op)
        return pdnn_build_fail(build, call->value->from->offset, "op: %s is no op",
                               pdnn_datum_kind(build, &name, kind));
    *code = name.word->code;
    return true;
}

/* Arguments are evaluated where the call stands, defaults where the block's inputs are. */
static bool fill_frame(struct pdnn_build *build, const struct pdnn_entry_code *call,
                       const struct pdnn_readings *x, struct pdnn_datum *frame) {
    const struct pdnn_block_code *code = call->block;
    memset(frame, 0, (size_t)code->n_slots * sizeof *frame);
    for (size_t i = 0; i < call->n_values; i++)
        if (!pdnn_term_evaluate(build, call->values[i].term, &frame[call->values[i].slot]))
            return false;
    for (size_t i = 0; i < code->block->n_inputs; i++)
        frame[i] = (struct pdnn_datum){.kind = PDNN_DATUM_TENSOR, .tensor = x->at[i]};
    return true;
}

static bool run_block_inside(struct pdnn_build *build, const struct pdnn_entry_code *call,
                             struct pdnn_readings *results) {
    const struct pdnn_block_code *code = call->block;
    const struct pdnn_definition_block *block = code->block;
    for (size_t i = 0; i < block->n_parameters; i++) {
        struct pdnn_datum *slot = &build->frame[block->n_inputs + i];
        if (slot->kind == PDNN_DATUM_NONE && code->defaults[i] &&
            !pdnn_term_evaluate(build, code->defaults[i], slot))
            return false;
    }
    if (!run_calls(build, code->ops))
        return false;
    results->count = 0;
    for (size_t i = 0; i < block->n_result; i++)
        if (!read_one(build, call, code->result[i], results))
            return false;
    if (!block->n_result && build->in != PDNN_NONE)
        results->at[results->count++] = build->in;
    return true;
}

static bool run_block(struct pdnn_build *build, const struct pdnn_entry_code *call, struct pdnn_readings *x) {
    struct pdnn_datum *frame = build->frame;
    int depth = build->depth;
    if (!x->count)
        return pdnn_build_fail(build, call->entry->place, "%s comes first: say what it reads with from",
                               call->entry->name);
    if (x->count != call->block->block->n_inputs)
        return pdnn_build_fail(build, call->entry->place, "%s reads %zu results, here are %zu",
                               call->entry->name, call->block->block->n_inputs, x->count);
    if (depth == PDNN_CALLS_DEEP)
        return pdnn_build_fail(build, call->entry->place, "blocks call each other more than %d deep", depth);
    if (!build->frames[depth + 1])
        build->frames[depth + 1] =
            pdnn_arena_alloc(build->arena, (size_t)build->compiled->most_slots + 1, sizeof **build->frames);
    if (!fill_frame(build, call, x, build->frames[depth + 1]))
        return false;
    build->trace[build->depth++] = call;
    build->frame = build->frames[depth + 1];
    build->in = x->at[0];
    bool fine = run_block_inside(build, call, x);
    build->frame = frame;
    build->depth = depth;
    return fine;
}

static bool check_require(struct pdnn_build *build, const struct pdnn_entry_code *call) {
    bool holds;
    if (!pdnn_term_holds(build, call->value, &holds))
        return false;
    if (holds)
        return true;
    return call->entry->say ? say(build, &call->say)
                            : pdnn_build_fail(build, call->value->from->offset, "require does not hold");
}

static bool run_op(struct pdnn_build *build, const struct pdnn_entry_code *call, struct pdnn_readings *x) {
    const struct pdnn_op_code *op = call->op;
    if (!op && !named_op(build, call, &op))
        return false;
    if (build->layer.stem < 0) {
        build->graph->layer.stem = op->op->name;
        build->graph->layer.index = 0;
    }
    return pdnn_apply_op(build, op, call, x);
}

/* What the entry does; *x: what it reads, then its results. */
static bool run_kind(struct pdnn_build *build, const struct pdnn_entry_code *call, struct pdnn_readings *x) {
    if (call->entry->kind == PDNN_ENTRY_REQUIRE)
        return check_require(build, call);
    if (call->block)
        return run_block(build, call, x);
    if (call->entry->kind == PDNN_ENTRY_GROUP) {
        build->in = x->count ? x->at[0] : PDNN_NONE;
        if (!run_calls(build, call->ops))
            return false;
        x->count = build->in != PDNN_NONE;
        x->at[0] = build->in;
        return true;
    }
    return run_op(build, call, x);
}

/* Left out, an entry gives what it would have read, or what stands under `else`. */
static bool run_left_out(struct pdnn_build *build, const struct pdnn_entry_code *call,
                         struct pdnn_readings *x, bool repeated) {
    if (call->entry->has_other) {
        struct pdnn_layer_state layer = build->layer;
        int64_t shown = build->graph->layer.index;
        if (!begin_layer(build, call, repeated))
            return false;
        build->in = x->count ? x->at[0] : PDNN_NONE;
        if (!run_calls(build, call->other))
            return false;
        set_layer(build, layer, shown);
        return give(build, call, &build->in, build->in != PDNN_NONE);
    }
    if (!x->count && (call->entry->kind == PDNN_ENTRY_GROUP || call->entry->kind == PDNN_ENTRY_REQUIRE))
        return true;
    if (!x->count)
        return pdnn_build_fail(build, call->entry->place,
                               "is skipped, and there is nothing to pass on: say with from");
    return give(build, call, x->at, x->count);
}

/* Between begin and end of what stands beside the entry. */
static bool run_beside(struct pdnn_build *build, const struct pdnn_entry_code *call, struct pdnn_readings *x,
                       bool repeated) {
    bool repeats = build->repeats, begins_share = call->share >= 0 && build->share < 0;
    bool begins_segment = call->segment && !build->segment;
    build->repeats = repeats || repeated;
    if (begins_share) {
        build->share = call->share;
        build->shared = 0;
    }
    if (begins_segment)
        pdnn_graph_segment_begin(build->graph);
    build->segment |= begins_segment;
    bool fine = run_kind(build, call, x);
    if (begins_segment) {
        build->segment = false;
        pdnn_graph_segment_end(build->graph);
    }
    if (begins_share)
        build->share = -1;
    build->repeats = repeats;
    return fine;
}

static bool run_once(struct pdnn_build *build, const struct pdnn_entry_code *call, bool repeated) {
    struct pdnn_readings x;
    bool holds = true;
    if (build->entries++ >= ENTRIES_MAX)
        return pdnn_build_fail(build, call->entry->place, "the definition runs through more than %d entries",
                               ENTRIES_MAX);
    if (call->is_bare)
        return read_from(build, call, SIZE_MAX, &x) && run_op(build, call, &x) &&
               give(build, call, x.at, x.count);
    if (call->when && !pdnn_term_holds(build, call->when, &holds))
        return false;
    /* Left out, it passes on what it has names for: nothing else comes into being. */
    if (!read_from(build, call, holds ? SIZE_MAX : call->n_as > 1 ? call->n_as : 1, &x))
        return false;
    if (!holds)
        return run_left_out(build, call, &x, repeated);
    struct pdnn_layer_state layer = build->layer;
    int64_t shown = build->graph->layer.index;
    if (!begin_layer(build, call, repeated) || !run_beside(build, call, &x, repeated))
        return false;
    if (call->begins_layer)
        set_layer(build, layer, shown);
    return give(build, call, x.at, x.count);
}

static void set_round(struct pdnn_build *build, int32_t stack, int32_t round) {
    build->graph->layer.stack = stack;
    build->graph->layer.round = round;
}

static bool run_rounds(struct pdnn_build *build, const struct pdnn_entry_code *call) {
    int64_t rounds;
    if (!pdnn_term_whole(build, call->repeat, "repeat", 0, &rounds))
        return false;
    if (rounds > PDNN_ROUNDS_MAX)
        return pdnn_build_fail(build, call->repeat->from->offset,
                               "repeat is %" PRId64 ", expected at most %d", rounds, PDNN_ROUNDS_MAX);
    const bool begins_stack = call->repeats_depth && !build->graph->layer.round;
    build->stacks += begins_stack;
    for (int64_t i = 0; i < rounds; i++) {
        if (begins_stack)
            set_round(build, build->stacks, (int32_t)i + 1);
        if (call->variable >= 0)
            build->frame[call->variable] =
                (struct pdnn_datum){.kind = PDNN_DATUM_NUMBER, .number = pdnn_rational_whole(i)};
        if (!run_once(build, call, true))
            return false;
    }
    if (begins_stack)
        set_round(build, 0, 0);
    return true;
}

static bool run_calls(struct pdnn_build *build, struct pdnn_entry_codes calls) {
    for (size_t i = 0; i < calls.count; i++)
        if (!(calls.at[i].repeat ? run_rounds(build, &calls.at[i]) : run_once(build, &calls.at[i], false)))
            return false;
    return true;
}

static void fill_none(uint32_t *items, size_t count) {
    for (size_t i = 0; i < count; i++)
        items[i] = PDNN_NONE;
}

static void begin(struct pdnn_build *build) {
    const struct pdnn_compiled *compiled = build->compiled;
    const struct pdnn_definition *definition = compiled->definition;
    struct pdnn_arena *arena = build->arena;
    build->frames[0] = build->frame =
        pdnn_arena_alloc(arena, (size_t)compiled->n_slots + 1, sizeof *build->frame);
    build->inputs =
        pdnn_arena_alloc(arena, definition->n_inputs + definition->n_weights + 1, sizeof *build->inputs);
    build->weights = build->inputs + definition->n_inputs;
    build->repeated = pdnn_arena_alloc(arena, definition->n_inputs + 1, sizeof *build->repeated);
    build->stems = pdnn_arena_alloc(arena, compiled->n_stems + 1, sizeof *build->stems);
    build->shares = pdnn_arena_alloc(arena, compiled->n_shares + 1, sizeof *build->shares);
    build->can_repeat = !build->graph->replays && !build->graph->has_masters;
    build->last = pdnn_arena_alloc(arena, PDNN_APPLIED, sizeof *build->last);
    fill_none(build->inputs, definition->n_inputs + definition->n_weights);
}

static bool check_requires(struct pdnn_build *build) {
    const struct pdnn_definition *definition = build->compiled->definition;
    for (size_t i = 0; i < definition->n_requires; i++) {
        const struct pdnn_require_code *code = &build->compiled->requires[i];
        bool holds;
        if (!pdnn_term_holds(build, code->that, &holds))
            return false;
        if (!holds && definition->requires[i].say)
            return say(build, &code->say);
        if (!holds)
            return pdnn_values_deny(build, &definition->requires[i]);
    }
    return true;
}

enum { RESULTS_MAX = PDNN_NODE_INPUTS };

static bool take_results(struct pdnn_build *build, struct pdnn_readings *results) {
    static const struct pdnn_definition_entry nowhere = {0};
    static const struct pdnn_entry_code own = {.entry = &nowhere};
    results->count = 0;
    for (size_t i = 0; i < build->compiled->definition->n_result; i++)
        if (!read_one(build, &own, build->compiled->result[i], results))
            return false;
    if (!build->compiled->definition->n_result && build->in != PDNN_NONE)
        results->at[results->count++] = build->in;
    return true;
}

/* Each result once. */
static void keep_results(struct pdnn_graph *graph, const struct pdnn_readings *results) {
    graph->results = pdnn_arena_room(graph->arena, results->count, sizeof *graph->results);
    graph->n_results = 0;
    for (size_t i = 0; i < results->count; i++) {
        bool is_new = true;
        for (size_t k = 0; k < graph->n_results; k++)
            is_new = is_new && graph->results[k] != results->at[i];
        if (is_new)
            graph->results[graph->n_results++] = results->at[i];
    }
}

/* The loss, from which gradients are derived, is one number. */
static bool take_loss(struct pdnn_build *build) {
    const struct pdnn_definition *definition = build->compiled->definition;
    const int32_t place =
        definition->loss.count ? definition->loss.entry[definition->loss.count - 1].place : 0;
    char shape[PDNN_SHAPE_TEXT];
    if (!definition->loss.count)
        return pdnn_fail(build->err, PDNN_INVALID, "%s has no loss: it is for mode=infer",
                         definition->name) == PDNN_OK;
    if (!run_calls(build, build->compiled->loss))
        return false;
    build->graph->loss = build->in;
    if (build->in == PDNN_NONE)
        return pdnn_build_fail(build, place, "the loss computes nothing");
    const struct pdnn_tensor *loss = &build->graph->tensors[build->in];
    return pdnn_tensor_elements(loss) == 1 ||
           pdnn_build_fail(build, place, "the loss is %s, expected one number",
                           pdnn_tensor_shape(loss, shape));
}

const struct pdnn_origin *pdnn_definition_build(const struct pdnn_compiled *compiled,
                                                const struct pdnn_instance *instance,
                                                struct pdnn_graph *graph) {
    struct pdnn_build build = {.compiled = compiled,
                               .instance = instance,
                               .graph = graph,
                               .arena = graph->arena,
                               .input = pdnn_build_input,
                               .err = &graph->err,
                               .in = PDNN_NONE,
                               .layer = {-1, 0, false},
                               .share = -1,
                               .first_node = graph->n_nodes,
                               .trains = instance->setting[PDNN_SETTING_MODE] == PDNN_MODE_TRAIN};
    const uint32_t first_tensor = (uint32_t)graph->n_tensors;
    struct pdnn_readings results;
    begin(&build);
    set_round(&build, 0, 0);
    if (!pdnn_values_begin(&build) || !check_requires(&build) || !run_calls(&build, compiled->own) ||
        !take_results(&build, &results))
        return NULL;
    if (build.trains && !take_loss(&build))
        return NULL;
    if (!build.trains) {
        graph->result = results.count ? results.at[0] : PDNN_NONE;
        keep_results(graph, &results);
    }
    pdnn_needed_only(&build, results.at, results.count, first_tensor);
    if (graph->n_nodes == build.first_node && build.err->status == PDNN_OK)
        pdnn_fail(build.err, PDNN_INVALID, "%s computes nothing", compiled->definition->name);
    graph->layer = graph->n_nodes ? graph->nodes[graph->n_nodes - 1].layer : graph->layer;
    return build.origins;
}
