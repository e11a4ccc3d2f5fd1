#include "runtime/backends/onednn/conv2d/own.h"

#include "models/conv2d.h"
#include "models/op.h"
#include "runtime/backends/onednn/conv2d/implementations.h"
#include "runtime/backends/onednn/tensor_layout.h"
#include "runtime/kernels/images/depthwise.h"
#include "runtime/kernels/simd/level.h"
#include "runtime/lowering/call.h"
#include "runtime/lowering/f32_copies.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How weights (C, 1, R, S), or (C, 1, 1, R, S), lie: row-major, in blocks of channels, or tap by tap.
 * Dimensions of one have the stride of others, so that the last has several names. */
static const struct weights_layout {
    const char *format; /* without the block */
    bool is_blocked, taps_first;
} weights_layouts[] = {
    {"abcd", false, false}, {"abcde", false, false}, {"Abcde", true, false},
    {"dbceA", true, true},  {"dAbce", true, true},   {"bcdeA", true, true},
};

/* NULL: as the kernel has no weights. *block: channels in a block. */
static const struct weights_layout *weights_layout_of(const struct pdnn_onednn_layout *layout,
                                                      int64_t *block) {
    char format[PDNN_ONEDNN_LAYOUT_TEXT];
    pdnn_onednn_layout_format(layout, format);
    for (size_t i = 0; i < sizeof weights_layouts / sizeof *weights_layouts; i++) {
        const struct weights_layout *is = &weights_layouts[i];
        const size_t length = strlen(is->format);
        char *end = format + length;
        if (strncmp(format, is->format, length) != 0)
            continue;
        *block = is->is_blocked ? strtoll(end, &end, 10) : 1;
        if (*block > 0 && strcmp(end, is->is_blocked ? "a" : "") == 0)
            return is;
    }
    return NULL;
}

/* A convolution's tensors, or their gradients. */
struct operands {
    uint32_t x, w, y;
};

static struct operands operands_of(const struct pdnn_node *node) {
    const uint32_t *in = node->input, *out = node->output;
    if (node->pass == PDNN_BACKWARD_WEIGHTS)
        return (struct operands){in[PDNN_CONV2D_WEIGHTS_X], out[PDNN_CONV2D_WEIGHTS_DW],
                                 in[PDNN_CONV2D_WEIGHTS_DY]};
    if (node->pass == PDNN_BACKWARD_DATA)
        return (struct operands){out[PDNN_CONV2D_DATA_DX], in[PDNN_CONV2D_DATA_W], in[PDNN_CONV2D_DATA_DY]};
    return (struct operands){in[PDNN_CONV2D_X], in[PDNN_CONV2D_W], out[PDNN_CONV2D_Y]};
}

/* One channel for each, and the gradient of weights; or four for four. */
static bool has_groups(const struct pdnn_node *node, const struct pdnn_tensor *x,
                       const struct pdnn_tensor *w) {
    const int64_t groups = pdnn_conv2d_groups(node), whole = 16;
    if (groups <= 1 || x->dim[1] != w->dim[0])
        return false;
    return groups == x->dim[1] ? node->pass == PDNN_BACKWARD_WEIGHTS
                               : x->dim[1] == 4 * groups && x->dim[1] % whole == 0;
}

static bool has_types(const struct pdnn_node *node, const struct pdnn_tensor *x, const struct pdnn_tensor *w,
                      const struct pdnn_tensor *y) {
    const bool is_known = x->dtype == PDNN_F32 || pdnn_dtype_is_half(x->dtype);
    return is_known && x->dtype == y->dtype &&
           w->dtype == (node->pass == PDNN_BACKWARD_WEIGHTS ? PDNN_F32 : x->dtype);
}

static bool is_alone(const struct pdnn_node *node) {
    return node->n_posts == 0 ||
           (node->pass == PDNN_BACKWARD_WEIGHTS && node->n_posts == 1 && node->posts[0].op == &pdnn_op_bias);
}

