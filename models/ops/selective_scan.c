/* selective_scan: the state space of Mamba (Gu, Dao, 2023), a linear recurrence in which every token chooses
 * how long its step is and what it writes and reads. For each sequence, channel c and token t, from h = 0:
 *   h[n] = h[n] / exp(delta[t][c] a[c][n]) + delta[t][c] x[t][c] b[t][n]
 *   y[t][c] = sum_n h[n] C[t][n] + d[c] x[t][c]
 * R rows (token t of sequence s is row s*T + t), C channels, S states of a channel. x, delta, y (R, C); b and
 * c, which is C above, (R, S); a (C, S), the rates at which states decay; d (C). With `kept`, h starts from a
 * state (N*C, S), channel by channel of each of N sequences, which gets the last h: so does inference token
 * by token, and there is no gradient. Otherwise nothing is kept for backward, which computes the states
 * again: they take S times the memory of x. With g the gradient of h, from the last token to the first: g[n]
 * += dy c[n], dc[n] += dy h[n], db[n] += g[n] delta x, du += g[n] b[n]; g[n] /= exp(delta a[n]), and with q =
 * g[n] h'[n], where h' is the state before: ddelta -= q a[n], da[n] -= q delta; then dx = du delta + d dy,
 * ddelta += du x, dd += dy x. FLOP forward, per row and channel: 3 for delta x, d x and its sum; per state: 3
 * for the decay, 2 to write, 2 to read. Backward, per row and channel: 1 for delta x again, 3 for dx, 2 each
 * for ddelta and dd; per state: 5 for the states again and 14 for what is above. */
#include "models/attributes.h"
#include "models/op.h"
#include "models/transform/backward.h"

#include <math.h>
#include <string.h>

enum { FLOP = 3, STATE_FLOP = 7, BACK_FLOP = 8, BACK_STATE_FLOP = 19 };

struct geometry {
    int64_t N, T, C, S; /* N sequences of T tokens */
};

static struct geometry geometry_of(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    int first = node->pass == PDNN_FORWARD ? PDNN_SELECTIVE_SCAN_X : PDNN_SELECTIVE_SCAN_BACK_X;
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, first + PDNN_SELECTIVE_SCAN_X),
                             *a = pdnn_node_in(graph, node, first + PDNN_SELECTIVE_SCAN_A);
    int64_t N = node->attr[PDNN_SELECTIVE_SCAN_SEQUENCES];
    return (struct geometry){N, x->dim[0] / N, x->dim[1], a->dim[1]};
}

static bool is_matrix(const struct pdnn_tensor *tensor, int64_t rows, int64_t columns) {
    return tensor->rank == 2 && tensor->dim[0] == rows && tensor->dim[1] == columns;
}

