#include "models/onnx/nodes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const struct pdnn_tensor *pdnn_export_shape_in(const struct pdnn_export *onnx, int k) {
    return &onnx->graph->tensors[onnx->at->input[k]];
}

const struct pdnn_tensor *pdnn_export_shape_out(const struct pdnn_export *onnx) {
    return &onnx->graph->tensors[onnx->at->output[0]];
}

uint32_t pdnn_export_refuse(struct pdnn_export *onnx, const char *reason) {
    onnx->refusal = reason;
    return PDNN_NONE;
}

static uint32_t add_value(struct pdnn_export *onnx, const struct pdnn_export_value *value) {
    onnx->values =
        pdnn_arena_grow(onnx->arena, onnx->values, &onnx->value_room, onnx->n_values, sizeof *value);
    onnx->values[onnx->n_values] = *value;
    return (uint32_t)onnx->n_values++;
}

static void *copy(struct pdnn_export *onnx, const void *from, size_t count, size_t size) {
    void *to = pdnn_arena_room(onnx->arena, count, size);
    return count ? memcpy(to, from, count * size) : to;
}

static uint32_t add_tensor(struct pdnn_export *onnx, uint32_t tensor) {
    const struct pdnn_tensor *t = &onnx->graph->tensors[tensor];
    const bool is_stored = (t->role == PDNN_ROLE_WEIGHT || t->role == PDNN_ROLE_STATE) &&
                           t->dtype == PDNN_F32 && !onnx->is_updated[tensor];
    struct pdnn_export_value value = {.kind = is_stored ? PDNN_EXPORT_STORED : PDNN_EXPORT_INPUT,
                                      .type = t->dtype == PDNN_S32 ? PDNN_EXPORT_S32 : PDNN_EXPORT_F32,
                                      .rank = t->rank,
                                      .tensor = tensor};
    memcpy(value.dim, t->dim, sizeof value.dim);
    if (is_stored) {
        const struct pdnn_export_part whole = {tensor, 0, pdnn_tensor_elements(t)};
        value.parts = copy(onnx, &whole, value.n_parts = 1, sizeof whole);
    }
    return add_value(onnx, &value);
}

uint32_t pdnn_export_value_of(struct pdnn_export *onnx, uint32_t tensor) {
    const struct pdnn_tensor *t = &onnx->graph->tensors[tensor];
    const uint32_t scores = onnx->scores[tensor].value;
    if (onnx->value_of[tensor] == PDNN_NONE)
        onnx->value_of[tensor] = scores == PDNN_NONE ? add_tensor(onnx, tensor)
                                                     : pdnn_export_reshape(onnx, scores, t->rank, t->dim);
    return onnx->value_of[tensor];
}

uint32_t pdnn_export_in(struct pdnn_export *onnx, int k) {
    return pdnn_export_value_of(onnx, onnx->at->input[k]);
}

uint32_t pdnn_export_scores_in(struct pdnn_export *onnx, int k, int64_t sequences) {
    const int64_t *dim = pdnn_export_shape_in(onnx, k)->dim;
    const struct pdnn_export_scores *scores = &onnx->scores[onnx->at->input[k]];
    if (scores->value != PDNN_NONE && scores->sequences == sequences)
        return scores->value;
    return pdnn_export_reshape(onnx, pdnn_export_in(onnx, k), 4,
                               (int64_t[]){sequences, dim[0] / sequences, dim[1], dim[2]});
}

uint32_t pdnn_export_give_scores(struct pdnn_export *onnx, uint32_t value, int64_t sequences) {
    onnx->scores[onnx->at->output[0]] = (struct pdnn_export_scores){value, sequences};
    return PDNN_NONE;
}

uint32_t pdnn_export_either_in(struct pdnn_export *onnx, int64_t *sequences) {
    const struct pdnn_export_scores *scores = &onnx->scores[onnx->at->input[0]];
    *sequences = scores->value == PDNN_NONE ? 0 : scores->sequences;
    return *sequences ? scores->value : pdnn_export_in(onnx, 0);
}

uint32_t pdnn_export_give_either(struct pdnn_export *onnx, uint32_t value, int64_t sequences) {
    return sequences ? pdnn_export_give_scores(onnx, value, sequences) : value;
}

