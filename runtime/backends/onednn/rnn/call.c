#include "runtime/backends/onednn/rows.h"

#include "models/op.h"
#include "runtime/lowering/rnn_unrolled.h"
#include "runtime/lowering/call.h"
#include "runtime/backends/onednn/call.h"
#include "runtime/backends/onednn/rnn/bias.h"
#include "runtime/backends/onednn/rnn/layouts.h"
#include "runtime/backends/onednn/rnn/implementations.h"

#include <stdio.h>
#include <string.h>

static const struct pdnn_sgemm_library unrolled = {.name = "onednn", .sgemm = pdnn_onednn_sgemm};

struct rnn_call {
    struct pdnn_onednn_compile *compile;
    uint32_t index;
    const struct pdnn_node *node;
    struct pdnn_onednn_rnn_shape shape;
    struct pdnn_onednn_rnn_layer *layer;
    struct pdnn_onednn_exec exec;
    /* Weights, and in backward their gradients. */
    struct pdnn_onednn_operand w, u, dw, du;
};

/* Finds the layout in which weights are stored and the one that the primitive uses. */
static void find_operand(struct rnn_call *r, uint32_t tensor, enum pdnn_onednn_arg arg,
                         struct pdnn_onednn_operand *operand) {
    const struct pdnn_onednn_layout *stored = r->compile->layout[tensor],
                                    *used = pdnn_onednn_primitive_layout(r->exec.primitive, arg);
    *operand = (struct pdnn_onednn_operand){
        .tensor = tensor,
        .stored = stored ? stored : pdnn_onednn_layout_plain(r->compile->pool, used),
        .used = used,
    };
    pdnn_onednn_operand_place(operand, r->compile->program);
    r->exec.slot[arg] = operand->slot;
}

static void append_primitive(struct rnn_call *r) {
    struct pdnn_call call = pdnn_call_of_node(r->compile->program->graph, r->index);
    char format[PDNN_ONEDNN_LAYOUT_TEXT];
    call.n_slots = 0; /* append adds the slots in use, which may be copies */
    call.extra = pdnn_rnn_extra(r->compile->program->graph, r->node);
    snprintf(call.implementation, sizeof call.implementation, "%.31s rnn %.16s%s",
             pdnn_onednn_primitive_name(r->exec.primitive), pdnn_onednn_layout_format(r->u.used, format),
             r->layer->is_measured ? ", auto" : "");
    pdnn_onednn_append(r->compile->program, &call, &r->exec);
    r->exec.primitive = NULL;
}

/* In training, provides the state before the first step: zeros that nothing writes, so they stay as the plan
 * initialises its memory. */
static void provide_state(struct rnn_call *r) {
    uint64_t bytes = pdnn_onednn_primitive_bytes(r->exec.primitive, PDNN_ONEDNN_STATE);
    r->layer->state = bytes ? pdnn_program_slot(r->compile->program, bytes, true) : PDNN_NONE;
}

static void use_state(struct rnn_call *r) {
    r->exec.slot[PDNN_ONEDNN_STATE] = r->layer->state;
    if (r->shape.cell == PDNN_CELL_LSTM)
        r->exec.slot[PDNN_ONEDNN_STATE_C] = r->layer->state;
}

