#define _GNU_SOURCE /* sched_getaffinity, environ */
#include "runtime/host/host.h"

#include "base/memory.h"
#include "base/str.h"
#include "runtime/host/host_cgroup.h"
#include "runtime/host/host_files.h"
#include "runtime/host/host_openmp.h"

#include <errno.h>
#include <hwloc.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The kernel refuses a mask smaller than its own, however few processors there are. */
static enum pdnn_status read_affinity(hwloc_bitmap_t allowed, struct pdnn_err *err) {
    enum { CPUS_MIN = 1024, CPUS_MAX = 1 << 20 };
    if (!allowed)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for the affinity mask");
    for (int cpus = CPUS_MIN; cpus <= CPUS_MAX; cpus *= 2) {
        size_t bytes = CPU_ALLOC_SIZE((size_t)cpus);
        cpu_set_t *mask = pdnn_alloc(bytes, 1);
        int failed = sched_getaffinity(0, bytes, mask) != 0 ? errno : 0;
        for (int i = 0; !failed && i < cpus; i++) {
            if (CPU_ISSET_S((size_t)i, bytes, mask))
                hwloc_bitmap_set(allowed, (unsigned)i);
        }
        free(mask);
        if (!failed)
            return PDNN_OK;
        if (failed != EINVAL)
            return pdnn_fail(err, PDNN_IO, "cannot read the affinity mask: %s", strerror(failed));
    }
    return pdnn_fail(err, PDNN_IO, "cannot read the affinity mask: more than %d processors", CPUS_MAX);
}

/* Takes one processing unit from each core that has an allowed one. If the topology shows no cores, each
 * processing unit counts as a core. */
static void read_cores(hwloc_topology_t topology, hwloc_const_bitmap_t allowed, struct pdnn_host *host) {
    int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    hwloc_obj_type_t type = cores > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
    hwloc_obj_t core = NULL;
    hwloc_bitmap_t units = hwloc_bitmap_alloc();
    while (units && (core = hwloc_get_next_obj_by_type(topology, type, core))) {
        host->cores_online++;
        hwloc_bitmap_and(units, core->cpuset, allowed);
        int unit = hwloc_bitmap_first(units);
        if (unit >= 0 && host->threads < PDNN_HOST_CORES_MAX)
            host->core_pu[host->threads++] = unit;
    }
    hwloc_bitmap_free(units);
}

/* Reads the data caches above the first usable core and how many usable cores share each. */
static void read_caches(hwloc_topology_t topology, struct pdnn_host *host) {
    hwloc_obj_t at = hwloc_get_pu_obj_by_os_index(topology, (unsigned)host->core_pu[0]);
    for (; at; at = at->parent) {
        if (!hwloc_obj_type_is_dcache(at->type) || at->attr->cache.depth > PDNN_CACHE_LEVELS)
            continue;
        unsigned level = at->attr->cache.depth - 1;
        host->cache_bytes[level] = at->attr->cache.size;
        host->cache_cores[level] = 0;
        for (int64_t i = 0; i < host->threads; i++)
            host->cache_cores[level] += hwloc_bitmap_isset(at->cpuset, (unsigned)host->core_pu[i]);
    }
}

/* Without a topology every allowed processing unit counts as a core. */
static void read_units(hwloc_const_bitmap_t allowed, struct pdnn_host *host) {
    int unit = hwloc_bitmap_first(allowed);
    for (; unit >= 0 && host->threads < PDNN_HOST_CORES_MAX; unit = hwloc_bitmap_next(allowed, unit))
        host->core_pu[host->threads++] = unit;
}

static void read_topology(hwloc_const_bitmap_t allowed, struct pdnn_host *host) {
    hwloc_topology_t topology = NULL;
    host->numa_nodes = 1;
    if (hwloc_topology_init(&topology) == 0 &&
        hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) == 0 &&
        hwloc_topology_load(topology) == 0) {
        int nodes = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
        host->numa_nodes = nodes > 1 ? nodes : 1;
        read_cores(topology, allowed, host);
        if (host->threads > 0)
            read_caches(topology, host);
    }
    if (topology)
        hwloc_topology_destroy(topology);
    if (host->threads == 0)
        read_units(allowed, host);
    if (host->cores_online == 0)
        host->cores_online = host->threads;
}

