/* transformer: encoders (BERT: Devlin et al., 2019), decoders (GPT-2: Radford et al., 2019) and
 * encoder-decoders with cross-attention (Vaswani et al., 2017). Words and positions are embedded, then come
 * `layers` layers of attention and a feed-forward net each, with normalization after each part (post), or
 * before each part and once more at the end (pre). A post-norm encoder also normalizes its embeddings. An
 * encoder with a pooler ends in a tanh layer on the first token of each sequence, as BERT does. Decoders and
 * encoder-decoders score every word with the embedding table.
 *
 * H hidden, F ffn, V vocabulary, L layers, B sequences, n length, T = B*n tokens, P predictions. Parameters:
 *   layer of an encoder or decoder: 4(H*H + H) + 2*H*F + F + H + 4H = 12*H*H + 13*H with F = 4H;
 *   with cross-attention: 4(H*H + H) + 2H more;
 *   encoder with pooler: V*H + positions*H + types*H + 2H + layers + H*H + H;
 *   pretraining heads: H*H + H + 2H + V + 2H + 2, which are a transform with norm, a bias per word (the table
 *   is the embedding's) and two classes for the next sentence.
 * Forward matrix FLOP of a layer: 24*T*H*H + 4*T*n*H with F = 4H. */
#include "models/families/transformer_layer.h"
#include "models/op.h"
#include "models/forward.h"

#include <inttypes.h>

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
    [ARCHITECTURE] = {PDNN_ROW_CHOICE("architecture", architectures, ENCODER),
                      .help = "encoder: BERT; decoder: GPT; encoder-decoder: translation",
                      .example = "[encoder, decoder]"},
    [LAYERS] = {PDNN_ROW_INT("layers", 1, 4096, 12),
                .help = "number of layers; encoder-decoder: in each of the two", .example = "[2, 12]"},
    [HIDDEN] = {PDNN_ROW_INT("hidden", 1, 1 << 20, 768), .help = "width of a token",
                .example = "[384, 768, 1536]"},
    [HEADS] = {PDNN_ROW_INT("heads", 1, 1 << 16, 12), .help = "attention heads; must divide the width",
               .example = "[8, 16]"},
    [FFN] = {PDNN_ROW_INT("ffn", 1, 1 << 22, FOUR_HIDDEN), PDNN_ROW_WORD("4*hidden", FOUR_HIDDEN),
             .help = "inner width of the feed-forward network", .example = "[4*hidden, 1024]"},
    [LENGTH] = {PDNN_ROW_INT("length", 1, 1 << 20, 128), .unit = "tokens", .help = "tokens in each sequence",
                .example = "[128, 512]"},
    [TARGET] = {PDNN_ROW_INT("target", 1, 1 << 20, AS_LENGTH), PDNN_ROW_WORD("length", AS_LENGTH),
                .unit = "tokens", .help = "tokens in each sequence of the decoder",
                .example = "[length, 32]"},
    [VOCABULARY] = {PDNN_ROW_INT("vocabulary", 2, 1 << 24, 30522), .unit = "words",
                    .help = "rows of the embedding", .example = "50000"},
    [BATCH] = {PDNN_ROW_INT("batch", 1, 1 << 24, 8), .help = "minibatch: sequences per step",
               .example = "[1, 8]"},
    [ACTIVATION] = {PDNN_ROW_CHOICE("activation", activations, 0),
                    .help = "activation of the feed-forward network; gelu: with erf", .example = "gelu"},
    [NORM] = {PDNN_ROW_CHOICE("norm", norms, NORM_POST),
              .help = "what is normalized: a layer's sum (post, as in BERT) or its input (pre, as in GPT-2)",
              .example = "[post, pre]"},
    [OBJECTIVE] = {PDNN_ROW_CHOICE("objective", objectives, OBJECTIVE_NONE),
                   .help = "heads and loss; none: no head, and hidden units serve as classes in training",
                   .example = "masked-lm"},
    [DROPOUT] = {PDNN_ROW_INT("dropout", 0, 99, 10), .unit = "%",
                 .help = "share of values set to 0 in embeddings, attention and each part of a layer; "
                         "training only",
                 .example = "0"},
    [QKV] = {PDNN_ROW_CHOICE("qkv", qkvs, QKV_FUSED),
             .help = "queries, keys and values from one product or from three",
             .example = "[fused, separate]"},
    [POSITIONS] = {PDNN_ROW_INT("positions", 0, 1 << 20, 512), .unit = "tokens",
                   .help = "number of trained position embeddings; 0: sinusoids, which are not trained",
                   .example = "0"},
    [TYPES] = {PDNN_ROW_INT("types", 0, 1 << 10, 2), .help = "number of segment embeddings; 0: none",
               .example = "0"},
    [POOLER] = {PDNN_ROW_CHOICE("pooler", switches, HAS_POOLER),
                .help = "a tanh layer on each first token; masked-lm: also next-sentence prediction from it",
                .example = "no"},
    [PREDICTIONS] = {PDNN_ROW_INT("predictions", 1, 1 << 20, FIVE_OF_32),
                     PDNN_ROW_WORD("length*5/32", FIVE_OF_32), .unit = "tokens",
                     .help = "masked tokens in each sequence, which masked-lm predicts", .example = "20"},
    [PHASE] = {PDNN_ROW_CHOICE("phase", phases, PHASE_PREFILL), .is_input = true,
               .help = "prefill: all tokens at once; decode: one more token, with those before it cached; "
                       "inference only",
               .example = "decode"},
    [CONTEXT] = {PDNN_ROW_INT("context", 1, 1 << 24, 512), .is_input = true, .unit = "tokens",
                 .help = "tokens that the new one attends to, including itself; "
                         "keys and values of all are cached",
                 .example = "[128, 512]"},
};

