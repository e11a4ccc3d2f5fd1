/* The backend `onednn`: its state, and what its files share. Dense passes and their post-ops run as oneDNN
 * primitives; what oneDNN lacks or does slower than our own kernels runs those: elementwise ops too, where
 * it is up to 10 times slower in the caches and reads its results for ownership beyond them. Weights lie in
 * the layout that makes the whole step fastest (choose.h); all other tensors are plain row-major. */
#ifndef RUNTIME_BACKENDS_ONEDNN_ONEDNN_H
#define RUNTIME_BACKENDS_ONEDNN_ONEDNN_H

#include "runtime/backends/common/own.h"
#include "runtime/backends/onednn/choose.h"
#include "runtime/backends/onednn/library.h"
#include "runtime/core/backend.h"

extern const struct pdnn_backend_def pdnn_backend_onednn;

struct pdnn_onednn {
    struct pdnn_onednn_library *library;
    struct pdnn_own_options own;
    struct pdnn_choices choices;
};

/* One compilation. */
struct pdnn_onednn_compile {
    struct pdnn_onednn *onednn;
    struct pdnn_program *program;
    struct pdnn_onednn_layout **home;        /* by tensor; NULL: plain row-major */
    const struct pdnn_dense_choice **choice; /* by tensor; NULL: not the weights of a dense op */
};

/* Chooses for all weights of dense ops; fills home and choice and sets the slots' sizes. */
enum pdnn_status pdnn_onednn_place_weights(struct pdnn_onednn_compile *compile, struct pdnn_err *err);

/* Appends the node's step, and reorders it needs. */
enum pdnn_status pdnn_onednn_compile_dense(struct pdnn_onednn_compile *compile, uint32_t node,
                                           struct pdnn_err *err);

/* Appends a step that runs the primitive, on slot[i] for argument i where it has one; makes a slot for its
 * scratchpad. The primitive belongs to the step, or is destroyed when this fails. */
enum pdnn_status pdnn_onednn_append(struct pdnn_program *program, struct pdnn_step *step,
                                    struct pdnn_onednn_primitive *primitive,
                                    const uint32_t slot[PDNN_ONEDNN_SCRATCHPAD], struct pdnn_err *err);

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
