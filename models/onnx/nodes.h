/* An inference graph as ONNX has it (opset 17): values, and nodes in the order they run. What the nodes of an
 * op are is said in the op's file, by its form (struct pdnn_export_form in its row), which appends them with
 * the functions here. Nothing of files, which are gen/onnx, nor of the whole graph, which is
 * models/onnx/network. */
#ifndef MODELS_ONNX_NODES_H
#define MODELS_ONNX_NODES_H

#include "models/graph.h"

/* By the numbers that ONNX gives them. */
enum pdnn_export_type { PDNN_EXPORT_F32 = 1, PDNN_EXPORT_S32 = 6, PDNN_EXPORT_S64 = 7, PDNN_EXPORT_F64 = 11 };

enum pdnn_export_kind {
    PDNN_EXPORT_COMPUTED, /* by a node */
    PDNN_EXPORT_INPUT,
    PDNN_EXPORT_STORED,  /* elements of weights and state */
    PDNN_EXPORT_CONSTANT /* such as a shape: an initializer of whole numbers, or a node, so that no reader
                            takes real numbers for weights */
};

/* Elements of a tensor, in their order; of PDNN_NONE zeros. */
struct pdnn_export_part {
    uint32_t tensor;
    int64_t first, count;
};

struct pdnn_export_value {
    enum pdnn_export_kind kind;
    enum pdnn_export_type type;
    const char *name; /* models/onnx/network gives it */
    int rank;         /* this and the dims are not known of what is computed */
    int64_t dim[PDNN_RANK_MAX];
    const struct pdnn_export_part *parts; /* stored: one after the other */
    size_t n_parts;
    const void *data; /* constant: elements of its type */
    uint32_t node;    /* computed: by this one */
    uint32_t tensor;  /* what it is of an input, or the first that it is of what is stored */
};

enum pdnn_export_attribute_kind {
    PDNN_EXPORT_WHOLE,
    PDNN_EXPORT_WHOLES,
    PDNN_EXPORT_NUMBER,
    PDNN_EXPORT_TEXT
};

struct pdnn_export_attribute {
    const char *name;
    enum pdnn_export_attribute_kind kind;
    const int64_t *wholes; /* one, or n_wholes */
    size_t n_wholes;
    double number;
    const char *text;
};

enum { PDNN_EXPORT_ATTRIBUTES = 6, PDNN_EXPORT_OUTPUTS = 2 };

struct pdnn_export_node {
    const char *type;           /* "Gemm" */
    const struct pdnn_node *of; /* what it is a part of */
    uint32_t *input;            /* values; PDNN_NONE where one is left out */
    int n_inputs;
    uint32_t output[PDNN_EXPORT_OUTPUTS];
    int n_outputs;
    struct pdnn_export_attribute attribute[PDNN_EXPORT_ATTRIBUTES];
    int n_attributes;
};

/* State that the graph changes: an input, and a result. */
struct pdnn_export_state {
    uint32_t tensor, value; /* value: the new one */
};

/* A value that depends on nothing but its node's shapes, attributes and coefficients. */
struct pdnn_export_kept {
    const struct pdnn_node *node;
    int k;
    uint32_t value;
};

/* Scores (B h, n, m) as the product of heads gives them: (B, h, n, m). */
struct pdnn_export_scores {
    uint32_t value; /* PDNN_NONE: there are none */
    int64_t sequences;
};

struct pdnn_export {
    struct pdnn_arena *arena; /* holds everything here */
    const struct pdnn_graph *graph;
    const struct pdnn_node *at; /* whose form is being written */
    struct pdnn_export_value *values;
    struct pdnn_export_node *nodes;
    size_t n_values, n_nodes, value_room, node_room;
    struct pdnn_export_kept *kept;
    size_t n_kept, kept_room;
    struct pdnn_export_scores *scores; /* by tensor */
    uint32_t *value_of;                /* by tensor: its latest value, or PDNN_NONE */
    uint32_t *readings;                /* by tensor: how many inputs of nodes it is; the result is one more */
    bool *is_updated;    /* by tensor: a node of the graph changes it, so it is an input, not stored */
    const char *refusal; /* why the node at hand has no form; NULL: it has one */
    uint32_t *results;   /* those of the graph */
    struct pdnn_export_state *new_states; /* the other results */
    size_t n_new_states;
};

/* The latest value of a tensor: what is computed, or an input or what is stored. */
uint32_t pdnn_export_value_of(struct pdnn_export *onnx, uint32_t tensor);

/* The same of input k of the node at hand. */
uint32_t pdnn_export_in(struct pdnn_export *onnx, int k);

/* Input k, scores (B h, n, m), as (B, h, n, m); then the node's result in that form, to be returned by the
 * op's form. Nothing stands between the operators of attention, which runtimes fuse where they follow each
 * other; who wants the tensor itself gets it by a Reshape. */
uint32_t pdnn_export_scores_in(struct pdnn_export *onnx, int k, int64_t sequences);
uint32_t pdnn_export_give_scores(struct pdnn_export *onnx, uint32_t value, int64_t sequences);

