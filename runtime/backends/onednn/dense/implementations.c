#include "runtime/backends/onednn/dense/implementations.h"

#include "runtime/backends/onednn/dense/small_batch.h"

#include <string.h>

struct layouts {
    const struct pdnn_onednn_layout *x, *w, *b, *y, *scale;
};

static const enum pdnn_onednn_order orders[PDNN_ONEDNN_WEIGHTS_FORMAT_COUNT] = {
    [PDNN_ONEDNN_WEIGHTS_ROW_MAJOR] = PDNN_ONEDNN_ROW_MAJOR,
    [PDNN_ONEDNN_WEIGHTS_COLUMN_MAJOR] = PDNN_ONEDNN_COLUMN_MAJOR,
    [PDNN_ONEDNN_WEIGHTS_PACKED] = PDNN_ONEDNN_ANY,
};

enum { U8_OFFSET = 128 };

/* Row-major x (N, I) and y (N, O), w (O, I) in the format, and b if the pass has a fused bias: (O), or (1, O)
 * for matmul; scales (1, O). */
static struct layouts make_layouts(struct pdnn_onednn_pool *pool, const struct pdnn_onednn_dense_shape *shape,
                                   enum pdnn_pass pass, struct pdnn_onednn_dense_variant variant) {
    const int64_t x[] = {shape->N, shape->I}, w[] = {shape->O, shape->I}, y[] = {shape->N, shape->O};
    const int64_t b[] = {1, shape->O};
    bool is_matmul = variant.way == PDNN_ONEDNN_DENSE_MATMUL;
    bool has_bias =
        (pass == PDNN_FORWARD && shape->bias) || (pass == PDNN_BACKWARD_WEIGHTS && shape->bias_gradient);
    const struct pdnn_onednn_dense_dtypes dtype = pdnn_onednn_dense_dtypes_of(shape);
    struct layouts made = {
        .x = pdnn_onednn_layout_create(pool, dtype.x, 2, x, PDNN_ONEDNN_ROW_MAJOR),
        .w = pdnn_onednn_layout_create(pool, dtype.w, 2, w, orders[variant.format]),
        .y = pdnn_onednn_layout_create(pool, dtype.y, 2, y, PDNN_ONEDNN_ROW_MAJOR),
    };
    if (has_bias)
        made.b = pdnn_onednn_layout_create(pool, dtype.b, is_matmul ? 2 : 1, is_matmul ? b : b + 1,
                                           PDNN_ONEDNN_ROW_MAJOR);
    if (shape->is_scaled)
        made.scale = pdnn_onednn_layout_create(pool, PDNN_F32, 2, b, PDNN_ONEDNN_ROW_MAJOR);
    return made;
}

/* y = x w^T; dx = dy w; dw = dy^T x, or dw^T = x^T dy if dw is stored transposed, since matmul writes
 * only row-major results. */
static void assign_matmul(struct pdnn_onednn_pool *pool, enum pdnn_pass pass,
                          enum pdnn_onednn_weights_format format, struct layouts *layouts,
                          struct pdnn_onednn_dense_pass *made) {
    if (pass == PDNN_BACKWARD_DATA) {
        made->x = PDNN_ONEDNN_DST;
        made->y = PDNN_ONEDNN_SRC;
        return;
    }
    if (pass == PDNN_BACKWARD_WEIGHTS && format == PDNN_ONEDNN_WEIGHTS_ROW_MAJOR) {
        made->y = PDNN_ONEDNN_SRC;
        made->x = PDNN_ONEDNN_WEIGHTS;
        made->w = PDNN_ONEDNN_DST;
        layouts->y = pdnn_onednn_layout_transpose(pool, layouts->y);
        return;
    }
    if (pass == PDNN_BACKWARD_WEIGHTS) {
        made->y = PDNN_ONEDNN_WEIGHTS;
        made->w = PDNN_ONEDNN_DST;
        layouts->x = pdnn_onednn_layout_transpose(pool, layouts->x);
    }
    layouts->w = pdnn_onednn_layout_transpose(pool, layouts->w);
}