#define ENCODER_OF                                                                                           \
    "architecture=encoder,ffn=4*hidden,length=128,batch=8,activation=gelu,norm=post,objective=none,"         \
    "dropout=10,qkv=fused,"
#define BERT    ENCODER_OF "vocabulary=30522,positions=512,types=2,pooler=yes,"
#define ROBERTA ENCODER_OF "vocabulary=50265,positions=514,types=1,pooler=yes,"
#define GPT2                                                                                                 \
    "architecture=decoder,ffn=4*hidden,length=1024,vocabulary=50257,batch=1,activation=gelu_tanh,norm=pre,"  \
    "objective=causal-lm,dropout=10,qkv=fused,positions=1024,"
#define VASWANI                                                                                              \
    "architecture=encoder-decoder,layers=6,ffn=4*hidden,length=32,target=length,vocabulary=37000,batch=64,"  \
    "activation=relu,norm=post,objective=causal-lm,qkv=fused,positions=0,"

static const struct pdnn_preset presets[] = {
    {"bert-base", BERT "layers=12,hidden=768,heads=12",
     "BERT-Base: 109,482,240 parameters, or 110,106,428 with the pretraining heads of objective=masked-lm"},
    {"bert-large", BERT "layers=24,hidden=1024,heads=16",
     "BERT-Large: 335,141,888 parameters, or 336,226,108 with the pretraining heads"},
    {"roberta-base", ROBERTA "layers=12,hidden=768,heads=12", "RoBERTa-Base: 124,645,632 parameters"},
    {"roberta-large", ROBERTA "layers=24,hidden=1024,heads=16", "RoBERTa-Large: 355,359,744 parameters"},
    {"distilbert", ENCODER_OF "vocabulary=30522,positions=512,types=0,pooler=no,layers=6,hidden=768,heads=12",
     "DistilBERT: 66,362,880 parameters"},
    {"distilgpt2", GPT2 "layers=6,hidden=768,heads=12", "DistilGPT2: 81,912,576 parameters"},
    {"gpt2", GPT2 "layers=12,hidden=768,heads=12", "GPT-2 small: 124,439,808 parameters"},
    {"gpt2-medium", GPT2 "layers=24,hidden=1024,heads=16", "GPT-2 medium: 354,823,168 parameters"},
    {"gpt2-large", GPT2 "layers=36,hidden=1280,heads=20", "GPT-2 large: 774,030,080 parameters"},
    {"gpt2-xl", GPT2 "layers=48,hidden=1600,heads=25", "GPT-2 XL: 1,557,611,200 parameters"},
    {"transformer-base", VASWANI "hidden=512,heads=8,dropout=10",
     "base model of Vaswani et al.: 63,082,496 parameters"},
    {"transformer-big", VASWANI "hidden=1024,heads=16,dropout=30",
     "big model of Vaswani et al.: 214,245,376 parameters"},
};