static bool has_room(const struct pdnn_graph *graph, const struct pdnn_node *node, int64_t rows,
                     int64_t columns) {
    if (!node->attr[PDNN_SELECTIVE_SCAN_KEPT])
        return true;
    const struct pdnn_tensor *state = pdnn_node_in(graph, node, PDNN_SELECTIVE_SCAN_STATE);
    return state->role == PDNN_ROLE_STATE && is_matrix(state, rows, columns);
}

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    int64_t N = node->attr[PDNN_SELECTIVE_SCAN_SEQUENCES];
    const struct pdnn_tensor *in[PDNN_SELECTIVE_SCAN_INPUTS];
    if (node->n_inputs != PDNN_SELECTIVE_SCAN_INPUTS + (node->attr[PDNN_SELECTIVE_SCAN_KEPT] != 0))
        return pdnn_fail(err, PDNN_INVALID,
                         "selective_scan: expected x, delta, b, c, a and d, and a state if it is kept");
    for (int i = 0; i < PDNN_SELECTIVE_SCAN_INPUTS; i++)
        in[i] = pdnn_node_in(graph, node, i);
    const struct pdnn_tensor *x = in[PDNN_SELECTIVE_SCAN_X], *b = in[PDNN_SELECTIVE_SCAN_B];
    bool fits = N >= 1 && x->rank == 2 && b->rank == 2 && x->dim[0] % N == 0 &&
                is_matrix(in[PDNN_SELECTIVE_SCAN_DELTA], x->dim[0], x->dim[1]) &&
                is_matrix(b, x->dim[0], b->dim[1]) &&
                is_matrix(in[PDNN_SELECTIVE_SCAN_C], x->dim[0], b->dim[1]) &&
                is_matrix(in[PDNN_SELECTIVE_SCAN_A], x->dim[1], b->dim[1]) &&
                pdnn_tensor_elements(in[PDNN_SELECTIVE_SCAN_D]) == x->dim[1] &&
                has_room(graph, node, N * x->dim[1], b->dim[1]);
    if (!fits)
        return pdnn_fail(err, PDNN_INVALID,
                         "selective_scan: expected x and delta (R, C), b and c (R, S), a (C, S) and d (C), "
                         "with N whole sequences in R, and a state (N*C, S) if it is kept");
    outputs[PDNN_SELECTIVE_SCAN_Y].rank = 2;
    memcpy(outputs[PDNN_SELECTIVE_SCAN_Y].dim, x->dim, sizeof x->dim);
    if (!node->attr[PDNN_SELECTIVE_SCAN_KEPT])
        return PDNN_OK;
    const struct pdnn_tensor *state = pdnn_node_in(graph, node, PDNN_SELECTIVE_SCAN_STATE);
    outputs[PDNN_SELECTIVE_SCAN_NEW_STATE].rank = 2;
    memcpy(outputs[PDNN_SELECTIVE_SCAN_NEW_STATE].dim, state->dim, sizeof state->dim);
    return PDNN_OK;
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t targets[PDNN_SELECTIVE_SCAN_INPUTS + 1], inputs[PDNN_SELECTIVE_SCAN_INPUTS + 2];
    if (node->attr[PDNN_SELECTIVE_SCAN_KEPT]) {
        pdnn_backward_refuse(backward, "no gradient through a state that is kept");
        return;
    }
    memcpy(targets, node->input, PDNN_SELECTIVE_SCAN_INPUTS * sizeof *targets);
    targets[PDNN_SELECTIVE_SCAN_INPUTS] = PDNN_NONE;
    inputs[PDNN_SELECTIVE_SCAN_BACK_DY] = pdnn_backward_of(backward, node->output[PDNN_SELECTIVE_SCAN_Y]);
    memcpy(inputs + PDNN_SELECTIVE_SCAN_BACK_X, node->input, PDNN_SELECTIVE_SCAN_INPUTS * sizeof *inputs);
    inputs[PDNN_SELECTIVE_SCAN_INPUTS + 1] = PDNN_NONE;
    pdnn_backward_emit_all(backward, node, PDNN_BACKWARD_DATA, targets, inputs);
}

static void count_states(const struct pdnn_graph *graph, const struct pdnn_node *node, int64_t per_value,
                         int64_t per_state, struct pdnn_count *count) {
    const struct geometry g = geometry_of(graph, node);
    pdnn_count_add(count, g.N * g.T, g.C, per_value);
    pdnn_count_add(count, g.N * g.T * g.C, g.S, per_state);
}

static void forward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         struct pdnn_count *count) {
    count_states(graph, node, FLOP, STATE_FLOP, count);
}

static void backward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                          struct pdnn_count *count) {
    count_states(graph, node, BACK_FLOP, BACK_STATE_FLOP, count);
}

static int64_t forward_scratch(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    return geometry_of(graph, node).S;
}

/* The state after a token, from that before. */
static void step(struct pdnn_reference *r, double delta, double u, const double *a, const double *b,
                 const double *before, double *h, int64_t S) {
    for (int64_t n = 0; n < S; n++) {
        h[n] = before[n] / exp(delta * a[n]) + u * b[n];
        r->flop += 5;
    }
}

