#include "runtime/backends/onednn/rows.h"

#include "models/op.h"
#include "runtime/lowering/f32_copies.h"
#include "runtime/lowering/call.h"
#include "runtime/backends/onednn/conv2d/own.h"
#include "runtime/backends/onednn/conv2d/implementations.h"
#include "runtime/backends/onednn/conv2d/winograd.h"
#include "runtime/backends/onednn/call.h"
#include "runtime/backends/onednn/tensor_layout.h"

#include <stdio.h>
#include <string.h>

struct conv2d_call {
    struct pdnn_onednn_compile *compile;
    uint32_t node;
    struct pdnn_onednn_conv2d *convolution;
    struct pdnn_onednn_operand operand[PDNN_ONEDNN_SCRATCHPAD]; /* by argument */
    struct pdnn_onednn_exec exec;
};

/* The images stay in their layouts if the library has fast code for those; it chooses the
 * layout of the weights. */
static enum pdnn_status find_primitive(struct conv2d_call *c, struct pdnn_err *err) {
    enum pdnn_status status = pdnn_onednn_conv2d_describe_stored(c->compile, c->convolution, err);
    c->exec.primitive = c->convolution->stored;
    c->convolution->stored = NULL;
    return status == PDNN_OK ? pdnn_onednn_primitive_build(c->exec.primitive, err) : status;
}

static void find_operands(struct conv2d_call *c) {
    for (int i = 0; i < PDNN_ONEDNN_SCRATCHPAD; i++) {
        struct pdnn_onednn_operand *operand = &c->operand[i];
        *operand = (struct pdnn_onednn_operand){.tensor = c->convolution->tensor[i], .slot = PDNN_NONE};
        if (operand->tensor == PDNN_NONE)
            continue;
        operand->used = pdnn_onednn_conv2d_layout(c->compile->pool, c->convolution, c->exec.primitive,
                                                  (enum pdnn_onednn_arg)i);
        operand->stored = c->compile->layout[operand->tensor]; /* else plain: weights may have five dims */
        if (!operand->stored)
            operand->stored = pdnn_onednn_layout_plain(c->compile->pool, operand->used);
        pdnn_onednn_operand_place(operand, c->compile->program);
        c->exec.slot[i] = operand->slot;
    }
}

/* The output starts as the summand: in the summand's memory if possible, else as a copy. */
static enum pdnn_status provide_summand(struct conv2d_call *c, struct pdnn_err *err) {
    const struct pdnn_onednn_operand *output = &c->operand[PDNN_ONEDNN_DST];
    uint32_t summand = c->convolution->summand;
    if (summand == PDNN_NONE)
        return PDNN_OK;
    if (!pdnn_onednn_operand_is_copy(output) &&
        pdnn_program_takes_over(c->compile->program, c->node, summand)) {
        c->exec.summand = summand;
        return PDNN_OK;
    }
    const struct pdnn_onednn_place from = {pdnn_onednn_tensor_layout(c->compile, summand), summand},
                                   to = {output->used, output->slot};
    return pdnn_onednn_append_reorder(c->compile, summand, PDNN_FORWARD, from, to, err);
}

/* A product over unrolled patches writes the patches, an image and a group a thread at a time, and reads
 * them. Where each pixel is a patch there are none. */
static struct pdnn_extra_traffic extra_of(const struct conv2d_call *c) {
    const struct pdnn_tensor *tensors = c->compile->program->graph->tensors,
                             *w = &tensors[c->convolution->tensor[PDNN_ONEDNN_WEIGHTS]],
                             *x = &tensors[c->convolution->tensor[PDNN_ONEDNN_SRC]],
                             *y = &tensors[c->convolution->tensor[PDNN_ONEDNN_DST]];
    const struct pdnn_onednn_request *request = &c->convolution->request;
    const uint64_t room = pdnn_onednn_primitive_bytes(c->exec.primitive, PDNN_ONEDNN_SCRATCHPAD);
    const bool is_product = strstr(pdnn_onednn_primitive_name(c->exec.primitive), ":gemm") != NULL,
               is_pixel = w->dim[2] * w->dim[3] == 1 && request->stride[0] * request->stride[1] == 1 &&
                          request->padding[0] + request->padding[1] == 0;
    if (!is_product || is_pixel || !room)
        return (struct pdnn_extra_traffic){0};
    const uint64_t image = (uint64_t)(w->dim[1] * w->dim[2] * w->dim[3] * y->dim[2] * y->dim[3]) *
                           pdnn_dtype_bytes(x->dtype),
                   images = (uint64_t)(x->dim[0] * c->convolution->groups),
                   threads = (uint64_t)c->compile->onednn->options.threads,
                   at_once = image * (images < threads ? images : threads);
    return (struct pdnn_extra_traffic){images * image, images * image, at_once < room ? at_once : room};
}

