/* What the attributes and coefficients of an op's nodes mean, for the ops that families and backends set or
 * read them of: indices into pdnn_node.attr and pdnn_node.coef, in the order of the op's attr_names and
 * coef_names. */
#ifndef MODELS_ATTRIBUTES_H
#define MODELS_ATTRIBUTES_H

/* Operands: an op's inputs and outputs, in forward, backward-data and backward-weights. */
enum { PDNN_DENSE_X, PDNN_DENSE_W };
enum { PDNN_DENSE_Y };
enum { PDNN_DENSE_DATA_DY, PDNN_DENSE_DATA_W };
enum { PDNN_DENSE_DATA_DX };
enum { PDNN_DENSE_WEIGHTS_X, PDNN_DENSE_WEIGHTS_DY };
enum { PDNN_DENSE_WEIGHTS_DW };

enum {
    PDNN_CONV2D_STRIDE_H,
    PDNN_CONV2D_STRIDE_W,
    PDNN_CONV2D_PADDING_H, /* zeros on each side */
    PDNN_CONV2D_PADDING_W,
};

enum {
    PDNN_POOL2D_KIND, /* enum pdnn_pool2d_kind */
    PDNN_POOL2D_KERNEL_H,
    PDNN_POOL2D_KERNEL_W,
    PDNN_POOL2D_STRIDE_H,
    PDNN_POOL2D_STRIDE_W,
    PDNN_POOL2D_PADDING_H,
    PDNN_POOL2D_PADDING_W,
    PDNN_POOL2D_TRAIN, /* 1: a maximum also says where it was */
};

enum pdnn_pool2d_kind { PDNN_POOL2D_MAX, PDNN_POOL2D_AVERAGE };

enum { PDNN_POOL2D_TAPS_MAX = 127 }; /* of a maximum in training: the tap's number is an int8 */

/* 1: statistics of the minibatch, and running ones updated; 0: the running ones. */
enum { PDNN_BATCHNORM_TRAIN };

enum { PDNN_BATCHNORM_EPSILON, PDNN_BATCHNORM_MOMENTUM }; /* coefficients */

enum { PDNN_LAYERNORM_TRAIN }; /* 1: keeps the rows' statistics for backward */

enum { PDNN_LAYERNORM_EPSILON }; /* coefficient */

enum {
    PDNN_DROPOUT_ADD_NORM_PERCENT, /* how many values of x become 0 in training */
    PDNN_DROPOUT_ADD_NORM_TRAIN,   /* 1: keeps the rows' statistics for backward */
    PDNN_DROPOUT_ADD_NORM_Y_ONLY,  /* 1, in inference: nobody reads the sum z, and it is not there */
};

enum { PDNN_DROPOUT_ADD_NORM_EPSILON }; /* coefficient */

enum { PDNN_CAST_TO_F32 }; /* 1: the forward pass gives f32; else the type that the graph computes in */

enum { PDNN_HARDTANH_LOW, PDNN_HARDTANH_HIGH }; /* coefficients */

enum { PDNN_SLICE_FIRST, PDNN_SLICE_ROWS };

enum { PDNN_MOMENT_SQUARE }; /* 1: of the gradient's square */

enum { PDNN_DROPOUT_PERCENT }; /* how many values become 0 */

enum { PDNN_SCALE_FACTOR }; /* coefficient */

enum {
    PDNN_MASK_SEQUENCES, /* B, of scores (B*h, n, m) */
    PDNN_MASK_CAUSAL,    /* 1: row i sees the columns j <= i + m - n */
};

enum {
    PDNN_ATTENTION_SOFTMAX_SEQUENCES,
    PDNN_ATTENTION_SOFTMAX_CAUSAL,
    PDNN_ATTENTION_SOFTMAX_HAS_BIAS,
    PDNN_ATTENTION_SOFTMAX_PERCENT, /* how many values become 0 in training */
    PDNN_ATTENTION_SOFTMAX_TRAIN,
};

enum { PDNN_ATTENTION_SOFTMAX_FACTOR }; /* coefficient */

enum {
    PDNN_ATTENTION_SEQUENCES, /* N, of T*N and S*N rows */
    PDNN_ATTENTION_TRAIN,     /* 1: saves the weights of the sources */
};

enum {
    PDNN_RNN_CELL, /* enum pdnn_cell */
    PDNN_RNN_STEPS,
    PDNN_RNN_REVERSE, /* 1: from the last step to the first */
    PDNN_RNN_TRAIN,   /* 1: saves what backward needs */
};

/* Recurrent cells; models/cell.h has their sizes, models/ops/rnn.c their formulas. */
enum pdnn_cell { PDNN_CELL_RNN, PDNN_CELL_LSTM, PDNN_CELL_GRU, PDNN_CELL_LBR_GRU, PDNN_CELL_COUNT };

/* Columns and transposes of a and b follow each other: input k has that of A plus k. */
enum {
    PDNN_MATMUL_SEQUENCES,
    PDNN_MATMUL_HEADS,
    PDNN_MATMUL_WIDTH,    /* of a head, in tensors (B*rows, ld) */
    PDNN_MATMUL_A_COLUMN, /* where the first head begins, in such a tensor */
    PDNN_MATMUL_B_COLUMN,
    PDNN_MATMUL_Y_COLUMN,
    PDNN_MATMUL_TRANSPOSE_A,
    PDNN_MATMUL_TRANSPOSE_B,
    PDNN_MATMUL_Y_WIDTH, /* columns of a result (B*rows, ld); 0: it is (B*h, rows, columns) */
};

enum { PDNN_QUANTIZE_NON_NEGATIVE }; /* 1: no value is below 0 */

enum {
    PDNN_CACHE_APPEND_SEQUENCES,
    PDNN_CACHE_APPEND_COLUMN,   /* of x */
    PDNN_CACHE_APPEND_POSITION, /* of the first new row of each sequence */
};

#endif
