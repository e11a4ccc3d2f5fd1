/* fc: `layers` hidden dense layers of `nodes` units with bias and activation, then a linear dense layer to
 * `output`. Source: ParaDnn (Wang, Wei, Brooks, MLSys 2020).
 *   params = W + layers*nodes + output with W = input*nodes + (layers-1)*nodes^2 + nodes*output.
 * Trained with softmax cross-entropy over `output` classes. */
#include "models/families/net.h"
#include "models/forward.h"
#include "models/instance.h"
#include "models/op.h"

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

static void build(const struct pdnn_instance *instance, struct pdnn_graph *graph) {
    const struct pdnn_value *hyper = instance->hyper;
    struct pdnn_net net = pdnn_net_init(instance, graph, hyper[BATCH].number, 0);
    uint32_t x = pdnn_net_input(&net, 2, (int64_t[]){net.batch, hyper[INPUT].number});
    for (int64_t i = 1; i <= hyper[LAYERS].number; i++) {
        pdnn_net_layer(&net, "hidden", i);
        x = pdnn_net_hidden(&net, x, hyper[NODES].number);
        x = pdnn_graph_forward(graph, activation_ops[hyper[ACTIVATION].number], (uint32_t[]){x, PDNN_NONE},
                               NULL);
    }
    pdnn_net_layer(&net, "output", 0);
    pdnn_net_classify(&net, pdnn_net_hidden(&net, x, hyper[OUTPUT].number));
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
