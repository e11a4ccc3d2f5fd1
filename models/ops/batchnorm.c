/* batchnorm (Ioffe and Szegedy, 2015), per channel over N*L = M values:
 *   y = gamma*xhat + beta with xhat = (x - mean)*inverse_std and inverse_std = 1/sqrt(variance + epsilon).
 * N minibatch, C channels, L pixels (1 for a matrix (N, C)). Inference uses the running mean and variance.
 * Training uses those of the minibatch and updates the running ones if they are among the outputs:
 *   running = (1 - momentum)*running + momentum*batch,
 * where the batch variance has denominator M - 1 (1 if M = 1). Backward:
 *   dgamma = sum dy*xhat, dbeta = sum dy, dx = gamma*inverse_std*(dy - dbeta/M - xhat*dgamma/M)
 * in one node, because all three come from one read of dy and x if they fit into a cache. Frozen, it always
 * uses the running statistics, and gamma and beta are state: dx = gamma*inverse_std*dy. Without gamma and
 * beta, these are 1 and 0. */
#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/op.h"
#include "models/onnx/nodes.h"

#include <math.h>
#include <string.h>

struct geometry {
    int64_t N, C, L;
};

static bool is_affine(const struct pdnn_node *node) {
    return node->n_inputs == PDNN_BATCHNORM_INPUTS;
}

/* Input `k`, which moves up by two without gamma and beta. */
static int input_of(const struct pdnn_node *node, int k) {
    return k - PDNN_BATCHNORM_INPUTS + node->n_inputs;
}

static struct geometry geometry_of(const struct pdnn_tensor *x) {
    int64_t pixels = pdnn_tensor_elements(x) / (x->dim[0] * x->dim[1]);
    return (struct geometry){x->dim[0], x->dim[1], pixels};
}

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_BATCHNORM_X); /* (N, C, H, W) or (N, C) */
    bool fits =
        (is_affine(node) || node->n_inputs == PDNN_BATCHNORM_INPUTS - 2) && (x->rank == 4 || x->rank == 2);
    for (int k = PDNN_BATCHNORM_X + 1; fits && k < node->n_inputs; k++) {
        const struct pdnn_tensor *c = pdnn_node_in(graph, node, k); /* (C) */
        fits = c->rank == 1 && c->dim[0] == x->dim[1];
    }
    if (!fits)
        return pdnn_fail(err, PDNN_INVALID,
                         "batchnorm: expected input (N, C, ...) and gamma, beta, mean and variance (C)");
    outputs[PDNN_BATCHNORM_Y].rank = x->rank;
    memcpy(outputs[PDNN_BATCHNORM_Y].dim, x->dim, sizeof x->dim);
    for (int k = PDNN_BATCHNORM_BATCH_MEAN;
         node->attr[PDNN_BATCHNORM_TRAIN] && k <= PDNN_BATCHNORM_NEW_VARIANCE; k++) {
        outputs[k].dtype = PDNN_F32; /* even in 16-bit models: sums over the minibatch */
        outputs[k].rank = 1;
        outputs[k].dim[0] = x->dim[1];
    }
    return PDNN_OK;
}

/* Constants take no gradient. */
static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    const struct pdnn_graph *graph = pdnn_backward_graph(backward);
    const bool affine = is_affine(node), train = node->attr[PDNN_BATCHNORM_TRAIN];
    const uint32_t x = node->input[PDNN_BATCHNORM_X],
                   gamma = affine ? node->input[PDNN_BATCHNORM_GAMMA] : PDNN_NONE;
    uint32_t inputs[PDNN_BATCHNORM_BACK_INPUTS + 1], targets[] = {x, PDNN_NONE, PDNN_NONE, PDNN_NONE};
    int n = 0;
    if (!train && affine && graph->tensors[gamma].role == PDNN_ROLE_WEIGHT) {
        pdnn_backward_refuse(backward, "batchnorm: no gradient with running statistics");
        return;
    }
    inputs[n++] = pdnn_backward_of(backward, node->output[PDNN_BATCHNORM_Y]);
    if (train)
        inputs[n++] = x;
    if (affine)
        inputs[n++] = gamma;
    if (train) {
        inputs[n++] = node->output[PDNN_BATCHNORM_BATCH_MEAN];
        inputs[n++] = node->output[PDNN_BATCHNORM_INVERSE_STD];
    } else {
        inputs[n++] = node->input[input_of(node, PDNN_BATCHNORM_VARIANCE)];
    }
    inputs[n] = PDNN_NONE;
    if (train && affine)
        memcpy(targets, node->input, 3 * sizeof *targets);
    if (train || pdnn_backward_wants(backward, x))
        pdnn_backward_emit_all(backward, node, PDNN_BACKWARD_DATA, targets, inputs);
}

