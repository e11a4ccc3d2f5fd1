/* softmax_cross_entropy: with p = softmax(x) along C,
 *   loss = scale * mean_n(-log p[n][label[n]]);  dx = (p - onehot) / (N / scale).
 * N minibatch, C classes; scale is 1 except when the step is split into micro-steps. Labels are class ids. A
 * row with a negative label, as beyond the end of a sequence, is ignored: the mean is over the other rows,
 * and its dx is 0. Its FLOP count like any other row's: the work depends on shapes, not on data. */
#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/op.h"

#include <math.h>

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_SOFTMAX_CROSS_ENTROPY_X); /* (N, C) */
    /* (N), or (T, B) with N = T * B */
    const struct pdnn_tensor *label = pdnn_node_in(graph, node, PDNN_SOFTMAX_CROSS_ENTROPY_LABEL);
    if (node->n_inputs != 2 || x->rank != 2 || label->dtype != PDNN_S32 ||
        pdnn_tensor_elements(label) != x->dim[0])
        return pdnn_fail(err, PDNN_INVALID,
                         "softmax_cross_entropy: expected logits (N, C) and s32 labels (N) or (T, N / T)");
    /* f32 even in 16-bit models: a sum over the minibatch */
    outputs[PDNN_SOFTMAX_CROSS_ENTROPY_LOSS].dtype = PDNN_F32;
    outputs[PDNN_SOFTMAX_CROSS_ENTROPY_LOSS].rank = 1; /* loss (1) */
    outputs[PDNN_SOFTMAX_CROSS_ENTROPY_LOSS].dim[0] = 1;
    outputs[PDNN_SOFTMAX_CROSS_ENTROPY_P].rank = 2; /* p (N, C) */
    outputs[PDNN_SOFTMAX_CROSS_ENTROPY_P].dim[0] = x->dim[0];
    outputs[PDNN_SOFTMAX_CROSS_ENTROPY_P].dim[1] = x->dim[1];
    return PDNN_OK;
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    if (pdnn_backward_wants(backward, node->input[PDNN_SOFTMAX_CROSS_ENTROPY_X]))
        pdnn_backward_emit(
            backward, node, PDNN_BACKWARD_DATA, node->input[PDNN_SOFTMAX_CROSS_ENTROPY_X],
            (uint32_t[]){[PDNN_SOFTMAX_CROSS_ENTROPY_BACK_P] = node->output[PDNN_SOFTMAX_CROSS_ENTROPY_P],
                         [PDNN_SOFTMAX_CROSS_ENTROPY_BACK_LABEL] =
                             node->input[PDNN_SOFTMAX_CROSS_ENTROPY_LABEL],
                         PDNN_NONE});
}

/* Per row: C-1 comparisons for the maximum; C each of subtract, exp, add, divide; log, two subtractions and
 * the sum over rows. One division for the mean. */
static void forward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         struct pdnn_count *count) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_SOFTMAX_CROSS_ENTROPY_X);
    pdnn_count_add(count, x->dim[0], 5 * x->dim[1] + 3, 1);
    pdnn_count_add(count, 1, 1, 1);
}

/* Per row: one subtraction at the label, C divisions. */
static void backward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                          struct pdnn_count *count) {
    const struct pdnn_tensor *p = pdnn_node_in(graph, node, PDNN_SOFTMAX_CROSS_ENTROPY_BACK_P);
    pdnn_count_add(count, p->dim[0], p->dim[1] + 1, 1);
}

static double row_loss(struct pdnn_reference *r, const double *x, int64_t label, int64_t C, double *p) {
    double max = x[0], sum = 0;
    for (int64_t c = 1; c < C; c++) {
        max = x[c] > max ? x[c] : max;
        r->flop += 1;
    }
    for (int64_t c = 0; c < C; c++) {
        p[c] = exp(x[c] - max);
        sum += p[c];
        r->flop += 3;
    }
    double log_likelihood = x[label] - max - log(sum);
    r->flop += 3;
    for (int64_t c = 0; c < C; c++) {
        p[c] /= sum;
        r->flop += 1;
    }
    return log_likelihood;
}

/* Number of rows with a label, divided by the scale. A constant of the batch, so not counted as FLOP. */
static double count_labels(const struct pdnn_node *node, const double *label, int64_t N) {
    int64_t count = 0;
    for (int64_t n = 0; n < N; n++)
        count += label[n] >= 0;
    return (double)count / node->coef[PDNN_LOSS_SCALE];
}

static void forward(struct pdnn_reference *r) {
    const double *x = pdnn_ref_in(r, PDNN_SOFTMAX_CROSS_ENTROPY_X),
                 *label = pdnn_ref_in(r, PDNN_SOFTMAX_CROSS_ENTROPY_LABEL);
    double *loss = pdnn_ref_out(r, PDNN_SOFTMAX_CROSS_ENTROPY_LOSS),
           *p = pdnn_ref_out(r, PDNN_SOFTMAX_CROSS_ENTROPY_P);
    const struct pdnn_tensor *logits = pdnn_node_in(r->graph, r->node, PDNN_SOFTMAX_CROSS_ENTROPY_X);
    int64_t N = logits->dim[0], C = logits->dim[1];
    double total = 0;
    for (int64_t n = 0; n < N; n++) {
        bool ignored = label[n] < 0;
        double log_likelihood = row_loss(r, x + n * C, ignored ? 0 : (int64_t)label[n], C, p + n * C);
        total -= ignored ? 0 : log_likelihood;
        r->flop += 1;
    }
    *loss = total / count_labels(r->node, label, N);
    r->flop += 1;
}

static void backward_data(struct pdnn_reference *r) {
    const double *p = pdnn_ref_in(r, PDNN_SOFTMAX_CROSS_ENTROPY_BACK_P),
                 *label = pdnn_ref_in(r, PDNN_SOFTMAX_CROSS_ENTROPY_BACK_LABEL);
    double *dx = pdnn_ref_out(r, PDNN_SOFTMAX_CROSS_ENTROPY_BACK_DX);
    const struct pdnn_tensor *rows = pdnn_node_in(r->graph, r->node, PDNN_SOFTMAX_CROSS_ENTROPY_BACK_P);
    int64_t N = rows->dim[0], C = rows->dim[1];
    double n_labels = count_labels(r->node, label, N);
    for (int64_t n = 0; n < N; n++) {
        bool ignored = label[n] < 0;
        for (int64_t c = 0; c < C; c++)
            dx[n * C + c] = p[n * C + c];
        dx[n * C + (ignored ? 0 : (int64_t)label[n])] -= 1;
        r->flop += 1;
        for (int64_t c = 0; c < C; c++) {
            dx[n * C + c] = ignored ? 0 : dx[n * C + c] / n_labels;
            r->flop += 1;
        }
    }
}

const struct pdnn_op_def pdnn_op_softmax_cross_entropy = {
    .name = "softmax_cross_entropy",
    .formula = "loss = mean(-log softmax(x)[label]) over the rows with a label",
    .operands = {{"x", PDNN_OPERAND_DATA}, {"label", PDNN_OPERAND_LABEL}},
    PDNN_LOSS,
    .outputs = {"loss", "p"},
    .infer = infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = {.flop = forward_flop, .reference = forward},
             [PDNN_BACKWARD_DATA] = {.flop = backward_flop, .reference = backward_data, .in_place = 1}},
    .summed = PDNN_SUMMED_ROW,
};
