#include "models/definition/needed.h"

#include "models/definition/message.h"

#include <string.h>

/* Marks in needed[] (by node, from the first one on) what the tensors depend on. Returns, by tensor, whether
 * that reads it. */
static const bool *mark(const struct pdnn_graph *graph, size_t first, const uint32_t *ends, size_t n_ends,
                        bool *needed) {
    bool *read = pdnn_arena_alloc(graph->arena, graph->n_tensors + 1, sizeof *read);
    for (size_t i = 0; i < n_ends; i++)
        read[ends[i]] = true;
    for (size_t i = graph->n_nodes; i-- > first;) {
        const struct pdnn_node *node = &graph->nodes[i];
        for (int k = 0; k < node->n_outputs; k++)
            needed[i - first] |= read[node->output[k]];
        for (int k = 0; needed[i - first] && k < node->n_inputs; k++)
            read[node->input[k]] = true;
    }
    return read;
}

static void nothing_reads(struct pdnn_build *build, size_t at) {
    const struct pdnn_node *node = &build->graph->nodes[at];
    char shape[PDNN_SHAPE_TEXT], layer[PDNN_LAYER_TEXT];
    pdnn_tensor_shape(pdnn_node_out(build->graph, node, 0), shape);
    pdnn_layer_format(node->layer, layer);
    pdnn_definition_fail(build->compiled->definition, build->origins[at - build->first_node].place,
                         build->err, "nothing reads the result %s of %s; layer '%s'", shape, node->op->name,
                         layer);
}

/* Where a tensor is once those that no node has any more are gone; `keeps` says which stay. */
static uint32_t *renumber(struct pdnn_graph *graph, const bool *keeps, uint32_t first) {
    uint32_t *at = pdnn_arena_alloc(graph->arena, graph->n_tensors + 1, sizeof *at);
    uint32_t count = first;
    for (uint32_t i = 0; i < graph->n_tensors; i++) {
        at[i] = i < first ? i : PDNN_NONE;
        if (i < first || !keeps[i])
            continue;
        graph->tensors[count] = graph->tensors[i];
        at[i] = count++;
    }
    graph->n_tensors = count;
    return at;
}

static void move(uint32_t *tensor, const uint32_t *at) {
    if (*tensor != PDNN_NONE)
        *tensor = at[*tensor];
}

/* Drops the nodes that are not needed, and the tensors that only they had. */
static void drop_nodes(struct pdnn_build *build, const bool *needed, uint32_t first_tensor) {
    struct pdnn_graph *graph = build->graph;
    bool *keeps = pdnn_arena_alloc(graph->arena, graph->n_tensors + 1, sizeof *keeps);
    size_t count = build->first_node;
    for (size_t i = build->first_node; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        if (!needed[i - build->first_node])
            continue;
        for (int k = 0; k < node->n_inputs; k++)
            keeps[node->input[k]] = true;
        for (int k = 0; k < node->n_outputs; k++)
            keeps[node->output[k]] = true;
        build->origins[count - build->first_node] = build->origins[i - build->first_node];
        graph->nodes[count++] = *node;
    }
    graph->n_nodes = count;
    if (graph->result != PDNN_NONE)
        keeps[graph->result] = true;
    for (size_t i = 0; i < graph->n_results; i++)
        keeps[graph->results[i]] = true;
    const uint32_t *at = renumber(graph, keeps, first_tensor);
    for (size_t i = build->first_node; i < graph->n_nodes; i++) {
        struct pdnn_node *node = &graph->nodes[i];
        for (int k = 0; k < node->n_inputs; k++)
            move(&node->input[k], at);
        for (int k = 0; k < node->n_outputs; k++)
            move(&node->output[k], at);
    }
    for (uint32_t i = first_tensor; i < graph->n_tensors; i++)
        move(&graph->tensors[i].of, at);
    move(&graph->result, at);
    for (size_t i = 0; i < graph->n_results; i++)
        move(&graph->results[i], at);
    move(&graph->loss, at);
}

/* Remembers for further micro-steps which ops and which of the definition's weights were not needed. */
static void remember(struct pdnn_build *build, const bool *needed) {
    struct pdnn_graph *graph = build->graph;
    const size_t n_weights = build->compiled->definition->n_weights;
    bool *unneeded = pdnn_arena_alloc(graph->arena, build->applied + n_weights + 1, sizeof *unneeded);
    memset(unneeded, true, build->applied + n_weights);
    for (size_t i = build->first_node; i < graph->n_nodes; i++) {
        if (!needed[i - build->first_node])
            continue;
        unneeded[build->origins[i - build->first_node].ordinal] = false;
        for (size_t w = 0; w < n_weights; w++)
            if (build->weights[w] != PDNN_NONE && pdnn_node_readings(&graph->nodes[i], build->weights[w]))
                unneeded[build->applied + w] = false;
    }
    graph->unneeded = unneeded;
    graph->n_unneeded = build->applied;
}

/* Whether no node reads one of the definition's weights. */
static bool has_unread_weights(const struct pdnn_build *build, const bool *read) {
    bool any = false;
    for (size_t w = 0; build->has_weights && w < build->compiled->definition->n_weights; w++)
        any |= build->weights[w] != PDNN_NONE && !read[build->weights[w]];
    return any;
}

void pdnn_needed_only(struct pdnn_build *build, const uint32_t *results, size_t n_results,
                      uint32_t first_tensor) {
    struct pdnn_graph *graph = build->graph;
    size_t count = graph->n_nodes - build->first_node, missing = 0;
    bool *needed = pdnn_arena_alloc(graph->arena, count + 1, sizeof *needed);
    const uint32_t *ends = build->trains ? &graph->loss : results;
    size_t n_ends = build->trains ? 1 : n_results;
    const bool *read = mark(graph, build->first_node, ends, n_ends, needed);
    for (size_t i = 0; i < count; i++)
        missing += !needed[i];
    if (!missing && !has_unread_weights(build, read))
        return;
    if (build->trains) {
        bool *serves = pdnn_arena_alloc(graph->arena, count + 1, sizeof *serves);
        mark(graph, build->first_node, results, n_results, serves);
        for (size_t i = 0; i < count; i++)
            if (!needed[i] && !serves[i]) {
                nothing_reads(build, build->first_node + i);
                return;
            }
    }
    if (!graph->replays)
        remember(build, needed);
    drop_nodes(build, needed, first_tensor);
}
