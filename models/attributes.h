/* Names for the operands, attributes and coefficients of every op: indices into input, output, attr and coef
 * of struct pdnn_node, used by the op itself, its steps, families and backends. Per op come the inputs and
 * outputs of the forward (or update) pass, then those of the backward passes, with BACK in their names (DATA
 * and WEIGHTS where the two differ), then attributes and coefficients. Shapes and formulas are in
 * models/ops/<op>.c, the printed names in the op's attributes. Optional operands come last and
 * say so. Updates work in place: their outputs are among their inputs. */
#ifndef MODELS_ATTRIBUTES_H
#define MODELS_ATTRIBUTES_H

/* Activations. */
enum { PDNN_ACTIVATION_X };
enum { PDNN_ACTIVATION_Y };
enum { PDNN_ACTIVATION_BACK_DY, PDNN_ACTIVATION_BACK_SAVED }; /* saved: y, or x if saves_x */
enum { PDNN_ACTIVATION_BACK_DX };
enum { PDNN_HARDTANH_LOW, PDNN_HARDTANH_HIGH }; /* coefficients */

enum { PDNN_ADD_A, PDNN_ADD_B };
enum { PDNN_ADD_Y };

enum { PDNN_MULTIPLY_A, PDNN_MULTIPLY_B };
enum { PDNN_MULTIPLY_Y };
/* One gradient, from the operand that it is not of; or both, which then read b and a. */
enum {
    PDNN_MULTIPLY_BACK_DY,
    PDNN_MULTIPLY_BACK_OTHER,
    PDNN_MULTIPLY_BACK_B = PDNN_MULTIPLY_BACK_OTHER,
    PDNN_MULTIPLY_BACK_A,
};
enum { PDNN_MULTIPLY_BACK_DX, PDNN_MULTIPLY_BACK_DB };

enum { PDNN_SCALE_X };      /* backward: dy */
enum { PDNN_SCALE_Y };      /* backward: dx */
enum { PDNN_SCALE_FACTOR }; /* coefficient */

enum { PDNN_CAST_X };      /* backward: dy */
enum { PDNN_CAST_Y };      /* backward: dx */
enum { PDNN_CAST_TO_F32 }; /* 1: forward gives f32; 0: the dtype that the graph computes in */

enum { PDNN_DENSE_X, PDNN_DENSE_W };
/* Inputs of an int8 product, dense or conv2d. */
enum { PDNN_QUANTIZED_X, PDNN_QUANTIZED_W, PDNN_QUANTIZED_X_SCALE, PDNN_QUANTIZED_W_SCALE };
enum { PDNN_DENSE_Y };
enum { PDNN_DENSE_DATA_DY, PDNN_DENSE_DATA_W };
enum { PDNN_DENSE_DATA_DX };
enum { PDNN_DENSE_WEIGHTS_X, PDNN_DENSE_WEIGHTS_DY };
enum { PDNN_DENSE_WEIGHTS_DW };

enum { PDNN_EXPERTS_X, PDNN_EXPERTS_W };
enum { PDNN_EXPERTS_Y };
enum { PDNN_EXPERTS_DATA_DY, PDNN_EXPERTS_DATA_W };
enum { PDNN_EXPERTS_DATA_DX };
enum { PDNN_EXPERTS_WEIGHTS_DY, PDNN_EXPERTS_WEIGHTS_X };
enum { PDNN_EXPERTS_WEIGHTS_DW };
enum { PDNN_EXPERTS_ACTIVE, PDNN_EXPERTS_SKEW }; /* models/cost/deal.h */

enum { PDNN_CONV2D_X, PDNN_CONV2D_W }; /* int8: two more, the scales */
enum { PDNN_CONV2D_Y };
enum { PDNN_CONV2D_DATA_DY, PDNN_CONV2D_DATA_W };
enum { PDNN_CONV2D_DATA_DX };
enum { PDNN_CONV2D_WEIGHTS_X, PDNN_CONV2D_WEIGHTS_DY };
enum { PDNN_CONV2D_WEIGHTS_DW };
enum {
    PDNN_CONV2D_STRIDE_H,
    PDNN_CONV2D_STRIDE_W,
    PDNN_CONV2D_PADDING_H, /* zeros before the image, and after it but for EXTRA */
    PDNN_CONV2D_PADDING_W,
    PDNN_CONV2D_GROUPS, /* this and the dilations: 0 stands for 1 (models/conv2d.h) */
    PDNN_CONV2D_DILATION_H,
    PDNN_CONV2D_DILATION_W,
    PDNN_CONV2D_EXTRA_H, /* zeros after the image less those before it */
    PDNN_CONV2D_EXTRA_W,
};

