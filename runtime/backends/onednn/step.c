#include "runtime/backends/onednn/step.h"

#include "models/op.h"
#include "runtime/lowering/step.h"
#include "runtime/kernels/rows/quantize.h"
#include "runtime/kernels/simd/team.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { SUMS = 3, LINE_BYTES = 64 };

/* int8: the scales and bias that the primitive takes. */
struct rescale {
    uint32_t bias_slot; /* or PDNN_NONE */
    const float *x_scale, *w_scale, *bias;
    float *factor, *divided;
    int64_t O;
};

struct execution {
    struct pdnn_onednn_call call;
    void *sum[SUMS]; /* cleared before each run, or NULL */
    struct rescale rescale;
};

/* Arguments that the library accumulates into. */
static const enum pdnn_onednn_arg sums[SUMS] = {PDNN_ONEDNN_DIFF_WEIGHTS, PDNN_ONEDNN_DIFF_RECURRENT,
                                                PDNN_ONEDNN_DIFF_BIAS};

static void bind_rescale(struct execution *execution, void *const *memory) {
    struct rescale *rescale = &execution->rescale;
    const struct pdnn_onednn_call *call = &execution->call;
    if (call->x_scale == PDNN_NONE)
        return;
    rescale->x_scale = memory[call->x_scale];
    rescale->w_scale = memory[call->w_scale];
    rescale->factor = memory[call->slot[PDNN_ONEDNN_SCALE]];
    if (rescale->bias_slot == PDNN_NONE)
        return;
    rescale->bias = memory[rescale->bias_slot];
    rescale->divided = memory[call->slot[PDNN_ONEDNN_BIAS]];
}

/* The division is safe, since no scale is 0. */
static void run_rescale(const struct rescale *rescale) {
    pdnn_dequantize_factors(rescale->x_scale, rescale->w_scale, rescale->factor, rescale->O);
    for (int64_t o = 0; rescale->bias && o < rescale->O; o++)
        rescale->divided[o] = rescale->bias[o] / rescale->factor[o];
}

static void bind(void *state, void *const *memory) {
    struct execution *execution = state;
    const struct pdnn_onednn_call *call = &execution->call;
    assert(call->summand == PDNN_NONE || memory[call->summand] == memory[call->slot[PDNN_ONEDNN_DST]]);
    for (int i = 0; i < PDNN_ONEDNN_ARG_COUNT; i++) {
        if (call->slot[i] != PDNN_NONE)
            pdnn_onednn_primitive_bind(call->primitive, (enum pdnn_onednn_arg)i, memory[call->slot[i]]);
    }
    for (int i = 0; i < SUMS; i++)
        execution->sum[i] = call->slot[sums[i]] == PDNN_NONE ? NULL : memory[call->slot[sums[i]]];
    bind_rescale(execution, memory);
}

struct zeros {
    char *memory;
    int64_t bytes;
};

static void clear_part(void *job, int64_t index, int64_t parts) {
    const struct zeros *zeros = job;
    struct pdnn_span span = pdnn_span_of(zeros->bytes, LINE_BYTES, index, parts);
    memset(zeros->memory + span.begin, 0, (size_t)(span.end - span.begin));
}

static int run(void *state) {
    const struct execution *execution = state;
    for (int i = 0; i < SUMS; i++) {
        struct zeros zeros = {execution->sum[i],
                              (int64_t)pdnn_onednn_primitive_bytes(execution->call.primitive, sums[i])};
        if (zeros.memory)
            pdnn_team_run(execution->call.threads, zeros.bytes / (int64_t)sizeof(float), clear_part, &zeros);
    }
    if (execution->rescale.factor)
        run_rescale(&execution->rescale);
    return pdnn_onednn_primitive_run(execution->call.primitive);
}

static void destroy(void *state) {
    struct execution *execution = state;
    pdnn_onednn_primitive_destroy(execution->call.primitive);
}

struct pdnn_onednn_call pdnn_onednn_call_of(struct pdnn_onednn_primitive *primitive) {
    struct pdnn_onednn_call call = {.primitive = primitive,
                                    .summand = PDNN_NONE,
                                    .threads = 1,
                                    .x_scale = PDNN_NONE,
                                    .w_scale = PDNN_NONE};
    for (int i = 0; i < PDNN_ONEDNN_ARG_COUNT; i++)
        call.slot[i] = PDNN_NONE;
    return call;
}

void pdnn_onednn_call_scale(struct pdnn_onednn_call *call, const struct pdnn_node *node) {
    if (!pdnn_quantized_is_scaled(node))
        return;
    call->x_scale = node->input[PDNN_QUANTIZED_X_SCALE];
    call->w_scale = node->input[PDNN_QUANTIZED_W_SCALE];
}

