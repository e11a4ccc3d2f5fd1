/* Calls that run a primitive, and explicit reorders between slots. */
#ifndef RUNTIME_BACKENDS_ONEDNN_CALL_H
#define RUNTIME_BACKENDS_ONEDNN_CALL_H

#include "runtime/backends/onednn/compile.h"
#include "runtime/backends/onednn/library/primitive.h"

/* A primitive and the slots it works on. */
struct pdnn_onednn_exec {
    struct pdnn_onednn_primitive *primitive;
    uint32_t slot[PDNN_ONEDNN_ARG_COUNT]; /* by argument, or PDNN_NONE */
    uint32_t summand;                     /* slot whose memory and contents DST takes over, or PDNN_NONE */
    int64_t threads;                      /* for clearing what the primitive accumulates into */
    /* Slots from which SCALE and BIAS are computed before each run, or PDNN_NONE. The primitive adds the bias
     * to sums of int8 products and multiplies afterwards, so the bias is divided beforehand. */
    uint32_t x_scale, w_scale;
};

/* A call with all slots set to PDNN_NONE. */
struct pdnn_onednn_exec pdnn_onednn_exec_of(struct pdnn_onednn_primitive *primitive);

/* For an int8 product with an f32 result: sets the slots of its scales. Otherwise does nothing. */
void pdnn_onednn_exec_scale(struct pdnn_onednn_exec *exec, const struct pdnn_node *node);

/* Appends a call that runs the primitive, which it takes over, and makes a slot for its scratchpad. Gradients
 * that a recurrent layer accumulates into are cleared first. */
void pdnn_onednn_append(struct pdnn_program *program, struct pdnn_call *call,
                        const struct pdnn_onednn_exec *exec);

/* A layout of a tensor, and the slot that holds the tensor in it. */
struct pdnn_onednn_place {
    const struct pdnn_onednn_layout *layout;
    uint32_t slot;
};

/* A call that moves a tensor, or casts it, from one place to the other. */
enum pdnn_status pdnn_onednn_exec_reorder(const struct pdnn_onednn_compile *compile,
                                          struct pdnn_onednn_place from, struct pdnn_onednn_place to,
                                          struct pdnn_onednn_exec *exec, struct pdnn_err *err);

/* Appends an explicit reorder of the tensor between two slots. */
enum pdnn_status pdnn_onednn_append_reorder(struct pdnn_onednn_compile *compile, uint32_t tensor,
                                            enum pdnn_pass pass, struct pdnn_onednn_place from,
                                            struct pdnn_onednn_place to, struct pdnn_err *err);

/* A tensor that a primitive reads or writes: the layout in which it is stored and the one that the primitive
 * uses. If these differ, the primitive works on a copy, with an explicit reorder before or after it. */
struct pdnn_onednn_operand {
    uint32_t tensor;
    uint32_t slot; /* the tensor's own slot or the copy's; PDNN_NONE: no such operand */
    const struct pdnn_onednn_layout *stored, *used; /* used is NULL if it is the same as stored */
};

/* Finds or makes the slot. Tensor and layouts must be set. */
void pdnn_onednn_operand_place(struct pdnn_onednn_operand *operand, struct pdnn_program *program);

bool pdnn_onednn_operand_is_copy(const struct pdnn_onednn_operand *operand);

/* If the operand is a copy, appends the reorder to or from it, for the pass. */
enum pdnn_onednn_move { PDNN_ONEDNN_FETCH, PDNN_ONEDNN_STORE };
enum pdnn_status pdnn_onednn_operand_move(const struct pdnn_onednn_operand *operand,
                                          struct pdnn_onednn_compile *compile, enum pdnn_pass pass,
                                          enum pdnn_onednn_move move, struct pdnn_err *err);

#endif
