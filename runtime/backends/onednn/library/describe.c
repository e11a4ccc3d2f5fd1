#include "runtime/backends/onednn/library/describe.h"

#include "runtime/backends/onednn/library/implementation.h"
#include "runtime/backends/onednn/library/version.h"

#include <string.h>

static pdnn_onednn_desc desc_of(const struct pdnn_onednn_description *d, enum pdnn_onednn_arg arg) {
    return d->request->layout[arg] ? PDNN_DNNL_DESC(d->request->layout[arg]) : NULL;
}

static dnnl_status_t describe_inner_product(struct pdnn_onednn_description *d) {
    pdnn_onednn_desc src = desc_of(d, PDNN_ONEDNN_SRC), dst = desc_of(d, PDNN_ONEDNN_DST);
    pdnn_onednn_desc weights = desc_of(d, PDNN_ONEDNN_WEIGHTS), bias = desc_of(d, PDNN_ONEDNN_BIAS);
    dnnl_prop_kind_t prop = d->request->pass == PDNN_FORWARD ? dnnl_forward_inference : dnnl_forward_training;
    if (d->pass == PDNN_BACKWARD_DATA)
        return PDNN_DNNL_BACKWARD(d, inner_product_backward_data, src, weights, dst);
    if (d->pass == PDNN_BACKWARD_WEIGHTS)
        return PDNN_DNNL_BACKWARD(d, inner_product_backward_weights, src, weights, bias, dst);
    return PDNN_DNNL_FORWARD(d, inner_product_forward, prop, src, weights, bias, dst);
}

static dnnl_status_t describe_convolution(struct pdnn_onednn_description *d) {
    pdnn_onednn_desc src = desc_of(d, PDNN_ONEDNN_SRC), dst = desc_of(d, PDNN_ONEDNN_DST);
    pdnn_onednn_desc weights = desc_of(d, PDNN_ONEDNN_WEIGHTS), bias = desc_of(d, PDNN_ONEDNN_BIAS);
    dnnl_prop_kind_t prop = pdnn_onednn_forward_prop(d->request);
    dnnl_alg_kind_t algorithm = pdnn_onednn_algorithms[d->request->algorithm];
    const dnnl_dims_t stride = {d->request->stride[0], d->request->stride[1]};
    const dnnl_dims_t between = {d->request->dilation[0] - 1, d->request->dilation[1] - 1};
    const dnnl_dims_t padding = {d->request->padding[0], d->request->padding[1]};
    const dnnl_dims_t end = {d->request->end[0], d->request->end[1]};
    if (d->pass == PDNN_BACKWARD_DATA)
        return PDNN_DNNL_BACKWARD(d, convolution_backward_data, algorithm, src, weights, dst, stride, between,
                                  padding, end);
    if (d->pass == PDNN_BACKWARD_WEIGHTS)
        return PDNN_DNNL_BACKWARD(d, convolution_backward_weights, algorithm, src, weights, bias, dst, stride,
                                  between, padding, end);
    return PDNN_DNNL_FORWARD(d, convolution_forward, prop, algorithm, src, weights, bias, dst, stride,
                             between, padding, end);
}

static dnnl_status_t describe_matmul(struct pdnn_onednn_description *d) {
    return PDNN_DNNL_FORWARD(d, matmul, desc_of(d, PDNN_ONEDNN_SRC), desc_of(d, PDNN_ONEDNN_WEIGHTS),
                             desc_of(d, PDNN_ONEDNN_BIAS), desc_of(d, PDNN_ONEDNN_DST));
}

static dnnl_status_t describe_reorder(struct pdnn_onednn_description *d) {
    return dnnl_reorder_primitive_desc_create(&d->made, desc_of(d, PDNN_ONEDNN_SRC), d->engine,
                                              desc_of(d, PDNN_ONEDNN_DST), d->engine, d->attributes);
}

/* One layer in one direction. */
struct recurrent {
    dnnl_prop_kind_t prop;
    dnnl_rnn_direction_t direction;
    pdnn_onednn_desc x, w, u, b, y;
    pdnn_onednn_desc dx, dw, du, db, dy;
    pdnn_onednn_desc h, c, dh, dc; /* state before the first step */
};

static struct recurrent recurrent_of(const struct pdnn_onednn_description *d) {
    return (struct recurrent){
        .prop = d->pass == PDNN_FORWARD ? pdnn_onednn_forward_prop(d->request) : dnnl_backward,
        .direction = d->request->is_reverse ? dnnl_unidirectional_right2left : dnnl_unidirectional_left2right,
        .x = desc_of(d, PDNN_ONEDNN_SRC),
        .w = desc_of(d, PDNN_ONEDNN_WEIGHTS),
        .u = desc_of(d, PDNN_ONEDNN_RECURRENT),
        .b = desc_of(d, PDNN_ONEDNN_BIAS),
        .y = desc_of(d, PDNN_ONEDNN_DST),
        .dx = desc_of(d, PDNN_ONEDNN_DIFF_SRC),
        .dw = desc_of(d, PDNN_ONEDNN_DIFF_WEIGHTS),
        .du = desc_of(d, PDNN_ONEDNN_DIFF_RECURRENT),
        .db = desc_of(d, PDNN_ONEDNN_DIFF_BIAS),
        .dy = desc_of(d, PDNN_ONEDNN_DIFF_DST),
        .h = desc_of(d, PDNN_ONEDNN_STATE),
        .c = desc_of(d, PDNN_ONEDNN_STATE_C),
        .dh = desc_of(d, PDNN_ONEDNN_DIFF_STATE),
        .dc = desc_of(d, PDNN_ONEDNN_DIFF_STATE_C),
    };
}

