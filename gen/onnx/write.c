#define _POSIX_C_SOURCE 200809L /* O_CLOEXEC, ftruncate */
#include "gen/onnx/write.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/paths/target.h"
#include "base/str.h"
#include "models/definition/text/words.h"
#include "models/onnx/network.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <onnx.pb-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Large parts of the data begin at pages, so that runtimes can map them. */
enum { ALIGNED_BYTES = 64, PAGE_BYTES = 4096, CHUNK_VALUES = 1 << 16 };

#define NOWHERE UINT64_MAX

struct writer {
    const struct pdnn_export *onnx;
    const struct pdnn_export_file *file;
    struct pdnn_arena arena; /* the messages */
    char path[PDNN_TARGET_TEXT];
    const char *location; /* of it, as the graph says it: beside itself */
    uint64_t *offset;     /* by value: in the data; NOWHERE: it is not there */
    uint64_t data_bytes;
};

static uint64_t bytes_of(const struct pdnn_export_value *value) {
    uint64_t bytes = pdnn_export_bytes(value->type);
    for (int i = 0; i < value->rank; i++)
        bytes *= (uint64_t)value->dim[i];
    return bytes;
}

static uint64_t place(struct writer *w, uint64_t bytes) {
    const uint64_t to = bytes < PAGE_BYTES ? ALIGNED_BYTES : PAGE_BYTES,
                   offset = (w->data_bytes + to - 1) / to * to;
    w->data_bytes = offset + bytes;
    return offset;
}

/* Constants are in the graph; without weights, all that is stored is one block. */
static void place_values(struct writer *w) {
    const size_t count = w->onnx->n_values;
    uint64_t largest = 0;
    w->offset = pdnn_arena_room(&w->arena, count, sizeof *w->offset);
    for (size_t i = 0; i < count; i++) {
        const struct pdnn_export_value *value = &w->onnx->values[i];
        const uint64_t bytes = bytes_of(value);
        const bool is_stored = value->kind == PDNN_EXPORT_STORED;
        w->offset[i] = is_stored && w->file->with_weights ? place(w, bytes) : NOWHERE;
        largest = is_stored && bytes > largest ? bytes : largest;
    }
    if (w->file->with_weights || !largest)
        return;
    const uint64_t block = place(w, largest < PAGE_BYTES ? PAGE_BYTES : largest);
    for (size_t i = 0; i < count; i++) {
        if (w->onnx->values[i].kind == PDNN_EXPORT_STORED)
            w->offset[i] = block;
    }
}

/* Messages have no texts that are const. */
static char *text_of(struct writer *w, const char *text) {
    return pdnn_arena_strdup(&w->arena, text);
}

static Onnx__StringStringEntryProto *entry_of(struct writer *w, const char *key, const char *value) {
    Onnx__StringStringEntryProto *entry = pdnn_arena_alloc(&w->arena, 1, sizeof *entry);
    onnx__string_string_entry_proto__init(entry);
    entry->key = text_of(w, key);
    entry->value = text_of(w, value);
    return entry;
}

static char *number_of(struct writer *w, uint64_t number) {
    return pdnn_arena_printf(&w->arena, "%" PRIu64, number);
}

