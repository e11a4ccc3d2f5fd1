/* What ops on int8 values have in common. Values are quantized symmetrically: x is about q times a scale,
 * with one scale for a tensor of activations and one for each row of the weights, an output unit or channel.
 * A product of the two is s32, and is worth x_scale w_scale[o]; dense and conv2d nodes with the scales as two
 * further inputs give their result in f32, others leave that to a node dequantize.
 * O output units or channels. */
#ifndef MODELS_OPS_QUANTIZED_H
#define MODELS_OPS_QUANTIZED_H

#include "models/op.h"

/* Inputs of a product of int8 values. */
enum { PDNN_QUANTIZED_X, PDNN_QUANTIZED_W, PDNN_QUANTIZED_X_SCALE, PDNN_QUANTIZED_W_SCALE };

/* Whether the node has as many inputs as a product may have, scales or not. */
bool pdnn_quantized_has_inputs(const struct pdnn_node *node);
/* Whether the product gives its result in f32 from int8. */
bool pdnn_quantized_is_scaled(const struct pdnn_node *node);

/* Of the described output (N, O, ...) of a product: the dtype that follows from the inputs', which must agree
 * with each other and, where there are scales, with O. */
enum pdnn_status pdnn_quantized_infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                                      struct pdnn_tensor *output, struct pdnn_err *err);

/* x_scale (1) and w_scale (O), inputs `first` and the next, are those of a tensor (N, O, ...)? */
bool pdnn_quantized_fits(const struct pdnn_graph *graph, const struct pdnn_node *node, int first,
                         const struct pdnn_tensor *tensor);

/* O products of scales, and one multiplication per element of output 0. */
void pdnn_quantized_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         struct pdnn_count *count);

/* y[n][o][...] *= x_scale w_scale[o] of output 0; the scales are inputs `first` and the next. */
void pdnn_quantized_scale(struct pdnn_reference *r, int first);

#endif