/* What ulimit -v (the address space) and -d (data) allow, and what a worker takes of it before any tensor:
 * its libraries, the stacks of its threads, and the code that they generate. Batch systems set them: PBS by
 * pvmem, Slurm by VSizeFactor. */
static const struct {
    int resource;
    const char *option;
    uint64_t needed_bytes;
} process_limits[] = {{RLIMIT_AS, "-v", UINT64_C(640) << 20}, {RLIMIT_DATA, "-d", UINT64_C(512) << 20}};

/* The least that is left for tensors; UINT64_MAX: no limit. */
static uint64_t process_limit(const char **option) {
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < sizeof process_limits / sizeof *process_limits; i++) {
        struct rlimit limit;
        if (getrlimit((__rlimit_resource_t)process_limits[i].resource, &limit) != 0 ||
            limit.rlim_cur == RLIM_INFINITY)
            continue;
        uint64_t needed = process_limits[i].needed_bytes;
        uint64_t left = limit.rlim_cur > needed ? limit.rlim_cur - needed : 0;
        if (left < least) {
            least = left;
            *option = process_limits[i].option;
        }
    }
    return least;
}

enum pdnn_status pdnn_host_process_check(struct pdnn_err *err) {
    const char *option = "";
    if (process_limit(&option))
        return PDNN_OK;
    return pdnn_fail(err, PDNN_IO,
                     "ulimit %s allows too little memory for a worker and its libraries; raise it", option);
}

static void apply_limits(const struct pdnn_host_source *source, struct pdnn_host *host) {
    int64_t num_threads;
    struct pdnn_cgroup cgroup;
    pdnn_cgroup_read(source->root, &cgroup);
    host->quota_cpus = cgroup.quota_cpus;
    /* Round the quota down: a thread that is throttled in every period cannot be timed. */
    if (cgroup.quota_cpus > 0 && cgroup.quota_cpus < (double)host->threads)
        host->threads = (int64_t)cgroup.quota_cpus;
    pdnn_openmp_counts(source->variables, &num_threads, &host->thread_limit);
    if (host->thread_limit && host->thread_limit < host->threads)
        host->threads = host->thread_limit;
    if (host->threads < 1)
        host->threads = 1;
    host->threads_all = num_threads && num_threads < host->threads ? num_threads : host->threads;
    pdnn_hostfiles_memory(source->root, &host->memory_bytes, &host->memory_limit_bytes);
    if (cgroup.headroom_bytes < host->memory_limit_bytes)
        host->memory_limit_bytes = cgroup.headroom_bytes;
    const char *option;
    uint64_t process_bytes = *source->root ? UINT64_MAX : process_limit(&option);
    if (process_bytes < host->memory_limit_bytes)
        host->memory_limit_bytes = process_bytes;
}

static void read_names(const struct pdnn_host_source *source, struct pdnn_host *host) {
    struct utsname system;
    pdnn_hostfiles_cpu(source->root, host->cpu, host->isa);
    pdnn_hostfiles_generation(source->root, host->generation);
    if (!source->root[0])
        pdnn_hostfiles_hwcaps(host->isa);
    pdnn_hostfiles_governor(source->root, host->core_pu[0], host->governor);
    if (uname(&system) != 0)
        return;
    snprintf(host->name, sizeof host->name, "%.*s", PDNN_HOST_TEXT - 1, system.nodename);
    snprintf(host->kernel, sizeof host->kernel, "%.31s %.90s", system.sysname, system.release);
    if (!host->cpu[0])
        snprintf(host->cpu, sizeof host->cpu, "%.*s", PDNN_HOST_TEXT - 1, system.machine);
}

enum pdnn_status pdnn_host_read_from(const struct pdnn_host_source *source, struct pdnn_host *host,
                                     struct pdnn_err *err) {
    struct pdnn_host read = {0};
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
    enum pdnn_status status = PDNN_OK;
    if (!source->mask || !allowed)
        status = read_affinity(allowed, err);
    else if (hwloc_bitmap_list_sscanf(allowed, source->mask) != 0)
        status = pdnn_fail(err, PDNN_INVALID, "%s is no list of processing units", source->mask);
    if (status == PDNN_OK) {
        read_topology(allowed, &read);
        apply_limits(source, &read);
        read_names(source, &read);
        *host = read;
    }
    hwloc_bitmap_free(allowed);
    return status;
}

