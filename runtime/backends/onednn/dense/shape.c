#include "runtime/backends/onednn/dense/shape.h"

#include "models/attributes.h"
#include "models/op.h"
#include "runtime/backends/onednn/library/post_ops.h"

#include <string.h>

struct pdnn_onednn_dense_dtypes pdnn_onednn_dense_dtypes_of(const struct pdnn_onednn_dense_shape *shape) {
    enum pdnn_dtype dtype = shape->dtype;
    if (dtype == PDNN_INT8)
        return (struct pdnn_onednn_dense_dtypes){PDNN_U8, PDNN_INT8, PDNN_F32,
                                                 shape->is_scaled ? PDNN_F32 : PDNN_S32};
    enum pdnn_dtype b = pdnn_dtype_is_half(dtype) ? PDNN_F32 : dtype;
    return (struct pdnn_onednn_dense_dtypes){dtype, shape->weights_dtype, b, dtype};
}

struct pdnn_onednn_dense_tensors pdnn_onednn_dense_tensors_of(const struct pdnn_node *node) {
    const uint32_t *in = node->input, *out = node->output;
    if (node->pass == PDNN_BACKWARD_DATA)
        return (struct pdnn_onednn_dense_tensors){
            .x = out[PDNN_DENSE_DATA_DX], .w = in[PDNN_DENSE_DATA_W], .y = in[PDNN_DENSE_DATA_DY]};
    if (node->pass == PDNN_BACKWARD_WEIGHTS)
        return (struct pdnn_onednn_dense_tensors){
            .x = in[PDNN_DENSE_WEIGHTS_X], .w = out[PDNN_DENSE_WEIGHTS_DW], .y = in[PDNN_DENSE_WEIGHTS_DY]};
    return (struct pdnn_onednn_dense_tensors){
        .x = in[PDNN_DENSE_X], .w = in[PDNN_DENSE_W], .y = out[PDNN_DENSE_Y]};
}

uint32_t pdnn_onednn_dense_weights_of(const struct pdnn_graph *graph, const struct pdnn_node *node) {
    if (node->op != &pdnn_op_dense)
        return PDNN_NONE;
    uint32_t w = pdnn_onednn_dense_tensors_of(node).w;
    bool is_gradient = node->pass == PDNN_BACKWARD_WEIGHTS && graph->tensors[w].of != PDNN_NONE;
    return is_gradient ? graph->tensors[w].of : w;
}

static enum pdnn_status describe_posts(const struct pdnn_node *node, struct pdnn_onednn_dense_shape *shape,
                                       struct pdnn_err *err) {
    for (int i = 0; i < node->n_posts; i++) {
        const struct pdnn_post *post = &node->posts[i];
        bool bias = post->op == &pdnn_op_bias;
        struct pdnn_onednn_post_op function;
        if (bias && post->pass == PDNN_BACKWARD_WEIGHTS)
            shape->bias_gradient = true;
        else if (bias && i == 0 && node->pass == PDNN_FORWARD)
            shape->bias = true;
        else if (post->pass == PDNN_FORWARD && pdnn_onednn_post_op_find(post->op, post->coef, &function))
            shape->post_op[shape->n_post_ops++] = function;
        else
            return pdnn_onednn_post_op_refuse(node, i, err);
    }
    return PDNN_OK;
}

static void describe_dims(const struct pdnn_program *program, const struct pdnn_node *node,
                          struct pdnn_onednn_dense_shape *shape) {
    const struct pdnn_onednn_dense_tensors tensors = pdnn_onednn_dense_tensors_of(node);
    const struct pdnn_tensor *all = program->graph->tensors;
    const struct pdnn_tensor *x = &all[tensors.x], *w = &all[tensors.w], *y = &all[tensors.y];
    shape->dtype = node->pass == PDNN_BACKWARD_DATA ? y->dtype : x->dtype;
    shape->weights_dtype = w->dtype;
    shape->N = y->dim[0];
    shape->I = w->dim[1];
    shape->O = w->dim[0];
    shape->is_scaled = pdnn_quantized_is_scaled(node);
    shape->is_shifted = program->slots[tensors.x].zero_point != 0;
}

/* Whether another node of the same pass can share the description: one choice is made for all of them.
 * Post-ops hardly affect that choice, so forward nodes may have different ones. */
static bool is_like(const struct pdnn_onednn_dense_shape *shape, const struct pdnn_onednn_dense_shape *node,
                    enum pdnn_pass pass) {
    if (shape->N && shape->N != node->N)
        return false;
    return pass != PDNN_BACKWARD_WEIGHTS || !shape->has_pass[pass] ||
           shape->bias_gradient == node->bias_gradient;
}

enum pdnn_status pdnn_onednn_dense_shape_of(const struct pdnn_program *program, const struct pdnn_node *node,
                                            struct pdnn_onednn_dense_shape *shape, struct pdnn_err *err) {
    *shape = (struct pdnn_onednn_dense_shape){0};
    describe_dims(program, node, shape);
    return describe_posts(node, shape, err);
}

enum pdnn_status pdnn_onednn_dense_shape_add(const struct pdnn_program *program, const struct pdnn_node *node,
                                             struct pdnn_onednn_dense_shape *shape, struct pdnn_err *err) {
    struct pdnn_onednn_dense_shape one;
    enum pdnn_status status = pdnn_onednn_dense_shape_of(program, node, &one, err);
    if (status != PDNN_OK)
        return status;
    if (!is_like(shape, &one, node->pass))
        return pdnn_fail(err, PDNN_UNSUPPORTED,
                         "onednn: one weight used by nodes of different shape or bias gradients");
    describe_dims(program, node, shape);
    shape->has_pass[node->pass] = true;
    shape->node[node->pass] = node;
    if (node->pass == PDNN_FORWARD) {
        shape->bias = one.bias;
        shape->n_post_ops = one.n_post_ops;
        memcpy(shape->post_op, one.post_op, sizeof shape->post_op);
    } else if (node->pass == PDNN_BACKWARD_WEIGHTS) {
        shape->bias_gradient = one.bias_gradient;
    }
    return PDNN_OK;
}
