/* What a worker process may use at most: instruction sets and memory. */
#ifndef RUNTIME_WORKER_LIMITS_H
#define RUNTIME_WORKER_LIMITS_H

#include "runtime/worker/process.h"

/* Holds our kernels and every backend to the process's isa; process->limit says which backend refuses. Before
 * any library is used: most take no limit later. */
void pdnn_limit_isa(struct pdnn_process *process);

/* Lets allocations beyond limit_bytes (0: none) and some headroom fail here, before the machine runs out of
 * memory. */
void pdnn_limit_memory(const struct pdnn_process *process, uint64_t limit_bytes);

#endif
