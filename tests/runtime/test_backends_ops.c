/* Every op and pass on every backend, against `reference`: each op inside small networks, trained for some
 * steps. Fails if some pass of a backend occurs in none of them. */
#include "tests/runtime/backend_check.h"
#include "tests/cmocka_all.h"
#include "tests/runtime/levels.h"
#include "tests/runtime/net.h"
#include "tests/runtime/net_experts.h"

#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/op.h"
#include "models/ops/element_loss.h"
#include "models/optimizer.h"
#include "runtime/backends/onednn/state.h"
#include "models/forward.h"
#include "runtime/lowering/lowering.h"
#include "runtime/lowering/calls.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

extern const struct pdnn_backend_def pdnn_backend_onednn, pdnn_backend_openblas;

static const struct pdnn_backend_def *const fast_backends[] = {&pdnn_backend_onednn, &pdnn_backend_openblas};
enum { FAST_BACKENDS = sizeof fast_backends / sizeof *fast_backends };

enum { CLASSES = 5 };

static uint32_t build_activation(struct net *net, const struct shape *s) {
    return apply(net, net->op, new_matrix(net, s->R, s->C), PDNN_NONE, NULL);
}

static uint32_t build_bias(struct net *net, const struct shape *s) {
    return apply(net, &pdnn_op_bias, new_matrix(net, s->R, s->C), new_weight(net, 1, s->C, 0), NULL);
}

/* A matrix of one head times itself: both gradients are of one tensor. */
static uint32_t build_matmul(struct net *net, const struct shape *s) {
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_MATMUL_SEQUENCES] = s->N,
                                            [PDNN_MATMUL_HEADS] = 1,
                                            [PDNN_MATMUL_WIDTH] = s->C,
                                            [PDNN_MATMUL_TRANSPOSE_B] = 1};
    uint32_t q = new_matrix(net, s->R, s->C), k = new_matrix(net, s->R, s->C);
    uint32_t scores = apply(net, &pdnn_op_matmul, q, k, attrs);
    const int64_t back[PDNN_NODE_ATTRS] = {[PDNN_MATMUL_SEQUENCES] = s->N,
                                           [PDNN_MATMUL_HEADS] = 1,
                                           [PDNN_MATMUL_WIDTH] = s->C,
                                           [PDNN_MATMUL_Y_WIDTH] = s->C};
    return apply(net, &pdnn_op_matmul, scores, new_matrix(net, s->R, s->C), back);
}

static uint32_t build_rnn(struct net *net, const struct shape *s) {
    int64_t attrs[PDNN_NODE_ATTRS] = {
        [PDNN_RNN_CELL] = PDNN_CELL_LSTM, [PDNN_RNN_STEPS] = s->R / s->N, [PDNN_RNN_TRAIN] = 1};
    const struct pdnn_fill small = {.kind = PDNN_FILL_UNIFORM, .scale = 0.1};
    const uint32_t in[] = {[PDNN_RNN_X] = new_matrix(net, s->R, 3),
                           [PDNN_RNN_W] = pdnn_graph_weight(&net->graph, 2, (int64_t[]){4 * s->C, 3}, small),
                           [PDNN_RNN_U] =
                               pdnn_graph_weight(&net->graph, 2, (int64_t[]){4 * s->C, s->C}, small),
                           [PDNN_RNN_B] = new_weight(net, 1, 4 * s->C, 0),
                           PDNN_NONE};
    return pdnn_graph_forward(&net->graph, &pdnn_op_rnn, in, attrs);
}

static uint32_t build_embedding(struct net *net, const struct shape *s) {
    enum { WORDS = 40 };
    uint32_t ids = new_data(net, PDNN_ROLE_INPUT, 1, &s->R, (struct pdnn_fill){PDNN_FILL_ZIPF, WORDS});
    return apply(net, &pdnn_op_embedding, ids, new_weight(net, 2, WORDS, s->C), NULL);
}

/* Some rows of each sequence, the same rows repeatedly, and rows of the first sequence for every sequence. */
static uint32_t build_gather(struct net *net, const struct shape *s) {
    const int64_t rows = s->R / s->N, dim[] = {s->N, (rows + 1) / 2};
    const struct pdnn_fill fills[] = {{PDNN_FILL_MASKED, (double)rows},
                                      {PDNN_FILL_POSITION, (double)(dim[0] * dim[1])},
                                      {PDNN_FILL_POSITION, (double)rows}};
    uint32_t x = new_matrix(net, s->R, s->C);
    uint32_t some = apply(net, &pdnn_op_embedding, new_data(net, PDNN_ROLE_INPUT, 2, dim, fills[0]), x, NULL);
    uint32_t again =
        apply(net, &pdnn_op_embedding, new_data(net, PDNN_ROLE_INPUT, 1, &s->R, fills[1]), some, NULL);
    uint32_t first =
        apply(net, &pdnn_op_embedding, new_data(net, PDNN_ROLE_INPUT, 1, &s->R, fills[2]), x, NULL);
    return apply(net, &pdnn_op_add, again, first, NULL);
}

