#include "models/families/transformer_layer.h"

#include "models/attributes.h"
#include "models/op.h"
#include "models/forward.h"

#include <math.h>

/* The layer names of the parts of an attention. */
struct stems {
    const char *query, *key, *value, *fused, *scores, *softmax, *context, *projection;
};

static const struct stems own = {"query",  "key",     "value",   "qkv",
                                 "scores", "softmax", "context", "projection"};
static const struct stems cross = {"cross_query",  "cross_key",     "cross_value",   "cross_kv",
                                   "cross_scores", "cross_softmax", "cross_context", "cross_projection"};

/* H columns of a matrix, from `column` on. */
struct operand {
    uint32_t tensor;
    int64_t column;
};

struct pdnn_norm pdnn_transformer_norm(struct pdnn_transformer_net *net, const char *stem, int64_t index) {
    struct pdnn_graph *graph = net->sequence.graph;
    pdnn_net_layer(&net->sequence, stem, index);
    struct pdnn_norm norm = {.layer = graph->layer};
    norm.gamma = pdnn_graph_weight(graph, 1, &net->hidden, (struct pdnn_fill){PDNN_FILL_NEAR_ONE, 0.25});
    norm.beta = pdnn_graph_weight(graph, 1, &net->hidden, (struct pdnn_fill){PDNN_FILL_UNIFORM, 0.1});
    return norm;
}

uint32_t pdnn_transformer_normalize(struct pdnn_transformer_net *net, uint32_t x,
                                    const struct pdnn_norm *norm) {
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_LAYERNORM_TRAIN] = net->sequence.train};
    net->sequence.graph->layer = norm->layer;
    return pdnn_graph_forward(net->sequence.graph, &pdnn_op_layernorm,
                              (uint32_t[]){x, norm->gamma, norm->beta, PDNN_NONE}, attrs);
}

/* Dropout, sum and norm in one op. */
static void join_fused(struct pdnn_transformer_net *net, struct pdnn_residual_stream *stream, uint32_t x,
                       const struct pdnn_norm *norm) {
    struct pdnn_net *sequence = &net->sequence;
    struct pdnn_graph *graph = sequence->graph;
    int64_t percent = sequence->train ? sequence->dropout_percent : 0;
    bool y_only = !sequence->train && !net->pre_norm;
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_DROPOUT_ADD_NORM_PERCENT] = percent,
                                            [PDNN_DROPOUT_ADD_NORM_TRAIN] = sequence->train,
                                            [PDNN_DROPOUT_ADD_NORM_Y_ONLY] = y_only};
    uint32_t counter = percent ? pdnn_net_counter(sequence) : PDNN_NONE;
    stream->normalized =
        pdnn_graph_forward(graph, &pdnn_op_dropout_add_norm,
                           (uint32_t[]){x, stream->sum, norm->gamma, norm->beta, counter, PDNN_NONE}, attrs);
    stream->sum = y_only ? stream->normalized : pdnn_graph_last_output(graph, 1);
}

void pdnn_transformer_join(struct pdnn_transformer_net *net, struct pdnn_residual_stream *stream, uint32_t x,
                           const struct pdnn_norm *norm) {
    struct pdnn_net *sequence = &net->sequence;
    sequence->graph->layer = norm->layer;
    if (net->fuse_blocks) {
        join_fused(net, stream, x, norm);
    } else {
        stream->sum = pdnn_net_add(sequence, pdnn_net_dropout(sequence, x), stream->sum);
        stream->normalized = pdnn_transformer_normalize(net, stream->sum, norm);
    }
    if (!net->pre_norm)
        stream->sum = stream->normalized;
}

static uint32_t dense(struct pdnn_transformer_net *net, uint32_t x, struct pdnn_layer layer, int64_t units) {
    net->sequence.graph->layer = layer;
    return pdnn_net_dense(&net->sequence, x, units);
}

