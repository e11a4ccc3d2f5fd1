#include "runtime/backends/onednn/call.h"

#include "models/op.h"
#include "runtime/lowering/call.h"
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
    struct pdnn_onednn_exec exec;
    void *sum[SUMS]; /* cleared before each run, or NULL */
    struct rescale rescale;
};

/* Arguments that the library accumulates into. */
static const enum pdnn_onednn_arg sums[SUMS] = {PDNN_ONEDNN_DIFF_WEIGHTS, PDNN_ONEDNN_DIFF_RECURRENT,
                                                PDNN_ONEDNN_DIFF_BIAS};

static void bind_rescale(struct execution *execution, void *const *memory) {
    struct rescale *rescale = &execution->rescale;
    const struct pdnn_onednn_exec *exec = &execution->exec;
    if (exec->x_scale == PDNN_NONE)
        return;
    rescale->x_scale = memory[exec->x_scale];
    rescale->w_scale = memory[exec->w_scale];
    rescale->factor = memory[exec->slot[PDNN_ONEDNN_SCALE]];
    if (rescale->bias_slot == PDNN_NONE)
        return;
    rescale->bias = memory[rescale->bias_slot];
    rescale->divided = memory[exec->slot[PDNN_ONEDNN_BIAS]];
}

/* The division is safe, since no scale is 0. */
static void run_rescale(const struct rescale *rescale) {
    pdnn_dequantize_factors(rescale->x_scale, rescale->w_scale, rescale->factor, rescale->O);
    for (int64_t o = 0; rescale->bias && o < rescale->O; o++)
        rescale->divided[o] = rescale->bias[o] / rescale->factor[o];
}

static void bind(void *state, void *const *memory) {
    struct execution *execution = state;
    const struct pdnn_onednn_exec *exec = &execution->exec;
    assert(exec->summand == PDNN_NONE || memory[exec->summand] == memory[exec->slot[PDNN_ONEDNN_DST]]);
    for (int i = 0; i < PDNN_ONEDNN_ARG_COUNT; i++) {
        if (exec->slot[i] != PDNN_NONE)
            pdnn_onednn_primitive_bind(exec->primitive, (enum pdnn_onednn_arg)i, memory[exec->slot[i]]);
    }
    for (int i = 0; i < SUMS; i++)
        execution->sum[i] = exec->slot[sums[i]] == PDNN_NONE ? NULL : memory[exec->slot[sums[i]]];
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
                              (int64_t)pdnn_onednn_primitive_bytes(execution->exec.primitive, sums[i])};
        if (zeros.memory)
            pdnn_team_run(execution->exec.threads, zeros.bytes / (int64_t)sizeof(float), clear_part, &zeros);
    }
    if (execution->rescale.factor)
        run_rescale(&execution->rescale);
    return pdnn_onednn_primitive_run(execution->exec.primitive);
}

static void destroy(void *state) {
    struct execution *execution = state;
    pdnn_onednn_primitive_destroy(execution->exec.primitive);
}

struct pdnn_onednn_exec pdnn_onednn_exec_of(struct pdnn_onednn_primitive *primitive) {
    struct pdnn_onednn_exec exec = {.primitive = primitive,
                                    .summand = PDNN_NONE,
                                    .threads = 1,
                                    .x_scale = PDNN_NONE,
                                    .w_scale = PDNN_NONE};
    for (int i = 0; i < PDNN_ONEDNN_ARG_COUNT; i++)
        exec.slot[i] = PDNN_NONE;
    return exec;
}

void pdnn_onednn_exec_scale(struct pdnn_onednn_exec *exec, const struct pdnn_node *node) {
    if (!pdnn_quantized_is_scaled(node))
        return;
    exec->x_scale = node->input[PDNN_QUANTIZED_X_SCALE];
    exec->w_scale = node->input[PDNN_QUANTIZED_W_SCALE];
}