/* Bags of a table and of rows of the result, which is read directly, too. */
static uint32_t build_bags(struct net *net, const struct shape *s) {
    const int64_t dim[] = {s->R, 2 * s->N + 1};
    uint32_t ids = new_data(net, PDNN_ROLE_INPUT, 2, dim, (struct pdnn_fill){PDNN_FILL_CLASS, (double)s->R});
    uint32_t x = apply(net, &pdnn_op_embedding_bag, ids, new_weight(net, 2, s->R, s->C), NULL);
    return apply(net, &pdnn_op_add, apply(net, &pdnn_op_embedding_bag, ids, x, NULL), x, NULL);
}

/* Gathered rows are added to the tensor they come from, so both share one gradient. */
static uint32_t build_gather_and_add(struct net *net, const struct shape *s) {
    const struct pdnn_fill any = {PDNN_FILL_CLASS, (double)s->R};
    uint32_t x = new_matrix(net, s->R, s->C), ids = new_data(net, PDNN_ROLE_INPUT, 1, &s->R, any);
    return apply(net, &pdnn_op_add, apply(net, &pdnn_op_embedding, ids, x, NULL), x, NULL);
}

/* Words, positions and segments; the result is multiplied by the words' table. */
static uint32_t build_tied(struct net *net, const struct shape *s) {
    enum { WORDS = 150, SEGMENTS = 2 };
    const struct pdnn_fill fills[] = {
        {PDNN_FILL_CLASS, WORDS}, {PDNN_FILL_POSITION, (double)(s->R / s->N)}, {PDNN_FILL_CLASS, SEGMENTS}};
    uint32_t sum = PDNN_NONE, words = PDNN_NONE;
    for (int i = 0; i < 3; i++) {
        uint32_t ids = new_data(net, PDNN_ROLE_INPUT, 1, &s->R, fills[i]);
        uint32_t table = new_weight(net, 2, (int64_t)fills[i].scale, s->C);
        uint32_t rows = apply(net, &pdnn_op_embedding, ids, table, NULL);
        words = i ? words : table;
        sum = i ? apply(net, &pdnn_op_add, sum, rows, NULL) : rows;
    }
    return apply(net, &pdnn_op_dense, sum, words, NULL);
}

static uint32_t build_top_k(struct net *net, const struct shape *s) {
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_TOP_K_K] = 3};
    uint32_t y = apply(net, &pdnn_op_top_k, new_matrix(net, s->R, s->C), PDNN_NONE, attrs);
    return apply(net, &pdnn_op_softmax, y, PDNN_NONE, NULL);
}

static uint32_t build_dropout(struct net *net, const struct shape *s) {
    int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_DROPOUT_PERCENT] = 30}, one = 1;
    uint32_t counter = pdnn_graph_state(&net->graph, 1, &one, (struct pdnn_fill){0});
    return apply(net, &pdnn_op_dropout, new_matrix(net, s->R, s->C), counter, attrs);
}

static uint32_t build_slice(struct net *net, const struct shape *s) {
    int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_SLICE_FIRST] = 2, [PDNN_SLICE_ROWS] = s->R};
    return apply(net, &pdnn_op_slice, new_matrix(net, s->R + 7, s->C), PDNN_NONE, attrs);
}

static uint32_t build_concat(struct net *net, const struct shape *s) {
    const uint32_t x[] = {new_matrix(net, s->R, s->C), new_matrix(net, s->R, 3),
                          new_matrix(net, s->R, s->C + 8), PDNN_NONE};
    return pdnn_graph_forward(&net->graph, &pdnn_op_concat, x, NULL);
}

/* As many parts as a node may read; the backward node writes as many. */
static uint32_t build_concat_of_many(struct net *net, const struct shape *s) {
    uint32_t x[PDNN_NODE_INPUTS + 1];
    for (int i = 0; i < PDNN_NODE_INPUTS; i++)
        x[i] = new_matrix(net, s->R, s->C + i % 3);
    x[PDNN_NODE_INPUTS] = PDNN_NONE;
    return pdnn_graph_forward(&net->graph, &pdnn_op_concat, x, NULL);
}

static uint32_t slice(struct net *net, uint32_t x, int attr, int64_t first, int64_t count) {
    int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_SLICE_FIRST] = first};
    attrs[attr] = count;
    return apply(net, &pdnn_op_slice, x, PDNN_NONE, attrs);
}

static uint32_t join(struct net *net, uint32_t a, uint32_t b, int64_t along) {
    int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_CONCAT_ALONG] = along};
    return apply(net, &pdnn_op_concat, a, b, attrs);
}

/* Images (N, C, 4, T) taken apart and put together along every dimension: whole blocks of channels and parts
 * of blocks. The result has N images of width T. */
static uint32_t append_parts(struct net *net, uint32_t x, const struct shape *s) {
    const int64_t T = s->R / s->N;
    uint32_t y = join(net, x, slice(net, x, PDNN_SLICE_COLUMNS, 1, s->C - 2), PDNN_CONCAT_COLUMNS);
    y = join(net, slice(net, y, PDNN_SLICE_COLUMNS, 0, s->C), y, PDNN_CONCAT_COLUMNS);
    y = join(net, slice(net, y, PDNN_SLICE_HEIGHT, 1, 2), y, PDNN_CONCAT_HEIGHT);
    y = join(net, slice(net, y, PDNN_SLICE_WIDTH, 1, T - 1), slice(net, y, PDNN_SLICE_WIDTH, 0, 1),
             PDNN_CONCAT_WIDTH);
    return slice(net, join(net, y, y, PDNN_CONCAT_ROWS), PDNN_SLICE_ROWS, 1, s->N);
}

