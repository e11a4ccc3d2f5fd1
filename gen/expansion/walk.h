/* A walk over a spec's instances, or some of them, that returns only the first of equal ones: of those that
 * are not filtered, if another entry's `where` filters it. */
#ifndef GEN_EXPANSION_WALK_H
#define GEN_EXPANSION_WALK_H

#include "gen/expansion/instances.h"
#include "gen/expansion/expand.h"

/* {0}: no walk under way. */
struct pdnn_walk {
    const bool *only; /* the caller's: whether each that pdnn_expand_next has counts; NULL: all do */
    size_t next;
    struct pdnn_expand *expand;
    struct pdnn_instance_set seen, kept; /* returned; what `where` keeps, if entries may contradict */
};

/* Starts at the spec's first instance, ending any walk under way. Parameters as in pdnn_expand_create. */
void pdnn_walk_start(struct pdnn_walk *walk, const struct pdnn_spec *spec, int64_t threads, bool with_memory);

/* Takes the next instance; false if there is none left, or after a failure, which *status says. */
bool pdnn_walk_next(struct pdnn_walk *walk, struct pdnn_expanded *item, enum pdnn_status *status,
                    struct pdnn_err *err);

void pdnn_walk_finish(struct pdnn_walk *walk);

#endif
