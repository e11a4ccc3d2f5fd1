#include "runtime/backends/onednn/rnn/layer.h"

#include "models/op.h"
#include "models/forward.h"

#include <string.h>

static uint32_t new_data(struct pdnn_graph *graph, int64_t rows, int64_t columns) {
    const struct pdnn_tensor tensor = {.role = PDNN_ROLE_INPUT,
                                       .rank = 2,
                                       .dim = {rows, columns},
                                       .fill = {.kind = PDNN_FILL_UNIFORM, .scale = 1},
                                       .of = PDNN_NONE};
    return pdnn_graph_tensor(graph, &tensor);
}

static uint32_t new_weights(struct pdnn_graph *graph, int rank, int64_t rows, int64_t columns) {
    const struct pdnn_fill fill = {.kind = PDNN_FILL_UNIFORM, .scale = 0.1};
    return pdnn_graph_weight(graph, rank, (int64_t[]){rows, columns}, fill);
}

static void append_backward(struct pdnn_graph *graph, bool wants_dx) {
    const struct pdnn_node forward = graph->nodes[0];
    const uint32_t *in = forward.input, *out = forward.output;
    const struct pdnn_tensor *y = &graph->tensors[out[PDNN_RNN_Y]];
    bool has_saved = forward.n_outputs > PDNN_RNN_SAVED;
    struct pdnn_node node = {.op = &pdnn_op_rnn,
                             .pass = PDNN_BACKWARD_DATA,
                             .n_inputs = PDNN_RNN_BACK_SAVED + has_saved,
                             .n_outputs = PDNN_RNN_BACK_DX + wants_dx};
    node.input[PDNN_RNN_BACK_DY] = new_data(graph, y->dim[0], y->dim[1]);
    node.input[PDNN_RNN_BACK_X] = in[PDNN_RNN_X];
    node.input[PDNN_RNN_BACK_Y] = out[PDNN_RNN_Y];
    node.input[PDNN_RNN_BACK_W] = in[PDNN_RNN_W];
    node.input[PDNN_RNN_BACK_U] = in[PDNN_RNN_U];
    node.input[PDNN_RNN_BACK_SAVED] = out[PDNN_RNN_SAVED];
    node.output[PDNN_RNN_BACK_DW] = pdnn_graph_like(graph, in[PDNN_RNN_W], PDNN_ROLE_WEIGHT_GRADIENT);
    node.output[PDNN_RNN_BACK_DU] = pdnn_graph_like(graph, in[PDNN_RNN_U], PDNN_ROLE_WEIGHT_GRADIENT);
    node.output[PDNN_RNN_BACK_DB] = pdnn_graph_like(graph, in[PDNN_RNN_B], PDNN_ROLE_WEIGHT_GRADIENT);
    if (wants_dx)
        node.output[PDNN_RNN_BACK_DX] = pdnn_graph_like(graph, in[PDNN_RNN_X], PDNN_ROLE_GRADIENT);
    memcpy(node.attr, forward.attr, sizeof node.attr);
    pdnn_graph_node(graph, &node);
}

void pdnn_onednn_rnn_build_layer(const struct pdnn_onednn_rnn_shape *shape, enum pdnn_recurrence way,
                                 struct pdnn_graph *graph) {
    const struct pdnn_cell_def *cell = &pdnn_cells[shape->cell];
    int64_t gates = cell->n_gates * shape->H;
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_RNN_CELL] = shape->cell,
                                            [PDNN_RNN_STEPS] = shape->T,
                                            [PDNN_RNN_REVERSE] = shape->is_reverse,
                                            [PDNN_RNN_TRAIN] = shape->is_training};
    const uint32_t inputs[] = {
        [PDNN_RNN_X] = new_data(graph, shape->T * shape->N, shape->I),
        [PDNN_RNN_W] = new_weights(graph, 2, gates, shape->I),
        [PDNN_RNN_U] = new_weights(graph, 2, gates, shape->H),
        [PDNN_RNN_B] =
            new_weights(graph, 1, shape->has_two_biases ? 2 * gates : cell->n_biases * shape->H, 1),
        [PDNN_RNN_INPUTS] = PDNN_NONE,
    };
    graph->rnn = way;
    graph->result = pdnn_graph_forward(graph, &pdnn_op_rnn, inputs, attrs);
    if (shape->is_training && pdnn_graph_status(graph, NULL) == PDNN_OK)
        append_backward(graph, shape->wants_dx);
}
