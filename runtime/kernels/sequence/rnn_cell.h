/* What recurrent cells do at one step between the matrix products, in f32; models/ops/rnn.c has the formulas.
 * N sequences, H hidden units; matrices (N, H) are contiguous, others have a stride between their rows. A
 * vector of H values per gate lies beside the next one: lstm i f g o, gru u r o, lbr_gru u r o and the
 * candidate's recurrent product. */
#ifndef RUNTIME_KERNELS_SEQUENCE_RNN_CELL_H
#define RUNTIME_KERNELS_SEQUENCE_RNN_CELL_H

#include <stdint.h>

/* gru's reset comes before the candidate's product, and its reset_backward after that product's backward. */
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
    /* Forward: W x + U h', to which bias is added (a vector per sum, beside each other); out: the gates'
     * values, what backward reads here. tanh's gates are h itself. */
    float *gates;
    int64_t gates_stride;
    const float *bias;
    const float *h_before;
    float *h;              /* forward out */
    const float *c_before; /* lstm; c may be c_before */
    float *c;
    int64_t c_before_stride, c_stride;
    float *gated;    /* gru: r * h', out of reset and reset_backward */
    const float *dy; /* backward: added to dh */
    float *dsums;    /* backward out: gradients of the sums, as the gates lie */
    int64_t dsums_stride;
    float *dh, *dc; /* backward: gradients of h and c; out: of h' (but of tanh and lstm), without U's part,
                     * and of c' */
    const float *dgated; /* reset_backward: what the candidate's product gives */
};

void pdnn_rnn_cell_run(const struct pdnn_rnn_cell_job *job, int64_t threads);

#endif