static void forward(struct pdnn_reference *r) {
    const struct geometry g = geometry_of(r->graph, r->node);
    const double *x = pdnn_ref_in(r, PDNN_SELECTIVE_SCAN_X), *a = pdnn_ref_in(r, PDNN_SELECTIVE_SCAN_A),
                 *delta = pdnn_ref_in(r, PDNN_SELECTIVE_SCAN_DELTA),
                 *b = pdnn_ref_in(r, PDNN_SELECTIVE_SCAN_B), *c = pdnn_ref_in(r, PDNN_SELECTIVE_SCAN_C),
                 *d = pdnn_ref_in(r, PDNN_SELECTIVE_SCAN_D);
    double *y = pdnn_ref_out(r, PDNN_SELECTIVE_SCAN_Y), *h = r->scratch,
           *state =
               r->node->attr[PDNN_SELECTIVE_SCAN_KEPT] ? pdnn_ref_in(r, PDNN_SELECTIVE_SCAN_STATE) : NULL;
    for (int64_t i = 0; i < g.N * g.C; i++) {
        int64_t channel = i % g.C;
        for (int64_t n = 0; n < g.S; n++)
            h[n] = state ? state[i * g.S + n] : 0;
        for (int64_t row = i / g.C * g.T; row < (i / g.C + 1) * g.T; row++) {
            int64_t at = row * g.C + channel;
            double sum = 0;
            step(r, delta[at], delta[at] * x[at], a + channel * g.S, b + row * g.S, h, h, g.S);
            for (int64_t n = 0; n < g.S; n++) {
                sum += h[n] * c[row * g.S + n];
                r->flop += 2;
            }
            y[at] = sum + d[channel] * x[at];
            r->flop += 3;
        }
        for (int64_t n = 0; state && n < g.S; n++)
            state[i * g.S + n] = h[n];
    }
}

/* The states of a channel, before the first token and after each, and their gradient. */
static int64_t backward_scratch(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    const struct geometry g = geometry_of(graph, node);
    return (g.T + 2) * g.S;
}

/* One token of one channel, whose states before and after it lie in h. */
static void backward_token(struct pdnn_reference *r, const struct geometry *g, int64_t row, int64_t channel,
                           const double *h, double *gh) {
    const int64_t at = row * g->C + channel, S = g->S;
    const double *a = pdnn_ref_in(r, PDNN_SELECTIVE_SCAN_BACK_A) + channel * S,
                 *b = pdnn_ref_in(r, PDNN_SELECTIVE_SCAN_BACK_B) + row * S,
                 *c = pdnn_ref_in(r, PDNN_SELECTIVE_SCAN_BACK_C) + row * S;
    const double dy = pdnn_ref_in(r, PDNN_SELECTIVE_SCAN_BACK_DY)[at],
                 x = pdnn_ref_in(r, PDNN_SELECTIVE_SCAN_BACK_X)[at],
                 delta = pdnn_ref_in(r, PDNN_SELECTIVE_SCAN_BACK_DELTA)[at],
                 u = delta * x; /* counted with the states */
    double *da = pdnn_ref_out(r, PDNN_SELECTIVE_SCAN_A) + channel * S,
           *db = pdnn_ref_out(r, PDNN_SELECTIVE_SCAN_B) + row * S,
           *dc = pdnn_ref_out(r, PDNN_SELECTIVE_SCAN_C) + row * S, du = 0, ddelta = 0;
    for (int64_t n = 0; n < S; n++) {
        gh[n] += dy * c[n];
        dc[n] += dy * h[S + n];
        db[n] += gh[n] * u;
        du += gh[n] * b[n];
        gh[n] /= exp(delta * a[n]); /* counted with the states */
        const double q = gh[n] * h[n];
        ddelta -= q * a[n];
        da[n] -= q * delta;
        r->flop += 14;
    }
    pdnn_ref_out(r, PDNN_SELECTIVE_SCAN_X)[at] =
        du * delta + pdnn_ref_in(r, PDNN_SELECTIVE_SCAN_BACK_D)[channel] * dy;
    pdnn_ref_out(r, PDNN_SELECTIVE_SCAN_DELTA)[at] = ddelta + du * x;
    pdnn_ref_out(r, PDNN_SELECTIVE_SCAN_D)[channel] += dy * x;
    r->flop += 7;
}