/* Attributes are those of conv2d. */
enum { PDNN_CONV_TRANSPOSE2D_X, PDNN_CONV_TRANSPOSE2D_W };
enum { PDNN_CONV_TRANSPOSE2D_Y };
enum { PDNN_CONV_TRANSPOSE2D_DATA_DY, PDNN_CONV_TRANSPOSE2D_DATA_W };
enum { PDNN_CONV_TRANSPOSE2D_DATA_DX };
enum { PDNN_CONV_TRANSPOSE2D_WEIGHTS_DY, PDNN_CONV_TRANSPOSE2D_WEIGHTS_X };
enum { PDNN_CONV_TRANSPOSE2D_WEIGHTS_DW };

enum { PDNN_BIAS_X, PDNN_BIAS_B };
enum { PDNN_BIAS_Y };
enum { PDNN_BIAS_BACK_DY };
enum { PDNN_BIAS_BACK_DB };

/* REST is optional: the gradient written so far by earlier nodes, which the output continues. */
enum { PDNN_MATMUL_A, PDNN_MATMUL_B, PDNN_MATMUL_REST, PDNN_MATMUL_INPUTS = PDNN_MATMUL_REST };
enum { PDNN_MATMUL_Y };
/* The columns of a and b are adjacent, and so are their transposes: add k to A's index for input k. */
enum {
    PDNN_MATMUL_SEQUENCES,
    PDNN_MATMUL_HEADS,
    PDNN_MATMUL_WIDTH,    /* of a head, in tensors (B*rows, ld) */
    PDNN_MATMUL_A_COLUMN, /* first column of head 0 in such a tensor */
    PDNN_MATMUL_B_COLUMN,
    PDNN_MATMUL_Y_COLUMN,
    PDNN_MATMUL_TRANSPOSE_A,
    PDNN_MATMUL_TRANSPOSE_B,
    PDNN_MATMUL_Y_WIDTH, /* columns of a result (B*rows, ld); 0: the result is (B*h, rows, columns) */
    PDNN_MATMUL_B_HEADS, /* fewer in b, which each serve as many in turn; 0: as many */
    PDNN_MATMUL_Y_HEADS, /* backward: fewer in y, each the sum of as many in turn; 0: as many */
    PDNN_MATMUL_WINDOW,  /* columns that a row of scores sees up to its own place; 0: all there are */
};

enum { PDNN_POOL2D_X };
enum { PDNN_POOL2D_Y, PDNN_POOL2D_INDEX }; /* index: max-pooling in training */
enum { PDNN_POOL2D_BACK_DY, PDNN_POOL2D_BACK_INDEX };
enum { PDNN_POOL2D_BACK_DX };
enum {
    PDNN_POOL2D_KIND, /* enum pdnn_pool2d_kind */
    PDNN_POOL2D_KERNEL_H,
    PDNN_POOL2D_KERNEL_W,
    PDNN_POOL2D_STRIDE_H,
    PDNN_POOL2D_STRIDE_W,
    PDNN_POOL2D_PADDING_H,
    PDNN_POOL2D_PADDING_W,
    PDNN_POOL2D_TRAIN,   /* 1: max-pooling also returns the index */
    PDNN_POOL2D_EXTRA_H, /* as in conv2d */
    PDNN_POOL2D_EXTRA_W,
};
enum pdnn_pool2d_kind { PDNN_POOL2D_MAX, PDNN_POOL2D_AVERAGE };
enum { PDNN_POOL2D_TAPS_MAX = 127 }; /* max-pooling in training: the index of a tap is an int8 */

/* Backward: the boxes again, and dy. */
enum { PDNN_ROI_ALIGN_X, PDNN_ROI_ALIGN_BOXES, PDNN_ROI_ALIGN_INPUTS };
enum { PDNN_ROI_ALIGN_Y };
enum { PDNN_ROI_ALIGN_BACK_DY };
enum { PDNN_ROI_ALIGN_BACK_DX };
enum { PDNN_ROI_ALIGN_SIZE, PDNN_ROI_ALIGN_SAMPLES }; /* along an axis: values of a box; points of a value */
enum { PDNN_ROI_ALIGN_MOST = 64 };                    /* of each */

