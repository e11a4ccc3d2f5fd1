/* Plans of one model at several sizes of its data (sequence lengths, minibatches) in one process. They share
 * weights and state: a step of one goes on where the step of another ended. All live in one block: what is
 * shared at the same addresses for all, and behind it, over one another, what each has for itself. Each is
 * prepared when it is first asked for and kept for the next time, up to a bound; the one that was not used
 * for longest goes first. */
#ifndef RUNTIME_CORE_PLAN_SET_H
#define RUNTIME_CORE_PLAN_SET_H

#include "runtime/core/plan.h"

enum { PDNN_PLAN_SET_KEPT = 64 }; /* members kept, unless the options say otherwise */

/* Where the members' graphs come from. */
struct pdnn_plan_source {
    void *user;
    /* Builds the graph of the member `key` in the arena, which the set keeps with the member. */
    enum pdnn_status (*build)(void *user, const char *key, struct pdnn_arena *arena, struct pdnn_graph *graph,
                              struct pdnn_err *err);
};

struct pdnn_plan_set_options {
    uint64_t limit_bytes; /* largest block allowed; 0: no limit */
    uint64_t seed;        /* of the data */
    bool allow_slow;      /* as in struct pdnn_plan_options */
    size_t kept;          /* members; 0: PDNN_PLAN_SET_KEPT */
};

struct pdnn_plan_member {
    struct pdnn_plan_member *next; /* less recently used */
    const char *key;               /* in the arena */
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct pdnn_plan plan; /* its block_bytes: what it would need alone */
    uint64_t prepare_ns;   /* what its preparation took: graph, program, data */
};

struct pdnn_plan_set {
    const struct pdnn_backend_def *backend;
    void *state; /* the backend's, borrowed */
    struct pdnn_plan_source source;
    struct pdnn_plan_set_options options;
    char *largest;                         /* the key of the first member */
    bool opens_weights;                    /* some member cannot read them as the first would like them */
    struct pdnn_plan_member *first;        /* the most recently used, or NULL */
    const struct pdnn_plan_member *filled; /* whose data are in the block, or NULL */
    unsigned char *block;
    uint64_t room_bytes;   /* that the block may grow to: addresses, not memory */
    uint64_t block_bytes;  /* what the largest member so far needs */
    uint64_t shared_bytes; /* of that, weights and state */
    size_t n_members;      /* kept now */
    uint64_t n_prepared;   /* members so far, again those that had gone */
};

/* Prepares the member `largest`: the block is sized for it, with as many addresses again for members whose
 * primitives want more scratch than its own, as far as the limit goes; weights and state are filled. The set
 * is released with pdnn_plan_set_finish, be it whole or not. */
enum pdnn_status pdnn_plan_set_init(struct pdnn_plan_set *set, const struct pdnn_backend_def *backend,
                                    void *state, const struct pdnn_plan_source *source, const char *largest,
                                    const struct pdnn_plan_set_options *options, struct pdnn_err *err);
void pdnn_plan_set_finish(struct pdnn_plan_set *set);

/* The member, ready to run with its own data in the block. Prepares it where it is not kept, and makes its
 * data where another member's are: never call it inside a sample. *member is the set's, until the next call.
 * Where its primitives cannot read the weights of an inference as the first member keeps them, all members go
 * and the set begins again with weights that every one can reorder.
 * PDNN_INVALID when its weights or state are not those of the set; PDNN_TOO_BIG when the block has no room
 * for it: then the set still has all it had. */
enum pdnn_status pdnn_plan_set_get(struct pdnn_plan_set *set, const char *key,
                                   const struct pdnn_plan_member **member, struct pdnn_err *err);

#endif
