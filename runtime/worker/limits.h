/* Limits on what a worker process may use: instruction sets and memory. */
#ifndef RUNTIME_WORKER_LIMITS_H
#define RUNTIME_WORKER_LIMITS_H

#include "runtime/worker/process.h"

/* Limits our kernels and every backend to the process's isa; process->limit has an error for each backend
 * that cannot be limited. Must come before any use of a library: most cannot be limited later. */
void pdnn_limit_isa(struct pdnn_process *process);

/* Makes allocations beyond limit_bytes and some headroom fail here, before the machine runs out of
 * memory. 0: no limit. */
void pdnn_limit_memory(const struct pdnn_process *process, uint64_t limit_bytes);

#endif