/* Of the rows of each sequence, and of the columns of each row. */
static uint32_t build_mean(struct net *net, const struct shape *s) {
    int64_t rows[PDNN_NODE_ATTRS] = {[PDNN_MEAN_SEQUENCES] = s->R};
    int64_t columns[PDNN_NODE_ATTRS] = {[PDNN_MEAN_ALONG] = PDNN_MEAN_COLUMNS};
    uint32_t y = apply(net, &pdnn_op_mean, new_matrix(net, 3 * s->R, s->C), PDNN_NONE, rows);
    return join(net, y, apply(net, &pdnn_op_mean, y, PDNN_NONE, columns), PDNN_CONCAT_COLUMNS);
}

static uint32_t build_batchnorm(struct net *net, const struct shape *s) {
    const struct pdnn_fill near_one = {.kind = PDNN_FILL_NEAR_ONE, .scale = 0.25};
    uint32_t all = PDNN_NONE;
    for (int how = 0, n = 1; how < 3; how++, n = 1) { /* with gamma and beta, without, frozen */
        const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_BATCHNORM_TRAIN] = how < 2};
        uint32_t in[PDNN_BATCHNORM_INPUTS + 1] = {new_matrix(net, s->R, s->C)};
        for (int k = how == 1 ? 2 : 0; k < 2; k++)
            in[n++] = how ? pdnn_graph_state(&net->graph, 1, &s->C, uniform) : new_weight(net, 1, s->C, 0);
        in[n++] = pdnn_graph_state(&net->graph, 1, &s->C, uniform);
        in[n++] = pdnn_graph_state(&net->graph, 1, &s->C, near_one);
        in[n] = PDNN_NONE;
        const uint32_t y = pdnn_graph_forward(&net->graph, &pdnn_op_batchnorm, in, attrs);
        all = how ? join(net, all, y, PDNN_CONCAT_COLUMNS) : y;
    }
    return all;
}

/* Five times as many source steps as target steps. */
static uint32_t build_attention(struct net *net, const struct shape *s) {
    int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_ATTENTION_SEQUENCES] = s->N, [PDNN_ATTENTION_TRAIN] = 1};
    const uint32_t in[] = {
        new_matrix(net, s->R, s->C), new_matrix(net, 5 * s->R, s->C), new_matrix(net, 5 * s->R, s->C + 3),
        new_weight(net, 1, s->C, 0), new_weight(net, 1, 1, 0),        PDNN_NONE};
    return pdnn_graph_forward(&net->graph, &pdnn_op_attention, in, attrs);
}

/* Images (N, C, F, T) with T*N = R, made from biased data. */
static uint32_t build_sequence(struct net *net, const struct shape *s) {
    const int64_t dim[] = {s->N, s->C, 3, s->R / s->N};
    uint32_t x = new_data(net, PDNN_ROLE_INPUT, 4, dim, uniform);
    x = apply(net, &pdnn_op_bias, x, new_weight(net, 1, s->C, 0), NULL);
    return rearrange(net, x, "n c f t -> (t n) (c f)", 0, 0);
}

/* Columns of each sequence, and back; what is read again lives as long as its views, which others write
 * over. */
static uint32_t build_views(struct net *net, const struct shape *s) {
    uint32_t x = new_matrix(net, s->R, s->C);
    uint32_t y = rearrange(net, x, "(n t) c -> (n c) t", s->N, 0);
    y = apply(net, &pdnn_op_relu, y, PDNN_NONE, NULL);
    uint32_t seen = rearrange(net, y, "(n c) t -> n c t", s->N, 0);
    uint32_t again = rearrange(net, seen, "n c t -> (n c t) 1", 0, 0);
    again = apply(net, &pdnn_op_sigmoid, again, PDNN_NONE, NULL);
    again = rearrange(net, again, "(n c t) 1 -> n c t", s->N, s->C);
    y = apply(net, &pdnn_op_add, again, seen, NULL);
    return apply(net, &pdnn_op_add, rearrange(net, y, "n c t -> (n t) c", 0, 0), x, NULL);
}

/* Images (N, C, 4, T) of a convolution, which chooses the layout of all images. */
static uint32_t new_convolved(struct net *net, const struct shape *s) {
    const int64_t dim[] = {s->N, 2, 4, s->R / s->N};
    int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_CONV2D_STRIDE_H] = 1, [PDNN_CONV2D_STRIDE_W] = 1};
    uint32_t x = new_data(net, PDNN_ROLE_INPUT, 4, dim, uniform);
    uint32_t w = pdnn_graph_weight(&net->graph, 4, (int64_t[]){s->C, 2, 1, 1}, uniform);
    x = apply(net, &pdnn_op_bias, x, new_weight(net, 1, dim[1], 0), NULL);
    return apply(net, &pdnn_op_conv2d, x, w, attrs);
}

static uint32_t build_convolved_parts(struct net *net, const struct shape *s) {
    int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_DROPOUT_PERCENT] = 30}, one = 1;
    uint32_t counter = pdnn_graph_state(&net->graph, 1, &one, (struct pdnn_fill){0});
    uint32_t y = append_parts(net, apply(net, &pdnn_op_dropout, new_convolved(net, s), counter, attrs), s);
    return rearrange(net, y, "n c f t -> (t n) (c f)", 0, 0);
}

