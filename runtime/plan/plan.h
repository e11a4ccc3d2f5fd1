/* A prepared instance: a program packed into one aligned block, bound, and filled with seeded data. Running a
 * step is one loop over function pointers. */
#ifndef RUNTIME_PLAN_PLAN_H
#define RUNTIME_PLAN_PLAN_H

#include "runtime/backend/backend.h"
#include "runtime/plan/fill.h"

struct pdnn_plan {
    const struct pdnn_backend_def *backend;
    void *state; /* the backend's, borrowed */
    const struct pdnn_graph *graph;
    struct pdnn_program program;
    unsigned char *block;       /* owned; NULL: the memory belongs to a set (plan_set.h) */
    uint64_t block_bytes;       /* total it needs */
    uint64_t *offset;           /* by slot, within the block */
    void **memory;              /* by slot */
    int (*between_calls)(void); /* as in the options */
};

struct pdnn_plan_options {
    /* Of beside_bytes and either what measures candidates or the block with the buffer that its data is made
     * in and read from; 0: no limit. */
    uint64_t limit_bytes;
    uint64_t beside_bytes; /* held meanwhile: to evict caches and to probe */
    uint64_t seed;         /* of the data */
    int64_t rank;          /* whose data (struct pdnn_fill_source) */
    bool allow_slow;       /* run ops without a fast path too */
    /* Called after each call of the program, for what goes on beside it; its code is taken for the call's.
     * NULL: nothing does. */
    int (*between_calls)(void);
    bool keep_all; /* give every slot its own memory, so that each value can be read after a step */
};

/* Compiles, packs, checks the block against the limit (PDNN_TOO_BIG, before allocating it), allocates, binds
 * and fills. graph and state must outlive the plan. *plan is written only on success. */
enum pdnn_status pdnn_plan_create(struct pdnn_plan *plan, const struct pdnn_backend_def *backend, void *state,
                                  const struct pdnn_graph *graph, const struct pdnn_plan_options *options,
                                  struct pdnn_err *err);
/* The same without memory: compiles, packs and checks, as pdnn_plan_create does, but allocates, binds and
 * fills nothing. block is NULL, and the plan cannot run; its calls may be bound to memory of the caller's
 * (call_window.h). */
enum pdnn_status pdnn_plan_outline(struct pdnn_plan *plan, const struct pdnn_backend_def *backend,
                                   void *state, const struct pdnn_graph *graph,
                                   const struct pdnn_plan_options *options, struct pdnn_err *err);
void pdnn_plan_destroy(struct pdnn_plan *plan);

/* Runs one whole step. Returns 0 or the failing call's code. */
int pdnn_plan_run(const struct pdnn_plan *plan);

/* The same; calls `after` after each call of the program, with its number. */
int pdnn_plan_run_watched(const struct pdnn_plan *plan, void (*after)(void *user, size_t call), void *user);

/* The same with a clock read after each call of the program: ns[i] += nanoseconds of call i, less the cost of
 * one read (program.n_calls entries). */
int pdnn_plan_run_stamped(const struct pdnn_plan *plan, uint64_t clock_cost_ns, uint64_t *ns);

/* Whether the plan stores the tensor. What forward saves for backward may exist only in a
 * library's own form. */
bool pdnn_plan_has(const struct pdnn_plan *plan, uint32_t tensor);

/* Whether the tensor lies in plan->memory as a plain row-major array of its dtype. */
bool pdnn_plan_is_plain(const struct pdnn_plan *plan, uint32_t tensor);

/* Copies a tensor that the plan stores to a plain row-major array of its dtype. Tensors that are
 * resident or that nothing reads (results, loss, weights, state) are valid after every step; others
 * only with keep_all. */
enum pdnn_status pdnn_plan_get(const struct pdnn_plan *plan, uint32_t tensor, void *plain,
                               struct pdnn_err *err);

/* The other way round. */
enum pdnn_status pdnn_plan_put(const struct pdnn_plan *plan, uint32_t tensor, const void *plain,
                               struct pdnn_err *err);

/* The stages of creating a plan follow, for code that puts several plans into one block. */

/* Maps zeroed pages, huge ones where the kernel grants them. is_reserve: only touched pages
 * count as memory. */
enum pdnn_status pdnn_block_map(uint64_t bytes, bool is_reserve, unsigned char **block, struct pdnn_err *err);
void pdnn_block_unmap(unsigned char *block, uint64_t bytes);

/* Compiles the program, whose options are set, and packs it: sets block_bytes and offset. Weights and
 * state come first. What does not fit trial_bytes is compiled again to spare memory, if it can be. */
enum pdnn_status pdnn_plan_compile(struct pdnn_plan *plan, struct pdnn_err *err);

/* What the options leave of their limit for the plan and for measuring candidates; UINT64_MAX: no limit. */
uint64_t pdnn_plan_room(const struct pdnn_plan_options *options);

/* PDNN_TOO_BIG unless the compiled plan and the largest buffer that its data passes through fit. */
enum pdnn_status pdnn_plan_check(const struct pdnn_plan *plan, const struct pdnn_plan_options *options,
                                 struct pdnn_err *err);

/* Bytes of the largest tensor that is not plain in the block and therefore made or read in a buffer beside
 * it. */
uint64_t pdnn_plan_moved_bytes(const struct pdnn_plan *plan);

/* Sets the slots' addresses in `memory` (at least block_bytes) and binds the calls. */
void pdnn_plan_bind(struct pdnn_plan *plan, unsigned char *memory);

/* Whether the slot holds weights or state. */
bool pdnn_plan_is_shared(const struct pdnn_plan *plan, size_t slot);

/* Generates a tensor's data at `to`, as the plan stores it; buffer: as large as the tensor, unless that is
 * plain. */
enum pdnn_status pdnn_plan_fill_tensor(const struct pdnn_plan *plan, uint32_t tensor,
                                       const struct pdnn_fill_source *source, void *buffer, void *to,
                                       struct pdnn_err *err);

/* Generates data for the slots whose sharing equals is_shared. Zero-filled slots are skipped: the
 * block's fresh pages are zero. */
enum pdnn_status pdnn_plan_fill(struct pdnn_plan *plan, bool is_shared, const struct pdnn_fill_source *source,
                                struct pdnn_err *err);

#endif