enum pdnn_status pdnn_host_read(struct pdnn_host *host, struct pdnn_err *err) {
    static const char *const elsewhere[] = {"HWLOC_SYNTHETIC", "HWLOC_XMLFILE", "HWLOC_FSROOT"};
    const struct pdnn_host_source here = {"", NULL, environ};
    enum { ELSEWHERE = sizeof elsewhere / sizeof *elsewhere };
    char *hidden[ELSEWHERE];
    for (size_t i = 0; i < ELSEWHERE; i++) {
        const char *value = getenv(elsewhere[i]);
        hidden[i] = value ? pdnn_strdup(value) : NULL;
        unsetenv(elsewhere[i]); /* another machine's topology says nothing about this one */
    }
    const enum pdnn_status status = pdnn_host_read_from(&here, host, err);
    for (size_t i = 0; i < ELSEWHERE; i++) {
        if (hidden[i])
            setenv(elsewhere[i], hidden[i], true);
        free(hidden[i]);
    }
    return status;
}

enum pdnn_status pdnn_host_cores_check(const struct pdnn_host *host, struct pdnn_err *err) {
    struct pdnn_str gone = {0};
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
    enum pdnn_status status = read_affinity(allowed, err);
    for (int64_t i = 0; status == PDNN_OK && i < host->threads; i++)
        if (!hwloc_bitmap_isset(allowed, (unsigned)host->core_pu[i]))
            pdnn_str_printf(&gone, "%s%d", gone.length ? ", " : "", host->core_pu[i]);
    if (gone.length)
        status =
            pdnn_fail(err, PDNN_IO,
                      "cores %s were taken away from this process (its cpuset or affinity mask changed); "
                      "what was measured on them is kept",
                      pdnn_str_text(&gone));
    pdnn_str_finish(&gone);
    hwloc_bitmap_free(allowed);
    return status;
}

uint64_t pdnn_host_cache_bytes(const struct pdnn_host *host, int64_t threads, size_t level) {
    int64_t sharing = host->cache_cores[level] > 0 ? host->cache_cores[level] : 1;
    return host->cache_bytes[level] * (uint64_t)((threads + sharing - 1) / sharing);
}

uint64_t pdnn_host_last_cache_bytes(const struct pdnn_host *host, int64_t threads) {
    for (size_t level = PDNN_CACHE_LEVELS; level-- > 0;) {
        if (host->cache_bytes[level])
            return pdnn_host_cache_bytes(host, threads, level);
    }
    return (uint64_t)threads << 25;
}

char *pdnn_host_places(const struct pdnn_host *host) {
    struct pdnn_str places = {0};
    for (int64_t i = 0; i < host->threads; i++)
        pdnn_str_printf(&places, "%s{%d}", i ? "," : "", host->core_pu[i]);
    return places.text;
}

bool pdnn_host_setting(size_t index, const struct pdnn_host *host, char *const *variables,
                       struct pdnn_str *out) {
    static const char *const fixed[] = {"OMP_PROC_BIND=close", "OMP_DYNAMIC=false", "OMP_WAIT_POLICY=active"};
    enum { FIXED = sizeof fixed / sizeof *fixed };
    if (index == FIXED) {
        pdnn_str_printf(out, "OMP_NUM_THREADS=%" PRId64, host->threads);
    } else if (index == FIXED + 1) {
        char *places = pdnn_host_places(host);
        pdnn_str_printf(out, "OMP_PLACES=%s", places);
        free(places);
    } else if (index < FIXED) {
        size_t name = strcspn(fixed[index], "=");
        char *const *variable = variables;
        while (*variable &&
               (strncmp(*variable, fixed[index], name + 1) != 0 || !pdnn_openmp_is_passed(*variable)))
            variable++;
        pdnn_str_printf(out, "%s", *variable ? *variable : fixed[index]);
    }
    return index <= FIXED + 1;
}
