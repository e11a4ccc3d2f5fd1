#include "runtime/backends/onednn/onednn.h"

#include "models/op.h"
#include "runtime/backends/common/step.h"

#include <stdio.h>
#include <string.h>

struct execution {
    struct pdnn_onednn_primitive *primitive;
    uint32_t slot[PDNN_ONEDNN_ARG_COUNT]; /* by argument, or PDNN_NONE */
};

static enum pdnn_status bind(void *state, void *const *memory, struct pdnn_err *err) {
    struct execution *execution = state;
    enum pdnn_status status = PDNN_OK;
    for (int i = 0; status == PDNN_OK && i < PDNN_ONEDNN_ARG_COUNT; i++) {
        if (execution->slot[i] != PDNN_NONE)
            status = pdnn_onednn_primitive_bind(execution->primitive, (enum pdnn_onednn_arg)i,
                                                memory[execution->slot[i]], err);
    }
    return status;
}

static int run(void *state) {
    const struct execution *execution = state;
    return pdnn_onednn_primitive_run(execution->primitive);
}

static void destroy(void *state) {
    struct execution *execution = state;
    pdnn_onednn_primitive_destroy(execution->primitive);
}

enum pdnn_status pdnn_onednn_append(struct pdnn_program *program, struct pdnn_step *step,
                                    struct pdnn_onednn_primitive *primitive,
                                    const uint32_t slot[PDNN_ONEDNN_SCRATCHPAD], struct pdnn_err *err) {
    uint64_t scratchpad_bytes = pdnn_onednn_primitive_scratchpad_bytes(primitive);
    enum pdnn_status status = PDNN_OK;
    struct execution *execution = pdnn_arena_alloc(&program->arena, 1, sizeof *execution);
    if (!execution) {
        status = pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for a step");
        goto out;
    }
    execution->primitive = primitive;
    memcpy(execution->slot, slot, PDNN_ONEDNN_SCRATCHPAD * sizeof *slot);
    execution->slot[PDNN_ONEDNN_SCRATCHPAD] = PDNN_NONE;
    if (scratchpad_bytes)
        status = pdnn_program_slot(program, scratchpad_bytes, false, &execution->slot[PDNN_ONEDNN_SCRATCHPAD],
                                   err);
    if (status != PDNN_OK)
        goto out;
    for (int i = 0; i < PDNN_ONEDNN_ARG_COUNT; i++) {
        if (execution->slot[i] != PDNN_NONE)
            pdnn_step_use(step, execution->slot[i]);
    }
    step->work = (struct pdnn_work){execution, bind, run, destroy};
    status = pdnn_program_step(program, step, err);
out:
    if (status != PDNN_OK)
        pdnn_onednn_primitive_destroy(primitive);
    return status;
}

enum pdnn_status pdnn_onednn_append_reorder(struct pdnn_onednn_compile *compile, uint32_t tensor,
                                            const struct pdnn_onednn_layout *from, uint32_t from_slot,
                                            const struct pdnn_onednn_layout *to, uint32_t to_slot,
                                            struct pdnn_err *err) {
    struct pdnn_onednn_request request = {.kind = PDNN_ONEDNN_REORDER, .pass = PDNN_FORWARD};
    struct pdnn_onednn_primitive *primitive = NULL;
    struct pdnn_step step = {.node = PDNN_NONE, .tensor = tensor};
    const uint32_t slot[PDNN_ONEDNN_SCRATCHPAD] = {from_slot, PDNN_NONE, PDNN_NONE, to_slot};
    char source[PDNN_ONEDNN_LAYOUT_TEXT], target[PDNN_ONEDNN_LAYOUT_TEXT];
    request.layout[PDNN_ONEDNN_SRC] = from;
    request.layout[PDNN_ONEDNN_DST] = to;
    enum pdnn_status status =
        pdnn_onednn_primitive_create(compile->onednn->library, &request, &primitive, err);
    if (status != PDNN_OK)
        return pdnn_wrap(err, "onednn: reorder of weights");
    step.reorder_bytes = pdnn_onednn_layout_bytes(from) + pdnn_onednn_layout_bytes(to);
    snprintf(step.implementation, sizeof step.implementation, "%.30s %.15s->%.15s",
             pdnn_onednn_primitive_name(primitive), pdnn_onednn_layout_format(from, source),
             pdnn_onednn_layout_format(to, target));
    return pdnn_onednn_append(compile->program, &step, primitive, slot, err);
}

bool pdnn_onednn_function_of(const struct pdnn_op_def *op, enum pdnn_onednn_function *function) {
    static const struct {
        const struct pdnn_op_def *op;
        enum pdnn_onednn_function function;
    } rows[] = {
        {&pdnn_op_relu, PDNN_ONEDNN_RELU},
        {&pdnn_op_sigmoid, PDNN_ONEDNN_SIGMOID},
        {&pdnn_op_tanh, PDNN_ONEDNN_TANH},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].op == op) {
            *function = rows[i].function;
            return true;
        }
    }
    return false;
}
