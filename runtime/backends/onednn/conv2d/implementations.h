/* What can run a pass of a conv2d node in oneDNN: which tensor is which argument, and which implementation
 * runs. N minibatch, C H W input channels, height and width, O P Q output channels, height and width, R S
 * kernel height and width; x (N, C, H, W), w (O, C, R, S), y (N, O, P, Q), bias b (O). */
#ifndef RUNTIME_BACKENDS_ONEDNN_CONV2D_IMPLEMENTATIONS_H
#define RUNTIME_BACKENDS_ONEDNN_CONV2D_IMPLEMENTATIONS_H

#include "runtime/backends/onednn/library/primitive.h"

struct pdnn_onednn_conv2d {
    const struct pdnn_graph *graph; /* borrowed, like the node */
    const struct pdnn_node *node;
    /* by argument: x, w, b, y or their gradients, or PDNN_NONE */
    uint32_t tensor[PDNN_ONEDNN_SCRATCHPAD];
    enum pdnn_onednn_arg output;
    uint32_t summand; /* tensor that DST holds before the pass and that is added to, or PDNN_NONE */
    bool is_scaled;   /* int8 with an f32 result: the products of the scales are an argument */
    struct pdnn_onednn_request request; /* complete except for the layouts */
};

bool pdnn_onednn_conv2d_is(const struct pdnn_node *node);

/* PDNN_UNSUPPORTED if its posts cannot be fused. */
enum pdnn_status pdnn_onednn_conv2d_init(const struct pdnn_graph *graph, const struct pdnn_node *node,
                                         struct pdnn_onednn_conv2d *convolution, struct pdnn_err *err);

/* Describes the primitive for arguments in the given layouts; NULL: the library chooses, except
 * that b is always row-major. The caller destroys it. PDNN_UNSUPPORTED if the library has none with
 * the graph's algorithm. */
enum pdnn_status
pdnn_onednn_conv2d_describe(struct pdnn_onednn_library *library, const struct pdnn_onednn_conv2d *convolution,
                            const struct pdnn_onednn_layout *const layout[PDNN_ONEDNN_SCRATCHPAD],
                            struct pdnn_onednn_primitive **primitive, struct pdnn_err *err);

/* The same, but if the library has only reference code or nothing for images in the given layouts, it
 * chooses every layout. */
enum pdnn_status
pdnn_onednn_conv2d_find(struct pdnn_onednn_library *library, const struct pdnn_onednn_conv2d *convolution,
                        const struct pdnn_onednn_layout *const layout[PDNN_ONEDNN_SCRATCHPAD],
                        struct pdnn_onednn_primitive **primitive, struct pdnn_err *err);

#endif
