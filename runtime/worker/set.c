#include "runtime/worker/set.h"

#include "models/build.h"
#include "runtime/measure/dram_buffer.h"

#include <string.h>

void pdnn_set_close(struct pdnn_process *process) {
    if (process->set.request.largest[0])
        pdnn_plan_set_finish(&process->set.plans);
    process->set = (struct pdnn_open_set){0};
}

static enum pdnn_status build(void *user, const char *key, struct pdnn_arena *arena, struct pdnn_graph *graph,
                              struct pdnn_err *err) {
    const struct pdnn_open_set *set = user;
    struct pdnn_instance instance;
    enum pdnn_status status = pdnn_instance_parse(key, &instance, err);
    if (status != PDNN_OK)
        return status;
    pdnn_instance_resolve(&instance, set->instance.setting[PDNN_SETTING_THREADS]);
    if (memcmp(instance.setting, set->instance.setting, sizeof instance.setting) != 0)
        return pdnn_fail(err, PDNN_INVALID,
                         "instances that share their weights must have the same run settings");
    return pdnn_instance_graph(&instance, arena, graph, err);
}

static enum pdnn_status open_set(struct pdnn_process *process, const struct pdnn_request *request,
                                 struct pdnn_err *err) {
    struct pdnn_open_set *set = &process->set;
    const struct pdnn_plan_set_options options = {
        .plan = {.limit_bytes = request->memory_limit_bytes,
                 .beside_bytes = pdnn_far_memory_bytes(&process->far),
                 .seed = request->seed,
                 .allow_slow = request->allow_slow}};
    const struct pdnn_plan_source source = {set, build};
    const struct pdnn_open_backend *backend;
    enum pdnn_status status = pdnn_process_instance(process, request->largest, &set->instance, err);
    if (status == PDNN_OK)
        status = pdnn_process_open(process, pdnn_backend_names[set->instance.setting[PDNN_SETTING_BACKEND]],
                                   set->instance.setting[PDNN_SETTING_THREADS], request, &backend, err);
    if (status != PDNN_OK)
        return status;
    set->request = *request;
    status = pdnn_plan_set_init(&set->plans, backend->def, backend->state, &source, request->largest,
                                &options, err);
    if (status != PDNN_OK)
        pdnn_set_close(process);
    return status;
}

enum pdnn_status pdnn_set_get(struct pdnn_process *process, const struct pdnn_request *request,
                              const struct pdnn_plan_member **member, struct pdnn_err *err) {
    const struct pdnn_request *open = &process->set.request;
    bool is_open = strcmp(open->largest, request->largest) == 0 && open->seed == request->seed &&
                   open->memory_limit_bytes == request->memory_limit_bytes &&
                   open->allow_slow == request->allow_slow;
    enum pdnn_status status = PDNN_OK;
    if (!is_open) {
        pdnn_set_close(process);
        status = open_set(process, request, err);
    }
    return status == PDNN_OK
               ? pdnn_plan_set_get(&process->set.plans, request->id, &request->lengths, member, err)
               : status;
}
