#include "gen/expansion/walk.h"

void pdnn_walk_start(struct pdnn_walk *walk, const struct pdnn_spec *spec, int64_t threads,
                     bool with_memory) {
    pdnn_walk_finish(walk);
    walk->expand = pdnn_expand_create(spec, threads, with_memory);
}

bool pdnn_walk_next(struct pdnn_walk *walk, struct pdnn_expanded *item, enum pdnn_status *status,
                    struct pdnn_err *err) {
    for (bool done = false;;) {
        *status = pdnn_expand_next(walk->expand, item, &done, err);
        if (*status != PDNN_OK || done)
            return false;
        if ((!walk->only || walk->only[walk->next++]) && pdnn_instance_set_add(&walk->seen, &item->instance))
            return true;
    }
}

void pdnn_walk_finish(struct pdnn_walk *walk) {
    pdnn_expand_destroy(walk->expand);
    pdnn_instance_set_finish(&walk->seen);
    *walk = (struct pdnn_walk){.only = walk->only};
}
