/* One compilation of a graph: what the backend's files share while they place tensors and append calls. */
#ifndef RUNTIME_BACKENDS_ONEDNN_COMPILE_H
#define RUNTIME_BACKENDS_ONEDNN_COMPILE_H

#include "runtime/backends/onednn/library/layout.h"
#include "runtime/backends/onednn/state.h"
#include "runtime/lowering/calls.h"

struct pdnn_one_node;
struct pdnn_onednn_dense_choice;
struct pdnn_onednn_rnn_layer;
struct pdnn_onednn_conv2d;

struct pdnn_onednn_compile {
    struct pdnn_onednn *onednn;
    struct pdnn_program *program;
    struct pdnn_onednn_pool *pool;            /* of the program's layouts */
    struct pdnn_calls calls;                  /* how nodes are compiled; this backend's rows come first */
    const struct pdnn_onednn_layout **layout; /* by tensor (tensor_layout.h); NULL: plain row-major */
    /* by tensor (dense/layouts.h); NULL: not the weights of a dense op */
    const struct pdnn_onednn_dense_choice **choice;
    /* by tensor (rnn/layouts.h): set for the y of forward rnn nodes */
    struct pdnn_onednn_rnn_layer *layer;
    struct pdnn_onednn_conv2d **convolution; /* by node (conv2d/implementations.h); NULL: not met yet */
    enum pdnn_onednn_order order;            /* of images */
    /* some 16-bit op runs on f32 copies (runtime/lowering/upcast.h); these are plain, so all images must be
     */
    bool has_upcast;
};

/* The part that the program keeps, for put and get and for programs that share its weights. */
struct pdnn_onednn_layouts {
    struct pdnn_onednn_pool pool;
    const struct pdnn_onednn_layout **layout;
    struct pdnn_onednn_rnn_layer *layer;
};

/* For a 16-bit or int8 node that the library has nothing fast for: PDNN_OK if it may be slow, else
 * PDNN_UNSUPPORTED with what is missing. */
enum pdnn_status pdnn_onednn_upcast_check(const struct pdnn_onednn_compile *compile,
                                          const struct pdnn_node *node, struct pdnn_err *err);
/* Appends the call that runs a 16-bit node on f32 copies. */
enum pdnn_status pdnn_onednn_upcast_compile(struct pdnn_onednn_compile *compile, uint32_t node,
                                            struct pdnn_err *err);

/* Compiles a candidate of a choice, whose implementation is forced; nothing is chosen or upcast in it. */
enum pdnn_status pdnn_onednn_trial_compile(const struct pdnn_onednn_compile *compile,
                                           struct pdnn_one_node *one, struct pdnn_err *err);

#endif