static Onnx__TensorProto *tensor_of(struct writer *w, size_t i) {
    const struct pdnn_export_value *value = &w->onnx->values[i];
    Onnx__TensorProto *tensor = pdnn_arena_alloc(&w->arena, 1, sizeof *tensor);
    onnx__tensor_proto__init(tensor);
    tensor->name = text_of(w, value->name);
    tensor->has_data_type = true;
    tensor->data_type = (int32_t)value->type;
    tensor->n_dims = (size_t)value->rank;
    tensor->dims = pdnn_arena_room(&w->arena, tensor->n_dims, sizeof *tensor->dims);
    memcpy(tensor->dims, value->dim, tensor->n_dims * sizeof *tensor->dims);
    if (w->offset[i] == NOWHERE) {
        tensor->has_raw_data = true;
        tensor->raw_data.len = bytes_of(value);
        tensor->raw_data.data = pdnn_arena_room(&w->arena, tensor->raw_data.len, 1);
        memcpy(tensor->raw_data.data, value->data, tensor->raw_data.len);
        return tensor;
    }
    tensor->has_data_location = true;
    tensor->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    tensor->external_data = pdnn_arena_room(&w->arena, 3, sizeof *tensor->external_data);
    tensor->external_data[tensor->n_external_data++] = entry_of(w, "location", w->location);
    tensor->external_data[tensor->n_external_data++] = entry_of(w, "offset", number_of(w, w->offset[i]));
    tensor->external_data[tensor->n_external_data++] = entry_of(w, "length", number_of(w, bytes_of(value)));
    return tensor;
}

static Onnx__ValueInfoProto *info_of(struct writer *w, const char *name, enum pdnn_export_type type, int rank,
                                     const int64_t *dim) {
    Onnx__ValueInfoProto *info = pdnn_arena_alloc(&w->arena, 1, sizeof *info);
    Onnx__TypeProto *of = pdnn_arena_alloc(&w->arena, 1, sizeof *of);
    Onnx__TypeProto__Tensor *tensor = pdnn_arena_alloc(&w->arena, 1, sizeof *tensor);
    Onnx__TensorShapeProto *shape = pdnn_arena_alloc(&w->arena, 1, sizeof *shape);
    onnx__value_info_proto__init(info);
    onnx__type_proto__init(of);
    onnx__type_proto__tensor__init(tensor);
    onnx__tensor_shape_proto__init(shape);
    info->name = text_of(w, name);
    info->type = of;
    of->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    of->tensor_type = tensor;
    tensor->has_elem_type = true;
    tensor->elem_type = (int32_t)type;
    tensor->shape = shape;
    shape->dim = pdnn_arena_room(&w->arena, (size_t)rank, sizeof *shape->dim);
    for (int i = 0; i < rank; i++) {
        Onnx__TensorShapeProto__Dimension *size = pdnn_arena_alloc(&w->arena, 1, sizeof *size);
        onnx__tensor_shape_proto__dimension__init(size);
        size->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
        size->dim_value = dim[i];
        shape->dim[shape->n_dim++] = size;
    }
    return info;
}

static Onnx__AttributeProto *attribute_of(struct writer *w, const struct pdnn_export_attribute *from) {
    static const Onnx__AttributeProto__AttributeType types[] = {
        [PDNN_EXPORT_WHOLE] = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT,
        [PDNN_EXPORT_WHOLES] = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS,
        [PDNN_EXPORT_NUMBER] = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT,
        [PDNN_EXPORT_TEXT] = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING};
    Onnx__AttributeProto *attribute = pdnn_arena_alloc(&w->arena, 1, sizeof *attribute);
    onnx__attribute_proto__init(attribute);
    attribute->name = text_of(w, from->name);
    attribute->has_type = true;
    attribute->type = types[from->kind];
    attribute->has_i = from->kind == PDNN_EXPORT_WHOLE;
    attribute->i = attribute->has_i ? from->wholes[0] : 0;
    attribute->has_f = from->kind == PDNN_EXPORT_NUMBER;
    attribute->f = (float)from->number;
    if (from->kind == PDNN_EXPORT_WHOLES) {
        attribute->n_ints = from->n_wholes;
        attribute->ints = pdnn_arena_room(&w->arena, from->n_wholes, sizeof *attribute->ints);
        memcpy(attribute->ints, from->wholes, from->n_wholes * sizeof *attribute->ints);
    }
    attribute->has_s = from->kind == PDNN_EXPORT_TEXT;
    if (attribute->has_s)
        attribute->s = (ProtobufCBinaryData){strlen(from->text), (uint8_t *)text_of(w, from->text)};
    return attribute;
}

/* Whether the value is a constant of whole numbers, which are initializers, or of real ones, which are not.
 */