static uint32_t resize(struct net *net, uint32_t x, int64_t kind, int64_t height, int64_t width) {
    int64_t attrs[PDNN_NODE_ATTRS] = {
        [PDNN_RESIZE_KIND] = kind, [PDNN_RESIZE_HEIGHT] = height, [PDNN_RESIZE_WIDTH] = width};
    return apply(net, &pdnn_op_resize, x, PDNN_NONE, attrs);
}

static uint32_t build_resized(struct net *net, const struct shape *s) {
    const int64_t T = s->R / s->N, dim[] = {s->N, s->C, 4, T};
    uint32_t x = new_data(net, PDNN_ROLE_INPUT, 4, dim, uniform);
    x = apply(net, &pdnn_op_bias, x, new_weight(net, 1, s->C, 0), NULL);
    x = resize(net, x, PDNN_RESIZE_NEAREST, 8, 2 * T);
    x = resize(net, x, PDNN_RESIZE_BILINEAR, 3, T);
    return rearrange(net, x, "n c f t -> (t n) (c f)", 0, 0);
}

static uint32_t build_convolved_resized(struct net *net, const struct shape *s) {
    const int64_t T = s->R / s->N;
    uint32_t x = resize(net, new_convolved(net, s), PDNN_RESIZE_BILINEAR, 7, 3 * T);
    x = resize(net, x, PDNN_RESIZE_NEAREST, 2, T);
    return rearrange(net, x, "n c f t -> (t n) (c f)", 0, 0);
}

static uint32_t build_parts(struct net *net, const struct shape *s) {
    const int64_t dim[] = {s->N, s->C, 4, s->R / s->N};
    uint32_t x = new_data(net, PDNN_ROLE_INPUT, 4, dim, uniform);
    x = apply(net, &pdnn_op_bias, x, new_weight(net, 1, s->C, 0), NULL);
    return rearrange(net, append_parts(net, x, s), "n c f t -> (t n) (c f)", 0, 0);
}

/* Bounds that exclude 0: padding channels would show if the op touched them. */
static uint32_t build_convolved(struct net *net, const struct shape *s) {
    uint32_t x = new_convolved(net, s);
    x = apply(net, &pdnn_op_hardtanh, x, PDNN_NONE, NULL);
    net->graph.nodes[net->graph.n_nodes - 1].coef[PDNN_HARDTANH_LOW] = 0.1;
    /* Channels change places, in and out of blocks that two of them end in. */
    const int64_t groups = s->C % 3 == 0 ? 3 : s->C % 4 == 0 ? 4 : 1;
    x = rearrange(net, x, "n (c g) h w -> n (g c) w h", 0, s->C / groups);
    x = rearrange(net, x, "n c h w -> (n h w) c", 0, 0);
    x = apply(net, &pdnn_op_relu, x, PDNN_NONE, NULL);
    x = rearrange(net, x, "(n h w) c -> n c h w", s->N, s->R / s->N);
    return rearrange(net, x, "n c f t -> (f n) (c t)", 0, 0);
}

static uint32_t build_grown(struct net *net, const struct shape *s) {
    const int64_t dim[] = {s->N, 3, 2, s->R / s->N}, attrs[PDNN_NODE_ATTRS] = {[PDNN_CONV2D_STRIDE_H] = 2,
                                                                               [PDNN_CONV2D_STRIDE_W] = 1,
                                                                               [PDNN_CONV2D_PADDING_H] = 1,
                                                                               [PDNN_CONV2D_PADDING_W] = 1};
    uint32_t x = new_data(net, PDNN_ROLE_INPUT, 4, dim, uniform);
    uint32_t w = pdnn_graph_weight(&net->graph, 4, (int64_t[]){3, s->C, 3, 3}, uniform);
    x = apply(net, &pdnn_op_bias, x, new_weight(net, 1, dim[1], 0), NULL);
    x = apply(net, &pdnn_op_conv_transpose2d, x, w, attrs);
    return rearrange(net, x, "n c f t -> (t n) (c f)", 0, 0);
}

/* Both kinds of pooling, on images with a gradient. */
static uint32_t build_pooled(struct net *net, const struct shape *s) {
    const int64_t dim[] = {s->N, s->C, 4, 2 * s->R / s->N};
    int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_POOL2D_KERNEL_H] = 2,
                                      [PDNN_POOL2D_KERNEL_W] = 2,
                                      [PDNN_POOL2D_STRIDE_H] = 2,
                                      [PDNN_POOL2D_STRIDE_W] = 2,
                                      [PDNN_POOL2D_TRAIN] = 1};
    uint32_t x = new_data(net, PDNN_ROLE_INPUT, 4, dim, uniform);
    x = apply(net, &pdnn_op_bias, x, new_weight(net, 1, s->C, 0), NULL);
    x = apply(net, &pdnn_op_pool2d, x, PDNN_NONE, attrs);
    attrs[PDNN_POOL2D_KIND] = PDNN_POOL2D_AVERAGE;
    attrs[PDNN_POOL2D_KERNEL_W] = attrs[PDNN_POOL2D_STRIDE_W] = 1;
    x = apply(net, &pdnn_op_pool2d, x, PDNN_NONE, attrs);
    return rearrange(net, x, "n c f t -> (t n) (c f)", 0, 0);
}