/* Y = A B for every head, or A B^T. */
static uint32_t multiply(struct pdnn_transformer_net *net, struct operand a, struct operand b,
                         bool transpose_b) {
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_MATMUL_SEQUENCES] = net->sequence.batch,
                                            [PDNN_MATMUL_HEADS] = net->heads,
                                            [PDNN_MATMUL_WIDTH] = net->hidden / net->heads,
                                            [PDNN_MATMUL_A_COLUMN] = a.column,
                                            [PDNN_MATMUL_B_COLUMN] = b.column,
                                            [PDNN_MATMUL_TRANSPOSE_B] = transpose_b,
                                            [PDNN_MATMUL_Y_WIDTH] = transpose_b ? 0 : net->hidden};
    return pdnn_graph_forward(net->sequence.graph, &pdnn_op_matmul,
                              (uint32_t[]){a.tensor, b.tensor, PDNN_NONE}, attrs);
}

static double factor_of(const struct pdnn_transformer_net *net) {
    return sqrt((double)net->heads / (double)net->hidden);
}

static uint32_t softmax_fused(struct pdnn_transformer_net *net, uint32_t x,
                              struct pdnn_visibility visibility) {
    struct pdnn_net *sequence = &net->sequence;
    int64_t percent = sequence->train ? sequence->dropout_percent : 0;
    bool has_bias = visibility.bias != PDNN_NONE;
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_ATTENTION_SOFTMAX_SEQUENCES] = sequence->batch,
                                            [PDNN_ATTENTION_SOFTMAX_CAUSAL] = visibility.causal,
                                            [PDNN_ATTENTION_SOFTMAX_HAS_BIAS] = has_bias,
                                            [PDNN_ATTENTION_SOFTMAX_PERCENT] = percent,
                                            [PDNN_ATTENTION_SOFTMAX_TRAIN] = sequence->train};
    uint32_t inputs[] = {x, PDNN_NONE, PDNN_NONE, PDNN_NONE};
    int n = 1;
    if (has_bias)
        inputs[n++] = visibility.bias;
    if (percent)
        inputs[n++] = pdnn_net_counter(sequence);
    const double coefs[PDNN_NODE_COEFS] = {[PDNN_ATTENTION_SOFTMAX_FACTOR] = factor_of(net)};
    return pdnn_graph_forward_with(sequence->graph, &pdnn_op_attention_softmax, inputs, attrs, coefs);
}

/* Turns scores into probabilities (B*h, n, m). */
static uint32_t softmax(struct pdnn_transformer_net *net, uint32_t x, struct pdnn_visibility visibility) {
    struct pdnn_graph *graph = net->sequence.graph;
    if (net->fuse_blocks)
        return softmax_fused(net, x, visibility);
    const double coefs[PDNN_NODE_COEFS] = {[PDNN_SCALE_FACTOR] = factor_of(net)};
    x = pdnn_graph_forward_with(graph, &pdnn_op_scale, (uint32_t[]){x, PDNN_NONE}, NULL, coefs);
    if (visibility.causal || visibility.bias != PDNN_NONE) {
        const int64_t attrs[PDNN_NODE_ATTRS] = {
            [PDNN_MASK_SEQUENCES] = net->sequence.batch, [PDNN_MASK_CAUSAL] = visibility.causal};
        x = pdnn_graph_forward(graph, &pdnn_op_mask, (uint32_t[]){x, visibility.bias, PDNN_NONE}, attrs);
    }
    x = pdnn_graph_forward(graph, &pdnn_op_softmax, (uint32_t[]){x, PDNN_NONE}, NULL);
    return pdnn_net_dropout(&net->sequence, x);
}

