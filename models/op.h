/* The op registry. An op's file is its specification: formula, shape inference, cost per pass, gradient rule,
 * reference kernel and tolerance. Everything else (backward derivation, fusion, costs, plans, backends) reads
 * these rows; how an op runs fast is not here but in runtime/lowering. */
#ifndef MODELS_OP_H
#define MODELS_OP_H

#include "base/checked.h"
#include "models/graph.h"
#include "models/ops/operand.h"

struct pdnn_backward;
struct pdnn_pointwise;
struct pdnn_element_loss;
struct pdnn_export;

/* Who uses each tensor, before fusion. */
struct pdnn_uses {
    uint32_t *writer;       /* node, or PDNN_NONE; during fusion: the node it was merged into */
    uint32_t *first_reader; /* node, or PDNN_NONE */
    uint32_t *readers;      /* number of node inputs that read the tensor */
};

/* What a reference kernel works on. Every tensor, even class ids, is a row-major array of double whatever its
 * dtype, so the oracle adds no rounding of its own. */
struct pdnn_reference {
    const struct pdnn_graph *graph;
    const struct pdnn_node *node;
    double *const *value; /* by tensor id */
    /* The kernel adds what it executes, next to each statement; tests compare the
     * total with the op's cost. */
    uint64_t flop;
    double *scratch; /* as many values as the pass asks for, uninitialized; else NULL */
};

/* What bytes grow with, and where they stop growing. Both are affine in the minibatch, so that a node is at
 * its limit on one side of some minibatch. */
struct pdnn_saturation {
    int64_t size, limit;
};

struct pdnn_pass_def {
    /* Adds the node's FLOP; NULL: the op has no such pass. Windows over an image count all their taps,
     * including those on padding. */
    void (*flop)(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *flop);
    /* The same without taps on padding; NULL: there is no padding. */
    void (*in_bounds_flop)(const struct pdnn_graph *graph, const struct pdnn_node *node,
                           struct pdnn_count *flop);
    /* One naive loop nest. */
    void (*reference)(struct pdnn_reference *r);
    /* Ops that this pass can absorb as posts (struct pdnn_post), NULL-terminated; NULL: none. */
    const struct pdnn_op_def *const *posts;
    /* It can absorb those of the build's activations, too, that libraries apply to a product. */
    bool takes_activations;
    /* Whether a node of it may become a post; NULL: every one. */
    bool (*is_post)(const struct pdnn_graph *graph, const struct pdnn_node *node);
    /* 1 + the index of the input that output 0 may overwrite if the node has that input, with as many
     * elements, and nothing reads it later; 0: none. */
    int in_place;
    /* Changes bytes[], one number per input and then per output, where "each input read once, each output
     * written once" does not hold (a gather reads only part of its table); NULL: it holds. */
    void (*bytes)(const struct pdnn_graph *graph, const struct pdnn_node *node, uint64_t *bytes);
    /* Whether output 0 has the elements of input 0 in their order, by another shape:
     * they share memory where they can, and the node does nothing (pdnn_memory_is_view). NULL: never. */
    bool (*is_view)(const struct pdnn_graph *graph, const struct pdnn_node *node);
    /* Bytes that the pass needs beside its tensors while it runs, however it is done well; NULL: few. */
    uint64_t (*workspace)(const struct pdnn_graph *graph, const struct pdnn_node *node);
    /* For bytes that grow with the minibatch up to a limit. NULL: bytes are affine in the minibatch, as FLOP
     * are in every pass. */
    struct pdnn_saturation (*saturation)(const struct pdnn_graph *graph, const struct pdnn_node *node);
    /* Doubles of scratch that the reference kernel needs; NULL: none. Posts need none. */
    int64_t (*scratch)(const struct pdnn_graph *graph, const struct pdnn_node *node);
};

enum { PDNN_UPDATES_LAST = -1 };

/* Which values of input 0 the op's longest sum takes: as in products, one for every two FLOP of an output
 * element; or a row (the last dimension), a channel (all but dimension 1), a sample (all but dimension 0) or
 * all, for ops in which every value has the error of that sum. */
