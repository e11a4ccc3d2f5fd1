#define _GNU_SOURCE /* environ */
#include "session/session.h"

#include "base/clock.h"
#include "results/store/tables.h"
#include "runtime/driver/worker/worker.h"
#include "runtime/host/host_openmp.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct list {
    struct pdnn_arena *arena;
    struct pdnn_fact *facts;
    size_t count, room;
};

static struct pdnn_fact *add(struct list *list, struct pdnn_fact fact) {
    list->facts = pdnn_arena_grow(list->arena, list->facts, &list->room, list->count, sizeof *list->facts);
    list->facts[list->count] = fact;
    return &list->facts[list->count++];
}

static struct pdnn_fact *add_text(struct list *list, const char *key, const char *text, bool identity) {
    return add(list,
               (struct pdnn_fact){key, .text = pdnn_arena_strdup(list->arena, text), .identity = identity});
}

static void add_whole(struct list *list, const char *key, uint64_t value, bool identity) {
    int64_t whole = value > INT64_MAX ? INT64_MAX : (int64_t)value;
    add(list, (struct pdnn_fact){key, PDNN_FACT_WHOLE, .whole = whole, .identity = identity});
}

static void add_host(struct list *list, const struct pdnn_host *host) {
    static const char *const cache_keys[PDNN_CACHE_LEVELS][2] = {
        {"l1d_bytes", "l1d_cores"}, {"l2_bytes", "l2_cores"}, {"l3_bytes", "l3_cores"}};
    add_text(list, "host", host->name, true);
    add_text(list, "cpu", host->cpu, true);
    add_text(list, "cpu_generation", host->generation, false);
    add_text(list, "isa", host->isa, true);
    add_text(list, "kernel", host->kernel, false)->varies = true;
    add_text(list, "governor", host->governor, false)->varies = true;
    add_whole(list, "cores_online", (uint64_t)host->cores_online, false);
    add_whole(list, "numa_nodes", (uint64_t)host->numa_nodes, false);
    add_whole(list, "cores_usable", (uint64_t)host->threads, true);
    add(list,
        (struct pdnn_fact){"quota_cpus", PDNN_FACT_NUMBER, .number = host->quota_cpus, .identity = true});
    add_whole(list, "memory_bytes", host->memory_bytes, false);
    add_whole(list, "memory_usable_bytes", host->memory_limit_bytes, false);
    for (int level = 0; level < PDNN_CACHE_LEVELS; level++) {
        add_whole(list, cache_keys[level][0], host->cache_bytes[level], true);
        add_whole(list, cache_keys[level][1], (uint64_t)host->cache_cores[level], false);
    }
}

/* The name of a variable as that of a fact. */
static const char *key_of(struct list *list, const char *name, size_t length) {
    char *key = pdnn_arena_printf(list->arena, "%.*s", (int)length, name);
    for (char *at = key; *at; at++)
        *at = (char)tolower(*at);
    return key;
}

/* What the worker's OpenMP runtime is told, and which settings result. */
static void add_openmp(struct list *list, const struct pdnn_session *session, const char *places,
                       const char *ignored) {
    const struct pdnn_host *host = &session->host;
    struct pdnn_str setting = {0}, obeyed = {0}, overridden = {0};
    for (size_t i = 0; pdnn_host_setting(i, host, environ, &setting); i++) {
        size_t name = strcspn(pdnn_str_text(&setting), "=");
        const char *key = key_of(list, pdnn_str_text(&setting), name);
        /* Joined sweeps on one host have one setup, whichever of its cores each takes first. */
        const bool was_moved = session->places && strcmp(key, "omp_places") == 0;
        add_text(list, key, was_moved ? session->places : pdnn_str_text(&setting) + name + 1,
                 strcmp(key, "omp_num_threads") != 0);
        pdnn_str_clear(&setting);
    }
    pdnn_openmp_sort(environ, ignored, &obeyed, &overridden);
    add_text(list, "openmp_obeyed", pdnn_str_text(&obeyed), false);
    add_text(list, "openmp_overridden", pdnn_str_text(&overridden), false);
    add_whole(list, "threads_all", (uint64_t)host->threads_all, false);
    add_text(list, "thread_places", places, false);
    pdnn_str_finish(&setting);
    pdnn_str_finish(&obeyed);
    pdnn_str_finish(&overridden);
}

/* All variables that the libraries might read as one text, then those that change what is computed or how
 * fast: each is an identity fact, "" if unset. */
static void add_variables(struct list *list, const char *ignored) {
    const char *name, *value;
    struct pdnn_str text = {0};
    for (char **variable = environ; *variable; variable++)
        if (pdnn_openmp_is_variable(*variable))
            pdnn_str_printf(&text, "%s%s", text.length ? " " : "", *variable);
    add_text(list, "library_variables", pdnn_str_text(&text), false);
    pdnn_str_finish(&text);
    for (size_t i = 0; pdnn_openmp_setting(i, environ, ignored, &name, &value); i++)
        add_text(list, key_of(list, name, strlen(name)), value, true)->variable = name;
}

