#include "gen/onnx/step.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool pdnn_trace_fail(struct pdnn_trace *trace, const char *format, ...) {
    char where[PDNN_ONNX_WHERE_TEXT], text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pdnn_fail(trace->err, PDNN_INVALID, "%s: %s",
              trace->node ? pdnn_onnx_where(trace->onnx, trace->node->proto, where) : trace->onnx->name,
              text);
    return false;
}

const struct pdnn_value_of *pdnn_trace_in(const struct pdnn_trace *trace, const struct pdnn_onnx_node *node,
                                          size_t k) {
    return k < node->proto->n_input && node->in[k] >= 0 ? &trace->value[node->in[k]] : NULL;
}

struct pdnn_value_of *pdnn_trace_out(struct pdnn_trace *trace, const struct pdnn_onnx_node *node, size_t k) {
    const bool is_there = k < node->proto->n_output && node->out[k] >= 0;
    return &trace->value[is_there ? node->out[k] : trace->onnx->n_values];
}

const struct pdnn_onnx_node *pdnn_trace_giver(const struct pdnn_trace *trace, int32_t id, const char *op) {
    const struct pdnn_onnx_node *node = id >= 0 ? trace->giver[trace->same[id]] : NULL;
    return node && strcmp(node->proto->op_type, op) == 0 ? node : NULL;
}

int32_t pdnn_trace_id(const struct pdnn_trace *trace, const struct pdnn_onnx_node *node, int k) {
    return (size_t)k < node->proto->n_input && node->in[k] >= 0 ? trace->same[node->in[k]] : -1;
}

const struct Onnx__AttributeProto *pdnn_trace_attribute(const struct pdnn_onnx_node *node, const char *name) {
    for (size_t i = 0; i < node->proto->n_attribute; i++)
        if (node->proto->attribute[i]->name && strcmp(node->proto->attribute[i]->name, name) == 0)
            return node->proto->attribute[i];
    return NULL;
}

int64_t pdnn_trace_int(const struct pdnn_onnx_node *node, const char *name, int64_t usual) {
    const struct Onnx__AttributeProto *attribute = pdnn_trace_attribute(node, name);
    return attribute ? attribute->i : usual;
}

double pdnn_trace_real(const struct pdnn_onnx_node *node, const char *name, double usual) {
    const struct Onnx__AttributeProto *attribute = pdnn_trace_attribute(node, name);
    return attribute ? (double)attribute->f : usual;
}

int64_t pdnn_trace_item(const struct pdnn_onnx_node *node, const char *name, size_t k, int64_t usual) {
    const struct Onnx__AttributeProto *attribute = pdnn_trace_attribute(node, name);
    return attribute && k < attribute->n_ints ? attribute->ints[k] : usual;
}

bool pdnn_trace_has_text(const struct pdnn_onnx_node *node, const char *name, const char *text) {
    const struct Onnx__AttributeProto *attribute = pdnn_trace_attribute(node, name);
    return attribute && attribute->s.len == strlen(text) &&
           memcmp(attribute->s.data, text, strlen(text)) == 0;
}

/* Sizes of tensors beyond this are nobody's. */
static const int64_t elements_max = (int64_t)1 << 48;

int64_t pdnn_strided_elements(const struct pdnn_value_of *value) {
    int64_t elements = 1;
    for (int d = 0; d < value->rank; d++)
        elements *= value->dim[d];
    return elements;
}

bool pdnn_strided_shape(struct pdnn_trace *trace, struct pdnn_value_of *value, int rank, const int64_t *dim) {
    int64_t elements = 1;
    if (rank > PDNN_TRACE_RANK)
        return pdnn_trace_fail(trace, "%d dimensions, at most %d are read", rank, PDNN_TRACE_RANK);
    for (int d = rank; d-- > 0;) {
        if (dim[d] < 1)
            return pdnn_trace_fail(trace, "dimension %d is %" PRId64 ", expected 1 or more", d, dim[d]);
        value->dim[d] = dim[d];
        value->stride[d] = elements;
        if (__builtin_mul_overflow(elements, dim[d], &elements) || elements > elements_max)
            return pdnn_trace_fail(trace, "has more than 2^48 elements");
    }
    value->rank = rank;
    value->offset = 0;
    value->fine = NULL;
    return true;
}

void pdnn_strided_swap(struct pdnn_value_of *value, int i, int j) {
    const struct pdnn_value_of was = *value;
    value->dim[i] = was.dim[j];
    value->dim[j] = was.dim[i];
    value->stride[i] = was.stride[j];
    value->stride[j] = was.stride[i];
}

bool pdnn_strided_broadcast(struct pdnn_trace *trace, const struct pdnn_value_of *a,
                            const struct pdnn_value_of *b, int *rank, int64_t *dim) {
    *rank = a->rank > b->rank ? a->rank : b->rank;
    for (int d = 0; d < *rank; d++) {
        const int i = d - (*rank - a->rank), j = d - (*rank - b->rank);
        const int64_t m = i < 0 ? 1 : a->dim[i], n = j < 0 ? 1 : b->dim[j];
        if (m != n && m != 1 && n != 1)
            return pdnn_trace_fail(
                trace, "shapes contradict each other: %" PRId64 " and %" PRId64 " in dimension %d", m, n, d);
        dim[d] = m == 1 ? n : m; /* also 0 */
    }
    return true;
}
