/* The element-wise part of one step of a recurrent cell, between the matrix products, in f32. Formulas:
 * models/ops/rnn.c. N sequences, H hidden units; (N, H) matrices are contiguous, others have a row
 * stride. Gates are side by side, H values each: lstm i f g o; gru u r o; lbr_gru u r o and the
 * candidate's recurrent product. */
#ifndef RUNTIME_KERNELS_SEQUENCE_RNN_CELL_H
#define RUNTIME_KERNELS_SEQUENCE_RNN_CELL_H

#include <stdint.h>

/* For gru, RESET runs before the candidate's product and RESET_BACKWARD after that product's backward. */
enum pdnn_rnn_cell {
    PDNN_RNN_TANH,
    PDNN_RNN_TANH_BACKWARD,
    PDNN_RNN_LSTM,
    PDNN_RNN_LSTM_BACKWARD,
    PDNN_RNN_GRU_RESET,
    PDNN_RNN_GRU,
    PDNN_RNN_GRU_BACKWARD,
    PDNN_RNN_GRU_RESET_BACKWARD,
    PDNN_RNN_LBR_GRU,
    PDNN_RNN_LBR_GRU_BACKWARD,
    PDNN_RNN_CELL_COUNT
};

struct pdnn_rnn_cell_job {
    enum pdnn_rnn_cell cell;
    int64_t N, H;
    /* Forward in: W x + U h', to which bias is added (H values per sum, side by side). Forward out: gate
     * values, which backward reads here. For tanh this is h itself. */
    float *gates;
    int64_t gates_stride;
    const float *bias;
    const float *h_before;
    float *h;              /* forward out */
    const float *c_before; /* lstm; c may be c_before */
    float *c;
    int64_t c_before_stride, c_stride;
    float *gated;    /* gru: r * h', output of reset and reset_backward */
    const float *dy; /* backward: added to dh */
    float *dsums;    /* backward out: gradients of the sums, laid out like the gates */
    int64_t dsums_stride;
    /* Backward in: gradients of h and c. Out: of h' without the part through U (tanh and lstm write none),
     * and of c'. */
    float *dh, *dc;
    const float *dgated; /* reset_backward: gradient from the candidate's product */
};

void pdnn_rnn_cell_run(const struct pdnn_rnn_cell_job *job, int64_t threads);

#endif