static bool is_constant(const struct pdnn_export_value *value, bool is_whole) {
    return value->kind == PDNN_EXPORT_CONSTANT && (value->type == PDNN_EXPORT_S64) == is_whole;
}

static Onnx__NodeProto *constant_of(struct writer *w, size_t i) {
    Onnx__NodeProto *node = pdnn_arena_alloc(&w->arena, 1, sizeof *node);
    Onnx__AttributeProto *attribute = pdnn_arena_alloc(&w->arena, 1, sizeof *attribute);
    onnx__node_proto__init(node);
    onnx__attribute_proto__init(attribute);
    node->op_type = text_of(w, "Constant");
    node->output = pdnn_arena_room(&w->arena, node->n_output = 1, sizeof *node->output);
    node->output[0] = text_of(w, w->onnx->values[i].name);
    node->attribute = pdnn_arena_room(&w->arena, node->n_attribute = 1, sizeof *node->attribute);
    node->attribute[0] = attribute;
    attribute->name = text_of(w, "value");
    attribute->has_type = true;
    attribute->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR;
    attribute->t = tensor_of(w, i);
    attribute->t->name = NULL;
    return node;
}

static Onnx__NodeProto *node_of(struct writer *w, size_t number) {
    const struct pdnn_export_node *from = &w->onnx->nodes[number];
    const struct pdnn_export_value *values = w->onnx->values;
    char name[PDNN_EXPORT_NAME];
    Onnx__NodeProto *node = pdnn_arena_alloc(&w->arena, 1, sizeof *node);
    onnx__node_proto__init(node);
    node->name = text_of(w, pdnn_export_node_name(w->onnx, number, name));
    node->op_type = text_of(w, from->type);
    node->input = pdnn_arena_room(&w->arena, (size_t)from->n_inputs, sizeof *node->input);
    node->output = pdnn_arena_room(&w->arena, (size_t)from->n_outputs, sizeof *node->output);
    node->attribute = pdnn_arena_room(&w->arena, (size_t)from->n_attributes, sizeof *node->attribute);
    for (int i = 0; i < from->n_inputs; i++)
        node->input[node->n_input++] =
            text_of(w, from->input[i] == PDNN_NONE ? "" : values[from->input[i]].name);
    for (int i = 0; i < from->n_outputs; i++)
        node->output[node->n_output++] = text_of(w, values[from->output[i]].name);
    for (int i = 0; i < from->n_attributes; i++)
        node->attribute[node->n_attribute++] = attribute_of(w, &from->attribute[i]);
    return node;
}

static Onnx__GraphProto *graph_of(struct writer *w) {
    const struct pdnn_export *onnx = w->onnx;
    Onnx__GraphProto *graph = pdnn_arena_alloc(&w->arena, 1, sizeof *graph);
    onnx__graph_proto__init(graph);
    graph->name = text_of(w, w->file->id);
    graph->node = pdnn_arena_room(&w->arena, onnx->n_nodes + onnx->n_values, sizeof *graph->node);
    graph->input = pdnn_arena_room(&w->arena, onnx->n_values, sizeof *graph->input);
    graph->initializer = pdnn_arena_room(&w->arena, onnx->n_values, sizeof *graph->initializer);
    graph->output =
        pdnn_arena_room(&w->arena, onnx->graph->n_results + onnx->n_new_states, sizeof *graph->output);
    for (size_t i = 0; i < onnx->n_values; i++) {
        if (is_constant(&onnx->values[i], false))
            graph->node[graph->n_node++] = constant_of(w, i);
    }
    for (size_t i = 0; i < onnx->n_nodes; i++)
        graph->node[graph->n_node++] = node_of(w, i);
    for (size_t i = 0; i < onnx->n_values; i++) {
        const struct pdnn_export_value *value = &onnx->values[i];
        if (value->kind == PDNN_EXPORT_INPUT)
            graph->input[graph->n_input++] = info_of(w, value->name, value->type, value->rank, value->dim);
        if (is_constant(value, true) || value->kind == PDNN_EXPORT_STORED)
            graph->initializer[graph->n_initializer++] = tensor_of(w, i);
    }
    for (size_t i = 0; i < onnx->graph->n_results; i++) {
        const struct pdnn_tensor *result = &onnx->graph->tensors[onnx->graph->results[i]];
        graph->output[graph->n_output++] =
            info_of(w, onnx->values[onnx->results[i]].name,
                    result->dtype == PDNN_S32 ? PDNN_EXPORT_S32 : PDNN_EXPORT_F32, result->rank, result->dim);
    }
    for (size_t i = 0; i < onnx->n_new_states; i++) {
        const struct pdnn_tensor *state = &onnx->graph->tensors[onnx->new_states[i].tensor];
        graph->output[graph->n_output++] = info_of(w, onnx->values[onnx->new_states[i].value].name,
                                                   PDNN_EXPORT_F32, state->rank, state->dim);
    }
    return graph;
}

