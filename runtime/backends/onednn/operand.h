/* What a primitive reads or writes: a tensor, in which layout it is stored and which one the primitive uses.
 * Where these differ, the primitive works on a copy, with an explicit reorder before or after it. */
#ifndef RUNTIME_BACKENDS_ONEDNN_OPERAND_H
#define RUNTIME_BACKENDS_ONEDNN_OPERAND_H

#include "runtime/backends/onednn/step.h"

struct pdnn_onednn_operand {
    uint32_t tensor;
    uint32_t slot;                            /* the tensor's own or the copy's; PDNN_NONE: no such operand */
    struct pdnn_onednn_layout *stored, *used; /* owned; used is NULL where it is the stored one */
};

/* Finds the slot, given tensor and layouts. */
enum pdnn_status pdnn_onednn_operand_place(struct pdnn_onednn_operand *operand, struct pdnn_program *program,
                                           struct pdnn_err *err);
void pdnn_onednn_operand_finish(struct pdnn_onednn_operand *operand);

bool pdnn_onednn_operand_is_copy(const struct pdnn_onednn_operand *operand);

/* Append the reorder, for a pass, where the operand is a copy. */
enum pdnn_status pdnn_onednn_operand_fetch(const struct pdnn_onednn_operand *operand,
                                           struct pdnn_onednn_compile *compile, enum pdnn_pass pass,
                                           struct pdnn_err *err);
enum pdnn_status pdnn_onednn_operand_store(const struct pdnn_onednn_operand *operand,
                                           struct pdnn_onednn_compile *compile, enum pdnn_pass pass,
                                           struct pdnn_err *err);

#endif
