/* Pushes everything out of the caches of the cores that some threads run on: what makes a sample cold. */
#ifndef RUNTIME_CORE_EVICT_H
#define RUNTIME_CORE_EVICT_H

#include "runtime/facts/host.h"

struct pdnn_evictor; /* heap */

/* Makes buffers several times as large as the last-level caches that `threads` threads reach, and touches
 * them: cache_bytes is what those were found to hold, 0: as much as the host says. The caller has set up the
 * OpenMP pool. PDNN_NO_MEMORY. */
enum pdnn_status pdnn_evictor_create(const struct pdnn_host *host, int64_t threads, uint64_t cache_bytes,
                                     struct pdnn_evictor **evictor, struct pdnn_err *err);
void pdnn_evictor_destroy(struct pdnn_evictor *evictor);

/* Evicts, on the threads it was created for: the caches then hold little else, and nothing modified. Takes
 * milliseconds: call it outside of what is timed. Returns the bytes read. */
uint64_t pdnn_evictor_run(const struct pdnn_evictor *evictor);

#endif