static uint32_t build_layernorm(struct net *net, const struct shape *s) {
    int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_LAYERNORM_TRAIN] = 1};
    const uint32_t in[] = {new_matrix(net, s->R, s->C), new_weight(net, 1, s->C, 0),
                           new_weight(net, 1, s->C, 0), PDNN_NONE};
    uint32_t y = pdnn_graph_forward(&net->graph, &pdnn_op_layernorm, in, attrs);
    return apply(net, &pdnn_op_layernorm, y, PDNN_NONE, attrs); /* without gamma and beta */
}

static uint32_t build_rmsnorm(struct net *net, const struct shape *s) {
    int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_RMSNORM_TRAIN] = 1};
    return apply(net, &pdnn_op_rmsnorm, new_matrix(net, s->R, s->C), new_weight(net, 1, s->C, 0), attrs);
}

/* Heads between other columns. */
static uint32_t build_rmsnorm_of_heads(struct net *net, const struct shape *s) {
    const int64_t width = s->C / 4, attrs[PDNN_NODE_ATTRS] = {[PDNN_RMSNORM_TRAIN] = 1,
                                                              [PDNN_RMSNORM_HEADS] = 3,
                                                              [PDNN_RMSNORM_WIDTH] = width,
                                                              [PDNN_RMSNORM_COLUMN] = 1};
    return apply(net, &pdnn_op_rmsnorm, new_matrix(net, s->R, s->C), new_weight(net, 1, width, 0), attrs);
}

/* The last heads of each row, wide and narrow, from some position on. */
static uint32_t build_rope(struct net *net, const struct shape *s) {
    const int64_t width = s->C / 4 * 2, attrs[PDNN_NODE_ATTRS] = {[PDNN_ROPE_SEQUENCES] = s->N,
                                                                  [PDNN_ROPE_HEADS] = 2,
                                                                  [PDNN_ROPE_WIDTH] = width,
                                                                  [PDNN_ROPE_COLUMN] = s->C - 2 * width,
                                                                  [PDNN_ROPE_POSITION] = 1000};
    return apply(net, &pdnn_op_rope, new_matrix(net, s->R, s->C), PDNN_NONE, attrs);
}

static uint32_t add_and_normalize(struct net *net, const struct shape *s, int64_t percent) {
    int64_t one = 1, attrs[PDNN_NODE_ATTRS] = {
                         [PDNN_DROPOUT_ADD_NORM_PERCENT] = percent, [PDNN_DROPOUT_ADD_NORM_TRAIN] = 1};
    const uint32_t in[] = {new_matrix(net, s->R, s->C),
                           new_matrix(net, s->R, s->C),
                           new_weight(net, 1, s->C, 0),
                           new_weight(net, 1, s->C, 0),
                           percent ? pdnn_graph_state(&net->graph, 1, &one, (struct pdnn_fill){0})
                                   : PDNN_NONE,
                           PDNN_NONE};
    return pdnn_graph_forward(&net->graph, &pdnn_op_dropout_add_norm, in, attrs);
}

static uint32_t build_add_norm(struct net *net, const struct shape *s) {
    return add_and_normalize(net, s, 0);
}

/* The sum is used again. */
static uint32_t build_dropout_add_norm(struct net *net, const struct shape *s) {
    uint32_t y = add_and_normalize(net, s, 30);
    return apply(net, &pdnn_op_add, y, pdnn_graph_last_output(&net->graph, 1), NULL);
}

/* Scores of N sequences. */
static uint32_t new_scores(struct net *net, const struct shape *s) {
    return pdnn_graph_weight(&net->graph, 3, (int64_t[]){s->R, 4, s->C}, uniform);
}

static uint32_t new_bias(struct net *net, const struct shape *s) {
    struct pdnn_tensor bias = {.role = PDNN_ROLE_INPUT,
                               .rank = 2,
                               .dim = {s->N, s->C},
                               .fill = {PDNN_FILL_SEQUENCE_MASK, -10000},
                               .of = PDNN_NONE};
    return pdnn_graph_tensor(&net->graph, &bias);
}

static const double score_coefs[PDNN_NODE_COEFS] = {3}; /* the factor */

static uint32_t build_softmax_in_steps(struct net *net, const struct shape *s) {
    const int64_t mask[PDNN_NODE_ATTRS] = {[PDNN_MASK_SEQUENCES] = s->N, [PDNN_MASK_CAUSAL] = 1};
    uint32_t x = pdnn_graph_forward_with(&net->graph, &pdnn_op_scale,
                                         (uint32_t[]){new_scores(net, s), PDNN_NONE}, NULL, score_coefs);
    x = apply(net, &pdnn_op_mask, x, new_bias(net, s), mask);
    return apply(net, &pdnn_op_softmax, x, PDNN_NONE, NULL);
}

static uint32_t build_attention_softmax(struct net *net, const struct shape *s) {
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_ATTENTION_SOFTMAX_SEQUENCES] = s->N};
    return pdnn_graph_forward_with(&net->graph, &pdnn_op_attention_softmax,
                                   (uint32_t[]){new_scores(net, s), PDNN_NONE}, attrs, score_coefs);
}

