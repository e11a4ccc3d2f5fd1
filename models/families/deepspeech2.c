/* deepspeech2: speech recognition (Amodei et al., 2016) as in MLPerf v0.5. The input is a spectrogram of 161
 * frequencies with a frame per 10 ms. Two convolutions over frequency and time without padding follow, 32
 * channels of 41x11 with stride 2x2 and 32 of 21x11 with stride 2x1, each with bias, batch normalization and
 * hardtanh from 0 to 20. Then `layers` bidirectional recurrent layers whose two outputs are added, with batch
 * normalization before all but the first, and finally batch normalization and a linear layer without bias to
 * the characters. The cell is lbr_gru with two bias vectors per gate. F frames give T = ((F - 11)/2 + 1) - 10
 * steps of 32*21 features.
 * Parameters with 5 layers of 800: 251,168 + 37,840,000 + 24,800 = 38,115,968. Trained with CTC on
 * labels of random length. */
#include "models/attributes.h"
#include "models/families/net.h"
#include "models/instance.h"
#include "models/op.h"
#include "models/forward.h"

#include <inttypes.h>
#include <math.h>

enum { HIDDEN, LAYERS, FRAMES, CHARACTERS, LABELS, BATCH, N_PARAMS };

enum { FREQUENCIES = 161, CHANNELS = 32, FRAMES_MIN = 31 };

static const struct pdnn_param_def params[N_PARAMS] = {
    [HIDDEN] = {PDNN_ROW_INT("hidden", 1, 1 << 20, 800),
                .help = "units of each recurrent layer and direction", .example = "[200, 800]"},
    [LAYERS] = {PDNN_ROW_INT("layers", 1, 1024, 5), .help = "recurrent layers, all bidirectional",
                .example = "{from: 1, to: 5, plus: 2}"},
    [FRAMES] = {PDNN_ROW_INT("frames", FRAMES_MIN, 1 << 20, 1001), .unit = "frames",
                .help = "length of each recording: 100 frames per second, plus one",
                .example = "[501, 1001]"},
    [CHARACTERS] = {PDNN_ROW_INT("characters", 2, 1 << 24, 29), .help = "output units, including the blank",
                    .example = "5000"},
    [LABELS] = {PDNN_ROW_INT("labels", 1, 1 << 20, 100),
                .help = "characters in the longest transcript; training only", .example = "20"},
    [BATCH] = {PDNN_ROW_INT("batch", 1, 1 << 24, 16), .help = "minibatch: recordings per step",
               .example = "[1, 16]"},
};

static const struct pdnn_preset presets[] = {
    {"deepspeech2", "hidden=800,layers=5,frames=1001,characters=29,labels=100,batch=16",
     "MLPerf's DeepSpeech2, 10 s of audio: 38,115,968 parameters"},
};

struct shape {
    int64_t kernel_f, kernel_t, stride_f, stride_t;
};

static uint32_t convolve(struct pdnn_net *net, uint32_t x, struct shape shape) {
    int64_t C = pdnn_net_width(net, x), taps = C * shape.kernel_f * shape.kernel_t, channels = CHANNELS;
    int64_t attrs[PDNN_NODE_ATTRS] = {
        [PDNN_CONV2D_STRIDE_H] = shape.stride_f, [PDNN_CONV2D_STRIDE_W] = shape.stride_t};
    struct pdnn_fill biases = {.kind = PDNN_FILL_UNIFORM, .scale = 1 / sqrt((double)taps)};
    uint32_t w = pdnn_graph_weight(net->graph, 4, (int64_t[]){CHANNELS, C, shape.kernel_f, shape.kernel_t},
                                   pdnn_net_relu_fill(taps));
    uint32_t b = pdnn_graph_weight(net->graph, 1, &channels, biases);
    x = pdnn_graph_forward(net->graph, &pdnn_op_conv2d, (uint32_t[]){x, w, PDNN_NONE}, attrs);
    x = pdnn_graph_forward(net->graph, &pdnn_op_bias, (uint32_t[]){x, b, PDNN_NONE}, NULL);
    x = pdnn_net_normalize(net, x);
    return pdnn_graph_forward(net->graph, &pdnn_op_hardtanh, (uint32_t[]){x, PDNN_NONE}, NULL);
}

