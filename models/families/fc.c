/* fc: `layers` hidden dense layers of `nodes` units with bias and activation, then a linear dense layer to
 * `output`. Source: ParaDnn (Wang, Wei, Brooks, MLSys 2020).
 *   params = W + layers*nodes + output with W = input*nodes + (layers-1)*nodes^2 + nodes*output.
 * Trained with softmax cross-entropy over `output` classes. */
#include "models/instance.h"
#include "models/op.h"
#include "models/forward.h"

#include <math.h>

enum { LAYERS, NODES, INPUT, OUTPUT, BATCH, ACTIVATION, N_PARAMS };

static const char *const activations[] = {"relu", "sigmoid", "tanh", NULL};
static const struct pdnn_op_def *const activation_ops[] = {&pdnn_op_relu, &pdnn_op_sigmoid, &pdnn_op_tanh};

static const struct pdnn_param_def params[N_PARAMS] = {
    [LAYERS] = {PDNN_ROW_INT("layers", 1, 4096, 4), .help = "hidden layers", .example = "[4, 16]"},
    [NODES] = {PDNN_ROW_INT("nodes", 1, 1 << 24, 1024), .help = "units of each hidden layer",
               .example = "{from: 128, to: 4096, times: 2}"},
    [INPUT] = {PDNN_ROW_INT("input", 1, 1 << 24, 2000), .help = "input features",
               .example = "{from: 2000, to: 8000, plus: 2000}"},
    [OUTPUT] = {PDNN_ROW_INT("output", 1, 1 << 24, 1000), .help = "output units; classes in training",
                .example = "[200, 1000]"},
    [BATCH] = {PDNN_ROW_INT("batch", 1, 1 << 24, 64), .help = "minibatch: examples per step",
               .example = "[1, 64, 1024]"},
    [ACTIVATION] = {PDNN_ROW_CHOICE("activation", activations, 0), .help = "after each hidden layer",
                    .example = "[relu, tanh]"},
};

static const struct pdnn_preset presets[] = {
    {"paper-min", "layers=4,nodes=32,input=2000,output=200,batch=64",
     "smallest point of ParaDnn's published sweep: 73,800 parameters"},
    {"paper-max", "layers=128,nodes=8192,input=8000,output=1000,batch=16384", "largest point of it"},
};

/* He et al. 2015: keeps the variance of a deep stack of ReLU layers. The bias has the usual range of a
 * linear layer's weights. */
static uint32_t layer(struct pdnn_graph *graph, uint32_t x, int64_t inputs, int64_t outputs) {
    struct pdnn_fill weights = {PDNN_FILL_UNIFORM, sqrt(6.0 / (double)inputs)};
    struct pdnn_fill biases = {PDNN_FILL_UNIFORM, 1 / sqrt((double)inputs)};
    uint32_t w = pdnn_graph_weight(graph, 2, (int64_t[]){outputs, inputs}, weights);
    uint32_t y = pdnn_graph_forward(graph, &pdnn_op_dense, (uint32_t[]){x, w, PDNN_NONE}, NULL);
    uint32_t b = pdnn_graph_weight(graph, 1, &outputs, biases);
    return pdnn_graph_forward(graph, &pdnn_op_bias, (uint32_t[]){y, b, PDNN_NONE}, NULL);
}

static void build(const struct pdnn_instance *instance, struct pdnn_graph *graph) {
    const struct pdnn_value *hyper = instance->hyper;
    struct pdnn_tensor input = {.role = PDNN_ROLE_INPUT,
                                .dtype = graph->dtype,
                                .rank = 2,
                                .dim = {hyper[BATCH].number, hyper[INPUT].number},
                                .fill = {PDNN_FILL_UNIFORM, 1},
                                .of = PDNN_NONE};
    uint32_t x = pdnn_graph_tensor(graph, &input); /* (N, I) */
    int64_t width = hyper[INPUT].number;
    for (int64_t i = 1; i <= hyper[LAYERS].number; i++) {
        graph->layer = (struct pdnn_layer){"hidden", i};
        x = layer(graph, x, width, hyper[NODES].number);
        x = pdnn_graph_forward(graph, activation_ops[hyper[ACTIVATION].number], (uint32_t[]){x, PDNN_NONE},
                               NULL);
        width = hyper[NODES].number;
    }
    graph->layer = (struct pdnn_layer){"output", 0};
    x = layer(graph, x, width, hyper[OUTPUT].number);
    graph->result = x;
    if (instance->setting[PDNN_SETTING_MODE] != PDNN_MODE_TRAIN)
        return;
    graph->layer = (struct pdnn_layer){"loss", 0};
    struct pdnn_tensor labels = {.role = PDNN_ROLE_LABEL,
                                 .dtype = PDNN_S32,
                                 .rank = 1,
                                 .dim = {hyper[BATCH].number},
                                 .fill = {PDNN_FILL_CLASS, (double)hyper[OUTPUT].number},
                                 .of = PDNN_NONE};
    uint32_t label = pdnn_graph_tensor(graph, &labels); /* (N) */
    graph->loss = pdnn_graph_forward(graph, &pdnn_op_softmax_cross_entropy,
                                     (uint32_t[]){pdnn_graph_f32(graph, x), label, PDNN_NONE}, NULL);
    graph->result = PDNN_NONE;
}

static const struct pdnn_layer_def layers[] = {
    {"hidden", PDNN_LAYER_DENSE},
    {"output", PDNN_LAYER_OUTPUT},
    {"loss", PDNN_LAYER_OUTPUT},
};

const struct pdnn_family_def pdnn_family_fc = {
    .name = "fc",
    .help = "fully connected: hidden dense layers with bias and activation, then a linear layer (ParaDnn)",
    PDNN_FAMILY_TABLES(params, presets, layers),
    .minibatch_param = BATCH,
    .depth_param = LAYERS,
    .build = build,
    .quantizes = true,
};
