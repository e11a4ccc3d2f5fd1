#include "models/definition/apply.h"

#include "models/definition/message.h"
#include "models/definition/op_code.h"
#include "models/definition/tensors.h"
#include "models/forward.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NODES_MAX = 1 << 15, SHAPES = 3 /* of what an op reads, in messages */ };

/* An op that is being applied. */
struct application {
    const struct pdnn_op_code *code;
    const struct pdnn_entry_code *call;
    int32_t place;
    const uint32_t *x;
    size_t n_x;
    bool is_unneeded;
    uint32_t given;               /* attributes that have a value of the entry's, or of a weight's sizes */
    int weight[PDNN_OPERANDS];    /* of the definition; -1. Only where the entry names weights */
    uint32_t data[PDNN_OPERANDS]; /* what is read; PDNN_NONE */
    size_t n_many;                /* results that the last operand reads, beside that */
    struct pdnn_op_values values;
};

static struct pdnn_datum whole_of(int64_t number) {
    return (struct pdnn_datum){.kind = PDNN_DATUM_NUMBER, .number = pdnn_rational_whole(number)};
}

static bool word_number(struct pdnn_build *build, const struct pdnn_value_code *value, int64_t *number) {
    const char *const *words = value->attribute->words;
    struct pdnn_datum datum;
    char kind[PDNN_DATUM_TEXT];
    if (!pdnn_term_evaluate(build, value->term, &datum))
        return false;
    for (*number = 0; datum.kind == PDNN_DATUM_WORD && words[*number]; ++*number)
        if (strcmp(words[*number], datum.word->text) == 0)
            return true;
    struct pdnn_str all = {0};
    for (int i = 0; words[i]; i++)
        pdnn_str_printf(&all, "%s%s", i ? ", " : "", words[i]);
    pdnn_build_fail(build, value->term->from->offset, "%s is %s, expected %s", value->what,
                    pdnn_datum_kind(build, &datum, kind), pdnn_str_text(&all));
    pdnn_str_finish(&all);
    return false;
}

static bool evaluate_value(struct pdnn_build *build, const struct pdnn_value_code *value,
                           union pdnn_given *given) {
    if (value->attribute->words)
        return word_number(build, value, &given->whole);
    if (value->attribute->coefficient)
        return pdnn_term_real(build, value->term, &given->real);
    return pdnn_term_whole(build, value->term, value->what,
                           value->attribute->hides_one || value->attribute->is_size, &given->whole);
}

/* What the entry gives, evaluated where it stands. */
static bool evaluate_values(struct pdnn_build *build, const struct pdnn_entry_code *call,
                            union pdnn_given *given) {
    for (size_t i = 0; i < call->n_values; i++) {
        given[i].whole = 0;
        if (call->values[i].weight < 0 && !evaluate_value(build, &call->values[i], &given[i]))
            return false;
    }
    return true;
}

static void set(struct application *a, int attribute, struct pdnn_datum datum) {
    a->given |= 1u << attribute;
    pdnn_op_values_set(&a->values, a->code, attribute, datum);
}

static void take_values(struct application *a, const union pdnn_given *given) {
    for (size_t i = 0; i < a->call->n_values; i++) {
        const struct pdnn_value_code *value = &a->call->values[i];
        if (value->weight >= 0) {
            a->weight[value->slot] = value->weight;
            continue;
        }
        struct pdnn_datum datum = whole_of(given[i].whole);
        if (value->attribute->coefficient)
            datum = (struct pdnn_datum){.kind = PDNN_DATUM_REAL, .real = given[i].real};
        set(a, value->slot, datum);
        if (value->second >= 0)
            set(a, value->second, datum);
    }
}

static bool wrong_data(struct pdnn_build *build, const struct application *a, const struct pdnn_operand *row,
                       size_t at) {
    const struct pdnn_tensor *tensor = &build->graph->tensors[a->x[at]];
    char shape[PDNN_SHAPE_TEXT];
    return pdnn_build_fail(build, a->place,
                           "%s: expected %s, input %zu is %s %s: give the input a fill such as {%s: ...}",
                           a->code->op->name, row->kind == PDNN_OPERAND_IDS ? "ids" : "labels", at + 1,
                           pdnn_tensor_shape(tensor, shape), pdnn_dtype_name(tensor->dtype),
                           row->kind == PDNN_OPERAND_IDS ? "zipf" : "class");
}

