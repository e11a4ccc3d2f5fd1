#include "gen/walk.h"

enum pdnn_status pdnn_walk_start(struct pdnn_walk *walk, const struct pdnn_spec *spec, int64_t threads,
                                 bool with_memory, struct pdnn_err *err) {
    pdnn_walk_finish(walk);
    return pdnn_expand_create(spec, threads, with_memory, &walk->expand, err);
}

enum pdnn_status pdnn_walk_next(struct pdnn_walk *walk, struct pdnn_expanded *item, bool *done,
                                struct pdnn_err *err) {
    bool is_new = false;
    *done = false;
    while (!is_new && !*done) {
        if (pdnn_expand_next(walk->expand, item, done, err) != PDNN_OK)
            return err->status;
        if (!*done && pdnn_instance_set_add(&walk->seen, &item->instance, &is_new, err) != PDNN_OK)
            return err->status;
    }
    return PDNN_OK;
}

void pdnn_walk_finish(struct pdnn_walk *walk) {
    pdnn_expand_destroy(walk->expand);
    walk->expand = NULL;
    pdnn_instance_set_finish(&walk->seen);
}