static enum pdnn_status append_primitive(struct conv2d_call *c, struct pdnn_err *err) {
    struct pdnn_call call = pdnn_call_of_node(c->compile->program->graph, c->node);
    char format[PDNN_ONEDNN_LAYOUT_TEXT];
    call.n_slots = 0; /* append adds the slots in use, which may be copies */
    call.is_slow = pdnn_onednn_primitive_is_reference(c->exec.primitive) &&
                   pdnn_node_in(c->compile->program->graph, c->convolution->node, 0)->dtype != PDNN_F32;
    snprintf(call.implementation, sizeof call.implementation, "%.31s convolution %.16s",
             pdnn_onednn_primitive_name(c->exec.primitive),
             pdnn_onednn_layout_format(c->operand[PDNN_ONEDNN_WEIGHTS].used, format));
    call.extra = extra_of(c);
    pdnn_onednn_exec_scale(&c->exec, c->convolution->node);
    enum pdnn_status status =
        call.is_slow ? pdnn_onednn_upcast_check(c->compile, c->convolution->node, err) : PDNN_OK;
    if (status != PDNN_OK)
        return status;
    pdnn_onednn_append(c->compile->program, &call, &c->exec);
    c->exec.primitive = NULL;
    return PDNN_OK;
}

static enum pdnn_status append_calls(struct conv2d_call *c, struct pdnn_err *err) {
    enum pdnn_onednn_arg output = c->convolution->output;
    enum pdnn_pass pass = c->convolution->node->pass;
    enum pdnn_status status = PDNN_OK;
    for (int i = 0; status == PDNN_OK && i < PDNN_ONEDNN_SCRATCHPAD; i++) {
        if (i != (int)output)
            status = pdnn_onednn_operand_move(&c->operand[i], c->compile, pass, PDNN_ONEDNN_FETCH, err);
    }
    if (status == PDNN_OK)
        status = provide_summand(c, err);
    if (status == PDNN_OK)
        status = append_primitive(c, err);
    if (status == PDNN_OK)
        status = pdnn_onednn_operand_move(&c->operand[output], c->compile, pass, PDNN_ONEDNN_STORE, err);
    return status;
}

/* Appends the call of a kernel of ours where that is faster. */
static enum pdnn_status compile_own(struct pdnn_onednn_compile *compile, uint32_t index, bool *is_own,
                                    struct pdnn_err *err) {
    const struct pdnn_node *node = &compile->program->graph->nodes[index];
    struct pdnn_onednn_conv2d *convolution;
    struct pdnn_grouped grouped;
    struct pdnn_winograd winograd;
    struct pdnn_onednn_conv2d_question question;
    if (pdnn_onednn_own_describe(compile, node, &grouped)) {
        question = pdnn_onednn_own_question(node, &grouped);
        enum pdnn_status status = pdnn_onednn_conv2d_choose(compile, node, &question, is_own, err);
        if (status == PDNN_OK && *is_own)
            pdnn_onednn_own_append(compile, index, &grouped);
        return status;
    }
    enum pdnn_status status = pdnn_onednn_conv2d_get(compile, index, &convolution, err);
    if (status != PDNN_OK || !pdnn_onednn_winograd_describe(compile, convolution, &winograd))
        return status;
    if (convolution->request.algorithm == PDNN_ALGORITHM_WINOGRAD) /* tells whether the library lacks it */
        status = pdnn_onednn_conv2d_describe_wanted(compile->pool, convolution, err);
    if (status != PDNN_OK || (compile->program->spares_memory && !convolution->lacks_winograd))
        return status;
    question = pdnn_onednn_winograd_question(compile, convolution, &winograd);
    *is_own = convolution->lacks_winograd;
    if (!*is_own)
        status = pdnn_onednn_conv2d_choose(compile, node, &question, is_own, err);
    if (status == PDNN_OK && *is_own) {
        pdnn_onednn_winograd_append(compile, index, convolution, &winograd);
        compile->program->could_spare = compile->program->could_spare || !convolution->lacks_winograd;
    }
    return status;
}

static enum pdnn_status compile_node(const struct pdnn_calls *calls, uint32_t node, struct pdnn_err *err) {
    struct pdnn_onednn_compile *compile = calls->compilation;
    const struct pdnn_graph *graph = compile->program->graph;
    struct conv2d_call c = {.compile = compile, .node = node, .exec = pdnn_onednn_exec_of(NULL)};
    bool is_own = false;
    enum pdnn_status status = compile_own(compile, node, &is_own, err);
    if (status != PDNN_OK || is_own)
        return status;
    status = pdnn_onednn_conv2d_get(compile, node, &c.convolution, err);
    if (status != PDNN_OK)
        return status;
    status = find_primitive(&c, err);
    bool is_slow = status == PDNN_UNSUPPORTED && pdnn_half_is_used(graph, &graph->nodes[node]);
    if (status == PDNN_OK) {
        find_operands(&c);
        status = append_calls(&c, err);
    }
    pdnn_onednn_primitive_destroy(c.exec.primitive);
    return is_slow ? pdnn_onednn_upcast_compile(compile, node, err) : status;
}

#define ALL_PASSES                                                                                           \
    {                                                                                                        \
        [PDNN_FORWARD] = {.compile = compile_node}, [PDNN_BACKWARD_DATA] = {.compile = compile_node},        \
        [PDNN_BACKWARD_WEIGHTS] = {.compile = compile_node},                                                 \
    }

const struct pdnn_lowering pdnn_onednn_conv2d_row = {.op = &pdnn_op_conv2d, .pass = ALL_PASSES};
const struct pdnn_lowering pdnn_onednn_conv_transpose2d_row = {.op = &pdnn_op_conv_transpose2d,
                                                               .pass = ALL_PASSES};
