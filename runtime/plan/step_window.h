/* A stretch of a compiled plan: consecutive steps that run again and again on memory of their own, with a
 * clock read between them. What an operator of a model takes inside the model can so be measured without the
 * rest of the model: after steps that touch more memory than the caches hold, a step finds caches, pages,
 * dirty lines, threads and code as it finds them in the model. The steps are the plan's own, with its
 * primitives, layouts and posts, at the plan's own places within a block, of which only what they touch takes
 * memory.
 *
 * What no step of the model computes has the model's own seeded data. What earlier steps computed is seeded
 * too: small floats, whole numbers 0; and again what it was before each run, if the run overwrites it. */
#ifndef RUNTIME_PLAN_STEP_WINDOW_H
#define RUNTIME_PLAN_STEP_WINDOW_H

#include "runtime/plan/plan.h"

/* What earlier steps computed and the stretch overwrites. */
struct pdnn_step_window_restored {
    uint64_t offset, bytes; /* within the block */
    uint64_t at;            /* within the copies */
};

struct pdnn_step_window {
    const struct pdnn_plan *plan; /* borrowed, with its backend's state; other steps must not be run */
    size_t first, count;          /* step (first + i) % n_steps for each i < count */
    unsigned char *block;         /* owned; as large as the plan's */
    unsigned char *copies;        /* owned */
    struct pdnn_step_window_restored *restored;
    size_t n_restored;
    uint64_t copies_bytes;
    uint64_t touched_bytes; /* of the block, and the copies */
    void **memory;          /* by slot of the program, as bound; owned */
};

/* How many steps before `step`, in the circle in which a model's steps follow each other, touch so much
 * different memory together; the whole circle less one if it has no more. is_cold: caches are evicted before
 * each first step, so none before that counts. */
size_t pdnn_step_window_before(const struct pdnn_plan *plan, size_t step, uint64_t bytes, bool is_cold);

/* PDNN_TOO_BIG if what it touches does not fit limit_bytes (0: no limit). The plan need not have memory.
 * *window is written only on success. */
enum pdnn_status pdnn_step_window_create(struct pdnn_step_window *window, const struct pdnn_plan *plan,
                                         size_t first, size_t count, uint64_t limit_bytes, uint64_t seed,
                                         struct pdnn_err *err);
void pdnn_step_window_destroy(struct pdnn_step_window *window);

/* Restores what the last run overwrote; before each run, and no part of it. */
void pdnn_step_window_restore(const struct pdnn_step_window *window);

/* Runs the stretch once: ns[i] is what its step i took. Returns 0 or the failing step's code. */
int pdnn_step_window_run(const struct pdnn_step_window *window, uint64_t clock_cost_ns, uint64_t *ns);

#endif