/* The architectures that a parameter applies to, one bit each; 0: all. */
static const unsigned only_for[N_PARAMS] = {
    [TARGET] = 1 << ENCODER_DECODER, [TYPES] = 1 << ENCODER, [POOLER] = 1 << ENCODER,
    [PREDICTIONS] = 1 << ENCODER,    [PHASE] = 1 << DECODER, [CONTEXT] = 1 << DECODER,
};

static bool applies(const struct pdnn_instance *instance, size_t param) {
    const struct pdnn_value *hyper = instance->hyper;
    if (only_for[param] && !(only_for[param] >> hyper[ARCHITECTURE].number & 1))
        return false;
    if (param == PREDICTIONS)
        return hyper[OBJECTIVE].number == OBJECTIVE_MASKED;
    bool decodes = hyper[ARCHITECTURE].number == DECODER && hyper[PHASE].number == PHASE_DECODE;
    return param == LENGTH ? !decodes : param != CONTEXT || decodes;
}

static void resolve(struct pdnn_instance *instance) {
    struct pdnn_value *hyper = instance->hyper;
    if (hyper[FFN].number == FOUR_HIDDEN)
        hyper[FFN].number = 4 * hyper[HIDDEN].number;
    if (hyper[TARGET].number == AS_LENGTH && applies(instance, TARGET))
        hyper[TARGET].number = hyper[LENGTH].number;
    if (hyper[PREDICTIONS].number == FIVE_OF_32 && applies(instance, PREDICTIONS))
        hyper[PREDICTIONS].number = (hyper[LENGTH].number * 5 + 31) / 32;
}

/* A graph being built. */
struct net {
    struct pdnn_transformer_net layers;
    const struct pdnn_value *hyper;
    uint32_t table, positions; /* (V, H), (positions, H) */
};

static struct pdnn_graph *graph_of(const struct net *net) {
    return net->layers.sequence.graph;
}

static bool check(const struct pdnn_instance *instance, struct pdnn_graph *graph) {
    const struct pdnn_value *hyper = instance->hyper;
    bool decodes = applies(instance, CONTEXT),
         trains = instance->setting[PDNN_SETTING_MODE] == PDNN_MODE_TRAIN;
    int longest = decodes ? CONTEXT : hyper[LENGTH].number >= hyper[TARGET].number ? LENGTH : TARGET;
    if (hyper[HIDDEN].number % hyper[HEADS].number)
        pdnn_fail(&graph->err, PDNN_INVALID, "hidden=%" PRId64 " is not a multiple of heads=%" PRId64,
                  hyper[HIDDEN].number, hyper[HEADS].number);
    else if (hyper[POSITIONS].number && hyper[longest].number > hyper[POSITIONS].number)
        pdnn_fail(&graph->err, PDNN_INVALID, "positions=%" PRId64 " are fewer than %s=%" PRId64,
                  hyper[POSITIONS].number, params[longest].name, hyper[longest].number);
    else if ((hyper[OBJECTIVE].number == OBJECTIVE_MASKED) != (hyper[ARCHITECTURE].number == ENCODER) &&
             hyper[OBJECTIVE].number != OBJECTIVE_NONE)
        pdnn_fail(&graph->err, PDNN_INVALID, "objective=%s is not for architecture=%s",
                  objectives[hyper[OBJECTIVE].number], architectures[hyper[ARCHITECTURE].number]);
    else if (applies(instance, PREDICTIONS) && hyper[PREDICTIONS].number > hyper[LENGTH].number)
        pdnn_fail(&graph->err, PDNN_INVALID, "predictions=%" PRId64 " are more than length=%" PRId64,
                  hyper[PREDICTIONS].number, hyper[LENGTH].number);
    else if (decodes && trains)
        pdnn_fail(&graph->err, PDNN_INVALID, "phase=decode is for mode=infer");
    return graph->err.status == PDNN_OK;
}

/* Gathers `rows` rows of a table by ids with this fill. */
static uint32_t gather(struct net *net, uint32_t table, int64_t rows, struct pdnn_fill fill) {
    return pdnn_net_gather(&net->layers.sequence, table, 1, &rows, fill);
}

