/* Steps of a program that run a primitive, and explicit reorders between two of them. */
#ifndef RUNTIME_BACKENDS_ONEDNN_STEP_H
#define RUNTIME_BACKENDS_ONEDNN_STEP_H

#include "runtime/backends/onednn/compile.h"
#include "runtime/backends/onednn/library/primitive.h"

/* A primitive and the slots it works on. */
struct pdnn_onednn_call {
    struct pdnn_onednn_primitive *primitive;
    uint32_t slot[PDNN_ONEDNN_ARG_COUNT]; /* by argument, or PDNN_NONE */
    uint32_t summand;                     /* the slot whose memory and value DST takes over, or PDNN_NONE */
    int64_t threads;                      /* that may clear what the primitive adds to */
    /* The slots of what SCALE and BIAS are made from before each run, or PDNN_NONE: the primitive adds the
     * bias to sums of int8 products and multiplies afterwards, so the bias is divided beforehand. */
    uint32_t x_scale, w_scale;
};

/* Without any slot. */
struct pdnn_onednn_call pdnn_onednn_call_of(struct pdnn_onednn_primitive *primitive);

/* For an int8 product with a result in f32: names the slots of its scales. Else nothing happens. */
void pdnn_onednn_call_scale(struct pdnn_onednn_call *call, const struct pdnn_node *node);

/* Appends a step that runs the primitive; makes a slot for its scratchpad. What a recurrent layer adds its
 * gradients to begins as 0. The primitive belongs to the step, or is destroyed when this fails. */
enum pdnn_status pdnn_onednn_append(struct pdnn_program *program, struct pdnn_step *step,
                                    const struct pdnn_onednn_call *call, struct pdnn_err *err);

/* A layout of a tensor and the slot that holds it so. */
struct pdnn_onednn_place {
    const struct pdnn_onednn_layout *layout;
    uint32_t slot;
};

/* Appends an explicit reorder of the tensor between two slots. */
enum pdnn_status pdnn_onednn_append_reorder(struct pdnn_onednn_compile *compile, uint32_t tensor,
                                            enum pdnn_pass pass, struct pdnn_onednn_place from,
                                            struct pdnn_onednn_place to, struct pdnn_err *err);

#endif
