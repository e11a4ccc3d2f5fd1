#include "gen/expansion/expand.h"

#include "base/memory.h"
#include "base/rng.h"
#include "gen/expansion/instances.h"
#include "gen/model.h"
#include "gen/where/where.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* After this much work on rejected points in a row, a sample ends with an error: about a second. Drawing a
 * point is one unit, and building graphs for its costs one per GRAPH_BYTES of them. */
enum { WORK_MAX = 1000000, GRAPH_BYTES = 256 };

static const char no_totals[] = "a FLOP, byte or memory count does not fit in 64 bits";

struct pdnn_expand {
    const struct pdnn_spec *spec;
    int64_t threads;
    bool with_memory;
    struct pdnn_arena arena; /* of one cost computation */
    struct pdnn_cost_memo *memo;
    bool has_costs; /* the arena holds that of the current point */
    size_t model;
    bool is_open; /* iterating over the current model */
    struct pdnn_where *where;
    struct pdnn_sample *sample;
    uint64_t point, kept, rejects, work;
    struct pdnn_instance_set drawn; /* what the sample has kept, with `threads: all` as the word */
    struct pdnn_err why;            /* why the last instance has no totals */
};

struct pdnn_expand *pdnn_expand_create(const struct pdnn_spec *spec, int64_t threads, bool with_memory) {
    struct pdnn_expand *made = pdnn_alloc(1, sizeof *made);
    made->memo = pdnn_cost_memo_create();
    made->spec = spec;
    made->threads = threads;
    made->with_memory = with_memory;
    pdnn_arena_init(&made->arena);
    return made;
}

static void close_model(struct pdnn_expand *expand) {
    pdnn_where_destroy(expand->where);
    pdnn_sample_destroy(expand->sample);
    pdnn_instance_set_finish(&expand->drawn);
    expand->where = NULL;
    expand->sample = NULL;
    expand->is_open = false;
}

void pdnn_expand_destroy(struct pdnn_expand *expand) {
    if (!expand)
        return;
    close_model(expand);
    pdnn_arena_finish(&expand->arena);
    pdnn_cost_memo_destroy(expand->memo);
    free(expand);
}

static enum pdnn_status open_model(struct pdnn_expand *expand, struct pdnn_err *err) {
    const struct pdnn_spec_model *model = &expand->spec->models[expand->model];
    enum pdnn_status status = PDNN_OK;
    expand->is_open = true;
    expand->point = expand->kept = expand->rejects = expand->work = 0;
    if (model->where)
        status = pdnn_where_create(model->where, model->base.family, &expand->where, err);
    if (status == PDNN_OK && model->method != PDNN_SAMPLE_ALL)
        expand->sample = pdnn_sample_create(model->method, model->counts, model->n_groups, model->points,
                                            pdnn_rng_at(expand->spec->seed, expand->model));
    return status;
}

static bool next_point(struct pdnn_expand *expand, const struct pdnn_spec_model *model, uint64_t *point) {
    if (expand->sample)
        return expand->kept < model->sample_count && pdnn_sample_next(expand->sample, point);
    *point = expand->point;
    return expand->point++ < model->points;
}

/* For axes that advance together, one that applies is enough to make the instances differ. */
static bool any_applies(const struct pdnn_instance *instance, const struct pdnn_axis *axes, size_t n_axes) {
    bool any = false;
    for (size_t i = 0; i < n_axes && !any; i++)
        any = axes[i].is_setting ? pdnn_setting_applies(instance, (enum pdnn_setting)axes[i].index)
                                 : pdnn_hyper_applies(instance, (size_t)axes[i].index);
    return any;
}

/* Fills in the values of a point, `threads: all` as the word; false if the instance repeats another one along
 * an axis that does not apply. */
static bool place_point(const struct pdnn_spec_model *model, uint64_t point, struct pdnn_instance *instance) {
    uint64_t at[PDNN_MODEL_AXES_MAX];
    *instance = model->base;
    for (size_t i = model->n_groups; i-- > 0;) {
        const struct pdnn_axis_group *group = &model->groups[i];
        at[i] = model->counts[i] > 1 ? point % model->counts[i] : 0;
        point = model->counts[i] > 1 ? point / model->counts[i] : point;
        for (size_t j = group->first; j < group->first + group->n_axes; j++)
            pdnn_axis_apply(&model->axes[j], at[i], instance);
    }
    for (size_t i = 0; i < model->n_groups; i++) {
        const struct pdnn_axis_group *group = &model->groups[i];
        if (at[i] && !any_applies(instance, &model->axes[group->first], group->n_axes))
            return false;
    }
    pdnn_instance_settle(instance);
    pdnn_instance_resolve(instance, 0);
    return true;
}

