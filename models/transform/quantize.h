/* Inference in int8 (`dtype: int8`): rewrites dense and conv2d nodes of a finished f32 graph as products of
 * int8 values. Activations are quantized while the model runs (op quantize), once for all nodes that read
 * them. Weights are quantized beforehand, from the values they would have in f32, folded normalizations
 * included, with one scale per row (an output unit or channel): scale = max |w| / 63, and w is about scale
 * times a whole number. That is 7 bits: processors without VNNI add pairs of u8 times s8 products in 16
 * bits with saturation, and 2 * 255 * 63 is the largest sum that fits. Scales are state, not parameters.
 *
 * In fused graphs, products return f32 themselves, before their posts; in others, a dequantize node follows
 * each product.
 *
 * These stay in f32: attention, and everything that is neither dense nor conv2d; products of weights that
 * others read too, such as an embedding table; and convolutions of images with negative values, above all
 * the stem's. Signed values would be stored as unsigned ones offset by 128; with oneDNN on such a
 * processor, weights would then lose another bit, so the product would no longer be exact, and image
 * padding would have to be 128. */
#ifndef MODELS_TRANSFORM_QUANTIZE_H
#define MODELS_TRANSFORM_QUANTIZE_H

#include "models/graph.h"

enum { PDNN_QUANTIZED_WEIGHT_MOST = 63 };

void pdnn_quantize(struct pdnn_graph *graph, bool is_fused);

#endif
