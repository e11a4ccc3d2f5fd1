/* Inference in int8 (`dtype: int8`): rewrites dense and conv2d nodes of a finished f32 graph to products of
 * int8 values. Activations are quantized while the model runs (op quantize), once for all nodes that read
 * them; weights beforehand, from the values they would have in f32, folded normalizations included, with one
 * scale per row, an output unit or channel: scale = max |w| / 63, w about scale times a whole number. Those
 * are 7 bits: processors without VNNI add pairs of products u8 times s8 in 16 bits with saturation, and 2 *
 * 255 * 63 is the most that fits. Scales are state, and no parameters.
 *
 * Fused graphs have products that give f32 themselves, before their posts; others a node dequantize behind
 * each product.
 *
 * What stays in f32: attention, and all that is neither dense nor conv2d; products of weights that others
 * read too, such as a table of embeddings; and convolutions of images with values below 0, the stem's above
 * all. Signed values lie in memory as unsigned ones 128 above them, or, in oneDNN on such a processor,
 * weights lose one more bit, which is no exact product any more; and what pads an image would have to be 128.
 */
#ifndef MODELS_QUANTIZE_H
#define MODELS_QUANTIZE_H

#include "models/graph.h"

enum { PDNN_QUANTIZED_WEIGHT_MOST = 63 };

void pdnn_quantize(struct pdnn_graph *graph, bool is_fused);

#endif