/* The gradient of images as a convolution of dy. */
static struct pdnn_depthwise_axis reverse(const struct pdnn_depthwise_axis *axis) {
    return (struct pdnn_depthwise_axis){.input = (axis->output - 1) * axis->stride + 1,
                                        .output = axis->input,
                                        .kernel = axis->kernel,
                                        .stride = 1,
                                        .padding = (axis->kernel - 1) * axis->dilation - axis->padding,
                                        .dilation = axis->dilation};
}

bool pdnn_onednn_own_describe(const struct pdnn_onednn_compile *compile, const struct pdnn_node *node,
                              struct pdnn_grouped *job) {
    const struct pdnn_graph *graph = compile->program->graph;
    const struct pdnn_slot *slots = compile->program->slots;
    const int64_t *attr = node->attr;
    if (node->op != &pdnn_op_conv2d || graph->algorithm != PDNN_ALGORITHM_AUTO)
        return false;
    const struct operands operands = operands_of(node);
    const struct pdnn_tensor *x = &graph->tensors[operands.x], *w = &graph->tensors[operands.w],
                             *y = &graph->tensors[operands.y];
    const int64_t block = slots[operands.x].channel_block;
    if (!has_groups(node, x, w) || !has_types(node, x, w, y) || !is_alone(node) ||
        slots[operands.y].channel_block != block)
        return false;
    int64_t weights_block = 1;
    const struct pdnn_onednn_layout *layout = pdnn_onednn_tensor_layout(compile, operands.w);
    const bool is_column = pdnn_onednn_conv2d_is_column(node, x, w, y),
               is_data = node->pass == PDNN_BACKWARD_DATA;
    const struct weights_layout *weights = weights_layout_of(
        is_column ? pdnn_onednn_layout_turn(compile->pool, layout) : layout, &weights_block);
    const struct pdnn_depthwise_axis down = {x->dim[2],
                                             y->dim[2],
                                             w->dim[2],
                                             attr[PDNN_CONV2D_STRIDE_H],
                                             attr[PDNN_CONV2D_PADDING_H],
                                             pdnn_conv2d_dilation_h(node)},
                                     across = {x->dim[3],
                                               y->dim[3],
                                               w->dim[3],
                                               attr[PDNN_CONV2D_STRIDE_W],
                                               attr[PDNN_CONV2D_PADDING_W],
                                               pdnn_conv2d_dilation_w(node)},
                                     *rows = is_column ? &across : &down,
                                     *columns = is_column ? &down : &across;
    *job = (struct pdnn_grouped){
        .images = {.N = x->dim[0],
                   .C = x->dim[1],
                   .block = block ? block : 1,
                   .rows = is_data ? reverse(rows) : *rows,
                   .columns = is_data ? reverse(columns) : *columns,
                   .weights_block = weights_block,
                   .taps_first = weights && weights->taps_first,
                   .group = w->dim[1]},
        .row_spread = is_data ? rows->stride : 1,
        .column_spread = is_data ? columns->stride : 1,
        .is_gradient = is_data,
    };
    if (job->images.group == 1)
        return weights != NULL;
    return weights && !weights->is_blocked && job->images.rows.kernel <= PDNN_GROUPED_ROWS &&
           job->images.rows.padding >= 0 && job->images.columns.padding >= 0;
}

struct own_call {
    struct pdnn_grouped job;
    enum pdnn_pass pass;
    struct pdnn_f32_copies copies;
    struct operands operands;
    uint32_t db, scratch; /* db may be PDNN_NONE */
    float *x, *w, *y, *to_db, *room;
    int64_t threads;
};

/* A 16-bit tensor's copy, or where the tensor lies. */
static float *operand_of(const struct own_call *call, uint32_t tensor, void *const *memory) {
    float *copy = pdnn_f32_copies_find(&call->copies, tensor);
    return copy ? copy : memory[tensor];
}

