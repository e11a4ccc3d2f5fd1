/* The worker's plan set: instances of one family and the same run settings, whose weights are one. */
#include "models/build.h"
#include "runtime/driver/child.h"

#include <stdio.h>
#include <string.h>

void pdnn_child_set_close(struct pdnn_child *child) {
    if (child->set.largest[0])
        pdnn_plan_set_finish(&child->set.plans);
    child->set = (struct pdnn_child_set){0};
}

static enum pdnn_status build(void *user, const char *key, struct pdnn_arena *arena, struct pdnn_graph *graph,
                              struct pdnn_err *err) {
    const struct pdnn_child_set *set = user;
    struct pdnn_instance instance;
    enum pdnn_status status = pdnn_instance_parse(key, &instance, err);
    if (status != PDNN_OK)
        return status;
    pdnn_instance_resolve(&instance, set->instance.setting[PDNN_SETTING_THREADS]);
    if (memcmp(instance.setting, set->instance.setting, sizeof instance.setting) != 0)
        return pdnn_fail(err, PDNN_INVALID, "instances that share their weights have the same run settings");
    return pdnn_instance_graph(&instance, arena, graph, err);
}

static enum pdnn_status open_set(struct pdnn_child *child, const struct pdnn_visit_order *order,
                                 struct pdnn_err *err) {
    struct pdnn_child_set *set = &child->set;
    const struct pdnn_plan_set_options options = {
        .limit_bytes = order->memory_limit_bytes, .seed = order->seed, .allow_slow = order->allow_slow};
    const struct pdnn_plan_source source = {set, build};
    const struct pdnn_child_backend *backend;
    enum pdnn_status status = pdnn_child_instance(child, order->largest, &set->instance, err);
    if (status == PDNN_OK)
        status = pdnn_child_open(child, pdnn_backend_names[set->instance.setting[PDNN_SETTING_BACKEND]],
                                 set->instance.setting[PDNN_SETTING_THREADS], &backend, err);
    if (status != PDNN_OK)
        return status;
    snprintf(set->largest, sizeof set->largest, "%s", order->largest);
    set->seed = order->seed;
    set->memory_limit_bytes = order->memory_limit_bytes;
    set->allow_slow = order->allow_slow;
    status =
        pdnn_plan_set_init(&set->plans, backend->def, backend->state, &source, order->largest, &options, err);
    if (status != PDNN_OK)
        pdnn_child_set_close(child);
    return status;
}

enum pdnn_status pdnn_child_set_get(struct pdnn_child *child, const struct pdnn_visit_order *order,
                                    const struct pdnn_plan_member **member, struct pdnn_err *err) {
    const struct pdnn_child_set *set = &child->set;
    bool is_open = strcmp(set->largest, order->largest) == 0 && set->seed == order->seed &&
                   set->memory_limit_bytes == order->memory_limit_bytes &&
                   set->allow_slow == order->allow_slow;
    enum pdnn_status status = PDNN_OK;
    if (!is_open) {
        pdnn_child_set_close(child);
        status = open_set(child, order, err);
    }
    return status == PDNN_OK ? pdnn_plan_set_get(&child->set.plans, order->id, member, err) : status;
}