/* Per value: 1 for the mean, 3 for the variance, 2 to scale and shift (inference: only these 2). Per channel:
 * 3 for inverse_std, 3 for scale and shift (without gamma and beta, 1); in training 2 for mean and variance
 * and, if the running statistics are updated, 1 for the other denominator and 6 for the update. */
enum {
    SCALE_FLOP = 2,
    STATISTICS_FLOP = 4,
    INVERSE_STD_FLOP = 3,
    SHIFT_FLOP = 3,
    PLAIN_SHIFT_FLOP = 1,
    TRAIN_CHANNEL_FLOP = 2,
    UPDATE_CHANNEL_FLOP = 7
};

static bool updates(const struct pdnn_node *node) {
    return node->n_outputs > PDNN_BATCHNORM_NEW_VARIANCE;
}

static void forward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         struct pdnn_count *count) {
    struct geometry g = geometry_of(pdnn_node_in(graph, node, PDNN_BATCHNORM_X));
    bool train = node->attr[PDNN_BATCHNORM_TRAIN];
    pdnn_count_add(count, g.N * g.L, g.C, SCALE_FLOP + (train ? STATISTICS_FLOP : 0));
    int64_t per_channel = INVERSE_STD_FLOP + (is_affine(node) ? SHIFT_FLOP : PLAIN_SHIFT_FLOP) +
                          (train ? TRAIN_CHANNEL_FLOP : 0);
    pdnn_count_add(count, g.C, per_channel + (updates(node) ? UPDATE_CHANNEL_FLOP : 0), 1);
}

static void normalize(struct pdnn_reference *r, int64_t c, double mean, double inverse_std) {
    struct geometry g = geometry_of(pdnn_node_in(r->graph, r->node, PDNN_BATCHNORM_X));
    const double *x = pdnn_ref_in(r, PDNN_BATCHNORM_X);
    double *y = pdnn_ref_out(r, PDNN_BATCHNORM_Y);
    double scale = inverse_std, shift = -(mean * inverse_std);
    r->flop += PLAIN_SHIFT_FLOP;
    if (is_affine(r->node)) {
        scale = pdnn_ref_in(r, PDNN_BATCHNORM_GAMMA)[c] * inverse_std;
        shift = pdnn_ref_in(r, PDNN_BATCHNORM_BETA)[c] - mean * scale;
        r->flop += SHIFT_FLOP - PLAIN_SHIFT_FLOP;
    }
    for (int64_t i = 0; i < g.N * g.L; i++) {
        int64_t at = (i / g.L * g.C + c) * g.L + i % g.L;
        y[at] = x[at] * scale + shift;
        r->flop += SCALE_FLOP;
    }
}

/* The variance is the biased one. */
static void measure(struct pdnn_reference *r, int64_t c, double *mean, double *variance) {
    struct geometry g = geometry_of(pdnn_node_in(r->graph, r->node, PDNN_BATCHNORM_X));
    const double *x = pdnn_ref_in(r, PDNN_BATCHNORM_X);
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < g.N * g.L; i++) {
        sum += x[(i / g.L * g.C + c) * g.L + i % g.L];
        r->flop += 1;
    }
    *mean = sum / (double)(g.N * g.L);
    for (int64_t i = 0; i < g.N * g.L; i++) {
        double off = x[(i / g.L * g.C + c) * g.L + i % g.L] - *mean;
        squares += off * off;
        r->flop += 3;
    }
    *variance = squares / (double)(g.N * g.L);
    r->flop += 2;
}

static void update_running(struct pdnn_reference *r, int64_t c, double mean, double variance) {
    struct geometry g = geometry_of(pdnn_node_in(r->graph, r->node, PDNN_BATCHNORM_X));
    double momentum = r->node->coef[PDNN_BATCHNORM_MOMENTUM], M = (double)(g.N * g.L);
    double unbiased = M > 1 ? variance * (M / (M - 1)) : variance; /* the factor is a constant */
    double *running_mean = pdnn_ref_out(r, PDNN_BATCHNORM_NEW_MEAN),
           *running_variance = pdnn_ref_out(r, PDNN_BATCHNORM_NEW_VARIANCE);
    r->flop += 1;
    running_mean[c] = (1 - momentum) * running_mean[c] + momentum * mean;
    running_variance[c] = (1 - momentum) * running_variance[c] + momentum * unbiased;
    r->flop += 6;
}

