/* transformer: encoders (BERT: Devlin et al., 2019), decoders (GPT-2: Radford et al., 2019) and both with
 * attention from the one to the other (Vaswani et al., 2017). Words and positions are embedded; `layers`
 * layers of attention and a feed-forward net each follow, with normalization after (post) or before (pre) and
 * then once more at the end. An encoder with post-norm normalizes its embeddings and, with a pooler, ends
 * with a tanh layer on each first token, as BERT does; decoders and encoder-decoders score every word with
 * the embedding's own table.
 *
 * H hidden, F ffn, V vocabulary, L layers, B sequences, n length, T = B*n tokens, P predictions. Parameters
 * of a layer of an encoder or a decoder: 4(H*H + H) + 2*H*F + F + H + 4H = 12*H*H + 13*H with F = 4H; that
 * attends to a source: 4(H*H + H) + 2H more. Encoder with pooler: V*H + positions*H + types*H + 2H + layers +
 * H*H + H. Heads of pretraining: a transform with norm, a bias per word (the table is the embedding's), two
 * classes for the next sentence: H*H + H + 2H + V + 2H + 2. Forward matrix FLOP of a layer: 24*T*H*H +
 * 4*T*n*H with F = 4H. */
#include "models/families/transformer_layer.h"
#include "models/op.h"

#include <inttypes.h>
#include <math.h>

enum {
    ARCHITECTURE,
    LAYERS,
    HIDDEN,
    HEADS,
    FFN,
    LENGTH,
    TARGET,
    VOCABULARY,
    BATCH,
    ACTIVATION,
    NORM,
    OBJECTIVE,
    DROPOUT,
    QKV,
    POSITIONS,
    TYPES,
    POOLER,
    PREDICTIONS,
    PHASE,
    CONTEXT,
    N_PARAMS
};

enum { ENCODER, DECODER, ENCODER_DECODER };
enum { NORM_POST, NORM_PRE };
enum { OBJECTIVE_NONE, OBJECTIVE_MASKED, OBJECTIVE_CAUSAL };
enum { QKV_FUSED, QKV_SEPARATE };
enum { PHASE_PREFILL, PHASE_DECODE };
enum { NO_POOLER, HAS_POOLER };
enum { FOUR_HIDDEN = 0, AS_LENGTH = 0, FIVE_OF_32 = 0, SINUSOIDS = 0 };

static const char *const architectures[] = {"encoder", "decoder", "encoder-decoder", NULL};
static const char *const activations[] = {"gelu", "gelu_tanh", "relu", NULL};
static const struct pdnn_op_def *const activation_ops[] = {&pdnn_op_gelu, &pdnn_op_gelu_tanh, &pdnn_op_relu};
static const char *const norms[] = {"post", "pre", NULL};
static const char *const objectives[] = {"none", "masked-lm", "causal-lm", NULL};
static const char *const qkvs[] = {"fused", "separate", NULL};
static const char *const switches[] = {"no", "yes", NULL};
static const char *const phases[] = {"prefill", "decode", NULL};