/* Sum of word, position and, for encoders, segment embeddings: (B*n, H). */
static uint32_t embed(struct net *net, int64_t tokens) {
    struct pdnn_net *sequence = &net->layers.sequence;
    int64_t rows = sequence->batch * tokens, context = net->layers.context;
    struct pdnn_fill position = {PDNN_FILL_POSITION, (double)tokens};
    if (context)
        position = (struct pdnn_fill){PDNN_FILL_CONSTANT, (double)(context - 1)};
    pdnn_net_layer(sequence, "embedding", 0);
    uint32_t x = gather(net, net->table, rows,
                        (struct pdnn_fill){PDNN_FILL_ZIPF, (double)net->hyper[VOCABULARY].number});
    x = pdnn_net_add(sequence, x, gather(net, net->positions, rows, position));
    if (net->hyper[ARCHITECTURE].number != ENCODER || !net->hyper[TYPES].number)
        return x;
    uint32_t types = pdnn_net_table(sequence, net->hyper[TYPES].number, net->layers.hidden);
    const struct pdnn_fill type = {PDNN_FILL_CLASS, (double)net->hyper[TYPES].number};
    return pdnn_net_add(sequence, x, gather(net, types, rows, type));
}

/* The stream that layer `index` reads first. */
static struct pdnn_residual_stream begin(struct net *net, int64_t tokens, int64_t index) {
    struct pdnn_transformer_net *layers = &net->layers;
    uint32_t x = embed(net, tokens);
    if (net->hyper[ARCHITECTURE].number == ENCODER && !layers->pre_norm) {
        struct pdnn_norm norm = pdnn_transformer_norm(layers, "embedding", 0);
        x = pdnn_transformer_normalize(layers, x, &norm);
    }
    x = pdnn_net_dropout(&layers->sequence, x);
    struct pdnn_residual_stream stream = {x, x};
    if (layers->pre_norm) {
        struct pdnn_norm norm = pdnn_transformer_norm(layers, "norm1", index);
        stream.normalized = pdnn_transformer_normalize(layers, x, &norm);
    }
    return stream;
}

enum { PARTS_MAX = 3 };

/* A stack of layers with indices from `first` on. With a source, each layer also has
 * cross-attention to it. */
struct stack {
    int64_t first;
    uint32_t source; /* or PDNN_NONE */
    struct pdnn_visibility own, cross;
};

/* The norm after part `part` of layer `index`. In pre-norm nets it belongs to the part that follows. */
static struct pdnn_norm norm_behind(struct net *net, const struct stack *stack, int part, int64_t index) {
    static const char *const stems[2][PARTS_MAX] = {{"norm1", "norm2"}, {"norm1", "cross_norm", "norm2"}};
    bool has_source = stack->source != PDNN_NONE;
    int n_parts = has_source ? PARTS_MAX : PARTS_MAX - 1;
    if (!net->layers.pre_norm)
        return pdnn_transformer_norm(&net->layers, stems[has_source][part], index);
    if (part + 1 < n_parts)
        return pdnn_transformer_norm(&net->layers, stems[has_source][part + 1], index);
    if (index + 1 < stack->first + net->hyper[LAYERS].number)
        return pdnn_transformer_norm(&net->layers, stems[has_source][0], index + 1);
    return pdnn_transformer_norm(&net->layers, "final_norm", 0);
}

