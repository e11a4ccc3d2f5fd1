/* One step of a compiled plan, on memory of its own: what an operator of a model takes can be measured
 * without running, or even allocating, the model. The step is the plan's own, with its primitive, layouts and
 * posts.
 *
 * Before each run it is bound to the next of several copies of its operands, so that each operand is as far
 * from its last use as it is in the model (reuse.h): an operand last used d bytes ago gets as many copies as
 * runs touch d bytes. An operand that is nearer than one run of the step touches is read once more before
 * the run. What its last use in the model wrote is written again, with the values it has, when it was used,
 * or before the run if it is near: a cache that has it must write it back.
 *
 * What no step of the model computes has the model's own seeded data. The rest is seeded too: floats between
 * -1 and 1, whole numbers 0. */
#ifndef RUNTIME_CORE_EXCERPT_H
#define RUNTIME_CORE_EXCERPT_H

#include "runtime/core/reuse.h"

/* Operands in the same memory, of which there are several copies. */
struct pdnn_excerpt_part {
    uint64_t bytes, stride; /* of one copy; from one copy to the next */
    uint64_t at;            /* of the first copy, within the block */
    uint64_t copies, next;  /* how many; the one that is bound next */
    bool is_near;           /* to be used before each run */
    bool is_written;        /* by that use, or by one after each run */
};

struct pdnn_excerpt {
    const struct pdnn_plan *plan; /* borrowed, with its backend's state; other steps must not be run */
    size_t step;
    struct pdnn_excerpt_part part[PDNN_STEP_SLOTS];
    int n_parts, part_of[PDNN_STEP_SLOTS]; /* by operand of the step */
    unsigned char *block;                  /* owned */
    uint64_t block_bytes;
    bool has_run;
    uint64_t cycle; /* runs after which all copies have been used */
    void **memory;  /* by slot of the program, as bound; owned */
};

/* reuse: by operand of the step, from pdnn_reuse_find. PDNN_TOO_BIG if the copies do not fit limit_bytes
 * (0: no limit). The plan need not have memory. *excerpt is written only on success. */
enum pdnn_status pdnn_excerpt_create(struct pdnn_excerpt *excerpt, const struct pdnn_plan *plan, size_t step,
                                     const struct pdnn_reuse reuse[PDNN_STEP_SLOTS], uint64_t limit_bytes,
                                     uint64_t seed, struct pdnn_err *err);
void pdnn_excerpt_destroy(struct pdnn_excerpt *excerpt);

/* Binds the step to the next copies, after the uses that are not its own. Not part of what the step takes. */
enum pdnn_status pdnn_excerpt_next(struct pdnn_excerpt *excerpt, struct pdnn_err *err);

/* Runs the step on the copies it is bound to. Returns 0 or its error code. */
int pdnn_excerpt_run(const struct pdnn_excerpt *excerpt);

#endif
