/* The layout in which each tensor is stored between calls. There is one per tensor; calls that use another
 * one reorder from and to it. */
#ifndef RUNTIME_BACKENDS_ONEDNN_TENSOR_LAYOUT_H
#define RUNTIME_BACKENDS_ONEDNN_TENSOR_LAYOUT_H

#include "runtime/backends/onednn/compile.h"

/* The type in the library's layouts. int8 that is not a weight is stored as u8, since u8 by s8 is several
 * times faster than s8 by s8 on processors without VNNI (doc/measurements/backends.md). */
enum pdnn_dtype pdnn_onednn_tensor_dtype(const struct pdnn_tensor *tensor);

/* Gives the tensor a layout of its own, unless it is the plain one. */
void pdnn_onednn_tensor_layout_set(struct pdnn_onednn_compile *compile, uint32_t tensor,
                                   const struct pdnn_onednn_layout *layout);
/* The same for weights, together with their gradients and the optimizer's state, since updates need one
 * layout for all. Does nothing if the weights have adopted layouts, or if the layout is opaque and something
 * other than this step's forward pass must understand it: other passes, updates, or other programs. */
void pdnn_onednn_tensor_layout_set_weights(struct pdnn_onednn_compile *compile, uint32_t weights,
                                           const struct pdnn_onednn_layout *layout);
/* The tensor's layout, which is the plain one if it has none of its own. */
const struct pdnn_onednn_layout *pdnn_onednn_tensor_layout(const struct pdnn_onednn_compile *compile,
                                                           uint32_t tensor);
/* Whether its elements lie row-major, whatever the layout is called; those of a 1x1 image do if its
 * channels fill their blocks. */
bool pdnn_onednn_tensor_layout_is_plain(const struct pdnn_program *program, uint32_t tensor);
/* Whether weights must stay plain, because an op that does not accept other layouts uses them. */
bool pdnn_onednn_tensor_layout_is_pinned(const struct pdnn_program *program, uint32_t weights);

/* If the program shares weights and state with one compiled before, they keep that program's layouts. */
void pdnn_onednn_tensor_layout_adopt(struct pdnn_onednn_compile *compile);

#endif