static const struct pdnn_param_def params[N_PARAMS] = {
    [ARCHITECTURE] = {"architecture", PDNN_PARAM_CHOICE, 0, 0, ENCODER, architectures, NULL, 0, "",
                      "encoder: BERT; decoder: GPT; encoder-decoder: translation"},
    [LAYERS] = {"layers", PDNN_PARAM_INT, 1, 4096, 12, NULL, NULL, 0, "",
                "layers; encoder-decoder: of each of the two"},
    [HIDDEN] = {"hidden", PDNN_PARAM_INT, 1, 1 << 20, 768, NULL, NULL, 0, "", "width of a token"},
    [HEADS] = {"heads", PDNN_PARAM_INT, 1, 1 << 16, 12, NULL, NULL, 0, "",
               "attention heads; the width is a multiple of them"},
    [FFN] = {"ffn", PDNN_PARAM_INT, 1, 1 << 22, FOUR_HIDDEN, NULL, "4*hidden", FOUR_HIDDEN, "",
             "units between the two layers of the feed-forward net"},
    [LENGTH] = {"length", PDNN_PARAM_INT, 1, 1 << 20, 128, NULL, NULL, 0, "tokens", "of each sequence"},
    [TARGET] = {"target", PDNN_PARAM_INT, 1, 1 << 20, AS_LENGTH, NULL, "length", AS_LENGTH, "tokens",
                "of each sequence of the decoder"},
    [VOCABULARY] = {"vocabulary", PDNN_PARAM_INT, 2, 1 << 24, 30522, NULL, NULL, 0, "words",
                    "rows of the embedding"},
    [BATCH] = {"batch", PDNN_PARAM_INT, 1, 1 << 24, 8, NULL, NULL, 0, "", "minibatch: sequences per step"},
    [ACTIVATION] = {"activation", PDNN_PARAM_CHOICE, 0, 0, 0, activations, NULL, 0, "",
                    "of the feed-forward net; gelu: with erf"},
    [NORM] = {"norm", PDNN_PARAM_CHOICE, 0, 0, NORM_POST, norms, NULL, 0, "",
              "what is normalized: a layer's sum (BERT), or what a layer reads (GPT-2)"},
    [OBJECTIVE] = {"objective", PDNN_PARAM_CHOICE, 0, 0, OBJECTIVE_NONE, objectives, NULL, 0, "",
                   "heads and loss; none: no head, and training takes hidden units for classes"},
    [DROPOUT] = {"dropout", PDNN_PARAM_INT, 0, 99, 10, NULL, NULL, 0, "%",
                 "of embeddings, attention and each part of a layer; training only"},
    [QKV] = {"qkv", PDNN_PARAM_CHOICE, 0, 0, QKV_FUSED, qkvs, NULL, 0, "",
             "queries, keys and values by one product or by three"},
    [POSITIONS] = {"positions", PDNN_PARAM_INT, 0, 1 << 20, 512, NULL, NULL, 0, "tokens",
                   "trained embeddings of positions; 0: sinusoids, which are not trained"},
    [TYPES] = {"types", PDNN_PARAM_INT, 0, 1 << 10, 2, NULL, NULL, 0, "", "embeddings of segments; 0: none"},
    [POOLER] = {"pooler", PDNN_PARAM_CHOICE, 0, 0, HAS_POOLER, switches, NULL, 0, "",
                "a tanh layer on each first token; masked-lm: and next-sentence prediction from it"},
    [PREDICTIONS] = {"predictions", PDNN_PARAM_INT, 1, 1 << 20, FIVE_OF_32, NULL, "length*5/32", FIVE_OF_32,
                     "tokens", "masked tokens of each sequence, which masked-lm predicts"},
    [PHASE] = {"phase", PDNN_PARAM_CHOICE, 0, 0, PHASE_PREFILL, phases, NULL, 0, "",
               "prefill: all tokens at once; decode: one more token, with a cache of those before it"},
    [CONTEXT] = {"context", PDNN_PARAM_INT, 1, 1 << 24, 512, NULL, NULL, 0, "tokens",
                 "that the new one attends to, itself included; keys and values of all are cached"},
};

#define BERT(layers, hidden, heads, objective)                                                               \
    {                                                                                                        \
        ENCODER, layers, hidden, heads, FOUR_HIDDEN, 128, AS_LENGTH, 30522, 8, 0, NORM_POST, objective, 10,  \
            QKV_FUSED, 512, 2, HAS_POOLER, FIVE_OF_32, PHASE_PREFILL, 512                                    \
    }
#define GPT2(layers, hidden, heads)                                                                          \
    {                                                                                                        \
        DECODER, layers, hidden, heads, FOUR_HIDDEN, 1024, AS_LENGTH, 50257, 1, 1, NORM_PRE,                 \
            OBJECTIVE_CAUSAL, 10, QKV_FUSED, 1024, 0, NO_POOLER, FIVE_OF_32, PHASE_PREFILL, 512              \
    }
#define VASWANI(hidden, heads, dropout)                                                                      \
    {                                                                                                        \
        ENCODER_DECODER, 6, hidden, heads, FOUR_HIDDEN, 32, AS_LENGTH, 37000, 64, 2, NORM_POST,              \
            OBJECTIVE_CAUSAL, dropout, QKV_FUSED, SINUSOIDS, 0, NO_POOLER, FIVE_OF_32, PHASE_PREFILL, 512    \
    }

