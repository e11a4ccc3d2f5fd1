#include "models/transform/fuse_blocks.h"

#include "models/attributes.h"
#include "models/op.h"

#include <string.h>

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

static bool is_cast_weight(const struct blocks *blocks, const struct pdnn_node *node) {
    return node->op == &pdnn_op_cast && pdnn_node_in(blocks->graph, node, 0)->role == PDNN_ROLE_WEIGHT;
}

/* The node behind this one if it is the op, in the same segment, and continues with the result; else NULL. */
static const struct pdnn_node *next_of(const struct blocks *blocks, const struct pdnn_node *node,
                                       const struct pdnn_op_def *op) {
    const struct pdnn_node *next = node + 1, *end = blocks->graph->nodes + blocks->graph->n_nodes;
    while (next < end && is_cast_weight(blocks, next))
        next++;
    bool is_next =
        next < end && next->op == op && next->segment == node->segment && next->input[0] == node->output[0];
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

/* The ops of a softmax of scores; those that are not there are NULL. */
struct scores {
    const struct pdnn_node *scale, *relative, *mask, *softmax, *dropout;
};

/* The node behind *at if it is the op and alone reads the result, to which *at then moves; else NULL. */
static const struct pdnn_node *take(const struct blocks *blocks, const struct pdnn_node **at,
                                    const struct pdnn_op_def *op) {
    const struct pdnn_node *next = only_next_of(blocks, *at, op);
    *at = next ? next : *at;
    return next;
}

static struct scores scores_of(const struct blocks *blocks, const struct pdnn_node *begin) {
    const struct pdnn_node *at = begin;
    struct scores scores = {.scale = begin->op == &pdnn_op_scale ? begin : NULL};
    scores.relative = scores.scale ? take(blocks, &at, &pdnn_op_relative_bias) : begin;
    scores.mask = take(blocks, &at, &pdnn_op_mask);
    scores.softmax = take(blocks, &at, &pdnn_op_softmax);
    scores.dropout = scores.softmax ? take(blocks, &at, &pdnn_op_dropout) : NULL;
    return scores;
}

/* The number of sequences of the scores (B*h, n, m): their mask says it, or their bias, or the product before
 * them; 0: none is there. */
static int64_t sequences_of(const struct blocks *blocks, const struct scores *scores) {
    if (scores->mask)
        return scores->mask->attr[PDNN_MASK_SEQUENCES];
    if (scores->relative)
        return pdnn_node_in(blocks->graph, scores->relative, 0)->dim[0] /
               scores->relative->attr[PDNN_RELATIVE_BIAS_HEADS];
    const struct pdnn_node *scale = scores->scale, *product = scale - 1;
    bool is_product = scale > blocks->graph->nodes && product->op == &pdnn_op_matmul &&
                      product->output[PDNN_MATMUL_Y] == scale->input[PDNN_SCALE_X];
    return is_product ? product->attr[PDNN_MATMUL_SEQUENCES] : 0;
}

/* Whether the bias by position goes with the rest: it is for the heads of as many sequences, not for what is
 * before rows that see what is behind (one query has the last position), and its gradient can be had from
 * that of the scores. */
static bool relative_fits(const struct blocks *blocks, const struct scores *scores, int64_t sequences) {
    if (!scores->relative)
        return true;
    const int64_t *attr = scores->relative->attr,
                  *dim = pdnn_node_in(blocks->graph, scores->relative, 0)->dim;
    const bool is_causal = dim[1] == 1 || (scores->mask && scores->mask->attr[PDNN_MASK_CAUSAL]);
    return dim[0] == sequences * attr[PDNN_RELATIVE_BIAS_HEADS] &&
           (is_causal || !attr[PDNN_RELATIVE_BIAS_CAUSAL]) &&
           (!scores->scale || scores->scale->coef[PDNN_SCALE_FACTOR] != 0);
}

/* Returns how many nodes the pattern takes; 0: it does not begin here. */
static int fuse_softmax(const struct blocks *blocks, const struct pdnn_node *begin, struct pdnn_node *fused) {
    const struct scores scores = scores_of(blocks, begin);
    const struct pdnn_node *relative = scores.relative, *mask = scores.mask, *softmax = scores.softmax,
                           *dropout = scores.dropout, *last = dropout ? dropout : softmax;
    int64_t sequences = softmax ? sequences_of(blocks, &scores) : 0;
    bool has_bias = mask && mask->n_inputs > PDNN_MASK_BIAS;
    if (!sequences || !relative_fits(blocks, &scores, sequences))
        return 0;
    *fused = (struct pdnn_node){
        .op = &pdnn_op_attention_softmax,
        .pass = PDNN_FORWARD,
        .attr = {[PDNN_ATTENTION_SOFTMAX_SEQUENCES] = sequences,
                 [PDNN_ATTENTION_SOFTMAX_CAUSAL] = (mask && mask->attr[PDNN_MASK_CAUSAL]) ||
                                                   (relative && relative->attr[PDNN_RELATIVE_BIAS_CAUSAL]),
                 [PDNN_ATTENTION_SOFTMAX_WINDOW] = mask ? mask->attr[PDNN_MASK_WINDOW] : 0,
                 [PDNN_ATTENTION_SOFTMAX_HAS_BIAS] = has_bias,
                 [PDNN_ATTENTION_SOFTMAX_PERCENT] = dropout ? dropout->attr[PDNN_DROPOUT_PERCENT] : 0,
                 [PDNN_ATTENTION_SOFTMAX_TRAIN] = blocks->graph->loss != PDNN_NONE},
        .coef = {[PDNN_ATTENTION_SOFTMAX_FACTOR] = scores.scale ? scores.scale->coef[PDNN_SCALE_FACTOR] : 1},
        .layer = softmax->layer,
        .segment = softmax->segment,
    };
    make_room(blocks, fused);
    add_input(fused, begin->input[0]);
    if (has_bias)
        add_input(fused, mask->input[PDNN_MASK_BIAS]);
    if (relative) {
        memcpy(fused->attr + PDNN_ATTENTION_SOFTMAX_RELATIVE, relative->attr,
               PDNN_RELATIVE_BIAS_ATTRS * sizeof *fused->attr);
        add_input(fused, relative->input[PDNN_RELATIVE_BIAS_TABLE]);
    }
    if (dropout) {
        add_input(fused, dropout->input[PDNN_DROPOUT_COUNTER]);
        add_output(fused, dropout->output[PDNN_DROPOUT_Y]);
    }
    add_output(fused, softmax->output[PDNN_SOFTMAX_Y]);
    if (dropout)
        add_output(fused, dropout->output[PDNN_DROPOUT_NEW_COUNTER]);
    return (int)(last - begin) + 1;
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
    return (int)(norm - begin) + 1;
}

/* By the op of the first node. */
static int fuse_at(const struct blocks *blocks, const struct pdnn_node *begin, struct pdnn_node *fused) {
    if (!begin->segment)
        return 0;
    if (begin->op == &pdnn_op_scale || begin->op == &pdnn_op_relative_bias)
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
    for (size_t i = first; i < graph->n_nodes;) {
        struct pdnn_node fused;
        int merged = fuse_at(&blocks, &graph->nodes[i], &fused);
        for (int k = 0; k < merged; k++)
            if (is_cast_weight(&blocks, &graph->nodes[i + (size_t)k]))
                graph->nodes[kept++] = graph->nodes[i + (size_t)k];
        graph->nodes[kept++] = merged ? fused : graph->nodes[i];
        i += merged ? (size_t)merged : 1;
    }
    graph->n_nodes = kept;
}
