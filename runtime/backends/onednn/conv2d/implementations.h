/* What can run a pass of a conv2d node in oneDNN: which tensor is which argument, and which implementation
 * runs. N minibatch, C H W input channels, height and width, O P Q output channels, height and width, R S
 * kernel height and width; x (N, C, H, W), w (O, C / groups, R, S), y (N, O, P, Q), bias b (O). */
#ifndef RUNTIME_BACKENDS_ONEDNN_CONV2D_IMPLEMENTATIONS_H
#define RUNTIME_BACKENDS_ONEDNN_CONV2D_IMPLEMENTATIONS_H

#include "runtime/backends/onednn/compile.h"
#include "runtime/backends/onednn/library/primitive.h"

struct pdnn_onednn_conv2d {
    const struct pdnn_graph *graph; /* borrowed, like the node */
    const struct pdnn_node *node;
    /* by argument: x, w, b, y or their gradients, or PDNN_NONE */
    uint32_t tensor[PDNN_ONEDNN_SCRATCHPAD];
    enum pdnn_onednn_arg output;
    int64_t groups;   /* above 1, the library has w as (groups, O / groups, C / groups, R, S) */
    uint32_t summand; /* tensor that DST holds before the pass and that is added to, or PDNN_NONE */
    /* The library gets a column, which is one pixel wide, as a row: its code goes along rows, and would begin
     * again at each pixel. */
    bool is_turned;
    bool lacks_winograd; /* asked for and not in the library, so that it must be ours or another algorithm */
    bool is_scaled;      /* int8 with an f32 result: the products of the scales are an argument */
    struct pdnn_onednn_request request; /* complete except for the layouts */
    /* What the functions below have described so far, or NULL; whoever builds `stored` takes it. */
    struct pdnn_onednn_primitive *wanted, *stored;
};

/* The node's convolution, which this compilation has once. PDNN_UNSUPPORTED if its posts cannot be fused. */
enum pdnn_status pdnn_onednn_conv2d_get(struct pdnn_onednn_compile *compile, uint32_t node,
                                        struct pdnn_onednn_conv2d **convolution, struct pdnn_err *err);

/* Describes `wanted`, whose layouts the library chooses, except that b is always row-major. PDNN_UNSUPPORTED
 * if the library has none with the graph's algorithm. */
enum pdnn_status pdnn_onednn_conv2d_describe_wanted(struct pdnn_onednn_pool *pool,
                                                    struct pdnn_onednn_conv2d *convolution,
                                                    struct pdnn_err *err);

/* Describes `stored`, for images in the layouts in which they are stored. If the library has only reference
 * code or nothing for those, it chooses every layout. */
enum pdnn_status pdnn_onednn_conv2d_describe_stored(const struct pdnn_onednn_compile *compile,
                                                    struct pdnn_onednn_conv2d *convolution,
                                                    struct pdnn_err *err);

/* A primitive's layout for an argument, in the tensor's dimensions (weights: with groups). */
const struct pdnn_onednn_layout *pdnn_onednn_conv2d_layout(struct pdnn_onednn_pool *pool,
                                                           const struct pdnn_onednn_conv2d *convolution,
                                                           const struct pdnn_onednn_primitive *primitive,
                                                           enum pdnn_onednn_arg arg);

/* Whether images and weights are one pixel wide and nothing is added beside them, so that they lie in memory
 * as those of one pixel's height. */
bool pdnn_onednn_conv2d_is_column(const struct pdnn_node *node, const struct pdnn_tensor *x,
                                  const struct pdnn_tensor *w, const struct pdnn_tensor *y);

/* Whether it is 3x3 by one pixel, so that Winograd's algorithm is for it, in the library or on our kernel. */
bool pdnn_onednn_conv2d_is_winograd(const struct pdnn_onednn_conv2d *convolution);

/* Destroys what was described and not built. */
void pdnn_onednn_conv2d_finish(struct pdnn_onednn_compile *compile);

#endif