static const struct pdnn_preset presets[] = {
    {"bert-base", BERT(12, 768, 12, OBJECTIVE_NONE),
     "BERT-Base, objective=masked-lm adds the heads of pretraining: 109,482,240 or 110,106,428 parameters"},
    {"bert-large", BERT(24, 1024, 16, OBJECTIVE_NONE), "BERT-Large: 335,141,888 or 336,226,108 parameters"},
    {"gpt2", GPT2(12, 768, 12), "GPT-2 small: 124,439,808 parameters"},
    {"gpt2-medium", GPT2(24, 1024, 16), "GPT-2 medium: 354,823,168 parameters"},
    {"gpt2-large", GPT2(36, 1280, 20), "GPT-2 large: 774,030,080 parameters"},
    {"gpt2-xl", GPT2(48, 1600, 25), "GPT-2 XL: 1,557,611,200 parameters"},
    {"transformer-base", VASWANI(512, 8, 10), "base model of Vaswani et al.: 63,082,496 parameters"},
    {"transformer-big", VASWANI(1024, 16, 30), "big model of Vaswani et al.: 214,245,376 parameters"},
};

/* The architectures that a parameter means something for, a bit each; 0: all of them. */
static const unsigned only_for[N_PARAMS] = {
    [TARGET] = 1 << ENCODER_DECODER, [TYPES] = 1 << ENCODER, [POOLER] = 1 << ENCODER,
    [PREDICTIONS] = 1 << ENCODER,    [PHASE] = 1 << DECODER, [CONTEXT] = 1 << DECODER,
};

static bool applies(const struct pdnn_instance *instance, size_t param) {
    const int64_t *hyper = instance->hyper;
    if (only_for[param] && !(only_for[param] >> hyper[ARCHITECTURE] & 1))
        return false;
    if (param == PREDICTIONS)
        return hyper[OBJECTIVE] == OBJECTIVE_MASKED;
    bool decodes = hyper[ARCHITECTURE] == DECODER && hyper[PHASE] == PHASE_DECODE;
    return param == LENGTH ? !decodes : param != CONTEXT || decodes;
}

static void resolve(struct pdnn_instance *instance) {
    int64_t *hyper = instance->hyper;
    if (hyper[FFN] == FOUR_HIDDEN)
        hyper[FFN] = 4 * hyper[HIDDEN];
    if (hyper[TARGET] == AS_LENGTH && applies(instance, TARGET))
        hyper[TARGET] = hyper[LENGTH];
    if (hyper[PREDICTIONS] == FIVE_OF_32 && applies(instance, PREDICTIONS))
        hyper[PREDICTIONS] = (hyper[LENGTH] * 5 + 31) / 32;
}

/* One graph being built. */
struct net {
    struct pdnn_transformer_net layers;
    const int64_t *hyper;
    uint32_t table, positions; /* (V, H), (positions, H) */
};

static struct pdnn_graph *graph_of(const struct net *net) {
    return net->layers.sequence.graph;
}

static bool check(const struct pdnn_instance *instance, struct pdnn_graph *graph) {
    const int64_t *hyper = instance->hyper;
    bool decodes = applies(instance, CONTEXT),
         trains = instance->setting[PDNN_SETTING_MODE] == PDNN_MODE_TRAIN;
    int64_t last = decodes ? hyper[CONTEXT] : hyper[LENGTH] > hyper[TARGET] ? hyper[LENGTH] : hyper[TARGET];
    if (hyper[HIDDEN] % hyper[HEADS])
        pdnn_fail(&graph->err, PDNN_INVALID, "hidden=%" PRId64 " is no multiple of heads=%" PRId64,
                  hyper[HIDDEN], hyper[HEADS]);
    else if (hyper[POSITIONS] && last > hyper[POSITIONS])
        pdnn_fail(&graph->err, PDNN_INVALID, "token %" PRId64 " is beyond positions=%" PRId64, last,
                  hyper[POSITIONS]);
    else if ((hyper[OBJECTIVE] == OBJECTIVE_MASKED) != (hyper[ARCHITECTURE] == ENCODER) &&
             hyper[OBJECTIVE] != OBJECTIVE_NONE)
        pdnn_fail(&graph->err, PDNN_INVALID, "objective=%s is not for architecture=%s",
                  objectives[hyper[OBJECTIVE]], architectures[hyper[ARCHITECTURE]]);
    else if (decodes && trains)
        pdnn_fail(&graph->err, PDNN_INVALID, "phase=decode is for mode=infer");
    return graph->err.status == PDNN_OK;
}

