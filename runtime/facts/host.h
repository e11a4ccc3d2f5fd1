/* Facts about the machine and about what this process may use of it: affinity mask, cgroup quota and memory
 * limit, caches. Reads /proc, /sys and hwloc; touches no OpenMP and no math library. */
#ifndef RUNTIME_FACTS_HOST_H
#define RUNTIME_FACTS_HOST_H

#include "base/err.h"

#include <stdint.h>

enum { PDNN_HOST_TEXT = 128, PDNN_HOST_CORES_MAX = 1024, PDNN_CACHE_LEVELS = 3 };

struct pdnn_host {
    char name[PDNN_HOST_TEXT];     /* hostname */
    char cpu[PDNN_HOST_TEXT];      /* model name */
    char isa[PDNN_HOST_TEXT];      /* "avx2 fma", "avx512f avx512_vnni amx_bf16": what matters of the flags */
    char kernel[PDNN_HOST_TEXT];   /* Linux 6.1.0 */
    char governor[PDNN_HOST_TEXT]; /* cpufreq governor, "" when the host does not show it */
    int64_t cores_online;          /* of the machine */
    int64_t numa_nodes;
    int64_t threads; /* usable here: cores in the affinity mask, at most the cgroup's quota and thread_limit,
                        at least 1 */
    int64_t threads_all;  /* what `threads: all` stands for: those, or OMP_NUM_THREADS where that is fewer */
    int64_t thread_limit; /* OMP_THREAD_LIMIT, 0: none */
    double quota_cpus;    /* cgroup CPU quota, 0: none */
    int core_pu[PDNN_HOST_CORES_MAX]; /* first allowed processing unit of each usable core: where thread i is
                                         bound */
    uint64_t memory_bytes;            /* of the machine */
    uint64_t memory_limit_bytes; /* usable here: the least of MemAvailable and the cgroup limits' headroom */
    uint64_t cache_bytes[PDNN_CACHE_LEVELS]; /* L1d, L2, L3 as one core sees it; 0: absent */
    int64_t cache_cores[PDNN_CACHE_LEVELS];  /* usable cores sharing one of them */
};

/* Fills *host. PDNN_IO when not even the affinity mask can be read. */
enum pdnn_status pdnn_host_read(struct pdnn_host *host, struct pdnn_err *err);

/* Where facts come from, for tests. */
struct pdnn_host_source {
    const char *root;       /* as in runtime/facts/host_files.h */
    const char *mask;       /* "0,2-5": the affinity mask; NULL: that of this thread */
    char *const *variables; /* as environ */
};
enum pdnn_status pdnn_host_read_from(const struct pdnn_host_source *source, struct pdnn_host *host,
                                     struct pdnn_err *err);

/* The sum of the host's thermal throttle counters, 0 where it shows none: compare before and after. */
uint64_t pdnn_host_throttle_count(void);

/* "{0},{1}": OMP_PLACES that binds thread i to core i; heap, the caller frees. NULL when out of memory. */
char *pdnn_host_places(const struct pdnn_host *host);

#endif