static enum pdnn_status fail_at(const struct pdnn_expand *expand, const struct pdnn_expanded *item,
                                struct pdnn_err *err) {
    char id[PDNN_ID_TEXT];
    pdnn_fail(err, expand->why.status, "%s: %s", pdnn_instance_format(&item->instance, id), expand->why.text);
    pdnn_yaml_wrap(expand->spec->models[expand->model].node, err);
    return expand->why.status;
}

/* The only instance of a model is an error where it was written: at the last of the keys that the message
 * names with a value, as in heads=5. */
static enum pdnn_status fail_in_spec(const struct pdnn_expand *expand, struct pdnn_err *err) {
    const struct pdnn_spec_model *model = &expand->spec->models[expand->model];
    const struct pdnn_yaml *at = model->node;
    const char *last = expand->why.text;
    for (size_t i = 0; i < model->n_axes; i++) {
        char named[PDNN_PARAM_TEXT];
        snprintf(named, sizeof named, "%.*s=", (int)sizeof named - 2, model->axes[i].def->name);
        for (const char *found = strstr(expand->why.text, named); found; found = strstr(found + 1, named)) {
            bool is_word = found == expand->why.text || strchr(" ,(", found[-1]);
            if (is_word && found >= last) {
                last = found;
                at = model->axes[i].node;
            }
        }
    }
    pdnn_fail(err, expand->why.status, "%s", expand->why.text);
    return pdnn_yaml_wrap(at, err);
}

/* Counts that do not fit and contradicting values are results, not errors: the item has no totals. */
static enum pdnn_status add_costs(struct pdnn_expand *expand, struct pdnn_expanded *item,
                                  struct pdnn_err *err) {
    expand->has_costs = true;
    bool with_memory = expand->with_memory || (expand->where && pdnn_where_uses_memory(expand->where));
    struct pdnn_totals totals = {0};
    enum pdnn_status status = pdnn_cost_memo_find(expand->memo, &item->instance, with_memory, &expand->arena,
                                                  &totals, &expand->why);
    if (status == PDNN_OK)
        item->totals = totals;
    item->has_totals = status == PDNN_OK;
    item->invalid = status == PDNN_INVALID;
    if (status == PDNN_OK || status == PDNN_INVALID || status == PDNN_OVERFLOW)
        return PDNN_OK;
    return fail_at(expand, item, err);
}

static const char *find_reason(const struct pdnn_expand *expand, const struct pdnn_expanded *item,
                               bool holds) {
    if (!holds)
        return expand->spec->models[expand->model].where->text;
    if (item->has_totals)
        return "";
    return item->invalid ? expand->why.text : no_totals;
}

/* Whether `where` is true with as many threads for `all`; 0: with some number of them. */
static enum pdnn_status holds_with(struct pdnn_expand *expand, const struct pdnn_expanded *item,
                                   int64_t threads, bool *holds, struct pdnn_err *err) {
    enum { CORES_MAX = 1024 };
    const bool is_open =
        !threads && !item->instance.setting[PDNN_SETTING_THREADS] && pdnn_where_uses_threads(expand->where);
    enum pdnn_status status = PDNN_OK;
    *holds = false;
    for (int64_t all = threads ? threads : 1; !*holds; all *= 2) {
        struct pdnn_instance instance = item->instance;
        pdnn_instance_resolve(&instance, all);
        const bool is_last = !is_open || all == CORES_MAX;
        status = pdnn_where_eval(expand->where, &instance, &item->totals, holds, is_last ? err : NULL);
        if (is_last)
            break;
    }
    return *holds ? PDNN_OK : status;
}

/* Computes costs and evaluates `where`. A `where` on costs needs them first, and is false if counts do not
 * fit; otherwise costs are computed afterwards, except for points that a sample drops. If the only instance
 * of a model is invalid, that is an error in the spec rather than a corner of a space. */