/* Rows of a table, as many as ids of a kind. */
static uint32_t gather(struct net *net, uint32_t table, int64_t rows, struct pdnn_fill fill) {
    return pdnn_sequence_gather(&net->layers.sequence, table, 1, &rows, fill);
}

/* Word, position and, of encoders, segment: (B*n, H). */
static uint32_t embed(struct net *net, int64_t tokens) {
    struct pdnn_sequence_net *sequence = &net->layers.sequence;
    int64_t rows = sequence->batch * tokens, context = net->layers.context;
    struct pdnn_fill position = {PDNN_FILL_POSITION, (double)tokens};
    if (context)
        position = (struct pdnn_fill){PDNN_FILL_CONSTANT, (double)(context - 1)};
    pdnn_sequence_layer(sequence, "embedding", 0);
    uint32_t x =
        gather(net, net->table, rows, (struct pdnn_fill){PDNN_FILL_ZIPF, (double)net->hyper[VOCABULARY]});
    x = pdnn_sequence_add(sequence, x, gather(net, net->positions, rows, position));
    if (net->hyper[ARCHITECTURE] != ENCODER || !net->hyper[TYPES])
        return x;
    uint32_t types = pdnn_sequence_table(sequence, net->hyper[TYPES], net->layers.hidden);
    const struct pdnn_fill type = {PDNN_FILL_CLASS, (double)net->hyper[TYPES]};
    return pdnn_sequence_add(sequence, x, gather(net, types, rows, type));
}

/* The stream before layer `index`. */
static struct pdnn_stream begin(struct net *net, int64_t tokens, int64_t index) {
    struct pdnn_transformer_net *layers = &net->layers;
    uint32_t x = embed(net, tokens);
    if (net->hyper[ARCHITECTURE] == ENCODER && !layers->pre_norm) {
        struct pdnn_norm norm = pdnn_transformer_norm(layers, "embedding", 0);
        x = pdnn_transformer_normalize(layers, x, &norm);
    }
    x = pdnn_sequence_dropout(&layers->sequence, x);
    struct pdnn_stream stream = {x, x};
    if (layers->pre_norm) {
        struct pdnn_norm norm = pdnn_transformer_norm(layers, "norm1", index);
        stream.normalized = pdnn_transformer_normalize(layers, x, &norm);
    }
    return stream;
}

enum { PARTS_MAX = 3 };

/* A stack of layers with indices from `first` on; those of a decoder that has a source attend to it, too. */
struct stack {
    int64_t first;
    uint32_t source; /* or PDNN_NONE */
    struct pdnn_visibility own, cross;
};

/* The norm behind part `part` of layer `index`: pre-norm has that of the part that comes next there. */
static struct pdnn_norm norm_behind(struct net *net, const struct stack *stack, int part, int64_t index) {
    static const char *const stems[2][PARTS_MAX] = {{"norm1", "norm2"}, {"norm1", "cross_norm", "norm2"}};
    bool has_source = stack->source != PDNN_NONE;
    int n_parts = has_source ? PARTS_MAX : PARTS_MAX - 1;
    if (!net->layers.pre_norm)
        return pdnn_transformer_norm(&net->layers, stems[has_source][part], index);
    if (part + 1 < n_parts)
        return pdnn_transformer_norm(&net->layers, stems[has_source][part + 1], index);
    if (index + 1 < stack->first + net->hyper[LAYERS])
        return pdnn_transformer_norm(&net->layers, stems[has_source][0], index + 1);
    return pdnn_transformer_norm(&net->layers, "final_norm", 0);
}

static void append_layer(struct net *net, struct pdnn_stream *stream, const struct stack *stack,
                         int64_t index) {
    struct pdnn_transformer_net *layers = &net->layers;
    int part = 0;
    uint32_t x = pdnn_transformer_attend(layers, stream, index, stack->own);
    struct pdnn_norm norm = norm_behind(net, stack, part++, index);
    pdnn_transformer_join(layers, stream, x, &norm);
    if (stack->source != PDNN_NONE) {
        x = pdnn_transformer_attend_to(layers, stream, stack->source, index, stack->cross);
        norm = norm_behind(net, stack, part++, index);
        pdnn_transformer_join(layers, stream, x, &norm);
    }
    x = pdnn_transformer_feed_forward(layers, stream, index);
    norm = norm_behind(net, stack, part, index);
    pdnn_transformer_join(layers, stream, x, &norm);
}