static uint32_t listen(struct pdnn_net *net, int64_t frames) {
    uint32_t x = pdnn_net_input(net, 4, (int64_t[]){net->batch, 1, FREQUENCIES, frames}); /* (N, C, F, T) */
    pdnn_net_layer(net, "conv", 1);
    x = convolve(net, x, (struct shape){41, 11, 2, 2});
    pdnn_net_layer(net, "conv", 2);
    x = convolve(net, x, (struct shape){21, 11, 2, 1});
    return pdnn_graph_forward(net->graph, &pdnn_op_sequence, (uint32_t[]){x, PDNN_NONE}, NULL);
}

/* CTC may need a blank between any two labels. */
static bool has_time(const struct pdnn_net *net, uint32_t x, int64_t frames, int64_t labels) {
    int64_t steps = net->graph->tensors[x].dim[0] / net->batch, needed = 2 * labels - 1;
    if (net->graph->err.status != PDNN_OK || needed <= steps)
        return true;
    pdnn_fail(&net->graph->err, PDNN_INVALID,
              "frames=%" PRId64 " leave %" PRId64 " steps, and labels=%" PRId64 " may need %" PRId64, frames,
              steps, labels, needed);
    return false;
}

static void build(const struct pdnn_instance *instance, struct pdnn_graph *graph) {
    const struct pdnn_value *hyper = instance->hyper;
    struct pdnn_net net = pdnn_net_init(instance, graph, hyper[BATCH].number, 0);
    struct pdnn_recurrent layer = {PDNN_CELL_LBR_GRU, hyper[HIDDEN].number, true};
    uint32_t x = listen(&net, hyper[FRAMES].number);
    if (net.train && !has_time(&net, x, hyper[FRAMES].number, hyper[LABELS].number))
        return;
    for (int64_t i = 1; i <= hyper[LAYERS].number; i++) {
        pdnn_net_layer(&net, "layer", i);
        pdnn_graph_segment_begin(graph);
        x = i > 1 ? pdnn_net_normalize(&net, x) : x;
        x = pdnn_net_add(&net, pdnn_net_recurrent(&net, x, &layer, false),
                         pdnn_net_recurrent(&net, x, &layer, true));
        pdnn_graph_segment_end(graph);
    }
    pdnn_net_layer(&net, "output", 0);
    x = pdnn_net_linear(&net, pdnn_net_normalize(&net, x), hyper[CHARACTERS].number);
    pdnn_net_finish_ctc(&net, x, hyper[LABELS].number);
}

static const struct pdnn_layer_def layers[] = {
    {"conv", PDNN_LAYER_CONVOLUTION},
    {"layer", PDNN_LAYER_RECURRENT},
    {"output", PDNN_LAYER_OUTPUT},
    {"loss", PDNN_LAYER_OUTPUT},
};

/* LibriSpeech's train-clean-100 has 14.6 characters per second: 5.3 million in 100.6 hours. Short recordings
 * have as many as CTC leaves time for. */
static int64_t labels_of(int64_t frames) {
    int64_t labels = (frames * 146 + 500) / 1000, steps = (frames - 11) / 2 + 1 - 10, most = (steps + 1) / 2;
    labels = labels < most ? labels : most;
    return labels > 1 ? labels : 1;
}

static const struct pdnn_lengths_def lengths = {.source = FRAMES,
                                                .target = LABELS,
                                                .positions = -1,
                                                .per_second = 100,
                                                .plus = 1,
                                                .target_of = labels_of};

const struct pdnn_family_def pdnn_family_deepspeech2 = {
    .name = "deepspeech2",
    .help = "speech recognition: convolutions, bidirectional GRUs, CTC (DeepSpeech2, MLPerf)",
    PDNN_FAMILY_TABLES(params, presets, layers),
    .minibatch_param = BATCH,
    .depth_param = LAYERS,
    .convolves = true,
    .lengths = &lengths,
    .recurs = true,
    .has_segments = true, /* recurrent layers, each with its normalization */
    .build = build,
};
