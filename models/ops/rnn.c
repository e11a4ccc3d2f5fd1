/* rnn: one recurrent layer in one direction over all steps, with initial state 0. T steps, N sequences, I
 * input units, H hidden units, G gates, R = T*N rows: row t*N + n is step t of sequence n. `reverse` runs
 * from step T-1 to 0; output row t still belongs to input row t. With h' and c' from the step before:
 *
 *     rnn      h = tanh(W x + U h' + b)
 *     lstm     i f o = sigmoid(W x + U h' + b), g = tanh(W x + U h' + b), c = f c' + i g, h = o tanh(c)
 *     gru      u r = sigmoid(W x + U h' + b), o = tanh(W x + U (r h') + b), h = u h' + (1 - u) o
 *     lbr_gru  the same with o = tanh(W x + b + r (U h' + b_iter)): linear before reset, as cuDNN and PyTorch
 *
 * Sources: Hochreiter, Schmidhuber (1997) with the forget gate of Gers, Schmidhuber, Cummins (2000); Cho et
 * al. (2014); oneDNN's documentation of its RNN primitive, from which the formulas and the order of gates are
 * taken: i f g o, and u r o. W (G*H, I) and U (G*H, H) are stored gate by gate. b has one vector per sum
 * (G*H; for lbr_gru G*H and the candidate's b_iter), or two per gate (2*G*H: first those beside W x, then
 * those beside U h'), as in cuDNN and PyTorch. `saved` (R, S*H) keeps for each row what backward needs
 * besides y: lstm i f g o c; gru u r o; lbr_gru u r o and the candidate's U h' + b_iter; rnn nothing. No step
 * is skipped, although the first multiplies zeros: work is proportional to T. */
#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/ops/rnn_steps.h"
#include "models/onnx/nodes.h"

static bool is_matrix(const struct pdnn_tensor *tensor, int64_t rows, int64_t columns) {
    return tensor->rank == 2 && tensor->dim[0] == rows && tensor->dim[1] == columns;
}

static bool fits(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    if (node->n_inputs != PDNN_RNN_INPUTS || node->attr[PDNN_RNN_CELL] < 0 ||
        node->attr[PDNN_RNN_CELL] >= PDNN_CELL_COUNT || node->attr[PDNN_RNN_STEPS] < 1)
        return false;
    const struct pdnn_cell_def *cell = &pdnn_cells[node->attr[PDNN_RNN_CELL]];
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_RNN_X),
                             *b = pdnn_node_in(graph, node, PDNN_RNN_B);
    int64_t H = pdnn_node_in(graph, node, PDNN_RNN_U)->dim[1], G = cell->n_gates;
    return x->rank == 2 && x->dim[0] % node->attr[PDNN_RNN_STEPS] == 0 &&
           is_matrix(pdnn_node_in(graph, node, PDNN_RNN_W), G * H, x->dim[1]) &&
           is_matrix(pdnn_node_in(graph, node, PDNN_RNN_U), G * H, H) && b->rank == 1 &&
           (b->dim[0] == cell->n_biases * H || b->dim[0] == 2 * G * H);
}

static enum pdnn_status infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                              struct pdnn_tensor *outputs, struct pdnn_err *err) {
    if (!fits(graph, node))
        return pdnn_fail(
            err, PDNN_INVALID,
            "rnn: expected input (T*N, I), weights (G*H, I) and (G*H, H), and a bias for each gate");
    const struct pdnn_cell_def *cell = &pdnn_cells[node->attr[PDNN_RNN_CELL]];
    int64_t R = pdnn_node_in(graph, node, PDNN_RNN_X)->dim[0],
            H = pdnn_node_in(graph, node, PDNN_RNN_U)->dim[1];
    outputs[PDNN_RNN_Y].rank = 2;
    outputs[PDNN_RNN_Y].dim[0] = R;
    outputs[PDNN_RNN_Y].dim[1] = H;
    if (!node->attr[PDNN_RNN_TRAIN] || !cell->n_saved)
        return PDNN_OK;
    outputs[PDNN_RNN_SAVED].rank = 2;
    outputs[PDNN_RNN_SAVED].dim[0] = R;
    outputs[PDNN_RNN_SAVED].dim[1] = cell->n_saved * H;
    return PDNN_OK;
}

