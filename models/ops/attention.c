/* attention: the normalized additive attention of GNMT (Bahdanau, Cho, Bengio, 2015; normalization of
 * Salimans, Kingma, 2016), for all target steps at once. With u = g v/|v|, for target step t and
 * source step s of one sequence:
 *   score[t][s] = u . tanh(q[t] + k[s]),  p[t] = softmax over s of score[t],
 *   context[t] = sum_s p[t][s] values[s]
 * T target steps, S source steps, N sequences, H units of a query, D of a value. Queries (T*N, H), keys
 * (S*N, H) and values (S*N, D) hold step t of sequence n in row t*N + n; v (H), g (1). A bias inside the tanh
 * is part of the queries. The projections of queries and keys are dense layers of their own. Training saves p
 * (T*N, S); backward recomputes tanh, which would take H times the memory of p. No source step is masked. */
#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/op.h"
#include "models/onnx/nodes.h"

#include <math.h>
#include <string.h>

struct geometry {
    int64_t T, S, N, H, D;
};

static struct geometry geometry_of(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    int first = node->pass == PDNN_FORWARD ? PDNN_ATTENTION_Q : PDNN_ATTENTION_BACK_Q;
    const struct pdnn_tensor *q = pdnn_node_in(graph, node, first);
    const struct pdnn_tensor *k = pdnn_node_in(graph, node, first + PDNN_ATTENTION_K);
    int64_t N = node->attr[PDNN_ATTENTION_SEQUENCES];
    return (struct geometry){q->dim[0] / N, k->dim[0] / N, N, q->dim[1],
                             pdnn_node_in(graph, node, first + PDNN_ATTENTION_VALUES)->dim[1]};
}

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    int64_t N = node->attr[PDNN_ATTENTION_SEQUENCES];
    bool fits = node->n_inputs == PDNN_ATTENTION_INPUTS && N >= 1;
    for (int i = PDNN_ATTENTION_Q; fits && i <= PDNN_ATTENTION_VALUES; i++) {
        const struct pdnn_tensor *rows = pdnn_node_in(graph, node, i);
        fits = rows->rank == 2 && rows->dim[0] % N == 0;
    }
    if (fits) {
        const struct pdnn_tensor *q = pdnn_node_in(graph, node, PDNN_ATTENTION_Q),
                                 *k = pdnn_node_in(graph, node, PDNN_ATTENTION_K);
        fits = q->dim[1] == k->dim[1] &&
               k->dim[0] == pdnn_node_in(graph, node, PDNN_ATTENTION_VALUES)->dim[0] &&
               pdnn_tensor_elements(pdnn_node_in(graph, node, PDNN_ATTENTION_V)) == q->dim[1] &&
               pdnn_tensor_elements(pdnn_node_in(graph, node, PDNN_ATTENTION_G)) == 1;
    }
    if (!fits)
        return pdnn_fail(err, PDNN_INVALID,
                         "attention: expected queries (T*N, H), keys (S*N, H), values (S*N, D), (H) and (1)");
    struct geometry g = geometry_of(graph, node);
    outputs[PDNN_ATTENTION_CONTEXT].rank = 2;
    outputs[PDNN_ATTENTION_CONTEXT].dim[0] = g.T * g.N;
    outputs[PDNN_ATTENTION_CONTEXT].dim[1] = g.D;
    if (!node->attr[PDNN_ATTENTION_TRAIN])
        return PDNN_OK;
    outputs[PDNN_ATTENTION_P].rank = 2;
    outputs[PDNN_ATTENTION_P].dim[0] = g.T * g.N;
    outputs[PDNN_ATTENTION_P].dim[1] = g.S;
    return PDNN_OK;
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t targets[PDNN_ATTENTION_INPUTS + 1], inputs[PDNN_ATTENTION_INPUTS + 3];
    memcpy(targets, node->input, PDNN_ATTENTION_INPUTS * sizeof *targets);
    targets[PDNN_ATTENTION_INPUTS] = PDNN_NONE;
    inputs[PDNN_ATTENTION_BACK_DCONTEXT] = pdnn_backward_of(backward, node->output[PDNN_ATTENTION_CONTEXT]);
    memcpy(inputs + PDNN_ATTENTION_BACK_Q, node->input, PDNN_ATTENTION_INPUTS * sizeof *inputs);
    inputs[PDNN_ATTENTION_BACK_P] = node->output[PDNN_ATTENTION_P];
    inputs[PDNN_ATTENTION_BACK_P + 1] = PDNN_NONE;
    pdnn_backward_emit_all(backward, node, PDNN_BACKWARD_DATA, targets, inputs);
}

