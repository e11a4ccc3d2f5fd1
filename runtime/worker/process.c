#define _GNU_SOURCE /* environ */
#include "runtime/worker/process.h"

#include "base/memory.h"
#include "models/build.h"
#include "runtime/backend/threads.h"
#include "runtime/protocol/software.h"
#include "runtime/distributed/world.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Index into pdnn_backends; for a backend that is not part of this build, the index after the last. */
static size_t backend_number(const char *name) {
    size_t i = 0;
    while (pdnn_backends[i] && strcmp(pdnn_backends[i]->name, name) != 0)
        i++;
    return i;
}

static enum pdnn_status check_kind(const struct pdnn_process *process, const struct pdnn_instance *instance,
                                   struct pdnn_err *err) {
    enum pdnn_isa isa = (enum pdnn_isa)instance->setting[PDNN_SETTING_ISA];
    size_t number = backend_number(pdnn_backend_names[instance->setting[PDNN_SETTING_BACKEND]]);
    if (isa != process->isa)
        return pdnn_fail(err, PDNN_INTERNAL, "isa=%s was requested from a worker for isa=%s",
                         pdnn_isa_names[isa], pdnn_isa_names[process->isa]);
    if (instance->setting[PDNN_SETTING_LIBRARY] != process->library)
        return pdnn_fail(err, PDNN_INTERNAL, "another library was requested from a worker than it has");
    if (process->limit[number].status != PDNN_OK)
        return pdnn_fail(err, process->limit[number].status, "%s", process->limit[number].text);
    return PDNN_OK;
}

/* Cores that no rank of this host computes on are for communication, if there is one for each. */
static void place_exchange(const struct pdnn_process *process, int64_t threads) {
    const struct pdnn_world *world = process->world;
    int64_t used = world->local_ranks * threads, each = (process->host.threads - used) / world->local_ranks;
    const struct pdnn_gradient_allreduce_cores cores = {
        .units = process->host.core_pu + world->local_rank * threads, .count = threads};
    const struct pdnn_gradient_allreduce_cores spare = {
        .units = process->host.core_pu + used + world->local_rank * each, .count = each, .are_spare = true};
    pdnn_gradient_allreduce_place(each ? &spare : &cores);
}

/* Ranks on one host take its cores in turn. */
static enum pdnn_status take_cores(struct pdnn_process *process, int64_t threads, struct pdnn_err *err) {
    const struct pdnn_world *world = process->world;
    struct pdnn_host host = process->host;
    int64_t first = world->local_rank * threads, all = world->local_ranks * threads;
    if (all > host.threads)
        return pdnn_fail(err, PDNN_INVALID,
                         "%d ranks of %" PRId64 " thread%s on one host need %" PRId64
                         " cores; cores available to this process: %" PRId64,
                         world->local_ranks, threads, threads == 1 ? "" : "s", all, host.threads);
    place_exchange(process, threads);
    memmove(host.core_pu, host.core_pu + first, (size_t)threads * sizeof host.core_pu[0]);
    return pdnn_threads_set(&host, threads, &process->team, err);
}

enum pdnn_status pdnn_process_instance(struct pdnn_process *process, const char *id,
                                       struct pdnn_instance *instance, struct pdnn_err *err) {
    const struct pdnn_host *host = &process->host;
    enum pdnn_status status = pdnn_instance_parse(id, instance, err);
    if (status != PDNN_OK)
        return status;
    pdnn_instance_resolve(instance, host->threads_all);
    int64_t threads = instance->setting[PDNN_SETTING_THREADS];
    if (threads > host->threads)
        return pdnn_fail(err, PDNN_INVALID,
                         "asks for %" PRId64 " threads; cores available to this process: %" PRId64, threads,
                         host->threads);
    status = check_kind(process, instance, err);
    if (status != PDNN_OK)
        return status;
    return process->world ? take_cores(process, threads, err)
                          : pdnn_threads_set(host, threads, &process->team, err);
}

enum pdnn_status pdnn_model_init(struct pdnn_model *model, struct pdnn_process *process, const char *id,
                                 struct pdnn_err *err) {
    struct pdnn_model made = {0};
    enum pdnn_status status = pdnn_process_instance(process, id, &made.instance, err);
    if (status != PDNN_OK)
        return status;
    made.threads = made.instance.setting[PDNN_SETTING_THREADS];
    *model = made;
    const struct pdnn_instance run = pdnn_instance_as_run(&model->instance);
    status = pdnn_instance_graph(&run, &model->arena, &model->graph, err);
    if (status != PDNN_OK)
        pdnn_model_finish(model);
    return status;
}

void pdnn_model_finish(struct pdnn_model *model) {
    pdnn_arena_finish(&model->arena);
}

static void close_backend(struct pdnn_open_backend *open) {
    open->def->close(open->state);
    free(open->choices);
}

static void keep_choices(const struct pdnn_process *process, const struct pdnn_request *request,
                         struct pdnn_open_backend *open) {
    open->tune = open->def->tune ? open->def->tune(open->state) : NULL;
    if (!open->tune)
        return;
    open->tune->share.team = &process->team;
    open->tune->is_final = request->choices_are_final;
    open->choices = pdnn_alloc(1, sizeof *open->choices);
    struct pdnn_environment_key context = {.host = &process->host,
                                           .build = pdnn_build,
                                           .library = open->def->version(),
                                           .isa = pdnn_isa_names[process->isa],
                                           .threads = open->threads,
                                           .variables = environ};
    /* The directory is one setup's, and its sides differ in the isa or the library, of one major version. */
    if (request->choices_are_shared && open->def->effective_isa) {
        context.library = open->def->name;
        context.isa = open->def->effective_isa();
        context.is_any_library = true;
    }
    pdnn_choices_keep(open->tune, open->choices, request->choices, &context);
}

enum pdnn_status pdnn_process_open(struct pdnn_process *process, const char *name, int64_t threads,
                                   const struct pdnn_request *request,
                                   const struct pdnn_open_backend **backend, struct pdnn_err *err) {
    for (size_t i = 0; i < process->n_backends; i++) {
        struct pdnn_open_backend *open = &process->backend[i];
        if (open->threads == threads && strcmp(open->def->name, name) == 0) {
            *backend = open;
            return PDNN_OK;
        }
    }
    const struct pdnn_backend_def *def = pdnn_backends[backend_number(name)];
    if (!def)
        return pdnn_fail(err, PDNN_UNSUPPORTED, "backend %s is not part of this build", name);
    struct pdnn_open_backend fresh = {.def = def, .threads = threads};
    const struct pdnn_call_options options = pdnn_call_options(&process->host, threads, request->cache_bytes);
    enum pdnn_status status = def->open(&options, &fresh.state, err);
    if (status != PDNN_OK)
        return status;
    keep_choices(process, request, &fresh);
    if (process->n_backends == PDNN_PROCESS_BACKENDS_MAX) {
        close_backend(&process->backend[0]);
        memmove(process->backend, process->backend + 1, --process->n_backends * sizeof process->backend[0]);
    }
    process->backend[process->n_backends] = fresh;
    *backend = &process->backend[process->n_backends++];
    return PDNN_OK;
}

void pdnn_process_finish(struct pdnn_process *process) {
    for (size_t i = 0; i < process->n_backends; i++)
        close_backend(&process->backend[i]);
    process->n_backends = 0;
    pdnn_stream_destroy(&process->far.stream);
    pdnn_thread_counters_close(&process->counters);
    pdnn_thread_team_finish(&process->team);
}