static void forward(struct pdnn_reference *r) {
    bool train = r->node->attr[PDNN_BATCHNORM_TRAIN];
    int64_t C = pdnn_node_in(r->graph, r->node, PDNN_BATCHNORM_X)->dim[1];
    for (int64_t c = 0; c < C; c++) {
        double mean = pdnn_ref_in(r, input_of(r->node, PDNN_BATCHNORM_MEAN))[c],
               variance = pdnn_ref_in(r, input_of(r->node, PDNN_BATCHNORM_VARIANCE))[c];
        if (train)
            measure(r, c, &mean, &variance);
        if (updates(r->node))
            update_running(r, c, mean, variance);
        double inverse_std = 1 / sqrt(variance + r->node->coef[PDNN_BATCHNORM_EPSILON]);
        r->flop += INVERSE_STD_FLOP;
        if (train) {
            pdnn_ref_out(r, PDNN_BATCHNORM_BATCH_MEAN)[c] = mean;
            pdnn_ref_out(r, PDNN_BATCHNORM_INVERSE_STD)[c] = inverse_std;
        }
        normalize(r, c, mean, inverse_std);
    }
}

/* Per value: 2 for xhat, 3 for the sums, 4 for dx; frozen, 1 for dx. Per channel: 1 for the scale with gamma,
 * 2 for the means; frozen, inverse_std instead of the means. */
enum { BACKWARD_FLOP = 9, MEANS_FLOP = 2, FROZEN_FLOP = 1, GAMMA_FLOP = 1 };

/* Backward. */
static bool has_gamma(const struct pdnn_node *node) {
    return node->n_inputs ==
           (node->attr[PDNN_BATCHNORM_TRAIN] ? PDNN_BATCHNORM_BACK_INPUTS : PDNN_BATCHNORM_FROZEN_INPUTS);
}

static void backward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                          struct pdnn_count *count) {
    struct geometry g = geometry_of(pdnn_node_in(graph, node, 0));
    const bool train = node->attr[PDNN_BATCHNORM_TRAIN];
    pdnn_count_add(count, g.N * g.L, g.C, train ? BACKWARD_FLOP : FROZEN_FLOP);
    pdnn_count_add(count, g.C, (train ? MEANS_FLOP : INVERSE_STD_FLOP) + (has_gamma(node) ? GAMMA_FLOP : 0),
                   1);
}

static void backward_channel(struct pdnn_reference *r, int64_t c) {
    struct geometry g = geometry_of(pdnn_node_in(r->graph, r->node, 0));
    const double *dy = pdnn_ref_in(r, PDNN_BATCHNORM_BACK_DY), *x = pdnn_ref_in(r, PDNN_BATCHNORM_BACK_X);
    const int last = r->node->n_inputs - 1;
    double mean = pdnn_ref_in(r, last - 1)[c], inverse_std = pdnn_ref_in(r, last)[c];
    double *dx = pdnn_ref_out(r, PDNN_BATCHNORM_BACK_DX), dgamma = 0, dbeta = 0, M = (double)(g.N * g.L);
    for (int64_t i = 0; i < g.N * g.L; i++) {
        int64_t at = (i / g.L * g.C + c) * g.L + i % g.L;
        dgamma += dy[at] * ((x[at] - mean) * inverse_std);
        dbeta += dy[at];
        r->flop += 5;
    }
    double scale = inverse_std, dgamma_mean = dgamma / M, dbeta_mean = dbeta / M;
    r->flop += MEANS_FLOP;
    if (has_gamma(r->node)) {
        scale *= pdnn_ref_in(r, PDNN_BATCHNORM_BACK_GAMMA)[c];
        r->flop += GAMMA_FLOP;
    }
    for (int64_t i = 0; i < g.N * g.L; i++) {
        int64_t at = (i / g.L * g.C + c) * g.L + i % g.L;
        double xhat = (x[at] - mean) * inverse_std; /* counted above */
        dx[at] = scale * (dy[at] - dbeta_mean - xhat * dgamma_mean);
        r->flop += 4;
    }
    if (r->node->n_outputs > PDNN_BATCHNORM_BACK_DGAMMA) {
        pdnn_ref_out(r, PDNN_BATCHNORM_BACK_DGAMMA)[c] = dgamma;
        pdnn_ref_out(r, PDNN_BATCHNORM_BACK_DBETA)[c] = dbeta;
    }
}

