/* Plans of one model at several sizes of its data (sequence lengths, minibatches) in one process. They
 * share weights and state: a step of one member continues from the last step of another. All live in one
 * block: shared tensors first, at the same addresses for every member, then the members' private parts,
 * which overlap. A member is prepared when first requested and cached; beyond a bound the least recently
 * used one is dropped. */
#ifndef RUNTIME_PLAN_PLAN_SET_H
#define RUNTIME_PLAN_PLAN_SET_H

#include "runtime/plan/plan.h"

enum { PDNN_PLAN_SET_KEPT = 64 }; /* members kept by default */

/* Where the members' graphs come from. */
struct pdnn_plan_source {
    void *user;
    /* Builds the graph of member `key` in the arena; the set keeps the arena with the member. */
    enum pdnn_status (*build)(void *user, const char *key, struct pdnn_arena *arena, struct pdnn_graph *graph,
                              struct pdnn_err *err);
};

struct pdnn_plan_set_options {
    struct pdnn_plan_options plan; /* of every member; the limit is that of all together */
    size_t kept;                   /* members; 0: PDNN_PLAN_SET_KEPT */
};

struct pdnn_plan_member {
    struct pdnn_plan_member *next; /* next less recently used */
    const char *key;               /* in the arena */
    struct pdnn_arena arena;
    struct pdnn_graph graph;
    struct pdnn_plan plan; /* block_bytes is what it would need alone */
    uint64_t prepare_ns;   /* time to prepare it: graph, program, data */
};

struct pdnn_plan_set {
    const struct pdnn_backend_def *backend;
    void *state; /* the backend's, borrowed */
    struct pdnn_plan_source source;
    struct pdnn_plan_set_options options;
    char *largest;                         /* the key of the first member */
    bool opens_weights;                    /* some member cannot read weights as the first would store them */
    struct pdnn_plan_member *first;        /* the most recently used, or NULL */
    const struct pdnn_plan_member *filled; /* whose private data is in the block, or NULL */
    struct pdnn_example_lengths lengths;   /* that this data was made for */
    unsigned char *block;
    uint64_t room_bytes;   /* how far the block may grow: address space, not memory */
    uint64_t block_bytes;  /* needed by the largest member so far */
    uint64_t shared_bytes; /* weights and state, the first part of the block */
    size_t n_members;      /* currently kept */
    uint64_t n_prepared;   /* preparations so far, repeated ones included */
};

/* Prepares the member `largest` and fills weights and state. The block is sized for this member; twice that
 * in address space is reserved, within the limit, for members whose primitives want more scratch. Call
 * pdnn_plan_set_finish even if this fails. */
enum pdnn_status pdnn_plan_set_init(struct pdnn_plan_set *set, const struct pdnn_backend_def *backend,
                                    void *state, const struct pdnn_plan_source *source, const char *largest,
                                    const struct pdnn_plan_set_options *options, struct pdnn_err *err);
void pdnn_plan_set_finish(struct pdnn_plan_set *set);

/* Returns the member, ready to run, with its own data in the block. Prepares the member if it is not cached,
 * and generates its data if another member's data is there, so never call this inside a sample. *member
 * belongs to the set and is valid until the next call. If the member's primitives cannot read the inference
 * weights as the first member stores them, all members are dropped and the set starts over with weights that
 * all can reorder. lengths: of the step's examples; NULL: drawn. PDNN_INVALID when the member's weights or
 * state differ from the set's. PDNN_TOO_BIG when it does not fit the block; the set is then unchanged. */
enum pdnn_status pdnn_plan_set_get(struct pdnn_plan_set *set, const char *key,
                                   const struct pdnn_example_lengths *lengths,
                                   const struct pdnn_plan_member **member, struct pdnn_err *err);

#endif
