#include "runtime/backends/onednn/dense/implementations.h"

#include "runtime/backends/onednn/dense/small_batch.h"

#include <string.h>

/* The layouts of one request, destroyed together. */
struct layouts {
    struct pdnn_onednn_layout *x, *w, *b, *y, *scale;
};

static void destroy_layouts(struct layouts *layouts) {
    pdnn_onednn_layout_destroy(layouts->x);
    pdnn_onednn_layout_destroy(layouts->w);
    pdnn_onednn_layout_destroy(layouts->b);
    pdnn_onednn_layout_destroy(layouts->y);
    pdnn_onednn_layout_destroy(layouts->scale);
}

static const enum pdnn_onednn_order orders[PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT] = {
    [PDNN_ONEDNN_WEIGHTS_ROW_MAJOR] = PDNN_ONEDNN_ROW_MAJOR,
    [PDNN_ONEDNN_WEIGHTS_COLUMN_MAJOR] = PDNN_ONEDNN_COLUMN_MAJOR,
    [PDNN_ONEDNN_WEIGHTS_PACKED] = PDNN_ONEDNN_ANY,
};

enum { U8_OFFSET = 128 };

/* Row-major x (N, I) and y (N, O), w (O, I) in the format, and b if the pass has a fused bias: (O), or (1, O)
 * for matmul; scales (1, O). */
static enum pdnn_status make_layouts(const struct pdnn_onednn_dense_shape *shape, enum pdnn_pass pass,
                                     struct pdnn_onednn_dense_variant variant, struct layouts *made,
                                     struct pdnn_err *err) {
    const int64_t x[] = {shape->N, shape->I}, w[] = {shape->O, shape->I}, y[] = {shape->N, shape->O};
    const int64_t b[] = {1, shape->O};
    bool is_matmul = variant.way == PDNN_ONEDNN_DENSE_MATMUL;
    bool has_bias =
        (pass == PDNN_FORWARD && shape->bias) || (pass == PDNN_BACKWARD_WEIGHTS && shape->bias_gradient);
    const struct pdnn_onednn_dense_dtypes dtype = pdnn_onednn_dense_dtypes_of(shape);
    enum pdnn_status status = pdnn_onednn_layout_create(dtype.x, 2, x, PDNN_ONEDNN_ROW_MAJOR, &made->x, err);
    if (status == PDNN_OK)
        status = pdnn_onednn_layout_create(dtype.w, 2, w, orders[variant.format], &made->w, err);
    if (status == PDNN_OK)
        status = pdnn_onednn_layout_create(dtype.y, 2, y, PDNN_ONEDNN_ROW_MAJOR, &made->y, err);
    if (status == PDNN_OK && has_bias)
        status = pdnn_onednn_layout_create(dtype.b, is_matmul ? 2 : 1, is_matmul ? b : b + 1,
                                           PDNN_ONEDNN_ROW_MAJOR, &made->b, err);
    if (status == PDNN_OK && shape->is_scaled)
        status = pdnn_onednn_layout_create(PDNN_F32, 2, b, PDNN_ONEDNN_ROW_MAJOR, &made->scale, err);
    return status;
}

static void request_inner_product(const struct layouts *layouts, enum pdnn_pass pass,
                                  struct pdnn_onednn_request *request, struct pdnn_onednn_dense_pass *made) {
    request->kind = PDNN_ONEDNN_INNER_PRODUCT;
    request->pass = pass;
    request->layout[PDNN_ONEDNN_SRC] = layouts->x;
    request->layout[PDNN_ONEDNN_WEIGHTS] = layouts->w;
    request->layout[PDNN_ONEDNN_BIAS] = layouts->b;
    request->layout[PDNN_ONEDNN_DST] = layouts->y;
    made->x = PDNN_ONEDNN_SRC;
    made->w = PDNN_ONEDNN_WEIGHTS;
    made->b = PDNN_ONEDNN_BIAS;
    made->y = PDNN_ONEDNN_DST;
}

/* y = x w^T; dx = dy w; dw = dy^T x, or dw^T = x^T dy if dw is stored transposed, since matmul writes
 * only row-major results. */