/* Once: |v| and u. Per t, s and n: add, tanh and a multiply-add for each of H; D multiply-adds for the
 * context. Per t and n, the softmax: S-1 comparisons, S each of subtract, exp, add, divide. */
static void forward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         struct pdnn_count *count) {
    struct geometry g = geometry_of(graph, node);
    pdnn_count_add(count, 1, 3 * g.H + 2, 1);
    pdnn_count_add(count, g.T * g.N, g.S, 4 * g.H + 2 * g.D);
    pdnn_count_add(count, g.T * g.N, 5 * g.S - 1, 1);
}

/* Once: |v| and u, then dg and dv. Per t, s and n: D multiply-adds each for dp and dvalues, 4 for
 * the softmax, and for each of H: add, tanh, a multiply-add for du, 4 for the derivative and 2
 * additions to dq and dk. */
static void backward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                          struct pdnn_count *count) {
    struct geometry g = geometry_of(graph, node);
    pdnn_count_add(count, 1, 8 * g.H + 4, 1);
    pdnn_count_add(count, g.T * g.N, g.S, 10 * g.H + 4 * g.D + 4);
}

static double dot(struct pdnn_reference *r, const double *a, const double *b, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += a[i] * b[i];
        r->flop += 2;
    }
    return sum;
}

/* u = g v/|v|. Returns |v|. */
static double normalize(struct pdnn_reference *r, const double *v, double scale, int64_t H, double *u) {
    double norm = sqrt(dot(r, v, v, H)), ratio = scale / norm;
    r->flop += 2;
    for (int64_t h = 0; h < H; h++) {
        u[h] = v[h] * ratio;
        r->flop += 1;
    }
    return norm;
}

static void softmax(struct pdnn_reference *r, double *p, int64_t n) {
    double max = p[0], sum = 0;
    for (int64_t i = 1; i < n; i++) {
        max = p[i] > max ? p[i] : max;
        r->flop += 1;
    }
    for (int64_t i = 0; i < n; i++) {
        p[i] = exp(p[i] - max);
        sum += p[i];
        r->flop += 3;
    }
    for (int64_t i = 0; i < n; i++) {
        p[i] /= sum;
        r->flop += 1;
    }
}

static int64_t forward_scratch(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    struct geometry g = geometry_of(graph, node);
    return g.H + g.S;
}

/* One target row: its scores in p, then its context. */
static void forward_row(struct pdnn_reference *r, const double *u, int64_t row, double *p) {
    struct geometry g = geometry_of(r->graph, r->node);
    const double *q = pdnn_ref_in(r, PDNN_ATTENTION_Q) + row * g.H, *keys = pdnn_ref_in(r, PDNN_ATTENTION_K),
                 *values = pdnn_ref_in(r, PDNN_ATTENTION_VALUES);
    double *context = pdnn_ref_out(r, PDNN_ATTENTION_CONTEXT) + row * g.D;
    for (int64_t s = 0; s < g.S; s++) {
        const double *k = keys + (s * g.N + row % g.N) * g.H;
        p[s] = 0;
        for (int64_t h = 0; h < g.H; h++) {
            p[s] += u[h] * tanh(q[h] + k[h]);
            r->flop += 4;
        }
    }
    softmax(r, p, g.S);
    for (int64_t d = 0; d < g.D; d++) {
        context[d] = 0;
        for (int64_t s = 0; s < g.S; s++) {
            context[d] += p[s] * values[(s * g.N + row % g.N) * g.D + d];
            r->flop += 2;
        }
    }
}

