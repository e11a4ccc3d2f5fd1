/* The OpenMP pool of this process, which libraries and our kernels share. */
#ifndef RUNTIME_CORE_THREADS_H
#define RUNTIME_CORE_THREADS_H

#include "base/err.h"
#include "base/str.h"
#include "runtime/facts/host.h"

/* Sizes the pool, binds thread i to the host's core i, whatever the OpenMP runtime has made of its own
 * settings, and flushes denormals. PDNN_INVALID where OpenMP gives fewer threads. */
enum pdnn_status pdnn_threads_set(const struct pdnn_host *host, int64_t threads, struct pdnn_err *err);

/* Appends where the pool's threads may run, as the kernel has it: "{0},{2}", "{0,1}" for one that is not
 * bound to one processing unit. */
void pdnn_threads_places(struct pdnn_str *places);

/* Ends all threads but the first: only waiting, they would go on spinning. */
void pdnn_threads_rest(void);

#endif