/* (B*n, H): what the last layer returns. */
static uint32_t append_stack(struct net *net, int64_t tokens, const struct stack *stack) {
    struct pdnn_stream stream = begin(net, tokens, stack->first);
    for (int64_t i = 0; i < net->hyper[LAYERS]; i++) {
        pdnn_graph_segment_begin(graph_of(net));
        append_layer(net, &stream, stack, stack->first + i);
        pdnn_graph_segment_end(graph_of(net));
    }
    return stream.normalized;
}

/* Adds to the scores of each sequence's tokens beyond its end. */
static uint32_t padding_bias(struct net *net) {
    struct pdnn_tensor bias = {.role = PDNN_ROLE_INPUT,
                               .dtype = PDNN_F32,
                               .rank = 2,
                               .dim = {net->hyper[BATCH], net->hyper[LENGTH]},
                               .fill = {PDNN_FILL_SEQUENCE_MASK, -10000},
                               .of = PDNN_NONE};
    return pdnn_graph_tensor(graph_of(net), &bias);
}

/* Every row's class, drawn. */
static uint32_t append_loss(struct net *net, uint32_t logits) {
    struct pdnn_graph *graph = graph_of(net);
    const struct pdnn_tensor *x = &graph->tensors[logits];
    struct pdnn_tensor labels = {.role = PDNN_ROLE_LABEL,
                                 .dtype = PDNN_S32,
                                 .rank = 1,
                                 .dim = {x->dim[0]},
                                 .fill = {PDNN_FILL_CLASS, (double)x->dim[1]},
                                 .of = PDNN_NONE};
    uint32_t label = pdnn_graph_tensor(graph, &labels);
    pdnn_sequence_layer(&net->layers.sequence, "loss", 0);
    return pdnn_graph_forward(graph, &pdnn_op_softmax_cross_entropy,
                              (uint32_t[]){pdnn_graph_f32(graph, logits), label, PDNN_NONE}, NULL);
}

/* x times the embedding's own table. */
static uint32_t score_words(struct net *net, uint32_t x) {
    pdnn_sequence_layer(&net->layers.sequence, "decoder", 0);
    return pdnn_graph_forward(graph_of(net), &pdnn_op_dense, (uint32_t[]){x, net->table, PDNN_NONE}, NULL);
}

/* BERT's prediction of masked words: (B*P, V). */
static uint32_t predict_masked(struct net *net, uint32_t x) {
    struct pdnn_transformer_net *layers = &net->layers;
    int64_t n = net->hyper[LENGTH], P = net->hyper[PREDICTIONS];
    pdnn_sequence_layer(&layers->sequence, "transform", 0);
    const struct pdnn_fill masked = {PDNN_FILL_MASKED, (double)n};
    x = pdnn_sequence_gather(&layers->sequence, x, 2, (int64_t[]){net->hyper[BATCH], P}, masked);
    x = pdnn_sequence_dense(&layers->sequence, x, layers->hidden);
    x = pdnn_graph_forward(graph_of(net), layers->activation, (uint32_t[]){x, PDNN_NONE}, NULL);
    struct pdnn_norm norm = pdnn_transformer_norm(layers, "transform", 0);
    x = pdnn_transformer_normalize(layers, x, &norm);
    return pdnn_sequence_bias(&layers->sequence, score_words(net, x), layers->hidden);
}

static uint32_t pool(struct net *net, uint32_t x) {
    struct pdnn_sequence_net *sequence = &net->layers.sequence;
    pdnn_sequence_layer(sequence, "pooler", 0);
    const struct pdnn_fill first = {PDNN_FILL_STRIDE, (double)net->hyper[LENGTH]};
    x = pdnn_sequence_dense(sequence, gather(net, x, sequence->batch, first), net->layers.hidden);
    return pdnn_graph_forward(graph_of(net), &pdnn_op_tanh, (uint32_t[]){x, PDNN_NONE}, NULL);
}

