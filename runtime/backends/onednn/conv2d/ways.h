/* The ways oneDNN can do a pass of a conv2d node: what is which argument, and which implementation runs. N
 * minibatch, C H W input channels, height and width, O P Q those of the output, R S kernel height and width;
 * x (N, C, H, W), w (O, C, R, S), y (N, O, P, Q), bias b (O). */
#ifndef RUNTIME_BACKENDS_ONEDNN_CONV2D_WAYS_H
#define RUNTIME_BACKENDS_ONEDNN_CONV2D_WAYS_H

#include "runtime/backends/onednn/library/primitive.h"

struct pdnn_onednn_conv2d {
    const struct pdnn_graph *graph; /* borrowed, as the node */
    const struct pdnn_node *node;
    uint32_t tensor[PDNN_ONEDNN_SCRATCHPAD]; /* by argument: x, w, b, y or their gradients, or PDNN_NONE */
    enum pdnn_onednn_arg output;
    uint32_t summand; /* what DST holds before the pass, to be added to, or PDNN_NONE */
    bool is_scaled;   /* int8 with a result in f32: the products of scales are an argument */
    struct pdnn_onednn_request request; /* but for the layouts */
};

bool pdnn_onednn_conv2d_is(const struct pdnn_node *node);

/* PDNN_UNSUPPORTED where its posts cannot be fused. */
enum pdnn_status pdnn_onednn_conv2d_init(const struct pdnn_graph *graph, const struct pdnn_node *node,
                                         struct pdnn_onednn_conv2d *convolution, struct pdnn_err *err);

/* The described primitive, to be destroyed by the caller, for arguments in the layouts given; NULL: the
 * library chooses, but b is always row-major. PDNN_UNSUPPORTED when the library has none by the graph's
 * algorithm. */
enum pdnn_status
pdnn_onednn_conv2d_describe(struct pdnn_onednn_library *library, const struct pdnn_onednn_conv2d *convolution,
                            const struct pdnn_onednn_layout *const layout[PDNN_ONEDNN_SCRATCHPAD],
                            struct pdnn_onednn_primitive **primitive, struct pdnn_err *err);

/* The same, but where the library has only reference code for images in the layouts given, or nothing, it
 * chooses every layout. */
enum pdnn_status
pdnn_onednn_conv2d_find(struct pdnn_onednn_library *library, const struct pdnn_onednn_conv2d *convolution,
                        const struct pdnn_onednn_layout *const layout[PDNN_ONEDNN_SCRATCHPAD],
                        struct pdnn_onednn_primitive **primitive, struct pdnn_err *err);

#endif
