#define _POSIX_C_SOURCE 200809L
#include "cli/environment.h"

#include "runtime/core/backend.h"
#include "base/clock.h"
#include "runtime/driver/worker.h"

#include <stdlib.h>
#include <string.h>

extern char **environ;

enum { FACTS_MAX = 256 };

struct list {
    struct pdnn_arena *arena;
    struct pdnn_fact *facts;
    size_t count;
    bool failed;
};

static void add(struct list *list, struct pdnn_fact fact) {
    if (list->count < FACTS_MAX)
        list->facts[list->count++] = fact;
}

static void add_text(struct list *list, const char *key, const char *text, bool identity) {
    char *copy = pdnn_arena_strdup(list->arena, text);
    list->failed = list->failed || !copy;
    add(list, (struct pdnn_fact){.key = key, .type = PDNN_FACT_TEXT, .text = copy, .identity = identity});
}

static void add_whole(struct list *list, const char *key, uint64_t value, bool identity) {
    int64_t whole = value > INT64_MAX ? INT64_MAX : (int64_t)value;
    add(list, (struct pdnn_fact){.key = key, .type = PDNN_FACT_WHOLE, .whole = whole, .identity = identity});
}

static void add_host(struct list *list, const struct pdnn_host *host) {
    static const char *const cache_keys[PDNN_CACHE_LEVELS] = {"l1d_bytes", "l2_bytes", "l3_bytes"};
    static const char *const sharing_keys[PDNN_CACHE_LEVELS] = {"l1d_cores", "l2_cores", "l3_cores"};
    add_text(list, "host", host->name, true);
    add_text(list, "cpu", host->cpu, true);
    add_text(list, "isa", host->isa, true);
    add_text(list, "kernel", host->kernel, false);
    add_text(list, "governor", host->governor, false);
    add_whole(list, "cores_online", (uint64_t)host->cores_online, false);
    add_whole(list, "numa_nodes", (uint64_t)host->numa_nodes, false);
    add_whole(list, "cores_usable", (uint64_t)host->threads, true);
    add(list,
        (struct pdnn_fact){
            .key = "quota_cpus", .type = PDNN_FACT_NUMBER, .number = host->quota_cpus, .identity = true});
    add_whole(list, "memory_bytes", host->memory_bytes, false);
    add_whole(list, "memory_usable_bytes", host->memory_limit_bytes, false);
    for (int level = 0; level < PDNN_CACHE_LEVELS; level++) {
        add_whole(list, cache_keys[level], host->cache_bytes[level], true);
        add_whole(list, sharing_keys[level], (uint64_t)host->cache_cores[level], false);
    }
}

static void add_software(struct list *list) {
    add_text(list, "paradnn_version", PDNN_VERSION, true);
    add_text(list, "compiler", PDNN_COMPILER, true);
    add_text(list, "build_type", PDNN_BUILD_TYPE, true);
    for (const struct pdnn_backend_def *const *backend = pdnn_backends; *backend; backend++)
        add_text(list, pdnn_arena_printf(list->arena, "backend_%s", (*backend)->name), (*backend)->version(),
                 true);
}

/* What the worker's OpenMP runtime is told: the user's own settings first. */
static void add_openmp(struct list *list, const struct pdnn_host *host) {
    char *places = pdnn_host_places(host);
    const char *own = getenv("OMP_PLACES");
    list->failed = list->failed || !places;
    add_text(list, "omp_places", own ? own : places ? places : "", false);
    free(places);
    for (const struct pdnn_worker_setting *setting = pdnn_worker_settings; setting->name; setting++) {
        char *key = pdnn_arena_strdup(list->arena, setting->name);
        for (char *at = key; at && *at; at++)
            if (*at >= 'A' && *at <= 'Z')
                *at = (char)(*at - 'A' + 'a');
        const char *value = getenv(setting->name);
        list->failed = list->failed || !key;
        add_text(list, key, value ? value : setting->value, true);
    }
}

static bool is_relevant(const char *variable) {
    static const char *const prefixes[] = {"OMP_", "GOMP_", "KMP_", "ONEDNN_", "DNNL_", "OPENBLAS_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (strncmp(variable, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* Every variable that the libraries might read, as one text: what is not set cannot differ unnoticed either.
 */
static void add_variables(struct list *list) {
    struct pdnn_str text = {0};
    for (char **variable = environ; *variable; variable++)
        if (is_relevant(*variable))
            pdnn_str_printf(&text, "%s%s", text.length ? " " : "", *variable);
    list->failed = list->failed || text.failed;
    add_text(list, "library_variables", pdnn_str_text(&text), false);
    pdnn_str_finish(&text);
    const char *isa = getenv("ONEDNN_MAX_CPU_ISA");
    if (!isa)
        isa = getenv("DNNL_MAX_CPU_ISA");
    add_text(list, "onednn_max_cpu_isa", isa ? isa : "", true);
}

static void add_limits(struct list *list, const struct pdnn_session *session) {
    add_whole(list, "seed", session->spec.seed, true);
    add_whole(list, "limit_memory_bytes", session->memory_limit_bytes, false);
    add_whole(list, "limit_time_ns", session->spec.limits.time_ns, false);
    add_whole(list, "limit_budget_ns", session->spec.limits.budget_ns, false);
}

enum pdnn_status pdnn_environment_facts(const struct pdnn_session *session, struct pdnn_arena *arena,
                                        struct pdnn_fact **facts, size_t *n_facts, struct pdnn_err *err) {
    struct list list = {.arena = arena};
    list.facts = pdnn_arena_alloc(arena, FACTS_MAX, sizeof *list.facts);
    if (!list.facts)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for the environment's facts");
    char now[PDNN_UTC_TEXT];
    add_text(&list, "written_utc", pdnn_utc_format(pdnn_clock_unix_ms(), now), false);
    add_host(&list, &session->host);
    add_software(&list);
    add_openmp(&list, &session->host);
    add_variables(&list);
    add_limits(&list, session);
    if (list.failed)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for the environment's facts");
    *facts = list.facts;
    *n_facts = list.count;
    return PDNN_OK;
}