static void take_one(struct application *a, int operand, uint32_t tensor) {
    struct pdnn_datum *slot = &a->values.slots[a->code->n_attributes + operand];
    a->data[operand] = tensor;
    slot->kind = PDNN_DATUM_TENSOR;
    slot->tensor = tensor;
}

/* Which results are which operands: in order; what may be left out is, if there are too few. */
static bool take_data(struct pdnn_build *build, struct application *a) {
    const struct pdnn_op_def *op = a->code->op;
    size_t at = 0, spare;
    for (; a->code->is_plain && a->n_x == a->code->n_needed && at < a->n_x; at++)
        take_one(a, (int)at, a->x[at]);
    if (at)
        return true;
    if (a->n_x < a->code->n_needed)
        return pdnn_build_fail(build, a->place, "%s reads %zu results, here are %zu", op->name,
                               a->code->n_needed, a->n_x);
    spare = a->n_x - a->code->n_needed;
    for (int i = 0; i < a->code->n_operands; i++) {
        const struct pdnn_operand *row = &op->operands[i];
        bool may_be = row->optional || row->or_data;
        a->data[i] = PDNN_NONE;
        if (!(a->code->operand[i].is_read || row->or_data) || (may_be && !spare))
            continue;
        spare -= may_be;
        take_one(a, i, a->x[at++]);
        bool is_s32 = build->graph->tensors[a->data[i]].dtype == PDNN_S32;
        if (row->kind != PDNN_OPERAND_DATA && !row->or_data && !is_s32)
            return wrong_data(build, a, row, at - 1);
        if (row->kind == PDNN_OPERAND_LABEL && build->graph->tensors[a->data[i]].role == PDNN_ROLE_INPUT)
            build->graph->tensors[a->data[i]].role = PDNN_ROLE_LABEL;
        if (row->many) {
            a->n_many = spare;
            at += spare;
            spare = 0;
        }
    }
    if (spare)
        return pdnn_build_fail(build, a->place, "%s reads %zu result%s, here are %zu", op->name,
                               a->n_x - spare, a->n_x - spare == 1 ? "" : "s", a->n_x);
    return true;
}

/* Defaults that are not constant: in order, since they may use those above them. */
static bool take_defaults(struct pdnn_build *build, struct application *a) {
    for (int i = 0; i < a->code->n_open; i++) {
        int attribute = a->code->open[i];
        const struct pdnn_attribute *row = &a->code->op->attributes[attribute];
        int64_t number;
        if (a->given >> attribute & 1)
            continue;
        if (!pdnn_term_whole(build, a->code->fallback[attribute], row->name, row->derived ? INT64_MIN : 0,
                             &number))
            return false;
        pdnn_op_values_set(&a->values, a->code, attribute, whole_of(number));
    }
    return true;
}

static bool range_of(struct pdnn_build *build, const struct application *a, int operand, const int64_t *dim,
                     int rank, double *scale) {
    const struct pdnn_operand *row = &a->code->op->operands[operand];
    int64_t inputs = 1;
    *scale = row->scale;
    if (row->range == PDNN_RANGE_FIXED)
        return true;
    for (int i = 1; i < rank; i++)
        inputs *= dim[i];
    if (a->code->operand[operand].inputs &&
        !pdnn_term_whole(build, a->code->operand[operand].inputs, "inputs", 1, &inputs))
        return false;
    bool is_he = row->range == PDNN_RANGE_HE ||
                 (row->range == PDNN_RANGE_INIT && !build->compiled->definition->is_linear);
    *scale = is_he ? sqrt(6.0 / (double)inputs) : 1 / sqrt((double)inputs);
    return true;
}

static bool check_weight(struct pdnn_build *build, const struct application *a, int operand,
                         const struct pdnn_tensor *is, const int64_t *dim, int rank, const char *whose) {
    struct pdnn_tensor want = {.rank = rank};
    char had[PDNN_SHAPE_TEXT], here[PDNN_SHAPE_TEXT];
    memcpy(want.dim, dim, sizeof want.dim);
    if (pdnn_tensor_same_shape(is, &want))
        return true;
    return pdnn_build_fail(build, a->place, "%s: %s: weight %s is %s, here %s", a->code->op->name, whose,
                           a->code->op->operands[operand].name, pdnn_tensor_shape(is, had),
                           pdnn_tensor_shape(&want, here));
}

