#include "models/definition/check.h"

#include "models/attributes.h"
#include "models/cost/cost.h"
#include "models/definition/build.h"
#include "models/definition/message.h"
#include "models/op.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    MADE = 5,
    HASH_TEXT = 9,
    FIELDS = sizeof(struct pdnn_cost) / sizeof(uint64_t),
    BIG_TEXT = 32,
    WITH_TEXT = 64
};

/* The defaults with values of one axis, the first three of which follow each other. */
struct check {
    const struct pdnn_family_def *family;
    const struct pdnn_definition *definition;
    struct pdnn_err *err;
    struct pdnn_arena arena;
    int axis;
    enum pdnn_mode mode;
    int64_t value[MADE];
    struct pdnn_graph graph[MADE];
    const struct pdnn_origin *origins[MADE];
    int count; /* of graphs; a value may be out of range, or refused by the definition */
};

/* A graph of the defaults, of one axis with this value. */
static enum pdnn_status make(struct check *check, int64_t value) {
    struct pdnn_graph *graph = &check->graph[check->count];
    struct pdnn_instance instance;
    pdnn_instance_init(&instance, check->family);
    instance.setting[PDNN_SETTING_MODE] = check->mode;
    if (value >= 0)
        instance.hyper[check->axis] = pdnn_value_of(value);
    pdnn_instance_resolve(&instance, 1);
    pdnn_graph_init(graph, &check->arena);
    graph->dtype = PDNN_F32;
    check->origins[check->count] = pdnn_definition_build(check->family->compiled, &instance, graph);
    check->value[check->count] = value;
    return graph->err.status;
}

