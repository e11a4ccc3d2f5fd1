#include "runtime/backends/onednn/conv2d/implementations.h"

#include "models/op.h"
#include "models/conv2d.h"
#include "runtime/backends/onednn/library/post_ops.h"
#include "runtime/backends/onednn/tensor_layout.h"

static void assign_tensors(struct pdnn_onednn_conv2d *convolution) {
    const uint32_t *in = convolution->node->input, *out = convolution->node->output;
    const enum pdnn_pass pass = pdnn_conv2d_pass(convolution->node);
    uint32_t *tensor = convolution->tensor;
    tensor[PDNN_ONEDNN_BIAS] = PDNN_NONE;
    if (pass == PDNN_BACKWARD_DATA) {
        tensor[PDNN_ONEDNN_SRC] = out[PDNN_CONV2D_DATA_DX];
        tensor[PDNN_ONEDNN_WEIGHTS] = in[PDNN_CONV2D_DATA_W];
        tensor[PDNN_ONEDNN_DST] = in[PDNN_CONV2D_DATA_DY];
        convolution->output = PDNN_ONEDNN_SRC;
    } else if (pass == PDNN_BACKWARD_WEIGHTS) {
        tensor[PDNN_ONEDNN_SRC] = in[PDNN_CONV2D_WEIGHTS_X];
        tensor[PDNN_ONEDNN_WEIGHTS] = out[PDNN_CONV2D_WEIGHTS_DW];
        tensor[PDNN_ONEDNN_DST] = in[PDNN_CONV2D_WEIGHTS_DY];
        convolution->output = PDNN_ONEDNN_WEIGHTS;
    } else {
        tensor[PDNN_ONEDNN_SRC] = in[PDNN_CONV2D_X];
        tensor[PDNN_ONEDNN_WEIGHTS] = in[PDNN_CONV2D_W];
        tensor[PDNN_ONEDNN_DST] = out[PDNN_CONV2D_Y];
        convolution->output = PDNN_ONEDNN_DST;
    }
}

/* A bias must come first, then at most one summand: oneDNN adds what the result holds before
 * it applies a function. */
static enum pdnn_status assign_posts(struct pdnn_onednn_conv2d *convolution, struct pdnn_err *err) {
    const struct pdnn_node *node = convolution->node;
    struct pdnn_onednn_request *request = &convolution->request;
    for (int i = 0; i < node->n_posts; i++) {
        const struct pdnn_post *post = &node->posts[i];
        bool bias = post->op == &pdnn_op_bias, forward = post->pass == PDNN_FORWARD;
        struct pdnn_onednn_post_op function;
        if (bias && post->pass == PDNN_BACKWARD_WEIGHTS) {
            convolution->tensor[PDNN_ONEDNN_BIAS] = post->output;
        } else if (bias && forward && i == 0) {
            convolution->tensor[PDNN_ONEDNN_BIAS] = post->input;
        } else if (forward && post->op == &pdnn_op_add && request->n_post_ops == 0) {
            convolution->summand = post->input;
            request->post_op[request->n_post_ops++] = (struct pdnn_onednn_post_op){.activation = NULL};
        } else if (forward && pdnn_onednn_post_op_find(post->op, post->coef, &function)) {
            request->post_op[request->n_post_ops++] = function;
        } else {
            return pdnn_onednn_post_op_refuse(node, i, err);
        }
    }
    return PDNN_OK;
}

bool pdnn_onednn_conv2d_is_winograd(const struct pdnn_onednn_conv2d *convolution) {
    const struct pdnn_tensor *w = &convolution->graph->tensors[convolution->tensor[PDNN_ONEDNN_WEIGHTS]];
    const int64_t *stride = convolution->request.stride, *dilation = convolution->request.dilation;
    return w->dim[2] == 3 && w->dim[3] == 3 && stride[0] == 1 && stride[1] == 1 && convolution->groups == 1 &&
           dilation[0] == 1 && dilation[1] == 1;
}

/* Winograd's is for 3x3 kernels that move by one pixel and read all channels: a network's other convolutions
 * are computed as the library chooses, and in f32 also these where it has none (3.x). For int8 it may choose
 * Winograd where that cannot be set up (2.6, without VNNI), so that direct comes first there; what has no
 * direct code (2.6 on Arm, with post-ops) is as it chooses again. */
