/* Shared by the ops on int8 values. Quantization is symmetric: x is about q times a scale, with one scale per
 * tensor of activations and one per row of the weights (output unit or channel). A product of the two is s32
 * and stands for product * x_scale w_scale[o]. dense and conv2d nodes that take the scales as two more inputs
 * return f32; otherwise a dequantize node follows.
 * O output units or channels. */
#ifndef MODELS_OPS_QUANTIZED_H
#define MODELS_OPS_QUANTIZED_H

#include "models/op.h"

/* Whether the node has the number of inputs of a product, with or without scales. */
bool pdnn_quantized_has_inputs(const struct pdnn_node *node);

/* Sets the dtype of a product's output (N, O, ...), whose shape is already described. The inputs' dtypes must
 * agree with each other, and the scales, if given, with O. */
enum pdnn_status pdnn_quantized_infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                                      struct pdnn_tensor *output, struct pdnn_err *err);

/* Whether inputs `first` and the next are x_scale (1) and w_scale (O) for a tensor (N, O, ...). */
bool pdnn_quantized_fits(const struct pdnn_graph *graph, const struct pdnn_node *node, int first,
                         const struct pdnn_tensor *tensor);

/* O products of scales, and one multiplication per element of output 0. */
void pdnn_quantized_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                         struct pdnn_count *count);

/* y[n][o][...] *= x_scale w_scale[o] on output 0; the scales are inputs `first` and the next. */
void pdnn_quantized_scale(struct pdnn_reference *r, int first);

#endif