static enum pdnn_status compile_forward(struct rnn_call *r, struct pdnn_err *err) {
    struct pdnn_program *program = r->compile->program;
    const struct pdnn_node *node = r->node;
    struct pdnn_onednn_rnn_layer *shared = r->layer;
    uint64_t workspace_bytes = pdnn_onednn_primitive_bytes(r->exec.primitive, PDNN_ONEDNN_WORKSPACE);
    find_operand(r, node->input[PDNN_RNN_W], PDNN_ONEDNN_WEIGHTS, &r->w);
    find_operand(r, node->input[PDNN_RNN_U], PDNN_ONEDNN_RECURRENT, &r->u);
    shared->bias = r->shape.has_two_biases
                       ? pdnn_program_slot(program, pdnn_onednn_rnn_bias_bytes(&r->shape), false)
                       : node->input[PDNN_RNN_B];
    shared->workspace = workspace_bytes ? pdnn_program_slot(program, workspace_bytes, false) : PDNN_NONE;
    provide_state(r);
    use_state(r);
    r->exec.slot[PDNN_ONEDNN_SRC] = node->input[PDNN_RNN_X];
    r->exec.slot[PDNN_ONEDNN_BIAS] = shared->bias;
    r->exec.slot[PDNN_ONEDNN_DST] = node->output[PDNN_RNN_Y];
    r->exec.slot[PDNN_ONEDNN_WORKSPACE] = shared->workspace;
    enum pdnn_status status = pdnn_onednn_operand_move(&r->w, r->compile, node->pass, PDNN_ONEDNN_FETCH, err);
    if (status == PDNN_OK)
        status = pdnn_onednn_operand_move(&r->u, r->compile, node->pass, PDNN_ONEDNN_FETCH, err);
    if (status != PDNN_OK)
        return status;
    if (r->shape.has_two_biases)
        pdnn_onednn_rnn_append_biases(r->compile->program, &r->shape, node->pass, node->input[PDNN_RNN_B],
                                      shared->bias, false);
    append_primitive(r);
    return PDNN_OK;
}

/* Gradients that no node reads still need memory. */
static void provide_scratch(struct rnn_call *r, enum pdnn_onednn_arg arg) {
    uint64_t bytes = pdnn_onednn_primitive_bytes(r->exec.primitive, arg);
    if (bytes)
        r->exec.slot[arg] = pdnn_program_slot(r->compile->program, bytes, false);
}

/* Finds the slots of the library's results. */
static void find_results(struct rnn_call *r) {
    struct pdnn_program *program = r->compile->program;
    const struct pdnn_node *node = r->node;
    uint32_t *db = &r->exec.slot[PDNN_ONEDNN_DIFF_BIAS];
    find_operand(r, node->output[PDNN_RNN_BACK_DW], PDNN_ONEDNN_DIFF_WEIGHTS, &r->dw);
    find_operand(r, node->output[PDNN_RNN_BACK_DU], PDNN_ONEDNN_DIFF_RECURRENT, &r->du);
    *db = r->shape.has_two_biases ? pdnn_program_slot(program, pdnn_onednn_rnn_bias_bytes(&r->shape), false)
                                  : node->output[PDNN_RNN_BACK_DB];
    if (node->n_outputs > PDNN_RNN_BACK_DX)
        r->exec.slot[PDNN_ONEDNN_DIFF_SRC] = node->output[PDNN_RNN_BACK_DX];
    else
        provide_scratch(r, PDNN_ONEDNN_DIFF_SRC);
    provide_scratch(r, PDNN_ONEDNN_DIFF_STATE);
    provide_scratch(r, PDNN_ONEDNN_DIFF_STATE_C);
}

static enum pdnn_status compile_backward(struct rnn_call *r, struct pdnn_err *err) {
    const struct pdnn_node *node = r->node;
    find_operand(r, node->input[PDNN_RNN_BACK_W], PDNN_ONEDNN_WEIGHTS, &r->w);
    find_operand(r, node->input[PDNN_RNN_BACK_U], PDNN_ONEDNN_RECURRENT, &r->u);
    find_results(r);
    r->exec.slot[PDNN_ONEDNN_SRC] = node->input[PDNN_RNN_BACK_X];
    r->exec.slot[PDNN_ONEDNN_BIAS] = r->layer->bias;
    r->exec.slot[PDNN_ONEDNN_DST] = node->input[PDNN_RNN_BACK_Y];
    r->exec.slot[PDNN_ONEDNN_WORKSPACE] = r->layer->workspace;
    r->exec.slot[PDNN_ONEDNN_DIFF_DST] = node->input[PDNN_RNN_BACK_DY];
    use_state(r);
    enum pdnn_status status = pdnn_onednn_operand_move(&r->w, r->compile, node->pass, PDNN_ONEDNN_FETCH, err);
    if (status == PDNN_OK)
        status = pdnn_onednn_operand_move(&r->u, r->compile, node->pass, PDNN_ONEDNN_FETCH, err);
    uint32_t db = r->exec.slot[PDNN_ONEDNN_DIFF_BIAS];
    if (status == PDNN_OK)
        append_primitive(r);
    if (status == PDNN_OK)
        status = pdnn_onednn_operand_move(&r->dw, r->compile, node->pass, PDNN_ONEDNN_STORE, err);
    if (status == PDNN_OK)
        status = pdnn_onednn_operand_move(&r->du, r->compile, node->pass, PDNN_ONEDNN_STORE, err);
    if (status == PDNN_OK && r->shape.has_two_biases)
        pdnn_onednn_rnn_append_biases(r->compile->program, &r->shape, node->pass,
                                      node->output[PDNN_RNN_BACK_DB], db, true);
    return status;
}

