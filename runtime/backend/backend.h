/* The interface between the runtime and the code that computes. A backend turns a graph into a program: an
 * ordered list of calls, each with the name of its implementation, over slots whose sizes the backend
 * decides. The runtime packs the slots into one block, binds the calls to it and runs them. Backends own
 * layouts, primitives and scratch; they never allocate tensor memory. */
#ifndef RUNTIME_BACKEND_BACKEND_H
#define RUNTIME_BACKEND_BACKEND_H

#include "base/arena.h"
#include "models/graph.h"
#include "models/isa.h"
#include "models/users.h"
#include "runtime/host/host.h"
#include "runtime/protocol/visit.h"

struct pdnn_tune;

enum { PDNN_CALL_SLOTS = 32 };

/* Storage of one value. Slot i < graph->n_tensors is the home of tensor i; reordered copies and scratch may
 * follow. N minibatch, C channels, H W height and width. */
struct pdnn_slot {
    /* In the backend's layout, with padding. A tensor of 0 bytes is not stored: the backend keeps its own
     * form of the value, which only its own calls read. */
    uint64_t bytes;
    bool resident; /* keeps its content from step to step */
    /* For images (N, C, H, W). 0: row-major. b: (N, ceil(C/b), H, W, b), the last block padded with zero
     * channels; b = C is channels-last. */
    int64_t channel_block;
    /* For int8 stored as unsigned bytes: the offset added to each value. */
    int32_t zero_point;
};

/* An executable call. state belongs to the backend and is destroyed with the program. */
struct pdnn_work {
    void *state;
    /* Called before the first run, and again where memory moves or weights are given new values: what the
     * call has made of those, it makes again. memory[i] is the address of slot i (64-byte aligned). What
     * fails here, fails in run. */
    void (*bind)(void *state, void *const *memory);
    /* Returns 0 or the library's error code. Must not allocate, lock or print. */
    int (*run)(void *state);
    void (*destroy)(void *state); /* may be NULL */
};

struct pdnn_call {
    uint32_t node;                                 /* in the graph; PDNN_NONE: an explicit reorder */
    uint32_t tensor;                               /* reorder: the tensor it moves */
    enum pdnn_pass pass;                           /* reorder: the pass of the node it serves */
    char implementation[PDNN_IMPLEMENTATION_TEXT]; /* prefixed by whose it is: "onednn:x64:gemm:jit ..." */
    int n_slots;
    uint32_t slot[PDNN_CALL_SLOTS]; /* everything it reads or writes */
    uint64_t reorder_bytes;         /* reorder: bytes read and written */
    bool is_reference;              /* a library runs its reference code: slow, and nobody asked for it */
    bool is_slow;                   /* runs only because the options allow slow calls */
    bool is_view;                   /* does nothing: output 0 is input 0 */
    bool sums_in_place;             /* output 0 may overwrite the tensor that a post of the node adds to it */
    struct pdnn_extra_traffic extra;
    struct pdnn_work work;
};

struct pdnn_program {
    struct pdnn_arena arena;
    const struct pdnn_graph *graph; /* borrowed */
    struct pdnn_users users;        /* of the graph's tensors */
    /* Options, set before compile: */
    bool keep_all;        /* slots share no memory */
    bool keeps_plain;     /* every tensor's home slot is plain */
    bool allow_slow;      /* run ops without a fast path too; their calls are marked is_slow */
    bool spares_memory;   /* of the ways that the graph leaves open, take those that need less memory */
    uint64_t trial_bytes; /* most that measuring candidates may hold at a time */
    /* A program of another graph that shares weights and state with this one (models/sharing.h), in the same
     * memory and therefore with the same layouts. Only valid during compile. PDNN_UNSUPPORTED when it keeps
     * weights in a form that reorders cannot read and this program needs another form. */
    const struct pdnn_program *like;
    bool opens_weights; /* keep weights in forms that such programs can reorder */
    struct pdnn_slot *slots;
    struct pdnn_call *calls;
    size_t n_slots, n_calls, slot_room, call_room;
    bool could_spare; /* with spares_memory it would need less */
    bool is_untried;  /* some choice was made without measuring, because trial_bytes was too small for it */
    void *layouts;    /* the backend's, for put and get; in the arena, or freed by release */
    void (*release)(void *layouts);
};