static dnnl_status_t describe_rnn(struct pdnn_onednn_description *d) {
    const struct recurrent r = recurrent_of(d);
    if (d->pass != PDNN_FORWARD)
        return PDNN_DNNL_BACKWARD(d, vanilla_rnn_backward, r.prop, dnnl_eltwise_tanh, r.direction, r.x, r.h,
                                  r.w, r.u, r.b, r.y, NULL, r.dx, r.dh, r.dw, r.du, r.db, r.dy, NULL, 0, 0,
                                  0);
    return PDNN_DNNL_FORWARD(d, vanilla_rnn_forward, r.prop, dnnl_eltwise_tanh, r.direction, r.x, r.h, r.w,
                             r.u, r.b, r.y, NULL, 0, 0, 0);
}

static dnnl_status_t describe_lstm(struct pdnn_onednn_description *d) {
    const struct recurrent r = recurrent_of(d);
    if (d->pass != PDNN_FORWARD)
        return PDNN_DNNL_BACKWARD(d, lstm_backward, r.prop, r.direction, r.x, r.h, r.c, r.w, r.u, NULL, NULL,
                                  r.b, r.y, NULL, NULL, r.dx, r.dh, r.dc, r.dw, r.du, NULL, NULL, r.db, r.dy,
                                  NULL, NULL, 0);
    return PDNN_DNNL_FORWARD(d, lstm_forward, r.prop, r.direction, r.x, r.h, r.c, r.w, r.u, NULL, NULL, r.b,
                             r.y, NULL, NULL, 0);
}

static dnnl_status_t describe_gru(struct pdnn_onednn_description *d) {
    const struct recurrent r = recurrent_of(d);
    if (d->pass != PDNN_FORWARD)
        return PDNN_DNNL_BACKWARD(d, gru_backward, r.prop, r.direction, r.x, r.h, r.w, r.u, r.b, r.y, NULL,
                                  r.dx, r.dh, r.dw, r.du, r.db, r.dy, NULL, 0);
    return PDNN_DNNL_FORWARD(d, gru_forward, r.prop, r.direction, r.x, r.h, r.w, r.u, r.b, r.y, NULL, 0);
}

static dnnl_status_t describe_lbr_gru(struct pdnn_onednn_description *d) {
    const struct recurrent r = recurrent_of(d);
    if (d->pass != PDNN_FORWARD)
        return PDNN_DNNL_BACKWARD(d, lbr_gru_backward, r.prop, r.direction, r.x, r.h, r.w, r.u, r.b, r.y,
                                  NULL, r.dx, r.dh, r.dw, r.du, r.db, r.dy, NULL, 0);
    return PDNN_DNNL_FORWARD(d, lbr_gru_forward, r.prop, r.direction, r.x, r.h, r.w, r.u, r.b, r.y, NULL, 0);
}

static dnnl_status_t describe_recurrent(struct pdnn_onednn_description *d) {
    static dnnl_status_t (*const cells[PDNN_CELL_COUNT])(struct pdnn_onednn_description *
                                                         d) = {[PDNN_CELL_RNN] = describe_rnn,
                                                               [PDNN_CELL_LSTM] = describe_lstm,
                                                               [PDNN_CELL_GRU] = describe_gru,
                                                               [PDNN_CELL_LBR_GRU] = describe_lbr_gru};
    return cells[d->request->cell](d);
}

static dnnl_status_t (*const describe[PDNN_ONEDNN_KIND_COUNT])(struct pdnn_onednn_description *d) = {
    [PDNN_ONEDNN_INNER_PRODUCT] = describe_inner_product,
    [PDNN_ONEDNN_CONVOLUTION] = describe_convolution,
    [PDNN_ONEDNN_MATMUL] = describe_matmul,
    [PDNN_ONEDNN_REORDER] = describe_reorder,
    [PDNN_ONEDNN_RNN] = describe_recurrent,
};

/* oneDNN 3.7's AVX-512 code gives wrong results for batched products of a single row if operands have
 * strides.
 */
static bool is_wrong_matmul(const struct pdnn_onednn_description *d) {
    int rank;
    if (DNNL_VERSION_MAJOR < 3 || d->request->kind != PDNN_ONEDNN_MATMUL ||
        !strstr(pdnn_onednn_implementation_name(d->made), "brg_matmul:avx512"))
        return false;
    const dnnl_dim_t *dim = pdnn_onednn_desc_dims(d->request->layout[PDNN_ONEDNN_DST], &rank);
    return rank > 2 && dim[rank - 2] == 1;
}

/* A backward primitive needs the description of the forward one it belongs to. */
dnnl_status_t pdnn_onednn_describe(dnnl_engine_t engine, const struct pdnn_onednn_request *request,
                                   dnnl_primitive_attr_t attributes, dnnl_primitive_desc_t *descriptor) {
    struct pdnn_onednn_description forward = {.engine = engine, .request = request, .pass = PDNN_FORWARD},
                                   own = forward;
    dnnl_status_t status = dnnl_success;
    if (request->pass != PDNN_FORWARD)
        status = describe[request->kind](&forward);
    own.pass = request->pass;
    own.attributes = attributes;
    own.hint = forward.made;
    if (status == dnnl_success)
        status = describe[request->kind](&own);
    while (status == dnnl_success && (!pdnn_onednn_is_wanted(request, own.made) || is_wrong_matmul(&own)))
        status = pdnn_onednn_describe_next(&own);
    if (status == dnnl_success) {
        *descriptor = own.made;
        own.made = NULL;
    }
    pdnn_onednn_describe_finish(&own);
    pdnn_onednn_describe_finish(&forward);
    return status;
}
