/* rnn: word ids, a trained embedding, `layers` recurrent layers that run all `length` steps from an initial
 * state of 0, and a linear layer with bias to the vocabulary. Source: ParaDnn (Wang, Wei, Brooks, MLSys
 * 2020), where the hidden size is that of the embedding e: params = layers*g*(2*e*e + e) + v*e + e*v + v,
 * with g = 1, 4, 3 gates of rnn, lstm, gru and v words; lbr_gru has one vector of bias more per layer.
 * Trained with softmax cross-entropy, masked by drawn lengths where every step counts. Dropout is on what
 * every layer and the projection read, not on what a layer gives to itself (Zaremba, Sutskever, Vinyals,
 * 2014). */
#include "models/families/sequence.h"
#include "models/instance.h"

enum {
    CELL,
    LAYERS,
    EMBEDDING,
    HIDDEN,
    LENGTH,
    VOCABULARY,
    BATCH,
    BIDIRECTIONAL,
    OUTPUT,
    DROPOUT,
    IDS,
    N_PARAMS
};

enum { OUTPUT_EVERY_STEP, OUTPUT_LAST, OUTPUT_NONE };
enum { AS_EMBEDDING = 0 };

static const char *const switches[] = {"no", "yes", NULL};
static const char *const outputs[] = {"every-step", "last", "none", NULL};
static const char *const id_kinds[] = {"uniform", "zipf", NULL};
static const enum pdnn_fill_kind id_fills[] = {PDNN_FILL_CLASS, PDNN_FILL_ZIPF};

static const struct pdnn_param_def params[N_PARAMS] = {
    [CELL] = {"cell", PDNN_PARAM_CHOICE, 0, 0, PDNN_CELL_LSTM, pdnn_cell_names, NULL, 0, "",
              "rnn: tanh; gru: reset before the product; lbr_gru: linear before reset, as cuDNN"},
    [LAYERS] = {"layers", PDNN_PARAM_INT, 1, 4096, 1, NULL, NULL, 0, "", "recurrent layers"},
    [EMBEDDING] = {"embedding", PDNN_PARAM_INT, 1, 1 << 20, 512, NULL, NULL, 0, "",
                   "units of a word's embedding"},
    [HIDDEN] = {"hidden", PDNN_PARAM_INT, 1, 1 << 20, AS_EMBEDDING, NULL, "embedding", AS_EMBEDDING, "",
                "units of each recurrent layer and direction; embedding: as many"},
    [LENGTH] = {"length", PDNN_PARAM_INT, 1, 1 << 20, 50, NULL, NULL, 0, "steps", "words of each sequence"},
    [VOCABULARY] = {"vocabulary", PDNN_PARAM_INT, 2, 1 << 24, 1024, NULL, NULL, 0, "words",
                    "words there are: rows of the embedding, units of the projection"},
    [BATCH] = {"batch", PDNN_PARAM_INT, 1, 1 << 24, 64, NULL, NULL, 0, "", "minibatch: sequences per step"},
    [BIDIRECTIONAL] = {"bidirectional", PDNN_PARAM_CHOICE, 0, 0, 0, switches, NULL, 0, "",
                       "each layer also from the last word to the first, side by side"},
    [OUTPUT] = {"output", PDNN_PARAM_CHOICE, 0, 0, OUTPUT_EVERY_STEP, outputs, NULL, 0, "",
                "where the projection is; none: nowhere, and training takes hidden units for classes"},
    [DROPOUT] = {"dropout", PDNN_PARAM_INT, 0, 99, 0, NULL, NULL, 0, "%",
                 "values set to 0 before every layer and the projection; training only"},
    [IDS] = {"ids", PDNN_PARAM_CHOICE, 0, 0, 0, id_kinds, NULL, 0, "",
             "how words are drawn; zipf: the word of rank k about 1/k as often as the first"},
};

static const struct pdnn_preset presets[] = {
    {"paper-min",
     {PDNN_CELL_RNN, 1, 100, AS_EMBEDDING, 10, 2, 16},
     "smallest point of ParaDnn's published sweep: 20,502 parameters"},
    {"paper-max",
     {PDNN_CELL_LSTM, 13, 900, AS_EMBEDDING, 90, 512, 1024},
     "largest point of it: 85,208,912 parameters"},
};

static void resolve(struct pdnn_instance *instance) {
    if (instance->hyper[HIDDEN] == AS_EMBEDDING)
        instance->hyper[HIDDEN] = instance->hyper[EMBEDDING];
}

struct directions {
    uint32_t forward, reverse; /* reverse: PDNN_NONE where there is one direction alone */
};

static struct directions append_layer(struct pdnn_sequence_net *net, uint32_t x,
                                      const struct pdnn_recurrent *layer, bool both) {
    struct directions y = {PDNN_NONE, PDNN_NONE};
    x = pdnn_sequence_dropout(net, x);
    y.forward = pdnn_sequence_recurrent(net, x, layer, false);
    if (both)
        y.reverse = pdnn_sequence_recurrent(net, x, layer, true);
    return y;
}

static uint32_t join(struct pdnn_sequence_net *net, struct directions y) {
    return y.reverse == PDNN_NONE ? y.forward : pdnn_sequence_concat(net, y.forward, y.reverse);
}

static void build(const struct pdnn_instance *instance, struct pdnn_graph *graph) {
    const int64_t *hyper = instance->hyper;
    struct pdnn_sequence_net net = pdnn_sequence_net(instance, graph, hyper[BATCH], hyper[DROPOUT]);
    struct pdnn_recurrent layer = {
        .cell = (enum pdnn_cell)hyper[CELL],
        .hidden = hyper[HIDDEN],
    };
    struct directions y = {PDNN_NONE, PDNN_NONE};
    pdnn_sequence_layer(&net, "embedding", 0);
    uint32_t table = pdnn_sequence_table(&net, hyper[VOCABULARY], hyper[EMBEDDING]);
    uint32_t x = pdnn_sequence_embed(&net, table, hyper[LENGTH], id_fills[hyper[IDS]]);
    for (int64_t i = 1; i <= hyper[LAYERS]; i++) {
        pdnn_sequence_layer(&net, "layer", i);
        x = i == 1 ? x : join(&net, y);
        pdnn_graph_segment_begin(graph);
        y = append_layer(&net, x, &layer, hyper[BIDIRECTIONAL]);
        pdnn_graph_segment_end(graph);
    }
    pdnn_sequence_layer(&net, "output", 0);
    if (hyper[OUTPUT] == OUTPUT_LAST) {
        y.forward = pdnn_sequence_step(&net, y.forward, hyper[LENGTH] - 1);
        y.reverse = y.reverse == PDNN_NONE ? PDNN_NONE : pdnn_sequence_step(&net, y.reverse, 0);
    }
    x = join(&net, y);
    if (hyper[OUTPUT] != OUTPUT_NONE)
        x = pdnn_sequence_dense(&net, pdnn_sequence_dropout(&net, x), hyper[VOCABULARY]);
    pdnn_sequence_finish(&net, x);
}

const struct pdnn_family_def pdnn_family_rnn = {
    .name = "rnn",
    .help = "recurrent language models: embedding, rnn, lstm or gru layers, projection (ParaDnn)",
    .params = params,
    .n_params = N_PARAMS,
    .presets = presets,
    .n_presets = sizeof presets / sizeof *presets,
    .depth_param = LAYERS,
    .recurs = true,
    .has_segments = true, /* recurrent layers */
    .resolve = resolve,
    .build = build,
};