/* How the input's values are drawn, in the words of families: "zipf 50257". */
static Onnx__StringStringEntryProto *fill_of(struct writer *w, const struct pdnn_export_value *input) {
    const struct pdnn_fill *fill = &w->onnx->graph->tensors[input->tensor].fill;
    const struct pdnn_fill_word *row = pdnn_fill_words;
    const bool is_zero = fill->kind == PDNN_FILL_ZERO;
    while (row->word && row->kind != (is_zero ? PDNN_FILL_CONSTANT : fill->kind))
        row++;
    assert(row->word); /* inputs are made by families */
    return entry_of(w, input->name,
                    pdnn_arena_printf(&w->arena, "%s %.9g", row->word, is_zero ? 0 : fill->scale));
}

static void add_metadata(struct writer *w, Onnx__ModelProto *model) {
    const struct pdnn_export *onnx = w->onnx;
    model->metadata_props = pdnn_arena_room(&w->arena, onnx->n_values, sizeof *model->metadata_props);
    for (size_t i = 0; i < onnx->n_values; i++) {
        if (onnx->values[i].kind == PDNN_EXPORT_INPUT)
            model->metadata_props[model->n_metadata_props++] = fill_of(w, &onnx->values[i]);
    }
}

/* The message as bytes. */
struct packed {
    ProtobufCBuffer base;
    struct pdnn_str text;
};

static void append(ProtobufCBuffer *buffer, size_t length, const uint8_t *bytes) {
    pdnn_str_append(&((struct packed *)buffer)->text, (const char *)bytes, length);
}

static enum pdnn_status write_graph(struct writer *w, const struct pdnn_target *target, uint64_t *bytes,
                                    struct pdnn_err *err) {
    Onnx__ModelProto model = ONNX__MODEL_PROTO__INIT;
    Onnx__OperatorSetIdProto opset = ONNX__OPERATOR_SET_ID_PROTO__INIT, *opsets = &opset;
    struct packed packed = {.base = {append}};
    opset.domain = text_of(w, "");
    opset.has_version = true;
    opset.version = PDNN_EXPORT_OPSET;
    model.has_ir_version = true;
    model.ir_version = PDNN_EXPORT_IR;
    model.producer_name = text_of(w, "paradnn");
    model.opset_import = &opsets;
    model.n_opset_import = 1;
    model.graph = graph_of(w);
    add_metadata(w, &model);
    onnx__model_proto__pack_to_buffer(&model, &packed.base);
    *bytes = packed.text.length;
    const enum pdnn_status status =
        pdnn_target_write(target, pdnn_str_text(&packed.text), packed.text.length, err);
    pdnn_str_finish(&packed.text);
    return status;
}

static enum pdnn_status fail_data(const struct writer *w, struct pdnn_err *err) {
    return pdnn_fail(err, PDNN_IO, "%s: %s", w->path, strerror(errno));
}

