#define _POSIX_C_SOURCE 200809L
#include "runtime/worker/limits.h"

#include "runtime/host/isa.h"
#include "runtime/kernels/simd/level.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* Besides tensors, a worker maps thread stacks, allocator arenas, generated code and library buffers. */
static const uint64_t headroom_bytes = UINT64_C(1) << 30, headroom_per_thread_bytes = UINT64_C(256) << 20;

void pdnn_limit_memory(const struct pdnn_process *process, uint64_t limit_bytes) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && fscanf(file, "%lu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    if (!limit_bytes || !pages)
        return;
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0)
        return;
    uint64_t bytes = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) + limit_bytes + headroom_bytes +
                     (uint64_t)process->host.threads * headroom_per_thread_bytes;
    /* Never above the user's own limit. */
    if (limit.rlim_cur == RLIM_INFINITY || bytes < limit.rlim_cur) {
        limit.rlim_cur = (rlim_t)bytes;
        setrlimit(RLIMIT_AS, &limit);
    }
}

void pdnn_limit_isa(struct pdnn_process *process) {
    enum pdnn_isa isa = process->isa;
    if (isa == PDNN_ISA_DEFAULT)
        return;
    pdnn_level_limit(pdnn_isa_lanes(isa));
    for (size_t i = 0; pdnn_backends[i] && i < PDNN_PROCESS_BACKENDS_MAX; i++) {
        const struct pdnn_backend_def *def = pdnn_backends[i];
        if (!pdnn_isa_is_here(&process->host, isa))
            pdnn_fail(&process->limit[i], PDNN_UNSUPPORTED, "isa=%s: this processor has %s",
                      pdnn_isa_names[isa], pdnn_isa_names[pdnn_isa_widest(&process->host)]);
        else if (!def->limit_isa)
            pdnn_fail(&process->limit[i], PDNN_UNSUPPORTED,
                      "%s cannot limit its instruction sets; use isa=default", def->name);
        else
            def->limit_isa(isa, &process->limit[i]);
    }
}
