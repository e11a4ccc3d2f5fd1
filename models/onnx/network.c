#include "models/onnx/network.h"

#include "base/str.h"
#include "models/build.h"
#include "models/op.h"

#include <stdio.h>
#include <string.h>

const char *pdnn_export_node_name(const struct pdnn_export *onnx, size_t node,
                                  char buffer[PDNN_EXPORT_NAME]) {
    char layer[PDNN_LAYER_TEXT];
    const struct pdnn_node *of = onnx->nodes[node].of;
    pdnn_layer_format(of->layer, layer);
    snprintf(buffer, PDNN_EXPORT_NAME, "%s%s%s.%zu", layer, *layer ? "." : "", of->op->name, node);
    return buffer;
}

/* One op, and why it cannot be written. */
struct refusal {
    const struct pdnn_node *first;
    const char *reason;
    size_t count;
};

/* Of several ops, or several reasons of one, as many as there is room for. */
enum { REFUSALS = 16 };

static void refuse(struct refusal *refusals, const struct pdnn_node *node, const char *reason) {
    size_t i = 0;
    while (i < REFUSALS && refusals[i].count &&
           (refusals[i].first->op != node->op || strcmp(refusals[i].reason, reason) != 0))
        i++;
    if (i == REFUSALS)
        return;
    if (!refusals[i].count)
        refusals[i] = (struct refusal){.first = node, .reason = reason};
    refusals[i].count++;
}

static enum pdnn_status fail(const struct refusal *refusals, struct pdnn_err *err) {
    struct pdnn_str text = {0};
    for (size_t i = 0; i < REFUSALS && refusals[i].count; i++) {
        char layer[PDNN_LAYER_TEXT];
        const struct pdnn_node *first = refusals[i].first;
        pdnn_layer_format(first->layer, layer);
        pdnn_str_printf(&text, "%s%s %s (%zu node%s%s%s)", i ? "; " : "", first->op->name, refusals[i].reason,
                        refusals[i].count, refusals[i].count > 1 ? "s" : "",
                        !*layer                 ? ""
                        : refusals[i].count > 1 ? ", the first "
                                                : ", ",
                        layer);
    }
    pdnn_fail(err, PDNN_UNSUPPORTED, "not in ONNX (opset %d): %s", PDNN_EXPORT_OPSET, pdnn_str_text(&text));
    pdnn_str_finish(&text);
    return err->status;
}

/* The value of the node's first output, or PDNN_NONE. */
static uint32_t write_node(struct pdnn_export *onnx) {
    const struct pdnn_export_form *form = &onnx->at->op->onnx;
    uint32_t inputs[PDNN_NODE_INPUTS];
    onnx->refusal = NULL;
    if (form->write)
        return form->write(onnx);
    if (!form->type)
        return pdnn_export_refuse(onnx, "has no form there");
    int64_t sequences = 0;
    inputs[0] = pdnn_export_either_in(onnx, &sequences);
    for (int k = 1; k < onnx->at->n_inputs; k++)
        inputs[k] = pdnn_export_in(onnx, k);
    return pdnn_export_give_either(onnx, pdnn_export_op(onnx, form->type, onnx->at->n_inputs, inputs),
                                   sequences);
}

static enum pdnn_status write_nodes(struct pdnn_export *onnx, struct pdnn_err *err) {
    const struct pdnn_graph *graph = onnx->graph;
    struct refusal refusals[REFUSALS] = {0};
    for (size_t i = 0; i < graph->n_nodes; i++) {
        onnx->at = &graph->nodes[i];
        const uint32_t value = write_node(onnx);
        if (onnx->refusal)
            refuse(refusals, onnx->at, onnx->refusal);
        else
            onnx->value_of[onnx->at->output[0]] = value;
    }
    return refusals[0].count ? fail(refusals, err) : PDNN_OK;
}

static void begin(struct pdnn_export *onnx) {
    const struct pdnn_graph *graph = onnx->graph;
    onnx->value_of = pdnn_arena_room(onnx->arena, graph->n_tensors, sizeof *onnx->value_of);
    onnx->readings = pdnn_arena_alloc(onnx->arena, graph->n_tensors, sizeof *onnx->readings);
    onnx->is_updated = pdnn_arena_alloc(onnx->arena, graph->n_tensors, sizeof *onnx->is_updated);
    memset(onnx->value_of, 0xff, graph->n_tensors * sizeof *onnx->value_of);
    onnx->scores = pdnn_arena_room(onnx->arena, graph->n_tensors, sizeof *onnx->scores);
    for (size_t i = 0; i < graph->n_tensors; i++)
        onnx->scores[i].value = PDNN_NONE;
    for (size_t i = 0; i < graph->n_results; i++)
        onnx->readings[graph->results[i]]++;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        for (int k = 0; k < node->n_inputs; k++)
            onnx->readings[node->input[k]]++;
        for (int k = 0; k < node->n_outputs; k++)
            onnx->is_updated[node->output[k]] = pdnn_op_updated(node->op, k, node->n_inputs) > 0;
    }
}

