/* What the control groups of this process leave it: CPU quota and memory. Versions 1 and 2, each level from
 * the process's own group up to the mount, since a limit may sit on any of them. */
#ifndef RUNTIME_FACTS_HOST_CGROUP_H
#define RUNTIME_FACTS_HOST_CGROUP_H

#include <stdint.h>

struct pdnn_cgroup {
    double quota_cpus;       /* the least of all levels; 0: none */
    uint64_t headroom_bytes; /* the least limit - usage of all levels, page cache that can go counted as free;
                                UINT64_MAX: none */
};

/* root goes before every path: "" for the real one, a directory with a made-up /proc and /sys in tests. What
 * cannot be read is no limit. */
void pdnn_cgroup_read(const char *root, struct pdnn_cgroup *cgroup);

#endif