static void forward(struct pdnn_reference *r) {
    struct geometry g = geometry_of(r->graph, r->node);
    double *u = r->scratch, *p = u + g.H;
    normalize(r, pdnn_ref_in(r, PDNN_ATTENTION_V), *pdnn_ref_in(r, PDNN_ATTENTION_G), g.H, u);
    for (int64_t row = 0; row < g.T * g.N; row++)
        forward_row(r, u, row,
                    r->node->n_outputs > PDNN_ATTENTION_P ? pdnn_ref_out(r, PDNN_ATTENTION_P) + row * g.S
                                                          : p);
}

static int64_t backward_scratch(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    struct geometry g = geometry_of(graph, node);
    return 2 * g.H + g.S;
}

/* One target row: writes the gradient of its scores to dp and adds to dvalues. */
static void backward_scores(struct pdnn_reference *r, int64_t row, double *dp) {
    struct geometry g = geometry_of(r->graph, r->node);
    const double *dcontext = pdnn_ref_in(r, PDNN_ATTENTION_BACK_DCONTEXT) + row * g.D,
                 *p = pdnn_ref_in(r, PDNN_ATTENTION_BACK_P) + row * g.S;
    double sum = 0;
    for (int64_t s = 0; s < g.S; s++) {
        int64_t source = (s * g.N + row % g.N) * g.D;
        double *dvalues = pdnn_ref_out(r, PDNN_ATTENTION_VALUES) + source;
        dp[s] = dot(r, dcontext, pdnn_ref_in(r, PDNN_ATTENTION_BACK_VALUES) + source, g.D);
        for (int64_t d = 0; d < g.D; d++) {
            dvalues[d] += p[s] * dcontext[d];
            r->flop += 2;
        }
        sum += p[s] * dp[s];
        r->flop += 2;
    }
    for (int64_t s = 0; s < g.S; s++) {
        dp[s] = p[s] * (dp[s] - sum);
        r->flop += 2;
    }
}

/* Adds to dq, dk and du. */
static void backward_tanh(struct pdnn_reference *r, int64_t row, const double *dscore, const double *u,
                          double *du) {
    struct geometry g = geometry_of(r->graph, r->node);
    const double *q = pdnn_ref_in(r, PDNN_ATTENTION_BACK_Q) + row * g.H;
    double *dq = pdnn_ref_out(r, PDNN_ATTENTION_Q) + row * g.H;
    for (int64_t i = 0; i < g.S * g.H; i++) {
        int64_t s = i / g.H, h = i % g.H, key = (s * g.N + row % g.N) * g.H + h;
        double z = tanh(q[h] + pdnn_ref_in(r, PDNN_ATTENTION_BACK_K)[key]);
        double dz = dscore[s] * u[h] * (1 - z * z);
        du[h] += dscore[s] * z;
        dq[h] += dz;
        pdnn_ref_out(r, PDNN_ATTENTION_K)[key] += dz;
        r->flop += 10;
    }
}

