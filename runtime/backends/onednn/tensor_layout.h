/* In which layout each tensor is stored between steps: one for each tensor, which steps that use another one
 * reorder from and to. */
#ifndef RUNTIME_BACKENDS_ONEDNN_TENSOR_LAYOUT_H
#define RUNTIME_BACKENDS_ONEDNN_TENSOR_LAYOUT_H

#include "runtime/backends/onednn/compile.h"
#include "runtime/backends/onednn/library/layout.h"

/* The type in the library's layouts: int8 that is not a weight is stored as u8, since u8 by s8 is several
 * times faster than s8 by s8 on processors without VNNI (doc/backends.md). */
enum pdnn_dtype pdnn_onednn_tensor_dtype(const struct pdnn_tensor *tensor);

/* Gives the tensor a layout of its own unless that is the plain one. */
enum pdnn_status pdnn_onednn_tensor_layout_set(struct pdnn_onednn_compile *compile, uint32_t tensor,
                                               const struct pdnn_onednn_layout *layout, struct pdnn_err *err);
/* The same for weights, with their gradients and the optimizer's state: updates need one layout for all.
 * Nothing happens where they adopted layouts, or where the library keeps the layout to itself and not only
 * this step's forward pass has to know it: other passes, updates, or other programs. */
enum pdnn_status pdnn_onednn_tensor_layout_set_weights(struct pdnn_onednn_compile *compile, uint32_t weights,
                                                       const struct pdnn_onednn_layout *layout,
                                                       struct pdnn_err *err);
/* A copy of the tensor's layout, to be destroyed by the caller; the plain one where it has none of its own.
 */
enum pdnn_status pdnn_onednn_tensor_layout_copy(const struct pdnn_onednn_compile *compile, uint32_t tensor,
                                                struct pdnn_onednn_layout **layout, struct pdnn_err *err);
/* Whether its elements lie row-major, whatever the layout is called: an image of one pixel does where its
 * channels fill their blocks. */
bool pdnn_onednn_tensor_layout_is_plain(const struct pdnn_program *program,
                                        struct pdnn_onednn_layout *const *stored, uint32_t tensor);
/* Whether weights must stay plain, since an op that does not take any layout uses them. */
bool pdnn_onednn_tensor_layout_is_pinned(const struct pdnn_graph *graph, uint32_t weights);

/* Where the program shares weights and state with one that was compiled before, they keep its layouts. */
enum pdnn_status pdnn_onednn_tensor_layout_adopt(struct pdnn_onednn_compile *compile, struct pdnn_err *err);

#endif