/* Initialises a program whose slots 0..n_tensors-1 have the tensors' plain sizes and residency. */
void pdnn_program_init(struct pdnn_program *program, const struct pdnn_graph *graph);
void pdnn_program_finish(struct pdnn_program *program);
/* Append a slot, which is returned, or a copy of the call, which takes over call->work. */
uint32_t pdnn_program_slot(struct pdnn_program *program, uint64_t bytes, bool resident);
void pdnn_program_call(struct pdnn_program *program, const struct pdnn_call *call);
/* Binds all calls to the slots' memory. */
void pdnn_program_bind(const struct pdnn_program *program, void *const *memory);
/* What a visit says of it: PDNN_FLAG_REF, _SLOW, _UNTRIED. */
unsigned pdnn_program_flags(const struct pdnn_program *program);
/* Whether the plan will place the node's output 0 in the memory of the tensor, which one of the node's posts
 * adds and nothing reads later. Assumes that slots have their final sizes and that the node's call is the
 * first to use the output's slot, and sums in place. */
bool pdnn_program_takes_over(const struct pdnn_program *program, uint32_t node, uint32_t tensor);

/* What calls count on. */
struct pdnn_call_options {
    int64_t threads;
    /* Of the last-level caches that these threads reach together, as measured or else as reported; and as
     * reported, which is the same in every process on this host. */
    uint64_t cache_bytes, reported_bytes;
};

/* measured_bytes: 0: not measured. */
struct pdnn_call_options pdnn_call_options(const struct pdnn_host *host, int64_t threads,
                                           uint64_t measured_bytes);

struct pdnn_backend_def {
    const char *name;
    const char *help;
    bool is_reference; /* slow by design: no roof, and what others are checked against */
    /* "oneDNN 2.6.3 (avx2), build c740ed96491c": two builds of one version are two. Static. */
    const char *(*version)(void);
    /* The path of the library that does the work, as it was loaded; NULL: there is none but this program.
     * Static. */
    const char *(*path)(void);
    /* The instruction set that the library makes use of, under the limit: "avx2"; NULL: it has none to tell.
     * Static. */
    const char *(*effective_isa)(void);
    /* Both are NULL when the backend has no choice of instruction sets. isa_variable returns the "NAME=value"
     * that must be in the environment of the process to cap them at the isa, or, with isa default, for the
     * library to make the best of this processor; NULL when none is needed. limit_isa is called once in that
     * process, for an isa other than default and before the backend is opened; PDNN_UNSUPPORTED when the
     * library does not know the isa or does not respect it. */
    const char *(*isa_variable)(const struct pdnn_host *host, enum pdnn_isa isa);
    enum pdnn_status (*limit_isa)(enum pdnn_isa isa, struct pdnn_err *err);
    /* Whether this is a variable of the library whose value it does not know or cannot follow; NULL: there is
     * none. Called after limit_isa. */
    bool (*ignores)(const char *name, const char *value);
    /* Prepares to compile for the threads of the options; the OpenMP pool already has that size. */
    enum pdnn_status (*open)(const struct pdnn_call_options *options, void **state, struct pdnn_err *err);
    void (*close)(void *state);
    /* Where the backend keeps what it measures to choose between implementations; NULL: it never does. */
    struct pdnn_tune *(*tune)(void *state);
    /* Fills an initialised program. PDNN_UNSUPPORTED, with the library's reason, when an op, pass, dtype or
     * fused post-op is not available, or has no fast path and slow calls are not allowed. May measure
     * candidates within the program's trial_bytes; results per shape are kept in state. */
    enum pdnn_status (*compile)(void *state, const struct pdnn_graph *graph, struct pdnn_program *program,
                                struct pdnn_err *err);
    /* Convert between a plain row-major array of the tensor's dtype and the tensor's home slot. NULL:
     * the slot is plain. get returns PDNN_UNSUPPORTED for inference weights that a library keeps in
     * an opaque form. */
    enum pdnn_status (*put)(void *state, const struct pdnn_program *program, uint32_t tensor,
                            const void *plain, void *memory, struct pdnn_err *err);
    enum pdnn_status (*get)(void *state, const struct pdnn_program *program, uint32_t tensor,
                            const void *memory, void *plain, struct pdnn_err *err);
    /* Whether the tensor's home slot is plain, so that data can be generated in place. NULL: plain if
     * put is NULL. */
    bool (*is_plain)(const struct pdnn_program *program, uint32_t tensor);
};

/* All backends in build order (the order of pdnn_backend_names), NULL-terminated. Defined by the worker
 * program, the only one that links them all. */
extern const struct pdnn_backend_def *const pdnn_backends[];

#endif