static enum pdnn_status request_matmul(struct layouts *layouts, enum pdnn_pass pass,
                                       enum pdnn_onednn_weights_format format,
                                       struct pdnn_onednn_request *request,
                                       struct pdnn_onednn_dense_pass *made, struct pdnn_err *err) {
    struct pdnn_onednn_layout *transposed = layouts->w;
    request->kind = PDNN_ONEDNN_MATMUL;
    request->pass = PDNN_FORWARD;
    made->x = PDNN_ONEDNN_SRC;
    made->w = PDNN_ONEDNN_WEIGHTS;
    made->b = PDNN_ONEDNN_BIAS;
    made->y = PDNN_ONEDNN_DST;
    if (pass == PDNN_BACKWARD_DATA) {
        transposed = NULL;
        made->x = PDNN_ONEDNN_DST;
        made->y = PDNN_ONEDNN_SRC;
    } else if (pass == PDNN_BACKWARD_WEIGHTS && format == PDNN_ONEDNN_WEIGHTS_ROW_MAJOR) {
        transposed = layouts->y;
        made->y = PDNN_ONEDNN_SRC;
        made->x = PDNN_ONEDNN_WEIGHTS;
        made->w = PDNN_ONEDNN_DST;
    } else if (pass == PDNN_BACKWARD_WEIGHTS) {
        made->y = PDNN_ONEDNN_WEIGHTS;
        made->w = PDNN_ONEDNN_DST;
        enum pdnn_status status = pdnn_onednn_layout_transpose(layouts->x, err);
        if (status != PDNN_OK)
            return status;
    }
    enum pdnn_status status = transposed ? pdnn_onednn_layout_transpose(transposed, err) : PDNN_OK;
    request->layout[made->x] = layouts->x;
    request->layout[made->w] = layouts->w;
    request->layout[made->y] = layouts->y;
    request->layout[PDNN_ONEDNN_BIAS] = layouts->b;
    return status;
}

/* Gets the primitive's layout of the weights, seen as (O, I). */
static enum pdnn_status weights_of(struct pdnn_onednn_dense_pass *made, enum pdnn_pass pass,
                                   struct pdnn_onednn_dense_variant variant, struct pdnn_err *err) {
    enum pdnn_status status = pdnn_onednn_primitive_layout(made->primitive, made->w, &made->weights, err);
    bool is_matmul = variant.way == PDNN_ONEDNN_DENSE_MATMUL;
    bool transposed =
        is_matmul && (pass == PDNN_FORWARD ||
                      (pass == PDNN_BACKWARD_WEIGHTS && variant.format == PDNN_ONEDNN_WEIGHTS_COLUMN_MAJOR));
    if (status == PDNN_OK && transposed)
        status = pdnn_onednn_layout_transpose(made->weights, err);
    return status;
}

