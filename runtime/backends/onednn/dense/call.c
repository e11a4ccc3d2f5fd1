#include "runtime/backends/onednn/rows.h"

#include "models/attributes.h"
#include "models/op.h"
#include "runtime/backends/onednn/dense/costs.h"
#include "runtime/backends/onednn/dense/small_batch.h"
#include "runtime/backends/onednn/call.h"
#include "runtime/backends/onednn/tensor_layout.h"
#include "runtime/lowering/call.h"

#include <stdio.h>

/* The call of one pass, with a reorder before it if it reads weights or images in another layout, and one
 * after it if it writes them in another layout. */
struct dense_call {
    struct pdnn_onednn_compile *compile;
    uint32_t index;
    const struct pdnn_node *node;
    struct pdnn_onednn_dense_shape shape;
    struct pdnn_onednn_dense_pass pass;
    struct pdnn_onednn_operand w, x; /* or their gradients */
};

static void append_own(struct dense_call *d, struct pdnn_call *call) {
    const struct pdnn_node *node = d->node;
    const int64_t threads = d->compile->onednn->options.threads;
    struct pdnn_onednn_dense_slots slots = {d->x.slot, d->w.slot, PDNN_NONE,
                                            pdnn_onednn_dense_tensors_of(node).y};
    if (d->shape.bias)
        slots.b = node->posts[0].input;
    if (d->pass.way == PDNN_ONEDNN_DENSE_GEMM)
        pdnn_onednn_dense_gemm_append(d->compile->program, call, &d->pass.gemm, &slots, threads);
    else
        pdnn_onednn_dense_small_batch_append(d->compile->program, call, &d->pass.small_batch, &slots,
                                             threads);
}

static void append_pass(struct dense_call *d) {
    const struct pdnn_graph *graph = d->compile->program->graph;
    const struct pdnn_node *node = d->node;
    struct pdnn_call call = pdnn_call_of_node(graph, d->index);
    struct pdnn_onednn_exec exec = pdnn_onednn_exec_of(d->pass.primitive);
    char format[PDNN_ONEDNN_LAYOUT_TEXT];
    call.n_slots = 0; /* append adds the slots in use, which may be copies */
    if (!d->pass.primitive) {
        append_own(d, &call);
        return;
    }
    exec.slot[d->pass.w] = d->w.slot;
    exec.slot[d->pass.x] = d->x.slot;
    exec.slot[d->pass.y] = pdnn_onednn_dense_tensors_of(node).y;
    for (int i = 0; i < node->n_posts; i++) {
        if (node->posts[i].op == &pdnn_op_bias)
            exec.slot[d->pass.b] = node->pass == PDNN_FORWARD ? node->posts[i].input : node->posts[i].output;
    }
    pdnn_onednn_exec_scale(&exec, node);
    call.is_slow =
        pdnn_dtype_is_half(d->shape.dtype) && pdnn_onednn_primitive_is_reference(d->pass.primitive);
    bool matmul = d->compile->choice[pdnn_onednn_dense_weights_of(graph, node)]->variant[node->pass].way ==
                  PDNN_ONEDNN_DENSE_MATMUL;
    snprintf(call.implementation, sizeof call.implementation, "%.31s %s %.16s",
             pdnn_onednn_primitive_name(d->pass.primitive), matmul ? "matmul" : "inner_product",
             pdnn_onednn_layout_format(d->pass.weights, format));
    d->pass.primitive = NULL;
    pdnn_onednn_append(d->compile->program, &call, &exec);
}

static enum pdnn_status append_calls(struct dense_call *d, struct pdnn_err *err) {
    enum pdnn_pass pass = d->node->pass;
    enum pdnn_status status = PDNN_OK;
    if (pass != PDNN_BACKWARD_WEIGHTS)
        status = pdnn_onednn_operand_move(&d->w, d->compile, pass, PDNN_ONEDNN_FETCH, err);
    if (status == PDNN_OK && pass != PDNN_BACKWARD_DATA)
        status = pdnn_onednn_operand_move(&d->x, d->compile, pass, PDNN_ONEDNN_FETCH, err);
    if (status == PDNN_OK)
        append_pass(d);
    if (status == PDNN_OK && pass == PDNN_BACKWARD_WEIGHTS)
        status = pdnn_onednn_operand_move(&d->w, d->compile, pass, PDNN_ONEDNN_STORE, err);
    if (status == PDNN_OK && pass == PDNN_BACKWARD_DATA)
        status = pdnn_onednn_operand_move(&d->x, d->compile, pass, PDNN_ONEDNN_STORE, err);
    return status;
}

/* Weights in the pass's format; x row-major, whatever its rank. */
static void find_operands(struct dense_call *d) {
    struct pdnn_onednn_compile *compile = d->compile;
    const struct pdnn_tensor *x = &compile->program->graph->tensors[d->x.tensor];
    d->w.stored = pdnn_onednn_tensor_layout(compile, d->w.tensor);
    d->w.used = d->pass.weights;
    pdnn_onednn_operand_place(&d->w, compile->program);
    if (!pdnn_onednn_tensor_layout_is_plain(compile->program, d->x.tensor)) {
        d->x.stored = pdnn_onednn_tensor_layout(compile, d->x.tensor);
        d->x.used = pdnn_onednn_layout_create(compile->pool, pdnn_onednn_tensor_dtype(x), x->rank, x->dim,
                                              PDNN_ONEDNN_ROW_MAJOR);
    }
    pdnn_onednn_operand_place(&d->x, compile->program);
}

static enum pdnn_status compile_node(const struct pdnn_calls *calls, uint32_t node, struct pdnn_err *err) {
    struct pdnn_onednn_compile *compile = calls->compilation;
    const struct pdnn_graph *graph = compile->program->graph;
    struct dense_call d = {.compile = compile, .index = node, .node = &graph->nodes[node]};
    const struct pdnn_onednn_dense_choice *choice =
        compile->choice[pdnn_onednn_dense_weights_of(graph, d.node)];
    if (!choice)
        return pdnn_onednn_upcast_compile(compile, node, err);
    d.w.tensor = pdnn_onednn_dense_tensors_of(d.node).w;
    d.x.tensor = pdnn_onednn_dense_tensors_of(d.node).x;
    enum pdnn_status status = pdnn_onednn_dense_shape_of(compile->program, d.node, &d.shape, err);
    if (status == PDNN_OK)
        status = pdnn_onednn_dense_pass_create(compile->pool, &d.shape, d.node->pass,
                                               choice->variant[d.node->pass], &d.pass, err);
    if (status == PDNN_OK) {
        find_operands(&d);
        status = append_calls(&d, err);
    }
    pdnn_onednn_primitive_destroy(d.pass.primitive);
    return status;
}

const struct pdnn_lowering pdnn_onednn_dense_row = {
    .op = &pdnn_op_dense,
    .pass = {[PDNN_FORWARD] = {.compile = compile_node},
             [PDNN_BACKWARD_DATA] = {.compile = compile_node},
             [PDNN_BACKWARD_WEIGHTS] = {.compile = compile_node}},
};
