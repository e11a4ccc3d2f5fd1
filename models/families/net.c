#include "models/families/net.h"

#include "models/op.h"
#include "models/forward.h"

#include <math.h>
#include <string.h>

struct pdnn_net pdnn_net_init(const struct pdnn_instance *instance, struct pdnn_graph *graph, int64_t batch,
                              int64_t dropout_percent) {
    bool train = instance->setting[PDNN_SETTING_MODE] == PDNN_MODE_TRAIN;
    return (struct pdnn_net){graph, batch, dropout_percent, train};
}

void pdnn_net_layer(struct pdnn_net *net, const char *stem, int64_t index) {
    net->graph->layer = (struct pdnn_layer){stem, index};
}

int64_t pdnn_net_width(const struct pdnn_net *net, uint32_t x) {
    return net->graph->tensors[x].dim[1];
}

static int64_t rows_of(const struct pdnn_net *net, uint32_t x) {
    return net->graph->tensors[x].dim[0];
}

/* The usual range for a layer with this number of inputs: the variance of a linear layer's result is a
 * third of its input's. */
static struct pdnn_fill fill_for(int64_t inputs) {
    return (struct pdnn_fill){.kind = PDNN_FILL_UNIFORM, .scale = 1 / sqrt((double)inputs)};
}

uint32_t pdnn_net_table(struct pdnn_net *net, int64_t vocabulary, int64_t width) {
    return pdnn_graph_weight(net->graph, 2, (int64_t[]){vocabulary, width},
                             (struct pdnn_fill){.kind = PDNN_FILL_UNIFORM, .scale = 1});
}

uint32_t pdnn_net_gather(struct pdnn_net *net, uint32_t matrix, int rank, const int64_t *dim,
                         struct pdnn_fill fill) {
    struct pdnn_tensor ids = {
        .role = PDNN_ROLE_INPUT, .dtype = PDNN_S32, .rank = rank, .fill = fill, .of = PDNN_NONE};
    memcpy(ids.dim, dim, (size_t)rank * sizeof *dim);
    uint32_t id = pdnn_graph_tensor(net->graph, &ids);
    return pdnn_graph_forward(net->graph, &pdnn_op_embedding, (uint32_t[]){id, matrix, PDNN_NONE}, NULL);
}

uint32_t pdnn_net_embed(struct pdnn_net *net, uint32_t table, int64_t steps, enum pdnn_fill_kind kind) {
    const struct pdnn_fill fill = {.kind = kind, .scale = (double)rows_of(net, table)};
    return pdnn_net_gather(net, table, 1, (int64_t[]){steps * net->batch}, fill);
}

uint32_t pdnn_net_counter(struct pdnn_net *net) {
    return pdnn_graph_state(net->graph, 1, (int64_t[]){1}, (struct pdnn_fill){0});
}

uint32_t pdnn_net_dropout(struct pdnn_net *net, uint32_t x) {
    if (!net->train || !net->dropout_percent)
        return x;
    int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_DROPOUT_PERCENT] = net->dropout_percent};
    return pdnn_graph_forward(net->graph, &pdnn_op_dropout, (uint32_t[]){x, pdnn_net_counter(net), PDNN_NONE},
                              attrs);
}

uint32_t pdnn_net_recurrent(struct pdnn_net *net, uint32_t x, const struct pdnn_recurrent *layer,
                            bool reverse) {
    const struct pdnn_cell_def *cell = &pdnn_cells[layer->cell];
    int64_t H = layer->hidden, gates = cell->n_gates * H;
    int64_t biases = layer->two_biases ? 2 * gates : cell->n_biases * H;
    int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_RNN_CELL] = layer->cell,
                                      [PDNN_RNN_STEPS] = rows_of(net, x) / net->batch,
                                      [PDNN_RNN_REVERSE] = reverse,
                                      [PDNN_RNN_TRAIN] = net->train};
    const uint32_t inputs[] = {
        [PDNN_RNN_X] = x,
        [PDNN_RNN_W] =
            pdnn_graph_weight(net->graph, 2, (int64_t[]){gates, pdnn_net_width(net, x)}, fill_for(H)),
        [PDNN_RNN_U] = pdnn_graph_weight(net->graph, 2, (int64_t[]){gates, H}, fill_for(H)),
        [PDNN_RNN_B] = pdnn_graph_weight(net->graph, 1, &biases, fill_for(H)),
        [PDNN_RNN_INPUTS] = PDNN_NONE,
    };
    return pdnn_graph_forward(net->graph, &pdnn_op_rnn, inputs, attrs);
}

