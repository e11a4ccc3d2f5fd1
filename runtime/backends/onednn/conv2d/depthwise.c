#include "runtime/backends/onednn/conv2d/depthwise.h"

#include "models/conv2d.h"
#include "models/op.h"
#include "runtime/backend/choose.h"
#include "runtime/backends/onednn/tensor_layout.h"
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

bool pdnn_onednn_depthwise_describe(const struct pdnn_onednn_compile *compile, const struct pdnn_node *node,
                                    struct pdnn_depthwise *job) {
    const struct pdnn_graph *graph = compile->program->graph;
    const struct pdnn_slot *slots = compile->program->slots;
    const int64_t *attr = node->attr;
    if (node->op != &pdnn_op_conv2d || node->pass != PDNN_BACKWARD_WEIGHTS)
        return false;
    const struct pdnn_tensor *x = pdnn_node_in(graph, node, PDNN_CONV2D_WEIGHTS_X),
                             *dy = pdnn_node_in(graph, node, PDNN_CONV2D_WEIGHTS_DY),
                             *dw = pdnn_node_out(graph, node, PDNN_CONV2D_WEIGHTS_DW);
    const int64_t groups = pdnn_conv2d_groups(node),
                  block = slots[node->input[PDNN_CONV2D_WEIGHTS_X]].channel_block;
    int64_t weights_block = 1;
    const struct weights_layout *weights = weights_layout_of(
        pdnn_onednn_tensor_layout(compile, node->output[PDNN_CONV2D_WEIGHTS_DW]), &weights_block);
    const bool is_alone = node->n_posts == 0 || (node->n_posts == 1 && node->posts[0].op == &pdnn_op_bias),
               is_depthwise = groups > 1 && groups == x->dim[1] && groups == dw->dim[0],
               has_types = dw->dtype == PDNN_F32 && x->dtype == dy->dtype &&
                           (x->dtype == PDNN_F32 || pdnn_dtype_is_half(x->dtype));
    if (!is_depthwise || !is_alone || !has_types || !weights ||
        slots[node->input[PDNN_CONV2D_WEIGHTS_DY]].channel_block != block ||
        graph->algorithm != PDNN_ALGORITHM_AUTO)
        return false;
    *job = (struct pdnn_depthwise){.N = x->dim[0],
                                   .C = x->dim[1],
                                   .block = block ? block : 1,
                                   .rows = {x->dim[2], dy->dim[2], dw->dim[2], attr[PDNN_CONV2D_STRIDE_H],
                                            attr[PDNN_CONV2D_PADDING_H], pdnn_conv2d_dilation_h(node)},
                                   .columns = {x->dim[3], dy->dim[3], dw->dim[3], attr[PDNN_CONV2D_STRIDE_W],
                                               attr[PDNN_CONV2D_PADDING_W], pdnn_conv2d_dilation_w(node)},
                                   .weights_block = weights_block,
                                   .taps_first = weights->taps_first};
    return true;
}

struct depthwise_call {
    struct pdnn_depthwise job;
    struct pdnn_f32_copies copies;
    uint32_t x, dy, dw, db, scratch; /* slots; db may be PDNN_NONE */
    void *memory[5];
    int64_t threads;
};

/* A 16-bit image's copy, or where the tensor lies. */
static void *operand_of(const struct depthwise_call *call, uint32_t tensor, void *const *memory) {
    float *copy = pdnn_f32_copies_find(&call->copies, tensor);
    return copy ? copy : memory[tensor];
}

static void bind(void *state, void *const *memory) {
    struct depthwise_call *call = state;
    pdnn_f32_copies_bind(&call->copies, memory);
    call->memory[0] = operand_of(call, call->x, memory);
    call->memory[1] = operand_of(call, call->dy, memory);
    call->memory[2] = memory[call->dw];
    call->memory[3] = call->db == PDNN_NONE ? NULL : memory[call->db];
    call->memory[4] = memory[call->scratch];
}

static int run(void *state) {
    const struct depthwise_call *call = state;
    pdnn_f32_copies_widen(&call->copies, call->threads);
    pdnn_depthwise_weights(&call->job, call->memory[0], call->memory[1], call->memory[2], call->memory[3],
                           call->memory[4], call->threads);
    return 0;
}