/* The results: those of the graph, which nodes have to compute, and each state that changes. */
static void find_results(struct pdnn_export *onnx) {
    const struct pdnn_graph *graph = onnx->graph;
    size_t room = 0;
    onnx->results = pdnn_arena_room(onnx->arena, graph->n_results, sizeof *onnx->results);
    for (size_t i = 0; i < graph->n_results; i++) {
        onnx->results[i] = pdnn_export_value_of(onnx, graph->results[i]);
        bool is_own = onnx->values[onnx->results[i]].kind == PDNN_EXPORT_COMPUTED;
        for (size_t k = 0; k < i; k++)
            is_own = is_own && onnx->results[k] != onnx->results[i];
        if (!is_own)
            onnx->results[i] = pdnn_export_op1(onnx, "Identity", onnx->results[i]);
    }
    for (uint32_t i = 0; i < graph->n_tensors; i++) {
        if (!onnx->is_updated[i])
            continue;
        onnx->new_states = pdnn_arena_grow(onnx->arena, onnx->new_states, &room, onnx->n_new_states,
                                           sizeof *onnx->new_states);
        onnx->new_states[onnx->n_new_states++] = (struct pdnn_export_state){i, onnx->value_of[i]};
    }
}

/* The operand that input k of the node is: those that may be left out are what is missing. */
static const char *operand_name(const struct pdnn_node *node, int k) {
    const struct pdnn_operand *row = node->op->operands;
    int missing = -node->n_inputs;
    for (int i = 0; row[i].name; i++)
        missing++;
    for (;; row++) {
        const bool is_missing = missing > 0 && (row->optional || row->when);
        if (!row->name || row->many || (!is_missing && k == 0))
            return row->name ? row->name : "x";
        missing -= is_missing;
        k -= !is_missing;
    }
}

/* Names of tensors, after the first node that reads each: "hidden1.w". */
static const char **tensor_names(const struct pdnn_export *onnx) {
    const struct pdnn_graph *graph = onnx->graph;
    const char **names = pdnn_arena_alloc(onnx->arena, graph->n_tensors, sizeof *names);
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        char layer[PDNN_LAYER_TEXT];
        pdnn_layer_format(node->layer, layer);
        for (int k = 0; k < node->n_inputs; k++) {
            if (!names[node->input[k]])
                names[node->input[k]] =
                    pdnn_arena_printf(onnx->arena, "%s%s%s", layer, *layer ? "." : "", operand_name(node, k));
        }
    }
    return names;
}

/* Whether a value before this one has the name. */
static bool is_taken(const struct pdnn_export *onnx, size_t before, const char *name) {
    for (size_t i = 0; i < before; i++) {
        const enum pdnn_export_kind kind = onnx->values[i].kind;
        if ((kind == PDNN_EXPORT_INPUT || kind == PDNN_EXPORT_STORED) &&
            strcmp(onnx->values[i].name, name) == 0)
            return true;
    }
    return false;
}

static void name_values(struct pdnn_export *onnx) {
    const char **names = tensor_names(onnx);
    for (size_t i = 0; i < onnx->n_values; i++) {
        struct pdnn_export_value *value = &onnx->values[i];
        const bool has_name = value->kind == PDNN_EXPORT_INPUT || value->kind == PDNN_EXPORT_STORED;
        if (has_name && !names[value->tensor]) /* only a result */
            names[value->tensor] = "x";
        if (value->kind == PDNN_EXPORT_COMPUTED || value->kind == PDNN_EXPORT_CONSTANT)
            value->name =
                pdnn_arena_printf(onnx->arena, "%s%zu", value->kind == PDNN_EXPORT_CONSTANT ? "c" : "v", i);
        else if (is_taken(onnx, i, value->name = names[value->tensor]))
            value->name = pdnn_arena_printf(onnx->arena, "%s.%zu", names[value->tensor], i);
        if (value->kind == PDNN_EXPORT_INPUT)
            names[value->tensor] = value->name;
    }
    for (size_t i = 0; i < onnx->n_new_states; i++) {
        const struct pdnn_export_state *state = &onnx->new_states[i];
        onnx->values[state->value].name = pdnn_arena_printf(onnx->arena, "new_%s", names[state->tensor]);
    }
    for (size_t i = 0; i < onnx->graph->n_results; i++)
        onnx->values[onnx->results[i]].name =
            i ? pdnn_arena_printf(onnx->arena, "result%zu", i + 1) : "result";
}

enum pdnn_status pdnn_export_build(const struct pdnn_instance *instance, struct pdnn_arena *arena,
                                   struct pdnn_export **onnx, struct pdnn_err *err) {
    struct pdnn_instance inference = *instance;
    struct pdnn_graph *graph = pdnn_arena_alloc(arena, 1, sizeof *graph);
    struct pdnn_export *made = pdnn_arena_alloc(arena, 1, sizeof *made);
    const enum pdnn_dtype dtype = (enum pdnn_dtype)instance->setting[PDNN_SETTING_DTYPE];
    if (dtype != PDNN_F32)
        return pdnn_fail(err, PDNN_UNSUPPORTED, "dtype=%s is not written in ONNX, only dtype=f32",
                         pdnn_dtype_name(dtype));
    inference.setting[PDNN_SETTING_MODE] = PDNN_MODE_INFER;
    inference.setting[PDNN_SETTING_FUSE] = PDNN_FUSE_NONE;
    pdnn_instance_settle(&inference);
    if (pdnn_instance_forward(&inference, arena, graph, err) != PDNN_OK)
        return err->status;
    *made = (struct pdnn_export){.arena = arena, .graph = graph};
    begin(made);
    if (write_nodes(made, err) != PDNN_OK)
        return err->status;
    find_results(made);
    name_values(made);
    *onnx = made;
    return PDNN_OK;
}
