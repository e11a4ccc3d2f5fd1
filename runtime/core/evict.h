/* Evicts everything from the caches of the measured threads, which is what makes a sample cold. */
#ifndef RUNTIME_CORE_EVICT_H
#define RUNTIME_CORE_EVICT_H

#include "runtime/facts/host.h"

struct pdnn_evictor; /* heap */

/* Allocates and touches buffers several times as large as the last-level caches that `threads` threads reach.
 * cache_bytes is the measured size of those caches; 0: use what the host reports. The caller has set up the
 * OpenMP pool. PDNN_NO_MEMORY. */
enum pdnn_status pdnn_evictor_create(const struct pdnn_host *host, int64_t threads, uint64_t cache_bytes,
                                     struct pdnn_evictor **evictor, struct pdnn_err *err);
void pdnn_evictor_destroy(struct pdnn_evictor *evictor);

/* Evicts on the threads it was created for. Afterwards the caches hold little else and no dirty lines. Takes
 * milliseconds: call it outside the timed region. Returns the bytes read. */
uint64_t pdnn_evictor_run(const struct pdnn_evictor *evictor);

#endif
