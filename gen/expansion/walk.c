#include "gen/expansion/walk.h"

#include "gen/model.h"

/* Whether one entry may keep what another one's `where` filters. */
static bool may_contradict(const struct pdnn_spec *spec) {
    for (size_t i = 0; i < spec->n_models; i++)
        for (size_t k = 0; spec->models[i].where && k < spec->n_models; k++)
            if (k != i && spec->models[k].base.family == spec->models[i].base.family)
                return true;
    return false;
}

void pdnn_walk_start(struct pdnn_walk *walk, const struct pdnn_spec *spec, int64_t threads,
                     bool with_memory) {
    struct pdnn_expanded item;
    bool done = false;
    pdnn_walk_finish(walk);
    if (may_contradict(spec)) {
        struct pdnn_expand *before = pdnn_expand_create(spec, threads, false);
        while (pdnn_expand_next(before, &item, &done, NULL) == PDNN_OK && !done)
            if (!item.filtered)
                pdnn_instance_set_add(&walk->kept, &item.instance);
        pdnn_expand_destroy(before);
    }
    walk->expand = pdnn_expand_create(spec, threads, with_memory);
}

bool pdnn_walk_next(struct pdnn_walk *walk, struct pdnn_expanded *item, enum pdnn_status *status,
                    struct pdnn_err *err) {
    for (bool done = false;;) {
        *status = pdnn_expand_next(walk->expand, item, &done, err);
        if (*status != PDNN_OK || done)
            return false;
        const bool counts = !walk->only || walk->only[walk->next++];
        if (counts && !(item->filtered && pdnn_instance_set_has(&walk->kept, &item->instance)) &&
            pdnn_instance_set_add(&walk->seen, &item->instance))
            return true;
    }
}

void pdnn_walk_finish(struct pdnn_walk *walk) {
    pdnn_expand_destroy(walk->expand);
    pdnn_instance_set_finish(&walk->seen);
    pdnn_instance_set_finish(&walk->kept);
    *walk = (struct pdnn_walk){.only = walk->only};
}
