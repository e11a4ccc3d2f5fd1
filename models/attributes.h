/* Names for the operands, attributes and coefficients of every op: indices into input, output, attr and coef
 * of struct pdnn_node, used by the op itself, its steps, families and backends. Per op come the inputs and
 * outputs of the forward (or update) pass, then those of the backward passes, with BACK in their names (DATA
 * and WEIGHTS where the two differ), then attributes and coefficients. Shapes and formulas are in
 * models/ops/<op>.c, the printed names in the op's attr_names and coef_names. Optional operands come last and
 * say so. Updates work in place: their outputs are among their inputs. */
#ifndef MODELS_ATTRIBUTES_H
#define MODELS_ATTRIBUTES_H

/* Activations: relu, sigmoid, tanh, gelu, gelu_tanh, silu, hardtanh. */
enum { PDNN_ACTIVATION_X };
enum { PDNN_ACTIVATION_Y };
enum { PDNN_ACTIVATION_BACK_DY, PDNN_ACTIVATION_BACK_SAVED }; /* saved: y, or x if saves_x */
enum { PDNN_ACTIVATION_BACK_DX };
enum { PDNN_HARDTANH_LOW, PDNN_HARDTANH_HIGH }; /* coefficients */

enum { PDNN_ADD_A, PDNN_ADD_B };
enum { PDNN_ADD_Y };

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

enum { PDNN_CONV2D_X, PDNN_CONV2D_W }; /* int8: two more, the scales */
enum { PDNN_CONV2D_Y };
enum { PDNN_CONV2D_DATA_DY, PDNN_CONV2D_DATA_W };
enum { PDNN_CONV2D_DATA_DX };
enum { PDNN_CONV2D_WEIGHTS_X, PDNN_CONV2D_WEIGHTS_DY };
enum { PDNN_CONV2D_WEIGHTS_DW };
enum {
    PDNN_CONV2D_STRIDE_H,
    PDNN_CONV2D_STRIDE_W,
    PDNN_CONV2D_PADDING_H, /* zeros on each side */
    PDNN_CONV2D_PADDING_W,
};

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
    PDNN_POOL2D_TRAIN, /* 1: max-pooling also returns the index */
};
enum pdnn_pool2d_kind { PDNN_POOL2D_MAX, PDNN_POOL2D_AVERAGE };
enum { PDNN_POOL2D_TAPS_MAX = 127 }; /* max-pooling in training: the index of a tap is an int8 */

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
};
enum { PDNN_BATCHNORM_BACK_DX, PDNN_BATCHNORM_BACK_DGAMMA, PDNN_BATCHNORM_BACK_DBETA };
/* 1: use minibatch statistics and update the running ones; 0: use the running ones. */
enum { PDNN_BATCHNORM_TRAIN };
enum { PDNN_BATCHNORM_EPSILON, PDNN_BATCHNORM_MOMENTUM }; /* coefficients */

enum { PDNN_LAYERNORM_X, PDNN_LAYERNORM_GAMMA, PDNN_LAYERNORM_BETA, PDNN_LAYERNORM_INPUTS };
enum { PDNN_LAYERNORM_Y, PDNN_LAYERNORM_MEAN, PDNN_LAYERNORM_INVERSE_STD }; /* the last two in training */
enum {
    PDNN_LAYERNORM_BACK_DY,
    PDNN_LAYERNORM_BACK_X,
    PDNN_LAYERNORM_BACK_GAMMA,
    PDNN_LAYERNORM_BACK_MEAN,
    PDNN_LAYERNORM_BACK_INVERSE_STD,
};
enum { PDNN_LAYERNORM_BACK_DX, PDNN_LAYERNORM_BACK_DGAMMA, PDNN_LAYERNORM_BACK_DBETA };
enum { PDNN_LAYERNORM_TRAIN };   /* 1: keeps the rows' statistics for backward */
enum { PDNN_LAYERNORM_EPSILON }; /* coefficient */

enum { PDNN_RMSNORM_X, PDNN_RMSNORM_GAMMA, PDNN_RMSNORM_INPUTS };
enum { PDNN_RMSNORM_Y, PDNN_RMSNORM_INVERSE_RMS }; /* the second in training */
enum {
    PDNN_RMSNORM_BACK_DY,
    PDNN_RMSNORM_BACK_X,
    PDNN_RMSNORM_BACK_GAMMA,
    PDNN_RMSNORM_BACK_INVERSE_RMS,
};
enum { PDNN_RMSNORM_BACK_DX, PDNN_RMSNORM_BACK_DGAMMA };
enum { PDNN_RMSNORM_TRAIN };   /* 1: keeps inverse_rms for backward */
enum { PDNN_RMSNORM_EPSILON }; /* coefficient */

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
};

/* If values are dropped, the counter is forward's last input, after the optional bias. */
enum { PDNN_ATTENTION_SOFTMAX_X, PDNN_ATTENTION_SOFTMAX_BIAS };
enum { PDNN_ATTENTION_SOFTMAX_Y, PDNN_ATTENTION_SOFTMAX_P, PDNN_ATTENTION_SOFTMAX_NEW_COUNTER };
enum { PDNN_ATTENTION_SOFTMAX_BACK_DY, PDNN_ATTENTION_SOFTMAX_BACK_P, PDNN_ATTENTION_SOFTMAX_BACK_COUNTER };
enum { PDNN_ATTENTION_SOFTMAX_BACK_DX };
enum {
    PDNN_ATTENTION_SOFTMAX_SEQUENCES,
    PDNN_ATTENTION_SOFTMAX_CAUSAL,
    PDNN_ATTENTION_SOFTMAX_HAS_BIAS,
    PDNN_ATTENTION_SOFTMAX_PERCENT, /* share of values that becomes 0 in training */
    PDNN_ATTENTION_SOFTMAX_TRAIN,
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

/* x is the table, or the activation whose rows are gathered. */
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

enum { PDNN_SLICE_X }; /* backward: dy */
enum { PDNN_SLICE_Y }; /* backward: dx */
enum { PDNN_SLICE_FIRST, PDNN_SLICE_ROWS };

/* Any number of inputs; each gets its columns of dy. */
enum { PDNN_CONCAT_Y };
enum { PDNN_CONCAT_BACK_DY };

enum { PDNN_SEQUENCE_X }; /* images; backward: dy */
enum { PDNN_SEQUENCE_Y }; /* backward: dx, images */

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

enum { PDNN_LOSS_SCALE }; /* coefficient of every loss */

enum { PDNN_SOFTMAX_CROSS_ENTROPY_X, PDNN_SOFTMAX_CROSS_ENTROPY_LABEL };
enum { PDNN_SOFTMAX_CROSS_ENTROPY_LOSS, PDNN_SOFTMAX_CROSS_ENTROPY_P };
enum { PDNN_SOFTMAX_CROSS_ENTROPY_BACK_P, PDNN_SOFTMAX_CROSS_ENTROPY_BACK_LABEL };
enum { PDNN_SOFTMAX_CROSS_ENTROPY_BACK_DX };

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
