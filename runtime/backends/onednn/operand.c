#include "runtime/backends/onednn/operand.h"

enum pdnn_status pdnn_onednn_operand_place(struct pdnn_onednn_operand *operand, struct pdnn_program *program,
                                           struct pdnn_err *err) {
    operand->slot = operand->tensor;
    if (!operand->used || pdnn_onednn_layout_equal(operand->stored, operand->used))
        return PDNN_OK;
    return pdnn_program_slot(program, pdnn_onednn_layout_bytes(operand->used), false, &operand->slot, err);
}

void pdnn_onednn_operand_finish(struct pdnn_onednn_operand *operand) {
    pdnn_onednn_layout_destroy(operand->stored);
    pdnn_onednn_layout_destroy(operand->used);
    *operand = (struct pdnn_onednn_operand){.tensor = PDNN_NONE, .slot = PDNN_NONE};
}

bool pdnn_onednn_operand_is_copy(const struct pdnn_onednn_operand *operand) {
    return operand->slot != operand->tensor;
}

enum pdnn_status pdnn_onednn_operand_fetch(const struct pdnn_onednn_operand *operand,
                                           struct pdnn_onednn_compile *compile, enum pdnn_pass pass,
                                           struct pdnn_err *err) {
    const struct pdnn_onednn_place stored = {operand->stored, operand->tensor},
                                   used = {operand->used, operand->slot};
    if (!pdnn_onednn_operand_is_copy(operand))
        return PDNN_OK;
    return pdnn_onednn_append_reorder(compile, operand->tensor, pass, stored, used, err);
}

enum pdnn_status pdnn_onednn_operand_store(const struct pdnn_onednn_operand *operand,
                                           struct pdnn_onednn_compile *compile, enum pdnn_pass pass,
                                           struct pdnn_err *err) {
    const struct pdnn_onednn_place stored = {operand->stored, operand->tensor},
                                   used = {operand->used, operand->slot};
    if (!pdnn_onednn_operand_is_copy(operand))
        return PDNN_OK;
    return pdnn_onednn_append_reorder(compile, operand->tensor, pass, used, stored, err);
}
