/* ctc_loss: connectionist temporal classification (Graves, Fernandez, Gomez, Schmidhuber, 2006). T steps, N
 * sequences, C classes, up to L labels, S = 2L + 1 states. Logits (T*N, C) hold step t of sequence n in row
 * t*N + n; class 0 is the blank. Labels (L, N): label l of a sequence is class l + 1, and the first negative
 * one ends the sequence. The states of a sequence are its labels with a blank before, between and after them.
 * A path starts in one of the first two states and ends in one of the last two. Each step stays, moves to the
 * next state, or skips a blank between two different labels.
 *   loss = scale * mean_n(-log of the summed probability of all paths),
 * infinite if the labels need more than T steps.
 *
 * One recursion forward and one backward in time give loss and gradient together. With alpha and beta the log
 * probabilities of reaching a state and of finishing from it,
 *   dlogits = (p - sum of exp(alpha + beta - log likelihood) over the states of the class) / (N / scale).
 * scale is 1 except when the step is split into micro-steps. As in the usual libraries, the gradient is a
 * second output of forward, and there is no other pass. States after a sequence's last label are computed
 * like the rest and have no effect: the work depends on shapes, not on data. */
#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/op.h"

#include <math.h>

struct geometry {
    int64_t T, N, C, L, S;
};

static struct geometry geometry_of(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_CTC_LOSS_LOGITS);
    const struct pdnn_tensor *label = pdnn_node_in(graph, node, PDNN_CTC_LOSS_LABELS);
    int64_t L = label->dim[0], N = label->dim[1];
    return (struct geometry){x->dim[0] / N, N, x->dim[1], L, 2 * L + 1};
}

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_CTC_LOSS_LOGITS);     /* (T*N, C) */
    const struct pdnn_tensor *label = pdnn_node_in(graph, node, PDNN_CTC_LOSS_LABELS); /* (L, N) */
    if (node->n_inputs != 2 || x->rank != 2 || x->dim[1] < 2 || label->rank != 2 ||
        label->dtype != PDNN_S32 || x->dim[0] % label->dim[1] != 0)
        return pdnn_fail(err, PDNN_INVALID, "ctc_loss: expected logits (T*N, C) and s32 labels (L, N)");
    outputs[PDNN_CTC_LOSS_LOSS].dtype = PDNN_F32; /* even in 16-bit models: a sum over the minibatch */
    outputs[PDNN_CTC_LOSS_LOSS].rank = 1;
    outputs[PDNN_CTC_LOSS_LOSS].dim[0] = 1;
    outputs[PDNN_CTC_LOSS_DLOGITS].role = PDNN_ROLE_GRADIENT;
    outputs[PDNN_CTC_LOSS_DLOGITS].of = node->input[PDNN_CTC_LOSS_LOGITS];
    outputs[PDNN_CTC_LOSS_DLOGITS].rank = 2;
    outputs[PDNN_CTC_LOSS_DLOGITS].dim[0] = x->dim[0];
    outputs[PDNN_CTC_LOSS_DLOGITS].dim[1] = x->dim[1];
    return PDNN_OK;
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    if (pdnn_backward_wants(backward, node->input[PDNN_CTC_LOSS_LOGITS]))
        pdnn_backward_pass_on(backward, node->input[PDNN_CTC_LOSS_LOGITS],
                              node->output[PDNN_CTC_LOSS_DLOGITS]);
}

/* log(exp a + exp b + exp c): 2 comparisons, 3 each of subtract and exp, 2 additions, log, addition. */
enum { LOG_SUM_FLOP = 12 };

/* Per row: C-1 comparisons, C each of subtract, exp, add; log, addition, C subtractions; per class exp,
 * subtract and divide for the gradient. Per state: a log sum and an addition, both forward and backward in
 * time, except at one step each; 4 for its part of the gradient. Per sequence: a log sum for the likelihood,
 * a subtraction. Once: a division. */
static void flop(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *count) {
    struct geometry g = geometry_of(graph, node);
    pdnn_count_add(count, g.T * g.N, 8 * g.C + 1, 1);
    pdnn_count_add(count, (g.T - 1) * g.N, g.S, 2 * (LOG_SUM_FLOP + 1));
    pdnn_count_add(count, g.T * g.N, g.S, 4);
    pdnn_count_add(count, g.N, LOG_SUM_FLOP + 1, 1);
    pdnn_count_add(count, 1, 1, 1);
}

static int64_t scratch(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    struct geometry g = geometry_of(graph, node);
    return (g.T + 2) * g.S + g.C;
}

/* One sequence. Its rows of dlogits hold log p until the gradient overwrites them. */
struct sequence {
    struct pdnn_reference *r;
    struct geometry g;
    int64_t n, length;
    const double *label;                  /* (L, N) */
    double *alpha, *beta, *next, *states; /* (T, S), (S), (S) of the next step including its log p, (C) */
};

static double log_sum(struct sequence *q, double a, double b, double c) {
    double max = fmax(fmax(a, b), c);
    q->r->flop += LOG_SUM_FLOP;
    return isinf(max) ? max : max + log(exp(a - max) + exp(b - max) + exp(c - max));
}

static double *row_of(const struct sequence *q, int64_t t) {
    return pdnn_ref_out(q->r, PDNN_CTC_LOSS_DLOGITS) + (t * q->g.N + q->n) * q->g.C;
}

static double label_at(const struct sequence *q, int64_t l) {
    return q->label[l * q->g.N + q->n];
}