/* The next weight of a set that several entries share; PDNN_NONE where this one is the first to make it. */
static bool shared_weight(struct pdnn_build *build, const struct application *a, int operand,
                          const int64_t *dim, int rank, uint32_t *weight) {
    const struct pdnn_share_state *set = &build->shares[build->share];
    char whose[64];
    *weight = PDNN_NONE;
    if (build->shared >= set->count)
        return true;
    *weight = set->weights[build->shared++];
    snprintf(whose, sizeof whose, "share '%.40s'", build->compiled->shares[build->share]);
    return check_weight(build, a, operand, &build->graph->tensors[*weight], dim, rank, whose);
}

static void keep_shared(struct pdnn_build *build, uint32_t weight) {
    struct pdnn_share_state *set = &build->shares[build->share];
    set->weights = pdnn_arena_grow(build->arena, set->weights, &set->room, set->count, sizeof *set->weights);
    set->weights[set->count++] = weight;
    build->shared = set->count;
}

/* The weight or state of an operand: the definition's, the set's, or a new one. */
static bool make_weight(struct pdnn_build *build, const struct application *a, int operand,
                        uint32_t *weight) {
    const struct pdnn_operand *row = &a->code->op->operands[operand];
    int64_t dim[PDNN_RANK_MAX] = {0};
    int rank = a->code->operand[operand].rank;
    struct pdnn_fill fill = {.kind = row->fill};
    const struct pdnn_term *trained = a->code->operand[operand].trained;
    bool is_trained = row->kind == PDNN_OPERAND_WEIGHT, is_shared = build->share >= 0 && is_trained;
    if (a->call->names_weights && a->weight[operand] >= 0)
        return pdnn_build_weight(build, a->place, a->weight[operand], weight);
    for (int i = 0; i < rank; i++)
        if (!pdnn_term_whole(build, a->code->operand[operand].dim[i], row->name, 1, &dim[i]))
            return false;
    if (is_shared && !shared_weight(build, a, operand, dim, rank, weight))
        return false;
    if (is_shared && *weight != PDNN_NONE)
        return true;
    if (!range_of(build, a, operand, dim, rank, &fill.scale) ||
        (trained && !pdnn_term_holds(build, trained, &is_trained)))
        return false;
    bool replays = build->graph->replays;
    build->graph->replays = replays && !a->is_unneeded;
    *weight = (is_trained ? pdnn_graph_weight : pdnn_graph_state)(build->graph, rank, dim, fill);
    build->graph->replays = replays;
    if (is_shared)
        keep_shared(build, *weight);
    return build->err->status == PDNN_OK;
}

/* Appends the weight or state, unless the op goes without. */
static bool take_weight(struct pdnn_build *build, const struct application *a, int operand, uint32_t *inputs,
                        size_t *count) {
    const struct pdnn_term *when = a->code->operand[operand].when;
    bool is_there = true;
    if (when && !pdnn_term_holds(build, when, &is_there))
        return false;
    return !is_there || make_weight(build, a, operand, &inputs[(*count)++]);
}

/* The sizes of a weight that the entry names are those of the weight. */
static bool take_sizes(struct pdnn_build *build, struct application *a) {
    for (int i = 0; i < a->code->n_operands; i++) {
        uint32_t weight;
        if (a->weight[i] < 0)
            continue;
        if (!pdnn_build_weight(build, a->place, a->weight[i], &weight))
            return false;
        const struct pdnn_tensor *tensor = &build->graph->tensors[weight];
        for (int k = 0; k < a->code->operand[i].rank && k < tensor->rank; k++) {
            const struct pdnn_term *term = a->code->operand[i].dim[k];
            if (term->kind != PDNN_TERM_LOCAL || term->slot >= a->code->n_attributes ||
                a->given >> term->slot & 1)
                continue;
            set(a, term->slot, whole_of(tensor->dim[k]));
        }
    }
    return true;
}