static enum pdnn_status judge(struct pdnn_expand *expand, struct pdnn_expanded *item, struct pdnn_err *err) {
    bool costs_first = expand->where && pdnn_where_uses_costs(expand->where), holds = true;
    enum pdnn_status status = costs_first ? add_costs(expand, item, err) : PDNN_OK;
    bool can_tell = !costs_first || item->has_totals;
    if (status == PDNN_OK && expand->where && can_tell)
        status = holds_with(expand, item, expand->sample ? 0 : expand->threads, &holds, err);
    if (status != PDNN_OK)
        return status;
    item->filtered = !holds || (!can_tell && !item->invalid);
    bool is_dropped = item->filtered && expand->sample;
    if (!costs_first && !is_dropped)
        status = add_costs(expand, item, err);
    item->reason = find_reason(expand, item, holds);
    if (status == PDNN_OK && item->invalid && !item->filtered &&
        expand->spec->models[expand->model].points == 1)
        return fail_in_spec(expand, err);
    return status;
}

static enum pdnn_status reject(struct pdnn_expand *expand, const struct pdnn_spec_model *model,
                               struct pdnn_err *err) {
    expand->rejects++;
    expand->work += 1 + (expand->has_costs ? pdnn_arena_used(&expand->arena) / GRAPH_BYTES : 0);
    if (expand->work < WORK_MAX)
        return PDNN_OK;
    return pdnn_yaml_fail(model->where ? model->where : model->node, err,
                          "where was true for none of the last %" PRIu64
                          " points drawn, and the sample has %" PRIu64 " of %" PRIu64,
                          expand->rejects, expand->kept, model->sample_count);
}

/* Puts this host's number for `threads: all`, with which `where` may be false for what a sample has drawn. */
static enum pdnn_status bring_here(struct pdnn_expand *expand, struct pdnn_expanded *item,
                                   struct pdnn_err *err) {
    const bool may_differ =
        expand->sample && expand->where && pdnn_where_uses_threads(expand->where) && !item->invalid;
    bool holds = true;
    if (!expand->threads)
        return PDNN_OK;
    if (may_differ && holds_with(expand, item, expand->threads, &holds, err) != PDNN_OK)
        return err->status;
    if (!holds)
        item->reason = find_reason(expand, item, holds);
    item->filtered = item->filtered || !holds;
    pdnn_instance_resolve(&item->instance, expand->threads);
    return PDNN_OK;
}

/* Visits one point; *found is false if it must not appear. */
static enum pdnn_status visit_point(struct pdnn_expand *expand, uint64_t point, struct pdnn_expanded *item,
                                    bool *found, struct pdnn_err *err) {
    const struct pdnn_spec_model *model = &expand->spec->models[expand->model];
    struct pdnn_expanded made = {0};
    expand->has_costs = false;
    *found = place_point(model, point, &made.instance);
    enum pdnn_status status = *found ? judge(expand, &made, err) : PDNN_OK;
    if (status == PDNN_OK && expand->sample) {
        *found = *found && !made.filtered && pdnn_instance_set_add(&expand->drawn, &made.instance);
        if (*found) {
            pdnn_sample_keep(expand->sample, point);
            expand->kept++;
            expand->rejects = expand->work = 0;
        } else {
            status = reject(expand, model, err);
        }
    }
    if (status == PDNN_OK && *found)
        status = bring_here(expand, &made, err);
    if (status == PDNN_OK && *found)
        *item = made;
    return status;
}

enum pdnn_status pdnn_expand_next(struct pdnn_expand *expand, struct pdnn_expanded *item, bool *done,
                                  struct pdnn_err *err) {
    bool found = false;
    while (!found && expand->model < expand->spec->n_models) {
        const struct pdnn_spec_model *model = &expand->spec->models[expand->model];
        enum pdnn_status status = expand->is_open ? PDNN_OK : open_model(expand, err);
        uint64_t point;
        if (status == PDNN_OK && next_point(expand, model, &point)) {
            status = visit_point(expand, point, item, &found, err);
        } else if (status == PDNN_OK) {
            close_model(expand);
            expand->model++;
        }
        if (status != PDNN_OK)
            return status;
    }
    *done = !found;
    return PDNN_OK;
}
