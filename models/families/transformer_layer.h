/* The layers of family transformer: multi-head attention, feed-forward nets, and the residual connections and
 * normalizations between them (Vaswani et al., 2017). How they stack up to a model is in transformer.c. Token
 * t of sequence b is row b*n + t of a matrix. B sequences, n tokens of each, m keys of each, H width, h
 * heads, d = H/h, F feed-forward width. Errors stick in the graph. */
#ifndef MODELS_FAMILIES_TRANSFORMER_LAYER_H
#define MODELS_FAMILIES_TRANSFORMER_LAYER_H

#include "models/families/net.h"

struct pdnn_op_def;

/* A graph being built, and what all its layers share. */
struct pdnn_transformer_net {
    struct pdnn_net sequence; /* batch: B */
    int64_t hidden, heads, ffn;
    const struct pdnn_op_def *activation;
    bool pre_norm;    /* normalizes what a layer reads; else what it returns */
    bool fused_qkv;   /* one product for queries, keys and values */
    bool fuse_blocks; /* one op for everything between two products */
    int64_t context;  /* decode: tokens in the cache including the new one; 0: no cache */
};

/* What a layer reads: the sum so far, and the same normalized. In post-norm nets both are the same tensor. */
struct pdnn_residual_stream {
    uint32_t sum, normalized; /* (B*n, H) */
};

/* Gamma and beta (H) of a normalization, and its layer name. */
struct pdnn_norm {
    struct pdnn_layer layer;
    uint32_t gamma, beta;
};
struct pdnn_norm pdnn_transformer_norm(struct pdnn_transformer_net *net, const char *stem, int64_t index);

/* y = layernorm(x). */
uint32_t pdnn_transformer_normalize(struct pdnn_transformer_net *net, uint32_t x,
                                    const struct pdnn_norm *norm);

/* Which tokens a token attends to. */
struct pdnn_visibility {
    uint32_t bias; /* (B, m), added to every score; or PDNN_NONE */
    bool causal;   /* no token sees a later one */
};

/* Adds dropout(x) to the stream's sum and normalizes. */
void pdnn_transformer_join(struct pdnn_transformer_net *net, struct pdnn_residual_stream *stream, uint32_t x,
                           const struct pdnn_norm *norm);

/* What layer `index` computes from the stream, before pdnn_transformer_join adds it: self-attention,
 * cross-attention to a source (B*m, H), and the feed-forward net. */
uint32_t pdnn_transformer_attend(struct pdnn_transformer_net *net, const struct pdnn_residual_stream *stream,
                                 int64_t index, struct pdnn_visibility visibility);
uint32_t pdnn_transformer_attend_to(struct pdnn_transformer_net *net,
                                    const struct pdnn_residual_stream *stream, uint32_t source, int64_t index,
                                    struct pdnn_visibility visibility);
uint32_t pdnn_transformer_feed_forward(struct pdnn_transformer_net *net,
                                       const struct pdnn_residual_stream *stream, int64_t index);

#endif