uint32_t pdnn_net_input(struct pdnn_net *net, int rank, const int64_t *dim) {
    struct pdnn_tensor input = {.role = PDNN_ROLE_INPUT,
                                .dtype = net->graph->dtype,
                                .rank = rank,
                                .fill = {.kind = PDNN_FILL_UNIFORM, .scale = 1},
                                .of = PDNN_NONE};
    memcpy(input.dim, dim, (size_t)rank * sizeof *dim);
    return pdnn_graph_tensor(net->graph, &input);
}

struct pdnn_fill pdnn_net_relu_fill(int64_t inputs) {
    return (struct pdnn_fill){.kind = PDNN_FILL_UNIFORM, .scale = sqrt(6.0 / (double)inputs)};
}

uint32_t pdnn_net_hidden(struct pdnn_net *net, uint32_t x, int64_t units) {
    int64_t inputs = pdnn_tensor_elements(&net->graph->tensors[x]) / rows_of(net, x);
    uint32_t w = pdnn_graph_weight(net->graph, 2, (int64_t[]){units, inputs}, pdnn_net_relu_fill(inputs));
    x = pdnn_graph_forward(net->graph, &pdnn_op_dense, (uint32_t[]){x, w, PDNN_NONE}, NULL);
    return pdnn_net_bias(net, x, inputs);
}

uint32_t pdnn_net_linear(struct pdnn_net *net, uint32_t x, int64_t units) {
    int64_t inputs = pdnn_net_width(net, x);
    uint32_t w = pdnn_graph_weight(net->graph, 2, (int64_t[]){units, inputs}, fill_for(inputs));
    return pdnn_graph_forward(net->graph, &pdnn_op_dense, (uint32_t[]){x, w, PDNN_NONE}, NULL);
}

uint32_t pdnn_net_bias(struct pdnn_net *net, uint32_t y, int64_t inputs) {
    int64_t units = pdnn_net_width(net, y);
    uint32_t b = pdnn_graph_weight(net->graph, 1, &units, fill_for(inputs));
    return pdnn_graph_forward(net->graph, &pdnn_op_bias, (uint32_t[]){y, b, PDNN_NONE}, NULL);
}

uint32_t pdnn_net_dense(struct pdnn_net *net, uint32_t x, int64_t units) {
    return pdnn_net_bias(net, pdnn_net_linear(net, x, units), pdnn_net_width(net, x));
}

uint32_t pdnn_net_concat(struct pdnn_net *net, uint32_t a, uint32_t b) {
    return pdnn_graph_forward(net->graph, &pdnn_op_concat, (uint32_t[]){a, b, PDNN_NONE}, NULL);
}

uint32_t pdnn_net_add(struct pdnn_net *net, uint32_t a, uint32_t b) {
    return pdnn_graph_forward(net->graph, &pdnn_op_add, (uint32_t[]){a, b, PDNN_NONE}, NULL);
}

uint32_t pdnn_net_attend(struct pdnn_net *net, uint32_t query, uint32_t source) {
    int64_t C = pdnn_net_width(net, query), one = 1;
    int64_t attrs[PDNN_NODE_ATTRS] = {
        [PDNN_ATTENTION_SEQUENCES] = net->batch, [PDNN_ATTENTION_TRAIN] = net->train};
    uint32_t q = pdnn_net_dense(net, query, C), k = pdnn_net_linear(net, source, C);
    uint32_t v = pdnn_graph_weight(net->graph, 1, &C, fill_for(C));
    uint32_t g = pdnn_graph_weight(net->graph, 1, &one, (struct pdnn_fill){PDNN_FILL_CONSTANT, 1});
    return pdnn_graph_forward(net->graph, &pdnn_op_attention, (uint32_t[]){q, k, source, v, g, PDNN_NONE},
                              attrs);
}

