/* What this process's control groups leave it: CPU quota and memory. Handles versions 1 and 2, and every
 * level from the process's own group up to the mount, since any of them may set a limit. */
#ifndef RUNTIME_FACTS_HOST_CGROUP_H
#define RUNTIME_FACTS_HOST_CGROUP_H

#include <stdint.h>

struct pdnn_cgroup {
    double quota_cpus; /* smallest quota of all levels; 0: none */
    /* smallest (limit - usage) of all levels, with reclaimable page cache counted as free;
     * UINT64_MAX: no limit */
    uint64_t headroom_bytes;
};

/* root is prepended to every path: "" for the real ones, a directory with a made-up /proc and /sys in tests.
 * A file that cannot be read sets no limit. */
void pdnn_cgroup_read(const char *root, struct pdnn_cgroup *cgroup);

#endif
