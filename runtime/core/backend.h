/* The interface between the runtime and the code that computes. A backend turns a graph into a program: steps
 * in order, each with its implementation's name, over slots whose sizes it decides; the runtime packs the
 * slots into one block, binds the steps to it and runs them. Backends own layouts, primitives and scratch;
 * they never allocate tensor memory. */
#ifndef RUNTIME_CORE_BACKEND_H
#define RUNTIME_CORE_BACKEND_H

#include "base/arena.h"
#include "models/graph.h"
#include "models/isa.h"
#include "runtime/facts/visit.h"

enum { PDNN_STEP_SLOTS = 16 };

/* Storage of one value. Slot i < graph->n_tensors is the home of tensor i; more may follow: reordered copies,
 * scratch. N minibatch, C channels, H W height and width. */
struct pdnn_slot {
    /* In the backend's layout, padding included. 0, of a tensor: its value is nowhere, because the backend
     * keeps something of its own instead that only its own steps read. */
    uint64_t bytes;
    bool resident; /* keeps its content from step to step */
    /* Of images (N, C, H, W): 0: row-major; else b for (N, C/b rounded up, H, W, b), padded with channels of
     * zeros, where b = C stores the channels last. */
    int64_t channel_block;
    /* Of int8 that a backend keeps as unsigned bytes: what is added to each value. */
    int32_t zero_point;
};

/* Something that runs. state is the backend's; destroyed with the program. */
struct pdnn_work {
    void *state;
    /* Once, before the first run: memory[i] is the address of slot i (64-byte aligned). */
    enum pdnn_status (*bind)(void *state, void *const *memory, struct pdnn_err *err);
    /* 0, or the library's error code. Allocates nothing, locks nothing, prints nothing. */
    int (*run)(void *state);
    void (*destroy)(void *state); /* may be NULL */
};

struct pdnn_step {
    uint32_t node;                                 /* of the graph, or PDNN_NONE: an explicit reorder */
    uint32_t tensor;                               /* reorder: which tensor it moves */
    enum pdnn_pass pass;                           /* reorder: the pass of the node it serves */
    char implementation[PDNN_IMPLEMENTATION_TEXT]; /* whose it is and its name: "onednn:x64:gemm:jit ..." */
    int n_slots;
    uint32_t slot[PDNN_STEP_SLOTS]; /* everything it reads or writes */
    uint64_t reorder_bytes;         /* reorder: bytes read and written */
    bool is_slow;                   /* runs only because slow steps are allowed */
    bool sums_in_place;             /* output 0 may be written over what a post of the node adds to it */
    struct pdnn_work work;
};

struct pdnn_program {
    struct pdnn_arena arena;
    const struct pdnn_graph *graph; /* borrowed */
    /* Set before it is filled: */
    bool keep_all;    /* nothing may take over another value's memory */
    bool keeps_plain; /* every tensor's home slot is plain */
    bool allow_slow;  /* what has no fast path runs all the same, and its steps say so */
    /* A program of another graph that works on the same weights and state (models/sharing.h) in the same
     * memory, so that their layouts are its; until this one is filled. PDNN_UNSUPPORTED where it keeps them
     * in a form that no reorder can read and this one needs another. */
    const struct pdnn_program *like;
    bool opens_weights; /* for such programs: weights are kept in no form that a reorder cannot read */
    struct pdnn_slot *slots;
    struct pdnn_step *steps;
    size_t n_slots, n_steps, slot_room, step_room;
    void *layouts; /* the backend's own, for put and get; in the arena or freed by release */
    void (*release)(void *layouts);
};

/* A program whose slots 0..n_tensors-1 have the tensors' plain sizes and residency. */
enum pdnn_status pdnn_program_init(struct pdnn_program *program, const struct pdnn_graph *graph,
                                   struct pdnn_err *err);
void pdnn_program_finish(struct pdnn_program *program);
/* Appends a slot or a copy of the step. On failure nothing was appended and the caller still owns step->work.
 */
enum pdnn_status pdnn_program_slot(struct pdnn_program *program, uint64_t bytes, bool resident,
                                   uint32_t *slot, struct pdnn_err *err);
enum pdnn_status pdnn_program_step(struct pdnn_program *program, const struct pdnn_step *step,
                                   struct pdnn_err *err);
/* Whether the plan will let the node's output 0 continue the memory of the tensor, which one of its posts
 * adds, since nobody needs that value any more. The slots have their final sizes; the step of the node is the
 * first to use the output's, and sums in place. */
bool pdnn_program_takes_over(const struct pdnn_program *program, uint32_t node, uint32_t tensor);

struct pdnn_backend_def {
    const char *name;
    const char *help;
    /* "oneDNN 2.6.3 (avx2)": static or in the library. */
    const char *(*version)(void);
    /* For instances with isa other than default; both NULL where the backend has no such choice.
     * isa_variable: "NAME=value" for the environment of a process that is to use no more than the isa, or
     * NULL where it needs none. limit_isa: in that process, once, before
     * the backend is opened. PDNN_UNSUPPORTED where the library does not know the isa or does not keep to it.
     */
    const char *(*isa_variable)(enum pdnn_isa isa);
    enum pdnn_status (*limit_isa)(enum pdnn_isa isa, struct pdnn_err *err);
    /* Ready to compile for this many threads; the OpenMP pool is set to it already. cache_bytes: what the
     * last cache level was found to hold for them together, 0: nobody has looked. */
    enum pdnn_status (*open)(int64_t threads, uint64_t cache_bytes, void **state, struct pdnn_err *err);
    void (*close)(void *state);
    /* Fills an initialised program. PDNN_UNSUPPORTED with the library's reason when an op, a pass, a dtype or
     * a fused post-op cannot be done, or not fast where slow steps are not allowed. May measure candidates;
     * what it found for a shape is kept in state. */
    enum pdnn_status (*compile)(void *state, const struct pdnn_graph *graph, struct pdnn_program *program,
                                struct pdnn_err *err);
    /* Between a plain row-major array of the tensor's dtype and the tensor's home slot. NULL: the slot is
     * plain. get is PDNN_UNSUPPORTED of weights that inference has in a form which a library keeps to itself.
     */
    enum pdnn_status (*put)(void *state, const struct pdnn_program *program, uint32_t tensor,
                            const void *plain, void *memory, struct pdnn_err *err);
    enum pdnn_status (*get)(void *state, const struct pdnn_program *program, uint32_t tensor,
                            const void *memory, void *plain, struct pdnn_err *err);
    /* Whether the tensor's home slot is plain, so that data can be made right there. NULL: as put is NULL. */
    bool (*is_plain)(const struct pdnn_program *program, uint32_t tensor);
};

/* All backends in the order of the build's list (the order of pdnn_backend_names), NULL-terminated. Defined
 * by the worker's program, which alone links them all. */
extern const struct pdnn_backend_def *const pdnn_backends[];

#endif
