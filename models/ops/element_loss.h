/* Shared by the losses that are a mean over elements, each with a target of its own. A loss's own file holds
 * only its formula, as a struct pdnn_element_loss; the rest is here. */
#ifndef MODELS_OPS_ELEMENT_LOSS_H
#define MODELS_OPS_ELEMENT_LOSS_H

#include "models/op.h"

struct pdnn_element_loss {
    double (*value)(double x, double target);
    double (*gradient)(double x, double target); /* by x */
    bool has_labels;                             /* targets are s32; else f32 with the shape of x */
    int forward_flop, backward_flop;             /* per element, with the sum and the scale */
};

/* The fields that these losses' definitions share; name, formula, operands and .element_loss come on top. */
#define PDNN_ELEMENT_LOSS                                                                                    \
    PDNN_LOSS,                                                                                               \
        .outputs = {"loss"}, .infer = pdnn_element_loss_infer, .gradient = pdnn_element_loss_gradient,       \
        .summed = PDNN_SUMMED_ALL,                                                                           \
        .pass = {[PDNN_FORWARD] = {.flop = pdnn_element_loss_flop, .reference = pdnn_element_loss_forward},  \
                 [PDNN_BACKWARD_DATA] = {.flop = pdnn_element_loss_flop,                                     \
                                         .reference = pdnn_element_loss_backward,                            \
                                         .in_place = 1}}

enum pdnn_status pdnn_element_loss_infer(const struct pdnn_graph *graph, const struct pdnn_node *node,
                                         struct pdnn_tensor *outputs, struct pdnn_err *err);

/* Of x alone: a target that weights lead to is refused. */
void pdnn_element_loss_gradient(struct pdnn_backward *backward, const struct pdnn_node *node);

/* By element, and forward one division for the mean. */
void pdnn_element_loss_flop(const struct pdnn_graph *graph, const struct pdnn_node *node,
                            struct pdnn_count *count);
void pdnn_element_loss_forward(struct pdnn_reference *r);
void pdnn_element_loss_backward(struct pdnn_reference *r);

#endif