static void frozen_channel(struct pdnn_reference *r, int64_t c) {
    struct geometry g = geometry_of(pdnn_node_in(r->graph, r->node, 0));
    const double *dy = pdnn_ref_in(r, PDNN_BATCHNORM_FROZEN_DY),
                 variance = pdnn_ref_in(r, r->node->n_inputs - 1)[c];
    double *dx = pdnn_ref_out(r, PDNN_BATCHNORM_BACK_DX),
           scale = 1 / sqrt(variance + r->node->coef[PDNN_BATCHNORM_EPSILON]);
    r->flop += INVERSE_STD_FLOP;
    if (has_gamma(r->node)) {
        scale *= pdnn_ref_in(r, PDNN_BATCHNORM_FROZEN_GAMMA)[c];
        r->flop += GAMMA_FLOP;
    }
    for (int64_t i = 0; i < g.N * g.L; i++) {
        int64_t at = (i / g.L * g.C + c) * g.L + i % g.L;
        dx[at] = scale * dy[at];
        r->flop += FROZEN_FLOP;
    }
}

static void backward_data(struct pdnn_reference *r) {
    int64_t C = pdnn_node_in(r->graph, r->node, 0)->dim[1];
    for (int64_t c = 0; c < C; c++)
        (r->node->attr[PDNN_BATCHNORM_TRAIN] ? backward_channel : frozen_channel)(r, c);
}

/* A weight, or state that nothing writes, with its initial values. */
static bool is_constant(const struct pdnn_graph *graph, const struct pdnn_uses *uses, uint32_t tensor) {
    const struct pdnn_tensor *t = &graph->tensors[tensor];
    const bool is_unwritten = t->role == PDNN_ROLE_STATE && uses->writer[tensor] == PDNN_NONE;
    return (t->role == PDNN_ROLE_WEIGHT || is_unwritten) && !t->fold;
}

/* One with a single reader, so its values may change. */
static bool is_own(const struct pdnn_graph *graph, const struct pdnn_uses *uses, uint32_t tensor) {
    return is_constant(graph, uses, tensor) && uses->readers[tensor] == 1;
}

/* In inference; frozen batch normalization is trained through, while the weights before it change. */
static bool has_constants(const struct pdnn_graph *graph, const struct pdnn_uses *uses,
                          const struct pdnn_node *node) {
    bool constant = !node->attr[PDNN_BATCHNORM_TRAIN] && graph->loss == PDNN_NONE;
    for (int k = PDNN_BATCHNORM_X + 1; k < node->n_inputs; k++)
        constant = constant && is_constant(graph, uses, node->input[k]);
    return constant;
}

/* True if the host has no posts or only a bias, which is then stored in *bias. */
static bool find_bias(const struct pdnn_graph *graph, const struct pdnn_uses *uses,
                      const struct pdnn_node *host, uint32_t *bias) {
    *bias = PDNN_NONE;
    if (!host->n_posts)
        return true;
    *bias = host->posts[0].input;
    return host->n_posts == 1 && host->posts[0].op == &pdnn_op_bias && is_constant(graph, uses, *bias);
}

/* The scale goes into the host's weights. The shift becomes the host's bias and absorbs an existing one: it
 * is stored in beta's tensor, or else the mean's, which gets new values. */
static bool fold(struct pdnn_graph *graph, const struct pdnn_uses *uses, const struct pdnn_node *host,
                 const struct pdnn_node *node, struct pdnn_post *post) {
    const uint32_t weights = host->input[1], mean = node->input[input_of(node, PDNN_BATCHNORM_MEAN)],
                   shift = is_affine(node) ? node->input[PDNN_BATCHNORM_BETA] : mean;
    uint32_t bias;
    if (host->n_inputs != 2 || !pdnn_op_takes(host->op, PDNN_FORWARD, &pdnn_op_bias) ||
        !find_bias(graph, uses, host, &bias) ||
        graph->tensors[weights].dim[0] != graph->tensors[shift].dim[0])
        return false;
    if (!has_constants(graph, uses, node) || !is_own(graph, uses, weights) || !is_own(graph, uses, shift))
        return false;
    struct pdnn_fold *folds = pdnn_arena_alloc(graph->arena, 2, sizeof *folds);
    if (!folds)
        return false;
    folds[0] = folds[1] =
        (struct pdnn_fold){.gamma = is_affine(node) ? node->input[PDNN_BATCHNORM_GAMMA] : PDNN_NONE,
                           .mean = mean,
                           .variance = node->input[input_of(node, PDNN_BATCHNORM_VARIANCE)],
                           .bias = PDNN_NONE,
                           .epsilon = node->coef[PDNN_BATCHNORM_EPSILON]};
    folds[1].is_shift = true;
    folds[1].bias = bias;
    graph->tensors[weights].fold = &folds[0];
    graph->tensors[shift].fold = &folds[1];
    *post =
        (struct pdnn_post){.op = &pdnn_op_bias, .pass = PDNN_FORWARD, .input = shift, .output = PDNN_NONE};
    return true;
}