/* Each build by the name of its library, with a hash of its file: another one under that name is no way to go
 * on. Where it lies may change. */
static void add_libraries(struct list *list, const struct pdnn_session *session) {
    for (const struct pdnn_session_library *of = session->loaded; of < session->loaded + session->n_loaded;
         of++)
        for (size_t i = 0; i < of->software->count; i++) {
            if (!*of->software->row[i].path)
                continue;
            const char *key =
                pdnn_arena_printf(list->arena, PDNN_FACT_LIBRARY, of->name, of->software->row[i].backend);
            add_text(list, key,
                     pdnn_arena_printf(list->arena, "%s, file %s", of->software->row[i].version, of->hash[i]),
                     true)
                ->variable = key;
            add_text(list, pdnn_arena_printf(list->arena, "%s_path", key), of->software->row[i].path, false);
        }
}

/* Starts a worker and asks what it binds its threads to. If it dies meanwhile, another is asked, as with a
 * worker lost in a sweep. The caller stops the worker, also after a failure. */
static enum pdnn_status ask_worker(const struct pdnn_session *session, struct pdnn_worker *worker,
                                   char **places, struct pdnn_err *err) {
    enum { ATTEMPTS = 5 };
    enum pdnn_status status = PDNN_IO;
    for (int attempt = 0; attempt < ATTEMPTS && status == PDNN_IO; attempt++) {
        if (attempt)
            pdnn_worker_stop(worker);
        status =
            pdnn_worker_start(worker, &session->host, PDNN_WORKER_PLAIN, session->memory_limit_bytes, err);
        if (status == PDNN_OK)
            status = pdnn_worker_places(worker, session->host.threads, places, err);
    }
    return status;
}

enum pdnn_status pdnn_environment_facts(const struct pdnn_session *session, struct pdnn_arena *arena,
                                        struct pdnn_fact **facts, size_t *n_facts, struct pdnn_err *err) {
    struct list list = {.arena = arena};
    struct pdnn_worker worker;
    char now[PDNN_UTC_TEXT], shard[PDNN_SHARD_TEXT], *places = NULL;
    enum pdnn_status status = ask_worker(session, &worker, &places, err);
    if (status == PDNN_OK) {
        const struct pdnn_software *software = pdnn_worker_software(&worker);
        add_text(&list, "written_utc", pdnn_utc_format(pdnn_clock_unix_ms(), now), false);
        add_host(&list, &session->host);
        add_text(&list, "paradnn_version", PDNN_VERSION, true);
        add_text(&list, "paradnn_build", pdnn_build, false);
        add_text(&list, "compiler", PDNN_COMPILER, true);
        add_text(&list, "build_type", PDNN_BUILD_TYPE, true);
        for (size_t i = 0; i < software->count; i++)
            add_text(&list, pdnn_arena_printf(arena, "backend_%s", software->row[i].backend),
                     software->row[i].version, true);
        add_libraries(&list, session);
        add_openmp(&list, session, places, pdnn_worker_ignored(&worker));
        add_variables(&list, pdnn_worker_ignored(&worker));
        add_whole(&list, "seed", session->spec.seed, true);
        add_whole(&list, "limit_memory_bytes", session->memory_limit_bytes, false);
        add_whole(&list, "limit_time_ns", session->spec.limits.time_ns, false);
        add_whole(&list, "limit_budget_ns", session->spec.limits.budget_ns, false);
        add_text(&list, "cache_directory", session->cache, false);
        /* Ids do not say which data set it was. Directories where nothing was read do not either. */
        if (session->sets_text)
            add_text(&list, "dataset", session->sets_text, true)->variable = "dataset";
        /* pdnn_shard_check compares it, so it is no identity here. */
        add_text(&list, "shard", pdnn_shard_format(&session->shard, shard), false);
        add_text(&list, "shard_rule", PDNN_SHARD_RULE, false);
        add_text(&list, PDNN_FACT_COUNTERS, session->spec.measure.counters ? "" : "off", false);
        if (session->spec.measure.order == PDNN_ORDER_PAIRED)
            add(&list, (struct pdnn_fact){PDNN_FACT_PAIRED, PDNN_FACT_NUMBER,
                                          .number = session->spec.measure.precision});
        add_text(&list, "shares_cores_with", session->shares_with ? session->shares_with : "", false);
    }
    pdnn_worker_stop(&worker);
    free(places);
    *facts = list.facts;
    *n_facts = list.count;
    return status;
}

void pdnn_session_follow(struct pdnn_session *session, const char *directory, struct pdnn_fact *facts,
                         size_t n_facts) {
    struct pdnn_str said = {0};
    pdnn_environment_follow(directory, facts, n_facts, &session->arena, &said);
    if (said.length)
        pdnn_session_warn(session, "%s: %s; what was measured is kept, and environment.yaml has both",
                          directory, said.text);
    pdnn_str_finish(&said);
}
