/* Inside own.c and its neighbours: one step on our own kernels, and what each kind of kernel does with it. */
#ifndef RUNTIME_STEPS_OWN_STEP_H
#define RUNTIME_STEPS_OWN_STEP_H

#include "models/op.h"
#include "runtime/core/backend.h"
#include "runtime/kernels/images/channels.h"
#include "runtime/steps/options.h"

/* Addresses are known after bind. */
struct pdnn_own {
    const struct pdnn_own_row *row;
    const struct pdnn_graph *graph;
    const struct pdnn_node *node; /* borrowed from the graph */
    int64_t threads;
    int64_t elements;           /* of the first input's slot, padding included */
    int64_t rows, columns;      /* of the first input, where it is a matrix */
    struct pdnn_channels shape; /* of the larger of first input and output, where they are images */
    int64_t per_float;     /* elements to the float: 2 where rows of 16 bit are moved two by two, else 1 */
    int32_t zero_point;    /* of output 0, where it is int8 */
    uint64_t cache_bytes;  /* of the last-level cache */
    uint32_t scratch_slot; /* or PDNN_NONE */
    void *in[PDNN_NODE_INPUTS], *out[PDNN_NODE_OUTPUTS], *post_in[PDNN_NODE_POSTS], *scratch;
};

struct pdnn_own_row {
    const struct pdnn_op_def *op;
    enum pdnn_pass pass;
    int rank;     /* of the first input; 0: any */
    int function; /* enum pdnn_elementwise or enum pdnn_update, where there are several */
    void (*run)(const struct pdnn_own *own);
    uint64_t (*scratch_bytes)(const struct pdnn_own *own); /* NULL: none */
    bool (*takes_posts)(const struct pdnn_node *node);     /* NULL: none */
};

/* own_half.c: whether the node only moves rows of 16 bit, which may be done two by two. */
bool pdnn_own_moves_pairs(const struct pdnn_graph *graph, const struct pdnn_node *node);
/* Gives a step that is done but for its operands of 16 bit, if it has some, f32 copies of them to work on. */
enum pdnn_status pdnn_own_widen(struct pdnn_program *program, struct pdnn_own *own, struct pdnn_step *step,
                                struct pdnn_err *err);

/* Appends the step of a node; its slots have their final sizes and layouts already, the same layout for all
 * of its images (PDNN_INTERNAL where those of one shape differ). *found is false, and nothing was appended,
 * when there is no kernel for the node's op, pass, posts or dtype. */
enum pdnn_status pdnn_own_compile(const struct pdnn_step_options *options, struct pdnn_program *program,
                                  uint32_t node, bool *found, struct pdnn_err *err);

/* Between f32 and 16 bit. */
void pdnn_own_cast(const struct pdnn_own *own);

/* Whether images of so many bytes are written past the caches. */
bool pdnn_own_bypasses(const struct pdnn_own *own, uint64_t bytes);

/* own_channels.c: ops on images. Forward batch normalization takes relu, add and relu, each or not, in this
 * order; its backward the relu that follows it. */
void pdnn_own_batchnorm(const struct pdnn_own *own);
void pdnn_own_batchnorm_backward(const struct pdnn_own *own);
uint64_t pdnn_own_batchnorm_scratch(const struct pdnn_own *own);
bool pdnn_own_batchnorm_takes(const struct pdnn_node *node);
bool pdnn_own_batchnorm_backward_takes(const struct pdnn_node *node);
void pdnn_own_pool(const struct pdnn_own *own);
void pdnn_own_pool_backward(const struct pdnn_own *own);
void pdnn_own_channel_bias(const struct pdnn_own *own);
void pdnn_own_channel_bias_gradient(const struct pdnn_own *own);
uint64_t pdnn_own_channel_bias_scratch(const struct pdnn_own *own);

/* own_sequence.c: ops of sequence models. */
void pdnn_own_embedding(const struct pdnn_own *own);
void pdnn_own_embedding_gradient(const struct pdnn_own *own);
uint64_t pdnn_own_embedding_scratch(const struct pdnn_own *own);
void pdnn_own_dropout(const struct pdnn_own *own);
void pdnn_own_slice(const struct pdnn_own *own);
void pdnn_own_concat(const struct pdnn_own *own);
void pdnn_own_concat_backward(const struct pdnn_own *own);
void pdnn_own_sequence(const struct pdnn_own *own);
void pdnn_own_cache_append(const struct pdnn_own *own);
void pdnn_own_attention(const struct pdnn_own *own);
void pdnn_own_attention_backward(const struct pdnn_own *own);
uint64_t pdnn_own_attention_scratch(const struct pdnn_own *own);
void pdnn_own_ctc(const struct pdnn_own *own);
uint64_t pdnn_own_ctc_scratch(const struct pdnn_own *own);

/* own_softmax.c: what happens to attention scores. */
void pdnn_own_softmax(const struct pdnn_own *own);
void pdnn_own_softmax_backward(const struct pdnn_own *own);
void pdnn_own_mask(const struct pdnn_own *own);
void pdnn_own_attention_softmax(const struct pdnn_own *own);
void pdnn_own_attention_softmax_backward(const struct pdnn_own *own);

/* own_quantize.c: between f32 and int8. */
void pdnn_own_quantize(const struct pdnn_own *own);
uint64_t pdnn_own_quantize_scratch(const struct pdnn_own *own);
void pdnn_own_dequantize(const struct pdnn_own *own);
uint64_t pdnn_own_dequantize_scratch(const struct pdnn_own *own);

/* own_norm.c: normalization of rows. */
void pdnn_own_layernorm(const struct pdnn_own *own);
void pdnn_own_layernorm_backward(const struct pdnn_own *own);
void pdnn_own_dropout_add_norm(const struct pdnn_own *own);
void pdnn_own_dropout_add_norm_backward(const struct pdnn_own *own);
uint64_t pdnn_own_norm_scratch(const struct pdnn_own *own);
uint64_t pdnn_own_norm_backward_scratch(const struct pdnn_own *own);

#endif