static uint32_t build_masked_softmax(struct net *net, const struct shape *s) {
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_ATTENTION_SOFTMAX_SEQUENCES] = s->N,
                                            [PDNN_ATTENTION_SOFTMAX_CAUSAL] = 1,
                                            [PDNN_ATTENTION_SOFTMAX_HAS_BIAS] = 1,
                                            [PDNN_ATTENTION_SOFTMAX_PERCENT] = 30,
                                            [PDNN_ATTENTION_SOFTMAX_TRAIN] = 1};
    int64_t one = 1;
    uint32_t counter = pdnn_graph_state(&net->graph, 1, &one, (struct pdnn_fill){0});
    return pdnn_graph_forward_with(&net->graph, &pdnn_op_attention_softmax,
                                   (uint32_t[]){new_scores(net, s), new_bias(net, s), counter, PDNN_NONE},
                                   attrs, score_coefs);
}

/* Gates a matrix and squares the result: both gradients are of one tensor. */
static uint32_t build_multiply(struct net *net, const struct shape *s) {
    uint32_t gate = new_matrix(net, s->R, s->C);
    uint32_t y = apply(net, &pdnn_op_multiply, new_matrix(net, s->R, s->C), gate, NULL);
    return apply(net, &pdnn_op_multiply, y, y, NULL);
}

/* A value for each column, for each of all sequences' columns, and for each row. */
static uint32_t build_spread_rows(struct net *net, const struct shape *s) {
    uint32_t y = new_matrix(net, s->R, s->C);
    y = apply(net, net->op, y, new_weight(net, 1, s->C, 0), NULL);
    y = apply(net, net->op, y, new_matrix(net, s->N, s->C), NULL);
    y = apply(net, net->op, y, new_weight(net, 2, 1, s->C), NULL);
    return apply(net, net->op, y, new_matrix(net, s->R, 1), NULL);
}

static const struct op_case {
    const struct pdnn_op_def *op;
    uint32_t (*build)(struct net *net, const struct shape *shape);
    bool convolves; /* not every backend can */
} op_cases[] = {
    {&pdnn_op_bias, build_bias, false},
    {&pdnn_op_multiply, build_multiply, false},
    {&pdnn_op_multiply, build_spread_rows, false},
    {&pdnn_op_add, build_spread_rows, false},
    {&pdnn_op_matmul, build_matmul, false},
    {&pdnn_op_rnn, build_rnn, false},
    {&pdnn_op_pool2d, build_pooled, false},
    {&pdnn_op_embedding, build_embedding, false},
    {&pdnn_op_embedding, build_gather, false},
    {&pdnn_op_embedding, build_gather_and_add, false},
    {&pdnn_op_embedding, build_tied, false},
    {&pdnn_op_top_k, build_top_k, false},
    {&pdnn_op_embedding_bag, build_bags, false},
    {&pdnn_op_experts, build_even_experts, false},
    {&pdnn_op_experts, build_experts, false},
    {&pdnn_op_experts, build_skewed_experts, false},
    {&pdnn_op_experts, build_idle_experts, false},
    {&pdnn_op_scatter_add, build_scatter_add, false},
    {&pdnn_op_dropout, build_dropout, false},
    {&pdnn_op_slice, build_slice, false},
    {&pdnn_op_concat, build_concat, false},
    {&pdnn_op_concat, build_concat_of_many, false},
    {&pdnn_op_concat, build_parts, false},
    {&pdnn_op_concat, build_convolved_parts, true},
    {&pdnn_op_mean, build_mean, false},
    {&pdnn_op_resize, build_resized, false},
    {&pdnn_op_resize, build_convolved_resized, true},
    {&pdnn_op_batchnorm, build_batchnorm, false},
    {&pdnn_op_attention, build_attention, false},
    {&pdnn_op_rearrange, build_sequence, false},
    {&pdnn_op_rearrange, build_views, false},
    {&pdnn_op_rearrange, build_convolved, true},
    {&pdnn_op_conv_transpose2d, build_grown, true},
    {&pdnn_op_groupnorm, build_regions, false},
    {&pdnn_op_layernorm, build_layernorm, false},
    {&pdnn_op_rmsnorm, build_rmsnorm, false},
    {&pdnn_op_rmsnorm, build_rmsnorm_of_heads, false},
    {&pdnn_op_rope, build_rope, false},
    {&pdnn_op_relative_bias, build_relative_bias, false},
    {&pdnn_op_selective_scan, build_selective_scan, false},
    {&pdnn_op_dropout_add_norm, build_add_norm, false},
    {&pdnn_op_dropout_add_norm, build_dropout_add_norm, false},
    {&pdnn_op_ctc_loss, NULL, false},
    {&pdnn_op_logistic_loss, NULL, false},
    {&pdnn_op_squared_error, NULL, false},
    {&pdnn_op_smooth_l1, NULL, false},
    {&pdnn_op_squared_error, new_convolved, true},
    {&pdnn_op_smooth_l1, new_convolved, true},
    {&pdnn_op_scale, build_softmax_in_steps, false},
    {&pdnn_op_mask, build_softmax_in_steps, false},
    {&pdnn_op_mask, build_masks_in_turn, false},
    {&pdnn_op_softmax, build_softmax_in_steps, false},
    {&pdnn_op_attention_softmax, build_attention_softmax, false},
    {&pdnn_op_attention_softmax, build_masked_softmax, false},
    {&pdnn_op_attention_softmax, build_relative_softmax, false},
};
enum { OP_CASES = sizeof op_cases / sizeof *op_cases };