/* The forward node whose output is y, or NULL. */
static const struct pdnn_node *find_forward(const struct pdnn_program *program, uint32_t y) {
    const struct pdnn_user_list users = pdnn_users_nodes(&program->users, y);
    for (const uint32_t *user = users.begin; user < users.end; user++) {
        const struct pdnn_node *node = &program->graph->nodes[*user];
        if (node->op == &pdnn_op_rnn && node->pass == PDNN_FORWARD && node->output[PDNN_RNN_Y] == y)
            return node;
    }
    return NULL;
}

static enum pdnn_status compile_fused(struct pdnn_onednn_compile *compile, uint32_t index, uint32_t y,
                                      struct pdnn_err *err) {
    const struct pdnn_graph *graph = compile->program->graph;
    struct rnn_call r = {.compile = compile,
                         .index = index,
                         .node = &graph->nodes[index],
                         .layer = &compile->layer[y],
                         .exec = pdnn_onednn_exec_of(NULL)};
    r.exec.threads = compile->onednn->options.threads;
    pdnn_onednn_rnn_shape_of(compile->program, find_forward(compile->program, y), &r.shape);
    enum pdnn_status status =
        pdnn_onednn_rnn_describe(compile->pool, &r.shape, r.node->pass, &r.exec.primitive, err);
    if (status == PDNN_OK)
        status = pdnn_onednn_primitive_build(r.exec.primitive, err);
    if (status == PDNN_OK)
        status = r.node->pass == PDNN_FORWARD ? compile_forward(&r, err) : compile_backward(&r, err);
    pdnn_onednn_primitive_destroy(r.exec.primitive);
    return status;
}

static enum pdnn_status compile_node(const struct pdnn_calls *calls, uint32_t node, struct pdnn_err *err) {
    struct pdnn_onednn_compile *compile = calls->compilation;
    const struct pdnn_graph *graph = compile->program->graph;
    const struct pdnn_node *n = &graph->nodes[node];
    uint32_t y = n->pass == PDNN_FORWARD ? n->output[PDNN_RNN_Y] : n->input[PDNN_RNN_BACK_Y];
    bool has_forward = find_forward(compile->program, y) != NULL;
    if (pdnn_dtype_is_half(pdnn_node_in(graph, n, 0)->dtype) && !(has_forward && compile->layer[y].is_fused))
        return pdnn_onednn_upcast_compile(compile, node, err);
    if (graph->rnn == PDNN_RECURRENCE_FUSED && !has_forward)
        return pdnn_fail(err, PDNN_UNSUPPORTED,
                         "onednn: backward of the rnn primitive needs what forward leaves for it");
    if (has_forward && compile->layer[y].is_fused)
        return compile_fused(compile, node, y, err);
    size_t call = compile->program->n_calls;
    pdnn_rnn_compile(&unrolled, compile->onednn->options.threads, compile->program, node);
    if (compile->layer[y].is_measured) {
        char *text = compile->program->calls[call].implementation;
        size_t length = strlen(text);
        snprintf(text + length, PDNN_IMPLEMENTATION_TEXT - length, ", auto");
    }
    return PDNN_OK;
}

const struct pdnn_lowering pdnn_onednn_rnn_row = {
    .op = &pdnn_op_rnn,
    .pass = {[PDNN_FORWARD] = {.compile = compile_node}, [PDNN_BACKWARD_DATA] = {.compile = compile_node}},
};
