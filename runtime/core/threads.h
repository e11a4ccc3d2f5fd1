/* The OpenMP pool of this process, which libraries and our kernels share. */
#ifndef RUNTIME_CORE_THREADS_H
#define RUNTIME_CORE_THREADS_H

#include "base/err.h"

#include <stdint.h>

/* Sizes the pool, with denormals flushed on every thread. PDNN_INVALID where OpenMP gives fewer. */
enum pdnn_status pdnn_threads_set(int64_t threads, struct pdnn_err *err);

/* Ends all threads but the first: only waiting, they would go on spinning. */
void pdnn_threads_rest(void);

#endif