/* The inputs' mean and variance are the running ones. Training also outputs the minibatch's mean and inverse
 * std, and the new running statistics if they are updated. */
enum {
    PDNN_BATCHNORM_X,
    PDNN_BATCHNORM_GAMMA,
    PDNN_BATCHNORM_BETA,
    PDNN_BATCHNORM_MEAN,
    PDNN_BATCHNORM_VARIANCE,
    PDNN_BATCHNORM_INPUTS,
};
enum {
    PDNN_BATCHNORM_Y,
    PDNN_BATCHNORM_BATCH_MEAN,
    PDNN_BATCHNORM_INVERSE_STD,
    PDNN_BATCHNORM_NEW_MEAN,
    PDNN_BATCHNORM_NEW_VARIANCE,
};
enum {
    PDNN_BATCHNORM_BACK_DY,
    PDNN_BATCHNORM_BACK_X,
    PDNN_BATCHNORM_BACK_GAMMA,
    PDNN_BATCHNORM_BACK_MEAN,
    PDNN_BATCHNORM_BACK_INVERSE_STD,
    PDNN_BATCHNORM_BACK_INPUTS,
};
/* The same with running statistics, of which it has dx alone. */
enum {
    PDNN_BATCHNORM_FROZEN_DY,
    PDNN_BATCHNORM_FROZEN_GAMMA,
    PDNN_BATCHNORM_FROZEN_VARIANCE,
    PDNN_BATCHNORM_FROZEN_INPUTS,
};
enum { PDNN_BATCHNORM_BACK_DX, PDNN_BATCHNORM_BACK_DGAMMA, PDNN_BATCHNORM_BACK_DBETA };
/* 1: use minibatch statistics and update the running ones; 0: use the running ones. */
enum { PDNN_BATCHNORM_TRAIN };
enum { PDNN_BATCHNORM_EPSILON, PDNN_BATCHNORM_MOMENTUM }; /* coefficients */

/* Without gamma and beta, there are only x and y; backward, mean and inverse_std move up by one. */
enum { PDNN_LAYERNORM_X, PDNN_LAYERNORM_GAMMA, PDNN_LAYERNORM_BETA, PDNN_LAYERNORM_INPUTS };
enum { PDNN_LAYERNORM_Y, PDNN_LAYERNORM_MEAN, PDNN_LAYERNORM_INVERSE_STD }; /* the last two in training */
enum {
    PDNN_LAYERNORM_BACK_DY,
    PDNN_LAYERNORM_BACK_X,
    PDNN_LAYERNORM_BACK_GAMMA,
    PDNN_LAYERNORM_BACK_MEAN,
    PDNN_LAYERNORM_BACK_INVERSE_STD,
    PDNN_LAYERNORM_BACK_INPUTS,
};
enum { PDNN_LAYERNORM_BACK_DX, PDNN_LAYERNORM_BACK_DGAMMA, PDNN_LAYERNORM_BACK_DBETA };
enum { PDNN_LAYERNORM_TRAIN };   /* 1: keeps the rows' statistics for backward */
enum { PDNN_LAYERNORM_EPSILON }; /* coefficient */

enum { PDNN_GROUPNORM_X, PDNN_GROUPNORM_GAMMA, PDNN_GROUPNORM_BETA, PDNN_GROUPNORM_INPUTS };
enum { PDNN_GROUPNORM_Y, PDNN_GROUPNORM_MEAN, PDNN_GROUPNORM_INVERSE_STD }; /* the last two in training */
enum {
    PDNN_GROUPNORM_BACK_DY,
    PDNN_GROUPNORM_BACK_X,
    PDNN_GROUPNORM_BACK_GAMMA,
    PDNN_GROUPNORM_BACK_MEAN,
    PDNN_GROUPNORM_BACK_INVERSE_STD,
};
enum { PDNN_GROUPNORM_BACK_DX, PDNN_GROUPNORM_BACK_DGAMMA, PDNN_GROUPNORM_BACK_DBETA };
enum { PDNN_GROUPNORM_GROUPS, PDNN_GROUPNORM_TRAIN }; /* train 1: keeps statistics for backward */
enum { PDNN_GROUPNORM_EPSILON };                      /* coefficient */

