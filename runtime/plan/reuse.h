/* What the caches may still hold when a call of a model begins: for each operand, how much other data the
 * model touches between the last use of that memory and this call. Follows from the plan alone; nothing runs.
 *
 * A cache with room for that many bytes still has the operand, a smaller one does not. Where exactly a
 * distance lies between two caches makes no difference, so there are four classes: nearer than the cores'
 * own caches reach, within the last-level cache, about as far as that one reaches, and farther. */
#ifndef RUNTIME_PLAN_REUSE_H
#define RUNTIME_PLAN_REUSE_H

#include "runtime/plan/plan.h"

enum { PDNN_REUSE_NEAR = 64 << 10, PDNN_REUSE_SMALL = 16 };

/* Powers of two, of all threads together. */
struct pdnn_reuse_caches {
    uint64_t core_bytes; /* of the second-level caches */
    uint64_t far_bytes;  /* pdnn_reuse_far of the last-level one */
};

/* The power of two nearest to twice the capacity: what has so many bytes after it has left such a cache. */
uint64_t pdnn_reuse_far(uint64_t cache_bytes);

/* What the call finds of one operand. */
struct pdnn_reuse {
    uint64_t bytes; /* the class of the distance; 0: an operand without bytes */
    bool
        is_written; /* its last use wrote it: a cache must write it back when it evicts it; not of far ones */
};

/* reuse[k] of operand call->slot[k]. Its distance is its own size, plus the sizes of what other calls touched
 * since the last one that touched at least half of its memory, plus half of what that one touched besides,
 * since it used its operands side by side. The calls of a model follow each other in a circle, unless is_cold
 * says that the caches are evicted before each first call. The class is PDNN_REUSE_NEAR for
 * what is nearer than core_bytes, then an eighth of far_bytes, its half, or itself. Operands that have less
 * than 1 / PDNN_REUSE_SMALL of the call's bytes are near. */
void pdnn_reuse_find(const struct pdnn_plan *plan, size_t call, bool is_cold,
                     const struct pdnn_reuse_caches *caches, struct pdnn_reuse reuse[PDNN_CALL_SLOTS]);

#endif
