#include "gen/expansion/walk.h"

#include "gen/model.h"

static bool is_alone(const struct pdnn_spec *spec, const struct pdnn_spec_model *model) {
    for (size_t i = 0; i < spec->n_models; i++)
        if (&spec->models[i] != model && spec->models[i].base.family == model->base.family)
            return false;
    return true;
}

/* Whether different points may be equal instances: because values can be written in several ways, do not
 * apply, or are replaced by others (pdnn_instance_settle). Points that differ in an axis of their own that
 * does not apply do not reach the walk. */
static bool may_repeat(const struct pdnn_spec *spec, const struct pdnn_spec_model *model) {
    const struct pdnn_family_def *family = model->base.family;
    if (family->resolve || family->applies || !is_alone(spec, model))
        return true;
    for (size_t i = 0; i < model->n_groups; i++) {
        const struct pdnn_axis *axis = &model->axes[model->groups[i].first];
        for (size_t k = 0; k < model->groups[i].n_axes; k++) {
            bool is_replaced = axis[k].index == PDNN_SETTING_FUSE || axis[k].index == PDNN_SETTING_LAYERS_RUN;
            if (axis[k].is_setting && (is_replaced || model->groups[i].n_axes > 1))
                return true;
        }
    }
    return false;
}

void pdnn_walk_start(struct pdnn_walk *walk, const struct pdnn_spec *spec, int64_t threads,
                     bool with_memory) {
    pdnn_walk_finish(walk);
    for (size_t i = 0; i < spec->n_models; i++)
        walk->may_repeat = walk->may_repeat || may_repeat(spec, &spec->models[i]);
    walk->expand = pdnn_expand_create(spec, threads, with_memory);
}

bool pdnn_walk_next(struct pdnn_walk *walk, struct pdnn_expanded *item, enum pdnn_status *status,
                    struct pdnn_err *err) {
    for (bool done = false;;) {
        *status = pdnn_expand_next(walk->expand, item, &done, err);
        if (*status != PDNN_OK || done)
            return false;
        if (walk->may_repeat && !pdnn_instance_set_add(&walk->seen, &item->instance))
            continue;
        if (!walk->only || walk->only[walk->next++])
            return true;
    }
}

void pdnn_walk_finish(struct pdnn_walk *walk) {
    pdnn_expand_destroy(walk->expand);
    pdnn_instance_set_finish(&walk->seen);
    *walk = (struct pdnn_walk){.only = walk->only};
}