enum { PDNN_RMSNORM_X, PDNN_RMSNORM_GAMMA, PDNN_RMSNORM_INPUTS };
enum { PDNN_RMSNORM_Y, PDNN_RMSNORM_INVERSE_RMS }; /* the second in training */
enum {
    PDNN_RMSNORM_BACK_DY,
    PDNN_RMSNORM_BACK_X,
    PDNN_RMSNORM_BACK_GAMMA,
    PDNN_RMSNORM_BACK_INVERSE_RMS,
};
enum { PDNN_RMSNORM_BACK_DX, PDNN_RMSNORM_BACK_DGAMMA };
enum {
    PDNN_RMSNORM_TRAIN, /* 1: keeps inverse_rms for backward */
    PDNN_RMSNORM_HEADS, /* normalized one by one; 0: rows are whole */
    PDNN_RMSNORM_WIDTH,
    PDNN_RMSNORM_COLUMN,
};
enum { PDNN_RMSNORM_EPSILON }; /* coefficient */

enum { PDNN_ROPE_X }; /* backward: dy */
enum { PDNN_ROPE_Y }; /* backward: dx */
enum {
    PDNN_ROPE_SEQUENCES,
    PDNN_ROPE_HEADS,
    PDNN_ROPE_WIDTH,
    PDNN_ROPE_COLUMN,   /* first column of head 0 */
    PDNN_ROPE_POSITION, /* of each sequence's first row */
};
enum { PDNN_ROPE_THETA }; /* coefficient */

/* The counter is present if values are dropped. In backward it is the last input, after dz, which is present
 * if something else also read z. */
enum {
    PDNN_DROPOUT_ADD_NORM_X,
    PDNN_DROPOUT_ADD_NORM_RESIDUAL,
    PDNN_DROPOUT_ADD_NORM_GAMMA,
    PDNN_DROPOUT_ADD_NORM_BETA,
    PDNN_DROPOUT_ADD_NORM_COUNTER,
};
enum {
    PDNN_DROPOUT_ADD_NORM_Y,
    PDNN_DROPOUT_ADD_NORM_Z,
    PDNN_DROPOUT_ADD_NORM_MEAN,
    PDNN_DROPOUT_ADD_NORM_INVERSE_STD,
    PDNN_DROPOUT_ADD_NORM_NEW_COUNTER,
};
enum {
    PDNN_DROPOUT_ADD_NORM_BACK_DY,
    PDNN_DROPOUT_ADD_NORM_BACK_Z,
    PDNN_DROPOUT_ADD_NORM_BACK_GAMMA,
    PDNN_DROPOUT_ADD_NORM_BACK_MEAN,
    PDNN_DROPOUT_ADD_NORM_BACK_INVERSE_STD,
    PDNN_DROPOUT_ADD_NORM_BACK_DZ,
    PDNN_DROPOUT_ADD_NORM_BACK_INPUTS = PDNN_DROPOUT_ADD_NORM_BACK_DZ + 2,
};
/* dx is present if values are dropped; otherwise it equals dresidual. */
enum {
    PDNN_DROPOUT_ADD_NORM_BACK_DRESIDUAL,
    PDNN_DROPOUT_ADD_NORM_BACK_DGAMMA,
    PDNN_DROPOUT_ADD_NORM_BACK_DBETA,
    PDNN_DROPOUT_ADD_NORM_BACK_DX,
};
enum {
    PDNN_DROPOUT_ADD_NORM_PERCENT, /* share of x that becomes 0 in training */
    PDNN_DROPOUT_ADD_NORM_TRAIN,   /* 1: keeps the rows' statistics for backward */
    PDNN_DROPOUT_ADD_NORM_Y_ONLY,  /* 1: inference where nobody reads the sum z, so it is not an output */
};
enum { PDNN_DROPOUT_ADD_NORM_EPSILON }; /* coefficient */

enum { PDNN_DROPOUT_X, PDNN_DROPOUT_COUNTER }; /* backward: dy and the counter */
enum { PDNN_DROPOUT_Y, PDNN_DROPOUT_NEW_COUNTER };
enum { PDNN_DROPOUT_PERCENT }; /* share of values that becomes 0 */

enum { PDNN_SOFTMAX_X };
enum { PDNN_SOFTMAX_Y };
enum { PDNN_SOFTMAX_BACK_DY, PDNN_SOFTMAX_BACK_Y };
enum { PDNN_SOFTMAX_BACK_DX };

enum { PDNN_MASK_X, PDNN_MASK_BIAS }; /* the bias is optional; backward: dy */
enum { PDNN_MASK_Y };                 /* backward: dx */
enum {
    PDNN_MASK_SEQUENCES, /* B in scores (B*h, n, m) */
    PDNN_MASK_CAUSAL,    /* 1: row i sees columns j <= i + m - n */
    PDNN_MASK_WINDOW,    /* causal: so many of them, the last; 0: all */
};

