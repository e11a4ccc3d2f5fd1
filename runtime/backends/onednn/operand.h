/* A tensor that a primitive reads or writes: the layout in which it is stored and the one that the primitive
 * uses. If these differ, the primitive works on a copy, with an explicit reorder before or after it. */
#ifndef RUNTIME_BACKENDS_ONEDNN_OPERAND_H
#define RUNTIME_BACKENDS_ONEDNN_OPERAND_H

#include "runtime/backends/onednn/step.h"

struct pdnn_onednn_operand {
    uint32_t tensor;
    uint32_t slot; /* the tensor's own slot or the copy's; PDNN_NONE: no such operand */
    struct pdnn_onednn_layout *stored, *used; /* owned; used is NULL if it is the same as stored */
};

/* Finds or makes the slot. Tensor and layouts must be set. */
enum pdnn_status pdnn_onednn_operand_place(struct pdnn_onednn_operand *operand, struct pdnn_program *program,
                                           struct pdnn_err *err);
void pdnn_onednn_operand_finish(struct pdnn_onednn_operand *operand);

bool pdnn_onednn_operand_is_copy(const struct pdnn_onednn_operand *operand);

/* If the operand is a copy, these append the reorder to or from it, for the pass. */
enum pdnn_status pdnn_onednn_operand_fetch(const struct pdnn_onednn_operand *operand,
                                           struct pdnn_onednn_compile *compile, enum pdnn_pass pass,
                                           struct pdnn_err *err);
enum pdnn_status pdnn_onednn_operand_store(const struct pdnn_onednn_operand *operand,
                                           struct pdnn_onednn_compile *compile, enum pdnn_pass pass,
                                           struct pdnn_err *err);

#endif