static void bind(void *state, void *const *memory) {
    struct own_call *call = state;
    pdnn_f32_copies_bind(&call->copies, memory);
    call->x = operand_of(call, call->operands.x, memory);
    call->w = operand_of(call, call->operands.w, memory);
    call->y = operand_of(call, call->operands.y, memory);
    call->to_db = call->db == PDNN_NONE ? NULL : memory[call->db];
    call->room = memory[call->scratch];
}

static int run(void *state) {
    const struct own_call *call = state;
    const struct pdnn_grouped *job = &call->job;
    pdnn_f32_copies_widen(&call->copies, call->threads);
    if (call->pass == PDNN_BACKWARD_WEIGHTS)
        pdnn_depthwise_weights(&job->images, call->x, call->y, call->w, call->to_db, call->room,
                               call->threads);
    else if (call->pass == PDNN_BACKWARD_DATA)
        pdnn_grouped_run(job, call->y, call->w, call->x, call->room, call->threads);
    else
        pdnn_grouped_run(job, call->x, call->w, call->y, call->room, call->threads);
    pdnn_f32_copies_narrow(&call->copies, call->threads);
    return 0;
}

void pdnn_onednn_own_append(const struct pdnn_onednn_compile *compile, uint32_t node,
                            const struct pdnn_grouped *job) {
    struct pdnn_program *program = compile->program;
    const struct pdnn_node *n = &program->graph->nodes[node];
    struct pdnn_call call = pdnn_call_of_node(program->graph, node);
    struct own_call *made = pdnn_arena_alloc(&program->arena, 1, sizeof *made);
    *made = (struct own_call){.job = *job,
                              .pass = n->pass,
                              .operands = operands_of(n),
                              .db = n->n_posts ? n->posts[0].output : PDNN_NONE,
                              .threads = compile->onednn->options.threads};
    made->copies = pdnn_f32_copies_create(program, n, &call);
    const int64_t floats = n->pass == PDNN_BACKWARD_WEIGHTS
                               ? pdnn_depthwise_scratch(&job->images, made->threads)
                               : pdnn_grouped_scratch(job, made->threads);
    made->scratch = pdnn_call_scratch(&call, program, (uint64_t)floats * sizeof(float));
    snprintf(call.implementation, sizeof call.implementation, "paradnn:conv2d %s %s b%" PRId64,
             job->images.group == 1 ? "depthwise" : "grouped", pdnn_level_name(), job->images.block);
    call.work = (struct pdnn_work){made, bind, run, NULL};
    pdnn_program_call(program, &call);
}

static void add_axis(struct pdnn_tune_key *key, const char *name, const struct pdnn_depthwise_axis *axis) {
    pdnn_tune_key_add(key, " %s=%" PRId64 ":%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, name,
                      axis->input, axis->output, axis->kernel, axis->stride, axis->padding, axis->dilation);
}

struct pdnn_onednn_conv2d_question pdnn_onednn_own_question(const struct pdnn_node *node,
                                                            const struct pdnn_grouped *own) {
    const struct pdnn_depthwise *job = &own->images;
    struct pdnn_onednn_conv2d_question question = {
        .images = job->N,
        .elements = job->C * (job->rows.input * job->columns.input + job->rows.output * job->columns.output)};
    struct pdnn_tune_key *key = &question.key;
    pdnn_tune_key_add(key, "groups of %" PRId64 " %s C=%" PRId64 " block=%" PRId64, job->group,
                      pdnn_pass_name(node->pass), job->C, job->block);
    add_axis(key, "h", &job->rows);
    add_axis(key, "w", &job->columns);
    if (node->n_posts)
        pdnn_tune_key_add(key, " bias");
    if (own->is_gradient)
        pdnn_tune_key_add(key, " spread=%" PRId64 ",%" PRId64, own->row_spread, own->column_spread);
    return question;
}