uint32_t pdnn_export_op(struct pdnn_export *onnx, const char *type, int n_inputs, const uint32_t *inputs) {
    onnx->nodes =
        pdnn_arena_grow(onnx->arena, onnx->nodes, &onnx->node_room, onnx->n_nodes, sizeof *onnx->nodes);
    struct pdnn_export_node *node = &onnx->nodes[onnx->n_nodes++];
    *node = (struct pdnn_export_node){.type = type,
                                      .of = onnx->at,
                                      .input = copy(onnx, inputs, (size_t)n_inputs, sizeof *inputs),
                                      .n_inputs = n_inputs};
    return pdnn_export_second(onnx);
}

uint32_t pdnn_export_second(struct pdnn_export *onnx) {
    struct pdnn_export_node *node = &onnx->nodes[onnx->n_nodes - 1];
    assert(node->n_outputs < PDNN_EXPORT_OUTPUTS);
    return node->output[node->n_outputs++] =
               add_value(onnx, &(struct pdnn_export_value){.kind = PDNN_EXPORT_COMPUTED,
                                                           .node = (uint32_t)(onnx->n_nodes - 1)});
}

uint32_t pdnn_export_op1(struct pdnn_export *onnx, const char *type, uint32_t x) {
    return pdnn_export_op(onnx, type, 1, &x);
}

uint32_t pdnn_export_op2(struct pdnn_export *onnx, const char *type, uint32_t a, uint32_t b) {
    return pdnn_export_op(onnx, type, 2, (uint32_t[]){a, b});
}

static void add_attribute(struct pdnn_export *onnx, struct pdnn_export_attribute attribute) {
    struct pdnn_export_node *node = &onnx->nodes[onnx->n_nodes - 1];
    assert(node->n_attributes < PDNN_EXPORT_ATTRIBUTES);
    attribute.wholes = copy(onnx, attribute.wholes, attribute.n_wholes, sizeof *attribute.wholes);
    node->attribute[node->n_attributes++] = attribute;
}

void pdnn_export_add_whole(struct pdnn_export *onnx, const char *name, int64_t value) {
    add_attribute(onnx,
                  (struct pdnn_export_attribute){name, PDNN_EXPORT_WHOLE, .wholes = &value, .n_wholes = 1});
}

void pdnn_export_add_wholes(struct pdnn_export *onnx, const char *name, int count, const int64_t *values) {
    add_attribute(onnx, (struct pdnn_export_attribute){name, PDNN_EXPORT_WHOLES, .wholes = values,
                                                       .n_wholes = (size_t)count});
}

void pdnn_export_add_number(struct pdnn_export *onnx, const char *name, double value) {
    add_attribute(onnx, (struct pdnn_export_attribute){name, PDNN_EXPORT_NUMBER, .number = value});
}

void pdnn_export_add_text(struct pdnn_export *onnx, const char *name, const char *text) {
    add_attribute(onnx, (struct pdnn_export_attribute){name, PDNN_EXPORT_TEXT, .text = text});
}

size_t pdnn_export_bytes(enum pdnn_export_type type) {
    return type == PDNN_EXPORT_S64 || type == PDNN_EXPORT_F64 ? sizeof(int64_t) : sizeof(int32_t);
}

/* One that is equal, or PDNN_NONE. */
static uint32_t find_constant(const struct pdnn_export *onnx, const struct pdnn_export_value *like,
                              size_t bytes) {
    for (uint32_t i = 0; i < onnx->n_values; i++) {
        const struct pdnn_export_value *value = &onnx->values[i];
        if (value->kind == PDNN_EXPORT_CONSTANT && value->type == like->type && value->rank == like->rank &&
            memcmp(value->dim, like->dim, sizeof like->dim) == 0 &&
            memcmp(value->data, like->data, bytes) == 0)
            return i;
    }
    return PDNN_NONE;
}

uint32_t pdnn_export_constant(struct pdnn_export *onnx, enum pdnn_export_type type, int rank,
                              const int64_t *dim, const void *data) {
    struct pdnn_export_value value = {.kind = PDNN_EXPORT_CONSTANT, .type = type, .rank = rank, .data = data};
    size_t count = 1, size = pdnn_export_bytes(type);
    for (int i = 0; i < rank; i++)
        count *= (size_t)(value.dim[i] = dim[i]);
    const uint32_t found = find_constant(onnx, &value, count * size);
    if (found != PDNN_NONE)
        return found;
    value.data = copy(onnx, data, count, size);
    return add_value(onnx, &value);
}