/* Errors of shapes come from the op; what it reads is added. */
static bool explain(struct pdnn_build *build, const struct application *a, const uint32_t *inputs) {
    char text[PDNN_ERR_TEXT], shapes[SHAPES * (PDNN_SHAPE_TEXT + 8)] = "", shape[PDNN_SHAPE_TEXT];
    size_t length = strlen(a->code->op->name), used = 0;
    for (int i = 0; i < SHAPES && inputs[i] != PDNN_NONE; i++)
        used += (size_t)snprintf(shapes + used, sizeof shapes - used, "%s%s",
                                 i == 0                       ? ""
                                 : inputs[i + 1] != PDNN_NONE ? ", "
                                                              : " and ",
                                 pdnn_tensor_shape(&build->graph->tensors[inputs[i]], shape));
    snprintf(text, sizeof text, "%s", build->err->text);
    build->err->status = PDNN_OK;
    bool has_name = strncmp(text, a->code->op->name, length) == 0 && text[length] == ':';
    return pdnn_build_fail(build, a->place, "%s%s%.300s; it reads %s", has_name ? "" : a->code->op->name,
                           has_name ? "" : ": ", text, shapes);
}

static bool put_node(struct pdnn_build *build, struct application *a, uint32_t *result) {
    const struct pdnn_op_def *op = a->code->op;
    uint32_t inputs[PDNN_NODE_INPUTS + 1];
    size_t count = 0, at = 0;
    for (; a->code->is_plain && count < a->n_x; count++)
        inputs[count] = a->x[count];
    for (int i = (int)count; i < a->code->n_operands; i++) {
        if (a->code->is_plain) {
            if (!take_weight(build, a, i, inputs, &count))
                return false;
            continue;
        }
        const struct pdnn_operand *row = &op->operands[i];
        size_t reads = a->data[i] != PDNN_NONE ? 1 + (row->many ? a->n_many : 0) : 0;
        if (count + (reads ? reads : 1) > PDNN_NODE_INPUTS)
            return pdnn_build_fail(build, a->place, "%s reads more than %d results", op->name,
                                   PDNN_NODE_INPUTS);
        for (size_t k = 0; k < reads; k++)
            inputs[count++] = a->x[at++];
        if (!reads && !a->code->operand[i].is_read && !take_weight(build, a, i, inputs, &count))
            return false;
    }
    inputs[count] = PDNN_NONE;
    for (size_t i = 0; op->is_loss && i < count; i++)
        inputs[i] = pdnn_graph_f32(build->graph, inputs[i]);
    *result = pdnn_graph_forward_with(build->graph, op, inputs, a->values.attrs, a->values.coefs);
    return build->err->status == PDNN_OK || explain(build, a, inputs);
}

static bool apply_in_frame(struct pdnn_build *build, struct application *a, uint32_t *result) {
    bool holds = true;
    if ((a->call->names_weights && !take_sizes(build, a)) || !take_defaults(build, a))
        return false;
    if (a->code->when && !pdnn_term_holds(build, a->code->when, &holds))
        return false;
    *result = a->x[0];
    if (!holds)
        return true;
    size_t ordinal = build->applied++;
    a->is_unneeded = ordinal < build->graph->n_unneeded && build->graph->unneeded[ordinal];
    return put_node(build, a, result);
}

/* Where the nodes from `first` on come from. */
static void note_origins(struct pdnn_build *build, size_t first, struct pdnn_origin origin) {
    for (size_t i = first; i < build->graph->n_nodes; i++) {
        build->origins = pdnn_arena_grow(build->arena, build->origins, &build->origins_room,
                                         i - build->first_node, sizeof *build->origins);
        build->origins[i - build->first_node] = origin;
    }
}

/* Then x has the result, or what was read in its place. */
static bool apply(struct pdnn_build *build, const struct pdnn_op_code *code,
                  const struct pdnn_entry_code *call, const union pdnn_given *given,
                  struct pdnn_readings *x) {
    struct application a;
    struct pdnn_datum *frame = build->frame;
    uint32_t result = PDNN_NONE;
    a.code = code;
    a.call = call;
    a.place = call->entry->place;
    a.x = x->at;
    a.n_x = x->count;
    a.n_many = 0;
    a.given = 0;
    if (call->names_weights)
        memset(a.weight, -1, sizeof a.weight);
    memcpy(&a.values, &code->preset,
           offsetof(struct pdnn_op_values, slots) + (size_t)code->n_attributes * sizeof *a.values.slots);
    take_values(&a, given);
    if (!take_data(build, &a))
        return false;
    build->frame = a.values.slots;
    bool fine = apply_in_frame(build, &a, &result);
    build->frame = frame;
    x->at[0] = result;
    x->count = 1;
    return fine;
}

