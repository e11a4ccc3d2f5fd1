#include "gen/chakra/write.h"

#include "models/attributes.h"
#include "models/cost/cost.h"
#include "models/op.h"

#include <chakra.pb-c.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ATTRIBUTES = 6 };

/* Nodes that use a tensor since it was written, the last first. */
struct reader {
    uint32_t node;
    const struct reader *before;
};

struct writer {
    const struct pdnn_graph *graph;
    struct pdnn_arena arena;
    struct pdnn_str *trace;
    uint32_t *writer_of;           /* by tensor: the node, or PDNN_NONE */
    const struct reader **readers; /* by tensor */
    uint32_t *seen;                /* by node: 1 + the last that depends on it */
    uint64_t *deps;                /* of the node that is written, each once */
    uint32_t *bucket;              /* gradients that wait for their collective */
    size_t n_bucket;
};

/* A message as bytes. */
struct packed {
    ProtobufCBuffer base;
    struct pdnn_str *text;
};

static void append(ProtobufCBuffer *buffer, size_t length, const uint8_t *bytes) {
    pdnn_str_append(((struct packed *)buffer)->text, (const char *)bytes, length);
}

/* Behind its length, seven bits a byte. */
static void append_message(struct writer *w, const ProtobufCMessage *message) {
    struct packed packed = {.base = {append}, .text = w->trace};
    for (size_t left = protobuf_c_message_get_packed_size(message), more = 1; more; left >>= 7) {
        more = left > 0x7f;
        pdnn_str_append(w->trace, &(char){(char)((left & 0x7f) | (more ? 0x80 : 0))}, 1);
    }
    protobuf_c_message_pack_to_buffer(message, &packed.base);
}

static ChakraProtoMsg__AttributeProto *add(struct writer *w, ChakraProtoMsg__AttributeProto **attr,
                                           size_t *count, const char *name, int kind) {
    ChakraProtoMsg__AttributeProto *made = pdnn_arena_alloc(&w->arena, 1, sizeof *made);
    chakra_proto_msg__attribute_proto__init(made);
    made->name = pdnn_arena_strdup(&w->arena, name);
    made->value_case = (ChakraProtoMsg__AttributeProto__ValueCase)kind;
    attr[(*count)++] = made;
    return made;
}

static void depend(struct writer *w, uint32_t at, uint32_t on, uint64_t *deps, size_t *count) {
    if (on == PDNN_NONE || on == at || w->seen[on] == at + 1)
        return;
    w->seen[on] = at + 1;
    deps[(*count)++] = on;
}

/* The node's dependencies, and what later ones depend on. */
static void find_dependencies(struct writer *w, uint32_t at, bool is_collective, ChakraProtoMsg__Node *node) {
    struct pdnn_access access[PDNN_NODE_ACCESSES];
    const int n = pdnn_node_accesses(&w->graph->nodes[at], access);
    node->data_deps = w->deps;
    for (int k = 0; k < n; k++)
        depend(w, at, access[k].is_written ? PDNN_NONE : w->writer_of[access[k].tensor], node->data_deps,
               &node->n_data_deps);
    for (size_t k = 0; is_collective && k < w->n_bucket; k++)
        depend(w, at, w->writer_of[w->bucket[k]], node->data_deps, &node->n_data_deps);
    node->ctrl_deps = w->deps + node->n_data_deps;
    for (int k = 0; k < n; k++) {
        const struct reader *reader = access[k].is_written ? w->readers[access[k].tensor] : NULL;
        if (access[k].is_written)
            depend(w, at, w->writer_of[access[k].tensor], node->ctrl_deps, &node->n_ctrl_deps);
        for (; reader; reader = reader->before)
            depend(w, at, reader->node, node->ctrl_deps, &node->n_ctrl_deps);
    }
    for (int k = 0; k < n; k++) {
        const uint32_t tensor = access[k].tensor;
        if (access[k].is_written) {
            w->writer_of[tensor] = at;
            w->readers[tensor] = NULL;
        } else {
            struct reader *reader = pdnn_arena_alloc(&w->arena, 1, sizeof *reader);
            *reader = (struct reader){at, w->readers[tensor]};
            w->readers[tensor] = reader;
        }
    }
    for (size_t k = 0; is_collective && k < w->n_bucket; k++)
        w->writer_of[w->bucket[k]] = at;
}

/* Whether the node starts a bucket's collective, of so many bytes; others gather its gradients. */
static uint64_t collective_bytes(struct writer *w, const struct pdnn_node *node) {
    if (node->op != &pdnn_op_allreduce || node->attr[PDNN_ALLREDUCE_PHASE] == PDNN_ALLREDUCE_WAIT)
        return 0;
    w->bucket[w->n_bucket++] = node->output[PDNN_ALLREDUCE_NEW_G];
    return (uint64_t)node->coef[PDNN_ALLREDUCE_LAST];
}