uint32_t pdnn_export_number(struct pdnn_export *onnx, double value) {
    return pdnn_export_constant(onnx, PDNN_EXPORT_F32, 0, NULL, &(float){(float)value});
}

uint32_t pdnn_export_wholes(struct pdnn_export *onnx, int64_t count, const int64_t *values) {
    return pdnn_export_constant(onnx, PDNN_EXPORT_S64, 1, &count, values);
}

static bool is_like(const struct pdnn_graph *graph, const struct pdnn_node *a, const struct pdnn_node *b) {
    bool like = a->op == b->op && a->n_inputs == b->n_inputs &&
                memcmp(a->attr, b->attr, sizeof a->attr) == 0 &&
                memcmp(a->coef, b->coef, sizeof a->coef) == 0;
    for (int i = 0; like && i < a->n_inputs; i++)
        like = pdnn_tensor_same_shape(&graph->tensors[a->input[i]], &graph->tensors[b->input[i]]);
    return like;
}

uint32_t pdnn_export_kept(const struct pdnn_export *onnx, int k) {
    for (size_t i = 0; i < onnx->n_kept; i++) {
        if (onnx->kept[i].k == k && is_like(onnx->graph, onnx->kept[i].node, onnx->at))
            return onnx->kept[i].value;
    }
    return PDNN_NONE;
}

uint32_t pdnn_export_keep(struct pdnn_export *onnx, int k, uint32_t value) {
    onnx->kept = pdnn_arena_grow(onnx->arena, onnx->kept, &onnx->kept_room, onnx->n_kept, sizeof *onnx->kept);
    onnx->kept[onnx->n_kept++] = (struct pdnn_export_kept){onnx->at, k, value};
    return value;
}

uint32_t pdnn_export_take(struct pdnn_export *onnx, int k, int rank, const int64_t *dim, int64_t *indices) {
    const uint32_t value = pdnn_export_constant(onnx, PDNN_EXPORT_S64, rank, dim, indices);
    free(indices);
    return pdnn_export_keep(onnx, k, value);
}

/* What is at or beyond a diagonal, `right` of the main one, on one side of it. */
static uint32_t triangle(struct pdnn_export *onnx, uint32_t x, int64_t right, bool is_upper) {
    const uint32_t y =
        pdnn_export_op2(onnx, "Trilu", x, pdnn_export_constant(onnx, PDNN_EXPORT_S64, 0, NULL, &right));
    pdnn_export_add_whole(onnx, "upper", is_upper);
    return y;
}

uint32_t pdnn_export_band(struct pdnn_export *onnx, int64_t n, int64_t m, int64_t first, int64_t end,
                          double value) {
    uint32_t y = pdnn_export_spread(onnx, 2, (int64_t[]){n, m}, value);
    if (end < m)
        y = triangle(onnx, y, end - 1, false);
    return first > 1 - n ? triangle(onnx, y, first, true) : y;
}

uint32_t pdnn_export_spread(struct pdnn_export *onnx, int rank, const int64_t *dim, double value) {
    return pdnn_export_op2(onnx, "Expand", pdnn_export_number(onnx, value),
                           pdnn_export_wholes(onnx, rank, dim));
}

uint32_t pdnn_export_same(struct pdnn_export *onnx, int64_t count, float value) {
    float *values = pdnn_arena_room(onnx->arena, (size_t)count, sizeof *values);
    for (int64_t i = 0; i < count; i++)
        values[i] = value;
    return pdnn_export_constant(onnx, PDNN_EXPORT_F32, 1, &count, values);
}

uint32_t pdnn_export_stored(struct pdnn_export *onnx, int rank, const int64_t *dim, size_t n_parts,
                            const struct pdnn_export_part *parts) {
    struct pdnn_export_value value = {.kind = PDNN_EXPORT_STORED,
                                      .type = PDNN_EXPORT_F32,
                                      .rank = rank,
                                      .parts = copy(onnx, parts, n_parts, sizeof *parts),
                                      .n_parts = n_parts,
                                      .tensor = parts[0].tensor};
    memcpy(value.dim, dim, (size_t)rank * sizeof *dim);
    return add_value(onnx, &value);
}

uint32_t pdnn_export_reshape(struct pdnn_export *onnx, uint32_t x, int rank, const int64_t *dim) {
    const struct pdnn_export_value *value = &onnx->values[x];
    if (value->kind == PDNN_EXPORT_STORED)
        return pdnn_export_stored(onnx, rank, dim, value->n_parts, value->parts);
    return pdnn_export_op2(onnx, "Reshape", x, pdnn_export_wholes(onnx, rank, dim));
}