uint32_t pdnn_net_step(struct pdnn_net *net, uint32_t x, int64_t t) {
    int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_SLICE_FIRST] = t * net->batch, [PDNN_SLICE_ROWS] = net->batch};
    return pdnn_graph_forward(net->graph, &pdnn_op_slice, (uint32_t[]){x, PDNN_NONE}, attrs);
}

/* Gamma and the running statistics get non-trivial values, so that mistakes in folding them show. */
uint32_t pdnn_net_normalize(struct pdnn_net *net, uint32_t x) {
    const struct pdnn_fill near_one = {.kind = PDNN_FILL_NEAR_ONE, .scale = 0.25};
    const struct pdnn_fill small = {.kind = PDNN_FILL_UNIFORM, .scale = 0.1};
    int64_t C = pdnn_net_width(net, x);
    int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_BATCHNORM_TRAIN] = net->train};
    uint32_t gamma = pdnn_graph_weight(net->graph, 1, &C, near_one);
    uint32_t beta = pdnn_graph_weight(net->graph, 1, &C, small);
    uint32_t mean = pdnn_graph_state(net->graph, 1, &C, small);
    uint32_t variance = pdnn_graph_state(net->graph, 1, &C, near_one);
    return pdnn_graph_forward(net->graph, &pdnn_op_batchnorm,
                              (uint32_t[]){x, gamma, beta, mean, variance, PDNN_NONE}, attrs);
}

static uint32_t add_loss(struct pdnn_net *net, const struct pdnn_op_def *op, uint32_t logits,
                         struct pdnn_tensor labels) {
    pdnn_net_layer(net, "loss", 0);
    labels.role = PDNN_ROLE_LABEL;
    labels.dtype = PDNN_S32;
    labels.of = PDNN_NONE;
    uint32_t label = pdnn_graph_tensor(net->graph, &labels), x = pdnn_graph_f32(net->graph, logits);
    return pdnn_graph_forward(net->graph, op, (uint32_t[]){x, label, PDNN_NONE}, NULL);
}

/* Ends the graph with the logits, or adds labels and the loss of the logits. */
static void append_loss(struct pdnn_net *net, const struct pdnn_op_def *op, uint32_t logits,
                        struct pdnn_tensor labels) {
    net->graph->result = net->train ? PDNN_NONE : logits;
    if (net->train)
        net->graph->loss = add_loss(net, op, logits, labels);
}

static struct pdnn_tensor classes(const struct pdnn_net *net, uint32_t logits) {
    return (struct pdnn_tensor){.rank = 1,
                                .dim = {rows_of(net, logits)},
                                .fill = {PDNN_FILL_CLASS, (double)pdnn_net_width(net, logits)}};
}

uint32_t pdnn_net_loss(struct pdnn_net *net, uint32_t logits) {
    return add_loss(net, &pdnn_op_softmax_cross_entropy, logits, classes(net, logits));
}

void pdnn_net_classify(struct pdnn_net *net, uint32_t logits) {
    append_loss(net, &pdnn_op_softmax_cross_entropy, logits, classes(net, logits));
}

/* Sequences of class ids with random lengths. */
static struct pdnn_tensor sequences(const struct pdnn_net *net, int64_t length, int64_t classes) {
    return (struct pdnn_tensor){
        .rank = 2, .dim = {length, net->batch}, .fill = {PDNN_FILL_SEQUENCE_CLASS, (double)classes}};
}

void pdnn_net_finish(struct pdnn_net *net, uint32_t logits) {
    int64_t steps = rows_of(net, logits) / net->batch;
    append_loss(net, &pdnn_op_softmax_cross_entropy, logits,
                sequences(net, steps, pdnn_net_width(net, logits)));
}

void pdnn_net_finish_ctc(struct pdnn_net *net, uint32_t logits, int64_t labels) {
    append_loss(net, &pdnn_op_ctc_loss, logits, sequences(net, labels, pdnn_net_width(net, logits) - 1));
}
