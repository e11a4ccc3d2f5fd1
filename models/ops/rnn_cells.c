#include "models/ops/rnn_cells.h"

#include <math.h>

enum { LSTM_I, LSTM_F, LSTM_G, LSTM_O, LSTM_C }; /* indices of sums and of saved values, new c included */
enum { GRU_U, GRU_R, GRU_O, GRU_O_ITER };        /* the same; the last one only for lbr_gru */

/* negate, exp, add, divide */
enum { SIGMOID_FLOP = 4 };

static double sigmoid(struct pdnn_cell_unit *unit, double x) {
    unit->flop += SIGMOID_FLOP;
    return 1 / (1 + exp(-x));
}

static double hyperbolic(struct pdnn_cell_unit *unit, double x) {
    unit->flop += 1;
    return tanh(x);
}

static double sigmoid_backward(struct pdnn_cell_unit *unit, double dy, double y) {
    unit->flop += 3;
    return dy * y * (1 - y);
}

static double tanh_backward(struct pdnn_cell_unit *unit, double dy, double y) {
    unit->flop += 3;
    return dy * (1 - y * y);
}

static void rnn_forward(struct pdnn_cell_unit *unit) {
    unit->h = hyperbolic(unit, unit->sum[0]);
}

static void rnn_backward(struct pdnn_cell_unit *unit) {
    unit->sum[0] = tanh_backward(unit, unit->dh, unit->h);
    unit->dh = 0;
}

static void lstm_forward(struct pdnn_cell_unit *unit) {
    double *saved = unit->saved;
    saved[LSTM_I] = sigmoid(unit, unit->sum[LSTM_I]);
    saved[LSTM_F] = sigmoid(unit, unit->sum[LSTM_F]);
    saved[LSTM_G] = hyperbolic(unit, unit->sum[LSTM_G]);
    saved[LSTM_O] = sigmoid(unit, unit->sum[LSTM_O]);
    unit->c = saved[LSTM_C] = saved[LSTM_F] * unit->c_before + saved[LSTM_I] * saved[LSTM_G];
    unit->h = saved[LSTM_O] * hyperbolic(unit, unit->c);
    unit->flop += 4;
}

static void lstm_backward(struct pdnn_cell_unit *unit) {
    const double *saved = unit->saved;
    double tanh_c = hyperbolic(unit, saved[LSTM_C]);
    double dc = unit->dc + unit->dh * saved[LSTM_O] * (1 - tanh_c * tanh_c);
    unit->flop += 5;
    unit->sum[LSTM_I] = sigmoid_backward(unit, dc * saved[LSTM_G], saved[LSTM_I]);
    unit->sum[LSTM_F] = sigmoid_backward(unit, dc * unit->c_before, saved[LSTM_F]);
    unit->sum[LSTM_G] = tanh_backward(unit, dc * saved[LSTM_I], saved[LSTM_G]);
    unit->sum[LSTM_O] = sigmoid_backward(unit, unit->dh * tanh_c, saved[LSTM_O]);
    unit->flop += 4;
    unit->dc = dc * saved[LSTM_F];
    unit->flop += 1;
    unit->dh = 0;
}

/* h = u*h_before + (1 - u)*o, for gru and lbr_gru. */
static void mix(struct pdnn_cell_unit *unit) {
    double u = unit->saved[GRU_U], o = unit->saved[GRU_O];
    unit->h = u * unit->h_before + (1 - u) * o;
    unit->flop += 4;
}

/* Gradients of the sums of u and o, and the part of h_before's gradient that bypasses the gates. */
static void mix_backward(struct pdnn_cell_unit *unit) {
    double u = unit->saved[GRU_U], o = unit->saved[GRU_O], dh = unit->dh;
    unit->sum[GRU_U] = sigmoid_backward(unit, dh * (unit->h_before - o), u);
    unit->sum[GRU_O] = tanh_backward(unit, dh * (1 - u), o);
    unit->dh = dh * u;
    unit->flop += 5;
}

static void gru_reset(struct pdnn_cell_unit *unit) {
    unit->sum[GRU_R] = sigmoid(unit, unit->sum[GRU_R]);
    unit->gated = unit->sum[GRU_R] * unit->h_before;
    unit->flop += 1;
}

static void gru_forward(struct pdnn_cell_unit *unit) {
    unit->saved[GRU_U] = sigmoid(unit, unit->sum[GRU_U]);
    unit->saved[GRU_R] = unit->sum[GRU_R];
    unit->saved[GRU_O] = hyperbolic(unit, unit->sum[GRU_O]);
    mix(unit);
}

static void gru_reset_backward(struct pdnn_cell_unit *unit) {
    double r = unit->saved[GRU_R];
    unit->sum[GRU_R] = sigmoid_backward(unit, unit->dgated * unit->h_before, r);
    unit->dh += unit->dgated * r;
    unit->gated = r * unit->h_before;
    unit->flop += 4;
}

static void lbr_gru_forward(struct pdnn_cell_unit *unit) {
    unit->saved[GRU_U] = sigmoid(unit, unit->sum[GRU_U]);
    unit->saved[GRU_R] = sigmoid(unit, unit->sum[GRU_R]);
    unit->saved[GRU_O_ITER] = unit->sum[GRU_O_ITER];
    unit->saved[GRU_O] = hyperbolic(unit, unit->sum[GRU_O] + unit->saved[GRU_R] * unit->sum[GRU_O_ITER]);
    unit->flop += 2;
    mix(unit);
}

static void lbr_gru_backward(struct pdnn_cell_unit *unit) {
    double r = unit->saved[GRU_R];
    mix_backward(unit);
    unit->sum[GRU_R] = sigmoid_backward(unit, unit->sum[GRU_O] * unit->saved[GRU_O_ITER], r);
    unit->sum[GRU_O_ITER] = unit->sum[GRU_O] * r;
    unit->flop += 2;
}

const struct pdnn_cell_math pdnn_cell_math[PDNN_CELL_COUNT] = {
    [PDNN_CELL_RNN] = {.forward = rnn_forward,
                       .backward = rnn_backward,
                       .forward_flop = 1,
                       .backward_flop = 3},
    [PDNN_CELL_LSTM] = {.forward = lstm_forward,
                        .backward = lstm_backward,
                        .forward_flop = 3 * SIGMOID_FLOP + 2 + 4,
                        .backward_flop = 1 + 5 + 4 + 4 * 3 + 1},
    [PDNN_CELL_GRU] = {.reset = gru_reset,
                       .forward = gru_forward,
                       .backward = mix_backward,
                       .reset_backward = gru_reset_backward,
                       .forward_flop = 2 * SIGMOID_FLOP + 1 + 1 + 4,
                       .backward_flop = 5 + 2 * 3 + 4 + 3},
    [PDNN_CELL_LBR_GRU] = {.forward = lbr_gru_forward,
                           .backward = lbr_gru_backward,
                           .forward_flop = 2 * SIGMOID_FLOP + 1 + 2 + 4,
                           .backward_flop = 5 + 2 * 3 + 3 + 2},
};