__attribute__((format(printf, 3, 4))) static bool fail(const struct check *check, size_t node,
                                                       const char *format, ...) {
    const struct pdnn_graph *graph = &check->graph[0];
    char text[PDNN_ERR_TEXT / 2], layer[PDNN_LAYER_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pdnn_definition_fail(check->definition, check->origins[0][node].place, check->err, "%s: %s; layer '%s'",
                         graph->nodes[node].op->name, text,
                         pdnn_layer_format(graph->nodes[node].layer, layer));
    return false;
}

/* "batch=2": the value of graph k. */
static const char *with(const struct check *check, int k, char buffer[WITH_TEXT]) {
    snprintf(buffer, WITH_TEXT, "%.32s=%" PRId64, check->family->params[check->axis].name, check->value[k]);
    return buffer;
}

/* The same ops with every minibatch. */
static bool has_same_ops(const struct check *check, int k) {
    const struct pdnn_graph *a = &check->graph[0], *b = &check->graph[k];
    char one[WITH_TEXT], other[WITH_TEXT];
    size_t i = 0;
    while (i < a->n_nodes && i < b->n_nodes && a->nodes[i].op == b->nodes[i].op &&
           a->nodes[i].n_inputs == b->nodes[i].n_inputs)
        i++;
    if (i == a->n_nodes && i == b->n_nodes && a->n_tensors == b->n_tensors)
        return true;
    return fail(check, i < a->n_nodes ? i : a->n_nodes - 1,
                "%zu ops with %s, %zu with %s: repeat and when do not depend on the minibatch", a->n_nodes,
                with(check, 0, one), b->n_nodes, with(check, k, other));
}

/* Sizes of one tensor, which a node reads or gives. */
static bool is_even(const struct check *check, int k, size_t node, uint32_t tensor) {
    const struct pdnn_tensor *a = &check->graph[0].tensors[tensor], *b = &check->graph[k].tensors[tensor],
                             *c = &check->graph[1].tensors[tensor];
    char one[PDNN_SHAPE_TEXT], other[PDNN_SHAPE_TEXT], third[PDNN_SHAPE_TEXT], text[WITH_TEXT];
    const bool is_weight = a->role == PDNN_ROLE_WEIGHT || a->role == PDNN_ROLE_STATE;
    if (is_weight && !pdnn_tensor_same_shape(a, b))
        return fail(check, node, "weight %s becomes %s with %s: weights do not depend on the minibatch",
                    pdnn_tensor_shape(a, one), pdnn_tensor_shape(b, other), with(check, k, text));
    for (int i = 0; i < a->rank; i++)
        if (a->rank != b->rank ||
            b->dim[i] - a->dim[i] != (c->dim[i] - a->dim[i]) * (check->value[k] - check->value[0]))
            return fail(check, node, "%s becomes %s and %s with %s: sizes grow evenly with the minibatch",
                        pdnn_tensor_shape(a, one), pdnn_tensor_shape(c, other), pdnn_tensor_shape(b, third),
                        with(check, k, text));
    return true;
}

static bool are_sizes_even(const struct check *check, int k) {
    for (size_t i = 0; i < check->graph[0].n_nodes; i++) {
        const struct pdnn_node *node = &check->graph[0].nodes[i];
        for (int j = 0; j < node->n_inputs; j++)
            if (!is_even(check, k, i, node->input[j]))
                return false;
        for (int j = 0; j < node->n_outputs; j++)
            if (!is_even(check, k, i, node->output[j]))
                return false;
    }
    return true;
}

/* Bytes of what is looked up grow up to a limit: nothing is told of a node where it is passed. */
static bool is_limited(const struct check *check, size_t node) {
    int beyond = 0;
    for (int k = 0; k < 3; k++) {
        const struct pdnn_graph *graph = &check->graph[k];
        const struct pdnn_pass_def *pass = &graph->nodes[node].op->pass[PDNN_FORWARD];
        if (!pass->saturation)
            return false;
        const struct pdnn_saturation is = pass->saturation(graph, &graph->nodes[node]);
        beyond += is.size > is.limit;
    }
    return beyond % 3 != 0;
}

/* Costs of an op may be products of sizes. */
static bool are_costs_even(const struct check *check) {
    for (size_t i = 0; i < check->graph[0].n_nodes; i++) {
        uint64_t cost[3][FIELDS];
        struct pdnn_cost of;
        for (int k = 0; k < 3; k++) {
            if (pdnn_cost_node(&check->graph[k], &check->graph[k].nodes[i], &of, NULL) != PDNN_OK)
                return true;
            memcpy(cost[k], &of, sizeof of);
        }
        for (int j = 0; j < FIELDS && !is_limited(check, i); j++)
            if (cost[2][j] - cost[1][j] != cost[1][j] - cost[0][j])
                return fail(check, i,
                            "%" PRIu64 ", %" PRIu64 " and %" PRIu64 " %s with minibatches %" PRId64
                            ", %" PRId64 " and %" PRId64 ": costs grow evenly with the minibatch",
                            cost[0][j], cost[1][j], cost[2][j], j < 2 ? "FLOP" : "bytes", check->value[0],
                            check->value[1], check->value[2]);
    }
    return true;
}

/* Graphs with values of the axis, as far as they can be built. */
static void make_all(struct check *check, int axis, const int64_t *more, int count) {
    const struct pdnn_param_def *row = &check->family->params[axis];
    pdnn_arena_reset(&check->arena);
    check->axis = axis;
    for (check->count = 0; check->count < count;) {
        const int64_t value = check->count < 3 ? row->min + check->count : more[check->count - 3];
        if (value < row->min || value > row->max || make(check, value) != PDNN_OK)
            return;
        check->count++;
    }
}

static bool is_even_in_minibatch(struct check *check) {
    static const int64_t more[] = {64, 4096};
    make_all(check, check->family->minibatch_param, more, MADE);
    for (int k = 1; k < check->count; k++)
        if (!has_same_ops(check, k) || !are_sizes_even(check, k))
            return false;
    return check->count < 3 || are_costs_even(check);
}

/* Whether what graph k has beyond the first stands in repeats of as many rounds as its depth says: only of
 * those can costs and memory be told without building it (models/cost/partners.h). */
static bool is_repeated(const struct check *check, int k) {
    size_t n_outside[2] = {0};
    for (int j = 0; j < 2; j++) {
        const struct pdnn_graph *graph = &check->graph[j * k];
        for (size_t i = 0; i < graph->n_nodes; i++) {
            const struct pdnn_layer *at = &graph->nodes[i].layer;
            const bool ends = i + 1 == graph->n_nodes || graph->nodes[i + 1].layer.stack != at->stack;
            if (at->stack && ends && at->round != check->value[j * k])
                return false;
            n_outside[j] += !at->stack;
        }
    }
    return n_outside[0] == n_outside[1];
}

static bool is_even_in_depth(struct check *check) {
    struct pdnn_totals totals[3];
    uint64_t count[3][FIELDS + 2] = {0};
    make_all(check, check->family->depth_param, NULL, 3);
    for (int k = 0; k < 3; k++) {
        if (check->count < 3 || pdnn_cost_graph(&check->graph[k], &totals[k], NULL) != PDNN_OK)
            return true;
        memcpy(count[k], &totals[k].cost, sizeof totals[k].cost);
        count[k][FIELDS] = totals[k].params;
        count[k][FIELDS + 1] = check->graph[k].n_nodes;
    }
    for (int j = 0; j < FIELDS + 2; j++)
        if (count[2][j] - count[1][j] != count[1][j] - count[0][j]) {
            pdnn_definition_fail(check->definition, check->definition->axes[check->axis].place, check->err,
                                 "%s=%" PRId64 ", %" PRId64 " and %" PRId64
                                 " have %zu, %zu and %zu ops, or costs that do not grow evenly: not a depth",
                                 check->family->params[check->axis].name, check->value[0], check->value[1],
                                 check->value[2], check->graph[0].n_nodes, check->graph[1].n_nodes,
                                 check->graph[2].n_nodes);
            return false;
        }
    for (int k = 1; k < 3; k++)
        if (!is_repeated(check, k)) {
            const char *name = check->family->params[check->axis].name;
            pdnn_definition_fail(check->definition, check->definition->axes[check->axis].place, check->err,
                                 "what %.60s adds does not stand under 'repeat: %.60s': not a depth", name,
                                 name);
            return false;
        }
    return true;
}

/* The defaults as they are, then with other minibatches and depths. */
static bool check_mode(struct check *check, enum pdnn_mode mode) {
    check->mode = mode;
    check->count = 0;
    pdnn_arena_reset(&check->arena);
    if (make(check, -1) != PDNN_OK) {
        *check->err = check->graph[0].err;
        return false;
    }
    return is_even_in_minibatch(check) && (check->family->depth_param < 0 || is_even_in_depth(check));
}

/* ---- ids ---- */

static size_t digits_of(int64_t number) {
    char text[24];
    return (size_t)snprintf(text, sizeof text, "%" PRId64, number);
}

/* Letters of ",name=value" at most. */
static size_t longest_pair(const struct pdnn_param_def *def) {
    size_t longest = def->word ? strlen(def->word) : 0, number = digits_of(def->max);
    for (int i = 0; def->choices && def->choices[i]; i++)
        longest = strlen(def->choices[i]) > longest ? strlen(def->choices[i]) : longest;
    number = def->type == PDNN_PARAM_LIST   ? PDNN_LIST_MAX * (number + 1)
             : def->type == PDNN_PARAM_NAME ? PDNN_NAME_LENGTH
                                            : number + 1;
    return strlen(def->name) + 2 + (!def->choices && number > longest ? number : longest);
}

/* Instances are told apart by their ids, which have room for so many letters. */
static bool check_ids(const struct check *check) {
    const struct pdnn_family_def *family = check->family;
    const struct pdnn_masks *masks = &family->applies;
    size_t settings = 0, most = 0;
    for (size_t i = 0; i < PDNN_SETTING_COUNT; i++)
        settings += longest_pair(&pdnn_settings[i]);
    for (size_t at = 0; at < (masks->bits ? masks->count : 1); at++) {
        size_t length = strlen(family->name) + HASH_TEXT;
        for (size_t i = 0; i < family->n_params; i++)
            length += !masks->bits || masks->bits[at] >> i & 1 ? longest_pair(&family->params[i]) : 0;
        most = length > most ? length : most;
    }
    if (most + settings < PDNN_ID_TEXT)
        return true;
    pdnn_definition_fail(
        check->definition, check->definition->axes[0].place, check->err,
        "ids may have %zu letters for axes and their values, at most %zu: shorten names or words", most,
        (size_t)PDNN_ID_TEXT - 1 - settings);
    return false;
}

enum pdnn_status pdnn_definition_check(const struct pdnn_family_def *family, struct pdnn_err *err) {
    struct pdnn_err first = {0};
    struct check check = {.family = family, .definition = family->compiled->definition, .err = &first};
    if (check_ids(&check) && check_mode(&check, PDNN_MODE_INFER) && check.definition->loss.count)
        check_mode(&check, PDNN_MODE_TRAIN);
    pdnn_arena_finish(&check.arena);
    if (err && first.status != PDNN_OK)
        *err = first;
    return first.status;
}

/* ---- claims ---- */

/* Multiply-adds of one node: those of products, which are whole, as published totals count them, whatever a
 * window leaves out. */
static uint64_t macs_of(const struct pdnn_graph *graph, const struct pdnn_node *of) {
    static const char *const products[] = {"linear gemm", "convolution", "attention gemm"};
    struct pdnn_node whole = *of;
    const struct pdnn_node *node = &whole;
    struct pdnn_cost cost;
    uint64_t macs = 0;
    if (of->op == &pdnn_op_matmul)
        whole.attr[PDNN_MATMUL_WINDOW] = 0;
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        if (strcmp(node->op->category, products[i]) == 0 &&
            pdnn_cost_node(graph, node, &cost, NULL) == PDNN_OK)
            macs = cost.flop_count / 2;
    for (int i = 0; node->op == &pdnn_op_rnn && i < node->n_inputs; i++) {
        const struct pdnn_tensor *weight = pdnn_node_in(graph, node, i);
        if (weight->role == PDNN_ROLE_WEIGHT && weight->rank > 1)
            macs += (uint64_t)(pdnn_node_in(graph, node, 0)->dim[0] * pdnn_tensor_elements(weight));
    }
    return macs;
}

/* "3,504,872" */
static const char *grouped(uint64_t number, char buffer[BIG_TEXT]) {
    char digits[BIG_TEXT];
    const int length = snprintf(digits, sizeof digits, "%" PRIu64, number);
    char *at = buffer;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            *at++ = ',';
        *at++ = digits[i];
    }
    *at = 0;
    return buffer;
}