/* Backward: dy. */
enum { PDNN_RELATIVE_BIAS_X, PDNN_RELATIVE_BIAS_TABLE, PDNN_RELATIVE_BIAS_INPUTS };
enum { PDNN_RELATIVE_BIAS_Y };
enum { PDNN_RELATIVE_BIAS_BACK_DY };
enum { PDNN_RELATIVE_BIAS_BACK_DTABLE };
enum {
    PDNN_RELATIVE_BIAS_HEADS,
    PDNN_RELATIVE_BIAS_WINDOW,   /* side of a square of positions; 0: buckets of distances along a sequence */
    PDNN_RELATIVE_BIAS_CAUSAL,   /* 1: buckets of what is before row i, which sees columns j <= i + m - n */
    PDNN_RELATIVE_BIAS_DISTANCE, /* from which on the last bucket has all */
    PDNN_RELATIVE_BIAS_ATTRS,
};

/* If values are dropped, the counter is forward's last input, after the optional bias, which may be left out,
 * and the optional table of a bias by relative position. */
enum { PDNN_ATTENTION_SOFTMAX_X, PDNN_ATTENTION_SOFTMAX_BIAS };
enum { PDNN_ATTENTION_SOFTMAX_Y, PDNN_ATTENTION_SOFTMAX_P, PDNN_ATTENTION_SOFTMAX_NEW_COUNTER };
enum { PDNN_ATTENTION_SOFTMAX_BACK_DY, PDNN_ATTENTION_SOFTMAX_BACK_P, PDNN_ATTENTION_SOFTMAX_BACK_COUNTER };
enum { PDNN_ATTENTION_SOFTMAX_BACK_DX, PDNN_ATTENTION_SOFTMAX_BACK_DTABLE };
enum {
    PDNN_ATTENTION_SOFTMAX_SEQUENCES,
    PDNN_ATTENTION_SOFTMAX_CAUSAL,
    PDNN_ATTENTION_SOFTMAX_HAS_BIAS,
    PDNN_ATTENTION_SOFTMAX_PERCENT, /* share of values that becomes 0 in training */
    PDNN_ATTENTION_SOFTMAX_TRAIN,
    PDNN_ATTENTION_SOFTMAX_WINDOW, /* as that of a mask */
    /* From here on the attributes of relative_bias; without heads there is no table. */
    PDNN_ATTENTION_SOFTMAX_RELATIVE,
};
enum { PDNN_ATTENTION_SOFTMAX_FACTOR }; /* coefficient */

/* Backward takes dcontext, then the forward inputs in order, and returns a gradient for each of
 * them in the same order. */
enum {
    PDNN_ATTENTION_Q,
    PDNN_ATTENTION_K,
    PDNN_ATTENTION_VALUES,
    PDNN_ATTENTION_V,
    PDNN_ATTENTION_G,
    PDNN_ATTENTION_INPUTS,
};
enum { PDNN_ATTENTION_CONTEXT, PDNN_ATTENTION_P }; /* p: in training */
enum {
    PDNN_ATTENTION_BACK_DCONTEXT,
    PDNN_ATTENTION_BACK_Q,
    PDNN_ATTENTION_BACK_K,
    PDNN_ATTENTION_BACK_VALUES,
    PDNN_ATTENTION_BACK_V,
    PDNN_ATTENTION_BACK_G,
    PDNN_ATTENTION_BACK_P,
};
enum {
    PDNN_ATTENTION_SEQUENCES, /* N in T*N and S*N rows */
    PDNN_ATTENTION_TRAIN,     /* 1: saves the attention weights p */
};

/* embedding and embedding_bag; x is the table, or the activation whose rows are gathered. */
enum { PDNN_EMBEDDING_IDS, PDNN_EMBEDDING_X, PDNN_EMBEDDING_INPUTS };
enum { PDNN_EMBEDDING_Y };
/* REST is optional. */
enum {
    PDNN_EMBEDDING_BACK_IDS,
    PDNN_EMBEDDING_BACK_DY,
    PDNN_EMBEDDING_BACK_REST,
    PDNN_EMBEDDING_BACK_INPUTS
};
enum { PDNN_EMBEDDING_BACK_DX };

