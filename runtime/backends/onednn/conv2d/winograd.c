#include "runtime/backends/onednn/conv2d/winograd.h"

#include "models/conv2d.h"
#include "models/op.h"
#include "runtime/backends/onednn/library/post_ops.h"
#include "runtime/backends/onednn/tensor_layout.h"
#include "runtime/kernels/simd/level.h"
#include "runtime/lowering/call.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Weights (O, C, 3, 3) that are row-major, or in blocks of both channels, or of O with C inside of the taps.
 * False: they lie otherwise. */
static bool weights_of(const struct pdnn_onednn_layout *layout, int64_t C, struct pdnn_winograd_weights *w) {
    enum { TAPS = 9 };
    static const struct {
        const char *format;
        int64_t o_block, c_block;
    } known[] = {
        {"abcd", 1, 1},     {"ABcd8b8a", 8, 8}, {"ABcd16b16a", 16, 16}, {"Acdb8a", 8, 0},
        {"Acdb16a", 16, 0}, {"Acdb32a", 32, 0}, {"Acdb64a", 64, 0},
    };
    char format[PDNN_ONEDNN_LAYOUT_TEXT];
    pdnn_onednn_layout_format(layout, format);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const int64_t o = known[i].o_block, c = known[i].c_block;
        if (strcmp(format, known[i].format) != 0)
            continue;
        *w = c ? (struct pdnn_winograd_weights){o, C * TAPS * o, c, TAPS * c * o, o, c * o}
               : (struct pdnn_winograd_weights){o, C * TAPS * o, 1, o, 0, C * o};
        return true;
    }
    return false;
}

static struct pdnn_winograd_images images_of(const struct pdnn_onednn_compile *compile, uint32_t tensor) {
    const struct pdnn_tensor *image = &compile->program->graph->tensors[tensor];
    return (struct pdnn_winograd_images){image->dim[1], compile->program->slots[tensor].channel_block,
                                         image->dim[2], image->dim[3]};
}

bool pdnn_onednn_winograd_describe(const struct pdnn_onednn_compile *compile,
                                   const struct pdnn_onednn_conv2d *convolution, struct pdnn_winograd *job) {
    const struct pdnn_onednn_request *request = &convolution->request;
    const struct pdnn_graph *graph = convolution->graph;
    const uint32_t *tensor = convolution->tensor;
    const bool is_gradient = request->pass == PDNN_BACKWARD_DATA;
    const int64_t most = 2;
    if (request->pass == PDNN_BACKWARD_WEIGHTS || !pdnn_onednn_conv2d_is_winograd(convolution) ||
        convolution->is_turned || graph->tensors[tensor[PDNN_ONEDNN_SRC]].dtype != PDNN_F32 ||
        (graph->algorithm != PDNN_ALGORITHM_AUTO && graph->algorithm != PDNN_ALGORITHM_WINOGRAD) ||
        request->padding[0] > most || request->padding[1] > most)
        return false;
    const struct pdnn_winograd_images x = images_of(compile, tensor[PDNN_ONEDNN_SRC]),
                                      y = images_of(compile, tensor[PDNN_ONEDNN_DST]);
    *job = (struct pdnn_winograd){
        .N = graph->tensors[tensor[PDNN_ONEDNN_SRC]].dim[0],
        .from = is_gradient ? y : x,
        .to = is_gradient ? x : y,
        .top = is_gradient ? most - request->padding[0] : request->padding[0],
        .left = is_gradient ? most - request->padding[1] : request->padding[1],
        .is_gradient = is_gradient,
    };
    return x.block && y.block &&
           weights_of(pdnn_onednn_tensor_layout(compile, tensor[PDNN_ONEDNN_WEIGHTS]), x.channels,
                      &job->weights) &&
           pdnn_winograd_fits(job);
}

/* Not where they are shared with a program that may train. */
bool pdnn_onednn_winograd_keeps(const struct pdnn_onednn_compile *compile,
                                const struct pdnn_onednn_conv2d *convolution) {
    const struct pdnn_program *program = compile->program;
    const struct pdnn_onednn_conv2d_choice *forced = compile->onednn->forced_conv2d;
    const enum pdnn_role role = program->graph->tensors[convolution->tensor[PDNN_ONEDNN_WEIGHTS]].role;
    return program->graph->loss == PDNN_NONE && !program->like && !program->opens_weights &&
           role == PDNN_ROLE_WEIGHT && (!forced || forced->keeps_weights);
}

