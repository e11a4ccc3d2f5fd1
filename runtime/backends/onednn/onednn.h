/* The backend `onednn`: its state, and what its files share. Dense and convolution passes and their post-ops
 * run as oneDNN primitives; what oneDNN lacks or does slower than our own kernels runs those: elementwise ops
 * too, where it is up to 10 times slower in the caches and reads its results for ownership beyond them.
 * Weights of dense ops lie in the layout that makes the whole step fastest (dense/tune.h), those of
 * convolutions as their forward pass asks for; all images between ops in the one layout that most
 * convolutions ask for; all other tensors are plain row-major. Images are tensors (N, C, H, W): N minibatch,
 * C channels, H W height and width. */
#ifndef RUNTIME_BACKENDS_ONEDNN_ONEDNN_H
#define RUNTIME_BACKENDS_ONEDNN_ONEDNN_H

#include "runtime/steps/options.h"
#include "runtime/backends/onednn/dense/tune.h"
#include "runtime/backends/onednn/matmul/ways.h"
#include "runtime/backends/onednn/library/library.h"
#include "runtime/backends/onednn/rnn/tune.h"
#include "runtime/steps/steps.h"
#include "runtime/core/backend.h"

extern const struct pdnn_backend_def pdnn_backend_onednn;

struct pdnn_onednn {
    struct pdnn_onednn_library *library;
    struct pdnn_step_options own;
    struct pdnn_choices choices;
    struct pdnn_recurrences recurrences;
    struct pdnn_heads_choices heads;
};

/* How a recurrent layer runs, and what its passes share. */
struct pdnn_onednn_recurrence {
    bool is_fused;      /* as the library's primitive, in all passes */
    bool is_measured;   /* rather than asked for */
    uint32_t bias;      /* fused: the slot of one bias vector per gate */
    uint32_t workspace; /* fused: the slot of what training forward leaves, or PDNN_NONE */
    uint32_t state;     /* fused: the slot of zeros that training begins with, or PDNN_NONE */
};

/* What stays of a compilation, as a program's layouts: for put and get, and for programs that share weights.
 */
struct pdnn_onednn_layouts {
    size_t n_tensors;
    struct pdnn_onednn_layout **home;          /* by tensor; NULL: plain row-major */
    struct pdnn_onednn_recurrence *recurrence; /* by tensor: of what a forward rnn node returns */
};

/* One compilation. */
struct pdnn_onednn_compile {
    struct pdnn_onednn *onednn;
    struct pdnn_program *program;
    struct pdnn_steps steps;                   /* how nodes are compiled: rows of ours first */
    struct pdnn_onednn_layout **home;          /* by tensor; NULL: plain row-major */
    const struct pdnn_dense_choice **choice;   /* by tensor; NULL: not the weights of a dense op */
    struct pdnn_onednn_recurrence *recurrence; /* by tensor: of what a forward rnn node returns */
    bool is_slow; /* some op of 16 bit runs on f32 copies (runtime/steps/upcast.h), which are plain: so are
                   * all images
                   */
};

/* tensor_layout.c: where the program shares weights and state with one that was compiled before, they live as
 * there, and nothing moves them from there. */
enum pdnn_status pdnn_onednn_adopt_homes(struct pdnn_onednn_compile *compile, struct pdnn_err *err);

/* What the library's layouts have for the tensor: int8 that is no weight lies as u8, which its products of
 * int8 take several times faster than s8 on processors without VNNI. */
enum pdnn_dtype pdnn_onednn_dtype_of(const struct pdnn_tensor *tensor);

/* Chooses for all weights of dense ops; fills home and choice and sets the slots' sizes. */
enum pdnn_status pdnn_onednn_place_weights(struct pdnn_onednn_compile *compile, struct pdnn_err *err);

/* Decides how each recurrent layer runs; where it is as the library's primitive, its weights get homes, and
 * what forward saves for backward is the library's own: the tensor of the graph has no memory then. */
enum pdnn_status pdnn_onednn_place_recurrent(struct pdnn_onednn_compile *compile, struct pdnn_err *err);

/* Chooses for all images, and for the weights of convolutions; fills home and sets the slots' sizes and
 * channel blocks. */
