/* Small networks of one op, which tests train: what they are made of. Include after cmocka_all.h. */
#ifndef TESTS_RUNTIME_NET_H
#define TESTS_RUNTIME_NET_H

#include "tests/models/model_check.h"

#include "models/attributes.h"
#include "models/forward.h"
#include "models/op.h"

#include <string.h>

static const struct pdnn_fill uniform = {.kind = PDNN_FILL_UNIFORM, .scale = 1};

struct net {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    const struct pdnn_op_def *op; /* the op under test */
};

/* R rows in N sequences, C columns. */
struct shape {
    int64_t R, N, C;
};

static inline uint32_t new_data(struct net *net, enum pdnn_role role, int rank, const int64_t *dim,
                                struct pdnn_fill fill) {
    bool is_class = fill.kind != PDNN_FILL_UNIFORM;
    struct pdnn_tensor data = {
        .role = role, .dtype = is_class ? PDNN_S32 : PDNN_F32, .rank = rank, .fill = fill, .of = PDNN_NONE};
    memcpy(data.dim, dim, (size_t)rank * sizeof *dim);
    return pdnn_graph_tensor(&net->graph, &data);
}

static inline uint32_t new_weight(struct net *net, int rank, int64_t first, int64_t second) {
    return pdnn_graph_weight(&net->graph, rank, (int64_t[]){first, second}, uniform);
}

static inline uint32_t apply(struct net *net, const struct pdnn_op_def *op, uint32_t a, uint32_t b,
                             const int64_t *attrs) {
    return pdnn_graph_forward(&net->graph, op, (uint32_t[]){a, b, PDNN_NONE}, attrs);
}

static inline uint32_t dense(struct net *net, uint32_t x, int64_t units) {
    const struct pdnn_tensor *t = &net->graph.tensors[x];
    int64_t inputs = pdnn_tensor_elements(t) / t->dim[0];
    uint32_t w = pdnn_graph_weight(&net->graph, 2, (int64_t[]){units, inputs},
                                   (struct pdnn_fill){.kind = PDNN_FILL_UNIFORM, .scale = 0.3});
    return apply(net, &pdnn_op_dense, x, w, NULL);
}

/* A matrix (rows, C) that gradients flow into. */
static inline uint32_t new_matrix(struct net *net, int64_t rows, int64_t C) {
    enum { INPUTS = 3 };
    return dense(net, new_data(net, PDNN_ROLE_INPUT, 2, (int64_t[]){rows, INPUTS}, uniform), C);
}

/* sizes: of the first axes of the pattern. */
static inline uint32_t rearrange(struct net *net, uint32_t x, const char *pattern, int64_t a, int64_t b) {
    int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_REARRANGE_PATTERN] = pattern_of(pattern),
                                      [PDNN_REARRANGE_SIZES] = a,
                                      [PDNN_REARRANGE_SIZES + 1] = b};
    return apply(net, &pdnn_op_rearrange, x, PDNN_NONE, attrs);
}

/* Boxes of normalized images. */
static inline uint32_t build_regions(struct net *net, const struct shape *s) {
    const int64_t dim[] = {s->N, 6, 5, 7}, boxes[] = {s->R, 4}, normed[PDNN_NODE_ATTRS] = {2, 1},
                  attrs[PDNN_NODE_ATTRS] = {[PDNN_ROI_ALIGN_SIZE] = 2, [PDNN_ROI_ALIGN_SAMPLES] = 2};
    uint32_t x = new_data(net, PDNN_ROLE_INPUT, 4, dim, uniform);
    x = apply(net, &pdnn_op_bias, x, new_weight(net, 1, 6, 0), NULL);
    const uint32_t in[] = {x, new_weight(net, 1, 6, 0), new_weight(net, 1, 6, 0), PDNN_NONE};
    x = pdnn_graph_forward(&net->graph, &pdnn_op_groupnorm, in, normed);
    return apply(net, &pdnn_op_roi_align, x, new_data(net, PDNN_ROLE_INPUT, 2, boxes, uniform), attrs);
}

/* Channels of N sequences, of as many states as there are channels. */
static inline uint32_t build_selective_scan(struct net *net, const struct shape *s) {
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_SELECTIVE_SCAN_SEQUENCES] = s->N},
                  S = s->C < 20 ? s->C : 20;
    uint32_t x = new_matrix(net, s->R, s->C), b = new_matrix(net, s->R, S), c = new_matrix(net, s->R, S),
             delta = apply(net, &pdnn_op_softplus, new_matrix(net, s->R, s->C), PDNN_NONE, NULL),
             a = pdnn_graph_weight(&net->graph, 2, (int64_t[]){s->C, S},
                                   (struct pdnn_fill){PDNN_FILL_NEAR_ONE, 0.5});
    const uint32_t in[] = {x, delta, b, c, a, new_weight(net, 1, s->C, 0), PDNN_NONE};
    return pdnn_graph_forward(&net->graph, &pdnn_op_selective_scan, in, attrs);
}