enum pdnn_status pdnn_onednn_dense_pass_create(struct pdnn_onednn_library *library,
                                               const struct pdnn_onednn_dense_shape *shape,
                                               enum pdnn_pass pass, struct pdnn_onednn_dense_variant variant,
                                               struct pdnn_onednn_dense_pass *made, struct pdnn_err *err) {
    struct pdnn_onednn_dense_pass result = {0};
    struct layouts layouts = {0};
    struct pdnn_onednn_request request = {0};
    bool is_matmul = variant.way == PDNN_ONEDNN_DENSE_MATMUL;
    if (is_matmul && (variant.format == PDNN_ONEDNN_WEIGHTS_PACKED ||
                      (pass == PDNN_BACKWARD_WEIGHTS && shape->bias_gradient)))
        return pdnn_fail(err, PDNN_UNSUPPORTED, "matmul has no packed weights and no bias gradient here");
    if (variant.way == PDNN_ONEDNN_DENSE_INNER_PRODUCT && shape->is_shifted)
        return pdnn_fail(err, PDNN_UNSUPPORTED, "inner products have no zero point");
    enum pdnn_status status = make_layouts(shape, pass, variant, &layouts, err);
    if (status != PDNN_OK)
        goto out;
    if (pass == PDNN_FORWARD) {
        request.n_post_ops = shape->n_post_ops;
        memcpy(request.post_op, shape->post_op, sizeof request.post_op);
        request.layout[PDNN_ONEDNN_SCALE] = layouts.scale;
        request.zero_point = shape->is_shifted ? U8_OFFSET : 0;
    }
    if (variant.way == PDNN_ONEDNN_DENSE_SMALL_BATCH)
        status =
            pdnn_onednn_dense_small_batch_describe(shape, pass, variant.format, &result.small_batch, err);
    else if (is_matmul)
        status = request_matmul(&layouts, pass, variant.format, &request, &result, err);
    else
        request_inner_product(&layouts, pass, &request, &result);
    if (status == PDNN_OK && variant.way == PDNN_ONEDNN_DENSE_SMALL_BATCH)
        status = pdnn_onednn_layout_copy(layouts.w, &result.weights, err);
    else if (status == PDNN_OK)
        status = pdnn_onednn_primitive_create(library, &request, &result.primitive, err);
    if (status == PDNN_OK && result.primitive)
        status = weights_of(&result, pass, variant, err);
out:
    destroy_layouts(&layouts);
    if (status == PDNN_OK)
        *made = result;
    else
        pdnn_onednn_dense_pass_destroy(&result);
    return status;
}

void pdnn_onednn_dense_pass_destroy(struct pdnn_onednn_dense_pass *pass) {
    pdnn_onednn_primitive_destroy(pass->primitive);
    pdnn_onednn_layout_destroy(pass->weights);
    *pass = (struct pdnn_onednn_dense_pass){0};
}

enum pdnn_status pdnn_onednn_dense_pass_support(struct pdnn_onednn_library *library,
                                                const struct pdnn_onednn_dense_shape *shape,
                                                enum pdnn_pass pass, enum pdnn_onednn_dense_support *support,
                                                struct pdnn_err *err) {
    *support = PDNN_ONEDNN_DENSE_NONE;
    for (int i = 0; i < PDNN_ONEDNN_DENSE_VARIANTS && *support != PDNN_ONEDNN_DENSE_FAST; i++) {
        struct pdnn_onednn_dense_pass made = {0};
        struct pdnn_err refusal = {0};
        enum pdnn_status status = pdnn_onednn_dense_pass_create(
            library, shape, pass, pdnn_onednn_dense_variant_at(i), &made, &refusal);
        if (status == PDNN_UNSUPPORTED)
            continue;
        if (status != PDNN_OK)
            return pdnn_fail(err, status, "%s", refusal.text);
        bool is_reference = made.primitive && pdnn_onednn_primitive_is_reference(made.primitive);
        *support = is_reference ? PDNN_ONEDNN_DENSE_REFERENCE : PDNN_ONEDNN_DENSE_FAST;
        pdnn_onednn_dense_pass_destroy(&made);
    }
    return PDNN_OK;
}

enum pdnn_status pdnn_onednn_dense_weights_layout(struct pdnn_onednn_library *library,
                                                  const struct pdnn_onednn_dense_shape *shape,
                                                  enum pdnn_onednn_weights_format format,
                                                  struct pdnn_onednn_layout **layout, struct pdnn_err *err) {
    if (format != PDNN_ONEDNN_WEIGHTS_PACKED)
        return pdnn_onednn_layout_create(shape->weights_dtype, 2, (int64_t[]){shape->O, shape->I},
                                         orders[format], layout, err);
    struct pdnn_onednn_dense_pass pass = {0};
    enum pdnn_status status = pdnn_onednn_dense_pass_create(
        library, shape, PDNN_FORWARD,
        (struct pdnn_onednn_dense_variant){PDNN_ONEDNN_DENSE_INNER_PRODUCT, format}, &pass, err);
    if (status == PDNN_OK)
        status = pdnn_onednn_layout_copy(pass.weights, layout, err);
    pdnn_onednn_dense_pass_destroy(&pass);
    return status;
}
