#include "models/transform/fuse_blocks.h"

#include "models/attributes.h"
#include "models/op.h"

struct blocks {
    const struct pdnn_graph *graph;
    const uint32_t *readers; /* by tensor: node inputs that read it, and one for the result */
};

static const uint32_t *count_readers(const struct pdnn_graph *graph, size_t first) {
    uint32_t *readers = pdnn_arena_alloc(graph->arena, graph->n_tensors, sizeof *readers);
    for (size_t i = first; i < graph->n_nodes; i++) {
        const struct pdnn_node *node = &graph->nodes[i];
        for (int k = 0; k < node->n_inputs; k++)
            readers[node->input[k]]++;
    }
    if (graph->result != PDNN_NONE)
        readers[graph->result]++;
    return readers;
}

static bool has_one_reader(const struct blocks *blocks, const struct pdnn_node *node) {
    return blocks->readers[node->output[0]] == 1;
}

/* The node behind this one if it is the op, in the same segment, and continues with the result; else NULL. */
static const struct pdnn_node *next_of(const struct blocks *blocks, const struct pdnn_node *node,
                                       const struct pdnn_op_def *op) {
    const struct pdnn_node *next = node + 1;
    bool is_next = next < blocks->graph->nodes + blocks->graph->n_nodes && next->op == op &&
                   next->segment == node->segment && next->input[0] == node->output[0];
    return is_next ? next : NULL;
}

/* The same if nothing else reads the result. */
static const struct pdnn_node *only_next_of(const struct blocks *blocks, const struct pdnn_node *node,
                                            const struct pdnn_op_def *op) {
    return has_one_reader(blocks, node) ? next_of(blocks, node, op) : NULL;
}

/* The operands of a fused node. */
static void make_room(const struct blocks *blocks, struct pdnn_node *fused) {
    fused->input = pdnn_arena_alloc(blocks->graph->arena, PDNN_OPERANDS + PDNN_OUTPUTS, sizeof *fused->input);
    fused->output = fused->input + PDNN_OPERANDS;
}

static void add_input(struct pdnn_node *node, uint32_t tensor) {
    node->input[node->n_inputs++] = tensor;
}

static void add_output(struct pdnn_node *node, uint32_t tensor) {
    node->output[node->n_outputs++] = tensor;
}

/* The number of sequences of the scores (B*h, n, m): their mask says it, or the product before them; 0:
 * neither is there. */
static int64_t sequences_of(const struct blocks *blocks, const struct pdnn_node *scale,
                            const struct pdnn_node *mask) {
    if (mask)
        return mask->attr[PDNN_MASK_SEQUENCES];
    const struct pdnn_node *product = scale - 1;
    bool is_product = scale > blocks->graph->nodes && product->op == &pdnn_op_matmul &&
                      product->output[PDNN_MATMUL_Y] == scale->input[PDNN_SCALE_X];
    return is_product ? product->attr[PDNN_MATMUL_SEQUENCES] : 0;
}

/* Returns how many nodes become the fused one; 0: the pattern does not begin here. */
static int fuse_softmax(const struct blocks *blocks, const struct pdnn_node *scale, struct pdnn_node *fused) {
    const struct pdnn_node *mask = only_next_of(blocks, scale, &pdnn_op_mask);
    const struct pdnn_node *softmax = only_next_of(blocks, mask ? mask : scale, &pdnn_op_softmax);
    int64_t sequences = sequences_of(blocks, scale, mask);
    if (!softmax || !sequences)
        return 0;
    const struct pdnn_node *dropout = only_next_of(blocks, softmax, &pdnn_op_dropout);
    bool has_bias = mask && mask->n_inputs > PDNN_MASK_BIAS;
    *fused = (struct pdnn_node){
        .op = &pdnn_op_attention_softmax,
        .pass = PDNN_FORWARD,
        .attr = {[PDNN_ATTENTION_SOFTMAX_SEQUENCES] = sequences,
                 [PDNN_ATTENTION_SOFTMAX_CAUSAL] = mask && mask->attr[PDNN_MASK_CAUSAL],
                 [PDNN_ATTENTION_SOFTMAX_WINDOW] = mask ? mask->attr[PDNN_MASK_WINDOW] : 0,
                 [PDNN_ATTENTION_SOFTMAX_HAS_BIAS] = has_bias,
                 [PDNN_ATTENTION_SOFTMAX_PERCENT] = dropout ? dropout->attr[PDNN_DROPOUT_PERCENT] : 0,
                 [PDNN_ATTENTION_SOFTMAX_TRAIN] = blocks->graph->loss != PDNN_NONE},
        .coef = {[PDNN_ATTENTION_SOFTMAX_FACTOR] = scale->coef[PDNN_SCALE_FACTOR]},
        .layer = softmax->layer,
        .segment = softmax->segment,
    };
    make_room(blocks, fused);
    add_input(fused, scale->input[PDNN_SCALE_X]);
    if (has_bias)
        add_input(fused, mask->input[PDNN_MASK_BIAS]);
    if (dropout) {
        add_input(fused, dropout->input[PDNN_DROPOUT_COUNTER]);
        add_output(fused, dropout->output[PDNN_DROPOUT_Y]);
    }
    add_output(fused, softmax->output[PDNN_SOFTMAX_Y]);
    if (dropout)
        add_output(fused, dropout->output[PDNN_DROPOUT_NEW_COUNTER]);
    return 2 + (mask != NULL) + (dropout != NULL);
}