/* GATES is optional, and so are backward's x, gates and dgates, which are there with gates. */
enum { PDNN_SCATTER_ADD_X, PDNN_SCATTER_ADD_PLAN, PDNN_SCATTER_ADD_GATES, PDNN_SCATTER_ADD_INPUTS };
enum { PDNN_SCATTER_ADD_Y };
enum {
    PDNN_SCATTER_ADD_BACK_DY,
    PDNN_SCATTER_ADD_BACK_PLAN,
    PDNN_SCATTER_ADD_BACK_X,
    PDNN_SCATTER_ADD_BACK_GATES,
    PDNN_SCATTER_ADD_BACK_INPUTS,
};
enum { PDNN_SCATTER_ADD_BACK_DX, PDNN_SCATTER_ADD_BACK_DGATES };
enum { PDNN_SCATTER_ADD_ROWS, PDNN_SCATTER_ADD_SKEW }; /* rows of y; models/cost/deal.h */

enum { PDNN_INTERACTION_X };
enum { PDNN_INTERACTION_Y };
enum { PDNN_INTERACTION_BACK_DY, PDNN_INTERACTION_BACK_X };
enum { PDNN_INTERACTION_BACK_DX };
enum {
    PDNN_INTERACTION_WIDTH, /* of a vector */
    PDNN_INTERACTION_PAIRS, /* enum pdnn_interaction_pairs */
};
enum pdnn_interaction_pairs { PDNN_INTERACTION_BELOW, PDNN_INTERACTION_ALL };

enum { PDNN_SLICE_X }; /* backward: dy */
enum { PDNN_SLICE_Y }; /* backward: dx */
/* One of the counts is not 0: its dimension is sliced. */
enum {
    PDNN_SLICE_FIRST,
    PDNN_SLICE_ROWS,    /* or images */
    PDNN_SLICE_COLUMNS, /* or channels */
    PDNN_SLICE_HEIGHT,
    PDNN_SLICE_WIDTH,
    PDNN_SLICE_COUNTS = 4,
};

/* Any number of inputs; each gets its part of dy. */
enum { PDNN_CONCAT_Y };
enum { PDNN_CONCAT_BACK_DY };
enum { PDNN_CONCAT_ALONG };
/* Dimensions 1, 0, 2 and 3: the first word is the default. */
enum { PDNN_CONCAT_COLUMNS, PDNN_CONCAT_ROWS, PDNN_CONCAT_HEIGHT, PDNN_CONCAT_WIDTH };

enum { PDNN_REARRANGE_X }; /* backward: dy */
enum { PDNN_REARRANGE_Y }; /* backward: dx */
enum {
    PDNN_REARRANGE_PATTERN, /* which axes there are, and their order, in 60 bits (models/rearrange.h) */
    PDNN_REARRANGE_SIZES,   /* of up to 6 axes, as x has them; 0: what the dimension's others leave */
};

enum { PDNN_MEAN_X }; /* backward: dy */
enum { PDNN_MEAN_Y }; /* backward: dx */
enum { PDNN_MEAN_ALONG, PDNN_MEAN_SEQUENCES };
enum { PDNN_MEAN_ROWS, PDNN_MEAN_COLUMNS };

enum { PDNN_RESIZE_X }; /* backward: dy */
enum { PDNN_RESIZE_Y }; /* backward: dx */
enum { PDNN_RESIZE_KIND, PDNN_RESIZE_HEIGHT, PDNN_RESIZE_WIDTH };
enum { PDNN_RESIZE_NEAREST, PDNN_RESIZE_BILINEAR };

enum { PDNN_CACHE_APPEND_X, PDNN_CACHE_APPEND_CACHE, PDNN_CACHE_APPEND_INPUTS };
enum { PDNN_CACHE_APPEND_NEW_CACHE };
enum {
    PDNN_CACHE_APPEND_SEQUENCES,
    PDNN_CACHE_APPEND_COLUMN,   /* of x */
    PDNN_CACHE_APPEND_POSITION, /* of each sequence's first new row */
};

/* Forward: x (T*N, I), w (G*H, I), u (G*H, H), b (G'*H); y (T*N, H), saved (T*N, S*H).
 * G' counts bias vectors. */
