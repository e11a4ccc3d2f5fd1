/* gnmt: translation with encoder, decoder and attention (Wu et al., 2016) as in MLPerf's GNMT v2. One
 * embedding for both languages. Encoder: `layers` LSTM layers; the first is bidirectional, the second reads
 * both directions, and from the third on each adds its input to its output. Decoder: the same number of LSTM
 * layers. The output of the first queries the attention. Every other layer reads the attention's context next
 * to the output of the layer before, and from the third on adds that output to its own. A linear layer with
 * bias leads to the vocabulary. Two bias vectors per gate.
 * Parameters with 4 layers of 1024 and 32,320 words: 33,095,680 + 46,178,304 + 46,170,112 + 2,099,201
 * (attention) + 33,128,000 = 160,671,297. Trained with teacher forcing (the decoder's initial states are 0)
 * and softmax cross-entropy masked by random lengths. Dropout is on the input of every LSTM. */
#include "models/families/net.h"
#include "models/instance.h"

enum { HIDDEN, LAYERS, VOCABULARY, SOURCE, TARGET, BATCH, DROPOUT, N_PARAMS };

enum { LAYERS_MIN = 2, FIRST_SHORTCUT = 3 };

static const struct pdnn_param_def params[N_PARAMS] = {
    [HIDDEN] = {PDNN_ROW_INT("hidden", 1, 1 << 20, 1024), .help = "units of the embedding and of each LSTM",
                .example = "[512, 1024]"},
    [LAYERS] = {PDNN_ROW_INT("layers", LAYERS_MIN, 1024, 4),
                .help = "LSTM layers of the encoder, and of the decoder", .example = "[2, 4]"},
    [VOCABULARY] = {PDNN_ROW_INT("vocabulary", 2, 1 << 24, 32320), .unit = "words",
                    .help = "vocabulary of either language", .example = "8000"},
    [SOURCE] = {PDNN_ROW_INT("source", 1, 1 << 20, 25), .unit = "steps",
                .help = "words in each source sentence", .example = "[10, 25, 50]"},
    [TARGET] = {PDNN_ROW_INT("target", 1, 1 << 20, 25), .unit = "steps", .help = "words in each translation",
                .example = "[10, 25]"},
    [BATCH] = {PDNN_ROW_INT("batch", 1, 1 << 24, 32), .help = "minibatch: sentences per step",
               .example = "[1, 32]"},
    [DROPOUT] = {PDNN_ROW_INT("dropout", 0, 99, 20), .unit = "%",
                 .help = "share of values set to 0 before every LSTM; training only", .example = "0"},
};

static const struct pdnn_preset presets[] = {
    {"gnmt", "hidden=1024,layers=4,vocabulary=32320,source=25,target=25,batch=32,dropout=20",
     "MLPerf's GNMT v2: 160,671,297 parameters"},
};

static uint32_t lstm(struct pdnn_net *net, uint32_t x, const struct pdnn_recurrent *layer) {
    pdnn_graph_segment_begin(net->graph);
    x = pdnn_net_recurrent(net, pdnn_net_dropout(net, x), layer, false);
    pdnn_graph_segment_end(net->graph);
    return x;
}

static uint32_t encode(struct pdnn_net *net, uint32_t x, const struct pdnn_recurrent *layer, int64_t layers) {
    pdnn_net_layer(net, "encoder", 1);
    pdnn_graph_segment_begin(net->graph);
    x = pdnn_net_dropout(net, x);
    x = pdnn_net_concat(net, pdnn_net_recurrent(net, x, layer, false),
                        pdnn_net_recurrent(net, x, layer, true));
    pdnn_graph_segment_end(net->graph);
    for (int64_t i = 2; i <= layers; i++) {
        pdnn_net_layer(net, "encoder", i);
        uint32_t y = lstm(net, x, layer);
        x = i < FIRST_SHORTCUT ? y : pdnn_net_add(net, y, x);
    }
    return x;
}

static uint32_t decode(struct pdnn_net *net, uint32_t x, uint32_t source, const struct pdnn_recurrent *layer,
                       int64_t layers) {
    pdnn_net_layer(net, "decoder", 1);
    x = lstm(net, x, layer);
    pdnn_net_layer(net, "attention", 0);
    uint32_t context = pdnn_net_attend(net, x, source);
    for (int64_t i = 2; i <= layers; i++) {
        pdnn_net_layer(net, "decoder", i);
        uint32_t y = lstm(net, pdnn_net_concat(net, x, context), layer);
        x = i < FIRST_SHORTCUT ? y : pdnn_net_add(net, y, x);
    }
    return x;
}

static void build(const struct pdnn_instance *instance, struct pdnn_graph *graph) {
    const struct pdnn_value *hyper = instance->hyper;
    struct pdnn_net net = pdnn_net_init(instance, graph, hyper[BATCH].number, hyper[DROPOUT].number);
    struct pdnn_recurrent layer = {PDNN_CELL_LSTM, hyper[HIDDEN].number, true};
    pdnn_net_layer(&net, "embedding", 0);
    uint32_t table = pdnn_net_table(&net, hyper[VOCABULARY].number, hyper[HIDDEN].number);
    uint32_t source = pdnn_net_embed(&net, table, hyper[SOURCE].number, PDNN_FILL_ZIPF);
    uint32_t target = pdnn_net_embed(&net, table, hyper[TARGET].number, PDNN_FILL_ZIPF);
    source = encode(&net, source, &layer, hyper[LAYERS].number);
    target = decode(&net, target, source, &layer, hyper[LAYERS].number);
    pdnn_net_layer(&net, "output", 0);
    pdnn_net_finish(&net, pdnn_net_dense(&net, target, hyper[VOCABULARY].number));
}

static const struct pdnn_layer_def layers[] = {
    {"embedding", PDNN_LAYER_EMBEDDING}, {"encoder", PDNN_LAYER_RECURRENT},
    {"decoder", PDNN_LAYER_RECURRENT},   {"attention", PDNN_LAYER_ADDITIVE_ATTENTION},
    {"output", PDNN_LAYER_OUTPUT},       {"loss", PDNN_LAYER_OUTPUT},
};

static const struct pdnn_lengths_def lengths = {.source = SOURCE, .target = TARGET, .positions = -1};

const struct pdnn_family_def pdnn_family_gnmt = {
    .name = "gnmt",
    .help = "translation: LSTM encoder and decoder with attention (GNMT, MLPerf)",
    PDNN_FAMILY_TABLES(params, presets, layers),
    .minibatch_param = BATCH,
    .depth_param = -1, /* layers are identical only from the third on */
    .lengths = &lengths,
    .recurs = true,
    .has_segments = true, /* recurrent layers */
    .build = build,
};