static enum pdnn_algorithm algorithm_of(const struct pdnn_onednn_conv2d *convolution) {
    const struct pdnn_graph *graph = convolution->graph;
    const struct pdnn_tensor *w = &graph->tensors[convolution->tensor[PDNN_ONEDNN_WEIGHTS]];
    enum pdnn_algorithm wanted = (enum pdnn_algorithm)graph->algorithm;
    if (wanted == PDNN_ALGORITHM_WINOGRAD && !pdnn_onednn_conv2d_is_winograd(convolution))
        wanted = PDNN_ALGORITHM_AUTO;
    bool is_int8 = w->dtype == PDNN_INT8;
    return is_int8 && wanted == PDNN_ALGORITHM_AUTO ? PDNN_ALGORITHM_DIRECT : wanted;
}

bool pdnn_onednn_conv2d_is_column(const struct pdnn_node *node, const struct pdnn_tensor *x,
                                  const struct pdnn_tensor *w, const struct pdnn_tensor *y) {
    return x->dim[3] == 1 && w->dim[3] == 1 && y->dim[3] == 1 && x->dim[2] > 1 &&
           node->attr[PDNN_CONV2D_PADDING_W] == 0 && node->attr[PDNN_CONV2D_EXTRA_W] == 0;
}

static void exchange(int64_t *pair) {
    const int64_t first = pair[0];
    pair[0] = pair[1];
    pair[1] = first;
}

static void turn(struct pdnn_onednn_conv2d *convolution) {
    const struct pdnn_tensor *tensors = convolution->graph->tensors,
                             *w = &tensors[convolution->tensor[PDNN_ONEDNN_WEIGHTS]];
    struct pdnn_onednn_request *request = &convolution->request;
    convolution->is_turned =
        w->dtype != PDNN_INT8 &&
        pdnn_onednn_conv2d_is_column(convolution->node, &tensors[convolution->tensor[PDNN_ONEDNN_SRC]], w,
                                     &tensors[convolution->tensor[PDNN_ONEDNN_DST]]);
    if (!convolution->is_turned)
        return;
    exchange(request->stride);
    exchange(request->padding);
    exchange(request->end);
    exchange(request->dilation);
}

enum pdnn_status pdnn_onednn_conv2d_get(struct pdnn_onednn_compile *compile, uint32_t index,
                                        struct pdnn_onednn_conv2d **convolution, struct pdnn_err *err) {
    const struct pdnn_graph *graph = compile->program->graph;
    const struct pdnn_node *node = &graph->nodes[index];
    const int64_t *attr = node->attr;
    *convolution = compile->convolution[index];
    if (*convolution)
        return PDNN_OK;
    struct pdnn_onednn_conv2d *made = pdnn_arena_alloc(&compile->program->arena, 1, sizeof *made);
    *made = (struct pdnn_onednn_conv2d){
        .graph = graph, .node = node, .groups = pdnn_conv2d_groups(node), .summand = PDNN_NONE};
    made->request = (struct pdnn_onednn_request){
        .kind = PDNN_ONEDNN_CONVOLUTION,
        .pass = pdnn_conv2d_pass(node),
        .stride = {attr[PDNN_CONV2D_STRIDE_H], attr[PDNN_CONV2D_STRIDE_W]},
        .padding = {attr[PDNN_CONV2D_PADDING_H], attr[PDNN_CONV2D_PADDING_W]},
        .end = {attr[PDNN_CONV2D_PADDING_H] + attr[PDNN_CONV2D_EXTRA_H],
                attr[PDNN_CONV2D_PADDING_W] + attr[PDNN_CONV2D_EXTRA_W]},
        .dilation = {pdnn_conv2d_dilation_h(node), pdnn_conv2d_dilation_w(node)},
        .trains = graph->loss != PDNN_NONE,
    };
    made->is_scaled = pdnn_quantized_is_scaled(node);
    assign_tensors(made);
    made->request.algorithm = algorithm_of(made);
    turn(made);
    enum pdnn_status status = assign_posts(made, err);
    if (status == PDNN_OK)
        compile->convolution[index] = *convolution = made;
    return status;
}