/* The primitive reads copies that the step makes. */
static void append_rescale(struct pdnn_program *program, struct pdnn_step *step,
                           struct execution *execution) {
    struct pdnn_onednn_call *call = &execution->call;
    uint32_t *bias = &call->slot[PDNN_ONEDNN_BIAS];
    if (call->x_scale == PDNN_NONE)
        return;
    uint64_t bytes = pdnn_onednn_primitive_bytes(call->primitive, PDNN_ONEDNN_SCALE);
    execution->rescale = (struct rescale){.bias_slot = *bias, .O = (int64_t)(bytes / sizeof(float))};
    call->slot[PDNN_ONEDNN_SCALE] = pdnn_program_slot(program, bytes, false);
    pdnn_step_use(step, call->x_scale);
    pdnn_step_use(step, call->w_scale);
    if (*bias == PDNN_NONE)
        return;
    pdnn_step_use(step, *bias);
    *bias = pdnn_program_slot(program, bytes, false);
}

void pdnn_onednn_append(struct pdnn_program *program, struct pdnn_step *step,
                        const struct pdnn_onednn_call *call) {
    struct execution *execution = pdnn_arena_alloc(&program->arena, 1, sizeof *execution);
    step->is_reference = pdnn_onednn_primitive_is_reference(call->primitive);
    execution->call = *call;
    execution->call.slot[PDNN_ONEDNN_SCRATCHPAD] = pdnn_step_scratch(
        step, program, pdnn_onednn_primitive_bytes(call->primitive, PDNN_ONEDNN_SCRATCHPAD));
    append_rescale(program, step, execution);
    for (int i = 0; i < PDNN_ONEDNN_ARG_COUNT; i++) {
        if (execution->call.slot[i] != PDNN_NONE)
            pdnn_step_use(step, execution->call.slot[i]);
    }
    if (call->summand != PDNN_NONE)
        pdnn_step_use(step, call->summand);
    step->sums_in_place = call->summand != PDNN_NONE;
    step->work = (struct pdnn_work){execution, bind, run, destroy};
    pdnn_program_step(program, step);
}

enum pdnn_status pdnn_onednn_reorder_call(const struct pdnn_onednn_compile *compile,
                                          struct pdnn_onednn_place from, struct pdnn_onednn_place to,
                                          struct pdnn_onednn_call *call, struct pdnn_err *err) {
    struct pdnn_onednn_request request = {.kind = PDNN_ONEDNN_REORDER, .pass = PDNN_FORWARD};
    *call = pdnn_onednn_call_of(NULL);
    request.layout[PDNN_ONEDNN_SRC] = from.layout;
    request.layout[PDNN_ONEDNN_DST] = to.layout;
    call->slot[PDNN_ONEDNN_SRC] = from.slot;
    call->slot[PDNN_ONEDNN_DST] = to.slot;
    return pdnn_onednn_primitive_create(compile->pool, &request, &call->primitive, err);
}

enum pdnn_status pdnn_onednn_append_reorder(struct pdnn_onednn_compile *compile, uint32_t tensor,
                                            enum pdnn_pass pass, struct pdnn_onednn_place from,
                                            struct pdnn_onednn_place to, struct pdnn_err *err) {
    struct pdnn_step step = {.node = PDNN_NONE, .tensor = tensor, .pass = pass};
    char source[PDNN_ONEDNN_LAYOUT_TEXT], target[PDNN_ONEDNN_LAYOUT_TEXT];
    struct pdnn_onednn_call call;
    if (pdnn_onednn_reorder_call(compile, from, to, &call, err) != PDNN_OK)
        return pdnn_wrap(err, "onednn: reorder");
    step.reorder_bytes = pdnn_onednn_layout_bytes(from.layout) + pdnn_onednn_layout_bytes(to.layout);
    snprintf(step.implementation, sizeof step.implementation, "%.30s %.15s->%.15s",
             pdnn_onednn_primitive_name(call.primitive), pdnn_onednn_layout_format(from.layout, source),
             pdnn_onednn_layout_format(to.layout, target));
    pdnn_onednn_append(compile->program, &step, &call);
    return PDNN_OK;
}

void pdnn_onednn_operand_place(struct pdnn_onednn_operand *operand, struct pdnn_program *program) {
    bool is_copy = operand->used && !pdnn_onednn_layout_equal(operand->stored, operand->used);
    operand->slot = is_copy ? pdnn_program_slot(program, pdnn_onednn_layout_bytes(operand->used), false)
                            : operand->tensor;
}

bool pdnn_onednn_operand_is_copy(const struct pdnn_onednn_operand *operand) {
    return operand->slot != operand->tensor;
}

enum pdnn_status pdnn_onednn_operand_move(const struct pdnn_onednn_operand *operand,
                                          struct pdnn_onednn_compile *compile, enum pdnn_pass pass,
                                          enum pdnn_onednn_move move, struct pdnn_err *err) {
    const struct pdnn_onednn_place stored = {operand->stored, operand->tensor},
                                   used = {operand->used, operand->slot};
    bool fetches = move == PDNN_ONEDNN_FETCH;
    if (!pdnn_onednn_operand_is_copy(operand))
        return PDNN_OK;
    return pdnn_onednn_append_reorder(compile, operand->tensor, pass, fetches ? stored : used,
                                      fetches ? used : stored, err);
}