static void append_layer(struct net *net, struct pdnn_residual_stream *stream, const struct stack *stack,
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

/* Returns the output of the last layer: (B*n, H). */
static uint32_t append_stack(struct net *net, int64_t tokens, const struct stack *stack) {
    struct pdnn_residual_stream stream = begin(net, tokens, stack->first);
    for (int64_t i = 0; i < net->hyper[LAYERS].number; i++) {
        pdnn_graph_segment_begin(graph_of(net));
        append_layer(net, &stream, stack, stack->first + i);
        pdnn_graph_segment_end(graph_of(net));
    }
    return stream.normalized;
}

/* A bias on the scores that masks each sequence's tokens beyond its end. */
static uint32_t padding_bias(struct net *net) {
    struct pdnn_tensor bias = {.role = PDNN_ROLE_INPUT,
                               .dtype = PDNN_F32,
                               .rank = 2,
                               .dim = {net->hyper[BATCH].number, net->hyper[LENGTH].number},
                               .fill = {PDNN_FILL_SEQUENCE_MASK, -10000},
                               .of = PDNN_NONE};
    return pdnn_graph_tensor(graph_of(net), &bias);
}

/* Scores x against the embedding table. */
static uint32_t score_words(struct net *net, uint32_t x) {
    pdnn_net_layer(&net->layers.sequence, "decoder", 0);
    return pdnn_graph_forward(graph_of(net), &pdnn_op_dense, (uint32_t[]){x, net->table, PDNN_NONE}, NULL);
}

/* BERT's prediction of masked words: (B*P, V). */
static uint32_t predict_masked(struct net *net, uint32_t x) {
    struct pdnn_transformer_net *layers = &net->layers;
    int64_t n = net->hyper[LENGTH].number, P = net->hyper[PREDICTIONS].number;
    pdnn_net_layer(&layers->sequence, "transform", 0);
    const struct pdnn_fill masked = {PDNN_FILL_MASKED, (double)n};
    x = pdnn_net_gather(&layers->sequence, x, 2, (int64_t[]){net->hyper[BATCH].number, P}, masked);
    x = pdnn_net_dense(&layers->sequence, x, layers->hidden);
    x = pdnn_graph_forward(graph_of(net), layers->activation, (uint32_t[]){x, PDNN_NONE}, NULL);
    struct pdnn_norm norm = pdnn_transformer_norm(layers, "transform", 0);
    x = pdnn_transformer_normalize(layers, x, &norm);
    return pdnn_net_bias(&layers->sequence, score_words(net, x), layers->hidden);
}

static uint32_t pool(struct net *net, uint32_t x) {
    struct pdnn_net *sequence = &net->layers.sequence;
    pdnn_net_layer(sequence, "pooler", 0);
    const struct pdnn_fill first = {PDNN_FILL_STRIDE, (double)net->hyper[LENGTH].number};
    x = pdnn_net_dense(sequence, gather(net, x, sequence->batch, first), net->layers.hidden);
    return pdnn_graph_forward(graph_of(net), &pdnn_op_tanh, (uint32_t[]){x, PDNN_NONE}, NULL);
}

/* Ends the graph: the result of inference or the loss of training, from the output x of the last layer. */
static void finish(struct net *net, uint32_t x) {
    struct pdnn_net *sequence = &net->layers.sequence;
    uint32_t pooled = PDNN_NONE, result = x, next = PDNN_NONE;
    if (net->hyper[ARCHITECTURE].number == ENCODER && net->hyper[POOLER].number == HAS_POOLER)
        result = pooled = pool(net, x);
    if (net->hyper[OBJECTIVE].number == OBJECTIVE_CAUSAL)
        result = score_words(net, x);
    if (net->hyper[OBJECTIVE].number == OBJECTIVE_MASKED) {
        result = predict_masked(net, x);
        if (pooled != PDNN_NONE) {
            pdnn_net_layer(sequence, "nsp", 0);
            next = pdnn_net_dense(sequence, pooled, 2);
        }
    }
    if (!sequence->train) {
        graph_of(net)->result = result;
        return;
    }
    uint32_t loss = pdnn_net_loss(sequence, result);
    if (next != PDNN_NONE)
        loss = pdnn_net_add(sequence, loss, pdnn_net_loss(sequence, next));
    graph_of(net)->loss = loss;
}

static void build(const struct pdnn_instance *instance, struct pdnn_graph *graph) {
    const struct pdnn_value *hyper = instance->hyper;
    if (!check(instance, graph))
        return;
    struct net net = {.hyper = hyper};
    net.layers = (struct pdnn_transformer_net){
        .sequence = pdnn_net_init(instance, graph, hyper[BATCH].number, hyper[DROPOUT].number),
        .hidden = hyper[HIDDEN].number,
        .heads = hyper[HEADS].number,
        .ffn = hyper[FFN].number,
        .activation = activation_ops[hyper[ACTIVATION].number],
        .pre_norm = hyper[NORM].number == NORM_PRE,
        .fused_qkv = hyper[QKV].number == QKV_FUSED,
        .fuse_blocks = instance->setting[PDNN_SETTING_FUSE] == PDNN_FUSE_BLOCKS,
        .context = applies(instance, CONTEXT) ? hyper[CONTEXT].number : 0,
    };
    struct pdnn_net *sequence = &net.layers.sequence;
    int64_t target = hyper[TARGET].number, tokens = net.layers.context ? 1 : hyper[LENGTH].number;
    int64_t positions = net.layers.context ? net.layers.context : target > tokens ? target : tokens;
    struct stack stack = {.first = 1, .source = PDNN_NONE, .own = {.bias = PDNN_NONE}};
    pdnn_net_layer(sequence, "embedding", 0);
    net.table = pdnn_net_table(sequence, hyper[VOCABULARY].number, hyper[HIDDEN].number);
    net.positions = hyper[POSITIONS].number
                        ? pdnn_net_table(sequence, hyper[POSITIONS].number, hyper[HIDDEN].number)
                        : pdnn_graph_state(graph, 2, (int64_t[]){positions, hyper[HIDDEN].number},
                                           (struct pdnn_fill){PDNN_FILL_UNIFORM, 1});
    if (hyper[ARCHITECTURE].number == DECODER)
        stack.own.causal = !net.layers.context;
    else
        stack.own.bias = padding_bias(&net);
    uint32_t x = append_stack(&net, tokens, &stack);
    if (hyper[ARCHITECTURE].number == ENCODER_DECODER) {
        stack = (struct stack){.first = 1 + hyper[LAYERS].number,
                               .source = x,
                               .own = {.bias = PDNN_NONE, .causal = true},
                               .cross = {.bias = stack.own.bias}};
        x = append_stack(&net, target, &stack);
    }
    finish(&net, x);
}

static const struct pdnn_layer_def layers[] = {
    {"embedding", PDNN_LAYER_EMBEDDING},
    {"query", PDNN_LAYER_PROJECTION},
    {"key", PDNN_LAYER_PROJECTION},
    {"value", PDNN_LAYER_PROJECTION},
    {"qkv", PDNN_LAYER_PROJECTION},
    {"projection", PDNN_LAYER_PROJECTION},
    {"scores", PDNN_LAYER_ATTENTION},
    {"softmax", PDNN_LAYER_SOFTMAX},
    {"context", PDNN_LAYER_ATTENTION},
    {"cross_query", PDNN_LAYER_PROJECTION},
    {"cross_key", PDNN_LAYER_PROJECTION},
    {"cross_value", PDNN_LAYER_PROJECTION},
    {"cross_kv", PDNN_LAYER_PROJECTION},
    {"cross_projection", PDNN_LAYER_PROJECTION},
    {"cross_scores", PDNN_LAYER_ATTENTION},
    {"cross_softmax", PDNN_LAYER_SOFTMAX},
    {"cross_context", PDNN_LAYER_ATTENTION},
    {"cache", PDNN_LAYER_ATTENTION},
    {"ffn1", PDNN_LAYER_FEED_FORWARD},
    {"gelu", PDNN_LAYER_ACTIVATION},
    {"ffn2", PDNN_LAYER_FEED_FORWARD},
    {"norm1", PDNN_LAYER_NORM},
    {"cross_norm", PDNN_LAYER_NORM},
    {"norm2", PDNN_LAYER_NORM},
    {"final_norm", PDNN_LAYER_NORM},
    {"pooler", PDNN_LAYER_OUTPUT},
    {"transform", PDNN_LAYER_OUTPUT},
    {"decoder", PDNN_LAYER_OUTPUT},
    {"nsp", PDNN_LAYER_OUTPUT},
    {"loss", PDNN_LAYER_OUTPUT},
};

static const struct pdnn_lengths_def lengths = {.source = LENGTH, .target = TARGET, .positions = POSITIONS};

const struct pdnn_family_def pdnn_family_transformer = {
    .name = "transformer",
    .help = "attention networks: encoders (BERT), decoders (GPT), and encoder-decoders (translation)",
    PDNN_FAMILY_TABLES(params, presets, layers),
    .minibatch_param = BATCH,
    .depth_param = LAYERS,
    .lengths = &lengths,
    .has_segments = true,
    .repeats_layers = true,
    .has_blocks = true,
    .stems_apart = true,
    .applies = applies,
    .resolve = resolve,
    .build = build,
    .quantizes = true,
};
