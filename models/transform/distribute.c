#include "models/transform/distribute.h"

#include "models/attributes.h"
#include "models/op.h"

#include <stdlib.h>
#include <string.h>

/* A gradient that an update reads, and where it is complete. */
struct part {
    uint32_t tensor, writer; /* the last node that writes it before any update */
    uint64_t bucket;
    uint64_t last; /* bytes of the bucket that it ends, or 0 */
};

struct distribution {
    struct pdnn_graph *graph;
    int64_t ranks, mode;
    uint64_t bucket_bytes;
    struct part *parts; /* in the order of their writers */
    size_t n_parts;
    size_t first_update; /* node */
};

/* By tensor: 1 + the last node that writes it before the updates, or 0. */
static uint32_t *find_writers(struct distribution *of) {
    const struct pdnn_graph *graph = of->graph;
    uint32_t *writer = pdnn_arena_alloc(graph->arena, graph->n_tensors + 1, sizeof *writer);
    for (; of->first_update < graph->n_nodes; of->first_update++) {
        const struct pdnn_node *node = &graph->nodes[of->first_update];
        struct pdnn_access access[PDNN_NODE_ACCESSES];
        if (node->pass == PDNN_UPDATE)
            break;
        for (int k = pdnn_node_accesses(node, access); k-- > 0;) {
            if (access[k].is_written)
                writer[access[k].tensor] = (uint32_t)of->first_update + 1;
        }
    }
    return writer;
}

/* Gradients of weights that the updates read and nodes before them write. */
static void find_parts(struct distribution *of, uint32_t *writer) {
    const struct pdnn_graph *graph = of->graph;
    for (size_t i = of->first_update; i < graph->n_nodes; i++) {
        for (int k = 0; k < graph->nodes[i].n_inputs; k++) {
            uint32_t tensor = graph->nodes[i].input[k];
            if (graph->tensors[tensor].role != PDNN_ROLE_WEIGHT_GRADIENT || !writer[tensor])
                continue;
            of->parts[of->n_parts++] = (struct part){.tensor = tensor, .writer = writer[tensor] - 1};
            writer[tensor] = 0; /* known */
        }
    }
}

/* By writer, and by tensor where one node writes several. */
static int compare_parts(const void *left, const void *right) {
    const struct part *a = left, *b = right;
    if (a->writer != b->writer)
        return a->writer < b->writer ? -1 : 1;
    return (a->tensor > b->tensor) - (a->tensor < b->tensor);
}

static void fill_buckets(struct distribution *of) {
    uint64_t bucket = 0, used = 0;
    for (size_t i = 0; i < of->n_parts; i++) {
        uint64_t bytes = pdnn_tensor_bytes(&of->graph->tensors[of->parts[i].tensor]);
        if (used && (bytes > of->bucket_bytes || used > of->bucket_bytes - bytes)) {
            of->parts[i - 1].last = used;
            bucket++;
            used = 0;
        }
        of->parts[i].bucket = bucket;
        used += bytes;
    }
    if (of->n_parts)
        of->parts[of->n_parts - 1].last = used;
}

static struct pdnn_node new_node(const struct distribution *of, struct part *part, int64_t phase) {
    struct pdnn_node node = {.op = &pdnn_op_allreduce,
                             .pass = PDNN_UPDATE,
                             .n_inputs = 1,
                             .n_outputs = 1,
                             .input = &part->tensor,
                             .output = &part->tensor};
    node.attr[PDNN_ALLREDUCE_RANKS] = of->ranks;
    node.attr[PDNN_ALLREDUCE_PHASE] = phase;
    node.coef[PDNN_ALLREDUCE_MODE] = (double)of->mode;
    node.coef[PDNN_ALLREDUCE_AT] = (double)part->bucket;
    node.coef[PDNN_ALLREDUCE_LAST] = (double)part->last;
    return node;
}

/* Rewrites the table of nodes with the new ones in their places. */
static void insert(const struct distribution *of) {
    struct pdnn_graph *graph = of->graph;
    size_t n_old = graph->n_nodes, next = 0;
    struct pdnn_node *old = pdnn_arena_alloc(graph->arena, n_old + 1, sizeof *old);
    bool waits = of->mode != PDNN_ALLREDUCE_BLOCKING;
    memcpy(old, graph->nodes, n_old * sizeof *old);
    graph->n_nodes = 0;
    for (size_t i = 0; i < n_old && graph->err.status == PDNN_OK; i++) {
        for (size_t k = 0; waits && i == of->first_update && k < of->n_parts; k++) {
            struct pdnn_node node = new_node(of, &of->parts[k], PDNN_ALLREDUCE_WAIT);
            node.layer = old[of->parts[k].writer].layer;
            pdnn_graph_node(graph, &node);
        }
        uint32_t moved = pdnn_graph_node(graph, &old[i]); /* the table may move, too */
        if (graph->err.status == PDNN_OK)
            graph->nodes[moved].segment = old[i].segment;
        for (; next < of->n_parts && of->parts[next].writer == i; next++) {
            struct pdnn_node node =
                new_node(of, &of->parts[next], waits ? PDNN_ALLREDUCE_START : PDNN_ALLREDUCE_WHOLE);
            node.layer = old[i].layer;
            pdnn_graph_node(graph, &node);
        }
    }
}

void pdnn_distribute(const struct pdnn_instance *instance, struct pdnn_graph *graph) {
    struct distribution of = {.graph = graph,
                              .ranks = instance->setting[PDNN_SETTING_RANKS],
                              .mode = instance->setting[PDNN_SETTING_ALLREDUCE],
                              .bucket_bytes = (uint64_t)instance->setting[PDNN_SETTING_BUCKET] * 1000000};
    if (of.ranks < 2 || of.mode == PDNN_ALLREDUCE_NONE || graph->err.status != PDNN_OK)
        return;
    uint32_t *writer = find_writers(&of);
    of.parts = pdnn_arena_alloc(graph->arena, graph->n_tensors + 1, sizeof *of.parts);
    find_parts(&of, writer);
    qsort(of.parts, of.n_parts, sizeof *of.parts, compare_parts);
    fill_buckets(&of);
    for (size_t i = 0; i < of.n_parts; i++) {
        if (graph->tensors[of.parts[i].tensor].dtype != PDNN_F32)
            graph->unsupported = "allreduce averages f32 gradients only";
    }
    insert(&of);
}