/* The outputs of the last node, if it is later than `before`. */
static void take_results(const struct pdnn_graph *graph, size_t before, struct pdnn_readings *x) {
    if (graph->n_nodes == before)
        return;
    const struct pdnn_node *node = &graph->nodes[graph->n_nodes - 1];
    for (x->count = 0; x->count < (size_t)node->n_outputs; x->count++)
        x->at[x->count] = node->output[x->count];
}

/* ---- the same again ---- */

/* Where the entry's last application is kept; NULL: ops like this one are always applied anew. Weights are
 * made with the node, and of each there is one. */
static struct pdnn_applied **last_of(struct pdnn_build *build, const struct pdnn_op_code *code,
                                     const struct pdnn_entry_code *call) {
    uint32_t caller = build->depth ? build->trace[build->depth - 1]->id : 0;
    if (!build->can_repeat || !code->is_plain || call->names_weights || build->share >= 0)
        return NULL;
    return &build->last[(call->id + 61 * caller) % PDNN_APPLIED];
}

/* Whether an application gives what the last one gave. */
static bool is_same(const struct pdnn_build *build, const struct pdnn_op_code *code,
                    const struct pdnn_entry_code *call, const union pdnn_given *given,
                    const struct pdnn_readings *x, const struct pdnn_applied *last) {
    if (!last || last->call != call || x->count != code->n_needed)
        return false;
    for (size_t i = 0; i < call->n_values; i++)
        if (given[i].whole != last->given[i].whole)
            return false;
    const struct pdnn_tensor *tensors = build->graph->tensors;
    const struct pdnn_node *node = &build->graph->nodes[last->node];
    if (node->op != code->op)
        return false;
    for (size_t i = 0; i < x->count; i++) {
        const struct pdnn_tensor *is = &tensors[x->at[i]], *was = &tensors[node->input[i]];
        if (is != was &&
            (is->dtype != was->dtype || !pdnn_tensor_same_shape(is, was) ||
             (code->sees_inputs && pdnn_inputs_of(build, x->at[i]) != pdnn_inputs_of(build, node->input[i]))))
            return false;
    }
    return true;
}

static void keep(struct pdnn_build *build, const struct pdnn_entry_code *call, const union pdnn_given *given,
                 struct pdnn_applied **last) {
    size_t bytes = call->n_values * sizeof *given;
    if (!*last || (*last)->call != call)
        *last = pdnn_arena_room(build->arena, 1, sizeof **last + bytes);
    (*last)->call = call;
    (*last)->node = (uint32_t)build->graph->n_nodes - 1;
    memcpy((*last)->given, given, bytes);
}

bool pdnn_apply_op(struct pdnn_build *build, const struct pdnn_op_code *code,
                   const struct pdnn_entry_code *call, struct pdnn_readings *x) {
    struct pdnn_graph *graph = build->graph;
    const struct pdnn_origin origin = {call->entry->place, (uint32_t)build->applied};
    const size_t before = graph->n_nodes;
    union pdnn_given given[PDNN_ATTRIBUTES + PDNN_OPERANDS];
    struct pdnn_applied **last = last_of(build, code, call);
    bool holds = true;
    build->place = origin.place;
    if (!x->count)
        return pdnn_build_fail(build, origin.place, "%s comes first: say what it reads with from",
                               code->op->name);
    if (before - build->first_node >= NODES_MAX)
        return pdnn_build_fail(build, origin.place, "the graph has more than %d ops", NODES_MAX);
    if (!evaluate_values(build, call, given))
        return false;
    if (code->first && x->count == 1 && !call->names_weights && !pdnn_term_holds(build, code->first, &holds))
        return false;
    if (!holds)
        return true;
    if (last && is_same(build, code, call, given, x, *last)) {
        (*last)->node = pdnn_graph_forward_again(graph, (*last)->node, x->at, (int)x->count);
        build->applied++;
    } else {
        if (!apply(build, code, call, given, x))
            return false;
        if (last && graph->n_nodes > before)
            keep(build, call, given, last);
    }
    note_origins(build, before, origin);
    take_results(graph, before, x);
    return build->err->status == PDNN_OK;
}
