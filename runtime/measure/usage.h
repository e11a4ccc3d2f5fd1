/* What this process has used so far, by the kernel's counts. */
#ifndef RUNTIME_MEASURE_USAGE_H
#define RUNTIME_MEASURE_USAGE_H

#include "runtime/backend/threads.h"

struct pdnn_usage {
    uint64_t cpu_ns;                        /* by the team's own clocks; 0: one of its threads has ended */
    uint64_t page_faults, context_switches; /* of the whole process */
    double steal_ns;                        /* that a host took from the team's cores; NaN: not known */
};

void pdnn_usage_read(const struct pdnn_thread_team *team, struct pdnn_usage *usage);

#endif