static void backward_data(struct pdnn_reference *r) {
    const struct geometry g = geometry_of(r->graph, r->node);
    const double *a = pdnn_ref_in(r, PDNN_SELECTIVE_SCAN_BACK_A),
                 *x = pdnn_ref_in(r, PDNN_SELECTIVE_SCAN_BACK_X),
                 *delta = pdnn_ref_in(r, PDNN_SELECTIVE_SCAN_BACK_DELTA),
                 *b = pdnn_ref_in(r, PDNN_SELECTIVE_SCAN_BACK_B);
    double *h = r->scratch, *gh = h + (g.T + 1) * g.S;
    for (int k = 0; k < PDNN_SELECTIVE_SCAN_INPUTS; k++)
        memset(pdnn_ref_out(r, k), 0,
               (size_t)pdnn_tensor_elements(pdnn_node_out(r->graph, r->node, k)) * sizeof(double));
    for (int64_t i = 0; i < g.N * g.C; i++) {
        const int64_t first = i / g.C * g.T, channel = i % g.C;
        memset(h, 0, (size_t)g.S * sizeof *h);
        memset(gh, 0, (size_t)g.S * sizeof *gh);
        for (int64_t t = 0; t < g.T; t++) {
            const int64_t row = first + t, at = row * g.C + channel;
            step(r, delta[at], delta[at] * x[at], a + channel * g.S, b + row * g.S, h + t * g.S,
                 h + (t + 1) * g.S, g.S);
            r->flop += 1;
        }
        for (int64_t t = g.T - 1; t >= 0; t--)
            backward_token(r, &g, first + t, channel, h + t * g.S, gh);
    }
}

const struct pdnn_op_def pdnn_op_selective_scan = {
    .name = "selective_scan",
    .category = "recurrent",
    .formula = "h = h/exp(delta a) + delta x b, y = sum of h c over states + d x",
    .operands = {{"x", PDNN_OPERAND_DATA},
                 {"delta", PDNN_OPERAND_DATA},
                 {"b", PDNN_OPERAND_DATA},
                 {"c", PDNN_OPERAND_DATA},
                 {"a", PDNN_OPERAND_WEIGHT, .shape = "x.columns, b.columns", .fill = PDNN_FILL_NEAR_ONE,
                  .scale = 0.5},
                 {"d", PDNN_OPERAND_WEIGHT, .shape = "x.columns", .fill = PDNN_FILL_NEAR_ONE, .scale = 0.25},
                 {"state", PDNN_OPERAND_STATE, .shape = "sequences * x.columns, b.columns",
                  .fill = PDNN_FILL_UNIFORM, .scale = 1, .when = "kept"}},
    .attributes = {{"sequences", PDNN_SELECTIVE_SCAN_SEQUENCES, .required = true},
                   {"kept", PDNN_SELECTIVE_SCAN_KEPT}},
    .outputs = {"y", "new_state"},
    .updates = {[PDNN_SELECTIVE_SCAN_NEW_STATE] = 1 + PDNN_SELECTIVE_SCAN_STATE},
    .infer = infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = {.flop = forward_flop, .reference = forward, .scratch = forward_scratch},
             [PDNN_BACKWARD_DATA] = {.flop = backward_flop,
                                     .reference = backward_data,
                                     .scratch = backward_scratch}},
    .tolerance = 2e-6,
};