uint32_t pdnn_export_transpose(struct pdnn_export *onnx, uint32_t x, int rank, const int64_t *order) {
    const uint32_t y = pdnn_export_op1(onnx, "Transpose", x);
    pdnn_export_add_wholes(onnx, "perm", rank, order);
    return y;
}

uint32_t pdnn_export_slice(struct pdnn_export *onnx, uint32_t x, int64_t axis, int64_t first, int64_t count) {
    const int64_t end = first + count;
    return pdnn_export_op(onnx, "Slice", 4,
                          (uint32_t[]){x, pdnn_export_wholes(onnx, 1, &first),
                                       pdnn_export_wholes(onnx, 1, &end),
                                       pdnn_export_wholes(onnx, 1, &axis)});
}

uint32_t pdnn_export_concat(struct pdnn_export *onnx, int count, const uint32_t *values, int64_t axis) {
    if (count == 1)
        return values[0];
    const uint32_t y = pdnn_export_op(onnx, "Concat", count, values);
    pdnn_export_add_whole(onnx, "axis", axis);
    return y;
}

uint32_t pdnn_export_put(struct pdnn_export *onnx, uint32_t whole, uint32_t part, int64_t axis, int64_t size,
                         int64_t first, int64_t count) {
    uint32_t values[3];
    int n = 0;
    if (first > 0)
        values[n++] = pdnn_export_slice(onnx, whole, axis, 0, first);
    values[n++] = part;
    if (first + count < size)
        values[n++] = pdnn_export_slice(onnx, whole, axis, first + count, size - first - count);
    return pdnn_export_concat(onnx, n, values, axis);
}

uint32_t pdnn_export_as_output(struct pdnn_export *onnx, uint32_t x) {
    const struct pdnn_tensor *y = pdnn_export_shape_out(onnx);
    return pdnn_export_reshape(onnx, x, y->rank, y->dim);
}

uint32_t pdnn_export_broadcast(struct pdnn_export *onnx, const char *type) {
    const struct pdnn_tensor *a = pdnn_export_shape_in(onnx, 0), *b = pdnn_export_shape_in(onnx, 1);
    uint32_t x = pdnn_export_in(onnx, 0), y = pdnn_export_in(onnx, 1);
    struct pdnn_broadcast to;
    const bool fits = pdnn_broadcast_of(a, b, &to);
    assert(fits); /* the op has checked it */
    (void)fits;
    if (pdnn_tensor_same_shape(a, b) || (a->rank == b->rank && (a->dim[0] == b->dim[0] || b->dim[0] == 1)) ||
        (a->rank == 2 && b->rank == 1))
        return pdnn_export_op2(onnx, type, x, y); /* as ONNX repeats by itself */
    if (a->rank == 4) {
        y = pdnn_export_reshape(onnx, y, 4, (int64_t[]){b->rank == 1 ? 1 : b->dim[0], a->dim[1], 1, 1});
        return pdnn_export_op2(onnx, type, x, y);
    }
    x = pdnn_export_reshape(onnx, x, 3, (int64_t[]){to.outer, to.again, to.inner});
    y = pdnn_export_reshape(onnx, y, 3, (int64_t[]){to.outer, 1, to.inner});
    return pdnn_export_as_output(onnx, pdnn_export_op2(onnx, type, x, y));
}

uint32_t pdnn_export_into_product(struct pdnn_export *onnx, uint32_t bias) {
    static const char *const products[] = {"Gemm", "Conv", "ConvTranspose"};
    const uint32_t tensor = onnx->at->input[0], x = onnx->value_of[tensor];
    if (x == PDNN_NONE || onnx->values[bias].kind == PDNN_EXPORT_COMPUTED ||
        onnx->values[x].kind != PDNN_EXPORT_COMPUTED || onnx->readings[tensor] != 1)
        return PDNN_NONE;
    struct pdnn_export_node *node = &onnx->nodes[onnx->values[x].node];
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        if (strcmp(node->type, products[i]) != 0 || node->n_inputs != 2)
            continue;
        node->input = copy(onnx, (uint32_t[]){node->input[0], node->input[1], bias}, 3, sizeof *node->input);
        node->n_inputs = 3;
        return x;
    }
    return PDNN_NONE;
}
