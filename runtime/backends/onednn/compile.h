/* One compilation of a graph: what the files of the backend share while they place tensors and append steps.
 */
#ifndef RUNTIME_BACKENDS_ONEDNN_COMPILE_H
#define RUNTIME_BACKENDS_ONEDNN_COMPILE_H

#include "runtime/backends/onednn/state.h"
#include "runtime/steps/steps.h"

struct pdnn_onednn_layout;
struct pdnn_onednn_dense_choice;
struct pdnn_onednn_rnn_layer;

struct pdnn_onednn_compile {
    struct pdnn_onednn *onednn;
    struct pdnn_program *program;
    struct pdnn_steps steps;            /* how nodes are compiled: this backend's rows first */
    struct pdnn_onednn_layout **layout; /* by tensor (tensor_layout.h); NULL: plain row-major */
    const struct pdnn_onednn_dense_choice *
        *choice;                         /* by tensor (dense/place.h); NULL: not a dense op's weights */
    struct pdnn_onednn_rnn_layer *layer; /* by tensor (rnn/place.h): of what a forward rnn node returns */
    bool has_upcast; /* some op of 16 bit runs on f32 copies (runtime/steps/upcast.h), which are plain: so are
                      * all images */
};

/* What stays of it with the program: for put and get, and for programs that share its weights. */
struct pdnn_onednn_layouts {
    size_t n_tensors;
    struct pdnn_onednn_layout **layout;
    struct pdnn_onednn_rnn_layer *layer;
};

/* For a node of 16 bit for which the library has nothing fast: PDNN_OK where it may be slow, else
 * PDNN_UNSUPPORTED with what is missing. */
enum pdnn_status pdnn_onednn_upcast_check(const struct pdnn_onednn_compile *compile,
                                          const struct pdnn_node *node, struct pdnn_err *err);
/* Appends the step of such a node on f32 copies. */
enum pdnn_status pdnn_onednn_upcast_compile(struct pdnn_onednn_compile *compile, uint32_t node,
                                            struct pdnn_err *err);

#endif