static void gradient(struct pdnn_backward *backward, const struct pdnn_node *node) {
    uint32_t dy = pdnn_backward_of(backward, node->output[PDNN_RNN_Y]);
    bool wants_dx = pdnn_backward_wants(backward, node->input[PDNN_RNN_X]);
    const uint32_t targets[] = {node->input[PDNN_RNN_W], node->input[PDNN_RNN_U], node->input[PDNN_RNN_B],
                                wants_dx ? node->input[PDNN_RNN_X] : PDNN_NONE, PDNN_NONE};
    const uint32_t inputs[] = {dy,
                               node->input[PDNN_RNN_X],
                               node->output[PDNN_RNN_Y],
                               node->input[PDNN_RNN_W],
                               node->input[PDNN_RNN_U],
                               node->n_outputs > PDNN_RNN_SAVED ? node->output[PDNN_RNN_SAVED] : PDNN_NONE,
                               PDNN_NONE};
    pdnn_backward_emit_all(backward, node, PDNN_BACKWARD_DATA, targets, inputs);
}

static void forward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         struct pdnn_count *count) {
    struct pdnn_rnn_geometry g = pdnn_rnn_geometry(graph, node);
    int64_t R = g.T * g.N;
    pdnn_count_add(count, 2 * R, g.G * g.H, g.I);
    pdnn_count_add(count, 2 * R, g.G * g.H, g.H);
    pdnn_count_add(count, R, pdnn_tensor_elements(pdnn_node_in(graph, node, PDNN_RNN_B)), 1);
    pdnn_count_add(count, R, g.H, pdnn_rnn_math(&g)->forward_flop);
}

/* Products for dw, for dx if wanted, for du and dh'; the sum of dy and dh; db. The second bias vector per
 * gate gets a copy of the first one's gradient. */
static void backward_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                          struct pdnn_count *count) {
    struct pdnn_rnn_geometry g = pdnn_rnn_geometry(graph, node);
    int64_t R = g.T * g.N;
    pdnn_count_add(count, node->n_outputs > PDNN_RNN_BACK_DX ? 4 * R : 2 * R, g.G * g.H, g.I);
    pdnn_count_add(count, 4 * R, g.G * g.H, g.H);
    pdnn_count_add(count, R, g.H, 1 + g.sums + pdnn_rnn_math(&g)->backward_flop);
}

/* Values of all steps: gates that are not saved for backward, or the gradients of the sums; U, packed for the
 * products of every step; a few values of one step. */
static uint64_t workspace(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    const struct pdnn_rnn_geometry g = pdnn_rnn_geometry(graph, node);
    bool is_backward = node->pass == PDNN_BACKWARD_DATA, is_gru = node->attr[PDNN_RNN_CELL] == PDNN_CELL_GRU;
    bool is_saved = node->attr[PDNN_RNN_TRAIN] && g.cell->n_saved;
    bool has_gates = is_backward || !(is_saved || node->attr[PDNN_RNN_CELL] == PDNN_CELL_RNN);
    const uint64_t T = (uint64_t)g.T, N = (uint64_t)g.N, H = (uint64_t)g.H;
    uint64_t of_steps = (has_gates ? (uint64_t)g.sums : 0) + (is_backward && is_gru ? 1 : 0);
    return (T * N * of_steps + (uint64_t)g.G * H + N * (is_backward ? 3 : 2)) * H * sizeof(float);
}

/* How ONNX calls each cell, and where its gates are among ours. */
static const struct onnx_cell {
    const char *type;
    int gate[4];
    bool is_lbr;
} onnx_cells[PDNN_CELL_COUNT] = {
    [PDNN_CELL_RNN] = {"RNN", {0}},
    [PDNN_CELL_LSTM] = {"LSTM", {0, 3, 1, 2}}, /* i f g o there become i o f g */
    [PDNN_CELL_GRU] = {"GRU", {0, 1, 2}},
    [PDNN_CELL_LBR_GRU] = {"GRU", {0, 1, 2}, .is_lbr = true},
};

/* Weights of `columns` inputs, gate by gate, as one direction of ONNX's. */
static uint32_t gates(struct pdnn_export *onnx, int k, const struct pdnn_rnn_geometry *g, int64_t columns) {
    const struct onnx_cell *cell = &onnx_cells[onnx->at->attr[PDNN_RNN_CELL]];
    struct pdnn_export_part parts[4];
    const int64_t each = g->H * columns;
    for (int64_t i = 0; i < g->G; i++)
        parts[i] = (struct pdnn_export_part){onnx->at->input[k], cell->gate[i] * each, each};
    return pdnn_export_stored(onnx, 3, (int64_t[]){1, g->G * g->H, columns}, (size_t)g->G, parts);
}

/* ONNX has two vectors of each gate. The second is 0 where we have one, but for the candidate of lbr_gru: a
 * constant, so that it is no weight. */