/* For what works by element or by row: input 0 in either form, with its sequences or 0, and the result in the
 * same. */
uint32_t pdnn_export_either_in(struct pdnn_export *onnx, int64_t *sequences);
uint32_t pdnn_export_give_either(struct pdnn_export *onnx, uint32_t value, int64_t sequences);

/* Input k and output 0 as tensors. */
const struct pdnn_tensor *pdnn_export_shape_in(const struct pdnn_export *onnx, int k);
const struct pdnn_tensor *pdnn_export_shape_out(const struct pdnn_export *onnx);

/* Says why the node at hand has no form, in words that follow the op's name; static text. Returns
 * PDNN_NONE. */
uint32_t pdnn_export_refuse(struct pdnn_export *onnx, const char *reason);

/* Appends a node and returns its first output. The functions after these add an attribute to the last node;
 * lists are copied. */
uint32_t pdnn_export_op(struct pdnn_export *onnx, const char *type, int n_inputs, const uint32_t *inputs);
uint32_t pdnn_export_op1(struct pdnn_export *onnx, const char *type, uint32_t x);
uint32_t pdnn_export_op2(struct pdnn_export *onnx, const char *type, uint32_t a, uint32_t b);
void pdnn_export_add_whole(struct pdnn_export *onnx, const char *name, int64_t value);
void pdnn_export_add_wholes(struct pdnn_export *onnx, const char *name, int count, const int64_t *values);
void pdnn_export_add_number(struct pdnn_export *onnx, const char *name, double value);
void pdnn_export_add_text(struct pdnn_export *onnx, const char *name, const char *text);

/* Another output of the last node. */
uint32_t pdnn_export_second(struct pdnn_export *onnx);

/* Bytes of an element. */
size_t pdnn_export_bytes(enum pdnn_export_type type);

/* Constants, each once: a scalar; whole numbers (count); an array of a type, which is copied. */
uint32_t pdnn_export_number(struct pdnn_export *onnx, double value);
uint32_t pdnn_export_wholes(struct pdnn_export *onnx, int64_t count, const int64_t *values);
uint32_t pdnn_export_constant(struct pdnn_export *onnx, enum pdnn_export_type type, int rank,
                              const int64_t *dim, const void *data);

/* For what has the size of scores, in every layer: the value that a node like the one at hand, of the same
 * op, attributes, coefficients and shapes, kept before as its number k; or PDNN_NONE. */
uint32_t pdnn_export_kept(const struct pdnn_export *onnx, int k);
uint32_t pdnn_export_keep(struct pdnn_export *onnx, int k, uint32_t value);

/* Keeps indices, an array that pdnn_alloc gave, and frees it. */
uint32_t pdnn_export_take(struct pdnn_export *onnx, int k, int rank, const int64_t *dim, int64_t *indices);

/* f32 (n, m): `value` where the column is at least `first` and below `end` columns right of the row, else 0,
 * as nodes make it. INT64_MIN and INT64_MAX: without that limit. */
uint32_t pdnn_export_band(struct pdnn_export *onnx, int64_t n, int64_t m, int64_t first, int64_t end,
                          double value);

/* f32 (count), all the same. */
uint32_t pdnn_export_same(struct pdnn_export *onnx, int64_t count, float value);

/* f32 of any shape, all the same, as a node makes it. */
uint32_t pdnn_export_spread(struct pdnn_export *onnx, int rank, const int64_t *dim, double value);

/* What is stored with other elements or another shape than input k has: parts of it and zeros. */
uint32_t pdnn_export_stored(struct pdnn_export *onnx, int rank, const int64_t *dim, size_t n_parts,
                            const struct pdnn_export_part *parts);

/* What is stored gets the shape itself, without a node. */
uint32_t pdnn_export_reshape(struct pdnn_export *onnx, uint32_t x, int rank, const int64_t *dim);
uint32_t pdnn_export_transpose(struct pdnn_export *onnx, uint32_t x, int rank, const int64_t *order);
uint32_t pdnn_export_slice(struct pdnn_export *onnx, uint32_t x, int64_t axis, int64_t first, int64_t count);
uint32_t pdnn_export_concat(struct pdnn_export *onnx, int count, const uint32_t *values, int64_t axis);

/* Along an axis of `size`, everything but [first, first + count) of `whole` around what is there instead. */
uint32_t pdnn_export_put(struct pdnn_export *onnx, uint32_t whole, uint32_t part, int64_t axis, int64_t size,
                         int64_t first, int64_t count);

/* Reshapes to the shape of output 0. */
uint32_t pdnn_export_as_output(struct pdnn_export *onnx, uint32_t x);

/* "Add" or "Mul" of inputs 0 and 1, of which the second may repeat over the first
 * (struct pdnn_broadcast). */
uint32_t pdnn_export_broadcast(struct pdnn_export *onnx, const char *type);

/* Where input 0 is a product that nothing else reads, and that has room for a bias: gives it that one and
 * returns the product's value. Else PDNN_NONE. */
uint32_t pdnn_export_into_product(struct pdnn_export *onnx, uint32_t bias);

#endif
