/* rnn: word ids, a trained embedding, `layers` recurrent layers that run all `length` steps from initial
 * state 0, and a linear layer with bias to the vocabulary. Source: ParaDnn (Wang, Wei, Brooks, MLSys 2020),
 * where the hidden size is that of the embedding e. With v words and g = 1, 4, 3 gates for rnn, lstm, gru:
 *   params = layers*g*(2*e*e + e) + v*e + e*v + v;
 * lbr_gru has one more bias vector per layer. Trained with softmax cross-entropy, masked by random lengths if
 * every step has an output. Dropout is on the inputs of every layer and of the projection, not on a layer's
 * own state (Zaremba, Sutskever, Vinyals, 2014). */
#include "models/families/net.h"
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
    [CELL] =
        {PDNN_ROW_CHOICE("cell", pdnn_cell_names, PDNN_CELL_LSTM),
         .help =
             "rnn: tanh; gru: reset before the product; lbr_gru: linear before reset, a bias for each sum (cuDNN has two for each gate)",
         .example = "[rnn, lstm, gru]"},
    [LAYERS] = {PDNN_ROW_INT("layers", 1, 4096, 1), .help = "recurrent layers",
                .example = "{from: 1, to: 13, plus: 4}"},
    [EMBEDDING] = {PDNN_ROW_INT("embedding", 1, 1 << 20, 512), .help = "width of a word's embedding",
                   .example = "[256, 1024]"},
    [HIDDEN] = {PDNN_ROW_INT("hidden", 1, 1 << 20, AS_EMBEDDING), PDNN_ROW_WORD("embedding", AS_EMBEDDING),
                .help = "units of each recurrent layer and direction; embedding: the embedding's width",
                .example = "[embedding, 512]"},
    [LENGTH] = {PDNN_ROW_INT("length", 1, 1 << 20, 50), .unit = "steps", .help = "words in each sequence",
                .example = "[10, 50]"},
    [VOCABULARY] = {PDNN_ROW_INT("vocabulary", 2, 1 << 24, 1024), .unit = "words",
                    .help = "number of distinct words: rows of the embedding, units of the projection",
                    .example = "10000"},
    [BATCH] = {PDNN_ROW_INT("batch", 1, 1 << 24, 64), .help = "minibatch: sequences per step",
               .example = "[1, 64]"},
    [BIDIRECTIONAL] = {PDNN_ROW_CHOICE("bidirectional", switches, 0),
                       .help = "each layer also runs from the last word to the first, side by side",
                       .example = "[no, yes]"},
    [OUTPUT] = {PDNN_ROW_CHOICE("output_at", outputs, OUTPUT_EVERY_STEP),
                .help = "where the projection is applied; none: nowhere, and hidden units serve as classes "
                        "in training",
                .example = "[every-step, last]"},
    [DROPOUT] = {PDNN_ROW_INT("dropout", 0, 99, 0), .unit = "%",
                 .help = "share of values set to 0 before every layer and the projection; training only",
                 .example = "50"},
    [IDS] = {PDNN_ROW_CHOICE("ids", id_kinds, 0),
             .help = "how words are drawn; zipf: the word of rank k is about 1/k as frequent as the first",
             .example = "[uniform, zipf]"},
};

static const struct pdnn_preset presets[] = {
    {"paper-min", "cell=rnn,layers=1,embedding=100,hidden=embedding,length=10,vocabulary=2,batch=16",
     "smallest point of ParaDnn's published sweep: 20,502 parameters"},
    {"paper-max", "cell=lstm,layers=13,embedding=900,hidden=embedding,length=90,vocabulary=512,batch=1024",
     "largest point of ParaDnn's published sweep: 85,208,912 parameters"},
};

static void resolve(struct pdnn_instance *instance) {
    if (instance->hyper[HIDDEN].number == AS_EMBEDDING)
        instance->hyper[HIDDEN].number = instance->hyper[EMBEDDING].number;
}

struct directions {
    uint32_t forward, reverse; /* reverse: PDNN_NONE if there is only one direction */
};

static struct directions append_layer(struct pdnn_net *net, uint32_t x, const struct pdnn_recurrent *layer,
                                      bool both) {
    struct directions y = {PDNN_NONE, PDNN_NONE};
    x = pdnn_net_dropout(net, x);
    y.forward = pdnn_net_recurrent(net, x, layer, false);
    if (both)
        y.reverse = pdnn_net_recurrent(net, x, layer, true);
    return y;
}

static uint32_t join(struct pdnn_net *net, struct directions y) {
    return y.reverse == PDNN_NONE ? y.forward : pdnn_net_concat(net, y.forward, y.reverse);
}

static void build(const struct pdnn_instance *instance, struct pdnn_graph *graph) {
    const struct pdnn_value *hyper = instance->hyper;
    struct pdnn_net net = pdnn_net_init(instance, graph, hyper[BATCH].number, hyper[DROPOUT].number);
    struct pdnn_recurrent layer = {
        .cell = (enum pdnn_cell)hyper[CELL].number,
        .hidden = hyper[HIDDEN].number,
    };
    struct directions y = {PDNN_NONE, PDNN_NONE};
    pdnn_net_layer(&net, "embedding", 0);
    uint32_t table = pdnn_net_table(&net, hyper[VOCABULARY].number, hyper[EMBEDDING].number);
    uint32_t x = pdnn_net_embed(&net, table, hyper[LENGTH].number, id_fills[hyper[IDS].number]);
    for (int64_t i = 1; i <= hyper[LAYERS].number; i++) {
        pdnn_net_layer(&net, "layer", i);
        x = i == 1 ? x : join(&net, y);
        pdnn_graph_segment_begin(graph);
        y = append_layer(&net, x, &layer, hyper[BIDIRECTIONAL].number);
        pdnn_graph_segment_end(graph);
    }
    pdnn_net_layer(&net, "output", 0);
    if (hyper[OUTPUT].number == OUTPUT_LAST) {
        y.forward = pdnn_net_step(&net, y.forward, hyper[LENGTH].number - 1);
        y.reverse = y.reverse == PDNN_NONE ? PDNN_NONE : pdnn_net_step(&net, y.reverse, 0);
    }
    x = join(&net, y);
    if (hyper[OUTPUT].number != OUTPUT_NONE)
        x = pdnn_net_dense(&net, pdnn_net_dropout(&net, x), hyper[VOCABULARY].number);
    pdnn_net_finish(&net, x);
}

static const struct pdnn_layer_def layers[] = {
    {"embedding", PDNN_LAYER_EMBEDDING},
    {"layer", PDNN_LAYER_RECURRENT},
    {"output", PDNN_LAYER_OUTPUT},
    {"loss", PDNN_LAYER_OUTPUT},
};

static const struct pdnn_lengths_def lengths = {.source = LENGTH, .target = -1, .positions = -1};

const struct pdnn_family_def pdnn_family_rnn = {
    .name = "rnn",
    .help = "recurrent language models: embedding, rnn, lstm or gru layers, projection (ParaDnn)",
    PDNN_FAMILY_TABLES(params, presets, layers),
    .minibatch_param = BATCH,
    .depth_param = LAYERS,
    .lengths = &lengths,
    .recurs = true,
    .has_segments = true, /* recurrent layers */
    .resolve = resolve,
    .build = build,
};