enum pdnn_summed {
    PDNN_SUMMED_PRODUCTS,
    PDNN_SUMMED_ROW,
    PDNN_SUMMED_CHANNEL,
    PDNN_SUMMED_SAMPLE,
    PDNN_SUMMED_ALL
};

/* How an op is written as ONNX nodes (models/onnx/nodes.h). `type`: one node of it, with the op's inputs.
 * Else `write` appends nodes for the node at hand and returns the value that is the op's first output;
 * PDNN_NONE where it refuses. Neither: the op has no form. */
struct pdnn_export_form {
    const char *type;
    uint32_t (*write)(struct pdnn_export *onnx);
};

enum { PDNN_OPERANDS = 7, PDNN_ATTRIBUTES = 16, PDNN_OUTPUTS = 5 };

struct pdnn_op_def {
    const char *name;
    const char *category; /* for breakdowns: "linear gemm", "activation", "loss", "optimizer", ... */
    const char *formula;  /* one line for `paradnn ops` */
    /* Inputs of the forward pass, in order, ended by one without a name. None: families cannot name the op.
     */
    struct pdnn_operand operands[PDNN_OPERANDS + 1];
    /* Ended by one without a name. Row k is node.attr[k], as long as there are such; then come attributes
     * that only size weights, and coefficients, in the order of node.coef. */
    struct pdnn_attribute attributes[PDNN_ATTRIBUTES + 1];
    double coef[PDNN_NODE_COEFS]; /* defaults */
    /* In a family: where this expression is false (models/ops/operand.h), the op is left out, and its result
     * is its first operand. NULL: it is never left out. */
    const char *when;
    bool is_loss; /* coefficient 0 scales the result and its gradient */
    /* Of the forward pass, ended by NULL. The first is the result; nodes may lack the last ones. */
    const char *outputs[PDNN_OUTPUTS + 1];
    /* 1 + the index of the input that forward output k updates in place; 0: the output is a new tensor.
     * Updated outputs come last. A node without them leaves the state unchanged, which is how a recomputed
     * segment makes dropout repeat its last mask (pdnn_backward_create). PDNN_UPDATES_LAST: the last input,
     * and PDNN_UPDATES_LAST - k the k-th before it, for ops with optional inputs before them. */
    int updates[PDNN_OUTPUTS];
    /* Checks the inputs and describes the outputs (role ACTIVATION and the dtype of input 0 are filled in
     * already). An output left without a rank does not exist, nor do those after it. */
    enum pdnn_status (*infer)(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err);
    /* Appends the backward nodes through pdnn_backward_emit; NULL: no gradient flows through. */
    void (*gradient)(struct pdnn_backward *backward, const struct pdnn_node *node);
    struct pdnn_pass_def pass[PDNN_PASS_COUNT];
    const struct pdnn_pointwise *pointwise;       /* activations: models/ops/pointwise.h; else NULL */
    const struct pdnn_element_loss *element_loss; /* models/ops/element_loss.h; else NULL */
    /* How far a correct f32 backend may be off the reference for one accumulated term, relative to the
     * tensor's largest value. `check` scales it by the square root of the accumulation length, and makes it
     * relative to the terms if they cancel (runtime/worker/rounding.h). */
    double tolerance;
    enum pdnn_summed summed;
    /* int8 results are rounded, and exact ties may go either way. int8 results of other ops are exact. */
    bool rounds;
    /* Forward: tries to absorb the node, and all posts of the host that computes its first input, into
     * constants by setting the fold of tensors. On success, returns true, and *post is the one post that
     * remains. Otherwise returns false and changes nothing. NULL: never. */
    bool (*fold)(struct pdnn_graph *graph, const struct pdnn_uses *uses, const struct pdnn_node *host,
                 const struct pdnn_node *node, struct pdnn_post *post);
    struct pdnn_export_form onnx; /* of the forward pass in inference, with f32 data */
};

/* All ops in the order of the build's list, NULL-terminated. pdnn_op_<name> is the row itself. */
extern const struct pdnn_op_def *const pdnn_ops[];