enum pdnn_status pdnn_onednn_dense_pass_create(struct pdnn_onednn_pool *pool,
                                               const struct pdnn_onednn_dense_shape *shape,
                                               enum pdnn_pass pass, struct pdnn_onednn_dense_variant variant,
                                               struct pdnn_onednn_dense_pass *made, struct pdnn_err *err) {
    struct pdnn_onednn_request request = {.kind = PDNN_ONEDNN_INNER_PRODUCT, .pass = pass};
    bool is_matmul = variant.way == PDNN_ONEDNN_DENSE_MATMUL;
    *made = (struct pdnn_onednn_dense_pass){.way = variant.way,
                                            .x = PDNN_ONEDNN_SRC,
                                            .w = PDNN_ONEDNN_WEIGHTS,
                                            .b = PDNN_ONEDNN_BIAS,
                                            .y = PDNN_ONEDNN_DST};
    if (is_matmul && (variant.format == PDNN_ONEDNN_WEIGHTS_PACKED ||
                      (pass == PDNN_BACKWARD_WEIGHTS && shape->bias_gradient)))
        return pdnn_fail(err, PDNN_UNSUPPORTED, "matmul has no packed weights and no bias gradient here");
    if (variant.way == PDNN_ONEDNN_DENSE_INNER_PRODUCT && shape->is_shifted)
        return pdnn_fail(err, PDNN_UNSUPPORTED, "inner products have no zero point");
    struct layouts layouts = make_layouts(pool, shape, pass, variant);
    const struct pdnn_onednn_layout *w = layouts.w;
    if (variant.way == PDNN_ONEDNN_DENSE_SMALL_BATCH) {
        made->weights = w;
        return pdnn_onednn_dense_small_batch_describe(shape, pass, variant.format, &made->small_batch, err);
    }
    if (variant.way == PDNN_ONEDNN_DENSE_GEMM) {
        made->weights = w;
        return pdnn_onednn_dense_gemm_describe(shape, pass, variant.format, &made->gemm, err);
    }
    if (pass == PDNN_FORWARD) {
        request.n_post_ops = shape->n_post_ops;
        memcpy(request.post_op, shape->post_op, sizeof request.post_op);
        request.layout[PDNN_ONEDNN_SCALE] = layouts.scale;
        request.zero_point = shape->is_shifted ? U8_OFFSET : 0;
    }
    if (is_matmul) {
        request.kind = PDNN_ONEDNN_MATMUL;
        request.pass = PDNN_FORWARD;
        assign_matmul(pool, pass, variant.format, &layouts, made);
    }
    request.layout[made->x] = layouts.x;
    request.layout[made->w] = layouts.w;
    request.layout[made->b] = layouts.b;
    request.layout[made->y] = layouts.y;
    enum pdnn_status status = pdnn_onednn_primitive_create(pool, &request, &made->primitive, err);
    if (status != PDNN_OK)
        return status;
    made->weights = pdnn_onednn_primitive_layout(made->primitive, made->w);
    if (layouts.w != w)
        made->weights = pdnn_onednn_layout_transpose(pool, made->weights);
    return PDNN_OK;
}

enum pdnn_status pdnn_onednn_dense_pass_support(struct pdnn_onednn_pool *pool,
                                                const struct pdnn_onednn_dense_shape *shape,
                                                enum pdnn_pass pass, enum pdnn_onednn_dense_support *support,
                                                struct pdnn_err *err) {
    *support = PDNN_ONEDNN_DENSE_NONE;
    for (int i = 0; i < PDNN_ONEDNN_DENSE_VARIANTS && *support != PDNN_ONEDNN_DENSE_FAST; i++) {
        struct pdnn_onednn_dense_pass made;
        struct pdnn_err refusal = {0};
        enum pdnn_status status = pdnn_onednn_dense_pass_create(
            pool, shape, pass, pdnn_onednn_dense_variant_at(i), &made, &refusal);
        if (status == PDNN_UNSUPPORTED)
            continue;
        if (status != PDNN_OK)
            return pdnn_fail(err, status, "%s", refusal.text);
        bool is_reference = made.primitive && pdnn_onednn_primitive_is_reference(made.primitive);
        *support = is_reference ? PDNN_ONEDNN_DENSE_REFERENCE : PDNN_ONEDNN_DENSE_FAST;
        pdnn_onednn_primitive_destroy(made.primitive);
    }
    return PDNN_OK;
}

enum pdnn_status pdnn_onednn_dense_weights_layout(struct pdnn_onednn_pool *pool,
                                                  const struct pdnn_onednn_dense_shape *shape,
                                                  enum pdnn_onednn_weights_format format,
                                                  const struct pdnn_onednn_layout **layout,
                                                  struct pdnn_err *err) {
    struct pdnn_onednn_dense_pass pass = {0};
    enum pdnn_status status = PDNN_OK;
    if (format == PDNN_ONEDNN_WEIGHTS_PACKED)
        status = pdnn_onednn_dense_pass_create(
            pool, shape, PDNN_FORWARD,
            (struct pdnn_onednn_dense_variant){PDNN_ONEDNN_DENSE_INNER_PRODUCT, format}, &pass, err);
    else
        pass.weights = pdnn_onednn_layout_create(pool, shape->weights_dtype, 2,
                                                 (int64_t[]){shape->O, shape->I}, orders[format]);
    *layout = pass.weights;
    pdnn_onednn_primitive_destroy(pass.primitive);
    return status;
}
