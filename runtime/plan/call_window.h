/* A stretch of a compiled plan: consecutive calls that run again and again on memory of their own, with a
 * clock read between them. What an operator of a model takes inside the model can so be measured without the
 * rest of the model: after calls that touch more memory than the caches hold, a call finds caches, pages,
 * dirty lines, threads and code as it finds them in the model. The calls are the plan's own, with its
 * primitives, layouts and posts, at the plan's own places within a block, of which only what they touch takes
 * memory.
 *
 * What no call of the model computes has the model's own seeded data. What earlier calls computed is seeded
 * too: small floats, whole numbers 0; and again what it was before each run, if the run overwrites it. */
#ifndef RUNTIME_PLAN_CALL_WINDOW_H
#define RUNTIME_PLAN_CALL_WINDOW_H

#include "runtime/plan/plan.h"

/* What earlier calls computed and the stretch overwrites. */
struct pdnn_call_window_restored {
    uint64_t offset, bytes; /* within the block */
    uint64_t at;            /* within the copies */
};

struct pdnn_call_window {
    const struct pdnn_plan *plan; /* borrowed, with its backend's state; other calls must not be run */
    size_t first, count;          /* call (first + i) % n_calls for each i < count */
    unsigned char *block;         /* owned; as large as the plan's */
    unsigned char *copies;        /* owned */
    struct pdnn_call_window_restored *restored;
    size_t n_restored;
    uint64_t copies_bytes;
    uint64_t touched_bytes; /* of the block, and the copies */
    void **memory;          /* by slot of the program, as bound; owned */
};

/* How many calls before `call`, in the circle in which a model's calls follow each other, touch so much
 * different memory together; the whole circle less one if it has no more. is_cold: caches are evicted before
 * each first call, so none before that counts. */
size_t pdnn_call_window_before(const struct pdnn_plan *plan, size_t call, uint64_t bytes, bool is_cold);

/* PDNN_TOO_BIG if what it touches does not fit limit_bytes (0: no limit). The plan need not have memory.
 * *window is written only on success. */
enum pdnn_status pdnn_call_window_create(struct pdnn_call_window *window, const struct pdnn_plan *plan,
                                         size_t first, size_t count, uint64_t limit_bytes, uint64_t seed,
                                         struct pdnn_err *err);
void pdnn_call_window_destroy(struct pdnn_call_window *window);

/* Restores what the last run overwrote; before each run, and no part of it. */
void pdnn_call_window_restore(const struct pdnn_call_window *window);

/* Runs the stretch once: ns[i] is what its call i took. Returns 0 or the failing call's code. */
int pdnn_call_window_run(const struct pdnn_call_window *window, uint64_t clock_cost_ns, uint64_t *ns);

#endif
