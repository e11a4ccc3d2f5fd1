/* The op registry. An op's file is its specification: formula, shape inference, cost of each pass, gradient
 * rule, reference kernel and tolerance. Everything else (backward derivation, fusion, costs, plan, backends)
 * reads these rows. */
#ifndef MODELS_OP_H
#define MODELS_OP_H

#include "base/checked.h"
#include "models/graph.h"

struct pdnn_backward;

/* What a reference kernel works on. Every tensor is a row-major array of double, whatever its dtype (class
 * ids too): the oracle has no rounding of its own. */
struct pdnn_reference {
    const struct pdnn_graph *graph;
    const struct pdnn_node *node;
    double *const *value; /* by tensor id */
    uint64_t
        flop; /* the kernel adds what it really does, beside each statement; tests compare with the cost */
};

struct pdnn_pass_def {
    /* Adds the FLOP of the node; NULL: the op has no such pass. */
    void (*flop)(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *flop);
    /* One naive loop nest. */
    void (*reference)(struct pdnn_reference *r);
    /* 1 + the index of the input whose memory output 0 may take over when nothing reads it later; 0: none. */
    int in_place;
    /* Bytes that are not "each input read once, each output written once" (a gather reads part of its table);
     * NULL: the generic rule. Writes one number per input, then per output, into bytes[]. */
    void (*bytes)(const struct pdnn_graph *graph, const struct pdnn_node *node, uint64_t *bytes);
};

struct pdnn_op_def {
    const char *name;
    const char *category;          /* for breakdowns: "linear gemm", "activation", "loss", "optimizer", ... */
    const char *formula;           /* one line for `paradnn ops` */
    const char *const *attr_names; /* NULL-terminated, or NULL */
    const char *const *coef_names;
    int n_outputs; /* of the forward (or update) pass */
    /* Checks the inputs and describes output tensors (role ACTIVATION and dtype of input 0 are filled in
     * already). */
    enum pdnn_status (*infer)(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err);
    /* Appends the backward nodes through pdnn_backward_emit; NULL: nothing flows through. */
    void (*gradient)(struct pdnn_backward *backward, const struct pdnn_node *node);
    struct pdnn_pass_def pass[PDNN_PASS_COUNT];
    /* How far a correct f32 backend may be from the reference, relative to the largest value of the tensor,
     * for one accumulated term; `check` scales it with the square root of the accumulation length. */
    double tolerance;
    bool is_post; /* forward: may run as an epilogue on a host's result; backward-weights: as a host's second
                     result */
    bool takes_post; /* may host them */
};

/* All ops in the order of the build's list, NULL-terminated; pdnn_op_<name> is the row itself. */
extern const struct pdnn_op_def *const pdnn_ops[];

#define PDNN_DECLARE_OP(name) extern const struct pdnn_op_def pdnn_op_##name;
#include "lists.h"
PDNN_OPS(PDNN_DECLARE_OP)

const struct pdnn_op_def *pdnn_op_find(const char *name);

/* The post as a node of its own, as if it ran after its host on the host's result: what costs and the
 * reference use. */
struct pdnn_node pdnn_post_node(const struct pdnn_node *host, const struct pdnn_post *post);

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

#endif