/* What inference returns, and training's loss: of what the last layer made. */
static void finish(struct net *net, uint32_t x) {
    struct pdnn_sequence_net *sequence = &net->layers.sequence;
    uint32_t pooled = PDNN_NONE, result = x, next = PDNN_NONE;
    if (net->hyper[ARCHITECTURE] == ENCODER && net->hyper[POOLER] == HAS_POOLER)
        result = pooled = pool(net, x);
    if (net->hyper[OBJECTIVE] == OBJECTIVE_CAUSAL)
        result = score_words(net, x);
    if (net->hyper[OBJECTIVE] == OBJECTIVE_MASKED) {
        result = predict_masked(net, x);
        if (pooled != PDNN_NONE) {
            pdnn_sequence_layer(sequence, "nsp", 0);
            next = pdnn_sequence_dense(sequence, pooled, 2);
        }
    }
    if (!sequence->train) {
        graph_of(net)->result = result;
        return;
    }
    uint32_t loss = append_loss(net, result);
    if (next != PDNN_NONE)
        loss = pdnn_sequence_add(sequence, loss, append_loss(net, next));
    graph_of(net)->loss = loss;
}

static void build(const struct pdnn_instance *instance, struct pdnn_graph *graph) {
    const int64_t *hyper = instance->hyper;
    if (!check(instance, graph))
        return;
    struct net net = {.hyper = hyper};
    net.layers = (struct pdnn_transformer_net){
        .sequence = pdnn_sequence_net(instance, graph, hyper[BATCH], hyper[DROPOUT]),
        .hidden = hyper[HIDDEN],
        .heads = hyper[HEADS],
        .ffn = hyper[FFN],
        .activation = activation_ops[hyper[ACTIVATION]],
        .pre_norm = hyper[NORM] == NORM_PRE,
        .fused_qkv = hyper[QKV] == QKV_FUSED,
        .fuse_blocks = instance->setting[PDNN_SETTING_FUSE] == PDNN_FUSE_BLOCKS,
        .context = applies(instance, CONTEXT) ? hyper[CONTEXT] : 0,
    };
    struct pdnn_sequence_net *sequence = &net.layers.sequence;
    int64_t target = hyper[TARGET], tokens = net.layers.context ? 1 : hyper[LENGTH];
    int64_t positions = net.layers.context ? net.layers.context : target > tokens ? target : tokens;
    struct stack stack = {.first = 1, .source = PDNN_NONE, .own = {.bias = PDNN_NONE}};
    pdnn_sequence_layer(sequence, "embedding", 0);
    net.table = pdnn_sequence_table(sequence, hyper[VOCABULARY], hyper[HIDDEN]);
    net.positions = hyper[POSITIONS] ? pdnn_sequence_table(sequence, hyper[POSITIONS], hyper[HIDDEN])
                                     : pdnn_graph_state(graph, 2, (int64_t[]){positions, hyper[HIDDEN]},
                                                        (struct pdnn_fill){PDNN_FILL_UNIFORM, 1});
    if (hyper[ARCHITECTURE] == DECODER)
        stack.own.causal = !net.layers.context;
    else
        stack.own.bias = padding_bias(&net);
    uint32_t x = append_stack(&net, tokens, &stack);
    if (hyper[ARCHITECTURE] == ENCODER_DECODER) {
        stack = (struct stack){.first = 1 + hyper[LAYERS],
                               .source = x,
                               .own = {.bias = PDNN_NONE, .causal = true},
                               .cross = {.bias = stack.own.bias}};
        x = append_stack(&net, target, &stack);
    }
    finish(&net, x);
}

const struct pdnn_family_def pdnn_family_transformer = {
    .name = "transformer",
    .help = "attention networks: encoders (BERT), decoders (GPT), and encoder-decoders (translation)",
    .params = params,
    .n_params = N_PARAMS,
    .presets = presets,
    .n_presets = sizeof presets / sizeof *presets,
    .depth_param = LAYERS,
    .has_segments = true,
    .repeats_layers = true,
    .has_blocks = true,
    .stems_apart = true,
    .applies = applies,
    .resolve = resolve,
    .build = build,
    .quantizes = true,
};
