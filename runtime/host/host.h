/* Facts about the machine and what this process may use of it: affinity mask, cgroup quota and memory limit,
 * caches. Reads /proc, /sys and hwloc; does not touch OpenMP or a math library. */
#ifndef RUNTIME_HOST_HOST_H
#define RUNTIME_HOST_HOST_H

#include "base/err.h"
#include "base/str.h"
#include "runtime/host/host_files.h"

enum { PDNN_HOST_CORES_MAX = 1024, PDNN_CACHE_LEVELS = 3 };

struct pdnn_host {
    char name[PDNN_HOST_TEXT];       /* hostname */
    char cpu[PDNN_HOST_TEXT];        /* model name */
    char generation[PDNN_HOST_TEXT]; /* of the processor, by numbers; "" if unknown */
    char isa[PDNN_HOST_TEXT]; /* the flags that matter: "avx2 fma", "avx512f avx512_vnni amx_bf16", "asimd sve
                                 sve_256" */
    char kernel[PDNN_HOST_TEXT];   /* "Linux 6.1.0" */
    char governor[PDNN_HOST_TEXT]; /* cpufreq governor; "" if the host does not show it */
    int64_t cores_online;          /* in the whole machine */
    int64_t numa_nodes;
    /* usable here: cores in the affinity mask, capped by the cgroup quota and thread_limit, at least 1 */
    int64_t threads;
    /* what `threads: all` means: `threads`, or OMP_NUM_THREADS or a scheduler's grant if that is smaller */
    int64_t threads_all;
    int64_t thread_limit; /* OMP_THREAD_LIMIT; 0: none */
    double quota_cpus;    /* cgroup CPU quota; 0: none */
    /* first allowed processing unit of each usable core; thread i is bound to entry i */
    int core_pu[PDNN_HOST_CORES_MAX];
    uint64_t memory_bytes; /* in the whole machine */
    /* usable here: the smaller of MemAvailable and the cgroup limits' headroom */
    uint64_t memory_limit_bytes;
    uint64_t cache_bytes[PDNN_CACHE_LEVELS]; /* L1d, L2, L3 as one core sees it; 0: absent */
    int64_t cache_cores[PDNN_CACHE_LEVELS];  /* usable cores sharing one such cache */
};

/* Fills *host. PDNN_IO if not even the affinity mask can be read. */
enum pdnn_status pdnn_host_read(struct pdnn_host *host, struct pdnn_err *err);

/* Where the facts come from; tests pass their own. */
struct pdnn_host_source {
    const char *root;       /* prefix of all paths, as in runtime/host/host_files.h */
    const char *mask;       /* affinity mask, as in "0,2-5"; NULL: this thread's */
    char *const *variables; /* like environ */
};
enum pdnn_status pdnn_host_read_from(const struct pdnn_host_source *source, struct pdnn_host *host,
                                     struct pdnn_err *err);

/* Bytes of all caches of a level (0: L1) that the threads reach, on consecutive cores; 0: the host reports
 * none. */
uint64_t pdnn_host_cache_bytes(const struct pdnn_host *host, int64_t threads, size_t level);

/* The same of the last level that the host reports. Where it reports none, 32 MiB a thread, as much as any
 * has. */
uint64_t pdnn_host_last_cache_bytes(const struct pdnn_host *host, int64_t threads);

/* PDNN_IO if ulimit -v or -d leaves a worker no memory. */
enum pdnn_status pdnn_host_process_check(struct pdnn_err *err);

/* PDNN_IO if cores that were there when the host was read are no longer this process's: "cores 3, 5 were
 * taken away ...". */
enum pdnn_status pdnn_host_cores_check(const struct pdnn_host *host, struct pdnn_err *err);

/* "{0},{1}": an OMP_PLACES that binds thread i to core i. Heap, freed by the caller. */
char *pdnn_host_places(const struct pdnn_host *host);

/* Appends the index-th "NAME=value" that paradnn itself sets for a worker. Past the last one it returns false
 * and appends nothing. */
bool pdnn_host_setting(size_t index, const struct pdnn_host *host, char *const *variables,
                       struct pdnn_str *out);

#endif