static uint32_t attend(struct pdnn_transformer_net *net, const struct stems *stems, int64_t index,
                       const struct operand qkv[3], struct pdnn_visibility visibility) {
    struct pdnn_net *sequence = &net->sequence;
    pdnn_net_layer(sequence, stems->scores, index);
    uint32_t x = multiply(net, qkv[0], qkv[1], true);
    pdnn_net_layer(sequence, stems->softmax, index);
    x = softmax(net, x, visibility);
    pdnn_net_layer(sequence, stems->context, index);
    x = multiply(net, (struct operand){.tensor = x}, qkv[2], false);
    return dense(net, x, (struct pdnn_layer){stems->projection, index}, net->hidden);
}

/* Appends the new token's keys or values to those of the tokens before. */
static struct operand append_to_cache(struct pdnn_transformer_net *net, struct operand x) {
    struct pdnn_graph *graph = net->sequence.graph;
    const int64_t dim[] = {net->sequence.batch * net->context, net->hidden};
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_CACHE_APPEND_SEQUENCES] = net->sequence.batch,
                                            [PDNN_CACHE_APPEND_COLUMN] = x.column,
                                            [PDNN_CACHE_APPEND_POSITION] = net->context - 1};
    uint32_t cache = pdnn_graph_state(graph, 2, dim, (struct pdnn_fill){PDNN_FILL_UNIFORM, 1});
    cache = pdnn_graph_forward(graph, &pdnn_op_cache_append, (uint32_t[]){x.tensor, cache, PDNN_NONE}, attrs);
    return (struct operand){cache, 0};
}

uint32_t pdnn_transformer_attend(struct pdnn_transformer_net *net, const struct pdnn_residual_stream *stream,
                                 int64_t index, struct pdnn_visibility visibility) {
    const char *const stems[] = {own.query, own.key, own.value};
    struct operand qkv[3];
    uint32_t fused = PDNN_NONE;
    if (net->fused_qkv)
        fused = dense(net, stream->normalized, (struct pdnn_layer){own.fused, index}, 3 * net->hidden);
    for (int i = 0; i < 3; i++) {
        qkv[i] = (struct operand){fused, i * net->hidden};
        if (!net->fused_qkv)
            qkv[i] = (struct operand){
                dense(net, stream->normalized, (struct pdnn_layer){stems[i], index}, net->hidden), 0};
    }
    pdnn_net_layer(&net->sequence, "cache", index);
    for (int i = 1; i < 3 && net->context; i++)
        qkv[i] = append_to_cache(net, qkv[i]);
    return attend(net, &own, index, qkv, visibility);
}

uint32_t pdnn_transformer_attend_to(struct pdnn_transformer_net *net,
                                    const struct pdnn_residual_stream *stream, uint32_t source, int64_t index,
                                    struct pdnn_visibility visibility) {
    const int64_t H = net->hidden;
    struct operand qkv[3] = {{dense(net, stream->normalized, (struct pdnn_layer){cross.query, index}, H), 0}};
    if (net->fused_qkv) {
        uint32_t fused = dense(net, source, (struct pdnn_layer){cross.fused, index}, 2 * H);
        qkv[1] = (struct operand){fused, 0};
        qkv[2] = (struct operand){fused, H};
    } else {
        qkv[1] = (struct operand){dense(net, source, (struct pdnn_layer){cross.key, index}, H), 0};
        qkv[2] = (struct operand){dense(net, source, (struct pdnn_layer){cross.value, index}, H), 0};
    }
    return attend(net, &cross, index, qkv, visibility);
}

uint32_t pdnn_transformer_feed_forward(struct pdnn_transformer_net *net,
                                       const struct pdnn_residual_stream *stream, int64_t index) {
    uint32_t x = dense(net, stream->normalized, (struct pdnn_layer){"ffn1", index}, net->ffn);
    pdnn_net_layer(&net->sequence, "gelu", index);
    x = pdnn_graph_forward(net->sequence.graph, net->activation, (uint32_t[]){x, PDNN_NONE}, NULL);
    return dense(net, x, (struct pdnn_layer){"ffn2", index}, net->hidden);
}
