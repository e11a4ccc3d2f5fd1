/* The call registry, and the one way to find what runs a node. */
#include "runtime/lowering/calls.h"

#include "models/op.h"
#include "runtime/lowering/bound_call.h"
#include "runtime/lowering/f32_copies.h"
#include "runtime/lowering/call.h"
#include "runtime/lowering/upcast.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define ROW(op) &pdnn_lowering_##op,
static const struct pdnn_lowering *const registry[] = {PDNN_OPS(ROW)};

const struct pdnn_lowering *pdnn_lowering_find(const struct pdnn_op_def *op) {
    size_t i = 0;
    while (registry[i]->op != op)
        i++;
    return registry[i];
}

static const struct pdnn_lowering *find_library_row(const struct pdnn_calls *calls,
                                                    const struct pdnn_op_def *op) {
    const struct pdnn_lowering *const *row = calls->rows;
    while (row && *row && (*row)->op != op)
        row++;
    return row ? *row : NULL;
}

/* sgemm is f32 only, so 16-bit products go through copies. */
static enum pdnn_status multiply(const struct pdnn_calls *calls, const struct pdnn_lowering_pass *pass,
                                 uint32_t index, struct pdnn_err *err) {
    const struct pdnn_graph *graph = calls->program->graph;
    const struct pdnn_node *node = &graph->nodes[index];
    if (!calls->library)
        return pdnn_call_unsupported(calls->backend->name, graph, node, err);
    if (!pdnn_half_is_used(graph, node))
        return pass->compile(calls, index, err);
    if (!calls->program->allow_slow)
        return pdnn_upcast_refuse(calls->backend->name, "sgemm", graph, node, err);
    return pdnn_upcast_compile(calls->backend, calls->state, calls->options->threads, calls->program, index,
                               err);
}

enum pdnn_status pdnn_calls_compile_generic(const struct pdnn_calls *calls, uint32_t node,
                                            struct pdnn_err *err) {
    const struct pdnn_graph *graph = calls->program->graph;
    const struct pdnn_node *n = &graph->nodes[node];
    const struct pdnn_lowering_pass *pass = &pdnn_lowering_find(n->op)->pass[n->pass];
    if (pass->needs_sgemm)
        return multiply(calls, pass, node, err);
    if (!pass->run || !pdnn_bound_call_fits(graph, n, pass))
        return pdnn_call_unsupported(calls->backend->name, graph, n, err);
    return pdnn_bound_call_compile(calls->options, calls->program, node, pass, err);
}

enum pdnn_status pdnn_calls_compile(const struct pdnn_calls *calls, struct pdnn_err *err) {
    const struct pdnn_graph *graph = calls->program->graph;
    enum pdnn_status status = PDNN_OK;
    for (uint32_t i = 0; status == PDNN_OK && i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        const struct pdnn_lowering *row = find_library_row(calls, node->op);
        status = row && row->pass[node->pass].compile ? row->pass[node->pass].compile(calls, i, err)
                                                      : pdnn_calls_compile_generic(calls, i, err);
    }
    return status;
}

void pdnn_sgemm_name(const struct pdnn_sgemm_library *library, char name[PDNN_IMPLEMENTATION_TEXT]) {
    snprintf(name, PDNN_IMPLEMENTATION_TEXT, "%s:sgemm %s", library->name, library->core());
    for (char *at = name + strlen(library->name); *at; at++)
        *at = (char)tolower((unsigned char)*at);
}

enum pdnn_status pdnn_sgemm_refuse(const struct pdnn_calls *calls, uint32_t node, struct pdnn_err *err) {
    return pdnn_fail(err, PDNN_UNSUPPORTED, "%s: %s with a dimension beyond the library's integers",
                     calls->backend->name, calls->program->graph->nodes[node].op->name);
}