#define PDNN_DECLARE_OP(name) extern const struct pdnn_op_def pdnn_op_##name;
#include "lists.h"
PDNN_OPS(PDNN_DECLARE_OP)

/* The build's activations: the words that a parameter takes for them, NULL-terminated, and by word the op. */
#define PDNN_ACTIVATION_INDEX(name, NAME) PDNN_ACTIVATION_##NAME,
enum pdnn_activation { PDNN_ACTIVATIONS(PDNN_ACTIVATION_INDEX) PDNN_ACTIVATION_COUNT };
extern const char *const pdnn_activation_words[];
extern const struct pdnn_op_def *const pdnn_activations[];

const struct pdnn_op_def *pdnn_op_find(const char *name);

/* 1 + the index of the input, of `n_inputs`, that output k updates in place, or 0. */
static inline int pdnn_op_updated(const struct pdnn_op_def *op, int k, int n_inputs) {
    return op->updates[k] < 0 ? n_inputs + 1 + op->updates[k] : op->updates[k];
}

const char *pdnn_operand_kind_name(enum pdnn_operand_kind kind); /* "data", "weight" */

/* Attribute k, which is node.attr[k]; NULL beyond the last. */
static inline const struct pdnn_attribute *pdnn_op_attribute(const struct pdnn_op_def *op, int k) {
    const struct pdnn_attribute *row = op->attributes;
    while (row->name && (row->index != k || row->coefficient))
        row++;
    return row->name ? row : NULL;
}

/* Whether the host's pass can absorb the op. */
bool pdnn_op_takes(const struct pdnn_op_def *host, enum pdnn_pass pass, const struct pdnn_op_def *post);

/* The post as a node of its own, for costs and the reference. It works in place on the host's result or, for
 * backward-data, on its first input. Its inputs and outputs are in `operands`. */
enum { PDNN_POST_OPERANDS = 3 };
struct pdnn_node pdnn_post_node(const struct pdnn_node *host, const struct pdnn_post *post,
                                uint32_t operands[PDNN_POST_OPERANDS]);

/* The dtype that the node computes in: that of its first input, or f32 if that is s32, which is only read. */
enum pdnn_dtype pdnn_node_dtype(const struct pdnn_graph *graph, const struct pdnn_node *node);

/* Runs the reference kernels of a node and then of its posts, in order. */
void pdnn_reference_run(struct pdnn_reference *r, const struct pdnn_node *node);

static inline const struct pdnn_tensor *pdnn_node_in(const struct pdnn_graph *graph,
                                                     const struct pdnn_node *node, int i) {
    return &graph->tensors[node->input[i]];
}

static inline const struct pdnn_tensor *pdnn_node_out(const struct pdnn_graph *graph,
                                                      const struct pdnn_node *node, int i) {
    return &graph->tensors[node->output[i]];
}

static inline double *pdnn_ref_in(const struct pdnn_reference *r, int i) {
    return r->value[r->node->input[i]];
}

static inline double *pdnn_ref_out(const struct pdnn_reference *r, int i) {
    return r->value[r->node->output[i]];
}

/* The flop of a pass that only moves data. */
void pdnn_no_flop(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *flop);

/* The fields that the definitions of ops share which only move data. `...`: of the forward pass. */
#define PDNN_DATA_MOVEMENT(backward, ...)                                                                    \
    .category = "data movement", .outputs = {"y"}, .tolerance = 1e-7,                                        \
    .pass = {[PDNN_FORWARD] = {.flop = pdnn_no_flop, __VA_ARGS__},                                           \
             [PDNN_BACKWARD_DATA] = {.flop = pdnn_no_flop, .reference = (backward)}}

/* Those of losses (models/attributes.h), whose second output is for the gradient. */
#define PDNN_LOSS                                                                                            \
    .category = "loss", .is_loss = true, .tolerance = 2e-6,                                                  \
    .attributes = {{"scale", PDNN_LOSS_SCALE, .coefficient = true, .derived = true}},                        \
    .coef = {[PDNN_LOSS_SCALE] = 1}

/* Whether the node is an int8 product that returns f32. */
bool pdnn_quantized_is_scaled(const struct pdnn_node *node);

#endif
