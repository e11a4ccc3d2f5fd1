#include "runtime/measure/usage.h"

#include "runtime/host/host_files.h"

#include "base/memory.h"

#include <stdlib.h>
#include <sys/resource.h>

static double steal_ns(const struct pdnn_thread_team *team) {
    int *units = pdnn_alloc((size_t)team->count, sizeof *units);
    for (int64_t i = 0; i < team->count; i++)
        units[i] = team->thread[i].unit;
    const double ns = pdnn_hostfiles_steal_ns("", units, team->count);
    free(units);
    return ns;
}

/* What the kernel counts is read behind the file, so that the first reading is no part of what follows. */
void pdnn_usage_read(const struct pdnn_thread_team *team, struct pdnn_usage *usage) {
    struct rusage process = {0};
    *usage = (struct pdnn_usage){.steal_ns = steal_ns(team)};
    getrusage(RUSAGE_SELF, &process);
    usage->page_faults = (uint64_t)(process.ru_minflt + process.ru_majflt);
    usage->context_switches = (uint64_t)(process.ru_nvcsw + process.ru_nivcsw);
    usage->cpu_ns = pdnn_threads_cpu_ns(team);
}