enum { PDNN_RNN_X, PDNN_RNN_W, PDNN_RNN_U, PDNN_RNN_B, PDNN_RNN_INPUTS };
enum { PDNN_RNN_Y, PDNN_RNN_SAVED }; /* saved: in training, for cells with n_saved */
/* SAVED is the last input if it exists, DX the last output if it is wanted. */
enum {
    PDNN_RNN_BACK_DY,
    PDNN_RNN_BACK_X,
    PDNN_RNN_BACK_Y,
    PDNN_RNN_BACK_W,
    PDNN_RNN_BACK_U,
    PDNN_RNN_BACK_SAVED,
};
enum { PDNN_RNN_BACK_DW, PDNN_RNN_BACK_DU, PDNN_RNN_BACK_DB, PDNN_RNN_BACK_DX };
enum {
    PDNN_RNN_CELL, /* enum pdnn_cell */
    PDNN_RNN_STEPS,
    PDNN_RNN_REVERSE, /* 1: from the last step to the first */
    PDNN_RNN_TRAIN,   /* 1: saves what backward needs */
};
/* Recurrent cells. Sizes are in models/cell.h, formulas in models/ops/rnn.c. */
enum pdnn_cell { PDNN_CELL_RNN, PDNN_CELL_LSTM, PDNN_CELL_GRU, PDNN_CELL_LBR_GRU, PDNN_CELL_COUNT };

enum { PDNN_TOP_K_X };
enum { PDNN_TOP_K_Y };
enum { PDNN_TOP_K_BACK_DY, PDNN_TOP_K_BACK_Y };
enum { PDNN_TOP_K_BACK_DX };
enum { PDNN_TOP_K_K };
/* The state is there if it is kept. Backward takes dy, then the other forward inputs in order, and returns a
 * gradient for each of them in the same order. */
enum {
    PDNN_SELECTIVE_SCAN_X,
    PDNN_SELECTIVE_SCAN_DELTA,
    PDNN_SELECTIVE_SCAN_B,
    PDNN_SELECTIVE_SCAN_C,
    PDNN_SELECTIVE_SCAN_A,
    PDNN_SELECTIVE_SCAN_D,
    PDNN_SELECTIVE_SCAN_INPUTS,
    PDNN_SELECTIVE_SCAN_STATE = PDNN_SELECTIVE_SCAN_INPUTS,
};
enum { PDNN_SELECTIVE_SCAN_Y, PDNN_SELECTIVE_SCAN_NEW_STATE };
enum {
    PDNN_SELECTIVE_SCAN_BACK_DY,
    PDNN_SELECTIVE_SCAN_BACK_X,
    PDNN_SELECTIVE_SCAN_BACK_DELTA,
    PDNN_SELECTIVE_SCAN_BACK_B,
    PDNN_SELECTIVE_SCAN_BACK_C,
    PDNN_SELECTIVE_SCAN_BACK_A,
    PDNN_SELECTIVE_SCAN_BACK_D,
};
enum {
    PDNN_SELECTIVE_SCAN_SEQUENCES,
    PDNN_SELECTIVE_SCAN_KEPT, /* 1: each channel goes on from its state of the step before */
};

enum { PDNN_LOSS_SCALE }; /* coefficient of every loss */

enum { PDNN_SOFTMAX_CROSS_ENTROPY_X, PDNN_SOFTMAX_CROSS_ENTROPY_LABEL };
enum { PDNN_SOFTMAX_CROSS_ENTROPY_LOSS, PDNN_SOFTMAX_CROSS_ENTROPY_P };
enum { PDNN_SOFTMAX_CROSS_ENTROPY_BACK_P, PDNN_SOFTMAX_CROSS_ENTROPY_BACK_LABEL };
enum { PDNN_SOFTMAX_CROSS_ENTROPY_BACK_DX };

/* logistic_loss, squared_error and smooth_l1. */
enum { PDNN_ELEMENT_LOSS_X, PDNN_ELEMENT_LOSS_TARGET, PDNN_ELEMENT_LOSS_INPUTS };
enum { PDNN_ELEMENT_LOSS_LOSS };
enum { PDNN_ELEMENT_LOSS_BACK_DX };

enum { PDNN_CTC_LOSS_LOGITS, PDNN_CTC_LOSS_LABELS };
enum { PDNN_CTC_LOSS_LOSS, PDNN_CTC_LOSS_DLOGITS };

enum { PDNN_QUANTIZE_X };
enum { PDNN_QUANTIZE_Q, PDNN_QUANTIZE_SCALE };
enum { PDNN_QUANTIZE_NON_NEGATIVE }; /* 1: no value is below 0 */

enum { PDNN_DEQUANTIZE_X, PDNN_DEQUANTIZE_X_SCALE, PDNN_DEQUANTIZE_W_SCALE };
enum { PDNN_DEQUANTIZE_Y };

