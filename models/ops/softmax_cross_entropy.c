/* softmax_cross_entropy: p = softmax(x) along C; loss = scale * mean_n(-log p[n][label[n]]); dx = (p -
 * onehot) / (N / scale). N minibatch, C classes; scale 1 but for a part of a step. Labels are class ids. A
 * row whose label is negative, as beyond the end of a sequence, is ignored: the mean is over the others, and
 * its dx is 0. It counts like any other row, since shapes decide what runs, not data. */
#include "models/backward.h"
#include "models/op.h"

#include <math.h>

enum { SCALE }; /* coefficient */

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, 0);     /* (N, C) */
    const struct pdnn_tensor *label = pdnn_node_in(graph, node, 1); /* (N), or (T, B) with N = T * B */
    if (node->n_inputs != 2 || x->rank != 2 || label->dtype != PDNN_S32 ||
        pdnn_tensor_elements(label) != x->dim[0])
        return pdnn_fail(err, PDNN_INVALID,
                         "softmax_cross_entropy: expected logits (N, C) and s32 labels (N) or (T, N / T)");
    outputs[0].dtype = PDNN_F32; /* whatever the model's: a sum over the minibatch */
    outputs[0].rank = 1;         /* loss (1) */
    outputs[0].dim[0] = 1;
    outputs[1].rank = 2; /* p (N, C) */
    outputs[1].dim[0] = x->dim[0];
    outputs[1].dim[1] = x->dim[1];
    return PDNN_OK;
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    if (pdnn_backward_wants(backward, node->input[0]))
        pdnn_backward_emit(backward, node, PDNN_BACKWARD_DATA, node->input[0],
                           (uint32_t[]){node->output[1], node->input[1], PDNN_NONE});
}

/* Per row: C-1 comparisons for the maximum; C each of subtract, exp, add, divide; log, two subtractions and
 * the sum over rows. One division for the mean. */
static void forward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         struct pdnn_count *count) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, 0);
    pdnn_count_add(count, x->dim[0], 5 * x->dim[1] + 3, 1);
    pdnn_count_add(count, 1, 1, 1);
}

/* Per row: one subtraction at the label, C divisions. */
static void backward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                          struct pdnn_count *count) {
    const struct pdnn_tensor *p = pdnn_node_in(graph, node, 0);
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

/* How many rows have one, over the scale: known without the data that are worth counting operations on. */
static double count_labels(const struct pdnn_node *node, const double *label, int64_t N) {
    int64_t count = 0;
    for (int64_t n = 0; n < N; n++)
        count += label[n] >= 0;
    return (double)count / node->coef[SCALE];
}

static void forward(struct pdnn_reference *r) {
    const double *x = pdnn_ref_in(r, 0), *label = pdnn_ref_in(r, 1);
    double *loss = pdnn_ref_out(r, 0), *p = pdnn_ref_out(r, 1);
    int64_t N = pdnn_node_in(r->graph, r->node, 0)->dim[0], C = pdnn_node_in(r->graph, r->node, 0)->dim[1];
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
    const double *p = pdnn_ref_in(r, 0), *label = pdnn_ref_in(r, 1);
    double *dx = pdnn_ref_out(r, 0);
    int64_t N = pdnn_node_in(r->graph, r->node, 0)->dim[0], C = pdnn_node_in(r->graph, r->node, 0)->dim[1];
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
    .category = "loss",
    .formula = "loss = mean(-log softmax(x)[label]) over the rows with a label",
    .coef_names = (const char *const[]){"scale", NULL},
    .coef = {[SCALE] = 1},
    .is_loss = true,
    .n_outputs = 2,
    .infer = infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = {.flop = forward_flop, .reference = forward},
             [PDNN_BACKWARD_DATA] = {.flop = backward_flop, .reference = backward_data, .in_place = 1}},
    .tolerance = 2e-6,
};