/* Too small for several threads, and large enough. */
static const struct shape shapes[] = {{6, 2, 5}, {12, 1, 16}, {120, 4, 141}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* A label or a value for each value of x, twice as far as these are. */
static void append_element_loss(struct net *net, uint32_t x) {
    const struct pdnn_tensor of = net->graph.tensors[x];
    bool has_labels = net->op->element_loss->has_labels;
    const struct pdnn_fill fill = {has_labels ? PDNN_FILL_CLASS : PDNN_FILL_UNIFORM, 2};
    uint32_t target = new_data(net, has_labels ? PDNN_ROLE_LABEL : PDNN_ROLE_INPUT, of.rank, of.dim, fill);
    net->graph.loss = apply(net, net->op, x, target, NULL);
}

/* Cross-entropy with random classes, or the loss that is tested: CTC has half as many labels as steps. */
static void append_loss(struct net *net, const struct op_case *row, const struct shape *s) {
    if (row->op->element_loss) {
        append_element_loss(net, row->build ? row->build(net, s) : new_matrix(net, s->R, s->C));
        return;
    }
    if (row->build) {
        const struct pdnn_fill classes = {PDNN_FILL_CLASS, CLASSES};
        uint32_t y = dense(net, row->build(net, s), CLASSES);
        uint32_t labels = new_data(net, PDNN_ROLE_LABEL, 1, &s->R, classes);
        net->graph.loss = apply(net, &pdnn_op_softmax_cross_entropy, y, labels, NULL);
        return;
    }
    const int64_t dim[] = {(s->R / s->N + 1) / 2, s->N};
    const struct pdnn_fill classes = {PDNN_FILL_SEQUENCE_CLASS, (double)(s->C - 1)};
    uint32_t labels = new_data(net, PDNN_ROLE_LABEL, 2, dim, classes);
    net->graph.loss = apply(net, &pdnn_op_ctc_loss, new_matrix(net, s->R, s->C), labels, NULL);
}

/* Passes that ran, by op in the order of pdnn_ops. */
struct seen {
    bool pass[256][PDNN_PASS_COUNT];
};

static void see(struct seen *seen, const struct pdnn_graph *graph) {
    for (size_t i = 0; i < graph->n_nodes; i++) {
        size_t op = 0;
        while (pdnn_ops[op] != graph->nodes[i].op)
            op++;
        seen->pass[op][graph->nodes[i].pass] = true;
    }
}

/* The backends that are compared, and what each has run. */
struct compared {
    struct opened backend[FAST_BACKENDS];
    struct seen seen[FAST_BACKENDS];
    size_t count;
};

static void check_case(struct compared *compared, const struct op_case *row, const struct shape *s) {
    struct net net = {.op = row->op};
    struct oracle oracle;
    struct pdnn_err err = {0};
    char what[160];
    pdnn_arena_init(&net.arena);
    pdnn_graph_init(&net.graph, &net.arena);
    append_loss(&net, row, s);
    pdnn_backward_derive(&net.graph, &pdnn_optimizers[PDNN_OPTIMIZER_MOMENTUM]);
    must(pdnn_graph_status(&net.graph, &err), &err);
    snprintf(what, sizeof what, "%s R=%d C=%d", row->op->name, (int)s->R, (int)s->C);
    double slack = 10 * sqrt((double)(s->R * s->C));
    size_t count = row->convolves ? 1 : compared->count;
    open_oracle(&net.graph, &oracle);
    for (size_t b = 0; b < count; b++) {
        if (!check_everything(&compared->backend[b], &oracle, 1, slack, what))
            fail_msg("%s: unsupported", what);
        see(&compared->seen[b], &net.graph);
    }
    for (size_t b = 0; b < count; b++)
        assert_true(check_kept(&compared->backend[b], &oracle, CHECK_STEPS, slack, what));
    close_oracle(&oracle);
    pdnn_arena_finish(&net.arena);
}

/* Graphs made from other ops: optimizers, other types, a cache. */
static const char *const instances[] = {
    "fc/layers=1,nodes=9,input=7,output=5,batch=6,mode=train,optimizer=sgd",
    "fc/layers=1,nodes=9,input=7,output=5,batch=6,mode=train,optimizer=rmsprop,accumulate=2",
    "fc/layers=1,nodes=9,input=7,output=5,batch=6,mode=train,optimizer=adam",
    "fc/layers=1,nodes=9,input=7,output=5,batch=6,mode=train,optimizer=lamb",
    "fc/layers=1,nodes=9,input=7,output=5,batch=6,mode=train,ranks=2",
    "transformer/architecture=decoder,hidden=8,heads=2,layers=1,vocabulary=11,length=6,batch=2,positions=6,norm=pre,"
    "objective=causal-lm,mode=train,optimizer=adam,fuse=none",
    "transformer/architecture=decoder,hidden=8,heads=2,layers=1,vocabulary=11,batch=2,positions=9,norm=pre,"
    "objective=causal-lm,mode=infer,phase=decode,context=6",
    "fc/layers=1,nodes=16,input=8,output=6,batch=6,mode=train,dtype=bf16",
    "mamba/layers=1,hidden=12,states=5,vocabulary=9,batch=3,phase=decode,mode=infer",
    "fc/layers=1,nodes=16,input=8,output=6,batch=6,mode=infer,dtype=int8",
    "dlrm/dim=5,bottom=6,top=8,features=3,pooling=2,rows_cap=20,batch=6,mode=train",
};

static void check_instances(struct compared *compared) {
    for (size_t i = 0; i < sizeof instances / sizeof *instances; i++) {
        struct pdnn_arena arena;
        struct pdnn_graph graph;
        struct oracle oracle;
        pdnn_arena_init(&arena);
        build_instance(instances[i], &arena, &graph);
        open_oracle(&graph, &oracle);
        take_level(i);
        for (size_t b = 0; b < compared->count; b++) {
            if (check_everything(&compared->backend[b], &oracle, 1, check_whole_step_slack, instances[i]))
                see(&compared->seen[b], &graph);
        }
        close_oracle(&oracle);
        pdnn_arena_finish(&arena);
    }
}

/* To int8 and back, without the product in between, which not every backend has. */
static void check_quantized(struct compared *compared, const struct shape *s) {
    const int64_t dim[] = {s->R, s->C};
    const struct pdnn_fill sums = {PDNN_FILL_CLASS, 1000};
    struct net net = {0};
    struct oracle oracle;
    struct pdnn_err err = {0};
    pdnn_arena_init(&net.arena);
    pdnn_graph_init(&net.graph, &net.arena);
    apply(&net, &pdnn_op_quantize, new_data(&net, PDNN_ROLE_INPUT, 2, dim, uniform), PDNN_NONE, NULL);
    const uint32_t in[] = {new_data(&net, PDNN_ROLE_INPUT, 2, dim, sums),
                           pdnn_graph_last_output(&net.graph, PDNN_QUANTIZE_SCALE),
                           new_weight(&net, 1, s->C, 0), PDNN_NONE};
    net.graph.result = pdnn_graph_forward(&net.graph, &pdnn_op_dequantize, in, NULL);
    must(pdnn_graph_status(&net.graph, &err), &err);
    open_oracle(&net.graph, &oracle);
    for (size_t b = 0; b < compared->count; b++) {
        assert_true(check_everything(&compared->backend[b], &oracle, 1, 10, "quantize and dequantize"));
        see(&compared->seen[b], &net.graph);
    }
    close_oracle(&oracle);
    pdnn_arena_finish(&net.arena);
}

/* True if the backend has the pass, itself or through the op's row. */
static bool has_pass(const struct opened *backend, const struct pdnn_op_def *op, int pass) {
    const struct pdnn_lowering_pass *row = &pdnn_lowering_find(op)->pass[pass];
    return op->pass[pass].reference && (backend->def == &pdnn_backend_onednn || row->run || row->needs_sgemm);
}

/* Every op at every level, but each shape of it at one. */
static void test_compile_every_op(void **state) {
    (void)state;
    static struct compared compared = {.count = FAST_BACKENDS};
    for (size_t b = 0; b < FAST_BACKENDS; b++)
        compared.backend[b] = open_backend(fast_backends[b]);
    for (size_t k = 0; k < SHAPES; k++) {
        for (size_t i = 0; i < OP_CASES; i++) {
            take_level(i + k);
            check_case(&compared, &op_cases[i], &shapes[k]);
        }
        for (size_t i = 0; pdnn_ops[i]; i++) {
            take_level(i + k);
            if (pdnn_ops[i]->pointwise)
                check_case(&compared, &(struct op_case){pdnn_ops[i], build_activation, false}, &shapes[k]);
        }
        take_level(k);
        check_quantized(&compared, &shapes[k]);
    }
    check_instances(&compared);
    for (size_t b = 0; b < FAST_BACKENDS; b++) {
        for (size_t i = 0; pdnn_ops[i]; i++) {
            for (int pass = 0; pass < PDNN_PASS_COUNT; pass++) {
                if (has_pass(&compared.backend[b], pdnn_ops[i], pass) && !compared.seen[b].pass[i][pass])
                    fail_msg("%s: no case for %s %s", compared.backend[b].def->name, pdnn_ops[i]->name,
                             pdnn_pass_name((enum pdnn_pass)pass));
            }
        }
        close_backend(&compared.backend[b]);
    }
}

/* Results that exceed a small cache, written with streaming stores. */
static void test_run_past_the_caches(void **state) {
    (void)state;
    static struct compared onednn = {.count = 1};
    const struct shape shape = {64, 2, 24};
    onednn.backend[0] = open_backend(&pdnn_backend_onednn);
    ((struct pdnn_onednn *)onednn.backend[0].state)->options.cache_bytes = 4096;
    for (size_t i = 0; i < OP_CASES; i++) {
        take_level(i);
        check_case(&onednn, &op_cases[i], &shape);
    }
    close_backend(&onednn.backend[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_compile_every_op),
                                       cmocka_unit_test(test_run_past_the_caches)};
    omp_set_num_threads(CHECK_THREADS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
