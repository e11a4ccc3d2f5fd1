/* The passes of conv2d, which are those of conv_transpose2d too, in other roles (models/conv2d.h). Letters
 * are those of models/ops/conv2d.c. */
#ifndef MODELS_OPS_CONV2D_H
#define MODELS_OPS_CONV2D_H

#include "models/op.h"
#include "models/ops/window.h"

/* The windows over an image's height and width that the node's attributes describe; the kernel's size is that
 * of `weights` (O, C / groups, R, S). */
void pdnn_conv2d_windows(const struct pdnn_node *node, const struct pdnn_tensor *weights,
                         struct pdnn_window *h, struct pdnn_window *w);

/* Adds what the last node of ONNX needs to be told of them. */
void pdnn_conv2d_add_attributes(struct pdnn_export *onnx);

/* The fields of struct pdnn_pass_def. */
void pdnn_conv2d_flop(const struct pdnn_graph *graph, const struct pdnn_node *node, struct pdnn_count *count);
void pdnn_conv2d_in_bounds_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                                struct pdnn_count *count);
void pdnn_conv2d_bytes(const struct pdnn_graph *graph, const struct pdnn_node *node, uint64_t *bytes);
void pdnn_conv2d_reference(struct pdnn_reference *r);

#endif