static void backward_data(struct pdnn_reference *r) {
    struct geometry g = geometry_of(r->graph, r->node);
    const double *v = pdnn_ref_in(r, PDNN_ATTENTION_BACK_V), scale = *pdnn_ref_in(r, PDNN_ATTENTION_BACK_G);
    double *u = r->scratch, *du = u + g.H, *dscore = du + g.H;
    for (int k = PDNN_ATTENTION_Q; k < PDNN_ATTENTION_INPUTS; k++)
        memset(pdnn_ref_out(r, k), 0,
               (size_t)pdnn_tensor_elements(pdnn_node_out(r->graph, r->node, k)) * sizeof(double));
    memset(du, 0, (size_t)g.H * sizeof *du);
    double norm = normalize(r, v, scale, g.H, u);
    for (int64_t row = 0; row < g.T * g.N; row++) {
        backward_scores(r, row, dscore);
        backward_tanh(r, row, dscore, u, du);
    }
    double dg = dot(r, v, du, g.H) / norm, along = dg / norm;
    *pdnn_ref_out(r, PDNN_ATTENTION_G) = dg;
    r->flop += 2;
    for (int64_t h = 0; h < g.H; h++) {
        pdnn_ref_out(r, PDNN_ATTENTION_V)[h] = scale / norm * (du[h] - v[h] * along);
        r->flop += 3; /* normalize has counted scale / norm */
    }
}

static uint32_t nodes(struct pdnn_export *onnx) {
    const struct geometry g = geometry_of(onnx->graph, onnx->at);
    const uint32_t v = pdnn_export_in(onnx, PDNN_ATTENTION_V), of_v = pdnn_export_op1(onnx, "ReduceL2", v);
    uint32_t u = pdnn_export_op2(onnx, "Div", pdnn_export_in(onnx, PDNN_ATTENTION_G), of_v);
    u = pdnn_export_op2(onnx, "Mul", v, u);
    const uint32_t q = pdnn_export_reshape(onnx, pdnn_export_in(onnx, PDNN_ATTENTION_Q), 4,
                                           (int64_t[]){g.T, 1, g.N, g.H}),
                   k = pdnn_export_reshape(onnx, pdnn_export_in(onnx, PDNN_ATTENTION_K), 4,
                                           (int64_t[]){1, g.S, g.N, g.H});
    uint32_t p = pdnn_export_op1(onnx, "Tanh", pdnn_export_op2(onnx, "Add", q, k));
    p = pdnn_export_op2(onnx, "MatMul", p, u); /* (T, S, N) */
    p = pdnn_export_op1(onnx, "Softmax", pdnn_export_transpose(onnx, p, 3, (int64_t[]){2, 0, 1}));
    uint32_t values = pdnn_export_in(onnx, PDNN_ATTENTION_VALUES);
    values = pdnn_export_reshape(onnx, values, 3, (int64_t[]){g.S, g.N, g.D});
    values = pdnn_export_transpose(onnx, values, 3, (int64_t[]){1, 0, 2});
    return pdnn_export_as_output(onnx, pdnn_export_transpose(onnx, pdnn_export_op2(onnx, "MatMul", p, values),
                                                             3, (int64_t[]){1, 0, 2}));
}

const struct pdnn_op_def pdnn_op_attention = {
    .name = "attention",
    .category = "attention",
    .formula = "context[t] = sum_s softmax_s(g v/|v| . tanh(q[t] + k[s])) values[s]",
    .operands = {{"q", PDNN_OPERAND_DATA},
                 {"k", PDNN_OPERAND_DATA},
                 {"values", PDNN_OPERAND_DATA},
                 {"v", PDNN_OPERAND_WEIGHT, .shape = "q.columns", .fill = PDNN_FILL_UNIFORM,
                  .range = PDNN_RANGE_LINEAR, .inputs = "q.columns"},
                 {"g", PDNN_OPERAND_WEIGHT, .shape = "1", .fill = PDNN_FILL_CONSTANT, .scale = 1}},
    .attributes = {{"sequences", PDNN_ATTENTION_SEQUENCES, .required = true},
                   {"train", PDNN_ATTENTION_TRAIN, .derived = true, .fallback = "mode == train"}},
    .outputs = {"context", "p"},
    .infer = infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = {.flop = forward_flop, .reference = forward, .scratch = forward_scratch},
             [PDNN_BACKWARD_DATA] = {.flop = backward_flop,
                                     .reference = backward_data,
                                     .scratch = backward_scratch}},
    .tolerance = 2e-6,
    .onnx.write = nodes,
};