static uint32_t biases(struct pdnn_export *onnx, const struct pdnn_rnn_geometry *g) {
    const struct onnx_cell *cell = &onnx_cells[onnx->at->attr[PDNN_RNN_CELL]];
    const uint32_t b = onnx->at->input[PDNN_RNN_B];
    const int64_t G = g->G, H = g->H, n_zeros = cell->is_lbr ? G - 1 : G;
    struct pdnn_export_part parts[8];
    uint32_t values[3];
    for (int64_t i = 0; i < G; i++) {
        parts[i] = (struct pdnn_export_part){b, cell->gate[i] * H, H};
        parts[G + i] = (struct pdnn_export_part){b, (G + cell->gate[i]) * H, H};
    }
    if (g->two_biases)
        return pdnn_export_stored(onnx, 2, (int64_t[]){1, 2 * G * H}, (size_t)(2 * G), parts);
    const struct pdnn_export_part own = {b, G * H, H};
    values[0] = pdnn_export_stored(onnx, 2, (int64_t[]){1, G * H}, (size_t)G, parts);
    values[1] = pdnn_export_spread(onnx, 2, (int64_t[]){1, n_zeros * H}, 0);
    if (cell->is_lbr)
        values[2] = pdnn_export_stored(onnx, 2, (int64_t[]){1, H}, 1, &own);
    return pdnn_export_concat(onnx, cell->is_lbr ? 3 : 2, values, 1);
}

static uint32_t nodes(struct pdnn_export *onnx) {
    const struct pdnn_rnn_geometry g = pdnn_rnn_geometry(onnx->graph, onnx->at);
    const struct onnx_cell *cell = &onnx_cells[onnx->at->attr[PDNN_RNN_CELL]];
    const uint32_t inputs[] = {
        pdnn_export_reshape(onnx, pdnn_export_in(onnx, PDNN_RNN_X), 3, (int64_t[]){g.T, g.N, g.I}),
        gates(onnx, PDNN_RNN_W, &g, g.I), gates(onnx, PDNN_RNN_U, &g, g.H), biases(onnx, &g)};
    const uint32_t y = pdnn_export_op(onnx, cell->type, 4, inputs); /* (T, 1, N, H) */
    pdnn_export_add_whole(onnx, "hidden_size", g.H);
    pdnn_export_add_text(onnx, "direction", onnx->at->attr[PDNN_RNN_REVERSE] ? "reverse" : "forward");
    if (cell->is_lbr)
        pdnn_export_add_whole(onnx, "linear_before_reset", 1);
    return pdnn_export_as_output(onnx, y);
}

const struct pdnn_op_def pdnn_op_rnn = {
    .name = "rnn",
    .category = "recurrent",
    .formula = "h[t] = cell(W x[t] + U h[t-1] + b)",
    .operands = {{"x", PDNN_OPERAND_DATA},
                 {"w", PDNN_OPERAND_WEIGHT, .shape = "gates * hidden, x.columns", .fill = PDNN_FILL_UNIFORM,
                  .range = PDNN_RANGE_LINEAR, .inputs = "hidden"},
                 {"u", PDNN_OPERAND_WEIGHT, .shape = "gates * hidden, hidden", .fill = PDNN_FILL_UNIFORM,
                  .range = PDNN_RANGE_LINEAR, .inputs = "hidden"},
                 {"b", PDNN_OPERAND_WEIGHT,
                  .shape = "(biases == 2 ? 2 * gates : cell == lbr_gru ? 4 : gates) * hidden",
                  .fill = PDNN_FILL_UNIFORM, .range = PDNN_RANGE_LINEAR, .inputs = "hidden"}},
    .attributes = {{"cell", PDNN_RNN_CELL, .fallback = "lstm", .words = pdnn_cell_names},
                   {"steps", PDNN_RNN_STEPS, .required = true},
                   {"reverse", PDNN_RNN_REVERSE},
                   {"train", PDNN_RNN_TRAIN, .derived = true, .fallback = "mode == train"},
                   {"hidden", PDNN_SIZE, .required = true},
                   {"biases", PDNN_SIZE, .fallback = "1"},
                   {"gates", PDNN_SIZE, .derived = true,
                    .fallback = "cell == rnn ? 1 : cell == lstm ? 4 : 3"}},
    .outputs = {"y", "saved"},
    .infer = infer,
    .gradient = gradient,
    .pass = {[PDNN_FORWARD] = {.flop = forward_flop,
                               .reference = pdnn_rnn_forward,
                               .scratch = pdnn_rnn_forward_scratch,
                               .workspace = workspace},
             [PDNN_BACKWARD_DATA] = {.flop = backward_flop,
                                     .reference = pdnn_rnn_backward,
                                     .scratch = pdnn_rnn_backward_scratch,
                                     .workspace = workspace}},
    .tolerance = 2e-6,
    .onnx.write = nodes,
};