static const struct pdnn_op_def *const forward_posts[] = {&pdnn_op_add, &pdnn_op_relu, &pdnn_op_hardtanh,
                                                          NULL};
static const struct pdnn_op_def *const backward_posts[] = {&pdnn_op_relu, &pdnn_op_hardtanh, NULL};

static uint32_t nodes(struct pdnn_export *onnx) {
    const struct pdnn_node *node = onnx->at;
    const int64_t C = pdnn_export_shape_in(onnx, PDNN_BATCHNORM_X)->dim[1];
    const bool affine = node->n_inputs == PDNN_BATCHNORM_INPUTS;
    const uint32_t inputs[PDNN_BATCHNORM_INPUTS] = {
        [PDNN_BATCHNORM_X] = pdnn_export_in(onnx, PDNN_BATCHNORM_X),
        [PDNN_BATCHNORM_GAMMA] =
            affine ? pdnn_export_in(onnx, PDNN_BATCHNORM_GAMMA) : pdnn_export_same(onnx, C, 1),
        [PDNN_BATCHNORM_BETA] =
            affine ? pdnn_export_in(onnx, PDNN_BATCHNORM_BETA) : pdnn_export_same(onnx, C, 0),
        [PDNN_BATCHNORM_MEAN] = pdnn_export_in(onnx, input_of(node, PDNN_BATCHNORM_MEAN)),
        [PDNN_BATCHNORM_VARIANCE] = pdnn_export_in(onnx, input_of(node, PDNN_BATCHNORM_VARIANCE)),
    };
    const uint32_t y = pdnn_export_op(onnx, "BatchNormalization", PDNN_BATCHNORM_INPUTS, inputs);
    pdnn_export_add_number(onnx, "epsilon", node->coef[PDNN_BATCHNORM_EPSILON]);
    return y;
}

const struct pdnn_op_def pdnn_op_batchnorm = {
    .name = "batchnorm",
    .category = "batchnorm",
    .formula = "y = gamma*(x - mean)/sqrt(variance + epsilon) + beta",
    .operands = {{"x", PDNN_OPERAND_DATA},
                 {"gamma", PDNN_OPERAND_WEIGHT, .shape = "x[1]", .fill = PDNN_FILL_NEAR_ONE, .scale = 0.25,
                  .when = "affine", .trained = "not frozen"},
                 {"beta", PDNN_OPERAND_WEIGHT, .shape = "x[1]", .fill = PDNN_FILL_UNIFORM, .scale = 0.1,
                  .when = "affine", .trained = "not frozen"},
                 {"mean", PDNN_OPERAND_STATE, .shape = "x[1]", .fill = PDNN_FILL_UNIFORM, .scale = 0.1},
                 {"variance", PDNN_OPERAND_STATE, .shape = "x[1]", .fill = PDNN_FILL_NEAR_ONE,
                  .scale = 0.25}},
    .attributes = {{"train", PDNN_BATCHNORM_TRAIN, .derived = true,
                    .fallback = "mode == train and not frozen"},
                   {"frozen", PDNN_SIZE},
                   {"affine", PDNN_SIZE, .fallback = "1"},
                   {"epsilon", PDNN_BATCHNORM_EPSILON, .coefficient = true},
                   {"momentum", PDNN_BATCHNORM_MOMENTUM, .coefficient = true}},
    .coef = {[PDNN_BATCHNORM_EPSILON] = 1e-5, [PDNN_BATCHNORM_MOMENTUM] = 0.1},
    .outputs = {"y", "mean", "inverse_std", "new_mean", "new_variance"},
    .updates = {[PDNN_BATCHNORM_NEW_MEAN] = PDNN_UPDATES_LAST - 1,
                [PDNN_BATCHNORM_NEW_VARIANCE] = PDNN_UPDATES_LAST},
    .infer = infer,
    .gradient = gradient,
    .pass =
        {[PDNN_FORWARD] = {.flop = forward_flop, .reference = forward, .posts = forward_posts, .in_place = 1},
         [PDNN_BACKWARD_DATA] =
             {.flop = backward_flop, .reference = backward_data, .posts = backward_posts, .in_place = 1}},
    .tolerance = 2e-6,
    .summed = PDNN_SUMMED_CHANNEL,
    .fold = fold,
    .onnx.write = nodes,
};