static enum pdnn_status refuse(const struct pdnn_onednn_conv2d *convolution, struct pdnn_err *err) {
    static const char *const ways[PDNN_ALGORITHM_COUNT] = {
        [PDNN_ALGORITHM_AUTO] = "",
        [PDNN_ALGORITHM_DIRECT] = "direct ",
        [PDNN_ALGORITHM_WINOGRAD] = "winograd ",
        [PDNN_ALGORITHM_GEMM] = "gemm ",
    };
    const struct pdnn_node *node = convolution->node;
    return pdnn_fail(err, PDNN_UNSUPPORTED, "onednn: %s has no %sconvolution %s for %s here",
                     pdnn_onednn_version(), ways[convolution->request.algorithm], pdnn_pass_name(node->pass),
                     pdnn_dtype_name(pdnn_node_in(convolution->graph, node, 0)->dtype));
}

/* (1, O, 1, 1), or NULL if there is no scale. */
static const struct pdnn_onednn_layout *make_scale(struct pdnn_onednn_pool *pool,
                                                   const struct pdnn_onednn_conv2d *convolution) {
    const struct pdnn_tensor *w = &convolution->graph->tensors[convolution->tensor[PDNN_ONEDNN_WEIGHTS]];
    const int64_t dim[] = {1, w->dim[0], 1, 1};
    return convolution->is_scaled ? pdnn_onednn_layout_create(pool, PDNN_F32, 4, dim, PDNN_ONEDNN_ROW_MAJOR)
                                  : NULL;
}

/* A layout in the tensor's dimensions in the library's, or the other way round. */
static const struct pdnn_onednn_layout *turn_layout(struct pdnn_onednn_pool *pool,
                                                    const struct pdnn_onednn_conv2d *convolution,
                                                    const struct pdnn_onednn_layout *layout, int arg) {
    return convolution->is_turned && arg != PDNN_ONEDNN_BIAS ? pdnn_onednn_layout_turn(pool, layout) : layout;
}

const struct pdnn_onednn_layout *pdnn_onednn_conv2d_layout(struct pdnn_onednn_pool *pool,
                                                           const struct pdnn_onednn_conv2d *convolution,
                                                           const struct pdnn_onednn_primitive *primitive,
                                                           enum pdnn_onednn_arg arg) {
    return turn_layout(pool, convolution, pdnn_onednn_primitive_layout(primitive, arg), (int)arg);
}

/* An argument's layout in the library's dimensions. */
static const struct pdnn_onednn_layout *make_layout(struct pdnn_onednn_pool *pool,
                                                    const struct pdnn_onednn_conv2d *convolution, int arg) {
    const struct pdnn_tensor *t = &convolution->graph->tensors[convolution->tensor[arg]];
    const enum pdnn_onednn_order order = arg == PDNN_ONEDNN_BIAS ? PDNN_ONEDNN_ROW_MAJOR : PDNN_ONEDNN_ANY;
    const int64_t groups = convolution->groups;
    const bool is_grouped = arg == PDNN_ONEDNN_WEIGHTS && groups > 1;
    int64_t dim[] = {groups, is_grouped ? t->dim[0] / groups : t->dim[0], t->dim[1], t->dim[2], t->dim[3]};
    if (convolution->is_turned)
        exchange(dim + 3);
    return pdnn_onednn_layout_create(pool, pdnn_onednn_tensor_dtype(t), t->rank + is_grouped,
                                     is_grouped ? dim : dim + 1, order);
}

/* Describes the primitive for arguments in the given layouts; NULL: the library chooses. */
static enum pdnn_status describe(struct pdnn_onednn_pool *pool, const struct pdnn_onednn_conv2d *convolution,
                                 const struct pdnn_onednn_layout *const layout[PDNN_ONEDNN_SCRATCHPAD],
                                 struct pdnn_onednn_primitive **primitive, struct pdnn_err *err) {
    struct pdnn_onednn_request request = convolution->request;
    request.layout[PDNN_ONEDNN_SCALE] = make_scale(pool, convolution);
    for (int i = 0; i < PDNN_ONEDNN_SCRATCHPAD; i++) {
        if (convolution->tensor[i] == PDNN_NONE)
            continue;
        request.layout[i] =
            layout[i] ? turn_layout(pool, convolution, layout[i], i) : make_layout(pool, convolution, i);
    }
    enum pdnn_status status = pdnn_onednn_primitive_describe(pool, &request, primitive, err);
    if (status == PDNN_UNSUPPORTED && convolution->graph->algorithm == PDNN_ALGORITHM_AUTO &&
        request.algorithm != PDNN_ALGORITHM_AUTO) {
        request.algorithm = PDNN_ALGORITHM_AUTO;
        status = pdnn_onednn_primitive_describe(pool, &request, primitive, err);
    }
    return status == PDNN_UNSUPPORTED ? refuse(convolution, err) : status;
}