static enum pdnn_status go_to(const struct writer *w, int fd, uint64_t offset, struct pdnn_err *err) {
    return lseek(fd, (off_t)offset, SEEK_SET) < 0 ? fail_data(w, err) : PDNN_OK;
}

/* Some values at a time, so that no tensor is in memory. */
static enum pdnn_status write_part(const struct writer *w, int fd, const struct pdnn_export_part *part,
                                   float *chunk, struct pdnn_err *err) {
    const uint64_t stream = pdnn_rng_at(w->file->seed, part->tensor);
    static const struct pdnn_fill zero = {PDNN_FILL_ZERO, 0};
    const struct pdnn_fill *fill =
        part->tensor == PDNN_NONE ? &zero : &w->onnx->graph->tensors[part->tensor].fill;
    for (int64_t at = 0; at < part->count;) {
        const int64_t left = part->count - at, count = left < CHUNK_VALUES ? left : CHUNK_VALUES;
        for (int64_t i = 0; i < count; i++)
            chunk[i] = pdnn_fill_at(fill, stream, part->first + at + i);
        if (pdnn_fd_write(fd, chunk, (size_t)count * sizeof *chunk, err) != PDNN_OK)
            return pdnn_wrap(err, "%s", w->path);
        at += count;
    }
    return PDNN_OK;
}

static enum pdnn_status write_values(const struct writer *w, int fd, struct pdnn_err *err) {
    float *chunk = pdnn_alloc(CHUNK_VALUES, sizeof *chunk);
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < w->onnx->n_values && status == PDNN_OK; i++) {
        const struct pdnn_export_value *value = &w->onnx->values[i];
        if (w->offset[i] == NOWHERE || !w->file->with_weights)
            continue;
        status = go_to(w, fd, w->offset[i], err);
        for (size_t k = 0; k < value->n_parts && status == PDNN_OK; k++)
            status = write_part(w, fd, &value->parts[k], chunk, err);
    }
    free(chunk);
    return status;
}

/* What is not written is a hole in the file. */
static enum pdnn_status write_data(const struct writer *w, struct pdnn_err *err) {
    const int fd = open(w->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return fail_data(w, err);
    enum pdnn_status status =
        ftruncate(fd, (off_t)w->data_bytes) ? fail_data(w, err) : write_values(w, fd, err);
    if (close(fd) && status == PDNN_OK)
        status = fail_data(w, err);
    if (status != PDNN_OK)
        unlink(w->path);
    return status;
}

enum pdnn_status pdnn_export_write(const struct pdnn_export *onnx, const struct pdnn_export_file *file,
                                   struct pdnn_export_sizes *sizes, struct pdnn_err *err) {
    struct writer w = {.onnx = onnx, .file = file};
    struct pdnn_target target = {.fd = -1};
    uint64_t graph_bytes = 0;
    if (pdnn_target_is_stream(file->path))
        return pdnn_fail(err, PDNN_INVALID, "%s: expected a file, beside which there can be its data",
                         file->path);
    if (pdnn_target_open(&target, file->path, err) != PDNN_OK)
        return err->status;
    enum pdnn_status status = PDNN_OK;
    if ((size_t)snprintf(w.path, sizeof w.path, "%s.data", file->path) >= sizeof w.path)
        status = pdnn_fail(err, PDNN_INVALID, "%s: the path is too long", file->path);
    const char *slash = strrchr(w.path, '/');
    w.location = slash ? slash + 1 : w.path;
    place_values(&w);
    if (status == PDNN_OK && w.data_bytes)
        status = write_data(&w, err);
    else if (status == PDNN_OK)
        unlink(w.path); /* of an older network */
    if (status == PDNN_OK)
        status = write_graph(&w, &target, &graph_bytes, err);
    if (status == PDNN_OK)
        *sizes = (struct pdnn_export_sizes){graph_bytes, w.data_bytes};
    pdnn_target_close(&target);
    pdnn_arena_finish(&w.arena);
    return status;
}