/* Whether an add's operands have one shape. */
static bool is_equal(const struct blocks *blocks, const struct pdnn_node *add) {
    return pdnn_tensor_same_shape(pdnn_node_in(blocks->graph, add, PDNN_ADD_A),
                                  pdnn_node_in(blocks->graph, add, PDNN_ADD_B));
}

static int fuse_norm(const struct blocks *blocks, const struct pdnn_node *begin, struct pdnn_node *fused) {
    const struct pdnn_node *dropout = begin->op == &pdnn_op_dropout ? begin : NULL;
    const struct pdnn_node *add = dropout ? only_next_of(blocks, dropout, &pdnn_op_add) : begin;
    const struct pdnn_node *norm = add ? next_of(blocks, add, &pdnn_op_layernorm) : NULL;
    bool trains = norm && norm->attr[PDNN_LAYERNORM_TRAIN];
    if (!norm || norm->n_inputs != PDNN_LAYERNORM_INPUTS || (dropout && !trains) || !is_equal(blocks, add))
        return 0;
    bool y_only = !trains && has_one_reader(blocks, add);
    *fused = (struct pdnn_node){
        .op = &pdnn_op_dropout_add_norm,
        .pass = PDNN_FORWARD,
        .attr = {[PDNN_DROPOUT_ADD_NORM_PERCENT] = dropout ? dropout->attr[PDNN_DROPOUT_PERCENT] : 0,
                 [PDNN_DROPOUT_ADD_NORM_TRAIN] = trains,
                 [PDNN_DROPOUT_ADD_NORM_Y_ONLY] = y_only},
        .coef = {[PDNN_DROPOUT_ADD_NORM_EPSILON] = norm->coef[PDNN_LAYERNORM_EPSILON]},
        .layer = norm->layer,
        .segment = norm->segment,
    };
    make_room(blocks, fused);
    add_input(fused, begin->input[0]);
    add_input(fused, add->input[PDNN_ADD_B]);
    add_input(fused, norm->input[PDNN_LAYERNORM_GAMMA]);
    add_input(fused, norm->input[PDNN_LAYERNORM_BETA]);
    add_output(fused, norm->output[PDNN_LAYERNORM_Y]);
    if (!y_only)
        add_output(fused, add->output[PDNN_ADD_Y]);
    for (int k = PDNN_LAYERNORM_MEAN; k < norm->n_outputs; k++)
        add_output(fused, norm->output[k]);
    if (dropout) {
        add_input(fused, dropout->input[PDNN_DROPOUT_COUNTER]);
        add_output(fused, dropout->output[PDNN_DROPOUT_NEW_COUNTER]);
    }
    return 2 + (dropout != NULL);
}

/* By the op of the first node. */
static int fuse_at(const struct blocks *blocks, const struct pdnn_node *begin, struct pdnn_node *fused) {
    if (!begin->segment)
        return 0;
    if (begin->op == &pdnn_op_scale)
        return fuse_softmax(blocks, begin, fused);
    if (begin->op == &pdnn_op_dropout || begin->op == &pdnn_op_add)
        return fuse_norm(blocks, begin, fused);
    return 0;
}

void pdnn_fuse_blocks(struct pdnn_graph *graph, size_t first) {
    size_t kept = first;
    if (graph->err.status != PDNN_OK)
        return;
    const struct blocks blocks = {graph, count_readers(graph, first)};
    for (size_t i = first; i < graph->n_nodes; kept++) {
        struct pdnn_node fused;
        int merged = fuse_at(&blocks, &graph->nodes[i], &fused);
        graph->nodes[kept] = merged ? fused : graph->nodes[i];
        i += merged ? (size_t)merged : 1;
    }
    graph->n_nodes = kept;
}