static bool is_true_claim(const struct check *check, size_t preset, const char *what, int64_t claim,
                          uint64_t is) {
    char says[BIG_TEXT], has[BIG_TEXT];
    if (claim < 0 || (uint64_t)claim == is)
        return true;
    pdnn_definition_fail(check->definition, check->definition->presets[preset].place, check->err,
                         "preset %.60s says %s %s, its graph has %s", check->definition->presets[preset].name,
                         grouped((uint64_t)claim, says), what, grouped(is, has));
    return false;
}

static bool check_preset(struct check *check, size_t i) {
    const struct pdnn_definition_preset *preset = &check->definition->presets[i];
    struct pdnn_graph *graph = &check->graph[0];
    struct pdnn_instance instance;
    struct pdnn_totals totals;
    uint64_t macs = 0;
    pdnn_arena_reset(&check->arena);
    pdnn_instance_init_preset(&instance, check->family, &check->family->presets[i]);
    instance.hyper[check->family->minibatch_param] = pdnn_value_of(1);
    instance.setting[PDNN_SETTING_MODE] = PDNN_MODE_INFER;
    pdnn_instance_resolve(&instance, 1);
    pdnn_graph_init(graph, &check->arena);
    pdnn_definition_build(check->family->compiled, &instance, graph);
    if (pdnn_graph_status(graph, check->err) != PDNN_OK ||
        pdnn_cost_graph(graph, &totals, check->err) != PDNN_OK)
        return false;
    for (size_t k = 0; k < graph->n_nodes; k++)
        macs += macs_of(graph, &graph->nodes[k]);
    return is_true_claim(check, i, "params", preset->params, totals.params) &&
           is_true_claim(check, i, "macs", preset->macs, macs);
}

enum pdnn_status pdnn_family_check_claims(const struct pdnn_family_def *family, struct pdnn_err *err) {
    struct pdnn_err first = {0};
    struct check check = {.family = family, .definition = family->compiled->definition, .err = &first};
    for (size_t i = 0; i < check.definition->n_presets && first.status == PDNN_OK; i++)
        if (check.definition->presets[i].params >= 0 || check.definition->presets[i].macs >= 0)
            check_preset(&check, i);
    pdnn_arena_finish(&check.arena);
    if (err && first.status != PDNN_OK)
        *err = first;
    return first.status;
}