static enum pdnn_status append_node(struct writer *w, uint32_t at, double time_ns, struct pdnn_err *err) {
    const struct pdnn_node *node = &w->graph->nodes[at];
    ChakraProtoMsg__Node made = CHAKRA_PROTO_MSG__NODE__INIT;
    ChakraProtoMsg__AttributeProto *attr[ATTRIBUTES];
    char layer[PDNN_LAYER_TEXT];
    struct pdnn_cost cost;
    const uint64_t bytes = collective_bytes(w, node);
    if (pdnn_cost_node(w->graph, node, &cost, err) != PDNN_OK)
        return err->status;
    made.id = at;
    pdnn_layer_format(node->layer, layer);
    made.name = pdnn_arena_printf(&w->arena, "%s%s%s.%s", layer, *layer ? "." : "", node->op->name,
                                  pdnn_node_pass_name(node));
    made.type = bytes                            ? CHAKRA_PROTO_MSG__NODE_TYPE__COMM_COLL_NODE
                : node->op == &pdnn_op_allreduce ? CHAKRA_PROTO_MSG__NODE_TYPE__METADATA_NODE
                                                 : CHAKRA_PROTO_MSG__NODE_TYPE__COMP_NODE;
    made.attr = attr;
    /* Simulators play back what the CPU does and simulate the rest, as they have to here. */
    add(w, attr, &made.n_attr, "is_cpu_op", CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_BOOL_VAL)->bool_val =
        made.type == CHAKRA_PROTO_MSG__NODE_TYPE__METADATA_NODE;
    if (bytes) {
        add(w, attr, &made.n_attr, "comm_type", CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_INT64_VAL)
            ->int64_val = 0;
        add(w, attr, &made.n_attr, "comm_size", CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_INT64_VAL)
            ->int64_val = (int64_t)bytes;
    } else {
        add(w, attr, &made.n_attr, "num_ops", CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_INT64_VAL)->int64_val =
            (int64_t)cost.in_bounds_flop_count;
        add(w, attr, &made.n_attr, "tensor_size", CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_UINT64_VAL)
            ->uint64_val = cost.byte_count;
    }
    if (!isnan(time_ns)) {
        made.duration_micros = (uint64_t)(time_ns / 1000 + 0.5);
        add(w, attr, &made.n_attr, "time_ns", CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_DOUBLE_VAL)
            ->double_val = time_ns;
    }
    find_dependencies(w, at, bytes > 0, &made);
    w->n_bucket = bytes ? 0 : w->n_bucket;
    append_message(w, &made.base);
    return PDNN_OK;
}

enum pdnn_status pdnn_chakra_append(const struct pdnn_graph *graph, const char *id, int64_t rank,
                                    const double *time_ns, struct pdnn_str *trace, struct pdnn_err *err) {
    struct writer w = {.graph = graph, .trace = trace};
    ChakraProtoMsg__GlobalMetadata whole = CHAKRA_PROTO_MSG__GLOBAL_METADATA__INIT;
    ChakraProtoMsg__AttributeProto *attr[ATTRIBUTES];
    enum pdnn_status status = PDNN_OK;
    w.writer_of = pdnn_arena_room(&w.arena, graph->n_tensors, sizeof *w.writer_of);
    memset(w.writer_of, 0xff, graph->n_tensors * sizeof *w.writer_of);
    w.readers = pdnn_arena_alloc(&w.arena, graph->n_tensors, sizeof *w.readers);
    w.seen = pdnn_arena_alloc(&w.arena, graph->n_nodes, sizeof *w.seen);
    w.deps = pdnn_arena_room(&w.arena, graph->n_nodes, sizeof *w.deps);
    w.bucket = pdnn_arena_room(&w.arena, graph->n_nodes, sizeof *w.bucket);
    whole.attr = attr;
    add(&w, attr, &whole.n_attr, "producer", CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_STRING_VAL)
        ->string_val = pdnn_arena_strdup(&w.arena, "paradnn");
    add(&w, attr, &whole.n_attr, "instance", CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_STRING_VAL)
        ->string_val = pdnn_arena_strdup(&w.arena, id);
    add(&w, attr, &whole.n_attr, "rank", CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_INT64_VAL)->int64_val =
        rank;
    append_message(&w, &whole.base);
    for (uint32_t i = 0; i < graph->n_nodes && status == PDNN_OK; i++)
        status = append_node(&w, i, time_ns[i], err);
    pdnn_arena_finish(&w.arena);
    return status;
}