/* Scores of R sequences: windows of two by two, distances both ways, then of other scores causal ones. */
static inline uint32_t build_relative_bias(struct net *net, const struct shape *s) {
    enum { HEADS = 3, BUCKETS = 6, QUERIES = 5 };
    const int64_t window
        [PDNN_NODE_ATTRS] = {[PDNN_RELATIVE_BIAS_HEADS] = HEADS, [PDNN_RELATIVE_BIAS_WINDOW] = 2},
  both[PDNN_NODE_ATTRS] = {[PDNN_RELATIVE_BIAS_HEADS] = HEADS, [PDNN_RELATIVE_BIAS_DISTANCE] = 3},
  causal[PDNN_NODE_ATTRS] = {
      [PDNN_RELATIVE_BIAS_HEADS] = HEADS, [PDNN_RELATIVE_BIAS_CAUSAL] = 1, [PDNN_RELATIVE_BIAS_DISTANCE] = 9};
    const int64_t dim[] = {s->R * HEADS, 4, 4};
    uint32_t table = new_weight(net, 2, BUCKETS, HEADS);
    uint32_t y = pdnn_graph_weight(&net->graph, 3, dim, uniform);
    y = apply(net, &pdnn_op_relative_bias, y, new_weight(net, 2, 9, HEADS), window);
    y = apply(net, &pdnn_op_relative_bias, y, table, both);
    y = rearrange(net, y, "a b c -> a (b c)", 0, 0);
    y = rearrange(net, dense(net, y, QUERIES * s->C), "a (b c) -> a b c", 0, QUERIES);
    y = apply(net, &pdnn_op_relative_bias, y, table, causal);
    return rearrange(net, y, "(a h) b c -> a (h b c)", s->R, 0);
}

/* Scores of R sequences under N masks in turn, in steps and in one pass. */
static inline uint32_t build_masks_in_turn(struct net *net, const struct shape *s) {
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_MASK_SEQUENCES] = s->R},
                  fused[PDNN_NODE_ATTRS] = {
                      [PDNN_ATTENTION_SOFTMAX_SEQUENCES] = s->R, [PDNN_ATTENTION_SOFTMAX_HAS_BIAS] = 1};
    const struct pdnn_tensor masks = {.role = PDNN_ROLE_INPUT,
                                      .rank = 3,
                                      .dim = {s->N, 4, s->C},
                                      .fill = {PDNN_FILL_SEQUENCE_MASK, -100},
                                      .of = PDNN_NONE};
    const double coefs[PDNN_NODE_COEFS] = {[PDNN_ATTENTION_SOFTMAX_FACTOR] = 2};
    uint32_t bias = pdnn_graph_tensor(&net->graph, &masks);
    uint32_t x = pdnn_graph_weight(&net->graph, 3, (int64_t[]){s->R, 4, s->C}, uniform);
    x = apply(net, &pdnn_op_softmax, apply(net, &pdnn_op_mask, x, bias, attrs), PDNN_NONE, NULL);
    return pdnn_graph_forward_with(&net->graph, &pdnn_op_attention_softmax, (uint32_t[]){x, bias, PDNN_NONE},
                                   fused, coefs);
}

/* The same with a bias by relative position in one pass: windows under masks in turn, then of other scores
 * causal distances, of which some are dropped. */
static inline uint32_t build_relative_softmax(struct net *net, const struct shape *s) {
    enum { HEADS = 3, BUCKETS = 6, QUERIES = 5, AT = PDNN_ATTENTION_SOFTMAX_RELATIVE };
    const int64_t one = 1,
                  window[PDNN_NODE_ATTRS] = {[PDNN_ATTENTION_SOFTMAX_SEQUENCES] = s->R,
                                             [PDNN_ATTENTION_SOFTMAX_HAS_BIAS] = 1,
                                             [AT + PDNN_RELATIVE_BIAS_HEADS] = HEADS,
                                             [AT + PDNN_RELATIVE_BIAS_WINDOW] = 2},
                  causal[PDNN_NODE_ATTRS] = {
                      [PDNN_ATTENTION_SOFTMAX_SEQUENCES] = s->R, [PDNN_ATTENTION_SOFTMAX_CAUSAL] = 1,
                      [PDNN_ATTENTION_SOFTMAX_PERCENT] = 30,     [PDNN_ATTENTION_SOFTMAX_TRAIN] = 1,
                      [AT + PDNN_RELATIVE_BIAS_HEADS] = HEADS,   [AT + PDNN_RELATIVE_BIAS_CAUSAL] = 1,
                      [AT + PDNN_RELATIVE_BIAS_DISTANCE] = 9};
    const struct pdnn_tensor masks = {.role = PDNN_ROLE_INPUT,
                                      .rank = 3,
                                      .dim = {s->N, 4, 4},
                                      .fill = {PDNN_FILL_SEQUENCE_MASK, -100},
                                      .of = PDNN_NONE};
    const double coefs[PDNN_NODE_COEFS] = {[PDNN_ATTENTION_SOFTMAX_FACTOR] = 2};
    uint32_t y = pdnn_graph_weight(&net->graph, 3, (int64_t[]){s->R * HEADS, 4, 4}, uniform),
             bias = pdnn_graph_tensor(&net->graph, &masks),
             counter = pdnn_graph_state(&net->graph, 1, &one, (struct pdnn_fill){0});
    const uint32_t of_windows[] = {y, bias, new_weight(net, 2, 9, HEADS), PDNN_NONE};
    y = pdnn_graph_forward_with(&net->graph, &pdnn_op_attention_softmax, of_windows, window, coefs);
    y = rearrange(net, y, "a b c -> a (b c)", 0, 0);
    y = rearrange(net, dense(net, y, QUERIES * s->C), "a (b c) -> a b c", 0, QUERIES);
    const uint32_t of_steps[] = {y, new_weight(net, 2, BUCKETS, HEADS), counter, PDNN_NONE};
    y = pdnn_graph_forward_with(&net->graph, &pdnn_op_attention_softmax, of_steps, causal, coefs);
    return rearrange(net, y, "(a h) b c -> a (h b c)", s->R, 0);
}

#endif