enum { PDNN_SGD_W, PDNN_SGD_G };
enum { PDNN_SGD_NEW_W };
enum { PDNN_SGD_LR }; /* coefficient */

enum { PDNN_MOMENTUM_W, PDNN_MOMENTUM_G, PDNN_MOMENTUM_V };
enum { PDNN_MOMENTUM_NEW_W, PDNN_MOMENTUM_NEW_V };
enum { PDNN_MOMENTUM_LR, PDNN_MOMENTUM_MU }; /* coefficients */

enum { PDNN_RMSPROP_W, PDNN_RMSPROP_G, PDNN_RMSPROP_MS, PDNN_RMSPROP_MOM };
enum { PDNN_RMSPROP_NEW_W, PDNN_RMSPROP_NEW_MS, PDNN_RMSPROP_NEW_MOM };
enum { PDNN_RMSPROP_LR, PDNN_RMSPROP_DECAY, PDNN_RMSPROP_MU, PDNN_RMSPROP_EPSILON }; /* coefficients */

enum { PDNN_ADAM_W, PDNN_ADAM_G, PDNN_ADAM_M, PDNN_ADAM_V, PDNN_ADAM_POWER };
enum { PDNN_ADAM_NEW_W, PDNN_ADAM_NEW_M, PDNN_ADAM_NEW_V, PDNN_ADAM_NEW_POWER };
/* Coefficients, shared with adam_apply. */
enum { PDNN_ADAM_LR, PDNN_ADAM_BETA1, PDNN_ADAM_BETA2, PDNN_ADAM_EPSILON, PDNN_ADAM_DECAY };

/* A bucket is the gradients up to and with the one marked LAST (models/transform/distribute.h). */
enum { PDNN_ALLREDUCE_G };
enum { PDNN_ALLREDUCE_NEW_G };
enum { PDNN_ALLREDUCE_RANKS, PDNN_ALLREDUCE_PHASE }; /* attributes */
/* Coefficients: the mode, the bucket's number and, on its last gradient, its bytes; else 0. */
enum { PDNN_ALLREDUCE_MODE, PDNN_ALLREDUCE_AT, PDNN_ALLREDUCE_LAST };
enum { PDNN_ALLREDUCE_WHOLE, PDNN_ALLREDUCE_START, PDNN_ALLREDUCE_WAIT }; /* phases */

enum { PDNN_MOMENT_M, PDNN_MOMENT_G };
enum { PDNN_MOMENT_NEW_M };
enum { PDNN_MOMENT_SQUARE }; /* 1: moment of the squared gradient */
enum { PDNN_MOMENT_BETA };   /* coefficient */

enum { PDNN_ADAM_APPLY_W, PDNN_ADAM_APPLY_M, PDNN_ADAM_APPLY_V, PDNN_ADAM_APPLY_POWER };
enum { PDNN_ADAM_APPLY_NEW_W, PDNN_ADAM_APPLY_NEW_POWER };

enum { PDNN_NORM_X, PDNN_NORM_BEFORE }; /* BEFORE is optional */
enum { PDNN_NORM_Y };

enum {
    PDNN_LAMB_DIRECTION_W,
    PDNN_LAMB_DIRECTION_G,
    PDNN_LAMB_DIRECTION_M,
    PDNN_LAMB_DIRECTION_V,
    PDNN_LAMB_DIRECTION_POWER,
    PDNN_LAMB_DIRECTION_NORM,
};
enum {
    PDNN_LAMB_DIRECTION_U,
    PDNN_LAMB_DIRECTION_NEW_M,
    PDNN_LAMB_DIRECTION_NEW_V,
    PDNN_LAMB_DIRECTION_NEW_POWER
};
/* Coefficients. */
enum {
    PDNN_LAMB_DIRECTION_BETA1,
    PDNN_LAMB_DIRECTION_BETA2,
    PDNN_LAMB_DIRECTION_EPSILON,
    PDNN_LAMB_DIRECTION_DECAY,
    PDNN_LAMB_DIRECTION_LIMIT,
};

enum { PDNN_LAMB_APPLY_W, PDNN_LAMB_APPLY_U, PDNN_LAMB_APPLY_W_NORM, PDNN_LAMB_APPLY_U_NORM };
enum { PDNN_LAMB_APPLY_NEW_W };
enum { PDNN_LAMB_APPLY_LR }; /* coefficient */

#endif
