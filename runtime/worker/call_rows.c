#include "runtime/worker/call_rows.h"

#include "base/memory.h"
#include "models/cost/group.h"
#include "models/op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The stem of the layer whose tensor is reordered, if the graph distinguishes stems; else NULL. */
static const char *stem_of(const struct pdnn_graph *graph, uint32_t tensor) {
    for (size_t i = 0; graph->stems_apart && i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        bool uses = node->n_outputs && node->output[0] == tensor;
        for (int k = 0; k < node->n_inputs; k++)
            uses = uses || node->input[k] == tensor;
        if (uses && node->layer.stem)
            return node->layer.stem;
    }
    return NULL;
}

/* Key "dense/backward-data/64x1024:..." for a node; a reorder has the pass that needs it. The key also
 * ends with the layer. */
static void name_op(const struct pdnn_program *program, size_t index, struct pdnn_visit_op *op) {
    const struct pdnn_graph *graph = program->graph;
    const struct pdnn_call *call = &program->calls[index];
    char *key = op->key;
    if (call->node != PDNN_NONE) {
        const struct pdnn_node *node = &graph->nodes[call->node];
        int length = snprintf(key, PDNN_OP_KEY_TEXT, "%s/%s/", node->op->name, pdnn_node_pass_name(node));
        if (length > 0 && length < PDNN_OP_KEY_TEXT)
            pdnn_node_shape(graph, node, key + length, PDNN_OP_KEY_TEXT - (size_t)length);
        if (graph->stems_apart && node->layer.stem)
            snprintf(op->layer, sizeof op->layer, "%s", node->layer.stem);
        return;
    }
    char shape[PDNN_SHAPE_TEXT];
    const char *stem = stem_of(graph, call->tensor);
    snprintf(key, PDNN_OP_KEY_TEXT, "reorder/%s/%s%s%s", pdnn_pass_name(call->pass),
             pdnn_tensor_shape(&graph->tensors[call->tensor], shape), stem ? "@" : "", stem ? stem : "");
    snprintf(op->layer, sizeof op->layer, "%s", stem ? stem : "");
}

/* Finds or appends the row of the call. A node with two implementations gets two rows with the same key. */
static uint32_t find_row(struct pdnn_call_rows *rows, const struct pdnn_program *program, size_t index) {
    const struct pdnn_call *call = &program->calls[index];
    struct pdnn_visit_op named = {.count = 0};
    name_op(program, index, &named);
    for (size_t i = 0; i < rows->n_ops; i++) {
        if (strcmp(rows->ops[i].implementation, call->implementation) == 0 &&
            strcmp(rows->ops[i].key, named.key) == 0)
            return (uint32_t)i;
    }
    struct pdnn_visit_op *op = &rows->ops[rows->n_ops];
    *op = named;
    memcpy(op->implementation, call->implementation, sizeof op->implementation);
    return (uint32_t)rows->n_ops++;
}

struct pdnn_call_rows pdnn_call_rows_of(const struct pdnn_program *program) {
    struct pdnn_call_rows made = {.row_of = pdnn_alloc(program->n_calls, sizeof *made.row_of),
                                  .ops = pdnn_alloc(program->n_calls, sizeof *made.ops)};
    for (size_t i = 0; i < program->n_calls; i++) {
        const struct pdnn_call *call = &program->calls[i];
        uint32_t row = find_row(&made, program, i);
        made.row_of[i] = row;
        made.ops[row].bytes += call->reorder_bytes;
        pdnn_extra_traffic_add(&made.ops[row].extra, &call->extra);
        bool same_node = i && call->node != PDNN_NONE && program->calls[i - 1].node == call->node;
        if (!same_node || made.row_of[i - 1] != row)
            made.ops[row].count++;
    }
    return made;
}

void pdnn_call_rows_finish(struct pdnn_call_rows *rows) {
    free(rows->row_of);
    free(rows->ops);
    *rows = (struct pdnn_call_rows){0};
}