enum pdnn_status pdnn_onednn_place_images(struct pdnn_onednn_compile *compile, struct pdnn_err *err);

/* Of a node of 16 bit that the library does not do fast: PDNN_OK where that may be slow, else
 * PDNN_UNSUPPORTED with what is missing. */
enum pdnn_status pdnn_onednn_check_slow(const struct pdnn_onednn_compile *compile,
                                        const struct pdnn_node *node, struct pdnn_err *err);
/* Appends the step of such a node on f32 copies. */
enum pdnn_status pdnn_onednn_compile_slow(struct pdnn_onednn_compile *compile, uint32_t node,
                                          struct pdnn_err *err);

/* Append the node's step, and reorders it needs. */
enum pdnn_status pdnn_onednn_compile_dense(struct pdnn_onednn_compile *compile, uint32_t node,
                                           struct pdnn_err *err);
enum pdnn_status pdnn_onednn_compile_cast(struct pdnn_onednn_compile *compile, uint32_t node,
                                          struct pdnn_err *err);
enum pdnn_status pdnn_onednn_compile_convolution(struct pdnn_onednn_compile *compile, uint32_t node,
                                                 struct pdnn_err *err);
enum pdnn_status pdnn_onednn_compile_heads(struct pdnn_onednn_compile *compile, uint32_t node,
                                           struct pdnn_err *err);
enum pdnn_status pdnn_onednn_compile_recurrent(struct pdnn_onednn_compile *compile, uint32_t node,
                                               struct pdnn_err *err);

/* tensor_layout.c: where tensors live. Gives the tensor a layout of its own unless that is the plain one. */
enum pdnn_status pdnn_onednn_set_home(struct pdnn_onednn_compile *compile, uint32_t tensor,
                                      const struct pdnn_onednn_layout *layout, struct pdnn_err *err);
/* The same for weights, with their gradients and the optimizer's state: updates need one layout for all.
 * Nothing happens where they adopted their homes, or where the layout is the library's secret and others than
 * this step's forward pass have to know it: other passes, updates, or other programs. */
enum pdnn_status pdnn_onednn_set_weights_home(struct pdnn_onednn_compile *compile, uint32_t weights,
                                              const struct pdnn_onednn_layout *layout, struct pdnn_err *err);
/* A copy of the tensor's layout, to be destroyed by the caller; the plain one where it has none of its own.
 */
enum pdnn_status pdnn_onednn_copy_home(const struct pdnn_onednn_compile *compile, uint32_t tensor,
                                       struct pdnn_onednn_layout **layout, struct pdnn_err *err);
/* Whether its elements lie row-major, be that called so or not: an image of one pixel does where its channels
 * fill their blocks. */
bool pdnn_onednn_is_plain(const struct pdnn_program *program, struct pdnn_onednn_layout *const *home,
                          uint32_t tensor);
/* Whether weights must stay plain, since other ops use them than those which take any layout. */
bool pdnn_onednn_is_pinned(const struct pdnn_graph *graph, uint32_t weights);

/* A primitive and the slots it works on. */
struct pdnn_onednn_call {
    struct pdnn_onednn_primitive *primitive;
    uint32_t slot[PDNN_ONEDNN_ARG_COUNT]; /* by argument, or PDNN_NONE */
    uint32_t summand;                     /* the slot whose memory and value DST takes over, or PDNN_NONE */
    int64_t threads;                      /* that may clear what the primitive adds to */
    /* The slots of what SCALE and BIAS are made from before each run, or PDNN_NONE: the primitive adds the
     * bias to sums of int8 products and multiplies then, so that the bias it gets is one divided before. */
    uint32_t x_scale, w_scale;
};

/* Without any slot. */
struct pdnn_onednn_call pdnn_onednn_call_of(struct pdnn_onednn_primitive *primitive);

/* Of a product of int8 that gives f32; else nothing happens. */
void pdnn_onednn_call_scale(struct pdnn_onednn_call *call, const struct pdnn_node *node);

/* Appends a step that runs the primitive; makes a slot for its scratchpad. What a recurrent layer adds its
 * gradients to begins as 0. The primitive belongs to the step,
 * or is destroyed when this fails. */
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