/* The primitive reads copies that the call makes. */
static void append_rescale(struct pdnn_program *program, struct pdnn_call *call,
                           struct execution *execution) {
    struct pdnn_onednn_exec *exec = &execution->exec;
    uint32_t *bias = &exec->slot[PDNN_ONEDNN_BIAS];
    if (exec->x_scale == PDNN_NONE)
        return;
    uint64_t bytes = pdnn_onednn_primitive_bytes(exec->primitive, PDNN_ONEDNN_SCALE);
    execution->rescale = (struct rescale){.bias_slot = *bias, .O = (int64_t)(bytes / sizeof(float))};
    pdnn_call_use(call, exec->x_scale);
    pdnn_call_use(call, exec->w_scale);
    exec->slot[PDNN_ONEDNN_SCALE] = pdnn_call_scratch(call, program, bytes);
    if (*bias != PDNN_NONE)
        *bias = pdnn_call_scratch(call, program, bytes);
}

void pdnn_onednn_append(struct pdnn_program *program, struct pdnn_call *call,
                        const struct pdnn_onednn_exec *exec) {
    struct execution *execution = pdnn_arena_alloc(&program->arena, 1, sizeof *execution);
    call->is_reference = pdnn_onednn_primitive_is_reference(exec->primitive);
    execution->exec = *exec;
    for (int i = 0; i < PDNN_ONEDNN_ARG_COUNT; i++) {
        if (exec->slot[i] != PDNN_NONE)
            pdnn_call_use(call, exec->slot[i]);
    }
    if (exec->summand != PDNN_NONE)
        pdnn_call_use(call, exec->summand);
    append_rescale(program, call, execution);
    execution->exec.slot[PDNN_ONEDNN_SCRATCHPAD] = pdnn_call_scratch(
        call, program, pdnn_onednn_primitive_bytes(exec->primitive, PDNN_ONEDNN_SCRATCHPAD));
    call->sums_in_place = exec->summand != PDNN_NONE;
    call->work = (struct pdnn_work){execution, bind, run, destroy};
    pdnn_program_call(program, call);
}

enum pdnn_status pdnn_onednn_exec_reorder(const struct pdnn_onednn_compile *compile,
                                          struct pdnn_onednn_place from, struct pdnn_onednn_place to,
                                          struct pdnn_onednn_exec *exec, struct pdnn_err *err) {
    struct pdnn_onednn_request request = {.kind = PDNN_ONEDNN_REORDER, .pass = PDNN_FORWARD};
    *exec = pdnn_onednn_exec_of(NULL);
    request.layout[PDNN_ONEDNN_SRC] = from.layout;
    request.layout[PDNN_ONEDNN_DST] = to.layout;
    exec->slot[PDNN_ONEDNN_SRC] = from.slot;
    exec->slot[PDNN_ONEDNN_DST] = to.slot;
    return pdnn_onednn_primitive_create(compile->pool, &request, &exec->primitive, err);
}

enum pdnn_status pdnn_onednn_append_reorder(struct pdnn_onednn_compile *compile, uint32_t tensor,
                                            enum pdnn_pass pass, struct pdnn_onednn_place from,
                                            struct pdnn_onednn_place to, struct pdnn_err *err) {
    struct pdnn_call call = {.node = PDNN_NONE, .tensor = tensor, .pass = pass};
    char source[PDNN_ONEDNN_LAYOUT_TEXT], target[PDNN_ONEDNN_LAYOUT_TEXT];
    struct pdnn_onednn_exec exec;
    if (pdnn_onednn_exec_reorder(compile, from, to, &exec, err) != PDNN_OK)
        return pdnn_wrap(err, "onednn: reorder");
    call.reorder_bytes = pdnn_onednn_layout_bytes(from.layout) + pdnn_onednn_layout_bytes(to.layout);
    snprintf(call.implementation, sizeof call.implementation, "%.30s %.15s->%.15s",
             pdnn_onednn_primitive_name(exec.primitive), pdnn_onednn_layout_format(from.layout, source),
             pdnn_onednn_layout_format(to.layout, target));
    pdnn_onednn_append(compile->program, &call, &exec);
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
