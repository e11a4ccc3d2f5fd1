/* What this process's control groups leave it: CPU quota and memory. Handles versions 1 and 2, and every
 * level from the process's own group up to the mount, since any of them may set a limit. */
#ifndef RUNTIME_HOST_HOST_CGROUP_H
#define RUNTIME_HOST_HOST_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

struct pdnn_cgroup {
    double quota_cpus; /* smallest quota of all levels; 0: none */
    /* smallest (limit - usage) of all levels, with reclaimable page cache counted as free;
     * UINT64_MAX: no limit */
    uint64_t headroom_bytes;
    uint64_t quota_stops; /* nr_throttled of all levels together */
};

/* root is prepended to every path: "" for the real ones, a directory with a made-up /proc and /sys in tests.
 * A file that cannot be read sets no limit. */
void pdnn_cgroup_read(const char *root, struct pdnn_cgroup *cgroup);

/* How often a quota has stopped a group that this process is in so far (nr_throttled); 0 if none says. */
uint64_t pdnn_quota_stops_read(const char *root);

/* How many processes the out-of-memory killer has ended: in this process's memory control group if that
 * counts them (memory.events of version 2, memory.oom_control of version 1), otherwise in the whole machine.
 */
struct pdnn_oom_kills {
    bool of_group;
    uint64_t count; /* 0 if there is no counter */
};
struct pdnn_oom_kills pdnn_oom_kills_read(const char *root);

#endif