enum pdnn_status pdnn_onednn_conv2d_describe_wanted(struct pdnn_onednn_pool *pool,
                                                    struct pdnn_onednn_conv2d *convolution,
                                                    struct pdnn_err *err) {
    const struct pdnn_onednn_layout *const any[PDNN_ONEDNN_SCRATCHPAD] = {NULL};
    struct pdnn_onednn_request *request = &convolution->request;
    if (convolution->wanted)
        return PDNN_OK;
    enum pdnn_status status = describe(pool, convolution, any, &convolution->wanted, err);
    const bool is_f32 = convolution->graph->tensors[convolution->tensor[PDNN_ONEDNN_SRC]].dtype == PDNN_F32;
    if (status == PDNN_UNSUPPORTED && request->algorithm == PDNN_ALGORITHM_WINOGRAD && is_f32) {
        request->algorithm = PDNN_ALGORITHM_AUTO;
        convolution->lacks_winograd = true;
        status = describe(pool, convolution, any, &convolution->wanted, err);
    }
    return status;
}

static bool is_fast(const struct pdnn_onednn_primitive *primitive) {
    return primitive && !pdnn_onednn_primitive_is_reference(primitive);
}

enum pdnn_status pdnn_onednn_conv2d_describe_stored(const struct pdnn_onednn_compile *compile,
                                                    struct pdnn_onednn_conv2d *c, struct pdnn_err *err) {
    const struct pdnn_onednn_layout *x = pdnn_onednn_tensor_layout(compile, c->tensor[PDNN_ONEDNN_SRC]),
                                    *y = pdnn_onednn_tensor_layout(compile, c->tensor[PDNN_ONEDNN_DST]),
                                    *const stored[PDNN_ONEDNN_SCRATCHPAD] = {
                                        [PDNN_ONEDNN_SRC] = x, [PDNN_ONEDNN_DST] = y};
    struct pdnn_onednn_primitive *found = NULL;
    enum pdnn_status status = PDNN_OK;
    if (c->stored)
        return PDNN_OK;
    if (c->request.algorithm == PDNN_ALGORITHM_WINOGRAD)
        status = pdnn_onednn_conv2d_describe_wanted(compile->pool, c, err);
    if (status != PDNN_OK)
        return status;
    bool is_wanted =
        c->wanted &&
        pdnn_onednn_layout_equal(pdnn_onednn_conv2d_layout(compile->pool, c, c->wanted, PDNN_ONEDNN_SRC),
                                 x) &&
        pdnn_onednn_layout_equal(pdnn_onednn_conv2d_layout(compile->pool, c, c->wanted, PDNN_ONEDNN_DST), y);
    if (!is_wanted)
        status = describe(compile->pool, c, stored, &found, err);
    if (status != PDNN_OK && status != PDNN_UNSUPPORTED)
        return status;
    if (!is_fast(found))
        status = pdnn_onednn_conv2d_describe_wanted(compile->pool, c, err);
    if (!found || (!is_fast(found) && is_fast(c->wanted))) {
        pdnn_onednn_primitive_destroy(found);
        found = c->wanted;
        c->wanted = NULL;
    }
    c->stored = found;
    return found ? PDNN_OK : status;
}

void pdnn_onednn_conv2d_finish(struct pdnn_onednn_compile *compile) {
    for (size_t i = 0; i < compile->program->graph->n_nodes; i++) {
        if (!compile->convolution[i])
            continue;
        pdnn_onednn_primitive_destroy(compile->convolution[i]->wanted);
        pdnn_onednn_primitive_destroy(compile->convolution[i]->stored);
    }
}
