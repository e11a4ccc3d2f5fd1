/* What a primitive is asked to do. Shapes: N minibatch, I inputs, O outputs or output channels, C input
 * channels, H W input height and width, R S kernel height and width, P Q output height and width. Recurrent
 * layers: T steps, I inputs, H hidden units, G gates, B bias vectors. */
#ifndef RUNTIME_BACKENDS_ONEDNN_LIBRARY_REQUEST_H
#define RUNTIME_BACKENDS_ONEDNN_LIBRARY_REQUEST_H

#include "models/cell.h"
#include "models/graph.h"

struct pdnn_onednn_layout;     /* layout.h */
struct pdnn_onednn_activation; /* post_ops.h */

enum pdnn_onednn_kind {
    /* SRC x (N, I), WEIGHTS w (O, I), BIAS b (O), DST y (N, O), or their gradients: the pass says which
     * argument is computed */
    PDNN_ONEDNN_INNER_PRODUCT,
    /* the same with SRC x (N, C, H, W), WEIGHTS w (O, C, R, S), or (G, O/G, C/G, R, S) in G groups, DST y
     * (N, O, P, Q) */
    PDNN_ONEDNN_CONVOLUTION,
    PDNN_ONEDNN_MATMUL,  /* DST = SRC WEIGHTS + BIAS for each matrix; forward only */
    PDNN_ONEDNN_REORDER, /* SRC -> DST; forward only */
    /* One recurrent layer in one direction: SRC x (T, N, I), WEIGHTS and RECURRENT (1, 1, I, G, H) and (1, 1,
     * H, G, H), BIAS (1, 1, B, H), DST y (T, N, H). STATE and, for lstm, STATE_C (1, 1, N, H) are the state
     * before the first step; without them it is 0. Backward-data reads all of these and DIFF_DST, and
     * computes the other gradients. WORKSPACE is what forward saves for it in training. Without STATE, oneDNN
     * 2.6 computes a wrong DIFF_RECURRENT, as if each step started from its own result. */
    PDNN_ONEDNN_RNN,
    PDNN_ONEDNN_KIND_COUNT
};

enum pdnn_onednn_arg {
    PDNN_ONEDNN_SRC,
    PDNN_ONEDNN_WEIGHTS,
    PDNN_ONEDNN_BIAS,
    PDNN_ONEDNN_DST,
    PDNN_ONEDNN_SCRATCHPAD,
    /* Recurrent layers only: */
    PDNN_ONEDNN_RECURRENT,
    PDNN_ONEDNN_WORKSPACE, /* has no layout in a request */
    PDNN_ONEDNN_DIFF_SRC,
    PDNN_ONEDNN_DIFF_WEIGHTS,
    PDNN_ONEDNN_DIFF_RECURRENT,
    PDNN_ONEDNN_DIFF_BIAS,
    PDNN_ONEDNN_DIFF_DST,
    PDNN_ONEDNN_STATE,
    PDNN_ONEDNN_STATE_C,
    PDNN_ONEDNN_DIFF_STATE,
    PDNN_ONEDNN_DIFF_STATE_C,
    /* int8 products only: factors for the sums, BIAS included, applied before any other post-op. f32, of
     * DST's rank, O long in its second dimension. */
    PDNN_ONEDNN_SCALE,
    PDNN_ONEDNN_ARG_COUNT
};

/* Applied to a forward pass's result before it is stored. */
struct pdnn_onednn_post_op {
    const struct pdnn_onednn_activation *activation; /* NULL: a sum with what DST holds */
    float alpha, beta;
};

struct pdnn_onednn_request {
    enum pdnn_onednn_kind kind;
    enum pdnn_pass pass;
    const struct pdnn_onednn_layout *layout[PDNN_ONEDNN_ARG_COUNT]; /* NULL: no such argument */
    int n_post_ops;                                                 /* forward; applied in this order */
    struct pdnn_onednn_post_op post_op[PDNN_NODE_POSTS];
    /* Convolution: vertical, horizontal; zero padding before the image and, as `end`, after it. */
    int64_t stride[2], padding[2], end[2], dilation[2]; /* dilation 1: taps are adjacent */
    enum pdnn_algorithm algorithm;
    enum pdnn_cell cell;
    bool is_reverse; /* recurrent layers only */
    /* Set for a forward pass that has backward passes: it must not choose a layout that only it understands,
     * and a recurrent layer gets a WORKSPACE. */
    bool trains;
    int32_t zero_point; /* added to the values in SRC to make them u8; matmul only */
};

#endif
