/* What a primitive is asked to do. Shapes: N minibatch, I inputs, O outputs or output channels, C input
 * channels, H W input height and width, R S kernel height and width, P Q output height and width. Of
 * recurrent layers: T steps, I input and H hidden units, G gates, B vectors of bias. */
#ifndef RUNTIME_BACKENDS_ONEDNN_LIBRARY_REQUEST_H
#define RUNTIME_BACKENDS_ONEDNN_LIBRARY_REQUEST_H

#include "models/cell.h"
#include "models/graph.h"
#include "runtime/backends/onednn/library/layout.h"

enum pdnn_onednn_kind {
    PDNN_ONEDNN_INNER_PRODUCT, /* SRC x (N, I), WEIGHTS w (O, I), BIAS b (O), DST y (N, O), or their
                                  gradients: the pass says which argument is computed */
    PDNN_ONEDNN_CONVOLUTION,   /* the same with SRC x (N, C, H, W), WEIGHTS w (O, C, R, S), DST y (N, O, P, Q)
                                */
    PDNN_ONEDNN_MATMUL,        /* DST = SRC WEIGHTS + BIAS, of each matrix; forward only */
    PDNN_ONEDNN_REORDER,       /* SRC -> DST; forward only */
    /* One recurrent layer in one direction: SRC x (T, N, I), WEIGHTS and RECURRENT (1, 1, I, G, H) and (1, 1,
     * H, G, H), BIAS (1, 1, B, H), DST y (T, N, H), STATE and of lstm STATE_C (1, 1, N, H) before the first
     * step, 0 where there are none. Backward-data reads all of these and DIFF_DST, and computes the gradients
     * of the others. WORKSPACE is what training forward leaves for it. oneDNN 2.6 gives a wrong
     * DIFF_RECURRENT where there is no STATE: as if each step began with its own result. */
    PDNN_ONEDNN_RNN,
    PDNN_ONEDNN_KIND_COUNT
};

enum pdnn_onednn_arg {
    PDNN_ONEDNN_SRC,
    PDNN_ONEDNN_WEIGHTS,
    PDNN_ONEDNN_BIAS,
    PDNN_ONEDNN_DST,
    PDNN_ONEDNN_SCRATCHPAD,
    /* For recurrent layers: */
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
    /* For products of int8: what the sums, BIAS included, are multiplied with before any post. f32 of DST's
     * rank, O long in its second dimension. */
    PDNN_ONEDNN_SCALE,
    PDNN_ONEDNN_ARG_COUNT
};

/* What a forward pass does to its result before it stores it: a function, or a sum with what DST holds. */
enum pdnn_onednn_post_op {
    PDNN_ONEDNN_RELU,
    PDNN_ONEDNN_SIGMOID,
    PDNN_ONEDNN_TANH,
    PDNN_ONEDNN_GELU,
    PDNN_ONEDNN_GELU_TANH,
    PDNN_ONEDNN_SUM,
    PDNN_ONEDNN_POST_OP_COUNT
};

struct pdnn_onednn_request {
    enum pdnn_onednn_kind kind;
    enum pdnn_pass pass;
    const struct pdnn_onednn_layout *layout[PDNN_ONEDNN_ARG_COUNT]; /* NULL: no such argument */
    int n_post_ops;                                                 /* forward: in this order */
    enum pdnn_onednn_post_op post_op[PDNN_NODE_POSTS];
    /* Convolution: vertical, horizontal; zero padding on either side. */
    int64_t stride[2], padding[2];
    enum pdnn_algorithm algorithm;
    enum pdnn_cell cell;
    bool is_reverse; /* of recurrent layers */
    /* A forward pass beside backward ones: no layout that only it understands; of recurrent layers it has a
     * WORKSPACE. */
    bool trains;
    int32_t zero_point; /* what was added to the values in SRC to make them u8; matmul only */
};

#endif