void pdnn_onednn_depthwise_append(const struct pdnn_onednn_compile *compile, uint32_t node,
                                  const struct pdnn_depthwise *job) {
    struct pdnn_program *program = compile->program;
    const struct pdnn_node *n = &program->graph->nodes[node];
    struct pdnn_call call = pdnn_call_of_node(program->graph, node);
    struct depthwise_call *made = pdnn_arena_alloc(&program->arena, 1, sizeof *made);
    *made = (struct depthwise_call){.job = *job,
                                    .x = n->input[PDNN_CONV2D_WEIGHTS_X],
                                    .dy = n->input[PDNN_CONV2D_WEIGHTS_DY],
                                    .dw = n->output[PDNN_CONV2D_WEIGHTS_DW],
                                    .db = n->n_posts ? n->posts[0].output : PDNN_NONE,
                                    .threads = compile->onednn->options.threads};
    made->copies = pdnn_f32_copies_create(program, n, &call);
    made->scratch = pdnn_call_scratch(&call, program,
                                      (uint64_t)pdnn_depthwise_scratch(job, made->threads) * sizeof(float));
    snprintf(call.implementation, sizeof call.implementation, "paradnn:conv2d depthwise %s b%" PRId64,
             pdnn_level_name(), job->block);
    call.work = (struct pdnn_work){made, bind, run, NULL};
    pdnn_program_call(program, &call);
}

/* Images are alike, so few are measured: no more than have so many elements, read in both tensors. */
enum { MAX_ELEMENTS = 1 << 23, COMPILATIONS = 2, ROUNDS = 3, VISIT_NS = 200000, WAYS = 2 };
static const double MARGIN = 0.9;

struct question {
    const struct pdnn_onednn_compile *compile;
    const struct pdnn_node *node;
    int64_t images, all_images;
};

static void drop_images(const void *user, uint32_t tensor, struct pdnn_tensor *copy) {
    const struct question *q = user;
    const struct pdnn_tensor *x = pdnn_node_in(q->compile->program->graph, q->node, PDNN_CONV2D_WEIGHTS_X);
    (void)tensor;
    if (copy->dim[0] == q->all_images && copy->dim[1] == x->dim[1] && copy->rank == 4)
        copy->dim[0] = q->images;
}

static enum pdnn_status prepare(void *user, int i, struct pdnn_one_node *one, struct pdnn_err *err) {
    const struct question *q = user;
    const struct pdnn_onednn_conv2d_choice choice = {.is_own = i == 1, .order = q->compile->order};
    one->edit = drop_images;
    one->user = q;
    pdnn_one_node_add(one, q->node);
    q->compile->onednn->forced_conv2d = &choice;
    enum pdnn_status status = pdnn_onednn_trial_compile(q->compile, one, err);
    q->compile->onednn->forced_conv2d = NULL;
    return status;
}

static void add_axis(struct pdnn_tune_key *key, const char *name, const struct pdnn_depthwise_axis *axis) {
    pdnn_tune_key_add(key, " %s=%" PRId64 ":%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, name,
                      axis->input, axis->output, axis->kernel, axis->stride, axis->padding, axis->dilation);
}

enum pdnn_status pdnn_onednn_depthwise_choose(const struct pdnn_onednn_compile *compile,
                                              const struct pdnn_node *node, const struct pdnn_depthwise *job,
                                              bool *is_own, struct pdnn_err *err) {
    struct pdnn_onednn *onednn = compile->onednn;
    const struct pdnn_graph *graph = compile->program->graph;
    const int64_t elements =
        job->C * (job->rows.input * job->columns.input + job->rows.output * job->columns.output);
    struct question q = {.compile = compile, .node = node, .images = job->N, .all_images = job->N};
    const struct pdnn_trial trial = {.tune = &onednn->tune,
                                     .n = WAYS,
                                     .group_size = WAYS,
                                     .shuns_reference = true,
                                     .prepare = prepare,
                                     .user = &q,
                                     .from = graph,
                                     .room_bytes = onednn->trial_bytes};
    struct pdnn_choice choice = {.what = "a depthwise weight gradient",
                                 .trial = &trial,
                                 .rules = {.rounds = ROUNDS, .visit_ns = VISIT_NS},
                                 .compilations = COMPILATIONS,
                                 .margin = MARGIN};
    int picked = 0;
    if (onednn->forced_conv2d) {
        *is_own = onednn->forced_conv2d->is_own;
        return PDNN_OK;
    }
    while (q.images > 1 && q.images * elements > MAX_ELEMENTS)
        q.images = (q.images + 1) / 2;
    pdnn_tune_key_add(&choice.key, "depthwise N=%" PRId64 " C=%" PRId64 " block=%" PRId64, q.images, job->C,
                      job->block);
    add_axis(&choice.key, "h", &job->rows);
    add_axis(&choice.key, "w", &job->columns);
    pdnn_tune_key_add(&choice.key, "%s dtype=%s threads=%" PRId64, node->n_posts ? " bias" : "",
                      pdnn_dtype_name(pdnn_node_in(graph, node, 0)->dtype), onednn->options.threads);
    enum pdnn_status status = pdnn_trial_choose(&choice, &picked, err);
    *is_own = picked == 1;
    return status;
}
