/* The step registry, and the one way to find what runs a node. */
#include "runtime/lowering/steps.h"

#include "models/op.h"
#include "runtime/lowering/bound_step.h"
#include "runtime/lowering/f32_copies.h"
#include "runtime/lowering/step.h"
#include "runtime/lowering/upcast.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define ROW(op) &pdnn_step_##op,
static const struct pdnn_step_def *const registry[] = {PDNN_OPS(ROW)};

const struct pdnn_step_def *pdnn_step_find(const struct pdnn_op_def *op) {
    size_t i = 0;
    while (registry[i]->op != op)
        i++;
    return registry[i];
}

static const struct pdnn_step_def *find_library_row(const struct pdnn_steps *steps,
                                                    const struct pdnn_op_def *op) {
    const struct pdnn_step_def *const *row = steps->rows;
    while (row && *row && (*row)->op != op)
        row++;
    return row ? *row : NULL;
}

/* sgemm is f32 only, so 16-bit products go through copies. */
static enum pdnn_status multiply(const struct pdnn_steps *steps, const struct pdnn_step_pass *pass,
                                 uint32_t index, struct pdnn_err *err) {
    const struct pdnn_graph *graph = steps->program->graph;
    const struct pdnn_node *node = &graph->nodes[index];
    if (!steps->library)
        return pdnn_step_unsupported(steps->backend->name, graph, node, err);
    if (!pdnn_half_is_used(graph, node))
        return pass->compile(steps, index, err);
    if (!steps->program->allow_slow)
        return pdnn_upcast_refuse(steps->backend->name, "sgemm", graph, node, err);
    return pdnn_upcast_compile(steps->backend, steps->state, steps->options->threads, steps->program, index,
                               err);
}

enum pdnn_status pdnn_steps_compile_generic(const struct pdnn_steps *steps, uint32_t node,
                                            struct pdnn_err *err) {
    const struct pdnn_graph *graph = steps->program->graph;
    const struct pdnn_node *n = &graph->nodes[node];
    const struct pdnn_step_pass *pass = &pdnn_step_find(n->op)->pass[n->pass];
    if (pass->needs_sgemm)
        return multiply(steps, pass, node, err);
    if (!pass->run || !pdnn_bound_step_fits(graph, n, pass))
        return pdnn_step_unsupported(steps->backend->name, graph, n, err);
    return pdnn_bound_step_compile(steps->options, steps->program, node, pass, err);
}

enum pdnn_status pdnn_steps_compile(const struct pdnn_steps *steps, struct pdnn_err *err) {
    const struct pdnn_graph *graph = steps->program->graph;
    enum pdnn_status status = PDNN_OK;
    for (uint32_t i = 0; status == PDNN_OK && i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        const struct pdnn_step_def *row = find_library_row(steps, node->op);
        status = row && row->pass[node->pass].compile ? row->pass[node->pass].compile(steps, i, err)
                                                      : pdnn_steps_compile_generic(steps, i, err);
    }
    return status;
}

void pdnn_sgemm_name(const struct pdnn_sgemm_library *library, char name[PDNN_IMPLEMENTATION_TEXT]) {
    snprintf(name, PDNN_IMPLEMENTATION_TEXT, "%s:sgemm %s", library->name, library->core());
    for (char *at = name + strlen(library->name); *at; at++)
        *at = (char)tolower((unsigned char)*at);
}

enum pdnn_status pdnn_sgemm_refuse(const struct pdnn_steps *steps, uint32_t node, struct pdnn_err *err) {
    return pdnn_fail(err, PDNN_UNSUPPORTED, "%s: %s with a dimension beyond the library's integers",
                     steps->backend->name, steps->program->graph->nodes[node].op->name);
}
