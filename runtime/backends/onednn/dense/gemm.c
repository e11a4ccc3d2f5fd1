#include "runtime/backends/onednn/dense/gemm.h"

#include "runtime/backends/onednn/dense/small_batch.h"
#include "runtime/backends/onednn/library/library.h"
#include "runtime/backends/onednn/library/post_ops.h"
#include "runtime/kernels/rows/bias.h"
#include "runtime/lowering/call.h"

#include <stdio.h>

/* y (N, O) = x w^T; dx (N, I) = dy w; dw (O, I) = dy^T x, or dw^T (I, O) = x^T dy. */
static struct pdnn_sgemm product_of(const struct pdnn_onednn_dense_shape *shape, enum pdnn_pass pass,
                                    bool is_transposed) {
    const int64_t N = shape->N, I = shape->I, O = shape->O;
    struct pdnn_sgemm product = {.m = N, .b_transposed = is_transposed == (pass == PDNN_BACKWARD_DATA)};
    if (pass == PDNN_BACKWARD_WEIGHTS) {
        product = (struct pdnn_sgemm){.a_transposed = true, .k = N};
        product.m = product.a_stride = is_transposed ? I : O;
        product.n = product.b_stride = product.c_stride = is_transposed ? O : I;
        return product;
    }
    product.k = product.a_stride = pass == PDNN_FORWARD ? I : O;
    product.n = product.c_stride = pass == PDNN_FORWARD ? O : I;
    product.b_stride = is_transposed ? O : I;
    return product;
}

enum pdnn_status pdnn_onednn_dense_gemm_describe(const struct pdnn_onednn_dense_shape *shape,
                                                 enum pdnn_pass pass, enum pdnn_onednn_weights_format format,
                                                 struct pdnn_onednn_dense_gemm *gemm, struct pdnn_err *err) {
    const bool is_transposed = format == PDNN_ONEDNN_WEIGHTS_COLUMN_MAJOR;
    struct pdnn_onednn_dense_gemm made = {
        .product = product_of(shape, pass, is_transposed), .pass = pass, .is_transposed = is_transposed};
    bool fits = shape->dtype == PDNN_F32 && shape->weights_dtype == PDNN_F32 &&
                format != PDNN_ONEDNN_WEIGHTS_PACKED && shape->N > PDNN_DENSE_FEW_ROWS &&
                !(pass == PDNN_BACKWARD_WEIGHTS && shape->bias_gradient);
    for (int i = 0; fits && pass == PDNN_FORWARD && i < shape->n_post_ops; i++)
        fits = pdnn_onednn_dense_function_of(&shape->post_op[i], &made.function[made.n_functions++]);
    if (!fits)
        return pdnn_fail(err, PDNN_UNSUPPORTED,
                         "sgemm is for f32, plain weights and more than %d rows, without sums",
                         PDNN_DENSE_FEW_ROWS);
    *gemm = made;
    return PDNN_OK;
}

struct gemm_call {
    struct pdnn_onednn_dense_gemm gemm;
    struct pdnn_onednn_dense_slots slots;
    int64_t threads;
    const float *bias; /* or NULL */
    float *y;          /* of a forward pass */
};

static void bind(void *state, void *const *memory) {
    struct gemm_call *call = state;
    struct pdnn_onednn_dense_gemm *gemm = &call->gemm;
    float *x = memory[call->slots.x], *w = memory[call->slots.w], *y = memory[call->slots.y];
    float *const operands[][3] = {
        [PDNN_FORWARD] = {x, w, y}, [PDNN_BACKWARD_DATA] = {y, w, x}, [PDNN_BACKWARD_WEIGHTS] = {y, x, w}};
    const bool swaps = gemm->pass == PDNN_BACKWARD_WEIGHTS && gemm->is_transposed;
    gemm->product.a = operands[gemm->pass][swaps ? 1 : 0];
    gemm->product.b = operands[gemm->pass][swaps ? 0 : 1];
    gemm->product.c = operands[gemm->pass][2];
    call->bias = call->slots.b == PDNN_NONE ? NULL : memory[call->slots.b];
    call->y = y;
}

static int run(void *state) {
    const struct gemm_call *call = state;
    const struct pdnn_sgemm *product = &call->gemm.product;
    const int error = pdnn_onednn_sgemm(product);
    if (error)
        return error;
    const struct pdnn_bias bias = {
        .N = product->m, .C = product->n, .x = call->y, .b = call->bias, .y = call->y};
    if (call->bias)
        pdnn_bias_forward(&bias, call->threads);
    for (int i = 0; i < call->gemm.n_functions; i++) {
        const struct pdnn_dense_few_function *function = &call->gemm.function[i];
        const struct pdnn_elementwise_job job = {.function = function->function,
                                                 .a = call->y,
                                                 .y = call->y,
                                                 .elements = product->m * product->n,
                                                 .coef = {function->coef[0], function->coef[1]}};
        pdnn_elementwise_run(&job, call->threads);
    }
    return 0;
}

void pdnn_onednn_dense_gemm_append(struct pdnn_program *program, struct pdnn_call *call,
                                   const struct pdnn_onednn_dense_gemm *gemm,
                                   const struct pdnn_onednn_dense_slots *slots, int64_t threads) {
    struct gemm_call *made = pdnn_arena_alloc(&program->arena, 1, sizeof *made);
    *made = (struct gemm_call){.gemm = *gemm, .slots = *slots, .threads = threads};
    pdnn_call_use(call, slots->x);
    pdnn_call_use(call, slots->w);
    pdnn_call_use(call, slots->y);
    if (slots->b != PDNN_NONE)
        pdnn_call_use(call, slots->b);
    snprintf(call->implementation, sizeof call->implementation, "onednn:sgemm %s",
             gemm->is_transposed ? "ba" : "ab");
    call->work = (struct pdnn_work){made, bind, run, NULL};
    pdnn_program_call(program, call);
}