struct pdnn_onednn_conv2d_question pdnn_onednn_winograd_question(const struct pdnn_onednn_compile *compile,
                                                                 const struct pdnn_onednn_conv2d *convolution,
                                                                 const struct pdnn_winograd *job) {
    const struct pdnn_winograd_images *from = &job->from, *to = &job->to;
    struct pdnn_onednn_conv2d_question question = {.images = job->N,
                                                   .elements = from->channels * from->rows * from->columns +
                                                               to->channels * to->rows * to->columns};
    question.keeps_weights = pdnn_onednn_winograd_keeps(compile, convolution);
    pdnn_tune_key_add(&question.key, "winograd%s%s %s %" PRId64 "x%" PRId64 "x%" PRId64,
                      convolution->graph->algorithm == PDNN_ALGORITHM_WINOGRAD ? " of all" : "",
                      question.keeps_weights ? " kept" : "", pdnn_pass_name(convolution->request.pass),
                      from->channels, from->rows, from->columns);
    pdnn_tune_key_add(&question.key, " to %" PRId64 "x%" PRId64 "x%" PRId64 " padding=%" PRId64 ",%" PRId64,
                      to->channels, to->rows, to->columns, job->top, job->left);
    pdnn_tune_key_add(&question.key, " blocks=%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, from->block,
                      to->block, job->weights.o_block, job->weights.c_block);
    if (convolution->tensor[PDNN_ONEDNN_BIAS] != PDNN_NONE)
        pdnn_tune_key_add(&question.key, " bias");
    for (int i = 0; i < convolution->request.n_post_ops; i++) {
        const struct pdnn_onednn_activation *activation = convolution->request.post_op[i].activation;
        pdnn_tune_key_add(&question.key, " %s", activation ? activation->op->name : "add");
    }
    return question;
}

struct winograd_call {
    struct pdnn_winograd job;
    uint32_t from, w, to, bias, summand, u, scratch; /* bias and summand may be PDNN_NONE */
    int n_functions;
    struct pdnn_elementwise_job function[PDNN_NODE_POSTS];
    const float *x, *weights;
    float *y, *transformed, *room;
    /* Weights that no step changes are transformed in the first run and kept, as a library packs such. */
    bool is_kept, is_transformed;
    struct pdnn_winograd_end end;
    int64_t threads;
};

static void *address_of(uint32_t slot, void *const *memory) {
    return slot == PDNN_NONE ? NULL : memory[slot];
}

static void bind(void *state, void *const *memory) {
    struct winograd_call *call = state;
    call->x = memory[call->from];
    call->weights = memory[call->w];
    call->y = memory[call->to];
    call->transformed = memory[call->u];
    call->room = memory[call->scratch];
    call->is_transformed = false;
    call->end.bias = address_of(call->bias, memory);
    call->end.summand = address_of(call->summand, memory);
    for (int i = 0; i < call->n_functions; i++)
        call->function[i].a = call->function[i].y = call->y;
}

static int run(void *state) {
    struct winograd_call *call = state;
    if (!call->is_transformed)
        pdnn_winograd_transform(&call->job, call->weights, call->transformed, call->threads);
    call->is_transformed = call->is_kept;
    pdnn_winograd_run(&call->job, call->x, call->transformed, call->y, &call->end, call->room, call->threads);
    for (int i = 0; i < call->n_functions; i++)
        pdnn_elementwise_run(&call->function[i], call->threads);
    return 0;
}

/* The kernel's end does a relu that comes first; other functions follow, over all of y. */
static void take_functions(struct winograd_call *call, const struct pdnn_onednn_request *request) {
    const struct pdnn_winograd_images *to = &call->job.to;
    for (int i = 0; i < request->n_post_ops; i++) {
        const struct pdnn_onednn_post_op *post = &request->post_op[i];
        if (!post->activation)
            continue;
        if (post->activation->op == &pdnn_op_relu && call->n_functions == 0)
            call->end.is_relu = true;
        else
            call->function[call->n_functions++] =
                (struct pdnn_elementwise_job){.function = post->activation->forward,
                                              .elements = call->job.N * to->channels * to->rows * to->columns,
                                              .coef = {post->alpha, post->beta}};
    }
}

void pdnn_onednn_winograd_append(const struct pdnn_onednn_compile *compile, uint32_t node,
                                 const struct pdnn_onednn_conv2d *convolution,
                                 const struct pdnn_winograd *job) {
    struct pdnn_program *program = compile->program;
    struct pdnn_call call = pdnn_call_of_node(program->graph, node);
    struct winograd_call *made = pdnn_arena_alloc(&program->arena, 1, sizeof *made);
    const uint32_t *tensor = convolution->tensor;
    *made = (struct winograd_call){
        .job = *job,
        .from = tensor[job->is_gradient ? PDNN_ONEDNN_DST : PDNN_ONEDNN_SRC],
        .w = tensor[PDNN_ONEDNN_WEIGHTS],
        .to = tensor[job->is_gradient ? PDNN_ONEDNN_SRC : PDNN_ONEDNN_DST],
        .bias = tensor[PDNN_ONEDNN_BIAS],
        .summand = convolution->summand,
        .threads = compile->onednn->options.threads,
    };
    take_functions(made, &convolution->request);
    made->is_kept = pdnn_onednn_winograd_keeps(compile, convolution);
    made->u = pdnn_program_slot(program, (uint64_t)pdnn_winograd_weights_floats(job) * sizeof(float),
                                made->is_kept);
    pdnn_call_use(&call, made->u);
    made->scratch = pdnn_call_scratch(&call, program,
                                      (uint64_t)pdnn_winograd_scratch(job, made->threads) * sizeof(float));
    call.sums_in_place = made->summand != PDNN_NONE;
    snprintf(call.implementation, sizeof call.implementation, "paradnn:conv2d winograd %s b%" PRId64,
             pdnn_level_name(), job->from.block);
    call.work = (struct pdnn_work){made, bind, run, NULL};
    pdnn_program_call(program, &call);
}