static int64_t class_of(const struct sequence *q, int64_t s) {
    double label = s % 2 ? label_at(q, s / 2) : -1;
    return label < 0 ? 0 : (int64_t)label + 1;
}

/* Whether a path may enter state s by skipping the blank before it. */
static bool skips(const struct sequence *q, int64_t s) {
    return s % 2 && s > 1 && s < q->g.S && label_at(q, s / 2) != label_at(q, s / 2 - 1);
}

static void log_softmax(struct sequence *q, int64_t t) {
    const double *x = pdnn_ref_in(q->r, PDNN_CTC_LOSS_LOGITS) + (t * q->g.N + q->n) * q->g.C;
    double *y = row_of(q, t), max = x[0], sum = 0;
    for (int64_t c = 1; c < q->g.C; c++) {
        max = fmax(max, x[c]);
        q->r->flop += 1;
    }
    for (int64_t c = 0; c < q->g.C; c++) {
        sum += exp(x[c] - max);
        q->r->flop += 3;
    }
    double all = max + log(sum);
    q->r->flop += 2;
    for (int64_t c = 0; c < q->g.C; c++) {
        y[c] = x[c] - all;
        q->r->flop += 1;
    }
}

static void go_forward(struct sequence *q) {
    int64_t S = q->g.S;
    for (int64_t s = 0; s < S; s++)
        q->alpha[s] = s < 2 ? row_of(q, 0)[class_of(q, s)] : -INFINITY;
    for (int64_t t = 1; t < q->g.T; t++) {
        const double *before = q->alpha + (t - 1) * S;
        for (int64_t s = 0; s < S; s++) {
            double reached = log_sum(q, before[s], s > 0 ? before[s - 1] : -INFINITY,
                                     skips(q, s) ? before[s - 2] : -INFINITY);
            q->alpha[t * S + s] = reached + row_of(q, t)[class_of(q, s)];
            q->r->flop += 1;
        }
    }
}

/* Summed over all paths that end in a final state. */
static double log_likelihood(struct sequence *q) {
    const double *last = q->alpha + (q->g.T - 1) * q->g.S;
    int64_t end = 2 * q->length;
    return log_sum(q, last[end], end > 0 ? last[end - 1] : -INFINITY, -INFINITY);
}

static void step_back(struct sequence *q, int64_t t) {
    int64_t S = q->g.S, end = 2 * q->length;
    for (int64_t s = 0; s < S; s++) {
        if (t == q->g.T - 1)
            q->beta[s] = s == end || s == end - 1 ? 0 : -INFINITY;
        else
            q->beta[s] = log_sum(q, q->next[s], s + 1 < S ? q->next[s + 1] : -INFINITY,
                                 skips(q, s + 2) ? q->next[s + 2] : -INFINITY);
    }
    for (int64_t s = 0; t > 0 && s < S; s++) {
        q->next[s] = q->beta[s] + row_of(q, t)[class_of(q, s)];
        q->r->flop += 1;
    }
}

/* N / scale, a constant. */
static double scaled_batch(const struct pdnn_reference *r) {
    return (double)pdnn_node_in(r->graph, r->node, PDNN_CTC_LOSS_LABELS)->dim[1] /
           r->node->coef[PDNN_LOSS_SCALE];
}

/* Overwrites log p with the gradient. */
static void put_gradient(struct sequence *q, int64_t t, double likelihood) {
    double *row = row_of(q, t);
    for (int64_t c = 0; c < q->g.C; c++)
        q->states[c] = 0;
    for (int64_t s = 0; s < q->g.S; s++) {
        q->states[class_of(q, s)] += exp(q->alpha[t * q->g.S + s] + q->beta[s] - likelihood);
        q->r->flop += 4;
    }
    for (int64_t c = 0; c < q->g.C; c++) {
        row[c] = (exp(row[c]) - q->states[c]) / scaled_batch(q->r);
        q->r->flop += 3;
    }
}

static double run_sequence(struct sequence *q) {
    q->length = 0;
    while (q->length < q->g.L && label_at(q, q->length) >= 0)
        q->length++;
    for (int64_t t = 0; t < q->g.T; t++)
        log_softmax(q, t);
    go_forward(q);
    double likelihood = log_likelihood(q);
    for (int64_t t = q->g.T; t-- > 0;) {
        step_back(q, t);
        put_gradient(q, t, likelihood);
    }
    return likelihood;
}

static void forward(struct pdnn_reference *r) {
    struct sequence q = {
        .r = r, .g = geometry_of(r->graph, r->node), .label = pdnn_ref_in(r, PDNN_CTC_LOSS_LABELS)};
    double total = 0;
    q.alpha = r->scratch;
    q.beta = q.alpha + q.g.T * q.g.S;
    q.next = q.beta + q.g.S;
    q.states = q.next + q.g.S;
    for (q.n = 0; q.n < q.g.N; q.n++) {
        total -= run_sequence(&q);
        r->flop += 1;
    }
    *pdnn_ref_out(r, PDNN_CTC_LOSS_LOSS) = total / scaled_batch(r);
    r->flop += 1;
}

const struct pdnn_op_def pdnn_op_ctc_loss = {
    .name = "ctc_loss",
    .formula = "loss = mean(-log of the sum over all paths of prod_t softmax(x[t])[path[t]])",
    .operands = {{"logits", PDNN_OPERAND_DATA}, {"labels", PDNN_OPERAND_LABEL}},
    PDNN_LOSS,
    .outputs = {"loss", "dlogits"},
    .infer = infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = {.flop = flop, .reference = forward, .scratch = scratch}},
};
